"""The table of times: patterns of words, and the functions that return the days they name.

To add one, write a row into `ROWS`. In a pattern a blank is any white space, `<month>` is any
name of a month, and the function gets its number as `pieces["month"]`. The pieces that may
stand in `<...>` are the keys of `PIECES`; their words are in `data/words/times.toml`. At one
place of a text the row that reads the most wins, so the order does not matter.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from functools import cache
from typing import Any, NamedTuple

from ..lexicon import COUNTS, DAY_NAMES, MONTHS, SHORT_DAYS, WEEKDAYS, Words

TIMES = Words("times")

DAYS_IN = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "fortnight": 14}
MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}

Span = tuple[date, date]
"""The first day and the last."""

Pieces = dict[str, Any]
"""The pieces of a phrase as numbers: of "March 2025" {"month": 3, "year": 2025}."""


class When(NamedTuple):
    """The day relative to which a phrase is read, and the direction in which it looks.

    A question looks back from it. Due tasks lie `ahead`: "Friday" is the next one, that day
    included. A note looks `around`: "this Tuesday" is the next one, and a month or a year that
    is counted ("two months ago") is a whole one.
    """

    today: date
    ahead: bool = False
    around: bool = False


Reader = Callable[[Pieces, When], Span]
"""A function that returns the days of a phrase. Raises ValueError if there is no such time."""


# --- words ---

TABLES: dict[str, Mapping[str, Any]] = {
    "near": TIMES.numbers("near"),
    "which": TIMES.numbers("which"),
    "part": TIMES.numbers("part"),
    "number": COUNTS,
    "few": TIMES.numbers("few"),
    "unit": TIMES.table("units"),
    "way": TIMES.numbers("way"),
    "weekday": WEEKDAYS,
    "month": MONTHS,
    "season": TIMES.numbers("season"),
    "quarter": TIMES.numbers("quarter"),
    "period": {word: word for word in TIMES.list_in_order("calendar_units")},
}
"""The value of each word of each piece."""


HOURS_OF_PARTS = TIMES.numbers("part_of_day")
"""The hour that each part of the day means."""


def any_word(words: Iterable[str]) -> str:
    """A regular expression that matches any of these words, in which `_` stands for a blank."""
    return rf"(?:{'|'.join(words).replace('_', ' ')})\b"


ENDS = rf"(?=\s*(?:$|[^\w\s])|\s+{any_word(TIMES.goes_on.union(HOURS_OF_PARTS))})"
"""Here the phrase ends, so that it describes no noun: "in spring" and not "in spring boot"."""

_SHORT_DAYS = any_word(name.title() for name in SHORT_DAYS)

_OTHER_WORD = rf"(?-i:{any_word(TIMES.words_too)})(?!{ENDS}| \d{{4}}| \d+(?:[a-z]|{ENDS}))"
"""A month only where the phrase ends or a number follows: "may" without a capital."""

PIECES = {name: f"(?P<{name}>{any_word(words)})" for name, words in TABLES.items()}
PIECES |= TIMES.read["pieces"] | {
    "ends": ENDS,
    "no_count": rf"(?!\s+{any_word(TIMES.counted)}|\s*(?:[-–—]|to|and|or)\s*\d)",
    "no_article": "".join(rf"(?<!\b{word}\s)" for word in TIMES.not_before_a_day),
    "month": f"(?!{_OTHER_WORD}){PIECES['month']}",
    "only_month": f"(?P<month>{any_word(TIMES.only_months)})",
    "weekday": f"(?P<weekday>{any_word(DAY_NAMES)}|(?-i:{_SHORT_DAYS}){ENDS})",
    "day_name": f"(?P<weekday>{any_word(DAY_NAMES)})",
    "number": rf"(?P<number>\d{{1,6}}|{any_word(COUNTS)})",
}
"""The pattern of each piece."""


@cache
def compile_row(pattern: str) -> re.Pattern[str]:
    """Converts a pattern of the table into a regular expression."""
    for _ in range(2):  # a piece may hold pieces
        pattern = re.sub(r"(?<!\?P)<(\w+)>", lambda name: PIECES[name[1]], pattern)
    return re.compile(pattern.replace(" ", r"\s+"), re.IGNORECASE)


def read_pieces(match: re.Match[str]) -> Pieces:
    """The named pieces of a match as numbers."""
    pieces = {}
    for name, text in match.groupdict().items():
        if text is None:
            continue
        word = "_".join(text.lower().split())
        table = TABLES.get(name, {})
        pieces[name] = table[word] if word in table else int(re.sub(r"\D", "", word))
    return pieces


# --- days ---


def add_days(day: date, days: int) -> date:
    """The day `days` later, or earlier if negative; the first or last possible date if it would
    lie beyond.
    """
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.min if days < 0 else date.max


def add_months(day: date, months: int) -> date:
    """The same day of the month `months` later; the last day of that month if it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    length = monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, length))


