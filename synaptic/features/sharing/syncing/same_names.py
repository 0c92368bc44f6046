"""Tells files apart that two machines added under one name, such as `2026-11-21-gel.png`.

| both machines               | result                                                         |
|-----------------------------|----------------------------------------------------------------|
| added a file of this name   | ours gets letters of its hash, and our links follow            |
| added one with equal bytes  | one file                                                       |
| changed a file of both      | both stay; theirs gets a name with its time (`trees`), and is  |
|                             | named until a note links to it or one of the two is deleted    |
"""

from __future__ import annotations

from functools import cache
from pathlib import PurePosixPath

from ....journal.folder import is_note
from ....journal.names import printable_path
from ....journal.shelf import files_by_name, possible_file_paths
from ....notes.blocks import LONE_CR, without_code
from ....notes.link_places import Splice, byte_offsets, find_link_places, replace_pieces
from .shares import BESIDE, FILE_MODES
from .sync_repository import Changes, Repo, Tree

LETTERS = 7
"""The number of letters of git's hash of a file in its new name."""


def rename_files_of_both(repo: Repo, base: str, ours: str, theirs: str) -> str:
    """Makes a commit on top of `ours` in which each file that theirs added with other bytes has
    a name of its own, and our notes link to that; returns its id, or `ours`.
    """
    was, mine, other = (repo.read_tree(commit) for commit in (base, ours, theirs))
    names = {
        path: _own_name(path, mine[path][1])
        for path in mine.keys() & other.keys() - was.keys()
        if mine[path] != other[path] and _is_plain_attachment(repo, path, mine, other)
    }
    if not names:
        return ours
    changes: Changes = dict.fromkeys(names)
    changes |= {new: mine[path] for path, new in names.items()}
    notes = [path for path in mine if is_note(path) and mine[path] != was.get(path)]
    for path, (data,) in repo.read_versions(sorted(notes), mine):
        after = _follow_files(repo, path, data or b"", names, mine)
        if after != data:
            changes[path] = after
    repo.report.renamed.update(names)
    return repo.make_commit([ours], mine, changes, "Give files names of their own")


def describe_same_names(repo: Repo, commit: str) -> list[str]:
    """A sentence for each file of this machine that a merge renamed, and for each second
    version in this commit to which no note links.
    """
    return [
        f"Both machines have another file {printable_path(path)}. That of this machine is "
        f"{printable_path(new)} now, and the notes that show it link there."
        for path, new in repo.report.renamed.items()
    ] + [
        f"Both machines changed {printable_path(path)}. The other version is "
        f"{printable_path(second)}: link to it in a note, or delete one of the two."
        for path, second in _find_second_versions(repo, repo.read_tree(commit))
    ]


def _find_second_versions(repo: Repo, tree: Tree) -> list[tuple[str, str]]:
    """Pairs of a file that both machines changed, and its second version without a link."""
    pairs = []
    for path in tree:
        name = PurePosixPath(path)
        stem, sign, _ = name.stem.partition(BESIDE)
        first = name.with_name(f"{stem}{name.suffix}").as_posix()
        if sign and first in tree and not is_note(path):
            pairs.append((first, path))
    if not pairs:
        return []
    notes = [path for path in tree if is_note(path)]
    texts = [data or b"" for _, (data,) in repo.read_versions(notes, tree)]
    return [
        (first, second)
        for first, second in pairs
        if not any(PurePosixPath(second).stem.encode() in text for text in texts)
    ]


def _is_plain_attachment(repo: Repo, path: str, *trees: Tree) -> bool:
    is_plain = all(tree[path][0] in FILE_MODES for tree in trees)
    return is_plain and not is_note(path) and repo.shares.is_shareable_path(path)


def _own_name(path: str, hash: str) -> str:
    name = PurePosixPath(path)
    return name.with_name(f"{name.stem}-{hash[:LETTERS]}{name.suffix}").as_posix()


def _follow_files(
    repo: Repo, note: str, data: bytes, names: dict[str, str], tree: Tree
) -> bytes:
    """The bytes of a note of this tree whose links to renamed files lead to the new names; also
    in private passages.
    """
    text = LONE_CR.sub("\n", data.decode("utf-8", "surrogateescape"))
    listing = cache(files_by_name)
    additions: dict[int, str] = {}
    for link in find_link_places(without_code(text)):
        candidates = possible_file_paths(repo.journal.roots, link.target, note, listing)
        file = next((path for path in candidates if path in tree), "")
        dot = link.target.rfind(".")  # an encoded one is not followed
        if file in names and dot > 0:
            letters = names[file].removesuffix(PurePosixPath(file).suffix)[-LETTERS - 1 :]
            additions[link.start + dot] = letters
    offsets = byte_offsets(text, additions)
    splices = [Splice(offsets[at], "", letters) for at, letters in sorted(additions.items())]
    return replace_pieces(data, splices)
