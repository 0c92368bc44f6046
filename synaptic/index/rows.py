"""Rows that go into the index and come out of it, and the form of stored values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..models import Entry, EntryType, Matrix, ParseIssue, Place, Stamp, Texts, Vector, frozen
from ..notes.blocks import project_key
from ..notes.marks import links_to_file

VECTOR_SCALE = 127 / 0.3
"""Components of a unit vector rarely exceed 0.3: this uses the whole range of int8 and clips
the rest.
"""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@frozen
class ChunkRow:
    """One passage to be indexed. `start:end` are bytes from the entry's body.

    `hash` is that of the `text` to embed, `words_hash` that of the words; signed, 64 bit.
    """

    start: int
    end: int
    hash: int
    words_hash: int
    text: str
    words: str
    embed: bool


@frozen
class EntryRow:
    """One entry to be indexed. `block` are its bytes, `row_hash` is the hash of all that its
    rows are made of, but its place.

    `chunks` makes its passages, in order and at least one, and `marks` its rows of the tables
    link, name and task, each sorted; that is most of the work, and only needed where `row_hash`
    is another than the index has. `hides`: a private passage stands in its bytes.
    """

    entry: Entry
    block: bytes
    row_hash: int
    chunks: Callable[[], tuple[ChunkRow, ...]]
    marks: Callable[[], tuple[list[Any], list[Any], list[Any]]]
    hides: bool


@frozen
class FileRows:
    """All that the index keeps of one file.

    `settled`: its stamp proves that it is as it was read. `hides`: a private passage stands in
    it.
    """

    stamp: Stamp
    digest: int
    settled: bool
    rows: tuple[EntryRow, ...]
    issues: tuple[ParseIssue, ...]
    hides: bool


class TimelinePosition(NamedTuple):
    """The position of an entry in the order of time: undated entries (`dated` is 0) before all
    others, then by instant (microseconds since 1970), path, and number within the file.
    """

    dated: int
    at: int
    path: str
    seq: int


class RankingFacts(NamedTuple):
    """The facts of an entry that ranking uses; there are hundreds of them in a search. `at` is
    its instant.

    `project` is its key.
    """

    rowid: int
    id: str
    at: int
    path: str
    seq: int
    type: EntryType
    date_source: str
    importance: int | None
    accesses: int
    accessed_at: int | None
    title: str
    project: str | None = None
    branch: str | None = None
    expires: str | None = None
    of_session: int | None = None
    whole_file: int = 0

    @property
    def position(self) -> TimelinePosition:
        """The position of the entry in the order of time, oldest first; of two entries of one
        second in one file, the lower is the later.
        """
        return TimelinePosition(int(self.dated), self.at, self.path, self.seq)

    @property
    def dated(self) -> bool:
        return self.date_source != "mtime"


@frozen
class Stored:
    """An entry as the index stores it: everything but its content. `hash` is that of its bytes
    in the file.

    `copies` are the paths of other files that hold the same entry with the same text;
    `Index.resolve` fills them.
    """

    rowid: int
    entry: Entry
    own_id: str
    hash: int
    copies: Texts = ()


@frozen
class Passage:
    """The position of a chunk: bytes `start:end` of the body of the entry `entry_rowid`. `hash`
    is its ChunkRow's.
    """

    rowid: int
    entry_rowid: int
    start: int
    end: int
    hash: int


class Counts(NamedTuple):
    """Counts of the index. `pending` entries and passages have no vector yet; `bytes` on disk
    include the log.
    """

    files: int
    entries: int
    chunks: int
    pending_entries: int
    pending_passages: int
    bytes: int


class Vocabulary(NamedTuple):
    """Tags with their counts and projects of all entries, in lower case."""

    tags: dict[str, int]
    projects: frozenset[str]


class Candidate(NamedTuple):
    """A chunk that the search by words or the search by meaning found. `score` is its cosine,
    or its BM25 as SQLite has it: lower is better.
    """

    chunk_rowid: int
    entry_rowid: int
    score: float


def hash64(value: str | bytes) -> int:
    """The BLAKE2b hash of a text or bytes as a signed 64-bit integer."""
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "big", signed=True)


def quantise(vector: Vector) -> bytes:
    """Rounds a unit vector to int8 components and returns them as bytes.

    Raises ValueError for NaN and infinity, which vec0 would take in silence.
    """
    import numpy as np

    if not np.isfinite(vector).all():
        raise ValueError("the embedding holds NaN or infinity")
    return bytes(np.clip(np.rint(vector * VECTOR_SCALE), -127, 127).astype(np.int8).tobytes())


def unit_vectors(stored: Sequence[bytes], dimensions: int = -1) -> Matrix:
    """Turns stored int8 vectors back into unit vectors, one a row. Only an empty list needs
    `dimensions`.
    """
    import numpy as np

    components = np.frombuffer(b"".join(stored), dtype=np.int8).astype(np.float32)
    vectors = components.reshape(len(stored), dimensions)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1.0), dtype=np.float32)


def to_microseconds(at: datetime) -> int:
    """Microseconds since 1970 UTC, also for years whose UTC date Python cannot hold."""
    offset = at.utcoffset() or timedelta()
    return (at.replace(tzinfo=UTC) - _EPOCH - offset) // MICROSECOND


def from_microseconds(at: int, zone: tzinfo | None) -> datetime:
    """The time `at`, microseconds since 1970 UTC, as an aware datetime in `zone` (None: the
    local zone).
    """
    return (_EPOCH + timedelta(microseconds=at)).astimezone(zone)


_PLACE = ("line", "start", "end", "body_start", "body_end", "body_line", "whole_file")
_MARKS = tuple(
    "type title project importance parent by via branch remote root expires due source "
    "date_source".split()
)
"""Attributes of an entry, and columns of the same names; `source` is the column `origin`."""
_MARK_COLUMNS = [f'"{name}"' if name != "source" else "origin" for name in _MARKS]

_FACTS = ("source", "own_id", "at", "utc_offset", "project_key", "pin", "derived", "has_files")
_HASHES = ("hash", "content_hash", "row_hash")
PLACE_COLUMNS = [f'"{name}"' for name in ("seq", *_PLACE)]
ENTRY_COLUMNS = [*_FACTS, *_HASHES, *_MARK_COLUMNS, *PLACE_COLUMNS]
_place_values = attrgetter(*_PLACE)
_marks = attrgetter(*_MARKS)

_SHARES_HEADING = """
        e.derived = 1 AND e.whole_file = 0 AND EXISTS (
            SELECT 1 FROM entry o WHERE o.title = e.title AND o.derived = 1
            AND o.whole_file = 0 AND o.id IS NOT NULL
            AND (o.source <> e.source OR o.date <> e.date))"""
"""SQL: true for a section of a file if another day or file has one of the same heading."""

SELECT_ENTRY = f"""
    SELECT e.rowid, e.id, e.own_id, e.hash, e.at, e.utc_offset, e.pin, e.derived,
        {_SHARES_HEADING},
        {", ".join(f"e.{name}" for name in _MARK_COLUMNS)},
        s.path, {", ".join(f'e."{name}"' for name in _PLACE)}
    FROM entry e JOIN source s ON s.id = e.source"""


def entry_column_values(source: int, seq: int, entry_row: EntryRow) -> tuple[Any, ...]:
    """Returns the values of an entry for ENTRY_COLUMNS; `source` is the id of its file, `seq`
    its number within the file.
    """
    entry = entry_row.entry
    offset = entry.at.utcoffset() or timedelta()
    texts = (entry.content, entry.title, *(value for _, value in entry.fields))
    return (
        source,
        entry.id,
        to_microseconds(entry.at),
        round(offset.total_seconds()),
        entry.project and project_key(entry.project),
        entry.pin,
        entry.derived_id,
        bool(entry.files) or any(map(links_to_file, texts)),
        hash64(entry_row.block),
        hash64(entry.content),
        entry_row.row_hash,
        *_marks(entry),
        *place_column_values(seq, entry_row),
    )


def place_column_values(seq: int, entry_row: EntryRow) -> tuple[Any, ...]:
    """Returns the values of an entry for PLACE_COLUMNS: `seq`, its number within the file, then
    the bytes and lines that it occupies there.
    """
    return seq, *_place_values(entry_row.entry.place)


def stored_from_rows(
    columns: Sequence[Any],
    tags: Sequence[str],
    files: Sequence[tuple[str, str | None]],
    supersedes: Sequence[str],
    fields: Sequence[Sequence[str]],
) -> Stored:
    """The entry with the columns of SELECT_ENTRY, with the rows of the other tables."""
    rowid, id_, own_id, hash_, at, offset, pin, derived, shares_heading = columns[:9]
    zone = timezone(timedelta(seconds=offset))
    marks = dict(zip(_MARKS, columns[9:], strict=False))
    origin = marks.pop("source")
    local = _EPOCH.replace(tzinfo=zone) + timedelta(microseconds=at, seconds=offset)
    entry = Entry(
        id=id_,
        at=local,
        content="",
        tags=tuple(tags),
        files=tuple(path for path, _ in files),
        fingerprints=tuple((path, fingerprint) for path, fingerprint in files if fingerprint),
        supersedes=tuple(supersedes),
        pin=bool(pin),
        fields=tuple((name, value) for name, value in fields),
        derived_id=bool(derived),
        place=Place(*[*columns[-8:-1], bool(columns[-1])]),
        extra=(("source", origin),) if origin else (),
        **marks,
    )
    if shares_heading:
        entry = replace(entry, page=_page_of_section(entry))
    return Stored(rowid, entry, own_id, hash_)


def _page_of_section(entry: Entry) -> str:
    """The day of a section of a daily note, else the name of its file."""
    if entry.date_source in ("file", "heading"):
        return entry.date
    return PurePosixPath(entry.path).stem
