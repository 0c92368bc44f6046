"""Reads the entries of a file's bytes. Never raises, never writes; a piece that is malformed is
a `ParseIssue`.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from calendar import day_abbr, day_name
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, tzinfo
from functools import lru_cache
from itertools import pairwise, product
from pathlib import PurePosixPath
from typing import Any, NamedTuple, TypeVar

import yaml

from ..models import DateSource, Entry, ParsedFile, ParseIssue, Place
from .blocks import (
    LONE_CR,
    MASK,
    TIME,
    TIME_HEADING,
    Mark,
    Scan,
    body_text,
    diary_of,
    eol_at,
    find_tags,
    newlines,
    scan,
    shown,
    slug_tag,
)
from .copies import original_of
from .diary import When, read_when
from .frontmatter import MONTHS, FrontMatter, date_in_path, front_matter_end, read_front_matter
from .header import (
    COMMENT_START,
    NO_COMMENT,
    Comment,
    derive_title,
    read_comment,
    read_heading,
    read_title,
    unique,
)
from .marks import PAGE_PROPERTIES, fields_of, page_properties
from .privacy import mask, unclosed_tags

Value = TypeVar("Value")

GRAMMAR = 6
"""The version of this reader. An index made by another version is made anew. 6: diaries in one
file, copies.
"""
BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
_BOM = b"\xef\xbb\xbf"
_OF_AN_ENTRY = re.compile(
    rf"^ {{0,3}}{COMMENT_START.pattern}[0-9]{{8}}-[{BASE32}]{{8}}(?=[ \t])", re.MULTILINE
)
_BLANK_LINE = re.compile(r"[ \t]*\r?\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CLOCK = re.compile(
    r"([0-9]+)(?:(?:[:.h]|[ \t]?uhr[ \t])([0-9]+)(?::([0-9]+))?)?[ \t]?(?:([ap])\.?m)?",
    re.IGNORECASE,
)
_FIRST_TIME = re.compile(TIME_HEADING)
_SAVED = re.compile(r"^<!--[ \t]*syn:[^\n]*?[ \t]at=", re.MULTILINE)
_OWN_H2S = re.compile(r"[ \t]h2=([0-9]{1,6})(?=[ \t]|-->)")
_LETTERS = re.compile(r"[^\W\d_]+")
_DAY_WORDS = frozenset(
    {*map(str.lower, (*day_name, *day_abbr)), *MONTHS, *(name[:3] for name in MONTHS)}
)
_BLOCK = re.compile(r"^-(?=[ \t\r\n]|\Z)", re.MULTILINE)
_LIKE_A_TIME = re.compile(r"##[ \t]+[0-9]{1,2}(?:[:h][0-9]|\.[0-9]{2}(?![0-9.]))[^\r\n]*")
_PAIRS = ["".join(pair) for pair in product(BASE32, repeat=2)]


def parse_entries(
    data: bytes,
    path: str,
    *,
    mtime: datetime,
    day_file: str = "%Y-%m-%d.md",
    tz: tzinfo | None = None,
    block: bool = False,
    dated: bool = True,
) -> ParsedFile:
    """Every entry of one file, in order, and an issue for each malformed piece. Never raises.

    `path` is relative and posix; `mtime` is aware; `tz` is the zone of times without an offset,
    None for the system's zone. Places are byte offsets into `data`. `block`: `data` is one
    entry alone, out of that file, and its heading may begin with a date if `dated`.
    """
    return _Reader(data, path, mtime, day_file, tz, block, dated).read()


class Outline(NamedTuple):
    """The structure of a file, the marks that begin its entries and notes, and the level at
    which dates do (or 0).
    """

    found: Scan
    borders: list[Mark]
    diary: int


def outline(text: str, start: int = 0, *, of_day: bool, block: bool = False) -> Outline:
    """The outline of a file's text from `start` on.

    `of_day`: its headings are of one day. A `block` is one entry of a diary in one file, or of
    any other file.
    """
    found = scan(text, start)
    diary = 0 if of_day else diary_of(text, found.marks[:1] * 2 if block else found.marks)
    if not diary:
        return Outline(found, borders(text, found.marks, of_day=of_day or block), 0)
    found = scan(text, start, diary)
    marks = [
        mark
        for mark in found.marks
        if mark.level < diary or _is_timed(mark) or mark.comment_at >= 0
    ]
    ends = [*(mark.start for mark in marks[1:]), len(text)]
    for number, (mark, end) in enumerate(zip(marks, ends, strict=True)):
        says_nothing = not text[mark.time[1] : end].strip() and mark.level == diary
        if mark.comment_at < 0 and (says_nothing or not _is_timed(mark)):
            marks[number] = mark._replace(begins="note")
    return Outline(found, _without_own(text, marks), diary)


def borders(text: str, marks: Sequence[Mark], *, of_day: bool) -> list[Mark]:
    """The marks that begin an entry or a note; without an H2 among them the text is one note.

    | H2                                    | begins an entry                               |
    |---------------------------------------|-----------------------------------------------|
    | `## 09:31 x`, any above a `syn:` line | everywhere                                    |
    | `## 6pm x`                            | but below an entry of the first release       |
    | `## [18:31] x`                        | unless the saved entry above counts it as own |
    | `## x`                                | likewise, in a day's file (`of_day`)          |
    |                                       | and in a file with an H2 of the kinds above   |

    In a diary in one file (`outline`) entries begin at dates of its level and at the first two
    kinds, notes at the headings above that level.

    A saved entry says `h2=2`. One with `at=` and without `h2=`, as the first release wrote it,
    owns all but the first kind. In a saved text no line begins like the first two: it has a
    backslash.
    """
    if not of_day and not any(
        mark.level == 2 and (_is_timed(mark) or mark.comment_at >= 0) for mark in marks
    ):
        return [mark for mark in marks if mark.level == 1]
    return _without_own(text, [mark for mark in marks if mark.level < 3])


def _is_timed(mark: Mark) -> bool:
    return mark.time[0] < mark.time[1]


def _without_own(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks without the H2s that saved entries count as their own."""
    found = []
    own: float = 0
    for mark in marks:
        if mark.level == 2 and mark.comment_at < 0 and own > 0 and not _ends(text, mark, own):
            own -= 1
            continue
        found.append(mark)
        own = _own_h2s(text, mark)
    return found


