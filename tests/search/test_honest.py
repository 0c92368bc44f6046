"""Honest about what was: what was replaced, what changed, words that nobody wrote, and whose
projects are meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from homes import Clock, open_home

from synaptic import Workspace, get, rebuild, save, search, update
from synaptic.index.embedding import FastEmbedder
from synaptic.language.analysis.asked import QUESTIONS
from synaptic.language.lexicon import compile_once
from synaptic.models import NOTHING_CLOSE, SearchResult
from synaptic.render.present import entry_block, entry_items, hit_items, list_lines
from synaptic.search.doubt import NEAREST
from synaptic.verbs.newest import history

NOTES = (
    ("shop", "Orders are billed in euros, because the bank takes no dollars."),
    ("shop", "The nightly export fails on empty invoices."),
    ("shop", "The web client uses Svelte, because bundles are small."),
    ("shop", "The login page is done; the password reset is left."),
    ("shop", "The cron job runs in UTC, so reports are an hour late in summer."),
    ("shop", "The connection pool holds 20 connections."),
    ("tides", "pgbouncer must run in transaction mode, else statements leak."),
    ("tides", "The tables come from NOAA each morning."),
    ("tides", "The connection pool of the tide server holds 5 connections."),
    ("tides", "Errors are logged as JSON lines."),
)
DATA = Path(__file__).parents[1] / "data"
MISSED = "list what the agents logged overnight"
"""A request for what changed that is read as a search for `agents`."""
WHY = "The connector lost its slot twice, because a disk was full."


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory, model: FastEmbedder) -> Iterator[Workspace]:
    clock = Clock()
    clock.now = datetime(2026, 11, 20, 9).astimezone()  # a Friday
    home = tmp_path_factory.mktemp("honest")
    with open_home(home, embedder=model, clock=clock, project="shop") as ws:
        ws.journal.clock = clock
        for number, (project, text) in enumerate(NOTES):
            save(ws, text, project=project, at=f"2026-10-{number + 1:02}")
        text = "Capture by Debezium\n\nIt reads the log of the orders table."
        old = save(ws, text, type="decision", at="2026-10-20")
        text = f"An outbox table instead\n\nA poller reads it. {WHY}"
        save(ws, text, type="decision", at="2026-11-02", supersedes=[old.id])
        rebuild(ws)
        yield ws


@pytest.fixture
def old_notes(ws_of_words: Workspace) -> Workspace:
    """A workspace with an entry on each of the last 30 days."""
    for day in range(30):
        at = ws_of_words.clock() - timedelta(days=day, hours=1)
        save(ws_of_words, f"Something of day {day}.", at=at.isoformat())
    return ws_of_words


@pytest.fixture
def ws_of_words(tmp_path: Path, clock: Clock) -> Iterator[Workspace]:
    with open_home(tmp_path / "home", clock=clock) as ws:
        yield ws


def titles(found: SearchResult) -> list[str]:
    return [hit.entry.title for hit in found.hits]


@pytest.mark.parametrize(
    "query",
    [
        "Debezium",
        "do we use Debezium?",
        "why did we drop Debezium",
        "is Debezium still in use for the web client?",
        "Debezium connection pool",
    ],
)
def test_a_name_that_only_a_replaced_entry_holds_finds_what_replaced_it(
    ws: Workspace, query: str
) -> None:
    found = search(ws, query)
    [later] = [hit for hit in found.hits if hit.entry.title == "An outbox table instead"]
    assert [near.title for near in later.replaces] == ["Capture by Debezium"]
    assert not any("no close match" in notice for notice in found.notices)
    text = "\n".join(list_lines(hit_items(found, length=1_000), 600))
    assert WHY.rstrip(".") in text and "replaces, 2026-10-20: Capture by Debezium (" in text


@pytest.fixture(scope="module")
def pumps(tmp_path_factory: pytest.TempPathFactory, model: FastEmbedder) -> Iterator[Workspace]:
    """24 entries on pumps, which one entry on another topic replaced."""
    home = tmp_path_factory.mktemp("pumps")
    with open_home(home, embedder=model) as ws:
        texts = [f"Pump {number} of hall {number} runs at night." for number in range(1, 25)]
        ids = [save(ws, text, at="2026-10-20").id for text in texts]
        save(ws, "One timetable for every machine.", at="2026-11-02", supersedes=ids)
        save(ws, "The choir sings on Tuesday.", at="2026-11-03")
        rebuild(ws)
        yield ws


def test_what_was_replaced_fits_only_with_a_score(pumps: Workspace) -> None:
    fitting = search(pumps, "night pump")
    assert fitting.hits[0].replaces and fitting.hits[0].score > 0.2
    assert fitting.notices == ()
    doubted = search(pumps, "bicycle repair")
    assert doubted.hits[0].replaces
    assert doubted.notices == (NOTHING_CLOSE,)


def test_what_is_in_force_stands_above_what_it_replaced(ws: Workspace) -> None:
    found = search(ws, "which outbox table took the place of Debezium?")
    assert titles(found)[0] == "An outbox table instead"
    assert [near.title for near in found.hits[0].replaces] == ["Capture by Debezium"]


def test_no_word_of_the_question_no_replaced_entry(ws: Workspace) -> None:
    found = search(ws, "how many connections does the pool hold")
    assert not any(hit.superseded_by for hit in found.hits)


def test_an_entry_shows_the_chain_that_it_is_in(ws: Workspace) -> None:
    [old] = search(ws, "Debezium").hits[0].replaces
    listing = get(ws, [old.id])
    said = entry_block(entry_items(listing)[0])
    assert said.index("2026-10-20 Capture") < said.index("2026-11-02 An outbox table")
    for entry in listing.chains[old.id]:
        chain = history(ws, entry.id)
        assert [one.date for one in chain.entries] == ["2026-10-20", "2026-11-02"]
    [other, *_] = search(ws, "cron job").hits
    assert get(ws, [other.entry.id]).chains == {}


def test_the_history_of_an_entry_is_its_whole_thread(tmp_path: Path) -> None:
    with open_home(tmp_path / "home", clock=Clock()) as ws:
        clock = ws.clock
        assert isinstance(clock, Clock)

        def tell(text: str, **marks: Any) -> str:
            clock.forward(minutes=1)
            return save(ws, text, **marks).id

        first = tell("The pump leaks.")
        wrong = tell("A new seal holds it.", parent=first)
        right = tell("A new shaft holds it.", supersedes=[wrong])
        branch = tell("Ordered two shafts.", parent=right)
        other = tell("And one seal, for the old pump.", parent=first)
        tell("Of another pump.")
        for id in (first, wrong, right, branch, other):
            told = [one.id for one in history(ws, id).entries]
            assert told == [first, wrong, right, branch, other]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("Vue", "No entry holds: Vue."),
        ("did we consider Vue in April 2026?", "No entry holds: Vue."),
        ("did we ever consider Vue or MongoDB?", "No entry holds: Vue, MongoDB."),
        ("why not kubernetes for the nightly export", "No entry holds: kubernetes."),
        ("how do we bill orders", ""),
        ("do we use Svelte", ""),
        ("do we use svelet", ""),  # a typing error
        ("Benutzen wir Kubernetes oder nicht?", ""),  # nouns have capitals there
    ],
)
def test_names_that_nobody_wrote_are_told(ws: Workspace, query: str, said: str) -> None:
    notices = [one for one in search(ws, query).notices if "No entry holds" in one]
    assert len(notices) == bool(said) and all(said in one for one in notices)


def test_one_line_says_that_nothing_is_close_and_what_is_in_no_entry(ws: Workspace) -> None:
    """Hits for which nothing speaks are few, as beside each other they look like an answer."""
    found = search(ws, "turtles")
    said = f"{NOTHING_CLOSE} No entry holds: turtles."
    assert found.notices == (f"{said} Only three are shown; a limit of 8 shows more.",)
    assert len(found.hits) == found.total == NEAREST
    asked = search(ws, "turtles", limit=8)
    assert asked.notices == (said,) and len(asked.hits) == 8
    assert asked.hits[:NEAREST] == found.hits


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("pgbouncer transaction pool", "pgbouncer must run in transaction mode"),
        ("connection settings for pgbouncer", "pgbouncer must run in transaction mode"),
        ("do reports come from NOAA", "The tables come from NOAA each morning"),
        ("connection pool", "The connection pool holds 20 connections"),
    ],
)
def test_a_rare_name_beats_the_own_project(ws: Workspace, query: str, first: str) -> None:
    assert titles(search(ws, query))[0].startswith(first)


def test_the_question_says_whose_projects_are_meant(ws: Workspace) -> None:
    for query in ("only in this project: how are errors logged", "errors in this repo alone"):
        found = search(ws, query)
        assert {hit.entry.project for hit in found.hits} == {"shop"}, query
    own, other = ("The connection pool holds 20", "The connection pool of the tide")
    asked = "tide connection pool"
    for query in (f"{asked} across our projects", f"across all projects, {asked}"):
        assert titles(search(ws, query))[0].startswith(other)
    assert titles(search(ws, "connection pool in this project"))[0].startswith(own)


def test_changes_are_a_list_by_time(ws: Workspace) -> None:
    clock = ws.clock
    assert isinstance(clock, Clock)
    first = save(ws, "The shelf is red.", type="decision").id
    clock.forward(days=2)
    second = save(ws, "The shelf is blue.", type="decision", supersedes=[first]).id
    clock.forward(hours=1)
    pool = search(ws, "connection pool holds 20").hits[0].entry.id
    update(ws, pool, append="It held 10 before.")
    clock.forward(days=2)
    for query in ("what changed since Friday", "what is new since last friday?"):
        found = search(ws, query)
        assert [hit.entry.id for hit in found.hits if hit.entry.project == "shop"] == [
            pool,
            second,
            first,
        ]
        told = {hit.entry.id: hit.outcome for hit in found.hits}
        assert told[pool].startswith("changed 2026-11-22 10:00")
        assert told[second] == "replaces The shelf is red."
        assert found.hits[2].superseded_by == second
    assert search(ws, "what changed since yesterday").hits == ()


def test_requests_for_what_changed(old_notes: Workspace) -> None:
    for case in json.loads((DATA / "what_changed.json").read_text("utf-8")):
        found = search(old_notes, case["question"])
        is_list = any("newest first" in notice for notice in found.notices)
        is_meant = case["meant"] == "list" and case["question"] != MISSED
        assert is_list == is_meant, case["question"]
        if is_list:
            dates = [hit.entry.date for hit in found.hits]
            assert dates == sorted(dates, reverse=True)
            assert dates


def test_when_something_happened_last_is_no_list_of_choices(ws_of_words: Workspace) -> None:
    save(ws_of_words, "We go for Redis.", type="decision")
    save(ws_of_words, "Went for a run along the river.")
    found = search(ws_of_words, "when did I last go for a run")
    assert "Went for a run along the river." in titles(found)
    assert not any("Listed" in notice for notice in found.notices)


def test_questions_for_what_held_before() -> None:
    """Chosen on the phrases at even places: there 9 of 9 and none of 10, at odd ones 8 of 11
    and 1 of 8.
    """
    former = compile_once(QUESTIONS.pattern("former"), re.IGNORECASE)
    found = {"former": 0, "present": 0}
    for case in json.loads((DATA / "past.json").read_text("utf-8")):
        if case["asks"] in found:
            found[case["asks"]] += former.search(case["phrase"]) is not None
    assert found["former"] >= 17 and found["present"] <= 1


def test_questions_name_their_projects(ws_of_words: Workspace, clock: Clock) -> None:
    cases = json.loads((DATA / "projects_phrases.json").read_text("utf-8"))
    for project in ("tests", "other"):  # the later would come first
        for case in cases:
            save(ws_of_words, case["rest"], project=project, force=True)
        clock.forward(days=1)
    for case in cases:
        found = search(ws_of_words, case["question"], strategy="lexical")
        projects = [hit.entry.project for hit in found.hits]
        if case["scope"] == "this":
            assert {*projects} == {"tests"}, case["question"]
        else:
            first = "other" if case["scope"] == "all" else "tests"
            assert projects[0] == first, case["question"]
            assert {*projects} == {"tests", "other"}, case["question"]
