"""Finds conflict copies: the second versions that programs which sync files leave, when two
machines changed a file.

| name                                             | program           | copy of |
|--------------------------------------------------|-------------------|---------|
| `x.sync-conflict-20261110-101010-ABCDEFG.md`     | Syncthing         | `x.md`  |
| `x (Ada's conflicted copy 2026-11-10).md`        | Dropbox           | `x.md`  |
| `x (conflicted copy 2026-11-10 101010).md`       | Nextcloud         | `x.md`  |
| `x 2.md`, which may be a note of its own         | iCloud            | `x.md`  |
"""

import re
from collections import Counter
from collections.abc import Callable, Container

from ..errors import SynapticError

_MARK = re.compile(
    r"(?i)(?:\.sync-conflict-[0-9]{8}[-0-9A-Za-z]{0,20}"
    r"| \((?:[^()/]{1,80} )?conflicted copy(?: [^()/]{0,40}(?:\([0-9]+\))?)?\))"
    r"(?=\.[^./]+\Z)"
)
_NUMBERS = "23456789"
ALIKE_SHARE = 0.5
"""`x 2.md` counts as another version of `x.md` if at least this share of lines is equal."""


def path_without_conflict_mark(path: str) -> str:
    """The path of the original file, if the name has the mark of a conflict copy; otherwise the
    path itself.
    """
    return _MARK.sub("", path) if "conflict" in path.lower() else path


def path_without_number(path: str) -> str:
    """The path of the original file, if the stem ends in a blank and a digit (`x 2.md`);
    otherwise "".
    """
    stem, dot, suffix = path.rpartition(".")
    is_numbered = (
        stem[-2:-1] == " " and stem[-1:] in _NUMBERS and stem[-3:-2] not in ("", "/", " ")
    )
    return f"{stem[:-2]}{dot}{suffix}" if is_numbered else ""


def possible_copy_paths(path: str) -> list[str]:
    """The paths `x 2.md` to `x 9.md` that a numbered copy of the file `x.md` would have."""
    stem, dot, suffix = path.rpartition(".")
    return [f"{stem} {number}{dot}{suffix}" for number in _NUMBERS]


def find_original(path: str, paths: Container[str], read: Callable[[str], bytes]) -> str | None:
    """The path, among `paths`, of the file whose conflict copy this file is; None if it is not
    a copy. A numbered file is a copy only if the two texts share at least half of their lines.
    """
    original = path_without_conflict_mark(path)
    if original != path:
        return original if original in paths else None
    original = path_without_number(path)
    if not original or original not in paths:
        return None
    try:
        return original if share_half_of_lines(read(original), read(path)) else None
    except SynapticError:
        return None


def share_half_of_lines(one: bytes, other: bytes) -> bool:
    """True if at least half of the lines of two texts are equal."""
    lines, others = (
        Counter(filter(None, map(bytes.strip, text.split(b"\n")))) for text in (one, other)
    )
    equal = (lines & others).total()
    return equal > 0 and 2 * equal >= ALIKE_SHARE * (lines.total() + others.total())
