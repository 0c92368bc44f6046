"""Reads dates as people write them: in the name of a file or page, and in a value of front
matter or of another program.

Months and weekdays have names in English, German, French, Spanish, Italian, Portuguese, Dutch,
Russian, Chinese, Japanese and Korean (`data/words/dates.toml`). In `03-02-2026` nobody can tell
the day from the month: it is no date.
"""

import re
import tomllib
import unicodedata
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from ..config import is_day_file_setting
from ..files import DATA


class Form(NamedTuple):
    """One way to write a date: a regular expression of folded text, in which `<year>` and other
    names stand for the patterns in `_PIECES`, and an example.
    """

    pattern: str
    example: str


_PIECES = {
    "year": "(?P<year>19[0-9]{2}|20[0-9]{2}|2100)",
    "month": "(?P<month>0?[1-9]|1[0-2])",
    "mm": "(?P<month>0[1-9]|1[0-2])",
    "name": r"(?P<name>[^\W\d_]{3,12})",
    "day": "(?P<day>0?[1-9]|[12][0-9]|3[01])",
    "dd": "(?P<day>0[1-9]|[12][0-9]|3[01])",
    "nth": "(?:st|nd|rd|th|er|[.ºª°])?",
    "of": "(?:(?:of|de|del) |d')?",
    "s": "[ ,._/-]{1,3}",
    "alone": r"(?<![^\W_])(?<!\.)",
    "end": r"(?!\.?[^\W_])",
    "no_digit": "(?<![0-9])",
    "clock": "(?P<hour>[01][0-9]|2[0-3])(?P<minute>[0-5][0-9])(?P<second>[0-5][0-9])?",
    "week": "(?P<week>0?[1-9]|[1-4][0-9]|5[0-3])",
}
_COMPACT = Form(r"<no_digit><year><mm><dd>(?:[t_-]?<clock>)?(?![0-9])", "20261121")
DAYS = (
    Form(r"<no_digit>(?P<year>[0-9]{4})(?P<mark>[-_])<mm>(?P=mark)<dd>(?![0-9])", "2026-11-21"),
    Form(r"<no_digit>(?<![0-9]\.)<year>\.<mm>\.<dd>(?!\.?[0-9])", "2026.11.21"),
    Form(r"\A<year>(?P<mark>[-_/ ])<month>(?P=mark)<day>(?![^ ,(])", "2026/11/21"),
    _COMPACT,
    Form("<alone><name><s><day><nth><s><year><end>", "November 21st, 2026"),
    Form("<alone><day><nth><s><of><name>(?: del?)?<s><year><end>", "21 de noviembre de 2026"),
    Form("<alone><year><s><name><s><day><nth><end>", "2026 November 21"),
    Form(r"<alone><day>\. ?<month>\. ?<year><end>", "21.11.2026"),
    Form(r"\A<year>\. ?<month>\. ?<day>\.?(?=\Z| ?\()", "2026. 11. 21."),
    Form(
        r"<no_digit><year> ?[年년] ?<month> ?[月월] ?<day>"
        r"(?: ?[日일号號]|(?=[ ,(]|\Z))(?! ?[주周週])",
        "2026年11月21日",
    ),
    Form(
        r"<alone>(?P<first>[0-9]{2})(?P<mark>[-/_])(?P<other>[0-9]{2})(?P=mark)<year><end>",
        "21-11-2026",
    ),
)
"""Ways to write the date of one day. All examples are 21 November 2026."""
PERIODS = (
    Form("<no_digit><year>[-_ ]?w<week><end>", "2026-W47"),
    Form("<year>[-_ ]*(?:kw|week|woche|semaine|semana|settimana|неделя) ?<week>", "2026 KW 47"),
    Form("(?:kw|week|woche|semaine|semana|settimana|неделя) ?<week><s><year>", "Week 47, 2026"),
    Form("<year> ?[年년] ?第?<week> ?(?:[周週]|주차?)", "2026年第47周"),
    Form(
        "<year> ?[年년] ?<month> ?[月월] ?第?(?P<nth_week>[1-5]) ?(?:[周週]|주차?)",
        "2026년 11월 3주차",
    ),
    Form("<year> ?[年년] ?<month> ?[月월]份?", "2026年11月"),
    Form(r"<year>[-_.]<mm>(?:[-_ ]+\(?<name>\)?)?", "2026-11"),
    Form("<mm>[-_.]<year>", "11-2026"),
    Form("<year><s><name>", "2026-November"),
    Form("<of><name>(?: del?)?<s><year>", "November 2026"),
    Form("<year>[-_ ]?q(?P<quarter>[1-4])", "2026-Q4"),
)
"""Ways to write a week, month or quarter, read as its first day: in the examples 16 or 1
November 2026, or 1 October. Except for the first way, the whole name must be the period.
"""
_DATE_OF_FOLDERS = re.compile(
    r"(?:\A|/)(?P<year>19[0-9]{2}|20[0-9]{2}|2100)/(?P<month>[0-9]{1,2})/(?P<day>[0-9]{1,2})\Z"
)
_SHORT_OF_THREE = ("en", "fr", "es", "it", "pt")
"""Languages in which the short name of a weekday has three letters."""
_YEAR = re.compile("[0-9]{4}")
_PIECE = re.compile(r"(?<!\?P)<([a-z_]+)>")
_WORDS = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")


