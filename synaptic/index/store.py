"""Files, entries and vectors into the index, each change as small as it can be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import count
from typing import Any, cast

from ..language.words import spell
from ..models import Proof, Stamp, Vector
from ..notes.blocks import project_key
from ..notes.copies import numbered_copies, numbered_of
from ..notes.marks import field_words
from ..notes.reading import derived_id
from .database import Database
from .rescue import create_vectors, set_aside
from .rows import (
    ENTRY_COLUMNS,
    PLACE_COLUMNS,
    ChunkRow,
    EntryRow,
    FileRows,
    Vocabulary,
    entry_values,
    place_values,
    quantise,
)
from .sketch import VECTORS_OF_CHUNKS

SPARSE = 1 / 3
"""The table is rewritten when this share of its vectors was dropped: vec0 fills only the last
block again.
"""

MOVED_AT_ONCE = 1_000
"""Vectors in memory while the table is rewritten."""

DROPPED_AT_LEAST = 256
"""Dropped vectors from which on the table is rewritten: the room of fewer is not worth it."""

PAGES_A_FILE = 64
"""Free pages that are given back for each file that is indexed, at most: half a millisecond."""

FREE_SHARE = 16
"""About one page in so many may be free: the next write takes it."""


class Writer:
    """Changes of the index. `Index.writing` gives one for each transaction, in which files are
    applied once.
    """

    def __init__(self, file: Database) -> None:
        self._file = file
        self._donors: dict[int, int] = {}
        self._has_kept = False
        self._touched: set[str] = set()
        self._replaced: list[str] = []
        self._doomed: list[int] = []
        self._reused = 0

    # -- files
    # ----------------------------------------------------------------------------------------

    def apply(
        self,
        files: Iterable[FileRows | Stamp],
        removed: Sequence[str] = (),
        changed: Sequence[str] = (),
        *,
        reading: str,
        head: str,
    ) -> int:
        """Brings these files up to date; returns the number of vectors that were taken over for
        equal texts.

        A Stamp instead of rows: the content of the file is unchanged, and the stamp is its new
        proof. `changed` and `removed` are paths whose vectors may serve other files: vanished
        entries are deleted last, so that an entry that moved finds them. `reading` names what
        the meaning of files depends on besides their bytes, `head` the state of git's history
        that all entries go by which it dates.
        """
        ids, read, hides = self.ids(), 0, False
        known = [ids[path] for path in (*removed, *changed) if path in ids]
        self._donors = {
            row[0]: row[1]
            for source in known
            for row in self._file.rows(_VECTORS_OF_FILE, source)
        }
        self._has_kept = (
            self._file.value("SELECT 1 FROM sqlite_temp_schema WHERE name = 'kept'") is not None
        )
        for file in files:
            if isinstance(file, Stamp):
                self._file.db.execute(_TOUCH, (*file.proof, ids[file.path]))
                self._prove(file, True)
            else:
                read += 1
                hides |= file.hides
                self._replace_file(file)
        for path in removed:
            self._doomed += (
                row[0]
                for row in self._file.rows(
                    "SELECT rowid FROM entry WHERE source = ?", ids[path]
                )
            )
        self._delete_doomed(hides)
        self._file.db.executemany(
            "DELETE FROM source WHERE id = ?", [(ids.pop(path),) for path in removed]
        )
        if removed:
            self._file.kept.pop("proofs", None)
        self._settle_ids()
        self._settle_numbered(removed)
        for key, value in (("reading", reading), ("head", head)):
            if self._file.meta(key) != value:
                self._file.set_meta(key, value)
        self._file.db.execute("DROP TABLE IF EXISTS temp.kept")
        self._give_room_back(PAGES_A_FILE * (read + len(removed)))
        return self._reused

    def refill(
        self, files: Iterable[FileRows], *, keep_vectors: bool, reading: str, head: str
    ) -> int:
        """Empties the index and fills it with these files; returns the number of vectors that
        were taken over.
        """
        db = self._file.db
        self._file.kept.clear()
        dimensions = cast("int | None", self._file.meta("dimensions"))
        if keep_vectors:
            set_aside(db)
        else:
            db.execute("DROP TABLE IF EXISTS temp.kept")
        db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')")
        for table in ("chunk", *_LABELS, "entry", "issue", "source"):
            db.execute(f"DELETE FROM {table}")
        if dimensions is not None:
            self._empty_vectors(dimensions)
        reused = self.apply(files, reading=reading, head=head)
        db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')")
        return reused

    def ids(self) -> dict[str, int]:
        """The row of every indexed file, by path: no index of the table knows it."""
        return self._file.keep(
            "ids", lambda: dict(self._file.rows("SELECT path, id FROM source"))
        )

    def _prove(self, stamp: Stamp, settled: bool) -> None:
        """Brings the kept proofs up to date with one file."""
        if "proofs" in self._file.kept:
            proofs = cast("dict[str, Proof | None]", self._file.kept["proofs"])
            proofs[stamp.path] = stamp.proof if settled else None

    def _delete_doomed(self, hides: bool) -> None:
        """Deletes the entries that vanished. `hides`: a file that was read holds private text;
        a scrub is then owed.
        """
        for rowid in self._doomed:
            self._touched.add(
                self._file.value("SELECT own_id FROM entry WHERE rowid = ?", rowid)
            )
            self._delete_chunks(rowid, 0)
            self._file.db.execute("DELETE FROM entry WHERE rowid = ?", (rowid,))
        if self._doomed:
            self._file.kept.pop("vocabulary", None)
            if hides:
                self._file.owes_scrub = True

    def _replace_file(self, file: FileRows) -> None:
        ids, path = self.ids(), file.stamp.path
        self._replaced.append(path)
        source = ids[path] = self._file.value(
            _UPSERT_SOURCE, ids.get(path), *file.stamp, file.digest, file.settled
        )
        self._prove(file.stamp, file.settled)
        known = {
            own_id: columns for own_id, *columns in self._file.rows(_KNOWN_ENTRIES, source)
        }
        new, moved = [], []
        for seq, row in enumerate(file.rows):
            rowid, row_hash, *place = known.pop(row.entry.id, (None, None))
            if row_hash != row.row_hash:
                self._touched.add(row.entry.id)
            if rowid is None:
                new.append((seq, row))
            elif row_hash != row.row_hash:
                if row.hides:
                    self._file.owes_scrub = True
                self._replace_entry(rowid, source, seq, row)
            elif tuple(place) != place_values(seq, row):
                moved.append((*place_values(seq, row), rowid))
        self._file.db.executemany(_MOVE_ENTRY, moved)
        self._insert_entries(source, new)
        self._doomed += (columns[0] for columns in known.values())
        self._file.db.execute("DELETE FROM issue WHERE source = ?", (source,))
        self._file.db.executemany(
            "INSERT INTO issue VALUES (?, ?, ?, ?, ?)",
            (
                (source, seq, issue.line, issue.code, issue.message)
                for seq, issue in enumerate(file.issues)
            ),
        )

    # -- entries
    # --------------------------------------------------------------------------------------

    def _insert_entries(self, source: int, rows: Sequence[tuple[int, EntryRow]]) -> None:
        """Inserts new entries in few statements: a first run, or a rebuild, is nothing but
        this.
        """
        first = 1 + cast(int, self._file.value("SELECT coalesce(max(rowid), 0) FROM entry"))
        new = [(first + place, seq, row) for place, (seq, row) in enumerate(rows)]
        self._file.db.executemany(
            _INSERT_ENTRY, [(entry, *entry_values(source, seq, row)) for entry, seq, row in new]
        )
        self._put_passages(
            [
                (0, entry, number, chunk)
                for entry, _, row in new
                for number, chunk in enumerate(row.chunks())
            ]
        )
        self._insert_labels([(entry, _labels(row)) for entry, _, row in new])
        if "vocabulary" in self._file.kept:
            tags, projects, files = cast(Vocabulary, self._file.kept["vocabulary"])
            for tag in (tag for _, _, row in new for tag in row.entry.tags):
                tags[tag] = tags.get(tag, 0) + 1
            projects |= {
                project_key(row.entry.project) for _, _, row in new if row.entry.project
            }
            files |= {path.lower() for _, _, row in new for path in row.entry.files}
            self._file.kept["vocabulary"] = Vocabulary(tags, projects, files)

    def _insert_labels(self, labelled: Sequence[tuple[int, tuple[list[Any], ...]]]) -> None:
        """Writes the labels of entries, given by rowid; in few statements, too."""
        for place, (table, columns) in enumerate(_LABELS.items()):
            if rows := [
                (entry, *label) for entry, labels in labelled for label in labels[place]
            ]:
                self._file.db.executemany(
                    f"INSERT INTO {table} VALUES (?{', ?' * len(columns.split(','))})", rows
                )

    def _replace_entry(self, rowid: int, source: int, seq: int, row: EntryRow) -> None:
        """Writes what differs: an entry is written again also where only one beside it changed."""
        labels = _labels(row)
        stored = [
            self._file.rows(f"SELECT {columns} FROM {table} WHERE entry = ? ORDER BY 1", rowid)
            for table, columns in _LABELS.items()
        ]
        if stored != list(labels):
            for table in _LABELS:
                self._file.db.execute(f"DELETE FROM {table} WHERE entry = ?", (rowid,))
            self._insert_labels([(rowid, labels)])
            self._file.kept.pop("vocabulary", None)
        key = row.entry.project and project_key(row.entry.project)
        if not self._file.value(
            "SELECT project_key IS ? FROM entry WHERE rowid = ?", key, rowid
        ):
            self._file.kept.pop("vocabulary", None)
        self._file.db.execute(_UPDATE_ENTRY, (*entry_values(source, seq, row), rowid))
        chunks = row.chunks()
        known = {
            number: columns for number, *columns in self._file.rows(_CHUNKS_OF_ENTRY, rowid)
        }
        others, reworded, dropped = [], [], []
        for number, chunk in enumerate(chunks):
            old, hash_, words_hash, start, end, vector = known.get(
                number, (0, None, 0, 0, 0, 0)
            )
            if hash_ != chunk.hash or (vector != -1) != chunk.embed:
                others.append((old, rowid, number, chunk))
                dropped += [old] if vector > 0 else []
            elif (start, end, words_hash) != (chunk.start, chunk.end, chunk.words_hash):
                self._file.db.execute(
                    _MOVE_CHUNK, (chunk.start, chunk.end, chunk.words_hash, old)
                )
                reworded += [(old, chunk)] if words_hash != chunk.words_hash else []
        stale = [(old,) for old, *_ in (*others, *reworded) if old]
        self._file.db.executemany("DELETE FROM chunk_fts WHERE rowid = ?", stale)
        self._insert_words(reworded)
        self._put_passages(others, dropped)
        if len(known) > len(chunks):
            self._delete_chunks(rowid, len(chunks))

    def _put_passages(
        self, passages: Sequence[tuple[int, int, int, ChunkRow]], dropped: Sequence[int] = ()
    ) -> None:
        """Writes (rowid, 0 for a new one; entry; number in it; passage), each with the vector
        of an equal text.

        Vectors of the chunks `dropped` go, but serve the new passages first.
        """
        found = [
            self._equal_text_vector(chunk) if chunk.embed else None
            for _, _, _, chunk in passages
        ]
        self._drop_vectors(dropped)
        new = count(
            1 + cast(int, self._file.value("SELECT coalesce(max(rowid), 0) FROM chunk"))
        )
        numbered = [
            (rowid or next(new), entry, number, chunk)
            for rowid, entry, number, chunk in passages
        ]
        self._file.db.executemany(
            _PUT_CHUNK,
            [
                (
                    rowid,
                    entry,
                    number,
                    chunk.start,
                    chunk.end,
                    chunk.hash,
                    chunk.words_hash,
                    0 if chunk.embed else -1,
                )
                for rowid, entry, number, chunk in numbered
            ],
        )
        self._insert_words([(rowid, chunk) for rowid, _, _, chunk in numbered])
        vectors = [
            (row[0], vector)
            for row, vector in zip(numbered, found, strict=True)
            if vector is not None
        ]
        self._put_vectors(vectors)
        self._reused += len(vectors)

    def _insert_words(self, chunks: Sequence[tuple[int, ChunkRow]]) -> None:
        words = [(rowid, spell(chunk.own), spell(chunk.context)) for rowid, chunk in chunks]
        self._file.db.executemany(
            "INSERT INTO chunk_fts (rowid, own, context) VALUES (?, ?, ?)", words
        )

    def _delete_chunks(self, entry: int, from_seq: int) -> None:
        doomed = self._file.rows(
            "SELECT rowid, vector FROM chunk WHERE entry = ? AND seq >= ?", entry, from_seq
        )
        self._drop_vectors([rowid for rowid, vector in doomed if vector > 0])
        for table in ("chunk_fts", "chunk"):
            self._file.db.executemany(
                f"DELETE FROM {table} WHERE rowid = ?", [(rowid,) for rowid, _ in doomed]
            )

    def _settle_ids(self) -> None:
        """Decides anew which entry has an id, for each touched id that several entries claim or
        claimed until now.

        The first entry that claims an id gets it. An equal copy gets no id, an entry with
        another text a derived id. Shorter paths come first: a conflict copy's name is its
        original's with something added.
        """
        contested = self._file.rows(_CONTESTED, json.dumps(list(self._touched)))
        for (own_id,) in contested:
            seen: set[tuple[object, ...]] = set()
            for rowid, *says, day, path, twin_before, other_before in self._file.rows(
                _CLAIMS, own_id
            ):
                twin = 0 if not seen else 1 if tuple(says) in seen else 2
                seen.add(tuple(says))
                other = (
                    derived_id(day and date.fromisoformat(day), path, own_id, 0)
                    if twin == 2
                    else None
                )
                if (twin, other) != (twin_before, other_before):
                    self._file.db.execute(
                        "UPDATE entry SET twin = ?, other_id = ? WHERE rowid = ?",
                        (twin, other, rowid),
                    )

    def _settle_numbered(self, removed: Sequence[str]) -> None:
        """Lets what `x 2.md` says as `x.md` says it count once, where either of them changed."""
        ids, copies = self.ids(), set[str]()
        for path in (*self._replaced, *removed):
            copies |= {path, *numbered_copies(path)} & ids.keys()
        for path in filter(numbered_of, copies):
            values = {"copy": ids[path], "original": ids.get(numbered_of(path))}
            self._file.db.execute(_SETTLE_NUMBERED, values)

    # -- vectors
    # --------------------------------------------------------------------------------------

    def use_model(self, name: str, dimensions: int, *, usual: float | None = None) -> None:
        """Makes room for the vectors of this model, and drops those of another one.

        `usual` is what `embedding.usual_cosine` says of it.
        """
        if self._file.meta("model") == name:
            return
        self._empty_vectors(dimensions)
        self._file.db.execute("UPDATE chunk SET vector = 0 WHERE vector > 0")
        self._file.set_meta("model", name)
        self._file.set_meta("dimensions", dimensions)
        self._file.db.execute("DELETE FROM meta WHERE key = 'usual'")
        if usual is not None:
            self._file.set_meta("usual", usual)

    def store_vectors(self, vectors: Sequence[tuple[int, int, Vector]]) -> None:
        """Stores (chunk rowid, hash of its text, vector) where the text is still the same."""
        waiting = "SELECT hash FROM chunk WHERE rowid = ? AND vector = 0"
        self._put_vectors(
            [
                (row, quantise(vector))
                for row, hash_, vector in vectors
                if self._file.value(waiting, row) == hash_
            ]
        )

    def _equal_text_vector(self, chunk: ChunkRow) -> bytes | None:
        donor = self._donors.get(chunk.hash)
        if (
            donor
            and self._file.value("SELECT hash FROM chunk WHERE rowid = ? AND vector > 0", donor)
            == chunk.hash
        ):
            return cast(
                "bytes | None",
                self._file.value("SELECT embedding FROM chunk_vec WHERE rowid = ?", donor),
            )
        if self._has_kept:
            return cast(
                "bytes | None",
                self._file.value("SELECT embedding FROM temp.kept WHERE hash = ?", chunk.hash),
            )
        return None

    def _put_vectors(self, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Stores vectors, each with the number of this change, by which every process sees that
        they are new.
        """
        if vectors:
            change = self._count("stored", 1)
            self._file.db.executemany(_INSERT_VECTOR, vectors)
            self._file.db.executemany(
                "UPDATE chunk SET vector = ? WHERE rowid = ?",
                [(change, row) for row, _ in vectors],
            )

    def _drop_vectors(self, rowids: Sequence[int]) -> None:
        if rowids:
            self._file.db.executemany(
                "DELETE FROM chunk_vec WHERE rowid = ?", [(rowid,) for rowid in rowids]
            )
            self._count("dropped", len(rowids))

    def _empty_vectors(self, dimensions: int) -> None:
        create_vectors(self._file.db, dimensions)
        self._file.set_meta("packed", self._count("dropped", 0))

    def _count(self, key: str, more: int) -> int:
        """A counter of the table `meta`, raised by `more`."""
        new = cast(int, self._file.meta(key) or 0) + more
        self._file.set_meta(key, new)
        return new

    def _give_room_back(self, most: int) -> None:
        """Rewrites the table of vectors where it became sparse; where many pages are free,
        gives up to `most` back.

        The rows of a page that stood at the end move, not their numbers; readers keep their
        snapshot.
        """
        dropped = cast(int, self._file.meta("dropped") or 0)
        since = dropped - cast(int, self._file.meta("packed") or 0)
        if since >= DROPPED_AT_LEAST:
            rowids = [
                row[0]
                for row in self._file.rows(
                    "SELECT rowid FROM chunk WHERE vector > 0 ORDER BY rowid"
                )
            ]
            if since >= SPARSE * (len(rowids) + since):
                for begin in range(0, len(rowids), MOVED_AT_ONCE):
                    some = rowids[begin : begin + MOVED_AT_ONCE]
                    moving = self._file.rows(VECTORS_OF_CHUNKS, json.dumps(some))
                    self._file.db.executemany(
                        "DELETE FROM chunk_vec WHERE rowid = ?", [(rowid,) for rowid in some]
                    )
                    self._file.db.executemany(_INSERT_VECTOR, moving)
                self._file.set_meta("packed", dropped)
        free, pages = (
            self._file.value("PRAGMA freelist_count"),
            self._file.value("PRAGMA page_count"),
        )
        if free > pages // FREE_SHARE:
            self._file.rows(
                f"PRAGMA incremental_vacuum({min(most, free - pages // FREE_SHARE)})"
            )


