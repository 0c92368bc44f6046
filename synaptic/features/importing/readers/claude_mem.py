"""Reads `claude-mem.db` of claude-mem (seen: 13.25.3) in `~/.claude-mem` or
`CLAUDE_MEM_DATA_DIR`.

`observations` have type, title, subtitle, facts, narrative (once `text`), concepts, files_read,
files_modified (JSON lists), project, merged_into_project (of a worktree) and created_at_epoch
in milliseconds; `session_summaries` have request, investigated, learned, completed, next_steps,
notes, files_read and files_edited. Prompts are not read as entries: `request` holds the
question. Older databases lack columns, and may hold an observation twice.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ....kinds import FOREIGN
from .record import Record, Skipped, reporting
from .shared import find_places, items_of, markdown, moment, rows, tags_of, text_of

find = partial(
    find_places, names=["CLAUDE_MEM_DATA_DIR"], usual=[".claude-mem"], holds="claude-mem.db"
)
_TABLES = {"observations": {"id", "project"}, "session_summaries": {"request"}}
_PARTS = ("investigated", "learned", "completed", "next_steps", "notes")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "claude-mem.db" if path.is_dir() else path
    seen = set()
    for table, row in rows(path, _TABLES, skipped):
        with reporting(skipped, f"{path}: {table}-{row.get('id')}"):
            record = _record(table, row)
            content = (record.project, record.title, record.text)
            if content not in seen:
                seen.add(content)
                yield record


def _record(table: str, row: dict[str, Any]) -> Record:
    texts = {name: text_of(value) for name, value in row.items()}
    kind = texts.get("type", "")
    title = texts.get("title", "")
    parts = [texts.get("request"), texts.get("subtitle")]
    parts.append(texts.get("narrative") or texts.get("text"))
    parts.append("\n".join(f"- {fact}" for fact in items_of(texts.get("facts"))))
    for name in _PARTS:
        label = name.replace("_", " ").capitalize()
        parts += [f"**{label}:** {texts[name]}"] if texts.get(name) else []
    files = ", ".join(items_of(texts.get("files_read")))
    text = markdown(*parts, fields=[("files_read", files)])
    at = moment(row.get("created_at_epoch"), row.get("created_at"))
    if not at:
        raise ValueError("it has no time")
    if not (text or title):
        raise ValueError("it has no text")
    return Record(
        # a database that is made anew counts from 1
        key=f"{table}-{texts.get('id')}-{at:%Y%m%d%H%M%S}",
        text=text or title,
        at=at,
        title=title,
        type=FOREIGN.get(kind.lower(), "note") if table == "observations" else "handoff",
        tags=tags_of(kind, *items_of(texts.get("concepts"))),
        project=texts.get("merged_into_project") or texts.get("project"),
        files=tuple(items_of(texts.get("files_modified") or texts.get("files_edited"))),
    )
