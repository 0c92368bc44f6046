"""Writes all that cannot be made again into one zip, and remembers when."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

from ...errors import InvalidArgument, JournalError
from ...files import file_lock, open_regular_file, real_path
from ...journal import disk
from ...journal.backups import READ_ME, LastBackup, is_text_of_ours, remember_backup
from ...journal.names import printable_path
from ...journal.projects import FILE as PROJECTS
from ...models import Texts, frozen
from ...notes.privacy import find_private_spans
from ...workspace.workspace import Workspace

_STATE = (
    *("trash.md", "changes", "done", "imports", "renames", "forgotten"),
    *(disk.PREFERENCES, PROJECTS, disk.REVIEWED),
)
"""The files and folders of `.state` that cannot be made again. Keys, logins and tokens are not
among them: a new computer makes its own.
"""
_LEFT_OUT_SHOWN = 5
_READ_BYTES = 1 << 20
_HOW_TO_RESTORE = """\
A backup of Synaptic, made on {day}. {privacy_warning}

To use it on a computer without Synaptic's data: install Synaptic, unpack this zip into the
folder ~/.synaptic, and run `synaptic doctor --fix`. The next search makes the index anew.

The journal on the old computer was {journal}.
If config.toml names that folder, move the folder `journal` there, or change the line.
The notes are plain Markdown files: no program is needed to read them.

Not in it: the index, tokens and logins of the page, folders that are read where they lie
(`sources`), and the folder `.git`.
"""

_PRIVATE = "Private passages are in it, and it is not encrypted: keep it to yourself."
_NOT_ENCRYPTED = "It is not encrypted."


@dataclass
class _Contents:
    """The files of a zip while it is written: the hash of each by its name in the zip, the
    paths of what was left out, and if a text has a private passage.
    """

    hashes: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    has_private: bool = False

    @property
    def privacy_warning(self) -> str:
        return _PRIVATE if self.has_private else _NOT_ENCRYPTED


@frozen
class Backup:
    """A finished backup: the path of its zip, the number of `files` in it and its size.
    `left_out` names files that could not be read, and links.
    """

    file: Path
    files: int
    bytes: int
    left_out: Texts
    notices: Texts


def write_backup(ws: Workspace, folder: Path) -> Backup:
    """Writes a zip of the journal and of Synaptic's own texts into `folder`, which is made
    if it alone is missing.

    1. The zip is written beside its final name, the notes while nobody else may write.
    2. Each file is read out of the zip again and compared with what was put in.
    3. The zip gets its name, with the day, and the home remembers it. No file is overwritten.

    Raises InvalidArgument for a folder in the journal or the home, or in no folder, and
    JournalError.
    """
    folder = folder.expanduser().absolute()
    if not folder.parent.is_dir():
        raise InvalidArgument(
            f"There is no folder {folder.parent}: is the disk connected?",
            "Connect it, or make the folder, and run the command once more.",
        )
    _check_is_outside(ws, folder)
    now = ws.clock()
    stem = f"synaptic-{now.date().isoformat()}"
    ws.own_journal.prepare()
    with file_lock(ws.config.state / "backup.lock"), disk.disk_errors(folder):
        disk.make_dirs(folder, private=False)
        temp = disk.temp_path_of(folder / f"{stem}.zip")
        temp.unlink(missing_ok=True)
        try:
            contents = _write_files(ws, temp)
            disk.inject_fault("backup-written")
            _check_zip(temp, contents.hashes)
            file = _give_free_name(temp, folder / stem)
        finally:
            disk.unlink(temp)
        disk.sync_dir(folder)
        size = file.stat().st_size
    remember_backup(ws.config.state, LastBackup(now, str(file)))
    left_out = tuple(contents.left_out)
    return Backup(file, len(contents.hashes), size, left_out, _notices(ws, contents))


def _check_is_outside(ws: Workspace, folder: Path) -> None:
    """Raises InvalidArgument if the folder lies in what is backed up."""
    real = real_path(folder)
    for around in (ws.config.journal, ws.config.home):
        if real.is_relative_to(real_path(around)):
            raise InvalidArgument(
                f"{folder} lies in {around}, which goes into the backup.",
                "Give a folder elsewhere, best on another disk.",
            )


def _notices(ws: Workspace, contents: _Contents) -> Texts:
    """Sentences about what a person has to know of a new backup."""
    notices = [contents.privacy_warning]
    left_out = contents.left_out
    if ws.config.sources:
        names = ", ".join(map(printable_path, ws.config.sources))
        notices.append(f"Not in it, because they are only read where they lie: {names}.")
    if left_out:
        more = ", ..." if len(left_out) > _LEFT_OUT_SHOWN else ""
        names = ", ".join(left_out[:_LEFT_OUT_SHOWN])
        notices.append(f"Not in it, links or unreadable: {len(left_out):,} ({names}{more}).")
    return tuple(notices)


def _write_files(ws: Workspace, temp: Path) -> _Contents:
    """Writes the zip `temp`, durably; returns what it holds."""
    contents = _Contents()

    def add_all(archive: ZipFile, files: Iterable[tuple[str, Path]]) -> None:
        for name, path in files:
            try:
                _add_file(archive, name, path, contents)
            except FileNotFoundError:
                continue  # deleted since the folder was listed
            except (OSError, UnicodeEncodeError):
                contents.left_out.append(printable_path(name))

    fd = os.open(temp, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(fd, "w+b") as raw:
        with ZipFile(raw, "w", ZIP_DEFLATED) as archive:
            with ws.own_journal.writing():
                files = [*_journal_files(ws), *_home_files(ws.config.home)]
                add_all(archive, [each for each in files if is_text_of_ours(each[0])])
            add_all(archive, [each for each in files if not is_text_of_ours(each[0])])
            text = _HOW_TO_RESTORE.format(
                day=ws.clock().date().isoformat(),
                privacy_warning=contents.privacy_warning,
                journal=printable_path(str(ws.config.journal)),
            )
            archive.writestr(READ_ME, text)
            contents.hashes[READ_ME] = hashlib.sha256(text.encode()).hexdigest()
        raw.flush()
        disk.sync_file(raw.fileno())
    return contents


def _journal_files(ws: Workspace) -> Iterator[tuple[str, Path]]:
    """(name in the zip, path) of each file of the journal but git's own and the home."""
    home = real_path(ws.config.home)
    root = real_path(ws.config.journal)
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        links = [name for name in folders if (here / name).is_symlink()]
        folders[:] = [
            name
            for name in sorted(folders)
            if name != ".git" and real_path(here / name) != home
        ]
        for name in sorted([*names, *links]):
            path = here / name
            yield f"journal/{path.relative_to(root).as_posix()}", path


