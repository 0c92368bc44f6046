"""What any verb did is taken back byte for byte, by one log."""

from __future__ import annotations

import json
import os
import random
import resource
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from homes import Clock, open_home
from killed import FAULTS, started, was_killed
from vaults import files_of

from synaptic import Workspace, save
from synaptic.errors import Changed, JournalError, NotFound, Refused, SynapticError
from synaptic.features.importing.import_runs import plan_files, write_plan
from synaptic.features.page.saved_searches import save_search
from synaptic.features.tasks.rescheduling import find_tasks_to_move, reschedule_task
from synaptic.features.tasks.ticking import find_open_tasks, tick_task
from synaptic.features.vault.renaming import plan_note_rename
from synaptic.features.vault.retagging import plan_tag_rename
from synaptic.index.lists import map_paths_by_short_id
from synaptic.journal import disk
from synaptic.journal.changelog import KEEP_MONTHS, Actor, acting
from synaptic.journal.losses import find_losses
from synaptic.journal.rewriting import keep_opened, note_edit
from synaptic.render.terminal import runs_text
from synaptic.verbs.changing import open_for_edit, update
from synaptic.verbs.editing import open_text, write_text
from synaptic.verbs.removing import delete, restore, restore_version
from synaptic.verbs.rules import confirm
from synaptic.verbs.undoing import list_runs, list_runs_with_words, undo_last, undo_run
from synaptic.workspace.many_edits import make_edits
from synaptic.workspace.preferences import read_log
from synaptic.workspace.sync import in_step

NOTES = {
    "Zelazny.md": "---\ntitle: Roger\ntags: [sf]\n---\nAn author. #sf\n",
    "Pets.md": "# Pets\n\n- [ ] Feed the cat 🔁 every day 📅 2026-11-20\n- [ ] Feed the dog\n",
    "2026-11-20.md": "# 2026-11-20\r\n\r\n## 09:00 Tea\r\nWith [[Zelazny]]. #sf\r\n\r\n"
    "## 10:00 Bus\r\nLate.\r\n",
}
ID = "20261119-7k3m9q2x"
OWN = f"# 2026-11-19\n\n## 08:00 issue: Leak\n<!-- syn:{ID} -->\nIn the roof.\n\n## 09:00 Next\nx\n"


def put_notes(ws: Workspace) -> None:
    for name, text in (NOTES | {"2026-11-19.md": OWN}).items():
        (ws.config.journal / name).write_bytes(text.encode())


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    with open_home(tmp_path / "home") as workspace:
        put_notes(workspace)
        yield workspace


def any_id(ws: Workspace, number: int = 0) -> str:
    """The id of an entry that may be changed."""
    paths = in_step(ws, lambda _: map_paths_by_short_id(ws.index))
    return sorted(id for id, path in paths.values() if path[:4].isdecimal())[number]


def tick(ws: Workspace, words: str = "feed") -> None:
    tasks = find_open_tasks(ws, f"{words} dog")
    tick_task(ws, tasks[0].path, tasks[0].line, tasks[0].text, done=True)


def move_a_task(ws: Workspace) -> None:
    [task] = find_tasks_to_move(ws, "feed dog")
    reschedule_task(ws, task.path, task.line, task.text, "friday")


def edit_on_the_page(ws: Workspace) -> None:
    opened = open_text(ws, "Zelazny.md", "")
    write_text(ws, "Zelazny.md", "", opened.text.replace("An", "His own\n\nAn"), opened.seen)


def edit_in_an_editor(ws: Workspace) -> None:
    file = ws.config.journal / "Zelazny.md"
    opened = keep_opened(ws.journal, "Zelazny.md", waits=True)
    if not opened:
        raise NotFound("It was renamed.")
    file.write_text(file.read_text().replace("title: Roger", "title: Zelazny") + "more\n")
    note_edit(ws.journal, opened, waits=True)


def take_in(ws: Workspace) -> None:
    file = ws.config.home.parent / "diary.txt"
    file.write_text(
        "[2026-11-20 09:30] Imported one.\nText.\n\n[2026-11-18 10:00] Imported two.\nText.\n"
    )
    plan = plan_files(ws, file)
    if not plan.new:
        raise NotFound("It is there already.")
    write_plan(ws, plan)


