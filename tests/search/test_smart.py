"""Smart search: parts, rounds, and what they add."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Clock, open_home
from hypothesis import given
from hypothesis import strategies as st
from outside import Home

from synaptic import Workspace, open_workspace, save, search
from synaptic.errors import InvalidArgument
from synaptic.index.embedding import FastEmbedder
from synaptic.language.lexicon import STOP_WORDS
from synaptic.models import Filters
from synaptic.search.smart import split


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What instruments does Melanie play?", ["instruments play"]),
        ("Which books did Anna's sister lend to Tom?", ["books sister lend"]),
        ("what instruments does she play?", []),  # no name
        ("Tell me about Melanie", []),  # too little would be left
        ("Moving From Bash To Fish", []),  # a title, all of it
        ("How does JWT refresh work?", []),  # no name of a person
        ("", []),
    ],
)
def test_a_question_without_its_names(question: str, parts: list[str]) -> None:
    assert split(question) == parts


WORDS = st.sampled_from(
    ["What", "does", "Melanie", "Tom's", "play", "instruments", "the", "?", "-", "x_y", "Über", " "]
)


@given(st.text() | st.lists(WORDS, max_size=12).map(" ".join))
def test_a_part_holds_words_of_the_question_in_their_order_and_no_name(text: str) -> None:
    words = re.findall(r"\w[\w'-]*", text)
    for part in split(text):
        kept = part.split(" ")
        rest = iter(words)
        assert len(kept) >= 2 and all(word in rest for word in kept)
        bare = {word: word.removesuffix("'s") for word in words[1:]}
        names = [word for word, name in bare.items() if name[:1].isupper() and name[1:].islower()]
        names = [word for word in names if bare[word].lower() not in STOP_WORDS]
        assert names and set(kept[1:]).isdisjoint(names)


@pytest.fixture
def diary(tmp_path: Path, model: FastEmbedder) -> Iterator[Workspace]:
    """Much about Melanie, two things of it about instruments; one of these without her name."""
    clock = Clock()
    with open_workspace(open_home(tmp_path / "home").config, embedder=model, clock=clock) as ws:
        for number in range(40):
            clock.forward(minutes=5)
            save(ws, f"Melanie: I talked to Melanie's neighbour number {number}, Melanie said.")
        save(ws, "Melanie: the clarinet has been mine since school.")
        save(ws, "On Sundays it is the violin, with the orchestra in town.")
        yield ws


def test_what_a_name_crowds_out_is_found(diary: Workspace) -> None:
    question = "Which instruments does Melanie play in an orchestra?"
    search(diary, question, embed_ms=20_000)
    smart = search(diary, question, strategy="smart", limit=5, explain=True)
    texts = " ".join(hit.entry.content for hit in smart.hits)
    assert "clarinet" in texts and "violin" in texts
    assert smart.strategy == "smart" and smart.mode == "hybrid"
    first, second = smart.rounds
    assert [query.query for query in first.sub_queries] == [question, "instruments play orchestra"]
    assert first.sub_queries[0].weight == 1 > first.sub_queries[1].weight
    assert second.sub_queries[0].query.startswith(question)
    scores = [hit.score for hit in smart.hits]
    assert scores == sorted(scores, reverse=True) and 0 < scores[0] <= 1


def test_rounds_and_parts_are_the_callers_to_choose(diary: Workspace) -> None:
    plan_only = search(diary, "Which instruments does Melanie play?", strategy="smart", max_rounds=0, explain=True)
    assert len(plan_only.rounds) == 1
    own = search(diary, "music", strategy="smart", sub_queries=["clarinet", "violin"], max_rounds=0, explain=True)
    assert [query.query for query in own.rounds[0].sub_queries] == ["music", "clarinet", "violin"]
    assert {"clarinet", "violin"} <= {word.strip(".,") for hit in own.hits[:2] for word in hit.entry.content.split()}
    assert search(diary, "music", strategy="smart").rounds == ()  # only when asked
    with pytest.raises(InvalidArgument, match="0 to 3"):
        search(diary, "music", strategy="smart", max_rounds=4)


def test_a_round_that_brings_nothing_is_the_last(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "An entry about cables.", tags=["shop"])
        save(ws, "Lunch with Anna.")  # the filter hides her, so that a third round would ask for her
        found = search(
            ws,
            "Which cables did Anna buy?",
            filters=Filters(tags=("shop",)),
            strategy="smart",
            max_rounds=3,
            explain=True,
        )
        assert [hit.entry.title for hit in found.hits] == ["An entry about cables."]
        assert len(found.rounds) == 2 and found.rounds[1].new == 0 and found.rounds[1].missing == ("Anna",)


def test_a_smart_search_without_words_lists_and_without_fitting_words_shows_the_nearest(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "A single entry about cables.")
        assert search(ws, "", strategy="smart").total == 1
        assert search(ws, "zebra", strategy="smart").total == 1


def test_the_command_carries_the_plan(home: Home) -> None:
    home.ask("save", "Melanie plays the clarinet.")
    flags = ("--strategy", "smart", "--sub-query", "clarinet", "--max-rounds", "1", "--explain")
    said = home.ask("search", "what does Melanie play", *flags)
    queries = [query["query"] for query in said["rounds"][0]["sub_queries"]]
    assert queries == ["what does Melanie play", "clarinet"]
    assert said["hits"][0]["title"] == "Melanie plays the clarinet."
