"""Reads `sqlite_vec.db` of mcp-memory-service (seen: 12.4.0), in its data folder or at
`MCP_MEMORY_SQLITE_PATH`.

`memories` has content, content_hash, tags (between commas), memory_type, metadata (a JSON
object), created_at (seconds since 1970), created_at_iso, and later deleted_at. `memory_graph`,
which older ones lack, has source_hash, target_hash and, later, relationship_type.
"""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from ....kinds import FOREIGN
from ....notes.header import make_title
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
_COUNTERS = tuple(
    "access_ quality_ last_accessed embedding created_at updated_at tags type".split()
)
"""Prefixes of metadata keys that are left out, because they are internal to the program or
repeat a column.
"""
LINKED = 200_000
"""The most memories and relations of which links are read, because all titles are kept in
memory.
"""
find = partial(find_places, names=_NAMES, usual=_FOLDERS, holds="sqlite_vec.db")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "sqlite_vec.db" if path.is_dir() else path
    links = _read_links(path, skipped)
    for _, row in read_table_rows(path, {"memories": _TABLES["memories"]}, skipped):
        key = text_at(row, "content_hash")
        if not row.get("deleted_at"):
            with report_errors(skipped, f"{path}: {key}"):
                yield _record(key, row, links.get(key))


def _read_links(path: Path, skipped: Skipped) -> dict[str, list[str]]:
    """Maps the hash of each memory to its lines of links, `- kind [[Title]]`."""
    titles = {}
    relations = []
    for table, row in islice(read_table_rows(path, _TABLES, skipped), LINKED):
        if table == "memory_graph":
            kind = text_at(row, "relationship_type") or "related"
            relations.append((text_at(row, "source_hash"), kind, text_at(row, "target_hash")))
        elif not row.get("deleted_at"):
            titles[text_at(row, "content_hash")] = make_title(text_at(row, "content"))
    links: dict[str, list[str]] = {}
    for start, kind, end in relations:
        if end in titles:
            links.setdefault(start, []).append(f"- {kind} [[{titles[end]}]]")
    return links


def _record(key: str, memory: dict[str, Any], links: list[str] | None) -> Record:
    metadata = None
    with suppress(ValueError):
        metadata = read_json(memory.get("metadata"))
    fields = metadata.items() if isinstance(metadata, dict) else ()
    kind = text_at(memory, "memory_type")
    content = text_at(memory, "content")
    tags = [tag for tag in split_items(memory.get("tags")) if tag != "untagged"]
    at = first_valid_time(
        memory.get("created_at"), memory.get("created_at_iso"), memory.get("updated_at")
    )
    if not at:
        raise ValueError("it has no time")
    if not content:
        raise ValueError("it has no text")
    return Record(
        key=key,
        text=join_markdown(
            content,
            links,
            fields=[item for item in fields if not item[0].startswith(_COUNTERS)],
        ),
        at=at,
        title=make_title(content),
        type=FOREIGN.get(kind.lower(), "note"),
        tags=make_tags(kind, *tags),
        project=text_at(metadata, "project") or None,
    )
