"""Lists links and tasks, each with the place where it stands."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from urllib.parse import unquote

from ..errors import Ambiguous, NotFound
from ..language.query import read_date
from ..models import Entry, Filters, Link, Links, Task
from ..notes.marks import link_key, links_of, tasks_of
from ..workspace.readback import read_lines
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace


def links(ws: Workspace, name: str) -> Links:
    """The links from and to the entry or page of this name: an id or four letters of it, a
    title, alias or path.

    A page that is only linked to, or a day, is a name too. Raises NotFound, or Ambiguous for
    letters that fit several ids.
    """

    def run(_: object) -> Links:
        key = link_key(name)
        rowids = ws.index.named([key]).get(key, [])
        if not rowids and not ws.index.linking([], [key]):
            try:
                rowids = [ws.index.resolve(name.strip()).rowid]
            except NotFound as error:
                message = f"Nothing is called {name[:40]!r}, and nothing links to it."
                raise NotFound(
                    message, hint="Give an id, a title, an alias or a path; search finds them."
                ) from error
        return linked(ws, rowids, [key])

    return in_step(ws, run)


def id_called(ws: Workspace, name: str) -> str | None:
    """The id of the entry that this is the id, or else the title, page, alias or path of; None
    where nothing is called
    so. Raises Ambiguous for a name of several."""

    def run(_: object) -> str | None:
        with suppress(NotFound):
            return ws.index.resolve(name).entry.id
        rows = ws.index.named([key := link_key(name)]).get(key, [])
        ids = [one.entry.id for one in ws.index.entries(rows).values()]
        if len(ids) > 1:
            raise Ambiguous(
                f"{len(ids)} entries are called {name[:40]!r}.",
                valid=ids[:6],
                hint="Give an id.",
            )
        return ids[0] if ids else None

    return in_step(ws, run)


def leads_to(ws: Workspace, name: str, path: str) -> Entry | None:
    """The entry to which a link in the file `path` leads that says `name`; None where nothing
    is called so.
    """
    plain = unquote(name).partition("#")[0]
    ways = (
        name,
        name.partition("#")[0],
        posixpath.normpath(posixpath.join(posixpath.dirname(path), plain)),
        plain,
    )

    def run(_: object) -> Entry | None:
        rows = ws.index.named(keys := [link_key(way) for way in ways])
        first = next((rows[key][0] for key in keys if key in rows), None)
        return ws.index.entries([first])[first].entry if first else None

    return in_step(ws, run)


def linked(ws: Workspace, rowids: Sequence[int], keys: Sequence[int] = ()) -> Links:
    """The links of these entries, and those of others to them or to these keys."""
    others = ws.index.linking(rowids, keys)
    texts = read_lines(ws, [*rowids, *dict(others)])
    written = {row: links_of(*texts[row]) for row in texts}
    own = {ways: link for row in rowids for ways, link in written[row].items()}
    named = ws.index.named({key for ways in own for key in ways})
    entries = ws.index.entries([rows[0] for rows in named.values()])
    ends = {key: entries[rows[0]].entry for key, rows in named.items()}
    links = (
        _ended(link, next((ends[key] for key in ways if key in ends), None))
        for ways, link in own.items()
    )
    to_them = set(others)
    return Links(
        tuple(links),
        tuple(
            _ended(link, texts[row][0])
            for row in dict(others)
            for ways, link in written[row].items()
            if to_them & {(row, key) for key in ways}
        ),
    )


def _ended(link: Link, end: Entry | None) -> Link:
    return replace(link, id=end.id, title=end.title) if end else link


def broken_links(ws: Workspace) -> tuple[Link, ...]:
    """The links that lead to no entry, title, page, alias or day with entries, by path."""

    def run(_: object) -> tuple[Link, ...]:
        unnamed = set(ws.index.unnamed())
        texts = read_lines(ws, list(dict(unnamed)))
        written = (
            (row, ways, link) for row in texts for ways, link in links_of(*texts[row]).items()
        )
        broken = (
            link for row, ways, link in written if {(row, key) for key in ways} <= unnamed
        )
        return tuple(sorted(broken, key=lambda link: (link.path, link.line)))

    return in_step(ws, run)


def tasks(ws: Workspace, *, done: bool = False, due: str | None = None) -> tuple[Task, ...]:
    """The open tasks, or those that are done, by day, newest first; of undated entries last.

    `due` leaves those that are due by then, at its last day, with what is overdue; `friday` is
    the next one. What a later entry supersedes is left out. Raises InvalidArgument.
    """
    now = ws.clock()
    last, today = due and read_date(due, now=now, name="due"), now.date().isoformat()

    def run(_: object) -> tuple[Task, ...]:
        rowids = ws.index.listing(Filters(has_tasks=True), order="newest", limit=-1)[1]
        texts = read_lines(ws, rowids)
        found = (task for row in rowids for task in tasks_of(*texts[row]) if task.done == done)
        kept = [task for task in found if not last or (task.due and task.due <= last)]
        kept = [
            replace(task, overdue=not done and (task.due or today) < today) for task in kept
        ]
        kept.sort(key=lambda task: (task.path, task.line))
        return tuple(sorted(kept, key=lambda task: task.date or "", reverse=True))

    return in_step(ws, run)
