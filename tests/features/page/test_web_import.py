"""Notes of other programs, brought over on the page."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from bs4 import BeautifulSoup
from homes import open_home
from photos import PNG
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served

from synaptic import find, save
from synaptic.journal.disk import DRAFTS
from synaptic.journal.imports import UPLOADS
from synaptic.plugin import PLAN_UPLOADS
from synaptic.verbs.undoing import undo_run

NOW = {"SYNAPTIC_NOW": "2026-11-24T10:00:00", "TZ": "UTC"}
TICKS = '<div><en-todo checked="true"/>Glue</div><div><en-todo/>Screws</div>'
TABLE = "<table><tr><td>Part</td><td>cm</td></tr><tr><td>Board</td><td>80</td></tr></table>"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def server(home: Path) -> Iterator[Served]:
    with served(home, **NOW) as found:
        yield found


def attached(data: bytes, mime: str, name: str) -> tuple[str, str]:
    """(a file where a note shows it, the file) as Evernote exports them."""
    shown = f'<en-media type="{mime}" hash="{hashlib.md5(data).hexdigest()}"/>'
    held = (
        f'<resource><data encoding="base64">{b64encode(data).decode()}</data>'
        f"<mime>{mime}</mime><resource-attributes><file-name>{name}</file-name>"
        "</resource-attributes></resource>"
    )
    return shown, held


def notebook(count: int) -> bytes:
    """A notebook of so many days, as Evernote exports it."""
    picture, png = attached(PNG, "image/png", "shelf.png")
    plan, pdf = attached(b"%PDF-1.7 plan", "application/pdf", "plan.pdf")
    more = {0: (picture, png), 1: (plan, pdf), 2: (TICKS, ""), 3: (TABLE, "")}
    notes = []
    for number in range(count):
        shown, held = more.get(number, ("", ""))
        notes.append(
            f"<note><title>Shelf {number}</title>"
            f"<created>2026{number // 28 + 1:02}{number % 28 + 1:02}T081500Z</created>"
            '<content><![CDATA[<?xml version="1.0"?><!DOCTYPE en-note SYSTEM '
            '"http://xml.evernote.com/pub/enml2.dtd"><en-note><div>Text of note '
            f"{number}.</div>{shown}</en-note>]]></content>{held}</note>"
        )
    head = '<?xml version="1.0"?><en-export>'
    return f"{head}{''.join(notes)}</en-export>".encode()


def zipped(files: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def main_text(answer: httpx.Response) -> str:
    main = BeautifulSoup(answer.text, "html.parser").main
    assert main, answer.text
    return " ".join(main.get_text(" ").split())


def chosen(server: Served, *files: tuple[str, bytes], **fields: str) -> httpx.Response:
    """What the page answers to these files."""
    return server.client.post(
        "/import",
        data={"csrf": server.csrf(), **fields},
        files=[("files", file) for file in files],
    )


def agreed(server: Served, preview: httpx.Response) -> httpx.Response:
    """What the page says once the person agrees to what it showed."""
    seen = re.search(r'name="agreed" value="(\w+)"', preview.text)
    assert seen, preview.text
    data = {"csrf": server.csrf(), "agreed": seen[1]}
    return server.client.post("/import", data=data, follow_redirects=True)


def texts(home: Path) -> dict[str, str]:
    notes = (home / "journal").rglob("*.md")
    return {note.name: note.read_text("utf-8") for note in notes}


def kept_uploads(home: Path) -> list[Path]:
    return [*(home / ".state" / DRAFTS).glob(f"{UPLOADS}*/*")]


def test_a_notebook_comes_over_once_and_is_taken_back(server: Served, home: Path) -> None:
    preview = chosen(server, ("Workshop.enex", notebook(45)))
    said = main_text(preview)
    assert "Evernote : Workshop.enex" in said and "Import 45 entries" in said
    assert "New: 45 entries, from 1 January 2026 to 17 February 2026." in said
    assert texts(home) == {}

    done = agreed(server, preview)
    assert "Imported: 45 entries." in main_text(done)
    journal = home / "journal"
    here = texts(home)
    assert len(here) == 45 and kept_uploads(home) == []
    pictures = {file.suffix for file in (journal / "attachments").rglob("*.*")}
    assert pictures == {".png", ".pdf"}
    assert "- [x] Glue\n- [ ] Screws" in here["2026-01-03.md"]
    assert "| Board | 80 |" in here["2026-01-04.md"]
    assert UPLOADS not in "".join(here.values())

    again = main_text(chosen(server, ("Workshop.enex", notebook(45))))
    assert "Nothing new. Here already: 45." in again and "Import 45" not in again

    run = re.search(r'name="run" value="([^"]+)"', done.text)
    assert run
    back = server.client.post(
        "/undo",
        data={"csrf": server.csrf(), "run": run[1], "back": "/import"},
        follow_redirects=True,
    )
    assert "Took back:" in main_text(back) and texts(home) == {}


def test_each_kind_of_file_is_read_as_by_the_command(server: Served, home: Path) -> None:
    preview = chosen(
        server,
        ("vault.zip", zipped({"trips/2026-03-14.md": b"# Ely\n\nWe went.\n"})),
        ("journal.txt", b"[2026-11-21 09:31] Tea with Ida.\nIt was hot.\n"),
        ("film.mp4", b"\0\0\0 ftypmp42"),
        modified="1",
    )
    said = main_text(preview)
    assert "jrnl : journal.txt" in said and "Texts and documents : trips/2026-03-14.md" in said
    assert ".mp4 files are not read: film.mp4" in said and "Import 2 entries" in said
    done = main_text(agreed(server, preview))
    assert "Imported: 2 entries. What did not come is named below." in done
    assert ".mp4 files are not read: film.mp4" in done
    assert "What did not come" not in main_text(server.client.get("/import"))
    here = texts(home)
    assert here.keys() == {"2026-03-14.md", "2026-11-21.md"}
    assert "place=vault.zip/trips/2026-03-14.md" in here["2026-03-14.md"]


def test_a_text_without_a_day_has_that_of_its_file(server: Served, home: Path) -> None:
    at = "1767268800000"  # 1 January 2026
    preview = chosen(server, ("../../etc/Tea.md", b"Black tea.\n"), modified=at)
    agreed(server, preview)
    assert texts(home).keys() == {"2026-01-01.md"}


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("film.mp4", b"\0\0\0 ftypmp42", ".mp4 files are not read: film.mp4"),
        ("x.zip", b"PK no zip", "it is not a zip, or a damaged one: x.zip"),
        ("x.enex", b"<html></html>", "it is not a file that Evernote exported"),
        (
            "bomb.zip",
            {"a.md": bytes(120_000_000)},
            "would unpack to 120,000,000 bytes, too many",
        ),
    ],
)
def test_what_cannot_be_imported_is_named(
    server: Served, home: Path, name: str, data: bytes | dict[str, bytes], reason: str
) -> None:
    """A dict is what stands in a zip."""
    answer = chosen(server, (name, zipped(data) if isinstance(data, dict) else data))
    said = main_text(answer)
    assert "Nothing in these files can be imported." in said
    assert reason in said and str(home) not in answer.text
    assert 'name="agreed"' not in answer.text


def test_no_file_is_an_answer(server: Served) -> None:
    answer = server.client.post("/import", data={"csrf": server.csrf()})
    assert answer.status_code == 400 and "No file was chosen." in main_text(answer)


def test_only_what_was_shown_is_imported(server: Served, home: Path) -> None:
    first = chosen(server, ("a.md", b"Of the first choice.\n"))
    chosen(server, ("b.md", b"Of the second.\n"))
    refused = agreed(server, first)
    assert refused.status_code == 404 and "others were chosen meanwhile" in main_text(refused)
    assert texts(home) == {}


def test_files_go_when_the_person_logs_out(server: Served, home: Path) -> None:
    chosen(server, ("a.md", b"A text.\n"))
    [kept] = kept_uploads(home)
    assert kept.stat().st_mode & 0o077 == 0 and kept.parent.stat().st_mode & 0o077 == 0
    server.post("/logout")
    assert kept_uploads(home) == []


def test_too_much_is_refused_with_the_limit(home: Path) -> None:
    code = "from synaptic.features.page import guard\nguard.IMPORT_BYTES = 100_000"
    with served(home, first=code, **NOW) as server:
        answer = chosen(server, ("a.enex", bytes(200_000)))
        assert answer.status_code == 400
        assert "larger than 100,000 bytes" in main_text(answer)
        assert kept_uploads(home) == []


def test_who_only_reads_imports_nothing(home: Path) -> None:
    with open_home(home):
        pass
    with served(home, "--read-only", **NOW) as server:
        assert server.client.get("/import").status_code == 403
        assert 'href="/import"' not in server.client.get("/").text
        answer = server.client.post("/import", files={"files": ("a.md", b"A text.\n")})
        assert answer.status_code == 403


def test_a_save_comes_between_the_parts_of_an_import(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "Workshop.enex").write_bytes(notebook(150))
    with open_home(tmp_path / "home") as ws:
        planned = PLAN_UPLOADS.ask_only(ws, folder)
        parts = planned.write_in_parts(ws)
        done = None
        saves = 0
        while done is None:
            try:
                next(parts)
                saves += 1
                save(ws, f"Between, {saves}.")
            except StopIteration as end:
                done = end.value
        assert saves > 2 and done.entries == 150
        assert find(ws, limit=1).total == 150 + saves
        undo_run(ws, done.run, confirms=True)
        assert find(ws, limit=1).total == saves


def test_the_empty_page_and_an_attached_notebook_lead_there(
    browser: Browser, server: Served, home: Path
) -> None:
    page = logged_in(browser, server).new_page()
    page.goto("/")
    page.locator("main").get_by_role("link", name="Import", exact=True).click()
    expect(page.get_by_role("heading", name="Import")).to_be_visible()
    page.goto("/")
    file = {"name": "Shelf.enex", "mimeType": "application/xml", "buffer": notebook(1)}
    page.locator("input[type=file]").first.set_input_files([file])  # type: ignore[list-item]
    way = page.get_by_role("link", name="Does that file hold notes? Import them")
    expect(way).to_be_visible()
    assert way.get_attribute("href") == "/import"

    page.goto("/import")
    page.locator("#import-files").set_input_files([file])  # type: ignore[list-item]
    page.get_by_role("button", name="Show what would come").click()
    page.get_by_role("button", name="Import 1 entry").click()
    expect(page.get_by_role("status")).to_contain_text("Imported: 1 entry.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Took back:")
    assert texts(home) == {}
