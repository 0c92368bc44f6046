"""Of two entries on one topic the later comes first: what was said last counts, whichever fits
the words better.

`scripts/bench.py freshness` measures it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from ..index.rows import units
from .evidence import Evidence
from .near import NAME
from .ranking import Ranked, newest_of_a_topic_first

DEPTH = 10
"""Entries that can change places. By eye."""

ALIKE, NEARER, ENOUGH = 0.4, 2.0, 0.91
"""The weight of the first sign beside the second, and the sum from which on two entries are on
one topic.

A regression on corrections, on notes that only sound alike (freshness.json and the even cases
of corrections.json in tests/data) and on half of the questions on LoCoMo, BEAM and a project's
log, rounded.
"""


def later_first(ranked: list[Ranked], evidence: Evidence) -> list[Ranked]:
    """The ranking, in which of two entries of the top on one topic the later stands first.

    It takes the other's place, and the score of that place.
    """
    if evidence.vector is None or not evidence.config.later_first:
        return ranked
    first, index = ranked[:DEPTH], evidence.ws.index
    chunks = {r.rowid: evidence.chunk(r.rowid, near=True) for r in first}
    same_topic = []
    for best, later in _pairs(first, evidence.meaning([r.rowid for r in first])):
        stored = index.vectors([chunks[best.rowid], chunks[later.rowid]])
        if len(stored) < 2:
            continue
        one, other = units(list(stored.values()))
        if index.scaled(one @ other) < ALIKE:
            continue  # what is merely near the question is another matter
        pair = (best.rowid, later.rowid)
        texts = evidence.passages(pair, near=True)
        if not _lacks_a_name(evidence, texts[best.rowid][1], texts[later.rowid][1]):
            same_topic.append(pair)
    positions = {r.rowid: r.standing.position for r in first}
    order = newest_of_a_topic_first([r.rowid for r in first], same_topic, positions)
    scores = [r.score for r in first]
    first.sort(key=lambda r: order.index(r.rowid))
    for r, score in zip(first, scores, strict=True):
        r.score = score
    return first + ranked[DEPTH:]


def _pairs(
    ranked: Sequence[Ranked], meaning: Sequence[float | None]
) -> Iterator[tuple[Ranked, Ranked]]:
    """(entry, a later one that ranks behind it) of entries that are on one topic, by two signs:
    how much nearer to the question the later is than all but these two, and its score over that
    of the other.
    """
    near = [one or 0.0 for one in meaning]
    for one, other in combinations(range(len(ranked)), 2):
        best, later = ranked[one], ranked[other]
        if not (best.standing.dated and later.standing.dated):
            continue  # its file alone does not say when it was said
        if len(best.met) > len(later.met):
            continue  # what is preferred stays first
        if len({best.standing.project, later.standing.project} - {None}) > 1:
            continue  # each project decides for itself
        if later.standing.position <= best.standing.position:
            continue
        others = [
            closeness for place, closeness in enumerate(near) if place not in (one, other)
        ]
        nearer = near[other] - max(others, default=0.0)
        if NEARER * nearer + later.score / max(best.score, 1e-9) > ENOUGH:
            yield best, later


def _lacks_a_name(evidence: Evidence, best: str, later: str) -> bool:
    """True if the later text lacks a name or number that the question and the best text share:
    Rome is not Paris.
    """
    question = evidence.request.parsed.text
    names = " ".join(NAME.findall(f"{question}\n{best}"))
    shared = evidence.stems(names) & evidence.stems(question) & evidence.stems(best)
    return not shared <= evidence.stems(later)
