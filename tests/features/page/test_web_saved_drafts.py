"""In which order whatever happens: what was saved is no draft again, and no other text is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from outside import TIMEOUT_S, wait_until
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect
from served import Served, kept_drafts, logged_in, served

DAY = "2026-11-24"
STORE = """async (asked) => {
    const result = (asking) => new Promise((done) => {
        asking.onsuccess = () => done(asking.result);
    });
    const database = await result(indexedDB.open("drafts"));
    const store = database.transaction("drafts", "readwrite").objectStore("drafts");
    const found = await result(asked ? store.put(...asked) : store.getAll());
    const names = await result(store.getAllKeys());
    database.close();
    return asked ? null : [found[0], names[0]];
}"""
"""Gives the first draft that the browser keeps and its name, or keeps the one that is given."""
NO_WRITES = "() => void (IDBDatabase.prototype.transaction = () => { throw Error('left'); })"
"""From now on the page writes no draft, as one that is left before it has done so."""
WHEN_TOLD = "() => void ((new BroadcastChannel('told')).onmessage = () => { %s; })"
TELL = "() => new BroadcastChannel('told').postMessage(1)"
"""What a page does while its save is on its way, and what tells it to do so."""
SILENT = "BroadcastChannel.prototype.postMessage = () => {}"
"""A tab that says too late that it is there."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW=f"{DAY}T10:00:00") as found:
        yield found


@pytest.fixture
def context(browser: Browser, server: Served) -> BrowserContext:
    return logged_in(browser, server)


def begun(context: BrowserContext, text: str, where: str = "/") -> Page:
    """A page on which this text was typed, and is kept as a draft."""
    page = context.new_page()
    page.goto(where)
    box_of(page).fill(text)
    expect(page.locator("#kept")).to_have_text("Draft kept in this browser")
    return page


def box_of(page: Page) -> Locator:
    return page.locator(".box textarea")


def press_save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click(no_wait_after=True)


def save(page: Page) -> None:
    press_save(page)
    expect(page.get_by_role("status")).to_contain_text("Saved")


def shows_no_draft(page: Page, where: str = "/") -> None:
    """The form at this address is empty once the page has thrown away each draft."""
    page.goto(where)
    has_no_draft(page)


def has_no_draft(page: Page) -> None:
    wait_until(lambda: kept_drafts(page) == [])
    expect(box_of(page)).to_have_value("")


def saved_texts(home: Path) -> str:
    return "".join(file.read_text() for file in (home / "journal").glob("*.md"))


def test_a_write_that_comes_after_the_answer_is_no_draft(context: BrowserContext) -> None:
    page = begun(context, "The heron.")
    late = page.evaluate(STORE)
    save(page)
    wait_until(lambda: kept_drafts(page) == [])
    page.evaluate(STORE, late)
    shows_no_draft(page)


def test_a_draft_of_an_earlier_letter_ends_with_the_save(context: BrowserContext) -> None:
    page = begun(context, "The her")
    page.evaluate(NO_WRITES)
    box_of(page).fill("The heron.")
    save(page)
    shows_no_draft(page)


def held_save(page: Page) -> Route:
    """The request that saves, which has not reached the server yet."""
    held: list[Route] = []
    page.route("**/new", lambda route: held.append(route))
    with page.expect_request(lambda asked: asked.method == "POST" and "/new" in asked.url):
        press_save(page)
    wait_until(lambda: held or page.wait_for_timeout(10))
    return held[0]


def test_another_tab_that_takes_the_answer_leaves_no_draft(context: BrowserContext) -> None:
    """It shows “Saved” in place of the page that saved."""
    page, other = begun(context, "The heron."), context.new_page()
    route = held_save(page)
    answer = route.fetch(max_redirects=0)
    other.goto("/tasks")
    expect(other.get_by_role("status")).to_contain_text("Saved")
    route.fulfill(response=answer)
    expect(box_of(page)).to_have_value("")
    shows_no_draft(page)


def test_a_page_that_is_left_before_the_answer_leaves_no_draft(
    context: BrowserContext, server: Served, home: Path
) -> None:
    """The next page waits for the save, of which half is on its way."""
    page, other = begun(context, "The heron."), context.new_page()
    other.goto("/tasks")
    page.evaluate(WHEN_TOLD % "location.href = '/?again'")
    form = held_save(page).request
    half_sent, is_left = Event(), Event()

    def halves(text: bytes) -> Iterator[bytes]:
        yield text[:100]
        half_sent.set()
        is_left.wait(TIMEOUT_S)
        yield text[100:]

    text = form.post_data_buffer or b""
    headers = {"Content-Type": form.headers["content-type"], "Content-Length": str(len(text))}
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(server.client.post, "/new", content=halves(text), headers=headers)
        assert half_sent.wait(TIMEOUT_S)
        with page.expect_request(lambda asked: asked.url.endswith("/?again")):
            other.evaluate(TELL)
        page.wait_for_timeout(500)  # in which a page that does not wait is shown
        is_left.set()
        assert answer.result().status_code == 303
    page.wait_for_url("**/?again")
    has_no_draft(page)
    assert saved_texts(home).count("The heron.") == 1


