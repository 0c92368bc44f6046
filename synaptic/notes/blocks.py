"""Finds fences, comments, headings and tags in Markdown text. This module knows nothing of
entries.

Structure is plain ASCII, so `scan_structure` reads a file's bytes as Latin-1 just as well as
decoded text, and its offsets are then byte offsets. Line ends are LF; a CR may stand before
one. Every loop is linear in the text.
"""

import re
import sys
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from ..errors import InvalidArgument, Sentence
from ..filters import MINUS
from ..models import TYPES
from .diary import DiaryDate, read_date_of_heading

_CLOCK = (
    r"(?:(?:0?[1-9]|1[0-2]):[0-5][0-9](?::[0-5][0-9])?[ \t]?[AaPp][Mm]"
    r"|(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?)"
)
_DASH = r"(?:-|–|\xe2\x80\x93)"  # the third is U+2013 in UTF-8 read as Latin-1
TIME_HEADING = rf"##[ \t]+{_CLOCK}(?:{_DASH}{_CLOCK})?(?=[ \t\r\n]|\Z)"
"""A heading with a time as the first release knew it, which begins an entry everywhere."""
_HOUR = r"(?:[01]?[0-9]|2[0-3])"
_AS_TYPED = (
    rf"(?:{_HOUR}(?:[.:][0-5][0-9])?[ \t]?[Uu]hr(?:[ \t][0-5][0-9])?|{_HOUR}[hH](?:[0-5][0-9])?"
    rf"|(?:0?[1-9]|1[0-2])(?::[0-5][0-9])?[ \t]?[AaPp](?:[Mm]|\.[Mm]\.)|{_CLOCK})"
)
_SPAN = rf"{_AS_TYPED}(?:[ \t]?{_DASH}[ \t]?{_AS_TYPED})?"
TIME = re.compile(
    rf"(?:\[{_SPAN}\](?!\()|\*\*{_SPAN}:?\*\*|__{_SPAN}:?__|{_SPAN}):?"
    rf"(?:[ \t]+(?:-|–|—|\xe2\x80[\x93\x94])(?=[ \t])|(?=[ \t\r\n]|\Z))"
)
"""The time at the head of an H2, with what sets it apart: `9:31`, `6pm`, `18h30`, `14 Uhr`,
`[18:31]`, `18:30 -`.
"""
_STRUCTURE = re.compile(
    r"(?m)^(?:(?P<fence>(?P<prefix>[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+){0,20})"
    r"(?P<run>`{3,}(?![^`\n]*`)|~{3,})(?P<info>[^\n]*))|(?P<comment> {0,3}<!--)"
    r"|(?P<heading>\#(?:[ \t]+|(?=[\r\n]|\Z))|\#{2,3}[ \t]+(?=[^ \t\r\n])))"
)
_SYN_BELOW = re.compile(r"[^\n]*\n(?:[ \t]*\r?\n)?(?=<!--[ \t]*syn:)")
_SAVED_HEADING = re.compile(rf"(?m)^##[ \t]+(?=[^ \t\r\n]){_SYN_BELOW.pattern}")
_SAVED_COMMENT = re.compile(r"(?m)^<!--(?=[ \t]*syn:)")
TIMED_LINE = re.compile(rf"(?m)^{TIME_HEADING}")
_OF_MARKDOWN = re.compile(r"(?ai)\W*(?:markdown|md)\b")
"""The language of a fence that holds a sample: ```` ```markdown ````, ```` ```{.md} ````."""
_UNQUOTED = re.compile(r"(?m)^(?! {0,3}>)")
_INDENT = re.compile(r"(?m)^[ \t]*+(?=[^ \t\r\n])")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t\r\n]|\Z)(?:[ \t]{1,4}(?=[^ \t\r\n]))?")
_WORDS = re.compile(r"(?!\#{1,6}(?:[ \t\r\n]|\Z)|(?:[-*_][ \t]*){3,}\r?\Z)[^ \t\r\n>]")
"""What may begin a paragraph, of which the next line is text even right of no margin."""

_BLOCK_LINE = re.compile(
    r"(?m)^(?P<indent>[ \t]*+)(?=\S)(?:"
    r"(?P<border>\#{1,6}(?=[ \t\r\n]|\Z)"
    r"|(?:={3,}[ \t]*|(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)\r?$)"
    rf"|(?P<item>{_ITEM.pattern})"
    r"|(?P<footnote>\[\^[^\]\n]+\]:))?[^\n]*"
)
"""A line that is not blank: a heading or rule, a list item, a footnote, or other text."""
_MAY_TAG_IN_CODE = re.compile(r"(?m)^(?: {4}| {0,3}\t)[^\n]*(?:\#|::)")

