"""The analysis of a question: what every search asks of it, and what `analyze` shows besides.

`asked.py` is where to begin: time, types and names of the journal. `plan.py` says how the question is searched.
`analyze.py` adds type, complexity, entities and keywords; `shapes.py` holds the values that it answers with.
"""

from .asked import Asked, Known, asked_of, types_alone
from .plan import Plan, SubQuery, form_of, is_name, plan_of
from .shapes import Analysis, Keyword, NoteReading

__all__ = [
    "Analysis",
    "Asked",
    "Keyword",
    "Known",
    "NoteReading",
    "Plan",
    "SubQuery",
    "asked_of",
    "form_of",
    "is_name",
    "plan_of",
    "types_alone",
]
