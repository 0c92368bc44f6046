"""Periods by their distance from today: "yesterday", "last week", "3 days ago", "Tuesday"."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from ..lexicon import MONTHS, SHORT_DAYS, WEEKDAYS
from .days import (
    DAYS_IN,
    MONTHS_IN,
    Span,
    add_months,
    feast_day,
    last_of_months,
    move,
    shift,
    weekday_from,
    weekday_until,
)
from .line import Line, Read
from .periods import feast, feast_at, month_stands
from .pieces import Piece, day_first, days_of, latest
from .tables import (
    DIRECTIONS,
    FEASTS,
    LAST,
    NEAR_DAYS,
    NEXT,
    NOT_BEFORE_A_DAY,
    ORDINALS,
    PARTS_OF_DAY,
    SEASONS,
    SPRINGS,
    THIS,
    UNIT_NAMES,
)


def near_day(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """today, yesterday, this morning, last night, earlier this week."""
    word, following, today = line.word(i), line.word(i + 1), line.today
    if article:
        return None
    if word in NEAR_DAYS:
        return _day(shift(today, NEAR_DAYS[word]), i + 1)
    if word == "this" and following in PARTS_OF_DAY:
        return _day(today, i + 2)
    if word == "last" and following in ("night", "evening"):
        return _day(shift(today, -1), i + 2)
    if word in ("earlier", "later") and following in ("today", "this"):
        read = _day(today, i + 2) if following == "today" else pointed(line, i + 1, "", False)
        if read and read.first <= today <= read.last:
            return read._replace(last=today) if word == "earlier" else read._replace(first=today)
    return None


def ago(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """3 days ago, a month ago, two weeks from now; two days before Christmas."""
    amount = None if article else line.amount(i)
    if amount is None:
        return None
    least, most, unit, at = amount
    word, following = line.word(at), line.word(at + 1)
    if word in ("ago", "back"):
        return Read(move(line.today, -most, unit), move(line.today, -least, unit), at + 1)
    if word == "from" and following in ("now", "today"):
        return Read(move(line.today, least, unit), move(line.today, most, unit), at + 2)
    if word in ("before", "after") and unit in DAYS_IN and following in FEASTS:
        other = feast(line, at + 1, "on", False)
        return other and _day(move(other.first, -most if word == "before" else most, unit), other.at)
    return None


def amount_ahead(line: Line, i: int) -> Read | None:
    """in 3 days, in a week; not "in a day", which is a speed."""
    amount = line.amount(i)
    if amount is None:
        return None
    least, most, unit, at = amount
    if at < i + 2 or unit in ("hour", "minute") or (most == 1 and unit in ("day", "year")) or not line.closes(at):
        return None
    return Read(move(line.today, least, unit), move(line.today, most, unit), at)


def weekday(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """The latest such day on or before today; "Tuesday last week" is that week's."""
    name, following = line.word(i), line.word(i + 1)
    if name not in WEEKDAYS or article or following in ("mornings", "afternoons", "evenings", "nights"):
        return None
    j = line.skip(i + 1, "of", "in")
    if line.word(j) in DIRECTIONS and line.word(j + 1) == "week":
        first, _ = unit_around(line, "week", DIRECTIONS[line.word(j)])
        return _day(weekday_from(first, WEEKDAYS[name]), j + 2)
    closes = line.closes(i + 1) or line.possessive(i + 1) or following in PARTS_OF_DAY
    if name in SHORT_DAYS and not (preposition and closes and line.capital(i)):
        return None
    if not preposition and (not closes or line.word(i - 1) in NOT_BEFORE_A_DAY or line.word(i - 1) in ORDINALS):
        return None
    dated = day_first(line, i + 2) if following == "the" else None
    if dated and dated.kind == "day" and line.closes(dated.at):
        span = latest(dated, line.today)
        return span and Read(*span, dated.at)
    day = weekday_until(line.today, WEEKDAYS[name])
    return Read(day, day, i + 1, certain=bool(preposition))


