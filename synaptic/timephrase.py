"""Finds the time that a text names, "last week" or "between March and May 2025". Pure; the present day is an argument.

The text is cut into words once; at each word that can open a phrase the readers below try in turn. A reader reads a
few words and none calls itself, so the cost grows with the length of the text alone.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, timedelta

LOOKED_AT = 2_000
"""Characters in which a phrase is sought; a question is shorter, a pasted page has no one time."""

_TOKEN = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:T\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?|\d{4}-(?:\d{2}|[Ww]\d{2})(?![\w-])"
    r"|\d{4}/\d{2}/\d{2}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4}|[^\W_]+|[^\w\s]|_"
)
_ISO_DAY = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})(?:T.*)?")
_ISO_MONTH = re.compile(r"(\d{4})-(\d{2})")
_ISO_WEEK = re.compile(r"(\d{4})-w(\d{2})")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_DAY_NUMBER = re.compile(r"([0-9]{1,2})(st|nd|rd|th)?")
_SHORT_AMOUNT = re.compile(r"([0-9]{1,4})(h|d|w|mo|y)")
_YEARED_QUARTER = re.compile(r"([0-9]{4})q([1-4])")
_DECADE = re.compile(r"([0-9]{4}|[0-9]{2})s")
_GLUED_BEFORE = re.compile(r"[\w\\/@#$=]\Z|\w[-.:+&~]{1,2}\Z")
_GLUED_AFTER = re.compile(r"[\w\\/@(=]|[-.:+&~%'’]{1,2}\w|%")

_MONTH_NAMES = "january february march april may june july august september october november december".split()
_MONTHS = {name: n for n, name in enumerate(_MONTH_NAMES, 1)}
_MONTHS |= {name[:3]: n for n, name in enumerate(_MONTH_NAMES, 1)} | {"sept": 9}
_ONLY_MONTHS = frozenset("january february july september october november december".split())
_NAMES_TOO = frozenset(("may", "jan", "mar"))
_DAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday".split()
_SHORT_DAYS = {"mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6}
_WEEKDAYS = {name: n for n, name in enumerate(_DAY_NAMES)} | _SHORT_DAYS
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_QUARTERS = {f"q{n}": n for n in range(1, 5)}
_HALVES = {"h1": 1, "h2": 2}
_NEAR_DAYS = {"today": 0, "tonight": 0, "yesterday": -1, "tomorrow": 1}
_PARTS_OF_DAY = frozenset("morning afternoon evening night midday".split())
_TENS = "twenties thirties forties fifties sixties seventies eighties nineties".split()
_DECADES = {name: 1920 + 10 * n for n, name in enumerate(_TENS)} | {"twenties": 2020}

_COUNT_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_COUNTS = {word: n for n, word in enumerate(_COUNT_WORDS) if n} | {"a": 1, "an": 1, "twenty": 20, "thirty": 30}
_SOME = frozenset(("few", "several"))
_ORDINALS = {w: n for n, w in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)}
_ORDINALS |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5, "last": -1, "final": -1}
_UNIT_NAMES = "minute hour day week fortnight month quarter year decade".split()
_UNITS = {name: name for name in _UNIT_NAMES} | {f"{name}s": name for name in _UNIT_NAMES}
_UNITS |= {"hrs": "hour", "mins": "minute", "wk": "week", "wks": "week", "yr": "year", "yrs": "year"}
_SHORT_UNITS = {"h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year"}
_DAYS_IN = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS_IN = {"month": 1, "quarter": 3, "year": 12, "decade": 120}

_LAST, _THIS, _NEXT = -1, 0, 1
_DIRECTIONS = {"last": _LAST, "previous": _LAST, "past": _LAST, "this": _THIS, "current": _THIS}
_DIRECTIONS |= {"next": _NEXT, "coming": _NEXT, "upcoming": _NEXT}
_THIRDS = {"early": 0, "mid": 1, "late": 2}
_THIRDS_OF = {"beginning": 0, "start": 0, "middle": 1, "end": 2}

_PREPOSITIONS = {word: word for word in "in on during at of over within throughout from since after before".split()}
_PREPOSITIONS |= {"until": "until", "till": "until", "til": "until", "by": "until", "around": "around"}
_PREPOSITIONS |= {"between": "between"}
_LONG_PREPOSITIONS = {("up", word): "until" for word in ("to", "until", "till")}
_LONG_PREPOSITIONS |= {("prior", "to"): "before", ("as", "of"): "of"}
_BOUNDS = frozenset(("since", "after", "before", "until", "around", "over", "between"))
_OF_MONTHS = frozenset("in during since after before until around within throughout between over of from".split())
_OF_MAY = frozenset("in during since before until between within throughout".split())
_OF_YEARS = frozenset("in of during since before after until from between throughout around".split())
_OF_DECADES = frozenset("share in during of from since before until throughout between".split())
_OF_ORDINALS = frozenset("on since before after until from around between".split())
_DASHES = frozenset("-–—")
_LISTED = _DASHES | frozenset(("to", "and", "or"))

_GOES_ON = frozenset(
    """a about again all also am an and any are as at because been but by can could did do does during each for from
    had has have he her here his how i if in into is it its my no not on only or our over regarding she should so some
    than that the their then there these they this those until vs was we were what when where which while who whom
    whose why will with without would you your""".split()
)
"""Words after which a phrase has ended; any other may be a noun that the phrase only describes ("the 3rd try")."""

_AFTER_VERB_MAY = frozenset(
    "i we you he she it they be not have need also well or the this that still just only also as".split()
)
_COUNTED = frozenset(
    """row rows line lines file files item items entries records token tokens word words byte bytes bit bits kb mb gb tb
    ms sec secs seconds minutes hours days weeks months px pixels chars characters requests samples points steps
    dimensions times percent usd eur dollars euros km m kg g w watts rpm hz mhz connections vectors chunks nodes
    iterations epochs""".split()
)
"""What follows a count, so that the number before it is no year."""

_COUNTED_TOO = _COUNTED | frozenset(
    """users tests commits errors issues tickets people messages calls notes pages images queries customers""".split()
)
"""The same after "of", "by" and "from"; "in 2024 customers left" names a year."""

_MEASURES = frozenset(
    """port limit size buffer batch max maximum min minimum total count chunk chunks out instead sum number power code
    average mean budget price cost value length window width height reduced increased up down rate error capacity
    default batches""".split()
)
"""What is followed by "of 2048" or "by 2000" and means an amount."""

_EVERY = frozenset(("every", "each", "per"))
_NOT_BEFORE_A_DAY = _EVERY | frozenset(
    "black cyber good ash fat the a an any all to and or through other - – —".split()
)
_SPRINGS = frozenset("boot framework cloud security mvc data batch cleaning loaded guys back guy water".split())
_FEASTS = frozenset(("christmas", "xmas", "easter", "thanksgiving", "halloween", "new"))


@dataclass(frozen=True, slots=True)
class TimeRange:
    """`start` and `end` are local days, both within; None is no bound. `phrase` stands so in the text."""

    start: date | None
    end: date | None
    phrase: str


@dataclass(frozen=True, slots=True)
class _Read:
    """The days that a phrase names; `at` is the word after it."""

    first: date
    last: date
    at: int
    certain: bool = True


@dataclass(frozen=True, slots=True)
class _Bounded:
    start: date | None
    end: date | None
    at: int
    certain: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of the calendar as it was written, its year perhaps left out."""

    kind: str
    at: int
    year: int | None = None
    month: int | None = None
    day: int | None = None
    months: int = 1
    third: int | None = None
    name: str = ""


