"""Fusion, decay and the order of hits. Pure: numbers in, numbers out; the clock is an argument."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)

MICROSECONDS_PER_DAY = 86_400e6


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[Key]], *, k: float, weights: Mapping[str, float]
) -> dict[Key, float]:
    """Score of every key in any of the rankings, in (0, 1]; 1 is first place in all of them.

    score(d) = sum_i w_i / (k + rank_i(d)), over the best possible, ranks from 1
    (Cormack, Clarke, Buettcher 2009, "Reciprocal Rank Fusion outperforms Condorcet").
    A ranking without a weight counts 1; the result does not depend on the order of the rankings.
    """
    scores: dict[Key, float] = {}
    for name in sorted(rankings):
        weight = weights.get(name, 1.0)
        for rank, key in enumerate(rankings[name], start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    best = sum(weights.get(name, 1.0) for name in rankings) / (k + 1)
    return {key: score / best for key, score in scores.items()} if best > 0 else {}


def age_in_days(at: int, now: int) -> float:
    """Age as a fraction of days, of instants in microseconds; 0 for what lies in the future."""
    return max(0, now - at) / MICROSECONDS_PER_DAY


def decay(age_days: float, *, half_life_days: float, floor: float) -> float:
    """Weight of an answer of this age, from 1 (now) to `floor`; halfway after `half_life_days`.

    The floor keeps an old answer that alone fits from being buried under new ones that hardly do.
    """
    return floor + (1.0 - floor) * math.exp2(-age_days / half_life_days)


def newest_of_a_topic_first(
    order: Sequence[Key], same_topic: Iterable[tuple[Key, Key]], moment: Mapping[Key, Any]
) -> list[Key]:
    """The order, in which of two entries that say the same thing the later stands first.

    `same_topic` holds unordered pairs, `moment` anything that orders entries in time. Within each group of
    pairs that hang together only the places of its members change hands; everybody else stays.
    """
    group: dict[Key, Key] = {key: key for key in order}

    def root(key: Key) -> Key:
        while group[key] != key:
            group[key] = group[group[key]]
            key = group[key]
        return key

    for one, other in same_topic:
        group[root(one)] = root(other)
    places: dict[Key, list[int]] = {}
    for place, key in enumerate(order):
        places.setdefault(root(key), []).append(place)
    result = list(order)
    for members in places.values():
        newest_first = sorted((order[place] for place in members), key=lambda key: moment[key], reverse=True)
        for place, key in zip(members, newest_first, strict=True):
            result[place] = key
    return result
