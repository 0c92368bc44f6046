"""Search: two lists of candidates, scored, ordered, and the winners read from the journal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta

from .errors import InvalidArgument, ModelError
from .index import Standing, instant, moment
from .models import ORDERS, STRATEGIES, Entry, Filters, Hit, Mode, Order, SearchResult, Signals, Strategy, Vector, Why
from .query import MAX_LIMIT, ParsedQuery, check_limit, parse_query, snippet
from .ranking import (
    age_in_days,
    choose_weights,
    decay,
    newest_of_a_topic_first,
    preferring,
    reciprocal_rank_fusion,
    signals,
    weighted,
)
from .retrieve import Lists, by_meaning, by_words, spell
from .stopwatch import Stopwatch
from .sync import DEFAULT_RATE, SyncReport, in_step, read_hits
from .words import words
from .workspace import Workspace

TOPIC_DEPTH = 20
NEARLY_AS_GOOD = 0.74
"""The share of an entry's score that a later one on its topic must reach to go before it."""

BOUNDED_BEST, BOUNDED_DAYS = 100, 90
COUNTED_HITS = 3
"""So many hits of a search count as read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """One search, checked. `weights` None: ranks are fused. `trouble`: why there is no meaning in it."""

    parsed: ParsedQuery
    filters: Filters
    prefer: Filters
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


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A candidate. `met` are the preferences that it meets."""

    standing: Standing
    score: float
    decay: float
    age_days: float
    signals: Signals
    met: tuple[str, ...]

    @property
    def rowid(self) -> int:
        return self.standing.rowid


def search(
    ws: Workspace,
    query: str,
    *,
    filters: Filters | None = None,
    limit: int = 20,
    strategy: str = "hybrid",
    preset: str | None = None,
    weights: Mapping[str, float] | None = None,
    prefer: Filters | None = None,
    min_similarity: float | None = None,
    order: str = "relevance",
    explain: bool = False,
    within: Sequence[int] | None = None,
    load_model: bool = True,
    embed_ms: float = 200,
) -> SearchResult:
    """The entries that fit the query best, best first.

    Steps: bring the index in step; parse the query; the lexical and the semantic list; scores; read the
    winners. Ranks are fused and decay with age; with `preset` or `weights` the signals are weighted instead.
    `filters` are hard, `prefer` only raises what it fits. `min_similarity` is a cosine, 0 to 1; entries without
    a vector pass. `order` is how the best `limit` are shown. `strategy` "bounded" is the best 100 by meaning, of
    the last 90 days (or since `filters.since`), newest first. Without a model or without vectors it answers from
    words and says so. A query without words lists entries in order. `within` restricts it to these index
    rows. `load_model` False leaves a model that is still loading alone.

    Raises InvalidArgument that names the valid values.
    """
    check_limit(limit)
    if min_similarity is not None and not 0 <= min_similarity <= 1:
        raise InvalidArgument(f"min_similarity is {min_similarity}.", valid=("0 to 1",))
    now = ws.clock()
    parsed = parse_query(query, filters or Filters(), now=now, stop_words=ws.config.search.stop_words)
    chosen = check_strategy(strategy)
    ask = _Ask(
        parsed=parsed,
        filters=_within_reach(parsed.filters, now) if chosen == "bounded" else parsed.filters,
        prefer=prefer or Filters(),
        limit=limit,
        strategy=chosen,
        weights=choose_weights(preset, weights),
        min_similarity=min_similarity,
        order=check_order(order),
        within=within,
        explain=explain,
        now=now,
        trouble="" if chosen == "lexical" else _load(ws, wait=load_model),
        watch=Stopwatch(),
    )
    result = in_step(ws, lambda report: _run(ws, query, ask, report), embed_ms=embed_ms, at_least=8)
    if ws.config.metrics:
        ws.index.timed("search", ask.watch.read())
    if ws.config.track_access:
        ws.index.accessed([hit.entry.id for hit in result.hits[:COUNTED_HITS]], instant(now))
    return result


