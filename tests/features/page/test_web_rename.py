"""A note or an entry is renamed on the page: what would change is shown, agreed to, and undone."""

from __future__ import annotations

import html
import re

from forks import ForkedHome as Home
from outside import wait_until
from playwright.sync_api import Browser, expect
from served import logged_in, served

NOW = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}


def note_id(home: Home, path: str, title: str = "") -> str:
    entries = home.ask("find", **NOW)["entries"]
    in_file = [entry for entry in entries if entry["path"] == path]
    [id] = [str(entry["id"]) for entry in in_file if title in ("", entry["title"])]
    return id


def agreed(text: str) -> str:
    found = re.search(r'name="agreed" value="(\w+)"', text)
    return found[1] if found else ""


def test_a_note_is_renamed_after_a_list_and_undone(home: Home) -> None:
    home.ask("save", "Met [[Ida|her]] <b>today</b>. `[[Ida]]`", "--at", "2026-11-02T12:00")
    (home.journal / "Ida.md").write_text("Likes tea.\n")
    (home.journal / "Tom.md").write_text("Likes milk.\n")
    first = home.files()
    id = note_id(home, "Ida.md")
    with served(home.path, **NOW) as server:
        assert f'href="/entry/{id}/rename">Rename<' in server.client.get(f"/entry/{id}").text
        page = f"/entry/{id}/rename"
        refused = server.post(page, new="tom")
        assert refused.status_code == 403
        assert "Tom.md is there already" in refused.text and not agreed(refused.text)
        shown = server.post(page, new="people/Ada")
        assert "[[Ada|her]] &lt;b&gt;" in shown.text and "in code or a comment" in shown.text
        assert home.files() == first
        (home.journal / "Late.md").write_text("[[Ida]]\n")
        again = server.post(page, new="people/Ada", agreed=agreed(shown.text))
        assert again.status_code == 200 and agreed(again.text) not in ("", agreed(shown.text))
        done = server.post(page, new="people/Ada", agreed=agreed(again.text))
        assert done.status_code == 303
        there = server.client.get(done.headers["location"]).text
        assert "Renamed to people/Ada.md" in there and "Likes tea." in there
        [undo] = re.findall(r'action="(/renamed/[^"]+)"', there)
        back = server.post(undo)
        assert "The old name is back" in server.client.get(back.headers["location"]).text
    (home.journal / "Late.md").unlink()
    assert home.files() == first


def test_words_are_replaced_after_a_list_and_undone(home: Home) -> None:
    home.ask("save", "Met Flora, <b>flora</b>.", "--at", "2026-11-02T12:00")
    first = home.files()
    with served(home.path, **NOW) as server:
        found = server.client.get("/search?q=Flora").text
        assert '<a href="/replace?words=Flora">Replace “Flora” in all notes</a>' in found
        refused = server.post("/replace?words=Flor", new="x")
        assert refused.status_code == 404 and "just so" in refused.text
        shown = server.post("/replace?words=Flora", new="Flocke")
        assert "Met Flocke, &lt;b&gt;" in shown.text and "in other capitals" in shown.text
        assert "will break" not in shown.text and home.files() == first
        done = server.post("/replace?words=Flora", new="Flocke", agreed=agreed(shown.text))
        there = server.client.get(done.headers["location"]).text
        assert "Changed lines: 1, in files: 1." in there
        [undo] = re.findall(r'action="(/renamed/[^"]+)"', there)
        back = server.post(undo)
        assert "All is as it was." in server.client.get(back.headers["location"]).text
    assert home.files() == first


def test_a_tag_is_renamed_from_its_page_in_the_language_of_the_reader(home: Home) -> None:
    (home.path / "journal").mkdir(parents=True)
    (home.path / "journal" / "Salt.md").write_text("Salt #küche, and #kueche.\n")
    german = {"Accept-Language": "de"}
    with served(home.path) as server:
        shown = server.shown("/tag/küche", **german)
        [address] = re.findall(r'<a href="(/replace[^"]+)">Umbenennen</a>', shown)

        def ask(new: str) -> str:
            form = {"csrf": server.csrf(), "new": new}
            answer = server.client.post(address, data=form, headers=german)
            return html.unescape(answer.text)

        assert "#kueche gibt es schon (1): Die beiden werden ein Schlagwort." in ask("#kueche")
        refused = " ".join(ask("#küche").split())
        assert (
            "Das Schlagwort heißt schon #küche.</p> <p>Gib einen anderen Namen an.</p>"
            in refused
        )
        done = server.post(address, new="#Küche", agreed=agreed(ask("#Küche")))
        assert done.headers["location"] == "/tag/k%C3%BCche"
    assert (home.path / "journal" / "Salt.md").read_text() == "Salt #Küche, and #kueche.\n"


