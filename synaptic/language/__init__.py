"""Words, times and questions in English: rules and word lists, without a model, a file or a
clock.

`query.py` is where to begin: it takes a search's text apart into words, phrases and filters.
`timephrase/` reads times, `analysis/` reads questions, `normalize` makes a note readable by
itself.
"""
