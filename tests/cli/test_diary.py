"""Fourteen days in as many styles, with questions and requests by somebody who has not seen the
code.
"""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from homes import Clock, open_home
from outside import Home

from synaptic import rebuild, search
from synaptic.index.embedding import FastEmbedder

DATA = Path(__file__).parents[1] / "data"
NOW = "2026-11-20T20:00:00"


def of_file(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return found


def bytes_of(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    stats = ((path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path): (path.read_bytes(), status.st_mtime_ns, status.st_mode)
        for path, status in stats
    }


@pytest.fixture
def diary(home: Home, tmp_path: Path) -> Home:
    home.env["SYNAPTIC_NOW"] = NOW
    shutil.copytree(DATA / "diary", tmp_path / "diary")
    assert home.run("init", "--journal", str(tmp_path / "diary")).code == 0
    return home


@pytest.mark.needs(feature="importing")
@pytest.mark.needs(feature="vault")
def test_reading_commands_change_no_byte(diary: Home, tmp_path: Path) -> None:
    before = bytes_of(tmp_path / "diary")
    for words in (
        *(
            "search roof",
            "search -- roof -kefir",
            "find --has-tasks",
            "recent",
            "tags",
            "tasks",
            "tasks --done",
        ),
        *(
            "links --broken",
            "find --links-to Kestrel",
            "day 2026-11-06",
            "week",
            "status",
            "rebuild-index",
            "doctor",
        ),
    ):
        answer = diary.run(*words.split())
        assert (answer.code, answer.err.startswith("synaptic:")) == (0, False), (
            words,
            answer.err,
        )
    assert bytes_of(tmp_path / "diary") == before


@pytest.mark.needs(feature="importing")
def test_every_style_of_day_is_read(diary: Home) -> None:
    entries = diary.ask("find", "--order", "oldest", "--limit", "100")["entries"]
    by_file: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        by_file.setdefault(entry["path"], []).append(entry)
    assert len(by_file) == 14
    for path, found in by_file.items():
        year, month, day = (
            "2026",
            "11",
            re.findall(r"[0-9]+", path.replace("2026", "").replace("11/", ""))[-1],
        )
        if path == "14.11.2026.md":
            day = "14"
        assert {entry["date"] for entry in found} == {f"{year}-{month}-{day}"}, path
        assert {entry["date_source"] for entry in found} == {"file"}
    times = {entry["time"] for entry in entries}
    assert {"18:30", "18:00", "08:00", "14:00", "08:15"} <= times


@pytest.mark.needs(feature="importing")
def test_a_day_is_shown_in_the_order_of_its_file(diary: Home) -> None:
    shown = diary.run("day", "2026-11-06").out
    heads = [f"## {time}" for time in ("08:00", "11:00", "15:00", "18:00")]
    assert [shown.index(head) for head in [*heads, "## Notes to self"]] == sorted(
        shown.index(head) for head in [*heads, "## Notes to self"]
    )
    notes = next(
        one
        for one in diary.ask("day", "2026-11-06")["entries"]
        if one["title"] == "Notes to self"
    )
    assert notes["at"] > "2026-11-06T18:00:00"
    line = next(
        line
        for line in diary.run("find", "--limit", "100").out.splitlines()
        if "Notes to self" in line
    )
    assert "2026-11-06  " in line and "18:00" not in line


@pytest.mark.needs(feature="importing")
def test_front_matter_of_a_day_tells_of_all_its_entries(diary: Home) -> None:
    hits = diary.ask("search", "roofer author:Callum")["hits"]
    assert [hit["title"] for hit in hits][:1] == ["The roofer"]
    assert {hit["path"] for hit in hits} == {"2026-11-06.md"}


def test_requests_for_a_list_are_told_from_questions(tmp_path: Path) -> None:
    """24 requests for the days that are meant, and 24 questions that only sound so; today is a
    Friday.
    """
    wrong = []
    clock = Clock()
    clock.now = datetime.fromisoformat(NOW).astimezone()
    shutil.copytree(DATA / "diary", tmp_path / "journal")
    with open_home(tmp_path, clock=clock) as ws:
        for asked in of_file("diary_lists.json"):
            found = search(ws, asked["request"])
            lists = ("Listed", "No entries")
            told = next(
                (notice for notice in found.notices if notice.startswith(lists)), ""
            ).partition(";")[0]
            days = re.findall(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", told)
            meant = list(
                dict.fromkeys(asked[end] for end in ("since", "until") if end in asked)
            )
            wrong += [asked["request"]] if days != meant else []
            assert not told or all(days[0] <= hit.entry.date <= days[-1] for hit in found.hits)
    assert len(wrong) <= 1, wrong


def test_the_entry_that_answers_stands_early(model: FastEmbedder, tmp_path: Path) -> None:
    """Of the English questions: a floor just below what `bench.py diary` measured when this was
    written.
    """
    clock = Clock()
    clock.now = datetime.fromisoformat(NOW).astimezone()
    shutil.copytree(DATA / "diary", tmp_path / "journal")
    questions = [asked for asked in of_file("diary_questions.json") if asked["lang"] == "en"]
    first = early = 0
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        rebuild(ws)
        for asked in questions:
            paths = [
                hit.entry.place and hit.entry.place.path
                for hit in search(ws, asked["question"], limit=3).hits
            ]
            first += paths[:1] == [asked["file"]]
            early += asked["file"] in paths
    assert first > 0.55 * len(questions) and early > 0.8 * len(questions)


TAGGED_DAY = b"""---
tags: [alpha]
mood: 7
---
# 2026-11-10

## Log
It rained.

## 09:31 Chose the roof #home
Slate.
"""


def test_tags_above_a_day_are_those_of_all_its_entries(home: Home) -> None:
    day = home.path / "journal" / "2026-11-10.md"
    day.parent.mkdir(parents=True, exist_ok=True)
    day.write_bytes(TAGGED_DAY)
    found = {one["title"]: one for one in home.ask("find", "--tag", "alpha")["entries"]}
    assert {title: one["tags"] for title, one in found.items()} == {
        "Log": ["alpha"],
        "Chose the roof": ["home", "alpha"],
    }
    told = home.ask("update", found["Log"]["id"], "--add-tag", "rain", "--remove-tag", "alpha")
    assert "front matter" in " ".join(told["notices"])
    comment = b"## Log #rain\n<!-- syn:" + found["Log"]["id"].encode() + b" -->\n"
    assert day.read_bytes() == TAGGED_DAY.replace(b"## Log\n", comment)
    assert home.ask("get", found["Log"]["id"])["entries"][0]["tags"] == ["rain", "alpha"]
    first = home.ask("save", "It cleared up.", "--at", "2026-11-10T12:00")["id"]
    assert b"#alpha" not in day.read_bytes() and home.ask("get", first)["entries"][0][
        "tags"
    ] == ["alpha"]


def test_a_save_again_into_a_day_with_tags_is_the_same_entry(home: Home) -> None:
    first = home.ask("save", "It rained.", "--tag", "weather")["id"]
    [day] = (home.path / "journal").glob("*.md")
    day.write_bytes(b"---\ntags: [alpha]\n---\n" + day.read_bytes())
    assert home.ask("save", "It rained.", "--tag", "weather")["id"] == first


PAGE = b"---\ndate: 2026-11-10\n---\nThe roses were pruned.\n\n- [ ] Buy string\n"


def test_a_day_shows_the_text_of_a_page_of_that_date(home: Home) -> None:
    journal = home.path / "journal"
    journal.mkdir(parents=True, exist_ok=True)
    (journal / "Roses.md").write_bytes(PAGE)
    (journal / "Long.md").write_bytes(
        b"---\ncreated: 2026-11-10\n---\n" + b"A line of it.\n" * 1_000
    )
    shown = home.run("day", "2026-11-10").out
    assert "## Roses\n" in shown and "The roses were pruned.\n\n- [ ] Buy string" in shown
    assert "## Long\n" in shown and shown.count("A line of it.") == 1_000


def test_a_day_has_titles_for_headings_and_shows_tags_and_ids(home: Home) -> None:
    at = "2026-11-10T09:3"
    marks = ("--type", "decision", "--tag", "roof", "--at", f"{at}1")
    decided = home.ask("save", "Chose slate.\n\nIt lasts.", *marks)["id"]
    home.ask("save", f"Called the roofer. He comes{' soon' * 40}.", "--at", f"{at}2")
    home.ask("save", "Prices in a table.", "--title", "Offers", "--at", f"{at}3")
    shown = home.run("day", "2026-11-10").out
    about = f"decision · project tests · #roof · {decided[-8:]}"
    assert f"\n\n## 09:31 Chose slate.\n\n{about}\n\nIt lasts.\n\n" in shown
    assert "## 09:32 Called the roofer.\n" in shown and shown.count("Called the roofer") == 1
    assert "## 09:33 Offers\n" in shown and "Prices in a table." in shown


def test_a_week_is_read_and_summed_apart_for_projects_and_tags(home: Home) -> None:
    """As `find` lists it with the same filters; other years are left out then."""
    for number, (project, tag) in enumerate((("shop", "db"), ("shop", "ui"), ("boat", "db"))):
        text = f"Did the work {number}.\n\nhours:: {number + 1}"
        for year in ("2025", "2026"):
            at = f"{year}-11-1{number}"
            home.ask("save", text, "--project", project, "--tag", tag, "--at", at, "--force")
    options: tuple[tuple[str, ...], ...] = (
        ("--project", "shop"),
        ("--project", "-shop"),
        ("--project", "*"),
        ("--tag", "db", "--project", "shop"),
    )
    for some in options:
        week = home.ask("week", "2026-11-10", *some)
        span = ("--since", "2026-11-09", "--until", "2026-11-15", "--order", "oldest")
        assert week["entries"] == home.ask("find", *span, *some)["entries"], some
        assert week["entries"] and not week["on_this_day"]
        sums = ("--sum", "hours", "--by", "project")
        assert home.ask("week", "2026-11-10", *some, *sums) == home.ask(
            "find", *span[:4], *some, *sums
        )
    assert "project boat" in home.run("day", "2026-11-12").out


def test_a_day_shows_some_entries_of_each_other_year(home: Home) -> None:
    """A year with many entries on that day does not hide the others."""
    for year, number in ((2026, 7), (2025, 1), (2023, 2), (2020, 1), (2019, 1)):
        texts = (f"## {hour:02}:00 Noted {year} {hour}\n\nx\n" for hour in range(number))
        home.journal.mkdir(parents=True, exist_ok=True)
        (home.journal / f"{year}-11-20.md").write_text("\n".join(texts))
    then = home.ask("day", "2019-11-20")["on_this_day"]
    assert [entry["date"][:4] for entry in then] == ["2026", "2026", "2025", "2023", "2020"]
    assert [entry["title"] for entry in then][:2] == ["Noted 2026 6", "Noted 2026 5"]


def test_a_text_that_begins_with_its_date_is_of_that_day(home: Home) -> None:
    home.env["SYNAPTIC_NOW"] = NOW
    saved = home.ask("save", "yesterday 5pm: called Ida")
    assert (saved["date"], saved["time"]) == ("2026-11-19", "17:00")
    assert (
        "Dated 2026-11-19 17:00, for the text begins with “yesterday 5pm:”." in saved["notices"]
    )
    assert home.ask("get", saved["id"])["entries"][0]["content"] == "called Ida"
    whole = home.ask("save", "yesterday 5pm: called Ida", "--at", "now")
    assert whole["date"] == NOW[:10]
    assert home.ask("get", whole["id"])["entries"][0]["content"].startswith("yesterday")
    bare = home.ask("save", "16.03.2026 14:30 met the publisher")
    assert bare["date"] == NOW[:10] and "“16.03.2026 14:30: ...”" in bare["notices"][0]
    assert not home.ask("save", f"{NOW[:10]} standup")["notices"]
    home.env["CLAUDECODE"] = "1"  # an agent's words stay as they are
    assert home.ask("save", "monday: deployed")["date"] == NOW[:10]
