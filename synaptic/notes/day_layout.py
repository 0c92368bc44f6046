"""The pattern by which the day files of a folder are named. Pure.

A number in a path may be a date or anything else: a course, a room, a chapter. It is taken for
a date only where nothing speaks against it:

| a layout is not guessed if                                        | example                  |
|-------------------------------------------------------------------|--------------------------|
| a file is in another folder than the layout has for its own date  | `2019/2026-07-01.md`     |
| a number stands in it that is no part of the date                 | `Room 2104/%Y-%m-%d.md`  |
| words and a number name its folder, and there is only one such    | `Thesis %Y/%Y-%m-%d.md`  |
| it has a folder for each month, and none for the year             | `%m/%Y-%m-%d.md`         |
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cache
from itertools import product

from ..config import is_day_file_setting
from .dates import are_day_words, date_in_path, fold_letters

MIN_FILES = 3
"""Day files from which on their layout is a habit."""
_SAMPLE = 150
"""Files that are looked at, from all over the folder: one takes up to 30 ms."""
_MOST_TOKENS = 8
USUAL = "%Y-%m-%d.md"
"""The layout of a journal without another one."""
_YEAR = re.compile("19[0-9]{2}|20[0-9]{2}|2100")
_DIRECTIVE = re.compile("(?<!%)%-?([A-Za-z])")
_LONE_NUMBER = re.compile(r"(?i)(?<![^\W_])(?:[ck]?w|q)?[0-9]+(?![^\W_])")
"""A number that is no part of a word; `W27`, `KW27` and `Q3` are weeks and quarters."""
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_WORD = re.compile(r"[^\W_]")
_TOKEN = re.compile(r"([0-9]+|[^\W\d_]+)")
_OF_LENGTH = {8: ("%Y%m%d", "%d%m%Y"), 4: ("%Y",), 2: ("%m", "%d"), 1: ("%-m", "%-d")}
"""By the number of digits, the directives of strftime that may have written them."""


def layout_of(paths: Iterable[str]) -> str:
    """The setting `day_file` by which most day files are named; empty if fewer than MIN_FILES
    share one that is clear, and no folder holds two days and nothing else.

    | paths                            | layout                     |
    |----------------------------------|----------------------------|
    | `log/2026/2026-07/2026-07-13.md` | `log/%Y/%Y-%m/%Y-%m-%d.md` |
    | `2026/7/9.md`, `2026/7/13.md`    | `%Y/%-m/%-d.md`            |
    | `daily/13-07-2026.md`            | `daily/%d-%m-%Y.md`        |

    Where days and months could change places, the layout whose days lie closer together wins.
    """
    all_notes = [path for path in paths if path.endswith(".md")]
    return _layout_of_most(all_notes, MIN_FILES) or _layout_of_two(all_notes)


def _layout_of_two(paths: Sequence[str]) -> str:
    """The layout of the only folder whose notes are the days of two dates; empty without one,
    or with a number in its name.
    """
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(_folder(path), []).append(path)
    pairs = [
        notes
        for folder, notes in folders.items()
        if len(notes) == len(_own_days(notes)) == 2 and not re.search("[0-9]", folder)
    ]
    return _layout_of_most(pairs[0], 2) if len(pairs) == 1 else ""


def _layout_of_most(paths: Iterable[str], least: int) -> str:
    """The clear layout that most files share, at least so many; empty without one."""
    notes = sorted(filter(_YEAR.search, paths))
    own_days = _own_days(notes)
    if len(own_days) >= least:
        notes = list(own_days)
    files: dict[str, dict[str, date]] = {}
    signs: dict[str, set[str]] = {}
    for path in notes[:: len(notes) // _SAMPLE + 1]:
        for pattern, day in _possible_patterns(path):
            padded = pattern.replace("%-", "%")
            files.setdefault(padded, {})[path] = day
            signs.setdefault(padded, set()).update(_zero_padding_signs(pattern, day))

    def rank(pattern: str) -> tuple[int, int, int, bool]:
        days = set(files[pattern].values())
        span = max(days) - min(days)
        is_padded = "bare" not in signs[pattern]
        return len(days), pattern.count("%"), -span.days, is_padded

    for pattern in sorted(sorted(files), key=rank, reverse=True):
        if len(set(files[pattern].values())) < least:
            break
        layout = pattern
        for part in "md":
            if "bare" in signs[pattern] and f"0{part}" not in signs[pattern]:
                layout = layout.replace(f"%{part}", f"%-{part}")
        if _is_clear(layout, files[pattern]) and _do_all_agree(
            layout, files[pattern], own_days
        ):
            return layout
    return ""


def _own_days(paths: Iterable[str]) -> dict[str, date]:
    """The days of the files that tell theirs without a layout."""
    days = {}
    for path in paths:
        named = date_in_path(path, USUAL)
        if named and named.is_day:
            days[path] = named.day
    return days


def _is_clear(layout: str, files: Mapping[str, date]) -> bool:
    """True if each number of a layout is a part of the date, and each folder of a date is one
    that a calendar has.

    That is a folder with no words in its name that says the year, or is in such a folder. Any
    other folder of a date must be there twice, with files whose names say the whole date.
    """
    *folders, stem = layout.removesuffix(".md").split("/")
    parts = _DIRECTIVE.findall(stem)
    if len(set(parts)) < len(parts) or _LONE_NUMBER.search(_fixed_text(stem)):
        return False
    is_below_date = is_in_calendar = False
    for depth, folder in enumerate(folders):
        parts = _DIRECTIVE.findall(folder)
        fixed = _fixed_text(folder)
        if _may_be_date(fixed, is_below_date):
            return False
        if not parts:
            continue
        is_in_calendar = not _WORD.search(fixed) and (is_in_calendar or "Y" in parts)
        is_below_date = True
        is_there_twice = len({path.split("/")[depth] for path in files}) > 1
        if not is_in_calendar and not (is_there_twice and _is_setting(f"{stem}.md")):
            return False
    return True


def _fixed_text(pattern: str) -> str:
    """What a pattern has beside its directives, each of which is a NUL here."""
    return _DIRECTIVE.sub("\0", pattern)


def _may_be_date(fixed: str, is_below_date: bool) -> bool:
    """True if the fixed text of a folder may be a part of the date that the layout does not
    follow: a number, or nothing but the name of a month or weekday in any language.
    """
    if _LONE_NUMBER.search(fixed) or (is_below_date and re.search("[0-9]", fixed)):
        return True
    return bool(_LETTERS.search(fixed)) and are_day_words(fold_letters(fixed))


def _do_all_agree(layout: str, files: Mapping[str, date], own_days: Mapping[str, date]) -> bool:
    """True if the `files` of a layout, and all others in folders like theirs, are where the
    layout puts their own days.
    """
    if any(own_days.get(path, day) != day for path, day in files.items()):
        return False
    kinds = set(map(_kind_of_folder, files))
    for path, day in own_days.items():
        if _kind_of_folder(path) not in kinds:
            continue
        if _folder(day.strftime(layout)) != _folder(path):
            return False
    return True


def _kind_of_folder(path: str) -> str:
    return re.sub("[0-9]+", "0", _folder(path))


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


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
    if ways == ("%Y",) and not _YEAR.fullmatch(part):
        ways = ()
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
