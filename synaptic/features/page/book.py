"""Makes a book of entries: one HTML file with its pictures inside, or a zip of both.

1. `plan_book` lists the entries, leaves out empty ones and adds up the sizes of pictures.
2. `book_parts` yields the bytes of the file: the title, the contents by month, the entries
   below their days, and the names of pictures that could not be read.

Each asks for one short step after the other, so that a server answers others in between, and
holds one step in memory. The HTML runs nothing and loads nothing: its policy says so as well.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from io import RawIOBase
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Literal, NamedTuple, Protocol, TypeVar
from zipfile import ZipFile

from markupsafe import Markup

from ...errors import InvalidArgument
from ...filters import Filters
from ...models import Texts, frozen
from ...notes.amounts import HOURS
from ...search.search import drop_any_project
from ...verbs.totals import Totals, sum_field
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .attachments import read_in_parts
from .book_entries import (
    BookEntry,
    Inside,
    PictureStyle,
    PlannedEntry,
    anchor_of_day,
    anchor_of_entry,
    plan_entries,
    render_entries,
)
from .day_texts import format_date, format_month
from .exporting import make_unique_name
from .site import HERE, TEMPLATES
from .translation import mark_text, translate

Result = TypeVar("Result")
Photos = Literal["large", "small"]
BookOrder = Literal["oldest", "newest"]
EDGES: dict[Photos, int] = {"large": 1_600, "small": 800}
"""The most pixels of an edge of a picture. 1,600 are 240 dpi on the width of a page."""
ORDERS: tuple[BookOrder, ...] = ("oldest", "newest")
HTML_BYTES = 100_000_000
"""A book that is probably larger becomes a zip: browsers grow slow with such a page."""
FRAME_BYTES = 500
"""Bytes of HTML around the text of an entry, to estimate the size of a book."""
UNDATED = mark_text("Without a date")
PLANNED, RENDERED = 1_000, 500
"""The most entries of one step of a plan, and of a book: a step compares all files."""


Piece = tuple[str, Mapping[str, bytes]]
"""A piece of the HTML, and the pictures that lie beside it by their names."""


class Month(NamedTuple):
    """A month of a book, `2026-11` or empty for undated entries: the ids of its entries by day,
    and the number of `notes`, where the sections of one daily note are one.
    """

    name: str
    days: Sequence[tuple[str, Sequence[str]]]
    notes: int


class Ask(Protocol):
    """Runs a step of a book on a workspace, and returns its result."""

    def __call__(self, verb: Callable[[Workspace], Result], /) -> Result: ...


@frozen
class Selection:
    """The entries of a book: those with these `ids`, or all that pass the filters. `tokens` is
    the file of tokens, of which nothing goes into a book.
    """

    tokens: Path
    filters: Filters = Filters()
    ids: Texts | None = None


@frozen
class Plan:
    """The entries of a book, oldest first, undated ones last."""

    selection: Selection
    entries: tuple[PlannedEntry, ...]

    @property
    def days(self) -> list[str]:
        """The days with entries, oldest first."""
        return sorted({entry.date for entry in self.entries} - {""})

    @property
    def notes(self) -> int:
        """The number of entries, where the sections of one daily note are one."""
        return len({entry.note for entry in self.entries})

    def estimated_bytes(self, photos: Photos) -> int:
        """Returns about how large the book becomes as one HTML file."""
        number = list(EDGES).index(photos)
        pictures = sum(entry.picture_bytes[number] for entry in self.entries)
        texts = sum(FRAME_BYTES + entry.text_bytes for entry in self.entries)
        return texts + pictures * 4 // 3  # base64 writes three bytes as four letters

    def is_zip(self, photos: Photos) -> bool:
        """True if the book becomes a zip, because its HTML alone would be too large."""
        return self.estimated_bytes(photos) > HTML_BYTES


@frozen
class BookStyle:
    """The choices of a person about a book."""

    title: str
    photos: Photos = "large"
    order: BookOrder = "oldest"


@dataclass
class Progress:
    """The number of entries of a book that are `done`, and the names of the pictures that could
    not be read, in order.
    """

    done: int = 0
    lost: dict[str, None] = field(default_factory=dict)


def plan_book(selection: Selection, ask: Ask) -> Plan:
    """Lists the entries of a book. Raises NotFound and Ambiguous for an id that has none."""
    ids = ask(partial(_list_ids, selection=selection))
    look = partial(plan_entries, tokens=selection.tokens, edges=tuple(EDGES.values()))
    planned = run_steps(look, ids, PLANNED, ask)
    return Plan(selection, tuple(entry for _, entry in planned if entry))


def run_steps(
    look: Callable[..., list[Result | None]], ids: Sequence[str], most: int, ask: Ask
) -> Iterator[tuple[str, Result | None]]:
    """Yields (id, result of `look`) for each id. A step is given `most` ids, and answers as
    many of the first ones as it has time for.
    """
    done = 0
    while done < len(ids):
        some = ids[done : done + most]
        results = ask(partial(look, ids=some))
        yield from zip(some, results, strict=False)
        done += len(results)


def _list_ids(ws: Workspace, *, selection: Selection) -> list[str]:
    """Returns the ids of the entries, oldest first, undated ones last."""

    def run(_: object) -> list[str]:
        if selection.ids is None:
            filters = drop_any_project(selection.filters)
            if not filters.sessions:  # a digest of an agent's work is not for a book
                filters = filters.leaving_out(Filters(sessions=True))
            rowids = ws.index.list_rows(filters, order="oldest", limit=-1)
        else:
            chosen = [ws.index.resolve(id).rowid for id in selection.ids]
            facts = ws.index.ranking_facts(chosen)
            rowids = sorted(facts, key=lambda row: (-facts[row].dated, facts[row].position))
        stored = ws.index.entries(rowids)
        return [stored[row].entry.id for row in rowids]

    return in_step(ws, run)


def default_title(filters: Filters, query: str = "") -> str:
    """Returns what a book is about: `garden, #apples, November 2026`; `Journal` for all."""
    names = [query, *_list_names(filters)]
    left_out = ", ".join(_list_names(filters.without or Filters()))
    if left_out:
        names.append(translate("without %(names)s", names=left_out))
    names.append(describe_days(filters.since, filters.until))
    return ", ".join(filter(None, names)) or translate("Journal")


def _list_names(filters: Filters) -> list[str]:
    """Returns the projects, tags, types and folders that the filters name."""
    tags = [f"#{tag}" for tag in filters.tags]
    folders = [path.strip("/") for path in filters.paths]
    return [*filters.projects, *tags, *filters.types, *folders]


def describe_days(since: str | None, until: str | None) -> str:
    """Returns a span of days in words.

    | since      | until      | in words                         |
    |------------|------------|----------------------------------|
    | 2026-01-01 | 2026-12-31 | 2026                             |
    | 2024-01-01 | 2026-12-31 | 2024 to 2026                     |
    | 2026-02-01 | 2026-02-28 | February 2026                    |
    | 2026-02-03 | 2026-02-03 | 3 February 2026                  |
    | 2026-02-03 | 2026-03-01 | 3 February 2026 to 1 March 2026  |
    | 2026-02-03 |            | since 3 February 2026            |
    |            | 2026-02-03 | until 3 February 2026            |
    """
    if not since or not until:
        if since:
            return translate("since %(day)s", day=format_date(since, False))
        return translate("until %(day)s", day=format_date(until, False)) if until else ""
    if since == until:
        return format_date(since, False)
    ends_month = _following_day(until).endswith("-01")
    if since.endswith("-01-01") and until.endswith("-12-31"):
        first, last = int(since[:4]), int(until[:4])
        if first == last:
            return str(first)
        return translate("%(since)s to %(until)s", since=str(first), until=str(last))
    if since.endswith("-01") and ends_month and since[:7] == until[:7]:
        return format_month(since[:7])
    span = {"since": format_date(since, False), "until": format_date(until, False)}
    return translate("%(since)s to %(until)s", **span)


def _following_day(day: str) -> str:
    with suppress(OverflowError):
        return (date.fromisoformat(day) + timedelta(1)).isoformat()
    return ""


def file_name(plan: Plan, style: BookStyle) -> str:
    """Returns the name of a book's file, which every operating system allows."""
    suffix = "zip" if plan.is_zip(style.photos) else "html"
    stem = style.title.replace("/", "-").strip(" .") or translate("Book")
    return make_unique_name(f"{stem}.{suffix}", set())


