"""Parses the times that a user types in options: `--since`, `--until`, `--at`."""

import re
from contextlib import suppress
from datetime import datetime, time, timedelta

from ..tongues import translate_whole_time
from .find import read_time
from .table import DAYS_IN, When, compile_row, least_and_most_units, read_pieces

MAX_PHRASE = 60
"""Characters of a time in words; a longer text is not read as a time."""

_MOMENT = re.compile(r"[\d-]{10}(?:t| \d\d:\d\d(?! ?[ap]m))")
_CLOCK = re.compile(
    r"(?:\bat )?(?<!\S)(\d{1,2})(?::(\d\d))?(?::(\d\d))?(?: ?([ap])m|(?<=:\d\d))(?!\S)"
)
"""18:00, 18:00:30, 6pm, 6:30 pm."""


Typed = tuple[datetime | None, datetime | None]
"""The first and the last moment; None means that this end is open. Naive moments are local."""


def read_typed(text: str, *, now: datetime, ahead: bool = False) -> Typed | None:
    """Parses a typed time, in the past or, with `ahead`, in the future; None if it is not a
    time.

    | text                          | on Saturday 2026-11-21, at 09:30        |
    |-------------------------------|-----------------------------------------|
    | `2026-11-03T14:00`            | that moment                             |
    | `18:00`, `6pm`, `now`         | today, at that time                     |
    | `yesterday 18:00`             | 2026-11-20 18:00                        |
    | `2 hours ago`, `2h`           | 2026-11-21 07:30                        |
    | `10d`, `10 days ago`          | 2026-11-11 09:30                        |
    | `last week`, `letzte Woche`   | 2026-11-09 09:30 to 2026-11-15 09:30    |
    """
    value = " ".join(text.lower().split())
    if not 0 < len(value) <= MAX_PHRASE:
        return None
    for phrase in (value, *translate_whole_time(value)):
        with suppress(ValueError, OverflowError):  # no such day or time of the day
            span = _read_hours(phrase, now) or _read_days(phrase, now, ahead)
            if span:
                return span
    return None


def _read_hours(value: str, now: datetime) -> Typed | None:
    """The exact moment of a time in hours or minutes: 2 hours ago, 90 minutes ago, 2h, in 2
    hours.
    """
    value = re.sub(r"^in (.+)", r"\1 from now", value)
    match = compile_row("<amount>(?: <way>)?").fullmatch(value)
    if not match:
        return None
    pieces = read_pieces(match)
    if pieces["unit"] not in ("minute", "hour"):
        return None
    length = pieces.get("way", -1) * timedelta(days=DAYS_IN[pieces["unit"]])
    least, most = least_and_most_units(pieces)
    moments = now + least * length, now + most * length
    return min(moments), max(moments)


def _read_days(value: str, now: datetime, ahead: bool) -> Typed | None:
    """Parses a day, a longer time, or a day with a time of day before or after it.

    Raises ValueError if there is no such day or time of the day.
    """
    if _MOMENT.match(value):
        moment = datetime.fromisoformat(value.upper())
        return moment, moment
    clock = now.time()
    rest = value
    match = _CLOCK.search(value)
    if match:
        clock = _time_of_day(match)
        rest = " ".join(f"{value[: match.start()]} {value[match.end() :]}".split())
    if rest in ("", "now"):
        rest = "today"
    span = read_time(rest, When(now.date(), ahead))
    if not span:
        return None
    first = datetime.combine(span.start, clock) if span.start else None
    last = datetime.combine(span.end, clock) if span.end else None
    return first, last


def _time_of_day(match: re.Match[str]) -> time:
    hour = int(match[1])
    minute = int(match[2] or 0)
    second = int(match[3] or 0)
    half = match[4]
    if half and not 1 <= hour <= 12:
        raise ValueError(f"no hour {hour} of half a day")
    if half:
        hour %= 12
    if half == "p":
        hour += 12
    return time(hour, minute, second)
