"""What a git checkout says of the work at hand: its project, the branch, the subjects of the last commits made in it.

Git is not run. A repository's settings name programs, and more of them with each version of git; small files of
`.git` are read in its place, and nothing that stands in them decides over more than words.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..config import Config
from ..notes.blocks import project_key

COMMITS = 5
LINE_CHARS = 200
"""A longer name of a branch, or subject of a commit, is cut here."""

LOG_BYTES = 16_384
"""The end of git's log of this checkout that is read: some eighty lines."""

SMALL_BYTES = 1_000_000
"""No file that says where a repository is, or which branch is checked out, is nearly as large."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_BRANCH = "ref: refs/heads/"
_REMOTE = "ref: refs/remotes/origin/"
_DEFAULT = ("main", "master", "trunk", "develop")
_COMMIT = re.compile(r"\t(?:commit|cherry-pick|revert|am)(?: \([a-z-]+\))?: (.+)")
"""The end of a line of that log for a commit; others say what was checked out, reset, pulled or rebased."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree. `project` is the repository's name: of its main checkout, where this is a worktree.

    `head` is what its HEAD says, and `git` the folder where that stands: a worktree has one of its own, beside the
    repository's `common` one.
    """

    root: Path
    project: str
    git: Path
    common: Path
    head: str

    @property
    def branch(self) -> str:
        """The branch that is checked out; empty where a commit is."""
        return self.head.removeprefix(_BRANCH) if self.head.startswith(_BRANCH) else ""

    @property
    def defaults(self) -> tuple[str, ...]:
        """The name of the default branch, as the remote `origin` has it; the usual names where that is unknown."""
        with suppress(OSError):
            if (said := small_text(self.common / "refs" / "remotes" / "origin" / "HEAD")).startswith(_REMOTE):
                return (said.removeprefix(_REMOTE),)
        return _DEFAULT


def checkout_around(folder: Path) -> Checkout | None:
    """The checkout that a folder lies in. A `.git` whose files cannot be read is passed over."""
    for place in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            if os.path.lexists(f"{place}/.git") and (found := _checkout_at(place)):
                return found
    return None


ELSEWHERE = ContextVar("elsewhere", default=False)
"""Whether this process works for somebody whose checkout it cannot see."""


def working_checkout() -> Checkout | None:
    """The checkout that this process works in."""
    try:
        return None if ELSEWHERE.get() else checkout_around(Path.cwd().resolve())
    except OSError:  # the working directory was deleted, or may not be looked at
        return None


def project_of(config: Config, here: Checkout | None) -> str | None:
    """The project of work in this checkout: the one that is set, else the repository's name."""
    return config.project or (here.project if here else None)


def asking_project(config: Config, here: Checkout | None) -> str | None:
    """The key of the project that answers prefer: that of work in this checkout.

    None in a repository that holds the journal: all of it belongs there.
    """
    if here and not config.project and Path(os.path.realpath(config.journal)).is_relative_to(here.root):
        return None
    return project_key(project_of(config, here) or "") or None


def work_at_hand(folder: Path) -> str:
    """The branch and the subjects of the last commits made in the checkout around `folder`, newest first, a line each.

    What is unknown is absent: the branch where a commit is checked out, commits where git keeps no log of HEAD.
    """
    here = checkout_around(folder)
    if here is None:
        return ""
    lines = [here.branch, *_subjects(here.git / "logs" / "HEAD")]
    return "\n".join(line[:LINE_CHARS] for line in lines if line)


def _checkout_at(place: Path) -> Checkout | None:
    """The checkout whose root is `place`. Raises OSError or ValueError where its files cannot be read."""
    git, project = place / ".git", place.name
    main = git
    if not git.is_dir():  # a worktree or a submodule: a file says where its own folder is
        pointer = small_text(git).removeprefix("gitdir:").strip()
        if not pointer:
            return None
        main = git = Path(os.path.realpath(place / pointer))  # which, unlike resolve(), takes a loop of links
        if common := small_text(git / "commondir"):
            main = Path(os.path.realpath(git / common))
            project = (main.parent if main.name == ".git" else main).name.removesuffix(".git") or project
    return Checkout(place, project, git, main, small_text(git / "HEAD")) if project else None


def small_text(path: Path) -> str:
    """The text of a regular file; empty where there is none. Raises OSError for a file above `SMALL_BYTES`."""
    try:
        with open_regular(path) as file:
            data = file.read(SMALL_BYTES + 1) or b""  # None: a file of /proc with nothing to read as yet
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if len(data) > SMALL_BYTES:
        raise OSError(errno.EFBIG, "it is too large", str(path))
    return os.fsdecode(data).strip()


def _subjects(log: Path) -> list[str]:
    """The subjects of the last commits that this log of HEAD knows, newest first."""
    with suppress(OSError), open_regular(log) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_BYTES))
        found = _COMMIT.findall((file.read(LOG_BYTES) or b"").decode("utf-8", "replace"))
        return list(dict.fromkeys(reversed(found)))[:COMMITS]
    return []


def open_regular(path: Path, *, follow: bool = True) -> BinaryIO:
    """A file that others may have put there, open for reading, without ever waiting for it.

    Raises OSError for a FIFO, a device, a folder, and for a link unless `follow`.
    """
    _check(path.stat(follow_symlinks=follow), path)  # to open a device may already do something
    fd = os.open(path, _FLAGS | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    try:
        _check(os.fstat(fd), path)
    except OSError:
        os.close(fd)
        raise
    return os.fdopen(fd, "rb")


def _check(found: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
