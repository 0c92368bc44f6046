"""Reads Claude Code's memory (seen: 2.1): Markdown files in `projects/*/memory` of `~/.claude`.

A file has front matter: name, description and `metadata.type`, in older versions `type` (user,
feedback, project, reference). A `MEMORY.md` that only lists the files beside it is left out.
The folders of subagents are `agent-memory/*`. A `CLAUDE.md` is a reference; only the user's is
looked for. A project's folder below `projects` has the project's path as its name, with a dash
for each other sign than a letter or digit.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ....files import folder_of_agent_memory, read_regular_file
from .record import Record, Skipped
from .shared import read_notes
from .source import FILE_BYTES

_LIST_LINE = re.compile(r"\s*(?:#.*|[-*] \[[^\]]*\]\([^)]{1,200}\).*)?")


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    folders = (*claude.glob("projects/*/memory"), *claude.glob("agent-memory/*"))
    places = [folder for folder in folders if any(folder.rglob("*.md"))]
    return sorted([*places, *claude.glob("CLAUDE.md")])


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    if path.is_symlink() and path.parent.resolve() not in path.resolve().parents:
        target = path.resolve()
        skipped(str(path), f"it is a link out of its folder, to {target}; name that itself")
        return
    for file, record in read_notes(path, skipped):
        if file.name == "MEMORY.md" and _is_only_list_of_links(file):
            skipped(str(file), "it only lists the files beside it")
        elif file.name == "CLAUDE.md":
            yield _as_instructions(file, record)
        else:
            yield _with_project(file, record)


def _as_instructions(file: Path, record: Record) -> Record:
    folder = file.absolute().parent
    if folder.name == ".claude":
        folder = folder.parent
    title = record.title
    if title.startswith("CLAUDE"):
        title = f"CLAUDE.md of {folder.name}"
    return replace(record, title=title, type="reference", folder=str(folder))


def _with_project(file: Path, record: Record) -> Record:
    for memory in file.absolute().parents:
        folder = folder_of_agent_memory(memory)
        if folder:
            return replace(record, folder=str(folder))
    return record


def _is_only_list_of_links(index: Path) -> bool:
    text = read_regular_file(index, FILE_BYTES).decode("utf-8", "replace")
    return all(map(_LIST_LINE.fullmatch, text.splitlines()))
