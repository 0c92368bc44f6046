"""Says which repository has which project's name in this home: `.state/projects`.

A project is its repository, and no other one gets its name, also after it was moved or gone.
The file is JSON, by the key of the project, each repository as a `Repository`: `{"api":
{"name": "API", "repositories": [["/src/api", "2146689-17957283390437", "9f86", "1c0d"]]}}`.
Before, a repository had no root, and before that it was a path, `{"api": "/src/api/.git"}`:
this holds for the repository that is there. The key "" has the roots of repositories without a
project.

Each change is written into a second copy first. With both copies damaged no repository gets a
name by its folder, because that may be another's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..errors import JournalError, SynapticError
from ..files import file_lock
from ..filters import Scope
from ..notes.blocks import project_key
from .disk import overwrite
from .repository import (
    NO_ROOT,
    Checkout,
    Repository,
    find_checkout,
    head_version,
    read_root,
    read_small_text,
    remote_names,
    repository_at_path,
    repository_folder,
    repository_of_checkout,
)

FILE = "projects"
COPY = "projects.copy"
LOCK_TIMEOUT_S = 2.0
MOST_ROOTS = 200
"""Roots that are kept of repositories without a project; the oldest go."""


class Project(NamedTuple):
    """A project's name, and the repositories that are it, the latest last."""

    name: str
    repositories: tuple[Repository, ...]


class KnownRoot(NamedTuple):
    """The root of a repository with this address, as it was in this version of its HEAD.
    `settled` is a word where no question about its project is open.
    """

    remote: str
    version: str
    root: str
    settled: str = ""


Ask = Callable[[Callable[[Any], list[Any]], Any], list[Any]]
"""Asks a question to an index about one value."""


def _ask_as_it_is(question: Callable[[Any], list[Any]], value: Any) -> list[Any]:
    # no entry bears a name that is not UTF-8
    with suppress(SynapticError, UnicodeError):
        return question(value)
    return []


class IndexOfNames(Protocol):
    """The questions to an index that `NamesInJournal` asks."""

    def project_names(self, scope: Scope) -> list[str]:
        """The names of projects that the entries of a scope bear, the most frequent first."""

    def project_marks(self, key: str) -> list[tuple[str | None, str | None]]:
        """The (remote, root) that the entries of the project with this key carry."""

    def names_of_remote(self, remote: str) -> list[str]:
        """The names of projects that the entries with this remote bear."""


class NamesInJournal(NamedTuple):
    """The names of projects in the journal, by the repositories that its entries carry.

    `of_scope`: the names of the entries of a scope, the most frequent first. `marks_of`: the
    (remote, root) of the entries of the project with this key. `of_remote`: the names of the
    entries with this remote.
    """

    of_scope: Callable[[Scope], Iterable[str]] = lambda scope: ()
    marks_of: Callable[[str], Iterable[tuple[str | None, str | None]]] = lambda key: ()
    of_remote: Callable[[str], Iterable[str]] = lambda remote: ()

    @classmethod
    def of_index(cls, index: IndexOfNames, ask: Ask = _ask_as_it_is) -> NamesInJournal:
        """The names in an index as it is, and of one that cannot be read none, unless `ask`
        asks it in another way.
        """
        questions = index.project_names, index.project_marks, index.names_of_remote
        return cls(*(partial(ask, question) for question in questions))


UNKNOWN = NamesInJournal()
"""For callers that have no index."""


