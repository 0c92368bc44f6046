"""Whether a time is a filter, and not only a preference: "only from last week", "in May only"."""

from __future__ import annotations

import re

from ..patterns import compiled

_PREPOSITION = r"(?:from|in|of|on|during|within|for|the|since)"
_ONLY = rf"(?:(?:only|strictly|exclusively|solely|nothing but)(?: {_PREPOSITION})*|just(?: {_PREPOSITION})+)"
_BEFORE = rf"\b(?:{_ONLY}|only (?:things|those|the ones|ones|notes|entries|results|what is)(?: {_PREPOSITION})*)\s*$"
_AFTER = r"^,? (?:only|exclusively|and nothing else)\b"
_LEFT = rf"[ ,(]*\b(?:{_ONLY}|and nothing else)(?!\w)"
_LEFT_OVER = rf"(?: {_PREPOSITION})+$"


def is_only(text: str, phrase: str) -> bool:
    """Whether the text names the phrase as a filter."""
    line = text.lower()
    before, found, after = line.partition(phrase.lower())
    return bool(found and (compiled(_BEFORE).search(before[-60:]) or compiled(_AFTER).search(after)))


def without_only(rest: str) -> str:
    """The text from which the phrase was taken, without the words that made it a filter."""
    rest = compiled(_LEFT, re.IGNORECASE).sub("", rest, count=1)
    return compiled(_LEFT_OVER, re.IGNORECASE).sub("", rest).strip(" ,")
