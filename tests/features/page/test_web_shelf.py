"""Files beside the notes that are given away, to whom, and those that never are."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from photos import PNG
from served import Served, served
from trials import drawn

from synaptic.journal.folder import Roots
from synaptic.journal.shelf import _READ_BYTES, ATTACHMENTS, ServableFiles

ROOT = Path(__file__).parents[3]
SECRET = "hunter2"
NOTE = f"""# 2026-11-20

## 09:00 Visible
See [plan](files/plan%20b.pdf), ![[only.pdf]], ![](files/cat.png), [r][1], and [s](<s p.zip>).
[txt](log.txt) [json](data.json) [copy](copy.txt) [home](../synaptic/shot.png)
[a](archive/secret.pdf) [A](ARCHIVE/secret.pdf) [h](.hidden/x.png) [t](link.pdf) [n](note.pdf)
[m](in.pdf) [t](2026-11-20.md.txt) [b](2026-11-20.md.bak) [d](x.toml) [p](page.pdf#page=2)

[1]: files/ref.pdf

`[x](code.pdf)` \\[x](escaped.pdf) <!-- [x](comment.pdf) --> %%[x](percent.pdf)%%

```
[x](fence.pdf)
```

    [x](indented.pdf)

<private>{SECRET} and [x](hidden.pdf) ![](hidden.png)</private>
"""
SHOWN = (
    "files/plan b.pdf|only.pdf|files/cat.png|files/ref.pdf|s p.zip|log.txt|data.json|page.pdf"
)
UNLINKED = "code.pdf|escaped.pdf|comment.pdf|percent.pdf|fence.pdf|indented.pdf|hidden.pdf|hidden.png|other.pdf"
COPIES = (
    "2026-11-20.md~|2026-11-20.md.bak|2026-11-20.md.orig|#2026-11-20.md#|2026-11-20.md.txt|"
    "2026-11-20.MD.TXT|2026-11-20.sync-conflict-20261120-101010-ABCDEFG.txt|2026-11-20.txt|"
    "copy.txt|2026-11-20.md (copy).csv|2026-11-20.orig|x.toml|secrets.env|id_rsa|index.db|"
    "archive/secret.pdf|archive/deep/secret.png|.hidden/x.png|.hidden/deep/x.pdf|link.pdf|note.pdf|"
    "in.pdf|hard.pdf|utf16.txt|synaptic/tokens.toml|synaptic/shot.png|synaptic/sessions/x.png|"
    "synaptic/config.toml|2026-11-20.md|way/secret.pdf"
)
"""Paths of the journal that nobody gets."""
NEVER = COPIES.split("|")


def plant(journal: Path) -> None:
    """Writes the files of a journal in which the home lies."""
    home = journal / "synaptic"
    secret = f"<private>{SECRET}</private>\n"
    for path in NEVER:
        place = journal / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if path in ("link.pdf", "note.pdf", "in.pdf", "hard.pdf") or path.startswith("way/"):
            continue
        data = (
            SECRET.encode()
            if path.startswith((".", "archive", "synaptic"))
            else secret.encode()
        )
        place.write_bytes(PNG + data if path.endswith("png") else data)
    (journal / "utf16.txt").write_bytes(secret.encode("utf-16"))
    (journal / "2026-11-20.md").write_text(NOTE)
    (home / "config.toml").write_text('exclude = ["archive"]\n')
    (home / "tokens.toml").write_text(
        f'[reader]\ntoken = "{SECRET * 5}"\npage = true\nread-only = true\n'
    )
    (home / "tokens.toml").chmod(0o600)
    home.chmod(0o700)
    for name, target in {
        "link.pdf": home / "tokens.toml",
        "note.pdf": journal / "2026-11-20.md",
        "in.pdf": journal / "archive" / "secret.pdf",
        "way": journal / "archive",
    }.items():
        (journal / "way").rmdir() if name == "way" else None
        (journal / name).symlink_to(target)
    (journal / "hard.pdf").hardlink_to(journal / "2026-11-20.md")
    for path in f"{SHOWN}|{UNLINKED}".split("|"):
        place = journal / path
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(PNG + b"open" if path.endswith("png") else b"open")
    (journal / "trips").mkdir()
    (journal / "trips" / "Ely.md").write_text("# Ely\n\n![](../hidden.png) [x](../other.pdf)\n")
    (journal / "off.md").write_text("---\nsynaptic: false\n---\n[x](code.pdf)\n")


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    journal = tmp_path_factory.mktemp("shelf") / "journal"
    (journal / "synaptic" / "sessions").mkdir(parents=True)
    plant(journal)
    return journal


@pytest.fixture(scope="module")
def owner(journal: Path) -> Iterator[Served]:
    with served(journal / "synaptic", SYNAPTIC_JOURNAL=str(journal)) as server:
        yield server


@pytest.fixture(scope="module")
def reader(owner: Served) -> httpx.Client:
    """A person with a token that only reads."""
    client = httpx.Client(base_url=owner.url, headers={"Origin": owner.url}, timeout=60)
    assert client.post("/login", data={"token": SECRET * 5}).status_code == 303
    return client


def got(client: httpx.Client, name: str, path: str = "2026-11-20.md") -> bytes | None:
    """The file that both addresses give for a name; None for none. No answer tells a secret."""
    bodies = set()
    others = [
        (way, method, headers)
        for way in ("/to", "/picture")
        for method in ("GET", "HEAD")
        for headers in ({}, {"Range": "bytes=0-40"})
    ]
    plain = [others.pop(4), others.pop(0)]
    for way, method, headers in [*plain, *drawn(f"other ways to {path} {name}", others)]:
        asked = {"name": name, "from": path}
        answer = client.request(method, way, params=asked, headers=headers)
        assert SECRET not in f"{answer.content!r}{answer.headers}", (way, name)
        if answer.status_code == 200 and method == "GET":
            bodies.add(answer.content)
    assert len(bodies) < 2
    return bodies.pop() if bodies else None


def spellings(path: str) -> set[str]:
    """Names that a system may take for this path."""
    encoded = quote(path)
    return {
        path,
        encoded,
        quote(encoded),
        path.replace(".", "%2e"),
        path.replace("/", "%2f"),
        path.replace("/", "\\"),
        path.replace("/", "%5c"),
        f"./{path}",
        f"files/../{path}",
        f"/{path}",
        f"{path}\0.png",
        f"{path}%00.png",
        f"{path}#x.png",
        f"{path}?x.png",
        f"{path}.",
        f"{path}/",
        path.upper(),
        path.swapcase(),
        path.rpartition("/")[2],
    }


@pytest.mark.sweep("path")
@pytest.mark.parametrize("path", NEVER)
def test_some_files_are_given_to_nobody(owner: Served, reader: httpx.Client, path: str) -> None:
    persons = owner.client, reader
    for person in persons:
        assert got(person, path) is None
    others = [(person, name) for name in sorted(spellings(path) - {path}) for person in persons]
    for person, name in drawn(f"spellings of {path}", others):
        assert got(person, name) is None, name
    assert got(owner.client, f"../{path}", "trips/Ely.md") is None


def test_a_reader_gets_the_files_to_which_a_visible_entry_links(
    owner: Served, reader: httpx.Client
) -> None:
    page = reader.get("/day/2026-11-20").text
    links = {
        link.replace("&amp;", "&") for link in re.findall(r'"(/(?:to|picture)\?[^"]+)"', page)
    }
    files = [link for link in links if reader.get(link).status_code == 200]
    assert len(files) == len(SHOWN.split("|"))
    for path in SHOWN.split("|"):
        assert got(reader, path) and got(owner.client, path)
        assert got(reader, path, "") is None  # no entry was named
    for path in UNLINKED.split("|"):
        assert got(owner.client, path)
        assert got(reader, path) is None, path
        assert got(reader, path, "off.md") is None
    for where in (
        "\0",
        "%",
        "'",
        "x" * 5_000,
        "..",
        "/etc/passwd",
        "@none/x.md",
        "2026-11-20",
        "archive",
    ):
        assert got(reader, "only.pdf", where) in (None, b"open")
        assert got(reader, "hidden.pdf", where) is None
    assert got(reader, "../other.pdf", "trips/Ely.md") and got(
        reader, "../hidden.png", "trips/Ely.md"
    )
    assert got(reader, "../hidden.pdf", "trips/Ely.md") is None


def test_a_zip_takes_along_what_its_asker_may_have(owner: Served, reader: httpx.Client) -> None:
    for client in (owner.client, reader):
        answer = client.get("/export", params={"path": "2026-11-20.md"})
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        assert SECRET.encode() not in b"".join(files.values())
        names = {name for name in files if not name.endswith(".md")}
        if client is not reader:  # a text may name files without a link that the page shows
            names -= {"comment.pdf", "percent.pdf", "indented.pdf", "escaped.pdf"}
        assert names == {*SHOWN.split("|")}


def test_a_note_that_is_read_in_place_opens_its_folder_to_nobody(tmp_path: Path) -> None:
    """A source may be a single note among files of another program."""
    (tmp_path / "j").mkdir()
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "NOTE.md").write_text("[x](credentials.json)")
    (tmp_path / "program" / "credentials.json").write_text("{}")
    (tmp_path / "home" / "sessions").mkdir(parents=True)
    (tmp_path / "home" / "sessions" / "x.png").write_bytes(PNG)
    folders = {
        "": tmp_path / "j",
        "@sessions": tmp_path / "home" / "sessions",
        "@note": tmp_path / "program" / "NOTE.md",
        "@home": tmp_path / "home" / "sessions",
    }
    shelf = ServableFiles(Roots(folders), (tmp_path / "home",))
    for path in ("@note/credentials.json", "@sessions/x.png", "@home/x.png"):
        assert shelf.open(path) is None


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_private_passage_is_seen_at_any_place_of_a_file(
    tmp_path: Path, encoding: str
) -> None:
    """Also between two parts that are read: a copy of a note in any encoding stays here."""
    shelf = ServableFiles(Roots({"": tmp_path}), ())
    tag = "<Private>".encode(encoding)
    for start in (0, *range(_READ_BYTES - len(tag), _READ_BYTES + 2), 3 * _READ_BYTES):
        (tmp_path / "x.bin").write_bytes(b"\0" * start + tag)
        assert shelf.open("x.bin") is None, start
    (tmp_path / "x.bin").write_bytes(b"\0" * _READ_BYTES + tag[: len(tag) // 2])
    opened = shelf.open("x.bin")
    assert opened
    opened[1].close()


def test_the_home_may_hold_the_journal(tmp_path: Path) -> None:
    journal = tmp_path / "home" / "journal"
    journal.mkdir(parents=True)
    tokens = journal / "tokens.txt"
    for file in (tokens, journal / "a.txt", tmp_path / "home" / "b.txt"):
        file.write_text("x")
    (journal / "c.txt").symlink_to(tmp_path / "home" / "b.txt")
    shelf = ServableFiles(Roots({"": journal}), (tmp_path / "home", tokens))
    opened = shelf.open("a.txt")
    assert opened
    opened[1].close()
    assert not any(map(shelf.open, ("tokens.txt", "c.txt", "../b.txt")))
    assert (
        ServableFiles(Roots({"": tmp_path / "home"}), (tmp_path / "home",)).open("b.txt")
        is None
    )


STEPS = [
    *{step for path in NEVER for step in path.split("/")},
    "..",
    ".",
    "",
    "files",
    "cat.png",
    "ARCHIVE",
]


@given(st.lists(st.sampled_from(STEPS), max_size=5).map("/".join))
@example("synaptic/../archive/secret.pdf")
@example("files/cat.png")
def test_no_path_opens_a_file_that_is_closed(journal: Path, path: str) -> None:
    shelf = ServableFiles(Roots({"": journal}, ["archive"]), (journal / "synaptic",))
    opened = shelf.open(path)
    if opened:
        with opened[1] as file:
            assert file.read().endswith(b"open")


def test_the_suffixes_are_listed_in_serve() -> None:
    text = (ROOT / "docs" / "SERVE.md").read_text("utf-8")
    [row] = re.findall(r"(?s)one of these endings\..*?\n\n(.*?)\n\n", text)
    assert set(re.findall(r"\.\w+", row)) == ATTACHMENTS
    assert not ATTACHMENTS & {
        ".md",
        ".bak",
        ".orig",
        ".toml",
        ".db",
        ".py",
        ".sh",
        ".key",
        ".pem",
    }
