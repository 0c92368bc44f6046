"""The pipeline of a search: understand, candidates, fuse, adjust, doubt, read.

A strategy is a list of these steps:

| strategy              | candidates         | of each query     | of all that was found                              |
|-----------------------|--------------------|-------------------|----------------------------------------------------|
| lexical, semantic     | words, or meaning  | faded, best first | speakers, near enough, later first, newest fitting |
| hybrid                | words and meaning  | the same          | the same                                           |
| smart                 | of its sub-queries | the same          | the same                                           |
| any with weights      | the same           | weighed           | near enough, newest fitting                        |
| bounded               | 100 by meaning     | within dates      | near enough                                        |
| any, without words    | all, in order      |                   |                                                    |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from ..index import moment
from ..language.query import MAX_LIMIT, snippet
from ..models import Hit, Mode, Round, Why
from ..workspace.changes import marked
from .adjust import (
    Adjustment,
    best_first,
    faded,
    near_enough,
    newest_fitting,
    ordered,
    speakers_first,
    weighed,
    within_dates,
)
from .budget import Budget
from .closeness import CLOSE, closeness
from .evidence import Evidence, Lists, Query
from .fuse import mode_of, ranked_for, weighed_up
from .ranking import Ranked
from .smart import think
from .topic import later_first
from .understanding import spelled


@dataclass(frozen=True, slots=True)
class Steps:
    """`each` adjusts the candidates of one query, `together` (if any) and then `last` those of all queries."""

    each: tuple[Adjustment, ...] = ()
    together: Adjustment | None = None
    last: tuple[Adjustment, ...] = ()


FUSED = Steps((faded, best_first), speakers_first, (near_enough, later_first, newest_fitting))
WEIGHTED = Steps((weighed, best_first), None, (near_enough, newest_fitting))
BOUNDED = Steps((within_dates,), None, (near_enough,))
LISTED = Steps()


@dataclass(frozen=True, slots=True)
class Found:
    """`ranked` are all candidates, `kept` is without those that `min_similarity` cut, `hits` are the best of them."""

    mode: Mode
    ranked: Sequence[Ranked]
    kept: Sequence[Ranked]
    hits: tuple[Hit, ...]
    terms: tuple[str, ...]
    rounds: tuple[Round, ...]
    notices: tuple[str, ...]


def run(evidence: Evidence, budget: Budget | None) -> Found:
    """What a request that is understood finds."""
    request, watch = evidence.request, evidence.watch
    steps = steps_of(evidence)
    with watch.stage("embed"):
        evidence.vector = evidence.embed(request.parsed.text) if request.parsed.terms else None
    mode = mode_of(evidence, evidence.vector)
    terms, notices = spelled(evidence)
    query = Query(terms, evidence.vector, request.parsed.phrases, request.filters)
    rounds: tuple[Round, ...] = ()
    if steps is LISTED:
        ranked: Sequence[Ranked] = listed(evidence)
    elif request.strategy == "smart":
        ranked, rounds = think(evidence, steps.each, steps.together, query, budget)
    else:
        ranked = ranked_for(evidence, steps.each, query)
        ranked = steps.together(ranked, evidence) if steps.together else ranked
    kept = ranked
    with watch.stage("rank"):
        for adjust in steps.last:
            kept = adjust(kept, evidence)
        winners = ordered(kept, evidence)
    with watch.stage("read"):
        hits = read(evidence, winners, terms)
    doubts = doubt(evidence, mode, hits, winners)
    return Found(mode, ranked, kept, hits, terms, rounds, (*doubts, *notices))


def steps_of(evidence: Evidence) -> Steps:
    request = evidence.request
    if not request.parsed.terms:
        return LISTED
    if request.strategy == "bounded":
        return BOUNDED
    return WEIGHTED if request.weights else FUSED


def listed(evidence: Evidence) -> list[Ranked]:
    """Entries in order, for a query that is nothing but filters, or nothing."""
    request = evidence.request
    rowids = request.within
    if rowids is None:
        rowids = evidence.ws.index.listing(request.filters, order=request.order, limit=MAX_LIMIT)[1]
    return weighed_up(evidence, Lists({}, {}), dict.fromkeys(rowids, 0.0))


def doubt(evidence: Evidence, mode: Mode, hits: Sequence[Hit], winners: Sequence[Ranked]) -> tuple[str, ...]:
    """What speaks against taking the best hits for an answer; one thing at most."""
    request = evidence.request
    if evidence.vector is None or not hits or request.order != "relevance" or request.recent:
        return ()
    doubtful = max(closeness(evidence.ws.index, request.parsed.terms, hits, [r.similarity for r in winners])) < CLOSE
    if mode == "hybrid" and not evidence.lists.lexical:
        said = "No entry holds a word of this query; these come near in meaning only."
        return (f"{said[:-1]}: no close match." if doubtful else said,)
    return ("There is no close match; these are the nearest.",) if doubtful else ()


def read(evidence: Evidence, winners: Sequence[Ranked], terms: Sequence[str]) -> tuple[Hit, ...]:
    """The winners as the journal says them, with the passage that fits best."""
    request = evidence.request
    chunks = {r.rowid: evidence.chunk(r.rowid) for r in winners}
    evidence.read(chunks)
    entries = marked({row: entry for row in chunks if (entry := evidence.entry(row))})
    stems = {stem for term in (*terms, *request.parsed.phrases) for stem in evidence.stems(term)}

    def find(text: str) -> list[int]:
        return [start for start, _ in evidence.places(text, stems)]

    hits = []
    for ranked in winners:
        entry = entries[ranked.rowid]
        passage, line = evidence.passage(ranked.rowid, chunks[ranked.rowid])
        shown, offset = snippet(passage, find)
        hits.append(
            Hit(
                entry=entry,
                score=round(ranked.score, 6),
                passage=passage,
                snippet=shown,
                snippet_line=line + offset,
                superseded_by=evidence.superseded_by(entry.id),
                why=_why(evidence, ranked) if request.explain else None,
            )
        )
    return tuple(hits)


def _why(evidence: Evidence, ranked: Ranked) -> Why:
    request, lists = evidence.request, evidence.lists
    ranks = {
        name: list(candidates).index(ranked.rowid) + 1
        for name, candidates in (("lexical", lists.lexical), ("semantic", lists.semantic))
        if ranked.rowid in candidates
    }
    hard = [f.name for f in fields(request.filters) if getattr(request.filters, f.name) not in (None, (), False)]
    accessed = ranked.standing.accessed_at
    return Why(
        signals=ranked.signals,
        lexical_rank=ranks.get("lexical"),
        semantic_rank=ranks.get("semantic"),
        similarity=ranked.signals.semantic,
        matched_layers=(*ranks, *(["symbolic"] if ranked.met else [])),
        matched_filters=(*hard, *(f"prefer {name}" for name in ranked.met)),
        decay=ranked.decay,
        age_days=ranked.age_days,
        access_count=ranked.standing.accesses,
        last_accessed_at=None if accessed is None else moment(accessed, request.now.tzinfo),
    )
