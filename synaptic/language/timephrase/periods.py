"""The periods that words name: "Nov 3", "early March", "last week", "3 days ago", "end of last
month".

A reader gets the number of the word where to read and the preposition before it. None: no time
is meant there. The patterns are of letters, see `line`.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from ..lexicon import SHORT_DAYS
from .days import (
    DAYS_IN,
    MONTHS_IN,
    Span,
    add_months,
    months_from,
    move,
    part_of,
    shift,
    unit_around,
    weekday_from,
    weekday_until,
)
from .line import TIMES, Amount, Line

LAST, THIS, NEXT = -1, 0, 1
"""The directions."""

_THIRD, _DAY, _YEAR, _OF_YEAR = (
    "(?:(?P<e>e)[-I]?)?",
    "(?:w[,.]?)?",
    "(?:,?(?P<y>y))?",
    "(?:[,O]?(?P<y>y))?",
)
_PIECES = (
    "(?P<i>i)",
    rf"{_DAY}(?P<m>m)\.?T?(?:(?P<o>o)|(?P<n>n)){_YEAR}",
    f"{_DAY}(?:(?P<o>o)O?|(?P<n>n))(?P<m>m){_YEAR}",
    f"{_THIRD}(?P<m>m){_OF_YEAR}",
    f"{_THIRD}(?P<q>q){_OF_YEAR}",
    f"(?P<o>o)(?P<u>u){_OF_YEAR}",
    f"{_THIRD}(?P<s>s){_OF_YEAR}",
    f"{_THIRD}(?P<y>y)(?P<q>q)?",
)
_MONTHS_OF = {"m": 1, "q": 3, "s": 3, "y": 12}


class Read(NamedTuple):
    """The days that a phrase names; `at` is the word after it. `about`: it means that day or
    days around it.
    """

    first: date
    last: date
    at: int
    about: bool = False


class Piece(NamedTuple):
    """A stretch of the calendar as it is written; its year may be left out. `at` is the word
    after it.

    `kind` is its letter, "i" for a day; `third` is its early, middle or late part.
    """

    kind: str
    at: int
    year: int | None = None
    month: int = 1
    day: int = 1
    third: int | None = None


Reader = Callable[[Line, int, str], Read | None]


def period(line: Line, i: int, preposition: str) -> Read | None:
    """The days of the period that starts at i, with "the" or without."""
    return _first(line, i, preposition, (_part, _beside, *_WHOLE))


def _whole(line: Line, i: int) -> Read | None:
    """The days of a whole period at i, not of a part of one."""
    return _first(line, i, "in", _WHOLE)


def _first(line: Line, i: int, preposition: str, readers: Sequence[Reader]) -> Read | None:
    """The period of the first reader that finds one."""
    for reader in readers:
        read = reader(line, i, preposition)
        if read:
            return read
    return None


# --- by the calendar ---


def piece_at(line: Line, i: int) -> Piece | None:
    """Nov 3, 3 Nov 2025, 3rd of November, 2025-11-03; early March 2025; Q3 2025; summer 2025;
    2025.
    """
    for pattern in _PIECES:
        found = line.match(pattern, i)
        piece = _piece(line, i, *found) if found else None
        if piece:
            return piece
    return None


def _piece(line: Line, i: int, of: Mapping[str, Any], at: int) -> Piece | None:
    if "i" in of:
        year, month, day = of["i"] // 10_000, of["i"] // 100 % 100, of["i"] % 100
        if not year:  # 5.11. may be a version
            is_date = line.word(i - 1) == "on" or line.kinds.rstrip("?!") in ("i", "Ii")
            return Piece("i", at, None, month, day) if is_date else None
        fits = 1900 <= year <= 2100 and 1 <= month <= 12
        return Piece("i" if day else "m", at, year, month, day or 1) if fits else None
    if "u" in of:  # the second quarter
        return (
            Piece("q", at, of.get("y"), 3 * of["o"] - 2)
            if of["u"] == "quarter" and of["o"] <= 4
            else None
        )
    if "n" in of or "o" in of:
        is_date = (
            "o" in of
            or "y" in of
            or line.closes(at)
            or not _is_other_word(line, line.kinds.index("m", i))
        )
        return (
            Piece("i", at, of.get("y"), of["m"], of.get("n", of.get("o"))) if is_date else None
        )
    kind = next(letter for letter in "mqsy" if letter in of)
    month = of.get("m") or of.get("s") or 3 * of.get("q", 1) - 2
    return Piece(kind, at, of.get("y"), month, third=of.get("e"))


def _is_other_word(line: Line, i: int) -> bool:
    """True if the name of a month is written like another word: may, march, mar."""
    return line.words[i] == line.written[i] and line.words[i] in TIMES.words_too


def days_of(piece: Piece, year: int) -> Span | None:
    """The days of a piece in that year; None where it has no such day."""
    if not 1 <= year <= 9999 or not 1 <= piece.day <= monthrange(year, piece.month)[1]:
        return None
    first = date(year, piece.month, piece.day)
    span = (first, first) if piece.kind == "i" else months_from(first, _MONTHS_OF[piece.kind])
    return span if piece.third is None else part_of(span, piece.third)


def nearest(line: Line, piece: Piece) -> Span | None:
    """The days of a piece; without a year the latest that has begun, or ahead the first that is
    not over.
    """
    if piece.year is not None:
        return days_of(piece, piece.year)
    this, step = line.today.year, 1 if line.ahead else -1
    spans = (days_of(piece, this + step * count) for count in range(9))
    if line.ahead:
        return next((span for span in spans if span and span[1] >= line.today), None)
    return next((span for span in spans if span and span[0] <= line.today), None)


def _calendar(line: Line, i: int, preposition: str) -> Read | None:
    """A date, month, quarter, season or year; without a year the one that is meant (`nearest`)."""
    article = line.word(i) == "the"
    piece = piece_at(line, i + article)
    if piece is None or not _is_meant(line, piece, preposition, article):
        return None
    span = nearest(line, piece)
    return span and Read(*span, piece.at)


def _is_meant(line: Line, piece: Piece, preposition: str, article: bool) -> bool:
    """True if the piece is a time, and no "may", "in 2024 rows", "spring boot"."""
    after = line.word(piece.at)
    if piece.kind == "y":
        counts = after in TIMES.counted or (
            after in TIMES.listed and line.word(piece.at + 1).isdigit()
        )
        return piece.third is not None or (
            preposition in TIMES.of_years and not counts and not article
        )
    if piece.kind == "i" or piece.third is not None or piece.year is not None:
        return True
    if piece.kind == "s":
        return preposition in TIMES.of_seasons and line.closes(piece.at)
    if piece.kind == "q":
        return bool(preposition) or line.written[piece.at - 1][0].isupper()
    name = line.word(piece.at - 1)
    if article or name in TIMES.only_months:
        return not article
    if preposition not in (TIMES.of_seasons if name in TIMES.names_too else TIMES.of_months):
        return False
    return line.closes(piece.at) or not _is_other_word(line, piece.at - 1)


def _day_of_month(line: Line, i: int, preposition: str) -> Read | None:
    """the 3rd: after a preposition, the latest, or ahead the next."""
    found = line.match("T(?P<o>o)(?!O)", i)
    if not found or preposition not in TIMES.of_ordinals or not line.closes(found[1]):
        return None
    for away in range(3):
        first, last = unit_around(line.today, "month", away if line.ahead else -away)
        day = shift(first, found[0]["o"] - 1)
        if first <= day <= last and (day >= line.today if line.ahead else day <= line.today):
            return Read(day, day, found[1])
    return None


def _week(line: Line, i: int, preposition: str) -> Read | None:
    """week 12 of 2025."""
    found = line.match("(?P<u>u)(?P<n>n)[,OI]?(?P<y>y)", i)
    if not found or found[0]["u"] != "week":
        return None
    monday = date.fromisocalendar(found[0]["y"], found[0]["n"], 1)
    return Read(monday, shift(monday, 6), found[1])


# --- by the distance from today ---


def _near(line: Line, i: int, preposition: str) -> Read | None:
    """today, yesterday, this morning, last night."""
    found = line.match("(?P<t>t)|(?P<d>d)p", i)
    if not found or line.word(i) in ("now", "next"):
        return None
    day = shift(line.today, found[0].get("t", found[0].get("d")))
    return Read(day, day, found[1])


def _counted(line: Line, i: int, preposition: str) -> Read | None:
    """3 days ago, two weeks from now, in a week; not "in a day", which is a speed."""
    amount = line.amount(i)
    if amount is None:
        return None
    least, most, unit, at = amount
    if found := line.match("g", at):
        about = least == most and unit not in ("day", "hour", "minute")
        return Read(_away(line, -most, unit)[0], _away(line, -least, unit)[1], at + 1, about)
    if found := line.match("F(?P<t>t)", at):
        return Read(_away(line, least, unit)[0], _away(line, most, unit)[1], found[1])
    is_speed = most == 1 and unit in ("day", "year") and not line.around
    if (
        preposition != "in"
        or at < i + 2
        or unit in ("hour", "minute")
        or is_speed
        or not line.closes(at)
    ):
        return None
    return Read(_away(line, least, unit)[0], _away(line, most, unit)[1], at)


def _away(line: Line, count: int, unit: str) -> Span:
    """The day that many units from today; in a note the whole month or year."""
    if line.around and unit in MONTHS_IN:
        return unit_around(line.today, unit, count)
    day = move(line.today, count, unit)
    return day, day


def same_day(line: Line, i: int, preposition: str) -> Read | None:
    """this day last year, this day two years ago, this day in 2024."""
    found = line.match("du", i)
    if not found or line.words[i : i + 2] != ["this", "day"]:
        return None
    before = line.match("(?P<d>d)(?P<u>u)", found[1])
    if before and before[0]["d"] == LAST and before[0]["u"] in MONTHS_IN | DAYS_IN:
        day = move(line.today, LAST, before[0]["u"])
        return Read(day, day, before[1])
    year = line.match("I(?P<y>y)", found[1])
    if year:
        day = add_months(line.today, 12 * (year[0]["y"] - line.today.year))
        return Read(day, day, year[1])
    counted = _counted(line, found[1], "")
    return counted and counted._replace(about=False)


def _weekday(line: Line, i: int, preposition: str) -> Read | None:
    """The latest such day on or before today, or ahead the next, today included; the weekend
    after a preposition.
    """
    is_all = i == 0 and not line.kinds[2:].strip("?!.")
    if (
        (preposition or is_all)
        and line.words[i : i + 2] == ["the", "weekend"]
        and line.closes(i + 2)
    ):
        saturday = (
            shift(weekday_from(line.today, 6), -1)
            if line.ahead
            else weekday_until(line.today, 5)
        )
        return Read(saturday, shift(saturday, 1), i + 2)
    found, following = line.match("(?P<w>w)", i), line.word(i + 1)
    if not found or (following[-1:] == "s" and following[:-1] in TIMES.parts_of_day):
        return None
    closes = line.closes(i + 1) or line.possessive(i + 1) or following in TIMES.parts_of_day
    if line.word(i) in SHORT_DAYS and not (
        preposition and closes and line.written[i][0].isupper()
    ):
        return None
    before = line.word(i - 1)
    if not preposition and (
        not closes or before in TIMES.not_before_a_day or line.kinds[max(0, i - 1)] == "o"
    ):
        return None
    day = (weekday_from if line.ahead else weekday_until)(line.today, found[0]["w"])
    return Read(day, day, i + 1)


def _pointed(line: Line, i: int, preposition: str) -> Read | None:
    """last week, this quarter, next Tuesday, last summer, next March."""
    found = line.match("T?(?P<d>d)(?:(?P<w>w)|(?P<m>m)|(?P<s>s)|(?P<u>u))", i)
    if not found:
        return None
    of, at = found
    direction, today = of["d"], line.today
    if "u" in of:
        unit = line.word(at - 1)
        return (
            Read(*unit_around(today, unit, direction), at)
            if unit in TIMES.calendar_units
            else None
        )
    if "w" in of:
        if line.word(at - 1) in SHORT_DAYS and not (
            line.written[at - 1][0].isupper() and line.closes(at)
        ):
            return None
        if direction == LAST:
            day = weekday_until(shift(today, -1), of["w"])
        elif direction == NEXT:
            day = weekday_from(shift(today, 1), of["w"])
        else:
            day = weekday_from(
                today if line.around or line.ahead else weekday_until(today, 0), of["w"]
            )
        return Read(day, day, at)
    if "m" in of and _is_other_word(line, at - 1):
        return None
    piece = Piece("m" if "m" in of else "s", at, month=of.get("m") or of["s"])
    spans = [days_of(piece, year) for year in range(today.year - 2, today.year + 3)]
    pointed = _pointed_at([span for span in spans if span], direction, today)
    return pointed and Read(*pointed, at)


def _pointed_at(spans: list[Span], direction: int, today: date) -> Span | None:
    """The latest that is over, the present or this year's, or the first to come."""
    if direction == LAST:
        return max((span for span in spans if span[1] < today), default=None)
    if direction == NEXT:
        return min((span for span in spans if span[0] > today), default=None)
    near = [span for span in spans if span[0].year == today.year or span[0] <= today <= span[1]]
    return next(
        (span for span in near if span[0] <= today <= span[1]), near[0] if near else None
    )


