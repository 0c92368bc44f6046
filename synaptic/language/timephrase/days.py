"""Days: moving them, and parts of a stretch of them. Pure arithmetic that stays within the
years of a date.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

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


def months_from(first: date, months: int) -> Span:
    """That many whole months from a first of a month on."""
    after = add_months(first, months)
    return first, date.max if after == date.max else shift(after, -1)


def unit_around(day: date, unit: str, offset: int) -> Span:
    """The week, weekend, month, quarter, year or decade that many after the one of the day."""
    if unit == "week":
        first = shift(weekday_until(day, 0), 7 * offset)
        return first, shift(first, 6)
    if unit == "weekend":
        saturday = shift(day, 5 - day.weekday() + 7 * offset)
        return saturday, shift(saturday, 1)
    length = MONTHS_IN[unit]
    first = date(day.year, (day.month - 1) // length * length + 1 if length <= 12 else 1, 1)
    return months_from(add_months(first, offset * length), length)


def part_of(span: Span, number: int) -> Span:
    """The beginning (0), middle (1) or end (2) of a month: days 1 to 10, 11 to 20, the others.

    Any other period stays whole.
    """
    first, last = span
    if not 28 <= (last - first).days + 1 <= 31:
        return span
    start = shift(first, 10 * number)
    return start, last if number == 2 else shift(start, 9)


def weekday_from(day: date, weekday: int) -> date:
    """The first such day of the week on that day or after it."""
    return shift(day, (weekday - day.weekday()) % 7)


def weekday_until(day: date, weekday: int) -> date:
    """The last such day of the week on that day or before it."""
    return shift(day, -((day.weekday() - weekday) % 7))
