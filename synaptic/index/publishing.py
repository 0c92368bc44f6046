"""Reads what a publication is made of: the rows of each file, and their vectors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .conditions import BOUND_LIST
from .index import Index

_MADE_OF = """
    SELECT path, digest || ' ' || coalesce(group_concat(row_hash || ' ' || twin || ' '
        || coalesce(other_id, '') || ' ' || change || ' ' || vectors, ' '), '')
    FROM (SELECT s.path, s.digest, e.row_hash, e.twin, e.other_id,
            coalesce((SELECT number FROM seen WHERE id = e.id), 0) change,
            (SELECT count(*) FROM chunk WHERE entry = e.rowid AND vector > 0) vectors
        FROM source s LEFT JOIN entry e ON e.source = s.id ORDER BY s.id, e.seq)
    GROUP BY path"""
_SETTLED = """
    SELECT e.own_id, e.twin, e.other_id, coalesce((SELECT number FROM seen WHERE id = e.id), 0)
    FROM entry e JOIN source s ON s.id = e.source WHERE s.path = ?"""
_MEANT = """
    SELECT c.hash, v.embedding, t.codes FROM source s JOIN entry e ON e.source = s.id
    JOIN chunk c ON c.entry = e.rowid JOIN chunk_vec v ON v.rowid = c.rowid
    JOIN token t ON t.chunk = c.rowid WHERE s.path = ? AND c.vector > 0"""


def published_consents(index: Index, ids: Sequence[str]) -> dict[tuple[str, str], Any]:
    """Maps (id, path) of a published preference to the person or agent who stands for it.
    Journals may share an id.
    """
    sql = f"""
        SELECT e.id, s.path, e.consent, e.consent_by FROM entry e
        JOIN source s ON s.id = e.source WHERE e.id IN {BOUND_LIST}"""
    rows = index.engine.rows(sql, json.dumps(ids))
    return {(id, path): consent for id, path, *consent in rows}


def sample_ids(index: Index) -> list[str]:
    """Up to 1,000 ids, by which another machine knows the journal again."""
    return index.engine.column("SELECT own_id FROM entry ORDER BY at LIMIT 1000")


def content_versions(index: Index) -> dict[str, str]:
    """Maps the path of each file to a text of everything from which its rows are made."""
    return dict(index.engine.rows(_MADE_OF))


def id_decisions(index: Index, path: str) -> dict[str, tuple[int, str | None, int]]:
    """Maps the own id of each entry of a file to (`twin`, `other_id`, the number of the
    change that brought its text).
    """
    return {own_id: tuple(rest) for own_id, *rest in index.engine.rows(_SETTLED, path)}


def vectors_by_text_hash(index: Index, path: str) -> dict[int, tuple[bytes, bytes]]:
    """Maps the hash of the text of each passage of a file to its vector and codes."""
    return {hash: (vector, codes) for hash, vector, codes in index.engine.rows(_MEANT, path)}
