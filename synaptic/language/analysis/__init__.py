"""The analysis of a question: what every search asks of it, and what `analyze` shows besides.

`asked.py` is where to begin: time, types and names of the journal. `plan.py` says how the
question is searched. `analyze.py` adds type, complexity, entities and keywords; `shapes.py`
holds the values that it answers with.
"""
