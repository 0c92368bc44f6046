"""Drafts: what is typed into a form is kept, with its files, and nothing is lost in silence."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path

import httpx
import pytest
from homes import open_home
from outside import wait_until
from photos import JPEG, PLACE, PNG
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, Route, expect
from served import (
    AXE,
    CHROMIUM,
    FLAGS,
    WCAG,
    Served,
    a_port,
    kept_drafts,
    let_in,
    logged_in,
    served,
)

from synaptic import save, update
from synaptic.journal.draft_files import KEEP_DAYS
from synaptic.plugin import CATCH_UP

DAY = "2026-11-24"
NOW = {"SYNAPTIC_NOW": f"{DAY}T10:00:00"}
PHOTO = {"name": "my cat.png", "mimeType": "image/png", "buffer": PNG}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def waiting(home: Path) -> dict[str, bytes]:
    """The files of drafts by name."""
    files = (home / ".state" / "drafts").glob("*/*")
    return {file.name: file.read_bytes() for file in files}


def attached(home: Path) -> list[str]:
    return sorted(file.name for file in home.glob("journal/attachments/*"))


def add(server: Served, name: str, data: bytes) -> str:
    answer = server.client.post(
        "/draft", data={"csrf": server.csrf()}, files={"files": (name, data)}
    )
    assert answer.status_code == 200, answer.text
    return answer.text


def picture(server: Served, name: str, status: int = 200) -> bytes:
    answer = server.client.get("/picture", params={"name": f"draft:{name}", "from": ""})
    assert answer.status_code == status
    return answer.content


def write(page: Page, text: str) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    page.locator("input[name=files]").set_input_files(PHOTO)  # type: ignore[arg-type]


def test_a_photo_is_saved_after_a_look_at_another_page(browser: Browser, home: Path) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/")
        write(page, "The cat came back.")
        shown = page.locator("#preview img")
        expect(shown).to_have_js_property("naturalWidth", 1)
        assert [*waiting(home)] == ["my-cat.png"]
        page.get_by_role("link", name="Calendar").click()
        page.wait_for_url("**/calendar")
        page.get_by_role("link", name="Today", exact=True).click()
        expect(page.get_by_label("Text", exact=True)).to_have_value(
            "The cat came back.\n\n![my cat.png](draft:my-cat.png)\n"
        )
        expect(shown).to_have_js_property("naturalWidth", 1)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("Saved")
        saved = page.locator("article img")
        expect(saved).to_have_js_property("naturalWidth", 1)
    assert attached(home) == [f"{DAY}-my-cat.png"] and not waiting(home)
    text = (home / "journal" / f"{DAY}.md").read_text("utf-8")
    assert f"![my cat.png](attachments/{DAY}-my-cat.png)" in text and "draft:" not in text


def test_a_photo_that_was_taken_out_again_ends_with_the_save(
    browser: Browser, home: Path
) -> None:
    with served(home, **NOW) as server:
        add(server, "other.png", PNG)
        page = logged_in(browser, server).new_page()
        page.goto("/")
        write(page, "The wrong cat.")
        expect(page.locator("#preview img")).to_be_visible()
        page.get_by_label("Text", exact=True).fill("No cat.")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("Saved")
    assert [*waiting(home)] == ["other.png"] and not attached(home)


def test_a_draft_that_lost_its_file_says_so_and_is_not_saved(
    browser: Browser, home: Path
) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/")
        write(page, "The cat came back.")
        expect(page.locator("#preview img")).to_be_visible()
        for file in (home / ".state" / "drafts").glob("*/*"):
            file.unlink()
        page.reload()
        expect(page.locator("#preview").get_by_role("alert")).to_contain_text(
            "The file my-cat.png of this draft is gone"
        )
        page.get_by_role("button", name="Save", exact=True).click()
        refusal = page.get_by_role("alert").first  # its preview says the same
        expect(refusal).to_contain_text("my-cat.png of this draft is gone")
        expect(page.locator("#content")).to_have_value(
            re.compile(r"draft:my-cat\.png"), timeout=1_000
        )
        assert not [*(home / "journal").glob("*.md")] and not attached(home)


def test_a_save_waits_for_a_file_and_a_refused_file_is_named(
    browser: Browser, home: Path
) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/")
        page.get_by_label("Text", exact=True).fill("Two files.")
        broken = {"name": "torn.png", "mimeType": "image/png", "buffer": PNG[:-20]}
        page.locator("input[name=files]").set_input_files([broken])  # type: ignore[list-item]
        expect(page.locator(".added")).to_contain_text("“torn.png” was not added.")
        expect(page.get_by_label("Text", exact=True)).to_have_value("Two files.")
        page.route("**/draft", lambda route: (page.wait_for_timeout(300), route.continue_()))
        page.evaluate(
            """(bytes) => {
            const input = document.querySelector("input[name=files]");
            const files = new DataTransfer();
            files.items.add(new File([new Uint8Array(bytes)], "cat.png", {type: "image/png"}));
            input.files = files.files;
            input.dispatchEvent(new Event("change"));
            input.form.requestSubmit(input.form.querySelector(".primary"));
        }""",
            list(PNG),
        )
        expect(page.get_by_role("status")).to_contain_text("Saved")
    assert attached(home) == [f"{DAY}-cat.png"] and not waiting(home)


def test_files_of_a_draft_are_private_and_lose_their_metadata(home: Path) -> None:
    with served(home, **NOW) as server:
        assert (
            add(server, "My Photo [1].jpg", JPEG) == "![My Photo 1.jpg](draft:my-photo-1.jpg)"
        )
        assert add(server, "report.pdf", b"%PDF-1.7") == "[report.pdf](draft:report.pdf)"
        assert add(server, "report.pdf", b"%PDF-1.8") == "[report.pdf](draft:report-2.pdf)"
        assert PLACE not in picture(server, "my-photo-1.jpg")
        assert PLACE not in waiting(home)["my-photo-1.jpg"]
        picture(server, "report.pdf", 404)  # no picture
        for name in ("../devices.json", "..", "", "other.png", "x/../my-photo-1.jpg"):
            picture(server, name, 404)
        drafts = home / ".state" / "drafts"
        if os.name == "posix":
            modes = {stat.S_IMODE(one.stat().st_mode) for one in drafts.glob("*/*")}
            folders = {stat.S_IMODE(one.stat().st_mode) for one in (drafts, *drafts.glob("*"))}
            assert modes == {0o600} and folders == {0o700}
        for name, data in (("a.md", b"# A"), ("a.png", b""), ("a.bin", bytes(20_000_001))):
            answer = server.client.post(
                "/draft", data={"csrf": server.csrf()}, files={"files": (name, data)}
            )
            assert answer.status_code == 400 and name in answer.text
        assert len(waiting(home)) == 3


def test_nobody_else_sees_a_draft_and_who_only_reads_has_none(home: Path) -> None:
    home.mkdir(mode=0o700)
    tokens = home / "tokens.toml"
    tokens.write_text(
        f'[anna]\ntoken = "{"a" * 40}"\npage = true\n[ben]\ntoken = "{"b" * 40}"\npage = true\n'
        f'[carl]\ntoken = "{"c" * 40}"\npage = true\nread-only = true\n'
    )
    tokens.chmod(0o600)
    with served(home, **NOW) as server:
        add(server, "cat.png", PNG)
        picture(server, "cat.png")
        browser_cookie = {
            name: value for name, value in server.client.cookies.items() if "drafts" in name
        }
        assert len(browser_cookie) == 1
        for letter in "abc":
            server.client.cookies.clear()
            server.client.cookies.update(browser_cookie)
            answer = server.client.post("/login", data={"token": letter * 40})
            assert answer.status_code == 303
            picture(server, "cat.png", 404)
        csrf = re.search('name="csrf" value="([^"]+)"', server.client.get("/").text)
        assert csrf
        answer = server.client.post(
            "/draft", data={"csrf": csrf[1]}, files={"files": ("dog.png", PNG)}
        )
        assert answer.status_code == 403
        assert [*waiting(home)] == ["cat.png"]


def test_files_of_a_draft_are_found_by_a_browser_that_lost_its_cookies(home: Path) -> None:
    home.mkdir(mode=0o700)
    tokens = home / "tokens.toml"
    tokens.write_text(
        "".join(f'[{name}]\ntoken = "{name * 10}"\npage = true\n' for name in ("ines", "jose"))
    )
    tokens.chmod(0o600)
    with served(home, **NOW) as server:

        def enter(name: str) -> None:
            server.client.cookies.clear()
            assert server.client.post("/login", data={"token": name * 10}).status_code == 303

        enter("ines")
        add(server, "cat.png", PNG)
        enter("ines")  # the browser was killed before it wrote the cookie
        picture(server, "cat.png")
        assert add(server, "cat.png", PNG) == "![cat.png](draft:cat-2.png)"
        enter("jose")
        picture(server, "cat.png", 404)
        assert add(server, "cat.png", PNG) == "![cat.png](draft:cat.png)"
        enter("ines")
        saved = server.post("/new", content="Both. ![](draft:cat.png) ![](draft:cat-2.png)")
        assert saved.status_code == 303
    assert [*waiting(home)] == ["cat.png"] and len(attached(home)) == 2


def test_a_text_that_lost_its_file_was_not_deleted(home: Path) -> None:
    with served(home, **NOW) as server:
        answer = server.post("/new", content="New. ![](draft:cat.png)")
        assert "cat.png" in answer.text
        assert "take its link out" in answer.text and "deleted meanwhile" not in answer.text


def test_a_draft_outlives_the_session_and_ends_with_logging_out(home: Path) -> None:
    with served(home, "--read-only", **NOW) as server:
        assert not [name for name in server.client.cookies if "drafts" in name]
    with served(home, **NOW) as server:
        add(server, "cat.png", PNG)
        server.post("/new", content="Another text.")
        assert [*waiting(home)] == ["cat.png"]
        drafts = next(
            value for name, value in server.client.cookies.items() if "drafts" in name
        )
    with served(home, log_in=False, **NOW) as server:
        server.client.cookies.update({f"synaptic-{httpx.URL(server.url).port}-drafts": drafts})
        server.client.get(server.link)
        picture(server, "cat.png")
        answer = server.post("/logout")
        assert not waiting(home) and not [*(home / ".state" / "drafts").iterdir()]
        assert re.search('-drafts="";.* Max-Age=0', answer.headers["set-cookie"])


def test_a_form_that_is_refused_keeps_its_files_without_javascript(home: Path) -> None:
    with served(home, **NOW) as server:
        refused = server.client.post(
            "/new",
            data={"csrf": server.csrf(), "content": "See ![it](<my cat.png>).", "type": "odd"},
            files=[("files", ("my cat.png", PNG)), ("files", ("list.csv", b"tea,milk"))],
        )
        assert refused.status_code == 400 and not attached(home)
        text = "See ![it](draft:my-cat.png).\n\n[list.csv](draft:list.csv)"
        assert text in refused.text.replace("&#34;", '"')
        saved = server.client.post("/new", data={"csrf": server.csrf(), "content": text})
        assert saved.status_code == 303 and not waiting(home)
        assert attached(home) == [f"{DAY}-list.csv", f"{DAY}-my-cat.png"]
        written = (home / "journal" / f"{DAY}.md").read_text("utf-8")
        assert f"See ![it](attachments/{DAY}-my-cat.png).\n" in written
        code = server.client.post(
            "/new", data={"csrf": server.csrf(), "content": "Type `![](draft:x.png)`."}
        )
        assert code.status_code == 303


def test_an_old_file_of_a_draft_goes_with_the_next_one_and_in_leisure(home: Path) -> None:
    with served(home, **NOW) as server:
        add(server, "old.png", PNG)
        add(server, "new.png", PNG)
        [old] = (home / ".state" / "drafts").glob("*/old.png")
        days = old.stat().st_mtime - KEEP_DAYS * 86_400 - 60
        os.utime(old, (days, days))
        add(server, "newer.png", PNG)
        assert sorted(waiting(home)) == ["new.png", "newer.png"]
    [new] = (home / ".state" / "drafts").glob("*/new.png")
    os.utime(new, (days, days))
    with open_home(home) as ws:
        CATCH_UP.ask_each(ws)
    assert [*waiting(home)] == ["newer.png"]


# -- what is typed into any form
# ---------------------------------------------------------------------------------


KEPT, BACK = "Draft kept in this browser", "Your draft is here again."


def test_each_form_keeps_what_was_typed_into_it(browser: Browser, home: Path) -> None:
    with open_home(home) as ws:
        id = save(ws, "The heron.\n\nIt stood in the reeds.").id
        (ws.config.journal / "Boat.md").write_text("# Boat\n\nBlue.\n")
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        forms = ("/new", f"/entry/{id}/edit", "/edit?path=Boat.md", "/new?date=2020-02-03")
        for number, form in enumerate(forms):
            page = context.new_page()
            page.goto(form)
            page.locator(".box textarea").click()  # below its text
            page.keyboard.type(f" Typed {number}.")
            expect(page.locator("#kept")).to_have_text(KEPT)
            page.close()
        for number, form in enumerate(forms):
            page = context.new_page()
            page.goto(form)
            expect(page.locator("#kept")).to_have_text(BACK)
            expect(page.locator(".box textarea")).to_have_value(re.compile(f"Typed {number}."))
            if number == 1:
                page.get_by_role("button", name="Throw it away").click()
                expect(page.locator(".box textarea")).not_to_have_value(re.compile("Typed"))
                page.reload()
                page.wait_for_timeout(400)  # longer than it waits for other tabs
                expect(page.locator("#kept")).to_have_text("")
            else:
                page.get_by_role("button", name="Save", exact=True).click()
                expect(page.get_by_role("status")).to_contain_text("Saved")
            page.close()
        page = context.new_page()
        page.goto("/")
        wait_until(partial(keeps_nothing, page))


def test_a_draft_that_was_thrown_away_is_put_back(browser: Browser, home: Path) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/")
        told, text = page.locator("#kept"), page.get_by_label("Text", exact=True)
        write(page, "The cat came back.")
        expect(text).to_have_value(re.compile("draft:my-cat"))
        typed = text.input_value()
        page.get_by_role("button", name="Throw it away").click()
        expect(text).to_have_value("")
        expect(told).to_have_text("Thrown away.")
        page.get_by_role("button", name="Put it back").click()
        expect(text).to_have_value(typed)
        expect(told).to_have_text(BACK)
        assert len(kept_drafts(page)) == 1
        page.get_by_role("button", name="Throw it away").click()
        text.fill("Another thought.")  # which ends what could be put back
        expect(told).to_have_text(KEPT)
        page.get_by_role("button", name="Throw it away").click()
        page.get_by_role("button", name="Put it back").click()
        expect(text).to_have_value("Another thought.")


def keeps_task(page: Page) -> bool:
    return any("/task" in name for name in kept_drafts(page))


def keeps_nothing(page: Page) -> bool:
    return kept_drafts(page) == []


def test_a_task_that_is_half_typed_waits_beside_the_text(browser: Browser, home: Path) -> None:
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        for where in ("/", "/tasks"):
            page = context.new_page()
            page.goto(where)
            page.get_by_label("Add a task").fill("Call the pri")
            if where == "/":
                page.get_by_label("Text", exact=True).fill("A thought.")
                expect(page.locator("#kept")).to_have_text(KEPT)
            wait_until(partial(keeps_task, page))
            page.close()
            page = context.new_page()
            page.goto(where)
            expect(page.get_by_label("Add a task")).to_have_value("Call the pri")
            page.get_by_label("Add a task").fill(f"Call the printer of {where}")
            page.keyboard.press("Enter")
            expect(page.get_by_role("status")).to_contain_text("Saved")
            expect(page.get_by_label("Add a task")).to_have_value("")
            if where == "/":
                expect(page.get_by_label("Text", exact=True)).to_have_value("A thought.")
                page.get_by_role("button", name="Throw it away").click()
            wait_until(partial(keeps_nothing, page))
            page.close()


def test_two_tabs_have_a_draft_each(browser: Browser, home: Path) -> None:
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        first, second = context.new_page(), context.new_page()
        first.goto("/")
        first.get_by_label("Text", exact=True).fill("Of the first.")
        expect(first.locator("#kept")).to_have_text(KEPT)
        first.goto("/tasks")  # it is still there
        second.goto("/")
        second.wait_for_timeout(400)
        expect(second.get_by_label("Text", exact=True)).to_have_value("")
        second.get_by_label("Text", exact=True).fill("Of the second.")
        expect(second.locator("#kept")).to_have_text(KEPT)
        first.goto("/")
        expect(first.get_by_label("Text", exact=True)).to_have_value("Of the first.")
        copy = first.evaluate("sessionStorage.tab")
        third = context.new_page()
        third.add_init_script(f"sessionStorage.tab ??= '{copy}'")  # as a copied tab has it
        third.goto("/")
        third.wait_for_function(f"() => sessionStorage.tab !== '{copy}'")
        third.get_by_label("Text", exact=True).fill("Of the third.")
        first.reload()
        expect(first.get_by_label("Text", exact=True)).to_have_value("Of the first.")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="finds it in /proc")
def test_a_draft_outlives_a_browser_that_is_killed(
    playwright: Playwright, home: Path, tmp_path: Path
) -> None:
    profile = tmp_path / "profile"
    with served(home, **NOW) as server:
        page = remembering(playwright, profile, server).new_page()
        page.goto("/new")
        page.locator(".box textarea").click()
        page.keyboard.type("A moment ago.")
        expect(page.locator("#kept")).to_have_text(KEPT)
        kill_all(profile)
        again = remembering(playwright, profile, server)
        page = again.new_page()
        page.goto("/new")
        expect(page.locator("#kept")).to_have_text(BACK)
        expect(page.locator(".box textarea")).to_have_value(re.compile("A moment ago."))
        again.close()


def test_a_draft_of_an_earlier_program_is_taken_over(browser: Browser, home: Path) -> None:
    draft = ["A title", "Of an earlier program.", "", ""]
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/tasks")
        page.evaluate(f"localStorage['draft/new'] = JSON.stringify({json.dumps(draft)})")
        page.goto("/new")
        expect(page.locator(".box textarea")).to_have_value(
            re.compile("Of an earlier program.")
        )
        expect(page.locator("#kept")).to_have_text(BACK)
        assert page.evaluate("localStorage.length") == 0


def remembering(playwright: Playwright, profile: Path, server: Served) -> BrowserContext:
    """A browser that keeps its profile in a folder, with the session of `server.client`."""
    context = playwright.chromium.launch_persistent_context(
        profile, executable_path=CHROMIUM, args=list(FLAGS), base_url=server.url
    )
    let_in(context, server)
    return context


def kill_all(profile: Path) -> None:
    """Kills all processes of the browser of a profile at once."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if bytes(profile) in (process / "cmdline").read_bytes():
                os.kill(int(process.name), signal.SIGKILL)


