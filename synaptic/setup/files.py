"""A client's configuration file: its entry for Synaptic, put in and taken out without moving anything else."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from .. import disk
from ..errors import Changed
from . import jsonc, toml
from .jsonc import Unreadable

BACKUP = ".before-synaptic"
"""What the copy of a file as it was before the first change is called, after the file's name."""

_BOM = "\ufeff"


class Form(Protocol):
    """A format: what a text says, and the text with or without a value."""

    def parse(self, text: str) -> Any: ...
    def put(self, text: str, path: Sequence[str], value: Any) -> str: ...
    def drop(self, text: str, path: Sequence[str]) -> str: ...


def backup_of(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)


def read(file: Path) -> bytes | None:
    """The bytes; None where there is no file. Raises JournalError."""
    with disk.disk_errors(file, "read"):
        try:
            return file.read_bytes()
        except FileNotFoundError:
            return None


def entry_in(file: Path, data: bytes | None, path: Sequence[str]) -> object:
    """The entry that stands at `path`; None where there is none. Raises Unreadable."""
    found = _form(file).parse(_text(data)[1])
    for depth, name in enumerate(path):
        if not isinstance(found, dict):
            raise Unreadable(1, f"{'.'.join(path[:depth]) or 'the whole of it'} is no object")
        if name not in found:
            return None
        found = found[name]
    return found


def with_value(file: Path, data: bytes | None, path: Sequence[str], value: Any) -> bytes:
    """The file's bytes with this value. Raises Unreadable where that would change something else."""
    bom, text = _text(data)
    form = _form(file)
    wanted = form.parse(text)
    new = form.put(text, path, value)
    table = wanted
    for name in path[:-1]:
        table = table.setdefault(name, {})
    table[path[-1]] = value
    if form.parse(new) != wanted:
        raise Unreadable(1, "it cannot be changed without changing something else")
    return (bom + new).encode()


def without_entry(file: Path, data: bytes, path: Sequence[str], backup: bytes | None) -> bytes | None:
    """The file's bytes without the entry; None when nothing at all is left of a file that is Synaptic's own.

    Where the entry is all that was added since the backup, that is exactly what comes back.
    """
    with contextlib.suppress(Unreadable):
        if backup is not None and entry_in(file, backup, path) is None:
            entry = entry_in(file, data, path)
            if with_value(file, backup, path, entry) == data:
                return backup
    bom, text = _text(data)
    form = _form(file)
    new = form.drop(text, path)
    if form is jsonc and form.parse(new).get(path[0]) == {} and not _holds(file, backup, path[0]):
        new = form.drop(new, path[:1])
    if backup is None and new.strip() in ("", "{}"):
        return None
    return (bom + new).encode()


def render(file: Path, path: Sequence[str], value: Any) -> str:
    """What a new file of this kind would hold."""
    return _form(file).put("", path, value)


def write(file: Path, old: bytes | None, new: bytes | None) -> Path | None:
    """The backup, if there is one now; `file` went from `old` to `new` in one step, None is no file.

    A link is written through, mode and owner stay. Raises Changed when somebody else wrote meanwhile.
    """
    target = file.resolve()
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
        made = _back_up(target, backup, old)
        try:
            if not disk.replace(target, old, target.stat().st_ino, new):
                raise Changed(f"{file} was changed by another program meanwhile.", hint="Run this again.")
        except (OSError, Changed):
            if made:
                backup.unlink()
            raise
        if backup.read_bytes() == new:
            backup.unlink()  # nothing is left that it could undo
            return None
    return backup


def keep_copy(file: Path, data: bytes | None) -> Path | None:
    """The backup of a file that another program is about to change."""
    if data is None:
        return None
    with disk.disk_errors(file, "backed up"):
        _back_up(file.resolve(), backup_of(file), data)
    return backup_of(file)


def _back_up(target: Path, backup: Path, data: bytes) -> bool:
    """True when the backup was made now; there is one only, of what was there first."""
    try:
        disk.create(backup, data, private=True)
    except FileExistsError:
        return False
    backup.chmod(stat.S_IMODE(target.stat().st_mode))
    return True


def _holds(file: Path, data: bytes | None, key: str) -> bool:
    with contextlib.suppress(Unreadable):
        return data is not None and entry_in(file, data, (key,)) is not None
    return False


def _form(file: Path) -> Form:
    return toml if file.suffix == ".toml" else jsonc


def _text(data: bytes | None) -> tuple[str, str]:
    """(byte order mark, text)."""
    try:
        text = (data or b"").decode()
    except UnicodeDecodeError as error:
        raise Unreadable((data or b"").count(b"\n", 0, error.start) + 1, "it is not UTF-8") from None
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)
