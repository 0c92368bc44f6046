"""What the page gives to take along: a zip of Markdown with its files, and a page to print."""

from __future__ import annotations

import io
import re
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from forks import ForkedHome
from photos import PNG
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served

NOW = "2026-11-24T10:00:00"
LONG = "茶" * 45
DAY = f"""# 2026-11-24

## 08:00 decision: Green tea ../../x #tea

Not black, <private>because of hunter2</private>: ![](attachments/cat.png) and
[the plan](<attachments/plan (1).pdf> "Plan"), ![[only one.png|100]].

`![no](attachments/unused.png)` ![lost](attachments/lost.png) [out](../../tokens.toml)
[in](.hidden/x.png) ![](gone.png) ![]({LONG}.png) ![two](https://example.org/a.png)

## 09:00 Same
One #tea

## 09:00 Same
Two

## 09:30 {LONG}
Three
"""
NOTE = """---
title: All of tea
rating: 5
tags: [tea]
---
# All of tea

See ![a cat](../attachments/cat.png) and [x](cat%3A1.png).
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("export") / "home"
    for path, data in {
        "2026-11-24.md": DAY.encode(),
        "2026-10-01.md": b"# 2026-10-01\n\n## 08:00 Before\nIt rained.\n",
        "notes/Tea.md": NOTE.encode(),
        "notes/cat:1.png": PNG,
        "attachments/cat.png": PNG,
        "attachments/unused.png": PNG,
        "attachments/plan (1).pdf": b"%PDF-1.7",
        "pictures/only one.png": PNG,
        ".hidden/x.png": PNG,
        f"{LONG}.png": PNG,
    }.items():
        file = home / "journal" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (home / "tokens.toml").touch(0o600)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW=NOW, TZ="UTC") as found:
        yield found


def taken(server: Served, shown: str) -> dict[str, bytes]:
    """The files of the zip to which the page `shown` leads."""
    link = re.search(r'href="(/export\?[^"]*)"', server.client.get(shown).text)
    assert link, shown
    return unzipped(server.client.get(link[1].replace("&amp;", "&")))


def unzipped(answer: httpx.Response) -> dict[str, bytes]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert len({name.casefold() for name in names}) == len(names)
        return {name: archive.read(name) for name in names}


def test_each_page_gives_what_it_shows(server: Served) -> None:
    for shown, notes in {
        "/day/2026-11-24": 4,
        "/calendar?month=2026-11": 4,
        "/calendar?month=2026-10": 1,
        "/tag/tea": 3,
        "/folder/notes": 1,
        "/folder": 6,
        "/search": 6,
        "/search?since=2026-10-01&until=2026-10-02": 1,
        "/search?q=rained": 1,
        "/search?type=decision": 1,
    }.items():
        files = taken(server, shown)
        assert sum(name.endswith(".md") for name in files) == notes, (shown, [*files])
    entry = re.search(r"/entry/[\w-]+", server.client.get("/search?q=rained").text)
    assert entry and [*taken(server, entry[0])] == ["2026-10-01 Before.md"]
    assert server.client.get("/export?since=never").status_code == 400
    assert server.client.get("/export?id=zzzzzzzz").status_code == 404


def test_print_and_book_follow_the_order_of_their_list(server: Served) -> None:
    for shown, is_newest in {
        "/search": True,
        "/search?since=2026-10-01": True,
        "/search?q=tea&order=newest": True,
        "/tag/tea": True,
        "/folder": True,
        "/day/2026-11-24": False,
        "/calendar?month=2026-11": False,
    }.items():
        page = server.shown(shown)
        [printed, book] = (
            re.findall(rf'href="(/{name}[?][^"]*)"', page)[0] for name in ("print", "book")
        )
        ids = [
            re.findall(r'<h2><a href="(/entry/[^"]+)"', server.shown(one))
            for one in (shown, printed)
        ]
        if is_newest:
            dated = [one for one in ids[0] if one in ids[1]]
            assert dated == ids[1][: len(dated)] and dated
        form = server.shown(book)
        checked = re.findall(r'name="first" value="(\w+)" checked', form)
        assert checked == ["newest" if is_newest else "oldest"], shown


def test_the_chips_of_a_search_say_days_as_the_reader_does(server: Served) -> None:
    german = {"Accept-Language": "de"}
    shown = server.shown("/search?since=2026-07-30&until=2026-12-01", **german)
    assert "seit 30. Juli 2026" in shown and "bis 1. Dezember 2026" in shown


def test_links_work_in_the_zip_and_nothing_private_is_in_it(
    server: Served, tmp_path: Path
) -> None:
    files = taken(server, "/folder")
    for name in files:
        assert len(name.encode()) <= 120 and not name.startswith("/")
        assert ".." not in name.split("/")
        assert not re.search(r'[:\\*?"<>|]', name)
    text = files["2026-11-24 Green tea ..-..-x.md"].decode()
    assert "Not black" in text and "hunter2" not in b"".join(files.values()).decode("latin-1")
    others = ("unused.png", "hidden", "tokens")
    assert not [name for name in files if any(other in name for other in others)]
    assert "(attachments/lost.png)" in text and "https://example.org/a.png" in text
    linked = {f"{LONG[:26]}.png", "attachments/cat.png", "attachments/plan (1).pdf"}
    linked.add("pictures/only one.png")
    assert linked <= files.keys()
    assert "![[pictures/only one.png|100]]" in text
    assert {unquote(link) for link in re.findall(r"\]\(<?([^)>]*)", text)} >= {
        "attachments/cat.png",
        f"{LONG[:26]}.png",
    }
    assert b"(../attachments/cat.png)" in files["notes/Tea.md"]
    assert b"(cat-1.png)" in files["notes/Tea.md"] and files["notes/cat-1.png"] == PNG

    back = ForkedHome(tmp_path / "back")
    for name, data in files.items():
        place = back.journal / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    rows = {row["title"]: row for row in back.ask("export")}
    tea = rows["Green tea ../../x"]
    assert len(rows) == 5 and tea["tags"] == ["tea"] and tea["date"] == "2026-11-24"
    assert "Not black" in tea["content"] and rows["All of tea"]["tags"] == ["tea"]


def test_the_most_that_is_given_is_said_also_to_a_reader(home: Path) -> None:
    limits = (
        "from synaptic.features.page import exporting as e; e.ENTRIES = e.STEP = e.PRINTED = 2"
    )
    with served(home, "--read-only", first=limits, SYNAPTIC_NOW=NOW) as reading:
        files = taken(reading, "/search")
        assert [name[:4] for name in files if name.endswith(".md")] == ["2026", "2026"]
        assert b"first 2 of 6 entries" in files["NOT ALL.txt"]
        printed = reading.client.get("/print").text
        assert "The first 2 of 6 entries" in printed and printed.count("<article") == 2


@pytest.mark.slow
def test_entries_may_come_while_a_zip_is_made(tmp_path: Path) -> None:
    """The zip takes several looks at the journal, each on one thread from its begin on."""
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    rows = "\n".join(f"## Note {number}\nText {number}.\n" for number in range(800))
    (home / "journal" / "2026-10-01.md").write_text(f"# 2026-10-01\n\n{rows}")
    day = home / "journal" / "2026-11-24.md"
    with served(home, SYNAPTIC_NOW=NOW) as server, ThreadPoolExecutor(2) as pool:
        server.client.get("/")  # all of it is indexed
        take = partial(server.client.get, "/export", timeout=None)  # a busy machine is slow
        zips = [pool.submit(take) for _ in range(4)]
        for number in range(200):
            if all(one.done() for one in zips):
                break
            with day.open("a") as file:
                file.write(f"## Later {number}\nIt came meanwhile.\n\n")
            time.sleep(0.02)
        for one in zips:
            names = zipfile.ZipFile(io.BytesIO(one.result().content)).namelist()
            assert len([name for name in names if "Note" in name]) == 800


def test_what_is_printed_has_the_whole_texts_and_no_forms(
    browser: Browser, server: Served, home: Path
) -> None:
    long = "A long line of a long day. " * 40
    text = f"# 2026-09-01\n\n## 08:00 Long\n{(long + chr(10) * 2) * 20}The last line.\n"
    day = home / "journal" / "2026-09-01.md"
    day.write_text(text)
    page = logged_in(browser, server).new_page()
    # the dialog stays open here, and Chromium prints one thing at a time
    page.add_init_script("window.asked = 0; window.print = () => { window.asked += 1; }")
    page.goto("/calendar?month=2026-09")
    page.get_by_role("link", name="Print").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "1 September 2026 to 30 September 2026"
    )
    expect(page.get_by_text("The last line.")).to_be_visible()
    page.wait_for_function("() => window.asked === 1")
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", pdf)) > 1
    page.goto("/day/2026-11-24")
    lost = page.locator("img[alt='gone.png']")
    expect(lost).to_be_visible()
    assert lost.evaluate("(one) => one.complete && !one.naturalWidth && one.width > 40")
    page.emulate_media(media="print")
    for hidden in ("nav", "form", "button", ".take", "footer"):
        for one in page.locator(hidden).all():
            expect(one).to_be_hidden()
    expect(page.locator("article").first).to_be_visible()
    day.unlink()


def test_the_question_before_a_deletion_names_the_files_that_stay(
    server: Served, home: Path
) -> None:
    id = re.search(r"/entry/([\w-]+)", server.client.get("/search?type=decision").text)
    assert id
    question = server.post(f"/entry/{id[1]}/delete").text
    assert "Its 4 files stay: attachments/cat.png, attachments/plan (1).pdf" in question
    server.delete(id[1])
    assert (home / "journal" / "attachments" / "cat.png").read_bytes() == PNG
    server.post(f"/entry/{id[1]}/restore")
    id = re.search(r"/entry/([\w-]+)", server.client.get("/search?q=rained").text)
    assert id and "stay" not in server.post(f"/entry/{id[1]}/delete").text
