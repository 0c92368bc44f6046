"""Writes a moment by a format of moment.js, as Obsidian's templates use it. Pure.

| format                 | 2026-03-05 14:07    |
|------------------------|---------------------|
| `YYYY-MM-DD`           | `2026-03-05`        |
| `dddd, MMMM Do`        | `Thursday, March 5th` |
| `gggg-[W]ww`           | `2026-W10`          |
| `h:mm a`               | `2:07 pm`           |

Names are English where no others are given. A letter that is no token stays, and so does text
in brackets, without them.
"""

import re
from calendar import day_abbr, day_name, isleap, month_abbr, month_name
from collections.abc import Callable
from datetime import datetime

from ..models import Texts, frozen


@frozen
class DateNames:
    """The names of months, January first, and of weekdays, Monday first, whole and short."""

    months: Texts
    short_months: Texts
    days: Texts
    short_days: Texts

    def tokens(self, at: datetime) -> dict[str, str]:
        """What each token of moment.js that is a name writes."""
        month, day = at.month - 1, at.weekday()
        return {
            "MMMM": self.months[month],
            "MMM": self.short_months[month],
            "dddd": self.days[day],
            "ddd": self.short_days[day],
            "dd": self.short_days[day][:2],
        }


ENGLISH = DateNames(
    tuple(month_name[1:]), tuple(month_abbr[1:]), tuple(day_name), tuple(day_abbr)
)
_NAMES = ("MMMM", "MMM", "dddd", "ddd", "dd")
_TOKENS: dict[str, Callable[[datetime], object]] = {
    "YYYY": lambda at: f"{at.year:04}",
    "YY": lambda at: f"{at.year % 100:02}",
    "Qo": lambda at: write_ordinal((at.month + 2) // 3),
    "Q": lambda at: (at.month + 2) // 3,
    "MM": lambda at: f"{at.month:02}",
    "Mo": lambda at: write_ordinal(at.month),
    "M": lambda at: at.month,
    "DDDD": lambda at: f"{_day_of_year(at):03}",
    "DDDo": lambda at: write_ordinal(_day_of_year(at)),
    "DDD": lambda at: _day_of_year(at),
    "DD": lambda at: f"{at.day:02}",
    "Do": lambda at: write_ordinal(at.day),
    "D": lambda at: at.day,
    "do": lambda at: write_ordinal(at.isoweekday() % 7),
    "d": lambda at: at.isoweekday() % 7,
    "E": lambda at: at.isoweekday(),
    "GGGG": lambda at: f"{at.isocalendar().year:04}",
    "GG": lambda at: f"{at.isocalendar().year % 100:02}",
    "WW": lambda at: f"{at.isocalendar().week:02}",
    "Wo": lambda at: write_ordinal(at.isocalendar().week),
    "W": lambda at: at.isocalendar().week,
    "gggg": lambda at: f"{_week_from_sunday(at)[0]:04}",
    "gg": lambda at: f"{_week_from_sunday(at)[0] % 100:02}",
    "ww": lambda at: f"{_week_from_sunday(at)[1]:02}",
    "wo": lambda at: write_ordinal(_week_from_sunday(at)[1]),
    "w": lambda at: _week_from_sunday(at)[1],
    "HH": lambda at: f"{at.hour:02}",
    "H": lambda at: at.hour,
    "kk": lambda at: f"{at.hour or 24:02}",
    "k": lambda at: at.hour or 24,
    "hh": lambda at: f"{at.hour % 12 or 12:02}",
    "h": lambda at: at.hour % 12 or 12,
    "mm": lambda at: f"{at.minute:02}",
    "m": lambda at: at.minute,
    "ss": lambda at: f"{at.second:02}",
    "s": lambda at: at.second,
    "SSS": lambda at: f"{at.microsecond // 1000:03}",
    "A": lambda at: "AM" if at.hour < 12 else "PM",
    "a": lambda at: "am" if at.hour < 12 else "pm",
    "X": lambda at: int(at.timestamp()),
    "x": lambda at: int(at.timestamp() * 1000),
    "ZZ": lambda at: f"{at:%z}",
    "Z": lambda at: f"{at:%z}"[:3] + ":" + f"{at:%z}"[3:5],
}
"""What each other token of moment.js writes."""
_LONG = {
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "LLL": "MMMM D, YYYY h:mm A",
    "LL": "MMMM D, YYYY",
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "L": "MM/DD/YYYY",
}
"""Tokens that stand for a whole format, in English."""
_PARTS = re.compile(
    r"\[([^\]]*)\]|" + "|".join([*_LONG, *sorted([*_TOKENS, *_NAMES], key=len)[::-1]])
)


def format_moment(at: datetime, form: str, names: DateNames = ENGLISH) -> str:
    """The aware moment `at` in a format of moment.js, with these names of months and days."""
    words = names.tokens(at)

    def write(part: re.Match[str]) -> str:
        if part[1] is not None:
            return part[1]
        if part[0] in _LONG:
            return format_moment(at, _LONG[part[0]], names)
        if part[0] in words:
            return words[part[0]]
        return str(_TOKENS[part[0]](at))

    return _PARTS.sub(write, form)


def write_ordinal(number: int) -> str:
    """The number as English counts with it: `3rd`."""
    is_teen = number % 100 in (11, 12, 13)
    ending = "th" if is_teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _day_of_year(at: datetime) -> int:
    return at.timetuple().tm_yday


def _week_from_sunday(at: datetime) -> tuple[int, int]:
    """(year, week) of weeks that begin on Sunday; week 1 contains 1 January."""
    saturday = _day_of_year(at) + 6 - at.isoweekday() % 7
    if saturday > 365 + isleap(at.year):
        return at.year + 1, 1
    return at.year, (saturday + 6) // 7
