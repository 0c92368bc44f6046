"""An index of another version gives its vectors to the new one, unless another model made them:
then its entries are embedded anew.
"""

from __future__ import annotations

import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest
from embedders import HashingEmbedder
from forks import ForkedHome
from homes import open_home
from killed import moments, started, was_killed
from trials import drawn

from synaptic import Workspace, find, save, search
from synaptic.config import DEFAULT_MODEL, FORMER_MODELS
from synaptic.index.embedding import USUAL_OF_SHIPPED, FastEmbedder
from synaptic.models import Meaning
from synaptic.workspace.sync import in_step

pytestmark = pytest.mark.fault(row=6)

DATA = Path(__file__).parents[1] / "data" / "upgrade"
ENTRIES = 41


class Counted(HashingEmbedder):
    """It counts the passages that it embeds."""

    passages = 0

    def embed_passage(self, text: str) -> Meaning:
        self.passages += 1
        return super().embed_passage(text)

    def embed_query(self, text: str) -> Meaning:
        return super().embed_passage(text)


def answers(ws: Workspace) -> Any:
    in_step(ws, lambda _: None, embed_ms=60_000)
    assert ws.index.counts().pending_passages == 0
    found = [
        [(hit.entry.id, round(hit.score, 6)) for hit in search(ws, query, limit=50).hits]
        for query in ("violin in winter", "a long report", "harbour")
    ]
    return found, [entry.id for entry in find(ws, limit=100).entries]


def unpacked(folder: Path, name: str = "index") -> Path:
    """A home as 0.2 left it: a journal of 41 entries and its index."""
    with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
        archive.extractall(folder)
    return folder


def of_former_model(folder: Path, version: str = "0.3.0") -> Path:
    """A home of seven entries. Its index is of synaptic-minilm-1; it lacks the last entry and an
    edit of the first. The index of synaptic-multilingual-1 beside it has both.
    """
    home = unpacked(folder, "former-model")
    if version != "0.3.0":
        (home / "same-schema.db").replace(home / ".state" / "index.db")
    return home


