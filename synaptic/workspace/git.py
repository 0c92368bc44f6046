"""Runs git without running what a repository names, and asks it on which days the notes of the
journal were added.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path

from ..errors import JournalError
from ..files import real_path
from ..journal.folder import is_note
from ..journal.repository import Checkout, find_checkout, read_small_text
from ..notes.dates import owner_time

TIMEOUT_S = 60
LOG_TIMEOUT_S = 3
"""The time limit of git's log. Beyond it git dates no note until HEAD moves."""

IMPORTED = 20
"""A commit that adds more notes is an import: it does not say when they were written."""

_LEADS = re.compile(r"GIT_(?!SSL_)")  # a user may name an authority for https so
_REMOTE = re.compile(r"^(?:heads|remotes/[^/]+)/")
_MERGE = re.compile(
    r"^Merge (?:remote-tracking )?branch '(?:origin/)?([^']+)'|^Merge pull request \S+ "
    r"from [^/\s]+/(\S+)"
    r"|\tmerge (?:origin/)?(\S+): "
)
"""Subjects that git, GitHub and GitLab give to a merge, and lines about a merge in the log of a
branch.
"""

_HARMLESS = {
    # the guarantee: no setting of a repository widens it, so nothing is fetched
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "protocol.allow=never",
    "log.showRoot=true",
)
_REMOTE_ALLOWED = {
    "GIT_ALLOW_PROTOCOL": "file:ssh:https",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "LC_ALL": "C",
}
_REMOTE_SETTINGS = (
    "gc.auto=0",  # the objects belong to another repository: nothing here may remove any
    "maintenance.auto=false",
    "push.gpgSign=false",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=20",
)
_LOG = (
    "log",
    "--no-merges",
    "--no-show-signature",
    "--no-mailmap",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    f"-O{os.devnull}",
    "--diff-filter=A",
    "--name-only",
    "--relative",
    "-z",
    "--format=%x00%aI",
    "HEAD",
    "--",
    ".",
)


