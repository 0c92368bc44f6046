"""Deletes entries, and brings deleted and earlier texts back."""

from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from ..errors import Ambiguous, NotFound, Refused, Sentence, SynapticError
from ..journal.disk import disk_errors
from ..journal.entry_edits import Replacement, edit_entry, replace_entry
from ..journal.folder import locate_writable
from ..journal.losses import restore_vanished_text
from ..journal.purging import purge_entry
from ..journal.redating import undo_move
from ..journal.restoring import (
    OF_EDITOR,
    find_copy,
    find_pieces,
    match_line_ends,
    restore_entry,
    saved_text_of_piece,
)
from ..journal.rewriting import blocks_by_id
from ..journal.saved import KEEP_DAYS
from ..journal.standing import list_standing_changes
from ..journal.trash import TrashedText
from ..models import PERSON, Entry, Receipt
from ..notes.privacy import shows_private_text
from ..workspace.preferences import read_log
from ..workspace.rule_changes import check_may_change, end_confirmation
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .attaching import forget_draft_copies
from .changing import change_copies, check_edit_hash
from .entry_marks import find_stored
from .outside_copies import outside_copies_notice
from .receipts import index_now, is_indexed, logged, make_receipt, note_rule_change

COPY_REMOVED = "The same entry stood in {path} too, and was removed there."
COPY_NOT_REMOVED = "The same entry stands in {path} too, and could not be removed there: {why}"


@logged("delete")
def delete(
    ws: Workspace,
    id: str,
    *,
    purge: bool = False,
    by_person: bool = True,
    confirms: bool = False,
) -> Receipt:
    """Deletes an entry and returns the receipt. Its text goes to the trash; with `purge` this
    home keeps no copy, and a notice names what else may hold one.

    A whole-file note goes with its file. An entry that was deleted before can still be purged.
    Raises Refused for a note that is a part of a file, where an agent deletes a whole-file note
    or what a person pinned, and for a preference in force unless a person `confirms`.
    """
    try:
        stored = find_stored(ws, id)
    except NotFound:
        if not purge:
            raise
        return _purge_deleted(ws, id)
    entry = stored.entry
    ws.own_journal.writer.note_entries(entry.id)
    copies = stored.copies
    path = entry.path
    locate_writable(ws.journal.roots, path, entry.there.line)
    if not by_person:
        _check_agent_may_delete(entry)
    notices = []

    def remove(inside: str) -> None:
        if purge:
            purge_entry(ws.own_journal, inside, stored.own_id)
        else:
            notices.extend(
                edit_entry(ws.own_journal, inside, stored.own_id, lambda _: None).notices
            )

    with ws.own_journal.writing():
        # first: a file that is gone only suspends it
        with disk_errors(ws.config.state, "used"):
            present = ws.journal.find_or_none(path, stored.own_id)
            if present and not confirms:
                check_may_change(ws.config.state, stored.own_id, present[1])
            end_confirmation(ws.config.state, stored.own_id, present and present[1])
        if purge:  # before the text leaves its file: after a kill the next process finishes
            ws.index.file.owes_scrub = True
            if present:
                forget_draft_copies(ws, path, present[1].content)
        # copies first: `restore` brings the last one back
        notices += change_copies(copies, remove, COPY_REMOVED, COPY_NOT_REMOVED)
        remove(path)
    if not purge:
        notices.append(
            Sentence("`synaptic restore {short_id}` brings it back.", short_id=entry.short_id)
        )
    notices += index_now(ws, path, *copies, scrub=purge)
    if purge:
        notices += outside_copies_notice(ws, entry)
    return make_receipt(
        entry, notices=[*notices, *_remaining_duplicate_notice(ws, stored.own_id)]
    )


def _purge_deleted(ws: Workspace, id: str) -> Receipt:
    """Purges an entry that was deleted before; returns the receipt."""
    ws.index.file.owes_scrub = True  # this may repeat a purge that was killed
    path, entry = find_copy(ws.journal, id)
    purge_entry(ws.own_journal, path, entry.id)
    notices = [*index_now(ws, path, scrub=True), *outside_copies_notice(ws, entry)]
    return make_receipt(entry, path=path, notices=notices)


