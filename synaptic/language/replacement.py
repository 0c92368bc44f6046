"""Judges if a later note replaces an earlier one on the same matter, or repeats it. Pure.

| earlier | later | verdict |
|---|---|---|
| The pool has 40 connections. | The pool has 25 connections. | replaced |
| The docs site is built by Netlify. | The docs site is built by Pages now. | replaced |
| Rehearsals are in the parish hall. | Since Whitsun we sing at the school. | replaced |
| The skip is emptied each Wednesday. | Midweek a lorry takes the rubble. | repeated |
| Ada owns the importer. | From today Ben owns the exporter. | none: two matters |
| May we film the concert? | Filming the concert is allowed. | none: an answer |
| Prices are integers. | Prices are integers that are rounded half to even. | none: it adds |

Only two notes are judged that are nearer to each other than to all others. Where both are one
sentence with other words in it, these words tell: a value in place of another, or a sign of
change and the same subject. Elsewhere a sum of features tells, none of which decides alone: a
note that replaces or repeats begins with something else than the earlier one and has few of
its words in their order, while what only sounds alike is said alike.

The weights of the sum are those of a logistic regression (`data/replacement.toml`), fitted by
`scripts/bench/fit_replacement.py`; `scripts/bench.py pairs` measures them.
"""

import math
import re
import tomllib
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import chain, pairwise
from typing import Literal, NamedTuple

from ..files import DATA
from ..notes.dates import calendar_names, fold_letters
from .lexicon import STOP_WORDS, Words, sentence_ends
from .tongues import EAST, KOREAN, TONGUES
from .words import words

Verdict = Literal["replaced", "repeated"]
Stem = Callable[[str], str | None]

MOST_READ = 2_000
"""Characters of a note that are read: what it is about stands at its beginning."""

PARALLEL = 0.3
"""The share of equal words in a row from which on two notes are the same sentence with other
words in it: in three sets of pairs all of the 157 above it only sound alike, but for two.
"""
OTHER_NAME, OTHER_VALUE, SAME = 0.8, 0.85, 0.95
"""The closeness from which on names need not be the same where the later note begins alike and
has a sign of change, from which on another value in the same sentence replaces the former, and
from which on two notes say the same. Chosen on freshness.json and replaced.json.
"""
LEAST, LEAST_WITHOUT_WORDS = 0.37, 0.5
"""The least closeness for the sum of features, and that of notes without a word in common: in a
journal of few notes two that share nothing are the nearest of each other. Of the sets on which
the weights were fitted they cost 1 of 150 replaced pairs and 6 of 50 repeated ones; notes that
are named wrongly at a save fall from 19 to 7.
"""
BEGINNING = 2
"""The number of first words that such sentences share at least."""
LONG = 6
"""Words in a row that stand in place of more than so many others are another sentence."""
FIRST = 3
"""A note names its subject with its first three content words."""

MOST_SHARED, MOST_NAMES, MOST_CHOSEN, MOST_WORDS = 6, 2, 3, 40
"""From here on more shared words, shared names, words of what was rejected, and words of a note
tell nothing more.
"""
SHORT = 20
"""The greatest number of words of a note that is taken for a repetition. By eye."""
USUAL_UNMATCHED = 0.3
"""The share of unmatched tokens where the model has no tokens."""

_CHANGES = Words("changes")
_QUESTION = re.compile(r"[?？؟](?!\w)")
_NAME = re.compile(r"(?<=[\w,;)] )[A-Z][^\W\d_]*\b")
"""A word with a capital within a sentence."""


class Nearness(NamedTuple):
    """How near two entries are that are nearer to each other than to all others.

    `closeness` is their cosine as the shipped model would have it, `unmatched` the share of the
    earlier one's tokens that are close to no token of the later one.
    """

    closeness: float
    unmatched: float = USUAL_UNMATCHED


class PairKind(NamedTuple):
    """What two entries are: decisions, which later ones often only refine, or notes of a diary,
    in which the same sentence with another number is of another day.
    """

    is_decision: bool = False
    is_diary: bool = False


PLAIN = PairKind()


class Note:
    """A text, read for comparisons. `stem` returns the stem of a word, or None."""

    def __init__(self, text: str, stem: Stem) -> None:
        self._text = text[:MOST_READ]
        self._stem = stem

    @cached_property
    def words(self) -> list[str]:
        return [word for _, word in words(self._text)]

    @cached_property
    def content_words(self) -> list[str]:
        """The stems of its words in their order, without stop words and numbers."""
        return [
            self._stem(word) or word
            for word in self.words
            if _says_something(word) and not _has_digit(word)
        ]

    @cached_property
    def content(self) -> set[str]:
        return set(self.content_words)

    @cached_property
    def numbers(self) -> set[str]:
        """Its words with a digit."""
        return {word for word in self.words if _has_digit(word)}

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
        """The stems of words that only its sentences about rejected options hold, and lists
        behind them.
        """
        rejecting = _sign_finder("rejected")
        chosen: list[str] = []
        rejected: list[str] = []
        ends = [0, *sentence_ends(self._text), len(self._text)]
        is_rejecting = False
        for begin, end in pairwise(ends):
            sentence = self._text[begin:end]
            goes_on = is_rejecting and sentence.lstrip().startswith(("-", "*"))
            is_rejecting = goes_on or bool(rejecting.search(fold_letters(sentence)))
            (rejected if is_rejecting else chosen).append(sentence)
        if not rejected:
            return set()
        return (
            Note(" ".join(rejected), self._stem).content
            - Note(" ".join(chosen), self._stem).content
        )

    @cached_property
    def signs_of_change(self) -> set[str]:
        return set(_sign_finder("changed").findall(fold_letters(self._text)))


