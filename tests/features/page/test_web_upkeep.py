"""The pages of upkeep, on the real server: review, health, statistics, and what a broken
home shows.
"""

from __future__ import annotations

import re
import time
from html import unescape

import httpx
import pytest
from forks import ForkedHome as Home
from outside import TIMEOUT_S
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served

NOW = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}
OLD, NEW = "2026-07-01T09:00:00", "2026-11-01T09:00:00"


def saved(home: Home, text: str, at: str, *marks: str) -> str:
    return str(home.ask("save", text, "--at", at, *marks, **NOW)["id"])


def keys(server: Served, path: str = "/review") -> list[str]:
    """What the page lists, by the ids of its articles."""
    return re.findall(
        r'<article class="entry finding" id="([^"]+)"', server.client.get(path).text
    )


def seen(answer: httpx.Response) -> str:
    """The words of a page."""
    text = re.sub(r"<[^>]+>", " ", answer.text.partition("<main")[2].partition("</main>")[0])
    return " ".join(unescape(text).split())


def after(server: Served, answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return seen(server.client.get(answer.headers["location"]))


def test_findings_are_answered_one_after_the_other(home: Home) -> None:
    issue = saved(
        home,
        "The nightly backup fails. <b>Twice</b>.",
        OLD,
        "--type",
        "issue",
        "--project",
        "shop",
    )
    first = saved(home, "Login is half done.", OLD, "--type", "handoff")
    last = saved(home, "Login is done, tests are missing.", NEW, "--type", "handoff")
    freeze = saved(
        home, "Freeze of the staging machine.", OLD, "--expires", "2026-07-03", "--tag", "pin"
    )
    short = {
        name: id.partition("-")[2]
        for name, id in locals().items()
        if name in ("issue", "first", "last", "freeze")
    }
    pin, expired, open_, handed = (
        f"proposed:{short['freeze']}",
        f"expired:{short['freeze']}",
        f"open:{short['issue']}",
        f"handed-on:{short['first']}:{short['last']}",
    )
    with served(home.path, **NOW) as server:
        assert keys(server) == [pin, expired, open_, handed]
        assert keys(server, "/review?project=shop") == [open_] and keys(
            server, "/review?page=9"
        ) == keys(server)
        text = server.client.get("/review").text
        assert '<span class="waits">4<' in server.client.get("/health").text  # on each page
        assert "<b>Twice" not in text and "It has" not in text and "This has expired" in text
        assert (
            f'id="{handed}"' in text and f"/entry/{first}" in text and f"/entry/{last}" in text
        )

        answer = server.post("/review?project=shop", finding=open_, answer="close", next="")
        assert answer.headers["location"] == "/review?project=shop#"
        told = after(server, answer)
        assert "Closed" in told and "Undo" in told and "Nothing to review" in told
        assert "done" in home.ask("get", issue)["entries"][0]["tags"]
        server.post(f"/entry/{issue}/restore")
        assert "done" not in home.ask("get", issue)["entries"][0]["tags"]

        server.post("/review", finding=open_, answer="keep")
        answer = server.post("/review", finding=pin, answer="keep", next=expired)
        assert (
            answer.headers["location"].endswith(f"#{expired}")
            and "Undo" not in after(server, answer).partition(".")[0]
        )
        assert keys(server) == [expired, handed]
        told = after(server, server.post("/review", finding=handed, answer="supersede"))
        assert "” replaces “" in told and "1 finding." in told
        assert home.ask("get", last)["entries"][0]["supersedes"] == [first]
        question = server.post("/review", finding=expired, answer="delete")
        assert "Delete this entry?" in question.text and home.run("get", freeze).code == 0
        told = after(
            server, server.agree("/review", question, finding=expired, answer="delete")
        )
        assert (
            "Deleted “Freeze of the staging machine.”" in told
            and home.run("get", freeze).code == 1
        )
        server.post(f"/entry/{freeze}/restore")
        assert keys(server) == [expired]
        for wrong in (
            {"finding": "no:such", "answer": "keep"},
            {"finding": expired, "answer": "merge"},
            {},
        ):
            answer = server.post("/review", **wrong)
            assert answer.status_code == 400 and "Valid: " in answer.text
    with served(home.path, "--read-only", **NOW) as server:
        assert (
            keys(server) == [expired]
            and 'name="answer"' not in server.client.get("/review").text
        )


def test_twenty_findings_stand_on_a_page(home: Home) -> None:
    for number in range(23):
        saved(
            home, f"Crate {number} is late.", OLD, "--type", "issue", "--project", f"p{number}"
        )  # alike to none
    with served(home.path, **NOW) as server:
        some, others = keys(server), keys(server, "/review?page=2")
        assert len(some) == 20 and len(others) == 3 and not {*some} & {*others}
        assert "1 to 20 of 23" in seen(server.client.get("/review"))
        answer = server.post("/review?page=2", finding=others[0], answer="keep", next=others[1])
        assert keys(server, answer.headers["location"]) == others[1:]


def test_health_says_what_is_wrong_and_mends_it(home: Home) -> None:
    first = saved(home, "The pump is loud.", NEW)
    with home.server(**NOW) as agent:
        agent.text("search", query="pump")
        until = time.monotonic() + TIMEOUT_S
        while (
            not home.ask("status", "--use")["use"] and time.monotonic() < until
        ):  # written down when it is idle
            time.sleep(0.1)
    with served(home.path, **NOW) as server:
        told = seen(server.client.get("/health"))
        assert "All is well." in told and "1 in 1 file " in told and "2026-11-16" in told
        [file] = home.journal.glob("*.md")
        file.write_text("# 2026-11-01\n")
        told = seen(server.client.get("/health"))
        assert (
            "Something needs you." in told
            and "The pump is loud." in told
            and "All is well" not in told
        )
        assert "Put back." in after(server, server.post("/health", way="restore", id=first))
        assert home.ask("get", first)["entries"][0]["title"] == "The pump is loud."
        file.write_text("# 2026-11-01\n")
        assert "Left out. All is well." in after(
            server, server.post("/health", way="dismiss", id=first)
        ).replace("Health ", "")
        home.path.chmod(0o755)
        assert "Repair what can be repaired" in seen(server.client.get("/health"))
        assert "All is well." in after(server, server.post("/health", way="fix"))
        assert server.post("/health", way="pray").status_code == 400


def test_a_broken_home_is_told_and_once_mended_all_goes_on(home: Home) -> None:
    key = f"open:{saved(home, 'The pump is loud.', OLD, '--type', 'issue').partition('-')[2]}"
    away = home.journal.rename(home.path / "away")
    with served(home.path, **NOW) as server:
        for path in ("/", "/review", "/health", "/statistics"):
            answer = server.client.get(path)
            assert (
                answer.status_code == 500
                and f"The journal {home.journal} is missing" in seen(answer)
            ), path
        away.rename(home.journal)
        assert keys(server) == [key]
        home.journal.rename(away)
        told = server.client.get("/health")
        assert (
            told.status_code == 200 and "is missing" in seen(told) and not home.journal.exists()
        )
        away.rename(home.journal)
        assert "All is well." in seen(server.client.get("/health"))
        (home.state / "index.db").write_bytes(b"garbage" * 9000)
        assert "1 entry," in seen(server.client.get("/statistics"))
        (home.state / ".review.json.synaptic").mkdir()
        answer = server.post("/review", finding=key, answer="keep")
        assert answer.status_code == 500 and "Synaptic failed (IsADirectoryError" in seen(
            answer
        )
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        (home.state / ".review.json.synaptic").rmdir()
        (home.state / "review.json").mkdir()  # which is moved aside
        assert "Kept." in after(server, server.post("/review", finding=key, answer="keep"))


def test_a_page_that_takes_long_says_first_what_is_read(home: Home) -> None:
    saved(home, "The pump is loud.", OLD, "--type", "issue", "--project", "shop")
    few = "from synaptic.features.page import health_pages; health_pages.MANY = 1"
    with served(home.path, first=few, **NOW) as server:
        for path in ("/review?project=shop", "/health?whole=1", "/statistics"):
            notice = server.client.get(path)
            assert "Reading 1 entries" in seen(notice), path
            after_s, _, at = notice.headers["refresh"].partition(";url=")
            assert after_s == "0"
            answer = server.client.get(path.partition("?")[0] + at)
            assert "refresh" not in answer.headers and "Reading" not in seen(answer)
            assert "pump" in answer.text or path != "/review?project=shop"
        assert "project=shop" in server.client.get("/review?project=shop").headers["refresh"]


def test_health_answers_from_what_is_known_and_compares_if_asked(home: Home) -> None:
    saved(home, "The pump is loud.", OLD)
    with served(home.path, **NOW) as server:
        known = seen(server.client.get("/health"))
        assert "Only quick checks were made." in known and "index is sound" not in known
        compared = seen(server.client.get("/health?whole=1"))
        assert "This goes by" not in compared and "index is sound" in compared
        assert "Last backup none yet" in compared


def test_statistics_count_what_is_written_and_read(home: Home) -> None:
    old = saved(
        home,
        "Invoices are numbered by year.",
        "2025-01-01T09:00:00",
        "--type",
        "decision",
        "--project",
        "shop",
    )
    saved(home, "Freight is paid by weight.", "2025-01-02T09:00:00", "--type", "insight")
    saved(home, "We had soup.", "2025-01-03T09:00:00")  # a diary is not asked about
    for id, moment in (
        ("20261115-kettle22", "2026-11-15 23:00"),
        ("20261116-kettle33", "2026-11-16 01:00"),
    ):
        day, time = moment.split()  # a Sunday, and the Monday after it
        (home.journal / f"{day}.md").write_text(
            f"# {day}\n\n## {time} A kettle\n<!-- syn:{id} by=ines -->\n\nIt leaks.\n"
        )
    (home.journal / "wish.md").write_text(
        "A wish without a date.\n\n[hours:: 2] and [hours:: <b>]\n"
    )
    saved(home, "Repairs.\n\nhours:: 1:30", "2026-10-05T09:00:00", "--project", "shop")
    home.ask("get", old)
    with served(home.path, **NOW) as server:
        answer = server.client.get("/statistics")
        rows = re.findall(
            r'<th scope="row">(?:<a[^>]*>)?([^<]*)(?:</a>)?</th><td[^>]*>([^<]*)</td>',
            answer.text,
        )
        counts = dict(rows)
        weeks = [name for name, _ in rows if re.fullmatch(r"\d+ \w+ 20\d\d", name)]
        assert len(weeks) == 53
        assert weeks[0] == "16 November 2026" and weeks[-1] == "17 November 2025"
        assert [counts[week] for week in weeks[:3]] == ["1", "1", "0"]
        assert (counts["decision"], counts["shop"], counts["ines"]) == ("1", "2", "2")
        assert counts["Invoices are numbered by year."] == "1"
        sums = seen(server.client.get("/sums?field=hours&by=project"))
        assert "shop 1.5 1" in sums and "no project 2 1" in sums and "In all 3.5 2" in sums
        assert "1 value is no number and not counted: “<b>”" in sums
        table = server.client.get("/sums?field=hours&by=project&project=shop&csv=1")
        assert table.text == "project,hours,unit,entries\r\nshop,1.5,,1\r\n"
        wrong = server.client.get("/sums?field=km&since=2026-01-01")
        assert wrong.status_code == 400 and "Valid: hours." in seen(wrong)
        german = seen(server.client.get("/sums?field=hours", headers={"Accept-Language": "de"}))
        assert "Oktober 2026 1,5 1" in german and "Insgesamt 3,5 2" in german
        asked = seen(server.client.get("/search?q=what did we do for shop in october"))
        assert "hours: 1.5 in 1 entry of shop, 1 October 2026 to 31 October 2026." in asked
        told = seen(answer)
        assert (
            "7 entries, 30 words. The longest row is 3 days, to 3 January 2025" in told
            and "1 of 7 entries" in told
            and "2 from more than a year ago never were" in told
        )
        assert [key.partition(":")[0] for key in keys(server)] == ["unread"]


def test_sums_begin_with_a_field_that_entries_have(home: Home) -> None:
    with served(home.path, **NOW) as server:
        empty = server.client.get("/sums")
        assert empty.status_code == 200 and 'role="alert"' not in empty.text
        assert "No entry has a number to add up yet" in seen(empty)
        saved(home, "The red label.\n\nstunden:: 1,25", OLD)
        saved(home, "The blue label.\n\nstunden:: 2\nhof:: Grünwald", OLD)
        first = server.client.get("/sums")
        assert 'name="field" value="stunden"' in first.text and "In all 3.25 2" in seen(first)
        assert 'role="alert"' not in first.text
        for address in ("/sums?since=2026-11-01", "/sums?by=day"):
            assert 'role="alert"' not in server.client.get(address).text
        by_farm = server.client.get("/sums?by=hof")
        assert '<option value="hof" selected>' in by_farm.text
        assert "Grünwald 2 1" in seen(by_farm) and "– 1.25 1" in seen(by_farm)
        typed = server.client.get("/sums?field=hours")
        assert typed.status_code == 400 and "Valid: stunden." in seen(typed)


@pytest.mark.slow
def test_findings_are_answered_with_the_keyboard_alone(browser: Browser, home: Home) -> None:
    issue = saved(home, "The nightly backup fails.", OLD, "--type", "issue")
    freeze = saved(home, "Freeze of the staging machine.", OLD, "--expires", "2026-07-03")
    other = saved(home, "Thaw of the staging machine.", OLD, "--expires", "2026-07-04")
    with served(home.path, **NOW) as server:
        page = logged_in(browser, server).new_page()

        def told(text: str) -> None:
            expect(page.get_by_role("status")).to_contain_text(text)
            page.wait_for_load_state()  # the keys are of a script that waits for the page

        page.goto("/review")
        focused = page.locator("article:focus")
        expect(focused).to_contain_text("Freeze of")
        page.keyboard.press("m")  # is no answer here, nor of another finding
        page.keyboard.press("d")
        expect(page.get_by_role("heading", level=1)).to_have_text("Delete this entry?")
        page.wait_for_load_state()
        page.keyboard.press("y")
        told("Deleted ")
        expect(focused).to_contain_text("nightly backup")
        page.keyboard.press("c")
        told("Closed")
        expect(focused).to_contain_text("Thaw of")
        assert keys(server) == [f"expired:{other.partition('-')[2]}"]
        assert (
            home.run("get", freeze).code == 1
            and "done" in home.ask("get", issue)["entries"][0]["tags"]
        )
