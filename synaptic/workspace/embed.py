"""Gives passages their vectors, as much as the time allows."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import islice
from pathlib import Path
from typing import TypeVar

import apsw

from ..config import DEFAULT_MODEL
from ..errors import Busy, ModelError
from ..index.database import BUSY_TIMEOUT_MS
from ..index.embedding import usual_cosine
from ..journal.disk import overwrite
from ..language.lexicon import is_foreign
from ..models import Vector
from .readback import Stale, read_passages, texts_of
from .workspace import Workspace

Item = TypeVar("Item")
Made = TypeVar("Made")

Progress = Callable[[str, int, int], None]
"""Called with the phase ("reading" or "embedding"), how many are done, and of how many."""
LOCK_WAIT_MS = 50
BATCH = 64
LOOKED_AT, LEAST = 40, 10
"""Passages that tell the language of a journal, about, and the fewest that do. By eye."""

FOREIGN = (
    "Most of these notes are not English, and the model in use reads English best: "
    "`synaptic model` lists others."
)

AHEAD = 4
"""Items for each worker that are under way or wait: enough to go on while the caller does
something else.
"""

MOST = 8
"""Workers; more wait for the one thread that feeds them."""


def embed_pending(
    ws: Workspace,
    *,
    budget_s: float | None,
    at_least: int = 0,
    progress: Progress | None = None,
) -> int:
    """How many passages got their vector within the budget; all of them where it is None.

    While another process writes to the index or embeds, none. Raises Busy where all were asked
    for.
    """
    if not ws.embedder.ready:
        return 0
    done = 0
    wait_s = BUSY_TIMEOUT_MS / 1000 if budget_s is None else LOCK_WAIT_MS / 1000
    try:
        if ws.index.meta("model") != ws.embedder.name:
            usual = usual_cosine(ws.embedder)
            with ws.index.writing(round(wait_s * 1000)) as writer:
                writer.use_model(ws.embedder.name, ws.embedder.dimensions, usual=usual)
        if not ws.index.pending(1):
            return 0
        lock, lock_wait_s = (
            ws.config.state / "embed.lock",
            wait_s if at_least or budget_s is None else 0,
        )
        # an index in memory is this process's own
        with (
            nullcontext(True)
            if ws.index.file.trouble
            else one_process(lock, lock_wait_s) as is_alone
        ):
            if is_alone:
                for done in _embedded(ws, budget_s, at_least, progress):  # noqa: B007
                    pass
            elif budget_s is None:
                raise Busy("Another process has been embedding for 10 s.", hint="Try again.")
    except apsw.BusyError as error:
        if budget_s is None:
            raise still_writing() from error
    return done


def language_notice(ws: Workspace) -> tuple[str, ...]:
    """Where the shipped model is in use, and most notes are not English, a notice of it, once
    for each journal.
    """
    told, journal = ws.config.state / "language", os.fsencode(ws.config.journal)
    if not ws.embedder.name.startswith(f"{DEFAULT_MODEL}@") or (
        told.exists() and told.read_bytes() == journal
    ):
        return ()
    with suppress(Stale, OSError, apsw.Error):
        if (chunks := ws.index.counts().chunks) >= LEAST:
            texts = read_passages(ws, range(1, chunks + 1, max(1, chunks // LOOKED_AT)))
            overwrite(told, journal)
            return (FOREIGN,) if is_foreign(text for text, _ in texts.values()) else ()
    return ()


def _embedded(
    ws: Workspace, budget_s: float | None, at_least: int, progress: Progress | None
) -> Iterator[int]:
    """How many have their vector, after each batch. Without a budget every processor embeds.

    One text a time, whatever the others do: a vector depends on nothing but its text. A text
    that the model fails on is left out, and found by words.
    """
    wait_ms = BUSY_TIMEOUT_MS if budget_s is None else LOCK_WAIT_MS
    begun = time.perf_counter()
    total = ws.index.counts().pending_passages if progress else 0
    done = 0

    def wanted() -> Iterator[tuple[int, int, str]]:
        taken, below = 0, None
        while passages := ws.index.pending(BATCH, below=below):
            for passage in texts_of(ws, passages):
                if (
                    budget_s is not None
                    and taken >= at_least
                    and time.perf_counter() - begun > budget_s
                ):
                    return
                taken += 1
                yield passage
            below = passages[-1].rowid

    def embedded(passage: tuple[int, int, str]) -> tuple[int, int, Vector] | None:
        rowid, hash_, text = passage
        with suppress(ModelError):
            return rowid, hash_, ws.embedder.embed_passage(text)
        return None

    workers = max(1, processors() // ws.config.threads) if budget_s is None else 1
    with closing(in_parallel(embedded, wanted(), workers)) as vectors:
        while batch := list(islice(filter(None, vectors), BATCH)):
            with ws.index.writing(wait_ms) as writer:
                done += len(batch)
                writer.store_vectors(batch)
            yield done
            if progress:
                progress("embedding", done, total)


def still_writing() -> Busy:
    return Busy("Another process has been writing to the index for 10 s.", hint="Try again.")


def processors() -> int:
    """How many processors this process may use."""
    return (
        len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1
    )


def in_parallel(
    work: Callable[[Item], Made], items: Iterable[Item], workers: int
) -> Generator[Made, None, None]:
    """What `work` makes of each item, in their order. The items are taken by the thread that
    asks, as they are needed.

    With one worker nothing is done ahead, and no thread is begun. For work that lets other
    threads run.
    """
    if workers <= 1:
        yield from map(work, items)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    pool = ThreadPoolExecutor(min(workers, MOST), thread_name_prefix="synaptic-embed")
    coming = iter(items)
    try:
        under_way: deque[Future[Made]] = deque()
        while True:
            room = AHEAD * min(workers, MOST) - len(under_way)
            under_way.extend(pool.submit(work, item) for item in islice(coming, room))
            if not under_way:
                return
            yield under_way.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def one_process(lock: Path, timeout_s: float) -> Iterator[bool]:
    """A context that gives True while this process holds the lock, and False if it did not get
    it in `timeout_s`.
    """
    from filelock import FileLock

    file = FileLock(lock, mode=0o600)
    try:
        file.acquire(timeout=timeout_s, poll_interval=0.01)
    except OSError:  # a Timeout is one; or the home cannot be written
        yield False
        return
    try:
        yield True
    finally:
        file.release()
