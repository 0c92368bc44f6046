"""Dates for relative times in the prose of a note: "yesterday", "3 days ago", "last week". English.

Here stands where such words mean a time (the patterns `note_*` in `data/words/times.toml`); `timephrase` says which.
"""

from __future__ import annotations

import re
from datetime import date

from ..lexicon import compiled
from ..timephrase.days import months_from
from ..timephrase.find import read_time
from ..timephrase.line import TIMES
from .shown import MAX_LENGTH, Change, shown


def anchor_times(text: str, *, on: date) -> tuple[Change, ...]:
    """What each relative time in a note of the day `on` means: a date, two dates, a month or a year. Never raises.

    Times that only look relative stay: "the last week of May", "took two weeks", "in 2 days of work", "USA Today".
    """
    seen = shown(text[:MAX_LENGTH])
    return tuple(
        Change(text[found.start() : found.end()], now, "time", found.start())
        for found in compiled(TIMES.pattern("relative"), re.IGNORECASE).finditer(seen)
        if _is_meant(found, seen) and (now := _dates(found[0], on))
    )


def _dates(phrase: str, on: date) -> str | None:
    """The dates that the phrase means, as they are written; None beyond the years that a date can have."""
    span = read_time(compiled(TIMES.pattern("tail"), re.IGNORECASE).sub("", phrase), today=on, around=True)
    if span is None or span.start is None or span.end is None or span.start == date.min or span.end == date.max:
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
    """Whether the words around the phrase leave it a time."""
    before = seen[max(0, found.start() - 60) : found.start()]
    if not _is_cased_as_words(found[0], before):
        return False
    if found["ago"]:
        return not _note("vague").search(before.lower())
    if found["which"]:
        return not _note("determined").search(before.lower())
    return not found["ahead"] or _is_ahead(found, seen)


def _is_cased_as_words(phrase: str, before: str) -> bool:
    """Whether the phrase is no name, like "USA Today", and no heading, "Last Week"."""
    plain = re.sub(TIMES.pattern("day_name"), "", phrase, flags=re.IGNORECASE).lstrip()
    if phrase.isupper() or plain == plain.lower():  # in capitals it is emphasis
        return True
    return plain[1:] == plain[1:].lower() and _note("starts_sentence").search(before) is not None


def _is_ahead(found: re.Match[str], seen: str) -> bool:
    """Whether "in 3 days" tells when, and not how long something takes."""
    clause = _note("clause").split(seen[max(0, found.start() - 300) : found.start()])[-1].lower()
    if _note("span_of_work").search(clause):
        return False
    return found["number"].lower() not in ("a", "an") or _note("future").search(clause) is not None


def _note(name: str) -> re.Pattern[str]:
    return compiled(TIMES.pattern(f"note_{name}"))
