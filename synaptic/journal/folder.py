"""Finds the files of the journal and of the other roots, and opens them by their paths, without
leaving the root.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import permutations
from operator import itemgetter
from pathlib import Path, PurePosixPath
from posixpath import join
from typing import cast

from ..errors import JournalError, NotFound, Refused
from ..files import PICTURE_FOLDER
from ..models import Proof, Stamp, proof_of
from ..notes.reading import composed
from .disk import disk_errors

_LITTER = ("~", ".swp", ".tmp")
_NOTES = (".md", ".markdown")
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_FILE = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_OPEN_FILES = Path("/proc/self/fd")

OWN = ("", "@sessions")
"""The roots that Synaptic writes: the journal, and the sessions of the home."""


class Roots:
    """The folders that are read, by name; see `Config.roots`. A path `@vault/x.md` lies in the
    root `@vault`.

    Where a root lies inside another, its files are read once, as its own.
    """

    def __init__(self, folders: Mapping[str, Path], exclude: Iterable[str] = ()) -> None:
        self.folders = folders
        self.excluded = _matcher(exclude)
        real = {name: _real(folder) for name, folder in folders.items()}
        inside = (
            pair
            for pair in permutations(real, 2)
            if real[pair[1]].is_relative_to(real[pair[0]])
        )
        apart = (
            join(outer, real[name].relative_to(real[outer]).as_posix())
            for outer, name in inside
        )
        self.apart = {*folders, *apart, PICTURE_FOLDER}  # no part of the root around them

    def of(self, path: str) -> tuple[str, Path, str]:
        """The name and the folder of the root in which a path lies, and its path there."""
        name, sign, within = path.partition("/")
        known = name and sign and name in self.folders
        return (name, self.folders[name], within) if known else ("", self.folders[""], path)

    def place(self, path: str | Path) -> Path:
        """The file that a path means; a whole path means itself."""
        _, root, within = self.of(str(path))
        return root / within

    def absent(self) -> tuple[str, ...]:
        """A sentence on the sources that cannot be read; none without any."""
        sources = ((name, root) for name, root in self.folders.items() if name not in OWN)
        gone = [
            f"{name} ({root})"
            for name, root in sources
            if not os.access(f"{root}/", os.R_OK | os.X_OK)
        ]
        return (
            f"Missing (a disk not mounted?) or unreadable, so not searched: {', '.join(gone)}.",
        ) * bool(gone)


def scan(roots: Roots) -> list[Stamp]:
    """A stamp of every note in the roots (see `is_note`), sorted by path.

    Left out are names that start with a dot or are not UTF-8, editor litter, paths that fit
    `exclude`, everything but regular files, links that leave their root or lead nowhere, and
    linked folders (a folder inside the root is read at its own place). Raises JournalError when
    the journal is missing or cannot be listed; another root that is missing has no files.
    """
    return compare(roots, {})[0]


def compare(roots: Roots, known: Mapping[str, Proof | None]) -> tuple[list[Stamp], list[str]]:
    """(stamps of new and changed files, known paths that are gone), both sorted. The files are
    those of `scan`.

    `known` maps paths to proofs. A file whose proof is None always counts as changed.
    """
    excluded = roots.excluded
    real = {
        root: _real(place)
        for root, place in roots.folders.items()
        if not root or place.is_dir()
    }
    stamps: list[Stamp] = []
    unseen = dict(known)
    folders = [join(root, "") for root in real]
    while folders:
        prefix = folders.pop()
        root, _, within = roots.of(prefix)
        real_root, start = (
            real[root],
            len(prefix) - len(within),
        )  # where the path within the root begins
        try:
            listing = _Listing(real_root / within)
        except OSError as error:
            if not prefix:
                raise _missing(roots.folders[""], error) from error
            continue
        with listing as found:
            for item in found:  # the common case first: there may be thousands
                name = item.name
                path = prefix + name
                if name[0] == "." or (excluded and excluded(path[start:])):
                    continue
                expected = known.get(path)
                if expected:
                    try:
                        if (
                            item.is_file(follow_symlinks=False)
                            and proof_of(_status(item)) == expected
                        ):
                            unseen.pop(path, None)
                            continue
                    except OSError:  # gone meanwhile
                        continue
                if item.is_dir(follow_symlinks=False):
                    if (
                        not name.endswith(_LITTER)
                        and not _is_junction(item)
                        and path not in roots.apart
                    ):
                        folders.append(f"{path}/")
                elif is_note(name) and (stamp := _stamp(path, item, real_root, start)):
                    unseen.pop(path, None)
                    if stamp.proof != expected:
                        stamps.append(stamp)
    stamps.sort(key=itemgetter(0))
    return stamps, sorted(unseen)


def stamp_of(roots: Roots, path: str) -> Stamp | None:
    """The stamp that `scan` would find for a path. None if `scan` lists no such file, or if a
    link is on its path.
    """
    name, root, within = roots.of(path)
    steps = within.split("/")
    ways = ["/".join(steps[:length]) for length in range(1, len(steps) + 1)]
    if any(step[:1] in ("", ".") for step in steps) or any(
        roots.excluded and roots.excluded(way) for way in ways
    ):
        return None
    if any(
        way.endswith(_LITTER) or join(name, way) in roots.apart for way in ways[:-1]
    ) or not is_note(path):
        return None
    try:
        if any((root / way).is_symlink() for way in ways):
            return None
        return _stamp_from(path, (root / within).stat())
    except OSError:
        return None


def is_note(path: str) -> bool:
    """True if a file of this name is read: `*.md` and `*.markdown`, in capitals too."""
    return path.lower().endswith(_NOTES)


class _Listing:
    """The contents of a folder. The folder is held open, so that its files are found even if
    its path changes.
    """

    def __init__(self, folder: Path) -> None:
        self._fd: int | None = None
        if os.scandir in os.supports_fd:
            self._fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW)
        try:
            self._found = os.scandir(folder if self._fd is None else self._fd)
        except OSError:
            if self._fd is not None:
                os.close(self._fd)
            raise

    def __enter__(self) -> Iterator[os.DirEntry[str]]:
        return self._found

    def __exit__(self, *_: object) -> None:
        self._found.close()
        if self._fd is not None:
            os.close(self._fd)


def status_reader(system: str) -> Callable[[os.DirEntry[str]], os.stat_result]:
    """A function that returns the `stat` of an item of a folder; `system` is an `os.name`.

    On Windows a listing knows no inode, and its size and times are those of the last time the
    file was closed.
    """
    return (lambda item: os.stat(item.path)) if system == "nt" else os.DirEntry.stat  # noqa: PTH116


_status = status_reader(os.name)


def _is_junction(item: os.DirEntry[str]) -> bool:
    """True for a folder on Windows that is a link to another folder. Python recognises them
    from 3.12 on.
    """
    return bool(getattr(item, "is_junction", bool)())


def locate(roots: Roots, path: str) -> Path:
    """The real place of `path` (with `/`), links followed. Raises JournalError when it is
    outside its root.
    """
    _, root, within = roots.of(path)
    pure = PurePosixPath(within)
    if not path or "\0" in path or "\\" in path or pure.is_absolute() or ".." in pure.parts:
        raise JournalError(
            f"{path!r} is no path inside the journal.", hint="Give it relative to the journal."
        )
    with disk_errors(path, "found"):
        real_root, real = _real(root), _real(root / within)
    if not real.is_relative_to(real_root):
        raise JournalError(
            f"{path} leads out of the journal, to {real}.",
            hint="Only files inside it are touched.",
        )
    return real


def writable(roots: Roots, path: str, line: int = 1) -> Path:
    """The result of `locate` for a file that may be written. Raises Refused for a file that is
    read in place.
    """
    name, root, _ = roots.of(path)
    if name not in OWN:
        raise Refused(
            f"{roots.place(path)}:{line} is read in place from {root}.", hint="Edit it there."
        )
    return locate(roots, path)


def read(roots: Roots, path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a journal file, and its stat. Raises NotFound, or JournalError when it may
    not be read.
    """
    _, root, within = roots.of(path)
    try:
        with disk_errors(path, "read"):
            fd = _open_plain(root, within)
            if fd is None:
                fd = _open(_real(root), locate(roots, path))
            with open(fd, "rb") as file:  # noqa: PTH123
                status = os.fstat(fd)
                if not stat.S_ISREG(status.st_mode):
                    raise JournalError(f"{path} is no regular file.")
                return file.read(), status
    except JournalError as error:
        if isinstance(error.__cause__, OSError) and error.__cause__.errno in _GONE:
            raise NotFound(
                f"The journal has no file {path}.", hint="It was moved or deleted."
            ) from error
        raise


