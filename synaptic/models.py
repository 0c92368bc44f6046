"""The values that cross module borders: frozen, and ignorant of terminals, SQL and files."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"
"""Shape (dimensions,), unit length; all zero for a text in which the model sees nothing."""
Matrix: TypeAlias = "npt.NDArray[np.float32]"
"""Vectors in rows: shape (vectors, dimensions)."""

EntryType = Literal["decision", "progress", "issue", "handoff", "insight", "reference", "note"]
TYPES: tuple[EntryType, ...] = get_args(EntryType)

DateSource = Literal["file", "heading", "front-matter", "comment", "git", "mtime"]
"""Where an entry's date comes from. `heading`: it stands in a diary in one file. `mtime`: from
nowhere, the entry is
undated; `at` is when its file changed."""
Mode = Literal["hybrid", "lexical", "semantic"]
Strategy = Literal["auto", "hybrid", "lexical", "semantic", "bounded", "smart"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
Order = Literal["relevance", "newest", "oldest", "importance", "access"]
ORDERS: tuple[Order, ...] = get_args(Order)

SESSIONS = ("claude-code", "codex", "gemini", "opencode")
"""The sources of imports that hold agents' sessions."""
CAPTURED = ("pre-compact", "session-end")
"""Hooks that are told of a session to be captured."""
OF_SESSIONS = tuple(f"import:{source}" for source in SESSIONS)
"""What `via` says of the digest of a session."""

DEFAULT_IMPORTANCE = 5
"""What an entry without an importance counts as in filters and scores (0 to 10)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands: byte offsets into its file, the line counted from 1.

    `start:end` is the whole block, heading included, up to the next boundary;
    `body_start:body_end` what follows the heading and the comment, outer blank lines excluded.
    The file's bytes in between are the entry's text as it stands on disk, escapes included.
    """

    path: str
    line: int
    start: int
    end: int
    body_start: int
    body_end: int
    body_line: int
    whole_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory, as its Markdown says it.

    `at` is aware. `content` is exactly what was saved; where there is no body it equals
    `title`. `tags` are lower case, in order of appearance, heading first, without `#`. `extra`
    holds comment keys that Synaptic does not know, so that an edit keeps them. `fingerprints`
    are (path, hash) of those of `files` that lay in the repository of the save, `changed_files`
    those whose hash is another where this process works. `by` is the client or the person who
    saved it, `via` how: `mcp`, `cli`, `hook`, `import:jrnl`. `branch` is the one it was saved
    on, if that is not the repository's default. After `expires` (`YYYY-MM-DD`) it comes first
    no more. A person pins what each session should begin with: of its project, or of all where
    it has none. `marks` say of which other project or branch it is than that in which this
    process works, `project ledger`, and that it has expired. `fields` are (name in lower case,
    value) of front matter and of properties in the text, as far as nothing above says the same;
    a list gives a pair for each item. `file_tags` are those of `tags` that only the front
    matter of a file of several entries says; the index does not tell them apart. Two entries
    are equal when they say the same, wherever they stand.
    """

    id: str
    at: datetime
    title: str
    content: str
    type: EntryType = "note"
    tags: tuple[str, ...] = ()
    project: str | None = None
    importance: int | None = None
    files: tuple[str, ...] = ()
    fingerprints: tuple[tuple[str, str], ...] = ()
    parent: str | None = None
    supersedes: tuple[str, ...] = ()
    by: str | None = None
    via: str | None = None
    branch: str | None = None
    expires: str | None = None
    pin: bool = False
    extra: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    heading_tags: tuple[str, ...] = field(default=(), compare=False)
    file_tags: tuple[str, ...] = field(default=(), compare=False)
    date_source: DateSource = field(default="file", compare=False)
    derived_id: bool = field(default=False, compare=False)
    place: Place | None = field(default=None, compare=False)
    changed_files: tuple[str, ...] = field(default=(), compare=False)
    marks: tuple[str, ...] = field(default=(), compare=False)

    @property
    def of_session(self) -> bool:
        """Whether it is the digest of an agent's session, which nobody saved."""
        return self.via in OF_SESSIONS

    @property
    def dated(self) -> bool:
        """Whether anything but the time of its file's last change dates the entry."""
        return self.date_source != "mtime"

    @property
    def date(self) -> str:
        """Local date of the entry, `YYYY-MM-DD`."""
        return self.at.date().isoformat()

    @property
    def timed(self) -> bool:
        """Whether it names a time: an H2 without one is a microsecond behind the entry above
        it, a note at 0:00.
        """
        return self.dated and not (
            self.at.microsecond or (self.whole_file and self.time == "00:00")
        )

    @property
    def time(self) -> str:
        """Local time of the entry, `HH:MM`."""
        return f"{self.at.hour:02d}:{self.at.minute:02d}"

    @property
    def whole_file(self) -> bool:
        """Whether it has no entry heading: it is a file, or the part of one above its entries
        or below an H1.
        """
        return self.place is not None and self.place.whole_file

    @property
    def has_body(self) -> bool:
        """Whether its file holds text of it below its heading."""
        return self.place is not None and self.place.body_end > self.place.body_start

    @property
    def there(self) -> Place:
        """The place of an entry that stands in a file."""
        assert self.place is not None
        return self.place

    @property
    def short_id(self) -> str:
        """The eight characters after the date: what people are shown and may type."""
        return self.id.partition("-")[2] or self.id


