"""The time that a text names: `find.py` is where to begin."""

from .find import LOOKED_AT, TimeRange, find_time, is_recent, read_time
from .typed import Typed, read_typed

__all__ = ["LOOKED_AT", "TimeRange", "Typed", "find_time", "is_recent", "read_time", "read_typed"]
