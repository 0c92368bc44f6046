"""Makes the two versions of a conflict one: the pieces of the file after a choice. Pure.

| choice   | in an entry                                | of a file                        |
|----------|--------------------------------------------|----------------------------------|
| `first`  | its text                                   | its text                         |
| `second` | its text, below the heading that it brings | its text                         |
| `both`   | both texts; the second with a heading is   | both texts; equal entries once   |
|          | an entry with a fresh id                   |                                  |

Of the properties in front matter both are kept where each stands in one version only.

The offsets are those of bytes. A piece is a span of the file, or bytes of its own.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ..errors import Refused
from ..models import Entry, ParsedFile
from .blocks import MASK, closing_line, decode_as_latin1, scan_structure, usual_line_end
from .conflicts import Conflict
from .frontmatter import match_front_matter
from .markdown import new_id
from .privacy import mask_private

Span = tuple[int, int]
Pieces = Sequence[Span | bytes]
Parse = Callable[[bytes], ParsedFile]

_HEAD = re.compile(
    r"\\(#{1,6} [^\r\n]*)(?:\r?\n|\Z)(?:\\(<!--[ \t]*syn:[^\r\n]*-->)(?:\r?\n|\Z))?"
)
"""Matches the heading and the comment with which a version of an entry may begin."""
_ID = re.compile(r"(?<=syn:)[0-9]{8}-[0-9a-z]{8}")
_FIRST_LINES = re.compile(r"\s*(# [^\r\n]*)(?:\r?\n|\Z)\s*")
_LINE_END = re.compile(r"\r?\n")
_PROPERTY = re.compile(r"(?m)^([^\s#:=-][^:=\r\n]*?)[ \t]*[:=]")
"""Matches the name of a property at the beginning of a line."""


def visible_latin1(data: bytes) -> str:
    """The bytes as text whose offsets are those of the bytes; private bytes are blanks."""
    return decode_as_latin1(mask_private(data).replace(MASK, b" "))


def join_pieces(data: bytes, pieces: Pieces) -> bytes:
    """The bytes that the pieces name."""
    return b"".join(
        piece if isinstance(piece, bytes) else data[slice(*piece)] for piece in pieces
    )


def choose_in_entry(text: str, conflict: Conflict, side: str, entry: Entry) -> Pieces:
    """The pieces of the file after a choice in an entry. A heading that the second version has
    of its own replaces that of the entry, if it alone is kept; below the first version it
    begins an entry with a fresh id.
    """
    start = entry.there.start
    line_end = _line_end_of(text)
    closing = _find_closing_line(text, conflict)
    second, end = closing[1], conflict.theirs_span[1]
    head = _HEAD.match(text, second, end)
    before: list[Span | bytes] = [(0, conflict.start)]
    first = conflict.mine_span
    own_head: list[Span | bytes] = []
    if head:
        second = head.end()
        lines = [head.span(number) for number in (1, 2) if head[number]]
        own_head = [piece for line in lines for piece in (line, line_end)]
        first = _without_head_of_entry(text, first, entry)
    body: list[Span | bytes] = [(second, end)]
    if side == "first":
        body = [first]
    elif side == "both":
        if head and head[2]:
            own_head[2:3] = _with_fresh_id(text, head.span(2), entry)
        body = [first, closing, line_end, *own_head, (second, end)]
    elif text.count("\n", start, conflict.start) <= 2 and own_head:
        before = [(0, start), *own_head]  # instead of the heading and comment of the entry
    return [*before, *body, _rest(text, conflict)]


def _without_head_of_entry(text: str, version: Span, entry: Entry) -> Span:
    """The version without the copy of the entry's heading and comment, if it has one."""
    head = _HEAD.match(text, *version)
    if not head:
        return version
    is_copy = text.startswith(head[1], entry.there.start) or entry.id in (head[2] or "")
    return (head.end(), version[1]) if is_copy else version


def _with_fresh_id(text: str, comment: Span, entry: Entry) -> Pieces:
    """The pieces of a comment that gets a new id, of the day of the entry."""
    id = _ID.search(text, *comment)
    if not id:
        return [comment]
    fresh = new_id(entry.at.date()).encode()
    return [(comment[0], id.start()), fresh, (id.end(), comment[1])]