VERBS: dict[str, Callable[[Workspace], object]] = {
    "save": lambda ws: save(ws, "A text. #sf", supersedes=[any_id(ws)]),
    "save on an old day": lambda ws: save(ws, "Bus again.", at="2026-11-20T09:30"),
    "update": lambda ws: update(ws, any_id(ws), content="Other words."),
    "update of marks": lambda ws: update(ws, ID, add_tags=["roof"], type="decision"),
    "move to another day": lambda ws: update(ws, ID, at="2026-11-20"),
    "move to a new day": lambda ws: update(ws, ID, at="2026-10-01"),
    "delete": lambda ws: delete(ws, any_id(ws)),
    "delete the last of a file": lambda ws: delete(ws, any_id(ws, -1)),
    "tick": tick,
    "move a task": move_a_task,
    "edit on the page": edit_on_the_page,
    "edit in an editor": edit_in_an_editor,
    "rename": lambda ws: make_edits(ws, plan_note_rename(ws, "Zelazny.md", "people/Roger")),
    "rename a tag": lambda ws: make_edits(ws, plan_tag_rename(ws, "sf", "books/sf")),
    "save a search": lambda ws: save_search(ws, "Roof", "/search?q=roof"),
    "import": take_in,
}


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_verb_did_is_taken_back_and_done_again_byte_for_byte(
    ws: Workspace, verb: str
) -> None:
    first = files_of(ws.config.journal)
    VERBS[verb](ws)
    after = files_of(ws.config.journal)
    assert after != first
    undone = undo_last(ws, confirms=True)
    assert not undone.stay and files_of(ws.config.journal) == first
    assert find_losses(ws.journal) == []
    assert not [run for run in list_runs(ws) if not run.verb.startswith("undo ")]
    undo_run(ws, undone.run, confirms=True)
    assert files_of(ws.config.journal) == after
    again = undo_last(ws, confirms=True)
    assert again.done.verb == undone.done.verb and files_of(ws.config.journal) == first


@pytest.mark.parametrize("verb", ["save", "update", "delete", "tick", "edit on the page"])
def test_a_verb_is_taken_back_below_lines_that_somebody_added_since(
    ws: Workspace, verb: str
) -> None:
    """The added lines stay; all else is as it was."""
    first = files_of(ws.config.journal)
    VERBS[verb](ws)
    for name in first.keys() & files_of(ws.config.journal).keys():
        file = ws.config.journal / name
        file.write_bytes(file.read_bytes().rstrip(b"\r\n") + b"\n\nadded since\n")
    undo_last(ws, confirms=True)
    for name, data in files_of(ws.config.journal).items():
        if name in first:
            lines = [line for line in data.splitlines() if line]
            assert lines.pop() == b"added since"
            assert lines == [line for line in first[name].splitlines() if line], name


def test_random_runs_of_verbs_taken_back_give_the_first_bytes(ws: Workspace) -> None:
    first = files_of(ws.config.journal)
    dice = random.Random(os.environ.get("SYNAPTIC_SEED", "57"))
    states = [first]
    for _ in range(24):
        verb = VERBS[dice.choice([*VERBS])]
        with suppress(SynapticError, IndexError):  # what it needs may be gone
            verb(ws)
        now = files_of(ws.config.journal)
        if now != states[-1]:
            states.append(now)
    assert len(states) > 8
    while len(states) > 1:
        undo_last(ws, confirms=True)
        now = files_of(ws.config.journal)
        while len(states) > 1 and states[-1] != now:
            states.pop()
        assert states[-1] == now
    assert files_of(ws.config.journal) == first
    with pytest.raises(NotFound, match="Nothing that a person did"):
        undo_last(ws)


def test_lines_that_were_changed_since_refuse_and_are_named(ws: Workspace) -> None:
    update(ws, ID, content="Other words.")
    file = ws.config.journal / "2026-11-19.md"
    file.write_text(file.read_text().replace("Other words.", "My own words."))
    before = files_of(ws.config.journal)
    with pytest.raises(Changed, match="hand or by another program; near line 3 it now reads"):
        undo_last(ws)
    assert files_of(ws.config.journal) == before
    receipt = save(ws, "One.")
    [run, *_] = list_runs(ws)
    assert (run.verb, run.what, run.files) == ("save", "One.", (receipt.path,))
    file = ws.config.journal / receipt.path
    file.write_text(file.read_text().replace("One.", "Two."))
    with pytest.raises(Changed):
        undo_run(ws, run.run)
    updated = next(run for run in list_runs(ws) if run.verb == "update")
    update(ws, ID, content="Third words.")
    with pytest.raises(Changed, match="by hand"):
        undo_run(ws, updated.run)


