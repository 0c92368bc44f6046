"""How long a search may take: what searches cost here, and what an automatic one does within a
budget.

A budget turns a search by meaning into one by words where it would not fit, and lets a smart
one stop early.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..models import Choice, Layer, Strategy

Run = tuple[float, Mapping[str, float]]
"""When a search ran, in seconds since 1970, and the milliseconds of its stages."""

COUNTED = 50
"""So many last searches of a strategy tell its cost. By eye."""

FORGOTTEN_BY_HALF_S = 3_600.0
"""Seconds in which a known cost halves, so that it cannot keep a strategy from running for
ever. By eye.
"""

EXTRA = ("parts", "reflect")
"""The stages that a smart search can leave out."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Within how many milliseconds 95 % of the last searches stayed, by strategy and stage."""

    stages: Mapping[str, Mapping[str, float]]

    def of(self, strategy: str, stage: str = "total") -> float | None:
        """None where nothing was measured yet."""
        return self.stages.get(strategy, {}).get(stage)

    @property
    def meaning(self) -> float | None:
        """What a search by words and meaning takes; a smart one is more of them."""
        known = [
            ms for name in ("hybrid", "smart") if (ms := self.of(name, "core")) is not None
        ]
        return max(known, default=None)


def costs(runs: Mapping[str, Sequence[Run]], now_s: float) -> Costs:
    """What these searches cost. The longer the last one of a strategy is past, the less it
    counts.
    """
    found: dict[str, dict[str, float]] = {}
    for strategy, all_of_it in runs.items():
        last = sorted(all_of_it, key=lambda run: run[0])[-COUNTED:]
        if last:
            fading = 0.5 ** (max(0.0, now_s - last[-1][0]) / FORGOTTEN_BY_HALF_S)
            timed: dict[str, list[float]] = {}
            for _, stages in last:
                core = stages["total"] - sum(stages.get(name, 0.0) for name in EXTRA)
                for name, ms in {**stages, "core": core}.items():
                    timed.setdefault(name, []).append(ms)
            most = {
                name: sorted(ms)[min(len(ms) - 1, int(0.95 * len(ms)))]
                for name, ms in timed.items()
            }
            found[strategy] = {name: round(fading * ms, 3) for name, ms in most.items()}
    return Costs(found)


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a search may take, in milliseconds, None for as long as it needs; and what is
    known of costs.
    """

    ms: float | None
    costs: Costs

    def strategy(self, wanted: Strategy) -> tuple[Strategy, str]:
        """The strategy that fits, and why it is not the wanted one."""
        need = self.costs.meaning
        if wanted == "lexical" or self.ms is None or need is None or need <= self.ms:
            return wanted, ""
        return "lexical", f"a search by meaning takes {need:.0f} ms here"

    def allows(self, stage: str, elapsed_ms: float, at_least_ms: float) -> bool:
        """Whether a further stage of a smart search, and reading what it finds, still fits."""
        if self.ms is None:
            return True
        need = max(at_least_ms, self.costs.of("smart", stage) or 0.0)
        return elapsed_ms + need + (self.costs.of("smart", "read") or 0.0) <= self.ms


BECAUSE: Mapping[str, str] = {
    "lexical": "it is to be found as it is written",
    "smart": "it was given in parts",
    "hybrid": "by words and by meaning",
}


def choice(
    strategy: Strategy, forced: str, budget: Budget, stages: Mapping[str, float]
) -> Choice:
    """What was chosen and what it took, for the answer."""
    layers = tuple(
        Layer(name, budget.costs.of(strategy, name), round(ms, 3))
        for name, ms in stages.items()
        if name != "total"
    )
    return Choice(
        forced or BECAUSE[strategy],
        budget.ms,
        budget.costs.of(strategy),
        round(stages["total"], 3),
        layers,
    )
