"""What speaks for each candidate of a search, and the order that comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import NamedTuple

from ..index import Standing, instant
from ..language.lexicon import STOP_WORDS
from ..language.query import MAX_LIMIT, ParsedQuery
from ..language.words import words
from ..models import Filters, Mode, Order, Signals, Strategy, Vector
from ..workspace.stopwatch import Stopwatch
from ..workspace.workspace import Workspace
from .automatic import Budget
from .ranking import (
    age_in_days,
    decay,
    reciprocal_rank_fusion,
    signals,
    weighted,
)
from .retrieve import Lists, by_meaning, by_words

PREFERENCE = 1.5
"""The weight of the list of what meets preferences, beside the lists by words and by meaning."""

FITTING, FITTING_WORDS, FITTING_MEANING = 0.5, 0.8, 0.9
"""The share of the best score, BM25 or cosine from which on an entry fits where the newest is asked for."""

NEAR = 0.3
"""The cosine from which on a text may be about the same thing at all."""

BOUNDED_BEST = 100

EVERY_CHUNK = 100_000
"""More chunks than the entries of one ranking have."""


SPEAKS, LONGEST_LABEL = 4, 40
"""So many candidates begin with a name and a colon where somebody speaks; a label of so many characters at most."""

UNNAMED = 0.5
"""What an entry counts that is not said by somebody the question names, where others are. Chosen on LoCoMo, 1 to 3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One search, checked. `weights` None: ranks are fused. `trouble`: why there is no meaning in it.

    `recent`: of what fits, the newest is wanted first.
    """

    parsed: ParsedQuery
    filters: Filters
    prefer: Filters
    recent: bool
    limit: int
    strategy: Strategy
    weights: Mapping[str, float] | None
    min_similarity: float | None
    order: Order
    within: Sequence[int] | None
    explain: bool
    now: datetime
    trouble: str
    watch: Stopwatch
    budget: Budget


class Ranked(NamedTuple):
    """A candidate; there are hundreds in a search.

    `similarity` is the cosine of its best chunk, `lexical` its BM25 over the best, `met` the preferences that it
    meets, `preferred` their share, None where nothing is preferred.
    """

    standing: Standing
    score: float
    decay: float
    age_days: float
    similarity: float | None
    lexical: float | None
    met: tuple[str, ...]
    preferred: float | None

    @property
    def rowid(self) -> int:
        return self.standing.rowid

    @property
    def signals(self) -> Signals:
        return signals(
            similarity=self.similarity,
            lexical=self.lexical,
            preferred=self.preferred,
            age_days=self.age_days,
            importance=self.standing.importance,
            accesses=self.standing.accesses,
        )


def vector_of(ws: Workspace, ask: Ask) -> Vector | None:
    if ask.strategy == "lexical" or ask.trouble or not ask.parsed.text or ws.index.meta("model") != ws.embedder.name:
        return None
    return ws.embedder.embed_query(ask.parsed.text)


def lists_of(ws: Workspace, ask: Ask, mode: Mode, terms: Sequence[str], vector: Vector | None) -> Lists:
    filters, limit = ask.filters, ask.limit
    if ask.strategy == "bounded":  # the best of all times, which are cut afterwards
        filters, limit = replace(filters, since=None, until=None), BOUNDED_BEST
    where = (ask.parsed.phrases, filters, ask.within, limit)
    with ask.watch.stage("lexical"):
        lexical = by_words(ws, terms if mode != "semantic" else (), *where)
    with ask.watch.stage("semantic"):
        semantic = by_meaning(ws, vector, *where)
    return Lists(lexical, semantic)


def fusion_weights(ws: Workspace, mode: Mode) -> dict[str, float]:
    used = ("lexical", "semantic") if mode == "hybrid" else (mode,)
    return {name: float(ws.config.search.weights.get(name, 0.0)) for name in used}


# -- scores -------------------------------------------------------------------------------------------


def ranked_of(ws: Workspace, ask: Ask, mode: Mode, lists: Lists, vector: Vector | None) -> list[Ranked]:
    with ask.watch.stage("rank"):
        if not ask.parsed.terms:
            return _listed(ws, ask)
        return _bounded(ws, ask, lists) if ask.strategy == "bounded" else _rank(ws, ask, mode, lists, vector)


def _rank(ws: Workspace, ask: Ask, mode: Mode, lists: Lists, vector: Vector | None) -> list[Ranked]:
    """All candidates, best first; of equals the later. A list that ran and found nothing counts all the same."""
    used = ("lexical", "semantic") if mode == "hybrid" else (mode,)
    rankings = {name: list(getattr(lists, name)) for name in used}
    weights = fusion_weights(ws, mode)
    fused = reciprocal_rank_fusion(rankings, k=ws.config.search.k, weights=weights)
    if preferences(ask.prefer):
        met = _met(ws, ask.prefer, list(fused))
        rankings["symbolic"] = sorted(met, key=lambda rowid: (-len(met[rowid]), -fused[rowid]))
        weights["symbolic"] = PREFERENCE
        fused = reciprocal_rank_fusion(rankings, k=ws.config.search.k, weights=weights)
    return by_score(_scored(ws, ask, lists, list(fused), vector, fused))


def by_score(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Best first; of equals the later."""
    latest_first = sorted(ranked, key=lambda r: r.standing.position, reverse=True)
    return sorted(latest_first, key=lambda r: r.score, reverse=True)


