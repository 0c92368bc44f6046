"""Filters as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain
from typing import Any

from ..models import Filters
from .database import marks

OWN = "own"
"""The column that holds an entry's own words, not its neighbours'."""

SUPERSEDED = (
    # in this order, and without an index made for the query: the targets are few, the entries many
    "FROM supersedes s CROSS JOIN entry old ON old.own_id = s.target CROSS JOIN entry new ON new.rowid = s.entry "
    "WHERE +old.twin = 0 AND new.twin <> 1 "
    "AND (new.at > old.at OR (new.at = old.at AND new.source = old.source AND new.seq > old.seq))"
)
"""Every entry `old` that an entry `new` supersedes; the later counts alone, so that two cannot hide each other."""


def conditions(filters: Filters, *, singly: bool = False, rowid: str = "e.rowid") -> tuple[str, tuple[Any, ...]]:
    """SQL over the alias `e`, each condition led by AND, and its values. `singly`: the entries are known already.

    `rowid` is how the entry is called, which is all that is asked of it about tags and files.
    """
    parts: list[str] = []
    values: list[Any] = []

    def add(sql: str, *bound: Any) -> None:
        parts.append(f" AND {sql}")
        values.extend(bound)

    if filters.types:
        add(f"e.type IN {marks(filters.types)}", *filters.types)
        if "note" not in filters.types:
            add("e.type <> 'note'")  # what the index of the other types wants to hear
    if filters.tags:
        # a tag covers its children: `area` finds `area/kitchen`
        nested = [(tag, f"{tag}/", f"{tag}0") for tag in filters.tags]
        if singly:  # with the plus, the tags of the entry are looked at, not the entries of the tag
            ways = " OR ".join(["+name = ? OR (+name >= ? AND +name < ?)"] * len(nested))
            add(f"EXISTS (SELECT 1 FROM tag WHERE entry = {rowid} AND ({ways}))", *chain(*nested))
        else:
            each = "SELECT entry FROM tag WHERE name = ? UNION ALL SELECT entry FROM tag WHERE name >= ? AND name < ?"
            add(f"{rowid} IN ({' UNION ALL '.join([each] * len(nested))})", *chain(*nested))
    if filters.projects:
        add(f"e.project_key IN {marks(filters.projects)}", *filters.projects)
    if filters.files:
        # a whole path, its last parts, or a folder
        ways = " OR ".join(["path = ? OR substr(path, -?) = ? OR substr(path, 1, ?) = ?"] * len(filters.files))
        parts_of_path: list[Any] = []
        for path in filters.files:
            tail, head = f"/{path.lstrip('/')}", f"{path.rstrip('/')}/"
            parts_of_path += [path, len(tail), tail, len(head), head]
        add(f"{rowid} IN (SELECT entry FROM file WHERE {ways})", *parts_of_path)
    if filters.since:
        add(f"e.at >= ? AND {_LOCAL} >= ?", _midnight(filters.since, -1), _midnight(filters.since, 0))
    if filters.until:
        add(f"e.at < ? AND {_LOCAL} < ?", _midnight(filters.until, 2), _midnight(filters.until, 1))
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


@dataclass(frozen=True)
class Gate:
    """What lets chunks into a list: those that pass the filters, belong to `within` and hold the phrases."""

    filters: Filters
    within: Sequence[int] | None
    phrases: Sequence[str]

    def __post_init__(self) -> None:
        for name in ("within", "phrases"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def open(self) -> bool:
        """Whether everything passes."""
        return not self._conditions(singly=False)[0]

    def listing(self) -> tuple[str, tuple[Any, ...]]:
        """SQL that yields the rowid of each chunk that passes, and its values."""
        if conditions(replace(self.filters, tags=(), files=()))[0]:
            condition, values = self._conditions(singly=False)
            return f"SELECT a.rowid FROM entry e JOIN chunk a ON a.entry = e.rowid WHERE 1{condition}", values
        condition, values = self._conditions(singly=False, rowid="a.entry")
        return f"SELECT a.rowid FROM chunk a WHERE 1{condition}", values

    def check(self) -> tuple[str, tuple[Any, ...]]:
        """SQL that yields those that pass of the chunks given as JSON, and the values after that."""
        condition, values = self._conditions(singly=True)
        return (
            "SELECT a.rowid FROM json_each(?) j CROSS JOIN chunk a ON a.rowid = j.value "  # done in this order
            f"CROSS JOIN entry e ON e.rowid = a.entry WHERE 1{condition}"
        ), values

    def _conditions(self, *, singly: bool, rowid: str = "e.rowid") -> tuple[str, tuple[Any, ...]]:
        condition, values = conditions(self.filters, singly=singly, rowid=rowid)
        if self.within is not None:
            condition += f" AND {rowid} IN {marks(self.within)}"
            values = (*values, *self.within)
        for phrase in self.phrases:
            condition += (
                f" AND {rowid} IN (SELECT p.entry FROM chunk_fts w JOIN chunk p ON p.rowid = w.rowid "
                "WHERE w.chunk_fts MATCH ?)"
            )
            values = (*values, f"{OWN}: {phrase}")
        return condition, values


def _midnight(day: str, later: int) -> int:
    """So many days after a day, in UTC and as the index counts instants; wherever it is that day, it is near."""
    return (date.fromisoformat(day).toordinal() + later - _EPOCH_DAY) * _MICROSECONDS_A_DAY


_LOCAL = "e.at + 1000000 * e.utc_offset"
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROSECONDS_A_DAY = 86_400 * 10**6
