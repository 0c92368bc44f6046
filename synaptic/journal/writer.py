"""The lock of a home, and the one way to change a file of its journal.

`FileWriter.change` works under the lock, in these steps:

1. It reads the file and calls `make`, which returns a draft of the new file.
2. It appends to the log of changes what the draft replaces, if a run is on its way.
3. It writes the draft, and the copy for `done/`, to hidden temporary files, and syncs them.
4. It exchanges the file and its temporary file in one step, and syncs the folder.
5. It looks at the old file once more. If an editor changed it meanwhile, the exchange is undone
   and everything begins again. Bytes that were appended late are carried over.
6. It names the copy in `done/`.

A kill leaves the old file or the new one. The next writer removes the hidden files.

`many_changes` takes each of these steps for all its files before the next one, so that what is
written is synced at once.
"""

import json
import os
import stat
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..config import Config
from ..errors import Busy, Changed, JournalError, NotFound, Refused, SynapticError
from ..files import file_lock
from . import disk, folder
from .changelog import Deed, new_run_name, present_actor, record_of_change
from .disk import Steps, disk_errors, inject_fault
from .journal_files import JournalFiles
from .saved import SavedText, remove_old_copies
from .trash import file_hash
from .withdrawal import WITHDRAWAL

if TYPE_CHECKING:
    from filelock import BaseFileLock

ATTEMPTS = 5
"""How often a write is tried when an editor changes the file each time."""
OTHERS_S = 2.0
"""The longest wait for another home that writes to the same folder."""
LOCK_POLL_S = 0.003
_LOOK_S = 0.25
"""Seconds between two looks at who holds the lock."""
PATIENCE_S = 30.0
"""The longest wait for the lock while it goes from hand to hand."""
_EMPTIED_S = 0.01
"""An editor that empties a file writes it within this time."""
_HIDDEN = ".synaptic"
"""The end of a hidden file's name. Before it stands a part of each home: two homes may have one
journal.
"""
_README = """\
These files belong to Synaptic; your notes are in the journal.
You may delete index* (only access counts are lost), models/, lines/, briefings/, read/, done/.
Keep trash.md and changes/ (replaced texts), preferences.log (your yes), imports/, forgotten.
"""


@dataclass(frozen=True)
class Draft:
    """The next bytes of a file; None removes it. `saved` are the copies for `done/`, and `mode`
    the mode of a new file. `in_trash`: the trash holds what it replaces. A subclass holds what
    else its `make` has to return.
    """

    data: bytes | None
    saved: tuple[SavedText, ...] = ()
    mode: int | None = None
    in_trash: bool = False


Stat = os.stat_result | None
"""None: there is no file."""
D = TypeVar("D", bound=Draft | None)
Make = Callable[[bytes, Stat], D]
"""Makes the draft of a file from its bytes and its stat; None if nothing is to change."""


@dataclass(frozen=True)
class DraftedChange(Generic[D]):
    """A change that is about to be made: the file as it is, where it really lies, its draft."""

    path: str
    real: Path
    data: bytes
    status: Stat
    draft: D

    @property
    def before(self) -> bytes | None:
        return self.data if self.status else None


