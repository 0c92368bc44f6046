"""Finds the files of the journal's folder and opens them by relative paths, without leaving the folder."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import cast

from ..errors import JournalError, NotFound
from ..models import Proof, Stamp, proof_of
from ..notes.reading import composed
from .disk import disk_errors

_LITTER = ("~", ".swp", ".tmp")
_NOTES = (".md", ".markdown")
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_OPEN_FILES = Path("/proc/self/fd")


def scan(root: Path, exclude: Iterable[str] = ()) -> list[Stamp]:
    """A stamp of every note below `root` (see `is_note`), sorted by path.

    Left out are names that start with a dot or are not UTF-8, editor litter, paths that fit `exclude`, everything but
    regular files, links that leave the journal or lead nowhere, and linked folders (a folder inside the journal is
    read at its own place). Raises JournalError when the root is missing or cannot be listed.
    """
    return compare(root, {}, exclude)[0]


def compare(
    root: Path, known: Mapping[str, Proof | None], exclude: Iterable[str] = ()
) -> tuple[list[Stamp], list[str]]:
    """(stamps of new and changed files, known paths that are gone), both sorted. The files are those of `scan`.

    `known` maps paths to proofs. A file whose proof is None always counts as changed.
    """
    excluded = _matcher(exclude)
    real_root = _real(root)
    stamps: list[Stamp] = []
    unseen = dict(known)
    folders = [""]
    while folders:
        prefix = folders.pop()
        try:
            listing = _Listing(real_root / prefix if prefix else real_root)
        except OSError as error:
            if not prefix:
                raise _missing(root, error) from error
            continue
        with listing as found:
            for item in found:  # the common case first: there may be thousands
                name = item.name
                path = prefix + name
                if name[0] == "." or (excluded and excluded(path)):
                    continue
                expected = known.get(path)
                if expected:
                    try:
                        if item.is_file(follow_symlinks=False) and proof_of(_status(item)) == expected:
                            unseen.pop(path, None)
                            continue
                    except OSError:  # gone meanwhile
                        continue
                if item.is_dir(follow_symlinks=False):
                    if not name.endswith(_LITTER) and not _is_junction(item):
                        folders.append(f"{path}/")
                elif is_note(name) and (stamp := _stamp(path, item, real_root)):
                    unseen.pop(path, None)
                    if stamp.proof != expected:
                        stamps.append(stamp)
    stamps.sort(key=itemgetter(0))
    return stamps, sorted(unseen)


def stamp_of(root: Path, path: str, exclude: Iterable[str] = ()) -> Stamp | None:
    """The stamp that `scan` would find for a path. None if `scan` lists no such file, or if a link is on its path."""
    excluded = _matcher(exclude)
    steps = path.split("/")
    ways = ["/".join(steps[:length]) for length in range(1, len(steps) + 1)]
    if any(step[:1] in ("", ".") for step in steps) or any(excluded and excluded(way) for way in ways):
        return None
    if any(way.endswith(_LITTER) for way in ways[:-1]) or not is_note(path):
        return None
    try:
        if any((root / way).is_symlink() for way in ways):
            return None
        return _stamp_from(path, (root / path).stat())
    except OSError:
        return None


def is_note(path: str) -> bool:
    """Whether a file of this name is read: `*.md` and `*.markdown`, in capitals too."""
    return path.lower().endswith(_NOTES)


class _Listing:
    """The contents of a folder. The folder is held open, so that its files are found even if its path changes."""

    def __init__(self, folder: Path) -> None:
        self._fd: int | None = None
        if os.scandir in os.supports_fd:
            self._fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            self._found = os.scandir(folder if self._fd is None else self._fd)
        except OSError:
            self.__exit__()
            raise

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return self._found

    def __exit__(self, *_: object) -> None:
        self._found.close()
        if self._fd is not None:
            os.close(self._fd)


def status_reader(system: str) -> Callable[[os.DirEntry[str]], os.stat_result]:
    """A function that returns the `stat` of an item of a folder; `system` is an `os.name`.

    On Windows a listing knows no inode, and its size and times are those of the last time the file was closed.
    """
    return (lambda item: os.stat(item.path)) if system == "nt" else os.DirEntry.stat  # noqa: PTH116


_status = status_reader(os.name)


def _is_junction(item: os.DirEntry[str]) -> bool:
    """True for a folder on Windows that is a link to another folder. Python recognises them from 3.12 on."""
    return bool(getattr(item, "is_junction", bool)())


def locate(root: Path, path: str) -> Path:
    """The real place of `path` (relative, with `/`), links followed. Raises JournalError when it is outside `root`."""
    pure = PurePosixPath(path)
    if not path or "\0" in path or "\\" in path or pure.is_absolute() or ".." in pure.parts:
        raise JournalError(f"{path!r} is no path inside the journal.", hint="Give it relative to the journal.")
    with disk_errors(path, "found"):
        real_root, real = _real(root), _real(root / path)
    if not real.is_relative_to(real_root):
        raise JournalError(f"{path} leads out of the journal, to {real}.", hint="Only files inside it are touched.")
    return real


def read(root: Path, path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a journal file, and its stat. Raises NotFound, or JournalError when it may not be read."""
    try:
        with disk_errors(path, "read"):
            fd = _open_plain(root, path)
            if fd is None:
                fd = _open(_real(root), locate(root, path))
            with open(fd, "rb") as file:  # noqa: PTH123
                status = os.fstat(fd)
                if not stat.S_ISREG(status.st_mode):
                    raise JournalError(f"{path} is no regular file.")
                return file.read(), status
    except JournalError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _GONE:
            raise NotFound(f"The journal has no file {path}.", hint="It was moved or deleted.") from error
        raise


