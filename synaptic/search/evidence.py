"""Fetches and caches all data that one search needs from the model, the index and the
journal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import NamedTuple, TypeAlias

from ..filters import Filters
from ..index.rows import Candidate, RankingFacts, from_microseconds, unit_vectors
from ..language.query import ParsedQuery
from ..language.words import fts5_expression, stems, words
from ..models import Entry, Matrix, Meaning, Mode, Round, SubQuery, Texts, Vector
from ..workspace.readback import read_entries, read_hits
from ..workspace.workspace import Stopwatch, Workspace
from .plan import QueryPlan, complete_plan
from .ranking import OF_QUESTIONS, Usual, mix_with_usual
from .typos import allowed_typing_errors, count_typing_errors, find_near_stems

DEPTH, LEAST_ENTRIES = 80, 20
"""The least number of chunks, and of entries, that are taken from each list before the fusion.
By eye.
"""

SAME_TEXT = 0.99
"""The cosine from which two passages are copies. By eye."""

LONGER = 5
"""Longer words in which a word that no entry holds is sought. By eye."""

_WORD = re.compile(r"\w+")
_PART_BEGINS = r"(?:(?<=[a-z\d])(?=[A-Z])|(?<=[^\W_])(?=[A-Z][a-z]))"

Lists: TypeAlias = dict[str, dict[int, Candidate]]
"""For `lexical` and for `semantic`: the best chunk of each entry by the entry's row, best
first.
"""


class Query(NamedTuple):
    """The words of one text, its embedding (None: search by words only), and the sub-queries
    that it runs in.
    """

    terms: Sequence[str]
    meaning: Meaning | None
    sub_queries: Sequence[SubQuery]


class BestPassage(NamedTuple):
    """An entry, and the text and first line of its passage that fits the query best."""

    entry: Entry
    text: str
    line: int


class Evidence:
    """The data about the candidates of one search: their lists, vectors, metadata and texts,
    fetched when needed.

    `lists` are the candidates of all its sub-queries; `vector` is the question's, None if only
    words are searched. `trouble` says why there is no model. `superseded_by` maps ids of
    replaced entries to ids of later ones, `replaced_by_row` the row of a candidate to the rows
    of the entries in whose place it stands. `rounds` are those that ran, of all searches for
    this answer, `ran` the sub-queries of the round that runs.
    """

    def __init__(
        self,
        ws: Workspace,
        plan: QueryPlan,
        watch: Stopwatch,
        trouble: str = "",
        rounds: list[Round] | None = None,
    ) -> None:
        self.ws = ws
        self.index = ws.index
        self.plan = plan
        self.config = ws.config.search
        self.watch = watch
        self.trouble = trouble
        self.rounds = [] if rounds is None else rounds
        self.ran: dict[str, SubQuery] = {}
        self.lists: Lists = {"lexical": {}, "semantic": {}}
        with watch.stage("embed"):
            self.asked = None if plan.is_list else self.embed(plan.parsed.text)
        self.vector = self.asked.vector if self.asked else None
        self.superseded_by: dict[str, str] = {}
        self.replaced_by_row: dict[int, list[int]] = {}
        self._counts = cache(ws.index.document_counts)  # each search asks several times
        self.preferred = plan.prefer.one_by_one()
        self._beginnings = [term[:-1] for term in plan.parsed.terms if term.endswith("*")]

    def of(self, **changes: object) -> Evidence:
        """A new `Evidence` for the same search, with some values of its plan changed."""
        plan = complete_plan(self.index, replace(self.plan, **changes))  # type: ignore[arg-type]
        return Evidence(self.ws, plan, self.watch, self.trouble, self.rounds)

    def end_round(self, new: int, because: str = "") -> None:
        """Adds to `rounds` the sub-queries that ran since the last round, which brought `new`
        candidates.
        """
        self.rounds.append(Round(tuple(self.ran.values()), new, because))
        self.ran = {}

    def note_run(self, query: SubQuery, *, words: bool = True, meaning: bool = True) -> None:
        """Adds a sub-query to those that ran in this round, in the layer in which it ran."""
        if query.layer in ("hybrid", "lexical", "semantic") and not (words and meaning):
            query = replace(query, layer="lexical" if words else "semantic")
        self.ran[query.id] = query

    def run_symbolic(self, query: Query) -> float:
        """The weight of the sub-query that raises or keeps entries by their metadata, which
        runs now; 0 without one.
        """
        for one in query.sub_queries:
            if one.layer == "symbolic":
                self.note_run(one)
                return one.weight
        return 0.0

    # -- candidates

    def embed(self, text: str) -> Meaning | None:
        """The embedding of a question; None if the search is by words only or there is no
        model.
        """
        if self.plan.strategy == "lexical" or self.trouble or not text:
            return None
        if self.index.meta("model") != self.ws.embedder.name:
            return None
        return self.ws.embedder.embed_query(text)

    @property
    def mode(self) -> Mode:
        """The kind of search that really runs: by words, by meaning, or both."""
        if self.vector is None:
            return "lexical"
        return "hybrid" if self.plan.joins else "semantic"

    def candidates(self, query: Query, limit: int) -> Lists:
        """Fetches for each sub-query at least `limit` entries by words and by meaning, if so
        many match, and adds them to `lists`.
        """
        index = self.index
        terms = [fts5_expression(term) for term in query.terms]
        lists: Lists = {}
        for one in query.sub_queries:
            if one.layer == "symbolic":  # it fetches nothing
                continue
            rows = self.plan.within
            if one.layer == "title":
                rows = [row for row in self.plan.titled if rows is None or row in rows]
            passing = index.passing_chunks(Filters(**one.filters), rows)
            ways = {}
            if terms:
                ways["lexical"] = partial(index.lexical, terms, passing)
            if query.meaning:
                ways["semantic"] = partial(index.semantic, query.meaning.vector, passing)
            for name, fetch in ways.items():
                with self.watch.stage(name):
                    lists[name] = lists.get(name, {}) | _fetch_best_chunks(fetch, limit)
            self.note_run(one, words=bool(terms), meaning=bool(query.meaning))
        for name, hits in lists.items():
            self.lists[name] = hits | self.lists[name]
        return lists

    def chunk(self, rowid: int, *, near: bool = False) -> int:
        """The row of an entry's best chunk by words, else by meaning; `near` reverses this
        order. -1 if the entry is in neither list.
        """
        for name in ("semantic", "lexical") if near else ("lexical", "semantic"):
            if rowid in self.lists[name]:
                return self.lists[name][rowid].chunk_rowid
        return -1

    # -- what the index knows of them

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """(the number of all passages, the number of passages that contain each word of the
        terms).
        """
        single = {term for term in terms if term.endswith("*")}
        for term in set(terms) - single:
            single.update(word for _, word in words(term))
        return self._counts(frozenset(single))

    def has_word(self, term: str) -> bool:
        """True if an entry contains this word in any of its forms."""
        return self.index.document_counts([term])[1][term] > 0

    def stem(self, word: str) -> str | None:
        """The stem of a word; if it begins with a searched prefix such as `plug*`, that prefix
        with its `*`.
        """
        for beginning in self._beginnings:
            if word.startswith(beginning):
                return f"{beginning}*"
        return self.index.stem(word)

    def stems(self, text: str) -> set[str]:
        """The stems of the words of a text."""
        return stems(text, self.stem)

    @cached_property
    def sample(self) -> tuple[Matrix, list[bytes]]:
        """The vectors and token codes of a sample of the journal."""
        return self.index.sample_passages()

    def usual_cosine(self, vector: Vector) -> Usual:
        """Mean and standard deviation of the cosines of this vector with a sample of the
        journal, without the passage of this vector and its copies: in a small journal they
        would make all others look far.
        """
        vectors, _ = self.sample
        cosines = self.index.scale_cosines(vectors @ vector)
        others = cosines[cosines < SAME_TEXT]
        return mix_with_usual(others, OF_QUESTIONS)

    def cosines(self, rowids: Sequence[int], vector: Vector) -> dict[int, float]:
        """Maps rows to the cosine of each entry with `vector`; entries without a vector are
        missing.

        It is the cosine of the chunk nearest to the question, for an entry that was found by
        words only of the best chunk by words.
        """
        near = self.lists["semantic"]
        cosines = {row: near[row].score for row in rowids if row in near}
        chunks = {row: self.chunk(row) for row in rowids if row not in near}
        stored = self.index.vectors(list(chunks.values()))
        for row, chunk in chunks.items():
            if chunk in stored:
                [own] = unit_vectors([stored[chunk]])
                cosines[row] = float(self.index.scale_cosines(own @ vector))
        return cosines

    def meaning(self, rowids: Sequence[int]) -> list[float | None]:
        """How close each entry is to the question by meaning, in the order of `rowids`: 0 as
        usual or farther, 1 the same; None without a vector.
        """
        if self.vector is None:
            return [None] * len(rowids)
        usual, _ = self.usual_cosine(self.vector)
        cosines = self.cosines(rowids, self.vector)
        apart = {row: (cosine - usual) / (1 - usual) for row, cosine in cosines.items()}
        return [max(0.0, apart[row]) if row in apart else None for row in rowids]

    def without_vector(self, rowids: Collection[int]) -> set[int]:
        """Those of these entries of which the best passage is not embedded yet."""
        chunks = {self.chunk(row): row for row in rowids}
        return {chunks[chunk] for chunk in self.index.pending_among([*chunks])}

    def standings(self, rowids: Sequence[int]) -> list[RankingFacts]:
        """The metadata (`RankingFacts`) of these entries, superseded ones too; `superseded_by`
        gains these.
        """
        by_row = self.index.ranking_facts(rowids)
        standings = [by_row[rowid] for rowid in rowids if rowid in by_row]
        self.superseded_by |= self.index.superseded_by([one.id for one in standings])
        return standings

    def met(self, rowids: Sequence[int]) -> dict[int, Texts]:
        """Maps each row to the names of the preferences that its entry meets; an entry meets a
        preferred time also by naming it.
        """
        met: dict[int, Texts] = dict.fromkeys(rowids, ())
        for name, preferred in self.preferred.items():
            meeting = self.index.filter_entries(preferred, rowids)
            if name == "time" and self.plan.time_words:
                meeting |= self._holding_all(self.plan.time_words, rowids)
            for rowid in meeting:
                met[rowid] = (*met[rowid], name)
        return met

    def _holding_all(self, terms: Texts, rowids: Sequence[int]) -> set[int]:
        """The entries of `rowids` that contain every one of these words."""
        holding = set(rowids)
        for term in terms:
            holding = self.index.filter_entries(Filters(words=(term,)), list(holding))
        return holding

    def days_away(self, standing: RankingFacts) -> int:
        """Days between an entry and the day that the question asks about; 0 if it asks about no
        day.
        """
        about = self.plan.about
        if not about:
            return 0
        return abs((from_microseconds(standing.at, self.plan.now.tzinfo).date() - about).days)

    # -- what the journal says of them

    def passages(self, rowids: Sequence[int]) -> dict[int, BestPassage]:
        """Maps each row to its entry, with the text and line of its best chunk (see `chunk`),
        or of the whole entry if no chunk was found.
        """
        chunks = {row: self.chunk(row) for row in rowids}
        entries, texts = read_hits(self.ws, rowids, list(chunks.values()))
        passages = {}
        for row, entry in entries.items():
            text, line = texts.get(chunks[row], (entry.content, entry.there.body_line))
            passages[row] = BestPassage(entry, text, line)
        return passages

    def near_stems(self, term: str) -> list[str]:
        """The stems in the journal for which this word may be a typing error, nearest first."""
        stem = self.stem(term)
        return find_near_stems(stem, self.index.stems_like(stem)) if stem else []

    def nearest_word(self, term: str) -> str | None:
        """The word of the journal for which `term` is most likely a typing error, apart from
        its ending; None if none is near enough.
        """
        distances = {}
        for near in self.near_stems(term):
            for word in self.spellings(near):
                distances[word.lower()] = count_typing_errors(term, word.lower())
        nearest = min(distances, key=lambda word: distances[word], default=term)
        return nearest if distances.get(nearest, 99) <= allowed_typing_errors(term) else None

    def spellings(self, stem: str) -> list[str]:
        """The words with this stem, as some entries write them: a stem is not a word, and must
        not be stemmed again.
        """
        index = self.index
        chunks = index.passages(index.chunks_with_stem(stem, limit=3)).values()
        entries = read_entries(self.ws, [chunk.entry_rowid for chunk in chunks])
        spellings = set()
        for entry in entries.values():
            text = " ".join((entry.title, entry.content, *entry.tags))
            for start, word in words(text):
                if self.stem(word) == stem:
                    spellings.add(text[start : start + len(word)])
        return sorted(spellings)

    def longer_identifiers(self, part: str) -> list[str]:
        """Identifiers of the journal of which this is a part, or some: `parseLineItems` for
        `LineItems`, `lineitems` and `parseLine`, none for `port` in `import`.
        """
        text = f"(?i:{re.escape(part)})"
        is_part = re.compile(rf"^{text}(?=[A-Z\d])|{_PART_BEGINS}{text}")
        stem = self.stem(part.lower()) or part.lower()
        identifiers: list[str] = []
        for longer in self.index.stems_holding(stem, limit=LONGER):
            identifiers += filter(is_part.search, self.spellings(longer))
        return identifiers


def replace_words(parsed: ParsedQuery, nearest: Mapping[str, str]) -> ParsedQuery:
    """The query with some of its words replaced by those in `nearest`, in its terms and in the
    text that is embedded.
    """
    terms = dict.fromkeys(nearest.get(term, term) for term in parsed.terms)
    text = _WORD.sub(lambda word: nearest.get(word[0].casefold(), word[0]), parsed.text)
    return replace(parsed, terms=tuple(terms), text=text)


def _fetch_best_chunks(
    fetch: Callable[..., Sequence[Candidate]], limit: int
) -> dict[int, Candidate]:
    """Fetches candidates and returns the best chunk of each entry by row, best first. Fetches
    more while a few long entries fill the whole list.
    """
    depth = DEPTH
    while True:
        candidates = fetch(limit=depth)
        best: dict[int, Candidate] = {}
        for candidate in candidates:
            best.setdefault(candidate.entry_rowid, candidate)
        if len(candidates) < depth or len(best) >= limit:
            return best
        depth *= 4
