"""Merges three versions of one journal file, entry by entry. Pure.

Two machines append to the same day. A merge by lines sees two texts at one place and reports a
conflict, or finds equal lines in different entries and mixes them. Entries have ids, so each is
merged by itself:

| ours                | theirs              | result                                          |
|---------------------|---------------------|-------------------------------------------------|
| as it was           | edited, or deleted  | theirs (and the other way round)                |
| added               | added               | both, by time, after the entry above them       |
| edited              | edited alike        | once                                            |
| one part edited     | another part edited | both edits; the parts: heading, comment, body   |
| text added below    | text added below    | both texts, ours first                          |
| edited              | edited otherwise    | both texts, in a conflict within the entry      |
| edited              | deleted             | the edit                                        |

A file that cannot be read as entries without doubt is merged by lines. That could double a
saved entry or tear a private passage, so a file with either becomes one conflict of both
versions.
"""

import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from ...notes.blocks import LONE_CR, MASK, escape_entry_borders, scan_structure
from ...notes.dates import is_day_file
from ...notes.frontmatter import match_front_matter
from ...notes.privacy import has_private_tag, mask_private
from ...notes.reading import body_span, end_of_line, leading_h1, outline, parse_entries

ByLines = Callable[[bytes, bytes, bytes], tuple[bytes, int]]
"""(base, ours, theirs) to (merged text with conflict markers, number of conflicts)."""

_BOM = b"\xef\xbb\xbf"
_ID = re.compile(rb"<!--[ \t]*syn:[0-9]{8}-[0-9a-z]{8}")
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_TAIL = re.compile(rb"(?:\r?\n){2}|\r?\n[ \t]*[-*+] ")
_MARKS = re.compile(rb"(?m)^(<<<<<<<|>>>>>>>) ")