def test_a_log_out_in_another_tab_leaves_what_is_typed(browser: Browser, home: Path) -> None:
    with open_home(home) as ws:
        id = save(ws, "The heron.\n\nIt stood in the reeds.").id
    port = ("--port", str(a_port()))
    with served(home, *port, **NOW) as server:
        context = logged_in(browser, server)
        gone, edit, typed, other = (context.new_page() for _ in range(4))
        gone.goto("/new?date=2020-02-03")
        write(gone, "Of a tab that is closed.")
        gone.close()
        edit.goto(f"/entry/{id}/edit")
        edit.locator(".box textarea").click()
        edit.keyboard.type("I saw it. ")
        typed.goto("/new")
        write(typed, "Typed in the first tab.")
        typed.locator("input[name=files]").set_input_files(
            {"name": "map.png", "mimeType": "image/png", "buffer": PNG}
        )
        expect(typed.locator(".box textarea")).to_have_value(re.compile("draft:map.png"))
        other.goto("/")
        other.get_by_label("Text", exact=True).fill("Of the tab that logs out.")
        leave = other.locator("form.leave button")
        leave.evaluate("(button) => button.click()")
        expect(other).to_have_url(re.compile("/login$"))
        assert [name.partition("#")[0] for name in kept_drafts(other)] == [
            f"draft/entry/{id}/edit",
            "draft/new",
        ]
        typed.get_by_role("button", name="Save", exact=True).click()
        expect(typed.locator("body")).to_contain_text("Your session has ended")
    with served(home, *port, log_in=False, **NOW) as server:
        typed.goto(server.link)
        typed.goto("/new")  # which sends what was not saved
        expect(typed.get_by_role("status")).to_contain_text("Saved")
        edit.goto(f"/entry/{id}/edit")
        expect(edit.locator(".box textarea")).to_have_value(re.compile("I saw it."))
    text = "".join(file.read_text() for file in (home / "journal").rglob("*.md"))
    assert "Typed in the first tab." in text and list((home / "journal").rglob("*map.png"))


