"""Search: a question is checked, asked of an index in step with the journal, and answered with notices."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ..errors import InvalidArgument, ModelError
from ..index import instant
from ..language.analysis import form_of
from ..language.query import check_limit, parse_query
from ..models import ORDERS, STRATEGIES, Filters, Order, SearchResult, Strategy
from ..workspace.stopwatch import Stopwatch
from ..workspace.sync import DEFAULT_RATE, SyncReport, in_step
from ..workspace.workspace import Workspace
from .budget import Budget, Costs, choice, costs
from .evidence import Evidence
from .fuse import fusion_weights
from .pipeline import Found, run
from .ranking import Ranked, choose_weights
from .request import Request, given
from .understanding import understood

BOUNDED_DAYS = 90
"""DESIGN, section 6."""
MOST_MS = 60_000
RUNS_READ = 200
"""Searches that tell what a search costs. By eye."""
COUNTED_HITS = 3
"""So many hits of a search count as read. By eye."""
MAX_ROUNDS = 3
MAX_PARTS = 16
"""Sub-queries that a caller may give; each is a search of its own."""


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

    The query is parsed, the index brought in step, and `pipeline.run` does the rest. Ranks are fused and decay with
    age; with `preset` or `weights` the signals are weighted instead.
    `filters` are hard, `prefer` only raises what it fits. `min_similarity` is a cosine, 0 to 1; entries without
    a vector pass. `order` is how the best `limit` are shown. Without a model or without vectors it answers from
    words and says so. A query without words lists entries in order. `within` restricts it to these index rows.
    `load_model` False leaves a model that is still loading alone.

    | strategy | what                                                                                          |
    |----------|-----------------------------------------------------------------------------------------------|
    | auto     | what suits the form of the query and `budget_ms`, which goes with no other                      |
    | bounded  | the best 100 by meaning, of the last 90 days (or since `filters.since`), newest first           |
    | smart    | asks in parts and rounds (see smart.py): `sub_queries` replace its parts, `max_rounds`, 0 to 3,  |
    |          | are the rounds, 0 the parts alone                                                             |

    Raises InvalidArgument that names the valid values.
    """
    _check(limit, min_similarity, max_rounds, sub_queries)
    now, watch, asked = ws.clock(), Stopwatch(), check_strategy(strategy)
    parsed = parse_query(query, filters or Filters(), now=now, stop_words=ws.config.search.stop_words)
    chosen = ("smart" if sub_queries else form_of(parsed)) if asked == "auto" else asked
    _check_budget(budget_ms, asked)
    request = Request(
        parsed=parsed,
        now=now,
        filters=_within_reach(parsed.filters, now) if chosen == "bounded" else parsed.filters,
        prefer=prefer or Filters(),
        limit=limit,
        strategy=chosen,
        weights=choose_weights(preset, weights),
        min_similarity=min_similarity,
        order=check_order(order),
        within=within,
        explain=explain,
        parts=tuple(sub_queries),
        max_rounds=max_rounds,
    )
    trouble = "" if chosen == "lexical" else _load(ws, wait=load_model)
    measured = asked == "auto" and (explain or budget_ms is not None)

    def answered(report: SyncReport) -> SearchResult:
        watch.rest("sync")
        budget = Budget(budget_ms, known_costs(ws)) if measured else None
        return _answer(ws, query, request, budget, watch, trouble, report)

    spare_ms = embed_ms if budget_ms is None else 0  # what waits for vectors can wait longer
    result = in_step(ws, answered, embed_ms=spare_ms, at_least=8)
    if ws.config.metrics:
        ws.index.timed("search", watch.read(), None if trouble else result.strategy)
    if ws.config.track_access:
        ws.index.accessed([hit.entry.id for hit in result.hits[:COUNTED_HITS]], instant(now))
    return result


