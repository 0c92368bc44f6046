"""Days: moving them, parts of a stretch of them, feasts. Pure arithmetic that stays within the years of a date."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from ..lexicon import DAY_NAMES, WEEKDAYS

DAYS_IN = {"day": 1, "week": 7, "fortnight": 14}
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}

Span = tuple[date, date]
"""The first day and the last."""


def shift(day: date, days: int) -> date:
    """The day that many days on, or the first or the last of all."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.min if days < 0 else date.max


def add_months(day: date, months: int) -> date:
    """The same day that many months on, or the last of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return date.min if months < 0 else date.max
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def move(day: date, count: int, unit: str) -> date:
    """The day that many units on; what is shorter than a day counts in whole days."""
    if unit in MONTHS_IN:
        return add_months(day, count * MONTHS_IN[unit])
    if unit in DAYS_IN:
        return shift(day, count * DAYS_IN[unit])
    days = abs(count) // (24 if unit == "hour" else 24 * 60)
    return shift(day, days if count > 0 else -days)


def last_of_months(first: date, months: int) -> date:
    """The last day of that many months from a first of a month."""
    after = add_months(first, months)
    return date.max if after == date.max else shift(after, -1)


def third_of(first: date, last: date, third: int) -> Span:
    """The early, middle or late part of a period: of a month days 1 to 10, 11 to 20 and the rest."""
    days = (last - first).days + 1
    if days == 1:
        return first, last
    if 28 <= days <= 31:
        second, late = shift(first, 10), shift(first, 20)
    elif days < 89:
        second, late = shift(first, (days * 2 + 3) // 7), shift(first, (days * 4 + 3) // 7)
    else:
        months = round(days / 30.44)
        second, late = add_months(first, (months + 2) // 3), add_months(first, (months * 2 + 2) // 3)
    starts = (first, second, late)
    end = last if third == 2 else max(starts[third], shift(starts[third + 1], -1))  # two days have no middle
    return starts[third], end


def nth_part(first: date, last: date, number: int, count: int, unit: str) -> Span | None:
    """The nth part of a period, counted from its end where the number is -1; None where it has none."""
    if unit in DAY_NAMES or unit == "weekend":
        weekday = WEEKDAYS.get(unit, 5)
        day = shift(weekday_from(first, weekday), 7 * (number - 1)) if number > 0 else weekday_until(last, weekday)
        return (day, shift(day, 1) if unit == "weekend" else day) if first <= day <= last else None
    if unit == "half":
        is_month = 28 <= (last - first).days + 1 <= 31
        middle = shift(first, 15) if is_month else add_months(first, round((last - first).days / 30.44) // 2)
        return (first, shift(middle, -1)) if number == 1 else (middle, last)
    if number < 0:
        return max(first, move(shift(last, 1), -count, unit)), last
    start = move(first, (number - 1) * count, unit)
    end = shift(move(start, count, unit), -1)
    return (start, min(end, last)) if start <= last else None


def weekday_from(day: date, weekday: int) -> date:
    """The first such day of the week on that day or after it."""
    return shift(day, (weekday - day.weekday()) % 7)


def weekday_until(day: date, weekday: int) -> date:
    """The last such day of the week on that day or before it."""
    return shift(day, -((day.weekday() - weekday) % 7))


def day_from(number: int, earliest: date) -> date | None:
    """The first such day of a month on that date or after it."""
    for ahead in range(3):
        first = add_months(earliest.replace(day=1), ahead)
        if number <= monthrange(first.year, first.month)[1] and first.replace(day=number) >= earliest:
            return first.replace(day=number)
    return None


_FEAST_DAYS = {
    "christmas": (12, 25),
    "christmas eve": (12, 24),
    "new year's eve": (12, 31),
    "new year": (1, 1),
    "halloween": (10, 31),
}


def feast_day(name: str, year: int) -> date:
    if name == "easter":
        return _easter(year)
    if name == "thanksgiving":  # the fourth Thursday of November
        return shift(weekday_from(date(year, 11, 1), 3), 21)
    return date(year, *_FEAST_DAYS[name])


def _easter(year: int) -> date:
    """Easter Sunday of the western churches (the Gregorian rule of Meeus, Jones and Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * shift + 114, 31)
    return date(year, month, day + 1)
