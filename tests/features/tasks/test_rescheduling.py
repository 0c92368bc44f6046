"""A task that moves to another day: the bytes of its note, and its undo."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home

from synaptic import Workspace
from synaptic.errors import Ambiguous, Changed, InvalidArgument, NotFound, Refused
from synaptic.features.tasks.rescheduling import (
    date_task_in_text,
    find_tasks_to_move,
    reschedule_tasks,
)
from synaptic.features.tasks.ticking import tick_task
from synaptic.verbs.removing import delete
from synaptic.verbs.saving import save
from synaptic.verbs.to_do import list_due, list_to_do, tasks
from synaptic.verbs.undoing import undo_last

MOVES = {
    # name: the note before, WHEN, the note after
    "Obsidian Tasks": (
        "# Pets\n\n- [ ] Feed the cat 📅 2026-11-20 ^cat\n- [ ] Rest\n",
        "tomorrow",
        "# Pets\n\n- [ ] Feed the cat 📅 2026-11-22 ^cat\n- [ ] Rest\n",
    ),
    "the day it is due, before the day it is scheduled": (
        "* [/] Feed the cat ⏳ 2026-11-19 📅2026-11-20  \n",
        "in 3 days",
        "* [/] Feed the cat ⏳ 2026-11-19 📅2026-11-24  \n",
    ),
    "scheduled alone": (
        "- [ ] Feed the cat ⏳ 2026-11-19\n",
        "2026-12-03",
        "- [ ] Feed the cat ⏳ 2026-12-03\n",
    ),
    "a length behind its own day": (
        "- [ ] Feed the cat due:2026-11-25\n",
        "+1 week",
        "- [ ] Feed the cat due:2026-12-02\n",
    ),
    "a length in words": (
        "- [ ] Feed the cat due:2026-11-25\n",
        "two days later",
        "- [ ] Feed the cat due:2026-11-27\n",
    ),
    "a length in German": (
        "- [ ] Feed the cat due:2026-11-25\n",
        "um eine Woche",
        "- [ ] Feed the cat due:2026-12-02\n",
    ),
    "a length without a day of its own": (
        "- [ ] Feed the cat\n",
        "by a week",
        "- [ ] Feed the cat due:2026-11-28\n",
    ),
    "in a length is from today": (
        "- [ ] Feed the cat due:2026-11-25\n",
        "in a week",
        "- [ ] Feed the cat due:2026-11-28\n",
    ),
    "a rule stays": (
        "- [ ] Feed the cat 🔁 every week 📅 2026-11-20\n",
        "monday",
        "- [ ] Feed the cat 🔁 every week 📅 2026-11-23\n",
    ),
    "a rule that is not understood stays": (
        "- [ ] Feed the cat 🔁 every blue moon 📅 2026-11-20\n",
        "monday",
        "- [ ] Feed the cat 🔁 every blue moon 📅 2026-11-23\n",
    ),
    "a rule takes no word in": (
        "- [ ] Dog due:2026-11-20\n- [ ] Feed the cat 🔁 every week\n",
        "monday",
        "- [ ] Dog due:2026-11-20\n- [ ] Feed the cat 🔁 every week 📅 2026-11-23\n",
    ),
    "a rule of Obsidian in a note of Logseq": (
        "- TODO Dog\n  SCHEDULED: <2026-11-20 Fri>\n- TODO Feed the cat 🔁 every week ^cat\n",
        "monday",
        "- TODO Dog\n  SCHEDULED: <2026-11-20 Fri>\n"
        "- TODO Feed the cat 🔁 every week 📅 2026-11-23 ^cat\n",
    ),
    "a field": (
        "- [ ] Feed the cat due:2026-11-20 #pets\n",
        "next week",
        "- [ ] Feed the cat due:2026-11-23 #pets\n",
    ),
    "a property": (
        "- [ ] Feed the cat due:: 2026-11-20\n",
        "today",
        "- [ ] Feed the cat due:: 2026-11-21\n",
    ),
    "Dataview": (
        "- [ ] Feed [due:: 2026-11-20] the cat\n",
        "2026-12-03",
        "- [ ] Feed [due:: 2026-12-03] the cat\n",
    ),
    "a link to a day of Logseq": (
        "- TODO Feed the cat [due:: [[Nov 20th, 2026]]]\n",
        "2026-12-03",
        "- TODO Feed the cat [due:: [[Dec 3rd, 2026]]]\n",
    ),
    "a German day": (
        "- [ ] Feed the cat (due 20.11.2026)\n",
        "2026-12-03",
        "- [ ] Feed the cat (due 03.12.2026)\n",
    ),
    "a form that is only read": (
        "- [ ] Feed the cat due 20 novembre 2026\n",
        "2026-12-03",
        "- [ ] Feed the cat due 2026-12-03\n",
    ),
    "a day with its weekday": (
        "- [ ] Feed the cat due 2026-11-20 Friday, if x > y\n",
        "2026-12-03",
        "- [ ] Feed the cat due 2026-12-03 Thursday, if x > y\n",
    ),
    "Logseq": (
        "- Pets\n\t- DOING Feed the cat\n\t  SCHEDULED: <2026-11-20 Fri 18:00 ++1w>\n\t  twice\n",
        "2026-12-03",
        "- Pets\n\t- DOING Feed the cat\n\t  SCHEDULED: <2026-12-03 Thu 18:00 ++1w>\n\t  twice\n",
    ),
    "Logseq's deadline, with CRLF, without an end": (
        "- TODO Feed the cat\r\n  SCHEDULED: <2026-11-19 Do>\r\n  DEADLINE: <2026-11-20 Fr>",
        "2026-12-03",
        "- TODO Feed the cat\r\n  SCHEDULED: <2026-11-19 Do>\r\n  DEADLINE: <2026-12-03 Thu>",
    ),
    "no day, in a note with no other": (
        "\ufeff- [ ] Feed the cat ^cat",
        "2026-12-03",
        "\ufeff- [ ] Feed the cat due:2026-12-03 ^cat",
    ),
    "no day, as most tasks of the note": (
        "- [x] A 📅 2026-11-01\n- [ ] B [due:: 1.11.2026]\n- [x] C [due:: 2026-11-01]\n"
        "- [ ] Feed the cat\n",
        "2026-12-03",
        "- [x] A 📅 2026-11-01\n- [ ] B [due:: 1.11.2026]\n- [x] C [due:: 2026-11-01]\n"
        "- [ ] Feed the cat [due:: 3.12.2026]\n",
    ),
    "no day, as Logseq does, in a quotation with CRLF": (
        "> - TODO A\r\n>   DEADLINE: <2026-11-01 Sun +1w>\r\n> 10. TODO Feed the cat\r\n> more",
        "2026-12-03",
        "> - TODO A\r\n>   DEADLINE: <2026-11-01 Sun +1w>\r\n> 10. TODO Feed the cat\r\n"
        ">     DEADLINE: <2026-12-03 Thu>\r\n> more",
    ),
    "with LF in a file of CRLF": (
        "- DONE A\r\n  SCHEDULED: <2026-11-01 Sun>\r\n- TODO Feed the cat\n  more\r\n",
        "2026-12-03",
        "- DONE A\r\n  SCHEDULED: <2026-11-01 Sun>\r\n- TODO Feed the cat\n"
        "  SCHEDULED: <2026-12-03 Thu>\n  more\r\n",
    ),
    "code is no day": (
        "- [ ] Feed the cat `due:2026-11-20`\n",
        "2026-12-03",
        "- [ ] Feed the cat `due:2026-11-20` due:2026-12-03\n",
    ),
    "none, of Obsidian": (
        "- [ ] Feed 📅 2026-11-20 the cat ⏳ 2026-11-19 ^cat\n",
        "none",
        "- [ ] Feed the cat ^cat\n",
    ),
    "none, of Dataview": (
        "- [ ] Feed [due:: 2026-11-20 or so] the cat (due 2026-11-20, twice)\n",
        "None",
        "- [ ] Feed the cat (, twice)\n",
    ),
    "none, of Logseq": (
        "- TODO Feed the cat\r\n  SCHEDULED: <2026-11-20 Fri> DEADLINE: <2026-11-21 Sat>\r\n"
        "  twice\r\n",
        "none",
        "- TODO Feed the cat\r\n  twice\r\n",
    ),
}


@pytest.fixture(scope="module")
def ws(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return open_home(tmp_path_factory.mktemp("moves") / "home")


@pytest.mark.parametrize("name", MOVES)
def test_a_task_moves_in_the_form_of_its_note_and_undo_takes_it_back(
    ws: Workspace, name: str
) -> None:
    before, when, after = MOVES[name]
    file = ws.config.journal / "Pets.md"
    file.write_bytes(before.encode())
    [moved] = reschedule_tasks(ws, find_tasks_to_move(ws, "feed cat"), when)
    assert file.read_bytes().decode() == after
    [again] = [task for task in tasks(ws) if "Feed" in task.text]
    assert (again.due or "", again.line) == (moved.day, moved.line)
    assert undo_last(ws, confirms=True).run and file.read_bytes() == before.encode()


def test_a_note_without_days_follows_the_journal(ws: Workspace) -> None:
    others = ws.config.journal / "Others.md"
    others.write_text("# A\n\n- [x] a ⏳ 2026-11-01\n\n# B\n\n- [ ] b ⏳ 2026-11-01\n")
    file = ws.config.journal / "Pets.md"
    file.write_text("- [ ] Feed the cat\n- [ ] Feed the dog\n")
    reschedule_tasks(ws, find_tasks_to_move(ws, "cat"), "2026-12-03")
    assert file.read_text() == "- [ ] Feed the cat ⏳ 2026-12-03\n- [ ] Feed the dog\n"
    others.unlink()


def test_what_moves_nothing_writes_nothing(ws: Workspace) -> None:
    file = ws.config.journal / "Pets.md"
    text = "- [ ] Feed the cat 📅 2026-12-03\n- [ ] Feed <private>our</private> dog\n- [ ] 📅 2026-12-03\n"
    file.write_text(text)
    saved = save(ws, "Renew the passport.", due="2026-11-27")
    for week in ("2026-11-27", "2026-11-23"):  # both lie in it already
        file.write_text(f"- [ ] Feed the cat 📅 {week}\n")
        both = find_tasks_to_move(ws, "feed, renew")
        moved = reschedule_tasks(ws, both, "next week")
        assert [(one.day, one.undo) for one in moved] == [(week, ""), ("2026-11-27", "")]
    delete(ws, saved.id)
    file.write_text(text)
    cat, dog = find_tasks_to_move(ws, "cat, dog")
    [bare] = [task for task in tasks(ws) if task.line == 3]
    assert reschedule_tasks(ws, [cat], "2026-12-03")[0].undo == ""
    with pytest.raises(InvalidArgument, match=r"'friyay' is not a date.*next friday.*none"):
        reschedule_tasks(ws, [cat], "friyay")
    with pytest.raises(Refused, match="private"):
        reschedule_tasks(ws, [dog], "tomorrow")
    with pytest.raises(Refused, match="cannot be read"):
        reschedule_tasks(ws, [bare], "none")
    with pytest.raises(Ambiguous, match="2 open tasks"):
        find_tasks_to_move(ws, "feed")
    with pytest.raises(NotFound, match="synaptic tasks"):
        find_tasks_to_move(ws, "bird")
    assert file.read_text() == text
    tick_task(ws, cat.path, cat.line, cat.text, done=True)
    with pytest.raises(Changed):
        reschedule_tasks(ws, [cat], "tomorrow")
    file.unlink()


def test_an_entry_that_is_due_moves_by_its_field(ws: Workspace) -> None:
    saved = save(ws, "Renew the certificate.", due="friday")
    file = ws.config.journal / saved.path
    before = file.read_bytes()
    [entry] = find_tasks_to_move(ws, "renew certificate")
    assert find_tasks_to_move(ws, saved.id) == [entry] and not entry.line
    for when, mark in (("2026-12-03", b" due=2026-12-03"), ("none", b"")):
        [moved] = reschedule_tasks(ws, [entry], when)
        assert file.read_bytes() == before.replace(b" due=2026-11-27", mark) and moved.undo
        assert undo_last(ws, confirms=True).done.verb == "update"
        assert file.read_bytes() == before


def test_several_tasks_move_together_or_none_does(ws: Workspace) -> None:
    file = ws.config.journal / "Pets.md"
    text = "- [ ] Feed the cat\n- [ ] Walk, wash, dry 📅 2026-11-20\n- [ ] Our <private>x</private> dog\n"
    file.write_text(text)
    saved = save(ws, "Renew the licence.", due="wednesday")
    daily = ws.config.journal / saved.path
    before = daily.read_bytes()
    [whole] = find_tasks_to_move(ws, "walk, wash")
    assert whole.line == 2
    chosen = find_tasks_to_move(ws, f"walk wash, {saved.id}, pets.md:1, walk dry")
    moved = reschedule_tasks(ws, chosen, "2026-12-03")
    assert [one.line for one in moved] == [2, 0, 1] and len({one.undo for one in moved}) == 1
    assert file.read_text().count("📅 2026-12-03") == 2
    assert daily.read_bytes() == before.replace(b"due=2026-11-25", b"due=2026-12-03")
    assert undo_last(ws, confirms=True).run
    assert (file.read_text(), daily.read_bytes()) == (text, before)

    with pytest.raises(Refused, match=r"private.*No task was changed"):
        reschedule_tasks(ws, find_tasks_to_move(ws, f"dog, {saved.id}, walk"), "tomorrow")
    assert (file.read_text(), daily.read_bytes()) == (text, before)
    with pytest.raises(Ambiguous) as error:
        find_tasks_to_move(ws, "pets, walk, bird")
    assert "3 open tasks hold 'pets'" in str(error.value) and "'bird'" in str(error.value)
    file.unlink()


def test_a_task_of_a_source_stays_as_a_tick_leaves_it(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Pets.md").write_text("- [ ] Feed the cat\n")
    with open_home(tmp_path / "home", sources={"vault": vault}) as ws:
        [task] = find_tasks_to_move(ws, "cat")
        with pytest.raises(Refused) as tick:
            tick_task(ws, task.path, task.line, task.text, done=True)
        with pytest.raises(Refused) as refused:
            reschedule_tasks(ws, [task], "tomorrow")
        assert str(refused.value) == str(tick.value)
    assert (vault / "Pets.md").read_text() == "- [ ] Feed the cat\n"


@pytest.mark.parametrize(
    ("note", "journal", "after"),
    [
        ("- TODO Dog\n  DEADLINE: <2026-11-20 Fri>\n", "", "  DEADLINE: <2026-12-03 Thu>\n"),
        ("- [ ] Dog [due:: 20.11.2026]\n", "", " [due:: 03.12.2026]\n"),
        ("", "- [ ] Dog 📅 2026-11-20\n", " 📅 2026-12-03\n"),
        ("", "", " due:2026-12-03\n"),
    ],
)
def test_a_task_that_is_being_written_gets_its_day_as_its_note_writes_days(
    tmp_path: Path, note: str, journal: str, after: str
) -> None:
    with open_home(tmp_path / "home") as ws:
        (ws.config.journal / "Dogs.md").write_text(f"# Dogs\n\n{note}")
        (ws.config.journal / "Cats.md").write_text(f"# Cats\n\n{journal}")
        text = "Soon:\n\n- [ ] Feed the cat\n- Rest\n"
        at = text.index("cat")
        dated = date_task_in_text(ws, text, at, "2026-12-03", "Dogs.md")
        mark = after if after.startswith(" ") and "<" not in after else f"\n{after}"
        assert dated == text.replace("cat\n", f"cat{mark}")
        for elsewhere in (0, text.index("Rest"), len(text)):
            assert date_task_in_text(ws, text, elsewhere, "2026-12-03", "") == ""
        with pytest.raises(InvalidArgument, match="due"):
            date_task_in_text(ws, text, at, "someday", "Dogs.md")


ONE_TASK = {
    # a text with N tasks that an entry with `due` has: N
    "- [ ] Call Bob": 1,
    "- [ ] Call Bob due:2026-11-25": 1,
    "- [ ] Call Bob\n\nHis number is 12345.": 1,
    "- [ ] Call Bob\n- [ ] Call Ann 📅 2026-11-26\n- [ ] Call Ida": 3,
}


@pytest.mark.parametrize("text", ONE_TASK)
@pytest.mark.parametrize("when", ["2026-12-03", "none"])
def test_a_task_whose_entry_is_due_is_one_line_and_moves_as_one(
    tmp_path: Path, text: str, when: str
) -> None:
    count = ONE_TASK[text]
    with open_home(tmp_path / "home") as ws:
        saved = save(ws, text, due="2026-11-27")
        file = ws.config.journal / saved.path
        before = file.read_bytes()
        listed = list_to_do(ws)
        assert len(listed) == len(list_due(ws).rows) == count
        assert all(task.line and task.due for task in listed)
        if count > 1 and when == "none":  # its day is also that of others
            return
        bob = next(task for task in listed if "Bob" in task.text)
        reschedule_tasks(ws, [bob], when)
        moved = {task.line: task.due for task in list_to_do(ws)}
        others = {task.line: task.due for task in listed if task != bob}
        assert moved == others | {bob.line: None if when == "none" else when}
        assert undo_last(ws, confirms=True).run and file.read_bytes() == before
        tick_task(ws, bob.path, bob.line, bob.text, done=True)
        assert len(list_to_do(ws)) == len(list_due(ws).rows) == count - 1


def test_an_entry_with_a_matter_of_its_own_stands_beside_its_tasks(tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as ws:
        save(ws, "- [ ] Book a hotel\n- [ ] Pack", title="The trip", due="2026-11-27")
        save(ws, "Taxes for the year.\n\n- [ ] Find the bills", due="2026-11-28")
        titles = [(task.text, task.due) for task in list_to_do(ws)]
        assert titles[:2] == [("The trip", "2026-11-27"), ("Taxes for the year", "2026-11-28")]
        assert {(task, day) for task, day in titles[2:]} == {
            ("Book a hotel", None),
            ("Pack", None),
            ("Find the bills", None),
        }
