"""Removes every copy of an entry."""

from collections.abc import Callable, Collection
from contextlib import suppress
from functools import partial

from ..errors import JournalError, NotFound
from ..models import Entry
from ..notes.blocks import LINE_ENDS, bytes_of_text
from .changelog import ChangeLog, FileChange
from .disk import disk_errors, unlink
from .entry_edits import Replacement, replace_entry
from .journal import Journal
from .runs import open_import_runs, open_rename_runs
from .saved import path_of_read
from .trash import Trash, TrashedText

_LEAST_LINE = 12
"""The bytes of a line by which a text of a purged entry is known."""


def purge_entry(journal: Journal, path: str, id: str) -> Entry | None:
    """Removes every copy of an entry; returns the deleted entry, or None if only copies
    were left. No copy stays in trash, done or runs.

    Raises JournalError if the entry is deleted but a copy may remain. The same purge again
    removes that copy.
    """
    entry = None
    had_copies = False
    left = {}
    with journal.writing(), journal.writer.unlogged():
        pieces = [piece for piece in journal.trashed() if piece.id == id]
        present = journal.find_or_none(path, id)
        texts = [*(piece.text for piece in pieces), *([present[0]] if present else [])]
        paths = {path, *(piece.path for piece in pieces)}
        for one in paths:
            unlink(path_of_read(journal.state, one))
        purges: dict[str, Callable[[], bool]] = {
            "changes": partial(_purge_log, journal.log, id, paths, texts),
            "trash.md": partial(_purge_trash, journal.trash, id),
            "done": partial(journal.saved.forget, id),
            "imports": partial(open_import_runs(journal.state).purge, id),
            "renames": partial(open_rename_runs(journal.state).purge, id),
        }
        with suppress(NotFound):
            entry = replace_entry(
                journal, path, id, lambda *_: Replacement(None, b""), None
            ).entry
        for name, purge in purges.items():
            try:
                with disk_errors(journal.state / name):
                    had_copies |= purge()
            except JournalError as error:
                left[name] = error
    for first in left.values():
        raise JournalError(
            "{path} no longer holds {id}, but copies may be left in {left}: {reason}",
            "{step} Then `synaptic delete {id} --purge --yes` again removes them.",
            path=path,
            id=id,
            left=", ".join(left),
            reason=first.message,
            step=first.hint,
        )
    if not had_copies and not entry:
        raise NotFound(
            "{path} has no entry {id}, and there is no copy of it.", path=path, id=id
        )
    return entry


def _purge_log(
    log: ChangeLog, id: str, paths: Collection[str], texts: Collection[bytes]
) -> bool:
    """Forgets what may hold the text of an entry: the records of these files that replaced
    something, those that name its id, and those that share a line with one of its texts;
    returns True if there was one.
    """
    name = id.encode()
    whole = b"\n".join(texts)
    lines = {line.strip() for line in LINE_ENDS.split(whole)}
    long = [line for line in lines if len(line) >= _LEAST_LINE]

    def is_dropped(record: FileChange) -> bool:
        befores = record.befores()
        if id in (*record.entries, *record.ids, *record.ids.values()):
            return True
        if record.path in paths and any(befores):
            return True
        if record.what and bytes_of_text(record.what) in whole:
            return True
        return any(name in before or any(line in before for line in long) for before in befores)

    return log.drop(is_dropped)


def _purge_trash(trash: Trash, id: str) -> bool:
    """Removes the pieces of this id, also those from before it had this id, and incomplete
    pieces, from the file; returns True if there were pieces of the id.
    """
    ids = {id}
    for piece in reversed(trash.pieces()):
        if piece.became in ids:
            ids.add(piece.id)

    def change(piece: TrashedText) -> TrashedText | None:
        if piece.id in ids:
            return None
        return piece._replace(above="") if piece.above in ids else piece

    return trash.rewrite_pieces(change)