def current(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """The weekend after a preposition; of "the end of the month" the month."""
    word = line.word(i)
    if not article or not preposition or not line.closes(i + 1):
        return None
    if word == "weekend":
        saturday = weekday_until(line.today, 5)
        return Read(saturday, shift(saturday, 1), i + 1)
    if word in ("week", "month", "quarter", "year") and preposition == "share":
        return Read(*unit_around(line, word, 0), i + 1)
    return None


def unit_around(line: Line, unit: str, offset: int) -> Span:
    """The week, weekend, month, quarter or year that many after the present one."""
    today = line.today
    if unit == "week":
        first = shift(weekday_until(today, line.week_start), 7 * offset)
        return first, shift(first, 6)
    if unit == "weekend":
        saturday = shift(today, 5 - today.weekday() + 7 * offset)
        return saturday, shift(saturday, 1)
    length = MONTHS_IN[unit]
    first = add_months(date(today.year, (today.month - 1) // length * length + 1, 1), offset * length)
    return first, last_of_months(first, length)


# --- last, this, next ---


def pointed(line: Line, i: int, preposition: str, article: bool) -> Read | None:
    """last week, this quarter, next Tuesday, past 10 days, last summer, next March."""
    direction = DIRECTIONS.get(line.word(i))
    if direction is None:
        return None
    is_rolling = line.word(i) == "past"
    if direction == THIS and line.word(i + 1) in ("past", "last", "coming"):
        i += 1
        direction, is_rolling = DIRECTIONS[line.word(i)], line.word(i) != "coming"
    word = line.word(i + 1)
    if read := _rolling(line, i + 1, direction, single=is_rolling) or _unit(line, i + 1, direction):
        return read
    if word in WEEKDAYS:
        return _pointed_weekday(line, i + 1, direction)
    at, spans = i + 2, _spans(line, i + 1, direction)
    if word in FEASTS and (named := feast_at(line, i + 1)) and line.closes(named[1]):
        name, at = named
        days = [feast_day(name, line.today.year + offset) for offset in (-1, 0, 1)]
        spans = [(day, day) for day in days]
    nearest = _nearest(spans, direction, line.today)
    return nearest and Read(*nearest, at)


def _rolling(line: Line, i: int, direction: int, *, single: bool) -> Read | None:
    """Days that end or begin today: the past 10 days, the last few weeks, the past year."""
    word = line.word(i)
    amount = line.amount(i) if direction != THIS and word not in ("a", "an") else None
    if amount:
        _, most, unit, at = amount
    elif word in UNIT_NAMES and (single or word in ("hour", "fortnight", "decade")) and direction != THIS:
        most, unit, at = (365, "day", i + 1) if word == "year" else (1, word, i + 1)
    else:
        return None
    far = move(line.today, direction * most, unit)
    return Read(min(far, line.today), max(far, line.today), at)


def _unit(line: Line, i: int, direction: int) -> Read | None:
    """The week, weekend, month, quarter or year before, around or after today."""
    word = line.word(i)
    if word not in ("week", "weekend", "month", "quarter", "year"):
        return None
    first, last = unit_around(line, word, direction)
    j = line.skip(i + 1, "on")
    if word == "week" and line.word(j) in WEEKDAYS and len(line.word(j)) > 5:
        return _day(weekday_from(first, WEEKDAYS[line.word(j)]), j + 1)
    return Read(first, last, i + 1)


def _pointed_weekday(line: Line, i: int, direction: int) -> Read | None:
    name = line.word(i)
    if name in SHORT_DAYS and not (line.capital(i) and line.closes(i + 1)):
        return None
    if direction == LAST:
        return _day(weekday_until(shift(line.today, -1), WEEKDAYS[name]), i + 1)
    if direction == NEXT:
        return _day(weekday_from(shift(line.today, 1), WEEKDAYS[name]), i + 1)
    return _day(weekday_from(unit_around(line, "week", THIS)[0], WEEKDAYS[name]), i + 1)


def _spans(line: Line, i: int, direction: int) -> list[Span]:
    """The days of the month or season at i in the years around today."""
    word = line.word(i)
    if word in MONTHS:
        is_verb = word in ("may", "march") and direction != LAST and not line.capital(i)
        if is_verb or not month_stands(line, i, "in"):
            return []
        piece = Piece("month", i + 1, month=MONTHS[word])
    elif word in SEASONS and line.word(i + 1) not in SPRINGS:
        piece = Piece("season", i + 1, month=SEASONS[word], months=3)
    else:
        return []
    years = range(line.today.year - 2, line.today.year + 3)
    return [span for year in years if (span := days_of(piece, year))]


def _nearest(spans: Iterable[Span], direction: int, today: date) -> Span | None:
    """The latest that is over, the present or this year's, or the first to come."""
    if direction == LAST:
        return max((span for span in spans if span[1] < today), default=None)
    if direction == NEXT:
        return min((span for span in spans if span[0] > today), default=None)
    near = [span for span in spans if span[0].year == today.year or span[0] <= today <= span[1]]
    return next((span for span in near if span[0] <= today <= span[1]), near[0] if near else None)


def _day(day: date, at: int) -> Read:
    return Read(day, day, at)
