"""Decides whether a call that its client cancels is still done."""

from __future__ import annotations

import threading
from contextvars import ContextVar

from ..errors import Withdrawn


class Withdrawal:
    """A client may withdraw its call until the change of the journal begins. From then on the
    call is done and answered. For any threads.
    """

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._is_withdrawn = False
        self._has_begun = False

    def request(self) -> bool:
        """Withdraws the call; False if its change has begun."""
        with self._turn:
            self._is_withdrawn = not self._has_begun
        return self._is_withdrawn

    def check(self) -> None:
        """Raises Withdrawn if the call was withdrawn."""
        if self._is_withdrawn:
            raise Withdrawn("The client has cancelled this call, so nothing was changed.")

    def begin_change(self) -> None:
        """Begins the change, unless the call was withdrawn: raises Withdrawn."""
        with self._turn:
            self.check()
            self._has_begun = True


WITHDRAWAL: ContextVar[Withdrawal | None] = ContextVar("WITHDRAWAL", default=None)
"""Of the call for which this thread works, if its client may withdraw it."""
