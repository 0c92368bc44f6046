"""The adjustments of the candidates of a search, best first; each keeps that order.

| adjustment       | effect                                      | measured by               |
|------------------|---------------------------------------------|---------------------------|
| `near_enough`    | those less similar than asked are dropped   | the user asks for it      |
| `later_first`    | of two on one topic the later comes first   | `bench.py freshness`      |
| `set_back`       | other projects, gone branches, expired ones | projects.json             |
| `phrases_first`  | entries with a quoted phrase come first     | the user asks for it      |
| `copies_behind`  | conflict copies stand behind originals      | the format promises it    |
| `told_once`      | equal passages of two files take one place  | by eye                    |
"""

from ..filters import Filters
from ..kinds import has_expired
from ..workspace.changes import of_project
from ..workspace.git import fate_of
from .equal_hits import copies_behind, told_once
from .evidence import Evidence
from .later import later_first
from .ranking import Ranking, best_first

AWAY, GONE, EXPIRED, SESSION = 0.6, 0.9, 0.5, 0.9
"""Factors of a score: for an entry of another project, for one whose branch is gone, for one
that has expired, and for the digest of a session. The first is chosen on half of
tests/data/projects.json: .4 and .5 lose what only another project knows. The others are by eye.
"""


def adjusted(ranked: Ranking, evidence: Evidence) -> Ranking:
    """The candidates of all queries of a search in their last order."""
    request = evidence.request
    ranked = near_enough(ranked, evidence)
    if request.fuses:
        ranked = later_first(ranked, evidence)
    if request.strategy != "bounded" or request.weights:
        ranked = set_back(ranked, evidence)
    ranked = phrases_first(ranked, evidence)
    return told_once(copies_behind(ranked, evidence), evidence)


def phrases_first(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Entries that hold a quoted phrase, then the others."""
    phrases = evidence.request.parsed.phrases
    if not phrases:
        return ranked
    rowids = [r.rowid for r in ranked]
    holding = evidence.index.passing(Filters(words=phrases), rowids)
    return sorted(ranked, key=lambda r: r.rowid not in holding)


def near_enough(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Without entries that are less similar than asked; an entry without a vector stays."""
    least = evidence.request.min_similarity
    if least is None:
        return ranked
    return [r for r in ranked if r.similarity is None or r.similarity >= least]


def set_back(ranked: Ranking, evidence: Evidence) -> Ranking:
    """The ranking, best first, in which these count less: expired entries, digests of sessions,
    and entries of this checkout's project whose branch is gone without a visible merge. Without
    weights also entries of other projects, if the asker's project has some.
    """
    request = evidence.request
    here = evidence.request.here
    today = request.now.date().isoformat()
    standings = [r.standing for r in ranked]
    is_known = request.project in {one.project for one in standings}
    own = request.project if is_known and not request.weights else None
    gone = set()
    if here:
        branches = {one.branch for one in standings if of_project(one.project, here)}
        gone = {branch for branch in branches if branch and fate_of(branch, here) == "gone"}
    for r in ranked:
        standing = r.standing
        if own not in (None, standing.project):
            r.score *= AWAY
        elif standing.branch in gone:
            r.score *= GONE
        if standing.of_session:
            r.score *= SESSION
        if has_expired(standing.expires, today):
            r.score *= EXPIRED
    return best_first(ranked)
