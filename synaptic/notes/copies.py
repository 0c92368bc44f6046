"""Knows the names that programs give to the second version of a file, when two machines changed
it.

| name                                             | program           | copy of |
|--------------------------------------------------|-------------------|---------|
| `x.sync-conflict-20261110-101010-ABCDEFG.md`     | Syncthing         | `x.md`  |
| `x (Ada's conflicted copy 2026-11-10).md`        | Dropbox           | `x.md`  |
| `x (conflicted copy 2026-11-10 101010).md`       | Nextcloud         | `x.md`  |
| `x 2.md`, which may be a note of its own         | iCloud            | `x.md`  |
"""

from __future__ import annotations

import re
from collections import Counter

_MARK = re.compile(
    r"(?:\.sync-conflict-[0-9]{8}[-0-9A-Za-z]{0,20}"
    r"| \((?:[^()/]{1,80} )?conflicted copy(?: [^()/]{0,40}(?:\([0-9]+\))?)?\))"
    r"(?=\.[^./]+\Z)",
    re.IGNORECASE,
)
_NUMBERS = "23456789"
ALIKE = 0.5
"""The share of equal lines from which on `x 2.md` is taken for another version of `x.md`: half.
"""


def original_of(path: str) -> str:
    """The path of the file of which a file of this path is a copy by its name; else the path
    itself.
    """
    return _MARK.sub("", path) if "conflict" in path.lower() else path


def numbered_of(path: str) -> str:
    """The path of the file of which a file of this path may be a copy by its number; "" if
    there is none.
    """
    stem, dot, suffix = path.rpartition(".")
    is_numbered = (
        stem[-2:-1] == " " and stem[-1:] in _NUMBERS and stem[-3:-2] not in ("", "/", " ")
    )
    return f"{stem[:-2]}{dot}{suffix}" if is_numbered else ""


def numbered_copies(path: str) -> list[str]:
    """The paths of files that may be copies of this one by their number."""
    stem, dot, suffix = path.rpartition(".")
    return [f"{stem} {number}{dot}{suffix}" for number in _NUMBERS]


def are_alike(one: bytes, other: bytes) -> bool:
    """Whether at least half of the lines of two texts are equal."""
    lines = [
        Counter(filter(None, map(bytes.strip, text.split(b"\n")))) for text in (one, other)
    ]
    equal = (lines[0] & lines[1]).total()
    return 2 * equal >= ALIKE * (lines[0].total() + lines[1].total()) and equal > 0
