"""Fuses the candidate lists by words, by meaning, by tokens and by preferences into one score
for each entry.
"""

import math
from collections.abc import Collection, Mapping

from .evidence import Evidence, Lists, Query
from .ranking import Ranking, score_aware_rrf

AWAY_A_DAY = 0.1
"""A preferred entry counts 1 / (1 + AWAY_A_DAY * days), where days is its distance from the day
that the question asks about. By eye.
"""

NEAR = 4.0
"""The list by meaning has its full weight if its nearest entry is this many standard deviations
above the usual cosine; below that nothing is really near.

Chosen on `bench.py panel`; 3 or 5 do nearly as well.
"""

PIECES = 16
"""A question with more tokens than this gives the list by tokens less weight: in a long one
many match by chance.
"""

LEAST = 0.1
"""The least value of an entry in a list, in standard deviations, and the least factor of the
list by meaning: both are above 0, so that the rank still counts. By eye.
"""


def fusion_weights(evidence: Evidence) -> dict[str, float]:
    """The configured weight of each list that is fused."""
    mode = evidence.mode
    weights = evidence.config.weights
    lists = ("lexical", "semantic", "tokens") if mode == "hybrid" else (mode,)
    return {name: float(weights.get(name, 0.0)) for name in lists}


def score_by_fusion(ranked: Ranking, evidence: Evidence, lists: Lists, query: Query) -> None:
    """Sets the score of each candidate by fusing its ranks in all lists; entries that meet
    preferences are a list of their own.

    In a list an entry has its BM25, or the deviations above the usual of its cosine or of the
    closeness of its tokens. The usual is that of this question with a sample of the journal: to
    a model that does not know the language all texts are alike, so there both count less. The
    tokens of a long question do too.

    A list whose best is below its floor has no full vote. By words that is what a passage
    scores that holds every word of the query once (the sum of BM25's idf), as far as the model
    knows the language: where it does not, words are all there is.
    """
    k = evidence.config.k
    weights = fusion_weights(evidence)
    rows = {r.rowid for r in ranked}
    words = {row: -hit.score for row, hit in lists.get("lexical", {}).items() if row in rows}
    rankings = {"lexical": words}
    floors = {}
    if query.meaning:
        usual, deviation = evidence.usual_cosine(query.meaning.vector)
        near = {row: (hit.score - usual) / deviation for row, hit in lists["semantic"].items()}
        _let_words_tell(near, words, evidence.without_vector(words))
        rankings["semantic"] = select_deviations(near, rows)
    if query.meaning and len(lists) == 2:
        language = evidence.language_familiarity(usual)
        floors = {"lexical": language * score_of_all_words(evidence, query), "semantic": NEAR}
        weights["semantic"] *= max(LEAST, min(1.0, 2 * language))
        from .token_matches import token_deviations  # here: numpy, for searches by meaning only

        tokens = token_deviations(evidence, query.meaning, ranked)
        if tokens:
            _let_words_tell(tokens, words, rows - tokens.keys())
            floors["tokens"] = NEAR
            rankings["tokens"] = select_deviations(tokens, rows)
            weights["tokens"] *= language * min(1.0, PIECES / len(query.meaning.words))
    scores = score_aware_rrf(rankings, k=k, weights=weights, floors=floors)
    if evidence.preferred:
        preferred = {}
        for r in ranked:
            if r.met:
                nearness = 1 / (1 + AWAY_A_DAY * evidence.days_away(r.standing))
                preferred[r.rowid] = scores[r.rowid] * len(r.met) * nearness
        rankings["symbolic"] = preferred
        weights["symbolic"] = evidence.run_symbolic(query)
        scores = score_aware_rrf(rankings, k=k, weights=weights, floors=floors)
    for r in ranked:
        r.score = scores[r.rowid]


def _let_words_tell(
    deviations: dict[int, float], words: Mapping[int, float], rows: Collection[int]
) -> None:
    """Gives entries that are not embedded yet the value of the nearest one, as far as their
    words fit; else each entry with a vector would be before them.
    """
    nearest = max(deviations.values(), default=0.0)
    best = max(words.values(), default=0.0) or 1.0
    for row in rows:
        deviations[row] = nearest * words.get(row, 0.0) / best


def select_deviations(
    deviations: Mapping[int, float], rows: Collection[int]
) -> dict[int, float]:
    """The deviations of the entries in `rows`, each at least LEAST."""
    return {row: max(LEAST, apart) for row, apart in deviations.items() if row in rows}


def score_of_all_words(evidence: Evidence, query: Query) -> float:
    """The BM25 score, about, of a passage that contains every word of the query once."""
    total, counts = evidence.frequencies(query.terms)
    idf = [math.log((total - count + 0.5) / (count + 0.5)) for count in counts.values()]
    return sum(max(0.0, weight) for weight in idf)
