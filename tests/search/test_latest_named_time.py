"""A month, a weekday or a day without a year, in a question about the past."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from homes import Clock, open_home

from synaptic import save
from synaptic.search.planner import read_question_of_journal

THIS, LAST = ("2026-12-01", "2026-12-31"), ("2025-12-01", "2025-12-31")
CASES = [
    # on, days with entries, question, days meant
    ("12-01", "", "what happened in december", LAST),
    ("12-01", "12-01", "what happened in december?", LAST),
    ("12-01", "12-01", "was war im Dezember", LAST),
    ("12-05", "", "was ist im Dezember passiert", LAST),
    ("12-05", "12-02", "was ist im Dezember passiert", THIS),
    ("12-05", "12-02", "what happened in december", THIS),
    ("12-01", "", "what did I do this month", THIS),
    ("12-01", "", "what did I do this december", THIS),
    ("12-01", "", "what will happen in december", THIS),
    ("11-27", "", "what is planned for december", THIS),
    ("11-27", "", "was steht im Dezember an", THIS),
    ("11-27", "", "was wird im Dezember passieren", THIS),
    ("11-27", "", "what was planned for december", LAST),
    ("12-01", "", "what happened in december 2026", THIS),
    ("12-04", "", "what did I do on friday", ("2026-11-27", "2026-11-27")),
    ("12-04", "12-04", "what did I do on friday", ("2026-12-04", "2026-12-04")),
    ("12-04", "", "was habe ich am Freitag gemacht", ("2026-11-27", "2026-11-27")),
    ("12-03", "", "what shall we do on friday", ("2026-12-04", "2026-12-04")),
    ("12-04", "", "what did we do on december 4", ("2025-12-04", "2025-12-04")),
    ("12-04", "12-04", "what did we do on december 4", ("2026-12-04", "2026-12-04")),
    ("12-05", "", "what happened in november", ("2026-11-01", "2026-11-30")),
    ("12-01", "", "what happened in the winter", ("2025-12-01", "2026-02-28")),
]


@pytest.mark.parametrize(("on", "entries", "question", "meant"), CASES)
def test_it_is_the_latest_that_is_over_or_has_begun_and_holds_entries(
    tmp_path: Path, on: str, entries: str, question: str, meant: tuple[str, str]
) -> None:
    clock = Clock()
    today = date.fromisoformat(f"2026-{on}")
    clock.now = clock.now.replace(month=today.month, day=today.day, hour=12)
    with open_home(tmp_path, clock=clock) as ws:
        if entries:
            save(ws, "Rowed.", at=f"2026-{entries}T08:00")
        times = read_question_of_journal(ws, question, today=today).time_range
    assert times and (str(times.start), str(times.end)) == meant
