"""The layout of day files is read from their paths."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from synaptic.notes.day_layout import layout_of

OTHERS = ["readme.md", "2025 goals.md", "talks/2025-04-04 Meeting.md", "2025/plan.md"]


@pytest.mark.parametrize("days", [7, 45])
@pytest.mark.parametrize(
    "layout",
    [
        "%Y-%m-%d.md",
        "log/%Y/%Y-%m/%Y-%m-%d.md",
        "journals/%Y_%m_%d.md",
        "area51/v2/%Y.%m.%d.md",
        "%Y/%m/%d.md",
        "%Y/%-m/%-d.md",
        "daily/%d-%m-%Y.md",
        "days/%m-%d-%Y.md",
        "notes/%Y/%B/%d %B %Y.md",
        "diary/%b %-d, %Y.md",
        "diary/%Y%m%d.md",
        "d/%Y-%m-%d %A.md",
    ],
)
def test_the_layout_of_day_files_is_the_one_that_wrote_them(layout: str, days: int) -> None:
    paths = [(date(2025, 4, 1) + timedelta(day)).strftime(layout) for day in range(days)]
    assert layout_of([*OTHERS, *paths]) == layout


def test_two_day_files_are_no_layout() -> None:
    assert layout_of([*OTHERS, "log/2025-04-01.md", "log/2025-04-02.md"]) == ""
    words = ("boats", "tides", "oars", "nets", "sails")
    assert layout_of(f"posts/2025-04-0{len(word)}-{word}.md" for word in words) == ""
