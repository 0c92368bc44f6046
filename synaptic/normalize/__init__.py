"""A note as it reads by itself: `rewrite.py` is where to begin."""

from .change import MAX_LENGTH, Change
from .rewrite import Normalized, normalize
from .times import anchor_times

__all__ = ["MAX_LENGTH", "Change", "Normalized", "anchor_times", "normalize"]
