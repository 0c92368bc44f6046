"""Changes many files as one: renames notes and tags with all that names them, finishes that
after a kill, and takes it back.

1. `begin` compares each file with the plan, and writes the run to `.state/renames/unfinished`.
   A file that another program changed meanwhile is `left`.
2. `carry_out` edits and moves the files, each by the one way of `FileWriter`, and lets copies
   and earlier runs follow. It does nothing twice. `carry_out_more` adds the files that were
   left, once they were planned anew.
3. `close` gives the run its name. Until then each next command begins again at step 2.

To take a run back is a run with the edits reversed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

from ..errors import Changed, NotFound, Refused, match_valid_name
from ..models import ParsedFile
from ..notes.link_places import replace_pieces, reverse_pieces
from .comments import find_ids
from .disk import PREFERENCES, append_json_lines, inject_fault
from .folder import locate_writable
from .journal import Journal
from .moves import note_moves
from .rewriting import rewrite_entries_in_lock
from .runs import UNFINISHED, FileEdit, Run
from .trash import TrashedText, file_hash


def unfinished_run(journal: Journal) -> Run | None:
    """The run that is being carried out, or that was killed."""
    if not journal.has_unfinished_rename:
        return None
    return journal.renames.get(UNFINISHED)


def find_run(journal: Journal, name: str) -> Run:
    """The rename of this name. Raises InvalidArgument, which names the known ones."""
    names = {run.lower(): run for run in journal.renames.newest_first()}
    return journal.renames.get(names[match_valid_name(names, name, "undo")])


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
        locate_writable(journal.roots, edit.path)
        here = _hash_of_file(journal, edit.path)
        if here == edit.before:
            fitting.append(edit)
        elif run.back or (edit.path != edit.to and not here):
            raise Changed(
                f"{edit.path} was changed meanwhile; nothing was renamed.", "Try again."
            )
        else:
            left.append(edit)
            if edit.path != edit.to:
                fitting.append(FileEdit(edit.path, edit.to, here, here))
        if edit.to != edit.path and _is_taken(journal, edit):
            raise Refused(
                f"{edit.to} is there already, and no file is written over.",
                "Give another name, or move that file away.",
            )
    run = replace(run, edits=tuple(fitting), left=tuple(left))
    journal.renames.put(run, UNFINISHED)
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
    journal.renames.put(merged, UNFINISHED)
    done = carry_out(journal, replace(more, edits=tuple(new)))
    return replace(merged, edits=(*others, *done.edits), left=done.left)


def carry_out(journal: Journal, run: Run) -> Run:
    """Does what is not done yet of a run, under the write lock; returns it without the edits
    that cannot be made, because the file was changed since it began. These are `left`.
    """
    done: list[FileEdit] = []
    left = list(run.left)
    for edit in run.edits:
        journal.writer.note_holder()
        is_done = _carry_out_edit(journal, edit)
        (done if is_done else left).append(edit)
        if not is_done and edit.path != edit.to and not _exists(journal, edit.path):
            here = _hash_of_file(journal, edit.to)
            done.append(FileEdit(edit.path, edit.to, here, here))
        inject_fault("renamed")
    moves = {edit.path: edit.to for edit in done if edit.path != edit.to}
    if run.ids or moves:
        _follow(journal, moves, run.ids)
    note_moves(journal.state, moves)
    append_json_lines(journal.state / PREFERENCES, run.rules)
    return replace(run, edits=tuple(done), left=tuple(left))


def close(journal: Journal, run: Run) -> None:
    """Ends a run that was carried out, under the write lock."""
    if run.back:
        for folder in sorted(run.folders, reverse=True):
            with suppress(OSError):  # somebody has put something there
                journal.place(folder).rmdir()
        rest = replace(find_run(journal, run.name), edits=run.left, ids={}, folders=())
        if run.left:
            journal.renames.put(rest)  # to be tried again
        else:
            journal.renames.drop(run.name)
    else:
        journal.renames.put(replace(run, open=False, rules=()))
    journal.renames.drop(UNFINISHED)


def reversed_run(journal: Journal, run: Run) -> Run:
    """The run that takes this one back. Files that were changed since are `left`, but a note
    that moved and was edited since moves back with its present text.

    Raises Refused if another file has the old path of a note.
    """
    back = []
    left = []
    for edit in reversed(run.edits):
        here = _hash_of_file(journal, edit.to)
        pieces = reverse_pieces(edit.pieces)
        again = FileEdit(edit.to, edit.path, edit.after, edit.before, pieces)
        if edit.path != edit.to and here and _is_taken(journal, again):
            raise Refused(
                f"{edit.path} is there again, so {edit.to} cannot have its old name.",
                "Rename or delete that file first.",
            )
        if here == edit.after:
            back.append(again)
            continue
        left.append(replace(edit, to=edit.path) if here else edit)
        if here and edit.path != edit.to:
            back.append(FileEdit(edit.to, edit.path, here, here))
    ids = {new: old for old, new in run.ids.items()}
    return Run(
        run.name, edits=tuple(back), ids=ids, folders=run.folders, back=True, left=tuple(left)
    )


def edited_bytes(data: bytes, edit: FileEdit) -> bytes:
    """The bytes of a file after an edit. Raises ValueError if they were others before."""
    return replace_pieces(data, edit.pieces)


def _carry_out_edit(journal: Journal, edit: FileEdit) -> bool:
    """Edits and moves one file; returns False if it was changed since the run was planned."""
    is_moved = edit.path != edit.to and not _exists(journal, edit.path)
    path = edit.to if is_moved else edit.path
    journal.writer.remove_temps(journal.place(path).parent)
    here = _hash_of_file(journal, path)
    if here == edit.before and edit.before != edit.after:

        def change(data: bytes, _: ParsedFile) -> bytes:
            if file_hash(data) != edit.before:
                raise Changed(f"{path} was changed meanwhile.")
            return edited_bytes(data, edit)

        with suppress(Changed):
            rewrite_entries_in_lock(journal, path, change, keep=False)
            here = edit.after
    if here and edit.path != edit.to and not is_moved:
        with suppress(Refused):
            journal.writer.move(edit.path, edit.to)
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
    for path in moves.values():
        with suppress(NotFound):
            for id in find_ids(journal.read(path)):
                text = journal.saved_copy(id)
                if text and text.path in moves:
                    journal.saved.put(text._replace(path=path))
    for run in list(journal.runs.all()) if moves else ():
        if any(block.path in moves for block in run.blocks):
            blocks = [replace(b, path=moves.get(b.path, b.path)) for b in run.blocks]
            blocks.sort(key=lambda block: block.path)
            journal.runs.put(replace(run, blocks=tuple(blocks)))


def _exists(journal: Journal, path: str) -> bool:
    """True if the folder lists a file of exactly this name."""
    place = journal.place(path)
    with suppress(OSError):
        return place.name in {one.name for one in place.parent.iterdir()}
    return False


def _is_taken(journal: Journal, edit: FileEdit) -> bool:
    """True if another file has the path to which an edit moves a file."""
    old = journal.place(edit.path)
    new = journal.place(edit.to)
    with suppress(OSError):
        return not new.samefile(old)
    return False


def _hash_of_file(journal: Journal, path: str) -> str:
    """The hash of a file, "" without one."""
    with suppress(NotFound):
        return file_hash(journal.read(path))
    return ""


def folders_to_make(journal: Journal, paths: Sequence[str]) -> tuple[str, ...]:
    """The folders of these paths that do not exist yet."""
    missing = []
    for path in paths:
        for folder in PurePosixPath(path).parents:
            name = folder.as_posix()
            if name != "." and not Path(journal.place(name)).exists():
                missing.append(name)
    return tuple(sorted(set(missing)))
