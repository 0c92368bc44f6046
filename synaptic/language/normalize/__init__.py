"""Rewrites a note so that it can be understood by itself: times get dates, pronouns get names.

`rewrite.py` is where to begin: it runs `times` and then `pronouns`, and says what they changed.
Modules named `*_words` hold word lists.
"""

from .change import MAX_LENGTH, Change
from .pronouns import resolve_pronouns
from .rewrite import Normalized, normalize
from .times import anchor_times

__all__ = ["MAX_LENGTH", "Change", "Normalized", "anchor_times", "normalize", "resolve_pronouns"]
