"""What may stand in the place of a file of the state folder: nothing of it stops a person."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from forks import ForkedHome

MORE = (
    "capture changes conflicts.json devices.json forgotten hooks.log imports index.scrub intent language "
    "last-backup.json last-list.json lines moved.json page-8765.json positions.json "
    "proposals.log publish.json renames run settled stops.log told.log unsaved"
).split()
"""Names that a home has only after some other deed."""
FOLDERS = {"capture", "changes", "done", "imports", "lines", "renames", "run"}
GARBAGE = b'\xff\x00{"a": [1, {"x": null}]}\n[[]]\n{"word": "yes", "id": [], "rule": {}}\n'


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def _large(path: Path) -> None:
    with path.open("wb") as file:
        file.write(b"[" * 1000 + GARBAGE)
        file.truncate(100_000_000)


KINDS: dict[str, Callable[[Path], object]] = {
    "FIFO": os.mkfifo,
    "folder": Path.mkdir,
    "socket": _socket,
    "link that leads nowhere": lambda path: path.symlink_to("nowhere/at/all"),
    "loop of links": lambda path: path.symlink_to(path.name),
    "garbage": lambda path: path.write_bytes(GARBAGE),
    "large file": _large,
}


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home with many files of state, and the id of its rule."""
    base = tmp_path_factory.mktemp("used")
    env = {"HOME": str(base), "SYNAPTIC_PROJECT": "ledger"}
    home = ForkedHome(base / "home", env)
    home.ask("save", "Tulips are red.")
    id = home.rule("Never push.")
    home.ask("delete", home.ask("save", "It goes.")["id"], "--yes")
    return home.path, id


@pytest.mark.fault(row=10)
@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
def test_no_thing_in_the_place_of_a_state_file_stops_a_person(
    home: ForkedHome, used: tuple[Path, str], kind: str
) -> None:
    home.env["SYNAPTIC_PROJECT"] = "ledger"
    shutil.copytree(used[0], home.path)
    id = used[1]
    names = {path.name for path in home.state.iterdir()} | set(MORE)
    names -= {".gitignore", "README.txt"}
    for name in names:
        path = home.state / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        if name not in FOLDERS or kind != "folder":
            KINDS[kind](path)
    named = home.run("doctor").text
    missing = {name for name in names - FOLDERS if f"{home.state / name} " not in named}
    if kind == "garbage":
        assert "preferences.log" not in named
    elif kind == "large file":
        assert missing.isdisjoint({"preferences.log", "language"})
    else:
        assert {name for name in missing if not name.startswith("index")} <= {"write.lock"}
    assert "Tulips are red" in home.run("search", "tulips").text
    assert home.run("brief").code == 0
    assert home.run("save", "Roses are blue.").code == 0
    assert "Roses are blue" in home.run("search", "roses").text
    assert home.run("update", id, "--add-tag", "git").code in (0, 1)
    again = home.rule("Never force-push.")
    assert again and "Never force-push." in home.run("brief").text
