"""How an entry is shown: its heading, and the text below it."""

from __future__ import annotations

import pytest
from forks import ForkedHome as Home
from hypothesis import given
from hypothesis import strategies as st

from synaptic.notes.header import make_title
from synaptic.render.fence import clean
from synaptic.render.present import split_heading

LONG = "and a word " * 20
REST = f"The rest of it is long, {LONG}."


@pytest.mark.parametrize(
    ("text", "heading", "below"),
    [
        ("Chose SQLite.", "Chose SQLite.", ""),
        (
            "Chose **SQLite**: one file.\n\nIt is easy.",
            "Chose **SQLite**: one file.",
            "It is easy.",
        ),
        (f"Chose SQLite. {REST}", "Chose SQLite.", REST),
        (f"Chose SQLite.\n{REST}", "Chose SQLite.", REST),
        (f"# Chose SQLite\n{REST}", "Chose SQLite", REST),
        (
            f"We chose SQLite, as it needs\nno server and is one file that we can copy. {REST}",
            "We chose SQLite, as it needs\nno server and is one file that we can copy.",
            REST,
        ),
        ("- [ ] call mum", "- [ ] call mum", ""),
        ("- one\n- two", "one", "- one\n- two"),
        (f"Read `ab. B c` {LONG}", "Read `ab", f"Read `ab. B c` {LONG}"),
    ],
)
def test_what_the_heading_says_is_not_said_below_it(
    text: str, heading: str, below: str
) -> None:
    assert split_heading(make_title(text), text) == (heading, below)


def test_a_sentence_without_an_end_goes_on_below_its_beginning() -> None:
    text = f"We chose it {LONG}"
    title = make_title(text)
    heading, below = split_heading(title, text)
    assert title.endswith("…") and heading == title and below.startswith("… ")
    assert title.removesuffix("…") + below.removeprefix("…") == text


def test_a_title_of_its_own_stands_above_the_whole_text() -> None:
    assert split_heading("Storage", "Chose SQLite.") == ("Storage", "Chose SQLite.")
    assert split_heading("Cho", "Chose SQLite.") == ("Cho", "Chose SQLite.")


@given(st.text(st.sampled_from("ab .!…*`[]#-\n"), max_size=300))
def test_nothing_is_lost_and_nothing_added(text: str) -> None:
    def letters(*texts: str) -> str:
        return "".join(char for char in "".join(texts) if char.isalpha())

    heading, below = split_heading(make_title(text), clean(text))
    assert letters(text) in (letters(heading, below), letters(below))


def test_an_entry_on_the_terminal_says_its_first_sentence_once(home: Home) -> None:
    id = home.ask("save", f"The tide gauge was moved. {REST}")["id"]
    for command in (("get", id), ("day",), ("search", "tide gauge")):
        shown = home.run(*command).out
        assert shown.count("The tide gauge was moved") == 1, shown
        assert "The rest of it is long" in shown
    assert home.ask("get", id)["entries"][0]["content"] == f"The tide gauge was moved. {REST}"
