"""Rewrites a note so that it can be understood by itself: times get dates, pronouns get names.

`rewrite.py` is where to begin: it runs `times` and then `pronouns`, and says what they changed.
Word lists are in `data/words/notes.toml` and `times.toml`.
"""
