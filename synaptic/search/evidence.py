"""Everything that one search asks of the model, the index and the journal."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache, partial
from typing import NamedTuple, TypeAlias

from ..errors import InvalidArgument, check_range, one_of
from ..filters import Filters
from ..index.rows import Candidate, Standing, local_time, units
from ..journal.repository import Checkout
from ..language.query import MAX_LIMIT, ParsedQuery
from ..language.words import fts5_expression, stems, words
from ..models import ORDERS, Entry, Meaning, Mode, Order, Strategy, Texts, Vector
from ..workspace.readback import read_entries, read_hits
from ..workspace.workspace import Stopwatch, Workspace
from .ranking import usual_mean_and_deviation
from .typos import allowed_typing_errors, count_typing_errors, find_near_stems

ANY_MEAN, ANY_DEVIATION = 0.1, 0.1
"""Mean and deviation of the cosines of questions with notes of other matters, about. By eye."""

STRANGE = 0.4
"""The usual cosine from which on the model knows nothing of the language.

Chosen on `bench.py panel`: it is about .1 in English, .2 in talk and in German, .4 in Chinese
and Japanese.
"""

MAX_ROUNDS = 3
MAX_PARTS = 16
"""Sub-queries that a caller may give; each is a search of its own."""

LIST_LIMIT = 20
"""Entries of a list without a limit."""

MAX_TERMS = 64
"""Words of a query that are looked up. By eye."""

DEPTH, LEAST_ENTRIES = 80, 20
"""Chunks, and entries, taken from each list before fusion, at least. By eye."""

RARE = 5
"""A word is rare if no more passages hold it. By eye."""

_WORD = re.compile(r"\w+")

Lists: TypeAlias = dict[str, dict[int, Candidate]]
"""The best chunk of each entry by its row, best first, in `lexical` and in `semantic`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search. `weights` None: ranks are fused. `within`: only these index rows.
    `limit` None: all that fit.

    `parts` and `max_rounds` are those of a smart search. `only_fitting`: with a limit too, only
    hits that fit or hold a word of the query. `project` is the key of the project whose entries
    count more, `here` the checkout that asks.

    `understanding` fills the last four from the words: `recent` (of the fitting entries the
    newest first), `about` (the day in the middle of the asked time; the nearer first),
    `changes` (what happened to an entry, by row), and `nothing`, the notice for an empty
    answer.
    """

    parsed: ParsedQuery
    now: datetime
    filters: Filters = field(default_factory=Filters)
    prefer: Filters = field(default_factory=Filters)
    limit: int | None = None
    strategy: Strategy = "hybrid"
    weights: Mapping[str, float] | None = None
    min_similarity: float | None = None
    order: Order = "relevance"
    within: Sequence[int] | None = None
    explain: bool = False
    parts: Texts = ()
    max_rounds: int = 2
    only_fitting: bool = False
    project: str | None = None
    here: Checkout | None = None
    recent: bool = False
    about: date | None = None
    changes: Mapping[int, str] = field(default_factory=dict)
    nothing: str = ""

    def __post_init__(self) -> None:
        """Raises InvalidArgument with the valid values."""
        check_range("limit", self.limit, 1, MAX_LIMIT)
        check_range("min_similarity", self.min_similarity, 0, 1)
        check_range("max_rounds", self.max_rounds, 0, MAX_ROUNDS)
        if len(self.parts) > MAX_PARTS:
            message = f"sub_queries has {len(self.parts):,} values."
            raise InvalidArgument(message, valid=(f"up to {MAX_PARTS} values",))
        one_of(ORDERS, self.order, "order")

    @property
    def is_list(self) -> bool:
        """True for a query that is nothing but filters, or nothing."""
        return not self.parsed.terms

    @property
    def fuses(self) -> bool:
        """True where the ranks of lists are fused, and a score is a chance."""
        return not (self.is_list or self.weights or self.strategy == "bounded")

    @property
    def joins(self) -> bool:
        """True where words and meaning are asked together."""
        return self.strategy in ("hybrid", "smart")

    @property
    def ends_itself(self) -> bool:
        """True where the answer ends after the last hit that fits."""
        return self.limit is None and self.fuses


class Query(NamedTuple):
    """The words of one query, its meaning (None: words alone), and hard filters."""

    terms: Sequence[str]
    meaning: Meaning | None
    filters: Filters


class BestPassage(NamedTuple):
    """An entry, and the text and first line of the passage that fits best."""

    entry: Entry
    text: str
    line: int


class Evidence:
    """All that is known of the candidates of one search.

    `lists` are the candidates of all its sub-queries, `vector` is that of the question, None
    where words alone answer. `trouble` says why there is no model. `superseded_by` holds ids.
    `required` are phrases that must occur: nothing else was asked for, and some entry has them.
    """

    def __init__(
        self, ws: Workspace, request: Request, watch: Stopwatch, trouble: str = ""
    ) -> None:
        self.ws = ws
        self.index = ws.index
        self.document_counts = ws.index.document_counts
        terms = self.rarest(request.parsed.terms, MAX_TERMS)
        if len(terms) < len(request.parsed.terms):
            cut = f"Only the {MAX_TERMS} rarest words of the query were looked up."
            notices = (*request.parsed.notices, cut)
            parsed = replace(request.parsed, terms=terms, notices=notices)
            request = replace(request, parsed=parsed)
        self.request = request
        self.config = ws.config.search
        self.watch = watch
        self.trouble = trouble
        self.lists: Lists = {"lexical": {}, "semantic": {}}
        with watch.stage("embed"):
            self.asked = None if request.is_list else self.embed(request.parsed.text)
        self.vector = self.asked.vector if self.asked else None
        self.superseded_by: dict[str, str] = {}
        self._counts = cache(ws.index.document_counts)  # each search asks several times
        self.preferred = request.prefer.each()
        phrases = [fts5_expression(phrase) for phrase in request.parsed.phrases]
        self.required = []
        if request.parsed.only_phrases and ws.index.holds(phrases):
            self.required = phrases
        self._beginnings = [term[:-1] for term in terms if term.endswith("*")]

    def of(self, **changes: object) -> Evidence:
        """The evidence of the same search with other values of its request."""
        request = replace(self.request, **changes)  # type: ignore[arg-type]
        return Evidence(self.ws, request, self.watch, self.trouble)

    # -- candidates

    def embed(self, text: str) -> Meaning | None:
        """The meaning of a question; None where words alone answer."""
        if self.request.strategy == "lexical" or self.trouble or not text:
            return None
        if self.index.meta("model") != self.ws.embedder.name:
            return None
        return self.ws.embedder.embed_query(text)

    @property
    def mode(self) -> Mode:
        if self.vector is None:
            return "lexical"
        return "hybrid" if self.request.joins else "semantic"

    def candidates(self, query: Query, limit: int) -> Lists:
        """At least `limit` entries by words and by meaning, if there are as many; they join
        `lists`.

        Those of a preferred time, or with a quoted phrase, are asked for once more: in a large
        journal they may not be among the best of all.
        """
        index = self.index
        prefer = self.request.prefer
        filters = query.filters
        asked = [filters]
        if (prefer.since or prefer.until) and not (filters.since or filters.until):
            asked.append(replace(filters, since=prefer.since, until=prefer.until))
        phrases = self.request.parsed.phrases
        if phrases and not self.required:
            asked.append(replace(filters, words=phrases))
        terms = [fts5_expression(term) for term in query.terms]
        lists: Lists = {}
        for filters in asked:
            passing = index.passing_chunks(filters, self.request.within, self.required)
            ways = {}
            if terms:
                ways["lexical"] = partial(index.lexical, terms, passing)
            if query.meaning:
                ways["semantic"] = partial(index.semantic, query.meaning.vector, passing)
            for name, fetch in ways.items():
                with self.watch.stage(name):
                    lists[name] = lists.get(name, {}) | _fetch_best_chunks(fetch, limit)
        for name, hits in lists.items():
            self.lists[name] = hits | self.lists[name]
        return lists

    def chunk(self, rowid: int, *, near: bool = False) -> int:
        """The best chunk of an entry by words, else by meaning; `near`: the reverse. -1 where
        neither list has the entry.
        """
        for name in ("semantic", "lexical") if near else ("lexical", "semantic"):
            if rowid in self.lists[name]:
                return self.lists[name][rowid].chunk_rowid
        return -1

    # -- what the index knows of them

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """(passages in all, passages that hold each word of these terms)."""
        single = {term for term in terms if term.endswith("*")}
        for term in set(terms) - single:
            single.update(word for _, word in words(term))
        return self._counts(frozenset(single))

    def rarest(self, terms: Texts, most: int) -> Texts:
        """The terms, if there are no more than `most`; else the rarest, before terms that no
        entry holds.
        """
        if len(terms) <= most:
            return terms
        counts = self.document_counts(terms)[1]
        by_rarity = sorted(terms, key=lambda term: counts[term] or math.inf)
        return tuple(by_rarity[:most])

    def has_word(self, term: str) -> bool:
        """True if an entry holds this word in any of its forms."""
        return self.document_counts([term])[1][term] > 0

    def holders(self, term: str) -> list[Standing]:
        """The entries that hold a rare word; none for a word of more than RARE passages."""
        if not 0 < self._counts(frozenset((term,)))[1][term] <= RARE:
            return []
        hits = self.index.lexical([fts5_expression(term)], None, limit=RARE)
        standings = self.index.standings([hit.entry_rowid for hit in hits])
        return list(standings.values())

    def stem(self, word: str) -> str | None:
        """The stem of a word, or the sought beginning that it has: `plug*`."""
        for beginning in self._beginnings:
            if word.startswith(beginning):
                return f"{beginning}*"
        return self.index.stem(word)

    def stems(self, text: str) -> set[str]:
        return stems(text, self.stem)

    def usual_cosine(self, vector: Vector) -> tuple[float, float]:
        """Mean and deviation of the cosines of this vector with a sample of the journal."""
        vectors, _ = self.index.sample()
        return usual_mean_and_deviation(
            self.index.scaled(vectors @ vector), ANY_MEAN, ANY_DEVIATION
        )

    def cosines(self, rowids: Sequence[int], vector: Vector) -> dict[int, float]:
        """The cosine of each entry that was found by meaning or has a vector: of its chunk
        nearest to the question, else of the best by words.
        """
        near = self.lists["semantic"]
        cosines = {row: near[row].score for row in rowids if row in near}
        chunks = {row: self.chunk(row) for row in rowids if row not in near}
        stored = self.index.vectors(list(chunks.values()))
        for row, chunk in chunks.items():
            if chunk in stored:
                [own] = units([stored[chunk]])
                cosines[row] = float(self.index.scaled(own @ vector))
        return cosines

    def meaning(self, rowids: Sequence[int]) -> list[float | None]:
        """Closeness of each entry to the question: 0 as usual or farther, 1 the same; None
        without a vector.
        """
        if self.vector is None:
            return [None] * len(rowids)
        usual, _ = self.usual_cosine(self.vector)
        cosines = self.cosines(rowids, self.vector)
        apart = {row: (cosine - usual) / (1 - usual) for row, cosine in cosines.items()}
        return [max(0.0, apart[row]) if row in apart else None for row in rowids]

    def standings(self, rowids: Sequence[int]) -> list[Standing]:
        """The standings of these entries, without superseded ones unless the filters ask for
        them.
        """
        by_row = self.index.standings(rowids)
        standings = [by_row[rowid] for rowid in rowids if rowid in by_row]
        self.superseded_by |= self.index.superseded_by([one.id for one in standings])
        if self.request.filters.include_superseded:
            return standings
        return [one for one in standings if one.id not in self.superseded_by]

    def met(self, rowids: Sequence[int]) -> dict[int, Texts]:
        """For each entry the names of the preferences that it meets."""
        met: dict[int, Texts] = dict.fromkeys(rowids, ())
        for name, preferred in self.preferred.items():
            for rowid in self.index.passing(preferred, rowids):
                met[rowid] = (*met[rowid], name)
        return met

    def days_away(self, standing: Standing) -> int:
        """Days between an entry and the day in the middle of the asked time; 0 without one."""
        about = self.request.about
        if not about:
            return 0
        return abs((local_time(standing.at, self.request.now.tzinfo).date() - about).days)

    # -- what the journal says of them

    def passages(self, rowids: Sequence[int], *, near: bool = False) -> dict[int, BestPassage]:
        """By row each entry, with the text and line of its best chunk (see `chunk`), or of the
        whole entry where it has none.
        """
        chunks = {row: self.chunk(row, near=near) for row in rowids}
        entries, texts = read_hits(self.ws, rowids, list(chunks.values()))
        passages = {}
        for row, entry in entries.items():
            text, line = texts.get(chunks[row], (entry.content, entry.there.body_line))
            passages[row] = BestPassage(entry, text, line)
        return passages

    def near_stems(self, term: str) -> list[str]:
        """The stems of the journal that this word may be a typing error of, nearest first."""
        stem = self.stem(term)
        return find_near_stems(stem, self.index.stems_like(stem)) if stem else []

    def nearest_word(self, term: str) -> str | None:
        """A word of the journal that differs from this by a typing error, before its ending."""
        index = self.index
        distances = {}
        for near in self.near_stems(term):  # a stem is not a word; it must not be stemmed again
            chunks = index.passages(index.chunks_with_stem(near, limit=3)).values()
            entries = read_entries(self.ws, [chunk.entry_rowid for chunk in chunks])
            spellings = set()
            for entry in entries.values():
                text = " ".join((entry.title, entry.content, *entry.tags))
                spellings |= {word for _, word in words(text) if self.stem(word) == near}
            for word in sorted(spellings):
                distances[word] = count_typing_errors(term, word)
        nearest = min(distances, key=lambda word: distances[word], default=term)
        return nearest if distances.get(nearest, 99) <= allowed_typing_errors(term) else None


def language_familiarity(usual: float) -> float:
    """The degree to which the model knows the language of a text with this usual cosine, from 0
    to 1: where it does not, all texts are alike, and words alone can tell.
    """
    return min(1.0, max(0.0, 1 - usual / STRANGE))


def replace_words(parsed: ParsedQuery, nearest: Mapping[str, str]) -> ParsedQuery:
    """The query with other words in place of those typed, by meaning too."""
    terms = dict.fromkeys(nearest.get(term, term) for term in parsed.terms)
    text = _WORD.sub(lambda word: nearest.get(word[0].casefold(), word[0]), parsed.text)
    return replace(parsed, terms=tuple(terms), text=text)


def _fetch_best_chunks(
    fetch: Callable[..., Sequence[Candidate]], limit: int
) -> dict[int, Candidate]:
    """The best chunk of each entry, best first. Looks deeper where few long entries fill the
    whole list.
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