def edit_by_hand(ws: Workspace, path: str, old: str, new: str) -> None:
    file = ws.config.journal / path
    text = file.read_bytes()
    assert old.encode() in text
    file.write_bytes(text.replace(old.encode(), new.encode()))
    in_step(ws, lambda _: None)


@pytest.mark.parametrize("typed", ["Set to 20.\n", "\n- [ ] buy oil\n", "### Later\n\nMore.\n"])
@pytest.mark.parametrize("is_first", [True, False])
def test_no_undo_leaves_what_was_typed_into_an_entry_to_another(
    ws: Workspace, typed: str, is_first: bool
) -> None:
    if not is_first:
        save(ws, "The laptop gets Debian.")
    save(ws, "The heating is on.")
    file = ws.config.journal / f"{ws.today}.md"
    before = file.read_text()
    file.write_text(before + typed)
    with pytest.raises(Changed, match="something was typed into its entry since, by hand"):
        undo_last(ws)
    assert file.read_text() == before + typed


def test_a_refused_undo_names_the_hand_edit_and_a_step_that_works(ws: Workspace) -> None:
    """Another change of that file does not stand in the way, and is not named."""
    save(ws, "Before it.")
    [before] = list_runs(ws)
    update(ws, ID, content="Other words.")
    save(ws, "In the same file.", at="2026-11-19T10:00")
    [other, *_] = list_runs(ws)
    edit_by_hand(ws, "2026-11-19.md", "Other words.", "My own.\n<private>4711</private>")
    undo_last(ws)
    with pytest.raises(Changed) as refused:
        undo_last(ws)
    assert "2026-11-19.md" in refused.value.message
    assert "by hand" in refused.value.message and "'My own.'" in refused.value.message
    assert other.run not in str(refused.value) and "4711" not in str(refused.value)
    assert f"`synaptic undo {before.run}`" in refused.value.hint
    assert "`synaptic restore 7k3m9q2x`" in refused.value.hint
    restore(ws, "7k3m9q2x")
    assert "In the roof." in (ws.config.journal / "2026-11-19.md").read_text()
    undo_run(ws, before.run)


def test_a_refused_undo_of_a_save_or_a_tick_says_how_to_go_on(ws: Workspace) -> None:
    saved = save(ws, "One.")
    edit_by_hand(ws, saved.path, "One.", "Two.")
    with pytest.raises(Changed, match=r"'Two\.'") as refused:
        undo_last(ws)
    assert f"`synaptic delete {saved.id.partition('-')[2]}`" in refused.value.hint
    tick(ws)
    edit_by_hand(ws, "Pets.md", "[x] Feed the dog", "[x] Feed the dogs")
    with pytest.raises(Changed, match=r"line 4 it now reads '- \[x\] Feed the dogs") as refused:
        undo_last(ws)
    assert f"Edit {ws.journal.place('Pets.md')}:4." in refused.value.hint
    (ws.config.journal / "Pets.md").unlink()
    with pytest.raises(Changed, match=r"in Pets\.md it is gone\."):
        undo_last(ws)


def test_a_refused_undo_of_a_deletion_leads_to_restore(ws: Workspace) -> None:
    delete(ws, ID)
    edit_by_hand(ws, "2026-11-19.md", "## 09:00 Next", "## 09:05 Next")
    with pytest.raises(Changed) as refused:
        undo_last(ws)
    assert "`synaptic restore 7k3m9q2x`" in refused.value.hint
    restore(ws, "7k3m9q2x")
    assert "In the roof." in (ws.config.journal / "2026-11-19.md").read_text()


def test_a_refused_undo_names_the_change_that_stands_in_its_way(ws: Workspace) -> None:
    update(ws, ID, content="Other words.")
    [first] = list_runs(ws)
    update(ws, ID, content="Third words.")
    [second, _] = list_runs(ws)
    save(ws, "In the same file.", at="2026-11-19T10:00")
    with pytest.raises(Changed, match=f"by {second.run} ") as refused:
        undo_run(ws, first.run)
    assert refused.value.hint == f"`synaptic undo {second.run}` takes that back first."
    undo_run(ws, second.run)
    undo_run(ws, first.run)
    assert "In the roof." in (ws.config.journal / "2026-11-19.md").read_text()


