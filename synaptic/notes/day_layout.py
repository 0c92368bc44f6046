"""The pattern by which the day files of a folder are named. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import cache
from itertools import product

from ..config import is_day_file_setting
from .dates import is_day_file

MIN_FILES = 3
"""Day files from which on their layout is a habit."""
_SAMPLE = 150
"""Files that are looked at, from all over the folder: one takes up to 30 ms."""
_MOST_TOKENS = 8
USUAL = "%Y-%m-%d.md"
"""The layout of a journal without another one."""
_YEAR = re.compile("19[0-9]{2}|20[0-9]{2}")
_TOKEN = re.compile(r"([0-9]+|[^\W\d_]+)")
_OF_LENGTH = {8: ("%Y%m%d", "%d%m%Y"), 4: ("%Y",), 2: ("%m", "%d"), 1: ("%-m", "%-d")}
"""By the number of digits, the directives of strftime that may have written them."""


def layout_of(paths: Iterable[str]) -> str:
    """The setting `day_file` by which most day files are named; empty if fewer than MIN_FILES
    share one.

    | paths                            | layout                     |
    |----------------------------------|----------------------------|
    | `log/2026/2026-07/2026-07-13.md` | `log/%Y/%Y-%m/%Y-%m-%d.md` |
    | `2026/7/9.md`, `2026/7/13.md`    | `%Y/%-m/%-d.md`            |
    | `daily/13-07-2026.md`            | `daily/%d-%m-%Y.md`        |

    Where days and months could change places, the layout whose days lie closer together wins.
    """
    notes = sorted(path for path in paths if path.endswith(".md") and _YEAR.search(path))
    of_days = [path for path in notes if is_day_file(path, USUAL)]
    if len(of_days) >= MIN_FILES:
        notes = of_days
    days: dict[str, set[date]] = {}
    signs: dict[str, set[str]] = {}
    for path in notes[:: len(notes) // _SAMPLE + 1]:
        for pattern, day in _possible_patterns(path):
            padded = pattern.replace("%-", "%")
            days.setdefault(padded, set()).add(day)
            signs.setdefault(padded, set()).update(_zero_padding_signs(pattern, day))

    def rank(pattern: str) -> tuple[int, int, int, bool]:
        span = max(days[pattern]) - min(days[pattern])
        is_padded = "bare" not in signs[pattern]
        return len(days[pattern]), pattern.count("%"), -span.days, is_padded

    best = max(sorted(days), key=rank, default="")
    if not best or len(days[best]) < MIN_FILES:
        return ""
    layout = best
    for part in "md":
        if "bare" in signs[best] and f"0{part}" not in signs[best]:
            layout = layout.replace(f"%{part}", f"%-{part}")
    return layout


def _zero_padding_signs(pattern: str, day: date) -> Iterator[str]:
    """`bare` if a number below ten has no zero before it, `0m` and `0d` if one has."""
    if "%-" in pattern:
        yield "bare"
    if "%m" in pattern and day.month < 10:
        yield "0m"
    if "%d" in pattern and day.day < 10:
        yield "0d"


def _possible_patterns(path: str) -> Iterator[tuple[str, date]]:
    """Each pattern of a whole date that this path may be written by, and its day."""
    parts = _TOKEN.split(path.removesuffix(".md"))
    ways = [_possible_directives(part) if at % 2 else (part,) for at, part in enumerate(parts)]
    if not 0 < sum(len(each) > 1 for each in ways) <= _MOST_TOKENS:
        return
    for chosen in product(*ways):
        day = _parse_day(parts, chosen)
        pattern = f"{''.join(chosen)}.md"
        if day and day.strftime(pattern) == path and _is_setting(pattern):
            yield pattern, day


def _possible_directives(part: str) -> Sequence[str]:
    """The part itself, and the directives that may have written it."""
    ways = _OF_LENGTH.get(len(part), ()) if part.isdigit() else _directives_of_word(part)
    return (part.replace("%", "%%"), *ways)


@cache
def _directives_of_word(word: str) -> Sequence[str]:
    ways = []
    for number in range(1, 13):
        day = date(2026, 11, number)  # all seven days of a week
        month = date(2026, number, 1)
        ways += [way for way in ("%A", "%a") if day.strftime(way) == word]
        ways += [way for way in ("%B", "%b") if month.strftime(way) == word]
    return tuple(dict.fromkeys(ways))


def _parse_day(parts: Sequence[str], chosen: Sequence[str]) -> date | None:
    """The day that the numbers of a path are by these directives."""
    numbers: dict[str, int] = {}
    for part, way in zip(parts, chosen, strict=True):
        if way == "%Y%m%d":
            numbers |= {"Y": int(part[:4]), "m": int(part[4:6]), "d": int(part[6:])}
        elif way == "%d%m%Y":
            numbers |= {"d": int(part[:2]), "m": int(part[2:4]), "Y": int(part[4:])}
        elif way in ("%B", "%b"):
            months = [date(2026, number, 1).strftime(way) for number in range(1, 13)]
            numbers["m"] = months.index(part) + 1
        elif way in ("%Y", "%m", "%d", "%-m", "%-d"):
            numbers[way[-1]] = int(part)
    with suppress(KeyError, ValueError):
        return date(numbers["Y"], numbers["m"], numbers["d"])
    return None


_is_setting = cache(is_day_file_setting)
