"""What a question asks for: `analyze.py` is where to begin."""

from .analyze import READ_CHARACTERS, analyze
from .features import NO_NAMES
from .keywords import types_alone
from .shapes import Analysis, EntityMention, Keyword, Known, NoteReading, Plan, SubQuery, Target

__all__ = [
    "NO_NAMES",
    "READ_CHARACTERS",
    "Analysis",
    "EntityMention",
    "Keyword",
    "Known",
    "NoteReading",
    "Plan",
    "SubQuery",
    "Target",
    "analyze",
    "types_alone",
]