def undo_and_redo(ws: Workspace, _: str) -> None:
    undo_last(ws)
    undo_run(ws, list_runs(ws)[0].run)


def bring_an_earlier_version(ws: Workspace, id: str) -> None:
    restore_version(ws, id, "0", open_for_edit(ws, id)[1])


BACK: dict[str, Callable[[Workspace, str], object]] = {
    "undo": lambda ws, _: undo_last(ws),
    "undo and redo": undo_and_redo,
    "restore": restore,
    "restore twice": lambda ws, id: (restore(ws, id), restore(ws, id)),
    "earlier version": bring_an_earlier_version,
    "typed again": lambda ws, id: update(ws, id, content="In the roof."),
}


@pytest.mark.sweep("way")
@pytest.mark.parametrize("text", ["as it was", "and more", "other words"])
@pytest.mark.parametrize("is_typed", [False, True])
@pytest.mark.parametrize("way", BACK)
def test_a_hand_edit_after_a_text_came_back_is_no_loss(
    ws: Workspace, way: str, is_typed: bool, text: str
) -> None:
    """The text that came back is an older one, and the trash holds it."""
    file = ws.config.journal / "2026-11-19.md"
    if is_typed:
        file.write_text(file.read_text().replace(f"<!-- syn:{ID} -->\n", ""))
        in_step(ws, lambda _: None)
    id = next(entry.id for entry in ws.journal.parse(file.name, file.read_bytes()).entries)
    states = [file.read_text()]
    for words in ("It runs since noon.", "A plumber came."):
        id = update(ws, id, content=words).id
        states.append(file.read_text())
    BACK[way](ws, id)
    came = file.read_text()
    newest = next(state for state in reversed(states) if state != came)
    if text == "and more":
        newest = newest.replace("\n\n## 09:00", " And went.\n\n## 09:00")
    elif text == "other words":
        newest = newest.replace("A plumber came.", "Dry again, all is paid.")
    file.write_text(newest)
    in_step(ws, lambda _: None)
    assert find_losses(ws.journal) == []
    assert not [one for one in update(ws, id, append="Done.").notices if "vanished" in one]
    assert find_losses(ws.journal) == []


def test_a_note_that_is_edited_again_as_it_was_before_an_undo_is_no_loss(ws: Workspace) -> None:
    file = ws.config.journal / "Zelazny.md"
    id = ws.journal.parse(file.name, file.read_bytes()).entries[0].id
    update(ws, id, append="He wrote about Amber.")
    after = file.read_bytes()
    undo_last(ws)
    file.write_bytes(after)
    in_step(ws, lambda _: None)
    assert find_losses(ws.journal) == []


def test_an_entry_that_moved_is_taken_back_in_both_files_or_in_none(ws: Workspace) -> None:
    update(ws, ID, at="2026-11-20")
    file = ws.config.journal / "2026-11-20.md"
    file.write_bytes(file.read_bytes().replace(b"In the roof.", b"In the cellar."))
    before = files_of(ws.config.journal)
    with pytest.raises(Changed):
        undo_last(ws)
    assert files_of(ws.config.journal) == before


def test_of_a_run_over_many_files_the_changed_ones_stay_and_can_be_tried_again(
    ws: Workspace,
) -> None:
    first = files_of(ws.config.journal)
    make_edits(ws, plan_tag_rename(ws, "sf", "books"))
    file = ws.config.journal / "Zelazny.md"
    after = file.read_text()
    file.write_text(after.replace("An author. #books", "A writer. #books"))
    undone = undo_last(ws)
    assert [path for path, _ in undone.stay] == ["Zelazny.md"]
    assert files_of(ws.config.journal)["2026-11-20.md"] == first["2026-11-20.md"]
    file.write_text(after)
    undo_run(ws, undone.done.run)
    assert files_of(ws.config.journal) == first


