"""The analysis of a question: what every search asks of it, and what `analyze` shows besides.

`asked.py` is where to begin: the time and the list that are asked for. `plan.py` says how the
question is searched. `analyze.py` adds type, complexity, intent and names.
"""
