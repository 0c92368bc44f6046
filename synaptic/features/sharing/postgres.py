"""The engine of a published index, on PostgreSQL with pgvector, for those without the journal.

Words are our own stems in a `tsvector`, scored by the formula of FTS5; the nearest vectors come
roughly by HNSW over the bits that `sketch` makes, and are compared in full here. Every query
runs in a transaction that only reads and sees the allowed journals alone: the database hides
the rows of all others (`postgres.sql`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import Identifier

from ...errors import IndexUnusable
from ...filters import Filters
from ...index.conditions import BOUND_LIST, Match, chunk_conditions
from ...index.engine import cosines_from_distances
from ...index.rows import Candidate, quantise
from ...index.sketch import OVERSAMPLED, to_rough_bits
from ...index.sqlite_engine import SPREAD, STEMS_KEPT, Stems
from ...models import Vector

Made = TypeVar("Made")
Passing = tuple[str, tuple[Any, ...]]

VERSION = 3
K1, B = 1.2, 0.75
"""The constants k1 and b of BM25, as FTS5 has them."""
MOST_SCORED = 2_000
"""The approximate number of chunks of which a search computes the BM25 score. Of 300,000 chunks
of recombined sentences that finds all of the best 20 for 60 queries.
"""
SCANNED = 480
"""The number of candidate vectors that HNSW keeps in one step (`hnsw.ef_search`); it takes more
steps where it needs them.
"""
FEW = 1_000
"""Up to this number of chunks, the query is compared with all vectors instead of using HNSW."""
LEAST_COUNTED = 200
"""The least number of chunks in which phrases are counted exactly, which takes about 10 ms."""
MOST_STEM_BYTES = 2_000
"""The longest word, in bytes, that a tsvector can hold."""
CONNECT_S = 10
STATEMENT_S = 60
"""Seconds after which PostgreSQL ends a statement; a query of a search takes milliseconds."""
HOLDING = "chunk_of_words"
"""The placeholder in SQL for the chunks as their full-text index is used. It is replaced by the
views of the allowed journals.
"""
LAGGING = frozenset({"sample"})
"""Names of cached values that may be older than the last publication."""
_PHRASE = re.compile(r'"((?:[^"]|"")*)"(\*?)')


class Phrase(NamedTuple):
    """Stems that must follow each other in a text. If `beginning`, the last one is only the
    beginning of a stem.
    """

    stems: tuple[str, ...]
    beginning: bool

    @property
    def tsquery(self) -> str:
        """The phrase as a PostgreSQL tsquery."""
        quoted = [quote_lexeme(stem) for stem in self.stems]
        return " <-> ".join(quoted) + ":*" * self.beginning

    @property
    def count_sql(self) -> str:
        """SQL that counts how often the phrase occurs in a chunk `c`; its parameters are the
        stems.
        """
        tests = ["{}.lexeme = ?"] * len(self.stems)
        if self.beginning:
            tests[-1] = "starts_with({}.lexeme, ?)"
        after = (
            _STANDS_AFTER.format(test.format("n"), n) for n, test in enumerate(tests[1:], 1)
        )
        return _COUNTED.format(tests[0].format("w"), "".join(after))

    @property
    def is_word(self) -> bool:
        return len(self.stems) == 1 and not self.beginning


class State(NamedTuple):
    """One row of the table `state` for a published journal: counts and the model, which every
    search needs.
    """

    name: str
    published: int
    at: datetime | None
    chunks: int
    length: int
    model: str | None
    dimensions: int | None
    usual: float | None
    stemming: bool | None


class PostgresEngine:
    """The search engine of published journals, over one PostgreSQL connection. Only one thread
    may use it.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.cache: dict[str, object] = {}
        self._memory: dict[tuple[str, ...], tuple[object, dict[str, object]]] = {}
        self._db: psycopg.Connection | None = None
        self._journal_states: list[State] = []
        self._words = ""
        self._hides = False
        self._stems: dict[bool, Stems] = {}

    # -- the connection

    @contextmanager
    def transaction(self, allowed: Sequence[str] | None = ()) -> Iterator[None]:
        """Runs the block in a read-only transaction that sees only the journals in `allowed`;
        None allows all that are ready. Raises IndexUnusable if the database cannot be read.
        """
        if self._db is not None and self._db.info.transaction_status:
            yield
            return
        try:
            db = self._open_connection()
            db.execute(_BEGIN)
            self._allow_journals(db, allowed)
            yield
            db.execute("COMMIT")
        except psycopg.Error as error:
            self._roll_back()
            raise database_error(error, self.address) from error
        except BaseException:
            self._roll_back()
            raise

    def hide_entries_after(self, at: int) -> None:
        """Hides entries dated later than `at` (an instant as stored in the index) until the end
        of the transaction.
        """
        self.cache = {}
        self.rows("SELECT set_config('synaptic.until', ?, true)", str(at))
        self._hides = True

    def _roll_back(self) -> None:
        """Rolls the transaction back, so that the next user of the connection sees nothing of
        the last one's journals.
        """
        if self._db is not None:
            try:
                self._db.rollback()
            except psycopg.Error:
                self.close()

    def _open_connection(self) -> psycopg.Connection:
        if self._db is None or self._db.closed:
            self._db = open_connection(self.address)
            [(role, version)] = self._db.execute(_SEES_ALL).fetchall()
            if role:
                self.close()
                raise IndexUnusable(
                    f"The database role {role} owns the tables or bypasses their row-level "
                    "security: "
                    "it would see every journal.",
                    hint="Connect as a role that is only a member of synaptic_reader "
                    "(docs/TEAM.md).",
                )
            if version != VERSION:
                self.close()
                raise wrong_version_error(version)
        return self._db

    def _allow_journals(self, db: psycopg.Connection, allowed: Sequence[str] | None) -> None:
        asked = "*" if allowed is None else ",".join(allowed)
        db.execute("SELECT set_config('synaptic.journals', $1, true)", (asked,))
        db.execute(_ALLOW, (None if allowed is None else list(allowed),))
        self._hides = False
        self._journal_states = [State(*row) for row in db.execute(_STATES)]
        views = [
            Identifier(f"words_{state.name}").as_string() for state in self._journal_states
        ]
        every = [f"SELECT * FROM {view}" for view in views]
        self._words = " UNION ALL ".join(every) or "SELECT * FROM chunk"
        published = [(state.published, state.at) for state in self._journal_states]
        key = tuple(state.name for state in self._journal_states)
        at, computed = self._memory.get(key, (published, {}))
        if at != published:
            computed = {name: value for name, value in computed.items() if name in LAGGING}
        if len(self._memory) > 100 and key not in self._memory:
            self._memory.clear()
        self._memory[key] = published, computed
        self.cache = computed

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    # -- what both engines do

    def rows(self, sql: str, *values: Any) -> list[Any]:
        text, lists = translate_sql(sql)
        bound: list[Any] = []
        for value, is_list in zip(values, lists, strict=True):
            if is_list:
                bound.append([storable_value(each) for each in json.loads(value)])
            elif isinstance(value, Match):
                bound.append(any_phrase_query(self._phrases(value)))
            else:
                bound.append(storable_value(value))
        with self.transaction():
            text = text.replace(HOLDING, f"({self._words})")
            return self._open_connection().execute(text, bound).fetchall()

    def column(self, sql: str, *values: Any) -> list[Any]:
        return [row[0] for row in self.rows(sql, *values)]

    def value(self, sql: str, *values: Any) -> Any:
        return next(iter(self.column(sql, *values)), None)

    def cached(self, name: str, make: Callable[[], Made]) -> Made:
        with self.transaction():
            if name not in self.cache:
                self.cache[name] = make()
            return cast("Made", self.cache[name])

    def bytes_of(self, path: str) -> bytes | None:
        """Returns the published bytes of a file; None if no file has this path."""
        return self.value("SELECT bytes FROM source WHERE path = ?", path)  # type: ignore[no-any-return]

    def bytes_of_all(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Maps each of these paths to the published bytes of the file."""
        sql = f"SELECT path, bytes FROM source WHERE path IN {BOUND_LIST}"
        return dict(self.rows(sql, json.dumps(paths)))

    def size(self) -> int:
        """The bytes of all texts that the asker may read. The size on disk would tell of other
        journals.
        """
        return int(self.value("SELECT coalesce(sum(length(bytes)), 0) FROM source"))

    def meta(self, key: str) -> Any:
        """Returns a value of the index, such as its model; None if the allowed journals have
        different values, because their vectors cannot be compared then.
        """
        with self.transaction():
            values = {getattr(state, key, None) for state in self._journal_states}
        return values.pop() if len(values) == 1 else None

    # -- words

    @property
    def _stemmer(self) -> Stems:
        stemming = self.meta("stemming") is not False
        if stemming not in self._stems:
            self._stems[stemming] = Stems(stemming)
        return self._stems[stemming]

    def stem(self, word: str) -> str | None:
        return self._stemmer.stem(word)

    def _phrases(self, expression: str) -> list[Phrase]:
        """Returns the phrases in an FTS5 expression such as `"a b" OR "c"*`, without those that
        have a stem too long for a tsvector.
        """
        phrases = []
        for text, star in _PHRASE.findall(expression):
            stems = self._stemmer.stems_of_text(text.replace('""', '"'), is_query=True)
            if stems and all(len(stem.encode()) < MOST_STEM_BYTES for stem in stems):
                phrases.append(Phrase(tuple(stems), bool(star)))
        return phrases

    def frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        with self.transaction():
            numbers: dict[str, int] = self.cached("frequencies", dict)
            if len(numbers) > STEMS_KEPT:
                numbers.clear()
            words = {}
            for term in terms:
                if term not in numbers:
                    phrases = self._phrases(term)
                    if phrases and phrases[0].is_word:
                        words[term] = phrases[0].stems[0]
                    else:
                        numbers[term] = self.value(_HOLDERS, Match(term))
            if words:
                docs = dict(self.rows(_DOCS, json.dumps(list(words.values()))))
                numbers |= {term: docs.get(stem, 0) for term, stem in words.items()}
            total = sum(state.chunks for state in self._journal_states)
            return total, {term: numbers[term] for term in terms}

    def stems_like(self, stem: str) -> list[tuple[str, int]]:
        after = chr(ord(stem[0]) + 1)
        return self.rows(_STEMS_LIKE, stem[0], after, len(stem) - 2, len(stem) + 2, stem)

    def stems_holding(self, part: str, *, limit: int) -> list[str]:
        return self.column(_STEMS_HOLDING, part, part, limit)

    def chunks_with_stem(self, stem: str, *, limit: int) -> list[int]:
        if len(stem.encode()) >= MOST_STEM_BYTES:
            return []
        return self.column(_WITH_STEM, quote_lexeme(stem), limit)

    def lexical(
        self, terms: Sequence[str], passing: Passing | None, *, limit: int
    ) -> list[Candidate]:
        """Returns the best `limit` chunks for these terms by BM25. If very many chunks match,
        only those with a rare term or two frequent terms are scored. Phrases and prefixes are
        counted exactly only in the best of these, because that takes time.
        """
        with self.transaction():
            total, counts = self.frequencies(terms)
            phrases = {term: self._phrases(term) for term in terms}
            counts = {term: count for term, count in counts.items() if phrases[term]}
            is_rough = not all(one.is_word for term in counts for one in phrases[term])
            depth = max(LEAST_COUNTED, OVERSAMPLED * limit) if is_rough else limit
            score, values = self._score(total, counts, phrases)
            condition, of_filters = passing or ("", ())
            sql = _SCORED.format(score=score, entries=ENTRIES * bool(passing))
            sql += f"{condition} ORDER BY score DESC, c.rowid DESC LIMIT ?"
            every = {(term,) for term in counts}
            likely = terms_worth_scoring(counts, total)
            best: list[Candidate] = []
            for way in (likely, every - likely and every):
                sought = " | ".join(
                    " & ".join(f"({any_phrase_query(phrases[term])})" for term in together)
                    for together in way
                )
                if sought:
                    matches = self.rows(sql, *values, sought, *of_filters, depth)
                    if is_rough:
                        exact, bound = self._score(total, counts, phrases, exactly=True)
                        these = json.dumps([row for row, *_ in matches])
                        matches = self.rows(_AMONG.format(score=exact), *bound, these, limit)
                    best = [Candidate(row, entry, -score) for row, entry, score in matches]
                if len(best) == limit:
                    break
            return best

    def _score(
        self,
        total: int,
        counts: Mapping[str, int],
        phrases: Mapping[str, Sequence[Phrase]],
        *,
        exactly: bool = False,
    ) -> tuple[str, list[Any]]:
        """Returns (SQL for the BM25 score of a chunk `c`, its parameters). Unless `exactly`,
        the count of a phrase is taken from its rarest word.
        """
        length = sum(state.length for state in self._journal_states)
        parts = []
        values: list[Any] = []
        for term, count in counts.items():
            for phrase in phrases[term]:
                times = ", ".join(["coalesce((c.repeats ->> ?)::int, 1)"] * len(phrase.stems))
                if exactly and not phrase.is_word:
                    times = phrase.count_sql
                parts.append(_PART.format(times=times))
                idf = max(1e-6, math.log((total - count + 0.5) / (count + 0.5)))
                values += [phrase.tsquery, idf * (K1 + 1), K1 * (1 - B), K1 * B]
                values += [max(1, total) / max(1, length), *phrase.stems]
        return " + ".join(parts) or "0", values

    # -- meaning

    def passing_chunks(self, filters: Filters, within: Sequence[int] | None) -> Passing | None:
        """Returns the filters as (SQL condition, parameters) for the search query itself; None
        if every chunk passes.
        """
        condition, values = chunk_conditions(filters, within)
        if self._hides:
            condition += " AND e.at IS NOT NULL"  # of rows that are seen
        return (condition, values) if condition else None

    def vectors_of(self, chunks: Sequence[int]) -> dict[int, bytes]:
        return dict(self.rows(_VECTORS_OF, json.dumps(list(chunks))))

    def spread_chunks(self, count: int) -> Sequence[int]:
        return self.column(SPREAD, count)

    def semantic(
        self, vector: Vector, passing: Passing | None, *, limit: int | None
    ) -> list[Candidate]:
        asked = np.frombuffer(quantise(vector), np.int8)
        condition, values = passing or ("", ())
        with self.transaction():
            sql = _WITH_VECTOR.format(entries=ENTRIES * bool(passing)) + condition
            if limit is not None and sum(state.chunks for state in self._journal_states) > FEW:
                bits = 8 * to_rough_bits(asked[None]).shape[1]
                sql += f" ORDER BY c.rough::bit({bits}) <~> ?::bit({bits}) LIMIT ?"
                values = (*values, _rough_bits_text(asked), OVERSAMPLED * limit)
            stored = self.rows(_EMBEDDINGS.format(sql), *values)
            if not stored:
                return []
            rows = np.array([row for row, *_ in stored])
            vectors = np.frombuffer(b"".join(one for *_, one in stored), np.int8)
            apart = vectors.reshape(len(rows), -1).astype(np.int32) - asked
            squared = (apart * apart).sum(axis=1)
            nearest = np.lexsort((-rows, squared))[:limit]
            pairs = zip(
                nearest, cosines_from_distances(self, squared[nearest].tolist()), strict=True
            )
            return [Candidate(stored[at][0], stored[at][1], near) for at, near in pairs]


def wrong_version_error(version: int) -> IndexUnusable:
    """Returns the error for a database whose tables are of another version than VERSION."""
    hint = "Update Synaptic here: a newer one published this."
    if version < VERSION:
        hint = (
            "An older Synaptic published this. Update it where the journal is, run DROP SCHEMA "
            "synaptic CASCADE in the database, and `synaptic publish` there: nothing is "
            "embedded again."
        )
    return IndexUnusable(
        f"The database holds version {version} of a published index; this Synaptic reads and "
        f"writes {VERSION}.",
        hint=hint,
    )


def any_phrase_query(phrases: Sequence[Phrase]) -> str:
    """Returns a tsquery for chunks that hold any of these phrases."""
    return " | ".join(f"({phrase.tsquery})" for phrase in phrases)


def terms_worth_scoring(counts: Mapping[str, int], total: int) -> set[tuple[str, ...]]:
    """Returns groups of terms, single rare terms and pairs of frequent ones: a chunk that holds
    all terms of a group is worth scoring. About MOST_SCORED of `total` chunks do. `counts`: the
    number of chunks that hold each term.
    """
    groups: set[tuple[str, ...]] = set()
    frequent = []
    room = float(MOST_SCORED)
    for term in sorted(counts, key=lambda term: counts[term]):
        if counts[term] <= room:
            groups.add((term,))
            room -= counts[term]
        else:
            frequent.append(term)
    for pair in combinations(frequent, 2):
        both = counts[pair[0]] * counts[pair[1]] / total
        if both <= room:
            groups.add(pair)
            room -= both
    if frequent and not groups:
        groups.add(tuple(frequent))
    return groups


def open_connection(address: str) -> psycopg.Connection:
    """Opens a connection to PostgreSQL at a libpq address. Statements are not prepared, because
    PgBouncer does not support that.
    """
    return psycopg.connect(
        address,
        autocommit=True,
        prepare_threshold=None,
        connect_timeout=CONNECT_S,
        cursor_factory=psycopg.RawCursor,
        application_name="synaptic",
    )


def database_error(error: psycopg.Error, address: str) -> IndexUnusable:
    """Returns an IndexUnusable that explains an error of PostgreSQL to a person, without the
    password of the address.
    """
    about = conninfo_to_dict(address)
    where = f"{about.get('dbname', '')} at {about.get('host', 'this machine')}".strip()
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if about.get("password"):
        reason = reason.replace(str(about["password"]), "***")
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        hint = "Grant the role what docs/TEAM.md lists."
    elif isinstance(error, psycopg.errors.UndefinedTable | psycopg.errors.InvalidSchemaName):
        hint = "`synaptic publish` writes there first."
    elif isinstance(error, psycopg.errors.DiskFull):
        hint = "Make room on the disk of the database, and run it again: it goes on."
    elif isinstance(error, psycopg.errors.FeatureNotSupported | psycopg.errors.UndefinedFile):
        hint = "Have pgvector 0.8 or later installed where the database runs."
    elif " SSL" in reason:
        hint = "--insecure connects without that, in a network that you trust."
    elif "password" in reason:
        hint = "Put the right one into ~/.pgpass, or name a service."
    else:
        hint = "Look whether the database runs and the address is right, and ask again."
    return IndexUnusable(f"The database {where} cannot be used: {reason}.", hint=hint)


@lru_cache(20_000)
def quote_lexeme(stem: str) -> str:
    """Quotes a stem as a lexeme of a tsvector or a tsquery."""
    return "'" + stem.replace("\\", "\\\\").replace("'", "''") + "'"


def storable_value(value: Any) -> Any:
    """Returns the value as PostgreSQL can store it: NUL characters and lone surrogates are
    taken out of a text.
    """
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return value


def _rough_bits_text(vector: np.ndarray[Any, Any]) -> str:
    packed = to_rough_bits(vector[None])
    return "".join("01"[bit] for bit in np.unpackbits(packed))


@lru_cache(500)
def translate_sql(sql: str) -> tuple[str, tuple[bool, ...]]:
    """Translates SQL of SQLite to PostgreSQL; returns (SQL, for each parameter True if it is a
    JSON list that must be bound as an array).
    """
    for pattern, meant in _OTHERWISE:
        sql = pattern.sub(meant, sql)
    lists = []
    parts = sql.split("?")
    text = parts[0]
    for number, part in enumerate(parts[1:], start=1):
        lists.append(text.endswith("/*list*/"))
        text += f"${number}{part}"
    return text, tuple(lists)


_OTHERWISE = [
    (re.compile(pattern), meant)
    for pattern, meant in (
        (r"NOT IN \(SELECT value FROM json_each\(\?\)\)", "<> ALL (/*list*/?)"),
        (r"IN \(SELECT value FROM json_each\(\?\)\)", "= ANY (/*list*/?)"),
        (r"SELECT value FROM json_each\(\?\)", "SELECT unnest(/*list*/?::bigint[])"),
        (
            r"FROM source s JOIN json_each\(\?\) j\s+ON lower\(s.path\) LIKE",
            """FROM source s JOIN unnest(/*list*/?::text[]) AS j (value)
            ON lower(s.path) LIKE lower(j.value COLLATE "C") ESCAPE '\\'
            OR lower(substr(s.path, strpos(s.path, '/') + 1)) LIKE""",
        ),
        (r"lower\(j.value\)", 'lower(j.value COLLATE "C")'),
        (r"json_each\(\?\) j\b", "unnest(/*list*/?::text[]) AS j (value)"),
        (
            r"FROM source WHERE id = e.source",
            """FROM (SELECT id, substr(path, strpos(path, '/') + 1) AS path FROM source) s
            WHERE s.id = e.source""",
        ),
        (
            r"FROM chunk_fts w JOIN chunk p ON p.rowid = w.rowid\s+WHERE w.chunk_fts MATCH \?",
            f"FROM {HOLDING} p WHERE p.words @@ ?::tsquery",
        ),
        (
            r"FROM tag_use",
            "FROM (SELECT name, count(*) AS count FROM tag GROUP BY name) AS tag_use",
        ),
        (r"\bCROSS JOIN\b", "JOIN"),
        (r"AND instr\(words, \?\)", "AND strpos(words, ?) > 0"),
        (r"\b(INDEXED BY \w+|NOT INDEXED)", ""),
        (r"\binstr\(", "strpos("),
        (r"\bLIMIT \?", "LIMIT nullif(?::bigint, -1)"),
    )
]
"""Patterns in SQL of SQLite, and the SQL of PostgreSQL that replaces each. A list is bound as
an array.
"""

SEARCH_PATH = "synaptic, public, extensions"
"""The PostgreSQL schemas with our tables and with pgvector; some hosts have extensions in a
schema `extensions`.
"""
_BEGIN: Any = f"""
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL search_path = {SEARCH_PATH}; SET LOCAL jit = off;
    SET LOCAL statement_timeout = '{STATEMENT_S}s';
    SET LOCAL hnsw.ef_search = {SCANNED}; SET LOCAL hnsw.iterative_scan = relaxed_order"""
_ALLOW = """
    SELECT set_config(
        'synaptic.journals', coalesce(string_agg(name, ',' ORDER BY name), ''), true)
    FROM journal WHERE ready AND ($1::text[] IS NULL OR name = ANY ($1))"""
ENTRIES = " JOIN entry e ON e.rowid = c.entry"
_SEES_ALL = """
    SELECT CASE WHEN r.rolsuper OR r.rolbypassrls OR pg_has_role(c.relowner, 'MEMBER')
        THEN r.rolname END, v.number
    FROM pg_roles r, pg_class c, synaptic.version v
    WHERE r.rolname = current_user AND c.oid = 'synaptic.entry'::regclass"""
_STATES = """
    SELECT journal, published, at, chunks, length, model, dimensions, usual, stemming
    FROM state ORDER BY journal"""
_HOLDERS = f"SELECT count(*) FROM {HOLDING} c WHERE words @@ ?::tsquery"
_DOCS = """
    SELECT term, sum(doc)::bigint FROM stem WHERE term IN (SELECT value FROM json_each(?))
    GROUP BY term"""
_STEMS_LIKE = """
    SELECT term, sum(doc)::bigint FROM stem WHERE term >= ? AND term < ?
    AND (length(term) BETWEEN ? AND ? OR (length(term) > 4 AND strpos(?, term) = 1))
    GROUP BY term ORDER BY term"""
_STEMS_HOLDING = """
    SELECT term FROM stem WHERE strpos(term, ?) > 0 AND term <> ?
    GROUP BY term ORDER BY length(term), term LIMIT ?"""
_WITH_STEM = f"SELECT rowid FROM {HOLDING} c WHERE words @@ ?::tsquery ORDER BY rowid LIMIT ?"
_PART = """
    CASE WHEN c.words @@ ?::tsquery THEN ?::float8
    / (1 + (?::float8 + ?::float8 * c.length * ?::float8) / least({times})) ELSE 0 END"""
_SCORED = f"""
    SELECT c.rowid, c.entry, {{score}} AS score FROM {HOLDING} c{{entries}}
    WHERE c.words @@ ?::tsquery"""
_AMONG = """
    SELECT c.rowid, c.entry, {score} AS score FROM chunk c
    WHERE c.rowid IN (SELECT value FROM json_each(?))
    ORDER BY score DESC, c.rowid DESC LIMIT ?"""
_COUNTED = "(SELECT count(*) FROM unnest(c.words) w, unnest(w.positions) at WHERE {}{})"
_STANDS_AFTER = """
    AND EXISTS (SELECT 1 FROM unnest(c.words) n WHERE {} AND at + {} = ANY (n.positions))"""
_VECTORS_OF = f"SELECT chunk, embedding FROM vector WHERE chunk IN {BOUND_LIST}"
_WITH_VECTOR = "SELECT c.rowid, c.entry FROM chunk c{entries} WHERE c.rough IS NOT NULL"
_EMBEDDINGS = """
    SELECT c.rowid, c.entry, v.embedding FROM ({}) c JOIN vector v ON v.chunk = c.rowid"""
