"""Reads the day out of the words of a new task, as people type it behind them. Pure; the time
and its zone come in with `now`.

| typed on Sunday, 29 November 2026      | the task               | its day     |
|----------------------------------------|------------------------|-------------|
| `Write the bill by friday`             | `Write the bill`       | 4 December  |
| `Rechnung schreiben bis Freitag`       | `Rechnung schreiben`   | 4 December  |
| `Pay due:friday, fällig 4.12.`         | by the first of them   | 4 December  |
| `Call Ida next friday`, `am 4.12.`     | `Call Ida`             | 4 December  |
| `Sort the photos of friday`            | as it is               | none        |
| `Run am Morgen`, `Tea on friday 5pm`   | as it is               | none        |
| `Black Friday`, `Plan 2027`, `friday`  | as it is               | none        |
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, time

from ...language.time_fields import read_date
from ...language.timephrase.typed import read_typed

MOST_WORDS = 5
"""The most words of a day."""
_MARK = re.compile(r"(?i)(?<!\S)(?:due|fällig|期限)(?:[ ]?[:：]|(?=[ ]))[ ]*")
_ORIGIN = re.compile(r"(?i)(?:from|of|vom|von|du|de|del|do|da|van)\b")
"""Words before the day of something that is there already."""
_NO_CLOCK = time(0, 0, 0, 1)
"""The time of a day that was typed without one."""


def split_due_words(text: str, now: datetime) -> tuple[str, date] | None:
    """(the words of a task without those that say its day, that day); None where no day is
    said. Words are left where they are if they also say a time of day.
    """
    for before, phrase, behind in _candidates(text):
        day = _read_day(phrase, now, is_marked=behind is not None)
        rest = " ".join(f"{before} {behind or ''}".split())
        if day and rest:
            return rest, day
    return None


def _candidates(text: str) -> Iterator[tuple[str, str, str | None]]:
    """Yields (the words before, a phrase that may be a day, the words behind), the longest
    phrase first; behind a phrase without a mark, at the end of the text, stands None.
    """
    for mark in _MARK.finditer(text):
        words = text[mark.end() :].split()
        for count in range(min(MOST_WORDS, len(words)), 0, -1):
            phrase = " ".join(words[:count]).rstrip(",;")
            yield text[: mark.start()], phrase, " ".join(words[count:])
    words = text.split()
    for count in range(min(MOST_WORDS, len(words) - 1), 1, -1):
        yield " ".join(words[:-count]), " ".join(words[-count:]), None


def _read_day(phrase: str, now: datetime, *, is_marked: bool) -> date | None:
    """The day from today on that a phrase says: behind a mark as the field Due reads it, else
    one day, or the last one of several, as `by friday` does.
    """
    span = read_typed(phrase, now=now, ahead=True, clock=_NO_CLOCK)
    if not span or not span[1] or span[1].time() != _NO_CLOCK:
        return None
    first, last = span[0], span[1].date()
    is_one_day = not first or first.date() == last
    if last < now.date() or not (is_marked or is_one_day):
        return None
    if is_marked:
        return date.fromisoformat(read_date(phrase, now, "due"))
    return None if _ORIGIN.match(phrase) else last