def _ends(text: str, mark: Mark, own: float) -> bool:
    """True if an H2 ends an entry that owns more of them."""
    is_time = _is_timed(mark) and text[mark.time[0]].isdigit()
    return is_time and (own < float("inf") or _FIRST_TIME.match(text, mark.start) is not None)


def _own_h2s(text: str, mark: Mark) -> float:
    comment = (
        text[mark.comment_at : eol_at(text, mark.comment_at)] if mark.comment_at >= 0 else ""
    )
    counted = _OWN_H2S.search(comment)
    return int(counted[1]) if counted else float("inf") if is_saved(comment) else 0


def in_logseq(path: str) -> bool:
    """True if a day's file of this path stands where Logseq keeps its days."""
    return PurePosixPath(path).parent.name == "journals"


def is_saved(head: str) -> bool:
    """True if an entry with this heading and comment was saved, not typed by hand."""
    return _SAVED.search(head) is not None


def is_day_file(path: str, day_file: str) -> bool:
    """True if a file's name is a date and no more, as `2026-11-21 Saturday.md`."""
    if date_in_path(path, day_file) is None:
        return False
    letters = _LETTERS.findall(PurePosixPath(path).stem)
    words = {word.lower() for word in letters if len(word) > 2}
    return words <= _DAY_WORDS or _fits(path, day_file)


def _fits(path: str, day_file: str) -> bool:
    try:
        return bool(datetime.strptime(path, day_file))
    except (ValueError, re.error):
        return False


def end_of_line(text: str, at: int, end: int) -> int:
    """The end of the line that holds `at`, before its line end; at most `end`."""
    eol = eol_at(text, at, end)
    return eol - 1 if text[eol - 1] == "\r" else eol


def mistyped_times(data: bytes) -> list[tuple[int, str]]:
    """(line, heading) of each H2 outside fences and comments that looks like a time and is
    none: `## 25:61`.
    """
    masked = mask(data)
    text = masked.replace(MASK, b" ").decode("latin-1")
    headings = []
    for mark in scan(text).marks:
        match = _LIKE_A_TIME.match(text, mark.start)
        if match and mark.level == 2 and not _is_timed(mark):
            line = text.count("\n", 0, match.start()) + 1
            heading = shown(masked[match.start() : match.end()])
            headings.append((line, heading.decode("utf-8", "replace")))
    return headings


