"""An answer says when nothing clearly fits; the nearest are shown all the same, or those of the
nearest words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from homes import open_home

from synaptic import Workspace, open_workspace, rebuild, save, search
from synaptic.index.embedding import FastEmbedder
from synaptic.models import NOTHING_CLOSE
from synaptic.search.evidence import Evidence
from synaptic.verbs.saving import save_all
from synaptic.workspace.embed import try_process_lock

DATA = Path(__file__).parents[1] / "data"
NOTES = (
    "Chose Postgres over Redis for the job queue, because Redis lost jobs when it was "
    "restarted.",
    "The staging database is rebuilt every night at three; data entered there is gone.",
    "The flaky upload test came from clock drift in the container: signed URLs expired early.",
    "Maria prefers meetings on Tuesday mornings, and no calls after four.",
    "Rolled the TLS certificates of the billing gateway; the next time is in March.",
    "Docker builds on the laptops are slow because of the bind mounts; named volumes "
    "halved the time.",
)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, model: FastEmbedder) -> Iterator[Workspace]:
    home: Path = tmp_path_factory.mktemp("close") / "home"
    with open_workspace(open_home(home).config, embedder=model) as ws:
        for note in NOTES:
            save(ws, note)
        rebuild(ws)
        yield ws


@pytest.mark.parametrize(
    "question",
    [
        "why did we leave redis?",
        "What made the upload test fail now and then?",
        "when does Maria like to meet",
        "slow docker builds",
        "certificates of the gateway",
    ],
)
def test_what_fits_is_shown_without_doubts(notes: Workspace, question: str) -> None:
    assert search(notes, question).notices == ()


@pytest.mark.parametrize(
    "question",
    [
        "which violin strings sound warm?",
        "Which vaccination do I need for Vietnam?",
        "salary of the new accountant",
        "Who won the chess tournament?",
    ],
)
def test_where_nothing_fits_the_answer_says_so(notes: Workspace, question: str) -> None:
    found = search(notes, question)
    assert "no close match" in found.notices[0] and found.hits


def test_a_list_is_no_answer_to_doubt(notes: Workspace) -> None:
    assert search(notes, "type:note").hits
    assert not any("close match" in notice for notice in search(notes, "type:note").notices)
    assert not any(
        "close match" in notice
        for notice in search(notes, "lentils", strategy="lexical").notices
    )


def test_words_alone_can_be_doubted_too(notes: Workspace) -> None:
    doubted = search(
        notes,
        "lentils, vaccinations, chess, salaries, skiing, violins, taxes, tents, and calls",
        strategy="lexical",
    )
    assert doubted.mode == "lexical" and doubted.hits and "no close match" in doubted.notices[0]
    assert search(notes, "signed URLs expired", strategy="lexical").notices == ()


def test_what_fits_has_a_better_score_than_what_does_not(notes: Workspace) -> None:
    fits, not_ = (
        search(notes, query).hits[0].score
        for query in ("slow docker builds", "who won the chess game?")
    )
    assert 0 <= not_ < 0.5 < fits <= 1


def test_the_first_example_of_the_readme(tmp_path: Path, model: FastEmbedder) -> None:
    with open_home(tmp_path / "home", embedder=model) as ws:
        told = "Chose sqlite-vec over LanceDB: one file, no server, good enough to a million vectors."
        save(ws, told, type="decision", tags=["db"])
        for question, doubts in (
            ("which vector store do we use", 0),
            ("pizza dough recipe", 1),
        ):
            found = search(ws, question)
            assert (found.mode, [hit.entry.content for hit in found.hits]) == ("hybrid", [told])
            assert ["no close match" in notice for notice in found.notices] == [True] * doubts


def test_one_short_entry_does_not_fit_everything(tmp_path: Path, model: FastEmbedder) -> None:
    with open_home(tmp_path, embedder=model) as ws:
        save(ws, "x offer")
        for question, doubts in (("turtle", 1), ("winter tyres", 1), ("an offer from x", 0)):
            assert len(search(ws, question).notices) == doubts


# -- typing errors
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["hybrid", "lexical", "smart"])
def test_a_typing_error_is_corrected_where_nothing_close_is_found(
    notes: Workspace, strategy: str
) -> None:
    found = search(notes, "certifcates", strategy=strategy)
    assert found.notices == ("Nothing holds `certifcates`; searched for `certificates`.",)
    assert "TLS certificates" in found.hits[0].entry.content and found.terms == (
        "certificates",
    )
    assert "certificates" in found.hits[0].snippet
    right = search(notes, "certificates", strategy=strategy)
    assert found.hits[0].entry == right.hits[0].entry and found.hits[0].score > 0.5


def test_a_typing_error_beside_words_that_find_enough_is_let_be(notes: Workspace) -> None:
    found = search(notes, "why are dokcer builds on the laptops slow?")
    assert found.notices == () and "Docker builds" in found.hits[0].entry.content


def test_a_correction_that_does_not_help_leaves_the_doubt(notes: Workspace) -> None:
    found = search(notes, "where do dolphins sleep in winter, certifcates")
    assert [("no close match" in one, "`certifcates`" in one) for one in found.notices] == [
        (True, False),
        (False, True),
    ]


def test_by_meaning_alone_no_word_is_corrected(notes: Workspace) -> None:
    assert not any(
        "searched for" in one
        for one in search(notes, "certifcates", strategy="semantic").notices
    )


def test_words_are_corrected_only_where_there_is_doubt(
    notes: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def nearest(_: Evidence, term: str) -> None:
        asked.append(term)

    monkeypatch.setattr(Evidence, "nearest_word", nearest)
    assert search(notes, "slow dokcer builds on the laptops").hits and asked == []
    assert search(notes, "certifcates").hits and asked == ["certifcates"]


def test_what_an_entry_is_marked_with_counts_as_its_words(
    tmp_path: Path, model: FastEmbedder
) -> None:
    marks = {"type": "decision", "tags": ["money"], "project": "ledger"}
    with open_home(tmp_path, embedder=model) as ws:
        save_all(ws, [(note, {}) for note in NOTES])
        save(ws, "Invoices go out on the first of the month.", **marks)
        rebuild(ws)
        for question in ("what did I decide about invoicing", "money decisions in ledger"):
            assert search(ws, question).notices == ()
        found = search(ws, "what did I decide about the holidays in Norway")
    assert "no close match" in found.notices[0]


def test_words_that_stand_there_are_no_doubt_before_there_are_vectors(
    tmp_path: Path, model: FastEmbedder
) -> None:
    """A folder that was just adopted: while another process embeds, most of its notes have no
    vector.
    """
    with open_home(tmp_path, embedder=model) as ws:
        for number in range(900):
            path = ws.config.journal / f"{number}.md"
            path.write_text(
                f"# Report {number}\n\nThe ferry of pier {number} leaves at noon.\n"
            )
        (ws.config.journal / "boat.md").write_text("# Regatta\n\nWe went sailing with Ada.\n")
        with try_process_lock(ws.config.state / "embed.lock", 0) as is_alone:
            found = search(ws, "sailing regatta")
            assert is_alone and [hit.entry.title for hit in found.hits[:1]] == ["Regatta"]
            assert not any("no close match" in notice for notice in found.notices)
            doubted = search(ws, "zzzz qqqq vaccination ferry")
            assert doubted.hits and doubted.notices[0].startswith(NOTHING_CLOSE)
            assert "cannot be found by meaning yet" in doubted.notices[1]


@pytest.fixture(scope="module")
def chinese(
    model: FastEmbedder, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    told = json.loads((DATA / "panel" / "chinese.json").read_text(encoding="utf-8"))
    with open_home(tmp_path_factory.mktemp("chinese"), embedder=model) as ws:
        blocks = [f"## {one['title']}\n\n{one['text']}\n" for one in told["entries"]]
        (ws.config.journal / "2026-11-19.md").write_text("\n".join(blocks), encoding="utf-8")
        rebuild(ws)
        yield ws


def test_in_chinese_questions_of_other_matters_are_doubted_and_hardly_any_answered_one(
    chinese: Workspace,
) -> None:
    def doubts(asked: list[dict[str, Any]]) -> int:
        notices = [search(chinese, one["question"]).notices for one in asked]
        return sum("no close match" in " ".join(some) for some in notices)

    panel = DATA / "panel"
    other = json.loads((panel / "unanswered.json").read_text(encoding="utf-8"))["chinese"]
    answered = json.loads((panel / "chinese.json").read_text(encoding="utf-8"))["questions"]
    assert doubts([one for one in other if one["kind"] == "other"]) >= 6  # of 24
    assert doubts(answered) <= 3  # of 75
