"""All that a search asks of the model, the index and the journal; each is asked once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import NamedTuple

from ..index.rows import Candidate, Standing, moment, units
from ..language.query import ParsedQuery
from ..language.words import match, stems, words
from ..models import Entry, Filters, Order, Strategy, Vector
from ..workspace.checkout import Checkout
from ..workspace.readback import read_hits, read_passages
from ..workspace.workspace import Stopwatch, Workspace
from .typos import ending_aside, nearest_words, typing_errors

USUAL_MEAN, USUAL_DEVIATION, USUAL_COUNT = 0.1, 0.1, 20
"""Mean and deviation of the cosines of questions with notes of other matters, about, and the
number of passages they count for. By eye.
"""

LIST_LIMIT = 20
"""Entries of a list without a limit."""

DEPTH, LEAST_ENTRIES = 80, 20
"""Chunks, and entries, taken from each list before fusion, at least. By eye."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search. `weights` None: ranks are fused. `within`: only these index rows.
    `limit` None: all that fit.

    `parts` and `max_rounds` are those of a smart search. `only_fitting`: with a limit too, only
    hits that fit or hold a word of the query. `project` is the key of the project whose entries
    count more, `here` the checkout that asks.

    `understanding` fills these from the words: `recent` (of the fitting entries the newest
    first), `about` (the day in the middle of the asked time; the nearer first), and `nothing`,
    the notice for an empty answer.
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
    parts: tuple[str, ...] = ()
    max_rounds: int = 2
    recent: bool = False
    only_fitting: bool = False
    about: date | None = None
    project: str | None = None
    here: Checkout | None = None
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class Lists:
    """The best chunk of each entry by words and by meaning, by entry row, best first."""

    lexical: dict[int, Candidate]
    semantic: dict[int, Candidate]


class Query(NamedTuple):
    """The words of one query, its vector (None: words alone), phrases that must occur, and hard
    filters.
    """

    terms: Sequence[str]
    vector: Vector | None
    phrases: Sequence[str]
    filters: Filters


