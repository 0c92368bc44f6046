"""The nearest vectors: found roughly in memory, then compared in full by sqlite-vec.

The sketch keeps three bits of each component: whether it lies above each of the LEVELS. The
number of bits in which two vectors differ estimates their distance. Signs alone miss some of
the nearest among 100,000.

`chunk.vector` holds the number of the change that stored a vector, and `meta` the last number:
the sketch reads only what was stored since it looked last.
"""

from __future__ import annotations

import json
from array import array
from itertools import islice
from typing import Any, cast

import apsw
import numpy as np
import numpy.typing as npt

from .conditions import THESE
from .database import Database
from .rows import VECTOR_SCALE

Array = npt.NDArray[Any]

LEVELS = (-0.8, 0.0, 0.8)
"""In standard deviations of the components of a unit vector."""

OVERSAMPLED = 6
"""Six vectors are compared in full for each one that is asked for: on LoCoMo and recombined
texts that finds 0.998 of
the nearest 10 among 100,000."""

FEW = 1_000
"""Up to this number of vectors all are compared in full, which takes 2 ms."""

READ_AT_ONCE = 1_024
"""Vectors: 400 KB of them are in memory at a time while the sketch grows."""


class Sketch:
    """Rough copies of all vectors of one model in one open index, 152 bytes each."""

    def __init__(
        self,
        file: Database,
        dimensions: int,
    ) -> None:
        self._file = file
        self.made_for = file.db, dimensions
        self._dimensions = dimensions
        self._levels = [level * VECTOR_SCALE / dimensions**0.5 for level in LEVELS]
        self._rowids: Array = np.zeros(0, dtype=np.int64)
        self._bits = self._rough(np.zeros((0, dimensions), dtype=np.int8))
        self._seen = 0

    def nearest(
        self,
        vector: bytes,
        limit: int,
        among: array[int] | None,
    ) -> list[tuple[int, float]]:
        """(chunk, squared distance) of the nearest int8 vectors, nearest first; of equals the
        later chunk.

        Only chunks of `among` count, if given. Raises apsw.CorruptError for a vector that is
        missing, or of another length.
        """
        self._follow()
        query = self._matrix([vector])
        rowids = self._rowids
        differences = np.zeros(len(rowids), dtype=np.uint16)
        for bits, asked in zip(self._bits, self._rough(query)[:, 0], strict=True):
            differences += np.bitwise_count(bits ^ asked)
        if among is not None:
            passes = np.isin(rowids, np.asarray(among), kind="table")
            rowids, differences = rowids[passes], differences[passes]
        wanted = OVERSAMPLED * limit
        if len(self._rowids) > FEW and wanted < len(rowids):
            furthest = np.partition(differences, wanted - 1)[wanted - 1]
            rowids = rowids[differences <= furthest]
        nearest = self._file.rows(_NEAREST, vector, json.dumps(rowids.tolist()), limit)
        if len(nearest) < min(limit, len(rowids)):
            raise apsw.CorruptError("a vector is missing")
        return [(rowid, apart * apart) for rowid, apart in nearest]

    def _matrix(self, vectors: list[bytes]) -> Array:
        if any(len(vector) != self._dimensions for vector in vectors):
            raise apsw.CorruptError("a vector has a wrong length")
        return np.frombuffer(b"".join(vectors), np.int8).reshape(-1, self._dimensions)

    def _rough(self, vectors: Array) -> Array:
        """The bits of these vectors, 64 in a number: a column for each vector."""
        levels = [np.packbits(vectors > level, axis=1) for level in self._levels]
        packed = np.concatenate(levels, axis=1)
        padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
        return cast("Array", padded.view(np.uint64).T)

    def _follow(self) -> None:
        """Reads the vectors that were stored since the last time, and forgets those that were
        dropped.
        """
        count = self._file.value("SELECT count(*) FROM chunk WHERE vector > 0")
        stored = self._file.meta("stored") or 0
        if (count, stored) == (len(self._rowids), self._seen):
            return
        rowids, bits = [self._rowids], [self._bits]
        found = self._file.db.execute(_STORED_SINCE, (self._seen,))
        while some := list(islice(found, READ_AT_ONCE)):
            rowids.append(np.array([rowid for rowid, _ in some], dtype=np.int64))
            bits.append(self._rough(self._matrix([vector for _, vector in some])))
        if count != sum(map(len, rowids)):
            known = np.array(self._file.column(_STORED_UNTIL, self._seen), dtype=np.int64)
            stays = np.isin(self._rowids, known, kind="table")
            rowids[0], bits[0] = self._rowids[stays], self._bits[:, stays]
        self._rowids, self._bits = np.concatenate(rowids), np.concatenate(bits, axis=1)
        self._seen = stored


_NEAREST = f"""
    SELECT chunk, vec_distance_l2(vec_int8(embedding), vec_int8(?1)) AS apart
    FROM vector WHERE chunk IN {THESE.replace("?", "?2")}
    ORDER BY apart, chunk DESC LIMIT ?3"""
_STORED_SINCE = """
    SELECT c.rowid, coalesce(v.embedding, '') FROM chunk c
    LEFT JOIN vector v ON v.chunk = c.rowid WHERE c.vector > ?"""
_STORED_UNTIL = "SELECT rowid FROM chunk WHERE vector BETWEEN 1 AND ?"
