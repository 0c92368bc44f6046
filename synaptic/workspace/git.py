"""Asks git on which days the notes of the journal were added, and what became of a branch."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path

from ..errors import JournalError
from ..files import real_path
from ..journal.folder import is_note
from ..journal.git_process import run_git
from ..journal.repository import Checkout, file_version, find_checkout, read_small_text
from ..notes.dates import owner_time

LOG_TIMEOUT_S = 3
"""The time limit of git's log. Beyond it git dates no note until HEAD moves."""

IMPORTED = 20
"""A commit that adds more notes is an import: it does not say when they were written."""

_REMOTE = re.compile(r"^(?:heads|remotes/[^/]+)/")
_MERGE = re.compile(
    r"^Merge (?:remote-tracking )?branch '(?:origin/)?([^']+)'|^Merge pull request \S+ "
    r"from [^/\s]+/(\S+)"
    r"|\tmerge (?:origin/)?(\S+): "
)
"""Subjects that git, GitHub and GitLab give to a merge, and lines about a merge in the log of a
branch.
"""

_LOG = (
    "log --no-merges --no-show-signature --no-mailmap --no-ext-diff --no-textconv --no-renames "
    f"-O{os.devnull} --diff-filter=A --name-only --relative -z --format=%x00%aI HEAD -- ."
).split()


def head_state(folder: Path) -> str:
    """A text that changes when another commit is checked out around `folder`; "" without a
    whole history. Git is not run.
    """
    here = find_checkout(real_path(folder))
    if here is None or file_version(here.common / "shallow"):
        return ""
    ref = here.common / here.head.removeprefix("ref: ")
    places = (
        here.git / "HEAD",
        here.git / "logs" / "HEAD",
        ref,
        here.common / "reftable" / "tables.list",
    )
    return " ".join((str(here.root), *map(file_version, places)))


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
    if file_version(here.common / "shallow"):
        return "open"
    fates = _all_branch_fates(here, " ".join(map(file_version, places)))
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
