"""Gives passages their vectors, as much as the time allows."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path

from ..errors import Busy, IndexBusy, JournalError, ModelError
from ..files import file_lock
from ..index.database import BUSY_TIMEOUT_MS
from ..index.embedding import usual_cosine
from ..models import Meaning
from .readback import texts_to_embed
from .workspace import Workspace

Progress = Callable[[str, int, int], None]
"""Called with the phase ("reading" or "embedding"), how many are done, and of how many."""
LOCK_WAIT_MS = 50
BATCH = 64
"""Passages that are stored together: what a kill loses is embedded again."""
MAX_WORKERS = 8
"""The most workers: more would wait for the one thread that feeds them."""


def embed_pending(
    ws: Workspace,
    *,
    budget_s: float | None,
    at_least: int = 0,
    most_s: float = math.inf,
    progress: Progress | None = None,
) -> int:
    """Embeds passages that have no vector yet, for at most `budget_s` seconds (None: all of
    them), or longer, up to `most_s`, until `at_least` are done. Returns how many it embedded.

    While another process writes to the index or embeds, it is 0, or Busy is raised if there is
    no limit.
    """
    if not ws.embedder.ready:
        return 0
    done = 0
    begun = time.perf_counter()

    def may_begin() -> bool:
        """True until `most_s` is over."""
        return time.perf_counter() <= begun + most_s

    wait_s = BUSY_TIMEOUT_MS / 1000 if budget_s is None else LOCK_WAIT_MS / 1000
    try:
        if ws.index.meta("model") != ws.embedder.name:
            usual = usual_cosine(ws.embedder, may_begin)
            with ws.index.writing(round(wait_s * 1000)) as writer:
                writer.use_model(ws.embedder.name, ws.embedder.dimensions, usual=usual)
        if not ws.index.pending(1):
            return 0
        lock_wait_s = wait_s if at_least or budget_s is None else 0
        lock: AbstractContextManager[bool] = nullcontext(True)
        if not ws.index.file.trouble:  # an index in memory is this process's own
            lock = try_process_lock(ws.config.state / "embed.lock", lock_wait_s)
        with lock as is_alone:
            if is_alone:
                batches = _embed_batches(ws, budget_s, at_least, may_begin, progress)
                for done in batches:  # noqa: B007
                    pass
                _note_left(ws, done)
            elif budget_s is None:
                raise Busy("Another process has been embedding for 10 s.", hint="Try again.")
    except TimeoutError:
        return 0  # a later call has more time
    except IndexBusy as error:
        if budget_s is None:
            raise still_writing_error() from error
    return done


def _note_left(ws: Workspace, done: int) -> None:
    """Notes how many passages have no vector yet, after `done` got theirs; they are counted
    only where that is not known.
    """
    pace = ws.paces.embedding
    if not ws.index.pending(1):
        pace.note(0)
    elif pace.left > done:
        pace.note(pace.left - done)
    else:
        pace.note(ws.index.counts().pending_passages)


def _embed_batches(
    ws: Workspace,
    budget_s: float | None,
    at_least: int,
    may_begin: Callable[[], bool],
    progress: Progress | None,
) -> Iterator[int]:
    """The number of embedded passages after each batch. Without a budget all processors work.

    Each text is embedded alone, so that its vector depends on nothing else. A text that the
    model fails on is left out and found by its words only.
    """
    wait_ms = BUSY_TIMEOUT_MS if budget_s is None else LOCK_WAIT_MS
    until = math.inf if budget_s is None else time.perf_counter() + budget_s
    total = ws.index.counts().pending_passages if progress else 0
    taken = done = 0

    def may_go_on(number: int) -> bool:
        """True if this passage, the first being 1, may still be embedded."""
        return time.perf_counter() <= until or (number <= at_least and may_begin())

    def embedded(passage: tuple[int, int, str]) -> tuple[int, int, Meaning] | None:
        nonlocal taken
        taken += 1
        if not may_go_on(taken):
            return None
        rowid, hash_, text = passage
        with suppress(ModelError):
            return rowid, hash_, ws.embedder.embed_passage(text)
        return None

    workers = min(MAX_WORKERS, max(1, usable_processor_count() // ws.config.threads))
    work: Callable[..., Iterator[tuple[int, int, Meaning] | None]] = map
    stopped: list[int] = []
    with ExitStack() as stack:
        if budget_s is None and workers > 1:
            from concurrent.futures import ThreadPoolExecutor

            stopped = stack.enter_context(_defer_interrupts())
            pool = ThreadPoolExecutor(workers, thread_name_prefix="synaptic-embed")
            work = stack.enter_context(pool).map
        pending = partial(ws.index.pending, BATCH, newest_first=budget_s is not None)
        passages = pending()
        while passages and may_go_on(taken + 1):
            meanings = list(filter(None, work(embedded, texts_to_embed(ws, passages))))
            with ws.index.writing(wait_ms) as writer:
                writer.store_vectors(meanings)
            if stopped:
                raise KeyboardInterrupt
            done += len(meanings)
            yield done
            if progress:
                progress("embedding", done, total)
            passages = pending(after=passages[-1].rowid)


@contextmanager
def _defer_interrupts() -> Iterator[list[int]]:
    """A context in which Ctrl-C only fills the list: raised within a pool of threads, it may
    leave a lock held for which they wait for ever.
    """
    stopped: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def still_writing_error(waited_ms: int = BUSY_TIMEOUT_MS) -> Busy:
    message = (
        f"Another process was not done writing to the index within {waited_ms / 1000:g} s."
    )
    return Busy(message, hint="Try again.")


def usable_processor_count() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def try_process_lock(lock: Path, timeout_s: float) -> Iterator[bool]:
    """Tries to lock the file `lock` against other processes for at most `timeout_s`. Returns a
    context that gives True if it holds the lock, else False.
    """
    try:
        file = file_lock(lock)
        file.acquire(timeout=timeout_s, poll_interval=0.01)
    except (OSError, JournalError):  # filelock.Timeout is an OSError, too; or the disk refuses
        yield False
        return
    try:
        yield True
    finally:
        file.release()
