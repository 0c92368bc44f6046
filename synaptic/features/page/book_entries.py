"""Renders the entries of a book: the page's safe HTML, with its addresses replaced.

| in the HTML of the page    | in a book                                                    |
|----------------------------|--------------------------------------------------------------|
| `href` of `/to?name=...`   | the place of that entry or day in the book; none outside it  |
| `href` of `/tag/...`       | none                                                         |
| `src` of `/picture?...`    | the smaller picture, as data or as a file beside the book    |
| `id` and `href` of `md-x`  | behind the id of the entry, so that each is there once       |
| `h3` to `h6`               | two levels deeper, below the headings of months and days     |
| folded `details`           | open: paper cannot unfold them                               |
"""

import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cache, partial
from hashlib import blake2b
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import parse_qs, quote, unquote, urlsplit

from markupsafe import Markup

from ...errors import NotFound
from ...journal.shelf import FileListing, ServableFiles, files_by_name, find_file, linked_files
from ...models import Entry, Texts, frozen
from ...notes.marks import link_key
from ...notes.picture_kinds import is_picture_name
from ...verbs.linked import link_targets_on_snapshot
from ...workspace.readback import read_bodies
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .attachments import open_attachments
from .book_pictures import estimate_bytes, shrink_picture
from .day_texts import format_date, heading_and_text
from .exporting import note_of_entry
from .flavours import html_id_of_part, part_of_target
from .rendering import markdown_to_line, render_markdown
from .site import TEMPLATES

Item = TypeVar("Item")
STEP_S, STEP_BYTES = 0.5, 4_000_000
"""Seconds and bytes after which a step of a book ends, so that a server answers others. What
comparing and reading the files takes does not count: else a busy machine would read a hundred
entries for each one that it renders.
"""
PICTURES = "pictures"
"""The folder of the pictures beside the HTML of a book in a zip."""
_ELEMENT = re.compile(r'<([a-z][a-z0-9]*)((?: [a-z-]+="[^"]*")*)>')
_ATTRIBUTE = re.compile(r' ([a-z-]+)="([^"]*)"')
_HEADING = re.compile(r"(?s)<h([3-6])(?: [^>]*)?>.*?</h\1>\s*")
_HEADING_TAG = re.compile(r"(</?h)([3-6])")
_SHOWN_ELEMENT = re.compile(r"<(?:img|hr|math)\b")
_MARKDOWN_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+(.+)")
_PLAIN_LINE = re.compile(r"(?m)^[ \t]*(?:[-*+>][ \t]+)*[^\W_]")
_MAY_HIDE = re.compile(r"%%|<|::|:LOGBOOK:|^\[\^", re.MULTILINE)


@frozen
class PlannedEntry:
    """An entry of a book: its day, or without a date its title, each else empty; the note that
    it counts as, the bytes of its text, and about how many bytes its pictures take, for each
    length of an edge.
    """

    id: str
    title: str
    date: str
    note: str
    text_bytes: int
    picture_bytes: tuple[int, ...]


@frozen
class Inside:
    """The ids and days that are in a book: links lead to them."""

    ids: frozenset[str]
    days: frozenset[str]


@frozen
class PictureStyle:
    """The pictures of a book: the most pixels of an edge, and True if the HTML holds them."""

    edge: int
    is_inline: bool


@frozen
class BookEntry:
    """An entry as HTML or Markdown, the pictures that lie beside the file by their names, and
    the names of those that could not be read.
    """

    text: str
    files: Mapping[str, bytes]
    lost: Texts


class _RenderedText(NamedTuple):
    """An entry, the HTML of its text, and the place in the book for each of its addresses."""

    entry: Entry
    heading: str
    html: str
    places: Mapping[str, str]
    later: str


def within_step(items: Iterable[Item]) -> Iterator[Item]:
    """Yields the first of these items, as many as STEP_S allows, at least one."""
    until = time.monotonic() + STEP_S
    for number, item in enumerate(items):
        if number and time.monotonic() > until:
            return
        yield item


def make_entries(
    items: Iterable[Item], make: Callable[[Item], BookEntry | None]
) -> list[BookEntry | None]:
    """Makes entries of the first of these items, as many as STEP_S and STEP_BYTES allow, at
    least one.
    """
    entries: list[BookEntry | None] = []
    size = 0
    for item in within_step(items):
        if size > STEP_BYTES:
            break
        entry = make(item)
        if entry:
            size += len(entry.text) + sum(map(len, entry.files.values()))
        entries.append(entry)
    return entries


def plan_entries(
    ws: Workspace, *, ids: Sequence[str], tokens: Path, edges: Sequence[int]
) -> list[PlannedEntry | None]:
    """Returns the first of these entries as a book has them, as many as STEP_S allows, at least
    one; None for one that is gone or empty.
    """

    def run(_: object) -> list[Entry | None]:
        entries = read_with_text(ws, ids)
        some: list[Entry | None] = []
        for id in within_step(ids):
            entry = entries.get(id)
            some.append(entry if entry and not _is_empty(ws, entry) else None)
        return some

    shelf = open_attachments(ws, tokens)
    listing = cache(files_by_name)
    planned: list[PlannedEntry | None] = []
    for entry in within_step(in_step(ws, run)):
        if not entry:
            planned.append(None)
            continue
        day = entry.date if entry.dated else ""
        sizes = _estimate_pictures(shelf, entry, listing, edges)
        text_bytes = len(entry.content.encode("utf-8", "replace"))
        title = "" if entry.dated else markdown_to_line(entry.title_in_lists)
        planned.append(
            PlannedEntry(entry.id, title, day, note_of_entry(entry), text_bytes, sizes)
        )
    return planned


