"""Limits the lines of a server's log, because strangers can cause them."""

import logging
import time

LINES, LINES_A_SECOND = 200.0, 1.0
"""The most lines at one time, and the lines that become free again each second: 10 MB a day."""


class SparingHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """A logging handler that writes to standard error while the limit allows it; afterwards it
    says how many messages were left out.
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
