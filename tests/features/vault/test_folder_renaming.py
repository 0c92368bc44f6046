"""A folder is renamed with the links to and from its notes and files, as one change, which is
taken back byte for byte; what cannot be is refused with the reason.
"""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest
from forks import ForkedHome
from homes import Clock, open_home
from steady import SteadyHome
from vaults import ends_of_links, files_of, unpack

from synaptic.errors import SynapticError
from synaptic.features.vault.folder_renaming import find_folder, plan_folder_rename
from synaptic.workspace.many_edits import make_edits, take_back

PICTURE = bytes(range(256)) * 40
BEFORE = {
    "people/Ida.md": (
        "# Ida\n\n![[face.png]] ![](img/face.png) [n](../notes/Plan.md) [m](Max.md) [[Max]]\n"
        "[up](../Home.md#top) [[people/Max|him]] [own](../people/img/face.png)\n"
    ),
    "people/Max.md": "---\nup: '[[people/Ida]]'\n---\n# Max\n\n[[Ida]]\n",
    "people/deep/Eve.md": "[i](../Ida.md) [h](../../Home.md) [[deep/Eve]] [[people/deep/Eve]]\n",
    "notes/Plan.md": (
        "[i](../people/Ida.md) [e](<../people/deep/Eve.md>) [[Ida]] [[people/Ida#Ida|her]]\n"
        "![[people/img/face.png|200]] ![](../people/img/face.png) ![[face.png]] [[deep/Eve]]\n"
        "`[[people/Ida]]` <private>[[people/Ida]]</private> [[peoples]]\n"
    ),
    "Home.md": "[[people/Max]] [m](people/Max.md) [f](people/list.csv) [x](people/)\n",
}
AFTER = {
    "team/all/Ida.md": (
        "# Ida\n\n![[face.png]] ![](img/face.png) [n](../../notes/Plan.md) [m](Max.md) [[Max]]\n"
        "[up](../../Home.md#top) [[team/all/Max|him]] [own](img/face.png)\n"
    ),
    "team/all/Max.md": "---\nup: '[[team/all/Ida]]'\n---\n# Max\n\n[[Ida]]\n",
    "team/all/deep/Eve.md": (
        "[i](../Ida.md) [h](../../../Home.md) [[deep/Eve]] [[team/all/deep/Eve]]\n"
    ),
    "notes/Plan.md": (
        "[i](../team/all/Ida.md) [e](<../team/all/deep/Eve.md>) [[Ida]] [[team/all/Ida#Ida|her]]\n"
        "![[team/all/img/face.png|200]] ![](../team/all/img/face.png) ![[face.png]] [[deep/Eve]]\n"
        "`[[people/Ida]]` <private>[[people/Ida]]</private> [[peoples]]\n"
    ),
    "Home.md": "[[team/all/Max]] [m](team/all/Max.md) [f](team/all/list.csv) [x](people/)\n",
}


def write(journal: Path) -> None:
    for name, text in BEFORE.items():
        file = journal / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    (journal / "people/img").mkdir()
    (journal / "people/img/face.png").write_bytes(PICTURE)
    (journal / "people/list.csv").write_text("a,b\n")


def test_links_both_ways_and_files_follow_and_all_goes_back(home: SteadyHome) -> None:
    home.ask("save", "First.")
    write(home.journal)
    first = files_of(home.journal)
    plan = home.run("rename", "people/", "team/all", "--dry-run")
    assert "people/Ida.md -> team/all/Ida.md" in plan.out
    assert "in a private passage" in plan.out and "in code" in plan.out
    assert files_of(home.journal) == first
    asked = home.run("rename", "people", "team/all")
    assert asked.code == 2 and "people/ -> team/all/ (5 files)" in asked.out
    done = home.ask("rename", "--yes", "people", "team/all")
    now = files_of(home.journal)
    assert {path: now[path].decode() for path in AFTER} == AFTER
    assert now["team/all/img/face.png"] == PICTURE and now["team/all/list.csv"] == b"a,b\n"
    assert not (home.journal / "people").exists()
    ends = home.ask("links", "--broken")
    assert [link["text"] for link in ends["unwritten"]] == ["peoples"]
    assert ends["links"] == ends["files"] == []
    undone = home.ask("undo")
    assert undone["done"]["run"] == done["run"]
    assert files_of(home.journal) == first
    assert not (home.journal / "team").exists()
    home.ask("undo", undone["run"])
    assert files_of(home.journal) == now
    assert not (home.journal / "people").exists()


@pytest.mark.parametrize(("folder", "new"), [("References", "Things"), ("Notes", "My/Ñew (1)")])
def test_in_a_real_vault_each_link_leads_to_its_note(
    tmp_path: Path, folder: str, new: str
) -> None:
    vault = unpack("obsidian", tmp_path)
    with open_home(tmp_path / "home", journal=vault, clock=Clock()) as ws:
        first = files_of(vault)
        ends = ends_of_links(first, logseq=False)
        plan = plan_folder_rename(ws, folder, new)
        assert all(to.startswith(f"{new}/") for to in plan.moves.values())
        run = make_edits(ws, plan).run
        now = ends_of_links(files_of(vault), logseq=False)
        for path, found in ends.items():
            wanted = Counter(plan.moves.get(end, end) for end in found if end)
            assert not wanted - Counter(now[plan.moves.get(path, path)]), path
        take_back(ws, run)
        assert files_of(vault) == first