def named_first(ws: Workspace, ask: Ask, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The ranking, in which what is said by somebody the question names counts for more, best first.

    Who says it stands before a colon, again and again: `Ada: the pool is 40 now`.
    """
    if not ws.config.search.speakers or ask.weights is not None or ask.strategy == "bounded":
        return list(ranked)
    labels = {r.rowid: label for r in ranked if (label := _label(r.standing.title))}
    asked = {word for _, word in words(ask.parsed.text)} - STOP_WORDS
    often = Counter(labels.values())
    named = {label for label in often if often[label] >= SPEAKS and not asked.isdisjoint(label)}
    if not named:
        return list(ranked)
    return by_score([r if labels.get(r.rowid) in named else r._replace(score=UNNAMED * r.score) for r in ranked])


def _label(title: str) -> frozenset[str]:
    label, colon, _ = title[:LONGEST_LABEL].partition(": ")
    return frozenset(word for _, word in words(label)) if colon else frozenset()


def _bounded(ws: Workspace, ask: Ask, lists: Lists) -> list[Ranked]:
    """The best by meaning that lie within the dates, newest first."""
    best = list(lists.semantic or lists.lexical)[:BOUNDED_BEST]
    passing = ws.index.passing(ask.filters, best)
    ranked = _scored(ws, ask, lists, [rowid for rowid in best if rowid in passing], None, {})
    return in_order([r._replace(score=r.similarity or r.lexical or 0.0) for r in ranked], "newest")


def _listed(ws: Workspace, ask: Ask) -> list[Ranked]:
    """Entries in order, for a query that is nothing but filters, or nothing."""
    rowids = ask.within
    if rowids is None:
        rowids = ws.index.listing(ask.filters, order=ask.order, limit=MAX_LIMIT)[1]
    ranked = {r.rowid: r for r in _scored(ws, ask, Lists({}, {}), rowids, None, {})}
    return [ranked[rowid]._replace(score=0.0) for rowid in rowids if rowid in ranked]


def _scored(
    ws: Workspace, ask: Ask, lists: Lists, rowids: Sequence[int], vector: Vector | None, fused: Mapping[int, float]
) -> list[Ranked]:
    """These entries with what speaks for them, without those that a later one supersedes."""
    config, present = ws.config.search, instant(ask.now)
    standings = _visible(ws, ws.index.standings(rowids), ask.filters)
    met = _met(ws, ask.prefer, list(standings))
    kinds = len(preferences(ask.prefer))
    near = {rowid: candidate.score for rowid, candidate in lists.semantic.items()}
    if vector is not None and (ask.weights or ask.explain or ask.min_similarity is not None):
        near |= _similarities(ws, vector, [rowid for rowid in standings if rowid not in near])
    best_words = min((candidate.score for candidate in lists.lexical.values()), default=0.0)
    ranked = []
    for rowid, standing in standings.items():
        age = age_in_days(standing.at, present)
        wanted = met.get(rowid, ())
        lasting = ask.weights or standing.type == "reference" or standing.date_source == "mtime"
        fading = 1.0 if lasting else decay(age, half_life_days=config.half_life_days, floor=config.decay_floor)
        found = Ranked(
            standing=standing,
            score=fused.get(rowid, 0.0) * fading,
            decay=fading,
            age_days=age,
            similarity=near.get(rowid),
            lexical=lists.lexical[rowid].score / best_words if rowid in lists.lexical and best_words else None,
            met=wanted,
            preferred=len(wanted) / kinds if kinds else None,
        )
        if ask.weights:
            found = found._replace(score=weighted(found.signals, ask.weights))
        ranked.append(found)
    return ranked


def _similarities(ws: Workspace, vector: Vector, rowids: Sequence[int]) -> dict[int, float]:
    """The cosine of each entry's best chunk; entries without a vector are left out."""
    if not rowids or ws.index.meta("model") is None:
        return {}
    found = ws.index.semantic(vector, filters=Filters(), within=rowids, phrases=(), limit=EVERY_CHUNK)
    return {candidate.entry_rowid: candidate.score for candidate in reversed(found)}


def _visible(ws: Workspace, entries: Mapping[int, Standing], filters: Filters) -> dict[int, Standing]:
    """Without what a later entry supersedes, unless the filters ask for it."""
    if filters.include_superseded:
        return dict(entries)
    superseded = ws.index.superseded_by([standing.id for standing in entries.values()])
    return {rowid: standing for rowid, standing in entries.items() if standing.id not in superseded}


def preferences(prefer: Filters) -> dict[str, Filters]:
    """Each thing that is preferred as a filter of its own; the two ends of a range are one."""
    found = {
        f.name: replace(Filters(), **{f.name: value})
        for f in fields(prefer)
        if f.name not in ("since", "until") and (value := getattr(prefer, f.name)) not in (None, (), False)
    }
    if prefer.since or prefer.until:
        found["time"] = Filters(since=prefer.since, until=prefer.until)
    return found


def _met(ws: Workspace, prefer: Filters, rowids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """For each entry the names of the preferences that it meets."""
    met: dict[int, tuple[str, ...]] = {}
    for name, wanted in preferences(prefer).items():
        for rowid in ws.index.passing(wanted, rowids):
            met[rowid] = (*met.get(rowid, ()), name)
    return met


def similar(ask: Ask, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Those near enough in meaning, and those of which nobody can say yet."""
    least = ask.min_similarity
    return [r for r in ranked if least is None or r.similarity is None or r.similarity >= least]


# -- order --------------------------------------------------------------------------------------------


def in_order(ranked: Sequence[Ranked], order: Order) -> list[Ranked]:
    """The same entries in this order; of equals the newest first."""
    if order == "relevance":
        return list(ranked)
    by_time = sorted(ranked, key=lambda r: r.standing.position, reverse=order != "oldest")
    if order == "importance":
        by_time.sort(key=lambda r: r.signals.importance, reverse=True)
    elif order == "access":
        by_time.sort(key=lambda r: r.standing.accesses, reverse=True)
    return by_time


def newest_of_the_fitting(ranked: Sequence[Ranked]) -> list[Ranked]:
    """What fits nearly as well as the best, by score, by words or by meaning, newest first; then the rest.

    Where something meets preferences, only that fits.
    """
    nearest = max((r.similarity or 0.0 for r in ranked), default=0.0)
    preferred = any(r.met for r in ranked)
    good: list[Ranked] = []
    rest: list[Ranked] = []
    for r in ranked:
        by_words = (r.lexical or 0.0) >= FITTING_WORDS
        by_meaning = (r.similarity or 0.0) >= max(FITTING_MEANING * nearest, NEAR)
        fits = by_words or by_meaning or r.score >= FITTING * ranked[0].score
        (good if fits and (r.met or not preferred) else rest).append(r)
    return [*in_order(good, "newest"), *rest]
