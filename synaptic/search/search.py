"""The entry point of a search: parses the query, searches an index that is in step with the
journal, and records the time it took.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgument, ModelError, check_range, match_valid_name
from ..filters import Filters
from ..index.rows import to_microseconds
from ..journal.repository import Checkout
from ..language.query import parse_query
from ..models import STRATEGIES, SearchResult
from ..workspace.checkout import preferred_project_key, working_checkout
from ..workspace.embed import language_notice
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Stopwatch, Workspace
from .budget import Costs, explain_choice, measure_costs, reason_over_budget
from .ranking import choose_weights

if TYPE_CHECKING:
    from .evidence import Request

ANY_PROJECT = "*"
MAX_BUDGET_MS = 60_000
CALLS_READ = 200
"""The number of recorded searches from which costs are estimated. By eye."""
COUNTED_HITS = 3
"""The number of first hits of a search that count as read. By eye."""
STILL_LOADING = (
    "The model is still loading, so this answer is from words only; ask again in a second."
)


def search(
    ws: Workspace,
    query: str,
    *,
    filters: Filters | None = None,
    prefer: Filters | None = None,
    strategy: str = "auto",
    budget_ms: float | None = None,
    preset: str | None = None,
    weights: Mapping[str, float] | None = None,
    sub_queries: Sequence[str] = (),
    load_model: bool = True,
    embed_ms: float = 200,
    **options: Any,
) -> SearchResult:
    """Searches the journal and returns the entries that fit the query, best first.

    - Hits must pass `filters`; entries that match `prefer` only rank higher. - `strategy`: see
    `pipeline`; `auto` chooses by the form of the query, and asks by meaning if words find
    nothing. `budget_ms` (only with auto): searches by words only, if a search usually takes
    longer. - `preset`, `weights`: the score is a weighted mean of signals; without them ranks
    are fused and decay with age. - `sub_queries` replace the parts of a smart search.
    `load_model`: waits for the model. - `options`: `limit`, `min_similarity`, `order`,
    `explain`, `max_rounds`, `within` and `only_fitting`; see Request.

    Entries of the asker's project count more, unless projects are named (`*`: all). Raises
    InvalidArgument with the valid values.
    """
    # here and below: 30 ms, for searches only
    from ..language.analysis.plan import is_of_signs, strategy_by_form
    from .evidence import Request

    now = ws.clock()
    here = working_checkout(ws)
    asked = match_valid_name(STRATEGIES, strategy, "strategy")
    # most queries name no field and no tag
    parsed = parse_query(
        query,
        filters or Filters(),
        now=now,
        stop_words=ws.config.search.stop_words,
        fields=cache(lambda: in_step(ws, lambda _: ws.index.field_names())),
        tags=cache(lambda: in_step(ws, lambda _: ws.index.vocabulary().tags)),
    )
    hard_filters, own_project = filters_and_own_project(ws, parsed.filters, here)
    if asked == "auto":
        asked = "smart" if sub_queries else strategy_by_form(parsed)
    request = Request(
        parsed=parsed,
        now=now,
        filters=hard_filters,
        project=None if prefer and prefer.projects else own_project,
        here=here,
        prefer=prefer or Filters(),
        strategy=asked,
        weights=choose_weights(preset, weights),
        parts=tuple(sub_queries),
        **options,
    )

    def answer(request: Request) -> SearchResult:
        trouble = "" if request.strategy == "lexical" else _load_model(ws, wait=load_model)
        is_automatic = strategy == "auto"
        return _search_in_step(ws, query, request, trouble, embed_ms, budget_ms, is_automatic)

    result = answer(request)
    is_by_form = asked == "lexical" and strategy == "auto"
    must_occur = parsed.only_phrases or is_of_signs(parsed)
    if result.hits or not is_by_form or must_occur:
        return result
    return answer(replace(request, strategy="hybrid"))


def filters_and_own_project(
    ws: Workspace, filters: Filters, here: Checkout | None
) -> tuple[Filters, str | None]:
    """(the filters, the project whose entries count more: the project of the checkout `here`;
    None if the filters name projects).
    """
    return drop_any_project(filters), None if filters.projects else preferred_project_key(
        ws.config, here
    )


def drop_any_project(filters: Filters) -> Filters:
    """The filters; if they name the project `*` (all projects), without a filter by project."""
    return replace(filters, projects=()) if ANY_PROJECT in filters.projects else filters


def _search_in_step(
    ws: Workspace,
    query: str,
    request: Request,
    trouble: str,
    embed_ms: float,
    budget_ms: float | None,
    is_automatic: bool,
) -> SearchResult:
    from .evidence import Evidence
    from .pipeline import answer_query
    from .understanding import understand

    check_range("budget_ms", budget_ms, 0, MAX_BUDGET_MS)
    if budget_ms is not None:
        embed_ms = 0  # what waits for vectors can wait longer
        if not is_automatic:
            message = f"budget_ms cannot be given with strategy {request.strategy!r}."
            raise InvalidArgument(message, valid=("auto",))
    tells_choice = is_automatic and (request.explain or budget_ms is not None)
    watch = Stopwatch()

    def run_pipeline(report: SyncReport) -> SearchResult:
        watch.assign_rest("sync")
        costs = measure_recent_costs(ws) if tells_choice else {}
        forced = reason_over_budget(request.strategy, budget_ms, costs)
        chosen = replace(request, strategy="lexical") if forced else request
        with watch.stage("analyse"):
            understood = understand(ws, chosen)
        evidence = Evidence(ws, understood, watch, trouble)
        remarks = (f"By words only: {forced}, more than budget_ms.",) if forced else ()
        result = answer_query(query, evidence, report, remarks)
        if not tells_choice:
            return result
        made = explain_choice(chosen.strategy, forced, budget_ms, costs, watch.read())
        return replace(result, choice=made)

    result = in_step(ws, run_pipeline, embed_ms=embed_ms, at_least=8)
    if ws.config.metrics:  # else nobody reads the notices: a hook asks, or `evaluate`
        result = replace(result, notices=(*language_notice(ws), *result.notices))
        strategy = None if trouble else result.strategy
        ws.index.counters.record_call("search", watch.read(), strategy)
    if ws.config.track_access:
        ids = [hit.entry.id for hit in result.hits[:COUNTED_HITS]]
        ws.index.counters.record_reads(ids, to_microseconds(request.now))
    return result


def _load_model(ws: Workspace, *, wait: bool) -> str:
    """Loads the model; returns the reason if that fails, or if it is not ready and `wait` is
    False; empty if it is ready.
    """
    if not wait and not ws.embedder.ready:
        return STILL_LOADING
    try:
        ws.embedder.load()
    except ModelError as error:
        return f"{error} Until then search works by words only."
    return ""


def measure_recent_costs(ws: Workspace) -> Costs:
    """How long searches of this journal take on this machine, from its last CALLS_READ
    searches.
    """
    return measure_costs(ws.access.timed_searches(ws.index, CALLS_READ), time.time())
