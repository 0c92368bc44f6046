"""Finds notes that were moved by hand, so that links to them broke, and mends these links."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection

from ..errors import NotFound
from ..journal.folder import is_note
from ..journal.moves import read_moves
from ..models import Link
from ..notes.link_places import name_key
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace
from .many_edits import EditPlan, Renamed, make_edits
from .mentions import broken_links
from .relinking import LinkMoves, list_files


def plans_of_mending(ws: Workspace, *, confirms: bool = False) -> dict[str, EditPlan]:
    """For each note that moved, by its present path, the plan that mends the links to its old
    one.
    """
    if not in_step(ws, lambda _: ws.index.links_without_target()):
        return {}
    broken = [link for link in broken_links(ws) if not link.path.startswith("@")]
    files = list_files(ws)
    moves = _old_paths(ws, broken, {path for path in files if is_note(path)})
    sources = sorted({link.path for link in broken})
    plans = {}
    for new, old_paths in moves.items():
        for old in old_paths:
            if new not in plans:
                plan = LinkMoves(ws, {old: new}).plan("mend", confirms=confirms, only=sources)
                if plan.lines:
                    plans[new] = plan
    return plans


def _old_paths(
    ws: Workspace, broken: Collection[Link], notes: Collection[str]
) -> dict[str, list[str]]:
    """The paths by which broken links name each note that has moved, or that alone has the name
    of a link with a path, by its present path.
    """
    moves = read_moves(ws.config.state, notes)
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in sorted(notes):
        by_name[_stem(path)].append(path)
    targets = {_stem(link.text.partition("#")[0]) for link in broken}
    old_paths: dict[str, list[str]] = defaultdict(list)
    for old, new in moves.items():
        if _stem(old) in targets:
            old_paths[new].append(old)
    for link in broken:
        target = link.text.partition("#")[0]
        fitting = by_name.get(_stem(target), [])
        if "/" not in target or len(fitting) != 1:
            continue
        end = "" if is_note(target) else ".md"
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(link.path), target))
        for old in (f"{beside}{end}", f"{target.lstrip('/')}{end}"):
            if old not in notes and not old.startswith(".."):
                old_paths[fitting[0]].append(old)
    return {new: list(dict.fromkeys(paths)) for new, paths in old_paths.items()}


def _stem(path: str) -> str:
    name = name_key(posixpath.basename(path.replace("___", "/")))
    return posixpath.splitext(name)[0] if is_note(name) else name


def mend_links(ws: Workspace, path: str, *, confirms: bool) -> Renamed:
    """Mends the links to the old path of the note that is now at `path`. Raises NotFound if no
    link is broken by now.
    """
    plan = plans_of_mending(ws, confirms=confirms).get(path)
    if not plan:
        raise NotFound(f"No broken link leads to an old path of {path}.")
    return make_edits(ws, plan)
