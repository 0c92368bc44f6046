"""A client's files: a part of Synaptic's put in and taken out without moving anything else."""

from __future__ import annotations

import codecs
import contextlib
import os
import stat
from pathlib import Path

from ...errors import Changed, JournalError
from ...journal import disk
from ...workspace.checkout import open_regular
from . import jsonc
from .jsonc import Unreadable, table
from .parts import Part

BACKUP = ".before-synaptic"
"""What the copy of a file as it was before the first change is called, after the file's name."""


def backup_of(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)


def read(file: Path, within: Path | None = None) -> bytes | None:
    """The bytes; None where there is no file. Raises JournalError, also where it leads out of `within`."""
    target = _target(file, within)
    with disk.disk_errors(file, "read"):
        try:
            with open_regular(target, follow=False) as opened:
                return opened.read()
        except FileNotFoundError:
            return None


def kept(file: Path) -> bytes | None:
    """The bytes of the backup; None where there is none that could be Synaptic's."""
    with contextlib.suppress(OSError), open_regular(backup_of(file), follow=False) as backup:
        return backup.read()
    return None


def text_of(data: bytes | None) -> str:
    """The text of a file, without its byte order mark. Raises Unreadable."""
    try:
        return (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable((data or b"").count(b"\n", 0, error.start) + 1, "it is not UTF-8") from None


def with_part(data: bytes | None, part: Part) -> bytes:
    """The file's bytes with the part. Raises Unreadable where that would change something else."""
    return _bom(data) + part.put(text_of(data)).encode()


def without_part(data: bytes, part: Part, backup: bytes | None) -> bytes | None:
    """The file's bytes without the part; None when nothing at all is left of a file that is Synaptic's own.

    Where the part is all that was added since the backup, that is exactly what comes back.
    """
    before = ""
    with contextlib.suppress(Unreadable):
        clean = part.judge(text_of(backup)).state == "not registered"
        before = text_of(backup)
        if backup is not None and clean and with_part(backup, part) == data:
            return backup
    text = part.drop(text_of(data))
    for path in part.holders:
        now, then = (table(jsonc.parse(each), path[:-1]).get(path[-1]) for each in (text, before))
        if now in ({}, []) and then is None:
            text = jsonc.drop(text, path)
    if backup is None and text.strip() in ("", "{}"):
        return None
    return _bom(data) + text.encode()


def write(file: Path, old: bytes | None, new: bytes | None, within: Path | None = None) -> None:
    """Replaces `old` by `new` in one step (None: no file).

    A link is written through, but for one that leads out of `within`. Mode and owner stay. Raises JournalError, and
    Changed when somebody else wrote meanwhile.
    """
    target = _target(file, within)
    with disk.disk_errors(file):
        if old is None:
            disk.make_dirs(target.parent, private=False)
            disk.create(target, new or b"", private=False)
        elif new is None:
            target.unlink()
            with contextlib.suppress(OSError):
                target.parent.rmdir()  # a folder that was made for it
        elif not disk.replace(target, old, target.stat().st_ino, new):
            raise Changed(f"{file} was changed by another program meanwhile.", hint="Run this again.")


def back_up(file: Path, data: bytes | None, within: Path | None) -> Path | None:
    """The backup, if it was made now: there is one only, of what was there first.

    What a link within a project points to is not copied.
    """
    target, backup = _target(file, within), backup_of(file)
    if data is None or (within is not None and target != file):
        return None
    with disk.disk_errors(file, "backed up"):
        try:
            disk.create(backup, data, private=True)
        except FileExistsError:
            return None
        backup.chmod(stat.S_IMODE(target.stat().st_mode))
    return backup


def _target(file: Path, within: Path | None) -> Path:
    """Where the file is, links followed. Raises JournalError where that is outside `within`."""
    target = Path(os.path.realpath(file))
    if within is not None and not target.is_relative_to(os.path.realpath(within)):
        raise JournalError(
            f"{file} is a link that leads out of the project, to {target}. It is not followed.",
            hint="Put a file in its place, or leave --scope out.",
        )
    return target


def _bom(data: bytes | None) -> bytes:
    return codecs.BOM_UTF8 if (data or b"").startswith(codecs.BOM_UTF8) else b""
