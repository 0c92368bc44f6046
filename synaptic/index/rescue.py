"""Vectors that outlive the schema they were stored under: embedding is what takes long in a rebuild."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import apsw

VECTORS_IN_A_BLOCK = 32
"""Of sqlite-vec; more would waste room in a small index."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The vectors of one model, each with the hash of the text it was made of."""

    model: str
    dimensions: int
    vectors: list[tuple[int, bytes]]


def take(db: apsw.Connection) -> Kept | None:
    """What an index of whatever version holds; None where it cannot be read as vectors of one model."""
    with suppress(apsw.Error):
        model, dimensions = (db.execute(_META, (key,)).get for key in ("model", "dimensions"))
        whole = db.execute("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'chunk_vec_%'").get == 4
        if whole and isinstance(model, str) and isinstance(dimensions, int):
            vectors = cast("list[tuple[int, bytes]]", db.execute(_VECTORS).fetchall())
            sound = [(hash_, vector) for hash_, vector in vectors if len(vector) == dimensions]
            return Kept(model, dimensions, sound)
    return None


def give(db: apsw.Connection, kept: Kept) -> None:
    """None; texts that are indexed through this connection take these vectors over. Within a transaction."""
    set_aside(db, kept.vectors)
    create_vectors(db, kept.dimensions)
    db.executemany("INSERT INTO meta VALUES (?, ?)", (("model", kept.model), ("dimensions", kept.dimensions)))


def accesses(db: apsw.Connection) -> list[tuple[str, int, int]]:
    """The rows of `access` of an index of whatever version."""
    with suppress(apsw.Error):
        return cast("list[tuple[str, int, int]]", db.execute("SELECT id, count, at FROM access").fetchall())
    return []


def set_aside(db: apsw.Connection, vectors: list[tuple[int, bytes]] | None = None) -> None:
    """None; these vectors, without them those of the index, wait in a table of this connection for equal texts."""
    db.execute("CREATE TEMP TABLE IF NOT EXISTS kept (hash INTEGER, embedding BLOB)")
    if vectors is None:
        db.execute(f"INSERT INTO temp.kept {_VECTORS}")
    else:
        db.executemany("INSERT INTO temp.kept VALUES (?, ?)", vectors)
    db.execute("CREATE INDEX IF NOT EXISTS temp.kept_hash ON kept (hash)")


def create_vectors(db: apsw.Connection, dimensions: int) -> None:
    """None; there is an empty table for vectors of so many components."""
    size = VECTORS_IN_A_BLOCK
    db.execute(f"CREATE VIRTUAL TABLE chunk_vec USING vec0 (embedding int8[{int(dimensions)}], chunk_size = {size})")


_META = "SELECT value FROM meta WHERE key = ?"
_VECTORS = "SELECT c.hash, v.embedding FROM chunk c JOIN chunk_vec v ON v.rowid = c.rowid WHERE c.vector = 1"
