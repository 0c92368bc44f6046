"""The log of changes: each change of a note by the program, so that it can be taken back.

A record is a line of JSON in `.state/changes/2026-11.jsonl`, a file for each month, that a
person can read. It says who changed which file in which run, and of each span of lines that
changed the bytes before, the length and a hash of the bytes after. A run is one command or
call.

| bytes                                            | where, and how long                    |
|--------------------------------------------------|----------------------------------------|
| what a change of a note replaced                 | in the log: for KEEP_MONTHS months     |
| a replaced or deleted text, for `as_of`, too     | also in `trash.md`: for ever           |
| the latest text of an entry                      | also in `done/`: seven days            |
| of an entry that was purged; what became private | nowhere                                |

A record is appended before its file changes. It is synced if it alone holds what the change
replaces: an addition replaces nothing, what the trash or an open rename holds is synced there.
A record whose change never happened, because of a kill, is known by the hash of the file
before.
"""

from __future__ import annotations

import json
import os
import secrets
import zlib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import JournalError
from ..models import PERSON, Json, frozen
from ..notes.blocks import LINE_ENDS, bytes_of_text, text_of_bytes
from ..notes.privacy import has_private_tag, shows_private_text, unclosed_tags
from . import disk
from .trash import file_hash

KEEP_MONTHS = 12
MOST_BYTES = 1_000_000_000
"""The most bytes of the log of a month."""
_AROUND = 4_096
"""The bytes around a change in which lines are compared, and its place is described."""
NO_FILE = "none"
"""In the place of the hash of a file that is not there."""


class Actor(NamedTuple):
    """Who changes something: `name` is "person" or the name of an agent, `by` the entrance."""

    name: str = PERSON
    by: str = "library"

    @property
    def is_person(self) -> bool:
        return self.name == PERSON


ACTOR: ContextVar[Actor | None] = ContextVar("ACTOR", default=None)
"""Who asks for the work of this thread. Each entrance sets it."""


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Names who asks for what is done in this context."""
    token = ACTOR.set(actor)
    try:
        yield
    finally:
        ACTOR.reset(token)


@dataclass
class Deed:
    """A run that is on its way. `entries` are the ids of the entries that it is about. With
    `is_durable` another file holds what it replaces. `of` are the records that it takes back,
    by the path that their file has now.
    """

    run: str
    verb: str
    what: str
    actor: Actor
    entries: tuple[str, ...] = ()
    is_durable: bool = False
    of: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def credit_agent(self, name: str) -> None:
        """Says that an agent does it, unless the entrance said so already."""
        if self.actor.is_person:
            self.actor = Actor(name or "agent", self.actor.by)


def present_actor() -> Actor:
    """Who asks for the work of this thread; a person where no entrance says who."""
    return ACTOR.get() or Actor()


def new_run_name() -> str:
    return secrets.token_hex(4)


@frozen
class Hunk:
    """A span of whole lines that changed: the bytes before, and of those after the offset in
    the file, the length, the hash, and a checksum of the first line.
    """

    at: int
    before: str
    bytes: int
    hash: str
    first: int


@frozen
class FileChange:
    """A record: what a run did to one file. `was` and `now` are hashes of the file before and
    after, NO_FILE without one. A file that only moved went `to` another path. `of` are the
    records that it took back. A record without a path is of a whole run: `ids` are those that
    entries lost by a rename, each with the new one, and `folders` those that it made.
    """

    id: str
    run: str
    at: str
    who: str
    by: str
    verb: str
    what: str
    path: str
    was: str = NO_FILE
    now: str = NO_FILE
    hunks: tuple[Hunk, ...] = ()
    to: str = ""
    mode: int | None = None
    entries: tuple[str, ...] = ()
    of: tuple[str, ...] = ()
    ids: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.at)

    def texts(self) -> list[bytes]:
        """The texts of the journal that the record holds."""
        return [text for text in (bytes_of_text(self.what), *self.befores()) if text]

    def befores(self) -> list[bytes]:
        """The bytes of each span before the change."""
        return [bytes_of_text(hunk.before) for hunk in self.hunks]


class ChangeLog:
    """The log of a home. A caller that writes to it holds the write lock."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "changes"
        self._run = ""
        self._newest = self.folder

    def files(self) -> list[Path]:
        """The files of the log, the newest first."""
        with suppress(OSError):
            return sorted(self.folder.glob("[!.]*.jsonl"), reverse=True)
        return []

    def newest_first(self, name: str = "") -> Iterator[FileChange]:
        """Yields all records, the newest first; with a name those that hold it. A torn one, and
        a file that cannot be read, is left out.
        """
        quoted = bytes_of_text(json.dumps(name, ensure_ascii=False)) if name else b""
        for path in self.files():
            lines: list[bytes] = []
            with suppress(JournalError):
                lines = _lines_of_log(path)
            named = (line for line in reversed(lines) if quoted in line)
            yield from filter(None, map(_parse, named))

    def append(self, *records: FileChange, sync: bool) -> None:
        """Appends records of one run in one write. With `sync` they are durable, and an error
        is raised; else an error leaves the changes without an undo.
        """
        path = self._file_for(records[0])
        try:
            with disk.disk_errors(path):
                if not path.exists():
                    self._begin_month(path, sync=sync)
                # whatever a crash left above it
                data = bytes_of_text("\n" + "".join(map(_row_of, records)))
                with disk.closing_at_end(disk.open_to_append(path, MOST_BYTES)) as fd:
                    disk.inject_fault("logged-torn", fd, data)
                    disk.write_all(fd, data)
                    if sync:
                        disk.sync_file(fd)
        except JournalError:
            if sync:
                raise
        disk.inject_fault("logged")

    def _file_for(self, record: FileChange) -> Path:
        """The file of the record's month, or a later one: a clock may be set back. The folder
        is listed once for a run.
        """
        month = self.folder / f"{record.at[:7]}.jsonl"
        if self._run != record.run:
            self._run = record.run
            self._newest = max([month, *self.files()[:1]])
        return max(month, self._newest)

    def _begin_month(self, path: Path, *, sync: bool) -> None:
        """Makes the folder and the file of a month, and removes those that are too old."""
        if not self.folder.is_dir():
            disk.make_state_dir(self.folder)
        for month_file in self.files()[KEEP_MONTHS:]:
            disk.unlink(month_file)
        with suppress(FileExistsError):
            disk.write_new(path, b"", private=True, step="month-torn", sync=False)
        if sync:
            disk.sync_dir(self.folder)

    def sync(self) -> None:
        """Makes what was appended durable."""
        for path in self.files()[:1]:
            flags = os.O_RDWR | disk.O_EXTRA
            with disk.disk_errors(path), disk.closing_at_end(os.open(path, flags)) as fd:
                disk.sync_file(fd)

    def drop(self, is_dropped: Callable[[FileChange], bool]) -> bool:
        """Forgets each record for which `is_dropped` is true; returns True if there was one."""
        has_dropped = False
        for path in self.files():
            lines = _lines_of_log(path)
            stay = []
            for line in lines:
                record = _parse(line)
                if record and not is_dropped(record):
                    stay.append(line)
            if len(stay) < len(list(filter(None, lines))):
                with disk.disk_errors(path):
                    disk.overwrite(path, b"".join(line + b"\n" for line in stay))
                has_dropped = True
        return has_dropped

    def forget_private(self, path: str, data: bytes) -> None:
        """Forgets the records of a file whose texts show what is private in it now."""
        self.drop(lambda record: _shows_private(record, path, data))

    def has_private(self, path: str, data: bytes) -> bool:
        """True if a record of this file shows what is private in it now."""
        if not has_private_tag(data) or unclosed_tags(data):
            return False
        return any(_shows_private(record, path, data) for record in self.newest_first(path))


