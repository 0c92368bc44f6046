"""The page in the language of its browser: English, German, and Japanese in another script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from served import Served, logged_in, served
from tidewatch import DECISION, NOW, PAGES, make_home
from trials import drawn

PHONE: ViewportSize = {"width": 390, "height": 844}
LANGUAGES = ("en-GB", "de-DE", "ja-JP")
SEEN = PAGES | {
    "tasks": "/tasks",
    "sums": "/sums?field=hours",
    "book": "/book?since=2026-11-05&until=2026-11-05",
    "devices": "/devices",
    "phone": "/phone",
    "deleted": "/deleted",
    "import": "/import",
    "rename": f"/entry/{DECISION}/rename",
    "replaced": f"/entry/{DECISION}/replaced",
    "text": "/edit?path=2026/2026-11-05.md",
    "offline": "/offline",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = make_home(tmp_path_factory.mktemp("languages") / ".synaptic")
    templates = home / "journal" / "Templates"
    templates.mkdir()
    (templates / "Day.md").write_text("{{date:dddd, D. MMMM}}\n")
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as found:
        yield found


def opened(browser: Browser, server: Served, locale: str, path: str = "/") -> Page:
    page = logged_in(browser, server, locale=locale, viewport=PHONE).new_page()
    page.goto(path)
    return page


SPOKEN = [
    ("en-US", "en", "Today", "Friday, November 20, 2026", "Go to …"),
    ("en-GB", "en", "Today", "Friday, 20 November 2026", "Go to …"),
    ("de-AT", "de", "Heute", "Freitag, 20. November 2026", "Gehe zu …"),
    ("ja-JP", "ja", "今日", "2026年11月20日金曜日", "移動先…"),
    ("fr-FR", "en", "Today", "Friday, 20 November 2026", "Go to …"),
]
"""(locale, language, heading, date, a text of a script)"""


@pytest.mark.parametrize(("locale", "language", "heading", "date", "script_text"), SPOKEN)
def test_a_page_is_answered_in_the_language_that_is_asked_for(
    server: Served, locale: str, language: str, heading: str, date: str, script_text: str
) -> None:
    shown = server.shown("/", **{"Accept-Language": locale})
    is_translated = language != "en"  # English is what the script itself says
    of_scripts = json.dumps(script_text) if is_translated else ""
    for part in (f'<html lang="{language}"', f">{heading}</h1>", date, of_scripts):
        assert part in shown, part


@pytest.mark.sweep
@pytest.mark.parametrize(("locale", "language", "heading", "date", "script_text"), SPOKEN)
def test_a_page_speaks_the_language_of_its_browser(
    browser: Browser,
    server: Served,
    locale: str,
    language: str,
    heading: str,
    date: str,
    script_text: str,
) -> None:
    page = opened(browser, server, locale)
    assert page.locator("html").get_attribute("lang") == language
    expect(page.get_by_role("heading", level=1)).to_have_text(heading)
    expect(page.locator(".date").first).to_have_text(date)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name=re.compile("."))).to_have_attribute(
        "placeholder", script_text
    )


@pytest.mark.sweep("weekdays", by=lambda names: str(names.endswith(("Sun", "So"))))
@pytest.mark.parametrize(
    ("locale", "weekdays"),
    [
        ("en-US", "SunMonTueWedThuFriSat"),
        ("en-GB", "MonTueWedThuFriSatSun"),
        ("de-DE", "MoDiMiDoFrSaSo"),
        ("ja-JP", "日月火水木金土"),
    ],
)
def test_a_week_begins_where_the_region_begins_it(
    browser: Browser, server: Served, locale: str, weekdays: str
) -> None:
    page = opened(browser, server, locale, "/calendar?month=2026-11")
    expect(page.locator(".month thead")).to_have_text(weekdays)
    of_the_first = page.locator(".month tbody tr").first.locator("td")
    column = [cell.inner_text().split("\n")[0] for cell in of_the_first.all()].index("1")
    assert column == (6 if weekdays.endswith(("Sun", "So")) else 0)  # a Sunday
    first = page.locator("#m-11 + svg :is(rect, a rect)").first
    assert first.get_attribute("x") == str(24 * column)


def test_statistics_count_weeks_as_the_region_does(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    for day in ("2026-11-14", "2026-11-15", "2026-11-16"):
        (home / "journal" / f"{day}.md").write_text(f"# {day}\n\n## 09:00 Oak\n\nOak.\n")
    sunday = {"2026-11-15": 2, "2026-11-08": 1}  # begins the week
    monday = {"2026-11-16": 1, "2026-11-09": 2}
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as server:
        for locale, counted, *weeks in (
            ("en-US", sunday, "November 15, 2026", "November 8, 2026"),
            ("de-DE", monday, "16. November 2026", "9. November 2026"),
            ("ja-JP", sunday, "2026年11月15日", "2026年11月8日"),
        ):
            shown = server.shown("/statistics", **{"Accept-Language": locale})
            found = r'href="/day/([\d-]+)">([^<]+)</a></th><td class="number">(\d+)'
            rows = re.findall(found, shown)
            assert {day: int(number) for day, _, number in rows} == counted, locale
            assert [name for _, name, _ in rows] == weeks


def test_sums_by_week_say_on_which_day_each_begins(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    day = "# 2026-11-15\n\n## 09:00 Oak\n\nOak.\n\nhours:: 1234.5\n"
    (home / "journal" / "2026-11-15.md").write_text(day)
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as server:
        for locale, week, number in (
            ("en-US", "Week 46 of 2026, from Monday, November 9, 2026", "1,234.5"),
            ("de-DE", "KW 46/2026, ab Montag, 9. November 2026", "1.234,5"),
            ("ja-JP", "2026年第46週（2026年11月9日月曜日から）", "1,234.5"),
        ):
            shown = server.shown("/sums?by=week", **{"Accept-Language": locale})
            assert f'<th scope="row">{week}</th><td class="number">{number}</td>' in shown
        table = server.shown("/sums?by=week&csv=1", **{"Accept-Language": "de-DE"})
    assert table.endswith("2026-W46,1234.5,,1\r\n")


def test_a_message_and_a_count_are_in_the_language_of_the_browser(
    browser: Browser, server: Served
) -> None:
    page = opened(browser, server, "de-DE", "/day/2026-11-12")
    page.goto("/new?date=2019-02-03")
    page.get_by_label("Text", exact=True).fill("Wir haben die Boje geputzt. #boje")
    expect(page.locator("#kept")).to_have_text("Entwurf in diesem Browser gesichert")
    page.get_by_role("button", name="Speichern").click()
    expect(page.get_by_role("status")).to_contain_text("Gespeichert.")
    page.goto("/tag/boje")
    expect(page.get_by_text("1 Eintrag, neueste zuerst")).to_be_visible()
    page.goto("/calendar?year=2019")
    expect(page.get_by_text("1 Eintrag an 1 Tag.")).to_be_visible()


def test_templates_and_books_are_written_in_the_language_of_the_browser(server: Served) -> None:
    german = {"Accept-Language": "de-DE"}
    asked = "/template?name=Day&date=2026-03-05"
    assert server.shown(asked, **german) == "Donnerstag, 5. März"
    assert server.shown(asked) == "Thursday, 5. March"
    book = server.shown("/book/file?since=2026-03-25&until=2026-03-27", **german)
    assert '<html lang="de">' in book and "25. März 2026 bis 27. März 2026" in book
    assert "Entscheidung" in book  # made in a process of its own
    assert "decision" in server.shown("/book/file?since=2026-03-25&until=2026-03-27")


def test_a_setting_decides_on_the_language(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "home"
    other.mkdir()
    (other / "config.toml").write_text('language = "ja"\n')
    with served(other) as server:
        for accepted in ("de-DE", "", "fr"):
            assert "<h1>今日</h1>" in server.shown("/", **{"Accept-Language": accepted})


def test_a_browser_without_a_session_is_answered_in_its_language(server: Served) -> None:
    german = {"Accept-Language": "de"}
    login = httpx.get(f"{server.url}/login", headers=german)
    assert '<html lang="de">' in login.text and "<h1>Anmelden</h1>" in login.text
    ended = httpx.post(
        f"{server.url}/new", headers=german | {"Origin": server.url}, data={"content": "x"}
    )
    assert ended.status_code == 401 and "Deine Sitzung ist beendet" in ended.text
    assert "Synaptic läuft nicht" in httpx.get(f"{server.url}/offline", headers=german).text


MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Safari/605.1.15"


@pytest.mark.sweep("key")
@pytest.mark.parametrize(
    ("locale", "agent", "key"),
    [("en-GB", None, "Ctrl"), ("de-DE", None, "Strg"), ("de-DE", MAC, "⌘")],
)
def test_a_shortcut_is_named_by_the_key_of_the_reader(
    browser: Browser, server: Served, locale: str, agent: str | None, key: str
) -> None:
    context = logged_in(browser, server, locale=locale, user_agent=agent)
    page = context.new_page()
    for path in drawn(f"pages of {key} {locale}", ("/", "/new", "/search")):
        page.goto(path)
        page.locator("#keys").evaluate("(keys) => { keys.open = true; }")
        expect(page.locator(".keys kbd").first).to_have_text(f"{key}+K")
        html = page.locator("body").evaluate("(body) => body.outerHTML")
        shown = {*re.findall(r"\b(?:Ctrl|Strg)\b|⌘", html)}
        assert shown == {key}, path
        held = page.locator("[aria-keyshortcuts]").all()
        assert [one.get_attribute("aria-keyshortcuts") for one in held] in (
            [],
            ["Meta+B" if key == "⌘" else "Control+B"],
        )


@pytest.mark.sweep("locale")
@pytest.mark.parametrize("locale", LANGUAGES)
def test_no_page_is_wider_than_a_phone_in_any_language(
    browser: Browser, server: Served, locale: str
) -> None:
    page = opened(browser, server, locale)
    wide = {}
    for name, path in drawn(f"pages {locale}", SEEN.items(), 3):
        page.goto(path)
        page.evaluate(
            "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
        )
        wide[name] = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
    assert {name: pixels for name, pixels in wide.items() if pixels > 0} == {}


def test_lists_name_days_as_the_reader_does(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    text = "# 2026-11-17\n\n## 9:00 Ein Treffen\n\nKurz.\n"
    (home / "journal" / "2026-11-17.md").write_text(text)
    with served(home, SYNAPTIC_NOW="2026-11-24T10:00:00") as server:
        server.client.headers["Accept-Language"] = "de"
        for path in (
            "/search?q=Treffen",
            "/folder",
            "/palette?q=Treffen",
            "/complete?q=Treffen",
        ):
            shown = server.shown(path)
            assert "17. November 2026" in shown, path
            assert ">2026-11-17" not in shown and "2026-11-17<" not in shown, path
        [id] = set(re.findall(r'href="/entry/([\w-]+)"', server.shown("/search?q=Treffen")))
        server.delete(id)
        assert "„Ein Treffen“" in server.shown("/")
        assert "am 24. November 2026 um 10:0" in server.shown("/deleted")


def test_a_link_of_one_letter_is_wide_enough_for_a_finger(
    browser: Browser, server: Served
) -> None:
    page = opened(browser, server, "ja-JP")
    widths = page.locator(".take a").evaluate_all("(all) => all.map((one) => one.offsetWidth)")
    assert widths and min(widths) >= 24


def test_names_of_a_row_stand_on_one_line_on_a_phone(browser: Browser, server: Served) -> None:
    page = opened(browser, server, "de-DE", "/statistics")
    page.set_viewport_size({"width": 390, "height": 780})
    tops = "(all) => all.map((one) => one.getBoundingClientRect().top)"
    first, most, last = page.locator("figcaption span").evaluate_all(tops)
    assert first == last < most
    page.goto("/tasks")
    label, link = page.locator("nav.pager").evaluate(
        """(row) => {
          const label = document.createRange();
          label.selectNode(row.firstChild);
          const link = document.createRange();
          link.selectNodeContents(row.querySelector("a"));
          return [label, link].map((one) => one.getClientRects()[0].bottom);
        }"""
    )
    assert abs(label - link) <= 1