class Projects:
    """The projects of a home by their keys, the latest change last. `changed` are those that
    `claim` has added or changed. `is_damaged`: neither copy of the file can be read.
    """

    def __init__(self, state: Path) -> None:
        self._by_key, self._roots, self.is_old, self.is_damaged = _read_projects(state)
        self.changed: dict[str, Project] = {}
        self.new_roots: dict[str, KnownRoot] = {}

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def identify(self, here: Checkout) -> Repository:
        """The repository of a checkout with its root, for which git is asked once."""
        repository = repository_of_checkout(here)
        for project in self._by_key.values():
            for one in project.repositories:
                is_same = one.git == repository.git and one.address == repository.address
                if one.git and is_same and one.known_root:
                    return repository._replace(root=one.root)
        before = self._roots.get(repository.git)
        version = head_version(here)
        if before and before.remote != repository.remote:
            before = None
        if before and (before.version == version or before.root.strip(NO_ROOT)):
            return repository._replace(root=before.root)
        settled = before.settled if before else ""
        root = KnownRoot(repository.remote, version, read_root(here), settled)
        self.add_roots({repository.git: root})
        return repository._replace(root=root.root)

    def add_roots(self, roots: dict[str, KnownRoot]) -> None:
        """Keeps these roots, by the identities of their git folders."""
        for git, root in roots.items():
            self._roots.pop(git, None)
            self._roots[git] = self.new_roots[git] = root

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
        for path in map(str, (folder, *folder.parents)):
            for project in self._by_key.values():
                if any(one.path == path and one.git for one in project.repositories):
                    return project
        return None

    def scope(self, name: str, repository: Repository) -> Scope:
        """The scope of the project `name` of a repository."""
        own = self.find(repository)
        repositories = [repository, *(own.repositories if own else ())]
        remotes = {one.address for one in repositories if one.is_public and one.root != NO_ROOT}
        local = {one.address for one in repositories} if own else set()
        others: set[str] = set()
        for project in self._by_key.values():
            if project is not own:
                others.update(one.address for one in project.repositories if one.is_public)
        return Scope(
            project_key(os.fsencode(name).decode("utf-8", "replace")),
            roots=frozenset({one.known_root for one in repositories} - {""}),
            remotes=frozenset(remotes),
            local=frozenset(local - {""}),
            others=frozenset(others - remotes - local),
        )

    def marks(self, name: str) -> tuple[str | None, str | None]:
        """(remote, root) that an entry of this project carries."""
        project = self._by_key.get(project_key(name))
        for one in reversed(project.repositories) if project else ():
            if any(one.marks):
                return one.marks
        return None, None

    def name_for(
        self, repository: Repository, names: Iterable[str], journal: NamesInJournal = UNKNOWN
    ) -> str:
        """The name of the repository's project; else the free name under which the journal has
        its entries, or the first of `names` that is no other's. "" if the file of the projects
        is damaged, and nothing proves a name.
        """
        project = self.find(repository)
        if project:
            return project.name
        proof = self.scope("", repository)
        for name in journal.of_scope(proof):
            if project_key(name) not in self._by_key:
                return name
        if self.is_damaged:
            return ""
        return next(name for name in names if self._is_free(name, proof, journal))

    def _is_free(self, name: str, proof: Scope, journal: NamesInJournal) -> bool:
        key = project_key(name)
        if key in self._by_key:
            return False
        return all(proof.covers(key, *marks) for marks in journal.marks_of(key))

    def find_unproven(self, repository: Repository, journal: NamesInJournal) -> str:
        """The name of another project that this repository may be, by its folder or its
        address, without a proof; "" if there is none, or if a person has settled it.
        """
        root = self._roots.get(repository.git)
        if root and root.settled and root.remote == repository.remote:
            return ""
        own = self.find(repository)
        for project in self._by_key.values():
            for one in project.repositories if project is not own else ():
                is_there = one.git != "" and one.git == repository.git
                if is_there or (one.address and one.address == repository.address):
                    return project.name
        proof = self.scope(own.name if own else "", repository)
        if not repository.address or (own is None and any(journal.of_scope(proof))):
            return ""
        names = journal.of_remote(repository.address)
        return next((name for name in names if project_key(name) != proof.key), "")

    def settle(self, repository: Repository) -> None:
        """Notes that no question about the project of a repository is open."""
        before = self._roots.get(repository.git, KnownRoot("", "", ""))
        root = before._replace(remote=repository.remote, root=repository.root, settled="yes")
        self.add_roots({repository.git: root})

    def forget(self, repository: Repository) -> None:
        """Takes a repository out of the project to which it was given."""
        for key, project in list(self._by_key.items()):
            stays = [one for one in project.repositories if one.git != repository.git]
            if not stays:
                del self._by_key[key]
            elif len(stays) < len(project.repositories):
                self._by_key[key] = project._replace(repositories=tuple(stays))

    def claim(
        self, repository: Repository, names: Iterable[str], journal: NamesInJournal = UNKNOWN
    ) -> str:
        """Records the repository under its name, or under the first free one of `names`;
        returns that name.
        """
        name = self.name_for(repository, names, journal)
        if name:
            self.record(name, repository)
        return name

    def record(self, name: str, repository: Repository) -> None:
        """Records that a repository is the project of this name."""
        key = project_key(name)
        project = self._by_key.get(key, Project(name, ()))
        if repository not in project.repositories:
            stays = [one for one in project.repositories if not _holds_all_of(one, repository)]
            self._by_key.pop(key, None)
            changed = project._replace(repositories=(*stays, repository))
            self._by_key[key] = self.changed[key] = changed

    def latest_path(self, name: str) -> str:
        """The latest path of the project that has this name."""
        project = self._by_key.get(project_key(name))
        paths = [one.path for one in project.repositories if one.path] if project else []
        return paths[-1] if paths else "another repository"

    def to_json(self) -> str:
        """The text of the file."""
        values: dict[str, Any] = {}
        for key, (name, repositories) in self._by_key.items():
            values[key] = {"name": name, "repositories": repositories}
        if self._roots:
            values[""] = dict(list(self._roots.items())[-MOST_ROOTS:])
        return json.dumps(values)


