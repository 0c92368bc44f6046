"""A save names one thing that a later reader of the entry will miss; nothing is refused."""

from __future__ import annotations

from typing import Any

import pytest

from synaptic import Workspace, save
from synaptic.render.fence import count_tokens

SOUND = "Sessions live in Redis, because the pool of Postgres was full."


@pytest.fixture
def home(ws: Workspace) -> Workspace:
    save(ws, "The tide tables come from NOAA.", project="harbour")
    return ws


@pytest.mark.parametrize(
    ("text", "marks", "notice"),
    [
        (SOUND, {"project": "harbuor"}, "The project harbuor is new; is it harbour?"),
        (SOUND, {"project": "harbours"}, "The project harbours is new; is it harbour?"),
        (SOUND, {"at": "2031-05-01"}, "Its date, 2031-05-01, lies ahead."),
        (SOUND, {"due": "2031-05-01"}, "`due` is 2031-05-01: is that year right?"),
        ("word " * 60_001, {}, "One entry of 300 KB: short entries, one a matter, are found."),
        ("We do it as discussed above.", {}, "“as discussed above”: a later reader will not"),
        ("The fix is the one from the chat.", {}, "“from the chat”: a later reader will not"),
        ("Sessions live in Redis.", {"type": "decision"}, "A decision without its reason: "),
        (
            "todo: renew the permit by May",
            {},
            "`tasks` lacks it without `due` or a box: `- [ ]`.",
        ),
        ("TO DO: call Ida", {}, "`tasks` lacks it without `due` or a box: `- [ ]`."),
        ("Aufgabe: Seil kaufen", {}, "`tasks` lacks it without `due` or a box: `- [ ]`."),
    ],
)
def test_a_save_names_what_a_reader_will_miss(
    home: Workspace, text: str, marks: dict[str, Any], notice: str
) -> None:
    given = {"project": "harbour"} | marks
    receipt = save(home, text, by_person=False, by="codex", **given)
    [said] = [one for one in receipt.notices if one.startswith(notice)]
    assert count_tokens(said) <= 20
    assert receipt.notices == (said,)


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        (SOUND, {"type": "decision"}),
        ("Sessions live in Redis. The pool of Postgres was full.", {"type": "decision"}),
        ("Sessions live in Redis.", {"type": "note"}),
        ("The mast above the harbour was discussed in the council.", {}),
        (SOUND, {"project": "tides"}),
        (SOUND, {"project": "harbour2"}),
        (SOUND, {"due": "2027-05-01"}),
        ("todo: renew the permit", {"due": "2027-05-01"}),
        ("todo:\n\n- [ ] renew the permit", {}),
        ("A todo: is one with a box.", {}),
    ],
)
def test_nothing_is_said_of_what_is_sound(
    home: Workspace, text: str, marks: dict[str, Any]
) -> None:
    given = {"project": "harbour"} | marks
    assert save(home, text, by_person=False, by="codex", **given).notices == ()


def test_a_known_project_is_not_doubted(home: Workspace) -> None:
    save(home, "The harbours of the west.", project="harbours")
    assert save(home, "The harbours of the east.", project="harbours").notices == ()


def test_only_the_most_important_is_named(home: Workspace) -> None:
    receipt = save(home, "See above.", project="harbuor", type="decision", by_person=False)
    assert receipt.notices == ("The project harbuor is new; is it harbour?",)


def test_a_person_is_told_of_mistakes_only(home: Workspace) -> None:
    assert save(home, "As discussed above.", project="harbour", type="decision").notices == ()
    assert save(home, SOUND, project="harbuor").notices != ()
