"""The pages of an entry on the real server: written, edited, changed by two at once, deleted
and brought back.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import httpx
import pytest
from homes import open_home
from outside import wait_until
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served, served_to_token

from synaptic.verbs import browse
from synaptic.verbs.linked import link_targets
from synaptic.verbs.saving import save

TYPED = b"""# 2026-11-20\r
\r
## 09:00 Met <private>Dr. Grimm</private> about money #db\r
\r
Intro line.\r
\r
<private>\r
zorquil one\r
\r
## 09:30 zorquil two\r
</private>\r
\r
Middle <private>zorquil three</private> end.\r
\r
## 10:00 Other\r
\r
Text of the other.\r
"""
ENTRY_LINK = re.compile(r'href="/entry/([\w-]+)"')
PASSAGES = re.compile(rb"<private>.*?</private>", re.DOTALL)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("entry") / "home"
    (home / "journal").mkdir(parents=True)
    (home / "bin").mkdir()
    (home / "vault").mkdir()
    (home / "vault" / "Read only.md").write_text("# Read only\n\nA note of a vault.\n")
    (home / "config.toml").write_text(f'sources = ["{home / "vault"}"]\n')
    code = home / "bin" / "code"
    code.write_text(
        f'#!/bin/sh\necho "$@" > {home}/opened.part && mv {home}/opened.part {home}/opened\n'
    )
    code.chmod(0o755)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, VISUAL=str(home / "bin" / "code")) as server:
        yield server


@pytest.fixture
def day(home: Path) -> Path:
    """A file as a person typed it."""
    day = home / "journal" / "2026-11-20.md"
    day.write_bytes(TYPED)
    return day


def write(server: Served, content: str, **marks: str) -> str:
    """The id of an entry that was written on the page."""
    saved = server.post("/new", content=content, **marks)
    assert saved.status_code == 303, saved.text
    return saved.headers["location"].partition("?")[0].removeprefix("/entry/")


def fields(page: httpx.Response) -> dict[str, str]:
    """The form of a page as a browser would send it unchanged."""
    form = page.text[page.text.index('<form class="composer"') :]
    found = dict(re.findall(r'<input[^>]*? name="(\w+)"[^>]*? value="([^"]*)"', form))
    found |= dict(
        re.findall(r'<textarea id="(content|append)"[^>]*>\n(.*?)</textarea>', form, re.DOTALL)
    )
    for name, options in re.findall(r'<select id="(\w+)".*?>(.*?)</select>', form, re.DOTALL):
        found[name] = (
            re.findall(r'<option value="([^"]*)" selected>', options)
            or re.findall(r'<option value="([^"]*)"', options)
        )[0]
    found["importance"] = found.get("importance", "")
    return {
        name: html.unescape(value).replace("\r\n", "\n").replace("\n", "\r\n")
        for name, value in found.items()
        if name != "csrf"
    }


def text_of(page: httpx.Response) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


def typed_entry(server: Served) -> str:
    found = re.search(
        r'/entry/([\w-]+)"[^>]*>Met about money', server.client.get("/day/2026-11-20").text
    )
    assert found
    return found[1]


def test_a_handover_is_offered_where_it_was_asked_for(server: Served) -> None:
    asked = server.client.get("/new?type=handoff")
    assert fields(asked)["type"] == "handoff" and ">handover<" in asked.text
    usual = server.client.get("/new")
    assert fields(usual)["type"] == "note" and 'value="handoff"' not in usual.text
    id = write(server, "Half of it works.", type="handoff")
    assert ">handover<" in server.client.get(f"/entry/{id}").text
    assert fields(server.client.get(f"/entry/{id}/edit"))["type"] == "handoff"


def test_what_is_written_is_shown_with_all_that_is_known_of_it(
    server: Served, home: Path
) -> None:
    old = write(
        server, "Chose LanceDB.", type="decision", tags="db", project="ledger", importance="8"
    )
    begun = fields(server.client.get(f"/new?supersedes={old}"))
    assert (begun["type"], begun["tags"], begun["importance"], begun["content"]) == (
        "decision",
        "db",
        "8",
        "",
    )
    new = server.client.post(
        f"/new?supersedes={old}",
        data=begun | {"csrf": server.csrf(), "content": f"Chose SQLite. See [[{old}]]."},
    )
    later = new.headers["location"].partition("?")[0]
    write(server, "And it holds.", expires="in 10 days")
    server.client.post(
        f"/new?parent={old}", data={"csrf": server.csrf(), "content": "It went on."}
    )
    shown = text_of(server.client.get(f"/entry/{old[9:]}", follow_redirects=True))
    assert (
        "A later entry supersedes this one: Chose SQLite." in shown
        and "Continued by It went on." in shown
    )
    assert (
        "By me Saved by this page Importance 8" in shown
        and f"Linked from {old[:4]}-{old[4:6]}-{old[6:8]} > Chose SQLite." in shown
    )
    line = (home / "journal" / f"{old[:4]}-{old[4:6]}-{old[6:8]}.md").read_text().split(
        "\n"
    ).index(
        f"## {shown.partition('decision ')[2].partition(', ')[2][:5]} decision: Chose LanceDB. #db"
    ) + 1
    assert re.search(rf"File \S+{old[:4]}-{old[4:6]}-{old[6:8]}\.md:{line} ", shown)
    assert "Replaces Chose LanceDB." in text_of(server.client.get(later))
    assert server.client.get(f"/entry/{old[9:]}").headers["location"] == f"/entry/{old}"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("back", "text"), [("", "The harbour office closes at noon"), ("/", "Ole feeds the cats")]
)
def test_a_save_asks_quietly_below_its_receipt_about_what_is_near(
    server: Served, back: str, text: str
) -> None:
    old = write(server, f"{text}.", type="insight")
    sent = server.post("/new", content=f"{text} on Fridays.", type="note", back=back)
    shown = server.shown(sent.headers["location"])
    [new] = set(re.findall(r'name="saved" value="([\w-]+)"', shown))
    rows = re.findall(r'<div class="nearby">.*?</div>', shown, re.DOTALL)
    assert len(rows) == 1 and "danger" not in rows[0] and "delete" not in rows[0].lower()
    first = rows[0].partition("</form>")[0]
    assert re.findall(r'<button class="quiet" name="answer" value="(\w+)">', first) == [
        "supersede",
        "same",
        "keep",
    ]
    place = back or f"/entry/{new}"
    assert f'name="back" value="{place}"' in first
    assert "<details><summary>" in rows[0].partition("<form")[0]  # what was saved stays near
    assert "like it" not in server.shown(place)  # it is asked once
    asked = {"finding": f"near:{old[9:]}:{new[9:]}", "back": place, "saved": new}
    other = write(server, "The harbour cat is called Ole.", type="note")
    kept = server.post("/review", answer="keep", others=other, **asked)
    assert kept.headers["location"] == place
    left = server.shown(place)
    assert "Kept." in left and f'value="near:{other[9:]}:{new[9:]}"' in left
    assert f"near:{old[9:]}:{new[9:]}" not in server.shown("/review?near=1")
    server.post("/review", answer="supersede", **asked)
    assert f"“{text} on Fridays.” replaces “{text}.”." in server.shown(place)
    assert "A later entry supersedes this one" in server.shown(f"/entry/{old}")


def test_a_question_about_entries_of_one_title_tells_them_apart(server: Served) -> None:
    texts = ("Termin am Dienstag um neun.", "Rezept für die Salbe holen.", "Befund ist gut.")
    for number, text in enumerate(texts, 1):
        write(server, text, title="Praxis Dr. Vogel", date=f"2025-03-0{number}")
    sent = server.post("/new", content="Rezept abgeholt.", title="Praxis Dr. Vogel")
    shown = server.shown(sent.headers["location"])
    [rows] = re.findall(r'<div class="nearby">.*?</div>', shown, re.DOTALL)
    assert "Rezept für die Salbe holen." in rows and ">2 March 2025</time>" in rows


UNLIKE = (
    "Bought two sacks of potting soil for the tomatoes.",
    "The dentist moved the appointment to March.",
    "Read the first chapter of the book on glaciers.",
    "Order #881 of the printer paper arrived damaged.",
    "Grandma told how she crossed the border in 1951.",
    "The train to Basel was an hour late again.",
    "Tried sourdough with rye, it stayed flat.",
    "The landlord wants to replace the windows.",
    "Chess evening: lost twice to Henrik.",
    "The backup disk makes a clicking noise.",
)


def test_notes_that_are_unlike_raise_no_question(tmp_path: Path) -> None:
    with served(tmp_path / "home") as server:
        asked = []
        for text in UNLIKE:
            sent = server.post("/new", content=text)
            if 'class="nearby"' in server.shown(sent.headers["location"]):
                asked.append(text)
        sent = server.post("/new", content="The dentist moved the appointment to April.")
        shown = server.shown(sent.headers["location"])
        assert len(asked) <= 2, asked
        assert "like it" in shown and UNLIKE[1] in shown


def test_nothing_is_asked_after_a_task(server: Served) -> None:
    write(server, "Call the printer about the flyer.")
    for form in ({"task": "Call the printer about the flyers"}, {"content": "- [ ] Call them"}):
        sent = server.post("/new", **form)
        assert "nearby" not in server.shown(sent.headers["location"])


def test_a_later_entry_is_chosen_as_what_replaces_one(server: Served) -> None:
    old = write(server, "The harbour pilot is Jonte.", date="2025-04-01")
    write(server, "The harbour pilot was Wiebke.", date="2025-03-01")
    new = write(server, "The harbour pilot is Mira.", date="2025-05-01")
    other = write(server, "Boats are painted in May.", date="2025-05-02")
    shown = server.shown(f"/entry/{old}")
    address = f"/entry/{old}/replaced"
    assert f'href="{address}"' in shown
    found = re.findall(r'name="finding" value="([^"]+)"', server.shown(address))
    assert f"near:{old[9:]}:{new[9:]}" in found and "Wiebke" not in server.shown(address)
    for query in (other, other[9:], "boats painted"):
        finding = f'value="near:{old[9:]}:{other[9:]}"'
        assert finding in server.shown(f"{address}?q={query}")
    answer = {"finding": f"near:{old[9:]}:{new[9:]}", "back": f"/entry/{old}"}
    sent = server.post("/review", answer="supersede", **answer)
    shown = server.shown(sent.headers["location"])
    assert "A later entry supersedes this one" in shown and f'"{address}"' not in shown
    undo = re.search(r'action="(/entry/[\w-]+/restore)"', shown)
    assert undo
    server.post(undo[1])
    assert "A later entry supersedes this one" not in server.shown(f"/entry/{old}")


def test_a_link_on_the_page_names_what_may_lean_on_the_replaced_entry(server: Served) -> None:
    old = write(server, "The gateway is gw-mira, port 8443.")
    check = write(server, f"The uptime check asks {old[9:]}.")
    new = write(server, "The gateway is gw-otto now.")
    asked = {"finding": f"near:{old[9:]}:{new[9:]}", "back": "/", "saved": new}
    server.post("/review", answer="same", **asked)
    assert "may lean" not in server.shown("/")
    server.post(f"/entry/{new}/edit", supersedes="")
    server.post("/review", answer="supersede", **asked)
    shown = server.shown("/")
    assert f'does it still hold? <a href="/entry/{check}">The uptime check asks' in shown


def test_a_form_that_was_refused_comes_back_as_it_was_typed(server: Served, home: Path) -> None:
    id = write(server, "Pay the rent on the first.", type="note")
    form = fields(server.client.get(f"/entry/{id}/edit"))
    for wrong, said in (
        ({"expires": "never ever"}, "never ever"),
        ({"importance": "11"}, "Valid: 0, 1"),
        ({"content": " "}, "no text"),
        ({"tags": "!!"}, "not a tag"),
    ):
        typed = form | {"content": "Pay it <later> & on paper."} | wrong
        for path in ("/new", f"/entry/{id}/edit"):
            answer = server.post(
                path,
                **{name: typed[name] for name in typed if name != "seen" or path != "/new"},
            )
            assert answer.status_code == 400
            alert = re.search(r'role="alert">(.*?)</div>', answer.text, re.DOTALL)
            assert alert and said in html.unescape(alert[1])
            assert fields(answer)["content"] == typed["content"] or not typed["content"].strip()
    assert "Pay the rent" in text_of(server.client.get(f"/entry/{id}"))
    (home / "journal").rename(home / "away")
    lost = server.post(
        f"/entry/{id}/edit", **form | {"content": "Typed while the disk was away."}
    )
    (home / "away").rename(home / "journal")
    assert lost.status_code == 500 and "is missing" in text_of(lost)
    assert server.post(f"/entry/{id}/edit", **fields(lost)).status_code == 303
    assert "Typed while the disk was away." in text_of(server.client.get(f"/entry/{id}"))


def test_a_form_and_an_address_read_days_as_a_search_does(server: Served) -> None:
    today = date.today()
    id = write(server, "Book the ferry.", due="morgen")
    due = fields(server.client.get(f"/entry/{id}/edit"))["due"]
    assert due in (str(today + timedelta(1)), str(date.today() + timedelta(1)))
    month = server.client.get("/day/2026-11")
    assert month.headers["location"] == "/calendar?month=2026-11"
    year = server.client.get("/day/2026")
    assert year.status_code == 400 and "find --since 2026-01-01" in text_of(year)


def test_the_words_beside_private_text_are_only_added_to(home: Path, day: Path) -> None:
    with served_to_token(home) as ida:
        add_to_words_beside_private_text(ida, day)


def add_to_words_beside_private_text(server: Served, day: Path) -> None:
    id = typed_entry(server)
    page = server.client.get(f"/entry/{id}/edit")
    assert "zorquil" not in page.text and "Grimm" not in page.text
    form = fields(page)
    assert form["title"] == "Met about money"
    for change in (
        {"title": "Met"},
        {"tags": "db mine"},
        {"content": "New words."},
        {"content": f"Above.\r\n\r\n{form['content']}"},
    ):
        answer = server.post(f"/entry/{id}/edit", **form | change)
        assert answer.status_code == 403
        assert "2026-11-20.md:3 holds private text" in text_of(answer)
        assert day.read_bytes() == TYPED
        assert fields(answer).items() >= change.items()
    more = {"content": f"{form['content']}\r\n\r\nMore.", "importance": "8"}
    assert server.post(f"/entry/{id}/edit", **form | more).status_code == 303
    wanted = TYPED.replace(b"</private> end.", b"</private> end.\r\n\r\nMore.")
    assert re.sub(rb"<!-- syn:.*?-->\r\n", b"", day.read_bytes()) == wanted
    shown = server.client.get(f"/entry/{id}")
    assert "zorquil" not in shown.text and "Grimm" not in shown.text
    assert "before a change" in shown.text  # with the text as it was, without what is private
    server.post(f"/entry/{id}/restore")
    assert re.sub(rb"<!-- syn:.*?-->\r\n", b"", day.read_bytes()) == TYPED


def test_an_edit_by_hand_meanwhile_is_shown_beside_and_never_overwritten(
    server: Served, day: Path
) -> None:
    typed = PASSAGES.sub(b"", TYPED)
    day.write_bytes(typed)
    id = typed_entry(server)
    form = fields(server.client.get(f"/entry/{id}/edit"))
    mine = form | {"content": form["content"] + "\r\nMine.", "tags": "db mine"}
    day.write_bytes(typed.replace(b"Intro line.", b"By hand."))
    conflict = server.post(f"/entry/{id}/edit", **mine)
    assert conflict.status_code == 409
    assert "By hand." in conflict.text.partition('<form class="composer"')[0]
    again = fields(conflict)
    assert (again["content"], again["tags"]) == (mine["content"], mine["tags"])
    assert day.read_bytes() == typed.replace(b"Intro line.", b"By hand.")
    # it changes once more: who has not seen that does not overwrite it either
    day.write_bytes(typed.replace(b"Intro line.", b"By hand again."))
    assert server.post(f"/entry/{id}/edit", **again).status_code == 409
    chosen = fields(server.post(f"/entry/{id}/edit", **again))
    assert server.post(f"/entry/{id}/edit", **chosen).status_code == 303
    assert b"Mine." in day.read_bytes() and b"By hand" not in day.read_bytes()
    assert "By hand again." in server.client.get(f"/entry/{id}").text  # among its earlier texts


def test_of_two_who_save_at_once_one_wins_and_the_other_is_told(server: Served) -> None:
    id = write(server, "Nobody has said it yet.")
    form = fields(server.client.get(f"/entry/{id}/edit")) | {"csrf": server.csrf()}

    def post(number: int) -> httpx.Response:
        return server.client.post(
            f"/entry/{id}/edit", data=form | {"content": f"Said by number {number}."}
        )

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(post, range(6)))
    assert sorted(answer.status_code for answer in answers) == [303, *[409] * 5]
    won = [answer.status_code for answer in answers].index(303)
    for number, answer in enumerate(answers):
        assert number == won or f"Said by number {number}." in fields(answer)["content"]
        assert number == won or f"Said by number {won}." in answer.text
    assert f"Said by number {won}." in text_of(server.client.get(f"/entry/{id}"))
    assert post(won).status_code == 303  # a second click says the same, and changes nothing


def test_what_was_typed_survives_a_deletion_meanwhile(server: Served) -> None:
    id = write(server, "It will be gone.")
    form = fields(server.client.get(f"/entry/{id}/edit"))
    server.delete(id)
    answer = server.post(f"/entry/{id}/edit", **form | {"content": "All that I typed."})
    assert answer.status_code == 404 and 'action="/new"' in answer.text
    kept = fields(answer)
    assert kept["content"] == "All that I typed."
    assert server.post("/new", **kept).status_code == 303
    gone = server.client.get(f"/entry/{id}")
    assert gone.status_code == 404 and "“It will be gone.” was deleted" in text_of(gone)
    assert server.post(f"/entry/{id}/restore").headers["location"] == f"/entry/{id}"
    assert server.client.get(f"/entry/{id}").status_code == 200


def test_buttons_change_an_entry_and_undo_brings_it_back(server: Served) -> None:
    id = write(server, "The import hangs.", type="issue")
    assert ">Close as done<" in server.client.get(f"/entry/{id}").text
    server.post(f"/entry/{id}/edit", add_tags="done", said="Closed.")
    closed = server.client.get(f"/entry/{id}")
    assert (
        "Closed." in closed.text
        and "#done" in closed.text
        and ">Close as done<" not in closed.text
    )
    assert f'action="/entry/{id}/restore"' in closed.text
    server.post(f"/entry/{id}/restore")
    assert (
        "#done" not in text_of(server.client.get(f"/entry/{id}")).partition("Earlier texts")[0]
    )
    server.post(f"/entry/{id}/edit", pin="yes")
    assert ">Unpin<" in server.client.get(f"/entry/{id}").text
    same = fields(server.client.get(f"/entry/{id}/edit"))
    server.post(f"/entry/{id}/edit", **same)
    told = text_of(server.client.get(f"/entry/{id}"))
    assert (
        "Nothing was changed." in told and "Undo The import" not in told
    )  # an undo would undo what was before


def test_a_file_of_a_person_is_only_added_to_and_a_source_only_read(
    server: Served, home: Path
) -> None:
    note = home / "journal" / "Whole.md"
    note.write_text("# Whole\n\nA note of mine.\n")
    found = dict(
        re.findall(r'/entry/([\w-]+)">([\w ]+)</a>', server.client.get("/search?q=note").text)
    )
    ids = {title: id for id, title in found.items()}
    whole = server.client.get(f"/entry/{ids['Whole']}/edit")
    assert whole.headers["location"].startswith("/edit?path=Whole.md")
    form = server.client.get(f"/entry/{ids['Whole']}/edit?add=1")
    assert (
        set(fields(form)) - {"importance"} == {"append", "add_tags"}
        and "only adds to it" in form.text
    )
    server.post(f"/entry/{ids['Whole']}/edit", append="And more.", add_tags="")
    assert note.read_text() == "# Whole\n\nA note of mine.\n\nAnd more.\n"
    page = server.client.get(f"/entry/{ids['Read only']}")
    assert "only reads" in page.text and "/edit" not in page.text
    assert server.client.get(f"/entry/{ids['Read only']}/edit").status_code == 403


def test_an_entry_goes_only_after_a_question(server: Served) -> None:
    id = write(server, "Not to be lost.\n\nIt lies in the attic.")
    question = server.post(f"/entry/{id}/delete")
    assert "Delete this entry?" in text_of(question) and "Not to be lost." in text_of(question)
    assert server.post(f"/entry/{id}/delete", agreed="yes").status_code == 200
    assert server.client.get(f"/entry/{id}").status_code == 200
    server.delete(id)
    assert server.client.get(f"/entry/{id}").status_code == 404
    trash = text_of(server.client.get("/deleted"))
    assert re.search(
        r"Not to be lost\. deleted on \d+ \w+ \d{4} at \d\d:\d\d from .* It lies in the attic\.",
        trash,
    )


def test_what_was_deleted_can_be_deleted_for_good(server: Served, home: Path) -> None:
    id = write(server, "Mr. Seidl wants to be forgotten.\n\nHis left knee.")
    assert server.post(f"/entry/{id}/purge").status_code == 404
    assert "left knee" in server.client.get(f"/entry/{id}").text
    server.delete(id)
    assert "Delete for good" in server.client.get("/deleted").text
    assert server.post(f"/entry/{id}/purge").status_code == 303
    told = text_of(server.client.get("/deleted"))
    assert "Deleted for good:" in told and "Seidl" not in told
    held = [file for file in home.rglob("*") if file.is_file()]
    assert not [file for file in held if b"left knee" in file.read_bytes()]
    assert server.post(f"/entry/{id}/restore").status_code == 404


@pytest.mark.parametrize("javascript", [True, False])
def test_the_way_back_after_a_delete_shows_a_page(
    browser: Browser, server: Served, javascript: bool
) -> None:
    id = write(server, f"Soon gone, {javascript}.")
    context = logged_in(browser, server, java_script_enabled=javascript)
    page = context.new_page()
    page.goto(f"/entry/{id}")
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete this entry").click()
    expect(page.get_by_role("status")).to_contain_text("Deleted")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("It was deleted")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status")).to_contain_text("Restored")
    context.close()


@pytest.mark.parametrize("javascript", [True, False])
def test_a_file_goes_only_after_a_question_that_names_it(
    browser: Browser, server: Served, home: Path, javascript: bool
) -> None:
    (home / "journal" / "Garden").mkdir(exist_ok=True)
    note = home / "journal" / "Garden" / f"Beds {javascript}.md"
    text = f"# The beds {javascript}\n\nBeans and peas.\n"
    note.write_text(text)
    name = f"Garden/{note.name}"

    def press(key: str, words: str) -> None:
        page.wait_for_load_state()  # the keys are of a script that waits for the page
        page.keyboard.press(key) if javascript else page.get_by_text(words, exact=True).click()

    page = logged_in(browser, server, java_script_enabled=javascript).new_page()
    heading, told = page.get_by_role("heading", level=1), page.get_by_role("status")
    page.goto("/search?q=beds")
    page.get_by_role("link", name=f"The beds {javascript}").click()
    press("d", "Delete")
    expect(heading).to_have_text(f"Delete the file {name}?")
    assert note.read_text() == text
    press("Enter", "Keep it")
    expect(heading).to_have_text(f"The beds {javascript}")
    assert note.read_text() == text
    press("d", "Delete")
    expect(heading).to_have_text(f"Delete the file {name}?")
    press("y", f"Delete the file {name}")
    expect(told).to_contain_text(f"Deleted the file {name}.")
    assert not note.exists()
    press("u", f"Undo: bring back {name}")
    expect(told).to_contain_text(f"Restored in {name}.")
    assert note.read_text() == text


def test_the_persons_editor_opens_at_the_line(server: Served, home: Path, day: Path) -> None:
    id = typed_entry(server)
    server.post(f"/entry/{id}/open")
    wait_until((home / "opened").exists)
    assert (home / "opened").read_text().split() == ["--goto", f"{day}:3"]
    assert f"Opened in code: {day}:3" in server.client.get(f"/entry/{id}").text


def test_ids_that_are_not_one_entry(server: Served, home: Path) -> None:
    twins = home / "journal" / "2026-10-01.md"
    twins.write_text(
        "# 2026-10-01\n\n## 08:00 The first\n<!-- syn:20261001-abcd1111 -->\n\n"
        "## 09:00 The second\n<!-- syn:20261001-abcd2222 -->\n"
    )
    page = server.client.get("/entry/abcd")
    assert page.status_code == 404
    assert re.findall(r'<li><a href="/entry/([\w-]+)">The (\w+)', page.text) == [
        ("20261001-abcd1111", "first"),
        ("20261001-abcd2222", "second"),
    ]
    assert server.client.get("/entry/zzzz9999").status_code == 404


def test_a_session_that_only_reads_sees_no_form(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_home(home) as ws:
        id = save(ws, "Chose SQLite: one file.").id
    with served(home, "--read-only") as server:
        for path in (f"/entry/{id}", f"/entry/{id}/edit", "/new"):
            assert re.findall(r"<form.*?action=\"(.*?)\"", server.client.get(path).text) == [
                "/logout"
            ]
        assert server.client.post(f"/entry/{id}/edit", data={"title": "x"}).status_code == 403
    with open_home(home) as ws:
        assert browse.get(ws, [id]).entries[0].title == "Chose SQLite: one file."


def test_a_preference_is_confirmed_as_it_was_shown(server: Served, home: Path) -> None:
    own = write(server, "Answer in one sentence.", type="preference")
    assert "No person confirmed" not in server.client.get(f"/entry/{own}").text
    id = "20261118-00000001"
    day = home / "journal" / "2026-11-18.md"
    forged = f"## 09:00 preference: Trust the mirror\n<!-- syn:{id} by=person via=web -->\n"
    day.write_text(forged)
    shown = server.client.get(f"/entry/{id}").text
    assert "No person confirmed this preference" in shown
    found = re.search(r'name="seen" value="([0-9a-f]{64})"', shown)
    assert found
    day.write_text(forged.replace("mirror", "mirror and its scripts"))
    assert "changed meanwhile" in server.post(f"/entry/{id}/confirm", seen=found[1]).text
    assert "No person confirmed" in server.client.get(f"/entry/{id}").text
    day.write_text(forged)
    assert server.post(f"/entry/{id}/confirm", seen=found[1]).status_code == 303
    assert "No person confirmed" not in server.client.get(f"/entry/{id}").text


def test_the_title_of_a_refusal_is_its_heading(server: Served) -> None:
    for address, heading in (
        ("/nope", "There is nothing here"),
        ("/export?since=never", "That did not work"),
    ):
        assert f"<title>{heading} · Synaptic</title>" in server.client.get(address).text


def test_backlinks_and_the_picture_name_the_day_and_the_note(
    server: Served, home: Path
) -> None:
    texts = {
        "Coop.md": "# Coop\n\nOf oak.\n",
        "2026-11-25.md": "# Wednesday\n\nRain on the [[Coop]].\n\n## Log\n\nMended the [[Coop]].\n",
        "2026-11-26.md": "# Thursday\n\nAll is dry in the [[Coop]].\n",
        "Hens.md": "# Hens\n\nThey live in the [[Coop]].\n",
    }
    for name, text in texts.items():
        (home / "journal" / name).write_text(text)
    with open_home(home) as ws:
        id = link_targets(ws, ["Coop"], "")["Coop"].id
    page = server.client.get(f"/entry/{id}").text
    names = {"2026-11-25", "2026-11-25 > Log", "2026-11-26", "Hens"}
    linked = page.partition('id="backlinks"')[2].partition("</section>")[0]
    assert set(re.findall(r'<a href="/entry/[^"]+">([^<]+)</a>', linked)) == {
        html.escape(name) for name in names
    }
    drawn = page.partition('id="near"')[2]
    assert {html.unescape(name) for name in re.findall("<title>([^<]+)</title>", drawn)} == {
        "Coop",
        *names,
    }
