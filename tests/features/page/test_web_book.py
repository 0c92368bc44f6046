"""A book of entries, from the page and from the command line."""

from __future__ import annotations

import io
import random
import re
import zipfile
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest
from bs4 import BeautifulSoup
from forks import ForkedHome
from homes import open_home
from PIL import Image
from playwright.sync_api import Browser
from served import Served, served

from synaptic import save
from synaptic.features.page import book_entries
from synaptic.features.page.book import default_title
from synaptic.filters import Filters

NOW = {"SYNAPTIC_NOW": "2026-11-24T10:00:00", "TZ": "UTC"}
FIRST = """# 2026-10-30

## 08:00 Boat #lake
We keep it, <private>because of hunter2</private>. See [[Tea#Warm cups]], [[2026-11-02]],
[[Nowhere]] and [#lake](/tag/lake): ![The lake](photos/lake.jpg)

### Part
[[#Part]] ![gone](photos/gone.png)

## Gratitude

## Quiet
Nothing happened.

## 20:00 Therapy
<private>all of it</private>

## 21:00 Bought milk
"""
SECOND = """# 2026-11-02

## Comments
%% nothing is shown %%

### A template's heading

## 09:00 Twin
### Part
[[#Part]] [^1]

### Part
Once more.

[^1]: A footnote.

> [!tip]- Folded
> It is open on paper.

## 10:00 </style><script>alert(1)</script>
<script>alert(1)</script><img src=x onerror=alert(1)>![e](https://evil.example/y.png)
<img src="https://evil.example/x.png"><iframe src="https://evil.example"></iframe>
<a href="javascript:alert(1)">x</a> <a title='x" onclick="alert(1)' href="/to?name=Tea">q</a>
<style>body{display:none}</style></article></section></main>The end. `href="/to?name=Tea"`

## 11:00 A digest
<!-- syn:20261102-7k3m9q2x at=2026-11-02T11:00:00+00:00 via=import:claude-code -->

What an agent did.
"""
TEA = "# Tea\n\nAll of tea.\n\n### Warm cups\n\nA text of cups.\n"
TITLE = 'Our "year" </style><script>alert(2)</script> \\'


