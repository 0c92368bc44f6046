"""Periods by the calendar: a date, a month, a week, a feast, a decade.

A reader gets the word where to read, the preposition and whether "the" came before it. None: no time is meant.
"""

from __future__ import annotations

from datetime import date

from ..lexicon import MONTH_NAMES
from .days import feast_day, shift, third_of
from .line import Line, Read, number
from .pieces import Piece, latest, piece_at
from .tables import (
    AFTER_VERB_MAY,
    COUNTED,
    COUNTED_TOO,
    DECADES,
    FEASTS,
    LISTED,
    MEASURES,
    NAMES_TOO,
    OF_DECADES,
    OF_MAY,
    OF_MONTHS,
    OF_ORDINALS,
    OF_SEASONS,
    OF_YEARS,
    ONLY_MONTHS,
    THIRDS,
)


def calendar(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """A date, month, quarter, season or year; without a year the latest that is not in the future."""
    piece = piece_at(line, i)
    certain = _is_meant(line, piece, i, preposition, article) if piece else None
    if piece is None or certain is None:
        return None
    span = latest(piece, line.today)
    return span and Read(*span, piece.at, certain)


def _is_meant(line: Line, piece: Piece, i: int, preposition: str, article: bool) -> bool | None:
    """Whether the piece is certainly a time; None where it is none."""
    if piece.kind == "date":
        return True
    if piece.kind == "day":
        return True if article and preposition in OF_ORDINALS and line.closes(piece.at) else None
    if piece.third is not None:
        return True
    if piece.kind == "year":
        return True if _year_stands(line, piece, i, preposition) else None
    if piece.year is not None or line.word(i) == "month":
        return True
    if piece.kind == "month":
        return None if article or not month_stands(line, piece.at - 1, preposition) else bool(preposition)
    if piece.kind == "season":
        return True if preposition in OF_SEASONS and line.closes(piece.at) else None
    if piece.months == 6:  # H2 is a heading and a database as well
        return None
    return bool(preposition) if preposition or line.capital(i) else None


def month_stands(line: Line, i: int, preposition: str) -> bool:
    """Whether the name of a month that stands alone is one; "may", "March" and "Jan" are other words too."""
    name, capital = line.word(i), line.capital(i)
    if name in ONLY_MONTHS:
        return True
    if capital and name not in NAMES_TOO:
        return preposition in OF_MONTHS
    strict = preposition in OF_MAY or (capital and preposition == "after")
    if not strict or (name == "may" and not capital and line.word(i + 1) in AFTER_VERB_MAY):
        return False
    return capital or name in MONTH_NAMES or line.closes(i + 1)


def _year_stands(line: Line, piece: Piece, i: int, preposition: str) -> bool:
    if line.word(i) == "year":
        return True
    if preposition not in OF_YEARS or line.word(i - 1) == "the":
        return False
    after = line.word(piece.at)
    if after in LISTED and line.word(piece.at + 1).isdigit():
        return False
    if preposition not in ("of", "from", "until"):
        return after not in COUNTED
    before = line.word(i - 2)  # the preposition stands between
    return after not in COUNTED_TOO and before not in MEASURES and piece.year != 2048


def numbered_week(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """week 12 of 2025, 2025-W12; the year may be left out after a preposition."""
    iso_year, _, iso_week = line.word(i).partition("-w")
    if iso_week:
        return _week(int(iso_year), int(iso_week), i + 1)
    i = line.skip(i, "calendar")
    week = line.number(i + 1, 2)
    if line.word(i) != "week" or week is None:
        return None
    year, at = line.year_after(line.skip(i + 2, ",", "of", "in"))
    if year:
        return _week(year, week, at)
    if not preposition or not line.closes(i + 2):
        return None
    this_year = line.today.isocalendar().year
    this = _week(this_year, week, i + 2)
    return _week(this_year - 1, week, i + 2) if this and this.first > line.today else this


def _week(year: int, week: int, at: int) -> Read | None:
    try:
        monday = date.fromisocalendar(year, week, 1)
    except ValueError:
        return None
    return Read(monday, shift(monday, 6), at)


def feast(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """Christmas, Easter, New Year's Eve: with a preposition the latest, or with a year."""
    found = None if article else feast_at(line, i)
    if found is None:
        return None
    name, at = found
    year, after = line.year_after(at)
    if year is None and not (preposition and line.closes(at)):
        return None
    day = feast_day(name, year or line.today.year)
    if year is None and day > line.today:
        day = feast_day(name, line.today.year - 1)
    if name == "christmas" and preposition in ("over", "at", "during"):
        return Read(shift(day, -1), shift(day, 1), after)
    return Read(day, day, after)


def feast_at(line: Line, i: int) -> tuple[str, int] | None:
    """(name, the word after it)."""
    word, following = line.word(i), line.word(i + 1)
    if word not in FEASTS:
        return None
    if word == "new":
        if following not in ("year", "years"):
            return None
        at = i + 4 if line.possessive(i + 2) else i + 2
        return ("new year's eve", at + 1) if line.word(at) == "eve" else ("new year", line.skip(at, "day"))
    if word in ("christmas", "xmas"):
        return ("christmas eve", i + 2) if following == "eve" else ("christmas", line.skip(i + 1, "day"))
    return word, i + 1


def decade(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """the 90s, the 1990s, the early nineties."""
    third = THIRDS.get(line.word(i))
    if third is not None:
        i = line.skip(i + 1, "-")
    i = line.skip(i, "'", "’")
    word = line.word(i)
    first = DECADES.get(word, 0)
    year = number(word[:-1], 4) if word.endswith("0s") and len(word) in (3, 5) else None
    if year is not None:
        first = year if len(word) == 5 else year + (2000 if year < 30 else 1900)
    if not (article and preposition in OF_DECADES and line.closes(i + 1)) or not 1900 <= first <= 2090:
        return None
    span = date(first, 1, 1), date(first + 9, 12, 31)
    return Read(*(span if third is None else third_of(*span, third)), i + 1)
