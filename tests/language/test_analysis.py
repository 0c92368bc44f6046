"""What a question asks for, and the plan that is made of it."""

from __future__ import annotations

import json
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synaptic.language.analysis import analyze as rules
from synaptic.language.analysis.analyze import JournalNames, analyze
from synaptic.language.analysis.asked import QUESTIONS, read_question
from synaptic.language.analysis.forms import searchable_parts

TODAY = date(2026, 11, 21)  # a Saturday
DATA = Path(__file__).parents[1] / "data"
PACKAGE = Path(rules.__file__).parent
NOTHING = JournalNames()
KNOWN = JournalNames(
    tags=frozenset({"auth", "vector-db", "migration"}),
    projects=frozenset({"synaptic", "big app"}),
    files=frozenset({"src/worker.py", "docs/readme.md", "web/readme.md"}),
)

TYPES = {"factual", "temporal", "comparative", "aggregation", "multi-hop", "conceptual"}
INTENTS = {"entity", "temporal", "attribute", "relation", "general"}
KINDS = {"person", "project", "tool", "file", "tag", "unknown"}


def read(query: str, known: JournalNames = NOTHING) -> dict[str, Any]:
    asked = read_question(query, today=TODAY)
    return analyze(query, asked, known)


def kinds(query: str, known: JournalNames = NOTHING) -> dict[str, str]:
    return {entity.name: entity.type for entity in read(query, known)["entities"]}


# --- labelled questions
# -------------------------------------------------------------------------------------------


