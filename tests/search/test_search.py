"""Finding: by words, by meaning, by marks and by time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedders import HashingEmbedder
from homes import Clock, open_home, put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trials import examples

from synaptic import (
    Workspace,
    build_filters,
    delete,
    find,
    get,
    rebuild,
    recent,
    restore,
    save,
    search,
    update,
)
from synaptic.errors import Ambiguous, InvalidArgument, NotFound, Refused
from synaptic.index.embedding import FastEmbedder
from synaptic.models import TOKEN_BITS, Meaning, short_id
from synaptic.render.present import hit_items, list_lines
from synaptic.search.plan import MAX_TERMS
from synaptic.search.token_matches import best_matches
from synaptic.verbs.saving import save_all
from synaptic.workspace.embed import embed_pending

LOGIN = "Fixed authentication JWT token refresh bug in the login flow"
OTHERS = """Chose sqlite-vec over LanceDB: one file, no server
Watered the plants and moved the ficus to the window
The nightly export takes 40 minutes since March
Team lunch moved to Thursday at the Italian place
Postgres connection pool raised from 20 to 40
Invoice template now shows the VAT number
Upgraded Node to 22 on all build machines
Mira is on holiday until the third of December
The printer on the second floor needs toner
Dropped support for Python 3.10
Booked the train to Hamburg for the conference
Search results are cached for five minutes
The backup disk is nearly full
Bought new running shoes, size 43
Renamed the billing worker to ledger
Grocery list: rice, lentils, lemons
Refactored the CSV importer into two passes
Quarterly numbers are due on Friday
The heating makes a noise in the morning
Wrote a short guide on feature flags""".splitlines()


@pytest.fixture(scope="module")
def meaning(
    model: FastEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    """Twenty-one entries with the real model."""
    with open_home(tmp_path_factory.mktemp("home"), embedder=model) as workspace:
        texts = (*OTHERS[:10], LOGIN, *OTHERS[10:])
        save_all(workspace, [(text, {}) for text in texts])
        rebuild(workspace)
        yield workspace


def titles(ws: Workspace, query: str, **more: object) -> list[str]:
    return [hit.entry.title for hit in search(ws, query, **more).hits]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "query",
    ["login issues", "sign-in trouble", "JWT token", "autentication", "users cannot log in"],
)
def test_one_among_twenty_is_found_first(meaning: Workspace, query: str) -> None:
    result = search(meaning, query)
    assert result.mode == "hybrid"
    assert result.hits[0].entry.title == LOGIN


def test_words_and_meaning_alone(meaning: Workspace) -> None:
    words = search(meaning, "sign-in trouble", strategy="lexical")
    assert (words.mode, words.hits) == ("lexical", ())
    assert titles(meaning, "sign-in trouble", strategy="semantic")[0] == LOGIN


def test_meaning_without_a_word_says_so(meaning: Workspace) -> None:
    result = search(meaning, "zzqqy")
    assert "no close match" in result.notices[0]
    assert result.hits and all(hit.score < 0.25 for hit in result.hits)


def test_a_typing_error_finds_the_nearest_word(meaning: Workspace) -> None:
    result = search(meaning, "conection pol", strategy="lexical")
    assert result.hits[0].entry.title.startswith("Postgres connection pool")
    assert "`connection`" in result.notices[0]


def test_why(meaning: Workspace) -> None:
    [hit, *_] = search(meaning, "JWT token", explain=True).hits
    assert hit.why is not None
    assert 0 < hit.why.combined <= 1 and 0.5 < hit.score <= 1
    weighed = search(meaning, "JWT token", preset="balanced", explain=True).hits[0]
    assert weighed.why is not None and weighed.why.combined == weighed.score
    assert (hit.why.lexical_rank, hit.why.matched_layers) == (1, ("lexical", "semantic"))
    assert hit.why.similarity is not None and 0.2 < hit.why.similarity <= 1
    assert hit.why.decay == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("apart", [{"minutes": 0}, {"minutes": 20}, {"days": 30}])
def test_of_two_on_one_topic_the_later_is_first(
    model: FastEmbedder, tmp_path: Path, clock: Clock, apart: dict[str, float]
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        save(ws, "The staging database runs on port 5432")
        clock.forward(**apart)
        save(ws, "The staging database runs on port 6543")
        for text in OTHERS[:6]:
            save(ws, text)
        for query in ("staging database port", "On which port does the staging database run?"):
            assert titles(ws, query)[0].endswith("6543")
        assert titles(ws, "staging 5432")[0].endswith("5432")  # that one is asked for
        scores = [hit.score for hit in search(ws, "staging database port").hits]
        assert scores == sorted(scores, reverse=True)


def test_a_correction_in_other_words_is_there_and_what_sounds_alike_is_not_first(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    model.load()
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        save(ws, "Background jobs of the invoicing app run on Celery with RabbitMQ.")
        save(ws, "The hotel in Rome is the Artemide, breakfast included.")
        clock.forward(days=9)
        later = save(
            ws,
            "RabbitMQ lost messages twice last week, so we threw Celery out: all background "
            "work of invoicing goes through a queue in Postgres from today.",
        )
        save(ws, "The hotel in Vienna is the Topazz, breakfast not included.")
        for text in OTHERS[:6]:
            save(ws, text)
        hits = search(ws, "how do background jobs of invoicing run").hits
        below = [near.id for hit in hits for near in hit.later]
        assert later.id in [*(hit.entry.id for hit in hits), *below]
        assert "Rome" in titles(ws, "which hotel did we book in Rome?")[0]


def test_what_a_later_hit_may_correct_is_marked_with_it(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        old = save(ws, "Reports are exported with `make reports`, which takes an hour.")
        clock.forward(days=9)
        new = save(ws, "Reports are exported by the nightly job now; `make reports` is gone.")
        for text in OTHERS[:6]:
            save(ws, text)
        found = search(ws, "which nightly job makes reports")
        hits = {hit.entry.id: hit for hit in found.hits}
        assert list(hits)[:2] == [new.id, old.id]
        assert hits[old.id].later[0].id == new.id
        below = hit_items(found, length=1_000)[1].below[0]
        assert below == f"later, {new.date}: above ({short_id(new.id)})"


def test_below_a_note_no_later_note_is_named(model: FastEmbedder, tmp_path: Path) -> None:
    journal = tmp_path / "notes"
    journal.mkdir()
    texts = ("with `make reports`, which takes an hour.", "by the nightly job now.")
    for day, text in enumerate(texts, 10):
        note = f"---\ndate: 2026-11-{day}\n---\nReports are exported {text}\n"
        (journal / f"Reports {day}.md").write_text(note)
    with open_home(tmp_path / "home", journal=journal, embedder=model) as ws:
        for text in OTHERS[:6]:
            save(ws, text)
        hits = search(ws, "how are reports exported?", limit=2).hits
        assert {hit.entry.title for hit in hits} == {"Reports 10", "Reports 11"}
        assert not [near for hit in hits for near in hit.later]
        day = "Saw the heron.\n\n- Reports are exported by the nightly job from now on.\n"
        (journal / "2026-11-20.md").write_text(day)  # a diary goes on
        [diary] = [one for one in find(ws).entries if one.path == "2026-11-20.md"]
        found = search(ws, "how are reports exported?", limit=3).hits
        named = {(near.id, near.title) for hit in found for near in hit.later}
        line = "Reports are exported by the nightly job from now on."
        assert named == {(diary.id, line)}


def test_one_word_finds_first_what_holds_it_however_often_others_were_read(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        for number in range(8):
            text = f"Found by the second agent in run {number}: the log says uniqxjz{number}k."
            save(ws, text, title="What the tests of this morning say about the pump")
            near = save(ws, f"Person found the word uniqpersondzq{number}")
            for _ in range(80):
                get(ws, [near.id])
        firsts = [search(ws, f"uniqxjz{number}k").hits[0].entry for number in range(8)]
        assert all(f"uniqxjz{n}k" in one.content for n, one in enumerate(firsts))


def test_no_hit_is_left_out_for_an_entry_that_is_only_named(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        for number in range(6):
            save(ws, f"The kiln in hall {number} is fired at {900 + number} degrees.")
            clock.forward(days=1)
        items = hit_items(search(ws, "how hot is the kiln fired", limit=4), length=1_000)
        assert any(item.below for item in items)
        bare = [item._replace(below=()) for item in items]
        for room in range(20, 400, 20):
            lines = list_lines(items, room)
            assert len(lines) == len(list_lines(bare, room))
            assert "later, " in "\n".join(lines) or room < 380


@pytest.mark.parametrize("label", ["Ada: ", "user: ", "小明："])
def test_a_later_turn_of_a_talk_corrects_no_earlier_one(
    model: FastEmbedder, tmp_path: Path, clock: Clock, label: str
) -> None:
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        for text in (*OTHERS[:4], "The staging database runs on port 5432"):
            save(ws, f"{label}{text}")
            clock.forward(minutes=1)
        save(ws, f"{label}The staging database, I hear, has another port: 6543 from Monday on")
        first = titles(ws, "On which port does the staging database run?")[0]
        assert first.endswith("5432")


def test_those_without_a_vector_yet_keep_their_places(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    words_first = {"weights": {"lexical": 20.0, "semantic": 1.0}}
    with open_home(tmp_path, embedder=model, clock=clock, search=words_first) as ws:
        postgres = (
            "Postgres of pre-production listens on 5432",
            "The pre-production Postgres listens on 6543 now",
        )
        for text in (*OTHERS[:6], *postgres):
            save(ws, text)
            clock.forward(days=1)
        embed_pending(ws, budget_s=None)
        waiting = ws.config.journal / f"{clock():%Y-%m-%d}-later.md"
        waiting.write_text(
            "\n".join(f"## 1{n}:00 staging database port\n" for n in range(10)),
            encoding="utf-8",
        )
        found = [
            hit.entry.title
            for hit in search(
                ws, "staging database port", strategy="hybrid", limit=20, embed_ms=0
            ).hits
        ]
        assert set(found[:10]) == {"staging database port"} and set(found[10:]) == {
            *OTHERS[:6],
            *postgres,
        }


def test_what_was_just_typed_is_found_before_what_is_like_it(
    model: FastEmbedder, tmp_path: Path, clock: Clock
) -> None:
    """A busy machine has not embedded it yet, by meaning a hundred others are near, and its day
    is an old one.
    """
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        like_it = [f"agent{n}word was saved by an agent." for n in range(100)]
        others = [f"Berth {n} was let to guest {n * 7 % 91}." for n in range(60)]
        save_all(ws, [(text, {}) for text in (*like_it, *others)])
        embed_pending(ws, budget_s=None)
        typed = ws.config.journal / "2026-03-01.md"
        typed.write_text("## 08:00 agent777word was saved by an agent.\n")
        first, *_ = search(ws, "agent777word", limit=20, embed_ms=0).hits
        assert first.entry.title == "agent777word was saved by an agent."
        assert ws.index.counts().pending_entries == 1


def test_a_stray_word_puts_at_most_one_other_matter_first(
    model: FastEmbedder, tmp_path: Path
) -> None:
    """In so small a journal `use` is rarer than `port`, which stands beside every other entry."""
    with open_home(tmp_path, embedder=model) as ws:
        save(
            ws,
            "We decided to use Postgres for the job queue because Redis lost jobs on restart",
            type="decision",
        )
        save(ws, "Staging deploys run from the release branch, port 8080", type="reference")
        save(ws, "Anna asked for invoices in PDF/A by March")
        save(ws, "Flaky upload test: clock drift in the container", type="issue")
        save(ws, "The job queue moved to RabbitMQ; Postgres could not keep up", type="decision")
        save(ws, "Staging deploys run on port 9090 now")
        for strategy in ("auto", "hybrid"):
            found = search(ws, "which port does staging use?", strategy=strategy).hits
            assert [hit.entry.title[:15] for hit in found[:3]].count("Staging deploys") == 2


def test_a_type_that_is_preferred_lifts_no_entry_that_fits_nothing(
    model: FastEmbedder, tmp_path: Path
) -> None:
    with open_home(tmp_path, embedder=model) as ws:
        save(
            ws,
            "ADR-020: Use Debezium for the rate limiter\nIt streams changes without polling.",
        )
        save(ws, "ADR-007: Replace memcached by Redis\nThe cache lost sessions at each deploy.")
        save(ws, "Lunch with Ida about the office move")
        save(ws, "Deploy notes of the billing service")
        save(ws, "Chose Buf for protobuf linting, it breaks builds early.", type="decision")
        save(ws, "Decided to pin the providers of Terraform.", type="decision")
        save(ws, "Chose Kafka over NATS for the events bus.", type="decision")
        first = search(ws, "why Debezium for the rate limiter instead of Go?").hits[0].entry
        assert first.title.startswith("ADR-020")
        assert titles(ws, "why did we stop using memcached?")[0].startswith("ADR-007")
        assert titles(ws, "why did we choose Kafka?")[0].startswith("Chose Kafka")


def test_what_is_said_by_whom_the_question_names_counts_more(
    model: FastEmbedder, tmp_path: Path
) -> None:
    with open_home(tmp_path, embedder=model) as ws:
        save(ws, "Ada: I play the cello on Sundays.")
        save(
            ws,
            "Bob: Which instrument do you play, Ada? I play the violin, an instrument that "
            "few play.",
        )
        assert titles(ws, "Which instrument does Ada play?")[0].startswith("Bob:")
        for text in (
            "the train was late",
            "no, it rained",
            "see you at four",
        ):  # a talk, not a label of one note
            save(ws, f"Ada: {text}")
            save(ws, f"Bob: oh, {text}")
        assert titles(ws, "Which instrument does Ada play?")[0].startswith("Ada:")
        assert titles(ws, "Which instrument does Bob play?")[0].startswith("Bob:")


@pytest.mark.parametrize(
    ("label", "question", "raised"),
    [
        ("fix", "how did we fix the login timeout?", False),
        ("fix", "How did Fix mend the login timeout?", False),
        ("Fix", "how did we fix the login timeout?", False),
        ("Fix", "How did Fix mend the login timeout?", True),
    ],
)
def test_a_speaker_is_written_with_a_capital_in_the_titles_and_in_the_question(
    model: FastEmbedder, tmp_path: Path, clock: Clock, label: str, question: str, raised: bool
) -> None:
    mended = (
        "login timeout",
        "retry of uploads",
        "broken link on the start page",
        "colour of the logo",
        "spelling",
    )
    scores: list[dict[str, float]] = []
    for speakers in (True, False):
        home = tmp_path / str(speakers)
        with open_home(home, embedder=model, clock=clock, search={"speakers": speakers}) as ws:
            texts = [f"{label}: {what} of the portal is mended." for what in mended]
            texts += [
                "The login ran into a timeout because the session table was locked; an "
                "index mended it.",
                *OTHERS[:2],
                *(f"Zoe: {text}" for text in OTHERS[2:6]),
            ]
            save_all(ws, [(text, {}) for text in texts])
            hits = search(ws, question, limit=20, explain=True).hits
            scores.append({hit.entry.content: hit.why.combined for hit in hits if hit.why})
    on, off = scores
    assert len(on) == len(off) == 12
    for content, score in on.items():
        halved = raised and content.startswith("Zoe: ")
        assert score == pytest.approx(off[content] * (0.5 if halved else 1), abs=1e-5)


def test_a_page_without_a_date_is_not_taken_for_the_later(
    model: FastEmbedder, tmp_path: Path
) -> None:
    with open_home(tmp_path, embedder=model) as ws:
        pages = [ws.config.journal / name for name in ("exact.md", "other.md")]
        for page, port in zip(pages, ("5432", "6543, said Ada"), strict=True):
            page.write_text(f"The staging database runs on port {port}.\n", encoding="utf-8")
        for early, late in (pages, reversed(pages)):
            os.utime(early, (1e9, 1e9))
            os.utime(late, (1.5e9, 1.5e9))
            assert (
                "5432"
                in search(ws, "The staging database runs on port 5432.").hits[0].entry.content
            )


def test_a_long_entry_is_found_by_its_last_sentence(
    model: FastEmbedder, tmp_path: Path
) -> None:
    with open_home(tmp_path, embedder=model) as ws:
        filler = " ".join(
            f"Paragraph {n} is about roads, bridges and the price of gravel in the valley."
            for n in range(90)
        )
        save(
            ws,
            f"Road works.\n\n{filler}\n\nIn the end the cat had hidden behind the washing "
            f"machine.",
        )
        save(ws, "Invoices are due on Friday.")
        rebuild(ws)
        for strategy, query in (
            ("lexical", "washing machine"),
            ("semantic", "where was the kitten hiding?"),
        ):
            [hit, *_] = search(ws, query, strategy=strategy).hits
            assert hit.entry.title.startswith("Road works")
            assert "washing machine" in hit.passage and len(hit.passage) < 1_500


# -- filters
# --------------------------------------------------------------------------------------------------

MARKS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["decision", "note", "issue"]),
        "tags": st.lists(
            st.sampled_from(["db", "area/kitchen", "area"]), max_size=2, unique=True
        ),
        "project": st.sampled_from(["Web", "shop"]),
        "files": st.lists(st.sampled_from(["src/store.py", "src/web/app.py"]), max_size=1),
        "importance": st.one_of(st.none(), st.integers(0, 10)),
        "at": st.sampled_from(["2026-11-01", "2026-11-10", "2026-11-20"]),
    }
)
WANTED = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["decision", ["issue", "note"]]),
        "tag": st.sampled_from(["area", "db", ["db", "area/kitchen"]]),
        "project": st.sampled_from(["web", "SHOP"]),
        "file": st.sampled_from(["store.py", "src", "src/web/app.py"]),
        "min_importance": st.integers(0, 10),
        "since": st.sampled_from(["2026-11-05", "2026-11-20"]),
        "until": st.just("2026-11-20"),
    },
)


@given(st.lists(MARKS, min_size=1, max_size=8), WANTED)
@settings(
    max_examples=examples(100, 12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_filters_are_exact_in_both_lists(
    tmp_path_factory: pytest.TempPathFactory,
    marks: list[dict[str, object]],
    wanted: dict[str, object],
) -> None:
    def passes(mark: dict[str, object]) -> bool:
        def any_of(name: str) -> list[str]:
            value = wanted.get(name, [])
            return [value] if isinstance(value, str) else list(value)  # type: ignore[call-overload]

        tags, files = list(mark["tags"]), list(mark["files"])  # type: ignore[call-overload]
        importance = 5 if mark["importance"] is None else mark["importance"]
        return (
            (not any_of("type") or mark["type"] in any_of("type"))
            and (
                not any_of("tag")
                or any(t == w or t.startswith(f"{w}/") for t in tags for w in any_of("tag"))
            )
            and (
                not any_of("project")
                or str(mark["project"]).lower() in map(str.lower, any_of("project"))
            )
            and (
                not any_of("file")
                or any(
                    f == w or f.endswith(f"/{w}") or f.startswith(f"{w}/")
                    for f in files
                    for w in any_of("file")
                )
            )
            and importance >= wanted.get("min_importance", 0)  # type: ignore[operator]
            and str(wanted.get("since", "0"))
            <= str(mark["at"])
            <= str(wanted.get("until", "9"))
        )

    with open_home(tmp_path_factory.mktemp("home")) as ws:
        texts = [(f"harbour entry {n}", {"force": True} | mark) for n, mark in enumerate(marks)]
        save_all(ws, texts)  # type: ignore[arg-type]
        expected = {f"harbour entry {n}" for n, mark in enumerate(marks) if passes(mark)}
        filters = build_filters(now=ws.clock(), **wanted)  # type: ignore[arg-type]
        for strategy in ("lexical", "semantic", "hybrid"):
            assert (
                set(titles(ws, "harbour", filters=filters, strategy=strategy, limit=100))
                == expected
            )
        listing = find(ws, filters=filters, limit=100)
        assert {entry.title for entry in listing.entries} == expected
        assert listing.total == len(expected)


def test_inline_filters_and_phrases(ws: Workspace) -> None:
    save(ws, "The connection pool is small", type="decision", tags=["db"])
    save(ws, "The pool has no connection to the river")
    assert titles(ws, '"connection pool"', limit=20) == ["The connection pool is small"]
    assert titles(ws, "pool tag:db", limit=20) == ["The connection pool is small"]
    assert titles(ws, "type:decision") == ["The connection pool is small"]
    assert titles(ws, '"connection pool" type:decision') == ["The connection pool is small"]
    assert search(ws, '"connection pool" type:issue').hits == ()
    unheld = search(ws, '"pool connection"', limit=20)
    assert unheld.total == 2 and any("one by one" in notice for notice in unheld.notices)


@pytest.mark.parametrize("strategy", ["auto", "lexical", "smart"])
def test_a_phrase_within_a_question_comes_first_and_hides_nothing(
    ws: Workspace, strategy: str
) -> None:
    save(ws, "We play games on Fridays, and have played games for years")
    save(ws, "Bought Shredder's Revenge for Tom")
    for number in range(20):
        save(ws, f"Played a game on evening {number}")
    held = search(
        ws, 'Which game did we play, "Shredder\'s Revenge"?', strategy=strategy, limit=20
    )
    assert held.hits[0].entry.title == "Bought Shredder's Revenge for Tom"
    assert len(held.hits) == 20 and not any("phrase" in notice for notice in held.notices)
    unheld = search(ws, 'When did we start to play "Elden Ring"?', strategy=strategy, limit=20)
    assert len(unheld.hits) == 20


@given(
    st.text(max_size=60)
    | st.sampled_from(
        ['"', '""', "NEAR(a b)", "a:b", "^a*", "a AND OR NOT", "(((", "-", "%", "日本", "🎉"]
    )
)
@settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_query_is_answered(ws: Workspace, query: str) -> None:
    if not find(ws).total:
        save(ws, "Something to find, a and b")
    assert search(ws, query).total >= 0


@pytest.mark.parametrize("limit", [0, -1, 101, 10**9])
def test_a_limit_outside_its_range_is_told(ws: Workspace, limit: int) -> None:
    for verb in (
        lambda: search(ws, "x", limit=limit),
        lambda: recent(ws, limit=limit),
        lambda: find(ws, limit=limit),
    ):
        with pytest.raises(InvalidArgument, match="1 to 100"):
            verb()


# -- answers from words only
# ----------------------------------------------------------------------------------


def test_without_a_model_words_answer_and_say_so(tmp_path: Path) -> None:
    with open_home(tmp_path, embedder=HashingEmbedder(broken=True)) as ws:
        save(ws, LOGIN)
        result = search(ws, "token")
        assert (result.mode, result.hits[0].entry.title) == ("lexical", LOGIN)
        assert "cannot be loaded" in result.notices[0] and "words only" in result.notices[0]


def test_what_has_no_vector_yet_is_counted_with_the_cure(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        day = "".join(
            f"## {n // 60:02d}:{n % 60:02d} Entry {n}\ntext {n}\n\n" for n in range(300)
        )
        (ws.config.journal / "2026-11-20.md").write_text(day)
        result = search(ws, "entry", embed_ms=0)
        assert (
            "300 of 300" in result.notices[0] and "synaptic rebuild-index" in result.notices[0]
        )
        [notice] = search(ws, "did we consider Kubernetes?", embed_ms=0).notices
        assert notice.startswith("No entry holds: Kubernetes. 300 of 300")
        assert "synaptic rebuild-index" in notice
        [notice] = search(ws, "a boat upon the lake", embed_ms=0).notices
        assert notice.startswith("300 of 300")
        rebuild(ws)
        assert search(ws, "entry", embed_ms=0).notices == ()
        [notice] = search(ws, "did we consider Kubernetes?", embed_ms=0).notices
        assert (
            notice
            == "No entry holds: Kubernetes. Only three are shown; a limit of 8 shows more."
        )


# -- time, ids, superseding
# -----------------------------------------------------------------------------------


def test_entries_that_hold_a_name_of_code_in_a_question_come_first(ws: Workspace) -> None:
    for number in range(6):
        save(
            ws, f"What the pool of service {number} should be set to, by the rule.", force=True
        )
    id = save(ws, "Environment:\n\n- POOL_SIZE=30\n- RETRY=5").id
    for query in ("what should POOL_SIZE be set to?", "What should `POOL_SIZE` be set to"):
        assert search(ws, query).hits[0].entry.id == id
    assert search(ws, "what should the pool be set to?").hits[0].entry.id != id


def test_superseded_entries_are_hidden_unless_asked_for(ws: Workspace) -> None:
    old = save(ws, "The team meets on Monday")
    new = save(
        ws, "The team meets on Tuesday", supersedes=[old.id[-8:]]
    )  # within the same second
    assert [hit.entry.id for hit in search(ws, "team meets", limit=20).hits] == [new.id]
    filters = build_filters(now=ws.clock(), include_superseded=True)
    both = search(ws, "team meets", filters=filters, limit=20)
    assert {hit.entry.id: hit.superseded_by for hit in both.hits} == {
        old.id: new.id,
        new.id: None,
    }
    assert get(ws, [old.id]).superseded_by == {old.id: new.id}
    for listing in (
        recent(ws),
        recent(ws, "team"),
        recent(ws, "team", limit=20),
        find(ws, facets=True),
        find(ws, "team", filters=build_filters(now=ws.clock())),
    ):
        assert (listing.total, [entry.id for entry in listing.entries]) == (1, [new.id])
    every = find(ws, filters=filters, facets=True)
    assert (every.total, every.superseded_by) == (2, {old.id: new.id})
    assert [
        facets.types for listing in (find(ws, facets=True), every) if (facets := listing.facets)
    ] == [(("note", 1),), (("note", 2),)]
    with pytest.raises(InvalidArgument):
        update(ws, new.id, supersedes=[new.id])


def test_the_project_of_a_note_stands_in_its_front_matter(ws: Workspace) -> None:
    put(ws, "Env.md", "---\nproject: '[[Billing api]]'\n---\nThe limit is 30.\n")
    put(ws, "Other.md", "---\nproject:\n---\nThe limit is 120.\n")
    filters = build_filters(now=ws.clock(), project="billing API")
    assert [hit.entry.title for hit in search(ws, "limit", filters=filters).hits] == ["Env"]
    assert {entry.title: entry.project for entry in recent(ws).entries} == {
        "Env": "Billing api",
        "Other": None,
    }


def test_quoted_words_that_only_a_replaced_entry_holds_find_it(ws: Workspace) -> None:
    old = save(ws, "The wagon of the weaver broke in 1957.")
    new = save(ws, "The weaver stopped in 1958.", supersedes=[old.id])
    [hit] = search(ws, '"wagon"').hits
    assert (hit.entry.id, hit.superseded_by) == (old.id, new.id)


def test_a_note_of_several_passages_stays_below_what_replaced_a_sentence_of_it(
    ws: Workspace,
) -> None:
    parts = [f"## Part {n}\n\n{'The loom of the weaver stood here. ' * 40}" for n in range(4)]
    parts.append("The brother of Karin went to sea in 1957.")
    put(ws, "Interview.md", "# Interview\n\n" + "\n\n".join(parts) + "\n")
    id = recent(ws).entries[0].id
    new = save(ws, "Karin's brother went to sea in 1958.", supersedes=[id])
    assert [hit.entry.id for hit in search(ws, "loom of the weaver").hits] == [new.id, id]
    found = search(ws, "when did Karin's brother go to sea").hits
    assert [hit.entry.id for hit in found[:2]] == [new.id, id]
    assert found[1].superseded_by == new.id
    listing = find(ws)
    assert listing.total == len(listing.entries) == 2
    assert listing.superseded_by == {id: new.id}


def test_what_held_until_a_day_is_found_though_it_was_replaced_later(ws: Workspace) -> None:
    old = save(ws, "The team meets on Monday", at="2026-11-02", tags=["team"])
    new = save(ws, "The team meets on Tuesday", at="2026-11-09", supersedes=[old.id])
    then = build_filters(now=ws.clock(), until="2026-11-08")
    [hit] = search(ws, "team meets", filters=then).hits
    assert (hit.entry.id, hit.superseded_by) == (old.id, new.id)
    tagged = search(ws, "team meets", filters=build_filters(now=ws.clock(), tag="team"))
    assert not tagged.hits
    assert tagged.notices == (
        "What passes these filters was replaced by entries that they leave out; "
        "include_superseded shows it.",
    )


def test_recent_with_a_query_reaches_no_further_than_the_last_fifty(
    ws: Workspace, clock: Clock
) -> None:
    save(ws, "The harbour is closed")
    for number in range(50):
        clock.forward(minutes=1)
        save(ws, f"harbour report {number}")
    found = recent(ws, "harbour closed", limit=10).entries
    assert len(found) == 10
    assert 0 < len(recent(ws, "harbour closed").entries) <= 8
    assert "The harbour is closed" not in [entry.title for entry in found]
    assert [entry.at for entry in found] == sorted((entry.at for entry in found), reverse=True)


def test_paging_stays_right_while_entries_arrive(ws: Workspace, clock: Clock) -> None:
    wanted = []
    for number in range(7):
        clock.forward(minutes=1)
        wanted.append(save(ws, f"entry {number}").id)
    seen, cursor = [], None
    while True:
        page = find(ws, limit=3, cursor=cursor)
        seen += [entry.id for entry in page.entries]
        clock.forward(minutes=1)
        save(ws, f"arrived after {len(seen)}")
        if (cursor := page.cursor) is None:
            break
    assert seen == wanted[::-1]
    around = find(ws, around=wanted[3], limit=3).entries
    assert [entry.id for entry in around] == wanted[2:5]
    with pytest.raises(InvalidArgument, match="cursor"):
        find(ws, cursor="nonsense")


def test_ids_may_be_short(ws: Workspace) -> None:
    receipt = save(ws, "An entry")
    for name in (receipt.id, receipt.id[-8:], receipt.id[-8:-4], receipt.id[:13]):
        assert get(ws, [name]).entries[0].id == receipt.id
    with pytest.raises(NotFound):
        get(ws, ["zzzz"])
    path = ws.config.journal / "2026-11-20.md"
    path.write_text(
        "".join(f"## 10:0{n} x\n<!-- syn:20261120-aaaa000{n} -->\n" for n in (1, 2))
    )
    with pytest.raises(Ambiguous):
        get(ws, ["aaaa"])


# -- writing, through the verbs
# --------------------------------------------------------------------------------


def test_the_same_text_again_within_ten_minutes_is_the_first(
    ws: Workspace, clock: Clock
) -> None:
    first = save(ws, "Said twice")
    clock.forward(minutes=9)
    assert (again := save(ws, "Said twice")).id == first.id and "already saved" in again.notices
    assert save(ws, "Said twice", project="another").id != first.id
    assert save(ws, "Said twice", force=True).id != first.id
    clock.forward(hours=48)
    assert save(ws, "Said twice").id != first.id


def test_an_edit_leaves_the_rest_of_the_file_alone(ws: Workspace) -> None:
    path = ws.config.journal / "2026-11-20.md"
    above, below = b"# Day\r\n\r\n## 08:00 Above  \r\nx  \r\n\r\n", b"## 10:00 Below\r\ny"
    path.write_bytes(above + b"## 9:00 am Mine #a\r\nold words\r\n\r\n" + below)
    mine = next(entry for entry in recent(ws).entries if entry.title == "Mine")
    update(ws, mine.id, content="new words", add_tags=["b"])
    data = path.read_bytes()
    assert data.startswith(above) and data.endswith(below)
    assert b"## 9:00 am Mine #a #b\r\n<!-- syn:" in data and b"new words\r\n\r\n" in data
    assert titles(ws, "new words")[0] == "Mine"
    assert "old words" not in get(ws, [mine.id]).entries[0].content
    delete(ws, mine.id)
    assert path.read_bytes() == above + below
    restore(ws, mine.id)
    assert get(ws, [mine.id]).entries[0].content == "new words"


def test_a_title_taken_from_the_text_follows_it(ws: Workspace) -> None:
    long = (
        "It is fast and the team knows it well, and the operations people already run a "
        "cluster for us."
    )
    taken = save(ws, f"Chose Redis for the session store. {long}")
    given_ = save(ws, f"Chose Redis for the queue. {long}", title="Queue")
    for receipt in (taken, given_):
        update(ws, receipt.id, content=f"Chose Postgres instead. {long}")
    assert [entry.title for entry in get(ws, [taken.id, given_.id]).entries] == [
        "Chose Postgres instead",
        "Queue",
    ]


def test_a_derived_id_is_written_down_when_another_entry_names_it(ws: Workspace) -> None:
    path = ws.config.journal / "2026-11-20.md"
    path.write_text("## 10:00 By hand\ntext\n")
    [hand] = recent(ws).entries
    child = save(ws, "It goes on", parent=hand.id)
    assert f"<!-- syn:{hand.id} -->" in path.read_text()
    thread = find(ws, filters=build_filters(now=ws.clock(), parent=hand.id[-8:]))
    assert [entry.id for entry in thread.entries] == [child.id]
    (ws.config.journal / "page.md").write_text("# Page\ntext\n")
    page = next(entry for entry in recent(ws).entries if entry.title == "Page")
    with pytest.raises(Refused, match=r"page\.md"):
        update(ws, page.id, title="x")


@pytest.mark.parametrize(
    ("wanted", "days"),
    [
        ({"since": "2026-11-19"}, [19, 20, 21]),
        ({"until": "2026-11-19"}, [18, 19]),
        ({"since": "2026-11-19", "until": "yesterday"}, [19, 20]),
        ({"days": 1}, [20, 21]),
        ({"days": 0}, [21]),
    ],
)
def test_dates_are_inclusive(ws: Workspace, wanted: dict[str, object], days: list[int]) -> None:
    for day in range(18, 22):
        save(ws, f"harbour {day}", at=f"2026-11-{day}T{'00:00' if day % 2 else '23:59'}:00")
    filters = build_filters(now=ws.clock(), **wanted)  # type: ignore[arg-type]
    for strategy in ("lexical", "semantic"):
        found = titles(ws, "harbour", filters=filters, strategy=strategy, limit=20)
        assert sorted(found) == [f"harbour {day}" for day in days]


# -- what must not get lost in a full list
# -----------------------------------------------------------------------


def test_a_long_entry_does_not_hide_the_others(ws: Workspace) -> None:
    for number in range(5):
        save(
            ws,
            f"Somebody near the river saw a kestrel over the meadow before the rain came "
            f"back, day {number}.",
        )
    save(ws, "\n\n".join(f"Log {n} " + "kestrel " * 110 for n in range(600)), title="Log")
    rebuild(ws)
    for strategy in ("lexical", "semantic", "hybrid"):
        assert search(ws, "kestrel", strategy=strategy, limit=20).total == 6


def test_filters_are_exact_among_many(ws: Workspace) -> None:
    day = "".join(
        f"## {n // 60:02d}:{n % 60:02d} harbour entry {n} {'#rare' if n % 200 == 7 else ''}\n"
        for n in range(900)
    )
    (ws.config.journal / "2026-11-20.md").write_text(day)
    rebuild(ws)
    for strategy in ("lexical", "semantic", "hybrid"):
        found = titles(ws, "harbour tag:rare", strategy=strategy, limit=20)
        assert sorted(found) == [f"harbour entry {n}" for n in (207, 407, 607, 7, 807)]


def test_as_many_answers_as_asked_for(ws: Workspace) -> None:
    day = "".join(
        f"## {n // 60:02d}:{n % 60:02d} harbour entry {n} #many\n" for n in range(150)
    )
    (ws.config.journal / "2026-11-20.md").write_text(day)
    for query in ("tag:many", "harbour", "harbour tag:many", '"harbour entry"'):
        assert len(search(ws, query, limit=100).hits) == 100


def test_words_are_looked_for_in_the_entry_itself(ws: Workspace) -> None:
    save(ws, "The connection pool is small")
    save(ws, "Lunch at the harbour")
    for query in ("connection pool", '"connection pool"'):
        found = titles(ws, query, strategy="lexical", limit=20)
        assert found == ["The connection pool is small"]


# -- words
# ---------------------------------------------------------------------------------------------------------


def test_stop_words_are_left_out_unless_there_is_nothing_else(ws: Workspace) -> None:
    save(ws, "What we did and what we did not")
    save(ws, "Pruned the apple tree")
    assert search(ws, "what did the apple do", strategy="lexical").terms == ("apple",)
    assert (
        titles(ws, "what did we do", strategy="lexical")[0] == "What we did and what we did not"
    )


def test_of_a_long_query_the_rarest_words_are_looked_up(ws: Workspace) -> None:
    pasted = [f"word{number}" for number in range(MAX_TERMS)]
    for number in range(3):
        save(ws, f"{' '.join(pasted)} {number}")
    save(ws, "The kingfisher is back")
    unknown = " ".join(f"unknown{number}" for number in range(MAX_TERMS))
    found = search(ws, f"{unknown} {' '.join(pasted)} kingfisher", strategy="lexical", limit=20)
    assert "kingfisher" in found.terms and len(found.terms) == MAX_TERMS
    assert found.notices == (f"Only the {MAX_TERMS} rarest words of the query were looked up.",)
    assert "The kingfisher is back" in [hit.entry.title for hit in found.hits]


def test_a_query_of_filters_alone_lists_the_newest(ws: Workspace, clock: Clock) -> None:
    for number in range(4):
        clock.forward(minutes=1)
        save(ws, f"Entry {number}", tags=["even"] if number % 2 == 0 else [])
    for query in ("tag:even", "", "?!", "type:note tag:even"):
        result = search(ws, query)
        expected = [3, 2, 1, 0] if "even" not in query else [2, 0]
        assert [hit.entry.title for hit in result.hits] == [f"Entry {n}" for n in expected]
        assert any("no words to search for" in notice for notice in result.notices) == (
            "even" not in query
        )
    result = search(ws, "tag:none")
    assert result.hits == () and "these filters: tags." in result.notices[0]


@pytest.mark.parametrize("strategy", ["hybrid", "lexical", "semantic"])
def test_what_is_left_out_is_nowhere(tmp_path: Path, strategy: str) -> None:
    (tmp_path / "notes" / "en").mkdir(parents=True)
    (tmp_path / "notes" / "Übersicht [1].md").write_text(
        "# Redis\n\nRedis beside kafka [queue]. #db/old\n", "utf-8"
    )
    (tmp_path / "notes" / "en" / "Second.md").write_text(
        "# Redis plugins\n\nA queue of plugins in Redis. #db\n", "utf-8"
    )
    (tmp_path / "notes" / "third.md").write_text(
        "# Redis pool\n\nThe connection pool of the queue.\n", "utf-8"
    )
    with open_home(tmp_path / "home", journal=tmp_path / "notes") as ws:

        def found(query: str, **filters: Any) -> set[str]:
            built = build_filters(now=ws.clock(), **filters)
            ranked = {
                hit.entry.title
                for hit in search(ws, query, filters=built, strategy=strategy, limit=9).hits
            }
            assert ranked == {entry.title for entry in find(ws, query, filters=built).entries}
            assert (
                ranked == {entry.title for entry in recent(ws, query, limit=9).entries}
                or filters
            )
            return {title.removeprefix("Redis").strip() for title in ranked}

        assert found("queue") == {"", "plugins", "pool"}
        assert found("queue -kafka") == found("queue -kaf*") == {"plugins", "pool"}
        assert found('queue -"connection pool"') == {"", "plugins"}
        assert (
            found("queue -tag:db")
            == found("queue -tag:db -type:issue")
            == found("-tag:db")
            == {"pool"}
        )
        assert found("queue -type:note") == found("-type:note") == set()
        assert (
            found("queue path:en/")
            == found("queue path:second")
            == found("path:EN/*.md")
            == {"plugins"}
        )
        assert found("queue -path:en") == {"", "pool"} and found('path:"Übersicht [1].md"') == {
            ""
        }
        assert found("queue", path=["en", "third.md"]) == {"plugins", "pool"}


def test_a_beginning_finds_its_words_without_doubt(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        save(ws, "The pluggable plugins came in October.")
        save(ws, "The connection pool is too small.")
        found = search(ws, "plug*", strategy="lexical")
        assert [hit.entry.title for hit in found.hits] == [
            "The pluggable plugins came in October."
        ]
        assert found.notices == ()


def test_inline_filters_narrow_what_the_parameters_left_open(ws: Workspace) -> None:
    save(ws, "Harbour one", type="decision", tags=["a"])
    save(ws, "Harbour two", type="issue", tags=["a"])
    given_ = build_filters(now=ws.clock(), type="issue")
    assert titles(ws, "harbour tag:a", filters=given_, limit=20) == ["Harbour two"]
    assert titles(ws, "harbour type:decision", filters=given_, limit=20) == [
        "Harbour two"
    ]  # the parameter wins
    assert set(titles(ws, "harbour days:3", limit=20)) == set(
        titles(ws, "harbour days 3", limit=20)
    )
    assert any(
        "`days:` is not a filter" in notice for notice in search(ws, "harbour days:3").notices
    )


def test_an_unknown_strategy_is_told(ws: Workspace) -> None:
    with pytest.raises(InvalidArgument, match="lexical"):
        search(ws, "x", strategy="psychic")


def test_why_names_the_filters_and_the_age(ws: Workspace, clock: Clock) -> None:
    save(ws, "Harbour one", type="decision")
    save(ws, "Harbour two", type="reference")
    clock.forward(days=30)
    by_title = {
        hit.entry.title: hit.why for hit in search(ws, "harbour", limit=20, explain=True).hits
    }
    floor = ws.config.search.decay_floor
    assert by_title["Harbour one"].decay == pytest.approx(floor + (1 - floor) / 2)
    assert by_title["Harbour one"].age_days == 30
    assert by_title["Harbour two"].decay == 1, "what is for reference does not age"
    [hit] = search(ws, "harbour type:decision since:2026-01-01", limit=20, explain=True).hits
    assert hit.why is not None and hit.why.matched_filters == ("types", "since")
    assert all(hit.why is None for hit in search(ws, "harbour").hits)


def test_a_snippet_is_cut_between_words_and_knows_its_line(ws: Workspace) -> None:
    before = " ".join(["It isn't here, nor there."] * 12)
    (ws.config.journal / "2026-11-20.md").write_text(
        f"# Day\n\n## 10:00 Long\n\n{before}\nThe kestrel isn't far.\n{before}\n"
    )
    [hit] = search(ws, "kestrel", strategy="lexical").hits
    assert "The kestrel isn't far." in hit.snippet and len(hit.snippet) < 260
    shown = hit.snippet.removeprefix("… ").removesuffix(" …")
    assert hit.snippet.startswith("… ") and hit.snippet.endswith(" …")
    assert set(shown.split()) <= {*before.split(), *"The kestrel isn't far.".split()}
    assert hit.snippet_line in (5, 6)


# -- words that meet words
# -----------------------------------------------------------------------------------------------


def test_each_token_of_a_question_meets_the_nearest_of_a_passage() -> None:
    """Of two passages the first holds both tokens of the question, the other one only."""
    asked = np.zeros((2, TOKEN_BITS), np.float32)
    asked[0, :32], asked[1, 32:] = 1.0, 1.0
    both = Meaning(asked[0], np.where(asked > 0, 1.0, -1.0))
    one = Meaning(asked[0], both.tokens[:1])
    matches = best_matches(asked, [both.codes, one.codes])
    assert matches.tolist() == [[4.0, 4.0], [4.0, -4.0]]
