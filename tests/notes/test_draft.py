"""Drafts: what a writer gave becomes an entry, with plain values."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from synaptic.errors import InvalidArgument, Refused
from synaptic.models import Entry
from synaptic.notes.draft import draft_entry
from synaptic.notes.redraft import redraft_entry
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
    assert new == replace(old, content="It stopped.", tags=())  # the heading says the rest
    assert notices == ["The entry has no tag #no to remove; it has #pump."]


TABLE = "| Part | Price |\n|------|-------|\n| Pump | 20 |"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"hours:: 3.5\n\n{TABLE}", "Part, Price"),
        (f"- hours:: 3.5\n- project:: shop\n\n{TABLE}\n\nMended it.", "Mended it"),
        ("hours:: 3.5\nMended the pump.\n", "Mended the pump"),
        ("hours:: 3.5", "hours:: 3.5"),
        (TABLE, "Part, Price"),
    ],
)
def test_a_title_is_no_property_and_no_row_of_a_table(text: str, title: str) -> None:
    assert draft(text).title == title


def test_a_title_taken_from_the_text_follows_it() -> None:
    derived = draft("The pump hums.")
    own = draft("The pump hums.", title="Noise")
    for old, title in ((derived, "It stopped."), (own, "Noise")):
        new, _ = redraft_entry(Screen("redact"), old, {"content": "It stopped."}, id=ID)
        assert new.title == title


REST = "Dann kam Ida herein, und wir sprachen lange über die Reise. " * 3


@pytest.mark.parametrize(
    "sentence",
    [
        "Met with Mr. Jones and Mrs. Lee about the boat",
        "It needs approx. Four hours and Prof. Ray",
        "The U.S. Army left at 5 p.m. Monday",
        "Rechnung 2026-016 an Praxis Dr. Weber geschickt",
        "See Fig. 3 and Eq. 2 on p. 12 of the report by A. B. Jones et al. today",
        "Wir nehmen z. B. Holz und Stein, evtl. Glas",
        "Am 3. November kommt sie bzw. Er",
        "M. Dupont et Mme. Roy ont signé",
        "Hablé con el Sr. García y la Sra. Ruiz",
        "Il dott. Rossi e la sig. Bianchi firmano",
        "A profa. Lima e o exmo. Juiz vieram",
        "Afspraak met dhr. Bakker en mevr. Smit",
        "Встреча с проф. Ивановым на ул. Садовой",
        "We use SQL",
        "It rained all day",
        "We left in 2026",
        "Works (see the docs)",
        "今日は雨",
        "오늘은 비가 왔다",
    ],
)
def test_a_title_ends_with_its_sentence_and_not_with_an_abbreviation(sentence: str) -> None:
    end = "。" if "雨" in sentence else "."
    assert draft(f"{sentence}{end} {REST}").title.removesuffix("。") == sentence