def run_git(
    folder: Path,
    *args: str,
    timeout_s: float = TIMEOUT_S,
    stdin: bytes = b"",
    objects: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Runs git in `folder` and returns its exit status and output. Synaptic calls git only
    through this function.

    Git runs no program that the repository configures, and opens only repositories that
    `safe.directory` allows. `stdin` is its standard input. With `objects`, the place of what
    git fetches, `folder` is a bare repository of Synaptic's own, and other repositories are
    reached by file, ssh and https, with the user's settings and without any question. Raises
    JournalError if git is missing or does not end.
    """
    # Git sets such variables for the programs it starts; they would lead another git to that
    # repository.
    environ = {name: value for name, value in os.environ.items() if not _LEADS.match(name)}
    environ |= _HARMLESS
    settings: tuple[str, ...] = _SETTINGS
    if objects:
        settings += _REMOTE_SETTINGS
        environ |= _REMOTE_ALLOWED
        environ |= {"GIT_DIR": str(folder), "GIT_OBJECT_DIRECTORY": str(objects)}
        environ["GIT_SSH_COMMAND"] = _ssh_command(folder)
    command = ["git", "--no-pager"]
    for setting in settings:
        command += ["-c", setting]
    command += ["-C", str(folder), *args]
    try:
        return subprocess.run(
            command,
            env=environ,
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            start_new_session=objects is not None,  # ssh finds no terminal to ask on
        )
    except subprocess.TimeoutExpired as error:
        raise JournalError(
            f"git {args[0]} did not end within {timeout_s} s.", "Try again."
        ) from error
    except OSError as error:
        raise JournalError(
            "git is not installed.", hint="Install it, then run this again."
        ) from error


@lru_cache(1)
def _ssh_command(folder: Path) -> str:
    """The ssh command that the user configured for git, with options that forbid questions."""
    setting = run_git(folder, "config", "--global", "--get", "core.sshCommand").stdout
    command = os.environ.get("GIT_SSH_COMMAND") or os.fsdecode(setting).strip() or "ssh"
    if Path(shlex.split(command)[0]).stem == "ssh":
        command += " -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15"
    return command


def head_state(folder: Path) -> str:
    """A text that changes when another commit is checked out around `folder`; "" without a
    whole history. Git is not run.
    """
    here = find_checkout(real_path(folder))
    if here is None or _file_version(here.common / "shallow"):
        return ""
    ref = here.common / here.head.removeprefix("ref: ")
    places = (
        here.git / "HEAD",
        here.git / "logs" / "HEAD",
        ref,
        here.common / "reftable" / "tables.list",
    )
    return " ".join((str(here.root), *map(_file_version, places)))


@lru_cache(1)
def first_commit_days(folder: Path, head: str) -> Mapping[str, date]:
    """The author's day of the first commit that added a file, by its path below `folder`; for a
    commit in UTC the day here, as `owner_time` has it. Without commits that import many files.
    `head` comes from `head_state`. Empty if git cannot tell.
    """
    if not head:
        return {}
    try:
        log = run_git(folder, *_LOG, timeout_s=LOG_TIMEOUT_S)
    except JournalError:
        return {}
    if log.returncode:
        return {}
    days: dict[str, date | None] = {}
    for commit in reversed(log.stdout[1:].split(b"\0\0")):
        at, _, names = commit.partition(b"\0\n")
        notes = [name for name in os.fsdecode(names).split("\0") if is_note(name)]
        with suppress(ValueError):  # a commit may be of any year
            author_day = owner_time(datetime.fromisoformat(os.fsdecode(at))).date()
            for note in notes:
                days.setdefault(note, author_day if len(notes) <= IMPORTED else None)
    return {path: day for path, day in days.items() if day}


def branch_fate(branch: str, here: Checkout) -> str:
    """`merged`: into the default branch, or checked out. `gone`: without a visible merge.
    `open`: neither, or git cannot tell. Git is asked once for each state of the refs.
    """
    if branch == here.branch:
        return "merged"
    places = [here.common / "packed-refs", here.common / "reftable" / "tables.list"]
    for kind in ("heads", "remotes"):
        places += (Path(folder) for folder, _, _ in os.walk(here.common / "refs" / kind))
    if _file_version(here.common / "shallow"):
        return "open"
    fates = _all_branch_fates(here, " ".join(map(_file_version, places)))
    return fates.get(branch, "gone") if fates else "open"


@lru_cache(8)
def _all_branch_fates(here: Checkout, _: str) -> Mapping[str, str]:
    """The fate of each branch that exists or was merged, by name; empty if git cannot tell."""

    def lines(*args: str) -> list[str]:
        run = run_git(here.root, *args, timeout_s=LOG_TIMEOUT_S / 3)
        return os.fsdecode(run.stdout).splitlines()

    branches = ("for-each-ref", "--format=%(refname:lstrip=1)", "refs/heads", "refs/remotes")
    try:
        existing = lines(*branches)
        tips: list[str] = []
        for name in here.default_branches:
            ends = {f"heads/{name}", f"remotes/origin/{name}"}
            tips = tips or sorted(ends.intersection(existing))
        if not tips:
            return {}
        unmerged = lines(*branches, *(f"--no-merged={tip}" for tip in tips))
        merges = lines(
            "log",
            "--merges",
            "--no-show-signature",
            "--no-mailmap",
            "-1000",
            "--format=%s",
            *tips,
            "--",
        )
    except JournalError:
        return {}
    for tip in tips:  # what was merged here, also where no merge commit says so
        with suppress(OSError):
            merges += read_small_text(here.common / "logs" / "refs" / tip).splitlines()
    fates = {_REMOTE.sub("", ref): "open" for ref in existing}
    for match in filter(None, map(_MERGE.search, merges)):
        fates[match[match.lastindex or 0]] = "merged"
    for ref in unmerged:
        fates[_REMOTE.sub("", ref)] = "open"
    return fates


def _file_version(path: Path) -> str:
    """A text that changes with the file; "" without one."""
    with suppress(OSError, ValueError):
        status = path.stat()
        return f"{status.st_ino}.{status.st_size}.{status.st_mtime_ns}"
    return ""
