"""Smart search: searches the question and its parts, and then again with the words of the best
answers.

| round | searched                                    | why                                    |
|-------|---------------------------------------------|----------------------------------------|
| 1     | the question; its parts, less heavy         | each part may have an entry of its own |
| more  | the question moved towards its best answers | the rest of the story uses their words |
"""

from collections.abc import Sequence
from dataclasses import replace

from ..index.rows import unit_vectors
from ..language.analysis.plan import searchable_parts
from ..language.query import search_terms
from ..models import Meaning, Round, SubQuery
from .candidates import rank_candidates
from .doubt import MOST_HITS
from .evidence import Evidence, Query
from .passes import apply_ranking_passes
from .ranking import Ranked, score_aware_rrf, sort_by_score

PART_WEIGHT = 0.25
"""The weight of a sub-query; the question itself has 1. Chosen on LoCoMo, like the two below.
"""
LOOKED_AT, BEGINNING = 3, 200
"""The number of best answers whose text is used in the second round, and the characters used of
each.
"""
FEEDBACK = 0.5
"""The weight of the mean vector of the best answers, when it is added to the question's vector.
Embedding their text is no better.
"""

MAX_PART_TERMS = 8
"""The largest number of words of a sub-query that are looked up: BM25 of a common word costs
much and changes little. By eye.
"""

SubAnswers = dict[SubQuery, Sequence[Ranked]]
"""The candidates of each sub-query that ran."""


def search_smart(evidence: Evidence, question: Query) -> tuple[list[Ranked], tuple[Round, ...]]:
    """Searches the question in up to `max_rounds` rounds, at least one; returns the candidates,
    best first, and the rounds. Stops if a round does not change the best hits.
    """
    request = evidence.request
    watch = evidence.watch
    text = request.parsed.text
    answers: SubAnswers = {SubQuery("q1", text, 1.0): rank_candidates(evidence, question)}
    with watch.stage("parts"):
        for part in request.parts or searchable_parts(text):
            _run_sub_query(evidence, answers, part, evidence.embed(part))
    ranked = _fuse_answers(evidence, answers)
    rounds = [Round(tuple(answers), len(ranked))]
    with watch.stage("reflect"):
        while ranked and len(rounds) < request.max_rounds:
            queries = len(answers)
            candidates = len(ranked)
            best = ranked[:MOST_HITS]
            beginnings = " ".join(_beginnings_of_entries(evidence, ranked[:LOOKED_AT]))
            moved = _move_question_towards(evidence, ranked[:LOOKED_AT])
            if not _run_sub_query(evidence, answers, f"{text} {beginnings}", moved):
                break
            ranked = _fuse_answers(evidence, answers)
            rounds.append(Round(tuple(answers)[queries:], len(ranked) - candidates))
            if {r.rowid for r in best} == {r.rowid for r in ranked[:MOST_HITS]}:
                break
    return ranked, tuple(rounds)


def _run_sub_query(
    evidence: Evidence, answers: SubAnswers, text: str, meaning: Meaning | None
) -> bool:
    """Runs a sub-query and stores its candidates in `answers`; returns False if it has no words
    or ran before.
    """
    text = " ".join(text.replace('"', " ").split())
    terms = evidence.rarest(search_terms(text), MAX_PART_TERMS)
    if not terms or text in [query.query for query in answers]:
        return False
    asked = SubQuery(f"q{len(answers) + 1}", text, PART_WEIGHT)
    query = Query(terms, meaning, evidence.request.filters)
    answers[asked] = rank_candidates(evidence, query)
    return True


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


def _fuse_answers(evidence: Evidence, answers: SubAnswers) -> list[Ranked]:
    """Fuses the candidates of all sub-queries into one ranking, best first."""
    rankings = {}
    candidates: dict[int, Ranked] = {}
    for query, ranked in answers.items():
        rankings[query.id] = {r.rowid: r.score for r in ranked}
        for r in ranked:
            candidates.setdefault(r.rowid, r)
    weights = {query.id: query.weight for query in answers}
    scores = score_aware_rrf(rankings, k=evidence.config.k, weights=weights)
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
