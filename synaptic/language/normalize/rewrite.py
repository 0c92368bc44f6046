"""A note as it reads by itself: dates for "yesterday", names for "she" and "it". Pure, English,
without a model.

| in a note of Saturday 2026-11-21     | reads                                        |
|--------------------------------------|----------------------------------------------|
| yesterday, 3 days ago, last Tuesday  | 2026-11-20, 2026-11-18, 2026-11-17           |
| last week                            | 2026-11-09 to 2026-11-15                     |
| last month, last year                | 2026-10, 2025                                |
| Anna is ill. She called.             | Anna is ill. Anna called.                    |
| We moved to Redis. It is fast.       | We moved to Redis. Redis is fast.            |

A wrong name is worse than a pronoun that stays: whatever could mean two things is left as it
is. Code, links, comments and quotations are never touched (`shown`). Every pattern is bounded,
so that no text takes long.

Where words like "last week" mean a time is said by the patterns `note_*` in
`data/words/times.toml`, and which time by `timephrase`.
"""

from __future__ import annotations

import re
from datetime import date

from ..lexicon import compiled
from ..timephrase.find import read_time
from ..timephrase.table import TIMES, When, months_from
from .pronouns import resolve_pronouns
from .shown import MAX_LENGTH, Change, shown


def normalize(text: str, *, on: date) -> tuple[str, tuple[Change, ...]]:
    """The text with its relative times as dates and its unmistakable pronouns as names, and
    these changes of it.

    `on` is the day on which the note was written. Never raises.
    """
    changes = tuple(
        sorted(
            (*anchor_times(text, on=on), *resolve_pronouns(text)),
            key=lambda change: change.start,
        )
    )
    pieces: list[str] = []
    at = 0
    for change in changes:
        pieces += text[at : change.start], change.now
        at = change.start + len(change.was)
    return "".join([*pieces, text[at:]]), changes


def anchor_times(text: str, *, on: date) -> tuple[Change, ...]:
    """A change for each relative time in a note of the day `on`: a date, two dates, a month or
    a year. Never raises.

    Times that only look relative stay: "the last week of May", "took two weeks", "in 2 days of
    work", "USA Today".
    """
    seen = shown(text[:MAX_LENGTH])
    changes = []
    for found in compiled(TIMES.pattern("relative"), re.IGNORECASE).finditer(seen):
        dates = _dates(found[0], on) if _is_meant(found, seen) else None
        if dates:
            was = text[found.start() : found.end()]
            changes.append(Change(was, dates, "time", found.start()))
    return tuple(changes)


def _dates(phrase: str, on: date) -> str | None:
    """The dates that the phrase means, as they are written; None beyond the years that a date
    can have.
    """
    alone = compiled(TIMES.pattern("tail"), re.IGNORECASE).sub("", phrase)
    span = read_time(alone, When(on, around=True))
    if (
        span is None
        or span.start is None
        or span.end is None
        or span.start == date.min
        or span.end == date.max
    ):
        return None
    first, last = span.start, span.end
    if first == last:
        return str(first)
    if first.day == 1 and last == months_from(first, 1)[1]:
        return str(first)[:7]
    if first.day == first.month == 1 and last == months_from(first, 12)[1]:
        return str(first)[:4]
    return f"{first} to {last}"


def _is_meant(found: re.Match[str], seen: str) -> bool:
    """True if the words around the phrase leave it a time."""
    before = seen[max(0, found.start() - 60) : found.start()]
    if not _is_cased_as_words(found[0], before):
        return False
    if found["ago"]:
        return not _note("vague").search(before.lower())
    if found["which"]:
        return not _note("determined").search(before.lower())
    return not found["ahead"] or _is_ahead(found, seen)


def _is_cased_as_words(phrase: str, before: str) -> bool:
    """True if the phrase is no name, like "USA Today", and no heading, "Last Week"."""
    plain = re.sub(TIMES.pattern("day_name"), "", phrase, flags=re.IGNORECASE).lstrip()
    if phrase.isupper() or plain == plain.lower():  # in capitals it is emphasis
        return True
    return (
        plain[1:] == plain[1:].lower() and _note("starts_sentence").search(before) is not None
    )


def _is_ahead(found: re.Match[str], seen: str) -> bool:
    """True if "in 3 days" tells when, and not how long something takes."""
    clause = (
        _note("clause").split(seen[max(0, found.start() - 300) : found.start()])[-1].lower()
    )
    if _note("span_of_work").search(clause):
        return False
    return (
        found["number"].lower() not in ("a", "an") or _note("future").search(clause) is not None
    )


def _note(name: str) -> re.Pattern[str]:
    return compiled(TIMES.pattern(f"note_{name}"))
