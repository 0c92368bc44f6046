"""A child process that makes the answer to a hook, so that the system ends it in time: a long
pattern or SQLite may hold Python's lock.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Callable

Send = Callable[[bytes], None]
"""Takes the whole answer. Raises BrokenPipeError where nobody waits for it any more."""


class AnswerProcess:
    """Calls `make` with a function that takes the answer, in a child process, which the
    system's alarm ends after `limit_s` seconds. `log` writes what went wrong.

    The child has no terminal: only the parent prints, so that a client waits for no child.
    Windows has neither fork nor alarm: there it is no child, and the client ends a hook that
    takes too long.
    """

    def __init__(
        self, make: Callable[[Send], object], limit_s: float, log: Callable[[str], None]
    ) -> None:
        self._limit_s = limit_s
        self._log = log
        self._answer = b""
        self._pid = 0
        self._pipe = -1
        if sys.platform == "win32":
            self._try(make, self._take)
            return
        self._pipe, writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
                signal.setitimer(signal.ITIMER_REAL, limit_s)
                os.close(self._pipe)
                _leave_terminal()
                self._try(make, lambda answer: _write_all(writing, answer))
            finally:
                os._exit(0)
        os.close(writing)

    def wait(self, within_s: float | None = None) -> bytes | None:
        """Returns the answer when the child has ended, b"" if it made none; None if it still
        runs after `within_s` seconds.
        """
        until = None if within_s is None else time.monotonic() + within_s
        while self._pipe >= 0:
            left = None if until is None else max(0.0, until - time.monotonic())
            if not select.select([self._pipe], [], [], left)[0]:
                return None
            part = os.read(self._pipe, 65_536)
            self._answer += part
            if not part:
                self._end()
        return self._answer

    def leave(self) -> None:
        """Lets the child go on alone, for the sake of what it writes; its answer is lost."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def _end(self) -> None:
        self.leave()
        _, ended = os.waitpid(self._pid, 0)
        status = os.waitstatus_to_exitcode(ended)
        if status:
            self._log(f"no answer within {self._limit_s:g} s (signal {-status})")
            self._answer = b""

    def _take(self, answer: bytes) -> None:
        self._answer = answer

    def _try(self, make: Callable[[Send], object], send: Send) -> None:
        try:
            make(send)
        except BrokenPipeError:  # another answer was shown
            pass
        except BaseException as error:
            self._log(f"{type(error).__name__}: {error}")


def _leave_terminal() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)


def _write_all(pipe: int, data: bytes) -> None:
    while data:
        data = data[os.write(pipe, data) :]