_ALWAYS_ESCAPED = re.compile(
    r"(?m)^( {0,3})(?=\\*<!--[ \t]*syn:|\\+<!--)|^(?=\\*##[ \t]+[0-9]|\\+#(?:[ \t]|$))"
)
_ESCAPED = re.compile(r"(?m)^( {0,3})\\(?=\\*<!--)|^\\(?=\\*(?:##[ \t]+[0-9]|#(?:[ \t]|$)))")
_H2_ESCAPED = re.compile(r"(?m)^\\(?=\\*##[ \t]+[^ \t\r\n0-9])")
_H2_BEHIND_BACKSLASH = re.compile(r"(?m)^(?=\\+##[ \t]+[^ \t\r\n0-9])")
PRIVATE_TAG = r"(?ai:</?private)(?:[ \t][^<>\r\n]*)?>"
"""`<private>` or `</private>`, on one line; behind a backslash it is text (see `privacy`)."""
_ESCAPED_TAG = re.compile(rf"(?<!\\)\\(?=\\*{PRIVATE_TAG})")
_HEADING = re.compile(r"(?m)^(\\*)(#{1,6})[ \t]+([^ \t\r\n][^\n]*)$")
_TYPED = re.compile(rf"(?ai)(?:{'|'.join(TYPES)})(?=:|[ \t,]*(?:#|\r?\Z))")
BY_MARK = re.compile(r"(?<=.) <!-- by=([^\s<>]+) -->\Z")
"""The mark of an agent behind a plain H2 that it added to the text of somebody else."""
_MARKED = re.compile(r"(?m)^##[ \t]+[^ \t\r\n][^\n]*?( <!-- by=[^\s<>]+ -->)$")
_COMMENT_OPENER = re.compile(r"(?m)^ {0,3}(?=<!--)")

