"""Writes files of the journal and of the home so that they survive a kill and a power cut.

Directories and files in the home are *private*: 0700 and 0600 under any umask. In a journal
elsewhere they follow their folder and the umask. Nothing here knows what a note is.
"""

import errno
import hashlib
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from ..errors import JournalError, Sentence
from ..files import clear_way, read_regular_file

T = TypeVar("T")
Steps = Generator["int | Path", None, T]
"""A change of a file in steps: after each it yields a descriptor, or a folder, which is synced
before the next one.
"""
SYNCED_AT_ONCE = 8
"""Threads that sync the files of many changes: the system then writes its own log once for
several. In a thousand files that took a twentieth of the time.
"""


PREFERENCES = "preferences.log"
"""The file in the state folder that says who gave which preference."""
REVIEWED = "review.json"
"""The file in the state folder with the findings that a person keeps as they are."""
PUBLISHED = "publish.json"
"""The file in the state folder with the name under which the journal is published, and how far.
"""
RENAMES, UNFINISHED = "renames", "unfinished"
"""The folder in the state folder, and the file in it, of the rename that is being carried out,
or that was killed.
"""
DRAFTS, UNSAVED = "drafts", "unsaved"
"""The folder in the state folder with the files of drafts, and the file there that names those
whose note is not saved yet.
"""
WINDOWS = os.name == "nt"
HELD_TRIES = 10
HELD_WAIT_S = 0.05
"""On Windows a file that another program holds open cannot be replaced: the number of tries,
and the pause between.
"""
O_EXTRA = os.O_CLOEXEC if hasattr(os, "O_CLOEXEC") else getattr(os, "O_BINARY", 0)
_O_PLAIN = O_EXTRA | getattr(os, "O_NOFOLLOW", 0)
_O_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
STATE_BYTES = 64_000_000
"""The most bytes of a file of the state folder that is read whole: a hundred times what years
leave there.
"""
_SHARING_VIOLATION = 32
"""The `OSError.winerror` of a file that another program has opened for itself alone."""
_REASONS = {
    errno.ENOSPC: (Sentence("the disk is full"), "Free some space and try again."),
    errno.EDQUOT: (Sentence("the disk quota is used up"), "Free some space and try again."),
    errno.EFBIG: (
        Sentence("the file may not grow (file size limit)"),
        "Raise the limit (ulimit -f) and try again.",
    ),
    errno.EROFS: (Sentence("the file system is read-only"), "Mount it writable and try again."),
    errno.EACCES: (Sentence("permission denied"), "Check the owner and the mode of that path."),
    errno.EPERM: (
        Sentence("operation not permitted"),
        "Check the owner and the mode of that path.",
    ),
    errno.EBUSY: (
        Sentence("another program holds it open, or it is mounted by itself"),
        "Close it there, or mount its folder.",
    ),
    errno.ENAMETOOLONG: (
        Sentence("its name or its path is too long"),
        "Give the file or its folder a shorter name; it is read as it is.",
    ),
    errno.EISDIR: (Sentence("it is not a regular file"), "Move it out of the way."),
    errno.EIO: (
        Sentence("input/output error"),
        "Check the disk (`dmesg` says more), then try again.",
    ),
}


