"""Of two entries on one topic the later comes first: what was said last counts, whichever fits the words better."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from ..index import units
from ..language.words import stems
from ..models import Matrix, Vector
from ..workspace.sync import read_passages
from ..workspace.workspace import Workspace
from .ranking import newest_of_a_topic_first
from .retrieve import Lists
from .scoring import Ask, Ranked

DEPTH, CROWD = 10, 20
"""So many entries can change places, and so many tell what is usual among the answers to this question."""

ALIKE, NEAR, AS_GOOD, NAMELESS, ENOUGH = 4.0, 4.0, 1.5, 2.0, 3.5
"""What the signs weigh, and their sum from which on two entries are on one topic.

A regression on corrections, on notes that only sound alike (freshness.json and the even cases of corrections.json in
tests/data) and on LoCoMo's conversations 1 to 3, rounded; `bench.py quality --freshness` shows what it does.
"""

_NAME = re.compile(r"(?<=[\w,;)] )[A-Z]\w*|\b\w*\d\w*")


def later_first(ws: Workspace, ask: Ask, vector: Vector | None, lists: Lists, ranked: Sequence[Ranked]) -> list[Ranked]:
    """The ranking, in which of two entries of the top on one topic the later stands first.

    It takes the other's place, and the score of that place. What is ranked by weights stays as it is.
    """
    if vector is None or ask.weights is not None or not ws.config.search.later_first:
        return list(ranked)
    chunks = {r.rowid: chunk for r in ranked[:CROWD] if (chunk := lists.chunk_near(r.rowid)) is not None}
    stored = ws.index.vectors(list(chunks.values()))
    crowd = [r for r in ranked[:CROWD] if chunks.get(r.rowid) in stored]
    if len(crowd) < 2:
        return list(ranked)
    movable = sum(chunks.get(r.rowid) in stored for r in ranked[:DEPTH])
    evidence = _evidence(crowd, movable, units([stored[chunks[r.rowid]] for r in crowd]), vector)
    if not evidence:
        return list(ranked)
    passages = read_passages(ws, [chunks[rowid] for pair in evidence for rowid in pair])
    texts = {rowid: passages.get(chunks[rowid], ("", 0))[0] for pair in evidence for rowid in pair}
    first, rest = ranked[:DEPTH], ranked[DEPTH:]
    by_rowid = {r.rowid: r for r in first}
    order = newest_of_a_topic_first(
        list(by_rowid),
        [
            (best, later)
            for (best, later), weight in evidence.items()
            if weight - NAMELESS > ENOUGH or not _lacks_a_name(ws, ask.parsed.text, texts[best], texts[later])
        ],
        {rowid: r.standing.position for rowid, r in by_rowid.items()},
    )
    moved = [by_rowid[rowid]._replace(score=place.score) for rowid, place in zip(order, first, strict=True)]
    return [*moved, *rest]


def _evidence(crowd: Sequence[Ranked], movable: int, vectors: Matrix, vector: Vector) -> dict[tuple[int, int], float]:
    """How much speaks for one topic of an entry and a later one behind it, both among the first `movable`.

    By their rowids, and only where it is enough.

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
        if not _comes_later(later, best):
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


def _comes_later(one: Ranked, other: Ranked) -> bool:
    """Whether it was said later; an entry dated by its file alone does not say when."""
    dated = "mtime" not in (one.standing.date_source, other.standing.date_source)
    return dated and one.standing.position > other.standing.position


def _lacks_a_name(ws: Workspace, question: str, best: str, later: str) -> bool:
    """Whether the later says nothing of a name or number of the question that the best holds: Rome is not Paris."""
    names = " ".join(_NAME.findall(f"{question}\n{best}"))
    of_names, of_question, of_best, of_later = (stems(text, ws.index.stem) for text in (names, question, best, later))
    return not of_names & of_question & of_best <= of_later
