"""Translates filters to SQL conditions that both engines understand (see `postgres` for the
differences).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import date
from itertools import chain
from typing import Any

from ..filters import ALL_TAGS, Filters, Scope
from ..language.words import fts5_expression
from ..models import OF_SESSIONS, Pairs, Texts
from ..notes.marks import field_words, link_key

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

SUPERSEDED = """
    FROM supersedes s CROSS JOIN entry old ON old.own_id = s.target
    CROSS JOIN entry new ON new.rowid = s.entry
    WHERE +old.twin = 0 AND new.twin <> 1 AND (
        (new.dated, new.at) > (old.dated, old.at)
        OR ((new.dated, new.at) = (old.dated, old.at)
            AND new.source = old.source AND new.seq > old.seq)
        OR NOT EXISTS (
            WITH RECURSIVE replaced (id) AS (
                SELECT target FROM supersedes WHERE entry = old.rowid
                UNION SELECT t.target FROM replaced CROSS JOIN entry e ON e.own_id = replaced.id
                CROSS JOIN supersedes t ON t.entry = e.rowid)
            SELECT 1 FROM replaced WHERE id = new.own_id))"""
"""SQL for every entry `old` that an entry `new` supersedes. Of entries that supersede each
other, also in a circle, only a later one supersedes: otherwise all would be hidden. The joins
have this order because the targets are few and the entries many.
"""

SOURCE = """
    coalesce(e.via, (
        SELECT CASE WHEN path LIKE '@%/%' THEN substr(path, 1, instr(path, '/') - 1)
            ELSE 'by hand' END
        FROM source WHERE id = e.source))"""
"""SQL for the value that `Filters.sources` is compared with."""

COUNTABLE = {
    "source": SOURCE,
    "author": """coalesce(e."by", '')""",
    "day": "CASE e.dated WHEN 1 THEN e.date END",
    "week": "CASE e.dated WHEN 1 THEN e.date END",
}
"""SQL for the values by which entries are counted."""


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
        condition += f" AND e.rowid NOT IN (SELECT old.rowid {SUPERSEDED})"
    return condition, values


def chunk_conditions(
    filters: Filters, within: Sequence[int] | None, phrases: Sequence[str]
) -> tuple[str, tuple[Any, ...]]:
    """The conditions of chunks that pass the filters, are of the entries `within`, and whose
    entries hold the quoted phrases, and their values; ("", ()) where all chunks pass.
    """
    condition, values = filter_conditions(filters)
    if within is not None:
        condition += f" AND e.rowid IN {BOUND_LIST}"
        values = (*values, json.dumps(list(within)))
    for phrase in phrases:
        condition += f" AND {_HOLDS_PHRASE}"
        values = (*values, Match(phrase))
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
        sql += " AND e.type <> 'note'"  # the index of the other types has this condition
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
    for each in unwanted.one_by_one().values():
        condition, of_condition = filter_conditions(each)
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


def _scope_condition(scope: Scope) -> Condition:
    """The SQL of `Scope.covers`; with `with_none`, of `Scope.reaches`."""
    of_none = "e.project_key IS NULL AND e.remote IS NULL AND e.root IS NULL"
    if scope.by_name:
        condition, values = f"e.project_key IN {BOUND_LIST}", [json.dumps([scope.key])]
    else:
        unmarked = "project_key = ? AND root IS NULL AND"
        to_compare = "AND root IS NULL" if scope.roots else ""
        condition = f"""e.rowid IN (
            SELECT rowid FROM entry WHERE {unmarked} remote IS NULL
            UNION ALL SELECT rowid FROM entry WHERE {unmarked} remote IN {BOUND_LIST}
            UNION ALL SELECT rowid FROM entry WHERE root IN {BOUND_LIST}
            UNION ALL SELECT rowid FROM entry WHERE remote IN {BOUND_LIST} {to_compare})
            AND coalesce(e.remote, '') NOT IN {BOUND_LIST}"""
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
    "since": _fixed_condition("e.dated = 1 AND e.at >= ? AND e.date >= ?", _bound_by_day(-1)),
    "until": _fixed_condition("e.dated = 1 AND e.at < ? AND e.date <= ?", _bound_by_day(2)),
    "min_importance": _fixed_condition("coalesce(e.importance, 5) >= ?"),
    "max_importance": _fixed_condition("coalesce(e.importance, 5) <= ?"),
    "parent": _fixed_condition("e.parent = ?"),
    "has_body": _fixed_condition("(e.body_end > e.body_start) = ?"),
    "has_files": _fixed_condition("(EXISTS (SELECT 1 FROM file WHERE entry = e.rowid)) = ?"),
    "has_tasks": _fixed_condition("(EXISTS (SELECT 1 FROM task WHERE entry = e.rowid)) = ?"),
    "where": _fields_condition,
    "links_to": _fixed_condition(  # to this name, or to another name of the entry that it names
        """e.rowid IN (
        SELECT entry FROM link WHERE key = ?
        UNION SELECT l.entry FROM name n JOIN name o ON o.entry = n.entry AND o.own = 1
        JOIN link l ON l.key = o.key AND l.entry <> n.entry WHERE n.key = ? AND n.own = 1)""",
        lambda name: (link_key(name), link_key(name)),
    ),
    "sources": _fixed_condition(f"{SOURCE} IN {BOUND_LIST}", _json_list),
    "sessions": _fixed_condition(f"e.via IN {OF_SESSIONS}", lambda _: ()),
    "scope": _scope_condition,
    "without": _exclusion_condition,
}
"""The condition of each filter, by its field in `Filters`, for its value there."""
