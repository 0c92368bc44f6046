"""What a git checkout says of the work at hand: its project, the branch, the subjects of the
last commits made in it.

Git is not run. A repository's settings name programs, and more of them with each version of
git; small files of `.git` are read in its place, and nothing that stands in them decides over
more than words.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path

from ..config import Config
from ..errors import JournalError
from ..files import open_regular, read_regular
from ..journal.disk import overwrite
from ..notes.blocks import project_key

COMMITS = 5
LINE_CHARS = 200
"""A longer name of a branch, or subject of a commit, is cut here."""

LOG_BYTES = 16_384
"""The end of git's log of this checkout that is read: some eighty lines."""

SMALL_BYTES = 1_000_000
"""No file that says where a repository is, or which branch is checked out, is nearly as large.
"""

_BRANCH = "ref: refs/heads/"
_REMOTE = "ref: refs/remotes/origin/"
_DEFAULT = ("main", "master", "trunk", "develop")
_COMMIT = re.compile(r"\t(?:commit|cherry-pick|revert|am)(?: \([a-z-]+\))?: (.+)")
"""The end of a line of that log for a commit; others say what was checked out, reset, pulled or
rebased.
"""


_ORIGIN = re.compile(
    r'^[ \t]*\[remote "origin"\](?:\n(?![ \t]*\[).*)*?\n[ \t]*url[ \t]*=(.*)', re.MULTILINE
)
CLAIMS = "projects"
"""The file in the state folder that says which repository has a project's name."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree. `project` is the repository's name: of its main checkout, where this is a
    worktree.

    `head` is what its HEAD says, and `git` the folder where that stands: a worktree has one of
    its own, beside the repository's `common` one.
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
        """The name of the default branch, as the remote `origin` has it; the usual names where
        that is unknown.
        """
        with suppress(OSError):
            if (
                said := small_text(self.common / "refs" / "remotes" / "origin" / "HEAD")
            ).startswith(_REMOTE):
                return (said.removeprefix(_REMOTE),)
        return _DEFAULT


def checkout_around(folder: Path, config: Config | None = None) -> Checkout | None:
    """The checkout that a folder lies in; with a `config` under the project that is its own in
    this home.

    A `.git` whose files cannot be read is passed over.
    """
    for place in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            if os.path.lexists(f"{place}/.git") and (found := _checkout_at(place)):
                return _with_own_name(config, found) if config else found
    return None


ELSEWHERE = ContextVar("elsewhere", default=False)
"""Whether this process works for somebody whose checkout it cannot see."""


def working_checkout(config: Config) -> Checkout | None:
    """The checkout that this process works in."""
    try:
        return None if ELSEWHERE.get() else checkout_around(Path.cwd().resolve(), config)
    except OSError:  # the working directory was deleted, or may not be looked at
        return None


def claim_name(config: Config, here: Checkout) -> list[str]:
    """Notes that this repository saves under its project's name, which no other one gets from
    now on.

    A notice, when it gets another name than its folder's.
    """
    claims, key, plain = _claims(config), project_key(here.project), checkout_around(here.root)
    if key in claims and _is_of(claims[key], here, moved=False):
        return []
    with suppress(OSError, JournalError):  # the next save tries again
        overwrite(
            config.state / CLAIMS,
            json.dumps(claims | {key: os.path.realpath(here.common)}).encode(),
        )
    if plain is None or plain.project == here.project:
        return []
    holder = claims.get(project_key(plain.project), "another repository")
    return [
        f"The project is {here.project}, as {holder} is {plain.project} already; "
        f"config.toml may name another."
    ]


def _with_own_name(config: Config, here: Checkout) -> Checkout:
    """The checkout under the first of its names that no other repository has claimed."""
    claims = _claims(config)
    for name in _names(here) if claims else ():
        if (key := project_key(name)) not in claims or _is_of(claims[key], here):
            return replace(here, project=name)
    return here


def _is_of(holder: str, here: Checkout, *, moved: bool = True) -> bool:
    """Whether this repository is that of the checkout, or one a clone of the other, or both
    clones of one remote; with
    `moved` also where it is gone."""
    if not Path(holder).is_dir():
        return moved
    one, other = (
        {_place(os.path.realpath(git)), _remote(git)} for git in (Path(holder), here.common)
    )
    return bool(one & other - {""})


def _names(here: Checkout) -> Iterator[str]:
    """The names that a repository may go by: its folder's, its remote's, then ends of its path,
    ever longer.
    """
    yield here.project
    remote = _remote(here.common).split("/")[1:]
    path = (here.common.parent if here.common.name == ".git" else here.root).parts[1:]
    if remote:
        yield from (remote[-1], "/".join(remote[-2:]))
    for count in range(2, len(path) + 1):
        yield "/".join(path[-count:])


def _remote(git: Path) -> str:
    """Host and path of the remote `origin`, `github.com/ada/web`; empty without one."""
    with suppress(OSError):
        if found := _ORIGIN.search(small_text(git / "config")):
            return _place(
                re.sub(r"^\w+://", "", found[1].strip()).rpartition("@")[2].replace(":", "/")
            )
    return ""


def _place(path: str) -> str:
    return path.rstrip("/").removesuffix(".git").rstrip("/").lower()


def _claims(config: Config) -> dict[str, str]:
    """By the key of a project the repository that has its name."""
    with suppress(OSError, ValueError, AttributeError, RecursionError):
        said = json.loads(small_text(config.state / CLAIMS) or "{}")
        return {key: place for key, place in said.items() if isinstance(place, str)}
    return {}


def project_of(config: Config, here: Checkout | None) -> str | None:
    """The project of work in this checkout: the one that is set, else the repository's name."""
    return config.project or (here.project if here else None)


