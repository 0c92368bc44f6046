"""Finds notes that were moved by hand, so that links to them broke, and plans to mend them."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import partial

from ...journal.file_moves import read_moves
from ...journal.folder import is_note
from ...notes.link_names import name_key
from ...notes.link_places import page_of_path
from ...notes.marks import link_key
from ...verbs.linked import unresolved_links
from ...workspace.many_edits import EditPlan
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .relinking import LinkMoves, list_files


def plans_of_mending(ws: Workspace, *, confirms: bool = False) -> dict[str, EditPlan]:
    """For each note that moved, by its present path, the plan that mends the links to its old
    one.
    """
    files = list_files(ws)
    notes = {path for path in files if is_note(path)}
    moves = [*read_moves(ws.config.state, notes).items(), *_guess_moves(ws, notes)]
    plans: dict[str, EditPlan] = {}
    while moves:
        # one old path of each note
        batch = {new_path: old_path for old_path, new_path in moves}
        moves = [move for move in moves if batch[move[1]] != move[0]]
        sources = in_step(ws, partial(_sources_of_links, ws, list(batch.values())))
        linked = {
            old_path: new_path for new_path, old_path in batch.items() if sources[old_path]
        }
        every = sorted({path for paths in sources.values() for path in paths})
        if (
            not linked
            or not LinkMoves(ws, linked).plan("mend", confirms=True, only=every).lines
        ):
            continue
        for old_path, new_path in linked.items():
            plan = LinkMoves(ws, {old_path: new_path}).plan(
                "mend", confirms=confirms, only=sources[old_path]
            )
            if plan.lines:
                plans.setdefault(new_path, plan)
    return plans


def _sources_of_links(
    ws: Workspace, old_paths: Sequence[str], _: object
) -> dict[str, list[str]]:
    """For each of these paths the notes of the journal with a link that may mean it."""
    sources = {}
    for old_path in old_paths:
        parts = page_of_path(old_path).split("/")
        folders = old_path.split("/")[:-1]
        names = ["/".join([*folders[start:], *parts]) for start in range(len(folders) + 1)]
        rows = dict(ws.index.incoming_links([], [link_key(name) for name in names]))
        paths = {one.entry.path for one in ws.index.entries(list(rows)).values()}
        sources[old_path] = sorted(path for path in paths if path[0] != "@")
    return sources


def _guess_moves(ws: Workspace, notes: Collection[str]) -> list[tuple[str, str]]:
    """(old path, present path) for each note that alone has the name of a broken link with a
    folder.
    """
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in sorted(notes):
        by_name[_stem(path)].append(path)
    moves = {}
    for link in unresolved_links(ws):
        target = link.text.partition("#")[0]
        fitting = by_name.get(_stem(target), [])
        if "/" not in target or len(fitting) != 1 or link.path[0] == "@":
            continue
        end = "" if is_note(target) else ".md"
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(link.path), target))
        for old_path in (f"{beside}{end}", f"{target.lstrip('/')}{end}"):
            if old_path not in notes and not old_path.startswith(".."):
                moves[old_path] = fitting[0]
    return list(moves.items())


def _stem(path: str) -> str:
    name = name_key(posixpath.basename(path.replace("___", "/")))
    return posixpath.splitext(name)[0] if is_note(name) else name
