"""Other models: the list, the way to one and back, what cannot be used, and the language of a
journal.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest
from embedders import HashingEmbedder
from forks import ForkedHome

from synaptic import open_workspace, rebuild
from synaptic.config import DEFAULT_MODEL, MULTILINGUAL_MODEL, Config
from synaptic.index.embedding import MODEL_DIR
from synaptic.workspace.embed import is_journal_foreign

PANEL = Path(__file__).parents[2] / "data" / "panel"
OFFLINE = {"HF_ENDPOINT": "http://127.0.0.1:9"}
NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
FOREIGN = "Most of these notes are not English"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The shipped model as somebody's own folder."""
    return Path(shutil.copytree(MODEL_DIR, tmp_path / "mine"))


def notes(home: ForkedHome) -> None:
    home.journal.mkdir(parents=True)
    text = (
        "The harbour was quiet in the early morning, and we counted boats before breakfast was "
        "served"
    )
    blocks = [
        f"## 09:{n:02d} The zebra{word} plan\n\n{text}, {word} of them.\n"
        for n, word in enumerate(NUMBERS)
    ]
    (home.journal / "2026-11-20.md").write_text("\n".join(blocks))


def panel(home: ForkedHome, name: str, count: int | None = None) -> None:
    """The first `count` notes of a journal of the panel."""
    home.journal.mkdir(parents=True)
    told = json.loads((PANEL / f"{name}.json").read_text(encoding="utf-8"))
    for entry in told["entries"][:count]:
        with (home.journal / f"{entry['at'][:10]}.md").open("a", encoding="utf-8") as file:
            file.write(f"## {entry['at'][11:16]} {entry['title']}\n\n{entry['text']}\n\n")


def test_another_model_is_compared_taken_and_left_again(home: ForkedHome, folder: Path) -> None:
    notes(home)
    home.path.joinpath("config.toml").write_text("# mine\nthreads = 1  # of two\n")
    home.run("rebuild-index")
    used = home.run("model", "use", str(folder), "--yes")
    assert (
        used.out
        == f"In use: {folder}. `synaptic model use {DEFAULT_MODEL}` goes back at once.\n"
    )
    assert (
        used.err.count("mean reciprocal rank") == 2
        and "12 of 12 among the first 20" in used.err
    )
    config = home.path.joinpath("config.toml").read_text()
    assert f'model = "{folder}"' in config and "# mine\nthreads = 1  # of two\n" in config
    status = home.run("status", "--json").json
    assert status["model"].startswith(f"{folder}@") and status["pending_vectors"] == 0
    assert home.run("search", "counting ships", "--explain", "--json").json["mode"] == "hybrid"

    back = home.run("model", "use", DEFAULT_MODEL.upper(), "--yes")
    assert back.code == 0 and "embedding" not in back.err and "rank" not in back.err
    listed = {model["name"]: model for model in home.run("model", "--json").json["models"]}
    assert [name for name in listed if listed[name]["in_use"]] == [DEFAULT_MODEL] and listed[
        DEFAULT_MODEL
    ]["ships"]
    assert listed[str(folder)]["downloaded"] and listed[str(folder)]["dimensions"] == 384
    assert not listed["intfloat/multilingual-e5-large"]["downloaded"]
    again = home.run("model", "use", str(folder), "--yes", "--json").json
    assert again["kept"] and again["with_model"] is None, "its index is still there"


def test_few_notes_are_no_comparison(home: ForkedHome, folder: Path) -> None:
    home.run(
        "save",
        "The zucchini is ripe, and the beans are not, said the neighbour over the fence.",
    )
    used = home.run("model", "use", str(folder), "--yes")
    assert (
        used.code == 0
        and f"Not compared with {DEFAULT_MODEL}" in used.err
        and used.out.startswith("In use: /")
    )


def test_a_folder_whose_model_changed_is_another_model(home: ForkedHome, folder: Path) -> None:
    notes(home)
    home.run("model", "use", str(folder), "--yes")
    before = home.run("status", "--json").json["model"]
    os.utime(folder / "model.onnx", (1, 1))
    home.run("rebuild-index")
    status = home.run("status", "--json").json
    assert status["model"] != before and status["pending_vectors"] == 0