def name_checkout(state: Path, here: Checkout, journal: NamesInJournal = UNKNOWN) -> Checkout:
    """The checkout under the name that this home gives to its repository."""
    projects = Projects(state)
    repository = projects.identify(here)
    if projects.new_roots and not projects.is_old:
        with locked_projects(state, timeout_s=0) as latest:
            latest.add_roots(projects.new_roots)
    name = projects.name_for(repository, _possible_names(here), journal)
    scope = projects.scope(name, repository)
    return here._replace(project=name, repository=repository, scope=scope)


def claim_project_name(
    state: Path, here: Checkout, journal: NamesInJournal = UNKNOWN
) -> tuple[Checkout, str]:
    """Records a name for the repository of a checkout; returns the checkout under it, and a
    notice if the name is new and differs from the folder's name, or if the repository has
    moved.
    """
    projects = Projects(state)
    repository = projects.identify(here)
    project = projects.find(repository)
    notice = ""
    if not project or repository not in project.repositories or projects.is_old:
        with locked_projects(state) as projects:
            project = projects.find(repository)
            if not project and not projects.find_unproven(repository, journal):
                projects.settle(repository)
            name = projects.claim(repository, _possible_names(here), journal)
            if project:
                notice = _moved_notice(project, repository)
            elif not name:
                notice = DAMAGED
            elif project_key(name) != project_key(here.project):
                notice = (
                    f"The project is {name}, because {projects.latest_path(here.project)} is "
                    f"called {here.project} already; config.toml may name another."
                )
    else:
        name = project.name
    scope = projects.scope(name, repository)
    return here._replace(project=name, repository=repository, scope=scope), notice


DAMAGED = (
    "It has no project: .state/projects is damaged, so no repository gets the name of its "
    "folder. `synaptic doctor` names the cure."
)


def _moved_notice(project: Project, repository: Repository) -> str:
    """Returns a sentence if a project is known from another path or clone of this repository;
    "" if it is known at this path.
    """
    git_by_path = {one.path: one.git for one in project.repositories if one.path}
    if repository.path in git_by_path or not git_by_path:
        return ""
    for path, git in git_by_path.items():
        if git == repository.git:
            return f"The project is {project.name}: this repository was {path} before."
    other = list(git_by_path)[-1]
    return f"The project is {project.name}: this is another clone of the repository of {other}."


def project_of_folder(
    state: Path,
    folder: Path,
    planned: Projects | None = None,
    journal: NamesInJournal = UNKNOWN,
) -> str | None:
    """Returns the name of the project of a folder, and records the folder under it; None for
    the home folder.

    A folder without a repository is a project of its own; one that is gone is that of the
    repository that last lay there. With `planned` the name is taken there, and not kept.
    """
    here = find_checkout(folder) if folder.is_absolute() else None
    if here is None and (folder == Path.home() or not (folder.is_absolute() and folder.name)):
        return None
    projects = Projects(state) if planned is None else planned
    repository = projects.identify(here) if here else Repository(os.path.realpath(folder))
    names = _possible_names(here) if here else _names_from_path(folder.name, folder)
    project = projects.find(repository)
    if not (project or here or folder.exists()):
        project = projects.find_at_gone_folder(folder)
    if project:
        return project.name
    if planned is not None:
        return planned.claim(repository, names, journal) or None
    with locked_projects(state) as projects:
        return projects.claim(repository, names, journal) or None


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
    yield from numbered_names(name)


def numbered_names(name: str) -> Iterator[str]:
    """`api`, `api-2`, `api-3`, without end."""
    yield name
    for number in count(2):
        yield f"{name}-{number}"


