"""Finds where other notes name a note without a link, and makes the link."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping, Set
from itertools import chain

from ...errors import NotFound, Refused
from ...filters import Filters
from ...journal.folder import OWN
from ...models import Entry, Texts, frozen
from ...notes.blocks import LINK, WIKI_LINK, blank_out, without_code_and_comments
from ...notes.link_names import NOT_IN_LINK
from ...notes.link_places import NoteText, Splice, byte_offsets, read_note_text
from ...notes.marks import link_key
from ...verbs.browse import get
from ...verbs.link_ends import Ends, links_of_entries
from ...workspace.many_edits import Changes, EditPlan, Notes, plan_edits
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .translation import translate

LEAST_CHARS = 3
"""The least characters of a name that is looked for."""
CANDIDATES = 60
"""The most entries with the words of a name that are read."""
MOST_MENTIONS = 20
_AROUND = 80
"""Characters of text before and after a mention."""
_URL = re.compile(r"\b[a-zA-Z][\w+.-]*://\S+")


@frozen
class Mention:
    """An entry that names a note without a link: `written` is the name there, and `around` the
    text before and after it.
    """

    entry: Entry
    written: str
    around: tuple[str, str]


def names_in_links(entry: Entry) -> list[str]:
    """The names by which a link may lead to an entry, the best first: the name of the file of a
    note, which other programs know too, its path, and the title.
    """
    names = [entry.title]
    if entry.there.whole_file:
        path = entry.path.removesuffix(".md")
        names = [posixpath.basename(path), path, entry.title]
    return [name for name in names if name and not NOT_IN_LINK.search(name)]


def link_targets_of(ws: Workspace, entries: Mapping[int, Entry]) -> dict[int, str]:
    """Maps each rowid to a name that leads to its entry alone; else to the short id."""
    names = {rowid: names_in_links(entry) for rowid, entry in entries.items()}
    keys = {link_key(name) for each in names.values() for name in each}
    leads = ws.index.entries_by_name_key(keys)
    return {
        rowid: next(
            (name for name in names[rowid] if leads.get(link_key(name)) == [rowid]),
            entry.short_id,
        )
        for rowid, entry in entries.items()
    }


def find_mentions(ws: Workspace, note: Entry) -> tuple[Mention, ...]:
    """The entries of the journal that name this note without a link, newest first, at most
    MOST_MENTIONS. None for an entry that is not a file of its own.

    A name is the title, an alias or the name of the file, as whole words in any case; not in
    code, links, addresses and private passages.
    """
    names = _names_of_note(ws, note)
    if not names:
        return ()

    def find(_: object) -> tuple[Mention, ...]:
        own = _rows_of_ids(ws, [note.id])
        linking = links_of_entries(ws, list(own)).backlinks
        linked = _rows_of_ids(ws, [link.id for link in linking if link.id])
        wanted = Filters(words=names, include_superseded=True)
        candidates = ws.index.list_rows(wanted, order="newest", limit=CANDIDATES)
        rows = [rowid for rowid in candidates if rowid not in linked | own]
        mentions: list[Mention] = []
        for entry in read_entries(ws, rows).values():
            if len(mentions) == MOST_MENTIONS:
                break
            if ws.journal.roots.split_path(entry.path)[0] not in OWN:
                continue
            data = ws.journal.read_all([entry.path]).get(entry.path, b"")
            text = read_note_text(data)
            for start, end in _places_that_mean(ws, own, names, text, data, entry)[:1]:
                line = text.raw[max(0, start - _AROUND) : start].rpartition("\n")[2]
                rest = text.raw[end : end + _AROUND].partition("\n")[0]
                mentions.append(Mention(entry, text.raw[start:end], (line, rest)))
        return tuple(mentions)

    return in_step(ws, find)


def plan_mention_link(ws: Workspace, id: str, mentioning: str) -> EditPlan:
    """The plan that makes the first mention of the note `id` in the entry `mentioning` a link.
    Raises NotFound if there is none, or if it changed meanwhile.
    """
    note, entry = (get(ws, [one]).entries[0] for one in (id, mentioning))
    notes = Notes(ws)
    data = notes.read(entry.path)
    text = read_note_text(data)
    names = _names_of_note(ws, note)

    def find_places(_: object) -> list[tuple[int, int]]:
        return _places_that_mean(ws, _rows_of_ids(ws, [note.id]), names, text, data, entry)

    places = in_step(ws, find_places)
    if not places or not notes.is_own(entry.path):
        raise NotFound(
            translate(
                "%(id)s does not name “%(note)s” without a link any more.",
                id=entry.short_id,
                note=note.title[:60],
            ),
            translate("Reload the page of the note."),
        )
    start, end = places[0]
    written = text.raw[start:end]
    targets = in_step(
        ws, lambda _: link_targets_of(ws, {ws.index.resolve(note.id).rowid: note})
    )
    [target] = targets.values()
    link = f"[[{written}]]" if written == target else f"[[{target}|{written}]]"
    at = byte_offsets(text.raw, [start])[start]
    changes = Changes("link", {entry.path: [Splice(at, written, link)]})
    plan = plan_edits(ws, notes, changes, (), confirms=True)
    if not plan.edits:
        raise Refused(
            translate(
                "A link would change how %(path)s is read: %(why)s.",
                path=entry.path,
                why=plan.stays[0].why,
            ),
            translate("Make the link in an editor."),
        )
    return plan


def _names_of_note(ws: Workspace, note: Entry) -> Texts:
    """The names of a note that is a file: its title, its aliases and the name of its file; none
    for another entry. A short name is left out.
    """
    if not note.there.whole_file:
        return ()
    data = ws.journal.read_all([note.path]).get(note.path, b"")
    # the index holds no aliases as they are written
    [written] = ws.journal.parse(note.path, data).entries[:1] or [note]
    aliases = dict(written.extra).get("aliases", "").split(", ")
    stem = posixpath.basename(note.path).removesuffix(".md")
    names = dict.fromkeys(name.strip() for name in (note.title, stem, *aliases))
    return tuple(name for name in names if len(name) >= LEAST_CHARS)


def _rows_of_ids(ws: Workspace, ids: Collection[str]) -> set[int]:
    rows = ws.index.entries_by_name_key([link_key(id) for id in ids])
    return {*chain.from_iterable(rows.values())}


def _places_that_mean(
    ws: Workspace,
    own: Set[int],
    names: Collection[str],
    text: NoteText,
    data: bytes,
    entry: Entry,
) -> list[tuple[int, int]]:
    """The spans in the text of a file at which this entry names a note without a link, and a
    link with the same words would lead to the note, whose rows are `own`, and not to one whose
    name differs by case.
    """
    places = _places_in_entry(text, data, entry, names)
    ends = Ends(ws, [[text.raw[start:end]] for start, end in places])
    return [
        (start, end)
        for start, end in places
        if own & {*ends.find([text.raw[start:end]], entry.path)}
    ]


def _places_in_entry(
    text: NoteText, data: bytes, entry: Entry, names: Collection[str]
) -> list[tuple[int, int]]:
    """The spans in the text of a file at which one of the names stands within this entry, as
    whole words and without a link.
    """
    plain = without_code_and_comments(text.raw, text.body)
    for form in (WIKI_LINK, LINK, _URL):
        plain = blank_out(plain, [match.span() for match in form.finditer(plain)])
    longest_first = sorted(names, key=len, reverse=True)
    any_name = "|".join(map(re.escape, longest_first))
    pattern = re.compile(rf"(?<![\w#@/.\[-])(?:{any_name})(?![\w/@\]-])", re.IGNORECASE)
    spans = [match.span() for match in pattern.finditer(plain, text.body)]
    offsets = byte_offsets(text.raw, [start for start, _ in spans])
    first, last = entry.there.start, entry.there.end
    return [span for span in spans if first <= offsets[span[0]] < last]
