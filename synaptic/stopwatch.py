"""How long the stages of a call take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Milliseconds by stage since it was made. A stage that runs again is added up."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + (time.perf_counter() - begun) * 1000

    def read(self) -> dict[str, float]:
        """The stages so far, and the `total`."""
        return self._stages | {"total": (time.perf_counter() - self._begun) * 1000}
