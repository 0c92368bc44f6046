"""A yes is to a text that was read: what each deed of a person does to a rule that waits, and to
one in force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from synaptic import Workspace
from synaptic.features.tasks import ticking
from synaptic.features.upkeep.findings import carry_out_answer
from synaptic.journal.writer import FileWriter
from synaptic.models import Entry
from synaptic.verbs import changing, editing, removing, rules, saving, settling
from synaptic.verbs.brief import brief
from synaptic.workspace.preferences import read_log
from synaptic.workspace.sync import in_step

AGENTS = "Be kind. OTHER words follow.\n\n- [ ] a task"
Deed = Callable[[Workspace, str], object]


def in_force(ws: Workspace) -> list[str]:
    return [entry.content for entry in brief(ws, None).rules]


def agents_rule(ws: Workspace, content: str = AGENTS, **marks: Any) -> str:
    marks = {"title": "Be kind", "type": "preference"} | marks
    return saving.save(ws, content, by="codex", by_person=False, **marks).id


def confirmed_rule(ws: Workspace) -> str:
    id = agents_rule(ws)
    rules.confirm(ws, stored(ws, id))
    assert in_force(ws)
    return id


def stored(ws: Workspace, id: str) -> Entry:
    return in_step(ws, lambda _: ws.index.resolve(id)).entry and whole(ws, id)


def whole(ws: Workspace, id: str) -> Entry:
    entry = ws.index.resolve(id).entry
    return ws.journal.find(entry.path, id)[1]


def update(**parts: Any) -> Deed:
    return lambda ws, id: changing.update(ws, id, confirms=True, **parts)


def delete_and_restore(ws: Workspace, id: str) -> None:
    removing.delete(ws, id, confirms=True)
    assert not in_force(ws)
    removing.restore(ws, id, confirms=True)


def vanish_and_restore(ws: Workspace, id: str) -> None:
    place = ws.journal.place(whole(ws, id).path)
    place.write_text("# An old buffer\n")
    assert not in_force(ws)
    removing.restore(ws, id, vanished=True, confirms=True)


def change_and_undo(ws: Workspace, id: str) -> None:
    changing.update(ws, id, title="Kind", confirms=True)
    removing.restore(ws, id, confirms=True)


def move_and_undo(ws: Workspace, id: str) -> None:
    changing.update(ws, id, at="2026-11-19 10:00", confirms=True)
    removing.restore(ws, id, confirms=True)


def change_and_take_a_version(ws: Workspace, id: str) -> None:
    changing.update(ws, id, title="Kind", confirms=True)
    removing.restore_version(ws, id, "0", changing.open_for_edit(ws, id)[1])


def type_and_back(ws: Workspace, id: str) -> None:
    changing.update(ws, id, type="note", confirms=True)
    changing.update(ws, id, type="preference", confirms=True)


def type_and_undo(ws: Workspace, id: str) -> None:
    changing.update(ws, id, type="note", confirms=True)
    removing.restore(ws, id, confirms=True)


def edit_beside(ws: Workspace, id: str) -> None:
    path = whole(ws, id).path
    now = editing.open_text(ws, path, "")
    editing.write_text(ws, path, "", now.text.replace("OTHER", "MORE"), now.seen)


def tick(ws: Workspace, id: str) -> None:
    entry = whole(ws, id)
    ticking.tick_task(ws, entry.path, entry.there.body_line + 2, "a task", done=True)


def supersede(ws: Workspace, id: str) -> None:
    other = saving.save(ws, "An older note.").id
    carry_out_answer(ws, f"near:{other[9:]}:{id[9:]}", "supersede", confirms=True)


SMALL: dict[str, Deed] = {
    "expires": update(expires="2030-01-01"),
    "title": update(title="Kind"),
    "project": update(project=""),
    "pin": update(pin=True),
    "append": update(append="And more."),
    "supersede": supersede,
    "a page of the whole file": edit_beside,
    "tick": tick,
}
UNDONE: dict[str, Deed] = {
    "delete": delete_and_restore,
    "vanish": vanish_and_restore,
    "change": change_and_undo,
    "move": move_and_undo,
    "version": change_and_take_a_version,
    "type": type_and_undo,
}
DEEDS = SMALL | UNDONE | {"type twice": type_and_back}


@pytest.mark.parametrize("deed", DEEDS)
def test_no_small_change_and_no_undo_puts_a_waiting_rule_into_force(
    ws: Workspace, deed: str
) -> None:
    id = agents_rule(ws)
    DEEDS[deed](ws, id)
    assert in_force(ws) == []
    assert [entry.id for entry in rules.list_waiting(ws)] == [id]


@pytest.mark.parametrize("deed", SMALL | UNDONE)
def test_a_rule_in_force_stays_in_force_or_is_again(ws: Workspace, deed: str) -> None:
    id = confirmed_rule(ws)
    DEEDS[deed](ws, id)
    assert len(in_force(ws)) == 1
    assert rules.list_waiting(ws) == ()


def test_a_note_that_becomes_a_rule_waits(ws: Workspace) -> None:
    id = agents_rule(ws, type="note")
    changing.update(ws, id, type="preference", confirms=True)
    assert in_force(ws) == []


def test_a_text_that_a_person_typed_whole_is_in_force(ws: Workspace) -> None:
    titled = agents_rule(ws, title="Run curl")
    changing.update(ws, titled, content="Be brief.", confirms=True)
    assert in_force(ws) == []  # the title is the agent's, and nobody typed it
    changing.update(ws, titled, content="Be brief and clear.", title="Brief", confirms=True)
    assert in_force(ws) == ["Be brief and clear."]
    plain = agents_rule(ws, "Use OTHER words.", title=None)
    changing.update(ws, plain, content="Use few words.", confirms=True)
    assert "Use few words." in in_force(ws)
    form = agents_rule(ws, "Use short words.")
    entry, seen = changing.open_for_edit(ws, form)
    changing.update(ws, form, content=f"{entry.content} Always.", seen=seen, confirms=True)
    assert "Use short words. Always." in in_force(ws)
    note = agents_rule(ws, "Use long words.")
    now = editing.open_text(ws, whole(ws, note).path, note)
    editing.write_text(
        ws, whole(ws, note).path, note, now.text.replace("long", "old"), now.seen
    )
    assert "Use old words." in in_force(ws)


def test_an_undo_of_a_persons_change_gives_a_waiting_text_back_waiting(ws: Workspace) -> None:
    id = agents_rule(ws)
    changing.update(ws, id, content="Be brief.", title="Brief", confirms=True)
    assert in_force(ws) == ["Be brief."]
    removing.restore(ws, id, confirms=True)
    assert in_force(ws) == []
    removing.restore(ws, id, confirms=True)
    assert in_force(ws) == ["Be brief."]


def test_a_rule_that_came_back_by_hand_waits_also_after_an_undo(ws: Workspace) -> None:
    id = confirmed_rule(ws)
    place = ws.journal.place(whole(ws, id).path)
    before = place.read_text()
    removing.delete(ws, id, confirms=True)
    place.write_text(before)
    assert in_force(ws) == []
    removing.delete(ws, id, confirms=True)
    removing.restore(ws, id, confirms=True)
    assert in_force(ws) == []


def test_a_choice_in_a_conflict_brings_back_what_was_in_force_and_no_more(
    ws: Workspace,
) -> None:
    id = saving.save(ws, "Tea at noon.", title="Tea", type="preference", confirms=True).id
    place = ws.journal.place(whole(ws, id).path)
    mine = place.read_text()
    conflict = mine.replace(
        "Tea at noon.", "<<<<<<< mine\nTea at noon.\n=======\nEVIL at noon.\n>>>>>>> theirs"
    )
    for choice, rule in (("mine", ["Tea at noon."]), ("theirs", [])):
        place.write_text(conflict)
        assert in_force(ws) == []
        settling.settle_conflict(ws, whole(ws, id), choice, by_person=True, confirms=True)
        assert "<<<<" not in place.read_text()
        assert in_force(ws) == rule


def test_a_no_is_remembered_and_no_undo_takes_it_back(ws: Workspace) -> None:
    id = agents_rule(ws)
    rules.confirm(ws, stored(ws, id), remove=True)
    assert rules.list_waiting(ws) == () and in_force(ws) == []
    assert brief(ws, None).unconfirmed == ()
    delete_and_restore(ws, id)
    type_and_undo(ws, id)
    assert rules.list_waiting(ws) == () and in_force(ws) == []
    changing.update(ws, id, content="Another text.", by_person=False)
    assert [entry.id for entry in rules.list_waiting(ws)] == [id]
    removing.restore(ws, id, confirms=True)
    rules.confirm(ws, stored(ws, id))  # whoever asks for it is asked again
    assert len(in_force(ws)) == 1


# -- what is confirmed is what was written


@pytest.mark.parametrize("deed", ["save", "form", "page", *SMALL, *UNDONE])
def test_nothing_is_confirmed_from_a_second_reading(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    """Somebody with an editor, who waits for no lock, replaces the text as soon as it is
    written.
    """
    deeds: dict[str, Deed] = {
        "save": lambda ws, _: saving.save(
            ws, "Use tabs.", type="preference", confirms=True, at="2026-11-21 08:00"
        ),
        "form": update(content="Be brief.", title="Brief"),
        "page": edit_entry_on_page,
    } | DEEDS
    id = confirmed_rule(ws)
    change = FileWriter.change
    evil = []

    def change_and_edit(writer: FileWriter, path: str, make: Any) -> Any:
        done = change(writer, path, make)
        place = ws.journal.place(path)
        if place.exists():
            place.write_text(
                "\n".join(
                    f"EVIL {line}" if line[:1].isalpha() else line
                    for line in place.read_text().splitlines()
                )
            )
            evil.append(place)
        return done

    monkeypatch.setattr(FileWriter, "change", change_and_edit)
    try:
        deeds[deed](ws, id)
    except Exception as error:
        assert "changed" in str(error)
    assert evil
    assert "EVIL" not in " ".join(in_force(ws))
    monkeypatch.undo()
    assert "EVIL" not in " ".join(in_force(ws))


def edit_entry_on_page(ws: Workspace, id: str) -> None:
    path = whole(ws, id).path
    now = editing.open_text(ws, path, id)
    editing.write_text(ws, path, id, now.text.replace("OTHER", "MORE"), now.seen)


@pytest.mark.parametrize("deed", ["page", "title", "delete", "version"])
def test_a_file_and_its_confirmation_are_written_under_one_lock(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch, deed: str
) -> None:
    """As soon as another process may have the lock, its check finds the rule in force."""
    id = confirmed_rule(ws)
    saving.save(ws, "Another entry of that day.")
    path = whole(ws, id).path
    locked = FileWriter.locked
    verdicts = []

    @contextmanager
    def look(writer: FileWriter, timeout_s: float) -> Iterator[None]:
        with locked(writer, timeout_s):
            yield
        log = read_log(ws.config.state)
        present = ws.journal.parse(path, ws.journal.read(path)).entries
        verdicts.extend(log.is_in_force(entry) for entry in present if entry.id == id)

    monkeypatch.setattr(FileWriter, "locked", look)
    ({"page": edit_entry_on_page} | DEEDS)[deed](ws, id)
    assert verdicts and all(verdicts)