def test_a_draft_overwrites_no_change_of_another(browser: Browser, home: Path) -> None:
    with open_home(home) as ws:
        id = save(ws, "The heron.\n\nIt stood in the reeds.").id
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        page = context.new_page()
        page.goto(f"/entry/{id}/edit")
        page.locator(".box textarea").click()
        page.keyboard.press("ControlOrMeta+End")
        page.keyboard.type(" I saw it.")
        expect(page.locator("#kept")).to_have_text(KEPT)
        page.close()
        with open_home(home) as ws:
            update(ws, id, content="The heron.\n\nIt flew away.")
        page = context.new_page()
        page.goto(f"/entry/{id}/edit")
        expect(page.locator("#kept")).to_contain_text("The text changed meanwhile")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.locator("#now")).to_have_value("The heron.\n\nIt flew away.")
        expect(page.locator(".box textarea")).to_have_value(
            re.compile("It stood in the reeds. I saw it.")
        )
        page.get_by_role("button", name="Save mine over it").click()
        expect(page.get_by_role("status")).to_contain_text("Saved")
        page.goto(f"/entry/{id}/edit")
        page.wait_for_timeout(400)
        expect(page.locator("#kept")).to_have_text("")


def test_a_draft_with_a_file_ends_with_its_save(browser: Browser, home: Path) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        for place in ("/", "/new"):
            page.goto(place)
            write(page, f"Seen at {place}")
            expect(page.locator("input[name=draft]")).to_have_count(1)
            expect(page.locator("#kept")).to_have_text(KEPT)
            page.evaluate(  # as when the page is left before what is sent was written
                "() => void (IDBDatabase.prototype.transaction = () => { throw Error('left'); })"
            )
            page.get_by_role("button", name="Save", exact=True).click()
            expect(page.get_by_role("status")).to_contain_text("Saved")
            page.goto(place)
            page.wait_for_timeout(400)
            expect(page.locator("#kept")).to_have_text("")
            expect(page.locator("input[name=draft]")).to_have_count(0)


