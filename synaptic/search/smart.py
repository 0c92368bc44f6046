"""Smart search: the question in parts, and once more with what the best answers say.

| round | searched                                             | why                                           |
|-------|------------------------------------------------------|-----------------------------------------------|
| 1     | the plan: the question; its parts, less heavy        | a name crowds out what is asked about it      |
| 2     | the question, moved towards its best answers         | the rest of the story uses their words        |
| 3     | what the question names and no answer holds          | only where something of the kind is left      |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..index.rows import moment, units
from ..language.analysis import plan
from ..language.lexicon import STOP_WORDS
from ..language.query import terms_of
from ..models import Filters, Round, SubQuery, Vector
from .adjust import Adjustment, best_first
from .budget import Budget
from .calibration import MOST
from .evidence import Evidence, Query
from .fuse import ranked_for
from .ranking import Ranked, score_aware_rrf

PART_WEIGHT = 0.25
"""Of a sub-query, where the question itself has 1. Chosen on LoCoMo, like the two below."""
LOOKED_AT, BEGINNING = 3, 200
"""How many answers are read for the second round, and how many characters of each."""
FEEDBACK = 0.5
"""The weight of the mean vector of these answers beside that of the question. Embedding their
text is no better.
"""

MAX_TERMS = 8
"""Words of a sub-query that are looked up. By eye."""

CHECKED = 10
"""Best answers in which a name of the question is looked for. By eye."""

_WORD = re.compile(r"\w[\w'-]*")


def think(
    evidence: Evidence,
    each: Sequence[Adjustment],
    together: Adjustment | None,
    query: Query,
    budget: Budget | None,
) -> tuple[Sequence[Ranked], tuple[Round, ...]]:
    """What the question finds in up to `max_rounds` rounds. The plan is the first round and
    always runs.

    Stops when a round brings nothing new, or when the budget of the search leaves no room for
    another. `each` adjusts what a sub-query finds, `together` what all of them find.
    """
    request, watch = evidence.request, evidence.watch
    runs = _Runs(evidence, each, together)
    whole, *parts = request.plan.sub_queries
    runs.add(whole.query, 1.0, query)
    one_ms = sum(
        watch.read().get(stage, 0.0) for stage in ("embed", "lexical", "semantic", "rank")
    )

    def fits(stage: str) -> bool:
        return budget is None or budget.allows(stage, watch.elapsed(), one_ms)

    for part in parts:
        if not fits("parts"):
            break
        with watch.stage("parts"):
            runs.ask(part)
    rounds = [runs.close()]
    for number in range(1, request.max_rounds):
        if not fits("reflect"):
            break
        with watch.stage("reflect"):
            before = runs.best()
            if not before:
                break
            question = whole.query if number == 1 else " ".join(runs.missing())
            if not runs.ask(
                plan.SubQuery("", question, "hybrid"), runs.ranked() if number == 1 else ()
            ):
                break
            rounds.append(runs.close())
            if runs.best() == before:
                break
    return runs.ranked(), tuple(rounds)


class _Runs:
    """The sub-queries that were run, and what they found together."""

    def __init__(
        self, evidence: Evidence, each: Sequence[Adjustment], together: Adjustment | None
    ) -> None:
        self._evidence, self._each, self._together = evidence, each, together
        self._queries: list[SubQuery] = []
        self._found: dict[str, Sequence[Ranked]] = {}
        self._told = 0
        self._seen = 0
        self._fused: tuple[int, Sequence[Ranked]] = (0, ())

    def ask(self, part: plan.SubQuery, answers: Sequence[Ranked] = ()) -> bool:
        """Runs a sub-query, extended by the text of the best `answers`; False where it has no
        words or was run before.

        One that depends on another is asked with its answers, or within the time that its best
        answer sets.
        """
        evidence, text = self._evidence, part.query
        filters = self._in_time(part)
        if filters is None and not answers:
            answers = next((self._found[id] for id in part.depends_on if id in self._found), ())
        vector = (
            evidence.vector if text == evidence.request.parsed.text else evidence.embed(text)
        )
        if answers:
            beginnings = [text[:BEGINNING] for text in self._texts(answers[:LOOKED_AT])]
            text, vector = (
                " ".join([text, *beginnings]),
                self._towards(vector, answers[:LOOKED_AT]),
            )
        text = " ".join(text.replace('"', " ").split())
        terms = terms_of(text)
        if not terms or (filters is None and text in [query.query for query in self._queries]):
            return False
        if len(terms) > MAX_TERMS:  # BM25 of a common word costs much and moves little
            counts = evidence.document_counts(terms)[1]
            terms = tuple(sorted(terms, key=lambda term: counts[term])[:MAX_TERMS])
        self.add(
            text, PART_WEIGHT, Query(terms, vector, (), filters or evidence.request.filters)
        )
        return True

    def add(self, text: str, weight: float, query: Query) -> None:
        id = f"q{len(self._queries) + 1}"
        self._queries.append(SubQuery(id, text, weight))
        self._found[id] = ranked_for(self._evidence, self._each, query)

    def _in_time(self, part: plan.SubQuery) -> Filters | None:
        """The filters of a part that is asked of the time before or after the best answer of
        another.
        """
        filters = self._evidence.request.filters
        for end, id in part.filters:
            standing = self._found[id][0].standing if self._found.get(id) else None
            if (
                standing is None or not standing.dated
            ):  # its file alone does not say when it was
                continue
            if not (filters.since or filters.until):
                day = moment(standing.at, self._evidence.request.now.tzinfo).date().isoformat()
                return replace(filters, **{end: day})  # type: ignore[arg-type]
        return None

    def _towards(self, vector: Vector | None, best: Sequence[Ranked]) -> Vector | None:
        """The vector, moved towards those of these answers.

        Rocchio 1971, "Relevance feedback in information retrieval".
        """
        chunks = [self._evidence.chunk(r.rowid, near=True) for r in best]
        stored = self._evidence.ws.index.vectors(chunks)
        if vector is None or not stored:
            return vector
        import numpy as np

        moved = vector + FEEDBACK * units(list(stored.values())).mean(axis=0)
        return np.asarray(moved / max(float(np.linalg.norm(moved)), 1e-9), dtype=np.float32)

    def ranked(self) -> Sequence[Ranked]:
        """All that was found, best first."""
        if len(self._queries) != self._fused[0]:
            rankings = {
                id: {r.rowid: r.score for r in found} for id, found in self._found.items()
            }
            weights = {query.id: query.weight for query in self._queries}
            fused = score_aware_rrf(rankings, k=self._evidence.config.k, weights=weights)
            first = {r.rowid: r for found in reversed(self._found.values()) for r in found}
            ranked: Sequence[Ranked] = best_first(
                [r._replace(score=fused[rowid]) for rowid, r in first.items()]
            )
            if self._together:
                ranked = self._together(ranked, self._evidence)
            self._fused = len(self._queries), ranked
        return self._fused[1]

    def best(self) -> set[int]:
        return {r.rowid for r in self.ranked()[:MOST]}

    def close(self) -> Round:
        """Ends a round and returns it: its queries, the number of new entries and, with
        `explain`, missing names.
        """
        queries, self._told = tuple(self._queries[self._told :]), len(self._queries)
        found = len({r.rowid for ranked in self._found.values() for r in ranked})
        new, self._seen = found - self._seen, found
        return Round(
            queries, new, tuple(self.missing()) if self._evidence.request.explain else ()
        )

    def missing(self) -> list[str]:
        """What the question names, the journal knows, and none of the best answers holds."""
        evidence = self._evidence
        asked = _WORD.findall(evidence.request.parsed.text)[1:]
        named = [word.removesuffix("'s") for word in asked if not word.islower()]
        held = evidence.stems("\n".join(self._texts(self.ranked()[:CHECKED])))
        return [
            name
            for name in dict.fromkeys(named)
            if name.lower() not in STOP_WORDS
            and not evidence.stems(name) <= held
            and evidence.has_word(name)
        ]

    def _texts(self, best: Sequence[Ranked]) -> list[str]:
        """Title and best passage of each of these entries."""
        chunks: Mapping[int, int] = {r.rowid: self._evidence.chunk(r.rowid) for r in best}
        self._evidence.read(chunks)
        texts = []
        for r in best:
            text, _ = self._evidence.passage(r.rowid, chunks[r.rowid])
            texts.append(
                text
                if text.startswith(r.standing.title)
                else f"{r.standing.title} {text}".strip()
            )
        return texts
