"""The cost of searches on this machine, and the choice that a budget makes.

A search that usually takes longer than its budget is answered by words only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..index.counters import TimedCall
from ..models import Choice, Layer, Strategy

Costs = Mapping[str, Mapping[str, float]]
"""The milliseconds within which 95 % of the searches stayed, by strategy and stage."""

COUNTED = 50
"""Last searches of a strategy that tell its cost. By eye."""

REMEMBERED_S = 3_600
"""Seconds for which a search tells a cost: an old one must not rule out a strategy for ever."""

REASONS: Mapping[str, str] = {
    "lexical": "it is to be found as it is written",
    "smart": "it was given in parts",
    "hybrid": "by words and by meaning",
}


def costs_of(calls: Iterable[TimedCall], now_s: float) -> Costs:
    """The costs of each strategy, from calls in the order of time."""
    runs: dict[str, list[Mapping[str, float]]] = {}
    for call in calls:
        if call.strategy and call.at >= now_s - REMEMBERED_S:
            runs.setdefault(call.strategy, []).append(call.stages)
    return {strategy: _slowest(stages[-COUNTED:]) for strategy, stages in runs.items()}


def _slowest(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The 95th percentile of each stage."""
    by_stage: dict[str, list[float]] = {}
    for run in runs:
        for stage, ms in run.items():
            by_stage.setdefault(stage, []).append(ms)
    return {
        stage: sorted(times)[min(len(times) - 1, int(0.95 * len(times)))]
        for stage, times in by_stage.items()
    }


def over_budget(strategy: Strategy, budget_ms: float | None, costs: Costs) -> str:
    """The reason to search by words only; empty where the strategy fits or is not known."""
    need = costs.get(strategy, {}).get("total")
    if strategy == "lexical" or budget_ms is None or need is None or need <= budget_ms:
        return ""
    return f"a search by meaning takes {need:.0f} ms here"


def choice(
    strategy: Strategy,
    forced: str,
    budget_ms: float | None,
    costs: Costs,
    stages: Mapping[str, float],
) -> Choice:
    """The strategy's reason and times, for the answer."""
    expected = costs.get(strategy, {})
    layers = [
        Layer(name, expected.get(name), round(ms, 3))
        for name, ms in stages.items()
        if name != "total"
    ]
    return Choice(
        because=forced or REASONS[strategy],
        budget_ms=budget_ms,
        estimated_ms=expected.get("total"),
        actual_ms=round(stages["total"], 3),
        layers=tuple(layers),
    )
