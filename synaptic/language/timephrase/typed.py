"""Parses the times that a user types in options: `--since`, `--until`, `--at`."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import cache
from typing import NamedTuple

from ...models import Texts
from ...notes.dates import days_of_name, fold_letters, moment_of_stamp
from ..lexicon import MONTH_NAMES
from ..tongues import LATIN, SERIES, TONGUES, iter_time_translations, language_of_script
from .find import LOOKED_AT, TimeRange, read_phrase
from .table import (
    DAYS_IN,
    HOURS_OF_PARTS,
    TIMES,
    When,
    add_days,
    compile_row,
    least_and_most_units,
    read_pieces,
)

MAX_PHRASE = 60
"""Characters of a time in words; a longer text is not read as a time."""

_AS_ALONE = ("{}", "{} ago", "on {}", "during {}", "on the {}", "during the {}")
"""Forms in which a text that stands alone is read; ahead `from now` for `ago`."""

_STAMP = re.compile(r"[\d-]{10}t")
_CLOCK, _BARE_HOUR = TIMES.finder("clock"), TIMES.finder("bare_hour")
_POINTED = TIMES.finder("pointed")
_OF_PATHS, _MARKED = TIMES.finder("of_paths"), TIMES.finder("marked")
_BESIDE = {
    fold_letters(word.replace("_", " ")): hour
    for word, hour in TIMES.numbers("beside_hours").items()
}
"""The hour that each part of the day means beside another one, in all languages."""
_PARTS = "|".join(sorted(_BESIDE, key=len, reverse=True))
_PART = re.compile(rf"(?<![^\W\u3040-\ud7a3])(?:{_PARTS})(?![a-zа-я])")
_DOTTED = re.compile(r"(0?[1-9]|[12]\d|3[01])\.(0?[1-9]|1[0-2])\.")
"""19.11. and 5.3., a day and a month."""
_EITHER_ORDER = re.compile(r"(\d\d?)/(\d\d?)")

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


def find_unread_time(text: str, now: datetime) -> str:
    """The beginning of a text before its colon, if a day and words of a time of day stand there
    which `split_date` does not read, `yesterday evening around ten`; else "".
    """
    phrase, colon, _ = text.lstrip().partition(": ")
    words = phrase.split()
    if not colon or "\n" in phrase or len(phrase) > MAX_PHRASE:
        return ""
    for end in range(1, len(words)):
        span = read_typed(" ".join(words[:end]), now=now)
        rest = fold_letters(" ".join(words[end:]))
        if span and (_PART.search(rest) or TIMES.finder("clocklike").search(rest)):
            return phrase
    return ""


def read_typed(
    text: str, *, now: datetime, ahead: bool = False, clock: time | None = None
) -> Typed | None:
    """Parses a typed time, in the past or, with `ahead`, in the future; None if it is not a
    time. A day without a time of day gets the time `clock`, by default that of `now`.

    | text                          | on Saturday 2026-11-21, at 09:30        |
    |-------------------------------|-----------------------------------------|
    | `2026-11-03T14:00`            | that moment                             |
    | `18:00`, `6pm`, `now`         | today, at that time                     |
    | `23:10`                       | yesterday: today it is half a day ahead |
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
    value = value.removeprefix("+").lstrip() if ahead else value
    if not 0 < len(value) <= MAX_PHRASE or _OF_PATHS.search(value):
        return None
    with suppress(ValueError, OverflowError):  # no such day or time of the day
        moment = moment_of_stamp(value)
        if moment:
            return moment, moment
        if _STAMP.match(value):  # its time is none, such as 25:00
            return None
        phrases = (value, *translate_whole_time(value))
        hours = (_read_hours(phrase, now, -1 + 2 * ahead) for phrase in phrases)
        return next(filter(None, hours), None) or _read_days(phrases, now, ahead, clock)
    return None


def _read_hours(value: str, now: datetime, way: int) -> Typed | None:
    """The exact moment of a time in hours or minutes: 2 hours ago, 90 minutes ago, in 2 hours;
    2h in the direction `way`.
    """
    value = re.sub(r"^in (.+)", r"\1 from now", value)
    match = compile_row("<amount>(?: <way>)?").fullmatch(value)
    if not match:
        return None
    pieces = read_pieces(match)
    if pieces["unit"] not in ("minute", "hour"):
        return None
    length = pieces.get("way", way) * timedelta(days=DAYS_IN[pieces["unit"]])
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
    when = When(now.date(), ahead)
    if not any(_days_of(value, when)):
        value = _write_hour(value)
    match = _CLOCK.search(value) or _BARE_HOUR.search(value)
    if match:
        parts = (value[: match.start()], value[match.end() :])
        rest = " ".join(part.strip(", ") for part in parts).strip()
        days, hour = _days_and_part(rest or "today", when)
        clock, later = _time_of_day(match, hour)
        today_at = now.replace(hour=clock.hour, minute=clock.minute)
        if not (rest or ahead) and today_at - now > timedelta(hours=12):
            days = (add_days(when.today, -1),) * 2
        if later and (days[0] != when.today or "tonight" in rest):  # not of "heute Nacht um 2"
            days = days[0] and add_days(days[0], 1), days[1] and add_days(days[1], 1)
    else:
        days = _days_of(value, when)
        hour = None if usual_clock else _hour_of_part(phrases)
        clock = clock if hour is None else time(hour)
    first, last = (datetime.combine(day, clock) if day else None for day in days)
    return (first, last) if first or last else None


