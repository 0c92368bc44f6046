"""Of two entries on one topic the later comes first: it may correct the earlier."""

from itertools import chain, combinations

from ..index.rows import units
from .evidence import Evidence, language_familiarity
from .near import NAME
from .ranking import Ranking, put_newest_of_topics_first, sort_by_score
from .talk import speaker_by_entry

TOP = 10
"""Entries that can change places. By eye."""

ALIKE, ALIKE_ASKED = 0.58, 0.35
"""Two entries are on one topic from this closeness on: 0 as usual, 1 the same. The second is
for questions that ask for the newest.

The first is chosen on freshness.json, the even cases of corrections.json (tests/data) and the
panel, the second on newest.json; newest_held.json was held apart.
"""


def put_later_first(ranked: Ranking, evidence: Evidence) -> Ranking:
    """The ranking, in which of two entries of the top on one topic the later stands first.

    The two exchange their places and scores. The turns of a talk stay: a later
    one corrects no earlier one (LoCoMo and BEAM lose .004 to .013).
    """
    if evidence.vector is None:
        return ranked
    turns = speaker_by_entry(ranked)
    first = [r for r in ranked[:TOP] if r.standing.dated and r.rowid not in turns]
    chunks = {r.rowid: evidence.chunk(r.rowid, near=True) for r in first}
    stored = evidence.index.vectors(list(chunks.values()))
    vectors = dict(zip(stored, units(list(stored.values())), strict=True)) if stored else {}
    usual = {chunk: evidence.usual_cosine(vector)[0] for chunk, vector in vectors.items()}
    least = ALIKE_ASKED if evidence.request.recent else ALIKE
    near = []
    for best, later in combinations(first, 2):
        projects = {best.standing.project, later.standing.project} - {None}
        is_later = later.standing.position > best.standing.position
        # each project decides for itself, and what is preferred stays first
        if is_later and len(projects) < 2 and len(best.met) <= len(later.met):
            pair = (best.rowid, later.rowid)
            one, other = sorted(chunks[row] for row in pair)
            if (
                one not in vectors
                or other not in vectors
                or not language_familiarity(usual[one])
            ):
                continue
            cosine = float(evidence.index.scaled(vectors[one] @ vectors[other]))
            if cosine - usual[one] > least * (1 - usual[one]):
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


def _keeps_names(evidence: Evidence, earlier: str, later: str) -> bool:
    """True if the later text holds each name and number that the question and the first text
    share: Rome is not Paris.
    """
    question = evidence.request.parsed.text
    names = evidence.stems(" ".join(NAME.findall(f"{question}\n{earlier}")))
    shared = names & evidence.stems(question) & evidence.stems(earlier)
    return shared <= evidence.stems(later)
