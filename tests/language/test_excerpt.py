"""The sentences of a note that say most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.language.excerpt import choose_sentences, split_sentences

NOTE = (
    "The suite needs a database. Start it with `make db`, then run `make test`. It takes a "
    "minute on a laptop."
)


@pytest.mark.parametrize(
    ("room", "choice"),
    [
        (200, NOTE),
        (75, "Start it with `make db`, then run `make test`. The suite needs a database. …"),
        (60, "Start it with `make db`, then run `make test`. …"),
        (1, "Start it with `make db`, then run `make test`. …"),
    ],
)
def test_the_sentences_with_commands_and_names_come_first(room: int, choice: str) -> None:
    chosen = choose_sentences(NOTE, room, len)
    assert sorted(split_sentences(chosen)) == sorted(split_sentences(choice))


def test_an_entry_begins_with_the_occasion() -> None:
    text = "It broke twice in the first week of May. The limit is 8."
    assert choose_sentences(text, 50, len) == "The limit is 8. …"


def test_sentences_keep_their_order_and_items_of_a_list_stand_alone() -> None:
    text = "# Release\n\n- tag it\n- run `make sign`\n- wait for the mail of the signer"
    assert (
        choose_sentences(text, 50, len)
        == "- run `make sign` - wait for the mail of the signer …"
    )


@given(st.text(max_size=400), st.integers(1, 100))
def test_a_choice_holds_whole_sentences_within_the_room(text: str, room: int) -> None:
    sentences = split_sentences(text)
    chosen = choose_sentences(text, room, len)
    if chosen.endswith("…") and chosen != " ".join(sentences):
        left = chosen.removesuffix("…").strip()
        assert any(left.startswith(sentence) for sentence in sentences)
        assert len(left.replace(" ", "")) <= max(room, *map(len, sentences))
    else:
        assert chosen == " ".join(sentences)