@dataclass(frozen=True, slots=True)
class ParseIssue:
    """A piece of a file that could not be read as meant. A value, never an exception."""

    path: str
    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """All that one Markdown file holds."""

    entries: tuple[Entry, ...]
    issues: tuple[ParseIssue, ...]


Proof = tuple[int, int, int, int]
"""A stamp without its path: mtime, ctime, size, inode. A journal has thousands, and each search
compares them all.
"""


def proof_reader(system: str) -> Callable[[os.stat_result], Proof]:
    """A function that takes a file's proof from its `stat`; `system` is an `os.name`.

    On Windows ctime is when the file was created, which proves nothing of its bytes: mtime
    stands in its place.
    """
    changed = "st_mtime_ns" if system == "nt" else "st_ctime_ns"
    return attrgetter("st_mtime_ns", changed, "st_size", "st_ino")


proof_of = proof_reader(os.name)


RACY_NS = 2_000_000_000
"""A file that changed within this time before it was read may change again and keep its times:
file systems count in
ticks."""


class Stamp(NamedTuple):
    """What `stat` says of a journal file; two equal stamps mean that it need not be read again."""

    path: str
    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int

    @property
    def proof(self) -> Proof:
        return self[1:]

    def is_settled(self, read_ns: int) -> bool:
        """Whether this stamp proves the bytes that were read at `read_ns`, nanoseconds since
        1970.
        """
        return self.ctime_ns <= read_ns - RACY_NS


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Hard filters: joined by AND, any of the values within one. Dates are local, `YYYY-MM-DD`,
    inclusive.

    An undated entry passes neither `since` nor `until`.
    `paths` are folders and files of the journal, also as globs. `words` are words, phrases and
    beginnings (`plug*`). An entry that any filter of `without` lets through is left out. With
    `sessions` only digests of sessions pass. `where` are (field in lower case, value), all of
    which must hold. `links_to` is a name that a link may say. `sources` say how entries came:
    their `via`, without one their root (`@vault`), in the journal `by hand`.
    """

    types: tuple[EntryType, ...] = ()
    tags: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    min_importance: int | None = None
    max_importance: int | None = None
    parent: str | None = None
    has_body: bool | None = None
    has_files: bool | None = None
    has_tasks: bool | None = None
    where: tuple[tuple[str, str], ...] = ()
    links_to: str | None = None
    sources: tuple[str, ...] = ()
    sessions: bool = False
    include_superseded: bool = False
    without: Filters | None = None

    def each(self) -> dict[str, Filters]:
        """Each filter that is set as a filter of its own; the two ends of a range are one,
        `time`.
        """
        found = {
            f.name: replace(Filters(), **{f.name: value})
            for f in fields(self)
            if f.name not in ("since", "until")
            and (value := getattr(self, f.name)) not in (None, (), False)
        }
        if self.since or self.until:
            found["time"] = Filters(since=self.since, until=self.until)
        return found


@dataclass(frozen=True, slots=True)
class Near:
    """An entry that a new one seems to replace or to repeat; an open issue that it seems to
    settle.
    """

    id: str
    date: str
    type: EntryType
    title: str
    settled: bool = False


class Signals(NamedTuple):
    """What speaks for an entry, each in [0, 1]. None: no vector to compare with, no word found.

    A search makes hundreds of them.
    """

    semantic: float | None
    lexical: float | None
    symbolic: float
    recency: float
    importance: float
    access: float


@dataclass(frozen=True, slots=True)
class Why:
    """How a hit got its place. Ranks count from 1; `similarity` is the best chunk's cosine;
    `age_days` a fraction.

    `combined` is its score in the ranking. `decay` is 1 with a preset or weights: there
    `recency` is a signal.
    """

    signals: Signals
    lexical_rank: int | None
    semantic_rank: int | None
    similarity: float | None
    matched_layers: tuple[str, ...]
    matched_filters: tuple[str, ...]
    combined: float
    decay: float
    age_days: float
    access_count: int
    last_accessed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry found. `score`, from 0 to 1, is how often such a hit was right; with weights
    their mean of the signals.

    `passage` is the part of its content that fits best; `snippet` a few lines of it around the
    words of the query; `snippet_line` where they stand in the file.
    """

    entry: Entry
    score: float
    passage: str
    snippet: str
    snippet_line: int
    superseded_by: str | None = None
    why: Why | None = None


