"""Finds the part of a block that a killed save left in a file, and completes it. Pure functions
over bytes.

| in the file                                        | result                                     |
|----------------------------------------------------|--------------------------------------------|
| the whole block                                    | the file as it is                          |
| the block, edited by a person                      | the file as it is                          |
| the block's beginning, then the end of the file    | the rest is added                          |
| the block's beginning, then text of a person       | the rest is put between them               |
| the block without its heading                      | the heading is put above it                |
| no part of the block                               | None: the caller appends the block         |
"""

from __future__ import annotations

import re

_OPENING = re.compile(rb"(?:\A|(?<=[\r\n]))[ \t]*(<!--[ \t]*)\Z")
_HEADING = re.compile(rb"^##? ", re.M)
_HEADED = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n]) {0,3}#{1,3}[ \t][^\r\n]*\s*\Z")
_TIME = re.compile(rb"## [0-9]{2}:[0-9]{2} ?")
_ID = re.compile(rb"syn:([0-9]{8}-[0-9a-z]{8})(?=\s|-->)")


def ids_in(data: bytes) -> set[str]:
    """The ids that comments in `data` carry."""
    return {
        found[1].decode() for found in _ID.finditer(data) if _opening(data, found.start()) >= 0
    }


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
    """The offset of the line's `<!--` that leads up to `at`, or -1."""
    opening = _OPENING.search(data, max(0, at - 100), at)
    return opening.start(1) if opening else -1


def mend(
    data: bytes,
    block: bytes,
    id: str,
    *,
    at: int | None = None,
    written: bool = False,
    suspect: bool = True,
) -> bytes | None:
    """The file's bytes with the whole block in them; None if the block is absent.

    `at` is the offset at which a write of the block began, if one did. `written`: that write
    ended, so a person made the differences. Without `suspect` no write can have begun, and only
    the id's comment counts.
    """
    if (comment := find_comment(data, id)) >= 0:
        return _complete(data, block, comment, max(0, find_comment(block, id)), written=written)
    if written or not suspect:
        return None
    start = _torn_heading(data, block, at)
    return None if start is None else _fill(data, start, block)


def _complete(data: bytes, block: bytes, comment: int, own: int, *, written: bool) -> bytes:
    if not written and not _HEADED.search(data, 0, comment):
        heading = _in_its_line_ends(data, comment, block[:own])
        data, comment = data[:comment] + heading + data[comment:], comment + len(heading)
    end = data.find(b"-->", comment)
    line_end = re.compile(rb"[\r\n]|\Z").search(data, comment)
    assert line_end is not None
    if end < 0 or end > line_end.start():
        return data if written else _fill(data, comment, block[own:])
    # the heading and the comment may have been edited since: compare what follows
    body = block[block.index(b"-->", own) + 3 :]
    return data if written else _fill(data, end + 3, body)


def _torn_heading(data: bytes, block: bytes, at: int | None) -> int | None:
    """The offset of a block that was torn before its id was whole, or None."""
    heading = block[: block.index(b"\n")]
    if at is not None and at <= len(data):
        start = at + len(data[at:]) - len(data[at:].lstrip(b"\r\n"))
        shared = _shared(data, start, block)
        below = data[start + shared : start + shared + 1]
        alone = below in (b"\r", b"\n") and not _TIME.fullmatch(
            block[:shared]
        )  # a person may have typed the time
        if shared >= min(12, len(block)) or (shared and (alone or not below)):
            return start
    last = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    if len(data) - last >= 4 and heading.startswith(data[last:]):
        return last
    # at most this much can be there, because the file does not hold the comment
    opening = block[: block.find(b"\n", len(heading) + 1) + 1] or block
    for found in re.finditer(rb"^" + re.escape(heading) + rb"(?=[\r\n]|\Z)", data, re.M):
        ours = _in_its_line_ends(data, found.start(), opening)
        stop = found.start() + _shared(data, found.start(), opening)
        inside_a_line = (
            data[stop : stop + 1] not in (b"", b"\r", b"\n") and data[stop - 1 : stop] != b"\n"
        )
        if not inside_a_line and ours:  # else another entry's comment
            return found.start()
    return None


def _fill(data: bytes, start: int, text: bytes) -> bytes:
    """`data` with the whole `text` at `start`, where a beginning of it stands already."""
    ours = _in_its_line_ends(data, start, text)
    eol = b"\r\n" if ours.endswith(b"\r\n") else b"\n"
    stop = start + _shared(data, start, text)
    rest, below = ours[stop - start :], data[stop:]
    if not rest.strip():
        # a line end torn between its CR and its LF is completed; a missing last one is not
        # worth a change
        return data if below and data[stop - 1 : stop] != b"\r" else data[:stop] + rest + below
    if _edited(below, rest):
        return data
    again = b""
    if below[:1] not in (b"", b"\r", b"\n") and data[stop - 1 : stop] != b"\n":
        # a person's line that happens to begin like ours: it keeps its beginning
        again = data[max(start, data.rfind(b"\n", 0, stop) + 1) : stop]
    joint = b"" if not below or (below[:1] in (b"\r", b"\n") and not again) else eol
    return data[:stop] + rest + joint + again + below


def _edited(below: bytes, rest: bytes) -> bool:
    """True if the block's end stands further down in the same entry: its middle was edited
    rather than torn.
    """
    ending = _lf(rest).strip()[-64:]
    boundary = _HEADING.search(below)
    return len(ending) >= 16 and ending in _lf(below[: boundary.start()] if boundary else below)


def _in_its_line_ends(data: bytes, start: int, text: bytes) -> bytes:
    """`text` with LF or CRLF, whichever shares more bytes with `data` at `start`, else
    whichever most lines use.
    """
    crlf = text.replace(b"\n", b"\r\n")
    lead = _common(data, start, crlf) - _common(data, start, text)
    return (
        crlf
        if lead > 0 or (lead == 0 and data.count(b"\r\n") * 2 > data.count(b"\n"))
        else text
    )


def _shared(data: bytes, start: int, text: bytes) -> int:
    """The number of bytes at `start` that are the beginning of `text`, in either line end."""
    return _common(data, start, _in_its_line_ends(data, start, text))


def _common(data: bytes, start: int, text: bytes) -> int:
    low, high = 0, min(len(text), len(data) - start)
    while low < high:  # the longest equal beginning, by halves
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if data.startswith(text[:middle], start) else (low, middle - 1)
        )
    return low


def _lf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n")
