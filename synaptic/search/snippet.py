"""Cuts from a passage the lines that contain the words of a query. Pure."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

from ..language.lexicon import Words
from ..language.words import words

SHORT = 40
"""A turn of a talk with fewer characters than this is not understood alone. By eye."""
SOON, BEGINNING = 100, 1_000
"""The numbers of characters in which the first word of a text is looked for."""

_NOTES = Words("notes")
_SPEAKER = re.compile(r"\A[^:\n]{1,40}: ")
_ROW_OR_ITEM = re.compile(
    r"(?m)^[ \t]*(?:\|[^\n]{1,1000}|(?:[-*+]|\d{1,9}[.)])[ \t][^\n]{1,120})$"
)
"""A row of a table, or an item of a list, which is shown whole; longer ones are cut."""
_UNBROKEN = re.compile(r"\S+")


def stands_alone(text: str) -> bool:
    """True if a text can be understood alone: it does not begin with a pronoun, and is not a
    short turn of a talk such as `Ada: Which one?`.
    """
    speaker = _SPEAKER.match(text)
    turn = text[speaker.end() :] if speaker else text
    begins = words(turn[:SOON])
    if len(begins) < 2:  # the first may be cut, or come later
        begins = words(turn[:BEGINNING])
    first = begins[0][1] if begins else ""
    return first not in _NOTES.table("pronouns") and (turn == text or len(turn) >= SHORT)


def cut_snippet(
    text: str, find: Callable[[str], Sequence[int]], *, length: int = 240
) -> tuple[str, int]:
    """(the part of a passage with the most searched words, the number of lines before it).

    `find` returns the offsets of the searched words. The part has at most about `length`
    characters, is cut between words, and has an ellipsis where text was left out.
    """
    if len(text) <= length:
        return text, 0
    places = find(text)
    window = length * 3 // 4
    hit = max(places, key=lambda one: _count_in_window(places, one, window), default=0)
    earliest = hit - length // 8
    # words that these ends cut off are not chosen; where nothing is blank for long (a URL,
    # Chinese) the text is cut anywhere
    unbroken = list(_UNBROKEN.finditer(text, max(0, earliest - 1), hit + length + 1))
    starts = [word.start() for word in unbroken if earliest <= word.start() <= hit]
    start = min(starts, default=hit)
    latest = start + length
    ends = [word.end() for word in unbroken if start + length // 2 < word.end() <= latest]
    end = max(ends, default=latest)
    for row in _ROW_OR_ITEM.finditer(text):
        if row.start() < start < row.end():
            start = row.start()
        if row.start() < end < row.end():
            end = row.end()
    stretch = text[start:end].strip()
    lead = tail = ""
    if text[:start].strip():
        lead = "…\n" if _ROW_OR_ITEM.match(stretch) else "… "
    if text[end:].strip():
        last = stretch[stretch.rfind("\n") + 1 :]
        tail = "\n…" if _ROW_OR_ITEM.match(last) else " …"
    return f"{lead}{stretch}{tail}", text[:start].count("\n")


def _count_in_window(offsets: Sequence[int], first: int, window: int) -> int:
    """Number of the sorted `offsets` that lie within `window` characters from `first` on."""
    return bisect_left(offsets, first + window) - bisect_left(offsets, first)
