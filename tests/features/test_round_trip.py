"""What the page exports, an import reads back; and what an import has brought comes once."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome as Home
from photos import PNG
from served import served

DAY = """---
mood: good
hours: 2
---
# 2026-01-05

## 09:15 Called the bank #bank
Zelazny. See [[Chose SQLite]].

hours:: 3.5

## 21:00 Größe
- [ ] Ring Ida due:2026-12-02
- [x] Pay <private>hunter2</private>
- \\<private>text\\</private> and `<private>`

## 22:00 Dates
2026-03-14

A day in the text.

## 2026-03-15 and a heading
"""
NOTE = """---
title: All of tea
date: 2026-02-10
project: kitchen
type: book
due: later
rating: 5
---
![a cat](../attachments/cat.png) with [[Größe]].

- [ ] Buy oolong 📅 2026-12-01
"""
SAVED: tuple[tuple[str, ...], ...] = (
    (
        "Due on a day",
        "--due",
        "2026-12-24",
        "--importance",
        "8",
        "--source",
        "https://example.org/a",
    ),
    ("Expires\n\n[hours:: 1.5]", "--expires", "2026-12-25", "--project", "ledger"),
    ("- [ ] [#A] Call Bob due:2026-12-04", "--file", "src/a b.py", "--tag", "a/b"),
    ("# A heading\n\n## 2026-03-14\n\nBelow it.", "--type", "preference"),
    ("日本語のメモ。\n\n\n\n  indented\n\n```\ncode:: 3\n```", "--title", "題" * 90),
)
OWN = {
    "at",
    "content",
    "path",
    "line",
    "date_source",
    "via",
    "backlinks",
    "links",
    "attached",
    "fields",
}
"""What an entry says of its place."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("trip") / "from")
    for path, data in {
        "2026-01-05.md": DAY.encode(),
        "notes/Tea.md": NOTE.encode(),
        "attachments/cat.png": PNG,
    }.items():
        file = home.journal / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    old = home.ask("save", "One file.", "--title", "Chose SQLite", "--at", "2026-01-31 08:00")
    for number, (text, *options) in enumerate(SAVED):
        home.ask("save", "-", "--at", f"2026-02-0{number + 1} 08:00:05", *options, stdin=text)
    home.ask("save", "Child", "--parent", old["id"], "--at", "2026-02-08 08:00")
    home.ask("save", "Newer", "--supersedes", old["id"], "--at", "2026-02-09 08:00")
    return home


def zip_of(home: Home, query: str = "include_superseded=true") -> bytes:
    """The zip of the page of all entries."""
    with served(home.path) as server:
        return server.client.get(f"/export?{query}").content


def entries(home: Home) -> dict[str, dict[str, Any]]:
    rows = home.ask("export")
    return {row["id"]: row for row in home.ask("get", *(one["id"] for one in rows))["entries"]}


def said(home: Home, *words: str) -> list[str]:
    """What a command says, without the places of entries."""
    lines = home.run(*words).out.splitlines()
    return sorted(re.sub(r"\s+\S*(?:\.md:\d+|\b[0-9a-z]{8})$", "", line) for line in lines)


def test_what_the_page_exports_an_import_reads_back(filled: Home, tmp_path: Path) -> None:
    data = zip_of(filled)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert b"hunter2" not in b"".join(map(archive.read, archive.namelist()))
    (tmp_path / "all.zip").write_bytes(data)
    back = Home(tmp_path / "back")
    assert back.ask("import", str(tmp_path / "all.zip"), "--yes")["new"] == 13
    before, after = entries(filled), entries(back)
    assert before.keys() == after.keys()
    for id, row in before.items():
        for name in row.keys() - OWN:
            assert after[id][name] == row[name], (id, name)
        assert after[id]["at"][:19] == row["at"][:19]  # a heading without a time has parts
        lost = {*row["fields"]} - {*after[id]["fields"]} - {"hours"}  # of a file: once
        lost -= {"project"} if row["project"] == after[id]["project"] else set()
        assert not lost, id
        text = re.sub(r"(?m)^\w+:: .*\n?", "", after[id]["content"]).strip()
        plain = re.sub(r"(?m)^\w+:: .*\n?", "", row["content"]).strip()
        image = re.compile(r"\([^)]*\.png\)")
        text = text.replace("\\<", "<")  # a tag that is text keeps its backslash
        assert image.sub("()", text) in (image.sub("()", plain), ""), id
    links = [
        [(one["text"], one["id"]) for one in some[id]["links"]]
        for some in (before, after)
        for id in sorted(before)
    ]
    assert links[: len(before)] == links[len(before) :]
    for words in (("find", "--sum", "hours"), ("tasks",), ("tasks", "--done")):
        assert said(filled, *words) == said(back, *words), words
    pictures = [*back.journal.rglob("*.png")]
    assert [file.read_bytes() for file in pictures] == [PNG]

    for home in (back, filled):  # it is here already, also where it comes from
        again = home.ask("import", str(tmp_path / "all.zip"), "--yes")
        assert (again["new"], again["known"]) == (0, 13)
