"""Reads the time that a text names ("last Tuesday", "in March", "two weeks ago").

`find.py` is where to begin: it looks for the first time in a text, or reads a text as one time.
`line.py` splits the text into words, `days.py` does the arithmetic, `tables.py` holds word lists.
"""

from .find import LOOKED_AT, TimeRange, find_time, is_recent, read_time

__all__ = ["LOOKED_AT", "TimeRange", "find_time", "is_recent", "read_time"]
