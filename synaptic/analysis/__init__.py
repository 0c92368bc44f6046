"""What a question asks for: `analyze.py` is where to begin."""

from .analyze import READ_CHARACTERS, analyze
from .shapes import Analysis, EntityMention, Keyword, Known, NoteReading, Plan, SubQuery, Target

__all__ = [
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
]
