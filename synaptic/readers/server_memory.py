"""Reads the knowledge graph of @modelcontextprotocol/server-memory (seen: 2026.8.31), a JSON
object a line:

    {"type": "entity", "name": ..., "entityType": ..., "observations": ["...", ...]}
    {"type": "relation", "from": ..., "to": ..., "relationType": ...}

Forks write `entityName`, `from_id` and `to_id` (an entity's `id`), observations that are
objects with `content`, and `createdAt`; else the time is the file's. It is `memory.jsonl`
beside the program, or where `MEMORY_FILE_PATH` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from ..files import read_regular
from .record import Record, Skipped, told
from .shared import KINDS, found, markdown, moment, tags_of, words_of
from .source import FILE_BYTES, changed_at, read_json

_PROGRAM = ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist"
_NAMES = (("name", "entityName"), ("from", "from_id"), ("to", "to_id"))
OBSERVATIONS = 500_000
"""All of them are kept in memory, for an entity may stand in several lines."""
find = partial(found, names=["MEMORY_FILE_PATH"], usual=[_PROGRAM], holds="memory.jsonl")


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "memory.jsonl" if path.is_dir() else path
    entities: dict[str, list[dict[str, Any]]] = {}
    relations: list[tuple[str, str, str]] = []
    ids: dict[str, str] = {}
    count = 0
    lines = read_regular(path, FILE_BYTES).splitlines() if path.exists() else [b"no such file"]
    for number, line in enumerate(lines, 1):
        item: Any = None
        with suppress(ValueError, RecursionError):
            item = read_json(line)
        item = item if isinstance(item, dict) else {}
        name, start, end = (words_of(item.get(key) or item.get(other)) for key, other in _NAMES)
        if item.get("type") == "entity" and name:
            texts = _texts(item.get("observations"))
            count += len(texts)
            if count > OBSERVATIONS:
                skipped(
                    f"{path}:{number}",
                    f"it stands behind the {OBSERVATIONS:,} observations that are read",
                )
                continue
            entities.setdefault(name, []).append({**_about(item), "observations": texts})
            ids[words_of(item.get("id")) or name] = name
        elif item.get("type") == "relation" and start and end:
            relations.append((start, words_of(item.get("relationType")) or "relates_to", end))
        elif line.strip():
            skipped(
                f"{path}:{number}",
                "it is no JSON object of an entity or a relation with its names",
            )
    if any(lines) and not entities:
        raise InvalidArgument(
            f'{path} has no line with "type": "entity".', hint="Name a memory.jsonl."
        )
    links: dict[str, dict[str, None]] = {}
    for start, kind, end in relations:
        links.setdefault(ids.get(start, start), {})[f"- {kind} [[{ids.get(end, end)}]]"] = None
    for name in dict.fromkeys((*entities, *links)):
        with told(skipped, f"{path}: {name}"):
            yield _record(
                name,
                entities.get(name, []),
                list(links.get(name, ())),
                changed_at(path).astimezone(UTC),
            )


def _record(
    name: str, same: list[dict[str, Any]], links: list[str], changed: datetime
) -> Record:
    """The record of all entities of one name."""
    kinds = [item["entityType"] for item in same if item["entityType"]]
    said = dict.fromkeys(text for item in same for text in item["observations"])
    return Record(
        key=name,
        text=markdown(["- " + text.strip().replace("\n", "\n  ") for text in said], links)
        or name,
        at=moment(*(item["createdAt"] for item in same)) or changed,
        title=name,
        type=KINDS.get(kinds[0].lower(), "note") if kinds else "note",
        tags=tags_of(*kinds),
        growing=True,
    )


def _texts(observations: object) -> list[str]:
    seen = observations if isinstance(observations, list) else [observations]
    texts = (words_of(one.get("content") if isinstance(one, dict) else one) for one in seen)
    return list(filter(None, texts))


def _about(item: dict[str, Any]) -> dict[str, Any]:
    return {"entityType": words_of(item.get("entityType")), "createdAt": item.get("createdAt")}