def choose_in_file(parse: Parse, data: bytes, conflict: Conflict, side: str) -> Pieces:
    """The pieces of the file after a choice in a conflict that reaches beyond an entry. `parse`
    reads the entries of a version. Raises Refused if an entry of two that are kept would read
    otherwise than alone.
    """
    text = visible_latin1(data)
    rest = _rest(text, conflict)
    mine = conflict.mine_span
    closing = _find_closing_line(text, conflict)
    theirs = closing[1], conflict.theirs_span[1]
    if side == "first":
        return [(0, conflict.start), mine, rest]
    if side == "second":
        return [(0, conflict.start), theirs, rest]
    versions = [parse(data[slice(*span)]).entries for span in (mine, theirs)]
    below = [*_pieces_of_second(data, mine, theirs, *versions)]
    line_end = _line_end_of(text)
    pieces = [(0, conflict.start), mine, closing, line_end, *below, rest]
    after = parse(join_pieces(data, pieces)).entries
    for entry in (*versions[0], *versions[1]):
        content = entry.content.strip()
        if not any(content in one.content for one in after):
            raise Refused(
                "Both versions in one file would not read as they do alone; nothing was "
                "written.",
                "Keep one of them, or edit the file.",
            )
    return pieces


def is_in_front_matter(text: str, conflict: Conflict) -> bool:
    """True if a conflict stands among the properties with which a file begins."""
    front = match_front_matter(text, 0)
    return front is not None and conflict.end <= front.end("fields")


def keep_both_properties(text: str, conflict: Conflict) -> Pieces:
    """The pieces of the file with the properties of both versions. Raises Refused if one stands
    in both: a property has one value.
    """
    mine, theirs = conflict.mine_span, conflict.theirs_span
    names, others = (_PROPERTY.findall(text[slice(*span)]) for span in (mine, theirs))
    twice = [name for name in names if name in others]
    if twice:
        raise Refused(
            "Both versions have the property {names}, and a note has it once; nothing was "
            "written.",
            "Keep one of them, or edit the file.",
            names=", ".join(twice),
        )
    return [(0, conflict.start), mine, theirs, _rest(text, conflict)]


def _find_closing_line(text: str, conflict: Conflict) -> Span:
    """The span of the line above the second version which a merge wrote to close a fence or a
    comment of the first.
    """
    start, end = conflict.theirs_span
    line = closing_line(text[slice(*conflict.mine_span)])
    ended = _LINE_END.match(text, start + len(line))
    if line and ended and text.startswith(line, start):
        with_line, without = (
            len(scan_structure(text[begin:end]).unclosed) for begin in (start, ended.end())
        )
        if without < with_line or line == "-->":
            return start, ended.end()
    return start, start


def _pieces_of_second(
    data: bytes, mine: Span, theirs: Span, first: Sequence[Entry], second: Sequence[Entry]
) -> Iterator[Span | bytes]:
    """The second version below the first: without what the first has, and with ids of its own
    where the first has them for other texts.
    """
    blocks = {data[slice(*_span(mine, entry))].strip() for entry in first}
    ids = {entry.id for entry in first if not entry.derived_id}
    at = theirs[0] + _shared_opening(data[slice(*mine)], data[slice(*theirs)])
    for entry in second:
        start, end = _span(theirs, entry)
        if data[start:end].strip() in blocks:
            if start > at:
                yield at, start
            at = max(at, end)
        elif entry.id in ids:
            offset = data.find(f"syn:{entry.id}".encode(), start, end) + len("syn:")
            yield at, offset
            yield new_id(entry.at.date()).encode()
            at = offset + len(entry.id)
    yield at, theirs[1]


def _span(version: Span, entry: Entry) -> Span:
    return version[0] + entry.there.start, version[0] + entry.there.end


def _shared_opening(first: bytes, second: bytes) -> int:
    """The length of the front matter and the H1 with which both versions begin."""
    texts = decode_as_latin1(first), decode_as_latin1(second)
    fronts = [match_front_matter(text, 0) for text in texts]
    ends = [0, 0]
    if fronts[0] and fronts[1] and fronts[0][0].strip() == fronts[1][0].strip():
        ends = [front.end() for front in fronts if front]
    titles = [_FIRST_LINES.match(text, end) for text, end in zip(texts, ends, strict=True)]
    if titles[0] and titles[1] and titles[0][1].strip() == titles[1][1].strip():
        return titles[1].end()
    return ends[1]


def _rest(text: str, conflict: Conflict) -> Span:
    """The file below a conflict, whose last mark ends a line."""
    ended = _LINE_END.match(text, conflict.end)
    return ended.end() if ended else conflict.end, len(text)


def _line_end_of(text: str) -> bytes:
    return usual_line_end(text.encode("latin-1"))
