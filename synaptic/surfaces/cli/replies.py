"""The answers of commands: for people through `terminal`, with --json through `wire`."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from ...errors import InvalidArgument, NotFound
from ...journal.disk import overwrite
from ...models import NOTHING_CLOSE, Entry, SearchResult
from ...verbs import browse
from ...verbs.browse import Days, Listing
from ...verbs.mentions import id_called
from ...verbs.writing import Receipt
from ...workspace.workspace import Workspace
from ..render import terminal, wire
from ..render.present import clean, done_text, short, term_test
from ..render.terminal import Output, emit, emit_json, say
from ..serving.editors import command_at
from . import editor

EXAMPLE = (
    'synaptic save "Chose SQLite over Postgres: one file, no server." --type decision --tag db'
)
_LAST_LIST = "last-list.json"


def screen_of(ws: Workspace) -> Output:
    return terminal.screen(ws.journal.place)


def when_empty(ws: Workspace) -> str:
    """The place of an empty journal and how to begin; nothing for any other."""
    if ws.index.counts().entries:
        return ""
    return (
        f"The journal in {ws.config.journal} is empty. Its first entry could be:\n  {EXAMPLE}"
    )


def answer(as_json: bool, data: wire.Json, text: str, notices: Sequence[str] = ()) -> None:
    """Answers with the JSON, or with the text, if there is any, and the notices; a doubt stands
    before the text.
    """
    if as_json:
        return emit_json(data)
    before = [notice for notice in notices if notice == NOTHING_CLOSE]
    for notice in before:
        say(f"note: {notice}")
    if text:
        emit(text)
    for notice in notices:
        if notice not in before:
            say(f"note: {notice}")
    return None


def check_can_ask(command: str, *, yes: bool) -> None:
    """Raises InvalidArgument where nobody said `yes` before and there is nobody to ask."""
    if not yes and not terminal.is_terminal(sys.stdin, sys.stderr):
        raise InvalidArgument(
            f"{command} asks first, and here is no terminal to ask on.", hint="Add --yes."
        )


def agreed(command: str, question: str, *, yes: bool) -> bool:
    """True when a person agrees, or said `yes` before. Raises as `check_can_ask` does."""
    check_can_ask(command, yes=yes)
    return yes or typer.confirm(question, default=False, err=True)


def answer_receipt(ws: Workspace, done: str, receipt: Receipt, as_json: bool) -> None:
    place = f"in {screen_of(ws).path(receipt.path)}"
    done, notices = done_text(done, receipt.notices)
    answer(
        as_json,
        {"success": True} | wire.as_json(receipt),
        f"{done} {short(receipt.id)} {place}",
        notices,
    )


def check_id(name: str) -> None:
    """Raises InvalidArgument for a number in the last list, where nobody is asked whether it is
    still that list.
    """
    if _is_number(name):
        hint = (
            "`synaptic recent` and `synaptic search` show ids; on a terminal a number will do."
        )
        raise InvalidArgument(
            f"{name} is a place in a list and no id; here nobody is asked.", hint=hint
        )


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 4


def listed_id(ws: Workspace, name: str) -> str:
    """The id of an entry by its number in the last list, its title, page, alias or path.

    Raises InvalidArgument for a wrong number, NotFound, and Ambiguous.
    """
    if not _is_number(name):
        id = id_called(ws, name)
        if id is None:
            raise NotFound(
                f"Nothing is called {name[:40]!r}: no id, title, page, alias or path.",
                hint="`synaptic recent` and `synaptic search` show ids, `synaptic restore` "
                "lists what was deleted.",
            )
        return id
    ids: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        ids = json.loads((ws.config.state / _LAST_LIST).read_bytes())
    if not 0 < int(name) <= len(ids):
        valid = (f"1 to {len(ids)}",) if ids else ()
        raise InvalidArgument(
            f"The last list has no number {name}.",
            valid=valid,
            hint="search, find and recent make that list.",
        )
    return ids[int(name) - 1]


def agreed_id(
    ws: Workspace, name: str, question: Callable[[Entry], str], *, always: bool
) -> str:
    """The id of an entry that a person agrees to change, who is shown it; without `always` an
    id is not asked about.
    """
    id = listed_id(ws, name)
    if always or name.strip().lower() not in id:  # it is no part of the id
        listing = browse.get(ws, [id])
        say(terminal.entries_text(listing, replace(screen_of(ws), colour=False)))
        typer.confirm(f"\n{question(listing.entries[0])}", abort=True, err=True)
        id = listing.entries[0].id
    return id


def answer_listing(
    ws: Workspace, listing: Listing, as_json: bool, *, whole: bool = False
) -> None:
    to = screen_of(ws)
    parts = [(terminal.entries_text if whole else terminal.listing_text)(listing, to)]
    if listing.facets:
        parts.append(terminal.facets_text(listing.facets, to))
    text = "\n\n".join(part for part in parts if part)
    if not whole:
        _keep_list(ws, listing.entries)
    _answer_found(
        ws, as_json, listing.entries, wire.listing_json(listing), text, listing.notices
    )
    if listing.cursor and not as_json:
        say(f"{listing.total:,} in all; the next ones: --cursor {listing.cursor}")


def answer_search(ws: Workspace, result: SearchResult, as_json: bool) -> None:
    _keep_list(ws, [hit.entry for hit in result.hits])
    text = (
        terminal.hits_text(result, term_test(result.terms, ws.index.stem), screen_of(ws))
        if result.hits
        else ""
    )
    _answer_found(ws, as_json, result.hits, wire.search_json(result), text, result.notices)


def answer_days(ws: Workspace, days: Days, as_json: bool) -> None:
    answer(
        as_json,
        wire.days_json(days),
        terminal.days_text(days, screen_of(ws)),
        days.found.notices,
    )


def _keep_list(ws: Workspace, entries: Sequence[Entry]) -> None:
    with contextlib.suppress(OSError):  # a home that cannot be written can be read
        overwrite(
            ws.config.state / _LAST_LIST,
            json.dumps([entry.id for entry in entries]).encode(),
            sync=False,
        )


def _answer_found(
    ws: Workspace,
    as_json: bool,
    found: Sequence[object],
    data: wire.Json,
    text: str,
    notices: Sequence[str],
) -> None:
    """Answers with what was found, or with a remark: nothing was, or the journal is empty."""
    if not found and (empty := when_empty(ws)):
        return answer(as_json, data | {"notices": [*data["notices"], empty]}, empty)
    if not found and not as_json:
        say("Nothing found.")
    return answer(as_json, data, text, notices)


def answer_place(path: Path, line: int | None, as_json: bool) -> None:
    """Opens a file in the person's editor; without one, or in a pipe, answers where it is."""
    command = None if as_json else editor.editor()
    if command:
        editor.run(command_at(command, path, line))
    else:
        answer(
            as_json,
            {"path": str(path), "line": line},
            clean(f"{path}:{line}" if line else str(path)),
        )
