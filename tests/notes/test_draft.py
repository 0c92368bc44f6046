"""Drafts: what a writer gave becomes an entry, with plain values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from synaptic.errors import InvalidArgument, Refused
from synaptic.models import Entry
from synaptic.notes.draft import draft_entry, redraft_entry
from synaptic.notes.screening import Screen

AT = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
ID = "20261120-abcdefgh"
TOKEN = "ghp_" + "a1B2" * 9


def draft(text: str, screen: Screen | None = None, **marks: Any) -> Entry:
    return draft_entry(screen or Screen("redact"), text, id=ID, at=AT, **marks)[0]


def test_every_text_of_a_draft_is_screened() -> None:
    screen = Screen("redact")
    marks = {"tags": ["pump"], "files": [TOKEN], "by": TOKEN, "via": TOKEN}
    extra = {"source": TOKEN}
    entry = draft(f"The key is {TOKEN}", screen, project=TOKEN, extra=extra, **marks)
    assert TOKEN not in repr(entry)
    assert entry.tags == ("pump",) and len(screen.notices()) == 1
    with pytest.raises(Refused):
        draft(f"The key is {TOKEN}", Screen("refuse"))
    with pytest.raises(InvalidArgument, match="1,001 characters"):
        draft("Text", tags=["t" * 1_001])


@pytest.mark.parametrize("name", ["b" * 201, "two\nlines", TOKEN, "<private>x</private>"])
def test_an_odd_branch_is_left_out(name: str) -> None:
    assert draft("Text", branch=name).branch is None
    assert draft("Text", branch="fix/pump").branch == "fix/pump"


def test_a_title_that_joins_two_halves_of_a_token_is_screened() -> None:
    assert TOKEN not in draft(f"{TOKEN[:9]}**{TOKEN[9:]}**").title


def test_parts_that_are_missing_stay() -> None:
    old = draft("The pump hums.", tags=["pump"], importance=7, project="Well", files=["a.py"])
    assert redraft_entry(Screen("redact"), old, {}, id=ID) == (old, [])
    new, notices = redraft_entry(
        Screen("redact"), old, {"append": "It stopped.", "remove_tags": ["pump", "no"]}, id=ID
    )
    text = "The pump hums.\n\nIt stopped."
    assert new == replace(old, content=text, tags=())
    assert notices == ["The entry has no tag #no to remove; it has #pump."]


def test_a_title_taken_from_the_text_follows_it() -> None:
    derived = draft("The pump hums.")
    own = draft("The pump hums.", title="Noise")
    for old, title in ((derived, "It stopped."), (own, "Noise")):
        new, _ = redraft_entry(Screen("redact"), old, {"content": "It stopped."}, id=ID)
        assert new.title == title
