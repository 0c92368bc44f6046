"""Filters as SQL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from ..language.words import match
from ..models import OF_SESSIONS, Filters
from ..notes.marks import field_words, link_key

OWN = "own"
"""The column that holds an entry's own words, not its neighbours'."""

THESE = "(SELECT value FROM json_each(?))"
"""SQL for a list that is bound as one JSON value: SQLite takes 32,766 values, and expressions
that are 1,000 deep.
"""

SUPERSEDED = (
    # in this order, and without an index made for the query: the targets are few, the entries
    # many
    "FROM supersedes s CROSS JOIN entry old ON old.own_id = s.target CROSS JOIN entry new "
    "ON new.rowid = s.entry "
    "WHERE +old.twin = 0 AND new.twin <> 1 AND ((new.dated, new.at) > (old.dated, old.at) "
    "OR ((new.dated, new.at) = (old.dated, old.at) AND new.source = old.source AND new.seq "
    "> old.seq) "
    "OR NOT EXISTS (WITH RECURSIVE replaced (id) AS (SELECT target FROM supersedes WHERE "
    "entry = old.rowid "
    "UNION SELECT t.target FROM replaced CROSS JOIN entry e ON e.own_id = replaced.id "
    "CROSS JOIN supersedes t "
    "ON t.entry = e.rowid) SELECT 1 FROM replaced WHERE id = new.own_id))"
)
"""SQL for every entry `old` that an entry `new` supersedes. Of entries that supersede each
other, also in a circle,
only a later one does: they would all be hidden."""

SOURCE = (
    "coalesce(e.via, (SELECT iif(path GLOB '@*/*', substr(path, 1, instr(path, '/') - 1), "
    "'by hand') "
    "FROM source WHERE id = e.source))"
)
"""SQL for what `Filters.sources` compares."""

COUNTED = {
    "source": SOURCE,
    "author": """coalesce(e."by", '')""",
    "day": "iif(e.dated, e.date, NULL)",
    "week": "iif(e.dated, date(e.date, 'weekday 0', '-6 days'), NULL)",  # its Monday
}
"""SQL for what entries are counted by."""


def conditions(
    filters: Filters, *, singly: bool = False, rowid: str = "e.rowid"
) -> tuple[str, tuple[Any, ...]]:
    """The filters as SQL conditions on the alias `e`, each led by AND, and their values.

    `singly`: given entries are checked, so the tags of each are read instead of all entries
    with a tag. `rowid` is the SQL name of the entry's rowid; the filters by tag and by file use
    no other column of the entry.
    """
    parts: list[str] = []
    values: list[Any] = []

    def add(sql: str, *bound: Any) -> None:
        parts.append(f" AND {sql}")
        values.extend(bound)

    if filters.types:
        add(f"e.type IN {THESE}", json.dumps(filters.types))
        if "note" not in filters.types:
            add("e.type <> 'note'")  # what the index of the other types wants to hear
    if filters.tags:
        # a tag covers its children: `area` finds `area/kitchen`
        tags = json.dumps(filters.tags)
        if singly:
            add(f"EXISTS ({_TAGS_OF_ENTRY.format(rowid=rowid)})", tags)
        else:
            add(f"{rowid} IN ({_ENTRIES_OF_TAGS})", tags, tags)
    if filters.projects:
        add(f"e.project_key IN {THESE}", json.dumps(filters.projects))
    if filters.files:
        # a whole path, its last parts, or a folder
        ends = [
            (path, f"/{path.lstrip('/')}", f"{path.rstrip('/')}/") for path in filters.files
        ]
        ways = [(path, tail, len(tail), head, len(head)) for path, tail, head in ends]
        add(f"{rowid} IN ({_ENTRIES_OF_FILES})", json.dumps(ways))
    if filters.paths:
        add(
            f"e.source IN ({_SOURCES_OF_PATHS})",
            json.dumps([glob for path in filters.paths for glob in _globs(path)]),
        )
    if filters.words:
        add(
            f"{rowid} IN ({_ENTRIES_WITH_PHRASE})",
            f"{OWN}: ({' OR '.join(map(match, filters.words))})",
        )
    if filters.since or filters.until:
        add("e.dated = 1")
    if filters.since:
        add(
            f"e.at >= ? AND {_LOCAL} >= ?",
            _midnight(filters.since, -1),
            _midnight(filters.since, 0),
        )
    if filters.until:
        add(
            f"e.at < ? AND {_LOCAL} < ?",
            _midnight(filters.until, 2),
            _midnight(filters.until, 1),
        )
    if filters.min_importance is not None:
        add("coalesce(e.importance, 5) >= ?", filters.min_importance)
    if filters.max_importance is not None:
        add("coalesce(e.importance, 5) <= ?", filters.max_importance)
    if filters.parent:
        add("e.parent = ?", filters.parent)
    if filters.has_body is not None:
        add(f"e.body_end {'>' if filters.has_body else '='} e.body_start")
    for has, table in ((filters.has_files, "file"), (filters.has_tasks, "task")):
        if has is not None:
            add(f"{'' if has else 'NOT '}EXISTS (SELECT 1 FROM {table} WHERE entry = e.rowid)")
    for name, value in filters.where:
        add(
            "e.rowid IN (SELECT entry FROM field WHERE name = ? AND instr(words, ?))",
            name,
            field_words(value),
        )
    if filters.links_to is not None:
        key = link_key(filters.links_to)
        add(f"e.rowid IN ({_ENTRIES_THAT_LINK})", key, key)
    if filters.sources:
        add(f"{SOURCE} IN {THESE}", json.dumps(filters.sources))
    if filters.sessions:
        add(f"e.via IN {THESE}", json.dumps(OF_SESSIONS))
    for unwanted in (filters.without or Filters()).each().values():
        condition, bound = conditions(unwanted, singly=singly, rowid=rowid)
        add(f"(1{condition}) IS NOT TRUE", *bound)
    return "".join(parts), tuple(values)


def _globs(path: str) -> tuple[str, ...]:
    """Patterns for a path: a folder (`en/`), a file with or without its ending, the last parts
    of either; or a glob.
    """
    glob = path.strip("/").replace("[", "[[]")
    ends = ("/*",) if path.endswith("/") else ("", ".md", "/*")
    return tuple(f"{before}{glob}{end}" for before in ("", "*/") for end in ends)


def shown(filters: Filters) -> tuple[str, tuple[Any, ...]]:
    """The conditions of a list: what a later entry supersedes is left out unless it is asked
    for.
    """
    condition, values = conditions(filters)
    if not filters.include_superseded:
        condition += f" AND e.rowid NOT IN (SELECT old.rowid {SUPERSEDED})"
    return condition, values


def chunks_sql(
    filters: Filters, within: Sequence[int] | None, phrases: Sequence[str]
) -> tuple[str, tuple[Any, ...]]:
    """SQL for the JSON list of the chunks that pass the filters, are of the entries `within`,
    and whose entries hold the quoted phrases, and its values; ("", ()) where all chunks pass.
    """
    needs_entry = bool(conditions(replace(filters, tags=(), files=()))[0])
    rowid = "e.rowid" if needs_entry else "a.entry"
    condition, values = conditions(filters, rowid=rowid)
    if within is not None:
        condition += f" AND {rowid} IN {THESE}"
        values = (*values, json.dumps(list(within)))
    for phrase in phrases:
        condition += f" AND {rowid} IN ({_ENTRIES_WITH_PHRASE})"
        values = (*values, f"{OWN}: {phrase}")
    if not condition:
        return "", ()
    source = "entry e JOIN chunk a ON a.entry = e.rowid" if needs_entry else "chunk a"
    return f"SELECT json_group_array(a.rowid) FROM {source} WHERE 1{condition}", values


def _midnight(day: str, later: int) -> int:
    """Midnight of the date `later` days after `day`, as if it were UTC, in microseconds since
    1970.
    """
    return (date.fromisoformat(day).toordinal() + later - _EPOCH_DAY) * _MICROSECONDS_A_DAY


_ENTRIES_WITH_PHRASE = (
    "SELECT p.entry FROM chunk_fts w JOIN chunk p ON p.rowid = w.rowid WHERE w.chunk_fts "
    "MATCH ?"
)
_TAGS_OF_ENTRY = (  # the tags of the entry are looked at, not the entries of the tag
    "SELECT 1 FROM tag t CROSS JOIN json_each(?) j WHERE t.entry = {rowid} "
    "AND (t.name = j.value OR (t.name >= j.value || '/' AND t.name < j.value || '0'))"
)
_ENTRIES_OF_TAGS = (
    "SELECT t.entry FROM json_each(?) j CROSS JOIN tag t ON t.name = j.value UNION ALL "
    "SELECT t.entry FROM json_each(?) j CROSS JOIN tag t ON t.name >= j.value || '/' AND "
    "t.name < j.value || '0'"
)
_SOURCES_OF_PATHS = (
    "SELECT s.id FROM source s JOIN json_each(?) j ON lower(s.path) GLOB lower(j.value)"
)
_ENTRIES_OF_FILES = (
    # length() ends at a zero byte
    "WITH wanted (path, tail, tail_length, head, head_length) AS MATERIALIZED "
    "(SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM "
    "json_each(?)) "
    "SELECT f.entry FROM file f CROSS JOIN wanted w ON f.path = w.path "
    "OR substr(f.path, -w.tail_length) = w.tail OR substr(f.path, 1, w.head_length) = w.head"
)

_ENTRIES_THAT_LINK = (  # to this name, or to another name of the entry that it names
    "SELECT entry FROM link WHERE key = ? UNION SELECT l.entry FROM name n JOIN name o ON "
    "o.entry = n.entry AND o.own "
    "JOIN link l ON l.key = o.key AND l.entry <> n.entry WHERE n.key = ? AND n.own"
)

_LOCAL = "e.at + 1000000 * e.utc_offset"
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROSECONDS_A_DAY = 86_400 * 10**6
