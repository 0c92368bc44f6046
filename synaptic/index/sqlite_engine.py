"""The two lists of a search, by words and by meaning, and the words and vectors behind them."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from ..errors import IndexFailed
from ..filters import Filters
from ..language.words import index_words_and_prefix
from ..models import Texts, Vector
from .conditions import BOUND_LIST, chunk_conditions
from .database import Database, tokenizer_arguments
from .engine import cosines_from_distances
from .rows import Candidate, quantise
from .sqlite_errors import as_index_errors
from .vectors import Neighbour, nearest_of

if TYPE_CHECKING:
    from .sketch import Rough, Sketch

STEMS_KEPT = 20_000
"""Words whose stems are kept in memory."""

QUICKLY_SCORED = 2_000
"""Matches that BM25 scores in about 2 ms. Chosen at 100,000 entries."""

FEW_PASS, FEW_OF = 2_000, 6
"""A filter that leaves at most 2,000 chunks, or a sixth of all, is applied in the query by
words; another to the best matches.
"""

MANY_PASS = 4
"""Where a filter lets many chunks through, the wanted ones are nearly always among the best
four times `limit`.
"""

COUNTED_FOR = 100
"""Counts of words are made again once the rows written since then exceed a hundredth of the
chunks.
"""

EXACT = 5_000
"""Up to this number of vectors vec0 compares all of them, which takes 3 ms."""

FILTERS_KEPT = 16
"""Filters whose chunks are kept in memory while nobody writes."""


class Stems:
    """The stems that FTS5's tokenizer makes of words. `connect` gives any connection; without
    it a database in memory is opened.
    """

    def __init__(
        self, stemming: bool, connect: Callable[[], apsw.Connection] | None = None
    ) -> None:
        self._tokenizer = tokenizer_arguments(stemming)
        self._connect = connect or cache(lambda: apsw.Connection(":memory:"))
        self._stem_of_word: dict[str, str | None] = {}

    def stems_of_text(self, text: str, *, is_query: bool = False) -> list[str]:
        """The stem of each word of a text as `normalize_for_index` writes it, or of a query."""
        name, *arguments = self._tokenizer
        reason = apsw.FTS5_TOKENIZE_QUERY if is_query else apsw.FTS5_TOKENIZE_DOCUMENT
        tokenize = self._connect().fts5_tokenizer(name, arguments)
        utf8 = text.encode("utf-8", "replace")
        tokens = tokenize(utf8, reason, None, include_offsets=False)
        return [str(colocated[0]) for colocated in tokens]

    def stem(self, word: str) -> str | None:
        """Returns the stem of one word; for a word of several parts, such as `line_items`, the
        stems of the parts; None if it has no stem.
        """
        if word not in self._stem_of_word:
            if len(self._stem_of_word) >= STEMS_KEPT:
                self._stem_of_word.clear()
            stems = self.stems_of_text(index_words_and_prefix(word)[0], is_query=True)
            self._stem_of_word[word] = " ".join(stems) or None
        return self._stem_of_word[word]


class SqliteEngine(Database):
    """The engine on SQLite: FTS5 has the words, vec0 the vectors; in a large journal `sketch`
    says which of them to compare.
    """

    def __init__(self, path: Path, *, stemming: bool = True, read_only: bool = False) -> None:
        super().__init__(path, stemming=stemming, read_only=read_only)
        self._stems = Stems(stemming, lambda: self.db)
        self._sketch: Sketch | None = None
        self.latest_rough: dict[Any, Rough] = {}
        self._was_asked_for_likely = False

    def passing_chunks(
        self, filters: Filters, within: Sequence[int] | None
    ) -> array[int] | None:
        """The rowids of these chunks."""
        sql, values = chunk_conditions(filters, within)
        if not sql:
            return None
        chunks = self.cached("passing", dict[tuple[str, tuple[Any, ...]], "array[int]"])
        if (sql, values) not in chunks:
            if len(chunks) >= FILTERS_KEPT:
                chunks.clear()
            chunks[sql, values] = array("q", json.loads(self.value(_CHUNKS + sql, *values)))
        return chunks[sql, values]

    def lexical(
        self, terms: Sequence[str], passing: array[int] | None, *, limit: int
    ) -> list[Candidate]:
        """Returns the best `limit` chunks for the terms by BM25; if very many chunks match,
        only those with one of the rarest terms are scored.
        """
        query = " OR ".join(terms)
        sql = "SELECT rowid, bm25(chunk_fts) AS score FROM chunk_fts WHERE chunk_fts MATCH ?"
        order = " ORDER BY score, rowid DESC LIMIT ?"
        values: Texts = (query,)
        total, counts = self.frequencies(terms)
        allowed: set[int] | None = None
        depths = [limit]
        if passing is not None:
            if len(passing) <= max(FEW_PASS, total // FEW_OF):
                sql += _AMONG_THESE
                values = (query, json.dumps(passing.tolist()))
            else:
                allowed = set(passing)
                depths = [MANY_PASS * limit, -1]
        ways = [(sql, values, depth) for depth in depths]
        rarest = _rarest_terms_query(counts)
        if rarest:
            ways.insert(0, (f"{sql}{_AMONG_MATCHES}", (*values, rarest), depths[0]))
        best: list[tuple[int, float]] = []
        for way, bound, depth in ways:
            scored = self.rows(f"{way}{order}", *bound, depth)
            best = [row for row in scored if allowed is None or row[0] in allowed][:limit]
            if len(best) == limit:
                break
        return self._as_candidates(best)

    def frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """Returns (number of chunks, for each term the number of chunks that contain it);
        cached until the index has changed enough. A term that no chunk holds is looked up each
        time: the next save may hold it.
        """
        changes = self.rows_written()

        def count_chunks() -> tuple[int, dict[str, int], int]:
            return self.value("SELECT count(*) FROM chunk"), {}, changes

        total, counts, counted_at = self.cached("frequencies", count_chunks)
        if COUNTED_FOR * (changes - counted_at) > total:
            total, counts, _ = self.cache["frequencies"] = count_chunks()
        for term in terms:
            if term not in counts:
                count = self.value(_COUNT_MATCHES, term)
                if count:
                    counts[term] = count
        # a term may be counted later than all chunks were
        return total, {term: min(total, counts.get(term, 0)) for term in terms}

    def _as_candidates(self, scored: Sequence[tuple[int, float]]) -> list[Candidate]:
        rowids = json.dumps([rowid for rowid, _ in scored])
        sql = f"SELECT rowid, entry FROM chunk WHERE rowid IN {BOUND_LIST}"
        entries = dict(self.rows(sql, rowids))
        if len(entries) < len(scored):
            raise IndexFailed("words or vectors without their chunk", "reset")
        return [Candidate(rowid, entries[rowid], score) for rowid, score in scored]

    @as_index_errors()
    def semantic(
        self, vector: Vector, passing: array[int] | None, *, limit: int | None
    ) -> list[Candidate]:
        asked = quantise(vector)
        most = len(passing or ()) if limit is None else limit
        among: Sequence[int] | None = passing
        if self.vectors.count() > EXACT:
            from .sketch import OVERSAMPLED

            among = self._sketch_candidates(asked, OVERSAMPLED * most, passing)
        else:
            self.cached("vectors", self._check_vectors)
        nearest = self._nearest(asked, most, among)
        rowids = [rowid for rowid, _ in nearest]
        near = cosines_from_distances(self, (distance * distance for _, distance in nearest))
        return self._as_candidates(list(zip(rowids, near, strict=True)))

    @as_index_errors()
    def likely_nearest(
        self, vector: Vector, count: int, among: array[int] | None = None
    ) -> Sequence[int]:
        """About `count` chunks of `among`, or of all, that are probably nearest to the vector,
        the likeliest first.

        The first time all vectors are compared, for a command asks once; a server asks again,
        and has rough copies from then on.
        """
        if self._was_asked_for_likely or self.latest_rough:
            return self._sketch_candidates(quantise(vector), count, among)
        self._was_asked_for_likely = among is None
        if among is None:
            return self.vectors.scan_nearest(vector, count)
        return [rowid for rowid, _ in self._nearest(quantise(vector), count, among)]

    def _nearest(
        self, vector: bytes, limit: int, among: Sequence[int] | None
    ) -> list[Neighbour]:
        if among is None:
            return self.vectors.nearest(vector, limit)
        return nearest_of(self.vectors_of(among), vector, limit)

    def _check_vectors(self) -> None:
        """Compares all vectors with their checksums. Raises apsw.CorruptError."""
        missing = self.vectors.find_missing_table()
        if missing:
            raise apsw.CorruptError(missing)
        for _ in self.vectors.stored_since(0):
            pass

    def _sketch_candidates(
        self, vector: bytes, count: int, passing: array[int] | None
    ) -> Sequence[int]:
        """The `count` chunks that the sketch takes for the nearest, or some more.

        Only this method uses the sketch: once the table of vectors finds the nearest of a large
        journal itself, this method and `sketch` can be deleted.
        """
        from .sketch import Sketch

        made_for = self.db, self.meta("dimensions")
        if self._sketch is None or self._sketch.made_for != made_for:
            self.latest_rough.clear()  # it may be of a file that is gone
            self._sketch = Sketch(self, made_for[1], self.latest_rough)
        return self._sketch.nearest_candidates(vector, count, passing)

    @as_index_errors()
    def vectors_of(self, chunks: Sequence[int]) -> dict[int, bytes]:
        return self.vectors.get_vectors(chunks)

    def spread_chunks(self, count: int) -> Sequence[int]:
        return self.column(SPREAD, count)

    def stem(self, word: str) -> str | None:
        return self._stems.stem(word)

    def stems_like(self, stem: str) -> list[tuple[str, int]]:
        return self.rows(
            _STEMS_LIKE, stem[0], chr(ord(stem[0]) + 1), len(stem) - 2, len(stem) + 2, stem
        )

    def stems_holding(self, part: str, *, limit: int) -> list[str]:
        return self.column(_STEMS_HOLDING, part, part, limit)

    def chunks_with_stem(self, stem: str, *, limit: int) -> list[int]:
        return self.column("SELECT doc FROM chunk_place WHERE term = ? LIMIT ?", stem, limit)


def _rarest_terms_query(counts: Mapping[str, int]) -> str:
    """An FTS5 query for the rarest of the terms, as many as are needed for more than
    QUICKLY_SCORED matches; "" if all terms together have fewer. `counts`: chunks by term.
    """
    if sum(counts.values()) <= QUICKLY_SCORED:
        return ""
    rarest: list[str] = []
    matches = 0
    for term in sorted(counts, key=lambda term: counts[term]):
        rarest.append(term)
        matches += counts[term]
        if matches > QUICKLY_SCORED:
            break
    return "" if len(rarest) == len(counts) else " OR ".join(rarest)


SPREAD = "SELECT rowid FROM chunk WHERE vector > 0 ORDER BY hash, rowid LIMIT ?"
"""Those of the least hashes, which depend on nothing but their texts."""
_CHUNKS = """
    SELECT json_group_array(a.rowid) FROM entry e JOIN chunk a ON a.entry = e.rowid
    WHERE 1 = 1"""
_STEMS_LIKE = """
    SELECT term, doc FROM chunk_word WHERE term >= ? AND term < ?
    AND (length(term) BETWEEN ? AND ? OR (length(term) > 4 AND instr(?, term) = 1))"""
_STEMS_HOLDING = """
    SELECT term FROM chunk_word WHERE instr(term, ?) > 0 AND term <> ?
    ORDER BY length(term), term LIMIT ?"""
# With the plus, FTS5 is asked once; without it, once for each row.
_AMONG_THESE = f" AND +rowid IN {BOUND_LIST}"
_AMONG_MATCHES = " AND +rowid IN (SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?)"
_COUNT_MATCHES = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?"
