"""The pages of time and of search, on the real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from homes import open_home
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served

from synaptic.features.page import searching
from synaptic.verbs.saving import save

NOW = "2026-11-21T10:00"
HTMX = {"HX-Request": "true"}


def at(day: str) -> datetime:
    return datetime.fromisoformat(f"{day}T09:30").astimezone()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two entries of the 19th, one of a year before, an imported one, and a day written by hand
    that holds 120.
    """
    home = tmp_path_factory.mktemp("timeline") / "home"
    with open_home(home) as ws:
        save(ws, "Talked to Ines.", at=at("2025-11-19"), project="atlas")
        old = save(
            ws,
            "Chose Redis for the cache.",
            type="decision",
            tags=["db"],
            project="ledger",
            at=at("2026-11-19"),
        )
        text = (
            "Chose **SQLite**: one file.\n\nIt is <b>easy</b> to copy.\n\n"
            + "A long line of reasons. " * 300
            + "END"
        )
        save(
            ws,
            text,
            type="decision",
            tags=["db"],
            at=at("2026-11-19"),
            supersedes=[old.id],
            via="mcp",
        )
        save(ws, "Bought apples and bread.", at=at("2026-03-02"), via="import:jrnl")
        many = "\n\n".join(f"## {9 + n // 60:02d}:{n % 60:02d} Step {n}" for n in range(120))
        (ws.config.journal / "2024-02-29.md").write_text(
            f"# 2024-02-29\n\n{many}\n", encoding="utf-8"
        )
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW=NOW) as found:
        yield found


def titles(page: str) -> list[str]:
    """What a page lists: the headings of entries, and the text of those that are a line."""
    found = []
    for heading, line in re.findall(
        r'<h2><a href="/entry/[^>]+>(.*?)</a></h2>|<article[^>]* aria-label="([^"]*)', page
    ):
        found.append(re.sub("<[^>]+>", "", heading or line))
    return found


def test_an_empty_day_invites_and_shows_no_other(server: Served) -> None:
    page = server.shown("/")
    assert "<h1>Today</h1>" in page
    assert "Saturday, 21 November 2026" in page
    assert "Nothing is written today yet" in page and 'class="composer"' in page
    assert not titles(page) and "one file." not in page
    assert 'href="/day/2026-11-19" rel="prev"' in page
    day = server.shown("/day/2026-11-19")
    assert titles(day) == ["Chose Redis for the cache.", "Chose SQLite: one file."]
    assert day.count("one file.") == 1  # the first line is the heading, and not said twice
    assert "END" not in day
    assert "Read all of it" in day
    assert re.search(r'id="then".*Talked to Ines', day, re.DOTALL)
    assert 'href="/day/2026-03-02" rel="prev"' in day and 'class="composer"' not in day


def test_a_long_day_is_shown_in_parts(server: Served) -> None:
    page = server.shown("/day?date=2024-02-29")
    more = re.search(r'rel="next" href="(/day/2024-02-29\?cursor=[^"]+)"', page)
    assert more
    rest = server.shown(more[1])
    assert [*titles(page), *titles(rest)] == [f"Step {n}" for n in range(120)]
    assert "cursor=" not in rest
    assert "Nothing on this day" in server.shown("/day/2024-03-01")
    assert "is not a date" in server.shown("/day/someday", 400)


def test_the_calendar_leads_to_each_day_and_is_a_table_too(server: Served) -> None:
    page = server.shown("/calendar")
    assert 'href="/day/2026-11-19" aria-label="2 entries on 19 November 2026"' in page
    assert "No entries on 20 November 2026" in page
    assert re.search(r"Monday, 2 March 2026</a></th><td[^>]*>1</td>", page)
    assert "120 entries on 1 day." in server.shown("/calendar?year=2024")
    assert server.shown("/calendar?year=9999")
    assert "1 to 9999" in server.shown("/calendar?year=" + 5000 * "9", 400)


def test_facets_narrow_a_search_and_give_way(server: Served) -> None:
    page = server.shown("/search?q=apples")
    assert titles(page)[0] == "Bought apples and bread."
    assert "<mark>apples</mark>" in page
    assert "source=" not in page  # the one hit has one source
    both = server.shown("/search?q=apples+SQLite&more=1")
    narrow = re.search(
        r'<a href="([^"]+source=import%3Ajrnl)">import:jrnl</a> <span class="count">1<', both
    )
    assert narrow
    narrowed = server.shown(narrow[1])
    assert titles(narrowed) == ["Bought apples and bread."]
    assert '<a href="/search?q=apples+SQLite" aria-current="true">import:jrnl' in narrowed
    assert '<input type="hidden" name="source" value="import:jrnl">' in narrowed
    assert titles(server.shown("/search?source=mcp&since=last+week")) == [
        "Chose SQLite: one file."
    ]
    assert titles(server.shown("/search?project=Atlas")) == ["Talked to Ines."]


