"""Passes that change the scores or the order of candidates: project, expiry, worth, title."""

from collections.abc import Callable

from ..filters import Filters
from ..kinds import KINDS, has_expired
from ..language.analysis.forms import NAME_OF_CODE
from ..models import DEFAULT_IMPORTANCE, EntryType, Texts
from .evidence import Evidence
from .ranking import Ranked, Ranking, sort_by_score

OTHER_PROJECT = 0.5
"""The factor of the score of an entry of another project than the asker's.

Chosen on half of tests/data/projects.json: .3 loses two of twelve answers that only another
project knows, .6 one of fifteen that both know.
"""

EXPIRED = 0.5
"""The factor of the score of an entry that has expired. By eye."""

PER_STEP, PER_KIND = 0.05, 0.2
"""By how much of its score an entry counts more for each step of importance above the usual
one, and for each step that its kind is worth more than a note.

Chosen on both histories of `bench.py helps`. Progress answers 6 of 108 questions of two other
teams (`bench.py repositories`), all of them for what was done since a day.
"""


def drop_dissimilar(ranked: Ranking, evidence: Evidence) -> Ranking:
    """The ranking without entries whose cosine is below the plan's `min_similarity`; entries
    without a vector are not dropped.
    """
    least = evidence.plan.min_similarity
    if least is None:
        return ranked
    return [r for r in ranked if r.similarity is None or r.similarity >= least]


def is_ordered_by_score(evidence: Evidence) -> bool:
    """True unless the hits are ordered by time, as in a bounded search without weights."""
    plan = evidence.plan
    return plan.strategy != "bounded" or bool(plan.weights)


def lower_other_projects(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Lowers the scores of entries of other projects, if the asker's project is among the
    candidates. A note without a project is of none.
    """
    own = evidence.plan.project
    if own is None or own not in {r.standing.project for r in ranked}:
        return ranked
    return multiply_scores(
        ranked, OTHER_PROJECT, lambda r: r.standing.project not in (own, None)
    )


def lower_expired(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Lowers the scores of expired entries."""
    today = evidence.plan.now.date().isoformat()
    return multiply_scores(ranked, EXPIRED, lambda r: has_expired(r.standing.expires, today))


def asks_what_holds(evidence: Evidence) -> bool:
    """True unless the question asks for what was done: for a time, the newest, or a type."""
    plan = evidence.plan
    prefer = plan.prefer
    asks_for_time = plan.recent or prefer.since or prefer.until
    asks_for_type = plan.filters.types or prefer.types
    return plan.fuses and not (asks_for_time or asks_for_type)


def weigh_by_worth(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Raises the scores of rules and of important entries, lowers those of progress."""
    for r in ranked:
        r.score *= worth_factor(r.standing.type, r.standing.importance)
    return sort_by_score(ranked)


def worth_factor(kind: EntryType, importance: int | None) -> float:
    """The factor of the score of an entry of this type and importance.

    | type       | importance | factor |
    |------------|------------|--------|
    | note       | none, 5    | 1.0    |
    | preference | 8          | 1.35   |
    | progress   | none       | 0.6    |
    """
    steps = 0 if importance is None else importance - DEFAULT_IMPORTANCE
    return 1 + PER_STEP * steps + PER_KIND * (KINDS[kind].worth - KINDS["note"].worth)


def multiply_scores(
    ranked: Ranking, factor: float, counts_less: Callable[[Ranked], bool]
) -> Ranking:
    """Multiplies by `factor` the scores of entries for which `counts_less` is True; returns the
    ranking sorted again.
    """
    for r in ranked:
        if counts_less(r):
            r.score *= factor
    return sort_by_score(ranked)


def put_titled_first(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Entries whose title, page name or alias is the question, in their usual order, then the
    others. An entry that a later one replaced is not put first.
    """
    first = {*evidence.plan.titled}
    best = max((r.score for r in ranked), default=0.0)
    for r in ranked:
        if r.standing.id in evidence.superseded_by:
            first.discard(r.rowid)
        elif r.rowid in first:
            r.score = best
    return sorted(ranked, key=lambda r: r.rowid not in first)


def exact_words(evidence: Evidence) -> Texts:
    """The quoted phrases of the query, the names of code in it, and the one word that it is."""
    parsed = evidence.plan.parsed
    words = parsed.text.split()
    return (*parsed.phrases, *(words if len(words) == 1 else NAME_OF_CODE.findall(parsed.text)))


def put_exact_first(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Moves entries that contain a phrase or a name of code of the query before all others."""
    rowids = [r.rowid for r in ranked]
    holding = evidence.index.filter_entries(Filters(words=exact_words(evidence)), rowids)
    return sorted(ranked, key=lambda r: r.rowid not in holding)
