"""Fuses the candidate lists by words, by meaning, by tokens and by preferences into one score
for each entry.

The vote of an entry in a list is how unlikely a passage would fit so well by chance, in nats:
one unit for all lists, so that none needs a weight, a floor or a rule about languages. A model
that finds all texts of a journal alike is never surprised, and words alone decide.
"""

import math
from collections.abc import Collection, Mapping

from .evidence import Evidence, Lists, Query
from .ranking import Ranking, reciprocal_rank_fusion, scale_to_best, surprise

AWAY_A_DAY = 0.1
"""A preferred entry counts 1 / (1 + AWAY_A_DAY * days), where days is its distance from the day
that the question asks about. By eye.
"""

OTHERS = 100
"""Passages without any word of the question that are added to the journal's own, so that a word
says something in a journal of ten notes too. By eye.
"""

LEAST_IDF = 1e-6
"""The least idf of a word in FTS5."""


def fusion_weights(evidence: Evidence) -> dict[str, float]:
    """The configured weight of each list that is fused."""
    mode = evidence.mode
    weights = evidence.config.weights
    lists = ("lexical", "semantic", "tokens") if mode == "hybrid" else (mode,)
    return {name: float(weights.get(name, 0.0)) for name in lists}


def score_by_fusion(ranked: Ranking, evidence: Evidence, lists: Lists, query: Query) -> None:
    """Sets the score of each candidate by fusing its votes in all lists; entries that meet
    preferences are a list of their own.
    """
    k = evidence.config.k
    weights = fusion_weights(evidence)
    votes = votes_of_lists(ranked, evidence, lists, query)
    scores = reciprocal_rank_fusion(votes, k=k, weights=weights)
    if evidence.preferred:
        best = sum(weights[name] * max(own.values(), default=0) for name, own in votes.items())
        shares = _shares_of_preferred(ranked, evidence, scores)
        votes["symbolic"] = {row: best * share for row, share in shares.items()}
        weights["symbolic"] = evidence.run_symbolic(query)
        scores = reciprocal_rank_fusion(votes, k=k, weights=weights)
    for r in ranked:
        r.score = scores[r.rowid]


def _shares_of_preferred(
    ranked: Ranking, evidence: Evidence, scores: Mapping[int, float]
) -> dict[int, float]:
    """The rows of entries that meet preferences, with their share of the best one's vote: by
    how many they meet, how near they are to the day that is asked about, and how well they fit.

    The best one is that of the asked time, if one is asked: there even what fits badly is
    wanted. A type or a project is a hint: the best one is that of all entries, and one that
    fits half as well has a quarter.
    """
    wanted = evidence.plan.prefer
    names_time = bool(wanted.since or wanted.until)
    power = 0.5 if names_time else 2
    best = max(scores.values(), default=0.0)
    shares = {}
    for r in ranked:
        if r.met and best:
            nearness = 1 / (1 + AWAY_A_DAY * evidence.days_away(r.standing))
            is_met = len(r.met) / len(evidence.preferred)
            shares[r.rowid] = (scores[r.rowid] / best) ** power * is_met * nearness
    return scale_to_best(shares) if names_time else shares


def votes_of_lists(
    ranked: Ranking, evidence: Evidence, lists: Lists, query: Query
) -> dict[str, dict[int, float]]:
    """The votes of each list by the rows of candidates, in nats.

    What is usual for cosines and tokens is what this question has with a sample of the journal.
    """
    rows = {r.rowid for r in ranked}
    bm25 = {row: -hit.score for row, hit in lists.get("lexical", {}).items() if row in rows}
    words = nats_of_words(evidence, query, bm25)
    votes = {"lexical": words} if "lexical" in lists else {}
    if query.meaning:
        usual = evidence.usual_cosine(query.meaning.vector)
        near = {row: surprise(hit.score, usual) for row, hit in lists["semantic"].items()}
        _let_words_tell(near, words, evidence.without_vector(words))
        votes["semantic"] = {row: vote for row, vote in near.items() if row in rows}
    if query.meaning and len(lists) == 2:
        from .token_matches import token_surprises  # here: numpy, for searches by meaning only

        tokens = token_surprises(evidence, query.meaning, ranked)
        if tokens:
            _let_words_tell(tokens, words, rows - tokens.keys())
            votes["tokens"] = tokens
    return votes


def nats_of_words(
    evidence: Evidence, query: Query, bm25: Mapping[int, float]
) -> dict[int, float]:
    """The votes of entries by their BM25.

    A passage with every word of the query is as unlikely as these words are rare together. An
    entry has the share of that which it holds, times the root of the best share: words of
    which no entry holds many are rather those of another wording, or of another language.
    """
    total, counts = evidence.frequencies(query.terms)
    of_all = sum(
        max(LEAST_IDF, math.log((total - count + 0.5) / (count + 0.5)))
        for count in counts.values()
    )
    nats = sum(math.log((total + OTHERS) / (count + 1)) for count in counts.values())
    if not bm25:
        return {}
    best_share = min(1.0, max(bm25.values()) / of_all)
    most = nats * best_share * math.sqrt(best_share)
    return {row: most * share for row, share in scale_to_best(bm25).items()}


def _let_words_tell(
    votes: dict[int, float], words: Mapping[int, float], rows: Collection[int]
) -> None:
    """Gives entries that are not embedded yet the vote of the nearest one, as far as their
    words fit; else each entry with a vector would be before them.
    """
    nearest = max(votes.values(), default=0.0)
    shares = scale_to_best(words)
    for row in rows:
        votes[row] = nearest * shares.get(row, 0.0)
