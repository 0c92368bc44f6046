"""A client sees its own changes at once, whoever holds the index."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw
import pytest
from embedders import HashingEmbedder
from forks import ForkedHome
from outside import TIMEOUT_S, Refusal, wait_until

from synaptic.index.embedding import MODEL_DIR
from synaptic.search.search import search
from synaptic.serving.worker import Worker
from synaptic.verbs.saving import save


@contextlib.contextmanager
def held_index(index: Path) -> Iterator[None]:
    """The write lock of the index, held by another connection than the server's."""
    with contextlib.closing(apsw.Connection(str(index))) as writer:
        writer.execute("BEGIN IMMEDIATE")
        yield
        writer.execute("ROLLBACK")


def titles(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [entry["title"] for entry in answer.get("hits") or answer.get("entries") or []]


def test_a_client_sees_its_changes_while_another_process_holds_the_index(
    home: ForkedHome,
) -> None:
    home.ask("save", "A lantern by the gate.")
    with home.server() as server:
        old = server.up_to_date("find")["entries"][0]["id"]
        with held_index(home.index):
            id = server.call("save", content="A heron in the reeds.")["id"]
            seen = {
                # by meaning the other may come second, once the model is loaded
                "search": titles(server.call("search", query="heron"))[:1],
                "recent": titles(server.call("recent")),
                "find": titles(server.call("find", type="note")),
                "get": titles(server.call("get", id=id)),
            }
            both = ["A heron in the reeds.", "A lantern by the gate."]
            assert seen == {"search": both[:1], "recent": both, "find": both, "get": both[:1]}
            assert server.call("save", content="A heron in the reeds.")["id"] == id
            server.call("update", id=id, append="It flew off at seven.")
            assert titles(server.call("search", query="flew"))[:1] == both[:1]
            server.call("delete", id=old)
            assert titles(server.call("recent")) == both[:1]
        assert titles(server.call("recent")) == both[:1]
        assert home.ask("search", "lantern", "--strategy", "lexical")["hits"] == []
    day = "".join(path.read_text() for path in home.journal.glob("*.md"))
    assert day.count(" A heron in the reeds.\n<!--") == 1


def test_a_reader_of_a_server_answers_with_what_its_writer_saved(tmp_path: Path) -> None:
    """Over HTTP reads have connections of their own."""
    worker = Worker(tmp_path / "home", HashingEmbedder())
    worker.submit(partial(save, content="A lantern by the gate.")).result(TIMEOUT_S)
    with held_index(tmp_path / "home" / ".state" / "index.db"):
        worker.submit(partial(save, content="A heron in the reeds.")).result(TIMEOUT_S)
        hits = worker.submit(partial(search, query="heron"), "read").result(TIMEOUT_S).hits
        assert [hit.entry.title for hit in hits] == ["A heron in the reeds."]
    worker.close(TIMEOUT_S)


def test_a_save_is_answered_while_the_model_is_being_loaded(home: ForkedHome) -> None:
    """It is found by words, and its vector follows once the model is there."""
    model = home.path.parent / "model"
    model.mkdir()
    for name in ("model.onnx", "sentencepiece.model"):
        (model / name).symlink_to(MODEL_DIR / name)
    gate = model / "config.json"
    os.mkfifo(gate)  # reading it lasts until somebody writes
    home.ask("save", "A lantern by the gate.")
    (home.path / "config.toml").write_text(f'model = "{model}"\n')
    with home.server() as server:
        server.call("save", content="A heron in the reeds.")
        answer = server.call("search", query="heron")
        assert titles(answer) == ["A heron in the reeds."] and answer["mode"] == "lexical"
        server.call("save", content="A kite above the mill.")
        assert home.ask("status")["pending_vectors"] > 0
        with gate.open("w") as writer:  # the loader has waited here all the time
            gate.unlink()
            gate.write_text("{}")
            writer.write("{}")
        wait_until(lambda: home.ask("status")["pending_vectors"] == 0)
        assert server.call("search", query="heron")["mode"] == "hybrid"


def test_an_agent_does_not_write_over_what_it_has_not_read(home: ForkedHome) -> None:
    with home.server() as server:
        id = server.call("save", content="JTAG is on J4.\n\nThe fuse is slow.")["id"]
        [day] = home.journal.glob("*.md")

        def edit(old: str, new: str) -> None:
            day.write_text(day.read_text().replace(old, new))

        def refused(**change: str) -> str:
            before = day.read_bytes()
            with pytest.raises(Refusal) as refusal:
                server.call("update", id=id, **change)
            assert day.read_bytes() == before
            return str(refusal.value)

        server.call("update", id=id, content="JTAG is on J4.\n\nThe fuse is fast.")  # its own
        edit("J4", "J7, Mara soldered it")
        assert "was changed since you read it" in refused(content="JTAG is on J4.")
        assert "nothing was written" in refused(content="JTAG is on J4.", title="JTAG")
        server.call("update", id=id, append="Checked.", add_tag="hw")  # takes nothing away
        assert "was changed since you read it" in refused(content="JTAG is on J4.")
        edit("fast", "very fast")
        server.call("get", id=id)
        server.call("update", id=id, content="JTAG is on J7.")
        edit("J7", "J8")
        server.call("search", query="JTAG")
        server.call("update", id=id, content="JTAG is on J9.")
        assert "J9" in day.read_text() and "J8" not in day.read_text()
