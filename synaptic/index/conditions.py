"""Filters as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..models import Filters
from .database import marks

OWN_COLUMNS = "{title tags text}"
"""The columns that hold an entry's own words, not its neighbours'."""

SUPERSEDED = (
    "FROM entry old JOIN supersedes s ON s.target = old.own_id JOIN entry new ON new.rowid = s.entry "
    "WHERE old.twin = 0 AND new.twin <> 1 "
    "AND (new.at > old.at OR (new.at = old.at AND new.source = old.source AND new.seq > old.seq))"
)
"""Every entry `old` that an entry `new` supersedes; the later counts alone, so that two cannot hide each other."""


def conditions(filters: Filters) -> tuple[str, tuple[Any, ...]]:
    """SQL over the alias `e`, each condition led by AND, and its values."""
    parts: list[str] = []
    values: list[Any] = []

    def add(sql: str, *bound: Any) -> None:
        parts.append(f" AND {sql}")
        values.extend(bound)

    if filters.types:
        add(f"e.type IN {marks(filters.types)}", *filters.types)
    if filters.tags:
        # a tag covers its children: `area` finds `area/kitchen`
        nested = " OR ".join(["name = ? OR (name >= ? AND name < ?)"] * len(filters.tags))
        bound: list[Any] = [value for tag in filters.tags for value in (tag, f"{tag}/", f"{tag}0")]
        add(f"e.rowid IN (SELECT entry FROM tag WHERE {nested})", *bound)
    if filters.projects:
        add(f"e.project_key IN {marks(filters.projects)}", *filters.projects)
    if filters.files:
        # a whole path, its last parts, or a folder
        ways = " OR ".join(["path = ? OR substr(path, -?) = ? OR substr(path, 1, ?) = ?"] * len(filters.files))
        parts_of_path: list[Any] = []
        for path in filters.files:
            tail, head = f"/{path.lstrip('/')}", f"{path.rstrip('/')}/"
            parts_of_path += [path, len(tail), tail, len(head), head]
        add(f"e.rowid IN (SELECT entry FROM file WHERE {ways})", *parts_of_path)
    if filters.since:
        add("e.date >= ?", filters.since)
    if filters.until:
        add("e.date <= ?", filters.until)
    if filters.min_importance is not None:
        add("coalesce(e.importance, 5) >= ?", filters.min_importance)
    if filters.max_importance is not None:
        add("coalesce(e.importance, 5) <= ?", filters.max_importance)
    if filters.parent:
        add("e.parent = ?", filters.parent)
    if filters.has_body is not None:
        add(f"e.body_end {'>' if filters.has_body else '='} e.body_start")
    if filters.has_files is not None:
        add(f"{'' if filters.has_files else 'NOT '}EXISTS (SELECT 1 FROM file WHERE entry = e.rowid)")
    return "".join(parts), tuple(values)


def shown(filters: Filters) -> tuple[str, tuple[Any, ...]]:
    """The conditions of a list: what a later entry supersedes is left out unless it is asked for."""
    condition, values = conditions(filters)
    if not filters.include_superseded:
        condition += f" AND e.rowid NOT IN (SELECT old.rowid {SUPERSEDED})"
    return condition, values


def passing(filters: Filters, within: Sequence[int] | None, phrases: Sequence[str]) -> tuple[str, tuple[Any, ...]]:
    """SQL that yields the rowids of the chunks, `a.rowid`, that may be found, and its values; empty where all may."""
    condition, values = conditions(filters)
    if within is not None:
        condition += f" AND e.rowid IN {marks(within)}"
        values = (*values, *within)
    for phrase in phrases:
        condition += (
            " AND e.rowid IN (SELECT p.entry FROM chunk_fts w JOIN chunk p ON p.rowid = w.rowid "
            "WHERE w.chunk_fts MATCH ?)"
        )
        values = (*values, f"{OWN_COLUMNS}: {phrase}")
    if not condition:
        return "", ()
    return f"SELECT a.rowid FROM chunk a JOIN entry e ON e.rowid = a.entry WHERE 1{condition}", values
