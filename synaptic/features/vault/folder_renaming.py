"""Renames a folder: all files in it move, and the links to them follow, as one change.

`plan_folder_rename` refuses what cannot be, and `relinking` finds the links. A hidden file in
the folder stays where it is, and so does an empty folder: neither is a part of the notes.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime, time
from pathlib import Path, PurePosixPath

from ...errors import Ambiguous, InvalidArgument, NotFound, Refused, Sentence
from ...journal.folder import OWN, is_logseq_graph, is_note
from ...journal.left_out import withholds
from ...journal.names import is_readable
from ...notes.dates import date_in_path
from ...notes.link_names import name_key
from ...workspace.many_edits import EditPlan, FolderMove
from ...workspace.workspace import Workspace
from .new_names import check_path_is_free, why_forbidden
from .relinking import LinkMoves, Pages, list_files
from .renaming import find_note

_OF_LOGSEQ = ("assets", "draws", "journals", "logseq", "pages", "whiteboards")
"""The folders whose names Logseq gives."""
MOST_PATHS_NAMED = 3
"""The most paths that a notice names."""


def find_folder(ws: Workspace, name: str) -> str:
    """The path of the folder of the journal that `name` means, which may be its last steps; ""
    if it means a note. A `/` at the end says that it is a folder.

    Raises Ambiguous for a name of several folders, NotFound for a missing one, and Refused for
    a source.
    """
    written = name.strip()
    path = written.strip("/")
    root = path.partition("/")[0]
    if root in ws.journal.roots.folders and root not in OWN:
        if not written.endswith("/") and is_note(written):
            return ""
        raise Refused(
            "{path} is read in place from {place}.",
            "Synaptic never writes there: rename it with your own tools.",
            path=path,
            place=ws.journal.roots.folders[root],
        )
    files = list_files(ws)
    fitting = _folders_called(path, files)
    if not written.endswith("/") and (not fitting or _is_note_called(ws, written, files)):
        return ""
    if not fitting:
        raise NotFound(
            "No folder with a file is called {path!r}.",
            "Give its path from the journal's folder on.",
            path=path[:60],
        )
    if len(fitting) > 1:
        message = f"{len(fitting)} folders are called {path[:40]!r}."
        raise Ambiguous(message, valid=fitting[:6], hint="Give the path of one.")
    return fitting[0]


def _folders_called(name: str, files: Collection[str]) -> list[str]:
    """The folders of these files with this path, else those whose path ends with it."""
    folders = {folder.as_posix() for path in files for folder in PurePosixPath(path).parents}
    folders -= {"."}
    key = name_key(name)
    ways = (
        lambda folder: folder == name,
        lambda folder: name_key(folder) == key,
        lambda folder: name_key(folder).endswith(f"/{key}"),
    )
    for fits in ways:
        fitting = sorted(filter(fits, folders))
        if fitting:
            return fitting
    return []


def _is_note_called(ws: Workspace, name: str, files: Collection[str]) -> bool:
    pages = Pages(ws, (path for path in files if is_note(path)))
    try:
        return isinstance(find_note(ws, name, files, pages), str)
    except NotFound:
        return False
    except Ambiguous:
        return True


def plan_folder_rename(
    ws: Workspace, folder: str, new: str, *, confirms: bool = False
) -> EditPlan:
    """The plan that gives a folder of the journal another name, or another place.

    `new` is a name, a path from the journal's folder on, or, with a `/` at its end, a folder
    that is there and that takes it in. Raises InvalidArgument for a name that a system forbids,
    and Refused where the folder cannot be renamed, or not so.
    """
    new_folder = _new_folder(ws, folder, new)
    files = list_files(ws)
    inside = sorted(path for path in files if path.startswith(f"{folder}/"))
    moves = {path: new_folder + path[len(folder) :] for path in inside}
    _check_new_name(folder, new_folder)
    _check_is_own(ws, folder, new_folder)
    check_path_is_free(ws, folder, new_folder, files - moves.keys())
    _check_no_links(ws, folder)
    for old_path, new_path in moves.items():
        _check_stays_same_note(ws, old_path, new_path)
    plan = LinkMoves(ws, moves).plan("rename", confirms=confirms)
    emptied = {
        parent.as_posix()
        for path in inside
        for parent in PurePosixPath(path).parents
        if f"{parent.as_posix()}/".startswith(f"{folder}/")
    }
    move = FolderMove(folder, new_folder, tuple(sorted(emptied)))
    notices = (*plan.notices, *_notices_of_left(ws, folder, emptied))
    return replace(plan, folder=move, notices=notices)


def _new_folder(ws: Workspace, folder: str, new: str) -> str:
    """The path that `new` means for the folder `folder`."""
    written = new.strip()
    path = written.strip("/")
    is_there = written.endswith("/") and ws.journal.place(path).is_dir()
    if is_there and path != folder:
        return posixpath.join(path, posixpath.basename(folder))
    if "/" in written:
        return path
    return posixpath.join(posixpath.dirname(folder), path)


def _check_new_name(folder: str, new_folder: str) -> None:
    """Raises InvalidArgument for a name that is none for a folder."""
    for step in new_folder.split("/"):
        reason = why_forbidden(step)
        if is_note(step):
            reason = Sentence("it ends like a note")
        if reason:
            raise InvalidArgument(
                "{new_folder!r} cannot be the name of a folder: {reason}.",
                "Give another name; letters, digits, blanks, - and _ are possible everywhere.",
                new_folder=new_folder[:80],
                reason=reason,
            )
    if new_folder == folder:
        raise InvalidArgument(
            "{folder} has this name already.", "Give another name.", folder=folder
        )


def _check_is_own(ws: Workspace, folder: str, new_folder: str) -> None:
    """Raises Refused for a folder that another program or a setting has the say of, and for a
    new place in one, or in the folder itself.
    """
    if new_folder.startswith(f"{folder}/"):
        raise Refused(
            "{new_folder} lies in {folder} itself.",
            "Give a place outside of it.",
            new_folder=new_folder,
            folder=folder,
        )
    for path in (folder, new_folder):
        if is_logseq_graph(ws.journal.root) and path.partition("/")[0] in _OF_LOGSEQ:
            raise Refused(
                "Logseq gives its folders their names, as {folder}.",
                "Rename the pages: `synaptic rename` takes those of a namespace along.",
                folder=path.partition("/")[0],
            )
        others = [other for other in ws.journal.roots.apart if _overlap(path, other)]
        if others or ws.journal.roots.split_path(f"{path}/x.md")[0]:
            raise Refused(
                "{path} is not a folder of the journal's own notes.",
                "Give another folder.",
                path=(others or [path])[0],
            )
    today = ws.journal.day_path(ws.clock())
    for path in (folder, new_folder):
        if today.startswith(f"{path}/"):
            raise Refused(
                "The files of days stand in {path}, by `day_file` in config.toml.",
                "Change `day_file` first, and rename the folder in your file manager.",
                path=path,
            )


def _overlap(path: str, other: str) -> bool:
    """True if one of these two paths lies in the other, or is it."""
    return f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/")


def _check_no_links(ws: Workspace, folder: str) -> None:
    """Raises Refused if the folder is, or holds, a symbolic link, or a name that is not
    read.
    """
    top = ws.journal.place(folder)
    items = [(folder, top)]
    for parent, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name[0] != "."]
        within = PurePosixPath(folder, Path(parent).relative_to(top).as_posix())
        items += [((within / name).as_posix(), Path(parent, name)) for name in folders + names]
    for path, place in items:
        if place.is_symlink():
            raise Refused(
                "{path} is a link to another place.", "Move the link first.", path=path
            )
        if not is_readable(place.name):
            raise Refused(
                "{path!r} has a name that is not read.", "Rename it first.", path=path
            )


def _check_stays_same_note(ws: Workspace, old_path: str, new_path: str) -> None:
    """Raises Refused for a file of a day, and where a note would get another date, or would be
    read from now on, or no more.
    """
    roots = ws.journal.roots
    if withholds(roots, old_path) != withholds(roots, new_path):
        message = "By `exclude` in config.toml, {path} would be read as {to}."
        if withholds(roots, new_path):
            message = "By `exclude` in config.toml, {path} would not be read any more as {to}."
        hint = "Change `exclude` first, or give another name."
        raise Refused(message, hint, path=old_path, to=new_path)
    if not is_note(old_path):
        return
    day_file = ws.config.day_file
    date = date_in_path(old_path, day_file)
    if date and date.is_day:
        at = datetime.combine(date.day, time(12)).astimezone()
        if ws.journal.day_path(at) == old_path:
            raise Refused(
                "{old_path} is the file of a day, where `day_file` in config.toml puts it.",
                "Change `day_file` first, and rename the folder in your file manager.",
                old_path=old_path,
            )
    if date != date_in_path(new_path, day_file):
        raise Refused(
            "{old_path} has its date from its folder, and would get another.",
            "Give a folder whose name says the same.",
            old_path=old_path,
        )


def _notices_of_left(ws: Workspace, folder: str, emptied: Collection[str]) -> Iterator[str]:
    """Yields a sentence if something stays in the old folder: what is hidden, or empty."""
    left = []
    top = ws.journal.place(folder)
    for parent, folders, names in os.walk(top):
        path = PurePosixPath(folder, Path(parent).relative_to(top).as_posix()).as_posix()
        hidden = [name for name in (*folders, *names) if name[0] == "."]
        left += [f"{path}/{name}" for name in hidden]
        folders[:] = [name for name in folders if name[0] != "."]
        if path not in emptied and not hidden:
            left.append(path)
    if left:
        text = "Hidden files and empty folders stay where they are: {paths}."
        if len(left) > MOST_PATHS_NAMED:
            text = (
                "Hidden files and empty folders stay where they are: {paths} and {more} more."
            )
        paths = ", ".join(sorted(left)[:MOST_PATHS_NAMED])
        yield Sentence(text, paths=paths, more=len(left) - MOST_PATHS_NAMED)
