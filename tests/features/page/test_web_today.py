"""Today: what is typed is kept, what others write appears, and nobody is disturbed by it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from homes import open_home
from outside import wait_until
from playwright.sync_api import Browser, Page, expect
from served import Served, a_port, kept_drafts, logged_in, served
from trials import drawn

from synaptic.features.page.site import code_to_html
from synaptic.verbs.saving import save

NOW = "2026-11-21T10:00"
IN_REACH = """(one) => {
  const {x, y, width, height} = one.getBoundingClientRect();
  return document.elementFromPoint(x + width / 2, y + height - 1) === one;
}"""
DRAFT = "The ferry was late again."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("today") / "home"
    with open_home(home) as ws:
        save(ws, "Renew the permit.", due="2026-11-19", at="2026-10-02T09:00")
        save(ws, "Water the beds.", due="2026-11-21", at="2026-10-03T09:00")
        save(ws, "Paint the mole.", due="2026-11-30", at="2026-10-04T09:00")
    return home


def test_commands_in_messages_are_code() -> None:
    said = code_to_html("Ask `synaptic doctor` <now>, or wait.")
    assert said == "Ask <code>synaptic doctor</code> &lt;now&gt;, or wait."


def test_a_draft_outlives_its_tab_and_ends_with_the_save_or_the_session(
    browser: Browser, home: Path
) -> None:
    with served(home, SYNAPTIC_NOW=NOW) as server:
        context = logged_in(browser, server)
        page = context.new_page()
        page.goto("/")
        page.get_by_label("Title").fill("Ferry")
        page.get_by_label("Text", exact=True).fill(DRAFT)
        expect(page.locator("#kept")).to_have_text("Draft kept in this browser")
        page.close()
        page = context.new_page()
        page.goto("/")
        expect(page.get_by_label("Title")).to_have_value("Ferry")
        expect(page.locator("#preview")).to_have_text(DRAFT)
        page.get_by_label("Text", exact=True).press("ControlOrMeta+Enter")
        expect(page.get_by_role("status")).to_contain_text("Saved.")
        expect(page.get_by_role("article").filter(has_text=DRAFT)).to_have_count(1)
        expect(page.get_by_label("Text", exact=True)).to_have_value("")

        page.set_viewport_size({"width": 390, "height": 780})
        page.get_by_label("Text", exact=True).fill("Nobody else should read this.\n\n" * 40)
        assert page.get_by_role("button", name="Save").evaluate(IN_REACH)
        page.locator(".top .menu summary").click()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")
        assert kept_drafts(page) == []


def test_each_day_has_a_draft_of_its_own(browser: Browser, home: Path) -> None:
    with served(home, SYNAPTIC_NOW=NOW) as server:
        page = logged_in(browser, server).new_page()
        for path, text in (("/", "Of today."), ("/day/2020-02-03", "Of that day.")):
            page.goto(path)
            expect(page.get_by_label("Text", exact=True)).to_have_value("")
            page.get_by_label("Text", exact=True).fill(text)
            expect(page.locator("#kept")).to_have_text("Draft kept in this browser")
        page.reload()
        expect(page.get_by_label("Text", exact=True)).to_have_value("Of that day.")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("article")).to_contain_text("Of that day.")
        wait_until(lambda: [one.partition("#")[0] for one in kept_drafts(page)] == ["draft"])
        page.goto("/")
        expect(page.get_by_label("Text", exact=True)).to_have_value("Of today.")


@pytest.fixture
def elsewhere(home: Path) -> Iterator[Served]:
    """A server with tokens that the browser reaches by plain HTTP under a name, so in no secure
    context.
    """
    tokens = home / "tokens.toml"
    tokens.write_text(
        "".join(f'[{name}]\ntoken = "{name * 10}"\npage = true\n' for name in ("ines", "jose"))
    )
    tokens.chmod(0o600)
    flags = ("--token-file", str(tokens), "--allow-host", "memory.example")
    with served(home, *flags, "--port", str(a_port()), SYNAPTIC_NOW=NOW) as server:
        server.url = server.url.replace("127.0.0.1", "memory.example")
        yield server


def enter(page: Page, name: str) -> None:
    page.goto("/login")
    page.get_by_label("token").fill(name * 10)
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/")


def test_a_draft_of_a_token_is_its_own_and_ends_with_logging_out(
    elsewhere: Served, browser: Browser
) -> None:
    context = browser.new_context(base_url=elsewhere.url)
    page = context.new_page()
    enter(page, "ines")
    assert not page.evaluate("isSecureContext")
    page.get_by_label("Text", exact=True).fill(DRAFT)
    page.close()
    context.clear_cookies()  # her session ended
    page = context.new_page()
    enter(page, "jose")
    expect(page.get_by_label("Text", exact=True)).to_have_value("")
    context.clear_cookies()
    enter(page, "ines")
    expect(page.get_by_label("Text", exact=True)).to_have_value(DRAFT)
    page.locator(".top .menu summary").click()
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url("**/login")
    assert kept_drafts(page) == []


@pytest.mark.sweep
def test_every_page_works_without_a_secure_context(elsewhere: Served, browser: Browser) -> None:
    page = browser.new_context(base_url=elsewhere.url).new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    enter(page, "ines")
    [id] = re.findall(r"/entry/([\w-]+)", elsewhere.shown("/tasks"))[:1]
    paths = (
        *("/", "/search?q=permit", "/calendar", "/tasks", "/new", "/review", "/health"),
        *("/statistics", "/sums", "/deleted", "/devices", f"/entry/{id}", f"/entry/{id}/edit"),
        *(f"/edit?path=2026-10-02.md&id={id}", f"/print?id={id}"),
    )
    for path in drawn("pages of plain http", paths, 5):
        answer = page.goto(path)
        assert answer and answer.status == 200, path
    page.goto("/")
    page.keyboard.press("ControlOrMeta+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    assert not faults


def test_the_page_follows_and_leaves_alone_what_is_being_typed(
    browser: Browser, home: Path
) -> None:
    with served(home, SYNAPTIC_NOW=NOW) as server:
        page = logged_in(browser, server).new_page()
        trouble: list[str] = []
        page.on("console", lambda message: trouble.append(message.text))
        page.goto("/")
        expect(page.locator(".due li")).to_have_text(
            [
                re.compile(
                    r"Renew the permit\..+due 19 November\s*Move\s*Today\s+Tomorrow\s+Next week",
                    re.DOTALL,
                ),
                re.compile(r"Water the beds\..+today", re.DOTALL),
            ]
        )
        page.get_by_label("Text", exact=True).fill(DRAFT)
        with open_home(home) as ws:
            save(ws, "An agent wrote this.", at=f"{NOW}:00", via="mcp")
        expect(page.locator("#follow")).to_contain_text("An agent wrote this.")
        day = home / "journal" / "2026-11-21.md"
        with day.open("a") as file:
            file.write("\n## 11:00 An editor wrote this\n")
        expect(page.locator("#follow")).to_contain_text("An editor wrote this")
        expect(page.get_by_label("Text", exact=True)).to_have_value(DRAFT)
        expect(page.get_by_label("Text", exact=True)).to_be_focused()
        assert not trouble
        events = httpx.Client(base_url=server.url, cookies=server.client.cookies, timeout=60)
        with events.stream("GET", "/events", params={"since": "0"}) as answer:
            lines = answer.iter_lines()
            while "data: changed" not in next(lines):
                pass
            server.process.terminate()
            assert [line for line in lines if line] == []  # an end, and no broken answer
