"""Times that people ask for, lists of what changed, and what a later entry replaced: shown, and
marked.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from homes import Clock, open_home

from synaptic import Filters, Workspace, find, rebuild, save, search, update
from synaptic.index.embedding import FastEmbedder
from synaptic.language.query import build_filters

NOW = datetime(2026, 11, 23, 10).astimezone()
"""A Monday."""
DAYS = (
    "2025-11-23",
    "2026-11-03",
    "2026-11-05",
    "2026-11-08",
    "2026-11-10",
    "2026-11-12",
    "2026-11-20",
    "2026-11-22",
)


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory, model: FastEmbedder) -> Iterator[Workspace]:
    clock = Clock()
    clock.now = NOW
    with open_home(tmp_path_factory.mktemp("times"), embedder=model, clock=clock) as ws:
        old = save(
            ws,
            "Chose Debezium for change data capture.",
            type="decision",
            at="2026-10-05",
            title="Debezium it is",
        )
        save(
            ws,
            "Logical replication slots replace the connector, without a broker.",
            type="decision",
            at="2026-11-12",
            supersedes=[old.id],
        )
        save(ws, "Dashboards are drawn by Grafana.", type="decision", at="2026-10-20")
        for day in DAYS:
            save(
                ws,
                f"Mended the fence, part {DAYS.index(day)}.",
                at=f"{day}T08:00",
                tags=["garden"],
            )
        save(ws, "Tax papers lie in the blue folder.", at="2026-09-01", tags=["tax"])
        rebuild(ws)
        yield ws


def dates(ws: Workspace, query: str, filters: Filters | None = None) -> list[str]:
    return [
        hit.entry.date
        for hit in search(ws, query, filters=filters).hits
        if "fence" in hit.entry.content
    ]


def test_what_only_a_replaced_entry_says_finds_what_replaced_it(ws: Workspace) -> None:
    found = search(ws, "Debezium")
    assert found.hits[0].entry.content.startswith("Logical replication slots")
    assert [near.title for near in found.hits[0].replaces] == ["Debezium it is"]
    assert not any("no close match" in notice for notice in found.notices)
    assert not any(hit.superseded_by for hit in search(ws, "Grafana dashboards").hits)


def test_a_list_of_a_time_holds_what_was_replaced_since(ws: Workspace) -> None:
    found = search(ws, "which decisions did we make in October")
    assert [(hit.entry.date, bool(hit.superseded_by)) for hit in found.hits] == [
        ("2026-10-20", False),
        ("2026-10-05", True),
    ]


def test_a_list_of_what_holds_now_says_that_more_was_replaced(ws: Workspace) -> None:
    found = search(ws, "list the decisions")
    assert len(found.hits) == 2 and "1 that a later entry replaced" in found.notices[0]


@pytest.mark.parametrize(
    ("query", "since"),
    [
        ("What changed since Friday", None),
        ("what has changed since friday?", None),
        ("what changed", "friday"),
    ],
)
def test_what_changed_is_a_list_by_time(ws: Workspace, query: str, since: str | None) -> None:
    filters = build_filters(now=NOW, since=since) if since else None
    found = search(ws, query, filters=filters)
    assert [hit.entry.date for hit in found.hits] == ["2026-11-22", "2026-11-20"]
    assert not any("no close match" in notice for notice in found.notices)


@pytest.mark.parametrize(
    "query", ["two weeks ago", "what did I do two weeks ago", "vor zwei Wochen"]
)
def test_two_weeks_ago_is_the_days_around_it_nearer_first(ws: Workspace, query: str) -> None:
    """The day itself, the 9th, has no entry."""
    found = dates(ws, query)
    assert set(found[:2]) == {"2026-11-08", "2026-11-10"} and found[2:] == ["2026-11-12"]


def test_what_is_sought_two_weeks_ago_comes_from_these_days_first(ws: Workspace) -> None:
    assert set(dates(ws, "fence two weeks ago")[:3]) == {
        "2026-11-08",
        "2026-11-10",
        "2026-11-12",
    }


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("beginning of November", ["2026-11-03", "2026-11-05", "2026-11-08", "2026-11-10"]),
        ("early November", ["2026-11-03", "2026-11-05", "2026-11-08", "2026-11-10"]),
        ("the weekend", ["2026-11-22"]),
        ("5.11.", ["2026-11-05"]),
        ("what happened on 5.11.", ["2026-11-05"]),
        ("on this day last year", ["2025-11-23"]),
        ("what did I do on this day last year?", ["2025-11-23"]),
        ("this day a year ago", ["2025-11-23"]),
    ],
)
def test_times_that_stand_alone(ws: Workspace, query: str, days: list[str]) -> None:
    assert dates(ws, query) == days


def test_a_version_is_no_day(ws: Workspace) -> None:
    assert len(dates(ws, "fence of kernel 5.11.")) > 1


def test_a_tag_with_its_sign_filters(ws: Workspace) -> None:
    assert [hit.entry.tags for hit in search(ws, "#tax").hits] == [("tax",)]
    assert [hit.entry.tags for hit in search(ws, "#tax fence").hits] == [("tax",)]
    assert all("tax" not in hit.entry.tags for hit in search(ws, "papers -#tax").hits)
    assert search(ws, "#unheard fence").hits and len(find(ws, "#garden").entries) == len(DAYS)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (
            "4.11.",
            "No entries of 2026-11-04; the nearest days with entries: 2026-11-03 and "
            "2026-11-05.",
        ),
        ("what did I do on 4 November", "No entries of 2026-11-04; the nearest"),
        ("yesterday tag:tax", "No entry passes these filters"),
    ],
)
def test_a_time_without_entries_is_said_once_with_the_days_beside_it(
    ws: Workspace, query: str, said: str
) -> None:
    found = search(ws, query)
    assert not found.hits and found.notices[-1].startswith(said)
    assert len(found.notices) == 1 or "tag:" in query


def test_who_asks_for_a_reason_is_shown_what_was_replaced(ws: Workspace) -> None:
    asked = search(ws, "why did we choose Debezium for change data capture?").hits
    titles = [hit.entry.title for hit in asked]
    assert "Debezium it is" in titles
    old = asked[titles.index("Debezium it is")]
    assert old.superseded_by and old.outcome.startswith("replaced 2026-11-12")


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        (
            "What nearly destroyed the observatory in August 2020?",
            "The observatory's dome stood in flames: the fire of August 2020 stopped at its wall.",
            "Moved the observatory's telescope to a new mount, nothing was destroyed.",
        ),
        (
            "Wo findet das Rennen im November statt?",
            "Das Rennen im November findet am Ufer von Lindau statt.",
            "Das Rennen fand heute am Hafen statt, Start war um neun.",
        ),
        (
            "Where do we meet on Friday?",
            "We meet on Friday at Nadia's place.",
            "We met at the station today and walked home.",
        ),
    ],
)
def test_a_text_that_names_the_asked_time_counts_as_of_that_time(
    tmp_path: Path, model: FastEmbedder, query: str, right: str, wrong: str
) -> None:
    clock = Clock()
    clock.now = NOW
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        save(ws, wrong, at="2026-11-20T09:00")  # a Friday
        save(ws, wrong.replace("oday", "his morning"), at="2026-08-14T09:00")
        save(ws, right, at="2026-09-02T09:00")
        assert search(ws, query).hits[0].entry.content == right


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        ("was habe ich diese Woche gemacht", ""),
        ("list the decisions", "left out: 1 that a later entry replaced,"),
    ],
)
def test_a_list_counts_what_it_leaves_out_and_never_less_than_one(
    tmp_path: Path, query: str, left_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry of an earlier week that was changed in this one is in the list of this week."""
    clock = Clock()
    clock.now = NOW + timedelta(1)
    monkeypatch.setenv("SYNAPTIC_NOW", clock.now.isoformat())  # for the log of changes
    with open_home(tmp_path, clock=clock) as ws:
        old = save(ws, "Paint the fence red.", type="decision", at="2026-11-03")
        save(ws, "Paint it green.", type="decision", at="2026-11-23T08:00", supersedes=[old.id])
        for number in range(3):
            earlier = save(ws, f"Mended part {number}.", at="2026-11-10")
            update(ws, earlier.id, append="The gate too.")
        found = search(ws, query)
    assert len(found.hits) == (1 if left_out else 4)
    assert found.notices[0].startswith("Listed, newest first")
    assert left_out in found.notices[0]
    assert ("left out" in found.notices[0]) == bool(left_out)