def _check_agent_may_delete(entry: Entry) -> None:
    """Raises Refused for a whole-file note, and for an entry that a person pinned."""
    if not entry.whole_file and not entry.pin:
        return
    subject = "A person pinned this entry"
    if entry.whole_file:
        subject = f"{entry.path} is a person's file"
    hint = f"`synaptic delete {entry.short_id}`, in a terminal of their own."
    raise Refused(f"{subject}: only a person deletes it.", hint)


def _remaining_duplicate_notice(ws: Workspace, own_id: str) -> list[str]:
    """A notice if another text has the id of an entry that was deleted."""
    # no entry has this id any more, or a notice says that it is not indexed
    with suppress(SynapticError):
        left = ws.index.resolve(own_id).entry
        return [
            Sentence(
                "Another text with this id remains in {path}:{line}; `synaptic "
                "delete {id}` removes it too.",
                path=left.path,
                line=left.there.line,
                id=left.id,
            )
        ]
    return []


def earlier_versions(ws: Workspace, entry: Entry) -> list[tuple[TrashedText, Entry]]:
    """Returns the other texts of an entry in the trash, the latest first, without those that
    are private now.
    """
    pieces = [piece for piece in ws.journal.trashed() if piece.id == entry.id]
    if not pieces:
        return []
    place = entry.there
    now = ws.journal.read(place.path)[place.start : place.end]
    texts: list[tuple[TrashedText, Entry]] = []
    for piece in reversed(pieces):
        if piece.text.strip() != now.strip() and not shows_private_text(piece.text, now):
            parsed = ws.journal.parse(piece.path, piece.text, block=True)
            texts += ((piece, entry) for entry in parsed.entries)
    return texts


class Replaced(NamedTuple):
    """A text in the trash that `restore` would bring back: of an entry that was deleted, or
    removed or changed in an editor, or that went `with_import`, which was taken back. `date`
    and `time` say when, `path` is its file.
    """

    id: str
    date: str
    time: str
    title: str
    path: str
    text: str
    in_editor: bool = False
    with_import: bool = False


class Restorable(NamedTuple):
    """The entries that stand nowhere any more, and the texts before the edits of the last week
    of entries that stand, the latest first.
    """

    deleted: list[Replaced]
    edited: list[Replaced]


def restorable_texts(ws: Workspace) -> Restorable:
    """The texts that `restore` would bring back for somebody who knows no id."""
    since = ws.clock() - timedelta(days=KEEP_DAYS)

    def run(_: object) -> Restorable:
        texts = Restorable([], [])
        for piece in _latest_changes(ws):
            in_editor = piece.why in OF_EDITOR
            if not in_editor and piece.why not in ("delete", "undone"):
                continue
            id = piece.became or piece.id
            stands = is_indexed(ws, id)
            if stands and not (in_editor and piece.at > since):
                continue
            # without its private passages
            entries = ws.journal.parse(piece.path, piece.text, block=True).entries
            text = entries[0].content if entries else ""
            moment = f"{piece.at:%Y-%m-%d}", f"{piece.at:%H:%M}"
            with_import = piece.why == "undone"
            replaced = Replaced(
                id, *moment, piece.title, piece.path, text, in_editor, with_import
            )
            (texts.edited if stands else texts.deleted).append(replaced)
        return texts

    return in_step(ws, run)


def _latest_changes(ws: Workspace) -> list[TrashedText]:
    """The newest piece of the trash about each entry, the latest first."""
    changes = []
    seen: set[str] = set()
    standing: dict[str, dict[str, bytes]] = {}
    """The texts that stand in each file on which an editor was opened, by id."""
    for piece in reversed(ws.journal.trashed()):
        if piece.why == "opened":
            if piece.path not in standing:
                standing[piece.path] = blocks_by_id(ws.journal, piece.path)
            if standing[piece.path].get(piece.id, b"").strip() == piece.text.strip():
                continue
        ids = {piece.id, piece.became or piece.id}
        if not ids & seen:
            changes.append(piece)
        seen |= ids
    return changes