def _row_of(record: FileChange) -> str:
    fields = {name: value for name, value in asdict(record).items() if value}
    return json.dumps(fields, ensure_ascii=False) + "\n"


def make_record(deed: Deed, at: datetime, path: str, **fields: Any) -> FileChange:
    """A record of this run."""
    return FileChange(
        secrets.token_hex(6),
        deed.run,
        at.isoformat(timespec="seconds"),
        deed.actor.name,
        deed.actor.by,
        deed.verb,
        deed.what,
        path,
        entries=deed.entries,
        of=tuple(deed.of.get(fields.get("to") or path, ())),
        **fields,
    )


def record_of_change(
    deed: Deed, at: datetime, path: str, before: bytes | None, after: bytes | None, **more: Any
) -> FileChange:
    """The record of a change of a file in this run; None is no file."""
    hunks = find_hunks(before, after or b"")
    hashes = hash_or_none(before), hash_or_none(after)
    return make_record(deed, at, path, was=hashes[0], now=hashes[1], hunks=hunks, **more)


def hash_or_none(data: bytes | None) -> str:
    """The hash of a file's bytes, NO_FILE for None."""
    return NO_FILE if data is None else file_hash(data)


def find_hunks(was: bytes | None, after: bytes) -> tuple[Hunk, ...]:
    """The spans of lines in which two versions of a file differ, None for no file. A span that
    is empty afterwards takes in the lines around it, by which its place is known; that of a new
    file begins behind its heading.
    """
    before = was or b""
    begin, equal = _equal_ends(before, after)
    old_lines = before[begin : len(before) - equal].splitlines(keepends=True)
    new_lines = after[begin : len(after) - equal].splitlines(keepends=True)
    heading = 0
    if was is None and new_lines and new_lines[0].startswith(b"# "):
        heading = next((at for at, line in enumerate(new_lines[1:], 1) if line.strip()), 0)
    spans = _compare_lines(old_lines, new_lines)
    offsets = [begin]
    for line in new_lines:
        offsets.append(offsets[-1] + len(line))
    hunks = []
    for i, i2, j, j2 in _with_places(spans, new_lines, len(old_lines)):
        j = max(j, heading)
        text = b"".join(new_lines[j:j2])
        before_text = text_of_bytes(b"".join(old_lines[i:i2]))
        hunks.append(
            Hunk(offsets[j], before_text, len(text), hash_of_span(text), checksum_of_line(text))
        )
    return tuple(hunks)


