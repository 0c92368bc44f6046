"""The adjustments of the candidates of a search, best first; each keeps that order.

| adjustment       | effect                                      | measured by               |
|------------------|---------------------------------------------|---------------------------|
| `speakers_first` | lines of a named person count more          | `- who speaks`            |
| `near_enough`    | those less similar than asked are dropped   | the user asks for it      |
| `later_first`    | of two on one topic the later comes first   | `- later first`           |
| `set_back`       | other projects, gone branches, expired ones | projects.json             |
| `newest_fitting` | the newest comes first, where asked for     | by eye                    |
| `phrases_first`  | entries with a quoted phrase come first     | the user asks for it      |
| `copies_behind`  | conflict copies stand behind originals      | the format promises it    |
| `told_once`      | equal passages of two files take one place  | by eye                    |

A row of `scripts/bench.py panel`, `who speaks`, is the default search without the rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import combinations

from ..index.rows import units
from ..language.lexicon import STOP_WORDS
from ..language.words import words
from ..models import Filters
from ..notes.copies import copied_from
from ..workspace.changes import has_expired, of_project
from ..workspace.git import fate_of
from .evidence import Evidence
from .fuse import STRANGE
from .near import NAME
from .ranking import Ranked, Ranking, best_first, in_order, newest_of_a_topic_first

SPEAKS, LONGEST_LABEL = 4, 40
"""How many titles must begin with the same label and a colon (`Ada: `) for it to name a
speaker, and how many
characters a label may have. By eye."""

FITTING = 0.8
"""Where the newest is asked for, an entry fits from this share of the best BM25 on. By eye."""

AWAY, GONE, EXPIRED, SESSION = 0.6, 0.9, 0.5, 0.9
"""What an entry counts that is not of the asker's project, one whose branch is gone, one that
has expired, and what the digest of a session counts.

The first is chosen on half of tests/data/projects.json: .4 and .5 lose what only another
project knows. The others are by eye.
"""

ASSISTANT = "assistant"
ROLES = ("user", ASSISTANT)
"""Speakers of a chat that are written without a capital."""

UNNAMED = 0.5
"""What an entry counts that is not said by somebody the question names, where others are.
Chosen on LoCoMo, 1 to 3.
"""

ASKS_ASSISTANT = re.compile(
    r"(?i)\b(assistant|did you|you (said|told|gave|suggest|recommend|advise))"
)
"""In a question for what an assistant said. Chosen on BEAM, 1 to 5."""

TOP = 10
"""Entries that can change places. By eye."""

ALIKE = 0.58
"""Two entries are on one topic from this closeness on: 0 as usual, 1 the same.

Chosen on freshness.json, the even cases of corrections.json (tests/data) and the panel.
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
    ranked = phrases_first(ranked, evidence)
    return told_once(copies_behind(ranked, evidence), evidence)


def phrases_first(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """Entries that hold a quoted phrase, then the others."""
    phrases = evidence.request.parsed.phrases
    if not phrases:
        return ranked
    rowids = [r.rowid for r in ranked]
    holding = evidence.ws.index.passing(Filters(words=phrases), rowids)
    return sorted(ranked, key=lambda r: r.rowid not in holding)


def speakers_first(
    ranked: Ranking,
    evidence: Evidence,
) -> Ranking:
    """An entry counts for more if the question names its speaker, and less if an assistant
    says it, unless that is asked for: people ask for what they said themselves.

    Both the titles and the question write a speaker with a capital: `Ada: the pool is 40 now`.
    `fix: ...` names nobody.
    """
    if not (evidence.config.speakers and evidence.request.fuses):
        return ranked
    text = evidence.request.parsed.text
    asked = {word for start, word in words(text) if text[start].isupper()} - STOP_WORDS
    said = speakers(ranked)
    named = set()
    for label in said.values():
        if not asked.isdisjoint(word for _, word in words(label)):
            named.add(label)
    others = {ASSISTANT} - named
    if ASKS_ASSISTANT.search(text):
        others = set()
    for r in ranked:
        speaker = said.get(r.rowid)
        if speaker in others or (named and speaker not in named):
            r.score *= UNNAMED
    return best_first(ranked)


def speakers(ranked: Ranking) -> dict[int, str]:
    """Who says each entry that is a turn of a talk: the label of SPEAKS titles or more."""
    labels = {}
    for r in ranked:
        title = r.standing.title[:LONGEST_LABEL].replace("：", ": ")
        label, colon, _ = title.partition(": ")
        if colon and (label in ROLES or not label[:1].islower()):
            labels[r.rowid] = label
    counts = Counter(labels.values())
    return {row: label for row, label in labels.items() if counts[label] >= SPEAKS}


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

    The two exchange their places and scores. The turns of a talk stay: a later
    one corrects no earlier one (LoCoMo and BEAM lose .004 to .013).
    """
    if evidence.vector is None or not evidence.config.later_first:
        return ranked
    turns = speakers(ranked)
    first = [r for r in ranked[:TOP] if r.standing.dated and r.rowid not in turns]
    chunks = {r.rowid: evidence.chunk(r.rowid, near=True) for r in first}
    vectors = evidence.ws.index.vectors(list(chunks.values()))
    same_topic = []
    for best, later in combinations(first, 2):
        projects = {best.standing.project, later.standing.project} - {None}
        is_later = later.standing.position > best.standing.position
        # each project decides for itself, and what is preferred stays first
        if is_later and len(projects) < 2 and len(best.met) <= len(later.met):
            pair = (best.rowid, later.rowid)
            places = sorted(chunks[row] for row in pair)
            stored = [vectors[chunk] for chunk in places if chunk in vectors]
            if _is_near(evidence, stored) and _keeps_names(evidence, pair):
                same_topic.append(pair)
    positions = {r.rowid: r.standing.position for r in first}
    order = newest_of_a_topic_first(list(positions), same_topic, positions)
    scores = [r.score for r in first]
    first.sort(key=lambda r: order.index(r.rowid))
    for r, score in zip(first, scores, strict=True):
        r.score = score
    return best_first(ranked)


def _is_near(
    evidence: Evidence,
    stored: Sequence[bytes],
) -> bool:
    """True if two stored vectors are much nearer to each other than usual."""
    if len(stored) < 2:
        return False
    one, other = units(stored)
    usual, _ = evidence.usual_cosine(one)
    nearer = float(evidence.ws.index.scaled(one @ other)) - usual
    return usual < STRANGE and nearer > ALIKE * (1 - usual)


def _keeps_names(
    evidence: Evidence,
    pair: tuple[int, int],
) -> bool:
    """True if the later entry holds each name and number that the question and the first entry
    share: Rome is not Paris.
    """
    question = evidence.request.parsed.text
    passages = evidence.passages(pair, near=True)
    [said, said_later] = [passages[row][1] for row in pair]
    names = evidence.stems(" ".join(NAME.findall(f"{question}\n{said}")))
    shared = names & evidence.stems(question) & evidence.stems(said)
    return shared <= evidence.stems(said_later)
