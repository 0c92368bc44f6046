"""Finds the files of the journal and of the other roots, and opens them by their paths, without
leaving the root.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from posixpath import join
from typing import NamedTuple, cast

from ..errors import JournalError, NotFound, Refused, Sentence
from ..files import (
    O_NOFOLLOW,
    OPEN_FLAGS,
    PICTURE_FOLDER,
    real_path,
    real_path_below,
    wrap_regular_file,
)
from ..models import FileSignature, Stamp, Texts, file_signature
from ..notes.reading import composed_form
from .disk import disk_errors
from .names import LeftOut, is_readable

_LITTER = ("~", ".swp", ".tmp")
_NOTES, TEXTS = (".md", ".markdown"), (".txt",)
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
_PIECE = 15
"""Names of at most 255 bytes that one path of the system, 4,096 bytes, certainly holds."""
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | _DIRECTORY
_OPEN_FILES = Path("/proc/self/fd")

OWN = ("", "@sessions")
"""The roots that Synaptic writes: the journal, and the sessions of the home."""


class Roots:
    """The folders that are read, by name; see `Config.roots`. A path `@vault/x.md` lies in the
    root `@vault`.

    Where a root lies inside another, its files are read once, as its own. A source that is a
    note, such as `~/.gemini/GEMINI.md`, is a root with that file alone; `single` names it. With
    `text_files` plain texts are read as well.
    """

    def __init__(
        self, folders: Mapping[str, Path], exclude: Iterable[str] = (), text_files: bool = False
    ) -> None:
        self._endings = _NOTES + TEXTS * text_files
        files = {name: at for name, at in folders.items() if name and at.is_file()}
        # a file that is a link is read at its target, as a linked folder is
        files = {name: real_path(at) if at.is_symlink() else at for name, at in files.items()}
        self.single = {name: at.name for name, at in files.items()}
        self.folders = {**folders, **{name: at.parent for name, at in files.items()}}
        folders = self.folders
        excluded = tuple(exclude)
        every = {name: _glob_pattern(name, excluded, folders) for name in folders}
        self.excluded = {name: re.compile(glob) for name, glob in every.items() if glob}
        """The pattern of the paths that `exclude` leaves out, for each root that has some."""
        # no part of the root around them
        self.apart = {*folders, PICTURE_FOLDER}
        real = {name: real_path(folder) for name, folder in folders.items()}
        for outer, around in real.items():
            for inner, folder in real.items():
                if inner != outer and folder.is_relative_to(around):
                    self.apart.add(join(outer, folder.relative_to(around).as_posix()))

    def split_path(self, path: str) -> tuple[str, Path, str]:
        """(name of the root, its folder, the rest of the path below it) for a journal path such
        as `@vault/x.md`.
        """
        name, sign, within = path.partition("/")
        if name and sign and name in self.folders:
            return name, self.folders[name], within
        return "", self.folders[""], path

    def place(self, path: str | Path) -> Path:
        """The path on disk of a journal path; an absolute path is returned unchanged."""
        _, root, within = self.split_path(str(path))
        return root / within

    def reads(self, path: str) -> bool:
        """True if a file of this name is read: a note, or a plain text if these are."""
        return path.endswith(_NOTES) or path.lower().endswith(self._endings)

    def excludes(self, path: str, root: str = "") -> bool:
        """True if this path below the root of this name matches a glob of the setting
        `exclude`.
        """
        pattern = self.excluded.get(root)
        return pattern is not None and bool(pattern.fullmatch(composed_form(path)))

    def absent(self) -> Texts:
        """One sentence that names the sources which cannot be read; () if all can."""
        gone = [
            f"{name} ({root})"
            for name, root in self.folders.items()
            if name not in OWN and not os.access(f"{root}/", os.R_OK | os.X_OK)
        ]
        if not gone:
            return ()
        text = "Missing (a disk not mounted?) or unreadable, so not searched: {names}."
        return (Sentence(text, names=", ".join(gone)),)


class Comparison(NamedTuple):
    """The differences between the files on disk and the signatures in the index. `changed`:
    stamps of new and changed files. `gone`: paths of files that no longer exist. Both are
    sorted. `left_out`: notes that are not read; `find_left_out` has links to folders, too.
    """

    changed: list[Stamp]
    gone: list[str]
    left_out: list[LeftOut]


ListedItem = tuple[str, os.DirEntry[str], Path, int | None]
"""A note, or a link, in a folder: its path from the root on, its entry in the listing, the real
folder of the root, and the descriptor of the folder while the item is looked at; None where the
system lists by path alone. A plain tuple: a journal has thousands.
"""


def scan_notes(roots: Roots) -> list[Stamp]:
    """A stamp of every note in the roots (see `is_note`), sorted by path.

    Left out are names that start with a dot or that `is_readable` refuses, editor litter, paths
    that fit `exclude`, everything but regular files, files that this user may not read, links
    that leave their root or lead nowhere, and linked folders (a folder inside the root is read
    at its own place). Raises JournalError when the journal is missing or cannot be listed;
    another root that is missing has no files.
    """
    return compare_roots(roots, {}).changed


def compare_roots(
    roots: Roots, signatures: Mapping[str, FileSignature | None], only: str = ""
) -> Comparison:
    """Compares the notes on disk, or the one at the path `only`, with known `signatures` by
    path and returns the differences. A file whose signature is None counts as changed.
    """
    stamps = []
    left_out = []
    seen = []
    for item in walk_items(roots, only):
        if isinstance(item, LeftOut):
            left_out.append(item)
            continue
        path = item[0]
        expected = signatures.get(path)
        if expected and _has_signature(item[1], expected):
            seen.append(path)
            continue
        signature = check_note(roots, item)
        if isinstance(signature, LeftOut):
            left_out.append(signature)
        elif signature:
            seen.append(path)
            if signature != expected:
                stamps.append(Stamp(path, *signature))
    stamps.sort(key=itemgetter(0))
    return Comparison(stamps, sorted(signatures.keys() - seen), left_out)


def _has_signature(entry: os.DirEntry[str], signature: FileSignature) -> bool:
    """True if the listed file still has this signature. False for a link, which is checked
    each time.
    """
    if entry.is_symlink() or not is_readable(entry.name):
        return False
    try:
        return file_signature(_status(entry)) == signature
    except OSError:
        return False


def check_note(roots: Roots, item: ListedItem) -> FileSignature | LeftOut | None:
    """The signature of a listed note, or the reason why it is not read; None for a note that
    no longer exists or that is a folder.
    """
    path, entry, root, folder = item
    is_link = entry.is_symlink()
    if not is_readable(entry.name):
        return LeftOut(path, "name")
    try:
        status = _status(entry)
    except OSError as error:
        if error.errno not in _GONE:
            return LeftOut(path, "unreadable")
        return LeftOut(path, "broken link") if is_link else None
    if is_link and not real_path(roots.place(path)).is_relative_to(root):
        return LeftOut(path, "link")
    if not stat.S_ISREG(status.st_mode):
        return None if stat.S_ISDIR(status.st_mode) else LeftOut(path, "no file")
    if not _may_read(entry, folder):
        return LeftOut(path, "unreadable")
    return _wrap_to_int64(file_signature(status))


def _may_read(entry: os.DirEntry[str], folder: int | None) -> bool:
    effective = os.access in os.supports_effective_ids
    if folder is None or os.access not in os.supports_dir_fd:
        return os.access(entry.path, os.R_OK, effective_ids=effective)
    return os.access(entry.name, os.R_OK, dir_fd=folder, effective_ids=effective)


def read_stamp(roots: Roots, path: str, *, was_listed: bool = False) -> Stamp | None:
    """The stamp of one file; None if `scan_notes` lists no such file. `was_listed`: it
    did before, so its folder, which may hold thousands, is not listed for it.
    """
    name, _, within = roots.split_path(path)
    was_listed = was_listed and is_readable(path) and not roots.excludes(within, name)
    with suppress(OSError):
        status = roots.place(path).lstat() if was_listed else None
        if status and stat.S_ISREG(status.st_mode):
            return Stamp(path, *_wrap_to_int64(file_signature(status)))
    stamps = compare_roots(roots, {}, path).changed
    return stamps[0] if path and stamps else None


def _wrap_to_int64(signature: FileSignature) -> FileSignature:
    """Wraps the numbers to 64 bits, as SQLite: inodes, and times after 2262, may be larger."""
    return cast("FileSignature", tuple((part + 2**63) % 2**64 - 2**63 for part in signature))


def walk_items(
    roots: Roots, only: str = "", *, links: bool = False
) -> Iterator[ListedItem | LeftOut]:
    """Yields each item whose name is that of a note (only the one at the path `only`, if given;
    with `links` also other links), and the folders that are left out.
    """
    real = {
        join(name, ""): real_path(folder)
        for name, folder in roots.folders.items()
        if not name or folder.is_dir()
    }
    folders = [prefix for prefix in real if only.startswith(prefix) or not only]
    while folders:
        prefix = folders.pop()
        name, _, within = roots.split_path(prefix)
        root = real[join(name, "")]
        start = len(prefix) - len(within)
        single = roots.single.get(name)
        if not is_readable(name):
            yield LeftOut(prefix, "name")
            continue
        try:
            with _open_listing(root, within) as (held, entries):
                for entry in entries:
                    entry_name = entry.name
                    path = prefix + entry_name
                    if only and not only.startswith(path):
                        continue
                    if entry_name[0] == "." or (single and single != entry_name):
                        continue
                    if roots.excluded and roots.excludes(path[start:], name):
                        continue
                    if not entry.is_dir(follow_symlinks=False):
                        is_wanted = not only or path == only
                        if is_wanted and (roots.reads(path) or (links and entry.is_symlink())):
                            yield path, entry, root, held
                        continue
                    is_litter = entry.name.endswith(_LITTER) or _is_junction(entry)
                    if is_litter or path in roots.apart:
                        continue
                    if only and not only.startswith(f"{path}/"):
                        continue
                    if is_readable(entry.name):
                        folders.append(f"{path}/")
                    else:
                        yield LeftOut(f"{path}/", "name")
        except OSError as error:
            if not prefix:
                raise _listing_error(roots.folders[""], error) from error
            if within and error.errno not in _GONE:
                yield LeftOut(prefix, "unreadable")


@contextmanager
def _open_listing(
    root: Path, within: str
) -> Iterator[tuple[int | None, Iterator[os.DirEntry[str]]]]:
    """The descriptor and the contents of a folder, as a context. The folder is held open, so
    that its files are found even if its path changes, or is longer than the system takes.
    """
    if os.scandir not in os.supports_fd:
        with os.scandir(root / within) as entries:
            yield None, entries
        return
    held = _open_folder(root, within)
    try:
        with os.scandir(held) as entries:
            yield held, entries
    finally:
        os.close(held)


def _open_folder(root: Path, within: str) -> int:
    """A descriptor of a folder, by pieces where the system does not take the path at once."""
    flags = os.O_RDONLY | _DIRECTORY | O_NOFOLLOW
    try:
        return os.open(root / within, flags)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG or os.open not in os.supports_dir_fd:
            raise
    steps = within.strip("/").split("/")
    here = os.open(root, flags)
    for first in range(0, len(steps), _PIECE):
        above = here
        try:
            here = os.open("/".join(steps[first : first + _PIECE]), flags, dir_fd=above)
        finally:
            os.close(above)
    return here


def is_logseq_graph(folder: Path) -> bool:
    """True for a graph of Logseq, which rewrites the headings of its files."""
    has_pages = (folder / "journals").is_dir() and (folder / "pages").is_dir()
    return has_pages or (folder / "logseq" / "config.edn").is_file()


def is_note(path: str) -> bool:
    """True if a file of this name is read: `*.md` and `*.markdown`, in capitals too."""
    return path.endswith(_NOTES) or path.lower().endswith(_NOTES)


def stat_reader(system: str) -> Callable[[os.DirEntry[str]], os.stat_result]:
    """A function that returns the `stat` of an item of a folder; `system` is an `os.name`. On
    Windows a listing knows no inode, and its size and times are those of the last closing.
    """
    if system != "nt":
        return os.DirEntry.stat
    return lambda item: Path(item.path).stat()


_status = stat_reader(os.name)


def _is_junction(item: os.DirEntry[str]) -> bool:
    """True for a link to a folder on Windows, which Python recognises from 3.12 on."""
    return bool(getattr(item, "is_junction", bool)())


def _check_path(path: str) -> None:
    """Raises JournalError for a path that cannot lie in the journal."""
    steps = path.split("/")
    if "" in steps or ".." in steps or not is_readable(path):
        raise JournalError(
            f"{path!r} is not a path inside the journal.",
            "Give a path relative to the journal folder, like 2026-11-21.md.",
        )


def resolve_journal_path(roots: Roots, path: str) -> Path:
    """The path on disk of the journal path `path`, with links resolved. Raises JournalError if
    that lies outside the root.
    """
    root, within = _real_root_and_path(roots, path)
    return root / within


def _real_root_and_path(roots: Roots, path: str) -> tuple[Path, Path]:
    """(the real folder of a journal path's root, the real path below it)."""
    _check_path(path)
    _, root, within = roots.split_path(path)
    real_root = real_path(root)
    real = real_path_below(real_root, within)
    if not real.is_relative_to(real_root):
        raise JournalError(
            f"{path} leads out of the journal, to {real}.",
            "Synaptic touches only files inside the journal. Remove the link.",
        )
    return real_root, real.relative_to(real_root)


def locate_writable(roots: Roots, path: str, line: int = 1) -> Path:
    """The path on disk of a journal file that may be written, as `resolve_journal_path` returns
    it. Raises what `refuse_source` raises.
    """
    refuse_source(roots, path, line, is_text=not is_note(path))
    return resolve_journal_path(roots, path)


def refuse_source(roots: Roots, path: str, line: int = 1, *, is_text: bool = False) -> None:
    """Raises Refused for a file of a source or a text, naming `line`: they are only read."""
    name, root, _ = roots.split_path(path)
    if is_text or name not in OWN:
        raise Refused(
            "{place}:{line} is read in place from {root}.",
            "Synaptic never writes there: edit that file in your editor.",
            place=roots.place(path),
            line=line,
            root=root,
        )


def read_bytes(roots: Roots, path: str) -> tuple[bytes, os.stat_result]:
    """The bytes of a journal file, and its stat. Raises NotFound, or JournalError when it may
    not be read.
    """
    with disk_errors(path, "read"):
        try:
            fd = _open_file(roots, path)
            with wrap_regular_file(fd, Path(path)) as file:
                return file.read(), os.fstat(fd)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            raise no_file_error(path) from error


def no_file_error(path: str) -> NotFound:
    """The error for a file of the journal that is not there."""
    return NotFound(
        "The journal has no file {path}.",
        "It was moved or deleted; search for its entries again.",
        path=path,
    )


def _open_file(roots: Roots, path: str) -> int:
    """A descriptor of a file. No link on its path below the root is followed that was not there
    when the path was resolved.
    """
    _check_path(path)
    _, root, within = roots.split_path(path)
    if os.open not in os.supports_dir_fd:
        return os.open(resolve_journal_path(roots, path), OPEN_FLAGS)
    with suppress(OSError):
        return _open_below(root, within.split("/"))
    real = resolve_journal_path(roots, path)
    root = real_path(root)
    return _open_below(root, real.relative_to(root).parts)


def _open_below(root: Path, steps: Sequence[str]) -> int:
    with _open_parent(root, steps) as folder:
        return os.open(steps[-1], OPEN_FLAGS | O_NOFOLLOW, dir_fd=folder)


@contextmanager
def _open_parent(root: Path, steps: Sequence[str]) -> Iterator[int]:
    """Opens the folder that contains the last of these steps of a path, as a context; yields
    its descriptor. No link below the root is followed.
    """
    here = os.open(root, _FOLDER)
    try:
        for step in steps[:-1]:
            above = here
            here = os.open(step, _FOLDER | O_NOFOLLOW, dir_fd=here)
            os.close(above)
        yield here
    finally:
        os.close(here)


@contextmanager
def path_held_open(roots: Roots, path: str) -> Iterator[Path]:
    """A path to the file `path` through its folder, held open: it leads there even if the
    folder is replaced.

    If the system offers no such path (macOS, Windows), `resolve_journal_path` finds the path.
    """
    root, within = _real_root_and_path(roots, path)
    if not _OPEN_FILES.is_dir():
        yield root / within
        return
    with _open_parent(root, within.parts) as folder:
        yield _OPEN_FILES / str(folder) / within.name


def missing_journal_error(root: Path) -> JournalError:
    """The error for a journal that is not there."""
    return JournalError(
        "The journal {root} is missing (a disk that is not mounted?).",
        "Mount or create it, or choose another folder: synaptic init --journal DIR.",
        root=root,
    )


def _listing_error(root: Path, error: OSError) -> JournalError:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return missing_journal_error(root)
    return JournalError(
        f"The journal {root} cannot be listed: {error.strerror}.", "Check its owner and mode."
    )


_SIGNS = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _glob_pattern(root: str, exclude: Iterable[str], roots: Collection[str]) -> str:
    """The regular expression of the globs that hold for a root: `archive/**` for each, and
    `@vault/archive/**` for the source `@vault` alone.
    """
    globs = []
    for glob in exclude:
        name, _, rest = glob.partition("/")
        is_of_one = bool(rest) and name.startswith("@") and name in roots
        if not is_of_one or name == root:
            globs.append(_glob_regex(composed_form(rest if is_of_one else glob)))
    return "|".join(globs)


def _glob_regex(glob: str) -> str:
    """A regular expression over relative paths.

    | glob              | matches                                   |
    |-------------------|-------------------------------------------|
    | `*.excalidraw.md` | that name in any folder                   |
    | `archive`         | that file or folder, anywhere             |
    | `archive/**`      | everything in the top folder `archive`    |
    | `a/*/c.md`        | one folder between, `**` any number       |
    """
    glob = glob.strip("/")
    pattern = "" if "/" in glob else "(?:.*/)?"
    for token in re.findall(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?[^\]/]+\]|.", glob, re.DOTALL):
        sign = _SIGNS.get(token, re.escape(token))
        if len(token) > 1 and token not in _SIGNS:
            inner = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
            sign = f"[^{inner[1:]}]" if inner[0] == "!" else f"[{inner}]"
        pattern += sign
    try:
        re.compile(pattern)
    except re.error:  # brackets that are not a character class
        return re.escape(glob)
    return f"(?s:{pattern})"
