"""Keeps, of each entry, the one that is nearest to it among those of its project and type.

The table `near` is a function of the set of entries and their vectors, whatever the order in
which they came: an entry that changed is compared with all others of its group, and becomes the
nearest of those that it comes nearer to than the one before; where an entry was the nearest,
all are compared again once it changes. Products of int8 vectors are whole numbers below 2**24,
so they are exact however they are added up; of equally near entries the earlier wins.

An entry belongs to no group, and has no nearest one, while it has no vector or no date, is a
whole file or a copy, is superseded, or has a type that no later entry replaces. Notes without a
project are one group, a diary.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..kinds import KINDS
from ..models import TOKEN_BITS
from .conditions import BOUND_LIST
from .engine import distance_scale
from .sqlite_engine import SqliteEngine

Array = npt.NDArray[Any]

COMPARED_AT_ONCE = 256
"""Entries that are compared with their whole group in one product: of 10,000 others it takes
20 MB.
"""
MOST_CACHED = 20_000
"""Vectors of the groups that are kept in memory: 8 MB."""
LEAST_CLOSENESS = 0.35
"""Entries that are less close are not kept: they are about something else. By eye."""
MATCHED = 0.65
"""The share of equal signs from which on two tokens are like each other. By eye."""

_REPLACEABLE = tuple(kind.name for kind in KINDS.values() if kind.is_replaced)


class Neighbour(NamedTuple):
    """An entry, the one that is nearest to it, and how close they are; `is_mutual`: the first
    is the nearest of the second, too.
    """

    entry: int
    nearest: int
    closeness: float
    is_mutual: bool


class Group(NamedTuple):
    """The entries of one project and type, oldest first: the rows of `_MEMBERS`, and their int8
    vectors.
    """

    members: list[tuple[int, int, int, int]]
    vectors: Array

    @property
    def rowids(self) -> list[int]:
        return [member[0] for member in self.members]


_EMPTY = Group([], np.zeros((0, 0), dtype=np.int8))


class Nearest:
    """The table `near` of an open index, within a transaction that may write."""

    def __init__(self, file: SqliteEngine) -> None:
        self._file = file
        self._scale = distance_scale(file)

    def compare_some(self) -> bool:
        """Compares up to COMPARED_AT_ONCE entries that wait for it, of one group; False if
        none waited.
        """
        first = next(iter(self._file.rows(_FIRST_WAITING)), None)
        if first is None:
            return False
        waiting = self._file.column(_WAITING, *first, COMPARED_AT_ONCE)
        group = self._read_group(*first)
        rowids = group.rowids
        places = {rowid: place for place, rowid in enumerate(rowids)}
        comparable = sorted(places[rowid] for rowid in waiting if rowid in places)
        outside = [rowid for rowid in waiting if rowid not in places]
        self._file.db.execute(_LEAVE, (json.dumps(outside),))
        if comparable:
            closeness = self._measure(group, comparable)
            self._store(group, comparable, closeness.argmax(axis=1), closeness.max(axis=1))
            self._store_outdone(group, comparable, closeness)
        return True

    def _read_group(self, type: str, project: str | None) -> Group:
        """The group of this project and type. The vectors of the last ones are kept in memory,
        so that a save reads its own alone.
        """
        if type not in _REPLACEABLE:
            return _EMPTY
        members = self._file.rows(_MEMBERS, type, project)
        groups = self._file.latest_groups
        last: Group = groups.pop((type, project), _EMPTY)
        dimensions, _ = self._file.vectors.shape()
        if last.members and last.vectors.shape[1] != dimensions:  # another model made them
            last = _EMPTY
        places = {member: place for place, member in enumerate(last.members)}
        missing = [member[1] for member in members if member not in places]
        stored = self._file.vectors.get_vectors(missing)
        vectors = np.empty((len(members), dimensions), dtype=np.int8)
        former = np.array([places.get(member, -1) for member in members], dtype=np.int64)
        if last.members:
            vectors[former >= 0] = last.vectors[former[former >= 0]]
        for place in np.flatnonzero(former < 0).tolist():
            vectors[place] = np.frombuffer(stored[members[place][1]], dtype=np.int8)
        groups[type, project] = Group(members, vectors)
        while (
            len(groups) > 1 and sum(len(one.members) for one in groups.values()) > MOST_CACHED
        ):
            del groups[next(iter(groups))]
        return Group(members, vectors)

    def _measure(self, group: Group, places: Sequence[int]) -> Array:
        """The closeness of the entries at these places to all of the group, a row each; -1 to
        itself.
        """
        vectors = group.vectors.astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors)).clip(1.0)
        products = vectors[places] @ vectors.T
        cosines = products / np.outer(lengths[places], lengths)
        closeness = 1 - (1 - cosines) / self._scale
        closeness[np.arange(len(places)), places] = -1
        return np.asarray(closeness)

    def _store_outdone(self, group: Group, places: Sequence[int], closeness: Array) -> None:
        """Makes the nearest of `places` the nearest entry of each other one that has none so
        near, or an equally near later one.
        """
        best = closeness.max(axis=0)
        nearest = closeness.argmax(axis=0)
        near = np.flatnonzero(best >= LEAST_CLOSENESS).tolist()
        rowids = group.rowids
        order = {rowid: place for place, rowid in enumerate(rowids)}
        outdone = []
        for rowid, first, close in self._file.rows(
            _FIRST, json.dumps([rowids[place] for place in near])
        ):
            place = order[rowid]
            other = places[nearest[place]]
            is_earlier = best[place] == close and other < order[first]
            if close is None or best[place] > close or is_earlier:
                outdone.append(place)
        others = np.array([places[nearest[place]] for place in outdone], dtype=np.int64)
        self._store(group, outdone, others, best[outdone])

    def _store(
        self, group: Group, places: Sequence[int], nearest: Array, closeness: Array
    ) -> None:
        """Writes the nearest of the entries at `places`; what each makes is to be judged, and
        so are the pairs of those to which it is nearest.
        """
        rowids = group.rowids
        values = []
        for place, other, close in zip(
            places, nearest.tolist(), closeness.tolist(), strict=True
        ):
            is_close = close >= LEAST_CLOSENESS
            pair = (rowids[other], close) if is_close else (None, None)
            values.append(("judge" if is_close else "none", *pair, rowids[place]))
        self._file.db.executemany(_STORE, values)
        changed = json.dumps([rowids[place] for place in places])
        self._file.db.execute(_JUDGE_AGAIN, (changed,))

    def unjudged(self, limit: int) -> list[Neighbour]:
        """Up to `limit` entries that were not judged since they were compared, each with its
        nearest.
        """
        return [
            Neighbour(entry, nearest, closeness, bool(is_mutual))
            for entry, nearest, closeness, is_mutual in self._file.rows(_UNJUDGED, limit)
        ]

    def store_verdicts(self, verdicts: Sequence[tuple[int, str | None]]) -> None:
        """Writes what `judge` said of entries and their nearest."""
        rows = [(verdict or "none", entry) for entry, verdict in verdicts]
        self._file.db.executemany("UPDATE near SET state = ? WHERE entry = ?", rows)


def share_unmatched(codes: bytes, others: bytes) -> float:
    """The share of the tokens with these codes that are like no token of the others."""
    ours, theirs = (
        np.unpackbits(np.frombuffer(each, np.uint8).reshape(-1, TOKEN_BITS // 8), axis=1)
        for each in (codes, others)
    )
    differing = (ours[:, None, :] != theirs[None, :, :]).sum(axis=2).min(axis=1)
    return float((differing > (1 - MATCHED) * TOKEN_BITS).mean())


_FIRST_WAITING = """
    SELECT e.type, e.project_key FROM near n JOIN entry e ON e.rowid = n.entry
    WHERE n.state = 'compare' LIMIT 1"""
_WAITING = """
    SELECT n.entry FROM near n JOIN entry e ON e.rowid = n.entry
    WHERE n.state = 'compare' AND e.type = ? AND e.project_key IS ? ORDER BY n.entry LIMIT ?"""
_MEMBERS = """
    SELECT e.rowid, c.rowid, c.vector, c.crc FROM entry e JOIN source s ON s.id = e.source
    JOIN chunk c ON c.entry = e.rowid
    WHERE e.type = ? AND e.project_key IS ? AND e.dated AND e.id IS NOT NULL
    AND NOT e.whole_file AND c.seq = 0 AND c.vector > 0
    AND e.own_id NOT IN (SELECT target FROM supersedes)
    ORDER BY e.at, s.path, e.seq"""
_LEAVE = f"""
    UPDATE near SET state = 'none', first = NULL, closeness = NULL
    WHERE entry IN {BOUND_LIST}"""
_FIRST = f"""
    SELECT entry, first, closeness FROM near
    WHERE entry IN {BOUND_LIST} AND state <> 'compare'"""
_STORE = "UPDATE near SET state = ?, first = ?, closeness = ? WHERE entry = ?"
_JUDGE_AGAIN = f"""
    UPDATE near SET state = 'judge'
    WHERE first IN {BOUND_LIST} AND state NOT IN ('compare', 'judge')"""
_UNJUDGED = """
    SELECT n.entry, n.first, n.closeness, o.first IS n.entry
    FROM near n JOIN near o ON o.entry = n.first WHERE n.state = 'judge'
    ORDER BY n.entry LIMIT ?"""
