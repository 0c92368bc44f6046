"""Judges if a later note replaces an earlier one on the same matter, or repeats it. Pure.

| earlier | later | verdict |
|---|---|---|
| The pool has 40 connections. | The pool has 25 connections. | replaced |
| Rehearsals are in the parish hall. | We no longer sing in the parish hall. | replaced |
| Sessions are cookies. Rejected: a Redis cluster. | A Redis cluster has them. | replaced |
| The skip is emptied each Wednesday. | Midweek a lorry takes the rubble. | repeated |
| Ada owns the importer. | Ben owns the exporter. | none: two matters |
| May we film the concert? | Filming the concert is allowed. | none: an answer |
| Prices are integers. | Prices are integers that are rounded half to even. | none: it adds |

The numbers were chosen on pairs_dev.json, helps_dev.json, freshness.json, replaced.json and the
even cases of corrections.json (tests/data). `scripts/bench.py pairs` measures them.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import Literal, NamedTuple

from ..notes.dates import calendar_names, fold_letters
from .lexicon import STOP_WORDS, Words, sentence_ends
from .tongues import EAST, KOREAN, TONGUES
from .words import words

Verdict = Literal["replaced", "repeated"]
Stem = Callable[[str], str | None]

MOST_READ = 2_000
"""Characters of a note that are read: what it is about stands at its beginning."""

STANDING_OUT, SHARED_WORD, SHARED_MARK = 2.5, 0.08, 0.3
MOST_SHARED, MOST_MARKS = 4, 2
SURE = 0.55
"""Two notes are on one matter if their closeness, 2.5 times what it exceeds the closeness of
all others by, .08 for each word that both hold (at most 4) and .3 for each tag or file (at most
2) add up to this.
"""

PARALLEL, ALIKE = 0.4, 0.25
"""The share of equal words in a row from which on two notes are the same sentence with other
words in it, and from which on they begin alike.
"""
SUBJECT, EXCHANGED = 5, 3
"""A sentence names its subject in its first five words. Up to three words in a row may stand
in place of three others.
"""
MUCH_SHARED = 0.4
"""The least share of words that both notes hold where only a number tells of the change."""

REWORDED, STANDING_OUT_REWORDED, FEW_SHARED = 0.72, 1.1, 0.34
"""Notes that share less than a third of their words say the same if their closeness, and 1.1
times what it exceeds that of all others by, add up to .72: more shared words mean that the
later adds to the earlier.
"""
SAME = 0.95
"""The closeness from which on two notes say the same. Chosen by eye."""

LEAST_NOT_CHOSEN = 2
"""The number of words by which a later note chooses what the earlier rejected."""

_CHANGES = Words("changes")
_DATE = "a date"
_QUESTION = re.compile(r"[?？؟](?!\w)")
_NAME = re.compile(r"(?<=[\w,;)] )[A-Z][^\W\d_]*\b")
"""A word with a capital within a sentence."""


class Nearness(NamedTuple):
    """How near two entries are: `closeness` is their cosine as the shipped model would have it,
    `standout` what it exceeds the closeness of either to all others by, `marks` how many tags
    and files both have.
    """

    closeness: float
    standout: float
    marks: int = 0

    def support(self, shared: int = MOST_SHARED) -> float:
        """What speaks for one matter, if the notes share this number of words."""
        return (
            self.closeness
            + STANDING_OUT * self.standout
            + SHARED_WORD * min(shared, MOST_SHARED)
            + SHARED_MARK * min(self.marks, MOST_MARKS)
        )

    @property
    def likeness(self) -> float:
        """What speaks for the same statement in other words."""
        return self.closeness + STANDING_OUT_REWORDED * self.standout

    @property
    def is_possible(self) -> bool:
        """False if `judge` finds nothing, whatever the texts are."""
        return self.support() >= SURE or self.likeness >= REWORDED


class Note:
    """A text, read for comparisons. `stem` returns the stem of a word, or None."""

    def __init__(self, text: str, stem: Stem) -> None:
        self._text = text[:MOST_READ]
        self._stem = stem

    @cached_property
    def words(self) -> list[str]:
        return [word for _, word in words(self._text)]

    @cached_property
    def content(self) -> set[str]:
        """The stems of its words, without stop words and numbers."""
        return {
            self._stem(word) or word
            for word in self.words
            if _says_something(word) and not _has_digit(word)
        }

    @cached_property
    def asks(self) -> bool:
        return _QUESTION.search(self._text) is not None

    @cached_property
    def names(self) -> set[str]:
        """The stems of its words with a capital; no months and weekdays."""
        names = {name.lower() for name in _NAME.findall(self._text)} - _calendar()
        return {self._stem(name) or name for name in names}

    @cached_property
    def not_chosen(self) -> set[str]:
        """The stems of words that only its sentences about rejected options hold."""
        rejecting = _sign_finder("rejected")
        chosen: list[str] = []
        rejected: list[str] = []
        ends = [0, *sentence_ends(self._text), len(self._text)]
        for begin, end in pairwise(ends):
            sentence = self._text[begin:end]
            is_rejecting = rejecting.search(fold_letters(sentence))
            (rejected if is_rejecting else chosen).append(sentence)
        if not rejected:
            return set()
        return (
            Note(" ".join(rejected), self._stem).content
            - Note(" ".join(chosen), self._stem).content
        )

    @cached_property
    def values(self) -> dict[str, set[str]]:
        """Its numbers by the stem of the word behind them: `12 minutes`. All dates are one."""
        values: dict[str, set[str]] = {}
        for number, unit in pairwise(self.words):
            if _has_digit(number) and not _has_digit(unit):
                if fold_letters(unit) in _calendar():
                    values.setdefault(_DATE, set()).add(number + unit)
                elif _says_something(unit):
                    values.setdefault(self._stem(unit) or unit, set()).add(number)
        return values

    def signs(self, table: str) -> set[str]:
        """The words of a table of `data/words/changes.toml` that it holds."""
        return set(_sign_finder(table).findall(self._folded))

    @cached_property
    def _folded(self) -> str:
        return fold_letters(self._text)


def judge(
    earlier: Note, later: Note, near: Nearness, *, is_issue: bool = False
) -> Verdict | None:
    """Says if `later` replaces or repeats `earlier`; None: both stay, as far as can be told.
    `is_issue`: both are about something that is broken.
    """
    if earlier.asks or not near.is_possible:
        return None
    exchange = _Exchange(earlier.words, later.words)
    if exchange.of_subject:
        return None
    shared = earlier.content & later.content
    share = len(shared) / max(1, min(len(earlier.content), len(later.content)))
    keeps_names = earlier.names <= later.content
    changes = (
        later.signs("changed") - earlier.signs("changed")
        or (is_issue and later.signs("solved") - earlier.signs("solved"))
        or len(earlier.not_chosen & later.content) >= LEAST_NOT_CHOSEN
        or exchange.of_value
        or (share >= MUCH_SHARED and keeps_names and _has_other_value(earlier, later))
    )
    if changes:
        return "replaced" if near.support(len(shared)) >= SURE else None
    is_reworded = share < FEW_SHARED and near.likeness >= REWORDED and keeps_names
    return "repeated" if is_reworded or near.closeness >= SAME else None


class _Exchange:
    """The first words of the earlier of two notes in place of which the later has others.

    `of_subject`: they are near the beginning of both, so that the notes are about two things.
    `of_value`: both are one sentence, and these words are a number or a date.
    """

    def __init__(self, earlier: Sequence[str], later: Sequence[str]) -> None:
        self.of_subject = self.of_value = False
        matcher = SequenceMatcher(None, earlier, later, autojunk=False)
        ratio = matcher.ratio()
        spans = [span for kind, *span in matcher.get_opcodes() if kind == "replace"]
        if ratio < ALIKE or not spans:
            return
        begin, end, later_begin, later_end = spans[0]
        before, after = earlier[begin:end], later[later_begin:later_end]
        is_parallel = ratio >= PARALLEL
        if _is_number_or_date(before[0]) and _is_number_or_date(after[0]):
            self.of_value = is_parallel
            return
        is_short = max(len(before), len(after)) <= EXCHANGED
        if max(begin, later_begin) < SUBJECT and (is_parallel or is_short):
            says = any(map(_says_something, before)) and any(map(_says_something, after))
            self.of_subject = says and not _tells_of_change(after)


def _tells_of_change(those: Sequence[str]) -> bool:
    """True if these words in a row are, or hold, a sign of change: `we no longer`."""
    text = fold_letters(" ".join(those))
    return any(_sign_finder(table).search(text) for table in ("changed", "solved"))


def _has_other_value(earlier: Note, later: Note) -> bool:
    """True if both notes have a number of the same thing, and not the same one."""
    units = earlier.values.keys() & later.values.keys()
    return any(earlier.values[unit].isdisjoint(later.values[unit]) for unit in units)


def _says_something(word: str) -> bool:
    return len(word) > 1 and fold_letters(word) not in _stop_words()


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _is_number_or_date(word: str) -> bool:
    return _has_digit(word) or fold_letters(word) in _calendar()


@cache
def _stop_words() -> frozenset[str]:
    """Words of all languages that say nothing by themselves."""
    stops = [getattr(TONGUES, name) for name in TONGUES.read if name.startswith("stop_")]
    return frozenset(STOP_WORDS).union(*stops)


@cache
def _calendar() -> frozenset[str]:
    """The names of months and weekdays in all languages, folded."""
    kinds = (calendar_names("months"), calendar_names("weekdays"))
    lists = chain.from_iterable(kind.values() for kind in kinds)
    return frozenset(form for names in lists for forms in names for form in forms)


@cache
def _sign_finder(table: str) -> re.Pattern[str]:
    """Finds the words of a table of `data/words/changes.toml` in folded text."""
    return re.compile("|".join(_sign_patterns(table)))


def _sign_patterns(table: str) -> Iterator[str]:
    for tongue, vocabulary in _CHANGES.read[table].items():
        forms = [
            re.escape(word).replace("_", r"\s+").replace(r"\*", r"\w*")
            for word in sorted(vocabulary.split(), key=len, reverse=True)
        ]
        either = "|".join(forms)
        if tongue == EAST:
            yield either
        else:
            yield rf"(?<!\w)(?:{either})" + ("" if tongue == KOREAN else r"(?!\w)")
