"""Counts what was written: entries by day, days in a row, and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from ..filters import Filters
from ..index.statistics import count_entries_by
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .exports import export

EVERY = Filters(include_superseded=True)


class DayRun(NamedTuple):
    """Days in a row with entries: how many there are, and the `last` of them; (0, None) where
    there is none.
    """

    days: int
    last: date | None


class DaysWritten(NamedTuple):
    """The entries of each day that has some, by `YYYY-MM-DD`; the days in a row up to today or
    yesterday, and the `longest` run.
    """

    counts: Mapping[str, int]
    current: DayRun
    longest: DayRun


def count_days(ws: Workspace) -> DaysWritten:
    """Counts the dated entries by day. A run that reaches yesterday still goes on: today may
    have no entry yet. Days that are still to come are in no run.
    """
    counts = dict(in_step(ws, lambda _: count_entries_by(ws.index, EVERY, "day")))
    today = ws.today
    runs = _runs_of_days(day for day in map(date.fromisoformat, counts) if day <= today)
    current = DayRun(0, None)
    if runs and runs[-1].last and runs[-1].last >= today - timedelta(1):
        current = runs[-1]
    longest = max(runs, key=lambda run: run.days, default=DayRun(0, None))
    return DaysWritten(counts, current, longest)


def _runs_of_days(days: Iterable[date]) -> list[DayRun]:
    """The days in a row, oldest first."""
    runs: list[DayRun] = []
    for day in sorted(days):
        if runs and runs[-1].last == day - timedelta(1):
            runs[-1] = DayRun(runs[-1].days + 1, day)
        else:
            runs.append(DayRun(1, day))
    return runs


def count_words(ws: Workspace) -> int:
    """The words of all entries, private passages left out. Reads the whole journal."""
    return sum(len(entry.content.split()) for entry in export(ws, EVERY))
