"""Finds the ids that comments carry: `<!-- syn:20261121-7k3m9q2x -->` at a line's start, but
not in a sample in a closed fence.
"""

import re
from bisect import bisect
from collections.abc import Iterator
from itertools import chain

from ..notes.blocks import closed_fences, decode_as_latin1, scan_structure

_OPENING = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]*(<!--[ \t]*)\Z")
_ID = re.compile(rb"syn:([0-9]{8}-[0-9a-z]{8})(?=\s|-->)")


def find_ids(data: bytes) -> set[str]:
    """The ids that comments in `data` carry."""
    return {id for id, _ in iter_comments(data)}


def iter_comments(data: bytes) -> Iterator[tuple[str, int]]:
    """(id, offset of the `<!--`) of each comment that begins its line."""
    bounds: list[int] | None = None
    for match in _ID.finditer(data):
        opening = _OPENING.search(data, max(0, match.start() - 100), match.start())
        if not opening:
            continue
        if bounds is None:
            text = decode_as_latin1(data)
            bounds = list(chain.from_iterable(closed_fences(text, scan_structure(text))))
        if bisect(bounds, opening.start(1)) % 2 == 0:
            yield match[1].decode(), opening.start(1)