def inject_fault(step: str, fd: int = -1, data: bytes = b"") -> None:
    """For tests: kills the process if `SYNAPTIC_FAULT` names `step`; before that, a part of
    `data`, if given, is written to `fd`. `STEP-torn:N`: the first N bytes. `STEP:stop` stops
    the process at each such step, until it gets SIGCONT. Otherwise does nothing.
    """
    asked, _, cut = os.environ.get("SYNAPTIC_FAULT", "").partition(":")
    if step == asked and sys.platform != "win32":
        if cut == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
            return
        if data:
            os.write(fd, data[: int(cut or len(data) // 2)])
        os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def disk_errors(path: Path | str, what: str = "written") -> Iterator[None]:
    """A context that turns an OSError into a JournalError, which names `path` and a way out."""
    try:
        yield
    except OSError as error:
        number = error.errno
        if getattr(error, "winerror", 0) == _SHARING_VIOLATION:
            number = errno.EBUSY
        reason, hint = explain_errno(number or 0, error.strerror or str(error))
        raise JournalError(
            f"{{path}} cannot be {what}: {{reason}}.", hint, path=path, reason=reason
        ) from error


def explain_errno(number: int, other: str = "") -> tuple[str, str]:
    """(the reason in words, the next step) for an `OSError.errno`; `other` is the reason of an
    error that the table does not have.
    """
    return _REASONS.get(number, (other, "Try again."))


def checksum_header(text: bytes) -> dict[str, Any]:
    """The length and the checksum of a text, for the header before it."""
    return {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}


def read_checked_text(header: Mapping[str, Any], rest: bytes) -> bytes:
    """Returns the text at the start of `rest`, whose length and checksum `header` holds. Raises
    ValueError if a crash left it incomplete.
    """
    text = rest[: int(header["bytes"])]
    if hashlib.sha256(text).hexdigest() != header["sha256"]:
        raise ValueError("torn")
    return text


def make_dirs(path: Path, *, private: bool) -> None:
    """Creates `path` and its missing parents durably."""
    if path.is_dir():
        return
    make_dirs(path.parent, private=private)
    with suppress(FileExistsError):
        path.mkdir(mode=0o700 if private else 0o777)
        if private:
            path.chmod(0o700)
        sync_dir(path.parent)


def make_state_dir(path: Path) -> None:
    """Creates a folder of the home durably; what stands in its place is moved aside."""
    clear_way(path, for_folder=True)
    make_dirs(path, private=True)


def sync_dir(path: Path) -> None:
    """Makes the names in the folder `path` durable."""
    if WINDOWS:
        return
    with closing_at_end(os.open(path, os.O_RDONLY)) as fd:
        sync_file(fd)


def sync_file(fd: int) -> None:
    """Makes the bytes that were written to `fd` durable.

    On macOS `fsync` leaves the bytes in the drive's cache (fsync(2)), and F_FULLFSYNC empties
    that cache too. File systems without it (network disks) answer with an error; there `fsync`
    must suffice.
    """
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is not None and sys.platform != "win32":
        with suppress(OSError):
            fcntl.fcntl(fd, full)
            return
    os.fsync(fd)


def take_steps(change: Steps[T]) -> T:
    """Makes one change, and returns what it returns."""
    [outcome] = take_steps_together([change])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def take_steps_together(changes: Sequence[Steps[T]]) -> list[T | Exception]:
    """Takes each step of all these changes before the next one of any, so that what they wrote
    is synced at once; returns what each returned or raised.
    """
    outcomes: dict[int, T | Exception] = {}
    failures: dict[int | Path | None, OSError] = {}
    written: dict[int, int | Path | None] = dict.fromkeys(range(len(changes)))
    try:
        while written:
            asked: dict[int, int | Path | None] = {}
            for number, target in written.items():
                failure = failures.get(target)
                change = changes[number]
                try:
                    asked[number] = change.throw(failure) if failure else next(change)
                except StopIteration as end:
                    outcomes[number] = end.value
                except Exception as error:
                    outcomes[number] = error
            written = asked
            failures = _sync_all(set(asked.values()))
    finally:
        for change in changes:
            change.close()
    return [outcomes[number] for number in range(len(changes))]


def _sync_all(targets: Collection[int | Path | None]) -> dict[int | Path | None, OSError]:
    """Makes files and folders durable, each folder once; returns the errors by target."""
    one_of: dict[Any, int | Path | None] = {}
    key_of: dict[int | Path | None, Any] = {}
    for target in targets:
        key_of[target] = target
        if isinstance(target, Path):
            with suppress(OSError):
                status = target.stat()
                key_of[target] = status.st_dev, status.st_ino
        one_of.setdefault(key_of[target], target)
    if len(one_of) == 1:
        errors = list(map(_try_to_sync, one_of.values()))
    else:
        from concurrent.futures import ThreadPoolExecutor  # few calls change many files

        with ThreadPoolExecutor(SYNCED_AT_ONCE) as threads:
            errors = list(threads.map(_try_to_sync, one_of.values()))
    by_key = {key: error for key, error in zip(one_of, errors, strict=True) if error}
    return {target: by_key[key] for target, key in key_of.items() if key in by_key}


def _try_to_sync(target: int | Path | None) -> OSError | None:
    try:
        if isinstance(target, Path):
            sync_dir(target)
        elif target is not None:
            sync_file(target)
    except OSError as error:
        return error
    return None


def write_all(fd: int, data: bytes) -> None:
    """Writes all of `data`, in several writes if the system takes less at once."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_new(path: Path, data: bytes, *, private: bool, step: str, sync: bool = True) -> None:
    """Writes `data` to the new file `path`.

    Raises FileExistsError. Other errors leave no file.
    """
    with new_file(path, data, private=private, step=step) as fd:
        if sync:
            sync_file(fd)


@contextmanager
def new_file(
    path: Path, data: bytes, *, private: bool, step: str, like: int | None = None
) -> Iterator[int]:
    """The descriptor of the new file `path`, which holds `data` and has the marks of the open
    file `like` (see `copy_file_attributes`), as a context.

    Raises FileExistsError. Other errors, also in the block, leave no file.
    """
    fd = os.open(
        path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | O_EXTRA, 0o600 if private else 0o666
    )
    try:
        try:
            if private:
                set_mode(fd, 0o600)
            inject_fault(step, fd, data)
            write_all(fd, data)
            if like is not None:
                copy_file_attributes(like, fd)
            yield fd
        finally:
            os.close(fd)
    except BaseException:
        unlink(path)
        raise


def create_file(path: Path, data: bytes, *, private: bool) -> None:
    """Creates `path` with all of `data` in one step, durably.

    Raises FileExistsError when somebody was quicker. Other errors leave no file, as far as the
    system lets it be removed.
    """
    take_steps(creating(path, data, private=private, temp=temp_path_of(path)))


def creating(path: Path, data: bytes, *, private: bool, temp: Path) -> Steps[None]:
    """The steps of `create_file`, by the hidden file `temp`."""
    temp.unlink(missing_ok=True)
    with new_file(temp, data, private=private, step="create-torn") as fd:
        yield fd
    inject_fault("created")
    try:
        give_new_name(temp, path, private=private)
    finally:
        unlink(temp)
    inject_fault("linked")
    try:
        yield path.parent
    except OSError:
        if path.read_bytes() == data:
            unlink(path)
        raise


def give_new_name(temp: Path, path: Path, *, private: bool) -> None:
    """Gives the finished file `temp` the name `path` in one step; the caller removes `temp`.
    Raises FileExistsError if the name is taken.
    """
    try:
        path.hardlink_to(temp)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the empty file holds the name meanwhile
        write_new(path, b"", private=private, step="claimed")
        try:
            rename_over(temp, path)
        except OSError:
            unlink(path)
            raise


def replace_if_unchanged(path: Path, expected: bytes, inode: int, data: bytes) -> bool:
    """Replaces the content `expected` of `path` by `data` in one step; returns False, without a
    change, if the file held other bytes.

    `path` must be no symlink. Mode, extended attributes, access lists and, if allowed, the
    owner are kept. If the system can exchange two files, a change that reached the old file
    before the exchange is noticed, and the old file is put back. Bytes that a program appends
    to the old file after the exchange are carried over, until the old file is read for the last
    time. The caller syncs the removal of the hidden file.
    """
    return take_steps(replacing(path, expected, inode, data, temp_path_of(path)))


def replacing(path: Path, expected: bytes, inode: int, data: bytes, temp: Path) -> Steps[bool]:
    """The steps of `replace_if_unchanged`, by the hidden file `temp`."""
    temp.unlink(missing_ok=True)
    # opened for writing: a file that may not be written is not replaced either
    old_fd = os.open(path, os.O_RDWR | _O_PLAIN)
    try:
        with new_file(temp, data, private=True, step="replace-torn", like=old_fd) as fd:
            yield fd
        inject_fault("replace-written")
        if os.fstat(old_fd).st_ino != inode or not _has_exact_bytes(old_fd, path, expected):
            return False
        swapped = yield from _exchanging_if_unchanged(temp, path, old_fd, expected, data)
        if swapped is False:
            return False
        if swapped is None:
            if WINDOWS:  # where an open file cannot be replaced
                os.close(old_fd)
                old_fd = -1
            rename_over(temp, path)
            yield path.parent
        unlink(temp)
        inject_fault("replaced")
        with suppress(OSError):  # the change is made: the call has succeeded
            if old_fd >= 0:
                append_late_bytes(old_fd, expected, path)
    finally:
        if old_fd >= 0:
            os.close(old_fd)
        unlink(temp)
    return True


def _exchanging_if_unchanged(
    temp: Path, path: Path, old_fd: int, expected: bytes, data: bytes
) -> Steps[bool | None]:
    """The steps that exchange the names of `temp`, which holds `data`, and `path`; they return
    True if that succeeded durably, None if the system cannot do it.

    False when `path` was not `old_fd` with its `expected` bytes: the exchange is undone, and
    other people's writes stay.
    """
    with closing_at_end(os.open(temp, os.O_RDONLY | _O_PLAIN)) as new_fd:
        if not exchange_names(temp, path):
            return None
        inject_fault("replace-swapped")
        is_held = False
        try:
            yield path.parent
            is_held = _has_exact_bytes(old_fd, temp, expected)
        finally:
            if not is_held and exchange_names(temp, path):
                if _same_file(new_fd, temp):
                    append_late_bytes(new_fd, data, path)
                else:  # an editor has just put a file of its own there
                    exchange_names(temp, path)
        return is_held


def append_late_bytes(old_fd: int, before: bytes, path: Path) -> None:
    """Appends to `path` the bytes that were appended to the open file `old_fd` after the bytes
    `before`.
    """
    now = _read_all_bytes(old_fd)
    if now == before or not now.startswith(before):
        return
    late = now[len(before) :]
    with closing_at_end(os.open(path, os.O_RDWR | os.O_APPEND | _O_PLAIN)) as fd:
        # nothing joins a line of somebody else
        ends = before[-1:] in b"\r\n"
        if ends and _read_all_bytes(fd)[-1:] not in b"\r\n" and late[:1] not in b"\r\n":
            late = b"\n" + late
        write_all(fd, late)
        sync_file(fd)


def remove_empty_file(path: Path) -> None:
    """Removes a file that is empty. Bytes that a program writes to it meanwhile stay, in a file
    of this name.
    """
    with suppress(FileNotFoundError):  # somebody has just removed it, too
        fd = os.open(path, os.O_RDONLY | _O_PLAIN)
        try:
            is_empty = not os.fstat(fd).st_size
            if is_empty and not WINDOWS:  # where an open file cannot be removed
                path.unlink()
            late = _read_all_bytes(fd)
        finally:
            os.close(fd)
        if is_empty and WINDOWS:
            path.unlink()
        elif is_empty and late:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _O_PLAIN
            with closing_at_end(os.open(path, flags, 0o600)) as new:
                write_all(new, late)
                sync_file(new)


def read_state_file(path: Path, most: int = STATE_BYTES) -> bytes:
    """Reads a file of the state folder, without ever waiting for one. Raises OSError for what
    is no regular file, and for one of more than `most` bytes.
    """
    return read_regular_file(path, most)


def read_state_lines(path: Path) -> list[str]:
    """Reads the lines of a text in the state folder; none of one that cannot be read."""
    with suppress(OSError):
        return read_state_file(path).decode("utf-8", "replace").splitlines()
    return []


def read_state_json(path: Path) -> dict[str, Any]:
    """Reads a JSON object from a file of the state folder; {} if it is missing or broken."""
    with suppress(OSError, ValueError, RecursionError):
        values = json.loads(read_state_file(path))
        if isinstance(values, dict):
            return values
    return {}


def open_to_append(path: Path, most: int = STATE_BYTES) -> int:
    """Opens a private file of the state folder for adding to it, or makes it; returns the
    descriptor. What stands in its place and is no regular file, or has more than `most` bytes
    and so cannot be read again, is moved aside. Raises OSError.
    """
    clear_way(path, most=most)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _O_PLAIN | _O_NO_WAIT, 0o600)


@contextmanager
def closing_at_end(fd: int) -> Iterator[int]:
    """The open descriptor, as a context at whose end it is closed."""
    try:
        yield fd
    finally:
        os.close(fd)


def append_json_lines(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """Adds the rows to a private log, as a line of JSON each, in one write. Raises OSError."""
    if not rows:
        return
    inject_fault("noted")
    lines = "".join(f"{json.dumps(log_row)}\n" for log_row in rows)
    with closing_at_end(open_to_append(path)) as log:
        write_all(log, f"\n{lines}".encode())  # whatever a crash left above it
        sync_file(log)


def overwrite(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Replaces the contents of the private file `path`, which nobody else edits, by `data`."""
    temp = temp_path_of(path)
    if path.is_dir() and not path.is_symlink():  # a rename replaces anything else
        clear_way(path)
    temp.unlink(missing_ok=True)
    write_new(temp, data, private=True, step="overwrite-torn", sync=sync)
    try:
        rename_over(temp, path)
    finally:
        unlink(temp)
    if sync:
        sync_dir(path.parent)


def unlink(path: Path) -> bool:
    """Removes the file `path` if it exists. True if it is gone, False if that failed."""
    with suppress(OSError):
        path.unlink()
    return not os.path.lexists(path)


def temp_path_of(path: Path) -> Path:
    """The path of the hidden temporary file in which the next content of `path` is written."""
    # one name for each file, so that the next writer clears what a killed one left
    return path.with_name(f".{path.name}.synaptic")


def set_mode(fd: int, mode: int) -> None:
    """Sets the mode of an open file, where the system can."""
    if hasattr(os, "fchmod"):
        os.fchmod(fd, mode)


def copy_file_attributes(old_fd: int, new_fd: int) -> None:
    """Gives the open file `new_fd` the mode, extended attributes and access lists of `old_fd`,
    and its owner if allowed.

    Marks that may not be set, or that the file system does not know, are left out. Windows
    keeps no marks.
    """
    was = os.fstat(old_fd)
    now = os.fstat(new_fd)
    if sys.platform != "win32" and (now.st_uid, now.st_gid) != (was.st_uid, was.st_gid):
        for uid in (was.st_uid, -1):  # the group alone may be allowed
            with _ignore_unsupported():
                os.chown(new_fd, uid, was.st_gid)
                break
    fcopyfile = None if hasattr(os, "listxattr") else c_library_function("fcopyfile")
    if fcopyfile:
        acl = 1 << 0  # copyfile.h
        xattr = 1 << 2
        fcopyfile(old_fd, new_fd, None, acl | xattr)
    _copy_extended_attributes(old_fd, new_fd)
    # last: an owner takes bits away, an access list changes those of the group
    set_mode(new_fd, stat.S_IMODE(was.st_mode))


def _copy_extended_attributes(old_fd: int, new_fd: int) -> None:
    if sys.platform != "linux" or not hasattr(os, "listxattr"):
        return
    names = []
    inherited = []
    with _ignore_unsupported():
        names = os.listxattr(old_fd)
        inherited = os.listxattr(new_fd)
    for name in set(inherited) - set(names):  # an access list that the folder gave it
        with _ignore_unsupported():
            os.removexattr(new_fd, name)
    for name in names:
        with _ignore_unsupported():
            os.setxattr(new_fd, name, os.getxattr(old_fd, name))


@contextmanager
def _ignore_unsupported() -> Iterator[None]:
    """A context that ignores the error if an attribute of a file is forbidden, unknown to the
    file system, or gone.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (
            errno.EPERM,
            errno.EACCES,
            errno.ENOTSUP,
            errno.EINVAL,
            errno.ENODATA,
        ):
            raise


def _has_exact_bytes(fd: int, path: Path, data: bytes) -> bool:
    """True when `path` leads to the open file `fd` and the file holds exactly `data`."""
    return _same_file(fd, path) and _read_all_bytes(fd) == data


def _read_all_bytes(fd: int) -> bytes:
    os.lseek(fd, 0, os.SEEK_SET)
    pieces = []
    while piece := os.read(fd, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def _same_file(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def rename_over(temp: Path, path: Path) -> None:
    """Renames `temp` over `path`.

    Windows does not replace an open file: other programs get half a second to close it, then
    OSError EBUSY is raised.
    """
    if not WINDOWS:
        temp.replace(path)
        return
    for left in reversed(range(HELD_TRIES)):
        try:
            temp.replace(path)
            return
        except PermissionError as error:
            if not left:
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path)) from error
            time.sleep(HELD_WAIT_S)


def exchange_names(one: Path, other: Path) -> bool:
    """Exchanges two names in one step; returns False, without a change, if the system cannot do
    that.
    """
    names = os.fsencode(one), os.fsencode(other)
    swap = 2  # RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS
    rename = c_library_function("renameat2")
    if rename:
        at_cwd = -100
        return bool(rename(at_cwd, names[0], at_cwd, names[1], swap) == 0)
    rename = c_library_function("renamex_np")
    return rename is not None and bool(rename(*names, swap) == 0)


@cache
def c_library_function(name: str) -> Callable[..., Any] | None:
    """The function of the C library; None if the library has no such function."""
    import ctypes  # imported late: ctypes takes 4 ms, and few calls need it

    return None if WINDOWS else getattr(ctypes.CDLL(None), name, None)
