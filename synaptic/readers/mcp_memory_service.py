"""Reads `sqlite_vec.db` of mcp-memory-service (seen: 12.4.0), where `MCP_MEMORY_SQLITE_PATH` or its data folder has it.

`memories` has content, content_hash, tags (between commas), memory_type, metadata (a JSON object), created_at (seconds
since 1970), created_at_iso, and later deleted_at and superseded_by (a hash). `memory_graph`, which older ones lack, has
source_hash, target_hash and, later, relationship_type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..notes.header import title_for
from .record import Record, Skipped
from .shared import KINDS, found, items_of, markdown, moment, rows, tags_of

_NAMES = ("MCP_MEMORY_SQLITE_PATH", "MCP_MEMORY_SQLITEVEC_PATH", "MCP_MEMORY_BASE_DIR")
_FOLDERS = (".local/share/mcp-memory", "Library/Application Support/mcp-memory", "AppData/Local/mcp-memory")
_TABLES = {"memories": {"content", "content_hash"}, "memory_graph": {"source_hash", "target_hash"}}
_COUNTERS = ("access_", "quality_", "last_accessed", "embedding", "created_at", "updated_at", "tags", "type")
"""Beginnings of the metadata that the program keeps for itself, or that other columns say."""
find = partial(found, names=_NAMES, usual=_FOLDERS, holds="sqlite_vec.db")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "sqlite_vec.db" if path.is_dir() else path
    memories: dict[str, dict[str, Any]] = {}
    relations = []
    for table, row in rows(path, _TABLES):
        if table == "memory_graph":
            relations.append((row["source_hash"], row.get("relationship_type") or "related", row["target_hash"]))
        elif not row.get("deleted_at"):
            memories[row["content_hash"]] = row
            relations.append((row["content_hash"], "superseded_by", row.get("superseded_by")))
    links: dict[str, list[str]] = {}
    for start, kind, end in relations:
        if end in memories:
            links.setdefault(start, []).append(f"- {kind} [[{title_for(memories[end]['content'])}]]")
    for key, row in memories.items():
        metadata: dict[str, Any] = {}
        with suppress(ValueError, TypeError):
            metadata.update(json.loads(row["metadata"]))
        kind, tags = str(row.get("memory_type") or ""), [tag for tag in items_of(row.get("tags")) if tag != "untagged"]
        projects = [tag.partition(":")[2] for tag in tags if tag.startswith(("proj:", "project:"))]
        more = (field for field in metadata.items() if not field[0].startswith(_COUNTERS))
        at = moment(row.get("created_at"), row.get("created_at_iso"), row.get("updated_at"))
        if at and row["content"]:
            yield Record(
                key=key,
                text=markdown(row["content"], links.get(key), fields=more),
                at=at,
                title=title_for(row["content"]),
                type=KINDS.get(kind.lower(), "note"),
                tags=tags_of(kind, *tags),
                project=str(metadata.get("project") or "") or next(iter(projects), None),
            )
        else:
            skipped(f"{path}: {key}", "it has no text" if at else "it has no time")
