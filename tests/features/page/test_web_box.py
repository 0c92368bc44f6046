"""The box in which all texts of the page are written: its row, its lists, its preview, its size."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import open_home
from photos import PNG
from playwright.sync_api import Browser, Locator, Page, expect
from served import AXE, WCAG, Served, logged_in, served
from trials import drawn

from synaptic import save

STATIC = Path(__file__).parents[3] / "synaptic" / "features" / "page" / "static"
OWN_BYTES = 25_000
"""The most of our own JavaScript that a box takes."""
NOW = "2026-11-24T10:00:00"
DAY = "# 2026-11-20\n\n## 09:00 The heron\n\nIt stood still.\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("box") / "home"
    (home / "journal" / "trips").mkdir(parents=True)
    (home / "journal" / "2026-11-20.md").write_text(DAY)
    (home / "journal" / "trips" / "Boat.md").write_text(
        "---\ntags: [blue]\n---\n# Boat\n\nIt is **blue**. ![](sail.png)\n"
    )
    (home / "journal" / "trips" / "sail.png").write_bytes(PNG)
    with served(home, SYNAPTIC_NOW=NOW) as found:
        yield found


def forms(server: Served) -> dict[str, str]:
    """The address of each form in which a text is written."""
    found = re.search(r'/entry/([\w-]+)" id="t-', server.client.get("/day/2026-11-20").text)
    note = re.search(r'/entry/([\w-]+)"', server.client.get("/folder/trips").text)
    assert found and note
    return {
        "today": "/",
        "new": "/new",
        "entry": f"/entry/{found[1]}/edit",
        "its Markdown": f"/edit?path=2026-11-20.md&id={found[1]}",
        "a day": "/edit?path=2026-11-20.md",
        "a note": "/edit?path=trips/Boat.md",
        "more of a note": f"/entry/{note[1]}/edit?add=1",
    }


def box_of(page: Page, text: str = "") -> Locator:
    """The box of a page, with this text, and the caret behind it."""
    box = page.locator(".box textarea")
    box.fill(text)
    box.press("ControlOrMeta+End")
    return box


@pytest.mark.sweep
def test_every_form_has_the_same_box(browser: Browser, server: Served) -> None:
    context = logged_in(browser, server)
    looks = set()
    for name, path in drawn("forms", forms(server).items(), 2):
        page = context.new_page()
        page.goto(path)
        box = page.locator(".box textarea")
        box.press("ControlOrMeta+End")
        page.keyboard.type(f"\n\nSaid **{name}**.")
        expect(page.locator("#preview strong").last).to_have_text(name)
        expect(page.locator("#kept")).to_have_text("Draft kept in this browser")
        expect(page.get_by_role("group", name="Put into the text")).to_be_visible()
        looks.add(box.evaluate("(one) => getComputedStyle(one).font"))
        fields = page.locator("main :is(input[type=date], input[type=time])")
        assert not [one for one in fields.all() if one.is_visible()], name
        page.close()
        page = context.new_page()
        page.goto(path)
        expect(page.locator(".box textarea")).to_have_value(re.compile(re.escape(name)))
        page.get_by_role("button", name="Throw it away").click()
        expect(page.locator(".box textarea")).not_to_have_value(re.compile(re.escape(name)))
        page.close()
    assert len(looks) == 1


def test_the_preview_of_a_note_shows_its_pictures_and_not_its_front_matter(
    browser: Browser, server: Served
) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/edit?path=trips/Boat.md")
    preview = page.locator("#preview")
    expect(preview.locator("strong")).to_have_text("blue")
    expect(preview.locator("img")).to_have_js_property("naturalWidth", 1)
    expect(preview).not_to_contain_text("tags")


def test_bold_and_a_list_end_where_a_person_ends_them(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/new")
    box = box_of(page, "It is ")
    bold = page.locator(".marks").get_by_label("Bold", exact=True)
    for words in ("very", "really"):
        bold.click()
        page.keyboard.type(words)
        bold.click()
        page.keyboard.type(" so ")
    expect(box).to_have_value("It is **very** so **really** so ")
    bold.click()
    bold.click()  # nothing was typed between
    expect(box).to_have_value("It is **very** so **really** so ")
    box.fill("")
    page.keyboard.type("- one")
    for key in ("Enter", "Enter"):
        page.keyboard.press(key)
    page.keyboard.type("A sentence.")
    expect(box).to_have_value("- one\n\nA sentence.")
    expect(page.locator("#preview li")).to_have_text("one")
    expect(page.locator("#preview > p")).to_have_text("A sentence.")
    page.get_by_role("button", name="Throw it away").click()


def test_the_row_works_by_the_keyboard_alone(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    page.clock.set_fixed_time(NOW)
    page.goto("/")
    box = box_of(page, "calm")

    def press(name: str, *keys: str) -> None:
        """Reaches a button of the row by Tab, and presses these keys there."""
        page.keyboard.press("Tab")
        button = page.locator(".marks").get_by_label(name, exact=True)
        while not button.evaluate("(one) => one === document.activeElement"):
            assert page.evaluate("document.activeElement.closest('.marks') !== null"), name
            page.keyboard.press("Tab")
        for key in keys or ("Enter",):
            page.keyboard.press(key)
        expect(box).to_be_focused()

    page.keyboard.press("Shift+Home")
    press("Bold")
    expect(box).to_have_value("**calm**")
    page.keyboard.press("Control+b")
    expect(box).to_have_value("calm")
    press("List")
    expect(box).to_have_value("- calm")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("windy")
    press("Task")
    expect(box).to_have_value("- calm\n- [ ] windy")
    press("Insert a date", "Enter", "Tab", "Tab", "Enter")  # tomorrow
    expect(box).to_have_value("- calm\n- [ ] windy due:2026-11-25")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # an empty item ends the list
    page.keyboard.type("See ")
    press("Link to a note")
    page.keyboard.type("boa")
    expect(page.locator(".complete [role=option]")).to_have_text([re.compile("Boat")])
    page.keyboard.press("Enter")
    whole = "- calm\n- [ ] windy due:2026-11-25\n\nSee [[Boat]]"
    expect(box).to_have_value(whole)
    page.keyboard.press("Control+a")
    press("Task")
    expect(box).to_have_value("- [ ] calm\n- [ ] windy due:2026-11-25\n\n- [ ] See [[Boat]]")
    press("Task")
    expect(box).to_have_value("- calm\n- windy due:2026-11-25\n\n- See [[Boat]]")
    press("List")
    expect(box).to_have_value("calm\nwindy due:2026-11-25\n\nSee [[Boat]]")
    for _ in range(3):
        page.keyboard.press("Control+z")  # the browser's own undo
    expect(box).to_have_value(whole)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("status")).to_contain_text("Saved")


LOGSEQ = "- TODO Caulk the hull\n  SCHEDULED: <2026-11-20 Fri>\n- TODO Buy rope\n- calm\n"
TASKS = "# Hull\n\n- [ ] Caulk it 📅 2026-11-20\n- [ ] Buy rope\n"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "before", "line", "after"),
    [
        (
            "of Logseq",
            LOGSEQ,
            "- TODO Buy rope",
            LOGSEQ.replace("rope\n", "rope\n  SCHEDULED: <2026-11-25 Wed>\n"),
        ),
        (
            "that is due already",
            LOGSEQ,
            "- TODO Caulk the hull",
            LOGSEQ.replace("<2026-11-20 Fri>", "<2026-11-25 Wed>"),
        ),
        ("of Obsidian", TASKS, "- [ ] Buy rope", TASKS.replace("rope", "rope 📅 2026-11-25")),
        ("that is none", LOGSEQ, "- calm", LOGSEQ.replace("calm", "calm 2026-11-25")),
        ("of an empty item", "- calm\n- ", "- calm\n- ", "- calm\n- 2026-11-25"),
    ],
)
def test_a_date_in_the_line_of_a_task_is_its_due_mark(
    browser: Browser, server: Served, name: str, before: str, line: str, after: str
) -> None:
    page = logged_in(browser, server).new_page()
    page.clock.set_fixed_time(NOW)
    page.goto("/edit?path=trips/Boat.md")
    box = box_of(page, before)
    caret = before.index(line) + len(line)
    caret += sum(ord(sign) > 0xFFFF for sign in before[:caret])  # two units in a browser
    box.evaluate("(one, caret) => one.setSelectionRange(caret, caret)", caret)
    row = page.locator(".marks")
    row.get_by_label("Insert a date").click()
    row.get_by_role("button", name="Tomorrow").click()
    expect(box).to_have_value(after)
    page.keyboard.press("Control+z")
    expect(box).to_have_value(before)


def test_without_a_server_no_date_is_put_into_a_task(browser: Browser, tmp_path: Path) -> None:
    with served(tmp_path / "home", SYNAPTIC_NOW=NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/new")
        box = box_of(page, "- [ ] Buy rope")
    row = page.locator(".marks")
    row.get_by_label("Insert a date").click()
    row.get_by_role("button", name="Tomorrow").click()
    expect(page.locator(".added")).to_have_text("Synaptic does not answer.")
    expect(box).to_have_value("- [ ] Buy rope")


def test_a_list_goes_on_as_it_began(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/new")
    for text, after in (
        ("9. nine", "9. nine\n10. x"),
        ("  * inner", "  * inner\n  * x"),
        ("- [x] done", "- [x] done\n- [ ] x"),
        ("> - said", "> - said\n> - x"),
        ("plain", "plain\nx"),
        ("-5 degrees", "-5 degrees\nx"),
        ("a\n- ", "a\n\nx"),
        ("- a\n\n- ", "- a\n\nx"),
    ):
        box = box_of(page, text)
        page.keyboard.press("Enter")
        page.keyboard.type("x")
        expect(box).to_have_value(after)


@pytest.mark.slow
def test_on_a_phone_the_row_is_touched_and_a_picture_is_taken(
    browser: Browser, server: Served
) -> None:
    context = logged_in(
        browser,
        server,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        bypass_csp=True,
    )
    page = context.new_page()
    page.clock.set_fixed_time(NOW)
    picture = {"name": "sea.png", "mimeType": "image/png", "buffer": PNG}
    for name, path in forms(server).items():
        page.goto(path)
        box = box_of(page, "buy bread")
        row = page.locator(".marks")
        row.get_by_label("Task").tap()
        row.get_by_label("Insert a date").tap()
        page.evaluate(AXE.read_text(encoding="utf-8"))
        menu = page.evaluate("(tags) => axe.run('.marks .panel', {runOnly: tags})", WCAG)
        assert not menu["violations"], name
        row.get_by_role("button", name="Today").tap()
        expect(box).to_have_value("- [ ] buy bread due:2026-11-24")
        expect(box).to_be_focused()  # the phone's keyboard stays
        camera = row.get_by_label("Take a picture")
        assert camera.get_attribute("capture") == "environment"
        expect(row.locator("label.camera")).to_be_visible()
        camera.set_input_files(picture)  # type: ignore[arg-type]
        expect(box).to_have_value(re.compile(r"\n\n!\[sea\.png\]\(draft:sea(-\d)?\.png\)\n$"))
        expect(page.locator("#preview img")).to_have_js_property("naturalWidth", 1)
        apart = row.locator("> :is(button, label), summary").evaluate_all(
            "(all) => Math.max(...all.map((one) => one.offsetTop)) "
            "- Math.min(...all.map((one) => one.offsetTop))"
        )
        assert apart < 10, name
        assert page.evaluate("document.documentElement.scrollWidth") == 390, name
        found = page.evaluate("(tags) => axe.run('main', {runOnly: tags})", WCAG)
        assert not found["violations"], name
        page.get_by_role("button", name="Throw it away").tap()


def test_a_file_that_is_added_to_a_text_stands_below_it(
    browser: Browser, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_home(home) as ws:
        id = save(ws, "Invoice of the mill paid.").id
    with served(home, SYNAPTIC_NOW=NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto(f"/entry/{id}/edit")
        page.locator("input[name=files]").first.set_input_files(
            {"name": "sea.png", "mimeType": "image/png", "buffer": PNG}
        )
        box = page.locator(".box textarea").first
        expect(box).to_have_value(re.compile(r"^Invoice of the mill paid\.\n\n!\[sea"))


def test_without_javascript_the_row_has_its_files_alone(
    browser: Browser, server: Served
) -> None:
    page = logged_in(browser, server, java_script_enabled=False).new_page()
    page.goto("/new")
    expect(page.locator(".marks button").first).to_be_hidden()
    page.locator("input[name=files]").set_input_files(
        {"name": "sea.png", "mimeType": "image/png", "buffer": PNG}
    )
    page.get_by_label("Text", exact=True).fill("The sea.")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("article img")).to_be_visible()


def test_the_scripts_of_a_box_stay_small(server: Served) -> None:
    """Its own and those that they import, without those that every page has."""
    used = {*re.findall(r'src="/static/([\w-]+\.js)"', server.client.get("/new").text)}
    used -= {*re.findall(r'src="/static/([\w-]+\.js)"', server.client.get("/tasks").text)}
    assert used
    used |= {"drafts.js", "texts.js"}
    assert sum((STATIC / name).stat().st_size for name in used) <= OWN_BYTES


LONG = "\n\n".join(f"Line {n}: the heron stood still, and then it flew." for n in range(80))
HIT = """(one) => {
  const { left, top, width, height, bottom } = one.getBoundingClientRect();
  const seen = Math.min(innerHeight, window.least ?? innerHeight);
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return top >= 0 && bottom <= seen && (there === one || one.contains(there));
}"""
"""True if the whole of an element is seen, and nothing lies on it."""
UNCOVERED = """() => {
  const one = document.activeElement;
  const { left, top, height, bottom } = one.getBoundingClientRect();
  const row = document.querySelector(".composer > .actions").getBoundingClientRect();
  if (one.closest(".actions")) return true;
  return top >= 0 && (bottom <= row.top || height > row.top);
}"""
"""True if the row of Save covers nothing of what has the focus."""
FOCUSED = "document.activeElement?.closest('.composer') !== null"


@pytest.mark.sweep("height")
@pytest.mark.parametrize(("width", "height"), [(1280, 600), (390, 844), (390, 430)])
def test_save_is_in_sight_below_a_long_text_and_covers_nothing(
    browser: Browser, server: Served, width: int, height: int
) -> None:
    is_phone = width < 500
    context = logged_in(
        browser,
        server,
        viewport={"width": width, "height": height},
        is_mobile=is_phone,
        has_touch=is_phone,
        bypass_csp=True,
    )
    page = context.new_page()
    for name, path in drawn(f"forms at {height}", forms(server).items(), 2):
        page.goto(path)
        box = box_of(page, LONG)
        expect(page.locator("#preview")).to_contain_text("Line 79")
        expect(page.locator(".htmx-settling")).to_have_count(0)
        row = page.locator(".composer > .actions")
        for _ in range(2):  # at the end of the text, and at its beginning
            for button in row.locator(".primary, a.button").all():
                assert button.evaluate(HIT), name
            box.press("ControlOrMeta+Home")
        page.evaluate("scrollTo(0, 0)")
        page.locator(".composer details").evaluate_all(
            "(all) => all.forEach((one) => { one.open = !one.closest('.menu'); })"
        )
        box.focus()
        for _ in range(25):
            page.keyboard.press("Tab")
            if not page.evaluate(FOCUSED):
                break
            covered = page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
            assert page.evaluate(UNCOVERED), (name, covered)
        page.evaluate(AXE.read_text())
        found = page.evaluate("(tags) => axe.run('main', {runOnly: tags})", WCAG)
        assert not found["violations"], name
        page.locator("#discard").dispatch_event("click")


@pytest.mark.sweep
def test_save_is_above_a_keyboard_that_lies_over_the_page(
    browser: Browser, server: Served
) -> None:
    """As that of iOS does, which no browser here has: its sizes are set."""
    context = logged_in(browser, server, viewport={"width": 390, "height": 844})
    page = context.new_page()
    for name, path in drawn("forms below a keyboard", forms(server).items(), 2):
        page.goto(path)
        box_of(page, LONG)
        page.evaluate(
            """() => {
              window.least = 500;
              Object.defineProperty(visualViewport, "height", { value: window.least });
              visualViewport.dispatchEvent(new Event("resize"));
            }"""
        )
        for button in page.locator(".composer > .actions .primary").all():
            assert button.evaluate(HIT), name
        page.locator("#discard").dispatch_event("click")