def test_a_draft_with_a_file_outlives_its_tab(browser: Browser, home: Path) -> None:
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        page = context.new_page()
        page.goto("/new")
        page.locator(".box").wait_for()
        page.locator("input[name=files]").set_input_files(
            {"name": "map.png", "mimeType": "image/png", "buffer": PNG}
        )
        expect(page.locator(".box textarea")).to_have_value(re.compile("draft:map.png"))
        expect(page.locator("#kept")).to_have_text(KEPT)
        page.close()
        page = context.new_page()
        page.goto("/new")
        expect(page.locator(".box textarea")).to_have_value(re.compile("draft:map.png"))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("Saved")
        assert not waiting(home) and list((home / "journal").rglob("*map.png"))


def test_a_save_without_an_answer_leaves_the_text_and_says_what_to_do(
    browser: Browser, home: Path
) -> None:
    with open_home(home) as ws:
        id = save(ws, "The heron.\n\nIt stood in the reeds.").id
    port = ("--port", str(a_port()))
    with served(home, *port, **NOW) as server:
        context = logged_in(browser, server, bypass_csp=True)
        pages = {where: context.new_page() for where in ("/new", f"/entry/{id}/edit", "/")}
        for where, page in pages.items():
            page.goto(where)
            page.locator(".box textarea").fill(f"Of {where}")
            expect(page.locator("#kept")).to_have_text(KEPT)
        tasks = context.new_page()
        tasks.goto("/tasks")
        tasks.get_by_label("Add a task").fill("Call the printer")
    for where, page in pages.items():
        for _ in range(2):
            page.get_by_role("button", name="Save", exact=True).click()
            told = page.get_by_role("alert")
            expect(told).to_have_text(
                re.compile("^Nothing was saved yet.* kept in this browser.*“Save” again.$")
            )
            expect(told).to_be_in_viewport()
        assert page.locator(".box textarea").input_value() == f"Of {where}"
    full = pages["/"]
    full.evaluate(AXE.read_text())
    assert not full.evaluate("(tags) => axe.run('main', {runOnly: tags})", WCAG)["violations"]
    full.evaluate("() => void (IDBDatabase.prototype.transaction = () => { throw 1; })")
    full.locator(".box textarea").press_sequentially(".")
    full.get_by_role("button", name="Save", exact=True).click()
    expect(full.get_by_role("alert")).to_contain_text("in this form alone")
    full.locator(".box textarea").fill("Of /")
    tasks.keyboard.press("Enter")
    expect(tasks.get_by_role("alert")).to_contain_text("press “Add” again.")
    expect(tasks.get_by_label("Add a task")).to_have_value("Call the printer")
    with served(home, *port, log_in=False, **NOW) as server:
        page = pages["/"]
        with page.expect_response("**/preview") as preview:
            page.locator(".box textarea").press_sequentially(" ")
        assert preview.value.status == 401
        page.locator(".box textarea").press("Backspace")
        photo = {"name": "sea.png", "mimeType": "image/png", "buffer": PNG}
        page.locator("input[name=files]").first.set_input_files([photo])  # type: ignore[list-item]
        expect(page.locator(".added")).to_contain_text("was not added. Nothing was saved yet.")
        page.get_by_role("button", name="Save", exact=True).click()
        for other in (*pages.values(), tasks):  # they were sent by themselves
            ended = other.get_by_role("heading", name="Your session has ended")
            expect(ended).to_be_visible()
        page.evaluate(AXE.read_text())
        found = page.evaluate("(tags) => axe.run({runOnly: tags})", WCAG)
        assert not found["violations"]
        assert page.evaluate("getComputedStyle(document.body).fontFamily") != "serif"
        page.goto(server.link)  # both forms of that page are sent, one after the other
        wait_until(lambda: all(one in journal_text(home) for one in ("Of /\n", "printer")))
        page = context.new_page()  # the other one may still be on its way from its last save
        for where in ("/new", f"/entry/{id}/edit"):
            page.goto(where)
            expect(page.get_by_role("status")).to_contain_text("Saved")
            expect(page.locator("article")).to_contain_text(f"Of {where}")
    text = journal_text(home)
    assert all(text.count(f"Of {where}\n") == 1 for where in pages)
    assert text.count("[ ] Call the printer") == 1


