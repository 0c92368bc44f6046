"""Smart search: parts, rounds, and what they add."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import Clock, open_home
from outside import Home

from synaptic import Workspace, open_workspace, save, search
from synaptic.errors import InvalidArgument
from synaptic.filters import Filters
from synaptic.index.embedding import FastEmbedder
from synaptic.language.analysis.forms import searchable_parts


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory, model: FastEmbedder) -> Iterator[Workspace]:
    """Only searched: much about Melanie, two things of it about instruments; one of these without her name."""
    clock, home = Clock(), tmp_path_factory.mktemp("diary") / "home"
    with open_workspace(open_home(home).config, embedder=model, clock=clock) as ws:
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
    assert [query.query for query in first.sub_queries] == [question]
    assert second.sub_queries[0].query.startswith(question)
    scores = [hit.score for hit in smart.hits]
    assert scores == sorted(scores, reverse=True) and 0 < scores[0] <= 1


@pytest.mark.parametrize(
    "question",
    [
        "Is the clarinet or the violin better for Sundays?",
        "Who plays in the orchestra and where does she live?",
        "What did Melanie say before the clarinet was mine?",
        "Which instruments does Melanie play?",
        "when was the violin on a Sunday?",
    ],
)
def test_the_parts_of_a_question_run_where_a_smart_search_is_asked_for(
    diary: Workspace, question: str
) -> None:
    found = search(diary, question, explain=True)
    assert found.strategy == "hybrid" and found.plan
    assert [part["query"] for part in found.plan["sub_queries"]] == [question]
    ran = search(diary, question, strategy="smart", explain=True).rounds[0].sub_queries
    assert [part.query for part in ran] == [question, *searchable_parts(question)]


def test_rounds_and_parts_are_the_callers_to_choose(diary: Workspace) -> None:
    plan_only = search(
        diary,
        "Which instruments does Melanie play?",
        strategy="smart",
        max_rounds=0,
        explain=True,
    )
    assert len(plan_only.rounds) == 1
    own = search(
        diary,
        "music",
        strategy="smart",
        sub_queries=["clarinet", "violin"],
        max_rounds=0,
        explain=True,
    )
    assert [query.query for query in own.rounds[0].sub_queries] == [
        "music",
        "clarinet",
        "violin",
    ]
    assert {"clarinet", "violin"} <= {
        word.strip(".,") for hit in own.hits[:2] for word in hit.entry.content.split()
    }
    assert search(diary, "music", strategy="smart").rounds == ()  # only when asked
    with pytest.raises(InvalidArgument, match="0 to 3"):
        search(diary, "music", strategy="smart", max_rounds=4)


def test_a_round_that_brings_nothing_is_the_last(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "An entry about cables.", tags=["shop"])
        save(
            ws, "Lunch with Anna."
        )  # the filter hides her, so that a third round would ask for her
        found = search(
            ws,
            "Which cables did Anna buy?",
            filters=Filters(tags=("shop",)),
            strategy="smart",
            limit=20,
            max_rounds=3,
            explain=True,
        )
        assert [hit.entry.title for hit in found.hits] == ["An entry about cables."]
        assert [one.new for one in found.rounds] == [1, 0]


def test_a_smart_search_without_words_lists_and_without_fitting_words_shows_the_nearest(
    tmp_path: Path,
) -> None:
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
