"""A new task says its day by its words; what only looks like a day stays as it is typed."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from synaptic.features.tasks.due_words import split_due_words

NOW = datetime(2026, 11, 29, 15).astimezone()  # a Sunday
FRIDAY = date(2026, 12, 4)


@pytest.mark.parametrize(
    ("typed", "task", "day"),
    [
        ("Write the bill by friday", "Write the bill", FRIDAY),
        ("Rechnung schreiben bis Freitag", "Rechnung schreiben", FRIDAY),
        ("Milch am 4.12.", "Milch", FRIDAY),
        ("Milch fällig Freitag", "Milch", FRIDAY),
        ("due:freitag Milch kaufen", "Milch kaufen", FRIDAY),
        ("Milch Fällig: 4. Dezember, Brot", "Milch Brot", FRIDAY),
        ("Milk due next week", "Milk", date(2026, 11, 30)),
        ("Call Ida in 3 days", "Call Ida", date(2026, 12, 2)),
        ("Tea due:friday 5pm", "Tea 5pm", FRIDAY),
        ("Steuer bis Ende Januar", "Steuer", date(2027, 1, 31)),
    ],
)
def test_the_day_is_taken_out_of_the_words(typed: str, task: str, day: date) -> None:
    assert split_due_words(typed, NOW) == (task, day)


@pytest.mark.parametrize(
    "typed",
    [
        "Fotos vom 4.12.",
        "Sort the photos of friday",
        "Am Morgen laufen",
        "Run am Morgen",
        "Tea on friday 5pm",
        "Plan 2027",
        "Black Friday",
        "Urlaub im Januar",
        "Die Rechnung ist fällig",
        "Overdue friday",
        "Notes since monday",
        "Fix what broke on 2026-11-03",
        "by friday",
        "",
    ],
)
def test_what_says_no_day_stays(typed: str) -> None:
    assert split_due_words(typed, NOW) is None
