"""A diary on the page: any day is written about, and what stands there is shown as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served

NOW = "2026-11-21T10:00"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its journal is there before any test saves, whichever comes first."""
    home = tmp_path_factory.mktemp("diary") / "home"
    (home / "journal").mkdir(parents=True)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW=NOW) as server:
        yield server


def file_of(home: Path, day: str) -> str:
    return (home / "journal" / f"{day}.md").read_text()


def test_an_empty_day_has_a_box_and_any_day_can_be_written_about(
    browser: Browser, server: Served, home: Path
) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/day/2026-11-14")
    page.get_by_label("Text", exact=True).fill("We found the old map.")
    page.get_by_text("When: 14 November 2026").click()
    page.get_by_label("Time", exact=True).fill("17:30")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    assert page.url.endswith("/day/2026-11-14")
    expect(page.get_by_role("article")).to_contain_text("We found the old map.")
    assert "## 17:30 We found the old map." in file_of(home, "2026-11-14")

    page.get_by_role("link", name="Write about this day").click()
    expect(page.get_by_label("Date", exact=True)).to_have_value("2026-11-14")
    expect(page.get_by_role("textbox", name="Text")).to_be_focused()
    page.keyboard.type("It was in the attic.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved.")
    assert "It was in the attic." in file_of(home, "2026-11-14")

    page.goto("/day/2026-11-25")  # it is still to come
    expect(page.get_by_role("heading", level=1)).to_contain_text("25 November")
    assert page.locator("form.composer").count() == 0


def test_today_takes_a_date_and_a_text_that_begins_with_one(
    browser: Browser, server: Served, home: Path
) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/")
    page.get_by_label("Text", exact=True).fill("The choir sang.")
    expect(page.get_by_label("Date", exact=True)).to_be_hidden()
    page.get_by_text("When: now").click()
    page.get_by_label("Date", exact=True).fill("2026-11-18")
    page.reload()  # a draft keeps its date, and shows it
    expect(page.get_by_label("Date", exact=True)).to_have_value("2026-11-18")
    expect(page.get_by_label("Date", exact=True)).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("article")).to_contain_text("The choir sang.")
    assert page.url.endswith("/day/2026-11-18")
    assert "## 10:00 The choir sang." in file_of(home, "2026-11-18")

    page.goto("/")
    page.get_by_label("Text", exact=True).fill("yesterday 5pm: called Ida")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Dated 2026-11-20 17:00")
    assert "## 17:00 called Ida" in file_of(home, "2026-11-20")

    refused = server.post("/new", content="Nothing.", date="yonder", back="/")
    assert refused.status_code == 400 and 'value="yonder"' in refused.text


