"""Reads the project, the branch and the subjects of the last commits of a git checkout.

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
from pathlib import Path
from typing import NamedTuple

from ..config import Config
from ..errors import JournalError
from ..files import open_regular, read_regular, real_path
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


class Checkout(NamedTuple):
    """A working tree. `project` is the name of the repository's main checkout.

    `head` is the text of HEAD in the folder `git`; a worktree has such a folder of its own,
    beside the repository's `common` one.
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
        """The default branch of the remote `origin`; the usual names if that is unknown."""
        with suppress(OSError):
            ref = small_text(self.common / "refs" / "remotes" / "origin" / "HEAD")
            if ref.startswith(_REMOTE):
                return (ref.removeprefix(_REMOTE),)
        return _DEFAULT


def checkout_around(folder: Path, config: Config | None = None) -> Checkout | None:
    """The checkout around a folder. With a `config` its project is the name that this home
    gives the repository. A `.git` whose files cannot be read is passed over.
    """
    for place in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            here = _checkout_at(place) if os.path.lexists(f"{place}/.git") else None
            if here:
                return _with_own_name(config, here) if config else here
    return None


ELSEWHERE = ContextVar("elsewhere", default=False)
"""True while this process works for somebody whose checkout it cannot see."""


def working_checkout(config: Config) -> Checkout | None:
    """The checkout that this process works in."""
    try:
        return None if ELSEWHERE.get() else checkout_around(Path.cwd().resolve(), config)
    except OSError:  # the working directory was deleted, or may not be looked at
        return None


def claim_name(config: Config, here: Checkout) -> list[str]:
    """Reserves the project's name for this repository. Returns a notice if that is not the name
    of its folder.
    """
    claims = _claims(config)
    key = project_key(here.project)
    plain = checkout_around(here.root)
    own = os.path.realpath(here.common)
    if claims.get(key) == own:
        return []
    with suppress(OSError, JournalError):  # the next save tries again
        overwrite(config.state / CLAIMS, json.dumps(claims | {key: own}).encode())
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
    if not claims:
        return here
    for name in _names(here):
        key = project_key(name)
        if key not in claims or _is_of(claims[key], here):
            return here._replace(project=name)
    return here


def _is_of(holder: str, here: Checkout) -> bool:
    """True if the repository `holder` is that of the checkout or is gone, or either is a clone
    of the other or of the same remote.
    """
    if not Path(holder).is_dir():
        return True
    names = {_place(os.path.realpath(holder)), _remote(Path(holder))}
    own_names = {_place(os.path.realpath(here.common)), _remote(here.common)}
    return bool(names & own_names - {""})


def _names(here: Checkout) -> Iterator[str]:
    """Possible names of a repository: of its folder, of its remote, then ever longer ends of
    its path.
    """
    yield here.project
    remote = _remote(here.common).split("/")[1:]
    path = (here.common.parent if here.common.name == ".git" else here.root).parts[1:]
    for count in range(1, min(2, len(remote)) + 1):
        yield "/".join(remote[-count:])
    for count in range(2, len(path) + 1):
        yield "/".join(path[-count:])


def _remote(git: Path) -> str:
    """Host and path of the remote `origin`, `github.com/ada/web`; empty without one."""
    with suppress(OSError):
        origin = _ORIGIN.search(small_text(git / "config"))
        if origin:
            address = re.sub(r"^\w+://", "", origin[1].strip())
            return _place(address.rpartition("@")[2].replace(":", "/"))
    return ""


def _place(path: str) -> str:
    return path.rstrip("/").removesuffix(".git").rstrip("/").lower()


def _claims(config: Config) -> dict[str, str]:
    """The repository that has the name, by the key of the project."""
    with suppress(OSError, ValueError, AttributeError, RecursionError):
        claims = json.loads(small_text(config.state / CLAIMS) or "{}")
        return {key: place for key, place in claims.items() if isinstance(place, str)}
    return {}


def project_of(config: Config, here: Checkout | None) -> str | None:
    """The project of work in this checkout: the one that is set, else the repository's name."""
    return config.project or (here.project if here else None)


def asking_project(config: Config, here: Checkout | None) -> str | None:
    """The key of the project that answers prefer; None in a repository that holds the journal,
    where all projects belong.
    """
    if here and not config.project:
        journal = real_path(config.journal)
        if journal.is_relative_to(here.root):
            return None
    return project_key(project_of(config, here) or "") or None


def work_at_hand(folder: Path) -> str:
    """The branch and the subjects of the last commits made in the checkout around `folder`,
    newest first, a line each; without the parts that git does not tell.
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
    git = place / ".git"
    project = place.name
    main = git
    if not git.is_dir():  # a worktree or a submodule: a file says where its own folder is
        pointer = small_text(git).removeprefix("gitdir:").strip()
        if not pointer:
            return None
        main = git = real_path(place / pointer)
        common = small_text(git / "commondir")
        if common:
            main = real_path(git / common)
            named = main.parent if main.name == ".git" else main
            project = named.name.removesuffix(".git") or project
    if not project:
        return None
    return Checkout(place, project, git, main, small_text(git / "HEAD"))


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
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - LOG_BYTES))
        text = (file.read(LOG_BYTES) or b"").decode("utf-8", "replace")
        return list(dict.fromkeys(reversed(_COMMIT.findall(text))))[:COMMITS]
    return []
