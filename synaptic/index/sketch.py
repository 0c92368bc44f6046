"""The nearest vectors: found by what is roughly known of their components, in memory, then compared in full.

Of each component is kept whether it lies above each of three LEVELS; in how many of these answers two vectors differ
is about how far apart they are. Signs alone miss some of the nearest among 100,000.

sqlite-vec stores vectors in blocks, each with a bitmap of the places in use. It writes to the last block only and
clears places in the others: the bitmaps tell which blocks changed, whoever changed them. Reading a place of a block
takes 1 us this way; asking the virtual table for the row takes 20.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import apsw

from .rescue import VECTORS_IN_A_BLOCK as BLOCK
from .rows import VECTOR_SCALE

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

LEVELS = (-0.8, 0.0, 0.8)
"""In standard deviations of the components of a unit vector."""

OVERSAMPLED = 6
"""So many times more vectors are compared in full than are asked for: on LoCoMo and recombined texts 0.998 of
the nearest 10 among 100,000 are found."""

ALL_BELOW = 1_000
"""So few are all compared in full."""

FAR = 2**16 - 1

Passing = Callable[[list[int]], set[int]]
"""Which of these chunks count."""


class Sketch:
    """What is roughly known of all vectors of a table, 152 bytes each. Ask it after `follow`."""

    def __init__(self, dimensions: int) -> None:
        import numpy as np

        self._dimensions = dimensions
        self._blocks: dict[int, bytes] = {}
        self._levels = [level * VECTOR_SCALE / dimensions**0.5 for level in LEVELS]
        self._bits: Array = np.zeros((-(-len(LEVELS) * -(-dimensions // 8) // 8), 0), dtype=np.uint64)
        self._rowids: Array = np.zeros(0, dtype=np.int64)
        self._room: tuple[Array, Array] = self._bits, self._rowids

    def follow(self, db: apsw.Connection) -> None:
        """None; what was written since the last time is known. Raises apsw.CorruptError where that makes no sense."""
        found: dict[int, bytes] = dict(db.execute("SELECT chunk_id, validity FROM chunk_vec_chunks ORDER BY chunk_id"))
        known, last = self._blocks, max(self._blocks, default=0)
        if last not in found:
            known = {}  # a block before it may have been the last for a while, and written to
        stale = [block for block, used in found.items() if block >= last or known.get(block) != used]
        self._blocks = {}  # an error on the way must not leave half of it
        self._make_room(list(known), list(found))
        self._read(db, stale, found)
        self._blocks = found

    def nearest(
        self,
        db: apsw.Connection,
        vector: bytes,
        limit: int,
        *,
        among: array[int] | None = None,
        passing: Passing | None = None,
    ) -> list[tuple[int, float]]:
        """(chunk, squared distance) of the nearest, nearest first; of equals the later.

        Only those of `among` count, or those that `passing` lets through.
        """
        import numpy as np

        query = np.frombuffer(vector, dtype=np.int8)
        if len(query) != self._dimensions:
            raise apsw.CorruptError(f"its vectors have {self._dimensions} components, not {len(query)}")
        counted = self._rowids > 0 if among is None else self._those(among)
        distances = np.where(counted, self._differences(query), np.uint16(FAR))
        few = np.count_nonzero(counted) <= ALL_BELOW
        places = self._closest(distances, ALL_BELOW if few else OVERSAMPLED * limit, passing)
        rowids = self._rowids[places]
        stored = np.frombuffer(self._components(db, places.tolist()), dtype=np.int8).reshape(-1, self._dimensions)
        apart = stored.astype(np.int32) - query
        exact = np.einsum("ij,ij->i", apart, apart)
        best = np.lexsort((-rowids, exact))[:limit]
        return list(zip(rowids[best].tolist(), exact[best].tolist(), strict=True))

    def _closest(self, distances: Array, wanted: int, passing: Passing | None) -> Array:
        """The places that count that differ least, at least `wanted` where there are so many."""
        import numpy as np

        upto = np.cumsum(np.bincount(distances, minlength=FAR + 1)[:FAR])
        total, sought = int(upto[-1]), wanted
        while True:
            furthest = np.searchsorted(upto, sought) if sought < total else FAR - 1
            places = np.flatnonzero(distances <= furthest)
            if passing is None:
                return cast("Array", places)
            rowids = self._rowids[places].tolist()
            among = passing(rowids)
            kept = places[np.fromiter((rowid in among for rowid in rowids), dtype=bool, count=len(rowids))]
            if len(kept) >= wanted or sought >= total:
                return cast("Array", kept)
            sought = int(sought * min(20.0, 1.2 * wanted / max(1, len(kept))))

    def _those(self, rowids: array[int]) -> Array:
        """Of every place, whether one of these chunks is there."""
        import numpy as np

        asked = np.frombuffer(rowids, dtype=np.int64)
        is_asked = np.zeros(1 + max(self._rowids.max(initial=0), asked.max(initial=0)), dtype=np.bool_)
        is_asked[asked] = True
        return cast("Array", is_asked[self._rowids])

    def _differences(self, query: Array) -> Array:
        """Of every place, in how many bits it differs from the query."""
        import numpy as np

        counts = np.zeros(self._bits.shape[1], dtype=np.uint16)
        for bits, asked in zip(self._bits, self._rough(query[None, :])[:, 0], strict=True):
            counts += np.bitwise_count(bits ^ asked)
        return counts

    def _rough(self, vectors: Array) -> Array:
        """The bits of these vectors, 64 in a number: a column for each vector."""
        import numpy as np

        packed = np.concatenate([np.packbits(vectors > level, axis=1) for level in self._levels], axis=1)
        return cast("Array", np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64).T)

    def _make_room(self, known: list[int], found: list[int]) -> None:
        """Blocks that stay move to their new places; a block that was added finds room behind them most of the time."""
        size = len(found) * BLOCK
        if known != found[: len(known)] or size > len(self._room[1]):
            self._move(known, found, len(found) + len(found) // 16)
        self._bits, self._rowids = self._room[0][:, :size], self._room[1][:size]

    def _move(self, known: list[int], found: list[int], room: int) -> None:
        import numpy as np

        place = {block: number for number, block in enumerate(known)}
        stay = [(new, place[block]) for new, block in enumerate(found) if block in place]
        bits = np.zeros((len(self._bits), room, BLOCK), dtype=np.uint64)
        rowids = np.zeros((room, BLOCK), dtype=np.int64)
        if stay:
            new, old = (list(numbers) for numbers in zip(*stay, strict=True))
            bits[:, new] = self._bits.reshape(len(bits), -1, BLOCK)[:, old]
            rowids[new] = self._rowids.reshape(-1, BLOCK)[old]
        self._room = bits.reshape(len(bits), -1), rowids.reshape(-1)

    def _read(self, db: apsw.Connection, stale: list[int], found: dict[int, bytes]) -> None:
        import numpy as np

        number_of = {block: number for number, block in enumerate(found)}
        few = len(stale) < len(found) // 8
        rows = db.executemany(_ONE_BLOCK, ((block,) for block in stale)) if few else db.execute(_EVERY_BLOCK)
        wanted = set(stale)
        for block, rowids, vectors in rows:
            if block not in wanted:
                continue
            wanted.discard(block)
            if (len(found[block]), len(rowids), len(vectors)) != (BLOCK // 8, 8 * BLOCK, BLOCK * self._dimensions):
                raise apsw.CorruptError("a block of vectors has a wrong size")
            here = slice(number_of[block] * BLOCK, (number_of[block] + 1) * BLOCK)
            used = np.unpackbits(np.frombuffer(found[block], dtype=np.uint8), bitorder="little")
            self._rowids[here] = np.frombuffer(rowids, dtype=np.int64) * used
            self._bits[:, here] = self._rough(np.frombuffer(vectors, dtype=np.int8).reshape(BLOCK, -1))
        if wanted:
            raise apsw.CorruptError("a block of vectors is missing")

    def _components(self, db: apsw.Connection, places: list[int]) -> bytes:
        """The vectors at these places, one after another."""
        if not places:
            return b""
        blocks, size = list(self._blocks), self._dimensions
        found = []
        with db.blob_open("main", "chunk_vec_vector_chunks00", "vectors", blocks[places[0] // BLOCK], False) as blob:
            here = places[0] // BLOCK
            for place in places:
                if place // BLOCK != here:  # within a block SQLite remembers the way
                    here = place // BLOCK
                    blob.reopen(blocks[here])
                blob.seek(place % BLOCK * size)
                found.append(blob.read(size))
        return b"".join(found)


_EVERY_BLOCK = (
    "SELECT c.chunk_id, c.rowids, v.vectors FROM chunk_vec_chunks c "
    "JOIN chunk_vec_vector_chunks00 v ON v._rowid_ = c.chunk_id"
)
_ONE_BLOCK = f"{_EVERY_BLOCK} WHERE c.chunk_id = ?"
