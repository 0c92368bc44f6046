"""Reads the knowledge graph of @modelcontextprotocol/server-memory (seen: 2026.8.31), a JSON object a line:

    {"type": "entity", "name": ..., "entityType": ..., "observations": ["...", ...]}
    {"type": "relation", "from": ..., "to": ..., "relationType": ...}

Forks write `entityName`, `from_id` and `to_id` (an entity's `id`), observations that are objects with `content`, and
`createdAt`; else the time is the file's. It is `memory.jsonl` beside the program, or where `MEMORY_FILE_PATH` says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from .record import Record, Skipped
from .shared import KINDS, found, markdown, moment, tags_of

_PROGRAM = ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist"
_NAMES = (("name", "entityName"), ("from", "from_id"), ("to", "to_id"))
find = partial(found, names=["MEMORY_FILE_PATH"], usual=[_PROGRAM], holds="memory.jsonl")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "memory.jsonl" if path.is_dir() else path
    entities: dict[str, list[dict[str, Any]]] = {}
    relations: list[tuple[str, str, str]] = []
    ids: dict[str, str] = {}
    lines = path.read_bytes().splitlines() if path.is_file() else [b"no such file"]
    for number, line in enumerate(lines, 1):
        item: Any = None
        with suppress(ValueError):
            item = json.loads(line)
        item = item if isinstance(item, dict) else {}
        name, start, end = (str(item.get(key) or item.get(other) or "") for key, other in _NAMES)
        if item.get("type") == "entity" and name:
            entities.setdefault(name, []).append(item)
            ids[str(item.get("id"))] = name
        elif item.get("type") == "relation" and start and end:
            relations.append((start, str(item.get("relationType") or "relates_to"), end))
        elif line.strip():
            skipped(f"{path}:{number}", "it is no JSON object of an entity or a relation with its names")
    if any(lines) and not entities:
        raise InvalidArgument(f'{path} has no line with "type": "entity".', hint="Name a memory.jsonl.")
    links: dict[str, dict[str, None]] = {}
    for start, kind, end in relations:
        links.setdefault(ids.get(start, start), {})[f"- {kind} [[{ids.get(end, end)}]]"] = None
    for name in dict.fromkeys((*entities, *links)):
        yield _record(name, entities.get(name, []), list(links.get(name, ())), path.stat().st_mtime)


def _record(name: str, same: list[dict[str, Any]], links: list[str], changed: float) -> Record:
    """The record of all entities of one name."""
    kinds = [str(item["entityType"]) for item in same if item.get("entityType")]
    told = [item.get("observations") or [] for item in same]
    seen = [one for some in told for one in (some if isinstance(some, list) else [some])]
    said = dict.fromkeys(str(one.get("content", one) if isinstance(one, dict) else one) for one in seen)
    return Record(
        key=name,
        text=markdown(["- " + text.strip().replace("\n", "\n  ") for text in said], links) or name,
        at=moment(*(item.get("createdAt") for item in same)) or datetime.fromtimestamp(changed, UTC),
        title=name,
        type=KINDS.get(kinds[0].lower(), "note") if kinds else "note",
        tags=tags_of(*kinds),
        growing=True,
    )