class BlockParts(NamedTuple):
    """The offsets of a block's parts. `comment_end` is -1 without a comment; `head_end` is
    after both lines.
    """

    time: tuple[int, int]
    line_end: int
    comment_at: int
    comment_end: int
    closed: bool
    head_end: int
    body_start: int
    body_end: int


def measure(text: str, mark: Mark, end: int) -> BlockParts:
    """The parts of the block from `mark` to `end`. The first release knew fewer times: in what
    it saved they hold.
    """
    time = mark.time
    eol, line_end = eol_at(text, mark.start, end), end_of_line(text, mark.start, end)
    comment_at = comment_end = -1
    closed = True
    if mark.comment_at >= 0:
        comment_at = mark.comment_at
        eol = eol_at(text, comment_at, end)
        close = text.find("-->", comment_at, eol)
        closed = close >= 0
        comment_end = close + 3 if closed else end_of_line(text, comment_at, end)
        if text[comment_end:eol].strip(" \t\r"):
            eol = comment_end - 1
        if _own_h2s(text, mark) == float("inf") and (
            first := _FIRST_TIME.match(text, mark.start)
        ):
            time = time[0], first.end()
    head_end = min(eol + 1, end)
    return BlockParts(
        time,
        line_end,
        comment_at,
        comment_end,
        closed,
        head_end,
        *body_span(text, head_end, end),
    )


def body_span(text: str, start: int, end: int) -> tuple[int, int]:
    """`start:end` without its outer blank lines; empty at `start` if all lines are blank."""
    first = start
    while blank := _BLANK_LINE.match(text, first, end):
        first = blank.end()
    rest = text[first:end].rstrip(" \t\r\n")
    return (first, end_of_line(text, first + len(rest), end)) if rest else (start, start)


