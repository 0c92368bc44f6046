"""The log of a server. Strangers cause lines of it, so it takes a limited number."""

import logging
import time

LINES, LINES_A_SECOND = 200.0, 1.0
"""Lines that may come at once, and those that may come for each second since: 10 MB a day."""


class SparingHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes messages to stderr while there are lines left for them, and then says how many it
    left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("synaptic: %(levelname)s: %(message)s"))
        self._lines = LINES
        self._at = time.monotonic()
        self._left_out = 0

    def emit(self, record: logging.LogRecord) -> None:
        now = time.monotonic()
        self._lines = min(LINES, self._lines + (now - self._at) * LINES_A_SECOND)
        self._at = now
        needed = self.format(record).count("\n") + 1 + bool(self._left_out)
        if self._lines < min(needed, LINES):
            self._left_out += 1
            return
        self._lines -= needed
        if self._left_out:
            self.stream.write(f"synaptic: {self._left_out:,} messages were left out here.\n")
            self._left_out = 0
        super().emit(record)
