"""A text as words, and the small things that are read of them: numbers, years, amounts."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from ..lexicon import COUNTS, compiled
from .tables import SHORT_UNITS, TIMES, UNITS

_WORD = (
    r"\d{4}-\d{2}-\d{2}(?:T\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?|\d{4}-(?:\d{2}|[Ww]\d{2})(?![\w-])"
    r"|\d{4}/\d{2}/\d{2}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4}|[^\W_]+|[^\w\s]|_"
)


class Read(NamedTuple):
    """The days that a phrase names; `at` is the word after it."""

    first: date
    last: date
    at: int
    certain: bool = True


class Amount(NamedTuple):
    """ "3 days", "few months": at least and at most so many of a unit; `at` is the word after it."""

    least: int
    most: int
    unit: str
    at: int


class Line:
    """The words of one text, and the day it is read on. Readers get it, and the number of the word where to read.

    A question looks back from that day. A note looks `around` it: "this Tuesday" is the next one, and a month or a year
    that is counted ("two months ago") is a whole one.
    """

    def __init__(self, text: str, today: date, *, around: bool = False) -> None:
        self.text, self.today, self.around = text, today, around
        found = list(compiled(_WORD).finditer(text))
        self.written = [word[0] for word in found]
        self.words = [word.lower() for word in self.written]
        self.spans = [word.span() for word in found]

    def word(self, i: int) -> str:
        """The word in lower case, or "" outside the text."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def capital(self, i: int) -> bool:
        return self.written[i][0].isupper()

    def possessive(self, i: int) -> bool:
        """Whether a glued `'s` stands at i."""
        glued = 0 < i < len(self.words) - 1 and self.spans[i - 1][1] == self.spans[i][0]
        return glued and self.words[i] in ("'", "’") and self.words[i + 1] == "s"

    def closes(self, i: int) -> bool:
        """Whether a phrase that ends before i describes no noun."""
        word = self.word(i)
        return word in TIMES.goes_on or not word[:1].isalnum()

    def skip(self, i: int, *words: str) -> int:
        """The word after i where one of these stands there, else i."""
        return i + 1 if self.word(i) in words else i

    def number(self, i: int, digits: int) -> int | None:
        """The number of so many digits at most."""
        return number(self.word(i), digits)

    def year(self, i: int) -> int | None:
        word = self.word(i)
        year = number(word, 4) if len(word) == 4 else None
        return year if year and 1900 <= year <= 2100 else None

    def year_after(self, i: int, *, of: bool = False) -> tuple[int | None, int]:
        """(the year that follows, the word after it), or (None, i)."""
        j = self.skip(i, ",", "of") if of else self.skip(i, ",")
        if year := self.year(j):
            return year, j + 1
        short = self.number(i + 1, 2) if self.word(i) in ("'", "’") and len(self.word(i + 1)) == 2 else None
        return (None, i) if short is None else (2000 + short, i + 2)

    def day_of_month(self, i: int) -> tuple[int, bool] | None:
        """(1 to 31, whether written as an ordinal)."""
        word = self.word(i)
        is_ordinal = word.endswith(("st", "nd", "rd", "th"))
        day = number(word[:-2] if is_ordinal else word, 2)
        return (day, is_ordinal) if day and day <= 31 else None

    def amount(self, i: int) -> Amount | None:
        """3 days, a couple of weeks, few months, 10d."""
        word, j = self.word(i), i + 1
        digits = word.rstrip("hdwmoy")
        short, count = SHORT_UNITS.get(word[len(digits) :]), number(digits, 6)
        if short and count is not None:
            return Amount(count, count, short, j)
        if word == "a" and self.word(j) in ("few", "couple", "dozen"):
            word, j = self.word(j), j + 1
        if word in TIMES.some:
            least, most = 2, 5
        elif word == "couple":
            least, most, j = 2, 2, self.skip(j, "of")
        else:
            least = most = 12 if word == "dozen" else number(word, 6) or COUNTS.get(word, 0)
        unit = UNITS.get(self.word(j))
        return Amount(least, most, unit, j + 1) if unit and most else None


def number(word: str, digits: int) -> int | None:
    """The number that a word of so many digits at most is."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= digits else None
