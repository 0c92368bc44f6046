"""Writes that survive a kill: every byte that Synaptic puts on a disk outside its index goes through here.

Directories and files are either *private* (0700 and 0600 under any umask: the home) or follow the folder
they are in and the umask (a journal elsewhere). Nothing here knows what a note is.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from .errors import JournalError

_FAULT, _, _CUT = os.environ.get("SYNAPTIC_FAULT", "").partition(":")

FAULTS = (
    "spool-torn", "spool-written", "spooled", "locked", "marked", "append-torn", "appended", "synced",
    "create-torn", "created", "linked", "settled", "done", "kept-torn", "kept",
    "trash-torn", "trashed", "replace-torn", "replace-written", "replaced",
)  # fmt: skip
"""The steps at which `SYNAPTIC_FAULT=<step>` kills the process; `<step>-torn:N` first writes N bytes."""

EMPTIED_S = 0.01
_O_EXTRA = os.O_CLOEXEC if hasattr(os, "O_CLOEXEC") else getattr(os, "O_BINARY", 0)
_REASONS = {
    errno.ENOSPC: ("the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and try again."),
    errno.EFBIG: ("the file may not grow (file size limit)", "Raise the limit (ulimit -f) and try again."),
    errno.EROFS: ("the file system is read-only", "Mount it writable and try again."),
    errno.EACCES: ("permission denied", "Check the owner and the mode of that path."),
    errno.EPERM: ("operation not permitted", "Check the owner and the mode of that path."),
    errno.EIO: ("input/output error", "Check the disk (`dmesg` says more), then try again."),
}


def fault(step: str, fd: int = -1, data: bytes = b"") -> None:
    """None; but a test that sets `SYNAPTIC_FAULT` to this step dies here, `data` half written, as by kill -9."""
    if step == _FAULT:
        if data:
            os.write(fd, data[: int(_CUT or len(data) // 2)])
        os.kill(os.getpid(), signal.SIGKILL)


@contextlib.contextmanager
def disk_errors(path: Path | str, what: str = "written") -> Iterator[None]:
    """A context in which an OSError becomes a JournalError that names `path` and the way out."""
    try:
        yield
    except OSError as error:
        reason, hint = _REASONS.get(error.errno or 0, (error.strerror or str(error), "Try again."))
        raise JournalError(f"{path} cannot be {what}: {reason}.", hint=hint) from error


def make_dirs(path: Path, *, private: bool) -> None:
    """None; `path` and its missing parents exist afterwards, and a crash does not undo that."""
    if path.is_dir():
        return
    make_dirs(path.parent, private=private)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700 if private else 0o777)
        if private:
            path.chmod(0o700)
        sync_dir(path.parent)


def sync_dir(path: Path) -> None:
    """None; the names in `path` are durable afterwards."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_all(fd: int, data: bytes) -> None:
    """None; a short write is continued."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_new(path: Path, data: bytes, *, private: bool, step: str, sync: bool = True) -> None:
    """None; `path` is a new file that holds `data`. Raises FileExistsError, and leaves no file on other errors."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _O_EXTRA, 0o600 if private else 0o666)
    try:
        if private:
            _chmod(fd, 0o600)
        fault(step, fd, data)
        write_all(fd, data)
        if sync:
            os.fsync(fd)
    except BaseException:
        os.close(fd)
        path.unlink(missing_ok=True)
        raise
    os.close(fd)


def create(path: Path, data: bytes, *, private: bool) -> None:
    """None; `path` appears with all of `data` at once. Raises FileExistsError when somebody was quicker."""
    temp = _temp(path)
    temp.unlink(missing_ok=True)
    write_new(temp, data, private=private, step="create-torn")
    fault("created")
    try:
        path.hardlink_to(temp)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        write_new(path, data, private=private, step="create-torn")
    finally:
        temp.unlink(missing_ok=True)
    fault("linked")
    sync_dir(path.parent)


