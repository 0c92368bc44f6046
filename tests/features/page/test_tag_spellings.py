"""A tag is shown and offered as most notes write it, and compared without its capitals."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served

NOTES = {
    "Salt.md": "Buy salt. #Küche\n",
    "Pan.md": "Mend the pan. #Küche #WIP\n",
    "Oven.md": "The oven is warm. #küche <private>#KÜCHE #KÜCHE #KÜCHE</private>\n",
    "Tea.md": "---\ntags: [Getränke/Tee, wip]\n---\nTea. `#TEE`\n",
    "Hands.md": "---\ntags:\n  - Wash-Hands\n---\nSoap.\n",
    "2026-11-20.md": "# 2026-11-20\n\n## 09:00 Soup #suppe\n\nHot. tags:: [[Suppe]], #Suppe\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("spellings") / "home"
    (home / "journal").mkdir(parents=True)
    for name, text in NOTES.items():
        (home / "journal" / name).write_text(text, "utf-8")
    with served(home, SYNAPTIC_NOW="2026-11-24T10:00:00") as found:
        yield found


@pytest.mark.parametrize(
    ("tag", "spelled"),
    {
        "küche": "Küche",
        "wip": "WIP",  # as often as in lower case
        "getränke": "Getränke",
        "getränke/tee": "Getränke/Tee",
        "wash-hands": "Wash-Hands",
        "suppe": "Suppe",
    }.items(),
)
def test_a_tag_is_shown_as_most_notes_write_it(server: Served, tag: str, spelled: str) -> None:
    for asked in (tag, spelled):
        shown = server.shown(f"/tag/{asked}")
        assert f"<h1>#{spelled}</h1>" in shown
    assert re.search(f'class="tag" [^>]*>#{spelled}', shown)  # the chip of an entry
    assert f"#{spelled} <span" in server.shown(f"/search?tag={tag}")
    headers = {"HX-Request": "true"}
    offered = server.shown(f"/complete?kind=tag&q={tag[:-1]}", **headers)
    assert f'data-insert="#{spelled}' in offered
    last = tag.split("/")[-1]
    assert f"<span>#{spelled}" in server.shown(f"/palette?q={last}", **headers)


def test_a_tag_that_no_note_has_any_more_stays_as_it_is(server: Served) -> None:
    assert "#gone" in server.shown("/tag/Gone", status=404)


def test_the_spelling_is_offered_while_one_types(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/new")
    page.locator(".box textarea").press_sequentially("Bread #kü")
    expect(page.get_by_role("option").first).to_contain_text("#Küche")
    page.keyboard.press("Tab")
    expect(page.locator(".box textarea")).to_have_value("Bread #Küche")
    page.locator(".box textarea").fill("")
    page.locator(".box textarea").press_sequentially("Bread #küche")
    expect(page.get_by_role("option").first).to_contain_text("#Küche")
    page.keyboard.press("Tab")
    expect(page.locator(".box textarea")).to_have_value("Bread #Küche")
