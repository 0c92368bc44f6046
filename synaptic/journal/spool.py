"""Saves on their way: `spool/` holds durable blocks that are not yet in their files, `done/`
those that arrived.

A spool file is one line of JSON, the block, and marks that are added while the block is
written:

    {"id": "...", "path": "2026-11-21.md", "h1": "2026-11-21", "journal": "/...", "bytes": 93,
    "sha256": "..."}
    ## 09:31 ...                 exactly `bytes` bytes
    at 1234                      about to be appended at this offset
    written                      all its bytes were written to the Markdown file
    seen                         the block stood there whole and synced: if it is gone later, somebody removed it

Marks are not synced. They outlive a kill; after a power cut their absence only makes recovery
search more. A file gets its name when it is whole. A hidden file that is left, and a file whose
block does not fit `bytes` and `sha256`, belong to a save that was killed before it was
acknowledged.
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
    """One save: its block (LF, one newline at the end) and its place. `h1` is the heading of a
    new file.
    """

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
    """The two folders. Reading, `put`, and dropping a failed save of one's own need no lock;
    all else needs it.

    A file that cannot be read raises JournalError, a file that cannot be written raises
    OSError.
    """

    def __init__(self, state: Path) -> None:
        self.waiting = state / "spool"
        self.done = state / "done"

    def put(self, record: Record) -> None:
        """Makes the record durable. A whole file of the same id is kept as it is.

        An OSError leaves no file. If the file cannot be removed, JournalError says that the
        entry may be saved.
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
                    f"{self.waiting} cannot be written: {error.strerror}. {record.id} may "
                    f"be saved all the same.",
                    hint=f"Search for it before you save it again; `synaptic delete "
                    f"{record.id}` removes it.",
                ) from error
            raise

    def _write(self, folder: Path, record: Record, torn: str, written: str) -> None:
        header = {
            "id": record.id,
            "path": record.path,
            "h1": record.h1,
            "journal": record.journal,
            "bytes": len(record.block),
            "sha256": hashlib.sha256(record.block).hexdigest(),
        }
        data = json.dumps(header).encode() + b"\n" + record.block
        temp = folder / f".{record.id}"
        temp.unlink(missing_ok=True)
        disk.write_new(temp, data, private=True, step=torn)
        temp.replace(folder / record.id)
        disk.fault(written)
        disk.sync_dir(folder)

    def ids(self) -> list[str]:
        """The ids of the waiting records, in order of arrival."""
        with disk.disk_errors(self.waiting, "read"):
            try:
                with os.scandir(self.waiting) as found:
                    return [
                        name
                        for _, name in sorted(
                            (f.stat().st_mtime_ns, f.name) for f in found if _named(f.name)
                        )
                    ]
            except FileNotFoundError:
                return []

    def waits(self, id: str) -> bool:
        """Whether this id is in the spool. True also when the disk does not tell."""
        try:
            return (self.waiting / id).exists()
        except OSError:
            return True

    def get(self, id: str, *, done: bool = False) -> Record | None:
        """The waiting (or done) record; None if it is missing or torn."""
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
            if (
                len(block) != size
                or hashlib.sha256(block).hexdigest() != header["sha256"]
                or header["id"] != id
            ):
                return None
            begun = [int(offset) for word, offset in itertools.pairwise(marks) if word == b"at"]
            path_, h1, journal = str(header["path"]), str(header["h1"]), str(header["journal"])
        except (ValueError, KeyError, TypeError, IndexError):
            return None
        seen = marks[-1:] == [b"seen"]
        written = seen or marks[-1:] == [b"written"]
        return Record(
            id, path_, h1, journal, block, begun[-1] if begun else None, written, seen, age_s
        )

    def mark(self, id: str, text: str) -> None:
        """Adds a mark to the waiting file, which says how far its block got."""
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(self.waiting / id, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(fd, f"{text}\n".encode())
            finally:
                os.close(fd)

    def finish(self, id: str) -> None:
        """Moves the record to `done/`."""
        with contextlib.suppress(FileNotFoundError):
            (self.waiting / id).replace(self.done / id)
        disk.fault("done")

    def settle(self) -> None:
        """Makes the moves to `done/` durable, so that no arrived record waits again after a
        power cut.
        """
        disk.sync_dir(self.done)
        disk.sync_dir(self.waiting)

    def drop(self, id: str) -> bool:
        """Whether the record waited. It is removed without a copy."""
        return _removed(self.waiting, id)

    def drop_dead(self) -> None:
        """Removes torn files whose writers cannot be alive any more."""
        now = time.time()
        with contextlib.suppress(FileNotFoundError), os.scandir(self.waiting) as found:
            for file in found:
                old = abs(now - file.stat().st_mtime) > TORN_AFTER_S
                if old and (not _named(file.name) or self.get(file.name) is None):
                    self.drop(file.name)

    def done_ids(self) -> list[str]:
        """The ids of the records in `done/`. `expire_done` removes old ones."""
        with disk.disk_errors(self.done, "read"), contextlib.suppress(FileNotFoundError):
            return sorted(name for name in os.listdir(self.done) if _named(name))  # noqa: PTH208
        return []

    def files(self) -> list[Path]:
        """The paths of the waiting records and of those in `done/`."""
        return [
            *(self.waiting / id for id in self.ids()),
            *(self.done / id for id in self.done_ids()),
        ]

    def keep(self, record: Record) -> None:
        """Puts this text into `done/` as the latest of its id. Nothing writes it to the journal
        from there.
        """
        self._write(self.done, record, "kept-torn", "kept")

    def forget(self, id: str) -> bool:
        """Whether `done/` held a copy of this id. The copy is removed durably."""
        return _removed(self.done, id)

    def expire_done(self) -> None:
        """Removes records older than KEEP_DAYS. Looks once in six hours."""
        now, stamp = time.time(), self.done / ".swept"
        if stamp.exists() and now - stamp.stat().st_mtime <= _SWEEP_EVERY_S:
            return
        stamp.touch()
        stamp.chmod(0o600)
        kept = [
            file for file in self.done.iterdir() if file != stamp
        ]  # hidden files belong to killed writers
        for file in kept:
            if now - file.stat().st_mtime > KEEP_DAYS * 86400:
                file.unlink(missing_ok=True)


def _removed(folder: Path, id: str) -> bool:
    found = (folder / id).exists()
    for name in (id, f".{id}"):
        (folder / name).unlink(missing_ok=True)
    disk.sync_dir(folder)
    return found


def _named(name: str) -> bool:
    return not name.startswith(".")