def judge(earlier: Note, later: Note, near: Nearness, kind: PairKind = PLAIN) -> Verdict | None:
    """Says if `later` replaces or repeats `earlier`; None: both stay, as far as can be told."""
    if earlier.asks:
        return None
    changes = bool(later.signs_of_change - earlier.signs_of_change)
    if changes and _has_same_subject(earlier, later, near):
        return "replaced"
    matcher = _match_words(earlier, later)
    if matcher.ratio() >= PARALLEL:
        if kind.is_diary:
            return None
        if _has_other_value(earlier, later, matcher):
            return "replaced" if near.closeness >= OTHER_VALUE else None
        return "repeated" if near.closeness >= SAME and not changes else None
    if near.closeness < (LEAST if earlier.content & later.content else LEAST_WITHOUT_WORDS):
        return None
    features = measure(earlier, later, near, kind)
    weights = _weights()
    total = weights["intercept"] + sum(
        weights[name] * value for name, value in features.items()
    )
    if total < weights["least"]:
        return None
    is_change = changes or features["words_of_rejected"] or len(later.words) > SHORT
    return "replaced" if is_change else "repeated"


def measure(earlier: Note, later: Note, near: Nearness, kind: PairKind) -> dict[str, float]:
    """The features of two notes by the names that `data/replacement.toml` explains."""
    shared = earlier.content & later.content
    lost = [place for place, word in enumerate(earlier.content_words) if word not in shared]
    is_of_earlier = [word in shared for word in later.content_words[:FIRST]]
    have_numbers = bool(earlier.numbers and later.numbers)
    return {
        "closeness": near.closeness,
        "unmatched": near.unmatched,
        "same_order": _match_words(earlier, later).ratio(),
        "shared_words": min(len(shared), MOST_SHARED),
        "share_of_later": len(shared) / max(1, len(later.content)),
        "shared_names": min(len(earlier.names & later.content), MOST_NAMES),
        "same_beginning": sum(is_of_earlier) / FIRST,
        "first_lost": (lost[0] if lost else len(earlier.content_words))
        / max(1, len(earlier.content_words)),
        "words_of_rejected": min(len(earlier.not_chosen & later.content), MOST_CHOSEN),
        "other_numbers": float(have_numbers and earlier.numbers.isdisjoint(later.numbers)),
        "words_of_earlier": math.log(1 + len(earlier.words)),
        "words_of_later": math.log(1 + min(len(later.words), MOST_WORDS)),
        "is_decision": float(kind.is_decision),
    }


def _match_words(earlier: Note, later: Note) -> SequenceMatcher[str]:
    return SequenceMatcher(None, earlier.words, later.words, autojunk=False)


def _has_other_value(earlier: Note, later: Note, matcher: SequenceMatcher[str]) -> bool:
    """True if the first words that stand in place of others are a number or a date, and do not
    stand at the beginning: there they name what the note is about.
    """
    if earlier.words[:BEGINNING] != later.words[:BEGINNING]:
        return False
    for kind, begin, end, later_begin, later_end in matcher.get_opcodes():
        before, after = earlier.words[begin:end], later.words[later_begin:later_end]
        if kind != "replace" or min(len(before), len(after)) > LONG:
            continue
        if any(map(_is_number_or_date, before)) and any(map(_is_number_or_date, after)):
            return True
        if any(map(_says_something, before)) and any(map(_says_something, after)):
            return False
    return False


def _has_same_subject(earlier: Note, later: Note, near: Nearness) -> bool:
    """True if the later note begins with words of the earlier one, and has its first content
    words; of notes that are less close its names, too, except names of what it rejected.
    """
    is_of_earlier = [word in earlier.content for word in later.content_words[:FIRST]]
    subject = set(earlier.content_words[:FIRST])
    if near.closeness < OTHER_NAME:
        subject |= earlier.names - earlier.not_chosen
    return subject <= later.content and sum(is_of_earlier) >= FIRST - 1


def _says_something(word: str) -> bool:
    return len(word) > 1 and fold_letters(word) not in _stop_words()


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _is_number_or_date(word: str) -> bool:
    """True for a number or a part of a date."""
    return _has_digit(word) or fold_letters(word) in _calendar()


@cache
def _weights() -> dict[str, float]:
    """The weights of the features, the intercept, and the least sum (`least`)."""
    table = tomllib.loads((DATA / "replacement.toml").read_text("utf-8"))
    return {**table["weights"], "intercept": table["intercept"], "least": table["least"]}


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
