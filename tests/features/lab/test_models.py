"""Other models: the list, the way to one and back, and what cannot be used."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from forks import ForkedHome
from outside import Home
from trials import drawn

from synaptic.config import DEFAULT_MODEL, FORMER_MODELS
from synaptic.index.embedding import MODEL_DIR

OFFLINE = {"HF_ENDPOINT": "http://127.0.0.1:9"}
NEEDS_NETWORK = ("model", "use", "BAAI/bge-small-en-v1.5", "--yes")
NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()


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


@pytest.mark.slow
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


@pytest.mark.sweep
def test_no_command_with_a_model_leaves_a_file_outside_of_its_home(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries note each process below the user's home, and tell their makers. A soak runs
    every command.
    """
    user = tmp_path / "user"
    user.mkdir()
    for name in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    home = Home(tmp_path / "home", {"HOME": str(user)} | OFFLINE, folder=tmp_path)
    id = home.ask("save", "We count boats.")["id"]
    others: list[tuple[str, ...]] = [
        ("analyze", "counting ships"),
        ("update", id, "--append", "And ships."),
        ("review", "near"),
        ("rebuild-index", "--fresh"),
        ("model",),
        ("model", "use", str(folder), "--yes"),
        ("model", "use", DEFAULT_MODEL, "--yes"),
        ("evaluate", "--questions", "1"),
    ]
    chosen = drawn("commands with a model", others)
    for words in (("search", "counting ships"), *chosen, NEEDS_NETWORK):
        answer = home.run(*words)
        assert answer.code == (words is NEEDS_NETWORK), answer
        assert [*user.rglob("*")] == [], words


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


@pytest.mark.slow
def test_a_folder_whose_model_changed_is_another_model(home: ForkedHome, folder: Path) -> None:
    notes(home)
    home.run("model", "use", str(folder), "--yes")
    before = home.run("status", "--json").json["model"]
    os.utime(folder / "model.onnx", (1, 1))
    home.run("rebuild-index")
    status = home.run("status", "--json").json
    assert status["model"] != before and status["pending_vectors"] == 0


def test_what_is_purged_stays_in_no_index(home: ForkedHome, folder: Path) -> None:
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
    former = home.run("model", "use", FORMER_MODELS[0], "--yes")
    assert former.code == 1 and DEFAULT_MODEL in former.err
    assert home.run("model", "use", DEFAULT_MODEL).code == 2, "it asks, and here is nobody"
    assert home.run("model", "take", DEFAULT_MODEL).code == 2
