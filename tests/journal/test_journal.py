"""Saves, edits and scans over real files, by real processes that are really killed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from filelock import FileLock
from forks import ForkedHome
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from journals import AT, DAY, block_of, home_journal, make, numbered, redate, retitle
from killed import FAULTS
from outside import TIMEOUT_S
from trials import examples

from synaptic.config import Config
from synaptic.errors import Busy, Changed, JournalError, NotFound, Refused
from synaptic.journal.entry_edits import edit_entry
from synaptic.journal.journal import Journal
from synaptic.journal.losses import dismiss_losses, find_losses, restore_vanished_text
from synaptic.journal.purging import purge_entry
from synaptic.journal.redating import move_entry, undo_move
from synaptic.journal.restoring import allow_any_change, restore_entry
from synaptic.journal.rewriting import keep_opened
from synaptic.models import Entry, FileSignature

NEW_FILE_FAULTS = ["create-torn", "created", "linked"]
OLD_FILE_FAULTS = [step for step in FAULTS if step.startswith("replace")]
EDIT_FAULTS = [step for step in FAULTS if step not in NEW_FILE_FAULTS]
CHANGED = ("linked", "replace-swapped", "replaced", "kept")
"""The steps after which the file is changed."""
SAVE_FAULTS = [
    (step, existing)
    for step in FAULTS
    for existing in (True, False)
    if not step.startswith("trash")
    and step not in (NEW_FILE_FAULTS if existing else OLD_FILE_FAULTS)
]

SAVE = """
import sys
from journals import home_journal, numbered
home_journal(sys.argv[1]).append(numbered(1), numbered(3))
"""
KEEP = """
import sys
from journals import home_journal
with home_journal(sys.argv[1]).writing():
    print("mine", flush=True)
    sys.stdin.read()
"""
QUEUE = """
import sys, time
from journals import home_journal
journal = home_journal(sys.argv[1], lock_timeout_s=2)
print("ready", flush=True)
sys.stdin.readline()
with journal.writing():
    time.sleep(0.25)
"""
EDIT = """
import sys
from journals import DAY, home_journal, numbered, retitle
from synaptic.journal.entry_edits import edit_entry
edit_entry(home_journal(sys.argv[1]), DAY, numbered(1).id, retitle)
"""
DELETE = """
import sys
from journals import DAY, home_journal, numbered
from synaptic.journal.entry_edits import edit_entry
edit_entry(home_journal(sys.argv[1]), DAY, numbered(1).id, lambda _: None)
"""

MOVE = """
import sys
from journals import DAY, home_journal, numbered, redate
from synaptic.journal.redating import move_entry
journal = home_journal(sys.argv[1])
with journal.writing():
    move_entry(journal, DAY, numbered(1).id, "2026-11-19.md", redate)
