"""Changes a file as a person would in an editor, and keeps the replaced texts in the trash.

Before a person's own editor opens a file, `keep_opened` puts the texts of its entries into the
trash, so that no kill can lose one. `note_edit` then leaves there those that the editor
replaced. Of an editor that may return before the person has edited anything they all stay.
"""

import re
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from types import MappingProxyType
from typing import NamedTuple

from ..errors import NotFound
from ..models import Entry, ParsedFile
from ..notes.privacy import has_private_tag
from .changelog import Actor, acting
from .comments import find_ids
from .entry_edits import id_above, replaced_copy
from .folder import OWN, is_note, no_file_error, read_bytes, refuse_source
from .journal import Journal
from .journal_files import JournalFiles
from .many_changes import change_many
from .restoring import OF_EDITOR, UNDOABLE, mark_not_missed
from .saved import SavedText
from .text import find_entry_span, normalize_block
from .trash import TrashedText, Why, file_hash
from .vanished import is_later_text
from .writer import Draft, Make, Stat
from .written_entry import WrittenEntry

RewriteFile = Callable[[bytes, ParsedFile], bytes | None]
"""Returns the next bytes of a file with these bytes and entries; None removes it."""


@dataclass(frozen=True, kw_only=True)
class _Rewritten(Draft):
    """The bytes of a file in which the texts of some entries were replaced or removed, and
    the changes of its entries. `stays` are the ids whose copies in `done/` are still right.
    With `comes_back` it takes a change back.
    """

    replaced: list[Entry]
    written: list[WrittenEntry]
    stays: Collection[str] = ()
    comes_back: bool = False


class Rewrite(NamedTuple):
    """The result of a change of a file: the entries whose text it replaced or removed, as they
    were; and what it did to each entry that the file had before or has now.
    """

    replaced: list[Entry]
    written: list[WrittenEntry]


def rewrite_entries(
    journal: Journal,
    path: str,
    change: RewriteFile,
    *,
    keep: bool = True,
    comes_back: bool = False,
    mode: int | None = None,
    moved: Mapping[str, str] = MappingProxyType({}),
) -> Rewrite:
    """Replaces or removes the texts of entries in a file by `change`; returns what it did. The
    caller holds the write lock.

    With `keep` their old texts go to the trash, each as the text of its entry, so that it can
    be restored. With `comes_back` it takes a change back: a file that is gone is made anew,
    with this `mode`, and entries that come back are no longer missed. `moved` are the files in
    which entries that leave this one stand now, by id.

    Raises what `change` raises, NotFound, Refused for a file that is only read, Changed when
    the file changes during each try, and JournalError.
    """
    make = _rewriting(
        journal, path, change, keep=keep, comes_back=comes_back, mode=mode, moved=moved
    )
    return _end_rewrite(journal, journal.writer.change(path, make))


def rewrite_many_in_lock(
    journal: Journal, changes: Mapping[str, Callable[[bytes], bytes]]
) -> Collection[str]:
    """Does the same with up to BATCH files at once, by path, without the trash; returns the
    paths of these files, without those that `change_many` leaves out.
    """
    makes = {path: _changing_bytes(journal, path, change) for path, change in changes.items()}
    drafts = change_many(journal.writer, makes)
    for draft in drafts.values():
        _end_rewrite(journal, draft)
    return drafts.keys()


def _changing_bytes(
    journal: Journal, path: str, change: Callable[[bytes], bytes]
) -> Make[_Rewritten | None]:
    """Makes the draft of a file without the trash. One without written ids is not read for its
    entries: no copy in `done/` is theirs.
    """
    with_copies = _rewriting(journal, path, lambda data, _: change(data), keep=False)

    def make(data: bytes, status: Stat) -> _Rewritten | None:
        if not status or find_ids(data):
            return with_copies(data, status)
        refuse_source(journal.roots, path)
        rest = change(data)
        return None if rest == data else _Rewritten(rest, replaced=[], written=[])

    return make


