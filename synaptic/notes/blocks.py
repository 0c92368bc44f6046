"""Finds fences, comments, headings and tags in Markdown text. This module knows nothing of
entries.

Structure is plain ASCII, so `scan` reads a file's bytes as Latin-1 just as well as decoded
text, and its offsets are then byte offsets. Line ends are LF; a CR may stand before one. Every
loop is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from ..errors import InvalidArgument
from .diary import diary_level, read_when

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
    r"^(?:(?P<fence>(?P<prefix>[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ "
    r"\t]+){0,20})(?P<run>`{3,}|~{3,})(?P<info>[^\n]*))"
    r"|(?P<comment> {0,3}<!--)|(?P<h1>\#(?=[ \t\r\n]|\Z))|(?P<h2>\#\#[ \t]+(?=[^ \t\r\n]))"
    r"|(?P<h3>\#\#\#[ \t]+(?=[^ \t\r\n])))",
    re.MULTILINE,
)
_LEVELS = {"h1": 1, "h2": 2, "h3": 3}
_HASHES = re.compile(r"\#{1,3}[ \t]*")
_SYN_BELOW = re.compile(r"[^\n]*\n(?:[ \t]*\r?\n)?(?=<!--[ \t]*syn:)")
_UNQUOTED = re.compile(r"^(?! {0,3}>)", re.MULTILINE)
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]")

_ALWAYS_ESCAPED = re.compile(
    r"^( {0,3})(?=\\*<!--[ \t]*syn:|\\+<!--)|^(?=\\*##[ \t]+[0-9]|\\+#(?:[ \t]|$))",
    re.MULTILINE,
)
_ESCAPED = re.compile(
    r"^( {0,3})\\(?=\\*<!--)|^\\(?=\\*(?:##[ \t]+[0-9]|#(?:[ \t]|$)))", re.MULTILINE
)
_H2_ESCAPED = re.compile(r"^\\(?=\\*##[ \t]+[^ \t\r\n0-9])", re.MULTILINE)
_H2_BEHIND_BACKSLASH = re.compile(r"^(?=\\+##[ \t]+[^ \t\r\n0-9])", re.MULTILINE)
PRIVATE_TAG = r"(?ai:</?private)(?:[ \t][^<>\r\n]*)?>"
"""`<private>` or `</private>`, on one line; behind a backslash it is text (see `privacy`)."""
_ESCAPED_TAG = re.compile(rf"(?<!\\)\\(?=\\*{PRIVATE_TAG})")
_COMMENT_OPENER = re.compile(r"^ {0,3}(?=<!--)", re.MULTILINE)

# `\w` lacks the vowel signs that Indic, Thai, Arabic and decomposed Latin words are written
# with.
_TAG_CHARS = (
    r"\w/\-\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u06d6-\u06dc"
    r"\u0900-\u0963\u0966-\u0e4e\u0e50-\u0f00\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
)
_TAG = re.compile(rf"(?<![^ \t\n])#([{_TAG_CHARS}]+)")
_WIKI_TAG = re.compile(r"(?<![^ \t\n])#\[\[([^\[\]\n]+)\]\]")
_NOT_TAG = re.compile(rf"[^{_TAG_CHARS}]+")
_INLINE = re.compile(
    rf"(?P<ticks>`+)|(?P<comment><!--)|{_WIKI_TAG.pattern}|\[\[[^\[\]\n]*\]\]"
    rf"|\[[^\[\]\n]*\](?:\([^()\n]*\)|\[[^\[\]\n]*\])|{_TAG.pattern}"
)
_TAG_PROPERTY = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+)?tags?::[ \t]+([^\n]+)", re.IGNORECASE | re.MULTILINE
)
LISTED = re.compile(r"\[\[([^\[\]|]+)[^\[\]]*\]\]|([^,\[\]]+)")
"""A page or a text in the value of a property, which may list several."""
LOGSEQ_OWN = (
    r"(?:id|collapsed|heading|custom-id|filters|background[-_]color|"
    r"(?:created|updated|last[-_]modified)[-_]at"
    r"|exclude-from-graph-view|ls-type|(?:logseq\.|hl-|query-|card-)[^ :\n]*)"
)
"""The properties in which Logseq keeps the state of its editor (`built-in properties` of its
documentation).
"""
_LOGSEQ_LINE = re.compile(rf"^[ \t]*(?:[-*][ \t]+)?{LOGSEQ_OWN}:: [^\n]*\n?", re.MULTILINE)
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
TICKS = re.compile("`+")
_WITHIN_LINE = re.compile(r"[^\n]")
_CODE_SPAN_REACH = 10_000

WIKI_LINK = re.compile(r"!?\[\[([^\[\]|\n]*+)\|?([^\[\]\n]*+)\]\]")
LINK = re.compile(r"(?<!\w)!?\[([^\[\]\n]*)\]\(([^()\n]*)\)")

LONE_CR = re.compile(r"\r(?!\n)")

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

_NEVER = float("inf")


class Mark(NamedTuple):
    """A heading that may begin an entry or a note. `time` is empty without one, and holds the
    date in a diary of one
    file; `comment_at` is where its `<!-- syn:` line starts, or -1."""

    begins: Literal["note", "entry"]
    level: int
    start: int
    time: tuple[int, int]
    comment_at: int


class Unclosed(NamedTuple):
    """A fence or comment without an end; `hides` counts the entry headings that were read as
    its text.
    """

    kind: Literal["fence", "comment"]
    start: int
    hides: int
    at_end: bool
    closing: str


@dataclass(frozen=True, slots=True)
class Scan:
    """The structure of a text. `opaque` are the spans of fences and comments, in order."""

    marks: list[Mark]
    opaque: list[tuple[int, int]]
    unclosed: list[Unclosed]


@dataclass(slots=True)
class _Open:
    kind: Literal["fence", "comment"]
    start: int
    limit: float
    column: int = 0
    run: str = ""
    hides: int = 0

    def unclosed(self, *, at_end: bool) -> Unclosed:
        return Unclosed(self.kind, self.start, self.hides, at_end, " " * self.column + self.run)


def scan(text: str, start: int = 0, diary: int = 0) -> Scan:
    """The marks, opaque spans and unclosed pieces of `text`, from the line that begins at
    `start`.

    An H2 with a `<!-- syn:` line below it is a mark everywhere, other headings outside fences
    and comments. At the level `diary` a date is a time. `reading.borders` says which of them
    begin an entry.
    """
    found = Scan([], [], [])
    inside: _Open | None = None
    comment_end: float = -1
    own_comment = -1
    above = _Above(text)
    for match in _STRUCTURE.finditer(text, start):
        kind, at = match.lastgroup, match.start()
        if inside is not None and at >= inside.limit:
            found.opaque.append((inside.start, int(inside.limit)))
            inside = None
        below = _SYN_BELOW.match(text, match.end()) if kind == "h2" else None
        if inside is not None:
            if below is not None:
                found.opaque.append((inside.start, at))
                found.unclosed.append(inside.unclosed(at_end=False))
                inside = None
            elif inside.kind == "fence" and kind == "fence" and _closes(match, inside):
                found.opaque.append((inside.start, match.end()))
                inside = None
                continue
            else:
                inside.hides += kind == "h2" and TIME.match(text, match.end()) is not None
                continue
        if kind in _LEVELS:
            level = _LEVELS[kind]
            begin = heading_start(text, at)
            when = read_when(text, begin, TIME) if level == diary else None
            if when and not below:
                below = _SYN_BELOW.match(text, begin)
            time = TIME.match(text, begin) if level == 2 and not when else None
            own_comment = below.end() if below else -1
            end = when.end if when else time.end() if time else begin
            begins: Literal["note", "entry"] = "entry" if level == 2 or when else "note"
            found.marks.append(Mark(begins, level, at, (begin, end), own_comment))
        elif kind == "fence":
            inside = _open_fence(text, match, above)
        elif at != own_comment:
            if comment_end < at:
                # `<!-->` is a whole comment, so the end may overlap the start.
                found_at = text.find("-->", match.end() - 2)
                comment_end = _NEVER if found_at < 0 else eol_at(text, found_at)
            inside = _Open("comment", at, comment_end)
    if inside is not None:
        found.opaque.append((inside.start, int(min(inside.limit, len(text)))))
        if inside.limit == _NEVER:
            found.unclosed.append(inside.unclosed(at_end=True))
    return found


def heading_start(text: str, at: int) -> int:
    """The start of the text of the heading at `at`."""
    found = _HASHES.match(text, at)
    return found.end() if found else at


def diary_of(text: str, marks: Iterable[Mark]) -> int:
    """The level at which dates begin entries, if the text is a diary in one file; else 0."""
    headings = ((mark.level, heading_start(text, mark.start)) for mark in marks)
    return diary_level(
        (
            level,
            read_when(text, begin, TIME) is not None,
            _SYN_BELOW.match(text, begin) is not None,
        )
        for level, begin in headings
    )


def eol_at(text: str, at: int, end: int | None = None) -> int:
    """The line feed that ends the line of `at`; without one, `end` or the text's end."""
    eol = text.find("\n", at, end)
    if eol >= 0:
        return eol
    return len(text) if end is None else end


