"""Two versions in one file: what is asked, and what a choice may change."""

from __future__ import annotations

from pathlib import Path

import pytest
from homes import open_home

from synaptic import Workspace
from synaptic.errors import Changed, Refused, SynapticError
from synaptic.verbs.removing import restore
from synaptic.verbs.review import ReviewFinding, answer_finding, review
from synaptic.verbs.settling import note_own_conflicts

CONFLICT = "<<<<<<< HEAD\nOne.\n=======\nTwo.\n>>>>>>> other\n"
ID = "20261120-aaaaaaaa"


@pytest.fixture
def ws(tmp_path: Path) -> Workspace:
    return open_home(tmp_path / "home")


def written(ws: Workspace, text: str, path: str = "2026-11-20.md") -> Path:
    ws.config.journal.mkdir(parents=True, exist_ok=True)
    file = ws.config.journal / path
    file.write_bytes(text.encode())
    return file


def conflict(ws: Workspace) -> ReviewFinding:
    return next(one for one in review(ws) if one.kind == "conflict")


def test_a_note_of_another_program_changes_by_the_choice_alone(ws: Workspace) -> None:
    text = f"---\ntags: [a]\n---\n# Ely\r\n\r\nAbove.\r\n{CONFLICT}\r\nBelow.  \n"
    file = written(ws, text, "Ely.md")
    found = conflict(ws)
    assert found.versions == ("One.", "Two.")
    receipt = answer_finding(ws, found.key, "theirs", confirms=True)
    assert receipt
    assert file.read_bytes() == text.replace(CONFLICT, "Two.\n").encode()
    restore(ws, receipt.id, confirms=True)
    assert file.read_bytes() == text.encode()


def test_conflicts_of_one_entry_are_asked_one_after_the_other(ws: Workspace) -> None:
    inner = "<<<<<<< HEAD\nThree.\n=======\nFour.\n>>>>>>> other"
    text = f"# Ely\n\n{CONFLICT}\nBetween.\n\n{CONFLICT.replace('Two.', inner)}\n"
    file = written(ws, text, "Ely.md")
    for answer in ("mine", "theirs", "both"):
        answer_finding(ws, conflict(ws).key, answer, confirms=True)
    assert file.read_text() == "# Ely\n\nOne.\n\nBetween.\n\nThree.\n\nFour.\n\n"
    assert not review(ws)


def test_two_versions_of_a_whole_file_are_one_question(ws: Workspace) -> None:
    day = f"# 2026-11-20\n\n## 09:00 Tea\n<!-- syn:{ID} -->\n"
    file = written(ws, f"<<<<<<< ours\n{day}Green.\n=======\n{day}Black.\n>>>>>>> theirs\n")
    [found] = [one for one in review(ws) if one.kind == "conflict"]
    assert "Green." in found.versions[0] and "Black." in found.versions[1]
    assert "syn:" not in "".join(found.versions)
    with pytest.raises(Refused, match="twice"):
        answer_finding(ws, found.key, "both", confirms=True)
    answer_finding(ws, found.key, "theirs", confirms=True)
    assert file.read_text() == f"{day}Black.\n"
    assert not [one for one in review(ws) if one.kind == "conflict"]


def test_private_text_is_neither_shown_nor_chosen(ws: Workspace) -> None:
    text = f"# Ely\n\n{CONFLICT.replace('Two.', 'Two. <private>My salary.</private>')}"
    file = written(ws, text, "Ely.md")
    found = conflict(ws)
    assert "salary" not in "".join(found.versions)
    with pytest.raises(Refused, match="private"):
        answer_finding(ws, found.key, "mine", confirms=True)
    assert file.read_text() == text


def test_only_a_person_chooses(ws: Workspace) -> None:
    text = f"## 09:00 preference: Tea\n<!-- syn:{ID} -->\n{CONFLICT}"
    file = written(ws, text)
    key = conflict(ws).key
    for rights in ({"by_person": False}, {"by_person": True, "confirms": False}):
        with pytest.raises(Refused, match="Only a person"):
            answer_finding(ws, key, "mine", **rights)
    assert file.read_text() == text
    answer_finding(ws, key, "mine", confirms=True)
    assert "One." in file.read_text() and "Two." not in file.read_text()
    with pytest.raises(SynapticError) as gone:
        answer_finding(ws, key, "mine", confirms=True)
    assert isinstance(gone.value, Changed)


def test_a_sample_in_a_code_block_is_no_question(ws: Workspace) -> None:
    written(ws, f"# Git\n\n```\n{CONFLICT}```\n", "Git.md")
    assert not review(ws)


def test_a_conflict_is_remembered_once(ws: Workspace) -> None:
    for number in range(3):
        note_own_conflicts(ws.config.state, CONFLICT.replace("One", str(number)).encode())
    rows = (ws.config.state / "conflicts.json").read_text()
    note_own_conflicts(ws.config.state, CONFLICT.replace("One", "0").encode())
    assert (ws.config.state / "conflicts.json").read_text() == rows
