"""An answer says when nothing clearly fits; the nearest are shown all the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import open_home

from synaptic import Workspace, open_workspace, rebuild, save, search
from synaptic.index.embedding import FastEmbedder

NOTES = (
    "Chose Postgres over Redis for the job queue, because Redis lost jobs when it was restarted.",
    "The staging database is rebuilt every night at three; data entered there is gone.",
    "The flaky upload test came from clock drift in the container: signed URLs expired early.",
    "Maria prefers meetings on Tuesday mornings, and no calls after four.",
    "Rolled the TLS certificates of the billing gateway; the next time is in March.",
    "Docker builds on the laptops are slow because of the bind mounts; named volumes halved the time.",
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
        "how long do lentils have to soak?",
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
    assert not any("close match" in notice for notice in search(notes, "lentils", strategy="lexical").notices)


def test_what_an_entry_is_marked_with_counts_as_its_words(notes: Workspace) -> None:
    save(notes, "Invoices go out on the first of the month.", type="decision", tags=["money"], project="ledger")
    rebuild(notes)
    for question in ("what did I decide about invoicing", "money decisions in ledger"):
        assert search(notes, question).notices == ()
    assert "no close match" in search(notes, "what did I decide about the holidays in Norway").notices[0]
