"""Lists links and tasks, each with the place where it stands."""

import posixpath
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from urllib.parse import unquote

from ..errors import Ambiguous, NotFound
from ..filters import Filters
from ..language.time_fields import read_date
from ..models import Entry, Link, Task, frozen
from ..notes.marks import find_links, find_tasks, link_key
from ..workspace.readback import read_body_lines, read_entries
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace


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
        rowids = ws.index.entries_by_name_key([key]).get(key, [])
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


def id_of_name(ws: Workspace, name: str) -> str | None:
    """Returns the id of the entry that `name` names: an id, title, page, alias or path; None if
    there is no such entry.

    Raises Ambiguous for a name of several entries.
    """

    def run(_: object) -> str | None:
        with suppress(NotFound):
            return ws.index.resolve(name).entry.id
        rowids = chain.from_iterable(ws.index.entries_by_name_key([link_key(name)]).values())
        ids = [stored.entry.id for stored in ws.index.entries(list(rowids)).values()]
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
    rows = {}
    for name in names:
        plain = unquote(name).partition("#")[0]
        beside = posixpath.normpath(posixpath.join(ws.journal.link_folder_of(path), plain))
        keys = [link_key(way) for way in (name, name.partition("#")[0], beside, plain)]
        rowids = ws.index.entries_by_name_key(keys)
        for key in [key for key in keys if key in rowids][:1]:
            rows[name] = _pick_exact_name(ws, rowids[key], plain)
    entries = read_entries(ws, list(rows.values()))
    return {name: entries[row] for name, row in rows.items()}


def _pick_exact_name(ws: Workspace, rowids: Sequence[int], name: str) -> int:
    """Returns the first of these entries whose title or path is exactly `name`, in the same
    upper and lower case; else the first entry.
    """
    if len(rowids) > 1:
        stored = ws.index.entries(list(rowids))
        page = name.removesuffix(".md")
        for row in rowids:
            entry = stored[row].entry
            path = entry.path.removesuffix(".md")
            if page == entry.title or f"/{path}".endswith(f"/{page}"):
                return row
    return rowids[0]


def links_of_entries(ws: Workspace, rowids: Sequence[int], keys: Sequence[int] = ()) -> Links:
    """Returns the links from these entries, and the links of other entries to them or to the
    names with these keys.
    """
    incoming = ws.index.incoming_links(rowids, keys)
    others = list(dict(incoming))
    texts = read_body_lines(ws, [*rowids, *others])
    links = {row: _links_in_entry(ws, *text) for row, text in texts.items()}
    outward: dict[tuple[int, ...], Link] = {}
    for row in rowids:
        outward |= links[row]
    named = ws.index.entries_by_name_key(set(chain.from_iterable(outward)))
    entries = ws.index.entries(list(chain.from_iterable(named.values())))
    for names, link in outward.items():
        for key in filter(named.get, names[::-1]):  # the first that is known wins
            page = link.text.partition("#")[0]
            end = entries[_pick_exact_name(ws, named[key], page)].entry
            outward[names] = replace(link, id=end.id, title=end.title_in_lists)
    backward = []
    for row in others:
        end = texts[row][0]
        for names, link in links[row].items():
            if any((row, key) in incoming for key in names):
                backward.append(replace(link, id=end.id, title=end.title_in_lists))
    return Links(tuple(outward.values()), tuple(backward))


def _links_in_entry(ws: Workspace, entry: Entry, text: str) -> dict[tuple[int, ...], Link]:
    return find_links(entry, text, ws.journal.link_folder_of(entry.there.path))


def broken_links(ws: Workspace) -> tuple[Link, ...]:
    """The links that lead to no entry, title, page, alias or day with entries, and to no note
    that `exclude` leaves out, by path.
    """

    def run(_: object) -> tuple[Link, ...]:
        unnamed = set(ws.index.links_without_target())
        broken = []
        excluded = _excluded_names(ws) if unnamed else set()
        for row, text in read_body_lines(ws, list(dict(unnamed))).items():
            for names, link in _links_in_entry(ws, *text).items():
                if all((row, key) in unnamed and key not in excluded for key in names):
                    broken.append(link)
        return tuple(sorted(broken, key=attrgetter("path", "line")))

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
    last = read_date(due, now, "due") if due else None

    def run(_: object) -> tuple[Task, ...]:
        rowids = ws.index.list_entries(Filters(has_tasks=True), order="newest", limit=-1)[1]
        texts = read_body_lines(ws, rowids)
        matches = []
        for task in chain.from_iterable(find_tasks(*texts[row]) for row in rowids):
            is_due = not last or "" < (task.due or "") <= last
            if task.done == done and is_due:
                overdue = not done and "" < (task.due or "") < today
                matches.append(replace(task, overdue=overdue))
        matches.sort(key=attrgetter("path", "line"))
        return tuple(sorted(matches, key=lambda task: task.date or "", reverse=True))

    return in_step(ws, run)
