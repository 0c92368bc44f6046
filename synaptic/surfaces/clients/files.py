"""A client's files: a part of Synaptic's put in and taken out without moving anything else."""

from __future__ import annotations

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

_BOM = "\ufeff"


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
    return _text(data)[1]


def with_part(data: bytes | None, part: Part) -> bytes:
    """The file's bytes with the part. Raises Unreadable where that would change something else."""
    bom, text = _text(data)
    return (bom + part.put(text)).encode()


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
    bom, text = _text(data)
    text = part.drop(text)
    for path in part.holders:
        now, then = (table(jsonc.parse(each), path[:-1]).get(path[-1]) for each in (text, before))
        if now in ({}, []) and then is None:
            text = jsonc.drop(text, path)
    if backup is None and text.strip() in ("", "{}"):
        return None
    return (bom + text).encode()


def write(
    file: Path, old: bytes | None, new: bytes | None, within: Path | None = None, *, keep: bool = True
) -> Path | None:
    """Replaces `old` by `new` in one step (None: no file), and returns the path of the backup if one was made.

    A link is written through, but for one that leads out of `within`; what a link within it points to is not copied.
    Mode and owner stay. Without `keep` no backup is made. Raises Changed when somebody else wrote meanwhile.
    """
    target = _target(file, within)
    backup = backup_of(file)
    with disk.disk_errors(file):
        if old is None:
            assert new is not None
            disk.make_dirs(target.parent, private=False)
            disk.create(target, new, private=False)
            return None
        if new is None:
            target.unlink()
            with contextlib.suppress(OSError):
                target.parent.rmdir()  # a folder that was made for it
            return None
        made = keep and (within is None or target == file) and _back_up(target, backup, old)
        try:
            if not disk.replace(target, old, target.stat().st_ino, new):
                raise Changed(f"{file} was changed by another program meanwhile.", hint="Run this again.")
        except (OSError, Changed):
            if made:
                backup.unlink()
            raise
        if kept(file) == new:
            backup.unlink()  # nothing is left that it could undo
            return None
    return backup if made else None


def keep_copy(file: Path, data: bytes | None) -> Path | None:
    """The backup of a file that another program is about to change, if one was made."""
    if data is None:
        return None
    with disk.disk_errors(file, "backed up"):
        return backup_of(file) if _back_up(file.resolve(), backup_of(file), data) else None


def _target(file: Path, within: Path | None) -> Path:
    """Where the file is, links followed. Raises JournalError where that is outside `within`."""
    target = Path(os.path.realpath(file))
    if within is not None and not target.is_relative_to(os.path.realpath(within)):
        raise JournalError(
            f"{file} is a link that leads out of the project, to {target}. It is not followed.",
            hint="Put a file in its place, or leave --scope out.",
        )
    return target


def _back_up(target: Path, backup: Path, data: bytes) -> bool:
    """True when the backup was made now; there is one only, of what was there first."""
    try:
        disk.create(backup, data, private=True)
    except FileExistsError:
        return False
    backup.chmod(stat.S_IMODE(target.stat().st_mode))
    return True


def _text(data: bytes | None) -> tuple[str, str]:
    """(byte order mark, text)."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError as error:
        raise Unreadable((data or b"").count(b"\n", 0, error.start) + 1, "it is not UTF-8") from None
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
