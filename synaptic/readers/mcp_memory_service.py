"""Reads `sqlite_vec.db` of mcp-memory-service (seen: 12.4.0), where `MCP_MEMORY_SQLITE_PATH` or
its data folder has it.

`memories` has content, content_hash, tags (between commas), memory_type, metadata (a JSON
object), created_at (seconds since 1970), created_at_iso, and later deleted_at and superseded_by
(a hash). `memory_graph`, which older ones lack, has source_hash, target_hash and, later,
relationship_type.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ..notes.header import title_for
from .record import Record, Skipped, told
from .shared import KINDS, found, items_of, markdown, moment, rows, tags_of, words_of
from .source import read_json

_NAMES = ("MCP_MEMORY_SQLITE_PATH", "MCP_MEMORY_SQLITEVEC_PATH", "MCP_MEMORY_BASE_DIR")
_FOLDERS = (
    ".local/share/mcp-memory",
    "Library/Application Support/mcp-memory",
    "AppData/Local/mcp-memory",
)
_TABLES = {
    "memories": {"content", "content_hash"},
    "memory_graph": {"source_hash", "target_hash"},
}
_COUNTERS = (
    "access_",
    "quality_",
    "last_accessed",
    "embedding",
    "created_at",
    "updated_at",
    "tags",
    "type",
)
"""Beginnings of the metadata that the program keeps for itself, or that other columns say."""
LINKED = 200_000
find = partial(found, names=_NAMES, usual=_FOLDERS, holds="sqlite_vec.db")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "sqlite_vec.db" if path.is_dir() else path
    titles, relations = dict[str, str](), list[tuple[str, str, str]]()
    for table, row in rows(path, _TABLES, skipped):
        said = {name: words_of(value) for name, value in row.items()}
        if len(titles) + len(relations) >= LINKED:
            skipped(
                str(path),
                f"links are read of its first {LINKED:,} memories and relations alone",
            )
            break
        if table == "memory_graph":
            relations.append(
                (
                    said["source_hash"],
                    said.get("relationship_type") or "related",
                    said["target_hash"],
                )
            )
        elif not row.get("deleted_at"):
            titles[said["content_hash"]] = title_for(said["content"])
            if said.get("superseded_by"):
                relations.append((said["content_hash"], "superseded_by", said["superseded_by"]))
    links: dict[str, list[str]] = {}
    for start, kind, end in relations:
        if end in titles:
            links.setdefault(start, []).append(f"- {kind} [[{titles[end]}]]")
    for _, row in rows(path, {"memories": _TABLES["memories"]}, skipped):
        key = words_of(row["content_hash"])
        if not row.get("deleted_at"):
            with told(skipped, f"{path}: {key}"):
                yield _record(key, row, links.get(key))


def _record(key: str, row: dict[str, Any], links: list[str] | None) -> Record:
    metadata: Any = {}
    with suppress(ValueError, TypeError):
        metadata = read_json(row["metadata"])
    metadata = metadata if isinstance(metadata, dict) else {}
    kind, content = words_of(row.get("memory_type")), words_of(row["content"])
    tags = [tag for tag in items_of(row.get("tags")) if tag != "untagged"]
    projects = [tag.partition(":")[2] for tag in tags if tag.startswith(("proj:", "project:"))]
    more = (field for field in metadata.items() if not field[0].startswith(_COUNTERS))
    at = moment(row.get("created_at"), row.get("created_at_iso"), row.get("updated_at"))
    if at is None:
        raise ValueError("it has no time")
    if not content:
        raise ValueError("it has no text")
    return Record(
        key=key,
        text=markdown(content, links, fields=more),
        at=at,
        title=title_for(content),
        type=KINDS.get(kind.lower(), "note"),
        tags=tags_of(kind, *tags),
        project=words_of(metadata.get("project")) or next(iter(projects), None),
    )
