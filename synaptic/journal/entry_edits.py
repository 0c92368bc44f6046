"""Edits and deletes an entry in its file. The old text goes to the trash."""

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..errors import Refused, Sentence
from ..files import real_path
from ..models import Entry, ParsedFile
from ..notes.blocks import TIMED_LINE, decode_as_latin1, usual_line_end
from ..notes.dates import date_in_path
from ..notes.extending import extend_note, extend_page
from ..notes.frontmatter import match_front_matter
from ..notes.markdown import rewrite_block
from ..notes.outline import convert_edit_to_blocks, is_outline
from ..notes.privacy import shows_private_text
from ..notes.reading import FENCED, IN_DOUBT, OPEN_FENCE, is_in_logseq_journals
from . import folder
from .comments import find_ids
from .journal import Journal
from .saved import SavedText
from .text import find_entry_span, normalize_block
from .trash import TrashedText, Why, file_hash
from .vanished import has_vanished
from .writer import Draft, Stat
from .written_entry import WrittenEntry, find_in_parsed

TOP = "top"
"""In the place of the id of the entry above the first one of a file."""
_VANISHED = (
    "An earlier update of {id} had vanished from its file; `synaptic doctor --restore "
    "{id}` brings it back."
)
_STILL_NAMED = (
    "`synaptic doctor` may name {id} as vanished: its copy in done/ could not be removed. "
    "Dismiss it there."
)


class Replacement(NamedTuple):
    """The entry that takes the place of another, with its block. None deletes the other."""

    entry: Entry | None
    block: bytes
    notices: Sequence[str] = ()


Edit = Callable[[Entry, bytes], Replacement]
"""Returns what takes the place of an entry with this block."""


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


def edit_entry(
    journal: Journal,
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

    with journal.writing():
        return replace_entry(
            journal, path, id, replaced, "update" if keep else None, agent=agent
        )


def make_replacement(
    old: Entry, block: bytes, new: Entry | None, agent: str, notices: Sequence[str] = ()
) -> Replacement:
    """Returns a Replacement of the entry `old`, whose bytes are `block`, by `new` (None deletes
    it). `agent` is the writer of the new text; "" is a person.
    """
    if not new or old.whole_file:
        return Replacement(new, b"", notices)
    return Replacement(new, rewrite_block(block, old, new, agent), notices)


def replace_entry(
    journal: Journal, path: str, id: str, change: Edit, why: Why | None, *, agent: str = ""
) -> Edited:
    """Replaces the block of an entry by the result of `change`, and returns the entry
    afterwards. Without `why` nothing goes to the trash. The lock is held, as by `writing`.
    """
    trashed: bytes | None = None  # by an attempt before this one
    has_vanished = False

    def make(data: bytes, status: Stat) -> _EditedFile:
        nonlocal trashed, has_vanished
        former = _read_former(journal, path, id, data, status)
        old = former.entry
        new, text, notices = change(old, former.block)
        if old.whole_file and why != "restore":
            new, text = _edited_note(journal, former, new, agent)
        after = former.replaced_with_copies(text)
        if not new:
            check_removal(journal, path, former.parsed, old, former.block, after)
        if why and former.block != trashed:
            pieces = _texts_to_trash(journal, former, new, text, after, why)
            has_vanished |= any(piece.why == "vanished" for piece in pieces)
            journal.trash.put(*pieces)
            trashed = former.block
        vanished = [Sentence(_VANISHED, id=old.short_id)] if has_vanished else []
        written = _written_entry(journal, former, new, after, why)
        edited = Edited(new or old, written, [*notices, *vanished])
        saved: tuple[SavedText, ...] = ()
        if new and new.id in find_ids(text):
            saved = (journal.saved_text(path, new.id, normalize_block(text)),)
        is_gone = not new and (
            old.whole_file or after in bare_days(journal, path, former.block)
        )
        left = None if is_gone else after
        return _EditedFile(left, saved, edited=edited, in_trash=why is not None)

    draft = journal.writer.change(path, make)
    edited = draft.edited
    if not draft.saved:
        try:
            journal.saved.forget(edited.entry.id)
        except OSError:  # the entry is deleted: the edit has succeeded
            edited.notices.append(Sentence(_STILL_NAMED, id=edited.entry.short_id))
    return edited


def _read_former(journal: Journal, path: str, id: str, data: bytes, status: Stat) -> _Former:
    """Finds an entry that is to be edited in the bytes of its file. Raises NotFound, and
    Refused in a root that is only read.
    """
    if not status:
        raise folder.no_file_error(path)
    parsed = journal.parse(path, data, status.st_mtime_ns)
    entry, start, end = find_entry_span(parsed, path, id)
    is_text = not folder.is_note(path)
    folder.refuse_source(journal.roots, path, entry.there.line, is_text=is_text)
    return _Former(path, data, status, parsed, entry, start, end)


def _texts_to_trash(
    journal: Journal, former: _Former, new: Entry | None, text: bytes, after: bytes, why: Why
) -> list[TrashedText]:
    """The pieces for the trash when `text` replaces an entry, after which the file holds
    `after`: an update that had vanished from the file, and the present block.
    """
    path, old, block = former.path, former.entry, former.block
    pieces = replaced_copy(journal, old.id, old.title, text, block)
    if text == block:  # an update that was killed may be asked for again
        return pieces
    mode = stat.S_IMODE(former.status.st_mode) if old.whole_file else None
    reason = why if new else "delete"
    piece = TrashedText(old.id, path, journal.clock(), reason, old.title, block, mode)
    piece = piece._replace(above=id_above(former.parsed, old.id))
    if after == former.replaced_by(text):  # no copy of the block changed with it
        piece = piece._replace(after=file_hash(after), offset=former.start)
    if new and new.id != old.id:
        piece = piece._replace(became=new.id)
    return [*pieces, piece]


def replaced_copy(
    journal: Journal, id: str, title: str, coming: bytes, present: bytes
) -> list[TrashedText]:
    """Returns the text in `done/` that `coming` will replace, as a piece for the trash;
    none if the file or `coming` contains it too.
    """
    record = journal.saved_copy(id)
    now, new = map(normalize_block, (present, coming))
    if not record or record.text in (now, new) or shows_private_text(record.text, now):
        return []
    pieces = [piece for piece in journal.trashed() if piece.id == id]
    # it may come back with what was added to it by hand
    has_grown = not Counter(record.text.split()) - Counter(new.split())
    is_lost = has_vanished(now, record.text, pieces) and not has_grown
    why: Why = "vanished" if is_lost else "edited"
    return [TrashedText(id, record.path, journal.clock(), why, title, record.text)]


def _written_entry(
    journal: Journal, former: _Former, new: Entry | None, after: bytes, why: Why | None
) -> WrittenEntry:
    """What an edit wrote: of a rule, and of a text from the trash, only what the file says
    then counts.
    """
    old = former.entry
    if new and (why == "restore" or "preference" in (old.type, new.type)):
        reread = journal.parse(former.path, after, former.status.st_mtime_ns)
        return WrittenEntry(former.path, old, find_in_parsed(reread, new.id))
    return WrittenEntry(former.path, old, new)


def check_removal(
    journal: Journal, path: str, parsed: ParsedFile, old: Entry, block: bytes, after: bytes
) -> None:
    """Raises Refused where code fences leave in doubt which text is the entry's."""
    left = journal.parse(path, after)
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
            "{path}:{first} stands at a code fence that may be open, so its text "
            "may be another entry's. Nothing was deleted.",
            "Close the fence, or delete the text, in {place}.",
            path=path,
            first=first,
            place=journal.place(path),
        )


