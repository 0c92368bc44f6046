"""Stores files beside the notes while a note that links to them is being saved."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import SynapticError
from . import disk, folder
from .trash import file_hash
from .unsaved_files import remove_unchanged
from .writer import Draft, FileWriter, Stat


class StoredFiles:
    """The files that are new beside the notes, under the write lock."""

    def __init__(self, writer: FileWriter) -> None:
        self._writer = writer
        self._note = writer.state / disk.UNSAVED
        self._hashes: dict[str, str] = {}

    def add(self, path: str, data: bytes) -> bool:
        """Stores a file under a path of the journal; returns False if a file is there. Raises
        JournalError.
        """
        real = folder.resolve_journal_path(self._writer.roots, path)
        if os.path.lexists(real):
            return False
        self._writer.note_progress()
        self._hashes[path] = file_hash(data)
        with disk.disk_errors(self._note):
            disk.overwrite(self._note, json.dumps(self._hashes).encode())

        def make(_: bytes, status: Stat) -> Draft | None:
            return None if status else Draft(data)

        return self._writer.change(path, make) is not None

    def keep(self) -> None:
        """Keeps the files, because their note is saved."""
        if self._hashes:
            disk.unlink(self._note)

    def take_back(self) -> None:
        """Removes the files that are new. What cannot be removed is left to the next writer."""
        is_done = True
        for path, digest in self._hashes.items():
            try:
                remove_unchanged(self._writer, path, digest)
            except (SynapticError, OSError):
                is_done = False
        if is_done:
            self.keep()


@contextmanager
def stored_files(writer: FileWriter) -> Iterator[StoredFiles]:
    """New files beside the notes, as a context in which their note is saved: if it fails, they
    go. The write lock is held.
    """
    stored = StoredFiles(writer)
    try:
        yield stored
    except BaseException:
        stored.take_back()
        raise
    stored.keep()