def test_a_folder_is_renamed_after_a_list_and_undone(home: Home) -> None:
    files = {
        "friends & co/Ida.md": "Likes tea, as [[Tom]].\n",
        "friends & co/Tom.md": "![](cup.png)\n",
        "Plan.md": "[Ida](<friends & co/Ida.md>)\n",
        "team/Eva.md": "Rows.\n",
    }
    for name, text in files.items():
        (home.journal / name).parent.mkdir(parents=True, exist_ok=True)
        (home.journal / name).write_text(text)
    (home.journal / "friends & co/cup.png").write_bytes(b"\x89PNG")
    first = home.files()
    with served(home.path, **NOW) as server:
        shown = server.shown("/folder/friends%20%26%20co")
        [page] = re.findall(r'href="(/rename\?[^"]+)">Rename<', shown)
        assert "/rename?" not in server.shown("/folder")
        refused = server.post(page, new="team")
        assert refused.status_code == 403
        assert "team is there already" in refused.text and not agreed(refused.text)
        shown = server.post(page, new="team/friends").text
        assert "<code>friends &amp; co/</code> becomes <code>team/friends/</code>" in shown
        assert "Files that move: 3." in shown and "&lt;team/friends/Ida.md&gt;" in shown
        assert home.files() == first
        done = server.post(page, new="team/friends", agreed=agreed(shown))
        assert done.status_code == 303
        there = server.shown(done.headers["location"])
        assert "Renamed to team/friends." in there and "Likes tea" in there
        assert (home.journal / "Plan.md").read_text() == "[Ida](<team/friends/Ida.md>)\n"
        [undo] = re.findall(r'action="(/renamed/[^"]+)"', there)
        back = server.post(undo)
        assert back.headers["location"] == "/folder/friends%20%26%20co"
        assert "The old name is back" in server.shown(back.headers["location"])
        assert server.post("/rename?folder=gone", new="x").status_code == 404
    assert home.files() == first
    with served(home.path, "--read-only", **NOW) as server:
        assert "/rename?" not in server.shown("/folder/team")
        assert server.post("/rename?folder=team", new="x").status_code == 403


def test_a_running_server_prepares_what_a_rename_changed_by_itself(home: Home) -> None:
    home.journal.mkdir(parents=True)
    (home.journal / "Ida.md").write_text("Likes tea.\n")
    for number in range(40):
        (home.journal / f"Row {number}.md").write_text(f"Rowed {number} miles with [[Ida]].\n")
    with served(home.path, **NOW) as server:

        def waits() -> int:
            return int(home.ask("status", **NOW)["pending_vectors"])

        wait_until(lambda: server.client.get("/search?q=tea").is_success and not waits())
        home.ask("rename", "Ida", "Ada", "--yes", **NOW)
        changed = server.client.get("/search?q=rowed")  # may come before all is prepared
        assert "rebuild-index" not in changed.text
        wait_until(lambda: not waits())  # and nobody asks the server again
        [id] = re.findall(r'"/entry/([\w-]+)">Ada', server.client.get("/search?q=tea").text)
        shown = server.post(f"/entry/{id}/rename", new="Eva")
        done = server.post(f"/entry/{id}/rename", new="Eva", agreed=agreed(shown.text))
        there = server.client.get(done.headers["location"]).text
        assert "Renamed to Eva.md" in there and "rebuild-index" not in there
        wait_until(lambda: not waits())


def test_links_to_a_moved_note_are_mended_in_the_review(home: Home) -> None:
    (home.journal / "old").mkdir(parents=True)
    (home.journal / "old/Ida.md").write_text("Likes tea.\n")
    (home.journal / "From.md").write_text("[i](old/Ida.md)\n")
    home.ask("find")
    (home.journal / "old/Ida.md").rename(home.journal / "Ada.md")
    with served(home.path, **NOW) as server:
        key = f"moved:{note_id(home, 'Ada.md')[9:]}"
        assert "links to it are broken" in server.client.get("/review").text
        answer = server.post("/review", finding=key, answer="mend")
        assert "Repaired" in server.client.get(answer.headers["location"]).text
        assert (home.journal / "From.md").read_text() == "[i](Ada.md)\n"
        assert "Nothing to review" in server.client.get("/review").text