def _equal_ends(one: bytes, other: bytes) -> tuple[int, int]:
    """The bytes at the start and at the end of two texts that are equal, in whole lines,
    without those near to where they differ.
    """
    least = min(len(one), len(other))
    start = _equal_length(one[:least], other[:least])
    rest = least - start
    end = _equal_length(one[::-1][:rest], other[::-1][:rest])
    start = one.rfind(b"\n", 0, max(0, start - _AROUND)) + 1
    first = one.find(b"\n", len(one) - max(0, end - _AROUND)) + 1
    return start, len(one) - first if first and end > _AROUND else 0


def _equal_length(one: bytes, other: bytes) -> int:
    """The number of bytes with which two texts of one length begin alike."""
    least, most = 0, len(one)
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _with_places(
    spans: Iterable[Sequence[int]], new: Sequence[bytes], most: int
) -> list[list[int]]:
    """The spans, each that is empty afterwards with the next written line above and below it;
    spans that then touch are one.
    """
    wide: list[list[int]] = []
    rest = [list(span) for span in spans]
    for number, (i, i2, j, j2) in enumerate(rest):
        if j == j2:
            least = wide[-1][3] if wide else 0
            above = 0
            while j - above > least:
                above += 1
                if new[j - above].strip():
                    break
            last = rest[number + 1][2] if number + 1 < len(rest) else len(new)
            below = 0
            while j2 + below < last:
                below += 1
                if new[j2 + below - 1].strip():
                    break
            i, i2, j, j2 = i - above, min(most, i2 + below), j - above, j2 + below
        if wide and j <= wide[-1][3] and i <= wide[-1][1]:
            wide[-1][1], wide[-1][3] = i2, j2
        else:
            wide.append([i, i2, j, j2])
    return wide


def _compare_lines(old_lines: Sequence[bytes], new_lines: Sequence[bytes]) -> list[list[int]]:
    """The spans in which lines differ: start and end in `old_lines`, and in `new_lines`. They
    lie between lines that stand once in each, without equal lines at their ends.
    """
    spans = []
    i = j = 0
    for i2, j2 in [*match_unique_lines(old_lines, new_lines), (len(old_lines), len(new_lines))]:
        ends = i2, j2
        while i < i2 and j < j2 and old_lines[i] == new_lines[j]:
            i, j = i + 1, j + 1
        while i < i2 and j < j2 and old_lines[i2 - 1] == new_lines[j2 - 1]:
            i2, j2 = i2 - 1, j2 - 1
        if i < i2 or j < j2:
            spans.append([i, i2, j, j2])
        i, j = ends
    return spans


def match_unique_lines(
    old_lines: Sequence[bytes], new_lines: Sequence[bytes]
) -> list[tuple[int, int]]:
    """The pairs of places of lines that stand once in each sequence: the most of them of which
    both numbers rise, by patience sorting.
    """
    counts = Counter(old_lines)
    counts_in_new = Counter(new_lines)
    places = {line: at for at, line in enumerate(new_lines) if counts_in_new[line] == 1}
    once = [(at, line) for at, line in enumerate(old_lines) if counts[line] == 1]
    pairs = [(at, places[line]) for at, line in once if line in places]
    tops: list[int] = []
    piles: list[int] = []
    before: list[int] = []
    for number, (_, value) in enumerate(pairs):
        pile = bisect_left(tops, value)
        before.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [value]
        piles[pile : pile + 1] = [number]
    rise = []
    number = piles[-1] if piles else -1
    while number >= 0:
        rise.append(pairs[number])
        number = before[number]
    return rise[::-1]


def _shows_private(record: FileChange, path: str, data: bytes) -> bool:
    if record.path != path:
        return False
    return any(shows_private_text(text, data) for text in record.texts())


def _lines_of_log(path: Path) -> list[bytes]:
    with disk.disk_errors(path, "read"), suppress(FileNotFoundError):
        return disk.read_state_file(path, MOST_BYTES).split(b"\n")
    return []


def _parse(line: bytes) -> FileChange | None:
    if not line:
        return None
    try:
        fields: Json = json.loads(text_of_bytes(line))
        fields["hunks"] = tuple(Hunk(**hunk) for hunk in fields.get("hunks", ()))
        for name in ("entries", "of", "folders"):
            fields[name] = tuple(fields.get(name, ()))
        return FileChange(**{"what": "", "path": "", **fields})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def checksum_of_line(text: bytes) -> int:
    return zlib.crc32(LINE_ENDS.split(text, 1)[0])


def hash_of_span(text: bytes) -> str:
    return blake2b(text, digest_size=8).hexdigest()
