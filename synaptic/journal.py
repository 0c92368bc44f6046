"""The only writer of `.md`: append, edit, trash and restore under one lock, and what the journal holds.

A save, step by step (`append`): the block goes to the spool and is durable; under the lock the spool is
drained, others' saves first; the block is appended to its day file; its spool file moves to `done/`. A
process killed anywhere in between leaves what the next writer needs to finish (see `recovery`).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from . import folder, recovery
from .config import Config, make_clock
from .delivery import ATTEMPTS, Delivery
from .disk import disk_errors, fault
from .errors import Ambiguous, Busy, Changed, JournalError, NotFound, Refused
from .markdown import parse_entries, proven_block, rewrite_block
from .models import Entry, ParsedFile, Proof, Stamp
from .spool import Record
from .trash import Piece, Trash, Why


@dataclass(frozen=True, slots=True)
class Vanished:
    """A save that arrived lately and stands nowhere in the journal now."""

    id: str
    path: str
    title: str


class Journal:
    """A folder of Markdown, and the state beside it. One thread owns it; processes share it by a lock."""

    def __init__(self, config: Config, *, lock_timeout_s: float = 10.0) -> None:
        self.root = config.journal
        self.state = config.state
        self._config = config
        self._lock_timeout_s = lock_timeout_s
        self._clock = make_clock()
        self._delivery = Delivery(config)
        self._spool = self._delivery.spool
        self._trash = Trash(config.state)

    # -- folders ----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """None; the home and its state exist, and so does the journal inside the home unless it was indexed before.

        Raises JournalError when the journal is missing otherwise, or the home cannot be made.
        """
        self._delivery.prepare()

    def scan(self) -> list[Stamp]:
        """A stamp of every Markdown file, sorted by path (see `folder.scan`). Raises JournalError without a root."""
        return folder.scan(self.root, self._config.exclude)

    def compare(self, known: Mapping[str, Proof | None]) -> tuple[list[Stamp], list[str]]:
        """(stamps of files that are not as they were known, known paths that are gone); see `folder.compare`."""
        return folder.compare(self.root, known, self._config.exclude)

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of one file; None where `scan` has to be asked (see `folder.stamp_of`)."""
        return folder.stamp_of(self.root, path, self._config.exclude)

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises NotFound, or JournalError for a path that leads out or cannot be read."""
        return folder.read(self.root, path)[0]

    def parse(self, path: str, data: bytes, mtime_ns: int) -> ParsedFile:
        """The entries of a file with these bytes."""
        try:
            mtime = datetime.fromtimestamp(mtime_ns / 1e9, UTC).astimezone()
        except (ValueError, OverflowError, OSError):  # a clock beyond the calendar
            mtime = datetime.fromtimestamp(0, UTC)
        return parse_entries(data, path, mtime=mtime, day_file=self._config.day_file)

    def day_path(self, at: datetime) -> str:
        """The path of the day file that an entry of this moment belongs to."""
        pattern = self._config.day_file.replace("%Y", f"{at.year:04d}")
        return PurePosixPath(at.strftime(pattern)).as_posix()

    # -- saving -----------------------------------------------------------------------------------

    def append(self, entry: Entry) -> tuple[str, bool]:
        """The path of the entry's day file, and whether the entry still waits for it; it is durable either way.

        Raises JournalError when the disk refuses; the journal is then byte for byte what it was.
        """
        self.prepare()
        path = self.day_path(entry.at)
        folder.locate(self.root, path)
        record = Record(entry.id, path, entry.date, str(self.root), proven_block(entry))
        with disk_errors(self._spool.waiting):
            self._spool.put(record)
        fault("spooled")
        try:
            with self._delivery.locked(self._lock_timeout_s, waiting=entry.id):
                fault("locked")
                return self._delivery.deliver(record)
        except Busy:
            return path, self._spool.waits(entry.id)
        except JournalError:  # nobody is told that it was saved
            with contextlib.suppress(OSError):
                self._spool.drop(entry.id)
            raise

    def drain(self, timeout_s: float = 0.0) -> tuple[str, ...] | None:
        """The ids of waiting saves that joined their files; None when the lock was not to be had in time."""
        if not self.queued():
            return ()
        try:
            with self._delivery.locked(timeout_s):
                return self._delivery.drain()
        except Busy:
            return None

    def queued(self) -> tuple[str, ...]:
        """The ids of saves that are durable, but not in their files yet."""
        return tuple(self._spool.ids())

    # -- editing ----------------------------------------------------------------------------------

    def edit(self, path: str, id: str, change: Callable[[Entry], Entry | None]) -> Entry:
        """The entry after `change` (None deletes its block: then the entry before). The old text is in the trash.

        Everything outside the block stays byte for byte. Raises NotFound, Refused for a whole-file note,
        Busy, Changed when the file changes under the edit again and again, JournalError.
        """
        with self._writing():
            return self._rewrite(path, id, change)

    def purge(self, path: str, id: str) -> Entry | None:
        """The entry that was deleted, or None where only copies were left; no copy stays in trash, done or spool."""
        with self._writing():
            try:
                entry = self._rewrite(path, id, lambda _: None, keep=False)
            except NotFound:
                entry = None
            with disk_errors(self._trash.path):
                copies = self._trash.purge(id) + sum(id in ids for ids in (self._spool.done_ids(), self._spool.ids()))
                self._spool.forget(id)
                self._spool.drop(id)
            if entry is None and not copies:
                raise NotFound(f"{path} has no entry {id}, and there is no copy of it.")
            return entry

    def _rewrite(self, path: str, id: str, change: Callable[[Entry], Entry | None], *, keep: bool = True) -> Entry:
        def rewritten(old: Entry, block: bytes) -> tuple[Entry | None, bytes]:
            new = change(old)
            return new, b"" if new is None else rewrite_block(block, old, new)

        return self._exchange(path, id, rewritten, "update" if keep else None)

    def _exchange(
        self, path: str, id: str, change: Callable[[Entry, bytes], tuple[Entry | None, bytes]], why: Why | None
    ) -> Entry:
        """The entry after its block was exchanged for what `change` returns; without `why` nothing is trashed."""
        trashed = None
        for attempt in range(ATTEMPTS):
            time.sleep(0.01 * attempt)
            data, status = folder.read(self.root, path)
            old = self._entry(path, data, status, id)
            place = old.place
            if place is None or place.whole_file:
                raise Refused(f"{path} is a note of its own, without entry headings.", hint=f"Edit {self.root / path}.")
            block = data[place.start : place.end]
            new, text = change(old, block)
            if text == block:
                return new or old
            pinned = new is not None and old.derived_id and replace(new, id=old.id) == old
            if why and not pinned and block != trashed:
                self._discard(path, old, block, "delete" if new is None else why)
                trashed = block
            after = data[: place.start] + text + data[place.end :]
            if self._delivery.replace(path, data, status, after):
                if new is None:
                    with contextlib.suppress(OSError):  # doctor would name what was deleted; nothing else
                        self._spool.forget(old.id)
                    return old
                self._keep(path, new, text)
                return self._find(path, after, status, new.id) or new
        raise Changed(f"{path} changed while it was edited; nothing was written.", hint="Try again.")

    def _discard(self, path: str, entry: Entry, block: bytes, why: Why) -> None:
        with disk_errors(self._trash.path):
            self._trash.put(Piece(entry.id, path, self._clock(), why, entry.title, block))

    def _keep(self, path: str, entry: Entry, text: bytes) -> None:
        """Done holds the new text, so that an editor's old buffer cannot make it vanish without a trace."""
        block = _as_block(text)
        if entry.id in recovery.ids_in(block):
            with contextlib.suppress(OSError):
                self._spool.keep(Record(entry.id, path, self._h1(path, entry), str(self.root), block))

    def copies(self) -> Iterator[tuple[Path, bytes]]:
        """Path and bytes of every file outside the journal that holds entries: trash, waiting saves, those of late."""
        for path in (self._trash.path, *self._spool.files()):
            with disk_errors(path, "read"), contextlib.suppress(FileNotFoundError):  # it has just been delivered
                yield path, path.read_bytes()

    # -- bringing back ----------------------------------------------------------------------------

    def trashed(self) -> tuple[Piece, ...]:
        """What edits replaced, oldest first."""
        with disk_errors(self._trash.path, "read"):
            return self._trash.pieces()

    def restore(self, id: str) -> tuple[str, Entry]:
        """Path and entry, with the newest trashed text that differs from what stands there now.

        `id` may be short. A deleted entry is appended to its file; an updated one gets the old text back and
        the present one goes to the trash. Raises NotFound, which names ids in the trash.
        """
        with self._writing():
            pieces = self.trashed()
            id = _resolve(id, (piece.id for piece in reversed(pieces)), "The trash")
            mine = [piece for piece in reversed(pieces) if piece.id == id]
            for path in dict.fromkeys((mine[0].path, self._delivery.place_of(id))):
                if path and (found := self._present(path, id)):
                    return path, self._swap_back(path, *found, mine)
            return self._put_back(self._record(mine[0]))

    def copy_of(self, id: str) -> tuple[str, Entry]:
        """Path and entry of the newest copy that trash or `done/` keeps; `id` may be short. Raises NotFound."""
        pieces = {piece.id: (piece.path, piece.text) for piece in self.trashed()}
        ids = [*pieces, *self._spool.done_ids()]
        id = _resolve(id, iter(ids), "Neither the journal nor the trash")
        record = self._spool.get(id, done=True)
        path, text = pieces[id] if id in pieces or record is None else (record.path, record.block)
        entries = self.parse(path, text, 0).entries
        if not entries:
            raise NotFound(f"The copy of {id} holds no entry.", hint=f"Look at {self._trash.path}.")
        return path, replace(entries[0], id=id)

    def vanished(self) -> tuple[Vanished, ...]:
        """Saves and updates of the last days whose text an old buffer, a person or a checkout took away.

        Either no comment of the journal carries the id; or what stands there is the text before an update, or
        only the text's beginning, cut inside a line.
        """
        done = self._spool.done_ids()
        if not done:
            return ()
        here, pieces = self._delivery.places(), self.trashed()
        lost = []
        for id in done:
            record = self._spool.get(id, done=True)
            if record and self._delivery.ours(record):
                path = here.get(id)
                if path is None or self._stands_older(path, record, pieces):
                    entries = self.parse(record.path, record.block, 0).entries
                    lost.append(Vanished(id, path or record.path, entries[0].title if entries else ""))
        return tuple(lost)

    def _stands_older(self, path: str, record: Record, pieces: Iterable[Piece]) -> bool:
        if (found := self._present(path, record.id)) is None:
            return False
        now = _as_block(found[0])
        rest = record.block.removeprefix(now[:-1])
        if now == record.block:
            return False
        cut_inside_a_line = rest != record.block and not rest.startswith(b"\n")
        return cut_inside_a_line or any(piece.id == record.id and _as_block(piece.text) == now for piece in pieces)

    def restore_done(self, id: str) -> tuple[str, Entry]:
        """Path and entry of a vanished save, put back once. Raises NotFound when it has not vanished."""
        with self._writing():
            record = self._vanished_record(id)
            if path := self._delivery.place_of(record.id):
                return path, self._exchange(
                    path, record.id, lambda now, present: (now, _in_place_of(present, record.block)), "restore"
                )
            return self._put_back(replace(record, at=None, written=False))

    def dismiss(self, id: str) -> None:
        """None; a vanished save is forgotten. Raises NotFound when it has not vanished."""
        with self._writing():
            record = self._vanished_record(id)
            with disk_errors(self._spool.done):
                self._spool.forget(record.id)

    def expire_done(self) -> int:
        """How many saves were dropped from `done/` because they arrived more than seven days ago."""
        with self._writing(), disk_errors(self._spool.done):
            return self._spool.expire_done(force=True)

    def _vanished_record(self, id: str) -> Record:
        lost = [lost.id for lost in self.vanished()]
        if not lost:
            raise NotFound(
                f"{id} has not vanished: all saves of the last days stand in the journal.",
                hint="What was deleted comes back with `synaptic restore ID`.",
            )
        id = _resolve(id, iter(lost), "The list of vanished saves")
        record = self._spool.get(id, done=True)
        assert record is not None
        return record

    def _put_back(self, record: Record) -> tuple[str, Entry]:
        with disk_errors(self._spool.waiting):
            self._spool.put(record)
        path, queued = self._delivery.deliver(record)
        data, status = folder.read(self.root, path)
        entry = self._find(path, data, status, record.id)
        if entry is None and _as_block(record.block).strip() in _as_block(data):  # in a file that is left out
            entry = self._find(record.path, record.block, status, record.id)
        if queued or entry is None:
            raise Changed(f"{path} changed while {record.id} was put back.", hint="The next save finishes it.")
        return path, entry

    def _swap_back(self, path: str, block: bytes, entry: Entry, pieces: list[Piece]) -> Entry:
        older = next((p for p in pieces if _as_block(p.text) != _as_block(block)), None)
        if older is None:
            raise NotFound(f"{entry.id} stands in {path}, and the trash holds no other text of it.")

        def swap(now: Entry, present: bytes) -> tuple[Entry, bytes]:
            return now, _in_place_of(present, self._with_id(older))

        return self._exchange(path, entry.id, swap, "restore")

    def _record(self, piece: Piece) -> Record:
        entries = self.parse(piece.path, piece.text, 0).entries
        h1 = self._h1(piece.path, entries[0]) if entries else PurePosixPath(piece.path).stem
        return Record(piece.id, piece.path, h1, str(self.root), _as_block(self._with_id(piece)))

    def _with_id(self, piece: Piece) -> bytes:
        """The piece's text; a hand-typed one gets its derived id written down, or it could not be found again."""
        entries = self.parse(piece.path, piece.text, 0).entries
        if not entries or piece.id in recovery.ids_in(piece.text):
            return piece.text
        return rewrite_block(piece.text, entries[0], replace(entries[0], id=piece.id, derived_id=False))

    # -- looking ----------------------------------------------------------------------------------

    def _h1(self, path: str, entry: Entry) -> str:
        return entry.date if path == self.day_path(entry.at) else PurePosixPath(path).stem

    def _find(self, path: str, data: bytes, status: os.stat_result, id: str) -> Entry | None:
        entries = self.parse(path, data, status.st_mtime_ns).entries
        return next((entry for entry in entries if entry.id == id), None)

    def _entry(self, path: str, data: bytes, status: os.stat_result, id: str) -> Entry:
        entry = self._find(path, data, status, id)
        if entry is None:
            raise NotFound(f"{path} has no entry {id}.", hint="It was moved or deleted; search for it again.")
        return entry

    def _present(self, path: str, id: str) -> tuple[bytes, Entry] | None:
        with contextlib.suppress(NotFound):
            data, status = folder.read(self.root, path)
            entry = self._find(path, data, status, id)
            if entry and entry.place and not entry.place.whole_file:
                return data[entry.place.start : entry.place.end], entry
        return None

    # -- the lock ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """The lock, with every waiting save in its file."""
        self.prepare()
        with self._delivery.locked(self._lock_timeout_s):
            self._delivery.drain()
            yield


