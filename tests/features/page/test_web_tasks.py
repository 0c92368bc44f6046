"""What is due, listed and closed on the pages, and what a person takes back there."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect
from served import Served, logged_in, served
from trials import drawn

from synaptic.notes.due_marks import remove_due_date

PHONE: ViewportSize = {"width": 390, "height": 844}
PLAN = """\
# Plan

- [ ] Call Ida 📅 2026-11-20
- [x] Paint
  - [ ] the door
- [ ] Sow [due:: 2026-11-31] soon
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("tasks") / "home"
    (home / "journal").mkdir(parents=True)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW="2026-11-24T10:00:00") as server:
        yield server


def text_of(page: httpx.Response | str) -> str:
    text = page if isinstance(page, str) else page.text.partition("<main")[2]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def write(server: Served, content: str, **marks: str) -> str:
    saved = server.post("/new", content=content, **marks)
    return saved.headers["location"].partition("?")[0].removeprefix("/entry/")


def forms(page: httpx.Response, button: str) -> list[tuple[str, dict[str, str]]]:
    """(address, fields) of each form around this button."""
    found = []
    for address, inside in re.findall(
        r'(?s)<form method="post" action="(\S+)">(.*?)</form>', page.text
    ):
        if f">{button}<" in inside:
            fields = dict(re.findall(r'name="(\w+)" value="(.*?)"', inside))
            fields.pop("csrf")
            found.append((address, fields))
    return found


def entry_file(home: Path, id: str) -> str:
    """The text of the file in which an entry stands."""
    texts = [file.read_text() for file in (home / "journal").glob("*.md")]
    return next(text for text in texts if id in text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Call Ida 📅 2026-11-20", "Call Ida"),
        ("Call 📅 [[2026-11-20]] Ida ➕ 2026-11-01", "Call Ida ➕ 2026-11-01"),
        ("Pay [due:: 2026-11-20] rent", "Pay rent"),
        ("Sow DEADLINE: <2026-11-20 Fri> > beans", "Sow > beans"),
        ("Nothing is overdue on 2026-11-20", "Nothing is overdue on 2026-11-20"),
    ],
)
def test_a_task_in_a_list_is_without_its_day(text: str, shown: str) -> None:
    assert remove_due_date(text) == shown


def test_entries_and_tasks_that_are_due_are_closed_where_they_are_listed(
    server: Served, home: Path
) -> None:
    note = home / "journal" / "Plan.md"
    note.write_text(PLAN)
    ids = {
        part: write(server, f"Renew for {part}.", due=due)
        for part, due in (
            ("Overdue", "2026-11-10"),
            ("Today", "2026-11-24"),
            ("Next 7 days", "2026-11-26"),
            ("Later", "2026-12-20"),
        )
    }
    page = server.client.get("/tasks")
    for part, id in ids.items():
        section = re.search(rf"(?s)<h2[^>]*>{part} (.*?)</section>", page.text)
        assert section and f'href="/entry/{id}"' in section[1]
    told = text_of(page)
    assert "due 10 November" in told and "20 December" in told and "📅" not in told
    assert "Sow soon" in told and "2026-11-31" in told  # no day of a calendar
    for part, where in (("Overdue", "/tasks"), ("Today", "/")):
        box = text_of(server.client.get("/").text.partition('class="due"')[2])
        assert f"Renew for {part}" in box and "☐ Call Ida due 20 November Plan" in box
        found = re.search(
            rf'(?s)name="id" value="{ids[part]}"><input type="hidden" name="back" '
            rf'value="{where}">.{{0,250}}<button form="[^"]+" name="done" value="yes"',
            server.client.get(where).text,
        )
        assert found
        closed = server.post("/tick", line="0", id=ids[part], done="yes", back=where)
        assert closed.headers["location"] == where
        after = server.client.get(where)
        assert f"Ticked: Renew for {part}" in after.text and 'action="/undo"' in after.text
        due = server.client.get(where).text.replace('class="due"', "<h1>").partition("<h1>")[2]
        assert f"Renew for {part}" not in due.partition("</section>")[0]
    later = ids["Later"]
    assert ">Close as done<" in server.client.get(f"/entry/{later}").text
    away = server.post(f"/entry/{later}/edit", pin="no", back="https://example.org/")
    assert away.headers["location"].startswith(f"/entry/{later}")


