"""Finds the ids that comments carry: `<!-- syn:20261121-7k3m9q2x -->` at a line's start."""

import re
from collections.abc import Iterator

_OPENING = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]*(<!--[ \t]*)\Z")
_ID = re.compile(rb"syn:([0-9]{8}-[0-9a-z]{8})(?=\s|-->)")


def ids_in(data: bytes) -> set[str]:
    """The ids that comments in `data` carry."""
    return {id for id, _ in _comments(data)}


def find_comment(data: bytes, id: str) -> int:
    """The offset of the comment that carries this id, or -1. Mentions of the id elsewhere do
    not count.
    """
    for comment_id, at in _comments(data):
        if comment_id == id:
            return at
    return -1


def _comments(data: bytes) -> Iterator[tuple[str, int]]:
    """(id, offset of the `<!--`) of each comment that begins its line."""
    for match in _ID.finditer(data):
        opening = _OPENING.search(data, max(0, match.start() - 100), match.start())
        if opening:
            yield match[1].decode(), opening.start(1)
