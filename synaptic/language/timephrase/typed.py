"""Parses the times that a user types in options: `--since`, `--until`, `--at`."""

import re
from contextlib import suppress
from datetime import datetime, time, timedelta
from typing import NamedTuple

from ..tongues import translate_whole_time
from .find import read_time
from .table import DAYS_IN, When, compile_row, least_and_most_units, read_pieces

MAX_PHRASE = 60
"""Characters of a time in words; a longer text is not read as a time."""

_MOMENT = re.compile(r"[\d-]{10}(?:t| \d\d:\d\d(?! ?[ap]m))")
_CLOCK = re.compile(
    r"(?:\bat )?(?<!\S)(\d{1,2})(?::(\d\d))?(?::(\d\d))?(?: ?([ap])m| ?uhr|(?<=:\d\d))(?!\S)"
)
"""18:00, 18:00:30, 6pm, 6:30 pm, 18 Uhr."""

_MARKED = re.compile(r"[^\W\d_]|[0-9]{4}|[0-9]:[0-9]")
_ORDINAL = re.compile(r"(?i)[0-9]+(?:st|nd|rd|th)")

Typed = tuple[datetime | None, datetime | None]
"""The first and the last moment; None means that this end is open. Naive moments are local."""


class DatedText(NamedTuple):
    """A text whose beginning, `phrase`, says when it happened."""

    moment: datetime
    phrase: str
    rest: str


def split_date(text: str, now: datetime) -> DatedText | None:
    """Splits a text that begins with its date and a colon, as people write in jrnl; None if no
    past day or moment stands there.

    | text                            | on Saturday 2026-11-21, at 09:30           |
    |---------------------------------|--------------------------------------------|
    | `yesterday 5pm: called Ida`     | 2026-11-20 17:00, `called Ida`             |
    | `monday: rain`                  | 2026-11-16 09:30, `rain`                   |
    | `tomorrow: dentist`             | None: it has not happened                  |
    | `May: she called`               | None: a month is not a day                 |
    | `3 days: too long`, `1/2: done` | None: a length, a list or a share          |
    """
    phrase, colon, rest = text.lstrip().partition(": ")
    rest = rest.strip()
    if not colon or not rest or "\n" in phrase or not _MARKED.search(phrase):
        return None
    is_length = compile_row("<amount>").fullmatch(" ".join(phrase.lower().split()))
    if is_length or _ORDINAL.fullmatch(phrase):
        return None
    span = read_typed(phrase, now=now)
    if not span or not span[0] or not span[1] or span[0].date() != span[1].date():
        return None
    moment = span[0]
    present = now if moment.tzinfo else now.replace(tzinfo=None)
    return DatedText(moment, phrase, rest) if moment <= present else None


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
    spans = (
        read_time(one, When(now.date(), ahead)) for one in (rest, *translate_whole_time(rest))
    )
    span = next(filter(None, spans), None)
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
