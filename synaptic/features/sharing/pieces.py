"""Cuts a journal file into its entries, so that each can be merged by itself. Pure."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from ...notes.blocks import LONE_CR, MASK, scan_structure
from ...notes.dates import is_day_file
from ...notes.frontmatter import match_front_matter
from ...notes.privacy import mask_private
from ...notes.reading import body_span, end_of_line, leading_h1, outline, parse_entries

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_MARKS = re.compile(rb"(?m)^(<<<<<<<|>>>>>>>) ")


class Decision(NamedTuple):
    """A question that a merge answered by its own rule, of which people are told.

    | kind   | about            | standing, other                                           |
    |--------|------------------|-----------------------------------------------------------|
    | `time` | the id of an     | the time that stands, and that of the other machine       |
    |        | entry            |                                                           |
    | `back` | that, or a path  | none: one side changed it, the other one deleted it       |
    | `name` | the old path     | the new path of the note, and that of the other machine   |

    `path` is that of the file.
    """

    kind: str
    about: str
    path: str
    standing: str = ""
    other: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A piece of a journal file, as one version has it: an entry, or a note under an H1.

    `heading`, `comment` and `body` joined are its bytes; the last two begin with a line end or
    are empty. `gap` holds the blank lines between it and a piece below. `id` is the written id,
    None for a piece typed by hand; `key` is its id in any case. The type or title begins at
    `title_at` in the heading. `conflicts` is the number of those that a merge left in it,
    `decisions` those that it took.
    """

    heading: bytes
    comment: bytes
    body: bytes
    gap: bytes
    id: str | None = None
    at: datetime | None = None
    title_at: int = 0
    conflicts: int = 0
    key: str = ""
    decisions: tuple[Decision, ...] = ()

    @property
    def time(self) -> bytes | None:
        """The heading up to the time in it; None without one."""
        time = self.heading[: self.title_at]
        return time if time.strip(b"# ") else None

    @property
    def head(self) -> bytes:
        return self.heading + self.comment

    @property
    def text(self) -> bytes:
        return self.head + self.body


class Version(NamedTuple):
    """One version of a file, cut into pieces. `head` is the text above the first piece, `end`
    the blank lines below the last one.
    """

    head: Piece
    pieces: list[Piece]
    end: bytes


def find_line_end(data: bytes) -> bytes:
    """The line end of a text: CRLF if there is one."""
    return b"\r\n" if b"\r\n" in data else b"\n"


def split_version(
    data: bytes, path: str, day_file: str, *, is_side: bool = False
) -> Version | None:
    """Cuts a version of a file into pieces; None if its entries cannot be told with
    certainty.

    A side, ours or theirs, may hold conflicts within entries, but none around an entry. A base
    may hold those of git's merge of two bases.
    """
    parsed = parse_entries(data, path, mtime=_NO_TIME, day_file=day_file)
    if any(issue.code == "duplicate-id" for issue in parsed.issues):
        return None
    text = LONE_CR.sub("\n", data.decode("latin-1"))
    front = match_front_matter(text, 0)
    start = front.end() if front else 0
    visible = mask_private(data).replace(MASK, b" ").decode("latin-1")
    if scan_structure(visible, start).marks != scan_structure(text, start).marks:
        return None  # a private passage holds headings: no entry may slip in or out of it
    marks = outline(text, start, of_day=is_day_file(path, day_file)).borders
    if leading_h1(text, start, marks):
        marks = marks[1:]  # the file's own title
    entries = {
        entry.place.start: entry
        for entry in parsed.entries
        if entry.place and not entry.place.whole_file
    }
    if [mark.start for mark in marks if mark.begins == "entry"] != sorted(entries):
        return None
    bounds = [*(mark.start for mark in marks), len(text)]
    core = body_span(text, 0, bounds[0])[1]
    head = Piece(b"", b"", data[:core], data[core : bounds[0]])
    pieces = []
    for mark, (begin, end) in zip(marks, pairwise(bounds), strict=True):
        core = body_span(text, begin, end)[1]
        comment_at = body_at = end_of_line(text, begin, core)
        if mark.comment_at >= 0:
            body_at = end_of_line(text, mark.comment_at, core)
        entry = entries.get(begin)
        pieces.append(
            Piece(
                data[begin:comment_at],
                data[comment_at:body_at],
                data[body_at:core],
                data[core:end],
                entry.id if entry and not entry.derived_id else None,
                entry.at if entry else None,
                max(mark.time[1] - begin, mark.level),
                key=entry.id if entry else "",
            )
        )
    if is_side and any(_is_torn(piece) for piece in [head, *pieces]):
        return None
    below = find_line_end(data) * 2
    if pieces:
        pieces[-1] = replace(pieces[-1], gap=below)
    elif head.text:
        head = replace(head, gap=below)
    return Version(head, pieces, data[core:])


def _is_torn(piece: Piece) -> bool:
    """True if a conflict begins in this piece and ends outside of it, or the other way
    round.
    """
    open_conflicts = 0
    for mark in _MARKS.findall(piece.text):
        open_conflicts += 1 if mark[:1] == b"<" else -1
        if open_conflicts < 0:
            return True
    return open_conflicts > 0
