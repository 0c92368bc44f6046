"""What readers share: places, kinds, tags, times, databases and Markdown files."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from ..errors import InvalidArgument
from ..files import open_regular, read_regular
from ..models import TYPES, EntryType, Proof, proof_of
from ..notes.blocks import slug_tag
from ..notes.frontmatter import FrontMatter, front_matter_end, read_front_matter
from ..notes.header import unique
from .record import Record, Skipped, told
from .source import FILE_BYTES, RECORD_BYTES, changed_at, files_below, read_json

KINDS: dict[str, EntryType] = {name: name for name in TYPES} | {
    **dict.fromkeys("bugfix change feature refactor milestone".split(), "progress"),
    **dict.fromkeys(
        "discovery learning pattern gotcha best_practice anti_pattern security_note".split(),
        "insight",
    ),
    **dict.fromkeys("bug error failure security_alert".split(), "issue"),
}
"""The entry type that other programs' kinds come nearest to. A bug that is fixed is no open
issue.
"""
_SETTINGS = tuple(
    ".claude.json .claude/settings.json .claude-mem/settings.json .cursor/mcp.json "
    ".openclaw/openclaw.json "
    ".config/Claude/claude_desktop_config.json */*/Claude/claude_desktop_config.json".split()
)
_H1 = re.compile(r"\s*#[ \t]+(\S[^\n]*)(?:\n\s*|\Z)")
_DEEP = re.compile(r"^[ \t]*(type|name|modified):([^\n]*)$", re.MULTILINE)
"""Keys at any depth, as in Claude Code's `metadata`, and of front matter that is no YAML."""
SETTINGS_BYTES = 1_000_000
STATEMENT_S = 10.0
"""Seconds in which SQLite answers one statement; a database may hold a view that never ends."""
_SAID = frozenset("title name type tags tag date created modified originsessionid".split())


def found(
    home: Path,
    environ: Mapping[str, str],
    names: Iterable[str],
    usual: Iterable[str],
    holds: str,
) -> list[Path]:
    """The files, and the folders with a file `holds`, that are at `usual` places below the home
    folder, or that these variables name in the environment or in the settings where clients
    keep what they give to
    their servers."""
    said = [environ.get(name, "") for name in names]
    key = re.compile(rf'\b(?:{"|".join(names)})"?\s*:\s*("[^"\n]+")')
    for file in (file for pattern in _SETTINGS for file in home.glob(pattern)):
        with suppress(OSError, ValueError):
            said += map(json.loads, key.findall(read_regular(file, FILE_BYTES).decode()))
    places = {home / path.removeprefix("~/") for path in said if path}
    places.update(place for pattern in usual for place in home.glob(pattern))
    return sorted(place for place in places if place.is_file() or any(place.glob(holds)))


def named_in(config: Path, table: str, key: str, home: Path) -> list[Path]:
    """The paths that a program's config, YAML or JSON, names: `table: {name: {key: PATH}}`, or
    `{name: PATH}`.
    """
    with suppress(Exception):  # there is none, or it is another program's
        said = yaml.safe_load(read_regular(config, SETTINGS_BYTES).decode().replace("\t", " "))[
            table
        ].values()
        paths = [one.get(key) if isinstance(one, dict) else one for one in said]
        return [
            home / path.removeprefix("~/") for path in paths if isinstance(path, str) and path
        ]
    return []


def tags_of(*names: str) -> tuple[str, ...]:
    """Tags of these names; `2026`, which has no letter, becomes `tag-2026`. A type of entries
    is none.
    """
    slugs = (slug_tag(name) or slug_tag(f"tag-{name}") for name in names)
    return unique(slug for slug in slugs if slug not in ("tag", *TYPES))


def moment(*values: Any) -> datetime | None:
    """The first moment among `values`: seconds or milliseconds since 1970, or ISO text, which
    is UTC without a zone.
    """
    for value in filter(None, values):
        with suppress(ValueError, TypeError, OverflowError, OSError):
            value = float(value) if isinstance(value, Decimal) else value
            if isinstance(value, int | float):
                return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None


def items_of(value: Any) -> list[str]:
    """The items of a JSON list, or the words between commas."""
    items = value.split(",") if isinstance(value, str) else []
    with suppress(ValueError, TypeError):
        items = list(read_json(value))
    return [text.strip() for text in map(words_of, items) if text.strip()]


def words_of(value: object) -> str:
    """A text, or a number as one; "" for anything else, as for a list where a text is expected."""
    return (
        value
        if isinstance(value, str)
        else str(value)
        if isinstance(value, int | float)
        else ""
    )


def markdown(*parts: str | list[str] | None, fields: Iterable[tuple[str, object]] = ()) -> str:
    """Paragraphs, of which a list gives lines, then a line `name:: value` for each field; what
    is empty is left out.
    """
    said = (
        (name, value if isinstance(value, str) else json.dumps(value))
        for name, value in fields
        if value
    )
    last = [f"{name}:: {' '.join(value.split())}" for name, value in said]
    return "\n\n".join(
        "\n".join(part) if isinstance(part, list) else part for part in (*parts, last) if part
    )


