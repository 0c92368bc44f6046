"""Decides which files `sync` sends and receives; the rule is one for both directions.

| file                                                            | sent and received         |
|-----------------------------------------------------------------|---------------------------|
| `*.md`, `*.markdown`; pictures; all of `attachments/`           | yes, up to 50 MB          |
| `*.txt`, where `text_files` is on                               | yes, up to 50 MB          |
| a document, sound or film (`ATTACHMENTS`) to which a note links | yes, up to 50 MB          |
| below a name with a dot in front, such as `.git` or `.obsidian` | no                        |
| in `exclude`, in the home, in another source                    | no                        |
| all others (`run.sh`, `config.toml`)                            | no                        |
| a note's name, but a link, a submodule, or a name nobody reads  | no, and a notice names it |
| new here, and ignored by git                                    | no, and a notice names it |

A file that is not received stays in each commit as it is, and is never sent as deleted.
"""

from __future__ import annotations

import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ....config import Config
from ....errors import SynapticError
from ....files import real_path
from ....journal.folder import Roots
from ....journal.names import is_readable, printable_path
from ....journal.shelf import is_attachment
from ....notes.picture_kinds import PICTURE_BYTES, is_picture_name
from .. import merge_driver
from ..pieces import Decision

Entry = tuple[str, str]
"""A file of a git tree: its mode and its object id."""
FILE_MODES = ("100644", "100755")
SETUP = {
    ".gitattributes": f"*.md merge={merge_driver.DRIVER} -text\n",
    ".gitignore": ".state/\ntokens.toml\n.*.synaptic\n",
}
"""The files that the first sync adds to the repository. Later they are neither sent nor
received: what they say here is this machine's own.
"""
BESIDE = ".sync-conflict-"
"""Stands in the name of the other version of a file that both machines changed."""
PATH_BYTES = 4000
"""The longest path in bytes that any disk takes."""
NAMES = 5
"""The most files that one sentence names."""
_UNSEEN_ON_MAC = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Code points that HFS+ ignores in a name, so that `.g<U+200C>it` is `.git` (git: utf8.c)."""
_SHORT_NAME = re.compile(r"git~[0-9]+", re.IGNORECASE)
"""The name by which Windows knows `.git`, too."""
_RESERVED = re.compile(
    r'(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?|.*[<>:"|?*].*|.*[. ]', re.IGNORECASE
)
"""Names that no file can have on Windows."""


class Obstacle(NamedTuple):
    """The reason why a file is neither sent nor received, in `words`, and the next `step` for a
    person.
    """

    words: str
    step: str


NAME = Obstacle(
    "a backslash, a control character or a byte that is not UTF-8 in the name", "Rename it."
)
RESERVED = Obstacle("Windows allows no such name", "Rename it on the other machine.")
KIND = Obstacle("a link or another repository, not a file", "Replace it by a file.")
SIZE = Obstacle(f"larger than {PICTURE_BYTES // 1_000_000} MB", "Keep it outside the journal.")
LONG = Obstacle("the name is too long for this disk", "Rename it on the other machine.")
EDITED = Obstacle(
    "another program wrote to it during the sync", "The next sync comes back to it."
)
FOREIGN = Obstacle(
    "neither notes nor attachments",
    "They stay in the repository; `git show HEAD:FILE` prints one.",
)
CAPITALS = Obstacle("a name here differs from it only in capitals", "Rename one of the two.")
FOLDER = Obstacle("a folder has its name here", "Rename the folder, then sync.")
LINKED = Obstacle(
    "a note links to it, but it is of no kind that is sent",
    "Move it to attachments/ to send it.",
)
TAKEN = Obstacle("the repository holds another thing of that name", "Rename it here.")
IGNORED = Obstacle("ignored by git", "`git check-ignore -v FILE` there names the line.")


@dataclass(frozen=True)
class Shares:
    """Decides which files of one journal are sent and received. `system` is an `os.name`."""

    config: Config
    roots: Roots
    system: str = os.name

    @cached_property
    def _excluded_folders(self) -> tuple[str, ...]:
        """The folders inside the journal that a sync leaves out: Synaptic's state, and folders
        that `sources` names.
        """
        root = real_path(self.config.journal)
        folders = [folder for name, folder in self.roots.folders.items() if name]
        real = [real_path(folder) for folder in (*folders, self.config.state)]
        inside = [folder for folder in real if folder != root and folder.is_relative_to(root)]
        return tuple(f"{folder.relative_to(root).as_posix()}/" for folder in inside)

    def is_shareable_path(self, path: str) -> bool:
        """True if `path` is the path of a note or an attachment of this journal."""
        is_wanted = self.is_sent_unlinked(path) or is_attachment(path)
        return is_wanted and self.is_shared_place(path)

    def is_shared_place(self, path: str) -> bool:
        """True if no step of a path is hidden, excluded, or of another source."""
        for step in path.split("/"):
            name = without_invisible_characters(step)
            if not name or name.startswith(".") or _SHORT_NAME.fullmatch(name):
                return False
        return not (
            self.roots.split_path(path)[0]
            or self.roots.excludes(path)
            or path.startswith(self._excluded_folders)
        )

    def is_sent_unlinked(self, path: str) -> bool:
        """True if a file is sent also where no note links to it."""
        return (
            self.roots.reads(path) or is_picture_name(path) or path.startswith("attachments/")
        )

    def obstacle_to_sharing(
        self, path: str, mode: str = FILE_MODES[0], size: int = 0
    ) -> Obstacle | None:
        """Returns the obstacle to sharing a file of this git mode and size in bytes; None if it
        may be shared.
        """
        if not self.is_shareable_path(path):
            return FOREIGN
        if not is_readable(path):
            return NAME
        if len(path.encode()) > PATH_BYTES:
            return LONG
        if self.system == "nt" and any(map(_RESERVED.fullmatch, path.split("/"))):
            return RESERVED
        if mode not in FILE_MODES:
            return KIND
        return SIZE if size > PICTURE_BYTES else None

    def obstacle_to_writing(self, path: str, *, is_new: bool) -> Obstacle | None:
        """Returns the obstacle to writing a file at this path now; None if it can be written.
        `is_new`: the file does not exist here yet. Raises OSError.
        """
        here = self.config.journal
        *folders, name = path.split("/")
        for step in folders:
            here /= step
            mode = _file_mode(here)
            if mode is None:
                return None
            if not stat.S_ISDIR(mode):
                path = here.relative_to(self.config.journal).as_posix()
                words = f"{printable_path(path)} is not a folder"
                return Obstacle(f"{words} here", "Rename that, then sync.")
        mode = _file_mode(here / name)
        if mode is None:
            return None
        if stat.S_ISDIR(mode):
            with suppress(OSError):  # an empty folder holds nothing back
                (here / name).rmdir()
                return None
            return FOLDER
        if not stat.S_ISREG(mode):
            return KIND
        if is_new and name not in os.listdir(here):  # noqa: PTH208
            return CAPITALS
        return None


def obstacle_from_error(error: SynapticError, path: str) -> Obstacle:
    """Turns an error about one file into an obstacle, with its path in printable form."""
    return Obstacle(error.message.replace(path, printable_path(path)).rstrip("."), error.hint)


def without_invisible_characters(name: str) -> str:
    """Returns a file name without the characters that a Mac with HFS+ ignores."""
    return _UNSEEN_ON_MAC.sub("", name)


def _file_mode(file: Path) -> int | None:
    """Returns the st_mode of the file or folder at `file`, without following links; None if it
    does not exist.
    """
    try:
        return file.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_file_gone(file: Path) -> bool:
    """True if no file exists at this path (nothing or a folder does); False also if that cannot
    be found out.
    """
    with suppress(OSError):
        mode = _file_mode(file)
        return mode is None or stat.S_ISDIR(mode)
    return False


def find_path_clashes(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields pairs of paths that exclude each other, because the first would have to be a
    folder for the second: `a` and `a/b`.
    """
    above = "\0"
    for path in sorted(paths, key=lambda path: path.replace("/", "\0")):
        if path.startswith(f"{above}/"):
            yield above, path
        else:
            above = path


@dataclass(frozen=True)
class Report:
    """Collects during a sync the received files, the conflicts, and the files that were left
    out. `renamed` maps files of this machine to the names that a merge gave them; `decisions`
    are what merges decided.
    """

    received: set[str] = field(default_factory=set)
    conflicts: dict[str, None] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    left: dict[tuple[str, Obstacle], dict[str, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def leave_out(self, direction: str, path: str, reason: Obstacle) -> None:
        """Records a file that is `Not sent` or `Not received`, and the obstacle."""
        self.left[direction, reason][path] = None

    def describe_left_out(self) -> dict[str, int]:
        """Returns a sentence for each direction and obstacle, with the number of files."""
        sentences = {}
        for (direction, reason), paths in self.left.items():
            names = list_some_paths([*paths])
            sentences[f"{direction}: {names} ({reason.words}). {reason.step}"] = len(paths)
        return sentences


def list_some_paths(paths: Sequence[str]) -> str:
    """Lists the first NAMES paths, and the number of the others: `a.md, b.md and 3 more`."""
    names = ", ".join(map(printable_path, paths[:NAMES]))
    return f"{names} and {len(paths) - NAMES:,} more" if len(paths) > NAMES else names