def test_a_mention_becomes_a_link_by_one_click_and_is_undone(home: Home) -> None:
    home.journal.mkdir(parents=True)
    (home.journal / "Ida.md").write_text("Likes tea.\n")
    (home.journal / "Tom.md").write_text("Rows with ida <b>daily</b>.\n")
    first = home.files()
    id = note_id(home, "Ida.md")
    with served(home.path, **NOW) as server:
        shown = server.client.get(f"/entry/{id}").text
        assert "Rows with <mark>ida</mark> &lt;b&gt;daily" in shown
        [source] = re.findall(r'name="from" value="([^"]+)"', shown)
        done = server.post(f"/entry/{id}/link", **{"from": source})
        there = server.client.get(done.headers["location"]).text
        assert "Linked in Tom.md." in there and "Named without a link" not in there
        assert (home.journal / "Tom.md").read_text() == "Rows with [[Ida|ida]] <b>daily</b>.\n"
        again = server.post(f"/entry/{id}/link", **{"from": source})
        assert again.status_code == 404 and "any more" in again.text
        [undo] = re.findall(r'action="(/renamed/[^"]+)"', there)
        server.post(undo)
    assert home.files() == first


def test_links_follow_the_new_title_of_an_entry(browser: Browser, home: Home) -> None:
    day = "# 2026-11-02\n\n## 09:00 Tea with Ida #tea\n\nGreen.\n\n## 10:00 Later\n\nAs in [[Tea with Ida]].\n"
    for name, text in (
        ("2026-11-02.md", day),
        (
            "2026-11-03.md",
            "# 2026-11-03\n\n## 08:00 Again\n\n[[tea with ida|Her]] and [[Tom]].\n",
        ),
    ):
        home.journal.mkdir(parents=True, exist_ok=True)
        (home.journal / name).write_text(text)
    first = home.files()
    with served(home.path, **NOW) as server:
        page = logged_in(browser, server).new_page()
        status = page.get_by_role("status")

        def linked() -> str:
            return home.files()["2026-11-03.md"].decode()

        page.goto(f"/entry/{note_id(home, '2026-11-02.md', 'Tea with Ida')}")
        page.get_by_role("link", name="Edit", exact=True).click()
        page.get_by_label("Title, if it has one").fill("Coffee with Ida")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(status).to_contain_text("Links to its old title lead nowhere now.")
        assert "synaptic" not in (status.text_content() or "")
        status.get_by_role("button", name="Change the links, too").click()
        expect(status).to_contain_text("Changed lines: 2, in files: 2.")
        expect(page.get_by_role("heading", name="Coffee with Ida")).to_be_visible()
        assert "[[Coffee with Ida|Her]] and [[Tom]]" in linked()
        status.get_by_role("button", name="Undo", exact=True).click()
        expect(status).to_contain_text("All is as it was.")
        assert "[[tea with ida|Her]]" in linked()
        home.ask("undo", "--yes", **NOW)
        assert home.files() == first

        page.goto(f"/entry/{note_id(home, '2026-11-02.md', 'Tea with Ida')}")
        page.locator("summary", has_text="More to do with it").click()
        page.get_by_role("link", name="Rename").click()
        for taken in ("Again", "Tea [or] coffee"):
            page.get_by_label("New name").fill(taken)
            page.get_by_role("button", name="Show what would change").click()
            expect(page.get_by_role("alert")).to_contain_text("could not lead to")
        page.get_by_label("New name").fill("Coffee with Ida")
        page.get_by_role("button", name="Show what would change").click()
        expect(page.locator(".changes li")).to_have_count(3)
        assert home.files() == first
        page.get_by_role("button", name="Rename it").click()
        expect(page.get_by_role("heading", name="Coffee with Ida")).to_be_visible()
        assert "[[Coffee with Ida|Her]] and [[Tom]]" in linked()
        status.get_by_role("button", name="Undo", exact=True).click()
        expect(page.get_by_role("heading", name="Tea with Ida")).to_be_visible()
        assert home.files() == first
