"""Prints the results of commands: as text for people through `terminal`, with --json through
`wire`.
"""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from itertools import chain

import typer

from ..errors import InvalidArgument, NotFound, SynapticError
from ..filters import Filters
from ..journal.disk import overwrite, read_state_file
from ..journal.journal import Journal
from ..models import Entry, Json, Near, Receipt, SearchResult, Texts
from ..notes.header import shorten
from ..render import terminal, wire
from ..render.fence import clean, one_line
from ..render.present import build_term_test, outline_text, short_id, write_result_text
from ..render.terminal import Output, emit, emit_json, say
from ..serving.editors import command_to_open, waits_for_person
from ..verbs import browse
from ..verbs.browse import Listing
from ..verbs.linked import id_of_name
from ..verbs.totals import sum_field
from ..workspace.past import NOTHING_THEN
from ..workspace.workspace import Workspace
from . import editor

EXAMPLE = (
    'synaptic save "Chose SQLite over Postgres: one file, no server." --type decision --tag db'
)
NOTHING_FOUND = "Nothing found."
_LAST_LIST = "last-list.json"
_TITLE_CHARS = 60
IN_JSON = ContextVar("IN_JSON", default=False)
"""True while a command with the flag --json runs."""


def output_for_workspace(ws: Workspace) -> Output:
    """Returns standard output with its width and colours; paths are shown as paths in the
    journal of `ws`.
    """
    return terminal.stdout_screen(ws.journal.place)


def empty_journal_text(ws: Workspace) -> str:
    """Returns, for a journal without entries, its path and an example of a save, or that its
    notes could not be read; "" for any other.
    """
    if ws.index.counts().entries:
        return ""
    if ws.access.is_past:
        return NOTHING_THEN
    if not ws.access.is_published:
        from ..journal.left_out import find_left_out  # only an empty journal needs it

        if find_left_out(ws.journal.roots):
            return f"No note in {ws.config.journal} could be read; `synaptic doctor` says why."
    return (
        f"The journal in {ws.config.journal} is empty. Its first entry could be:\n  {EXAMPLE}"
    )


def print_answer(data: Json, text: str, notices: Sequence[str] = ()) -> None:
    """Prints `data` as JSON if the command has --json; else the notices to standard error and
    the text to standard output.
    """
    if IN_JSON.get():
        return emit_json(data)
    for notice in notices:
        say(f"note: {notice}")
    if text:
        emit(text)
    return None


def print_undoable(command: str, rows: Sequence[tuple[str, str]]) -> None:
    """Prints the names of the runs that `--undo NAME` of a command can take back, the newest
    first, and what each did.
    """
    lines = [f"{name}  {about}" for name, about in rows]
    if rows:
        lines.append(f"To take one back: synaptic {command} --undo {rows[0][0]}")
    data = {"undoable": [{"name": name, "about": about} for name, about in rows]}
    print_answer(data, clean("\n".join(lines)) or "Nothing can be undone.")


def can_ask() -> bool:
    """True where a person can be asked: standard input and error are a terminal, and --json is
    not given.
    """
    return not IN_JSON.get() and terminal.is_terminal(sys.stdin, sys.stderr)


def check_can_ask(command: str, *, yes: bool) -> None:
    """Raises InvalidArgument if the command needs an agreement, `yes` is not given, and no
    person can be asked.
    """
    if not (yes or can_ask()):
        why = "--json asks nothing" if IN_JSON.get() else "there is no terminal to ask on"
        raise InvalidArgument(
            f"{command} asks a person first, and {why}.",
            "Add --yes to go on without the question.",
        )


def ask_agreement(command: str, question: str, *, yes: bool) -> bool:
    """Returns True when `yes` is given, or when a person answers the question with yes. Raises
    InvalidArgument when no person can be asked.
    """
    check_can_ask(command, yes=yes)
    terminal.drop_typed_keys()
    return yes or typer.confirm(question, default=False, err=True)


