"""Puts the later of two entries on one topic first, because it may correct the earlier one."""

from itertools import chain, combinations

import numpy as np

from ..index.rows import unit_vectors
from .evidence import Evidence
from .near import NAME
from .ranking import Ranking, put_newest_of_topics_first, sort_by_score
from .talk import speaker_by_entry

TOP = 10
"""The number of first entries that may be reordered. By eye."""

ALIKE, ALIKE_ASKED = 0.58, 0.35
"""Two entries are on one topic if their closeness is above this: 0 is the usual cosine, 1 the
same text. The second value is for questions that ask for the newest.

The first is chosen on freshness.json, the even cases of corrections.json (tests/data) and the
panel, the second on newest.json; newest_held.json was held apart.
"""

LEAST_SCORE = 0.8
"""The least share of the earlier one's score that the later has; with less it does not fit the
question itself: "what does rhodophyte mean".

Chosen on the look halves of `bench.py panel --unseen`, ten kinds: the mean nDCG@10 is .735
instead of .7335 with .6, with the multilingual model .837 instead of .830. Of 120 corrections
37 come first instead of 50.
"""


def put_later_first(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Swaps two of the first hits that are on one topic if the later entry ranks below the
    earlier one.

    They exchange their scores too. Turns of a talk are not moved: a later one does not correct
    an earlier one (LoCoMo and BEAM lose .004 to .013).
    """
    if evidence.vector is None:
        return ranked
    turns = speaker_by_entry(ranked)
    first = [r for r in ranked[:TOP] if r.standing.dated and r.rowid not in turns]
    closeness = _measure_pairs(evidence, first)
    least = ALIKE_ASKED if evidence.request.recent else ALIKE
    near = []
    for best, later in combinations(first, 2):
        projects = {best.standing.project, later.standing.project} - {None}
        is_later = later.standing.position > best.standing.position
        fits = evidence.request.recent or later.score >= LEAST_SCORE * best.score
        # each project decides for itself, and what is preferred stays first
        if is_later and fits and len(projects) < 2 and len(best.met) <= len(later.met):
            pair = (best.rowid, later.rowid)
            if closeness.get(pair, 0.0) > least:
                near.append(pair)
    texts = evidence.passages(list(dict.fromkeys(chain(*near))), near=True)
    same_topic = [pair for pair in near if _keeps_names(evidence, *(texts[r][1] for r in pair))]
    positions = {r.rowid: r.standing.position for r in first}
    order = put_newest_of_topics_first(list(positions), same_topic, positions)
    scores = [r.score for r in first]
    first.sort(key=lambda r: order.index(r.rowid))
    for r, score in zip(first, scores, strict=True):
        r.score = score
    return sort_by_score(ranked)


def _measure_pairs(evidence: Evidence, first: Ranking) -> dict[tuple[int, int], float]:
    """The closeness of each two entries, in both orders; of entries without a vector, and where
    the model does not know the language, none.
    """
    chunks = {r.rowid: evidence.chunk(r.rowid, near=True) for r in first}
    stored = evidence.index.vectors(list(chunks.values()))
    vectors = (
        dict(zip(stored, unit_vectors(list(stored.values())), strict=True)) if stored else {}
    )
    usual = {chunk: evidence.usual_cosine(vector)[0] for chunk, vector in vectors.items()}
    pairs = {}
    for pair in combinations(chunks, 2):
        one, other = sorted(chunks[row] for row in pair)
        if one in vectors and other in vectors and evidence.language_familiarity(usual[one]):
            pairs[pair] = one, other
    products = [vectors[one] @ vectors[other] for one, other in pairs.values()]
    cosines = evidence.index.scale_cosines(np.array(products, np.float32)).tolist()
    closeness = {}
    for (pair, (one, _)), cosine in zip(pairs.items(), cosines, strict=True):
        apart = (cosine - usual[one]) / (1 - usual[one])
        closeness[pair] = closeness[pair[::-1]] = apart
    return closeness


def _keeps_names(evidence: Evidence, earlier: str, later: str) -> bool:
    """True if the later text contains every name and number that the question and the earlier
    text share; else they are about different things, as Rome and Paris.
    """
    question = evidence.request.parsed.text
    names = evidence.stems(" ".join(NAME.findall(f"{question}\n{earlier}")))
    shared = names & evidence.stems(question) & evidence.stems(earlier)
    return shared <= evidence.stems(later)
