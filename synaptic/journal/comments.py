"""Finds the ids that comments carry: `<!-- syn:20261121-7k3m9q2x -->` at the start of a line."""

from __future__ import annotations

import re

_OPENING = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]*(<!--[ \t]*)\Z")
_ID = re.compile(rb"syn:([0-9]{8}-[0-9a-z]{8})(?=\s|-->)")


def ids_in(data: bytes) -> set[str]:
    """The ids that comments in `data` carry."""
    matches = _ID.finditer(data)
    return {match[1].decode() for match in matches if _opening(data, match.start()) >= 0}


def find_comment(data: bytes, id: str) -> int:
    """The offset of the comment that carries this id, or -1. Mentions of the id elsewhere do
    not count.
    """
    needle = b"syn:" + id.encode()
    at = data.find(needle)
    while at >= 0:
        end = at + len(needle)
        opening = _opening(data, at)
        if opening >= 0 and (data[end : end + 1].isspace() or data.startswith(b"-->", end)):
            return opening
        at = data.find(needle, end)
    return -1


def _opening(data: bytes, at: int) -> int:
    """The offset of the `<!--` that begins this line and leads up to `at`, or -1."""
    opening = _OPENING.search(data, max(0, at - 100), at)
    return opening.start(1) if opening else -1
