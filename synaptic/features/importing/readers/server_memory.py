"""Reads the knowledge graph of @modelcontextprotocol/server-memory (seen: 2026.8.31), a JSON
object a line, or several, and cut ones, where two calls wrote at once:

    {"type": "entity", "name": ..., "entityType": ..., "observations": ["...", ...]}
    {"type": "relation", "from": ..., "to": ..., "relationType": ...}

Forks' observations are objects with `content`. The time is that of the file, `memory.jsonl`
beside the program, or at `MEMORY_FILE_PATH`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ....errors import InvalidArgument
from ....files import read_regular_file
from ....kinds import FOREIGN
from .record import Record, Skipped, report_errors
from .shared import find_places, join_markdown, list_at, make_tags, text_at
from .source import FILE_BYTES, json_values, modification_time

_PROGRAM = ".npm/_npx/*/node_modules/@modelcontextprotocol/server-memory/dist"
BEGIN = '{"type":'
OBSERVATIONS = 500_000
"""The most observations that are read: all are kept in memory, because a name may occur in
several lines.
"""
find = partial(find_places, names=["MEMORY_FILE_PATH"], usual=[_PROGRAM], holds="memory.jsonl")


@dataclass(slots=True)
class Entity:
    """All data about one name of the knowledge graph; `observations` and `links` are lines of
    Markdown.
    """

    kinds: list[str] = field(default_factory=list)
    observations: dict[str, None] = field(default_factory=dict)
    links: dict[str, None] = field(default_factory=dict)


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    path = path / "memory.jsonl" if path.is_dir() else path
    entities: dict[str, Entity] = {}
    count = 0
    lines = (
        read_regular_file(path, FILE_BYTES).splitlines() if path.exists() else [b"no such file"]
    )
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}"
        items: list[Any] = []
        with report_errors(skipped, where):
            items += json_values(line.decode(), BEGIN)
        for item in items:
            with report_errors(skipped, where):
                if isinstance(item, ValueError):
                    raise item
                count += len(list_at(item, "observations"))
                if count > OBSERVATIONS:
                    raise ValueError(f"only {OBSERVATIONS:,} observations are read")
                _add(entities, item)
    if any(lines) and not entities:
        raise InvalidArgument(
            f'{path} has no line with "type": "entity".',
            "Give the path of the file memory.jsonl.",
        )
    changed = modification_time(path).astimezone(UTC)
    for name, entity in entities.items():
        with report_errors(skipped, f"{path}: {name}"):
            yield _record(name, entity, changed)


def _add(entities: dict[str, Entity], item: Any) -> None:
    is_relation = item["type"] == "relation"
    if not is_relation and item["type"] != "entity":
        raise ValueError("it is neither an entity nor a relation")
    entity = entities.setdefault(item["from" if is_relation else "name"], Entity())
    if is_relation:
        kind = text_at(item, "relationType") or "relates_to"
        entity.links[f"- {kind} [[{item['to']}]]"] = None
        return
    entity.kinds += filter(None, [text_at(item, "entityType")])
    for observation in list_at(item, "observations"):
        fact = text_at(observation) or text_at(observation, "content")
        text = fact.strip().replace("\n", "\n  ")
        if text:
            entity.observations[f"- {text}"] = None


def _record(name: str, entity: Entity, changed: datetime) -> Record:
    kind = entity.kinds[0].lower() if entity.kinds else ""
    return Record(
        key=name,
        text=join_markdown(list(entity.observations), list(entity.links)) or name,
        at=changed,
        dated=False,
        title=name,
        type=FOREIGN.get(kind, "note"),
        tags=make_tags(*entity.kinds),
        growing=True,
    )
