"""Days in a row: a run goes on until a whole day has passed without an entry."""

from pathlib import Path

import pytest
from homes import Clock, open_home

from synaptic import save
from synaptic.verbs.written import count_days, count_words


@pytest.mark.parametrize(
    ("days", "current", "longest"),
    [
        ([], 0, 0),
        (["2026-11-19"], 0, 1),
        (["2026-11-20"], 1, 1),  # today, the 21st, may still get an entry
        (["2026-11-19", "2026-11-20", "2026-11-21"], 3, 3),
        (["2026-10-31", "2026-11-01", "2026-11-02", "2026-11-21"], 1, 3),
        (["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"], 2, 2),
    ],
)
def test_a_run_reaches_today_or_yesterday(
    tmp_path: Path, days: list[str], current: int, longest: int
) -> None:
    with open_home(tmp_path, clock=Clock()) as ws:
        assert str(ws.today) == "2026-11-21"
        for day in days:
            save(ws, f"Two words on {day}.", at=f"{day}T10:00")
        written = count_days(ws)
        assert (written.current.days, written.longest.days) == (current, longest)
        assert count_words(ws) == 4 * len(days)
