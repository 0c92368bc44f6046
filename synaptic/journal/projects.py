"""Says which repository has which project's name in this home: `.state/projects`.

A project is its repository, and no other one gets its name, also after it was moved or gone.
The file is JSON, by the key of the project, each repository as a `Repository`: `{"api":
{"name": "API", "repositories": [["/src/api", "2146689-1795728339043706912", "9f86"]]}}`.
Before, it said a path, `{"api": "/src/api/.git"}`: this holds for the repository that is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import JournalError
from ..files import file_lock
from ..notes.blocks import project_key
from .disk import overwrite
from .repository import (
    Checkout,
    Repository,
    find_checkout,
    read_small_text,
    remote_names,
    repository_at_path,
    repository_folder,
    repository_of_checkout,
)

FILE = "projects"
LOCK_TIMEOUT_S = 2.0


class Project(NamedTuple):
    """A project's name, and the repositories that are it, the latest last."""

    name: str
    repositories: tuple[Repository, ...]


class Projects:
    """The projects of a home by their keys, the latest change last. `changed` are those that
    `claim` has added or changed.
    """

    def __init__(self, state: Path) -> None:
        self._by_key, self.is_old = _read_projects(state / FILE)
        self.changed: dict[str, Project] = {}

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def find(self, repository: Repository) -> Project | None:
        """The known project that this repository belongs to, or None."""
        best = 0
        result = None
        for project in self._by_key.values():
            closeness = max(_rate_identity(one, repository) for one in project.repositories)
            if closeness and closeness >= best:
                best = closeness
                result = project
        return result

    def find_at_gone_folder(self, folder: Path) -> Project | None:
        """The project of the repository that last lay in or around a folder that is gone."""
        for place in map(str, (folder, *folder.parents)):
            for project in self._by_key.values():
                if any(one.place == place and one.git for one in project.repositories):
                    return project
        return None

    def name_for(self, repository: Repository, names: Iterable[str]) -> str:
        """Returns the name of the repository's project, or the first free one of `names`."""
        project = self.find(repository)
        if project:
            return project.name
        return next(name for name in names if project_key(name) not in self._by_key)

    def claim(self, repository: Repository, names: Iterable[str]) -> str:
        """Records the repository under its name, or under the first free one of `names`;
        returns that name.
        """
        name = self.name_for(repository, names)
        key = project_key(name)
        project = self._by_key.get(key, Project(name, ()))
        if repository not in project.repositories:
            stays = [one for one in project.repositories if not _holds_all_of(one, repository)]
            self._by_key.pop(key, None)
            changed = project._replace(repositories=(*stays, repository))
            self._by_key[key] = self.changed[key] = changed
        return name

    def latest_path(self, name: str) -> str:
        """The latest place of the project that has this name."""
        project = self._by_key.get(project_key(name))
        return project.repositories[-1].place if project else "another repository"

    def to_json(self) -> str:
        """The text of the file."""
        values = {}
        for key, (name, repositories) in self._by_key.items():
            values[key] = {"name": name, "repositories": repositories}
        return json.dumps(values)


def find_project_name(state: Path, here: Checkout) -> str:
    """The name that this home gives to the repository of a checkout."""
    projects = Projects(state)
    if not projects:
        return here.project
    return projects.name_for(repository_of_checkout(here), _possible_names(here))


def claim_project_name(state: Path, here: Checkout) -> tuple[str, str]:
    """Records a name for the repository of a checkout; returns it, and a notice if it is new
    and differs from the folder's name, or if the repository has moved.
    """
    repository = repository_of_checkout(here)
    projects = Projects(state)
    project = projects.find(repository)
    if project and repository in project.repositories and not projects.is_old:
        return project.name, ""
    with _locked_projects(state) as projects:
        project = projects.find(repository)
        name = projects.claim(repository, _possible_names(here))
        if project:
            return name, _moved_notice(project, repository)
        if project_key(name) == project_key(here.project):
            return name, ""
        holder = projects.latest_path(here.project)
        return name, (
            f"The project is {name}, because {holder} is called {here.project} already; "
            "config.toml may name another."
        )


def _moved_notice(project: Project, repository: Repository) -> str:
    """Returns a sentence if a project is known from another path or clone of this repository;
    "" if it is known at this path.
    """
    places = {one.place: one.git for one in project.repositories}
    if repository.place in places:
        return ""
    for place, git in places.items():
        if git == repository.git:
            return f"The project is {project.name}: this repository was {place} before."
    other = project.repositories[-1].place
    return f"The project is {project.name}: this is another clone of the repository of {other}."


