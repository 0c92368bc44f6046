"""The values that cross module borders: frozen, and ignorant of terminals, SQL and files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    dataclass_transform,
    get_args,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vector: TypeAlias = "npt.NDArray[np.float32]"
"""Shape (dimensions,), unit length; all zero for a text in which the model sees nothing."""
Matrix: TypeAlias = "npt.NDArray[np.float32]"
"""Vectors in rows: shape (vectors, dimensions)."""


Value = TypeVar("Value")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Value]) -> type[Value]:
    """Turns a class into a dataclass whose instances cannot be changed."""
    return dataclass(frozen=True, slots=True)(cls)


PERSON = "person"
"""The value of `by` of an entry that a person saved."""
TOKEN_BITS = 64
"""The components of a token's vector, of which the index keeps the signs."""


class Meaning(NamedTuple):
    """The embedding of a text: a unit vector, and a short vector for each content word token.

    `tokens` has shape (tokens, TOKEN_BITS), and `words` holds the word of each token. `tokens`
    is None for a model without the file tokens.npy.
    """

    vector: Vector
    tokens: Matrix | None = None
    words: Sequence[str] = ()

    @property
    def codes(self) -> bytes:
        """The signs of the token vectors, packed into TOKEN_BITS bits for each token."""
        import numpy as np

        return b"" if self.tokens is None else np.packbits(self.tokens > 0, axis=1).tobytes()


Json = dict[str, Any]
"""A JSON object, or values by name."""
Texts = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]
Counts = tuple[tuple[str, int], ...]

EntryType = Literal[
    "decision", "progress", "issue", "handoff", "insight", "reference", "preference", "note"
]
TYPES: tuple[EntryType, ...] = get_args(EntryType)