def journal_text(home: Path) -> str:
    return "".join(file.read_text() for file in (home / "journal").rglob("*.md"))


def unreachable(page: Page) -> None:
    """Nothing of this page's tab reaches the server, although the browser says `online`."""
    page.route("**/*", lambda route: route.abort())


def press_save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("is sent by itself")


def wait_without_network(page: Page, text: str) -> None:
    """Leaves a page with a text whose Save was pressed, and that nothing could send."""
    page.goto("/new")
    page.locator(".box textarea").fill(text)
    unreachable(page)
    press_save(page)


def test_a_save_is_sent_by_itself_once_synaptic_can_be_reached(
    browser: Browser, home: Path
) -> None:
    events = {"visibilitychange": "document", "focus": "window", "online": "window"}
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        for number, name in enumerate(["", *events]):
            page = context.new_page()
            wait_without_network(page, f"Seen {number}.")
            assert "serve" not in page.get_by_role("alert").inner_text()
            page.unroute("**/*")
            if name:  # else a pause ends
                page.evaluate(
                    f"{events[name]}.dispatchEvent(new Event('{name}', {{bubbles: true}}))"
                )
            expect(page.get_by_role("status")).to_contain_text("Saved")
            page.close()
    text = journal_text(home)
    assert all(text.count(f"Seen {number}.") == 1 for number in range(4))