def deleted_entries(ws: Workspace) -> list[Replaced]:
    """The entries that were deleted one by one and stand nowhere any more, the latest first."""
    return [one for one in restorable_texts(ws).deleted if not one.with_import]


@logged("restore")
def restore(
    ws: Workspace,
    id: str,
    *,
    vanished: bool = False,
    by_person: bool = True,
    confirms: bool = False,
) -> Receipt:
    """Restores a deleted entry from the trash, or the text before its last update, and returns
    the receipt.

    With `vanished`, of a saved entry that no longer stands in the journal. Raises NotFound, and
    Refused where an agent would undo a person's pin or unpin, and for a preference in force
    unless a person `confirms`.
    """

    def check(id: str, present: Entry | None) -> None:
        if not confirms:
            check_may_change(ws.config.state, id, present)
        if not (by_person or vanished):
            _check_done_by_agent(ws, id)

    left = []
    with ws.own_journal.writing():
        with suppress(NotFound):
            ws.own_journal.writer.note_entries(find_pieces(ws.journal, id)[0])
        log = read_log(ws.config.state)
        is_redo = not vanished and _is_last_change_a_restore(ws, id)
        moved = None if vanished else undo_move(ws.own_journal, id, check, by_person=by_person)
        if moved:
            change = moved
            left = [moved.before.path] if moved.before else []
        elif vanished:
            change = restore_vanished_text(ws.own_journal, id, check)
        else:
            change = restore_entry(ws.own_journal, id, check, by_person=by_person)
        notices = note_rule_change(ws, log, change, confirms=confirms, brings_words=True)
    if is_redo:
        notices.append(
            Sentence("This took the last restore back; the same again restores once more.")
        )
    entry = change.after or change.before
    assert entry
    notices += index_now(ws, change.path, *left, shows=entry.id)
    return make_receipt(entry, path=change.path, notices=notices)


def _check_done_by_agent(ws: Workspace, id: str) -> None:
    """Raises Refused for an entry that a person changed last: an agent takes back only what an
    agent did. Of a change from before there was a log nobody knows who did it.
    """
    changes = (record for record in list_standing_changes(ws.journal) if id in record.entries)
    last = next(changes, None)
    if last and last.who == PERSON:
        raise Refused(
            "A person changed it last, so only a person takes that back.",
            "Ask them to run `synaptic undo {run}` in a terminal of their own.",
            run=last.run,
        )


def _is_last_change_a_restore(ws: Workspace, id: str) -> bool:
    with suppress(NotFound, Ambiguous):
        return find_pieces(ws.journal, id)[1][0].why == "restore"
    return False


@logged("restore")
def restore_version(ws: Workspace, id: str, number: str, seen: str) -> Receipt:
    """Restores version `number` of an entry and returns the receipt. Versions are numbered from
    0, the oldest, in the order of `earlier_versions`. `seen` is the hash from `open_for_edit`:
    raises Changed if the entry has changed since.
    """
    stored = find_stored(ws, id)
    entry = stored.entry
    ws.own_journal.writer.note_entries(entry.id)
    path = entry.path
    texts = {str(at): text for at, (text, _) in enumerate(earlier_versions(ws, entry)[::-1])}

    def change(old: Entry, block: bytes) -> Replacement:
        check_edit_hash(old, seen if number in texts else "")
        piece = texts[number]
        if old.whole_file:
            return Replacement(old, piece.text)
        return Replacement(
            old, match_line_ends(block, saved_text_of_piece(ws.journal, piece).text)
        )

    with ws.own_journal.writing():
        log = read_log(ws.config.state)
        edited = replace_entry(ws.own_journal, path, stored.own_id, change, "restore")
        notices = note_rule_change(ws, log, edited.written, confirms=True, brings_words=True)
    notices += index_now(ws, path, shows=entry.id)
    return make_receipt(entry, notices=notices)
