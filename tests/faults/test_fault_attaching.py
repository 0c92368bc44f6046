"""Files that are attached to a note: a kill at each step, a disk that refuses, and what stays
beside the notes afterwards.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
from forks import ForkedHome
from homes import open_home
from killed import started, was_killed
from photos import PNG

from synaptic.verbs.attaching import attach_draft_files, attach_to_draft, new_files
from synaptic.verbs.local_files import LocalFiles, save_with_files
from synaptic.verbs.saving import save

STORED = ("overwrite-torn", "create-torn", "created", "linked")
"""The steps that store a file; then those that save the note."""
SAVED = ("kept-torn", "replace-torn", "replace-written", "replace-swapped", "replaced", "kept")
REMOVED = ("replace-torn", "replace-written", "replace-swapped", "replaced")
NAME = "2026-11-21-gel-ü.png"
BOX = "b" * 32
WAYS = ("terminal", "page")


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "gel ü.png").write_bytes(PNG)
    return lab


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A home whose day has an entry, and a draft with a picture."""
    home = tmp_path / "home"
    with open_home(home) as ws:
        save(ws, "The first one.")
        attach_to_draft(ws, BOX, "gel ü.png", PNG)
    return home


def saves(home: Path, lab: Path, way: str, **marks: str) -> Callable[[], object]:
    """A save of a note with a picture, from the terminal or from a draft of the page."""

    def run() -> None:
        with open_home(home) as ws:
            if way == "terminal":
                local = LocalFiles(lab, "anywhere")
                save_with_files(ws, "Gel ![[gel ü.png]]", local, **marks)
                return
            with new_files(ws) as files:
                text = attach_draft_files(files, BOX, "Gel ![gel ü.png](draft:gel-ü.png)")
                save(ws, text, **marks)

    return run


def killed_at(step: str, action: Callable[[], object]) -> bool:
    """True if the action was killed at this step; False if it ended, well or by an error."""

    def run() -> None:
        os.environ["SYNAPTIC_FAULT"] = step
        action()

    return was_killed(started(run))


def left_in(home: Path) -> list[str]:
    """The files in the journal beside the notes, hidden ones too."""
    files = (one for one in (home / "journal").rglob("*") if one.is_file())
    return sorted(one.name for one in files if one.suffix != ".md")


def drafts_in(home: Path) -> list[str]:
    drafts = home / ".state" / "drafts"
    return sorted(one.relative_to(drafts).as_posix() for one in drafts.glob("*/*"))


def text_of_day(home: Path) -> str:
    return (home / "journal" / "2026-11-21.md").read_text("utf-8")


def write_next(home: Path) -> None:
    with open_home(home) as ws:
        save(ws, f"The next one, number {text_of_day(home).count('next')}.")


@pytest.mark.fault(row=2)
@pytest.mark.sweep("way")
@pytest.mark.parametrize("step", [*STORED, *SAVED])
@pytest.mark.parametrize("way", WAYS)
def test_a_kill_leaves_the_note_with_its_file_or_none_of_them(
    begun: Path, lab: Path, way: str, step: str
) -> None:
    assert killed_at(step, saves(begun, lab, way))
    write_next(begun)
    is_saved = NAME in text_of_day(begun)
    assert is_saved == (step in ("replaced", "kept", "replace-swapped"))
    assert left_in(begun) == ([NAME] if is_saved else [])
    was_stored = not is_saved and step in ("linked", *SAVED)
    unsaved = [f"unsaved/{NAME}"] if was_stored else []
    assert drafts_in(begun) == [f"{BOX}/gel-ü.png", *unsaved]
    assert not (begun / ".state" / "unsaved").exists()
    # the same save again is the note with its picture, once
    saves(begun, lab, "terminal")()
    assert text_of_day(begun).count(f"(attachments/{NAME})") == 1
    assert left_in(begun) == [NAME]


@pytest.mark.fault(row=2)
@pytest.mark.parametrize("step", REMOVED)
def test_a_kill_while_a_refused_note_loses_its_file(begun: Path, lab: Path, step: str) -> None:
    assert killed_at(step, saves(begun, lab, "terminal", type="odd"))
    write_next(begun)
    assert left_in(begun) == [] and not (begun / ".state" / "unsaved").exists()


