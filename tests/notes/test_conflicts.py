"""Conflicts of a merge in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.notes.conflicts import find_conflicts, without_conflict_marks
from synaptic.notes.header import derive_title

TEXT = (
    "Above.\n<<<<<<< ours\nWe meet at noon.\n=======\nWe meet at one.\n>>>>>>> theirs\nBelow.\n"
)
INNER = "<<<<<<< a\nx\n=======\ny\n>>>>>>> b"
LINES = st.lists(st.sampled_from(["Tea.", "", "- milk", "## A", "> b", "1. c"]), max_size=4)


def test_both_versions_are_found_with_their_place() -> None:
    [found] = find_conflicts(TEXT)
    assert (found.mine, found.theirs) == ("We meet at noon.", "We meet at one.")
    assert TEXT[: found.start] == "Above.\n" and TEXT[found.end :] == "\nBelow.\n"
    assert find_conflicts(TEXT.replace("\n", "\r\n"))[0][2:4] == found[2:4]


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("<<<<<<< HEAD\na\n||||||| 3f2a\nold\n=======\nb\n>>>>>>> main\n", [("a", "b")]),
        ("<<<<<<< ours\n=======\nb\n>>>>>>> theirs", [("", "b")]),
        (f"<<<<<<< ours\n{INNER}\n=======\nb\n>>>>>>> theirs", [(INNER, "b")]),
        (f"{INNER}\n\n{INNER}", [("x", "y"), ("x", "y")]),
        (f"```\n{INNER}\n```", []),
        ("<<<<<<< ours\na\n=======\nb", []),
        ("<<<<<<< ours\na\n>>>>>>> theirs", []),
        ("Title\n=======\n", []),
        ("a <<<<<<< b\n", []),
    ],
)
def test_what_is_a_conflict(text: str, sides: list[tuple[str, str]]) -> None:
    assert [(one.mine, one.theirs) for one in find_conflicts(text)] == sides


@given(LINES, LINES, LINES, LINES)
def test_any_two_versions_are_found_again(
    first: list[str], second: list[str], third: list[str], last: list[str]
) -> None:
    above, mine, theirs, below = map("\n".join, (first, second, third, last))
    text = f"{above}\n<<<<<<< ours\n{mine}\n=======\n{theirs}\n>>>>>>> theirs\n{below}"
    [found] = find_conflicts(text)
    assert (found.mine, found.theirs) == (mine.strip("\n"), theirs.strip("\n"))


def test_a_piece_of_a_conflict_shows_no_mark() -> None:
    assert without_conflict_marks("b\n>>>>>>> theirs\nBelow.") == "b\nBelow."
    assert without_conflict_marks("<<<<<<< ours\na") == "a"
    assert without_conflict_marks("Title\n=======\n") == "Title\n=======\n"
    assert derive_title(TEXT.removeprefix("Above.\n")) == "We meet at noon"
