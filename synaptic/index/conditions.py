"""Translates filters to SQL conditions that both engines understand (see `postgres` for the
differences).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain
from typing import Any, NamedTuple

from ..filters import ALL_TAGS, Filters, Scope
from ..language.words import fts5_expression
from ..models import OF_SESSIONS, TYPES, Order, Pairs, Texts
from ..notes.marks import field_words, link_key

MOST_WALKS = 100
"""A list that needs more walks than this is sorted."""

_MARK = "coalesce(e.root, e.remote)"
"""SQL for the mark of its repository that an entry has."""

_ASKED_OF_EACH_ROW = {
    *("types", "projects", "scope", "since", "until", "min_importance", "max_importance"),
    *("has_body", "has_files", "sessions", "without", "include_superseded"),
}
_NAMES_ROWS = {"tags", "files", "words", "all_words", "where", "links_to"}
"""Filters that are asked of each entry of a walk, and those that name the entries that pass."""

_INDEXES_OF_PROJECT = {
    "e.project_key": ("entry_project_at", "entry_project_worth"),
    _MARK: ("entry_mark_at", "entry_mark_worth"),
}
"""By the column that says of which project an entry is: the indexes by time, by importance."""

_EPOCH = date(1970, 1, 1).toordinal()


class Match(str):
    """An expression of FTS5, such as `"a b" OR "c"*`."""


BOUND_LIST = "(SELECT value FROM json_each(?))"
"""SQL for a list that is bound as one JSON value: SQLite takes 32,766 values, and expressions
that are 1,000 deep.
"""

PROJECT_NAMES = """
    SELECT max(e.project) FROM entry e WHERE e.project_key IS NOT NULL AND e.id IS NOT NULL {}
    GROUP BY e.project_key ORDER BY count(*) DESC, e.project_key"""
PROJECT_MARKS = """
    SELECT DISTINCT remote, root FROM entry
    WHERE project_key = ? AND (remote IS NOT NULL OR root IS NOT NULL)"""
"""Names of projects by a condition on their entries, and the repositories of a project."""

_REPLACES = """new.twin <> 1 AND (
        (new.dated, new.at) > (old.dated, old.at)
        OR ((new.dated, new.at) = (old.dated, old.at)
            AND new.source = old.source AND new.seq > old.seq)
        OR NOT EXISTS (
            WITH RECURSIVE replaced (id) AS (
                SELECT target FROM supersedes WHERE entry = old.rowid
                UNION SELECT t.target FROM replaced
                CROSS JOIN entry between_them ON between_them.own_id = replaced.id
                CROSS JOIN supersedes t ON t.entry = between_them.rowid)
            SELECT 1 FROM replaced WHERE id = new.own_id))"""

SUPERSEDED = f"""
    FROM supersedes s CROSS JOIN entry old ON old.own_id = s.target
    CROSS JOIN entry new ON new.rowid = s.entry
    WHERE +old.twin = 0 AND {_REPLACES}"""
"""SQL for every entry `old` that an entry `new` supersedes. Of entries that supersede each
other, also in a circle, only a later one supersedes: otherwise all would be hidden. The joins
have this order because the targets are few and the entries many.
"""

HAS_ONE_PASSAGE = "(SELECT count(*) FROM chunk WHERE entry = {}.rowid) < 2"
"""The condition of entries that are hidden when superseded: a longer one holds more."""

_IN_FORCE = f"""NOT (e.twin = 0 AND EXISTS (
    SELECT 1 FROM supersedes s CROSS JOIN entry new ON new.rowid = s.entry
    WHERE s.target = e.own_id AND {_REPLACES.replace("old.", "e.")})
    AND {HAS_ONE_PASSAGE.format("e")})"""
"""The condition of entries that are not hidden, asked for each row of a list."""

SOURCE = """
    coalesce(e.via, (
        SELECT CASE WHEN path LIKE '@%/%' THEN substr(path, 1, instr(path, '/') - 1)
            ELSE 'by hand' END
        FROM source WHERE id = e.source))"""
"""SQL for the value that `Filters.sources` is compared with."""


def daily_note_condition(alias: str) -> str:
    """SQL: true for an entry of this table alias that a person wrote into a daily note, without
    a time of its own (`Entry.of_daily_note`).
    """
    return f"""{alias}.derived = 1 AND {alias}.date_source IN ('file', 'heading')
        AND ({alias}.whole_file = 1 OR {alias}.at % 1000000 <> 0)"""


def filter_conditions(filters: Filters) -> tuple[str, tuple[Any, ...]]:
    """(SQL, values to bind) of the filters: conditions on the table alias `e`, each beginning
    with AND.
    """
    parts: list[str] = []
    values: list[Any] = []
    for name, value in filters.active_values().items():
        if name != "include_superseded":  # see `list_conditions`
            condition, of_condition = CONDITION_OF_FIELD[name](value)
            parts.append(condition)
            values += of_condition
    return "".join(f" AND {part}" for part in parts), tuple(values)


def list_conditions(filters: Filters) -> tuple[str, tuple[Any, ...]]:
    """(SQL, values) of the filters for a list of entries: superseded entries are left out
    unless the filters include them.
    """
    condition, values = filter_conditions(filters)
    if not filters.include_superseded:
        condition += f" AND {_IN_FORCE}"
    return condition, values


class Walk(NamedTuple):
    """A way through entries in an order of which a list needs the first alone: the index that
    has this order, as SQLite is told, and the condition of the columns before those of the
    order. A list may need several, each for other entries.
    """

    hint: str
    condition: str = ""
    values: Texts = ()


def walks_in_order(filters: Filters, order: Order) -> list[Walk]:
    """The ways through the entries that pass, in this order; one without an index where a
    filter leaves few entries, which are sorted.
    """
    active = filters.active_values().keys()
    if not active <= _ASKED_OF_EACH_ROW or order == "access":
        return [Walk(hint_for_count(filters))]
    is_by_worth = order == "importance"
    if filters.sessions and not is_by_worth:
        return [Walk("INDEXED BY entry_session")]
    if filters.projects:
        projects = [("e.project_key", key) for key in filters.projects]
    elif filters.scope:
        projects = _owners(filters.scope)
    elif filters.sessions:
        return [Walk("INDEXED BY entry_session_worth")]
    elif filters.types or is_by_worth:
        by_type = "INDEXED BY entry_worth" if is_by_worth else "INDEXED BY entry_type"
        types = filters.types or TYPES
        return [Walk(by_type, " AND e.type = ?", (type,)) for type in types]
    else:
        return [Walk("INDEXED BY entry_at")]
    types = filters.types or TYPES
    if not projects or len(projects) * len(types) > MOST_WALKS:
        return [Walk("")]
    return [
        Walk(
            f"INDEXED BY {_INDEXES_OF_PROJECT[column][is_by_worth]}",
            f" AND {column} = ? AND e.type = ?",
            (value, type),
        )
        for column, value in projects
        for type in types
    ]


def hint_for_count(filters: Filters) -> str:
    """What SQLite is told where a filter leaves few entries: it would rather read all of a
    type, or of a time.
    """
    if filters.parent:
        return "INDEXED BY entry_parent"
    is_of_all_tags = any(ALL_TAGS in tag for tag in filters.tags)
    is_by_row = not _NAMES_ROWS.isdisjoint(filters.active_values())
    return "NOT INDEXED" if is_by_row and not is_of_all_tags else ""


def _owners(scope: Scope) -> list[tuple[str, str]]:
    """(column, value) of each kind of entry that may belong to a scope; none where no column
    tells it.
    """
    if scope.with_none or (scope.remotes and not scope.roots and not scope.by_name):
        return []
    named = [("e.project_key", scope.key)]
    if scope.by_name:
        return named
    marks = sorted({*scope.roots, *scope.remotes, *scope.local})
    return named + [(_MARK, mark) for mark in marks]


def chunk_conditions(
    filters: Filters, within: Sequence[int] | None
) -> tuple[str, tuple[Any, ...]]:
    """The conditions of chunks that pass the filters and are of the entries `within`, and their
    values; ("", ()) where all chunks pass.
    """
    condition, values = filter_conditions(filters)
    if within is not None:
        condition += f" AND e.rowid IN {BOUND_LIST}"
        values = (*values, json.dumps(list(within)))
    return condition, values


Condition = tuple[str, Sequence[Any]]
"""A condition on the alias `e`, and the values of its question marks."""


def _fixed_condition(
    sql: str, values: Callable[[Any], Sequence[Any]] = lambda value: (value,)
) -> Callable[[Any], Condition]:
    """The condition of a filter whose SQL is always the same."""
    return lambda value: (sql, values(value))


def _types_condition(types: Sequence[str]) -> Condition:
    sql = f"e.type IN {BOUND_LIST}"
    if "note" not in types:
        sql += " AND e.type <> 'note'"  # PostgreSQL's index of types has this condition
    return sql, _json_list(types)


def _fields_condition(pairs: Pairs) -> Condition:
    """All pairs must hold."""
    holds = "e.rowid IN (SELECT entry FROM field WHERE name = ? AND instr(words, ?))"
    values = [(name, field_words(value)) for name, value in pairs]
    return " AND ".join([holds] * len(pairs)), [*chain.from_iterable(values)]


def _exclusion_condition(unwanted: Filters) -> Condition:
    """None of the filters may let the entry pass."""
    parts: list[str] = []
    values: list[Any] = []
    together = replace(unwanted, where=()).one_by_one().values()
    apart = [Filters(where=(pair,)) for pair in unwanted.where]
    for each in (*together, *apart):
        condition, of_condition = filter_conditions(each)
        if each.tags:
            condition = condition.replace(_TAGGED, _HAS_TAG)
        parts.append(f"(1 = 1{condition}) IS NOT TRUE")
        values += of_condition
    return " AND ".join(parts) or "1 = 1", values


def _json_list(values: Sequence[str]) -> Texts:
    return (json.dumps(values),)


def _tags_condition(tags: Sequence[str]) -> Condition:
    """The condition of entries with one of these tags, or with all tags of a value `a+b`, or
    with the one tag `a-b` as which a save stores it. A tag covers its children: `area` finds
    `area/kitchen`.
    """
    single = [tag.replace(ALL_TAGS, "-") for tag in tags]
    parts = [_TAGGED]
    values = [json.dumps(single)] * 2
    for tag in (tag for tag in tags if ALL_TAGS in tag):
        names = tag.split(ALL_TAGS)
        parts.append(f"({' AND '.join([_TAGGED] * len(names))})")
        for name in names:
            values += [json.dumps([name])] * 2
    return f"({' OR '.join(parts)})", values


def _file_values(paths: Sequence[str]) -> tuple[str, str, str]:
    """A whole path, its last parts, or a folder."""
    ends = [f"/{path.lstrip('/')}\n" for path in paths]
    begins = [f"\n{path.rstrip('/')}/" for path in paths]
    return json.dumps(paths), json.dumps(ends), json.dumps(begins)


def _path_patterns(paths: Sequence[str]) -> Texts:
    """Patterns for paths: a folder (`en/`), a file with or without its ending, the last parts
    of either, with `*` and `?`. One that begins with `/` stands in the journal's own folder.
    """
    patterns: list[str] = []
    for path in paths:
        pattern = re.sub(r"[\\%_]", r"\\\g<0>", path.strip("/"))
        pattern = pattern.replace("*", "%").replace("?", "_")
        starts = ("",) if path.startswith("/") else ("", "%/")
        ends = ("/%",) if path.endswith("/") else ("", ".md", "/%")
        for end in ends:
            patterns += [f"{start}{pattern}{end}" for start in starts]
    return _json_list(patterns)


def _bound_by_day(days: int) -> Callable[[str], tuple[int, str]]:
    """Returns a function that maps a day, `YYYY-MM-DD`, to (midnight UTC `days` days later, in
    microseconds since 1970; the day).
    """

    def bound(day: str) -> tuple[int, str]:
        since_1970 = date.fromisoformat(day).toordinal() - _EPOCH + days
        return since_1970 * 86_400_000_000, day

    return bound


def _word_values(words: Sequence[str]) -> Texts:
    return (Match(" OR ".join(map(fts5_expression, words))),)


def _all_words_condition(words: Sequence[str]) -> Condition:
    holds_all = " AND ".join([_HOLDS_PHRASE] * len(words))
    return holds_all, [Match(fts5_expression(word)) for word in words]


def _scope_condition(scope: Scope) -> Condition:
    """The SQL of `Scope.covers`; with `with_none`, of `Scope.reaches`."""
    of_none = "e.project_key IS NULL AND e.remote IS NULL AND e.root IS NULL"
    if scope.by_name:
        condition, values = f"e.project_key IN {BOUND_LIST}", [json.dumps([scope.key])]
    else:
        to_compare = " AND e.root IS NULL" if scope.roots else ""
        condition = f"""((
            e.project_key = ? AND e.root IS NULL AND e.remote IS NULL
            OR e.project_key = ? AND e.root IS NULL AND e.remote IN {BOUND_LIST}
            OR e.root IN {BOUND_LIST}
            OR e.remote IN {BOUND_LIST}{to_compare})
            AND coalesce(e.remote, '') NOT IN {BOUND_LIST})"""
        lists = (scope.local, scope.roots, scope.remotes, scope.others)
        values = [scope.key, scope.key, *(json.dumps(sorted(some)) for some in lists)]
    return (f"({condition} OR {of_none})" if scope.with_none else condition), values


_HOLDS_PHRASE = """e.rowid IN (
    SELECT p.entry FROM chunk_fts w JOIN chunk p ON p.rowid = w.rowid
    WHERE w.chunk_fts MATCH ?)"""

_TAGGED = """e.rowid IN (
    SELECT t.entry FROM json_each(?) j CROSS JOIN tag t ON t.name = j.value
    UNION ALL SELECT t.entry FROM json_each(?) j CROSS JOIN tag t
    ON t.name >= j.value || '/' AND t.name < j.value || '0')"""

_HAS_TAG = """EXISTS (
    SELECT 1 FROM tag t CROSS JOIN json_each(?) j ON t.name = j.value WHERE t.entry = e.rowid
    UNION ALL SELECT 1 FROM tag t CROSS JOIN json_each(?) j
    ON t.name >= j.value || '/' AND t.name < j.value || '0' WHERE t.entry = e.rowid)"""
"""The same as _TAGGED, asked for each row: many entries may have the tag that is unwanted."""

CONDITION_OF_FIELD: dict[str, Callable[[Any], Condition]] = {
    "types": _types_condition,
    "tags": _tags_condition,
    "projects": _fixed_condition(f"e.project_key IN {BOUND_LIST}", _json_list),
    "files": _fixed_condition(
        f"""e.rowid IN (
        SELECT f.entry FROM file f WHERE f.path IN {BOUND_LIST}
        OR EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(f.path || '\n', j.value) > 0)
        OR EXISTS (SELECT 1 FROM json_each(?) j WHERE instr('\n' || f.path, j.value) > 0))""",
        _file_values,
    ),
    "paths": _fixed_condition(
        """e.source IN (
        SELECT s.id FROM source s JOIN json_each(?) j
        ON lower(s.path) LIKE lower(j.value) ESCAPE '\\')""",
        _path_patterns,
    ),
    "words": _fixed_condition(_HOLDS_PHRASE, _word_values),
    "all_words": _all_words_condition,
    "since": _fixed_condition("e.dated = 1 AND e.at >= ? AND e.date >= ?", _bound_by_day(-1)),
    "until": _fixed_condition("e.dated = 1 AND e.at < ? AND e.date <= ?", _bound_by_day(2)),
    "min_importance": _fixed_condition("coalesce(e.importance, 5) >= ?"),
    "max_importance": _fixed_condition("coalesce(e.importance, 5) <= ?"),
    "parent": _fixed_condition("e.parent = ?"),
    "has_body": _fixed_condition("(e.body_end > e.body_start) = ?"),
    "has_files": _fixed_condition("(e.has_files = 1) = ?"),
    "has_tasks": _fixed_condition("(EXISTS (SELECT 1 FROM task WHERE entry = e.rowid)) = ?"),
    "where": _fields_condition,
    "links_to": _fixed_condition(  # to this name, or to another name of the entry that it names
        """e.rowid IN (
        SELECT entry FROM link WHERE key = ?
        UNION SELECT l.entry FROM name n JOIN name o ON o.entry = n.entry AND o.own = 1
        JOIN link l ON l.key = o.key AND l.entry <> n.entry WHERE n.key = ? AND n.own = 1)""",
        lambda name: (link_key(name), link_key(name)),
    ),
    "ids": _fixed_condition(f"e.id IN {BOUND_LIST}", _json_list),
    "sources": _fixed_condition(f"{SOURCE} IN {BOUND_LIST}", _json_list),
    "sessions": _fixed_condition(f"e.via IN {OF_SESSIONS}", lambda _: ()),
    "scope": _scope_condition,
    "without": _exclusion_condition,
}
"""The condition of each filter, by its field in `Filters`, for its value there."""