# `\w` lacks the vowel signs that Indic, Thai, Arabic and decomposed Latin words are written
# with.
_TAG_CHARS = (
    r"\w/\-\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06dc"
    r"\u0900-\u0963\u0966-\u0e4e\u0e50-\u0f00\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
)
# patterns that begin with a plain character are searched for quickly
TAG = re.compile(rf"#(?<![^ \t\n]#)([{_TAG_CHARS}]+)")
WIKI_TAG = re.compile(r"#(?<![^ \t\n]#)\[\[([^\[\]\n]+)\]\]")
AT_TAG = re.compile(
    rf"@(?<![^ \t\n]@)([^\W\d_][{_TAG_CHARS.replace('/', '')}]*+)(?![/@]|[.:]\w)"
)
"""`@ida`, but not `@scope/pkg`, `@ida@example.org`, `@ida.example` or `@ida:example.org`."""
_NOT_TAG = re.compile(rf"[^{_TAG_CHARS}]+")
_INLINE = re.compile(
    r"`(?<!``)[^`\n]+`(?!`)|"
    rf"(?P<ticks>`+)|(?P<comment><!--)|{WIKI_TAG.pattern}|\[\[[^\[\]\n]*\]\]"
    rf"|\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])|{TAG.pattern}"
)
TAG_PROPERTY = re.compile(r"(?im)^[ \t>]*(?:[-*+][ \t]+)?tags?::[ \t]+([^\n]+)")
LIST_ITEM = re.compile(r"\[\[([^\[\]|]+)[^\[\]]*\]\]|([^,\[\]]+)")
"""A page or a text in the value of a property, which may list several."""
LOGSEQ_OWN = (
    r"(?:id|collapsed|heading|custom-id|filters|background[-_]color|"
    r"(?:created|updated|last[-_]modified)[-_]at"
    r"|exclude-from-graph-view|ls-type|(?:logseq\.|hl-|query-|card-)[^ :\n]*)"
)
"""The properties in which Logseq keeps the state of its editor (`built-in properties` of its
documentation).
"""
_LOGSEQ_LINE = re.compile(rf"(?m)^[ \t]*(?:[-*][ \t]+)?{LOGSEQ_OWN}:: [^\n]*\n?")
_COMMENT = re.compile(r"(?s)<!(?=--).*?-->")
"""`<!-->` is a whole comment."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
TICKS = re.compile("`+")
_SHORT_CODE = re.compile(r"`[^`\n]+`")
_LINE = re.compile(r"[^\n]+")
_CODE_SPAN_REACH = 10_000
_BRACE = re.compile(r"(?<!\\)\$\{|[{}]|\n[ \t]*\n")
_SIGNS_OF_CODE = ("`", "~~~", "<!--", "${")
_LINK_TO_TAG = re.compile("tag:(.+)")

WIKI_LINK = re.compile(r"!?\[\[([^\[\]|\n]*+)\|?([^\[\]\n]*+)\]\]")
LINK = re.compile(r"(?<!\w)!?\[([^\[\]\n]*)\]\(([^()\n]*)\)")

LONE_CR = re.compile(r"\r(?!\n)")
LINE_ENDS = re.compile(rb"(\r\n|\r|\n)")

MASK = b"\xff"
"""The byte that replaces each private byte in a masked text. No UTF-8 text holds it (see
`privacy`).
"""
_MASKED = rb"(?>\xff(?:[\xff\r\n]*\xff)?)"
_MASKED_LINES = re.compile(
    rb"(?:\A|(?<=\n))[ \t]*\xff(?:[\xff\s]*\xff)?[ \t]*(?:\r?\n(?:[ \t]*\r?\n)?|\Z)"
)
_MASKED_PART = re.compile(
    rb"(?<![ \t])[ \t]*%b[ \t]*(?=\r?\n|\Z|[.,;:!?)])|(?:\A|(?<=[ \t\n]))%b[ \t]*|%b"
    % (_MASKED, _MASKED, _MASKED)
)


class Mark(NamedTuple):
    """A heading that may begin an entry or a note.

    `time` is the span of the time in it, empty without one; in a diary in one file it includes
    the date. `when` is the date in it, if asked for. `comment_at` is the offset of its `<!--
    syn:` line, or -1. `owner_at` is the offset of the comment of the saved entry to which an H2
    belonged before a person typed another heading between them, or -1.
    """

    begins: Literal["note", "entry"]
    level: int
    start: int
    time: tuple[int, int]
    comment_at: int
    when: DiaryDate | None
    owner_at: int = -1


@dataclass(slots=True)
class Unclosed:
    """An open fence or comment, which ends at `limit` in any case; unless `at_end`, at an
    entry. `closed_at` is where a line below a saved entry closes the fence, or -1.
    """

    start: int
    limit: int
    run: str = "-->"
    column: int = 0
    language: str = ""
    at_end: bool = True
    closed_at: int = -1

    @property
    def kind(self) -> str:
        return "comment" if self.run == "-->" else "fence"

    @property
    def closing_line(self) -> str:
        """The line that would close this open fence: its backticks, or tildes."""
        return " " * self.column + self.run


class Scan(NamedTuple):
    """The structure of a text: its headings that may begin entries (`marks`), the spans of
    fences and comments in order (`opaque`), and the fences and comments that are never closed.
    """

    marks: list[Mark]
    opaque: list[tuple[int, int]]
    unclosed: list[Unclosed]

    @property
    def open_at_end(self) -> Unclosed | None:
        """The fence or comment that a line at the end of the text would close."""
        return next((piece for piece in self.unclosed if piece.at_end), None)


def scan_structure(text: str, start: int = 0, *, dated: bool = False) -> Scan:
    """Finds the headings, fences and comments of `text`, from the line that begins at the
    offset `start`.

    An H2 with a `<!-- syn:` line below it is a mark everywhere but in a sample (see
    `_Closings`), other headings outside fences and comments. `reading.outline` says which of
    them begin an entry. With `dated` each mark tells the date at its head.
    """
    result = Scan([], [], [])
    around = _Around(text, start)
    closings = _Closings(text)
    orphans: set[int] = set()
    never = len(text) + 1
    inside: Unclosed | None = None
    comment_end = own_comment = -1
    for match in _STRUCTURE.finditer(text, start):
        at, end = match.span()
        level = match[0].count("#") if match["heading"] else 0
        below = _SYN_BELOW.match(text, end) if level == 2 else None
        if inside and at >= inside.limit:
            result.opaque.append((inside.start, inside.limit))
            inside = None
        if inside and below:
            last_line = closings.find_closing(inside, at)
            if last_line and last_line.is_broken and _OF_MARKDOWN.match(inside.language):
                continue
            if last_line and (last_line.is_broken or closings.all_close):
                inside.closed_at = last_line.start
                if last_line.is_broken:
                    orphans.add(last_line.start)
            inside.at_end = False
            result.unclosed.append(inside)
            result.opaque.append((inside.start, at))
            inside = None
        if inside:
            if match["fence"] and _is_closing_line(match, inside):
                result.opaque.append((inside.start, end))
                inside = None
        elif level:
            when = read_date_of_heading(text, end, TIME) if dated else None
            if when:
                below = _SYN_BELOW.match(text, end)
            own_comment = below.end() if below else -1
            time = TIME.match(text, end) if level == 2 else None
            span = (end, time.end() if time else end)
            begins: Literal["note", "entry"] = "entry" if level == 2 else "note"
            result.marks.append(Mark(begins, level, at, span, own_comment, when))
        elif at not in orphans and at != own_comment:
            around.read_to(at, result.opaque[-1][1] if result.opaque else start)
            if match["fence"]:
                inside = around.open_fence(match)
            else:
                if comment_end < at:
                    closing = text.find("-->", end - 2)
                    comment_end = never if closing < 0 else eol_at(text, closing)
                inside = Unclosed(at, comment_end)
            if inside and closings.end_with_item(inside, end, around.item_end(match)):
                result.unclosed.append(inside)
                orphans.add(closings.find_useless(inside, end))
    if inside:
        result.opaque.append((inside.start, min(inside.limit, len(text))))
        if inside.limit == never:
            result.unclosed.append(inside)
    return result


def closed_fences(text: str, structure: Scan) -> Iterator[tuple[int, int]]:
    """Yields the spans of fences that are closed, except those around a saved entry."""
    unclosed = {piece.start for piece in structure.unclosed}
    for start, end in structure.opaque:
        is_comment = text[start : start + 7].lstrip(" ").startswith("<!--")
        if not is_comment and start not in unclosed:
            yield start, end


def closing_line(text: str) -> str:
    """The line that closes the fence or comment that is open at the end of a text; "" if
    none is.
    """
    piece = scan_structure(text).open_at_end
    return piece.closing_line if piece else ""


def close_open_parts(text: str) -> str:
    """The text with the line that closes its open fence or comment, if there is one: what
    stands below then does not belong to it.
    """
    closing = closing_line(text)
    return f"{text}\n{closing}" if closing else text


def decode_as_latin1(masked: bytes) -> str:
    """Decodes a masked text for `scan_structure`: one character for each byte, and blanks for
    private bytes.
    """
    return LONE_CR.sub("\n", masked.replace(MASK, b" ").decode("latin-1"))


def text_of_bytes(data: bytes) -> str:
    """The text of these bytes; `bytes_of_text` gives back what is no UTF-8, too."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of_text(text: str) -> bytes:
    """The bytes that `text_of_bytes` read."""
    return text.encode("utf-8", "surrogateescape")


