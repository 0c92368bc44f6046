"""Helpers of several readers: places, kinds, tags, times, databases and Markdown files."""

import json
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, time
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ....errors import InvalidArgument
from ....files import SETTINGS_BYTES, open_regular_file, read_regular_file
from ....kinds import FOREIGN
from ....models import TYPES, EntryType, Json, Pairs, Texts
from ....notes.blocks import slug_tag
from ....notes.dates import date_in_path, moment_in_value
from ....notes.frontmatter import FrontMatter, match_front_matter, read_front_matter
from ....notes.header import unique
from ....notes.reading import body_span
from .record import Record, Skipped, report_errors
from .source import RECORD_BYTES, find_files, modification_time, read_json, relative_to_home

_H1 = re.compile(r"\s*#[ \t]+(\S[^\n]*)(?:\n\s*|\Z)")
_CONTROL = re.compile(
    r"(?s)\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)|"
    r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]"
)
DAY_FILE = "%Y-%m-%d.md"
"""The form of a name by which `date_in_path` finds the day of a file of another program."""
STEPS = 1_000_000_000
"""The most SQLite instructions for one statement, about ten seconds. A view may never end."""
_KNOWN_KEYS = frozenset("title name tags tag date created modified originsessionid".split())


def find_places(
    home: Path,
    environ: Mapping[str, str],
    names: Iterable[str],
    usual: Iterable[str],
    holds: str,
) -> list[Path]:
    """Returns the files of one program, and the folders that contain a file named like the
    pattern `holds`.

    `usual` are patterns below the home folder, `names` variables of the environment.
    """
    paths = [environ.get(name, "") for name in names]
    places = {home / path.removeprefix("~/") for path in paths if path}
    for pattern in usual:
        places.update(home.glob(pattern))
    return sorted(place for place in places if place.is_file() or any(place.glob(holds)))


def paths_in_config(config: Path, table: str, key: str, home: Path) -> list[Path]:
    """Returns the paths that a program's config file (YAML or JSON) lists.

    It holds `table: {name: {key: PATH}}`, or `{name: PATH}`.
    """
    places = []
    with suppress(Exception):  # no such file, or another program's
        text = read_regular_file(config, SETTINGS_BYTES).decode().replace("\t", " ")
        for value in yaml.safe_load(text)[table].values():
            path = value.get(key) if isinstance(value, dict) else value
            if isinstance(path, str) and path:
                places.append(home / path.removeprefix("~/"))
    return places


def strip_blank_lines(text: str) -> str:
    """The text without blank lines and blanks at its end and blank lines before it; its first
    line stays indented.
    """
    return text[slice(*body_span(text, 0, len(text)))].rstrip()


def make_tags(*names: str) -> Texts:
    """Makes tags of these names; `2026`, which has no letter, becomes `tag-2026`.

    The name of an entry type gives no tag.
    """
    return unique(slug for slug in map(make_tag, names) if slug not in ("tag", *TYPES))


def make_tag(name: str) -> str:
    """Makes a tag of a name: `At sea` -> `at-sea`, `-old` -> `old`, `2026` -> `tag-2026`."""
    return slug_tag(name) or slug_tag(f"tag-{name}")


def first_valid_time(*values: Any) -> datetime | None:
    """Returns the first of the values that is a valid time: seconds or milliseconds since 1970,
    or ISO text. None if there is none.

    ISO text without a zone is UTC.
    """
    for value in filter(None, values):
        with suppress(ValueError, TypeError, OverflowError, OSError):
            if isinstance(value, int | float):
                seconds = value / 1000 if value > 1e11 else value  # milliseconds or seconds
                return datetime.fromtimestamp(seconds, UTC)
            at = datetime.fromisoformat(value)
            return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None


def split_items(value: Any) -> list[str]:
    """Returns the items of a JSON list, or of a text with commas between."""
    items = value.split(",") if isinstance(value, str) else []
    with suppress(ValueError, TypeError):
        items = list(read_json(value))
    texts = [text_at(item).strip() for item in items]
    return [text for text in texts if text]