def project_of_folder(state: Path, folder: Path, planned: Projects | None = None) -> str | None:
    """Returns the name of the project of a folder, and records the folder under it; None for
    the home folder.

    A folder without a repository is a project of its own; one that is gone is that of the
    repository that last lay there. With `planned` the name is taken there, and not kept.
    """
    here = find_checkout(folder) if folder.is_absolute() else None
    if here is None and (folder == Path.home() or not (folder.is_absolute() and folder.name)):
        return None
    repository = repository_of_checkout(here) if here else Repository(os.path.realpath(folder))
    names = _possible_names(here) if here else _names_from_path(folder.name, folder)
    projects = Projects(state) if planned is None else planned
    project = projects.find(repository)
    if not (project or here or folder.exists()):
        project = projects.find_at_gone_folder(folder)
    if project:
        return project.name
    if planned is not None:
        return planned.claim(repository, names)
    with _locked_projects(state) as projects:
        return projects.claim(repository, names)


def write_projects(state: Path, taken: Collection[Project]) -> None:
    """Writes projects that were claimed on a plan in memory into the file of this home."""
    if taken:
        with _locked_projects(state) as projects:
            for name, repositories in taken:
                for repository in repositories:
                    projects.claim(repository, _numbered_names(name))


def _possible_names(here: Checkout) -> Iterator[str]:
    """Possible names of a repository: of its folder, of its remote, then ever longer ends of
    its path.
    """
    yield here.project
    yield from remote_names(here)
    is_main = here.common.name == ".git"
    yield from _names_from_path(here.project, here.common.parent if is_main else here.root)


def _names_from_path(name: str, path: Path) -> Iterator[str]:
    """`api`, `client/api`, `src/client/api`, and so on, then `api-2`, `api-3`, without end."""
    yield name
    parts = path.parts[1:]
    for length in range(2, len(parts) + 1):
        yield "/".join(parts[-length:])
    yield from _numbered_names(name)


def _numbered_names(name: str) -> Iterator[str]:
    yield name
    for number in count(2):
        yield f"{name}-{number}"


def _rate_identity(one: Repository, other: Repository) -> int:
    """How sure it is that two records mean one repository: 3 for the same folder with the same
    remote, 2 for clones, 1 for the same folder with another remote or the same path, 0 if they
    are different repositories.
    """
    is_same = one.git != "" and one.git == other.git
    if is_same and one.remote in ("", other.remote):
        return 3
    if other.remote and other.remote in (one.remote, one.git):
        return 2
    if one.remote and one.remote == other.git:
        return 2
    is_bare_path = not one.git and one.place == other.place
    return 1 if is_same or is_bare_path else 0


def _holds_all_of(old: Repository, new: Repository) -> bool:
    """True if the repository `new` has every property that is known of `old`."""
    if old.git and old.git == new.git:
        return True
    if old.place == new.place:
        return not old.git or old.remote == new.remote
    is_clone = old.remote != "" and old.remote == new.remote
    return is_clone and not Path(old.place).exists()


@contextmanager
def _locked_projects(state: Path) -> Iterator[Projects]:
    """Yields the projects of the home under a lock, and writes the changed ones at the end of
    the block. Where the disk refuses, the next save tries again.
    """
    lock = None
    with suppress(OSError, JournalError):  # filelock.Timeout is an OSError, too
        lock = file_lock(state / f"{FILE}.lock", LOCK_TIMEOUT_S)
        lock.acquire()
    try:
        projects = Projects(state)
        yield projects
        may_write = lock is not None and lock.is_locked
        if may_write and (projects.changed or projects.is_old):
            with suppress(OSError, JournalError):
                overwrite(state / FILE, projects.to_json().encode())
    finally:
        if lock:
            lock.release()


def _read_projects(file: Path) -> tuple[dict[str, Project], bool]:
    """Returns (the projects by their keys, True if the file has the form of an older version,
    with paths).
    """
    values = {}
    with suppress(OSError, ValueError, RecursionError):
        values = json.loads(read_small_text(file) or "{}")
    projects = {}
    is_old = False
    for key, value in values.items() if isinstance(values, dict) else ():
        if isinstance(value, str):
            is_old = True
            projects[key] = _project_from_old_path(key, value)
        else:
            with suppress(TypeError, KeyError, ValueError):
                projects[key] = _project_from_json(value)
    return projects, is_old


def _project_from_old_path(key: str, git: str) -> Project:
    """Converts a project as an older version stored it; `key` is its name, `git` the path of
    its git folder.
    """
    repository = repository_at_path(repository_folder(git))
    name = Path(repository.place).name.removesuffix(".git")
    return Project(name if project_key(name) == key else key, (repository,))


def _project_from_json(value: Any) -> Project:
    """Raises TypeError, KeyError or ValueError if this is not a project."""
    repositories = [Repository(*map(str, parts)) for parts in value["repositories"]]
    if not repositories:
        raise ValueError
    return Project(str(value["name"]), tuple(repositories))
