"""Changes a file as a person would in an editor, and keeps the replaced texts in the trash."""

import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from ..errors import NotFound
from ..models import Entry, ParsedFile
from ..notes.privacy import has_private_tag
from .comments import find_ids
from .folder import locate_writable
from .journal import Journal
from .text import find_entry_span, normalize_block
from .trash import TrashedText, Why
from .writer import Draft, Stat
from .written_entry import WrittenEntry

RewriteFile = Callable[[bytes, ParsedFile], bytes]
"""Returns the next bytes of a file with these bytes and entries."""


@dataclass(frozen=True, kw_only=True)
class _Rewritten(Draft):
    """The bytes of a file in which the texts of some entries were replaced or removed, and
    the changes of its entries.
    """

    replaced: list[Entry]
    written: list[WrittenEntry]


class Rewrite(NamedTuple):
    """The result of a change of a file: the entries whose text it replaced or removed, as they
    were; and what it did to each entry that the file had before or has now.
    """

    replaced: list[Entry]
    written: list[WrittenEntry]


def rewrite_entries(
    journal: Journal, path: str, change: RewriteFile, *, keep: bool = True
) -> Rewrite:
    """Replaces or removes the texts of entries in a file by `change`; returns what it did.

    With `keep` their old texts go to the trash, each as the text of its entry, so that it can
    be restored. Raises what `change` raises, NotFound, Refused for a file that is only read,
    Busy, Changed when the file changes during each try, and JournalError.
    """
    with journal.writing():
        return rewrite_entries_in_lock(journal, path, change, keep=keep)


def rewrite_entries_in_lock(
    journal: Journal, path: str, change: RewriteFile, *, keep: bool = True
) -> Rewrite:
    """Does what `rewrite_entries` does for a caller that holds the write lock."""

    def make(data: bytes, status: Stat) -> _Rewritten | None:
        if not status:
            raise NotFound(
                f"The journal has no file {path}.",
                "It was moved or deleted; search for its entries again.",
            )
        locate_writable(journal.roots, path)
        was = journal.parse(path, data, status.st_mtime_ns)
        text = change(data, was)
        if text == data:
            return None
        now = journal.parse(path, text, status.st_mtime_ns)
        before = _blocks_by_id(path, data, was)
        after = _blocks_by_id(path, text, now)
        replaced = []
        pieces = []
        saved = []
        for entry in was.entries:
            block = before[entry.id]
            new = after.get(entry.id, b"")
            if new == block:
                continue
            replaced.append(entry)
            is_gone = not new and len(after) < len(before)  # else its heading was changed
            mode = stat.S_IMODE(status.st_mode) if entry.whole_file else None
            at = journal.clock()
            why: Why = "delete" if is_gone else "update"
            pieces += journal.replaced_copy(entry.id, entry.title, new, block)
            pieces.append(TrashedText(entry.id, path, at, why, entry.title, block, mode))
            if entry.id in find_ids(new) and not has_private_tag(new):
                saved.append(journal.saved_text(path, entry.id, normalize_block(new)))
        if keep:
            journal.trash.put(*pieces)
        written = list(_compare(path, was, now))
        return _Rewritten(text, tuple(saved), replaced=replaced, written=written)

    draft = journal.writer.change(path, make)
    if not draft:
        return Rewrite([], [])
    stays = {text.id for text in draft.saved}
    for entry in draft.replaced:
        if entry.id not in stays and journal.saved.path_of(entry.id).exists():
            with suppress(OSError):  # the file is written: the edit has succeeded
                journal.saved.forget(entry.id)
    return Rewrite(draft.replaced, draft.written)


def _compare(path: str, was: ParsedFile, now: ParsedFile) -> Iterator[WrittenEntry]:
    """Yields each entry that one of these states of a file has."""
    before = {entry.id: entry for entry in was.entries}
    after = {entry.id: entry for entry in now.entries}
    for id in dict.fromkeys((*before, *after)):
        yield WrittenEntry(path, before.get(id), after.get(id))


def _blocks_by_id(path: str, data: bytes, file: ParsedFile) -> dict[str, bytes]:
    """The bytes of each entry by its id."""
    spans = [find_entry_span(file, path, entry.id) for entry in file.entries]
    return {entry.id: data[start:end] for entry, start, end in spans}
