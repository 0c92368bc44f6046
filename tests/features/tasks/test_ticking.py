"""A tick and its undo: the bytes of a note before, between and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home

from synaptic import Workspace, save
from synaptic.errors import Ambiguous, Changed, NotFound
from synaptic.features.tasks.ticking import find_open_tasks, tick_task, tick_tasks, undo_tick
from synaptic.language.query import build_filters
from synaptic.verbs import to_do
from synaptic.verbs.undoing import undo_run

LOGSEQ = """\
- TODO Feed the cat
  SCHEDULED: <2026-11-20 Fri ++1w>
  DEADLINE: <2026-11-19 Thu 18:00 +1m>
  :LOGBOOK:
  CLOCK: [2026-11-13 Fri 07:00]--[2026-11-13 Fri 08:00] => 01:00
  :END:
  fed twice
- TODO Feed the dog
"""
NOTES = {
    "a plain task of Logseq": ("- note\n\t- TODO Feed the cat\n", "- DONE Feed the cat"),
    "a block of Logseq that repeats": (LOGSEQ, "<2026-11-27 Fri ++1w>"),
    "with a byte order mark": (f"\ufeff{LOGSEQ}", "<2026-12-19 Sat 18:00 +1m>"),
    "with CRLF, without an end": (
        "- TODO Feed the cat\r\n  SCHEDULED: <2026-11-20 Fri .+1d>",
        "<2026-11-22 Sun .+1d>",
    ),
    "in Obsidian, of an odd state": (
        "# Pets\n\n1. [/] Feed the cat 🔁 every day 📅 2026-11-20 ^cat  \n",
        "✅ 2026-11-21 ^cat",
    ),
    "in a quotation": ("# Pets\n\n> * [ ] Feed the cat\n> more\n", "> * [x] Feed the cat"),
}


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return open_home(tmp_path / "home")


@pytest.mark.parametrize("name", NOTES)
def test_a_tick_is_taken_back_byte_for_byte_also_below_new_lines(
    ws: Workspace, name: str
) -> None:
    text, ticked = NOTES[name]
    file = ws.config.journal / "Pets.md"
    for above in (b"", b"# New\n\n- TODO Feed the bird\n\n"):
        file.write_bytes(text.encode())
        [task] = find_open_tasks(ws, "feed CAT")
        done = tick_task(ws, task.path, task.line, task.text, done=True)
        assert ticked in file.read_bytes().decode()
        if above and not text.startswith("\ufeff"):
            file.write_bytes(above + file.read_bytes())
            text = above.decode() + text
        again = undo_tick(ws)
        assert file.read_bytes() == text.encode()
        assert done.undo and again.text.startswith("Feed the cat")
        assert again.line == task.line + above.count(b"\n") * ("\ufeff" not in text)


def test_ticks_are_taken_back_one_by_one_and_only_where_they_stand(ws: Workspace) -> None:
    file = ws.config.journal / "Pets.md"
    file.write_text("# Pets\n\n- [ ] cat\n- [ ] dog\n- [ ] dog food\n")
    with pytest.raises(Ambiguous, match="2 open tasks"):
        find_open_tasks(ws, "do")
    assert (
        find_open_tasks(ws, "dog")[0].line == 4
        and find_open_tasks(ws, "pets.md:5")[0].line == 5
    )
    for words in ("", "bird"):
        with pytest.raises(NotFound):
            find_open_tasks(ws, words)
    for words in ("cat", "dog"):
        [task] = find_open_tasks(ws, words)
        tick_task(ws, task.path, task.line, task.text, done=True)
    undo_tick(ws)
    assert file.read_text() == "# Pets\n\n- [x] cat\n- [ ] dog\n- [ ] dog food\n"
    edited = file.read_text().replace("cat", "cat and mouse")
    file.write_text(edited)
    with pytest.raises(Changed):
        undo_tick(ws)
    assert file.read_text() == edited
    file.write_text(edited.replace(" and mouse", ""))
    undo_tick(ws)
    with pytest.raises(NotFound, match="No tick"):
        undo_tick(ws)


def test_an_entry_that_is_due_is_ticked_as_a_box_is(ws: Workspace) -> None:
    """The tick closes it, one undo opens it again, and the done ones list it."""
    receipt = save(ws, "Call Ida", due="tomorrow", tags=["home"])
    file = ws.config.journal / receipt.path
    before = file.read_bytes()
    [task] = find_open_tasks(ws, "ida call")
    assert (task.line, task.id) == (0, receipt.id) and not to_do.tasks(ws, done=True)
    [done] = tick_tasks(ws, [task])
    assert (done.text, done.line, done.id) == ("Call Ida", 0, receipt.id)
    assert not to_do.list_to_do(ws)
    [closed] = to_do.tasks(ws, done=True)
    assert (closed.text, closed.done, closed.id) == ("Call Ida", True, receipt.id)
    assert closed.due == task.due and "done" in closed.tags
    undo_run(ws, done.undo, confirms=True)
    assert file.read_bytes() == before and to_do.list_to_do(ws) == (task,)


def test_boxes_and_entries_that_are_due_are_ticked_in_one_run(ws: Workspace) -> None:
    save(ws, "Call Ida", due="2026-11-30")
    save(ws, "Errands\n\n- [ ] buy beans\n- [ ] call the bank")
    tasks = find_open_tasks(ws, "call ida, buy beans")
    assert [bool(task.line) for task in tasks] == [False, True]
    runs = {done.undo for done in tick_tasks(ws, tasks)}
    assert len(runs) == 1 and [task.text for task in to_do.list_to_do(ws)] == ["call the bank"]
    undo_run(ws, runs.pop(), confirms=True)
    assert len(to_do.list_to_do(ws)) == 3


def test_a_task_with_a_box_goes_before_an_entry_of_the_same_words(ws: Workspace) -> None:
    save(ws, "Call Ida\n\n- [ ] Call Ida at noon", due="2026-11-30")
    [task] = find_open_tasks(ws, "call ida")
    assert task.line
    with pytest.raises(NotFound, match="no entry that is due holds"):
        find_open_tasks(ws, "nobody")


def test_tasks_are_listed_by_the_filters_of_their_entries(ws: Workspace) -> None:
    """A tag in the line of a task is that line's, and any other one is the whole note's."""
    (ws.config.journal / "bills").mkdir(parents=True)
    note = ws.config.journal / "bills" / "may.md"
    note.write_text(
        "---\ntags: [money/may]\n---\n- [ ] pay #kim due:2026-01-01\n- [ ] file it\n"
    )
    save(ws, "- [ ] paint", project="shop")
    for given, found in (
        ({"tag": ["kim"]}, {"pay"}),
        ({"tag": ["-kim"]}, {"file", "paint"}),
        ({"tag": ["money"]}, {"pay", "file"}),
        ({"tag": ["-money"]}, {"paint"}),
        ({"tag": ["kim", "shop"]}, {"pay"}),
        ({"path": ["bills/"]}, {"pay", "file"}),
        ({"project": ["shop"]}, {"paint"}),
        ({"project": ["-shop"], "tag": ["money"]}, {"pay", "file"}),
    ):
        filters = build_filters(now=ws.clock(), **given)
        rows = to_do.list_tasks(ws, filters=filters).rows
        assert {task.text.split()[0] for task in rows} == found, given
