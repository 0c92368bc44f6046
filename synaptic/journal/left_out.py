"""Finds the notes that are not read: those that cannot be, and those that a setting leaves
out.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

from ..files import real_path
from ..notes.reading import composed_form
from .folder import ListedItem, Roots, check_note, walk_items
from .names import LeftOut, Reason, printable_path


def withholds(roots: Roots, path: str, root: str = "") -> bool:
    """True if this path within a root, or a folder on it, is not read: it begins with a dot, or
    matches a glob of `exclude`, in upper or lower case.
    """
    steps = path.split("/")
    if any(step.startswith(".") for step in steps):
        return True
    if root not in roots.excluded:
        return False
    any_case = re.compile(roots.excluded[root].pattern, re.IGNORECASE)
    ways = ("/".join(steps[: end + 1]) for end in range(len(steps)))
    return any(map(any_case.fullmatch, map(composed_form, ways)))


def find_left_out(roots: Roots) -> list[LeftOut]:
    """The notes and folders that cannot be read although no setting excludes them, with the
    reasons. Their paths are safe to print.
    """
    folders = {name: root / roots.single.get(name, "") for name, root in roots.folders.items()}
    real = [real_path(folder) for folder in folders.values()]
    left_out = []
    for item in walk_items(roots, links=True):
        one = item if isinstance(item, LeftOut) else _why_left_out(roots, item)
        if one and one.reason == "link":
            target = real_path(roots.place(one.path))
            if any(target.is_relative_to(root) for root in real):
                continue  # it is read at its own place
            is_readable_place = target.is_file() or target.is_dir()
            reason: Reason = "link" if is_readable_place else "no file"
            one = LeftOut(one.path, reason, printable_path(str(target)))
        if one:
            left_out.append(replace(one, path=printable_path(one.path)))
    return left_out


def find_excluded(roots: Roots) -> list[str]:
    """The notes that `exclude` leaves out: their paths within their roots."""
    if not roots.excluded:
        return []
    paths = []
    for root_name, root in roots.folders.items():
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            within = Path(folder).relative_to(root)
            notes = [(within / name).as_posix() for name in names if roots.reads(name)]
            paths += [path for path in notes if withholds(roots, path, root_name)]
    return paths


def _why_left_out(roots: Roots, item: ListedItem) -> LeftOut | None:
    """The reason for which an item is not read, if there is any."""
    path = item[0]
    if roots.reads(path):
        signature = check_note(roots, item)
        return signature if isinstance(signature, LeftOut) else None
    return LeftOut(path, "link") if roots.place(path).is_dir() else None
