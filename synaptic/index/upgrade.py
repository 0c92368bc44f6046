"""Carries over into a new index the data of an older version that no file of the journal
contains.

These are the counts of reads, the numbers of changes, and the vectors, of which each took the
model milliseconds. A vector goes by the hash of the text that was embedded: it waits in the
table `spare` until a sync meets that text, and the sync that has read the whole journal drops
the table. So a kill at any moment costs no vector.

Every schema from this one on has the view `meaning` for this, older and newer ones alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import apsw

from .vectors import Vectors

MEANINGS = (
    "SELECT hash, embedding, codes FROM meaning",
    # 0.2 and before have no view
    """SELECT hash, embedding, codes FROM chunk JOIN vector ON vector.chunk = chunk.rowid
    JOIN token ON token.chunk = chunk.rowid""",
    # left by an upgrade that was not finished
    "SELECT hash, embedding, codes FROM spare",
)
MODEL = ("model", "dimensions", "usual")
"""Rows of `meta` that say by which model the vectors are."""


def carry_over_old_index(old_db: apsw.Connection, new_db: apsw.Connection) -> None:
    """Copies read counts, change numbers and vectors from an index of another version into a
    new one, in one transaction. Rows that cannot be read are left out.
    """
    with new_db:
        for table in ("access", "seen"):
            rows = _readable_rows(old_db, f"SELECT * FROM {table}")
            new_db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", rows)
        meta = dict(_readable_rows(old_db, "SELECT key, value FROM meta"))
        dimensions = meta.get("dimensions")
        if not isinstance(dimensions, int) or "model" not in meta:
            return
        model = [(key, meta[key]) for key in MODEL if key in meta]
        new_db.executemany("INSERT INTO meta VALUES (?, ?)", model)
        new_db.execute(_SPARE)
        for sql in MEANINGS:
            of_this_length = f"SELECT * FROM ({sql}) WHERE length(embedding) = {dimensions}"
            new_db.executemany(_ADD_SPARE, _readable_rows(old_db, of_this_length))
        Vectors(new_db).create(dimensions, count_spare(new_db))


def count_spare(db: apsw.Connection) -> int:
    """The number of vectors that wait for their texts; 0 where there is no such table."""
    is_there = db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'spare'").get
    return int(db.execute("SELECT count(*) FROM spare").get) if is_there else 0


def drop_spare(db: apsw.Connection) -> None:
    """Drops the table of vectors that were carried over and that no text has used."""
    db.execute("DROP TABLE IF EXISTS spare")


def _readable_rows(db: apsw.Connection, sql: str) -> Iterator[Any]:
    """The rows of a query, as far as they can be read."""
    with suppress(apsw.Error, UnicodeDecodeError):
        yield from db.execute(sql)


_SPARE = """
    CREATE TABLE spare (
        hash INTEGER PRIMARY KEY, embedding BLOB NOT NULL, codes BLOB NOT NULL)"""
_ADD_SPARE = "INSERT OR IGNORE INTO spare VALUES (?, ?, ?)"
OF_SPARE = "SELECT embedding, codes FROM spare WHERE hash = ?"
