"""How long the stages of a call take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Milliseconds by stage since it was made.

    A stage that runs again is added up; one within another is a part of that.
    """

    def __init__(self) -> None:
        self._begun = time.perf_counter()
        self._stages: dict[str, float] = {}
        self._running = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        if self._running:
            yield
            return
        begun, self._running = time.perf_counter(), True
        try:
            yield
        finally:
            self._running = False
            self._stages[name] = self._stages.get(name, 0.0) + (time.perf_counter() - begun) * 1000

    def rest(self, name: str) -> None:
        """Gives this stage the time that no other stage has taken so far."""
        taken = sum(ms for stage, ms in self._stages.items() if stage != name)
        self._stages[name] = self.elapsed() - taken

    def elapsed(self) -> float:
        return (time.perf_counter() - self._begun) * 1000

    def read(self) -> dict[str, float]:
        """The stages so far, and the `total`."""
        return self._stages | {"total": self.elapsed()}