REFUSED = {
    ("people", "notes"): "notes is there already",
    ("people", "Home.md"): "ends like a note",
    ("people", "NOTES"): "notes is there already",
    ("people", "people/old"): "in people itself",
    ("people", "people"): "already",
    ("people", "a:b"): "Windows",
    ("people", ".hidden"): "hidden",
    ("people", "../out"): "empty",
    ("people", "old"): "exclude",
    ("people", "days"): "day_file",
    ("people", "@vault"): "not a folder of the journal",
    ("people", "inner/x"): "inner is not a folder",
    ("days", "Diary"): "day_file",
    ("days/2025", "days/1999"): "day_file",
    ("2024", "Archive"): "date from its folder",
    ("inner", "outer"): "No folder",
    ("@vault", "x"): "read in place",
    ("@vault/sub/", "x"): "read in place",
    ("linked", "x"): "a link to another place",
    ("nobody", "x"): "No folder",
    ("same", "x"): "2 folders",
}


def test_what_cannot_be_is_refused_with_the_reason(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    sources = {"@vault": tmp_path / "vault", "@inner": journal / "inner"}
    for folder in ("vault/sub", "home/journal/inner"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "Far.md").write_text("Far.\n")
    settings = {"sources": sources, "exclude": ("old/**",), "day_file": "days/%Y/%m-%d.md"}
    with open_home(tmp_path / "home", clock=Clock(), **settings) as ws:
        write(ws.config.journal)
        for name in ("days/2025/11-20.md", "2024/05/06.md", "a/same/x.md", "b/same/y.md"):
            (journal / name).parent.mkdir(parents=True, exist_ok=True)
            (journal / name).write_text("Text.\n")
        (journal / "linked").mkdir()
        (journal / "linked/x.md").write_text("x\n")
        (journal / "linked/y").symlink_to(tmp_path / "vault")
        first = files_of(journal)
        for (name, new), words in REFUSED.items():
            with pytest.raises(SynapticError, match=words):
                plan_folder_rename(ws, find_folder(ws, f"{name.rstrip('/')}/"), new)
        assert files_of(journal) == first


def test_logseq_keeps_its_folders(home: SteadyHome) -> None:
    for name in ("pages/Bees.md", "journals/2026_11_20.md", "clips/Hive.md"):
        (home.journal / name).parent.mkdir(parents=True, exist_ok=True)
        (home.journal / name).write_text("- see [hive](../clips/Hive.md)\n")
    assert "Logseq gives" in home.run("rename", "pages", "leaves").err
    home.ask("rename", "--yes", "clips", "cuttings")
    assert (home.journal / "pages/Bees.md").read_text() == "- see [hive](../cuttings/Hive.md)\n"


def test_a_note_comes_before_a_folder_of_its_name_and_a_slash_says_which(
    home: SteadyHome,
) -> None:
    write(home.journal)
    (home.journal / "people.md").write_text("A note. [[people/Max]]\n")
    home.ask("rename", "--yes", "people", "persons")
    assert (home.journal / "people/Max.md").exists()
    home.ask("rename", "--yes", "people/", "notes/")
    assert (home.journal / "notes/people/Max.md").exists()
    assert (home.journal / "persons.md").read_text() == "A note. [[people/Max]]\n"
    home.ask("rename", "--yes", "deep", "low")
    assert (home.journal / "notes/people/low/Eve.md").exists()
    home.ask("rename", "--yes", "low", "/")
    assert (home.journal / "low/Eve.md").exists()
    assert "No folder" in home.run("rename", "nobody/", "x").err


def test_what_is_hidden_or_empty_stays_and_is_named(home: SteadyHome) -> None:
    write(home.journal)
    (home.journal / "people/.DS_Store").write_bytes(b"x")
    (home.journal / "people/deep/none").mkdir()
    first = files_of(home.journal)
    done = home.ask("rename", "--yes", "people", "team")
    [notice] = done["notices"]
    assert "people/.DS_Store, people/deep/none" in notice
    assert (home.journal / "people/.DS_Store").exists()
    home.ask("undo")
    assert files_of(home.journal) == first


def test_who_edits_beside_a_rename_keeps_the_text(home: SteadyHome) -> None:
    """A file that came into the folder since stays; a note that was edited goes back so."""
    write(home.journal)
    home.ask("rename", "--yes", "people", "team")
    (home.journal / "team/New.md").write_text("New.\n")
    (home.journal / "team/Max.md").write_text("Other words.\n")
    (home.journal / "team/list.csv").write_text("c\n")
    home.ask("undo")
    assert (home.journal / "team/New.md").read_text() == "New.\n"
    assert (home.journal / "people/Max.md").read_text() == "Other words.\n"
    assert (home.journal / "people/list.csv").read_text() == "c\n"
    assert (home.journal / "people/Ida.md").read_text() == BEFORE["people/Ida.md"]


@pytest.mark.parametrize("step", ["batch-written", "renamed", "moved"])
def test_a_kill_is_finished_by_the_next_command(home: ForkedHome, step: str) -> None:
    home.ask("save", "First.")
    write(home.journal)
    first = files_of(home.journal)
    killed = home.run("rename", "people", "team", "--yes", SYNAPTIC_FAULT=step)
    assert killed.code == -signal.SIGKILL
    assert "is finished now" in home.run("recent").err
    now = files_of(home.journal)
    assert len(now) == len(first) and not any(path.startswith("people") for path in now)
    assert home.run("undo", SYNAPTIC_FAULT=step).code == -signal.SIGKILL
    assert "is finished now" in home.run("recent").err
    assert files_of(home.journal) == first
    assert home.ask("doctor")["ok"]