def check_strategy(value: str) -> Strategy:
    """The strategy of this name, whatever its case. Raises InvalidArgument."""
    for known in STRATEGIES:
        if known == value.strip().lower():
            return known
    raise InvalidArgument(f"strategy {value!r} is unknown.", valid=STRATEGIES)


def check_order(value: str) -> Order:
    """The order of this name, whatever its case. Raises InvalidArgument."""
    for known in ORDERS:
        if known == value.strip().lower():
            return known
    raise InvalidArgument(f"order {value!r} is unknown.", valid=ORDERS)


def _within_reach(filters: Filters, now: datetime) -> Filters:
    """The filters of a bounded search, which always has a beginning."""
    return filters if filters.since else replace(filters, since=(now - timedelta(BOUNDED_DAYS)).date().isoformat())


def _load(ws: Workspace, *, wait: bool) -> str:
    """Empty when the model is ready, else why not and what to do."""
    if ws.embedder.ready:
        return ""
    if not wait:
        return "The model is still loading, so this answer is from words only; ask again in a second."
    try:
        ws.embedder.load()
    except ModelError as error:
        return f"{error} Until then search works by words only."
    return ""


def _run(ws: Workspace, query: str, ask: _Ask, report: SyncReport) -> SearchResult:
    with ask.watch.stage("embed"):
        vector = _vector(ws, ask)
    terms, notices = spell(ws, ask.parsed)
    mode: Mode = "lexical" if vector is None else "hybrid" if ask.strategy == "hybrid" else "semantic"
    lists = _lists(ws, ask, mode, terms, vector)
    with ask.watch.stage("rank"):
        ranked = _candidates(ws, ask, mode, lists, vector)
        kept = _similar(ask, ranked) if vector is not None else ranked
        best = _later_first(ws, lists, kept) if vector is not None and ask.weights is None else kept
        winners = _in_order(best[: ask.limit], ask.order)
    if mode == "hybrid" and winners and not lists.lexical:
        notices = (*notices, "No entry holds a word of this query; these come near in meaning only.")
    with ask.watch.stage("read"):
        hits = _hits(ws, ask, lists, winners, terms)
    return SearchResult(
        query=query,
        mode=mode,
        strategy=ask.strategy,
        weights=dict(ask.weights) if ask.weights else _fusion_weights(ws, mode),
        total=len(kept),
        hits=hits,
        terms=terms,
        notices=_notices(ws, ask, report, notices, ranked, kept),
    )


def _vector(ws: Workspace, ask: _Ask) -> Vector | None:
    if ask.strategy == "lexical" or ask.trouble or not ask.parsed.text or ws.index.meta("model") != ws.embedder.name:
        return None
    return ws.embedder.embed_query(ask.parsed.text)


def _lists(ws: Workspace, ask: _Ask, mode: Mode, terms: Sequence[str], vector: Vector | None) -> Lists:
    filters, limit = ask.filters, ask.limit
    if ask.strategy == "bounded":  # the best of all times, which are cut afterwards
        filters, limit = replace(filters, since=None, until=None), BOUNDED_BEST
    where = (ask.parsed.phrases, filters, ask.within, limit)
    with ask.watch.stage("lexical"):
        lexical = by_words(ws, terms if mode != "semantic" else (), *where)
    with ask.watch.stage("semantic"):
        semantic = by_meaning(ws, vector, *where)
    return Lists(lexical, semantic)


def _fusion_weights(ws: Workspace, mode: Mode) -> dict[str, float]:
    used = ("lexical", "semantic") if mode == "hybrid" else (mode,)
    return {name: float(ws.config.search.weights.get(name, 0.0)) for name in used}


# -- scores -------------------------------------------------------------------------------------------


