"""What an agent is told of a project in few words: the last hand-off, then title lines. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...models import Entry
from ..present import CHARS_PER_TOKEN, DATA_FOLLOWS, Item, Level, fenced, one_line, render

TITLE_CHARS = 160
LEAST_CHARS = 80
"""Less of a hand-off than this says nothing."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Entries of one kind, the most relevant first. `more`: there are older ones that nobody looked at."""

    name: str
    entries: tuple[Entry, ...]
    more: bool = False


def compose(head: str, handoff: Entry | None, shelves: Sequence[Shelf], *, max_tokens: int) -> str:
    """The briefing within the budget, as fenced Markdown; empty where there is nothing to tell.

    The hand-off comes first, whole where it fits; then the best of each shelf in turn. What finds no room is
    counted by shelf. About four characters are taken for a token.
    """
    budget = max_tokens * CHARS_PER_TOKEN
    shown: list[list[str]] = [[] for _ in shelves]
    block = _handoff(handoff, budget - len(_joined(head, "", shelves, shown))) if handoff else ""
    for depth in range(max((len(shelf.entries) for shelf in shelves), default=0)):
        for shelf, lines in zip(shelves, shown, strict=True):
            if depth == len(lines) < len(shelf.entries):
                lines.append(title_line(shelf.entries[depth]))
                if len(_joined(head, block, shelves, shown)) > budget:
                    lines.pop()
    return _joined(head, block, shelves, shown) if block or any(shown) else ""


def titles(info: str, lines: Sequence[str]) -> str:
    """Title lines in one fence."""
    return fenced(f"entries: {info}", "\n".join(lines))


def title_line(entry: Entry) -> str:
    """Id, date, type and title of an entry; of a long title its beginning."""
    title = one_line(entry.title)
    short = title if len(title) <= TITLE_CHARS else f"{title[:TITLE_CHARS]}…"
    return render(Item(entry=replace(entry, title=short), text="", snippet=""), Level.TITLE)


def _joined(head: str, block: str, shelves: Sequence[Shelf], shown: Sequence[Sequence[str]]) -> str:
    listed = [titles(shelf.name, lines) for shelf, lines in zip(shelves, shown, strict=True) if lines]
    return "\n".join(part for part in (f"{head} {DATA_FOLLOWS}", block, *listed, _left_out(shelves, shown)) if part)


def _left_out(shelves: Sequence[Shelf], shown: Sequence[Sequence[str]]) -> str:
    """What the budget left no room for, by shelf."""
    counts = [
        f"{len(shelf.entries) - len(lines)}{'+' if shelf.more else ''} {shelf.name}"
        for shelf, lines in zip(shelves, shown, strict=True)
        if len(shelf.entries) > len(lines) or shelf.more
    ]
    return f"Left out: {', '.join(counts)}; context_find lists them." if counts else ""


def _handoff(entry: Entry, room: int) -> str:
    """The hand-off whole, else as much of its beginning as there is room for; nothing where that is too little."""
    item = Item(entry=entry, text=entry.content, snippet="")
    whole = render(item, Level.WHOLE)
    if len(whole) < room:
        return whole
    left = room - (len(whole) - len(entry.content)) - len(", a part of it") - 1
    if left < LEAST_CHARS:
        return ""
    return render(replace(item, text=_beginning(entry.content, left), partial=True), Level.WHOLE)


def _beginning(text: str, length: int) -> str:
    """At most `length` characters, whole lines where that costs no more than half of them."""
    cut = text.rfind("\n", 0, length)
    return text[: cut if cut > length // 2 else length - 1].rstrip() + "…"
