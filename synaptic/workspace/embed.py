"""Gives passages their vectors, as much as the time allows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from itertools import islice

import apsw

from ..errors import Busy, ModelError
from ..index import (
    BUSY_TIMEOUT_MS,
)
from ..index.parallel import in_parallel, one_process, processors
from ..models import Vector
from .readback import texts_of
from .workspace import Workspace

Progress = Callable[[str, int, int], None]
"""Called with the phase ("reading" or "embedding"), how many are done, and of how many."""
LOCK_WAIT_MS = 50
BATCH = 64
DEFAULT_RATE = 60.0


def embed_pending(ws: Workspace, *, budget_s: float | None, at_least: int = 0, progress: Progress | None = None) -> int:
    """How many passages got their vector within the budget; all of them where it is None.

    While another process writes to the index or embeds, none. Raises Busy where all were asked for.
    """
    if not ws.embedder.ready:
        return 0
    done = 0
    wait_s = BUSY_TIMEOUT_MS / 1000 if budget_s is None else LOCK_WAIT_MS / 1000
    try:
        if ws.index.meta("model") != ws.embedder.name:
            with ws.index.writing(round(wait_s * 1000)) as writer:
                writer.use_model(ws.embedder.name, ws.embedder.dimensions)
        if not ws.index.pending(1):
            return 0
        with _embedding(ws, wait_s if at_least or budget_s is None else 0) as is_alone:
            if is_alone:
                for done in _embedded(ws, budget_s, at_least, progress):  # noqa: B007
                    pass
            elif budget_s is None:
                raise Busy("Another process has been embedding for 10 s.", hint="Try again.")
    except apsw.BusyError as error:
        if budget_s is None:
            raise still_writing() from error
    return done


def _embedding(ws: Workspace, timeout_s: float) -> AbstractContextManager[bool]:
    """Whether this process is the one that embeds, for the length of a `with`. An index in memory is its own."""
    return nullcontext(True) if ws.index.file.trouble else one_process(ws.config.state / "embed.lock", timeout_s)


def _embedded(ws: Workspace, budget_s: float | None, at_least: int, progress: Progress | None) -> Iterator[int]:
    """How many have their vector, after each batch. Without a budget every processor embeds.

    One text a time, whatever the others do: a vector depends on nothing but its text. A text that the model
    fails on is left out, and found by words.
    """
    wait_ms = BUSY_TIMEOUT_MS if budget_s is None else LOCK_WAIT_MS
    begun = time.perf_counter()
    total = ws.index.counts().pending_passages if progress else 0
    done = 0

    def wanted() -> Iterator[tuple[int, int, str]]:
        for number, text in enumerate(_waiting(ws)):
            if budget_s is not None and number >= at_least and time.perf_counter() - begun > budget_s:
                return
            yield text

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
                rate = done / max(time.perf_counter() - begun, 1e-6)
                writer.store_vectors(batch, rate=rate if done >= 8 else None)
            yield done
            if progress:
                progress("embedding", done, total)


def _waiting(ws: Workspace) -> Iterator[tuple[int, int, str]]:
    """(chunk rowid, hash, text) of every passage without a vector, newest first."""
    below = None
    while passages := ws.index.pending(BATCH, below=below):
        yield from texts_of(ws, passages)
        below = passages[-1].rowid


def still_writing() -> Busy:
    return Busy("Another process has been writing to the index for 10 s.", hint="Try again.")