class FileWriter:
    """Changes files of the journal; all processes of a home share its lock."""

    def __init__(self, files: JournalFiles, config: Config) -> None:
        self.saved = files.saved
        self.log = files.log
        self.clock = files.clock
        self.deed: Deed | None = None
        """The run that is on its way. Without one no change is logged."""
        self.roots = files.roots
        self._config = config
        self.state = config.state
        self.changes = files.changes
        self.settled = config.state / "settled"
        """The paths that `settle` found to hold what they should, as JSON, one a line."""
        self._swept: set[Path] | None = None
        """The folders without hidden files of ours, while this process holds the lock."""
        self._has_expired = False
        """True once old copies were removed, while this process holds the lock."""
        self._intent = config.state / "intent"
        self._holder = config.state / "write.holder"
        """The pid of the process that holds the lock, and when it took it."""
        home = os.fsencode(config.home.absolute())
        self._hidden = f".{zlib.crc32(home):08x}{_HIDDEN}"

    def prepare(self) -> None:
        """Creates the home and its state, and the default journal `<home>/journal` if there is
        no index yet.

        Raises JournalError if the journal is missing otherwise, or if the home cannot be made.
        """
        home = self._config.home
        journal = self._config.journal
        with disk_errors(self.state, "made"):
            if not home.is_dir():
                home.parent.mkdir(parents=True, exist_ok=True)
            disk.make_dirs(home, private=True)
            for own in (self.state, self.saved.folder):
                disk.make_state_dir(own)
            if journal == home / "journal" and not (self.state / "index.db").exists():
                disk.make_dirs(journal, private=True)
            files = {".gitignore": "*\n", "README.txt": _README}
            for name, text in files.items():
                file = self.state / name
                with suppress(FileExistsError):
                    disk.write_new(file, text.encode(), private=True, step="prepared")
        if not journal.is_dir():
            raise folder.missing_journal_error(journal)

    @contextmanager
    def locked(self, timeout_s: float) -> Iterator[None]:
        """The write lock, as a context. Raises Busy when one process keeps it for `timeout_s`,
        and after PATIENCE_S of others, and Withdrawn if the client has cancelled the call.

        An OSError while the lock is held becomes a JournalError.
        """
        path = self.state / "write.lock"
        lock = file_lock(path, notes=self._config.journal)
        with disk_errors(path, "locked"):
            self._acquire_lock(lock, timeout_s)
        try:
            withdrawal = WITHDRAWAL.get()
            if withdrawal:
                withdrawal.begin_change()
            self.note_progress()
            self._swept = set()
            self._has_expired = False
            with disk_errors(self.state, "used"), _folder_lock(self._config.journal):
                inject_fault("locked")
                self.remove_temps(self.saved.folder)
                self.settle_intent()
                yield
        finally:
            self._swept = None
            with suppress(OSError):  # the write itself is done
                os.truncate(self._holder, 0)
            with suppress(OSError):
                lock.release()

    def _acquire_lock(self, lock: "BaseFileLock", timeout_s: float) -> None:
        """Acquires the write lock. The waiting time `timeout_s` starts again whenever another
        process takes the lock. Raises Busy, as `locked` says.
        """
        from filelock import Timeout

        withdrawal = WITHDRAWAL.get()
        begun = since = time.monotonic()
        last = self._read_holder()
        while True:
            left = timeout_s - (time.monotonic() - since)
            with suppress(Timeout):
                lock.acquire(max(0, min(_LOOK_S, left)), poll_interval=LOCK_POLL_S)
                return
            if withdrawal:
                withdrawal.check()
            now = time.monotonic()
            holder = self._read_holder()
            if holder and holder != last:
                last = holder
                since = now
            if now - since >= timeout_s:
                raise _lock_held_error(holder, timeout_s)
            if now - begun >= PATIENCE_S:
                raise Busy(
                    "Other processes have been writing to the journal for "
                    "{patience_s:g} s without a pause; nothing was saved.",
                    "Try again.",
                    patience_s=PATIENCE_S,
                )

    def note_progress(self) -> None:
        """Notes that this process has the lock and gets on: those who wait go on waiting."""
        with suppress(OSError), disk.closing_at_end(disk.open_to_append(self._holder)) as fd:
            os.ftruncate(fd, 0)
            disk.set_mode(fd, 0o600)  # whatever the umask took
            os.write(fd, f"{os.getpid()} {time.time_ns()}".encode())

    def _read_holder(self) -> str:
        """The holder of the lock; "" if nobody, or another program, holds it."""
        with suppress(OSError, ValueError):
            return disk.read_state_file(self._holder).decode("ascii")
        return ""

    def note_intent(self, path: str, data: bytes | None) -> None:
        """Notes that a file is about to hold these bytes: after a kill nobody else can tell
        whether it did. A lost note does no harm but that.
        """
        note = [path, None if data is None else file_hash(data)]
        disk.overwrite(self._intent, json.dumps(note).encode(), sync=False)

    def settle_intent(self) -> None:
        """Moves the recorded intent (see `note_intent`) to `settled` if the file holds the
        intended bytes. Each holder of the lock does so first, and thus before the next change
        hides it.
        """
        with suppress(OSError, ValueError, SynapticError):
            path, wanted = json.loads(disk.read_state_file(self._intent))
            data, status = self._read(path)
            if (file_hash(data) if status else None) == wanted:
                fd = disk.open_to_append(self.settled)
                with os.fdopen(fd, "w", encoding="ascii") as file:
                    file.write(json.dumps(path) + "\n")
            self._intent.unlink()

    @contextmanager
    def doing(
        self, verb: str, what: str = "", *, entries: Sequence[str] = (), run: str = ""
    ) -> Iterator[Deed]:
        """A run, as a context in which each change of a note is logged as a part of it; within
        another run the context is that one.
        """
        if self.deed:
            yield self.deed
            return
        name = run or new_run_name()
        self.deed = Deed(name, verb, what, present_actor(), tuple(entries))
        try:
            yield self.deed
        finally:
            self.deed = None

    @contextmanager
    def unlogged(self) -> Iterator[None]:
        """A context whose changes are not logged, although a run is on its way."""
        deed, self.deed = self.deed, None
        try:
            yield
        finally:
            self.deed = deed

    def note_entries(self, *entries: str) -> None:
        """Says which entries the run that is on its way is about, unless that has been said."""
        if self.deed and not self.deed.entries:
            self.deed.entries = entries

    def note_changes(self, *changes: tuple[str, bytes | None, Draft]) -> None:
        """Appends to the log what these drafts are about to replace in notes, by the path and
        the bytes before. Nothing of it is written if that must be durable and cannot be.
        """
        records = []
        is_durable = True
        for path, before, draft in changes:
            if not self.deed or not folder.is_note(path) or draft.data == before:
                continue
            mode = None
            if draft.data is None:
                with suppress(OSError):
                    mode = stat.S_IMODE(self.roots.place(path).stat().st_mode)
            record = record_of_change(
                self.deed, self.clock(), path, before, draft.data, mode=mode
            )
            records.append(record)
            adds_only = draft.data is not None and draft.data.startswith(before or b"")
            alone = not (self.deed.is_durable or draft.in_trash or adds_only)
            is_durable = is_durable and not (alone and any(record.befores()))
        if records:
            self.log.append(*records, sync=not is_durable)

    # -- changing files

    def change(self, path: str, make: Make[D]) -> D:
        """Writes the draft that `make` returns for the present bytes and stat of the file, and
        returns it. If `make` returns None, the file is not changed.

        Raises Refused for a file that is only read or has several names, Changed when the file
        changed during each attempt, and JournalError when the disk refuses. Then the file is as
        it was, unless the message says that it may have been changed.
        """
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(0.01 * attempt)
            change = self.draft_change(path, make)
            if change.draft is None or self.make_changes([change]):
                return change.draft
        raise Changed(
            "{path} changed while it was edited; nothing was written.",
            "Another program writes to it: stop that program, and try again.",
            path=path,
        )

    def draft_change(self, path: str, make: Make[D]) -> DraftedChange[D]:
        """The change of a file by the draft that `make` returns, as `change` says."""
        real = folder.resolve_journal_path(self.roots, path)
        self.remove_temps(real.parent)
        data, status = self._read(path)
        if status and status.st_nlink > 1:  # an exchange would part the two
            raise Refused(
                "{path} has a second name (a hard link), and a change would make "
                "two files of them. Nothing was saved.",
                "Make it a file of its own: cp -p {real} {real}.copy && mv {real}.copy {real}",
                path=path,
                real=real,
            )
        draft = make(data, status)
        if draft is not None:
            folder.refuse_source(self.roots, path)
        return DraftedChange(path, real, data, status, draft)

    def make_changes(self, changes: Sequence[DraftedChange[Any]]) -> list[DraftedChange[Any]]:
        """Makes these changes beside each other; returns those that were made, without files
        that changed meanwhile.
        """
        # before it: a change that fails may be there all the same
        self.changes += [change.path for change in changes]
        self.note_changes(*((one.path, one.before, one.draft) for one in changes))
        outcomes = disk.take_steps_together(list(map(self._changing, changes)))
        if changes and not self._has_expired:
            self._has_expired = True
            with suppress(OSError):
                remove_old_copies(self.saved.folder)
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        return [one for one, is_made in zip(changes, outcomes, strict=True) if is_made]

    def _changing(self, change: DraftedChange[Any]) -> Steps[bool]:
        """The steps of a change; they return False if the file changed meanwhile."""
        try:
            with disk_errors(change.path):
                return (yield from self._exchanging(change))
        except JournalError as error:
            if self._is_unchanged(change.path, change.status):
                raise
            raise JournalError(
                f"{error.message} The file may have been changed all the same.",
                "Look at the file before you try again.",
            ) from error

    def _read(self, path: str) -> tuple[bytes, Stat]:
        try:
            data, status = folder.read_bytes(self.roots, path)
            if not data:
                time.sleep(_EMPTIED_S)
                data, status = folder.read_bytes(self.roots, path)
            return data, status
        except NotFound:
            return b"", None

    def _is_unchanged(self, path: str, status: Stat) -> bool:
        """True if the file still has the stat `status`; for None, if no file exists."""
        try:
            now = folder.read_bytes(self.roots, path)[1]
        except NotFound:
            return status is None
        except JournalError:
            return False
        return status is not None and os.path.samestat(now, status)

    def _exchanging(self, change: DraftedChange[Any]) -> Steps[bool]:
        path, real, draft = change.path, change.real, change.draft
        private = self.lies_in_home(path)
        if not change.status:
            disk.make_dirs(real.parent, private=private)
        copies = {
            text.id: self._temp_path_of(self.saved.path_of(text.id)) for text in draft.saved
        }
        is_made = is_left = False
        try:
            with folder.path_held_open(self.roots, path) as file:
                for text in draft.saved:
                    yield from self.saved.writing_temp(copies[text.id], text)
                temp = self._temp_path_of(file)
                new = draft.data or b""
                if not change.status:
                    hidden = private or draft.mode is not None
                    yield from disk.creating(file, new, private=hidden, temp=temp)
                    if draft.mode is not None:
                        file.chmod(draft.mode)
                else:
                    inode = change.status.st_ino
                    is_left = not (
                        yield from disk.replacing(file, change.data, inode, new, temp)
                    )
                    if draft.data is None and not is_left:
                        disk.remove_empty_file(file)
                for id, copy in {} if is_left else copies.items():
                    yield from self._publishing_copy(copy, id)
                is_made = not is_left
        except FileExistsError:
            is_left = True  # somebody else has just created the file
        except FileNotFoundError:
            is_left = real.parent.is_dir()  # an editor is replacing the file right now
            if not is_left:
                raise
        finally:
            for left in (self._temp_path_of(real), *copies.values()):
                disk.unlink(left)
            if not is_made and not is_left:
                with suppress(OSError):
                    disk.sync_dir(real.parent)
        with suppress(OSError):
            yield real.parent
        return is_made

    def lies_in_home(self, path: str) -> bool:
        """True for a file of a root in the home: its folders are for its owner alone."""
        return self.roots.split_path(path)[1].is_relative_to(self._config.home)

    def _publishing_copy(self, temp: Path, id: str) -> Steps[None]:
        """The steps that give the temporary copy its final name in `done/`. If that fails the
        change has succeeded all the same, and an older copy must not say otherwise.
        """
        try:
            yield from self.saved.accepting(temp, id)
        except OSError:
            with suppress(OSError):
                self.saved.forget(id)

    def _temp_path_of(self, file: Path) -> Path:
        return file.with_name(f".{file.name}{self._hidden}")

    def remove_temps(self, folder: Path) -> None:
        """Removes the hidden files that a killed writer of this home left in a folder. While
        the lock is held nobody leaves more, so that a folder is listed once.
        """
        if self._swept is not None:
            if folder in self._swept:
                return
            self._swept.add(folder)
        with suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208
                if name.endswith(self._hidden):
                    disk.unlink(folder / name)


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Excludes other homes that write to this folder, for OTHERS_S, if the system can."""
    with ExitStack() as stack:
        with suppress(ImportError, OSError):
            fcntl = import_module("fcntl")  # Windows has none
            fd = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, fd)
            until = time.monotonic() + OTHERS_S
            while time.monotonic() < until:
                with suppress(BlockingIOError):
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(LOCK_POLL_S)
        yield


def _lock_held_error(holder: str, waited_s: float) -> Busy:
    """The error for a lock that one process keeps."""
    pid, _, taken_ns = holder.partition(" ")
    if not taken_ns:
        return Busy(
            "Another program has held the write lock of this journal for "
            "{waited_s:g} s; nothing was saved.",
            "Try again; a backup or a sync of the folder `.state` may hold it.",
            waited_s=waited_s,
        )
    held_s = max(waited_s, (time.time_ns() - int(taken_ns)) / 1e9)
    return Busy(
        "Process {pid} has been writing to the journal for {held_s:.0f} s; nothing was saved.",
        "Try again; if it stays so, end process {pid}.",
        pid=pid,
        held_s=held_s,
    )
