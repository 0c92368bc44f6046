"""Writes another day in the form of a date that stands in a text. Pure."""

import re
from collections.abc import Iterator
from datetime import date

from .dates import DAYS, date_from_groups, day_at_start, fold_letters, form_pattern
from .due_marks import DueMark
from .moment import write_ordinal

_NTH = re.compile(r"\A(?:st|nd|rd|th)\b")


def with_day(mark: DueMark, text: str, day: date) -> str:
    """The `text` with another day in this mark, and its weekday if the mark names one."""
    written = write_day_like(text[mark.date_start : mark.date_end], day)
    weekday = text[mark.date_end : mark.weekday_end]
    name = weekday.lstrip(" ,")
    if name:
        gap = weekday.removesuffix(name)
        written += gap + (f"{day:%A}" if name.lower().endswith("day") else f"{day:%a}")
    return text[: mark.date_start] + written + text[mark.weekday_end :]


def write_day_like(example: str, day: date) -> str:
    """A day in the form of the date `example`, or as `2026-12-03` in a form that is only read.

    | `example`                            | 3 December 2026                      |
    |--------------------------------------|--------------------------------------|
    | `27.11.2026`, `2026/11/27`           | `03.12.2026`, `2026/12/03`           |
    | `Nov 27th, 2026`, `27 November 2026` | `Dec 3rd, 2026`, `3 December 2026`   |
    | `27. November 2026`, `27 nov. 2026`  | `3. December 2026`, `3 dec. 2026`    |
    | `27 novembre 2026`, `27-11-2026`     | `2026-12-03` for both                |
    """
    dated = day_at_start(example)
    if not dated or dated[1] != len(example):
        return day.isoformat()
    folded = fold_letters(example)
    matches = [form_pattern(form.pattern).match(folded) for form in DAYS]
    match = next(match for match in matches if match and date_from_groups(match.groupdict()))
    written = _with_pieces(example, match, dated[0], day)
    return written if day_at_start(written) == (day, len(written)) else day.isoformat()


def _with_pieces(example: str, match: re.Match[str], former_day: date, day: date) -> str:
    """The example of a date with year, month and day of another one."""
    has_name = bool(match.groupdict().get("name"))
    written = example
    for start, end, piece in sorted(_spans_of_pieces(match), reverse=True):
        former = example[start:end]
        if piece == "name":
            new = _month_like(former, former_day, day)
        else:
            number = getattr(day, piece)
            is_padded = former.startswith("0") or (len(former) == 2 and not has_name)
            new = f"{number:02}" if is_padded else f"{number}"
        behind = written[end:]
        if piece == "day":
            behind = _NTH.sub(write_ordinal(day.day)[-2:], behind)
        written = written[:start] + new + behind
    return written


def _spans_of_pieces(match: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    for piece in ("year", "month", "name", "day"):
        if match.groupdict().get(piece):
            yield *match.span(piece), piece


def _month_like(former: str, former_day: date, day: date) -> str:
    """The English name of the month of `day`, as long as the name `former` of that of
    `former_day`; "" for a name in another language.
    """
    for form in ("%b", "%B"):
        if former_day.strftime(form).lower() == former.lower():
            name = day.strftime(form)
            return name.lower() if former.islower() else name
    return ""