def test_a_tick_is_taken_back_where_it_was_made(
    browser: Browser, server: Served, home: Path
) -> None:
    note = home / "journal" / "Plan.md"
    note.write_text(PLAN)
    found = re.search(r'/entry/([\w-]+)">Plan<', server.client.get("/tasks").text)
    assert found
    page = logged_in(browser, server).new_page()
    page.goto("/")
    page.get_by_role("button", name="Tick: Call Ida").click()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Took back")
    assert note.read_text() == PLAN
    page.goto(f"/entry/{found[1]}")
    page.get_by_role("button", name="Tick: Call Ida").click()
    expect(page.get_by_role("status")).to_contain_text("Ticked: Call Ida.")
    page.wait_for_load_state()  # with its style
    shown = page.locator(".note li").evaluate_all(
        """items => items.map(one => {
            const style = getComputedStyle(one);
            return [style.listStyleType, style.color];
        })"""
    )
    (done, open_one) = (shown[0][1], shown[3][1])
    assert done != open_one
    assert shown == [["none", one] for one in (done, done, open_one, open_one)]
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Took back")
    assert page.url.endswith(found[1]) and note.read_text() == PLAN


def move(page: Page, name: str, task: str, day: str) -> None:
    """Moves a task by one of its buttons, or to a day that is picked by the keyboard alone. On
    a phone they are folded.
    """
    page.locator(".tasks li", has_text=task).locator(".moves > summary").click()
    button = page.get_by_label(f"{name}: {task}", exact=True)
    if name != "Pick a day":
        button.click()
        return
    button.press("Enter")
    field = page.get_by_label(f"Day: {task}", exact=True)
    expect(field).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    button.press("Tab")
    expect(field).to_be_focused()
    page.keyboard.type(f"{day[5:7]}{day[8:]}{day[:4]}")
    page.keyboard.press("Enter")


@pytest.mark.sweep
def test_a_task_and_an_entry_move_where_they_are_listed(
    browser: Browser, server: Served, home: Path
) -> None:
    note = home / "journal" / "Plan.md"
    note.write_text(PLAN)
    id = write(server, "Renew the passport.", due="2026-11-23")
    context = logged_in(browser, server, java_script_enabled=False, viewport=PHONE)
    page = context.new_page()
    status = page.get_by_role("status")
    buttons = (
        ("/", "Tomorrow", "2026-11-25"),
        ("/", "Today", "2026-11-24"),
        ("/", "Next week", "2026-11-30"),
    )
    for where, name, day in (
        *drawn("buttons that move", buttons),
        ("/tasks", "Pick a day", "2027-02-03"),
    ):
        page.goto(where)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        move(page, name, "Call Ida", day)
        expect(status).to_contain_text(": Call Ida.")
        assert note.read_text() == PLAN.replace("2026-11-20", day)
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(status).to_contain_text("Took back")
        assert note.read_text() == PLAN and page.url == f"{server.url}{where}"
        move(page, name, "Renew the passport.", day)
        expect(status).to_contain_text(": Renew the passport.")
        assert f"due={day}" in entry_file(home, id)
        page.get_by_role("button", name="Undo", exact=True).click()
        expect(status).to_contain_text("Took back")
        assert "due=2026-11-23" in entry_file(home, id)
    wrong = server.post("/tick", id=id, due="soonish")
    assert wrong.status_code == 400 and "next friday" in wrong.text
    context.close()


def test_a_task_that_is_due_tomorrow_says_so(server: Served) -> None:
    days = {"2026-11-24": "heute fällig", "2026-11-25": "morgen fällig"}
    days |= {
        "2026-11-26": "fällig am 26. November",
        "2027-11-25": "fällig am 25. November 2027",
    }
    ids = [write(server, f"- [ ] Paint the boat 📅 {day}") for day in days]
    shown = server.shown("/tasks?later=1", **{"Accept-Language": "de"})
    for day, said in days.items():
        assert re.search(rf'<time datetime="{day}"[^>]*>{said}</time>', shown)
    for id in ids:
        server.delete(id)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("locale", "groups", "buttons"),
    [
        # Sunday, 29 November: a week begins on Monday in Germany, and on Sunday in the States
        (
            "de-DE",
            "Heute 1 Morgen 1 In den nächsten 7 Tagen 1 Später 1",
            "Morgen Nächste Woche",
        ),
        ("en-US", "Today 1 Tomorrow 1 Next 7 days 1 Later 1", "Tomorrow Next week"),
    ],
)
def test_next_week_is_that_of_the_reader_and_moves_nothing_back(
    browser: Browser, tmp_path: Path, locale: str, groups: str, buttons: str
) -> None:
    (tmp_path / "home" / "journal").mkdir(parents=True)
    note = tmp_path / "home" / "journal" / "Plan.md"
    days = ("11-29", "11-30", "12-04", "12-07")
    note.write_text("".join(f"- [ ] Task {day} 📅 2026-{day}\n\n" for day in days))
    with served(tmp_path / "home", SYNAPTIC_NOW="2026-11-29T10:00:00") as server:
        page = logged_in(browser, server, locale=locale).new_page()
        page.goto("/tasks")
        assert " ".join(page.locator("main h2").all_inner_texts()) == groups
        rows = page.locator(".tasks li")
        first = rows.nth(0).locator("button.quiet")
        assert " ".join(first.all_inner_texts()) == buttons
        first.last.click()
        monday = "2026-11-30" if locale == "de-DE" else "2026-12-07"
        assert f"Task 11-29 📅 {monday}" in note.read_text()
        row = rows.filter(has_text="Task 12-04")
        row.locator("button.quiet").last.click()
        expect(page.get_by_role("status")).to_contain_text("Task 12-04")
        moved = "2026-12-11" if locale == "de-DE" else "2026-12-07"
        assert f"Task 12-04 📅 {moved}" in note.read_text()