def add_units(day: date, count: int, unit: str) -> date:
    """The day that is `count` units (days, weeks, months or years) later."""
    if unit in MONTHS_IN:
        return add_months(day, count * MONTHS_IN[unit])
    return add_days(day, int(count * DAYS_IN[unit]))


def months_from(first: date, months: int) -> Span:
    """The first and last day of `months` whole months, which begin on the day `first`."""
    return first, add_days(add_months(first, months), -1)


def unit_around(day: date, unit: str, offset: int) -> Span:
    """The week, weekend, month, quarter or year that contains the day, moved by `offset`
    units.
    """
    monday = add_days(day, 7 * offset - day.weekday())
    if unit == "week":
        return monday, add_days(monday, 6)
    if unit == "weekend":
        return add_days(monday, 5), add_days(monday, 6)
    length = MONTHS_IN[unit]
    passed = (day.month - 1) % length
    first = add_months(day.replace(day=1), offset * length - passed)
    return months_from(first, length)


def part_of_span(span: Span, part: int) -> Span:
    """A third of a month (`part` 0: days 1 to 10, 1: 11 to 20, 2: the rest), or the week of a
    single day (3); any other period is returned whole.
    """
    first, last = span
    if part == 3 and first == last:
        return unit_around(first, "week", 0)
    length = (last - first).days + 1
    if part == 3 or not 28 <= length <= 31:
        return span
    start = add_days(first, 10 * part)
    if part == 2:
        return start, last
    return start, add_days(start, 9)


# --- times by the calendar ---


def days_within_year(pieces: Pieces, year: int) -> Span:
    """The days, in this year, of the day, month, quarter, season or year that the pieces
    name.
    """
    if "day" in pieces:
        day = date(year, pieces["month"], pieces["day"])
        return day, day
    if "month" in pieces:
        return months_from(date(year, pieces["month"], 1), 1)
    if "season" in pieces:
        return months_from(date(year, pieces["season"], 1), 3)
    if "quarter" in pieces:
        return months_from(date(year, 3 * pieces["quarter"] - 2, 1), 3)
    return date(year, 1, 1), date(year, 12, 31)


def calendar_period(pieces: Pieces, when: When) -> Span:
    """The days of the year of the phrase, else the latest that have begun, or ahead the first
    that are not over.
    """
    if "year" in pieces:
        return days_within_year(pieces, pieces["year"])
    step = 1 if when.ahead else -1
    for away in range(9):
        try:
            first, last = days_within_year(pieces, when.today.year + step * away)
        except ValueError:  # no leap year
            continue
        is_meant = last >= when.today if when.ahead else first <= when.today
        if is_meant:
            return first, last
    raise ValueError("no such day")


def named_period_beside(pieces: Pieces, when: When) -> Span:
    """The days of a named month or season: last March, this summer, next summer."""
    which = pieces["which"]
    first, last = calendar_period(pieces, When(when.today, ahead=which > 0))
    if first <= when.today <= last:
        return days_within_year(pieces, first.year + which)
    if which == 0:
        return days_within_year(pieces, when.today.year)
    return first, last


def period_of_year(pieces: Pieces, when: When) -> Span:
    """A month or season of the year that contains today, or one beside it: March last year."""
    return days_within_year(pieces, when.today.year + pieces["which"])


def span_of_range(pieces: Pieces, when: When) -> Span:
    """Days of one month or whole years: Nov 3-7, 2023 to 2025."""
    first, _ = calendar_period(pieces, when)
    other = {"year": first.year}
    for name, number in pieces.items():
        other[name.removeprefix("last_")] = number
    _, last = calendar_period(other, when)
    return first, last


def day_of_month(pieces: Pieces, when: When) -> Span:
    """The latest day with this number in its month, or the next one if `when` looks ahead: the
    3rd.
    """
    step = 1 if when.ahead else -1
    for away in range(62):
        day = add_days(when.today, step * away)
        if day.day == pieces["day"]:
            return day, day
    raise ValueError("no such day")