def test_what_is_purged_stays_in_no_index(home: ForkedHome, folder: Path) -> None:
    notes(home)
    home.run("model", "use", str(folder), "--yes")
    id = home.run("save", "The zucchini is ripe.", "--json").json["id"]
    home.run("model", "use", DEFAULT_MODEL, "--yes")
    assert any(b"ucchini" in path.read_bytes() for path in home.state.glob("index-*"))
    home.run("delete", id, "--yes", "--purge")
    assert not [
        path for path in home.state.glob("index*.db*") if b"ucchini" in path.read_bytes()
    ]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ("none", "holds no model: model.onnx and tokenizer.json"),
        ("half", "cannot be started"),
        ("json", "JSON"),
    ],
)
def test_a_folder_that_cannot_be_used_changes_nothing(
    home: ForkedHome, folder: Path, damage: str, says: str
) -> None:
    if damage == "none":
        folder = folder.parent / "nowhere"
    elif damage == "half":
        os.truncate(folder / "model.onnx", 1_000_000)
    else:
        (folder / "tokenizer_config.json").write_text("{")
    answer = home.run("model", "use", str(folder), "--yes")
    assert (
        answer.code == 1
        and says in answer.err
        and "Nothing was changed. A folder with model.onnx" in answer.err
    )
    assert not home.path.joinpath("config.toml").exists() and not list(
        home.state.glob("index-*")
    )


def test_offline_nothing_changes_and_a_folder_is_named(home: ForkedHome) -> None:
    notes(home)
    answer = home.run("model", "use", "baai/BGE-small-en-v1.5", "--yes", **OFFLINE)
    assert answer.code == 1 and "BAAI/bge-small-en-v1.5 is not on this machine" in answer.err
    assert (
        "`synaptic model use FOLDER`" in answer.err
        and not home.path.joinpath("config.toml").exists()
    )
    assert "BAAI/bge-small-en-v1.5" in home.run("model", "use", "bge-smal", "--yes").err
    assert home.run("model", "use", DEFAULT_MODEL).code == 2, "it asks, and here is nobody"
    assert home.run("model", "take", DEFAULT_MODEL).code == 2


@pytest.mark.parametrize("name", ["german", "chinese"])
def test_a_journal_that_the_model_reads_badly_is_told_of_once(
    home: ForkedHome, name: str
) -> None:
    panel(home, name)
    first = home.run("search", "Garten", "--strategy", "lexical")
    assert first.err.count(FOREIGN) == 1
    assert f"`synaptic model use {MULTILINGUAL_MODEL}`" in first.err
    assert (
        FOREIGN
        not in home.run("search", "Garten").text
        + home.run("status").text
        + home.run("init").text
    )
    shutil.rmtree(home.state)
    assert any(FOREIGN in notice for notice in home.run("status", "--json").json["notices"])
    shutil.rmtree(home.state)
    assert FOREIGN in home.run("init").err


def test_init_takes_the_model_that_reads_the_vault(home: ForkedHome) -> None:
    """A German vault is searched by the multilingual model from the first index on, and a
    question in another language finds its notes.
    """
    panel(home, "german")
    chosen = home.run("init", "--journal", str(home.journal))
    assert chosen.out.count(MULTILINGUAL_MODEL) == 1 and FOREIGN in chosen.out
    assert not chosen.err, "one sentence says it"
    settings = tomllib.loads((home.path / "config.toml").read_text())
    assert settings["model"] == MULTILINGUAL_MODEL
    home.run("rebuild-index")
    found = home.ask("search", "why did the radiator in the room of my son stay cold")
    assert found["mode"] == "hybrid" and found["hits"][0]["title"].startswith("Heizkörper")
    assert MULTILINGUAL_MODEL not in home.run("init", "--journal", str(home.journal)).text


