"""Diaries in one file, with dates in their headings: read as dated entries, and edited without
loss.
"""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest
from diaries import DAYS, JRNL, LATEST_FIRST, NOW, read
from hypothesis import given
from hypothesis import strategies as st
from outside import Home

from synaptic.notes.blocks import TIME
from synaptic.notes.diary import read_date_of_heading
from synaptic.notes.reading import parse_entries

JOINED_DAYS = (
    "# 2026-03-14\n\n## 09:31 Milk\n\nBought.\n\n## Later\n\n# 2026-03-15\n\nA quiet "
    "day.\n\n## 10:15 Bread\n"
)


def test_each_date_begins_an_entry() -> None:
    assert read(DAYS) == [
        ("", "My diary", "My diary"),
        (
            "2026-03-14",
            "It rained",
            "It rained. We stayed in.\n\n### Evening\n\nDinner with Ada.\n\n## Ideas\n\nA "
            "boat.",
        ),
        ("2026-03-15", "At sea", "Wind."),
        ("2026-03-16", "Home again", "Home again."),
    ]
    assert [one[:2] for one in read(LATEST_FIRST)] == [
        ("2026-03-16", "Latest"),
        ("2026-03-15", "Middle"),
        ("2026-03-14", "Oldest"),
    ]
    assert read(JRNL, "j.md") == [
        ("2026-03-14 21:10", "At sea @boat", "body one"),
        ("2026-03-15 09:10", "Home", "#### a\n\nb"),
        ("2026-04-01 07:00", "The joke", "body three"),
    ]
    assert [one[:2] for one in read(JOINED_DAYS)] == [
        ("2026-03-14 09:31", "Milk"),
        ("2026-03-15", "A quiet day"),
        ("2026-03-15 10:15", "Bread"),
    ]


@pytest.mark.parametrize(
    ("heading", "day", "clock", "title"),
    [
        ("2026-03-14", "2026-03-14", "", ""),
        ("2026-03-14 - At sea", "2026-03-14", "", "At sea"),
        ("2026-03-14T21:10 At sea", "2026-03-14", "21:10", "At sea"),
        ("2026-03-14 09:10:03 PM At sea", "2026-03-14", "09:10:03 PM", "At sea"),
        ("2026/3/4, 21:10 – At sea", "2026-03-04", "21:10 –", "At sea"),
        ("[[2026-03-14|today]] (Saturday)", "2026-03-14", "", ""),
        ("Samstag, 14.03.2026", "2026-03-14", "", ""),
        ("Sat 14th of March, 2026: At sea", "2026-03-14", "", "At sea"),
        ("[0.2.0] - 2026-03-14", "", "", ""),
        ("v1.2 2026-03-14", "", "", ""),
        ("2026-03-14, Version 0.11.16 (Stable), @ada", "", "", ""),
        ("2026-03-14 - v0.5", "", "", ""),
        ("2026-03-14 `3.0.0`", "", "", ""),
        ("2026-03-14 ran 3.5 km", "2026-03-14", "", "ran 3.5 km"),
        ("Meeting 2026-03-14", "", "", ""),
        ("[2026-03-14](notes.md)", "", "", ""),
        ("2026-02-30", "", "", ""),
        ("2026-03-14-beta", "", "", ""),
        ("14 March", "", "", ""),
    ],
)
def test_the_date_of_a_heading(heading: str, day: str, clock: str, title: str) -> None:
    when = read_date_of_heading(heading, 0, TIME)
    found = (
        (when.day.isoformat(), heading[slice(*when.time)], heading[when.end :].strip())
        if when
        else ("", "", "")
    )
    assert found == (day, clock, title)


@pytest.mark.parametrize(
    "text",
    [
        "# Changelog\n\n## [0.2.0] - 2026-03-14\n\n- x\n\n## [0.1.0] - 2026-03-13\n\n- y\n",
        "# Trip\n\n## 2026-03-14\n\nWe left.\n",
        "# Plan\n\n## Goal\n\n## Steps\n\n## 2026-03-14\n\n## 2026-03-15\n\n## Risks\n",
        "# Log\n\n```\n## 2026-03-14\n## 2026-03-15\n```\n",
    ],
    ids=["changelog", "one date", "few dates", "in a fence"],
)
def test_other_notes_with_dates_stay_one(text: str) -> None:
    [one] = parse_entries(text.encode(), "Page.md", mtime=NOW).entries
    assert one.whole_file and not one.dated


def test_a_day_file_is_no_diary() -> None:
    text = "## 2026-03-14 looked back\n\na\n\n## 2026-03-15 looked on\n\nb\n"
    assert [one[:2] for one in read(text, "2026-11-20.md")] == [
        ("2026-11-20", "2026-03-14 looked back"),
        ("2026-11-20", "2026-03-15 looked on"),
    ]


@pytest.fixture
def diaries(home: Home, tmp_path: Path) -> Home:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in (
        ("days.md", DAYS),
        ("late.md", LATEST_FIRST),
        ("jrnl.md", JRNL.replace("\n", "\r\n")),
    ):
        (vault / name).write_bytes(text.encode())
    home.path.mkdir(mode=0o700)
    (home.path / "config.toml").write_text(f"journal = {json.dumps(str(vault))}\n")
    return home


