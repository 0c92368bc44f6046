"""Reads Claude Code's memory (seen: 2.1): Markdown files in `projects/*/memory` of `~/.claude`.

A file has front matter: name, description and `metadata.type`, in older versions `type` (user,
feedback, project, reference). A `MEMORY.md` that only lists the files beside it is left out.
The folders of subagents are `agent-memory/*`. A `CLAUDE.md` is a reference; only the user's is
looked for. A project's folder below `projects` has the project's path as its name, with a dash
for each other sign than a letter or digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..files import read_regular
from .record import Record, Skipped
from .shared import notes
from .source import FILE_BYTES

_OTHER_SIGN = re.compile(r"[^a-zA-Z0-9]")
_LIST_LINE = re.compile(r"\s*(?:#.*|[-*] \[[^\]]*\]\([^)]{1,200}\).*)?")


def find(
    home: Path,
    environ: Mapping[str, str],
) -> list[Path]:
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    folders = (*claude.glob("projects/*/memory"), *claude.glob("agent-memory/*"))
    places = [folder for folder in folders if any(folder.rglob("*.md"))]
    return sorted([*places, *claude.glob("CLAUDE.md")])


def read(
    path: Path,
    skipped: Skipped,
) -> Iterator[Record]:
    if path.is_symlink() and path.parent.resolve() not in path.resolve().parents:
        target = path.resolve()
        skipped(str(path), f"it is a link out of its folder, to {target}; name that itself")
        return
    for file, record in notes(path, skipped):
        if file.name == "MEMORY.md" and _only_lists(file):
            skipped(str(file), "it only lists the files beside it")
        elif file.name == "CLAUDE.md":
            yield _instructions(file, record)
        else:
            yield _with_project(file, record)


def _instructions(
    file: Path,
    record: Record,
) -> Record:
    folder = file.absolute().parent
    if folder.name == ".claude":
        folder = folder.parent
    title = record.title
    if title.startswith("CLAUDE"):
        title = f"CLAUDE.md of {folder.name}"
    return replace(
        record,
        title=title,
        type="reference",
        folder=str(folder),
    )


def _with_project(
    file: Path,
    record: Record,
) -> Record:
    for memory in file.absolute().parents:
        if memory.name == "memory" and memory.parent.parent.name == "projects":
            folder = _folder_of(memory.parent.name)
            if folder:
                return replace(record, folder=str(folder))
            return replace(record, project=memory.parent.name.rpartition("-")[2])
    return record


def _only_lists(index: Path) -> bool:
    text = read_regular(index, FILE_BYTES).decode("utf-8", "replace")
    return all(map(_LIST_LINE.fullmatch, text.splitlines()))


@cache
def _folder_of(
    name: str,
    above: Path = Path("/"),
) -> Path | None:
    """The folder below `above` whose relative path reads `name` with dashes."""
    if not name:
        return above
    with suppress(OSError):
        for child in above.iterdir():
            step = f"-{_OTHER_SIGN.sub('-', child.name)}"
            if f"{name}-".startswith(f"{step}-") and child.is_dir():
                below = _folder_of(name[len(step) :], child)
                if below:
                    return below
    return None