def test_the_page_of_a_day_lists_what_is_due_then(
    browser: Browser, server: Served, home: Path
) -> None:
    note = home / "journal" / "Plan.md"
    note.write_text(PLAN.replace("2026-11-20", "2027-01-29"))
    assert "Call Ida" not in server.client.get("/").text
    few = server.client.get("/tasks").text
    assert "Call Ida" not in few and "Show 1 more that is due later" in few
    assert "Call Ida" in server.client.get("/tasks?later=1").text
    page = logged_in(browser, server, viewport=PHONE).new_page()
    page.goto("/day/2027-01-29")
    move(page, "A week later", "Call Ida", "")
    expect(page.get_by_role("status")).to_contain_text("due on Friday, 5 February")
    assert page.url.endswith("/day/2027-01-29")
    expect(page.get_by_role("button", name="Tick: Call Ida")).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).click()
    page.get_by_role("button", name="Tick: Call Ida").click()
    expect(page.get_by_role("status")).to_contain_text("Ticked: Call Ida.")
    assert "- [x] Call Ida" in note.read_text() and page.url.endswith("/day/2027-01-29")


def test_a_task_is_added_by_one_line(browser: Browser, server: Served, home: Path) -> None:
    (home / "journal" / "Plan.md").write_text(PLAN)  # whose form of a day is the journal's
    page = logged_in(browser, server, viewport=PHONE).new_page()
    for where, day, mark in (
        ("/", "2026-11-24", ""),
        ("/tasks", "2026-11-24", ""),
        ("/day/2026-12-03", "2026-12-03", " 📅 2026-12-03"),
        ("/day/2026-11-18", "2026-11-18", " 📅 2026-11-18"),
    ):
        page.goto(where)
        if where == "/":
            page.get_by_label("Text", exact=True).fill("A text that is not saved yet.")
            expect(page.locator("#kept")).to_contain_text("Draft kept")
        task = f"Water {day} from {where.strip('/') or 'today'}"
        page.get_by_label("Add a task").fill(task)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_contain_text("Saved")
        assert page.url == f"{server.url}{where}"
        assert f"\n- [ ] {task}{mark}\n" in (home / "journal" / f"{day}.md").read_text()
        expect(page.get_by_role("button", name=f"Tick: {task}").first).to_be_visible()
        if where == "/":
            expect(page.get_by_label("Text", exact=True)).to_have_value(
                "A text that is not saved yet."
            )
            page.get_by_role("button", name="Throw it away").click()
    kept = server.post("/new", task="Pay 📅 2026-12-24", date="2026-12-03", back="/tasks")
    assert kept.status_code == 303
    text = (home / "journal" / "2026-12-03.md").read_text()
    assert "\n- [ ] Pay 📅 2026-12-24\n" in text
    assert server.post("/new", task="  ", back="/tasks").status_code == 400


def test_the_words_of_a_new_task_say_its_day_and_the_reply_repeats_it(
    browser: Browser, server: Served, home: Path
) -> None:
    day_file = home / "journal" / "2026-11-24.md"
    page = logged_in(browser, server).new_page()
    status = page.get_by_role("status")
    for typed, task in (
        ("Rechnung schreiben bis Freitag", "Rechnung schreiben"),
        ("Lampe kaufen fällig:27.11.2026", "Lampe kaufen"),
        ("Call the printer due:friday", "Call the printer"),
    ):
        page.goto("/tasks")
        page.get_by_label("Add a task").fill(typed)
        page.keyboard.press("Enter")
        expect(status).to_contain_text(f"Saved, due on Friday, 27 November 2026: {task}.")
        written = rf"\n- \[ \] {task} (?:due:|📅 )2026-11-27\n"
        assert re.search(written, day_file.read_text())
        status.get_by_role("button", name="Undo", exact=True).click()
        expect(status).to_contain_text("Took back")
        assert not day_file.exists() or task not in day_file.read_text()
    form = server.post("/new", content="- [ ] Ring the baker due:friday")
    assert "2026-11-27" in text_of(server.client.get(form.headers["location"]))
    assert "\n- [ ] Ring the baker due:2026-11-27\n" in day_file.read_text()
    for typed in ("Fotos vom 4.12. ordnen", "Run on friday 5pm", "Am Morgen laufen"):
        assert server.post("/new", task=typed, back="/tasks").status_code == 303
        assert f"\n- [ ] {typed}\n" in day_file.read_text()