def _rate_identity(one: Repository, other: Repository) -> int:
    """How sure it is that two records mean one repository, of which the second is there: 3 for
    the same folder, 2 for clones, 1 for the same path without a repository before, 0 without a
    proof.

    Two clones have one root; without a root to compare, one address that means the same on
    every machine. A folder that got another address needs the root.
    """
    has_both_roots = one.known_root != "" and other.known_root != ""
    if has_both_roots and one.root != other.root:
        return 0
    has_moved = one.address != "" and other.address not in ("", one.address)
    if one.git and one.git == other.git:
        return 3 if has_both_roots or not has_moved else 0
    if has_both_roots:
        is_fork = has_moved and one.is_public and other.is_public and _is_alive(one)
        return 0 if is_fork else 2
    is_one_address = one.address != "" and one.address == other.address
    are_both_public = one.is_public and other.is_public
    has_no_commit = NO_ROOT in (one.root, other.root) and one.root != other.root
    if is_one_address and are_both_public and not has_no_commit:
        return 2
    return 1 if not one.git and one.path and one.path == other.path else 0


def _is_alive(former: Repository) -> bool:
    """True if a repository still lies at its place, with its address."""
    now = repository_at_path(former.path) if former.path else Repository("")
    return now.git == former.git and now.address == former.address


def _holds_all_of(former: Repository, present: Repository) -> bool:
    """True if the repository `present` has every property that is known of `former`."""
    if former.git and former.git == present.git:
        return True
    if not former.path:
        return False
    if former.path == present.path:
        return not former.git or former.address == present.address
    is_clone = former.address != "" and former.address == present.address
    return is_clone and not Path(former.path).exists()


@contextmanager
def locked_projects(state: Path, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[Projects]:
    """Yields the projects of the home under a lock, and writes the changed ones at the end of
    the block, unless both copies of the file are damaged. Where the disk refuses, the next save
    tries again.
    """
    lock = None
    with suppress(OSError, JournalError):  # filelock.Timeout is an OSError, too
        lock = file_lock(state / f"{FILE}.lock", timeout_s)
        lock.acquire()
    try:
        projects = Projects(state)
        yield projects
        may_write = lock is not None and lock.is_locked and not projects.is_damaged
        if may_write and (projects.changed or projects.new_roots or projects.is_old):
            with suppress(OSError, JournalError):
                data = projects.to_json().encode()
                overwrite(state / COPY, data)
                overwrite(state / FILE, data)
    finally:
        if lock:
            lock.release()


def _read_projects(state: Path) -> tuple[dict[str, Project], dict[str, KnownRoot], bool, bool]:
    """Returns (the projects by their keys, the roots of others by git folder, True if the file
    has a form of an older version or a damage that its copy mends, True if both copies are
    damaged).
    """
    values = parse_projects_file(state / FILE)
    is_mended = False
    if values is None:
        values = parse_projects_file(state / COPY)
        is_mended = values is not None
    if values is None:
        is_there = any(os.path.lexists(state / name) for name in (FILE, COPY))
        return {}, {}, False, is_there
    projects = {}
    roots = {git: KnownRoot(*map(str, root)) for git, root in values.pop("", {}).items()}
    is_old = is_mended
    for key, value in values.items():
        if isinstance(value, str):
            is_old = True
            projects[key] = _project_from_old_path(key, value)
        else:
            projects[key] = _project_from_json(value)
    return projects, roots, is_old, False


def parse_projects_file(file: Path) -> dict[str, Any] | None:
    """The JSON of a copy of the file; None if it is missing, or if a part of it is damaged."""
    try:
        values = json.loads(read_small_text(file))
        for root in values.get("", {}).values():
            KnownRoot(*map(str, root))
        for key, value in values.items():
            if key and not isinstance(value, str):
                _project_from_json(value)
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError):
        return None
    return values if isinstance(values, dict) else None


def _project_from_old_path(key: str, git: str) -> Project:
    """Converts a project as an older version stored it; `key` is its name, `git` the path of
    its git folder.
    """
    repository = repository_at_path(repository_folder(git))
    name = Path(repository.path).name.removesuffix(".git")
    return Project(name if project_key(name) == key else key, (repository,))


def _project_from_json(value: Any) -> Project:
    """Raises TypeError, KeyError or ValueError if this is not a project."""
    repositories = [Repository.from_texts(*map(str, parts)) for parts in value["repositories"]]
    if not repositories:
        raise ValueError
    return Project(str(value["name"]), tuple(repositories))
