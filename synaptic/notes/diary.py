"""Finds the date with which a heading begins, in a diary that is one file.

| heading                                       | date, time          | title     |
|-----------------------------------------------|---------------------|-----------|
| `## 2026-03-14`, `# 14 March 2026`            | 2026-03-14          |           |
| `### 2026-03-14 21:10 At sea`                 | 2026-03-14, 21:10   | `At sea`  |
| `## Sat, March 14th, 2026 - At sea`           | 2026-03-14          | `At sea`  |
| `## [[2026-03-14]] (Saturday)`, `# 14.3.2026` | 2026-03-14          |           |
| `## [0.2.0] - 2026-03-14`, `## 14 March`      | none                |           |
| `## 2026-03-14, Version 0.2.0`                | none                |           |
"""

import re
from datetime import date
from typing import NamedTuple

from .dates import date_from_groups

_WEEKDAY = r"(?i:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?i:day)?"
_YEAR = "(?P<year>19[0-9]{2}|20[0-9]{2}|2100)"
_MONTH = (
    r"(?P<name>(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))\.?"
)
_NUMBER = "(?P<day>[0-9]{1,2})"
_FORMS = (
    rf"{_YEAR}(?P<mark>[-/.])(?P<month>[0-9]{{1,2}})(?P=mark){_NUMBER}",
    rf"{_NUMBER}\.[ \t]?(?P<month>[0-9]{{1,2}})\.[ \t]?{_YEAR}",
    rf"{_NUMBER}(?:st|nd|rd|th|\.)?[ \t]+(?:of[ \t]+)?{_MONTH},?[ \t]+{_YEAR}",
    rf"{_MONTH}[ \t]+{_NUMBER}(?:st|nd|rd|th)?,?[ \t]+{_YEAR}",
)
_BEFORE = (
    rf"(?:\[\[?|\*\*|__|<)?(?:{_WEEKDAY}[.,]{{0,2}}[ "
    rf"\t]+|[^\W\d_][^\s\d,.]{{0,20}}[.,]{{1,2}}[ \t]+)?"
)
_BEHIND = (
    rf"(?:(?:\|[^\[\]\n]*)?\]\]?(?!\()|\*\*|__|>)?(?:,?[ \t]+\(?{_WEEKDAY}\)?)?"
    r"(?=[ \t\r\n:,;|(]|\.[ \t\r\n]|T[0-9]|\Z)"
)
_DATES = tuple(re.compile(_BEFORE + form + _BEHIND) for form in _FORMS)
_DASH = r"(?:-|–|—|\xe2\x80[\x93\x94])"  # the last is U+2013 or U+2014 in UTF-8 read as Latin-1
_TO_TIME = re.compile(rf"[T,:@|]?[ \t]*(?:{_DASH}[ \t]+)?")
_RELEASE = re.compile(
    r"[ \t]*[`\[(]*(?:[\w.]{1,20}[ \t])?(?:[Vv]ersion[ "
    r"\t]+[0-9]|v[0-9]+\.[0-9]|[0-9]+\.[0-9]+\.[0-9])"
)
"""Finds the version behind the date of a release, so that changelogs are not read as diaries
(22 changelogs of Node.js and others).
"""
_TO_TITLE = re.compile(rf"[.,:;|]?(?:[ \t]+{_DASH}(?=[ \t]))?")


class DiaryDate(NamedTuple):
    """The date with which a heading begins, the span of the time behind it (empty without a
    time), and the offset where both end.
    """

    day: date
    time: tuple[int, int]
    end: int


def read_date_of_heading(text: str, at: int, time: re.Pattern[str]) -> DiaryDate | None:
    """The date at the offset `at`, where the text of a heading begins; None if there is none.
    `time` is the pattern of a time behind it.
    """
    for form in _DATES:
        match = form.match(text, at)
        day = date_from_groups(match.groupdict()) if match else None
        if match and day:
            clock = time.match(text, _end_of_match(_TO_TIME, text, match.end()))
            if clock:
                return DiaryDate(day, clock.span(), clock.end())
            end = _end_of_match(_TO_TITLE, text, match.end())
            return None if _RELEASE.match(text, end) else DiaryDate(day, (end, end), end)
    return None


def _end_of_match(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
