"""Answers a question with ranked entries.

`search.py` is where to begin: it checks the question; `pipeline.py` lists the steps that answer
it, and `passes.py` the rules that change the question, the order or the answer. `evidence`
fetches what they need; `smart` asks several queries instead of one.
"""