def _labels(row: EntryRow) -> tuple[list[Any], ...]:
    """The rows of an entry in each table of _LABELS, without its rowid."""
    entry = row.entry
    known = dict(entry.fingerprints)
    return (
        list(enumerate(entry.tags)),
        [(seq, path, known.get(path)) for seq, path in enumerate(entry.files)],
        [(old,) for old in sorted(set(entry.supersedes))],
        [
            (seq, name, value, field_words(value))
            for seq, (name, value) in enumerate(entry.fields)
        ],
        *row.marks(),
    )


_LABELS = {
    "tag": "seq, name",
    "file": "seq, path, hash",
    "supersedes": "target",
    "field": "seq, name, value, words",
    "link": "key",
    "name": "key, own",
    "task": "open",
}
_TOUCH = (
    "UPDATE source SET mtime_ns = ?1, ctime_ns = nullif(?2, ?1), size = ?3, inode = ?4, "
    "settled = 1 WHERE id = ?5"
)
_KNOWN_ENTRIES = (
    f"SELECT own_id, rowid, row_hash, {', '.join(PLACE_COLUMNS)} FROM entry WHERE source = ?"
)
_CHUNKS_OF_ENTRY = (
    'SELECT seq, rowid, hash, words_hash, start, "end", vector FROM chunk WHERE entry = ?'
)
_CONTESTED = (
    "SELECT own_id FROM entry WHERE own_id IN (SELECT value FROM json_each(?)) "
    "GROUP BY own_id HAVING count(*) > 1 OR max(twin) > 0"
)
_CLAIMS = (
    "SELECT e.rowid, e.content_hash, e.title, e.type, CASE WHEN e.date_source NOT IN "
    "('git', 'mtime') THEN e.date END, "
    "s.path, e.twin, e.other_id FROM entry e JOIN source s ON s.id = e.source "
    "WHERE e.own_id = ? ORDER BY length(s.path), s.path, e.seq"
)
_SETTLE_NUMBERED = """
    UPDATE entry SET twin = now.twin FROM (
        SELECT c.rowid AS row, EXISTS (
            SELECT 1 FROM entry o WHERE o.source = :original AND o.content_hash = c.content_hash AND o.type = c.type
            AND (o.title = c.title OR (c.whole_file AND c.title LIKE o.title || ' _'))
            AND (o.date = c.date OR o.date_source IN ('git', 'mtime'))
        ) AS twin FROM entry c WHERE c.source = :copy AND c.derived AND c.twin < 2
    ) AS now WHERE entry.rowid = now.row AND entry.twin <> now.twin"""
