"""Measures how long searches take on this machine, and decides if one fits the caller's time
budget.

A search that usually takes longer than its budget is answered by words only.
"""

from collections.abc import Iterable, Mapping

from ..index.counters import TimedCall
from ..models import Choice, Layer, Strategy
from .plan import QueryPlan

Costs = Mapping[str, Mapping[str, float]]
"""The 95th percentile of the milliseconds of searches, by strategy and stage."""

REMEMBERED_S = 3_600
"""Seconds for which the duration of a search counts: one slow search must not exclude a
strategy for ever.
"""

REASONS: Mapping[str, str] = {
    "lexical": "it is to be found as it is written",
    "smart": "it was given in parts",
    "hybrid": "by words and by meaning",
}


def measure_costs(calls: Iterable[TimedCall], now_s: float) -> Costs:
    """The milliseconds (95th percentile) of each strategy and stage, from the recorded searches
    of the last hour before `now_s`.
    """
    times: dict[str, list[Mapping[str, float]]] = {}
    for call in calls:
        if call.strategy and call.at >= now_s - REMEMBERED_S:
            times.setdefault(call.strategy, []).append(call.stages)
    costs = {}
    for strategy, stages in times.items():
        costs[strategy] = {name: ms[len(ms) * 95 // 100] for name, ms in times_by_stage(stages)}
    return costs


def times_by_stage(calls: Iterable[Mapping[str, float]]) -> Iterable[tuple[str, list[float]]]:
    """(stage, its milliseconds in all calls, ascending) for each stage."""
    times: dict[str, list[float]] = {}
    for call in calls:
        for stage, ms in call.items():
            times.setdefault(stage, []).append(ms)
    return [(stage, sorted(each)) for stage, each in times.items()]


def reason_over_budget(strategy: Strategy, budget_ms: float | None, costs: Costs) -> str:
    """The reason to search by words only: the strategy takes longer than `budget_ms`. Empty if
    it fits, or if its duration is unknown.
    """
    need = costs.get(strategy, {}).get("total", 0)
    if strategy == "lexical" or need <= (budget_ms or need):
        return ""
    return f"a search by meaning takes {need:.0f} ms here"


def explain_choice(plan: QueryPlan, costs: Costs, stages: Mapping[str, float]) -> Choice:
    """The chosen strategy for the answer: why it was chosen, and its expected and real
    milliseconds by stage.
    """
    expected = costs.get(plan.strategy, {})
    layers = []
    for name, ms in stages.items():
        if name != "total":
            layers.append(Layer(name, expected.get(name), round(ms, 3)))
    return Choice(
        because=plan.over_budget or REASONS[plan.strategy],
        budget_ms=plan.budget_ms,
        estimated_ms=expected.get("total"),
        actual_ms=round(stages["total"], 3),
        layers=tuple(layers),
    )