def test_a_browser_that_never_gets_the_answer_leaves_no_draft(context: BrowserContext) -> None:
    page = begun(context, "The heron.")
    route = held_save(page)
    assert route.fetch(max_redirects=0).status == 303
    context.clear_cookies(name=re.compile("saved"))
    shows_no_draft(page)


def test_nothing_is_typed_into_a_text_that_is_being_saved(context: BrowserContext) -> None:
    page = begun(context, "The heron.")
    page.evaluate(WHEN_TOLD % "document.querySelector('.box textarea').focus()")
    route = held_save(page)
    other = context.new_page()
    other.goto("/offline")
    other.evaluate(TELL)
    page.keyboard.type("Lost?")
    route.continue_()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    shows_no_draft(page)


def test_a_save_that_is_stopped_can_be_made_again(context: BrowserContext, home: Path) -> None:
    page, other = begun(context, "The heron."), context.new_page()
    other.goto("/tasks")
    page.evaluate(WHEN_TOLD % "window.stop()")
    held_save(page)
    other.evaluate(TELL)
    page.unroute("**/new")
    box_of(page).press("End")
    page.keyboard.type(" It")
    save(page)
    assert saved_texts(home).count("The heron. It") == 1
    shows_no_draft(page)


def test_the_way_back_shows_no_text_that_was_saved(context: BrowserContext) -> None:
    for where in ("/", "/new"):
        page = begun(context, f"The heron of {where}.", where)
        save(page)
        page.goto("/tasks")
        for _ in range(2):
            page.go_back()
        expect(box_of(page)).to_have_value("")
        page.close()


def test_a_refused_text_stays_a_draft_until_it_is_saved(
    context: BrowserContext, home: Path
) -> None:
    page = context.new_page()
    page.goto("/new")
    for letter in ("x", ""):
        box_of(page).fill("See ![](draft:gone.png)")
        save_refused(page)
        box_of(page).press("End")
        if letter:
            page.keyboard.type(letter)
            page.keyboard.press("Backspace")
        page.close()
        page = context.new_page()
        page.goto("/new")
        expect(box_of(page)).to_have_value("See ![](draft:gone.png)")
    save_refused(page)
    expect(page.locator("#preview").get_by_role("alert")).to_be_visible()
    page.evaluate(NO_WRITES)
    box_of(page).fill("See.")
    save(page)
    shows_no_draft(page, "/new")


def save_refused(page: Page) -> None:
    press_save(page)
    page.wait_for_selector("form[data-refused]")


def test_two_tabs_that_show_one_text_save_it_once(context: BrowserContext, home: Path) -> None:
    context.add_init_script(SILENT)
    first = begun(context, "The heron.")
    second = context.new_page()
    second.goto("/")
    expect(box_of(second)).to_have_value("The heron.")
    save(second)
    first.reload()
    shows_no_draft(first)


def test_what_a_tab_adds_to_a_text_that_another_saved_is_not_lost(
    context: BrowserContext, home: Path
) -> None:
    context.add_init_script(SILENT)
    first = begun(context, "The heron.")
    second = context.new_page()
    second.goto("/")
    expect(box_of(second)).to_have_value("The heron.")
    box_of(first).press("ControlOrMeta+End")
    box_of(first).press_sequentially(" Gone.")
    wait_until(lambda: len(kept_drafts(first)) == 2)
    save(second)
    first.reload()
    expect(box_of(first)).to_have_value("The heron. Gone.")


def test_what_is_typed_before_the_scripts_run_is_kept_beside_the_draft(
    context: BrowserContext,
) -> None:
    page = begun(context, "The heron.")
    held: list[Route] = []
    page.route("**/static/drafts.js", lambda route: held.append(route))
    page.goto("/", wait_until="commit")
    box_of(page).fill("The boat.")
    held[0].continue_()
    page.unroute("**/static/drafts.js")
    expect(page.locator("#kept")).to_have_text("Draft kept in this browser")
    assert len(kept_drafts(page)) == 2
    save(page)
    page.goto("/")
    expect(box_of(page)).to_have_value("The heron.")
