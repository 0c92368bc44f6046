"""How many hits an answer holds, and that a limit changes nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from homes import Clock, open_home
from outside import Home

from synaptic import Filters, Workspace, find, rebuild, recent, save, search
from synaptic.index.embedding import FastEmbedder
from synaptic.search.doubt import MOST_HITS

PLACES = (
    "harbour",
    "station",
    "market",
    "library",
    "bridge",
    "airport",
    "museum",
    "garden",
    "tower",
    "mill",
)
EVENTS = (
    "was closed because of the storm",
    "has a new timetable",
    "costs more since May",
    "needs a coat of paint",
)
LIMITS = (1, 3, 8, 20, 60, 100)


@pytest.fixture(scope="module")
def town(model: FastEmbedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """150 entries, and one of another matter; every seventh is long, so that words and meaning
    may find different passages of it.
    """
    clock = Clock()
    with open_home(tmp_path_factory.mktemp("home"), embedder=model, clock=clock) as ws:
        for number in range(150):
            place, event = PLACES[number % len(PLACES)], EVENTS[number % len(EVENTS)]
            text = f"The {place} {event}, as report {number} says."
            if number % 7 == 0:
                text += (
                    "\n\n"
                    + f"Nothing else happened on that day in the old town. {number} " * 20
                )
                text += f"\n\nA ferry to the {PLACES[number % 3]} leaves at noon."
            tag = " #seventh" if number % 7 == 0 else ""
            title, _, body = text.partition("\n")
            with (ws.config.journal / f"{clock():%Y-%m-%d}.md").open("a") as file:
                file.write(f"## {clock():%H:%M} {title}{tag}\n{body}\n\n")
            clock.forward(hours=1)
        dentist = "## 08:00 The dentist moved to the ground floor of the post office.\n"
        (ws.config.journal / "2026-11-20.md").write_text(dentist)
        rebuild(ws)
        yield ws


@pytest.mark.sweep("strategy")
@pytest.mark.parametrize("strategy", ["auto", "lexical", "semantic", "smart"])
@pytest.mark.parametrize(
    "query",
    [
        "harbour storm",
        "why was the harbour closed?",
        "the latest report on the bridge",
        "when does the ferry leave?",
        "how do I bake bread?",
    ],
)
def test_a_limit_changes_neither_the_order_nor_the_scores(
    town: Workspace, query: str, strategy: str
) -> None:
    answers = [search(town, query, strategy=strategy, limit=limit) for limit in LIMITS]
    ranked = [
        [(hit.entry.id, hit.score, hit.passage) for hit in found.hits] for found in answers
    ]
    for one in ranked:
        assert one == ranked[-1][: len(one)]
    cut = search(town, query, strategy=strategy)
    assert [(hit.entry.id, hit.score, hit.passage) for hit in cut.hits] == ranked[-1][
        : len(cut.hits)
    ]
    assert 0 < len(cut.hits) <= MOST_HITS or not ranked[-1]
    assert len({found.notices for found in (cut, *answers)}) == 1
    scores = [score for _, score, _ in ranked[-1]]
    assert scores == sorted(scores, reverse=True) and all(0 <= score <= 1 for score in scores)


def test_a_limit_is_filled_as_far_as_the_filters_allow(town: Workspace) -> None:
    for query in ("why was the harbour closed?", "", "latest report"):
        for limit in LIMITS:
            assert len(search(town, query, limit=limit).hits) == limit
            assert (
                len(find(town, "report", limit=limit).entries)
                == len(find(town, "", limit=limit).entries)
                == limit
            )
    seventh = Filters(tags=("seventh",))
    assert (
        len(search(town, "why was the harbour closed?", filters=seventh, limit=100).hits) == 22
    )


def test_without_a_limit_an_answer_ends_where_nothing_more_fits(town: Workspace) -> None:
    found = search(town, "where is the dentist?")
    assert (
        "dentist" in found.hits[0].entry.content and len(found.hits) == found.total < MOST_HITS
    )
    assert len(search(town, "harbour").hits) <= MOST_HITS
    assert (
        len(search(town, "harbour", preset="balanced").hits) == MOST_HITS
    )  # weighted scores say nothing of fitting
    assert len(search(town, "").hits) == len(search(town, "tag:seventh").hits) == 20


def test_find_with_words_shows_only_what_holds_one_or_fits(town: Workspace) -> None:
    [entry] = find(town, "dentist").entries
    assert "dentist" in entry.content and find(town, "dentist").total == 1
    held = [entry for entry in find(town, "", limit=100).entries if "bridge" in entry.content]
    many = {entry.id for entry in find(town, "dentist bridge", limit=100).entries}
    assert {entry.id for entry in held} <= many and len(many) < 40
    nothing = find(town, "turtle")
    assert "no close match" in nothing.notices[0] and len(nothing.entries) <= 5


def test_a_word_of_more_passages_than_were_counted_is_no_error(ws: Workspace) -> None:
    """While a journal grows the number of all passages lags behind; a word is counted when it
    is first asked.
    """
    day = "".join(f"## {n // 60:02d}:{n % 60:02d} pier harbour {n}\n" for n in range(1_440))
    for date in ("2026-11-18", "2026-11-19", "2026-11-20"):
        (ws.config.journal / f"{date}.md").write_text(day)
    rebuild(ws)
    assert search(ws, "harbour", limit=1).total
    for number in range(2):
        save(ws, f"pier {number}")
    assert search(ws, "pier", limit=1).mode == "hybrid"


def test_recent_ends_where_nothing_more_fits_unless_a_limit_is_given(town: Workspace) -> None:
    assert len(recent(town).entries) == 10
    assert 0 < len(recent(town, "harbour storm").entries) <= MOST_HITS
    assert len(recent(town, "harbour storm", limit=30).entries) == 30
    assert (
        len(recent(town, "harbour storm", limit=100).entries) == 50
    )  # it reaches no further back
    assert len(recent(town, "?!").entries) == 10  # a list, like one without a query


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_the_command_and_the_tool_take_a_limit_and_do_without(home: Home) -> None:
    home.run("init")
    lines = [f"## 09:{n:02d} The harbour was closed, report {n}.\n" for n in range(24)]
    (home.journal / "2026-11-20.md").write_text("\n".join(lines))
    with home.server() as server:

        def counts(*flags: str, **args: int) -> set[int]:
            """The numbers of hits of the command and of the tool."""
            said = (
                home.ask("search", "harbour report", *flags),
                server.call("search", query="harbour report", **args),
            )
            return {len(found["hits"]) for found in said}

        assert max(counts()) <= MOST_HITS
        assert counts("--limit", "12", limit=12) == {12}
        assert counts("--limit", "100", limit=100) == {24}
        for args in ({}, {"query": "harbour"}):
            assert len(server.call("find", **args)["entries"]) == 20
        assert len(server.call("recent")["entries"]) == len(home.ask("recent")["entries"]) == 10


@pytest.mark.needs(feature="importing")
def test_a_section_of_a_long_note_is_the_hit(home: Home) -> None:
    filler = "Nothing of interest stands here, and this goes on for a while.\n" * 30
    sections = {
        "Soil": "The compost needs lime.",
        "Water": "The pump freezes below minus four.",
        "Bees": "Hive two is light.",
    }
    note = "---\ntags: [garden]\n---\n# Garden\n\nAll about it.\n"
    for title, said in sections.items():
        note += f"\n## {title} #x\n\n{said}\n{filler}\n```\n## no section\n```\n{filler}"
    home.run("init")
    (home.journal / "garden.md").write_text(note)
    lines = note.splitlines()
    for title, said in sections.items():
        hits = home.ask("search", f'"{said}"')["hits"]
        assert [hit["title"] for hit in hits] == [f"Garden > {title}"]
        assert lines[hits[0]["line"] - 1] == f"## {title} #x"
        assert said in hits[0]["snippet"]
        assert home.ask("get", hits[0]["id"])["entries"][0]["title"] == "Garden"
    assert [hit["title"] for hit in home.ask("search", '"All about it"')["hits"]] == ["Garden"]


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_two_files_that_say_the_same_take_one_place(home: Home) -> None:
    pump = "# Pump\n\nThe pump listens on port {}.\n"
    home.run("init")
    for path, port in {"a": 8080, "b": 8080, "c": 9090, "d": 8080}.items():
        (home.journal / path).mkdir()
        (home.journal / path / "pump.md").write_text(pump.format(port))
    found = home.ask("search", "pump port")
    same, other = sorted(found["hits"], key=lambda hit: "9090" in hit["snippet"])
    assert other["also_in"] == [] and found["total"] == 2
    [path] = {"a", "b", "d"} - {place[0] for place in same["also_in"]}
    assert same["path"] == f"{path}/pump.md" and len(same["also_in"]) == 2
    with home.server() as server:
        told = server.text("search", query="pump port")
    for said in (told, home.run("search", "pump port").out):
        assert f"also in {', '.join(same['also_in'])}" in said
    assert len(home.ask("find", "pump port")["entries"]) == 4
    assert len(home.ask("search", "pump port", "--limit", "4")["hits"]) == 2


def test_the_same_words_of_another_time_or_project_are_another_hit(ws: Workspace) -> None:
    for date in ("2026-11-18", "2026-11-19"):
        (ws.config.journal / f"{date}.md").write_text("## 09:00 Paid the rent.\n")
    for project in ("mill", "yard"):
        save(ws, "Paid the rent.", project=project)
    rebuild(ws)
    assert len(search(ws, "rent", limit=9).hits) == 4


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="page")
def test_a_turn_that_does_not_stand_alone_shows_those_beside_it(home: Home) -> None:
    turns = (
        "Ada: We hiked to the old lighthouse at the end of the bay.",
        "Ben: How was it up there?",
        "Ada: It was windy, and we had the whole rock with its gulls to ourselves.",
        "Ben: Take me along next time, I have never been there.",
    )
    home.run("init")
    day = "".join(f"## 09:0{n} {said}\n\n" for n, said in enumerate(turns))
    (home.journal / "2026-11-20.md").write_text(f"## 08:00 Elsewhere\n\n{day}")
    before = "before, 09:01: Ben: How was it up there?"
    after = "after, 09:03: Ben: Take me along"
    said = home.run("search", "windy gulls", "--limit", "1").out
    assert before in said and after in said
    assert "before, " not in home.run("search", "hiked lighthouse", "--limit", "1").out
    every = home.run("search", "windy gulls", "--limit", "9").out
    assert before not in every and "How was it up there?" in every
    with home.server() as server:
        args = {"query": "windy gulls", "limit": 1}
        assert before in server.text("search", **args, format="detailed")
        assert before not in server.text("search", **args)
