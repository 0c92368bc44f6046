"""`synaptic backup`: all that cannot be made again, in one zip that was read back."""

from __future__ import annotations

import shutil
from pathlib import Path
from zipfile import ZipFile

from forks import ForkedHome

NOW = {"SYNAPTIC_NOW": "2026-11-21T10:00:00"}


def test_a_backup_unpacked_on_a_new_computer_is_the_same_journal(
    home: ForkedHome, tmp_path: Path
) -> None:
    home.ask("save", "The quay crane is blue.", "--tag", "harbour", **NOW)
    gone = home.ask("save", "To be deleted.", **NOW)["id"]
    home.ask("delete", gone, "--yes", **NOW)
    (home.journal / "2025-01-02.md").write_text("## 08:00 Told\n\n<private>hunter2</private>\n")
    (home.journal / "attachments").mkdir()
    (home.journal / "attachments" / "crane.png").write_bytes(bytes(range(256)) * 9)
    (home.journal / ".git").mkdir()
    (home.journal / ".git" / "HEAD").write_text("ref")
    (home.journal / "away.md").symlink_to(tmp_path / "nowhere")
    (home.path / "tokens.toml").write_text("secret")
    to = tmp_path / "stick"
    assert "none yet" in home.run("status").out

    answer = home.run("backup", str(to), **NOW)
    assert answer.code == 0, answer.text
    file = to / "synaptic-2026-11-21.zip"
    assert file.stat().st_mode & 0o777 == 0o600 and [*to.iterdir()] == [file]
    assert str(file) in answer.out and "read back and equal" in answer.out
    assert "To go back: unpack the zip" in answer.out
    for words in (("restore", str(file)), ("import", "markdown", str(file))):
        refused = home.run(*words, **NOW)
        assert refused.code in (1, 2) and f"into {home.journal}." in refused.err
        assert "To go back: unpack the zip" in refused.err and "READ ME.txt" in refused.err
    assert "Private passages are in it" in answer.err and "journal/away.md" in answer.err
    assert f"2026-11-21 10:00, {file}" in home.run("status").out
    assert home.ask("status")["backup"]["file"] == str(file)

    again = home.ask("backup", str(to), **NOW)
    assert again["file"] == str(to / "synaptic-2026-11-21-2.zip") and again["success"]

    new = ForkedHome(tmp_path / "new" / "home")
    with ZipFile(file) as archive:
        names = archive.namelist()
        archive.extractall(new.path)
        assert "Private passages" in archive.read("READ ME.txt").decode()
    assert not [name for name in names if ".git/" in name or "token" in name or ".db" in name]
    for path in home.journal.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            assert (
                new.journal / path.relative_to(home.journal)
            ).read_bytes() == path.read_bytes()
    assert "hunter2" in (new.journal / "2025-01-02.md").read_text()
    assert new.entries() == home.entries()
    new.ask("restore", gone, **NOW)
    assert new.run("doctor").code in (0, 1)


def test_a_backup_goes_neither_into_the_journal_nor_over_a_file(
    home: ForkedHome, tmp_path: Path
) -> None:
    home.ask("save", "The quay crane is blue.", **NOW)
    for folder in (home.journal / "copies", home.path, home.path / "x"):
        answer = home.run("backup", str(folder), **NOW)
        assert answer.code == 2 and "goes into the backup" in answer.err
        assert not (home.journal / "copies").exists()
    (tmp_path / "file").write_text("mine")
    answer = home.run("backup", str(tmp_path / "file"), **NOW)
    assert answer.code == 1 and (tmp_path / "file").read_text() == "mine"
    assert home.ask("status")["backup"] is None


def test_a_disk_that_is_not_connected_is_told(home: ForkedHome, tmp_path: Path) -> None:
    home.ask("save", "The quay crane is blue.")
    to = tmp_path / "media" / "stick"
    refused = home.run("backup", str(to))
    assert refused.code == 2 and f"no folder {to.parent}: is the disk" in refused.err
    assert not to.parent.exists()
    to.parent.mkdir()
    assert home.run("backup", str(to)).code == 0 and [*to.iterdir()]


def test_a_backup_that_was_killed_leaves_nothing_that_looks_like_one(
    home: ForkedHome, tmp_path: Path
) -> None:
    home.ask("save", "The quay crane is blue; a tag is `<private>`.", **NOW)
    to = tmp_path / "stick"
    answer = home.run("backup", str(to), SYNAPTIC_FAULT="backup-written", **NOW)
    assert answer.code not in (0, 1, 2) and not [*to.glob("synaptic*")]
    notices = home.ask("backup", str(to), **NOW)["notices"]
    assert notices == ["It is not encrypted."]
    assert [path.name for path in to.iterdir()] == ["synaptic-2026-11-21.zip"]
    with ZipFile(to / "synaptic-2026-11-21.zip") as archive:
        assert "rivate" not in archive.read("READ ME.txt").decode()
    shutil.rmtree(to)
