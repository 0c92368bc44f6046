"""Finds the day on which a task is due: `Call 📅 2026-11-27`, `Call due [[Nov 27th, 2026]]`,
`[due:: 27.11.2026]`, `DEADLINE: <2026-11-27 Fri>`. Pure.
"""

import re
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from .dates import day_at_start

_LINK = r"[ ]?(?:\[\[)?"
_DUE = re.compile(
    r"[ ]?[@\[(]?(?:\b(?i:due)(?:::?|(?=[ (]))[ (]?(?:by |on )?|[📅📆🗓]\ufe0f?"
    rf"|\bDEADLINE:[ ]*<){_LINK}"
)
"""Stands before the date on which a task is due: `due 2026-11-30`, `[due:: 30.11.2026]`."""
_SCHEDULED = re.compile(rf"[ ]?(?:[⏳⌛]\ufe0f?|\bSCHEDULED:[ ]*<){_LINK}")
_LONGEST_DATE = 40
_ISO = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_WEEKDAY = re.compile(r"[ ,]{1,2}(?P<name>[^\W\d_]+)\b")
_TIME = re.compile("(?:[T ][0-9]{1,2}:[0-9]{2})?")
_END_OF_STAMP = re.compile(r"[^<>\n]*>(?:--<[^<>\n]*>)?")
_OPENERS = re.compile(r"\[\[|[\[(]")
_ENDS = {"[[": "]]", "[": "]", "(": ")"}
_REST_OF_BRACKETS = re.compile(r"[^\[\]()\n]*")
_NEXT_BLOCK = re.compile(r"(?m)^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]|#|$)")


class DueMark(NamedTuple):
    """The mark with the `day`, as `2026-11-30`, in the text of a task: the span `start:end`,
    with the date at `date_start:date_end`, and the end of the weekday behind it. Written so,
    the day may be one that no calendar has. `behind` closes the brackets that the mark opens.
    """

    day: str
    start: int
    date_start: int
    date_end: int
    weekday_end: int
    end: int
    behind: str

    def remove(self, text: str) -> str:
        return text[: self.start] + text[self.end :]


def cut_block(plain: str, at: int) -> str:
    """The line of a task at the offset `at`, and the lines that belong to it."""
    line_end = plain.find("\n", at)
    following = _NEXT_BLOCK.search(plain, line_end + 1) if line_end >= 0 else None
    return plain[at : following.start() if following else len(plain)]


def find_due_mark(text: str) -> DueMark | None:
    """The mark by which a task is due: the first with its day, else the first with the day on
    which it is scheduled; None without one.
    """
    for label in (_DUE, _SCHEDULED):
        for match in label.finditer(text):
            line = text[match.end() : match.end() + _LONGEST_DATE].partition("\n")[0]
            iso = _ISO.match(line)
            read = None if iso else day_at_start(line)
            if iso:
                return _complete_mark(text, match, iso[0], iso.end())
            if read:
                return _complete_mark(text, match, read[0].isoformat(), read[1])
    return None


def _complete_mark(text: str, label: re.Match[str], day: str, length: int) -> DueMark:
    date_end = label.end() + length
    is_stamp = label[0].endswith("<")
    weekday_end = _end_of_weekday(text, date_end, day, is_stamp)
    start = label.start()
    stamp_end = _END_OF_STAMP.match(text, weekday_end) if is_stamp else None
    if stamp_end:
        return DueMark(day, start, label.end(), date_end, weekday_end, stamp_end.end(), ">")
    time = _TIME.match(text, weekday_end)
    end = time.end() if time else weekday_end
    openers = _OPENERS.findall(label[0])
    for opener in reversed(openers):
        rest = _REST_OF_BRACKETS.match(text, end)
        if text.startswith(_ENDS[opener], end):
            end += len(_ENDS[opener])
        elif label[0].lstrip().startswith(opener) and "::" not in label[0]:
            start = text.index(opener, start) + len(opener)  # its brackets hold more
            openers.remove(opener)
        elif rest and text.startswith(_ENDS[opener], rest.end()):
            end = rest.end() + len(_ENDS[opener])
    behind = "".join(_ENDS[opener] for opener in reversed(openers))
    return DueMark(day, start, label.end(), date_end, weekday_end, end, behind)


def _end_of_weekday(text: str, at: int, day: str, is_stamp: bool) -> int:
    """The end of the name of the weekday of this day behind the offset `at`, or else `at`."""
    match = _WEEKDAY.match(text, at)
    if match and is_stamp:
        return match.end()
    with suppress(ValueError):  # no calendar has the day
        name = f"{date.fromisoformat(day):%A}".lower()
        if match and match["name"].lower() in (name, name[:3]):
            return match.end()
    return at


def remove_due_date(text: str) -> str:
    """The text of a task without its due date."""
    mark = find_due_mark(text)
    return mark.remove(text).strip() if mark else text.strip()
