"""The day on which a task is due, as people write it into its line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from synaptic.models import Task
from synaptic.notes.due_marks import remove_due_date
from synaptic.notes.marks import find_tasks
from synaptic.notes.reading import parse_entries


def task(text: str) -> Task:
    line = f"- [ ] {text}\n"
    mtime = datetime(2026, 1, 2, tzinfo=UTC)
    [entry] = parse_entries(line.encode(), "2026-11-21.md", mtime=mtime).entries
    [found] = find_tasks(entry, line)
    return found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Pay the rent due 2026-12-04", "Pay the rent"),
        ("Pay the rent due:2026-12-04", "Pay the rent"),
        ("Pay the rent (due 2026-12-04) in cash", "Pay the rent in cash"),
        ("Pay the rent @due(2026-12-04)", "Pay the rent"),
        ("Pay the rent [due:: 4.12.2026]", "Pay the rent"),
        ("Pay the rent, Due by Dec 4th, 2026", "Pay the rent,"),
        ("Pay the rent due on 4 December 2026", "Pay the rent"),
        ("Pay the rent due: [[4. Dezember 2026]]", "Pay the rent"),
        ("Pay the rent due 2026年12月4日", "Pay the rent"),
        ("Pay the rent due 2026/12/4", "Pay the rent"),
        ("Pay the rent due 2026-12-04T18:00", "Pay the rent"),
        ("Pay the rent 📅2026-12-04", "Pay the rent"),
        ("Pay the rent DEADLINE: <2026-12-04 Fri 18:00 +1m>", "Pay the rent"),
    ],
)
def test_a_task_says_its_day_in_any_form_of_a_date(text: str, shown: str) -> None:
    assert task(text).due == "2026-12-04"
    assert remove_due_date(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Nothing is overdue 2026-12-04",
        "Weigh the residue 2026-12-04",
        "Stay in, due to rain on 2026-12-04",
        "Call Ida due friday",
        "Pay due 03/04/2026",
    ],
)
def test_other_words_are_no_day(text: str) -> None:
    assert task(text).due is None
    assert remove_due_date(text) == text


def test_a_day_that_no_calendar_has_is_shown_as_it_is_written() -> None:
    assert task("Pay the rent due 2026-02-30").due == "2026-02-30"
