"""What the words of a question show: named patterns of `data/words/questions.toml`; `decide.py` draws the conclusions.

Patterns see the question on one line in lower case, without the words that only ask to be told; patterns in `WRITTEN`
see it as it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..lexicon import DAY_NAMES, MONTHS, STOP_WORDS, Words, compiled

QUESTIONS = Words("questions")

NO_NAMES = STOP_WORDS.union(MONTHS, DAY_NAMES, QUESTIONS.small_talk)
"""Words that name nobody and nothing, even with a capital."""


@dataclass(frozen=True, slots=True)
class EntityMention:
    """`type` is person, location, organization, project, event, tool, file, tag or unknown."""

    name: str
    type: str


class Question:
    """One line of text, its entities, and whether it names a range of time."""

    def __init__(self, written: str, entities: tuple[EntityMention, ...], *, has_range: bool) -> None:
        plain = compiled(QUESTIONS.pattern("asking_to_be_told"), re.IGNORECASE).sub("", written, count=1) or written
        self.written = compiled(QUESTIONS.pattern("short_is"), re.IGNORECASE).sub(r"\1 is", plain)
        self.line = self.written.lower()
        self.entities, self.has_range = entities, has_range
        self._features, self._written = QUESTIONS.patterns("features"), QUESTIONS.patterns("written")

    def find(self, feature: str, start: int = 0) -> re.Match[str] | None:
        """Where the feature shows first from that character on."""
        if feature in self._written:
            return compiled(self._written[feature]).search(self.written, start)
        return compiled(self._features[feature]).search(self.line, start)

    def shows(self, *features: str, start: int = 0) -> bool:
        """Whether any of the features shows from that character on."""
        return any(self.find(feature, start) for feature in features)

    def count(self, feature: str, start: int = 0) -> int:
        """How often the feature shows from that character on."""
        return sum(1 for _ in compiled(self._features[feature]).finditer(self.line, start))