_INSERT_VECTOR = "INSERT INTO chunk_vec (rowid, embedding) VALUES (?, vec_int8(?))"
_VECTORS_OF_FILE = (
    "SELECT c.hash, c.rowid FROM entry e JOIN chunk c ON c.entry = e.rowid WHERE e.source "
    "= ? AND c.vector > 0"
)

# INSERT OR REPLACE would move rowids and orphan the rows of chunk_fts and chunk_vec.
_UPSERT_SOURCE = """
    INSERT INTO source (id, path, mtime_ns, ctime_ns, size, inode, digest, settled)
    VALUES (?1, ?2, ?3, nullif(?4, ?3), ?5, ?6, ?7, ?8)
    ON CONFLICT (id) DO UPDATE SET mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns,
        size = excluded.size, inode = excluded.inode, digest = excluded.digest, settled = excluded.settled
    RETURNING id"""

_INSERT_ENTRY = f"""
    INSERT INTO entry (rowid, {", ".join(ENTRY_COLUMNS)}) VALUES (?, {", ".join("?" * len(ENTRY_COLUMNS))})"""

_UPDATE_ENTRY = (
    f"UPDATE entry SET {', '.join(f'{column} = ?' for column in ENTRY_COLUMNS)} WHERE rowid = ?"
)

_MOVE_ENTRY = (
    f"UPDATE entry SET {', '.join(f'{column} = ?' for column in PLACE_COLUMNS)} WHERE rowid = ?"
)

_PUT_CHUNK = """
    INSERT INTO chunk (rowid, entry, seq, start, "end", hash, words_hash, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (entry, seq) DO UPDATE SET start = excluded.start, "end" = excluded."end",
        hash = excluded.hash, words_hash = excluded.words_hash, vector = excluded.vector"""

_MOVE_CHUNK = 'UPDATE chunk SET start = ?, "end" = ?, words_hash = ? WHERE rowid = ?'
