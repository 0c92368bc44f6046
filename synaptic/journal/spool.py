"""Saves on their way: `spool/` holds what is durable but not yet in its Markdown file, `done/` what lately arrived.

A spool file is one line of JSON, the block, and marks that are added while the block is written:

    {"id": "...", "path": "2026-11-21.md", "h1": "2026-11-21", "journal": "/...", "bytes": 93, "sha256": "..."}
    ## 09:31 ...                 exactly `bytes` bytes
    at 1234                      about to be appended at this offset
    written                      all its bytes were written to the Markdown file
    seen                         it stood there whole, synced: if it is gone later, somebody took it away

Marks are not synced: they outlive a kill, and after a power cut their absence only makes recovery look harder.
A file gets its name when it is whole. A hidden one that is left, and one whose block does not fit `bytes` and
`sha256`, is a save that was killed before anybody was told of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from ..errors import JournalError
from . import disk

TORN_AFTER_S = 300.0
KEEP_DAYS = 7
_SWEEP_EVERY_S = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Record:
    """One save: its block, LF, ending with one newline, and where it belongs. `h1` heads a new file."""

    id: str
    path: str
    h1: str
    journal: str
    block: bytes
    at: int | None = None
    written: bool = False
    seen: bool = False
    age_s: float = 0.0


class Spool:
    """The two folders. Whoever calls anything but `put`, `ids` and `get` holds the write lock.

    What cannot be read raises JournalError, what cannot be written OSError.
    """

    def __init__(self, state: Path) -> None:
        self.waiting = state / "spool"
        self.done = state / "done"

    def put(self, record: Record) -> None:
        """None; the record is durable. A whole file of the same id is kept as it is.

        On an OSError no file is left; where it cannot be removed, JournalError says that it may be saved.
        """
        if self.get(record.id) is not None:
            return
        try:
            self._write(self.waiting, record, "spool-torn", "spool-written")
        except OSError as error:
            with contextlib.suppress(OSError):
                self.drop(record.id)
            if self.waits(record.id):
                raise JournalError(
                    f"{self.waiting} cannot be written: {error.strerror}. {record.id} may be saved all the same.",
                    hint=f"Search for it before you save it again; `synaptic delete {record.id}` removes it.",
                ) from error
            raise

    def _write(self, folder: Path, record: Record, torn: str, written: str) -> None:
        header = {
            "id": record.id, "path": record.path, "h1": record.h1, "journal": record.journal,
            "bytes": len(record.block), "sha256": hashlib.sha256(record.block).hexdigest(),
        }  # fmt: skip
        data = json.dumps(header).encode() + b"\n" + record.block
        temp = folder / f".{record.id}"
        temp.unlink(missing_ok=True)
        disk.write_new(temp, data, private=True, step=torn)
        temp.replace(folder / record.id)
        disk.fault(written)
        disk.sync_dir(folder)

    def ids(self) -> list[str]:
        """The ids that wait, in order of arrival."""
        with disk.disk_errors(self.waiting, "read"):
            try:
                with os.scandir(self.waiting) as found:
                    return [name for _, name in sorted((f.stat().st_mtime_ns, f.name) for f in found if _named(f.name))]
            except FileNotFoundError:
                return []

    def waits(self, id: str) -> bool:
        """Whether this id is in the spool; also True where that cannot be told."""
        try:
            return (self.waiting / id).exists()
        except OSError:
            return True

    def get(self, id: str, *, done: bool = False) -> Record | None:
        """The waiting (or done) record, or None where there is none or it is torn."""
        path = (self.done if done else self.waiting) / id
        with disk.disk_errors(path, "read"):
            try:
                data = path.read_bytes()
                age_s = time.time() - path.stat().st_mtime
            except FileNotFoundError:
                return None
        line, _, rest = data.partition(b"\n")
        try:
            header = json.loads(line)
            size = int(header["bytes"])
            block, marks = rest[:size], rest[size:].split()
            if len(block) != size or hashlib.sha256(block).hexdigest() != header["sha256"] or header["id"] != id:
                return None
            begun = [int(offset) for word, offset in itertools.pairwise(marks) if word == b"at"]
            path_, h1, journal = str(header["path"]), str(header["h1"]), str(header["journal"])
        except (ValueError, KeyError, TypeError, IndexError):
            return None
        seen = marks[-1:] == [b"seen"]
        written = seen or marks[-1:] == [b"written"]
        return Record(id, path_, h1, journal, block, begun[-1] if begun else None, written, seen, age_s)

    def mark(self, id: str, text: str) -> None:
        """None; the waiting file remembers how far its block got."""
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(self.waiting / id, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(fd, f"{text}\n".encode())
            finally:
                os.close(fd)

    def finish(self, id: str) -> None:
        """None; the record is in `done/`."""
        with contextlib.suppress(FileNotFoundError):
            (self.waiting / id).replace(self.done / id)
        disk.fault("done")

    def settle(self) -> None:
        """None; a record that arrived waits no more, also after a power cut."""
        disk.sync_dir(self.done)
        disk.sync_dir(self.waiting)

    def drop(self, id: str) -> bool:
        """Whether the record waited; it waits no more, and leaves no copy."""
        return _removed(self.waiting, id)

    def drop_dead(self) -> None:
        """None; torn files whose writers cannot be alive any more are gone."""
        now = time.time()
        with contextlib.suppress(FileNotFoundError), os.scandir(self.waiting) as found:
            for file in found:
                old = abs(now - file.stat().st_mtime) > TORN_AFTER_S
                if old and (not _named(file.name) or self.get(file.name) is None):
                    self.drop(file.name)

    def done_ids(self) -> list[str]:
        """The ids that arrived within the last days."""
        with disk.disk_errors(self.done, "read"), contextlib.suppress(FileNotFoundError):
            return sorted(name for name in os.listdir(self.done) if _named(name))  # noqa: PTH208
        return []

    def files(self) -> list[Path]:
        """The paths of the records that wait, and of those that arrived within the last days."""
        return [*(self.waiting / id for id in self.ids()), *(self.done / id for id in self.done_ids())]

    def keep(self, record: Record) -> None:
        """None; `done/` holds this text as the latest of its id. It never waits: nothing writes it to the journal."""
        self._write(self.done, record, "kept-torn", "kept")

    def forget(self, id: str) -> bool:
        """Whether `done/` held a copy of this id; it holds none any more, also after a power cut."""
        return _removed(self.done, id)

    def expire_done(self, *, force: bool = False) -> int:
        """How many done records were older than KEEP_DAYS and went; looks once in six hours unless forced."""
        now, stamp = time.time(), self.done / ".swept"
        try:
            due = force or now - stamp.stat().st_mtime > _SWEEP_EVERY_S
        except FileNotFoundError:
            due = True
        if not due:
            return 0
        stamp.touch()
        stamp.chmod(0o600)
        kept = [file for file in self.done.iterdir() if file != stamp]  # hidden ones are of killed writers
        old = [file for file in kept if now - file.stat().st_mtime > KEEP_DAYS * 86400]
        for file in old:
            file.unlink(missing_ok=True)
        return len(old)


def _removed(folder: Path, id: str) -> bool:
    found = (folder / id).exists()
    for name in (id, f".{id}"):
        (folder / name).unlink(missing_ok=True)
    disk.sync_dir(folder)
    return found


def _named(name: str) -> bool:
    return not name.startswith(".")