class NamedDate(NamedTuple):
    """The date that a file's or page's name contains. `is_day`: it is a single day, and the
    name has no other words. `is_alone`: the name has nothing but the date and its weekday.
    """

    day: date
    is_day: bool
    is_alone: bool


def date_in_path(path: str, day_file: str) -> NamedDate | None:
    """The date in a file's path: parsed by the pattern `day_file`, else found in the file's
    name, else in its folders. None without a date.

    A name that is a whole day wins against a pattern that needs folders for its day: in
    `Thesis 2024/2026-07-01` the folder's number is no year.

    | stem                                        | date             |
    |---------------------------------------------|------------------|
    | `2026-11-21`, `2026_11_21`, `2026.11.21`    | that day         |
    | `20261121 Meeting`, `202611210931`          | that day         |
    | `Nov 21st, 2026`, `21. November 2026`       | that day         |
    | `2026年11月21日`, `21 ноября 2026`           | that day         |
    | `2026/11/21`                                | that day         |
    | `2026-W47`, `2026-11`, `2026-Ноябрь`        | the first day    |
    | `2026-02-30`, `ticket 123456`, `v1.2.2026`  | none             |
    """
    pure = PurePosixPath(path)
    if not _needs_folders(day_file):
        named = _date_by_pattern(path, day_file) or date_in_name(pure.stem)
    else:
        named = date_in_name(pure.stem)
        if not (named and named.is_day):
            named = _date_by_pattern(path, day_file) or named
    if named:
        return named
    of_folders = _DATE_OF_FOLDERS.search((pure.parent / pure.stem).as_posix())
    day = of_folders and date_from_groups(of_folders.groupdict())
    return NamedDate(day, True, False) if day else None


@cache
def _needs_folders(day_file: str) -> bool:
    return not is_day_file_setting(day_file.rpartition("/")[2])


def _date_by_pattern(path: str, day_file: str) -> NamedDate | None:
    with suppress(ValueError, re.error, KeyError, OverflowError):
        # `%-d` is for writing only
        day = datetime.strptime(path, day_file.replace("%-", "%")).date()
        return NamedDate(day, is_day=True, is_alone=True)
    return None


def is_day_file(path: str, day_file: str) -> bool:
    """True if a file's name is only a date, such as `2026-11-21 Saturday.md`."""
    named = date_in_path(path, day_file)
    return named is not None and named.is_day


