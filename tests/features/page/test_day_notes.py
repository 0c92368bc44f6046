"""The note of a day begins as the vault's own template says."""

from __future__ import annotations

import json
import shlex
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from forks import ForkedHome
from homes import open_home
from outside import is_stopped, wait_until
from playwright.sync_api import Browser, expect
from served import logged_in, served

from synaptic.features.page.day_notes import begin_by_template, named_template

TODAY = "2026-11-24"
NOW = f"{TODAY}T10:00:00"
DAILY = (
    "---\ntags: [day]\n---\n# {{date:dddd, D MMMM}}\n\n## Morning\n\n{{time}} {{title}} <%x%>\n"
)
FILLED = f"---\ntags: [day]\n---\n# Tuesday, 24 November\n\n## Morning\n\n10:00 {TODAY} <%x%>\n"
CONFIG = """\
{:preferred-format :markdown
 ;; :default-templates {:journals "Old"}
 :default-templates
 {:pages "Page", :journals "Daily"} }
"""
BLOCKS = "- Daily\n  template:: Daily\n  template-including-parent:: false\n\t- Read {{date}}\n"
Vault = Callable[..., Path]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """Makes the home of an Obsidian vault, whose daily notes have this template, of files."""

    def make(template: str = "Templates/Daily", **files: str) -> Path:
        home = tmp_path / "home"
        journal = home / "journal"
        settings = {".obsidian/daily-notes.json": json.dumps({"template": template})}
        for name, text in ({"Templates/Daily.md": DAILY} | settings | files).items():
            path = journal / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return home

    return make


def test_what_is_saved_first_on_a_day_begins_its_note(vault: Vault) -> None:
    home = vault()
    note = home / "journal" / f"{TODAY}.md"
    with served(home, SYNAPTIC_NOW=NOW) as server:
        assert server.post("/new", content="A walk.").status_code == 303
        assert note.read_text().startswith(f"{FILLED}\n## 10:00 A walk.\n")
        server.post("/new", content="A swim.")
        assert note.read_text().count("Morning") == 1
        for _ in range(2):  # each save is one step of undo
            server.post("/undo")
        assert not note.exists()
        server.post("/new", content="yesterday 5pm: called Ida")
        yesterday = (home / "journal" / "2026-11-23.md").read_text()
        assert "# Monday, 23 November" in yesterday and "## 17:00 called Ida" in yesterday
        server.post("/new", content="Bread.", date="2026-11-20", time="08:00")
        friday = (home / "journal" / "2026-11-20.md").read_text()
        assert "# Friday, 20 November" in friday and "## 08:00 Bread." in friday


