"""Finds the links of entries and to them, each with its place, and where it leads."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ..models import Entry, Link, Texts, frozen
from ..notes.blocks import text_of_bytes, without_code
from ..notes.dates import is_day_file, only_names_day
from ..notes.header import clean_title
from ..notes.link_names import name_key, rank_path
from ..notes.marks import find_links, link_key
from ..notes.privacy import mask_private
from ..workspace.readback import read_body_lines
from ..workspace.workspace import Workspace

_HEADING = re.compile(r"#{1,6}[ \t]+")


@frozen
class Links:
    """The links of an entry or page, in order, and the links of others to it."""

    links: tuple[Link, ...] = ()
    backlinks: tuple[Link, ...] = ()


class Ends:
    """Finds where links lead, by the one rule for all who ask. `targets` are the names of each
    link, as `find_links` returns them.

    A link leads to the first of its names that something has. Of several entries of this name
    it leads to the note whose path it names, by `rank_path`, else to those whose title is in
    the same letters, else to all of them.
    """

    def __init__(self, ws: Workspace, targets: Iterable[Sequence[str]]) -> None:
        keys = set(map(link_key, chain.from_iterable(targets)))
        self._rows = ws.index.entries_by_name_key(keys)
        shared = [rows for rows in self._rows.values() if len(rows) > 1]
        self._entries = ws.index.entries(list({*chain.from_iterable(shared)}))

    def find(self, names: Sequence[str], source: str) -> list[int]:
        """The rows of the entries to which a link in the file `source` leads, in the order of
        the index; of a broken link none.
        """
        for name in names:
            rows = self._rows.get(link_key(name), [])
            if len(rows) > 1:
                ranks = {rowid: self._rank(rowid, name, source) for rowid in rows}
                best = min(ranks.values())
                rows = [rowid for rowid in rows if ranks[rowid] == best]
            if rows:
                return rows
        return []

    def _rank(self, rowid: int, name: str, source: str) -> tuple[Any, ...]:
        entry = self._entries[rowid].entry
        page = name.removesuffix(".md").lstrip("/")
        path = entry.path.removesuffix(".md")
        if entry.whole_file and f"/{name_key(path)}".endswith(f"/{name_key(page)}"):
            return False, *rank_path(path, page, posixpath.dirname(source))
        return True, page != entry.title


def links_of_entries(ws: Workspace, rowids: Sequence[int], keys: Sequence[int] = ()) -> Links:
    """Returns the links from these entries, and the links of other entries to them or to the
    names with these keys.
    """
    pairs = ws.index.incoming_links(rowids, keys)
    incoming = set(pairs)
    others = list(dict(pairs))
    texts = read_body_lines(ws, [*rowids, *others])
    links = {rowid: links_in_entry(ws, *text) for rowid, text in texts.items()}
    for rowid in others:
        here = {
            names for names in links[rowid] if not _pairs(rowid, names).isdisjoint(incoming)
        }
        links[rowid] = {names: link for names, link in links[rowid].items() if names in here}
    ends = Ends(ws, chain.from_iterable(links.values()))
    outward: dict[tuple[int, ...], tuple[Link, list[int]]] = {}
    for rowid in rowids:
        for names, link in links[rowid].items():
            leads_to = ends.find(names, link.path)[:1]
            outward.setdefault((*map(link_key, names), *leads_to), (link, leads_to))
    entries = ws.index.entries(
        [rowid for _, leads_to in outward.values() for rowid in leads_to]
    )
    forward = []
    for link, leads_to in outward.values():
        forward.append(_with_end(link, *(entries[rowid].entry for rowid in leads_to)))
    backward = []
    for rowid in others:
        for names, link in links[rowid].items():
            leads_to = ends.find(names, link.path)
            if not leads_to or not set(rowids).isdisjoint(leads_to):
                entry, text = texts[rowid]
                title = title_with_day(ws, entry, _heading_above(entry, text, link.line))
                backward.append(replace(link, id=entry.id, title=title))
    return Links(tuple(forward), tuple(backward))


def title_with_day(ws: Workspace, entry: Entry, heading: str = "") -> str:
    """The title of an entry as lists show it; in the note of a day behind the day, as in
    `2026-11-25 > Log`, and the day alone for `Wednesday`. `heading`: shown for the title.
    """
    is_of_day = entry.date_source == "heading" or is_day_file(entry.path, ws.config.day_file)
    if not (entry.dated and is_of_day):
        return entry.title_in_lists
    title = heading or entry.title
    return entry.date if only_names_day(title) else f"{entry.date} > {title}"


def _heading_above(entry: Entry, text: str, line: int) -> str:
    """The heading below which a line of a whole note stands; "" without one."""
    above = max(0, line - entry.there.body_line) if entry.whole_file else 0
    lines = without_code(text).split("\n")[:above] if above else []
    headings = [row for row in lines if _HEADING.match(row)]
    return clean_title(_HEADING.sub("", headings[-1]))[0] if headings else ""


def _pairs(rowid: int, names: Iterable[str]) -> set[tuple[int, int]]:
    """The rows of the index for a link with these names in the entry `rowid`."""
    return {(rowid, link_key(name)) for name in names}


def _with_end(link: Link, *end: Entry) -> Link:
    """The link with the entry at its other end; as it is without one."""
    return replace(link, id=end[0].id, title=end[0].title_in_lists) if end else link


def links_in_entry(ws: Workspace, entry: Entry, text: str) -> dict[Texts, Link]:
    """The links of an entry by the names of their targets, as `find_links` returns them; those
    in the front matter of a note at their own lines, for which its file is read.
    """
    place = entry.there
    links = find_links(entry, text, ws.journal.link_folder_of(place.path))
    at_start = {names: link for names, link in links.items() if link.line == place.line}
    if entry.fields and place.whole_file and place.line > 1 and at_start:
        lines = text_of_bytes(mask_private(ws.journal.read(place.path))).split("\n")
        for names, link in at_start.items():
            for number, line in enumerate(lines[: place.line], 1):
                if f"[[{link.text}" in line:
                    links[names] = replace(link, line=number)
                    break
    return links
