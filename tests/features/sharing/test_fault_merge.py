"""Two machines append to one journal, and git merges: no entry is lost, mixed, doubled or
damaged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from homes import Clock, open_home
from hubs import IDENTITY, run_git
from hypothesis import example, given, settings
from hypothesis import strategies as st
from outside import Home
from steady import SteadyHome
from trials import Rounds, examples

from synaptic import Workspace, delete, find, save, status, update
from synaptic.features.sharing.merge import MergedFile, merge
from synaptic.features.sharing.pieces import split_version
from synaptic.notes.markdown import parse_entries

pytestmark = pytest.mark.fault(row=12)

DAY = "2026-11-21.md"
BODIES = (
    "Done.",
    "Half-even rounding per line item, says the accountant.\n\nNobody objected.",
    "```python\ndef total(items):\n    return sum(items)\n```",
    "~~~\n## 10:00 not a heading\n~~~\n\nAnd some text.",
    "- [ ] write it\n- [ ] test it\n\n## Why\n\nBecause.",
)


@dataclass
class Machine:
    """A clone with a home of its own."""

    clone: Path
    ws: Workspace
    clock: Clock
    home: ForkedHome
    name: str

    def commit(self) -> None:
        run_git(self.clone, "add", "-A")
        run_git(self.clone, "commit", "-qm", self.name, "--allow-empty")

    def entries(self) -> dict[str, str]:
        """The content of every entry by its id; of hand-typed ones, whose ids may change, by
        their text.
        """
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
def machines(tmp_path: Path, forks: Forks) -> Iterator[tuple[Machine, Machine]]:
    made = []
    for name in ("desk", "lap top"):
        clone = tmp_path / name
        if made:
            run_git(tmp_path, "clone", "-q", str(made[0].clone), name)
        else:
            clone.mkdir()
            run_git(clone, "init", "-q", "-b", "main")
            (clone / "README").write_text("notes\n")
        journal = clone / "my notes"
        journal.mkdir(exist_ok=True)
        clock = Clock()
        ws = open_home(tmp_path / f"{name} home", journal=journal, clock=clock)
        env = {"SYNAPTIC_JOURNAL": str(journal), **IDENTITY}
        home = SteadyHome(tmp_path / f"{name} home", env, forks)
        made.append(Machine(clone, ws, clock, home, name))
        if len(made) == 1:
            save(ws, "The first of all.")
            made[0].commit()
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
            receipt = save(
                machine.ws, text, title=choose.choice(("Same title", "Another")), force=True
            )
            self.entries[receipt.id] = text


def test_merges_by_entries(machines: tuple[Machine, Machine], rounds: Rounds) -> None:
    desk, laptop = machines
    truth = Truth(desk.entries())
    for number in rounds(5, 5_000):
        choose = random.Random(number)
        if number % 5 == 4:
            desk.clock.forward(days=1)
        laptop.clock.now = desk.clock.now + timedelta(seconds=choose.randrange(-60, 60))
        truth.editable = [id for id in truth.entries if id[:8].isdigit()][-12:]
        for machine in machines:
            for _ in range(choose.randrange(1, 4)):
                truth.change(machine, choose)
            machine.commit()
        run_git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
        merged = run_git(desk.clone, "merge", "-q", "--no-edit", "FETCH_HEAD", ok=False)
        assert merged.returncode == 0, merged.stdout + merged.stderr
        assert desk.entries() == truth.entries
        assert not status(desk.ws).issues
        run_git(laptop.clone, "fetch", "-q", str(desk.clone), "main")
        run_git(laptop.clone, "merge", "-q", "--ff-only", "FETCH_HEAD")
    assert laptop.entries() == truth.entries
    for path in desk.ws.config.journal.glob("*.md"):
        assert b"<<<<<<<" not in path.read_bytes()


def test_two_edits_of_one_entry_lose_nothing_and_are_flagged(
    machines: tuple[Machine, Machine],
) -> None:
    desk, laptop = machines
    (id,) = desk.entries()
    other = save(desk.ws, BODIES[2]).id
    desk.commit()
    run_git(laptop.clone, "pull", "-q", "--ff-only", str(desk.clone), "main")
    update(desk.ws, id, content="The desk's text.")
    update(laptop.ws, id, content="The laptop's text.")
    late = save(laptop.ws, BODIES[2], force=True).id
    for machine in machines:
        machine.commit()
    run_git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
    assert run_git(desk.clone, "merge", "-q", "FETCH_HEAD", ok=False).returncode == 1
    found = (desk.ws.config.journal / DAY).read_text()
    assert "The desk's text." in found and "The laptop's text." in found
    assert {issue.code for issue in status(desk.ws).issues} >= {"conflict-marker"}
    assert {desk.entries()[other], desk.entries()[late]} == {BODIES[2]}


def test_without_setup_git_merges_as_it_always_did(machines: tuple[Machine, Machine]) -> None:
    desk, laptop = machines
    home = desk.home
    attributes = desk.clone / ".git" / "info" / "attributes"
    attributes.write_text(f"*.png binary\n{attributes.read_text()}")
    assert home.ask("git-setup")["changed"] is False
    assert home.ask("git-setup", "--remove")["changed"] is True
    assert attributes.read_text() == "*.png binary\n"
    assert run_git(desk.clone, "config", "--get-regexp", "^merge", ok=False).stdout == ""
    for machine in machines:
        save(machine.ws, f"From the {machine.name}.")
        machine.commit()
    run_git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
    assert run_git(desk.clone, "merge", "-q", "FETCH_HEAD", ok=False).returncode == 1
    assert "conflict-marker" in {issue.code for issue in status(desk.ws).issues}
    assert {"From the desk.", "From the lap top."} <= {
        entry.title for entry in find(desk.ws).entries
    }


def test_a_journal_in_no_repository_is_told_what_to_do(home: Home) -> None:
    home.ask("save", "Alone.")
    answer = home.run("git-setup", "--json")
    assert (
        answer.code == 1
        and "git -C" in answer.json["error"]["hint"]
        and "init" in answer.json["error"]["hint"]
    )


@pytest.mark.parametrize(
    "name",
    [f"{DAY[:-3]} (conflicted copy).md", f"{DAY[:-3]}.sync-conflict-20261121-101500-ABC.md"],
)
def test_a_sync_conflict_copy_loses_nothing_and_is_flagged(home: Home, name: str) -> None:
    first = home.ask("save", "The text that both have.", SYNAPTIC_NOW="2026-11-21T09:00")["id"]
    day = home.journal / DAY
    copy = day.read_bytes()
    home.ask("update", first, "--content", "Edited here.")
    here = home.ask("save", "Only here.", SYNAPTIC_NOW="2026-11-21T10:00")["id"]
    (home.journal / name).write_bytes(copy + b"\n## 11:00 Only there\nThe copy's own.\n")
    texts = {entry["content"] for entry in home.entries()}
    assert texts == {
        "Edited here.",
        "Only here.",
        "The text that both have.",
        "The copy's own.",
    }
    assert {entry["id"] for entry in home.entries()} >= {first, here}
    doctor = home.run("doctor", "--json")
    assert doctor.code == 1 and "conflict-copy" in {
        finding["code"] for finding in doctor.json["findings"]
    }


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_ends_and_bom_stay(eol: str, bom: str) -> None:
    def file(*entries: str) -> bytes:
        return (bom + eol.join(["# 2026-11-21", "", *entries])).encode()

    one = f"## 09:00 One{eol}Text of one.{eol}"
    mine, other = f"## 10:00 Mine{eol}My text.{eol}", f"## 09:30 Other{eol}Their text.{eol}"
    done = by_entries(file(one), file(one, mine), file(one, other))
    assert done == MergedFile(file(one, other, mine), 0)


def by_entries(base: bytes, ours: bytes, theirs: bytes) -> MergedFile:
    return merge(base, ours, theirs, DAY, "%Y-%m-%d.md")


def day(*entries: str, above: str = "# 2026-11-21\n\n") -> bytes:
    return (above + "\n".join(entries)).encode()


def saved(id: str, text: str, heading: str = "09:00 Saved") -> str:
    return f"## {heading}\n<!-- syn:20261121-{id} -->\n\n{text}\n"


def test_what_stands_above_the_first_entry_mixes_nothing() -> None:
    for above in (
        "Good morning.\n\n",
        "---\ntags: [a]\n---\n# Day\n\nGood morning.\n\n",
        "# Day\n\ntext\n\n# Work\n\n",
    ):
        mine, other = saved("aaaaaaaa", BODIES[2]), saved("bbbbbbbb", BODIES[2], "09:01 Other")
        done = by_entries(day(above=above), day(mine, above=above), day(other, above=above))
        assert done == MergedFile(day(mine, other, above=above), 0)


def test_equal_headings_are_told_apart_by_their_text() -> None:
    first, second = (
        "## 10:15 Standup\none\ntwo\nthree\nfour\n",
        "## 10:15 Standup\none\nTWO\nthree\nFOUR\n",
    )
    edited = first.replace("four", "four, and five")
    done = by_entries(day(first, second), day(second), day(edited, second))
    assert (done.data, done.conflicts) == (day(edited, second), 0)
    assert [one.kind for one in done.decisions] == ["back"]


def test_an_id_given_on_one_side_and_an_edit_on_the_other_meet_in_one_entry() -> None:
    typed = "## 10:15 Coffee\n\none\n\ntwo\n"
    known = saved("aaaaaaaa", "one\n\ntwo", "10:15 Coffee")
    done = by_entries(day(typed), day(known), day(typed.replace("two", "three")))
    assert done == MergedFile(day(known.replace("two", "three")), 0)


def test_an_entry_that_both_sides_added_elsewhere_is_not_doubled_in_silence() -> None:
    """A private passage with a heading leaves the file to the merge by lines, which would take
    both.
    """
    one, both = (
        saved("aaaaaaaa", "<private>eps</private>"),
        saved("bbbbbbbb", "Text.", "09:17 Both"),
    )
    hidden = one.replace("<private>", "<private>\n## 11:00 hid\n</private>\n\n<private>")
    done = by_entries(day(one), day(one, both), day(both, hidden))
    assert (done.conflicts, done.data.count(b"syn:20261121-bbbbbbbb")) == (1, 2)
    assert b"<<<<<<<" in done.data


def test_a_deleted_entry_stays_deleted_unless_it_was_edited() -> None:
    one, two, three = (saved(letter * 8, letter) for letter in "abc")
    assert by_entries(day(one, two), day(one), day(one, two, three)) == MergedFile(
        day(one, three), 0
    )
    edited = two.replace("b\n", "b, edited\n")
    done = by_entries(day(one, two), day(one), day(one, edited))
    assert (done.data, done.conflicts) == (day(one, edited), 0)
    assert [(one.kind, one.about) for one in done.decisions] == [("back", "20261121-bbbbbbbb")]


@pytest.mark.parametrize(
    ("text", "mine", "other", "both"),
    [
        ("Text.", "\n\nMine.", "\n\nTheirs.", "\n\nMine.\n\nTheirs."),
        ("- a", "\n- mine", "\n- theirs", "\n- mine\n- theirs"),
        ("- a", "\n\nMine.", "\n- theirs", "\n- theirs\n\nMine."),
        ("Text.", "\n\nMine.", "\n\n<private>p</private>", "\n\nMine.\n\n<private>p</private>"),
        ("Text.", " Mine.", " Theirs.", ""),
        ("Text.", "\n\nMine.", "\n---", ""),
        ("Text.", "\n\n```\nmine", "\n\nTheirs.", ""),
        ("Text.", "\n\n<private>p", "\n\nTheirs.", ""),
        (
            "Text.",
            "\n\n<private>p</private>",
            "\n\nTheirs.",
            "\n\n<private>p</private>\n\nTheirs.",
        ),
        ("", "\n\nMine.", "\n\nTheirs.", "\n\nMine.\n\nTheirs."),
    ],
)
def test_what_both_sides_add_below_one_text_is_no_conflict(
    text: str, mine: str, other: str, both: str
) -> None:
    below = saved("bbbbbbbb", "More.", "10:00 Below")
    base, *sides, wanted = (
        day(saved("aaaaaaaa", text + tail), below) for tail in ("", mine, other, both)
    )
    done = by_entries(base, *sides)
    assert done.conflicts == (not both)
    assert done.data == wanted if both else b"<<<<<<<" in done.data


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        (saved("aaaaaaaa", "My text."), saved("aaaaaaaa", "Their text.")),
        (saved("aaaaaaaa", "Text.", "09:00 Mine"), saved("aaaaaaaa", "Text.", "09:00 Theirs")),
        (saved("aaaaaaaa", "```\nmine\n```"), saved("aaaaaaaa", "~~~\ntheirs\n~~~")),
        (
            saved("aaaaaaaa", "```\nText.\nmine\n```\nafter"),
            saved("aaaaaaaa", "```\nText.\n```\ntheirs"),
        ),
    ],
)
def test_a_conflict_stays_within_its_entry(mine: str, other: str) -> None:
    above, below = (
        saved("bbbbbbbb", BODIES[2], "08:00 Above"),
        "## 10:00 Below\n```\ntyped\n```\n",
    )
    base = day(above, saved("aaaaaaaa", "Text."), below)
    done = by_entries(base, day(above, mine, below), day(above, other, below))
    assert done.conflicts == 1
    text = done.data.decode()
    assert text.startswith(f"# 2026-11-21\n\n{above}\n## 09:00 ") and text.endswith(
        f"\n\n{below}"
    )
    assert len(blocks(done.data)) == 3
    for line in (mine + other).splitlines():
        assert line in text


@pytest.mark.parametrize("broken", ["python", "package", "config"])
def test_where_synaptic_cannot_run_git_merges_by_lines(
    machines: tuple[Machine, Machine], tmp_path: Path, broken: str
) -> None:
    desk, laptop = machines
    driver = run_git(desk.clone, "config", "merge.synaptic.driver").stdout.strip()
    if broken == "config":
        (desk.ws.config.home / "config.toml").write_text("nonsense")
    else:
        stand_in = tmp_path / "python that is gone"
        if broken == "package":  # as after a change of Python below a virtual environment
            stand_in.write_text("#!/bin/sh\necho No module named synaptic >&2; exit 1\n")
            stand_in.chmod(0o755)
        _, _, rest = driver.partition(" -P ")
        run_git(desk.clone, "config", "merge.synaptic.driver", f"'{stand_in}' -P {rest}")
    for machine in machines:
        save(machine.ws, f"From the {machine.name}.")
        machine.commit()
    run_git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
    assert (
        run_git(
            desk.clone,
            "merge",
            "-q",
            "FETCH_HEAD",
            ok=False,
            SYNAPTIC_HOME=str(desk.ws.config.home),
        ).returncode
        == 1
    )
    found = (desk.ws.config.journal / DAY).read_text()
    assert (
        "From the desk." in found
        and "From the lap top." in found
        and "<<<<<<< first version" in found
    )


@pytest.mark.sweep
@pytest.mark.parametrize("folder", [".", "!x", "#x"])
def test_files_and_folders_of_any_name_merge_by_entries(
    tmp_path: Path, folder: str, forks: Forks
) -> None:
    names = ("-x.md", "--help.md", "-h.md", "--home=x.md")
    desk, laptop = tmp_path / "desk", tmp_path / "laptop"
    (desk / folder).mkdir(parents=True)
    run_git(desk, "init", "-q", "-b", "main")
    for name in names:
        (desk / folder / name).write_text("## 08:00 First\n")
    run_git(desk, "add", ".")
    run_git(desk, "commit", "-qm", "First")
    run_git(tmp_path, "clone", "-q", str(desk), "laptop")
    for clone in (desk, laptop):
        for name in names:
            with (clone / folder / name).open("a") as file:
                file.write(f"\n## 09:00 From the {clone.name}\n")
        run_git(clone, "commit", "-qam", clone.name)
    home = SteadyHome(
        tmp_path / "home", {"SYNAPTIC_JOURNAL": str(desk / folder), **IDENTITY}, forks
    )
    home.ask("git-setup")
    run_git(desk, "fetch", "-q", str(laptop), "main")
    run_git(desk, "merge", "-q", "--no-edit", "FETCH_HEAD", SYNAPTIC_HOME=str(home.path))
    for name in names:
        titles = [line for line in (desk / folder / name).read_text().splitlines() if line]
        assert titles == [
            "## 08:00 First",
            "## 09:00 From the desk",
            "## 09:00 From the laptop",
        ]


def test_a_repository_cannot_bring_its_own_synaptic(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    desk, laptop = machines
    for machine in machines:
        save(machine.ws, f"From the {machine.name}.")
        machine.commit()
    for name in ("synaptic", "typer"):
        (desk.clone / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\n")
    run_git(desk.clone, "fetch", "-q", str(laptop.clone), "main")
    run_git(desk.clone, "merge", "-q", "--no-edit", "FETCH_HEAD")
    assert not (tmp_path / "run").exists()
    assert {"From the desk.", "From the lap top."} <= set(desk.entries().values())


def test_setup_leaves_every_other_line_of_the_attributes(
    machines: tuple[Machine, Machine],
) -> None:
    desk, _ = machines
    home = desk.home
    attributes = desk.clone / ".git" / "info" / "attributes"
    line = attributes.read_bytes()
    theirs = b"*.png binary\r\n\xff.txt text\n*.jpg binary"
    attributes.write_bytes(theirs)
    mode = attributes.stat().st_mode
    assert home.ask("git-setup")["changed"] is True
    assert attributes.read_bytes() == theirs + b"\n" + line
    assert attributes.stat().st_mode == mode
    assert home.ask("git-setup")["changed"] is False
    assert home.ask("git-setup", "--remove")["changed"] is True
    assert attributes.read_bytes() == theirs + b"\n"


TEXTS = st.sampled_from(
    [
        "",
        "text\n",
        "```\ncode\n```\n",
        "more\n\ntext  \n",
        "```\nopen\n",
        "<!-- open\n",
        "a\nb\nc\n",
        "a\nB\nc\n",
        "a\nb\nC\n",
    ]
)
TYPED = st.builds(
    "## {}\n{}".format, st.sampled_from(["09:00 One", "09:00 Two #tag", "10:00"]), TEXTS
)
SAVED = st.builds(
    saved,
    st.sampled_from(["7k3m9q2x", "aaaaaaaa", "bbbbbbbb"]),
    TEXTS,
    st.sampled_from(["09:00 x", "9:30"]),
)
NOTE = st.builds("# Evening\n{}".format, TEXTS)
ABOVE = st.sampled_from(
    ["", "# Day\n\n", "# Day\n\nGood morning.\n\n", "---\ntags: [a]\n---\n"]
)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    entries = draw(st.lists(TYPED | SAVED | SAVED | NOTE, max_size=4))
    text = day(*entries, above=draw(ABOVE)).decode()
    text = text.removesuffix("\n") if draw(st.integers(0, 4)) == 0 else text
    return (
        draw(st.sampled_from(["", "", "\ufeff"]))
        + text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    ).encode()


@given(files(), files())
@settings(max_examples=examples(100), deadline=None)
def test_one_side_unchanged_is_the_other_side(base: bytes, changed: bytes) -> None:
    assert by_entries(base, changed, base).data == changed
    assert by_entries(base, base, changed).data == changed
    assert by_entries(base, changed, changed).data == changed


CLOCK = re.compile(r"(?<=^## )[0-9:]+")


@example(
    day(saved("7k3m9q2x", "", "09:00 x")),
    day("## 09:00 One\n"),
    day(saved("7k3m9q2x", "", "9:30")),
)
@given(files(), files(), files())
@settings(max_examples=examples(100), deadline=None)
def test_nothing_that_a_side_added_is_lost(base: bytes, ours: bytes, theirs: bytes) -> None:
    """Of a heading the title stands below the time of one side, which is merged by itself."""
    done = by_entries(base, ours, theirs).data.decode("utf-8-sig")
    clocks = {found[0] for line in done.splitlines() for found in CLOCK.finditer(line)}
    known = set(base.decode("utf-8-sig").splitlines())
    for side, other in ((ours, theirs), (theirs, ours)):
        gone = known - set(other.decode("utf-8-sig").splitlines())
        for line in side.decode("utf-8-sig").splitlines():
            if line not in known and line not in gone:
                forms = [line, *(CLOCK.sub(clock, line) for clock in clocks)]
                assert any(form in done for form in forms)


@example(b"---\ntags: [a]\n---", b"# Day\n\n## 09:00 One\n", b"# Day\n\nGood morning.\n")
@example(b"# Day\n\n# Evening\ntext", b"## 09:00 One\ntext", b"## 09:00 Two #tag\n\n# Evening")
@given(files(), files(), files())
@settings(max_examples=examples(150), deadline=None)
def test_every_block_that_a_side_added_or_edited_alone_is_whole(
    base: bytes, ours: bytes, theirs: bytes
) -> None:
    versions = [data.removeprefix(b"\xef\xbb\xbf") for data in (base, ours, theirs)]
    if not all(split_version(data, DAY, "%Y-%m-%d.md") for data in versions):
        return  # not by entries alone
    done = by_entries(base, ours, theirs)
    was = blocks(base)
    for side, other in ((ours, theirs), (theirs, ours)):
        if was <= blocks(other):  # only this side edited anything
            added_there = [head(block) for block in blocks(other) - was]
            alone = {block for block in blocks(side) - was if head(block) not in added_there}
            assert done.conflicts or alone <= blocks(done.data)


def head(block: str) -> list[str]:
    """The lines by which an entry is known: its heading, and its id where it has one."""
    return [line for line in block.split("\n")[:2] if line.startswith(("## ", "<!-- syn:"))][
        -1:
    ]


def blocks(data: bytes) -> set[str]:
    text = data.decode("utf-8-sig").replace("\r\n", "\n").encode()
    places = [
        e.place
        for e in parse_entries(text, DAY, mtime=datetime(2026, 11, 21, tzinfo=UTC)).entries
        if e.place
    ]
    return {
        text[place.start : place.end].decode().rstrip("\n")
        for place in places
        if not place.whole_file
    }
