"""`synaptic export`, read back as other programs read it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from forks import ForkedHome

TEXT = 'Chose SQLite, "one file".\n\nNo server;\r\n=1+1, ünïcode\u200d \x1b[31m and a\ttab.'
PRIVATE = "## 08:00 Told\n\nSaid <private>hunter2</private> aloud.\n"


@pytest.fixture
def filled(home: ForkedHome, tmp_path: Path) -> ForkedHome:
    home.folder = tmp_path
    home.ask(
        "save",
        "-",
        "--type",
        "decision",
        "--tag",
        "db",
        "--tag",
        "a/b",
        "--file",
        "src/a b.py",
        stdin=TEXT,
    )
    home.ask("save", "Later.", "--supersedes", home.entries()[0]["id"], "--importance", "8")
    (home.journal / "2025-01-02.md").write_text(PRIVATE)
    return home


def test_rows_read_back_as_the_entries_are(filled: ForkedHome, tmp_path: Path) -> None:
    rows = filled.ask("export")
    assert rows[0]["title"] == "Told" and len(rows) == 3
    known = {
        entry["id"]: entry
        for entry in filled.ask("get", *(row["id"] for row in rows))["entries"]
    }
    assert all(row == {name: known[row["id"]][name] for name in row} for row in rows)
    assert filled.ask("export", "--type", "decision", "--since", "2026-01-01") == [rows[1]]
    assert filled.ask("export", "--tag", "none") == []
    assert filled.ask("export", "--project", "*") == rows

    answer = filled.run("export", "--csv", "table.csv")
    assert answer.code == 0 and not answer.out
    text = (tmp_path / "table.csv").read_bytes().decode()
    assert text == filled.run("export", "--csv").out
    table = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [_of_cells(cells) for cells in table] == rows
    assert "hunter2" not in text and "Said" in text


def test_an_undated_note_gets_no_day(home: ForkedHome) -> None:
    home.journal.mkdir(parents=True)
    (home.journal / "2026-11-20.md").write_text("# Quay\n\nCrates.\n")
    (home.journal / "quay.md").write_text("# Rope\n\nTar.\n")
    rows = {row["title"]: row for row in home.ask("export")}
    assert (rows["Quay"]["date"], rows["Quay"]["date_source"]) == ("2026-11-20", "file")
    assert (rows["Rope"]["at"], rows["Rope"]["date"]) == (None, None)
    assert rows["Rope"]["date_source"] == "mtime"
    [note] = home.ask("get", rows["Rope"]["id"])["entries"]
    assert (note["at"], note["date"], note["time"]) == (None, None, None)
    table = list(csv.DictReader(io.StringIO(home.run("export", "--csv").out, newline="")))
    assert {row["title"]: row["date"] for row in table} == {"Quay": "2026-11-20", "Rope": ""}


def test_no_cell_of_a_table_is_a_formula(home: ForkedHome) -> None:
    for text in ("=1+1", "+1", "-1", "@SUM(A1)"):
        home.ask("save", "-", "--title", text, stdin=f"{text} in a cell")
    home.ask("save", "A plain one: =1+1")
    table = list(csv.DictReader(io.StringIO(home.run("export", "--csv").out, newline="")))
    assert [row["content"] for row in table] == [
        "'=1+1 in a cell",
        "'+1 in a cell",
        "'-1 in a cell",
        "'@SUM(A1) in a cell",
        "A plain one: =1+1",
    ]
    assert not [
        cell
        for row in table
        for cell in row.values()
        if cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    ]


def _of_cells(cells: dict[str, str]) -> dict[str, Any]:
    numbers = {
        name: int(cells[name]) if cells[name] else None for name in ("importance", "line")
    }
    lists = {name: cells[name].split("\n") if cells[name] else [] for name in ("tags", "files")}
    return {name: cell or None for name, cell in cells.items()} | numbers | lists


def test_it_overwrites_nothing_and_says_what_it_takes(
    filled: ForkedHome, tmp_path: Path
) -> None:
    (tmp_path / "kept.json").write_text("mine")
    answer = filled.run("export", "--json", "kept.json")
    assert answer.code == 1 and "kept.json cannot be written: File exists" in answer.out
    assert (tmp_path / "kept.json").read_text() == "mine"
    for wrong in ([], ["--json", "--csv"]):
        answer = filled.run("export", *wrong)
        assert answer.code == 2 and "--csv [FILE]" in answer.text
