"""Saves, edits, deletes and restores entries under one lock.

Every change of a file goes through `FileWriter.change`: this module only says what the new
bytes are. The latest text of an entry is kept in `.state/done/`, a replaced one in the trash.
"""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from threading import get_ident
from typing import NamedTuple

from ..config import Config
from ..errors import Busy, Changed, JournalError, NotFound, Refused
from ..files import real_path
from ..models import Entry, ParsedFile
from ..notes.blocks import TIMED_LINE, decode_as_latin1, usual_line_end
from ..notes.dates import date_in_path
from ..notes.frontmatter import match_front_matter
from ..notes.markdown import extend_note, extend_page, render_verified_block, rewrite_block
from ..notes.outline import convert_edit_to_blocks, is_outline
from ..notes.privacy import shows_private_text
from ..notes.reading import FENCED, IN_DOUBT, OPEN_FENCE, is_in_logseq_journals
from . import folder
from .comments import find_comment, find_ids
from .disk import disk_errors
from .journal_files import JournalFiles
from .runs import open_import_runs, open_rename_runs
from .saved import SavedText
from .stored_files import settle_stored_files
from .text import (
    block_to_append,
    end_of_entry_above,
    find_entry_span,
    id_above,
    insertion_offset,
    match_line_ends,
    normalize_block,
    normalized_entries,
)
from .trash import OF_EDITOR, UNDOABLE, TrashedText, Why, file_hash, has_vanished
from .writer import Draft, FileWriter, Stat
from .written_entry import WrittenEntry, find_in_parsed

LOCK_TIMEOUT_S = 5.0
"""The longest time for which a writer waits for one process that holds the lock."""


class Replacement(NamedTuple):
    """The entry that takes the place of another, with its block. None deletes the other."""

    entry: Entry | None
    block: bytes
    notices: Sequence[str] = ()


class Edited(NamedTuple):
    """The entry after an edit, or the deleted one; what was written; notices."""

    entry: Entry
    written: WrittenEntry
    notices: list[str]


class _Former(NamedTuple):
    """An entry before an edit, in the bytes `start` to `end` of its file."""

    path: str
    data: bytes
    status: os.stat_result
    parsed: ParsedFile
    entry: Entry
    start: int
    end: int

    @property
    def block(self) -> bytes:
        return self.data[self.start : self.end]

    def replaced_by(self, text: bytes) -> bytes:
        """The bytes of the file with this text in the place of the block."""
        return self.data[: self.start] + text + self.data[self.end :]

    def replaced_with_copies(self, text: bytes) -> bytes:
        """The same with the equal copies below replaced too, if the block holds its id."""
        rest = self.data[self.end :]
        if self.entry.id in find_ids(self.block):
            block = re.escape(self.block.rstrip(b"\r\n"))
            copy = rb"^%b[\r\n]*(?=#{1,2}[ \t]|\Z)" % block
            rest = re.sub(copy, lambda _: text, rest, flags=re.MULTILINE)
        return self.data[: self.start] + text + rest


@dataclass(frozen=True, kw_only=True)
class _EditedFile(Draft):
    """The bytes of a file after one of its entries was edited."""

    edited: Edited


Edit = Callable[[Entry, bytes], Replacement]
"""Returns what takes the place of an entry with this block."""

Check = Callable[[str, Entry | None], None]
"""Raises Refused if the entry of this id, None where it stands nowhere, may not be replaced."""


def make_replacement(
    old: Entry, block: bytes, new: Entry | None, agent: str, notices: Sequence[str] = ()
) -> Replacement:
    """Returns a Replacement of the entry `old`, whose bytes are `block`, by `new` (None deletes
    it). `agent` is the writer of the new text; "" is a person.
    """
    if not new or old.whole_file:
        return Replacement(new, b"", notices)
    return Replacement(new, rewrite_block(block, old, new, agent), notices)


def allow_any_change(id: str, present: Entry | None) -> None:
    """Allows every change."""


