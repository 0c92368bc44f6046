"""The command `synaptic` by the hundred, where no process is what is tested: one process that
`forks` made takes call after call, each with its own words, streams, environment, folder and
zone, at a third of the cost.

No call meets what another left: a process that is not as it was before a call ends after it,
and what it remembers of the disk is forgotten.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import gc
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Any

from forks import ForkedHome, Forks, forked, run_call, shared, tell
from outside import Answer

PURE = ("synaptic.index", "synaptic.language", "synaptic.notes", "synaptic.plugin")
"""Modules that remember only what follows from their arguments and the package's own files."""
_SERVE = "import steady; steady.serve()"


class Steady(Forks):
    """The process, which starts with the first call. It takes one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._calls: socket.socket | None = None
        self._calling = threading.Lock()

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """True for the one who may call while the block runs."""
        is_mine = self._calling.acquire(blocking=False)
        try:
            yield is_mine
        finally:
            if is_mine:
                self._calling.release()

    def close(self) -> None:
        if self._calls:
            self._calls.close()

    def _parent(self) -> socket.socket:
        if not self._calls or select.select([self._calls], [], [], 0)[0]:  # or it has ended
            self._calls, theirs = socket.socketpair()
            nowhere = [os.open(os.devnull, os.O_WRONLY) for _ in ("out", "err")]
            call = {"args": ["-c"], "code": _SERVE, "env": dict(os.environ)}
            shared().fork(call, (theirs.detach(), *nowhere)).close()
        return self._calls


@functools.cache
def steady() -> Steady:
    """The process that takes the calls of all tests of this one."""
    return Steady()


def steadily(
    *args: str,
    stdin: bytes = b"",
    folder: Path | None = None,
    env: Mapping[str, str] = os.environ,
) -> Answer:
    """What `synaptic ARGS` says."""
    with steady().taken() as is_mine:
        forks = steady() if is_mine else shared()
        return forked(*args, stdin=stdin, folder=folder, env=env, forks=forks)


class SteadyHome(ForkedHome):
    """A home whose commands are not each a process, but for one that dies, that another is
    under way beside, or that has limits of its own.
    """

    def run(self, *args: str, stdin: str | bytes = b"", **env: str) -> Answer:
        with self._steadily(env) as home:
            return ForkedHome.run(home, *args, stdin=stdin, **env)

    def person(self, *args: str, keys: bytes = b"", early: bytes = b"", **env: str) -> Answer:
        with self._steadily(env) as home:
            return ForkedHome.person(home, *args, keys=keys, early=early, **env)

    @contextmanager
    def _steadily(self, env: dict[str, str]) -> Iterator[ForkedHome]:
        is_own = self.file_limit or "SYNAPTIC_FAULT" in self.environment(**env)
        with steady().taken() as is_mine:
            home = copy.copy(self)
            if is_mine and not is_own:
                home.forks = steady()
            yield home


# -- in the process that takes the calls
# ----------------------------------------------------------------------------


def serve() -> None:
    """Answers each call that comes in, as the process of `forks` that forks does."""
    calls = socket.socket(fileno=os.dup(0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    memories = _memories_of_the_disk()
    gc.freeze()
    before = _belongings()
    is_as_before = True
    while is_as_before:
        byte, fds, _, _ = socket.recv_fds(calls, 1, 4)
        if not byte:
            return
        channel = socket.socket(fileno=fds[0])
        tell(fds[0], os.getpid())
        call = json.loads(channel.makefile("rb").readline())
        status = copy_context().run(run_call, call, fds[1:])
        for fd in (0, 1, 2):
            os.dup2(nowhere, fd)
        for memory in memories:
            memory.cache_clear()
        is_as_before = _belongings(fds[0]) == before
        if not is_as_before:
            calls.shutdown(socket.SHUT_RDWR)  # a child may have it, too
        tell(fds[0], status)
        with contextlib.suppress(OSError):  # who asked is gone
            channel.shutdown(socket.SHUT_RDWR)
        channel.close()


def _memories_of_the_disk() -> list[Any]:
    """The functions of the package that remember what they answered, but for those of PURE."""
    modules = [
        module
        for name, module in sys.modules.items()
        if name.startswith("synaptic.") and not name.startswith(PURE)
    ]
    values = [value for module in modules for value in vars(module).values()]
    return [value for value in values if hasattr(value, "cache_clear")]


def _belongings(channel: int = -1) -> tuple[object, ...]:
    """All that a command may leave in its process, but for its channel."""
    from synaptic.cli.program import app

    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
        return ("a child",)
    return (
        {fd for fd in range(64) if _is_open(fd)} - {channel},
        threading.active_count(),
        [signal.getsignal(number) for number in signal.valid_signals()],
        [command.name for command in app.registered_commands],
        os.nice(0),
        [*sys.path],
    )


def _is_open(fd: int) -> bool:
    try:
        return bool(os.fstat(fd))
    except OSError:
        return False