def test_a_text_that_grows_after_save_was_pressed_waits_for_its_end(
    browser: Browser, home: Path
) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        wait_without_network(page, "Seen")
        page.locator(".box textarea").fill("Seen from the tr")
        expect(page.get_by_role("alert")).to_have_count(0)
        page.unroute("**/*")
        page.evaluate("window.dispatchEvent(new Event('focus'))")
        page.wait_for_timeout(500)  # in which it would be sent
        expect(page.locator(".box textarea")).to_have_value("Seen from the tr")
        page.reload()
        expect(page.locator("#kept")).to_have_text(BACK)
        page.wait_for_timeout(500)
        assert not journal_text(home)


def test_a_text_that_grows_while_it_is_tried_again_is_not_sent(
    browser: Browser, home: Path
) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        wait_without_network(page, "Seen")
        page.unroute("**/*")
        asked: list[Route] = []
        page.route("**/preparing", lambda route: asked.append(route))
        while not asked:
            page.evaluate("window.dispatchEvent(new Event('focus'))")
            page.wait_for_timeout(20)
        page.locator(".box textarea").fill("Seen from the tr")
        expect(page.get_by_role("alert")).to_have_count(0)
        asked[0].continue_()
        page.wait_for_timeout(500)  # in which it would be sent
        expect(page.locator(".box textarea")).to_have_value("Seen from the tr")
        assert not journal_text(home)


