"""Fourteen days in as many styles, with questions and requests by somebody who has not seen the code."""

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
    return {str(path): (path.read_bytes(), status.st_mtime_ns, status.st_mode) for path, status in stats}


@pytest.fixture
def diary(home: Home, tmp_path: Path) -> Home:
    home.env["SYNAPTIC_NOW"] = NOW
    shutil.copytree(DATA / "diary", tmp_path / "diary")
    assert home.run("init", "--journal", str(tmp_path / "diary")).code == 0
    return home


def test_reading_commands_change_no_byte(diary: Home, tmp_path: Path) -> None:
    before = bytes_of(tmp_path / "diary")
    for words in (
        *("search roof", "search -- roof -kefir", "find --has-tasks", "recent", "tags", "tasks", "tasks --done"),
        *("links --broken", "find --links-to Kestrel", "day 2026-11-06", "week", "status", "rebuild-index", "doctor"),
    ):
        answer = diary.run(*words.split())
        assert (answer.code, answer.err.startswith("synaptic:")) == (0, False), (words, answer.err)
    assert bytes_of(tmp_path / "diary") == before


def test_every_style_of_day_is_read(diary: Home) -> None:
    entries = diary.ask("find", "--order", "oldest", "--limit", "100")["entries"]
    by_file: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        by_file.setdefault(entry["path"], []).append(entry)
    assert len(by_file) == 14
    for path, found in by_file.items():
        year, month, day = ("2026", "11", re.findall(r"[0-9]+", path.replace("2026", "").replace("11/", ""))[-1])
        if path == "14.11.2026.md":
            day = "14"
        assert {entry["date"] for entry in found} == {f"{year}-{month}-{day}"}, path
        assert {entry["date_source"] for entry in found} == {"file"}
    times = {entry["time"] for entry in entries}
    assert {"18:30", "18:00", "08:00", "14:00", "08:15"} <= times


def test_a_day_is_shown_in_the_order_of_its_file(diary: Home) -> None:
    shown = diary.run("day", "2026-11-06").out
    heads = [f"## {time}" for time in ("08:00", "11:00", "15:00", "18:00")]
    assert [shown.index(head) for head in [*heads, "## Notes to self"]] == sorted(
        shown.index(head) for head in [*heads, "## Notes to self"]
    )
    notes = next(one for one in diary.ask("day", "2026-11-06")["entries"] if one["title"] == "Notes to self")
    assert notes["at"] > "2026-11-06T18:00:00" and "2026-11-06 18:00  note       Notes" not in diary.run("find").out


def test_front_matter_of_a_day_tells_of_all_its_entries(diary: Home) -> None:
    hits = diary.ask("search", "roofer author:Callum")["hits"]
    assert [hit["title"] for hit in hits][:1] == ["The roofer"]
    assert {hit["path"] for hit in hits} == {"2026-11-06.md"}


def test_requests_for_a_list_are_told_from_questions(tmp_path: Path) -> None:
    """24 requests for the days that are meant, and 24 questions that only sound so; today is a Friday."""
    wrong = []
    clock = Clock()
    clock.now = datetime.fromisoformat(NOW).astimezone()
    shutil.copytree(DATA / "diary", tmp_path / "journal")
    with open_home(tmp_path, clock=clock) as ws:
        for asked in of_file("diary_lists.json"):
            found = search(ws, asked["request"])
            told = next((notice for notice in found.notices if notice.startswith("Read as a list")), "")
            days = re.findall(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}", told)
            meant = list(dict.fromkeys(asked[end] for end in ("since", "until") if end in asked))
            wrong += [asked["request"]] if days != meant else []
            assert not told or all(days[0] <= hit.entry.date <= days[-1] for hit in found.hits)
    assert len(wrong) <= 1, wrong


def test_the_entry_that_answers_stands_early(model: FastEmbedder, tmp_path: Path) -> None:
    """Of the English questions: a floor just below what `bench.py diary` measured when this was written."""
    clock = Clock()
    clock.now = datetime.fromisoformat(NOW).astimezone()
    shutil.copytree(DATA / "diary", tmp_path / "journal")
    questions = [asked for asked in of_file("diary_questions.json") if asked["lang"] == "en"]
    first = early = 0
    with open_home(tmp_path, embedder=model, clock=clock) as ws:
        rebuild(ws)
        for asked in questions:
            paths = [hit.entry.place and hit.entry.place.path for hit in search(ws, asked["question"], limit=3).hits]
            first += paths[:1] == [asked["file"]]
            early += asked["file"] in paths
    assert first > 0.55 * len(questions) and early > 0.8 * len(questions)