class _Reader:
    def __init__(
        self,
        data: bytes,
        path: str,
        mtime: datetime,
        day_file: str,
        tz: tzinfo | None,
        block: bool,
        dated: bool,
    ) -> None:
        self.raw = data
        self.data = mask(data)
        self.path = path
        self.mtime = mtime
        self.tz = tz
        self.issues: list[ParseIssue] = []
        self.front = FrontMatter()
        self.has_front = False
        self.name = original_of(composed(path))
        self.named_day = date_in_path(self.name, composed(day_file))
        is_day = is_day_file(self.name, composed(day_file))
        self.of_day, self.block = block or is_day, block
        self.no_diary = is_day or (block and not dated)
        self.diary = 0
        self.day_above: date | None = (
            None  # of the heading in a diary below which the next piece stands
        )
        self.heading_counts: dict[str, int] = {}
        self.own_day: date | None = None
        self.above: datetime | None = None  # of the entry before this one
        self.moments: dict[tuple[date, time], datetime] = {}  # of the entries without `at=`
        text = self.data.replace(MASK, b" ").decode("latin-1")
        if "\r" in text:
            text = LONE_CR.sub("\n", text)
        self.counted_at, self.counted = 0, 1
        self.start = 0
        if data.startswith(_BOM):
            # As long as the BOM, and a line start behind it.
            text = f"  \n{text[3:]}"
            self.start, self.counted = 3, 0
        self.text = text
        self.first_line = self.counted

    def read(self) -> ParsedFile:
        if self.raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            self._issue(0, "encoding", "the file is UTF-16; save it as UTF-8")
            return ParsedFile((), tuple(self.issues))
        self._check_encoding()
        self._read_front_matter()
        if properties := PAGE_PROPERTIES.match(self.text, self.start):
            title, aliases = page_properties(newlines(self._decode(*properties.span())))
            known = self.front
            self.front = replace(
                known, title=known.title or title, aliases=unique((*known.aliases, *aliases))
            )
        if self.front.excluded:
            return ParsedFile((), ())
        found, marks, self.diary = outline(
            self.text, self.start, of_day=self.no_diary, block=self.block
        )
        for piece in found.unclosed:
            if piece.hides or not piece.at_end:
                so = (
                    "entry headings below it are read as its text"
                    if piece.at_end
                    else "it ends at the next entry"
                )
                self._issue(
                    piece.start,
                    f"open-{piece.kind}",
                    f"this {piece.kind} is never closed; {so}",
                )
        for at in unclosed_tags(self.raw):
            message = (
                "this <private> is never closed; everything up to the next saved entry is "
                "hidden"
            )
            self._issue(at, "open-private", message)
        self._check_comments(found.opaque)
        self._check_conflicts(found.opaque)
        if any(mark.begins == "entry" for mark in marks):
            entries = self._pieces(marks)
        elif blocks := self._outline():
            entries = blocks
        else:
            entries = [self._whole(marks)]
        kept = self._without_duplicates([e for e in entries if e])
        return ParsedFile(tuple(self._with_front_matter(kept)), tuple(self.issues))

    def _with_front_matter(self, entries: Sequence[Entry]) -> Iterator[Entry]:
        """The entries with their fields and the tags of the file.

        Front matter tells of all entries of a day or diary, else of the note of the file.
        """
        note, of_file = self._derive("", 1), self._front_tags()
        for_all = self.of_day or self.diary > 0 or note not in {entry.id for entry in entries}
        for entry in entries:
            front = self.front.fields if for_all or entry.id == note else ()
            fields = fields_of(front, entry.content) if front or "::" in entry.content else ()
            tags = tuple(tag for tag in of_file if tag not in entry.tags) if for_all else ()
            if fields or tags:
                entry = replace(entry, fields=fields, tags=(*entry.tags, *tags), file_tags=tags)
            yield entry

    def _front_tags(self) -> tuple[str, ...]:
        return unique(filter(None, map(slug_tag, self.front.tags)))

    def _check_encoding(self) -> None:
        try:
            self.raw.decode()
        except UnicodeDecodeError as error:
            self._issue(
                error.start,
                "encoding",
                "this is not UTF-8; what cannot be read shows as U+FFFD",
            )

    def _check_comments(self, opaque: list[tuple[int, int]]) -> None:
        """Reports comments of saved entries that lost their heading to a person or to an
        editor's old buffer.
        """
        for start, end in opaque:
            if "<!--" not in self.text[start : start + 7]:  # a fence, which shows examples
                continue
            for stray in _OF_AN_ENTRY.finditer(self.text, start, end):
                message = (
                    "this comment of a saved entry stands below no heading with a time; it is "
                    "not read"
                )
                self._issue(stray.start(), "stray-comment", message)

    def _check_conflicts(self, opaque: list[tuple[int, int]]) -> None:
        """Reports conflict marks that a merge left for a person. Marks in a fence are an
        example.
        """
        text = f"\n{self.text}" if "<<<<<<< " in self.text else ""
        at = 0
        while True:
            begin = at
            for sign in ("<<<<<<< ", "=======", ">>>>>>> "):
                at = text.find(f"\n{sign}", at)
                if at < 0:
                    return
                begin = at if sign[0] == "<" else begin
            if not any(start <= begin < end for start, end in opaque):
                message = (
                    "two versions stand here, with the marks of a merge that was not finished"
                )
                self._issue(begin, "conflict-marker", message)

    def _read_front_matter(self) -> None:
        block = front_matter_end(self.text, self.start)
        if block is None:
            return
        start, stop, end = block
        if "syn:" in self.text[start:stop] and any(
            m.comment_at >= 0 for m in scan(self.text[start:end]).marks
        ):
            return
        try:
            front = read_front_matter(newlines(self._decode(start, stop)))
        except yaml.YAMLError as error:
            line = getattr(getattr(error, "problem_mark", None), "line", 0)
            reason = (
                getattr(error, "problem", None)
                or getattr(error, "reason", None)
                or "unreadable"
            )
            at = start
            for _ in range(line):
                at = max(at, self.text.find("\n", at, stop) + 1)
            self._issue(
                at, "front-matter", f"the YAML cannot be read ({reason}); it is read as text"
            )
        else:
            if front is not None:
                self.front, self.start, self.has_front = front, end, True

    def _pieces(self, marks: list[Mark]) -> list[Entry | None]:
        leading = self._leading(marks)
        entries = (
            [] if leading else [self._note(self.start, marks[0].start, None, of_file=True)]
        )
        ends = [*(mark.start for mark in marks[1:]), len(self.text)]
        for mark, end in zip(marks, ends, strict=True):
            when = (
                read_when(self.text, mark.time[0], TIME)
                if mark.level == self.diary and _is_timed(mark)
                else None
            )
            if when or mark.begins == "note":
                day = when.day if when else None
                self.above = self.above if day == self.day_above else None
                self.day_above = day
            if mark.begins == "entry":
                entries.append(self._entry(mark, end, when))
            else:
                entries.append(self._note(mark.start, end, mark, of_file=mark is leading))
        self.day_above = None
        return entries

    def _entry(self, mark: Mark, end: int, when: When | None) -> Entry:
        block = measure(self.text, mark, end)
        line = self._line(mark.start)
        heading = read_heading(self._decode(block.time[1], block.line_end))
        comment = self._comment(block) if block.comment_at >= 0 else NO_COMMENT
        has_body = block.body_end > block.body_start
        typed = not is_saved(self.text[mark.start : block.head_end])
        content = (
            body_text(self.data[block.body_start : block.body_end], typed=typed)
            or heading.title
        )
        clock = self.text[slice(*(when.time if when else block.time))]
        at, source = self._moment(_clock(clock) if clock else None, comment, block)
        self.above = at
        text = self._decode(mark.start, block.line_end).strip(" \t")
        occurrence = self._count(text)
        body_line = self._line(block.body_start) if has_body else line
        return Entry(
            id=comment.id or self._derive(text, occurrence),
            at=at,
            title=heading.title or (derive_title(content) if has_body else ""),
            content=content,
            type=heading.type,
            tags=unique((*heading.tags, *find_tags(content))) if has_body else heading.tags,
            **({} if comment is NO_COMMENT else self._fields(comment, block)),
            heading_tags=heading.tags,
            date_source=source,
            derived_id=comment.id is None,
            place=Place(
                self.path, line, mark.start, end, block.body_start, block.body_end, body_line
            ),
        )

    def _comment(self, block: BlockParts) -> Comment:
        start = block.comment_at
        match = COMMENT_START.match(self.text, start)
        assert match is not None
        stop = block.comment_end - 3 if block.closed else block.comment_end
        comment = read_comment(
            self._decode(match.end(), max(stop, match.end())), closed=block.closed
        )
        for problem in comment.problems:
            self._issue(start, "comment", problem)
        return comment

    def _fields(self, comment: Comment, block: BlockParts) -> dict[str, Any]:
        """The fields of an entry that only a comment gives."""
        files = comment.files()
        return {
            **{key: comment.text(key) for key in ("project", "parent", "by", "via", "branch")},
            "importance": self._read(
                comment.importance, block, "importance={} is no whole number from 0 to 10"
            ),
            "files": tuple(path for path, _ in files),
            "fingerprints": tuple((path, known) for path, known in files if known),
            "supersedes": comment.values("supersedes"),
            "expires": self._read(
                comment.expires, block, "expires= is no date like 2026-11-21 ({})"
            ),
            "pin": "pin" in comment.raw,
            "extra": comment.extra,
        }

    def _read(
        self, value: Callable[[], Value | None], block: BlockParts, problem: str
    ) -> Value | None:
        try:
            return value()
        except ValueError as error:
            self._issue(block.comment_at, "comment", problem.format(error))
            return None

    def _moment(
        self, clock: time | None, comment: Comment, block: BlockParts
    ) -> tuple[datetime, DateSource]:
        at: datetime | None = None
        try:
            at = comment.moment()
        except ValueError:
            message = "at= is no ISO date-time like 2026-11-21T09:31:05+01:00"
            self._issue(block.comment_at, "comment", message)
        if at is not None and at.tzinfo is None:
            at = aware(at, self.tz)
        day, source = self._day()
        if clock is None and at is None:  # it stands behind the entry above it
            before = self.above or aware(datetime.combine(day, time()), self.tz)
            return before + datetime.resolution, source
        clock = clock or (at.time() if at else time())
        if at is None:
            if (day, clock) not in self.moments:
                self.moments[day, clock] = aware(datetime.combine(day, clock), self.tz)
            return self.moments[day, clock], source
        if source == "mtime":
            day, source = at.date(), "comment"
        if (at.hour, at.minute) == (clock.hour, clock.minute):
            return (at if at.date() == day else datetime.combine(day, at.timetz())), source
        return aware(datetime.combine(day, clock), self.tz), source

    def _day(self) -> tuple[date, DateSource]:
        """The day of entries that name no day, and its source. Without a diary it is the same
        for all of the file.
        """
        if self.day_above:
            return self.day_above, "heading"
        if self.own_day is None:
            if self.named_day:
                return self.named_day, "file"
            if self.front.created_at:
                return self.front.created_at.date(), "front-matter"
            self.own_day = self._mtime().date()
        return self.own_day, "mtime"

    def _mtime(self) -> datetime:
        try:
            return self.mtime.astimezone(self.tz)
        except (OverflowError, ValueError, OSError):
            return self.mtime

    def _count(self, heading: str) -> int:
        """The number of this entry among those with its heading, from 1. Entries with an id
        count too, so that a new id changes no other derived id.
        """
        count = self.heading_counts[heading] = self.heading_counts.get(heading, 0) + 1
        return count

    def _derive(self, heading: str, occurrence: int) -> str:
        """The id of an entry or note without one; `heading` is "" for the note of the file
        itself.
        """
        day, source = self._day()
        return derived_id(None if source == "mtime" else day, self.name, heading, occurrence)

    def _whole(self, marks: list[Mark]) -> Entry | None:
        sole = marks[0] if len(marks) == 1 else None
        return self._note(
            self.start,
            len(self.text),
            self._leading(marks),
            of_file=True,
            whole=True,
            sole=sole,
        )

    def _leading(self, marks: list[Mark]) -> Mark | None:
        """The H1 with which the text of the file begins."""
        is_first = bool(marks) and not self.text[self.start : marks[0].start].strip(" \t\r\n")
        return (
            marks[0] if is_first and marks[0].begins == "note" and marks[0].level == 1 else None
        )

    def _note(
        self,
        start: int,
        end: int,
        h1: Mark | None,
        *,
        of_file: bool,
        whole: bool = False,
        sole: Mark | None = None,
        name: str = "",
    ) -> Entry | None:
        """The note in `start:end`; None without text.

        `h1` is the heading that opens it, `name` the line that its id comes from, if not that
        heading. `of_file` makes it the note of the file, with front matter and an id that
        depends on the path alone. A file without text is a note because of its title, unless
        that is a date.
        """
        head_end = start
        title, heading = "", ""
        tags: tuple[str, ...] = ()
        if h1 is not None:
            head_end = min(eol_at(self.text, h1.start, end) + 1, end)
            heading = self._line_at(h1.start + h1.level, end)
            title, tags = read_title(heading)
        body_start, body_end = body_span(self.text, head_end, end)
        has_body = body_end > body_start
        of_days = of_file and (self.of_day or self.diary > 0)
        says_more = of_days and bool(title) and not self._only_dates(title)
        is_titled = whole and not self.named_day and (h1 is not None or self.has_front)
        if not (has_body or says_more or is_titled):
            return None
        if of_file:
            of_h1 = read_title(self._line_at(sole.start + 1, end))[0] if sole else ""
            title = title or self.front.title or of_h1 or self._stem()
            tags = unique((*tags, *self._front_tags()))
        content = body_text(self.data[body_start:body_end], typed=True) if has_body else title
        name = "" if of_file else name or f"# {heading}"
        at, source = self._note_moment()
        line = self._line(start if h1 is None else h1.start)
        body_line = self._line(body_start) if has_body else line
        aliases = ", ".join(self.front.aliases) if of_file else ""
        return Entry(
            id=self._derive(name, self._count(name)),
            at=at,
            title=title or derive_title(content),
            content=content,
            tags=unique((*tags, *find_tags(content))) if has_body else tags,
            extra=(("aliases", aliases),) if aliases else (),
            heading_tags=tags,
            date_source=source,
            derived_id=True,
            place=Place(
                self.path, line, start, end, body_start, body_end, body_line, whole_file=True
            ),
        )

    def _only_dates(self, title: str) -> bool:
        """True if a title only names its day: in numbers, or by the day, the year and two words
        of any language.
        """
        words = [word.lower() for word in _LETTERS.findall(title) if len(word) > 2]
        if _DAY_WORDS.issuperset(words):
            return True
        numbers = {int(number) for number in re.findall(r"[0-9]+", title)}
        day = self.named_day
        if day is None or len(words) > 2 or day.month in numbers:
            return False
        return {day.day, day.year} <= numbers

    def _outline(self) -> list[Entry | None]:
        """The top-level blocks of a day in a Logseq graph, each with what is indented below it;
        else nothing.
        """
        if not self.of_day or not in_logseq(self.name):
            return []
        starts = [found.start() for found in _BLOCK.finditer(self.text, self.start)]
        if not starts:
            return []
        blocks = [self._note(self.start, starts[0], None, of_file=True)]
        for start, end in pairwise([*starts, len(self.text)]):
            if self._decode(start, end).strip(" \t\r\n-"):
                blocks.append(
                    self._note(start, end, None, of_file=False, name=self._line_at(start))
                )
        return blocks

    def _line_at(self, start: int, end: int | None = None) -> str:
        return self._decode(start, eol_at(self.text, start, end)).strip(" \t\r")

    def _stem(self) -> str:
        stem = PurePosixPath(self.name).stem.replace("___", "/")
        return without_surrogates(" ".join(stem.split())) or self.name

    def _note_moment(self) -> tuple[datetime, DateSource]:
        day, source = self._day()
        created = self.front.created_at
        if source == "mtime":
            return self._mtime(), source
        if created and created.date() == day:
            return (created if created.tzinfo else aware(created, self.tz)), source
        return aware(datetime.combine(day, time()), self.tz), source

    def _without_duplicates(self, entries: list[Entry]) -> tuple[Entry, ...]:
        kept: dict[str, Entry] = {}
        for entry in entries:
            if entry != kept.get(entry.id):
                new = self._renamed(entry, kept) if entry.id in kept else entry
                kept[new.id] = new
        return tuple(kept.values())

    def _renamed(self, entry: Entry, taken: dict[str, Entry]) -> Entry:
        place = entry.there
        if not entry.derived_id:
            message = (
                f"the id {entry.id} stands above another text too; the first entry keeps it"
            )
            self.issues.append(ParseIssue(self.path, place.line, "duplicate-id", message))
        heading = self._line_at(place.start)
        self.day_above = entry.at.date() if entry.date_source == "heading" else None
        id = entry.id
        while id in taken:
            id = self._derive(heading, self._count(heading))
        self.day_above = None
        return replace(entry, id=id, derived_id=True)

    def _decode(self, start: int, end: int) -> str:
        return shown(self.data[start:end]).decode("utf-8", "replace")

    def _line(self, at: int) -> int:
        """The line of an offset, from 1. It is quick while offsets ascend."""
        if at < self.counted_at:
            self.counted_at, self.counted = 0, self.first_line
        self.counted += self.text.count("\n", self.counted_at, at)
        self.counted_at = at
        return self.counted

    def _issue(self, at: int, code: str, message: str) -> None:
        self.issues.append(ParseIssue(self.path, max(self._line(at), 1), code, message))


