"""The values of an analysis, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..normalize import Change
    from .asked import Asked
    from .names import EntityMention
    from .plan import QueryPlan


@dataclass(frozen=True, slots=True)
class Target:
    """The aim of a question: the `attribute` of `entity`, or its `relation`."""

    entity: str | None = None
    attribute: str | None = None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Keyword:
    """A word of the query in lower case; `weight` from 0 to 1 guesses from its form how much it
    tells.
    """

    term: str
    weight: float


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that the words of a query tell, and the `plan` and the `notices` of a search without
    options for it.
    """

    query: str
    asked: Asked
    intent: str
    target: Target
    entities: tuple[EntityMention, ...]
    question_type: str
    complexity: str
    confidence: float
    info_types: tuple[str, ...]
    keywords: tuple[Keyword, ...]
    plan: QueryPlan
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteReading:
    """A note as it reads by itself: see normalize.py. `suggested_tags` are tags of the journal
    that it speaks of.
    """

    original: str
    normalized: str
    changes: tuple[Change, ...]
    keywords: tuple[Keyword, ...]
    suggested_tags: tuple[str, ...]
