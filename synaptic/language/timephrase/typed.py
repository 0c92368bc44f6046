"""Parses the times that a user types in options: `--since`, `--until`, `--at`."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from ...models import Texts
from ...notes.dates import days_of_name, moment_of_stamp
from ..lexicon import MONTH_NAMES
from ..tongues import LATIN, iter_time_translations, language_of_script
from .find import LOOKED_AT, TimeRange, read_phrase
from .table import DAYS_IN, HOURS_OF_PARTS, When, compile_row, least_and_most_units, read_pieces

MAX_PHRASE = 60
"""Characters of a time in words; a longer text is not read as a time."""

_AS_ALONE = ("{}", "{} ago", "on {}", "during {}", "on the {}", "during the {}")
"""Forms in which a text that stands alone is read."""

_STAMP = re.compile(r"[\d-]{10}t")
_AT = r"(?<!\S)(?:at|um|om|à|a las?|alle|às|as|в|kl\.?) "
_CLOCK = re.compile(
    rf"(?:{_AT})?(?<![^\s\u3040-\u30ff\u3400-\u9fff])"
    r"(?P<hour>\d{1,2})(?:[:h](?P<minute>\d\d))?(?::(?P<second>\d\d))?"
    r"(?: ?(?P<half>[ap])m| ?(?:uhr|uur|heures?|h|시)|[时時点點]|(?<=[:h]\d\d))(?!\S)"
)
"""18:00, 18:00:30, 6pm, 6:30 pm; um 18 Uhr, à 18h30, alle 18:00, в 18:00, 18時."""
_BARE_HOUR = re.compile(rf"{_AT}(?P<hour>\d{{1,2}})(?!\S)")
"""At 8, um 18."""
_DOTTED = re.compile(r"(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.")
"""19.11. and 5.3., a day and a month."""
_EITHER_ORDER = re.compile(r"(\d\d?)/(\d\d?)")

_OF_PATHS = re.compile(r"^[./]|[#?%&=<>|\\\\]")
"""Finds signs of a path or an address, which is no time."""
_MARKED = re.compile(
    r"[^\W\d_]|[0-9]{4}|[0-9]:[0-9]|[0-9]{2}\.[0-9]{2}\.|(?:1[3-9]|2[0-9]|3[01])\.[0-9]\."
)
"""Letters, a year, a clock; 19.11. and 17.3., but not 2.1., which may be a heading's number."""
_ORDINAL = re.compile(r"(?i)[0-9]+(?:st|nd|rd|th)")

Typed = tuple[datetime | None, datetime | None]
"""The first and the last moment; None means that this end is open. Naive moments are local."""


class DatedText(NamedTuple):
    """A text whose beginning, `phrase`, says when it happened, or will happen (`is_ahead`)."""

    moment: datetime
    phrase: str
    rest: str
    is_ahead: bool = False


def split_date(text: str, now: datetime) -> DatedText | None:
    """Splits a text that begins with its date and a colon, as people write in jrnl; None if no
    day or moment stands there.

    | text                            | on Saturday 2026-11-21, at 09:30           |
    |---------------------------------|--------------------------------------------|
    | `yesterday 5pm: called Ida`     | 2026-11-20 17:00, `called Ida`             |
    | `monday: rain`                  | 2026-11-16 09:30, `rain`                   |
    | `19.11.: doctor`                | 2026-11-19 09:30, `doctor`                 |
    | `2.1.: aims`                    | None: it may be the number of a heading    |
    | `tomorrow: dentist`             | 2026-11-22 09:30, `dentist`, ahead         |
    | `May: she called`               | None: a month is not a day                 |
    | `3 days: too long`, `1/2: done` | None: a length, a list or a share          |
    | `0171234567: no answer`         | None: a number                             |
    """
    phrase, colon, rest = text.lstrip().partition(": ")
    rest = rest.strip()
    if not colon or not rest or "\n" in phrase or not _MARKED.search(phrase):
        return None
    is_length = compile_row("<amount>").fullmatch(" ".join(phrase.lower().split()))
    if is_length or phrase.isdigit() or _ORDINAL.fullmatch(phrase):
        return None
    span = read_typed(phrase, now=now)
    if not span or not span[0] or not span[1] or span[0].date() != span[1].date():
        return None
    moment = span[0]
    present = now if moment.tzinfo else now.replace(tzinfo=None)
    return DatedText(moment, phrase, rest, is_ahead=moment > present)


