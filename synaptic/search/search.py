"""Search: checks a question, asks an index in step with the journal, and notes its time."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ..errors import InvalidArgument, ModelError, check_range, one_of
from ..index.rows import instant
from ..language.query import MAX_LIMIT, parse_query
from ..models import ORDERS, STRATEGIES, Filters, SearchResult, Strategy
from ..workspace.checkout import Checkout, asking_project, working_checkout
from ..workspace.embed import language_notice
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Stopwatch, Workspace
from .budget import Costs, choice, costs_of, over_budget
from .ranking import choose_weights

if TYPE_CHECKING:
    from .evidence import Request

ANY_PROJECT = "*"
MAX_BUDGET_MS = 60_000
CALLS_READ = 200
"""Searches that tell what a search costs. By eye."""
COUNTED_HITS = 3
"""First hits of a search that count as read. By eye."""
MAX_ROUNDS = 3
MAX_PARTS = 16
"""Sub-queries that a caller may give; each is a search of its own."""
STILL_LOADING = (
    "The model is still loading, so this answer is from words only; ask again in a second."
)


def search(
    ws: Workspace,
    query: str,
    *,
    filters: Filters | None = None,
    limit: int | None = None,
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
    only_fitting: bool = False,
    load_model: bool = True,
    embed_ms: float = 200,
) -> SearchResult:
    """The entries that fit the query best, best first.

    - `limit`: without one the answer ends where nothing more fits, at 8 hits at most; for a
      query without words at 20. `only_fitting`: more hits only if they hold a query word.
    - `filters` are hard, `prefer` only raises what it fits. `within`: only these index rows.
    - `strategy`: see `pipeline`; auto goes by the form of the query. `budget_ms` (with auto
      only): words only, where searches usually take longer.
    - `preset`, `weights`: signals are weighted; else ranks are fused and decay with age.
    - `min_similarity`: a cosine, 0 to 1; entries without a vector pass.
    - `order`: in which the best `limit` hits are shown. A query without words lists entries.
    - `sub_queries` replace the parts of a smart search; `max_rounds` (0 to 3) are its rounds.
    - `load_model` False: a model that is still loading is not waited for.

    Entries of the asker's project count more, unless projects are named; `*` names all.
    Raises InvalidArgument with the valid values.
    """
    from ..language.analysis.plan import form_of  # here and below: 30 ms, for searches only
    from .evidence import Request

    now, asked = ws.clock(), one_of(STRATEGIES, strategy, "strategy")
    _check(limit, min_similarity, max_rounds, sub_queries, budget_ms, asked)
    # most queries name no field and no tag
    fields = cache(lambda: in_step(ws, lambda _: ws.index.field_names()))
    tags = cache(lambda: in_step(ws, lambda _: ws.index.vocabulary().tags))
    stop_words = ws.config.search.stop_words
    parsed = parse_query(
        query, filters or Filters(), now=now, stop_words=stop_words, fields=fields, tags=tags
    )
    here = working_checkout(ws.config)
    hard_filters, own_project = of_asker(ws, parsed.filters, here)
    if asked == "auto":
        asked = "smart" if sub_queries else form_of(parsed)
    request = Request(
        parsed=parsed,
        now=now,
        filters=hard_filters,
        project=None if prefer and prefer.projects else own_project,
        here=here,
        prefer=prefer or Filters(),
        limit=limit,
        strategy=asked,
        weights=choose_weights(preset, weights),
        min_similarity=min_similarity,
        order=one_of(ORDERS, order, "order"),
        within=within,
        explain=explain,
        parts=tuple(sub_queries),
        max_rounds=max_rounds,
        only_fitting=only_fitting,
    )
    trouble = "" if asked == "lexical" else _load(ws, wait=load_model)
    if budget_ms is not None:
        embed_ms = 0  # what waits for vectors can wait longer
    tells_choice = strategy == "auto" and (explain or budget_ms is not None)
    return _answer(ws, query, request, trouble, embed_ms, budget_ms, tells_choice)


def of_asker(
    ws: Workspace, filters: Filters, here: Checkout | None
) -> tuple[Filters, str | None]:
    """(the filters, the key of the project to prefer: that of `here`, unless projects are
    named).
    """
    return any_of_all(filters), None if filters.projects else asking_project(ws.config, here)


def any_of_all(filters: Filters) -> Filters:
    """The filters; naming the project `*` is no filter by project."""
    return replace(filters, projects=()) if ANY_PROJECT in filters.projects else filters


def _answer(
    ws: Workspace,
    query: str,
    request: Request,
    trouble: str,
    embed_ms: float,
    budget_ms: float | None,
    tells_choice: bool,
) -> SearchResult:
    from .evidence import Evidence
    from .pipeline import run
    from .understanding import understand

    watch = Stopwatch()

    def run_pipeline(report: SyncReport) -> SearchResult:
        watch.rest("sync")
        costs = known_costs(ws) if tells_choice else {}
        forced = over_budget(request.strategy, budget_ms, costs)
        chosen = replace(request, strategy="lexical") if forced else request
        with watch.stage("analyse"):
            understood = understand(ws, chosen)
        evidence = Evidence(ws, understood, watch, trouble)
        remarks = (f"By words only: {forced}, more than budget_ms.",) if forced else ()
        result = run(query, evidence, report, remarks)
        if not tells_choice:
            return result
        told = choice(chosen.strategy, forced, budget_ms, costs, watch.read())
        return replace(result, choice=told)

    result = in_step(ws, run_pipeline, embed_ms=embed_ms, at_least=8)
    if ws.config.metrics:  # else nobody reads the notices: a hook asks, or `evaluate`
        result = replace(result, notices=(*language_notice(ws), *result.notices))
        strategy = None if trouble else result.strategy
        ws.index.counters.record_call("search", watch.read(), strategy)
    if ws.config.track_access:
        ids = [hit.entry.id for hit in result.hits[:COUNTED_HITS]]
        ws.index.counters.record_reads(ids, instant(request.now))
    return result


def _check(
    limit: int | None,
    min_similarity: float | None,
    max_rounds: int,
    parts: Sequence[str],
    budget_ms: float | None,
    strategy: Strategy,
) -> None:
    check_range("limit", limit, 1, MAX_LIMIT)
    check_range("min_similarity", min_similarity, 0, 1)
    check_range("max_rounds", max_rounds, 0, MAX_ROUNDS)
    check_range("sub_queries", len(parts), 0, MAX_PARTS)
    check_range("budget_ms", budget_ms, 0, MAX_BUDGET_MS)
    if budget_ms is not None and strategy != "auto":
        message = f"budget_ms does not go with strategy {strategy!r}."
        raise InvalidArgument(message, valid=("auto",))


def _load(ws: Workspace, *, wait: bool) -> str:
    """The reason why there is no model, and what to do; empty when it is ready."""
    if not wait and not ws.embedder.ready:
        return STILL_LOADING
    try:
        ws.embedder.load()
    except ModelError as error:
        return f"{error} Until then search works by words only."
    return ""


def known_costs(ws: Workspace) -> Costs:
    """The costs of searches on this machine, of this journal."""
    return costs_of(ws.index.counters.calls(searches=CALLS_READ), time.time())