def value_at(value: object, *keys: str) -> Any:
    """Returns the value at these nested keys; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def list_at(value: object, *keys: str) -> list[Any]:
    """Returns the list at these nested keys; [] if there is none."""
    value = value_at(value, *keys)
    return value if isinstance(value, list) else []


def text_at(value: object, *keys: str) -> str:
    """Returns the text at these nested keys: a text or number, an object with `text`, `output`
    or `result`, or a list of these; "" for any other value.

    Thoughts, colours, control characters and halves of surrogates are left out.
    """
    value = value_at(value, *keys)
    if isinstance(value, list):
        return "\n".join(filter(None, map(text_at, value)))
    if isinstance(value, dict):
        inner = next(filter(None, map(value.get, ("text", "output", "result"))), "")
        return "" if value.get("thought") else text_at(inner)
    return _CONTROL.sub("", str(value)) if isinstance(value, str | int | float) else ""


def join_markdown(
    *parts: str | list[str] | None, fields: Iterable[tuple[str, object]] = ()
) -> str:
    """Joins paragraphs, lists of lines, and a line `name:: value` for each field, to
    Markdown.

    Empty parts and fields are left out.
    """
    lines = []
    for name, value in fields:
        if value:
            text = value if isinstance(value, str) else json.dumps(value)
            lines.append(f"{name}:: {' '.join(text.split())}")
    paragraphs = ["\n".join(part) if isinstance(part, list) else part for part in parts]
    return "\n\n".join(filter(None, [*paragraphs, "\n".join(lines)]))


def fields_beside(text: str, fields: Pairs) -> Pairs:
    """The fields of front matter that stand beside a text: those that it says itself count
    once, as they do where a note is read in its place.
    """
    lower = text.lower()
    return tuple(one for one in fields if f"{one[0]}::" not in lower)


@contextmanager
def open_sqlite_copy(path: Path) -> Iterator[sqlite3.Connection]:
    """Opens a private copy of an SQLite database and its log while the block runs, and deletes
    the copy afterwards.

    A row of more than RECORD_BYTES is refused. Raises InvalidArgument for an error of SQLite.
    """
    with tempfile.TemporaryDirectory(prefix="synaptic-") as folder:
        for part in (path, path.with_name(f"{path.name}-wal")):
            copy = Path(folder, part.name)
            with (
                suppress(FileNotFoundError),
                open_regular_file(part) as file,
                copy.open("wb") as to,
            ):
                shutil.copyfileobj(file, to)
        try:
            with closing(sqlite3.connect(Path(folder, path.name))) as db:
                db.row_factory = sqlite3.Row
                db.text_factory = lambda raw: raw.decode("utf-8", "replace")
                db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, RECORD_BYTES)
                db.execute("PRAGMA trusted_schema = OFF")
                yield db
        except sqlite3.DatabaseError as error:
            raise InvalidArgument(
                f"{path} is not a readable SQLite database: {error}.",
                "Give the path of the database of the program that you import from.",
            ) from error


def run_statement(
    db: sqlite3.Connection, sql: str, values: Sequence[object] = ()
) -> sqlite3.Cursor:
    """Runs a statement and returns its cursor. Raises sqlite3.OperationalError after STEPS
    instructions of SQLite.
    """
    rounds = count()
    db.set_progress_handler(lambda: next(rounds) > STEPS / 10_000, 10_000)
    return db.execute(sql, values)


def read_table_rows(
    path: Path, tables: Mapping[str, set[str]], skipped: Skipped
) -> Iterator[tuple[str, Json]]:
    """Yields (table, row as a dict) of the tables that have at least these columns.

    A table that ends with an error is reported to `skipped`. Raises InvalidArgument if no table
    has its columns.
    """
    with open_sqlite_copy(path) as db:
        names = []
        for name, wanted in tables.items():
            columns = {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
            if wanted <= columns:
                names.append(name)
        if not names:
            raise InvalidArgument(
                f"{path} has no table {' or '.join(tables)} with the columns that are known.",
                "Give the path of the database of the program that you import from.",
            )
        for name in names:
            number = 0
            try:
                for row in run_statement(db, f"SELECT * FROM {name}"):
                    number += 1
                    yield name, dict(row)
            except (sqlite3.DatabaseError, OverflowError) as error:
                skipped(f"{path}: {name}", f"it is damaged after its row {number}: {error}")


def split_off_heading(text: str) -> tuple[str, str]:
    """Splits a text that begins with an H1 into (title, body); returns ("", text) for any
    other.
    """
    h1 = _H1.match(text)
    title = h1[1].rstrip(" \t#") if h1 else ""
    return (title, text[h1.end() :]) if h1 and title else ("", text)


def read_notes(
    path: Path, skipped: Skipped, within: Sequence[str] = ()
) -> Iterator[tuple[Path, Record]]:
    """Yields (file, record) for each Markdown file below a folder or in its subfolders
    `within`, or for one file.

    Hidden files are left out. A record's title is `title` or `name` of the front matter, else
    the H1, else the file's name; `type` is its kind; other keys become fields. Its time is that
    of the front matter, else of the file.
    """
    files = []
    if path.is_dir() or path.suffix == ".md":
        for file in find_files(path, skipped, "*.md"):
            parts = file.relative_to(path).parts
            is_hidden = any(part.startswith(".") for part in parts)
            if not is_hidden and (not within or parts[0] in within):
                files.append(file)
    if not files:
        raise InvalidArgument(
            f"{path} holds no Markdown files.",
            "Give a folder with Markdown files, or one Markdown file.",
        )
    for file in files:
        with report_errors(skipped, str(file)):
            text = read_regular_file(file, RECORD_BYTES).decode("utf-8-sig")
            yield file, _read_note(file, text.replace("\r\n", "\n"))


class Note(NamedTuple):
    """A note of Markdown: the `title` of its front matter, the `text` below that, the `kind`,
    which is a type of notes, and other keys as `fields`.
    """

    title: str
    text: str
    front: FrontMatter
    kind: str
    fields: Pairs

    @property
    def tags(self) -> Texts:
        return make_tags(*self.front.tags, self.kind)

    @property
    def type(self) -> EntryType:
        return FOREIGN.get(self.kind.lower(), "note")


def parse_note(text: str) -> Note:
    """Parses the text of a note of Markdown."""
    block = match_front_matter(text, 0)
    front = None
    if block:
        front = read_front_matter(block["fields"], is_toml=not block["yaml"])
    if front and block and (front.fields or not front.problem):
        text = text[block.end() :]
    front = front or FrontMatter()
    values = dict(reversed(front.fields))
    title = front.title or values.get("name", "")
    kind = values.get("type", "")
    fields = [item for item in front.fields if item[0] not in _KNOWN_KEYS]
    if kind in TYPES:
        fields.remove(("type", kind))
    return Note(title, text, front, kind, tuple(fields))


def _read_note(path: Path, text: str) -> Record:
    note = parse_note(text)
    title, text = note.title, note.text
    heading, body = split_off_heading(text)
    if heading and heading == (title or heading):
        title, text = heading, body
    if not text.strip() and not title:
        raise ValueError("it is empty")
    changed = modification_time(path).astimezone(UTC)
    at = moment_of_note(note.front, path.stem, changed)
    return Record(
        key=dict(note.front.fields).get("permalink") or relative_to_home(path),
        text=join_markdown(
            strip_blank_lines(text) or title, fields=fields_beside(text, note.fields)
        ),
        at=at,
        dated=at is not changed,
        title=title or path.stem,
        type=note.type,
        tags=note.tags,
        growing=True,
    )


def moment_of_note(front: FrontMatter, name: str, changed: datetime) -> datetime:
    """The time of the front matter, the day of the file's name or path, else the time of its
    last change.
    """
    named = date_in_path(f"{name}.md", DAY_FILE)
    day = datetime.combine(named.day, time()) if named else None
    modified = moment_in_value(dict(reversed(front.fields)).get("modified", ""))
    return front.created_at or day or modified or changed
