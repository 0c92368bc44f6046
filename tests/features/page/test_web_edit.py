"""Files of a person edited on the page as they are, and tasks ticked, on the real server."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from homes import open_home
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served, served_to_token

from synaptic import save

DAY = b"""\xef\xbb\xbf# 2026-11-20\r
\r
## 09:00 Walk with Ida  \r
\r
Line one.  \r
- [ ] buy bread\r
\r
\r
## 10:00 Secret\r
\r
<private>\r
- [ ] zorquil\r
</private> words\r
"""
TASKS = """\
# Plan

- [ ] Call Ida 📅 2026-11-20
- [ ] Pay rent 📅 2026-11-26 ^rent
* [/] Read the book ⏳ 2027-03-01\x20\x20
1. [ ] Paint
- TODO mow
- LATER TODO weed
- [ ] Water 🔁 every blue moon
- [ ] twin
- [ ] twin

```
- [ ] in code
```
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("edit") / "home"
    (home / "journal" / "Sub").mkdir(parents=True)
    (home / "vault").mkdir()
    (home / "vault" / "Read.md").write_text("# Read\n\n- [ ] theirs\n")
    (home / "config.toml").write_text(
        f'sources = ["{home / "vault"}"]\nexclude = ["left out.md"]\n'
    )
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW="2026-11-24T10:00:00") as server:
        yield server


def opened(server: Served, path: str, id: str = "") -> dict[str, str]:
    """The form of a file, as a browser would send it unchanged."""
    answer = server.client.get("/edit", params={"path": path, "id": id})
    assert answer.status_code == 200, answer.text
    return fields(answer)


