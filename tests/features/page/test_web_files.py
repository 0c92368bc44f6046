"""Pictures and files that a person adds to a note on the page, on the real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from photos import JPEG, PLACE, PNG
from playwright.sync_api import Browser, expect
from served import Served, logged_in, served
from trials import drawn

DAY = "2026-11-24"
KEPT = f"attachments/{DAY}-"
HTML = b"<html><script>parent.ran = 1; fetch('/')</script>"
DROP = """([kind, bytes, name, type]) => {
  const files = new DataTransfer();
  files.items.add(new File([new Uint8Array(bytes)], name, {type}));
  const how = {bubbles: true, cancelable: true};
  const made = kind === "paste" ? new ClipboardEvent(kind, {clipboardData: files, ...how})
    : new DragEvent(kind, {dataTransfer: files, ...how});
  document.querySelector(".box textarea").dispatchEvent(made);
}"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files") / "home"


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, SYNAPTIC_NOW=f"{DAY}T10:00:00") as server:
        yield server


def sent(
    server: Served, where: str, *files: tuple[str, bytes], **fields: str
) -> httpx.Response:
    """What the form there answers to these files."""
    return server.client.post(
        where,
        data={"csrf": server.csrf(), **fields},
        files=[("files", file) for file in files],
        follow_redirects=True,
    )


def kept(home: Path) -> set[str]:
    journal = home / "journal"
    return {one.relative_to(journal).as_posix() for one in journal.rglob("attachments/*")}


def test_files_of_a_form_are_linked_where_the_text_says(server: Served, home: Path) -> None:
    answer = sent(
        server,
        "/new",
        ("my cat.jpg", JPEG),
        ("report.pdf", b"%PDF-1.7"),
        content="See ![cat](<my cat.jpg>) here.",
    )
    assert answer.status_code == 200
    text = (home / "journal" / f"{DAY}.md").read_text("utf-8")
    assert f"See ![cat]({KEPT}my-cat.jpg) here.\n\n[report.pdf]({KEPT}report.pdf)" in text
    assert "may hold the place" in answer.text
    picture = re.search(r'src="(/picture[^"]+)"', answer.text)
    assert picture
    shown = server.client.get(picture[1].replace("&amp;", "&"))
    assert shown.headers["content-type"] == "image/jpeg" and PLACE not in shown.content


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("x.html", HTML),
        ("x.pdf", b"%PDF-1.7"),
        ("../../.ssh/authorized_keys", b"ssh-rsa"),
        ("..\\..\\x.html", HTML),
        ("/etc/cron.d/x", HTML),
        (".hidden", HTML),
    ],
)
def test_what_is_no_picture_is_a_download_in_which_nothing_runs(
    server: Served, home: Path, name: str, data: bytes
) -> None:
    before = kept(home)
    assert sent(server, "/new", (name, data), content="A file.").status_code == 200
    [path] = kept(home) - before
    assert path.startswith(KEPT) and not Path(path).name.startswith(".")
    assert server.client.get("/picture", params={"name": path, "from": ""}).status_code == 404
    got = server.client.get("/to", params={"name": path, "from": f"{DAY}.md"})
    assert got.content == data
    assert got.headers["content-type"] == "application/octet-stream"
    assert got.headers["content-disposition"].startswith("attachment; ")
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["content-security-policy"] == "default-src 'none'; sandbox"


def test_a_picture_that_is_a_page_too_is_shown_as_a_picture(server: Served, home: Path) -> None:
    before = kept(home)
    both = PNG[:-12] + PNG[-12:]
    sent(server, "/new", ("x.html", b"GIF89a/*" + HTML), content="Both.")
    sent(server, "/new", ("y.html", both + HTML), content="Both.")
    for path in kept(home) - before:
        shown = server.client.get("/picture", params={"name": path, "from": ""})
        assert shown.headers["content-type"] in ("image/gif", "image/png")
        assert shown.headers["x-content-type-options"] == "nosniff"
        assert path.endswith((".gif", ".png")) and (
            b"script" not in shown.content or "gif" in path
        )


def test_a_note_that_fails_leaves_no_file(server: Served, home: Path) -> None:
    before = kept(home)
    for form, file, status in (
        ({"content": "x", "type": "odd"}, ("a.png", PNG), 400),
        ({"content": "x"}, ("a.png", PNG[:-20]), 400),
        ({"content": "x"}, ("a.md", b"# A note"), 400),
        ({"content": "x"}, ("a.png", b""), 400),
        ({"content": "x"}, ("a.bin", bytes(20_000_001)), 400),
        ({"content": "x", "csrf": "other"}, ("a.png", PNG), 403),
    ):
        fields = {"csrf": server.csrf(), **form}
        answer = server.client.post(
            "/new", data=fields, files=[("files", ("b.png", PNG)), ("files", file)]
        )
        assert answer.status_code == status, form
        assert kept(home) == before
    huge = server.client.post(
        "/new", data={"csrf": server.csrf()}, files={"files": ("a.bin", bytes(110_000_001))}
    )
    assert huge.status_code == 413 and kept(home) == before


def test_who_may_only_read_attaches_nothing(server: Served, home: Path) -> None:
    before = kept(home)
    with served(home, "--read-only", SYNAPTIC_NOW=f"{DAY}T10:00:00") as reading:
        answer = sent(reading, "/new", ("a.png", PNG), content="x")
        assert answer.status_code == 403
    assert kept(home) == before


def test_a_file_goes_into_a_note_of_a_folder(server: Served, home: Path) -> None:
    note = home / "journal" / "trips" / "Ely.md"
    note.parent.mkdir(parents=True)
    note.write_text("# Ely\n\nWe went.\n")
    page = server.client.get("/edit", params={"path": "trips/Ely.md"}).text
    seen = re.search(r'name="seen" value="([^"]+)"', page)
    assert seen
    text = "# Ely\n\nWe went.\n\n![](<map.png>)\n"
    sent(server, "/edit?path=trips/Ely.md", ("map.png", PNG), text=text, seen=seen[1])
    assert note.read_text() == f"# Ely\n\nWe went.\n\n![](../{KEPT}map.png)\n"
    again = sent(server, "/edit?path=trips/Ely.md", ("map.png", PNG), text="x", seen=seen[1])
    assert again.status_code == 409 and f"{KEPT}map-2.png" not in kept(home)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["drop", "paste"])
def test_files_are_dropped_and_pasted_into_each_box(
    browser: Browser, server: Served, home: Path, kind: str
) -> None:
    note = f"Cats, {kind}.md"
    server.post("/new", content="Look")  # which makes the folder
    (home / "journal" / note).write_text("# Cats\n")
    page = logged_in(browser, server).new_page()
    page.goto("/")
    page.get_by_role("link", name="Open Look").first.click()
    entry = page.url
    boxes = ("/", "/new", f"{entry}/edit", f"/edit?path={note}")
    for where in drawn(f"boxes to {kind}", boxes, 2):
        page.goto(where)
        box = page.locator(".box textarea")
        box.fill("Look #cat")
        box.press("ControlOrMeta+End")
        for _ in range(2):
            page.evaluate(DROP, [kind, list(PNG), "image.png", "image/png"])
        expect(box).to_have_value(
            "Look #cat\n\n![image.png](draft:image.png)\n\n![image.png](draft:image-2.png)\n"
        )
        expect(page.locator("#preview img").last).to_have_js_property("naturalWidth", 1)
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text("Saved")
        picture = page.locator("article img").first
        expect(picture).to_have_js_property("naturalWidth", 1)
