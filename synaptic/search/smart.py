"""Smart search: the question in parts, and once more with what the best answers say.

| round | searched                                             | why                                           |
|-------|------------------------------------------------------|-----------------------------------------------|
| 1     | the question; its parts, half as heavy               | a name crowds out what is asked about it      |
| 2     | the question, moved towards its best answers         | the rest of the story uses their words        |
| 3     | what the question names and no answer holds          | only where something of the kind is left      |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..index import Candidate, units
from ..language.lexicon import STOP_WORDS
from ..language.query import ParsedQuery, parse_query
from ..language.words import stems
from ..models import Mode, Round, SubQuery, Vector
from ..workspace.sync import read_hits
from ..workspace.workspace import Workspace
from .ranking import reciprocal_rank_fusion
from .retrieve import Lists
from .scoring import Ask, Ranked, by_score, lists_of, named_first, ranked_of, vector_of

PART_WEIGHT = 0.5
"""Of a sub-query, where the question itself has 1. Chosen on LoCoMo, like the two below."""
LOOKED_AT, BEGINNING = 3, 200
"""How many answers are read for the second round, and how many characters of each."""
FEEDBACK = 0.5
"""What the mean of their vectors counts beside the question's; embedding their text brings no more and takes longer."""

MAX_TERMS = 8
"""Words of a sub-query that are looked up."""

MAX_ROUNDS = 3
MAX_PARTS = 16
"""Sub-queries that a caller may give; each is a search of its own."""

CHECKED = 10
_WORD = re.compile(r"\w[\w'-]*")


@dataclass(frozen=True, slots=True)
class Thought:
    """The candidates of all rounds, and what was done for them."""

    lists: Lists
    ranked: list[Ranked]
    rounds: tuple[Round, ...]


def think(
    ws: Workspace, ask: Ask, terms: Sequence[str], vector: Vector | None, parts: Sequence[str], max_rounds: int
) -> Thought:
    """What the question finds in up to `max_rounds` rounds after the plan's; 0 runs the plan alone.

    `parts` replace the decomposition by `split`. Stops when a round brings nothing new, or when the budget of
    the search leaves no room for another.
    """
    runs = _Runs(ws, ask)
    runs.add(SubQuery("q1", ask.parsed.text, 1.0), ask.parsed, terms, vector)
    one_ms = sum(ask.watch.read().get(stage, 0.0) for stage in ("embed", "lexical", "semantic", "rank"))
    for part in parts or split(ask.parsed.text):
        if not ask.budget.allows("parts", ask.watch.elapsed(), one_ms):
            break
        with ask.watch.stage("parts"):
            runs.ask(part)
    rounds = [runs.close()]
    for number in range(1, max_rounds):
        if not ask.budget.allows("reflect", ask.watch.elapsed(), one_ms):
            break
        with ask.watch.stage("reflect"):
            before = set(runs.best())
            asked = runs.ask_with_answers(vector) if number == 1 else runs.ask(" ".join(runs.missing()))
            if not asked:
                break
            rounds.append(runs.close())
            if set(runs.best()) == before:
                break
    return Thought(runs.lists(), runs.ranked(), tuple(rounds))


def split(question: str) -> list[str]:
    """What is asked, without whom it is asked about; nothing where too little would be left.

    `What instruments does Melanie play?` gives `instruments play`.
    """
    found = _WORD.findall(question)
    named = [word for word in found[1:] if _is_name(word)]
    about = [word for word in found if word not in named and word.lower() not in STOP_WORDS]
    if not named or len(about) < 2 or 2 * len(named) > len(found):
        return []
    return [" ".join(about)]


def _is_name(word: str) -> bool:
    bare = word.removesuffix("'s")
    return bare[:1].isupper() and bare[1:].islower() and bare.lower() not in STOP_WORDS