class Evidence:
    """All that is known of the candidates of one search, fetched when it is first needed.

    `lists` are the candidates of all its sub-queries, `vector` is that of the question, None
    where words alone answer. `trouble` says why there is no model. `entries` are those that
    were read, by row; `superseded_by` holds ids.
    """

    def __init__(
        self,
        ws: Workspace,
        request: Request,
        *,
        watch: Stopwatch | None = None,
        trouble: str = "",
    ) -> None:
        self.ws, self.request, self.config = ws, request, ws.config.search
        self.watch, self.trouble = watch or Stopwatch(), trouble
        self.lists = Lists({}, {})
        self.vector: Vector | None = None
        self.entries: dict[int, Entry] = {}
        self.superseded_by: dict[str, str] = {}
        self.document_counts = ws.index.document_counts
        beginnings = [term[:-1] for term in request.parsed.terms if term.endswith("*")]
        self._beginnings = beginnings
        self.stem = self._stem_or_beginning if beginnings else ws.index.stem
        self._preferred = request.prefer.each()
        self.preferences = len(self._preferred)
        self._standings: dict[int, Standing] = {}
        self._met: dict[int, tuple[str, ...]] = {}
        self._passages: dict[int, tuple[str, int]] = {}
        self._usual_cosines: dict[bytes, tuple[float, float]] = {}

    # -- candidates

    def embed(self, text: str) -> Vector | None:
        """The vector of a question; None where words alone answer."""
        if self.request.strategy == "lexical" or self.trouble or not text:
            return None
        if self.ws.index.meta("model") != self.ws.embedder.name:
            return None
        return self.ws.embedder.embed_query(text)

    def candidates(self, query: Query, limit: int) -> Lists:
        """At least `limit` entries by words and by meaning, if there are as many; they join
        `lists`.
        """
        index = self.ws.index
        phrases = [match(phrase) for phrase in query.phrases]
        terms = [match(term) for term in query.terms]
        lexical: dict[int, Candidate] = {}
        semantic: dict[int, Candidate] = {}
        for filters in self._with_preferred_time(query.filters):
            passing = index.passing_chunks(filters, self.request.within, phrases)
            if terms:
                with self.watch.stage("lexical"):
                    by_words = partial(
                        index.lexical, terms, passing, context_weight=self.config.context
                    )
                    lexical |= _best_chunks(by_words, limit)
            if query.vector is not None:
                with self.watch.stage("semantic"):
                    by_meaning = partial(index.semantic, query.vector, passing)
                    semantic |= _best_chunks(by_meaning, limit)
        self.lists = Lists(lexical | self.lists.lexical, semantic | self.lists.semantic)
        return Lists(lexical, semantic)

    def _with_preferred_time(self, filters: Filters) -> tuple[Filters, ...]:
        """The filters, and those of a preferred time: in a large journal its entries may not be
        among the best of all times.
        """
        preferred = self.request.prefer
        is_timed = filters.since or filters.until
        if is_timed or not (preferred.since or preferred.until):
            return (filters,)
        return filters, replace(filters, since=preferred.since, until=preferred.until)

    def correct(self, nearest: Mapping[str, str]) -> None:
        """Begins again with other words in place of those typed, by meaning too."""
        parsed = self.request.parsed
        terms = tuple(dict.fromkeys(nearest.get(term, term) for term in parsed.terms))
        text = _WORD.sub(lambda word: nearest.get(word[0].casefold(), word[0]), parsed.text)
        self.request = replace(self.request, parsed=replace(parsed, terms=terms, text=text))
        self.lists = Lists({}, {})
        if self.vector is not None:
            self.vector = self.embed(text)

    def admit_superseded(self) -> None:
        """Begins again with superseded entries; the vector of the question stays."""
        filters = replace(self.request.filters, include_superseded=True)
        self.request = replace(self.request, filters=filters)
        self.lists = Lists({}, {})

    def chunk(self, rowid: int, *, near: bool = False) -> int:
        """The best chunk of an entry by words, else by meaning; `near`: the reverse. -1 where
        neither list has the entry.
        """
        lists = [self.lists.lexical, self.lists.semantic]
        for candidates in reversed(lists) if near else lists:
            if rowid in candidates:
                return candidates[rowid].chunk_rowid
        return -1

    # -- what the index knows of them

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """(passages in all, passages that hold each word of these terms)."""
        single: set[str] = set()
        for term in terms:
            if term.endswith("*"):
                single.add(term)
            else:
                single.update(word for _, word in words(term))
        return self.document_counts(single)

    def has_word(self, term: str) -> bool:
        """True if an entry holds this word in any of its forms."""
        return self.document_counts([term])[1][term] > 0

    def _stem_or_beginning(self, word: str) -> str | None:
        """The stem of a word, or the sought beginning that it has: `plug*`."""
        for beginning in self._beginnings:
            if word.startswith(beginning):
                return f"{beginning}*"
        return self.ws.index.stem(word)

    def stems(self, text: str) -> set[str]:
        return stems(text, self.stem)

    def usual_cosine(self, vector: Vector) -> tuple[float, float]:
        """Mean and deviation of the cosines of this vector with a sample of the journal.

        They are mixed with those of any text, as if USUAL_COUNT more passages had been seen.
        """
        import numpy as np

        key = vector.tobytes()
        if key not in self._usual_cosines:
            cosines = self.ws.index.scaled(self.ws.index.sample() @ vector)
            count = len(cosines)
            mean = float(cosines.mean()) if count else 0.0
            variance = float(cosines.var()) if count else 0.0
            squares = count * variance + USUAL_COUNT * USUAL_DEVIATION**2
            both = count + USUAL_COUNT
            self._usual_cosines[key] = (
                (count * mean + USUAL_COUNT * USUAL_MEAN) / both,
                float(np.sqrt(squares / both)),
            )
        return self._usual_cosines[key]

    def meaning(self, rowids: Sequence[int]) -> list[float | None]:
        """Closeness of each entry to the question: 0 as usual or farther, 1 the same; None
        without a vector.
        """
        if self.vector is None:
            return [None] * len(rowids)
        semantic = self.lists.semantic
        cosines = {row: semantic[row].score for row in rowids if row in semantic}
        chunks = {row: self.chunk(row) for row in rowids if row not in cosines}
        stored = self.ws.index.vectors(list(chunks.values()))
        by_words = [row for row, chunk in chunks.items() if chunk in stored]
        if by_words:
            vectors = units([stored[chunks[row]] for row in by_words])
            near = self.ws.index.scaled(vectors @ self.vector)
            cosines |= dict(zip(by_words, near.tolist(), strict=True))
        usual, _ = self.usual_cosine(self.vector)
        return [
            max(0.0, (cosines[row] - usual) / (1 - usual)) if row in cosines else None
            for row in rowids
        ]

    def standings(self, rowids: Sequence[int]) -> list[Standing]:
        """The standings of these entries, without superseded ones unless the filters ask for
        them.
        """
        new = [rowid for rowid in rowids if rowid not in self._standings]
        if new:
            standings = self.ws.index.standings(new)
            self._standings |= standings
            ids = [standing.id for standing in standings.values()]
            self.superseded_by |= self.ws.index.superseded_by(ids)
        known = [self._standings[rowid] for rowid in rowids if rowid in self._standings]
        if self.request.filters.include_superseded:
            return known
        return [standing for standing in known if standing.id not in self.superseded_by]

    def met(self, rowids: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
        """For each entry the names of the preferences that it meets; empty without any."""
        new = [rowid for rowid in rowids if rowid not in self._met]
        if self._preferred and new:
            self._met |= dict.fromkeys(new, ())
            for name, preferred in self._preferred.items():
                for rowid in self.ws.index.passing(preferred, new):
                    self._met[rowid] = (*self._met[rowid], name)
        return self._met

    def days_away(self, standing: Standing) -> int:
        """Days between an entry and the day in the middle of the asked time; 0 without one."""
        about = self.request.about
        if about is None:
            return 0
        return abs((moment(standing.at, self.request.now.tzinfo).date() - about).days)

    # -- what the journal says of them

    def read(self, chunks: Mapping[int, int]) -> None:
        """Reads these entries, by row, and this chunk of each from the journal, unless both
        were read before.
        """
        rows = []
        for row, chunk in chunks.items():
            if row not in self.entries or chunk not in self._passages:
                rows.append(row)
        if rows:
            wanted = [chunks[row] for row in rows if chunks[row] >= 0]
            entries, passages = read_hits(self.ws, rows, wanted)
            self.entries |= entries
            self._passages |= passages

    def passage(self, rowid: int, chunk: int) -> tuple[str, int]:
        """(text, line) of a chunk, or of the whole entry where it has none."""
        entry = self.entries[rowid]
        line = entry.place.body_line if entry.place else 1
        return self._passages.get(chunk, (entry.content, line))

    def nearest_word(self, term: str) -> str | None:
        """A word of the journal that differs from this by a typing error, before its ending."""
        stem, index = self.stem(term), self.ws.index
        distances: dict[str, int] = {}
        near_stems = nearest_words(stem, index.stems_like(stem)) if stem else []
        for near in near_stems:  # stems are no words, and stemming them again breaks them
            for chunk in index.chunks_with_stem(near, limit=3):
                texts = [text for text, _ in read_passages(self.ws, [chunk]).values()]
                spellings: set[str] = set()
                for text in (*texts, *self._marks_of(chunk)):
                    spellings |= {word for _, word in words(text) if self.stem(word) == near}
                for word in sorted(spellings - distances.keys()):
                    distances[word] = ending_aside(term, word)
        most = typing_errors(term)
        fitting = [word for word, distance in distances.items() if distance <= most]
        return min(fitting, key=lambda word: distances[word], default=None)

    def _marks_of(self, chunk: int) -> list[str]:
        rows = [passage.entry_rowid for passage in self.ws.index.passages([chunk]).values()]
        owners = [stored.entry for stored in self.ws.index.entries(rows).values()]
        return [" ".join((owner.title, *owner.tags)) for owner in owners]


def _best_chunks(fetch: Callable[..., Sequence[Candidate]], limit: int) -> dict[int, Candidate]:
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