def _columns(prefix: str) -> int:
    return len(prefix.expandtabs(4))


def _open_fence(text: str, match: re.Match[str], above: _Above) -> _Open | None:
    prefix, run = match["prefix"], match["run"]
    if run[0] == "`" and "`" in match["info"]:
        return None
    column = _columns(prefix)
    if column >= 4 and not prefix.strip(" \t") and not above.in_list(match.start()):
        return None
    # A fence in a block quote ends with the quote; elsewhere only its closing line ends it.
    limit = above.quote_end(match.end() + 1) if ">" in prefix else _NEVER
    return _Open("fence", match.start(), limit, column, run)


def _closes(match: re.Match[str], fence: _Open) -> bool:
    run, prefix = match["run"], match["prefix"]
    return (
        run[0] == fence.run[0]
        and len(run) >= len(fence.run)
        and not match["info"].strip(" \t\r")
        and not prefix.strip(" \t>")
        and _columns(prefix) <= fence.column + 3
    )


class _Above:
    """Answers in which list, quote or code a line stands. Questions in ascending order read
    each line once.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._list = (0, False)
        self._code = (0, True)
        self._quote = (0, -1)

    def in_list(self, start: int) -> bool:
        """True if the indented line at `start` is in a list item, and so no indented code."""
        known_at, listed = self._list
        for line in self._lines(start, known_at):
            if _LIST_ITEM.match(line + " "):
                listed = True
                break
            if line and line[0] not in " \t":
                listed = False
                break
        self._list = (start, listed)
        return listed

    def indented_code(self, at: int) -> bool:
        """True if the line that holds `at` is indented code."""
        start = self._text.rfind("\n", 0, at) + 1
        line = self._text[start : start + 200]
        if _indent(line) < 4 or _LIST_ITEM.match(line):
            return False
        known_at, code = self._code
        for above in self._lines(start, known_at):
            if not above:
                code = not self.in_list(start)
                break
            if _indent(above) < 4:
                code = False
                break
        self._code = (start, code)
        return code

    def quote_end(self, start: int) -> int:
        """The start of the first line at or after `start` that is in no block quote; else the
        text's end.
        """
        asked, end = self._quote
        if not asked <= start <= end:
            unquoted = _UNQUOTED.search(self._text, start)
            self._quote = start, unquoted.start() if unquoted else len(self._text)
        return self._quote[1]

    def _lines(self, start: int, last: int) -> Iterator[str]:
        """The lines above `start`, upwards to the one that begins at `last`."""
        while start > last:
            end = start - 1
            start = self._text.rfind("\n", 0, end) + 1
            yield self._text[start : min(end, start + 200)].rstrip(" \t\r")


def _indent(line: str) -> int:
    return _columns(line[: len(line) - len(line.lstrip(" \t"))])


def escape(text: str, *, typed: bool = False) -> tuple[str, str]:
    r"""`text` with its border lines escaped, and the line that closes its open fence (""
    without an open fence).

    Afterwards no line of the text reads as the border of an entry. A saved entry says how many
    H2s are its own; `typed` by hand, it ends at any H2.

    | line                     | written                                         |
    |--------------------------|-------------------------------------------------|
    | `## 10:00 x`             | `\## 10:00 x`, everywhere                       |
    | `<!-- syn:x`             | `\<!-- syn:x`, everywhere                       |
    | `# H1`                   | `\# H1` outside fences and comments             |
    | `<!-- never closed`      | `\<!-- never closed`                            |
    | `## x`, `\## x`          | one backslash more if typed, the first outside fences |
    | `\# x`, `\<!--`, `\## 1` | one backslash more, so that reading takes one   |
    """
    text = _ALWAYS_ESCAPED.sub(r"\1\\", text)
    if typed:
        text = _H2_BEHIND_BACKSLASH.sub(r"\\", text)
    found = scan(text)
    if found.unclosed and found.unclosed[-1].kind == "comment":
        start = found.unclosed[-1].start
        text = text[:start] + _COMMENT_OPENER.sub(r"\g<0>\\", text[start:])
        found = scan(text)
    closing = found.unclosed[-1].closing if found.unclosed else ""
    levels = (1, 2) if typed else (1,)
    return insert_backslashes(
        text, [mark.start for mark in found.marks if mark.level in levels]
    ), closing


def insert_backslashes(text: str, positions: Iterable[int]) -> str:
    """`text` with one backslash before each of the ascending positions."""
    bounds = [0, *positions, len(text)]
    return "\\".join(text[a:b] for a, b in pairwise(bounds))


def unescape(text: str, *, typed: bool = False) -> str:
    """`text` as it was before `escape` and `privacy.escape_tags`; line ends must be LF."""
    if "\\" not in text:
        return text
    return unescape_tags(_ESCAPED.sub(r"\1", _H2_ESCAPED.sub("", text) if typed else text))


def unescape_tags(text: str) -> str:
    r"""`text` with one backslash less before each `\<private>` and `\</private>`."""
    return _ESCAPED_TAG.sub("", text) if "\\" in text else text


def newlines(text: str) -> str:
    """`text` with CRLF and lone CR as LF. U+2028, VT, FF and NEL are no line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def body_text(raw: bytes, *, typed: bool = False) -> str:
    """The text of a masked body: decoded (errors replaced), with LF, each escape shorter by one
    backslash.

    `typed`: of an entry that was typed by hand, as `escape` means it.
    """
    return unescape(newlines(shown(raw).decode("utf-8", "replace")), typed=typed)


