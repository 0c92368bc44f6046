"""Reads tables (`.csv`, `.tsv`): each row is an entry.

The first row names the columns, in any order. The text is UTF-8, UTF-16, cp1252 or cp932
(Windows, also in Japan); cells are divided by commas, semicolons, tabs or `|`, and one in
quotation marks may have several lines. A first line `sep=;` is that of Excel.

| column        | names, in any case               | becomes                        |
|---------------|----------------------------------|--------------------------------|
| day           | `date`, `Datum`, `fecha`, `日付` | the day, also with its time    |
| time          | `time`, `Uhrzeit`, `heure`       | the time of that day           |
| title         | `title`, `Titel`, `titre`        | the title                      |
| text          | `text`, `entry`, `note`, `本文`  | the text                       |
| tags          | `tags`, `labels`, `タグ`         | tags                           |
| type, project | `type`, `Typ`; `project`         | both, as an entry has them     |
| any other     | `mood`                           | a line `mood:: good`           |

`10/3/2026` is read in the order that another row of its column proves.

A table without a day is a list, as of people: it needs a column of a text (`remark` will do),
and one of a title or a `name`. Its entries have no date but that of the file.
"""

import re
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, time
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from ....errors import InvalidArgument
from ....kinds import FOREIGN
from ....models import Pairs
from ....notes.dates import fold_letters, moment_in_value, moment_of_stamp
from .archive import Export, open_export
from .documents import CONTROL, MOST_CHARS, name_utf16
from .record import Record, Skipped, report_errors
from .shared import join_markdown, make_tags, strip_blank_lines

ENDINGS = (".csv", ".tsv")
COLUMNS = {
    "day": "full_date date day created created_at creation_date date_created entry_date"
    " datetime date_time timestamp when at datum erstellt erstellt_am jour cree cree_le"
    " date_de_creation fecha dia creado 日付 年月日 日時 作成日 作成日時 日",
    "time": "time hour uhrzeit zeit heure hora 時刻 時間",
    "title": "title subject headline note_title titel uberschrift betreff titre titulo タイトル"
    " 題名 件名 表題",
    "text": "text entry note content body notes journal diary message description eintrag"
    " inhalt notiz notizen tagebuch texte entree contenu texto entrada contenido nota notas"
    " 本文 内容 日記 メモ テキスト",
    "tags": "tags tag labels label keywords schlagworter schlagworte stichworter etiquettes"
    " mots_cles etiquetas etiqueta タグ",
    "type": "type typ tipo 種類",
    "project": "project projekt projet proyecto プロジェクト",
}
"""Folded names of the columns, the likeliest first."""
_MOST_NAMES, _MOST_COLUMNS = 5, 20
"""The most names of a role, and the most columns of a file, that an error lists."""
_DAY_IN_GERMAN = "tag"
_OF_LISTS = {
    "title": "name full_name display_name nom nombre nome 名前 氏名",
    "text": "remark remarks comment comments bemerkung bemerkungen kommentar anmerkung remarque"
    " commentaire comentario observaciones 備考 コメント",
}
"""More names of two columns, in a table without a day."""
_BLANKS = re.compile(r"[\s_.-]+")
_SEPARATORS = ",;\t|"
_SEPARATOR_LINE = re.compile(r"(?i)sep=([,;\t|])\r?\n")
_TWO_READINGS = re.compile(r"\s*(\d{1,2})([/-])(\d{1,2})\2(\d{4}|\d\d)(?!\d)(.*)", re.DOTALL)
_SHORT_YEAR = re.compile(r"\s*(\d{1,2})\.\s?(\d{1,2})\.\s?(\d\d)(?!\d)(.*)", re.DOTALL)
_CLOCK_OF_DOTS = re.compile(r"\A(\d{1,2})[.hH](\d\d)(?=\D|\Z)|\s*(?:Uhr|uhr|h)\Z")
_BETWEEN_TAGS = re.compile(r"[,;\n、]+|\s+(?=#)")
_NOT_IN_NAME = re.compile(r"[^\w./-]+")
_MOST_LINES = 50
"""Behind a row with a wrong quotation mark reading goes on at its second line, if it seems to
have no more lines than these: each line is read a limited number of times.
"""
_WINDOWS = ("utf-8-sig", "cp1252", "cp932")
Header = Sequence[str]


class TableRow(NamedTuple):
    """A row of a table, the first of whose lines has the number `line`; `wrong` says why it
    cannot be read, "" if it can.
    """

    line: int
    cells: list[str]
    wrong: str = ""


@dataclass(slots=True)
class _Table:
    """The text of a file, the names of its columns, and the numbers of those with a role."""

    text: str
    separator: str
    header: Header
    columns: dict[str, int]

    def rows(self) -> Iterator[TableRow]:
        """Yields the rows below the header."""
        return islice(_rows_with_cells(self.text, self.separator), 1, None)


