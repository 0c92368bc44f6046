"""The adjustments of a ranking: each takes candidates, best first, and the evidence, and
returns them in its order.

| adjustment       | what it does                                      | when                      | measured by     |
|------------------|---------------------------------------------------|---------------------------|-----------------|
| `beside`         | entries beside good ones in a file count more     | lists are fused           | `- neighbours`  |
| `faded`          | old entries count less                            | ranks are fused           | `- decay`       |
| `weighed`        | the score is the weighted mean of the signals     | weights are given         |                 |
| `within_dates`   | of the best 100 by meaning those within the dates | strategy `bounded`        |                 |
| `speakers_first` | what a named person says counts more              | the candidates are a talk | `- who speaks`  |
| `near_enough`    | drops what is less similar than asked             | `min_similarity` is given |                 |
| `set_back`       | other projects, gone branches, what has expired   | always                    | projects.json   |
| `newest_fitting` | the newest of what fits comes first               | the newest is asked for   | by eye          |
| `later_first`    | of two on one topic the later comes first         | by meaning; see topic.py  | `- later first` |
| `in_order`       | the best, in the order that was asked for         | always, last              |                 |

What measured a rule is a row of `scripts/bench.py quality`: the default search without it. The
others are the user's choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import compress
from operator import itemgetter, not_
from typing import TypeAlias

from ..language.lexicon import STOP_WORDS
from ..language.words import words
from ..models import Order
from ..notes.copies import copied_from, numbered_of
from ..workspace.changes import has_expired, of_project
from ..workspace.git import fate_of
from .evidence import Evidence
from .ranking import Ranked, decay, weighted

Adjustment: TypeAlias = Callable[[Sequence[Ranked], Evidence], Sequence[Ranked]]

BOUNDED_BEST = 100
"""Candidates of a bounded search: DESIGN, section 6."""

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


def best_first(ranked: Sequence[Ranked], _: Evidence | None = None) -> list[Ranked]:
    """By score; of equals the later."""
    return sorted(ranked, key=lambda r: (r.score, r.standing.position), reverse=True)


def beside(ranked: Sequence[Ranked], evidence: Evidence) -> list[Ranked]:
    """An entry gains a share of the scores of the entries before and after it in its file, over
    the best possible.
    """
    share, scores = (
        evidence.config.neighbours,
        {r.standing.position[2:]: r.score for r in ranked},
    )
    found = []
    for r in ranked:
        path, place = r.standing.position[2:]
        around = scores.get((path, place - 1), 0.0) + scores.get((path, place + 1), 0.0)
        found.append(r._replace(score=(r.score + share * around) / (1 + 2 * share)))
    return found


def faded(ranked: Sequence[Ranked], evidence: Evidence) -> list[Ranked]:
    """Old entries count less, but for references and pages that only their file dates."""
    half_life, floor = evidence.config.half_life_days, evidence.config.decay_floor
    found = []
    for r in ranked:
        lasting = r.standing.type == "reference" or not r.standing.dated
        fading = 1.0 if lasting else decay(r.age_days, half_life_days=half_life, floor=floor)
        found.append(r._replace(score=r.score * fading, decay=fading))
    return found


def weighed(ranked: Sequence[Ranked], evidence: Evidence) -> list[Ranked]:
    """The score is the weighted mean of the signals."""
    return [
        r._replace(score=weighted(r.signals, evidence.request.weights or {})) for r in ranked
    ]


def within_dates(ranked: Sequence[Ranked], evidence: Evidence) -> list[Ranked]:
    """The entries that pass the filters, dates included, newest first. The score is the cosine,
    else the BM25 share.
    """
    near = [r._replace(score=r.similarity or r.lexical or 0.0) for r in ranked]
    passing = evidence.ws.index.passing(evidence.request.filters, [r.rowid for r in near])
    return in_order([r for r in near if r.rowid in passing], "newest")


def speakers_first(ranked: Sequence[Ranked], evidence: Evidence) -> Sequence[Ranked]:
    """The ranking, best first, in which an entry counts for more if the question names its
    speaker.

    The speaker stands before a colon, in SPEAKS titles or more: `Ada: the pool is 40 now`. Both
    the titles and the question write a speaker with a capital; `fix: ...` names nobody.
    """
    if not evidence.config.speakers:
        return ranked
    labels: dict[int, frozenset[str]] = {}
    for r in ranked:
        label, colon, _ = r.standing.title[:LONGEST_LABEL].partition(": ")
        if colon and label[:1].isupper():
            labels[r.rowid] = _words_of(label)
    text = evidence.request.parsed.text
    asked = {word for start, word in words(text) if text[start].isupper()} - STOP_WORDS
    often = Counter(labels.values())
    named = {label for label in often if often[label] >= SPEAKS and not asked.isdisjoint(label)}
    if not named:
        return ranked
    return best_first(
        [
            r if labels.get(r.rowid) in named else r._replace(score=UNNAMED * r.score)
            for r in ranked
        ]
    )


@lru_cache(maxsize=512)
def _words_of(label: str) -> frozenset[str]:
    return frozenset(word for _, word in words(label))


def near_enough(ranked: Sequence[Ranked], evidence: Evidence) -> Sequence[Ranked]:
    """Without entries that are less similar than asked; an entry without a vector stays."""
    least = evidence.request.min_similarity
    if least is None:
        return ranked
    return [r for r in ranked if r.similarity is None or r.similarity >= least]


def set_back(ranked: Sequence[Ranked], evidence: Evidence) -> Sequence[Ranked]:
    """The ranking, best first, in which these count less: expired entries, digests of sessions,
    and entries of this checkout's project whose branch is gone without a visible merge. Without
    weights also entries of other projects, if the asker's project has some.
    """
    request, here, today = (
        evidence.request,
        evidence.request.here,
        evidence.request.now.date().isoformat(),
    )
    known = {r.standing.project for r in ranked}
    own = request.project if request.project in known and not request.weights else None
    branches = {
        r.standing.branch for r in ranked if here and of_project(r.standing.project, here)
    }
    gone = {
        branch for branch in branches if here and branch and fate_of(branch, here) == "gone"
    }
    found = []
    for r in ranked:
        share = (
            AWAY
            if own not in (None, r.standing.project)
            else GONE
            if r.standing.branch in gone
            else 1.0
        )
        share *= SESSION if r.standing.of_session else 1.0
        share *= EXPIRED if has_expired(r.standing.expires, today) else 1.0
        found.append(r._replace(score=share * r.score) if share < 1 else r)
    return ranked if found == ranked else best_first(found)


def copies_behind(ranked: Sequence[Ranked], evidence: Evidence) -> Sequence[Ranked]:
    """Copies that two machines left of a file stand behind what they are copies of."""
    places = {(r.standing.path, r.standing.title): number for number, r in enumerate(ranked)}
    paths = {r.standing.path for r in ranked}
    read = cache(evidence.ws.journal.read)
    order: list[tuple[float, Ranked]] = []
    for number, r in enumerate(ranked):
        path, title = r.standing.path, r.standing.title
        original = copied_from(path, paths, read)
        below = number
        if original:
            titles = [title]
            if original == numbered_of(path):
                titles.append(title[:-2])  # a title may be made of the file's name
            known = (places[original, name] for name in titles if (original, name) in places)
            below = next(known, number)
        order.append((below + 0.5 if below > number else number, r))
    return [r for _, r in sorted(order, key=itemgetter(0))]


def newest_fitting(ranked: Sequence[Ranked], evidence: Evidence) -> Sequence[Ranked]:
    """Entries that hold the words nearly as well as the best, newest first; then the rest."""
    if not evidence.request.recent:
        return ranked
    today = evidence.request.now.date().isoformat()
    fits = [
        (r.lexical or 0.0) >= FITTING and not has_expired(r.standing.expires, today)
        for r in ranked
    ]
    return [
        *in_order(list(compress(ranked, fits)), "newest"),
        *compress(ranked, map(not_, fits)),
    ]


def in_order(ranked: Sequence[Ranked], order: Order) -> list[Ranked]:
    """The same entries in this order; of equals the newest first, and undated ones last."""
    if order == "relevance":
        return list(ranked)
    by_time = sorted(ranked, key=lambda r: r.standing.position, reverse=order != "oldest")
    by_time.sort(key=lambda r: not r.standing.dated)
    if order == "importance":
        by_time.sort(key=lambda r: r.signals.importance, reverse=True)
    elif order == "access":
        by_time.sort(key=lambda r: r.standing.accesses, reverse=True)
    return by_time