def shown(masked: bytes) -> bytes:
    """A masked text without its private parts, and without the lines that held only private
    parts.
    """
    if MASK not in masked:
        return masked
    return _MASKED_PART.sub(b"", _MASKED_LINES.sub(b"", masked))


@lru_cache(1024)  # a journal has few tags, each many times
def slug_tag(tag: str) -> str:
    """`tag` in the form in which tags are written, stored and compared; "" if no letter is
    left.

    The form is lower case, composed (NFC), and holds only characters that may follow a `#`.
    Arguments, filters and files all use it.

    `Two Words` -> `two-words`, `#DB` -> `db`, `node.js` -> `node-js`, `c++` -> `c`, `2026` ->
    ``.
    """
    bare = tag.strip().lstrip("#").lower()
    composed = bare if bare.isascii() else unicodedata.normalize("NFC", bare)
    slug = _NOT_TAG.sub("-", composed).strip("-/")
    return slug if any(map(str.isalpha, slug)) else ""


def check_tag(tag: str) -> str:
    """`slug_tag` of a tag that a user gave. Raises InvalidArgument if no letter is left."""
    slug = slug_tag(tag)
    if not slug or "\0" in tag:
        raise InvalidArgument(
            f"{tag!r} is no tag.",
            valid=("letters, digits, _ - and /, with at least one letter",),
        )
    return slug