def _edited_note(
    journal: Journal, former: _Former, new: Entry | None, agent: str
) -> tuple[Entry | None, bytes]:
    """Returns (`new` as it will be read from the file, the bytes of the whole-file note;
    none if it is deleted). Raises Refused if no such file says all else as before.
    """
    path, data, old = former.path, former.data, former.entry
    file = journal.place(path)
    if is_in_logseq_journals(path) and old.content.startswith("-"):
        raise Refused(
            "{path} is a day of Logseq, which would overwrite the change.",
            "Edit {file}.",
            path=path,
            file=file,
        )
    if not new:
        if len(former.block) < len(data):
            raise Refused(
                "{path} holds more than this note.",
                "Delete its text in {file}.",
                path=path,
                file=file,
            )
        return None, b""
    extend = partial(extend_note, former.block, old, new, agent=agent)
    if _is_outline(journal, path, old):
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
    wanted = _normalize_entries(
        new if entry.id == old.id else entry for entry in former.parsed.entries
    )
    for typed in (False, True):
        text = extend(typed=typed)
        read = journal.parse(path, former.replaced_by(text), former.status.st_mtime_ns)
        if _normalize_entries(read.entries) == wanted:
            reread, _, _ = find_entry_span(read, path, old.id)
            return replace(new, content=reread.content), text
    raise _cannot_edit_note_error(f"{path}:{old.there.line}", file, old, new)


def _is_outline(journal: Journal, path: str, note: Entry) -> bool:
    """True for a page of a Logseq graph in which each text is a block."""
    _, root, within = journal.roots.split_path(path)
    in_graph = within.startswith("pages/") and (root / "logseq/config.edn").is_file()
    return in_graph and is_outline(note.content)


def _cannot_edit_note_error(where: str, file: Path, old: Entry, new: Entry) -> Refused:
    """The error of a whole-file note at `where`, in which `new` cannot stand for `old`."""
    hint = Sentence("For any other change edit {file}.", file=file)
    added = " #".join(tag for tag in new.tags if tag not in old.tags)
    if added:
        hint = Sentence("Edit {file}, or write #{added} into its text.", file=file, added=added)
    return Refused(
        "{where} is one note without entry headings: you can append text to it, "
        "and add tags only where it has simple front matter of its own. Nothing "
        "was changed.",
        hint,
        where=where,
    )


def bare_days(journal: Journal, path: str, block: bytes) -> tuple[bytes, ...]:
    """The bytes of which a day's file consists that holds no more than its heading, after
    this block left it; () for another file. Such a file goes.
    """
    named = date_in_path(path, journal._config.day_file)
    if not named or not named.is_day or _is_merged_by_git(journal):
        return ()
    heading = journal.new_file_heading(path, block)
    return heading, heading.removesuffix(usual_line_end(heading)), b""


def _is_merged_by_git(journal: Journal) -> bool:
    """True if git itself may merge the files of this journal: it takes a new day for the
    old one renamed, and puts there what another machine adds to the old day.
    """
    real = real_path(journal.root)
    folders = () if journal._config.sync.url else (real, *real.parents)
    return any(os.path.lexists(folder / ".git") for folder in folders)


def _normalize_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Copies of the entries with sorted tags, and without blank lines and blanks at the end of
    a line, to be compared.
    """
    return [
        replace(
            entry,
            tags=tuple(sorted(entry.tags)),
            content="\n".join(filter(None, map(str.rstrip, entry.content.split("\n")))),
        )
        for entry in entries
    ]


def id_above(file: ParsedFile, id: str) -> str:
    """The id of the entry above the entry with this id, or TOP."""
    above = TOP
    for entry in file.entries:
        if entry.id == id:
            break
        above = entry.id
    return above
