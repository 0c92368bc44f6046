"""What the commands answer: for people through `terminal`, with --json through `wire`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path

from ...models import Listing, Receipt, SearchResult
from ...workspace.workspace import Workspace
from .. import wire
from ..present import clean, short
from . import editor, terminal
from .terminal import Screen, emit, emit_json, say

EXAMPLE = 'synaptic save "Chose SQLite over Postgres: one file, no server." --type decision --tag db'


def screen_of(ws: Workspace) -> Screen:
    return terminal.screen(ws.config.journal)


def when_empty(ws: Workspace) -> str:
    """Where the journal is and how to begin, if it is empty; else nothing."""
    if ws.index.counts().entries:
        return ""
    return f"The journal in {ws.config.journal} is empty. Its first entry could be:\n  {EXAMPLE}"


def tell(notices: Sequence[str]) -> None:
    for notice in notices:
        say(f"note: {notice}")


def answer(as_json: bool, data: Callable[[], wire.Json], text: Callable[[], str], notices: Sequence[str] = ()) -> None:
    """Answers with the JSON, or with the text and the notices."""
    if as_json:
        return emit_json(data())
    emit(text())
    return tell(notices)


def answer_receipt(ws: Workspace, done: str, receipt: Receipt, as_json: bool) -> None:
    place = f"{'for' if receipt.queued else 'in'} {screen_of(ws).path(receipt.path)}"
    notices = [notice for notice in receipt.notices if notice != "already saved"]  # which `done` says
    answer(as_json, lambda: wire.receipt_json(receipt), lambda: f"{done} {short(receipt.id)} {place}", notices)


def answer_listing(ws: Workspace, listing: Listing, as_json: bool, *, whole: bool = False) -> None:
    if _answered(ws, listing.entries, as_json, lambda: wire.listing_json(listing)):
        return
    if listing.entries:
        emit((terminal.entries_text if whole else terminal.listing_text)(listing, screen_of(ws)))
    if listing.facets:
        emit("\n" + terminal.facets_text(listing.facets, screen_of(ws)))
    if listing.cursor:
        say(f"{listing.total:,} in all; the next ones: --cursor {listing.cursor}")
    tell(listing.notices[: None if whole else 1])


def answer_search(ws: Workspace, result: SearchResult, as_json: bool) -> None:
    if _answered(ws, result.hits, as_json, lambda: wire.search_json(result)):
        return
    stem = functools.cache(ws.index.stem)
    sought = {stem(term) for term in result.terms} - {None}
    if result.hits:
        emit(terminal.hits_text(result, lambda word: stem(word) in sought, screen_of(ws)))
    tell(result.notices[:1])


def _answered(ws: Workspace, found: Sequence[object], as_json: bool, data: Callable[[], wire.Json]) -> bool:
    """Prints the JSON, or a remark where nothing was found; True after the JSON, or where the journal is empty."""
    empty = "" if found else when_empty(ws)
    if as_json:
        said = data()
        emit_json(said | {"notices": [*said["notices"], empty]} if empty else said)
    elif empty:
        emit(empty)
    elif not found:
        say("Nothing found.")
    return as_json or bool(empty)


def answer_place(path: Path, line: int | None, as_json: bool) -> None:
    """Opens a file in the person's editor; without one, or in a pipe, answers where it is."""
    command = None if as_json or not editor.on_terminal() else editor.editor()
    if as_json:
        emit_json({"path": str(path), "line": line})
    elif command is None:
        emit(clean(f"{path}:{line}" if line else str(path)))
    else:
        editor.open_at(command, path, line)
