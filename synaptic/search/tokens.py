"""Words that meet words: late interaction over the codes of tokens.

A passage's vector is one for all its words, in which a name or a number drowns. Here each token
of the question looks for the token nearest to it. ColBERT (Khattab and Zaharia 2020), with the
signs of a rotated basis in place of vectors (ITQ, Gong and Lazebnik 2011).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..language.words import words
from ..models import TOKEN_BITS, Matrix, Meaning
from .evidence import Evidence
from .ranking import Ranking

BESIDE = 0.85
"""What the nearest token of an entry beside counts."""
PRIOR_MEAN, PRIOR_DEVIATION, PRIOR_COUNT = 0.25, 0.08, 20
"""Mean and deviation of the closeness of a question and passages of other matters, about, and
the number of passages for which they count.
"""


def token_deviations(
    evidence: Evidence,
    meaning: Meaning,
    ranked: Ranking,
) -> dict[int, float]:
    """The deviations by which each entry is closer to the question than is usual."""
    coded = evidence.ws.index.codes([r.rowid for r in ranked])
    if meaning.tokens is None or not meaning.words or not coded:
        return {}
    asked = meaning.tokens * idf_shares(evidence, meaning.words)
    matches = best_matches(asked, [codes for _, codes in coded])
    rows = [row for row, _ in coded]
    places = {(r.standing.path, r.standing.seq): r.rowid for r in ranked}
    best: dict[int, Matrix] = {}
    for row, found in zip(rows, matches, strict=True):
        best[row] = np.maximum(best[row], found) if row in best else found
    beside: dict[int, Matrix] = {}
    for (path, seq), row in places.items():
        for other in (places.get((path, seq - 1)), places.get((path, seq + 1))):
            if other in best:
                found = BESIDE * best[other]
                beside[row] = np.maximum(beside[row], found) if row in beside else found
    scores: dict[int, float] = {}
    for row, found in zip(rows, matches, strict=True):
        if row in beside:
            found = np.maximum(found, beside[row])
        scores[row] = max(scores.get(row, 0.0), float(found.sum()))
    usual, deviation = usual_closeness(evidence, asked)
    return {row: (score - usual) / deviation for row, score in scores.items()}


def idf_shares(
    evidence: Evidence,
    asked: Sequence[str],
) -> Matrix:
    """The share of each word in the idf of all: shape (words, 1)."""
    named = []
    for word in asked:
        found = words(word)
        named.append(found[0][1] if found else "")
    total, counts = evidence.frequencies(sorted(set(named) - {""}))
    idf = [math.log(1 + total / (1 + counts.get(word, 0))) for word in named]
    return np.array([idf], dtype=np.float32).T / (sum(idf) or 1.0)


def best_matches(
    asked: Matrix,
    codes: Sequence[bytes],
) -> Matrix:
    """The closeness of each passage's nearest token to each of the question: shape (passages,
    tokens of the question).
    """
    packed = np.frombuffer(b"".join(codes), np.uint8).reshape(-1, TOKEN_BITS // 8)
    signs = np.unpackbits(packed, axis=1).astype(np.float32)
    found = (2 * signs @ asked.T - asked.sum(axis=1)) / TOKEN_BITS**0.5
    lengths = [len(one) // packed.shape[1] for one in codes]
    starts = np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.int64)
    return np.asarray(np.maximum.reduceat(found, starts, axis=0), dtype=np.float32)


def usual_closeness(
    evidence: Evidence,
    asked: Matrix,
) -> tuple[float, float]:
    """Mean and deviation of the question's closeness to a sample of the journal."""
    _, codes = evidence.ws.index.sample()
    if not codes:
        return PRIOR_MEAN, PRIOR_DEVIATION
    found = best_matches(asked, codes).sum(axis=1)
    count = len(found)
    both = count + PRIOR_COUNT
    squares = count * float(found.var()) + PRIOR_COUNT * PRIOR_DEVIATION**2
    mean = (count * float(found.mean()) + PRIOR_COUNT * PRIOR_MEAN) / both
    return mean, (squares / both) ** 0.5
