"""What a git checkout says of the work at hand: the branch and the subjects of its last commits."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

COMMITS = 5
TIMEOUT_S = 1.0

_AROUND = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX")
_BRANCH = "ref: refs/heads/"


def work_at_hand(folder: Path) -> str:
    """The branch and the last commit subjects of the checkout around `folder`, a line each; what is unknown is absent.

    Nothing that the repository configures is run: `rev-list` knows no pager, no signatures and no helpers, and
    no protocol is allowed to fetch what a partial clone lacks.
    """
    lines = [_branch(folder)]
    environ = {name: value for name, value in os.environ.items() if name not in _AROUND}
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