def numbered_week(pieces: Pieces, when: When) -> Span:
    """A week by its number: week 12 of 2025."""
    monday = date.fromisocalendar(pieces["year"], pieces["number"], 1)
    return monday, add_days(monday, 6)


# --- times by their distance from today ---


def day_near_today(pieces: Pieces, when: When) -> Span:
    """One day close to today: yesterday, this morning."""
    day = add_days(when.today, pieces["near"])
    return day, day


def yesterday_and_today(pieces: Pieces, when: When) -> Span:
    """Yesterday and today."""
    return add_days(when.today, -1), when.today


def day_of_earlier_period(pieces: Pieces, when: When) -> Span:
    """This day last year."""
    day = add_units(when.today, pieces["which"], pieces["unit"])
    return day, day


def least_and_most_units(pieces: Pieces) -> tuple[int, int]:
    """The least and the largest number of units that a phrase means: "a few" is 2 to 5."""
    if "few" in pieces:
        return 2, pieces["few"]
    count = pieces.get("number", 1)
    return count, count


def units_away(pieces: Pieces, when: When) -> Span:
    """A time that is a number of units away: 3 days ago, two weeks from now, in a week."""
    unit = pieces["unit"]
    days: list[date] = []
    for count in least_and_most_units(pieces):
        away = pieces.get("way", 1) * count
        if when.around and unit in MONTHS_IN:
            days += unit_around(when.today, unit, away)
        else:
            days.append(add_units(when.today, away, unit))
    return min(days), max(days)


def time_ahead(pieces: Pieces, when: When) -> Span:
    """In 3 weeks; "in a day" is a speed in a question."""
    is_speed = pieces.get("number") == 1 and pieces["unit"] in ("day", "year")
    if is_speed and not when.around:
        raise ValueError("no time")
    return units_away(pieces, when)


def period_beside_today(pieces: Pieces, when: When) -> Span:
    """Days that end or begin today: the past 10 days, the past year."""
    _, most = least_and_most_units(pieces)
    far = add_units(when.today, pieces["which"] * most, pieces["unit"])
    return min(far, when.today), max(far, when.today)


def calendar_unit_beside(pieces: Pieces, when: When) -> Span:
    """A week, month or year beside the present one: last week, the week before last."""
    return unit_around(when.today, pieces["period"], pieces.get("which", 0))


def day_of_weekday(pieces: Pieces, when: When) -> Span:
    """The day of a weekday within seven days: on Friday, last Friday, this Friday, next
    Friday.
    """
    which = pieces.get("which")
    start = 0
    if which:
        start = 1 if which > 0 else -7
    elif which == 0 and not (when.around or when.ahead):
        start = -when.today.weekday()
    elif which is None and not when.ahead:
        start = -6
    first = add_days(when.today, start)
    away = (pieces["weekday"] - first.weekday()) % 7
    day = add_days(first, away)
    return day, day


def day_of_week(pieces: Pieces, when: When) -> Span:
    """Wednesday of last week."""
    monday, _ = unit_around(when.today, "week", pieces["which"])
    day = add_days(monday, pieces["weekday"])
    return day, day


def weekday_weeks_later(pieces: Pieces, when: When) -> Span:
    """A weekday some weeks behind the next one: Friday in a week."""
    day, _ = day_of_weekday({"weekday": pieces["weekday"]}, When(when.today, ahead=True))
    day = add_units(day, pieces["number"], "week")
    return day, day


def nearest_weekend(pieces: Pieces, when: When) -> Span:
    """The latest weekend, or ahead the next."""
    saturday, _ = day_of_weekday({"weekday": 5}, when)
    return saturday, add_days(saturday, 1)


# --- the table ---

ANY = TIMES.prepositions
FREE = ANY | {""}
BETWEEN = {"between"}