@contextmanager
def sqlite_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection to a private copy of a database and its log, as a context; the copy is
    deleted afterwards.

    A row of more than RECORD_BYTES is refused.

    A program that writes to it meanwhile is not in the way. Raises InvalidArgument where SQLite
    raises an error.
    """
    with tempfile.TemporaryDirectory(prefix="synaptic-") as folder:
        copied: list[Proof] | None = None
        for _ in range(5):  # until nothing was written while it was copied
            parts = [
                part for part in (path, path.with_name(f"{path.name}-wal")) if part.is_file()
            ]
            if copied == (copied := [proof_of(part.stat()) for part in parts]):
                break
            for old in Path(
                folder
            ).iterdir():  # a log that is gone would be played into the newer database
                old.unlink()
            for part in parts:
                with open_regular(part) as file, Path(folder, part.name).open("wb") as copy:
                    shutil.copyfileobj(file, copy)
        try:
            with closing(sqlite3.connect(Path(folder, path.name))) as db:
                db.row_factory, db.text_factory = (
                    sqlite3.Row,
                    lambda raw: raw.decode("utf-8", "replace"),
                )
                db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, RECORD_BYTES)
                db.execute("PRAGMA trusted_schema = OFF")
                yield db
        except sqlite3.DatabaseError as error:
            raise InvalidArgument(
                f"{path} cannot be read: {error}.", hint="Name the program's database."
            ) from error


def fetched(
    db: sqlite3.Connection, sql: str, values: Sequence[object] = ()
) -> Iterator[sqlite3.Row]:
    """The rows of one statement. Raises sqlite3.OperationalError after STATEMENT_S of SQLite's
    own time.
    """
    spent, begun = 0.0, time.monotonic()
    db.set_progress_handler(lambda: spent + time.monotonic() - begun > STATEMENT_S, 10_000)
    cursor = db.execute(sql, values)
    while (row := cursor.fetchone()) is not None:
        spent += time.monotonic() - begun
        yield row
        begun = time.monotonic()


def rows(
    path: Path, tables: Mapping[str, set[str]], skipped: Skipped
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(table, row by column) of those tables that have these columns. Raises InvalidArgument if
    none has.

    A table that cannot be read to its end is told. Bytes in place of a text count as nothing.
    """
    with sqlite_copy(path) as db:
        has = {
            name: {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
            for name in tables
        }
        there = [name for name in tables if tables[name] <= has[name]]
        if not there:
            raise InvalidArgument(
                f"{path} has no table {' or '.join(tables)}.",
                hint="Name the program's database.",
            )
        for name in there:
            number = 0
            try:
                for row in fetched(db, f"SELECT * FROM {name}"):
                    number += 1
                    yield (
                        name,
                        {
                            key: None if isinstance(row[key], bytes) else row[key]
                            for key in row.keys()  # noqa: SIM118
                        },
                    )
            except (sqlite3.DatabaseError, OverflowError) as error:
                skipped(f"{path}: {name}", f"it is damaged after its row {number}: {error}")


def headed(text: str) -> tuple[str, str]:
    """The H1 that a text begins with, "" without one, and what stands below it."""
    h1 = _H1.match(text)
    title = h1[1].rstrip(" \t#") if h1 else ""
    return (title, text[h1.end() :]) if h1 and title else ("", text)


def notes(
    path: Path, skipped: Skipped, within: Iterable[str] = ()
) -> Iterator[tuple[Path, Record]]:
    """The Markdown files below a folder, or below its parts `within`, or the one of this name,
    each as a record.

    What is hidden is left out. A record's title is `title` or `name` of the front matter, the
    H1 or the file's name; `type` is its kind. Other keys become fields. Its time is the front
    matter's, or when the file last changed.
    """
    files = files_below(path, skipped, "*.md") if path.is_dir() or path.suffix == ".md" else []
    files = [
        file
        for file in files
        if not any(part.startswith(".") for part in file.relative_to(path).parts)
    ]
    files = [file for file in files if not within or file.relative_to(path).parts[0] in within]
    if not files:
        raise InvalidArgument(
            f"{path} holds no Markdown files.", hint="Name the folder that does, or one file."
        )
    for file in files:
        with told(skipped, str(file)):
            yield (
                file,
                _note(
                    file,
                    read_regular(file, RECORD_BYTES).decode("utf-8-sig").replace("\r\n", "\n"),
                ),
            )


def _note(path: Path, text: str) -> Record:
    block = front_matter_end(text, 0)
    head, front = (text[block[0] : block[1]] if block else ""), None
    with suppress(yaml.YAMLError):
        front = read_front_matter(head)
    text = text[block[2] :] if block and front else text
    deep = {name: value.strip(" \t\"'") for name, value in _DEEP.findall(head)}
    front = front or FrontMatter()
    title = front.title or deep.get("name", "")
    heading, below = headed(text)
    if heading and heading == (title or heading):
        title, text = heading, below
    if not text.strip() and not title:
        raise ValueError("it is empty")
    return Record(
        key=next(
            (value for name, value in front.fields if name == "permalink"), _from_home(path)
        ),
        text=markdown(
            text.strip() or title,
            fields=(field for field in front.fields if field[0] not in _SAID),
        ),
        at=front.created_at or moment(deep.get("modified")) or changed_at(path).astimezone(UTC),
        title=title or path.stem,
        type=KINDS.get(deep.get("type", "").lower(), "note"),
        tags=tags_of(*front.tags, deep.get("type", "")),
        growing=True,
    )


def _from_home(path: Path) -> str:
    """The path as it is called from the home folder, if it lies there: so it stays the same for
    another user name.
    """
    place, home = path.absolute(), Path.home()
    return (place.relative_to(home) if place.is_relative_to(home) else place).as_posix()
