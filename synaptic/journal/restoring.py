"""Brings texts back from the trash and from done/."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ..errors import Ambiguous, Changed, NotFound, Refused, Sentence
from ..models import Entry
from ..notes.blocks import usual_line_end
from ..notes.markdown import rewrite_block
from ..notes.privacy import shows_private_text
from . import folder
from .comments import find_ids, iter_comments
from .entry_edits import TOP, Replacement, bare_days, replace_entry, replaced_copy
from .journal import Journal
from .journal_files import JournalFiles
from .saved import SavedText
from .text import block_to_append, normalize_block
from .trash import Trash, TrashedText, Why, file_hash
from .writer import Draft, Stat
from .written_entry import WrittenEntry, find_in_parsed

Check = Callable[[str, Entry | None], None]
"""Raises Refused if the entry of this id, None where it stands nowhere, may not be replaced."""

_BLANK = b"\xef\xbb\xbf \t\r\n"
OF_EDITOR: tuple[Why, ...] = ("opened", "editor")
UNDOABLE: tuple[Why, ...] = ("delete", "undone", "update")
"""The reasons that mark a text as not missed: it need not return to the journal."""


def allow_any_change(id: str, present: Entry | None) -> None:
    """Allows every change."""


def restore_entry(
    journal: Journal, id: str, check: Check = allow_any_change, *, by_person: bool = True
) -> WrittenEntry:
    """Restores an entry to the newest text in the trash that differs from its present text;
    returns what was written.

    `id` may be short. A deleted entry is put back into its file. An updated entry gets its
    old text back, and the present text goes to the trash. `check` may refuse. Raises
    NotFound, which names ids in the trash, Refused where an agent would pin or unpin it
    by this or take back a person's edit, and Changed where an entry has changed since the
    edit.
    """
    places = paths_by_id(journal)
    with journal.writing():
        id, mine = find_pieces(journal, id)
        newest = mine[0]
        id = newest.became or newest.id
        if newest.why in OF_EDITOR and not by_person:
            raise Refused(
                "A person changed it in their editor, so only a person takes that back.",
                "`synaptic restore {id}`, in a terminal of their own.",
                id=id,
            )
        is_gone = newest.why == "delete" or (newest.why == "editor" and not newest.left)
        of_part = is_gone and newest.mode is None
        if of_part and _is_as_after(journal, newest):
            check(id, None)
            check_pin_stays(journal, newest, False, by_person)
            again = _undo_deletion(journal, newest)
            if again:
                mark_not_missed(journal.trash, newest.id, OF_EDITOR)
                return again
        paths = dict.fromkeys((newest.path, places.get(id, newest.path)))
        if newest.mode is not None and newest.why == "delete":
            paths = {}  # no file is written over
        for path in paths:
            present = journal.find_or_none(path, id)
            if present:
                check(id, present[1])
                _check_left_by_editor(journal, newest, *present)
                return _restore_older_text(journal, path, *present, mine, by_person)
        check(id, None)
        check_pin_stays(journal, newest, False, by_person)
        if newest.mode is not None:
            return _restore_file(journal, newest, newest.mode)
        if id in places:
            raise Refused(
                "{place} holds the comment of {id}, but no readable entry: "
                "nothing was restored.",
                "It lost its heading or is private. `synaptic doctor` names the "
                "line; mend or delete it.",
                place=places[id],
                id=id,
            )
        again = reinsert_text(journal, saved_text_of_piece(journal, newest), newest.above)
        mark_not_missed(journal.trash, newest.id, OF_EDITOR)
        return again


def _check_left_by_editor(
    journal: Journal, piece: TrashedText, block: bytes, now: Entry
) -> None:
    """Raises Changed if an entry is no longer as the editor left it that replaced the text
    of this piece. The error shows both texts, without private passages.
    """
    if not piece.left or file_hash(normalize_block(block)) == piece.left:
        return
    before = parse_copy(journal, piece.id, piece.path, piece.text)
    raise Changed(
        "{short_id} was changed since you edited it on {day} at {time}; nothing was restored.",
        "Take over what you need: `synaptic edit {short_id}`.\n\nNow it reads:\n"
        "{title}\n{content}\n\nBefore the edit it read:\n{old_title}\n{old_content}",
        short_id=now.short_id,
        day=f"{piece.at:%Y-%m-%d}",
        time=f"{piece.at:%H:%M}",
        title=now.title,
        content=now.content,
        old_title=before.title,
        old_content=before.content,
    )


def _is_as_after(journal: Journal, piece: TrashedText) -> bool:
    """True if the file of a piece has not changed since the piece left it."""
    data = b""
    with suppress(NotFound):
        data = folder.read_bytes(journal.roots, piece.path)[0]
    return bytes_left_by(journal, piece, data) is not None


def bytes_left_by(journal: Journal, piece: TrashedText, data: bytes) -> bytes | None:
    """The bytes that a piece left in its file, which now holds `data`; None if the file has
    changed since. A file that went, or that a kill emptied, had its heading.
    """
    candidates = (data,) if data else (b"", *bare_days(journal, piece.path, piece.text))
    fitting = (one for one in candidates if file_hash(one) == piece.after)
    return next(fitting, None)


def _undo_deletion(journal: Journal, piece: TrashedText) -> WrittenEntry | None:
    """Puts a deleted entry back at its former position; returns None if the file has
    changed since.
    """
    saved: tuple[SavedText, ...] = ()
    if piece.id in find_ids(piece.text):
        saved = (journal.saved_text(piece.path, piece.id, normalize_block(piece.text)),)

    def make(data: bytes, _: Stat) -> Draft | None:
        rest = bytes_left_by(journal, piece, data)
        if rest is None:
            return None
        return Draft(rest[: piece.offset] + piece.text + rest[piece.offset :], saved)

    draft = journal.writer.change(piece.path, make)
    if not draft:
        return None
    if not saved:
        mark_not_missed(journal.trash, piece.id, UNDOABLE)
    return _put_back(journal, piece.id, piece.path, piece.text, draft)


def _restore_older_text(
    journal: Journal,
    path: str,
    block: bytes,
    entry: Entry,
    pieces: list[TrashedText],
    by_person: bool,
) -> WrittenEntry:
    """Restores the newest of these trashed texts that differs from the present one and
    shows no private text; returns what was written.
    """
    now = normalize_block(block)
    for piece in pieces:
        if normalize_block(piece.text) != now and not shows_private_text(piece.text, block):
            check_pin_stays(journal, piece, entry.pin, by_person)
            exactly = entry.whole_file or _is_as_after(journal, piece)
            text = piece.text
            if not exactly and piece.why not in OF_EDITOR:
                text = saved_text_of_piece(journal, piece).text
            return replace_text(journal, path, entry.id, text, exactly=exactly, to=piece.id)
    raise NotFound(
        "{id} is in {path}, and the trash holds no other text of it that may be shown.",
        "`synaptic doctor` lists updates that vanished from the file.",
        id=entry.id,
        path=path,
    )


def replace_text(
    journal: Journal, path: str, id: str, text: bytes, *, exactly: bool = False, to: str = ""
) -> WrittenEntry:
    """Replaces the text of an entry by `text`, whose id is `to`, and moves the old one to
    the trash; returns what was written. Without `exactly` the line ends stay.
    """

    def change(old: Entry, block: bytes) -> Replacement:
        is_exact = exactly or old.whole_file
        new = replace(old, id=to or id)
        return Replacement(new, text if is_exact else match_line_ends(block, text))

    return replace_entry(journal, path, id, change, "restore").written


def _restore_file(journal: Journal, piece: TrashedText, mode: int) -> WrittenEntry:
    """Writes a whole-file note where no file is, an empty one, or what the editor left."""
    draft = Draft(piece.text, mode=mode)

    def make(data: bytes, _: Stat) -> Draft | None:
        is_as_left = piece.after == file_hash(data)
        return draft if is_as_left or not data.strip(_BLANK) else None

    if not journal.writer.change(piece.path, make):
        raise Refused(
            "{place} is there already, and restore overwrites no file.",
            "Move it away and try again.",
            place=journal.place(piece.path),
        )
    mark_not_missed(journal.trash, piece.id, (*UNDOABLE, *OF_EDITOR))
    return _put_back(journal, piece.id, piece.path, piece.text, draft)


def check_pin_stays(
    journal: Journal, piece: TrashedText, pinned: bool, by_person: bool
) -> None:
    entries = journal.parse(piece.path, piece.text, block=True).entries
    if not by_person and any(entry.pin != pinned for entry in entries):
        raise Refused(
            "A person pinned or unpinned the entry since, so only a person may restore it."
        )


def reinsert_text(journal: Journal, text: SavedText, above: str = "") -> WrittenEntry:
    """Inserts a saved text into its file, which lacks the entry: in the order of time, or
    without a time below the entry that was `above`; returns what was written.
    """
    entry = parse_copy(journal, text.id, text.path, text.text)
    journal.trash.put(*replaced_copy(journal, text.id, entry.title, text.text, b""))

    def make(data: bytes, status: Stat) -> Draft:
        if not status:
            data = journal.new_file_heading(text.path, text.text)
        comment = _find_comment(data, text.id)
        if comment >= 0:  # its text stands there and has lost its heading
            heading = text.text[: max(0, _find_comment(text.text, text.id))]
            heading = heading.replace(b"\n", usual_line_end(data))
            return Draft(data[:comment] + heading + data[comment:], (text,))
        here = journal.parse(text.path, data).entries
        texts = {text.id: text.text}
        start = None if entry.timed else end_of_entry_above(above, here)
        if start is None:
            return Draft(insert_texts(journal, text.path, data, here, texts), (text,))
        head = insert_texts(journal, text.path, data[:start], (), texts)
        rest = data[start:]
        return Draft(head + (usual_line_end(data) + rest if rest else b""), (text,))

    draft = journal.writer.change(text.path, make)
    return _put_back(journal, text.id, text.path, text.text, draft)


def insert_texts(
    journal: Journal, path: str, data: bytes, here: Sequence[Entry], texts: Mapping[str, bytes]
) -> bytes:
    """The file of these entries with each text of a new one before the first entry below
    that is later.
    """
    here = [entry for entry in here if not entry.whole_file]
    out = b""
    at = 0
    blocks = [parse_copy(journal, id, path, text) for id, text in texts.items()]
    for new in sorted(blocks, key=lambda entry: entry.at):
        start = max(at, insertion_offset(new, here, len(data)))
        out += data[at:start]
        out = out + block_to_append(path, texts[new.id], out)
        at = start
    rest = data[at:]
    if not rest:
        return out
    return out + (b"\r\n" if out.endswith(b"\r\n") else b"\n") + rest


def end_of_entry_above(above: str, here: Sequence[Entry]) -> int | None:
    """The offset at which an entry belongs that stood below the one with this id, or at the
    TOP; None where that one is gone, or is a note without a heading.
    """
    if above == TOP and here and not here[0].whole_file:
        return here[0].there.start
    ends = (entry.there.end for entry in here if entry.id == above and not entry.whole_file)
    return next(ends, None)


def insertion_offset(new: Entry, here: Sequence[Entry], end: int) -> int:
    """The offset at which an entry belongs: before the first of `here` that is later.

    In a diary in one file, which may begin with its latest day, it is below the entry before
    that: a heading of a month may stand between the two.
    """
    in_diary = new.date_source == "heading"
    latest_first = in_diary and len(here) > 1 and here[0].at > here[-1].at
    above = 0
    for entry in here:
        if entry.at < new.at if latest_first else entry.at > new.at:
            return above or entry.there.start
        if in_diary:
            above = entry.there.end
    return end


def match_line_ends(present: bytes, text: bytes) -> bytes:
    """Returns `text` with the line ends of `present` and its number of line ends at the end."""
    eol = usual_line_end(present)
    ends = present[len(present.rstrip(b"\r\n")) :]
    return normalize_block(text)[:-1].replace(b"\n", eol) + (ends or eol)


def _put_back(journal: Journal, id: str, path: str, block: bytes, draft: Draft) -> WrittenEntry:
    """A text that came back into a file, as it is read in the bytes of the draft."""
    present = find_in_parsed(journal.parse(path, draft.data or b""), id)
    return WrittenEntry(
        path, None, present or replace(parse_copy(journal, id, path, block), id=id)
    )


def find_pieces(journal: JournalFiles, id: str) -> tuple[str, list[TrashedText]]:
    """(an id, which may be short; the pieces of its entry, the newest first). An entry that
    an editor was opened on, and that stands as it was, has no piece of that. Raises
    NotFound.
    """
    pieces = journal.trashed()[::-1]
    ids = (one for piece in pieces for one in (piece.id, piece.became) if one)
    id = resolve_short_id(id, ids, Sentence("The trash"))
    mine = [piece for piece in pieces if id in (piece.id, piece.became)]
    changes = [piece for piece in mine if not _stands_as_opened(journal, piece)]
    return id, changes or mine


def _stands_as_opened(journal: JournalFiles, piece: TrashedText) -> bool:
    if piece.why != "opened":
        return False
    block, _ = journal.find_or_none(piece.path, piece.id) or (b"", None)
    return normalize_block(block) == normalize_block(piece.text)


def find_copy(journal: JournalFiles, id: str) -> tuple[str, Entry]:
    """Path and entry of the newest copy in the trash, else of the copy in `done/`. `id` may
    be short. Raises NotFound.
    """
    copies = {piece.id: piece for piece in journal.trashed()}
    ids = [*copies, *journal.saved.ids()]
    id = resolve_short_id(id, iter(ids), Sentence("Neither the journal nor the trash"))
    copy = copies.get(id) or journal.saved.get(id)
    if not copy:
        raise NotFound(
            "The saved copy of {id} is cut off and cannot be read; nothing was restored.", id=id
        )
    return copy.path, replace(parse_copy(journal, id, copy.path, copy.text), id=id)


def parse_copy(journal: JournalFiles, id: str, path: str, block: bytes) -> Entry:
    """The entry of a copy from this file. Raises NotFound for a copy without one."""
    for entry in journal.parse(path, block, block=True).entries:
        return entry
    raise NotFound(
        "The saved copy of {id} can no longer be read as an entry.",
        "Copy what you need out of {path}.",
        id=id,
        path=journal.trash.path,
    )


def saved_text_of_piece(journal: JournalFiles, piece: TrashedText) -> SavedText:
    """The piece as a copy for `done/`. A hand-typed text gets its derived id in a comment,
    so that it can be found again.
    """
    block = piece.text
    entries = journal.parse(piece.path, block, block=True).entries
    if entries and piece.id not in find_ids(block):
        entry = entries[0]
        block = rewrite_block(block, entry, replace(entry, id=piece.id, derived_id=False))
    return journal.saved_text(piece.path, piece.id, normalize_block(block))


def paths_by_id(journal: JournalFiles) -> dict[str, str]:
    """Maps each id in a comment to the first file that contains it. All files are read."""
    places: dict[str, str] = {}
    for stamp in journal.scan():
        with suppress(NotFound):
            for id in find_ids(journal.read(stamp.path)):
                places.setdefault(id, stamp.path)
    return places


def resolve_short_id(id: str, candidates: Iterator[str], what: str) -> str:
    """Returns the id in `candidates` that `id` stands for: a whole id, or the first four or
    more of the eight characters after the dash. Raises NotFound, or Ambiguous if several fit;
    `what` names the list in the message.
    """
    ids = list(dict.fromkeys(candidates))
    short = id.lower().removeprefix("syn:")
    if short in ids:
        return short
    fitting = [one for one in ids if one.partition("-")[2].startswith(short)]
    if len(short) < 4 or not fitting:
        raise NotFound(
            "{what} has no {id}.",
            valid=ids[:10],
            hint="" if ids else "{what} is empty.",
            what=what,
            id=id,
        )
    if len(fitting) > 1:
        raise Ambiguous(
            "{id} fits {n} entries.",
            valid=fitting[:10],
            hint="Give the whole id.",
            id=id,
            n=len(fitting),
        )
    return fitting[0]


def mark_not_missed(trash: Trash, id: str, whys: Collection[Why]) -> None:
    """Marks the pieces of this id that have one of these reasons as not missed."""
    if not any(piece.id == id and piece.why in whys for piece in trash.pieces()):
        return
    trash.rewrite_pieces(
        lambda piece: (
            piece._replace(why="edited") if piece.id == id and piece.why in whys else piece
        )
    )


def _find_comment(data: bytes, id: str) -> int:
    """The offset of the comment that carries this id, or -1. Mentions of the id elsewhere do
    not count.
    """
    for comment_id, at in iter_comments(data):
        if comment_id == id:
            return at
    return -1
