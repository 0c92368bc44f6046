"""A question as the rules see it."""

from __future__ import annotations

import re

from ..patterns import compiled
from .features import FEATURES, WRITTEN
from .shapes import EntityMention

_ASKING_TO_BE_TOLD = (
    r"^(?:(?:so|and|but|then|also|now|ok|okay|hey|hi|hello|well|sorry|please|in the end|by the way)"
    r"\b[,:]? )*"
    r"(?:(?:can|could|would|will) (?:you|we|anyone|somebody) (?:please )?)?"
    r"(?:(?:tell|remind) me (?!about|of|on)|(?:show|give|find|get) (?:me|us) |(?:find|get|show|check|look up) (?!out)"
    r"|find out |(?:i'd|i would|we'd) (?:like|love|need) to (?:know|see|hear) |i (?:want|need|have) to (?:know|see) "
    r"|(?:do|does) (?:you|we|anyone|anybody|somebody) (?:know|remember|recall) (?!about|if)|let me know )?"
    r"(?:please )?"
)
_SHORT_IS = r"\b(what|who|where|when|why|how)(?:'s|s)\b"


class Question:
    """One line of text, what it names, and whether it names a range of time."""

    def __init__(self, written: str, entities: tuple[EntityMention, ...], *, has_range: bool) -> None:
        plain = compiled(_ASKING_TO_BE_TOLD, re.IGNORECASE).sub("", written, count=1) or written
        self.written = compiled(_SHORT_IS, re.IGNORECASE).sub(r"\1 is", plain)
        self.line = self.written.lower()
        self.entities, self.has_range = entities, has_range

    def find(self, feature: str, start: int = 0) -> re.Match[str] | None:
        """Where the feature shows first from that character on."""
        if feature in WRITTEN:
            return compiled(WRITTEN[feature]).search(self.written, start)
        return compiled(FEATURES[feature]).search(self.line, start)

    def shows(self, *features: str, start: int = 0) -> bool:
        """Whether any of the features shows from that character on."""
        return any(self.find(feature, start) for feature in features)

    def count(self, feature: str, start: int = 0) -> int:
        """How often the feature shows from that character on."""
        return sum(1 for _ in compiled(FEATURES[feature]).finditer(self.line, start))
