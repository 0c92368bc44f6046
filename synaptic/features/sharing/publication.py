"""Writes a published index: the schema, and differences, one transaction each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psycopg
from psycopg import sql
from psycopg.rows import scalar_row

from ...errors import Busy, IndexUnusable, NotFound
from ...index.index_writer import label_rows
from ...index.rows import (
    ENTRY_COLUMNS,
    PLACE_COLUMNS,
    ChunkRow,
    EntryRow,
    entry_column_values,
    hash64,
    place_column_values,
)
from ...index.sketch import to_rough_bits
from ...index.sqlite_engine import Stems
from ...language.words import normalize_for_index
from ...models import Texts, frozen
from .postgres import (
    MOST_STEM_BYTES,
    SEARCH_PATH,
    VERSION,
    database_error,
    open_connection,
    quote_lexeme,
    storable_value,
    wrong_version_error,
)

SCHEMA = Path(__file__).with_name("postgres.sql")
READERS = "synaptic_reader"
"""The PostgreSQL role whose members may read published journals; a database may lack it."""
OLDEST_PGVECTOR = [0, 8]
"""The first version of pgvector that continues an HNSW search where filters leave few hits."""
MOST_WORDS = 60_000
"""A tsvector takes at most this many words. Few chunks reach that; only a list of a hundred
thousand tags would be cut.
"""
BYTES_A_CHUNK = 900
"""Bytes of memory for each chunk while the HNSW graph of vectors is built."""

Meanings = Mapping[int, tuple[bytes, bytes]]
"""Maps the hash of a chunk's text to its int8 vector and the codes of its tokens."""


@frozen
class Settled:
    """The decisions of the journal's own index about one entry: `other_id`, the id in force
    where several entries have the same id; `twin`, which of equal entries it is; `change`, the
    number of its last change; and `consent`, who confirmed a preference.
    """

    twin: int = 0
    other_id: str | None = None
    change: int = 0
    consent: Texts = ()


@frozen
class PublishedFile:
    """A file as it is published, without private passages and secrets.

    `source_hash` is a keyed hash of everything that the rows are made of.
    """

    path: str
    source_hash: bytes
    bytes: bytes
    rows: Sequence[tuple[EntryRow, Settled]]
    model: str | None
    meanings: Meanings


class Position(NamedTuple):
    """The state of the index at a publication: its model, `counting`, which differs after the
    index was made anew, and `change`, the number of its latest change.
    """

    model: str | None
    dimensions: int | None
    usual: float | None
    counting: int
    change: int


