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


def original_of(path: str) -> str:
    """The path that a copy of this name was made from; the path itself without a mark."""
    return _MARK.sub("", path) if "conflict" in path.lower() else path


def numbered_of(path: str) -> str:
    """The path without a number at the end of its stem; "" if there is no number."""
    stem, dot, suffix = path.rpartition(".")
    is_numbered = (
        stem[-2:-1] == " " and stem[-1:] in _NUMBERS and stem[-3:-2] not in ("", "/", " ")
    )
    return f"{stem[:-2]}{dot}{suffix}" if is_numbered else ""


def possible_copy_paths(path: str) -> list[str]:
    """The paths of files that may be copies of this one by their number."""
    stem, dot, suffix = path.rpartition(".")
    return [f"{stem} {number}{dot}{suffix}" for number in _NUMBERS]


def copied_from(path: str, paths: Container[str], read: Callable[[str], bytes]) -> str | None:
    """The file in `paths` of which this file is a conflict copy; None if it is not a copy. A
    mark in the name is enough; with a number, the two texts must be alike, too.
    """
    original = original_of(path)
    if original != path:
        return original if original in paths else None
    original = numbered_of(path)
    if not original or original not in paths:
        return None
    try:
        return original if are_alike(read(original), read(path)) else None
    except SynapticError:
        return None


def are_alike(one: bytes, other: bytes) -> bool:
    """True if at least half of the lines of two texts are equal."""
    lines, others = (
        Counter(filter(None, map(bytes.strip, text.split(b"\n")))) for text in (one, other)
    )
    equal = (lines & others).total()
    return equal > 0 and 2 * equal >= ALIKE_SHARE * (lines.total() + others.total())
