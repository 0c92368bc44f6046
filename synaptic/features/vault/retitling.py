"""Gives an entry of a day another title, with the links that lead to it by its title."""

from __future__ import annotations

from functools import partial

from ...errors import InvalidArgument, Refused, Sentence
from ...index.rows import Stored
from ...journal.folder import locate_writable
from ...models import Entry
from ...notes.blocks import MASK
from ...notes.header import escape_title
from ...notes.link_names import NOT_IN_LINK
from ...notes.link_places import Splice, byte_offsets, find_link_places, read_note_text
from ...notes.marks import link_key
from ...notes.privacy import mask_private
from ...notes.screening import Screen
from ...verbs.entry_marks import find_stored
from ...workspace.many_edits import CannotEdit, Changes, EditedFile, EditPlan, Notes, plan_edits
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace


def plan_retitle(ws: Workspace, id: str, new: str, *, confirms: bool = False) -> EditPlan:
    """The plan that writes the title `new` into the heading of an entry, and into the links
    that lead to it by its title. Only a person `confirms` a change of a preference in force.

    Raises NotFound, InvalidArgument for a title that it has or that is none, and Refused where
    the heading does not hold the title, or where a link could not lead to the new one.
    """
    stored = find_stored(ws, id)
    entry = stored.entry
    title = " ".join(Screen(ws.config.secrets).text("title", new).split())
    if not title or title == entry.title:
        raise InvalidArgument(
            "{short_id} is called {title!r} already.",
            "Give another title.",
            short_id=entry.short_id,
            title=entry.title[:60],
        )
    notes = Notes(ws)
    links: dict[str, list[Splice]] = {}
    if link_key(title) != link_key(entry.title):
        links = _links_to_title(ws, notes, entry.title, stored, title)
    splices = dict(links)
    for path in (entry.path, *stored.copies):
        locate_writable(ws.journal.roots, path)
        splices[path] = [*links.get(path, ()), _splice_of_title(ws, path, stored, title)]
        splices[path].sort()
    changes = Changes("rename", splices, check=partial(_check_titles, stored.own_id, title))
    plan = plan_edits(ws, notes, changes, confirms=confirms)
    if entry.path not in {edit.path for edit in plan.edits}:
        raise _heading_error(entry)
    return plan


def plan_links_to_title(
    ws: Workspace, id: str, old_title: str, *, confirms: bool = False
) -> EditPlan:
    """The plan by which the links to the title that an entry had before lead to it again.
    Raises NotFound, and Refused where they cannot.
    """
    stored = find_stored(ws, id)
    notes = Notes(ws)
    links = _links_to_title(ws, notes, old_title, stored, stored.entry.title)
    return plan_edits(ws, notes, Changes("link", links), confirms=confirms)


def _links_to_title(
    ws: Workspace, notes: Notes, old_title: str, stored: Stored, title: str
) -> dict[str, list[Splice]]:
    """By path the changes of the links to the entry by `old_title`, which lead to it by its new
    `title`. No link changes if another entry has the old title.
    """
    keys = [link_key(old_title), link_key(title)]

    def find_paths(_: object) -> tuple[dict[int, list[int]], set[str]]:
        linking = dict(ws.index.incoming_links([], keys[:1]))
        entries = ws.index.entries(list(linking)).values()
        return ws.index.entries_by_name_key(keys), {one.entry.path for one in entries}

    leads, paths = in_step(ws, find_paths)
    old_ends, new_ends = ({*leads.get(key, ())} - {stored.rowid} for key in keys)
    if old_ends or not paths:
        return {}
    if new_ends or NOT_IN_LINK.search(title):
        why = (
            Sentence("another entry has that title")
            if new_ends
            else Sentence("no [ ] | # or ^ may stand in one")
        )
        raise Refused(
            "The links to {old_title!r} could not lead to {title!r}: {why}.",
            "Give another title.",
            old_title=old_title[:60],
            title=title[:60],
            why=why,
        )
    splices = {}
    for path in sorted(paths):
        text = read_note_text(notes.read(path))
        links = [
            link
            for link in find_link_places(text.plain)
            if link.form == "wiki" and link_key(link.target) == keys[0]
        ]
        offsets = byte_offsets(text.raw, [link.start for link in links])
        splices[path] = [Splice(offsets[link.start], link.target, title) for link in links]
    return {path: pieces for path, pieces in splices.items() if pieces}


def _splice_of_title(ws: Workspace, path: str, stored: Stored, title: str) -> Splice:
    """The change of the title in the heading of an entry in this file. Raises Refused where it
    is not written there once.
    """
    block, entry = ws.journal.find(path, stored.own_id)
    heading = mask_private(block).splitlines()[0] if block else b""
    written, _ = escape_title(entry.title, entry.tags)
    if MASK in heading or heading.count(written.encode()) != 1:
        raise _heading_error(entry)
    at = entry.there.start + heading.index(written.encode())
    return Splice(at, written, escape_title(title, entry.tags)[0])


def _check_titles(own_id: str, title: str, edited: EditedFile) -> None:
    """Raises CannotEdit if the entry would not have this title, or an entry other tags."""
    for before, after in edited.entries:
        is_other = before.id == own_id and after.title != title
        if is_other or after.tags != before.tags:
            raise CannotEdit("its heading would be read differently")


def _heading_error(entry: Entry) -> Refused:
    return Refused(
        "The heading of {short_id} does not hold its title alone.",
        "Edit it on the page, or: `synaptic update {short_id} --title NEW`.",
        short_id=entry.short_id,
    )
