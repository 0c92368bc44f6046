"""Rows 5 and 8: an edit replaces a file that other programs hold open, mark, link, or that the
disk refuses.
"""

from __future__ import annotations

import errno
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from journals import DAY, block_of, home_journal, numbered, retitle
from outside import Home

from synaptic.errors import Changed
from synaptic.journal import disk
from synaptic.journal.entry_edits import edit_entry
from synaptic.journal.journal import Journal

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="open files, attributes and owners of POSIX"
)

LATE = b"\n## 23:59 Typed through an open handle\n"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = home_journal(tmp_path / "home")
    for n in range(3):
        journal.append(numbered(n))
    return journal


@pytest.fixture(params=["exchange", "rename"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the file is replaced: in exchange with the old one, or where the system cannot do
    that.
    """
    way: str = request.param
    if way == "rename":
        monkeypatch.setattr(disk, "exchange_names", lambda one, other: False)
    return way


def at_step(monkeypatch: pytest.MonkeyPatch, step: str, act: Callable[[], object]) -> list[str]:
    """The steps that were passed; `act` is called once, when an edit comes to `step`."""
    passed: list[str] = []

    def fault(now: str, *_: object) -> None:
        if now == step and step not in passed:
            act()
        passed.append(now)

    monkeypatch.setattr(disk, "inject_fault", fault)
    return passed


def assert_edited(journal: Journal, *, late: int = 1) -> None:
    data = journal.read(DAY)
    assert data.count(b"## 09:31 Another title\n") == 1 and block_of(numbered(1)) not in data
    assert block_of(numbered(0)) in data and block_of(numbered(2)) in data
    assert data.count(LATE) == late
    assert [path.name for path in journal.root.iterdir()] == [DAY]


# -- handles that were opened before
# ------------------------------------------------------------------------


@pytest.mark.fault(row=5)
@pytest.mark.parametrize(
    "step", ["replace-torn", "replace-written", "replace-swapped", "replaced"]
)
def test_what_is_appended_through_an_open_handle_stays(
    journal: Journal, way: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`cat >> day.md` was started before the edit, and writes while the file is replaced."""
    if (way, step) == ("rename", "replace-swapped"):
        pytest.skip("nothing is exchanged")
    with (journal.root / DAY).open("ab", buffering=0) as handle:
        passed = at_step(monkeypatch, step, lambda: handle.write(LATE))
        edit_entry(journal, DAY, numbered(1).id, retitle)
    assert_edited(journal)
    assert passed.count("replace-written") == (1 if step == "replaced" else 2), (
        "given back, and edited again"
    )


@pytest.mark.fault(row=5)
def test_a_handle_stays_good_where_its_bytes_were_seen_in_time(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is given back, not copied: what comes through the handle later arrives too."""
    with (journal.root / DAY).open("ab", buffering=0) as handle:
        at_step(monkeypatch, "replace-swapped", lambda: handle.write(b"begun,"))
        monkeypatch.setattr("synaptic.journal.writer.ATTEMPTS", 1)
        with pytest.raises(Changed, match="changed while it was edited"):
            edit_entry(journal, DAY, numbered(1).id, retitle)
        handle.write(b" ended\n")
    assert journal.read(DAY).endswith(b"begun, ended\n")


@pytest.mark.fault(row=5)
def test_an_appended_line_does_not_join_another_one(
    journal: Journal, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journal.root / DAY
    path.write_bytes(path.read_bytes() + b"\n## 11:00 Last\nand its text\n")

    def shorten(old: bytes) -> bytes:
        return old[: old.index(b"\n## 11:00")].rstrip(b"\n")

    data = path.read_bytes()
    with path.open("ab", buffering=0) as handle:
        at_step(monkeypatch, "replaced", lambda: handle.write(b"a line\n"))
        assert disk.replace_if_unchanged(path, data, path.stat().st_ino, shorten(data))
    assert path.read_bytes() == shorten(data) + b"\na line\n"


@pytest.mark.fault(row=5)
def test_an_editor_that_writes_in_place_meanwhile_is_given_its_file_back(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journal.root / DAY
    buffer = path.read_bytes().replace(b"# 2026-11-21\n", b"# My day\n")
    with path.open("r+b", buffering=0) as handle:

        def save() -> None:
            handle.truncate(0)
            handle.write(buffer)

        at_step(monkeypatch, "replace-swapped", save)
        edit_entry(journal, DAY, numbered(1).id, retitle)
    assert_edited(journal, late=0)
    assert journal.read(DAY).startswith(b"# My day\n")


@pytest.mark.fault(row=5)
def test_what_reaches_the_new_file_is_kept_when_the_old_one_comes_back(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = journal.root / DAY
    with path.open("ab", buffering=0) as handle:

        def both() -> None:
            handle.write(b"through the handle\n")
            with path.open("ab") as by_name:
                by_name.write(LATE)

        at_step(monkeypatch, "replace-swapped", both)
        edit_entry(journal, DAY, numbered(1).id, retitle)
    assert_edited(journal)
    assert journal.read(DAY).count(b"through the handle\n") == 1


@pytest.mark.fault(row=5)
def test_a_file_that_an_editor_puts_there_meanwhile_stays(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, theirs = journal.root / DAY, journal.root.parent / "4913"
    theirs.write_bytes(path.read_bytes() + LATE)
    with path.open("ab", buffering=0) as handle:

        def save() -> None:
            handle.write(b"into a file that the editor replaces\n")
            theirs.replace(path)

        at_step(monkeypatch, "replace-swapped", save)
        edit_entry(journal, DAY, numbered(1).id, retitle)
    assert_edited(journal)


# -- what a file carries besides its bytes
# ------------------------------------------------------------------


def access_list(user: int) -> bytes:
    """As the kernel takes it: the owner reads and writes, `user` reads."""
    nobody = 0xFFFFFFFF
    entries = [
        (0x01, 6, nobody),
        (0x02, 4, user),
        (0x04, 4, nobody),
        (0x10, 4, nobody),
        (0x20, 0, nobody),
    ]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def marks(path: Path) -> dict[str, bytes]:
    return {name: os.getxattr(path, name) for name in os.listxattr(path)}


def mark(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"{name} is not known here: {error.strerror}")


@pytest.mark.fault(row=5)
@pytest.mark.skipif(
    not hasattr(os, "listxattr"), reason="Python reads attributes on Linux only"
)
def test_an_edit_keeps_what_a_file_is_marked_with(home: Home) -> None:
    saved = home.ask("save", "The harbour log.")
    path = home.journal / saved["path"]
    path.chmod(0o640)
    mark(path, "user.xdg.tags", b"harbour,log")
    mark(path, "system.posix_acl_access", access_list(4321))
    if os.geteuid() == 0:
        os.chown(path, 1234, 5678)
    before, was = marks(path), path.stat()
    assert home.ask("update", saved["id"], "--append", "Kept by hand.")["success"]
    now = path.stat()
    assert now.st_ino != was.st_ino and b"Kept by hand." in path.read_bytes()
    assert marks(path) == before
    assert (now.st_mode, now.st_uid, now.st_gid) == (was.st_mode, was.st_uid, was.st_gid)


@pytest.mark.fault(row=5)
@pytest.mark.skipif(
    not hasattr(os, "listxattr"), reason="Python reads attributes on Linux only"
)
def test_an_edit_opens_a_file_to_nobody(home: Home) -> None:
    """The folder gives new files an access list that this one has not."""
    saved = home.ask("save", "The harbour log.")
    path = home.journal / saved["path"]
    mark(home.journal, "system.posix_acl_default", access_list(4321))
    path.chmod(0o644)
    before = marks(path)
    assert home.ask("update", saved["id"], "--append", "Kept by hand.")["success"]
    assert marks(path) == before and path.stat().st_mode & 0o777 == 0o644


@pytest.mark.fault(row=5)
def test_a_file_with_another_name_is_not_changed(home: Home) -> None:
    saved = home.ask("save", "The harbour log.")
    path, backup = home.journal / saved["path"], home.path / "backup.md"
    backup.hardlink_to(path)
    before = path.read_bytes()
    for command in (["update", saved["id"], "--append", "More."], ["save", "Another."]):
        answer = home.run(*command, "--json")
        assert answer.code == 1 and "has a second name" in answer.json["error"]["message"]
    assert backup.read_bytes() == path.read_bytes() == before


# -- a disk that refuses one step
# ---------------------------------------------------------------------------

EDIT = """
import sys
from dataclasses import replace
from pathlib import Path
from synaptic.config import Config
from synaptic.journal.journal import Journal
from synaptic.journal.entry_edits import edit_entry
home, path, id = sys.argv[1:]
journal = Journal(Config(home=Path(home), journal=Path(home, "journal")))
edit_entry(journal, path, id, lambda old: replace(old, title="Another title"))
"""


@pytest.mark.fault(row=8)
@pytest.mark.skipif(
    shutil.which("strace") is None, reason="no strace to make a system call fail"
)
@pytest.mark.sweep
@pytest.mark.parametrize("call", ["fchmod", "fsync", "renameat2", "unlink", "fsetxattr"])
def test_no_failing_step_of_an_edit_leaves_a_file_behind(
    journal: Journal, tmp_path: Path, call: str
) -> None:
    """Each call in turn fails with EIO: the edit is made, or refused by name and the file as it
    was.
    """
    path, told = journal.root / DAY, tmp_path / "trace"
    before = path.read_bytes()
    with_marks = hasattr(os, "setxattr") and call == "fsetxattr"
    hits = 0
    for number in range(1, 20):
        path.write_bytes(before)
        if with_marks:
            mark(path, "user.xdg.tags", b"harbour")
        done = subprocess.run(
            [
                "strace",
                "-f",
                "--seccomp-bpf",
                "-o",
                str(told),
                "-e",
                f"trace={call}",
                "-e",
                f"inject={call}:error=EIO:when={number}",
                sys.executable,
                "-c",
                EDIT,
                str(journal.root.parent),
                DAY,
                numbered(1).id,
            ],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parents[2],
            timeout=60,
        )
        if "PTRACE" in done.stderr or "ptrace" in done.stderr:
            pytest.skip("tracing is not permitted")
        if "(INJECTED)" not in told.read_text():
            break
        hits += 1
        after = path.read_bytes()
        if done.returncode == 0:
            assert b"Another title" in after
        else:
            assert "JournalError" in done.stderr and after == before, (number, done.stderr)
        if call == "unlink":  # what cannot be removed now is removed by the next writer
            edit_entry(
                home_journal(journal.root.parent), DAY, numbered(0).id, lambda entry: entry
            )
        assert [found.name for found in journal.root.iterdir()] == [DAY], (number, done.stderr)
        assert not list(journal.state.glob(".*.synaptic"))
    assert hits


@pytest.mark.fault(row=8)
def test_a_file_that_cannot_be_removed_yet_is_not_forgotten(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two edits leave their files beside the journal's; the next writer removes both."""
    (journal.root / "other.md").write_bytes(b"# Other\n\n" + block_of(numbered(7)))
    real = Path.unlink

    def refuse(path: Path, missing_ok: bool = False) -> None:
        if path.name.endswith(".synaptic") and path.exists():
            raise OSError(errno.EIO, "Input/output error", str(path))
        real(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", refuse)
        edit_entry(journal, DAY, numbered(1).id, retitle)
        edit_entry(journal, "other.md", numbered(7).id, retitle)
    assert len(list(journal.root.glob(".*"))) == 2
    journal.append(numbered(8))
    assert sorted(path.name for path in journal.root.iterdir()) == [DAY, "other.md"]