def _days_and_part(text: str, when: When) -> tuple[tuple[date | None, date | None], int | None]:
    """(the days, the hour of the part of the day) of a text beside a time of day."""
    days = _days_of(text, when)
    if any(days):
        return days, _hour_of_part((text, *translate_whole_time(text)))
    folded = fold_letters(text)
    part = _PART.search(folded)
    if not part:
        return days, None
    rest = " ".join(f"{text[: part.start()]} {text[part.end() :]}".split()).strip(", ")
    return _days_of(rest or "today", when), _BESIDE[part[0]]


def _hour_of_part(phrases: Texts) -> int | None:
    """The hour of the part of the day with which one of these phrases ends; 22 of tonight."""
    hours = (HOURS_OF_PARTS.get(one.rpartition(" ")[2].removeprefix("to")) for one in phrases)
    return next((hour for hour in hours if hour is not None), None)


def _write_hour(text: str) -> str:
    """The text with a time of day in words as digits: `yesterday at 9:30` for `yesterday at
    half past nine`, also for `9.30`.
    """
    text = _POINTED.sub(lambda clock: clock[0].replace(".", ":", 1), text)
    folded = fold_letters(text)
    script = language_of_script(text)
    for tongue in (script,) if script else ("", *LATIN):
        hours = _hours_in(tongue)
        digits = "|".join(("1?[0-9]|2[0-4]", *sorted(hours, key=len, reverse=True)))
        for minutes, forms in TIMES.read["spoken_hours"][tongue or "en"].items():
            for form in forms.split():
                words = fold_letters(form.replace("_", " ")).replace("#", f"(?P<hour>{digits})")
                match = re.search(rf"(?<![a-zа-я\d.:])(?:{words})(?![a-zа-я\d.:])", folded)
                if not match:
                    continue
                hour = hours.get(match["hour"]) or int(match["hour"])
                total = 60 * hour + int(minutes)
                total += 720 * (total < 60 <= 60 * hour)  # quarter to one
                written = f"{total // 60}:{total % 60:02}"
                spoken = f"{text[: match.start()]} {written} {text[match.end() :]}"
                return " ".join(spoken.split())
    return text


@cache
def _hours_in(tongue: str) -> dict[str, int]:
    """Maps the words of the hours in a language, "" for English, to their numbers."""
    words = TONGUES.read[f"times_{tongue}"]["numbers"].split() if tongue else SERIES["numbers"]
    numbered = enumerate(words[:12], 1)
    return {fold_letters(word): n for n, forms in numbered for word in forms.split("|")}


def _days_of(text: str, when: When) -> tuple[date | None, date | None]:
    """The first and last day of a time, in any language; both None without one."""
    named = days_of_name(text)
    if named:
        return named
    dotted = _DOTTED.fullmatch(text)
    if dotted:
        text = f"{int(dotted[1])} {MONTH_NAMES[int(dotted[2]) - 1]}"
    numbers = _EITHER_ORDER.fullmatch(text)
    if numbers and max(map(int, numbers.groups())) <= 12:
        return None, None  # either may be the month
    for phrase in (text, *translate_whole_time(text)):
        span = read_time(phrase, when)
        if span:
            return span.start, span.end
    return None, None


def _time_of_day(match: re.Match[str], part: int | None) -> tuple[time, bool]:
    """(the time of day, True if it lies behind the midnight that ends its day); `part` is the
    hour of the part of the day beside it, which decides which half of the day is meant.
    """
    pieces = match.groupdict()
    hour = int(pieces["hour"])
    minute, second = (int(pieces.get(name) or 0) for name in ("minute", "second"))
    half = pieces.get("half")
    if half and not 1 <= hour <= 12:
        raise ValueError(f"no hour {hour} of half a day")
    if half:
        hour = hour % 12 + 12 * (half == "p")
    is_late = part is not None and part >= HOURS_OF_PARTS["evening"]
    is_dark = hour < 6 if part == HOURS_OF_PARTS["night"] else hour == 0
    if is_late and (is_dark or (hour == 12 and not half)):
        return time(hour % 12, minute, second), True
    if part and part > 12 and not half and 0 < hour < 12:
        hour += 12
    return time(hour, minute, second), False


def read_time(text: str, when: When) -> TimeRange | None:
    """The time of a text that is nothing but a time; None for any other text.

    Such a text needs no preposition and no capital: `may`, `2025`, `q2`, `weekend`, `10d`. A
    part of a month, week or year without a name is of the present one: `end of month`.
    """
    text = compile_row("^((?:the )?<part> )(?=<period>$)").sub(r"\1this ", text)
    for form in _AS_ALONE:
        form = "{} from now" if when.ahead and form == "{} ago" else form
        phrase = form.format(text[:LOOKED_AT].title())
        time = read_phrase(phrase, 0, when)
        if time and time.phrase == phrase:
            return replace(time, phrase=text)
    return None


def translate_whole_time(text: str) -> Iterator[str]:
    """Yields the English of a text that is only a time in another language; several if
    languages differ; nothing for any other text.
    """
    by_script = language_of_script(text)
    for tongue in (by_script,) if by_script else LATIN:
        for first, last, english in iter_time_translations(text, tongue):
            if last - first == len(text):
                yield english