def ids(home: Home, path: str) -> dict[str, str]:
    entries = home.ask("find", "--limit", "100", "--order", "oldest")["entries"]
    return {one["title"]: one["id"] for one in entries if one["path"] == path}


def test_entries_of_a_diary_are_edited_in_their_file(diaries: Home, tmp_path: Path) -> None:
    days, jrnl = tmp_path / "vault" / "days.md", tmp_path / "vault" / "jrnl.md"
    found = ids(diaries, "days.md")
    diaries.ask(
        "update",
        found["At sea"],
        "--append",
        "Waves.",
        "--type",
        "decision",
        "--add-tag",
        "boat",
    )
    kept = diaries.run("update", found["Home again"], "--content", "Home is good again.")
    assert kept.code == 1 and "days.md:25 holds private text" in kept.err
    diaries.ask("update", found["Home again"], "--append", "It is good.")
    after = DAYS.replace(
        "## 2026-03-15: At sea #sea\n\nWind.\n",
        f"## 2026-03-15: decision: At sea #sea #boat\n<!-- syn:{found['At sea']} "
        f"-->\n\nWind.\n\nWaves.\n",
    )
    after = after.replace(
        "## Mon, March 16th, 2026\n",
        f"## Mon, March 16th, 2026\n<!-- syn:{found['Home again']} -->\n",
    )
    after = after.replace(
        "Home <private>with Bo</private> again.",
        "Home <private>with Bo</private> again.\n\nIt is good.",
    )
    assert days.read_text() == after
    now = ids(diaries, "days.md")
    assert (now["Home again"], now["At sea"]) == (found["Home again"], found["At sea"])
    home = ids(diaries, "jrnl.md")["Home"]
    diaries.ask("update", home, "--title", "At home", "--append", "### c")
    wanted = JRNL.replace(
        "09:10 Home\n\n#### a\n\nb\n",
        f"09:10 At home\n<!-- syn:{home} -->\n\n#### a\n\nb\n\n### c\n",
    )
    assert jrnl.read_bytes() == wanted.replace("\n", "\r\n").encode()
    refused = diaries.run("update", home, "--append", "### 2026-03-20 Another day")
    assert refused.code == 1 and "nothing was changed" in refused.err
    assert diaries.run("doctor").code == 0


@pytest.mark.parametrize(
    ("path", "title"), [("days.md", "At sea"), ("late.md", "Middle"), ("jrnl.md", "Home")]
)
def test_a_deleted_entry_comes_back_to_its_place(
    diaries: Home, tmp_path: Path, path: str, title: str
) -> None:
    file, id = tmp_path / "vault" / path, ids(diaries, path)[title]
    before = file.read_bytes()
    kept = [name for name in ids(diaries, path) if name != title]
    diaries.ask("delete", id, "--yes")
    assert list(ids(diaries, path)) == kept
    diaries.ask("restore", id)
    line = b"<!-- syn:%b -->" % id.encode()
    assert re.sub(line + rb"\r?\n", b"", file.read_bytes()) == before
    assert ids(diaries, path)[title] == id and diaries.run("doctor").code == 0


def test_an_update_that_an_editor_undid_is_named_and_restored(
    diaries: Home, tmp_path: Path
) -> None:
    file, id = tmp_path / "vault" / "late.md", ids(diaries, "late.md")["Middle"]
    before = file.read_bytes()
    diaries.ask("update", id, "--append", "More.")
    file.write_bytes(before)
    assert id in diaries.run("doctor").out
    diaries.ask("doctor", "--restore", id)
    wanted = before.replace(
        b"# 15 March 2026\n\nMiddle.\n",
        f"# 15 March 2026\n<!-- syn:{id} -->\n\nMiddle.\n\nMore.\n".encode(),
    )
    assert file.read_bytes() == wanted


def test_days_show_what_a_diary_says_of_them(diaries: Home) -> None:
    shown = diaries.run("day", "2026-03-15").out
    assert (
        "## At sea" in shown
        and "#sea · #life" in shown
        and "## 09:10 Home" in shown
        and "## Middle." in shown
    )


WRITTEN = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d %B %Y",
    "%A, %B %d, %Y",
    "[[%Y-%m-%d]]",
    "%Y-%m-%d 21:10",
]


@given(
    st.lists(st.dates(date(1901, 1, 1), date(2099, 12, 31)), min_size=2, max_size=8),
    st.sampled_from(WRITTEN),
    st.integers(1, 3),
    st.sampled_from(["\n", "\r\n"]),
)
def test_every_day_of_a_diary_is_an_entry_of_that_day(
    days: list[date], form: str, level: int, eol: str
) -> None:
    text = "".join(
        f"{'#' * level} {day.strftime(form)}\n\nNumber {n}.\n\n" for n, day in enumerate(days)
    )
    data = text.replace("\n", eol).encode()
    entries = parse_entries(data, "Diary.md", mtime=NOW).entries
    assert [one.date for one in entries] == [day.isoformat() for day in days]
    assert [one.content for one in entries] == [f"Number {n}." for n in range(len(days))]
    assert len({one.id for one in entries}) == len(days)
    assert b"".join(data[one.there.start : one.there.end] for one in entries) == data