def _candidates(ws: Workspace, ask: _Ask, mode: Mode, lists: Lists, vector: Vector | None) -> list[_Ranked]:
    if not ask.parsed.terms:
        return _listed(ws, ask)
    return _bounded(ws, ask, lists) if ask.strategy == "bounded" else _rank(ws, ask, mode, lists, vector)


def _rank(ws: Workspace, ask: _Ask, mode: Mode, lists: Lists, vector: Vector | None) -> list[_Ranked]:
    """All candidates, best first; of equals the later. A list that ran and found nothing counts all the same."""
    used = ("lexical", "semantic") if mode == "hybrid" else (mode,)
    rankings = {name: list(getattr(lists, name)) for name in used}
    fused = reciprocal_rank_fusion(rankings, k=ws.config.search.k, weights=_fusion_weights(ws, mode))
    ranked = _scored(ws, ask, lists, list(dict.fromkeys(r for rows in rankings.values() for r in rows)), vector, fused)
    latest_first = sorted(ranked, key=lambda r: r.standing.position, reverse=True)
    return sorted(latest_first, key=lambda r: r.score, reverse=True)


def _bounded(ws: Workspace, ask: _Ask, lists: Lists) -> list[_Ranked]:
    """The best by meaning that lie within the dates, newest first."""
    best = list(lists.semantic or lists.lexical)[:BOUNDED_BEST]
    passing = ws.index.passing(ask.filters, best)
    ranked = _scored(ws, ask, lists, [rowid for rowid in best if rowid in passing], None, {})
    return _in_order([replace(r, score=r.signals.semantic or r.signals.lexical or 0.0) for r in ranked], "newest")


def _listed(ws: Workspace, ask: _Ask) -> list[_Ranked]:
    """Entries in order, for a query that is nothing but filters, or nothing."""
    rowids = ask.within
    if rowids is None:
        rowids = ws.index.listing(ask.filters, order=ask.order, limit=MAX_LIMIT)[1]
    ranked = {r.rowid: r for r in _scored(ws, ask, Lists({}, {}), rowids, None, {})}
    return [replace(ranked[rowid], score=0.0) for rowid in rowids if rowid in ranked]


def _scored(
    ws: Workspace, ask: _Ask, lists: Lists, rowids: Sequence[int], vector: Vector | None, fused: Mapping[int, float]
) -> list[_Ranked]:
    """These entries with what speaks for them, without those that a later one supersedes."""
    config, present = ws.config.search, instant(ask.now)
    standings = _visible(ws, ws.index.standings(rowids), ask.filters)
    met = _met(ws, ask.prefer, list(standings))
    kinds = len(_preferences(ask.prefer))
    near = {rowid: candidate.score for rowid, candidate in lists.semantic.items()}
    if vector is not None and (ask.weights or ask.explain or ask.min_similarity is not None):
        near |= ws.index.similarities(vector, [rowid for rowid in standings if rowid not in near])
    best_words = min((candidate.score for candidate in lists.lexical.values()), default=0.0)
    ranked = []
    for rowid, standing in standings.items():
        age = age_in_days(standing.at, present)
        share = len(met.get(rowid, ())) / kinds if kinds else None
        found = signals(
            similarity=near.get(rowid),
            lexical=lists.lexical[rowid].score / best_words if rowid in lists.lexical and best_words else None,
            preferred=share,
            age_days=age,
            importance=standing.importance,
            accesses=standing.accesses,
        )
        if ask.weights:
            fading, score = 1.0, weighted(found, ask.weights)
        else:
            lasting = standing.type == "reference" or standing.date_source == "mtime"
            fading = 1.0 if lasting else decay(age, half_life_days=config.half_life_days, floor=config.decay_floor)
            score = fused.get(rowid, 0.0) * fading
            score = score if share is None else preferring(score, share)
        ranked.append(_Ranked(standing, score, fading, age, found, met.get(rowid, ())))
    return ranked


