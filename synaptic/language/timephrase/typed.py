"""The time that a user typed where one is expected: `--since`, `--until`, `--at`."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from itertools import chain
from typing import NamedTuple

from ..tongues import in_english
from .find import read_time
from .line import Line

MAX_PHRASE = 60
"""Characters of a time in words; a longer text is none."""

_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_CLOCK = re.compile(
    r"(?:\bat "
    r")?(?<!\S)(\d{1,2})(?::(\d\d)(?::(\d\d))?(?!\S)|(?=\s?[ap]m(?!\S)))(?:\s?([ap])m(?!\S))?",
    re.I,
)
_CLOCKS = {"noon": "12:00", "midnight": "00:00"}
_NAMED_CLOCK = re.compile(r"\b(?:noon|midnight)\b", re.I)


class Typed(NamedTuple):
    """The first and the last moment of what was typed; None is no bound. Naive moments are
    local.

    A text without a time of the day means the time that it is now.
    """

    first: datetime | None
    last: datetime | None


def read_typed(text: str, *, now: datetime, ahead: bool = False) -> Typed | None:
    """The time of the text, before `now` or `ahead` of it; None if it is no time.

    | text                          | on Saturday 2026-11-21, at 09:30        |
    |-------------------------------|-----------------------------------------|
    | `2026-11-03T14:00`            | that moment                             |
    | `18:00`, `6pm`, `now`, `noon` | today, at that time                     |
    | `yesterday 18:00`             | 2026-11-20 18:00                        |
    | `2 hours ago`, `2h`           | 2026-11-21 07:30                        |
    | `10d`, `10 days ago`          | 2026-11-11 09:30                        |
    | `last week`, `letzte Woche`   | 2026-11-09 09:30 to 2026-11-15 09:30    |
    """
    value = _NAMED_CLOCK.sub(lambda word: _CLOCKS[word[0].lower()], " ".join(text.split()))
    if not 0 < len(value) <= MAX_PHRASE or not value.isprintable():
        return None
    try:
        if _ISO_DATE.match(value) and value[10:11] in ("T", "t", " "):
            moment = datetime.fromisoformat(value)
            return Typed(moment, moment)
    except ValueError:
        pass  # 2026-11-03 6pm
    try:
        for said in chain((value,), in_english(value)):
            if found := _hours(said, now) or _days(said, now, ahead):
                return found
        return None
    except (ValueError, OverflowError, RecursionError):
        return None


def _hours(value: str, now: datetime) -> Typed | None:
    """2 hours ago, 90 minutes ago, 2h, in 2 hours: exactly so long before or after now."""
    line = Line(value, now.date())
    start = int(line.word(0) == "in")
    amount = line.amount(start)
    after = " ".join(line.words[amount.at :]) if amount else ""
    if (
        amount is None
        or amount.unit not in ("hour", "minute")
        or after not in ("", "ago", "back", "from now")
    ):
        return None
    least, most = (
        timedelta(**{f"{amount.unit}s": count}) for count in (amount.least, amount.most)
    )
    return (
        Typed(now + least, now + most)
        if start or after == "from now"
        else Typed(now - most, now - least)
    )


def _days(value: str, now: datetime, ahead: bool) -> Typed | None:
    """A day or a longer time, a time of the day before it, after it or alone. Raises
    ValueError: there is none such.
    """
    found, clock, rest = _CLOCK.search(value), now.time(), value
    if found:
        hour, minute, second = (int(part or 0) for part in found.group(1, 2, 3))
        if found[4] and not 1 <= hour <= 12:
            raise ValueError(f"no hour {hour} of half a day")
        if found[4]:
            hour = hour % 12 + (12 if found[4] in "pP" else 0)
        clock = time(hour, minute, second)
        rest = " ".join(f"{value[: found.start()]} {value[found.end() :]}".split())
    first: date | None
    last: date | None
    if not rest or rest.lower() == "now":
        first = last = now.date()
    elif _ISO_DATE.match(rest):
        first = last = date.fromisoformat(rest)
    elif span := read_time(rest, today=now.date(), ahead=ahead):
        first, last = span.start, span.end
    else:
        return None
    return Typed(*(datetime.combine(day, clock) if day else None for day in (first, last)))
