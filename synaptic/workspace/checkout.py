"""Finds the checkout and the project in which work is done, its branch and its last commits.

Git is not run; see `journal/repository`.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

from ..config import Config
from ..files import open_regular_file, real_path
from ..journal.projects import claim_project_name, find_project_name
from ..journal.repository import Checkout, find_checkout
from ..notes.blocks import project_key
from ..notes.reading import without_surrogates

COMMITS = 5
LINE_CHARS = 200
"""A longer name of a branch, or subject of a commit, is cut here."""

LOG_BYTES = 16_384
"""The end of git's log of this checkout that is read: some eighty lines."""

_COMMIT = re.compile(r"\t(?:commit|cherry-pick|revert|am)(?: \([a-z-]+\))?: (.+)")
"""The end of a line of that log for a commit; others say what was checked out, reset, pulled or
rebased.
"""


def checkout_around(folder: Path, config: Config | None = None) -> Checkout | None:
    """The checkout around a folder. With a `config` its project is the name that this home
    gives the repository.
    """
    here = find_checkout(folder)
    if here and config:
        return here._replace(project=find_project_name(config.state, here))
    return here


ELSEWHERE = ContextVar("elsewhere", default=False)
"""True while this process works for somebody whose checkout it cannot see."""
SESSION_FOLDER: ContextVar[Path | None] = ContextVar("session_folder", default=None)
"""The folder of the session that this process works for; None where that is its own."""


def working_checkout(config: Config) -> Checkout | None:
    """The checkout that this process works in."""
    try:
        folder = SESSION_FOLDER.get() or Path.cwd()
        return None if ELSEWHERE.get() else checkout_around(folder.resolve(), config)
    except OSError:  # the working directory was deleted, or may not be looked at
        return None


def claim_checkout_name(config: Config, here: Checkout) -> tuple[Checkout, list[str]]:
    """The checkout under the name that its repository has from now on, and notices."""
    name, notice = claim_project_name(config.state, find_checkout(here.root) or here)
    return here._replace(project=name), [notice] if notice else []


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
    repository's name.
    """
    project = config.project or (here.project if here else None)
    return without_surrogates(project) if project else None


def preferred_project_key(config: Config, here: Checkout | None) -> str | None:
    """The key of the project that answers prefer; None in a repository that holds the journal,
    where all projects belong.
    """
    if here and not config.project:
        journal = real_path(config.journal)
        if journal.is_relative_to(here.root):
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
