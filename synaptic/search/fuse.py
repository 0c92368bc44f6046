"""The candidates of one query as a ranking: fetched, fused, and adjusted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..index.rows import Standing, instant
from ..models import Filters, Mode, Vector
from .adjust import BOUNDED_BEST, Adjustment
from .evidence import LEAST_ENTRIES, Evidence, Lists, Query
from .ranking import Ranked, age_in_days, score_aware_rrf

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

LISTS: Mapping[Mode, tuple[str, ...]] = {
    "hybrid": ("lexical", "semantic"),
    "lexical": ("lexical",),
    "semantic": ("semantic",),
}


def mode_of(evidence: Evidence, vector: Vector | None) -> Mode:
    """The lists that a query with this vector has."""
    if vector is None:
        return "lexical"
    return "hybrid" if evidence.request.strategy in ("hybrid", "smart") else "semantic"


def fusion_weights(evidence: Evidence, mode: Mode) -> dict[str, float]:
    """The weight of each list in the fusion."""
    return {name: float(evidence.config.weights.get(name, 0.0)) for name in LISTS[mode]}


def ranked_for(
    evidence: Evidence,
    adjustments: Sequence[Adjustment],
    query: Query,
    least: int = LEAST_ENTRIES,
) -> Sequence[Ranked]:
    """At least `least` candidates of one query, if there are so many, best first by their
    ranks.

    What meets preferences is a list of its own.
    """
    mode, most = mode_of(evidence, query.vector), None
    if (
        evidence.request.strategy == "bounded"
    ):  # the best of all times, which are cut afterwards
        query = query._replace(filters=replace(query.filters, since=None, until=None))
        least = most = BOUNDED_BEST
    lists = evidence.candidates(
        query if mode != "semantic" else query._replace(terms=()), least
    )
    with evidence.watch.stage("rank"):
        standings = evidence.standings(list(dict.fromkeys((*lists.lexical, *lists.semantic))))
        rankings = votes(evidence, lists, standings, query.vector, mode)
        weights, k, floors = (
            fusion_weights(evidence, mode),
            evidence.config.k,
            floors_of(evidence, query, mode),
        )
        scores = score_aware_rrf(rankings, k=k, weights=weights, floors=floors)
        if met := evidence.met(list(scores)):
            share = {
                one.rowid: 1 / (1 + AWAY_A_DAY * evidence.days_away(one)) for one in standings
            }
            rankings["symbolic"] = {
                rowid: score * len(met[rowid]) * share[rowid]
                for rowid, score in scores.items()
                if met[rowid]
            }
            weights |= {"symbolic": PREFERENCE}
            scores = score_aware_rrf(rankings, k=k, weights=weights, floors=floors)
        best = dict(sorted(scores.items(), key=lambda item: -item[1])[:most])
        ranked: Sequence[Ranked] = weighed_up(evidence, lists, best, query.vector)
        for adjust in adjustments:
            ranked = adjust(ranked, evidence)
    return ranked


def votes(
    evidence: Evidence,
    lists: Lists,
    standings: Sequence[Standing],
    vector: Vector | None,
    mode: Mode,
) -> dict[str, dict[int, float]]:
    """The score of each candidate of a list: its BM25, or the deviations of its cosine above
    the usual one.

    The usual cosine is that of this question with a sample of the journal: to a model that does
    not know the language all texts are alike. A long entry counts less (EACH). A list that ran
    and found nothing has its place all the same.
    """
    share = {one.rowid: 1 / (1 + EACH * math.log(one.passages)) for one in standings}
    found: dict[str, dict[int, float]] = {name: {} for name in LISTS[mode]}
    if "lexical" in found:
        found["lexical"] = {
            row: -one.score * share[row] for row, one in lists.lexical.items() if row in share
        }
    if vector is not None and "semantic" in found:
        usual, deviation = evidence.usual_cosine(vector)
        found["semantic"] = {
            row: max(LEAST, share[row] * (one.score - usual) / deviation)
            for row, one in lists.semantic.items()
            if row in share
        }
    return found


def floors_of(evidence: Evidence, query: Query, mode: Mode) -> dict[str, float]:
    """For each list the score from which on its best hit has a full vote: else nothing in it
    really fits.

    By words that is what a passage scores that holds every word of the query once (the sum of
    BM25's idf), as far as the model knows the language: where it does not, words are all there
    is.
    """
    if query.vector is None or mode != "hybrid":
        return {}
    total, counts = evidence.frequencies(query.terms)
    whole = sum(
        max(0.0, math.log((total - count + 0.5) / (count + 0.5))) for count in counts.values()
    )
    usual = max(0.0, evidence.usual_cosine(query.vector)[0])
    return {"lexical": whole * max(0.0, 1 - usual / STRANGE), "semantic": NEAR}


def weighed_up(
    evidence: Evidence, lists: Lists, scores: Mapping[int, float], vector: Vector | None = None
) -> list[Ranked]:
    """These entries with what speaks for each of them, in the order of the scores; superseded
    ones are left out.
    """
    request, present = evidence.request, instant(evidence.request.now)
    standings, met = evidence.standings(list(scores)), evidence.met(list(scores))
    near = {rowid: candidate.score for rowid, candidate in lists.semantic.items()}
    others = [one.rowid for one in standings if one.rowid not in near]
    compares = request.weights or request.explain or request.min_similarity is not None
    if vector is not None and others and compares:  # an entry is as near as its best chunk
        chunks = evidence.ws.index.passing_chunks(Filters(), others, ())
        found = evidence.ws.index.semantic(vector, chunks, limit=None)
        near |= {candidate.entry_rowid: candidate.score for candidate in reversed(found)}
    best = min((candidate.score for candidate in lists.lexical.values()), default=0.0)
    held = (
        {row: candidate.score / best for row, candidate in lists.lexical.items()}
        if best
        else {}
    )
    return [
        Ranked(
            standing=one,
            score=scores[one.rowid],
            decay=1.0,
            age_days=age_in_days(one.at, present),
            similarity=near.get(one.rowid),
            lexical=held.get(one.rowid),
            met=met.get(one.rowid, ()),
            preferred=len(met[one.rowid]) / evidence.preferences
            if evidence.preferences
            else None,
        )
        for one in standings
    ]
