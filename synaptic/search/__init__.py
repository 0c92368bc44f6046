"""Answers a question with ranked entries.

`search.py` is where to begin: it checks the question; `pipeline.py` lists the steps that answer
it. `evidence` fetches what they need, `adjust` holds the rules of ranking, `smart` asks several
queries instead of one.
"""
