"""The vectors of passages: rows of the vec0 table `chunk_vec`, int8, compared by L2.

sqlite-vec 0.1.9 has ways of its own:

| sqlite-vec                                       | here                                   |
|--------------------------------------------------|----------------------------------------|
| fills slots of deleted rows in the newest chunk only | `tidy` makes the table anew        |
| fails on UPDATE of int8                          | `chunk_changed` deletes, `put` inserts |
| takes no `k` above 4,096                         | `nearest_of` compares all of them      |
| reads every vector to compare a few              | `nearest_of` compares what was read    |
| lets the first slot win among equal distances    | `nearest` asks on until all are there  |
| takes NaN without a word                         | `rows.quantise` refuses it             |
| compares bytes that became zero                  | `chunk.crc` is compared                |
| ends the process at a DELETE without a part of   | `missing` is asked before a change     |
| `chunk_vec_rowids`                               |                                        |

It keeps `chunk_size` vectors in one blob of the shadow table `chunk_vec_vector_chunks00`.
`chunk_vec_chunks` has the rowid of each slot and a bit for each slot in use, `chunk_vec_rowids`
the slot of each rowid. Many vectors are read from there: rows of `chunk_vec` come one by one.
"""

from __future__ import annotations

import json
import re
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import apsw

from ..models import Vector
from .conditions import BOUND_LIST

MOST_NEAREST = 4_096
"""The largest `k` that vec0 takes."""

SMALL, FEW_VECTORS, LARGE = 16, 1_000, 64
"""Slots in a chunk: 16 in a table of up to 1,000 vectors, else 64. docs/BENCHMARKS.md has the
sizes and times.
"""

USUAL_DIMENSIONS = 384
"""Dimensions of the table before any model was used: those of the shipped model."""

DEAD_OF = 10
"""The table is made anew when a tenth of its slots is dead."""

SHADOWS = {
    "chunk_vec_chunks": "chunk_id,size,validity,rowids",
    "chunk_vec_rowids": "rowid,id,chunk_id,chunk_offset",
    "chunk_vec_vector_chunks00": "rowid,vectors",
    "chunk_vec_info": "key,value",
}
"""The columns of each shadow table."""

Stored = tuple[int, bytes]
"""The rowid of a chunk, and its int8 vector."""

Neighbour = tuple[int, float]
"""The rowid of a chunk, and the distance of its vector."""


def vector_checksum(vector: bytes) -> int:
    """The checksum that `chunk.crc` has of a vector; 31 bit, which SQLite keeps in 4 bytes."""
    return zlib.crc32(vector) & 0x7FFFFFFF


