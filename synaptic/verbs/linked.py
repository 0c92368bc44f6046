"""Follows links: from a name that a person gives, from a text, and those that lead nowhere."""

import posixpath
from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from operator import attrgetter
from urllib.parse import unquote

from ..errors import Ambiguous, NotFound
from ..index.links import links_without_target
from ..journal.left_out import find_excluded
from ..models import Entry, Link
from ..notes.headings import blank_unshown
from ..notes.marks import find_links, link_key, name_behind_label
from ..workspace.readback import read_body_lines, read_entries
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .link_ends import Ends, Links, links_in_entry, links_of_entries


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
                    "Nothing is called {name!r}, and nothing links to it.",
                    "Give an id, a title, an alias or a path; search finds them.",
                    name=name[:40],
                ) from error
        return links_of_entries(ws, rowids, [key])

    return in_step(ws, run)


def id_of_name(ws: Workspace, name: str) -> str | None:
    """Returns the id of the entry that `name` names: an id, title, page, alias or path, also as
    a link `[[name]]`; None if there is no such entry.

    Raises Ambiguous for a name of several entries.
    """
    if name.startswith("[[") and name.endswith("]]"):
        name = name[2:-2].partition("|")[0]

    def run(_: object) -> str | None:
        with suppress(NotFound):
            return ws.index.resolve(name).entry.id
        rowids = Ends(ws, [[name]]).find([name], "")
        ids = [stored.entry.id for stored in ws.index.entries(rowids).values()]
        if len(ids) > 1:
            raise Ambiguous(
                "{n} entries are called {name!r}.",
                "Give an id.",
                valid=ids[:6],
                n=len(ids),
                name=name[:40],
            )
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
    targets = {name: names_of_target(name, ws.journal.link_folder_of(path)) for name in names}
    ends = Ends(ws, targets.values())
    rows = {name: ends.find(target, path)[:1] for name, target in targets.items()}
    entries = read_entries(ws, list(chain.from_iterable(rows.values())))
    return {
        name: entries[rowid] for name, ends_of_name in rows.items() for rowid in ends_of_name
    }


def names_of_target(target: str, folder: str) -> list[str]:
    """The names that a target may mean that is written in a link of any form; `label|name` in
    that of Dendron.
    """
    target, _, words = target.partition("|")
    behind = name_behind_label(words)
    plain = unquote(target).partition("#")[0]
    beside = posixpath.normpath(posixpath.join(folder, plain))
    names = [target, target.partition("#")[0], beside, plain, *filter(None, [behind])]
    return [beside, *names] if plain.endswith(".md") else names


def ends_of_links(ws: Workspace, rowids: Sequence[int]) -> dict[int, set[int]]:
    """Maps each of these entries to those to which its links lead."""
    texts = read_body_lines(ws, rowids)
    links = {
        rowid: find_links(entry, text, ws.journal.link_folder_of(entry.there.path))
        for rowid, (entry, text) in texts.items()
    }
    ends = Ends(ws, chain.from_iterable(links.values()))
    return {
        rowid: set(
            chain.from_iterable(ends.find(names, link.path) for names, link in those.items())
        )
        for rowid, those in links.items()
    }


def unresolved_links(ws: Workspace) -> tuple[Link, ...]:
    """The links that lead to no entry, title, page, alias or day with entries, and to no note
    that `exclude` leaves out, by path; none within comments and formulas. `loose_ends` says
    which of them are broken.
    """

    def run(_: object) -> tuple[Link, ...]:
        unnamed = set(links_without_target(ws.index))
        unresolved = []
        excluded = _excluded_names(ws) if unnamed else set()
        for rowid, text in read_body_lines(ws, list(dict(unnamed))).items():
            for names, link in links_in_entry(ws, text[0], blank_unshown(text[1])).items():
                keys = [link_key(name) for name in names]
                if all((rowid, key) in unnamed and key not in excluded for key in keys):
                    unresolved.append(link)
        return tuple(sorted(unresolved, key=attrgetter("path", "line")))

    return in_step(ws, run)


def _excluded_names(ws: Workspace) -> set[int]:
    """The keys of the notes that `exclude` leaves out, by their paths from any folder on."""
    names: set[int] = set()
    for path in [] if ws.access.is_published else find_excluded(ws.journal.roots):
        parts = path.split("/")
        names.update(link_key("/".join(parts[start:])) for start in range(len(parts)))
    return names
