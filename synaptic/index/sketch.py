"""Rough copies of all vectors of a large journal, by which the few that may be nearest are
picked; their vectors are then read from the table and compared in full.

The sketch keeps three bits of each component: whether it lies above each of the LEVELS. The
number of bits in which two vectors differ estimates their distance. Signs alone miss some of
the nearest among 100,000.

`chunk.vector` holds the number of the change that stored a vector, and `meta` the last number:
the sketch reads only what was stored since it looked last.
"""

from __future__ import annotations

import threading
from array import array
from itertools import islice
from typing import Any, NamedTuple, cast

import apsw
import numpy as np
import numpy.typing as npt

from .database import Database
from .rows import VECTOR_SCALE

Array = npt.NDArray[Any]

LEVELS = (-0.8, 0.0, 0.8)
"""In standard deviations of the components of a unit vector."""

OVERSAMPLED = 6
"""Six vectors are compared in full for each one that is asked for: on LoCoMo and recombined
texts that finds 0.998 of the nearest 10 among 100,000.
"""

READ_AT_ONCE = 1_024
"""Vectors: 400 KB of them are in memory at a time while the sketch grows."""


_FOLLOWING = threading.Lock()


class Rough(NamedTuple):
    """Rough copies of the vectors as of the change `seen`, when `dropped` had been deleted: the
    first `size` columns. Behind them stand those of later changes, or nothing.
    """

    rowids: Array
    bits: Array
    size: int
    seen: int
    dropped: int


def to_rough_bits(vectors: Array) -> Array:
    """Three bits for each component of these int8 vectors, packed: a row of bytes each."""
    deviation = VECTOR_SCALE / vectors.shape[1] ** 0.5
    levels = [np.packbits(vectors > level * deviation, axis=1) for level in LEVELS]
    return np.concatenate(levels, axis=1)


class Sketch:
    """Rough copies of all vectors of one model in one open index, 152 bytes each. All threads
    of a process share the `latest`, and each takes as much of it as its snapshot shows.
    """

    def __init__(self, file: Database, dimensions: int, latest: dict[Any, Rough]) -> None:
        self._file = file
        self.made_for = file.db, dimensions
        self._dimensions = dimensions
        self._latest = latest
        bits = self._pack_columns(np.zeros((0, dimensions), dtype=np.int8))
        self._own = Rough(np.zeros(0, dtype=np.int64), bits, 0, 0, 0)

    def nearest_candidates(
        self, vector: bytes, count: int, among: array[int] | None
    ) -> list[int]:
        """The rowids of the `count` chunks in `among` (None: all) that are probably nearest to
        the int8 `vector`, the likeliest first, and more where distances are equal.

        Raises apsw.CorruptError for a vector that is missing, or of another length.
        """
        rowids, rough = self._catch_up()
        query = self._matrix([vector])
        if among is not None:
            passes = np.flatnonzero(np.isin(rowids, np.asarray(among), kind="table"))
            rowids, rough = rowids[passes], rough[:, passes]
        differences = np.zeros(len(rowids), dtype=np.uint16)
        for bits, asked in zip(rough, self._pack_columns(query)[:, 0], strict=True):
            differences += np.bitwise_count(bits ^ asked)
        if count < len(rowids):
            furthest = np.partition(differences, count - 1)[count - 1]
            chosen = differences <= furthest
            rowids, differences = rowids[chosen], differences[chosen]
        likely: list[int] = rowids[np.argsort(differences, kind="stable")].tolist()
        return likely

    def _matrix(self, vectors: list[bytes]) -> Array:
        if any(len(vector) != self._dimensions for vector in vectors):
            raise apsw.CorruptError("a vector has a wrong length")
        return np.frombuffer(b"".join(vectors), np.int8).reshape(-1, self._dimensions)

    def _pack_columns(self, vectors: Array) -> Array:
        """The rough bits of these vectors as 64-bit integers, one column for each vector."""
        packed = to_rough_bits(vectors)
        padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
        return cast("Array", padded.view(np.uint64).T)

    def _catch_up(self) -> tuple[Array, Array]:
        """Returns the rowids and bits of all vectors in the present snapshot of the index.
        Vectors that were stored since the last time are read, those that were dropped are
        forgotten.
        """
        changes = self._file.meta("stored") or 0, self._file.meta("dropped") or 0
        stored = changes[0]
        key = self._file.origin
        with _FOLLOWING:
            latest = self._latest.get(key)
            rough = latest if latest and latest.seen <= stored else self._own
            if changes != (rough.seen, rough.dropped):
                rough = self._extend_copies(rough, *changes, in_place=rough is latest)
            if latest is None or latest.seen <= stored:
                self._latest.clear()
                self._latest[key] = rough
            self._own = rough
        return rough.rowids[: rough.size], rough.bits[:, : rough.size]

    def _extend_copies(
        self, rough: Rough, stored: int, dropped: int, *, in_place: bool
    ) -> Rough:
        rowids, bits, size, seen, _ = rough
        added = []
        vectors = self._file.vectors.stored_since(seen)
        while some := list(islice(vectors, READ_AT_ONCE)):
            these = np.array([rowid for rowid, _ in some], dtype=np.int64)
            added.append(
                (these, self._pack_columns(self._matrix([vector for _, vector in some])))
            )
        total = size + sum(len(these) for these, _ in added)
        if dropped != rough.dropped:
            there = np.array(self._file.column(_STORED_UNTIL, seen), dtype=np.int64)
            stays = np.isin(rowids[:size], there, kind="table")
            rowids, bits = rowids[:size][stays], bits[:, :size][:, stays]
            total += len(rowids) - size
            size = len(rowids)
        if not in_place or total > len(rowids):
            more = total - size + total // 32
            rowids = np.pad(rowids[:size], (0, more))
            bits = np.pad(bits[:, :size], ((0, 0), (0, more)))
        for these, rough_bits in added:
            end = size + len(these)
            rowids[size:end] = these
            bits[:, size:end] = rough_bits
            size = end
        return Rough(rowids, bits, total, stored, dropped)


_STORED_UNTIL = "SELECT rowid FROM chunk WHERE vector BETWEEN 1 AND ?"
