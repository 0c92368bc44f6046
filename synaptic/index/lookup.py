"""The whole index: what is asked of it, and the way to change it."""

from __future__ import annotations

import json
import time
from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import apsw

from ..errors import Ambiguous, NotFound, SynapticError
from ..language.words import match, sought
from ..models import (
    OF_SESSIONS,
    Facets,
    Filters,
    Matrix,
    Order,
    ParseIssue,
    Proof,
    Stamp,
    Vector,
)
from .conditions import COUNTED, OWN, SUPERSEDED, THESE, Gate, conditions, gate, shown
from .database import BUSY_TIMEOUT_MS, Database
from .embedding import USUAL
from .rows import (
    MICROSECOND,
    SELECT_ENTRY,
    VECTOR_SCALE,
    Call,
    Candidate,
    Counts,
    Passage,
    Position,
    Source,
    Standing,
    Stored,
    Vocabulary,
    instant,
    quantise,
    stored,
    units,
)
from .sketch import VECTORS_OF_CHUNKS, Sketch
from .store import Writer

STEMS_KEPT = 20_000
"""Words whose stems are kept in memory."""

QUICKLY_SCORED = 2_000
"""Up to this number of matches all are scored. Chosen with scripts/bench.py speed."""

FEW, FEW_OF = 2_000, 6
"""The chunks of a filter are listed before the search where they are at most 2,000, or at most
a sixth of all.
"""

COUNTED_FOR = 100
"""Counts of words are made again once the rows written since then exceed a hundredth of the
chunks.
"""

MANY_PASS = 4
"""Where a filter lets many chunks through, the wanted ones are nearly always among the best
four times `limit`.
"""

ASKED = 200
"""Chunks that are sampled to see whether a filter lets many through."""

GATES_KEPT = 16
"""Filters whose chunks are kept in memory while nobody writes."""

CALLS_KEPT = 1_000
"""Calls of each verb of which the duration is kept."""

COMPACT_WAIT_MS = 2_000


SAMPLED = 128
"""Passages that tell how near a question is to any text; reading them takes 2 ms. By eye."""


_KNOWN = {
    "tag": "SELECT name, '' FROM tag GROUP BY name ORDER BY count(*) DESC",
    "project": "SELECT project, '' FROM entry WHERE project <> '' GROUP BY project_key "
    "ORDER BY count(*) DESC",
    "id": "SELECT substr(id, 10), title FROM entry WHERE id <> '' ORDER BY at DESC",
    "date": "SELECT DISTINCT date, '' FROM entry WHERE id <> '' AND dated = 1 ORDER BY "
    "date DESC",
}


