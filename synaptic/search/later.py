"""Finds the later entries near a hit: they stand below it as lines, because they may say what
holds now. A hit moves only where the question asks for the latest.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..index.rows import unit_vectors
from ..kinds import has_expired
from ..models import Vector
from .doubt import MOST_HITS
from .evidence import Evidence
from .ranking import Ranked, Ranking
from .talk import speaker_by_entry

FIRST_HITS, MOST_LINES = 3, 3
"""The number of first hits below which later entries are named, and of such lines in an answer.
"""

LEAST_DEVIATIONS = 1.25
"""A later entry is near a hit if its cosine is this many standard deviations above the usual
cosine of the hit with the journal.

Chosen with the two numbers above on holds_dev.json and holds_small_dev.json of tests/data: the
later note is there in 84 of 99 answers, and in small journals in 60 of 70, of the multilingual
model in 64; with 1.5 deviations in 84, 60 and 62.
"""

LEAST_ABOVE = 2.5
"""The same for a hit that stands above an earlier one, and marks it so. Chosen with two
histories of `bench.py helps` in view; only the third reports what it gives.
"""

LEAST_WORDS = 0.3
"""The least BM25 of a latest entry, beside that of the first hit. Chosen on newest.json of
tests/data.
"""


def find_later_entries(
    evidence: Evidence, hits: Ranking, ranked: Ranking
) -> dict[int, list[int]]:
    """By row of a hit: the rows of the later entries of `ranked` that are named below it, first
    the nearest one of those that are hits above it.
    """
    if evidence.vector is None:
        return {}
    closeness = _Closeness(evidence, evidence.vector, ranked)
    named = _name_nearest_above(hits, closeness)
    for hit_row, later_row in _choose_others(hits, closeness):
        named.setdefault(hit_row, []).append(later_row)
    return named


def asks_for_latest(evidence: Evidence) -> bool:
    """True if the question asks for the latest, and meaning can tell what is on one topic."""
    plan = evidence.plan
    return plan.recent and plan.fuses and evidence.vector is not None


def put_latest_first(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Of the first hit and those near it that are later, the latest stands first. The scores
    stay in their places.
    """
    assert evidence.vector is not None
    closeness = _Closeness(evidence, evidence.vector, ranked[:MOST_HITS])
    near = [
        later
        for first in ranked[:1]
        for later, deviations in closeness.later_than(first)
        if deviations >= LEAST_ABOVE
        and (later.lexical or 0) >= LEAST_WORDS * (first.lexical or 0)
    ]
    if not near:
        return ranked
    latest = max(near, key=lambda later: later.position)
    scores = [r.score for r in ranked]
    order = [latest, *(r for r in ranked if r is not latest)]
    for r, score in zip(order, scores, strict=True):
        r.score = score
    return order


def _name_nearest_above(hits: Ranking, closeness: _Closeness) -> dict[int, list[int]]:
    """By row of a hit: the row of the later hit above it that is nearest to it."""
    named: dict[int, list[int]] = {}
    above: set[int] = set()
    for hit in hits:
        near = {
            deviations: later.rowid
            for later, deviations in closeness.later_than(hit)
            if later.rowid in above
        }
        if near and max(near) >= LEAST_ABOVE:
            named[hit.rowid] = [near[max(near)]]
        above.add(hit.rowid)
    return named


def _choose_others(hits: Ranking, closeness: _Closeness) -> list[tuple[int, int]]:
    """(row of a hit, row of a later entry that is not above it) of up to MOST_LINES entries,
    the nearest first; no entry is named twice.
    """
    pairs = []
    above: set[int] = set()
    for hit in hits[:FIRST_HITS]:
        above.add(hit.rowid)
        for later, deviations in closeness.later_than(hit):
            if later.rowid not in above:
                pairs.append((deviations, hit.rowid, later.rowid))
    hit_by_later: dict[int, int] = {}
    for _, hit_row, later_row in sorted(pairs, reverse=True):
        hit_by_later.setdefault(later_row, hit_row)
    chosen = [(hit_row, later_row) for later_row, hit_row in hit_by_later.items()]
    return chosen[:MOST_LINES]


class _Closeness:
    """How close candidates are to each other, in standard deviations above the usual cosine of
    one with the journal. Entries without a vector are close to none, nor are those without a
    date, that are over, or that are turns of a talk: a later one does not correct an earlier
    one.
    """

    def __init__(self, evidence: Evidence, question: Vector, ranked: Ranking) -> None:
        self._evidence = evidence
        turns = speaker_by_entry(ranked)
        today = evidence.plan.now.date().isoformat()
        candidates = [
            r
            for r in ranked
            if r.standing.dated
            and r.rowid not in turns
            and not has_expired(r.standing.expires, today)
        ]
        chunks = {r.rowid: evidence.chunk(r.rowid, near=True) for r in candidates}
        stored = evidence.index.vectors(list(chunks.values()))
        self._candidates = [r for r in candidates if chunks[r.rowid] in stored]
        self._places = {r.rowid: place for place, r in enumerate(self._candidates)}
        vectors = [stored[chunks[r.rowid]] for r in self._candidates]
        self._vectors = unit_vectors(vectors, len(question))
        self._later: dict[int, Sequence[tuple[Ranked, float]]] = {}

    def later_than(self, hit: Ranked) -> Sequence[tuple[Ranked, float]]:
        """(candidate, deviations) of the later candidates of its project near a hit, compared
        once.
        """
        if hit.rowid not in self._later:
            self._later[hit.rowid] = self._compare(hit)
        return self._later[hit.rowid]

    def _compare(self, hit: Ranked) -> Sequence[tuple[Ranked, float]]:
        place = self._places.get(hit.rowid)
        if place is None:
            return []
        vector = self._vectors[place]
        mean, deviation = self._evidence.usual_cosine(vector)
        cosines = self._evidence.index.scale_cosines(self._vectors @ vector)
        deviations = (cosines - mean) / deviation
        near = (deviations >= LEAST_DEVIATIONS).nonzero()[0].tolist()
        later = []
        for at in near:
            other = self._candidates[at]
            is_same = other.standing.project == hit.standing.project
            # who finds a whole note wrong edits it, while a diary goes on
            goes_on = not other.standing.whole_file or other.standing.date_source == "file"
            if is_same and goes_on and other.position > hit.position:
                later.append((other, float(deviations[at])))
        return later