def date_in_name(name: str) -> NamedDate | None:
    """The date in the name of a file (without its ending) or of a page; None without a date."""
    if not _YEAR.search(name):
        return None
    text = fold_letters(name)
    for match in _find_dates(text, DAYS):
        day = date_from_groups(match.groupdict())
        if day:
            rest = f"{text[: match.start()]} {text[match.end() :]}"
            is_day = are_day_words(rest) and not match.groupdict().get("hour")
            is_alone = _day_words().issuperset(_WORDS.findall(rest))
            return NamedDate(day, is_day, is_day and is_alone)
    span = _span_of_period(text)
    return NamedDate(span[0], False, False) if span else None


def day_at_start(text: str) -> tuple[date, int] | None:
    """The date of one day with which a text begins, and where that ends; None without one."""
    folded = fold_letters(text)
    for form in DAYS:
        match = form_pattern(form.pattern).match(folded)
        day = match and date_from_groups(match.groupdict())
        if match and day:
            return day, match.end()
    return None


def days_of_name(name: str) -> tuple[date, date] | None:
    """The first and last day of a name that is nothing but a day, a week, a month or a quarter;
    None for any other name.
    """
    named = date_in_name(name)
    if named and named.is_alone:
        return named.day, named.day
    text = fold_letters(name)
    is_period = any(form_pattern(form.pattern).fullmatch(text) for form in PERIODS)
    return _span_of_period(text) if is_period else None


def owner_time(moment: datetime) -> datetime:
    """The moment on the clock of its owner, aware: its day is the day to which it belongs.

    | moment                         | on a machine in Los Angeles |
    |--------------------------------|-----------------------------|
    | `2023-12-07 03:11`             | 2023-12-07 03:11 -08:00     |
    | `2023-12-07 03:11Z`, `+00:00`  | 2023-12-06 19:11 -08:00     |
    | `2023-12-07 03:11+05:30`       | 2023-12-07 03:11 +05:30     |

    Programs store instants in UTC, wherever the person was; any other offset is that of the
    place where a person read the clock. Where the system knows no offset (the years 1 and 9999)
    the zone stays, UTC if there is none.
    """
    with suppress(OverflowError, ValueError, OSError):
        return moment if moment.utcoffset() else moment.astimezone()
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def moment_in_value(value: str) -> datetime | None:
    """Parses a date or time in a field's value, as `owner_time` has it; without a zone if the
    value names none, at midnight if it names only a day. None if it is not a date.

    | value                                         | moment                            |
    |-----------------------------------------------|-----------------------------------|
    | `2026-11-21T09:31:00Z`, `2026-11-21 09:31`    | as ISO 8601 has it                |
    | `1795253460`, `1795253460000`                 | seconds, or less, since 1970      |
    | `202611210931`                                | 2026-11-21 09:31                  |
    | `20261121093100000`                           | that, in UTC (TiddlyWiki)         |
    | `Sat, 21 Nov 2026 09:31:00 +0100`             | that, with its zone               |
    | `November 21, 2026 9:31 AM`, `2026/11/21`     | 2026-11-21 09:31; 2026-11-21      |
    | `21. November 2026`, `2026年11月21日`          | 2026-11-21                        |
    | `2026-11`, `2026-W47`                         | 2026-11-01, 2026-11-16            |
    | `03/02/2026`, `soon`                          | none                              |
    """
    read = _read_moment(value)
    return read.on_owner_clock() if read else None


def moment_of_stamp(value: str) -> datetime | None:
    """The moment of a value that has its time of day and no other words, as `moment_in_value`
    reads it: `2026-11-21T09:31Z`, `1795253460`. None for any other value.
    """
    read = _read_moment(value)
    is_stamp = read and read.has_clock and _day_words().issuperset(_WORDS.findall(read.rest))
    return read.on_owner_clock() if read and is_stamp else None


class _ReadMoment(NamedTuple):
    """A moment as a value has it, and the `rest` of the value, which is no part of it."""

    moment: datetime
    rest: str = ""
    has_clock: bool = True

    def on_owner_clock(self) -> datetime:
        return owner_time(self.moment) if self.moment.tzinfo else self.moment


