"""Finds the entries that links join, and those that nothing else names."""

from __future__ import annotations

import json
from collections.abc import Sequence

from .conditions import BOUND_LIST
from .index import Index

_JOINED = """
    SELECT e.rowid FROM (
        SELECT n.entry other FROM link l JOIN name n ON n.key = l.key AND n.own = 1
        WHERE l.entry = ?
        UNION SELECT l.entry FROM name n CROSS JOIN link l ON l.key = n.key
        WHERE n.entry = ? AND n.own = 1) AS beside
    JOIN entry e ON e.rowid = other AND e.twin = 0 WHERE other <> ?
    ORDER BY e.at DESC, e.own_id LIMIT ?"""
_NAMED_BY_OTHERS = f"""
    WITH these AS (SELECT rowid, own_id FROM entry WHERE own_id IN {BOUND_LIST}),
    others AS (SELECT rowid, parent FROM entry WHERE rowid NOT IN (SELECT rowid FROM these))
    SELECT own_id FROM these WHERE own_id IN (SELECT parent FROM others)
    OR own_id IN (SELECT target FROM supersedes WHERE entry IN (SELECT rowid FROM others))
    OR rowid IN (SELECT n.entry FROM name n JOIN link l ON l.key = n.key
                 WHERE n.own = 1 AND l.entry IN (SELECT rowid FROM others))"""


def linked_neighbours(index: Index, rowid: int, most: int) -> list[int]:
    """The entries that link to this one, or that it links to; at most so many."""
    return index.engine.column(_JOINED, rowid, rowid, rowid, most)


def links_without_target(index: Index) -> list[tuple[int, int]]:
    """(entry, key) of each link whose key is no name."""
    return index.engine.rows("""
        SELECT l.entry, l.key FROM link l JOIN entry e ON e.rowid = l.entry
        WHERE e.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM name n WHERE n.key = l.key)""")


def referenced_ids(index: Index, ids: Sequence[str]) -> set[str]:
    """The ids of `ids` that any other entry links to, continues or supersedes."""
    return set(index.engine.column(_NAMED_BY_OTHERS, json.dumps(ids)))