def read(path: Path | Export, skipped: Skipped) -> Iterator[Record]:
    """Yields a record for each row with a day and a text, or of a list. A row that has all
    cells of another one of the import is left out.
    """
    files = open_export(path, skipped)
    names = files.names(lambda name: name.lower().endswith(ENDINGS))
    refused: dict[str, str] = {}
    rows: dict[bytes, str] = {}
    keys: Counter[str] = Counter()
    for name in names:
        with report_errors(refused.__setitem__, name):
            file = files[name]
            table = _parse_table(file.read(), whole=True)
            yield from _records_of_table(name, table, file.at, rows, keys, skipped)
    if len(refused) == len(names):
        why = next(iter(refused.values()), "it holds no table")
        raise InvalidArgument(
            f"{path} cannot be read as a table: {why}.",
            f"Give a file that ends in {' or '.join(ENDINGS)}, a folder or a zip with such "
            "files. Its first row names a column with the text, and one with the day; without "
            "a day one with the name.",
        )
    for name, why in refused.items():
        skipped(name, why)


def check_table(head: bytes) -> None:
    """Raises ValueError, with the columns that are known, if a file that begins with these
    bytes is no table of entries.
    """
    _parse_table(head, whole=False)


def _records_of_table(
    name: str,
    table: _Table,
    changed: datetime,
    rows: dict[bytes, str],
    keys: Counter[str],
    skipped: Skipped,
) -> Iterator[Record]:
    """The records of the rows of one file, which was last `changed` at this moment; `rows` are
    the places of those that came before, by their hashes, `keys` the keys that they have.
    """
    is_day_first = _order_of_days(table)
    doubles: list[str] = []
    is_empty = True
    for row in table.rows():
        is_empty = False
        where = f"{name}, line {row.line:,}"
        with report_errors(skipped, where):
            if row.wrong:
                raise ValueError(row.wrong)
            values = _values_of_row(table, row)
            if not values:
                continue
            cells = "\0".join(chain.from_iterable(values.items()))
            digest = sha256(cells.encode("utf-8", "replace")).digest()
            first = rows.setdefault(digest, where)
            if first != where:
                doubles.append(f"line {row.line:,} is the same as {first}")
                continue
            yield _record_of_row(table, values, changed, keys, is_day_first)
    if doubles:
        more = f"; rows that came before, in all: {len(doubles):,}" if doubles[1:] else ""
        skipped(name, f"{doubles[0]}{more}")
    if is_empty:
        skipped(name, "it has no row below its header")


def _values_of_row(table: _Table, row: TableRow) -> dict[str, str]:
    """The cells that have a value, by the names of their columns."""
    while len(row.cells) > len(table.header) and not row.cells[-1].strip():
        row.cells.pop()
    if len(row.cells) > len(table.header):
        raise ValueError(
            f"it has {len(row.cells):,} cells, and the first row {len(table.header):,}: put a "
            'cell that holds the separator into "quotation marks"'
        )
    if sum(map(len, row.cells)) > MOST_CHARS:
        raise ValueError(f"it has more than {MOST_CHARS:,} characters; split it")
    if any(map(CONTROL.search, row.cells)):
        raise ValueError("it holds control characters, such as zero bytes; remove them")
    pairs = zip(table.header, row.cells, strict=False)
    return {name: cell for name, cell in pairs if cell.strip()}


def _record_of_row(
    table: _Table,
    values: dict[str, str],
    changed: datetime,
    keys: Counter[str],
    is_day_first: bool | None,
) -> Record:
    cells = {role: values.get(table.header[at], "") for role, at in table.columns.items()}
    is_list = "day" not in cells
    at = changed if is_list else _moment_of_day(cells["day"].strip(), is_day_first)
    clock, rest = (at, "") if is_list else _moment_of_clock(at, cells.get("time", "").strip())
    with_role = {table.header[at] for at in table.columns.values()}
    fields: Pairs = tuple(
        (_field_name(name), value) for name, value in values.items() if name not in with_role
    )
    if rest:
        fields = ((_field_name(table.header[table.columns["time"]]), rest), *fields)
    title = " ".join(cells.get("title", "").split())
    tags = [tag.strip().lstrip("#") for tag in _BETWEEN_TAGS.split(cells.get("tags", ""))]
    kind = cells.get("type", "").strip()
    body = strip_blank_lines(cells["text"])
    if not (body or fields):
        body = title or " ".join(f"#{tag}" for tag in make_tags(*filter(None, tags)))
    text = join_markdown(body, fields=fields)
    if not text:
        raise ValueError("it has a day and no text")
    moment = clock.astimezone(UTC) if clock.tzinfo else clock
    place = f"{moment:%Y-%m-%d %H:%M}{'Z' if clock.tzinfo else ''}"
    if is_list:
        keys[title] += 1
        place = f"{title} {keys[title]}"
    digest = sha256(f"{title}\0{body}".encode("utf-8", "replace")).hexdigest()[:8]
    key = f"{place}-{digest}"
    keys[key] += 1
    return Record(
        key=f"{key}/{keys[key]}" if keys[key] > 1 else key,
        place=place,
        growing=True,
        title=title,
        text=text,
        at=clock,
        dated=not is_list,
        type=FOREIGN.get(kind.lower(), "note"),
        tags=make_tags(*filter(None, tags), *filter(None, [kind])),
        project=" ".join(cells.get("project", "").split()) or None,
    )


