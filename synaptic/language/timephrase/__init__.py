"""Reads the time that a text names ("last Tuesday", "in March", "two weeks ago").

`find.py` is where to begin: it looks for the first time in a text, or reads a text as one time.
`line.py` splits the text into words with their meanings, `periods.py` reads one period,
`days.py` does the arithmetic.
"""
