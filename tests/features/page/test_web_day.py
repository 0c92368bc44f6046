"""A person writes, searches, corrects, undoes and reviews on the page: once by mouse, once by
keyboard alone.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from homes import Clock, open_home
from playwright.sync_api import Browser, Locator, Page, expect
from served import logged_in, served

from synaptic.verbs.saving import save

STOPS = 80
"""Tab is pressed at most so often until something has the focus."""


class Mouse:
    """Clicks what it sees."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def find(self, role: Any, name: str) -> Locator:
        return self.page.get_by_role(role, name=name).first

    def do(self, role: str, name: str, key: str = "") -> None:
        self.find(role, name).click()

    def write(self, name: str, text: str) -> None:
        """Puts this text into the field in place of what is there."""
        self.do("textbox", name)
        self.type(text)

    def type(self, text: str) -> None:
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def unfold(self, words: str) -> None:
        self.page.locator("summary", has_text=words).first.click()

    def choose(self, name: str, option: str) -> None:
        self.find("combobox", name).select_option(option)


class Keyboard(Mouse):
    """Has no mouse: it presses the key that there is, or Tab until the thing has the focus, and
    then Enter.
    """

    def do(self, role: str, name: str, key: str = "") -> None:
        if key:
            self.page.wait_for_load_state()  # keys work once the page is whole
            self.page.keyboard.press(key)
        else:
            self._reach(self.find(role, name))
            self.page.keyboard.press("Enter")

    def unfold(self, words: str) -> None:
        self._reach(self.page.locator("summary", has_text=words))
        self.page.keyboard.press("Enter")

    def write(self, name: str, text: str) -> None:
        self._reach(self.find("textbox", name))
        self.type(text)

    def choose(self, name: str, option: str) -> None:
        self._reach(self.find("combobox", name))
        self.page.keyboard.type(option)

    def _reach(self, wanted: Locator) -> None:
        expect(wanted).to_be_visible()
        for _ in range(STOPS):
            if wanted.evaluate("(one) => one === one.getRootNode().activeElement"):
                return
            self.page.keyboard.press("Tab")
        pytest.fail(f"{STOPS} times Tab, and {wanted} has not the focus")


@pytest.mark.sweep
@pytest.mark.parametrize("hand", [Mouse, Keyboard])
def test_a_day(browser: Browser, tmp_path: Path, hand: type[Mouse]) -> None:
    home, clock = tmp_path / "home", Clock()
    with open_home(home, clock=clock) as ws:
        save(
            ws,
            "The crane stops at four degrees below zero.",
            type="issue",
            at=clock.now - timedelta(days=90),
        )
    with served(home, SYNAPTIC_NOW=clock.now.isoformat()) as server:
        page = logged_in(browser, server).new_page()
        person, title = hand(page), page.get_by_role("heading", level=1)
        page.goto("/")

        person.do("link", "Write", key="n")
        expect(page.get_by_label("Text", exact=True)).to_be_focused()
        person.write("Text", "The pump of the north quay moves 40 litres a second. #water")
        expect(page.locator("#preview")).to_contain_text("40 litres")
        person.unfold("More about it")
        person.choose("Type", "insight")
        person.do("button", "Save")
        expect(page.get_by_role("status")).to_contain_text("Saved.")
        expect(page.get_by_role("article")).to_contain_text(
            "The pump of the north quay moves 40"
        )
        expect(page.get_by_role("link", name="#water").first).to_be_visible()

        person.do("link", "Search", key="/")
        page.wait_for_url("**/search")
        expect(page.get_by_role("searchbox")).to_be_focused()
        person.type("how strong is the pump")  # and nobody presses a button
        page.wait_for_url("**/search?q=how+strong+is+the+pump")  # the hits stand there
        expect(page.locator("#results")).to_contain_text("The pump of the north quay")
        person.do("link", "The pump of the north quay")
        expect(title).to_contain_text("40 litres")

        person.do("link", "Edit", key="e")
        page.wait_for_url("**/edit")
        person.write("Text", "The pump of the north quay moves 60 litres a second.")
        person.do("button", "Save")
        expect(title).to_contain_text("60 litres")
        person.do("button", "Undo", key="u")
        expect(title).to_contain_text("40 litres")

        if hand is Mouse:
            person.unfold("More")
        person.do("link", "Review", key="v")
        expect(page.get_by_role("article")).to_contain_text("The crane stops")
        expect(page.get_by_role("article")).to_be_focused()
        person.do("button", "Close", key="c")
        expect(page.get_by_role("status").first).to_contain_text("Undo")
        expect(page.get_by_role("article")).to_have_count(0)
    texts = "".join(path.read_text() for path in sorted((home / "journal").glob("*.md")))
    assert "issue: The crane stops at four degrees below zero. #done" in texts
    assert "40 litres" in texts and "60 litres" not in texts
