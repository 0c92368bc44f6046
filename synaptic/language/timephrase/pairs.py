"""From one period to another: "between March and May 2025", "Nov 3-7", "from last Monday to yesterday"."""

from __future__ import annotations

from ..lexicon import WEEKDAYS
from .days import Span, day_from, shift
from .line import Line, Read
from .parts import period
from .pieces import Piece, days_of, first_from, latest, piece_at
from .tables import COUNTED_TOO, DASHES, ONLY_MONTHS


def pair(line: Line, i: int, preposition: str) -> Read | None:
    """between March and May 2025, from Nov 3 to Nov 7, Nov 3-7, from last Monday to yesterday."""
    if left := _side(line, i):
        j = _connected(line, left.at, preposition)
        right = _side(line, j) if j else None
        if j and right and _is_meant(line, left, right, j, preposition):
            span = _joined(left, right, line)
            return span and Read(*span, right.at)
    return _loose_pair(line, i, preposition) if preposition in ("between", "from", "since") else None


def _loose_pair(line: Line, i: int, preposition: str) -> Read | None:
    """Two periods of any kind: from last Monday to yesterday, between June and now."""
    opened = period(line, i, preposition)
    j = opened and _connected(line, opened.at, "from" if preposition == "since" else preposition)
    if not opened or not j:
        return None
    now = line.skip(j, "the") if line.word(j + 1) == "present" else j
    if line.word(now) in ("now", "present"):
        return Read(opened.first, line.today, now + 1) if opened.first <= line.today else None
    closed = period(line, j, preposition)
    if closed is None:
        return None
    first, last = opened.first, closed.last
    if last < first and line.word(j) in WEEKDAYS:
        last = shift(last, 7)
    return Read(min(first, last), max(opened.last, last), closed.at)


def _connected(line: Line, i: int, preposition: str) -> int | None:
    """The word after "to" or a dash at i."""
    word = line.word(i)
    if preposition == "from" and word == "up" and line.word(i + 1) == "to":
        return i + 2
    joins = {"between": ("and",), "from": ("until", "till", "til", "thru")}.get(preposition, ())
    return i + 1 if word in ("to", "through", *joins) or word in DASHES else None


def _side(line: Line, i: int) -> Piece | None:
    """One side of a pair: a piece, or a day alone whose month the other side names."""
    i = line.skip(i, "the")
    piece = piece_at(line, i)
    if piece and piece.kind != "day":
        return piece
    found = line.day_of_month(i)
    if found is None:
        return None
    day, is_ordinal = found
    year, at = line.year_after(i + 1)
    return Piece("day" if is_ordinal else "number", at, year, day=day)


def _is_meant(line: Line, left: Piece, right: Piece, start: int, preposition: str) -> bool:
    """Whether the two are the ends of one range; `start` is where the right one begins."""
    opened = preposition in ("from", "between")
    if left.kind in ("day", "number"):
        if right.kind == "day":
            return opened and left.kind == "day" and line.closes(right.at)
        return right.kind == "date"
    if right.kind in ("day", "number"):
        sure = line.word(start - 1) in DASHES or right.kind == "day" or right.year is not None
        return left.kind == "date" and left.year is None and (sure or line.closes(right.at))
    if right.kind == "year" and line.word(right.at) in COUNTED_TOO:
        return False
    if "year" in (left.kind, right.kind):
        return opened or (bool(preposition) and left.kind == right.kind)
    if opened or left.day or right.day or left.year or right.year or left.third is not None:
        return True
    if left.kind != "month" or right.kind != "month":
        return left.kind == right.kind == "quarter"
    return all(piece.name[:1].isupper() or piece.name.lower() in ONLY_MONTHS for piece in (left, right))


def _joined(left: Piece, right: Piece, line: Line) -> Span | None:
    """The days from one piece to the other, which share the year or the month that only one names."""
    today = line.today
    if left.kind in ("day", "number") and right.month:
        left = left._replace(kind="date", month=right.month)
    if right.kind in ("day", "number") and left.month:
        right = right._replace(kind="date", month=left.month)
    if left.kind == "day":
        opened = latest(left, today)
        closed = opened and day_from(right.day or 1, opened[0])
        return (opened[0], closed) if opened and closed else None
    if left.year is None and right.year is not None:
        opened, closing = days_of(left, right.year), days_of(right, right.year)
        if opened and closing and opened[0] > closing[1]:
            opened = days_of(left, right.year - 1)
    else:
        opened = latest(left, today)
        closing = first_from(right, opened[0]) if opened and right.year is None else latest(right, today)
    if not opened or not closing:
        return None
    return min(opened[0], closing[0]), max(opened[1], closing[1])
