"""Imports from outside: the preview, the run, what a kill leaves, a second run, and taking one
back.
"""

from __future__ import annotations

import json
import re
import signal
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from forks import ForkedHome as Home
from hypothesis import given
from hypothesis import strategies as st

from synaptic.features.importing.readers.shared import first_valid_time

TEXTS = {
    "2026-11-02 09:00": ("The pump of the greenhouse", "It leaks at the lower valve."),
    "2026-11-02 18:30": (
        "A new valve",
        "## What it cost\nNine euros, at the harbour.\n\n## Where\nBehind the old mill.",
    ),
    "2026-11-05 07:15": (
        "The seedlings",
        "Twelve of them came up. The word is hunter2 <private>and mine</private>.",
    ),
}


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """A diary of three entries and a damaged one, as jrnl exports it."""
    path = tmp_path / "diary.json"
    write(path, TEXTS)
    return path


def write(path: Path, texts: dict[str, tuple[str, str]]) -> None:
    entries: list[object] = [
        {
            "title": title,
            "body": body,
            "date": at[:10],
            "time": at[11:],
            "tags": ["@garden"],
            "starred": False,
        }
        for at, (title, body) in texts.items()
    ]
    path.write_text(
        json.dumps({"tags": {"@garden": 1}, "entries": [*entries, {"title": "torn"}]})
    )


def ids(home: Home) -> Counter[str]:
    data = "\n".join(path.read_text() for path in home.journal.rglob("*.md"))
    return Counter(re.findall(r"^<!-- syn:(\S+) .*via=import:jrnl", data, re.M))


def test_a_preview_writes_nothing(home: Home, diary: Path) -> None:
    home.ask("init")
    told = home.ask("import", "jrnl", str(diary), "--dry-run")
    assert (told["new"], told["known"], len(told["skipped"])) == (3, 0, 1)
    assert [one["title"] for one in told["examples"]] == [title for title, _ in TEXTS.values()]
    refused = home.run("import", "jrnl", str(diary))
    assert refused.code == 2 and "--yes" in refused.err and "3 new" in refused.out
    assert list(home.journal.iterdir()) == []
    assert diary.exists()


def test_entries_come_in_order_of_time_between_those_that_are_there(
    home: Home, diary: Path
) -> None:
    own = home.ask("save", "Noon.", "--at", "2026-11-02T12:00")["id"]
    home.ask("import", "--yes", "jrnl", str(diary))
    text = (home.journal / "2026-11-02.md").read_text()
    assert re.findall(r"^## (\d\d:\d\d .*)$", text, re.M)[:3:2] == [
        "09:00 The pump of the greenhouse #garden",
        "18:30 A new valve #garden",
    ]
    found = home.ask("find", "--order", "oldest")["entries"]
    assert [entry["title"] for entry in found] == [
        "The pump of the greenhouse",
        "Noon.",
        "A new valve",
        "The seedlings",
    ]
    assert found[1]["id"] == own and found[2]["content"] == TEXTS["2026-11-02 18:30"][1]
    assert b"mine" not in b"".join(
        path.read_bytes() for path in home.path.rglob("*") if path.is_file()
    )
    assert home.ask("doctor")["ok"]


def test_a_second_run_adds_only_what_is_new(home: Home, diary: Path) -> None:
    home.ask("import", "--yes", "jrnl", str(diary))
    pump, valve, seedlings = (
        entry["id"] for entry in home.ask("find", "--order", "oldest")["entries"]
    )
    home.ask("update", pump, "--append", "Mended.")
    home.ask("delete", valve, "--yes")
    path = home.journal / "2026-11-05.md"
    path.write_text(path.read_text().split("## 07:15")[0])  # by hand
    before = home.files()
    again = home.ask("import", "--yes", "jrnl", str(diary))
    assert (again["new"], again["known"], again["deleted"]) == (0, 1, 2)
    assert home.files() == before
    write(diary, TEXTS | {"2026-11-09 10:00": ("The first frost", "Four degrees below.")})
    assert home.ask("import", "--yes", "jrnl", str(diary))["new"] == 1
    assert pump in ids(home) and ids(home).keys().isdisjoint({valve, seedlings})


@pytest.mark.parametrize(
    "step",
    ["overwrite-torn", "run-written", "create-torn", "woven", "replace-written", "replaced"],
)
def test_a_kill_loses_nothing_and_doubles_nothing(home: Home, diary: Path, step: str) -> None:
    home.ask("save", "Noon.", "--at", "2026-11-02T12:00")
    noon = (home.journal / "2026-11-02.md").read_bytes()
    assert (
        home.run("import", "jrnl", str(diary), "--yes", SYNAPTIC_FAULT=step).code
        == -signal.SIGKILL
    )
    home.ask("save", "Later.", "--at", "2026-11-05T12:00")
    home.run("import", "jrnl", str(diary), "--yes")
    assert set(ids(home).values()) == {1} and len(ids(home)) == 3
    assert home.ask("find")["total"] == 5
    assert noon.split(b"\n", 2)[2].strip() in (home.journal / "2026-11-02.md").read_bytes()
    assert not [path for path in home.path.rglob("*") if path.suffix == ".tmp"]


