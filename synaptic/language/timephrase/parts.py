"""Any period, and what is counted within one: "end of last month", "first week of March", "the week of Nov 3"."""

from __future__ import annotations

from collections.abc import Callable

from ..lexicon import DAY_NAMES
from .days import DAYS_IN, nth_part, shift, third_of, weekday_until
from .line import Line, Read
from .near import ago, current, near_day, pointed, unit_around, weekday
from .periods import calendar, decade, feast, numbered_week
from .tables import DIRECTIONS, ORDINALS, THIRDS, THIRDS_OF

Reader = Callable[[Line, int, str, bool], Read | None]

_WHOLE: tuple[Reader, ...] = (near_day, ago, pointed, calendar, numbered_week, weekday, current, feast, decade)


def period(line: Line, i: int, preposition: str) -> Read | None:
    """The days of the period that starts at i, with "the" or without."""
    return _read((_share, _third, _beside, *_WHOLE), line, i, preposition)


def _whole(line: Line, i: int, *prepositions: str) -> Read | None:
    """The days of a whole period at i, not of a part of one; read with the first of the prepositions that allows it."""
    return next((read for preposition in prepositions if (read := _read(_WHOLE, line, i, preposition))), None)


def _read(readers: tuple[Reader, ...], line: Line, i: int, preposition: str) -> Read | None:
    article = line.word(i) == "the"
    return next((read for reader in readers if (read := reader(line, i + article, preposition, article))), None)


def _third(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """end of last month, beginning of March, early this week."""
    word, j = line.word(i), line.skip(i + 1, "-", "in", "on")
    third = THIRDS.get(word)
    if third is None:
        third, j = THIRDS_OF.get(word), i + 2
        if third is None or line.word(i + 1) != "of":
            return None
    whole = _whole(line, j, "in", "share")
    return whole and Read(*third_of(whole.first, whole.last, third), whole.at)


def _share(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """first week of March, last 10 days of 2025, second half of last year, the 3rd of last month."""
    number, day = ORDINALS.get(line.word(i)), line.day_of_month(i)
    if number is None and day and day[1]:
        number = day[0]
    if number is None:
        return None
    if day and line.word(i + 1) == "of" and line.word(i + 2) in DIRECTIONS and line.word(i + 3) == "month":
        first, last = unit_around(line, "month", DIRECTIONS[line.word(i + 2)])
        nth = shift(first, number - 1)
        return Read(nth, nth, i + 4) if nth <= last else None
    if amount := line.amount(i + 1):
        count, unit, at = amount.most, amount.unit, amount.at
    else:
        count, unit, at = 1, line.word(i + 1), i + 2
    if line.word(at) not in ("of", "in"):
        return None
    if unit not in ("day", "week", "weekend", "half", "quarter", "month") and unit not in DAY_NAMES:
        return None
    whole = _whole(line, at + 1, "share", "in")
    part = whole and nth_part(whole.first, whole.last, number, count, unit)
    return Read(*part, whole.at) if whole and part else None


def _beside(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """the day before yesterday, the week before last, the week after Easter, the week of Nov 3."""
    unit, side = line.word(i), line.word(i + 1)
    if unit not in ("day", "week", "weekend", "month", "quarter", "year") or side not in ("before", "after", "of"):
        return None
    other = _whole(line, i + 2, "on")
    if other is None:
        beyond = {("before", "last"): -2, ("after", "next"): 2}.get((side, line.word(i + 2)))
        return Read(*unit_around(line, unit, beyond), i + 3) if beyond and unit != "day" else None
    if unit not in ("day", "week"):
        return None
    length = DAYS_IN[unit]
    if side == "before":
        return Read(shift(other.first, -length), shift(other.first, -1), other.at)
    if side == "after":
        return Read(shift(other.last, 1), shift(other.last, length), other.at)
    if unit == "day" or other.first != other.last:
        return None
    first = weekday_until(other.first, 0)
    return Read(first, shift(first, 6), other.at)
