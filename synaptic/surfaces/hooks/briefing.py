"""What an agent is told of a project in few words: what is pinned, the last hand-off, then
title lines. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

from ...models import Entry
from ..present import DATA_FOLLOWS, Item, clean, end_of, fenced, line_of, one_line, render

TITLE_CHARS = 120
SHORT_CHARS = 300
"""An entry up to this length is shown whole: a pinned one, while these take at most half of the
budget, and one that
clearly fits a prompt."""

LEAST_TOKENS = 20
"""Less of a hand-off than this says nothing."""

OLD_DAYS, OLD_LINES = 30, 4
"""Of a hand-off older than this only the first lines are shown."""

TOP = 10
"""Entries of this importance, the highest, come before all others."""

_PIECE = re.compile(
    r"\b[a-zA-Z]{1,7}\b|[a-zA-Z]{1,4}|[0-9]{1,3}|[\u00c0-\u1fff]{1,3}|\s(?=[0-9])|\n|\S"
)
"""About a token: a piece is 0.80 to 0.99 o200k tokens in the briefings of ten journals
(English, German, Chinese,
Russian, code, terse titles and others), where four characters are 1.1 to 2.5."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Entries of one kind, the most relevant first. `more`: there are others that nobody looked
    at.
    """

    name: str
    entries: tuple[Entry, ...]
    more: bool = False


def compose(
    head: str,
    pinned: Sequence[Entry],
    handoff: Item | None,
    shelves: Sequence[Shelf],
    *,
    find: str,
    max_tokens: int,
) -> str:
    """The briefing within the budget, as fenced Markdown; empty where there is nothing to tell.

    1. What is pinned, whole where it is short.
    2. The hand-off: whole where it takes at most half of the room, or where the lists leave
       more.
    3. The best of each shelf in turn, those of importance 10 before, digests of sessions last.

    What finds no room is counted by shelf; `find` says how to list it.
    """
    pins: list[str] = []
    shown: list[list[str]] = [[] for _ in shelves]
    block = ""

    def text() -> str:
        lists = [
            titles(shelf.name, lines)
            for shelf, lines in zip(shelves, shown, strict=True)
            if lines
        ]
        first = [f"{head} {DATA_FOLLOWS}", titles("pinned", pins) if pins else "", block]
        return "\n".join(
            part for part in (*first, *lists, _left_out(shelves, shown, find)) if part
        )

    def put(lines: list[str], line: str, room: float) -> bool:
        lines.append(line)
        fits = tokens(text()) <= room
        if not fits:
            lines.pop()
        return fits

    for entry in pinned:
        if len(entry.content) > SHORT_CHARS or not put(
            pins, title_line(entry, whole=True), max_tokens / 2
        ):
            put(pins, title_line(entry), max_tokens)
    block = half = _handoff(handoff, (max_tokens - tokens(text())) / 2)
    places = [
        (entry.of_session, entry.importance != TOP, depth, n)
        for n, shelf in enumerate(shelves)
        for depth, entry in enumerate(shelf.entries)
    ]
    for *_, depth, n in sorted(places):
        if depth == len(shown[n]):  # else one of this shelf found no room
            put(shown[n], title_line(shelves[n].entries[depth]), max_tokens)
    block = ""
    block = _handoff(handoff, max_tokens - tokens(text())) or half
    return text() if pins or block or any(shown) else ""


def handoff_item(entry: Entry, *, today: date, later: str) -> Item:
    """A hand-off with its age; `later` is the number of the entries since then. Of an old one
    the first lines.
    """
    days = (today - entry.at.date()).days
    age = {0: "today", 1: "yesterday"}.get(days, f"{days:,} days ago") if entry.dated else ""
    since = (
        f"since then {later} {'entry' if later == '1' else 'entries'}" if later != "0" else ""
    )
    text = clean(entry.content)
    lines = [line for line in text.split("\n") if line.strip()]
    short = days > OLD_DAYS and len(lines) > OLD_LINES
    text = "\n".join(lines[:OLD_LINES]) if short else text
    return Item(
        entry=entry, text=text, partial=short, remark="; ".join(filter(None, (age, since)))
    )


def tokens(text: str) -> int:
    """About the tokens of a text; see `_PIECE`."""
    return len(_PIECE.findall(text))


def titles(info: str, lines: Sequence[str]) -> str:
    """Title lines in one fence."""
    return fenced(f"entries: {info}", "\n".join(lines))


def title_line(entry: Entry, *, whole: bool = False) -> str:
    """Id, date, type and title of an entry, of a long title its beginning; `whole`: its text
    where that says more.
    """
    title, text = one_line(entry.title), one_line(entry.content) if whole else ""
    said = title if whole or len(title) <= TITLE_CHARS else f"{title[:TITLE_CHARS]}…"
    said = (
        text if text.startswith(title.rstrip(".… ")) else f"{said}: {text}".removesuffix(": ")
    )
    return line_of(replace(entry, title=said))


def _left_out(shelves: Sequence[Shelf], shown: Sequence[Sequence[str]], find: str) -> str:
    """What the budget left no room for, by shelf."""
    counts = [
        f"{len(shelf.entries) - len(lines)}{'+' if shelf.more else ''} {shelf.name}"
        for shelf, lines in zip(shelves, shown, strict=True)
        if len(shelf.entries) > len(lines) or shelf.more
    ]
    return f"Left out: {', '.join(counts)}; {find}" if counts else ""


def _handoff(item: Item | None, room: float) -> str:
    """The hand-off whole, else as much of its beginning as there is room for; nothing where
    that is too little.
    """
    if item is None:
        return ""
    whole = render(item)
    if tokens(whole) < room:
        return whole
    left = int(room) - (tokens(whole) - tokens(item.text)) - tokens(", a part of it…")
    if left < LEAST_TOKENS:
        return ""
    end = next(islice(_PIECE.finditer(item.text), left, None), None)
    beginning = (
        item.text[: end_of(item.text, end.start() - 1 if end else len(item.text))].rstrip()
        + "…"
    )
    return render(replace(item, text=beginning, partial=True))
