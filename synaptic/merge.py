"""Three versions of one journal file made one, entry by entry. Pure.

Two machines append to the same day. A merge by lines sees two texts at one place and reports a conflict, or finds
equal lines in different entries and mixes them. Entries have ids, so each is merged by itself:

| ours                | theirs              | result                                        |
|---------------------|---------------------|-----------------------------------------------|
| as it was           | edited, or deleted  | theirs (and the other way round)              |
| added               |                     | in its place by time, after what was there    |
| edited              | edited alike        | once                                          |
| edited              | edited otherwise    | by lines within that entry, or a conflict     |
| edited              | deleted             | the edit                                      |

What cannot be read as entries without doubt is left to a merge by lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from .reading import parse_entries

ByLines = Callable[[bytes, bytes, bytes], tuple[bytes, int]]
"""(base, ours, theirs) to (merged text with conflict markers, number of conflicts)."""

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_DOUBTFUL = ("duplicate-id", "encoding", "open-fence", "open-comment", "conflict-marker")
_HEAD = ""
"""The key of what stands above the first entry; no entry has it as its id."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The file, and how many of its pieces hold a conflict that a person must settle."""

    data: bytes
    conflicts: int


@dataclass(frozen=True, slots=True)
class _Side:
    """A version in pieces, in order: each key with its text, LF, without blank lines at its end.

    `gaps` are the newlines after each piece but the last.
    """

    pieces: dict[str, bytes]
    gaps: dict[str, bytes]
    at: dict[str, datetime]
    typed: frozenset[str]
    """Keys of entries typed by hand: equal keys there mean equal headings, not one entry."""


def merge(base: bytes, ours: bytes, theirs: bytes, path: str, day_file: str, by_lines: ByLines) -> Merged:
    """The file that holds what either side added or changed."""
    if base == theirs or ours == theirs:
        return Merged(ours, 0)
    if base == ours:
        return Merged(theirs, 0)
    sides = [_read(data, path, day_file) for data in (base, ours, theirs)]
    if None not in sides:
        old, mine, other = (side for side in sides if side is not None)
        pieces, conflicts = _merge_pieces(old, mine, other, by_lines)
        data = _join(pieces, other.gaps | mine.gaps, crlf=b"\r\n" in ours)
        if conflicts or _says(data, path, day_file, pieces):
            return Merged(data, conflicts)
    return Merged(*by_lines(base, ours, theirs))


def _read(data: bytes, path: str, day_file: str) -> _Side | None:
    """None where the pieces of a file are in doubt."""
    crlf = data.count(b"\r\n")
    if data.count(b"\r") != crlf or (crlf and data.count(b"\n") != crlf):
        return None
    text = data.replace(b"\r\n", b"\n")
    parsed = parse_entries(text, path, mtime=_NO_TIME, day_file=day_file)
    if any(issue.code in _DOUBTFUL for issue in parsed.issues):
        return None
    placed = [(entry, entry.place) for entry in parsed.entries if entry.place is not None]
    if any(place.whole_file for _, place in placed):
        return None
    first = min((place.start for _, place in placed), default=len(text))
    raw = {_HEAD: text[:first]} | {entry.id: text[place.start : place.end] for entry, place in placed}
    pieces = {key: piece.rstrip(b"\n") for key, piece in raw.items()}
    gaps = {key: piece[len(pieces[key]) :] for key, piece in list(raw.items())[:-1]}
    typed = frozenset(entry.id for entry, _ in placed if entry.derived_id)
    return _Side(pieces, gaps, {entry.id: entry.at for entry, _ in placed}, typed)


def _merge_pieces(old: _Side, ours: _Side, theirs: _Side, by_lines: ByLines) -> tuple[dict[str, bytes], int]:
    theirs = _told_apart(old, ours, theirs)
    merged: dict[str, bytes] = {}
    conflicts = 0
    for key in _order(old, ours, theirs):
        was, mine, other = (side.pieces.get(key) for side in (old, ours, theirs))
        if mine == other or other == was:
            text = mine
        elif mine == was:
            text = other
        elif mine is None or other is None:
            text = mine or other
        else:
            text, found = by_lines(*(piece + b"\n" for piece in (was or b"", mine, other)))
            text, conflicts = text.rstrip(b"\n"), conflicts + (found > 0)
        if text is not None:
            merged[key] = text
    return merged, conflicts


def _told_apart(old: _Side, ours: _Side, theirs: _Side) -> _Side:
    """`theirs`, with new keys for what both sides typed under one heading: these are two entries."""
    renamed = {
        key: f"{key} theirs"
        for key in theirs.typed & ours.typed
        if key not in old.pieces and ours.pieces[key] != theirs.pieces[key]
    }
    if not renamed:
        return theirs
    pieces = {renamed.get(key, key): text for key, text in theirs.pieces.items()}
    return replace(theirs, pieces=pieces, at={renamed.get(key, key): at for key, at in theirs.at.items()})


def _order(old: _Side, ours: _Side, theirs: _Side) -> list[str]:
    """The keys of both sides: ours as they stand, each of theirs after its predecessor and what ours added by then."""
    order = list(ours.pieces)
    before = _HEAD
    for key, at in ((key, theirs.at.get(key)) for key in theirs.pieces):
        if key not in ours.pieces:
            place = order.index(before) + 1
            while place < len(order) and at is not None and _added_by_then(order[place], at, old, ours):
                place += 1
            order.insert(place, key)
        before = key
    return order


def _added_by_then(key: str, at: datetime, old: _Side, ours: _Side) -> bool:
    return key not in old.pieces and key in ours.at and ours.at[key] <= at


def _join(pieces: Mapping[str, bytes], gaps: Mapping[str, bytes], *, crlf: bool) -> bytes:
    parts = [part for key, piece in pieces.items() if piece for part in (piece, gaps.get(key, b"\n\n"))]
    text = b"".join(parts[:-1]) + b"\n"
    return text.replace(b"\n", b"\r\n") if crlf else text


def _says(data: bytes, path: str, day_file: str, pieces: Mapping[str, bytes]) -> bool:
    """Whether a file reads as just these pieces: none lost, none mixed."""
    side = _read(data, path, day_file)
    return side is not None and [p for p in side.pieces.values() if p] == [p for p in pieces.values() if p]