def find_time(text: str, *, today: date, week_start: int = 0) -> tuple[TimeRange, str] | None:
    """The range that the text names and the text without the phrase; None where no time is meant.

    `week_start` is 0 for Monday to 6 for Sunday. Of two ranges the first that is certain wins.

    | text                           | on Saturday 2026-11-21               |
    |--------------------------------|--------------------------------------|
    | `tasks done last week`         | 2026-11-09 to 2026-11-15             |
    | `emails after October 12`      | 2026-10-13 to today                  |
    | `between March and May 2025`   | 2025-03-01 to 2025-05-31             |
    | `what broke on Friday`         | 2026-11-20                           |
    | `dentist on Dec 3`             | 2025-12-03, the latest one           |
    | `it may be the pool`, `24/7`   | None                                 |
    """
    reader = _Reader(text[:LOOKED_AT], today, week_start)
    try:
        found = reader.find()
    except (ValueError, OverflowError):  # beyond the years that a date can have
        return None
    if found is None:
        return None
    bounded, start, end = found
    if bounded.start and bounded.end and bounded.start > bounded.end:  # cut short at the last of all years
        return None
    return TimeRange(bounded.start, bounded.end, text[start:end]), _without(text, start, end)


_RECENT = re.compile(
    r"(?<![\w./:@-])(?:recent(?:ly)?|lately|latest|newest"
    r"|last (?:(?:\d{1,3}|few|two|three|five|ten) )?(?:decision|note|entrie|entry|issue|bug|fixe|fix|change|discussion"
    r"|conversation|session|meeting|update|release|deploy|deployment|commit|incident|outage|task|learning|insight|todo"
    r"|solution|pattern|error|failure|thing)s?)(?![\w-]|\.\w)",
    re.IGNORECASE,
)


def is_recent(text: str) -> bool:
    """Whether it asks for the newest: "recent", "latest", "last decision on the cache"."""
    return _RECENT.search(" ".join(text[:LOOKED_AT].split())) is not None


