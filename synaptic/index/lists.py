"""Lists of all that the index holds of one thing, for what is not asked with each call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from .index import Index


class EntryTime(NamedTuple):
    """The file, id and instant (microseconds since 1970) of an entry. `dated` is 0 where the
    instant is only the time of its file.
    """

    path: str
    id: str
    at: int
    dated: int


def list_named_files(index: Index) -> frozenset[str]:
    """The paths of files that entries are marked with, in lower case."""
    paths = index.engine.column("SELECT DISTINCT path FROM file")
    return frozenset(path.lower() for path in paths)


def list_paths_with_own_entries(index: Index) -> list[str]:
    """The paths of files that hold an entry which no other file holds too."""
    return index.engine.column("""
        SELECT DISTINCT s.path FROM entry e JOIN source s ON s.id = e.source
        WHERE e.id IS NOT NULL""")


def list_entry_times(index: Index) -> list[EntryTime]:
    """The file, id and time of each entry."""
    sql = """
        SELECT s.path, e.own_id, e.at, e.dated
        FROM entry e JOIN source s ON s.id = e.source"""
    return [EntryTime(*row) for row in index.engine.rows(sql)]


def map_paths_by_short_id(index: Index) -> dict[str, tuple[str, str]]:
    """(id, path of the file) of each entry that has an id, by the part after its dash."""
    sql = "SELECT own_id, path FROM entry e JOIN source s ON s.id = e.source"
    return {id[9:]: (id, path) for id, path in index.engine.rows(sql)}


def list_folded_titles(index: Index, fold: Callable[[str], str]) -> list[tuple[int, str, str]]:
    """(entry, its title folded, its path folded) of each entry, newest first; always the
    same `fold`. Only a note that is a whole file has its path.
    """
    sql = """
        SELECT e.rowid, title, CASE whole_file WHEN 1 THEN path ELSE '' END
        FROM entry e JOIN source s ON s.id = e.source WHERE e.id IS NOT NULL
        ORDER BY dated DESC, at DESC, seq DESC, own_id"""

    def asked() -> list[tuple[int, str, str]]:
        return [(row, fold(title), fold(path)) for row, title, path in index.engine.rows(sql)]

    return index.engine.cached("titles", asked)


def map_ids_by_file(index: Index) -> dict[str, tuple[int, set[str]]]:
    """Maps the path of each indexed file to the hash of its bytes and the ids in it."""
    rows = index.engine.rows(_IDS_BY_FILE)
    return {path: (digest, set(json.loads(ids))) for path, digest, ids in rows}


def find_other_texts_with_id(index: Index, id: str) -> list[tuple[str, int]]:
    """(path, line) of each text that carries this id, which belongs to another entry, in
    the same file or in another one.
    """
    return index.engine.rows(_OTHER_TEXTS, id, id)


_IDS_BY_FILE = """
    SELECT s.path, s.digest, json_group_array(e.own_id) FILTER (WHERE e.own_id IS NOT NULL)
    FROM source s LEFT JOIN entry e ON e.source = s.id GROUP BY s.id"""
_OTHER_TEXTS = """
    SELECT s.path, i.line FROM issue i JOIN source s ON s.id = i.source
    WHERE i.code = 'duplicate-id' AND instr(i.message, ?) > 0
    UNION ALL SELECT s.path, e.line FROM entry e JOIN source s ON s.id = e.source
    WHERE e.own_id = ? AND e.twin = 2 ORDER BY 1, 2"""
