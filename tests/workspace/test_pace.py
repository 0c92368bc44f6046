"""The progress of a new index: what is done, the rate, and what is left."""

from __future__ import annotations

from synaptic.workspace.pace import LOOKED_BACK_S, Pace


def test_the_rate_is_that_of_the_last_seconds_and_more_work_is_added() -> None:
    now = 100.0
    pace = Pace(lambda: now)
    pace.note(1000)
    for _ in range(60):
        now += 1
        pace.note(pace.left - 10)
    assert (pace.left, pace.total) == (400, 1000)
    done, seconds = pace.rate()
    assert done / seconds == 10 and seconds <= LOOKED_BACK_S + 1
    pace.note(700)  # more came
    assert (pace.left, pace.total, pace.rate()) == (700, 1000, (0, 0.0))
    pace.note(0)
    pace.note(60)  # another piece of work
    assert (pace.left, pace.total, pace.is_long) == (60, 60, True)
