"""The adjustments of the candidates of a search, best first; each keeps that order.

| adjustment       | effect                                      | measured by               |
|------------------|---------------------------------------------|---------------------------|
| `speakers_first` | lines of a named person count more          | `- who speaks`            |
| `near_enough`    | those less similar than asked are dropped   | the user asks for it      |
| `later_first`    | of two on one topic the later comes first   | `- later first`, topic.py |
| `set_back`       | other projects, gone branches, expired ones | projects.json             |
| `newest_fitting` | the newest comes first, where asked for     | by eye                    |
| `copies_behind`  | conflict copies stand behind originals      | the format promises it    |

A row of `scripts/bench.py quality`, `- who speaks`, is the default search without the rule.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from ..language.lexicon import STOP_WORDS
from ..language.words import words
from ..notes.copies import copied_from
from ..workspace.changes import has_expired, of_project
from ..workspace.git import fate_of
from .evidence import Evidence
from .ranking import Ranked, best_first, in_order
from .topic import later_first

SPEAKS, LONGEST_LABEL = 4, 40
"""How many titles must begin with the same label and a colon (`Ada: `) for it to name a
speaker, and how many
characters a label may have. By eye."""

FITTING = 0.8
"""Where the newest is asked for, an entry fits from this share of the best BM25 on. By eye."""

AWAY, GONE, EXPIRED, SESSION = 0.5, 0.9, 0.5, 0.9
"""What an entry counts that is not of the asker's project, one whose branch is gone, one that
has expired, and what the digest of a session counts.

The first is chosen on half of tests/data/projects.json: .4 and the list of preferences lose
what only another project knows. The others are by eye.
"""

UNNAMED = 0.5
"""What an entry counts that is not said by somebody the question names, where others are.
Chosen on LoCoMo, 1 to 3.
"""


def adjusted(ranked: list[Ranked], evidence: Evidence) -> list[Ranked]:
    """The candidates of all queries of a search in their last order."""
    request = evidence.request
    ranked = near_enough(ranked, evidence)
    if request.fuses:
        ranked = later_first(ranked, evidence)
    if request.strategy != "bounded" or request.weights:
        ranked = set_back(ranked, evidence)
    if request.fuses and request.recent:
        ranked = newest_fitting(ranked, evidence)
    return copies_behind(ranked, evidence)


def speakers_first(ranked: list[Ranked], evidence: Evidence) -> list[Ranked]:
    """An entry counts for more if the question names its speaker.

    The speaker stands before a colon, in SPEAKS titles or more: `Ada: the pool is 40 now`. Both
    the titles and the question write a speaker with a capital; `fix: ...` names nobody.
    """
    if not (evidence.config.speakers and evidence.request.fuses):
        return ranked
    labels = {}
    for r in ranked:
        label, colon, _ = r.standing.title[:LONGEST_LABEL].partition(": ")
        if colon and label[:1].isupper():
            labels[r.rowid] = label
    text = evidence.request.parsed.text
    asked = {word for start, word in words(text) if text[start].isupper()} - STOP_WORDS
    named = set()
    for label, count in Counter(labels.values()).items():
        if count >= SPEAKS and not asked.isdisjoint(word for _, word in words(label)):
            named.add(label)
    if named:
        for r in ranked:
            if labels.get(r.rowid) not in named:
                r.score *= UNNAMED
    return best_first(ranked)


def near_enough(ranked: list[Ranked], evidence: Evidence) -> list[Ranked]:
    """Without entries that are less similar than asked; an entry without a vector stays."""
    least = evidence.request.min_similarity
    if least is None:
        return ranked
    return [r for r in ranked if r.similarity is None or r.similarity >= least]


def set_back(ranked: list[Ranked], evidence: Evidence) -> list[Ranked]:
    """The ranking, best first, in which these count less: expired entries, digests of sessions,
    and entries of this checkout's project whose branch is gone without a visible merge. Without
    weights also entries of other projects, if the asker's project has some.
    """
    request, here = evidence.request, evidence.request.here
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


def copies_behind(ranked: list[Ranked], evidence: Evidence) -> list[Ranked]:
    """Copies that two machines left of a file stand behind the originals of their entries."""
    places = {(r.standing.path, r.standing.title): place for place, r in enumerate(ranked)}
    paths = {path for path, _ in places}
    read = cache(evidence.ws.journal.read)
    order = {}
    for place, r in enumerate(ranked):
        original, title = copied_from(r.standing.path, paths, read), r.standing.title
        order[r.rowid] = float(place)
        for name in (title, title[:-2]):  # a title may be made of the file's name
            if original and places.get((original, name), -1) > place:
                order[r.rowid] = places[original, name] + 0.5
    return sorted(ranked, key=lambda r: order[r.rowid])


def newest_fitting(ranked: list[Ranked], evidence: Evidence) -> list[Ranked]:
    """Entries that hold the words nearly as well as the best, newest first; then the rest."""
    today = evidence.request.now.date().isoformat()
    fitting: list[Ranked] = []
    others: list[Ranked] = []
    for r in ranked:
        fits = (r.lexical or 0.0) >= FITTING and not has_expired(r.standing.expires, today)
        (fitting if fits else others).append(r)
    return in_order(fitting, "newest") + others
