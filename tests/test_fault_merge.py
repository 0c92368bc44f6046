"""Two machines append to one journal, and git merges: no entry is lost, mixed, doubled or damaged."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import Rounds
from homes import Clock, open_home
from hypothesis import given, settings
from hypothesis import strategies as st
from outside import Home

from synaptic import Workspace, delete, find, save, status, update
from synaptic.gitdriver import by_lines
from synaptic.merge import Merged, merge

pytestmark = pytest.mark.fault(row=12)

DAY = "2026-11-21.md"
BODIES = (
    "Done.",
    "Half-even rounding per line item, says the accountant.\n\nNobody objected.",
    "```python\ndef total(items):\n    return sum(items)\n```",
    "~~~\n## 10:00 not a heading\n~~~\n\nAnd some text.",
    "- [ ] write it\n- [ ] test it\n\n## Why\n\nBecause.",
)
IDENTITY = {
    **{f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *args: str, ok: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["git", *args], cwd=folder, env=os.environ | IDENTITY, capture_output=True, text=True)
    assert not ok or done.returncode == 0, done.stdout + done.stderr
    return done


@dataclass
class Machine:
    """A clone with a home of its own."""

    clone: Path
    ws: Workspace
    clock: Clock
    name: str

    def commit(self) -> None:
        git(self.clone, "add", "-A")
        git(self.clone, "commit", "-qm", self.name, "--allow-empty")

    def entries(self) -> dict[str, str]:
        """The content of every entry by its id; of hand-typed ones, whose ids may change, by their text."""
        found: dict[str, str] = {}
        cursor: str | None = None
        while True:
            page = find(self.ws, limit=100, cursor=cursor)
            for entry in page.entries:
                key = entry.content if entry.derived_id else entry.id
                assert key not in found, f"{key} twice"
                found[key] = entry.content
            cursor = page.cursor
            if cursor is None:
                return found


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    made = []
    for name in ("desk", "lap top"):
        clone = tmp_path / name
        if made:
            git(tmp_path, "clone", "-q", str(made[0].clone), name)
        else:
            clone.mkdir()
            git(clone, "init", "-q", "-b", "main")
            (clone / "README").write_text("notes\n")
        journal = clone / "my notes"
        journal.mkdir(exist_ok=True)
        clock = Clock()
        ws = open_home(tmp_path / f"{name} home", journal=journal, clock=clock)
        made.append(Machine(clone, ws, clock, name))
        if len(made) == 1:
            save(ws, "The first of all.")
            made[0].commit()
        home = Home(tmp_path / f"{name} home", {"SYNAPTIC_JOURNAL": str(journal), **IDENTITY})
        assert home.ask("git-setup")["changed"]
    yield made[0], made[1]
    for machine in made:
        machine.ws.close()


@dataclass
class Truth:
    """What must be in the journal after a merge."""

    entries: dict[str, str]
    typed: int = 0
    editable: list[str] = field(default_factory=list)

    def change(self, machine: Machine, choose: random.Random) -> None:
        """One change on one machine; no entry that existed before is touched on both."""
        machine.clock.forward(seconds=choose.randrange(90))
        kind = choose.choice(("save", "save", "save", "type", "update", "delete"))
        if kind in ("update", "delete") and self.editable:
            id = self.editable.pop(choose.randrange(len(self.editable)))
            if kind == "delete":
                delete(machine.ws, id)
                del self.entries[id]
            else:
                text = f"{choose.choice(BODIES)}\n\nCorrected {choose.random()}."
                update(machine.ws, id, content=text)
                self.entries[id] = text
        elif kind == "type":
            self.typed += 1
            at = machine.clock.now.strftime("%H:%M")
            text = f"Typed by hand, number {self.typed}."
            day = machine.ws.config.journal / machine.ws.journal.day_path(machine.clock.now)
            with day.open("a", encoding="utf-8") as file:
                file.write(f"\n## {at} Coffee\n{text}\n")
            self.entries[text] = text
        else:
            text = choose.choice(BODIES)
            receipt = save(machine.ws, text, title=choose.choice(("Same title", "Another")), force=True)
            self.entries[receipt.id] = text


def test_merges_by_entries(machines: tuple[Machine, Machine], rounds: Rounds) -> None:
    desk, laptop = machines
    truth = Truth(desk.entries())
    for number in rounds(80, 5_000):
        choose = random.Random(number)
        if number % 8 == 7:
            desk.clock.forward(days=1)
        laptop.clock.now = desk.clock.now + timedelta(seconds=choose.randrange(-60, 60))
        truth.editable = [id for id in truth.entries if id[:8].isdigit()][-12:]
        for machine in machines:
            for _ in range(choose.randrange(1, 4)):
                truth.change(machine, choose)
            machine.commit()
        git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
        merged = git(desk.clone, "merge", "-q", "--no-edit", "FETCH_HEAD", ok=False)
        assert merged.returncode == 0, merged.stdout + merged.stderr
        assert desk.entries() == truth.entries
        assert not status(desk.ws).issues
        git(laptop.clone, "fetch", "-q", str(desk.clone), "main")
        git(laptop.clone, "merge", "-q", "--ff-only", "FETCH_HEAD")
    assert laptop.entries() == truth.entries
    for path in desk.ws.config.journal.glob("*.md"):
        assert b"<<<<<<<" not in path.read_bytes()


def test_two_edits_of_one_entry_lose_nothing_and_are_flagged(machines: tuple[Machine, Machine]) -> None:
    desk, laptop = machines
    (id,) = desk.entries()
    other = save(desk.ws, BODIES[2]).id
    desk.commit()
    git(laptop.clone, "pull", "-q", "--ff-only", str(desk.clone), "main")
    update(desk.ws, id, content="The desk's text.")
    update(laptop.ws, id, content="The laptop's text.")
    late = save(laptop.ws, BODIES[2], force=True).id
    for machine in machines:
        machine.commit()
    git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
    assert git(desk.clone, "merge", "-q", "FETCH_HEAD", ok=False).returncode == 1
    found = (desk.ws.config.journal / DAY).read_text()
    assert "The desk's text." in found and "The laptop's text." in found
    assert {issue.code for issue in status(desk.ws).issues} >= {"conflict-marker"}
    assert {desk.entries()[other], desk.entries()[late]} == {BODIES[2]}


def test_without_setup_git_merges_as_it_always_did(machines: tuple[Machine, Machine], tmp_path: Path) -> None:
    desk, laptop = machines
    home = Home(tmp_path / "desk home", {"SYNAPTIC_JOURNAL": str(desk.ws.config.journal), **IDENTITY})
    attributes = desk.clone / ".git" / "info" / "attributes"
    attributes.write_text(f"*.png binary\n{attributes.read_text()}")
    assert home.ask("git-setup")["changed"] is False
    assert home.ask("git-setup", "--remove")["changed"] is True
    assert attributes.read_text() == "*.png binary\n"
    assert git(desk.clone, "config", "--get-regexp", "^merge", ok=False).stdout == ""
    for machine in machines:
        save(machine.ws, f"From the {machine.name}.")
        machine.commit()
    git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
    assert git(desk.clone, "merge", "-q", "FETCH_HEAD", ok=False).returncode == 1
    assert "conflict-marker" in {issue.code for issue in status(desk.ws).issues}
    assert {"From the desk.", "From the lap top."} <= {entry.title for entry in find(desk.ws).entries}


def test_a_journal_in_no_repository_is_told_what_to_do(home: Home) -> None:
    home.ask("save", "Alone.")
    answer = home.run("git-setup", "--json")
    assert answer.code == 1 and "git -C" in answer.json["error"]["hint"] and "init" in answer.json["error"]["hint"]


@pytest.mark.parametrize(
    "name", [f"{DAY[:-3]} (conflicted copy).md", f"{DAY[:-3]}.sync-conflict-20261121-101500-ABC.md"]
)
def test_a_sync_conflict_copy_loses_nothing_and_is_flagged(home: Home, name: str) -> None:
    first = home.ask("save", "The text that both have.", SYNAPTIC_NOW="2026-11-21T09:00")["id"]
    day = home.journal / DAY
    copy = day.read_bytes()
    home.ask("update", first, "--content", "Edited here.")
    here = home.ask("save", "Only here.", SYNAPTIC_NOW="2026-11-21T10:00")["id"]
    (home.journal / name).write_bytes(copy + b"\n## 11:00 Only there\nThe copy's own.\n")
    texts = {entry["content"] for entry in home.entries()}
    assert texts == {"Edited here.", "Only here.", "The text that both have.", "The copy's own."}
    assert {entry["id"] for entry in home.entries()} >= {first, here}
    doctor = home.run("doctor", "--json")
    assert doctor.code == 1 and "duplicate-id" in {finding["code"] for finding in doctor.json["findings"]}


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_bom_stay(eol: str, bom: str) -> None:
    def file(*entries: str) -> bytes:
        return (bom + eol.join(["# 2026-11-21", "", *entries])).encode()

    one = f"## 09:00 One{eol}Text of one.{eol}"
    mine, other = f"## 10:00 Mine{eol}My text.{eol}", f"## 09:30 Other{eol}Their text.{eol}"
    done = by_entries(file(one), file(one, mine), file(one, other))
    assert done == Merged(file(one, other, mine), 0)


def by_entries(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    return merge(base, ours, theirs, DAY, "%Y-%m-%d.md", by_lines)


ENTRY = st.builds(
    "## {:02d}:{:02d} {}\n{}".format,
    st.integers(8, 11),
    st.integers(0, 59),
    st.sampled_from(["One", "Two", "Two #tag"]),
    st.sampled_from(["", "text\n", "```\ncode\n```\n", "more\n\ntext\n", "```\nopen\n"]),
)
SYN = st.builds(
    "## 09:{:02d} Saved\n<!-- syn:20261121-{} -->\n\n{}\n".format,
    st.integers(0, 59),
    st.sampled_from(["7k3m9q2x", "aaaaaaaa", "bbbbbbbb"]),
    st.sampled_from(["x", "y", "```\nz\n```"]),
)
FILE = st.lists(ENTRY | SYN, max_size=5).map(lambda parts: ("# Day\n\n" + "\n".join(parts)).encode())


@given(FILE, FILE)
@settings(max_examples=60, deadline=None)
def test_one_side_unchanged_is_the_other_side(base: bytes, changed: bytes) -> None:
    assert by_entries(base, changed, base).data == changed
    assert by_entries(base, base, changed).data == changed
    assert by_entries(base, changed, changed).data == changed


@given(FILE, FILE, FILE)
@settings(max_examples=60, deadline=None)
def test_nothing_that_a_side_added_is_lost(base: bytes, ours: bytes, theirs: bytes) -> None:
    done = by_entries(base, ours, theirs).data.decode()
    known = set(base.decode().splitlines())
    for side, other in ((ours, theirs), (theirs, ours)):
        gone = known - set(other.decode().splitlines())
        for line in side.decode().splitlines():
            if line not in known and line not in gone:
                assert line in done