def titles(ws: Workspace, query: str, **settings: Any) -> list[str]:
    return [hit.entry.title for hit in search(ws, query, **settings).hits]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What an index answers that was made of nothing."""
    home = unpacked(tmp_path_factory.mktemp("fresh"))
    (home / ".state" / "index.db").unlink()
    with open_home(home) as ws:
        return answers(ws)


def assert_upgraded(home: Path, fresh: Any) -> None:
    model = Counted()
    with open_home(home, embedder=model) as ws:
        assert answers(ws) == fresh
        assert model.passages == 0
        assert ws.index.file.check(whole=True) is None
        assert not ws.index.file.rows("SELECT 1 FROM sqlite_schema WHERE name = 'spare'")


def test_the_release_before_gives_its_vectors(tmp_path: Path, fresh: Any) -> None:
    home = unpacked(tmp_path)
    assert_upgraded(home, fresh)
    with open_home(home) as ws:  # which no file says
        assert ws.index.file.value("SELECT sum(count) FROM access") > 0


@pytest.mark.sweep
def test_a_kill_at_any_step_of_the_upgrade_costs_no_vector(tmp_path: Path, fresh: Any) -> None:
    def upgrade() -> None:
        with open_home(home) as ws:
            answers(ws)

    for first in drawn("kills of an upgrade", (0, 1)):
        kills = 0
        for moment in moments()[first::2]:
            home = unpacked(tmp_path / f"{first} {moment}")
            if not was_killed(started(upgrade, killed_at=moment)):
                break
            kills += 1
            assert_upgraded(home, fresh)
            shutil.rmtree(home)
        assert kills > 5


def test_two_versions_at_once_answer_right_and_embed_nothing(tmp_path: Path) -> None:
    """Stemming is part of the schema: whoever opens the index of the other makes it anew."""
    home = unpacked(tmp_path)
    models = Counted(), Counted()
    with (
        open_home(home, embedder=models[0]) as one,
        open_home(home, embedder=models[1], search={"stemming": False}) as other,
    ):
        for number in range(3):
            saved = save(one, f"Reporters reported number {number}")
            found = search(one, "reporter", limit=60)
            assert saved.id in [hit.entry.id for hit in found.hits]
            found = search(other, "reporters", limit=60, embed_ms=60_000)
            assert saved.id in [hit.entry.id for hit in found.hits]
    assert sum(model.passages for model in models) <= 6


def test_two_versions_write_at_the_same_time(tmp_path: Path, fresh: Any) -> None:
    home = unpacked(tmp_path)

    def write(number: int) -> list[str]:
        with open_home(home, search={"stemming": number % 2 == 0}) as ws:
            return [save(ws, f"Violins of writer {number}, {n}").id for n in range(4)]

    with ThreadPoolExecutor(2) as threads:
        ids = {id for saved in threads.map(write, range(2)) for id in saved}
    with open_home(home) as ws:
        _, found = answers(ws)
        assert ids < set(found) and len(found) == ENTRIES + 8
        assert ws.index.file.check(whole=True) is None


@pytest.mark.parametrize("damage", ["cut", "a vector is cut", "no model"])
def test_what_cannot_be_taken_over_is_embedded(tmp_path: Path, fresh: Any, damage: str) -> None:
    home = unpacked(tmp_path)
    path = home / ".state" / "index.db"
    if damage == "cut":
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 4096 * 2048])
    else:
        with apsw.Connection(str(path)) as db:
            if damage == "no model":
                db.execute("DELETE FROM meta WHERE key = 'model'")
            else:
                db.execute("UPDATE vector SET embedding = x'00' WHERE chunk < 9")
        db.close()
    with open_home(home) as ws:
        assert answers(ws) == fresh
        assert ws.index.file.check(whole=True) is None


def test_another_model_takes_nothing_over(tmp_path: Path) -> None:
    model = Counted("another")
    with open_home(unpacked(tmp_path), embedder=model) as ws:
        answers(ws)
        assert model.passages >= ws.index.counts().chunks


@pytest.mark.parametrize("version", ["0.3.0", "the last with two models"])
def test_entries_of_a_former_model_are_found_by_words_until_they_are_embedded(
    tmp_path: Path, model: FastEmbedder, version: str
) -> None:
    home = of_former_model(tmp_path, version)
    unloaded = FastEmbedder(DEFAULT_MODEL, cache=tmp_path / "models")
    with open_home(home, embedder=unloaded) as ws:
        found = search(ws, "the brakes squeal", load_model=False)
        assert (
            found.mode == "lexical" and found.hits[0].entry.title == "Bicycle to the workshop"
        )
        assert titles(ws, "Zahnarzt", load_model=False) == ["Zahnarzt im Januar"]
        assert str(ws.index.meta("model")).startswith("synaptic-minilm-1@")
    blocks = [f"## 10:{n} Shelf {n}\n\nCounted the jars.\n" for n in range(10, 30)]
    (home / "journal" / "2026-11-21.md").write_text("\n".join(blocks))
    with open_home(home, embedder=model) as ws:
        found = search(ws, "the brakes squeal", embed_ms=0.001)
        assert found.mode == "hybrid" and found.hits[0].entry.title == "Bicycle to the workshop"
        assert ws.index.counts().pending_passages > 7, "the newest are embedded first"
        in_step(ws, lambda _: None, embed_ms=60_000)
        assert ws.index.counts().pending_passages == 0
        assert titles(ws, "an appointment about my teeth")[0] == "Zahnarzt im Januar"
        assert titles(ws, "Warum bleibt die Heizung kalt?")[0] == "Heater in the study"
        assert ws.index.meta("model") == model.name
        assert ws.index.meta("usual") == USUAL_OF_SHIPPED
        assert ws.index.file.check(whole=True) is None
        assert ws.index.file.value("SELECT sum(count) FROM access") > 0


@pytest.mark.sweep("place")
@pytest.mark.needs(feature="lab")
@pytest.mark.parametrize(
    ("name", "place"),
    [(name, "config.toml") for name in FORMER_MODELS]
    + [("Synaptic-MiniLM-1", "SYNAPTIC_MODEL"), ("all-MiniLM-L6-v2-int8", "config.toml")],
)
def test_who_named_a_former_model_has_the_one_that_ships(
    home: ForkedHome, name: str, place: str
) -> None:
    of_former_model(home.path)
    left = {path.name for path in home.state.glob("index-*.db")}
    config = home.path / "config.toml"
    config.write_text(f'model = "{name}"  # mine\n' if place == "config.toml" else "")
    before = config.read_bytes()
    environment = {"SYNAPTIC_MODEL": name} if place == "SYNAPTIC_MODEL" else {}
    found = home.run("search", "an appointment about my teeth", "--json", **environment)
    assert found.json["mode"] == "hybrid" and not found.err
    assert found.json["hits"][0]["title"] == "Zahnarzt im Januar"
    changed = home.run("search", "plumber", **environment)
    assert "bled it" in changed.out and "Thursday" not in changed.out
    status = home.run("status", "--json", **environment).json
    assert status["model"].startswith(f"{DEFAULT_MODEL}@")
    assert (status["entries"], status["pending_vectors"]) == (7, 0)
    listed = home.run("model", "--json", **environment).json["models"]
    assert [one["name"] for one in listed if one["in_use"]] == [DEFAULT_MODEL]
    assert not {one["name"] for one in listed} & {*FORMER_MODELS}
    assert config.read_bytes() == before
    assert {path.name for path in home.state.glob("index-*.db")} == left != set()