def _as_block(text: bytes) -> bytes:
    """`text` as the spool holds blocks: LF, no outer blank lines, one newline at its end."""
    return text.replace(b"\r\n", b"\n").strip(b"\r\n") + b"\n"


def _in_place_of(present: bytes, text: bytes) -> bytes:
    """`text` in the line ends of `present`, and with as many of them at its end."""
    eol = b"\r\n" if present.count(b"\r\n") * 2 > present.count(b"\n") else b"\n"
    ends = present[len(present.rstrip(b"\r\n")) :]
    return text.rstrip(b"\r\n").replace(b"\r\n", b"\n").replace(b"\n", eol) + (ends or eol)


def _resolve(id: str, known: Iterator[str], what: str) -> str:
    """The one of `known` that `id`, whole or the first four or more of its eight characters, names."""
    ids = list(dict.fromkeys(known))
    short = id.lower()
    fitting = [i for i in ids if i == short or (len(short) >= 4 and i.partition("-")[2].startswith(short))]
    if len(fitting) > 1:
        raise Ambiguous(f"{id} fits {len(fitting)} entries.", valid=fitting[:10], hint="Give the whole id.")
    if not fitting:
        raise NotFound(f"{what} has no {id}.", valid=ids[:10], hint="" if ids else "It is empty.")
    return fitting[0]