def project_key(project: str) -> str:
    """The form in which projects are compared: case folded, composed (NFC), no blanks around
    it.
    """
    plain = project.strip()
    if plain.isascii():
        return plain.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", plain).casefold())


def find_tags(text: str) -> tuple[str, ...]:
    """The slugs of the tags in `text`, each once, in order. Tags in code, links, URLs and
    comments do not count.
    """
    if not any(sign in text and kind.search(text) for sign, kind in _TAG_KINDS):
        return ()
    tags: dict[str, None] = {}
    at = judged = 0
    code: bool | None = None
    above = _Above(text)
    for start, end in [*scan(text).opaque, (len(text), len(text))]:
        for tag_at, _, tag in inline_tags(text[at:start]):
            # One judgement a line: a line may hold a million tags.
            if code is None or "\n" in text[judged : at + tag_at]:
                code = above.indented_code(at + tag_at)
            judged = at + tag_at
            if not code:
                tags[tag] = None
        for listed in _TAG_PROPERTY.findall(text, at, start):
            values = (
                page or ("" if "#" in word else word) for page, word in LISTED.findall(listed)
            )
            tags |= dict.fromkeys(filter(None, map(slug_tag, values)))
        at = end
    return tuple(tags)


_TAG_KINDS = (("#", _TAG), ("#[[", _WIKI_TAG), ("::", _TAG_PROPERTY))
"""Signs without which a text has no tag of a kind, and the kind."""


