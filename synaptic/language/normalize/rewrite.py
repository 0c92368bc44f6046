"""A note as it reads by itself: dates for "yesterday", names for "she" and "it". Pure, English, without a model.

| in a note of Saturday 2026-11-21     | reads                                        |
|--------------------------------------|----------------------------------------------|
| yesterday, 3 days ago, last Tuesday  | 2026-11-20, 2026-11-18, 2026-11-17           |
| last week                            | 2026-11-09 to 2026-11-15                     |
| last month, last year                | 2026-10, 2025                                |
| Anna is ill. She called.             | Anna is ill. Anna called.                    |
| We moved to Redis. It is fast.       | We moved to Redis. Redis is fast.            |

A wrong name is worse than a pronoun that stays: whatever could mean two things is left as it is. Code, links,
comments and quotations are never touched (`shown`). Every pattern is bounded, so that no text takes long.
"""

from __future__ import annotations

from datetime import date

from .shown import Change
from .times import anchor_times


def normalize(text: str, *, on: date) -> tuple[str, tuple[Change, ...]]:
    """The text with its relative times as dates and its unmistakable pronouns as names, and these changes of it.

    `on` is the day on which the note was written. Never raises.
    """
    from .pronouns import resolve_pronouns  # a save that only anchors times needs none of its words

    changes = tuple(sorted((*anchor_times(text, on=on), *resolve_pronouns(text)), key=lambda change: change.start))
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += text[at : change.start], change.now
        at = change.start + len(change.was)
    return "".join([*pieces, text[at:]]), changes
