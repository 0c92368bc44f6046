"""Counters of use: the times of calls, the entries that were read, and the work of agents.

They are kept in memory and written with the next change of the index, or by `flush`.
"""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import NamedTuple

import apsw

from .engine import Engine

CALLS_KEPT = 1_000
"""Calls of each verb whose times are kept."""


class TimedCall(NamedTuple):
    """A call of a verb at a second since 1970 UTC, with the milliseconds of its stages and the
    `total`. `strategy`: of a search that had nothing left to load, else None.
    """

    verb: str
    strategy: str | None
    at: int
    stages: dict[str, float]


class Counters:
    """Counts of use: those not written yet, in memory, and those in the index."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reads: Counter[str] = Counter()
        self._read_at = 0
        self._calls: dict[str, deque[TimedCall]] = {}
        self._uses: Counter[tuple[str, str, str]] = Counter()

    @property
    def has_unwritten(self) -> bool:
        """True while something is counted and not written."""
        return any((self._reads, self._uses, *self._calls.values()))

    def record_call(
        self, verb: str, stages: Mapping[str, float], strategy: str | None = None
    ) -> None:
        """Keeps in memory how many milliseconds each stage of a call of a verb took.

        The first call of a verb in a process is kept without its strategy: its time includes
        imports and caches.
        """
        is_first = verb not in self._calls
        calls = self._calls.setdefault(verb, deque(maxlen=CALLS_KEPT))
        rounded = {name: round(ms, 3) for name, ms in stages.items()}
        calls.append(TimedCall(verb, None if is_first else strategy, int(time.time()), rounded))

    def record_reads(self, ids: Iterable[str], at: int) -> None:
        """Counts a read of each of these entries at the instant `at`."""
        self._reads.update(ids)
        self._read_at = at

    def count_use(self, client: str, day: date, **counts: int) -> None:
        """Adds to the counts of an agent, named as in `statistics.USES`, in this day's week."""
        week = (day - timedelta(day.weekday())).isoformat()
        for name, count in counts.items():
            self._uses[week, client, name] += count

    def take_all(self) -> Counters | None:
        """Returns all counts that are not written yet, and clears them here; None if there are
        none.
        """
        if not self.has_unwritten:
            return None
        taken = Counters(self._engine)
        taken.add(self)
        self.clear()
        return taken

    def add(self, others: Counters) -> None:
        """Adds the unwritten counts of others."""
        self._reads.update(others._reads)
        self._read_at = max(self._read_at, others._read_at)
        self._uses.update(others._uses)
        for verb, calls in others._calls.items():
            self._calls.setdefault(verb, deque(maxlen=CALLS_KEPT)).extend(calls)

    def calls(self, *, searches: int | None = None) -> list[TimedCall]:
        """All recorded calls, oldest first; with `searches` only the last warm searches."""
        rows = self._engine.rows(_CALLS, searches)
        written = [
            TimedCall(verb, strategy, at, json.loads(stages))
            for verb, strategy, at, stages in rows
        ]
        waiting: list[TimedCall] = []
        for calls in self._calls.values():
            waiting += [call for call in calls if searches is None or call.strategy]
        return written + waiting

    def write(self, db: apsw.Connection) -> None:
        """Writes all counts; `clear` follows once they are committed."""
        reads = [(id, count, self._read_at) for id, count in self._reads.items()]
        db.executemany(_ADD_READS, reads)
        uses = [(*key, count) for key, count in self._uses.items() if count]
        db.executemany(_ADD_USES, uses)
        for verb, calls in self._calls.items():
            rows = [(verb, call.strategy, call.at, json.dumps(call.stages)) for call in calls]
            db.executemany(
                "INSERT INTO timing (verb, strategy, at, stages) VALUES (?, ?, ?, ?)", rows
            )
            db.execute(_FORGET_CALLS, (verb, CALLS_KEPT))

    def clear(self) -> None:
        self._reads.clear()
        self._uses.clear()
        for calls in self._calls.values():
            calls.clear()  # the verbs stay: their next call is not the first


_CALLS = """
    SELECT verb, strategy, at, stages FROM (
        SELECT * FROM timing WHERE ?1 IS NULL OR strategy IS NOT NULL
        ORDER BY number DESC LIMIT coalesce(?1, -1)
    ) ORDER BY number"""
_ADD_READS = """
    INSERT INTO access SELECT ?1, ?2, ?3 WHERE EXISTS
        (SELECT 1 FROM entry WHERE own_id = ?1 OR (twin = 2 AND other_id = ?1))
    ON CONFLICT (id) DO UPDATE SET count = count + excluded.count, at = max(at, excluded.at)"""
_ADD_USES = """
    INSERT INTO use VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET count = count + excluded.count"""
_FORGET_CALLS = """
    DELETE FROM timing WHERE verb = ?1 AND number <=
        (SELECT number FROM timing WHERE verb = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)"""