def test_a_killed_run_is_finished_without_its_source(home: Home, diary: Path) -> None:
    home.ask("init")
    assert (
        home.run("import", "jrnl", str(diary), "--yes", SYNAPTIC_FAULT="run-written").code
        == -signal.SIGKILL
    )
    diary.unlink()
    found = home.run("doctor", "--json")
    assert found.code == 1 and "import" in [
        one["code"] for one in found.json["findings"] if one["level"] == "warning"
    ]
    assert "was interrupted" in home.run("import").err
    assert home.run("import", "jrnl", str(diary), "--dry-run").code == 2
    assert len(ids(home)) == 0
    home.ask("doctor", "--fix")
    assert len(ids(home)) == 3


def test_an_interrupted_run_is_taken_back(home: Home, diary: Path) -> None:
    home.ask("init")
    assert (
        home.run("import", "jrnl", str(diary), "--yes", SYNAPTIC_FAULT="linked").code
        == -signal.SIGKILL
    )
    assert 0 < len(ids(home)) < 3
    (run,) = (path.name for path in (home.state / "imports").iterdir())
    home.ask("import", "--yes", "--undo", run)
    assert len(ids(home)) == 0 and list(home.journal.iterdir()) == []
    assert home.ask("import", "--yes", "jrnl", str(diary))["new"] == 3


def test_a_run_is_taken_back_but_for_what_was_used_since(home: Home, diary: Path) -> None:
    mine = home.ask("save", "Noon.", "--at", "2026-11-02T12:00")["id"]
    before = (home.journal / "2026-11-02.md").read_bytes()
    run = home.ask("import", "--yes", "jrnl", str(diary))["run"]
    pump, valve, seedlings = (
        entry["id"]
        for entry in home.ask("find", "--order", "oldest")["entries"]
        if entry["id"] != mine
    )
    home.ask("update", seedlings, "--append", "Two died.")
    assert home.ask("import", "--undo")["undoable"] == [{"name": run, "about": "3 entries"}]
    refused = home.run("import", "--undo", "jrnl-1", "--json")
    assert refused.code == 2 and refused.json["error"]["valid"] == [run]
    back = home.ask("import", "--yes", "--undo", run)
    assert back["entries"] == 2 and [one[0] for one in back["kept"]] == [seedlings]
    assert (home.journal / "2026-11-02.md").read_bytes() == before
    assert home.ask("restore", pump)["id"] == pump
    assert (
        home.ask("import", "--yes", "jrnl", str(diary))["new"] == 1
    )  # what was taken back may come again
    assert ids(home) == Counter([pump, valve, seedlings])


def test_what_another_entry_names_is_not_taken_back(home: Home, diary: Path) -> None:
    run = home.ask("import", "--yes", "jrnl", str(diary))["run"]
    pump, valve, _ = (entry["id"] for entry in home.ask("find", "--order", "oldest")["entries"])
    home.ask("save", "A better valve.", "--supersedes", valve)
    home.ask("save", "See [[The seedlings]].")
    home.ask("save", "It went on.", "--parent", pump)
    assert home.ask("import", "--yes", "--undo", run)["entries"] == 0


def test_a_bad_source_is_told_what_to_do(home: Home, tmp_path: Path) -> None:
    home.ask("init")
    for args in (["nothing"], ["jrnl", str(tmp_path / "nowhere")], ["jrnl"]):
        refused = home.run("import", *args, "--json")
        assert refused.code == 2 and (
            refused.json["error"]["hint"] or refused.json["error"]["valid"]
        )
    (home.path / "config.toml").write_text('exclude_projects = ["Garden"]\n')
    path = tmp_path / "diary.json"
    write(path, TEXTS)
    told = home.ask("import", "--yes", "jrnl", str(path), "--project", "garden")
    assert told["new"] == 0 and len(told["skipped"]) == 4


def test_into_a_folder_of_the_journal(home: Home, diary: Path) -> None:
    home.ask("init")
    for wrong in ("../out", "/tmp/out", ".hidden"):
        assert home.run("import", "jrnl", str(diary), "--into", wrong, "--yes").code == 2
    home.ask("import", "--yes", "jrnl", str(diary), "--into", "diary", "--since", "2026-11-05")
    assert [path.name for path in (home.journal / "diary").iterdir()] == ["2026-11-05.md"]
    assert home.ask("find")["entries"][0]["date"] == "2026-11-05"


@given(st.datetimes(datetime(1975, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC)))
def test_seconds_milliseconds_and_iso_text_are_one_instant(at: datetime) -> None:
    at = at.replace(microsecond=0)
    seconds = int(at.timestamp())
    values = (seconds, seconds * 1000, at.isoformat(), at.replace(tzinfo=None).isoformat())
    assert {first_valid_time(value) for value in values} == {at}
