"""Decides which files `sync` sends and receives; the rule is one for both directions.

| file                                                            | sent and received         |
|-----------------------------------------------------------------|---------------------------|
| `*.md`, `*.markdown`; pictures; all of `attachments/`           | yes, up to 50 MB          |
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
from ....files import PICTURE_BYTES, is_picture_name, real_path
from ....journal.folder import Roots, is_note
from ....journal.names import is_readable, printable
from .. import merge_driver

Entry = tuple[str, str]
"""The mode and the object of a file in a commit."""
FILE_MODES = ("100644", "100755")
SETUP = {
    ".gitattributes": f"*.md merge={merge_driver.DRIVER} -text\n",
    ".gitignore": ".state/\ntokens.toml\n.*.synaptic\n",
}
"""The files that the first sync adds to the repository. Later they are neither sent nor
received: what they say here is this machine's own.
"""
PATH_BYTES = 4000
"""The most bytes of a path; no disk takes a longer one."""
NAMES = 5
"""Files that one sentence names."""
_UNSEEN_ON_MAC = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Code points that HFS+ ignores in a name, so that `.g<U+200C>it` is `.git` (git: utf8.c)."""
_SHORT_NAME = re.compile(r"git~[0-9]+", re.IGNORECASE)
"""The name by which Windows knows `.git`, too."""
_RESERVED = re.compile(
    r'(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?|.*[<>:"|?*].*|.*[. ]', re.IGNORECASE
)
"""Names that no file can have on Windows."""


class Obstacle(NamedTuple):
    """The reason why a file is neither sent nor received, and the next step."""

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
TAKEN = Obstacle("the repository holds another thing of that name", "Rename it here.")
IGNORED = Obstacle("ignored by git", "`git check-ignore -v FILE` there names the line.")


@dataclass(frozen=True)
class Shares:
    """The rule for one journal; `system` is an `os.name`."""

    config: Config
    roots: Roots
    system: str = os.name

    @cached_property
    def _apart(self) -> tuple[str, ...]:
        """The folders within the journal that belong to the home or to another source."""
        root = real_path(self.config.journal)
        places = [place for name, place in self.roots.folders.items() if name]
        real = [real_path(place) for place in (*places, self.config.state)]
        inside = [place for place in real if place != root and place.is_relative_to(root)]
        return tuple(f"{place.relative_to(root).as_posix()}/" for place in inside)

    def is_ours(self, path: str) -> bool:
        """True for the path of a note or an attachment of this journal."""
        for step in path.split("/"):
            name = visible(step)
            if not name or name.startswith(".") or _SHORT_NAME.fullmatch(name):
                return False
        if self.roots.of(path)[0] or self.roots.excludes(path) or path.startswith(self._apart):
            return False
        return is_note(path) or is_picture_name(path) or path.startswith("attachments/")

    def against(self, path: str, mode: str = FILE_MODES[0], size: int = 0) -> Obstacle | None:
        """The reason why a file of this mode and so many bytes is not shared; None if it is."""
        if not self.is_ours(path):
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

    def obstacle(self, path: str, *, is_new: bool) -> Obstacle | None:
        """The reason why no file can be written at this path now; `is_new`: none came before.
        Raises OSError.
        """
        here = self.config.journal
        *folders, name = path.split("/")
        for step in folders:
            here /= step
            mode = _mode(here)
            if mode is None:
                return None
            if not stat.S_ISDIR(mode):
                path = here.relative_to(self.config.journal).as_posix()
                words = f"{printable(path)} is not a folder"
                return Obstacle(f"{words} here", "Rename that, then sync.")
        mode = _mode(here / name)
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


def reason_in(error: SynapticError, path: str) -> Obstacle:
    """An error of one file as a reason; the path in it can be printed."""
    return Obstacle(error.message.replace(path, printable(path)).rstrip("."), error.hint)


def visible(name: str) -> str:
    """A name as a Mac with HFS+ reads it."""
    return _UNSEEN_ON_MAC.sub("", name)


def _mode(place: Path) -> int | None:
    """The mode of what stands there, links not followed; None if nothing does."""
    try:
        return place.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_gone(place: Path) -> bool:
    """True if no file has this path, but nothing or a folder; False also if nobody can know."""
    with suppress(OSError):
        mode = _mode(place)
        return mode is None or stat.S_ISDIR(mode)
    return False


def clashes(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of these files of which the first would have to be a folder for the second: `a` and
    `a/b`.
    """
    above = "\0"
    for path in sorted(paths, key=lambda path: path.replace("/", "\0")):
        if path.startswith(f"{above}/"):
            yield above, path
        else:
            above = path


@dataclass(frozen=True)
class Report:
    """What a sync has done, and what it has to tell."""

    received: set[str] = field(default_factory=set)
    conflicts: dict[str, None] = field(default_factory=dict)
    left: dict[tuple[str, Obstacle], dict[str, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def leave(self, direction: str, path: str, reason: Obstacle) -> None:
        """Notes a file that is `Not sent` or `Not received`."""
        self.left[direction, reason][path] = None

    def holds(self, reason: Obstacle) -> bool:
        """True if a file was left for this reason."""
        return any(each == reason for _, each in self.left)

    def notices(self) -> list[str]:
        """A sentence for each direction and reason."""
        return [
            f"{direction}: {name_some([*paths])} ({reason.words}). {reason.step}"
            for (direction, reason), paths in self.left.items()
        ]


def name_some(paths: Sequence[str]) -> str:
    """The first of these paths, and the number of the others."""
    names = ", ".join(map(printable, paths[:NAMES]))
    return f"{names} and {len(paths) - NAMES:,} more" if len(paths) > NAMES else names
