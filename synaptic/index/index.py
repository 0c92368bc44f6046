"""The index: its questions and answers, and the way to change it."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple

from ..errors import Ambiguous, IndexBusy, IndexFailed, NotFound, Refused, SynapticError
from ..filters import Filters, Scope
from ..language.words import fts5_expression
from ..models import OF_SESSIONS, Facets, FileSignature, Matrix, Order, ParseIssue, Vector
from ..notes.marks import link_key
from .conditions import (
    BOUND_LIST,
    HAS_ONE_PASSAGE,
    PROJECT_MARKS,
    PROJECT_NAMES,
    SUPERSEDED,
    Walk,
    daily_note_condition,
    filter_conditions,
    hint_for_count,
    list_conditions,
    walks_in_order,
)
from .counters import Counters
from .database import BUSY_TIMEOUT_MS
from .engine import Engine, distance_scale
from .index_writer import IndexWriter
from .rows import (
    SELECT_ENTRY,
    Candidate,
    Counts,
    Passage,
    RankingFacts,
    Stored,
    TimelinePosition,
    Vocabulary,
    stored_from_rows,
    unit_vectors,
)
from .sqlite_engine import SqliteEngine

COMPACT_WAIT_MS = 2_000

SAMPLED = 128
"""Passages that tell how near a question is to any text; reading them takes 2 ms. By eye."""

NEAREST, LOOKED_AT, LIKELY = 32, 64, 2_048
"""Passages of a project that are compared in full. Of a large project they are the first among
the LIKELY nearest of the journal, LOOKED_AT at a time. By eye.
"""
SMALL_PROJECT = 2_048
"""The entries of a project up to which all of them are asked, and no others. By eye."""
SPREAD_OVER = 2_048
"""Passages of the journal, a sample of all, among which a large project has enough."""
CODED = 6
"""Passages of an entry whose tokens are compared: it keeps a question within 10 ms."""


_LAST_MARKS = ".?!…"
"""Marks that end a title, which a person who types it may leave out."""


class _Sample(NamedTuple):
    """A sample of `total` passages. `was_waiting`: some had no vector yet."""

    vectors: Matrix
    codes: list[bytes]
    total: int
    was_waiting: bool
    model: object


class _ProjectSample(NamedTuple):
    """The vectors of some entries of a project: the int8 ones by rowid, and unit vectors in the
    same order; the number of chunks of the journal then, and the model and dimensions.
    """

    vectors: dict[int, bytes]
    units: Matrix
    total: int
    made_for: tuple[object, object]


class Index:
    """Runs queries on the index, which shows the journal as of the last sync.

    `file` is the engine of SQLite, which opens and heals. `writing` gives an IndexWriter, which
    alone changes entries and vectors. A published index has another engine and neither.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.meta = engine.meta
        self.passing_chunks = engine.passing_chunks
        self.lexical = engine.lexical
        self.semantic = engine.semantic
        self.stem = engine.stem
        self.stems_like = engine.stems_like
        self.stems_holding = engine.stems_holding
        self.chunks_with_stem = engine.chunks_with_stem
        self.counters = Counters(engine)

    @property
    def file(self) -> SqliteEngine:
        """The engine of an index that is beside its journal. Raises Refused for another."""
        if not isinstance(self.engine, SqliteEngine):
            raise Refused(
                "A published journal is only read.", hint="Ask where the journal is written."
            )
        return self.engine

    # -- changing it
    # --------------------------------------------------------------------------------

    @contextmanager
    def writing(self, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[IndexWriter]:
        """One write transaction, which also writes the counters.

        Raises IndexBusy when the write lock is not free within `wait_ms`.
        """
        try:
            with self.file.transaction(wait_ms) as db:
                yield IndexWriter(self.file)
                self.counters.write(db)
        except BaseException:
            self.file.cache.clear()
            raise
        self.counters.clear()

    def flush(self) -> bool:
        """Writes the counters, unless another process is writing; True when nothing is left."""
        if self.counters.has_unwritten:
            with suppress(SynapticError), self.writing(0):
                pass
        return not self.counters.has_unwritten

    def compact(self, wait_ms: int = COMPACT_WAIT_MS) -> bool:
        """Empties the write-ahead log; where a scrub is owed, deleted text leaves no trace.

        For that, FTS5's segments are merged: they keep deleted words. False where another
        process writes, or reads from the log, and where the index is kept in memory: a scrub
        stays owed then.
        """
        file = self.file
        scrubs = file.owes_scrub
        if scrubs and file.trouble:
            return False
        try:
            if scrubs:
                for other in file.path.parent.glob("index*.db*"):
                    if not other.name.startswith(file.path.name):  # of another model
                        other.unlink(missing_ok=True)
                with self.writing(wait_ms) as writer:
                    writer.forget_deleted()
            file.db.set_busy_timeout(wait_ms)
            done = not file.value("PRAGMA wal_checkpoint(TRUNCATE)")
        except IndexBusy:
            done = False
        finally:
            file.db.set_busy_timeout(BUSY_TIMEOUT_MS)
        if scrubs and done:
            file.owes_scrub = False
        return done

    def scale_cosines(self, cosines: Matrix) -> Matrix:
        """Cosines of the model in use on the scale of all models, so that one rule fits each.

        The model's usual cosine becomes USUAL_COSINE, and 1 stays 1.
        """
        apart = distance_scale(self.engine)
        return cosines if apart == 1 else 1 - (1 - cosines) / apart

    def vectors(self, chunk_rowids: Sequence[int]) -> dict[int, bytes]:
        """The int8 vectors of these chunks, as bytes; chunks without a vector are left out."""
        return self.engine.vectors_of(chunk_rowids)

    def first_vectors(self, rowids: Sequence[int]) -> dict[int, bytes]:
        """The int8 vector of the first passage of each of these entries that has one."""
        first = f"""
            SELECT rowid, entry FROM chunk
            WHERE seq = 0 AND vector > 0 AND entry IN {BOUND_LIST}"""
        entries = dict(self.engine.rows(first, json.dumps(list(rowids))))
        return {entries[chunk]: vector for chunk, vector in self.vectors(list(entries)).items()}

    def token_codes(self, rowids: Sequence[int]) -> list[tuple[int, bytes]]:
        """(entry, the codes of its tokens) for each of the first passages of these entries."""
        return self.engine.rows(_CODES, json.dumps(list(rowids)), CODED)

    def sample_passages(self) -> tuple[Matrix, list[bytes]]:
        """Returns the unit vectors and token codes of up to SAMPLED passages of the journal;
        the sample is cached, and drawn again when a small journal has another number of them, a
        large one has grown by half, or all passages have vectors.
        """
        total, _ = self.engine.frequencies(())
        model = self.meta("model")

        def is_waiting() -> bool:
            return bool(self.engine.column("SELECT 1 FROM chunk WHERE vector = 0 LIMIT 1"))

        def taken() -> _Sample:
            chunks = self.engine.spread_chunks(SAMPLED)
            vectors_of_chunks = self.vectors(chunks)
            codes = self.engine.column(_CODES_OF_CHUNKS, json.dumps(list(chunks)))
            dimensions = self.meta("dimensions") or 0
            vectors = unit_vectors(list(vectors_of_chunks.values()), dimensions)
            return _Sample(vectors, codes, total, is_waiting(), model)

        sample = self.engine.cached("sample", taken)
        is_old = total != sample.total if total <= SAMPLED else total > 1.5 * sample.total
        is_old = is_old or (sample.was_waiting and not is_waiting())
        if is_old or sample.model != model or not len(sample.vectors):
            sample = self.engine.cache["sample"] = taken()
        return sample.vectors, sample.codes

    def sample_of_project(self, key: str | None) -> tuple[Sequence[int], Matrix]:
        """Up to SAMPLED entries of a project (None: of no project), and their unit vectors.
        They are cached; a full sample is drawn again when the journal has grown by half.
        """
        total, _ = self.engine.frequencies(())
        made_for = self.meta("model"), self.meta("dimensions")
        samples = self.engine.cached("samples", dict[str | None, _ProjectSample])
        last = samples.get(key)
        if last is None or last.made_for != made_for:
            last = _ProjectSample({}, unit_vectors([], made_for[1] or 0), total, made_for)
        if len(last.vectors) == SAMPLED and total <= 1.5 * last.total:
            return list(last.vectors), last.units
        is_small = 0 < len(last.vectors) < SAMPLED
        rows = [] if is_small else self.engine.column(_SPREAD, SPREAD_OVER, key, SAMPLED)
        if len(rows) < SAMPLED:
            rows = self.engine.column(_SPREAD_IN_PROJECT, key, SAMPLED)
        added = self.first_vectors([row for row in rows if row not in last.vectors])
        both = last.vectors | added
        vectors = {row: both[row] for row in rows if row in both}
        units = unit_vectors(list(vectors.values()), made_for[1] or 0)
        samples[key] = _ProjectSample(vectors, units, total, made_for)
        return list(vectors), units

    def nearest_of_project(self, vector: Vector, key: str | None) -> list[Candidate]:
        """The passages of a project that are nearest to a unit vector, the nearest first, at
        most NEAREST. Of a large project, only those that are also among the LIKELY nearest of
        the whole journal.
        """
        entries: dict[int, int] = {}
        if self.engine.value(_HAS_MORE, key, SMALL_PROJECT):
            likely = self.file.likely_nearest(vector, LIKELY)
            for begin in range(0, len(likely), LOOKED_AT):
                some = json.dumps(likely[begin : begin + LOOKED_AT])
                entries |= self.engine.rows(_IN_PROJECT, some, key)
                if len(entries) >= NEAREST:
                    break
        else:
            entries = dict(self.engine.rows(_CHUNKS_OF_PROJECT, key))
            likely = list(entries)
            if len(likely) > NEAREST:
                likely = self.file.likely_nearest(vector, NEAREST, array("q", likely))
        chunks = [chunk for chunk in likely if chunk in entries][:NEAREST]
        vectors = self.vectors(chunks)
        cosines = self.scale_cosines(unit_vectors(list(vectors.values()), len(vector)) @ vector)
        nearest = zip(vectors, cosines.tolist(), strict=True)
        hits = [Candidate(chunk, entries[chunk], cosine) for chunk, cosine in nearest]
        return sorted(hits, key=lambda hit: -hit.score)

    def lexical_of_project(self, terms: Sequence[str], key: str | None) -> list[Candidate]:
        """The passages of a project that BM25 finds best, at most NEAREST. Of a large project,
        only those that are also among the LIKELY best of the whole journal.
        """
        if not self.engine.value(_HAS_MORE, key, SMALL_PROJECT):
            among = array("q", dict(self.engine.rows(_CHUNKS_OF_PROJECT, key)))
            return self.lexical(terms, among, limit=NEAREST)
        best = self.lexical(terms, None, limit=8 * NEAREST)
        rows = json.dumps([hit.chunk_rowid for hit in best])
        inside = dict(self.engine.rows(_IN_PROJECT, rows, key))
        return [hit for hit in best if hit.chunk_rowid in inside][:NEAREST]

    def document_counts(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """(chunks in all, roughly the number that hold each of these words in any of its
        forms).
        """
        quoted = {term: fts5_expression(term) for term in terms}
        total, counts = self.engine.frequencies(quoted.values())
        return total, {term: counts[phrase] for term, phrase in quoted.items()}

    def passages(self, chunk_rowids: Sequence[int]) -> dict[int, Passage]:
        sql = f'SELECT rowid, entry, start, "end", hash FROM chunk WHERE rowid IN {BOUND_LIST}'
        rows = self.engine.rows(sql, json.dumps(list(chunk_rowids)))
        return {row[0]: Passage(*row) for row in rows}

    def vocabulary(self) -> Vocabulary:
        """The tags and projects that entries are marked with."""

        def asked() -> Vocabulary:
            tags = dict(self.engine.rows("SELECT name, count FROM tag_use"))
            return Vocabulary(tags, frozenset(self.engine.column(_PROJECTS)))

        return self.engine.cached("vocabulary", asked)

    def field_names(self) -> frozenset[str]:
        """The names of fields that some entry has."""
        names = "SELECT DISTINCT name FROM field"
        return self.engine.cached("fields", lambda: frozenset(self.engine.column(names)))

    def neighbours_in_file(
        self, rowids: Sequence[int], filters: Filters
    ) -> dict[int, list[int]]:
        """Maps each of these entries to the entries directly before and after it in the same
        file and on the same day that pass the filters.
        """
        condition, values = list_conditions(filters)
        sql = f"{_BESIDE}{condition} ORDER BY e.seq"
        return self._rows_by_first_column(sql, json.dumps(rowids), *values)

    # -- entries out
    # --------------------------------------------------------------------------------

    def entries(self, rowids: Sequence[int]) -> dict[int, Stored]:
        """Maps rowids to their entries, in the given order and without content. A copy that
        equals another entry, and so has no id, is left out.
        """
        these = json.dumps(list(rowids))
        rows = {row[0]: row for row in self.engine.rows(_ENTRIES, these)}
        labels: dict[int, tuple[list[Any], ...]] = {rowid: ([], [], [], []) for rowid in rows}
        for entry, kind, _, name, value in self.engine.rows(_LABELS, *[these] * 4):
            if entry in labels:
                is_pair = kind in (1, 3)  # a file or a field
                labels[entry][kind].append((name, value) if is_pair else name)
        try:
            return {
                rowid: stored_from_rows(rows[rowid], *labels[rowid])
                for rowid in rowids
                if rowid in rows
            }
        except (OverflowError, TypeError, ValueError) as error:
            raise IndexFailed(f"a row of the index is not valid: {error}", "reset") from error

    def ranking_facts(self, rowids: Sequence[int]) -> dict[int, RankingFacts]:
        """Maps rowids to the values that ranking uses. A copy that equals another entry, and so
        has no id, is left out.
        """
        rows = self.engine.rows(_STANDINGS, json.dumps(rowids))
        return {row[0]: RankingFacts(*row) for row in rows}

    def filter_entries(self, filters: Filters, rowids: Sequence[int]) -> set[int]:
        """The entries of `rowids` that pass the filters."""
        condition, values = filter_conditions(filters)
        sql = f"SELECT e.rowid FROM entry e WHERE e.rowid IN {BOUND_LIST}{condition}"
        return set(self.engine.column(sql, json.dumps(rowids), *values))

    def _rows_by_first_column(self, sql: str, *values: Any) -> dict[int, list[Any]]:
        """Rows grouped by their first column: the other columns, or plain values if there is
        one.
        """
        groups: dict[int, list[Any]] = {}
        for key, *columns in self.engine.rows(sql, *values):
            groups.setdefault(key, []).append(columns[0] if len(columns) == 1 else columns)
        return groups

    def resolve(self, name: str) -> Stored:
        """The entry of a whole id, of its part after the dash, or of four or more of that
        part's letters.

        As in its file it may begin with `syn:`. Raises NotFound, or Ambiguous with the ids that
        fit.
        """
        name = name.strip().removeprefix("syn:")
        rows = self.engine.rows(_BY_ID, name, name)
        day, _, part = name.lower().rpartition("-")
        if not rows and 4 <= len(part) <= 8 and part.isalnum() and (not day or day.isdigit()):
            pattern = f"{day[:8] or '%'}-{part}%"
            behind = f"{part}{{"  # this sign comes after all letters
            rows = self.engine.rows(_BY_SHORT_ID, part, behind, pattern, pattern)
        if not rows:
            raise NotFound(
                "No entry has the id {name!r}.",
                hint="Ids are shown by `synaptic recent` and `synaptic search`; four "
                "letters are enough.",
                name=name[:40],
            )
        fitting = self.entries([row[0] for row in rows])
        if len(fitting) > 1:
            raise Ambiguous(
                "{name!r} fits several entries.",
                valid=[s.entry.id for s in fitting.values()],
                hint="Give more of it.",
                name=name,
            )
        [one] = fitting.values()
        return replace(one, copies=tuple(self.engine.column(_COPIES, one.rowid)))

    def count_entries(self, filters: Filters) -> int:
        """The number of the entries that `list_rows` lists without a limit."""
        if not filters.active_values():
            [(rows, copies, superseded)] = self.engine.rows(_COUNT_ALL)
            return int(rows - copies - superseded)
        condition, values = list_conditions(filters)
        sql = f"""
            SELECT count(*) FROM entry e {hint_for_count(filters)}
            WHERE e.id IS NOT NULL {condition}"""
        return int(self.engine.value(sql, *values))

    def list_rows(
        self,
        filters: Filters,
        *,
        order: Order,
        limit: int,
        within: Collection[int] | None = None,
        after: TimelinePosition | None = None,
        first: str | None = None,
        after_first: bool = False,
    ) -> list[int]:
        """The rowids in order of the entries that pass the filters, of those `within` if given;
        superseded entries are left out unless the filters include them.

        In the orders of time undated entries come last. `after` is where the entry stands that
        was shown last. Unless projects are asked for, entries of the one with the key `first`
        come before all others; `after_first`: only the others are left. -1 is no limit.
        """
        if within is not None:
            these = (json.dumps([*within]),)
            walk = Walk("NOT INDEXED", f" AND e.rowid IN {BOUND_LIST}", these)
            return self._list_in_order([walk], filters, order, limit, after)
        if first is None or filters.projects:
            return self._list_passing(filters, order, limit, after)
        others = filters.leaving_out(Filters(projects=(first,)))
        own = []
        if not after_first:
            own = self._list_passing(replace(filters, projects=(first,)), order, limit, after)
        left = limit if limit < 0 else limit - len(own)
        return own + self._list_passing(others, order, left, after if after_first else None)

    def _list_passing(
        self, filters: Filters, order: Order, limit: int, after: TimelinePosition | None
    ) -> list[int]:
        walks = [Walk("")]
        if isinstance(self.engine, SqliteEngine):
            walks = walks_in_order(filters, order)
        return self._list_in_order(walks, filters, order, limit, after)

    def _list_in_order(
        self,
        walks: Sequence[Walk],
        filters: Filters,
        order: Order,
        limit: int,
        after: TimelinePosition | None,
    ) -> list[int]:
        condition, values = list_conditions(filters)
        keys = _ORDERS[order]
        columns = ", ".join(key for key, _ in keys)
        ordered = ", ".join(f"{key} {way}" for key, way in keys)
        by_time = order not in ("importance", "access")
        most = limit if limit >= 0 else sys.maxsize  # PostgreSQL takes no negative one
        rowids: list[int] = []
        for dated in (1, 0) if by_time else (None,):
            left = most - len(rowids)
            if not left or (after is not None and dated and not after.dated):
                continue
            beyond, bound = f" AND e.dated = {dated}" if by_time else "", values
            if after is not None and dated == after.dated:
                sign = ">" if order == "oldest" else "<"
                beyond += f" AND e.at {sign}= ? AND (e.at, s.path, e.seq) {sign} (?, ?, ?)"
                bound = (*values, after.at, after.at, after.path, after.seq)
            rows: dict[int, Sequence[Any]] = {}
            for walk in walks:
                sql = f"""
                    SELECT e.rowid, {columns}
                    FROM entry e {walk.hint} CROSS JOIN source s ON s.id = e.source
                    WHERE e.id IS NOT NULL{walk.condition} {condition}{beyond}
                    ORDER BY {ordered} LIMIT ?"""
                of_walk = self.engine.rows(sql, *walk.values, *bound, left)
                rows |= {row[0]: row for row in of_walk}
            merged = [*rows.values()]
            if walks[1:]:
                for column in range(len(keys), 0, -1):
                    is_falling = keys[column - 1][1] == "DESC"
                    merged.sort(key=itemgetter(column), reverse=is_falling)
            rowids += [row[0] for row in merged[:left]]
        return rowids

    def pinned_entries(self, scope: Scope) -> list[int]:
        """The entries that a person pinned for the project of this scope and for all, oldest
        first.

        They stay until a person unpins them, also where a later entry supersedes them.
        """
        condition, values = filter_conditions(Filters(scope=scope._replace(with_none=True)))
        return self.engine.column(_PINNED.format(condition), *values)

    def project_names(self, scope: Scope) -> list[str]:
        """The names of projects that the entries of a scope bear, the most frequent first."""
        names = self.engine.cached("names of scopes", dict[Scope, list[str]])
        if scope not in names:
            condition, values = filter_conditions(Filters(scope=scope))
            names[scope] = self.engine.column(PROJECT_NAMES.format(condition), *values)
        return names[scope]

    def names_of_remote(self, remote: str) -> list[str]:
        """The names of projects that the entries with this remote bear, the most frequent
        first.
        """
        return self.engine.column(PROJECT_NAMES.format("AND e.remote = ?"), remote)

    def project_marks(self, key: str) -> list[tuple[str | None, str | None]]:
        """The (remote, root) that the entries of the project with this key carry."""
        return self.engine.rows(PROJECT_MARKS, key)

    def due(self, filters: Filters, until: str) -> list[int]:
        """The entries that are due by this day or hold open tasks."""
        condition, values = list_conditions(filters)
        sql = f"""
            SELECT e.rowid FROM entry e NOT INDEXED WHERE e.id IS NOT NULL {condition}
            AND e.rowid IN (SELECT rowid FROM entry WHERE due <= ?
                UNION ALL SELECT entry FROM task WHERE open > 0)
            ORDER BY e.at, e.seq, e.own_id"""
        return self.engine.column(sql, *values, until)

    def latest_change(self) -> tuple[int, int]:
        """Returns (a number that differs after the index was made anew, the number of its
        latest change).
        """
        [row] = self.engine.rows(
            "SELECT (SELECT said FROM seen WHERE id = ''), (SELECT max(number) FROM seen)"
        )
        return row[0], row[1]

    def change_positions(self) -> list[tuple[int, int]]:
        """The `latest_change` of each journal."""
        if isinstance(self.engine, SqliteEngine):
            return [self.latest_change()]
        return self.engine.rows("SELECT counting, change FROM state")

    def changed_since(self, number: int) -> set[int]:
        """Returns the rowids of the entries that are new, or whose text changed, since the
        change with this number.
        """
        return set(self.engine.column(_CHANGED, number))

    def own_ids(self, ids: Sequence[str]) -> dict[str, str]:
        """Maps each id to the id in the entry's own file: that id may be in force for an entry
        of another file.
        """
        these = json.dumps(ids)
        return dict(self.engine.rows(_OWN_IDS, these, these))

    def paths(self) -> list[str]:
        """The paths of the indexed files. Kept in memory."""
        return self.engine.cached(
            "paths", lambda: self.engine.column("SELECT path FROM source")
        )

    def git_dates_by_file(self) -> dict[str, str | None]:
        """Maps the path of each file with entries that it does not date to their date by git,
        or None.
        """
        return dict(self.engine.rows(_DATED_BY_FILE))

    def with_one_passage(self, rowids: Sequence[int]) -> set[int]:
        """Those of these entries that have one passage at most."""
        one = HAS_ONE_PASSAGE.format("entry")
        sql = f"SELECT rowid FROM entry WHERE rowid IN {BOUND_LIST} AND {one}"
        return set(self.engine.column(sql, json.dumps(rowids)))

    def superseded_by(self, ids: Sequence[str]) -> dict[str, str]:
        """Maps those of `ids` that other entries supersede to the id of the latest of these."""
        sql = f"""
            SELECT old.own_id, new.id {SUPERSEDED} AND s.target IN {BOUND_LIST}
            ORDER BY new.at, new.twin DESC, new.id"""
        return dict(self.engine.rows(sql, json.dumps(ids)))

    def rows_of_ids(self, ids: Sequence[str]) -> dict[str, int]:
        """Maps those of `ids` that an entry has to its row."""
        sql = f"SELECT id, rowid FROM entry WHERE own_id IN {BOUND_LIST} AND id IS NOT NULL"
        return dict(self.engine.rows(sql, json.dumps(ids)))

    def replacement_chain(self, rowid: int) -> list[int]:
        """The rowids of the entry, of all entries that it replaced, and of those that replaced
        it, directly or in steps, oldest first.
        """
        return self.engine.column(_CHAIN, rowid)

    def entries_by_name_key(self, keys: Collection[int]) -> dict[int, list[int]]:
        """For each of these keys that is a name: the entries whose own name it is, else all
        that share it, a copy behind its original.
        """
        sql = f"""
            SELECT n.key, n.entry FROM name n JOIN entry e ON e.rowid = n.entry
            WHERE n.key IN {BOUND_LIST} AND e.id IS NOT NULL
            AND n.own = (SELECT max(own) FROM name WHERE key = n.key)
            ORDER BY e.twin, e.at, e.seq, e.own_id"""
        return self._rows_by_first_column(sql, json.dumps(list(keys)))

    def titled(self, names: Collection[str]) -> list[int]:
        """The entries that have one of these as their own name, with or without a last mark."""
        bare = {name.rstrip(_LAST_MARKS) for name in names}
        keys = {link_key(name + mark) for name in bare for mark in ("", *_LAST_MARKS)}
        sql = f"""
            SELECT DISTINCT n.entry FROM name n JOIN entry e ON e.rowid = n.entry
            WHERE n.key IN {BOUND_LIST} AND n.own = 1 AND e.id IS NOT NULL ORDER BY n.entry"""
        return self.engine.column(sql, json.dumps(sorted(keys))) if bare - {""} else []

    def incoming_links(
        self, rowids: Sequence[int], keys: Sequence[int] = ()
    ) -> list[tuple[int, int]]:
        """(entry, key) of each link from other entries to an own name of one of these, or to
        these keys.
        """
        sql = f"""
            SELECT l.entry, l.key FROM link l JOIN entry e ON e.rowid = l.entry
            WHERE l.entry NOT IN {BOUND_LIST} AND l.key IN (
                SELECT key FROM name WHERE own = 1 AND entry IN {BOUND_LIST}
                UNION SELECT value FROM json_each(?))
            AND e.id IS NOT NULL ORDER BY e.at DESC, e.own_id"""
        these = json.dumps(list(rowids))
        return self.engine.rows(sql, these, these, json.dumps(list(keys)))

    def days_around(
        self, since: str, until: str, *, limit: int
    ) -> tuple[str | None, str | None, list[int]]:
        """(the last day with entries before `since`, the first after `until`, entries on the
        day of the year `since` in other years, of as many years as fit, newest first). Undated
        entries do not count, and of a daily note only its first section."""
        [(before, after, first, last)] = self.engine.rows(_DAYS_BESIDE, since, until)
        years = range(int(first[:4]), int(last[:4]) + 1) if first else ()
        days = [f"{year:04}{since[4:]}" for year in years if year != int(since[:4])]
        return before, after, self.engine.column(_SAME_DAY, json.dumps(days), limit)

    def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """The titles of the entries that have one of these ids."""
        sql = f"SELECT own_id, title FROM entry WHERE own_id IN {BOUND_LIST}"
        return dict(self.engine.rows(sql, json.dumps(ids)))

    def dated_with_content(self, content_hash: int) -> list[int]:
        """The rowids of the dated entries with this content."""
        return self.engine.column(_SAME_CONTENT, content_hash)

    def facets(self, filters: Filters) -> Facets:
        """Counts of the entries that `listing` lists, by each type, tag, project and month
        (`YYYY-MM`, newest first).

        Undated entries have no month.
        """
        condition, values = list_conditions(filters)
        chosen = f"(SELECT e.rowid FROM entry e WHERE e.id IS NOT NULL {condition})"

        def count(what: str, table: str, by: str) -> tuple[tuple[str, int], ...]:
            sql = f"SELECT {what}, count(*) n FROM {table} IN {chosen} {by}"
            return tuple(self.engine.rows(sql, *values))

        return Facets(
            types=count("type", "entry WHERE rowid", "GROUP BY 1 ORDER BY n DESC, 1"),
            tags=count("name", "tag WHERE entry", "GROUP BY 1 ORDER BY n DESC, 1"),
            projects=count(
                "max(project)",
                "entry WHERE project IS NOT NULL AND rowid",
                "GROUP BY project_key ORDER BY n DESC, 1",
            ),
            months=count(
                "substr(date, 1, 7)",
                "entry WHERE dated = 1 AND rowid",
                "GROUP BY 1 ORDER BY 1 DESC",
            ),
        )

    # -- the whole of it
    # ----------------------------------------------------------------------------

    def counts(self) -> Counts:
        """Counts files, entries and passages of the index, and the entries and passages that
        have no vector yet.
        """
        [counted] = self.engine.rows(_COUNTS)
        return Counts._make([*counted, self.engine.size()])

    def pending(
        self, limit: int, *, after: int | None = None, newest_first: bool = True
    ) -> list[Passage]:
        """Returns passages that have no vector yet, in order, beginning after the chunk
        `after`.

        Oldest first fills the pages of the index; newest first leaves them half empty.
        """
        beyond, order = ("<", "DESC") if newest_first else (">", "ASC")
        sql = f"""
            SELECT c.rowid, c.entry, c.start, c."end", c.hash {_PENDING}
            AND (?1 IS NULL OR c.rowid {beyond} ?1) ORDER BY c.rowid {order} LIMIT ?2"""
        return [Passage(*row) for row in self.engine.rows(sql, after, limit)]

    def pending_among(self, chunk_rowids: Sequence[int]) -> list[int]:
        """Those of these chunks that have no vector yet."""
        sql = f"SELECT rowid FROM chunk WHERE vector = 0 AND rowid IN {BOUND_LIST}"
        return self.engine.column(sql, json.dumps(list(chunk_rowids)))

    def signatures(self) -> Mapping[str, FileSignature | None]:
        """Maps the path of each indexed file to its FileSignature; None for a file that changed
        too shortly before it was read. Cached in memory.
        """

        def asked() -> dict[str, FileSignature | None]:
            rows = self.engine.rows(_SIGNATURES)
            return {
                path: tuple(signature) if settled else None
                for path, settled, *signature in rows
            }

        return self.engine.cached("signatures", asked)

    def time_and_digest(self, path: str) -> tuple[int, int] | None:
        """The time of change of an indexed file, and the hash of its bytes."""
        sql = "SELECT mtime_ns, digest FROM source WHERE path = ?"
        return next(iter(self.engine.rows(sql, path)), None)

    def issues(self) -> tuple[ParseIssue, ...]:
        """Returns the problems of notes that could not be read as intended, and the ids that
        several files claim.
        """
        return tuple(ParseIssue(*row) for row in self.engine.rows(_ISSUES))


_ENTRIES = f"{SELECT_ENTRY} WHERE e.rowid IN {BOUND_LIST} AND e.id IS NOT NULL"
_LABELS = f"""
    SELECT entry, 0 AS kind, seq, name, NULL FROM tag WHERE entry IN {BOUND_LIST}
    UNION ALL SELECT entry, 1, seq, path, hash FROM file WHERE entry IN {BOUND_LIST}
    UNION ALL SELECT entry, 2, 0, target, NULL FROM supersedes WHERE entry IN {BOUND_LIST}
    UNION ALL SELECT entry, 3, seq, name, value FROM field WHERE entry IN {BOUND_LIST}
    ORDER BY 1, 2, 3, 4"""
_STANDINGS = f"""
    SELECT e.rowid, e.id, e.at, s.path, e.seq, e.type, e.date_source, e.importance,
        coalesce(a.count, 0), a.at, e.title,
        e.project_key, e.branch, e.expires, e.via IN {OF_SESSIONS}, e.whole_file
    FROM entry e JOIN source s ON s.id = e.source LEFT JOIN access a ON a.id = e.id
    WHERE e.rowid IN {BOUND_LIST} AND e.id IS NOT NULL"""
_CHAIN = """
    WITH RECURSIVE chain (id) AS (
        SELECT own_id FROM entry WHERE rowid = ?
        UNION SELECT CASE s.target WHEN chain.id THEN e.own_id ELSE s.target END
        FROM chain CROSS JOIN supersedes s
        ON s.target = chain.id OR s.entry IN (SELECT rowid FROM entry WHERE own_id = chain.id)
        CROSS JOIN entry e ON e.rowid = s.entry)
    SELECT rowid FROM entry WHERE own_id IN (SELECT id FROM chain) AND id IS NOT NULL
    ORDER BY at, seq, own_id"""
_DAYS_BESIDE = """
    SELECT
    (SELECT date FROM entry INDEXED BY entry_date
        WHERE dated = 1 AND date < ? AND id IS NOT NULL ORDER BY date DESC LIMIT 1),
    (SELECT date FROM entry INDEXED BY entry_date
        WHERE dated = 1 AND date > ? AND id IS NOT NULL ORDER BY date LIMIT 1),
    (SELECT min(date) FROM entry INDEXED BY entry_date WHERE dated = 1),
    (SELECT max(date) FROM entry INDEXED BY entry_date WHERE dated = 1)"""
_OWN_IDS = f"""
    SELECT id, own_id FROM entry WHERE own_id IN {BOUND_LIST} AND twin = 0
    UNION ALL SELECT id, own_id FROM entry WHERE other_id IN {BOUND_LIST} AND twin = 2"""
_BESIDE = f"""
    SELECT o.rowid, e.rowid FROM entry o JOIN entry e
    ON e.source = o.source AND e.seq IN (o.seq - 1, o.seq + 1) AND e.date = o.date
    WHERE o.rowid IN {BOUND_LIST} AND e.id IS NOT NULL"""
_SAME_DAY = f"""
    SELECT rowid FROM (SELECT e.rowid, e.date, e.at, e.own_id, row_number() OVER
        (PARTITION BY e.date ORDER BY e.at DESC, e.own_id) AS nth
    FROM entry e INDEXED BY entry_date WHERE e.id IS NOT NULL AND e.dated = 1
    AND e.date IN {BOUND_LIST}
    AND NOT ({daily_note_condition("e")} AND EXISTS (
        SELECT 1 FROM entry o WHERE o.source = e.source AND o.seq < e.seq
        AND o.date = e.date AND o.id IS NOT NULL AND {daily_note_condition("o")}))
    ORDER BY nth, e.date DESC LIMIT ?) AS found ORDER BY at DESC, own_id"""
_SAME_CONTENT = """
    SELECT rowid FROM entry WHERE content_hash = ? AND dated = 1 AND id IS NOT NULL"""
_PENDING = """
    FROM chunk c JOIN entry e ON e.rowid = c.entry WHERE c.vector = 0 AND e.id IS NOT NULL"""
_COUNTS = f"""
    SELECT (SELECT count(*) FROM source), (SELECT count(*) FROM entry WHERE id IS NOT NULL),
        (SELECT count(*) FROM chunk), count(DISTINCT c.entry), count(*) {_PENDING}"""
_ISSUES = """
    SELECT s.path, i.line, i.code, i.message FROM issue i JOIN source s ON s.id = i.source
    UNION ALL SELECT s.path, e.line, 'duplicate-id', 'the id ' || e.own_id ||
        ' belongs to another entry too; this one is known as ' || e.id
    FROM entry e JOIN source s ON s.id = e.source WHERE e.twin = 2 ORDER BY 1, 2"""
_SPREAD = """
    SELECT e.rowid FROM (
        SELECT entry, seq, vector, hash, rowid AS chunk FROM chunk ORDER BY hash, rowid LIMIT ?
    ) c CROSS JOIN entry e ON e.rowid = c.entry
    WHERE e.project_key IS ? AND c.vector > 0 AND c.seq = 0 ORDER BY c.hash, c.chunk LIMIT ?"""
_SPREAD_IN_PROJECT = """
    SELECT e.rowid FROM entry e CROSS JOIN chunk c ON c.entry = e.rowid AND c.seq = 0
    WHERE e.project_key IS ? AND c.vector > 0 ORDER BY c.hash, c.rowid LIMIT ?"""
_HAS_MORE = "SELECT 1 FROM entry WHERE project_key IS ? LIMIT 1 OFFSET ?"
_IN_PROJECT = f"""
    SELECT c.rowid, c.entry FROM chunk c CROSS JOIN entry e ON e.rowid = c.entry
    WHERE c.rowid IN {BOUND_LIST} AND e.project_key IS ?"""
_CHUNKS_OF_PROJECT = """
    SELECT c.rowid, c.entry FROM entry e CROSS JOIN chunk c ON c.entry = e.rowid
    WHERE e.project_key IS ? ORDER BY c.rowid"""
_CODES = f"""
    SELECT c.entry, t.codes FROM chunk c JOIN token t ON t.chunk = c.rowid
    WHERE c.entry IN {BOUND_LIST} AND c.seq < ? AND length(t.codes) > 0"""
_CODES_OF_CHUNKS = f"SELECT codes FROM token WHERE chunk IN {BOUND_LIST} AND length(codes) > 0"
# SQLite would read the whole index for DISTINCT; this takes a step for each project.
_PROJECTS = """
    WITH RECURSIVE project (name) AS (
        SELECT min(project_key) FROM entry
        UNION ALL SELECT (SELECT min(project_key) FROM entry WHERE project_key > name)
        FROM project WHERE name IS NOT NULL)
    SELECT name FROM project WHERE name IS NOT NULL"""
_SIGNATURES = """
    SELECT path, settled, mtime_ns, coalesce(ctime_ns, mtime_ns), size, inode FROM source"""
_DATED_BY_FILE = """
    SELECT s.path, max(CASE e.date_source WHEN 'git' THEN e.date END)
    FROM entry e INDEXED BY entry_by_file JOIN source s ON s.id = e.source
    WHERE e.date_source IN ('git', 'mtime') GROUP BY s.path"""
_COPIES = """
    SELECT s.path FROM entry mine
    JOIN entry e ON e.own_id = mine.own_id AND e.rowid <> mine.rowid
    JOIN source s ON s.id = e.source
    WHERE mine.rowid = ? AND e.content_hash = mine.content_hash AND e.twin = 1"""
_BY_ID = """
    SELECT rowid FROM entry WHERE own_id = ? AND twin = 0
    UNION SELECT rowid FROM entry WHERE other_id = ? AND twin = 2"""  # as its index has it

_BY_SHORT_ID = """
    SELECT rowid, id FROM entry
    WHERE lower(substr(own_id, 10)) >= ? AND lower(substr(own_id, 10)) < ?
    AND id LIKE ? AND twin = 0
    UNION SELECT rowid, id FROM entry WHERE other_id LIKE ? AND twin = 2
    ORDER BY 2 LIMIT 6"""

_NEWEST = (("e.at", "DESC"), ("s.path", "DESC"), ("e.seq", "DESC"))
_OLDEST = (("e.at", "ASC"), ("s.path", "ASC"), ("e.seq", "ASC"))
_DATED_FIRST = (("e.dated", "DESC"), *_NEWEST)
_ORDERS: dict[str, tuple[tuple[str, str], ...]] = {
    "newest": _NEWEST,
    "oldest": _OLDEST,
    "importance": (("coalesce(e.importance, 5)", "DESC"), *_DATED_FIRST),
    "access": (
        ("coalesce((SELECT count FROM access WHERE id = e.id), 0)", "DESC"),
        *_DATED_FIRST,
    ),
    "relevance": _NEWEST,
}
"""The keys of each order, with their directions."""
_COUNT_ALL = f"""
    SELECT (SELECT count(*) FROM entry), (SELECT count(*) FROM entry WHERE twin = 1),
        (SELECT count(DISTINCT old.rowid) {SUPERSEDED} AND {HAS_ONE_PASSAGE.format("old")})"""
_CHANGED = """
    SELECT e.rowid FROM seen s JOIN entry e
    ON (e.own_id = s.id AND e.twin = 0) OR (e.other_id = s.id AND e.twin = 2)
    WHERE s.number > ?"""
_PINNED = """
    SELECT e.rowid FROM entry e INDEXED BY entry_pin JOIN source s ON s.id = e.source
    WHERE e.pin = 1 AND e.id IS NOT NULL {}
    ORDER BY e.at, s.path, e.seq"""
