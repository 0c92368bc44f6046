"""Finds the time that a text names, "last week" or "between March and May 2025". Pure; the present day is an argument.

The text is cut into words once (`line`); at each word that can open a phrase readers try in turn. A reader reads a few
words and none calls itself, so the cost grows with the length of the text alone.

| module    | reads                                           |
|-----------|-------------------------------------------------|
| `pieces`  | Nov 3, Q3 2025, early March                     |
| `periods` | the same where it is meant; week 12, Easter     |
| `near`    | yesterday, last week, 3 days ago, Tuesday       |
| `parts`   | end of last month, the week of Nov 3            |
| `pairs`   | between March and May                           |
| `find`    | since, before, until; what stands around        |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from ..lexicon import compiled
from .days import shift
from .line import Line, Read
from .near import amount_ahead
from .pairs import pair
from .parts import period
from .tables import CORES, DIRECTIONS, NEAR_DAYS, OPENERS, PREPOSITIONS, TIMES

LOOKED_AT = 2_000
"""Characters in which a phrase is sought; a question is shorter, a pasted page has no one time."""

_LETTERS = r"[^\W_]+"
_GLUED_BEFORE = r"[\w\\/@#$=]\Z|\w[-.:+&~]{1,2}\Z"
_GLUED_AFTER = r"[\w\\/@(=]|[-.:+&~%'’]{1,2}\w|%"
_RECENT = (
    r"(?<![\w./:@-])(?:recent(?:ly)?|lately|latest|newest"
    r"|last (?:(?:\d{1,3}|few|two|three|five|ten) )?(?:decision|note|entrie|entry|issue|bug|fixe|fix|change|discussion"
    r"|conversation|session|meeting|update|release|deploy|deployment|commit|incident|outage|task|learning|insight|todo"
    r"|solution|pattern|error|failure|thing)s?)(?![\w-]|\.\w)"
)
_LONG_PREPOSITIONS = {"up to": "until", "up until": "until", "up till": "until", "prior to": "before", "as of": "of"}
_AS_IF = ("{}", "{} ago", "on {}", "during {}", "on the {}", "during the {}")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """`start` and `end` are local days, both within; None is no bound. `phrase` stands so in the text."""

    start: date | None
    end: date | None
    phrase: str


class _Bounded(NamedTuple):
    """What a preposition makes of a period; `at` is the word after it."""

    start: date | None
    end: date | None
    at: int
    certain: bool


def find_time(text: str, *, today: date) -> tuple[TimeRange, str] | None:
    """The range that the text names and the text without the phrase; None where no time is meant.

    Of two ranges the first that is certain wins.

    | text                           | on Saturday 2026-11-21               |
    |--------------------------------|--------------------------------------|
    | `tasks done last week`         | 2026-11-09 to 2026-11-15             |
    | `emails after October 12`      | 2026-10-13 to today                  |
    | `between March and May 2025`   | 2025-03-01 to 2025-05-31             |
    | `what broke on Friday`         | 2026-11-20                           |
    | `dentist on Dec 3`             | 2025-12-03, the latest one           |
    | `it may be the pool`, `24/7`   | None                                 |
    """
    if not any(word in CORES or word[0].isdigit() for word in compiled(_LETTERS).findall(text[:LOOKED_AT].lower())):
        return None
    try:
        found = _find(Line(text[:LOOKED_AT], today))
    except (ValueError, OverflowError):  # beyond the years that a date can have
        return None
    if found is None:
        return None
    read, start, end = found
    if read.start and read.end and read.start > read.end:  # cut short at the last of all years
        return None
    return TimeRange(read.start, read.end, text[start:end]), _without(text, start, end)


def read_time(text: str, *, today: date, around: bool = False) -> TimeRange | None:
    """The range of a text that is nothing but a time; None where it is more, or none. `around`: as a note means it.

    A text that stands alone needs no preposition and no capital: `may`, `2025`, `q2`, `weekend`, `10d`.
    """
    for form in _AS_IF:
        line = Line(form.format(text[:LOOKED_AT].title()), today, around=around)
        try:
            read = _phrase(line, 0) if line.words else None
        except (ValueError, OverflowError):
            return None
        if read and read.at == len(line.words) and not (read.start and read.end and read.start > read.end):
            return TimeRange(read.start, read.end, text)
    return None


def is_recent(text: str) -> bool:
    """Whether it asks for the newest: "recent", "latest", "last decision on the cache"."""
    return compiled(_RECENT).search(" ".join(text[:LOOKED_AT].lower().split())) is not None


def _find(line: Line) -> tuple[_Bounded, int, int] | None:
    """The first certain phrase, else the first at all, with its characters."""
    weak = None
    for i, word in enumerate(line.words):
        if word not in OPENERS and not word[0].isdigit():
            continue
        read = _phrase(line, i)
        if read is None or not _stands_alone(line, i, read.at):
            continue
        found = read, line.spans[i][0], line.spans[read.at - 1][1]
        if read.certain:
            return found
        weak = weak or found
    return weak


def _stands_alone(line: Line, i: int, at: int) -> bool:
    """Whether words i to at are no piece of a name, a path, a rule ("every Monday")."""
    start, end = line.spans[i][0], line.spans[at - 1][1]
    if line.word(i - 1) in TIMES.every or compiled(_GLUED_BEFORE).search(line.text[max(0, start - 3) : start]):
        return False
    return compiled(_GLUED_AFTER).match(line.text, end) is None


def _phrase(line: Line, i: int) -> _Bounded | None:
    """What a preposition and a range or a period say together."""
    preposition, j = _preposition(line, i)
    read = (amount_ahead(line, j) if preposition == "in" else None) or pair(line, j, preposition)
    if read:
        return _Bounded(*read)
    if preposition == "between":
        return None
    if preposition == "from" and (opened := period(line, j, "since")) and _goes_onward(line, opened.at):
        return _bounded(line, "since", opened._replace(at=opened.at + 1))
    read = period(line, j, preposition)
    if read is None:
        return None
    read = _with_tail(line, read)
    return _bounded(line, preposition, read) if _joins(line, preposition, j, read) else None


def _preposition(line: Line, i: int) -> tuple[str, int]:
    """(the meaning of the prepositions at i or "", the word after them)."""
    two = f"{line.word(i)} {line.word(i + 1)}"
    if two in _LONG_PREPOSITIONS:
        return _LONG_PREPOSITIONS[two], i + 2
    first = PREPOSITIONS.get(line.word(i))
    if first is None:
        return "", i
    second = PREPOSITIONS.get(line.word(i + 1), "")
    if first in ("from", "in", "of") and second in TIMES.bounds:
        return second, i + 2
    return first, i + 2 if first in TIMES.bounds and second == "around" else i + 1


def _goes_onward(line: Line, i: int) -> bool:
    word, after = line.word(i), line.word(i + 1)
    return word in ("onward", "onwards") or (word == "on" and not after[:1].isalnum())


def _with_tail(line: Line, read: Read) -> Read:
    """The phrase with the part of the day and the possessive that belong to it."""
    at = read.at
    if read.first == read.last and line.word(at) in TIMES.parts_of_day:
        at += 1
    return read._replace(at=at + 2 if line.possessive(at) else at)


def _joins(line: Line, preposition: str, i: int, read: Read) -> bool:
    """Whether the preposition is said of such a period; in "logged in yesterday" it belongs to the verb."""
    if preposition not in ("on", "in", "at", "over") or line.possessive(read.at - 2):
        return True
    single, word = read.first == read.last, line.word(i)
    ago = line.word(read.at - 1) in ("ago", "back")
    if word in NEAR_DAYS or (ago and preposition != "over"):
        return False
    if preposition == "over":
        return ago or not single
    pointed = word in DIRECTIONS and line.amount(i + 1) is None
    if preposition == "in":
        return not single and not pointed
    weekend = "weekend" in line.words[i : i + 2]
    return weekend or (single if preposition == "on" else not pointed)


def _bounded(line: Line, preposition: str, read: Read) -> _Bounded:
    """The range that a preposition makes of a period."""
    start: date | None = read.first
    end: date | None = read.last
    if preposition == "since":
        end = line.today if read.first <= line.today else None
    elif preposition == "after":
        start = shift(read.last, 1)
        end = line.today if start <= line.today else None
    elif preposition == "before" or (preposition == "over" and line.word(read.at - 1) == "ago"):
        start, end = None, shift(read.first, -1)
    elif preposition == "until":
        start = None
    elif preposition == "around" and read.first == read.last:
        start, end = shift(read.first, -3), shift(read.last, 3)
    return _Bounded(start, end, read.at, read.certain)


def _without(text: str, start: int, end: int) -> str:
    """The text without those characters, single-spaced, without the commas and brackets that held the phrase alone."""
    rest = " ".join(f"{text[:start]} {text[end:]}".split())
    rest = re.sub(r"\( ?\)|\[ ?\]|\" ?\"", "", rest)
    rest = re.sub(r" ?[,;] ?([,;.?!])", r"\1", rest)
    rest = re.sub(r"(?<=\w) +([?!.,;])(?!\w)", r"\1", rest)
    rest = " ".join(rest.strip(" ,;:").split())
    return rest if re.search(r"\w", rest) else ""
