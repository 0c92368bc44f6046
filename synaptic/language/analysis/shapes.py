"""What an analysis says, and what it knows of the journal. Frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...models import TYPES, EntryType

if TYPE_CHECKING:
    from ..normalize import Change
    from ..timephrase import TimeRange


@dataclass(frozen=True, slots=True)
class Known:
    """What the journal itself speaks of; all in lower case but `names`."""

    types: tuple[str, ...] = TYPES
    tags: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class EntityMention:
    """`type` is person, location, organization, project, event, tool, file, tag or unknown."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Target:
    """What the intent aims at: of `entity` its `attribute`, or what stands to it in `relation`."""

    entity: str | None = None
    attribute: str | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word of the query in lower case; `weight` from 0 to 1 guesses from its form how much it tells."""

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One search of a plan. `layer` is semantic, lexical, symbolic, temporal or hybrid; the lowest priority runs first.

    `filters` holds (`since` or `until`, ISO date); they are hard only where the analysis says `only_time`.
    """

    id: str
    query: str
    layer: str
    priority: int = 1
    filters: tuple[tuple[str, str], ...] = ()
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """`execution` is parallel, sequential or iterative; `merge` is union, intersection or weighted."""

    sub_queries: tuple[SubQuery, ...]
    execution: str
    merge: str
    estimated_complexity: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that the words of a query tell. `text` is the query without its time phrase.

    `temporal_reference` is "recent", the time phrase, or None; `only_time`: the range is a hard filter.
    """

    query: str
    text: str
    intent: str
    target: Target
    temporal_reference: str | None
    time_range: TimeRange | None
    entities: tuple[EntityMention, ...]
    question_type: str
    complexity: str
    confidence: float
    info_types: tuple[str, ...]
    keywords: tuple[Keyword, ...]
    prefer_types: tuple[EntryType, ...]
    prefer_tags: tuple[str, ...]
    prefer_projects: tuple[str, ...]
    prefer_files: tuple[str, ...]
    only_time: bool
    plan: Plan

    @property
    def recent(self) -> bool:
        """Whether the newest of what fits is asked for."""
        return self.temporal_reference == "recent"


@dataclass(frozen=True, slots=True)
class NoteReading:
    """A note as it reads by itself: see normalize.py. `suggested_tags` are tags of the journal that it speaks of."""

    original: str
    normalized: str
    changes: tuple[Change, ...]
    keywords: tuple[Keyword, ...]
    suggested_tags: tuple[str, ...]