_VANISHED = (
    "An earlier update of {id} had vanished from its file; `synaptic doctor --restore "
    "{id}` brings it back."
)
_STILL_NAMED = (
    "`synaptic doctor` may name {id} as vanished: its copy in done/ could not be removed. "
    "Dismiss it there."
)


def _cannot_edit_note_error(where: str, file: Path, old: Entry, new: Entry) -> Refused:
    """The error of a whole-file note at `where`, in which `new` cannot stand for `old`."""
    hint = f"For any other change edit {file}."
    added = " #".join(tag for tag in new.tags if tag not in old.tags)
    if added:
        hint = f"Edit {file}, or write #{added} into its text."
    return Refused(
        f"{where} is one note without entry headings: you can append text to it, and add tags "
        "only where it has simple front matter of its own. Nothing was changed.",
        hint,
    )


class Journal(JournalFiles):
    """The journal with the right to change its files, and the state that Synaptic keeps beside
    it. Processes share it by a lock.
    """

    def __init__(self, config: Config, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        super().__init__(config)
        self.writer = FileWriter(self, config)
        self.prepare = self.writer.prepare
        self.doing = self.writer.doing
        self._lock_timeout_s = lock_timeout_s
        self._lock_holder = 0
        """The thread that has the write lock, or 0."""

    # -- saving

    def append(self, *entries: Entry, path: str = "") -> str:
        """Appends the entries to their file and returns its path; the file is synced.

        Without a path it is that of the first one's day. Raises Refused for a path in a root
        that is only read, Busy when another process holds the lock, and JournalError when the
        disk refuses. Then nothing was saved, unless the message says that it may have been.
        """
        path = path or self.path_of_day(entries[0].at)
        texts = tuple(
            self.saved_text(path, entry.id, render_verified_block(entry)) for entry in entries
        )

        def make(data: bytes, status: Stat) -> Draft:
            if not status:
                data = self.new_file_heading(path, texts[0].text)
            for text in texts:
                data += block_to_append(path, text.text, data)
            return Draft(data, texts)

        with disk_errors(self.state, "used"), self.writing():
            self.writer.change(path, make)
        return path

    def new_file_heading(self, path: str, block: bytes) -> bytes:
        """The heading of a new file that begins with this block."""
        name = PurePosixPath(path).stem
        for entry in self.parse(path, block, block=True).entries:
            if path == self.day_path(entry.at):
                name = entry.date
        return f"# {name}\n\n".encode().replace(b"\n", usual_line_end(block))

    def bare_days(self, path: str, block: bytes) -> tuple[bytes, ...]:
        """The bytes of which a day's file consists that holds no more than its heading, after
        this block left it; () for another file. Such a file goes.
        """
        named = date_in_path(path, self._config.day_file)
        if not named or not named.is_day or self._is_merged_by_git():
            return ()
        heading = self.new_file_heading(path, block)
        return heading, heading.removesuffix(usual_line_end(heading)), b""

    def _is_merged_by_git(self) -> bool:
        """True if git itself may merge the files of this journal: it takes a new day for the
        old one renamed, and puts there what another machine adds to the old day.
        """
        real = real_path(self.root)
        folders = () if self._config.sync.url else (real, *real.parents)
        return any(os.path.lexists(folder / ".git") for folder in folders)

    def bytes_left_by(self, piece: TrashedText, data: bytes) -> bytes | None:
        """The bytes that a piece left in its file, which now holds `data`; None if the file has
        changed since. A file that went, or that a kill emptied, had its heading.
        """
        candidates = (data,) if data else (b"", *self.bare_days(piece.path, piece.text))
        fitting = (one for one in candidates if file_hash(one) == piece.after)
        return next(fitting, None)

    def insert_texts(
        self, path: str, data: bytes, here: Sequence[Entry], texts: Mapping[str, bytes]
    ) -> bytes:
        """The file of these entries with each text of a new one before the first entry below
        that is later.
        """
        here = [entry for entry in here if not entry.whole_file]
        out = b""
        at = 0
        blocks = [self.parse_copy(id, path, text) for id, text in texts.items()]
        for new in sorted(blocks, key=lambda entry: entry.at):
            start = max(at, insertion_offset(new, here, len(data)))
            out += data[at:start]
            out = out + block_to_append(path, texts[new.id], out)
            at = start
        rest = data[at:]
        if not rest:
            return out
        return out + (b"\r\n" if out.endswith(b"\r\n") else b"\n") + rest

    # -- editing

    def edit(
        self,
        path: str,
        id: str,
        change: Callable[[Entry], Entry | None],
        *,
        keep: bool = True,
        agent: str = "",
    ) -> Edited:
        """Edits an entry in its file: returns it as `change` returned it, or the deleted entry
        if `change` returned None. The old text goes to the trash, if it is to be kept. `agent`
        names the agent that edits, so that its headings stay its own; "" is a person.

        Equal copies of the block in the same file change with it; everything else stays byte
        for byte. A notice says if an earlier update had vanished from the file. A whole-file
        note is only extended, or deleted with its file. Raises NotFound, Refused, Busy, Changed
        when the file changes during each try, and JournalError.
        """

        def replaced(old: Entry, block: bytes) -> Replacement:
            return make_replacement(old, block, change(old), agent)

        with self.writing():
            return self.replace_entry(
                path, id, replaced, "update" if keep else None, agent=agent
            )

    def replace_entry(
        self, path: str, id: str, change: Edit, why: Why | None, *, agent: str = ""
    ) -> Edited:
        """Replaces the block of an entry by the result of `change`, and returns the entry
        afterwards. Without `why` nothing goes to the trash. The lock is held, as by `writing`.
        """
        trashed: bytes | None = None  # by an attempt before this one
        has_vanished = False

        def make(data: bytes, status: Stat) -> _EditedFile:
            nonlocal trashed, has_vanished
            former = self._read_former(path, id, data, status)
            old = former.entry
            new, text, notices = change(old, former.block)
            if old.whole_file and why != "restore":
                new, text = self._edited_note(former, new, agent)
            after = former.replaced_with_copies(text)
            if not new:
                self.check_removal(path, former.parsed, old, former.block, after)
            if why and former.block != trashed:
                pieces = self._texts_to_trash(former, new, text, after, why)
                has_vanished |= any(piece.why == "vanished" for piece in pieces)
                self.trash.put(*pieces)
                trashed = former.block
            vanished = [_VANISHED.format(id=old.short_id)] if has_vanished else []
            written = self._written_entry(former, new, after, why)
            edited = Edited(new or old, written, [*notices, *vanished])
            saved: tuple[SavedText, ...] = ()
            if new and new.id in find_ids(text):
                saved = (self.saved_text(path, new.id, normalize_block(text)),)
            is_gone = not new and (
                old.whole_file or after in self.bare_days(path, former.block)
            )
            left = None if is_gone else after
            return _EditedFile(left, saved, edited=edited, in_trash=why is not None)

        draft = self.writer.change(path, make)
        edited = draft.edited
        if not draft.saved:
            try:
                self.saved.forget(edited.entry.id)
            except OSError:  # the entry is deleted: the edit has succeeded
                edited.notices.append(_STILL_NAMED.format(id=edited.entry.short_id))
        return edited

    def _read_former(self, path: str, id: str, data: bytes, status: Stat) -> _Former:
        """Finds an entry that is to be edited in the bytes of its file. Raises NotFound, and
        Refused in a root that is only read.
        """
        if not status:
            raise NotFound(
                f"The journal has no file {path}.",
                "It was moved or deleted; search for its entries again.",
            )
        parsed = self.parse(path, data, status.st_mtime_ns)
        entry, start, end = find_entry_span(parsed, path, id)
        folder.refuse_source(self.roots, path, entry.there.line)
        return _Former(path, data, status, parsed, entry, start, end)

    def _texts_to_trash(
        self, former: _Former, new: Entry | None, text: bytes, after: bytes, why: Why
    ) -> list[TrashedText]:
        """The pieces for the trash when `text` replaces an entry, after which the file holds
        `after`: an update that had vanished from the file, and the present block.
        """
        path, old, block = former.path, former.entry, former.block
        pieces = self.replaced_copy(old.id, old.title, text, block)
        if text == block:  # an update that was killed may be asked for again
            return pieces
        mode = stat.S_IMODE(former.status.st_mode) if old.whole_file else None
        reason = why if new else "delete"
        piece = TrashedText(old.id, path, self.clock(), reason, old.title, block, mode)
        piece = piece._replace(above=id_above(former.parsed, old.id))
        if after == former.replaced_by(text):  # no copy of the block changed with it
            piece = piece._replace(after=file_hash(after), offset=former.start)
        if new and new.id != old.id:
            piece = piece._replace(became=new.id)
        return [*pieces, piece]

    def _written_entry(
        self, former: _Former, new: Entry | None, after: bytes, why: Why | None
    ) -> WrittenEntry:
        """What an edit wrote: of a rule, and of a text from the trash, only what the file says
        then counts.
        """
        old = former.entry
        if new and (why == "restore" or "preference" in (old.type, new.type)):
            reread = self.parse(former.path, after, former.status.st_mtime_ns)
            return WrittenEntry(former.path, old, find_in_parsed(reread, new.id))
        return WrittenEntry(former.path, old, new)

    def check_removal(
        self, path: str, parsed: ParsedFile, old: Entry, block: bytes, after: bytes
    ) -> None:
        """Raises Refused where code fences leave in doubt which text is the entry's."""
        left = self.parse(path, after)
        if not any(issue.code in IN_DOUBT for issue in (*parsed.issues, *left.issues)):
            return
        first = old.there.line
        last = first + block.count(b"\n")
        own = {issue.code for issue in parsed.issues if first <= issue.line < last}
        hides_entry = OPEN_FENCE in own and TIMED_LINE.search(decode_as_latin1(block), 1)
        others = [(entry.title, entry.content) for entry in parsed.entries if entry is not old]
        changes_others = others != [(entry.title, entry.content) for entry in left.entries]
        if FENCED in own or hides_entry or (changes_others and not old.whole_file):
            raise Refused(
                f"{path}:{first} stands at a code fence that may be open, so its text may be "
                "another entry's. Nothing was deleted.",
                f"Close the fence, or delete the text, in {self.place(path)}.",
            )

    def _edited_note(
        self, former: _Former, new: Entry | None, agent: str
    ) -> tuple[Entry | None, bytes]:
        """Returns (`new` as it will be read from the file, the bytes of the whole-file note;
        none if it is deleted). Raises Refused if no such file says all else as before.
        """
        path, data, old = former.path, former.data, former.entry
        file = self.place(path)
        if is_in_logseq_journals(path) and old.content.startswith("-"):
            raise Refused(
                f"{path} is a day of Logseq, which would overwrite the change.", f"Edit {file}."
            )
        if not new:
            if len(former.block) < len(data):
                raise Refused(
                    f"{path} holds more than this note.", f"Delete its text in {file}."
                )
            return None, b""
        extend = partial(extend_note, former.block, old, new, agent=agent)
        if self._is_outline(path, old):
            begin = 3 if data.startswith(b"\xef\xbb\xbf") else 0
            has_front_matter = match_front_matter(data.decode("latin-1"), begin) is not None
            extended = convert_edit_to_blocks(old, new, has_front_matter=has_front_matter)
            if extended:
                new, blocks, tags = extended
                extend = partial(
                    extend_page,
                    former.block,
                    old.there.body_start - former.start,
                    blocks,
                    tags,
                    has_front_matter=has_front_matter,
                    agent=agent,
                )
        wanted = normalized_entries(
            new if entry.id == old.id else entry for entry in former.parsed.entries
        )
        for typed in (False, True):
            text = extend(typed=typed)
            read = self.parse(path, former.replaced_by(text), former.status.st_mtime_ns)
            if normalized_entries(read.entries) == wanted:
                reread, _, _ = find_entry_span(read, path, old.id)
                return replace(new, content=reread.content), text
        raise _cannot_edit_note_error(f"{path}:{old.there.line}", file, old, new)

    def _is_outline(self, path: str, note: Entry) -> bool:
        """True for a page of a Logseq graph in which each text is a block."""
        _, root, within = self.roots.split_path(path)
        in_graph = within.startswith("pages/") and (root / "logseq/config.edn").is_file()
        return in_graph and is_outline(note.content)

    def replaced_copy(
        self, id: str, title: str, coming: bytes, present: bytes
    ) -> list[TrashedText]:
        """Returns the text in `done/` that `coming` will replace, as a piece for the trash;
        none if the file or `coming` contains it too.
        """
        record = self.saved_copy(id)
        now = normalize_block(present)
        if (
            not record
            or record.text in (now, normalize_block(coming))
            or shows_private_text(record.text, now)
        ):
            return []
        pieces = [piece for piece in self.trashed() if piece.id == id]
        why: Why = "vanished" if has_vanished(now, record.text, pieces) else "edited"
        return [TrashedText(id, record.path, self.clock(), why, title, record.text)]

    # -- removing copies

    def purge(self, path: str, id: str) -> Entry | None:
        """Removes every copy of an entry; returns the deleted entry, or None if only copies
        were left. No copy stays in trash, done or runs.

        Raises JournalError if the entry is deleted but a copy may remain. The same purge again
        removes that copy.
        """
        entry = None
        had_copies = False
        left = {}
        with self.writing(), self.writer.unlogged():
            pieces = [piece for piece in self.trashed() if piece.id == id]
            present = self.find_or_none(path, id)
            texts = [*(piece.text for piece in pieces), *([present[0]] if present else [])]
            paths = {path, *(piece.path for piece in pieces)}
            purges: dict[str, Callable[[str], bool]] = {
                "changes": partial(self.log.purge, paths=paths, texts=texts),
                "trash.md": self.trash.purge,
                "done": self.saved.forget,
                "imports": open_import_runs(self.state).purge,
                "renames": open_rename_runs(self.state).purge,
            }
            with suppress(NotFound):
                entry = self.replace_entry(
                    path, id, lambda *_: Replacement(None, b""), None
                ).entry
            for name, purge in purges.items():
                try:
                    with disk_errors(self.state / name):
                        had_copies |= purge(id)
                except JournalError as error:
                    left[name] = error
        for first in left.values():
            raise JournalError(
                f"{path} no longer holds {id}, but copies may be left in {', '.join(left)}: "
                f"{first.message}",
                f"{first.hint} Then `synaptic delete {id} --purge --yes` again removes them.",
            )
        if not had_copies and not entry:
            raise NotFound(f"{path} has no entry {id}, and there is no copy of it.")
        return entry

    def purge_private_copies(self, path: str, data: bytes) -> None:
        """Removes the `open_copies` of the file. While another process writes they stay, and
        `doctor` names them.
        """
        with suppress(Busy, JournalError):
            if self.log.has_private(path, data):
                with self.writer.locked(0):
                    self.log.forget_private(path, data)
            copies = self.copies_with_private_text(path, data)
            if not copies:
                return
            with self.writer.locked(0):
                self.trash.rewrite_pieces(
                    lambda piece: (
                        None if (piece.id, normalize_block(piece.text)) in copies else piece
                    )
                )
                for id, block in copies:
                    text = self.saved.get(id)
                    if text and text.text == block:
                        self.saved.forget(id)

    # -- bringing back

    def restore(
        self, id: str, check: Check = allow_any_change, *, by_person: bool = True
    ) -> WrittenEntry:
        """Restores an entry to the newest text in the trash that differs from its present text;
        returns what was written.

        `id` may be short. A deleted entry is put back into its file. An updated entry gets its
        old text back, and the present text goes to the trash. `check` may refuse. Raises
        NotFound, which names ids in the trash, Refused where an agent would pin or unpin it
        by this or take back a person's edit, and Changed where an entry has changed since the
        edit.
        """
        places = self.paths_by_id()
        with self.writing():
            id, mine = self.pieces_of(id)
            newest = mine[0]
            id = newest.became or newest.id
            if newest.why in OF_EDITOR and not by_person:
                raise Refused(
                    "A person changed it in their editor, so only a person takes that back.",
                    f"`synaptic restore {id}`, in a terminal of their own.",
                )
            is_gone = newest.why == "delete" or (newest.why == "editor" and not newest.left)
            of_part = is_gone and newest.mode is None
            if of_part and self._is_as_after(newest):
                check(id, None)
                self.check_pin(newest, False, by_person)
                again = self._undo_deletion(newest)
                if again:
                    self.trash.mark_not_missed(newest.id, OF_EDITOR)
                    return again
            paths = dict.fromkeys((newest.path, places.get(id, newest.path)))
            if newest.mode is not None and newest.why == "delete":
                paths = {}  # no file is written over
            for path in paths:
                present = self.find_or_none(path, id)
                if present:
                    check(id, present[1])
                    self._check_left_by_editor(newest, *present)
                    return self._restore_older_text(path, *present, mine, by_person)
            check(id, None)
            self.check_pin(newest, False, by_person)
            if newest.mode is not None:
                return self._restore_file(newest, newest.mode)
            if id in places:
                raise Refused(
                    f"{places[id]} holds the comment of {id}, but no readable entry: nothing "
                    f"was restored.",
                    "It lost its heading or is private. `synaptic doctor` names the "
                    "line; mend or delete it.",
                )
            again = self.reinsert(self.saved_text_of_piece(newest), newest.above)
            self.trash.mark_not_missed(newest.id, OF_EDITOR)
            return again

    def _check_left_by_editor(self, piece: TrashedText, block: bytes, now: Entry) -> None:
        """Raises Changed if an entry is no longer as the editor left it that replaced the text
        of this piece. The error shows both texts, without private passages.
        """
        if not piece.left or file_hash(normalize_block(block)) == piece.left:
            return
        before = self.parse_copy(piece.id, piece.path, piece.text)
        raise Changed(
            f"{now.short_id} was changed since you edited it on {piece.at:%Y-%m-%d at %H:%M}; "
            "nothing was restored.",
            f"Take over what you need: `synaptic edit {now.short_id}`.\n\n"
            f"Now it reads:\n{now.title}\n{now.content}\n\n"
            f"Before the edit it read:\n{before.title}\n{before.content}",
        )

    def _is_as_after(self, piece: TrashedText) -> bool:
        """True if the file of a piece has not changed since the piece left it."""
        data = b""
        with suppress(NotFound):
            data = folder.read_bytes(self.roots, piece.path)[0]
        return self.bytes_left_by(piece, data) is not None

    def _undo_deletion(self, piece: TrashedText) -> WrittenEntry | None:
        """Puts a deleted entry back at its former position; returns None if the file has
        changed since.
        """
        saved: tuple[SavedText, ...] = ()
        if piece.id in find_ids(piece.text):
            saved = (self.saved_text(piece.path, piece.id, normalize_block(piece.text)),)

        def make(data: bytes, _: Stat) -> Draft | None:
            rest = self.bytes_left_by(piece, data)
            if rest is None:
                return None
            return Draft(rest[: piece.offset] + piece.text + rest[piece.offset :], saved)

        draft = self.writer.change(piece.path, make)
        if not draft:
            return None
        if not saved:
            self.trash.mark_not_missed(piece.id, UNDOABLE)
        return self._put_back(piece.id, piece.path, piece.text, draft)

    def _restore_older_text(
        self, path: str, block: bytes, entry: Entry, pieces: list[TrashedText], by_person: bool
    ) -> WrittenEntry:
        """Restores the newest of these trashed texts that differs from the present one and
        shows no private text; returns what was written.
        """
        now = normalize_block(block)
        for piece in pieces:
            if normalize_block(piece.text) != now and not shows_private_text(piece.text, block):
                self.check_pin(piece, entry.pin, by_person)
                exactly = entry.whole_file or self._is_as_after(piece)
                text = piece.text
                if not exactly and piece.why not in OF_EDITOR:
                    text = self.saved_text_of_piece(piece).text
                return self.replace_text(path, entry.id, text, exactly=exactly, to=piece.id)
        raise NotFound(
            f"{entry.id} is in {path}, and the trash holds no other text of it that may be "
            f"shown.",
            "`synaptic doctor` lists updates that vanished from the file.",
        )

    def replace_text(
        self, path: str, id: str, text: bytes, *, exactly: bool = False, to: str = ""
    ) -> WrittenEntry:
        """Replaces the text of an entry by `text`, whose id is `to`, and moves the old one to
        the trash; returns what was written. Without `exactly` the line ends stay.
        """

        def change(old: Entry, block: bytes) -> Replacement:
            is_exact = exactly or old.whole_file
            new = replace(old, id=to or id)
            return Replacement(new, text if is_exact else match_line_ends(block, text))

        return self.replace_entry(path, id, change, "restore").written

    def _restore_file(self, piece: TrashedText, mode: int) -> WrittenEntry:
        draft = Draft(piece.text, mode=mode)
        if not self.writer.change(piece.path, lambda _, status: None if status else draft):
            raise Refused(
                f"{self.place(piece.path)} is there already, and restore overwrites no file.",
                "Move it away and try again.",
            )
        self.trash.mark_not_missed(piece.id, (*UNDOABLE, *OF_EDITOR))
        return self._put_back(piece.id, piece.path, piece.text, draft)

    def _put_back(self, id: str, path: str, block: bytes, draft: Draft) -> WrittenEntry:
        """A text that came back into a file, as it is read in the bytes of the draft."""
        present = find_in_parsed(self.parse(path, draft.data or b""), id)
        return WrittenEntry(
            path, None, present or replace(self.parse_copy(id, path, block), id=id)
        )

    def check_pin(self, piece: TrashedText, pinned: bool, by_person: bool) -> None:
        entries = self.parse(piece.path, piece.text, block=True).entries
        if not by_person and any(entry.pin != pinned for entry in entries):
            raise Refused(
                "A person pinned or unpinned the entry since, so only a person may restore it."
            )

    def reinsert(self, text: SavedText, above: str = "") -> WrittenEntry:
        """Inserts a saved text into its file, which lacks the entry: in the order of time, or
        without a time below the entry that was `above`; returns what was written.
        """
        entry = self.parse_copy(text.id, text.path, text.text)
        self.trash.put(*self.replaced_copy(text.id, entry.title, text.text, b""))

        def make(data: bytes, status: Stat) -> Draft:
            if not status:
                data = self.new_file_heading(text.path, text.text)
            comment = find_comment(data, text.id)
            if comment >= 0:  # its text stands there and has lost its heading
                heading = text.text[: max(0, find_comment(text.text, text.id))]
                heading = heading.replace(b"\n", usual_line_end(data))
                return Draft(data[:comment] + heading + data[comment:], (text,))
            here = self.parse(text.path, data).entries
            texts = {text.id: text.text}
            start = None if entry.timed else end_of_entry_above(above, here)
            if start is None:
                return Draft(self.insert_texts(text.path, data, here, texts), (text,))
            head = self.insert_texts(text.path, data[:start], (), texts)
            rest = data[start:]
            return Draft(head + (usual_line_end(data) + rest if rest else b""), (text,))

        draft = self.writer.change(text.path, make)
        return self._put_back(text.id, text.path, text.text, draft)

    # -- the lock

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The write lock, as a context; within another such context it is held already. Raises
        Busy, as `locked` says.
        """
        if self._lock_holder == get_ident():
            yield
            return
        self.prepare()
        with self.writer.locked(self._lock_timeout_s):
            self._lock_holder = get_ident()
            try:
                settle_stored_files(self.writer)
                yield
            finally:
                self._lock_holder = 0