def _field_name(name: str) -> str:
    """The name of a column as a field may have it: `Mood (1-5)` becomes `mood 1-5`."""
    words = _NOT_IN_NAME.sub(" ", name).split()
    plain = " ".join(words).strip(" ./-").lower()
    return plain if plain[:1].isalpha() else f"column {plain}".strip()


# -- days


def _order_of_days(table: _Table) -> bool | None:
    """True if the dates like `10/3/2026` of a table have their day first, False if their month;
    None if no row, or rows of both kinds, prove it.
    """
    if "day" not in table.columns:
        return None
    orders = set()
    for row in table.rows():
        cell = row.cells[table.columns["day"] :][:1]
        parts = _TWO_READINGS.match(cell[0]) if cell and not row.wrong else None
        if parts and int(parts[1]) > 12 >= int(parts[3]):
            orders.add(True)
        elif parts and int(parts[3]) > 12 >= int(parts[1]):
            orders.add(False)
    return orders.pop() if len(orders) == 1 else None


def _moment_of_day(cell: str, is_day_first: bool | None) -> datetime:
    """The moment of a cell with a day. Raises ValueError if it has none, or may have two."""
    if not cell:
        raise ValueError("it has no day")
    text = cell
    parts = _TWO_READINGS.fullmatch(cell)
    if parts:
        text = _iso_of_parts(parts, is_day_first)
    short = _SHORT_YEAR.fullmatch(cell)
    if short:
        text = f"20{short[3]}-{short[2]:0>2}-{short[1]:0>2}{short[4]}"
    with suppress(OverflowError, OSError):
        moment = moment_in_value(text)
        if moment:
            return moment
    raise ValueError(f"{cell[:40]!r} is no day that is understood: write it as 2026-11-21")


def _iso_of_parts(parts: re.Match[str], is_day_first: bool | None) -> str:
    first, _, other, year, rest = parts.groups()
    year = f"20{year}" if len(year) == 2 else year
    if int(first) == int(other) or int(first) > 12:
        is_day_first = True
    elif int(other) > 12:
        is_day_first = False
    elif is_day_first is None:
        raise ValueError(
            f"{parts[0].strip()[:40]!r} may be two days, and no other row proves which: write "
            f"{year}-{other:0>2}-{first:0>2} or {year}-{first:0>2}-{other:0>2}"
        )
    day, month = (first, other) if is_day_first else (other, first)
    return f"{year}-{month:0>2}-{day:0>2}{rest}"


def _moment_of_clock(at: datetime, cell: str) -> tuple[datetime, str]:
    """The moment of a day at the time in a cell, and what of the cell says no time."""
    if not cell:
        return at, ""
    clock = _CLOCK_OF_DOTS.sub(lambda match: f"{match[1]}:{match[2]}" if match[1] else "", cell)
    moment = moment_of_stamp(f"{at:%Y-%m-%d} {clock}")
    if not moment or at.time() != time():  # the day has a time itself
        return at, cell
    return moment, ""


# -- the text of a file


def _parse_table(data: bytes, *, whole: bool) -> _Table:
    """The table in the bytes of a file, or of its head. Raises ValueError if it has no column
    of a text, or neither of a day nor of a name.
    """
    errors = []
    for text in _decodings(data, whole=whole):
        try:
            return _read_header(text)
        except ValueError as error:
            errors.append(error)
    raise errors[0] if errors else ValueError("its text is not UTF-8, UTF-16 or cp1252")


def _decodings(data: bytes, *, whole: bool) -> Iterator[str]:
    """The texts that the bytes may be, the likeliest first."""
    wide = name_utf16(data)
    for encoding in (wide,) if wide else _WINDOWS:
        with suppress(UnicodeDecodeError):
            text = getincrementaldecoder(encoding)().decode(data, whole)
            yield text.replace("\r\n", "\n").replace("\r", "\n")


