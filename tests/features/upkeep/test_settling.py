"""Two versions in one file: what is asked, and what a choice may change."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from homes import open_home

from synaptic import Workspace, delete, find
from synaptic.errors import Changed, NotFound, Refused, SynapticError
from synaptic.features.upkeep.findings import carry_out_answer, list_findings
from synaptic.plugin import ReviewFinding
from synaptic.verbs.removing import restore
from synaptic.verbs.settling import SettledReceipt, note_own_conflicts

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
    return next(one for one in list_findings(ws) if one.kind == "conflict")


def test_a_note_of_another_program_changes_by_the_choice_alone(ws: Workspace) -> None:
    text = f"---\ntags: [a]\n---\n# Ely\r\n\r\nAbove.\r\n{CONFLICT}\r\nBelow.  \n"
    file = written(ws, text, "Ely.md")
    found = conflict(ws)
    assert found.versions == ("One.", "Two.")
    receipt = carry_out_answer(ws, found.key, "theirs", confirms=True)
    assert receipt
    assert file.read_bytes() == text.replace(CONFLICT, "Two.\n").encode()
    restore(ws, receipt.id, confirms=True)
    assert file.read_bytes() == text.encode()


def test_a_sync_that_was_set_up_later_says_whose_version_is_the_first(ws: Workspace) -> None:
    written(ws, f"# Ely\n\n{CONFLICT}", "Ely.md")
    assert conflict(ws).versions == ("One.", "Two.")
    (ws.config.home / "config.toml").write_text('[sync]\nurl = "/hub.git"\nbranch = "main"\n')
    assert conflict(ws).versions == ("Two.", "One.")


def test_conflicts_of_one_entry_are_asked_one_after_the_other(ws: Workspace) -> None:
    inner = "<<<<<<< HEAD\nThree.\n=======\nFour.\n>>>>>>> other"
    text = f"# Ely\n\n{CONFLICT}\nBetween.\n\n{CONFLICT.replace('Two.', inner)}\n"
    file = written(ws, text, "Ely.md")
    for answer in ("mine", "theirs", "both"):
        carry_out_answer(ws, conflict(ws).key, answer, confirms=True)
    assert file.read_text() == "# Ely\n\nOne.\n\nBetween.\n\nThree.\n\nFour.\n\n"
    assert not list_findings(ws)


DAY = "# 2026-11-20\n\n"
TEA = f"## 09:00 Tea\n<!-- syn:{ID} -->\n"
LUNCH = "## 12:00 Lunch\nSoup.\n"
FRONT = "---\ntags: [a]\n---\n"
WHOLE_FILES = {
    "an entry of both, and one that is equal": (
        f"{DAY}{TEA}Green.\n\n{LUNCH}",
        f"{DAY}{TEA}Black.\n\n{LUNCH}",
    ),
    "with front matter, and more on each side": (
        f"{FRONT}{DAY}{LUNCH}\n## 15:00 Walk\nMine.",
        f"{FRONT}{DAY}## 08:00 Up\nEarly.\n\n{LUNCH}",
    ),
    "with a private passage on both sides": (
        f"{DAY}{TEA}Green. <private>\n## 10:00 Salary\n</private>",
        f"{DAY}{TEA}Black.\n\n## 11:00 Bank\n<private>12345</private> closed.",
    ),
    "that begin otherwise": (f"{FRONT}# One\n\nText one.", "# Two\n\nText two."),
    "of which one is empty": (f"{DAY}{TEA}Green.", ""),
}


def whole(mine: str, theirs: str) -> str:
    return f"<<<<<<< ours\n{mine}\n=======\n{theirs}\n>>>>>>> theirs\n"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", WHOLE_FILES)
def test_two_versions_of_a_whole_file_are_one_question_that_is_undone_byte_for_byte(
    ws: Workspace, name: str, line_end: str
) -> None:
    mine, theirs = (text.replace("\n", line_end) for text in WHOLE_FILES[name])
    text = whole(*WHOLE_FILES[name]).replace("\n", line_end)
    file = written(ws, text)
    found = conflict(ws)
    assert not any(secret in "".join(found.versions) for secret in ("syn:", "Salary", "1234"))
    for answer, kept in (("mine", mine), ("theirs", theirs), ("both", None)):
        receipt = carry_out_answer(ws, found.key, answer, confirms=True)
        assert not [one for one in list_findings(ws) if one.kind == "conflict"]
        after = file.read_bytes().decode()
        if kept is not None:
            assert after.strip() == kept.strip() and "<<<" not in after
        else:
            lines = {line.partition(" syn:")[0] for line in after.splitlines()}
            for line in f"{mine}\n{theirs}".splitlines():
                assert line.partition(" syn:")[0] in lines
            assert after.count("Soup.") == mine.count("Soup.") and after.count(ID) <= 1
            assert after.count(DAY.strip()) <= 1 and after.count("tags: [a]") <= 1
            parsed = ws.journal.parse("2026-11-20.md", file.read_bytes())
            assert not parsed.issues, parsed.issues
            shown = " ".join(entry.content for entry in parsed.entries)
            assert "Salary" not in shown and "12345" not in shown
        key = receipt.undo if isinstance(receipt, SettledReceipt) else ""
        if key:
            with pytest.raises(Refused, match="Only a person"):
                carry_out_answer(ws, key, "undo", by_person=False)
            carry_out_answer(ws, key, "undo", confirms=True)
        else:
            assert receipt
            restore(ws, receipt.id, confirms=True)
        assert file.read_bytes() == text.encode() and conflict(ws).versions == found.versions


def log_of(ws: Workspace) -> str:
    return "".join(path.read_text() for path in ws.journal.log.files())


def test_a_choice_in_a_whole_file_is_undone_only_where_nothing_was_written_since(
    ws: Workspace,
) -> None:
    file = written(ws, whole(f"{DAY}{TEA}Green.", f"{DAY}{TEA}Black."))
    key = conflict(ws).key
    carry_out_answer(ws, key, "theirs", confirms=True)
    edited = file.read_text() + "\nwritten since\n"
    file.write_text(edited)
    with pytest.raises(Changed):
        carry_out_answer(ws, key, "undo", confirms=True)
    assert file.read_text() == edited
    assert "Green." in ws.journal.trash.path.read_text()
    delete(ws, ID, purge=True)
    assert "Black" not in log_of(ws)
    with pytest.raises(NotFound):
        carry_out_answer(ws, key, "undo", confirms=True)


def test_text_that_becomes_private_leaves_the_log(ws: Workspace) -> None:
    file = written(ws, whole(f"{DAY}{TEA}My salary.", f"{DAY}{TEA}Black."))
    carry_out_answer(ws, conflict(ws).key, "mine", confirms=True)
    assert "salary" in log_of(ws)
    file.write_text(file.read_text().replace("My salary.", "<private>My salary.</private>"))
    list_findings(ws)
    assert "salary" not in log_of(ws)


def test_lines_that_close_a_fence_of_the_first_version_go_with_it(ws: Workspace) -> None:
    mine, theirs = f"{DAY}{TEA}```py\nx = 1", f"{DAY}{TEA}Black."
    for answer, wanted in (("theirs", theirs), ("both", f"{mine}\n```\n\n{TEA}Black.")):
        file = written(ws, whole(mine, f"```\n{theirs}"))
        carry_out_answer(ws, conflict(ws).key, answer, confirms=True)
        ids = re.compile("syn:20261120-[0-9a-z]{8}")
        assert ids.sub("", file.read_text()).strip() == ids.sub("", wanted).strip()


def test_private_text_is_not_shown_and_stays_private(ws: Workspace) -> None:
    private = "Two. <private>My salary.</private>"
    text = f"# Ely\n\n{CONFLICT.replace('Two.', private)}"
    for answer, wanted in (("mine", "One."), ("theirs", private), ("both", private)):
        file = written(ws, text, "Ely.md")
        found = conflict(ws)
        assert "salary" not in "".join(found.versions)
        carry_out_answer(ws, found.key, answer, confirms=True)
        assert wanted in file.read_text() and "<<<" not in file.read_text()
        assert "salary" not in "".join(entry.content for entry in find(ws).entries)


def test_only_a_person_chooses(ws: Workspace) -> None:
    text = f"## 09:00 preference: Tea\n<!-- syn:{ID} -->\n{CONFLICT}"
    file = written(ws, text)
    key = conflict(ws).key
    for rights in ({"by_person": False}, {"by_person": True, "confirms": False}):
        with pytest.raises(Refused, match="Only a person"):
            carry_out_answer(ws, key, "mine", **rights)
    assert file.read_text() == text
    carry_out_answer(ws, key, "mine", confirms=True)
    assert "One." in file.read_text() and "Two." not in file.read_text()
    with pytest.raises(SynapticError) as gone:
        carry_out_answer(ws, key, "mine", confirms=True)
    assert isinstance(gone.value, Changed)


def test_a_sample_in_a_code_block_is_no_question(ws: Workspace) -> None:
    written(ws, f"# Git\n\n```\n{CONFLICT}```\n", "Git.md")
    assert not list_findings(ws)


def test_a_conflict_is_remembered_once(ws: Workspace) -> None:
    for number in range(3):
        note_own_conflicts(ws.config.state, CONFLICT.replace("One", str(number)).encode())
    rows = (ws.config.state / "conflicts.json").read_text()
    note_own_conflicts(ws.config.state, CONFLICT.replace("One", "0").encode())
    assert (ws.config.state / "conflicts.json").read_text() == rows


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_two_versions_of_properties_never_make_one_of_them_twice(
    ws: Workspace, line_end: str
) -> None:
    def note(mine: str, theirs: str) -> str:
        text = f"---\narea: x\n{whole(mine, theirs)}---\n\n# Ely\n\nText.\n"
        return text.replace("\n", line_end)

    file = written(ws, note("status: open\nrank: 1", "status: closed"))
    before = file.read_bytes()
    with pytest.raises(Refused, match="property status"):
        carry_out_answer(ws, conflict(ws).key, "both", confirms=True)
    assert file.read_bytes() == before
    written(ws, note("status: open", "owner: Ida"))
    carry_out_answer(ws, conflict(ws).key, "both", confirms=True)
    kept = "---\narea: x\nstatus: open\nowner: Ida\n---\n\n# Ely\n\nText.\n"
    assert file.read_bytes().decode() == kept.replace("\n", line_end)
