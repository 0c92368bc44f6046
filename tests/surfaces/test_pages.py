"""The pages in a real browser, on the real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import open_home
from playwright.sync_api import Browser, expect
from served import browsing, logged_in, served

from synaptic.verbs.writing import save


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as found:
        yield found


def test_an_entry_of_today_is_seen(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_home(home) as ws:
        save(ws, "Chose SQLite: one file.", type="decision", tags=["db"])
    with served(home, SYNAPTIC_NOW="2026-11-21T10:00") as server:
        page = logged_in(browser, server).new_page()
        page.goto("/")
        expect(page.get_by_role("heading", level=2)).to_have_text("Chose SQLite: one file.")
