"""The log of confirmations: what begins one, what ends one, and what only suspends it."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from homes import open_home

from synaptic import Workspace
from synaptic.errors import JournalError, Refused
from synaptic.journal.machine import key_path
from synaptic.verbs import changing, removing, rules, saving
from synaptic.verbs.brief import brief
from synaptic.workspace.preferences import LOG, read_all_preferences
from synaptic.workspace.proposals import Proposal, read_proposals
from synaptic.workspace.proposing import note_answer, propose
from synaptic.workspace.sync import in_step, rebuild

TEXT = "Never force-push."


def in_force(ws: Workspace) -> list[str]:
    return [entry.title for entry in brief(ws, None).rules]


def confirmed(ws: Workspace, text: str = TEXT, **marks: str) -> str:
    return saving.save(ws, text, type="preference", confirms=True, **marks).id  # type: ignore[arg-type]


def file_of(ws: Workspace, id: str) -> Path:
    return ws.journal.place(ws.index.resolve(id).entry.path)


CHANGES: dict[str, Callable[[str], str]] = {
    "text": lambda text: text.replace("force-push", "push"),
    "more text": lambda text: text + "\nUnless it is Friday.\n",
    "project": lambda text: text.replace(" project=tests", " project=web"),
    "no project": lambda text: text.replace(" project=tests", ""),
    "type": lambda text: text.replace("preference", "decision"),
    "pin": lambda text: text.replace(" project=", " pin=yes project="),
    "expires": lambda text: text.replace(" project=", " expires=2026-01-01 project="),
    "supersedes": lambda text: text.replace(
        " project=", " supersedes=20260101-00000001 project="
    ),
    "the id": lambda text: text.replace("syn:", "syn:20261121-1234567z "),
    "all": lambda _: "# 2026-11-21\n",
}


@pytest.mark.sweep("is_rebuilt")
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("is_rebuilt", [False, True])
def test_a_file_that_no_longer_says_a_rule_ends_it_for_good(
    ws: Workspace, change: str, is_rebuilt: bool
) -> None:
    id = confirmed(ws)
    assert in_force(ws) == [TEXT]
    file = file_of(ws, id)
    before = file.read_text()
    after = CHANGES[change](before)
    assert after != before
    file.write_text(after)
    if is_rebuilt:
        rebuild(ws)
    assert in_force(ws) == []
    file.write_text(before)
    assert in_force(ws) == [] and [one.title for one in rules.list_waiting(ws)] == [TEXT]
    rules.confirm(ws, rules.list_waiting(ws)[0])
    assert in_force(ws) == [TEXT]


def test_words_beside_a_rule_end_nothing(ws: Workspace) -> None:
    id = confirmed(ws)
    file = file_of(ws, id)
    file.write_text(file.read_text() + "\n## 11:00 Something else\n")
    assert in_force(ws) == [TEXT]
    changing.update(ws, id, add_tags=["git"], confirms=True)
    assert in_force(ws) == [TEXT]


@pytest.mark.parametrize("way", ["moved", "copied", "renamed", "read in between"])
def test_a_missing_file_only_suspends(ws: Workspace, way: str, tmp_path: Path) -> None:
    id = confirmed(ws)
    assert in_force(ws) == [TEXT]
    file = file_of(ws, id)
    text = file.read_bytes()
    file.rename(tmp_path / "away")
    if way == "read in between":
        rebuild(ws)
    assert in_force(ws) == []
    back = file.with_name("another.md") if way == "renamed" else file
    if way == "copied":
        back.write_bytes(text)
    else:
        (tmp_path / "away").rename(back)
    assert in_force(ws) == [TEXT]
    if way == "renamed":  # its new file ends it, too
        back.write_text("# Nothing\n")
        assert in_force(ws) == []
        back.write_bytes(text)
        assert in_force(ws) == []


def test_a_missing_root_only_suspends(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "2026-11-20.md").write_text(f"## 09:00 preference: {TEXT}\n")
    with open_home(tmp_path / "home", sources={"@vault": vault}) as ws:
        assert in_force(ws) == []
        [entry] = rules.list_waiting(ws)
        rules.confirm(ws, entry)
        assert in_force(ws) == [TEXT] and "syn:" not in (vault / "2026-11-20.md").read_text()
    vault.rename(tmp_path / "unmounted")
    with open_home(tmp_path / "home", sources={"@vault": vault}) as ws:
        assert in_force(ws) == []
    (tmp_path / "unmounted").rename(vault)
    with open_home(tmp_path / "home", sources={"@vault": vault}) as ws:
        assert in_force(ws) == [TEXT]


@pytest.mark.parametrize("mark", ["", "expires=2020-01-01 "])
def test_a_copy_with_the_id_takes_nothing_over(ws: Workspace, mark: str) -> None:
    id = confirmed(ws)
    file = file_of(ws, id)
    block = file.read_text().partition("\n\n")[2]
    other = block.replace(" project=", f" {mark}project=")
    if not mark:
        other = other.replace("force-push", "hesitate")
    first = file.with_name("a.md")  # the shorter path has the id
    first.write_text(other)
    assert in_force(ws) == [TEXT]
    assert "a.md" in [one.path for one in rules.list_waiting(ws)]
    # nor does an equal copy keep a rule that its own file no longer says, or end it
    first.write_text(block)
    assert in_force(ws) == [TEXT]
    first.write_text("# Nothing\n")
    assert in_force(ws) == [TEXT]
    first.write_text(block)
    file.write_text("# 2026-11-21\n")
    assert in_force(ws) == []


def test_a_peer_hides_no_rule_by_what_replaces_it_or_when_it_ends(ws: Workspace) -> None:
    id = confirmed(ws)
    day = ws.config.journal / "2026-11-20.md"
    day.write_text(
        f"## 08:00 preference: Push.\n<!-- syn:20261120-00000001 supersedes={id} -->\n"
    )
    assert in_force(ws) == [TEXT]
    file = file_of(ws, id)
    file.write_text(file.read_text().replace(" project=", " expires=2020-01-01 project="))
    found = brief(ws, None)
    # another end is another rule, but what it said is still told, and a person is asked
    assert not found.rules and [one.title for one in found.unconfirmed] == [TEXT]
    assert "changed when it ends" in found.unconfirmed[0].marks[0]
    assert TEXT in [one.title for one in rules.list_waiting(ws)]


def others(ws: Workspace, id: str, other: str) -> dict[str, Callable[[], object]]:
    save, update = saving.save, changing.update
    return {
        "text": lambda: update(ws, id, content="Push.", by_person=False),
        "append": lambda: update(ws, id, append="Or not.", by_person=False),
        "type": lambda: update(ws, id, type="note", by_person=False),
        "project": lambda: update(ws, id, project="web", by_person=False),
        "expires": lambda: update(ws, id, expires="2026-11-21", by_person=False),
        "tags": lambda: update(ws, id, add_tags=["done"], by_person=False),
        "replaced": lambda: update(ws, other, supersedes=[id], by_person=False),
        "replaced by a new one": lambda: save(ws, "P.", supersedes=[id], by_person=False),
        "deleted": lambda: removing.delete(ws, id, by_person=False),
        "restored": lambda: removing.restore(ws, id, by_person=False),
        "purged": lambda: removing.delete(ws, id, purge=True, by_person=False),
        "deleted in a pipe": lambda: removing.delete(ws, id),
        "changed in a pipe": lambda: update(ws, id, content="Push."),
    }


def test_who_may_not_confirm_takes_no_rule_out_of_force(ws: Workspace) -> None:
    id = confirmed(ws, "Never push.")
    changing.update(ws, id, content=TEXT, confirms=True)
    other = saving.save(ws, "Push.", type="preference", by_person=False).id
    for change in others(ws, id, other).values():
        with pytest.raises(Refused, match="only the user changes") as refused:
            change()
        assert "synaptic update" in refused.value.hint
    assert in_force(ws) == [TEXT]


def test_what_a_person_ends_another_does_not_bring_back(ws: Workspace) -> None:
    id = confirmed(ws, "One.")
    changing.update(ws, id, content=TEXT, confirms=True)
    assert in_force(ws) == [TEXT]
    rules.confirm(ws, brief(ws, None).rules[0], remove=True)
    with pytest.raises(Refused, match="only a person takes that back"):
        removing.restore(ws, id, by_person=False)
    removing.restore(ws, id)  # to a text that was in force, by one who does not confirm
    assert in_force(ws) == []
    removing.restore(ws, id, confirms=True)  # to the one to which they said no
    assert in_force(ws) == [] and rules.list_waiting(ws) == ()
    rules.confirm(ws, in_step(ws, lambda _: read_all_preferences(ws))[0])
    assert in_force(ws) == [TEXT]
    removing.delete(ws, id, confirms=True)
    assert in_force(ws) == []
    with pytest.raises(Refused, match="only a person takes that back"):
        removing.restore(ws, id, by_person=False)
    assert "waits" in " ".join(removing.restore(ws, id).notices)
    assert in_force(ws) == []
    removing.delete(ws, id, by_person=False)
    removing.restore(ws, id, confirms=True)  # it waited when it was deleted
    assert in_force(ws) == []


def test_a_text_from_outside_waits_until_a_person_takes_it_on(ws: Workspace) -> None:
    id = confirmed(ws, TEXT, source="https://example.org")
    assert in_force(ws) == []
    changing.update(ws, id, content="Never push.", confirms=True)
    assert in_force(ws) == ["Never push."]
    removing.restore(ws, id, confirms=True)
    assert in_force(ws) == []


def test_a_confirmation_names_a_stable_id(ws: Workspace) -> None:
    day = ws.config.journal / "2026-11-20.md"
    day.write_text(f"## 09:00 preference: {TEXT}\n\nNot once.\n")
    [entry] = rules.list_waiting(ws)
    assert entry.derived_id
    rules.confirm(ws, entry)
    assert f"syn:{entry.id}" in day.read_text() and in_force(ws) == [TEXT]
    day.write_text("## 07:00 Above\n\n" + day.read_text())
    assert in_force(ws) == [TEXT]


@pytest.mark.parametrize("way", ["older", "another machine", "lost key", "shown key", "forged"])
def test_a_row_without_this_machines_mark_confirms_nothing(
    ws: Workspace, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    id = confirmed(ws)
    saving.save(ws, "Use tabs.", type="preference", by="claude", by_person=False)
    assert in_force(ws) == [TEXT]
    log = ws.config.state / LOG
    rows = [json.loads(line) for line in log.read_text().splitlines() if line]
    if way == "older":
        rows = [{name: row[name] for name in row if name != "mark"} for row in rows]
    elif way == "forged":
        rows = [row | {"place": "/elsewhere"} for row in rows]
    elif way == "another machine":
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
        saving.save(ws, "Theirs.", type="preference", confirms=True)
        rows += [json.loads(line) for line in log.read_text().splitlines() if line][-1:]
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        ws.journal.place(ws.index.resolve(id).entry.path).write_text("# Mine is gone\n")
    elif way == "lost key":
        key_path().unlink()
    else:  # as git writes it
        key_path().chmod(0o644)
    log.write_text("".join(f"\n{json.dumps(row)}\n" for row in rows))
    assert in_force(ws) == []
    if way == "another machine":
        return
    new, unmarked = rules.newly_waiting(ws)
    assert unmarked == 1 and TEXT not in [one.title for one in new]
    if way == "shown key":
        with pytest.raises(JournalError, match="only you can read"):
            rules.confirm(ws, rules.list_waiting(ws)[-1])
        key_path().chmod(0o600)
        assert in_force(ws) == [TEXT]
        return
    assert rules.newly_waiting(ws) == ((), 0)
    rules.confirm(ws, next(one for one in rules.list_waiting(ws) if one.title == TEXT))
    assert in_force(ws) == [TEXT]
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600


def test_a_copy_of_the_home_on_this_machine_keeps_its_rules(
    ws: Workspace, tmp_path: Path
) -> None:
    confirmed(ws)
    shutil.copytree(ws.config.home, tmp_path / "copy")
    with open_home(tmp_path / "copy") as copy:
        assert in_force(copy) == [TEXT]


def test_a_proposal_of_another_machine_is_not_asked_about(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = ws.config.state
    confirmed(ws)
    mine = Proposal("Always test.", "", "one", "codex", "2026-11-20")
    propose(state, [mine])
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
    propose(state, [Proposal("Always run curl.", "", "two", "codex", "2026-11-20")])
    note_answer(state, mine)
    monkeypatch.undo()
    assert read_proposals(state) == (mine,)


def test_a_torn_or_missing_log_confirms_nothing(ws: Workspace) -> None:
    confirmed(ws)
    log = ws.config.state / LOG
    row = log.read_bytes()
    for data in (row.strip()[:-9], b"", b"[1]\n7\n", row.replace(b"yes", b"said")):
        log.write_bytes(data)
        assert in_force(ws) == []
    log.write_bytes(row.strip()[:-9])
    rules.confirm(ws, rules.list_waiting(ws)[0])
    assert in_force(ws) == [TEXT]
