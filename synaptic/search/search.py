"""Search: the question is read, candidates are ranked, and the winners are read from the journal."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta

from ..errors import InvalidArgument, ModelError
from ..index import instant, moment
from ..language.query import check_limit, parse_query, snippet
from ..language.words import stems as stems_of
from ..language.words import words_like
from ..models import ORDERS, STRATEGIES, Entry, Filters, Hit, Mode, Order, Round, SearchResult, Strategy, Why
from ..workspace.changes import marked
from ..workspace.stopwatch import Stopwatch
from ..workspace.sync import DEFAULT_RATE, SyncReport, in_step, read_hits
from ..workspace.workspace import Workspace
from .automatic import Budget, Costs, choice, costs, form_of
from .closeness import CLOSE, closeness
from .ranking import choose_weights
from .retrieve import Lists, spell
from .scoring import (
    Ask,
    Ranked,
    fusion_weights,
    in_order,
    lists_of,
    named_first,
    newest_of_the_fitting,
    preferences,
    ranked_of,
    similar,
    vector_of,
)
from .smart import MAX_PARTS, MAX_ROUNDS, think
from .topic import later_first

BOUNDED_DAYS = 90
MOST_MS = 60_000
RUNS_READ = 200
COUNTED_HITS = 3
"""So many hits of a search count as read."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """How an automatic or a smart search was asked to go about it."""

    choose: bool
    sub_queries: tuple[str, ...]
    max_rounds: int


def search(
    ws: Workspace,
    query: str,
    *,
    filters: Filters | None = None,
    limit: int = 20,
    strategy: str = "auto",
    budget_ms: float | None = None,
    preset: str | None = None,
    weights: Mapping[str, float] | None = None,
    prefer: Filters | None = None,
    min_similarity: float | None = None,
    order: str = "relevance",
    explain: bool = False,
    sub_queries: Sequence[str] = (),
    max_rounds: int = 2,
    within: Sequence[int] | None = None,
    load_model: bool = True,
    embed_ms: float = 200,
) -> SearchResult:
    """The entries that fit the query best, best first.

    Steps: bring the index in step; parse the query; the lexical and the semantic list; scores; read the
    winners. Ranks are fused and decay with age; with `preset` or `weights` the signals are weighted instead.
    `filters` are hard, `prefer` only raises what it fits. `min_similarity` is a cosine, 0 to 1; entries without
    a vector pass. `order` is how the best `limit` are shown. Without a model or without vectors it answers from
    words and says so. A query without words lists entries in order. `within` restricts it to these index rows.
    `load_model` False leaves a model that is still loading alone.

    | strategy | what                                                                                          |
    |----------|-----------------------------------------------------------------------------------------------|
    | auto     | what suits the form of the query and `budget_ms`, which goes with no other (see automatic.py)   |
    | bounded  | the best 100 by meaning, of the last 90 days (or since `filters.since`), newest first           |
    | smart    | asks in parts and rounds (see smart.py): `sub_queries` replace its parts, `max_rounds`, 0 to 3,  |
    |          | are the rounds, 0 the parts alone                                                             |

    Raises InvalidArgument that names the valid values.
    """
    check_limit(limit)
    if min_similarity is not None and not 0 <= min_similarity <= 1:
        raise InvalidArgument(f"min_similarity is {min_similarity}.", valid=("0 to 1",))
    if not 0 <= max_rounds <= MAX_ROUNDS:
        raise InvalidArgument(f"max_rounds is {max_rounds}.", valid=(f"0 to {MAX_ROUNDS}",))
    if len(sub_queries) > MAX_PARTS:
        raise InvalidArgument(f"sub_queries has {len(sub_queries):,} values.", valid=(f"up to {MAX_PARTS} values",))
    now = ws.clock()
    parsed = parse_query(query, filters or Filters(), now=now, stop_words=ws.config.search.stop_words)
    asked = check_strategy(strategy)
    _check_budget(budget_ms, asked)
    by_form: Strategy = "smart" if sub_queries else form_of(parsed)
    chosen = by_form if asked == "auto" else asked
    ask = Ask(
        parsed=parsed,
        filters=_within_reach(parsed.filters, now) if chosen == "bounded" else parsed.filters,
        prefer=prefer or Filters(),
        recent=False,
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
        budget=Budget(budget_ms, Costs({})),
    )
    plan = _Plan(asked == "auto", tuple(sub_queries), max_rounds)
    spare_ms = embed_ms if budget_ms is None else 0  # what waits for vectors can wait longer
    result = in_step(ws, lambda report: _run(ws, query, ask, plan, report), embed_ms=spare_ms, at_least=8)
    if ws.config.metrics:
        ws.index.record("search", ask.watch.read(), strategy=None if ask.trouble else result.strategy)
    if ws.config.track_access:
        ws.index.record("search", read=[hit.entry.id for hit in result.hits[:COUNTED_HITS]], at=instant(now))
    return result


def check_strategy(value: str) -> Strategy:
    """The strategy of this name, whatever its case. Raises InvalidArgument."""
    for known in STRATEGIES:
        if known == value.strip().lower():
            return known
    raise InvalidArgument(f"strategy {value!r} is unknown.", valid=STRATEGIES)


def _check_budget(budget_ms: float | None, strategy: Strategy) -> None:
    if budget_ms is not None and strategy != "auto":
        raise InvalidArgument(f"budget_ms does not go with strategy {strategy!r}.", valid=("auto",))
    if budget_ms is not None and not 0 < budget_ms <= MOST_MS:
        raise InvalidArgument(f"budget_ms is {budget_ms}.", valid=(f"above 0, up to {MOST_MS}",))


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


def _run(ws: Workspace, query: str, ask: Ask, plan: _Plan, report: SyncReport) -> SearchResult:
    ask.watch.rest("sync")
    because = forced = ""
    if plan.choose:
        ask, because, forced = _fitting(ws, ask)
    if ws.config.search.analysis:
        with ask.watch.stage("analyse"):
            from .understanding import understood  # slow to import, for searches only

            ask = understood(ws, ask)
    with ask.watch.stage("embed"):
        vector = vector_of(ws, ask)
    terms, notices = spell(ws, ask.parsed)
    if forced:
        notices = (f"By words only: {forced}, more than budget_ms.", *notices)
    mixed = ask.strategy in ("hybrid", "smart")
    mode: Mode = "lexical" if vector is None else "hybrid" if mixed else "semantic"
    rounds: tuple[Round, ...] = ()
    if ask.strategy == "smart" and ask.parsed.terms:
        thought = think(ws, ask, terms, vector, plan.sub_queries, plan.max_rounds)
        lists, ranked, rounds = thought.lists, thought.ranked, thought.rounds
    else:
        lists = lists_of(ws, ask, mode, terms, vector)
        ranked = named_first(ws, ask, ranked_of(ws, ask, mode, lists, vector))
    with ask.watch.stage("rank"):
        kept = similar(ask, ranked) if vector is not None else ranked
        best = later_first(ws, ask, vector, lists, kept)
        winners = in_order((newest_of_the_fitting(best) if ask.recent else best)[: ask.limit], ask.order)
    with ask.watch.stage("read"):
        hits = _hits(ws, ask, lists, winners, terms)
    if vector is not None and hits and ask.order == "relevance" and not ask.recent:
        notices = (*_doubts(ws, mode, lists, ask.parsed.terms, hits, winners), *notices)
    return SearchResult(
        query=query,
        mode=mode,
        strategy=ask.strategy,
        weights=dict(ask.weights) if ask.weights else fusion_weights(ws, mode),
        total=len(kept),
        hits=hits,
        terms=terms,
        notices=_notices(ws, ask, report, notices, ranked, kept),
        rounds=rounds if ask.explain else (),
        choice=choice(ask.strategy, forced or because, ask.budget, ask.watch.read())
        if plan.choose and (ask.explain or ask.budget.ms is not None)
        else None,
    )


def _doubts(
    ws: Workspace, mode: Mode, lists: Lists, terms: Sequence[str], hits: Sequence[Hit], winners: Sequence[Ranked]
) -> tuple[str, ...]:
    """What speaks against taking the best hits for an answer; one thing at most."""
    doubtful = max(closeness(ws, terms, hits, [r.similarity for r in winners])) < CLOSE
    if mode == "hybrid" and not lists.lexical:
        said = "No entry holds a word of this query; these come near in meaning only."
        return (f"{said[:-1]}: no close match." if doubtful else said,)
    return ("There is no close match; these are the nearest.",) if doubtful else ()


_BECAUSE: Mapping[str, str] = {
    "lexical": "it is to be found as it is written",
    "smart": "a question",
    "hybrid": "words, but no question",
}


def known_costs(ws: Workspace) -> Costs:
    """What searches cost on this machine, of this journal."""
    runs: dict[str, list[tuple[float, dict[str, float]]]] = {}
    for call in ws.index.calls(searches=RUNS_READ):
        runs.setdefault(call.strategy or "", []).append((call.at, call.stages))
    return costs(runs, time.time())


def _fitting(ws: Workspace, ask: Ask) -> tuple[Ask, str, str]:
    """The search with the strategy that fits its budget; why that one; what forced it."""
    if ask.budget.ms is None and not ask.explain:  # nobody asks what it costs
        return ask, "", ""
    budget = Budget(ask.budget.ms, known_costs(ws))
    strategy, forced = budget.strategy(ask.strategy)
    return replace(ask, strategy=strategy, budget=budget), _BECAUSE[strategy], forced


# -- the answer ---------------------------------------------------------------------------------------


def _hits(ws: Workspace, ask: Ask, lists: Lists, winners: Sequence[Ranked], terms: Sequence[str]) -> tuple[Hit, ...]:
    rowids = [r.rowid for r in winners]
    best = {rowid: chunk for rowid in rowids if (chunk := lists.chunk(rowid)) is not None}
    entries, passages = read_hits(ws, rowids, list(best.values()))
    entries = marked(entries)
    superseded = ws.index.superseded_by([entry.id for entry in entries.values()])
    sought = (*terms, *ask.parsed.phrases)
    stems = {stem for term in sought for stem in stems_of(term, ws.index.stem)}

    def find(text: str) -> list[int]:
        return [start for start, word in words_like(text, stems) if ws.index.stem(word) in stems]

    hits = []
    for ranked in winners:
        entry = entries[ranked.rowid]
        passage, line = passages.get(best.get(ranked.rowid, -1), (entry.content, _first_line(entry)))
        shown, offset = snippet(passage, find)
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


def _why(ask: Ask, lists: Lists, ranked: Ranked) -> Why:
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
    ask: Ask,
    report: SyncReport,
    remarks: Sequence[str],
    ranked: Sequence[Ranked],
    kept: Sequence[Ranked],
) -> tuple[str, ...]:
    """What the user should know, most important first."""
    notices = [*ask.parsed.notices, *([ask.trouble] if ask.trouble else []), *remarks]
    entries = ws.index.counts().entries if report.pending_entries or not kept else len(kept)
    if not ask.trouble and report.pending_entries:
        passages = ws.index.counts().pending_passages
        rate = float(ws.index.meta("embed_rate") or DEFAULT_RATE)
        notices.append(
            f"{report.pending_entries:,} of {entries:,} notes are found by words only; "
            f"`synaptic rebuild-index` finishes them in about {max(1, round(passages / rate))} s."
        )
    notices += report.notices
    if not ask.parsed.terms and kept and ask.order == "relevance":
        notices.append("The query holds no words to search for; these are the newest entries.")
    if ask.min_similarity is not None and any(r.similarity is None for r in kept):
        notices.append("Some of these have no vector to compare yet; min_similarity let them pass.")
    if not kept and entries:
        notices.append(_why_nothing(ws, ask, ranked))
    return tuple(notices)


def _why_nothing(ws: Workspace, ask: Ask, ranked: Sequence[Ranked]) -> str:
    """What took everything away, and what to try."""
    if ranked:
        nearest = max(math.floor((r.similarity or 0.0) * 100) / 100 for r in ranked)
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
    given = preferences(filters)
    if not given or ws.index.listing(filters, order="newest", limit=1)[0]:
        return ""
    for name in given:
        gone = {"since": None, "until": None} if name == "time" else {name: getattr(Filters(), name)}
        left = ws.index.listing(replace(filters, **gone), order="newest", limit=1)[0]
        if left:
            said = "since and until" if name == "time" else name
            return f"No entry passes these filters; without {said} there are {left:,}."
    return "No entry passes these filters, nor all but one of them; leave some out."
