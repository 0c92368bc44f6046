"""Finds the later entries near a hit: one that is a hit itself stands directly above it, others
below it as lines, because they may say what holds now.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..index.rows import unit_vectors
from ..kinds import has_expired
from ..models import Vector, frozen
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
"""The same for a hit that is put above an earlier one, and for one that stands above and marks
the earlier one below it. Chosen with two histories of `bench.py helps` in view; only the third
reports what it gives.
"""


@frozen
class LaterEntries:
    """The later entries near hits: the `hits` in their new order, and by row of a hit the rows
    of those to be named below it: first the nearest one, if that is a hit above it.
    """

    hits: Ranking
    named: dict[int, list[int]]


def find_later_entries(
    evidence: Evidence, hits: Ranking, texts: Mapping[int, str], ranked: Ranking
) -> LaterEntries:
    """Moves a later hit directly above the hit that it is nearest to, if it holds as much of
    the question, names the nearest one above a hit, and chooses other later entries of `ranked`
    to be named below one of the first hits. `texts` are the passages of the hits by row.

    Both are of one project and dated. Turns of a talk are left as they are: a later one does
    not correct an earlier one.
    """
    if evidence.vector is None or not evidence.config.later_first:
        return LaterEntries(hits, {})
    turns = speaker_by_entry(ranked)
    today = evidence.plan.now.date().isoformat()
    candidates = [
        r
        for r in ranked
        if r.standing.dated
        and r.rowid not in turns
        and not has_expired(r.standing.expires, today)
    ]
    closeness = _Closeness(evidence, evidence.vector, candidates)
    order = _put_later_above(evidence, hits, texts, closeness)
    named = _name_nearest_above(order, closeness)
    for hit_row, later_row in _choose_others(order, closeness):
        named.setdefault(hit_row, []).append(later_row)
    return LaterEntries(order, named)


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


def _put_later_above(
    evidence: Evidence, hits: Ranking, texts: Mapping[int, str], closeness: _Closeness
) -> Ranking:
    """The hits; where the nearest later entry of one is a hit of its type below it, at least
    LEAST_ABOVE near, that holds each word of the question that the first holds, it stands
    directly above that, but not above the only one whose title was typed. The scores
    stay in their places, and a hit without a word of the question stays where it is.
    """
    question = evidence.stems(" ".join(evidence.plan.parsed.terms))
    titled = {*evidence.plan.titled}
    by_row = {r.rowid: r for r in hits}
    order = list(by_row)
    for row, hit in by_row.items():
        near = [pair for pair in closeness.later_than(hit) if pair[1] >= LEAST_ABOVE]
        if not near:
            continue
        nearest = max(near, key=lambda pair: pair[1])[0].rowid
        later = by_row.get(nearest)
        if later is None or order.index(nearest) < order.index(row):
            continue
        is_same_kind = later.standing.type == hit.standing.type
        if len(later.met) < len(hit.met) or not is_same_kind:  # what is preferred stays first
            continue
        if row in titled and nearest not in titled:  # and the entry whose title was typed
            continue
        words = question & evidence.stems(texts[row])
        if words and words <= evidence.stems(texts[nearest]):
            order.remove(nearest)
            order.insert(order.index(row), nearest)
    scores = [r.score for r in hits]
    result = [by_row[row] for row in order]
    for r, score in zip(result, scores, strict=True):
        r.score = score
    return result


class _Closeness:
    """How close candidates are to each other, in standard deviations above the usual cosine of
    one with the journal. Entries without a vector are close to none.
    """

    def __init__(self, evidence: Evidence, question: Vector, candidates: Ranking) -> None:
        self._evidence = evidence
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
            if is_same and other.position > hit.position:
                later.append((other, float(deviations[at])))
        return later