def _read_header(text: str) -> _Table:
    named = _SEPARATOR_LINE.match(text)
    if named:
        text = f"\n{text[named.end() :]}"
    if not text.strip():
        raise ValueError("it is empty")
    tries = []
    for separator in named[1] if named else _SEPARATORS:
        row = next(_rows_with_cells(text, separator), TableRow(1, []))
        cells = [" ".join(cell.split()) for cell in row.cells]
        while cells and not cells[-1]:
            cells.pop()
        tries.append((_find_columns(cells), len(cells), separator, cells))
    columns, _, separator, cells = max(
        tries, key=lambda one: (not _lacking_roles(one[0]), one[1], len(one[0]))
    )
    _check_columns(columns, cells)
    return _Table(text, separator, _distinct(cells), columns)


def _rows_with_cells(text: str, separator: str) -> Iterator[TableRow]:
    for row in split_rows(text, separator):
        if row.wrong or any(map(str.strip, row.cells)):
            yield row


def _find_columns(cells: Header) -> dict[str, int]:
    """The number of the column of each role that the header has."""
    names = [_BLANKS.sub("_", fold_letters(cell)).strip("_") for cell in cells]
    columns = {}
    for role, valid in COLUMNS.items():
        likeliest = next((name for name in valid.split() if name in names), None)
        if likeliest:
            columns[role] = names.index(likeliest)
    if "day" not in columns and _DAY_IN_GERMAN in names:
        columns["day"] = names.index(_DAY_IN_GERMAN)
        if columns.get("tags") == columns["day"]:
            del columns["tags"]
    if "day" not in columns:
        for role, valid in _OF_LISTS.items():
            likeliest = next((name for name in valid.split() if name in names), None)
            if role not in columns and likeliest:
                columns[role] = names.index(likeliest)
    return columns


def _lacking_roles(columns: Collection[str]) -> list[str]:
    """The roles that a table of entries needs and that this one has no column of."""
    needed = ("title", "text") if {"title", "text"} <= {*columns} else ("day", "text")
    return [role for role in needed if role not in columns]


def _check_columns(columns: Collection[str], cells: Header) -> None:
    missing = _lacking_roles(columns)
    if not missing:
        return
    if any(map(CONTROL.search, cells)):
        raise ValueError("it is not a table: it holds control characters")
    own = ", ".join(cell[:40] for cell in cells[:_MOST_COLUMNS] if cell)
    more = ", ..." if cells[_MOST_COLUMNS:] else ""
    raise ValueError(
        f"it has no column of {' and none of '.join(f'a {role}' for role in missing)}; its "
        f"first row: {own}{more}. Name one as here, {_known_names(missing)}"
    )


def _known_names(roles: Iterable[str]) -> str:
    """The first names of each of these roles that are one word."""
    lists = []
    for role in roles:
        names = [name for name in COLUMNS[role].split() if "_" not in name]
        lists.append(f"{role}: {', '.join(names[:_MOST_NAMES])}")
    return "; ".join(lists)


def _distinct(cells: Header) -> list[str]:
    """The names of the columns, each once: a second `note` becomes `note 2`."""
    names: list[str] = []
    for number, cell in enumerate(cells, 1):
        name = cell or f"column {number}"
        while name in names:
            name = f"{cell or 'column'} {number}"
            number += 1
        names.append(name)
    return names


def split_rows(text: str, separator: str) -> Iterator[TableRow]:
    """Yields the rows of a text, blank ones with one empty cell.

    Where a quotation mark is not closed, or not doubled within a cell, its row is left out, and
    the next one begins with the next line: it shall cost no other row.
    """
    cell = re.compile(
        rf'(?P<blank>[ ]*)"(?P<quoted>(?:[^"]++|"")*+)"[ ]*(?=[{separator}\n]|\Z)'
        rf"|(?P<plain>[^{separator}\n]*+)"
    )
    at, line = 0, 1
    while at < len(text):
        start, cells, wrong = at, list[str](), ""
        while True:
            match = cell.match(text, at)
            assert match, "a plain cell may be empty"
            quoted = match["quoted"]
            if quoted is None and match["plain"].lstrip(" ").startswith('"'):
                wrong = (
                    "a quotation mark in it is not closed, or stands within a cell and is not "
                    'doubled: ""'
                )
                break
            cells.append(match["plain"] if quoted is None else quoted.replace('""', '"'))
            at = match.end()
            if text[at : at + 1] != separator:
                break
            at += 1
        if wrong:
            is_long = text.count("\n", start, at) > _MOST_LINES
            end = text.find("\n", at if is_long else start)
            at = len(text) if end < 0 else end
        at += 1
        yield TableRow(line, cells, wrong)
        line += text.count("\n", start, at)
