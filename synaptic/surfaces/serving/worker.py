"""The thread that owns the Workspace of a server, and the thread that loads the model."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from ...config import load_config
from ...errors import ModelError, SynapticError
from ...index.embedding import Embedder
from ...verbs.importing import catch_up
from ...workspace.checkout import ELSEWHERE
from ...workspace.sync import in_step, verify
from ...workspace.workspace import Workspace, open_workspace

log = logging.getLogger(__name__)
Result = TypeVar("Result")
Verb = Callable[[Workspace], Result]

GRACE_S = 2
"""Seconds that open answers, and then the worker, get to end when a server ends."""
SLICE_S = 0.05
"""How long the idle thread embeds before it looks for a call again."""
QUIET_S = 0.1
"""Seconds without a call before it begins to embed, so that calls in quick succession never
wait for it.
"""
FLUSH_EVERY_S = 10.0
"""How soon the index is told what was read."""
RETRY_AFTER_S = 60.0
"""How long a model that could not be loaded is left alone; the embedder remembers as long why
it could not.
"""
FIRST_SEARCH_S = 2.0
"""How long after the first search of a connection searches wait for the model."""
AFTER_SAVE_S = 0.5
"""How long a save, which is done, waits for the model, to say what it is near; else the next
answer says it.
"""


class Worker:
    """Runs verbs on the one Workspace, in the order they come; between them it checks and
    embeds.

    The Workspace is opened at the first need. A home or a config that cannot be used is an
    error of each call, not of the server, and is tried anew by the next: mending the file is
    enough.
    """

    def __init__(
        self,
        home: str | Path | None = None,
        embedder: Embedder | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self.loading = True
        """False once the model was tried, well or badly; until then no call should ask for it
        and wait.
        """
        self.unsaid: dict[str | None, list[str]] = {}
        """By client the ids of its last saves of which no answer has said yet what they are
        near.
        """
        self._home, self._read_only = home, read_only
        self._given = embedder
        self._jobs: SimpleQueue[tuple[Verb[Any], Future[Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="synaptic-worker", daemon=True)
        self._ws: Workspace | None = None
        self._load_at: float | None = 0.0
        self._tried = threading.Event()
        self._wait_until = 0.0
        self._checked = False
        self._flush_at = 0.0

    def start(self) -> None:
        """Open the Workspace and begin to load the model, in the background. Idempotent."""
        if self._thread.ident is None:
            self._thread.start()

    def submit(self, verb: Verb[Result]) -> Future[Result]:
        """A future of the result of `verb`. A call that was cancelled in the queue is skipped."""
        future: Future[Result] = Future()
        self._jobs.put((verb, future))
        self.start()
        return future

    async def model_tried(self, most_s: float = FIRST_SEARCH_S) -> None:
        """Returns once the model was tried, after `most_s`, or FIRST_SEARCH_S after the first
        call. Raises what opening
        a home does."""
        ready = await asyncio.wrap_future(self.submit(lambda ws: ws.embedder.ready))
        self._wait_until = self._wait_until or time.monotonic() + FIRST_SEARCH_S
        if not ready and (left := self._wait_until - time.monotonic()) > 0:
            await asyncio.to_thread(self._tried.wait, min(left, most_s))

    def close(self, wait_s: float = 0.0) -> None:
        """End the thread after what it is doing, which may be waited for; what waits is
        dropped.
        """
        self._jobs.put(None)
        if self._thread.ident:
            self._thread.join(wait_s)

    def _run(self) -> None:
        patience: float | None = 0.0
        while True:
            try:
                job = self._jobs.get(block=patience != 0, timeout=patience)
            except Empty:
                patience = 0.0 if self._idle() else self._until_flush()
                continue
            if job is None:
                break
            patience = QUIET_S
            verb, future = job
            if future.set_running_or_notify_cancel():
                self._answer(verb, future)
        if self._ws:
            self._ws.close()

    def _answer(self, verb: Verb[Any], future: Future[Any]) -> None:
        try:
            future.set_result(verb(self._workspace()))
        except BaseException as error:  # the caller's to handle
            future.set_exception(error)

    def _workspace(self) -> Workspace:
        if self._ws is None:
            self._ws = open_workspace(load_config(self._home), embedder=self._given)
        if (
            self._load_at is not None
            and time.monotonic() >= self._load_at
            and not self._ws.embedder.ready
        ):
            self.loading, self._load_at = True, None
            threading.Thread(
                target=self._load, args=(self._ws.embedder,), name="synaptic-model", daemon=True
            ).start()
        return self._ws

    def _load(self, embedder: Embedder) -> None:
        try:
            embedder.load()
        except ModelError as error:
            log.warning("%s", error)
        except Exception:
            log.exception("loading the model")
        self._load_at = time.monotonic() + RETRY_AFTER_S
        self.loading = False
        self._tried.set()
        self._jobs.put((lambda _: None, Future()))  # there may be passages to embed

    def _until_flush(self) -> float | None:
        """Seconds until the index is told what was read; None where nothing is left to tell."""
        if self._ws is None:
            return None
        wait = self._flush_at - time.monotonic()
        if wait > 0:
            return wait
        self._flush_at = time.monotonic() + FLUSH_EVERY_S
        return None if self._ws.index.flush() else FLUSH_EVERY_S

    def _idle(self) -> bool:
        """One small piece of work that can wait; False when there is none."""
        try:
            ws = self._workspace()
            if not self._checked:
                self._checked = True
                _check(ws)
                if not self._read_only:
                    catch_up(ws)
                return True
            return in_step(ws, lambda report: report.embedded, embed_ms=SLICE_S * 1000) > 0
        except SynapticError as error:
            log.warning("%s", error)  # the next call says so too
        except Exception:
            log.exception("between calls")
        return False


def for_client(verb: Verb[Result], project: str | None, ws: Workspace) -> Result:
    """The result of the verb for a remote client: its project, not that of the server's folder."""

    def run() -> Result:
        ELSEWHERE.set(True)
        return verb(replace(ws, config=replace(ws.config, project=project)))

    return copy_context().run(run)


def _check(ws: Workspace) -> None:
    from ...search import pipeline, understanding  # noqa: F401 (so that no search waits for its patterns)

    if not verify(ws):
        log.warning("The index was damaged and has been made anew.")