def _answer(
    ws: Workspace,
    query: str,
    request: Request,
    budget: Budget | None,
    watch: Stopwatch,
    trouble: str,
    report: SyncReport,
) -> SearchResult:
    """The answer on an index in step: the request is understood, run, and what it found explained."""
    forced = ""
    if budget:
        strategy, forced = budget.strategy(request.strategy)
        request = replace(request, strategy=strategy)
    strategy = request.strategy
    with watch.stage("analyse"):
        evidence = Evidence(ws, understood(ws, request), watch=watch, trouble=trouble)
    found = run(evidence, budget)
    because = forced or _BECAUSE.get(strategy, "")
    remarks = (f"By words only: {forced}, more than budget_ms.",) if forced else ()
    return SearchResult(
        query=query,
        mode=found.mode,
        strategy=strategy,
        weights=dict(request.weights) if request.weights else fusion_weights(evidence, found.mode),
        total=len(found.kept),
        hits=found.hits,
        terms=found.terms,
        notices=_notices(evidence, report, remarks, found),
        rounds=found.rounds if request.explain else (),
        choice=choice(strategy, because, budget, watch.read()) if budget else None,
    )


def _check(limit: int, min_similarity: float | None, max_rounds: int, sub_queries: Sequence[str]) -> None:
    check_limit(limit)
    if min_similarity is not None and not 0 <= min_similarity <= 1:
        raise InvalidArgument(f"min_similarity is {min_similarity}.", valid=("0 to 1",))
    if not 0 <= max_rounds <= MAX_ROUNDS:
        raise InvalidArgument(f"max_rounds is {max_rounds}.", valid=(f"0 to {MAX_ROUNDS}",))
    if len(sub_queries) > MAX_PARTS:
        raise InvalidArgument(f"sub_queries has {len(sub_queries):,} values.", valid=(f"up to {MAX_PARTS} values",))


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


_BECAUSE: Mapping[str, str] = {
    "lexical": "it is to be found as it is written",
    "smart": "a question",
    "hybrid": "words, but no question",
}


def known_costs(ws: Workspace) -> Costs:
    """What searches cost on this machine, of this journal."""
    return costs(ws.index.searches(RUNS_READ), time.time())


def _notices(evidence: Evidence, report: SyncReport, remarks: Sequence[str], found: Found) -> tuple[str, ...]:
    """What the user should know, most important first."""
    request, index, kept = evidence.request, evidence.ws.index, found.kept
    notices = [*request.parsed.notices, *([evidence.trouble] if evidence.trouble else []), *remarks, *found.notices]
    entries = index.counts()[1] if report.pending_entries or not kept else len(kept)
    if not evidence.trouble and report.pending_entries:
        passages = index.pending_counts()[1]
        rate = float(index.meta("embed_rate") or DEFAULT_RATE)
        notices.append(
            f"{report.pending_entries:,} of {entries:,} notes are found by words only; "
            f"`synaptic rebuild-index` finishes them in about {max(1, round(passages / rate))} s."
        )
    notices += report.notices
    if not request.parsed.terms and kept and request.order == "relevance":
        notices.append("The query holds no words to search for; these are the newest entries.")
    if request.min_similarity is not None and any(r.similarity is None for r in kept):
        notices.append("Some of these have no vector to compare yet; min_similarity let them pass.")
    if not kept and entries:
        notices.append(_why_nothing(evidence.ws, request, found.ranked))
    return tuple(notices)


def _why_nothing(ws: Workspace, request: Request, ranked: Sequence[Ranked]) -> str:
    """What took everything away, and what to try."""
    if ranked:
        nearest = max(math.floor((r.similarity or 0.0) * 100) / 100 for r in ranked)
        return f"min_similarity {request.min_similarity} cut all {len(ranked)}; the nearest has {nearest}. Try less."
    culprit = _culprit(ws, request.filters)
    if culprit:
        return culprit
    if request.parsed.phrases:
        return "No entry holds that phrase; without the quotes its words are searched one by one."
    if request.strategy == "bounded":
        return "None of the best 100 lies within these days; the default strategy searches all of them."
    return "Nothing fits; try other words, or fewer filters."


def _culprit(ws: Workspace, filters: Filters) -> str:
    """The filter but for which entries would be left; empty where the filters leave some."""
    names = given(filters)
    if not names or ws.index.listing(filters, order="newest", limit=1)[0]:
        return ""
    for name in names:
        gone = {"since": None, "until": None} if name == "time" else {name: getattr(Filters(), name)}
        left = ws.index.listing(replace(filters, **gone), order="newest", limit=1)[0]
        if left:
            said = "since and until" if name == "time" else name
            return f"No entry passes these filters; without {said} there are {left:,}."
    return "No entry passes these filters, nor all but one of them; leave some out."