def line_starts(data: bytes) -> list[int]:
    """The offset of the first byte of each line."""
    return [0, *(match.end() for match in LINE_ENDS.finditer(data))]


def usual_line_end(data: bytes) -> bytes:
    """The line end that most lines of `data` have: CRLF or LF, as bytes."""
    return b"\r\n" if data.count(b"\r\n") * 2 > data.count(b"\n") else b"\n"


def eol_at(text: str, at: int, end: int = sys.maxsize) -> int:
    """The offset of the line feed that ends the line of the offset `at`; `end`, or the end of
    the text, if there is none.
    """
    eol = text.find("\n", at, end)
    return eol if eol >= 0 else min(end, len(text))


def _is_closing_line(match: re.Match[str], fence: Unclosed) -> bool:
    prefix = match["prefix"]
    if match["info"].strip(" \t\r") or prefix.strip(" \t>"):
        return False
    indent = len(prefix.expandtabs(4)) - fence.column
    return indent <= 3 and match["run"].startswith(fence.run)


class _Margins:
    """The columns at which the text of the list items around a line begins; 0 comes first."""

    def __init__(self) -> None:
        self.columns = [0]
        self._end = 0
        self._is_paragraph = self._may_go_on = False
        self._may_begin_list = True

    def read(self, line: re.Match[str]) -> bool:
        """Takes in the next match of `_BLOCK_LINE`; True if it is indented code."""
        text = line.string
        is_behind_blank = text.count("\n", self._end, line.start()) > 1
        self._end = line.end()
        column = len(line["indent"].expandtabs(4))
        is_paragraph = self._is_paragraph and not is_behind_blank
        goes_on = is_paragraph and self._may_go_on and text[line.end("indent")] != ">"
        if not goes_on or line["item"] or line["border"]:
            self._leave(column)
        begins_list = self._may_begin_list and line["item"] is not None
        if column - self.columns[-1] >= 4 and not is_paragraph and not begins_list:
            self._is_paragraph = self._may_begin_list = False
            return True
        is_heading = line["border"] is not None and line["border"].startswith("#")
        self._may_begin_list = is_heading or line["item"] is not None
        self._is_paragraph = line["border"] is None
        begun = line.end("indent")
        while not line["border"] and (mark := _ITEM.match(text, begun, line.end())):
            blank = "" if mark[0][-1] in " \t" else " "
            column += len(f"{mark[0]}{blank}".expandtabs(4))
            self.columns.append(column)
            begun = mark.end()
        self._may_go_on = _WORDS.match(text, begun, line.end()) is not None
        if line["footnote"]:
            self.columns.append(4)
        return False

    def begin_block(self, indent: int, column: int) -> None:
        """Takes in the line of a fence or a comment, which stands at `column`, behind the marks
        of list items if that is right of the `indent`.
        """
        self._leave(indent)
        if column > indent:
            self.columns.append(column)
        self._is_paragraph = self._may_begin_list = False

    def _leave(self, column: int) -> None:
        while column < self.columns[-1]:
            self.columns.pop()


class _Around:
    """Knows in which list or quotation a line stands. Asked in ascending order, it reads each
    line once.
    """

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._read = start
        self._quote_end = 0
        self._in_list = False
        self._margins = _Margins()
        self._item_ends: dict[int, int] = {}

    def read_to(self, at: int, covered: int) -> None:
        """Reads the lines above the offset `at`, of which those above `covered` are code, from
        the last one that ends all lists: an H2, or the line at `at` itself.
        """
        first = at
        if self._text[at] in " \t":
            first = max(self._read, self._text.rfind("\n## ", self._read, at))
        for line in _BLOCK_LINE.finditer(self._text, first, at):
            if line.start() >= covered:
                self._margins.read(line)
            is_item = _ITEM.match(self._text, line.end("indent")) is not None
            if is_item or not line["indent"]:
                self._in_list = is_item
        self._read = at

    def open_fence(self, match: re.Match[str]) -> Unclosed | None:
        """The fence that a line opens; None if the line is indented code."""
        prefix = match["prefix"]
        column = len(prefix.expandtabs(4))
        if column >= 4 and prefix.isspace() and not self._in_list:
            return None
        limit = len(self._text) + 1
        if ">" in prefix:  # it ends with its quotation
            if self._quote_end <= match.end():
                unquoted = _UNQUOTED.search(self._text, match.end() + 1)
                self._quote_end = unquoted.start() if unquoted else len(self._text)
            limit = self._quote_end
        return Unclosed(match.start(), limit, match["run"], column, match["info"])

    def item_end(self, match: re.Match[str]) -> int:
        """Where the list item ends in which a fence or a comment begins; behind the text if
        that stands in none, or in a quotation.
        """
        never = len(self._text) + 1
        prefix = match["prefix"] if match["fence"] else match[0].removesuffix("<!--")
        indent = len(prefix[: len(prefix) - len(prefix.lstrip(" \t"))].expandtabs(4))
        if ">" in prefix:
            self._margins.begin_block(indent, indent)
            return never
        self._margins.begin_block(indent, len(prefix.expandtabs(4)))
        margin = self._margins.columns[-1]
        if margin and self._item_ends.get(margin, 0) <= match.end():
            lines = _INDENT.finditer(self._text, eol_at(self._text, match.end()))
            ends = (line.start() for line in lines if len(line[0].expandtabs(4)) < margin)
            self._item_ends[margin] = next(ends, never)
        return self._item_ends[margin] if margin else never


