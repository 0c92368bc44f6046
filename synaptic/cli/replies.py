"""The answers of commands: for people through `terminal`, with --json through `wire`."""

import json
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path

import typer

from ..errors import InvalidArgument, NotFound
from ..journal.disk import overwrite
from ..models import Entry, Json, SearchResult
from ..render import terminal, wire
from ..render.fence import clean
from ..render.present import build_term_test, short_id, write_result_text
from ..render.terminal import Output, emit, emit_json, say
from ..serving.editors import command_to_open
from ..verbs import browse
from ..verbs.browse import Days, Listing
from ..verbs.mentions import id_of_name
from ..verbs.receipts import Receipt
from ..workspace.past import NOTHING_THEN
from ..workspace.workspace import Workspace
from . import editor

EXAMPLE = (
    'synaptic save "Chose SQLite over Postgres: one file, no server." --type decision --tag db'
)
NOTHING_FOUND = "Nothing found."
_LAST_LIST = "last-list.json"
IN_JSON = ContextVar("IN_JSON", default=False)
"""True while a command runs that was given --json."""


def screen_of(ws: Workspace) -> Output:
    return terminal.stdout_screen(ws.journal.place)


def empty_journal_text(ws: Workspace) -> str:
    """For an empty journal its place and how to begin; otherwise an empty text."""
    if ws.index.counts().entries:
        return ""
    if ws.access.is_past:
        return NOTHING_THEN
    return (
        f"The journal in {ws.config.journal} is empty. Its first entry could be:\n  {EXAMPLE}"
    )


def print_answer(data: Json, text: str, notices: Sequence[str] = ()) -> None:
    """Prints the JSON, or the notices and the text, if there is any."""
    if IN_JSON.get():
        return emit_json(data)
    for notice in notices:
        say(f"note: {notice}")
    if text:
        emit(text)
    return None


def can_ask() -> bool:
    """True where a person may be asked: on a terminal that shows no JSON."""
    return not IN_JSON.get() and terminal.is_terminal(sys.stdin, sys.stderr)


def check_can_ask(command: str, *, yes: bool) -> None:
    """Raises InvalidArgument without `yes` if there is nobody to ask."""
    if not (yes or can_ask()):
        raise InvalidArgument(
            f"{command} asks a person first, and there is no terminal to ask on.", "Add --yes."
        )


def ask_agreement(command: str, question: str, *, yes: bool) -> bool:
    """True when a person agrees, or said `yes` before. Raises as `check_can_ask` does."""
    check_can_ask(command, yes=yes)
    return yes or typer.confirm(question, default=False, err=True)


def print_receipt(ws: Workspace, done: str, receipt: Receipt) -> None:
    done, notices = write_result_text(done, receipt.notices)
    text = f"{done} {short_id(receipt.id)} in {screen_of(ws).full_path(receipt.path)}"
    print_answer({"success": True} | wire.as_json(receipt), text, notices)


def refuse_list_number(name: str) -> None:
    """Raises InvalidArgument for a number in the last list, where nobody is asked whether it is
    still that list.
    """
    if _is_list_number(name):
        raise InvalidArgument(
            f"{name} is a place in a list, not an id, and there is no terminal to ask on.",
            "`synaptic recent` and `synaptic search` show ids; on a terminal a number will do.",
        )


def _is_list_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 4


def resolve_id(ws: Workspace, name: str) -> str:
    """The id of an entry by its number in the last list, its title, page, alias or path.

    Raises InvalidArgument for a wrong number, NotFound, and Ambiguous.
    """
    if not _is_list_number(name):
        id = id_of_name(ws, name)
        if id is None:
            raise NotFound(
                f"Nothing is called {name[:40]!r}: no id, title, page, alias or path.",
                "`synaptic recent` and `synaptic search` show ids, `synaptic restore` "
                "lists what was deleted.",
            )
        return id
    ids: list[str] = []
    with suppress(OSError, ValueError):
        ids = json.loads((ws.config.state / _LAST_LIST).read_bytes())
    if 0 < int(name) <= len(ids):
        return ids[int(name) - 1]
    raise InvalidArgument(
        f"The last list has no number {name}.",
        valid=[f"1 to {len(ids)}"] if ids else [],
        hint="search, find and recent make that list.",
    )


def ask_agreed_id(
    ws: Workspace, name: str, question: Callable[[Entry], str], *, always: bool
) -> str:
    """The id of an entry that a person agrees to change, who is shown it; without `always` an
    id is not asked about.
    """
    id = resolve_id(ws, name)
    if not always and name.strip().lower() in id:  # it is a part of the id
        return id
    listing = browse.get(ws, [id])
    (entry,) = listing.entries
    say(terminal.entries_text(listing, screen_of(ws)._replace(colour=False)))
    typer.confirm(f"\n{question(entry)}", abort=True, err=True)
    return entry.id


def print_entries(ws: Workspace, listing: Listing) -> None:
    """Answers with whole entries."""
    text = terminal.entries_text(listing, screen_of(ws))
    _print_results(ws, listing.entries, wire.listing_json(listing), text)


def print_listing(ws: Workspace, listing: Listing, if_none: str = NOTHING_FOUND) -> None:
    """Answers with a line for each entry, or with `if_none`."""
    to = screen_of(ws)
    text = terminal.listing_text(listing, to)
    if listing.facets:
        text += f"\n\n{terminal.facets_text(listing.facets, to)}"
    _save_last_list(ws, listing.entries)
    _print_results(ws, listing.entries, wire.listing_json(listing), text, if_none)
    if listing.cursor and not IN_JSON.get():
        say(f"{listing.total:,} in all; the next ones: --cursor {listing.cursor}")


def print_search(ws: Workspace, result: SearchResult) -> None:
    _save_last_list(ws, [hit.entry for hit in result.hits])
    text = ""
    if result.hits:
        is_hit = build_term_test(result.terms, ws.index.stem)
        text = terminal.hits_text(result, is_hit, screen_of(ws))
    _print_results(ws, result.hits, wire.search_json(result), text)


def print_days(ws: Workspace, days: Days) -> None:
    text = terminal.days_text(days, screen_of(ws))
    print_answer(wire.days_json(days), text, days.listing.notices)


def _save_last_list(ws: Workspace, entries: Sequence[Entry]) -> None:
    """Keeps the list, so that later commands know its numbers; an empty one replaces none."""
    if not entries:
        return
    ids = json.dumps([entry.id for entry in entries])
    with suppress(OSError):  # a home that cannot be written can be read
        overwrite(ws.config.state / _LAST_LIST, ids.encode(), sync=False)


def _print_results(
    ws: Workspace,
    results: Sequence[object],
    data: Json,
    text: str,
    if_none: str = NOTHING_FOUND,
) -> None:
    """Prints the entries found, or a remark: nothing was found, or the journal is empty."""
    notices = data["notices"]
    if results:
        return print_answer(data, text, notices)
    if empty := empty_journal_text(ws):
        return print_answer(data | {"notices": [*notices, empty]}, empty)
    if not IN_JSON.get():
        say(if_none)
    return print_answer(data, text, notices)


def open_or_print_path(path: Path, line: int | None) -> None:
    """Opens a file in the person's editor; without one, or in a pipe, answers where it is."""
    command = None if IN_JSON.get() else editor.editor_command()
    if command:
        return editor.run_editor(command_to_open(command, path, line))
    text = f"{path}:{line}" if line else str(path)
    return print_answer({"path": str(path), "line": line}, clean(text))