"""


HAND_EDIT = """
import sys
from journals import DAY, home_journal
from synaptic.journal.disk import inject_fault
from synaptic.journal.rewriting import keep_opened, note_edit
journal = home_journal(sys.argv[1])
opened = keep_opened(journal, DAY, waits=True)
file = journal.root / DAY
inject_fault("editor-open")
file.write_text(file.read_text().replace("Text 1.", "Typed over it."))
inject_fault("editor-ended")
note_edit(journal, opened, waits=True)
"""


def killed(home: ForkedHome, code: str, fault: str) -> bool:
    """True; a program was killed at this step."""
    process = home.python(code, str(home.path), SYNAPTIC_FAULT=fault)
    out, err = process.communicate(timeout=TIMEOUT_S)
    return (out, err, process.returncode) == (b"", b"", -signal.SIGKILL)


def entries_in(journal: Journal) -> list[Entry]:
    return [
        entry
        for stamp in journal.scan()
        for entry in journal.parse(stamp.path, journal.read(stamp.path), stamp.mtime_ns).entries
    ]


def assert_once_and_whole(journal: Journal, acknowledged: set[int]) -> None:
    """Every acknowledged entry stands once, byte for byte, and nothing but whole entries stands
    there.
    """
    data = b"".join(journal.read(stamp.path) for stamp in journal.scan())
    ids = [entry.id for entry in entries_in(journal)]
    assert len(ids) == len(set(ids))
    assert all(not entry.derived_id for entry in entries_in(journal)), "a torn block"
    found = {int(id.split("-")[1]) for id in ids}
    assert acknowledged <= found
    for n in found:
        assert data.count(block_of(numbered(n))) == 1


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return home_journal(tmp_path / "home")


# -- saving
# ---------------------------------------------------------------------------------------


def test_a_day_file_reads_like_one_written_by_hand(journal: Journal) -> None:
    first, second = (
        make("20261121-aaaaaaaa", "Called the bank"),
        make("20261121-bbbbbbbb", "Lunch", "With Ada.\nLong."),
    )
    assert journal.append(first) == DAY
    assert journal.append(second) == DAY
    expected = b"# 2026-11-21\n\n" + block_of(first) + b"\n" + block_of(second)
    assert journal.read(DAY) == expected
    assert [(e.id, e.content) for e in entries_in(journal)] == [
        (e.id, e.content) for e in (first, second)
    ]


@pytest.mark.parametrize(
    ("before", "between"),
    [
        (b"", b""),
        (b"# Day\n", b"\n"),
        (b"# Day\n\n", b""),
        (b"typed, no newline", b"\n\n"),
        (b"\xef\xbb\xbf# Day\r\n\r\ntyped\r\n", b"\r\n"),
        (b"```\nleft open\n", b"\n"),
        (b"caf\xc3", b"\n\n"),
    ],
)
def test_a_block_joins_after_one_blank_line_in_the_files_line_ends(
    journal: Journal, before: bytes, between: bytes
) -> None:
    (journal.root / DAY).write_bytes(before)
    entry = numbered(1)
    journal.append(entry)
    block = block_of(entry).replace(b"\n", b"\r\n") if b"\r\n" in before else block_of(entry)
    assert journal.read(DAY) == before + between + block
    assert entry.id in [e.id for e in entries_in(journal)]


@pytest.mark.parametrize(("step", "existing"), SAVE_FAULTS)
def test_killed_at_each_step_of_a_save(home: ForkedHome, step: str, existing: bool) -> None:
    journal = home_journal(home.path)
    if existing:
        journal.append(numbered(0))
    assert killed(home, SAVE, step)
    journal.append(numbered(2))
    saved = {1, 3} if step in CHANGED else set()
    assert_once_and_whole(journal, saved | {2} | ({0} if existing else set()))
    assert len(entries_in(journal)) == len(saved) + 1 + existing
    assert [path.name for path in journal.root.iterdir()] == [DAY]
    left = {path.name for path in (journal.state / "done").iterdir()}
    known = {numbered(n).id for n in range(4)}
    assert left <= known, "a hidden file is left"


def test_a_person_types_after_a_kill(home: ForkedHome) -> None:
    journal = home_journal(home.path)
    journal.append(numbered(0))
    assert killed(home, SAVE, "replace-torn:60")
    typed = b"\n## 10:15 Called the bank #finance\nthey call back\n"
    with (journal.root / DAY).open("ab") as file:
        file.write(typed)
    journal.append(numbered(2))
    assert journal.read(DAY) == b"# 2026-11-21\n\n" + block_of(numbered(0)) + typed + (
        b"\n" + block_of(numbered(2))
    )


def test_a_save_says_so_when_another_process_holds_the_lock(tmp_path: Path) -> None:
    journal = home_journal(tmp_path / "home")
    impatient = Journal(
        Config(home=tmp_path / "home", journal=journal.root), lock_timeout_s=0.05
    )
    with FileLock(journal.state / "write.lock"):
        with pytest.raises(Busy, match=r"Another program has .* nothing was saved\. Try again"):
            impatient.append(numbered(1))
        with pytest.raises(Busy):
            edit_entry(impatient, DAY, numbered(1).id, lambda _: None)
    assert entries_in(journal) == []
    journal.append(numbered(1))
    assert [entry.id for entry in entries_in(journal)] == [numbered(1).id]


def test_the_error_names_the_process_that_keeps_the_lock(home: ForkedHome) -> None:
    impatient = home_journal(home.path, lock_timeout_s=0.05)
    process = home.python(KEEP, str(home.path))
    assert process.stdout.readline() == b"mine\n"
    with pytest.raises(
        Busy, match=rf"^Process {process.pid} has been writing .*s; nothing was"
    ):
        impatient.append(numbered(1))
    process.communicate(timeout=TIMEOUT_S)
    impatient.append(numbered(1))


def test_a_queue_of_writers_is_no_reason_to_refuse_a_save(home: ForkedHome) -> None:
    """The last of ten that keep the lock for 0.25 s each waits longer than one may keep it."""
    writers = [home.python(QUEUE, str(home.path)) for _ in range(10)]
    for writer in writers:
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        writer.stdin.write(b"go\n")
        writer.stdin.flush()
    for writer in writers:
        assert writer.communicate(timeout=TIMEOUT_S) == (b"", b"")


def test_a_file_with_two_names_is_refused(journal: Journal, tmp_path: Path) -> None:
    journal.append(numbered(1))
    before = journal.read(DAY)
    (tmp_path / "backup.md").hardlink_to(journal.root / DAY)
    for call in (
        lambda: journal.append(numbered(2)),
        lambda: edit_entry(journal, DAY, numbered(1).id, retitle),
    ):
        with pytest.raises(Refused, match=f"{DAY} has a second name"):
            call()
    assert journal.read(DAY) == (tmp_path / "backup.md").read_bytes() == before
    (tmp_path / "backup.md").unlink()
    journal.append(numbered(2))
    assert_once_and_whole(journal, {1, 2})


def test_two_homes_write_to_one_file_in_turns(tmp_path: Path) -> None:
    """Each has a lock of its own: an exchange that meets another is undone and repeated."""
    one = home_journal(tmp_path / "one")
    other = home_journal(tmp_path / "other", journal=one.root)
    with ThreadPoolExecutor() as pool:
        runs = [
            pool.submit(lambda home=home, n=n: home.append(numbered(n)))
            for n, home in enumerate([one, other] * 20)
        ]
    done = {n for n, run in enumerate(runs) if run.exception() is None}
    assert len(done) > 30
    assert_once_and_whole(one, done)


# -- what an old buffer overwrote
# ---------------------------------------------------------------------------------------


def test_what_an_old_buffer_took_away_comes_back_only_when_asked(journal: Journal) -> None:
    journal.append(numbered(0))
    old_buffer = journal.read(DAY)
    journal.append(numbered(1))
    journal.append(numbered(2))
    (journal.root / DAY).write_bytes(old_buffer)
    journal.append(numbered(3))
    assert [(lost.id, lost.path, lost.title) for lost in find_losses(journal)] == [
        (numbered(n).id, DAY, f"Entry number {n}") for n in (1, 2)
    ]
    path, _, entry = restore_vanished_text(journal, "00000001")
    assert (path, entry.content) == (DAY, numbered(1).content)
    dismiss_losses(journal, numbered(2).id)
    assert find_losses(journal) == []
    assert_once_and_whole(journal, {0, 1, 3})
    for call in (restore_vanished_text, dismiss_losses):
        with pytest.raises(NotFound):
            call(journal, numbered(1).id)


def test_done_is_kept_for_seven_days(journal: Journal) -> None:
    journal.append(numbered(1))
    journal.append(numbered(2))
    eight_days_ago = time.time() - 8 * 86400
    os.utime(journal.state / "done" / numbered(1).id, (eight_days_ago, eight_days_ago))
    journal.append(numbered(3))
    (journal.root / DAY).unlink()
    assert [lost.id for lost in find_losses(journal)] == [numbered(2).id, numbered(3).id]


# -- the disk says no
# -------------------------------------------------------------------------------


def test_a_full_disk_leaves_the_journal_as_it_was(home: ForkedHome) -> None:
    journal = home_journal(home.path)
    (journal.root / DAY).write_bytes(b"# 2026-11-21\n\n" + b"typed\n" * 1000)
    before = journal.read(DAY)
    tight = replace(home, file_limit=len(before) + 100)
    _, err = tight.python(SAVE, str(home.path)).communicate(timeout=TIMEOUT_S)
    assert b"JournalError: 2026-11-21.md cannot be written: the file may not grow" in err
    assert journal.read(DAY) == before
    journal.append(numbered(1))
    assert journal.read(DAY) == before + b"\n" + block_of(numbered(1))


def test_a_missing_root_is_named_and_never_made(tmp_path: Path) -> None:
    elsewhere = tmp_path / "vault"
    journal = Journal(Config(home=tmp_path / "home", journal=elsewhere))
    for call in (journal.prepare, journal.scan, lambda: journal.append(numbered(1))):
        with pytest.raises(
            JournalError, match=r"vault is missing.*synaptic init --journal DIR"
        ):
            call()
    assert not elsewhere.exists()
    own = home_journal(tmp_path / "home")
    own.root.rmdir()
    (own.state / "index.db").touch()
    with pytest.raises(JournalError, match="missing"):
        own.append(numbered(1))


@pytest.fixture
def nobodys_home() -> Iterator[Path]:
    """A home of a user whom permissions stop; root gives its own up for the test."""
    with tempfile.TemporaryDirectory() as folder:
        root = os.geteuid() == 0
        if root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(folder) / "home"
        finally:
            if root:
                os.seteuid(0)


def test_no_permission(nobodys_home: Path) -> None:
    journal = home_journal(nobodys_home)
    journal.append(numbered(1))
    (journal.root / DAY).chmod(0o400)
    with pytest.raises(JournalError, match="permission denied"):
        journal.append(numbered(2))
    with pytest.raises(JournalError, match="permission denied"):
        edit_entry(journal, DAY, numbered(1).id, lambda _: None)
    assert_once_and_whole(journal, {1})
    (journal.root / DAY).chmod(0o600)
    journal.root.chmod(0o500)
    with pytest.raises(JournalError, match="permission denied"):
        edit_entry(journal, DAY, numbered(1).id, lambda _: None)
    with pytest.raises(JournalError, match="permission denied"):
        journal.append(replace(numbered(3), at=AT + timedelta(days=1)))
    assert_once_and_whole(journal, {1})
    (journal.root / DAY).chmod(0o000)
    with pytest.raises(NotFound, match=f"{DAY} cannot be read: permission denied"):
        journal.read(DAY)
    journal.root.chmod(0o700)


def test_what_stands_in_the_way_of_a_day_file(journal: Journal, tmp_path: Path) -> None:
    (journal.root / DAY).mkdir()
    with pytest.raises(JournalError, match="not a regular file"):
        journal.append(numbered(1))
    (journal.root / DAY).rmdir()
    (journal.root / DAY).write_bytes("# Tag\n".encode("utf-16"))
    with pytest.raises(JournalError, match="UTF-16"):
        journal.append(numbered(1))
    (journal.root / DAY).unlink()
    (tmp_path / "outside.md").write_text("outside")
    (journal.root / DAY).symlink_to(tmp_path / "outside.md")
    with pytest.raises(JournalError, match="leads out of the journal"):
        journal.append(numbered(1))
    assert (tmp_path / "outside.md").read_text() == "outside"


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777])
def test_rights_in_the_home_and_in_a_vault(tmp_path: Path, umask: int) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    before = os.umask(umask)
    try:
        home_journal(tmp_path / "home").append(numbered(1))
        if umask != 0o777:
            home_journal(tmp_path / "other", journal=vault, day_file="%Y/%m/%d.md").append(
                numbered(1)
            )
    finally:
        os.umask(before)
    for found in [tmp_path / "home", *(tmp_path / "home").rglob("*")]:
        assert found.stat().st_mode & 0o777 == (0o700 if found.is_dir() else 0o600), found
    for found in vault.rglob("*"):
        assert found.stat().st_mode & 0o777 == (0o777 if found.is_dir() else 0o666) & ~umask


# -- editing
# ----------------------------------------------------------------------------------------


@given(
    above=st.lists(st.text("aé \t~>-*", max_size=20), max_size=4),
    below=st.lists(st.text("aé \t~>-*", max_size=20), max_size=4),
    eol=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
    delete=st.booleans(),
)
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_an_edit_keeps_everything_outside_byte_for_byte(
    journal: Journal, above: list[str], below: list[str], eol: str, bom: bool, delete: bool
) -> None:
    entry = numbered(1)
    before = (b"\xef\xbb\xbf" if bom else b"") + eol.join(
        ["# Day", "", *above, "", ""]
    ).encode()
    after = eol.join(["## 10:15 Called the bank", *below, "end, no newline  "]).encode()
    block = block_of(entry).replace(b"\n", eol.encode())
    path = journal.root / DAY
    path.write_bytes(before + block + eol.encode() + after)
    path.chmod(0o640)
    try:
        edit_entry(journal, DAY, entry.id, lambda old: None if delete else retitle(old))
    except Refused:  # an open fence would take in the entry below
        assert delete and "~~~" in "\n".join(above)
        assert path.read_bytes() == before + block + eol.encode() + after
        return
    data = journal.read(DAY)
    assert data.startswith(before) and data.endswith(after)
    middle = data[len(before) : len(data) - len(after)]
    if delete:
        assert middle == b""
    else:
        assert b"Another text." in middle and b"Text 1." not in middle
        assert middle.count(b"\n") == middle.count(eol.encode())
    assert path.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in journal.root.iterdir()] == [DAY]


def test_an_edit_is_refused_when_the_file_changes_every_time(journal: Journal) -> None:
    journal.append(numbered(1))
    path = journal.root / DAY

    def slow(entry: Entry) -> Entry:
        with path.open("ab") as file:
            file.write(b"typed meanwhile\n")
        return retitle(entry)

    with pytest.raises(Changed):
        edit_entry(journal, DAY, numbered(1).id, slow)
    assert path.read_bytes().startswith(
        b"# 2026-11-21\n\n" + block_of(numbered(1)) + b"typed meanwhile\n"
    )


def test_an_edit_is_repeated_on_what_the_editor_left(journal: Journal) -> None:
    journal.append(numbered(1))
    path, tries = journal.root / DAY, []

    def interrupted(entry: Entry) -> Entry:
        if not tries:
            path.write_bytes(path.read_bytes().replace(b"# 2026-11-21\n", b"# My day\n"))
        tries.append(entry)
        return retitle(entry)

    assert edit_entry(journal, DAY, numbered(1).id, interrupted).entry.title == "Another title"
    assert len(tries) == 2
    assert path.read_bytes().startswith(b"# My day\n\n## 09:31 Another title\n")
    assert len(journal.trashed()) == 1


@pytest.mark.parametrize("step", EDIT_FAULTS)
def test_killed_at_each_step_of_an_update(home: ForkedHome, step: str) -> None:
    journal = home_journal(home.path)
    for n in range(3):
        journal.append(numbered(n))
    before = journal.read(DAY)
    assert killed(home, EDIT, step)
    after = journal.read(DAY)
    assert (after == before) == (step not in CHANGED)
    assert block_of(numbered(0)) in after and block_of(numbered(2)) in after
    assert edit_entry(journal, DAY, numbered(1).id, retitle).entry.title == "Another title"
    assert any(
        piece.text.strip() == block_of(numbered(1)).strip() for piece in journal.trashed()
    )
    assert len(entries_in(journal)) == 3
    assert [path.name for path in journal.root.iterdir()] == [DAY]


@pytest.mark.parametrize(
    "step",
    [
        *("locked", "trash-created", "trash-torn", "trashed", "editor-open"),
        *("editor-ended", "overwrite-torn", "editor-torn"),
    ],
)
def test_killed_at_each_step_of_an_edit_by_hand(home: ForkedHome, step: str) -> None:
    """The text before it stands in the file or comes back, and so does the one after it."""
    journal = home_journal(home.path)
    for n in range(3):
        journal.append(numbered(n))
    before = journal.read(DAY)
    if step == "editor-torn":  # the second time, when the editor has ended
        opened = keep_opened(journal, DAY, waits=True)
        assert opened
        (journal.root / DAY).write_bytes(before.replace(b"Text 1.", b"Typed over it."))
        code = HAND_EDIT.partition("opened =")[0] + (
            "from synaptic.journal.rewriting import OpenedFile\n"
            f"note_edit(journal, OpenedFile(DAY, journal.clock(), {before!r}, None), waits=True)"
        )
        assert killed(home, code, "trash-torn")
    else:
        assert killed(home, HAND_EDIT, step)
    edited = journal.read(DAY)
    assert (edited == before) == (
        step in ("locked", "trash-created", "trash-torn", "trashed", "editor-open")
    )
    if edited != before:
        assert restore_entry(journal, numbered(1).id).after.id == numbered(1).id
        assert journal.read(DAY) == before
        restore_entry(journal, numbered(1).id)
        assert journal.read(DAY) == edited
    assert len(entries_in(journal)) == 3
    journal.append(numbered(3))
    assert [path.name for path in journal.root.iterdir()] == [DAY]


@pytest.mark.sweep("finish", "existing")
@pytest.mark.parametrize("finish", ["undo", "move again"])
@pytest.mark.parametrize(("existing", "count"), [(True, 3), (False, 3), (True, 1), (False, 1)])
@pytest.mark.parametrize("step", FAULTS)
def test_killed_at_each_step_of_a_move_an_entry_is_never_lost(
    home: ForkedHome, step: str, existing: bool, count: int, finish: str
) -> None:
    if existing and step in NEW_FILE_FAULTS:
        return
    journal = home_journal(home.path)
    target = journal.root / "2026-11-19.md"
    if existing:
        target.write_text("# 2026-11-19\n\n## 18:00 Last\n\nx\n")
    for n in (1, 0, 2)[:count]:
        journal.append(numbered(n))
    before = journal.read(DAY)
    id = numbered(1).id
    assert killed(home, MOVE, step)
    places = [path for path in (DAY, target.name) if journal.find_or_none(path, id)]
    assert places
    if finish == "undo" and (target.name in places):
        assert undo_move(journal, id, allow_any_change, by_person=True)
        assert journal.read(DAY) == before
    elif DAY in places:
        with journal.writing():
            move_entry(journal, DAY, id, target.name, redate)
    places = [path for path in (DAY, target.name) if journal.find_or_none(path, id)]
    assert len(places) == 1
    assert len(entries_in(journal)) == count + existing
    assert find_losses(journal) == []
    if count == 1 and DAY not in places and (journal.root / DAY).exists():
        assert journal.read(DAY) == b""  # a kill between the exchange and the removal
    journal.append(numbered(3))  # the next writer clears up
    assert {path.name for path in journal.root.iterdir()} <= {DAY, target.name}


@pytest.mark.parametrize("step", [step for step in EDIT_FAULTS if not step.startswith("kept")])
def test_killed_at_each_step_of_the_deletion_of_the_last_entry_of_a_day(
    home: ForkedHome, step: str
) -> None:
    journal = home_journal(home.path)
    journal.append(numbered(1))
    before = journal.read(DAY)
    assert killed(home, DELETE, step)
    gone = step in ("replace-swapped", "replaced")
    assert journal.read(DAY) == (b"" if gone else before)
    if not gone:
        edit_entry(journal, DAY, numbered(1).id, lambda _: None)
        assert not (journal.root / DAY).exists()
    restore_entry(journal, numbered(1).id)
    assert journal.read(DAY) == before
    assert find_losses(journal) == []
    assert [path.name for path in journal.root.iterdir()] == [DAY]


@pytest.mark.parametrize("step", [step for step in EDIT_FAULTS if not step.startswith("kept")])
def test_killed_at_each_step_of_the_deletion_of_a_file(home: ForkedHome, step: str) -> None:
    journal = home_journal(home.path)
    journal.append(numbered(0))
    note = journal.root / "note.md"
    note.write_bytes(b"caf\xe9\r\n")
    id = next(entry.id for entry in entries_in(journal) if entry.whole_file)
    code = f"""