class _Runs:
    """The sub-queries that were run, and what they found together."""

    def __init__(self, ws: Workspace, ask: Ask) -> None:
        self._ws, self._ask = ws, ask
        self._queries: list[SubQuery] = []
        self._lists: list[Lists] = []
        self._ranked: list[list[Ranked]] = []
        self._told = 0
        self._seen = 0
        self._fused: tuple[int, list[Ranked]] = (0, [])

    def ask(self, text: str, vector: Vector | None = None) -> bool:
        """Runs a text as a sub-query, with its own vector or this; False where it has no words or was run before."""
        parsed = parse_query(text.replace('"', " "), self._ask.filters, now=self._ask.now)
        if not parsed.terms or parsed.text in [query.query for query in self._queries]:
            return False
        if vector is None:
            vector = vector_of(self._ws, replace(self._ask, parsed=parsed))
        query = SubQuery(f"q{len(self._queries) + 1}", parsed.text, PART_WEIGHT)
        self.add(query, parsed, self._rarest(parsed.terms), vector)
        return True

    def ask_with_answers(self, vector: Vector | None) -> bool:
        """Runs the question with the beginnings of its best answers, its vector moved towards theirs.

        Rocchio 1971, "Relevance feedback in information retrieval".
        """
        texts = self._texts(LOOKED_AT)
        text = " ".join([self._ask.parsed.text, *(text[:BEGINNING] for text in texts)])
        return bool(texts) and self.ask(text, vector if vector is None else self._towards_the_best(vector))

    def _towards_the_best(self, vector: Vector) -> Vector:
        import numpy as np

        lists, best = self.lists(), self.ranked()[:LOOKED_AT]
        stored = self._ws.index.vectors([chunk for r in best if (chunk := lists.chunk_near(r.rowid)) is not None])
        if not stored:
            return vector
        moved = vector + FEEDBACK * units(list(stored.values())).mean(axis=0)
        return np.asarray(moved / max(float(np.linalg.norm(moved)), 1e-9), dtype=np.float32)

    def _rarest(self, terms: Sequence[str]) -> Sequence[str]:
        """The words that tell most; BM25 of a common one costs much and moves little."""
        if len(terms) <= MAX_TERMS:
            return terms
        counts = self._ws.index.document_counts(terms)[1]
        return sorted(terms, key=lambda term: counts[term])[:MAX_TERMS]

    def add(self, query: SubQuery, parsed: ParsedQuery, terms: Sequence[str], vector: Vector | None) -> None:
        asked = replace(self._ask, parsed=parsed)
        mode: Mode = "lexical" if vector is None else "hybrid"
        lists = lists_of(self._ws, asked, mode, terms, vector)
        self._queries.append(query)
        self._lists.append(lists)
        self._ranked.append(ranked_of(self._ws, asked, mode, lists, vector))

    def ranked(self) -> list[Ranked]:
        """All that was found, best first."""
        if len(self._queries) != self._fused[0]:
            self._fused = len(self._queries), self._fuse()
        return self._fused[1]

    def _fuse(self) -> list[Ranked]:
        rankings = {
            query.id: [r.rowid for r in found] for query, found in zip(self._queries, self._ranked, strict=True)
        }
        weights = {query.id: query.weight for query in self._queries}
        fused = reciprocal_rank_fusion(rankings, k=self._ws.config.search.k, weights=weights)
        first = {r.rowid: r for found in reversed(self._ranked) for r in found}
        found = by_score([r._replace(score=fused[rowid]) for rowid, r in first.items()])
        return named_first(self._ws, self._ask, found)

    def best(self) -> list[int]:
        return [r.rowid for r in self.ranked()[: self._ask.limit]]

    def lists(self) -> Lists:
        """The best chunk of every candidate, as the first sub-query that found it knows it."""
        lexical: dict[int, Candidate] = {}
        semantic: dict[int, Candidate] = {}
        for lists in self._lists:
            lexical = {**lists.lexical, **lexical}
            semantic = {**lists.semantic, **semantic}
        return Lists(lexical, semantic)

    def close(self) -> Round:
        """The round that ends here."""
        queries, self._told = tuple(self._queries[self._told :]), len(self._queries)
        found = len({r.rowid for ranked in self._ranked for r in ranked})
        new, self._seen = found - self._seen, found
        return Round(queries, new, tuple(self.missing()) if self._ask.explain else ())

    def missing(self) -> list[str]:
        """What the question names, the journal knows, and none of the best answers holds."""
        question = self._ask.parsed.text
        named = [word.removesuffix("'s") for word in _WORD.findall(question)[1:] if not word.islower()]
        stem = self._ws.index.stem
        held = stems("\n".join(self._texts(CHECKED)), stem)
        return [
            name
            for name in dict.fromkeys(named)
            if name.lower() not in STOP_WORDS
            and not stems(name, stem) <= held
            and self._ws.index.document_counts([name])[1][name]
        ]

    def _texts(self, count: int) -> list[str]:
        lists, rowids = self.lists(), [r.rowid for r in self.ranked()[:count]]
        chunks: Mapping[int, int] = {row: chunk for row in rowids if (chunk := lists.chunk(row)) is not None}
        entries, passages = read_hits(self._ws, rowids, list(chunks.values()))
        return [
            f"{'' if text.startswith(entries[row].title) else entries[row].title} {text}".strip()
            for row in rowids
            if row in entries and (text := passages.get(chunks.get(row, -1), (entries[row].content, 0))[0])
        ]
