"""The candidates of one query as a ranking: fetched, fused, and adjusted by what is known of
each and of those beside it.

| adjustment                                        | when                        |
|---------------------------------------------------|-----------------------------|
| entries beside good ones in a file count more     | words and meaning are fused |
| old entries count less                            | ranks are fused             |
| the score is the weighted mean of the signals     | weights are given           |
| of the best 100 by meaning those within the dates | strategy `bounded`          |
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ..index.rows import instant
from ..models import Meaning
from .evidence import LEAST_ENTRIES, Evidence, Lists, Query
from .ranking import (
    MICROSECONDS_PER_DAY,
    Ranked,
    Ranking,
    best_first,
    decay,
    in_order,
    score_aware_rrf,
    weighted,
)

BOUNDED_BEST = 100
"""Candidates of a bounded search."""

PREFERENCE = 1.5
"""The weight of the list of what meets preferences, beside the lists by words and by meaning.
By eye.
"""

AWAY_A_DAY = 0.1
"""What a preferred entry loses for each day that it is away from "two weeks ago". By eye."""

NEAR = 4.0
"""The deviations above the usual cosine from which on the nearest has a full vote: else nothing
is really near.

Chosen on `bench.py panel`; 3 or 5 do nearly as well.
"""

PIECES = 16
"""The tokens of a question from which on they count less: in a long one many meet by chance."""

STRANGE = 0.4
"""The usual cosine from which on the model knows nothing of the language, so that words alone
can tell.