def _rolling(line: Line, i: int, preposition: str) -> Read | None:
    """Days that end or begin today: the past 10 days, the last few weeks, the past year."""
    found = line.match("T?(?P<d>d)(?P<u>u)?", i)
    if not found or found[0]["d"] == THIS:
        return None
    of, at = found
    amount = line.amount(at)
    if "u" in of and of["u"] != "weekend" and line.word(at - 2) == "past":
        amount = Amount(1, 1, of["u"], at)
    if amount is None:
        return None
    far = move(line.today, of["d"] * amount.most, amount.unit)
    return Read(min(far, line.today), max(far, line.today), amount.at)


def _day_of_week(line: Line, i: int, preposition: str) -> Read | None:
    """Wednesday of last week, Wednesday this week, last week Wednesday."""
    found = line.match("(?P<w>w)O?(?P<d>d)(?P<u>u)", i) or line.match(
        "(?P<d>d)(?P<u>u)(?P<w>w)", i
    )
    if not found or found[0]["u"] != "week":
        return None
    day = shift(unit_around(line.today, "week", found[0]["d"])[0], found[0]["w"])
    return Read(day, day, found[1])


_WHOLE: tuple[Reader, ...] = (
    _near,
    same_day,
    _counted,
    _day_of_week,
    _rolling,
    _pointed,
    _day_of_month,
    _calendar,
    _week,
    _weekday,
)


