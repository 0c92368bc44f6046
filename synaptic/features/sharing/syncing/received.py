"""Brings the files and the branch of this machine to a merged commit.

1. `receive_commit` notes what is about to happen, so that the next sync can finish it after
a kill.
2. `_apply_difference` changes one file after another by the one way of `FileWriter`.
3. What could not be received stands in the difference of `HELD` from the merged commit.
4. The branch moves, and then git's index follows, but for what a person staged.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence

from ....errors import Busy, Changed, JournalError, SynapticError
from ....journal import disk
from ....journal.comments import find_ids
from ....journal.folder import is_note
from ....journal.git_process import run_git
from ....journal.saved import SavedText
from ....journal.text import normalize_block
from ....journal.writer import Draft, Stat
from ....notes.privacy import has_private_tag
from ....verbs.settling import count_conflicts
from .memory import read_sync_record, update_sync_record
from .shares import (
    EDITED,
    FILE_MODES,
    FOREIGN,
    IGNORED,
    LONG,
    Entry,
    Obstacle,
    obstacle_from_error,
)
from .sync_repository import Changes, Repo, Tree, differing_paths, parse_tree
from .trees import merge_file_versions

NOT_RECEIVED = "Not received"
_NO_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""Numbers of OSErrors that would strike every other file, too, such as a full disk."""


def receive_commit(repo: Repo, head: str, held: str, merged: str) -> None:
    """Changes the files from the state of the commit `held` to that of `merged`, and moves the
    branch from `head` to `merged`. Raises JournalError if the disk accepts no more writes; the
    next sync continues there.
    """
    if merged != head or held != merged:
        update_sync_record(repo.config, applying=[head, held, merged])
        _receive(repo, head, held, merged)


def finish_receiving(repo: Repo) -> None:
    """Completes the change of files that a killed sync began, if its commits are still
    there.
    """
    head, held, merged = read_sync_record(repo.config).get("applying") or ("", "", "")
    if merged and repo.find_commit(merged) and repo.find_commit(held) == held:
        _receive(repo, head, held, merged)
    else:
        _end_receiving(repo)


def _receive(repo: Repo, head: str, held: str, merged: str) -> None:
    now = repo.find_commit("HEAD")
    if now != merged or head == merged:
        left = _apply_difference(repo, head, held, merged)
        if now == head:
            _store_held_files(repo, merged, left)
    if now == head != merged:
        none = "0" * len(merged)
        repo.run_git("update-ref", "-m", "synaptic sync", "HEAD", merged, head or none)
        disk.inject_fault("sync-moved")
    if now in (head, merged):
        _update_git_index(repo, head, merged)
    _end_receiving(repo)


def _end_receiving(repo: Repo) -> None:
    repo.journal.writer.settled.unlink(missing_ok=True)
    update_sync_record(repo.config, applying=None)


def _apply_difference(
    repo: Repo, head: str, before: str, after: str
) -> dict[str, Entry | None]:
    """Applies the difference between two commits to the files of the journal, which may have
    changed since. Returns the files that could not be changed, each with its entry in `before`.
    """
    old_tree = repo.read_tree(before)
    new_tree = repo.read_tree(after)
    last = repo.read_tree(head)
    paths = differing_paths(old_tree, new_tree) if before != after else []
    plain = [
        new_tree[path][1] for path in paths if new_tree.get(path, ("", ""))[0] in FILE_MODES
    ]
    sizes = repo.object_sizes(plain)
    added = [
        path for path in paths if path not in old_tree and repo.shares.is_shareable_path(path)
    ]
    ignored = repo.find_ignored(added)
    left: dict[str, Entry | None] = {}
    wanted = []
    for path in paths:
        mode, id = new_tree.get(path, (FILE_MODES[0], ""))
        reason = repo.shares.obstacle_to_sharing(path, mode, sizes.get(id, 0))
        if path in ignored and not reason:
            reason = IGNORED
        if not reason:
            wanted.append(path)
        elif path in new_tree:
            left[path] = old_tree.get(path)
            if reason != FOREIGN or last.get(path) != new_tree[path]:
                repo.report.leave_out(NOT_RECEIVED, path, reason)
    wanted.sort(key=lambda path: path in new_tree)  # a deleted file may give way to a folder
    reasons = dict(_receive_files(repo, wanted, old_tree, new_tree))
    again = [path for path in wanted if reasons[path] == EDITED]
    reasons |= _receive_files(repo, again, old_tree, new_tree)
    for path, reason in reasons.items():
        if reason:
            left[path] = old_tree.get(path)
            repo.report.leave_out(NOT_RECEIVED, path, reason)
    return left


def _receive_files(
    repo: Repo, paths: Sequence[str], old_tree: Tree, new_tree: Tree
) -> Iterator[tuple[str, Obstacle | None]]:
    """Changes the files at `paths` from one tree to the other; yields each path with the
    obstacle that prevented it, or None.
    """
    writer = repo.journal.writer
    with repo.journal.writing():
        done = set(disk.read_state_lines(writer.settled))
    for path, (before, after) in repo.read_versions(paths, old_tree, new_tree):
        reason = None
        try:
            if json.dumps(path) not in done:
                reason = _receive_file(repo, path, before, after)
        except Changed:
            reason = EDITED
        except SynapticError as error:
            reason = _obstacle_of_error(error, path)
        for id in find_ids(before or b"") - find_ids(after or b"") if not reason else ():
            repo.journal.saved.forget(id)  # deleted elsewhere: it has not vanished
        if not reason:
            repo.report.received.add(path)
            if is_note(path) and count_conflicts(after) > count_conflicts(before):
                repo.report.conflicts[path] = None
        disk.inject_fault("sync-applied")
        yield path, reason


