"""How often a task repeats is read out of its words, in the languages of the page."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic import Workspace
from synaptic.features.tasks.due_words import date_and_describe
from synaptic.features.tasks.rescheduling import compose_task
from synaptic.features.tasks.rule_words import (
    _MEANS,
    _WORDS,
    first_day,
    read_rule,
    split_rule_words,
)
from synaptic.notes.recurring import next_occurrence

NOW = datetime(2026, 11, 29, 15).astimezone()  # a Sunday


@pytest.mark.parametrize(
    ("typed", "task", "rule", "day"),
    [
        ("Pay the rent on the 1st of every month", "Pay the rent", "every month on the 1st", 1),
        ("Call mum every Sunday", "Call mum", "every Sunday", -1),
        ("Standup each weekday", "Standup", "every weekday", 0),
        ("Bins every monday and thursday", "Bins", "every Monday and Thursday", 0),
        ("Water plants every other Monday", "Water plants", "every 2 weeks on Monday", 0),
        ("Miete jeden Monat am Ersten", "Miete", "every month on the 1st", 1),
        (
            "Umsatzsteuer bis zum 10. jedes Monats",
            "Umsatzsteuer",
            "every month on the 10th",
            10,
        ),
        ("Jeden zweiten Montag Blumen gießen", "Blumen gießen", "every 2 weeks on Monday", 0),
        ("Chor jeden letzten Freitag im Monat", "Chor", "every month on the last Friday", 25),
        ("Backup alle 3 Monate", "Backup", "every 3 months", -1),
        ("Zähne putzen täglich", "Zähne putzen", "every day", -1),
        ("家賃 毎月25日", "家賃", "every month on the 25th", 25),
        ("ゴミ 毎週月曜日", "ゴミ", "every Monday", 0),
    ],
)
def test_the_words_that_say_how_often_become_a_rule(
    typed: str, task: str, rule: str, day: int
) -> None:
    """`day` is that of December; 0 is tomorrow, -1 today."""
    first = {-1: date(2026, 11, 29), 0: date(2026, 11, 30)}.get(day) or date(2026, 12, day)
    assert split_rule_words(typed) == (task, rule)
    assert first_day(rule, NOW.date()) == first
    assert next_occurrence(f"{task} 🔁 {rule} 📅 {first}", first).startswith(task)


@pytest.mark.parametrize(
    "typed",
    [
        "Yoga jeden Morgen",
        "Read the daily",
        "Talk to each other",
        "every month",
        "Jeden Tag",
        "Pay 🔁 every month",
        "Plan every 0 days",
        "Plan every month on the 40th",
        "Pay for every one of them",
        "",
    ],
)
def test_what_says_no_rule_stays(typed: str) -> None:
    assert split_rule_words(typed) is None


@given(st.lists(st.sampled_from([*_MEANS, *_WORDS, "10.", "5", "31st"]), max_size=7))
def test_each_rule_is_one_that_tick_understands(words: list[str]) -> None:
    rule = read_rule(" ".join(words))
    if rule:
        assert "📅" in next_occurrence(f"Pay 🔁 {rule} 📅 2026-11-29", NOW.date())


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("- [ ] Pay the fee every month due:2026-10-01", "every month"),
        ("- [ ] Every 2 weeks call Ida 📅 2026-10-01", "every 2 weeks"),
        ("- [ ] [due:: 2026-10-01] Mow every Friday", "every Friday"),
        (
            "- [ ] Mow every month on the last and sweep 📅 2026-10-01",
            "every month on the last",
        ),
        ("- [ ] Miete jeden Monat am 1. due:2026-10-01", "every month on the 1st"),
        ("- [ ] Pay the fee every month on the 3rd", "every month on the 3rd due:2026-12-03"),
        ("- [ ] Pay the fee 🔁 every month due:2026-10-01", ""),
        ("- [ ] Pay for every one of them due:2026-10-01", ""),
        ("- [ ] Pay the fee [repeat:: every month] due:2026-10-01", ""),
    ],
)
def test_a_rule_without_its_sign_is_named_for_a_task_that_is_due(line: str, rule: str) -> None:
    _, sentences = date_and_describe(line, NOW, "")
    assert [f"`🔁 {rule}`" in said for said in sentences] == [True] * bool(rule)


def test_a_task_that_is_typed_with_its_rule_is_due_on_its_first_day(ws: Workspace) -> None:
    for words, task in (
        (
            "Miete zahlen jeden Monat am 31. bis 4.12.",
            "Miete zahlen 🔁 every month on the 31st",
        ),
        ("Miete zahlen bis 4.12. jeden Monat", "Miete zahlen 🔁 every month"),
        ("Miete due:2026-12-04 jeden Monat", "Miete due:2026-12-04 🔁 every month"),
    ):
        assert task in compose_task(ws, words, "")
