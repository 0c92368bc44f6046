"""Child processes, which are killed at a chosen step of SQLite, whatever they do."""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable

import apsw

STEPS = 400
"""Steps of SQLite's virtual machine between two looks at the moment of the kill."""

FAULTS = (
    "locked",
    "kept-torn",
    "create-torn",
    "created",
    "linked",
    "trash-torn",
    "trashed",
    "logged-torn",
    "logged",
    "replace-torn",
    "replace-written",
    "replace-swapped",
    "replaced",
    "kept",
)
"""The steps of a save, an edit or a deletion at which `SYNAPTIC_FAULT` kills the process."""


def started(action: Callable[[], object], *, killed_at: int | None = None) -> int:
    """The number of a child that runs `action`. With `killed_at` it dies of SIGKILL once SQLite
    has taken so many times STEPS steps in it.
    """
    child = os.fork()
    if child:
        return child
    left = killed_at or 0

    def step() -> bool:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    if killed_at is not None:
        apsw.connection_hooks.append(lambda db: db.set_progress_handler(step, STEPS))
    code = 1
    try:
        action()
        code = 0
    except BaseException:
        traceback.print_exc()  # into the output of the test that fails
    finally:
        os._exit(code)


def was_killed(child: int) -> bool:
    """True if the child was killed; False if it ended well. Another end is an error."""
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def moments() -> list[int]:
    """Moments from the first steps to long after the last: ever farther apart."""
    return [round(1.35**number) - 1 for number in range(40)]