def _receive_file(
    repo: Repo, path: str, before: bytes | None, after: bytes | None
) -> Obstacle | None:
    """Merges one received change into a file; returns the obstacle that prevents it, or
    None.
    """
    writer = repo.journal.writer
    missed: dict[str, SavedText] = {}

    def make(data: bytes, status: Stat) -> Draft | None:
        added = find_ids(after or b"") - find_ids(before or b"")
        if added and added <= find_ids(data):
            return None  # a sync that was killed did it, and a hand edit hid that
        present = data if status else None
        wanted, _ = merge_file_versions(repo, path, (before, present, after))
        writer.note_intent(path, wanted)
        if wanted == present:
            return None
        return Draft(wanted, _take_copies(repo, path, data, wanted or b"", missed))

    with repo.journal.writing():
        with disk.disk_errors(path):
            obstacle = repo.shares.obstacle_to_writing(path, is_new=before is None)
        if obstacle:
            return obstacle if after is not None else None
        try:
            writer.change(path, make)
        except SynapticError:
            for record in missed.values():
                repo.journal.saved.put(record)
            raise
        writer.settle_intent()
    return None


def _take_copies(
    repo: Repo, path: str, present: bytes, wanted: bytes, missed: dict[str, SavedText]
) -> tuple[SavedText, ...]:
    """Takes the copies of the entries that a merge changes, moves or deletes out of `done/`,
    into `missed`: after a kill none of these texts is missed. Returns their copies of then.

    A copy whose text had vanished before stays.
    """
    journal = repo.journal
    before, after = find_ids(present), find_ids(wanted)
    for id in before | after:
        record = journal.saved_copy(id) if id not in missed else None
        if record:
            missed[id] = record
    if not missed:
        return ()
    present_texts, wanted_texts = (_texts_by_id(repo, path, data) for data in (present, wanted))
    copies = []
    for id, record in [*missed.items()]:
        text = wanted_texts.get(id, b"")
        if id not in before:
            there = journal.find_or_none(record.path, id)
            texts = _texts_by_id(repo, record.path, there[0]) if there else {}
            present_texts[id] = texts.get(id, b"")
        if record.text != present_texts.get(id) or record.text == text:
            del missed[id]
            continue
        journal.saved.forget(id)
        if text and not has_private_tag(text):
            copies.append(journal.saved_text(path, id, text))
    return tuple(copies)


def _texts_by_id(repo: Repo, path: str, data: bytes) -> dict[str, bytes]:
    """The text of each entry in these bytes, which are any version of the file."""
    entries = repo.journal.parse(path, data).entries
    places = {entry.id: entry.there for entry in entries if not entry.whole_file}
    return {id: normalize_block(data[place.start : place.end]) for id, place in places.items()}


def _obstacle_of_error(error: SynapticError, path: str) -> Obstacle:
    """Returns the reason why one file was not received. Raises JournalError or Busy if every
    other file would meet the same error.
    """
    if isinstance(error, Busy):
        raise error
    reason = obstacle_from_error(error, path)
    number = error.__cause__.errno if isinstance(error.__cause__, OSError) else None
    if number in _NO_DISK:
        step = f"{reason.step} The next sync goes on there."
        raise JournalError(f"{reason.words}.", step) from error
    return LONG if number == errno.ENAMETOOLONG else reason


def _store_held_files(repo: Repo, commit: str, left: dict[str, Entry | None]) -> None:
    """Stores in the git ref HELD the versions of the files that differ here from `commit`.
    `left` maps their paths to the entries that this machine has.
    """
    tree = repo.read_tree(commit)
    changes: Changes = {}
    for path, entry in left.items():
        if entry != tree.get(path):
            changes[path] = entry
    held = repo.find_held()
    if not changes:
        if held:
            repo.move_held("")
        return
    is_new = not held or repo.find_commit(f"{held}^") != commit
    if is_new or repo.unreceived_files(commit) != changes:
        repo.move_held(repo.make_commit([commit], tree, changes, "The files of this machine"))
    disk.inject_fault("sync-held")


def _update_git_index(repo: Repo, before: str, after: str) -> None:
    """Updates git's index from commit `before` to `after`, except for what a person staged.
    Files that this machine has in another version are marked as in a sparse checkout, so that
    no manual commit removes them.
    """
    old_tree = repo.read_tree(before)
    new_tree = repo.read_tree(after)
    index_lines = repo.run_git("ls-files", "-t", "-s", "-z")
    staged = parse_tree(index_lines, mode_at=1)
    left = repo.unreceived_files(after)
    tags = parse_tree(index_lines, mode_at=0)
    back = {path for path, (tag, _) in tags.items() if tag == "S"} - left.keys()
    here = {path for path in back if os.path.lexists(repo.config.journal / path)}
    lines: dict[str, str] = {}
    for path in sorted({*differing_paths(old_tree, new_tree), *here}):
        if staged.get(path) == old_tree.get(path):
            mode, id = new_tree.get(path, ("0", "0" * len(after)))
            lines[path] = f"{mode} {id}\t{path}\0"
    aside = [path for path in left if path in new_tree and (path in staged or path in lines)]
    odd = "".join(lines.pop(path, "") for path in aside)
    words = ("update-index", "-z")
    repo.run_git(*words, "--index-info", stdin=os.fsencode("".join(lines.values())))
    names = "".join(f"{path}\0" for path in aside)
    marks = ("--skip-worktree", "--stdin")
    for options, paths in ((("--index-info",), odd), (marks, names)):
        if paths:  # git for Windows takes no odd name
            run_git(repo.config.journal, *words, *options, stdin=os.fsencode(paths))
