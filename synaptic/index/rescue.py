"""The table of vectors, and vectors that outlive the schema they were stored under: embedding takes long."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import apsw

VECTORS_IN_A_BLOCK = 32
"""Of sqlite-vec; more would waste room in a small index."""

VECTOR_TABLES = frozenset(f"chunk_vec_{part}" for part in ("chunks", "info", "rowids", "vector_chunks00"))
"""The tables that sqlite-vec keeps `chunk_vec` in. Where one is missing, a question to `chunk_vec` ends the process."""

JOIN_VECTORS = "CROSS JOIN chunk_vec v ON v.rowid = c.rowid"  # in this order: vec0 answers one rowid quickly


@dataclass(frozen=True, slots=True)
class Rescued:
    """The vectors of one model, each with the hash of the text it was made of."""

    model: str
    dimensions: int
    vectors: list[tuple[int, bytes]]


def take(db: apsw.Connection) -> Rescued | None:
    """The vectors of an index of any version; None where they cannot be read as vectors of one model."""
    with suppress(apsw.Error):
        model, dimensions = (db.execute(_META, (key,)).get for key in ("model", "dimensions"))
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema").fetchall()}
        if tables >= VECTOR_TABLES and isinstance(model, str) and isinstance(dimensions, int):
            vectors = cast("list[tuple[int, bytes]]", db.execute(_VECTORS).fetchall())
            sound = [(hash_, vector) for hash_, vector in vectors if len(vector) == dimensions]
            return Rescued(model, dimensions, sound)
    return None


def give(db: apsw.Connection, rescued: Rescued) -> None:
    """Keeps these vectors and their model for equal texts that this connection indexes. Needs an open transaction."""
    set_aside(db, rescued.vectors)
    create_vectors(db, rescued.dimensions)
    db.executemany("INSERT INTO meta VALUES (?, ?)", (("model", rescued.model), ("dimensions", rescued.dimensions)))


def accesses(db: apsw.Connection) -> list[tuple[str, int, int]]:
    """The rows of `access` of an index of any version."""
    with suppress(apsw.Error):
        return cast("list[tuple[str, int, int]]", db.execute("SELECT id, count, at FROM access").fetchall())
    return []


def set_aside(db: apsw.Connection, vectors: list[tuple[int, bytes]] | None = None) -> None:
    """Keeps these vectors, by default those of the index, in a table of this connection, `kept`, for equal texts."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS kept (hash INTEGER, embedding BLOB)")
    if vectors is None:
        db.execute(f"INSERT INTO temp.kept {_VECTORS}")
    else:
        db.executemany("INSERT INTO temp.kept VALUES (?, ?)", vectors)
    db.execute("CREATE INDEX IF NOT EXISTS temp.kept_hash ON kept (hash)")


def create_vectors(db: apsw.Connection, dimensions: int) -> None:
    """Makes an empty table for vectors of `dimensions` components, in the place of the old one."""
    db.execute("DROP TABLE IF EXISTS chunk_vec")
    size = VECTORS_IN_A_BLOCK
    db.execute(f"CREATE VIRTUAL TABLE chunk_vec USING vec0 (embedding int8[{int(dimensions)}], chunk_size = {size})")


_META = "SELECT value FROM meta WHERE key = ?"
_VECTORS = "SELECT c.hash, v.embedding FROM chunk c JOIN chunk_vec v ON v.rowid = c.rowid WHERE c.vector > 0"
