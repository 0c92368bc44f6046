"""What the words of a question do to a search, and how a note is read before it is saved."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from forks import ForkedHome, Forks
from homes import Clock, open_home
from outside import Home

from synaptic import Filters, Workspace, find, save, search
from synaptic.search.explain import analyze_question

if TYPE_CHECKING:
    from synaptic.index.embedding import FastEmbedder

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "scripts" / "bench"))
from state import answers, is_right  # noqa: E402


@pytest.fixture(scope="module")
def weeks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """One entry about the cable on each of 60 days up to Saturday 2026-11-21, a few of them
    marked; only searched.
    """
    clock = Clock()
    clock.forward(days=-60)
    with open_home(
        tmp_path_factory.mktemp("weeks") / "home", clock=clock, track_access=False
    ) as ws:
        for number in range(60):
            clock.forward(days=1)
            marks = (
                {"type": "decision"}
                if number % 20 == 3
                else {"tags": ["pier"]}
                if number % 20 == 4
                else {}
            )
            save(ws, f"The cable was looked at, number {number}.", force=True, **marks)  # type: ignore[arg-type]
        yield ws


def dates(ws: Workspace, query: str, **more: object) -> list[str]:
    found = search(ws, query, limit=60, strategy="hybrid", **more)  # type: ignore[arg-type]
    return [hit.entry.date for hit in found.hits]


def test_a_time_in_the_question_raises_what_lies_in_it_and_hides_nothing(
    weeks: Workspace,
) -> None:
    inside = {f"2026-11-{day:02}" for day in range(9, 16)}
    plain, found = (
        dates(weeks, "what about the cable?"),
        dates(weeks, "what about the cable last week?"),
    )
    assert len(plain) == len(found) == 60
    assert len(inside & set(found[:10])) >= 6 > 3 >= len(inside & set(plain[:10]))
    why = search(weeks, "the cable last week", explain=True).hits[0].why
    assert (
        why is not None
        and "prefer time" in why.matched_filters
        and "symbolic" in why.matched_layers
    )


def test_what_lies_in_the_time_is_found_among_hundreds(ws: Workspace, clock: Clock) -> None:
    for number in range(1, 301):
        day = (clock() - timedelta(days=number)).date()
        text = (
            f"## 10:00\nWalked with Bjorn along the harbour, and he talked of boat {number}.\n"
        )
        if number == 1:
            text += (
                f"## 20:00\n{'A long day at the yard. ' * 30}In the evening Bjorn called "
                f"about the "
                f"keel, we wait.\n"
            )
        (ws.config.journal / f"{day}.md").write_text(text)
    yesterday = (clock() - timedelta(days=1)).date().isoformat()
    found = dates(ws, "what about Bjorn yesterday")
    assert found[0] == yesterday and found.count(yesterday) == 2


@pytest.mark.parametrize(
    "query", ["cable only from last week", "cable since:2026-11-09 until:2026-11-15"]
)
def test_a_time_that_is_named_as_a_filter_is_one(weeks: Workspace, query: str) -> None:
    found = dates(weeks, query)
    assert sorted(found) == [f"2026-11-{day:02}" for day in range(9, 16)]


def test_a_time_alone_lists_that_time(weeks: Workspace) -> None:
    assert dates(weeks, "yesterday") == [(weeks.clock().date() - timedelta(days=1)).isoformat()]


def test_a_filter_that_was_given_wins_over_the_question(weeks: Workspace) -> None:
    found = dates(weeks, "cable last week", filters=Filters(since="2026-11-20"))
    assert set(found) == {"2026-11-20", "2026-11-21"}


def test_the_latest_comes_first_where_the_latest_is_asked_for(
    tmp_path: Path, model: FastEmbedder
) -> None:
    days = {
        "2026-08-23": "Saw the dentist: a filling on the lower left tooth.",
        "2026-09-12": "Changed the chain of the bike and cleaned the sprockets.",
        "2026-10-02": "Saw the dentist: the teeth were cleaned, no holes.",
        "2026-10-22": "Planted leeks and chard in the bed behind the shed.",
        "2026-11-11": "Saw the dentist: an x-ray, the wisdom tooth stays.",
    }
    with open_home(tmp_path / "home", embedder=model, clock=Clock()) as ws:
        for day, text in days.items():
            save(ws, text, at=day)
        assert dates(ws, "when did I last see the dentist?")[0] == "2026-11-11"
        assert dates(ws, "the dentist and a filling")[0] == "2026-08-23"


def test_words_that_only_look_like_times_stay_words(ws: Workspace) -> None:
    save(ws, "We may march on the second floor.")
    assert search(ws, "may march second").total == 1


def test_the_command_shows_what_is_understood(home: Home) -> None:
    home.ask("save", "Chose Redis for the queue.", "--tag", "redis", "--type", "decision")
    clock = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}
    said = home.ask("analyze", "which decisions did we take about redis last week?", **clock)
    assert said["time_range"] == {
        "start": "2026-11-09",
        "end": "2026-11-15",
        "phrase": "last week",
    }
    assert (
        "last week" not in said["text"] and {"name": "redis", "type": "tag"} in said["entities"]
    )
    assert {
        "intent",
        "target",
        "question_type",
        "complexity",
        "confidence",
        "info_types",
        "keywords",
        "plan",
    } < set(said)
    assert said["plan"]["sub_queries"]
    text = home.run("analyze", "which decisions did we take about redis last week?", **clock)
    assert text.code == 0 and "last week" in text.out


def test_a_note_is_shown_as_it_reads_by_itself(home: Home) -> None:
    for text in ("Redis is the cache.", "Redis was upgraded."):
        home.ask("save", text, "--tag", "redis")
    note = "Anna restarted redis yesterday. She wants a report."
    said = home.ask("analyze", "--note", note, SYNAPTIC_NOW="2026-11-21T10:00:00")
    assert said["original"] == note
    assert said["normalized"] == "Anna restarted redis 2026-11-20. Anna wants a report."
    assert [(change["from"], change["kind"]) for change in said["changes"]] == [
        ("yesterday", "time"),
        ("She", "coreference"),
    ]
    assert said["suggested_tags"] == ["redis"]
    assert said["keywords"][0]["weight"] == 1
    told = home.ask("analyze", "what about the anchor of redis")["keywords"]
    assert [keyword["term"] for keyword in told] == ["anchor", "redis"]
    with home.server(SYNAPTIC_NOW="2026-11-21T10:00:00") as server:
        assert server.call("analyze", text=note, mode="note") == said
        assert (
            server.call("analyze", text="cables in May 2025")["time_range"]["start"]
            == "2025-05-01"
        )


def test_the_analysis_can_be_switched_off(home: Home) -> None:
    home.ask("save", "The cable.", "--at", "2026-01-02")
    (home.path / "config.toml").write_text("[search]\nanalysis = false\n")
    assert home.ask("search", "cable only from last week")["total"] == 1  # four words
    (home.path / "config.toml").unlink()
    assert home.ask("search", "cable only from last week")["total"] == 0


def test_find_understands_as_search_does(weeks: Workspace) -> None:
    assert {entry.date for entry in find(weeks, "cable only yesterday", limit=60).entries} == {
        "2026-11-20"
    }


def test_a_save_suggests_tags_that_the_journal_uses(home: Home) -> None:
    for text in ("Redis is the cache.", "Redis was upgraded."):
        home.ask("save", text, "--tag", "redis", "--tag", "ops")
    assert home.ask("save", "The redis cluster is full.")["suggested_tags"] == ["redis"]
    assert (
        home.ask("save", "The redis cluster is empty.", "--tag", "redis")["suggested_tags"]
        == []
    )
    assert home.ask("save", "Nothing of the kind.")["suggested_tags"] == []
    with home.server() as server:
        assert "Tags of the journal that fit: redis." in server.text(
            "save", content="Redis again, with more memory."
        )


def test_no_tag_that_closes_an_entry_is_suggested(home: Home) -> None:
    for text in ("The exporter works.", "The mailer works."):
        home.ask(
            "save",
            text,
            *(f"--tag={tag}" for tag in ("done", "status/fixed", "wontfix", "importer")),
        )
    text = "Importer work is not done, and the old bug is not fixed: wontfix?"
    assert home.ask("save", text, "--type", "handoff")["suggested_tags"] == ["importer"]
    assert home.ask("analyze", "--note", text)["suggested_tags"] == ["importer"]
    with home.server() as server:
        told = server.text("save", content=f"{text} Next: the tests.", type="handoff")
        assert "Tags of the journal that fit: importer." in told


def test_a_question_keeps_its_mark_when_its_time_is_taken_out(ws: Workspace) -> None:
    assert (
        analyze_question(ws, "what did Nora decide last week?")["text"]
        == "what did Nora decide?"
    )
    assert analyze_question(ws, "cable, only from last week?")["text"] == "cable?"


@pytest.fixture(scope="module")
def autumn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Decisions and issues among reports that name both; only searched."""
    with open_home(tmp_path_factory.mktemp("autumn"), track_access=False) as ws:
        for day in range(1, 21):
            save(
                ws,
                f"Harbour report {day}, decisions and issues of this month",
                at=f"2026-09-{day:02d}",
            )
        save(ws, "Left Redis", type="decision", at="2026-10-05")
        save(ws, "Chose Postgres", type="decision", at="2026-10-06")
        save(ws, "Lunch with Tom", at="2026-10-07")
        save(ws, "The printer jams", type="issue", at="2026-11-03")
        save(ws, "Dropped Kafka", type="decision", at="2026-11-04")
        yield ws


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("decisions of October 2026", ["Chose Postgres", "Left Redis"]),
        ("what did we decide last month?", ["Chose Postgres", "Left Redis"]),
        ("show me the decisions", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("latest decision", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("issues", ["The printer jams"]),
        ("open issues", ["The printer jams"]),
        ("every decision taken in October 2026", ["Chose Postgres", "Left Redis"]),
        ("decisions of 2026-10-06", ["Chose Postgres"]),
    ],
)
def test_a_query_that_says_only_what_to_list_is_a_list(
    autumn: Workspace, query: str, titles: list[str]
) -> None:
    found = search(autumn, query)
    assert [hit.entry.title for hit in found.hits] == titles
    assert found.notices[0].startswith("Listed, newest first: ")


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("Entscheidung", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("beslissing", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("решение", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("problème", ["The printer jams"]),
        ("Fehler", ["The printer jams"]),
        ("Entscheidungen", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("zeig mir alle Entscheidungen", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("toutes les décisions", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("todas as decisões", ["Dropped Kafka", "Chose Postgres", "Left Redis"]),
        ("offene Fehler", ["The printer jams"]),
        ("problemas pendientes", ["The printer jams"]),
        ("未解决 问题列表", ["The printer jams"]),
    ],
)
def test_the_name_of_a_type_lists_its_entries_in_other_languages(
    autumn: Workspace, query: str, titles: list[str]
) -> None:
    found = search(autumn, query)
    assert [hit.entry.title for hit in found.hits] == titles


@pytest.mark.parametrize(
    "query",
    [
        "open tasks",
        "tasks",
        "my to-dos",
        "what is left to do",
        "which tasks are still open?",
        "offene Aufgaben",
        "Was ist noch zu tun?",
        "was ist noch offen",
        "tâches ouvertes",
        "que reste-t-il à faire ?",
        "tareas pendientes",
        "¿qué queda por hacer?",
        "compiti aperti",
        "o que falta fazer",
        "openstaande taken",
        "открытые задачи",
        "남은 할 일",
        "未完了のタスク",
        "待办",
    ],
)
def test_what_is_left_to_do_lists_open_tasks(tasks: Workspace, query: str) -> None:
    hits = search(tasks, query).hits
    assert [hit.entry.title for hit in hits] == ["The printer jams.", "Shopping"]


@pytest.mark.parametrize(
    "query", ["how do tasks work", "Aufgaben für Anna", "das Fenster ist offen", "open issues"]
)
def test_a_question_about_tasks_is_no_list_of_them(tasks: Workspace, query: str) -> None:
    found = search(tasks, query)
    assert not any("open tasks" in notice for notice in found.notices)


@pytest.fixture
def tasks(ws: Workspace) -> Workspace:
    """Two notes with tasks, of which one has an open one, and an open issue."""
    save(ws, "Packed.\n\n- [x] a towel", at="2026-10-01")
    save(ws, "Shopping.\n\n- [ ] milk\n- [x] bread", at="2026-10-02")
    save(ws, "The printer jams.", type="issue", at="2026-10-03")
    save(ws, "Saw the sea.", at="2026-10-04")
    return ws


def test_the_name_of_a_type_that_other_entries_hold_is_searched(ws: Workspace) -> None:
    save(ws, "Entscheidung: Wir bestellen beim zweiten.")
    assert search(ws, "Entscheidung").hits[0].entry.type == "decision"
    save(ws, "Heute fiel eine Entscheidung schwer.")
    found = search(ws, "Entscheidung")
    assert found.hits[0].entry.type == "note"
    assert "`type:decision` lists the decisions." in found.notices


@pytest.mark.parametrize(
    "query",
    [
        "what did I do last week",
        "last week",
        "show me my notes from last week",
        "what did I work on last week?",
        "was habe ich letzte Woche gemacht",
        "la semaine dernière",
        "¿qué hice la semana pasada?",
        "cosa ho fatto la settimana scorsa",
        "o que fiz na semana passada",
        "wat heb ik vorige week gedaan",
        "上周我做了什么",
        "先週のメモを見せて",
        "what did I do since:2026-11-09 until:2026-11-15",
    ],
)
def test_a_time_and_nothing_to_search_for_lists_it_in_order(
    weeks: Workspace, query: str
) -> None:
    days = [f"2026-11-{day:02}" for day in range(9, 16)]
    for found in (search(weeks, query), search(weeks, query, strategy="lexical")):
        assert [hit.entry.date for hit in found.hits] == days
        assert found.notices == (
            "Listed, oldest first: all entries, 2026-11-09 to 2026-11-15.",
        )
    assert [hit.entry.date for hit in search(weeks, query, limit=2).hits] == days[:2]


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("on 2026-11-17", 17),
        ("Wednesday last week", 11),
        ("am 18. November", 18),
        ("am 18.11.", 18),
        ("hier", 20),
        ("il y a trois jours", 18),
        ("el martes", 17),
        ("l'altro ieri", 19),
        ("na quarta-feira", 18),
        ("eergisteren", 19),
        ("11月18日", 18),
        ("上周三", 11),
        ("一昨日", 19),
    ],
)
def test_a_day_is_listed_in_any_of_these_languages(
    weeks: Workspace, query: str, day: int
) -> None:
    assert dates(weeks, query) == [f"2026-11-{day:02}"]


def test_a_long_list_says_how_much_of_it_is_shown(weeks: Workspace) -> None:
    found = search(weeks, "what happened since October?")
    assert [hit.entry.date for hit in found.hits] == sorted(
        (hit.entry.date for hit in found.hits), reverse=True
    )
    assert (
        len(found.hits) == 20
        and "20 of 52 are shown, a limit of 52 shows all" in found.notices[0]
    )


@pytest.mark.parametrize(
    "query",
    ["what did Mia do last week", "was hat Mia letzte Woche gespielt", "昨天小明说了什么"],
)
def test_words_beside_a_time_are_searched(weeks: Workspace, query: str) -> None:
    assert not any("Listed" in notice for notice in search(weeks, query).notices)
    assert search(weeks, query).terms


@pytest.mark.parametrize(
    "query", ["decisions about harbours", "references", '"decisions"', "notes"]
)
def test_words_that_are_left_and_types_that_nothing_has_are_searched(
    ws: Workspace, query: str
) -> None:
    save(ws, "Harbour report: decisions, references and notes")
    save(ws, "Left Redis", type="decision")
    found = search(ws, query)
    assert any(hit.entry.title.startswith("Harbour") for hit in found.hits)
    assert not any("Listed" in said or "searched for" in said for said in found.notices)


@pytest.mark.parametrize(
    "query",
    "$prev $last %first% @latest `newest` latest_id oldest() {{today}} $yesterday".split(),
)
def test_a_name_of_code_is_a_word(ws: Workspace, clock: Clock, query: str) -> None:
    save(ws, f"The loop keeps {query} for each row.", at=clock.now)
    for day in range(1, 4):
        save(ws, f"Fed the hens, basket {day}.", at=clock.now + timedelta(minutes=day))
    answer = search(ws, query)
    assert "loop" in answer.hits[0].entry.content
    assert not [one for one in answer.notices if "list" in one or "No entries of" in one]


def test_a_lone_word_that_an_entry_holds_asks_for_no_list(ws: Workspace, clock: Clock) -> None:
    save(ws, "The button prev goes back.", at=clock.now - timedelta(days=1))
    save(ws, "Fed the hens.", at=clock.now)
    assert "button" in search(ws, "prev").hits[0].entry.content
    assert "hens" in search(ws, "newest").hits[0].entry.content  # nothing holds it


def test_questions_of_state_are_told_from_those_that_sound_so(
    model: FastEmbedder, tmp_path: Path
) -> None:
    """A floor just below what `bench.py state` said when the rules were written, with these
    questions in view.
    """
    questions = [
        (name, question)
        for name in ("state_questions", "state_questions_more")
        for question in json.loads(
            (ROOT / "tests" / "data" / f"{name}.json").read_text("utf-8")
        )
    ]
    found = answers(tmp_path / "state", model, [question for _, question in questions])
    wrong = [
        (name, asked["question"])
        for (name, asked), got in zip(questions, found, strict=True)
        if not is_right(asked, got)
    ]
    counts = Counter(name for name, _ in wrong)
    assert counts["state_questions"] <= 1 and counts["state_questions_more"] <= 4, wrong


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Home:
    """Issues, hand-offs and decisions of two projects; only searched."""
    folder = tmp_path_factory.mktemp("port")
    home = ForkedHome(folder / "home", {"HOME": str(folder)}, forks=forks)
    for day, (text, kind, project, *tags) in enumerate(
        [
            ("Berth 14 is booked twice", "issue", "harbor", "fixed"),
            ("The login hangs", "issue", "harbor"),
            ("The map is blurred", "issue", "harbor", "wontfix"),
            ("Amounts are a cent off", "issue", "ledger", "done"),
            ("The gate loses its wifi", "issue", "harbor"),
            ("Waiting list, half built", "handoff", "harbor"),
            ("Guest list, all but the upload", "handoff", "harbor"),
            ("MQTT for the gate", "decision", "harbor"),
            ("How to open an issue in the tracker", "reference", "harbor"),
        ],
        start=1,
    ):
        marks = [word for tag in tags for word in ("--tag", tag)]
        home.ask(
            "save",
            text,
            "--type",
            kind,
            "--project",
            project,
            "--at",
            f"2026-11-{day:02}",
            *marks,
        )
    return home


def shown(home: Home, query: str, *more: str) -> tuple[list[str], list[str]]:
    found: dict[str, Any] = home.ask("search", query, *more, SYNAPTIC_NOW="2026-11-20T10:00:00")
    return [hit["title"] for hit in found["hits"]], found["notices"]


@pytest.mark.parametrize(
    ("query", "titles", "told"),
    [
        (
            "open issues",
            ["The gate loses its wifi", "The login hangs"],
            "newest first: open issues.",
        ),
        (
            "harbor's oldest open bug",
            ["The login hangs", "The gate loses its wifi"],
            "oldest first: open issues of h",
        ),
        (
            "which bugs were fixed?",
            ["Amounts are a cent off", "Berth 14 is booked twice"],
            "first: solved issues.",
        ),
        ("issues we won't fix", ["The map is blurred"], "wontfix issues."),
        (
            "where did we leave off",
            ["Guest list, all but the upload"],
            "1 of 2 are shown, a limit of 2 shows all.",
        ),
        (
            "last two hand-offs",
            ["Guest list, all but the upload", "Waiting list, half built"],
            "first: handoffs.",
        ),
        (
            "harbor tickets nobody has closed",
            ["The gate loses its wifi", "The login hangs"],
            "open issues of harbor.",
        ),
        ("where did harbor stop?", ["Guest list, all but the upload"], "handoffs of harbor"),
        (
            "closed issues of harbor",
            ["The map is blurred", "Berth 14 is booked twice"],
            "settled issues of harbor.",
        ),
        (
            "what's open in harbor?",
            [
                "Guest list, all but the upload",
                "Waiting list, half built",
                "The gate loses its wifi",
                "The login hangs",
            ],
            "open issues and handoffs of harbor.",
        ),
        ("open issues of ledger", [], "No open issues of ledger; 2 of other projects."),
    ],
)
def test_a_question_of_state_is_a_list_of_it(
    port: Home, query: str, titles: list[str], told: str
) -> None:
    found, notices = shown(port, query)
    assert found == titles and told in " ".join(notices)


def test_words_beside_a_state_are_sought_among_its_entries(port: Home) -> None:
    found, notices = shown(port, "open issues about the login")
    assert found[0] == "The login hangs" and "Berth 14 is booked twice" not in found
    assert "Searched among: open issues." in notices
    said = port.ask("analyze", "open issues about the login")
    assert said["notices"] == ["Searched among: open issues."]
    filters = said["plan"]["sub_queries"][0]["filters"]
    assert filters["types"] == "issue" and "fixed" in filters["without"]["tags"]
    assert shown(port, "open issues", "--limit", "1")[0] == ["The gate loses its wifi"]
    assert port.ask("find", "open issues")["total"] == 2


@pytest.mark.parametrize(
    "query",
    [
        "how do I open an issue",
        "By when must an incident write-up be finished?",
        "When is an issue closed?",
        "Who solved the problem?",
        "open the gate",
        "still to be decided",
        "gate fixed",
        "decisions that no longer hold",
    ],
)
def test_what_only_sounds_like_a_state_is_searched(port: Home, query: str) -> None:
    assert not any("Listed" in said or said.startswith("No ") for said in shown(port, query)[1])


@pytest.mark.parametrize(
    "query", ["2026-03-09", "09.03.2026", "9.3.2026", "2026/03/09", "3/9/2026", "9 March 2026"]
)
def test_a_day_alone_is_the_list_of_that_day_in_each_form(ws: Workspace, query: str) -> None:
    save(ws, "The beans came up.", at="2026-03-09T08:00")
    save(ws, "Rain since noon.", at="2026-03-09T18:00")
    save(ws, "Sown again on 2026-03-09.", at="2026-03-20")
    found = search(ws, query)
    assert [hit.entry.date for hit in found.hits] == ["2026-03-09"] * 2
    [notice] = found.notices
    assert notice.startswith("Listed, oldest first: all entries, 2026-03-09.")
    names_it = 'Other entries name the date: 1. "2026-03-09" in quotes finds them.'
    assert (names_it in notice) == (query == "2026-03-09")


def test_a_day_without_entries_that_others_name_is_searched(ws: Workspace) -> None:
    save(ws, "The ferry is booked for 2026-12-09.", at="2026-03-20")
    [hit] = search(ws, "2026-12-09").hits
    assert "ferry" in hit.entry.content
    assert "No entries of 2026-12-10" in search(ws, "2026-12-10").notices[0]
