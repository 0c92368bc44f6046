"""Ranks the candidates of one query: fetches them, scores them, and adjusts scores by age and
by neighbouring entries.

| adjustment                                        | when                        |
|---------------------------------------------------|-----------------------------|
| entries beside good ones in a file count more     | words and meaning are fused |
| old entries count less                            | ranks are fused             |
| the score is the weighted mean of the signals     | weights are given           |
| of the best 100 by meaning those within the dates | strategy `bounded`          |
"""

from collections.abc import Sequence

from ..index.rows import to_microseconds
from ..kinds import KINDS
from ..models import Meaning
from .evidence import LEAST_ENTRIES, Evidence, Lists, Query
from .fuse import score_by_fusion
from .ranking import (
    MICROSECONDS_PER_DAY,
    Ranked,
    Ranking,
    decay_by_age,
    sort_by_score,
    sort_ranking,
    weighted_mean,
)

BOUNDED_BEST = 100
"""The number of candidates of a bounded search."""


def rank_candidates(evidence: Evidence, query: Query, least: int = LEAST_ENTRIES) -> Ranking:
    """Fetches and scores the candidates of one query, best first; at least `least` entries, if
    so many match.
    """
    plan = evidence.plan
    config = evidence.config
    is_bounded = plan.strategy == "bounded"
    least = BOUNDED_BEST if is_bounded else least
    lists = evidence.candidates(query, least)
    with evidence.watch.stage("rank"):
        rows = list(lists.get("lexical", {}) | lists.get("semantic", {}))
        ranked = gather_signals(evidence, rows, lists, query.meaning)
        if is_bounded:
            for r in ranked:
                r.score = r.similarity or r.lexical or 0.0
            best = sort_by_score(ranked)[:BOUNDED_BEST]
            passing = evidence.index.filter_entries(plan.filters, [r.rowid for r in best])
            evidence.run_symbolic(query)
            return sort_ranking([r for r in best if r.rowid in passing], "newest")
        score_by_fusion(ranked, evidence, lists, query)
        if plan.weights:
            for r in ranked:
                r.score = weighted_mean(r.signals, plan.weights)
            return sort_by_score(ranked)
        if plan.joins:
            scores = {(r.standing.path, r.standing.seq): r.score for r in ranked}
            share = config.neighbours
            for r in ranked:  # it gains from those before and after it, over the best possible
                path = r.standing.path
                place = r.standing.seq
                for beside in (place - 1, place + 1):
                    r.score += share * scores.get((path, beside), 0.0)
                r.score /= 1 + 2 * share
        for r in ranked:
            if r.standing.dated and KINDS[r.standing.type].ages:
                r.decay = decay_by_age(
                    r.age_days, half_life_days=config.half_life_days, floor=config.decay_floor
                )
                r.score *= r.decay
        return sort_by_score(ranked)


def gather_signals(
    evidence: Evidence, rowids: Sequence[int], lists: Lists, meaning: Meaning | None = None
) -> Ranking:
    """Candidates for these rows with their signals (similarity, words, age), without a score;
    superseded ones too.
    """
    plan = evidence.plan
    present = to_microseconds(plan.now)
    standings = evidence.standings(rowids)
    met = evidence.met(rowids)
    near = {row: hit.score for row, hit in lists.get("semantic", {}).items()}
    words = {row: hit.score for row, hit in lists.get("lexical", {}).items()}
    compares = plan.weights or plan.explain or plan.min_similarity is not None
    if meaning and compares:
        near = evidence.cosines([one.rowid for one in standings], meaning.vector) | near
    best = min(words.values(), default=0.0)
    ranked = []
    for one in standings:
        row = one.rowid
        candidate = Ranked(
            standing=one,
            age_days=max(0, present - one.at) / MICROSECONDS_PER_DAY,
            similarity=near.get(row),
            lexical=words[row] / best if row in words and best else None,
            met=met[row],
        )
        if evidence.preferred:
            candidate.symbolic = len(candidate.met) / len(evidence.preferred)
        ranked.append(candidate)
    return ranked