def _rewriting(
    journal: Journal,
    path: str,
    change: RewriteFile,
    *,
    keep: bool,
    comes_back: bool = False,
    mode: int | None = None,
    moved: Mapping[str, str] = MappingProxyType({}),
) -> Make[_Rewritten | None]:
    """Makes the draft of a rewritten file, as `rewrite_entries` wants it."""

    def make(data: bytes, status: Stat) -> _Rewritten | None:
        if not status and not comes_back:
            raise no_file_error(path)
        refuse_source(journal.roots, path)
        mtime_ns = status.st_mtime_ns if status else 0
        was = journal.parse(path, data, mtime_ns)
        rest = change(data, was)
        if status and rest == data:
            return None
        text = rest or b""
        now = journal.parse(path, text, mtime_ns)
        before = _blocks_by_id(path, data, was)
        after = _blocks_by_id(path, text, now)
        became = _successors(before, after)
        replaced = []
        pieces = []
        comes = after.keys() - before.keys() if comes_back else set[str]()
        for entry in was.entries:
            block = before[entry.id]
            new = after.get(entry.id, b"")
            if new == block or (comes_back and normalize_block(new) == normalize_block(block)):
                continue
            replaced.append(entry)
            why: Why = "restore" if comes_back else "update"
            piece = _piece_of(journal, path, entry, block, status, why)
            piece = piece._replace(above=id_above(was, entry.id))
            if not new:
                next_id = became.get(entry.id, "")
                piece = piece._replace(why=why if next_id else "delete", became=next_id)
            if not new and entry.id in moved:
                piece = piece._replace(why="restore", moved_to=moved[entry.id])
            piece = _note_place(piece, was, data, new, text)
            pieces += [*replaced_copy(journal, entry.id, entry.title, new, block), piece]
            comes |= {entry.id} & after.keys()
        saved = tuple(_texts_to_save(journal, path, {id: after[id] for id in comes}))
        if keep:
            journal.trash.put(*pieces)
        elsewhere = {id for id, new_path in moved.items() if new_path != path}
        return _Rewritten(
            rest,
            saved,
            mode,
            in_trash=keep,
            comes_back=comes_back,
            replaced=replaced,
            written=list(_compare(path, was, now)),
            stays={text.id for text in saved} | elsewhere,
        )

    return make


def _texts_to_save(
    journal: Journal, path: str, blocks: Mapping[str, bytes]
) -> Iterator[SavedText]:
    """Yields the texts of these blocks by id that are to be saved: each that names its id, and
    has no private passage.
    """
    for id, block in blocks.items():
        if id in find_ids(block) and not has_private_tag(block):
            yield journal.saved_text(path, id, normalize_block(block))


def _end_rewrite(journal: Journal, draft: _Rewritten | None) -> Rewrite:
    """Says what was written, and lets the trash and the copies in `done/` follow."""
    if not draft:
        return Rewrite([], [])
    for written in draft.written if draft.comes_back else ():
        if written.after and not written.before and written.after.id not in draft.stays:
            mark_not_missed(journal.trash, written.after.id, (*UNDOABLE, *OF_EDITOR))
    for entry in draft.replaced:
        if entry.id not in draft.stays and journal.saved.path_of(entry.id).exists():
            with suppress(OSError):  # the file is written: the edit has succeeded
                journal.saved.forget(entry.id)
    return Rewrite(draft.replaced, draft.written)


class OpenedFile(NamedTuple):
    """A file as it was at the moment at which an editor was opened on it."""

    path: str
    at: datetime
    data: bytes
    status: Stat


def is_own_note(journal: JournalFiles, path: str) -> bool:
    """True for a note that Synaptic may change, and not only read."""
    return journal.roots.split_path(path)[0] in OWN and is_note(path)


def keep_opened(journal: Journal, path: str, *, waits: bool) -> OpenedFile | None:
    """Puts the texts of a file into the trash before a person's editor is opened on it; returns
    the file for `note_edit`, None for a file that is not there or that Synaptic never writes.

    Unless the editor surely `waits` for the person they may stay there, so equal ones are not
    kept twice. Raises Busy and JournalError.
    """
    if not is_own_note(journal, path) or not journal.stamp(path):
        return None
    with journal.writing():
        data, status = read_bytes(journal.roots, path)
        opened = OpenedFile(path, journal.clock(), data, status)
        parsed = journal.parse(path, data, status.st_mtime_ns)
        blocks = _blocks_by_id(path, data, parsed)
        pieces = [
            _piece_of(journal, path, entry, blocks[entry.id], status, "opened")._replace(
                at=opened.at
            )
            for entry in parsed.entries
        ]
        journal.trash.put(*pieces)
        if not waits:
            texts = {(piece.id, piece.text) for piece in pieces}
            _drop_opened(
                journal, lambda one: (one.id, one.text) in texts and one.at < opened.at
            )
    return opened


