"""Moves saves from the spool into their Markdown files, under the lock, also after a writer was
killed.

Saves of other processes come first. A block that is whole in its file is done. A torn block is
completed (see `recovery`). An absent block is searched in the whole journal if a killed writer
may have written it, then appended. If a block was seen in its file and is gone, somebody
removed it: it is not appended, and `doctor` names it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ..config import Config
from ..errors import Busy, JournalError, NotFound, Refused
from . import disk, folder, recovery
from .disk import disk_errors, fault
from .spool import Record, Spool

if TYPE_CHECKING:
    from filelock import BaseFileLock

ATTEMPTS = 5
"""How often a write is tried when an editor changes the file each time."""
_LOCK_POLL_S = 0.003
_SURELY_FRESH_S = 60.0
_README = """\
These files belong to Synaptic; your notes are in the journal.
You may delete index* (only access counts and figures are lost), models/ and done/. trash.md holds replaced texts.
Keep spool/, saves on their way into the journal, and imports/, forgotten: by them nothing comes twice.
"""


class Delivery:
    """The spool, the lock and the journal's folder. Only `prepare`, `places`, `ours` and
    `take_back` need no lock.
    """

    def __init__(self, config: Config) -> None:
        self.spool = Spool(config.state)
        self.roots = folder.Roots(config.roots, config.exclude)
        self._root = config.journal
        self._state = config.state
        self._config = config
        self._note = config.state / "rewriting"
        self._lock: BaseFileLock | None = None
        self._places: dict[str, str] | None = None

    def prepare(self) -> None:
        """Creates the home and its state, and the default journal `<home>/journal` if there is
        no index yet.

        Raises JournalError if the journal is missing otherwise, or if the home cannot be made.
        """
        first = not (self._state / "README.txt").exists()
        # sentences of sessions that an older version proposed: a purge must leave no copy
        shutil.rmtree(self._state / "inbox", ignore_errors=True)
        with disk_errors(self._state, "made"):
            if not self._config.home.is_dir():
                self._config.home.parent.mkdir(parents=True, exist_ok=True)
            for own in (self._config.home, self._state, self.spool.waiting, self.spool.done):
                disk.make_dirs(own, private=True)
            if (
                self._root == self._config.home / "journal"
                and not (self._state / "index.db").exists()
            ):
                disk.make_dirs(self._root, private=True)
            if first:
                for name, text in ((".gitignore", "*\n"), ("README.txt", _README)):
                    with contextlib.suppress(FileExistsError):
                        disk.write_new(
                            self._state / name, text.encode(), private=True, step="prepared"
                        )
        if not self._root.is_dir():
            raise folder.missing(self._root)

    @contextlib.contextmanager
    def locked(self, timeout_s: float, *, waiting: str = "") -> Iterator[None]:
        """The write lock, as a context. Raises Busy after `timeout_s`.

        `waiting` is the id of the caller's own save: Busy comes early once another process has
        delivered it. An OSError while the lock is held becomes a JournalError.
        """
        from filelock import FileLock, Timeout  # 30 ms, for writers only

        path = self._state / "write.lock"
        self._lock = self._lock or FileLock(path, mode=0o600)
        give_up_at = time.monotonic() + timeout_s
        with disk_errors(path, "locked"):
            while True:
                try:
                    self._lock.acquire(timeout=0)
                    break
                except Timeout as error:
                    if time.monotonic() >= give_up_at or (
                        waiting and not self.spool.waits(waiting)
                    ):
                        raise Busy(
                            f"Another process has been writing to the journal for "
                            f"{timeout_s:g} s.",
                            hint="Try again.",
                        ) from error
                time.sleep(_LOCK_POLL_S)
        self._places = None
        try:
            with disk_errors(self._state, "used"):
                self._clear_left_over()
                yield
        finally:
            with contextlib.suppress(OSError):  # the write itself is done
                self._lock.release()

    def deliver(self, record: Record) -> tuple[str, bool]:
        """The path of the entry's file, and whether the save still waits. Waiting saves of
        others go first.
        """
        self.drain(but=record.id)
        now = self.spool.get(record.id)
        if now is None and self.spool.get(record.id, done=True):
            return record.path, False  # another writer has delivered it
        path = self._settle(now or record, fresh=now is not None and now.at is None)
        if path is None:
            return record.path, True
        self.finish(record.id)
        return path, False

    def take_back(self, id: str) -> bool:
        """Takes a failed save out of the spool. False if it still waits there, for a part of it
        may be in its file.
        """
        with contextlib.suppress(OSError, JournalError):
            if (record := self.spool.get(id)) and record.at is not None and self._begun(record):
                return False
            self.spool.drop(id)
        return not self.spool.waits(id)

    def _begun(self, record: Record) -> bool:
        try:
            data = folder.read(self.roots, record.path)[0]
        except NotFound:
            return False
        return recovery.mend(data, record.block, record.id, at=record.at) is not None

    def drain(self, but: str = "") -> tuple[str, ...]:
        """The ids of the delivered saves. A save whose file cannot be written goes on waiting."""
        self.spool.drop_dead()
        return tuple(id for id in self.spool.ids() if id != but and self._drain_one(id))

    def _drain_one(self, id: str) -> bool:
        with contextlib.suppress(JournalError, NotFound, Refused, OSError):
            record = self.spool.get(id)
            if (
                record
                and self.ours(record)
                and (record.seen or self._settle(record) is not None)
            ):
                self.finish(id)
                return True
        return False

    def finish(self, id: str) -> None:
        with contextlib.suppress(OSError):  # the entry is in its file: the save has succeeded
            self.spool.mark(id, "seen")
            fault("settled")
            self.spool.finish(id)
            self.spool.expire_done()

    def ours(self, record: Record) -> bool:
        # several journals may share a home; a moved home keeps its saves
        return record.journal == str(self.roots.of(record.path)[1]) or not os.path.isdir(  # noqa: PTH112
            record.journal
        )

    def _private(self, path: str) -> bool:
        return self.roots.of(path)[1].is_relative_to(self._config.home)

    def _settle(self, record: Record, *, fresh: bool = False) -> str | None:
        """The path of the file that holds the whole block now; None when an editor changed the
        file each time.

        `fresh`: nobody can have written the block anywhere yet.
        """
        since_boot_s = time.monotonic()  # a power cut loses marks
        suspect = not fresh and (
            record.at is not None or record.age_s > min(_SURELY_FRESH_S, since_boot_s)
        )
        for attempt in range(ATTEMPTS):
            time.sleep(0.01 * attempt)
            found, size = (None, None) if fresh else self._mend(record, suspect=suspect)
            if found:
                return found
            shrunk = size is not None and 0 <= size < (
                record.at or 0
            )  # an editor may be writing it just now
            if (
                found is None
                and not (shrunk and attempt < ATTEMPTS - 1)
                and self._append(record, size)
            ):
                return record.path
            record, fresh, suspect = self.spool.get(record.id) or record, False, True
            self._places = None
        return None

    def _mend(self, record: Record, *, suspect: bool) -> tuple[str | None, int]:
        """The path of the file that holds the whole block now, and the size of the block's own
        file.

        The path is "" when that file has just changed, None when no file holds the block. A
        missing file has size -1.
        """
        size = -1
        for elsewhere in (False, True):
            path = (
                record.path if not elsewhere else self.place_of(record.id) if suspect else None
            )
            if path is None:
                break
            with contextlib.suppress(NotFound, Refused):  # a source may hold a copy
                data, status = folder.read(self.roots, path)
                size = size if elsewhere else len(data)
                whole = recovery.mend(
                    data,
                    record.block,
                    record.id,
                    at=record.at,
                    written=record.written,
                    suspect=suspect,
                )
                if whole is not None:
                    return path if whole == data or self.replace(
                        path, data, status, whole
                    ) else "", size
        return None, size

    def _append(self, record: Record, size: int | None) -> bool:
        """True when the block stands at the end of its file; False when somebody changed the
        file meanwhile.

        `size` is the size that the file must still have: only those bytes were searched for the
        block.
        """
        real = folder.writable(self.roots, record.path)
        with disk_errors(record.path):
            disk.make_dirs(real.parent, private=self._private(record.path))
            with (
                folder.pinned(self.roots, record.path) as file,
                contextlib.suppress(FileNotFoundError),
            ):
                if not file.exists():
                    self.spool.mark(record.id, "at 0")
                    created = self.create(
                        record.path, f"# {record.h1}\n\n".encode() + record.block
                    )
                    if created:
                        self.spool.mark(record.id, "written")
                    return created
                if not stat.S_ISREG(file.stat().st_mode):
                    raise JournalError(
                        f"{record.path} is no regular file.", hint="Move it out of the way."
                    )
                return disk.append(
                    file,
                    lambda head, tail: joined(record.path, record.block, head, tail),
                    lambda text: self.spool.mark(record.id, text),
                    size,
                )
            return False  # an editor is replacing the file right now

    def create(self, path: str, data: bytes, mode: int | None = None) -> bool:
        """True when the new file holds `data` and has this mode; False when there is a file
        already.
        """
        real = folder.writable(self.roots, path)
        with disk_errors(path), contextlib.suppress(FileExistsError):
            disk.make_dirs(real.parent, private=self._private(path))
            with folder.pinned(self.roots, path) as file, self._beside(real):
                disk.create(file, data, private=self._private(path) or mode is not None)
                if mode is not None:
                    file.chmod(mode)
                return True
        return False

    def replace(
        self, path: str, data: bytes, status: os.stat_result, after: bytes | None
    ) -> bool:
        """True when the file went from `data` to `after`, or away if that is None; False when
        it changed meanwhile.

        Raises JournalError when the disk kept it from changing, or when nobody can tell. An
        error after the exchange does not count.
        """
        try:
            return self._replace(path, data, status, after)
        except JournalError as error:
            if self._is_still(path, status):
                raise
            with contextlib.suppress(JournalError, NotFound):
                if folder.read(self.roots, path)[0] == after:
                    return True
            raise JournalError(
                f"{error.message} It may have been changed all the same.",
                hint="Look at it before you try again.",
            ) from error

    def _is_still(self, path: str, status: os.stat_result) -> bool:
        """True when the path still leads to the file of this status."""
        with contextlib.suppress(OSError, JournalError):
            return os.path.samestat(folder.locate(self.roots, path).stat(), status)
        return False

    def _replace(
        self, path: str, data: bytes, status: os.stat_result, after: bytes | None
    ) -> bool:
        real = folder.writable(self.roots, path)
        with disk_errors(path):
            try:
                with folder.pinned(self.roots, path) as file, self._beside(real):
                    done = disk.replace(file, data, status.st_ino, after or b"")
                    if (
                        done and after is None and not file.stat().st_size
                    ):  # nobody has written to it since
                        file.unlink()
                    return done
            except FileNotFoundError:
                if real.parent.is_dir():
                    return False  # an editor is replacing the file right now
                raise

    @contextlib.contextmanager
    def _beside(self, real: Path) -> Iterator[None]:
        """A context in which a hidden file may stand beside `real`. If a kill leaves it, the
        next writer removes it.
        """
        with contextlib.suppress(FileExistsError):
            disk.write_new(self._note, b"", private=True, step="noted", sync=False)
        with self._note.open("ab") as note:
            note.write(
                b"\0" + os.fsencode(real) + b"\0"
            )  # the first NUL ends the torn note of a killed writer
            note.flush()
            disk.sync_file(note.fileno())
        disk.sync_dir(self._state)
        try:
            yield
        finally:
            self._clear_left_over()

    def _clear_left_over(self) -> None:
        with contextlib.suppress(OSError):
            noted = {
                Path(os.fsdecode(real)) for real in self._note.read_bytes().split(b"\0") if real
            }
            left = [real for real in noted if not disk.clear_temp(real)]
            for parent in {real.parent for real in noted}:
                disk.sync_dir(parent)
            if not left:
                self._note.unlink()

    def place_of(self, id: str) -> str | None:
        """The first file with a comment that carries this id. All files are read once while the
        lock is held.
        """
        if self._places is None:
            self._places = self.places()
        return self._places.get(id)

    def places(self) -> dict[str, str]:
        places: dict[str, str] = {}
        for stamp in folder.scan(self.roots):
            with contextlib.suppress(NotFound):
                for id in recovery.ids_in(folder.read(self.roots, stamp.path)[0]):
                    places.setdefault(id, stamp.path)
        return places


def joined(path: str, block: bytes, head: bytes, tail: bytes) -> bytes:
    """The block as it is appended to a file with this beginning and end: in its line ends,
    after one blank line.
    """
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise JournalError(f"{path} is UTF-16.", hint="Convert it to UTF-8 and save again.")
    eol = b"\r\n" if tail.count(b"\r\n") * 2 > tail.count(b"\n") else b"\n"
    block = block.replace(b"\n", eol)
    ended = tail.replace(b"\r\n", b"\n")
    if not ended or ended.endswith(b"\n\n") or (ended == b"\n" and tail == head[: len(tail)]):
        return block
    return (eol if ended.endswith((b"\n", b"\r")) else eol + eol) + block
