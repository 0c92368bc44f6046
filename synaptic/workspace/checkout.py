"""Finds the checkout and the project in which work is done, its branch and its last commits."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..config import Config
from ..files import open_regular_file, real_path
from ..filters import Scope
from ..journal.projects import (
    UNKNOWN,
    NamesInJournal,
    Projects,
    claim_project_name,
    name_checkout,
)
from ..journal.repository import Checkout, find_checkout
from ..models import Entry
from ..notes.blocks import project_key
from ..notes.reading import without_surrogates

if TYPE_CHECKING:
    from .workspace import Workspace

COMMITS = 5
LINE_CHARS = 200
"""A longer name of a branch, or subject of a commit, is cut here."""

LOG_BYTES = 16_384
"""The end of git's log of this checkout that is read: some eighty lines."""

_COMMIT = re.compile(r"\t(?:commit|cherry-pick|revert|am)(?: \([a-z-]+\))?: (.+)")
"""The end of a line of that log for a commit; others say what was checked out, reset, pulled or
rebased.
"""


def checkout_around(
    folder: Path, config: Config | None = None, journal: NamesInJournal = UNKNOWN
) -> Checkout | None:
    """The checkout around a folder. With a `config` its project is the name that this home
    gives the repository; `journal` says which names its entries bear.
    """
    here = find_checkout(folder)
    return name_checkout(config.state, here, journal) if here and config else here


def names_in_step(ws: Workspace) -> NamesInJournal:
    """The names of projects that entries bear, of an index in step with the journal."""

    def ask(question: Callable[[Any], list[Any]], value: Any) -> list[Any]:
        from .sync import in_step  # only a repository without a name asks

        return in_step(ws, lambda _: question(value))

    return NamesInJournal.of_index(ws.index, ask)


ELSEWHERE = ContextVar("elsewhere", default=False)
"""True while this process works for somebody whose checkout it cannot see."""
SESSION_FOLDER: ContextVar[Path | None] = ContextVar("session_folder", default=None)
"""The folder of the session that this process works for; None where that is its own."""


def working_checkout(ws: Workspace) -> Checkout | None:
    """The checkout that this process works in."""
    try:
        folder = SESSION_FOLDER.get() or Path.cwd()
        if ELSEWHERE.get():
            return None
        names = UNKNOWN if ws.access.is_published else NamesInJournal.of_index(ws.index)
        return checkout_around(folder.resolve(), ws.config, names)
    except OSError:  # the working directory was deleted, or may not be looked at
        return None


def claim_checkout_name(ws: Workspace, here: Checkout) -> tuple[Checkout, list[str]]:
    """The checkout under the name that its repository has from now on, and notices."""
    plain = find_checkout(here.root) or here
    journal = names_in_step(ws)
    named, notice = claim_project_name(ws.config.state, plain, journal)
    return named, [notice] if notice else []


def marks_of_project(
    config: Config, project: str | None, here: Checkout | None
) -> tuple[str | None, str | None]:
    """The (remote, root) that an entry of a project carries: of the checkout's repository, if
    the project is its own, else of the one that has this name on this machine.
    """
    if not project:
        return None, None
    if here and project_key(project) == here.scope.key:
        return here.repository.marks
    return Projects(config.state).marks(project)


def resolve_project_name(project: str | None, here: Checkout | None) -> str | None:
    """The project that an agent means by a name. That of the folder in which it works is the
    name of its own project, also where another repository has this name in the home.
    """
    plain = find_checkout(here.root) if here and project else None
    if here and plain and project_key(project or "") == project_key(plain.project):
        return here.project
    return project


def working_project(config: Config, here: Checkout | None) -> str | None:
    """Returns the name of the project of this checkout: the configured one, else the
    repository's name. None without a project.
    """
    project = config.project or (here.project if here else "")
    return without_surrogates(project) if project else None


def working_scope(config: Config, here: Checkout | None, project: str | None = None) -> Scope:
    """What proves that an entry belongs to the project of this checkout, or to the named one:
    a name that somebody gave, here or in the settings, stands for every entry that bears it.
    """
    named = project or config.project
    if not named:
        return here.scope if here else Scope()
    key = project_key(named)
    if here and key == here.scope.key:
        return here.scope
    return Scope(key, by_name=True)


def project_marks(entry: Entry) -> tuple[str, str | None, str | None]:
    """The marks of an entry by which a `Scope` decides."""
    return project_key(entry.project or ""), entry.remote, entry.root


def holds_journal(config: Config, here: Checkout | None) -> bool:
    """True if the repository holds the journal, where all projects belong."""
    if here is None or config.project:
        return False
    return real_path(config.journal).is_relative_to(here.root)


def preferred_project_key(config: Config, here: Checkout | None) -> str | None:
    """The key of the project that answers prefer; None in a repository that holds the journal,
    where all projects belong.
    """
    if holds_journal(config, here):
        return None
    return project_key(working_project(config, here) or "") or None


def describe_recent_work(folder: Path) -> str:
    """The branch and the subjects of the last commits made in the checkout around `folder`,
    newest first, a line each; without the parts that git does not tell.
    """
    here = checkout_around(folder)
    if here is None:
        return ""
    lines = [here.branch, *_last_commit_subjects(here.git / "logs" / "HEAD")]
    return "\n".join(line[:LINE_CHARS] for line in lines if line)


def _last_commit_subjects(log: Path) -> list[str]:
    """The subjects of the last commits that this log of HEAD knows, newest first."""
    with suppress(OSError), open_regular_file(log) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - LOG_BYTES))
        text = (file.read(LOG_BYTES) or b"").decode("utf-8", "replace")
        return list(dict.fromkeys(reversed(_COMMIT.findall(text))))[:COMMITS]
    return []