def inline_tags(text: str) -> list[tuple[int, int, str]]:
    """Start, end and slug of each tag in a text without fences."""
    found = []
    at = 0
    last_comment_end = text.rfind("-->")
    while match := _INLINE.search(text, at):
        at = match.end()
        if match["ticks"]:
            at = _code_span_end(text, at, len(match["ticks"]))
        elif match["comment"]:
            if at - 2 <= last_comment_end:
                at = text.index("-->", at - 2) + 3
        elif (typed := match[3] or match[4]) and (tag := slug_tag(typed)):
            found.append((match.start(), at, tag))
    return found


def _code_span_end(text: str, at: int, ticks: int) -> int:
    """The end of the code span whose opening backticks end at `at`; `at` itself if nothing
    closes the span.
    """
    for run in TICKS.finditer(text, at, at + _CODE_SPAN_REACH):
        if len(run[0]) == ticks:
            return at if _PARAGRAPH_END.search(text, at, run.start()) else run.end()
    return at


def without_code(text: str) -> str:
    """`text` with blanks in the place of fences, comments and code spans; lines and offsets
    stay.
    """
    if not any(sign in text for sign in ("`", "~~~", "<!--")):
        return text
    pieces, at = [], 0
    for start, end in [*scan(text).opaque, (len(text), len(text))]:
        while ticks := TICKS.search(text, at, start):
            stop = min(_code_span_end(text, ticks.end(), len(ticks[0])), start)
            pieces += [
                text[at : ticks.start()],
                _WITHIN_LINE.sub(" ", text[ticks.start() : stop]),
            ]
            at = stop
        pieces += [text[at:start], _WITHIN_LINE.sub(" ", text[start:end])]
        at = end
    return "".join(pieces)


def plain_text(text: str) -> str:
    """The words of `text` for the index: links become their words; HTML comments and the state
    of Logseq's editor are dropped. Lengths may differ.

    `[[Page|alias]]` -> `Page alias`, `[text](url)` -> `text url`.
    """
    if "<!--" in text:
        text = _drop_comments(text)
    if "::" in text:
        text = _LOGSEQ_LINE.sub("", text)
    if "[" in text:
        text = LINK.sub(r"\1 \2", WIKI_LINK.sub(r"\1 \2", text))
    return text


def _drop_comments(text: str) -> str:
    kept = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        end = text.find("-->", start + 2)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + 3
    return " ".join([*kept, text[at:]])