@cache
def labelled(half: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The questions of this file, each with its analysis."""
    questions = json.loads((DATA / f"{half}.json").read_text("utf-8"))
    return [(question, read(question["question"])) for question in questions]


def accuracy(half: str, label: str) -> float:
    """Percentage of the labelled questions whose analysis says what the label says."""
    field = {"type": "question_type"}.get(label, label)
    right = [analysis[field] == question[label] for question, analysis in labelled(half)]
    return 100 * sum(right) / max(60, len(right))


@pytest.mark.parametrize(
    ("half", "label", "goal"),
    [
        ("questions", "type", 95),
        ("questions", "complexity", 80),
        ("questions", "intent", 95),
        ("questions_held", "type", 98),
        ("questions_held", "complexity", 86),
        ("questions_held", "intent", 90),
        ("questions_more_dev", "type", 98),
        ("questions_more_dev", "complexity", 82),
        ("questions_more_dev", "intent", 70),
        ("questions_more_held", "type", 89),
        ("questions_more_held", "complexity", 81),
        ("questions_more_held", "intent", 59),
    ],
)
def test_labelled_questions_are_read_as_their_labels_say(
    half: str, label: str, goal: int
) -> None:
    reached = accuracy(half, label)
    assert reached >= goal


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What port does the worker use?", ("factual", "low", "attribute")),
        ("wifi password of the cabin", ("factual", "low", "attribute")),
        ("Who is Marek Novak?", ("factual", "low", "entity")),
        ("When did we move to Postgres?", ("temporal", "low", "temporal")),
        ("When did Ann move after she left the bank?", ("temporal", "medium", "temporal")),
        (
            "Which is faster, the Rust parser or the Python one?",
            ("comparative", "medium", "attribute"),
        ),
        ("Kafka vs RabbitMQ for the event bus", ("comparative", "medium", "general")),
        ("How many incidents were there?", ("aggregation", "low", "general")),
        ("How many incidents were there last week?", ("aggregation", "medium", "general")),
        ("Who wrote the script behind the nightly report?", ("multi-hop", "high", "attribute")),
        ("Why did we drop GraphQL?", ("conceptual", "medium", "general")),
        ("Does the mobile app depend on the old SDK?", ("factual", "low", "relation")),
        ("", ("factual", "low", "general")),
    ],
)
def test_type_complexity_and_intent(query: str, expected: tuple[str, str, str]) -> None:
    analysis = read(query)
    assert (analysis["question_type"], analysis["complexity"], analysis["intent"]) == expected


@pytest.mark.parametrize(
    ("plain", "asked"),
    [
        (
            "which port does the worker use",
            "Could you please tell me which port does the worker use",
        ),
        ("When did we move to Postgres?", "do you remember when did we move to Postgres?"),
        ("what is the point of the spool", "whats the point of the spool"),
        ("all decisions on caching", "show me all decisions on caching"),
    ],
)
def test_the_words_that_only_ask_to_be_told_change_nothing(plain: str, asked: str) -> None:
    one, other = read(plain), read(asked)
    assert (one["question_type"], one["complexity"], one["intent"]) == (
        other["question_type"],
        other["complexity"],
        other["intent"],
    )


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        (
            "What was the restaurant where we met?",
            "factual",
        ),  # the description tells what is sought
        ("Who owns the restaurant where we met?", "multi-hop"),
        ("the tool that builds the docs", "factual"),
        ("version of the tool that builds the docs", "multi-hop"),
    ],
)
def test_a_description_is_a_hop_where_something_else_is_sought(query: str, kind: str) -> None:
    assert read(query)["question_type"] == kind


def test_every_feature_is_looked_at_somewhere() -> None:
    written = (PACKAGE / "analyze.py").read_text("utf-8")
    features = QUESTIONS.patterns("features")
    in_rows = {*rules.INFO_TYPES}
    for _, listed in QUESTIONS.read["types"]:
        in_rows.update(listed.split())
    assert in_rows <= features.keys()
    unused = [name for name in features if f'"{name}"' not in written and name not in in_rows]
    assert unused == []


def test_a_clear_question_is_surer_than_bare_words_and_nothing_is_sure_of_nothing() -> None:
    assert (
        read("When did we move?")["confidence"]
        > read("worker port")["confidence"]
        > read("")["confidence"]
        == 0
    )


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("Who fixed it and when?", {"person", "time"}),
        ("Why did the import fail?", {"reason", "explanation"}),
        ("How many bugs are open?", {"number", "status"}),
        ("Where is the key?", {"place"}),
        ("worker port", {"fact"}),
    ],
)
def test_the_kinds_of_information_that_an_answer_needs(query: str, wanted: set[str]) -> None:
    assert wanted <= set(read(query)["info_types"])


# --- entities and preferences
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "name", "kind"),
    [
        ("what about the vector db", "vector-db", "tag"),
        ("notes tagged #auth", "auth", "tag"),
        ("status of Synaptic", "synaptic", "project"),
        ("what is in the Big App", "big app", "project"),
        ("what changed in worker.py", "src/worker.py", "file"),
    ],
)
def test_what_the_journal_knows_is_found_under_its_own_name(
    query: str, name: str, kind: str
) -> None:
    assert kinds(query, KNOWN).get(name) == kind


@pytest.mark.parametrize(
    ("query", "name", "kind"),
    [
        ("what did we see in Berlin", "Berlin", "unknown"),
        ("When did Nora travel to New Zealand?", "New Zealand", "unknown"),
        ("the contract with Acme Corp", "Acme Corp", "unknown"),
        ("who leads the Falcon team", "Falcon", "unknown"),
        ("does Nora work at Umbrella", "Umbrella", "unknown"),
        ("when did Melanie sign up for the class", "Melanie", "unknown"),
        ("Is the Halloween list done", "Halloween", "unknown"),
        ("notes on the Lisbon conference", "Lisbon", "unknown"),
        ("tasks of project Nightjar", "Nightjar", "unknown"),
        ("how does PM2 restart it", "PM2", "tool"),
        ("is it FastAPI or redis", "FastAPI", "tool"),
        ("is it FastAPI or redis", "redis", "tool"),
        ("why is numpy.linalg slow", "numpy.linalg", "tool"),
        ("the node.js version", "node.js", "tool"),
        ("look into src/x/y.ts please", "src/x/y.ts", "file"),
        ("what is in /etc/nginx/sites", "/etc/nginx/sites", "file"),
        ("anything #billing", "#billing", "tag"),
        ('who sang "Long Walk"', "Long Walk", "unknown"),
        ("what do we know about Tomasz", "Tomasz", "unknown"),
    ],
)
def test_names_are_told_by_their_form(query: str, name: str, kind: str) -> None:
    assert kinds(query).get(name) == kind


@pytest.mark.parametrize(
    "query",
    [
        "Compare both",
        "Deploys were slow",
        "we met at 10 am",
        "use 2.5 and/or 3.1, e.g. today",
        "Will we move in May?",
    ],
)
def test_what_is_no_name_is_not_taken_for_one(query: str) -> None:
    assert kinds(query) == {}


def test_a_file_name_that_two_files_share_is_neither() -> None:
    assert "web/readme.md" not in kinds("what does readme.md say", KNOWN)
    assert kinds("what does web/readme.md say", KNOWN)["web/readme.md"] == "file"


def test_small_words_name_no_tag() -> None:
    known = JournalNames(tags=frozenset({"how", "on"}))
    assert kinds("how does it depend on rain", known) == {}
    assert kinds("all about #how", known) == {"how": "tag"}


def test_words_name_a_tag_and_a_project_in_every_form() -> None:
    known = JournalNames(
        tags=frozenset({"node-js", "caf\u00e9"}), projects=frozenset({"strasse"})
    )
    assert kinds("which release of node.js do we run", known) == {"node-js": "tag"}
    assert kinds("what was decided about the caf\u00e9", known) == {"caf\u00e9": "tag"}
    assert kinds("what is new in Stra\u00dfe", known) == {"strasse": "project"}


def test_the_target_names_entity_attribute_and_relation() -> None:
    target = read("What is the birthday of Melanie?")["target"]
    assert (target["entity"], target["attribute"]) == ("Melanie", "birthday")
    assert read("Does the exporter depend on Kafka?")["target"]["relation"] == "depend on"


# --- time
# ---------------------------------------------------------------------------------------------------------


def test_a_time_phrase_becomes_a_range_and_leaves_the_text() -> None:
    query = "What did Nora decide last week?"
    asked = read_question(query, today=TODAY)
    assert asked.time_range is not None
    assert (asked.time_range.start, asked.time_range.end) == (
        date(2026, 11, 9),
        date(2026, 11, 15),
    )
    assert "last week" not in asked.text
    assert read(query)["time_range"]["phrase"] == "last week"
    assert not asked.only_time


@pytest.mark.parametrize(
    "query", ["latest decision on caching", "most recent note about the roof"]
)
def test_recent_is_an_order_and_no_range(query: str) -> None:
    asked = read_question(query, today=TODAY)
    assert asked.recent
    assert asked.time_range is None
    assert read(query)["question_type"] == "temporal"


def test_a_question_without_time_has_none() -> None:
    asked = read_question("What port does the worker use?", today=TODAY)
    assert (asked.recent, asked.time_range, asked.only_time) == (False, None, False)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("migrations, only from last week", "migrations"),
        ("migrations strictly in May", "migrations"),
        ("migrations last week only", "migrations"),
    ],
)
def test_only_makes_the_range_a_filter(query: str, text: str) -> None:
    asked = read_question(query, today=TODAY)
    assert asked.time_range is not None
    assert asked.only_time
    assert asked.text == text


@pytest.mark.parametrize(
    "query", ["what did only Nora say last week", "the only bug since Monday was mine"]
)
def test_only_of_something_else_is_no_filter(query: str) -> None:
    asked = read_question(query, today=TODAY)
    assert asked.time_range is not None
    assert not asked.only_time


# --- plan
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "sides"),
    [
        (
            "Who leads the team and where does she live?",
            ["Who leads the team", "where does she live"],
        ),
        ("Is the new laptop or the old one heavier?", []),
        (
            "Which is lighter, the tent or the tarp, and who carries it?",
            ["Which is lighter, the tent or the tarp", "who carries it"],
        ),
        ("GDPR vs CCPA", ["GDPR", "CCPA"]),
        (
            "response times before the cache was added",
            ["response times", "the cache was added"],
        ),
        ("What port does the worker use?", []),
        ("is it this or that", []),
        ("", []),
    ],
)
def test_a_question_is_split_at_its_connectors(query: str, sides: list[str]) -> None:
    assert list(searchable_parts(query)) == sides


# --- any text
# -----------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "what",
        "or",
        "than",
        "the",
        "that",
        "'s",
        "Anna",
        "and",
        "who",
        "of",
        '"',
        "in May",
        "2024",
        "worker.py",
        "#a",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES, max_size=40).map(" ".join)))
def test_any_text_has_a_valid_analysis(text: str) -> None:
    analysis = read(text, KNOWN)
    assert analysis == read(text, KNOWN)
    assert analysis["query"] == text
    assert analysis["question_type"] in TYPES
    assert analysis["intent"] in INTENTS
    assert analysis["complexity"] in ("low", "medium", "high")
    assert 0 <= analysis["confidence"] <= 1
    assert analysis["info_types"]
    assert {entity.type for entity in analysis["entities"]} <= KINDS
    assert all(entity.name for entity in analysis["entities"])


@pytest.mark.parametrize(
    "piece",
    [
        "the a that ",
        "or ",
        "'s a",
        "of the a of ",
        "a.",
        "/a",
        "A ",
        '"',
        "x_",
        "-",
        "only from ",
        "is the ",
        "e",
    ],
)
def test_a_hostile_page_is_analysed_by_its_beginning(piece: str) -> None:
    page = piece * (100_000 // len(piece))
    assert read(page) == read(page)


def test_a_long_text_keeps_its_end_for_the_search() -> None:
    text = "word " * 1_000 + "finale"
    assert read(text)["text"].endswith("finale")
