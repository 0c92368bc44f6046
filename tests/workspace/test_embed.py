"""Work on several processors gives what one gives, and a rebuild that is cut short is finished
by the next.
"""

from __future__ import annotations

import os
import signal
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from embedders import HashingEmbedder
from forks import ForkedHome
from homes import open_home
from outside import TIMEOUT_S

from synaptic import Workspace, rebuild, save, search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.models import Meaning
from synaptic.workspace.embed import embed_pending
from synaptic.workspace.sync import in_step

ENTRIES = 140


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("home")
    (home / "journal").mkdir()
    at = datetime(2026, 11, 21, 9)
    lines = [
        f"## {at + timedelta(minutes=number):%H:%M} Cable {number}\n\nThe {number}th cable "
        f"leads to the {number % 7}th "
        f"socket of room {number % 13}{', and on to the roof' * (number % 5)}.\n"
        for number in range(ENTRIES)
    ]
    (home / "journal" / "2026-11-21.md").write_text("\n".join(lines), encoding="utf-8")
    return home


def vectors(home: Path) -> dict[int, bytes]:
    with open_home(home, embedder=FastEmbedder(DEFAULT_MODEL, cache=home / "models")) as ws:
        assert ws.index.file.check(whole=True) is None
        rows = "SELECT hash, embedding FROM meaning"
        return dict(ws.index.file.db.execute(rows))


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="only Linux keeps a process on one processor"
)
def test_every_processor_embeds_the_same_vectors_as_one(home: Path) -> None:
    every = os.sched_getaffinity(0)
    try:
        with open_home(home, embedder=FastEmbedder(DEFAULT_MODEL, cache=home / "models")) as ws:
            assert rebuild(ws, fresh=True).embedded == ENTRIES
        of_all = vectors(home)
        os.sched_setaffinity(0, {min(every)})
        with open_home(home, embedder=FastEmbedder(DEFAULT_MODEL, cache=home / "models")) as ws:
            assert rebuild(ws, fresh=True).embedded == ENTRIES
        assert len(of_all) == ENTRIES
        assert vectors(home) == of_all
    finally:
        os.sched_setaffinity(0, every)


@pytest.mark.sweep
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_rebuild_that_is_cut_short_keeps_what_it_has(
    home: Path, ending: signal.Signals
) -> None:
    forked = ForkedHome(home)
    assert any(was_cut_short(forked, ending) for _ in range(5))
    answer = forked.run("rebuild-index")
    assert answer.code == 0, answer.err
    assert len(vectors(home)) == ENTRIES


def was_cut_short(forked: ForkedHome, ending: signal.Signals) -> bool:
    """False where the rebuild had ended before anybody could end it."""
    with forked.start("rebuild-index", "--fresh") as process, open_home(forked.path) as ws:
        while process.poll() is None:
            done = ws.index.file.db.execute("SELECT count(*) FROM chunk WHERE vector > 0").get
            if 0 < done < ENTRIES:
                process.send_signal(ending)
                break
        assert "Traceback" not in process.communicate(timeout=TIMEOUT_S)[1].decode()
    return process.returncode != 0


def test_the_last_vectors_count_in_a_process_that_searched_before_them(home: Path) -> None:
    """Scores come from a sample of vectors, of which it had seen few."""

    def scores(ws: Workspace) -> list[tuple[str, float]]:
        hits = search(ws, "the socket of the roof", limit=20).hits
        return [(hit.entry.id, hit.score) for hit in hits]

    with open_home(home) as ws:
        in_step(ws, lambda _: None, embed_ms=0)
        embed_pending(ws, budget_s=0, at_least=8)
        assert 0 < ws.index.counts().pending_passages < ENTRIES
        ws.index.sample_passages()
        embed_pending(ws, budget_s=None)
        assert ws.index.counts().pending_passages == 0
        early = scores(ws)
    with open_home(home) as ws:
        assert scores(ws) == early


class _Clock:
    """A clock that moves with each text that a slow model embeds."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


class _Slow(HashingEmbedder):
    """A model that takes 0.7 s for each text, by this clock."""

    def __init__(self, clock: _Clock) -> None:
        super().__init__()
        self.clock = clock

    def embed_passage(self, text: str) -> Meaning:
        self.clock.now += 0.7
        return super().embed_passage(text)


def test_a_save_begins_no_passage_after_two_seconds_and_its_vectors_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = _Clock()
    monkeypatch.setattr("synaptic.workspace.embed.time", clock)
    long = "\n\n".join(f"Paragraph {number}: {'water and stone ' * 60}" for number in range(12))
    with open_home(tmp_path, embedder=_Slow(clock)) as ws:
        save(ws, "The first one.")  # measuring the model takes longer than a save has
        assert clock.now <= 2.8 and ws.index.counts().pending_passages == 1
        embed_pending(ws, budget_s=100)
        begun = clock.now
        save(ws, long)
        assert clock.now - begun <= 2.8 and ws.index.counts().pending_passages > 0
        assert [
            hit.entry.title[:9] for hit in search(ws, "stone", strategy="lexical").hits
        ] == ["Paragraph"]
        embed_pending(ws, budget_s=100)
        assert ws.index.counts().pending_passages == 0
