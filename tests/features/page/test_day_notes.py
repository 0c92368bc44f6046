"""The note of a day begins as the vault's own template says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from homes import open_home
from playwright.sync_api import Browser, expect
from served import logged_in, served

from synaptic.features.page.day_notes import begin_day, named_template
from synaptic.notes.moment import ENGLISH

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
        assert begin_day(ws, ws.clock(), ENGLISH) == ""
        assert not ws.journal.place(ws.journal.path_of_day(ws.clock())).exists()


def test_a_graph_of_logseq_names_the_template_of_its_journals(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    for name, text in {"logseq/config.edn": CONFIG, "pages/Ours.md": BLOCKS}.items():
        (journal / name).parent.mkdir(parents=True)
        (journal / name).write_text(text)
    with open_home(tmp_path / "home") as ws:
        assert named_template(ws) == "Daily"
        path = begin_day(ws, ws.clock(), ENGLISH)
        day = ws.today.isoformat()
        assert (journal / path).read_text() == f"# {day}\n\n- Read {day}\n"
        assert begin_day(ws, ws.clock(), ENGLISH) == ""
