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
from .record import Record, Skipped, report_errors
from .shared import (
    find_places,
    first_valid_time,
    join_markdown,
    make_tags,
    read_table_rows,
    split_items,
    text_at,
)

find = partial(
    find_places, names=["CLAUDE_MEM_DATA_DIR"], usual=[".claude-mem"], holds="claude-mem.db"
)
_TABLES = {"observations": {"id", "project"}, "session_summaries": {"request"}}
_PARTS = ("investigated", "learned", "completed", "next_steps", "notes")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "claude-mem.db" if path.is_dir() else path
    seen = set()
    for table, row in read_table_rows(path, _TABLES, skipped):
        with report_errors(skipped, f"{path}: {table}-{row.get('id')}"):
            record = _record(table, row)
            content = (record.project, record.title, record.text)
            if content not in seen:
                seen.add(content)
                yield record


def _record(table: str, memory: dict[str, Any]) -> Record:
    texts = {name: text_at(value) for name, value in memory.items()}
    kind = texts.get("type", "")
    title = texts.get("title", "")
    parts = [texts.get("request"), texts.get("subtitle")]
    parts.append(texts.get("narrative") or texts.get("text"))
    parts.append("\n".join(f"- {fact}" for fact in split_items(texts.get("facts"))))
    for name in _PARTS:
        label = name.replace("_", " ").capitalize()
        parts += [f"**{label}:** {texts[name]}"] if texts.get(name) else []
    files = ", ".join(split_items(texts.get("files_read")))
    text = join_markdown(*parts, fields=[("files_read", files)])
    at = first_valid_time(memory.get("created_at_epoch"), memory.get("created_at"))
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
        tags=make_tags(kind, *split_items(texts.get("concepts"))),
        project=texts.get("merged_into_project") or texts.get("project"),
        files=tuple(split_items(texts.get("files_modified") or texts.get("files_edited"))),
    )
