"""What a search needs of the model, the index and the journal. Nothing is asked for twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from typing import NamedTuple

from ..index.rows import Candidate, Standing, moment, units
from ..language.analysis.plan import Plan
from ..language.query import ParsedQuery
from ..language.words import match, stems, words
from ..models import Entry, Filters, Order, Strategy, Vector
from ..workspace.checkout import Checkout
from ..workspace.readback import read_hits, read_passages
from ..workspace.workspace import Stopwatch, Workspace
from .typos import ending_aside, nearest_words, typing_errors

USUAL, PRIOR = (0.1, 0.1), 20
"""Mean and deviation of the cosines of questions with notes of other matters, about, and how
many passages they
count for. By eye."""

LISTED_MOST = 20
"""Entries of a list without a limit."""

DEPTH, LEAST_ENTRIES = 80, 20
_WORD = re.compile(r"\w+")
"""Chunks, and entries, taken from each list before fusion, at least. By eye."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One search. `weights` None: ranks are fused. `within`: only these index rows. `limit`
    None: as many as fit.

    `parts` and `max_rounds` are those of a smart search. `only_fitting`: with a limit too, only
    hits that fit or hold a word of the query. `recent` (of the fitting entries the newest
    first), `about` (the day around which the asked time lies, the nearer first), `plan` and
    `nothing` (what to say where there is nothing) are what `understanding` finds in the words.
    `project` is the key of the one whose entries count more, `here` the checkout that asks.
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
    plan: Plan = field(default_factory=Plan)
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class Lists:
    """The best chunk of each entry by words and by meaning, by entry row, best first."""

    lexical: dict[int, Candidate]
    semantic: dict[int, Candidate]


