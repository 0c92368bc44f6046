"""Merges two commits, file by file and entry by entry."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import NamedTuple

from ....errors import JournalError, Refused
from ....journal.entry_edits import bare_days
from ....journal.folder import is_note
from ....journal.moves import note_moves
from ....notes.dates import is_day_file
from ....verbs.settling import note_own_conflicts
from ..merge import merge
from ..pieces import Decision, split_version
from .decided import message_of_merge
from .moved_entries import carry_moved_entries
from .same_names import rename_files_of_both
from .shares import BESIDE, FILE_MODES, SETUP, find_path_clashes, list_some_paths
from .sync_repository import Changes, Repo, Tree, differing_paths
from .two_names import take_their_names

Versions = tuple[bytes | None, bytes | None, bytes | None]
"""The bytes of a file in three versions: base, ours, theirs; None where it does not exist."""


class MergedTree(NamedTuple):
    """The id of a merged commit, and in `unsent` the paths of ours that it cannot hold, because
    theirs has a folder where ours has a file, or the other way round.
    """

    commit: str
    unsent: tuple[str, ...] = ()


class _Sides(NamedTuple):
    """What two sides made of their base: the trees of base, ours and theirs, and the new path
    of each note that a side renamed, by its old one. `theirs` is the id of their commit.
    """

    trees: tuple[Tree, Tree, Tree]
    our_moves: Mapping[str, str]
    their_moves: Mapping[str, str]
    theirs: str


def merge_commits(repo: Repo, ours: str, theirs: str) -> MergedTree:
    """Merges two commits into a new one; returns one of the two if it already holds the other.
    Raises Refused if theirs names a filter in `.gitattributes`.
    """
    if theirs in ("", ours):
        return MergedTree(ours)
    base = repo.try_git("merge-base", ours, theirs) if ours else ""
    if base == theirs:
        return MergedTree(ours)
    _refuse_filters(repo, theirs)
    their_moves = repo.find_renamed_notes(base, theirs)
    note_moves(repo.config.state, their_moves)
    if not ours or base == ours:
        return MergedTree(theirs)
    before = len(repo.report.decisions)
    ours = rename_files_of_both(repo, base, ours, theirs)
    ours = take_their_names(repo, base, ours, theirs)
    was, mine, other = (repo.read_tree(commit) for commit in (base, ours, theirs))
    our_moves = repo.find_renamed_notes(base, ours)
    sides = _Sides((was, mine, other), our_moves, their_moves, theirs)
    changes = _merge_sides(repo, sides)
    unsent = _paths_without_room(mine, other, changes)
    changes |= dict.fromkeys(unsent)
    message = message_of_merge(repo.report.decisions[before:])
    return MergedTree(repo.make_commit([ours, theirs], mine, changes, message), unsent)


def _refuse_filters(repo: Repo, commit: str) -> None:
    """Raises Refused if a `.gitattributes` of this commit names a filter program."""
    search = ("grep", "-l", "-F", "-e", "filter=", commit, "--", ":(glob)**/.gitattributes")
    paths = [line.partition(":")[2] for line in repo.try_git(*search).splitlines()]
    if paths:
        raise Refused(
            f"Nothing was synced: {list_some_paths(paths)} names a filter program, "
            "and Synaptic runs none.",
            hint="Remove the word filter=... from that file on the machine that added it, "
            "and sync there.",
        )


def _merge_sides(repo: Repo, sides: _Sides) -> Changes:
    """Merges the files of two sides; returns the changes to make in our tree."""
    _, mine, _ = sides.trees
    changes, both = _take_their_changes(repo, *sides.trees)
    renamed, both = _merge_renamed_notes(repo, sides, both)
    changes |= renamed
    moves = [*sides.our_moves.items(), *sides.their_moves.items()]
    carried = carry_moved_entries(repo, sides.trees, moves)
    changes = {path: change for path, change in changes.items() if path not in carried}
    for path, versions in carried.items():
        base, one, two = (data or None for data in versions)
        merged = {path: one} | merge_file_changes(repo, path, (base, one, two), sides.theirs)
        changes |= {name: data for name, data in merged.items() if data or name in mine}
    both = [path for path in both if path not in carried]
    for path, (base, one, two) in repo.read_versions(both, *sides.trees):
        changes |= merge_file_changes(repo, path, (base, one, two), sides.theirs)
    return changes


def _take_their_changes(
    repo: Repo, was: Tree, mine: Tree, other: Tree
) -> tuple[Changes, list[str]]:
    """(the changes of theirs that our tree takes as they are, the paths of the files that both
    sides changed and that are to be merged).
    """
    changes: Changes = {}
    both = []
    for path in differing_paths(mine, other):
        if other.get(path) == was.get(path):
            continue
        if mine.get(path) == was.get(path):
            changes[path] = other.get(path)
        else:
            both.append(path)
    unmerged = _paths_to_take_unmerged(repo, both, mine, other)
    changes |= {path: other[path] for path in unmerged}
    return changes, [path for path in both if path not in unmerged]


def _merge_renamed_notes(
    repo: Repo, sides: _Sides, both: Sequence[str]
) -> tuple[Changes, list[str]]:
    """Merges the notes that both sides renamed alike, and those that one side renamed and the
    other changed: these are among the paths `both`. Notes a decision for each that one side
    renamed and the other deleted, since it stays.

    Returns (the changes to make in our tree, the paths of `both` that are still to be merged).
    """
    _, mine, other = sides.trees
    our_moves, their_moves = sides.our_moves, sides.their_moves
    changes: Changes = {}
    merged = set()
    for old, new in our_moves.items():
        if their_moves.get(old) == new:
            changes |= _merge_moved_note(repo, sides, old, new)
            merged.add(new)
        elif old not in {*other, *their_moves}:
            repo.report.decisions.append(Decision("back", new, new))
    for old, new in their_moves.items():
        if old not in {*mine, *our_moves}:
            repo.report.decisions.append(Decision("back", new, new))
    moves = {old: new for old, new in their_moves.items() if old in mine and new not in mine}
    moves |= {old: new for old, new in our_moves.items() if old in other and new not in other}
    for old in both:
        if old in moves:
            changes |= _merge_moved_note(repo, sides, old, moves[old])
            merged.add(old)
    return changes, [path for path in both if path not in merged]


def _merge_moved_note(repo: Repo, sides: _Sides, old_path: str, new_path: str) -> Changes:
    """Merges a note whose versions stand at the path `old_path` or, where a side renamed it, at
    `new_path`; returns the changes to make in our tree.
    """
    versions = [
        {new_path: tree[new_path if new_path in tree else old_path]} for tree in sides.trees
    ]
    [(_, (base, one, two))] = repo.read_versions([new_path], *versions)
    changes = merge_file_changes(repo, new_path, (base, one, two), sides.theirs)
    _, mine, _ = sides.trees
    if old_path in mine:
        return {new_path: one, old_path: None} | changes
    return changes


def _paths_to_take_unmerged(
    repo: Repo, paths: Sequence[str], mine: Tree, other: Tree
) -> set[str]:
    """Returns the paths at which the merged commit takes theirs unmerged, because one of the
    two versions is never received as a note, such as a link.
    """
    plain = [other[path][1] for path in paths if other.get(path, ("", ""))[0] in FILE_MODES]
    sizes = repo.object_sizes(plain)
    alone = set()
    for path in paths:
        if path not in other:
            continue
        mode, id = other[path]
        is_link = mode not in FILE_MODES or mine.get(path, FILE_MODES)[0] not in FILE_MODES
        is_note_here = repo.shares.is_shareable_path(path)
        reason = is_note_here and repo.shares.obstacle_to_sharing(path, mode, sizes.get(id, 0))
        if is_link or reason or path in SETUP:
            alone.add(path)
    return alone


def _paths_without_room(mine: Tree, other: Tree, changes: Changes) -> tuple[str, ...]:
    """Returns the paths of ours that cannot exist beside the paths of theirs, such as a file
    `a` beside `a/b`.
    """
    paths = {path for path in mine if path not in changes}
    paths |= {path for path, change in changes.items() if change is not None}
    unsent = {below if above in other else above for above, below in find_path_clashes(paths)}
    return tuple(sorted(unsent))


def merge_file_changes(repo: Repo, path: str, versions: Versions, theirs: str) -> Changes:
    """Merges three versions of a file; returns the changes to make in our tree. Of two versions
    that cannot be merged, theirs gets another name, with the id of its commit.
    """
    _, one, two = versions
    data, clash = merge_file_versions(repo, path, versions)
    if not clash or data != one:
        return {} if data == one else {path: data}
    name = PurePosixPath(path)
    stamp = time.strftime(f"{BESIDE}%Y%m%d-%H%M%S-")
    beside = name.with_name(f"{name.stem}{stamp}{theirs[:7]}{name.suffix}")
    return {beside.as_posix(): two}


def merge_file_versions(repo: Repo, path: str, versions: Versions) -> tuple[bytes | None, bool]:
    """Merges three versions of a file; returns (merged bytes or None for no file, True for a
    conflict). If the result of a conflict equals ours, theirs is not in it.
    """
    base, ours, theirs = versions
    if theirs in (ours, base):
        return ours, False
    if ours == base:
        return theirs, False
    edited = ours if theirs is None else theirs
    is_back = base is not None and None in (ours, theirs)
    back = [Decision("back", path, path)] if is_back else []
    if is_note(path):
        with suppress(JournalError):  # what is no text is not merged by lines
            texts = (base or b"", ours or b"", theirs or b"")
            done = merge(*texts, path, repo.config.day_file)
            clash = done.conflicts > 0
            if clash and None in (ours, theirs):
                repo.report.decisions.extend(back)
                return edited, False
            data = b"" if is_bare_day(repo, path, base, done.data) else done.data
            is_day = is_day_file(path, repo.config.day_file)
            if data and not is_day and not done.decisions:
                repo.report.decisions.extend(back)
            repo.report.decisions.extend(done.decisions)
            if clash:
                repo.report.conflicts[path] = None
                note_own_conflicts(repo.config.state, data)
            return data or None, clash
    if None in (ours, theirs):
        repo.report.decisions.extend(back)
        return edited, False
    if is_note(path):
        repo.report.conflicts[path] = None
    return ours, True


def is_bare_day(repo: Repo, path: str, before: bytes | None, data: bytes) -> bool:
    """True for the bytes of a day that holds its heading alone, since its entries are gone."""
    split = split_version(before or b"", path, repo.config.day_file) if before else None
    entries = split.pieces if split else []
    return bool(entries) and data in bare_days(repo.journal, path, entries[0].text)
