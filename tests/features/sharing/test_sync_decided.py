"""Two machines do to one entry or note what cannot both hold: a rule decides, and both say so."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from forks import ForkedHome, Forks
from sharers import share_entry

from synaptic import delete, save, update
from synaptic.config import load_config
from synaptic.features.sharing.syncing import Synced, describe_sync, sync
from synaptic.features.upkeep.findings import list_findings
from synaptic.features.vault.renaming import plan_note_rename
from synaptic.verbs.linked import unresolved_links
from synaptic.workspace.many_edits import make_edits
from synaptic.workspace.workspace import Workspace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")

LONG = "Dentist at nine.\n\nTake the papers along.\n\nAsk for the bill."
Change = Callable[[Workspace, str], object]


def share(folder: Path, notes: dict[str, str]) -> tuple[Workspace, Workspace, str]:
    """Two machines with one entry and these notes, and the id of the entry."""
    return share_entry(folder, LONG, "2026-11-10 09:00", notes)


def sync_all(*machines: Workspace) -> list[Synced]:
    done = [sync(load_config(ws.config.home)) for ws in machines]
    assert all(one.conflicts == () for one in done)
    return done


def files(ws: Workspace) -> dict[str, str]:
    journal = ws.config.journal
    return {
        path.relative_to(journal).as_posix(): path.read_text() for path in journal.rglob("*.md")
    }


def move(at: str) -> Change:
    return lambda ws, id: update(ws, id, at=at)


def edit(ws: Workspace, id: str) -> object:
    return update(ws, id, content=LONG.replace("bill", "receipt"))


def pin(ws: Workspace, id: str) -> object:
    return update(ws, id, importance=8)


def drop(ws: Workspace, id: str) -> object:
    return delete(ws, id)


BACK = "is back"
MOVED = "Two machines moved"


@pytest.mark.sweep("told")
@pytest.mark.parametrize(
    ("first", "second", "stands", "told", "words"),
    [
        (move("2026-11-12"), move("2026-11-14"), "2026-11-14 09:00", MOVED, "bill"),
        (move("2026-11-12"), move("2026-11-12"), "2026-11-12 09:00", "", "bill"),
        (move("2026-11-12 11:00"), move("2026-11-12 12:00"), "2026-11-12 12:00", MOVED, "bill"),
        (move("2026-11-10 11:00"), move("2026-11-10 12:00"), "2026-11-10 12:00", MOVED, "bill"),
        (move("2026-11-12"), move("2026-11-10 12:00"), "2026-11-12 12:00", "", "bill"),
        (move("2026-11-10 12:00"), move("2026-11-12"), "2026-11-12 12:00", "", "bill"),
        (move("2026-11-12"), edit, "2026-11-12 09:00", "", "receipt"),
        (edit, move("2026-11-12"), "2026-11-12 09:00", "", "receipt"),
        (move("2026-11-12"), pin, "2026-11-12 09:00", "", "bill"),
        (move("2026-11-12"), drop, "2026-11-12 09:00", BACK, "bill"),
        (drop, move("2026-11-12"), "2026-11-12 09:00", BACK, "bill"),
        (drop, move("2026-11-10 12:00"), "2026-11-10 12:00", BACK, "bill"),
        (drop, edit, "2026-11-10 09:00", BACK, "receipt"),
        (edit, drop, "2026-11-10 09:00", BACK, "receipt"),
        (drop, pin, "2026-11-10 09:00", BACK, "bill"),
        (drop, drop, "", "", ""),
    ],
)
@pytest.mark.parametrize("others", [0, 1])
def test_one_entry_stands_and_both_machines_say_which(
    tmp_path: Path,
    first: Change,
    second: Change,
    stands: str,
    told: str,
    words: str,
    others: int,
) -> None:
    desk, laptop, id = share(tmp_path, {})
    if others:  # the days do not go with this entry
        for day in ("10", "12", "14"):
            save(desk, f"Something else on day {day}.", at=f"2026-11-{day} 08:00")
        sync_all(desk, laptop)
    first(desk, id)
    second(laptop, id)
    done = sync_all(desk, laptop, desk, laptop)
    for one in done[1:3]:
        said = [notice for notice in one.notices if told and told in notice]
        assert len(said) == len(one.notices) == bool(told), one.notices
        assert all(id[9:] in notice for notice in said)
    assert done[3].notices == done[0].notices == ()
    for ws in (desk, laptop):
        shown = describe_sync(load_config(ws.config.home))[1:]
        assert len(shown) == bool(told) and all(told in sentence for sentence in shown)
    here = files(desk)
    assert here == files(laptop)
    assert "".join(here.values()).count(f"syn:{id}") == bool(stands)
    assert all("syn:" in text for text in here.values())
    if stands:
        day, _, time = stands.partition(" ")
        text = here[f"{day}.md"]
        assert re.search(rf"(?m)^## {time}(:00)? .*\n<!-- syn:{id} at={day}T{time}:00", text)
        assert words in text and "<<<" not in text
    for ws in (desk, laptop):
        assert not list_findings(ws)
        ws.close()


IDA = "# Ida\n\nLikes tea.\n\nLives in Hull.\n\nSee [[Ida]].\n"


@pytest.mark.sweep
@pytest.mark.parametrize("names", [("people/Ada", "Eda"), ("Ada", "work/Eda"), ("Ada", "Ada")])
def test_a_note_that_both_renamed_has_one_name_to_which_all_links_lead(
    tmp_path: Path, names: tuple[str, str]
) -> None:
    links = "[[Ida]], [her](Ida.md), ![[Ida#Ida|tea]], <private>[[Ida]]</private>\n"
    desk, laptop, _ = share(tmp_path, {"Ida.md": IDA, "Team.md": links})
    for ws, name in ((desk, names[0]), (laptop, names[1])):
        make_edits(ws, plan_note_rename(ws, "Ida.md", name, confirms=True))
        note = ws.config.journal / f"{name}.md"
        old = "tea" if ws is desk else "Hull"
        note.write_text(note.read_text().replace(old, f"{old} ({name})"))
    last = names[1].rpartition("/")[2]
    late = laptop.config.journal / "work" / "Late.md"
    late.parent.mkdir(exist_ok=True)
    late.write_text(f"[[{last}]] and [[{names[1]}|her]], and `[[{last}]]` in code\n")
    done = sync_all(desk, laptop, desk, laptop)
    here = files(desk)
    assert here == files(laptop)
    assert f"{names[0]}.md" in here and "Ida.md" not in here
    note = here[f"{names[0]}.md"]
    assert f"tea ({names[0]})" in note and f"Hull ({names[1]})" in note
    assert "[[Ada]]" in note or "[[people/Ada]]" in note
    team = here["Team.md"].partition("<private>")[0]
    assert "Ida]" not in team and "Eda" not in team and team.count("Ada") >= 3
    if names[0] != names[1]:
        assert f"{names[1]}.md" not in here
        assert here["work/Late.md"].count("Ada") == 2
        assert f"`[[{last}]]`" in here["work/Late.md"]
        for one in done[1:3]:
            [told] = one.notices
            assert f"{names[0]}.md now" in told and f"{names[1]}.md" in told
    else:
        assert all(one.notices == () for one in done)
    for ws in (desk, laptop):
        assert not [one for one in list_findings(ws) if one.kind == "moved"]
        assert not unresolved_links(ws)
        ws.close()


@pytest.mark.sweep
@pytest.mark.parametrize("first", ["deletes", "edits", "renames"])
def test_a_note_that_one_deleted_and_another_changed_is_back_and_both_say_so(
    tmp_path: Path, first: str
) -> None:
    desk, laptop, _ = share(tmp_path, {"Ida.md": IDA})
    changer, dropper = (laptop, desk) if first == "deletes" else (desk, laptop)
    name = "Ida.md"
    if first == "renames":
        name = "Ada.md"
        make_edits(changer, plan_note_rename(changer, "Ida.md", "Ada", confirms=True))
    else:
        (changer.config.journal / name).write_text(IDA.replace("tea", "coffee"))
    (dropper.config.journal / "Ida.md").unlink()
    done = sync_all(desk, laptop, desk, laptop)
    assert files(desk) == files(laptop)
    assert name in files(desk)
    for one in done[1:3]:
        [told] = one.notices
        assert told.startswith(f"{name} is back")
    for ws in (desk, laptop):
        ws.close()


def test_a_day_goes_when_each_machine_deleted_one_of_its_entries(tmp_path: Path) -> None:
    desk, laptop, id = share(tmp_path, {})
    other = save(desk, "Something else.", at="2026-11-10 08:00").id
    sync_all(desk, laptop)
    delete(desk, id)
    delete(laptop, other)
    done = sync_all(desk, laptop, desk, laptop)
    assert files(desk) == files(laptop) == {}
    assert all(one.notices == () for one in done)
    for ws in (desk, laptop):
        ws.close()


def test_a_merge_by_git_prints_what_it_decided(tmp_path: Path, forks: Forks) -> None:
    home = ForkedHome(tmp_path / "home", forks=forks)
    block = "## {} Walk\n<!-- syn:20261110-7k3m9q2x at=2026-11-10T{}:00 -->\n\nTo the lock.\n"
    versions = []
    for clock in ("09:00", "11:00", "12:00"):
        versions.append(tmp_path / clock.replace(":", ""))
        text = f"# 2026-11-10\n\n{block.format(clock, clock)}"
        versions[-1].write_text(text)
    done = home.run("git-merge", *map(str, versions), "2026-11-10.md")
    assert done.code == 0
    assert "20261110-7k3m9q2x stands on 2026-11-10 11:00" in done.err
    assert "2026-11-10 12:00" in done.err
    assert versions[1].read_text().count("11:00") == 2
