"""Reads `claude-mem.db` of claude-mem (seen: 13.25.3) in `~/.claude-mem` or `CLAUDE_MEM_DATA_DIR`.

`observations` have type, title, subtitle, facts, narrative (once `text`), concepts, files_read, files_modified (JSON
lists), project, merged_into_project (of a worktree) and created_at_epoch in milliseconds; `session_summaries` have
request, investigated, learned, completed, next_steps, notes, files_read and files_edited. Prompts are no entries: what
was asked stands in `request`. Older databases lack columns, and may hold an observation twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .record import Record, Skipped
from .shared import KINDS, found, items_of, markdown, moment, rows, tags_of

find = partial(found, names=["CLAUDE_MEM_DATA_DIR"], usual=[".claude-mem"], holds="claude-mem.db")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "claude-mem.db" if path.is_dir() else path
    seen = set()
    for table, row in rows(path, {"observations": {"id", "project"}, "session_summaries": {"request"}}):
        where, kind = f"{table}-{row.get('id')}", str(row.get("type") or "")
        parts = [name for name in ("investigated", "learned", "completed", "next_steps", "notes") if row.get(name)]
        text = markdown(
            *(row.get(name) for name in ("request", "subtitle")),
            row.get("narrative") or row.get("text"),
            [f"- {fact}" for fact in items_of(row.get("facts"))],
            *(f"**{name.replace('_', ' ').capitalize()}:** {row[name]}" for name in parts),
            fields=[("files_read", ", ".join(items_of(row.get("files_read"))))],
        )
        at, title = moment(row.get("created_at_epoch"), row.get("created_at")), row.get("title") or ""
        if not at or not (text or title):
            skipped(f"{path}: {where}", "it has no text" if at else "it has no time")
        elif (same := (row.get("project"), title, text)) not in seen:
            seen.add(same)
            yield Record(
                key=f"{where}-{at:%Y%m%d%H%M%S}",  # a database that is made anew counts from 1
                text=text or title,
                at=at,
                title=title,
                type=KINDS.get(kind.lower(), "note") if table == "observations" else "handoff",
                tags=tags_of(kind, *items_of(row.get("concepts"))),
                project=row.get("merged_into_project") or row.get("project"),
                files=tuple(items_of(row.get("files_modified") or row.get("files_edited"))),
            )
