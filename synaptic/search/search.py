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
from ..filters import ANY_PROJECT, Filters
from ..index.rows import to_microseconds
from ..journal.repository import Checkout
from ..language.query import parse_query
from ..models import STRATEGIES, SearchResult
from ..workspace.checkout import preferred_project_key, working_checkout
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Stopwatch, Workspace
from .budget import Costs, explain_choice, measure_costs
from .ranking import choose_weights

if TYPE_CHECKING:
    from .plan import Request

MAX_BUDGET_MS = 60_000
CALLS_READ = 200
"""The number of recorded searches from which costs are estimated. By eye."""
COUNTED_HITS = 3
"""The number of first hits of a search that count as read. By eye."""
BY_MEANING_TOO = "nothing was found by words"
STILL_LOADING = (
    "The model is still loading, so this answer is from words only; ask again in a second."
)


def search(
    ws: Workspace, query: str, *, load_model: bool = True, embed_ms: float = 200, **options: Any
) -> SearchResult:
    """Searches the journal and returns the entries that fit the query, best first.

    `load_model`: waits for the model. `options`: see `make_request`. A search that `auto` made
    by words alone, and that finds nothing, is made again by words and meaning.
    """
    # here and below: 30 ms, for searches only
    from ..language.analysis.forms import is_of_signs
    from .planner import choose_strategy

    asked = make_request(ws, query, **options)
    request = replace(asked, strategy=choose_strategy(asked))
    parsed = request.parsed
    is_automatic = asked.strategy == "auto"
    is_by_form = is_automatic and request.strategy == "lexical"

    def answer(request: Request) -> SearchResult:
        return _search_in_step(ws, query, request, is_automatic, load_model, embed_ms)

    result = answer(request)
    if result.hits or not is_by_form or parsed.only_phrases or is_of_signs(parsed):
        return result
    wider = answer(replace(request, strategy="hybrid"))
    added = [replace(one, because=one.because or BY_MEANING_TOO) for one in wider.rounds]
    return replace(wider, plan=result.plan, rounds=(*result.rounds, *added))


def make_request(
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
    **options: Any,
) -> Request:
    """The request of a search, with the filters that stand in its query.

    Hits must pass `filters`; entries that match `prefer` only rank higher. `strategy`: see
    `pipeline`; `auto` chooses by the form of the query, and asks by meaning if words find
    nothing. `budget_ms` (only with auto): searches by words only, if a search usually takes
    longer. `preset`, `weights`: the score is a weighted mean of signals; without them ranks are
    fused and decay with age. `sub_queries` replace the parts of a smart search. The `options`
    `limit`, `min_similarity`, `order`, `explain`, `max_rounds`, `within` and `only_fitting` are
    explained at Request.

    Entries of the asker's project count more, unless projects are named (`*`: all). Raises
    InvalidArgument with the valid values.
    """
    from .plan import Request

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
    check_range("budget_ms", budget_ms, 0, MAX_BUDGET_MS)
    if budget_ms is not None and asked != "auto":
        message = f"budget_ms cannot be given with strategy {asked!r}."
        names = ("budget_ms", "strategy")
        raise InvalidArgument(message, valid=("auto",), of=names)
    return Request(
        parsed=parsed,
        now=now,
        filters=hard_filters,
        project=None if prefer and prefer.projects else own_project,
        here=here,
        prefer=prefer or Filters(),
        strategy=asked,
        budget_ms=budget_ms,
        weights=choose_weights(preset, weights),
        parts=tuple(sub_queries),
        **options,
    )


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
    is_automatic: bool,
    load_model: bool,
    embed_ms: float,
) -> SearchResult:
    from .evidence import Evidence
    from .pipeline import answer_query
    from .planner import make_plan

    embed_ms = embed_ms if request.budget_ms is None else 0  # vectors can wait longer
    trouble = "" if request.strategy == "lexical" else _load_model(ws, wait=load_model)
    tells_choice = is_automatic and (request.explain or request.budget_ms is not None)
    watch = Stopwatch()

    def run_pipeline(report: SyncReport) -> SearchResult:
        watch.assign_rest("sync")
        costs = measure_recent_costs(ws) if tells_choice else {}
        with watch.stage("analyse"):
            plan = make_plan(ws, request, costs)
        result = answer_query(query, Evidence(ws, plan, watch, trouble), report)
        if not tells_choice:
            return result
        return replace(result, choice=explain_choice(plan, costs, watch.read()))

    result = in_step(ws, run_pipeline, embed_ms=embed_ms, at_least=8)
    if ws.config.metrics:  # else nobody reads the notices: a hook asks, or `evaluate`
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
    searches; without any where none are counted.
    """
    is_counted = not ws.access.is_published
    calls = ws.index.counters.calls(searches=CALLS_READ) if is_counted else ()
    return measure_costs(calls, time.time())
