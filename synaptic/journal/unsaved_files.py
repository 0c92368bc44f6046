"""Puts files that were stored for a note that was never saved back into the drafts.

Until the note is saved, `.state/unsaved` names the files with their hashes (`stored_files`).
After a kill the next writer puts each of them to which no note links into the drafts, which
keep it for some days.
"""

import posixpath
from contextlib import suppress
from urllib.parse import quote

from ..errors import JournalError, NotFound, SynapticError
from . import disk, folder
from .draft_files import DraftFiles
from .trash import file_hash
from .writer import Draft, FileWriter, Stat

BOX = "unsaved"
"""The box of the drafts for files whose note was never saved."""


def settle_unsaved_files(writer: FileWriter) -> None:
    """Puts the files that a killed process stored, and to which no note links, into the drafts.
    The write lock is held.
    """
    note = writer.state / disk.UNSAVED
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
                DraftFiles(writer.state).add(BOX, name, data)
            remove_unchanged(writer, path, digest)


def remove_unchanged(writer: FileWriter, path: str, digest: str) -> None:
    """Removes a file if nobody else has written to it."""

    def make(data: bytes, status: Stat) -> Draft | None:
        return Draft(None) if status and _is_left_by_kill(data, digest) else None

    writer.change(path, make)


def _is_left_by_kill(data: bytes, digest: str) -> bool:
    """True for the bytes with this hash, and for none: a removal that was killed left those."""
    return not data or file_hash(data) == digest


def _is_linked(roots: folder.Roots, name: str) -> bool:
    """True if the name of a file stands in a note, also as Markdown links encode it."""
    written = {name.encode(), quote(name).encode()}
    for stamp in folder.scan_notes(roots):
        with suppress(NotFound):
            data = folder.read_bytes(roots, stamp.path)[0]
            if any(one in data for one in written):
                return True
    return False