def render_entries(
    ws: Workspace, *, ids: Sequence[str], inside: Inside, style: PictureStyle, tokens: Path
) -> list[BookEntry | None]:
    """Returns the first of these entries as HTML, as many as STEP_S and STEP_BYTES allow, at
    least one; None for one that is gone or has become empty.
    """
    texts = in_step(ws, lambda _: _render_texts(ws, ids, inside))
    shelf = open_attachments(ws, tokens)
    listing = cache(files_by_name)
    return make_entries(
        texts, lambda text: text and _BookRendering(text, style, shelf, listing).entry()
    )


def read_with_text(ws: Workspace, ids: Sequence[str]) -> dict[str, Entry]:
    """Reads the entries by id, in the order of the ids, without those that say nothing: a
    section of a daily note or a file that is only a heading, or one whose text is all private.
    """
    row_by_id = ws.index.rows_of_ids(ids)
    rowids = {}
    for id in ids:
        with suppress(NotFound):  # it was deleted while the book was made
            rowids[id] = row_by_id.get(id) or ws.index.resolve(id).rowid
    bodies = read_bodies(ws, list(rowids.values()))
    entries = {}
    for id, rowid in rowids.items():
        body = bodies[rowid]
        entry = body.entry
        text = body.text(0, None)
        is_section = entry.has_body or entry.of_daily_note or entry.whole_file
        is_one_line = not (is_section or body.hides)
        if text or is_one_line:
            entries[id] = replace(entry, content=text or entry.title)
    return entries


def _is_empty(ws: Workspace, entry: Entry) -> bool:
    """True if a book shows nothing of the entry, such as one with comments only."""
    text = entry.content
    if _PLAIN_LINE.search(text) and not _MAY_HIDE.search(text):
        return False
    return not _render_shown(ws, entry)[1]


def _estimate_pictures(
    shelf: ServableFiles, entry: Entry, listing: FileListing, edges: Sequence[int]
) -> tuple[int, ...]:
    """Returns about how many bytes the pictures of an entry take, for each of these edges."""
    total = [0] * len(edges)
    if "](" not in entry.content and "[[" not in entry.content:
        return tuple(total)
    for _, place in linked_files(shelf, entry, listing):
        opened = shelf.open(place) if is_picture_name(place) else None
        if opened:
            with opened[1] as file:
                for number, edge in enumerate(edges):
                    total[number] += estimate_bytes(file, edge)
    return tuple(total)


def _render_texts(
    ws: Workspace, ids: Sequence[str], inside: Inside
) -> list[_RenderedText | None]:
    """Renders the texts of the first of these entries, as many as STEP_S allows; None for one
    that says nothing.
    """
    entries = read_with_text(ws, ids)
    superseded = ws.index.superseded_by(list(entries))
    texts: list[_RenderedText | None] = []
    for id in within_step(ids):
        entry = entries.get(id)
        heading, html = _render_shown(ws, entry) if entry else ("", "")
        if not entry or not html:
            texts.append(None)
            continue
        later = superseded.get(id, "")
        place = anchor_of_entry(later) if later in inside.ids else ""
        texts.append(
            _RenderedText(
                entry, heading, html, _places_of_links(ws, html, inside), later and place
            )
        )
    return texts


def _render_shown(ws: Workspace, entry: Entry) -> tuple[str, str]:
    """Returns (heading, HTML) of an entry; the HTML is empty if it shows nothing."""
    heading, below = heading_and_text(entry)
    quoted = partial(link_targets_on_snapshot, ws)
    html = _without_empty_headings(str(render_markdown(below, entry.path, quoted)))
    is_shown = _SHOWN_ELEMENT.search(html) or Markup(html).striptags()
    return heading, html if is_shown else ""


def _without_empty_headings(html: str) -> str:
    """Returns the HTML without headings below which nothing stands, as templates leave them."""
    for heading in reversed([*_HEADING.finditer(html)]):
        following = _HEADING.match(html, heading.end())
        is_last = not html[heading.end() :].strip()
        if is_last or (following and following[1] <= heading[1]):
            html = html[: heading.start()] + html[heading.end() :]
    return html


def _places_of_links(ws: Workspace, html: str, inside: Inside) -> dict[str, str]:
    """Maps each address of `/to` in the HTML of an entry to its place in the book."""
    names: dict[str, dict[str, str]] = {}
    for element in _ELEMENT.finditer(html):
        address = _attributes(element).get("href", "")
        if address.startswith("/to?"):
            name, path = _name_and_note(address)
            names.setdefault(path, {})[name] = address
    places = {}
    for path, addresses in names.items():
        targets = link_targets_on_snapshot(ws, list(addresses), path)
        for name, address in addresses.items():
            places[address] = _place_of(name, targets.get(name), inside)
    return places


