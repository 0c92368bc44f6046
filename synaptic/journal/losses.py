"""Finds saves and changes that an editor's old buffer, or a checkout, has undone."""

from collections.abc import Collection
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from ..errors import NotFound, Sentence
from ..notes.privacy import mask_private, shows_private_text
from .changelog import NO_FILE
from .comments import find_ids
from .journal import Journal
from .journal_files import JournalFiles
from .left_out import find_left_out
from .names import printable_path
from .restoring import (
    UNDOABLE,
    Check,
    allow_any_change,
    mark_not_missed,
    reinsert_text,
    replace_text,
    resolve_short_id,
    saved_text_of_piece,
)
from .runs import open_import_runs
from .saved import KEEP_DAYS, SavedText
from .text import find_entry_span, normalize_block
from .trash import TrashedText
from .vanished import has_vanished
from .written_entry import WrittenEntry

LossKind = Literal["vanished", "deleted", "changed"]


class Loss(NamedTuple):
    """A text, a deletion or a change of an entry that the journal no longer shows.

    `text` is the text that vanished. Without one the entry was deleted, or changed, and stands
    as it was before.
    """

    id: str
    path: str
    title: str
    what: LossKind
    text: SavedText | None = None


class LostFile(NamedTuple):
    """A file with entries of an import that somebody removed: the `path`, the name of the run,
    and the ids of its entries.
    """

    path: str
    run: str
    ids: tuple[str, ...]


class _PresentText(NamedTuple):
    """The text of an entry in the journal: "" if only its comment stands, None if it is
    private.
    """

    path: str
    block: bytes | None
    title: str = ""


def find_losses(journal: JournalFiles) -> list[Loss]:
    """The losses of the last week, sorted by id; of one entry the latest text first.

    A text in `done/` is lost if the journal shows neither it nor a later change of it, unless
    it is an older text that came back. A text that was lost when the next one came is in the
    trash, and lost until the entry is restored.
    A deletion, or a change of a text without an id, is lost if the text before it stands.
    """
    since = journal.clock() - timedelta(days=KEEP_DAYS)
    pieces: dict[str, list[TrashedText]] = {}
    aside: dict[str, list[TrashedText]] = {}
    latest: dict[str, TrashedText] = {}
    for piece in journal.trashed():
        pieces.setdefault(piece.id, []).append(piece)
        if piece.why != "opened":
            latest[piece.id] = piece
        if piece.why == "restore":
            aside.pop(piece.id, None)
        elif piece.why == "vanished":
            aside.setdefault(piece.id, []).insert(0, piece)
    saved = set(journal.saved.ids())
    written = set(saved)
    for run in open_import_runs(journal.state).all():
        written.update(block.id for block in run.blocks)
    undone = {
        id: piece
        for id, piece in latest.items()
        if id not in written and piece.why in UNDOABLE and piece.at > since
    }
    ids = {*saved, *aside, *undone}
    standing = (
        _present_texts(journal, ids, {piece.path for piece in undone.values()}) if ids else {}
    )
    losses: list[Loss] = []
    for id in sorted(ids):
        stands = standing.get(id, _PresentText("", b""))
        now = stands.block
        if now is None:
            continue
        record = journal.saved_copy(id)
        lost = []
        if record and has_vanished(now, record.text, pieces.get(id, [])):
            lost.append(record)
        if stands.path or lost:  # else it may be of another journal of this home
            present = {now, record.text if record else now}
            texts = (saved_text_of_piece(journal, one) for one in aside.get(id, []))
            lost += [text for text in texts if text.text not in present]
        for text in lost:
            if not shows_private_text(text.text, now):
                path = stands.path or text.path
                entries = journal.parse(text.path, text.text, block=True).entries
                title = entries[0].title if entries else ""
                losses.append(Loss(id, path, title, "vanished", text._replace(path=path)))
        if id not in undone or not now:
            continue
        kind = _kind_of_undone(undone[id], stands.path, now)
        if kind:
            losses.append(Loss(id, stands.path, stands.title, kind))
    return _without_unread(journal, losses)


def find_lost_files(journal: JournalFiles, standing: Collection[str]) -> list[LostFile]:
    """The files of the last week's imports that are gone, but for those that the program
    removed itself. Entries that are among the ids `standing`, or in the trash, are not missed.
    Their texts are nowhere: an import keeps hashes only.
    """
    imports = open_import_runs(journal.state)
    lost = []
    for run in imports.recent(KEEP_DAYS):
        for path, blocks in run.by_path().items():
            ids = {block.id for block in blocks} - {*standing}
            if run.open or not ids or journal.read_all([path]):
                continue
            ids -= {piece.id for piece in journal.trashed()}
            records = journal.log.newest_first(path)
            last = next((one for one in records if path in (one.path, one.to)), None)
            if ids and last and last.path == path and last.now != NO_FILE:
                lost.append(LostFile(path, run.name, tuple(sorted(ids))))
    unread = _unread_paths(journal) if lost else []
    return [one for one in lost if not _is_below(one.path, unread)]


def find_missing_saves(journal: JournalFiles, standing: Collection[str]) -> list[str]:
    """The ids of the last week's saves that an editor wrote over: they are not among the ids
    `standing`, nor in their file, and nobody deleted them. No other file is read, so that a
    text that moved by hand to a file that is not indexed counts, too.
    """
    pieces: dict[str, list[TrashedText]] | None = None
    missing = []
    for id in sorted({*journal.saved.ids()} - {*standing}):
        record = journal.saved_copy(id)
        if not record or id in find_ids(journal.read_all([record.path]).get(record.path, b"")):
            continue
        if pieces is None:
            pieces = {}
            for piece in journal.trashed():
                pieces.setdefault(piece.id, []).append(piece)
        if has_vanished(b"", record.text, pieces.get(id, [])):
            missing.append(id)
    return missing