def make_picture() -> bytes:
    """A JPEG of 2,000 to 1,000 pixels that is to be turned, and says where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "at the secret lake"
    file = io.BytesIO()
    picture = Image.new("RGB", (2_000, 1_000), "teal")
    picture.save(file, "JPEG", exif=exif, comment=b"at the secret lake")
    return file.getvalue()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("book") / "home"
    for path, data in {
        "2026-10-30.md": FIRST.encode(),
        "2026-11-02.md": SECOND.encode(),
        "Tea.md": TEA.encode(),
        "photos/lake.jpg": make_picture(),
    }.items():
        file = home / "journal" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, "--read-only", **NOW) as found:
        yield found


def get_book(server: Served, **asked: str) -> BeautifulSoup:
    answer = server.client.get("/book/file", params=asked)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"].startswith("attachment;")
    return BeautifulSoup(answer.text, "html.parser")


def headings(book: BeautifulSoup) -> list[str]:
    return [one.get_text() for one in book.select("main :is(h2, h3, h4)")]


def test_each_entry_stands_once_below_its_day_without_what_is_private_or_empty(
    server: Served,
) -> None:
    october = ["October 2026", "Friday, 30 October 2026", "Boat", "Quiet"]
    november = ["November 2026", "Monday, 2 November 2026", "Twin"]
    november.append("</style><script>alert(1)</script>")
    last = ["Without a date", "Tea"]
    oldest = get_book(server)
    assert headings(oldest) == [*october, *november, *last]
    assert headings(get_book(server, first="newest")) == [*november, *october, *last]
    assert headings(get_book(server, tag="lake")) == october[:3]
    assert headings(get_book(server, q="path:Tea.md")) == last
    assert headings(get_book(server, since="2026-11-01")) == november
    contents = [one.get_text(" ", strip=True) for one in oldest.select("nav > ol > li")]
    assert contents == [
        "October 2026 3 entries 30",
        "November 2026 2 entries 2",
        "Without a date 1 entry Tea",
    ]
    text = oldest.get_text()
    assert "Bought milk" in text and "The end." in text and "A text of cups." in text
    for hidden in ("hunter2", "Therapy", "all of it", "Gratitude", "template", "an agent did"):
        assert hidden not in text
    assert server.client.get("/book/file?since=never").status_code == 400
    assert server.client.get("/book/file?photos=huge").status_code == 400
    assert "No entry fits" in server.shown("/book?since=2025-01-01&until=2025-02-01")
    for shown in ("/calendar?year=2026", "/calendar?month=2026-10", "/tag/lake", "/search"):
        assert '<a href="/book?' in server.shown(shown), shown


def test_all_links_and_pictures_of_a_book_are_in_it(server: Served) -> None:
    book = get_book(server)
    ids = [one["id"] for one in book.select("[id]")]
    assert len(set(ids)) == len(ids)
    places = {}
    for link in book.select("a[href]"):
        href = str(link["href"])
        if href == "https://evil.example/y.png":
            continue  # a link that a person may follow
        assert href[0] == "#" and href[1:] in ids, href
        places[link.get_text()] = href
    assert places["Tea > Warm cups"].endswith("-warm-cups") and "Nowhere" not in places
    assert places["2026-11-02"] == "#d-2026-11-02" and "#lake" not in places
    assert all(one.has_attr("open") for one in book.select("details"))
    assert [one.get_text() for one in book.select(".no-picture")] == ["[gone]"]
    assert "photos/gone.png" in book.get_text()
    for photos, size in {"large": (800, 1_600), "small": (400, 800)}.items():
        [shown] = get_book(server, photos=photos).select("main img")
        kind, _, data = str(shown["src"]).partition(";base64,")
        picture = b64decode(data)
        assert kind == "data:image/jpeg" and shown["alt"] == "The lake"
        assert b"secret" not in picture and not Image.open(io.BytesIO(picture)).getexif()
        assert Image.open(io.BytesIO(picture)).size == size


def test_a_book_runs_nothing_and_loads_nothing(
    browser: Browser, server: Served, tmp_path: Path
) -> None:
    file = tmp_path / "book.html"
    file.write_text(str(server.client.get("/book/file", params={"title": TITLE}).text))
    page = browser.new_page(viewport={"width": 390, "height": 844})
    events: list[str] = []
    page.on("request", lambda request: events.append(request.url[:40]))
    page.on("console", lambda message: events.append(message.text))
    page.on("dialog", lambda dialog: events.append(dialog.message))
    page.goto(file.as_uri())
    assert page.locator("h1").inner_text() == TITLE == page.title()
    assert page.evaluate("document.scripts.length") == 0
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("img").evaluate("(one) => one.naturalWidth") == 800
    pdf = page.pdf()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) >= 5  # a cover, three months, lost
    begins = (file.as_uri()[:40], "data:image")
    assert not [event for event in events if not event.startswith(begins)]


def test_a_book_that_is_too_large_is_a_zip_of_a_page_and_its_pictures(home: Path) -> None:
    limit = "from synaptic.features.page import book; book.HTML_BYTES = 3_000"
    with served(home, "--read-only", first=limit, **NOW) as server:
        assert ": a zip of the page and its pictures" in server.shown("/book")
        answer = server.client.get("/book/file?title=A/b")
    assert answer.headers["content-disposition"].endswith("''A-b.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        picture, html = archive.namelist()
        assert html == "A-b.html"
        [shown] = BeautifulSoup(archive.read(html), "html.parser").select("main img")
        assert shown["src"] == picture and picture.startswith("pictures/")
        assert Image.open(io.BytesIO(archive.read(picture))).size == (800, 1_600)


def test_others_are_answered_while_a_book_is_read_slowly(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    noise = Image.frombytes("RGB", (500, 500), random.Random(1).randbytes(750_000))
    noise.save(home / "journal" / "noise.png")
    rows = "\n".join(f"## Note {number}\n![](noise.png)\n" for number in range(20))
    (home / "journal" / "2026-10-01.md").write_text(f"# 2026-10-01\n\n{rows}")
    with served(home, **NOW) as server, server.client.stream("GET", "/book/file") as answer:
        parts = answer.iter_bytes()
        begin = next(parts)
        assert server.client.get("/review").status_code == 200  # by the same process
        server.post("/new", content="It came meanwhile.")
        assert "It came meanwhile." in server.shown("/")
        book = b"".join([begin, *parts]).decode()
    assert len(re.findall("<article", book)) == 20 and book.rstrip().endswith("</html>")


def test_a_step_of_a_book_renders_all_that_it_read_however_long_reading_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(book_entries, "time", SimpleNamespace(monotonic=lambda: now))
    with open_home(tmp_path / "home") as ws:
        ids = [save(ws, f"Note {number}.").id for number in range(5)]
        compare = ws.journal.compare

        def compare_slowly(*values: Any) -> Any:
            nonlocal now
            now += 60
            return compare(*values)

        monkeypatch.setattr(ws.journal, "compare", compare_slowly)
        planned = book_entries.plan_entries(ws, ids=ids, tokens=tmp_path / "none", edges=(1,))
        inside = book_entries.Inside(frozenset(ids), frozenset())
        style = book_entries.PictureStyle(1, is_inline=True)
        rendered = book_entries.render_entries(
            ws, ids=ids, inside=inside, style=style, tokens=tmp_path / "none"
        )
    assert now >= 120
    assert [one and one.id for one in planned] == ids
    pairs = zip(ids, rendered, strict=True)
    assert all(one and f'id="e-{id}"' in one.text for id, one in pairs)


def test_a_book_says_when_an_entry_is_due(tmp_path: Path) -> None:
    home = ForkedHome(tmp_path / "home", folder=tmp_path)
    home.ask("save", "Fill in the papers.", "--due", "2026-11-25", "--tag", "farm", **NOW)
    home.ask("book", "2026-11", "--to", str(tmp_path / "book.html"), **NOW)
    assert "<span>due 25 November 2026</span>" in (tmp_path / "book.html").read_text()


def test_the_command_writes_a_whole_new_file_or_none(home: Path, tmp_path: Path) -> None:
    own = ForkedHome(tmp_path / "own", folder=tmp_path)
    own.journal.mkdir(parents=True)
    (own.journal / "2026-10-30.md").write_text(FIRST)
    answer = own.run("book", "2026", SYNAPTIC_FAULT="book-written", **NOW)
    assert answer.code not in (0, 1, 2) and not [*tmp_path.glob("2026*")]
    first = own.ask("book", "2026", **NOW)
    assert first["entries"] == 3 and first["lost"] == ["photos/lake.jpg", "photos/gone.png"]
    again = own.ask("book", "2026-10", "--title", "2026", "--order", "newest", **NOW)
    names = [path.name for path in sorted(tmp_path.iterdir()) if path.name != "own"]
    assert names == ["2026-2.html", "2026.html"] and again["file"].endswith("2026-2.html")
    for words, complaint in {
        ("2026", "--to", "2026.html"): "is there already",
        ("2026", "--to", "none/x.html"): "its folder does not exist",
        ("2026", "--to", "year.pdf"): "prints it as PDF",
        ("2025",): "there is no book",
        ("2026", "--photos", "huge"): "large, small",
    }.items():
        answer = own.run("book", *words, **NOW)
        assert answer.code in (1, 2) and complaint in answer.text, answer.text
    (own.journal / "2026-10-31.md").write_text("## 09:00 Acme\nhours:: 1:30\n")
    own.ask("book", "2026", "--to", "hours.html", **NOW)
    hours = BeautifulSoup((tmp_path / "hours.html").read_text(), "html.parser")
    sums = hours.select_one("section[aria-labelledby=sums]")
    assert sums and sums.get_text(" ", strip=True).endswith("no project 1.5 In all 1.5")
    assert 'id="sums"' not in (tmp_path / "2026.html").read_text()


def test_a_book_may_be_one_markdown_file_with_its_pictures_beside_it(tmp_path: Path) -> None:
    """The same entries as in the HTML, each below one heading with its day."""
    own = ForkedHome(tmp_path / "own", folder=tmp_path)
    own.journal.mkdir(parents=True)
    notes = {
        "2026-10-30.md": FIRST.replace(
            "[[Nowhere]]", "![[photos/lake.jpg|300]] [tea](tea.pdf)"
        ),
        "2026-11-02.md": "## 09:00 Twin\n# Loud\n\nUnder\n-----\n```\n# code\n```\n",
        "Tea.md": TEA,
    }
    for path, text in notes.items():
        (own.journal / path).write_text(text)
    (own.journal / "photos").mkdir()
    (own.journal / "photos" / "lake.jpg").write_bytes(make_picture())
    (own.journal / "tea.pdf").write_bytes(b"%PDF-1.7")
    html = own.ask("book", "--to", "all.html", **NOW)
    done = own.ask("book", "--to", "all.md", **NOW)
    assert done["entries"] == html["entries"] and done["file"] == str(tmp_path / "all.md")
    text = (tmp_path / "all.md").read_text()
    of_entries = [line for line in text.splitlines() if line.startswith("## ")]
    shown = BeautifulSoup((tmp_path / "all.html").read_text(), "html.parser")
    assert len(of_entries) == len(shown.select("article.book-entry"))
    assert of_entries[0] == "## 2026-10-30 08:00 Boat" and of_entries[-1] == "## Tea"
    assert "hunter2" not in text and "all of it" not in text and "## Quiet" not in text
    assert text.count("(all-pictures/lake.jpg)") == 2 and "# code" in text.splitlines()
    assert b"secret lake" not in (tmp_path / "all-pictures" / "lake.jpg").read_bytes()
    assert (tmp_path / unquote(text.partition("[tea](")[2].partition(")")[0])).is_file()
    for words, complaint in {
        ("--to", "all.md"): "is there already",
        ("--to", str(own.journal / "x.md")): "would be there twice",
    }.items():
        answer = own.run("book", *words, **NOW)
        assert answer.code in (1, 2) and complaint in answer.text, answer.text
    one = own.ask("book", "--tag", "lake", "--to", "lake.md", **NOW)
    assert one["entries"] == 1 and not (tmp_path / "lake-2.md").exists()


@pytest.mark.parametrize(
    ("filters", "title"),
    [
        (Filters(), "Journal"),
        (Filters(since="2026-01-01", until="2026-12-31"), "2026"),
        (Filters(since="2024-01-01", until="2026-12-31"), "2024 to 2026"),
        (Filters(since="2028-02-01", until="2028-02-29"), "February 2028"),
        (Filters(since="2026-02-03", until="2026-02-03"), "3 February 2026"),
        (Filters(since="2026-02-03", tags=("tea",)), "#tea, since 3 February 2026"),
        (Filters(until="9999-12-31", projects=("a",)), "a, until 31 December 9999"),
        (Filters(since="2026-02-03", until="2026-03-31"), "3 February 2026 to 31 March 2026"),
    ],
)
def test_a_book_is_called_what_it_is_about(filters: Filters, title: str) -> None:
    assert default_title(filters) == title