@lru_cache(4096)
def _clock(token: str) -> time:
    """The time in a heading's token: `9:31 am`, `[9h31]` and `9:31-10:00` are 09:31."""
    match = _CLOCK.search(token)
    assert match is not None
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    if half := match[4]:
        hour = hour % 12 + (12 if half in "pP" else 0)
    return time(hour, minute, second)


def aware(naive: datetime, tz: tzinfo | None) -> datetime:
    """`naive` in `tz`, or in the system's zone if `tz` is None; in UTC if the system knows no
    offset (the year 1).
    """
    if tz is not None:
        return naive.replace(tzinfo=tz)
    try:
        return naive.astimezone()
    except (OverflowError, ValueError, OSError):
        return naive.replace(tzinfo=UTC)


def without_surrogates(text: str) -> str:
    """`text` with surrogate pairs joined and lone surrogates replaced, so that UTF-8 can encode
    it.
    """
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def composed(path: str) -> str:
    """`path` in Unicode's composed form (NFC). macOS may list a name decomposed that was
    created composed.
    """
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def derived_id(day: date | None, path: str, heading: str, occurrence: int) -> str:
    """The id of an entry without a written one. Path, heading and occurrence decide it."""
    text = f"{path}\n{heading}\n{occurrence}" if heading else path
    number = int.from_bytes(
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:5], "big"
    )
    letters = "".join([_PAIRS[number >> shift & 1023] for shift in (30, 20, 10, 0)])
    return f"{id_date(day)}-{letters}"


def id_date(day: date | None) -> str:
    return f"{day.year:04d}{day.month:02d}{day.day:02d}" if day else "00000000"