def test_older_entries_follow_without_a_query(server: Served) -> None:
    page = server.shown("/search")
    pages = [page]
    while older := re.search(r'rel="next" href="(/search\?cursor=[^"]+)"', pages[-1]):
        pages.append(server.shown(older[1]))
    found = [title for page in pages for title in titles(page)]
    assert len(found) == len(set(found)) == 123  # without the entry that a later one supersedes
    assert found[:2] == ["Chose SQLite: one file.", "Bought apples and bread."]


def test_htmx_gets_the_results_alone(server: Served) -> None:
    whole, part = server.shown("/search?q=sqli"), server.shown("/search?q=sqli", **HTMX)
    assert "<mark>SQLite</mark>" in whole  # a word that is not finished is a beginning
    assert titles(part) == titles(whole)
    assert "<html" not in part
    assert (
        server.client.get("/search?q=a+b&tag=", headers=HTMX).headers["HX-Replace-Url"]
        == "/search?q=a+b"
    )
    assert "place 1 by its words" in server.shown("/search?q=sqlite&explain=1")


def test_a_filter_that_is_none_keeps_the_form(server: Served) -> None:
    page = server.shown("/search?q=apples&type=thought", 400)
    assert "decision, progress" in page
    assert 'value="apples"' in page
    assert "decision, progress" in server.shown("/search?q=apples&type=thought", **HTMX)


def test_what_is_typed_counts_as_no_read(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        save(ws, "Bought apples and bread.")
        for word in ("ap", "apples", "apples"):
            found = searching.search_page_values(ws, word, {}, {"explain": "1"}, loading=False)
            ws.index.flush()
        reasons = found["hits"][0][3]
        assert "by its words" in reasons and "read 1 time" not in reasons
        assert not [call for call in ws.index.counters.calls() if call.verb == "search"]


def test_an_empty_journal_says_how_to_begin(tmp_path: Path) -> None:
    with served(tmp_path / "home") as server:
        for path in ("/", "/search", "/day/2020-01-01"):
            page = server.shown(path)
            assert "Welcome to your journal" in page or "Your journal is empty" in page
            assert "synaptic setup" in page
        assert "Nothing was written" in server.shown("/calendar")


def test_a_search_by_keyboard_alone(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/")
    page.evaluate("window.stays = true")
    page.keyboard.press("/")
    page.wait_for_url("/search")
    page.evaluate("window.stays = true")
    page.keyboard.type("apples")
    expect(page.locator("#results mark").first).to_have_text("apples")
    expect(page.locator("#told")).to_contain_text("found")
    page.wait_for_url("/search?q=apples")
    page.keyboard.press("Enter")
    assert page.evaluate("window.stays")  # nothing was loaded anew
    hit = page.get_by_role("link", name="Bought apples and bread.")
    while not hit.evaluate("one => one === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Bought apples")


def test_the_sections_of_a_daily_note_are_one_entry_of_its_day(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_home(home) as ws:
        save(ws, "Rowed.", at=at("2026-11-20"))
        save(ws, "Swam.", at=at("2026-11-20"))
        for day in ("2026-11-19", "2026-11-20"):
            place = ws.config.journal / f"{day}.md"
            with place.open("a") as file:
                file.write("\n## Log\n\nTide at noon.\n\n## Learnings\n\nAsh floats.\n")
    with served(home) as server:
        page = server.shown("/calendar?month=2026-11")
        assert 'aria-label="1 entry on 19 November 2026"' in page
        assert 'aria-label="3 entries on 20 November 2026"' in page
        assert ": 4</title>" in server.shown("/statistics")
        printed = server.shown("/print?since=2026-11-19&until=2026-11-20")
        assert "<span>4 entries</span>" in printed and "2026-11-19 > Log" in printed
        assert "Learnings</a>" in server.shown("/search?q=ash")


def test_a_day_says_nothing_twice(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        journal = ws.config.journal
        (journal / "Roses.md").write_text("---\ndate: 2026-11-10\n---\nThey were pruned.\n")
        (journal / "2026-11-11.md").write_text("# 2026-11-11\n\nIt rained on the roses.\n")
        (journal / "2026-11-12.md").write_text("## 09:00 Cut **three** roses #garden\n")
    with served(tmp_path / "home", SYNAPTIC_NOW=NOW) as server:
        assert "They were pruned." in server.shown("/day/2026-11-10")
        day = server.shown("/day/2026-11-11").partition("<article")[2]
        assert "It rained on the roses." in day and "<h2>" not in day
        line = server.shown("/day/2026-11-12").partition("<article")[2]
        assert "Cut <strong>three</strong> roses" in line and "<h2>" not in line
        assert ">note<" not in line and 'href="/tag/garden"' in line
