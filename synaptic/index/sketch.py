"""The nearest vectors: found roughly in memory, then compared in full.

The sketch keeps three bits of each component: whether it lies above each of the LEVELS. The
number of bits in which two vectors differ estimates their distance. Signs alone miss some of
the nearest among 100,000.

Vectors are read by plain SELECTs. `chunk.vector` holds the number of the change that stored a
vector, and `meta` counts the stored changes and the dropped vectors: the sketch reads only what
was stored since it looked last.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

import apsw

from .database import Database
from .rows import VECTOR_SCALE

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

LEVELS = (-0.8, 0.0, 0.8)
"""In standard deviations of the components of a unit vector."""

OVERSAMPLED = 6
"""Six vectors are compared in full for each one that is asked for: on LoCoMo and recombined
texts that finds 0.998 of
the nearest 10 among 100,000."""

FEW = 1_000
"""Up to this number of vectors sqlite-vec compares all of them: a search takes 1 ms, and
nothing is kept in memory.
"""

COPIES = 2_000
"""Exact vectors kept in memory, 1 MB: reading one takes 10 to 20 us. 10,000 save no more time.
"""

READ_AT_ONCE = 1_024
"""Vectors: 400 KB of them are in memory at a time while the sketch grows."""

FAR = 2**16 - 1


class Sketch:
    """Rough copies of all vectors of one model, 152 bytes each, and exact copies of
    some.
    """

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self._dimensions = dimensions
        self._levels = [level * VECTOR_SCALE / dimensions**0.5 for level in LEVELS]
        self._bits: Array = np.zeros(
            (-(-len(LEVELS) * -(-dimensions // 8) // 8), 0), dtype=np.uint64
        )
        self._rowids: Array = np.zeros(0, dtype=np.int64)
        self._copies: dict[int, bytes] = {}
        self._seen = (0, 0)

    def nearest(
        self, file: Database, vector: bytes, limit: int, among: array[int] | None
    ) -> list[tuple[int, float]]:
        """(chunk, squared distance) of the nearest int8 vectors, nearest first; of equals the
        later chunk.

        Only chunks of `among` count, if given. Raises apsw.CorruptError for a vector that is
        missing, or of another length.
        """
        if len(vector) != self._dimensions:
            raise apsw.CorruptError(
                f"its vectors have {self._dimensions} components, not {len(vector)}"
            )
        if file.value(_COUNT_FEW, FEW + 1) <= FEW:
            return _by_sqlite_vec(file, vector, limit, among)
        import numpy as np

        self._follow(file)
        query = np.frombuffer(vector, dtype=np.int8)
        differences = self._differences(query)
        if among is not None:
            differences[~self._is_among(among)] = FAR
        wanted = OVERSAMPLED * limit
        furthest = FAR - 1
        if wanted < np.count_nonzero(differences < FAR):
            furthest = np.partition(differences, wanted - 1)[wanted - 1]
        rowids = self._rowids[np.flatnonzero(differences <= furthest)]
        vectors = np.frombuffer(self._exact(file, rowids.tolist()), dtype=np.int8)
        apart = vectors.reshape(-1, self._dimensions).astype(np.int32) - query
        squared = np.einsum("ij,ij->i", apart, apart)
        best = np.lexsort((-rowids, squared))[:limit]
        return list(zip(rowids[best].tolist(), squared[best].tolist(), strict=True))

    def _is_among(self, rowids: Sequence[int] | array[int]) -> Array:
        """For every place whether its chunk is one of these."""
        import numpy as np

        asked = np.asarray(rowids, dtype=np.int64)
        is_asked = np.zeros(
            1 + max(self._rowids.max(initial=0), asked.max(initial=0)), dtype=np.bool_
        )
        is_asked[asked] = True
        return cast("Array", is_asked[self._rowids])

    def _differences(self, query: Array) -> Array:
        """For every place the number of bits in which it differs from the query."""
        import numpy as np

        counts = np.zeros(self._bits.shape[1], dtype=np.uint16)
        for bits, asked in zip(self._bits, self._rough(query[None, :])[:, 0], strict=True):
            counts += np.bitwise_count(bits ^ asked)
        return counts

    def _rough(self, vectors: Array) -> Array:
        """The bits of these vectors, 64 in a number: a column for each vector."""
        import numpy as np

        packed = np.concatenate(
            [np.packbits(vectors > level, axis=1) for level in self._levels], axis=1
        )
        return cast(
            "Array", np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64).T
        )

    def _follow(self, file: Database) -> None:
        """Reads the vectors that were stored since the last time, and forgets those that were
        dropped.
        """
        import numpy as np

        seen = int(file.meta("stored") or 0), int(file.meta("dropped") or 0)
        if seen == self._seen:
            return
        stored, dropped = self._seen
        self._seen = (0, 0)  # an error on the way must not leave half of it
        new = array("q", json.loads(file.value(_STORED_SINCE, stored)))
        if len(self._rowids) and (dropped != seen[1] or not stored):
            stays = self._is_among(json.loads(file.value(_STORED_SINCE, 0))) & ~self._is_among(
                new
            )
            for rowid in self._rowids[~stays].tolist():
                self._copies.pop(rowid, None)
            self._bits, self._rowids = self._bits[:, stays], self._rowids[stays]
        end = len(self._rowids)
        rowids, bits = (
            np.resize(self._rowids, end + len(new)),
            np.empty((len(self._bits), end + len(new)), np.uint64),
        )
        bits[:, :end] = self._bits
        vectors = _read(file, new, len(rowids))
        while some := list(islice(vectors, READ_AT_ONCE)):
            if any(len(vector) != self._dimensions for _, vector in some):
                raise apsw.CorruptError("a vector has a wrong length")
            begin, end = end, end + len(some)
            components = np.frombuffer(b"".join(vector for _, vector in some), dtype=np.int8)
            bits[:, begin:end] = self._rough(components.reshape(len(some), -1))
            rowids[begin:end] = [rowid for rowid, _ in some]
        self._rowids, self._bits = rowids, bits
        self._seen = seen

    def _exact(self, file: Database, rowids: list[int]) -> bytes:
        """The vectors of these chunks, one after another."""
        missing = [rowid for rowid in rowids if rowid not in self._copies]
        found = dict(_read(file, missing))
        vectors = b"".join([found.get(rowid) or self._copies[rowid] for rowid in rowids])
        if len(self._copies) + len(found) > COPIES:
            self._copies.clear()
        if len(found) <= COPIES:
            self._copies |= found
        return vectors


def _by_sqlite_vec(
    file: Database, vector: bytes, limit: int, among: array[int] | None
) -> list[tuple[int, float]]:
    """The same answer by sqlite-vec, which compares every vector."""
    wanted = min(limit, FEW)
    if among is None:
        rows = file.rows(_NEAREST, vector, wanted)
    else:
        rows = file.rows(_NEAREST_AMONG, vector, wanted, json.dumps(among.tolist()))
    best = sorted(rows, key=lambda row: (row[1], -row[0]))
    return [(rowid, distance * distance) for rowid, distance in best[:limit]]


def _read(
    file: Database, rowids: Sequence[int] | array[int], of: int = 0
) -> Iterator[tuple[int, bytes]]:
    """(chunk, vector) of each of these chunks. Where they are many of all `of` vectors, the
    whole table is read.
    """
    missing = len(rowids)
    if 0 < of < MANY * missing:
        wanted = bytearray(1 + max(rowids))  # a set of 100,000 would take 8 MB
        for rowid in rowids:
            wanted[rowid] = 1
        every = file.db.execute(_EVERY)
        found = (
            (rowid, vector) for rowid, vector in every if rowid < len(wanted) and wanted[rowid]
        )
    else:
        found = cast("Any", file.db.execute(VECTORS_OF_CHUNKS, (json.dumps(list(rowids)),)))
    for rowid, vector in found:
        missing -= 1
        yield rowid, vector
    if missing:
        raise apsw.CorruptError("a vector is missing")


MANY = 8
"""Where at least one in so many vectors is wanted, reading every one is quicker than asking for
each.
"""

VECTORS_OF_CHUNKS = (  # IN would look through all of them
    "SELECT v.rowid, v.embedding FROM json_each(?) j CROSS JOIN chunk_vec v ON v.rowid = "
    "j.value"
)
_EVERY = "SELECT rowid, embedding FROM chunk_vec"
_COUNT_FEW = "SELECT count(*) FROM (SELECT 1 FROM chunk WHERE vector > 0 LIMIT ?)"
_STORED_SINCE = "SELECT json_group_array(rowid) FROM chunk WHERE vector > ?"
_NEAREST = "SELECT rowid, distance FROM chunk_vec WHERE embedding MATCH vec_int8(?) AND k = ?"
_NEAREST_AMONG = f"{_NEAREST} AND rowid IN (SELECT value FROM json_each(?))"