class Vectors:
    """The vectors in an open index. Every method may raise apsw.SQLError or apsw.CorruptError
    where a shadow table is damaged.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    # -- changing them

    def create(self, dimensions: int, count: int) -> None:
        """Makes the table anew, empty, for about `count` vectors of so many dimensions."""
        self._db.execute("DROP TABLE IF EXISTS chunk_vec")
        self._db.execute(_TABLE.format(dimensions, _slots_for(count)))

    def put(self, rowid: int, vector: bytes) -> None:
        """Stores the vector of a chunk that has none: a change of `chunk.vector` deleted it."""
        self._db.execute(_INSERT, (rowid, vector))

    def rebuild_if_sparse(self) -> bool:
        """Makes the table of vectors anew if a tenth of its slots is unused, or if it has grown
        too large for its chunk size; returns True if it did.

        Slots of the chunk that is being filled are not dead.
        """
        dimensions, slots = self.shape()
        [(chunks, live)] = self._db.execute(_USE)
        dead = chunks * slots - live - slots
        if DEAD_OF * dead <= chunks * slots and slots >= _slots_for(live):
            return False
        stored = sorted(self.stored_since(0))
        self.create(dimensions, live)
        self._db.executemany(_INSERT, stored)
        return True

    # -- reading them

    def shape(self) -> tuple[int, int]:
        """(dimensions, slots in a chunk) of the table."""
        sql = self._db.execute("SELECT sql FROM sqlite_schema WHERE name = 'chunk_vec'").get
        numbers = re.findall(r"\d+", str(sql).partition("int8[")[2])
        if len(numbers) != 2:
            raise apsw.CorruptError("the table of vectors is missing")
        return int(numbers[0]), int(numbers[1])

    def count(self) -> int:
        """The number of vectors in the table."""
        return int(self._db.execute("SELECT count(*) FROM chunk_vec_rowids").get)

    def get_vectors(self, rowids: Collection[int]) -> dict[int, bytes]:
        """The vectors of these chunks; chunks that have none are left out.

        Each is read alone out of its blob: a statement would read the whole blob, 24 KB.
        """
        dimensions, _ = self.shape()
        vectors = {}
        with ExitStack() as stack:
            blob: apsw.Blob | None = None
            open_at = None
            for rowid, crc, at, slot in self._rows(_PLACES, json.dumps(list(rowids))):
                if not isinstance(at, int) or not isinstance(slot, int):
                    raise apsw.CorruptError(f"the vector of chunk {rowid} is missing")
                if blob is None:
                    blob = stack.enter_context(self._db.blob_open("main", *_BLOB, at, False))
                elif at != open_at:
                    blob.reopen(at)
                open_at = at
                begin = slot * dimensions
                if not 0 <= begin <= blob.length() - dimensions:
                    raise apsw.CorruptError(f"the vector of chunk {rowid} is missing")
                blob.seek(begin)
                vector = blob.read(dimensions)
                _check_vector(rowid, vector, crc)
                vectors[rowid] = vector
        return vectors

    def stored_since(self, change: int) -> Iterator[Stored]:
        """The vectors that were stored after this change of the index, chunk by chunk of the
        table.
        """
        wanted = dict(
            self._db.execute("SELECT rowid, crc FROM chunk WHERE vector > ?", (change,))
        )
        dimensions, _ = self.shape()
        blobs = self._db.execute(_BLOBS, (json.dumps(list(wanted)),))
        for validity, rowids, vectors in blobs:
            if not isinstance(vectors, bytes):
                raise apsw.CorruptError("a chunk of vectors has none")
            for slot, rowid in _used_slots(validity, rowids):
                if rowid in wanted:
                    vector = vectors[slot * dimensions : (slot + 1) * dimensions]
                    _check_vector(rowid, vector, wanted.pop(rowid))
                    yield rowid, vector
        if wanted:
            raise apsw.CorruptError(f"the vector of chunk {min(wanted)} is missing")

    def scan_nearest(self, vector: Vector, count: int) -> list[int]:
        """The `count` chunks whose vectors have the largest products with a unit vector, the
        largest first. All vectors are read, in half of the time that vec0 takes.
        """
        import numpy as np

        dimensions, _ = self.shape()
        used, rowids, products = [], [], []
        for validity, chunks, vectors in self._db.execute(_ALL_BLOBS):
            if not all(isinstance(blob, bytes) for blob in (validity, chunks, vectors)):
                raise apsw.CorruptError("a chunk of vectors has none")
            slots = 8 * len(validity)
            if len(chunks) != 8 * slots or len(vectors) != dimensions * slots:
                raise apsw.CorruptError("a chunk of vectors has a wrong length")
            matrix = np.frombuffer(vectors, np.int8).reshape(-1, dimensions)
            used.append(validity)
            rowids.append(chunks)
            products.append(matrix.astype(np.float32) @ vector)
        if not products:
            return []
        in_use = np.unpackbits(np.frombuffer(b"".join(used), np.uint8), bitorder="little") > 0
        of_slots = np.frombuffer(b"".join(rowids), np.int64)[in_use]
        closeness = np.concatenate(products)[in_use]
        if count < len(closeness):
            chosen = np.argpartition(-closeness, count)[:count]
            of_slots, closeness = of_slots[chosen], closeness[chosen]
        nearest: list[int] = of_slots[np.argsort(-closeness, kind="stable")].tolist()
        return nearest

    def nearest(self, vector: bytes, limit: int) -> list[Neighbour]:
        """The nearest vectors of all, by vec0, nearest first; of equals the later chunk."""
        if limit <= 0:
            return []
        k = limit + 1
        while k <= MOST_NEAREST:
            nearest = sorted(self._rows(_NEAREST, vector, k), key=_distance_key)
            is_all = len(nearest) < k
            if is_all and len(nearest) < len(self._rows(_WITH_VECTOR)):
                raise apsw.CorruptError("a vector is missing")
            if is_all or nearest[limit - 1][1] < nearest[-1][1]:
                rowids = [rowid for rowid, _ in nearest[:limit]]
                if len(self.get_vectors(rowids)) < len(rowids):
                    raise apsw.CorruptError("a vector without its chunk")
                return nearest[:limit]
            k *= 4  # equals beyond the last one may be of later chunks
        rowids = [rowid for (rowid,) in self._rows(_WITH_VECTOR)]
        return nearest_of(self.get_vectors(rowids), vector, limit)

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    # -- their soundness

    def find_missing_table(self) -> str | None:
        """A text that names the first shadow table of sqlite-vec that is missing or has wrong
        columns; None if all are right.
        """
        for table, columns in SHADOWS.items():
            if self._db.execute(_COLUMNS, (table,)).get != columns:
                return f"the table {table} is missing, or another one"
        return None

    def find_fault(self, dimensions: int | None) -> str | None:
        """The first fault of the table, None for a sound one of so many dimensions."""
        missing = self.find_missing_table()
        if missing:
            return missing
        made_for, slots = self.shape()
        if made_for != (dimensions or USUAL_DIMENSIONS) or slots not in (SMALL, LARGE):
            return f"the table of vectors is made for {made_for} dimensions, {slots} in a chunk"
        places = {}
        for chunk, validity, rowids in self._db.execute(_CHUNKS):
            for slot, rowid in _used_slots(validity, rowids):
                places[rowid] = (chunk, slot)
        rows = self._db.execute("SELECT rowid, chunk_id, chunk_offset FROM chunk_vec_rowids")
        if {rowid: (chunk, slot) for rowid, chunk, slot in rows} != places:
            return "the table of vectors does not find its own rows"
        try:
            number = sum(1 for _ in self.stored_since(0))
        except apsw.CorruptError as error:
            return str(error)
        if number != len(places):
            return f"{len(places) - number} vectors belong to no passage"
        self._rows(_NEAREST, bytes(made_for), 1)
        return None


def _slots_for(count: int) -> int:
    return SMALL if count <= FEW_VECTORS else LARGE


def _check_vector(rowid: int, vector: Any, crc: int) -> None:
    if not isinstance(vector, bytes) or vector_checksum(vector) != crc:
        raise apsw.CorruptError(f"the vector of chunk {rowid} is not what was stored")


def _used_slots(validity: Any, rowids: Any) -> Iterator[tuple[int, int]]:
    """(slot, rowid) of each slot in use, by the two blobs of a chunk."""
    if not isinstance(validity, bytes) or not isinstance(rowids, bytes):
        raise apsw.CorruptError("a chunk of vectors has no list of its rows")
    if len(rowids) != 64 * len(validity):
        raise apsw.CorruptError("a chunk of vectors has a list of another length")
    for slot, rowid in enumerate(array("q", rowids)):
        if validity[slot // 8] >> slot % 8 & 1:
            yield slot, rowid


def nearest_of(stored: Mapping[int, bytes], vector: bytes, limit: int) -> list[Neighbour]:
    """The nearest of these vectors, by the distances that vec0 gives, nearest first; of equals
    the later chunk.
    """
    import numpy as np

    asked = np.frombuffer(vector, np.int8).astype(np.int32)
    joined = b"".join(stored.values())
    if len(joined) != len(stored) * len(vector):
        raise apsw.CorruptError("a vector has a wrong length")
    vectors = np.frombuffer(joined, np.int8).reshape(-1, len(vector))
    differences = vectors - asked
    squares = np.einsum("ij,ij->i", differences, differences)
    distances = np.sqrt(squares.astype(np.float32)).tolist()
    ranked = sorted(zip(stored, distances, strict=True), key=_distance_key)
    return ranked[: max(0, limit)]


def _distance_key(neighbour: Neighbour) -> tuple[float, int]:
    rowid, distance = neighbour
    return distance, -rowid


_TABLE = "CREATE VIRTUAL TABLE chunk_vec USING vec0 (embedding int8[{}], chunk_size={})"
_COLUMNS = "SELECT group_concat(name) FROM pragma_table_info(?)"
_INSERT = "INSERT INTO chunk_vec (rowid, embedding) VALUES (?, vec_int8(?))"
_USE = "SELECT (SELECT count(*) FROM chunk_vec_chunks), (SELECT count(*) FROM chunk_vec_rowids)"
_NEAREST = "SELECT rowid, distance FROM chunk_vec WHERE embedding MATCH vec_int8(?) AND k = ?"
_BLOB = ("chunk_vec_vector_chunks00", "vectors")
_PLACES = f"""
    SELECT c.rowid, c.crc, r.chunk_id, r.chunk_offset
    FROM chunk c LEFT JOIN chunk_vec_rowids r ON r.rowid = c.rowid
    WHERE c.rowid IN {BOUND_LIST} AND c.vector > 0"""
_WITH_VECTOR = "SELECT rowid FROM chunk WHERE vector > 0"
_CHUNKS = "SELECT chunk_id, validity, rowids FROM chunk_vec_chunks"
_ALL_BLOBS = """
    SELECT c.validity, c.rowids, v.vectors
    FROM chunk_vec_chunks c JOIN chunk_vec_vector_chunks00 v ON v._rowid_ = c.chunk_id"""
_BLOBS = f"""{_ALL_BLOBS}
    WHERE c.chunk_id IN (SELECT chunk_id FROM chunk_vec_rowids WHERE rowid IN {BOUND_LIST})"""
