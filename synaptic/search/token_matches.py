"""Compares the tokens of the question with the tokens of passages: late interaction over binary
codes.

A passage has one vector for all its words, which hides a name or a number. Here each token of
the question finds its nearest token. ColBERT (Khattab and Zaharia 2020), with the signs of a
rotated basis in place of vectors (ITQ, Gong and Lazebnik 2011).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..language.words import words
from ..models import TOKEN_BITS, Matrix, Meaning
from .evidence import Evidence
from .ranking import Ranking, Usual, mix_with_usual, surprise

BESIDE = 0.85
"""The factor of the closeness of a token in a neighbouring entry."""
OF_TOKENS = Usual(0.25, 0.06)
"""The usual closeness, about, of questions to unrelated passages. By eye."""


def token_surprises(evidence: Evidence, meaning: Meaning, ranked: Ranking) -> dict[int, float]:
    """Maps rows to how unlikely an entry's tokens are so close to the question by chance, in
    nats.
    """
    coded = evidence.index.token_codes([r.rowid for r in ranked])
    if meaning.tokens is None or not meaning.words or not coded:
        return {}
    asked = meaning.tokens * idf_shares(evidence, meaning.words)
    matches = best_matches(asked, [codes for _, codes in coded])
    rows = list(dict.fromkeys(row for row, _ in coded))
    number = {row: at for at, row in enumerate(rows)}
    of_match = np.array([number[row] for row, _ in coded])
    best = np.full((len(rows), matches.shape[1]), -np.inf, np.float32)
    np.maximum.at(best, of_match, matches)
    own, others = _pair_neighbours(ranked, number)
    beside = np.full_like(best, -np.inf)
    np.maximum.at(beside, own, BESIDE * best[others])
    matches = np.maximum(matches, beside[of_match])
    sums = np.zeros(len(rows), np.float32)
    np.maximum.at(sums, of_match, matches.sum(axis=1))
    scores = dict(zip(rows, sums.tolist(), strict=True))
    usual = usual_closeness(evidence, asked)
    return {row: surprise(score, usual) for row, score in scores.items()}


def _pair_neighbours(ranked: Ranking, number: Mapping[int, int]) -> tuple[list[int], list[int]]:
    """The numbers of entries that stand beside another one, and of that one, in pairs."""
    places = {}
    for r in ranked:
        if r.rowid in number:
            places[r.standing.path, r.standing.seq] = number[r.rowid]
    own, others = [], []
    for (path, seq), at in places.items():
        for place in ((path, seq - 1), (path, seq + 1)):
            if place in places:
                own.append(at)
                others.append(places[place])
    return own, others


def idf_shares(evidence: Evidence, asked: Sequence[str]) -> Matrix:
    """Each word's share of the sum of the idf of all words; shape (words, 1)."""
    named = []
    for word in asked:
        parts = words(word)
        named.append(parts[0][1] if parts else "")
    total, counts = evidence.frequencies(sorted(set(named) - {""}))
    idf = [math.log(1 + total / (1 + counts.get(word, 0))) for word in named]
    return np.array([idf], dtype=np.float32).T / (sum(idf) or 1.0)


def best_matches(asked: Matrix, codes: Sequence[bytes]) -> Matrix:
    """For each passage and each token of the question, the closeness of the passage's nearest
    token; shape (passages, tokens of the question).
    """
    packed = np.frombuffer(b"".join(codes), np.uint8).reshape(-1, TOKEN_BITS // 8)
    signs = np.unpackbits(packed, axis=1).astype(np.float32)
    lengths = [len(one) // packed.shape[1] for one in codes]
    starts = np.concatenate([[0], np.cumsum(lengths[:-1])]).astype(np.int64)
    nearest = np.maximum.reduceat(signs @ (2 * asked).T, starts, axis=0)
    return np.asarray((nearest - asked.sum(axis=1)) / TOKEN_BITS**0.5, dtype=np.float32)


def usual_closeness(evidence: Evidence, asked: Matrix) -> Usual:
    """Mean and standard deviation of the closeness of the question's tokens to a sample of the
    journal.
    """
    _, codes = evidence.sample
    sums = best_matches(asked, codes).sum(axis=1) if codes else np.zeros(0, np.float32)
    return mix_with_usual(sums, OF_TOKENS)
