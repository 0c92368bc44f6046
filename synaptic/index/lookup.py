"""Questions to the index: the two candidate lists, entries, timelines, counts."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

import apsw

from ..errors import Ambiguous, NotFound
from ..language.words import match, sought, words, words_like
from ..models import Facets, Filters, Order, ParseIssue, Vector
from .conditions import OWN, SUPERSEDED, THESE, Gate, conditions, shown
from .database import is_damage, is_suspicion
from .rows import (
    MICROSECOND,
    SELECT_ENTRY,
    VECTOR_SCALE,
    Candidate,
    Passage,
    Position,
    Standing,
    Stored,
    instant,
    quantise,
    stored,
)
from .sketch import Sketch
from .store import Store, Vocabulary

STEMS_KEPT = 20_000

QUICKLY_SCORED = 2_000
"""So many matches are scored without choosing among them. Chosen with scripts/bench.py scale."""

MANY_USES = 1_000
"""Of tags that are used more often than this none counts as the more used one."""

FEW, FEW_OF = 2_000, 6
"""A filter lets few through that leaves so many chunks, or one of so many: they are listed before the search."""

COUNTED_FOR = 100
"""How often words occur is counted again when as many rows were written as one in so many chunks."""

MANY_PASS = 4
"""Where many pass, the wanted ones are nearly always among so many times more."""

ASKED = 200
"""So many chunks show whether a filter lets many through."""

GATES_KEPT = 16
"""Of so many filters the chunks that pass are kept while nobody writes."""


class Index(Store):
    """The whole index. Its answers show the state of the last sync."""

    def __init__(self, path: Path, *, stemming: bool = True) -> None:
        super().__init__(path, stemming=stemming)
        self._stems: dict[str, str | None] = {}
        self._sketch: tuple[int, object, Sketch] | None = None

    # -- the two lists ------------------------------------------------------------------------------

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
        """Chunks that hold any of the quoted `terms`, best BM25 first. `within` are entry rowids.

        Where the terms are in very many chunks, of those only that can be among the best are scored.
        """
        gate = Gate(filters, within, phrases)
        few = self._few(gate)
        telling, steps = self._promising(terms, limit) if few is None or len(few) > FEW else (terms, [])
        best: list[tuple[int, float]] = []
        for promising in steps:
            best = self._passing_scored(telling, context_weight, limit, gate, few, promising)
            if len(best) >= limit:
                break
        else:
            best = self._passing_scored(terms, context_weight, limit, gate, few)
        return self._candidates(best)

    def _passing_scored(
        self,
        terms: Sequence[str],
        context_weight: float,
        limit: int,
        gate: Gate,
        few: array[int] | None,
        promising: str = "",
    ) -> list[tuple[int, float]]:
        """(chunk, BM25) of the best that pass; with `promising`, of those that match it too."""
        condition, values = (_AMONG_MATCHES, [promising]) if promising else ("", [])
        if few is not None:
            return self._scored(
                terms, context_weight, limit, condition + _AMONG_THESE, [*values, json.dumps(few.tolist())]
            )
        if gate.open:
            return self._scored(terms, context_weight, limit, condition, values)
        for depth in (MANY_PASS * limit, -1):
            scored = self._scored(terms, context_weight, depth, condition, values)
            best = self._first_passing(scored, limit, gate)
            if len(best) >= limit or len(scored) < depth:
                break
        return best

    def _scored(
        self, terms: Sequence[str], context_weight: float, limit: int, condition: str = "", values: Sequence[Any] = ()
    ) -> list[tuple[int, float]]:
        """(chunk, BM25) of the best, lowest first; of equals the later."""
        columns = f"{OWN}: " if context_weight == 0 else ""
        rows = self.rows(
            f"SELECT rowid, bm25(chunk_fts, 1.0, {float(context_weight)}) AS score FROM chunk_fts "
            f"WHERE chunk_fts MATCH ? {condition} ORDER BY score, rowid DESC LIMIT ?",
            f"{columns}({' OR '.join(terms)})",
            *values,
            limit,
        )
        return cast("list[tuple[int, float]]", rows)

    def _promising(self, terms: Sequence[str], limit: int) -> tuple[Sequence[str], list[str]]:
        """(the terms that tell anything, what the best chunks match); nothing where scoring every match is quick.

        A word in half of the chunks or more counts nothing in BM25. Of the others the rare ones decide: the best
        hold one of them. Where none is rare, or too few chunks hold one, they hold the next rarest in themselves, or
        the two after that.
        """
        counts = self._frequencies(terms)
        if sum(counts.values()) <= QUICKLY_SCORED:
            return terms, []
        half = self.value("SELECT max(rowid) FROM chunk") / 2
        telling = sorted((term for term in counts if counts[term] < half), key=lambda term: counts[term])
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

    def _frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """Roughly how many chunks hold each of these quoted terms: what this process writes is not counted at once.

        What none holds is looked for each time: that is quick, and the next save may hold it.
        """
        known, counted_at = self.keep("frequencies", lambda: (dict[str, int](), self.db.total_changes()))
        if COUNTED_FOR * (self.db.total_changes() - counted_at) > self._passages():
            self.forget("frequencies")
            return self._frequencies(terms)
        counts = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?"
        known |= {term: count for term in terms if term not in known and (count := self.value(counts, term))}
        return {term: known.get(term, 0) for term in terms}

    def _few(self, gate: Gate) -> array[int] | None:
        """The chunks that pass, where they are few; None for many, and where all pass."""
        if gate.open:
            return None
        known = self.keep("few", dict[tuple[str, tuple[Any, ...]], "array[int] | None"])
        passing = gate.listing()
        if passing not in known:
            if len(known) >= GATES_KEPT:
                del known[next(iter(known))]
            known[passing] = self._listed(gate)
        return known[passing]

    def _listed(self, gate: Gate) -> array[int] | None:
        """The chunks that pass, where they are few. Some are asked first: where many pass, listing them is dear."""
        last = self.value("SELECT coalesce(max(rowid), 0) FROM chunk")
        most = max(FEW, last // FEW_OF)
        if last > most and not gate.phrases:
            asked = range(1, last + 1, -(-last // ASKED))
            if FEW_OF * len(self._passing(asked, gate)) > 2 * len(asked):
                return None
        listing, values = gate.listing()
        rows = self.rows(f"{listing} LIMIT ?", *values, most + 1)
        return array("q", (row[0] for row in rows)) if len(rows) <= most else None

    def _passing(self, rowids: Sequence[int], gate: Gate) -> set[int]:
        """Those of these chunks that pass."""
        check, values = gate.check()
        return {row[0] for row in self.rows(check, json.dumps(list(rowids)), *values)}

    def _first_passing(self, best: Sequence[tuple[int, float]], limit: int, gate: Gate) -> list[tuple[int, float]]:
        found: list[tuple[int, float]] = []
        start, size = 0, 2 * limit
        while start < len(best) and len(found) < limit:
            some = best[start : start + size]
            passed = self._passing([rowid for rowid, _ in some], gate)
            found += (scored for scored in some if scored[0] in passed)
            start, size = start + size, 4 * size
        return found[:limit]

    def _candidates(self, scored: Sequence[tuple[int, float]]) -> list[Candidate]:
        rowids = json.dumps([rowid for rowid, _ in scored])
        entries = dict(self.rows(f"SELECT rowid, entry FROM chunk WHERE rowid IN {THESE}", rowids))
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
        limit: int,
    ) -> list[Candidate]:
        """Chunks nearest to the vector, nearest first."""
        gate = Gate(filters, within, phrases)
        few, sketch, components = self._few(gate), self._followed(), quantise(vector)
        best: list[tuple[int, float]]
        if gate.open or few is not None:
            best = sketch.nearest(self.db, components, limit, among=few)
        else:  # where most pass, enough of the nearest do
            best = self._first_passing(sketch.nearest(self.db, components, 2 * limit), limit, gate)
            if len(best) < limit:
                best = sketch.nearest(self.db, components, limit, passing=partial(self._passing, gate=gate))
        return self._candidates([(rowid, _cosine(squared)) for rowid, squared in best])

    def _followed(self) -> Sketch:
        """The sketch of the vectors as they are now."""
        table, state = self.value("PRAGMA schema_version"), self.state()
        if self._sketch is None or self._sketch[0] != table:
            self._sketch = (table, None, Sketch(int(cast(int, self.meta("dimensions")))))
        _, followed, sketch = self._sketch
        if followed != state:
            sketch.follow(self.db)
            self._sketch = (table, state, sketch)
        return sketch

    def close(self) -> None:
        super().close()
        self._sketch = None  # another file may have the same state

    def similarities(self, vector: Vector, rowids: Sequence[int]) -> dict[int, float]:
        """The cosine of each entry's best chunk; entries without a vector are left out."""
        rows = self.rows(
            "SELECT c.entry, min(vec_distance_l2(v.embedding, vec_int8(?))) FROM chunk c "
            f"JOIN chunk_vec v ON v.rowid = c.rowid WHERE c.entry IN {THESE} AND c.vector = 1 GROUP BY c.entry",
            quantise(vector),
            json.dumps(rowids),
        )
        return {entry: _cosine(distance * distance) for entry, distance in rows}

    def has_word(self, word: str) -> bool:
        """True when some entry holds this quoted word or one of its stem."""
        return self._frequencies([word])[word] > 0

    def stem(self, word: str, tokenize: apsw.FTS5Tokenizer | None = None) -> str | None:
        """What the tokenizer makes of one word; None where it is not one token."""
        if word not in self._stems:
            if len(self._stems) >= STEMS_KEPT:
                self._stems.clear()
            self._stems[word] = self._tokenized(word, tokenize or self._tokenize())
        return self._stems[word]

    def stems(self, text: str) -> set[str]:
        """Those of a text's words."""
        tokenize = self._tokenize()  # once: each look at `db` asks the disk whether it is still the same
        return {stem for word in {word for _, word in words(text)} if (stem := self.stem(word, tokenize))}

    def places(self, text: str, stems: Collection[str]) -> list[tuple[int, str]]:
        """(where it begins, stem) of every word of a text that has one of these stems."""
        found = ((start, self.stem(word)) for start, word in words_like(text, stems))
        return [(start, stem) for start, stem in found if stem and stem in stems]

    def _tokenize(self) -> apsw.FTS5Tokenizer:
        name, *arguments = self._tokenizer
        return self.db.fts5_tokenizer(name, arguments)

    def _tokenized(self, word: str, tokenize: apsw.FTS5Tokenizer) -> str | None:
        utf8 = sought(word)[0].encode("utf-8", "replace")
        tokens = list(tokenize(utf8, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False))
        return str(cast("tuple[str, ...]", tokens[0])[0]) if len(tokens) == 1 else None

    def stems_like(self, stem: str) -> list[tuple[str, int]]:
        """Indexed stems with the same first letter and about the same length, with their document counts."""
        rows = self.rows(
            "SELECT term, doc FROM chunk_word WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?",
            stem[0],
            chr(ord(stem[0]) + 1),
            len(stem) - 2,
            len(stem) + 2,
        )
        return cast("list[tuple[str, int]]", rows)

    def document_counts(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """(passages in all, about how many of them hold each of these words, in any of its forms)."""
        quoted = {term: match(term) for term in terms}
        counts = self._frequencies(list(quoted.values()))
        return self._passages(), {term: counts[sought] for term, sought in quoted.items()}

    def _passages(self) -> int:
        """How many passages there are; counting them takes a look at each."""
        return self.keep("passages", lambda: cast(int, self.value("SELECT count(*) FROM chunk")))

    def vocabulary(self) -> Vocabulary:
        """What entries are marked with."""
        return self.keep("vocabulary", self._vocabulary)

    def _vocabulary(self) -> Vocabulary:
        tags, projects, files = (
            frozenset(row[0].lower() for row in self.rows(sql))
            for sql in (
                _DIFFERENT.format(column="name", table="tag"),
                _DIFFERENT.format(column="project_key", table="entry"),
                "SELECT DISTINCT path FROM file",
            )
        )
        return tags, projects, files

    def used_tags(self) -> list[str]:
        """The tags that more than one entry has, the most used first."""
        uses = self.keep("uses of tags", self._uses_of_tags)
        many = {tag: min(count, MANY_USES) for tag, count in uses.items() if count > 1}
        return sorted(many, key=lambda tag: (-many[tag], tag))

    def _uses_of_tags(self) -> Counter[str]:
        rows = self.rows(
            f"SELECT value, (SELECT count(*) FROM (SELECT 1 FROM tag WHERE name = value LIMIT {MANY_USES})) "
            f"FROM ({_DIFFERENT.format(column='name', table='tag')})"
        )
        return Counter(dict(rows))

    def chunks_with_stem(self, stem: str, *, limit: int) -> list[int]:
        """Chunks that hold a word of this stem."""
        return [row[0] for row in self.rows("SELECT doc FROM chunk_place WHERE term = ? LIMIT ?", stem, limit)]

    def passages(self, chunk_rowids: Sequence[int]) -> dict[int, Passage]:
        sql = f'SELECT rowid, entry, start, "end", hash FROM chunk WHERE rowid IN {THESE}'
        rows = self.rows(sql, json.dumps(list(chunk_rowids)))
        return {row[0]: Passage(*row) for row in rows}

    # -- entries out --------------------------------------------------------------------------------

    def entries(self, rowids: Sequence[int]) -> dict[int, Stored]:
        """Entries by rowid, without content. Copies that have no id in force are left out."""
        found: dict[int, Stored] = {}
        these = json.dumps(list(rowids))
        tags = self._lists(f"SELECT entry, name FROM tag WHERE entry IN {THESE} ORDER BY entry, seq", these)
        files = self._files(these)
        old = self._lists(f"SELECT entry, target FROM supersedes WHERE entry IN {THESE}", these)
        for row in self.rows(f"{SELECT_ENTRY} WHERE e.rowid IN {THESE} AND e.id IS NOT NULL", these):
            rowid = row[0]
            try:
                found[rowid] = stored(row, tags.get(rowid, ()), files.get(rowid, ()), old.get(rowid, ()))
            except (OverflowError, TypeError, ValueError) as error:
                raise apsw.CorruptError(f"a row makes no sense: {error}") from error
        return found

    def standings(self, rowids: Sequence[int]) -> dict[int, Standing]:
        """What ranking wants of entries, by rowid. Copies that have no id in force are left out."""
        rows = self.rows(
            "SELECT e.rowid, e.id, e.at, s.path, e.seq, e.type, e.date_source, e.importance, "
            "coalesce(a.count, 0), a.at, e.title FROM entry e JOIN source s ON s.id = e.source "
            f"LEFT JOIN access a ON a.id = e.id WHERE e.rowid IN {THESE} AND e.id IS NOT NULL",
            json.dumps(rowids),
        )
        return {row[0]: Standing(*row) for row in rows}

    def passing(self, filters: Filters, rowids: Sequence[int]) -> set[int]:
        """Those of these entries that pass the filters."""
        condition, values = conditions(filters, singly=True)
        sql = f"SELECT e.rowid FROM entry e WHERE e.rowid IN {THESE}{condition}"
        rows = self.rows(sql, json.dumps(rowids), *values)
        return {row[0] for row in rows}

    def _lists(self, sql: str, these: str) -> dict[int, tuple[str, ...]]:
        """Second columns grouped by the first."""
        groups: dict[int, list[str]] = {}
        for key, value in self.rows(sql, these):
            groups.setdefault(key, []).append(value)
        return {key: tuple(members) for key, members in groups.items()}

    def _files(self, these: str) -> dict[int, list[tuple[str, str | None]]]:
        """(path, fingerprint) of the files of each entry."""
        files: dict[int, list[tuple[str, str | None]]] = {}
        sql = f"SELECT entry, path, hash FROM file WHERE entry IN {THESE} ORDER BY entry, seq"
        for entry, path, known in self.rows(sql, these):
            files.setdefault(entry, []).append((path, known))
        return files

    def has_entry(self, id: str) -> bool:
        """Whether an entry has this whole id."""
        return bool(self.rows(_BY_ID, id, id))

    def resolve(self, name: str) -> Stored:
        """The entry of a whole id, of its part after the dash, or of four or more of that part's letters.

        Raises NotFound, or Ambiguous with the ids that fit.
        """
        rows = self.rows(_BY_ID, name, name)
        day, _, part = name.lower().rpartition("-")
        if not rows and 4 <= len(part) <= 8 and part.isalnum() and (not day or day.isdigit()):
            pattern = f"{day[:8] or '*'}-{part}*"
            rows = self.rows("SELECT rowid FROM entry WHERE id GLOB ? LIMIT 6", pattern)
        if not rows:
            raise NotFound(
                f"No entry has the id {name[:40]!r}.",
                hint="Ids are shown by `synaptic recent` and `synaptic search`; four letters are enough.",
            )
        found = self.entries([row[0] for row in rows])
        if len(found) > 1:
            raise Ambiguous(
                f"{name!r} fits several entries.",
                valid=[s.entry.id for s in found.values()],
                hint="Give more of it.",
            )
        return next(iter(found.values()))

    def listing(
        self, filters: Filters, *, order: Order, limit: int, after: Position | None = None
    ) -> tuple[int, list[int]]:
        """(total, entry rowids in order), without what is superseded unless the filters ask for it.

        `after` is where the entry stands that was shown last.
        """
        condition, values = shown(filters)
        total = self.value(f"SELECT count(*) FROM entry e WHERE e.id IS NOT NULL {condition}", *values)
        # SQLite does not see by itself that few of all have to be read
        by_time = "INDEXED BY entry_at" if _ORDERS[order].startswith("e.at") and not conditions(filters)[0] else ""
        if after is not None:
            sign = ">" if order == "oldest" else "<"
            condition += f" AND e.at {sign}= ? AND (e.at, s.path, e.seq) {sign} (?, ?, ?)"
            values = (*values, after[0], *after)
        rows = self.rows(
            f"SELECT e.rowid FROM entry e {by_time} JOIN source s ON s.id = e.source "
            f"WHERE e.id IS NOT NULL {condition} ORDER BY {_ORDERS[order]} LIMIT ?",
            *values,
            limit,
        )
        return total, [row[0] for row in rows]

    def copies(self, rowid: int) -> list[str]:
        """Paths of other files that hold the same entry with the same text."""
        rows = self.rows(
            "SELECT s.path FROM entry mine JOIN entry e ON e.own_id = mine.own_id AND e.rowid <> mine.rowid "
            "JOIN source s ON s.id = e.source WHERE mine.rowid = ? AND e.content_hash = mine.content_hash "
            "AND e.twin = 1",
            rowid,
        )
        return [row[0] for row in rows]

    def position(self, rowid: int) -> Position:
        """Where an entry stands in time: its instant, ties by path and place in the file."""
        [row] = self.rows(
            "SELECT e.at, s.path, e.seq FROM entry e JOIN source s ON s.id = e.source WHERE e.rowid = ?",
            rowid,
        )
        return cast(Position, row)

    def superseded_by(self, ids: Sequence[str]) -> dict[str, str]:
        """For each of these ids that a strictly later entry supersedes: the id of the latest such entry."""
        rows = self.rows(
            f"SELECT old.own_id, new.id {SUPERSEDED} AND s.target IN {THESE} ORDER BY new.at, new.twin DESC, new.id",
            json.dumps(ids),
        )
        return dict(rows)

    def same_content(self, content_hash: int, at: datetime, window: timedelta) -> list[int]:
        """The rowids of the entries with this content, no older at `at` than `window`, oldest first."""
        moment = instant(at)
        rows = self.rows(
            "SELECT rowid FROM entry WHERE content_hash = ? AND at BETWEEN ? AND ? AND id IS NOT NULL ORDER BY at",
            content_hash,
            moment - window // MICROSECOND,
            moment,
        )
        return [row[0] for row in rows]

    def facets(self, filters: Filters) -> Facets:
        """The counts of what `listing` lists."""
        condition, values = shown(filters)
        chosen = f"(SELECT e.rowid FROM entry e WHERE e.id IS NOT NULL {condition})"

        def count(sql: str) -> tuple[tuple[str, int], ...]:
            return tuple(cast("list[tuple[str, int]]", self.rows(sql.format(chosen=chosen), *values)))

        return Facets(
            types=count("SELECT type, count(*) n FROM entry WHERE rowid IN {chosen} GROUP BY 1 ORDER BY n DESC, 1"),
            tags=count("SELECT name, count(*) n FROM tag WHERE entry IN {chosen} GROUP BY 1 ORDER BY n DESC, 1"),
            projects=count(
                "SELECT max(project), count(*) n FROM entry WHERE rowid IN {chosen} AND project IS NOT NULL "
                "GROUP BY project_key ORDER BY n DESC, 1"
            ),
        )

    def months(self) -> tuple[tuple[str, int], ...]:
        """How many entries each month has, `YYYY-MM`, newest first."""
        rows = self.rows(
            "SELECT substr(date, 1, 7) m, count(*) FROM entry WHERE id IS NOT NULL GROUP BY m ORDER BY m DESC"
        )
        return tuple(cast("list[tuple[str, int]]", rows))

    def timings(self) -> dict[str, list[dict[str, float]]]:
        """By verb, the milliseconds of the stages of its last calls."""
        found: dict[str, list[dict[str, float]]] = {}
        for verb, stages in self.rows("SELECT verb, stages FROM timing ORDER BY number"):
            found.setdefault(verb, []).append(json.loads(stages))
        return found

    def searches(self, limit: int) -> dict[str, list[tuple[float, dict[str, float]]]]:
        """By strategy, when its last searches ran, in seconds since 1970, and the milliseconds of their stages."""
        stored = self.rows(
            "SELECT strategy, at, stages FROM timing WHERE strategy IS NOT NULL ORDER BY number DESC LIMIT ?", limit
        )
        unwritten = [call for call in self._timed.get("search", ()) if call[0] is not None]
        found: dict[str, list[tuple[float, dict[str, float]]]] = {}
        for strategy, at, stages in (*reversed(stored), *unwritten):
            found.setdefault(strategy, []).append((at, json.loads(stages)))
        return found

    def counts(self) -> tuple[int, int, int]:
        """(files, entries, chunks)."""
        files = self.value("SELECT count(*) FROM source")
        entries = self.value("SELECT count(*) FROM entry WHERE id IS NOT NULL")
        chunks = self.value("SELECT count(*) FROM chunk")
        return files, entries, chunks

    def orphans(self) -> int:
        """Rows that belong to nothing: chunks without entry or words, words and vectors without chunk."""
        pairs = [
            ("SELECT rowid FROM chunk", "SELECT rowid FROM chunk_fts_docsize"),
            ("SELECT DISTINCT entry FROM chunk", "SELECT rowid FROM entry"),
        ]
        if self.has_vectors():
            pairs.append(("SELECT rowid FROM chunk WHERE vector = 1", "SELECT rowid FROM chunk_vec_rowids"))
        lost = "SELECT count(*) FROM ({} EXCEPT {})"
        return sum(self.value(lost.format(*pair)) + self.value(lost.format(*reversed(pair))) for pair in pairs)

    def is_sound(self) -> bool:
        """Whether every table is as it was made and read whole, and vec0 gives each passage its vector.

        What an error says of the disk says nothing of the index.
        """
        self._whole_at = None
        try:
            self.check_tables()
            if self.value("PRAGMA integrity_check(1)") != "ok" or self.rows("PRAGMA foreign_key_check"):
                return False
            given = self.value(_VECTORS_GIVEN, self.meta("dimensions")) if self.has_vectors() else 0
            return not self.orphans() and given == self.value("SELECT count(*) FROM chunk WHERE vector = 1")
        except apsw.Error as error:
            return not (is_damage(error) or is_suspicion(error))

    def own_ids(self) -> dict[str, set[str]]:
        """By path, the ids that files give their entries."""
        found: dict[str, set[str]] = {}
        for path, own_id in self.rows("SELECT s.path, e.own_id FROM entry e JOIN source s ON s.id = e.source"):
            found.setdefault(path, set()).add(own_id)
        return found

    def versions(self) -> str:
        """SQLite's and sqlite-vec's versions."""
        return f"SQLite {apsw.sqlite_lib_version()}, sqlite-vec {self.value('SELECT vec_version()')}"

    def issues(self) -> tuple[ParseIssue, ...]:
        """What could not be read as meant, and ids that several files claim."""
        rows = self.rows(
            "SELECT s.path, i.line, i.code, i.message FROM issue i JOIN source s ON s.id = i.source "
            "UNION ALL SELECT s.path, e.line, 'duplicate-id', 'the id ' || e.own_id || ' belongs to another entry too; "
            "this one is known as ' || e.id FROM entry e JOIN source s ON s.id = e.source "
            "WHERE e.id IS NOT e.own_id AND e.id IS NOT NULL ORDER BY 1, 2"
        )
        return tuple(ParseIssue(*row) for row in rows)


def _cosine(squared: float) -> float:
    """The cosine of two unit vectors from the squared distance of their int8 forms."""
    return 1.0 - squared / (2.0 * VECTOR_SCALE * VECTOR_SCALE)


# Each value of an indexed column: one step in the index for each, where DISTINCT would read it all.
_DIFFERENT = (
    "WITH RECURSIVE each (value) AS (SELECT min({column}) FROM {table} WHERE {column} IS NOT NULL UNION ALL "
    "SELECT (SELECT min({column}) FROM {table} WHERE {column} > value) FROM each WHERE value IS NOT NULL) "
    "SELECT value FROM each WHERE value IS NOT NULL"
)

_VECTORS_GIVEN = (
    "SELECT count(*) FROM chunk c CROSS JOIN chunk_vec v ON v.rowid = c.rowid "
    "WHERE c.vector = 1 AND length(v.embedding) = ?"
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
    "importance": "coalesce(e.importance, 5) DESC, e.at DESC, s.path DESC, e.seq DESC",
    "access": "coalesce((SELECT count FROM access WHERE id = e.id), 0) DESC, e.at DESC, s.path DESC, e.seq DESC",
    "relevance": "e.at DESC, s.path DESC, e.seq DESC",
}
