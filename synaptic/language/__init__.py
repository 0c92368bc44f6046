"""Words, times and questions: rules, and the word lists of `data/words`, without a model, a
journal or a clock.

`query.py` is where to begin: it takes a search's text apart into words, phrases and filters.
`timephrase/` reads times, `analysis/` reads questions, `normalize` makes a note readable by
itself.
"""