def note_edit(
    journal: Journal, opened: OpenedFile, *, waits: bool, is_run: bool = True
) -> list[str]:
    """Leaves in the trash, of the texts that `keep_opened` put there, those that stand no more;
    returns the ids of their entries. It comes when the editor has ended. Only what `is_run` can
    be undone as well.

    If nothing has changed and the editor may not have waited, all stay. A kill between the two
    steps leaves a text in the trash twice. Raises Busy and JournalError.
    """
    path, at, data, status = opened
    with journal.writing():
        text = b""
        status_now: Stat = None
        with suppress(NotFound):
            text, status_now = read_bytes(journal.roots, path)
        if text == data and not waits:
            return []
        was = journal.parse(path, data, status.st_mtime_ns if status else 0)
        before = _blocks_by_id(path, data, was)
        after = _blocks_by_id(path, text, journal.parse(path, text))
        became = _successors(before, after)
        pieces = []
        for entry in was.entries:
            block = before[entry.id]
            next_id = became.get(entry.id, "")
            new = after.get(next_id or entry.id, b"")
            if normalize_block(new) == normalize_block(block):
                continue
            piece = _piece_of(journal, path, entry, block, status, "editor")
            piece = _note_place(piece, was, data, new, text)
            left = file_hash(normalize_block(new)) if new else ""
            pieces.append(piece._replace(became=next_id, left=left))
        journal.trash.put(*pieces)
        if is_run and (text != data or not status_now):
            ids = [piece.id for piece in pieces]
            with acting(Actor(by="editor")), journal.doing("edit", entries=ids):
                draft = Draft(text if status_now else None, in_trash=True)
                journal.writer.note_changes((path, data, draft))
        _drop_opened(journal, lambda piece: (piece.path, piece.at) == (path, at))
    return [piece.became or piece.id for piece in pieces]


def _drop_opened(journal: Journal, drops: Callable[[TrashedText], bool]) -> None:
    """Drops from the trash the texts of this kind that an editor was opened on."""
    journal.trash.rewrite_pieces(
        lambda piece: None if piece.why == "opened" and drops(piece) else piece
    )


def _piece_of(
    journal: Journal, path: str, entry: Entry, block: bytes, status: Stat, why: Why
) -> TrashedText:
    """The text of an entry as a piece for the trash."""
    mode = stat.S_IMODE(status.st_mode) if entry.whole_file and status else None
    return TrashedText(entry.id, path, journal.clock(), why, entry.title, block, mode)


def _note_place(
    piece: TrashedText, was: ParsedFile, data: bytes, new: bytes, text: bytes
) -> TrashedText:
    """The piece with its place in the file, which held `data` and holds `text`, if nothing but
    the text of its entry became `new`. One that goes may take blank lines around it with it.
    Of a whole-file note that goes, `after` is noted in any case.
    """
    block = piece.text
    entry, start, _ = find_entry_span(was, piece.path, piece.id)
    length = len(data) - len(text) + len(new)
    for at in range(start, max(-1, start - 5), -1):
        former = data[at : at + length]
        is_same = former == block if new else former.strip(b"\r\n") == block.strip(b"\r\n")
        if is_same and data[:at] + new + data[at + length :] == text:
            return piece._replace(text=former, after=file_hash(text), offset=at)
    if entry.whole_file and not new:
        return piece._replace(after=file_hash(text))
    return piece


def _successors(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> dict[str, str]:
    """Maps the id of each entry that is gone to the id of the new one that stands in its place
    and has its time or most of its words: the id of a typed entry is made of its heading.
    """
    became: dict[str, str] = {}
    steps = SequenceMatcher(None, list(before), list(after), autojunk=False).get_opcodes()
    for _, gone_start, gone_end, start, end in steps:
        gone = [id for id in list(before)[gone_start:gone_end] if id not in after]
        new = [id for id in list(after)[start:end] if id not in before]
        for id in gone:
            one = next((one for one in new if _is_edit_of(before[id], after[one])), None)
            if one:
                became[id] = one
                new.remove(one)
    return became


def _is_edit_of(before: bytes, after: bytes) -> bool:
    opening = before.split()[:2]
    has_its_time = opening == after.split()[:2] and re.search(rb"\d", opening[-1]) is not None
    return has_its_time or is_later_text(after, before, ())


def _compare(path: str, was: ParsedFile, now: ParsedFile) -> Iterator[WrittenEntry]:
    """Yields each entry that one of these states of a file has."""
    before = {entry.id: entry for entry in was.entries}
    after = {entry.id: entry for entry in now.entries}
    for id in dict.fromkeys((*before, *after)):
        yield WrittenEntry(path, before.get(id), after.get(id))


def blocks_by_id(journal: JournalFiles, path: str) -> dict[str, bytes]:
    """The bytes of each entry of a file by its id; none of a file that is gone."""
    with suppress(NotFound):
        data, status = read_bytes(journal.roots, path)
        return _blocks_by_id(path, data, journal.parse(path, data, status.st_mtime_ns))
    return {}


def _blocks_by_id(path: str, data: bytes, file: ParsedFile) -> dict[str, bytes]:
    """The bytes of each entry by its id."""
    spans = [find_entry_span(file, path, entry.id) for entry in file.entries]
    return {entry.id: data[start:end] for entry, start, end in spans}