def test_a_new_entry_is_taken_back_on_its_own_page(browser: Browser, server: Served) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/new")
    page.get_by_label("Text", exact=True).fill("A thought too many.")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("status").get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Took back")
    expect(page.get_by_role("heading", name="Today")).to_be_visible()


def test_an_earlier_text_is_brought_back_and_undone(server: Served, home: Path) -> None:
    id = write(server, "The first text.")
    for content in ("The second text.", "The third text."):
        seen = re.search(
            r'name="seen" value="([\w-]+)"', server.client.get(f"/entry/{id}/edit").text
        )
        assert seen
        server.post(f"/entry/{id}/edit", content=content, seen=seen[1])
    page = server.client.get(f"/entry/{id}")
    earlier = text_of(page).partition("Earlier texts")[2]
    assert len(re.findall(r"24 November 2026, \d\d:\d\d:\d\d: before a change", earlier)) == 2
    [_, (where, first)] = forms(page, "Bring this text back")
    number = re.findall(r'name="number" value="(\d)"', page.text)
    assert number == ["1", "0"] and first["number"] == "0"
    for wrong in ({"number": "7"}, {"number": "x"}, {"seen": "0"}):
        assert server.post(where, **first | wrong).status_code == 409
    server.post(where, **first)
    back = server.client.get(f"/entry/{id}")
    assert "The first text." in text_of(back).partition("Earlier texts")[0]
    assert server.post(where, **first).status_code == 409  # it was changed since
    server.post(f"/entry/{id}/restore")
    undone = text_of(server.client.get(f"/entry/{id}"))
    assert "The third text." in undone.partition("Earlier texts")[0]

    note = home / "journal" / "Whole.md"
    old = b"\xef\xbb\xbf---\r\nmood: low\r\n---\r\n# Whole\r\n\r\nold\n"
    note.write_bytes(old)
    edit = server.client.get("/edit?path=Whole.md")
    seen = re.search(r'name="seen" value="([\w-]+)"', edit.text)
    assert seen
    answer = server.client.post(
        "/edit?path=Whole.md",
        data={"csrf": server.csrf(), "seen": seen[1], "text": "# Whole\n\nnew\n"},
    )
    whole = server.client.get(answer.headers["location"])
    [(where, fields)] = forms(whole, "Bring this text back")
    assert server.post(where, **fields).status_code == 303
    assert note.read_bytes() == old


def test_a_deleted_text_can_be_read_before_it_is_restored(server: Served) -> None:
    id = write(server, "A single line.")
    agreed = re.search(r'name="agreed" value="(.*?)"', server.post(f"/entry/{id}/delete").text)
    assert agreed
    server.post(f"/entry/{id}/delete", agreed=html.unescape(agreed[1]))
    row = text_of(server.client.get("/deleted"))
    assert re.search(
        r"deleted on 24 November 2026 at 10:0\d from \S+ Its text A single line. Restore", row
    )


def test_the_days_to_move_a_task_are_folded_on_a_phone(
    browser: Browser, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    rows = "".join(f"- [ ] Call person {n} 📅 2026-11-{n}\n\n" for n in range(10, 16))
    (home / "journal" / "2026-11-09.md").write_text(rows)
    with served(home, SYNAPTIC_NOW="2026-11-24T10:00:00") as server:
        context = logged_in(
            browser,
            server,
            locale="de-DE",
            viewport={"width": 390, "height": 844},
            is_mobile=True,
            has_touch=True,
        )
        page = context.new_page()
        for path in ("/", "/tasks"):
            page.goto(path)
            row = page.locator(".tasks li").first
            expect(row.locator("button.quiet").first).to_be_hidden()
            row.locator(".moves > summary").tap()
            expect(row.get_by_role("button", name="Nächste Woche")).to_be_visible()
        row.get_by_role("button", name="Morgen").tap()
        expect(page.get_by_role("status")).to_contain_text("25. November")
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(page.locator(".tasks button.quiet").first).to_be_visible()
        expect(page.locator(".moves > summary").first).to_be_hidden()
