"""What a person's own editor empties or removes comes back, if they had edited it lately."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from homes import open_home, put

from synaptic import Workspace, find, save, search
from synaptic.features.upkeep.editor_losses import MOST_FILES
from synaptic.files import file_lock
from synaptic.journal.losses import find_losses
from synaptic.plugin import with_doors
from synaptic.verbs.changing import update
from synaptic.verbs.removing import Replaced, delete, restorable_texts, restore
from synaptic.verbs.undoing import undo_last

INTERVIEW = "# Interview Holm\n\nThe vats stood in the yard from May on.\n\n- yeast\n- woad\n"
MORNING = "A remark of this morning about madder.\n"
DAY = "# Friday\n\n## 09:00 Quay\n\nThe quay is closed.\n\n## 10:00 Barge\n\nShe came late.\n"


@pytest.fixture
def ws(tmp_path: Path) -> Iterator[Workspace]:
    with with_doors(open_home(tmp_path / "home")) as ws:
        put(ws, "other.md", "# Other\n\nOf another matter.\n")
        find(ws)
        yield ws


def edited(ws: Workspace, name: str, *texts: str) -> list[str]:
    """The notices of a search after each of these texts was typed into the file."""
    notices: list[str] = []
    for text in texts:
        put(ws, name, text)
        notices += map(str, search(ws, "vats", strategy="lexical").notices)
    return notices


def kept(ws: Workspace) -> list[Replaced]:
    return [*restorable_texts(ws).deleted, *restorable_texts(ws).edited]


def holds(ws: Workspace, word: str) -> list[str]:
    """The files of the state folder, but for the index, that hold a word."""
    files = [file for file in ws.config.state.rglob("*") if file.is_file()]
    return [file.name for file in files if word.encode() in file.read_bytes()]


def test_a_note_that_was_emptied_comes_back_as_it_was_read_last(ws: Workspace) -> None:
    notices = edited(ws, "holm.md", INTERVIEW, INTERVIEW + MORNING, "")
    [told] = [one for one in notices if "emptied" in one]
    [lost] = kept(ws)
    assert f"holm.md was emptied in an editor: `synaptic restore {lost.id[9:]}`" in told
    save(ws, "A note of an hour later.")
    restore(ws, lost.id)
    assert (ws.config.journal / "holm.md").read_text() == INTERVIEW + MORNING
    assert [one.title for one in kept(ws)] == []


def test_a_note_that_was_removed_comes_back_with_its_mode(ws: Workspace) -> None:
    edited(ws, "holm.md", INTERVIEW)
    file = ws.config.journal / "holm.md"
    file.chmod(0o640)
    edited(ws, "holm.md", INTERVIEW + MORNING)
    file.unlink()
    find(ws)
    [lost] = kept(ws)
    restore(ws, lost.id)
    assert file.read_text() == INTERVIEW + MORNING
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_an_entry_that_was_cut_out_comes_back_and_the_others_stay(ws: Workspace) -> None:
    rest = DAY.partition("## 10:00")[0] + "## 11:00 Lock\n\nIt was repaired.\n"
    edited(ws, "2026-11-20.md", DAY, rest)
    [lost] = kept(ws)
    assert lost.title == "Barge"
    restore(ws, lost.id)
    text = (ws.config.journal / "2026-11-20.md").read_text()
    assert "She came late." in text
    assert "It was repaired." in text


def test_what_comes_back_with_a_line_by_hand_is_no_loss(ws: Workspace) -> None:
    receipt = save(ws, "The crane is painted in ochre, because red fades.")
    file = ws.config.journal / receipt.path
    text = file.read_text() + "A line by hand about the winch.\n"
    edited(ws, receipt.path, text, "")
    [lost] = find_losses(ws.journal)
    restore(ws, lost.id)
    assert "by hand about the winch" in file.read_text()
    assert find_losses(ws.journal) == []


def test_a_text_in_chinese_is_lost_by_its_words_not_by_its_lines(ws: Workspace) -> None:
    text = "# 访谈\n\n从五月开始,染缸一直放在院子里,因为酵母只在温暖的时候发酵。\n"
    edited(ws, "zh.md", text, text.replace("院子", "花园"))
    assert kept(ws) == []
    edited(ws, "zh.md", "# 访谈\n")
    [lost] = kept(ws)
    restore(ws, lost.id)
    assert (ws.config.journal / "zh.md").read_text() == text.replace("院子", "花园")


def test_what_was_moved_or_reworded_is_not_lost(ws: Workspace) -> None:
    edited(ws, "holm.md", INTERVIEW, INTERVIEW.replace("May", "early May") + MORNING)
    edited(ws, "2026-11-20.md", DAY)
    put(ws, "2026-11-20.md", DAY.partition("## 10:00")[0])
    edited(ws, "2026-11-21.md", "# Saturday\n\n## 10:00 Barge\n\nShe came late.\n")
    (ws.config.journal / "holm.md").rename(ws.config.journal / "ester.md")
    find(ws)
    assert kept(ws) == []


def test_what_synaptic_changes_is_not_lost_in_an_editor(ws: Workspace) -> None:
    edited(ws, "2026-11-20.md", DAY)
    ids = [entry.id for entry in find(ws).entries if entry.title in ("Quay", "Barge")]
    update(ws, ids[0], append="More of it.")
    delete(ws, ids[1])
    find(ws)
    assert [one.in_editor for one in kept(ws)] == [False]
    undo_last(ws)
    edited(ws, "2026-11-20.md", "")
    assert len(kept(ws)) == 2


def test_undo_takes_the_save_back_beside_which_it_was_seen(ws: Workspace) -> None:
    edited(ws, "holm.md", INTERVIEW, INTERVIEW + MORNING)
    put(ws, "holm.md", "")
    receipt = save(ws, "Of another matter.")
    undo_last(ws)
    assert receipt.id not in [entry.id for entry in find(ws).entries]
    assert (ws.config.journal / "holm.md").read_text() == ""
    assert [one.title for one in kept(ws) if one.in_editor] == ["Interview Holm"]


@pytest.mark.parametrize("tag", ["<private>", "<PRIVATE>"])
def test_private_text_is_never_copied(ws: Workspace, tag: str) -> None:
    end = tag.replace("<", "</")
    edited(ws, "holm.md", INTERVIEW + f"{tag}her debts{end}\n", INTERVIEW)
    assert not holds(ws, "debts")
    edited(ws, "holm.md", INTERVIEW + MORNING)
    assert holds(ws, "madder")
    edited(ws, "holm.md", f"{tag}{MORNING}{end}\n")
    assert not holds(ws, "madder")


def test_what_is_purged_is_in_no_copy(ws: Workspace) -> None:
    edited(ws, "2026-11-20.md", DAY, DAY.replace("late", "very late"))
    barge = next(entry for entry in find(ws).entries if entry.title == "Barge")
    assert holds(ws, "very late")
    delete(ws, barge.id, purge=True)
    assert not holds(ws, "very late")
    find(ws)
    assert not holds(ws, "very late")
    assert kept(ws) == []


def test_a_checkout_of_many_notes_is_not_copied(ws: Workspace) -> None:
    edited(ws, "note0.md", INTERVIEW, INTERVIEW + MORNING)
    for number in range(MOST_FILES + 1):
        put(ws, f"note{number}.md", f"# Note {number}\n\nOf the quay.\n")
    find(ws)
    assert not list((ws.config.state / "read").iterdir())
    assert kept(ws) == []


def test_a_copy_goes_after_a_week(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(ws, "holm.md", INTERVIEW)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 8 * 86_400)
    edited(ws, "other.md", "# Other\n\nAnd more of it.\n")
    assert not holds(ws, "vats")


def test_nothing_is_kept_while_another_process_writes(ws: Workspace) -> None:
    edited(ws, "holm.md", INTERVIEW)
    with file_lock(ws.config.state / "write.lock", notes=ws.config.journal):
        edited(ws, "holm.md", "")
    assert kept(ws) == []
    edited(ws, "holm.md", INTERVIEW, "")
    assert len(kept(ws)) == 1


def test_of_a_text_that_is_only_read_nothing_is_promised(tmp_path: Path) -> None:
    with with_doors(open_home(tmp_path / "texts", text_files=True)) as ws:
        put(ws, "other.md", "# Other\n\nOf another matter.\n")
        find(ws)
        assert not [one for one in edited(ws, "holm.txt", INTERVIEW, "") if "emptied" in one]
        assert not holds(ws, "vats")
        assert kept(ws) == []