def _kind_of_undone(piece: TrashedText, path: str, block: bytes) -> LossKind | None:
    """The kind of a loss where the text before a change or a deletion stands again, as `block`
    in the file `path`; None where another text stands.
    """
    is_change = piece.why == "update"
    by_id = not is_change and path == piece.path and piece.id in find_ids(block)
    if not by_id and block != normalize_block(piece.text):
        return None
    return "changed" if is_change else "deleted"


def _without_unread(journal: JournalFiles, losses: list[Loss]) -> list[Loss]:
    """The losses without those of a file, or below a folder, that cannot be read now: their
    entries may stand there.
    """
    unread = _unread_paths(journal) if losses else []
    return [loss for loss in losses if not _is_below(loss.path, unread)]


def _unread_paths(journal: JournalFiles) -> list[str]:
    """The files and folders that cannot be read now, as messages show them."""
    left_out = find_left_out(journal.roots)
    return [one.path.rstrip("/") for one in left_out if one.reason == "unreadable"]


def _is_below(path: str, unread: Collection[str]) -> bool:
    """True if a file is one of these or lies in one."""
    printed = printable_path(path)
    return any(printed == one or printed.startswith(f"{one}/") for one in unread)


def _present_texts(
    journal: JournalFiles, ids: Collection[str], notes: Collection[str]
) -> dict[str, _PresentText]:
    """The texts of these entries in the journal. `notes` are files whose entries may carry no
    id.
    """
    entries: dict[str, _PresentText] = {}
    comments: dict[str, _PresentText] = {}
    for stamp in journal.scan():
        path = stamp.path
        with suppress(NotFound):
            data = journal.read(path)
            written = find_ids(data).intersection(ids)
            if not written and path not in notes:
                continue
            visible = find_ids(mask_private(data))
            for id in written:
                comments.setdefault(id, _PresentText(path, b"" if id in visible else None))
            parsed = journal.parse(path, data, stamp.mtime_ns)
            for entry in parsed.entries:
                if entry.id in ids:
                    _, start, end = find_entry_span(parsed, path, entry.id)
                    block = normalize_block(data[start:end])
                    entries.setdefault(entry.id, _PresentText(path, block, entry.title))
    return comments | entries


def restore_vanished_text(
    journal: Journal, id: str, check: Check = allow_any_change
) -> WrittenEntry:
    """Puts a saved text that vanished from the journal back into its file; returns what was
    written. `check` may raise Refused. Raises NotFound if no text of this id has vanished.
    """
    texts = [loss.text for loss in find_losses(journal) if loss.text]
    id = resolve_short_id(
        id, (text.id for text in texts), Sentence("The list of vanished saves")
    )
    text = next(text for text in texts if text.id == id)
    with journal.writing():
        present = journal.find_or_none(text.path, id)
        check(id, present[1] if present else None)
        if present:
            return replace_text(journal, text.path, id, text.text)
        return reinsert_text(journal, text)


def put_back_overwritten(journal: Journal, since: float) -> tuple[list[str], list[str]]:
    """Puts back the entries that were saved since a moment of the machine's clock and that an
    editor's old buffer left out; returns their ids, and those of entries that were changed
    since then and of which another text stands.
    """
    recent = []
    for id in journal.saved.ids():
        with suppress(FileNotFoundError):
            if journal.saved.path_of(id).stat().st_mtime >= since:
                recent.append(id)
    lost = [loss for loss in find_losses(journal) if loss.id in recent] if recent else []
    back: list[str] = []
    changed: list[str] = []
    for loss in lost:
        if not loss.text or loss.id in (*back, *changed):
            continue
        with journal.writing(), journal.doing("restore", loss.title, entries=[loss.id]):
            if journal.find_or_none(loss.path, loss.id):
                changed.append(loss.id)
            else:
                reinsert_text(journal, loss.text)
                back.append(loss.id)
    return back, changed


def find_returned(journal: JournalFiles, path: str, since: datetime) -> dict[str, str]:
    """The entries that were deleted or moved since a moment of the journal's clock and that a
    file shows all the same, as an editor's old buffer brings them back: by id the file to which
    each was moved, "" for a deleted one.
    """
    gone: dict[str, str] = {}
    for piece in journal.trashed():
        if piece.at < since:
            continue
        if piece.path == path and (piece.why == "delete" or piece.moved_to not in ("", path)):
            gone[piece.id] = piece.moved_to
        elif piece.why == "restore" or piece.moved_to == path:
            gone.pop(piece.id, None)
    present = find_ids(journal.read_all([path]).get(path, b""))
    return {id: moved_to for id, moved_to in gone.items() if id in present}


def dismiss_losses(journal: Journal, id: str) -> None:
    """Drops the losses of this id, so that `find_losses` no longer lists them. Raises NotFound
    if it lists none.
    """
    losses = find_losses(journal)
    id = resolve_short_id(
        id, (loss.id for loss in losses), Sentence("The list of vanished saves")
    )
    with journal.writing():
        for loss in losses:
            if loss.id != id:
                continue
            record = journal.saved_copy(id)
            if record and loss.text and record.text == loss.text.text:
                journal.saved.forget(id)
            mark_not_missed(journal.trash, id, ("vanished",) if loss.text else UNDOABLE)
