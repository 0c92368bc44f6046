"""How many random examples, and which cases of a sweep: few in the suite, all in a soak."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Case = TypeVar("Case")
Rounds = Callable[[int, int], Iterator[int]]
"""The fixture `rounds`: the numbers of the rounds of a test, a few or those of a soak."""
SOAK = "SYNAPTIC_TEST_SOAK"
"""What conftest sets for `--soak`, before any test is imported."""
SEED = "SYNAPTIC_TEST_SEED"
"""What conftest sets for `--seed`, so that every worker draws the same cases."""


def examples(soaked: int, quick: int = 25) -> int:
    """`max_examples` of a test: `quick` in the suite, `soaked` in a soak."""
    return soaked if os.environ.get(SOAK) else quick


def drawn(sweep: str, cases: Iterable[Case], count: int = 1) -> list[Case]:
    """The cases of a sweep, in their order: `count` of them, which the seed and the name of the
    sweep choose; in a soak all.
    """
    every = list(cases)
    if os.environ.get(SOAK) or len(every) <= count:
        return every
    chance = random.Random(f"{os.environ[SEED]} {sweep}")
    return [every[at] for at in sorted(chance.sample(range(len(every)), count))]
