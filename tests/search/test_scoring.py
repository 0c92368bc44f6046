"""Weighted signals, preferences, cuts, orders, the bounded search, and what is counted as read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from homes import Clock, open_home
from hypothesis import given
from hypothesis import strategies as st
from outside import Home

from synaptic import Filters, Workspace, find, get, open_workspace, rebuild, save, search
from synaptic.errors import InvalidArgument
from synaptic.index.embedding import FastEmbedder
from synaptic.index.rows import RankingFacts
from synaptic.models import Signals
from synaptic.search.adjust import OTHER_PROJECT
from synaptic.search.ranking import PRESETS, SIGNALS, Ranked, choose_weights, weighted_mean


def signals(importance: int | None, accesses: int, **known: Any) -> Signals:
    standing = RankingFacts(
        1, "id", 0, "a.md", 0, "note", "file", importance, accesses, None, "title"
    )
    return Ranked(standing, score=0.0, decay=1.0, met=(), **known).signals


share = st.floats(0, 1)
weights_of = st.dictionaries(st.sampled_from(SIGNALS), share, min_size=1).filter(
    lambda given: any(given.values())
)
anything = st.builds(
    signals,
    similarity=st.none() | st.floats(-1, 1),
    lexical=st.none() | share,
    symbolic=share,
    age_days=st.floats(0, 1e6),
    importance=st.none() | st.integers(0, 10),
    accesses=st.integers(0, 10**9),
)

# -- laws
# -----------------------------------------------------------------------------------------------


@given(weights_of, st.none() | st.sampled_from(sorted(PRESETS)))
def test_weights_add_up_to_one_and_keep_their_proportions(
    given: dict[str, float], preset: str | None
) -> None:
    chosen = choose_weights(preset, given)
    assert chosen is not None and set(chosen) == set(SIGNALS)
    assert sum(chosen.values()) == pytest.approx(1)
    asked = dict.fromkeys(SIGNALS, 0.0) | PRESETS[preset or "layers"] | given
    total = sum(asked.values())
    assert chosen == pytest.approx({name: asked[name] / total for name in SIGNALS})


@given(anything, weights_of)
def test_a_weighted_score_lies_between_its_signals(found: Any, given: dict[str, float]) -> None:
    chosen = choose_weights(None, given)
    assert chosen is not None
    values = [getattr(found, name) or 0.0 for name, weight in chosen.items() if weight]
    assert min(values) - 1e-9 <= weighted_mean(found, chosen) <= max(values) + 1e-9


def test_signals_have_the_forms_that_are_promised() -> None:
    found = signals(None, 0, similarity=-0.2, lexical=None, age_days=10)
    assert (found.semantic, found.lexical, found.symbolic, found.importance, found.access) == (
        0.0,
        None,
        0.5,
        0.5,
        0.0,
    )
    assert found.recency == pytest.approx(math.exp(-1))
    often = signals(8, 19, similarity=1, lexical=1, symbolic=1, age_days=0)
    assert (often.access, often.importance) == (pytest.approx(math.log(20) / 5), 0.8)


@pytest.mark.parametrize(
    ("preset", "weights", "says"),
    [
        ("fresh", None, "layers, balanced, semantic, recent, important, popular"),
        (None, {"age": 1}, "semantic, lexical, symbolic, recency, importance, access"),
        (None, {"lexical": math.nan}, "0 to 1"),
        (None, {"lexical": math.inf}, "0 to 1"),
        (None, {"recency": -0.1}, "0 to 1"),
        (None, {"semantic": 0, "lexical": 0, "symbolic": 0}, "above 0"),
    ],
)
def test_weights_that_make_no_sense_are_refused(
    preset: str | None, weights: Any, says: str
) -> None:
    with pytest.raises(InvalidArgument, match=says):
        choose_weights(preset, weights)


# -- weighted searches
# ----------------------------------------------------------------------------------


@pytest.fixture
def journal(ws: Workspace, clock: Clock) -> Workspace:
    """Six entries about one cable; each but the plain one stands out by one signal."""
    clock.forward(days=-200)
    save(ws, "The cable is old.", title="Old", importance=5)
    clock.forward(days=195)
    save(ws, "The cable matters.", title="Important", importance=10)
    save(
        ws, "The cable is tagged.", title="Tagged", tags=["db"], project="web", type="decision"
    )
    save(ws, "The cable is often read.", title="Read", importance=5)
    save(ws, "The cable cable cable cable.", title="Cable", importance=0)
    clock.forward(days=5)
    save(ws, "The cable is new.", title="New", importance=5)
    return ws


def titles(result: Any) -> list[str]:
    return [hit.entry.title for hit in result.hits]


@pytest.mark.parametrize(
    ("signal", "first"),
    [
        ("importance", "Important"),
        ("recency", "New"),
        ("lexical", "Cable"),
        ("symbolic", "Tagged"),
    ],
)
def test_one_signal_alone_decides(journal: Workspace, signal: str, first: str) -> None:
    alone = dict.fromkeys(SIGNALS, 0.0) | {signal: 1.0}
    result = search(
        journal, "cable", weights=alone, prefer=Filters(tags=("db",)), limit=20, explain=True
    )
    assert titles(result)[0] == first
    assert result.weights == alone
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    for hit in result.hits:
        assert hit.why is not None
        assert hit.score == pytest.approx(getattr(hit.why.signals, signal) or 0.0, abs=1e-6)


def test_what_is_read_often_is_popular(journal: Workspace) -> None:
    [read] = [entry.id for entry in find(journal, limit=10).entries if entry.title == "Read"]
    for _ in range(30):
        get(journal, [read])
    assert journal.index.flush()
    assert titles(search(journal, "cable", order="access"))[0] == "Read"
    result = search(journal, "cable", preset="popular", explain=True)
    assert titles(result)[0] == "Read"
    why = result.hits[0].why
    assert why is not None and why.access_count >= 30
    assert why.last_accessed_at == journal.clock()
    rebuild(journal)
    assert find(journal, order="access").entries[0].id == read


def test_the_first_three_hits_count_as_read_and_the_rest_do_not(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        for number in range(5):
            save(ws, f"The cable number {number}", force=True)
        search(ws, "cable")
        ws.index.flush()
        assert [count for (count,) in ws.index.file.db.execute("SELECT count FROM access")] == [
            1,
            1,
            1,
        ]
    with open_home(tmp_path, track_access=False, metrics=False) as ws:
        search(ws, "cable")
        get(ws, [find(ws).entries[0].id])
        ws.index.flush()
        assert ws.index.file.db.execute("SELECT sum(count) FROM access").get == 3


def test_counts_survive_the_end_of_a_command(home: Home) -> None:
    one, two = (home.ask("save", text)["id"] for text in ("Apples", "Pears"))
    home.ask("get", two)
    home.ask("get", two)
    assert [entry["id"] for entry in home.ask("find", "--order", "access")["entries"]] == [
        two,
        one,
    ]
    found = home.ask("search", "pears", "--explain")["hits"][0]
    assert found["why"]["access_count"] == 2 and found["why"]["last_accessed_at"]


def test_a_preference_raises_what_it_fits_and_hides_nothing(journal: Workspace) -> None:
    plain = search(journal, "cable", limit=20)
    wanted = search(
        journal,
        "cable",
        limit=20,
        prefer=Filters(types=("decision",), projects=("web",)),
        explain=True,
    )
    assert sorted(titles(wanted)) == sorted(titles(plain))
    assert titles(wanted).index("Tagged") < titles(plain).index("Tagged")
    tagged = next(hit for hit in wanted.hits if hit.entry.title == "Tagged")
    assert tagged.why is not None
    assert tagged.why.signals.symbolic == 1 and "symbolic" in tagged.why.matched_layers
    assert {"prefer types", "prefer projects"} <= set(tagged.why.matched_filters)
    others = [hit.why.signals.symbolic for hit in wanted.hits if hit.why and hit is not tagged]
    assert others == [0.0] * len(others)


@pytest.mark.parametrize(
    ("order", "first"),
    [("newest", "New"), ("oldest", "Old"), ("importance", "Important"), ("relevance", "New")],
)
def test_every_order_works_without_a_query_too(
    journal: Workspace, order: str, first: str
) -> None:
    assert titles(search(journal, "", order=order))[0] == first
    assert find(journal, order=order).entries[0].title == first
    by_order, plain = (
        search(journal, "cable", limit=20, order=chosen) for chosen in (order, "relevance")
    )
    assert set(titles(by_order)) == set(titles(plain)) and len(plain.hits) == 6
    cut = [
        set(titles(search(journal, "cable", order=chosen))) for chosen in (order, "relevance")
    ]
    assert cut[0] == cut[1]


# -- cuts
# -----------------------------------------------------------------------------------------------


def test_what_is_too_far_in_meaning_is_cut_and_what_has_no_vector_stays(
    journal: Workspace,
) -> None:
    every = search(journal, "The cable is new.", embed_ms=2_000, limit=20, explain=True)
    near = {
        hit.entry.title: hit.why.similarity
        for hit in every.hits
        if hit.why and hit.why.similarity is not None
    }
    assert len(near) == len(every.hits) == 6
    *_, second, best = sorted(near, key=near.__getitem__)
    cut = (near[best] + near[second]) / 2
    assert titles(search(journal, "The cable is new.", limit=20, min_similarity=cut)) == [best]
    nothing = search(journal, "zebra crossing cable", min_similarity=0.99)
    assert not nothing.hits and "No entry reaches min_similarity 0.99" in nothing.notices[-1]
    save(journal, "The cable has no vector.", title="Bare")
    with journal.index.writing():
        journal.index.file.db.execute(
            "UPDATE chunk SET vector = 0 WHERE rowid = (SELECT max(rowid) FROM chunk)"
        )
    left = search(journal, "The cable is new.", limit=20, min_similarity=cut, embed_ms=0)
    assert set(titles(left)) == {best, "Bare"}
    assert any("cannot be compared by meaning" in notice for notice in left.notices)


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        (Filters(tags=("db",), types=("issue",)), "these filters: types, tags."),
        (Filters(tags=("db",), since="2030-01-01"), "these filters: tags, time."),
        (Filters(tags=("none",), types=("issue",)), "these filters: types, tags."),
    ],
)
def test_the_filter_that_hides_everything_is_named(
    journal: Workspace, filters: Filters, says: str
) -> None:
    assert says in search(journal, "cable", filters=filters).notices[-1]


# -- bounded
# --------------------------------------------------------------------------------------------


@pytest.fixture
def meant(tmp_path: Path, model: FastEmbedder) -> Iterator[tuple[Workspace, Clock]]:
    """A journal that is read by the real model."""
    clock = Clock()
    config = open_home(tmp_path / "home").config
    with open_workspace(config, embedder=model, clock=clock) as ws:
        yield ws, clock


def test_bounded_knows_nothing_older_and_shows_the_newest_first(
    meant: tuple[Workspace, Clock],
) -> None:
    ws, clock = meant
    clock.forward(days=-120)
    save(
        ws, "PM2 restarts the worker when it uses more than 300 MB of memory.", type="decision"
    )
    for _ in range(6):
        clock.forward(days=20)
        save(ws, f"The worker service was restarted by PM2 again on {clock():%d %B}.")
    query = "which process manager restarts our worker"
    bounded = search(ws, query, strategy="bounded", limit=20, embed_ms=5_000)
    moments = [hit.entry.at for hit in bounded.hits]
    assert moments == sorted(moments, reverse=True) and len(set(moments)) == len(moments) == 5
    assert min(moments) >= clock() - timedelta(days=90)
    assert "decision" not in {hit.entry.type for hit in bounded.hits}
    assert [
        entry.type for entry in find(ws, query, filters=Filters(types=("decision",))).entries
    ] == ["decision"]
    since = (clock() - timedelta(days=30)).date().isoformat()
    assert (
        len(search(ws, query, strategy="bounded", filters=Filters(since=since), limit=20).hits)
        == 2
    )


def test_decisions_are_ranked_by_meaning(meant: tuple[Workspace, Clock]) -> None:
    ws, clock = meant
    for text in (
        "We keep PM2's settings in ecosystem.config.js.",
        "The logo is green.",
        "Lunch is at noon.",
    ):
        clock.forward(minutes=1)
        save(ws, text, type="decision")
    save(ws, "PM2 configuration was discussed for an hour.")
    found = find(ws, "PM2 configuration", filters=Filters(types=("decision",)))
    assert {entry.type for entry in found.entries} == {"decision"}
    assert "ecosystem" in found.entries[0].content


# -- outside
# --------------------------------------------------------------------------------------------


def test_the_flags_say_what_the_parameters_say(home: Home) -> None:
    home.ask("save", "Chose SQLite.", "--type", "decision", "--tag", "db", "--at", "2026-01-02")
    home.ask("save", "SQLite is a file.", "--importance", "9")
    flags = (
        "--preset",
        "recent",
        "--weight",
        "importance=0.9",
        "--prefer",
        "type=decision",
        "--prefer",
        "tags=db",
    )
    said = home.ask("search", "sqlite", *flags, "--explain")
    assert said["weights"] == pytest.approx(
        {
            "semantic": 0.1667,
            "lexical": 0,
            "symbolic": 0,
            "recency": 0.2778,
            "importance": 0.5,
            "access": 0.0556,
        },
        abs=1e-3,
    )
    why = {hit["title"]: hit["why"] for hit in said["hits"]}
    assert (
        why["Chose SQLite."]["scores"]["symbolic"] == 1
        and why["SQLite is a file."]["scores"]["importance"] == 0.9
    )
    assert set(why["Chose SQLite."]["scores"]) == {*SIGNALS, "combined"}
    for wrong in (
        ["--weight", "lexical"],
        ["--weight", "lexical=much"],
        ["--prefer", "colour=red"],
        ["--preset", "x"],
    ):
        answer = home.run("search", "sqlite", *wrong, "--json")
        assert answer.code == 2 and answer.json["error"]["valid"]


def test_only_what_is_of_another_project_is_ranked_lower(tmp_path: Path) -> None:
    scores = {}
    for asker in ("ledger", None):
        with open_home(tmp_path / str(asker), project=asker) as ws:
            for project in ("ledger", "", "dock"):
                save(ws, f"The kestrel {project} nests.", project=project, force=True)
            hits = search(ws, "kestrel nests", explain=True).hits
            scores[asker] = {one.entry.project: one.why.combined for one in hits if one.why}
    factors = {of: scores["ledger"][of] / scores[None][of] for of in ("ledger", None, "dock")}
    assert factors == pytest.approx({"ledger": 1, None: 1, "dock": OTHER_PROJECT}, abs=1e-4)


def test_a_process_that_saw_the_journal_grow_scores_as_a_new_one(
    tmp_path: Path, model: FastEmbedder
) -> None:
    texts = [
        "The ferry to the island leaves at nine.",
        "Bread needs a night in the fridge.",
        "The invoice of the printer is paid.",
        "Ada plays the cello on Sundays.",
        "The pump of the well was mended.",
        "We chose oak for the deck.",
        "The dentist moved to the harbour.",
    ]
    asked = "when does the boat go?"
    with open_home(tmp_path, embedder=model) as ws:
        for text in texts[:-1]:
            save(ws, text)
        search(ws, asked)
        save(ws, texts[-1])
        grown = {hit.entry.id: hit.score for hit in search(ws, asked).hits}
    with open_home(tmp_path, embedder=model) as ws:
        assert grown == {hit.entry.id: hit.score for hit in search(ws, asked).hits}
