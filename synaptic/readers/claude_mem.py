"""Reads `claude-mem.db` of claude-mem (seen: 13.25.3) in `~/.claude-mem` or
`CLAUDE_MEM_DATA_DIR`.

`observations` have type, title, subtitle, facts, narrative (once `text`), concepts, files_read,
files_modified (JSON lists), project, merged_into_project (of a worktree) and created_at_epoch
in milliseconds; `session_summaries` have request, investigated, learned, completed, next_steps,
notes, files_read and files_edited. Prompts are no entries: what was asked stands in `request`.
Older databases lack columns, and may hold an observation twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .record import Record, Skipped, told
from .shared import KINDS, found, items_of, markdown, moment, rows, tags_of, words_of

find = partial(
    found, names=["CLAUDE_MEM_DATA_DIR"], usual=[".claude-mem"], holds="claude-mem.db"
)


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "claude-mem.db" if path.is_dir() else path
    seen = set[tuple[str, str, str]]()
    tables = {"observations": {"id", "project"}, "session_summaries": {"request"}}
    for table, row in rows(path, tables, skipped):
        with told(skipped, f"{path}: {table}-{row.get('id')}"):
            record = _record(table, row)
            if (same := (record.project or "", record.title, record.text)) not in seen:
                seen.add(same)
                yield record


def _record(table: str, row: dict[str, Any]) -> Record:
    said = {name: words_of(value) for name, value in row.items()}
    kind, title = said.get("type", ""), said.get("title", "")
    parts = [
        name
        for name in ("investigated", "learned", "completed", "next_steps", "notes")
        if said.get(name)
    ]
    text = markdown(
        *(said.get(name) for name in ("request", "subtitle")),
        said.get("narrative") or said.get("text"),
        [f"- {fact}" for fact in items_of(said.get("facts"))],
        *(f"**{name.replace('_', ' ').capitalize()}:** {said[name]}" for name in parts),
        fields=[("files_read", ", ".join(items_of(said.get("files_read"))))],
    )
    at = moment(row.get("created_at_epoch"), row.get("created_at"))
    if at is None:
        raise ValueError("it has no time")
    if not (text or title):
        raise ValueError("it has no text")
    return Record(
        # a database that is made anew counts from 1
        key=f"{table}-{said.get('id')}-{at:%Y%m%d%H%M%S}",
        text=text or title,
        at=at,
        title=title,
        type=KINDS.get(kind.lower(), "note") if table == "observations" else "handoff",
        tags=tags_of(kind, *items_of(said.get("concepts"))),
        project=said.get("merged_into_project") or said.get("project"),
        files=tuple(items_of(said.get("files_modified") or said.get("files_edited"))),
    )
