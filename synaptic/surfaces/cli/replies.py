"""What the commands answer: for people through `terminal`, with --json through `wire`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from ...config import load_config
from ...models import Checkup, Listing, Receipt, SearchResult
from ...workspace.workspace import Workspace, open_workspace
from .. import wire
from ..present import clean
from . import editor, terminal
from .terminal import Screen, emit, emit_json, say

EXAMPLE = 'synaptic save "Chose SQLite over Postgres: one file, no server." --type decision --tag db'


def open_home(ctx: typer.Context) -> Workspace:
    return open_workspace(load_config(ctx.obj))


def screen_of(ws: Workspace) -> Screen:
    return terminal.screen(ws.config.journal)


def when_empty(ws: Workspace) -> str:
    """Where the journal is and how to begin, if it is empty; else nothing."""
    if ws.index.counts()[1]:
        return ""
    return f"The journal in {ws.config.journal} is empty. Its first entry could be:\n  {EXAMPLE}"


def tell(notices: Sequence[str], *, most: int | None = None) -> None:
    for notice in notices[:most]:
        say(f"note: {notice}")


def answer_receipt(ws: Workspace, done: str, receipt: Receipt, as_json: bool) -> None:
    if as_json:
        return emit_json(wire.receipt_json(receipt))
    place = screen_of(ws).path(receipt.path)
    emit(f"{done} {terminal.short(receipt.id)} {'for' if receipt.queued else 'in'} {place}")
    return tell([notice for notice in receipt.notices if notice != "already saved"])  # which the line above says


def answer_listing(ws: Workspace, listing: Listing, as_json: bool, *, whole: bool = False) -> None:
    empty = "" if listing.entries else when_empty(ws)
    if as_json:
        notices = (*listing.notices, *([empty] if empty else ()))
        return emit_json(wire.listing_json(replace(listing, notices=notices)))
    if empty:
        return emit(empty)
    if listing.entries:
        emit((terminal.entries_text if whole else terminal.listing_text)(listing, screen_of(ws)))
    else:
        say("Nothing found.")
    if listing.facets:
        emit("\n" + terminal.facets_text(listing.facets, screen_of(ws)))
    if listing.cursor:
        say(f"{listing.total:,} in all; the next ones: --cursor {listing.cursor}")
    return tell(listing.notices, most=None if whole else 1)


def answer_search(ws: Workspace, result: SearchResult, as_json: bool) -> None:
    empty = "" if result.hits else when_empty(ws)
    if as_json:
        notices = (*result.notices, *([empty] if empty else ()))
        return emit_json(wire.search_json(replace(result, notices=notices)))
    if empty:
        return emit(empty)
    stem = functools.cache(ws.index.stem)
    sought = {stem(term) for term in result.terms} - {None}
    if result.hits:
        emit(terminal.hits_text(result, lambda word: stem(word) in sought, screen_of(ws)))
    else:
        say("Nothing found.")
    return tell(result.notices, most=1)


def answer_checkup(ws: Workspace, found: Checkup, as_json: bool) -> None:
    if as_json:
        emit_json(wire.checkup_json(found))
    else:
        emit(terminal.checkup_text(found, screen_of(ws)))
    if not found.ok:
        raise typer.Exit(1)


def answer_place(path: Path, line: int | None, as_json: bool) -> None:
    """Opens a file in the person's editor; without one, or in a pipe, answers where it is."""
    command = None if as_json or not editor.on_terminal() else editor.editor()
    if as_json:
        emit_json({"path": str(path), "line": line})
    elif command is None:
        emit(clean(f"{path}:{line}" if line else str(path)))
    else:
        editor.open_at(command, path, line)
