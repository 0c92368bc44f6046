"""A child process that is killed at a chosen step of SQLite, whatever it does."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import apsw

STEPS = 400
"""Steps of SQLite's virtual machine between two looks at the clock of the kill."""


def killed_at(moment: int, action: Callable[[], object]) -> bool:
    """True if a child that ran `action` was killed by SIGKILL in it, once SQLite had taken
    `moment` times STEPS steps; False if it was done before.
    """
    child = os.fork()
    if child == 0:
        left = moment

        def step() -> bool:
            nonlocal left
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return False

        apsw.connection_hooks.append(lambda db: db.set_progress_handler(step, STEPS))
        code = 1
        try:
            action()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def moments() -> list[int]:
    """Moments from the first steps to long after the last: ever farther apart."""
    return [round(1.35**number) - 1 for number in range(40)]
