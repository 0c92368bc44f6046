"""Moves an entry to another day or time of the journal, and back.

| the entry stands in             | another day                    | another time of that day  |
|---------------------------------|--------------------------------|---------------------------|
| the file of its day             | goes to the file of that day   | goes to its place there   |
| a file without a date, with its | stays; the date in its comment | stays; likewise           |
| own in its comment              | is changed                     |                           |
| any other file                  | refused                        | refused                   |

The new place is written before the old one: after a kill between the two the entry stands
twice, and never nowhere. `undo_move` then takes it out of the new file, and the same move
again out of the old one. A day of which only the heading is left goes with its last entry; a
move back makes it again.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from ..errors import Changed, Refused, Sentence, SynapticError
from ..models import Entry
from .comments import find_ids
from .entry_edits import Edit, Edited, Replacement, bare_days, check_removal, replaced_copy
from .journal import Journal
from .journal_files import JournalFiles
from .restoring import (
    Check,
    bytes_left_by,
    check_pin_stays,
    find_pieces,
    insert_texts,
    parse_copy,
    saved_text_of_piece,
)
from .saved import SavedText
from .text import block_to_append, find_entry_span, normalize_block
from .trash import TrashedText, Why, file_hash
from .writer import Draft, Stat
from .written_entry import WrittenEntry, find_in_parsed


def file_at(journal: JournalFiles, entry: Entry, moment: datetime) -> str:
    """The path of the file to which an entry belongs if it happened at `moment`. Raises Refused
    for an entry whose date stands elsewhere than in its own lines.
    """
    path = entry.path
    where = f"{path}:{entry.there.line}"
    hint = Sentence("Change the date in {path}.", path=journal.place(path))
    if entry.whole_file:
        raise Refused("{where} is a note without a heading with a time.", hint, where=where)
    if entry.date_source == "comment":
        return path
    if entry.date_source not in ("file", "front-matter"):
        message = "{where} has its date in its heading."
        if entry.date_source == "mtime":
            message = "{where} has no date."
        raise Refused(message, hint, where=where)
    if moment.date() == entry.at.date():
        return path
    if journal.path_of_day(entry.at) != path:
        raise Refused(
            "{where} has the date of its file, which is not the file of a day.",
            hint,
            where=where,
        )
    return journal.path_of_day(moment)


@dataclass(frozen=True)
class _Move:
    """An entry on its way: as it will read, its bytes in the file `path`, and its text for the
    file `target`. `origin` is the piece of the trash to which it goes back.
    """

    journal: Journal
    entry: Entry
    path: str
    block: bytes
    target: str
    text: bytes
    origin: TrashedText | None

    def take_out(self, data: bytes) -> bytes:
        """The bytes of the old file without the entry. Raises Changed if it has another text
        meanwhile.
        """
        parsed = self.journal.parse(self.path, data)
        end = find_entry_span(parsed, self.path, self.entry.id)[2]
        start = end - len(self.block)
        if data[start:end] != self.block:
            raise Changed(
                "{path} changed while the entry was moved; nothing was written.",
                "Try again.",
                path=self.path,
            )
        return data[:start] + data[end:]

    def put_in(self, data: bytes) -> Draft:
        """The new file with the entry. Raises Refused if it holds another text of this id, or
        would not read as before.
        """
        if self.origin and file_hash(data) == self.origin.after:
            at = self.origin.offset
            return self._draft(data[:at] + self.origin.text + data[at:], self.origin.text)
        id = self.entry.id
        here = self.journal.parse(self.target, data)
        if any(entry.id == id for entry in here.entries):  # a killed move left it there
            _, start, end = find_entry_span(here, self.target, id)
            block = normalize_block(data[start:end])
            origin = normalize_block(self.origin.text) if self.origin else b""
            if block in (self.text, origin):
                return self._draft(data, block)
            raise Refused(
                "{target} holds another text of {id}; nothing was moved.",
                "Make the two one text, and try again.",
                target=self.target,
                id=id,
            )
        if not self.entry.at.microsecond:
            texts = {id: self.text}
            after = insert_texts(self.journal, self.target, data, here.entries, texts)
        else:
            after = data + block_to_append(self.target, self.text, data)
        entries = {one.id: one for one in self.journal.parse(self.target, after).entries}
        own = entries.pop(id, None)
        reads = own and (own.title, own.content, own.date, own.timed and own.time)
        wanted = self.entry
        is_right = reads == (
            wanted.title,
            wanted.content,
            wanted.date,
            wanted.timed and wanted.time,
        )
        others = {one.id: one.content for one in entries.values()}
        if not is_right or others != {one.id: one.content for one in here.entries}:
            raise Refused(
                "{target} would read otherwise with this entry; nothing was moved.",
                "Close the code fence or the comment that is open there, and try again.",
                target=self.target,
            )
        return self._draft(after, self.text)

    def beginning(self) -> bytes:
        """The bytes above the entry in the new file, which does not exist, or is empty."""
        left = bytes_left_by(self.journal, self.origin, b"") if self.origin else None
        if left is not None:
            return left
        return self.journal.new_file_heading(self.target, self.text)

    def _draft(self, data: bytes, text: bytes) -> Draft:
        """The next bytes of the new file, in which the entry has this text."""
        return Draft(data, self.copy_for_done(self.target, text))

    def copy_for_done(self, path: str, text: bytes) -> tuple[SavedText, ...]:
        """The copy of a text in this file for `done/`; none if it does not name its id."""
        if self.entry.id not in find_ids(text):
            return ()
        return (self.journal.saved_text(path, self.entry.id, normalize_block(text)),)


def move_entry(
    journal: Journal,
    path: str,
    id: str,
    target: str,
    change: Edit,
    why: Why = "update",
    origin: TrashedText | None = None,
) -> Edited:
    """Moves an entry, as `change` returns it, from the file `path` to its place in the file
    `target`, which may be the same; the old text goes to the trash. The lock is held. `origin`
    is the piece of the trash to which an undo brings it back.

    Raises NotFound, Refused, Changed if an editor changes a file meanwhile, and JournalError.
    """
    data = journal.read(path)
    parsed = journal.parse(path, data)
    old, start, end = find_entry_span(parsed, path, id)
    new, text, notices = change(old, data[start:end])
    assert new
    goes = data[:start] + data[end:] in bare_days(journal, path, data[start:end])
    if end == len(data) and not goes:  # the blank line above it goes, too
        start -= _blank_line_above(data[:start])
    block = data[start:end]
    rest = data[:start] + data[end:]
    check_removal(journal, path, parsed, old, block, rest)
    piece = TrashedText(old.id, path, journal.clock(), why, old.title, block)
    piece = piece._replace(after=file_hash(rest), offset=start, moved_to=target)
    journal.trash.put(*replaced_copy(journal, old.id, old.title, text, block), piece)
    if journal.writer.deed:
        journal.writer.deed.is_durable = True  # the trash holds what the two files lose
    move = _Move(journal, new, path, block, target, normalize_block(text), origin)
    if target == path:
        draft = journal.writer.change(path, lambda data, _: move.put_in(move.take_out(data)))
    else:
        draft = _write_both(move)
    if not draft.saved:
        with suppress(OSError):  # the files are written: the move has succeeded
            journal.saved.forget(old.id)
    now = journal.parse(target, draft.data or b"")
    return Edited(new, WrittenEntry(target, old, find_in_parsed(now, new.id)), list(notices))


def _blank_line_above(above: bytes) -> int:
    """The number of bytes of the blank line with which these bytes end; 0 without one."""
    for line_end in (b"\r\n", b"\n"):
        if above.endswith(line_end * 2):
            return len(line_end)
    return 0


def _write_both(move: _Move) -> Draft:
    """Writes the entry into the new file, and then the old one without it. If that fails, and
    the entry still stands in the old one, the new file becomes what it was. Returns the draft
    of the new file.
    """
    change = move.journal.writer.change
    before: bytes | None = None

    def put(data: bytes, status: Stat) -> Draft:
        nonlocal before
        before = data if status else None
        return move.put_in(data or move.beginning())

    draft = change(move.target, put)

    def take_back(data: bytes, _: Stat) -> Draft | None:
        if data != draft.data:
            return None
        return Draft(before, move.copy_for_done(move.path, move.block))

    def take_out(data: bytes, _: Stat) -> Draft:
        rest = move.take_out(data)
        goes = rest in bare_days(move.journal, move.path, move.block)
        return Draft(None if goes else rest)

    try:
        change(move.path, take_out)
    except SynapticError:
        if move.journal.find_or_none(move.path, move.entry.id):
            change(move.target, take_back)
        raise
    return draft


def undo_move(
    journal: Journal, id: str, check: Check, *, by_person: bool
) -> WrittenEntry | None:
    """Takes an entry, whose id may be short, back to where its last change moved it from, with
    its text of then; None if its last change did not move it.

    The present text goes to the trash, so that the undo can be undone. `check` may refuse.
    """
    with journal.writing():
        id, pieces = find_pieces(journal, id)
        piece = pieces[0]
        present = journal.find_or_none(piece.moved_to, id) if piece.moved_to else None
        if not present:
            return None
        check(id, present[1])
        check_pin_stays(journal, piece, present[1].pin, by_person)
        text = saved_text_of_piece(journal, piece).text
        entry = replace(parse_copy(journal, id, piece.path, text), id=id)

        def change(old: Entry, block: bytes) -> Replacement:
            return Replacement(entry, text)

        moved = move_entry(journal, piece.moved_to, id, piece.path, change, "restore", piece)
        return moved.written
