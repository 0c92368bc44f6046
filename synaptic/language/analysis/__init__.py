"""The analysis of a question: its type, its keywords, the names in it, the plan to answer it.

`analyze.py` is where to begin: `analyze` asks the other modules, each for one part of the answer.
`shapes.py` holds the values that it answers with; `name_words.py` and `features.py` hold words.
"""

from .analyze import READ_CHARACTERS, analyze
from .keywords import types_alone
from .name_words import NO_NAMES
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
