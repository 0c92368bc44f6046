"""Fits the curves of doubts and scores, which stand in `synaptic/search/doubt.py`.

| of a curve | learned from the half that `sure.half` names, where each set counts alike    |
|------------|------------------------------------------------------------------------------|
| closeness  | answered questions with a right hit among the first, and of other matters    |
| doubt      | DOUBTED of these answered ones lie below it, and OF_A_SET of each WATCHED set |
| chances    | the first hits of all questions, right or wrong                              |

Questions near the journal's matters look like answered ones, so closeness does not learn from
them. Both are logistic regressions with a ridge, by Newton's method. The sets are those of
`bench.py sure`, and tests/data/panel/short.json.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from corpus import read
from sets import CachedEmbedder, Corpus, Maker, Question
from sure import FIRST, Kinds, half, kinds, panel

from synaptic import search
from synaptic.search import doubt, pipeline
from synaptic.search.doubt import GREAT_SHARE, LOOKED_AT, SHARED, Curve, log_odds_of_answer
from synaptic.search.evidence import Evidence

Matrix = npt.NDArray[np.float64]

DOUBTED = 0.02
"""The share of answered questions that are doubted at most, as the mean of the sets."""
OF_A_SET, WATCHED = 0.05, ("LoCoMo", "BEAM", "beliefs", "short")
"""The same for each of these sets: talks, and journals that were just begun."""
FACTORS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""By one of these the weight of words is multiplied, that with the most doubts of unanswered
questions. A regression heeds all questions alike, the doubt only those that look least answered.
By words alone there would be hardly any left, so that there the regression decides.
"""
RIDGE = 0.003
"""The penalty of squared weights; a set and kind of questions weighs 1. By cross-validation over
sets, where 0.02 doubts a tenth less.
"""
STEPS, ROUNDS = 50, 10
"""Newton's steps at most, and the rounds in which a question's best hit is chosen anew."""

CLOSENESS = ("meaning", "words", "unknown", "size", "start")
CHANCES = ("best", "behind", "share", "level")
"""The weights of a curve; the last of each is that of a constant."""
LEFT_OUT = {"BY_MEANING": "unknown", "BY_WORDS": "meaning"}
"""The sign without a weight, of each curve. Beside meaning the share of unknown words tells nothing: in
cross-validation over sets 62 % of the questions of other matters were doubted with it, and as
many without. Nor did the closeness of tokens (`search/token_matches.py`), in any form that was tried.
"""
NO_CURVE = Curve(*[0.0] * len(Curve._fields))


class Seen(NamedTuple):
    """The first hits of a question as the product saw them.

    `signs` has a row a hit and a column for each of CLOSENESS, `shares` their shares of the
    scores.
    """

    set: str
    kind: str
    curve: Curve
    signs: Matrix
    shares: Sequence[float]
    right: Sequence[bool]


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models", arguments.model)
    seen: list[Seen] = []
    for name, corpus, told in panel(arguments, scratch, embedder):
        seen += observed(name, corpus, told)
    for corpus, told in short(Maker(arguments, scratch, embedder)):
        seen += observed("short", corpus, told)
        corpus.workspace.close()
    return rows(seen)


def rows(seen: Sequence[Seen]) -> list[dict[str, Any]]:
    """The weights of each curve, rounded."""
    found = []
    for name, left_out in LEFT_OUT.items():
        counts = np.array([sign != left_out for sign in CLOSENESS])
        own = [one for one in seen if one.curve is getattr(doubt, name)]
        own = [one._replace(signs=one.signs * counts) for one in own]
        curve = fitted(own, (1.0,) if name == "BY_WORDS" else FACTORS)
        found.append({"curve": name} | curve._asdict())
    return found


def short(maker: Maker) -> Iterator[tuple[Corpus, Kinds]]:
    """The small journals with short questions, most without a word of their answer."""
    asked = read("panel/short.json")["questions"]
    for told in read("panel/beliefs.json")["journals"]:
        own = [one for one in asked if one["journal"] == told["name"]]
        if own:
            corpus = maker.told(f"short-{told['name']}", told | {"questions": own})
            answered = [(question, "answered") for question in corpus.questions]
            yield corpus, answered + kinds([one for one in own if not one["answers"]])


def observed(name: str, corpus: Corpus, told: Kinds) -> Iterator[Seen]:
    """What the product sees of these questions, with meaning and by words alone."""
    for question, kind in told:
        if name == "short" or half(question.text) == "fitted on":
            for strategy in ("auto", "lexical"):
                yield from seen_of(name, corpus, question, kind, strategy)


def seen_of(
    name: str, corpus: Corpus, question: Question, kind: str, strategy: str
) -> Iterator[Seen]:
    """The first hits of a question; none if there were no hits."""
    asked: list[Seen] = []

    def recorded(evidence: Evidence, ranked: Any, hits: Any) -> Any:
        found, curve = doubt.measure_signs(evidence, ranked, hits[:FIRST])
        passages, _ = evidence.frequencies(())
        if found:
            signs = [columns(own, passages) for own in found]
            scores = [r.score for r in ranked]
            of_all = sum(scores[:SHARED]) or 1.0
            shares = [min(score / of_all, GREAT_SHARE) for score in scores[: len(found)]]
            right = [hit.entry.id in question.wanted for hit in hits[: len(found)]]
            asked.append(Seen(name, kind, curve, np.array(signs), shares, right))
        return doubt.judge_hits(evidence, ranked, hits)

    with patch.object(pipeline, "judge_hits", recorded):
        search(corpus.workspace, question.text, limit=FIRST, strategy=strategy)
    yield from asked[:1]  # a later one is of corrected words


