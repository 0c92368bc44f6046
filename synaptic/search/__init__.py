"""Answers a question with ranked entries.

`search.py` is where to begin: it understands the question, retrieves passages, scores and reads them.
`retrieve` asks the index, `scoring` fuses the lists, `smart` asks several questions instead of one.
"""