import sys
from journals import home_journal
from synaptic.journal.entry_edits import edit_entry
edit_entry(home_journal(sys.argv[1]), "note.md", "{id}", lambda _: None)
"""
    assert killed(home, code, step)
    gone = step in ("replace-swapped", "replaced")
    assert note.read_bytes() == (b"" if gone else b"caf\xe9\r\n")
    journal.append(numbered(1))  # the next writer clears up
    assert sorted(path.name for path in journal.root.iterdir()) == [DAY, "note.md"]
    assert (
        gone or step in ("locked", "trash-torn") or journal.trashed()[-1].text == b"caf\xe9\r\n"
    )
    if gone:  # and in an empty file nothing is overwritten
        note.write_bytes(b"Another text.\n")
        with pytest.raises(Refused, match=r"note\.md is there already"):
            restore_entry(journal, id)
        note.write_bytes(b"")
    else:
        edit_entry(journal, "note.md", id, lambda _: None)
    assert restore_entry(journal, id).after.id == id and note.read_bytes() == b"caf\xe9\r\n"


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_a_restored_entry_stands_in_order_of_time(journal: Journal, eol: bytes) -> None:
    path = journal.root / DAY
    blocks = [
        f"## {hour:02d}:30 Entry of {hour}\n\nText.\n\n".encode().replace(b"\n", eol)
        for hour in (8, 12, 16)
    ]
    path.write_bytes(b"# 2026-11-21" + eol + eol + b"".join(blocks).rstrip() + eol)
    before = path.read_bytes()
    for number in (0, 1, 2):
        entry = entries_in(journal)[number]
        edit_entry(journal, DAY, entry.id, lambda _: None)
        assert restore_entry(journal, entry.id).path == DAY
        assert [entry.time for entry in entries_in(journal)] == ["08:30", "12:30", "16:30"]
        comment = f"<!-- syn:{entry.id} -->".encode()
        assert path.read_bytes().replace(comment + eol, b"").rstrip() == before.rstrip()
        assert entry.id not in [lost.id for lost in find_losses(journal)]
        path.write_bytes(before)


def test_whole_file_notes_and_unknown_ids(journal: Journal) -> None:
    (journal.root / "note.md").write_text("# Backups\n\nUse restic.\n")
    (entry,) = entries_in(journal)
    with pytest.raises(Refused, match=r"note\.md"):
        edit_entry(journal, "note.md", entry.id, retitle)
    with pytest.raises(NotFound):
        edit_entry(journal, "note.md", "20261121-zzzzzzzz", lambda _: None)
    with pytest.raises(NotFound):
        edit_entry(journal, "gone.md", "20261121-zzzzzzzz", lambda _: None)
    assert journal.trashed() == ()


def test_a_linked_day_file_is_written_through(journal: Journal) -> None:
    (journal.root / "archive").mkdir()
    target = journal.root / "archive" / "the-day.md"
    target.write_text("# Archived\n")
    (journal.root / DAY).symlink_to(target)
    journal.append(numbered(1))
    edit_entry(journal, DAY, numbered(1).id, retitle)
    assert (journal.root / DAY).is_symlink()
    assert "Another text." in target.read_text()


# -- trash
# ------------------------------------------------------------------------------------------


def test_delete_and_restore(journal: Journal) -> None:
    for n in range(3):
        journal.append(numbered(n))
    before = journal.read(DAY)
    assert edit_entry(journal, DAY, numbered(1).id, lambda _: None).entry.id == numbered(1).id
    assert find_losses(journal) == []
    assert block_of(numbered(1)) not in journal.read(DAY)
    (piece,) = journal.trashed()
    assert (piece.id, piece.path, piece.why, piece.title) == (
        numbered(1).id,
        DAY,
        "delete",
        "Entry number 1",
    )
    path, _, entry = restore_entry(journal, "00000001")
    assert (path, entry.content) == (DAY, numbered(1).content)
    assert sorted(journal.read(DAY).split(b"\n")) == sorted(before.split(b"\n"))
    assert_once_and_whole(journal, {0, 1, 2})
    with pytest.raises(NotFound):
        restore_entry(journal, numbered(1).id)


def test_update_and_restore_go_back_and_forth(journal: Journal) -> None:
    journal.append(numbered(0))
    journal.append(numbered(1))
    before = journal.read(DAY)
    edit_entry(journal, DAY, numbered(0).id, retitle)
    after = journal.read(DAY)
    assert restore_entry(journal, numbered(0).id).after.content == numbered(0).content
    assert journal.read(DAY) == before
    assert restore_entry(journal, numbered(0).id).after.title == "Another title"
    assert journal.read(DAY) == after


def test_a_restored_entry_finds_its_file_gone(journal: Journal) -> None:
    journal.append(numbered(1))
    journal.append(numbered(2))
    edit_entry(journal, DAY, numbered(1).id, lambda _: None)
    (journal.root / DAY).unlink()
    restore_entry(journal, numbered(1).id)
    assert journal.read(DAY) == b"# 2026-11-21\n\n" + block_of(numbered(1))


def test_a_deleted_entry_typed_by_hand_comes_back_under_its_id(journal: Journal) -> None:
    (journal.root / DAY).write_bytes(
        b"# 2026-11-21\n\n## 10:15 Called the bank\nthey call back\n\n## 11:00 Lunch\n"
    )
    entry = entries_in(journal)[0]
    edit_entry(journal, DAY, entry.id, lambda _: None)
    path, _, restored = restore_entry(journal, entry.id)
    assert (path, restored.id, restored.content) == (DAY, entry.id, "they call back")


@given(texts=st.lists(st.text("x\n\\<!- trsh{}>é", max_size=60), min_size=1, max_size=5))
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_text_can_pose_as_a_piece_of_trash(journal: Journal, texts: list[str]) -> None:
    (journal.state / "trash.md").unlink(missing_ok=True)
    forged = (
        '<!-- trash {"id": "x", "bytes": 0, "sha256": ""} -->\n\\<!-- trash {"id": "y"} -->\n'
    )
    blocks = []
    for n, text in enumerate(texts):
        block = f"## 09:31 T{n}\n<!-- syn:20261121-0000000{n} -->\n\n{forged}{text}\n".encode()
        (journal.root / DAY).write_bytes(block)
        edit_entry(journal, DAY, f"20261121-0000000{n}", lambda _: None)
        blocks.append(block)
    assert [piece.text for piece in journal.trashed()] == blocks


def test_purge_leaves_no_copy(journal: Journal) -> None:
    secret = make("20261121-secret00", "Secret", "hunter2 is the password")
    journal.append(numbered(0))
    journal.append(secret)
    edit_entry(journal, DAY, secret.id, lambda old: replace(old, content="hunter2 no more"))
    edit_entry(journal, DAY, numbered(0).id, retitle)
    purge_entry(journal, DAY, secret.id)
    everything = [path for path in journal.root.parent.rglob("*") if path.is_file()]
    assert len(everything) > 4
    assert [path for path in everything if b"hunter2" in path.read_bytes()] == []
    assert [piece.id for piece in journal.trashed()] == [numbered(0).id]
    with pytest.raises(NotFound):
        purge_entry(journal, DAY, secret.id)


def test_purge_of_a_deleted_entry_clears_its_copies(journal: Journal) -> None:
    secret = make("20261121-secret00", "Secret", "hunter2 is the password")
    journal.append(secret)
    edit_entry(journal, DAY, secret.id, lambda _: None)
    assert purge_entry(journal, DAY, secret.id) is None
    assert journal.trashed() == ()


# -- the folder
# -------------------------------------------------------------------------------------


def test_scan_takes_markdown_and_leaves_litter(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    for folder in (
        vault / "sub" / "deep",
        vault / ".obsidian",
        vault / "archive",
        vault / "dir.md",
        outside,
    ):
        folder.mkdir(parents=True)
    kept = ["2026-11-21.md", "sub/deep/é note.md", "sub/a.md", "linked.md"]
    left = [
        ".hidden.md",
        ".obsidian/x.md",
        "x.md~",
        "x.md.tmp",
        ".x.md.swp",
        "x.txt",
        "archive/old.md",
        "sub/b.draft.md",
        "dir.md/.keep",
    ]
    for name in kept[:3] + left:
        (vault / name).write_text("text")
    (outside / "secret.md").write_text("text")
    (vault / "linked.md").symlink_to("sub/a.md")
    (vault / "out.md").symlink_to(outside / "secret.md")
    (vault / "outdir").symlink_to(outside)
    (vault / "sub" / "loop").symlink_to(vault)
    (vault / "self.md").symlink_to("self.md")
    (vault / "gone.md").symlink_to("nowhere.md")
    os.mkfifo(vault / "fifo.md")
    journal = home_journal(
        tmp_path / "home", journal=vault, exclude=("archive/**", "*.draft.md", "[z-a]")
    )
    stamps = journal.scan()
    assert [stamp.path for stamp in stamps] == sorted(kept)
    assert all(stamp.size == 4 for stamp in stamps)
    assert journal.read("linked.md") == b"text"
    for path in (
        "out.md",
        "outdir/secret.md",
        "../outside/secret.md",
        "/etc/passwd",
        "",
        "a\0b",
        "a\\b",
        "a\nb",
    ):
        with pytest.raises(JournalError):
            journal.read(path)
    for path in ("sub/none.md", "fifo.md", "dir.md"):
        with pytest.raises(NotFound):
            journal.read(path)


def test_a_stamp_changes_with_the_file(journal: Journal) -> None:
    journal.append(numbered(1))
    before = journal.scan()
    assert journal.scan() == before
    journal.append(numbered(2))
    assert journal.scan() != before


def test_what_differs_from_what_is_known_is_told_and_what_is_gone(tmp_path: Path) -> None:
    root = tmp_path / "journal"
    (root / "sub").mkdir(parents=True)
    for name in ("a.md", "b.md", "sub/c.md", "d.md", "out.md"):
        (root / name).write_text(name)
    (root / "link.md").symlink_to("sub/c.md")
    journal = home_journal(tmp_path / "home", journal=root, exclude=("out.md",))
    known: dict[str, FileSignature | None] = {
        stamp.path: stamp.signature for stamp in journal.scan()
    }
    nowhere = ("out.md", "none.md", "sub", "../a.md", "")
    assert [journal.stamp(path) for path in nowhere] == [None] * 5
    assert [journal.stamp(path, was_listed=True) for path in nowhere] == [None] * 5
    assert journal.compare(known)[:2] == ([], [])
    os.utime(root / "a.md", ns=(1, 1))
    (root / "b.md").rename(root / "e.md")
    (root / "d.md").unlink()
    (root / "d.md").mkdir()
    (root / "sub" / "c.md").write_text("longer")
    changed, gone, _ = journal.compare(known | {"e.md": None, "out.md": known["a.md"]})
    assert [stamp.path for stamp in changed] == ["a.md", "e.md", "link.md", "sub/c.md"]
    assert gone == ["b.md", "d.md", "out.md"]
    assert changed == [
        stamp
        for stamp in journal.scan()
        if stamp.path in {"a.md", "e.md", "link.md", "sub/c.md"}
    ]
    assert [journal.stamp(stamp.path) for stamp in changed] == changed
    assert [journal.stamp(stamp.path, was_listed=True) for stamp in changed] == changed


def test_the_home_is_made_once(tmp_path: Path) -> None:
    journal = home_journal(tmp_path / "a" / "home")
    assert (journal.state / ".gitignore").read_text() == "*\n"
    assert len((journal.state / "README.txt").read_text().splitlines()) == 3
    assert journal.root.is_dir()
    made = {path: path.stat().st_mtime_ns for path in journal.state.iterdir()}
    journal.prepare()
    assert {path: path.stat().st_mtime_ns for path in journal.state.iterdir()} == made


def test_a_copy_that_holds_no_entry_stops_no_look_for_losses(journal: Journal) -> None:
    journal.append(numbered(1))
    journal.append(numbered(2))
    path = journal.state / "done" / numbered(1).id
    text = b"<private>x</private>\n"
    head = {
        "id": numbered(1).id,
        "path": DAY,
        "journal": str(journal.root),
        "bytes": len(text),
        "sha256": hashlib.sha256(text).hexdigest(),
    }
    path.write_bytes(json.dumps(head).encode() + b"\n" + text)
    (journal.root / DAY).unlink()
    lost = [(loss.id, loss.title) for loss in find_losses(journal)]
    assert lost == [(numbered(1).id, ""), (numbered(2).id, "Entry number 2")]
    with pytest.raises(NotFound, match="no longer be read as an entry"):
        restore_vanished_text(journal, numbered(1).id)
    assert restore_vanished_text(journal, numbered(2).id).path == DAY