def known(index: Path, kind: str) -> list[tuple[str, str]]:
    """The tags or projects, most frequent first, or the ids and titles, or dates, newest first.
    Raises apsw.Error.

    The index is opened to be read, and not brought in step: a shell that completes a word has
    no time.
    """
    with closing(apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        return list(db.execute(_KNOWN[kind]))


USES = ("searches", "nothing_found", "shown", "opened", "saved", "sessions", "tokens")
"""What is counted of agents: their searches, those that found nothing close, the entries in
their answers, those they
opened and saved, and the sessions that began with a briefing, with its tokens."""


class Index:
    """The whole index; answers show the state of the last sync. `file` is the connection, which
    opens and heals.

    `writing` gives a Writer, which alone changes entries and vectors.
    """

    def __init__(self, path: Path, *, stemming: bool = True) -> None:
        self.file = Database(path, stemming=stemming)
        self.meta = self.file.meta
        self._stems: dict[str, str | None] = {}
        self._sketch: tuple[object, Sketch] | None = None
        self._accessed: Counter[str] = Counter()
        self._accessed_at = 0
        self._timed: dict[str, deque[Call]] = {}
        self._used: Counter[tuple[str, str, str]] = Counter()

    # -- changing it
    # --------------------------------------------------------------------------------

    @contextmanager
    def writing(self, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[Writer]:
        """One write transaction, which also writes what `record` counted.

        Raises apsw.BusyError when the write lock is not free within `wait_ms`.
        """
        try:
            with self.file.transaction(wait_ms) as db:
                yield Writer(self.file)
                self._write_counted(db)
        except BaseException:
            self.file.kept.clear()
            raise
        self._accessed.clear()
        self._used.clear()
        for calls in self._timed.values():
            calls.clear()  # that a verb was called before is remembered

    def record(
        self,
        verb: str,
        stages: Mapping[str, float] | None = None,
        *,
        strategy: str | None = None,
        read: Iterable[str] = (),
        at: int = 0,
    ) -> None:
        """Keeps the milliseconds of a call by stage, and counts a read of each entry id in
        `read` at the instant `at`.

        Both are written with the next change, or by `flush`. The first call of a verb in a
        process is kept without its strategy: its time includes imports and caches.
        """
        if stages is not None:
            warm = verb in self._timed
            calls = self._timed.setdefault(verb, deque(maxlen=CALLS_KEPT))
            rounded = {name: round(ms, 3) for name, ms in stages.items()}
            calls.append(Call(verb, strategy if warm else None, int(time.time()), rounded))
        if counted := list(read):
            self._accessed.update(counted)
            self._accessed_at = at

    def count_use(self, client: str, day: date, **counts: int) -> None:
        """Adds to what this agent did in the week of this day, by the names of USES; written
        like a record.
        """
        week = day - timedelta(day.weekday())
        self._used.update(
            {(week.isoformat(), client, what): count for what, count in counts.items()}
        )

    def uses(self) -> dict[tuple[str, str], dict[str, int]]:
        """What each agent did, by week (its Monday) and client, the latest first."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for week, client, what, count in self.file.rows(
            "SELECT * FROM use ORDER BY week DESC, client"
        ):
            found.setdefault((week, client), dict.fromkeys(USES, 0))[what] = count
        return found

    def flush(self) -> bool:
        """Writes what was only counted so far, unless another process is writing; True when
        nothing is left.
        """
        counted = (self._accessed, self._used, *self._timed.values())
        if any(counted):
            with suppress(apsw.Error, SynapticError), self.writing(0):
                pass
        return not any(counted)

    def _write_counted(self, db: apsw.Connection) -> None:
        db.executemany(
            "INSERT INTO access SELECT ?1, ?2, ?3 WHERE EXISTS "
            "(SELECT 1 FROM entry WHERE own_id = ?1 OR (twin = 2 AND other_id = ?1)) "
            "ON CONFLICT (id) DO UPDATE SET count = count + excluded.count, at = max(at, "
            "excluded.at)",
            [(id, count, self._accessed_at) for id, count in self._accessed.items()],
        )
        db.executemany(
            "INSERT INTO use VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + "
            "excluded.count",
            [(*what, count) for what, count in self._used.items() if count],
        )
        for verb, calls in self._timed.items():
            db.executemany(
                "INSERT INTO timing (verb, strategy, at, stages) VALUES (?, ?, ?, ?)",
                [(verb, call.strategy, call.at, json.dumps(call.stages)) for call in calls],
            )
            db.execute(
                "DELETE FROM timing WHERE verb = ?1 AND number <= "
                "(SELECT number FROM timing WHERE verb = ?1 ORDER BY number DESC LIMIT 1 "
                "OFFSET ?2)",
                (verb, CALLS_KEPT),
            )

    def compact(self, wait_ms: int = COMPACT_WAIT_MS) -> bool:
        """Gives free pages back and empties the write-ahead log; where a scrub is owed, deleted
        text leaves no trace.

        For that, FTS5's segments are merged: they keep deleted words. False where another
        process writes, or reads from the log, and where the index is kept in memory: a scrub
        stays owed then.
        """
        scrubs = self.file.owes_scrub
        if scrubs and self.file.trouble:
            return False
        try:
            if scrubs:
                for other in self.file.path.parent.glob(
                    "index*.db*"
                ):  # of another model; it is made anew
                    if not other.name.startswith(self.file.path.name):
                        other.unlink(missing_ok=True)
                with self.writing(wait_ms):
                    db = self.file.db
                    db.execute(
                        "DELETE FROM access WHERE id NOT IN (SELECT id FROM entry WHERE id "
                        "IS NOT NULL)"
                    )
                    db.execute("INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')")
            db = self.file.db
            db.set_busy_timeout(wait_ms)
            db.execute("PRAGMA incremental_vacuum").fetchall()
            done = not self.file.value("PRAGMA wal_checkpoint(TRUNCATE)")
        except (apsw.BusyError, apsw.LockedError):
            done = False
        finally:
            self.file.db.set_busy_timeout(BUSY_TIMEOUT_MS)
        if scrubs and done:
            self.file.owes_scrub = False
        return done

    # -- the two lists
    # ------------------------------------------------------------------------------

    def lexical(
        self,
        terms: Sequence[str],
        *,
        filters: Filters,
        within: Sequence[int] | None,
        phrases: Sequence[str],
        context_weight: float,
        limit: int,
    ) -> list[Candidate]:
        """Chunks that hold any of the quoted `terms`, best BM25 first. `within` are entry
        rowids.

        Where the terms are in very many chunks, of those only that can be among the best are
        scored.
        """
        passes = gate(filters, within, phrases)
        few = self._few(passes)
        telling, steps = (
            self._promising(terms, limit) if few is None or len(few) > FEW else (terms, [])
        )
        best: list[tuple[int, float]] = []
        for promising in steps:
            best = self._scored(telling, context_weight, limit, passes, few, promising)
            if len(best) >= limit:
                break
        else:
            best = self._scored(terms, context_weight, limit, passes, few)
        return self._candidates(best)

    def _scored(
        self,
        terms: Sequence[str],
        context_weight: float,
        limit: int,
        passes: Gate,
        few: array[int] | None,
        promising: str = "",
    ) -> list[tuple[int, float]]:
        """(chunk, BM25) of the best chunks that pass, lowest first; of equals the later.

        They also match the query `promising`, where one is given.
        """
        condition, values = (_AMONG_MATCHES, [promising]) if promising else ("", [])
        if few is not None:
            condition, values = condition + _AMONG_THESE, [*values, json.dumps(few.tolist())]
        columns = f"{OWN}: " if context_weight == 0 else ""
        sql = (
            f"SELECT rowid, bm25(chunk_fts, 1.0, {float(context_weight)}) AS score FROM "
            f"chunk_fts "
            f"WHERE chunk_fts MATCH ? {condition} ORDER BY score, rowid DESC LIMIT ?"
        )
        best: list[tuple[int, float]] = []
        is_whole = passes.open or few is not None
        for depth in (limit,) if is_whole else (MANY_PASS * limit, -1):
            scored = self.file.rows(sql, f"{columns}({' OR '.join(terms)})", *values, depth)
            best = scored if is_whole else self._first_passing(scored, limit, passes)
            if len(best) >= limit or len(scored) < depth:
                break
        return best

    def _promising(self, terms: Sequence[str], limit: int) -> tuple[Sequence[str], list[str]]:
        """(the terms that count, FTS5 queries to try in turn); no queries where scoring every
        match is quick.

        A word in half of the chunks or more counts nothing in BM25. The first query matches the
        chunks that hold one of the rare words; it is absent where these are too few. The second
        query also matches chunks whose own text holds the next rarest word, or both of the two
        words after that.
        """
        _, counts = self._frequencies(terms)
        if sum(counts.values()) <= QUICKLY_SCORED:
            return terms, []
        half = self.file.value("SELECT max(rowid) FROM chunk") / 2
        telling = sorted(
            (term for term in counts if counts[term] < half), key=lambda term: counts[term]
        )
        scored = 0
        rare: list[str] = []
        for term in telling:
            scored += counts[term]
            if scored > QUICKLY_SCORED:
                break
            rare.append(term)
        common = telling[len(rare) :]
        both = f" OR ({common[1]} AND {common[2]})" if len(common) > 2 else ""
        held = [f"{OWN}: ({common[0]}{both})"] if common else []
        enough = sum(counts[term] for term in rare) >= limit
        steps = [" OR ".join(some) for some in (rare if enough else [], [*rare, *held]) if some]
        return telling or terms, list(dict.fromkeys(steps))

    def _frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """(chunks in all, chunks that hold each of these quoted terms), roughly: small changes
        are not counted at once.

        A term that no chunk holds is looked up each time: that is quick, and the next save may
        hold it.
        """

        def counted() -> tuple[int, dict[str, int], int]:
            return (
                self.file.value("SELECT count(*) FROM chunk"),
                {},
                self.file.db.total_changes(),
            )

        total, known, counted_at = self.file.keep("frequencies", counted)
        if COUNTED_FOR * (self.file.db.total_changes() - counted_at) > total:
            total, known, _ = self.file.kept["frequencies"] = counted()
        counts = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?"
        known |= {
            term: count
            for term in terms
            if term not in known and (count := self.file.value(counts, term))
        }
        # a term may be counted later than all chunks were
        return total, {term: min(total, known.get(term, 0)) for term in terms}

    def _few(self, passes: Gate) -> array[int] | None:
        """The chunks that pass, where they are few; None for many, and where all pass."""
        if passes.open:
            return None
        known = self.file.keep("few", dict[tuple[str, tuple[Any, ...]], "array[int] | None"])
        passing = passes.listing
        if passing not in known:
            if len(known) >= GATES_KEPT:
                del known[next(iter(known))]
            known[passing] = self._listed(passes)
        return known[passing]

    def _listed(self, passes: Gate) -> array[int] | None:
        """The chunks that pass; None where they are many. A sample is checked first: listing
        many takes long.
        """
        last = self.file.value("SELECT coalesce(max(rowid), 0) FROM chunk")
        most = last if passes.bounded else max(FEW, last // FEW_OF)
        if last > most and not passes.phrases:
            asked = range(1, last + 1, -(-last // ASKED))
            if FEW_OF * len(self._passing(asked, passes)) > 2 * len(asked):
                return None
        listing, values = passes.listing
        rows = self.file.rows(f"{listing} LIMIT ?", *values, most + 1)
        return array("q", (row[0] for row in rows)) if len(rows) <= most else None

    def _passing(self, rowids: Sequence[int], passes: Gate) -> set[int]:
        check, values = passes.check
        return {row[0] for row in self.file.rows(check, json.dumps(list(rowids)), *values)}

    def _first_passing(
        self, best: Sequence[tuple[int, float]], limit: int, passes: Gate
    ) -> list[tuple[int, float]]:
        found: list[tuple[int, float]] = []
        start, size = 0, 2 * limit
        while start < len(best) and len(found) < limit:
            some = best[start : start + size]
            passed = self._passing([rowid for rowid, _ in some], passes)
            found += (scored for scored in some if scored[0] in passed)
            start, size = start + size, 4 * size
        return found[:limit]

    def _candidates(self, scored: Sequence[tuple[int, float]]) -> list[Candidate]:
        rowids = json.dumps([rowid for rowid, _ in scored])
        entries = dict(
            self.file.rows(f"SELECT rowid, entry FROM chunk WHERE rowid IN {THESE}", rowids)
        )
        if len(entries) < len(scored):
            raise apsw.CorruptError("words or vectors without their chunk")
        return [Candidate(rowid, entries[rowid], score) for rowid, score in scored]

    def semantic(
        self,
        vector: Vector,
        *,
        filters: Filters,
        within: Sequence[int] | None,
        phrases: Sequence[str],
        limit: int | None,
    ) -> list[Candidate]:
        """Chunks nearest to the vector, nearest first; with `limit` None every chunk of the
        entries `within`.
        """
        passes = gate(filters, within, phrases)
        few, components = self._few(passes), quantise(vector)
        if limit is None:
            limit = max(1, len(few or ()))
        made_for = self.file.db, self.file.value("PRAGMA schema_version")
        if (
            self._sketch is None or self._sketch[0] != made_for
        ):  # another connection, or another table
            self._sketch = made_for, Sketch(int(cast(int, self.file.meta("dimensions"))))
        nearest = partial(self._sketch[1].nearest, self.file, components)
        best: list[tuple[int, float]]
        if passes.open or few is not None:
            best = nearest(limit, among=few)
        else:  # where most pass, enough of the nearest do
            best = self._first_passing(nearest(2 * limit), limit, passes)
            if len(best) < limit:
                best = nearest(limit, passing=partial(self._passing, passes=passes))
        # the cosine of two unit vectors from the squared distance of their int8 forms
        apart = 2.0 * VECTOR_SCALE * VECTOR_SCALE * self._spread()
        return self._candidates([(row, 1.0 - squared / apart) for row, squared in best])

    def scaled(self, cosines: Matrix) -> Matrix:
        """Cosines of the model in use as the shipped one would have them, so that one rule fits
        both.

        What either finds usual becomes the same, and 1 stays 1: E5's .7 to 1 become about -.2
        to 1.
        """
        return cosines if (spread := self._spread()) == 1 else 1 - (1 - cosines) / spread

    def _spread(self) -> float:
        """How far apart the model in use puts texts of other matters, over the shipped one."""
        return (1 - float(self.meta("usual") or USUAL)) / (1 - USUAL)

    def vectors(self, chunk_rowids: Sequence[int]) -> dict[int, bytes]:
        """The int8 vectors of these chunks, as bytes; chunks without a vector are left out."""
        if self.file.meta("model") is None:
            return {}
        return dict(self.file.rows(VECTORS_OF_CHUNKS, json.dumps(list(chunk_rowids))))

    def meanings(self, rowids: Sequence[int]) -> dict[int, bytes]:
        """The int8 vector of the first passage of each of these entries that has one."""
        first = (
            f"SELECT rowid, entry FROM chunk WHERE seq = 0 AND vector > 0 AND entry IN {THESE}"
        )
        entries = dict(self.file.rows(first, json.dumps(list(rowids))))
        return {entries[chunk]: vector for chunk, vector in self.vectors(list(entries)).items()}

    def sample(self) -> Matrix:
        """The unit vectors of about SAMPLED passages, spread evenly over the journal; taken
        anew as it grows.
        """
        import numpy as np

        last, model = (
            self.file.value("SELECT coalesce(max(rowid), 0) FROM chunk"),
            self.meta("model"),
        )

        def taken() -> tuple[int, object, Matrix]:
            found = self.vectors(range(1, last + 1, max(1, last // SAMPLED)))
            dimensions = int(self.meta("dimensions") or 0)
            return (
                last,
                model,
                units(list(found.values())) if found else np.zeros((0, dimensions), np.float32),
            )

        at, made_by, vectors = self.file.keep("sample", taken)
        if last > 1.5 * at or made_by != model or not len(vectors):
            _, _, vectors = self.file.kept["sample"] = taken()
        return vectors

    def stem(self, word: str) -> str | None:
        """What the tokenizer makes of one word; None where it is not one token."""
        if word not in self._stems:
            if len(self._stems) >= STEMS_KEPT:
                self._stems.clear()
            name, *arguments = self.file.tokenizer
            tokenize = self.file.db.fts5_tokenizer(name, arguments)
            utf8 = sought(word)[0].encode("utf-8", "replace")
            tokens = list(tokenize(utf8, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False))
            self._stems[word] = (
                str(cast("tuple[str, ...]", tokens[0])[0]) if len(tokens) == 1 else None
            )
        return self._stems[word]

    def stems_like(self, stem: str) -> list[tuple[str, int]]:
        """Indexed stems of the same first letter and about the same length, or its beginnings;
        with document counts.
        """
        return self.file.rows(
            "SELECT term, doc FROM chunk_word WHERE term >= ? AND term < ? "
            "AND (length(term) BETWEEN ? AND ? OR (length(term) > 4 AND instr(?, term) = 1))",
            stem[0],
            chr(ord(stem[0]) + 1),
            len(stem) - 2,
            len(stem) + 2,
            stem,
        )

    def document_counts(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """(chunks in all, roughly the number that hold each of these words in any of its
        forms).
        """
        quoted = {term: match(term) for term in terms}
        total, counts = self._frequencies(quoted.values())
        return total, {term: counts[phrase] for term, phrase in quoted.items()}

    def vocabulary(self) -> Vocabulary:
        """The tags, projects and files that entries are marked with."""

        def asked() -> Vocabulary:
            projects = self.file.rows(
                "SELECT DISTINCT project_key FROM entry WHERE project_key IS NOT NULL"
            )
            files = self.file.rows("SELECT DISTINCT path FROM file")
            return Vocabulary(
                tags=dict(self.file.rows("SELECT name, count(*) FROM tag GROUP BY name")),
                projects=frozenset(row[0] for row in projects),
                files=frozenset(row[0].lower() for row in files),
            )

        return self.file.keep("vocabulary", asked)

    def field_names(self) -> frozenset[str]:
        """The names of fields that some entry has."""
        names = "SELECT DISTINCT name FROM field"
        return self.file.keep(
            "fields", lambda: frozenset(row[0] for row in self.file.rows(names))
        )

    def chunks_with_stem(self, stem: str, *, limit: int) -> list[int]:
        """Chunks whose own text, title or tags hold a word of this stem."""
        sql = "SELECT doc FROM chunk_place WHERE term = ? AND col = ? LIMIT ?"
        return [row[0] for row in self.file.rows(sql, stem, OWN, limit)]

    def passages(self, chunk_rowids: Sequence[int]) -> dict[int, Passage]:
        sql = f'SELECT rowid, entry, start, "end", hash FROM chunk WHERE rowid IN {THESE}'
        rows = self.file.rows(sql, json.dumps(list(chunk_rowids)))
        return {row[0]: Passage(*row) for row in rows}

    def chunks_of(self, rowids: Sequence[int]) -> dict[int, list[int]]:
        """The chunks of these entries, in order."""
        chunks = f"SELECT entry, rowid FROM chunk WHERE entry IN {THESE} ORDER BY entry, seq"
        return self._grouped(chunks, json.dumps(list(rowids)))

    # -- entries out
    # --------------------------------------------------------------------------------

    def entries(self, rowids: Sequence[int]) -> dict[int, Stored]:
        """Entries by rowid, without content. Copies that have no id in force are left out."""
        found: dict[int, Stored] = {}
        these = json.dumps(list(rowids))
        labels = [
            self._grouped(
                f"SELECT entry, {listed} WHERE entry IN {THESE} ORDER BY entry, {order}", these
            )
            for listed, order in _LABELS
        ]
        for row in self.file.rows(
            f"{SELECT_ENTRY} WHERE e.rowid IN {THESE} AND e.id IS NOT NULL", these
        ):
            try:
                found[row[0]] = stored(row, *(of_entry.get(row[0], ()) for of_entry in labels))
            except (OverflowError, TypeError, ValueError) as error:
                raise apsw.CorruptError(f"a row makes no sense: {error}") from error
        return found

    def standings(self, rowids: Sequence[int]) -> dict[int, Standing]:
        """What ranking wants of entries, by rowid. Copies that have no id in force are left
        out.
        """
        rows = self.file.rows(
            "SELECT e.rowid, e.id, e.at, s.path, e.seq, e.type, e.date_source, e.importance, "
            "coalesce(a.count, 0), a.at, e.title, "
            "(SELECT coalesce(max(c.seq), 0) + 1 FROM chunk c WHERE c.entry = e.rowid), "
            f"e.project_key, e.branch, e.expires, e.via IN {OF_SESSIONS} "
            "FROM entry e JOIN source s ON s.id = e.source "
            f"LEFT JOIN access a ON a.id = e.id WHERE e.rowid IN {THESE} AND e.id IS NOT NULL",
            json.dumps(rowids),
        )
        return {row[0]: Standing(*row) for row in rows}

    def passing(self, filters: Filters, rowids: Sequence[int]) -> set[int]:
        """Those of these entries that pass the filters."""
        condition, values = conditions(filters, singly=True)
        sql = f"SELECT e.rowid FROM entry e WHERE e.rowid IN {THESE}{condition}"
        rows = self.file.rows(sql, json.dumps(rowids), *values)
        return {row[0] for row in rows}

    def _grouped(self, sql: str, these: str) -> dict[int, list[Any]]:
        """The other columns of each row, by the first; the values themselves where it is one
        column.
        """
        groups: dict[int, list[Any]] = {}
        for key, *columns in self.file.rows(sql, these):
            groups.setdefault(key, []).append(columns[0] if len(columns) == 1 else columns)
        return groups

    def resolve(self, name: str) -> Stored:
        """The entry of a whole id, of its part after the dash, or of four or more of that
        part's letters.

        As in its file it may begin with `syn:`. Raises NotFound, or Ambiguous with the ids that
        fit.
        """
        name = name.strip().removeprefix("syn:")
        rows = self.file.rows(_BY_ID, name, name)
        day, _, part = name.lower().rpartition("-")
        if not rows and 4 <= len(part) <= 8 and part.isalnum() and (not day or day.isdigit()):
            pattern = f"{day[:8] or '*'}-{part}*"
            rows = self.file.rows("SELECT rowid FROM entry WHERE id GLOB ? LIMIT 6", pattern)
        if not rows:
            raise NotFound(
                f"No entry has the id {name[:40]!r}.",
                hint="Ids are shown by `synaptic recent` and `synaptic search`; four "
                "letters are enough.",
            )
        found = self.entries([row[0] for row in rows])
        if len(found) > 1:
            raise Ambiguous(
                f"{name!r} fits several entries.",
                valid=[s.entry.id for s in found.values()],
                hint="Give more of it.",
            )
        [one] = found.values()
        return replace(one, copies=tuple(row[0] for row in self.file.rows(_COPIES, one.rowid)))

    def listing(
        self,
        filters: Filters,
        *,
        order: Order,
        limit: int,
        after: Position | None = None,
        first: str | None = None,
        after_first: bool = False,
    ) -> tuple[int, list[int]]:
        """(total, entry rowids in order), without what is superseded unless the filters ask for
        it.

        In the orders of time undated entries come last. `after` is where the entry stands that
        was shown last. Unless projects are asked for, entries of the one with the key `first`
        come before all others; `after_first`: only the others are left.
        """
        condition, values = shown(filters)
        total = self.file.value(
            f"SELECT count(*) FROM entry e WHERE e.id IS NOT NULL {condition}", *values
        )
        if first is None or filters.projects:
            return total, self._in_order(filters, order, limit, after)
        apart = filters.without or Filters()
        others = replace(filters, without=replace(apart, projects=(*apart.projects, first)))
        own = (
            []
            if after_first
            else self._in_order(replace(filters, projects=(first,)), order, limit, after)
        )
        return total, own + self._in_order(
            others, order, limit - len(own), after if after_first else None
        )

    def _in_order(
        self, filters: Filters, order: Order, limit: int, after: Position | None
    ) -> list[int]:
        condition, values = shown(filters)
        by_time = _ORDERS[order].startswith("e.at")
        # SQLite does not see by itself that few of all have to be read
        way = (
            "INDEXED BY entry_at"
            if by_time and not conditions(replace(filters, without=None))[0]
            else ""
        )
        sql = (
            f"SELECT e.rowid FROM entry e {way} JOIN source s ON s.id = e.source WHERE "
            f"e.id IS NOT "
            f"NULL {condition}"
        )
        found: list[int] = []
        for dated in (1, 0) if by_time else (None,):
            beyond, bound = f" AND e.dated = {dated}" if by_time else "", values
            if after is not None and dated == after[0]:
                sign = ">" if order == "oldest" else "<"
                beyond += f" AND e.at {sign}= ? AND (e.at, s.path, e.seq) {sign} (?, ?, ?)"
                bound = (*values, after[1], *after[1:])
            if after is None or not dated or after[0]:
                ordered = f"{sql}{beyond} ORDER BY {_ORDERS[order]} LIMIT ?"
                found += (row[0] for row in self.file.rows(ordered, *bound, limit - len(found)))
        return found

    def pinned(self, project: str | None) -> list[int]:
        """The entries that a person pinned for the project of this key and for all, oldest
        first.

        They stay until a person unpins them, also where a later entry supersedes them.
        """
        return [row[0] for row in self.file.rows(_PINNED, project)]

    def paths_in_force(self) -> list[str]:
        """The paths of files that hold an entry which no other file holds too."""
        sql = (
            "SELECT DISTINCT s.path FROM entry e JOIN source s ON s.id = e.source WHERE "
            "e.id IS "
            "NOT NULL"
        )
        return [row[0] for row in self.file.rows(sql)]

    def diaries(self) -> list[tuple[str, int]]:
        """(path, number of entries) of each diary in one file, the longest first."""
        return self.file.rows(
            "SELECT s.path, count(*) FROM entry e JOIN source s ON s.id = e.source "
            "WHERE e.date_source = 'heading' AND e.id <> '' GROUP BY e.source ORDER BY 2 DESC"
        )

    def dated_by_file(self) -> dict[str, str | None]:
        """By path of each file with entries that it does not date itself: their date by git, or
        None.
        """
        return dict(self.file.rows(_DATED_BY_FILE))

    def superseded_by(self, ids: Sequence[str]) -> dict[str, str]:
        """For each of these ids that another entry supersedes: the id of the latest such entry."""
        rows = self.file.rows(
            f"SELECT old.own_id, new.id {SUPERSEDED} AND s.target IN {THESE} ORDER BY "
            f"new.at, new.twin DESC, new.id",
            json.dumps(ids),
        )
        return dict(rows)

    def named(self, keys: Collection[int]) -> dict[int, list[int]]:
        """For each of these keys that is a name: the entries whose own name it is, else all
        that share it.
        """
        return self._grouped(
            "SELECT n.key, n.entry FROM name n JOIN entry e ON e.rowid = n.entry "
            f"WHERE n.key IN {THESE} AND e.id IS NOT NULL AND n.own = (SELECT max(own) "
            f"FROM name WHERE key = n.key) "
            "ORDER BY e.twin, e.at, e.seq",  # a copy comes behind its original
            json.dumps(list(keys)),
        )

    def linking(self, rowids: Sequence[int], keys: Sequence[int] = ()) -> list[tuple[int, int]]:
        """(entry, key) of each link from other entries to an own name of one of these, or to
        these keys.
        """
        sql = (
            f"SELECT l.entry, l.key FROM link l JOIN entry e ON e.rowid = l.entry WHERE "
            f"l.entry NOT IN {THESE} "
            f"AND l.key IN (SELECT key FROM name WHERE own AND entry IN {THESE} UNION "
            f"SELECT value FROM json_each(?)) "
            "AND e.id IS NOT NULL ORDER BY e.at DESC"
        )
        these = json.dumps(list(rowids))
        return self.file.rows(sql, these, these, json.dumps(list(keys)))

    def unnamed(self) -> list[tuple[int, int]]:
        """(entry, key) of each link whose key is no name."""
        return self.file.rows(
            "SELECT l.entry, l.key FROM link l JOIN entry e ON e.rowid = l.entry "
            "WHERE e.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM name n WHERE n.key = l.key)"
        )

    def calendar(
        self, since: str, until: str, *, limit: int
    ) -> tuple[str | None, str | None, list[int]]:
        """(the last day with entries before `since`, the first after `until`, entries on the
        day of the year `since`
        in other years, newest first). Undated entries do not count."""
        dated = "FROM entry WHERE id IS NOT NULL AND dated = 1"
        [(before, after)] = self.file.rows(
            f"SELECT max(date) FILTER (WHERE date < ?), min(date) FILTER (WHERE date > ?) "
            f"{dated}",
            since,
            until,
        )
        same_day = f"SELECT rowid {dated} AND substr(date, 5) = ? AND date <> ? ORDER BY at DESC LIMIT ?"
        return (
            before,
            after,
            [row[0] for row in self.file.rows(same_day, since[4:], since, limit)],
        )

    def standing(self, parts: Iterable[str]) -> dict[str, tuple[str, str]]:
        """For each of these parts of ids after the dash that an entry has: (its id, the path of
        its file).
        """
        sql = (
            f"SELECT own_id, path FROM entry e JOIN source s ON s.id = e.source WHERE "
            f"substr(own_id, 10) IN {THESE}"
        )
        return {id[9:]: (id, path) for id, path in self.file.rows(sql, json.dumps(list(parts)))}

    def named_by_others(self, ids: Sequence[str]) -> set[str]:
        """Those of these ids that any other entry links to, continues or supersedes."""
        rows = self.file.rows(_NAMED_BY_OTHERS, json.dumps(ids))
        return {row[0] for row in rows}

    def titles(self, ids: Sequence[str]) -> dict[str, str]:
        """The titles of the entries that have one of these ids."""
        return dict(
            self.file.rows(
                f"SELECT own_id, title FROM entry WHERE own_id IN {THESE}", json.dumps(ids)
            )
        )

    def same_content(self, content_hash: int, at: datetime, window: timedelta) -> list[int]:
        """The rowids of the entries with this content, no older at `at` than `window`, oldest
        first.
        """
        moment = instant(at)
        rows = self.file.rows(
            "SELECT rowid FROM entry WHERE content_hash = ? AND dated = 1 AND at BETWEEN ? "
            "AND ? AND id IS NOT NULL "
            "ORDER BY at",
            content_hash,
            moment - window // MICROSECOND,
            moment,
        )
        return [row[0] for row in rows]

    def facets(self, filters: Filters) -> Facets:
        """How many entries that `listing` lists have each type, tag, project and month
        (`YYYY-MM`, newest first).

        Undated entries have no month.
        """
        condition, values = shown(filters)
        chosen = f"(SELECT e.rowid FROM entry e WHERE e.id IS NOT NULL {condition})"

        def count(sql: str) -> tuple[tuple[str, int], ...]:
            return tuple(self.file.rows(sql.format(chosen=chosen), *values))

        return Facets(
            types=count(
                "SELECT type, count(*) n FROM entry WHERE rowid IN {chosen} GROUP BY 1 "
                "ORDER BY n DESC, 1"
            ),
            tags=count(
                "SELECT name, count(*) n FROM tag WHERE entry IN {chosen} GROUP BY 1 ORDER "
                "BY n DESC, 1"
            ),
            projects=count(
                "SELECT max(project), count(*) n FROM entry WHERE rowid IN {chosen} AND "
                "project IS NOT NULL "
                "GROUP BY project_key ORDER BY n DESC, 1"
            ),
            months=count(
                "SELECT substr(date, 1, 7) m, count(*) FROM entry WHERE rowid IN {chosen} "
                "AND dated = 1 "
                "GROUP BY m ORDER BY m DESC"
            ),
        )

    def counted(self, filters: Filters, by: str) -> list[tuple[str, int]]:
        """How many entries that `listing` lists have each value of one of COUNTED, the most
        first.

        Undated entries have no day and no week; "" is the author of an entry without one.
        """
        condition, values = shown(filters)
        chosen = f"FROM entry e WHERE e.id IS NOT NULL AND value IS NOT NULL {condition}"
        return self.file.rows(
            f"SELECT {COUNTED[by]} value, count(*) n {chosen} GROUP BY value ORDER BY n "
            f"DESC, value",
            *values,
        )

    def reads(
        self, filters: Filters, old: datetime, *, limit: int
    ) -> tuple[int, int, list[tuple[str, str, int]]]:
        """(entries that were ever opened or a top hit, those from before `old` that never were,
        most read entries).

        Of the entries that `listing` lists; the most read are (id, title, reads). Not old are
        undated and pinned entries, and those to which no file gives an id: a review does not
        ask about them.
        """
        condition, values = shown(filters)
        chosen = (
            f"FROM entry e LEFT JOIN access a ON a.id = e.id WHERE e.id IS NOT NULL {condition}"
        )
        never = "a.id IS NULL AND e.dated = 1 AND e.at < ? AND NOT e.derived AND NOT e.pin"
        counts = f"SELECT count(a.id), count(*) FILTER (WHERE {never}) {chosen}"
        [(ever, unread)] = self.file.rows(counts, instant(old), *values)
        most = (
            f"SELECT e.id, e.title, a.count {chosen} AND a.count > 0 ORDER BY a.count "
            f"DESC, e.at "
            f"DESC LIMIT ?"
        )
        return ever, unread, self.file.rows(most, *values, limit)

    def calls(self, *, searches: int | None = None) -> list[Call]:
        """The calls that were recorded, oldest first; with `searches` only that many of the
        last warm searches.
        """
        found = self.file.rows(
            "SELECT verb, strategy, at, stages FROM (SELECT * FROM timing WHERE ?1 IS NULL "
            "OR strategy IS NOT NULL "
            "ORDER BY number DESC LIMIT coalesce(?1, -1)) ORDER BY number",
            searches,
        )
        unwritten = [
            call
            for calls in self._timed.values()
            for call in calls
            if searches is None or call.strategy
        ]
        return [
            *(Call(verb, way, at, json.loads(stages)) for verb, way, at, stages in found),
            *unwritten,
        ]

    # -- the whole of it
    # ----------------------------------------------------------------------------

    def counts(self) -> Counts:
        """How much there is, and how much waits for a vector."""
        log = (Path(f"{self.file.path}{suffix}") for suffix in ("", "-wal"))
        [(entries, passages)] = self.file.rows(
            f"SELECT count(DISTINCT c.entry), count(*) {_PENDING}"
        )
        return Counts(
            files=self.file.value("SELECT count(*) FROM source"),
            entries=self.file.value("SELECT count(*) FROM entry WHERE id IS NOT NULL"),
            chunks=self.file.value("SELECT count(*) FROM chunk"),
            pending_entries=entries,
            pending_passages=passages,
            bytes=sum(path.stat().st_size for path in log if path.exists()),
        )

    def pending(self, limit: int, *, below: int | None = None) -> list[Passage]:
        """Passages that want a vector, newest first; with `below`, only chunks with a lower
        rowid.
        """
        rows = self.file.rows(
            f'SELECT c.rowid, c.entry, c.start, c."end", c.hash {_PENDING} AND c.rowid < ? '
            "ORDER BY c.rowid DESC LIMIT ?",
            2**63 - 1 if below is None else below,
            limit,
        )
        return [Passage(*row) for row in rows]

    def proofs(self) -> Mapping[str, Proof | None]:
        """By path, proof that an indexed file is as it was; None where nothing proves it. Kept
        in memory.
        """

        def asked() -> dict[str, Proof | None]:
            rows = self.file.rows(f"SELECT {_SOURCE} FROM source")
            return {row[0]: Source(Stamp(*row[:5]), row[6], bool(row[5])).proof for row in rows}

        return self.file.keep("proofs", asked)

    def sources(self, paths: Sequence[str] | None = None) -> dict[str, Source]:
        """Indexed files by path: all, or those of `paths` that are indexed."""
        where, these = "", list[str]()
        if paths is not None:
            ids = Writer(self.file).ids()
            where, these = (
                f"WHERE s.id IN {THESE}",
                [json.dumps([ids.get(path) for path in paths])],
            )
        rows = self.file.rows(
            f"SELECT {_SOURCE}, json_group_array(e.own_id) FILTER (WHERE e.own_id IS NOT NULL) "
            f"FROM source s LEFT JOIN entry e ON e.source = s.id {where} GROUP BY s.id",
            *these,
        )
        return {
            row[0]: Source(Stamp(*row[:5]), row[6], bool(row[5]), frozenset(json.loads(row[7])))
            for row in rows
        }

    def issues(self) -> tuple[ParseIssue, ...]:
        """What could not be read as meant, and ids that several files claim."""
        rows = self.file.rows(
            "SELECT s.path, i.line, i.code, i.message FROM issue i JOIN source s ON s.id = "
            "i.source "
            "UNION ALL SELECT s.path, e.line, 'duplicate-id', 'the id ' || e.own_id || ' "
            "belongs to another entry too; "
            "this one is known as ' || e.id FROM entry e JOIN source s ON s.id = e.source "
            "WHERE e.id IS NOT e.own_id AND e.id IS NOT NULL ORDER BY 1, 2"
        )
        return tuple(ParseIssue(*row) for row in rows)


_LABELS = (
    ("name FROM tag", "seq"),
    ("path, hash FROM file", "seq"),
    ("target FROM supersedes", "target"),
    ("name, value FROM field", "seq"),
)
_PENDING = (
    "FROM chunk c JOIN entry e ON e.rowid = c.entry WHERE c.vector = 0 AND e.id IS NOT NULL"
)
_SOURCE = "path, mtime_ns, coalesce(ctime_ns, mtime_ns), size, inode, settled, digest"
_DATED_BY_FILE = (
    "SELECT s.path, max(CASE e.date_source WHEN 'git' THEN e.date END) FROM entry e "
    "INDEXED BY entry_by_file "
    "JOIN source s ON s.id = e.source WHERE e.date_source IN ('git', 'mtime') GROUP BY e.source"
)
_COPIES = (
    "SELECT s.path FROM entry mine JOIN entry e ON e.own_id = mine.own_id AND e.rowid <> "
    "mine.rowid "
    "JOIN source s ON s.id = e.source WHERE mine.rowid = ? AND e.content_hash = "
    "mine.content_hash AND e.twin = 1"
)

# With the plus, FTS5 is asked once; without it, once for each row.
_AMONG_THESE = f" AND +rowid IN {THESE}"
_AMONG_MATCHES = " AND +rowid IN (SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?)"


_BY_ID = (
    "SELECT rowid FROM entry WHERE own_id = ? AND twin = 0 "
    "UNION SELECT rowid FROM entry WHERE other_id = ? AND twin = 2"  # as its index has it
)

_ORDERS: dict[str, str] = {
    "newest": "e.at DESC, s.path DESC, e.seq DESC",
    "oldest": "e.at, s.path, e.seq",
    "importance": "coalesce(e.importance, 5) DESC, e.dated DESC, e.at DESC, s.path DESC, "
    "e.seq DESC",
    "access": "coalesce((SELECT count FROM access WHERE id = e.id), 0) DESC, e.dated DESC, "
    "e.at DESC, s.path DESC, "
    "e.seq DESC",
    "relevance": "e.at DESC, s.path DESC, e.seq DESC",
}
_NAMED_BY_OTHERS = f"""
    WITH these AS (SELECT rowid, own_id FROM entry WHERE own_id IN {THESE}),
    others AS (SELECT rowid, parent FROM entry WHERE rowid NOT IN (SELECT rowid FROM these))
    SELECT own_id FROM these WHERE own_id IN (SELECT parent FROM others)
    OR own_id IN (SELECT target FROM supersedes WHERE entry IN (SELECT rowid FROM others))
    OR rowid IN (SELECT n.entry FROM name n JOIN link l ON l.key = n.key
                 WHERE n.own AND l.entry IN (SELECT rowid FROM others))"""
_PINNED = (
    "SELECT e.rowid FROM entry e INDEXED BY entry_pin JOIN source s ON s.id = e.source "
    "WHERE e.pin "
    f"AND e.id IS NOT NULL AND coalesce(e.project_key = ?, e.project_key IS NULL) ORDER BY "
    f"{_ORDERS['oldest']}"
)
