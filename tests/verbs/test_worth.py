"""The order of the entries that a briefing lists."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from synaptic.journal.repository import Checkout
from synaptic.models import Entry
from synaptic.verbs.brief import _rank_by_worth

MOMENT = datetime(2026, 11, 20, 9, 30).astimezone()


def entry(number: int, content: str = "A text.", **marks: Any) -> Entry:
    """An entry that is `number` days old."""
    marks = {"type": "decision"} | marks
    id = f"20261120-0000000{number}"
    at = MOMENT - timedelta(days=number)
    return Entry(id=id, at=at, title=content, content=content, **marks)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"type": "progress"}),
        ({"importance": 8, "type": "note"}, {}),
        ({"content": "Run `make db` first."}, {}),
        ({"type": "progress", "importance": 0}, {"via": "import:codex"}),
        (
            {"importance": 10, "type": "handoff"},
            {"importance": 9, "content": "`a` `b` `c` `d`"},
        ),
    ],
)
def test_use_comes_before_age(first: dict[str, Any], second: dict[str, Any]) -> None:
    entries = {1: entry(1, **second), 2: entry(2, **first)}
    assert _rank_by_worth(MOMENT, entries, {}, None) == (entries[2], entries[1])
    assert _rank_by_worth(MOMENT, {1: entry(1), 2: entry(2)}, {}, None) == (entry(1), entry(2))


def test_a_decision_of_today_comes_before_an_old_note_with_commands() -> None:
    old = entry(400, "Deploy with `make ship`.", type="reference")
    new = entry(1, "The pipeline deploys.")
    assert _rank_by_worth(MOMENT, {1: old, 2: new}, {}, None) == (new, old)
    recent = entry(30, "Deploy with `make ship`.", type="reference")
    assert _rank_by_worth(MOMENT, {1: recent, 2: new}, {}, None) == (recent, new)


@pytest.mark.parametrize(
    "marks",
    [
        {"branch": "pool-limit"},
        {"branch": "pool-limit-two"},
        {"tags": ("pool", "limit")},
        {"files": ("src/pool_limit.rs",)},
    ],
)
def test_an_entry_about_the_branch_at_hand_comes_before_importance(
    marks: dict[str, Any], tmp_path: Path
) -> None:
    entries = {1: entry(1, importance=7), 2: entry(2, **marks)}
    for branch, first in (("pool-limit", 2), ("main", 1), ("other", 1)):
        here = Checkout(tmp_path, "harbor", tmp_path, tmp_path, f"ref: refs/heads/{branch}")
        assert _rank_by_worth(MOMENT, entries, {}, here)[0] == entries[first], branch


def test_the_work_at_hand_comes_before_importance() -> None:
    entries = {1: entry(1, importance=7), 2: entry(2)}
    assert _rank_by_worth(MOMENT, entries, {2: 1.5}, None) == (entries[2], entries[1])