class Query(NamedTuple):
    """What one query looks up: words, a vector (None: words alone), phrases that must occur,
    hard filters.
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
        self.document_counts = ws.index.document_counts
        self._beginnings = tuple(
            term[:-1] for term in request.parsed.terms if term.endswith("*")
        )
        self.stem = self._stem if self._beginnings else ws.index.stem
        self._preferred = request.prefer.each()
        self.preferences = len(self._preferred)
        self._standings: dict[int, Standing] = {}
        self.superseded_by: dict[str, str] = {}
        self._met: dict[int, tuple[str, ...]] = {}
        self.entries: dict[int, Entry] = {}
        self._passages: dict[int, tuple[str, int]] = {}
        self._usual: dict[bytes, tuple[float, float]] = {}

    # -- candidates
    # -----------------------------------------------------------------------------------

    def embed(self, text: str) -> Vector | None:
        """The vector of a question; None where words alone answer."""
        if self.request.strategy == "lexical" or self.trouble or not text:
            return None
        return (
            self.ws.embedder.embed_query(text)
            if self.ws.index.meta("model") == self.ws.embedder.name
            else None
        )

    def candidates(self, query: Query, limit: int) -> Lists:
        """At least `limit` entries by words and by meaning, where there are so many; they join
        `lists`.
        """
        phrases = tuple(match(phrase) for phrase in query.phrases)
        where = {"filters": query.filters, "within": self.request.within, "phrases": phrases}
        lexical: dict[int, Candidate] = {}
        semantic: dict[int, Candidate] = {}
        index, context = self.ws.index, self.config.context
        wheres = [where | {"filters": filters} for filters in self._also(query.filters)]
        with self.watch.stage("lexical"):
            for one in wheres if query.terms else ():
                quoted = [match(term) for term in query.terms]
                lexical |= _best_chunks(
                    partial(index.lexical, quoted, context_weight=context, **one),  # type: ignore[arg-type]
                    limit,
                )
        with self.watch.stage("semantic"):
            for one in wheres if query.vector is not None else ():
                semantic |= _best_chunks(partial(index.semantic, query.vector, **one), limit)  # type: ignore[arg-type]
        self.lists = Lists(
            {**lexical, **self.lists.lexical}, {**semantic, **self.lists.semantic}
        )
        return Lists(lexical, semantic)

    def _also(self, filters: Filters) -> tuple[Filters, ...]:
        """The filters, and those of the time that is preferred: in a large journal its entries
        may be among no best.
        """
        wanted = self.request.prefer
        if filters.since or filters.until or not (wanted.since or wanted.until):
            return (filters,)
        return filters, replace(filters, since=wanted.since, until=wanted.until)

    def correct(self, nearest: Mapping[str, str]) -> None:
        """Begins again with other words in place of those typed, by meaning too."""
        parsed = self.request.parsed
        terms = tuple(dict.fromkeys(nearest.get(term, term) for term in parsed.terms))
        text = _WORD.sub(lambda found: nearest.get(found[0].casefold(), found[0]), parsed.text)
        self.request = replace(self.request, parsed=replace(parsed, terms=terms, text=text))
        self.lists = Lists({}, {})
        if self.vector is not None:
            self.vector = self.embed(text)

    def admit_superseded(self) -> None:
        """Begins again with what later entries supersede; the vector of the question stays."""
        filters = replace(self.request.filters, include_superseded=True)
        self.request = replace(self.request, filters=filters)
        self.lists = Lists({}, {})

    def chunk(self, rowid: int, *, near: bool = False) -> int:
        """The chunk of an entry that words found, else meaning; `near`: the reverse. -1 where
        neither found one.
        """
        lists = (
            (self.lists.semantic, self.lists.lexical)
            if near
            else (self.lists.lexical, self.lists.semantic)
        )
        return next((found.chunk_rowid for one in lists if (found := one.get(rowid))), -1)

    # -- what the index says of them
    # ------------------------------------------------------------------

    def frequencies(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """(passages in all, how many hold each word of these terms)."""
        whole = {term for term in terms if term.endswith("*")}
        return self.document_counts(
            whole | {word for term in {*terms} - whole for _, word in words(term)}
        )

    def has_word(self, term: str) -> bool:
        """Whether an entry holds this word in any of its forms."""
        return self.document_counts([term])[1][term] > 0

    def _stem(self, word: str) -> str | None:
        """The stem of a word; of one with a sought beginning, that beginning: `plug*`."""
        return next(
            (f"{one}*" for one in self._beginnings if word.startswith(one)), None
        ) or self.ws.index.stem(word)

    def stems(self, text: str) -> set[str]:
        """The stems of a text's words."""
        return stems(text, self.stem)

    def usual_cosine(self, vector: Vector) -> tuple[float, float]:
        """Mean and deviation of the cosines of this vector with a sample of the journal.

        A small journal's own are mixed with those of any text (USUAL), as if PRIOR more
        passages had been seen.
        """
        import numpy as np

        key = vector.tobytes()
        if key in self._usual:
            return self._usual[key]
        cosines = self.ws.index.scaled(self.ws.index.sample() @ vector)
        count, (mean, deviation) = len(cosines), USUAL
        own_mean, own_variance = (
            (float(cosines.mean()), float(cosines.var())) if count else (0.0, 0.0)
        )
        variance = (count * own_variance + PRIOR * deviation**2) / (count + PRIOR)
        found = (count * own_mean + PRIOR * mean) / (count + PRIOR), float(np.sqrt(variance))
        return self._usual.setdefault(key, found)

    def meaning(self, rowids: Sequence[int]) -> list[float | None]:
        """How near each of these entries is to the question: 0 as usual or farther, 1 the same;
        None: no vector.
        """
        if self.vector is None:
            return [None] * len(rowids)
        found = {
            row: self.lists.semantic[row].score for row in rowids if row in self.lists.semantic
        }
        chunks = {row: self.chunk(row) for row in rowids if row not in found}
        stored = self.ws.index.vectors(list(chunks.values()))
        by_words = [row for row, chunk in chunks.items() if chunk in stored]
        if by_words:
            cosines = self.ws.index.scaled(
                units([stored[chunks[row]] for row in by_words]) @ self.vector
            )
            found |= dict(zip(by_words, cosines.tolist(), strict=True))
        usual = self.usual_cosine(self.vector)[0]
        return [
            max(0.0, (found[row] - usual) / (1 - usual)) if row in found else None
            for row in rowids
        ]

    def standings(self, rowids: Sequence[int]) -> list[Standing]:
        """What ranking wants of these entries, without superseded ones unless the filters ask
        for them.
        """
        if new := [rowid for rowid in rowids if rowid not in self._standings]:
            found = self.ws.index.standings(new)
            self._standings |= found
            self.superseded_by |= self.ws.index.superseded_by(
                [standing.id for standing in found.values()]
            )
        known = [standing for rowid in rowids if (standing := self._standings.get(rowid))]
        if self.request.filters.include_superseded:
            return known
        return [standing for standing in known if standing.id not in self.superseded_by]

    def met(self, rowids: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
        """For each entry the names of the preferences that it meets; empty where nothing is
        preferred.
        """
        if self._preferred and (new := [rowid for rowid in rowids if rowid not in self._met]):
            self._met |= dict.fromkeys(new, ())
            for name, wanted in self._preferred.items():
                for rowid in self.ws.index.passing(wanted, new):
                    self._met[rowid] = (*self._met[rowid], name)
        return self._met

    def days_away(self, standing: Standing) -> int:
        """Days between an entry and the day around which the asked time lies; 0 where there is
        no such day.
        """
        about = self.request.about
        return (
            abs((moment(standing.at, self.request.now.tzinfo).date() - about).days)
            if about
            else 0
        )

    # -- what the journal says of them
    # ----------------------------------------------------------------

    def read(self, chunks: Mapping[int, int]) -> None:
        """Reads these entries, by row, and this chunk of each from the journal, unless both
        were read before.
        """
        rows = [
            row
            for row, chunk in chunks.items()
            if row not in self.entries or chunk not in self._passages
        ]
        if rows:
            entries, passages = read_hits(
                self.ws, rows, [chunks[row] for row in rows if chunks[row] >= 0]
            )
            self.entries |= entries
            self._passages |= passages

    def passage(self, rowid: int, chunk: int) -> tuple[str, int]:
        """(text, line) of a chunk, or of the whole entry where it has none."""
        entry = self.entries[rowid]
        return self._passages.get(
            chunk, (entry.content, entry.place.body_line if entry.place else 1)
        )

    def nearest_word(self, term: str) -> str | None:
        """A word of the journal that differs from this by a typing error, before its ending."""
        stem, index = self.stem(term), self.ws.index
        near = nearest_words(stem, index.stems_like(stem)) if stem else []
        best: dict[str, int] = {}
        for one in near:  # stems are no words, and stemming them again breaks them
            for rowid in index.chunks_with_stem(one, limit=3):
                owners = index.entries(
                    [passage.entry_rowid for passage in index.passages([rowid]).values()]
                )
                marks = [
                    " ".join((owner.entry.title, *owner.entry.tags))
                    for owner in owners.values()
                ]
                texts = [text for text, _ in read_passages(self.ws, [rowid]).values()]
                written = {
                    word
                    for text in texts + marks
                    for _, word in words(text)
                    if self.stem(word) == one
                }
                best |= {
                    word: ending_aside(term, word) for word in sorted(written - best.keys())
                }
        fitting = [word for word, distance in best.items() if distance <= typing_errors(term)]
        return min(fitting, key=lambda word: best[word], default=None)


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
