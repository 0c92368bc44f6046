"""Takes a recorded change of a file back: finds its lines where they stand now."""

from __future__ import annotations

from itertools import pairwise

from ..errors import Sentence
from ..notes.blocks import MASK, bytes_of_text, line_starts
from ..notes.link_places import Splice
from ..notes.privacy import mask_private
from .changelog import NO_FILE, FileChange, Hunk, checksum_of_line, hash_of_span, hash_or_none


class CannotUndo(Exception):
    """Raised with the reason why a change of a file cannot be taken back."""


def undo_change(record: FileChange, data: bytes | None) -> bytes | None:
    """The bytes of the file before the change, None for no file: byte for byte if nothing else
    changed since, else with the lines of the change replaced where they still stand. Raises
    CannotUndo.
    """
    here = hash_or_none(data)
    if record.was == NO_FILE and here == record.now:
        return None
    if record.now == NO_FILE:
        if data is not None:
            raise CannotUndo(Sentence("another file is there now"))
        return b"".join(record.befores())
    if data is None:
        raise CannotUndo(Sentence("it is gone"))
    spans = find_spans(record, data)
    if any(one[1] > other[0] for one, other in pairwise(spans)):
        raise CannotUndo(Sentence("its lines were changed since"))
    hidden = b"" if here == record.now else mask_private(data)
    out = []
    end = 0
    for start, stop, before in spans:
        if MASK in hidden[start:stop]:
            raise CannotUndo(Sentence("what would change is private now"))
        out += [data[end:start], before]
        end = stop
    return b"".join([*out, data[end:]])


def find_spans(record: FileChange, data: bytes) -> list[tuple[int, int, bytes]]:
    """Start, end and bytes before of each span of a change, where it stands in the file. Raises
    CannotUndo.
    """
    is_exact = hash_or_none(data) == record.now
    return [
        (*_find_span(data, hunk, is_exact=is_exact), bytes_of_text(hunk.before))
        for hunk in record.hunks
    ]


def _find_span(data: bytes, hunk: Hunk, *, is_exact: bool) -> tuple[int, int]:
    """The span of the lines that a change wrote: at their place, or the only such lines."""
    if is_exact or _stands_at(data, hunk, hunk.at):
        return hunk.at, hunk.at + hunk.bytes
    places = [at for at in line_starts(data) if hunk.bytes and _stands_at(data, hunk, at)]
    if len(places) != 1:
        raise CannotUndo(Sentence("its lines were changed since"))
    return places[0], places[0] + hunk.bytes


def _stands_at(data: bytes, hunk: Hunk, start: int) -> bool:
    """True if the lines of a change stand at this offset, as whole lines."""
    end = start + hunk.bytes
    if not hunk.bytes or end > len(data) or checksum_of_line(data[start:end]) != hunk.first:
        return False
    begins = start == 0 or data[start - 1 : start] in (b"\n", b"\r")
    ends = end == len(data) or data[end - 1 : end + 1].strip(b"\r\n") != data[end - 1 : end + 1]
    return begins and ends and hash_of_span(data[start:end]) == hunk.hash


def hunk_of_splice(piece: Splice) -> Hunk:
    """The span of a file that this piece would replace, as a change that it takes back."""
    text = bytes_of_text(piece.former)
    return Hunk(piece.at, piece.new, len(text), hash_of_span(text), checksum_of_line(text))
