"""Files, entries and vectors into the index, each change as small as it can be."""

from __future__ import annotations

import json
import time
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, cast

import apsw

from ..errors import SynapticError
from ..language.words import spell
from ..models import Entry, Proof, Stamp, Vector
from ..notes.markdown import derived_id
from .database import COMPACT_WAIT_MS
from .kept import Keeping
from .rescue import VECTORS_IN_A_BLOCK, create_vectors, set_aside
from .rows import (
    ENTRY_COLUMNS,
    PLACE_COLUMNS,
    ChunkRow,
    EntryRow,
    FileRows,
    Passage,
    Source,
    entry_values,
    folded,
    place_values,
    quantise,
)

Vocabulary = tuple[frozenset[str], frozenset[str], frozenset[str]]
"""The tags, projects and files that entries are marked with, in lower case."""

TIMINGS_KEPT = 1_000
"""Of each verb."""

SPARSE = 5 / 8
"""A block of vectors with no more than this share in use is given up; 1.6 vectors move for each that is deleted."""


class Store(Keeping):
    """The writing half of the index. Whatever changes it runs within `writing`."""

    def __init__(self, path: Path, *, stemming: bool = True) -> None:
        super().__init__(path, stemming=stemming)
        self._note = path.with_name("index.scrub")
        self._owes_scrub = False
        self._donors: dict[int, int] = {}
        self._has_kept = False
        self._accessed: Counter[str] = Counter()
        self._accessed_at = 0
        self._timed: dict[str, deque[tuple[str | None, int, str]]] = {}

    def proofs(self) -> Mapping[str, Proof | None]:
        """By path what proves that an indexed file is as it was; None where nothing does."""
        return self.keep("proofs", lambda: {path: source.proof for path, source in self.sources().items()})

    def _proven(self, stamp: Stamp, settled: bool) -> None:
        """None; what `proofs` keeps follows a file."""
        if "proofs" in self._kept:
            cast("dict[str, Proof | None]", self._kept["proofs"])[stamp.path] = stamp.proof if settled else None

    def _ids(self) -> dict[str, int]:
        """The row of every indexed file, by path: no index of the table knows it."""
        return self.keep("ids", lambda: dict(self.rows("SELECT path, id FROM source")))

    def _count_passages(self, more: int) -> None:
        """None; the number of passages that is kept follows."""
        if "passages" in self._kept:
            self._kept["passages"] = cast(int, self._kept["passages"]) + more

    def sources(self) -> dict[str, Source]:
        """Every indexed file by path."""
        return {row[0]: _source(row) for row in self.rows(_SOURCES)}

    def source(self, path: str) -> Source | None:
        """An indexed file as it was when it was read; None for a path that is not indexed."""
        return next(map(_source, self.rows(f"{_SOURCES} WHERE id = ?", self._ids().get(path))), None)

    def touch(self, stamp: Stamp) -> None:
        """Notes that a file was read and holds what it held, which its stamp proves now. Call within `writing`."""
        self.db.execute(
            "UPDATE source SET mtime_ns = ?1, ctime_ns = nullif(?2, ?1), size = ?3, inode = ?4, settled = 1 "
            "WHERE id = ?5",
            (*stamp.proof, self._ids()[stamp.path]),
        )
        self._proven(stamp, True)

    def apply(self, files: Iterable[FileRows], removed: Sequence[str] = (), changed: Sequence[str] = ()) -> int:
        """How many vectors were taken over, after bringing these files up to date. Call within `writing`.

        What vanished is deleted last, so that an entry that moved finds its vectors: those of the files `removed`
        and `changed`, and what `clear` set aside.
        """
        touched: set[str] = set()
        doomed: list[int] = []
        reused = 0
        ids = self._ids()
        known = [ids[path] for path in (*removed, *changed) if path in ids]
        self._donors = {row[0]: row[1] for source in known for row in self.rows(_VECTORS_OF_FILE, source)}
        self._has_kept = self.value("SELECT 1 FROM sqlite_temp_schema WHERE name = 'kept'") is not None
        hides = False
        for file in files:
            hides |= file.hides
            reused += self._replace_file(file, touched, doomed)
        for path in removed:
            doomed += (row[0] for row in self.rows("SELECT rowid FROM entry WHERE source = ?", ids[path]))
        for rowid in doomed:
            touched.add(self.value("SELECT own_id FROM entry WHERE rowid = ?", rowid))
            self._delete_chunks(rowid, 0)
            self.db.execute("DELETE FROM entry WHERE rowid = ?", (rowid,))
        if doomed:
            self._forget_labels()
            if hides:
                self.owe_scrub()
        self.db.executemany("DELETE FROM source WHERE id = ?", [(ids.pop(path),) for path in removed])
        if removed:
            self.forget("proofs")
        for own_id in self._contested(touched):
            self._settle_id(own_id)
        self._donors = {}
        return reused

    def accessed(self, ids: Iterable[str], at: int) -> None:
        """Counts a reading of these entries; the index is told with the next write, or by `flush`."""
        self._accessed.update(ids)
        self._accessed_at = at

    def timed(self, verb: str, stages: Mapping[str, float], strategy: str | None = None) -> None:
        """Keeps how many milliseconds each stage of a call took; written like `accessed`.

        The first call of a process pays for imports and caches: it tells nothing of its strategy.
        """
        said = json.dumps({name: round(ms, 3) for name, ms in stages.items()})
        warm = verb in self._timed
        calls = self._timed.setdefault(verb, deque(maxlen=TIMINGS_KEPT))
        calls.append((strategy if warm else None, int(time.time()), said))

    @property
    def unwritten(self) -> bool:
        """Whether something was counted that the index does not know yet."""
        return bool(self._accessed or any(self._timed.values()))

    def write_counted(self) -> None:
        """None; the index knows what was read, and how long calls took. Call within `writing`."""
        db = self.db
        db.executemany(
            "INSERT INTO access SELECT ?1, ?2, ?3 WHERE EXISTS "
            "(SELECT 1 FROM entry WHERE own_id = ?1 OR (twin = 2 AND other_id = ?1)) "
            "ON CONFLICT (id) DO UPDATE SET count = count + excluded.count, at = max(at, excluded.at)",
            [(id, count, self._accessed_at) for id, count in self._accessed.items()],
        )
        for verb, calls in self._timed.items():
            db.executemany(
                "INSERT INTO timing (verb, strategy, at, stages) VALUES (?, ?, ?, ?)", [(verb, *call) for call in calls]
            )
            db.execute(
                "DELETE FROM timing WHERE verb = ?1 AND number <= "
                "(SELECT number FROM timing WHERE verb = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
                (verb, TIMINGS_KEPT),
            )
        self._accessed.clear()
        for calls in self._timed.values():
            calls.clear()  # that a verb was called before is remembered

    def flush(self) -> bool:
        """Writes what was only counted so far, unless somebody else is writing; True when nothing is left."""
        if self.unwritten:
            with suppress(apsw.Error, SynapticError), self.writing(0):
                self.write_counted()
        return not self.unwritten

    def forget_accesses(self) -> None:
        """Drops the counts of what is no longer in the journal. Call within `writing`."""
        self._accessed.clear()
        self.db.execute("DELETE FROM access WHERE id NOT IN (SELECT id FROM entry WHERE id IS NOT NULL)")

    def owe_scrub(self) -> None:
        """None; a file beside the index tells every process that deleted text has to go from the index's bytes.

        Not a row: where another process writes, it is noted all the same.
        """
        self._owes_scrub = True
        with suppress(OSError):  # where nothing can be written, this process remembers
            self._note.touch(0o600)

    def owes_scrub(self) -> bool:
        """Whether bytes of what was purged or became private may still stand in the file or its log."""
        return self._owes_scrub or self._note.exists()

    def scrub(self, wait_ms: int = COMPACT_WAIT_MS) -> bool:
        """Leaves no trace of what was deleted: FTS5 keeps its words until segments are merged, SQLite its pages.

        False where another process writes or reads from the log, which then keeps it, and where the index is kept
        in memory, since its file was refused: the scrub stays owed.
        """
        if self.trouble:
            return False
        with suppress(apsw.BusyError):
            with self.writing(wait_ms):
                self.forget_accesses()
                self.optimize()
            if self.compact(wait_ms):
                self._owes_scrub = False
                with suppress(OSError):  # the note stays: it is done once more
                    self._note.unlink(missing_ok=True)
                return True
        return False

    def clear(self, *, keep_vectors: bool) -> None:
        """Empties the index, setting vectors aside for `apply` to take over. Call within `writing`."""
        db = self.db
        self._kept.clear()
        if not keep_vectors:
            self.forget_kept()
        elif self.has_vectors():
            set_aside(db)
        db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('delete-all')")
        for table in ("chunk", "supersedes", "file", "tag", "entry", "issue", "source"):
            db.execute(f"DELETE FROM {table}")
        if self.has_vectors():
            dimensions = self.meta("dimensions")
            db.execute("DROP TABLE chunk_vec")
            create_vectors(db, cast(int, dimensions))

    def forget_kept(self) -> None:
        """Drops the vectors that `clear` set aside."""
        self.db.execute("DROP TABLE IF EXISTS temp.kept")

    def _replace_file(self, file: FileRows, touched: set[str], doomed: list[int]) -> int:
        ids, path = self._ids(), file.stamp.path
        source = ids[path] = self.value(_UPSERT_SOURCE, ids.get(path), *file.stamp, file.digest, file.settled)
        self._proven(file.stamp, file.settled)
        known = {own_id: columns for own_id, *columns in self.rows(_KNOWN_ENTRIES, source)}
        new, moved, reused = [], [], 0
        for seq, row in enumerate(file.rows):
            rowid, row_hash, *place = known.pop(row.entry.id, (None, None))
            if row_hash != row.row_hash:
                touched.add(row.entry.id)
            if rowid is None:
                new.append((seq, row))
            elif row_hash != row.row_hash:
                if row.hides:
                    self.owe_scrub()
                reused += self._replace_entry(rowid, source, seq, row)
            elif tuple(place) != place_values(seq, row):
                moved.append((*place_values(seq, row), rowid))
        self.db.executemany(_MOVE_ENTRY, moved)
        reused += self._insert_entries(source, new)
        doomed += (columns[0] for columns in known.values())
        self.db.execute("DELETE FROM issue WHERE source = ?", (source,))
        self.db.executemany(
            "INSERT INTO issue VALUES (?, ?, ?, ?, ?)",
            ((source, seq, issue.line, issue.code, issue.message) for seq, issue in enumerate(file.issues)),
        )
        return reused

    def _insert_entries(self, source: int, rows: Sequence[tuple[int, EntryRow]]) -> int:
        """How many vectors were taken over. In few statements: a first run, or a rebuild, is nothing but this."""
        first = entry = self.value("SELECT coalesce(max(rowid), 0) FROM entry")
        chunk_rowid = self.value("SELECT coalesce(max(rowid), 0) FROM chunk")
        entries, chunks, words, vectors, labelled = [], [], [], [], []
        for entry, (seq, row) in enumerate(rows, start=first + 1):
            entries.append((entry, *entry_values(source, seq, row)))
            if row.entry.tags or row.entry.files or row.entry.supersedes:
                labelled.append((entry, row))
            for number, chunk in enumerate(row.chunks()):
                chunk_rowid += 1
                embedding = self._equal_text_vector(chunk) if chunk.embed else None
                if embedding is not None:
                    vectors.append((chunk_rowid, embedding))
                chunks.append((chunk_rowid, *_chunk_values(entry, number, chunk, embedding)))
                words.append(_words(chunk_rowid, chunk))
        db = self.db
        db.executemany(_INSERT_ENTRY, entries)
        db.executemany(_INSERT_CHUNK, chunks)
        self._count_passages(len(chunks))
        db.executemany(_INSERT_WORDS, words)
        db.executemany(_INSERT_VECTOR, vectors)
        for entry, row in labelled:
            self._insert_labels(entry, row)
        self._learn([row.entry for _, row in rows])
        return len(vectors)

    def _learn(self, entries: Sequence[Entry]) -> None:
        """None; what is kept of the labels in use follows new entries."""
        if "vocabulary" in self._kept:
            tags, projects, files = cast("Vocabulary", self._kept["vocabulary"])
            tags |= {tag.lower() for entry in entries for tag in entry.tags}
            projects |= {entry.project.casefold().lower() for entry in entries if entry.project}
            files |= {path.lower() for entry in entries for path in entry.files}
            self._kept["vocabulary"] = tags, projects, files
        if "uses of tags" in self._kept:
            uses = cast("Counter[str]", self._kept["uses of tags"])
            uses.update(tag for entry in entries for tag in entry.tags)

    def _forget_labels(self) -> None:
        """None; some are in use no more."""
        self.forget("vocabulary")
        self.forget("uses of tags")

    def _insert_labels(self, rowid: int, row: EntryRow) -> None:
        db = self.db
        tags, files, old = _labels(row)
        db.executemany("INSERT INTO tag VALUES (?, ?, ?)", [(rowid, *tag) for tag in tags])
        db.executemany("INSERT INTO file VALUES (?, ?, ?, ?)", [(rowid, *file) for file in files])
        db.executemany("INSERT INTO supersedes VALUES (?, ?)", [(rowid, *target) for target in old])

    def _replace_labels(self, rowid: int, row: EntryRow) -> None:
        """None; what is the same stays: an entry is written again when one beside it changes."""
        if self.value("SELECT project_key FROM entry WHERE rowid = ?", rowid) != folded(row.entry.project):
            self._forget_labels()
        known = (
            self.rows("SELECT seq, name FROM tag WHERE entry = ? ORDER BY seq", rowid),
            self.rows("SELECT seq, path, hash FROM file WHERE entry = ? ORDER BY seq", rowid),
            self.rows("SELECT target FROM supersedes WHERE entry = ? ORDER BY target", rowid),
        )
        if known != _labels(row):
            for table in ("tag", "file", "supersedes"):
                self.db.execute(f"DELETE FROM {table} WHERE entry = ?", (rowid,))
            self._insert_labels(rowid, row)
            self._forget_labels()

    def _replace_entry(self, rowid: int, source: int, seq: int, row: EntryRow) -> int:
        chunks = row.chunks()
        self._replace_labels(rowid, row)
        self.db.execute(_UPDATE_ENTRY, (*entry_values(source, seq, row), rowid))
        known = {seq: columns for seq, *columns in self.rows(_CHUNKS_OF_ENTRY, rowid)}
        reused = sum(self._replace_chunk(rowid, i, chunk, known.get(i)) for i, chunk in enumerate(chunks))
        if len(known) > len(chunks):
            self._delete_chunks(rowid, len(chunks))
        return reused

    def _replace_chunk(self, entry: int, seq: int, chunk: ChunkRow, known: Sequence[Any] | None) -> bool:
        """Writes what differs; True when the vector of an equal text was taken over."""
        db = self.db
        if known is not None:
            rowid, hash_, words_hash, start, end, vector = known
            if (start, end) != (chunk.start, chunk.end):
                db.execute(_MOVE_CHUNK, (chunk.start, chunk.end, rowid))
            same_text = hash_ == chunk.hash and (vector != -1) == chunk.embed
            if same_text and words_hash == chunk.words_hash:
                return False
            db.execute("DELETE FROM chunk_fts WHERE rowid = ?", (rowid,))
            if same_text:
                db.execute("UPDATE chunk SET words_hash = ? WHERE rowid = ?", (chunk.words_hash, rowid))
                self._insert_words(rowid, chunk)
                return False
        embedding = self._equal_text_vector(chunk) if chunk.embed else None
        rowid = self.value(_UPSERT_CHUNK, *_chunk_values(entry, seq, chunk, embedding))
        self._insert_words(rowid, chunk)
        if known is None:
            self._count_passages(1)
        if known is not None and known[5] == 1:
            self._delete_vector(rowid)
        if embedding is not None:
            db.execute(_INSERT_VECTOR, (rowid, embedding))
        return embedding is not None

    def _insert_words(self, rowid: int, chunk: ChunkRow) -> None:
        self.db.execute(_INSERT_WORDS, _words(rowid, chunk))

    def _equal_text_vector(self, chunk: ChunkRow) -> bytes | None:
        donor = self._donors.get(chunk.hash)
        if donor and self.value("SELECT hash FROM chunk WHERE rowid = ? AND vector = 1", donor) == chunk.hash:
            return cast("bytes | None", self.value(_VECTOR_OF_CHUNK, donor))
        if self._has_kept:
            kept = self.value("SELECT embedding FROM temp.kept WHERE hash = ?", chunk.hash)
            return cast("bytes | None", kept)
        return None

    def _delete_chunks(self, entry: int, from_seq: int) -> None:
        db = self.db
        doomed = self.rows("SELECT rowid, vector FROM chunk WHERE entry = ? AND seq >= ?", entry, from_seq)
        self._count_passages(-len(doomed))
        for rowid, vector in doomed:
            db.execute("DELETE FROM chunk_fts WHERE rowid = ?", (rowid,))
            if vector == 1:
                self._delete_vector(rowid)
            db.execute("DELETE FROM chunk WHERE rowid = ?", (rowid,))

    def _delete_vector(self, rowid: int) -> None:
        """None; where its block has become sparse, the others move to the last one, and vec0 drops the empty block.

        It fills the places of its last block only, so without this the table would grow to five times its size.
        """
        db = self.db
        block = self.value("SELECT chunk_id FROM chunk_vec_rowids WHERE rowid = ?", rowid)
        db.execute("DELETE FROM chunk_vec WHERE rowid = ?", (rowid,))
        found = self.rows(_PLACES_OF_BLOCK, block)
        used = int.from_bytes(found[0][0], "little") if found else 0
        if not 0 < used.bit_count() <= SPARSE * VECTORS_IN_A_BLOCK:
            return
        rowids = [each for place, each in enumerate(array("q", found[0][1])) if used >> place & 1]
        moving = [(each, self.value(_VECTOR_OF_CHUNK, each)) for each in rowids]
        db.executemany("DELETE FROM chunk_vec WHERE rowid = ?", ((each,) for each in rowids))
        db.executemany(_INSERT_VECTOR, moving)

    def _contested(self, own_ids: Iterable[str]) -> list[str]:
        """Those of these ids that several entries claim, or did until now."""
        rows = self.rows(
            "SELECT own_id FROM entry WHERE own_id IN (SELECT value FROM json_each(?)) "
            "GROUP BY own_id HAVING count(*) > 1 OR max(twin) > 0",
            json.dumps(list(own_ids)),
        )
        return [row[0] for row in rows]

    def _settle_id(self, own_id: str) -> None:
        """The first entry that claims an id has it, an equal copy none, another text its derived one.

        Shorter paths come first: a conflict copy's name is its original's with something added.
        """
        rows = self.rows(
            "SELECT e.rowid, e.content_hash, e.title, e.type, "
            "CASE e.date_source WHEN 'mtime' THEN NULL ELSE e.date END, s.path, e.twin, e.other_id "
            "FROM entry e JOIN source s ON s.id = e.source WHERE e.own_id = ? ORDER BY length(s.path), s.path, e.seq",
            own_id,
        )
        seen: set[tuple[object, ...]] = set()
        for number, (rowid, *says, day, path, twin_before, other_before) in enumerate(rows):
            twin = 0 if number == 0 else 1 if tuple(says) in seen else 2
            seen.add(tuple(says))
            other = derived_id(day and date.fromisoformat(day), path, own_id, 0) if twin == 2 else None
            if (twin, other) != (twin_before, other_before):
                self.db.execute("UPDATE entry SET twin = ?, other_id = ? WHERE rowid = ?", (twin, other, rowid))

    # -- vectors ------------------------------------------------------------------------------------

    def has_vectors(self) -> bool:
        return self.value("SELECT 1 FROM sqlite_schema WHERE name = 'chunk_vec'") is not None

    def use_model(self, name: str, dimensions: int) -> None:
        """Makes room for this model's vectors; another model's are dropped. Call within `writing`."""
        if self.meta("model") == name and self.has_vectors():
            return
        self.db.execute("DROP TABLE IF EXISTS chunk_vec")
        create_vectors(self.db, dimensions)
        self.db.execute("UPDATE chunk SET vector = 0 WHERE vector = 1")
        self.set_meta("model", name)
        self.set_meta("dimensions", dimensions)

    def pending(self, limit: int, *, below: int | None = None) -> list[Passage]:
        """Passages that want a vector, newest first; of those before the chunk `below`."""
        rows = self.rows(
            f'SELECT c.rowid, c.entry, c.start, c."end", c.hash {_PENDING} AND c.rowid < ? '
            "ORDER BY c.rowid DESC LIMIT ?",
            2**63 - 1 if below is None else below,
            limit,
        )
        return [Passage(*row) for row in rows]

    def pending_counts(self) -> tuple[int, int]:
        """(entries, passages) that have no vector yet."""
        [(entries, passages)] = self.rows(f"SELECT count(DISTINCT c.entry), count(*) {_PENDING}")
        return entries, passages

    def store_vectors(self, vectors: Sequence[tuple[int, int, Vector]]) -> None:
        """Stores (chunk rowid, hash of its text, vector) where the text is still the same."""
        for rowid, hash_, vector in vectors:
            if self.value("SELECT hash FROM chunk WHERE rowid = ? AND vector = 0", rowid) == hash_:
                self.db.execute(_INSERT_VECTOR, (rowid, quantise(vector)))
                self.db.execute("UPDATE chunk SET vector = 1 WHERE rowid = ?", (rowid,))

    def vectors(self, chunk_rowids: Sequence[int]) -> dict[int, bytes]:
        """The int8 vectors of these chunks, as bytes."""
        if not self.has_vectors():
            return {}
        return dict(self.rows(_VECTORS_OF_CHUNKS, json.dumps(list(chunk_rowids))))


