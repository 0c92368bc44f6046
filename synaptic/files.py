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
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO

from .errors import JournalError

if TYPE_CHECKING:
    from filelock import BaseFileLock

DATA = Path(__file__).parent / "data"
"""The tables, word lists and the model that ship with the package."""
FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
"""The flags by which such a file is opened."""
O_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)

PICTURES: dict[str, tuple[int, tuple[bytes, ...], tuple[str, ...]]] = {
    "image/png": (0, (b"\x89PNG\r\n\x1a\n",), (".png",)),
    "image/jpeg": (0, (b"\xff\xd8\xff",), (".jpg", ".jpeg")),
    "image/gif": (0, (b"GIF8",), (".gif",)),
    "image/webp": (8, (b"WEBP",), (".webp",)),
    "image/avif": (4, (b"ftypavif",), (".avif",)),
    "image/heic": (4, (b"ftypheic", b"ftypheix", b"ftyphevc", b"ftypmif1"), (".heic", ".heif")),
}
"""By media type the bytes at a place of a picture, and the endings of its names. SVG does not
count as a picture, because it can hold programs.
"""
ATTACHMENTS = frozenset(
    [suffix for *_, suffixes in PICTURES.values() for suffix in suffixes]
    + ".bmp .svg .tif .tiff".split()
    + ".aac .flac .m4a .mp3 .oga .ogg .opus .wav".split()
    + ".avi .m4v .mkv .mov .mp4 .mpg .webm".split()
    + ".djvu .doc .docx .epub .odp .ods .odt .pages .pdf .ppt .pptx .ps .rtf .xls .xlsx".split()
    + ".csv .drawio .eml .geojson .gpx .ics .json .kml .log .tsv .vcf".split()
    + ".htm .html .txt .xml".split()
    + ".7z .bin .bz2 .gz .tar .tgz .xz .zip".split()
)
"""The endings of the files that a note may show or hand out, as SERVE.md lists them. None is
that of a copy that editors make, of a program, of settings or of keys.
"""
PICTURE_FOLDER = "attachments/imported"
"""Where in the journal imported pictures stand. Nothing in it is a note."""
_OTHER_SIGN = re.compile(r"[^a-zA-Z0-9]")
PICTURE_BYTES = 50_000_000
"""A larger picture is neither shown nor taken in."""


def real_path(path: Path | str) -> Path:
    """The path with its links followed. `Path.resolve` raises on a loop of links."""
    return Path(os.path.realpath(path))


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """A file that others may have put there, open for reading, without ever waiting for it.

    Raises OSError for a FIFO, a device, a folder, and for a link unless `follow`.
    """
    _check_is_file(
        path.stat(follow_symlinks=follow), path
    )  # to open a device may already do something
    return regular_file(os.open(path, FLAGS | (0 if follow else O_NOFOLLOW)), path)


def regular_file(fd: int, path: Path) -> BinaryIO:
    """The open file `fd`, for reading. Raises OSError, and closes it, if it is not regular."""
    try:
        _check_is_file(os.fstat(fd), path)
    except OSError:
        os.close(fd)
        raise
    return os.fdopen(fd, "rb")


def read_regular(path: Path, most: int) -> bytes:
    """The bytes of such a file. Raises OSError for one of more than `most` bytes too."""
    with open_regular(path) as file:
        data = file.read(most + 1) or b""  # None: a file of /proc with nothing to read as yet
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
    return data


def lock_refusal(folder: Path, *, ranges: bool = False) -> str:
    """The reason why the disk of a folder does not support locks; empty if it does. `ranges`:
    also locks of a part of a file, as SQLite wants them.
    """
    try:
        _try_locks(folder, folder.stat().st_dev, ranges)
    except OSError as error:
        # else another trouble, which the writing itself reports
        return str(error.strerror) if error.errno == errno.ENOLCK else ""
    return ""


@cache
def _try_locks(folder: Path, device: int, ranges: bool) -> None:
    """Locks a file that nobody else has, once for each device. Raises OSError ENOLCK where that
    is refused.
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


def without_locks(notes: Path | str = "NOTES") -> str:
    """The advice for a disk that does not support locks; `notes` is the journal."""
    return (
        "Keep the home on a disk of this machine, and only the notes on this one: "
        f"synaptic --home DIR init --journal {notes}, and SYNAPTIC_HOME=DIR from then on."
    )


def file_lock(path: Path, timeout_s: float = -1, notes: Path | str = "NOTES") -> BaseFileLock:
    """A lock that processes share, as a context that raises filelock.Timeout. `notes` is the
    journal. Raises JournalError where the disk grants no locks: nobody could be kept out.
    """
    from filelock import FileLock  # 30 ms, for writers only

    refusal = lock_refusal(path.parent)
    if refusal:
        raise JournalError(f"{path} cannot be locked: {refusal}.", without_locks(notes))
    return FileLock(path, timeout=timeout_s, mode=0o600)


def picture_kind(begin: bytes) -> str | None:
    """The kind of the picture whose first 32 bytes these are; None if it is not a picture."""
    for kind, (at, signs, _) in PICTURES.items():
        if begin.startswith(signs, at):
            return kind
    return None


def is_picture_name(name: str) -> bool:
    """True if the name ends like that of a picture; it may hold folders."""
    suffix = PurePath(name).suffix.lower()
    return any(suffix in suffixes for *_, suffixes in PICTURES.values())


def _check_is_file(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


@cache
def folder_of_memory(memory: Path) -> Path | None:
    """The folder of which an agent's memory folder tells, as a whole path; None if `memory` is
    not such a folder, or if nothing says which folder it belongs to.

    Claude Code: `projects/-home-ada-shop/memory`, the path with a dash for each other sign. Its
    worktrees, `SHOP/.claude/worktrees/NAME`, belong to the folder before them. A folder that is
    gone is not known, nor one of two whose names read alike. Gemini CLI: `.project_root` beside
    `memory`.
    """
    if memory.name != "memory":
        return None
    if memory.parent.parent.name == "projects":
        name = memory.parent.name.partition("--claude-worktrees-")[0]
        folders = {real_path(folder) for folder in _folders_of(name, Path("/"))}
        return folders.pop() if len(folders) == 1 else None
    with suppress(OSError, ValueError):
        named = Path(read_regular(memory.parent / ".project_root", 4096).decode().strip())
        return named if named.is_absolute() else None
    return None


def _folders_of(name: str, above: Path) -> Iterator[Path]:
    """The folders below `above` whose relative path reads `name` with dashes."""
    if not name:
        yield above
        return
    with suppress(OSError):
        for child in above.iterdir():
            step = f"-{_OTHER_SIGN.sub('-', child.name)}"
            if f"{name}-".startswith(f"{step}-") and child.is_dir():
                yield from _folders_of(name[len(step) :], child)