DateSource = Literal["file", "heading", "front-matter", "comment", "git", "mtime"]
"""Where an entry's date was read from. `heading`: a date heading of a diary kept in one file.
`mtime`: the entry has no date, so `at` is the time when its file was last changed.
"""
Mode = Literal["hybrid", "lexical", "semantic"]
Strategy = Literal["auto", "hybrid", "lexical", "semantic", "bounded", "smart"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
SearchLayer = Literal[
    "lexical", "semantic", "hybrid", "temporal", "phrase", "title", "symbolic"
]
Execution = Literal["parallel", "sequential", "iterative"]
Merge = Literal["union", "intersection", "weighted"]
Order = Literal["relevance", "newest", "oldest", "importance", "access"]
ORDERS: tuple[Order, ...] = get_args(Order)

SESSIONS = tuple(
    "claude-code codex gemini opencode qwen copilot crush cline aider cursor vscode".split()
)
"""The sources of imports that hold agents' sessions."""
CAPTURED = ("pre-compact", "session-end")
"""The hooks of a client in which Synaptic imports the session that just ended."""
OF_SESSIONS = tuple(f"import:{source}" for source in SESSIONS)
"""The values of `Entry.via` of entries that are digests of agents' sessions."""

IDENTITY_DIGITS = 16
"""Hex digits of the hashes `remote` and `root`, by which an entry knows its repository."""

DEFAULT_IMPORTANCE = 5
"""The importance (0 to 10) of an entry without one, in filters and scores."""


@frozen
class Place:
    """The position of an entry: byte offsets into its file, and lines counted from 1.

    `start:end` is the whole block with its heading. `body_start:body_end` is the text below the
    heading and the comment, without outer blank lines, as it stands on disk.
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
    """One memory, read from its Markdown.

    `at` is aware. `content` is the saved text; without a body it equals `title`. `tags` are
    lower case, without `#`, in order of appearance, those of the heading first. `extra` holds
    unknown comment keys, which an edit keeps.
    `fingerprints` are (path, hash) of the `files` in the repository of the save;
    `changed_files` are the files with another hash in the repository of this process.
    `by` is the client or person who saved the entry, `via` the way: `mcp`, `cli`, `hook`,
    `import:jrnl`. `branch` is set if it is not the default branch. The day `expires`
    (`YYYY-MM-DD`) is the last on which the entry comes first; from the day `due` on it begins
    each session until it is done. A pinned entry begins each
    session of its project, or of all projects if it has none.
    `marks`: its journal where there are several, its project or branch, if not the current one,
    and `expired` with the day.
    `remote` and `root` are hashes of the address and the root commit of the repository in
    which it was saved.
    `page` is the day or the file's name of a section whose heading stands on other days or in
    other files too, as `Log`; empty for a heading of its own.
    `fields` are (name in lower case, value) of front matter and properties that no other
    attribute holds; a list gives a pair for each item. `file_tags` are the tags that only the
    front matter of a file with several entries holds; the index does not know them apart.
    Two entries are equal if they say the same, wherever they stand.
    """

    id: str
    at: datetime
    title: str
    content: str
    type: EntryType = "note"
    tags: Texts = ()
    project: str | None = None
    importance: int | None = None
    files: Texts = ()
    fingerprints: Pairs = ()
    parent: str | None = None
    supersedes: Texts = ()
    by: str | None = None
    via: str | None = None
    branch: str | None = None
    remote: str | None = None
    root: str | None = None
    expires: str | None = None
    due: str | None = None
    pin: bool = False
    extra: Pairs = ()
    fields: Pairs = field(default=(), compare=False)
    heading_tags: Texts = field(default=(), compare=False)
    file_tags: Texts = field(default=(), compare=False)
    date_source: DateSource = field(default="file", compare=False)
    derived_id: bool = field(default=False, compare=False)
    place: Place | None = field(default=None, compare=False)
    changed_files: Texts = field(default=(), compare=False)
    marks: Texts = field(default=(), compare=False)
    page: str = field(default="", compare=False)

    @property
    def source(self) -> str | None:
        """Where an imported text comes from: a web address, or the key of the record in the
        other program; None for an entry that was saved here.
        """
        return dict(self.extra).get("source")

    @property
    def is_session_digest(self) -> bool:
        """True if the entry is a digest of an agent's session, made by an import."""
        return self.via in OF_SESSIONS

    @property
    def dated(self) -> bool:
        """False if the text has no date; `at` is then the time of the file's last change."""
        return self.date_source != "mtime"

    @property
    def date(self) -> str:
        """Local date of the entry, `YYYY-MM-DD`."""
        return self.at.date().isoformat()

    @property
    def timed(self) -> bool:
        """True if the text of the entry states a time of day. The reader marks an entry without
        one: a heading gets a microsecond more than the entry above it, a whole file 0:00. An
        import writes 0:00 for a day alone.
        """
        may_be_day = self.whole_file or (self.via or "").startswith("import:")
        is_day = may_be_day and self.at.time().isoformat() == "00:00:00"
        return self.dated and not self.at.microsecond and not is_day

    @property
    def of_daily_note(self) -> bool:
        """True if a person wrote the text into a daily note without a time of its own; all such
        text in one file counts as one entry of that day.
        """
        of_day = self.date_source in ("file", "heading")
        return self.derived_id and of_day and (self.whole_file or not self.timed)

    @property
    def time(self) -> str:
        """Local time of the entry, `HH:MM`."""
        return f"{self.at.hour:02d}:{self.at.minute:02d}"

    @property
    def whole_file(self) -> bool:
        """True for an entry without an H2 heading of its own: a whole file, or the part of a
        file above its first entry or below an H1.
        """
        return self.place is not None and self.place.whole_file

    @property
    def has_body(self) -> bool:
        """True if there is text below the heading."""
        return self.place is not None and self.place.body_end > self.place.body_start

    @property
    def there(self) -> Place:
        """Where the entry stands; for an entry that was read from a file, with a `place`."""
        assert self.place
        return self.place

    @property
    def path(self) -> str:
        """The journal path of the file that holds the entry."""
        return self.there.path

    @property
    def title_in_lists(self) -> str:
        """The title, behind its day or page if others have a section of this heading."""
        return self.beside_page(self.title)

    def beside_page(self, heading: str) -> str:
        """The `heading` of this entry as lists show it: `2026-11-27 > Log` for a `page`."""
        return f"{self.page} > {heading}" if self.page else heading

    @property
    def short_id(self) -> str:
        """The eight characters after the date, which people see and type."""
        return short_id(self.id)


def short_id(id: str) -> str:
    """Returns the part of an id that people see: `7k3m9q2x` of `20261121-7k3m9q2x`."""
    return id.partition("-")[2] or id


@frozen
class ParseIssue:
    """A mistake in a note: what is wrong at `path:line`. A value, never an exception."""

    path: str
    line: int
    code: str
    message: str


@frozen
class ParsedFile:
    """The result of reading one Markdown file: its entries, and the mistakes in it."""

    entries: tuple[Entry, ...]
    issues: tuple[ParseIssue, ...]


FileSignature = tuple[int, int, int, int]
"""(mtime_ns, ctime_ns, size, inode) of a file: if they are equal, the file is unchanged. A
journal has thousands, and each search compares them all.
"""


def signature_reader(system: str) -> Callable[[os.stat_result], FileSignature]:
    """Returns a function that makes a FileSignature of an `os.stat_result`; `system` is an
    `os.name`.

    On Windows ctime is the time of creation, which says nothing about the bytes, so mtime is
    used twice.
    """
    changed = "st_mtime_ns" if system == "nt" else "st_ctime_ns"
    return attrgetter("st_mtime_ns", changed, "st_size", "st_ino")


file_signature = signature_reader(os.name)


RACY_NS = 2_000_000_000
"""A file that changed this shortly before it was read may change again and keep its times,
because file systems count in ticks.
"""


class Stamp(NamedTuple):
    """The path of a journal file and its FileSignature, by which later syncs see whether the
    file has changed.
    """

    path: str
    mtime_ns: int
    ctime_ns: int
    size: int
    inode: int

    @property
    def signature(self) -> FileSignature:
        return self[1:]

    def is_settled(self, read_ns: int) -> bool:
        """True if the file last changed at least RACY_NS before `read_ns` (nanoseconds since
        1970): an equal stamp then means equal bytes.
        """
        return self.ctime_ns <= read_ns - RACY_NS


@frozen
class Near:
    """An earlier entry that is near a saved one; `is_open`: an open issue, which the saved one
    may settle.
    """

    id: str
    date: str
    type: EntryType
    title: str
    is_open: bool = False


@frozen
class Receipt:
    """The result of a write. `queued` is always False; once, saves could wait.

    `suggested_tags` of a save are existing tags that its text mentions and that it lacks.
    `near` are earlier entries of its project that are near it, the nearest first. `leaning` are
    entries that may lean on an entry that this write replaced. `old_title` is the title that an
    edit replaced if links to it lead nowhere now, as the last notice says, else "".
    """

    id: str
    date: str
    time: str
    path: str
    type: EntryType = "note"
    queued: bool = False
    notices: Texts = ()
    suggested_tags: Texts = ()
    near: tuple[Near, ...] = ()
    leaning: tuple[Near, ...] = ()
    old_title: str = ""


class Signals(NamedTuple):
    """The parts of a hit's score, each in [0, 1]. `semantic` is None for a passage without a
    vector, `lexical` without a matching word.
    """

    semantic: float | None
    lexical: float | None
    symbolic: float
    recency: float
    importance: float
    access: float


@frozen
class Why:
    """The figures behind a hit's rank. Ranks count from 1; `similarity` is the best cosine of
    a passage; `age_days` has fractions.

    `combined` is its score in the ranking. `decay` is 1 with a preset or weights: there
    `recency` is a signal.
    """

    signals: Signals
    lexical_rank: int | None
    semantic_rank: int | None
    similarity: float | None
    matched_layers: Texts
    matched_filters: Texts
    combined: float
    decay: float
    age_days: float
    access_count: int
    last_accessed_at: datetime | None


@frozen
class Hit:
    """An entry that a search found. `score`, 0 to 1, estimates how likely the hit is right; in
    a search with weights it is the weighted mean of the signals.

    `passage` is the best part of its content; `snippet` has a few lines of it around the words
    of the query, which begin at `snippet_line` of the file. `also` are the places of entries
    with the same text. `beside` are the entries before and after it, given if the passage
    cannot be understood alone. `outcome` is a line about the entry that replaced it, and why.
    `rare_words` says how many words that a single passage contains weigh as much as the words
    of the question that it contains: unlike the score it does not depend on the other hits.
    `later` are later entries near it. `replaces` are the entries in whose place it stands,
    because it supersedes them.
    """

    entry: Entry
    score: float
    passage: str
    snippet: str
    snippet_line: int
    superseded_by: str | None = None
    why: Why | None = None
    also: tuple[Place, ...] = ()
    beside: tuple[Entry, ...] = ()
    outcome: str = ""
    rare_words: float = 0.0
    later: tuple[Near, ...] = ()
    replaces: tuple[Near, ...] = ()


@frozen
class SubQuery:
    """One query of a plan: `search/plan` lists the layers.

    `weight` multiplies its ranks in the fusion. The lowest `priority` runs first. Hits must
    pass `filters`, values by name. `depends_on`: ids of the sub-queries whose hits it needs.
    """

    id: str
    query: str
    layer: SearchLayer
    weight: float
    priority: int
    filters: Mapping[str, Any]
    depends_on: Texts = ()


@frozen
class Round:
    """A round of a search: the sub-queries that ran, each in the layer that it could run in,
    and the number of new candidates. `because` names the pass that searched again, or is "".
    """

    sub_queries: tuple[SubQuery, ...]
    new: int
    because: str = ""


@frozen
class Layer:
    """The time of one step of a search. 95 % of earlier searches took at most `estimated_ms`
    for this step; None without earlier searches.
    """

    name: str
    estimated_ms: float | None
    actual_ms: float


@frozen
class Choice:
    """Why the strategy `auto` chose its way of searching, with the milliseconds it allowed,
    expected (None: not known) and took.
    """

    because: str
    budget_ms: float | None
    estimated_ms: float | None
    actual_ms: float
    layers: tuple[Layer, ...]


NOTHING_CLOSE = "There is no close match; this is what comes nearest."
"""The first notice of an answer in which no hit clearly fits."""


ABSENT = "No entry holds"
"""How a notice begins that says which name of a query is in no entry."""


@frozen
class SearchResult:
    """The hits of a search. `mode` says how it searched. `total` counts the ranked candidates
    before `limit`, or without a limit the hits that fit. `terms` are words to highlight.
    Where it is to be explained, `plan` is what was to run, as JSON, `rounds` what ran, and
    `choice` says why `auto` chose its strategy.
    """

    query: str
    mode: Mode
    strategy: str
    weights: dict[str, float]
    total: int
    hits: tuple[Hit, ...]
    terms: Texts = ()
    notices: Texts = ()
    plan: Json | None = None
    rounds: tuple[Round, ...] = ()
    choice: Choice | None = None


@frozen
class Facets:
    """Counts of types, tags and projects, most frequent first, and of months, newest first."""

    types: Counts
    tags: Counts
    projects: Counts
    months: Counts


@frozen
class Link:
    """A link in the text of an entry, at `path:line`; `text` is its target as written.

    `id` and `title` belong to the entry at the other end, and are None for a broken link.
    """

    text: str
    path: str
    line: int
    id: str | None = None
    title: str | None = None


@frozen
class Task:
    """A task at `path:line` in the entry `id`. `date` (the entry's) and `due` are `YYYY-MM-DD`
    or None; `done_on` is the day of its tick where the task says it.

    Line 0 means that the entry as a whole is due. `overdue`: open, and due before today.
    `unticked` is the reason why a person has to tick it in its own program, or "". `source` is
    the day or the name of its note; `tags` are those of its line, or else of its entry.
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
    unticked: str = ""
    source: str = ""
    project: str | None = None
    tags: Texts = ()
    done_on: str | None = None
