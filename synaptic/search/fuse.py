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
from collections.abc import Sequence
from dataclasses import replace

from ..index.rows import instant
from ..models import Meaning
from .evidence import LEAST_ENTRIES, Evidence, Lists, Query
from .tokens import token_deviations
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
TOKENS_NEAR = 4.0

STRANGE = 0.4
"""The usual cosine from which on the model knows nothing of the language, so that words alone
can tell.

Chosen on `bench.py panel`: it is about .1 in English, .2 in talk and in German, .4 in Chinese
and Japanese.
"""

EACH = 0.15
"""An entry of n passages counts for 1 / (1 + EACH ln n): of many passages one fits by chance.

Chosen on `bench.py panel`; .1 and .12 do as well.
"""

LEAST = 0.1
"""Deviations that what is no nearer than usual counts, so that its rank decides. By eye."""


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

    In a list an entry has its BM25, or the deviations of its cosine above the usual one, which
    is that of this question with a sample of the journal: to a model that does not know the
    language all texts are alike. A long entry counts less (EACH).

    A list whose best is below its floor has no full vote. By words that is what a passage
    scores that holds every word of the query once (the sum of BM25's idf), as far as the model
    knows the language: where it does not, words are all there is.
    """
    k = evidence.config.k
    weights = weights_of(evidence)
    share = {r.rowid: 1 / (1 + EACH * math.log(r.standing.passages)) for r in ranked}
    usual = 0.0
    deviation = 1.0
    if query.meaning:
        usual, deviation = evidence.usual_cosine(query.meaning.vector)
    rankings: dict[str, dict[int, float]] = {}
    for name, found in lists.items():
        rankings[name] = {}
        for row, hit in found.items():
            if row in share and name == "lexical":
                rankings[name][row] = -hit.score * share[row]
            elif row in share:
                apart = (hit.score - usual) / deviation
                rankings[name][row] = max(LEAST, share[row] * apart)
    floors = {}
    if len(lists) == 2:
        total, counts = evidence.frequencies(query.terms)
        whole = 0.0
        for count in counts.values():
            whole += max(0.0, math.log((total - count + 0.5) / (count + 0.5)))
        known_language = max(0.0, 1 - max(0.0, usual) / STRANGE)
        floors = {"lexical": whole * known_language, "semantic": NEAR, "tokens": TOKENS_NEAR}
        if query.meaning and query.meaning.tokens is not None and weights.get("tokens"):
            apart = token_deviations(evidence, query, ranked)
            rankings["tokens"] = {row: max(LEAST, share[row] * one) for row, one in apart.items()}
            pieces = max(1, len(query.meaning.spans))
            weights["tokens"] *= min(1.0, PIECES / pieces) * known_language
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
