"""All that an index says, in names of the journal instead of row numbers: equal pictures, equal
indexes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from synaptic.index.index import Index

Key = tuple[str, int]
"""An entry's path and its number within the file."""


COUNTED = ("stored", "dropped")
"""What an index knows of its own past."""


def picture(index: Index) -> dict[str, Any]:
    """Entries in force and copies, their marks, passages, words, vectors, and the issues."""
    db = index.file.db
    entries: dict[Key, dict[str, Any]] = {}
    names: dict[int, Key] = {}
    cursor = db.execute("SELECT s.path, e.* FROM entry e JOIN source s ON s.id = e.source")
    for row in cursor:
        columns = dict(
            zip((column for column, _ in cursor.get_description()), row, strict=True)
        )
        key = columns.pop("path"), columns["seq"]
        names[columns.pop("rowid")] = key
        columns.pop("source")
        entries[key] = columns
    marks = {
        "tag": "seq",
        "file": "seq",
        "supersedes": "target",
        "field": "seq",
        "link": "key",
        "name": "key",
        "task": "open",
    }
    for table, order in marks.items():
        for entry, *values in db.execute(f"SELECT * FROM {table} ORDER BY entry, {order}"):
            entries[names[entry]].setdefault(table, []).append(values)
    passages: dict[tuple[Key, int], dict[str, Any]] = {}
    chunks: dict[int, tuple[Key, int]] = {}
    for rowid, entry, seq, *values in db.execute(
        'SELECT rowid, entry, seq, start, "end", hash, words_hash FROM chunk'
    ):
        chunks[rowid] = names[entry], seq
        passages[names[entry], seq] = {"place": values}
    for rowid, vector in db.execute("SELECT rowid, vector FROM chunk"):
        key, _ = chunks[rowid]
        if (
            entries[key]["id"] is not None
        ):  # a copy has no need of vectors, and may keep what it had
            passages[chunks[rowid]] |= {
                "wants": min(vector, 1),
                "vector": index.vectors([rowid]).get(rowid),
            }
    words: dict[tuple[Key, int], set[tuple[str, str, int]]] = defaultdict(set)
    for term, doc, column, offset in db.execute(
        "SELECT term, doc, col, offset FROM chunk_place"
    ):
        words[chunks[doc]].add((column, term, offset))
    return {
        "entries": entries,
        "passages": passages,
        "words": dict(words),
        "issues": index.issues(),
        "sources": sorted(db.execute("SELECT path, size, mtime_ns, digest FROM source")),
        "superseded": index.superseded_by(
            [entry["id"] for entry in entries.values() if entry["id"]]
        ),
        "meta": {
            key: value
            for key, value in db.execute("SELECT key, value FROM meta")
            if key not in COUNTED
        },
    }
