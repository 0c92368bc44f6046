"""What macOS and Windows do otherwise: each difference is behind one function, whose other
branch stands in here.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from homes import open_home
from journals import DAY, block_of, home_journal, numbered, retitle

import synaptic
from synaptic import models
from synaptic.errors import JournalError
from synaptic.journal import disk, folder
from synaptic.journal.entry_edits import edit_entry
from synaptic.journal.file_moves import rename_to_free_name
from synaptic.journal.journal import Journal
from synaptic.models import Entry, Stamp
from synaptic.notes.markdown import parse_entries
from synaptic.workspace import changes

ENOUGH_NS = 3 * models.RACY_NS
SOURCES = sorted(Path(synaptic.__file__).parent.rglob("*.py"))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = home_journal(tmp_path / "home")
    for n in range(2):
        journal.append(numbered(n))
    return journal


# -- durable bytes
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offered", ["yes", "no", "not by this file system"])
def test_bytes_leave_the_drives_cache_where_the_system_can_tell_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offered: str
) -> None:
    full, asked = 51, []

    def control(fd: int, command: int) -> int:
        asked.append("full")
        assert command == full and os.fstat(fd)
        if offered == "not by this file system":
            raise OSError(errno.ENOTSUP, "Operation not supported")
        return 0

    def fsync(fd: int) -> None:
        asked.append("fsync")

    if offered == "no":
        monkeypatch.delattr(fcntl, "F_FULLFSYNC", raising=False)
    else:
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", full, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", fsync)
    with (tmp_path / "file").open("wb") as file:
        disk.sync_file(file.fileno())
    assert (
        asked
        == {"yes": ["full"], "no": ["fsync"], "not by this file system": ["full", "fsync"]}[
            offered
        ]
    )


def test_every_write_is_synced_in_that_way() -> None:
    found = [
        path.name
        for path in SOURCES
        for _ in re.finditer(r"os\.f(?:data)?sync\(", path.read_text("utf-8"))
    ]
    assert found == ["disk.py"]


# -- exchange
# -----------------------------------------------------------------------------------------------


def through_renameat2(one: bytes, other: bytes, flags: int) -> int:
    """What `renamex_np` does, by the call that this system has."""
    assert flags == 2, "RENAME_SWAP"
    return int(ctypes.CDLL(None).renameat2(-100, one, -100, other, 2))


@pytest.fixture(params=["renamex_np", "refused", "neither"])
def exchanger(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A C library without `renameat2`: with macOS's call, one that the file system refuses, or
    none.
    """
    known: dict[str, Callable[..., int]] = {
        "renamex_np": {"renamex_np": through_renameat2},
        "refused": {"renamex_np": lambda *_: -1},
        "neither": {},
    }[request.param]
    if request.param == "renamex_np" and not hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("there is no call here that exchanges two files")
    monkeypatch.setattr(disk, "c_library_function", known.get)
    return str(request.param)


def test_two_files_change_places_by_macoss_call(tmp_path: Path, exchanger: str) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1")
    other.write_bytes(b"2")
    done = disk.exchange_names(one, other)
    assert done == (exchanger == "renamex_np")
    assert (one.read_bytes(), other.read_bytes()) == ((b"2", b"1") if done else (b"1", b"2"))


def test_an_edit_without_renameat2(journal: Journal, exchanger: str) -> None:
    edit_entry(journal, DAY, numbered(1).id, retitle)
    data = journal.read(DAY)
    assert block_of(numbered(0)) in data and data.count(b"## 09:31 Another title\n") == 1
    assert [path.name for path in journal.root.iterdir()] == [DAY]