@pytest.mark.slow
def test_a_person_begins_the_note_of_today_and_writes_into_it(
    browser: Browser, vault: Vault
) -> None:
    home = vault()
    with served(home, SYNAPTIC_NOW=NOW) as server:
        page = logged_in(browser, server, locale="de-DE").new_page()
        page.goto("/")
        page.get_by_role("button", name="mit deiner Vorlage beginnen").click()
        expect(page.locator("#preview")).to_contain_text("Dienstag, 24 November")
        box = page.locator(".box textarea")
        box.press("ControlOrMeta+End")
        page.keyboard.type("Tea.")
        page.get_by_role("button", name="Speichern", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text(f"{TODAY}.md")
        page.goto("/")
        expect(page.get_by_role("button", name="mit deiner Vorlage")).to_have_count(0)
        page.get_by_role("link", name=f"{TODAY}.md").click()
        expect(box).to_have_value(FILLED.replace("Tuesday", "Dienstag") + "Tea.")
        page.goto("/day/2026-11-26")  # it is still to come
        expect(page.get_by_role("button", name="mit deiner Vorlage")).to_have_count(0)
        before = (home / "journal" / f"{TODAY}.md").read_bytes()
        assert server.post(f"/day/{TODAY}/begin").status_code == 303
        assert (home / "journal" / f"{TODAY}.md").read_bytes() == before


def test_a_note_that_was_begun_by_mistake_is_taken_back(vault: Vault) -> None:
    home = vault()
    with served(home, SYNAPTIC_NOW=NOW) as server:
        where = server.post(f"/day/{TODAY}/begin").headers["location"]
        assert 'name="run"' in server.client.get(where).text
        server.post("/undo")
        assert not (home / "journal" / f"{TODAY}.md").exists()
    with served(home, "--read-only", SYNAPTIC_NOW=NOW) as server:
        assert "/begin" not in server.client.get("/").text
        assert server.client.post(f"/day/{TODAY}/begin").status_code == 403


@pytest.mark.parametrize(
    "template", ["", "None", "../outside", ".obsidian/hidden", "Off", "Left out", "Empty"]
)
def test_a_template_that_may_not_be_inserted_begins_nothing(
    vault: Vault, template: str
) -> None:
    home = vault(
        template,
        **{
            ".obsidian/hidden.md": "Hidden",
            "Off.md": "---\nsynaptic: false\n---\nOff",
            "Left out.md": "Left out",
            "Empty.md": "\n",
        },
    )
    (home / "outside.md").write_text("Outside")
    with open_home(home, exclude=("Left out.md",)) as ws:
        assert begin_by_template(ws, ws.clock()) == ""
        assert not ws.journal.place(ws.journal.path_of_day(ws.clock())).exists()


def test_a_graph_of_logseq_names_the_template_of_its_journals(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    for name, text in {"logseq/config.edn": CONFIG, "pages/Ours.md": BLOCKS}.items():
        (journal / name).parent.mkdir(parents=True)
        (journal / name).write_text(text)
    with open_home(tmp_path / "home") as ws:
        assert named_template(ws) == "Daily"
        path = begin_by_template(ws, ws.clock())
        day = ws.today.isoformat()
        assert (journal / path).read_text() == f"# {day}\n\n- Read {day}\n"
        assert begin_by_template(ws, ws.clock()) == ""


BEGUN = FILLED.encode()
HEADING = f"# {TODAY}\n".encode()
"""How a day begins where no template does."""


def home_at(place: Path, **env: str) -> ForkedHome:
    return ForkedHome(place, {"SYNAPTIC_NOW": NOW, "SYNAPTIC_PROJECT": ""} | env)


def save(home: ForkedHome, text: str, **env: str) -> None:
    answer = home.run("save", text, **env)
    assert answer.code == 0, answer.text


def note_of_today(home: ForkedHome, folder: str = "") -> Path:
    return home.journal / folder / f"{TODAY}.md"


def test_a_save_in_a_terminal_and_of_an_agent_begins_the_note(vault: Vault) -> None:
    home = home_at(vault())
    save(home, "A walk.")
    first = note_of_today(home).read_bytes()
    assert first.startswith(BEGUN + b"\n## 10:00 A walk.\n")
    save(home, "A swim.")
    both = note_of_today(home).read_bytes()
    assert both.startswith(first) and both[len(first) :].startswith(b"\n## 10:00 A swim.\n")
    with home.server(SYNAPTIC_NOW="2026-11-25T10:00:00") as agent:
        agent.call("save", content="The build is green.")
    wednesday = (home.journal / "2026-11-25.md").read_text()
    assert wednesday.startswith(FILLED.replace("Tuesday, 24", "Wednesday, 25")[:50])
    assert wednesday.count("## Morning") == 1 and "The build is green." in wednesday


def test_day_names_are_in_the_language_of_the_settings(vault: Vault) -> None:
    home = home_at(vault())
    (home.path / "config.toml").write_text('language = "de"\n')
    save(home, "Tee.")
    assert "# Dienstag, 24 November\n" in note_of_today(home).read_text()


def test_a_graph_of_logseq_begins_its_journal_by_a_save(tmp_path: Path) -> None:
    home = home_at(tmp_path / "home")
    for name, text in {"logseq/config.edn": CONFIG, "pages/Ours.md": BLOCKS}.items():
        (home.journal / name).parent.mkdir(parents=True)
        (home.journal / name).write_text(text)
    save(home, "A walk.")
    begun = f"# {TODAY}\n\n- Read {TODAY}\n\n## 10:00 A walk.\n"
    assert note_of_today(home).read_text().startswith(begun)


@pytest.mark.sweep
@pytest.mark.parametrize("settings", [None, "{}", "{", '{"template": ""}'])
def test_a_vault_that_names_no_template_begins_as_before(
    tmp_path: Path, settings: str | None
) -> None:
    written = []
    for number, text in enumerate((None, settings)):
        home = home_at(tmp_path / str(number))
        if text is not None:
            (home.journal / ".obsidian").mkdir(parents=True)
            (home.journal / ".obsidian" / "daily-notes.json").write_text(text)
        save(home, "A walk.")
        lines = note_of_today(home).read_bytes().splitlines(keepends=True)
        written.append([line for line in lines if b"<!-- syn:" not in line])
    assert written[0] == written[1] and written[0][0] == HEADING


OPEN_FENCE = "# {{title}}\n\n```sh\nls\n"


@pytest.mark.sweep
@pytest.mark.parametrize(
    "files",
    [
        {"Templates/Daily.md": OPEN_FENCE},
        {"Templates/Daily.md": "# {{title}}\n\n<!-- open\n"},
        {".obsidian/daily-notes.json": '{"template": "Gone"}'},
        {".obsidian/daily-notes.json": '{"template": "../../outside"}'},
    ],
)
def test_a_template_that_cannot_be_used_refuses_no_save(
    vault: Vault, files: dict[str, str]
) -> None:
    home = home_at(vault(**files))
    save(home, "A walk.")
    assert note_of_today(home).read_bytes().startswith(HEADING + b"\n## 10:00 A walk.\n")
    assert "A walk." in [entry["title"] for entry in home.entries()]


def test_a_template_of_properties_alone_begins_the_note(vault: Vault) -> None:
    home = home_at(vault(**{"Templates/Daily.md": "---\ntags: [day]\n---\n"}))
    save(home, "A walk.")
    note = note_of_today(home).read_text()
    assert note.startswith("---\ntags: [day]\n---\n\n## 10:00 A walk.\n")


def test_a_note_that_is_made_meanwhile_gets_no_template(vault: Vault) -> None:
    home = home_at(vault())
    process = home.start("save", "A walk.", SYNAPTIC_FAULT="locked:stop")
    wait_until(lambda: is_stopped(process.pid))
    note_of_today(home).write_text("# Mine\n")  # as Obsidian makes it, which asks for no lock
    while process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.poll(0.05)
    assert process.wait() == 0
    assert note_of_today(home).read_text().startswith("# Mine\n\n## 10:00 A walk.\n")


def test_an_undo_of_the_first_save_leaves_what_others_wrote(vault: Vault) -> None:
    home = home_at(vault())
    note = note_of_today(home)
    save(home, "A walk.")
    assert home.run("undo").code == 0
    assert not note.exists()
    save(home, "A walk.")
    save(home, "A swim.")
    runs = [run["run"] for run in home.ask("undo", "--list")["undoable"]]
    assert home.run("undo", runs[1]).code == 0
    assert note.read_bytes().startswith(BEGUN + b"\n## 10:00 A swim.\n")
    assert home.run("undo").code == 0
    assert note.read_bytes() == BEGUN


def test_today_opens_a_note_that_the_template_begins(vault: Vault, tmp_path: Path) -> None:
    home = home_at(vault())
    assert home.run("today").out == f"{note_of_today(home)}\n"
    assert not note_of_today(home).exists()  # the path is all that a script asks for
    seen = tmp_path / "seen"
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\ncp "$1" {shlex.quote(str(seen))}\n')
    editor.chmod(0o755)
    assert home.person("today", EDITOR=str(editor)).code == 0
    assert seen.read_bytes() == BEGUN
    assert home.run("undo").code == 0
    assert not note_of_today(home).exists()
