"""The formulas of ranking. Pure: numbers in, numbers out; the clock is an argument."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from ..errors import InvalidArgument, check_range, match_valid_name
from ..models import DEFAULT_IMPORTANCE, Order, Signals, Texts, Vector

if TYPE_CHECKING:
    from ..index.rows import RankingFacts, TimelinePosition

Key = TypeVar("Key", bound=Hashable)

MICROSECONDS_PER_DAY = 86_400e6

SIGNALS = ("semantic", "lexical", "symbolic", "recency", "importance", "access")
PRESETS: Mapping[str, Mapping[str, float]] = {
    "layers": {"semantic": 0.5, "lexical": 0.3, "symbolic": 0.2},
    "balanced": {"semantic": 0.5, "recency": 0.2, "importance": 0.2, "access": 0.1},
    "semantic": {"semantic": 0.8, "recency": 0.1, "importance": 0.1},
    "recent": {"semantic": 0.3, "recency": 0.5, "importance": 0.1, "access": 0.1},
    "important": {"semantic": 0.3, "recency": 0.1, "importance": 0.5, "access": 0.1},
    "popular": {"semantic": 0.3, "recency": 0.1, "importance": 0.1, "access": 0.5},
}
"""The weights of each preset. By eye."""


class Usual(NamedTuple):
    """Mean and standard deviation of how close passages are that have nothing to do with a
    text.
    """

    mean: float
    deviation: float


OF_QUESTIONS, OF_NOTES = Usual(0.1, 0.1), Usual(0.15, 0.1)
"""The usual cosines, about, of a question and of a note with unrelated notes. By eye."""

USUAL_COUNT = 20
"""The number of passages as which the usual values of any text count, when they are mixed with
a sample. By eye.
"""

FARTHEST = 5.0
"""Standard deviations above the usual from which a value is no more unlikely: one value in
3 million, 15 nats. By eye.
"""

RECENCY_HALF_LIFE_DAYS = 10 * math.log(2)
"""The half-life of the signal `recency`, 6.93 days: it falls by a tenth a day. By eye."""

ACCESS_SCALE = 5
"""ln(1 + reads) at which the signal `access` is 1: about 150 reads. By eye."""


@dataclass(slots=True)
class Ranked:
    """A candidate of a search with its score and the values that made it.

    `similarity` is the cosine of its best chunk, `lexical` its BM25 divided by the best BM25,
    `met` the preferences that it meets, `symbolic` their share, 0.5 if nothing is preferred.
    `decay` is 1 where age does not count. `also` are the rows of entries with the same text.
    """

    standing: RankingFacts
    score: float = 0.0
    decay: float = 1.0
    age_days: float = 0.0
    similarity: float | None = None
    lexical: float | None = None
    met: Texts = ()
    symbolic: float = 0.5
    also: tuple[int, ...] = ()
    rowid: int = field(init=False)
    position: TimelinePosition = field(init=False)

    def __post_init__(self) -> None:
        self.rowid = self.standing.rowid
        self.position = self.standing.position

    @property
    def signals(self) -> Signals:
        """The signals of the entry, each from 0 to 1; `semantic` or `lexical` is None if it was
        not found by meaning or by words.
        """
        standing = self.standing
        semantic = self.similarity
        importance = standing.importance
        if importance is None:
            importance = DEFAULT_IMPORTANCE
        recency = 0.0
        if standing.dated:
            recency = decay_by_age(self.age_days, half_life_days=RECENCY_HALF_LIFE_DAYS)
        return Signals(
            semantic=None if semantic is None else min(1.0, max(0.0, semantic)),
            lexical=self.lexical,
            symbolic=self.symbolic,
            recency=recency,
            importance=importance / 10,
            access=min(1.0, math.log1p(standing.accesses) / ACCESS_SCALE),
        )


Ranking: TypeAlias = list[Ranked]
"""Candidates, best first."""


def sort_by_score(ranked: Iterable[Ranked]) -> Ranking:
    """Candidates sorted by score, best first; of equal scores the later entry first."""
    return sorted(ranked, key=lambda r: (r.score, r.position), reverse=True)


def sort_ranking(ranked: Ranking, order: Order) -> Ranking:
    """The candidates sorted by `order`; of equal ones the newest first, and undated ones last.
    `relevance` changes nothing.
    """
    if order == "relevance":
        return list(ranked)
    by_time = sorted(ranked, key=lambda r: r.position, reverse=order != "oldest")
    by_time.sort(key=lambda r: not r.standing.dated)
    if order == "importance":
        by_time.sort(key=lambda r: r.signals.importance, reverse=True)
    elif order == "access":
        by_time.sort(key=lambda r: r.standing.accesses, reverse=True)
    return by_time


def reciprocal_rank_fusion(
    rankings: Mapping[str, Mapping[Key, float]], *, k: float, weights: Mapping[str, float]
) -> dict[Key, float]:
    """Fuses rankings by reciprocal rank and vote: the score of each key from 0 to 1, where 1 is
    the first place in every ranking.

    score(d) = sum_i w_i * v_i(d) / (k + rank_i(d)), over the best possible, ranks from 1:
    reciprocal rank fusion (Cormack, Clarke, Buettcher 2009, "Reciprocal Rank Fusion outperforms
    Condorcet"), in which a vote also falls with the value of the hit. A ranking maps keys to
    votes of 0 or more, in one unit for all rankings, so that a list with little to say decides
    little. A ranking without a weight counts 1; the result does not depend on the order of the
    rankings.
    """
    scores: dict[Key, float] = {}
    possible = 0.0
    for name in sorted(rankings):
        ranking = rankings[name]
        weight = weights.get(name, 1.0)
        possible += weight * max(ranking.values(), default=0.0) / (k + 1)
        by_rank = sorted(ranking, key=lambda key: -ranking[key])
        for rank, key in enumerate(by_rank, 1):
            scores[key] = scores.get(key, 0.0) + weight * ranking[key] / (k + rank)
    return {key: score / (possible or 1.0) for key, score in scores.items()}


def scale_to_best(ranking: Mapping[Key, float]) -> dict[Key, float]:
    """The ranking with values divided by the best one: votes of a list whose values have a unit
    of their own.
    """
    best = max(ranking.values(), default=0.0) or 1.0
    return {key: value / best for key, value in ranking.items()}


def surprise(value: float, usual: Usual) -> float:
    """How unlikely a passage is so close by chance, in nats: minus the logarithm of the upper
    tail of the normal distribution, from 0 (far below the usual) to 15.
    """
    deviations = min((value - usual.mean) / usual.deviation, FARTHEST)
    return -math.log(math.erfc(deviations / math.sqrt(2)) / 2)


def decay_by_age(age_days: float, *, half_life_days: float, floor: float = 0.0) -> float:
    """The factor by which an entry of this age counts, from 1 (now) down to `floor`; halfway
    after `half_life_days`. Searches, the signal `recency` and briefings use it.

    A floor keeps the only fitting old entry above new ones that hardly fit.
    """
    return floor + (1.0 - floor) * math.exp2(-age_days / half_life_days)


def mix_with_usual(sample: Vector, usual: Usual) -> Usual:
    """Mean and standard deviation of a sample, mixed with the `usual` ones as if these came
    from USUAL_COUNT more values.
    """
    count = len(sample)
    both = count + USUAL_COUNT
    squares = USUAL_COUNT * usual.deviation**2
    total = USUAL_COUNT * usual.mean
    if count:
        squares += count * float(sample.var())
        total += count * float(sample.mean())
    return Usual(total / both, (squares / both) ** 0.5)


def choose_weights(
    preset: str | None, weights: Mapping[str, Any] | None
) -> dict[str, float] | None:
    """The weights of the signals, which sum to 1; None if neither a preset nor weights are
    given, so that ranks are fused.

    A signal that `weights` does not name keeps the weight of the preset, which is `layers` if
    none is given. Raises InvalidArgument for unknown names, for a value that is not a number
    from 0 to 1, and if all weights are 0.
    """
    if not preset and not weights:
        return None
    name = match_valid_name(PRESETS, preset or "layers", "preset")
    chosen = dict.fromkeys(SIGNALS, 0.0) | dict(PRESETS[name])
    for name, value in (weights or {}).items():
        signal = match_valid_name(SIGNALS, name, "weight signal")
        check_range(f"weight {signal}", value, 0, 1)
        chosen[signal] = value
    total = sum(chosen.values())
    if total == 0:
        hint = "Give one signal a weight above 0."
        raise InvalidArgument("weight is 0 for every signal.", hint, of=["weight"])
    return {signal: weight / total for signal, weight in chosen.items()}


def weighted_mean(signals: Signals, weights: Mapping[str, float]) -> float:
    """The weighted mean of the signals, from 0 to 1; a missing signal counts as 0."""
    return sum(weight * (getattr(signals, name) or 0.0) for name, weight in weights.items())