class _Closing(NamedTuple):
    """The line that closes a fence with a saved entry in it, and whether that entry is broken
    if it is read as one.
    """

    start: int
    is_broken: bool


class _Closings:
    """Knows which lines close fences: so whether a fence is left open in a list item, and
    whether a saved entry below an open fence may be a sample in a closed one.

    Synaptic closes the fences of what it saves, and escapes headings with a time in it. So an
    entry is a sample, or somebody put a second fence below it, if it is broken: the line that
    closes the fence above would open one in it, or hide such a heading.

    | in the file                              | the entry between the fences             |
    |------------------------------------------|------------------------------------------|
    | ```` ```markdown ````, entry, ```` ``` ```` | text                                  |
    | ```` ``` ````, entry, ```` ``` ````      | an entry: the fences may be of two texts |
    | a fence, entry with code of its own      | an entry below an open fence             |
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: dict[tuple[str, int], list[int]] = {}
        self._headings: dict[re.Pattern[str], int] = {}
        self._lines: dict[int, _Closing] = {}
        self._all_close: bool | None = None

    @property
    def all_close(self) -> bool:
        """True if each fence of the text is closed where no saved entry ends one."""
        if self._all_close is None:
            plain = _SAVED_COMMENT.sub("<!=", self._text)
            self._all_close = not scan_structure(plain).unclosed
        return self._all_close

    def find_closing(self, fence: Unclosed, at: int) -> _Closing | None:
        """The closing of a fence that holds the saved entry at `at`; None if nothing closes it
        below.
        """
        start = self._find_line(fence, at) if fence.kind == "fence" else len(self._text)
        if start == len(self._text):
            return None
        if start not in self._lines:
            self._lines[start] = _Closing(start, self._is_broken(at, start))
        return self._lines[start]

    def end_with_item(self, piece: Unclosed, below: int, item_end: int) -> bool:
        """True for a fence or comment that is left open in its list item, whose `limit` then is
        the end of the item. The line that opens it ends at `below`.

        One that a line below the item closes goes on to there, as earlier versions saved texts,
        unless it has text in the item and a heading with a time, which no saved text holds,
        stands before that line.
        """
        closing = self._find_line(piece, below)
        if item_end > min(closing, piece.limit - 1):
            return False
        if closing < len(self._text):
            first = _INDENT.search(self._text, below)
            timed = self._find_heading(TIMED_LINE, item_end)
            saved = self._find_heading(_SAVED_HEADING, item_end)
            if not first or first.start() == item_end or timed >= min(closing, saved):
                return False
            piece.at_end = False
        piece.limit = item_end
        return True

    def find_useless(self, piece: Unclosed, below: int) -> int:
        """The line further down that would have closed a fence that ends with its list item, if
        nothing closes the fence that the line opens in its place; else -1.
        """
        start = self._find_line(piece, below)
        line = _STRUCTURE.match(self._text, start) if piece.kind == "fence" else None
        if not line:
            return -1
        column = len(line["prefix"].expandtabs(4))
        opened = Unclosed(start, len(self._text), line["run"], column)
        return start if self._find_line(opened, line.end()) == len(self._text) else -1

    def _find_heading(self, kind: re.Pattern[str], at: int) -> int:
        """The first heading of a kind from `at` on, or the end of the text. Asked in ascending
        order, it reads the text once.
        """
        if self._headings.get(kind, -1) < at:
            heading = kind.search(self._text, at)
            self._headings[kind] = heading.start() if heading else len(self._text)
        return self._headings[kind]

    def _find_line(self, piece: Unclosed, at: int) -> int:
        """The line from `at` on that closes a fence or comment; the end of the text if there is
        none. It reads the text once for each kind of fence.
        """
        if piece.kind == "comment":
            return piece.limit - 1
        key = piece.run, piece.column
        if key not in self._starts:
            lines = _STRUCTURE.finditer(self._text)
            self._starts[key] = [
                line.start()
                for line in lines
                if line["fence"] and _is_closing_line(line, piece)
            ]
        starts = self._starts[key]
        after = bisect_left(starts, at)
        return starts[after] if after < len(starts) else len(self._text)

    def _is_broken(self, at: int, closing: int) -> bool:
        """True for the last saved entry from `at` to the closing line, read up to the next."""
        for heading in _SAVED_HEADING.finditer(self._text, at, closing):
            at = heading.start()
        below = _SAVED_HEADING.search(self._text, closing)
        entry = self._text[at : below.start() if below else len(self._text)]
        structure = scan_structure(entry)
        if structure.unclosed or not self.all_close:
            return bool(structure.unclosed)
        return any(_hides_entry(entry, *span) for span in structure.opaque)


def _hides_entry(text: str, start: int, end: int) -> bool:
    """True if a closed fence holds a line that begins an entry, or a fence with a language."""
    opening = _STRUCTURE.match(text, start)
    if not opening or not opening["fence"]:
        return False
    return bool(TIMED_LINE.search(text, start, end)) or any(
        line["fence"] and line["info"].strip() and line["run"].startswith(opening["run"])
        for line in _STRUCTURE.finditer(text, opening.end(), end)
    )


def escape_entry_borders(
    text: str, *, typed: bool = False, own: bool = False, mark: str = ""
) -> tuple[str, str]:
    r"""(`text` with backslashes before lines that would be read as the beginning of an entry,
    the line that closes its open fence). The second is "" if no fence is open.

    Afterwards no line of the text reads as the border of an entry. A saved entry says which
    H2s are its own; `typed` by hand, it ends at any H2. With the `mark` of an agent this holds
    whatever a person types around the text later, but for plain H2s. Those are named in the
    comment if the entry is the agent's `own`; elsewhere each of them gets the mark.

    | line                     | written                                            |
    |--------------------------|----------------------------------------------------|
    | `## 10:00 x`             | `\## 10:00 x`, everywhere                          |
    | `### decision: x`        | `\### decision: x`, everywhere, if an agent writes |
    | `<!-- syn:x`             | `\<!-- syn:x`, everywhere                          |
    | `# H1`                   | `\# H1` outside fences and comments                |
    | `<!-- never closed`      | `\<!-- never closed`                               |
    | `## x`, `\## x`          | one backslash more if typed, the first outside fences |
    | `## x`                   | `## x <!-- by=codex -->` outside fences, see above |
    | `## x <!-- by=codex -->` | one mark more, so that reading takes one           |
    | `\# x`, `\<!--`, `\## 1` | one backslash more, so that reading takes one      |
    """
    text = _ALWAYS_ESCAPED.sub(r"\1\\", text)
    if typed:
        text = _H2_BEHIND_BACKSLASH.sub(r"\\", text)

    def escaped(heading: re.Match[str]) -> str:
        is_escaped = (mark or heading[1]) and _has_head(heading, typed)
        return f"\\{heading[0]}" if is_escaped else heading[0]

    text = _HEADING.sub(escaped, text)
    structure = scan_structure(text)
    comments = [piece.start for piece in structure.unclosed if piece.kind == "comment"]
    if comments:
        start = comments[0]
        text = text[:start] + _COMMENT_OPENER.sub(r"\g<0>\\", text[start:])
        structure = scan_structure(text)
    still_open = structure.open_at_end
    closing = still_open.closing_line if still_open else ""
    levels = (1, 2) if typed else (1,)
    added = {heading.start: "\\" for heading in structure.marks if heading.level in levels}
    plain = [heading.start for heading in structure.marks if heading.level == 2]
    if mark and not (typed or own):
        added |= {eol_at(text, start): mark for start in plain}
    for line in _MARKED.finditer(text):
        if line.start() not in added:
            added[line.end()] = mark or line[1]
    return _insert_pieces(text, added), closing


def _has_head(heading: re.Match[str], typed: bool) -> bool:
    """True for a heading with a time, a date or a type at its head, unless a simpler rule
    escapes it.
    """
    backslashes, level, text = heading[1], len(heading[2]), heading[3]
    if level == 1 and backslashes:
        return False
    if level == 2 and ("0" <= text[0] <= "9" or (typed and backslashes)):
        return False
    return bool(TIME.match(text) or _TYPED.match(text) or read_date_of_heading(text, 0, TIME))


def by_mark(agent: str) -> str:
    """The comment that marks a heading as written by this agent; `agent` must be one word
    (`header.encode`).
    """
    return f" <!-- by={agent} -->"


def _insert_pieces(text: str, pieces: Mapping[int, str]) -> str:
    """The text with each piece inserted before the offset that is its key."""
    parts = []
    at = 0
    for position in sorted(pieces):
        parts += [text[at:position], pieces[position]]
        at = position
    return "".join([*parts, text[at:]])


def insert_backslashes(text: str, positions: Iterable[int]) -> str:
    """The text with one backslash inserted before each of these offsets, which ascend."""
    bounds = [0, *positions, len(text)]
    return "\\".join(text[a:b] for a, b in pairwise(bounds))


def unescape_entry_borders(text: str, *, typed: bool = False) -> str:
    """Removes the backslashes that `escape_entry_borders` and `privacy.escape_tags` added; line
    ends must be LF.
    """
    if "<!-- by=" in text:
        text = _MARKED.sub(lambda line: line[0][: -len(line[1])], text)
    if "\\" not in text:
        return text
    if typed:
        text = _H2_ESCAPED.sub("", text)

    def plain(heading: re.Match[str]) -> str:
        is_escaped = heading[1] and _has_head(heading, typed)
        return heading[0][1:] if is_escaped else heading[0]

    return unescape_tags(_ESCAPED.sub(r"\1", _HEADING.sub(plain, text)))


def unescape_tags(text: str) -> str:
    r"""Removes one backslash before each `\<private>` and `\</private>`."""
    return _ESCAPED_TAG.sub("", text)


def unify_newlines(text: str) -> str:
    """Converts CRLF and lone CR to LF. U+2028, VT, FF and NEL are not line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode_body(raw: bytes, *, typed: bool = False) -> str:
    """Decodes the masked bytes of an entry's body: without private parts, with LF, and with
    escapes removed.

    `typed`: of an entry that was typed by hand, as `escape_entry_borders` means it.
    """
    return unescape_entry_borders(
        unify_newlines(without_masked(raw).decode("utf-8", "replace")), typed=typed
    )


