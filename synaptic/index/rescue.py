"""The table of vectors, and vectors that outlive the table they were stored in: embedding takes
long.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import apsw

VECTORS_IN_A_BLOCK = 32
"""Of sqlite-vec; more would waste room in a small index."""

VECTOR_TABLES = frozenset(
    f"chunk_vec_{part}" for part in ("chunks", "info", "rowids", "vector_chunks00")
)
"""The tables that sqlite-vec keeps `chunk_vec` in. Where one is missing, a question to
`chunk_vec` ends the process.
"""

# in this order: vec0 answers one rowid quickly
JOIN_VECTORS = "CROSS JOIN chunk_vec v ON v.rowid = c.rowid"


def set_aside(db: apsw.Connection) -> dict[str, Any]:
    """Keeps the vectors of an index of any version, with the hashes of their texts, in a
    temporary table, `kept`.

    Returns what `meta` says of their model; nothing where they cannot be read as vectors of one
    model.
    """
    with suppress(apsw.Error):
        about: dict[str, Any] = dict(db.execute(_META).fetchall())  # type: ignore[arg-type]
        model, dimensions = about.get("model"), about.get("dimensions")
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema").fetchall()}
        if tables >= VECTOR_TABLES and isinstance(model, str) and isinstance(dimensions, int):
            db.execute("CREATE TEMP TABLE IF NOT EXISTS kept (hash INTEGER, embedding BLOB)")
            db.execute(f"INSERT INTO temp.kept {_VECTORS}", (dimensions,))
            db.execute("CREATE INDEX IF NOT EXISTS temp.kept_hash ON kept (hash)")
            return about
    return {}


def create_vectors(db: apsw.Connection, dimensions: int) -> None:
    """Makes an empty table for vectors of `dimensions` components, in the place of the old one."""
    db.execute("DROP TABLE IF EXISTS chunk_vec")
    size = VECTORS_IN_A_BLOCK
    db.execute(
        f"CREATE VIRTUAL TABLE chunk_vec USING vec0 (embedding int8[{int(dimensions)}], "
        f"chunk_size = {size})"
    )


_META = "SELECT key, value FROM meta WHERE key IN ('model', 'dimensions', 'usual')"
_VECTORS = (
    "SELECT c.hash, v.embedding FROM chunk c JOIN chunk_vec v ON v.rowid = c.rowid "
    "WHERE c.vector > 0 AND length(v.embedding) = ?"
)
