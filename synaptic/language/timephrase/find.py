"""Finds the time that a text names, "last week" or "between March and May 2025". Pure; the
present day is an argument.

The text is cut into words once (`line`); at each word that can open a phrase readers try in
turn. A reader reads a few words and none calls itself, so the cost grows with the length of the
text alone. `periods` reads one period; here stands what a preposition or a second period makes
of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

from ..lexicon import compiled
from .days import Span, shift
from .line import TIMES, Line
from .periods import Piece, Read, days_of, nearest, period, piece_at, same_day

LOOKED_AT = 2_000
"""Characters in which a phrase is sought; a question is shorter, a pasted page has no one time.
"""

_OPENERS = "iymwqsdtuoeTnNakzbPIOFB"
"""Letters of the words with which a phrase may begin."""

_TELLING = "[iymwqsdtuoz]"
"""The letters of which every phrase holds one."""

_Bounds = tuple[date | None, date | None]
"""The first day and the last; None is no bound."""

_GLUED_BEFORE = r"[\w\\/@#$=]\Z|\w[-.:+&~]{1,2}\Z"
_GLUED_AFTER = r"[\w\\/@(=]|[-.:+&~%'’]{1,2}\w|%"
_RECENT = (
    r"(?<![\w./:@-])(?:recent|latest|newest"
    r"|last (?:(?:\d{1,3}|few|two|three|five|ten) "
    r")?(?:decision|note|entrie|entry|issue|bug|fixe|fix|change|discussion"
    r"|conversation|session|meeting|update|release|deploy|deployment|commit|incident|outage|task|learning|insight|todo"
    r"|solution|pattern|error|failure|thing)s?)(?![\w-]|\.\w)"
)
_AS_IF = ("{}", "{} ago", "on {}", "during {}", "on the {}", "during the {}")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """`start` and `end` are local days, both within; None is no bound. `phrase` stands so in
    the text.

    `about` is the day where the phrase counts more than days, "two weeks ago", and so means
    days around it too.
    """

    start: date | None
    end: date | None
    phrase: str
    about: date | None = field(default=None, compare=False)


def find_time(text: str, *, today: date) -> tuple[TimeRange, str] | None:
    """The range that the text names and the text without the phrase; None where no time is
    meant.

    Of two ranges the first wins.

    | text                           | on Saturday 2026-11-21               |
    |--------------------------------|--------------------------------------|
    | `tasks done last week`         | 2026-11-09 to 2026-11-15             |
    | `emails after October 12`      | 2026-10-13 to today                  |
    | `between March and May 2025`   | 2025-03-01 to 2025-05-31             |
    | `what broke on Friday`         | 2026-11-20                           |
    | `dentist on Dec 3`             | 2025-12-03, the latest one           |
    | `it may be the pool`, `24/7`   | None                                 |
    """
    try:
        found = _find(Line(text[:LOOKED_AT], today))
    except (ValueError, OverflowError):  # beyond the years that a date can have
        return None
    if found is None or not _is_possible(found[0].start, found[0].end):
        return None
    return found[0], without(text, found[1], found[2])


def read_time(
    text: str, *, today: date, around: bool = False, ahead: bool = False
) -> TimeRange | None:
    """The range of a text that is nothing but a time; None where it is more, or none. `around`:
    as a note means it.

    `ahead`: as what is due means it.

    A text that stands alone needs no preposition and no capital: `may`, `2025`, `q2`,
    `weekend`, `10d`.
    """
    for form in _AS_IF:
        line = Line(form.format(text[:LOOKED_AT].title()), today, around=around, ahead=ahead)
        try:
            found = _phrase(line, 0) if line.words else None
        except (ValueError, OverflowError):
            return None
        if found and found[1] == len(line.words) and _is_possible(*found[0]):
            return TimeRange(*found[0], text, found[2])
    return None


def _is_possible(start: date | None, end: date | None) -> bool:
    """True if the range was not cut short at the first or the last of all years."""
    return not (start and end) or start <= end


def is_recent(text: str) -> bool:
    """True if it asks for the newest: "recent", "latest", "last decision on the cache"."""
    return compiled(_RECENT).search(" ".join(text[:LOOKED_AT].lower().split())) is not None


def _find(line: Line) -> tuple[TimeRange, int, int] | None:
    if not compiled(_TELLING).search(line.kinds):  # most questions name no time
        return None
    for i, kind in enumerate(line.kinds):
        found = _phrase(line, i) if kind in _OPENERS else None
        if found and _stands_alone(line, i, found[1]):
            start, end = line.spans[i][0], line.spans[found[1] - 1][1]
            return TimeRange(*found[0], line.text[start:end], found[2]), start, end
    return None


def _stands_alone(line: Line, i: int, at: int) -> bool:
    """True if words i to at are no piece of a name, a path, a rule ("every Monday")."""
    start, end = line.spans[i][0], line.spans[at - 1][1]
    if line.word(i - 1) in TIMES.every or compiled(_GLUED_BEFORE).search(
        line.text[max(0, start - 3) : start]
    ):
        return False
    return compiled(_GLUED_AFTER).match(line.text, end) is None


def _phrase(line: Line, i: int) -> tuple[_Bounds, int, date | None] | None:
    """(the bounds that a preposition and a range or a period set together, the word after them,
    the day that these are about).
    """
    found = line.match("(?P<P>[PIOFB])", i)
    preposition, j = (found[0]["P"], i + 1) if found else ("", i)
    read = _pair(line, j, preposition)
    if read or preposition == "between":
        return read and ((read.first, read.last), read.at, None)
    read = period(line, j, preposition)
    if read is None:
        return None
    is_near = line.match("t|d[wmsu]", j) or line.kinds[read.at - 1] == "g"
    if (
        preposition in ("in", "on", "at", "over")
        and is_near
        and not same_day(line, j, preposition)
    ):
        # the preposition belongs to the verb: "logged in yesterday", "signed in 3 days ago"
        return None
    at = read.at + (read.first == read.last and line.word(read.at) in TIMES.parts_of_day)
    about = read.first if read.about and preposition in ("", "around") else None
    return _bounds(line, preposition, read), at + 2 if line.possessive(at) else at, about


def _bounds(line: Line, preposition: str, read: Read) -> _Bounds:
    """The first and the last day that a preposition makes of a period."""
    first, last, today = read.first, read.last, line.today
    match preposition:
        case "since":
            return first, today if first <= today else None
        case "after":
            start = shift(last, 1)
            return start, today if start <= today else None
        case "before":
            return None, shift(first, -1)
        case "until" | "by":
            return None, last
        case "around" if first == last:
            return shift(first, -3), shift(last, 3)
    return first, last


# --- from one period to another ---


def _pair(line: Line, i: int, preposition: str) -> Read | None:
    """between March and May 2025, from Nov 3 to Nov 7, Nov 3-7, from last Monday to yesterday."""
    left = _side(line, i)
    j = left and _connected(line, left.at, preposition)
    right = _side(line, j) if j else None
    if left and right and j and _is_meant(line, left, right, preposition):
        span = _joined(line, left, right)
        return span and Read(*span, right.at)
    opened = period(line, i, preposition) if preposition in ("from", "between") else None
    j = opened and _connected(line, opened.at, preposition)
    closed = period(line, j, preposition) if j else None
    return (
        Read(min(opened[:2] + closed[:2]), max(opened[:2] + closed[:2]), closed.at)
        if opened and closed
        else None
    )


def _connected(line: Line, i: int, preposition: str) -> int | None:
    """The word after "to" or a dash at i."""
    joins = {"between": ("and",), "from": ("until", "till")}.get(preposition, ())
    return (
        i + 1
        if line.word(i) in ("to", "through", *joins) or line.kinds[i : i + 1] == "-"
        else None
    )


def _side(line: Line, i: int) -> Piece | None:
    """One side of a pair: a piece, or a day alone, of kind "n", whose month the other side
    names.
    """
    i += line.word(i) == "the"
    found = line.match("(?P<n>[no])(?:,?(?P<y>y))?", i)
    return piece_at(line, i) or (
        Piece("n", found[1], found[0].get("y"), day=found[0]["n"]) if found else None
    )


def _is_meant(line: Line, left: Piece, right: Piece, preposition: str) -> bool:
    """True if the two are the ends of one range."""
    kinds, opened = {left.kind, right.kind}, preposition in ("from", "between")
    if "n" in kinds:
        is_dashed = line.kinds[left.at] == "-"
        return (
            "i" in kinds
            and left.year is None
            and (right.kind == "i" or is_dashed or line.closes(right.at))
        )
    if "y" in kinds:
        return line.word(right.at) not in TIMES.counted and (
            opened or (bool(preposition) and len(kinds) == 1)
        )
    return opened or "i" in kinds or left.year is not None or right.year is not None


def _joined(line: Line, left: Piece, right: Piece) -> Span | None:
    """The days from one piece to the other, which share the year or the month that only one
    names.
    """
    if left.kind == "n":
        left = left._replace(kind="i", month=right.month)
    if right.kind == "n":
        right = right._replace(kind="i", month=left.month)
    if left.year is None and right.year is not None:
        opened, closed = days_of(left, right.year), days_of(right, right.year)
        if opened and closed and opened[0] > closed[1]:
            opened = days_of(left, right.year - 1)
    else:
        opened = nearest(line, left)
        years = (
            range(opened[0].year, opened[0].year + 2)
            if opened and right.year is None
            else (right.year or 0,)
        )
        spans = (days_of(right, year) for year in years)
        closed = next(
            (
                span
                for span in spans
                if span and opened and (right.year or span[1] >= opened[0])
            ),
            None,
        )
    return (min(opened[0], closed[0]), max(opened[1], closed[1])) if opened and closed else None


def without(text: str, start: int, end: int) -> str:
    """The text without those characters, single-spaced, without the commas and brackets that
    held the phrase alone.
    """
    rest = " ".join(f"{text[:start]} {text[end:]}".split())
    rest = re.sub(r"\( ?\)|\[ ?\]|\" ?\"", "", rest)
    rest = re.sub(r" ?[,;] ?([,;.?!])", r"\1", rest)
    rest = re.sub(r"(?<=\w) +([?!.,;])(?!\w)", r"\1", rest)
    rest = " ".join(rest.strip(" ,;:").split())
    return rest if re.search(r"\w", rest) else ""