def without_masked(masked: bytes) -> bytes:
    """Removes the private parts of a masked text, and the lines that had only private parts."""
    if MASK not in masked:
        return masked
    return _MASKED_PART.sub(b"", _MASKED_LINES.sub(b"", masked))


@lru_cache(1024)  # a journal has few tags, each many times
def slug_tag(tag: str) -> str:
    """The form of a tag in which tags are written, stored and compared; "" if it has no letter.

    The form is lower case, composed (NFC), and holds only characters that may follow a `#`.
    Arguments, filters and files all use it.

    `Two Words` -> `two-words`, `#DB` -> `db`, `node.js` -> `node-js`, `c++` -> `c`, `2026` ->
    ``.
    """
    composed = unicodedata.normalize("NFC", tag.strip().lstrip("#").lower())
    slug = _NOT_TAG.sub("-", composed).strip("-/")
    return slug if any(map(str.isalpha, slug)) else ""


_OF_MINUS = "{tag!r} is not a tag: a minus leaves out, before the whole value of a filter."


def check_tag(tag: str, *, of: str = "") -> str:
    """The slug (`slug_tag`) of a tag that a user gave, as the parameter `of` if that is known.
    Raises InvalidArgument if it has no letter, or begins with the minus by which a filter
    leaves a tag out.
    """
    slug = slug_tag(tag)
    has_minus = tag.strip().lstrip("#").startswith(MINUS)
    if not slug or has_minus or "\0" in tag:
        why = Sentence(_OF_MINUS if has_minus else "{tag!r} is not a tag.", tag=tag)
        raise InvalidArgument(
            Sentence("{name}: {text}", name=Sentence(of), text=why) if of else why,
            valid=("letters, digits, _ - and /, with at least one letter",),
            of=filter(None, [of]),
        )
    return slug


