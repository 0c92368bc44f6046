"""Work on several processors, one item at a time on each, and work that one process does for all."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

AHEAD = 4
"""Items for each worker that are under way or wait: enough to go on while the caller does something else."""

MOST = 8
"""Workers; more wait for the one thread that feeds them."""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_parallel(work: Callable[[Item], Made], items: Iterable[Item], workers: int) -> Generator[Made, None, None]:
    """What `work` makes of each item, in their order. The items are taken by the thread that asks, as they are needed.

    With one worker nothing is done ahead, and no thread is begun. For work that lets other threads run.
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
    """A context that gives True while this process holds the lock, and False if it did not get it in `timeout_s`."""
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