def columns(signs: doubt.Signs, passages: int) -> list[float]:
    """What each weight of CLOSENESS is multiplied with."""
    found = []
    for name in CLOSENESS:
        one = NO_CURVE._replace(**{name: 1.0})
        found.append(log_odds_of_answer(signs, one, passages=passages))
    return found


def fitted(seen: Sequence[Seen], factors: Sequence[float]) -> Curve:
    """The curve of these questions, one of these factors for the weight of words."""
    decided = [one for one in seen if one.kind == "other" or any(one.right)]
    answered = np.array([one.kind == "answered" for one in decided], dtype=float)
    counts = Counter((one.set, one.kind) for one in decided)
    share = np.array([1 / counts[one.set, one.kind] for one in decided])
    weights = np.ones(len(CLOSENESS))
    for _ in range(ROUNDS):
        best = np.array([one.signs[best_hit(one, weights)] for one in decided])
        weights = regression(best, answered, share)
    weights = most_doubting(seen, weights, factors)
    close = [[closest(one, weights), 1.0] for one in decided]
    scale, start = regression(np.array(close), answered, share)  # log-odds again (Platt 1999)
    weights = scale * weights
    weights[-1] += start
    weights = rounded(weights)
    limit, _ = doubts(seen, weights)
    values = dict(zip(CLOSENESS, weights, strict=True))
    values |= dict(zip(CHANCES, rounded(chance_weights(seen, weights)), strict=True))
    return Curve(**values, doubt=math.floor(100 * limit) / 100)


def most_doubting(seen: Sequence[Seen], weights: Matrix, factors: Sequence[float]) -> Matrix:
    """These weights, that of words multiplied by the factor with the most doubts."""
    words = np.array([name == "words" for name in CLOSENESS])
    tried = [np.where(words, factor * weights, weights) for factor in factors]
    return max(tried, key=lambda some: doubts(seen, some)[1])


def doubts(seen: Sequence[Seen], weights: Matrix) -> tuple[float, float]:
    """(the closeness below which no more than DOUBTED of the answered questions lie, and OF_A_SET
    of the WATCHED sets; the share of the unanswered that lie there).
    """
    by_set: dict[tuple[str, str], list[float]] = {}
    for one in seen:
        if one.kind in ("near", "other") or any(one.right):
            by_set.setdefault((one.kind, one.set), []).append(closest(one, weights))
    answered = {name: own for (kind, name), own in by_set.items() if kind == "answered"}
    values = np.concatenate(list(answered.values()))
    share = np.concatenate([np.full(len(own), 1 / len(own)) for own in answered.values()])
    order = np.argsort(values)
    below = np.cumsum(share[order])
    place = int(np.searchsorted(below, DOUBTED * len(answered), side="right"))
    limit = float(values[order][place])
    for name in answered.keys() & set(WATCHED):
        limit = min(limit, sorted(answered[name])[int(OF_A_SET * len(answered[name]))])
    found = [
        np.mean(np.array(own) < limit) for key, own in by_set.items() if key[0] != "answered"
    ]
    return limit, float(np.mean(found))


def closest(one: Seen, weights: Matrix) -> float:
    """The closeness of the best hit."""
    return float(np.max(one.signs[:LOOKED_AT] @ weights))


def best_hit(one: Seen, weights: Matrix) -> int:
    return int(np.argmax(one.signs[:LOOKED_AT] @ weights))


def chance_weights(seen: Sequence[Seen], weights: Matrix) -> Matrix:
    """The weights of CHANCES, from every hit of these questions."""
    counts = Counter(one.set for one in seen)
    signs: list[tuple[float, ...]] = []
    right: list[float] = []
    shares: list[float] = []
    for one in seen:
        close = one.signs @ weights
        best = float(np.max(close[:LOOKED_AT]))
        for own, share, is_right in zip(close, one.shares, one.right, strict=True):
            signs.append((best, best - own, share, 1.0))
            right.append(is_right)
            shares.append(1 / counts[one.set])
    return regression(np.array(signs), np.array(right, dtype=float), np.array(shares))


def regression(signs: Matrix, truth: Matrix, share: Matrix) -> Matrix:
    """The weights of a logistic regression; the last is of a constant and has no penalty."""
    weights = np.zeros(signs.shape[1])
    ridge = np.full(len(weights), RIDGE)
    ridge[-1] = 1e-9
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-signs @ weights))
        slope = signs.T @ (share * (chance - truth)) + ridge * weights
        curved = share * chance * (1 - chance)
        bend = (signs * curved[:, None]).T @ signs + np.diag(ridge)
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def rounded(weights: Matrix) -> Matrix:
    """To two digits."""
    return np.array([float(f"{weight:.2g}") for weight in weights])
