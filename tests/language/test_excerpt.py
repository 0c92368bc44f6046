"""The sentences of a note that say most."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.language.excerpt import BEGINNING_CHARS, choose_sentences, split_sentences
from synaptic.notes.header import shorten

NOTE = (
    "The suite needs a database. Start it with `make db`, then run `make test`. It takes a "
    "minute on a laptop."
)


@pytest.mark.parametrize(
    ("room", "choice"),
    [
        (200, NOTE),
        (80, "The suite needs a database. Start it with `make db`, then run `make test`. …"),
        (60, "The suite needs a… Start it with `make db`, then run `make test`. …"),
        (1, "The suite needs a… Start it with `make db`, then run `make test`. …"),
    ],
)
def test_the_sentences_with_commands_and_names_come_first(room: int, choice: str) -> None:
    assert choose_sentences(NOTE, room, len) == choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        (
            "Node 18+ breaks web: the old bundler dies with an error of OpenSSL. Use `nvm 16`.",
            "Node 18+ breaks web… Use `nvm 16`. …",
        ),
        (
            "Never by hand.\n- `terraform apply` was how it began, until March of this year",
            "Never by hand. - `terraform apply` was how it began, until March of this year …",
        ),
        (
            "Früher, bis zum Umzug im Mai, half nur dies. Den Dienst mit `kill -9` beenden.",
            "Früher, bis zum Umzug… Den Dienst mit `kill -9` beenden. …",
        ),
        (
            "It broke twice in the first week of May. The limit is 8.",
            "It broke twice in the… The limit is 8. …",
        ),
    ],
)
def test_an_explanation_keeps_its_beginning_and_becomes_no_order(
    text: str, choice: str
) -> None:
    assert choose_sentences(text, 20, len) == choice


def test_sentences_keep_their_order_and_items_of_a_list_stand_alone() -> None:
    text = "# Release\n\n- tag it\n- run `make sign`\n- wait for the mail of the signer"
    assert (
        choose_sentences(text, 64, len)
        == "# Release - run `make sign` - wait for the mail of the signer …"
    )


@given(st.text(max_size=400), st.integers(1, 100))
def test_a_choice_holds_the_beginning_and_whole_sentences(text: str, room: int) -> None:
    sentences = split_sentences(text)
    chosen = choose_sentences(text, room, len)
    if len(" ".join(sentences)) <= room:
        assert chosen == " ".join(sentences)
        return
    beginning = shorten(sentences[0], BEGINNING_CHARS)
    assert chosen.endswith(" …") and chosen.startswith(beginning.removesuffix("…"))
    rest = chosen.removesuffix(" …").removeprefix(sentences[0]).removeprefix(beginning)
    assert not rest or any(rest.strip().startswith(sentence) for sentence in sentences)
    longest = max(map(len, sentences))
    assert len(chosen) <= max(room, longest) + BEGINNING_CHARS + len(sentences) + 2