# --- parts of a period, and what is beside one ---


def _part(line: Line, i: int, preposition: str) -> Read | None:
    """end of last month, early November, last week of March, last 10 days of May."""
    found = line.match("(?:T?(?P<b>b)O|(?P<e>e)[-IP]?)", i)
    if found:
        whole = _whole(line, found[1])
        if whole is None:
            return None
        number = found[0].get("b", found[0].get("e"))
        return Read(*part_of((whole.first, whole.last), number), whole.at)
    found = line.match("T?d(?P<n>[nN])?(?P<u>u)[OI]", i)
    whole = _whole(line, found[1]) if found else None
    if not found or not whole:
        return None
    count = found[0].get("n", 1)
    start = move(shift(whole.last, 1), -count, found[0]["u"])
    return Read(max(whole.first, start), whole.last, whole.at)


def _beside(line: Line, i: int, preposition: str) -> Read | None:
    """the day before yesterday, the week before last, the week of March 3."""
    found = line.match("T?u(?P<B>[BO])", i)
    if not found:
        return None
    unit, side, at = line.word(found[1] - 2), found[0]["B"], found[1]
    if unit in DAYS_IN and (other := _whole(line, at)):
        if side == "of":
            is_week = unit == "week" and other.first == other.last
            return Read(*unit_around(other.first, unit, 0), other.at) if is_week else None
        if side == "before":
            return Read(shift(other.first, -DAYS_IN[unit]), shift(other.first, -1), other.at)
        return Read(shift(other.last, 1), shift(other.last, DAYS_IN[unit]), other.at)
    beyond = {("before", "last"): -2, ("after", "next"): 2}.get((side, line.word(at)))
    return (
        Read(*unit_around(line.today, unit, beyond), at + 1)
        if beyond and unit in TIMES.calendar_units
        else None
    )
