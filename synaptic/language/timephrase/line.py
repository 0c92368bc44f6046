"""A text as words. Each word has a letter for its kind and a value, so that a pattern of
letters reads a phrase.

| letter      | words                     | value           | letter | words                  | value            |
|-------------|---------------------------|-----------------|--------|------------------------|------------------|
| `i`         | 2025-11-03, 2025-06, 3.11.| 20251103, 1103  | `n`    | 12                     | the number       |
| `y`         | 1900 to 2100, '25         | the year        | `N`    | twelve                 | the number       |
| `m`         | November, nov             | 1 to 12         | `a`    | a, an                  | 1                |
| `w`         | Tuesday, tue              | 0 for Monday    | `k`    | few, couple            | at most so many  |
| `q`         | Q3                        | 1 to 4          | `o`    | 3rd, third             | 1 to 31          |
| `s`         | summer                    | its first month | `-`    | any dash               | none             |
| `d`         | last, this, next          | -1, 0, 1        | `u`    | weeks                  | the unit         |
| `t`         | yesterday, now            | days from today | `z`    | 10d                    | number and unit  |
| `p`         | morning                   | none            | `e`    | early, mid, late       | 0, 1, 2          |
| `g`         | ago, back                 | none            | `b`    | beginning, middle, end | 0, 1, 2          |
| `I` `O` `F` | in, of, from              | the preposition | `B`    | before, after          | the preposition  |
| `P`         | since, until and others   | the preposition | `T`    | the                    | none             |

A dash of any kind is `-`, another sign is itself, and any other word is `x`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from ..lexicon import COUNTS, MONTHS, WEEKDAYS, Words, compiled

TIMES = Words("times")

_WORD = (
    r"\d{4}-\d{2}-\d{2}(?:T\d[\d:.]*(?:Z|[+-]\d\d:?\d\d)?)?|\d{4}-\d{2}(?![\w-])"
    r"|\d{4}/\d{2}/\d{2}|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.(?:\d{4}|(?![\w.]))|['’]\d\d(?![\w/.:-])|[^\W_]+|[^\w\s]|_"
)
_TABLES = {
    "s": "seasons",
    "t": "near_days",
    "e": "thirds",
    "b": "thirds_of",
    "k": "some",
}
_PREPOSITIONS = {"in": "I", "of": "O", "from": "F", "before": "B", "after": "B"}


class Amount(NamedTuple):
    """ "3 days", "few months": at least and at most so many of a unit; `at` is the word after
    it.
    """

    least: int
    most: int
    unit: str
    at: int


class Line:
    """The words of one text, and the day it is read on. Readers get it, and the number of the
    word where to read.

    A question looks back from that day. What is due lies `ahead` of it: "Friday" is the next
    one, that day included. A note looks `around` it: "this Tuesday" is the next one, and a
    month or a year that is counted ("two months ago") is a whole one.
    """

    def __init__(
        self, text: str, today: date, *, around: bool = False, ahead: bool = False
    ) -> None:
        self.text, self.today, self.around, self.ahead = text, today, around, ahead
        found = list(compiled(_WORD).finditer(text))
        self.written = [word[0] for word in found]
        self.words = [word.lower() for word in self.written]
        self.spans = [word.span() for word in found]
        self._values = [_kind_of(word) for word in self.words]
        self.kinds = "".join(kind for kind, _ in self._values)

    def word(self, i: int) -> str:
        """The word in lower case, or "" outside the text."""
        return self.words[i] if 0 <= i < len(self.words) else ""

    def match(self, pattern: str, i: int) -> tuple[Mapping[str, Any], int] | None:
        """(the values of the words whose letters name groups of the pattern, the word after
        what fits) from i on.
        """
        found = compiled(pattern).match(self.kinds, i)
        if found is None:
            return None
        places = {letter: found.start(letter) for letter in found.groupdict() if found[letter]}
        return {letter: self._values[place][1] for letter, place in places.items()}, found.end()

    def amount(self, i: int) -> Amount | None:
        """3 days, a couple of weeks, few months, 10d."""
        found = self.match("(?P<z>z)|(?:(?P<n>[nNya])|a?(?P<k>k)O?)(?P<u>u)", i)
        if found is None:
            return None
        of, at = found
        if "z" in of:
            count, unit = of["z"]
            return Amount(count, count, unit, at)
        most = of["k"] if "k" in of else of["n"]
        return (
            Amount(2 if "k" in of else most, most, of["u"], at)
            if most and of["u"] != "weekend"
            else None
        )

    def possessive(self, i: int) -> bool:
        """True if a glued `'s` stands at i."""
        glued = 0 < i < len(self.words) - 1 and self.spans[i - 1][1] == self.spans[i][0]
        return glued and self.words[i] in ("'", "’") and self.words[i + 1] == "s"

    def closes(self, i: int) -> bool:
        """True if a phrase that ends before i describes no noun."""
        word = self.word(i)
        return word in TIMES.goes_on or not word[:1].isalnum()


@cache
def kinds() -> Mapping[str, tuple[str, Any]]:
    """The letter and the value of each word that times are made of, besides numbers."""
    named: dict[str, Mapping[str, Any]] = {
        "p": dict.fromkeys(TIMES.parts_of_day),
        "u": TIMES.table("units"),
        "o": {word: number for number, word in enumerate(TIMES.ordered("ordinals"), 1)},
        "q": {f"q{number}": number for number in range(1, 5)},
        "N": COUNTS,
        "a": {"a": 1, "an": 1},
        "d": TIMES.numbers("directions"),
        "m": MONTHS,
        "w": WEEKDAYS,
        **{letter: TIMES.numbers(table) for letter, table in _TABLES.items()},
        "g": {"ago": None, "back": None},
        "T": {"the": None},
    }
    prepositions: dict[str, tuple[str, Any]] = {}
    for word in TIMES.prepositions:
        name = "until" if word in ("till", "til") else word
        prepositions[word] = _PREPOSITIONS.get(name, "P"), name
    return prepositions | {
        word: (letter, value)
        for letter, table in named.items()
        for word, value in table.items()
    }


def _kind_of(word: str) -> tuple[str, Any]:
    """The letter and the value of a word."""
    if known := kinds().get(word):
        return known
    if len(word) == 3 and word[0] in "'’":
        return "y", 2000 + int(word[1:])
    if not word[0].isalnum():
        return "-" if word in "-–—" else word, None
    digits = compiled(r"(\d{1,6})([a-z]{0,2})", re.ASCII).fullmatch(word)
    if digits is None:
        date_ = _date(word) if word[0].isdigit() and not word.isalnum() else 0
        return ("i", date_) if date_ else ("x", None)
    number, end = int(digits[1]), digits[2]
    if not end:
        return ("y" if 1900 <= number <= 2100 else "n"), number
    if end in ("st", "nd", "rd", "th"):
        return "o", number
    unit = TIMES.table("short_units").get(end)
    return ("z", (number, unit)) if unit else ("x", None)


def _date(word: str) -> int:
    """2025-11-03 as 20251103, 2025-06 as 20250600, 3.11. as 1103; 11/03/2025 (month first),
    3.11.2025 (day first).

    0 where there is no such month or day.
    """
    if word.endswith("."):
        day, month = map(int, word[:-1].split("."))
        return month * 100 + day if 1 <= month <= 12 and 1 <= day <= 31 else 0
    one, other, *rest = map(int, re.split("[-/.]", word.partition("t")[0]))
    if not rest or one > 31:
        return one * 10_000 + other * 100 + (rest[0] if rest else 0)
    month, day = (other, one) if "." in word or one > 12 else (one, other)
    return rest[0] * 10_000 + month * 100 + day