@pytest.mark.fault(row=2)
@pytest.mark.parametrize("step", ["draft-torn", *REMOVED])
def test_a_kill_while_a_left_file_is_removed(begun: Path, lab: Path, step: str) -> None:
    assert killed_at("linked", saves(begun, lab, "terminal"))
    assert left_in(begun) == [NAME]
    assert killed_at(step, lambda: write_next(begun))
    write_next(begun)
    assert left_in(begun) == [] and not (begun / ".state" / "unsaved").exists()
    assert f"unsaved/{NAME}" in drafts_in(begun)


@pytest.mark.fault(row=2)
@pytest.mark.parametrize("name", [NAME, quote(NAME)])
def test_a_file_that_a_person_linked_meanwhile_stays(begun: Path, lab: Path, name: str) -> None:
    assert killed_at("linked", saves(begun, lab, "terminal"))
    (begun / "journal" / "Lab.md").write_text(f"# Lab\n\n![](attachments/{name})\n", "utf-8")
    write_next(begun)
    assert left_in(begun) == [NAME]
    assert (begun / "journal" / "attachments" / NAME).stat().st_size


@pytest.mark.fault(row=2)
def test_a_file_that_a_person_changed_meanwhile_stays(begun: Path, lab: Path) -> None:
    assert killed_at("linked", saves(begun, lab, "terminal"))
    (begun / "journal" / "attachments" / NAME).write_bytes(b"mine")
    write_next(begun)
    assert (begun / "journal" / "attachments" / NAME).read_bytes() == b"mine"


@pytest.mark.fault(row=3)
def test_two_files_of_one_name_at_once_are_two_files(begun: Path, lab: Path) -> None:
    labs = [lab, lab.with_name("other")]
    labs[1].mkdir()
    csv = [b"1,2\n", b"3,4\n"]
    for place, data in zip(labs, csv, strict=True):
        (place / "gel ü.png").unlink(missing_ok=True)
        (place / "gel ü.csv").write_bytes(data)

    def write(place: Path) -> None:
        with open_home(begun) as ws:
            local = LocalFiles(place, "anywhere")
            save_with_files(ws, f"From {place.name}: ![it](<gel ü.csv>)", local)

    children = [started(partial(write, place)) for place in labs]
    killed = [was_killed(child) for child in children]
    assert not any(killed)
    for place, data in zip(labs, csv, strict=True):
        [path] = re.findall(rf"From {place.name}: !\[it\]\((\S+)\)", text_of_day(begun))[:1]
        assert (begun / "journal" / path).read_bytes() == data


@pytest.mark.fault(row=10)
@pytest.mark.parametrize(
    "note", ["", "[", "[1]", '{"../x.png": 1}', '{"a.png": null}', '{"2026-11-21.md": ""}']
)
def test_a_broken_note_of_left_files_harms_nothing(begun: Path, note: str) -> None:
    before = text_of_day(begun)
    (begun / ".state" / "unsaved").write_text(note)
    write_next(begun)
    assert text_of_day(begun).startswith(before)
    assert not (begun / ".state" / "unsaved").exists()


@pytest.mark.fault(row=8)
def test_a_disk_that_refuses_leaves_no_file(home: ForkedHome, lab: Path) -> None:
    home.folder = lab
    home.ask("save", "The first one.")
    (lab / "big.csv").write_bytes(b"1,2\n" * 100_000)
    large = replace(home, file_limit=300_000)
    answer = large.run("save", "Never saved.", "--attach", "big.csv")
    assert answer.code == 1 and "Nothing was saved" in answer.err and "limit" in answer.err
    assert left_in(home.path) == [] and "Never saved" not in home.run("recent").out
    (home.journal / "attachments").rmdir()
    (home.journal / "attachments").write_bytes(b"a file in its place")
    answer = home.run("save", "![[gel ü.png]]")
    assert answer.code == 1 and left_in(home.path) == ["attachments"]


@pytest.mark.fault(row=11)
def test_a_link_in_the_place_of_the_folder_is_not_followed(begun: Path, lab: Path) -> None:
    outside = lab / "outside"
    outside.mkdir()
    (begun / "journal" / "attachments").symlink_to(outside)
    with open_home(begun) as ws, pytest.raises(Exception, match="leads out of the journal"):
        save_with_files(ws, "Gel ![[gel ü.png]]", LocalFiles(lab, "anywhere"))
    assert [*outside.iterdir()] == [] and "Gel" not in text_of_day(begun)
