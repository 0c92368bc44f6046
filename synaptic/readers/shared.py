"""What the readers of other programs' memories share: places, kinds, tags, times, databases and Markdown files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from ..errors import InvalidArgument
from ..models import TYPES, EntryType
from ..notes.blocks import slug_tag
from ..notes.frontmatter import FrontMatter, front_matter_end, read_front_matter
from ..notes.header import unique
from .record import Record, Skipped, sqlite_copy

KINDS: dict[str, EntryType] = {name: name for name in TYPES} | {
    **dict.fromkeys("bugfix change feature refactor milestone".split(), "progress"),
    **dict.fromkeys("discovery learning pattern gotcha best_practice anti_pattern security_note".split(), "insight"),
    **dict.fromkeys("bug error failure security_alert".split(), "issue"),
}
"""The entry type that other programs' kinds come nearest to. A bug that is fixed is no open issue."""
_SETTINGS = tuple(
    ".claude.json .claude/settings.json .claude-mem/settings.json .cursor/mcp.json .openclaw/openclaw.json "
    ".config/Claude/claude_desktop_config.json */*/Claude/claude_desktop_config.json".split()
)
_H1 = re.compile(r"\s*#[ \t]+(\S[^\n]*?)[ \t#]*(?:\n\s*|\Z)")
_KIND = re.compile(r"^[ \t]*type:[ \t]*[\"']?([\w-]+)", re.MULTILINE)


def found(home: Path, environ: Mapping[str, str], names: Iterable[str], usual: Iterable[str], holds: str) -> list[Path]:
    """The files that are named, and the folders in which a file `holds` is.

    `names` are keys of the environment and of the settings in which clients keep what they give to their servers;
    `usual` are places below the home folder.
    """
    said = [environ.get(name, "") for name in names]
    key = re.compile(rf'\b(?:{"|".join(names)})"?\s*:\s*("[^"\n]+")')
    for file in (file for pattern in _SETTINGS for file in home.glob(pattern)):
        with suppress(OSError, ValueError):
            said += map(json.loads, key.findall(file.read_text("utf-8")))
    places = {home / path.removeprefix("~/") for path in said if path}
    places.update(place for pattern in usual for place in home.glob(pattern))
    return sorted(place for place in places if place.is_file() or any(place.glob(holds)))


def tags_of(*names: str) -> tuple[str, ...]:
    """Tags of these names; `2026`, which has no letter, becomes `tag-2026`. A type of entries is none."""
    slugs = (slug_tag(name) or slug_tag(f"tag-{name}") for name in names if name not in TYPES)
    return unique(slug for slug in slugs if slug != "tag")


def moment(*values: object) -> datetime | None:
    """The first moment among `values`: seconds or milliseconds since 1970, or ISO text, which is UTC without a zone."""
    for value in values:
        with suppress(ValueError, OverflowError, OSError):
            if isinstance(value, int | float) and value > 0:
                return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
            if isinstance(value, str):
                at = datetime.fromisoformat(value.strip())
                return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None


def listed(value: object) -> list[str]:
    """The items of a JSON list, or of words between commas."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = str(value).split(",")
    return [str(item).strip() for item in value if item] if isinstance(value, list) else []


def properties(fields: Iterable[tuple[str, object]]) -> list[str]:
    """A line `name:: value` for each field that says something: fields of an entry can be searched."""
    said = ((name, value if isinstance(value, str) else json.dumps(value)) for name, value in fields if value)
    return [f"{name}:: {' '.join(value.split())}" for name, value in said]


def markdown(*parts: str | list[str] | None) -> str:
    """The paragraphs that say something; a list gives lines."""
    return "\n\n".join("\n".join(part) if isinstance(part, list) else part for part in parts if part)


def rows(path: Path, tables: Mapping[str, set[str]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(table, row by column) of those tables that have these columns. Raises InvalidArgument if none has."""
    with sqlite_copy(path) as db:
        db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        there = [
            name for name in tables if tables[name] <= {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
        ]
        if not there:
            raise InvalidArgument(f"{path} has no table {' or '.join(tables)}.", hint="Name the program's database.")
        for name in there:
            yield from ((name, dict(row)) for row in db.execute(f"SELECT * FROM {name}"))


def notes(path: Path, skipped: Skipped) -> Iterator[tuple[Path, Record]]:
    """The Markdown files below a folder, or the one of this name, each as a record; none that is hidden.

    Its title is `title` or `name` of its front matter, its H1 or the file's name; `type` is its kind. Other keys of the
    front matter become properties. Its time is the front matter's, or when the file last changed.
    """
    files = [path] if path.suffix == ".md" and path.is_file() else sorted(path.rglob("*.md"))
    files = [file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not files:
        raise InvalidArgument(f"{path} holds no Markdown files.", hint="Name the folder that does, or one file.")
    for file in files:
        try:
            yield file, _note(file, file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
        except (OSError, ValueError) as error:
            skipped(str(file), f"it cannot be read as text: {error}")


def _note(path: Path, text: str) -> Record:
    front, head = FrontMatter(), ""
    with suppress(yaml.YAMLError):
        if (block := front_matter_end(text, 0)) and (read := read_front_matter(text[block[0] : block[1]])):
            front, head, text = read, text[block[0] : block[1]], text[block[2] :]
    title = front.title or dict(front.fields).get("name", "")
    if (h1 := _H1.match(text)) and h1[1] == (title or h1[1]):
        title, text = h1[1], text[h1.end() :]
    if not text.strip() and not title:
        raise ValueError("it is empty")
    kind = (_KIND.findall(head) or [""])[-1]
    said = ("title", "name", "type", "tags", "tag", "date", "created")
    return Record(
        key=path.absolute().as_posix(),
        text=markdown(text.strip() or title, properties(field for field in front.fields if field[0] not in said)),
        at=front.created_at or datetime.fromtimestamp(path.stat().st_mtime, UTC),
        title=title or path.stem,
        type=KINDS.get(kind, "note"),
        tags=tags_of(*front.tags, kind),
        growing=True,
    )
