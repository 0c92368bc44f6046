"""The ways to an entry: the palette, tags and folders, links back, and what happened how
often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from homes import open_home
from outside import Home
from playwright.sync_api import Browser, expect
from served import AXE, WCAG, Served, logged_in, served

from synaptic.features.upkeep.findings import list_findings
from synaptic.verbs.saving import save

NOW = "2026-11-21T10:00"
NOTES = {
    "notes/ship/Harbour.md": "# Harbour\n\nIt is deep. <i>The</i> [[Boat]] lies here! #sea/deep\n",
    "notes/Boat.md": "# Boat\n\nA small one, of [[Ines]].\n\n![[boat.png]]\n",
    "archive/notes/Boat old.md": "# Boat old\n\nSold.\n",
    "Templates/Meeting.md": "# {{title}}, {{date:dddd}}\n",
    "notes/Ines.md": "---\naliases: [Captain]\n---\n# Ines\n\nA friend.\n",
    "2026-11-03.md": "# 2026-11-03\n\n## 09:00 Ran 5 km\n\n## 18:00 Dentist, no holes\n",
    "2026-10-30.md": "# 2026-10-30\n\n## 08:00 Running with Ines\n\nA run of [[Ines]].\n",
    "2026-09-02.md": "# 2026-09-02\n\n## 08:00 Runs were short\n\nSaw the dentist.\n",
    "2025-03-01.md": "# 2025-03-01\n"
    + "".join(f"\n## {hour:02}:00 Watch {hour}\n" for hour in range(22)),
}


def write(home: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = home / "journal" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("find") / "home"
    write(home, NOTES)
    with open_home(home) as ws:
        save(ws, "Chose a wooden mast.", type="decision", tags=["sea"], via="mcp")
        save(ws, "Chose a steel mast.", type="decision", tags=["sea"], via="mcp")
        for text in ("Mast [a] or b", "Twin\n\nOne.", "Twin\n\nTwo."):
            save(ws, text, at="2026-09-01")
    with served(home, SYNAPTIC_NOW=NOW) as found:
        yield found


def names(page: str) -> list[str]:
    """The titles of a list, or the places of the palette."""
    found = re.findall(r"<h2><a [^>]*>(.*?)</a></h2>|<a role.*?<span>(.*?)</span>", page)
    return ["".join(each) for each in found]


def test_the_palette_finds_by_the_beginnings_of_words(server: Served) -> None:
    assert names(server.shown("/palette?q=bo"))[:2] == ["Boat old", "Boat"]
    assert names(server.shown("/palette?q=MAST+woo"))[0] == "Chose a wooden mast."
    assert names(server.shown("/palette?q=ast")) == ["Search for “ast”"]
    assert names(server.shown("/palette?q=deep"))[:1] == ["#sea/deep"]
    assert 'href="/folder/notes/ship"' in server.shown("/palette?q=ship")
    assert names(server.shown("/palette?q=2026-11-03"))[0] == "Tuesday, 3 November 2026"
    assert "Chose a steel mast." in names(server.shown("/palette"))
    assert "<script>" not in server.client.get("/palette?q=<script>").text
    by_path = server.shown("/palette?q=archive+old")
    assert names(by_path)[0] == "Boat old" and "<small>archive/notes · undated" in by_path


def test_what_a_text_box_offers_leads_to_what_it_names(server: Served) -> None:
    def offers(typed: str, kind: str = "link") -> list[str]:
        page = server.shown(f"/complete?kind={kind}&q={quote(typed)}")
        return [unescape(one) for one in re.findall(r'data-insert="([^"]*)"', page)]

    assert offers("harb") == ["[[Harbour]]"]
    assert offers("archive old") == ["[[Boat old]]"]
    assert offers("1 nov")[0] == "[[2026-11-01]]"
    assert offers("captain")[0] == "[[Ines]]"  # an alias
    [wooden] = offers("chose a wood")
    assert wooden == "[[Chose a wooden mast.]]"
    # a title that cannot stand in a link, and one of two entries, are named by id
    assert re.fullmatch(r"\[\[\w{8}\|Mast a or b\]\]", offers("mast a")[0])
    assert [re.sub(r"\w{8}\|", "", one) for one in offers("twin")] == ["[[Twin]]"] * 2
    assert offers("se", "tag") == ["#sea", "#sea/deep"] and offers("sea/deep", "tag") == []


def test_a_tag_and_a_folder_have_pages(server: Served) -> None:
    page = server.shown("/tag/sea")
    assert len(names(page)) == 3 and 'href="/tag/sea/deep"' in page and "It is deep." in page
    assert names(server.shown("/tag/sea/deep")) == ["Harbour"]
    assert {*names(server.shown("/folder/notes"))} == {"Harbour", "Boat", "Ines"}
    assert 'href="/folder/notes/ship"' in server.shown("/folder/notes")
    assert 'href="/folder/archive"' in server.shown("/folder")
    assert "No entry has the tag #b." in server.shown("/tag/<b>", 404)
    assert "<b>" not in server.client.get("/folder/<b>").text
    assert "no entry in a folder ../etc" in server.shown("/folder/..%2Fetc", 404)


def test_links_back_stand_with_their_sentence_and_neighbours_in_a_picture(
    server: Served,
) -> None:
    page = server.shown("/to?name=Boat", follow=True)
    assert '<span class="said">The Boat lies here!</span>' in page
    drawn = page[page.index("<svg viewBox") :]
    for name in ("Harbour", "Ines", "2026-10-30 > Running with Ines, two steps away"):
        assert f'aria-label="{name}"' in drawn
    assert (
        "3 entries that links join" in drawn
        and drawn.partition("</svg>")[0].count("<path") == 3
    )
    alone = server.shown("/to?name=Boat old", follow=True)
    assert "Around it" not in alone


def test_filters_alone_are_a_list_and_the_newest_stand_with_their_text(server: Served) -> None:
    page = server.shown("/search?q=%23sea")
    assert "3 entries, newest first" in page and "best first" not in page
    assert "The best " in server.shown("/search?q=mast")
    assert "Saw the dentist." in server.shown("/search")


def test_the_entries_with_files_are_asked_for_in_the_form(server: Served) -> None:
    page = server.shown("/search?has_files=1")
    assert (
        names(page) == ["Boat"] and 'name="has_files" type="checkbox" value="1" checked' in page
    )
    assert re.search(r">files only <span", page) and "/search?has_files=True" not in page
    others = server.shown("/search?has_files=no")
    assert "Boat" not in names(others) and re.search(r">files none <span", others)
    assert 'type="checkbox" value="1">' in others
    assert names(server.shown("/search?q=has:attachments")) == ["Boat"]


def test_a_list_of_a_time_says_its_order_and_a_button_shows_all_of_it(server: Served) -> None:
    for asked, order in (
        ("was habe ich im März 2025 gemacht", "oldest"),
        ("entries in March 2025, newest first", "newest"),
    ):
        query = quote(asked)
        page = server.shown(f"/search?q={query}")
        assert f"Listed, {order} first" in page
        assert f"20 entries, {order} first" in page and ">Show all 22</a>" in page
        whole = server.shown(f"/search?q={query}&more=1")
        assert f"22 entries, {order} first" in whole and "Show all" not in whole
    assert "More that may fit" in server.shown("/search?q=mast")


def test_a_month_has_its_days_and_leads_to_others(server: Served) -> None:
    page = server.shown("/calendar")
    assert "<h1>November 2026</h1>" in page and page.count('aria-current="date"') == 1
    assert 'href="/calendar?month=2026-10" rel="prev"' in page
    other = server.shown("/calendar?month=2026-09")
    assert 'aria-label="1 entry on 2 September 2026"' in other and "This month" in other
    assert "<h1>December 9999</h1>" in server.shown("/calendar?month=9999-12")
    assert "a month as 2026-11" in server.shown("/calendar?month=2026-13", 400)


def test_how_often_and_when_last_are_counted_by_month(server: Served, tmp_path: Path) -> None:
    page = server.shown("/search?q=how+often+did+I+run")
    counted = page[page.index('class="counted"') : page.index("</section>")]
    assert "3 entries with “run”" in counted
    assert re.findall(r"/entry/[\w-]+\">(\d+ \w+ 2026)</a>", counted) == [
        "3 November 2026",
        "30 October 2026",
        "2 September 2026",
    ]
    assert counted.count("<rect") == 3 and "style=" not in counted
    assert "2 entries with “dentist”" in server.shown(
        "/search?q=when+did+I+last+see+the+dentist"
    )
    assert 'class="counted"' not in server.shown(
        "/search?q=how+often+should+I+run", follow=True
    )
    home = Home(tmp_path / "home")
    home.env["SYNAPTIC_NOW"] = NOW
    write(home.path, NOTES)
    line = (
        "3 entries with “run”, the newest of 2026-11-03, 2026-10-30, 2026-09-02; "
        "by month: 2026-11 1, 2026-10 1, 2026-09 1."
    )
    assert home.ask("search", "how often did I run")["notices"][0] == line
    assert "1 entry with “run”" in server.shown(
        "/search?q=how+often+did+I+run+in+October", follow=True
    )


def test_a_year_of_a_diary_asks_for_no_review(tmp_path: Path) -> None:
    """Half of its 965 entries were imported and have ids; nobody opened any."""
    days: dict[str, str] = {}
    for number in range(965):
        on = date(2024, 1, 1) + timedelta(number * 3 // 8)
        id = f"<!-- syn:{on:%Y%m%d}-{number:08d} via=import:day_one -->\n" * (number % 2)
        told = f"## {8 + number % 3 * 5}:00 Paid {number % 7} euro for soup\n{id}\nAs always.\n"
        name = f"{on}.md"
        days[name] = days.get(name, f"# {on}\n") + f"\n{told}"
    write(tmp_path / "home", days)
    with open_home(tmp_path / "home") as ws:
        save(ws, "Soup costs 4 euro.", type="decision", at="2025-01-01")
        assert len(list_findings(ws)) <= 10


def test_links_and_tags_are_completed_by_keyboard_alone(
    browser: Browser, server: Served
) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/")
    page.wait_for_load_state()
    text = page.locator("form.composer textarea")
    options = page.get_by_role("listbox", name="Suggestions").get_by_role("option")
    text.focus()
    page.keyboard.type("Saw [[harb")
    expect(options).to_have_text([re.compile("Harbour")])
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert not page.evaluate("(tags) => axe.run({runOnly: tags})", WCAG)["violations"]
    page.keyboard.press("Enter")
    expect(text).to_have_value("Saw [[Harbour]]")
    page.keyboard.type(" #se")
    expect(options).to_have_count(2)
    page.keyboard.press("Enter")  # no tag was chosen: a new line
    page.keyboard.type("[[boat")
    expect(options.first).to_contain_text("Boat")
    page.keyboard.press("Escape")
    expect(options.first).not_to_be_visible()
    page.keyboard.type(" #se")
    expect(options).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(page.locator("p[aria-live=polite]")).to_have_text(re.compile(r"#sea\s2, 1 of 2"))
    page.keyboard.press("Tab")
    expect(text).to_have_value("Saw [[Harbour]] #se\n[[boat #sea")


def test_a_template_is_inserted_at_the_caret_by_keyboard_alone(
    browser: Browser, server: Served
) -> None:
    assert "data-template" in server.shown("/templates")
    unknown = server.client.get("/template?name=../../x")
    assert unknown.status_code == 404 and "no template" in unknown.text
    page = logged_in(browser, server).new_page()
    for address, title in (("/", "2026-11-21"), ("/edit?path=notes/Boat.md", "Boat")):
        page.goto(address)
        page.wait_for_load_state()
        text = page.locator(".box textarea")
        text.focus()
        page.keyboard.press("Control+a")
        page.keyboard.type("above  below")
        for _ in range(6):
            page.keyboard.press("ArrowLeft")
        menu = page.locator("form summary", has_text="Template")
        menu.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Meeting")).to_be_focused()
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("(tags) => axe.run('form', {runOnly: tags})", WCAG)
        assert not found["violations"]
        page.keyboard.press("Enter")
        whole = f"above # {title}, Saturday below"
        expect(text).to_have_value(whole)
        expect(page.locator("form .added")).to_have_text("Inserted Meeting.")
        page.keyboard.type("!")
        expect(text).to_have_value(whole.replace(" below", "! below"))


def test_a_second_tag_narrows_a_list(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        for text, tags in (("A", ["farm"]), ("B", ["farm", "visit"]), ("C", ["visit"])):
            save(ws, f"Text {text}.", tags=tags)
    with served(tmp_path / "home", SYNAPTIC_NOW=NOW) as server:
        first = server.shown("/search?tag=farm")
        assert "autofocus" in server.shown("/search") and "autofocus" not in first
        assert 'href="/search?tag=farm%2Bvisit"' in first
        both = server.shown("/search?tag=farm%2Bvisit")
        assert "Text B." in both and "Text A." not in both and "Text C." not in both
        assert 'href="/search?tag=farm" aria-current="true"' in both
        typed = server.shown("/search?tag=farm&q=%23visit")
        assert "Text B." in typed and "Text A." not in typed and "Text C." not in typed


def test_a_search_can_be_listed_newest_first(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        for day in range(1, 29):
            text = "Visit at the farm." if day % 2 else "The farm, seen from afar: the farm."
            save(ws, f"{text} {day}", at=f"2026-10-{day:02}T10:00")
    with served(tmp_path / "home", SYNAPTIC_NOW=NOW) as server:
        best = server.shown("/search?q=farm+visit")
        assert (
            'href="/search?q=farm+visit&order=newest">All with these words, newest first</a>'
            in best
        )
        assert "The best 8" in best
        listed = server.shown("/search?q=farm+visit&order=newest")
        days = re.findall(r"Visit at the farm\. (\d+)", listed)
        assert list(dict.fromkeys(days)) == [str(day) for day in range(27, 0, -2)]
        assert 'href="/search?q=farm+visit">Best first</a>' in listed
        longer = server.shown("/search?q=farm&order=newest")
        [older] = re.findall(r'rel="next" href="(/search[^"]+)"', longer)
        assert "Visit at the farm. 1<" in server.shown(older)
        [book] = re.findall(r'href="(/book\?[^"]+)"', listed)
        assert "pictures inside: 14 entries" in server.shown(book)
        [name] = re.findall(r'name="search" value="([^"]+)"', listed)
        assert name == "q=farm+visit&order=newest"
        nothing = server.shown("/search?q=farm+whale&order=newest")  # what a search finds
        [book] = re.findall(r'href="(/book\?[^"]+)"', nothing)
        hits = set(re.findall(r'h2><a href="/entry/(\w+)', nothing))
        assert f"pictures inside: {len(hits)} entries" in server.shown(book)


def test_a_search_is_saved_as_a_link_in_a_note(server: Served, tmp_path: Path) -> None:
    page = server.shown("/search?q=mast&tag=sea")
    [address] = re.findall(r'name="search" value="([^"]+)"', page)
    saved = server.post("/search/saved", search=address, name="Masts [of] #wood")
    assert saved.headers["location"] == "/search?q=mast&tag=sea"
    assert "Saved as a link in Saved searches.md." in server.shown("/search?q=mast&tag=sea")
    twice = server.post("/search/saved", search=address, name="Other")
    assert twice.status_code == 400 and "saved already, as “Masts [of] #wood”" in twice.text
    for name, search in (("", "q=x"), ("x", ""), ("x" * 101, "q=x"), ("x", "q=" + "y" * 3000)):
        assert server.post("/search/saved", search=search, name=name).status_code == 400
    secret = "ghp_" + "a1B2" * 9
    assert server.post("/search/saved", search=f"q={secret}", name="x").status_code == 403
    assert '<a href="/search?q=mast&tag=sea">Masts [of] #wood</a>' in server.shown("/search")
    assert "#wood" not in server.shown("/palette?q=wood")  # its name is no tag
    note = server.shown("/edit?path=Saved+searches.md")
    written = "- [Masts \\[of\\] \\#wood](/search?q=mast&tag=sea)"
    assert f"# Saved searches\n\n{written}\n" in note
    by_hand = f"# Mine\n{written}\n* [By hand](http://127.0.0.1:1/search?q=ida) and more"
    [seen] = re.findall(r'name="seen" value="(\w+)"', note)
    edited = server.post("/edit?path=Saved+searches.md", text=by_hand, seen=seen)
    assert edited.status_code == 303
    assert '<a href="/search?q=ida">By hand</a>' in server.shown("/search")
    entry = server.shown(edited.headers["location"])
    assert '<a href="/search?q=mast&tag=sea"' in entry
    assert server.post("/search/saved", search="type=decision", name="All").status_code == 303
    assert "and more\n- [All](/search?type=decision)\n" in server.shown(
        "/edit?path=Saved+searches.md"
    )


def test_the_palette_and_the_hits_by_keyboard_alone(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text))
    page.goto("/calendar")
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Go to")
    chosen = palette.locator("[aria-selected=true]")
    expect(chosen).to_contain_text("Today")
    page.keyboard.type("heal")
    expect(chosen).to_contain_text("Health")
    page.keyboard.press("Control+a")
    page.keyboard.type("boat")
    expect(palette.get_by_role("option")).to_have_count(3)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("(tags) => axe.run('.palette', {runOnly: tags})", WCAG)
    assert not found["violations"]
    page.keyboard.press("ArrowDown")
    expect(chosen).to_have_text(re.compile("^Boat "))
    page.keyboard.press("Escape")
    expect(palette).not_to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("harb")
    expect(chosen).to_contain_text("Harbour")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Harbour")

    page.goto("/search?q=mast")
    second = page.locator(".hits h2 a").nth(1)
    for _ in range(50):  # until the results are whole and their keys are there
        page.locator("#q").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        if second.evaluate("one => one === document.activeElement"):
            break
        page.wait_for_timeout(100)
    expect(second).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#q")).not_to_be_focused()
    expect(page.locator("#q")).to_have_value("mast")
    assert not refused


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("titles", "width"),
    [
        (("Plum cake with crumble from Ida", "Plum cake with crumble from Ole"), 390),
        (("Plum cake and the crumble on it that Ida makes in autumn alone",) * 2, 390),
        (("ずっと前に祖母から教わったプラムのケーキの作り方の覚え書き",) * 2, 1280),
    ],
)
def test_two_titles_in_the_picture_are_told_apart(
    tmp_path: Path, browser: Browser, titles: tuple[str, str], width: int
) -> None:
    one, other = titles if len({*titles}) > 1 else (f"{titles[0]} 1", f"{titles[0]} 2")
    journal = tmp_path / "home" / "journal"
    journal.mkdir(parents=True)
    (journal / "Cakes.md").write_text(f"# Cakes\n\n[[{one}]] and [[{other}]]\n")
    for name in (one, other):
        (journal / f"{name}.md").write_text(f"# {name}\n\nBake it.\n")
    with served(tmp_path / "home") as server:
        context = logged_in(browser, server, viewport={"width": width, "height": 800})
        page = context.new_page()
        page.goto("/to?name=Cakes")
        boxes = page.locator(".graph a")
        assert {box.get_attribute("aria-label") for box in boxes.all()} == {one, other}
        shown = [box.inner_text() for box in boxes.locator("span").all()]
        assert len({*shown}) == 2
        for box in boxes.locator("span").all():  # and nothing of that is cut
            assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth"), shown


def test_a_list_says_the_day_of_an_entry_once(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    journal.mkdir(parents=True)
    for day in ("2026-11-19", "2026-11-20"):
        (journal / f"{day}.md").write_text(f"# {day}\n\n## Log\n\nThe tide came at noon.\n")
    with served(tmp_path / "home") as server:
        for path in ("/search?q=tide", "/search", "/folder"):
            page = server.shown(path, **{"Accept-Language": "de"})
            assert re.findall(r"<h2><a [^>]+>([^<]*)</a>", page) == ["Log", "Log"]
            assert page.count("20. November 2026") == 1 and "2026-11-20 >" not in page