def _chunk_values(entry: int, seq: int, chunk: ChunkRow, embedding: bytes | None) -> tuple[int, ...]:
    vector = 1 if embedding is not None else 0 if chunk.embed else -1
    return entry, seq, chunk.start, chunk.end, chunk.hash, chunk.words_hash, vector


def _source(row: Sequence[Any]) -> Source:
    return Source(Stamp(*row[:5]), row[5], bool(row[6]))


def _labels(row: EntryRow) -> tuple[list[Any], list[Any], list[Any]]:
    """The rows of an entry's tags, files and what it supersedes, without its rowid."""
    entry = row.entry
    known = dict(entry.fingerprints)
    return (
        list(enumerate(entry.tags)),
        [(seq, path, known.get(path)) for seq, path in enumerate(entry.files)],
        [(old,) for old in sorted(set(entry.supersedes))],
    )


def _words(rowid: int, chunk: ChunkRow) -> tuple[int, str, str]:
    return rowid, spell(chunk.own), spell(chunk.context)


_SOURCES = "SELECT path, mtime_ns, coalesce(ctime_ns, mtime_ns), size, inode, digest, settled FROM source"
_PENDING = "FROM chunk c JOIN entry e ON e.rowid = c.entry WHERE c.vector = 0 AND e.id IS NOT NULL"
_KNOWN_ENTRIES = f"SELECT own_id, rowid, row_hash, {', '.join(PLACE_COLUMNS)} FROM entry WHERE source = ?"
_CHUNKS_OF_ENTRY = 'SELECT seq, rowid, hash, words_hash, start, "end", vector FROM chunk WHERE entry = ?'
_MOVE_CHUNK = 'UPDATE chunk SET start = ?, "end" = ? WHERE rowid = ?'
_PLACES_OF_BLOCK = (  # of all but the last, which vec0 fills
    "SELECT validity, rowids FROM chunk_vec_chunks WHERE chunk_id = ? "
    "AND chunk_id < (SELECT max(chunk_id) FROM chunk_vec_chunks)"
)
_VECTOR_OF_CHUNK = "SELECT embedding FROM chunk_vec WHERE rowid = ?"
_VECTORS_OF_CHUNKS = (  # IN would look through all of them
    "SELECT v.rowid, v.embedding FROM json_each(?) j CROSS JOIN chunk_vec v ON v.rowid = j.value"
)
_INSERT_VECTOR = "INSERT INTO chunk_vec (rowid, embedding) VALUES (?, vec_int8(?))"
_VECTORS_OF_FILE = (
    "SELECT c.hash, c.rowid FROM entry e JOIN chunk c ON c.entry = e.rowid WHERE e.source = ? AND c.vector = 1"
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

_UPDATE_ENTRY = f"UPDATE entry SET {', '.join(f'{column} = ?' for column in ENTRY_COLUMNS)} WHERE rowid = ?"

_MOVE_ENTRY = f"UPDATE entry SET {', '.join(f'{column} = ?' for column in PLACE_COLUMNS)} WHERE rowid = ?"

_INSERT_CHUNK = """
    INSERT INTO chunk (rowid, entry, seq, start, "end", hash, words_hash, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""

_INSERT_WORDS = "INSERT INTO chunk_fts (rowid, own, context) VALUES (?, ?, ?)"

_UPSERT_CHUNK = """
    INSERT INTO chunk (entry, seq, start, "end", hash, words_hash, vector) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (entry, seq) DO UPDATE SET start = excluded.start, "end" = excluded."end",
        hash = excluded.hash, words_hash = excluded.words_hash, vector = excluded.vector
    RETURNING rowid"""
