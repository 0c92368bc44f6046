"""What a git checkout says of the work at hand: its project, the branch, the subjects of its last commits."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

COMMITS = 5
TIMEOUT_S = 1.0

AROUND = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX")
"""What git says to the programs it starts, and what would lead another git to that repository."""

_BRANCH = "ref: refs/heads/"


@dataclass(frozen=True, slots=True)
class Checkout:
    """A working tree. `project` is the repository's name: of its main checkout, where this is a worktree."""

    root: Path
    project: str


def checkout_around(folder: Path) -> Checkout | None:
    """The checkout that a folder lies in."""
    for place in (folder, *folder.parents):
        marker = place / ".git"
        if marker.is_dir():
            return Checkout(place, place.name) if place.name else None
        if marker.is_file():
            return Checkout(place, _worktree_project(marker) or place.name)
    return None


def detect_project(folder: Path) -> str | None:
    """The name of the git repository around a folder."""
    found = checkout_around(folder)
    return found.project if found else None


def working_checkout() -> Checkout | None:
    """The checkout that this process works in."""
    try:
        return checkout_around(Path.cwd().resolve())
    except OSError:  # the working directory was deleted, or may not be looked at
        return None


def _worktree_project(marker: Path) -> str | None:
    try:
        pointer = marker.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        git_dir = (marker.parent / pointer).resolve()
        common = git_dir / (git_dir / "commondir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    common = common.resolve()
    return (common.parent if common.name == ".git" else common).name.removesuffix(".git") or None


def work_at_hand(folder: Path) -> str:
    """The branch and the last commit subjects of the checkout around `folder`, a line each; what is unknown is absent.

    Nothing that the repository configures is run: `rev-list` knows no pager, no signatures and no helpers, and
    no protocol is allowed to fetch what a partial clone lacks.
    """
    import subprocess  # which no save or search needs

    lines = [_branch(folder)]
    environ = {name: value for name, value in os.environ.items() if name not in AROUND}
    command = ("git", "-c", "protocol.allow=never", "rev-list", f"-{COMMITS}", "--no-merges", "--format=%s", "HEAD")
    with suppress(OSError, ValueError, subprocess.SubprocessError):  # no git, no commit, no such folder, too slow
        done = subprocess.run(
            command, cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S
        )
        lines += done.stdout.decode("utf-8", "replace").splitlines()[1::2]  # the others are commit ids
    return "\n".join(line for line in lines if line)


def _branch(folder: Path) -> str:
    """The branch as `.git/HEAD` names it; nothing where a commit is checked out, or nothing is."""
    for place in (folder, *folder.parents):
        marker = place / ".git"
        with suppress(OSError, ValueError):
            if marker.is_file():  # a worktree or a submodule: it says where its own folder is
                marker = place / marker.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
            head = (marker / "HEAD").read_text(encoding="utf-8").strip()
            return head.removeprefix(_BRANCH) if head.startswith(_BRANCH) else ""
    return ""