def test_marks_are_copied_by_macoss_call(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python offers `listxattr` on Linux alone; macOS has `fcopyfile`, for access lists too."""
    called: list[tuple[str, str, object, int]] = []

    def fcopyfile(old: int, new: int, state: object, flags: int) -> int:
        called.append((name_of(old), name_of(new), state, flags))
        return 0

    monkeypatch.delattr(os, "listxattr", raising=False)
    monkeypatch.setattr(disk, "c_library_function", {"fcopyfile": fcopyfile}.get)
    path = journal.root / DAY
    path.chmod(0o640)
    edit_entry(journal, DAY, numbered(1).id, retitle)
    [(old, new, *marks)] = called
    assert old == str(path) and re.fullmatch(rf"\.{DAY}\.[0-9a-f]+\.synaptic", Path(new).name)
    assert marks == [None, 0b101]
    assert path.stat().st_mode & 0o777 == 0o640


# -- a folder that is held open
# -----------------------------------------------------------------------------


def test_without_proc_the_path_itself_leads_to_the_file(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with folder.path_held_open(journal.roots, DAY) as held:
        assert held != journal.root / DAY or not Path("/proc/self/fd").is_dir()
    monkeypatch.setattr(folder, "_OPEN_FILES", tmp_path / "nowhere")
    with folder.path_held_open(journal.roots, DAY) as plain:
        assert plain == (journal.root / DAY).resolve()
    journal.append(numbered(2))
    edit_entry(journal, DAY, numbered(2).id, retitle)
    assert b"Another title" in journal.read(DAY)
    (tmp_path / "outside").mkdir()
    (journal.root / "sub").symlink_to(tmp_path / "outside")
    with (
        pytest.raises(JournalError, match="leads out"),
        folder.path_held_open(journal.roots, "sub/x.md"),
    ):
        pass


def test_a_system_that_lists_and_opens_by_path_alone_finds_the_same(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    (journal.root / "sub").mkdir()
    (journal.root / "sub" / "note.md").write_text("# Note\n")
    (journal.root / "linked").symlink_to("sub")
    before = journal.scan()
    data = journal.read("sub/note.md")
    monkeypatch.setattr(os, "supports_fd", set())
    monkeypatch.setattr(os, "supports_dir_fd", set())
    assert journal.scan() == before and [stamp.path for stamp in before] == [DAY, "sub/note.md"]
    assert journal.read("sub/note.md") == data
    assert journal.compare({stamp.path: stamp.signature for stamp in before})[:2] == ([], [])


# -- Windows: what `stat` says
# ------------------------------------------------------------------------------


def test_a_listing_of_windows_is_not_believed(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows no inode, and an old size of a file that is being written: the file itself is
    asked.
    """
    monkeypatch.setattr(os, "supports_fd", set())
    [stamp] = journal.scan()

    class Listed:
        path = str(journal.root / DAY)

        def stat(self) -> os.stat_result:
            raise AssertionError("the listing was believed")

    status = folder.stat_reader("nt")(Listed())  # type: ignore[arg-type]
    assert models.file_signature(status) == stamp.signature
    monkeypatch.setattr(folder, "_status", folder.stat_reader("nt"))
    assert journal.scan() == [stamp] == [journal.stamp(DAY)]
    assert journal.compare({DAY: stamp.signature})[:2] == ([], [])


def test_the_moment_of_creation_proves_nothing(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that was created long ago and written now is not settled; one that was only
    touched is read again.
    """
    path = journal.root / DAY
    posix, windows = models.signature_reader("posix"), models.signature_reader("nt")
    os.utime(path, ns=(1, 5_000_000_000))
    now = path.stat()
    assert posix(now) == (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino)
    assert windows(now) == (now.st_mtime_ns, now.st_mtime_ns, now.st_size, now.st_ino)
    long_ago = now.st_ctime_ns - 2 * ENOUGH_NS
    written = Stamp(DAY, now.st_ctime_ns, long_ago, now.st_size, now.st_ino)
    assert written.is_settled(now.st_ctime_ns), (
        "with the moment of creation it would count as settled"
    )
    for module in (folder, changes):
        monkeypatch.setattr(module, "file_signature", windows)
    os.utime(path)
    [stamp] = journal.scan()
    assert stamp.ctime_ns == stamp.mtime_ns
    assert not stamp.is_settled(stamp.mtime_ns) and stamp.is_settled(stamp.mtime_ns + ENOUGH_NS)
    os.utime(path, ns=(1, stamp.mtime_ns - ENOUGH_NS))
    assert journal.compare({DAY: stamp.signature})[0]


def test_a_junction_is_a_linked_folder(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Junction:
        def is_junction(self) -> bool:
            return True

    assert folder._is_junction(Junction())  # type: ignore[arg-type]
    (journal.root / "sub").mkdir()
    (journal.root / "sub" / "note.md").write_text("# Note\n")
    assert len(journal.scan()) == 2
    monkeypatch.setattr(folder, "_is_junction", lambda item: item.name == "sub")
    assert [stamp.path for stamp in journal.scan()] == [DAY]


# -- Windows: a file that an editor holds open
# --------------------------------------------------------------


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A Windows where the day file is open elsewhere: `held[0]` times it cannot be replaced."""
    refusals = [0]
    real = Path.replace

    def refuse(temp: Path, target: Any) -> Path:
        if Path(target).name == DAY:
            assert str(Path(target).resolve()) not in open_files(), (
                "our own handle would be in the way"
            )
            if refusals[0]:
                refusals[0] -= 1
                raise PermissionError(errno.EACCES, "Access is denied", str(temp))
        return real(temp, target)

    monkeypatch.setattr(disk, "WINDOWS", True)
    monkeypatch.setattr(disk, "HELD_WAIT_S", 0.0)
    monkeypatch.setattr(disk, "exchange_names", lambda one, other: False)
    monkeypatch.setattr(Path, "replace", refuse)
    yield refusals
    monkeypatch.undo()


def open_files() -> set[str]:
    return {
        name_of(int(link.name)) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()
    }


def name_of(fd: int) -> str:
    return str(Path(f"/proc/self/fd/{fd}").readlink())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc")
@pytest.mark.parametrize("times", [0, 1, disk.HELD_TRIES - 1])
def test_an_editor_that_closes_the_file_soon_is_waited_for(
    journal: Journal, held: list[int], times: int
) -> None:
    held[0] = times
    edit_entry(journal, DAY, numbered(1).id, retitle)
    assert b"Another title" in journal.read(DAY) and held == [0]
    assert [path.name for path in journal.root.iterdir()] == [DAY]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are listed in /proc")
def test_an_editor_that_keeps_the_file_open_is_named(journal: Journal, held: list[int]) -> None:
    held[0] = disk.HELD_TRIES
    before = journal.read(DAY)
    with pytest.raises(
        JournalError, match=f"{DAY} cannot be written: another program holds it open"
    ) as refused:
        edit_entry(journal, DAY, numbered(1).id, retitle)
    assert refused.value.hint.startswith("Close it there")
    assert journal.read(DAY) == before and [path.name for path in journal.root.iterdir()] == [
        DAY
    ]


def test_a_file_that_a_program_has_for_itself_alone_is_named_too() -> None:
    error = PermissionError(errno.EACCES, "The process cannot access the file")
    error.winerror = 32  # type: ignore[attr-defined]
    with (
        pytest.raises(JournalError, match="another program holds it open"),
        disk.disk_errors(DAY),
    ):
        raise error


# -- macOS: decomposed names
# --------------------------------------------------------------------------------

COMPOSED, DECOMPOSED = (
    unicodedata.normalize(form, "Tägliches/Café 2026-11-21.md") for form in ("NFC", "NFD")
)
FORMS = ("NFC", "NFD")
NOTE = b"# Harbour\n\nThe log.\n\n## 09:31 Typed\n\nBy hand.\n\n## 09:31 Typed\n\nTwice.\n"


def read(path: str, data: bytes = NOTE, day_file: str = "%Y-%m-%d.md") -> tuple[Entry, ...]:
    mtime = datetime(2026, 11, 21, tzinfo=UTC)
    return parse_entries(data, path, mtime=mtime, day_file=day_file).entries


def test_a_decomposed_name_gives_the_same_entries_and_opens_its_file(tmp_path: Path) -> None:
    assert COMPOSED != DECOMPOSED
    for data in (NOTE, b"A note without a heading.\n"):
        ours, theirs = read(COMPOSED, data), read(DECOMPOSED, data)
        assert [entry.id for entry in ours] == [entry.id for entry in theirs]
        assert [replace(entry, place=None) for entry in ours] == [
            replace(entry, place=None) for entry in theirs
        ]
        assert {entry.place.path for entry in theirs if entry.place} == {DECOMPOSED}
    journal = home_journal(tmp_path / "home")
    (journal.root / DECOMPOSED).parent.mkdir()
    (journal.root / DECOMPOSED).write_bytes(NOTE)
    [stamp] = journal.scan()
    typed = read(COMPOSED)[1]
    assert stamp.path == DECOMPOSED and journal.read(stamp.path) == NOTE
    assert edit_entry(journal, stamp.path, typed.id, retitle).entry.id == typed.id


def test_patterns_meet_decomposed_names(tmp_path: Path) -> None:
    """Those of day files and of what is left out, in whichever form they were typed."""
    for form in FORMS:
        pattern = unicodedata.normalize(form, "Täglich/%d. %m. %Y.md")
        for other in FORMS:
            [entry, *_] = read(
                unicodedata.normalize(other, "Täglich/21. 11. 2026.md"), day_file=pattern
            )
            assert (entry.date, entry.date_source) == ("2026-11-21", "file")
    for form in FORMS:
        home = tmp_path / form
        journal = home_journal(home, exclude=(unicodedata.normalize(form, "Café*.md"),))
        for other in FORMS:
            (journal.root / unicodedata.normalize(other, "Café 1.md")).write_text("x")
        (journal.root / "tea.md").write_text("x")
        assert [stamp.path for stamp in journal.scan()] == ["tea.md"]


def test_names_that_differ_in_form_alone_are_each_read_and_found(tmp_path: Path) -> None:
    """On Linux they are files of their own, and the ids of their entries must not hide one
    another.
    """
    names = [
        unicodedata.normalize("NFC", "é")[0] + "ö.md",
        "e\u0301" + "ö.md",
        "e\u0301" + "o\u0308.md",
    ]
    assert (
        len(set(names)) == 3
        and len({unicodedata.normalize("NFC", name) for name in names}) == 1
    )
    with open_home(tmp_path / "home") as ws:
        for number, name in enumerate(names):
            (ws.journal.root / name).write_text(
                f"# Note {number}\n\nThe harbour log, part {number}.\n"
            )
        if len(ws.journal.scan()) < 3:
            pytest.skip("this file system takes these names for one")
        found = synaptic.find(ws, limit=10).entries
        assert {entry.content for entry in found} == {
            f"The harbour log, part {number}." for number in range(3)
        }
        assert len({entry.id for entry in found}) == 3
        for entry in found:
            assert [got.content for got in synaptic.get(ws, [entry.id]).entries] == [
                entry.content
            ]


@pytest.mark.parametrize("has_call", [True, False])
def test_a_rename_takes_no_name_and_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_call: bool
) -> None:
    """Also where the system has no call for it: then two names lead to the file meanwhile."""
    if not has_call:
        monkeypatch.setattr(disk, "c_library_function", lambda _: None)
    old, new, other = (tmp_path / name for name in ("old.md", "new.md", "other.md"))
    old.write_text("mine")
    other.write_text("theirs")
    with pytest.raises(FileExistsError):
        rename_to_free_name(old, other)
    assert (old.read_text(), other.read_text()) == ("mine", "theirs")
    rename_to_free_name(old, new)
    assert new.read_text() == "mine" and not old.exists()
    old.hardlink_to(new)  # as a kill leaves it
    rename_to_free_name(old, new)
    assert new.read_text() == "mine" and not old.exists() and new.stat().st_nlink == 1