def project_key(project: str) -> str:
    """The form of a project's name in which projects are compared: case folded, composed (NFC),
    without blanks around it.
    """
    apart = unicodedata.normalize("NFD", project.strip())
    return unicodedata.normalize("NFC", apart.casefold())


def find_tags(text: str) -> tuple[str, ...]:
    """The slugs of all tags in a text, without duplicates: first those with `#`, then those in
    `tags::` properties. Tags in code, links, URLs and comments do not count.
    """
    if "#" not in text and "::" not in text:
        return ()
    text = blank_out(text, scan_structure(text).opaque)
    if _MAY_TAG_IN_CODE.search(text):
        text = blank_out(text, indented_code(text))
    if "${" in text:
        spans = find_expressions(_without_code_spans(text))
        text = blank_out(text, spans)
    tags = [tag for _, _, tag in inline_tags(text)]
    for value in TAG_PROPERTY.findall(text):
        for page, word in LIST_ITEM.findall(value):
            if page or "#" not in word:
                tags.append(slug_tag(page or word))
    return tuple(dict.fromkeys(filter(None, tags)))


def find_at_tags(text: str) -> tuple[str, ...]:
    """The slugs of all `@name` in a text, without duplicates, as jrnl's tags are written. Mail
    addresses, packages (`@scope/pkg`), links, code and comments hold none.
    """
    if "@" not in text:
        return ()
    text = WIKI_LINK.sub("[]", LINK.sub("[]", without_code_and_comments(text)))
    return tuple(dict.fromkeys(filter(None, map(slug_tag, AT_TAG.findall(text)))))


