"""Reads what Claude Code remembers (seen: 2.1): Markdown files in `projects/*/memory` of its
folder, `~/.claude`.

A file has front matter: name, description and `metadata.type`, once `type` (user, feedback,
project, reference). `MEMORY.md` is left out where it only lists the files beside it.
`autoMemoryDirectory` of the settings is one more folder, `agent-memory/*` those of subagents. A
`CLAUDE.md`, of the user or of a project that is here, is a reference. A project's folder below
`projects` is named by its path, in which all but letters and digits are dashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..files import open_regular, read_regular
from .record import Record, Skipped
from .shared import found, notes
from .source import FILE_BYTES, read_json

_PLAIN = re.compile(r"[^a-zA-Z0-9]")
_CWD = re.compile(rb'"cwd":("(?:[^"\\]|\\.)++")')
_BEGINNING = 1_000_000
"""Bytes of a session that may say where it worked."""
_LISTED = re.compile(r"\s*(?:#.*|[-*] \[[^\]]*\]\(([^)]{1,200})\).*)?")


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    claude = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    named = found(home, environ, ["autoMemoryDirectory"], [], "*.md")
    projects = (claude, *filter(None, map(_folder, claude.glob("projects/*"))))
    files = (
        file
        for folder in projects
        for name in ("CLAUDE.md", ".claude/CLAUDE.md")
        for file in folder.glob(name)
    )
    folders = (*claude.glob("projects/*/memory"), *claude.glob("agent-memory/*"))
    return sorted(
        {*named, *files, *(folder for folder in folders if any(folder.rglob("*.md")))}
    )


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    if path.is_symlink() and path.parent.resolve() not in path.resolve().parents:
        skipped(
            str(path), f"it is a link out of its folder, to {path.resolve()}; name that itself"
        )
        return
    for file, record in notes(path, skipped):
        memory = next((up for up in file.absolute().parents if up.name == "memory"), file)
        if file.name == "CLAUDE.md":
            at = file.absolute().parent
            at = at.parent if at.name == ".claude" else at
            title = (
                f"CLAUDE.md of {at.name}" if record.title.startswith("CLAUDE") else record.title
            )
            yield replace(record, title=title, type="reference", folder=str(at))
        elif file.name == "MEMORY.md" and _only_lists(file):
            skipped(str(file), "it only lists the files beside it")
        elif memory.parent.parent.name == "projects":
            folder = _folder(memory.parent)
            last = memory.parent.name.rpartition("-")[2]
            yield replace(
                record, folder=str(folder) if folder else None, project=None if folder else last
            )
        else:
            yield record


def _only_lists(index: Path) -> bool:
    lines = map(
        _LISTED.fullmatch,
        read_regular(index, FILE_BYTES).decode("utf-8", "replace").splitlines(),
    )
    return all(line and (not line[1] or (index.parent / line[1]).is_file()) for line in lines)


@cache
def _folder(project: Path) -> Path | None:
    """The folder whose path a folder of `projects` is named by: one that a session in it names,
    or that is there.
    """
    for session in sorted(project.glob("*.jsonl"))[:3]:
        with suppress(OSError, ValueError), open_regular(session) as file:
            for match in _CWD.finditer(file.read(_BEGINNING)):
                worked = Path(read_json(match[1]))
                for folder in (worked, *worked.parents):
                    if _PLAIN.sub("-", str(folder)) == project.name:
                        return folder
    return _there(Path("/"), project.name)


def _there(folder: Path, rest: str) -> Path | None:
    """The folder below this one whose path from here on reads `rest` with dashes."""
    with suppress(OSError):
        for child in folder.iterdir() if rest else ():
            step = f"-{_PLAIN.sub('-', child.name)}"
            if (
                f"{rest}-".startswith(f"{step}-")
                and child.is_dir()
                and (found := _there(child, rest[len(step) :]))
            ):
                return found
    return None if rest else folder
