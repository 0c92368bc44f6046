"""A question as the rules see it."""

from __future__ import annotations

import re

from ..patterns import compiled
from .features import FEATURES, WRITTEN
from .shapes import EntityMention


class Question:
    """One line of text, what it names, and whether it names a range of time."""

    def __init__(self, written: str, entities: tuple[EntityMention, ...], *, has_range: bool) -> None:
        self.written, self.line = written, written.lower()
        self.entities, self.has_range = entities, has_range

    def find(self, feature: str) -> re.Match[str] | None:
        """Where the feature shows first."""
        if feature in WRITTEN:
            return compiled(WRITTEN[feature]).search(self.written)
        return compiled(FEATURES[feature]).search(self.line)

    def shows(self, *features: str) -> bool:
        """Whether any of the features shows."""
        return any(self.find(feature) for feature in features)

    def count(self, feature: str, start: int = 0) -> int:
        """How often the feature shows from that character on."""
        return sum(1 for _ in compiled(FEATURES[feature]).finditer(self.line, start))
