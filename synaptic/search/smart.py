"""Smart search: the question in parts, and once more with the words of its best answers.

| round | searched                                        | why                                    |
|-------|-------------------------------------------------|----------------------------------------|
| 1     | the plan: the question; its parts, less heavy   | each part may have an entry of its own |
| 2     | the question, moved towards its best answers    | the rest of the story uses their words |
| 3     | names of the question that no answer holds      | only where some of them are missing    |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..index.rows import moment, units
from ..language.analysis.plan import PlannedQuery
from ..language.lexicon import STOP_WORDS
from ..language.query import terms_of
from ..models import Filters, Round, SubQuery, Vector
from .adjust import speakers_first
from .calibration import MOST_HITS
from .evidence import Evidence, Query
from .fuse import ranked_for
from .ranking import Ranked, best_first, score_aware_rrf

PART_WEIGHT = 0.25
"""Of a sub-query, where the question itself has 1. Chosen on LoCoMo, like the two below."""
LOOKED_AT, BEGINNING = 3, 200
"""Answers that are read for the second round, and characters of each."""
FEEDBACK = 0.5
"""The weight of the mean vector of these answers beside that of the question. Embedding their
text is no better.
"""

MAX_TERMS = 8
"""Words of a sub-query that are looked up. By eye."""

CHECKED = 10
"""Best answers in which a name of the question is looked for. By eye."""

_NAME = re.compile(r"\w[\w'-]*")


def search_smart(evidence: Evidence, question: Query) -> tuple[list[Ranked], tuple[Round, ...]]:
    """Candidates of the question, best first, from up to `max_rounds` rounds; the first always
    runs. Stops when a round brings nothing new.
    """
    request, watch = evidence.request, evidence.watch
    runs = _Runs(evidence)
    whole, *parts = request.plan.sub_queries
    runs.add(whole.query, 1.0, question)
    with watch.stage("parts"):
        for part in parts:
            runs.ask(part)
    rounds = [runs.end_round()]
    with watch.stage("reflect"):
        for number in range(1, request.max_rounds):
            before = runs.best()
            if number == 1:
                is_new = bool(before) and runs.ask(whole, runs.ranked())
            else:
                names = " ".join(runs.missing_names())
                is_new = bool(before) and runs.ask(PlannedQuery("", names, "hybrid"))
            if not is_new:
                break
            rounds.append(runs.end_round())
            if runs.best() == before:
                break
    return runs.ranked(), tuple(rounds)


class _Runs:
    """The sub-queries that ran, and their candidates."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._queries: list[SubQuery] = []
        self._candidates: dict[str, Sequence[Ranked]] = {}
        self._reported = 0
        self._known = 0
        self._fused: tuple[int, list[Ranked]] = (0, [])

    def ask(self, part: PlannedQuery, answers: Sequence[Ranked] = ()) -> bool:
        """Runs a sub-query, extended by the text of the best `answers`; False where it has no
        words or ran before.
        """
        evidence, text = self._evidence, part.query
        filters = self._filters_of_time(part)
        is_question = text == evidence.request.parsed.text
        vector = evidence.vector if is_question else evidence.embed(text)
        if answers:
            best = answers[:LOOKED_AT]
            text = " ".join([text, *(answer[:BEGINNING] for answer in self._texts(best))])
            vector = self._moved_towards(vector, best)
        text = " ".join(text.replace('"', " ").split())
        terms = terms_of(text)
        ran_before = filters is None and text in [query.query for query in self._queries]
        if not terms or ran_before:
            return False
        if len(terms) > MAX_TERMS:  # BM25 of a common word costs much and moves little
            counts = evidence.document_counts(terms)[1]
            terms = tuple(sorted(terms, key=lambda term: counts[term])[:MAX_TERMS])
        query = Query(terms, vector, (), filters or evidence.request.filters)
        self.add(text, PART_WEIGHT, query)
        return True

    def add(self, text: str, weight: float, query: Query) -> None:
        id = f"q{len(self._queries) + 1}"
        self._queries.append(SubQuery(id, text, weight))
        self._candidates[id] = ranked_for(self._evidence, query)

    def _filters_of_time(self, part: PlannedQuery) -> Filters | None:
        """Filters for the time before or after the best answer of another part, if any."""
        filters = self._evidence.request.filters
        if filters.since or filters.until:
            return None
        for end, id in part.filters:
            answers = self._candidates.get(id)
            if answers and answers[0].standing.dated:
                zone = self._evidence.request.now.tzinfo
                day = moment(answers[0].standing.at, zone).date().isoformat()
                return replace(filters, **{end: day})  # type: ignore[arg-type]
        return None

    def _moved_towards(self, vector: Vector | None, best: Sequence[Ranked]) -> Vector | None:
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

    def ranked(self) -> list[Ranked]:
        """All candidates, best first."""
        if len(self._queries) == self._fused[0]:
            return self._fused[1]
        rankings = {
            id: {r.rowid: r.score for r in candidates}
            for id, candidates in self._candidates.items()
        }
        weights = {query.id: query.weight for query in self._queries}
        scores = score_aware_rrf(rankings, k=self._evidence.config.k, weights=weights)
        by_row: dict[int, Ranked] = {}
        for candidates in self._candidates.values():
            for r in candidates:
                by_row.setdefault(r.rowid, replace(r, score=scores[r.rowid]))
        ranked = speakers_first(best_first(by_row.values()), self._evidence)
        self._fused = len(self._queries), ranked
        return ranked

    def best(self) -> set[int]:
        return {r.rowid for r in self.ranked()[:MOST_HITS]}

    def end_round(self) -> Round:
        """Its queries, the number of new entries and, with `explain`, missing names."""
        queries = tuple(self._queries[self._reported :])
        self._reported = len(self._queries)
        known = len(self.ranked())
        new, self._known = known - self._known, known
        names = self.missing_names() if self._evidence.request.explain else []
        return Round(queries, new, tuple(names))

    def missing_names(self) -> list[str]:
        """Names in the question that the journal knows and none of the best answers holds."""
        evidence = self._evidence
        asked = _NAME.findall(evidence.request.parsed.text)[1:]
        names = dict.fromkeys(word.removesuffix("'s") for word in asked if not word.islower())
        held = evidence.stems("\n".join(self._texts(self.ranked()[:CHECKED])))
        missing = []
        for name in names:
            is_held = evidence.stems(name) <= held
            if name.lower() not in STOP_WORDS and not is_held and evidence.has_word(name):
                missing.append(name)
        return missing

    def _texts(self, best: Sequence[Ranked]) -> list[str]:
        """Title and best passage of each of these entries."""
        passages = self._evidence.passages([r.rowid for r in best])
        texts = []
        for r in best:
            _, text, _ = passages[r.rowid]
            title = r.standing.title
            texts.append(text if text.startswith(title) else f"{title} {text}".strip())
        return texts
