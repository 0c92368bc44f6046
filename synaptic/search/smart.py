"""Smart search: searches the question and its parts, and then again with the words of the best
answers.

| round | searched                                    | why                                    |
|-------|---------------------------------------------|----------------------------------------|
| 1     | the question; its parts, less heavy         | each part may have an entry of its own |
| more  | the question moved towards its best answers | the rest of the story uses their words |
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..index.rows import unit_vectors
from ..language.query import search_terms
from ..models import Meaning, SubQuery
from .candidates import rank_candidates
from .doubt import MOST_HITS
from .evidence import Evidence, Query
from .passes import apply_ranking_passes
from .plan import PART_WEIGHT, rarest_terms, sub_queries_of, without_quotes
from .ranking import Ranked, Ranking, reciprocal_rank_fusion, scale_to_best, sort_by_score

LOOKED_AT, BEGINNING = 3, 200
"""The number of best answers whose text is used in the second round, and the characters used of
each. Chosen on LoCoMo, like the one below.
"""
FEEDBACK = 0.5
"""The weight of the mean vector of the best answers, when it is added to the question's vector.
Embedding their text is no better.
"""

MAX_PART_TERMS = 8
"""The largest number of words of a sub-query that are looked up: BM25 of a common word costs
much and changes little. By eye.
"""


class Answer(NamedTuple):
    """The candidates that the sub-queries of one text found, best first; the id of the first of
    these, and their weight.
    """

    id: str
    weight: float
    ranked: Ranking


def search_smart(
    evidence: Evidence, question: Query, of_parts: Sequence[Sequence[SubQuery]], because: str
) -> Ranking:
    """Searches the question and its parts, and then again in up to `plan.rounds` rounds;
    returns the candidates, best first. Stops if a round does not change the best hits.
    `of_parts` are the sub-queries of each part.
    """
    plan = evidence.plan
    watch = evidence.watch
    text = plan.parsed.text
    first = plan.sub_queries[0]
    answers = {text: Answer(first.id, first.weight, rank_candidates(evidence, question))}
    with watch.stage("parts"):
        for sub_queries in of_parts:
            _ask(evidence, answers, sub_queries, evidence.embed(sub_queries[0].query))
    ranked = _fuse_answers(evidence, answers)
    evidence.end_round(len(ranked), because)
    asked = list(plan.sub_queries)
    with watch.stage("reflect"):
        for _ in range(1, plan.rounds):
            if not ranked:
                break
            best = {r.rowid for r in ranked[:MOST_HITS]}
            candidates = len(ranked)
            beginnings = " ".join(_beginnings_of_entries(evidence, ranked[:LOOKED_AT]))
            moved = _move_question_towards(evidence, ranked[:LOOKED_AT])
            longer = without_quotes(f"{text} {beginnings}")
            if longer in answers:
                break
            before = tuple(one.id for one in asked if one.layer != "symbolic")
            added = sub_queries_of(plan, longer, asked, PART_WEIGHT, 3, before)
            asked += added
            _ask(evidence, answers, added, moved)
            ranked = _fuse_answers(evidence, answers)
            evidence.end_round(len(ranked) - candidates, "the words of the best answers")
            if best == {r.rowid for r in ranked[:MOST_HITS]}:
                break
    return ranked


def _ask(
    evidence: Evidence,
    answers: dict[str, Answer],
    sub_queries: Sequence[SubQuery],
    meaning: Meaning | None,
) -> None:
    """Adds to `answers` the ranking of one text."""
    first = sub_queries[0]
    terms = rarest_terms(evidence.index, search_terms(first.query), MAX_PART_TERMS)
    ranked = rank_candidates(evidence, Query(terms, meaning, sub_queries))
    answers[first.query] = Answer(first.id, first.weight, ranked)


def _move_question_towards(evidence: Evidence, best: Sequence[Ranked]) -> Meaning | None:
    """The embedding of the question, its vector moved towards the vectors of the best answers.

    Rocchio 1971, "Relevance feedback in information retrieval".
    """
    asked = evidence.asked
    chunks = [evidence.chunk(r.rowid, near=True) for r in best]
    stored = evidence.index.vectors(chunks)
    if not asked or not stored:
        return asked
    import numpy as np

    moved = asked.vector + FEEDBACK * unit_vectors(list(stored.values())).mean(axis=0)
    length = max(float(np.linalg.norm(moved)), 1e-9)
    return asked._replace(vector=np.asarray(moved / length, dtype=np.float32))


def _fuse_answers(evidence: Evidence, answers: Mapping[str, Answer]) -> Ranking:
    """Fuses the rankings of all texts into one, best first."""
    rankings = {}
    candidates: dict[int, Ranked] = {}
    for answer in answers.values():
        rankings[answer.id] = scale_to_best({r.rowid: r.score for r in answer.ranked})
        for r in answer.ranked:
            candidates.setdefault(r.rowid, r)
    weights = {answer.id: answer.weight for answer in answers.values()}
    scores = reciprocal_rank_fusion(rankings, k=evidence.config.k, weights=weights)
    fused = [replace(r, score=scores[row]) for row, r in candidates.items()]
    return apply_ranking_passes("candidates", sort_by_score(fused), evidence)


def _beginnings_of_entries(evidence: Evidence, best: Sequence[Ranked]) -> list[str]:
    """The first BEGINNING characters of the title and best passage of each entry."""
    passages = evidence.passages([r.rowid for r in best])
    texts = []
    for r in best:
        _, text, _ = passages[r.rowid]
        title = r.standing.title
        texts.append((text if text.startswith(title) else f"{title} {text}")[:BEGINNING])
    return texts
