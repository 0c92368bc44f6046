"""A tick and its undo: the bytes of a note before, between and after."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home

from synaptic import Workspace
from synaptic.errors import Ambiguous, Changed, NotFound
from synaptic.features.tasks.ticking import find_open_tasks, tick_task, undo_tick

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