def _home_files(home: Path) -> Iterator[tuple[str, Path]]:
    """(name in the zip, path) of each file of the home that cannot be made again."""
    for part in ("config.toml", "sessions", *(f".state/{name}" for name in _STATE)):
        top = home / part
        below = sorted(top.rglob("*")) if top.is_dir() else [top]
        for path in below:
            if not path.is_dir():
                yield path.relative_to(home).as_posix(), path


def _add_file(archive: ZipFile, name: str, path: Path, contents: _Contents) -> None:
    """Adds one file to the zip and notes it in `contents`. Raises OSError for a link, a FIFO
    and what cannot be read, and UnicodeEncodeError for a name that no zip can hold.
    """
    name.encode()
    is_text = is_text_of_ours(name)
    with open_regular_file(path, follow=path.name == "config.toml") as file:
        info = ZipInfo.from_file(path, name, strict_timestamps=False)
        info.external_attr = (stat.S_IFREG | 0o600) << 16
        info.compress_type = ZIP_DEFLATED
        with archive.open(info, "w", force_zip64=True) as member:
            digest = hashlib.sha256()
            while part := file.read(_READ_BYTES):
                digest.update(part)
                member.write(part)
                if is_text and not contents.has_private:
                    contents.has_private = any(find_private_spans(part))
    contents.hashes[name] = digest.hexdigest()


def _check_zip(path: Path, hashes: dict[str, str]) -> None:
    """Raises JournalError if a file in the zip is missing or differs from what was put in."""
    broken = "it holds other names"
    try:
        with ZipFile(path) as archive:
            if sorted(archive.namelist()) == sorted(hashes):
                broken = ""
            for name in hashes:
                with archive.open(name) as member:
                    digest = hashlib.file_digest(member, "sha256")  # type: ignore[arg-type]
                if digest.hexdigest() != hashes[name]:
                    broken = f"{printable_path(name)} differs"
    except (BadZipFile, KeyError, OSError) as error:
        broken = str(error)
    if broken:
        raise JournalError(
            f"The backup was written, but does not read back: {broken}.",
            "Nothing was kept. Check that disk, or give a folder on another one.",
        )


def _give_free_name(temp: Path, stem: Path) -> Path:
    """Renames the finished zip to `stem`.zip, or to the first `stem`-2.zip that is free, and
    returns that path.
    """
    number = 1
    file = stem.with_name(f"{stem.name}.zip")
    while os.path.lexists(file):
        number += 1
        file = stem.with_name(f"{stem.name}-{number}.zip")
    temp.rename(file)
    return file
