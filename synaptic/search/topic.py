"""Of two entries on one topic the later comes first: what was said last counts, whichever fits
the words better.

`scripts/bench.py freshness` measures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def later_first(ranked: Sequence[Ranked], evidence: Evidence) -> Sequence[Ranked]:
    """The ranking, in which of two entries of the top on one topic the later stands first.

    It takes the other's place, and the score of that place.
    """
    if evidence.vector is None or not evidence.config.later_first:
        return ranked
    first, rest = ranked[:DEPTH], ranked[DEPTH:]
    meaning = [near or 0.0 for near in evidence.meaning([r.rowid for r in first])]
    pairs = _pairs(first, meaning)
    if not pairs:
        return ranked
    chunks = {r.rowid: evidence.chunk(r.rowid, near=True) for pair in pairs for r in pair}
    pairs = _alike(evidence, pairs, chunks)
    evidence.read({r.rowid: chunks[r.rowid] for pair in pairs for r in pair})
    texts = {
        r.rowid: evidence.passage(r.rowid, chunks[r.rowid])[0] for pair in pairs for r in pair
    }
    by_rowid = {r.rowid: r for r in first}
    order = newest_of_a_topic_first(
        list(by_rowid),
        [
            (best.rowid, later.rowid)
            for best, later in pairs
            if not _lacks_a_name(evidence, texts[best.rowid], texts[later.rowid])
        ],
        {rowid: r.standing.position for rowid, r in by_rowid.items()},
    )
    moved = [
        by_rowid[rowid]._replace(score=place.score)
        for rowid, place in zip(order, first, strict=True)
    ]
    return [*moved, *rest]


def _pairs(ranked: Sequence[Ranked], meaning: Sequence[float]) -> list[tuple[Ranked, Ranked]]:
    """(entry, a later one that ranks behind it) of entries that are on one topic, by two signs.

    | sign    | what                                                                                |
    |---------|-------------------------------------------------------------------------------------|
    | nearer  | how much nearer to the question the later is than all but these two                 |
    | as good | its score over that of the other                                                    |
    """
    nearest = sorted(range(len(ranked)), key=lambda place: -meaning[place])[:3]
    found = []
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
        others = max(
            (meaning[place] for place in nearest if place not in (one, other)), default=0.0
        )
        if NEARER * (meaning[other] - others) + later.score / max(best.score, 1e-9) > ENOUGH:
            found.append((best, later))
    return found


def _alike(
    evidence: Evidence, pairs: Sequence[tuple[Ranked, Ranked]], chunks: Mapping[int, int]
) -> list[tuple[Ranked, Ranked]]:
    """The pairs whose passages have a cosine of at least ALIKE: what is merely near the
    question is another matter.
    """
    found, index = [], evidence.ws.index
    stored = index.vectors(list(chunks.values()))
    for pair in pairs:
        vectors = [stored[chunks[r.rowid]] for r in pair if chunks[r.rowid] in stored]
        if len(vectors) == 2 and index.scaled((both := units(vectors))[0] @ both[1]) >= ALIKE:
            found.append(pair)
    return found


def _lacks_a_name(evidence: Evidence, best: str, later: str) -> bool:
    """True if the later text lacks a name or number that the question and the best text share:
    Rome is not Paris.
    """
    question = evidence.request.parsed.text
    names = " ".join(NAME.findall(f"{question}\n{best}"))
    shared = evidence.stems(names) & evidence.stems(question) & evidence.stems(best)
    return not shared <= evidence.stems(later)