@pytest.mark.parametrize("name", ["german", "japanese"])
def test_a_rebuild_takes_the_model_that_reads_the_journal(home: ForkedHome, name: str) -> None:
    """Who writes German from the first day has no vault for `init` to judge."""
    panel(home, name, 14)
    home.run("search", "2026")
    rebuilt = home.run("rebuild-index")
    [line] = [line for line in rebuilt.err.splitlines() if FOREIGN in line]
    assert MULTILINGUAL_MODEL in line and rebuilt.code == 0
    settings = tomllib.loads((home.path / "config.toml").read_text())
    assert settings == {"model": MULTILINGUAL_MODEL}
    status = home.ask("status")
    assert (
        status["model"].startswith(f"{MULTILINGUAL_MODEL}@") and not status["pending_vectors"]
    )
    assert FOREIGN not in home.run("rebuild-index").text + home.run("search", "2026").text


@pytest.mark.parametrize(
    "kind", ["English", "few", "named", "in the environment", "tried", "unwritable"]
)
def test_a_rebuild_leaves_the_model(home: ForkedHome, kind: str) -> None:
    """It leaves a model that reads the notes or was named by a person, and few notes; where the
    choice cannot be written, the notice stays.
    """
    panel(home, "project" if kind == "English" else "german", 6 if kind == "few" else 14)
    config = home.path / "config.toml"
    if kind == "named":
        config.write_text(f'model = "{DEFAULT_MODEL}"\n')
    elif kind == "unwritable":
        config.symlink_to(home.path / "gone" / "config.toml")
    elif kind == "tried":
        home.run("model", "use", MULTILINGUAL_MODEL, "--yes")
        config.unlink()
    environment = {"SYNAPTIC_MODEL": DEFAULT_MODEL} if kind == "in the environment" else {}
    rebuilt = home.run("rebuild-index", **environment)
    assert rebuilt.code == 0 and MULTILINGUAL_MODEL not in rebuilt.text
    status = home.ask("status")
    assert status["model"].startswith(f"{DEFAULT_MODEL}@")
    told = any(FOREIGN in notice for notice in status["notices"])
    assert told == (kind not in ("English", "few"))


def test_a_person_goes_back_from_the_model_that_a_rebuild_took(home: ForkedHome) -> None:
    panel(home, "german", 14)
    home.run("search", "Garten", "--strategy", "semantic")
    home.run("rebuild-index")
    assert home.run("model", "use", DEFAULT_MODEL, "--yes").code == 0
    assert FOREIGN not in home.run("rebuild-index").text
    assert home.ask("status")["model"].startswith(f"{DEFAULT_MODEL}@")


def test_the_language_is_not_judged_by_a_note_that_changed(home: ForkedHome) -> None:
    """It is judged at the next call, and no command fails for it."""
    panel(home, "german")
    config = Config(home=home.path, journal=home.journal)
    with open_workspace(config, embedder=HashingEmbedder()) as ws:
        rebuild(ws)
        assert is_journal_foreign(ws) is True
        for file in home.journal.iterdir():
            file.write_text("## 09:00 Changed\n", encoding="utf-8")
        assert is_journal_foreign(ws) is None


@pytest.mark.parametrize("kind", ["named", "embedded"])
def test_init_leaves_a_model_that_is_in_use(home: ForkedHome, kind: str) -> None:
    """Another model embeds every note anew, so the person decides."""
    panel(home, "german")
    if kind == "named":
        home.path.joinpath("config.toml").write_text(f'model = "{DEFAULT_MODEL}"\n')
    else:
        home.run("search", "Garten", "--strategy", "semantic")
    home.run("init", "--journal", str(home.journal))
    assert home.ask("model")["models"][0]["in_use"], "the first is the default"


def test_an_english_journal_with_some_foreign_words_is_not(home: ForkedHome) -> None:
    panel(home, "project")
    (home.journal / "2026-11-20.md").write_text(
        "## 09:00 Zitat\n\nDas Leben ist eine Reise, und nicht für alle.\n"
    )
    assert (
        FOREIGN
        not in home.run("status").text
        + home.run("search", "release").text
        + home.run("init", "--journal", str(home.journal)).text
    )
