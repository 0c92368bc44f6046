"""Sets up a git repository so that git merges the journal by entries."""

import os
import re
import shlex
import sys
from pathlib import Path

from ...config import Config
from ...errors import JournalError
from ...files import open_regular_file
from ...journal.disk import disk_errors
from ...journal.git_process import run_git
from ...models import frozen

DRIVER = "synaptic"
CONFLICTS = 10
"""The exit status of a merge with conflicts. A status of 1 could also mean that Python did not
find Synaptic.
"""

_LABELS = ("-L", "first version", "-L", "base", "-L", "second version")


@frozen
class MergeDriverSetup:
    """The result of `set_up_merge_driver`: the git repository, the file of its attributes,
    the line that names the merge driver, and whether anything was changed.
    """

    repository: Path
    attributes: Path
    line: str
    changed: bool


def set_up_merge_driver(config: Config, *, remove: bool = False) -> MergeDriverSetup:
    """Sets up this clone so that git merges the journal by entries, or removes that. Every
    clone needs it once.

    The settings are stored in the clone's own `.git`, so that no file of the journal changes.
    Raises JournalError if the journal is in no git repository, or if git is missing.
    """
    journal = config.journal
    root = Path(_git_output(journal, "rev-parse", "--show-toplevel"))
    if not journal.resolve().is_relative_to(
        root.resolve()
    ):  # core.worktree may name any folder
        raise JournalError(
            f"{journal} is not in the working tree of its git repository, {root}.",
            hint="The git setting core.worktree names another folder; remove it: "
            f"git -C {shlex.quote(str(journal))} config --unset core.worktree",
        )
    attributes = journal / _git_output(journal, "rev-parse", "--git-path", "info/attributes")
    line = _attribute_line(journal.resolve(), root.resolve())
    changed = _edit_attributes(attributes, line, remove=remove)
    if not remove:
        changed |= _configure_driver(journal)
    elif not re.search(
        rf"merge={DRIVER}\s*$",
        _read_attributes(attributes).decode("utf-8", "replace"),
        re.MULTILINE,
    ):
        run_git(
            journal, "config", "--remove-section", f"merge.{DRIVER}"
        )  # no other journal in this repository uses it
    return MergeDriverSetup(root, attributes, line, changed)


def _attribute_line(journal: Path, root: Path) -> str:
    """Returns the line of git's attributes that selects the merge driver for every Markdown
    file in the folder `journal` of the repository `root`. A path with blanks is quoted as in C.
    """
    if journal == root:
        return f"*.md merge={DRIVER}"
    folder = re.sub(r"([\\\[*?]|^[!#])", r"\\\1", journal.relative_to(root).as_posix())
    pattern = f"{folder}/**/*.md"
    if re.search(r'[\s"]', pattern):
        pattern = '"' + re.sub(r'([\\"])', r"\\\1", pattern) + '"'
    return f"{pattern} merge={DRIVER}"


def _edit_attributes(attributes: Path, line: str, *, remove: bool) -> bool:
    """Adds the line to git's attributes file, or removes it; True if the file had to be
    changed. All other bytes stay the same.
    """
    with disk_errors(attributes, "changed"):
        present = _read_attributes(attributes)
        lines = present.splitlines(keepends=True)
        others = [each for each in lines if each.strip() != os.fsencode(line)]
        if remove == (others == lines):
            return False
        joint = b"" if not present or present.endswith(b"\n") else b"\n"
        if attributes.is_symlink() or attributes.parent.is_symlink():
            raise JournalError(
                f"{attributes} is a link, which is not followed.",
                "Replace the link by a regular file, and repeat the command.",
            )
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_bytes(
            b"".join(others) if remove else present + joint + os.fsencode(line) + b"\n"
        )
    return True


def _read_attributes(attributes: Path) -> bytes:
    try:
        with open_regular_file(attributes) as file:
            return file.read()
    except FileNotFoundError:
        return b""


def _configure_driver(journal: Path) -> bool:
    """Names the merge driver in the configuration of the repository; True if that had to be
    changed.

    If Synaptic fails to answer, the command lets git merge by lines, because git would
    otherwise take ours for the result. `-P` keeps Python from importing a repository's own
    `synaptic`.
    """
    python = shlex.quote(sys.executable).replace("%", "%%")
    by_git = shlex.join(["git", "merge-file", *_LABELS])
    driver = (
        f"{python} -P -m synaptic git-merge %O %A %B %P; "
        f"case $? in 0) exit 0;; {CONFLICTS}) exit 1;; esac; {by_git} %A %O %B || exit 1"
    )
    wanted = {"name": "entries of a Synaptic journal", "driver": driver}
    changed = False
    for key, value in wanted.items():
        name = f"merge.{DRIVER}.{key}"
        if _decode(run_git(journal, "config", "--local", "--get", name).stdout) != value:
            _git_output(journal, "config", "--local", name, value)
            changed = True
    return changed


def _git_output(folder: Path, *args: str) -> str:
    """Runs git in `folder` and returns its output without the line end. Raises JournalError if
    git fails.
    """
    done = run_git(folder, *args)
    if done.returncode:
        raise JournalError(
            f"{folder} is not in a usable git repository ({_decode(done.stderr).strip()}).",
            f"Create one: git -C {shlex.quote(str(folder))} init",
        )
    return _decode(done.stdout)


def _decode(output: bytes) -> str:
    return os.fsdecode(output).removesuffix("\n")
