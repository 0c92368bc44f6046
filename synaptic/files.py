"""Opens files that others may have put there, without ever waiting for one, locks files, and
knows a picture by its first bytes.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from .errors import JournalError

if TYPE_CHECKING:
    from filelock import BaseFileLock

DATA = Path(__file__).parent / "data"
"""The tables, word lists and the model that ship with the package."""
OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
"""The flags of `os.open` for reading a file without waiting, even if it is a FIFO."""
O_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)

SETTINGS_BYTES = 1_000_000
"""The most bytes of a file of settings."""
ASIDE = ".aside-"
"""Part of the name of what was moved out of the way of a file of the home."""
PICTURE_FOLDER = "attachments/imported"
"""Where in the journal imported pictures stand. Nothing in it is a note."""
_OTHER_SIGN = re.compile(r"[^a-zA-Z0-9]")


def real_path(path: Path | str) -> Path:
    """The path with its symbolic links resolved; unlike `Path.resolve` it does not raise on a
    loop of links.
    """
    return Path(os.path.realpath(path))


def real_path_below(folder: Path, within: str) -> Path:
    """`real_path` of a path below a folder whose own path is real: only what is below the
    folder is looked at.
    """
    place = folder
    for step in Path(within).parts:
        place /= step
        is_link = os.path.islink(place)  # noqa: PTH114 - it does not raise for a long name
        if is_link or step == ".." or sys.platform == "win32":
            return real_path(folder / within)
    return place


def open_regular_file(path: Path, *, follow: bool = True) -> BinaryIO:
    """Opens a regular file for reading, never waiting: a FIFO or a device is refused.

    Raises OSError for a FIFO, a device, a folder, and for a link unless `follow`.
    """
    _check_is_file(
        path.stat(follow_symlinks=follow), path
    )  # to open a device may already do something
    return wrap_regular_file(os.open(path, OPEN_FLAGS | (0 if follow else O_NOFOLLOW)), path)


def wrap_regular_file(fd: int, path: Path) -> BinaryIO:
    """Returns a binary file object for the open descriptor `fd`. If it is not a regular file,
    closes it and raises OSError naming `path`.
    """
    try:
        _check_is_file(os.fstat(fd), path)
    except OSError:
        os.close(fd)
        raise
    return os.fdopen(fd, "rb")


def read_regular_file(path: Path, most: int) -> bytes:
    """Reads a regular file and returns its bytes. Raises OSError if it is not regular, or has
    more than `most` bytes.
    """
    with open_regular_file(path) as file:
        data = file.read(most + 1) or b""  # None: a file of /proc with nothing to read as yet
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data


def clear_way(path: Path, *, for_folder: bool = False, most: float = inf) -> None:
    """Moves what stands in the place of a file of the home, and is no regular file of at most
    `most` bytes, to a free name beside it; with `for_folder`, what stands in the place of a
    folder and is none. Then the file, or folder, can be made.

    A FIFO, a device, a link that leads nowhere, a folder: none of them is opened. Raises
    OSError.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    is_file = stat.S_ISREG(status.st_mode) and status.st_size <= most
    if path.is_dir() if for_folder else is_file:
        return
    path.rename(path.with_name(f"{path.name}{ASIDE}{os.urandom(3).hex()}"))


def why_locks_fail(folder: Path, *, ranges: bool = False) -> str:
    """The reason why files in `folder` cannot be locked, as a text; "" if they can. `ranges`:
    tries also to lock a part of a file, as SQLite does.
    """
    try:
        _try_locks(folder, folder.stat().st_dev, ranges)
    except OSError as error:
        # else another trouble, which the writing itself reports
        return str(error.strerror) if error.errno == errno.ENOLCK else ""
    return ""


@cache
def _try_locks(folder: Path, device: int, ranges: bool) -> None:
    """Raises OSError ENOLCK if the disk grants no lock for a temporary file in `folder`; with
    `ranges`, of a part of the file. Cached for each `device`.
    """
    if sys.platform == "win32":
        return
    import fcntl  # Windows has none

    path = folder / f".locked-{os.getpid()}-{os.urandom(4).hex()}"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        path.unlink()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if ranges:
                fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            reason = f"its disk grants no locks: {error.strerror}"
            raise OSError(errno.ENOLCK, reason) from error
    finally:
        os.close(fd)


def advice_without_locks(notes: Path | str = "NOTES") -> str:
    """A sentence for the user: how to move the home to a disk that supports locks. `notes` is
    the journal folder, which may stay.
    """
    return (
        "Keep the home on a disk of this machine, and only the notes on this one: "
        f"synaptic --home DIR init --journal {notes}, and SYNAPTIC_HOME=DIR from then on."
    )


def file_lock(path: Path, timeout_s: float = -1, notes: Path | str = "NOTES") -> BaseFileLock:
    """Returns a lock on the file `path` that excludes other processes, to be used as a context;
    entering it raises filelock.Timeout after `timeout_s` (-1: waits for ever).

    Raises JournalError if the disk supports no locks; `notes` is the journal folder that its
    hint names.
    """
    from filelock import FileLock  # 30 ms, for writers only

    with suppress(OSError):  # the lock itself says why it fails
        clear_way(path)
    refusal = why_locks_fail(path.parent)
    if refusal:
        raise JournalError(f"{path} cannot be locked: {refusal}.", advice_without_locks(notes))
    return FileLock(path, timeout=timeout_s, mode=0o600)


def _check_is_file(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


@cache
def folder_of_agent_memory(memory: Path) -> Path | None:
    """The project folder, as an absolute path, that an agent's memory folder belongs to; None
    if `memory` is not such a folder, or the project is not known.

    Claude Code names the project in the path of the memory, `projects/-home-ada-shop/memory`,
    with a dash for each character that is not a letter or digit; `SHOP/.claude/worktrees/NAME`
    belongs to SHOP. The project is not known if it no longer exists, or if two folders fit.
    Gemini CLI names it in the file `.project_root` beside `memory`.
    """
    if memory.name != "memory":
        return None
    if memory.parent.parent.name == "projects":
        name = memory.parent.name.partition("--claude-worktrees-")[0]
        folders = {real_path(folder) for folder in _folders_with_dashed_path(name, Path("/"))}
        return folders.pop() if len(folders) == 1 else None
    with suppress(OSError, ValueError):
        named = Path(read_regular_file(memory.parent / ".project_root", 4096).decode().strip())
        return named if named.is_absolute() else None
    return None


def _folders_with_dashed_path(name: str, above: Path) -> Iterator[Path]:
    """Yields the folders below `above` whose relative path equals `name` once each character
    that is not a letter or digit is a dash.
    """
    if not name:
        yield above
        return
    with suppress(OSError):
        for child in above.iterdir():
            step = f"-{_OTHER_SIGN.sub('-', child.name)}"
            if f"{name}-".startswith(f"{step}-") and child.is_dir():
                yield from _folders_with_dashed_path(name[len(step) :], child)