def test_undo_goes_on_to_what_was_before_and_says_how_to_do_it_again(ws: Workspace) -> None:
    states = []
    for number in range(3):
        states.append(files_of(ws.config.journal))
        save(ws, f"Number {number}.")
    for number in (2, 1):
        undone = undo_last(ws)
        assert undone.done.what == f"Number {number}."
        assert undone.earlier and undone.earlier.what == f"Number {number - 1}."
        assert files_of(ws.config.journal) == states[number]
    assert undo_run(ws, undone.run[:6]).done.verb == "undo save"
    assert files_of(ws.config.journal) == states[2]


def test_an_agent_takes_back_what_agents_did_and_a_person_what_they_did(ws: Workspace) -> None:
    mine = save(ws, "Mine.")
    with acting(Actor("claude", "MCP")):
        save(ws, "Of an agent.")
        update(ws, ID, content="By an agent.", by_person=False)
    update(ws, ID, title="Of the library", by_person=False, by="codex")
    assert [run.who for run in list_runs(ws)] == ["codex", "claude", "claude", "person"]
    with pytest.raises(Refused, match="only a person"):
        undo_run(ws, list_runs(ws)[-1].run, by_person=False)
    assert undo_last(ws).done.what == "Mine."
    assert ws.journal.find_or_none(mine.path, mine.id) is None
    for who in ("codex", "claude", "claude"):
        assert undo_last(ws, by_person=False).done.who == who
    with pytest.raises(NotFound, match="an agent did"):
        undo_last(ws, by_person=False)


def test_a_preference_in_force_is_taken_back_by_a_person_only(ws: Workspace) -> None:
    receipt = save(ws, "Always use tabs.", type="preference", by_person=False)
    entry = ws.journal.find(receipt.path, receipt.id)[1]
    confirm(ws, entry)
    with pytest.raises(Refused):
        undo_last(ws, by_person=False)
    delete(ws, receipt.id, confirms=True)
    assert receipt.id not in read_log(ws.config.state).confirmed
    undo_last(ws, confirms=True)
    assert receipt.id in read_log(ws.config.state).confirmed


KILLED = ("save", "update", "delete", "tick", "move to another day")
STEPS = [step for step in FAULTS if step not in ("kept-torn", "created", "linked")]


@pytest.mark.sweep("verb")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("verb", KILLED)
def test_a_kill_at_each_step_leaves_each_file_old_or_new_and_undo_goes_back(
    ws: Workspace, verb: str, step: str
) -> None:
    any_id(ws)
    first = files_of(ws.config.journal)

    def die() -> None:
        os.environ["SYNAPTIC_FAULT"] = step
        VERBS[verb](ws)

    was_killed(started(die))
    save(ws, "The next writer clears up.")
    undo_last(ws)
    if files_of(ws.config.journal) != first:
        undo_last(ws)
    assert files_of(ws.config.journal) == first


@pytest.mark.sweep("verb")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("verb", ["update", "tick", "move to another day"])
def test_a_kill_at_each_step_of_an_undo_is_gone_on_with(
    ws: Workspace, verb: str, step: str
) -> None:
    first = files_of(ws.config.journal)
    VERBS[verb](ws)
    [run] = list_runs(ws)

    def die() -> None:
        os.environ["SYNAPTIC_FAULT"] = step
        undo_run(ws, run.run)

    was_killed(started(die))
    save(ws, "The next writer clears up.")
    undo_last(ws)
    if files_of(ws.config.journal) != first:
        undo_run(ws, run.run)
    assert files_of(ws.config.journal) == first


@pytest.mark.sweep("verb")
@pytest.mark.parametrize("most_bytes", [0, 300, 900])
@pytest.mark.parametrize("verb", [*KILLED, "edit on the page", "rename"])
def test_an_undo_that_finds_no_room_changes_nothing_and_works_afterwards(
    ws: Workspace, verb: str, most_bytes: int
) -> None:
    """The limit stands in for a full disk: no file grows above it."""
    first = files_of(ws.config.journal)
    VERBS[verb](ws)
    after = files_of(ws.config.journal)

    def undo_without_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        with suppress(JournalError):
            undo_last(ws)

    was_killed(started(undo_without_room))
    assert files_of(ws.config.journal) in (first, after)
    if files_of(ws.config.journal) == after:
        undo_last(ws)
    assert files_of(ws.config.journal) == first
    assert find_losses(ws.journal) == []


