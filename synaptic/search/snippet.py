"""The lines of a passage that show the words of a query. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence

_UNBROKEN = re.compile(r"\S+")


def snippet(
    text: str,
    find: Callable[[str], Sequence[int]],
    *,
    length: int = 240,
) -> tuple[str, int]:
    """(the stretch of a passage that holds most of the sought words, lines before it).

    `find` tells where these begin. The stretch has about `length` characters at most, is cut
    between words, and has an ellipsis where text was left out.
    """
    if len(text) <= length:
        return text, 0
    start, end = _stretch(text, _densest(find(text), length * 3 // 4), length)
    lead = "… " if text[:start].strip() else ""
    tail = " …" if text[end:].strip() else ""
    return f"{lead}{text[start:end].strip()}{tail}", text[:start].count("\n")


def _densest(places: Sequence[int], window: int) -> int:
    """The first place that has the most others within `window` characters after it."""
    densest, most = 0, 0
    for number, place in enumerate(places):
        count = bisect_left(places, place + window) - number
        if count > most:
            densest, most = place, count
    return densest


def _stretch(text: str, hit: int, length: int) -> tuple[int, int]:
    """The characters to show: from a word before `hit` to the end of another.

    Where nothing is blank for long (a URL, Chinese) the text is cut anywhere.
    """
    earliest = hit - length // 8
    # words that these ends cut off are not chosen
    window = max(0, earliest - 1), hit + length + 1
    unbroken = [run.span() for run in _UNBROKEN.finditer(text, *window)]
    starts = [first for first, _ in unbroken if earliest <= first <= hit]
    start = min(starts, default=hit)
    latest = start + length
    ends = [last for _, last in unbroken if start + length // 2 < last <= latest]
    return start, max(ends, default=latest)
