"""Search: a question is checked, asked of an index in step with the journal, and answered with
notices.
"""

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
from .budget import Budget, Costs, Run, costs
from .ranking import choose_weights

if TYPE_CHECKING:
    from .evidence import Request

ANY_PROJECT = "*"
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
    """The entries that fit the query best, best first. Raises InvalidArgument that names the
    valid values.

    Without a `limit` the answer ends where nothing more fits, at 8 hits at most; for a query
    without words at 20. With `only_fitting` a limit adds only hits that hold a word of the
    query. Ranks are fused and decay with age; with `preset` or `weights` the signals are
    weighted instead. `filters` are hard, `prefer` only raises what it fits. `min_similarity` is
    a cosine, 0 to 1; entries without a vector pass. `order` is how the best `limit` are shown.
    Entries of the asker's project count more, unless projects are named; `*` names all. Without
    a model or without vectors it answers from words and says so. A query without words lists
    entries in order. `within` restricts it to these index rows. `load_model` False leaves a
    model that is still loading alone. `strategy`: see `pipeline`; auto takes what suits the
    form of the query and `budget_ms`, which goes with no other. Of a smart search `sub_queries`
    replace the parts, and `max_rounds` (0 to 3) are its rounds.
    """
    from ..language.analysis.plan import form_of  # here and below: 30 ms, for searches only
    from .evidence import Request

    now, asked = ws.clock(), one_of(STRATEGIES, strategy, "strategy")
    _check(limit, min_similarity, max_rounds, sub_queries, budget_ms, asked)
    fields = cache(
        lambda: in_step(ws, lambda _: ws.index.field_names())
    )  # most queries name no field, and no tag
    tags = cache(lambda: in_step(ws, lambda _: ws.index.vocabulary().tags))
    stop_words = ws.config.search.stop_words
    parsed = parse_query(
        query, filters or Filters(), now=now, stop_words=stop_words, fields=fields, tags=tags
    )
    here = working_checkout(ws.config)
    wanted, own = of_asker(ws, parsed.filters, here)
    request = Request(
        parsed=parsed,
        now=now,
        filters=wanted,
        project=None if prefer and prefer.projects else own,
        here=here,
        prefer=prefer or Filters(),
        limit=limit,
        strategy=("smart" if sub_queries else form_of(parsed)) if asked == "auto" else asked,
        weights=choose_weights(preset, weights),
        min_similarity=min_similarity,
        order=one_of(ORDERS, order, "order"),
        within=within,
        explain=explain,
        parts=tuple(sub_queries),
        max_rounds=max_rounds,
        only_fitting=only_fitting,
    )
    measured = asked == "auto" and (explain or budget_ms is not None)
    spare_ms = embed_ms if budget_ms is None else 0  # what waits for vectors can wait longer
    trouble = "" if request.strategy == "lexical" else _load(ws, wait=load_model)
    return _answer(ws, query, request, trouble, spare_ms, budget_ms, measured)


def of_asker(
    ws: Workspace, filters: Filters, here: Checkout | None
) -> tuple[Filters, str | None]:
    """The filters, and the key of the project to prefer: that of work `here`, unless projects
    are named.
    """
    return any_of_all(filters), None if filters.projects else asking_project(ws.config, here)


def any_of_all(filters: Filters) -> Filters:
    """The filters, in which the project `*` is none."""
    return replace(filters, projects=()) if ANY_PROJECT in filters.projects else filters


def _answer(
    ws: Workspace,
    query: str,
    request: Request,
    trouble: str,
    spare_ms: float,
    budget_ms: float | None,
    measured: bool,
) -> SearchResult:
    """The answer on an index in step with the journal; what it took and what was read is noted."""
    from .evidence import Evidence
    from .pipeline import run
    from .understanding import understand

    watch = Stopwatch()

    def run_pipeline(report: SyncReport) -> SearchResult:
        watch.rest("sync")
        budget = Budget(budget_ms, known_costs(ws)) if measured else None
        strategy, forced = (
            budget.strategy(request.strategy) if budget else (request.strategy, "")
        )
        with watch.stage("analyse"):
            understood = understand(ws, replace(request, strategy=strategy))
        return run(
            query,
            Evidence(ws, understood, watch=watch, trouble=trouble),
            report,
            budget,
            forced,
        )

    result = in_step(ws, run_pipeline, embed_ms=spare_ms, at_least=8)
    if ws.config.metrics:  # else nobody reads the notices: a hook asks, or `evaluate`
        result = replace(result, notices=(*language_notice(ws), *result.notices))
        ws.index.record("search", watch.read(), strategy=None if trouble else result.strategy)
    if ws.config.track_access:
        ws.index.record(
            "search",
            read=[hit.entry.id for hit in result.hits[:COUNTED_HITS]],
            at=instant(request.now),
        )
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
    if len(parts) > MAX_PARTS:
        raise InvalidArgument(
            f"sub_queries has {len(parts):,} values.", valid=(f"up to {MAX_PARTS} values",)
        )
    if budget_ms is not None and strategy != "auto":
        raise InvalidArgument(
            f"budget_ms does not go with strategy {strategy!r}.", valid=("auto",)
        )
    if budget_ms is not None and not 0 < budget_ms <= MOST_MS:
        raise InvalidArgument(
            f"budget_ms is {budget_ms}.", valid=(f"above 0, up to {MOST_MS}",)
        )


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


def known_costs(ws: Workspace) -> Costs:
    """What searches cost on this machine, of this journal."""
    runs: dict[str, list[Run]] = {}
    for call in ws.index.calls(searches=RUNS_READ):
        runs.setdefault(call.strategy or "", []).append((call.at, call.stages))
    return costs(runs, time.time())
