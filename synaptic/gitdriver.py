"""Git merges the journal by entries: sets it up in a repository, and is what git then calls."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .config import Config
from .disk import disk_errors, overwrite
from .errors import JournalError
from .merge import merge

DRIVER = "synaptic"


@dataclass(frozen=True, slots=True)
class Setup:
    """A repository, the line of its attributes that names the driver, and whether anything had to be changed."""

    repository: Path
    attributes: Path
    line: str
    changed: bool


def set_up(config: Config, *, remove: bool = False) -> Setup:
    """What merges of the journal's files go by from now on, in this clone; every other clone needs the same once.

    It is kept in the clone's own `.git`, so that no file of the journal changes. Raises JournalError where the
    journal is in no git repository, or git is missing.
    """
    root = Path(_git(config.journal, "rev-parse", "--show-toplevel"))
    attributes = config.journal / _git(config.journal, "rev-parse", "--git-path", "info/attributes")
    line = _attribute(config.journal.resolve(), root.resolve())
    changed = _put_line(attributes, line, remove=remove)
    if remove:
        subprocess.run(["git", "-C", str(root), "config", "--remove-section", f"merge.{DRIVER}"], capture_output=True)
    else:
        python = shlex.quote(sys.executable)
        _git(root, "config", f"merge.{DRIVER}.name", "entries of a Synaptic journal")
        _git(root, "config", f"merge.{DRIVER}.driver", f"{python} -m synaptic git-merge %O %A %B %P")
    return Setup(root, attributes, line, changed)


def drive(base: Path, ours: Path, theirs: Path, path: str, *, day_file: str) -> int:
    """0 for a clean merge, 1 for one with conflicts in it; the file `ours` holds the result."""
    merged = merge(base.read_bytes(), ours.read_bytes(), theirs.read_bytes(), path, day_file, by_lines)
    overwrite(ours, merged.data)
    return min(merged.conflicts, 1)


def by_lines(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, int]:
    """(the merge that git makes of three texts, number of conflicts)."""
    with tempfile.TemporaryDirectory() as folder:
        names = ("ours", "base", "theirs")
        for name, data in zip(names, (ours, base, theirs), strict=True):
            (Path(folder) / name).write_bytes(data)
        labels = [part for name in names for part in ("-L", name)]
        done = subprocess.run(["git", "merge-file", "-p", *labels, *names], cwd=folder, capture_output=True)
    if done.returncode < 0 or done.returncode > 127:  # what it cannot merge, a text with NUL for one
        raise JournalError(f"git merge-file failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout, done.returncode


def _attribute(journal: Path, root: Path) -> str:
    """The line for every Markdown file below the journal; a path with blanks is quoted as C does it."""
    if journal == root:
        return f"*.md merge={DRIVER}"
    folder = re.sub(r"([\\\[*?])", r"\\\1", journal.relative_to(root).as_posix())
    pattern = f"{folder}/**/*.md"
    if re.search(r'[\s"]', pattern):
        pattern = '"' + re.sub(r'([\\"])', r"\\\1", pattern) + '"'
    return f"{pattern} merge={DRIVER}"


def _put_line(attributes: Path, line: str, *, remove: bool) -> bool:
    """True when the file had to be changed; other lines stay as they are."""
    with disk_errors(attributes, "changed"):
        old = attributes.read_text(encoding="utf-8") if attributes.exists() else ""
        kept = [other for other in old.splitlines() if other != line]
        new = "".join(f"{each}\n" for each in (kept if remove else [*kept, line]))
        if new == old or (line in old.splitlines()) != remove:
            return False
        attributes.parent.mkdir(exist_ok=True)
        overwrite(attributes, new.encode())
    return True


def _git(folder: Path, *args: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(folder), *args], capture_output=True, text=True)
    except FileNotFoundError as error:
        raise JournalError("git is not installed.", hint="Install it, then run this again.") from error
    if done.returncode:
        raise JournalError(
            f"{folder} is in no git repository that can be used ({done.stderr.strip()}).",
            hint=f"Make one: git -C {shlex.quote(str(folder))} init",
        )
    return done.stdout.strip()
