"""Words that meet words: late interaction over the codes of tokens.

A passage's vector is one for all its words, in which a name or a number drowns. Here each token
of the question looks for the token nearest to it. ColBERT (Khattab and Zaharia 2020), with the
signs of a rotated basis in place of vectors (ITQ, Gong and Lazebnik 2011).
"""

import math
from collections.abc import Sequence

import numpy as np

from ..language.words import words
from ..models import TOKEN_BITS, Matrix, Meaning
from .evidence import Evidence
from .ranking import Ranking, usual_mean_and_deviation

BESIDE = 0.85
"""The factor for the nearest token of a neighbouring entry."""
ANY_MEAN, ANY_DEVIATION = 0.25, 0.08
"""Mean and deviation of the closeness of questions and passages of other matters, about."""


def token_deviations(evidence: Evidence, meaning: Meaning, ranked: Ranking) -> dict[int, float]:
    """The deviations by which each entry is closer to the question than is usual."""
    coded = evidence.index.codes([r.rowid for r in ranked])
    if meaning.tokens is None or not meaning.words or not coded:
        return {}
    asked = meaning.tokens * idf_shares(evidence, meaning.words)
    matches = best_matches(asked, [codes for _, codes in coded])
    rows = [row for row, _ in coded]
    places = {(r.standing.path, r.standing.seq): r.rowid for r in ranked}
    best: dict[int, Matrix] = {}
    for row, match in zip(rows, matches, strict=True):
        best[row] = np.maximum(best.get(row, match), match)
    beside: dict[int, Matrix] = {}
    for (path, seq), row in places.items():
        for other in (places.get((path, seq - 1)), places.get((path, seq + 1))):
            if other in best:
                match = BESIDE * best[other]
                beside[row] = np.maximum(beside.get(row, match), match)
    scores: dict[int, float] = {}
    for row, match in zip(rows, matches, strict=True):
        score = float(np.maximum(beside.get(row, match), match).sum())
        scores[row] = max(scores.get(row, 0.0), score)
    mean, deviation = usual_closeness(evidence, asked)
    return {row: (score - mean) / deviation for row, score in scores.items()}


def idf_shares(evidence: Evidence, asked: Sequence[str]) -> Matrix:
    """The share of each word in the idf of all: shape (words, 1)."""
    named = []
    for word in asked:
        parts = words(word)
        named.append(parts[0][1] if parts else "")
    total, counts = evidence.frequencies(sorted(set(named) - {""}))
    idf = [math.log(1 + total / (1 + counts.get(word, 0))) for word in named]
    return np.array([idf], dtype=np.float32).T / (sum(idf) or 1.0)


def best_matches(asked: Matrix, codes: Sequence[bytes]) -> Matrix:
    """The closeness of each passage's nearest token to each of the question: shape (passages,
    tokens of the question).
    """
    packed = np.frombuffer(b"".join(codes), np.uint8).reshape(-1, TOKEN_BITS // 8)
    signs = np.unpackbits(packed, axis=1).astype(np.float32)
    closeness = (2 * signs @ asked.T - asked.sum(axis=1)) / TOKEN_BITS**0.5
    lengths = [len(one) // packed.shape[1] for one in codes]
    starts = np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.int64)
    return np.asarray(np.maximum.reduceat(closeness, starts, axis=0), dtype=np.float32)


def usual_closeness(evidence: Evidence, asked: Matrix) -> tuple[float, float]:
    """Mean and deviation of the question's closeness to a sample of the journal."""
    _, codes = evidence.index.sample()
    sums = best_matches(asked, codes).sum(axis=1) if codes else np.zeros(0, np.float32)
    return usual_mean_and_deviation(sums, ANY_MEAN, ANY_DEVIATION)