def indented_code(text: str) -> Iterator[tuple[int, int]]:
    """Yields the span of each line of indented code in a text without fences: a line that
    stands four columns or more behind the text around it, and continues no paragraph.

    | line, behind a blank line                    | is                                    |
    |----------------------------------------------|---------------------------------------|
    | `    #define X`                              | code                                  |
    | the same below `- item`                      | text of the item                      |
    | `        #define X` below `- item`           | code in the item                      |
    | `    - #tag` below a heading or at the start | a list, as Logseq writes its blocks   |
    """
    margins = _Margins()
    for line in _BLOCK_LINE.finditer(text):
        if margins.read(line):
            yield line.span()


def inline_tags(text: str) -> list[tuple[int, int, str]]:
    """(start, end, slug) of each tag with `#` in a text without fences."""
    tags: list[tuple[int, int, str]] = []
    if "#" not in text:
        return tags
    at = 0
    last_comment_end = text.rfind("-->")
    for match in _INLINE.finditer(text):
        start, end = match.span()
        if start < at:
            continue
        if match["ticks"]:
            at = _code_span_end(text, end, end - start)
        elif match["comment"] and end - 2 <= last_comment_end:
            at = text.index("-->", end - 2) + 3
        tag = slug_tag(match[3] or match[4] or "")
        if tag:
            tags.append((start, end, tag))
    return tags


def _code_span_end(text: str, at: int, ticks: int) -> int:
    """The end offset of the code span whose opening backticks end at `at`; `at` itself if no
    backticks close it.
    """
    for run in TICKS.finditer(text, at, at + _CODE_SPAN_REACH):
        if len(run[0]) == ticks:
            return at if _PARAGRAPH_END.search(text, at, run.start()) else run.end()
    return at


def tag_of_link(target: str) -> str:
    """The tag to which a link of SilverBullet leads, as it is written: `physics` of
    `[[tag:physics]]`; "" for a link to a note.
    """
    match = _LINK_TO_TAG.fullmatch(target)
    return match[1] if match and TAG.fullmatch(f"#{match[1]}") else ""


def without_code(text: str) -> str:
    """Replaces fences, comments, code spans and expressions by blanks; lines and offsets do not
    change.
    """
    if not any(sign in text for sign in _SIGNS_OF_CODE):
        return text
    text = blank_out(text, scan_structure(text).opaque)
    return _without_code_in_lines(text)


def without_code_and_comments(text: str, body: int = 0) -> str:
    """Does the same, and replaces indented code and comments within lines from the offset
    `body` on. A line that begins with a code span is not indented.
    """
    if any(sign in text for sign in _SIGNS_OF_CODE):
        text = blank_out(text, scan_structure(text).opaque)
    code = [(start + body, end + body) for start, end in indented_code(text[body:])]
    text = _without_code_in_lines(blank_out(text, code))
    last = text.rfind("-->")
    comments = _COMMENT.finditer(text, body, last + 3) if last > 0 else ()
    return blank_out(text, (comment.span() for comment in comments))


def _without_code_in_lines(text: str) -> str:
    text = _without_code_spans(text)
    return blank_out(text, find_expressions(text))


def find_expressions(text: str) -> list[tuple[int, int]]:
    """The spans of `${...}` in a text without code, as SilverBullet writes queries: from its
    sign to the brace that closes it in the same paragraph.
    """
    spans: list[tuple[int, int]] = []
    for start, end in iter_expressions(text):
        while spans and spans[-1][0] > start:  # an expression within this one
            spans.pop()
        spans.append((start, end))
    return spans


def iter_expressions(text: str) -> Iterator[tuple[int, int]]:
    """Yields the same, and each expression within another one before it."""
    open_braces: list[tuple[int, bool]] = []
    for brace in _BRACE.finditer(text) if "${" in text else ():
        sign = brace[0]
        if sign == "}" and open_braces:
            start, is_expression = open_braces.pop()
            if is_expression:
                yield start, brace.end()
        elif sign in ("{", "${"):
            open_braces.append((brace.start(), sign != "{"))
        elif sign != "}":
            open_braces = []


def _without_code_spans(text: str) -> str:
    spans = []
    at = 0
    for ticks in TICKS.finditer(text):
        if ticks.start() >= at:
            at = _code_span_end(text, ticks.end(), len(ticks[0]))
            spans.append((ticks.start(), at))
    return blank_out(text, spans)


def blank_out(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces = []
    at = 0
    for start, end in spans:
        blank = _LINE.sub(lambda line: " " * len(line[0]), text[start:end])
        pieces += [text[at:start], blank]
        at = end
    return "".join([*pieces, text[at:]])


def plain_text(text: str) -> str:
    """The text without markup, for the index: links become their words, HTML comments and
    properties of Logseq's editor are removed. Offsets change.

    `[[Page|alias]]` -> `Page alias`, `[text](url)` -> `text url`.
    """
    if "<!--" in text:
        commented, end, rest = text.rpartition("-->")
        text = _COMMENT.sub(" ", commented + end) + rest
    if "::" in text:
        text = _LOGSEQ_LINE.sub("", text)
    if "[" not in text:
        return text
    return LINK.sub(r"\1 \2", WIKI_LINK.sub(r"\1 \2", text))


def count_code_spans(text: str) -> int:
    """Returns the number of commands, names and values in backticks."""
    return len(_SHORT_CODE.findall(text))
