"""Finds the time that a text names, "last week" or "between March and May 2025". Pure; the
present day is an argument.

`table.py` says how a time is named; here stands what a preposition, a part ("end of") or a
second time makes of it.
"""

import re
from dataclasses import field
from datetime import date
from typing import NamedTuple

from ...models import frozen
from .table import (
    ANY,
    BETWEEN,
    HOURS_OF_PARTS,
    ROWS,
    TIMES,
    Pieces,
    Reader,
    Span,
    When,
    add_days,
    any_word,
    compile_row,
    least_and_most_units,
    part_of_span,
    read_pieces,
)

LOOKED_AT = 2_000
"""Characters in which a phrase is sought: a pasted page does not mean one time."""

_STOPPED = rf"[\w\\/@(=]|[-.:+&~%'’]{{1,2}}\w|%| (?:{'|'.join(HOURS_OF_PARTS)})s"
"""Behind a phrase: it is a piece of a name, a path or a rule ("on Friday mornings")."""

_START = r"(?<![\w\\/@#$=])(?<!\w[-.:+&~])(?<!\w[-.:+&~][-.:+&~])" + "".join(
    rf"(?<!\b{word}\s)" for word in TIMES.every
)
"""The place before a phrase: it begins a word that is not part of a name, a path or a rule."""

_TELLING = r"\d|\b(?:<near>|<period>|<unit>|<month>|<weekday>|<season>|<quarter>)"
"""Every phrase holds one of these."""

_PREPOSITION = (
    rf"(?!{any_word(TIMES.of_verbs)} (?:<near>|<which>))"
    rf"(?P<preposition>{any_word(ANY | BETWEEN)}) "
)
_END = rf"(?!\w)(?: {any_word(HOURS_OF_PARTS)})?(?:['’]s\b)?"
_ONWARDS = r" (?:on|onwards?)(?=\s*(?:[,.;?!]|$))"
_NAMED = frozenset(("year", "last_year", "quarter", "season", "month", "weekday"))
"""Pieces of a phrase that name a time by its place in the calendar."""

_NEVER = (ValueError, OverflowError)
"""Errors for a day that does not exist, or lies outside the years of a date."""


@frozen
class TimeRange:
    """The days that a time phrase means, `start` and `end` included; None means that this end
    is open. `phrase` is the phrase as it stands in the text.

    `about` is the day where the phrase counts more than days, "two weeks ago", and so means
    days around it too. `is_named`: the phrase names a year, a season, a month or a weekday,
    which a text may name as well. `earlier` are the days that it means instead if those of the
    journal have no entry yet: "in December", asked on December 1.
    """

    start: date | None
    end: date | None
    phrase: str
    about: date | None = field(default=None, compare=False)
    is_named: bool = field(default=False, compare=False)
    earlier: Span | None = field(default=None, compare=False)


class Period(NamedTuple):
    """A time that a row of the table matched in a text, up to the offset `end`.

    `part` is a number of `part_of_span`; None is all of the period.
    """

    pieces: Pieces
    days: Reader
    end: int
    part: int | None

    def span(self, when: When, year: int | None = None) -> Span:
        """The first and last day of the period, in `year` if the phrase names no year."""
        pieces = self.pieces
        if year:
            pieces = {"year": year, **pieces}
        span = self.days(pieces, when)
        if self.part is None:
            return span
        return part_of_span(span, self.part)


def find_time(text: str, *, today: date, ahead: bool = False) -> tuple[TimeRange, str] | None:
    """Returns (the time that a text names, the text without the words of that time); None if it
    names no time.

    Of two ranges the first wins. `ahead`: a month, a weekday or a day without a year is the
    next one, and otherwise the latest one that has begun.

    | text                           | on Saturday 2026-11-21               |
    |--------------------------------|--------------------------------------|
    | `tasks done last week`         | 2026-11-09 to 2026-11-15             |
    | `emails after October 12`      | 2026-10-13 to today                  |
    | `between March and May 2025`   | 2025-03-01 to 2025-05-31             |
    | `what broke on Friday`         | 2026-11-20                           |
    | `dentist on Dec 3`             | 2025-12-03, the latest one           |
    | `it may be the pool`, `24/7`   | None                                 |
    """
    read = text[:LOOKED_AT]
    if not compile_row(_TELLING).search(read):  # most questions name no time
        return None
    for word in compile_row(_START + r"\w").finditer(read):
        start = word.start()
        time = read_phrase(read, start, When(today, ahead))
        if not time:
            continue
        end = start + len(time.phrase)
        if not compile_row(_STOPPED).match(read, end):
            return time, remove_phrase(text, start, end)
    return None


def is_recent(text: str) -> bool:
    """True if a question asks for the newest: "recent", "latest", "last decision on the
    cache".
    """
    return compile_row(TIMES.pattern("newest")).search(text[:LOOKED_AT]) is not None


