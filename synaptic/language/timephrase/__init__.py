"""Reads the time that a text names ("last Tuesday", "in March", "two weeks ago").

`table.py` is where to begin: its rows say how a time is named and which days it means.
`find.py` looks for the first time in a text, or reads a text as one time. `typed.py` reads
the times of options, with a time of the day.
"""