def print_receipt(
    ws: Workspace, done: str, receipt: Receipt, attached: Sequence[str] | None = None
) -> None:
    """Prints the result of a change, such as `Updated 7k3m9q2x in 2026-11-21.md`, its notices,
    and the paths of the files that were attached; None where none could be.
    """
    done, notices = write_result_text(done, receipt.notices)
    to = output_for_workspace(ws)
    lines = [f"{done} {short_id(receipt.id)} in {to.full_path(receipt.path)}"]
    lines += [f"Attached {to.full_path(path)}" for path in attached or ()]
    data = {"success": True} | wire.as_json(receipt)
    if attached is not None:
        data["attached"] = list(attached)
    print_answer(data, "\n".join(lines), notices)
    if receipt.leaning and not IN_JSON.get():
        lines = [
            f"{short_id(one.id)} {one.date} {_short_title(one)}" for one in receipt.leaning
        ]
        say(f"May lean on the replaced one: {'; '.join(lines)}")


def change_all(
    ws: Workspace,
    verb: str,
    done: str,
    ids: Sequence[str],
    act: Callable[[str], Receipt],
    *,
    is_undoable: bool = True,
) -> None:
    """Changes these entries as one run, which one undo takes back, and prints what was `done`.
    An error says how many were changed before it.
    """
    if is_undoable:  # a wrong id is named before the others change
        ids = [resolve_id(ws, id) for id in ids]
    receipts: list[Receipt] = []
    with ws.own_journal.doing(verb, entries=ids) as deed:
        try:
            receipts += map(act, dict.fromkeys(ids))
        except SynapticError as error:
            if receipts:
                error.message += f" {len(receipts):,} others were {done.lower()}."
            raise
    to = output_for_workspace(ws)
    lines = [f"{done} {short_id(one.id)} in {to.full_path(one.path)}" for one in receipts]
    lines += [f"`synaptic undo {deed.run}` takes all back."] * is_undoable
    notices = [*dict.fromkeys(chain.from_iterable(one.notices for one in receipts))]
    data = {"success": True, done.lower(): wire.as_json(receipts), "undo": deed.run}
    return print_answer(data, "\n".join(lines), notices)


def _short_title(near: Near) -> str:
    return shorten(one_line(near.title), _TITLE_CHARS)


def print_nearest_entry(id: str, entries: Sequence[Near]) -> None:
    """Prints to standard error the earlier entry that is nearest to the saved entry `id`, and
    the command for the case that the saved one replaces or settles it.
    """
    for near in entries[:1]:
        other = short_id(near.id)
        question, command = "replace", f"update {short_id(id)} --supersedes {other}"
        if near.is_open:
            question, command = "settle", f"update {other} --add-tag done"
        say(
            f"Near: {other} {near.date} {_short_title(near)} Does the new one {question} it? "
            f"`synaptic {command}`"
        )


def refuse_list_number(name: str) -> None:
    """Raises InvalidArgument for a name that is a number in the last printed list, because
    without a terminal nobody can confirm that it is still the same list.
    """
    if _is_list_number(name):
        raise InvalidArgument(
            f"{name} is the number of an entry in a list; numbers work on a terminal only.",
            "Give the id of the entry: `synaptic recent` and `synaptic search` show ids.",
        )


def _is_list_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 4


def resolve_id(ws: Workspace, name: str) -> str:
    """Returns the id of the entry with this number in the last printed list, or with this id,
    title, page, alias or path.

    Raises InvalidArgument for a wrong number, NotFound, and Ambiguous.
    """
    if not _is_list_number(name):
        id = id_of_name(ws, name)
        if id is None:
            raise NotFound(
                f"No entry or page has the id, title, alias or path {name[:40]!r}.",
                "`synaptic recent` and `synaptic search` show ids, `synaptic restore` "
                "lists what was deleted.",
            )
        return id
    ids: list[str] = []
    with suppress(OSError, ValueError):
        ids = json.loads(read_state_file(ws.config.state / _LAST_LIST))
    if 0 < int(name) <= len(ids):
        return ids[int(name) - 1]
    raise InvalidArgument(
        f"The last list has no number {name}.",
        valid=[f"1 to {len(ids)}"] if ids else [],
        hint="`synaptic search`, `find`, `recent` and `tasks` number what they list.",
    )