def _place_of(name: str, entry: Entry | None, inside: Inside) -> str:
    """Returns the anchor to which a link to `name` leads in a book: a day, an entry, or a part
    of it; empty if the book does not have it.
    """
    day = ""
    with suppress(ValueError):
        day = date.fromisoformat(name).isoformat()
    if entry and link_key(entry.date) == link_key(name):
        day = entry.date
    if day in inside.days:
        return anchor_of_day(day)
    if entry is None or entry.id not in inside.ids:
        return ""
    part = part_of_target(unquote(name))
    headings = _MARKDOWN_HEADING.findall(entry.content)
    is_block = part.startswith("^") and part in entry.content
    if is_block or (part and part in map(html_id_of_part, headings)):
        return f"{anchor_of_entry(entry.id)}-{part}"
    return anchor_of_entry(entry.id)


def anchor_of_entry(id: str) -> str:
    """Returns the HTML id of an entry in a book."""
    return f"e-{id}"


def anchor_of_day(day: str) -> str:
    """Returns the HTML id of a day in a book."""
    return f"d-{day}"


def _attributes(element: re.Match[str]) -> dict[str, str]:
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(element[2])}


def _name_and_note(address: str) -> tuple[str, str]:
    """Returns (name of a link, path of the note) of an address that `rendering` made."""
    query = parse_qs(urlsplit(address).query)
    name = "|".join((*query.get("name", [""]), *query.get("behind", ())))
    return name, query.get("from", [""])[0]


class _BookRendering:
    """One entry of a book: its HTML with the addresses replaced, and its pictures."""

    def __init__(
        self,
        text: _RenderedText,
        style: PictureStyle,
        shelf: ServableFiles,
        listing: FileListing,
    ) -> None:
        self.text = text
        self.style = style
        self.shelf = shelf
        self.listing = listing
        self.ids: set[str] = set()
        self.files: dict[str, bytes] = {}
        self.lost: list[str] = []

    def entry(self) -> BookEntry:
        entry = self.text.entry
        html = _ELEMENT.sub(self._replace_element, self.text.html)
        html = _HEADING_TAG.sub(lambda tag: f"{tag[1]}{min(6, int(tag[2]) + 2)}", html)
        html = TEMPLATES.get_template("book_entry.html").render(
            entry=entry,
            anchor=anchor_of_entry(entry.id),
            heading=self.text.heading,
            html=Markup(html),
            later=self.text.later,
            due=format_date(entry.due, False) if entry.due else "",
        )
        return BookEntry(html, self.files, tuple(self.lost))

    def _replace_element(self, element: re.Match[str]) -> str:
        """Returns an element of the page's HTML as it stands in the book."""
        attributes = _attributes(element)
        own = anchor_of_entry(self.text.entry.id)
        if element[1] == "details":
            attributes["open"] = ""
        if "id" in attributes:
            id = f"{own}-{attributes.pop('id').removeprefix('md-')}"
            if id not in self.ids:  # a note may have two headings of one name
                attributes["id"] = id
            self.ids.add(id)
        if "href" in attributes:
            href = self._link(attributes.pop("href"), own)
            attributes |= {"href": href} if href else {}
        if element[1] == "img":
            return self._picture(attributes)
        return _element(element[1], attributes)

    def _link(self, href: str, own: str) -> str:
        """Returns the address of a link in the book; empty if it leads nowhere there."""
        if href.startswith("#"):
            return f"#{own}-{quote(href.removeprefix('#md-'), safe='^-')}"
        if href.startswith("/"):
            place = self.text.places.get(href)
            return f"#{quote(place, safe='^-')}" if place else ""
        return href

    def _picture(self, attributes: dict[str, str]) -> str:
        """Returns the element of a picture, or its words if it cannot be shown."""
        name, path = _name_and_note(attributes.get("src", ""))
        if not name:
            return ""  # the note had an address that the page does not allow
        opened = find_file(self.shelf, name, path, self.listing)
        picture = shrink_picture(opened and opened[2], self.style.edge)
        words = attributes.get("alt") or name
        if not picture:
            self.lost.append(unquote(name))
            return f'<span class="no-picture">[{escape(words)}]</span>'
        if self.style.is_inline:
            data = b64encode(picture.data).decode()
            source = f"data:{picture.media_type};base64,{data}"
        else:
            digest = blake2b(picture.data, digest_size=8).hexdigest()
            source = f"{PICTURES}/{digest}.{picture.suffix}"
            self.files[source] = picture.data
        width, height = str(picture.width), str(picture.height)
        if attributes.get("width"):  # the note states one
            width, height = attributes["width"], ""
        size = {"width": width} | ({"height": height} if height else {})
        return _element("img", {"src": source, "alt": words, **size})


def _element(name: str, attributes: Mapping[str, str]) -> str:
    """Returns the opening tag of an element."""
    parts = [f'{key}="{escape(value)}"' for key, value in attributes.items()]
    return f"<{' '.join([name, *parts])}>"
