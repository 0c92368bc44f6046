"""Of two entries on one topic the later comes first: what was said last counts, whichever fits the words better.

`scripts/bench.py quality --freshness` measures it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from ..index import units
from ..models import Matrix, Vector
from .evidence import Evidence
from .ranking import Ranked, newest_of_a_topic_first

DEPTH, CROWD = 10, 20
"""Entries that can change places, and entries that tell what is usual among the answers to this question. By eye."""

ALIKE, NEAR, AS_GOOD, NAMELESS, ENOUGH = 4.0, 4.0, 1.5, 2.0, 3.5
"""The weights of the signs, the sum above which two entries are on one topic, and what a lacking name takes off it.

A regression on corrections, on notes that only sound alike (freshness.json and the even cases of corrections.json in
tests/data) and on LoCoMo's conversations 1 to 3, rounded; `bench.py quality --freshness` shows what it does.
"""

_NAME = re.compile(r"(?<=[\w,;)] )[A-Z]\w*|\b\w*\d\w*")


def later_first(ranked: Sequence[Ranked], evidence: Evidence) -> Sequence[Ranked]:
    """The ranking, in which of two entries of the top on one topic the later stands first.

    It takes the other's place, and the score of that place.
    """
    vector = evidence.vector
    if vector is None or not evidence.config.later_first:
        return ranked
    chunks = {r.rowid: evidence.chunk(r.rowid, near=True) for r in ranked[:CROWD]}
    stored = evidence.ws.index.vectors(list(chunks.values()))
    crowd = [r for r in ranked[:CROWD] if chunks[r.rowid] in stored]
    if len(crowd) < 2:
        return ranked
    movable = sum(chunks[r.rowid] in stored for r in ranked[:DEPTH])
    pairs = _pairs(crowd, movable, units([stored[chunks[r.rowid]] for r in crowd]), vector)
    if not pairs:
        return ranked
    evidence.read({rowid: chunks[rowid] for pair in pairs for rowid in pair})
    texts = {rowid: evidence.passage(rowid, chunks[rowid])[0] for pair in pairs for rowid in pair}
    first, rest = ranked[:DEPTH], ranked[DEPTH:]
    by_rowid = {r.rowid: r for r in first}
    order = newest_of_a_topic_first(
        list(by_rowid),
        [
            (best, later)
            for (best, later), weight in pairs.items()
            if weight - NAMELESS > ENOUGH or not _lacks_a_name(evidence, texts[best], texts[later])
        ],
        {rowid: r.standing.position for rowid, r in by_rowid.items()},
    )
    moved = [by_rowid[rowid]._replace(score=place.score) for rowid, place in zip(order, first, strict=True)]
    return [*moved, *rest]


def _pairs(crowd: Sequence[Ranked], movable: int, vectors: Matrix, vector: Vector) -> dict[tuple[int, int], float]:
    """The sum of the signs that two entries are on one topic, by the rowids (entry, later entry that ranks behind it).

    Both rank among the first `movable`; only pairs with a sum above ENOUGH are returned.

    | sign    | what                                                                                       |
    |---------|--------------------------------------------------------------------------------------------|
    | alike   | their cosine, where 0 is what any two answers to this question have and 1 is the same text |
    | near    | how much nearer to the question the later is than all but these two                        |
    | as good | its score over that of the other                                                           |
    """
    import numpy as np

    matrix = vectors @ vectors.T
    usual = float(matrix[np.triu_indices(len(crowd), k=1)].mean()) if len(crowd) > 2 else 0.0
    cosines, nearness = matrix.tolist(), (vectors @ vector).tolist()
    nearest = sorted(range(len(crowd)), key=lambda place: -nearness[place])[:3]
    found = {}
    for one, other in combinations(range(movable), 2):
        best, later = crowd[one], crowd[other]
        if "mtime" in (best.standing.date_source, later.standing.date_source):
            continue  # its file alone does not say when it was said
        if later.standing.position <= best.standing.position:
            continue
        others = max((nearness[place] for place in nearest if place not in (one, other)), default=0.0)
        weight = (
            ALIKE * (cosines[one][other] - usual) / (1 - usual + 1e-6)
            + NEAR * (nearness[other] - others)
            + AS_GOOD * later.score / max(best.score, 1e-9)
        )
        if weight > ENOUGH:
            found[best.rowid, later.rowid] = weight
    return found


def _lacks_a_name(evidence: Evidence, best: str, later: str) -> bool:
    """Whether the later text lacks a name or number that the question and the best text share: Rome is not Paris."""
    question = evidence.request.parsed.text
    names = " ".join(_NAME.findall(f"{question}\n{best}"))
    shared = evidence.stems(names) & evidence.stems(question) & evidence.stems(best)
    return not shared <= evidence.stems(later)