def _read_moment(value: str) -> _ReadMoment | None:
    text = fold_letters(value.strip().strip("[]\"'").strip())
    if _NUMBER.fullmatch(text):
        return _moment_of_number(text)
    with suppress(ValueError):
        has_clock = ":" in text or "t" in text
        return _ReadMoment(datetime.fromisoformat(text.upper()), "", has_clock)
    for match in _find_dates(text, (*DAYS, _WITHIN)):
        day = date_from_groups(match.groupdict())
        if day:
            return _day_at_time(day, text[: match.start()], text[match.end() :])
    span = _span_of_period(text)
    return _ReadMoment(datetime.combine(span[0], time()), text, False) if span else None


_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_EPOCHS = {9: 0, 10: 0, 12: 3, 13: 3, 16: 6, 19: 9}
"""By the digits of a number of seconds since 1970 (1973 to 2286) its decimal places."""
_WITHIN = Form(
    "<no_digit>(?P<year>[0-9]{4})(?P<mark>[-/.])<month>(?P=mark)<day>(?![0-9])", "on 2026/11/21"
)
_TIME_OF_DAY = re.compile(
    r"[ t,:日일@-]*(?:at |um |à |a las )?(?P<hour>[01]?[0-9]|2[0-3])[:.h](?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9]))?(?:\.[0-9]+)?[ \u202f]?(?P<half>[ap])?\.?(?:m\b)?"
    r"[ ]*(?:(?:gmt|utc)?(?P<zone>[+-][0-9]{2}:?[0-9]{2})|(?P<utc>z|gmt|utc)\b)?"
)


def _moment_of_number(text: str) -> _ReadMoment | None:
    whole, _, fraction = text.partition(".")
    if not fraction and len(whole) in (8, 12, 14, 17):
        match = form_pattern(_COMPACT.pattern).fullmatch(whole[:14])
        day = match and date_from_groups(match.groupdict())
        if match and day:
            hour, minute, second = (int(part or 0) for part in match.groups()[3:])
            zone = UTC if len(whole) == 17 else None
            moment = datetime.combine(day, time(hour, minute, second), zone)
            return _ReadMoment(moment, "", len(whole) > 8)
    places = _EPOCHS.get(len(whole))
    if places is None:
        return None
    return _ReadMoment(datetime.fromtimestamp(float(text) / 10**places, UTC))


def _day_at_time(day: date, before: str, behind: str) -> _ReadMoment:
    """The day, at the time of day with which the text `behind` begins; at midnight if it begins
    with none.
    """
    match = _TIME_OF_DAY.match(behind)
    if not match:
        return _ReadMoment(datetime.combine(day, time()), f"{before} {behind}", False)
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "p" else 0)
    clock = time(hour, int(match["minute"]), int(match["second"] or 0))
    if match["utc"]:
        clock = clock.replace(tzinfo=UTC)
    elif match["zone"]:
        clock = clock.replace(tzinfo=datetime.strptime(match["zone"], "%z").tzinfo)
    return _ReadMoment(datetime.combine(day, clock), f"{before} {behind[match.end() :]}")


def _find_dates(text: str, forms: tuple[Form, ...]) -> Iterator[re.Match[str]]:
    for form in forms:
        yield from form_pattern(form.pattern).finditer(text)


def _span_of_period(text: str) -> tuple[date, date] | None:
    """The first and last day of the week, month or quarter that the folded text names; None if
    it is not one. A week like `2026-W47` may stand anywhere in it.
    """
    anywhere, *others = (form_pattern(form.pattern) for form in PERIODS)
    for match in (anywhere.search(text), *(form.fullmatch(text) for form in others)):
        span = match and _span_of_groups(match.groupdict())
        if span:
            return span
    return None


