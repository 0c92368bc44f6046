"""Follows entries that one side moved to another file, while the other side changed them.

| ours             | theirs               | result                                             |
|------------------|----------------------|----------------------------------------------------|
| moved to a day   | edited where it was  | the edit, on that day                              |
| moved to a day   | moved to another day | on our day, and a decision                         |
| moved to a day   | deleted              | as ours, and a decision                            |

Files are merged one by one. So the entry is carried to its new file in all three versions
first; there it is merged like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ....journal.entry_edits import bare_days
from ....journal.folder import is_note
from ..merge import match_pieces
from ..pieces import Decision, Piece, find_line_end, split_version
from .shares import FILE_MODES
from .sync_repository import Repo, Tree, differing_paths

Versions = dict[str, list[bytes | None]]
"""Maps paths to the bytes of a file in three versions: base, ours, theirs."""


class _MovedEntry(NamedTuple):
    """An entry of the file `former_path` in the base, and the files in which both sides have
    it.
    """

    piece: Piece
    former_path: str
    paths: tuple[str, str]


def carry_moved_entries(
    repo: Repo, trees: tuple[Tree, Tree, Tree], renamed: Iterable[tuple[str, str]]
) -> Versions:
    """The versions of the files between which a side moved entries that the other side changed,
    with each such entry in its new file in all versions. `renamed` are old and new paths of
    notes that were renamed whole.
    """
    moves = _find_moved_entries(repo, trees, {*renamed})
    paths = sorted({path for move in moves for path in (move.former_path, *move.paths)})
    versions: Versions = dict(repo.read_versions(paths, *trees))
    for move in moves:
        ours, theirs = move.paths
        target = ours if ours != move.former_path else theirs
        for side, path in enumerate((move.former_path, ours, theirs)):
            if path != target:
                _carry(repo, versions, side, path, target, move.piece)
    return versions


def _find_moved_entries(
    repo: Repo, trees: tuple[Tree, Tree, Tree], renamed: set[tuple[str, str]]
) -> list[_MovedEntry]:
    was, mine, other = trees
    here = {path for path in differing_paths(was, mine) if is_note(path)}
    there = {path for path in differing_paths(was, other) if is_note(path)}
    both = [path for path in sorted(here & there) if path in was]
    missing: tuple[dict[bytes, str], dict[bytes, str]] = ({}, {})
    pieces: dict[bytes, tuple[str, Piece]] = {}
    for path, (base, *sides) in repo.read_versions(both, *trees):
        split = split_version(base or b"", path, repo.config.day_file)
        for side, data in enumerate(sides):
            present = split_version(data or b"", path, repo.config.day_file)
            if not split or not present:
                continue
            matched = match_pieces(split.pieces, present.pieces)
            for piece in split.pieces:
                if piece not in matched:
                    pieces[_key(piece)] = path, piece
                    missing[side][_key(piece)] = path
    places = [
        _find_places(repo, missing[side], changed, was, trees[side + 1])
        for side, changed in enumerate((here, there))
    ]
    moves = []
    for key, (path, piece) in pieces.items():
        ours, theirs = (
            places[side].get(key, "" if key in missing[side] else path) for side in (0, 1)
        )
        is_renamed = bool({(path, ours), (path, theirs)} & renamed)
        if bool(ours) != bool(theirs) and not is_renamed:
            repo.report.decisions.append(Decision("back", piece.key, ours or theirs))
        is_plain = not any(_is_odd(tree, (path, ours, theirs)) for tree in trees)
        if ours and theirs and is_plain and not is_renamed:
            moves.append(_MovedEntry(piece, path, (ours, theirs)))
    return moves


def _key(piece: Piece) -> bytes:
    """The bytes by which an entry is found in another file: its id, else its whole text."""
    return f"syn:{piece.id}".encode() if piece.id else piece.text


def _find_places(
    repo: Repo, missing: Mapping[bytes, str], changed: Iterable[str], was: Tree, tree: Tree
) -> dict[bytes, str]:
    """The file in which a side has each of these missing entries, by its key; without entries
    that it deleted.
    """
    places = {}
    paths = sorted(path for path in changed if path in tree) if missing else []
    for path, (before, after) in repo.read_versions(paths, was, tree):
        for key, former_path in missing.items():
            is_new = key in (after or b"") and key not in (before or b"")
            if path != former_path and is_new:
                places[key] = path
    return places


def _is_odd(tree: Tree, paths: Iterable[str]) -> bool:
    """True if one of these paths is no plain file in the tree, such as a link."""
    return any(tree.get(path, FILE_MODES)[0] not in FILE_MODES for path in paths)


def _carry(
    repo: Repo, versions: Versions, side: int, old_path: str, new_path: str, piece: Piece
) -> None:
    """Takes an entry out of the file `old_path` of one version, and puts it into `new_path`."""
    data = versions[old_path][side] or b""
    split = split_version(data, old_path, repo.config.day_file)
    moved = match_pieces([piece], split.pieces).get(piece) if split else None
    if not split or not moved:
        return
    texts = [part.text + part.gap for part in (split.head, *split.pieces) if part is not moved]
    eol = find_line_end(data)
    rest = b"".join(texts).rstrip(b"\r\n") + split.end if any(texts) else b""
    versions[old_path][side] = (
        rest if rest not in bare_days(repo.journal, old_path, moved.text) else b""
    )
    there = versions[new_path][side] or b""
    above = there.rstrip(b"\r\n") + eol * 2 if there.strip() else b""
    versions[new_path][side] = above + moved.text + eol