@pytest.mark.parametrize(
    ("verb", "most"),
    [("save on an old day", 5), ("update", 6), ("delete", 5), ("tick", 4), ("rename", 14)],
)
def test_the_log_costs_no_verb_a_sync(
    ws: Workspace, verb: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as before there was a log, or fewer, but for the first change of a month."""
    save(ws, "The first.")
    delete(ws, any_id(ws, -1))
    calls = []
    sync_file = disk.sync_file

    def count(fd: int) -> None:
        calls.append(fd)
        sync_file(fd)

    monkeypatch.setattr(disk, "sync_file", count)
    VERBS[verb](ws)
    assert len(calls) <= most


def test_an_undo_reads_the_log_twice(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """To choose the run, and once more under the lock."""
    update(ws, ID, content="Other words.")
    reads = []
    read_state_file = disk.read_state_file

    def count(path: Path, *most: int) -> bytes:
        reads.append(path.parent.name)
        return read_state_file(path, *most)

    monkeypatch.setattr(disk, "read_state_file", count)
    undo_last(ws)
    assert reads.count("changes") == 2


def log_of(ws: Workspace) -> str:
    return "".join(path.read_text() for path in ws.journal.log.files())


def test_the_log_is_private_can_be_read_and_forgets_what_is_purged(ws: Workspace) -> None:
    update(ws, ID, content="The code is 4711.")
    update(ws, ID, content="Other words.")
    tick(ws)
    assert "In the roof." in log_of(ws) and "4711" in log_of(ws)
    [file] = ws.journal.log.files()
    assert file.name == "2026-11.jsonl" or file.name.endswith(".jsonl")
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent)] == [0o600, 0o700]
    delete(ws, ID, purge=True)
    assert not {"4711", "roof", "Leak", ID} & set(log_of(ws).replace('"', " ").split())
    assert [run.verb for run in list_runs(ws)] == ["tick"]


def test_a_purge_leaves_no_id_in_the_trash_of_the_entry_below(ws: Workspace) -> None:
    data = (ws.config.journal / "2026-11-19.md").read_bytes()
    below = ws.journal.parse("2026-11-19.md", data).entries[1].id
    delete(ws, below)
    assert ID in ws.journal.trash.path.read_text()
    delete(ws, ID, purge=True)
    assert ID not in ws.journal.trash.path.read_text()
    restore(ws, below)


def test_text_that_becomes_private_leaves_the_log(ws: Workspace) -> None:
    update(ws, ID, append="My salary.")
    update(ws, ID, content="Nothing.")
    assert "My salary." in log_of(ws)
    file = ws.config.journal / "2026-11-19.md"
    file.write_text(file.read_text().replace("Nothing.", "<private>My salary.</private>"))
    in_step(ws, lambda _: None)
    assert "salary" not in log_of(ws)


def test_a_torn_record_is_passed_over_and_old_months_go(ws: Workspace, clock: Clock) -> None:
    save(ws, "One.")
    [file] = ws.journal.log.files()
    with file.open("ab") as torn:
        torn.write(b'{"id": "x", "run": "y"\n[]\n"text"\n')
    save(ws, "Two.")
    assert [run.what for run in list_runs(ws)] == ["Two.", "One."]
    lines = [line for line in file.read_text().splitlines() if line[:2] == '{"']
    assert json.loads(lines[0])["verb"] == "save" and "One." not in file.read_text()
    for month in range(1, 13):
        (file.parent / f"2025-{month:02}.jsonl").touch()
    file.unlink()
    save(ws, "Three.")
    assert len(ws.journal.log.files()) == KEEP_MONTHS + 1


def test_a_restore_over_many_runs_is_one_run_too(ws: Workspace) -> None:
    delete(ws, ID)
    after = files_of(ws.config.journal)
    restore(ws, ID)
    assert [run.verb for run in list_runs(ws)] == ["restore", "delete"]
    undo_last(ws)
    assert files_of(ws.config.journal) == after


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("number", range(3))
def test_a_deleted_entry_comes_back_to_its_place_in_a_file_that_changed_since(
    ws: Workspace, number: int, eol: str
) -> None:
    """Also in a note whose entries have no time; what changed elsewhere in it stays."""
    ids = [f"{ID[:-1]}{place}" for place in (3, 4, 5)]
    text = "# Shopping\n\n" + "\n".join(f"## Shop {id}\n<!-- syn:{id} -->\nx\n" for id in ids)
    file = ws.config.journal / "Shopping.md"
    file.write_bytes(text.replace("\n", eol).encode())
    in_step(ws, lambda _: None)
    delete(ws, ids[number])
    other = ids[number - 1]
    update(ws, other, content="Is closed.")
    with file.open("ab") as end:
        end.write(f"{eol}Added by hand.{eol}".encode())
    restore(ws, ids[number])
    found = [entry.id for entry in ws.journal.parse(file.name, file.read_bytes()).entries]
    assert found == ids
    assert b"Is closed." in file.read_bytes() and b"Added by hand." in file.read_bytes()
    assert file.read_bytes().count(b"\r\n") in (0, file.read_bytes().count(b"\n"))


@pytest.mark.parametrize("gone", ["delete", "undo of the save", "by an editor"])
@pytest.mark.parametrize("eol", ["\n", "\r\n"])
def test_a_restore_after_the_undo_of_a_restore_finds_the_same_place(
    ws: Workspace, gone: str, eol: str
) -> None:
    """Also where the entries do not stand in the order of their times."""
    file = ws.config.journal / "2026-11-20.md"
    id = f"{ID[:-1]}3"
    text = f"# 2026-11-20\n\n## 12:00 Bread\nOut.\n\n## 10:00 Milk\n<!-- syn:{id} -->\nTwo.\n\n"
    text += "## 11:00 Eggs\nSix.\n\n## 08:00 Tea\nHot.\n"
    file.write_bytes(text.replace("\n", eol).encode())
    in_step(ws, lambda _: None)
    if gone == "undo of the save":
        id = save(ws, "Butter.", at="2026-11-20T09:30").id
    before = file.read_bytes()
    if gone == "delete":
        delete(ws, id)
    elif gone == "by an editor":
        opened = keep_opened(ws.journal, file.name, waits=True)
        assert opened
        file.write_bytes(before.replace(ws.journal.find(file.name, id)[0], b""))
        note_edit(ws.journal, opened, waits=True)
    else:
        undo_last(ws)
    without = file.read_bytes()
    restore(ws, id)
    assert file.read_bytes() == before
    for _ in range(2):
        undo_last(ws, verb="restore")
        assert file.read_bytes() == without
        restore(ws, id)
        assert file.read_bytes() == before


def test_the_list_tells_updates_of_one_note_apart_and_an_undone_run_once(ws: Workspace) -> None:
    words = [
        "It drips by the chimney.",
        "A plumber came at noon.",
        "He <private>47 11</private>.",
    ]
    for content in words:
        update(ws, ID, content=content)
    update(ws, ID, append="All is dry.")
    tick(ws)
    for _ in range(2):
        undo_last(ws)
    lines = runs_text(list_runs_with_words(ws)).splitlines()
    at = lines.index("Taken back, at this time:")
    updates = [line for line in lines[:at] if " update: " in line]
    assert len(set(updates)) == len(updates) == len(words)
    assert '"In the roof." -> "It drips by the chimney."' in updates[-1]
    assert '"It drips by the chimney." -> "A plumber came at noon."' in updates[-2]
    assert "47 11" not in "".join(lines) and "undo update" not in "".join(lines)
    again = [line for line in lines[at:] if "(" in line]
    assert [line.split()[3] for line in again] == ["update:", "tick:"]
    assert 'added "All is dry."' in again[0]
    undo_run(ws, again[0].split()[0])
    lines = runs_text(list_runs_with_words(ws)).splitlines()
    assert len([line for line in lines if "All is dry." in line]) == 1


def test_the_list_says_which_mark_changed_and_whither_an_entry_went(ws: Workspace) -> None:
    update(ws, ID, due="2026-12-01")
    update(ws, ID, importance=9)
    update(ws, ID, at="2026-10-01")
    moved, worth, due, *_ = runs_text(list_runs_with_words(ws)).splitlines()
    assert 'added "due=2026-12-01"' in due and 'added "importance=9"' in worth
    assert "2026-10-01.md" in moved and "2 files" not in moved


def test_an_id_of_an_undo_needs_four_letters(tmp_path: Path) -> None:
    with open_home(tmp_path) as ws:
        save(ws, "The ferry leaves at nine.")
        [run] = list_runs(ws)
        for short in ("", run.run[0], run.run[:3]):
            with pytest.raises(NotFound):
                undo_run(ws, short)
        assert undo_run(ws, run.run[:4]).done.run == run.run