def remove_phrase(text: str, start: int, end: int) -> str:
    """The text without the characters from `start` to `end`, single-spaced, and without commas
    and brackets that enclosed only them.
    """
    rest = " ".join(f"{text[:start]} {text[end:]}".split())
    rest = re.sub(r"\( ?\)|\[ ?\]|\" ?\"", "", rest)
    rest = re.sub(r" ?[,;] ?([,;.?!])", r"\1", rest)
    rest = re.sub(r"(?<=\w) +([?!.,;])(?!\w)", r"\1", rest)
    if not re.search(r"\w", rest):
        return ""
    return " ".join(rest.strip(" ,;:").split())


# --- one place of a text ---


def read_phrase(text: str, at: int, when: When) -> TimeRange | None:
    """The time at the offset `at`: a period, or two, after an optional preposition."""
    opening = compile_row(_PREPOSITION).match(text, at)
    preposition = ""
    start = at
    if opening:
        preposition = opening["preposition"].lower()
        start = opening.end()
    pair = _read_range(text, start, preposition, when)
    if pair:
        (first, last), end = pair
        return TimeRange(first, last, text[at:end], is_named=True)
    for period in _match_periods(text, start, preposition):
        try:
            span = period.span(when)
        except _NEVER:
            continue
        end = period.end
        onwards = (
            compile_row(_ONWARDS).match(text, end) if preposition in ("", "from") else None
        )
        if onwards:
            preposition = "since"
            end = onwards.end()
        bounds = _first_and_last_day(preposition, span, when.today)
        about = span[0] if _is_about(period.pieces, preposition) else None
        is_named = not _NAMED.isdisjoint(period.pieces)
        earlier = _earlier_span(period, span, when) if bounds == span else None
        return TimeRange(*bounds, text[at:end], about, is_named, earlier)
    return None


def _earlier_span(period: Period, span: Span, when: When) -> Span | None:
    """The days of the same name before those that have begun and are not over; None for a
    phrase that names one of several, or looks ahead.
    """
    is_certain = when.ahead or not period.pieces.keys().isdisjoint(("year", "which", "near"))
    if is_certain or not span[0] <= when.today <= span[1]:
        return None
    if _NAMED.isdisjoint(period.pieces):
        return None
    return period.span(When(add_days(span[0], -1)))


def _match_periods(text: str, at: int, preposition: str) -> list[Period]:
    """The periods that rows of the table match at the offset `at`, the longest first."""
    part = compile_row(r"(?:the )?<part>[-\s]+").match(text, at)
    number = None
    if part:
        number = read_pieces(part)["part"]
        at = part.end()
        preposition = "during"
    periods = []
    for prepositions, rows in ROWS.items():
        if preposition not in prepositions:
            continue
        for pattern, days in rows.items():
            match = compile_row(pattern + _END).match(text, at)
            if match:
                periods.append(Period(read_pieces(match), days, match.end(), number))
    return sorted(periods, key=lambda period: -period.end)


def _is_about(pieces: Pieces, preposition: str) -> bool:
    """True for a phrase such as "two weeks ago", which also means the days around that day."""
    if pieces.get("way") != -1 or pieces["unit"] in ("minute", "hour", "day"):
        return False
    least, most = least_and_most_units(pieces)
    return least == most and preposition in ("", "around")


def _first_and_last_day(
    preposition: str, span: Span, today: date
) -> tuple[date | None, date | None]:
    """The first and last day that a preposition and a period mean together: "after March",
    "until March".
    """
    first, last = span
    match preposition:
        case "since" if first > today:
            return first, None
        case "since":
            return first, today
        case "after" if last >= today:
            return add_days(last, 1), None
        case "after":
            return add_days(last, 1), today
        case "before":
            return None, add_days(first, -1)
        case "until" | "till" | "til" | "by":
            return None, last
        case "around" if first == last:
            return add_days(first, -3), add_days(last, 3)
    return first, last


# --- from one period to another ---


def _read_range(text: str, at: int, preposition: str, when: When) -> tuple[Span, int] | None:
    """(the days, the end offset) of a range between two times: "between March and May 2025",
    "Nov 3 to Dec 7".
    """
    lefts = _match_periods(text, at, "from")
    if not lefts:
        return None
    left = lefts[0]
    to = compile_row("<to>").match(text, left.end)
    rights = to and _match_periods(text, to.end(), "from")
    if not rights:
        return None
    right = rights[0]
    named = left.pieces.keys() | right.pieces.keys()
    is_dated = "day" in named or named >= {"month", "year"}
    if not is_dated and preposition not in ("from", "between"):
        return None
    try:
        return _join_periods(left, right, when), right.end
    except _NEVER:
        return None


def _join_periods(left: Period, right: Period, when: When) -> Span:
    """The days from the first to the second period; a year that only one of them names counts
    for both.
    """
    year = right.pieces.get("year")
    opened = left.span(when, year)
    closed = right.span(when, opened[0].year)
    is_swapped = opened[0] > closed[1]
    if is_swapped and year:
        opened = left.span(when, year - 1)
    elif is_swapped:
        closed = right.span(when, opened[0].year + 1)
    return min(opened[0], closed[0]), max(opened[1], closed[1])
