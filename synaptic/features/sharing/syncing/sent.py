"""Makes a commit of the journal's notes and attachments. Nothing moves yet."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import NamedTuple
from urllib.parse import unquote

from ....errors import JournalError, NotFound, Refused
from ....journal.file_moves import read_moves
from ....journal.folder import is_note
from ....journal.names import printable_path
from ....notes.link_places import find_written_links
from ....notes.marks import name_in_link
from ....notes.picture_kinds import PICTURE_BYTES
from ....notes.screening import Screen
from .memory import read_sync_record
from .shares import (
    FILE_MODES,
    IGNORED,
    LINKED,
    SETUP,
    SIZE,
    TAKEN,
    Entry,
    find_path_clashes,
    is_file_gone,
    list_some_paths,
    obstacle_from_error,
)
from .sync_repository import Changes, Repo, Tree
from .trees import merge_file_changes

TITLES = 20
"""The most titles of entries in the message of a commit."""
NOT_SENT = "Not sent"


class Snapshot(NamedTuple):
    """The ids of two commits. `held` has the files as this machine has them; `ours` has their
    changes on top of the shared commit.
    """

    held: str
    ours: str


def commit_files(repo: Repo, head: str) -> Snapshot:
    """Commits the files of the journal as they are; returns the ids of both commits, which are
    `head` if nothing changed and every file was received.
    """
    shared = repo.read_tree(head)
    left = repo.unreceived_files(head)
    here = {path: entry for path, entry in shared.items() if path not in left}
    here |= {path: entry for path, entry in left.items() if entry}
    edits = _find_edits(repo, head, here)
    fitting = _drop_blocked_edits(repo, shared, edits, left)
    _check_filters(repo, fitting)
    changes: Changes = {path: edit for path, edit in fitting.items() if path not in left}
    behind = [path for path in fitting if path in left]
    for path, (held_data, shared_data) in repo.read_versions(behind, here, shared):
        versions = (held_data, shared_data, fitting[path])
        changes |= merge_file_changes(repo, path, versions, head)
    if not read_sync_record(repo.config).get("shared"):
        added = {name: text.encode() for name, text in SETUP.items() if name not in shared}
        changes |= added
    ours = head
    if changes:
        message = _commit_message(repo, shared, changes)
        before = _commit_renames(repo, head, changes)
        ours = repo.make_commit([before], repo.read_tree(before), changes, message)
    overlay: Changes = {path: fitting.get(path, entry) for path, entry in left.items()}
    held = ours
    if overlay:
        held = repo.make_commit(
            [ours], repo.read_tree(ours), overlay, "The files of this machine"
        )
    return Snapshot(held, ours)


def _commit_renames(repo: Repo, head: str, changes: Changes) -> str:
    """Makes a commit in which notes have their new names and their old bytes, so that each
    machine knows them again however much they were edited; returns its id, or `head` if none
    was renamed.
    """
    shared = repo.read_tree(head)
    gone = [path for path, data in changes.items() if data is None and path in shared]
    here = {path for path in {*shared, *changes} if changes.get(path, b"") is not None}
    moves = read_moves(repo.config.state, here) if gone else {}
    names = {
        moves[path]: path for path in gone if moves.get(path, "") in changes.keys() - shared
    }
    if not names:
        return head
    renames: Changes = {new: shared[old] for new, old in names.items()}
    renames |= dict.fromkeys(names.values())
    return repo.make_commit([head], shared, renames, "Rename notes of the journal")


def note_paths(repo: Repo, head: str) -> list[str]:
    """Returns the paths of the notes that a sync would send."""
    return [path for path in _list_files_to_send(repo, repo.read_tree(head)) if is_note(path)]


def count_entries(repo: Repo, paths: Sequence[str], before: Tree, after: Tree) -> int:
    """Returns how many entries in these files are new, changed, deleted or in another file
    between the trees `before` and `after`.
    """
    ids: set[str] = set()
    notes = [path for path in paths if is_note(path)]
    for path, versions in repo.read_versions(notes, before, after):
        old, new = (_note_entries(repo, path, data) for data in versions)
        ids.update(id for id, _ in old ^ new)
    return len(ids)


def _note_entries(repo: Repo, path: str, data: bytes | None) -> set[tuple[str, bytes]]:
    """Returns the entries in one version of a note as a set of (id, bytes)."""
    if not data:
        return set()
    entries = repo.journal.parse(path, data).entries
    return {(entry.id, data[entry.there.start : entry.there.end].strip()) for entry in entries}


def describe_ignored_notes(repo: Repo, head: str) -> dict[str, int]:
    """Returns a sentence about the new notes that git ignores and a sync therefore does not
    send, with their number; {} if there are none.
    """
    new = [
        path
        for path in _list_files(repo)
        if is_note(path) and path not in repo.read_tree(head)
        if repo.shares.is_shareable_path(path)
    ]
    paths = sorted(repo.find_ignored(new))
    if not paths:
        return {}
    count = f"{len(paths):,} notes stay" if len(paths) > 1 else "1 note stays"
    sentence = f"{count} here: {list_some_paths(paths)} ({IGNORED.words}). {IGNORED.step}"
    return {sentence: len(paths)}


def count_files_that_stay(repo: Repo, commit: str) -> int:
    """Returns how many files of the journal's folder are not in this commit and are named
    nowhere else: settings of programs, templates, canvases.
    """
    tree = repo.read_tree(commit)
    named = {path for paths in repo.report.left.values() for path in paths}
    paths = {*_list_files(repo, hidden=True)} - tree.keys() - named - SETUP.keys()
    ignored = repo.find_ignored([path for path in paths if is_note(path)])
    return len(paths - {*ignored})


def _find_linked_names(repo: Repo, notes: Sequence[str]) -> set[str]:
    """Returns the names of the files to which notes link, in whatever folder."""
    names = set()
    for path in notes:
        with suppress(NotFound, JournalError):
            text = repo.journal.read(path).decode("utf-8", "replace")
            for link in find_written_links(text):
                written = name_in_link(link.target)
                target = unquote(written) if link.form == "markdown" else written
                names.add(PurePath(target.replace("\\", "/")).name)
    return names


def _list_files(repo: Repo, *, hidden: bool = False) -> list[str]:
    """Returns the sorted paths of all files in the journal's folder; with `hidden` also those
    in folders with a dot in front, but for git's and Synaptic's own.
    """
    paths = []
    root = repo.config.journal
    own = (root / ".git", repo.config.state)
    for folder, folders, names in os.walk(root):
        here = Path(folder)
        if hidden:
            folders[:] = [name for name in folders if here / name not in own]
        else:
            folders[:] = [name for name in folders if name[0] != "."]
        for name in names:
            file = here / name
            path = file.relative_to(root).as_posix()
            if not file.is_symlink() and file.is_file():
                paths.append(path)
    return sorted(paths)


def _list_files_to_send(repo: Repo, here: Tree) -> list[str]:
    """Returns the paths of the files that a sync may send, notes and what they link to. `here`
    are the files that this machine held last: they stay sent, also if git ignores them.
    """
    paths = []
    every = [path for path in _list_files(repo) if repo.shares.is_shared_place(path)]
    linked = _find_linked_names(repo, [path for path in every if is_note(path)])
    for path in every:
        is_linked = PurePath(path).name in linked
        if not repo.shares.is_shareable_path(path):
            if is_linked:
                repo.report.leave_out(NOT_SENT, path, LINKED)
            continue
        if not (path in here or is_linked or repo.shares.is_sent_unlinked(path)):
            continue
        file = repo.config.journal / path
        reason = repo.shares.obstacle_to_sharing(path)
        try:
            size = file.stat().st_size
        except OSError:  # gone meanwhile, or in a folder that may not be read
            continue
        if size > PICTURE_BYTES:
            reason = reason or SIZE
        if reason:
            repo.report.leave_out(NOT_SENT, path, reason)
        else:
            paths.append(path)
    ignored = repo.find_ignored([path for path in paths if path not in here])
    return [path for path in paths if path not in ignored]


def _find_edits(repo: Repo, head: str, here: Tree) -> dict[str, bytes | None]:
    """Maps the paths that changed since the tree `here`, which this machine held last, to their
    new bytes; None for a deleted file.
    """
    kind = "sha256" if len(head) == 64 else "sha1"
    edits: dict[str, bytes | None] = {}
    present = set(_list_files_to_send(repo, here))
    for path in sorted(present):
        try:
            data = repo.journal.read(path)
        except NotFound:
            continue
        except JournalError as error:
            repo.report.leave_out(NOT_SENT, path, obstacle_from_error(error, path))
            continue
        blob = hashlib.new(kind, b"blob %d\0" % len(data) + data)
        if blob.hexdigest() != here.get(path, ("", ""))[1]:
            edits[path] = data
    for path in here.keys() - present:
        is_plain = here[path][0] in FILE_MODES
        if (
            is_plain
            and repo.shares.is_shareable_path(path)
            and is_file_gone(repo.config.journal / path)
        ):
            edits[path] = None
    return edits


def _drop_blocked_edits(
    repo: Repo, shared: Tree, edits: dict[str, bytes | None], left: dict[str, Entry | None]
) -> dict[str, bytes | None]:
    """Returns the edits without those whose path is occupied in the repository by something
    that was not received: a link, or a folder where this machine has a file.
    """
    paths = {path for path in shared if edits.get(path, b"") is not None}
    paths |= {path for path, data in edits.items() if data is not None}
    taken = {path for pair in find_path_clashes(paths) for path in pair}
    fitting = {}
    for path, data in edits.items():
        is_taken = path in taken
        entry = shared.get(path)
        if entry and (path in left or entry[0] not in FILE_MODES):
            size = repo.object_sizes([entry[1]])[entry[1]] if entry[0] in FILE_MODES else 0
            is_taken |= repo.shares.obstacle_to_sharing(path, entry[0], size) is not None
        if not is_taken:
            fitting[path] = data
        elif data is not None:
            repo.report.leave_out(NOT_SENT, path, TAKEN)
    return fitting


def _check_filters(repo: Repo, paths: Iterable[str]) -> None:
    """Raises Refused if git's attributes name a filter program for one of these files."""
    names = os.fsencode("".join(f"{path}\0" for path in paths))
    if not names:
        return
    output = repo.run_git("check-attr", "-z", "--stdin", "filter", stdin=names)
    words = os.fsdecode(output).split("\0")
    for path, value in zip(words[::3], words[2::3], strict=False):
        if value not in ("unspecified", "unset"):
            raise Refused(
                f"Nothing was synced: git passes {printable_path(path)} through the filter "
                f"{value}, which Synaptic does not run.",
                hint="Remove the word filter=... for this file from .gitattributes, and "
                "sync again.",
            )


def _commit_message(repo: Repo, shared: Tree, changes: Changes) -> str:
    """Returns the commit message: the titles of new and changed entries, with secrets
    redacted.
    """
    screen = Screen("redact")
    titles = []
    for path, (old,) in repo.read_versions([path for path in changes if is_note(path)], shared):
        before, after = (
            repo.journal.parse(path, data).entries if isinstance(data, bytes) else ()
            for data in (old, changes[path])
        )
        texts = {(entry.title, entry.content) for entry in before}
        new = [entry.title for entry in after if (entry.title, entry.content) not in texts]
        titles += [screen.redact_secrets("title", " ".join(title.split())) for title in new]
    if len(titles) == 1:
        return titles[0]
    lines = [f"Files of the journal: {len(changes):,}", ""]
    return "\n".join([*lines, *(f"- {title}" for title in titles[:TITLES])]).strip()