def _span_of_groups(groups: dict[str, str | None]) -> tuple[date, date] | None:
    year = int(groups["year"] or 0)
    week = groups.get("week")
    quarter = groups.get("quarter")
    if week:
        with suppress(ValueError):
            monday = date.fromisocalendar(year, int(week), 1)
            return monday, monday + timedelta(6)
    if quarter:
        groups = groups | {"month": str(3 * int(quarter) - 2)}
    first = date_from_groups(groups | {"day": "1"})
    if not first:
        return None
    if groups.get("nth_week"):  # the first week of a month holds its first Thursday
        thursday = first + timedelta((3 - first.weekday()) % 7)
        monday = thursday + timedelta(7 * int(groups["nth_week"] or 0) - 10)
        return monday, monday + timedelta(6)
    last_month = first.month + (2 if quarter else 0)
    return first, date(year, last_month, monthrange(year, last_month)[1])


def date_from_groups(groups: dict[str, str | None]) -> date | None:
    """The date of the regular-expression groups `year`, `month` or `name`, and `day`; None if
    no such day exists. `first` and `other` are day and month in any order, if only one order is
    possible.
    """
    month = int(groups.get("month") or 0)
    day = int(groups.get("day") or 0)
    if groups.get("first"):
        month, day = sorted(int(groups[name] or 0) for name in ("first", "other"))
        if month != day <= 12:
            return None
    if groups.get("name"):
        named = month_numbers().get((groups["name"] or "").lower(), 0)
        if month not in (0, named):
            return None
        month = named
    with suppress(ValueError):
        return date(int(groups["year"] or 0), month, day)
    return None


def are_day_words(text: str) -> bool:
    """True if every word of at least three letters in a folded text is the name of a month or
    weekday.
    """
    return _day_words().issuperset(_LETTERS.findall(text))


def only_names_day(title: str) -> bool:
    """True for a title that says no more than its day: `Wednesday`, `Wed, 25 November 2026`."""
    folded = fold_letters(title)
    return bool(_WORDS.search(folded)) and are_day_words(folded)


def fold_letters(text: str) -> str:
    """The text in lower case and without accents; its length does not change."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_letter, text))


def _fold_letter(letter: str) -> str:
    if "가" <= letter <= "힣":  # a syllable of Korean would lose its vowel
        return letter
    return unicodedata.normalize("NFD", letter)[0].lower()[:1]


@cache
def calendar_names(kind: str) -> dict[str, list[list[str]]]:
    """For each language code the names of the `months` or `weekdays` in order, each as a list
    of its folded forms.
    """
    path = DATA / "words"
    english = tomllib.loads((path / "shared.toml").read_text("utf-8"))
    others = tomllib.loads((path / "dates.toml").read_text("utf-8"))
    key = {"months": "month_names", "weekdays": "day_names"}[kind]
    texts = {"en": english[key]} | others[kind]
    return {
        tongue: [name.split("|") for name in text.split()] for tongue, text in texts.items()
    }


@cache
def month_numbers() -> dict[str, int]:
    """Maps the names of months in all languages, and their first three or four letters if these
    are unambiguous, to numbers from 1 to 12.
    """
    numbers: dict[str, int] = {}
    short: dict[str, set[int]] = {}
    for names in calendar_names("months").values():
        for number, forms in enumerate(names, 1):
            numbers |= dict.fromkeys(forms, number)
            for form in forms:
                short.setdefault(form[:3], set()).add(number)
                short.setdefault(form[:4], set()).add(number)
    for word, meanings in short.items():
        if len(meanings) == 1:
            numbers.setdefault(word, *meanings)
    return numbers


@cache
def _day_words() -> frozenset[str]:
    words = {*month_numbers(), *"月火水木金土日월화수목금토일"}
    for tongue, names in calendar_names("weekdays").items():
        for forms in names:
            words.update(forms)
            if tongue in _SHORT_OF_THREE:
                words.update(form[:3] for form in forms)
    return frozenset(words)


@cache
def form_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(_PIECE.sub(lambda piece: _PIECES[piece[1]], pattern))
