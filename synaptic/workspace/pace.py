"""How far the index is, and how fast it is filled, for those who wait for it."""

import time
from collections import deque
from collections.abc import Callable

LOOKED_BACK_S = 30.0
"""The seconds over which the rate is measured."""
FEW = 50
"""So few files or passages are done at once: nobody is told."""


class Pace:
    """The progress of one piece of work. One thread notes it, others read it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._steps: deque[tuple[float, int]] = deque()
        self.left = 0
        """What is left to do, of `total`."""
        self.total = 0

    @property
    def is_long(self) -> bool:
        """True while much is left to do."""
        return self.left > FEW

    def note(self, left: int) -> None:
        """Notes that so much is left."""
        now = self._clock()
        if left > self.left:  # more came
            self._steps.clear()
            self.total = max(left, self.total if self.left else 0)
        self.left = left
        self._steps.append((now, left))
        while now - self._steps[0][0] > LOOKED_BACK_S and len(self._steps) > 2:
            self._steps.popleft()

    def rate(self) -> tuple[int, float]:
        """(what was done, in how many seconds) lately."""
        if not self._steps:
            return 0, 0.0
        since, before = self._steps[0]
        return before - self.left, self._clock() - since


class Paces:
    """The progress of an index that is filled: files that are read, and passages that get their
    vectors.
    """

    def __init__(self) -> None:
        self.reading = Pace()
        self.embedding = Pace()
