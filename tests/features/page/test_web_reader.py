"""What a person who only reads does not get: the place of a photo, what was deleted, and where
the home lies.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from homes import open_home
from photos import JPEG, PICTURES, PLACE
from served import served

from synaptic.verbs.removing import delete
from synaptic.verbs.saving import save

TOKEN = "r" * 40
Reader = tuple[httpx.Client, Path, dict[str, str]]
"""A client of a person who only reads, the home, and the ids of entries."""
LINKS = {
    "p.jpg": "![](p.jpg)",
    "p.png": "![](p.png)",
    "p.webp": "![](p.webp)",
    "linked.jpg": "[a photo](linked.jpg)",
    "embedded.jpeg": "![[embedded.jpeg]]",
    "torn.jpg": "![](torn.jpg)",
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    home = tmp_path_factory.mktemp("reader") / "home"
    ids = {}
    with open_home(home) as ws:
        ids["photos"] = save(ws, " ".join(LINKS.values()), title="Photos").id
        ids["gone"] = save(ws, "UNSEEN text.", title="UNSEEN title").id
        ids["lost"] = save(ws, "LOSTTEXT.", title="LOSTTITLE", at="2026-11-19 08:00").id
        delete(ws, ids["gone"])
        ws.journal.place("2026-11-19.md").write_text("# An old buffer\n")
        for name in LINKS:
            kind = {"png": "image/png", "webp": "image/webp"}.get(
                name.rpartition(".")[2], "image/jpeg"
            )
            data = JPEG[:200] if name == "torn.jpg" else PICTURES[kind]
            (ws.config.journal / name).write_bytes(data)
    (home / "tokens.toml").write_text(
        f'[reader]\ntoken = "{TOKEN}"\npage = true\nread-only = true\n'
    )
    (home / "tokens.toml").chmod(0o600)
    with served(home) as server:
        client = httpx.Client(
            base_url=server.url,
            headers={"Origin": server.url},
            timeout=60,
            follow_redirects=True,
        )
        client.post("/login", data={"token": TOKEN})
        yield client, home, ids


@pytest.mark.parametrize("way", ["/picture", "/to"])
def test_a_picture_goes_to_a_reader_without_its_place(reader: Reader, way: str) -> None:
    client, home, _ = reader
    notes = (home / "journal").glob("*.md")
    [note] = [path for path in notes if "p.jpg" in path.read_text()]
    for name in LINKS:
        assert PLACE in (home / "journal" / name).read_bytes() or name == "torn.jpg"
        answer = client.get(way, params={"name": name, "from": note.name})
        assert PLACE not in answer.content
        assert answer.status_code == (404 if name == "torn.jpg" else 200), name


def test_a_zip_for_a_reader_has_no_place(reader: Reader) -> None:
    client, _, ids = reader
    answer = client.get("/export", params={"id": ids["photos"]})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        names = archive.namelist()
        assert sum(name.endswith((".jpg", ".jpeg", ".png", ".webp")) for name in names) == 5
        assert not [name for name in names if PLACE in archive.read(name)]


def test_no_page_shows_a_reader_what_is_gone_or_where_the_home_lies(reader: Reader) -> None:
    client, home, ids = reader
    home_of_wrong_id = [f"/entry/{ids['gone']}", f"/entry/{ids['gone'][9:]}"]
    paths = [
        *("/", "/deleted", "/health", "/health?whole=1", "/review", "/statistics", "/tasks"),
        *("/search?q=UNSEENX", "/waiting", "/devices", "/phone", "/folder", "/no/such/page"),
        *("/edit?path=../x.md", "/picture?name=../../tokens.toml", "/to?name=nothing"),
        *(f"/entry/{ids['photos']}", f"/entry/{ids['lost']}", *home_of_wrong_id),
        "/search?q=x&since=nonsense",
    ]
    for path in paths:
        text = client.get(path).text
        assert str(home.parent) not in text, path
        for word in ("UNSEEN title", "UNSEEN text", "LOSTT"):
            assert word not in text, path
    (home / "journal").rename(home / "away")
    try:
        lost = client.get("/")
        assert "is missing" in lost.text and str(home.parent) not in lost.text
    finally:
        (home / "away").rename(home / "journal")
