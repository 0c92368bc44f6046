"""Changes many files as one: renames notes and tags with all that names them, finishes that
after a kill, and takes it back.

1. `begin` compares each file with the plan, and writes the run to `.state/renames/unfinished`.
   A file that another program changed meanwhile is `left`.
2. `carry_out` edits many files at once by `FileWriter`, moves them, and lets copies
   and earlier runs follow. It does nothing twice. `carry_out_more` adds the files that were
   left, once they were planned anew.
3. `close` ends the run. Until then each next command begins again at step 2.

Each change goes into the log of changes, by which the run is taken back: that is a run with the
edits reversed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath

from ..errors import Changed, NotFound, Refused, match_valid_name
from ..notes.blocks import text_of_bytes
from ..notes.link_places import Splice, replace_pieces, reverse_pieces
from .changelog import Deed, FileChange, find_hunks, make_record
from .comments import find_ids
from .disk import PREFERENCES, UNFINISHED, append_json_lines, inject_fault
from .file_moves import FileMoves, path_taken_error
from .folder import is_note, refuse_source
from .journal import Journal
from .journal_files import JournalFiles
from .many_changes import BATCH
from .moves import note_moves
from .reverting import CannotUndo, hunk_of_splice, undo_change
from .rewriting import rewrite_entries, rewrite_many_in_lock
from .runs import FileEdit, Run, open_import_runs, open_rename_runs
from .standing import UNDO, changes_of_run, list_standing_changes, records_of_run, verb_of_undo
from .trash import TrashedText, file_hash

MANY_EDITS = ("rename", "tags", "words", "link", "mend")
"""The verbs that change many files as one."""


def unfinished_run(journal: JournalFiles) -> Run | None:
    """The run that is being carried out, or that was killed."""
    if not journal.has_unfinished_rename:
        return None
    return open_rename_runs(journal.state).get(UNFINISHED)


def find_run(journal: JournalFiles, name: str) -> list[FileChange]:
    """The records of the run of this name that nobody took back, the newest first. Raises
    InvalidArgument, which names the known ones.
    """
    records: dict[str, list[FileChange]] = {}
    for record in list_standing_changes(journal):
        if record.verb.removeprefix(UNDO) in MANY_EDITS:
            records.setdefault(record.run, []).append(record)
    return records[match_valid_name(records, name.lower(), "undo")]


def begin(journal: Journal, run: Run) -> Run:
    """Writes down what is about to happen, under the write lock; returns the run without the
    edits of files that changed since it was planned, which are `left`. A note that moves does
    so with its present text.

    Raises Changed if a file that is to move is gone, or if nothing is left to do, and Refused
    if a new path is taken; then nothing was changed.
    """
    if unfinished_run(journal):
        raise Changed("Another rename was interrupted and is finished first.", "Try again.")
    fitting: list[FileEdit] = []
    left = list(run.left)
    for edit in run.edits:
        refuse_source(journal.roots, edit.path)
        here = _hash_of_file(journal, edit.path)
        if here == edit.before:
            fitting.append(edit)
        elif run.back or (edit.path != edit.to and not here):
            raise Changed(
                "{path} was changed meanwhile; nothing was renamed.",
                "Try again.",
                path=edit.path,
            )
        else:
            left.append(edit)
            if edit.path != edit.to:
                fitting.append(FileEdit(edit.path, edit.to, here, here))
        if edit.to != edit.path and _is_taken(journal, edit):
            raise path_taken_error(edit.to)
    run = replace(run, edits=tuple(fitting), left=tuple(left))
    open_rename_runs(journal.state).put(run, UNFINISHED)
    return run


def carry_out_more(journal: Journal, run: Run, more: Run) -> Run:
    """Adds the edits of `more` to a run that was carried out, and carries them out, under the
    write lock.
    """
    moved = {}
    for edit in run.edits:
        if edit.path != edit.to and edit.before == edit.after:
            moved[edit.to] = edit
    new = []
    for edit in more.edits:
        move = moved.get(edit.path)
        if move and move.after == edit.before:  # the note moved with the text that it had
            edit = replace(edit, path=move.path)
        new.append(edit)
    ends = {edit.to for edit in new}
    others = [edit for edit in run.edits if edit.to not in ends or edit.to not in moved]
    merged = replace(
        run,
        edits=(*others, *new),
        ids={**run.ids, **more.ids},
        rules=(*run.rules, *more.rules),
        left=(),
    )
    open_rename_runs(journal.state).put(merged, UNFINISHED)
    done = carry_out(journal, replace(more, edits=tuple(new)))
    return replace(merged, edits=(*others, *done.edits), left=done.left)


def carry_out(journal: Journal, run: Run) -> Run:
    """Does what is not done yet of a run, under the write lock; returns it without the edits
    that cannot be made, because the file was changed since it began. These are `left`.
    """
    done: list[FileEdit] = []
    left = list(run.left)
    written = _write_edits(journal, run.edits)
    for start in range(0, len(run.edits), BATCH):
        journal.writer.note_progress()
        with FileMoves(journal.writer) as moved:
            for edit in run.edits[start : start + BATCH]:
                is_done = edit.path == edit.to and edit.path in written
                is_done = is_done or _carry_out_edit(journal, edit, moved)
                (done if is_done else left).append(edit)
                if not is_done and _has_moved(journal, edit):
                    here = _hash_of_file(journal, edit.to)
                    done.append(FileEdit(edit.path, edit.to, here, here))
                inject_fault("renamed")
    moves = {edit.path: edit.to for edit in done if edit.path != edit.to}
    if run.ids or moves:
        _follow(journal, moves, run.ids)
    note_moves(journal.state, {path: to for path, to in moves.items() if is_note(path)})
    append_json_lines(journal.state / PREFERENCES, run.rules)
    return replace(run, edits=tuple(done), left=tuple(left))


def close(journal: Journal, run: Run) -> None:
    """Ends a run that was carried out, under the write lock: from now on the log alone holds
    what it replaced.
    """
    deed = journal.writer.deed
    assert deed
    moment = journal.clock()
    logged = {(one.path, one.to) for one in records_of_run(journal, run.name)}
    for edit in [] if run.back else run.edits:  # a power cut may have taken records away
        if edit.before != edit.after and not logged & {(edit.path, ""), (edit.to, "")}:
            journal.log.append(_record_of_edit(deed, moment, edit), sync=False)
        if edit.path != edit.to and (edit.path, edit.to) not in logged:
            journal.log.append(make_record(deed, moment, edit.path, to=edit.to), sync=False)
    if run.back:
        standing = {one.to for one in changes_of_run(journal, run.name)}
        for edit in run.edits:  # of a move that was killed before its record
            if edit.path != edit.to and edit.path in standing:
                journal.log.append(make_record(deed, moment, edit.path, to=edit.to), sync=False)
    for folder in sorted(run.left_folders, reverse=True):
        with suppress(OSError):  # something is in it
            journal.place(folder).rmdir()
    if run.ids or run.folders:
        about = make_record(deed, moment, "", ids=dict(run.ids), folders=run.folders)
        journal.log.append(about, sync=False)
    if not run.back:  # what took a run back is known by the files, too
        journal.log.sync()
    open_rename_runs(journal.state).drop(UNFINISHED)


def _record_of_edit(deed: Deed, moment: datetime, edit: FileEdit) -> FileChange:
    """The record of the new bytes of a file, of which the edit holds what it replaced."""
    hunks = tuple(map(hunk_of_splice, reverse_pieces(edit.pieces)))
    return make_record(deed, moment, edit.path, was=edit.before, now=edit.after, hunks=hunks)


def describe_run(journal: Journal, run: Run, deed: Deed) -> None:
    """Fills in the deed by which this run is logged. That of one that takes another back names
    the records that it takes back, by the present paths of their files.
    """
    deed.is_durable = True
    if not run.back:
        deed.verb = run.name.partition("-")[0]
        deed.run = run.name
        deed.what = _describe_edits(run.edits)
        return
    records = records_of_run(journal, run.name)
    if records:
        deed.verb, deed.what = verb_of_undo(records[0].verb), records[0].what
    standing = changes_of_run(journal, run.name)
    moves = {record.path: record.to for record in standing if record.to}
    taken: dict[str, list[str]] = {}
    for record in standing:
        path = record.path if record.to else moves.get(record.path, record.path)
        taken.setdefault(path, []).append(record.id)
    deed.of = taken


def _describe_edits(edits: Sequence[FileEdit]) -> str:
    """The moved notes of a rename, else the number of its files."""
    moves = [f"{edit.path} -> {edit.to}" for edit in edits if edit.path != edit.to]
    if not moves:
        return "1 file" if len(edits) == 1 else f"{len(edits):,} files"
    return f"{moves[0]}, and {len(moves) - 1:,} more" if moves[1:] else moves[0]


def reversed_run(journal: Journal, name: str) -> Run:
    """The run that takes this one back. Files whose lines were changed since are `left`, but a
    note that moved and was edited since moves back with its present text.

    Raises InvalidArgument for an unknown name, and Refused if another file has the old path of
    a note.
    """
    records = find_run(journal, name)
    moves = {record.path: record.to for record in records if record.to}
    old_paths = {new_path: old_path for old_path, new_path in moves.items()}
    by_path: dict[str, list[FileChange]] = {path: [] for path in moves.values()}
    for record in records:
        if record.path and not record.to:
            by_path.setdefault(moves.get(record.path, record.path), []).append(record)
    back = []
    left = []
    for path, changes in by_path.items():
        old_path = old_paths.get(path, path)
        edit = _edit_that_takes_back(journal, path, old_path, changes)
        if old_path != path and edit.before and _is_taken(journal, edit):
            raise Refused(
                "{old_path} is there again, so {path} cannot have its old name.",
                "Rename or delete that file first.",
                old_path=old_path,
                path=path,
            )
        if changes and not edit.pieces:
            left.append(FileEdit(old_path, old_path, "", ""))
        if edit.before and (edit.pieces or old_path != path):
            back.append(edit)
    ids: dict[str, str] = {}
    folders: tuple[str, ...] = ()
    for record in records:
        ids |= {new_id: was for was, new_id in record.ids.items()}
        folders += record.folders
    return Run(
        name,
        edits=tuple(back),
        ids=ids,
        folders=folders_to_make(journal, [edit.to for edit in back]),
        left_folders=folders,
        back=True,
        left=tuple(left),
    )


def _edit_that_takes_back(
    journal: Journal, path: str, old_path: str, changes: Sequence[FileChange]
) -> FileEdit:
    """The edit that takes these changes of a file back, the newest first, and gives it its old
    path; without pieces where the lines were changed since.
    """
    data = journal.read_all([path]).get(path)
    if data is None:
        return FileEdit(path, old_path, "", "")
    before: bytes | None = data
    with suppress(CannotUndo):
        for change in changes:
            before = undo_change(change, before)
        hunks = find_hunks(before, data)
        pieces = tuple(
            Splice(one.at, text_of_bytes(data[one.at : one.at + one.bytes]), one.before)
            for one in hunks
        )
        return FileEdit(path, old_path, file_hash(data), file_hash(before or b""), pieces)
    return FileEdit(path, old_path, file_hash(data), file_hash(data))


def edited_bytes(data: bytes, edit: FileEdit) -> bytes:
    """The bytes of a file after an edit. Raises ValueError if they were others before."""
    return replace_pieces(data, edit.pieces)


def _write_edits(journal: Journal, edits: Sequence[FileEdit]) -> set[str]:
    """Edits many files at once, without moving any; returns the paths of those that could be
    edited so.
    """
    written: set[str] = set()
    waiting = [edit for edit in edits if edit.before != edit.after]
    for start in range(0, len(waiting), BATCH):
        journal.writer.note_progress()
        changes = {
            edit.path: partial(_bytes_after, edit) for edit in waiting[start : start + BATCH]
        }
        written.update(rewrite_many_in_lock(journal, changes))
        inject_fault("batch-written")
    return written


def _bytes_after(edit: FileEdit, data: bytes, _: object = None) -> bytes:
    """The bytes of a file after an edit. Raises Changed if they were others before."""
    if file_hash(data) != edit.before:
        raise Changed("{path} was changed meanwhile.", path=edit.path)
    return edited_bytes(data, edit)


def _carry_out_edit(journal: Journal, edit: FileEdit, moved: FileMoves) -> bool:
    """Edits and moves one file; returns False if it was changed since the run was planned."""
    is_moved = _has_moved(journal, edit)
    path = edit.to if is_moved else edit.path
    journal.writer.remove_temps(journal.place(path).parent)
    here = _hash_of_file(journal, path)
    if here == edit.before and edit.before != edit.after:
        with suppress(Changed):
            change = partial(_bytes_after, edit)
            rewrite_entries(journal, path, change, keep=False)
            here = edit.after
    if here and edit.path != edit.to and not is_moved:
        with suppress(Refused):
            moved.move(edit.path, edit.to)
            is_moved = True
    return here == edit.after and (edit.path == edit.to or is_moved)


def _follow(journal: Journal, moves: Mapping[str, str], ids: Mapping[str, str]) -> None:
    """Lets the copies of moved notes, in `done/`, the trash and the runs of imports, follow."""

    def follow(piece: TrashedText) -> TrashedText:
        path = moves.get(piece.path, piece.path)
        id, became = (ids.get(one, one) for one in (piece.id, piece.became))
        return piece._replace(id=id, became=became, path=path)

    if any(follow(piece) != piece for piece in journal.trashed()):
        journal.trash.rewrite_pieces(follow)
    for path in filter(is_note, moves.values()):
        with suppress(NotFound):
            for id in find_ids(journal.read(path)):
                text = journal.saved_copy(id)
                if text and text.path in moves:
                    journal.saved.put(text._replace(path=path))
    for run in list(open_import_runs(journal.state).all()) if moves else ():
        if any(block.path in moves for block in run.blocks):
            blocks = [replace(b, path=moves.get(b.path, b.path)) for b in run.blocks]
            blocks.sort(key=lambda block: block.path)
            open_import_runs(journal.state).put(replace(run, blocks=tuple(blocks)))


def _has_moved(journal: JournalFiles, edit: FileEdit) -> bool:
    """True if an edit moves a file, and no file is at its old path any more."""
    old_file = journal.place(edit.path)
    if edit.path == edit.to or not os.path.lexists(old_file):
        return edit.path != edit.to
    with suppress(OSError):
        if old_file.samefile(journal.place(edit.to)):  # for this disk both are one name
            return old_file.name not in os.listdir(old_file.parent)  # noqa: PTH208
    return False


def _is_taken(journal: Journal, edit: FileEdit) -> bool:
    """True if another file has the path to which an edit moves a file."""
    old_file = journal.place(edit.path)
    new_file = journal.place(edit.to)
    with suppress(OSError):
        return not new_file.samefile(old_file)
    return False


def _hash_of_file(journal: JournalFiles, path: str) -> str:
    """The hash of a file, "" without one."""
    with suppress(NotFound):
        return file_hash(journal.read(path))
    return ""


def folders_to_make(journal: JournalFiles, paths: Sequence[str]) -> tuple[str, ...]:
    """The folders of these paths that do not exist yet."""
    missing = []
    for path in paths:
        for folder in PurePosixPath(path).parents:
            name = folder.as_posix()
            if name != "." and not Path(journal.place(name)).exists():
                missing.append(name)
    return tuple(sorted(set(missing)))
