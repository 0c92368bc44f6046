"""A stretch of the calendar as it is written: "Nov 3", "Q3 2025", "early March", "2025-06"."""

from __future__ import annotations

from calendar import monthrange
from datetime import date
from typing import NamedTuple

from ..lexicon import MONTH_NAMES, MONTHS, WEEKDAYS
from .days import Span, add_months, last_of_months, third_of
from .line import Line, number
from .tables import COUNTED, HALVES, ORDINALS, QUARTERS, SEASONS, SPRINGS, THIRDS


class Piece(NamedTuple):
    """Its year may be left out, of a "day" its month too. `at` is the word after it.

    `kind` is date, day, month, quarter (also half a year), season or year; `name` is that of a month as written.
    """

    kind: str
    at: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    months: int = 1
    third: int | None = None
    name: str = ""


def piece_at(line: Line, i: int) -> Piece | None:
    """The date, month, quarter, season or year at i, "early", "mid" or "late" before it."""
    third = THIRDS.get(line.word(i))
    if third is None:
        return _whole(line, i)
    inner = _whole(line, line.skip(i + 1, "-", "in"))
    return inner._replace(third=third) if inner and inner.day is None else None


def _whole(line: Line, i: int) -> Piece | None:
    if line.word(i) in WEEKDAYS:
        day = _dated(line, line.skip(line.skip(i + 1, ",", "."), "the"))
        return day if day and day.day and day.month else None
    if line.word(i) == "month" and line.word(i + 1) == "of":
        month = _dated(line, i + 2)
        return month if month and month.kind == "month" else None
    return _dated(line, i) or _quarter(line, i) or _season(line, i) or _year(line, i)


def _dated(line: Line, i: int) -> Piece | None:
    """Nov 3, 3 Nov 2025, November 3rd, 2025, the 3rd of November, November 2025, November; the 3rd."""
    return _numeric(line, i) or day_first(line, i) or _month_first(line, i)


def _numeric(line: Line, i: int) -> Piece | None:
    """2025-11-03, 2025-06, 11/03/2025 (month first), 3.11.2025 (day first)."""
    word = line.word(i)
    sign = next((sign for sign in "-/." if sign in word[1:]), None)
    if sign is None:
        return None
    parts = word.partition("t")[0].split(sign)
    if not all(part.isdigit() for part in parts):
        return None
    numbers = [int(part) for part in parts]
    if len(parts[0]) == 4:
        year, month, day = [*numbers, 0][:3]
    elif sign == ".":
        day, month, year = numbers
    else:
        month, day, year = numbers if numbers[0] <= 12 else (numbers[1], numbers[0], numbers[2])
    if not (1900 <= year <= 2100 and 1 <= month <= 12):
        return None
    return Piece("date", i + 1, year, month, day) if day else Piece("month", i + 1, year, month)


def day_first(line: Line, i: int) -> Piece | None:
    """3 Nov 2025, the 3rd of November, first of May; the 3rd."""
    found = line.day_of_month(i)
    ordinal = ORDINALS.get(line.word(i), 0)
    if found is None and ordinal > 0 and line.word(i + 1) == "of":
        found = ordinal, True
    if found is None:
        return None
    day, is_ordinal = found
    j = line.skip(i + 1, "of") if is_ordinal else i + 1
    month = MONTHS.get(line.word(j))
    if month is None:
        return Piece("day", i + 1, day=day) if is_ordinal and line.word(i + 1) != "of" else None
    year, at = line.year_after(j + 1)
    is_verb = line.word(j) in ("may", "march", "mar", "dec", "sep") and not line.capital(j)
    if is_verb and not is_ordinal and year is None:
        return None
    return Piece("date", at, year, month, day)


def _month_first(line: Line, i: int) -> Piece | None:
    month = MONTHS.get(line.word(i))
    if month is None:
        return None
    j = i + 1
    if line.word(j) == "." and line.day_of_month(j + 1) and line.word(i) not in MONTH_NAMES:
        j += 1
    if line.word(j) == "the" and line.day_of_month(j + 1):
        j += 1
    found = line.day_of_month(j)
    if found is None:
        year, at = line.year_after(i + 1, of=True)
        return Piece("month", at, year, month, name=line.written[i])
    day, is_ordinal = found
    year, at = line.year_after(j + 1)
    is_verb = line.word(i) in ("may", "march") and not line.capital(i)
    if is_verb and not is_ordinal and year is None and not line.closes(at):
        return None
    return None if line.word(j + 1) in COUNTED else Piece("date", at, year, month, day)


def _quarter(line: Line, i: int) -> Piece | None:
    """Q3 2025, 2025 Q3, 2025Q3, the third quarter of 2025, H1 2025."""
    word = line.word(i)
    glued = number(word[:4], 4)
    if len(word) == 6 and glued is not None and word[4:] in QUARTERS:
        return Piece("quarter", i + 1, glued, 3 * QUARTERS[word[4:]] - 2, months=3)
    before = line.year(i)
    j = i + 1 if before else i
    word, at, months = line.word(j), j + 1, 3
    count = QUARTERS.get(word)
    if word in HALVES:
        count, months = HALVES[word], 6
    elif ORDINALS.get(word, 0) in (1, 2, 3, 4) and line.word(j + 1) == "quarter":
        count, at = ORDINALS[word], j + 2
    if count is None:
        return None
    year, at = (before, at) if before else line.year_after(line.skip(at, "/"), of=True)
    return Piece("quarter", at, year, months * count - months + 1, months=months)


def _season(line: Line, i: int) -> Piece | None:
    """spring, summer of 2025, winter 2025/26."""
    month = SEASONS.get(line.word(i))
    if month is None or line.word(i + 1) in SPRINGS:
        return None
    year, at = line.year_after(i + 1, of=True)
    is_split = year and line.word(at) in ("/", "-", "–") and line.word(at + 1) == f"{(year + 1) % 100:02}"
    return Piece("season", at + 2 if is_split else at, year, month, months=3)


def _year(line: Line, i: int) -> Piece | None:
    j = line.skip(i, "year")
    year = line.year(j)
    return Piece("year", j + 1, year) if year else None


# --- its days ---


def days_of(piece: Piece, year: int) -> Span | None:
    """The days of a piece in that year; None where it has no such day."""
    if not 1 <= year <= 9999:
        return None
    month = piece.month or 1
    if piece.kind == "date":
        if not 1 <= (piece.day or 0) <= monthrange(year, month)[1]:
            return None
        day = date(year, month, piece.day or 1)
        return day, day
    first = date(year, month, 1)
    last = last_of_months(first, 12 if piece.kind == "year" else piece.months)
    return (first, last) if piece.third is None else third_of(first, last, piece.third)


def latest(piece: Piece, today: date) -> Span | None:
    """The days of a piece, of the latest that has begun where no year is given."""
    if piece.kind == "day":
        months = (add_months(today.replace(day=1), -back) for back in range(3))
        spans = (days_of(Piece("date", 0, month=first.month, day=piece.day), first.year) for first in months)
    elif piece.year is not None:
        return days_of(piece, piece.year)
    else:
        spans = (days_of(piece, year) for year in range(today.year, max(0, today.year - 9), -1))
    return next((span for span in spans if span and span[0] <= today), None)


def first_from(piece: Piece, day: date) -> Span | None:
    """The first such piece that ends on that day or later."""
    spans = (days_of(piece, year) for year in range(day.year, min(day.year + 9, 9999)))
    return next((span for span in spans if span and span[1] >= day), None)
