"""Rewrites a note so that it can be understood by itself: times get dates, pronouns get names.

`rewrite.py` is where to begin: it dates the times, asks `pronouns` for names, and says what was
changed. Word lists are in `data/words/notes.toml` and `times.toml`.
"""