def _visible(ws: Workspace, entries: Mapping[int, Standing], filters: Filters) -> dict[int, Standing]:
    """Without what a later entry supersedes, unless the filters ask for it."""
    if filters.include_superseded:
        return dict(entries)
    superseded = ws.index.superseded_by([standing.id for standing in entries.values()])
    return {rowid: standing for rowid, standing in entries.items() if standing.id not in superseded}


def _preferences(prefer: Filters) -> dict[str, Filters]:
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
    for name, wanted in _preferences(prefer).items():
        for rowid in ws.index.passing(wanted, rowids):
            met[rowid] = (*met.get(rowid, ()), name)
    return met


def _similar(ask: _Ask, ranked: Sequence[_Ranked]) -> list[_Ranked]:
    """Those near enough in meaning, and those of which nobody can say yet."""
    least = ask.min_similarity
    return [r for r in ranked if least is None or r.signals.semantic is None or r.signals.semantic >= least]


# -- order --------------------------------------------------------------------------------------------


def _in_order(ranked: Sequence[_Ranked], order: Order) -> list[_Ranked]:
    """The same entries in this order; of equals the newest first."""
    if order == "relevance":
        return list(ranked)
    by_time = sorted(ranked, key=lambda r: r.standing.position, reverse=order != "oldest")
    if order == "importance":
        by_time.sort(key=lambda r: r.signals.importance, reverse=True)
    elif order == "access":
        by_time.sort(key=lambda r: r.standing.accesses, reverse=True)
    return by_time


def _later_first(ws: Workspace, lists: Lists, ranked: Sequence[_Ranked]) -> list[_Ranked]:
    """The ranking, in which of two entries of the top that say the same thing the later stands first.

    It takes the other's place, and the score of that place.
    """
    import numpy as np

    first, rest = ranked[:TOPIC_DEPTH], ranked[TOPIC_DEPTH:]
    top = [r for r in first if r.rowid in lists.semantic]
    chunks = [lists.semantic[r.rowid].chunk_rowid for r in top]
    stored = ws.index.vectors(chunks)
    if len(top) < 2 or len(stored) < len(top):
        return list(ranked)
    matrix = np.stack([np.frombuffer(stored[chunk], dtype=np.int8) for chunk in chunks]).astype(np.float32)
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1.0)
    alike = [
        (one, other)
        for one, other in np.argwhere(np.triu(matrix @ matrix.T >= ws.config.search.same_topic, k=1))
        if top[other].score >= NEARLY_AS_GOOD * top[one].score
    ]
    by_rowid = {r.rowid: r for r in first}
    order = newest_of_a_topic_first(
        list(by_rowid),
        [(top[one].rowid, top[other].rowid) for one, other in alike],
        {rowid: r.standing.position for rowid, r in by_rowid.items()},
    )
    moved = [replace(by_rowid[rowid], score=place.score) for rowid, place in zip(order, first, strict=True)]
    return [*moved, *rest]


# -- the answer ---------------------------------------------------------------------------------------


def _hits(ws: Workspace, ask: _Ask, lists: Lists, winners: Sequence[_Ranked], terms: Sequence[str]) -> tuple[Hit, ...]:
    rowids = [r.rowid for r in winners]
    best = {rowid: chunk for rowid in rowids if (chunk := lists.chunk(rowid)) is not None}
    entries, passages = read_hits(ws, rowids, list(best.values()))
    superseded = ws.index.superseded_by([entry.id for entry in entries.values()])
    sought = (*terms, *ask.parsed.phrases)
    stems = {stem for term in sought for _, word in words(term) if (stem := ws.index.stem(word))}
    hits = []
    for ranked in winners:
        entry = entries[ranked.rowid]
        passage, line = passages.get(best.get(ranked.rowid, -1), (entry.content, _first_line(entry)))
        shown, offset = snippet(passage, lambda word: ws.index.stem(word) in stems)
        hits.append(
            Hit(
                entry=entry,
                score=round(ranked.score, 6),
                passage=passage,
                snippet=shown,
                snippet_line=line + offset,
                superseded_by=superseded.get(entry.id),
                why=_why(ask, lists, ranked) if ask.explain else None,
            )
        )
    return tuple(hits)


