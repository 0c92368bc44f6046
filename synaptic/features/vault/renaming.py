"""Renames a note: its file, and all links to it in the notes that the journal owns; or an entry
of a day, which `retitling` plans.

1. `plan_note_rename` finds the note, refuses names that cannot be, and lists what would change.
2. `many_edits.make_edits` carries that out as one change, and `take_back` takes it back.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePosixPath
from urllib.parse import quote

from ...errors import Ambiguous, InvalidArgument, NotFound, Refused, Sentence
from ...journal.folder import is_note, locate_writable
from ...journal.left_out import withholds
from ...models import Entry, Texts
from ...notes.dates import date_in_path
from ...notes.link_names import ends_with_name, name_key
from ...notes.link_places import page_key, page_of_path
from ...notes.marks import link_key
from ...verbs.linked import id_of_name
from ...workspace.many_edits import EditPlan
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .new_names import check_path_is_free, why_forbidden
from .relinking import LinkMoves, Pages, list_files
from .retitling import plan_retitle


def plan_note_rename(ws: Workspace, note: str, new: str, *, confirms: bool = False) -> EditPlan:
    """The plan that gives a note another name, or another folder, or an entry of a day another
    title.

    `note` is its path, name, title, alias or id. `new` is a name, a path from the journal's
    folder on, or a folder with a `/` at its end; in a graph of Logseq the name of a page; of an
    entry its title. Only
    a person `confirms` a change of a preference in force. Raises NotFound, Ambiguous,
    InvalidArgument for a name that a system forbids, and Refused.
    """
    files = list_files(ws)
    pages = Pages(ws, (path for path in files if is_note(path)))
    old_path = find_note(ws, note, files, pages)
    if isinstance(old_path, Entry):
        return plan_retitle(ws, old_path.id, new, confirms=confirms)
    locate_writable(ws.journal.roots, old_path)
    if ws.journal.place(old_path).is_symlink():
        raise Refused(
            "{old_path} is a link to another file.",
            "Rename the file it leads to.",
            old_path=old_path,
        )
    is_page = old_path in pages.names
    moves = {}
    names = {}
    if is_page:
        page = new.strip().removesuffix(".md").strip("/ ")
        for path in _with_subpages(old_path, pages):
            names[path] = page + pages.names[path][len(pages.names[old_path]) :]
            stem = _stem_of_page(names[path], files)
            end = PurePosixPath(path).suffix
            moves[path] = posixpath.join(posixpath.dirname(path), stem + end)
        moves = {path: to for path, to in moves.items() if path != to or names.get(path)}
    else:
        moves[old_path] = _new_path(old_path, new)
    for path, to in moves.items():
        _check_new_path(ws, path, to, names.get(path, ""))
    if all(path == to for path, to in moves.items()) and not any(
        names[path] != pages.names[path] for path in names
    ):
        raise InvalidArgument(
            "{old_path} has this name already.", "Give another name.", old_path=old_path
        )
    for path, to in moves.items():
        _check_name_is_free(ws, path, to, names.get(path, ""), files, moves, pages)
    plan = LinkMoves(ws, moves, names).plan("rename", confirms=confirms)
    return replace(
        plan, notices=(*plan.notices, *_heading_notice(ws, old_path, moves[old_path]))
    )


def find_note(ws: Workspace, name: str, files: Collection[str], pages: Pages) -> str | Entry:
    """The path of the note of this name, or the entry, if that is only a part of its file.
    Raises NotFound, and Ambiguous for a name of several notes.
    """
    notes = sorted(path for path in files if is_note(path))
    key = name_key(name.strip())
    whole = [path for path in notes if name_key(path) in (key, f"{key}.md")]
    fitting = whole or [
        path
        for path in notes
        if f"/{name_key(path)}".endswith((f"/{key}", f"/{key}.md"))
        or page_key(pages.names.get(path, "")) == page_key(name)
    ]
    written = name.strip()
    same_letters = [
        path
        for path in fitting
        if ends_with_name(path, written) or ends_with_name(path, f"{written}.md")
    ]
    fitting = same_letters or fitting
    if len(fitting) > 1:
        raise Ambiguous(
            "{n} notes are called {name!r}.",
            valid=fitting[:6],
            hint="Give the path of one.",
            n=len(fitting),
            name=name[:40],
        )
    if fitting:
        return fitting[0]
    id = id_of_name(ws, name)
    if id is None:
        raise NotFound(
            "No note is called {name!r}.",
            "Give its path, its name, its title or its id: `synaptic search` shows them. Of a "
            "note that was moved by hand `synaptic review` mends the links.",
            name=name[:60],
        )
    entry = in_step(ws, lambda _: ws.index.resolve(id)).entry
    return entry.path if entry.whole_file else entry


def _with_subpages(path: str, pages: Pages) -> list[str]:
    """A page of Logseq, and the pages in its namespace."""
    above = f"{page_key(pages.names[path])}/"
    below = [one for one, page in pages.names.items() if page_key(page).startswith(above)]
    return [path, *sorted(below)]


def _stem_of_page(page: str, files: Iterable[str]) -> str:
    """The name of the file of a page, as the graph writes namespaces."""
    parts = page.split("/")
    is_old_form = any("%2F" in path for path in files) and not any("___" in p for p in files)
    return ("%2F" if is_old_form else "___").join(quote_percent(part) for part in parts)


def quote_percent(part: str) -> str:
    """A part of a page's name with a percent sign that would be read as an encoded sign
    encoded.
    """
    return re.sub("%(?=[0-9a-fA-F]{2})", quote("%"), part)


def _new_path(old_path: str, new: str) -> str:
    """The path that `new` means for the note `old_path`."""
    new = new.strip()
    name = posixpath.basename(old_path)
    if new.endswith("/"):
        new += name
    end = PurePosixPath(old_path).suffix
    if not is_note(new):
        new += end
    return new if "/" in new else posixpath.join(posixpath.dirname(old_path), new)


def _check_new_path(ws: Workspace, old_path: str, new_path: str, page: str) -> None:
    """Raises InvalidArgument for a name that a system or a program forbids, and Refused for a
    path that the journal would not read, and for days.
    """
    for step in new_path.split("/"):
        reason = why_forbidden(step)
        if reason:
            raise InvalidArgument(
                "{name!r} cannot be the name of a note: {reason}.",
                "Give another name; letters, digits, blanks, - and _ are possible everywhere.",
                name=(page or new_path)[:80],
                reason=reason,
            )
    if ws.journal.roots.split_path(new_path)[0] or withholds(ws.journal.roots, new_path):
        raise Refused(
            "{new_path} would not be read as a note of the journal.",
            "Give another folder.",
            new_path=new_path,
        )
    day_file = ws.config.day_file
    days = [date_in_path(path, day_file) for path in (old_path, new_path)]
    if days[0] != days[1]:
        subject = old_path if days[0] and days[0].is_day else new_path
        if any(day and day.is_day for day in days):
            raise Refused(
                "{path} is the file of a day, and its name is its date.",
                "Give a note that is no day, and no date.",
                path=subject,
            )


def _check_name_is_free(
    ws: Workspace,
    old_path: str,
    new_path: str,
    page: str,
    files: Collection[str],
    moves: Collection[str],
    pages: Pages,
) -> None:
    """Raises Refused if something has the new path, or another note the new name."""
    others = set(files) - {old_path}
    check_path_is_free(ws, old_path, new_path, others)
    stem = page or PurePosixPath(new_path).stem
    if link_key(stem) == link_key(pages.names.get(old_path) or PurePosixPath(old_path).stem):
        return
    named = [
        path
        for path in sorted(others - set(moves))
        if is_note(path)
        and link_key(pages.names.get(path) or PurePosixPath(path).stem) == link_key(stem)
    ]
    named += _notes_called(ws, stem, {old_path, *moves})
    if named:
        raise Refused(
            "{path} has the name {name!r} already; of two notes of one name, "
            "nobody could say which one a link means.",
            "Give another name, or rename that one first.",
            path=named[0],
            name=stem,
        )


def _notes_called(ws: Workspace, name: str, apart: Collection[str]) -> list[str]:
    """The paths of notes of which this is the name, a title or an alias."""
    key = link_key(name)

    def run(_: object) -> list[str]:
        rows = ws.index.entries_by_name_key([key]).get(key, [])
        entries = [stored.entry for stored in ws.index.entries(rows).values()]
        return [entry.path for entry in entries if entry.whole_file]

    return [path for path in in_step(ws, run) if path not in apart]


def _heading_notice(ws: Workspace, old_path: str, new_path: str) -> Texts:
    """A sentence if the note has a title of its own that still says the old name."""
    was = page_of_path(old_path)
    with suppress(NotFound, IndexError):
        entry = ws.journal.parse(new_path, ws.journal.read(old_path)).entries[0]
        if link_key(entry.title) == link_key(was) and link_key(was) != link_key(
            page_of_path(new_path)
        ):
            text = "Its own heading still says {title!r}; it is not changed."
            return (Sentence(text, title=entry.title),)
    return ()