def asking_project(config: Config, here: Checkout | None) -> str | None:
    """The key of the project that answers prefer: that of work in this checkout.

    None in a repository that holds the journal: all of it belongs there.
    """
    if (
        here
        and not config.project
        and Path(os.path.realpath(config.journal)).is_relative_to(here.root)
    ):
        return None
    return project_key(project_of(config, here) or "") or None


def work_at_hand(folder: Path) -> str:
    """The branch and the subjects of the last commits made in the checkout around `folder`,
    newest first, a line each.

    What is unknown is absent: the branch where a commit is checked out, commits where git keeps
    no log of HEAD.
    """
    here = checkout_around(folder)
    if here is None:
        return ""
    lines = [here.branch, *_subjects(here.git / "logs" / "HEAD")]
    return "\n".join(line[:LINE_CHARS] for line in lines if line)


def _checkout_at(place: Path) -> Checkout | None:
    """The checkout whose root is `place`. Raises OSError or ValueError where its files cannot
    be read.
    """
    git, project = place / ".git", place.name
    main = git
    if not git.is_dir():  # a worktree or a submodule: a file says where its own folder is
        pointer = small_text(git).removeprefix("gitdir:").strip()
        if not pointer:
            return None
        main = git = Path(
            os.path.realpath(place / pointer)
        )  # which, unlike resolve(), takes a loop of links
        if common := small_text(git / "commondir"):
            main = Path(os.path.realpath(git / common))
            project = (main.parent if main.name == ".git" else main).name.removesuffix(
                ".git"
            ) or project
    return Checkout(place, project, git, main, small_text(git / "HEAD")) if project else None


def small_text(path: Path) -> str:
    """The text of a regular file; empty where there is none. Raises OSError for a file above
    `SMALL_BYTES`.
    """
    try:
        return os.fsdecode(read_regular(path, SMALL_BYTES)).strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _subjects(log: Path) -> list[str]:
    """The subjects of the last commits that this log of HEAD knows, newest first."""
    with suppress(OSError), open_regular(log) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_BYTES))
        found = _COMMIT.findall((file.read(LOG_BYTES) or b"").decode("utf-8", "replace"))
        return list(dict.fromkeys(reversed(found)))[:COMMITS]
    return []
