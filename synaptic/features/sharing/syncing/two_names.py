"""Gives a note that both machines renamed one name, that of theirs; our links follow it."""

from __future__ import annotations

from collections.abc import Collection

from ....journal.folder import is_logseq_graph, is_note
from ....journal.moves import note_moves
from ....notes.blocks import LONE_CR, without_code
from ....notes.link_places import (
    LinkTargets,
    Splice,
    byte_offsets,
    find_link_places,
    how_written,
    page_of_path,
    replace_pieces,
)
from ..pieces import Decision
from .sync_repository import Changes, Repo


def take_their_names(repo: Repo, base: str, ours: str, theirs: str) -> str:
    """Makes a commit on top of `ours` in which each note that both sides renamed has the name
    that theirs gave it, and our links lead there; returns its id, or `ours`.
    """
    was, mine, other = (repo.read_tree(commit) for commit in (base, ours, theirs))
    their_moves = repo.find_renamed_notes(base, theirs)
    our_moves = repo.find_renamed_notes(base, ours) if their_moves else {}
    names: dict[str, str] = {}
    for old, new in our_moves.items():
        name = their_moves.get(old, new)
        if name != new and new not in {*was, *other} and name not in {*was, *mine}:
            names[new] = name
            repo.report.decisions.append(Decision("name", old, name, name, new))
    if not names:
        return ours
    note_moves(repo.config.state, names)
    moved: Changes = dict.fromkeys(names)
    moved |= {name: mine[new] for new, name in names.items()}
    # a commit of its own, by which each machine knows the note again
    ours = repo.make_commit([ours], mine, moved, "Rename notes of the journal")
    tree = repo.read_tree(ours)
    targets = _targets(repo, mine.keys()), _targets(repo, tree.keys())
    changes: Changes = {}
    for path, (data,) in repo.read_versions([path for path in tree if is_note(path)], tree):
        after = _follow_names(data or b"", path, names, targets)
        if after != data:
            changes[path] = after
    return (
        repo.make_commit([ours], tree, changes, "Links of renamed notes") if changes else ours
    )


def _targets(repo: Repo, paths: Collection[str]) -> LinkTargets:
    pages = {}
    if is_logseq_graph(repo.config.journal):
        pages = {path: page_of_path(path) for path in paths if path.startswith("pages/")}
    return LinkTargets(paths, pages)


def _follow_names(
    data: bytes, path: str, names: dict[str, str], targets: tuple[LinkTargets, LinkTargets]
) -> bytes:
    """The bytes of a note whose links to renamed notes lead to the new names; also in private
    passages.
    """
    if b"[" not in data:
        return data
    before, after = targets
    source = next((new for new, name in names.items() if name == path), path)
    text = LONE_CR.sub("\n", data.decode("utf-8", "surrogateescape"))
    splices: dict[int, tuple[str, str]] = {}
    for link in find_link_places(without_code(text)):
        old = before.resolve(link.form, link.target, source)
        if old is None and link.behind:
            link = link.behind
            old = before.resolve("wiki", link.target, source)
        wanted = names.get(old, old) if old else None
        if wanted and after.resolve(link.form, link.target, path) != wanted:
            written = how_written(link, old or "", source, before)
            new = after.write_target(link, wanted, path, written)
            splices[link.start] = text[link.start : link.end], new
    offsets = byte_offsets(text, splices)
    return replace_pieces(
        data, [Splice(offsets[at], *texts) for at, texts in sorted(splices.items())]
    )
