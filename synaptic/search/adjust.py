"""The adjustments of the candidates of a search, best first; each keeps that order.

| adjustment       | effect                                      | measured by               |
|------------------|---------------------------------------------|---------------------------|
| `speakers_first` | lines of a named person count more          | `- who speaks`            |
| `near_enough`    | those less similar than asked are dropped   | the user asks for it      |
| `later_first`    | of two on one topic the later comes first   | `- later first`           |
| `set_back`       | other projects, gone branches, expired ones | projects.json             |
| `newest_fitting` | the newest comes first, where asked for     | by eye                    |
| `copies_behind`  | conflict copies stand behind originals      | the format promises it    |
| `told_once`      | equal passages of two files take one place  | by eye                    |

A row of `scripts/bench.py panel`, `who speaks`, is the default search without the rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

from ..index.rows import units
from ..language.lexicon import STOP_WORDS
from ..language.words import words
from ..notes.copies import copied_from
from ..workspace.changes import has_expired, of_project
from ..workspace.git import fate_of
from .evidence import Evidence
from .near import NAME
from .ranking import Ranked, Ranking, best_first, in_order, newest_of_a_topic_first

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


TOP = 10
"""Entries that can change places. By eye."""

ALIKE, NEARER, ENOUGH = 0.4, 2.0, 0.91
"""The weight of the first sign beside the second, and the sum from which on two entries are on
one topic.

A regression on corrections, on notes that only sound alike (freshness.json and the even cases
of corrections.json in tests/data) and on half of the questions on LoCoMo, BEAM and a project's
log, rounded.
"""


def adjusted(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """The candidates of all queries of a search in their last order."""
    request = evidence.request
    ranked = near_enough(ranked, evidence)
    if request.fuses:
        ranked = later_first(ranked, evidence)
    if request.strategy != "bounded" or request.weights:
        ranked = set_back(ranked, evidence)
    if request.fuses and request.recent:
        ranked = newest_fitting(ranked, evidence)
    return told_once(copies_behind(ranked, evidence), evidence)


def speakers_first(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
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


def near_enough(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """Without entries that are less similar than asked; an entry without a vector stays."""
    least = evidence.request.min_similarity
    if least is None:
        return ranked
    return [r for r in ranked if r.similarity is None or r.similarity >= least]


def set_back(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
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


def copies_behind(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """Copies that two machines left of a file stand behind the originals of their entries."""
    places = {(r.standing.path, r.standing.title): place for place, r in enumerate(ranked)}
    paths = {path for path, _ in places}
    read = cache(evidence.ws.journal.read)
    order = {}
    for place, r in enumerate(ranked):
        original = copied_from(r.standing.path, paths, read)
        title = r.standing.title
        order[r.rowid] = float(place)
        for name in (title, title[:-2]):  # a title may be made of the file's name
            if original and places.get((original, name), -1) > place:
                order[r.rowid] = places[original, name] + 0.5
    return sorted(ranked, key=lambda r: order[r.rowid])


def told_once(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """The ranking without entries whose title, passage and tags an earlier one has too; that
    one has them in `also`.

    A changed letter or number makes another passage. The same words of another project or
    another time are another fact: "Paid the rent." A list leaves nothing out.
    """
    if evidence.request.only_fitting or evidence.request.within is not None:
        return ranked
    chunks = {r.rowid: evidence.chunk(r.rowid) for r in ranked}
    passages = evidence.ws.index.passages(list(chunks.values()))
    first: dict[tuple[object, ...], Ranked] = {}
    for r in ranked:
        standing = r.standing
        passage = passages.get(chunks[r.rowid])
        said_at = None if standing.date_source in ("git", "mtime") else standing.at
        said = passage.hash if passage else standing.id
        best = first.setdefault((said, standing.project, said_at), r)
        if best is not r:
            best.also += (r.rowid,)
    return list(first.values())


def newest_fitting(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """Entries that hold the words nearly as well as the best, newest first; then the rest."""
    today = evidence.request.now.date().isoformat()
    fitting: Ranking = []
    others: Ranking = []
    for r in ranked:
        fits = (r.lexical or 0.0) >= FITTING and not has_expired(r.standing.expires, today)
        (fitting if fits else others).append(r)
    return in_order(fitting, "newest") + others


def later_first(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """The ranking, in which of two entries of the top on one topic the later stands first.

    It takes the other's place, and the score of that place.
    """
    if evidence.vector is None or not evidence.config.later_first:
        return ranked
    first = ranked[:TOP]
    index = evidence.ws.index
    question = evidence.request.parsed.text
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
        passages = evidence.passages(pair, near=True)
        [said, said_later] = [passages[row][1] for row in pair]
        # a name or number that the question and the best text share: Rome is not Paris
        names = evidence.stems(" ".join(NAME.findall(f"{question}\n{said}")))
        shared = names & evidence.stems(question) & evidence.stems(said)
        if shared <= evidence.stems(said_later):
            same_topic.append(pair)
    positions = {r.rowid: r.standing.position for r in first}
    order = newest_of_a_topic_first([r.rowid for r in first], same_topic, positions)
    scores = [r.score for r in first]
    first.sort(key=lambda r: order.index(r.rowid))
    for r, score in zip(first, scores, strict=True):
        r.score = score
    return first + ranked[TOP:]


def _pairs(
    ranked: Ranking,
    meaning: Sequence[float | None],
) -> Iterator[tuple[Ranked, Ranked]]:
    """(entry, a later one that ranks behind it) of entries that are on one topic, by two signs:
    how much nearer to the question the later is than all but these two, and its score over that
    of the other.
    """
    near = [one or 0.0 for one in meaning]
    for one, other in combinations(range(len(ranked)), 2):
        best = ranked[one]
        later = ranked[other]
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
