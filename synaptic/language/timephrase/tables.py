"""The words of times: lists of `data/words/times.toml`, and its tables as numbers."""

from __future__ import annotations

from ..lexicon import COUNTS, MONTHS, WEEKDAYS, Words

TIMES = Words("times")

SEASONS, QUARTERS, HALVES = map(TIMES.numbers, ("seasons", "quarters", "halves"))
NEAR_DAYS, DECADES, ORDINALS = map(TIMES.numbers, ("near_days", "decades", "ordinals"))
DIRECTIONS, THIRDS, THIRDS_OF = map(TIMES.numbers, ("directions", "thirds", "thirds_of"))
UNITS, SHORT_UNITS, PREPOSITIONS = map(TIMES.table, ("units", "short_units", "prepositions"))

LAST, THIS, NEXT = -1, 0, 1
"""The directions."""

OPENERS = TIMES.openers.union(COUNTS, MONTHS, WEEKDAYS)
"""Words, besides numbers, with which a phrase may begin."""

CORES = TIMES.parts_of_day.union(
    TIMES.feasts, ("weekend",), MONTHS, WEEKDAYS, UNITS, NEAR_DAYS, SEASONS, QUARTERS, HALVES, DECADES
)
"""Words of which, besides numbers, every phrase holds one: a text without any of them needs no reading."""
