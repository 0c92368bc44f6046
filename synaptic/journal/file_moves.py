"""Gives files of the journal other paths, and knows which notes moved."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Self

from ..errors import Refused
from . import disk, folder
from .changelog import make_record
from .disk import read_state_json
from .moves import MOVED
from .writer import FileWriter


class FileMoves:
    """Moves of files, logged and durable at the end of the context. The caller holds the
    lock.
    """

    def __init__(self, writer: FileWriter) -> None:
        self._writer = writer
        self._moved: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        writer = self._writer
        if writer.deed and self._moved:
            at = writer.clock()
            records = [make_record(writer.deed, at, path, to=to) for path, to in self._moved]
            writer.log.append(*records, sync=False)
        for parent in {
            writer.roots.place(path).parent for move in self._moved for path in move
        }:
            disk.sync_dir(parent)

    def move(self, path: str, to: str) -> None:
        """Gives a file another path in the journal.

        Raises Refused for a link, and where another file has the path; JournalError.
        """
        writer = self._writer
        old_path = writer.roots.place(path)
        folder.refuse_source(writer.roots, path)
        folder.refuse_source(writer.roots, to)
        new_path = folder.resolve_journal_path(writer.roots, to)
        with disk.disk_errors(to):
            if old_path.is_symlink():
                raise Refused(
                    "{path} is a link to another file.",
                    "Rename the file that it leads to.",
                    path=path,
                )
            disk.make_dirs(new_path.parent, private=writer.lies_in_home(path))
            try:
                rename_to_free_name(old_path, new_path)
            except FileExistsError:
                raise path_taken_error(to) from None
            writer.changes += [path, to]
            self._moved.append((path, to))
            disk.inject_fault("moved")


def path_taken_error(path: str) -> Refused:
    """The error for a move to a path that another file has."""
    return Refused(
        "{to} is there already, and no file is written over.",
        "Give another name, or move that file away.",
        to=path,
    )


def rename_to_free_name(old_path: Path, new_path: Path) -> None:
    """Renames a file in one step, also to another spelling of its name. Raises FileExistsError
    if another file has the new name. After a kill, the same call completes the rename.
    """
    with suppress(FileNotFoundError):
        if os.path.samestat(old_path.lstat(), new_path.lstat()):
            if new_path.lstat().st_nlink > 1:  # of a call that was killed
                old_path.unlink()
            else:  # the system takes the two for one name
                old_path.rename(new_path)
            return
    if disk.WINDOWS:  # where it replaces nothing
        old_path.rename(new_path)
        return
    if not _rename_exclusively(old_path, new_path):
        new_path.hardlink_to(old_path)
        disk.inject_fault("linked")
        old_path.unlink()


def _rename_exclusively(old_path: Path, new_path: Path) -> bool:
    """Renames a file; returns False if the system cannot do that without replacing another.
    Raises OSError.
    """
    names = os.fsencode(old_path), os.fsencode(new_path)
    rename = disk.c_library_function("renameat2")
    at_cwd = -100
    no_replace, excl = 1, 4  # RENAME_NOREPLACE of Linux, RENAME_EXCL of macOS
    if rename:
        status = rename(at_cwd, names[0], at_cwd, names[1], no_replace)
    else:
        rename = disk.c_library_function("renamex_np")
        status = rename(*names, excl) if rename else -1
    return bool(status == 0)


def read_moves(state: Path, paths: Collection[str]) -> dict[str, str]:
    """The present path of each note that has moved, by its old path. `paths` are those of all
    notes: a note that is back, or gone, is left out.
    """
    rows = {
        str(old_path): str(new_path)
        for old_path, new_path in read_state_json(state / MOVED).items()
    }
    moves = {}
    for old_path, new_path in rows.items():
        steps = {old_path}
        while new_path not in paths and new_path in rows and new_path not in steps:
            steps.add(new_path)
            new_path = rows[new_path]
        if new_path in paths and old_path not in paths:
            moves[old_path] = new_path
    return moves


def former_paths(state: Path) -> list[str]:
    """The old paths of the notes that moved, also of those that are gone or back."""
    return list(read_state_json(state / MOVED))