def read_typed(
    text: str, *, now: datetime, ahead: bool = False, clock: time | None = None
) -> Typed | None:
    """Parses a typed time, in the past or, with `ahead`, in the future; None if it is not a
    time. A day without a time of day gets the time `clock`, by default that of `now`.

    | text                          | on Saturday 2026-11-21, at 09:30        |
    |-------------------------------|-----------------------------------------|
    | `2026-11-03T14:00`            | that moment                             |
    | `18:00`, `6pm`, `now`         | today, at that time                     |
    | `yesterday 18:00`             | 2026-11-20 18:00                        |
    | `yesterday evening`           | 2026-11-20 19:00                        |
    | `2 hours ago`, `2h`           | 2026-11-21 07:30                        |
    | `10d`, `10 days ago`          | 2026-11-11 09:30                        |
    | `last week`, `letzte Woche`   | 2026-11-09 09:30 to 2026-11-15 09:30    |
    | `2026-W47`, `2026年11月`       | that week, that month                   |
    | `1795253460`, `...T08:31Z`    | that moment                             |

    A text in another language, `gestern 18 Uhr` or `через 3 дня`, is read as the English would
    be; a date as in the names and the front matter of notes.
    """
    value = " ".join(text.lower().split())
    if not 0 < len(value) <= MAX_PHRASE or _OF_PATHS.search(value):
        return None
    with suppress(ValueError, OverflowError):  # no such day or time of the day
        moment = moment_of_stamp(value)
        if moment:
            return moment, moment
        if _STAMP.match(value):  # its time is none, such as 25:00
            return None
        phrases = (value, *_translate_whole_time(value))
        hours = (_read_hours(phrase, now) for phrase in phrases)
        return next(filter(None, hours), None) or _read_days(phrases, now, ahead, clock)
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


def _read_days(
    phrases: Texts, now: datetime, ahead: bool, usual_clock: time | None
) -> Typed | None:
    """Parses a day, a longer time, or a day with a time of day before or after it. `phrases`
    are the text, and its translations into English.

    Raises ValueError if there is no such day or time of the day.
    """
    value = phrases[0]
    if value == "now":
        return now.replace(tzinfo=None), now.replace(tzinfo=None)
    clock = usual_clock or now.time()
    rest = value
    match = _CLOCK.search(value) or _BARE_HOUR.search(value)
    if match:
        clock = _time_of_day(match)
        parts = (value[: match.start()], value[match.end() :])
        rest = " ".join(part.strip(", ") for part in parts).strip() or "today"
    elif usual_clock is None:
        clock = _clock_of_part(phrases) or clock
    start, end = days_of_name(rest) or _days_of_phrase(rest, When(now.date(), ahead))
    first = datetime.combine(start, clock) if start else None
    last = datetime.combine(end, clock) if end else None
    return (first, last) if start or end else None


def _clock_of_part(phrases: Texts) -> time | None:
    """The time of the part of the day that one of these phrases names: 19:00 of yesterday
    evening.
    """
    for phrase in phrases:
        hour = HOURS_OF_PARTS.get(phrase.rpartition(" ")[2])
        if hour is not None:
            return time(hour)
    return None


def _days_of_phrase(text: str, when: When) -> tuple[date | None, date | None]:
    """The first and last day of a time in words, in any language; both None without one."""
    dotted = _DOTTED.fullmatch(text)
    if dotted:
        text = f"{int(dotted[1])} {MONTH_NAMES[int(dotted[2]) - 1]}"
    numbers = _EITHER_ORDER.fullmatch(text)
    if numbers and max(map(int, numbers.groups())) <= 12:
        return None, None  # either may be the month
    for phrase in (text, *_translate_whole_time(text)):
        span = read_time(phrase, when)
        if span:
            return span.start, span.end
    return None, None


def _time_of_day(match: re.Match[str]) -> time:
    pieces = match.groupdict()
    hour = int(pieces["hour"])
    minute, second = (int(pieces.get(name) or 0) for name in ("minute", "second"))
    half = pieces.get("half")
    if half and not 1 <= hour <= 12:
        raise ValueError(f"no hour {hour} of half a day")
    if half:
        hour %= 12
    if half == "p":
        hour += 12
    return time(hour, minute, second)


def read_time(text: str, when: When) -> TimeRange | None:
    """The time of a text that is nothing but a time; None for any other text.

    Such a text needs no preposition and no capital: `may`, `2025`, `q2`, `weekend`, `10d`.
    """
    for form in _AS_ALONE:
        phrase = form.format(text[:LOOKED_AT].title())
        time = read_phrase(phrase, 0, when)
        if time and time.phrase == phrase:
            return replace(time, phrase=text)
    return None


def _translate_whole_time(text: str) -> Iterator[str]:
    """Yields the English of a text that is only a time in another language; several if
    languages differ; nothing for any other text.
    """
    by_script = language_of_script(text)
    for tongue in (by_script,) if by_script else LATIN:
        for first, last, english in iter_time_translations(text, tongue):
            if last - first == len(text):
                yield english
