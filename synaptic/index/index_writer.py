"""Files, entries and vectors into the index, each change as small as it can be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from operator import attrgetter
from typing import Any

from ..language.words import normalize_for_index
from ..models import Meaning, Stamp
from ..notes.copies import path_without_number, possible_copy_paths
from ..notes.marks import field_words
from ..notes.reading import make_derived_id
from .conditions import BOUND_LIST
from .database import Database
from .rows import (
    ENTRY_COLUMNS,
    PLACE_COLUMNS,
    ChunkRow,
    EntryRow,
    FileRows,
    entry_column_values,
    hash64,
    place_column_values,
    quantise,
)
from .upgrade import OF_SPARE, count_spare, drop_spare
from .vectors import USUAL_DIMENSIONS, vector_checksum


class IndexWriter:
    """Changes of the index. `Index.writing` gives one for each transaction, in which files are
    applied once.
    """

    def __init__(self, file: Database) -> None:
        self._file = file
        self._db = file.db
        self._rows = file.rows
        self._value = file.value
        self._touched: set[str] = set()
        self._replaced: list[str] = []
        self._doomed: list[int] = []
        self._written: list[tuple[int, int]] = []
        self._reused = 0
        self._meanings: dict[int, tuple[bytes, bytes]] = {}
        self._has_vectors = self._has_spare = False
        self._change = 1 + (file.meta("stored") or 0)

    # -- files
    # ----------------------------------------------------------------------------------------

    def apply_files(
        self,
        files: Iterable[FileRows | Stamp],
        removed: Sequence[str] = (),
        *,
        reading: str,
        head: str,
    ) -> int:
        """Brings these files up to date; returns the number of vectors that were taken over for
        equal texts.

        A Stamp instead of rows: the content of the file is unchanged, and the stamp is its new
        signature. `removed` are paths of files that are gone; entries that vanished are deleted
        last, so that an entry that moved finds their vectors. `reading` names what
        the meaning of files depends on besides their bytes, `head` the state of git's history
        that all entries go by which it dates.
        """
        hides = False
        self._has_vectors = bool(self._value("SELECT 1 FROM chunk WHERE vector > 0 LIMIT 1"))
        self._has_spare = count_spare(self._db) > 0
        for file in files:
            if isinstance(file, Stamp):
                self._db.execute(_STAMP, (*file, None, True))
            else:
                hides |= file.hides
                self._replace_file(file)
        gone = json.dumps(list(removed))
        self._doomed += self._file.column(_ENTRIES_OF_FILES, gone)
        if self._doomed:
            doomed = json.dumps(self._doomed)
            own_ids = f"SELECT own_id FROM entry WHERE rowid IN {BOUND_LIST}"
            self._touched.update(self._file.column(own_ids, doomed))
            self._db.execute(f"DELETE FROM entry WHERE rowid IN {BOUND_LIST}", (doomed,))
            if hides:  # what was read may be private since
                self._file.owes_scrub = True
        self._db.execute(f"DELETE FROM source WHERE path IN {BOUND_LIST}", (gone,))
        self._assign_ids()
        self._mark_numbered_copies(removed)
        number = 1 + self._value("SELECT max(number) FROM seen")
        self._db.executemany(_SEE, [(rowid, digest, number) for rowid, digest in self._written])
        if self._doomed:
            self._db.execute("UPDATE seen SET number = ? WHERE id = ''", (number,))
        self._file.set_meta("reading", reading)
        self._file.set_meta("head", head)
        self._file.set_meta("stored", self._change)
        self._file.vectors.rebuild_if_sparse()
        return self._reused

    def refill(
        self, files: Iterable[FileRows], *, keep_vectors: bool, reading: str, head: str
    ) -> int:
        """Empties the index and fills it with these files; returns the number of vectors that
        were taken over.
        """
        if keep_vectors:
            texts = {rowid: text for rowid, *text in self._rows(_TEXTS)}
            for rowid, vector in self._file.vectors.stored_since(0):
                text_hash, codes = texts[rowid]
                self._meanings[text_hash] = vector, codes
        else:
            drop_spare(self._db)
        dimensions = self._file.meta("dimensions") or USUAL_DIMENSIONS
        self._file.vectors.create(dimensions, len(self._meanings))
        self._db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')")
        self._db.execute("DELETE FROM entry; DELETE FROM source")
        reused = self.apply_files(files, reading=reading, head=head)
        drop_spare(self._db)
        self.end_filling()
        return reused

    def end_filling(self) -> None:
        """Merges the words of all files, once the whole journal is read."""
        self._db.execute("DELETE FROM meta WHERE key = 'filling'")
        self._db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')")

    def drop_spare(self) -> None:
        """Deletes the vectors that were carried over from another version of the index, once
        the whole journal is read.
        """
        drop_spare(self._db)

    def move_counts(self, ids: Mapping[str, str]) -> None:
        """Gives the counts of reads of entries that got a new id to that id."""
        rows = [(new_id, old_id) for old_id, new_id in ids.items()]
        self._db.executemany(_MOVE_COUNTS, rows)
        self._db.executemany("DELETE FROM access WHERE id = ?", [(old_id,) for old_id in ids])

    def forget_deleted(self) -> None:
        """Overwrites deleted words, which segments of FTS5 keep, and counts of deleted ids."""
        drop_spare(self._db)
        ids = "SELECT id FROM entry WHERE id IS NOT NULL"
        self._db.execute(f"DELETE FROM access WHERE id NOT IN ({ids})")
        latest = "SELECT max(number) FROM seen"  # a number is given once
        self._db.execute(f"UPDATE seen SET number = ({latest}) WHERE id = ''")
        self._db.execute(f"DELETE FROM seen WHERE id NOT IN ({ids}) AND id <> ''")
        self._db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')")

    def _replace_file(self, file: FileRows) -> None:
        path = file.stamp.path
        self._replaced.append(path)
        self._db.execute(_ADD_SOURCE, (path,))
        self._db.execute(_STAMP, (*file.stamp, file.digest, file.settled))
        source = self._value("SELECT id FROM source WHERE path = ?", path)
        before = {own_id: columns for own_id, *columns in self._rows(_KNOWN_ENTRIES, source)}
        moved = []
        for seq, entry_row in enumerate(file.rows):
            rowid, row_hash, *place_columns = before.pop(entry_row.entry.id, (None, None))
            if row_hash != entry_row.row_hash:
                self._touched.add(entry_row.entry.id)
                self._put_entry(rowid, source, seq, entry_row)
            elif tuple(place_columns) != place_column_values(seq, entry_row):
                moved.append((*place_column_values(seq, entry_row), rowid))
        self._db.executemany(_MOVE_ENTRY, moved)
        self._doomed += [rowid for rowid, *_ in before.values()]
        self._db.execute("DELETE FROM issue WHERE source = ?", (source,))
        for number, issue in enumerate(file.issues):
            values = (source, number, issue.line, issue.code, issue.message)
            self._db.execute("INSERT INTO issue VALUES (?, ?, ?, ?, ?)", values)

    # -- entries
    # --------------------------------------------------------------------------------------

    def _put_entry(
        self, existing: int | None, source: int, seq: int, entry_row: EntryRow
    ) -> None:
        """Writes a new entry, or updates the row `existing` if its values or its position
        differ.
        """
        values = entry_column_values(source, seq, entry_row)
        before = {}
        if existing is None:
            self._db.execute(_ADD_ENTRY, values)
            entry = self._db.last_insert_rowid()
        else:
            self._db.execute(_CHANGE_ENTRY, (*values, existing))
            entry = existing
            before = {number: columns for number, *columns in self._rows(_CHUNKS, entry)}
            for table in label_rows(entry_row):
                self._db.execute(f"DELETE FROM {table} WHERE entry = ?", (entry,))
            if entry_row.hides:
                self._file.owes_scrub = True
        for table, labels in label_rows(entry_row).items():
            if labels:
                sql = f"INSERT INTO {table} VALUES (?{', ?' * len(labels[0])})"
                self._db.executemany(sql, [(entry, *label) for label in labels])
        self._written.append((entry, hash64(repr(_says(entry_row.entry)))))
        chunks = entry_row.chunks()
        for number, chunk in enumerate(chunks):
            rowid, *stored = before.get(number, (None,))
            place_and_text = [chunk.start, chunk.end, chunk.hash, chunk.words_hash, chunk.embed]
            if stored != place_and_text:
                self._put_chunk(rowid, entry, number, chunk)
        if len(before) > len(chunks):
            rest = "DELETE FROM chunk WHERE entry = ? AND seq >= ?"
            self._db.execute(rest, (entry, len(chunks)))

    def _put_chunk(
        self, existing: int | None, entry: int, number: int, chunk: ChunkRow
    ) -> None:
        """Writes a new passage, or updates the row `existing` if it differs; takes over the
        vector of an equal text.

        No statement here may fail halfway: FTS5 would write all words it holds before each.
        """
        equal = self._stored_meaning(chunk.hash) if chunk.embed else None
        state, crc = -1, 0
        if chunk.embed:
            state = self._change if equal else 0
        if equal:
            crc = vector_checksum(equal[0])
        values = (chunk.start, chunk.end, chunk.hash, chunk.words_hash)
        if existing is None:
            self._db.execute(_ADD_CHUNK, (entry, number, *values, state, crc))
            rowid = self._db.last_insert_rowid()
        else:
            self._db.execute(_CHANGE_CHUNK, (entry, number, *values, state, crc))
            self._db.execute("DELETE FROM chunk_fts WHERE rowid = ?", (existing,))
            rowid = existing
        self._db.execute(_ADD_WORDS, (rowid, normalize_for_index(chunk.words)))
        is_new = existing is None or self._value(_STORED_BY, rowid) == self._change
        if equal and is_new:
            self._put_meaning(rowid, *equal)
            self._reused += 1

    def _stored_meaning(self, text_hash: int) -> tuple[bytes, bytes] | None:
        """Returns the vector and codes of a passage with this text, from this index or an older
        version of it; None if there is none.
        """
        meaning = self._meanings.get(text_hash)
        if meaning is None and self._has_vectors:
            meaning = next(iter(self._rows(_OF_TEXT, text_hash)), None)
        if meaning is None and self._has_spare:
            meaning = next(iter(self._rows(OF_SPARE, text_hash)), None)
        return meaning

    def _assign_ids(self) -> None:
        """Decides anew which entry has an id, for each touched id that several entries claim or
        claimed until now.

        The first entry that claims an id gets it. An equal copy gets no id, an entry with
        another text a derived id. Shorter paths come first: a conflict copy's name is its
        original's with something added.
        """
        for own_id in self._file.column(_CONTESTED, json.dumps(list(self._touched))):
            texts: list[Sequence[Any]] = []
            for rowid, day, path, *text in self._rows(_CLAIMS, own_id):
                twin, other = 0, None
                if text in texts:
                    twin = 1
                elif texts:
                    twin = 2
                    other = make_derived_id(day and date.fromisoformat(day), path, own_id, 0)
                texts.append(text)
                self._db.execute(_SETTLE_ID, (twin, other, rowid))

    def _mark_numbered_copies(self, removed: Sequence[str]) -> None:
        """Makes an entry that both `x.md` and its numbered copy `x 2.md` contain count once, if
        either file changed.
        """
        copies = set[str]()
        for path in (*self._replaced, *removed):
            copies |= {path, *possible_copy_paths(path)}
        paths = self._file.column(_KNOWN_PATHS, json.dumps(list(copies)))
        for path in filter(path_without_number, paths):
            self._db.execute(
                _SETTLE_NUMBERED, {"copy": path, "original": path_without_number(path)}
            )

    # -- vectors
    # --------------------------------------------------------------------------------------

    def use_model(self, name: str, dimensions: int, *, usual: float) -> None:
        """Records the model that makes vectors from now on, and deletes the vectors of any
        other model.

        `usual` is what `embedding.usual_cosine` says of it.
        """
        drop_spare(self._db)
        self._file.vectors.create(dimensions, 0)
        self._db.execute("UPDATE chunk SET vector = 0, crc = 0 WHERE vector > 0")
        self._file.set_meta("model", name)
        self._file.set_meta("dimensions", dimensions)
        self._file.set_meta("usual", usual)

    def store_vectors(self, meanings: Sequence[tuple[int, int, Meaning]]) -> None:
        """Stores (chunk rowid, hash of its text, meaning) where the text is still the same."""
        for rowid, hash_, meaning in meanings:
            vector = quantise(meaning.vector)
            self._db.execute(
                _NUMBER_VECTOR, (self._change, vector_checksum(vector), rowid, hash_)
            )
            if self._db.changes():
                self._put_meaning(rowid, vector, meaning.codes)
        self._file.set_meta("stored", self._change)
        self._file.vectors.rebuild_if_sparse()

    def _put_meaning(self, rowid: int, vector: bytes, codes: bytes) -> None:
        self._file.vectors.put(rowid, vector)
        self._db.execute("INSERT OR REPLACE INTO token VALUES (?, ?)", (rowid, codes))


_says = attrgetter(
    *("content", "title", "type", "tags", "project", "importance", "files", "parent"),
    *("supersedes", "expires", "due", "pin"),
)


def label_rows(entry_row: EntryRow) -> dict[str, list[Any]]:
    """The rows of an entry in each table of labels, without its rowid."""
    entry = entry_row.entry
    fingerprints = dict(entry.fingerprints)
    files = [(path, fingerprints.get(path)) for path in entry.files]
    fields = [(name, value, field_words(value)) for name, value in entry.fields]
    links, names, tasks = entry_row.marks()
    return {
        "tag": list(enumerate(entry.tags)),
        "file": [(seq, *file) for seq, file in enumerate(files)],
        "supersedes": [(id,) for id in set(entry.supersedes)],
        "field": [(seq, *field) for seq, field in enumerate(fields)],
        "link": links,
        "name": names,
        "task": tasks,
    }


def _set_clause(columns: Sequence[str]) -> str:
    return ", ".join(f"{column} = ?" for column in columns)


_SEE = """
    INSERT INTO seen SELECT id, ?2, ?3 FROM entry WHERE rowid = ?1 AND id IS NOT NULL
    ON CONFLICT (id) DO UPDATE SET said = excluded.said, number = excluded.number
    WHERE said <> excluded.said"""
_ADD_SOURCE = "INSERT OR IGNORE INTO source VALUES (NULL, ?, 0, 0, 0, 0, 0, 0)"
_MOVE_COUNTS = """
    INSERT INTO access SELECT ?, count, at FROM access WHERE id = ?
    ON CONFLICT (id) DO UPDATE SET count = count + excluded.count, at = max(at, excluded.at)"""
_STAMP = """
    UPDATE source SET mtime_ns = ?2, ctime_ns = nullif(?3, ?2), size = ?4, inode = ?5,
        digest = coalesce(?6, digest), settled = ?7 WHERE path = ?1"""
_ADD_ENTRY = f"""
    INSERT INTO entry ({", ".join(ENTRY_COLUMNS)})
    VALUES ({", ".join("?" * len(ENTRY_COLUMNS))})"""
_CHANGE_ENTRY = f"UPDATE entry SET {_set_clause(ENTRY_COLUMNS)} WHERE rowid = ?"
_MOVE_ENTRY = f"UPDATE entry SET {_set_clause(PLACE_COLUMNS)} WHERE rowid = ?"
_KNOWN_ENTRIES = f"""
    SELECT own_id, rowid, row_hash, {", ".join(PLACE_COLUMNS)} FROM entry WHERE source = ?"""
_KNOWN_PATHS = f"SELECT path FROM source WHERE path IN {BOUND_LIST}"
_ENTRIES_OF_FILES = f"""
    SELECT rowid FROM entry
    WHERE source IN (SELECT id FROM source WHERE path IN {BOUND_LIST})"""
_CHUNKS = """
    SELECT seq, rowid, start, "end", hash, words_hash, vector <> -1
    FROM chunk WHERE entry = ?"""
_ADD_CHUNK = "INSERT INTO chunk VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)"
_CHANGE_CHUNK = """
    UPDATE chunk SET start = ?3, "end" = ?4, hash = ?5, words_hash = ?6,
        vector = iif(hash = ?5 AND vector > 0 AND ?7 >= 0, vector, ?7),
        crc = iif(hash = ?5 AND vector > 0 AND ?7 >= 0, crc, ?8)
    WHERE entry = ?1 AND seq = ?2"""
_ADD_WORDS = "INSERT INTO chunk_fts (rowid, spelled) VALUES (?, ?)"
_NUMBER_VECTOR = """
    UPDATE chunk SET vector = ?, crc = ? WHERE rowid = ? AND hash = ? AND vector = 0"""
_TEXTS = """
    SELECT c.rowid, c.hash, t.codes FROM chunk c JOIN token t ON t.chunk = c.rowid
    WHERE c.vector > 0"""
_STORED_BY = "SELECT vector FROM chunk WHERE rowid = ?"
_OF_TEXT = "SELECT embedding, codes FROM meaning WHERE hash = ? LIMIT 1"
_REACH = """
        CASE WHEN {0}.type = 'preference' THEN json_array(
            {0}.project_key, {0}.remote, {0}.root, {0}.pin, {0}.expires,
            (SELECT json_group_array(target) FROM (
                SELECT target FROM supersedes WHERE entry = {0}.rowid ORDER BY target))) END"""
"""A copy of a preference that ends sooner, or is for another project, hides no preference."""
_CONTESTED = f"""
    SELECT own_id FROM entry WHERE own_id IN {BOUND_LIST}
    GROUP BY own_id HAVING count(*) > 1 OR max(twin) > 0"""
_CLAIMS = f"""
    SELECT e.rowid, CASE WHEN e.date_source NOT IN ('git', 'mtime') THEN e.date END, s.path,
        e.content_hash, e.title, e.type, {_REACH.format("e")}
    FROM entry e JOIN source s ON s.id = e.source WHERE e.own_id = ?
    ORDER BY length(s.path), s.path, e.seq"""
_SETTLE_ID = "UPDATE entry SET twin = ?, other_id = ? WHERE rowid = ?"
_SETTLE_NUMBERED = f"""
    UPDATE entry SET twin = now.twin FROM (
        SELECT c.rowid AS row, EXISTS (
            SELECT 1 FROM source s JOIN entry o ON o.source = s.id WHERE s.path = :original
            AND o.content_hash = c.content_hash AND o.type = c.type
            AND (o.title = c.title OR (c.whole_file AND c.title LIKE o.title || ' _'))
            AND (o.date = c.date OR o.date_source IN ('git', 'mtime'))
            AND {_REACH.format("o")} IS {_REACH.format("c")}
        ) AS twin FROM source s JOIN entry c ON c.source = s.id
        WHERE s.path = :copy AND c.derived AND c.twin < 2
    ) AS now WHERE entry.rowid = now.row AND entry.twin <> now.twin"""
