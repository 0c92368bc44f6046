"""Recorded talks: finds the speaker of each turn, and the speakers that the question names."""

import re
from collections import Counter

from ..language.lexicon import STOP_WORDS
from ..language.words import words
from .evidence import Evidence
from .ranking import Ranking, sort_by_score

SPEAKS, LONGEST_LABEL = 4, 40
"""A label with a colon (`Ada: `) is a speaker if SPEAKS titles begin with it and it has at most
LONGEST_LABEL characters. By eye.
"""

ASSISTANT = "assistant"
ROLES = ("user", ASSISTANT)
"""Speakers in chats that are written without a capital."""

UNNAMED = 0.5
"""The factor of the score of an entry whose speaker the question does not name, if it names
another. Chosen on LoCoMo, 1 to 3.
"""

ASKS_ASSISTANT = re.compile(
    r"(?i)\b(assistant|did you|you (said|told|gave|suggest|recommend|advise))"
)
"""Finds in a question that it asks for the words of an assistant. Chosen on BEAM, 1 to 5."""


def favour_named_speakers(ranked: Ranking, evidence: Evidence) -> Ranking:
    """Lowers the scores of turns by other speakers than the question names, if it names one,
    and of an assistant's turns unless the question asks for them. A note without a speaker
    keeps its score.

    People usually ask for their own words. Titles and the question write a speaker with a
    capital: `Ada: the pool is 40 now`. `fix: ...` names nobody.
    """
    text = evidence.plan.parsed.text
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
        if speaker in others or (named and speaker and speaker not in named):
            r.score *= UNNAMED
    return sort_by_score(ranked)


def speaker_by_entry(ranked: Ranking) -> dict[int, str]:
    """Maps the rows of turns of a talk to their speakers; a label at the beginning of at least
    SPEAKS titles is a speaker.
    """
    labels = {}
    for r in ranked:
        title = r.standing.title[:LONGEST_LABEL].replace("：", ": ")
        label, colon, _ = title.partition(": ")
        if colon and (label in ROLES or not label[:1].islower()):
            labels[r.rowid] = label
    counts = Counter(labels.values())
    return {row: label for row, label in labels.items() if counts[label] >= SPEAKS}