def test_today_shows_five_overdue_things_and_tasks_are_grouped(
    browser: Browser, tmp_path: Path
) -> None:
    journal = tmp_path / "home" / "journal"
    journal.mkdir(parents=True)
    rows = [f"- [ ] Errand {number} 📅 2026-11-{number:02} #shop" for number in range(1, 9)]
    (journal / "Errands.md").write_text("# Errands\n\n" + "\n".join(rows))
    (journal / "2026-11-19.md").write_text("## 09:00 Garden #garden\n\n- [ ] Prune the roses\n")
    with served(tmp_path / "home", SYNAPTIC_NOW=NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/")
        due = page.locator(".due li")
        expect(due).to_have_count(5)
        expect(due.last).to_contain_text("Errand 8")
        expect(page.locator(".due")).to_contain_text("And 3 more overdue.")
        page.get_by_role("link", name="All tasks").click()
        expect(page.locator(".tasks li")).to_have_count(9)
        page.get_by_role("link", name="note", exact=True).click()
        source = page.get_by_role("link", name="19 November 2026").last
        expect(page.locator("h2").first).to_contain_text("19 November 2026")
        expect(source).to_be_visible()
        page.get_by_role("link", name="tag", exact=True).click()
        page.locator("h2").get_by_role("link", name="garden").click()
        expect(page.locator(".tasks li")).to_have_count(1)
        expect(page.get_by_role("main")).to_contain_text("Prune the roses")
        page.get_by_role("link", name="Show all").click()
        expect(page.locator(".tasks li")).to_have_count(9)


def test_the_form_is_a_text_and_a_file_opens_whole(
    browser: Browser, server: Served, home: Path
) -> None:
    (home / "journal" / "Ferry.md").write_text("# Ferry\n\nIt runs at nine.\n")
    page = logged_in(browser, server).new_page()
    for address in ("/new", "/"):
        page.goto(address)
        for name in ("Date", "Type", "Importance", "Valid until"):
            expect(page.get_by_label(name, exact=True)).to_be_hidden()
        page.locator("summary", has_text="More about it").click()
        expect(page.get_by_label("Type", exact=True)).to_be_visible()
        for name in ("Importance", "Valid until"):
            expect(page.get_by_label(name, exact=True)).to_be_hidden()
        expect(page.get_by_role("main")).not_to_contain_text("handoff")
        page.get_by_text("More", exact=True).last.click()
        for name in ("Type", "Importance", "Valid until"):
            field = page.get_by_label(name, exact=True)
            expect(field).to_be_visible()
            expect(field).to_have_accessible_description(re.compile(r"\w+ \w+"))
    page.goto("/tasks")
    found = re.search(r'"/entry/([\w-]+)"', server.client.get("/search?q=ferry+nine").text)
    assert found
    page.goto(f"/entry/{found[1]}/edit")
    assert "/edit?path=Ferry.md" in page.url
    expect(page.locator(".box textarea")).to_have_value(re.compile("It runs at nine."))
    page.goto(f"/entry/{found[1]}")
    page.locator(".actions .menu summary").click()
    page.get_by_role("link", name="Add to it").click()
    expect(page.get_by_label("Add to its end")).to_be_visible()


def test_prose_has_no_headline_and_a_lone_task_stands_once(
    browser: Browser, tmp_path: Path
) -> None:
    journal = tmp_path / "home" / "journal"
    journal.mkdir(parents=True)
    prose = "It rained all day. We stayed in and read.\n\nThen it cleared up."
    (journal / "2026-11-18.md").write_text(f"## 09:00\n\n{prose}\n")
    (journal / "2026-11-19.md").write_text("## 10:00\n\n- [ ] Call Ida\n")
    with served(tmp_path / "home", SYNAPTIC_NOW=NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/day/2026-11-18")
        article = page.get_by_role("article")
        expect(article.locator(".note p", has_text="It rained")).to_have_text(
            "It rained all day. We stayed in and read."
        )
        assert article.locator("h2").count() == 0
        article.get_by_role("link", name="Open").click()  # nor on its own page
        expect(page.get_by_role("heading", level=1)).to_have_text("Wednesday, 18 November 2026")
        expect(page.locator(".note p").first).to_have_text(
            "It rained all day. We stayed in and read."
        )
        plain = logged_in(browser, server, java_script_enabled=False).new_page()
        for one in (page, plain):
            one.goto("/day/2026-11-19")
            article = one.get_by_role("article")
            expect(article.locator(".tick")).to_contain_text("Call Ida")
            assert article.locator(".tick").count() == 1
            assert article.locator(".note").count() == 0


def test_large_type_is_kept_by_the_browser_and_nothing_scrolls_sideways(
    browser: Browser, server: Served
) -> None:
    context = logged_in(browser, server, viewport={"width": 640, "height": 400})
    page = context.new_page()
    page.goto("/")
    normal = page.evaluate("getComputedStyle(document.documentElement).fontSize")
    page.locator(".top .menu summary").click()
    page.get_by_label("Large type").check()
    for address in ("/", "/new", "/tasks", "/calendar", "/search?q=choir", "/day/2026-11-18"):
        page.goto(address)
        for width in (640, 320):  # 1,280 and 640 pixels at 200 %
            page.set_viewport_size({"width": width, "height": 400})
            size = "getComputedStyle(document.documentElement).fontSize"
            page.wait_for_function(f"() => {size} !== '{normal}'")
            overflow = "document.documentElement.scrollWidth - innerWidth"
            assert page.evaluate(overflow) <= 0, (address, width)
            page.locator(".top .menu summary").first.click()
            panel = page.locator(".panel").first.bounding_box()
            assert panel and panel["x"] >= 0 and panel["x"] + panel["width"] <= width
            page.locator(".top .menu summary").first.click()
    page.set_viewport_size({"width": 900, "height": 900})
    page.locator(".top .menu summary").first.click()
    page.get_by_label("Large type").uncheck()
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == normal


def test_an_edit_moves_an_entry_to_another_day_and_one_undo_takes_it_back(
    browser: Browser, server: Served, home: Path
) -> None:
    before = "## 09:10 The swans came #birds\n\nSeven of them.\n"
    (home / "journal" / "2026-11-12.md").write_text(before)
    page = logged_in(browser, server).new_page()
    page.goto("/day/2026-11-12")
    page.get_by_role("link", name="The swans came").first.click()
    address = page.url
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page.get_by_label("Title")).to_have_value("The swans came")
    page.get_by_text("When: 12 November 2026, 09:10").click()
    page.get_by_label("Date", exact=True).fill("2026-11-13")
    page.get_by_label("Time", exact=True).fill("18:45")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("It stands in 2026-11-13.md now.")
    assert page.url == address
    assert "## 18:45 The swans came #birds" in file_of(home, "2026-11-13")
    assert not (home / "journal" / "2026-11-12.md").exists()  # its last entry went
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Restored in 2026-11-12.md")
    assert file_of(home, "2026-11-12") == before
    assert not (home / "journal" / "2026-11-13.md").exists()