def _first_line(entry: Entry) -> int:
    return entry.place.body_line if entry.place else 1


def _why(ask: _Ask, lists: Lists, ranked: _Ranked) -> Why:
    ranks = {
        name: list(candidates).index(ranked.rowid) + 1
        for name, candidates in (("lexical", lists.lexical), ("semantic", lists.semantic))
        if ranked.rowid in candidates
    }
    hard = [f.name for f in fields(ask.filters) if getattr(ask.filters, f.name) not in (None, (), False)]
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
        last_accessed_at=None if accessed is None else moment(accessed, ask.now.tzinfo),
    )


def _notices(
    ws: Workspace,
    ask: _Ask,
    report: SyncReport,
    remarks: Sequence[str],
    ranked: Sequence[_Ranked],
    kept: Sequence[_Ranked],
) -> tuple[str, ...]:
    """What the user should know, most important first."""
    notices = [*ask.parsed.notices, *([ask.trouble] if ask.trouble else []), *remarks]
    entries = ws.index.counts()[1] if report.pending_entries or not kept else len(kept)
    if not ask.trouble and report.pending_entries:
        passages = ws.index.pending_counts()[1]
        rate = float(ws.index.meta("embed_rate") or DEFAULT_RATE)
        notices.append(
            f"{report.pending_entries:,} of {entries:,} notes are found by words only; "
            f"`synaptic rebuild-index` finishes them in about {max(1, round(passages / rate))} s."
        )
    if report.trouble:
        notices.append(f"{report.trouble}; it is kept in memory, which is slower. `synaptic doctor` says what to do.")
    if report.behind:
        notices.append("Another process is writing the index; the latest changes may be missing. Ask again.")
    if report.queued:
        notices.append(f"{report.queued} saved entries wait for the write lock and are not searchable yet.")
    if not ask.parsed.terms and kept and ask.order == "relevance":
        notices.append("The query holds no words to search for; these are the newest entries.")
    if ask.min_similarity is not None and any(r.signals.semantic is None for r in kept):
        notices.append("Some of these have no vector to compare yet; min_similarity let them pass.")
    if not kept and entries:
        notices.append(_why_nothing(ws, ask, ranked))
    return tuple(notices)


def _why_nothing(ws: Workspace, ask: _Ask, ranked: Sequence[_Ranked]) -> str:
    """What took everything away, and what to try."""
    if ranked:
        nearest = max(math.floor((r.signals.semantic or 0.0) * 100) / 100 for r in ranked)
        return f"min_similarity {ask.min_similarity} cut all {len(ranked)}; the nearest has {nearest}. Try less."
    culprit = _culprit(ws, ask.filters)
    if culprit:
        return culprit
    if ask.parsed.phrases:
        return "No entry holds that phrase; without the quotes its words are searched one by one."
    if ask.strategy == "bounded":
        return "None of the best 100 lies within these days; the default strategy searches all of them."
    return "Nothing fits; try other words, or fewer filters."


def _culprit(ws: Workspace, filters: Filters) -> str:
    """The filter but for which entries would be left; empty where the filters leave some."""
    given = _preferences(filters)
    if not given or ws.index.listing(filters, order="newest", limit=1)[0]:
        return ""
    for name in given:
        gone = {"since": None, "until": None} if name == "time" else {name: getattr(Filters(), name)}
        left = ws.index.listing(replace(filters, **gone), order="newest", limit=1)[0]
        if left:
            said = "since and until" if name == "time" else name
            return f"No entry passes these filters; without {said} there are {left:,}."
    return "No entry passes these filters, nor all but one of them; leave some out."