def book_parts(
    plan: Plan, style: BookStyle, ask: Ask, progress: Progress | None = None
) -> Iterator[bytes]:
    """Yields the bytes of a book, and keeps `progress` up to date."""
    pieces = _book_pieces(plan, style, ask, progress or Progress())
    if plan.is_zip(style.photos):
        yield from _zip_parts(pieces, file_name(plan, style))
        return
    for html, _ in pieces:
        yield html.encode("utf-8", "replace")


def _zip_parts(pieces: Iterator[Piece], name: str) -> Iterator[bytes]:
    """Yields the bytes of a zip: the pictures as they come, then the HTML, which waits in a
    temporary file.
    """
    sink = _Sink()
    with TemporaryFile() as text, ZipFile(sink, "w") as archive:
        for html, files in pieces:
            text.write(html.encode("utf-8", "replace"))
            for path in files.keys() - archive.NameToInfo.keys():
                archive.writestr(path, files[path])
                yield sink.take()
        text.seek(0)
        with archive.open(f"{name.removesuffix('.zip')}.html", "w", force_zip64=True) as member:
            for part in read_in_parts(text):
                member.write(part)
                yield sink.take()
        archive.close()
        yield sink.take()


class _Sink(RawIOBase):
    """A file to write a zip to, whose bytes are taken out again and again."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Returns the bytes that were written since the last call."""
        data = b"".join(self._parts)
        self._parts.clear()
        return data


