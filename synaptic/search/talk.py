"""The turns of a talk: who says each, and whom the question names."""

import re
from collections import Counter

from ..language.lexicon import STOP_WORDS
from ..language.words import words
from .evidence import Evidence
from .ranking import Ranking, sort_by_score

SPEAKS, LONGEST_LABEL = 4, 40
"""How many titles must begin with the same label and a colon (`Ada: `) for it to name a
speaker, and how many
characters a label may have. By eye."""

ASSISTANT = "assistant"
ROLES = ("user", ASSISTANT)
"""Speakers of a chat that are written without a capital."""

UNNAMED = 0.5
"""The factor of the score of an entry by a speaker whom the question does not name, if it names
another. Chosen on LoCoMo, 1 to 3.
"""

ASKS_ASSISTANT = re.compile(
    r"(?i)\b(assistant|did you|you (said|told|gave|suggest|recommend|advise))"
)
"""In a question for what an assistant said. Chosen on BEAM, 1 to 5."""


def favour_named_speakers(ranked: Ranking, evidence: Evidence) -> Ranking:
    """An entry counts for more if the question names its speaker, and less if an assistant
    says it, unless that is asked for: people ask for what they said themselves.

    Both the titles and the question write a speaker with a capital: `Ada: the pool is 40 now`.
    `fix: ...` names nobody.
    """
    text = evidence.request.parsed.text
    asked = {word for start, word in words(text) if text[start].isupper()} - STOP_WORDS
    labels = speaker_by_entry(ranked)
    named = set()
    for label in labels.values():
        if not asked.isdisjoint(word for _, word in words(label)):
            named.add(label)
    others = {ASSISTANT} - named
    if ASKS_ASSISTANT.search(text):
        others = set()
    for r in ranked:
        speaker = labels.get(r.rowid)
        if speaker in others or (named and speaker not in named):
            r.score *= UNNAMED
    return sort_by_score(ranked)


def speaker_by_entry(ranked: Ranking) -> dict[int, str]:
    """The speaker of each turn of a talk: the label of SPEAKS titles or more."""
    labels = {}
    for r in ranked:
        title = r.standing.title[:LONGEST_LABEL].replace("：", ": ")
        label, colon, _ = title.partition(": ")
        if colon and (label in ROLES or not label[:1].islower()):
            labels[r.rowid] = label
    counts = Counter(labels.values())
    return {row: label for row, label in labels.items() if counts[label] >= SPEAKS}
