"""The dates that git gives to notes: without a program of the repository, and the same in every
index.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from homes import open_home
from hubs import run_git
from pictures import picture

from synaptic import Workspace, find
from synaptic.workspace.git import first_commit_days

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is needed")


def git(folder: Path, *args: str) -> str:
    return run_git(folder, *args).stdout


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A repository with a note of one day, an import, a note that dates itself, and a note that
    is not committed.
    """
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    git(vault, "init", "-q", "-b", "main")
    commit(
        vault, "2021-03-04T23:50:00+0900", {"notes/Garden ü.md": "Beans.\n\n## 09:30 Watered\n"}
    )
    commit(vault, "2021-04-05", {f"notes/Book {n}.md": "A book." for n in range(21)})
    commit(
        vault,
        "2021-05-06",
        {"notes/2020-02-03.md": "A day.", "notes/Page.MD": "A page.", "above.md": "x"},
    )
    commit(vault, "2022-01-01", {"notes/Garden ü.md": "Beans and peas.\n\n## 09:30 Watered\n"})
    (vault / "notes" / "New.md").write_text("Not committed.")
    return vault


def commit(vault: Path, day: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        (vault / name).write_text(text)
    git(vault, "add", "--", *files)
    git(vault, "commit", "-qm", "x", "--date", day if "T" in day else f"{day}T12:00:00")


def dates(ws: Workspace) -> dict[str, set[str]]:
    """By file: the date and its source of each entry that has one."""
    found: dict[str, set[str]] = {}
    for entry in find(ws, limit=100).entries:
        if entry.dated and entry.place:
            found.setdefault(entry.place.path, set()).add(
                f"{entry.date_source} {entry.at:%Y-%m-%d %H:%M}"
            )
    return found


def test_git_dates_what_nothing_else_dates(vault: Path, tmp_path: Path) -> None:
    """Whatever is committed, taken back or cut off later: the index equals a fresh one."""
    alike: list[dict[str, set[str]]] = []

    def look(ws: Workspace) -> dict[str, set[str]]:
        found = dates(ws)
        with open_home(tmp_path / f"fresh{len(alike)}", journal=ws.config.journal) as fresh:
            assert dates(fresh) == found
            incremental, anew = picture(ws.index), picture(fresh.index)
            assert incremental["entries"] == anew["entries"]
        alike.append(found)
        return found

    expected = {
        "Garden ü.md": {"git 2021-03-04 00:00", "git 2021-03-04 09:30"},
        "2020-02-03.md": {"file 2020-02-03 00:00"},
        "Page.MD": {"git 2021-05-06 00:00"},
    }
    with open_home(tmp_path / "home", journal=vault / "notes") as ws:
        assert look(ws) == expected
        ids = {entry.title: entry.id for entry in find(ws, limit=100).entries}
        commit(vault, "2023-07-08", {"notes/New.md": "Not committed."})
        assert look(ws) == expected | {"New.md": {"git 2023-07-08 00:00"}}
        assert {entry.title: entry.id for entry in find(ws, limit=100).entries} == ids
        commit(vault, "2023-08-09", {f"notes/Second {n}.md": "A book." for n in range(20)})
        assert len(look(ws)) == 24
        git(vault, "reset", "-q", "--hard", "HEAD~2")
        assert look(ws) == expected
        head = git(vault, "rev-parse", "HEAD")
        (vault / ".git" / "shallow").write_text(head)
        assert look(ws).keys() == {"2020-02-03.md"}
        (vault / ".git" / "shallow").unlink()
        assert look(ws) == expected
        (vault / ".git").rename(tmp_path / "elsewhere")
        assert look(ws).keys() == {"2020-02-03.md"}


def test_a_commit_in_utc_belongs_to_its_owners_day(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(vault, "2022-05-07T03:11:20+0000", {"notes/Evening.md": "Along the canal."})
    monkeypatch.setenv("TZ", "America/Los_Angeles")
    time.tzset()
    try:
        first_commit_days.cache_clear()
        with open_home(tmp_path / "home", journal=vault / "notes") as ws:
            assert dates(ws)["Evening.md"] == {"git 2022-05-06 00:00"}
            assert "git 2021-03-04 00:00" in dates(ws)["Garden ü.md"]
    finally:
        monkeypatch.undo()
        time.tzset()
        first_commit_days.cache_clear()


def test_a_shallow_clone_dates_nothing(vault: Path, tmp_path: Path) -> None:
    for name, depth in (("whole", ()), ("shallow", ("--depth", "1"))):
        git(tmp_path, "clone", "-q", *depth, f"file://{vault}", name)
        with open_home(tmp_path / f"home-{name}", journal=tmp_path / name / "notes") as ws:
            assert ("Page.MD" in dates(ws)) is (name == "whole")


def test_git_is_asked_once_for_each_commit(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, program = tmp_path / "calls", tmp_path / "bin" / "git"
    calls.touch()
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> "{calls}"\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    path = os.environ["PATH"]
    monkeypatch.chdir(vault)

    def asked() -> int:
        """How often git is run by two searches of a new process."""
        before = len(calls.read_text().splitlines())
        first_commit_days.cache_clear()
        monkeypatch.setenv("PATH", f"{program.parent}:{path}")
        with open_home(tmp_path / "home", journal=vault / "notes") as ws:
            find(ws)
            find(ws)
        monkeypatch.setenv("PATH", path)
        return len(calls.read_text().splitlines()) - before

    assert (asked(), asked()) == (2, 0)  # for the days, and once for the root of the repository
    commit(vault, "2023-01-01", {"notes/2023-01-01.md": "A day."})
    assert (asked(), asked()) == (1, 0)
    (vault / "notes" / "2023-01-02.md").write_text("A note that dates itself.")
    assert asked() == 0