@dataclass(frozen=True, slots=True)
class SubQuery:
    """A search within a smart one; `weight` is that of its ranks in the fusion."""

    id: str
    query: str
    weight: float


@dataclass(frozen=True, slots=True)
class Round:
    """What a round of a smart search asked, how many candidates it added, and what still lacks
    an answer.
    """

    sub_queries: tuple[SubQuery, ...]
    new: int
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """A part of a search, and its milliseconds: 95 % of the searches before stayed within
    `estimated_ms`.
    """

    name: str
    estimated_ms: float | None
    actual_ms: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Why an automatic search took its strategy, the milliseconds it was expected to take
    (None: not known), and
    took."""

    because: str
    budget_ms: float | None
    estimated_ms: float | None
    actual_ms: float
    layers: tuple[Layer, ...]


NOTHING_CLOSE = "There is no close match; this is what comes nearest."
"""The first notice of an answer of which nothing clearly fits."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`mode` is what ran, `total` the ranked candidates before `limit`, or without one those
    that fit.

    `terms` are the words to highlight. `rounds` are those of a smart search that was asked to
    explain itself; `choice` is that of an automatic one.
    """

    query: str
    mode: Mode
    strategy: str
    weights: dict[str, float]
    total: int
    hits: tuple[Hit, ...]
    terms: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = ()
    choice: Choice | None = None


@dataclass(frozen=True, slots=True)
class Facets:
    """How often each type, tag and project occurs, most frequent first, and each month, newest
    first.
    """

    types: tuple[tuple[str, int], ...]
    tags: tuple[tuple[str, int], ...]
    projects: tuple[tuple[str, int], ...]
    months: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Link:
    """A link that stands in `path:line`, `text` being its target as written.

    `id` and `title` are those of the entry at the other end; None where there is none.
    """

    text: str
    path: str
    line: int
    id: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task that stands in `path:line` of an entry; `date`, the entry's, and `due` are
    `YYYY-MM-DD` or None.

    `overdue`: it is open, and was due before today.
    """

    text: str
    done: bool
    due: str | None
    path: str
    line: int
    id: str
    title: str
    date: str | None
    overdue: bool = False