class _Reader:
    """Reads phrases of one text. A reader gets the word it starts at, the preposition and whether "the" came before."""

    def __init__(self, text: str, today: date, week_start: int) -> None:
        self.text, self.today, self.week_start = text, today, week_start
        tokens = list(_TOKEN.finditer(text))
        self.raws = [token[0] for token in tokens]
        self.words = [raw.lower() for raw in self.raws]
        self.spans = [token.span() for token in tokens]
        inner: tuple[Callable[[int, str, bool], _Read | None], ...] = (
            self.near_day,
            self.ago,
            self.pointed,
            self.calendar,
            self.week,
            self.weekday,
            self.current,
            self.feast,
            self.decade,
        )
        self.inner = inner
        self.readers = (self.share, self.third_of, self.beside, *inner)

    def find(self) -> tuple[_Bounded, int, int] | None:
        """The first certain phrase, else the first at all, with its characters."""
        weak = None
        for i, word in enumerate(self.words):
            if word not in _OPENERS and not word[0].isdigit():
                continue
            read = self.phrase(i)
            if read is None or not self.stands_alone(i, read.at):
                continue
            found = read, self.spans[i][0], self.spans[read.at - 1][1]
            if read.certain:
                return found
            weak = weak or found
        return weak

    def stands_alone(self, i: int, at: int) -> bool:
        """Whether words i to at are no piece of a name, a path, a rule ("every Monday")."""
        start, end = self.spans[i][0], self.spans[at - 1][1]
        if i and self.words[i - 1] in _EVERY:
            return False
        glued = _GLUED_BEFORE.search(self.text[max(0, start - 3) : start]) or _GLUED_AFTER.match(self.text, end)
        return not glued

    def phrase(self, i: int) -> _Bounded | None:
        """What a preposition and a range or a period say together."""
        preposition, j = self.preposition(i)
        if preposition == "in" and (soon := self.amount_ahead(j)):
            return _Bounded(soon.first, soon.last, soon.at, True)
        if pair := self.pair(j, preposition):
            return _Bounded(pair.first, pair.last, pair.at, pair.certain)
        if preposition == "from" and (opened := self.period(j, "since")) and self.goes_onward(opened.at):
            return self.bounded("since", replace(opened, at=opened.at + 1))
        read = self.period(j, preposition) if preposition != "between" else None
        if read is None:
            return None
        read = self.with_tail(read)
        return self.bounded(preposition, read) if self.joins(preposition, j, read) else None

    def joins(self, preposition: str, i: int, read: _Read) -> bool:
        """Whether the preposition is said of such a period; in "logged in yesterday" it belongs to the verb."""
        single, word = read.first == read.last, self.word(i)
        ago = self.word(read.at - 1) in ("ago", "back")
        if preposition not in ("on", "in", "at", "over") or self.possessive(read.at - 2):
            return True
        if word in _NEAR_DAYS or (ago and preposition != "over"):
            return False
        if preposition == "over":
            return ago or not single
        pointed = word in _DIRECTIONS and self.amount(i + 1) is None
        if preposition == "in":
            return not single and not pointed
        weekend = "weekend" in self.words[i : i + 2]
        return weekend or (single if preposition == "on" else not pointed)

    def bounded(self, preposition: str, read: _Read) -> _Bounded:
        """The range that a preposition makes of a period."""
        start: date | None = read.first
        end: date | None = read.last
        if preposition == "since":
            end = self.today if read.first <= self.today else None
        elif preposition == "after":
            start = _shift(read.last, 1)
            end = self.today if start <= self.today else None
        elif preposition == "before":
            start, end = None, _shift(read.first, -1)
        elif preposition == "until":
            start = None
        elif preposition == "over" and self.word(read.at - 1) == "ago":
            start, end = None, _shift(read.first, -1)
        elif preposition == "around" and read.first == read.last:
            start, end = _shift(read.first, -3), _shift(read.last, 3)
        return _Bounded(start, end, read.at, read.certain)

    def preposition(self, i: int) -> tuple[str, int]:
        """(the meaning of the prepositions at i or "", the word after them)."""
        long = _LONG_PREPOSITIONS.get((self.word(i), self.word(i + 1)))
        if long:
            return long, i + 2
        first = _PREPOSITIONS.get(self.word(i))
        if first is None:
            return "", i
        second = _PREPOSITIONS.get(self.word(i + 1), "")
        if first in ("from", "in", "of") and second in _BOUNDS:
            return second, i + 2
        if first in _BOUNDS and second == "around":
            return first, i + 2
        return first, i + 1

    def period(self, i: int, preposition: str, *, inner: bool = False) -> _Read | None:
        """The days of the period that starts at i, with "the" or without."""
        article = self.word(i) == "the"
        for reader in self.inner if inner else self.readers:
            read = reader(i + article, preposition, article)
            if read is not None:
                return read
        return None

    def with_tail(self, read: _Read) -> _Read:
        """The phrase with the part of the day and the possessive that belong to it."""
        at = read.at
        if read.first == read.last and self.word(at) in _PARTS_OF_DAY:
            at += 1
        if self.possessive(at):
            at += 2
        return replace(read, at=at)

    # -- words ---------------------------------------------------------------------------------------------------------

    def word(self, i: int) -> str:
        return self.words[i] if 0 <= i < len(self.words) else ""

    def possessive(self, i: int) -> bool:
        glued = 0 < i < len(self.words) - 1 and self.spans[i - 1][1] == self.spans[i][0]
        return glued and self.words[i] in ("'", "’") and self.words[i + 1] == "s"

    def closes(self, i: int) -> bool:
        """Whether a phrase that ends before i describes no noun."""
        word = self.word(i)
        return word in _GOES_ON or not word[:1].isalnum()

    def goes_onward(self, i: int) -> bool:
        return self.word(i) in ("onward", "onwards") or (self.word(i) == "on" and not self.word(i + 1)[:1].isalnum())

    def capital(self, i: int) -> bool:
        return self.raws[i][0].isupper()

    def skip(self, i: int, *words: str) -> int:
        return i + 1 if self.word(i) in words else i

    def year_at(self, i: int) -> int | None:
        word = self.word(i)
        if len(word) != 4 or not word.isascii() or not word.isdigit():
            return None
        return int(word) if 1900 <= int(word) <= 2100 else None

    def year_after(self, i: int, *, of: bool = False) -> tuple[int | None, int]:
        """(the year that follows, the word after it), or (None, i)."""
        j = self.skip(i, ",", "of") if of else self.skip(i, ",")
        year = self.year_at(j)
        if year:
            return year, j + 1
        short = self.word(i + 1)
        if self.word(i) in ("'", "’") and len(short) == 2 and short.isascii() and short.isdigit():
            return 2000 + int(short), i + 2
        return None, i

    def amount(self, i: int) -> tuple[int, int, str, int] | None:
        """(least, most, unit, the word after) of "3 days", "a couple of weeks", "few months"."""
        short = _SHORT_AMOUNT.fullmatch(self.word(i))
        if short:
            return int(short[1]), int(short[1]), _SHORT_UNITS[short[2]], i + 1
        word, j = self.word(i), i + 1
        if word == "a" and self.word(j) in ("few", "couple", "dozen"):
            word, j = self.word(j), j + 1
        if word in _SOME:
            least, most = 2, 5
        elif word == "couple":
            least, most, j = 2, 2, self.skip(j, "of")
        elif word.isascii() and word.isdigit() and len(word) <= 6:
            least = most = int(word)
        else:
            least = most = 12 if word == "dozen" else _COUNTS.get(word, 0)
        unit = _UNITS.get(self.word(j))
        return (least, most, unit, j + 1) if unit and most else None

    # -- near today ----------------------------------------------------------------------------------------------------

    def near_day(self, i: int, preposition: str, article: bool) -> _Read | None:
        """today, yesterday, this morning, last night, earlier this week."""
        word, following = self.word(i), self.word(i + 1)
        if article:
            return None
        if word in _NEAR_DAYS:
            return self.one_day(_shift(self.today, _NEAR_DAYS[word]), i + 1)
        if word == "this" and following in _PARTS_OF_DAY:
            return self.one_day(self.today, i + 2)
        if word == "last" and following in ("night", "evening"):
            return self.one_day(_shift(self.today, -1), i + 2)
        if word in ("earlier", "later") and following in ("today", "this"):
            read = self.one_day(self.today, i + 2) if following == "today" else self.pointed(i + 1, "", False)
            if read and read.first <= self.today <= read.last:
                return replace(read, last=self.today) if word == "earlier" else replace(read, first=self.today)
        return None

    def ago(self, i: int, preposition: str, article: bool) -> _Read | None:
        """3 days ago, a month ago, two weeks from now; two days before Christmas."""
        amount = None if article else self.amount(i)
        if amount is None:
            return None
        least, most, unit, at = amount
        if self.word(at) in ("ago", "back"):
            return _Read(_move(self.today, -most, unit), _move(self.today, -least, unit), at + 1)
        if self.word(at) == "from" and self.word(at + 1) in ("now", "today"):
            return _Read(_move(self.today, least, unit), _move(self.today, most, unit), at + 2)
        if self.word(at) in ("before", "after") and unit in _DAYS_IN and self.word(at + 1) in _FEASTS:
            day = self.feast(at + 1, "on", False)
            sign = -1 if self.word(at) == "before" else 1
            return day and self.one_day(_move(day.first, sign * most, unit), day.at)
        return None

    def amount_ahead(self, i: int) -> _Read | None:
        """in 3 days, in a week; not "in a day", which is a speed."""
        amount = self.amount(i)
        if amount is None:
            return None
        least, most, unit, at = amount
        if at < i + 2 or unit in ("hour", "minute") or (most == 1 and unit in ("day", "year")) or not self.closes(at):
            return None
        return _Read(_move(self.today, least, unit), _move(self.today, most, unit), at)

    def pointed(self, i: int, preposition: str, article: bool) -> _Read | None:
        """last week, this quarter, next Tuesday, past 10 days, last summer, next March."""
        direction = _DIRECTIONS.get(self.word(i))
        if direction is None:
            return None
        rolling = self.word(i) == "past"
        if direction == _THIS and self.word(i + 1) in ("past", "last", "coming"):
            i += 1
            direction, rolling = _DIRECTIONS[self.word(i)], self.word(i) != "coming"
        j, word = i + 1, self.word(i + 1)
        return (
            self.rolling(j, direction, single=rolling)
            or self.unit(j, direction)
            or (self.pointed_weekday(j, direction) if word in _WEEKDAYS else None)
            or (self.pointed_month(j, direction) if word in _MONTHS else None)
            or (self.pointed_season(j, direction) if word in _SEASONS else None)
            or (self.pointed_feast(j, direction) if word in _FEASTS else None)
        )

    def rolling(self, i: int, direction: int, *, single: bool) -> _Read | None:
        """Days that end or begin today: the past 10 days, the last few weeks, the past year."""
        amount = self.amount(i) if direction != _THIS and self.word(i) not in ("a", "an") else None
        if amount:
            _, most, unit, at = amount
        elif self.word(i) in _UNIT_NAMES and (single or self.word(i) in ("hour", "fortnight", "decade")) and direction:
            most, unit, at = 1, self.word(i), i + 1
            if unit == "year":
                most, unit = 365, "day"
        else:
            return None
        far = _move(self.today, direction * most, unit)
        return _Read(min(far, self.today), max(far, self.today), at)

    def unit(self, i: int, direction: int) -> _Read | None:
        """The week, weekend, month, quarter or year before, around or after today."""
        word = self.word(i)
        if word not in ("week", "weekend", "month", "quarter", "year"):
            return None
        first, last = self.unit_around(word, direction)
        if word == "week":
            j = self.skip(i + 1, "on")
            day = _WEEKDAYS.get(self.word(j)) if len(self.word(j)) > 5 else None
            if day is not None:
                return self.one_day(_shift(first, (day - first.weekday()) % 7), j + 1)
        return _Read(first, last, i + 1)

    def unit_around(self, unit: str, offset: int) -> tuple[date, date]:
        today = self.today
        if unit == "week":
            first = _shift(today, 7 * offset - (today.weekday() - self.week_start) % 7)
            return first, _shift(first, 6)
        if unit == "weekend":
            saturday = _shift(today, 5 - today.weekday() + 7 * offset)
            return saturday, _shift(saturday, 1)
        length = _MONTHS_IN[unit]
        first = date(today.year, (today.month - 1) // length * length + 1, 1)
        first = _add_months(first, offset * length)
        return first, _month_span_end(first, length)

    def pointed_weekday(self, i: int, direction: int) -> _Read | None:
        name = self.word(i)
        if name in _SHORT_DAYS and not (self.capital(i) and self.closes(i + 1)):
            return None
        ahead = (_WEEKDAYS[name] - self.today.weekday()) % 7
        if direction == _LAST:
            return self.one_day(_shift(self.today, ahead - 7), i + 1)
        if direction == _NEXT:
            return self.one_day(_shift(self.today, ahead or 7), i + 1)
        first, _ = self.unit_around("week", 0)
        return self.one_day(_shift(first, (_WEEKDAYS[name] - first.weekday()) % 7), i + 1)

    def pointed_month(self, i: int, direction: int) -> _Read | None:
        verb = self.word(i) in ("may", "march") and direction != _LAST and not self.capital(i)
        if verb or not self.month_stands(i, "in"):
            return None
        return self.pointed_piece(_Piece("month", i + 1, month=_MONTHS[self.word(i)]), direction)

    def pointed_season(self, i: int, direction: int) -> _Read | None:
        if self.word(i + 1) in _SPRINGS:
            return None
        return self.pointed_piece(_Piece("season", i + 1, month=_SEASONS[self.word(i)], months=3), direction)

    def pointed_piece(self, piece: _Piece, direction: int) -> _Read | None:
        """The latest that is over, the present or this year's, or the first to come."""
        year = self.today.year
        spans = [span for y in (year - 2, year - 1, year, year + 1, year + 2) if (span := _span(piece, y))]
        if direction == _LAST:
            return max((_Read(*s, piece.at) for s in spans if s[1] < self.today), key=_first, default=None)
        if direction == _NEXT:
            return min((_Read(*s, piece.at) for s in spans if s[0] > self.today), key=_first, default=None)
        now = [s for s in spans if s[0] <= self.today <= s[1]] or [s for s in spans if s[0].year == year]
        return _Read(*now[0], piece.at) if now else None

    def pointed_feast(self, i: int, direction: int) -> _Read | None:
        feast = self.feast_at(i)
        if feast is None or not self.closes(feast[1]):
            return None
        year = self.today.year
        days = [_feast_day(feast[0], y) for y in (year - 1, year, year + 1)]
        if direction == _LAST:
            days = [day for day in days if day < self.today][-1:]
        elif direction == _NEXT:
            days = [day for day in days if day > self.today][:1]
        else:
            days = days[1:2]
        return self.one_day(days[0], feast[1]) if days else None

    def current(self, i: int, preposition: str, article: bool) -> _Read | None:
        """The weekend after a preposition; of "the end of the month" the month."""
        word = self.word(i)
        if not article or not preposition or not self.closes(i + 1):
            return None
        if word == "weekend":
            saturday = _shift(self.today, -((self.today.weekday() - 5) % 7))
            return _Read(saturday, _shift(saturday, 1), i + 1)
        if word in ("week", "month", "quarter", "year") and preposition == "share":
            return _Read(*self.unit_around(word, 0), i + 1)
        return None

    def weekday(self, i: int, preposition: str, article: bool) -> _Read | None:
        """The latest such day on or before today; "Tuesday last week" is that week's."""
        name = self.word(i)
        if name not in _WEEKDAYS or article or self.word(i + 1) in ("mornings", "afternoons", "evenings", "nights"):
            return None
        j = self.skip(i + 1, "of", "in")
        if self.word(j) in _DIRECTIONS and self.word(j + 1) == "week":
            first, _ = self.unit_around("week", _DIRECTIONS[self.word(j)])
            return self.one_day(_shift(first, (_WEEKDAYS[name] - first.weekday()) % 7), j + 2)
        closes = self.closes(i + 1) or self.possessive(i + 1) or self.word(i + 1) in _PARTS_OF_DAY
        if name in _SHORT_DAYS and not (preposition and closes and self.capital(i)):
            return None
        if not preposition and (not closes or self.word(i - 1) in _NOT_BEFORE_A_DAY or self.word(i - 1) in _ORDINALS):
            return None
        dated = self.day_first(i + 2) if self.word(i + 1) == "the" else None
        if dated and dated.kind == "day" and self.closes(dated.at):
            span = self.latest(dated)
            return span and _Read(*span, dated.at)
        day = _shift(self.today, -((self.today.weekday() - _WEEKDAYS[name]) % 7))
        return _Read(day, day, i + 1, certain=bool(preposition))

    def one_day(self, day: date, at: int) -> _Read:
        return _Read(day, day, at)

    # -- the calendar --------------------------------------------------------------------------------------------------

    def calendar(self, i: int, preposition: str, article: bool) -> _Read | None:
        """A date, month, quarter, season or year; without a year the latest that is not in the future."""
        piece = self.piece(i)
        if piece is None:
            return None
        certain = self.meant(piece, i, preposition, article)
        if certain is None:
            return None
        span = self.latest(piece)
        return span and _Read(*span, piece.at, certain)

    def meant(self, piece: _Piece, i: int, preposition: str, article: bool) -> bool | None:
        """Whether the piece is certainly a time; None where it is none."""
        if piece.kind == "date":
            return True
        if piece.kind == "day":
            return True if article and preposition in _OF_ORDINALS and self.closes(piece.at) else None
        if piece.kind == "year":
            return True if piece.third is not None or self.year_stands(piece, i, preposition) else None
        if piece.third is not None or piece.year is not None:
            return True
        if piece.kind == "month":
            month = piece.at - 1
            if self.word(i) == "month":
                return True
            return None if article or not self.month_stands(month, preposition) else bool(preposition)
        if piece.kind == "season":
            return True if preposition in _OF_MONTHS - {"of"} and self.closes(piece.at) else None
        if piece.months == 6:  # H2 is a heading and a database as well
            return None
        return bool(preposition) if preposition or self.capital(i) else None

    def month_stands(self, i: int, preposition: str) -> bool:
        """Whether the name of a month that stands alone is one; "may", "March" and "Jan" are other words too."""
        name, capital = self.word(i), self.capital(i)
        if name in _ONLY_MONTHS:
            return True
        if name in _NAMES_TOO or not capital:
            strict = preposition in _OF_MAY or (capital and preposition == "after")
            if not strict or (name == "may" and not capital and self.word(i + 1) in _AFTER_VERB_MAY):
                return False
            return capital or name in _MONTH_NAMES or self.closes(i + 1)
        return preposition in _OF_MONTHS

    def year_stands(self, piece: _Piece, i: int, preposition: str) -> bool:
        if self.word(i) == "year":
            return True
        if preposition not in _OF_YEARS or self.word(i - 1) == "the":
            return False
        if self.word(piece.at) in _LISTED and self.word(piece.at + 1).isdigit():
            return False
        if preposition not in ("of", "from", "until"):
            return self.word(piece.at) not in _COUNTED
        before = self.word(i - 2)  # the preposition stands between
        return self.word(piece.at) not in _COUNTED_TOO and before not in _MEASURES and piece.year != 2048

    def piece(self, i: int) -> _Piece | None:
        """The date, month, quarter, season or year at i, "early", "mid" or "late" before it."""
        third = _THIRDS.get(self.word(i))
        if third is None:
            return self.whole_piece(i)
        inner = self.whole_piece(self.skip(i + 1, "-", "in"))
        return replace(inner, third=third) if inner and inner.day is None else None

    def whole_piece(self, i: int) -> _Piece | None:
        if self.word(i) in _WEEKDAYS:
            dated = self.dated(self.skip(self.skip(i + 1, ",", "."), "the"))
            return dated if dated and dated.day and dated.month else None
        if self.word(i) == "month" and self.word(i + 1) == "of":
            month = self.dated(i + 2)
            return month if month and month.kind == "month" else None
        return self.numeric(i) or self.dated(i) or self.quarter(i) or self.season(i) or self.only_year(i)

    def numeric(self, i: int) -> _Piece | None:
        """2025-11-03, 2025-06, 11/03/2025 (month first), 3.11.2025 (day first)."""
        word = self.word(i)
        if not word[:1].isdigit() or len(word) < 7:
            return None
        if match := _ISO_DAY.fullmatch(word.upper()):
            year, month, day = match.groups()
        elif match := _SLASHED.fullmatch(word):
            month, day, year = match.groups()
            if int(month) > 12:
                month, day = day, month
        elif match := _DOTTED.fullmatch(word):
            day, month, year = match.groups()
        elif match := _ISO_MONTH.fullmatch(word):
            year, month, day = match[1], match[2], "0"
        else:
            return None
        y, m, d = int(year), int(month), int(day)
        if not (1900 <= y <= 2100 and 1 <= m <= 12):
            return None
        return _Piece("date", i + 1, y, m, d) if d else _Piece("month", i + 1, y, m)

    def dated(self, i: int) -> _Piece | None:
        """Nov 3, 3 Nov 2025, November 3rd, 2025, the 3rd of November, November 2025, November; the 3rd."""
        return self.numeric(i) or self.day_first(i) or self.month_first(i)

    def day_number(self, i: int) -> tuple[int, bool] | None:
        """(day of the month, whether written as an ordinal)."""
        match = _DAY_NUMBER.fullmatch(self.word(i))
        if match and 1 <= int(match[1]) <= 31:
            return int(match[1]), match[2] is not None
        return None

    def day_first(self, i: int) -> _Piece | None:
        number = self.day_number(i)
        ordinal = _ORDINALS.get(self.word(i), 0)
        if number is None and ordinal > 0 and self.word(i + 1) == "of":
            number = ordinal, True
        if number is None:
            return None
        day, is_ordinal = number
        j = self.skip(i + 1, "of") if is_ordinal else i + 1
        month = _MONTHS.get(self.word(j))
        if month is None:
            return _Piece("day", i + 1, day=day) if is_ordinal and self.word(i + 1) != "of" else None
        year, at = self.year_after(j + 1)
        verb = self.word(j) in ("may", "march", "mar", "dec", "sep") and not self.capital(j)
        if verb and not is_ordinal and year is None:
            return None
        return _Piece("date", at, year, month, day)

    def month_first(self, i: int) -> _Piece | None:
        month = _MONTHS.get(self.word(i))
        if month is None:
            return None
        j = i + 1
        if self.word(j) == "." and self.day_number(j + 1) and self.word(i) not in _MONTH_NAMES:
            j += 1
        if self.word(j) == "the" and self.day_number(j + 1):
            j += 1
        number = self.day_number(j)
        if number:
            year, at = self.year_after(j + 1)
            verb = self.word(i) in ("may", "march") and not self.capital(i)
            if verb and not number[1] and year is None and not self.closes(at):
                return None
            counted = self.word(j + 1) in _COUNTED
            return None if counted else _Piece("date", at, year, month, number[0])
        year, at = self.year_after(i + 1, of=True)
        return _Piece("month", at, year, month, name=self.raws[i])

    def quarter(self, i: int) -> _Piece | None:
        """Q3 2025, 2025 Q3, the third quarter of 2025, H1 2025."""
        yeared = _YEARED_QUARTER.fullmatch(self.word(i))
        if yeared:
            return _Piece("quarter", i + 1, int(yeared[1]), 3 * int(yeared[2]) - 2, months=3)
        before = self.year_at(i)
        j = i + 1 if before else i
        word, at = self.word(j), j + 1
        number, months = _QUARTERS.get(word), 3
        if word in _HALVES:
            number, months = _HALVES[word], 6
        elif _ORDINALS.get(word, 0) in (1, 2, 3, 4) and self.word(j + 1) == "quarter":
            number, at = _ORDINALS[word], j + 2
        if number is None:
            return None
        year, at = (before, at) if before else self.year_after(self.skip(at, "/"), of=True)
        return _Piece("quarter", at, year, months * number - months + 1, months=months)

    def season(self, i: int) -> _Piece | None:
        month = _SEASONS.get(self.word(i))
        if month is None or self.word(i + 1) in _SPRINGS:
            return None
        year, at = self.year_after(i + 1, of=True)
        split = year and self.word(at) in ("/", "-", "–") and self.word(at + 1) == f"{(year + 1) % 100:02}"
        return _Piece("season", at + 2 if split else at, year, month, months=3)

    def only_year(self, i: int) -> _Piece | None:
        j = self.skip(i, "year")
        year = self.year_at(j)
        return _Piece("year", j + 1, year) if year else None

    def latest(self, piece: _Piece) -> tuple[date, date] | None:
        """The days of a piece, of the latest that has begun where no year is given."""
        if piece.kind == "day":
            for back in range(3):
                first = _add_months(self.today.replace(day=1), -back)
                if piece.day and piece.day <= monthrange(first.year, first.month)[1]:
                    day = first.replace(day=piece.day)
                    if day <= self.today:
                        return day, day
            return None
        if piece.year is not None:
            return _span(piece, piece.year)
        years = range(self.today.year, max(0, self.today.year - 9), -1)
        spans = (_span(piece, year) for year in years)
        return next((span for span in spans if span and span[0] <= self.today), None)

    def week(self, i: int, preposition: str, article: bool) -> _Read | None:
        """week 12 of 2025, 2025-W12; the year may be left out after a preposition."""
        iso = _ISO_WEEK.fullmatch(self.word(i))
        if iso:
            return self.iso_week(int(iso[1]), int(iso[2]), i + 1)
        i = self.skip(i, "calendar")
        number = self.word(i + 1)
        if self.word(i) != "week" or not number.isascii() or not number.isdigit() or len(number) > 2:
            return None
        year, at = self.year_after(self.skip(i + 2, ",", "of", "in"))
        if year:
            return self.iso_week(year, int(number), at)
        if not preposition or not self.closes(i + 2):
            return None
        this = self.iso_week(self.today.isocalendar().year, int(number), i + 2)
        if this and this.first > self.today:
            return self.iso_week(self.today.isocalendar().year - 1, int(number), i + 2)
        return this

    def iso_week(self, year: int, week: int, at: int) -> _Read | None:
        try:
            monday = date.fromisocalendar(year, week, 1)
        except ValueError:
            return None
        return _Read(monday, _shift(monday, 6), at)

    def feast(self, i: int, preposition: str, article: bool) -> _Read | None:
        """Christmas, Easter, New Year's Eve: with a preposition the latest, or with a year."""
        found = None if article else self.feast_at(i)
        if found is None:
            return None
        name, at = found
        year, after = self.year_after(at)
        if year is None and not (preposition and self.closes(at)):
            return None
        day = _feast_day(name, year or self.today.year)
        if year is None and day > self.today:
            day = _feast_day(name, self.today.year - 1)
        if name == "christmas" and preposition in ("over", "at", "during"):
            return _Read(_shift(day, -1), _shift(day, 1), after)
        return self.one_day(day, after)

    def feast_at(self, i: int) -> tuple[str, int] | None:
        """(name, the word after it)."""
        word, following = self.word(i), self.word(i + 1)
        if word not in _FEASTS:
            return None
        if word == "new":
            if following not in ("year", "years"):
                return None
            at = i + 4 if self.possessive(i + 2) else i + 2
            return ("new eve", at + 1) if self.word(at) == "eve" else ("new day", self.skip(at, "day"))
        if word in ("christmas", "xmas"):
            return ("christmas eve", i + 2) if following == "eve" else ("christmas", self.skip(i + 1, "day"))
        return word, i + 1

    def decade(self, i: int, preposition: str, article: bool) -> _Read | None:
        """the 90s, the 1990s, the early nineties."""
        third = _THIRDS.get(self.word(i))
        if third is not None:
            i = self.skip(i + 1, "-")
        i = self.skip(i, "'", "’")
        match = _DECADE.fullmatch(self.word(i))
        first = _DECADES.get(self.word(i), 0)
        if match and int(match[1]) % 10 == 0:
            number = int(match[1])
            first = number if number >= 100 else number + (2000 if number < 30 else 1900)
        meant = article and preposition in _OF_DECADES and self.closes(i + 1)
        if not meant or not 1900 <= first <= 2090:
            return None
        span = date(first, 1, 1), date(first + 9, 12, 31)
        return _Read(*(span if third is None else _third(*span, third)), i + 1)

    # -- parts of a period ---------------------------------------------------------------------------------------------

    def third_of(self, i: int, preposition: str, article: bool) -> _Read | None:
        """end of last month, beginning of March, early this week."""
        third, j = _THIRDS.get(self.word(i)), self.skip(i + 1, "-", "in", "on")
        if third is None:
            third = _THIRDS_OF.get(self.word(i))
            if third is None or self.word(i + 1) != "of":
                return None
            j = i + 2
        whole = self.period(j, "in", inner=True) or self.period(j, "share", inner=True)
        return whole and _Read(*_third(whole.first, whole.last, third), whole.at)

    def share(self, i: int, preposition: str, article: bool) -> _Read | None:
        """first week of March, last 10 days of 2025, second half of last year, the 3rd of last month."""
        number = _ORDINALS.get(self.word(i))
        day = self.day_number(i)
        if number is None and day and day[1]:
            number = day[0]
        if number is None:
            return None
        if day and self.word(i + 1) == "of" and self.word(i + 2) in _DIRECTIONS and self.word(i + 3) == "month":
            return self.nth_day(self.unit(i + 3, _DIRECTIONS[self.word(i + 2)]), number)
        count, j = 1, i + 1
        if amount := self.amount(j):
            count, unit, at = amount[1], amount[2], amount[3]
        else:
            unit, at = self.word(j), j + 1
        if self.word(at) not in ("of", "in"):
            return None
        known = unit in ("day", "week", "weekend", "half", "quarter", "month") or unit in _DAY_NAMES
        whole = self.period(at + 1, "share", inner=True) or self.period(at + 1, "in", inner=True) if known else None
        cut = whole and _cut(whole.first, whole.last, number, count, unit)
        return _Read(*cut, whole.at) if whole and cut else None

    def nth_day(self, whole: _Read | None, number: int) -> _Read | None:
        if whole is None or number > (whole.last - whole.first).days + 1:
            return None
        return self.one_day(_shift(whole.first, number - 1), whole.at)

    def beside(self, i: int, preposition: str, article: bool) -> _Read | None:
        """the day before yesterday, the week before last, the week after Easter, the week of Nov 3."""
        unit, side = self.word(i), self.word(i + 1)
        if unit not in ("day", "week", "weekend", "month", "quarter", "year") or side not in ("before", "after", "of"):
            return None
        beyond = {("before", "last"): -2, ("after", "next"): 2}.get((side, self.word(i + 2)))
        other = self.period(i + 2, "on", inner=True)
        if other is None and beyond and unit != "day":
            return _Read(*self.unit_around(unit, beyond), i + 3)
        if other is None or unit not in ("day", "week"):
            return None
        if side == "of":
            if unit == "day" or other.first != other.last:
                return None
            first = _shift(other.first, -((other.first.weekday() - self.week_start) % 7))
            return _Read(first, _shift(first, 6), other.at)
        length = _DAYS_IN[unit]
        if side == "before":
            return _Read(_shift(other.first, -length), _shift(other.first, -1), other.at)
        return _Read(_shift(other.last, 1), _shift(other.last, length), other.at)

    # -- from one to another -------------------------------------------------------------------------------------------

    def pair(self, i: int, preposition: str) -> _Read | None:
        """between March and May 2025, from Nov 3 to Nov 7, Nov 3-7, from last Monday to yesterday."""
        left = self.side(i)
        if left:
            j = self.connected(left.at, preposition)
            right = self.side(j) if j else None
            if j and right and self.pair_meant(left, right, j, preposition):
                span = self.joined(left, right)
                return span and _Read(*span, right.at)
        if preposition not in ("between", "from", "since"):
            return None
        return self.loose_pair(i, preposition)

    def loose_pair(self, i: int, preposition: str) -> _Read | None:
        """Two periods of any kind: from last Monday to yesterday, between June and now."""
        opened = self.period(i, preposition)
        j = opened and self.connected(opened.at, "from" if preposition == "since" else preposition)
        if not opened or not j:
            return None
        if self.word(j) in ("now", "present") or (self.word(j), self.word(j + 1)) == ("the", "present"):
            at = j + 2 if self.word(j) == "the" else j + 1
            return _Read(opened.first, self.today, at) if opened.first <= self.today else None
        closed = self.period(j, preposition)
        if closed is None:
            return None
        first, last = opened.first, closed.last
        if last < first and self.word(j) in _WEEKDAYS:
            last = _shift(last, 7)
        return _Read(min(first, last), max(opened.last, last), closed.at)

    def connected(self, i: int, preposition: str) -> int | None:
        """The word after "to" or a dash at i."""
        word = self.word(i)
        if preposition == "between" and word == "and":
            return i + 1
        if preposition == "from" and word in ("until", "till", "til", "thru"):
            return i + 1
        if preposition == "from" and word == "up" and self.word(i + 1) == "to":
            return i + 2
        return i + 1 if word in ("to", "through") or word in _DASHES else None

    def side(self, i: int) -> _Piece | None:
        """One side of a pair: a piece, or a day alone whose month the other side names."""
        i = self.skip(i, "the")
        piece = self.piece(i)
        if piece and piece.kind != "day":
            return piece
        number = self.day_number(i)
        if number is None:
            return None
        year, at = self.year_after(i + 1)
        return _Piece("day" if number[1] else "number", at, year, day=number[0])

    def pair_meant(self, left: _Piece, right: _Piece, start: int, preposition: str) -> bool:
        opened = preposition in ("from", "between")
        if left.kind in ("day", "number"):
            if right.kind == "day":
                return opened and left.kind == "day" and self.closes(right.at)
            return right.kind == "date"
        if right.kind in ("day", "number"):
            sure = self.word(start - 1) in _DASHES or right.kind == "day" or right.year is not None
            return left.kind == "date" and left.year is None and (sure or self.closes(right.at))
        if right.kind == "year" and self.word(right.at) in _COUNTED_TOO:
            return False
        if "year" in (left.kind, right.kind):
            return opened or (bool(preposition) and left.kind == right.kind)
        if opened or left.day or right.day or left.year or right.year or left.third is not None:
            return True
        if left.kind != "month" or right.kind != "month":
            return left.kind == right.kind == "quarter"
        return all(p.name[:1].isupper() or p.name.lower() in _ONLY_MONTHS for p in (left, right))

    def joined(self, left: _Piece, right: _Piece) -> tuple[date, date] | None:
        """The days from one piece to the other, which share the year or the month that only one names."""
        if left.kind in ("day", "number") and right.month:
            left = replace(left, kind="date", month=right.month)
        if right.kind in ("day", "number") and left.month:
            right = replace(right, kind="date", month=left.month)
        if left.kind == "day":
            opened = self.latest(left)
            closed = opened and _day_from(right.day or 1, opened[0])
            return (opened[0], closed) if opened and closed else None
        if left.year is None and right.year is None:
            opened = self.latest(left)
            closing = opened and self.first_from(right, opened[0])
        elif left.year is None and right.year is not None:
            closing = _span(right, right.year)
            opened = _span(left, right.year)
            if opened and closing and opened[0] > closing[1]:
                opened = _span(left, right.year - 1)
        else:
            opened = self.latest(left)
            closing = self.first_from(right, opened[0]) if opened and right.year is None else self.latest(right)
        if not opened or not closing:
            return None
        return min(opened[0], closing[0]), max(opened[1], closing[1])

    def first_from(self, piece: _Piece, day: date) -> tuple[date, date] | None:
        """The first such piece that ends on that day or later."""
        spans = (_span(piece, year) for year in range(day.year, min(day.year + 9, 9999)))
        return next((span for span in spans if span and span[1] >= day), None)


_OPENERS = frozenset(
    frozenset("the week weekend day month quarter year calendar earlier later prior up couple as".split())
    | _PREPOSITIONS.keys()
    | _DIRECTIONS.keys()
    | _THIRDS.keys()
    | _THIRDS_OF.keys()
    | _NEAR_DAYS.keys()
    | _COUNTS.keys()
    | _SOME
    | _ORDINALS.keys()
    | _MONTHS.keys()
    | _WEEKDAYS.keys()
    | _SEASONS.keys()
    | _QUARTERS.keys()
    | _HALVES.keys()
    | _FEASTS
)


def _first(read: _Read) -> date:
    return read.first


def _shift(day: date, days: int) -> date:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.min if days < 0 else date.max


def _add_months(day: date, months: int) -> date:
    """The same day that many months on, or the last of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return date.min if months < 0 else date.max
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _move(day: date, count: int, unit: str) -> date:
    """The day that many units on; what is shorter than a day counts in whole days."""
    if unit in _MONTHS_IN:
        return _add_months(day, count * _MONTHS_IN[unit])
    if unit in _DAYS_IN:
        return _shift(day, count * _DAYS_IN[unit])
    days = abs(count) // (24 if unit == "hour" else 24 * 60)
    return _shift(day, days if count > 0 else -days)


def _month_span_end(first: date, months: int) -> date:
    after = _add_months(first, months)
    return date.max if after == date.max else _shift(after, -1)


def _span(piece: _Piece, year: int) -> tuple[date, date] | None:
    """The days of a piece in that year; None where it has no such day."""
    if not 1 <= year <= 9999:
        return None
    if piece.kind == "date":
        month, day = piece.month or 1, piece.day or 0
        if not 1 <= day <= monthrange(year, month)[1]:
            return None
        return date(year, month, day), date(year, month, day)
    first = date(year, piece.month or 1, 1)
    last = _month_span_end(first, 12 if piece.kind == "year" else piece.months)
    return (first, last) if piece.third is None else _third(first, last, piece.third)


def _third(first: date, last: date, third: int) -> tuple[date, date]:
    """The early, middle or late part of a period: of a month days 1 to 10, 11 to 20 and the rest."""
    days = (last - first).days + 1
    if days == 1:
        return first, last
    if 28 <= days <= 31:
        second, late = _shift(first, 10), _shift(first, 20)
    elif days < 89:
        second, late = _shift(first, (days * 2 + 3) // 7), _shift(first, (days * 4 + 3) // 7)
    else:
        months = round(days / 30.44)
        second, late = _add_months(first, (months + 2) // 3), _add_months(first, (months * 2 + 2) // 3)
    starts = (first, second, late)
    end = last if third == 2 else max(starts[third], _shift(starts[third + 1], -1))  # two days have no middle
    return starts[third], end


def _cut(first: date, last: date, number: int, count: int, unit: str) -> tuple[date, date] | None:
    """The nth part of a period, counted from its end where the number is -1; None where it has none."""
    if unit in _DAY_NAMES:
        ahead = (_WEEKDAYS[unit] - first.weekday()) % 7 + 7 * (number - 1)
        day = _shift(first, ahead) if number > 0 else _shift(last, -((last.weekday() - _WEEKDAYS[unit]) % 7))
        return (day, day) if first <= day <= last else None
    if unit == "half":
        month = 28 <= (last - first).days + 1 <= 31
        middle = _shift(first, 15) if month else _add_months(first, round((last - first).days / 30.44) // 2)
        return (first, _shift(middle, -1)) if number == 1 else (middle, last)
    if unit == "weekend":
        saturday = _shift(first, (5 - first.weekday()) % 7 + 7 * (number - 1))
        if number < 0:
            saturday = _shift(last, -((last.weekday() - 5) % 7))
        return (saturday, _shift(saturday, 1)) if first <= saturday <= last else None
    if number < 0:
        start = _shift(_move(_shift(last, 1), -count, unit), 0)
        return max(first, start), last
    start = _move(first, (number - 1) * count, unit)
    end = _shift(_move(start, count, unit), -1)
    return (start, min(end, last)) if start <= last else None


def _day_from(day: int, earliest: date) -> date | None:
    """The first such day of a month on that date or after it."""
    for ahead in range(3):
        first = _add_months(earliest.replace(day=1), ahead)
        if day <= monthrange(first.year, first.month)[1] and first.replace(day=day) >= earliest:
            return first.replace(day=day)
    return None


def _feast_day(name: str, year: int) -> date:
    if name == "easter":
        return _easter(year)
    if name == "thanksgiving":  # the fourth Thursday of November
        first = date(year, 11, 1)
        return _shift(first, (3 - first.weekday()) % 7 + 21)
    month, day = {
        "christmas": (12, 25),
        "xmas": (12, 25),
        "christmas eve": (12, 24),
        "new eve": (12, 31),
        "new day": (1, 1),
        "halloween": (10, 31),
    }[name]
    return date(year, month, day)


def _easter(year: int) -> date:
    """Easter Sunday of the western churches (the Gregorian rule of Meeus, Jones and Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    moon = (19 * golden + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def _without(text: str, start: int, end: int) -> str:
    """The text without those characters, single-spaced, without the commas and brackets that held the phrase alone."""
    rest = " ".join(f"{text[:start]} {text[end:]}".split())
    rest = re.sub(r"\( ?\)|\[ ?\]|\" ?\"", "", rest)
    rest = re.sub(r" ?[,;] ?([,;.])", r"\1", rest)
    rest = " ".join(rest.strip(" ,;:").split())
    return rest if re.search(r"\w", rest) else ""