def test_a_tab_that_was_thrown_away_sends_what_it_was_told_to_save(
    browser: Browser, home: Path
) -> None:
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        page = context.new_page()
        wait_without_network(page, "Seen from the train.")
        page.close()
        page = context.new_page()
        page.goto("/new")
        expect(page.get_by_role("status")).to_contain_text("Saved")
        page.goto("/new")
        page.wait_for_timeout(500)
        expect(page.locator(".box textarea")).to_have_value("")
    assert journal_text(home).count("Seen from the train.") == 1


def test_two_tabs_that_shall_send_one_text_send_it_once(browser: Browser, home: Path) -> None:
    silent = "BroadcastChannel.prototype.postMessage = () => {}"  # as a tab that is frozen
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        context.add_init_script(silent)
        first = context.new_page()
        wait_without_network(first, "Seen from the train.")
        second = context.new_page()
        second.goto("/new")
        expect(second.get_by_role("status")).to_contain_text("Saved")
        first.unroute("**/*")
        first.evaluate("window.dispatchEvent(new Event('focus'))")
        expect(first.locator(".box textarea")).to_have_value("")
        first.wait_for_timeout(500)
    assert journal_text(home).count("Seen from the train.") == 1


def test_a_text_that_is_refused_is_not_sent_again_by_itself(
    browser: Browser, home: Path
) -> None:
    with served(home, **NOW) as server:
        page = logged_in(browser, server).new_page()
        page.goto("/")
        page.locator(".box textarea").fill("See ![](draft:gone.png)")
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_selector("form[data-refused]")
        page.wait_for_timeout(500)
        page.goto("/")
        expect(page.locator("#kept")).to_have_text(BACK)
        page.wait_for_timeout(500)
        expect(page.locator(".box textarea")).to_have_value("See ![](draft:gone.png)")


def test_a_save_of_a_phone_without_network_is_sent_once_it_is_back(
    browser: Browser, home: Path
) -> None:
    with open_home(home) as ws:
        save(ws, "- [ ] Call the printer")
    with served(home, **NOW) as server:
        context = logged_in(browser, server)
        page = context.new_page()
        page.goto("/new")
        write(page, "Seen from the train.")
        expect(page.locator("input[name=draft]")).to_have_count(1)
        context.set_offline(True)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert")).to_contain_text("kept in this browser")
        page.close()
        context.set_offline(False)
        page = context.new_page()
        page.goto("/tasks")  # the save of something else ends no draft
        page.get_by_role("button", name="Tick: Call the printer").click()
        expect(page.get_by_role("status")).to_contain_text("Ticked")
        page.goto("/new")  # and nobody presses it again
        expect(page.get_by_role("status")).to_contain_text("Saved")
        page.goto("/new")
        expect(page.locator(".box textarea")).to_have_value("")
    text = "".join(file.read_text() for file in (home / "journal").rglob("*.md"))
    assert text.count("Seen from the train.") == 1
    assert list((home / "journal").rglob("*my-cat.png"))