def append(
    path: Path, make: Callable[[bytes, bytes], bytes], mark: Callable[[str], None], expected: int | None = None
) -> bool:
    """True when the bytes stand at the end of `path`, synced; False when somebody changed the file meanwhile.

    `make(head, tail)` gets the first bytes and up to 4 KiB of the end, and returns what to append. `mark` is
    told `at OFFSET` ahead of the first byte and `written` after the last. Where the file has another size than
    `expected` (if given), nothing is appended. On an error the file is cut back to what it was, unless it is no
    longer what this call left.
    """
    fd = os.open(path, os.O_RDWR | os.O_APPEND | _O_EXTRA | getattr(os, "O_NOFOLLOW", 0))
    try:
        if not os.fstat(fd).st_size:
            time.sleep(EMPTIED_S)  # an editor that empties a file is about to write it
        size = os.fstat(fd).st_size
        if expected not in (None, size):
            return False
        head = os.read(fd, 4)
        os.lseek(fd, max(0, size - 4096), os.SEEK_SET)
        data = make(head, os.read(fd, 4096))
        mark(f"at {size}")
        fault("marked")
        fault("append-torn", fd, data)
        try:
            write_all(fd, data)
            begun = os.lseek(fd, 0, os.SEEK_CUR) - len(data)
            # the file grew since its end was read, perhaps by an editor's buffer that holds this text already
            if begun != size and (expected is not None or _glued(fd, begun, data)):
                _cut_back(fd, path, begun, data)
                return False
            mark("written")
            fault("appended")
            os.fsync(fd)
        except OSError:
            with contextlib.suppress(OSError):
                _cut_back(fd, path, size, data)
            raise
        fault("synced")
        os.lseek(fd, begun, os.SEEK_SET)
        return _same_file(fd, path) and os.read(fd, len(data)) == data
    finally:
        os.close(fd)


def _glued(fd: int, begun: int, data: bytes) -> bool:
    """True when `data` begins in the middle of somebody's line."""
    os.lseek(fd, max(0, begun - 1), os.SEEK_SET)
    return begun > 0 and os.read(fd, 1) not in b"\r\n" and data[:1] not in b"\r\n"


def replace(path: Path, expected: bytes, inode: int, data: bytes) -> bool:
    """True when `path` went from `expected` to `data` in one step; False, nothing changed, when it held other bytes.

    Mode and, where allowed, owner are kept. `path` must be no symlink. On Linux the two files are exchanged,
    so that what an editor put there in the last microsecond is seen and given back.
    """
    os.close(os.open(path, os.O_WRONLY | _O_EXTRA))  # a file that may not be written is not replaced either
    temp = _temp(path)
    temp.unlink(missing_ok=True)
    was = path.stat()
    write_new(temp, data, private=True, step="replace-torn")
    try:
        with contextlib.suppress(PermissionError):
            if (temp.stat().st_uid, temp.stat().st_gid) != (was.st_uid, was.st_gid):
                os.chown(temp, was.st_uid, was.st_gid)
        temp.chmod(stat.S_IMODE(was.st_mode))
        fault("replace-written")
        if path.stat().st_ino != inode or path.read_bytes() != expected:
            return False
        if _exchange(temp, path):
            if temp.stat().st_ino != inode or temp.read_bytes() != expected:
                _exchange(temp, path)
                return False
        else:
            temp.replace(path)
    finally:
        temp.unlink(missing_ok=True)
    fault("replaced")
    sync_dir(path.parent)
    return True


def overwrite(path: Path, data: bytes) -> None:
    """None; the private file `path`, which nobody else edits, holds `data`."""
    temp = _temp(path)
    temp.unlink(missing_ok=True)
    write_new(temp, data, private=True, step="overwrite-torn")
    temp.replace(path)
    sync_dir(path.parent)


def clear_temp(path: Path) -> None:
    """None; what a killed writer of `path` left beside it is gone."""
    with contextlib.suppress(OSError):
        _temp(path).unlink(missing_ok=True)


def _temp(path: Path) -> Path:
    # one name per file: what a killed writer left is cleared by the next one; hidden from every scan
    return path.with_name(f".{path.name}.synaptic")


def _chmod(fd: int, mode: int) -> None:
    if hasattr(os, "fchmod"):
        os.fchmod(fd, mode)


def _same_file(fd: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _cut_back(fd: int, path: Path, size: int, data: bytes) -> bool:
    """True when the file is what it was before a write of `data` at `size` failed."""
    written = os.fstat(fd).st_size - size
    if written == 0:
        return True
    os.lseek(fd, size, os.SEEK_SET)
    if not 0 < written <= len(data) or os.read(fd, written) != data[:written] or not _same_file(fd, path):
        return False
    os.ftruncate(fd, size)
    return True


def _exchange(one: Path, other: Path) -> bool:
    """True when the two names changed places in one step; False where the system cannot do that."""
    call = _renameat2()
    at_cwd, exchange = -100, 2
    return call is not None and call(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0


@cache
def _renameat2() -> Callable[..., int] | None:
    import ctypes  # 4 ms, for edits only

    if sys.platform != "linux":
        return None
    function = getattr(ctypes.CDLL(None), "renameat2", None)
    if function is not None:
        function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return function
