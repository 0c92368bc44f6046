"""Reads the knowledge graph of @modelcontextprotocol/server-memory (seen: 2026.8.31), a JSON
object a line:

    {"type": "entity", "name": ..., "entityType": ..., "observations": ["...", ...]}
    {"type": "relation", "from": ..., "to": ..., "relationType": ...}

Forks write `entityName`, `from_id` and `to_id` (an entity's `id`), observations that are
objects with `content`, and `createdAt`; else the time is the file's. The file is `memory.jsonl`
beside the program, or at `MEMORY_FILE_PATH`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from ..files import read_regular
from .record import Record, Skipped, reporting
from .shared import KINDS, find_places, markdown, moment, tags_of, text_of
from .source import FILE_BYTES, changed_at, read_json

_PROGRAM = ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist"
OBSERVATIONS = 500_000
"""Observations that are read: all are kept in memory, for a name may stand in several lines."""
find = partial(find_places, names=["MEMORY_FILE_PATH"], usual=[_PROGRAM], holds="memory.jsonl")


@dataclass(slots=True)
class Entity:
    """All lines about one name."""

    kinds: list[str] = field(default_factory=list)
    observations: dict[str, None] = field(default_factory=dict)
    created: list[object] = field(default_factory=list)
    links: dict[str, None] = field(default_factory=dict)


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "memory.jsonl" if path.is_dir() else path
    entities: dict[str, Entity] = {}
    relations: list[tuple[str, str, str]] = []
    names: dict[str, str] = {}
    count = 0
    lines = read_regular(path, FILE_BYTES).splitlines() if path.exists() else [b"no such file"]
    for number, line in enumerate(lines, 1):
        item = _object(line)
        name = _first(item, "name", "entityName")
        start, end = _first(item, "from", "from_id"), _first(item, "to", "to_id")
        if item.get("type") == "entity" and name:
            texts = _texts(item.get("observations"))
            count += len(texts)
            if count > OBSERVATIONS:
                skipped(f"{path}:{number}", f"only {OBSERVATIONS:,} observations are read")
                continue
            names[text_of(item, "id") or name] = name
            entity = entities.setdefault(name, Entity())
            entity.kinds += filter(None, [text_of(item, "entityType")])
            entity.observations |= dict.fromkeys(texts)
            entity.created.append(item.get("createdAt"))
        elif item.get("type") == "relation" and start and end:
            relations.append((start, text_of(item, "relationType") or "relates_to", end))
        elif line.strip():
            skipped(
                f"{path}:{number}",
                "it is no JSON object of an entity or a relation with its names",
            )
    if any(lines) and not entities:
        raise InvalidArgument(
            f'{path} has no line with "type": "entity".', hint="Name a memory.jsonl."
        )
    for start, kind, end in relations:
        entity = entities.setdefault(names.get(start, start), Entity())
        entity.links[f"- {kind} [[{names.get(end, end)}]]"] = None
    for name, entity in entities.items():
        with reporting(skipped, f"{path}: {name}"):
            yield _record(name, entity, changed_at(path).astimezone(UTC))


def _record(name: str, entity: Entity, changed: datetime) -> Record:
    texts = ["- " + text.strip().replace("\n", "\n  ") for text in entity.observations]
    kind = entity.kinds[0].lower() if entity.kinds else ""
    return Record(
        key=name,
        text=markdown(texts, list(entity.links)) or name,
        at=moment(*entity.created) or changed,
        title=name,
        type=KINDS.get(kind, "note"),
        tags=tags_of(*entity.kinds),
        growing=True,
    )


def _object(line: bytes) -> dict[str, Any]:
    with suppress(ValueError, RecursionError):
        item = read_json(line)
        if isinstance(item, dict):
            return item
    return {}


def _first(item: dict[str, Any], *keys: str) -> str:
    return next(filter(None, (text_of(item.get(key)) for key in keys)), "")


def _texts(observations: object) -> list[str]:
    values = observations if isinstance(observations, list) else [observations]
    texts = []
    for value in values:
        text = text_of(value.get("content") if isinstance(value, dict) else value)
        if text:
            texts.append(text)
    return texts