ROWS: dict[frozenset[str], dict[str, Reader]] = {
    FREE: {
        # yesterday, this morning, the day before yesterday
        "(?:the )?<near>": day_near_today,
        # overnight, but not "the overnight job"
        "overnight<ends>": yesterday_and_today,
        # the past 10 days, the past year, but not "the last 10 days of May"
        "(?:the )?<which> <amount>(?! of (?-i:[A-Z]))": period_beside_today,
        "(?:the )?(?P<which>past) <unit>": period_beside_today,
        # last week, this quarter, the week before last
        "(?:the )?<which> <period>(?! of)": calendar_unit_beside,
        "(?:the )?<period> <which>": calendar_unit_beside,
        # the weekend, but not "the weekend trip"
        "the weekend<ends>": nearest_weekend,
        # this day last year, this day two years ago
        "this day <which> <unit>": day_of_earlier_period,
        "this day <amount> <way>": units_away,
        # last Friday, Friday of last week, last week Friday; Friday, but not "Friday standup"
        "(?:the )?<which> <weekday>": day_of_weekday,
        "<weekday>(?: of)? <which> week": day_of_week,
        "<which> week <weekday>": day_of_week,
        "<no_article><day_name><ends>": day_of_weekday,
        # Friday in a week, a week on Friday
        "<weekday> in <number> weeks?": weekday_weeks_later,
        "<number> weeks? on <weekday>": weekday_weeks_later,
        # last November, next summer
        "(?:the )?<which> <month>": named_period_beside,
        "(?:the )?<which> <season>": named_period_beside,
        # 2025-11-03, 2025/11/03, 2025-11-03T10:15Z, 2025-06
        r"(?P<year>\d{4})[-/]<month_number>[-/]<day>"
        r"(?:T[\d:.]+(?:Z|[+-][\d:]+)?)?": calendar_period,
        "<year>-<month_number>(?!-)": calendar_period,
        # 11/03/2025, 13/11/2025, 3.11.2025
        "<month_number>/<day>/<year>": calendar_period,
        r"(?!0|1[0-2])<day>/<month_number>/<year>": calendar_period,
        r"<day>\.<month_number>\.<year>": calendar_period,
        r"^<day>\.<month_number>\.$": calendar_period,
        # Tuesday, November 3rd, 2025; the 3rd of November
        r"(?:<weekday>,? )?<month>\.? (?:the )?<day>(?:,? <year>)?": calendar_period,
        "(?:<weekday>,? )?(?:the )?<day>(?: of)? <month>(?:,? <year>)?": calendar_period,
        # November, November 2024
        "<only_month>": calendar_period,
        r"<month>(?:\.?,?|,? of) <year>": calendar_period,
        # Q3, Q3 2025, 2025 Q3, the second quarter of 2025
        "(?:the )?<quarter>": calendar_period,
        "(?:the )?<quarter>(?:,?| of) <year>": calendar_period,
        "<year> <quarter>": calendar_period,
        # summer 2025
        "(?:the )?<season>(?: of)? <year>": calendar_period,
        # week 12 of 2025
        "week <number>(?:,?| of| in) <year>": numbered_week,
    },
    FREE - TIMES.of_verbs: {
        # 3 days ago, a couple of weeks from now, 10d ago
        "<amount> <way>": units_away
    },
    frozenset(["during"]): {
        # the start of the month
        "the <period>(?! of)": calendar_unit_beside
    },
    frozenset(["in"]): {
        # in 3 weeks, but not "in 10 minutes", which is a speed
        r"(?!\w+ (?:min|h))<amount><ends>": time_ahead
    },
    frozenset(["on"]): {
        # on 3.11., which may be a version elsewhere
        r"<day>\.<month_number>\.": calendar_period
    },
    ANY: {
        # on Fri, since Friday
        "<weekday>": day_of_weekday
    },
    TIMES.of_months: {
        # in May; in May last year, in spring of this year
        "<month>": calendar_period,
        "(?:<month>|<season>),? (?:of )?<which> year": period_of_year,
    },
    TIMES.of_seasons: {
        # during the winter, but not "in spring boot"
        "(?:the )?<season><ends>": calendar_period
    },
    TIMES.of_years: {
        # in 2024, but not "in 2024 rows"
        "<year><no_count>": calendar_period
    },
    TIMES.of_ordinals: {
        # on the 3rd, but not "on the 3rd attempt"
        "the <nth><ends>": day_of_month
    },
    TIMES.of_years | BETWEEN: {
        # from 2023 to 2025
        "<year><to><last_year><no_count>": span_of_range
    },
    FREE | BETWEEN: {
        # Nov 3-7, 3 to 7 November 2025
        r"<month>\.? <day><to><last_day>(?:,? <year>)?": span_of_range,
        "<day><to><last_day> <month>(?:,? <year>)?": span_of_range,
    },
}
"""For each set of prepositions that may stand before a time, where "" means that none stands
there: the patterns of such times, and the function of each.
"""