def fields(page: httpx.Response) -> dict[str, str]:
    seen = re.search(r'name="seen" value="(\w*)"', page.text)
    text = re.search(r'<textarea id="text".*?>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert seen and text
    typed = html.unescape(re.sub(r"\r\n?", "\n", text[1]))
    return {"seen": seen[1], "text": typed.replace("\n", "\r\n")}


def sent(server: Served, path: str, id: str = "", **form: str) -> httpx.Response:
    data = {"csrf": server.csrf(), **form}
    return server.client.post("/edit", params={"path": path, "id": id}, data=data)


def take_back(server: Served) -> str:
    """Takes the last tick back by the button that the page shows; returns that page."""
    shown = server.client.get("/tasks").text
    undo = re.search(r'name="run" value="([\w-]+)"', shown)
    assert undo and server.post("/undo", run=undo[1], back="/tasks").status_code == 303
    return shown


def tick(
    server: Served, path: str, line: int, text: str, done: str = "yes", back: str = "/tasks"
) -> httpx.Response:
    data = {"csrf": server.csrf(), "path": path, "line": str(line), "text": text}
    return server.client.post("/tick", data=data | {"done": done, "back": back})


def id_of(server: Served, title: str) -> str:
    page = re.sub("</?mark>", "", server.client.get(f"/search?q={title}").text)
    found = re.search(rf'/entry/([\w-]+)">{title}', page)
    assert found
    return found[1]


@pytest.mark.parametrize(
    "before",
    [
        b"\xef\xbb\xbf---\r\ntags: [home]\r\n---\r\n\r\n# One\r\n\r\nold  \r\n",
        b"# One\r\n\nold\t\nmixed\r\n\r\nend \n",
        b"\n\n# One\n\nold, no end",
        b"# One\rold\r\rlast\n\n\n",
        "# Ünï &amp; <b>\n\nold \u2028 \x0b\x0c ‮ end\n".encode(),
    ],
)
def test_every_byte_outside_of_an_edit_stays(server: Served, home: Path, before: bytes) -> None:
    note = home / "journal" / "Sub" / "One.md"
    note.write_bytes(before)
    form = opened(server, "Sub/One.md")
    assert sent(server, "Sub/One.md", **form).status_code == 303
    assert note.read_bytes() == before
    form["text"] = form["text"].replace("old", "new <&> &amp;")
    assert sent(server, "Sub/One.md", **form).status_code == 303
    assert note.read_bytes() == before.replace(b"old", b"new <&> &amp;")


def test_an_entry_of_a_file_is_edited_alone_and_undone(server: Served, home: Path) -> None:
    day = home / "journal" / "2026-11-20.md"
    day.write_bytes(DAY)
    id = id_of(server, "Walk")
    form = opened(server, day.name, id)
    assert form["text"].startswith("## 09:00 Walk") and form["text"].endswith("bread")
    form["text"] += "\r\nMore.\r\n\r\n"
    answer = sent(server, day.name, id, **form)
    assert answer.headers["location"] == f"/entry/{id}"
    assert day.read_bytes() == DAY.replace(b"bread\r\n", b"bread\r\nMore.\r\n")
    told = server.client.get(f"/entry/{id}").text
    assert "Saved in 2026-11-20.md." in told and "Undo: bring back the text before" in told
    server.post(f"/entry/{id}/restore")
    assert re.sub(rb"<!-- syn:.*?-->\r\n", b"", day.read_bytes()) == DAY
    day.write_bytes(DAY)
    form = opened(server, day.name, id)
    for text, said in (
        (f"{form['text']}\r\n```", "swallow the next entry"),
        (f"{form['text']} <private>x", "is not closed"),
        (" ", "text is empty"),
    ):
        answer = sent(server, day.name, id, **form | {"text": text})
        assert answer.status_code in (400, 403) and said in answer.text
        assert fields(answer)["text"] == text and day.read_bytes() == DAY


def test_no_form_shows_our_comments_and_an_edit_keeps_them(server: Served, home: Path) -> None:
    day = home / "journal" / "2026-11-17.md"
    ids = ("20261117-aaaaaaaa", "20261117-bbbbbbbb")
    blocks = [
        f"## 1{number}:00 Part {number}\n<!-- syn:{id} at=2026-11-17T1{number}:00:00+00:00 h2=0"
        f" pin -->\n\nText {number}.\n"
        for number, id in enumerate(ids)
    ]
    day.write_text("\n".join(blocks))
    server.client.get("/search?q=Part")
    whole = opened(server, day.name)
    alone = opened(server, day.name, ids[1])
    assert "<!--" not in whole["text"] + alone["text"]
    alone["text"] = alone["text"].replace("Part 1", "The second part")
    answer = sent(server, day.name, ids[1], **alone)
    assert answer.headers["location"] == f"/entry/{ids[1]}"
    whole = opened(server, day.name)
    first, second = whole["text"].replace("\r", "").split("\n\n## ")
    whole["text"] = f"## {second}\n{first}\n"
    assert sent(server, day.name, **whole).status_code == 303
    blocks[1] = blocks[1].replace("Part 1", "The second part")
    assert day.read_text() == "\n".join(reversed(blocks))


def test_what_changed_meanwhile_is_shown_beside_and_nothing_typed_is_lost(
    server: Served, home: Path
) -> None:
    note = home / "journal" / "Both.md"
    note.write_text("# Both\n\nFirst.\n")
    mine = opened(server, "Both.md")
    mine["text"] = mine["text"].replace("First.", "Mine.")
    note.write_text("# Both\n\nBy hand.\n")
    answer = sent(server, "Both.md", **mine)
    assert answer.status_code == 409 and note.read_text() == "# Both\n\nBy hand.\n"
    assert "By hand." in answer.text.partition('<form class="composer"')[0]
    assert fields(answer)["text"] == mine["text"]
    note.unlink()
    gone = sent(server, "Both.md", **mine)
    assert gone.status_code == 404 and fields(gone)["text"] == mine["text"]
    note.write_text("# Both\n\nBy hand.\n")
    assert sent(server, "Both.md", **fields(answer)).status_code == 303
    assert note.read_text() == "# Both\n\nMine.\n"


def test_a_section_left_out_of_a_file_can_be_restored(server: Served, home: Path) -> None:
    day = home / "journal" / "2026-11-19.md"
    one, two = "## 08:00 Breakfast\n\nEggs.\n\n", "## 12:00 Lunch\n\nSoup.\n"
    day.write_text(one + two)
    form = opened(server, day.name)
    form["text"] = two.replace("Soup", "Stew")
    sent(server, day.name, **form)
    assert day.read_text() == "## 12:00 Lunch\n\nStew.\n"
    assert "Breakfast" in server.client.get("/deleted").text
    found = re.search(
        r'/entry/([\w-]+)/restore">.*?Restore <span class="hidden">Breakfast',
        server.client.get("/deleted").text,
    )
    assert found
    server.post(f"/entry/{found[1]}/restore")
    assert "Eggs." in day.read_text() and "Stew." in day.read_text()
    assert "Soup." in server.client.get(f"/entry/{id_of(server, 'Lunch')}").text


def test_only_notes_of_the_journal_are_opened_and_private_text_for_the_owner_alone(
    server: Served, home: Path
) -> None:
    with served_to_token(home) as ida:
        refuse_what_is_no_open_note(ida, home)
    secret = id_of(server, "Secret")
    own = opened(server, "2026-11-20.md", secret)
    assert "zorquil" in own["text"] and "<private>" in own["text"]
    own["text"] = own["text"].replace("zorquil", "quilzor")
    assert sent(server, "2026-11-20.md", secret, **own).status_code == 303
    day = home / "journal" / "2026-11-20.md"
    assert day.read_bytes() == DAY.replace(b"zorquil", b"quilzor")
    day.write_bytes(DAY)


def refuse_what_is_no_open_note(server: Served, home: Path) -> None:
    journal = home / "journal"
    (home / "outside.md").write_text("# Outside\n")
    (journal / "link.md").symlink_to(home / "outside.md")
    (journal / "folder").symlink_to(home)
    (journal / ".hidden.md").write_text("# Hidden\n")
    (journal / "left out.md").write_text("# Left out\n")
    (journal / "note.txt").write_text("# Text\n")
    (journal / "2026-11-20.md").write_bytes(DAY)
    (journal / "Old.md").write_bytes("# Ärger\n".encode("latin-1"))
    for path in (
        *("../outside.md", str(home / "outside.md"), "link.md", "folder/outside.md", ""),
        *(".hidden.md", "left out.md", "note.txt", "Sub", "Sub/../Old.md", "none.md"),
    ):
        assert server.client.get("/edit", params={"path": path}).status_code == 404, path
        answer = sent(server, path, text="# Overwritten", seen="")
        assert answer.status_code == 404 and "# Overwritten" in answer.text
        assert tick(server, path, 1, "x").status_code == 404
    for path, said in (
        ("2026-11-20.md", "holds private text"),
        ("Old.md", "not UTF-8 text"),
        ("@vault/Read.md", "read in place"),
    ):
        answer = server.client.get("/edit", params={"path": path})
        assert answer.status_code == 403 and said in answer.text
        assert "<textarea" not in answer.text and "zorquil" not in answer.text
        assert sent(server, path, text="# Overwritten", seen="").status_code == 403
    assert (journal / "2026-11-20.md").read_bytes() == DAY
    secret = id_of(server, "Secret")
    page = server.client.get("/edit", params={"path": "2026-11-20.md", "id": secret}).text
    assert "holds private text" in page and f"/entry/{secret}/open" in page
    for name in ("link.md", "folder"):
        (journal / name).unlink()


def test_a_tick_changes_three_bytes_and_unticking_takes_it_back(
    server: Served, home: Path
) -> None:
    note = home / "journal" / "Plan.md"
    note.write_text(TASKS)
    (home / "journal" / "2026-11-20.md").write_bytes(DAY)

    page = server.client.get("/tasks?later=1").text
    parts = re.sub(r"<[^>]+>", " ", page.partition("<h1>")[2])
    assert re.search(
        r"(?s)Overdue +1.*Call Ida.*Next 7 days +1.*Pay rent.*Later +1.*Read.*No day", parts
    )
    assert "in code" not in page and "zorquil" not in page and "theirs" in page
    assert "Tick: theirs" not in page
    for text, line, old, new in (
        ("Call Ida 📅 2026-11-20", 3, "[ ] Call", "[x] Call"),
        ("Pay rent 📅 2026-11-26 ^rent", 99, "[ ] Pay", "[x] Pay"),
        ("Read the book ⏳ 2027-03-01", 5, "[/] Read", "[x] Read"),
        ("Paint", 6, "[ ] Paint", "[x] Paint"),
        ("mow", 7, "TODO mow", "DONE mow"),
        ("twin", 11, "twin\n- [ ] twin", "twin\n- [x] twin"),
    ):
        note.write_text(TASKS)
        assert tick(server, "Plan.md", line, text).headers["location"] == "/tasks"
        assert note.read_text() == TASKS.replace(old, new)
        assert tick(server, "Plan.md", line, text).status_code == 409  # it is ticked already
        tick(server, "Plan.md", line, text, "no")
        assert note.read_text() == TASKS.replace("[/]", "[ ]" if "Read" in old else "[/]")
    note.write_text(TASKS)
    for text, line, status in (
        ("twin", 99, 409),
        ("Walk", 3, 409),
        ("TODO weed", 8, 403),
        ("Water 🔁 every blue moon", 9, 403),
        ("in code", 14, 409),
    ):
        assert tick(server, "Plan.md", line, text).status_code == status
    refused = tick(server, "Plan.md", 9, "Water 🔁 every blue moon").text
    assert "its rule" in refused and "is not one that is understood here." in refused
    assert "its state LATER is not one of" in tick(server, "Plan.md", 8, "TODO weed").text
    assert note.read_text() == TASKS
    # the journal has tasks of Obsidian's plugin
    (home / "journal" / "Done.md").write_text("- [x] Swept ✅ 2026-11-01\n")
    tick(server, "Plan.md", 4, "Pay rent 📅 2026-11-26 ^rent")
    dated = "- [x] Pay rent 📅 2026-11-26 ✅ 2026-11-24 ^rent"
    assert note.read_text() == TASKS.replace("- [ ] Pay rent 📅 2026-11-26 ^rent", dated)
    take_back(server)
    assert note.read_text() == TASKS
    assert tick(server, "2026-11-20.md", 6, "buy bread").status_code == 303
    dated_day = DAY.replace(b"[ ] buy bread", "[x] buy bread ✅ 2026-11-24".encode())
    assert (home / "journal" / "2026-11-20.md").read_bytes() == dated_day
    for back, done in (("https://example.org/", "yes"), ("//example.org", "no")):
        answer = tick(server, "Plan.md", 6, "Paint ✅ 2026-11-24", done, back)
        answer = tick(server, "Plan.md", 6, "Paint", done, back) if done == "yes" else answer
        assert answer.headers["location"] == "/tasks"


RECURRING = """\
# Routine\r
\r
- [ ] Water 🔁 every week 📅 2026-11-20 ^water\r
  - with rain water\r
- [ ] Rent 🔁 every blue moon 📅 2026-11-20\r
- [/] Last 🔁 every 2 days when done ⏳ 2026-11-01"""
REPEATED = """\
- TODO Feed the cat
  SCHEDULED: <2026-11-20 Fri ++1w>
  :LOGBOOK:
  * State "DONE" from "TODO" [2026-11-13 Fri 08:00]
  :END:
- TODO Feed the dog
  DEADLINE: <2026-11-20 Fri .+1d>
"""


def test_the_last_change_is_taken_back_and_done_again_by_one_button(
    server: Served, home: Path
) -> None:
    note = home / "journal" / "Routine.md"
    note.write_text("# Routine\n\n- [ ] Water\n")
    assert tick(server, "Routine.md", 3, "Water").status_code == 303
    assert "Undo the last change" in server.client.get("/").text
    assert server.post("/undo").status_code == 303
    assert "- [ ] Water" in note.read_text()
    shown = server.client.get("/").text
    assert re.search(r"Took back: \d+ \w+ \d{4} \d\d:\d\d tick: Water \(Routine\.md\)\.", shown)
    again = re.search(r'name="run" value="(\w+)"', shown)
    assert again and server.post("/undo", run=again[1]).status_code == 303
    assert "- [x] Water" in note.read_text()


def test_tasks_that_repeat_are_ticked_as_their_own_programs_do(
    server: Served, home: Path
) -> None:
    note = home / "journal" / "Routine.md"
    note.write_bytes(RECURRING.encode())
    water = "- [ ] Water 🔁 every week 📅 2026-11-20 ^water"
    done = "- [x] Water 🔁 every week 📅 2026-11-20 ✅ 2026-11-24 ^water"
    assert tick(server, "Routine.md", 3, water[6:]).status_code == 303
    after = RECURRING.replace(water, f"- [ ] Water 🔁 every week 📅 2026-11-27\r\n{done}")
    assert note.read_bytes() == after.encode()
    take_back(server)
    assert note.read_bytes() == RECURRING.encode()

    last = "Last 🔁 every 2 days when done ⏳ 2026-11-01"
    assert tick(server, "Routine.md", 6, last).status_code == 303
    following = (
        f"- [ ] Last 🔁 every 2 days when done ⏳ 2026-11-26\r\n- [x] {last} ✅ 2026-11-24"
    )
    assert note.read_bytes() == RECURRING.replace(f"- [/] {last}", following).encode()

    page = server.client.get("/tasks").text
    assert "Tick: Rent" not in page and "<code>every blue moon</code> is not one" in page
    note.unlink()

    graph = home / "journal" / "Graph.md"
    graph.write_text(REPEATED)
    assert tick(server, "Graph.md", 1, "Feed the cat").status_code == 303
    row = '  * State "DONE" from "TODO" [2026-11-24 Tue 10:0'
    moved = REPEATED.replace("2026-11-20 Fri ++1w", "2026-11-27 Fri ++1w")
    text = re.sub(r"(10:0)\d\]\n", r"\1", graph.read_text())
    assert text == moved.replace("  :END:", f"{row}  :END:")
    assert "due again on" in take_back(server)
    assert graph.read_text() == REPEATED
    assert tick(server, "Graph.md", 6, "Feed the dog").status_code == 303
    assert "DEADLINE: <2026-11-25 Wed .+1d>" in graph.read_text()
    graph.unlink()


@pytest.mark.parametrize("javascript", [True, False])
def test_a_person_edits_and_ticks_in_a_browser(
    browser: Browser, server: Served, home: Path, javascript: bool
) -> None:
    note = home / "journal" / f"Garden {javascript}.md"
    note.write_text("# Beds\n\n- [ ] beans\n- [ ] peas\n")
    page = logged_in(browser, server, java_script_enabled=javascript).new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(f"/entry/{id_of(server, 'Beds')}")
    page.get_by_role("link", name="Edit", exact=True).click()
    words = "# Beds\n\n- [ ] beans\n- [ ] peas new"
    text = page.get_by_role("textbox", name="Text")
    expect(text).to_be_focused()
    if javascript:
        page.keyboard.press("d")  # single keys of the page are text here
        page.keyboard.press("Escape")
        page.keyboard.press("n")  # the text is not saved, so no key leaves it
        expect(page.locator("[data-key=n]")).not_to_be_focused()
    text.fill(words)
    if javascript:
        page.keyboard.press("Control+Enter")
    else:
        page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text(f"Saved in {note.name}.")
    assert note.read_text() == "# Beds\n\n- [ ] beans\n- [ ] peas new\n"
    page.goto("/tasks")
    box = page.get_by_role("button", name="Tick: beans")
    if javascript:
        box.focus()
        page.keyboard.press("x")
    else:
        box.click()
    expect(page.get_by_role("status")).to_contain_text("Ticked: beans.")
    assert "- [x] beans" in note.read_text()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Took back")
    assert "- [ ] beans" in note.read_text()
    assert not said  # the CSP has refused nothing
    note.unlink()


def test_a_session_that_only_reads_edits_and_ticks_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    note = home / "journal" / "Mine.md"
    note.write_text("# Mine\n\n- [ ] stays\n")
    (home / "journal" / "Templates").mkdir()
    (home / "journal" / "Templates" / "Own.md").write_text("Own")
    with served(home, "--read-only") as server:
        assert server.client.get("/templates").status_code == 204
        assert server.client.get("/template?name=Own").status_code == 403
        for path in ("/edit?path=Mine.md", "/tasks"):
            page = server.client.get(path)
            assert page.status_code == 200 and "<textarea" not in page.text
            assert re.findall(r'action="(.*?)"', page.text) == ["/logout"]
        for path in ("/edit?path=Mine.md", "/tick", "/search/saved"):
            assert server.client.post(path, data={"text": "x"}).status_code == 403
    assert note.read_text() == "# Mine\n\n- [ ] stays\n"


@pytest.mark.sweep("fields_shown")
@pytest.mark.parametrize(
    ("text", "title", "fields_shown"),
    [
        ("# The keel\n\nIt is of oak.", "", 0),
        ("### The keel #wood\n\nIt is of oak.", "", 0),
        ("The keel\n========\n\nIt is of oak.", "", 0),
        ("# The keel\n\nIt is of oak.", "The boat", 1),
        ("The keel is of oak.\n\nIt is old.", "", 1),
    ],
)
def test_a_title_has_one_home_in_the_form_of_an_entry(
    browser: Browser, tmp_path: Path, text: str, title: str, fields_shown: int
) -> None:
    with open_home(tmp_path / "home") as ws:
        id = save(ws, text, title=title or None).id
    [note] = (tmp_path / "home" / "journal").glob("*.md")
    before = note.read_bytes()
    with served(tmp_path / "home") as server:
        for change in ("", "Mended. "):
            page = logged_in(browser, server).new_page()
            page.goto(f"/entry/{id}/edit")
            field = page.locator("#title")
            assert field.count() == fields_shown
            assert not title or field.input_value() == title
            box = page.locator(".box textarea")
            assert box.input_value().strip() == text
            box.press("ControlOrMeta+End")
            box.press_sequentially(f" {change}".rstrip())
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_role("status")).to_be_visible()
            after = before.rstrip() + b" Mended.\n" if change else before
            assert note.read_bytes() == after
        if not fields_shown:  # and the heading is the title
            page = logged_in(browser, server).new_page()  # a browser without drafts
            page.goto(f"/entry/{id}/edit")
            box = page.locator(".box textarea")
            box.fill(box.input_value().replace("keel", "rudder"))
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_role("status")).to_be_visible()
            expect(page.get_by_role("heading", level=1)).to_contain_text("The rudder")
            assert note.read_bytes() == after.replace(b"keel", b"rudder")
