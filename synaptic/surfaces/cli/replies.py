"""What the commands answer: for people through `terminal`, with --json through `wire`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from ...models import Listing, Receipt, SearchResult
from ...workspace.workspace import Workspace
from .. import wire
from ..present import clean, done_text, short
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


def answer(as_json: bool, data: wire.Json, text: str, notices: Sequence[str] = ()) -> None:
    """Answers with the JSON, or with the text, if there is any, and the notices."""
    if as_json:
        return emit_json(data)
    if text:
        emit(text)
    for notice in notices:
        say(f"note: {notice}")
    return None


def answer_receipt(ws: Workspace, done: str, receipt: Receipt, as_json: bool) -> None:
    place = f"{'for' if receipt.queued else 'in'} {screen_of(ws).path(receipt.path)}"
    done, notices = done_text(done, receipt.notices)
    answer(as_json, wire.receipt_json(receipt), f"{done} {short(receipt.id)} {place}", notices)


def answer_listing(ws: Workspace, listing: Listing, as_json: bool, *, whole: bool = False) -> None:
    to = screen_of(ws)
    parts = [(terminal.entries_text if whole else terminal.listing_text)(listing, to)]
    if listing.facets:
        parts.append(terminal.facets_text(listing.facets, to))
    text = "\n\n".join(part for part in parts if part)
    _answer_found(ws, as_json, listing.entries, wire.listing_json(listing), text, listing.notices)
    if listing.cursor and not as_json:
        say(f"{listing.total:,} in all; the next ones: --cursor {listing.cursor}")


def answer_search(ws: Workspace, result: SearchResult, as_json: bool) -> None:
    stem = functools.cache(ws.index.stem)
    sought = {stem(term) for term in result.terms} - {None}
    begun = tuple(term[:-1] for term in result.terms if term.endswith("*"))

    def is_hit(word: str) -> bool:
        return stem(word) in sought or word.startswith(begun)

    text = terminal.hits_text(result, is_hit, screen_of(ws)) if result.hits else ""
    _answer_found(ws, as_json, result.hits, wire.search_json(result), text, result.notices)


def _answer_found(
    ws: Workspace, as_json: bool, found: Sequence[object], data: wire.Json, text: str, notices: Sequence[str]
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
        editor.run(editor.command_at(command, path, line))
    else:
        answer(as_json, {"path": str(path), "line": line}, clean(f"{path}:{line}" if line else str(path)))
