"""The candidates of one query as a ranking: fetched, fused, and adjusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from ..index import instant
from ..models import Filters, Mode, Vector
from .adjust import BOUNDED_BEST, Adjustment
from .evidence import Evidence, Lists, Query
from .ranking import Ranked, age_in_days, reciprocal_rank_fusion

PREFERENCE = 1.5
"""The weight of the list of what meets preferences, beside the lists by words and by meaning. By eye."""

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
) -> Sequence[Ranked]:
    """The candidates of one query, best first by their ranks; what meets preferences is a list of its own."""
    mode, limit, most = mode_of(evidence, query.vector), evidence.request.limit, None
    if evidence.request.strategy == "bounded":  # the best of all times, which are cut afterwards
        query, limit = query._replace(filters=replace(query.filters, since=None, until=None)), BOUNDED_BEST
        most = BOUNDED_BEST
    lists = evidence.candidates(query if mode != "semantic" else query._replace(terms=()), limit)
    with evidence.watch.stage("rank"):
        # a list that ran and found nothing counts all the same
        rankings = {name: list(getattr(lists, name)) for name in LISTS[mode]}
        weights, k = fusion_weights(evidence, mode), evidence.config.k
        scores = reciprocal_rank_fusion(rankings, k=k, weights=weights)
        if met := evidence.met(list(scores)):
            preferred = [rowid for rowid in scores if met[rowid]]
            rankings["symbolic"] = sorted(preferred, key=lambda rowid: (-len(met[rowid]), -scores[rowid]))
            scores = reciprocal_rank_fusion(rankings, k=k, weights=weights | {"symbolic": PREFERENCE})
        best = dict(islice(scores.items(), most))
        ranked: Sequence[Ranked] = weighed_up(evidence, lists, best, query.vector)
        for adjust in adjustments:
            ranked = adjust(ranked, evidence)
    return ranked


def weighed_up(
    evidence: Evidence, lists: Lists, scores: Mapping[int, float], vector: Vector | None = None
) -> list[Ranked]:
    """These entries with what speaks for each of them, in the order of the scores; superseded ones are left out."""
    request, present = evidence.request, instant(evidence.request.now)
    standings, met = evidence.standings(list(scores)), evidence.met(list(scores))
    near = {rowid: candidate.score for rowid, candidate in lists.semantic.items()}
    others = [one.rowid for one in standings if one.rowid not in near]
    compares = request.weights or request.explain or request.min_similarity is not None
    if vector is not None and others and compares:  # an entry is as near as its best chunk
        found = evidence.ws.index.semantic(vector, filters=Filters(), within=others, phrases=(), limit=None)
        near |= {candidate.entry_rowid: candidate.score for candidate in reversed(found)}
    best_words = min((candidate.score for candidate in lists.lexical.values()), default=0.0)
    ranked = []
    for standing in standings:
        rowid = standing.rowid
        wanted = met.get(rowid, ())
        ranked.append(
            Ranked(
                standing=standing,
                score=scores[rowid],
                decay=1.0,
                age_days=age_in_days(standing.at, present),
                similarity=near.get(rowid),
                lexical=lists.lexical[rowid].score / best_words if rowid in lists.lexical and best_words else None,
                met=wanted,
                preferred=len(wanted) / evidence.preferences if evidence.preferences else None,
            )
        )
    return ranked
