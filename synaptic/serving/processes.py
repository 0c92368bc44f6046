"""Starts other processes of Synaptic: one that runs a command and may outlive this one, and one
that runs slow reads of a server.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ..config import Config
from ..errors import IndexFailed, JournalError, SynapticError
from ..index.index import Index
from ..index.sqlite_engine import SqliteEngine
from ..journal.journal_files import JournalFiles
from ..workspace.access import NeedsWriter, Reading
from ..workspace.workspace import Workspace, open_workspace
from .failures import to_user_error

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from subprocess import Popen

Outcome = tuple[Any, BaseException | None]
"""The result of a call, and the error that it raised or None."""
LOOK_S = 0.1
"""Seconds between two checks whether the caller still waits for an answer."""
NICE = 10
"""The niceness of the process for slow reads, so that searches and saves go first."""


def start_synaptic(config: Config, *words: str, parent: bool = False) -> Popen[bytes]:
    """Starts the command `synaptic` with these words on the same home, and returns its process.
    With `parent` that process ends when this one does, and prints to the same streams.
    """
    from subprocess import DEVNULL, Popen  # a hook that needs none waits for it

    command = [sys.executable, "-m", "synaptic", "--home", str(config.home), *words]
    if parent:
        environ = os.environ | {"SYNAPTIC_PARENT": str(os.getpid())}
        return Popen(command, cwd=config.home, stdin=DEVNULL, env=environ)
    return Popen(
        command,
        cwd=config.home,
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )


class ReaderProcess:
    """A process that runs reads of a server, so that they do not hold the Python lock that
    searches need.

    It starts with the first verb, and ends with `end` or with this process.
    """

    def __init__(self, config: Config, ask_writer: Callable[..., Any]) -> None:
        self._config = config
        self._ask_writer = ask_writer
        self._process: BaseProcess | None = None
        self._pipe: Connection

    def run(self, verb: Callable[..., Any], gone: threading.Event) -> Any:
        """Runs a verb in the process and returns its result; both must be picklable. Raises the
        error of the verb.

        The process is killed as soon as `gone` is set.
        """
        try:
            if self._process is None:
                self._start()
            self._pipe.send(verb)
            while True:
                while not self._pipe.poll(LOOK_S):
                    if gone.is_set():
                        raise CancelledError
                is_for_writer, *message = self._pipe.recv()
                if not is_for_writer:
                    break
                self._pipe.send(_make_sendable(call_outcome(self._ask_writer, *message)))
        except (EOFError, OSError) as error:
            self.end()
            told_so = (
                "The process that prepared the answer was killed, perhaps for lack of memory."
            )
            raise SynapticError(told_so, hint="Ask again.") from error
        except BaseException:
            self.end()
            raise
        return _result_or_raise(*message)

    def end(self) -> None:
        """Kills the process and the verb that it runs."""
        if self._process:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def _start(self) -> None:
        from multiprocessing import get_context  # most commands need none

        spawning = get_context("spawn")
        ends: Any = spawning.Pipe()  # of another type on Windows
        self._pipe, other = ends
        self._process = spawning.Process(
            target=_run_verbs, args=(other, self._config), daemon=True
        )
        self._process.start()
        other.close()


def _run_verbs(pipe: Connection, config: Config) -> None:
    """Runs the verbs that come through the pipe, in the process of a ReaderProcess, until the
    pipe closes.
    """
    from multiprocessing import parent_process

    def end_with_parent() -> None:
        parent = parent_process()
        assert parent
        parent.join()
        os._exit(0)

    def ask_writer(verb: Callable[..., Any], **named: Any) -> Any:
        pipe.send((True, partial(verb, **named)))
        return _result_or_raise(*pipe.recv())

    @cache
    def reader() -> Workspace:
        try:
            return open_reader(open_workspace(config), ask_writer)
        except JournalError as error:
            raise NeedsWriter from error

    def run(verb: Callable[[Workspace], Any]) -> Any:
        return verb(reader())

    threading.Thread(target=end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server
    if sys.platform != "win32":
        os.nice(NICE)
    with suppress(EOFError, OSError):
        while True:
            pipe.send((False, *_make_sendable(call_outcome(run, pipe.recv()))))


def call_outcome(call: Callable[..., Any], *args: Any) -> Outcome:
    """Calls the function and returns its result and None, or None and the error that it
    raised.
    """
    try:
        return call(*args), None
    except BaseException as error:
        return None, error


def _make_sendable(outcome: Outcome) -> Outcome:
    """Returns the outcome with an error that another process can unpickle."""
    result, error = outcome
    if isinstance(error, IndexFailed):
        error = NeedsWriter()
    if isinstance(error, NeedsWriter | CancelledError | None):
        return result, error
    return None, to_user_error(error)


def _result_or_raise(result: Any, error: BaseException | None) -> Any:
    """Returns the result, or raises the error if there is one."""
    if error:
        raise error
    return result


def open_reader(writer: Workspace, ask_writer: Callable[..., Any]) -> Workspace:
    """A workspace beside the writer's, with a connection of its own and the same model."""
    config = writer.config
    engine = SqliteEngine(config.index_file, stemming=config.search.stemming, read_only=True)
    engine.latest_rough = writer.index.file.latest_rough
    return replace(
        writer, journal=JournalFiles(config), index=Index(engine), access=Reading(ask_writer)
    )