def ask_agreed_id(
    ws: Workspace, name: str, question: Callable[[Entry], str], *, always: bool
) -> str:
    """Returns the id of an entry after a person saw it and agreed to the `question` about it.
    Unless `always`, a name that is a part of the id needs no agreement.
    """
    id = resolve_id(ws, name)
    if not always and name.strip().lower() in id:  # it is a part of the id
        return id
    listing = browse.get(ws, [id])
    (entry,) = listing.entries
    say(terminal.entries_text(listing, output_for_workspace(ws)._replace(colour=False)))
    terminal.drop_typed_keys()
    typer.confirm(f"\n{question(entry)}", abort=True, err=True)
    return entry.id


def print_entries(ws: Workspace, listing: Listing) -> None:
    """Prints whole entries."""
    text = terminal.entries_text(listing, output_for_workspace(ws))
    _print_results(ws, listing.entries, wire.listing_json(listing), text)


def print_listing(ws: Workspace, listing: Listing, if_none: str = NOTHING_FOUND) -> None:
    """Prints a line for each entry, or `if_none` where there is no entry."""
    to = output_for_workspace(ws)
    text = terminal.listing_text(listing, to)
    if listing.facets:
        text += f"\n\n{terminal.facets_text(listing.facets, to)}"
    save_last_list(ws, [entry.id for entry in listing.entries])
    _print_results(ws, listing.entries, wire.listing_json(listing), text, if_none)
    if listing.cursor and not IN_JSON.get():
        say(f"{listing.total:,} in all; the next ones: --cursor {listing.cursor}")


def print_search(ws: Workspace, result: SearchResult) -> None:
    """Prints the hits of a search, and saves their order, so that later commands know them by
    number.
    """
    save_last_list(ws, [hit.entry.id for hit in result.hits])
    text = ""
    if result.hits:
        is_hit = build_term_test(result.terms, ws.index.stem)
        text = terminal.hits_text(result, is_hit, output_for_workspace(ws))
    data = wire.search_json(result)
    if result.plan:
        again = [{"because": one.because, "new": one.new} for one in result.rounds[1:]]
        text += f"\n{outline_text({'plan': data['plan'], 'searched again': again})}\n"
    _print_results(ws, result.hits, data, text)


def print_totals(ws: Workspace, filters: Filters, sum_of: str | None, by: str | None) -> None:
    """Prints the sums of a field over all entries that pass the filters, or their number."""
    totals = sum_field(ws, sum_of, by, filters=filters)
    text = terminal.totals_text(totals, output_for_workspace(ws)) if totals.rows else ""
    _print_results(ws, totals.rows, wire.totals_json(totals), text)


def save_last_list(ws: Workspace, ids: Sequence[str]) -> None:
    """Writes the ids of a printed list to a file, so that later commands know the entries by
    their numbers. An empty list leaves the file unchanged.
    """
    if ids:
        with suppress(OSError):  # a home that cannot be written can be read
            path = ws.config.state / _LAST_LIST
            overwrite(path, json.dumps(ids).encode(), sync=False)


def _print_results(
    ws: Workspace,
    results: Sequence[object],
    data: Json,
    text: str,
    if_none: str = NOTHING_FOUND,
) -> None:
    """Prints the results; where there are none, the remark `if_none`, or that the journal is
    empty.
    """
    notices = data["notices"]
    if results:
        return print_answer(data, text, notices)
    if empty := empty_journal_text(ws):
        return print_answer(data | {"notices": [*notices, empty]}, empty)
    if not IN_JSON.get():
        say(if_none)
    return print_answer(data, text, notices)


def edit_or_print_path(
    journal: Journal, path: str, line: int | None, attached: Texts | None = None
) -> None:
    """Opens a file of the journal at a line in the person's editor, and keeps the texts before
    the edit in the trash. Without an editor, or without a terminal, prints the path and the
    line. The places of what is attached go to standard error.
    """
    file = journal.place(path)
    command = None if IN_JSON.get() else editor.editor_command()
    if not IN_JSON.get():
        for one in attached or ():
            say(f"Attached: {clean(str(journal.place(one)))}")
    if command:
        from .kept_texts import texts_before_edit_kept  # only an edit needs it

        with texts_before_edit_kept(journal, path, waits=waits_for_person(command)):
            return editor.run_editor(command_to_open(command, file, line))
    text = f"{file}:{line}" if line else str(file)
    data: Json = {"path": str(file), "line": line}
    if attached is not None:
        data["attached"] = [str(journal.place(one)) for one in attached]
    return print_answer(data, clean(text))
