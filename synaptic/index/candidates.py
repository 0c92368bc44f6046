"""The two lists of a search, by words and by meaning, and the words and vectors behind them."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import apsw

from ..language.words import match, sought
from ..models import Filters, Matrix, Texts, Vector
from .conditions import THESE, chunks_sql
from .database import Database
from .embedding import USUAL
from .rows import VECTOR_SCALE, Candidate, Passage, quantise, units

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

FILTERS_KEPT = 16
"""Filters whose chunks are kept in memory while nobody writes."""

SAMPLED = 128
"""Passages that tell how near a question is to any text; reading them takes 2 ms. By eye."""

CODED = 6
"""Passages of an entry whose tokens are compared: it keeps a question within 10 ms."""

PassingChunks: TypeAlias = "array[int] | None"
"""The rowids of the chunks that pass a filter; None: all pass."""


class CandidateLists:
    """Reads the two lists; a part of Index."""

    def __init__(self, file: Database) -> None:
        self.file = file
        self.meta = file.meta
        self._stems: dict[str, str | None] = {}
        self._sketch: Sketch | None = None
        self.latest_rough: dict[Any, Rough] = {}

    def passing_chunks(
        self,
        filters: Filters,
        within: Sequence[int] | None,
        phrases: Sequence[str],
    ) -> PassingChunks:
        """The chunks that pass the filters, are of the entries `within`, and whose entries hold
        the quoted phrases.
        """
        sql, values = chunks_sql(filters, within, phrases)
        if not sql:
            return None
        kept = self.file.keep("passing", dict[tuple[str, tuple[Any, ...]], "array[int]"])
        if (sql, values) not in kept:
            if len(kept) >= FILTERS_KEPT:
                kept.clear()
            kept[sql, values] = array("q", json.loads(self.file.value(sql, *values)))
        return kept[sql, values]

    def lexical(
        self,
        terms: Sequence[str],
        passing: PassingChunks,
        *,
        limit: int,
    ) -> list[Candidate]:
        """The chunks that hold any of the quoted `terms`, best BM25 first; of equals the later.

        Of very many matches only those with one of the rarest words are scored.
        """
        query = " OR ".join(terms)
        sql = "SELECT rowid, bm25(chunk_fts) AS score FROM chunk_fts WHERE chunk_fts MATCH ?"
        order = " ORDER BY score, rowid DESC LIMIT ?"
        values: Texts = (query,)
        total, counts = self._frequencies(terms)
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
        rarest = _rarest(counts)
        if rarest:
            ways.insert(0, (f"{sql}{_AMONG_MATCHES}", (*values, rarest), depths[0]))
        best: list[tuple[int, float]] = []
        for way, bound, depth in ways:
            scored = self.file.rows(f"{way}{order}", *bound, depth)
            best = [row for row in scored if allowed is None or row[0] in allowed][:limit]
            if len(best) == limit:
                break
        return self._candidates(best)

    def _frequencies(self, terms: Collection[str]) -> tuple[int, dict[str, int]]:
        """(chunks in all, chunks that hold each of these quoted terms), roughly: small changes
        are not counted at once.

        A term that no chunk holds is looked up each time: the next save may hold it.
        """
        changes = self.file.rows_written()

        def count_chunks() -> tuple[int, dict[str, int], int]:
            return self.file.value("SELECT count(*) FROM chunk"), {}, changes

        total, known, counted_at = self.file.keep("frequencies", count_chunks)
        if COUNTED_FOR * (changes - counted_at) > total:
            total, known, _ = self.file.kept["frequencies"] = count_chunks()
        for term in terms:
            if term not in known:
                count = self.file.value(_COUNT_MATCHES, term)
                if count:
                    known[term] = count
        # a term may be counted later than all chunks were
        return total, {term: min(total, known.get(term, 0)) for term in terms}

    def _candidates(self, scored: Sequence[tuple[int, float]]) -> list[Candidate]:
        rowids = json.dumps([rowid for rowid, _ in scored])
        sql = f"SELECT rowid, entry FROM chunk WHERE rowid IN {THESE}"
        entries = dict(self.file.rows(sql, rowids))
        if len(entries) < len(scored):
            raise apsw.CorruptError("words or vectors without their chunk")
        return [Candidate(rowid, entries[rowid], score) for rowid, score in scored]

    def semantic(
        self,
        vector: Vector,
        passing: PassingChunks,
        *,
        limit: int | None,
    ) -> list[Candidate]:
        """The passing chunks nearest to the vector, nearest first; all with `limit` None."""
        from .sketch import Sketch

        made_for = self.file.db, self.meta("dimensions")
        if self._sketch is None or self._sketch.made_for != made_for:
            self.latest_rough.clear()  # it may be of a file that is gone
            self._sketch = Sketch(self.file, made_for[1], self.latest_rough)
        most = len(passing or ()) if limit is None else limit
        nearest = self._sketch.nearest(quantise(vector), most, passing)
        # the cosine of two unit vectors from the squared distance of their int8 forms
        apart = 2.0 * VECTOR_SCALE * VECTOR_SCALE * self._spread()
        return self._candidates([(row, 1.0 - squared / apart) for row, squared in nearest])

    def scaled(self, cosines: Matrix) -> Matrix:
        """Cosines of the model in use as the shipped one would have them, so that one rule fits
        both.

        What either finds usual becomes the same, and 1 stays 1: E5's .7 to 1 become about -.2
        to 1.
        """
        spread = self._spread()
        return cosines if spread == 1 else 1 - (1 - cosines) / spread

    def _spread(self) -> float:
        """The distance of texts of other matters by the model in use, over the shipped one."""
        return (1 - float(self.meta("usual") or USUAL)) / (1 - USUAL)

    def vectors(self, chunk_rowids: Sequence[int]) -> dict[int, bytes]:
        """The int8 vectors of these chunks, as bytes; chunks without a vector are left out."""
        sql = f"SELECT chunk, embedding FROM vector WHERE chunk IN {THESE}"
        return dict(self.file.rows(sql, json.dumps(list(chunk_rowids))))

    def meanings(self, rowids: Sequence[int]) -> dict[int, bytes]:
        """The int8 vector of the first passage of each of these entries that has one."""
        first = (
            f"SELECT rowid, entry FROM chunk WHERE seq = 0 AND vector > 0 AND entry IN {THESE}"
        )
        entries = dict(self.file.rows(first, json.dumps(list(rowids))))
        return {entries[chunk]: vector for chunk, vector in self.vectors(list(entries)).items()}

    def codes(self, rowids: Sequence[int]) -> list[tuple[int, bytes]]:
        """(entry, the codes of its tokens) for each of the first passages of these entries."""
        return self.file.rows(_CODES, json.dumps(list(rowids)), CODED)

    def sample(self) -> tuple[Matrix, list[bytes]]:
        """The unit vectors and codes of about SAMPLED passages, spread evenly over the journal;
        taken anew as it grows.
        """
        last = self.file.value("SELECT coalesce(max(rowid), 0) FROM chunk")
        model = self.meta("model")

        def taken() -> tuple[int, object, Matrix, list[bytes]]:
            chunks = range(1, last + 1, max(1, last // SAMPLED))
            found = self.vectors(chunks)
            codes = self.file.column(_CODES_OF_CHUNKS, json.dumps(list(chunks)))
            dimensions = self.meta("dimensions") or 0
            return last, model, units(list(found.values()), dimensions), codes

        at, made_by, vectors, codes = self.file.keep("sample", taken)
        if last > 1.5 * at or made_by != model or not len(vectors):
            _, _, vectors, codes = self.file.kept["sample"] = taken()
        return vectors, codes

    def stem(self, word: str) -> str | None:
        """The stem of one word by the tokenizer; None where it is not one token."""
        if word not in self._stems:
            if len(self._stems) >= STEMS_KEPT:
                self._stems.clear()
            name, *arguments = self.file.tokenizer
            tokenize = self.file.db.fts5_tokenizer(name, arguments)
            utf8 = sought(word)[0].encode("utf-8", "replace")
            tokens = list(tokenize(utf8, apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False))
            self._stems[word] = str(tokens[0][0]) if len(tokens) == 1 else None
        return self._stems[word]

    def stems_like(self, stem: str) -> list[tuple[str, int]]:
        """Indexed stems of the same first letter and about the same length, or its beginnings;
        with document counts.
        """
        return self.file.rows(
            _STEMS_LIKE,
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

    def chunks_with_stem(
        self,
        stem: str,
        *,
        limit: int,
    ) -> list[int]:
        """Chunks whose text, title or tags hold a word of this stem."""
        return self.file.column(
            "SELECT doc FROM chunk_place WHERE term = ? LIMIT ?", stem, limit
        )

    def passages(self, chunk_rowids: Sequence[int]) -> dict[int, Passage]:
        sql = f'SELECT rowid, entry, start, "end", hash FROM chunk WHERE rowid IN {THESE}'
        rows = self.file.rows(sql, json.dumps(list(chunk_rowids)))
        return {row[0]: Passage(*row) for row in rows}


def _rarest(counts: Mapping[str, int]) -> str:
    """An FTS5 query for the rarest terms, so many that more than QUICKLY_SCORED chunks hold
    one; empty where all terms together have no more matches.
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


_CODES = f"""
    SELECT entry, codes FROM chunk JOIN token ON token.chunk = chunk.rowid
    WHERE entry IN {THESE.replace("?", "?1")} AND seq < ?2 AND codes <> x''"""
_CODES_OF_CHUNKS = f"SELECT codes FROM token WHERE chunk IN {THESE} AND codes <> x''"
_STEMS_LIKE = """
    SELECT term, doc FROM chunk_word WHERE term >= ? AND term < ?
    AND (length(term) BETWEEN ? AND ? OR (length(term) > 4 AND instr(?, term) = 1))"""
# With the plus, FTS5 is asked once; without it, once for each row.
_AMONG_THESE = f" AND +rowid IN {THESE}"
_AMONG_MATCHES = " AND +rowid IN (SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?)"
_COUNT_MATCHES = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?"
