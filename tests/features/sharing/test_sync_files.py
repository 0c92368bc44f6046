"""Two machines store different files under one name, or change one file."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from hubs import Machines, day

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

FILE = "attachments/2026-11-21-g.txt"


@pytest.fixture
def machines(tmp_path: Path, forks: Forks) -> Machines:
    return Machines(tmp_path, forks)


def shown_files(home: ForkedHome) -> dict[str, str]:
    """The text of the file to which each entry links, by the title of the entry."""
    found = {}
    for entry in home.ask("find")["entries"]:
        for path in home.ask("get", entry["id"])["entries"][0].get("attached", ()):
            found[entry["title"]] = (home.journal / path).read_text()
    return found


def contents(home: ForkedHome) -> list[str]:
    return sorted(file.read_text() for file in (home.journal / "attachments").iterdir())


@pytest.mark.sweep("when")
@pytest.mark.parametrize("link", ["", "![[g.txt]]", "[g](g.txt)"])
@pytest.mark.parametrize("when", ["shared", "before it was shared"])
def test_each_note_shows_its_own_file(machines: Machines, when: str, link: str) -> None:
    if when == "shared":
        homes = machines.shared("desk", "laptop")
    else:
        homes = [machines.new(name) for name in ("desk", "laptop")]
    for home in homes:
        name = home.path.name
        chosen = machines.folder / f"files of {name}" / "g.txt"
        chosen.parent.mkdir(exist_ok=True)
        chosen.write_text(f"The file of {name}.")
        text = ("save", f"Note of {name} {link}", "--title", f"Note {name}")
        home.ask(*text, "--attach", str(chosen))
        assert (home.journal / FILE).exists()
    if when != "shared":
        for home in homes:
            home.ask("sync", "--init", str(machines.hub), "--yes")
    said = [note for home in (*homes, *homes) for note in home.ask("sync")["notices"]]
    said += homes[0].ask("sync")["notices"]
    wanted = {f"Note {home.path.name}": f"The file of {home.path.name}." for home in homes}
    for home in homes:
        assert shown_files(home) == wanted
        assert contents(home) == sorted(wanted.values())
        assert home.run("doctor").code == 0
    assert day(homes[0]) == day(homes[1])
    if when == "shared":
        assert sum(f"Both machines have another file {FILE}" in note for note in said) == 1
    assert all(home.ask("sync")["notices"] == [] for home in homes)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "step",
    ["sync-made", "sync-merged", "sync-applied", "create-torn", "sync-moved", "sync-pushed"],
)
def test_a_killed_sync_is_finished_and_each_note_shows_its_file(
    machines: Machines, step: str
) -> None:
    homes = machines.shared("desk", "laptop")
    for home in homes:
        chosen = machines.folder / f"files of {home.path.name}" / "g.txt"
        chosen.parent.mkdir()
        chosen.write_text(f"The file of {home.path.name}.")
        home.ask("save", f"Note {home.path.name}", "--attach", str(chosen))
    homes[0].ask("sync")
    assert homes[1].run("sync", SYNAPTIC_FAULT=step).code == -signal.SIGKILL
    for home in (homes[1], *homes):
        home.ask("sync")
    for home in homes:
        shown = {f"Note {one.path.name}": f"The file of {one.path.name}." for one in homes}
        assert shown_files(home) == shown
        assert contents(home) == sorted(shown.values())
    assert day(homes[0]) == day(homes[1])


def test_a_file_that_both_machines_changed_is_kept_twice_and_both_say_so(
    machines: Machines,
) -> None:
    desk, laptop = machines.shared("desk", "laptop")
    (desk.journal / "attachments").mkdir()
    (desk.journal / FILE).write_text("As it was.")
    for home in (desk, laptop):
        home.ask("sync")
    for home in (desk, laptop):
        (home.journal / FILE).write_text(f"Changed on {home.path.name}.")
    desk.ask("sync")
    for home in (laptop, desk):
        [said] = [note for note in home.ask("sync")["notices"] if FILE[:-4] in note]
        [copy] = [file.name for file in (home.journal / "attachments").glob("*sync-conflict*")]
        assert copy in said and "link" in said and "delete" in said
    assert contents(desk) == contents(laptop) == ["Changed on desk.", "Changed on laptop."]
    desk.ask("save", f"The other one: [g](attachments/{copy})")
    for home in (desk, laptop):
        assert home.ask("sync")["notices"] == []


def test_what_notes_link_to_is_sent_and_what_stays_is_named(
    tmp_path: Path, forks: Forks
) -> None:
    """In whatever folder the vault keeps its files."""
    desk, laptop = Machines(tmp_path, forks).shared("desk", "laptop")
    files = desk.journal / "Attachments"
    files.mkdir()
    sent = ["arch review.pdf", "note.pdf", "plan (2).pdf", "talk.mp3", "talk.zip"]
    for name in (*sent, "plan.fig", "alone.txt"):
        (files / name).write_bytes(name.encode())
    links = "![[arch review.pdf#page=2]], [plan](Attachments/plan%20(2).pdf), [[talk.mp3|it]]"
    links += (
        '\n[a](Attachments/note.pdf#page=3 "A title") [all][z]\n\n[z]: <Attachments/talk.zip>'
    )
    (desk.journal / "Review.md").write_text(f"# Review\n\n{links}\n[[plan.fig]]\n")
    said, stay = desk.ask("sync")["notices"]
    assert stay.startswith("Not shared") and ": 1 files" in stay
    assert said.startswith("Not sent: Attachments/plan.fig (a note links to it")
    laptop.ask("sync")
    there = laptop.journal / "Attachments"
    assert sorted(one.name for one in there.iterdir()) == sorted(sent)
    (desk.journal / "Review.md").write_text("# Review\n\nDone.\n")
    desk.ask("sync")  # what was sent stays sent
    laptop.ask("sync")
    assert len([*there.iterdir()]) == len(sent)
    (files / "talk.mp3").unlink()
    desk.ask("sync")
    laptop.ask("sync")
    assert not (there / "talk.mp3").exists()


def test_a_vault_is_told_once_how_many_of_its_files_stay(tmp_path: Path, forks: Forks) -> None:
    desk, laptop = Machines(tmp_path, forks).shared("desk", "laptop")
    config = desk.path / "config.toml"
    config.write_text(f'exclude = ["Templates/**"]\n{config.read_text()}')
    for name in (".obsidian/app.json", ".obsidian/a/b.js", "Templates/Day.md", "Yard.canvas"):
        (desk.journal / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.journal / name).write_text("{}")
    (desk.journal / "Boats.md").write_text("# Boats\n\nRed.\n")
    [said] = desk.ask("sync")["notices"]
    assert "4 files" in said and "RELIABILITY" in said
    assert desk.ask("sync")["notices"] == laptop.ask("sync")["notices"] == []
    assert (laptop.journal / "Boats.md").exists() and not (
        laptop.journal / ".obsidian"
    ).exists()
    (desk.journal / "Other.canvas").write_text("{}")
    [said] = desk.ask("sync")["notices"]
    assert "5 files" in said