class MergedFile(NamedTuple):
    """The bytes of a merged file, and the number of conflicts in it that a person must
    settle.
    """

    data: bytes
    conflicts: int


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A piece of a journal file, as one version has it: an entry, or a note under an H1.

    `heading`, `comment` and `body` joined are its bytes; the last two begin with a line end or
    are empty. `gap` holds the blank lines between it and a piece below. `id` is the written id,
    None for a piece typed by hand.
    """

    heading: bytes
    comment: bytes
    body: bytes
    gap: bytes
    id: str | None = None
    at: datetime | None = None
    conflict: bool = False

    @property
    def parts(self) -> tuple[bytes, bytes, bytes]:
        return self.heading, self.comment, self.body

    @property
    def head(self) -> bytes:
        return self.heading + self.comment

    @property
    def text(self) -> bytes:
        return self.head + self.body


class _Version(NamedTuple):
    """One version of a file, cut into pieces. `head` is the text above the first piece, `end`
    the blank lines below the last one.
    """

    head: _Piece
    pieces: list[_Piece]
    end: bytes


def merge(
    base: bytes, ours: bytes, theirs: bytes, path: str, day_file: str, by_lines: ByLines
) -> MergedFile:
    """Merges three versions of the journal file `path`, entry by entry; returns the file with
    the additions and edits of both sides. In a conflict an entry holds both texts.

    `path` is relative to the journal. The BOM is that of ours.
    """
    if ours in (base, theirs):
        return MergedFile(theirs, 0)
    if theirs == base:
        return MergedFile(ours, 0)
    bom = _BOM if ours.startswith(_BOM) else b""
    texts = [data.removeprefix(_BOM) for data in (base, ours, theirs)]
    done = _merge_by_entries(texts, path, day_file)
    if not done and not any(has_private_tag(text) or _ID.search(text) for text in texts):
        done = MergedFile(*by_lines(*texts))
    if not done:
        eol = _find_line_end(ours)
        done = MergedFile(_conflict_text(texts[1], texts[2], eol) + eol, 1)
    return MergedFile(bom + done.data, done.conflicts)


def _merge_by_entries(texts: Sequence[bytes], path: str, day_file: str) -> MergedFile | None:
    """Merges `texts` (base, ours, theirs) entry by entry; None if the entries of a version or
    of the result cannot be told with certainty.
    """
    old = _split_version(texts[0], path, day_file)
    mine = _split_version(texts[1], path, day_file, is_side=True)
    other = _split_version(texts[2], path, day_file, is_side=True)
    if old is None or mine is None or other is None:
        return None
    if not (old.pieces or mine.pieces or other.pieces):
        return None
    pieces = [
        _merge_piece(old.head, mine.head, other.head),
        *_merge_pieces_in_order(old.pieces, mine.pieces, other.pieces),
    ]
    data = b"".join(piece.text + piece.gap for piece in pieces[:-1])
    data += pieces[-1].text + mine.end
    read = _split_version(data, path, day_file)
    # none lost and none mixed
    if not read or _piece_texts([read.head, *read.pieces]) != _piece_texts(pieces):
        return None
    return MergedFile(data, sum(piece.conflict for piece in pieces))


def _piece_texts(pieces: Iterable[_Piece]) -> list[bytes]:
    return [piece.text for piece in pieces]


def _find_line_end(data: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in data else b"\n"


# -- a version in pieces
# ------------------------------------------------------------------------------


def _split_version(
    data: bytes, path: str, day_file: str, *, is_side: bool = False
) -> _Version | None:
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
    head = _Piece(b"", b"", data[:core], data[core : bounds[0]])
    pieces = []
    for mark, (begin, end) in zip(marks, pairwise(bounds), strict=True):
        core = body_span(text, begin, end)[1]
        comment_at = body_at = end_of_line(text, begin, core)
        if mark.comment_at >= 0:
            body_at = end_of_line(text, mark.comment_at, core)
        entry = entries.get(begin)
        pieces.append(
            _Piece(
                data[begin:comment_at],
                data[comment_at:body_at],
                data[body_at:core],
                data[core:end],
                entry.id if entry and not entry.derived_id else None,
                entry.at if entry else None,
            )
        )
    if is_side and any(_is_torn(piece) for piece in [head, *pieces]):
        return None
    below = _find_line_end(data) * 2
    if pieces:
        pieces[-1] = replace(pieces[-1], gap=below)
    elif head.text:
        head = replace(head, gap=below)
    return _Version(head, pieces, data[core:])


def _is_torn(piece: _Piece) -> bool:
    """True if a conflict begins in this piece and ends outside of it, or the other way
    round.
    """
    open_conflicts = 0
    for mark in _MARKS.findall(piece.text):
        open_conflicts += 1 if mark[:1] == b"<" else -1
        if open_conflicts < 0:
            return True
    return open_conflicts > 0


# -- which pieces are one entry, and in which order they stand
# ------------------------------------------------------------------------


def _match_pieces(
    one: list[_Piece], other: list[_Piece], *, added: bool = False
) -> dict[_Piece, _Piece]:
    """Maps each piece of `one` to the same piece in `other`: by id, or without an id by the
    whole text; then by the heading, unless both sides `added` them. Equal pieces are matched in
    order.
    """
    keys: list[Callable[[_Piece], object]] = [lambda piece: piece.id or piece.text]
    if not added:
        keys.append(lambda piece: piece.heading)
    pairs: dict[_Piece, _Piece] = {}
    for key in keys:
        waiting: dict[object, deque[_Piece]] = defaultdict(deque)
        for piece in one:
            if piece not in pairs:
                waiting[key(piece)].append(piece)
        matched = set(pairs.values())
        for piece in other:
            candidates = waiting[key(piece)] if piece not in matched else ()
            for candidate in candidates:
                if candidate.id == piece.id or None in (candidate.id, piece.id):
                    pairs[candidate] = piece
                    waiting[key(piece)].remove(candidate)
                    break
    return pairs


def _merge_pieces_in_order(
    base: list[_Piece], ours: list[_Piece], theirs: list[_Piece]
) -> Iterator[_Piece]:
    """Yields the merged pieces of the new file, in the order of ours. Deleted pieces are left
    out.

    A piece that only theirs has comes after the piece above it there. If both sides have such
    pieces at one place, time decides.
    """
    here = _match_pieces(base, ours)
    there = _match_pieces(base, theirs)
    old_of = {piece: old for old, piece in [*here.items(), *there.items()]}
    twins = {piece: there[old] for old, piece in here.items() if old in there}
    new_here = [piece for piece in ours if piece not in old_of]
    new_there = [piece for piece in theirs if piece not in old_of]
    twins |= _match_pieces(new_here, new_there, added=True)
    common = set(twins.values())
    below: dict[_Piece | None, deque[_Piece]] = defaultdict(deque)
    above = None
    for piece in theirs:
        if piece in common:
            above = piece
        elif _survives_deletion(piece, old_of.get(piece)):
            below[above].append(piece)
    waiting = below[None]
    for piece in ours:
        twin = twins.get(piece)
        if not twin and not _survives_deletion(piece, old_of.get(piece)):
            continue
        while waiting and (twin or _is_earlier(waiting[0], piece)):
            yield waiting.popleft()
        yield _merge_piece(old_of.get(piece), piece, twin) if twin else piece
        if twin:
            waiting = below[twin]
    yield from waiting


def _survives_deletion(piece: _Piece, old: _Piece | None) -> bool:
    """False for a piece that one side deleted and the other side did not edit. `old` is the
    same piece in the base.
    """
    return old is None or piece.text != old.text


def _is_earlier(one: _Piece, other: _Piece) -> bool:
    return one.at is not None and other.at is not None and one.at < other.at


# -- one entry in three versions
# ----------------------------------------------------------------------


def _merge_piece(base: _Piece | None, ours: _Piece, theirs: _Piece) -> _Piece:
    old = base or _Piece(b"", b"", b"", b"")
    if theirs.text in (ours.text, old.text):
        return ours
    if ours.text == old.text:
        return replace(theirs, gap=ours.gap)
    # a passage that begins in a head may end in the body
    private = any(has_private_tag(piece.head) for piece in (old, ours, theirs))
    clash = private
    parts = []
    for was, mine, other in zip(old.parts, ours.parts, theirs.parts, strict=True):
        part = other if mine == was else mine
        if was != mine != other != was:
            part = _append_both_tails(was, mine, other)
            clash |= not part
        parts.append(part)
    if not clash:
        heading, comment, body = parts
        return replace(ours, heading=heading, comment=comment, body=body)
    texts = [ours.body, theirs.body]
    if private:
        texts[1] = _text_with_head(theirs)
    elif theirs.head != ours.head:
        texts = [_text_with_head(ours), _text_with_head(theirs)]
    eol = _find_line_end(ours.text)
    return replace(ours, body=eol + _conflict_text(texts[0], texts[1], eol), conflict=True)


def _text_with_head(piece: _Piece) -> bytes:
    """Returns the whole text of an entry, as a text within an entry."""
    head, _ = escape_entry_borders(piece.head.decode("latin-1"), typed=True)
    return head.encode("latin-1") + piece.body


def _append_both_tails(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Returns the base text with the paragraphs and list items that both sides added below it;
    empty if a side changed anything else, or if the end of ours could swallow theirs.
    """
    is_added = base and all(
        side.startswith(base) and _TAIL.match(side, len(base)) for side in (ours, theirs)
    )
    if not is_added or has_private_tag(ours) or scan_structure(ours.decode("latin-1")).unclosed:
        return b""
    return ours + theirs[len(base) :]


def _conflict_text(ours: bytes, theirs: bytes, eol: bytes) -> bytes:
    """Returns both texts between git's conflict markers. An open code fence or comment of ours
    is closed before theirs begins, so that each text is as private as it was alone.
    """
    lines = [b"<<<<<<< ours", ours.strip(b"\r\n"), b"======="]
    text = LONE_CR.sub("\n", ours.decode("latin-1"))
    for piece in scan_structure(text).unclosed:
        if piece.at_end:
            closing = piece.closing_line or "-->"
            lines.append(closing.encode("latin-1"))
    lines += [theirs.strip(b"\r\n"), b">>>>>>> theirs"]
    return eol.join(lines)
