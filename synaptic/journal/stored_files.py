"""Stores files beside the notes while a note that links to them is being saved.

Until the note is saved, `.state/unsaved` names the files with their hashes. After a kill the
next writer puts each of them to which no note links into the drafts, which keep it for some
days.
"""

import hashlib
import json
import os
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import quote

from ..errors import JournalError, NotFound, SynapticError
from . import disk, folder
from .writer import Draft, FileWriter, Stat

BOX = "unsaved"
"""The box of the drafts for files whose note was never saved."""
_NOTE = "unsaved"


class StoredFiles:
    """The files that are new beside the notes, under the write lock."""

    def __init__(self, writer: FileWriter) -> None:
        self._writer = writer
        self._note = writer.draft_files.folder.with_name(_NOTE)
        self._hashes: dict[str, str] = {}

    def add(self, path: str, data: bytes) -> bool:
        """Stores a file under a path of the journal; returns False if a file is there. Raises
        JournalError.
        """
        real = folder.resolve_journal_path(self._writer.roots, path)
        if os.path.lexists(real):
            return False
        self._writer.note_holder()
        self._hashes[path] = _hash_of(data)
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
                _remove(self._writer, path, digest)
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


def settle_stored_files(writer: FileWriter) -> None:
    """Puts the files that a killed process stored, and to which no note links, into the drafts.
    The write lock is held.
    """
    note = writer.draft_files.folder.with_name(_NOTE)
    if not note.exists():
        return
    try:
        for path, digest in disk.read_state_json(note).items():
            _settle(writer, path, digest)
    except (SynapticError, OSError):
        return  # the next writer tries again
    disk.unlink(note)


def _settle(writer: FileWriter, path: str, digest: str) -> None:
    name = posixpath.basename(path)
    try:
        real = folder.resolve_journal_path(writer.roots, path)
    except JournalError:
        return  # no process wrote that
    writer.remove_temps(real.parent)
    with suppress(NotFound):
        data = folder.read_bytes(writer.roots, path)[0]
        is_ours = _is_left_by_kill(data, digest) and not folder.is_note(name)
        if is_ours and not _is_linked(writer.roots, name):
            if data:
                writer.draft_files.add(BOX, name, data)
            _remove(writer, path, digest)


def _remove(writer: FileWriter, path: str, digest: str) -> None:
    """Removes a file if nobody else has written to it."""

    def make(data: bytes, status: Stat) -> Draft | None:
        return Draft(None) if status and _is_left_by_kill(data, digest) else None

    writer.change(path, make)


def _is_left_by_kill(data: bytes, digest: str) -> bool:
    """True for the bytes with this hash, and for none: a removal that was killed left those."""
    return not data or _hash_of(data) == digest


def _is_linked(roots: folder.Roots, name: str) -> bool:
    """True if the name of a file stands in a note, also as Markdown links encode it."""
    written = {name.encode(), quote(name).encode()}
    for stamp in folder.scan_notes(roots):
        with suppress(NotFound):
            data = folder.read_bytes(roots, stamp.path)[0]
            if any(one in data for one in written):
                return True
    return False


def _hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