Chosen on `bench.py panel`: it is about .1 in English, .2 in talk and in German, .4 in Chinese
and Japanese.
"""

LEAST = 0.1
"""Deviations that what is no nearer than usual counts, and the least weight of meaning, so that
the rank decides. By eye.
"""


def ranked_for(
    evidence: Evidence,
    query: Query,
    least: int = LEAST_ENTRIES,
) -> Ranking:
    """At least `least` candidates of one query, if there are so many, best first."""
    request = evidence.request
    config = evidence.config
    is_bounded = request.strategy == "bounded"
    if is_bounded:  # the best of all times, which are cut afterwards
        query = query._replace(filters=replace(query.filters, since=None, until=None))
        least = BOUNDED_BEST
    lists = evidence.candidates(query, least)
    with evidence.watch.stage("rank"):
        rows = list(lists.get("lexical", {}) | lists.get("semantic", {}))
        ranked = known(evidence, rows, lists, query.meaning)
        fuse(ranked, evidence, lists, query)
        if is_bounded:
            best = sorted(ranked, key=lambda r: r.score, reverse=True)[:BOUNDED_BEST]
            for r in best:
                r.score = r.similarity or r.lexical or 0.0
            passing = evidence.ws.index.passing(request.filters, [r.rowid for r in best])
            return in_order([r for r in best if r.rowid in passing], "newest")
        if request.weights:
            for r in ranked:
                r.score = weighted(r.signals, request.weights)
            return best_first(ranked)
        if request.joins:
            scores = {(r.standing.path, r.standing.seq): r.score for r in ranked}
            share = config.neighbours
            for r in ranked:  # it gains from those before and after it, over the best possible
                path = r.standing.path
                place = r.standing.seq
                for beside in (place - 1, place + 1):
                    r.score += share * scores.get((path, beside), 0.0)
                r.score /= 1 + 2 * share
        for r in ranked:
            if r.standing.dated and r.standing.type != "reference":
                r.decay = decay(
                    r.age_days,
                    half_life_days=config.half_life_days,
                    floor=config.decay_floor,
                )
                r.score *= r.decay
        return best_first(ranked)


def weights_of(evidence: Evidence) -> dict[str, float]:
    """The weight of each list in the fusion."""
    mode = evidence.mode
    weights = evidence.config.weights
    lists = ("lexical", "semantic", "tokens") if mode == "hybrid" else (mode,)
    return {name: float(weights.get(name, 0.0)) for name in lists}


def fuse(
    ranked: Ranking,
    evidence: Evidence,
    lists: Lists,
    query: Query,
) -> None:
    """Scores candidates by their ranks; what meets preferences is a list of its own.

    In a list an entry has its BM25, or the deviations above the usual of its cosine or of the
    closeness of its tokens. The usual is that of this question with a sample of the journal: to
    a model that does not know the language all texts are alike, so there both count less. The
    tokens of a long question do too.

    A list whose best is below its floor has no full vote. By words that is what a passage
    scores that holds every word of the query once (the sum of BM25's idf), as far as the model
    knows the language: where it does not, words are all there is.
    """
    k = evidence.config.k
    weights = weights_of(evidence)
    rows = {r.rowid for r in ranked}
    words = {row: -hit.score for row, hit in lists.get("lexical", {}).items() if row in rows}
    rankings = {"lexical": words}
    floors = {}
    if query.meaning:
        usual, deviation = evidence.usual_cosine(query.meaning.vector)
        near = {row: (hit.score - usual) / deviation for row, hit in lists["semantic"].items()}
        rankings["semantic"] = counted(near, rows)
    if query.meaning and len(lists) == 2:
        language = min(1.0, max(0.0, 1 - usual / STRANGE))  # 1 known, 0 unknown
        floors = {"lexical": language * whole_idf(evidence, query), "semantic": NEAR}
        weights["semantic"] *= max(LEAST, min(1.0, 2 * language))
        from .tokens import token_deviations  # here: numpy, for searches by meaning only

        tokens = token_deviations(evidence, query.meaning, ranked)
        if tokens:
            nearest = max(tokens.values())
            best = max(words.values(), default=0.0) or 1.0
            for row in rows - tokens.keys():  # not embedded yet: words tell for it
                tokens[row] = nearest * words.get(row, 0.0) / best
            floors["tokens"] = NEAR
            rankings["tokens"] = counted(tokens, rows)
            weights["tokens"] *= language * min(1.0, PIECES / len(query.meaning.words))
    scores = score_aware_rrf(rankings, k=k, weights=weights, floors=floors)
    if evidence.preferred:
        preferred = {}
        for r in ranked:
            if r.met:
                nearness = 1 / (1 + AWAY_A_DAY * evidence.days_away(r.standing))
                preferred[r.rowid] = scores[r.rowid] * len(r.met) * nearness
        rankings["symbolic"] = preferred
        weights["symbolic"] = PREFERENCE
        scores = score_aware_rrf(rankings, k=k, weights=weights, floors=floors)
    for r in ranked:
        r.score = scores[r.rowid]


def counted(
    deviations: Mapping[int, float],
    rows: Collection[int],
) -> dict[int, float]:
    """What these entries count in a list of deviations above the usual."""
    return {row: max(LEAST, apart) for row, apart in deviations.items() if row in rows}


def whole_idf(
    evidence: Evidence,
    query: Query,
) -> float:
    """What a passage scores by BM25 that holds every word of the query once, about."""
    total, counts = evidence.frequencies(query.terms)
    idf = [math.log((total - count + 0.5) / (count + 0.5)) for count in counts.values()]
    return sum(max(0.0, one) for one in idf)


def known(
    evidence: Evidence,
    rowids: Sequence[int],
    lists: Lists,
    meaning: Meaning | None = None,
) -> Ranking:
    """These entries with what speaks for each of them, still without a score; superseded ones
    are left out.
    """
    request = evidence.request
    present = instant(evidence.request.now)
    standings = evidence.standings(rowids)
    met = evidence.met(rowids)
    near = {row: hit.score for row, hit in lists.get("semantic", {}).items()}
    words = {row: hit.score for row, hit in lists.get("lexical", {}).items()}
    compares = request.weights or request.explain or request.min_similarity is not None
    if meaning and compares:
        near = evidence.cosines([one.rowid for one in standings], meaning.vector) | near
    best = min(words.values(), default=0.0)
    ranked = []
    for one in standings:
        row = one.rowid
        found = Ranked(
            standing=one,
            age_days=max(0, present - one.at) / MICROSECONDS_PER_DAY,
            similarity=near.get(row),
            lexical=words[row] / best if row in words and best else None,
            met=met[row],
        )
        if evidence.preferred:
            found.symbolic = len(found.met) / len(evidence.preferred)
        ranked.append(found)
    return ranked
