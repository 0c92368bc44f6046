"""Reads the index without bringing it up to date first, for callers that have no time for that:
a hook, and a shell that completes a word. Little is imported for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import apsw

from ..filters import Filters, Scope
from .sqlite_errors import as_index_errors

NameKind = Literal["tag", "project", "id"]


class IndexedEntry(NamedTuple):
    """An entry of the index, and the bytes of the file `path` where it stands."""

    rowid: int
    id: str
    own_id: str
    date: str
    type: str
    title: str
    project: str | None
    remote: str | None
    root: str | None
    path: str
    start: int
    end: int
    hash: int
    body_start: int
    body_end: int
    pin: int
    expires: str | None
    origin: str
    typed: int


class PlainIndex:
    """A connection that only reads. Each method may raise IndexFailed."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    @classmethod
    @as_index_errors()
    def open(cls, path: Path) -> PlainIndex:
        """The index in this file."""
        return cls(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY))

    def close(self) -> None:
        self._db.close()

    @as_index_errors()
    def _rows(self, sql: str, *values: object) -> list[Any]:
        return self._db.execute(sql, values).fetchall()

    def names(self, kind: NameKind) -> list[tuple[str, str]]:
        """The tags or projects, most frequent first, or the ids, newest first; each with "", or
        with its title.
        """
        return self._rows(_NAMES[kind])

    def find_entries(self, rowids: Iterable[int]) -> list[IndexedEntry]:
        """The entries with these rowids, the most important first, without superseded ones. A
        superseded preference is included: the caller decides about it.
        """
        rows = self._rows(_PLACES, json.dumps(list(rowids)))
        return [IndexedEntry(*row) for row in rows]

    def entries_with_files(self, paths: Sequence[str]) -> list[tuple[int, str]]:
        """(entry, path) where an entry is marked with one of these paths."""
        return self._rows(_MARKED, json.dumps(list(paths)))

    def entries_matching(self, phrases: Sequence[str], limit: int) -> list[int]:
        """The rowids of the entries that hold the `limit` passages which match any of these
        words or phrases best.
        """
        if not phrases:
            return []
        quoted = ['"{}"'.format(phrase.replace('"', '""')) for phrase in phrases]
        rows = self._rows(_HOLDING, " OR ".join(quoted), limit)
        return list(dict.fromkeys(entry for (entry,) in rows))

    def project_names(self, scope: Scope) -> list[str]:
        """The names of projects that the entries of a scope bear, the most frequent first."""
        from .conditions import PROJECT_NAMES, filter_conditions

        condition, values = filter_conditions(Filters(scope=scope))
        return self._column(PROJECT_NAMES.format(condition), *values)

    def names_of_remote(self, remote: str) -> list[str]:
        """The names of projects that the entries with this remote bear, the most frequent
        first.
        """
        from .conditions import PROJECT_NAMES

        return self._column(PROJECT_NAMES.format("AND e.remote = ?"), remote)

    def project_marks(self, key: str) -> list[tuple[str | None, str | None]]:
        """The (remote, root) that the entries of the project with this key carry."""
        from .conditions import PROJECT_MARKS

        return self._rows(PROJECT_MARKS, key)

    def tags(self, rowid: int) -> list[str]:
        return self._column("SELECT name FROM tag WHERE entry = ?", rowid)

    def ids_superseded_by_entry(self, rowid: int) -> list[str]:
        """The ids that this entry supersedes."""
        return self._column("SELECT target FROM supersedes WHERE entry = ?", rowid)

    def entries_superseding(self, own_id: str) -> list[int]:
        """The entries that supersede this id."""
        return self._column("SELECT entry FROM supersedes WHERE target = ?", own_id)

    def _column(self, sql: str, *values: object) -> list[Any]:
        return [row[0] for row in self._rows(sql, *values)]


_NAMES: dict[NameKind, str] = {
    "tag": "SELECT name, '' FROM tag GROUP BY name ORDER BY count(*) DESC",
    "project": """
        SELECT project, '' FROM entry WHERE project <> ''
        GROUP BY project_key ORDER BY count(*) DESC""",
    "id": "SELECT substr(id, 10), title FROM entry WHERE id <> '' ORDER BY at DESC",
}
_PLACES = """
    SELECT e.rowid, e.id, e.own_id, e.date, e.type, e.title, e.project, e.remote, e.root,
        s.path, e.start, e."end", e.hash, e.body_start, e.body_end, e.pin, e.expires,
        coalesce(e.origin, iif(e.via GLOB 'import:*', e.via, '')), e.derived OR e.whole_file
    FROM entry e JOIN source s ON s.id = e.source
    WHERE e.rowid IN (SELECT value FROM json_each(?)) AND e.id IS NOT NULL
    AND (e.type = 'preference' OR e.own_id NOT IN (SELECT target FROM supersedes))
    ORDER BY coalesce(e.importance, 5) DESC, e.at DESC"""
_MARKED = "SELECT entry, path FROM file WHERE path IN (SELECT value FROM json_each(?))"
_HOLDING = """
    SELECT c.entry FROM chunk_fts w JOIN chunk c ON c.rowid = w.rowid
    WHERE w.chunk_fts MATCH ? ORDER BY w.rank LIMIT ?"""