def _open_plain(root: Path, path: str) -> int | None:
    """A descriptor of the file if no link is on its path below `root`; None if a link is."""
    steps = path.split("/")
    if os.open not in os.supports_dir_fd or "\0" in path or "\\" in path or not {"", ".", ".."}.isdisjoint(steps):
        return None
    with contextlib.suppress(OSError):
        return _open(root, root / path)
    return None


def _open(root: Path, real: Path) -> int:
    """A descriptor of the file `real`. No link on its path below `root` is followed.

    The path had no link when it was resolved. A link that somebody has put there since could lead anywhere.
    """
    if os.open not in os.supports_dir_fd:
        return os.open(real, _FILE)
    folder = _folder_of(root, real)
    try:
        return os.open(real.name if real != root else ".", _FILE | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _folder_of(root: Path, real: Path) -> int:
    """A descriptor of the folder that holds `real`."""
    here = os.open(root, _FOLDER)
    try:
        for step in real.relative_to(root).parts[:-1]:
            above, here = here, os.open(step, _FOLDER | os.O_NOFOLLOW, dir_fd=here)
            os.close(above)
    except OSError:
        os.close(here)
        raise
    return here


@contextlib.contextmanager
def pinned(root: Path, path: str) -> Iterator[Path]:
    """A path to the file `path` through its folder, held open: it leads there even if the folder is replaced.

    If the system offers no such path (macOS, Windows), it is the path that `locate` finds.
    """
    real = locate(root, path)
    if not _OPEN_FILES.is_dir():
        yield real
        return
    held = _folder_of(_real(root), real)
    try:
        yield _OPEN_FILES / str(held) / real.name
    finally:
        os.close(held)


def missing(root: Path) -> JournalError:
    """The error for a journal that is not there."""
    return JournalError(
        f"The journal {root} is missing (a disk that is not mounted?).",
        hint="Mount or create it, or choose another folder: synaptic init --journal DIR.",
    )


def _real(path: Path | str) -> Path:
    return Path(os.path.realpath(path))  # Path.resolve raises on a loop of links


def _missing(root: Path, error: OSError) -> JournalError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return missing(root)
    return JournalError(f"The journal {root} cannot be listed: {error.strerror}.", hint="Check its owner and mode.")


def _stamp(path: str, item: os.DirEntry[str], real_root: Path) -> Stamp | None:
    """The stamp of an item; None if the item is not to be read."""
    if item.is_symlink() and not _real(real_root / path).is_relative_to(real_root):
        return None
    try:
        return _stamp_from(path, _status(item))
    except OSError:  # gone meanwhile
        return None


def _stamp_from(path: str, status: os.stat_result) -> Stamp | None:
    try:
        path.encode()
    except UnicodeEncodeError:  # a name that no program could pass on
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    numbers = proof_of(status)
    if max(numbers) >= 2**63:  # there are inodes, and times after 2262, that SQLite cannot hold
        numbers = cast("Proof", tuple((number + 2**63) % 2**64 - 2**63 for number in numbers))
    return Stamp(path, *numbers)


def _matcher(globs: Iterable[str]) -> Callable[[str], object] | None:
    patterns = [_regex(composed(glob)) for glob in globs]
    if not patterns:
        return None
    matches = re.compile("|".join(patterns)).fullmatch
    return lambda path: matches(composed(path))


def _regex(glob: str) -> str:
    """A regular expression over relative paths.

    | glob              | matches                                   |
    |-------------------|-------------------------------------------|
    | `*.excalidraw.md` | that name in any folder                   |
    | `archive`         | that file or folder, anywhere             |
    | `archive/**`      | everything in the top folder `archive`    |
    | `a/*/c.md`        | one folder between, `**` any number       |
    """
    glob = glob.strip("/")
    anywhere = "" if "/" in glob else "(?:.*/)?"
    out = []
    for token in re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]/]+\]|.", glob, re.S):
        match token:
            case "**/":
                out.append("(?:.*/)?")
            case "/**":
                out.append("(?:/.*)?")
            case "**":
                out.append(".*")
            case "*":
                out.append("[^/]*")
            case "?":
                out.append("[^/]")
            case _ if len(token) > 1:
                inner = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
                out.append(f"[^{inner[1:]}]" if inner[0] == "!" else f"[{inner}]")
            case _:
                out.append(re.escape(token))
    pattern = f"(?s:{anywhere}{''.join(out)})"
    try:
        re.compile(pattern)
    except re.error:  # brackets that are no character class
        return re.escape(glob)
    return pattern