def _book_pieces(plan: Plan, style: BookStyle, ask: Ask, progress: Progress) -> Iterator[Piece]:
    """Yields the HTML of a book in pieces, each with the pictures that lie beside it."""
    months = contents(plan, style)
    yield _render_begin(plan, style, months), {}
    entries = {entry.id: entry for entry in plan.entries}
    rendered = _rendered_entries(plan, style, months, ask)
    month = day = None
    for id, entry in rendered:
        progress.done += 1
        if not entry:
            continue
        planned = entries[id]
        html = ""
        if planned.date[:7] != month:
            html += "</section></section>" if month is not None else ""
            month, day = planned.date[:7], None
            html += _month_start(month)
        if planned.date != day:
            html += "</section>" if day is not None else ""
            day = planned.date
            html += _day_start(day)
        progress.lost |= dict.fromkeys(entry.lost)
        yield f"{html}{entry.text}", entry.files
    html = "</section></section>" if month is not None else ""
    sums = ask(partial(_sum_hours, selection=plan.selection))
    end = TEMPLATES.get_template("book_end.html").render(lost=progress.lost, sums=sums)
    yield f"{html}{end}", {}


def _sum_hours(ws: Workspace, *, selection: Selection) -> Totals | None:
    """Returns the hours of the entries by project; None where they have none, or were chosen by
    their ids.
    """
    has_hours = ws.config.hours_in_text or HOURS in in_step(
        ws, lambda _: ws.index.field_names()
    )
    if selection.ids is None and has_hours:
        with suppress(InvalidArgument):  # no entry of the book has some
            return sum_field(ws, HOURS, "project", filters=selection.filters)
    return None


def _rendered_entries(
    plan: Plan, style: BookStyle, months: Sequence[Month], ask: Ask
) -> Iterator[tuple[str, BookEntry | None]]:
    """Returns (id, entry as HTML, or None if it is gone) of each, in the order of the book."""
    ids = [id for month in months for _, some in month.days for id in some]
    inside = Inside(frozenset(ids), frozenset(plan.days))
    pictures = PictureStyle(EDGES[style.photos], not plan.is_zip(style.photos))
    tokens = plan.selection.tokens
    look = partial(render_entries, inside=inside, style=pictures, tokens=tokens)
    return run_steps(look, ids, RENDERED, ask)


def contents(plan: Plan, style: BookStyle) -> list[Month]:
    """Returns the months of a book in its order. The entries of a day stay in theirs, so that a
    day is read from morning to evening; undated entries stand last.
    """
    by_day: dict[str, list[PlannedEntry]] = {}
    for entry in plan.entries:
        by_day.setdefault(entry.date, []).append(entry)
    order = sorted(filter(None, by_day), reverse=style.order == "newest")
    order += [""] if "" in by_day else []
    months = []
    for month, days in groupby(order, key=lambda day: day[:7]):
        ids_by_day = []
        notes = set()
        for day in days:
            ids_by_day.append((day, [entry.id for entry in by_day[day]]))
            notes |= {entry.note for entry in by_day[day]}
        months.append(Month(month, ids_by_day, len(notes)))
    return months


def _render_begin(plan: Plan, style: BookStyle, months: Sequence[Month]) -> str:
    """Returns the begin of the HTML: its styles, the title, and the contents."""
    days = plan.days
    span = describe_days(days[0], days[-1]) if days else ""
    template = TEMPLATES.get_template("book_begin.html")
    return template.render(
        title=style.title,
        span="" if span in style.title else span,
        photos=style.photos,
        plan=plan,
        months=months,
        month_name=_month_name,
        css=_page_styles(),
        title_in_css=_css_text(style.title),
        date_of=format_date,
        day_anchor=anchor_of_day,
        entry_anchor=anchor_of_entry,
    )


def _page_styles() -> Markup:
    """Returns the styles of all pages, without what single pages add: a note looks the same."""
    css = (HERE / "static" / "style.css").read_text(encoding="utf-8")
    return Markup(css.partition("/* 8 ")[0])


def _month_name(month: str) -> str:
    return format_month(month) if month else translate(UNDATED)


def _month_start(month: str) -> str:
    return str(
        Markup('<section class="book-month" id="m-{}"><h2>{}</h2>').format(
            month or "undated", _month_name(month)
        )
    )


def _day_start(day: str) -> str:
    if not day:
        return '<section class="book-day">'
    frame = Markup('<section class="book-day" id="{}"><h3>{}</h3>')
    return str(frame.format(anchor_of_day(day), format_date(day)))


def _css_text(text: str) -> Markup:
    """Returns a text as a string of CSS, in which no character ends the string or the style."""
    escaped = (char if char.isalnum() or char == " " else f"\\{ord(char):x} " for char in text)
    return Markup('"{}"').format(Markup("".join(escaped)))
