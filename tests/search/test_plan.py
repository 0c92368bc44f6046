"""The plan of a search is what runs: `analyze` says before what `explain` reports after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle, takewhile
from pathlib import Path
from typing import Any

import pytest
from homes import Clock, open_home
from trials import drawn

from synaptic import Filters, Workspace, open_workspace, save, search
from synaptic.index.embedding import FastEmbedder
from synaptic.models import STRATEGIES
from synaptic.render.wire import search_json
from synaptic.search.explain import analyze_question

DATA = Path(__file__).parent.with_name("data")
SHAPES = (
    "parse_header",
    '"booked twice" berth',
    '"no such phrase" berth',
    "MongoDB for berth bookings",
    "decisions of May",
    "what did we do in June",
    "which decisions did we take about the bookings in June?",
    "only from June: bookings",
    "open issues about the login",
    "berth, newest first",
    "",
    "type:decision",
    "tag:database bookings",
    "since:2026-06-01",
    "Which is faster, Redis or Postgres, and who decided it?",
    "What did we use before Postgres?",
    "why did we choose MongoDB then",
    "bookngs",
    "lineitems",
    "plug* berth",
    "in all projects: bookings",
    "-kafka berth",
    "wann haben wir im Juni entschieden",
    "wifi " * 400,
)


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory, model: FastEmbedder) -> Iterator[Workspace]:
    """The decisions and issues of a port, all of them with vectors; only searched."""
    home = open_home(tmp_path_factory.mktemp("port") / "home")
    with open_workspace(home.config, embedder=model, clock=Clock()) as ws:
        entries = json.loads((DATA / "state_journal.json").read_text(encoding="utf-8"))
        for entry in entries[:40]:
            text = f"{entry['title']}\n\n{entry['content']}"
            save(ws, text, at=entry["at"], type=entry["type"], tags=entry["tags"])
        search(ws, "port", embed_ms=60_000)
        yield ws


def questions(sweep: str) -> list[str]:
    """Drawn ones of SHAPES and of those with labels, in a soak a hundred."""
    labelled = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))
    more = json.loads((DATA / "state_questions.json").read_text(encoding="utf-8"))
    texts = [row["question"] for row in (*labelled, *more)]
    return [
        *drawn(f"{sweep} shapes", SHAPES, 7),
        *drawn(f"{sweep} labelled", texts[: 100 - len(SHAPES)], 5),
    ]


def assert_plan_ran(ws: Workspace, query: str, **options: Any) -> Any:
    """Compares the plan of a search before and after, with the sub-queries that ran."""
    before = analyze_question(ws, query, **options)["plan"]
    result = search_json(search(ws, query, explain=True, **options))
    del before["estimated_complexity"]
    assert result["plan"] == before
    first, *later = result["rounds"]
    assert first["because"] == "" and first["sub_queries"] == before["sub_queries"]
    own = [*takewhile(lambda one: one["because"] == "the words of the best answers", later)]
    assert len(own) < before["rounds"]
    assert all(one["because"] and one["sub_queries"] for one in later)
    return result


@pytest.mark.sweep("strategy")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_search_runs_the_plan_that_was_shown(port: Workspace, strategy: str) -> None:
    for query in questions(strategy):
        assert_plan_ran(port, query, strategy=strategy)


@pytest.mark.sweep
def test_options_are_values_of_the_plan(port: Workspace) -> None:
    options: list[dict[str, Any]] = [
        {"preset": "recent", "prefer": Filters(tags=("database",))},
        {"weights": {"symbolic": 1}, "prefer": Filters(types=("decision",))},
        {"prefer": Filters(since="2026-06-01", projects=("harbor",))},
        {"sub_queries": ["boats", "guests", "boats"], "max_rounds": 3},
        {"strategy": "smart", "max_rounds": 0, "limit": 30},
        {"filters": Filters(types=("issue",)), "order": "newest"},
        {"min_similarity": 0.3, "limit": 5},
    ]
    for query, more in zip(questions("options"), cycle(options), strict=False):
        assert_plan_ran(port, query, **more)


@pytest.mark.parametrize(
    ("query", "options", "execution", "merge", "layers"),
    [
        ("berths of guests", {}, "parallel", "weighted", ["hybrid"]),
        ("parse_header", {"limit": 3}, "parallel", "union", ["lexical"]),
        ("berths", {"strategy": "semantic"}, "parallel", "union", ["semantic"]),
        (
            "berths",
            {"strategy": "bounded"},
            "sequential",
            "intersection",
            ["semantic", "symbolic"],
        ),
        ("decisions of June", {}, "parallel", "union", ["symbolic"]),
        ("what did we do in June", {}, "parallel", "union", ["temporal"]),
        ('"booked twice" berth', {}, "parallel", "union", ["lexical", "phrase"]),
        ('which "booked twice" berths', {}, "parallel", "weighted", ["hybrid", "phrase"]),
        ("MongoDB for berth bookings", {}, "parallel", "weighted", ["hybrid", "title"]),
        ("bookings in June", {}, "sequential", "weighted", ["hybrid", "temporal", "symbolic"]),
        (
            "Which is faster, Redis or Postgres, and who decided it?",
            {"strategy": "smart"},
            "iterative",
            "weighted",
            ["hybrid"] * 3,
        ),
    ],
)
def test_the_plan_names_its_layers(
    port: Workspace,
    query: str,
    options: dict[str, Any],
    execution: str,
    merge: str,
    layers: list[str],
) -> None:
    plan = assert_plan_ran(port, query, **options)["plan"]
    assert (plan["execution"], plan["merge"]) == (execution, merge)
    assert [one["layer"] for one in plan["sub_queries"]] == layers


def test_without_a_model_the_words_that_ran_are_reported(tmp_path: Path) -> None:
    with open_workspace(open_home(tmp_path).config) as ws:
        save(ws, "The berth is booked twice.")
        result = search(ws, "which berths are booked", load_model=False, explain=True)
    assert result.plan and [one["layer"] for one in result.plan["sub_queries"]] == ["hybrid"]
    assert [one.layer for one in result.rounds[0].sub_queries] == ["lexical"]
    assert "words only" in " ".join(result.notices)


def test_a_second_search_says_why_it_ran(port: Workspace) -> None:
    for query, because in (
        ("bookngs zzyzx", "spelling"),
        ("zzyzx_qqq", "nothing was found by words"),
    ):
        rounds = search(port, query, explain=True).rounds
        assert [one.because for one in rounds][-1] == because


def test_a_plan_of_long_texts_is_short(port: Workspace) -> None:
    data = analyze_question(port, "x" * 20_000)
    assert len(json.dumps(data, default=str)) < 5_000
