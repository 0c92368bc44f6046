"""Whether a function takes time by the length of its text alone."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress

from synaptic import SynapticError

GROWTH = 8
"""Times that a function may take longer for four times the text: 4 is linear, 16 quadratic."""


def seconds(function: Callable[[str], object], text: str) -> float:
    """Processor seconds of one call, without the garbage collector's, which depend on all that
    the process holds.
    """
    gc.disable()
    started = time.process_time()
    try:
        function(text)
        return time.process_time() - started
    finally:
        gc.enable()


def is_linear(
    function: Callable[[str], object], large: str, small: str, *, least_s: float, calls: int = 5
) -> bool:
    """True if the large text takes less than GROWTH times as long as the small one, by the
    least of these calls of each; the small one counts as `least_s` or more. The first call
    that is short enough says so.
    """

    def taken(text: str) -> float:
        with suppress(SynapticError):  # a refusal is an answer
            return seconds(function, text)
        return 0.0

    if taken(large) < GROWTH * least_s:
        return True
    limit = GROWTH * max(min(taken(small) for _ in range(calls)), least_s)
    return any(taken(large) < limit for _ in range(calls))
