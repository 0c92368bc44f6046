"""The number of random examples of a property: few in the suite, all of them in a soak."""

from __future__ import annotations

import os

SOAK = "SYNAPTIC_TEST_SOAK"
"""What conftest sets for `--soak`, before any test is imported."""


def examples(soaked: int, quick: int = 50) -> int:
    """`max_examples` of a test: `quick` in the suite, `soaked` in a soak."""
    return soaked if os.environ.get(SOAK) else quick