def _open_plain(root: Path, path: str) -> int | None:
    """A descriptor of the file if no link is on its path below `root`; None if a link is."""
    steps = path.split("/")
    if (
        os.open not in os.supports_dir_fd
        or "\0" in path
        or "\\" in path
        or not {"", ".", ".."}.isdisjoint(steps)
    ):
        return None
    with contextlib.suppress(OSError):
        return _open(root, root / path)
    return None


def _open(root: Path, real: Path) -> int:
    """A descriptor of the file `real`. No link on its path below `root` is followed.

    The path had no link when it was resolved. A link that somebody has put there since could
    lead anywhere.
    """
    if os.open not in os.supports_dir_fd:
        return os.open(real, _FILE)
    folder = _folder_of(root, real)
    try:
        return os.open(real.name if real != root else ".", _FILE | _NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def _folder_of(root: Path, real: Path) -> int:
    """A descriptor of the folder that holds `real`."""
    here = os.open(root, _FOLDER)
    try:
        for step in real.relative_to(root).parts[:-1]:
            above, here = here, os.open(step, _FOLDER | _NOFOLLOW, dir_fd=here)
            os.close(above)
    except OSError:
        os.close(here)
        raise
    return here


@contextlib.contextmanager
def pinned(roots: Roots, path: str) -> Iterator[Path]:
    """A path to the file `path` through its folder, held open: it leads there even if the
    folder is replaced.

    If the system offers no such path (macOS, Windows), it is the path that `locate` finds.
    """
    real = locate(roots, path)
    if not _OPEN_FILES.is_dir():
        yield real
        return
    held = _folder_of(_real(roots.of(path)[1]), real)
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
    return JournalError(
        f"The journal {root} cannot be listed: {error.strerror}.",
        hint="Check its owner and mode.",
    )


def _stamp(path: str, item: os.DirEntry[str], real_root: Path, start: int) -> Stamp | None:
    """The stamp of an item; None if the item is not to be read. `start`: where the path within
    the root begins.
    """
    if item.is_symlink() and not _real(real_root / path[start:]).is_relative_to(real_root):
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
