"""Lists links and tasks, each with the place where it stands."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any
from urllib.parse import unquote

from ..errors import Ambiguous, NotFound
from ..filters import Filters
from ..language.time_fields import read_date
from ..models import Entry, Link, Task, Texts, frozen
from ..notes.blocks import without_code
from ..notes.dates import is_day_file, only_names_day
from ..notes.header import clean_title
from ..notes.link_names import name_key, rank_path
from ..notes.marks import find_links, find_tasks, link_key, name_behind_label
from ..workspace.readback import read_body_lines, read_entries
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace

_HEADING = re.compile(r"#{1,6}[ \t]+")


@frozen
class Links:
    """The links of an entry or page, in order, and the links of others to it."""

    links: tuple[Link, ...] = ()
    backlinks: tuple[Link, ...] = ()


def links(ws: Workspace, name: str) -> Links:
    """The links from and to the entry or page of this name: an id or four letters of it, a
    title, alias or path.

    A page that is only linked to, or a day, is a name too. Raises NotFound, or Ambiguous for
    letters that fit several ids.
    """

    def run(_: object) -> Links:
        key = link_key(name)
        rowids = Ends(ws, [[name]]).find([name], "")
        if not rowids and not ws.index.incoming_links([], [key]):
            try:
                rowids = [ws.index.resolve(name).rowid]
            except NotFound as error:
                raise NotFound(
                    f"Nothing is called {name[:40]!r}, and nothing links to it.",
                    "Give an id, a title, an alias or a path; search finds them.",
                ) from error
        return links_of_entries(ws, rowids, [key])

    return in_step(ws, run)


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


def id_of_name(ws: Workspace, name: str) -> str | None:
    """Returns the id of the entry that `name` names: an id, title, page, alias or path; None if
    there is no such entry.

    Raises Ambiguous for a name of several entries.
    """

    def run(_: object) -> str | None:
        with suppress(NotFound):
            return ws.index.resolve(name).entry.id
        rowids = Ends(ws, [[name]]).find([name], "")
        ids = [stored.entry.id for stored in ws.index.entries(rowids).values()]
        if len(ids) > 1:
            message = f"{len(ids)} entries are called {name[:40]!r}."
            raise Ambiguous(message, valid=ids[:6], hint="Give an id.")
        return ids[0] if ids else None

    return in_step(ws, run)


def link_targets(ws: Workspace, names: Sequence[str], path: str) -> dict[str, Entry]:
    """Maps each link target in `names`, as written in the file `path`, to the entry that it
    leads to; broken links are left out.
    """
    return in_step(ws, lambda _: link_targets_on_snapshot(ws, names, path))


def link_targets_on_snapshot(
    ws: Workspace, names: Sequence[str], path: str
) -> dict[str, Entry]:
    """Returns the same as `link_targets`, for an action that is in step already."""
    targets = {name: _names_of_target(name, ws.journal.link_folder_of(path)) for name in names}
    ends = Ends(ws, targets.values())
    rows = {name: ends.find(target, path)[:1] for name, target in targets.items()}
    entries = read_entries(ws, list(chain.from_iterable(rows.values())))
    return {
        name: entries[rowid] for name, ends_of_name in rows.items() for rowid in ends_of_name
    }


def _names_of_target(target: str, folder: str) -> list[str]:
    """The names that a target may mean that is written in a link of any form; `label|name` in
    that of Dendron.
    """
    target, _, words = target.partition("|")
    behind = name_behind_label(words)
    plain = unquote(target).partition("#")[0]
    beside = posixpath.normpath(posixpath.join(folder, plain))
    names = [target, target.partition("#")[0], beside, plain, *filter(None, [behind])]
    return [beside, *names] if plain.endswith(".md") else names


def links_of_entries(ws: Workspace, rowids: Sequence[int], keys: Sequence[int] = ()) -> Links:
    """Returns the links from these entries, and the links of other entries to them or to the
    names with these keys.
    """
    pairs = ws.index.incoming_links(rowids, keys)
    incoming = set(pairs)
    others = list(dict(pairs))
    texts = read_body_lines(ws, [*rowids, *others])
    links = {rowid: _links_in_entry(ws, *text) for rowid, text in texts.items()}
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


def ends_of_links(ws: Workspace, rowids: Sequence[int]) -> dict[int, set[int]]:
    """Maps each of these entries to those to which its links lead."""
    texts = read_body_lines(ws, rowids)
    links = {rowid: _links_in_entry(ws, *text) for rowid, text in texts.items()}
    ends = Ends(ws, chain.from_iterable(links.values()))
    return {
        rowid: set(
            chain.from_iterable(ends.find(names, link.path) for names, link in those.items())
        )
        for rowid, those in links.items()
    }


def _links_in_entry(ws: Workspace, entry: Entry, text: str) -> dict[Texts, Link]:
    return find_links(entry, text, ws.journal.link_folder_of(entry.there.path))


def unresolved_links(ws: Workspace) -> tuple[Link, ...]:
    """The links that lead to no entry, title, page, alias or day with entries, and to no note
    that `exclude` leaves out, by path. `loose_ends` says which of them are broken.
    """

    def run(_: object) -> tuple[Link, ...]:
        unnamed = set(ws.index.links_without_target())
        unresolved = []
        excluded = _excluded_names(ws) if unnamed else set()
        for rowid, text in read_body_lines(ws, list(dict(unnamed))).items():
            for names, link in _links_in_entry(ws, *text).items():
                keys = [link_key(name) for name in names]
                if all((rowid, key) in unnamed and key not in excluded for key in keys):
                    unresolved.append(link)
        return tuple(sorted(unresolved, key=attrgetter("path", "line")))

    return in_step(ws, run)


def _excluded_names(ws: Workspace) -> set[int]:
    """The keys of the notes that `exclude` leaves out, by their paths from any folder on."""
    names: set[int] = set()
    for path in ws.journal.find_excluded():
        parts = path.split("/")
        names.update(link_key("/".join(parts[start:])) for start in range(len(parts)))
    return names


def tasks(ws: Workspace, *, done: bool = False, due: str | None = None) -> tuple[Task, ...]:
    """The open tasks, or the done ones, by day, newest first; of undated entries last.

    `due` keeps tasks that are due by its last day, also overdue ones; `friday` is the next
    Friday. Tasks of superseded entries are left out. Raises InvalidArgument.
    """
    now = ws.clock()
    today = now.date().isoformat()
    last = read_date(due, now, "due by", of="due") if due else None

    def run(_: object) -> tuple[Task, ...]:
        rowids = ws.index.list_rows(Filters(has_tasks=True), order="newest", limit=-1)
        texts = read_body_lines(ws, rowids)
        matches = []
        for task in chain.from_iterable(find_tasks(*texts[rowid]) for rowid in rowids):
            is_due = not last or "" < (task.due or "") <= last
            if task.done == done and is_due:
                overdue = not done and "" < (task.due or "") < today
                matches.append(replace(task, overdue=overdue))
        matches.sort(key=attrgetter("path", "line"))
        return tuple(sorted(matches, key=lambda task: task.date or "", reverse=True))

    return in_step(ws, run)