class Publication:
    """Writes the rows of one published journal in a PostgreSQL database. One process at a time
    may do so for a journal.
    """

    def __init__(self, address: str, journal: str, *, stemming: bool) -> None:
        self.address = address
        self.journal = journal
        self._stemming = stemming
        self._made_for: tuple[int | None, ...] = ()
        self._stems = Stems(stemming)
        self._part = sql.Identifier("synaptic", f"chunk_{journal}")
        self._words = sql.Identifier("synaptic", f"words_{journal}")
        with self._translate_errors():
            self._db = open_connection(address)
            for name, value in (("search_path", SEARCH_PATH), ("synaptic.journals", journal)):
                self._db.execute("SELECT set_config($1, $2, false)", (name, value))
            self._make_schema()

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise database_error(error, self.address) from error

    def _fetch_value(self, query: Any, *values: Any) -> Any:
        return self._db.cursor(row_factory=scalar_row).execute(query, values).fetchone()

    # -- the schema

    def _make_schema(self) -> None:
        """Creates the tables if the database has none. Raises IndexUnusable for tables of
        another version.
        """
        with self._db.transaction():
            self._db.execute("SELECT pg_advisory_xact_lock(hashtext('synaptic schema'))")
            if not self._fetch_value("SELECT to_regclass('synaptic.version')::text"):
                self._db.execute("CREATE EXTENSION IF NOT EXISTS vector")
                self._db.execute(SCHEMA.read_text("utf-8"))
                self._db.execute("INSERT INTO synaptic.version VALUES ($1)", (VERSION,))
            self._check_versions()
            self.has_readers = bool(self._fetch_value(_HAS_READERS, READERS))
            if self.has_readers:
                self._db.execute(_GRANT)

    def _check_versions(self) -> None:
        version = self._fetch_value("SELECT number FROM version")
        if version != VERSION:
            raise wrong_version_error(version)
        pgvector = self._fetch_value(_PGVECTOR) or "none"
        if list(map(int, re.findall(r"\d+", pgvector)))[:2] < OLDEST_PGVECTOR:
            raise IndexUnusable(
                f"The database has pgvector {pgvector}; 0.8 or later is needed.",
                hint="Have an administrator of the database run: ALTER EXTENSION vector "
                "UPDATE.",
            )

    def lock_journal(self, ids: Sequence[str]) -> None:
        """Locks the published journal for this process. `ids` are ids of some of its
        entries.

        Raises Busy while another process has it, and IndexUnusable where a journal of this name
        is published that holds none of them.
        """
        with self._translate_errors():
            if not self._fetch_value(_LOCK, self.journal):
                raise Busy(
                    f"Another process already publishes the journal {self.journal!r}.",
                    hint="Nothing to do if that is `serve --publish`, which publishes "
                    "after each save; else "
                    "try again when it has ended.",
                )
            shared = self._fetch_value(
                "SELECT count(*) FROM entry WHERE own_id = ANY ($1)", list(ids)
            )
            if not shared and self._fetch_value("SELECT count(*) FROM entry"):
                raise IndexUnusable(
                    "The database already has another journal with the name "
                    f"{self.journal!r}: it "
                    "shares no entry with this one.",
                    hint="Publish under another name: synaptic publish --journal NAME",
                )

    def create_partition(self) -> None:
        """Creates the partition of this journal and its row, if they are missing."""
        with self._translate_errors(), self._db.transaction():
            self._db.execute(_STAGES)
            self._db.execute(_ADD_JOURNAL, (self.journal,))
            self._db.execute(_ADD_STATE, (self.journal, self._stemming))
            if not self._fetch_value(
                "SELECT to_regclass($1)::text", self._part.as_string(None)
            ):
                name = sql.Literal(self.journal)
                self._db.execute(_PART.format(self._part, name, self._words))
                for column in ("rowid", "entry"):
                    self._create_index("btree", column, column)
                if self.has_readers:
                    self._db.execute(_GRANT_WORDS.format(self._words))

    def _create_index(self, method: str, name: str, on: str, where: str = "true") -> None:
        self._db.execute(
            sql.SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING {} ({}) WHERE {}").format(
                sql.Identifier(f"chunk_{self.journal}_{name}"),
                self._part,
                sql.SQL(method),
                sql.SQL(on),
                sql.SQL(where),
            )
        )

    def build_indexes(self) -> None:
        """Builds the indexes that searches need, as far as they are missing, and lets readers
        see the journal.
        """
        with self._translate_errors():
            chunks, dimensions = self._db.execute(_MADE).fetchone() or (0, None)
            if self._made_for == (dimensions,):
                return
            memory = min(2_000_000, max(65_536, chunks * BYTES_A_CHUNK // 1024))
            self._db.execute(_BUILD_WITHIN, (f"{memory}kB",))
            self._create_index("gin", "words", "words")
            self._create_index("btree", "hash", "hash, rowid", "vector > 0")
            if dimensions:
                bits = 8 * to_rough_bits(np.zeros((1, dimensions), np.int8)).shape[1]
                near = f"(rough::bit({bits})) bit_hamming_ops"
                self._create_index("hnsw", f"near_{bits}", near, "rough IS NOT NULL")
            self._made_for = (dimensions,)
            if not self._fetch_value("SELECT ready FROM journal WHERE name = $1", self.journal):
                self._db.execute("ANALYZE")
                self._db.execute(_READY, (self.journal,))

    def drop_journal(self) -> None:
        """Deletes the journal from the database. Raises NotFound if it is not there."""
        with self._translate_errors(), self._db.transaction():
            if not self._fetch_value("SELECT 1 FROM journal WHERE name = $1", self.journal):
                raise NotFound(
                    f"The database has no journal {self.journal!r}.",
                    hint="`synaptic status` says under which name this journal is published.",
                )
            for table in (*_OF_ENTRIES, "entry", "source", "stem"):
                self._db.execute(_EMPTY.format(sql.Identifier(table)))
            self._db.execute("DELETE FROM journal WHERE name = $1", (self.journal,))
            self._db.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(self._part))

    # -- rows

    def source_hashes(self) -> dict[str, bytes]:
        """Maps the path of each published file to the keyed hash of its sources."""
        with self._translate_errors():
            rows = self._db.execute("SELECT path, seen FROM source").fetchall()
        return {path.removeprefix(f"@{self.journal}/"): seen for path, seen in rows}

    def write_files(
        self, files: Sequence[PublishedFile], removed: Sequence[str], position: Position | None
    ) -> None:
        """Publishes `files` and deletes the `removed` paths in one transaction; unchanged
        entries keep their rows. `position` is given with the last files, when the whole index
        is published.
        """
        with self._translate_errors(), self._db.transaction():
            change = _Change(self, files)
            change.delete_files([f"@{self.journal}/{path}" for path in removed])
            change.write_files()
            latest = position or self._db.execute(_POSITION).fetchone()
            self._db.execute(_UPDATE_STATE, latest)


class _Change:
    """One transaction of a publication: new files, removed files and their rows."""

    def __init__(self, of: Publication, files: Sequence[PublishedFile]) -> None:
        self._db = of._db
        self._stems = of._stems
        self._journal = of.journal
        self._files = {f"@{of.journal}/{file.path}": file for file in files}
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._doomed: list[int] = []

    def delete_files(self, paths: Sequence[str]) -> None:
        self._doomed += self._fetch_column(_ENTRIES_OF_PATHS, list(paths))
        self._db.execute("DELETE FROM source WHERE path = ANY ($1)", (list(paths),))

    def write_files(self) -> None:
        stored_sources = self._db.execute(_SOURCES, (list(self._files),)).fetchall()
        sources: dict[str, int] = dict(stored_sources)
        for path in self._files.keys() - sources.keys():
            [sources[path]] = self._new_rowids(1)
        stored: dict[tuple[int, str], list[Any]] = {}
        for source, own_id, *columns in self._db.execute(_STORED, (list(sources.values()),)):
            stored[source, own_id] = columns
        moved = []
        new = []
        for path, file in self._files.items():
            source = sources[path]
            self._add_row("source", source, path, file.source_hash, file.bytes)
            for seq, (row, settled) in enumerate(file.rows):
                chunks = row.chunks()
                embedded = [chunk.hash in file.meanings for chunk in chunks]
                content_hash = hash64(repr((row.row_hash, settled, embedded, file.model)))
                place_values = _storable_values(place_column_values(seq, row))
                rowid, stored_hash, *stored_values = stored.pop(
                    (source, row.entry.id), (None, None)
                )
                if stored_hash != content_hash:
                    self._doomed += [rowid] if rowid else []
                    values = entry_column_values(source, seq, row)
                    new.append((row, settled, content_hash, values, chunks, file.meanings))
                elif tuple(stored_values) != place_values:
                    moved.append((*place_values, rowid))
        self._doomed += [columns[0] for columns in stored.values()]
        self._delete_rows()
        with self._db.cursor() as cursor:
            cursor.executemany(_MOVE, moved)
        wanted = len(new) + sum(len(chunks) for *_, chunks, _ in new)
        numbers = iter(self._new_rowids(wanted))
        for entry in new:
            self._add_entry(numbers, *entry)
        for table, rows in self._rows.items():
            with self._db.cursor().copy(_COPY[table]) as copy:
                for values in rows:
                    copy.write_row((self._journal, *_storable_values(values)))
            self._db.execute(_MOVE_IN[table])
        self._adjust_counts(1, [row[0] for row in self._rows.get("entry", ())])

    def _delete_rows(self) -> None:
        self._adjust_counts(-1, self._doomed)
        for table in (*_OF_ENTRIES, "chunk"):
            of_entries = sql.SQL("DELETE FROM {} WHERE entry = ANY ($1)")
            self._db.execute(of_entries.format(sql.Identifier(table)), (self._doomed,))
        self._db.execute("DELETE FROM entry WHERE rowid = ANY ($1)", (self._doomed,))
        self._db.execute("DELETE FROM source WHERE path = ANY ($1)", (list(self._files),))

    def _add_row(self, table: str, *row: Any) -> None:
        self._rows.setdefault(table, []).append(row)

    def _new_rowids(self, count: int) -> list[int]:
        return self._fetch_column("SELECT nextval('number') FROM generate_series(1, $1)", count)

    def _fetch_column(self, query: Any, *values: Any) -> list[Any]:
        return self._db.cursor(row_factory=scalar_row).execute(query, values).fetchall()

    def _add_entry(
        self,
        numbers: Iterator[int],
        entry_row: EntryRow,
        settled: Settled,
        content_hash: int,
        entry_values: Sequence[Any],
        chunks: Sequence[ChunkRow],
        meanings: Meanings,
    ) -> None:
        entry = entry_row.entry
        rowid = next(numbers)
        values = dict(zip(ENTRY_COLUMNS, entry_values, strict=True))
        values["row_hash"] = content_hash
        in_force = (entry.id, None, settled.other_id)[settled.twin]
        consent = settled.consent or (None, None)
        own = (rowid, in_force, entry.date, entry.dated, settled.twin, settled.other_id)
        self._add_row("entry", *own, settled.change, *consent, *values.values())
        for table, labels in label_rows(entry_row).items():
            for label in labels:
                self._add_row(table, rowid, *label)
        for number, chunk in enumerate(chunks):
            meaning = meanings.get(chunk.hash) if chunk.embed else None
            self._add_chunk(next(numbers), rowid, number, chunk, meaning)

    def _add_chunk(
        self,
        rowid: int,
        entry: int,
        seq: int,
        chunk: ChunkRow,
        meaning: tuple[bytes, bytes] | None,
    ) -> None:
        stems = self._stems.stems_of_text(normalize_for_index(chunk.words))
        # PostgreSQL joins what is equal, and leaves out positions beyond its limits
        words = " ".join(
            f"{quote_lexeme(stem)}:{number}"
            for number, stem in enumerate(stems[:MOST_WORDS], start=1)
            if len(stem.encode()) < MOST_STEM_BYTES
        )
        repeats = {stem: times for stem, times in Counter(stems).items() if times > 1}
        state, rough = (0 if chunk.embed else -1), None
        if meaning:
            vector, codes = meaning
            state = 1
            rough = f"x{to_rough_bits(np.frombuffer(vector, np.int8)[None]).tobytes().hex()}"
            self._add_row("vector", rowid, entry, vector)
            self._add_row("token", rowid, entry, codes)
        place = (seq, chunk.start, chunk.end, chunk.hash, state)
        often = json.dumps(repeats) if repeats else None
        self._add_row("chunk", rowid, entry, *place, len(stems), words, often, rough)

    def _adjust_counts(self, sign: int, entries: Sequence[int]) -> None:
        """Adds (`sign` 1) these entries to the counts of chunks and stems, or subtracts them
        (-1).
        """
        if entries:
            self._db.execute(_COUNT_CHUNKS, (list(entries), sign))
            self._db.execute(_COUNT_STEMS, (list(entries), sign))
        if sign < 0:
            self._db.execute("DELETE FROM stem WHERE doc <= 0")


def _storable_values(values: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the values as PostgreSQL stores them; True and False become 1 and 0."""
    return tuple(
        int(value) if isinstance(value, bool) else storable_value(value) for value in values
    )


_OF_ENTRIES = ("tag", "file", "supersedes", "field", "link", "name", "task", "vector", "token")
_OWN = (
    *("rowid", "id", "date", "dated", "twin", "other_id", "change"),
    *("consent", "consent_by"),
)
_COLUMNS = {
    "source": ("id", "path", "seen", "bytes"),
    "entry": (*_OWN, *ENTRY_COLUMNS),
    "tag": ("entry", "seq", "name"),
    "file": ("entry", "seq", "path", "hash"),
    "supersedes": ("entry", "target"),
    "field": ("entry", "seq", "name", "value", "words"),
    "link": ("entry", "key"),
    "name": ("entry", "key", "own"),
    "task": ("entry", "open"),
    "vector": ("chunk", "entry", "embedding"),
    "token": ("chunk", "entry", "codes"),
    "chunk": (
        *("rowid", "entry", "seq", "start", '"end"', "hash", "vector", "length"),
        *("words", "repeats", "rough"),
    ),
}
_STAGES: Any = "".join(
    f"CREATE TEMP TABLE new_{table} (LIKE {table}) ON COMMIT DELETE ROWS;" for table in _COLUMNS
)
"""SQL for temporary tables, because PostgreSQL's COPY cannot write to tables with row-level
security.
"""
_COPY: dict[str, Any] = {
    table: f"COPY new_{table} (journal, {', '.join(columns)}) FROM STDIN"
    for table, columns in _COLUMNS.items()
}
_MOVE_IN: dict[str, Any] = {
    table: f"INSERT INTO {table} SELECT * FROM new_{table}" for table in _COLUMNS
}
_PGVECTOR = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
_LOCK = "SELECT pg_try_advisory_lock(hashtext('synaptic'), hashtext($1))"
_ADD_JOURNAL = "INSERT INTO journal (name) VALUES ($1) ON CONFLICT DO NOTHING"
_ADD_STATE = """
    INSERT INTO state (journal, stemming) VALUES ($1, $2)
    ON CONFLICT (journal) DO UPDATE SET stemming = excluded.stemming"""
_PART = sql.SQL("""
    CREATE TABLE {0} PARTITION OF chunk FOR VALUES IN ({1});
    ALTER TABLE {0} ENABLE ROW LEVEL SECURITY;
    ALTER TABLE {0} FORCE ROW LEVEL SECURITY;
    CREATE POLICY words ON {0} TO CURRENT_USER USING (true);
    CREATE VIEW {2} AS SELECT * FROM {0} WHERE {1} = ANY (string_to_array(
        current_setting('synaptic.journals', true), ','))""")
"""Only the owner may read the part itself; others see its rows through `chunk`, and through a
view for the index of words: rules by row keep that from being used, for `@@` is not leakproof.
The rule of the view is of no row: nothing is read where it does not hold.
"""
_HAS_READERS = "SELECT 1 FROM pg_roles WHERE rolname = $1"
_GRANT_WORDS = sql.SQL(f"GRANT SELECT ON {{}} TO {READERS}")
_EMPTY = sql.SQL("DELETE FROM {}")
_GRANT = f"""
    GRANT USAGE ON SCHEMA synaptic TO {READERS};
    DO $$ DECLARE one text; BEGIN
        FOR one IN SELECT c.relname FROM pg_class c
            WHERE c.relnamespace = 'synaptic'::regnamespace AND c.relkind IN ('r', 'p', 'v')
            AND NOT c.relispartition
        LOOP EXECUTE format('GRANT SELECT ON synaptic.%I TO {READERS}', one); END LOOP;
    END $$"""
_SOURCES = "SELECT path, id FROM source WHERE path = ANY ($1)"
_ENTRIES_OF_PATHS = """
    SELECT e.rowid FROM entry e JOIN source s ON s.id = e.source WHERE s.path = ANY ($1)"""
_STORED = f"""
    SELECT source, own_id, rowid, row_hash, {", ".join(PLACE_COLUMNS)} FROM entry
    WHERE source = ANY ($1)"""
_MOVE: Any = f"""
    UPDATE entry SET {", ".join(f"{name} = ${n}" for n, name in enumerate(PLACE_COLUMNS, 1))}
    WHERE rowid = ${len(PLACE_COLUMNS) + 1}"""
_COUNT_CHUNKS = """
    UPDATE state SET chunks = chunks + $2::bigint * more.number,
        length = length + $2::bigint * more.words
    FROM (SELECT count(*) number, coalesce(sum(c.length), 0)::bigint words
        FROM chunk c WHERE entry = ANY ($1)) more"""
_BUILD_WITHIN = "SELECT set_config('maintenance_work_mem', $1, false)"
_MADE = "SELECT chunks, dimensions FROM state"
_READY = "UPDATE journal SET ready = true WHERE name = $1"
_COUNT_STEMS = """
    INSERT INTO stem AS s (journal, term, doc)
    SELECT journal, term, $2::bigint * count(*)
    FROM chunk, unnest(tsvector_to_array(words)) term WHERE entry = ANY ($1)
    GROUP BY journal, term ORDER BY term
    ON CONFLICT (journal, term) DO UPDATE SET doc = s.doc + excluded.doc"""
_POSITION = "SELECT model, dimensions, usual, counting, change FROM state"
_UPDATE_STATE = """
    UPDATE state SET published = published + 1, at = now(), model = $1, dimensions = $2,
        usual = $3, counting = $4, change = $5"""
