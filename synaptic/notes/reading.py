"""Reads the entries of a file from its bytes. Never raises and never writes; malformed pieces
become `ParseIssue` values.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..errors import Sentence
from ..models import DateSource, Entry, Pairs, ParsedFile, ParseIssue, Place, Texts
from .blocks import (
    TIME_HEADING,
    Mark,
    Scan,
    Unclosed,
    decode_as_latin1,
    decode_body,
    eol_at,
    find_tags,
    scan_structure,
    slug_tag,
    unify_newlines,
    without_masked,
)
from .copies import path_without_conflict_mark
from .dates import are_day_words, date_in_path, fold_letters, owner_time
from .frontmatter import FrontMatter, match_front_matter, read_front_matter
from .header import (
    COMMENT_START,
    Comment,
    derive_title,
    hash_of_heading,
    read_comment,
    read_heading,
    read_title,
    split_agent_mark,
    unique,
    without_emphasis,
)
from .marks import PAGE_PROPERTIES, read_fields, read_title_and_aliases
from .privacy import mask_private, unclosed_tags

GRAMMAR = 16
"""The version of this reader: an index that another one made is made anew."""
OPEN_FENCE = "open-fence"
FENCED = "fenced-entry"
IN_DOUBT = (OPEN_FENCE, FENCED)
"""The codes of issues: a fence is never closed, and an entry that may be a sample in one."""
BASE32 = "0123456789abcdefghjkmnpqrstvwxyz"
_BOM = b"\xef\xbb\xbf"
_OF_AN_ENTRY = re.compile(
    rf"(?m)^ {{0,3}}{COMMENT_START.pattern}[0-9]{{8}}-[{BASE32}]{{8}}(?=[ \t])"
)
_CONFLICT = re.compile("(?m)^<<<<<<< ")
_CLOCK = re.compile(
    r"(?i)([0-9]+)(?:(?:[:.h]|[ \t]?uhr[ \t])([0-9]+)(?::([0-9]+))?)?[ \t]?(?:([ap])\.?m)?"
)
_FIRST_TIME = re.compile(TIME_HEADING)
_SAVED = re.compile(r"(?m)^<!--[ \t]*syn:[^\n]*?[ \t]at=")
_OWN_H2S = re.compile(r"[ \t]h2=([0-9]{1,6})(?=[ \t]|-->)")
_NAMED_H2S = re.compile(r"[ \t]own=([0-9a-f,]+)(?=[ \t]|-->)")
_ALL = float("inf")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_BLOCK = re.compile(r"(?m)^-(?=[ \t\r\n]|\Z)")


def parse_entries(
    data: bytes,
    path: str,
    *,
    mtime: datetime,
    day_file: str = "%Y-%m-%d.md",
    block: bool = False,
    dated: bool = True,
) -> ParsedFile:
    """Parses one file into its entries, in order, and an issue for each malformed piece. Never
    raises.

    `path` is relative and posix; `mtime` is aware. Times without an offset are of the system's
    zone. Places are byte offsets into `data`. `block`: `data` is one
    entry alone, out of that file, and its heading may begin with a date if `dated`.
    """
    return _Reader(data, path, mtime, day_file, block, dated).read()


class Outline(NamedTuple):
    """The structure of a file, the headings that begin its entries and notes (`borders`), and
    the level of headings whose dates begin entries (`diary`; 0 if it is not a diary).
    """

    structure: Scan
    borders: list[Mark]
    diary: int


def outline(text: str, start: int = 0, *, of_day: bool, block: bool = False) -> Outline:
    """Finds the headings of a file that begin its entries and notes, from the offset `start`
    on.

    A text without an H2 that begins an entry is one note.

    | H2                                    | begins an entry                               |
    |---------------------------------------|-----------------------------------------------|
    | `## 09:31 x`, any above a `syn:` line | everywhere                                    |
    | `## 6pm x`                            | but below an entry of the first release       |
    | `## [18:31] x`                        | unless a saved entry owns it (`h2=`)          |
    | `## x`                                | likewise, in a day's file (`of_day`)          |
    |                                       | and in a file with an H2 of the kinds above   |

    In a diary in one file entries begin at dates of its level and at the first two kinds, notes
    at the headings above that level. A `block` is one entry of a diary, or of any other file.

    The comment of a saved entry says how many plain H2 of its own follow (`h2=2`); that of an
    agent names them (`own=1f3a9c,9c02aa`). One with `at=` and without `h2=`, as the first
    release wrote it, owns all H2 but the first kind.
    When a text is saved, its lines that look like the first two kinds get a backslash.
    """
    structure = scan_structure(text, start, dated=not of_day)
    marks = structure.marks
    diary = 0
    if not of_day:
        diary = _diary_level(marks[:1], least=1) if block else _diary_level(marks, least=2)
    if diary:
        marks = _diary_marks(text, marks, diary)
    elif of_day or block or any(mark.level == 2 and _has_sign(mark) for mark in marks):
        marks = [mark for mark in marks if mark.level < 3]
    else:
        marks = [mark for mark in marks if mark.level == 1]
    return Outline(structure, _drop_h2s_within_entries(text, marks), diary)


def _diary_level(marks: Sequence[Mark], least: int) -> int:
    """The level of the headings that begin entries in a diary in one file; 0 if the file is not
    a diary.

    Most headings of the level begin with a date, and at least that many, or one that Synaptic
    has marked; the level with most dates wins.
    """
    diary = most = 0
    for level in (1, 2, 3):
        here = [mark for mark in marks if mark.level == level]
        dated = [mark for mark in here if mark.when]
        is_diary = least <= len(dated) > len(here) / 2
        if len(dated) > most and (is_diary or any(mark.comment_at >= 0 for mark in dated)):
            diary = level
            most = len(dated)
    return diary


def _diary_marks(text: str, marks: Sequence[Mark], diary: int) -> list[Mark]:
    """The headings that begin entries or notes in a diary. A date without any text begins no
    entry.
    """
    bounds = []
    end = len(text)
    for mark in reversed(marks):
        if mark.level == diary and mark.when:
            mark = mark._replace(time=(mark.time[0], mark.when.end))
        if mark.level < diary or _has_sign(mark):
            says_more = mark.level != diary or text[mark.time[1] : end].strip()
            is_entry = mark.comment_at >= 0 or (_is_timed(mark) and says_more)
            bounds.append(mark._replace(begins="entry" if is_entry else "note"))
            end = mark.start
    return bounds[::-1]


def _is_timed(mark: Mark) -> bool:
    return mark.time[0] < mark.time[1]


def _has_sign(mark: Mark) -> bool:
    return _is_timed(mark) or mark.comment_at >= 0


def _drop_h2s_within_entries(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """Removes the H2s that belong to the body of a saved entry, by the number or the hashes in
    its comment. An owned H2 that a person's heading separates from its entry begins an entry of
    its own.
    """
    others: list[Mark] = []
    own = 0.0
    named: dict[str, list[int]] = {}
    for mark in marks:
        if mark.level == 2 and not _has_sign(mark):
            owners = named.get(hash_of_heading(text[mark.start : eol_at(text, mark.start)]))
            if owners:
                owner_at = owners.pop(0)
                if others[-1].comment_at != owner_at:
                    others.append(mark._replace(owner_at=owner_at))
                continue
        if own > 0 and mark.level == 2 and mark.comment_at < 0:
            ends = _is_timed(mark) and text[mark.time[0]].isdigit()
            if not ends or (own == _ALL and not _FIRST_TIME.match(text, mark.start)):
                own -= 1
                continue
        others.append(mark)
        names = _named_h2s(text, mark)
        for name in names:
            named.setdefault(name, []).append(mark.comment_at)
        own = 0.0 if names else _own_h2s(text, mark)
    return others


def _named_h2s(text: str, mark: Mark) -> list[str]:
    """The hashes of the H2s that the comment below a heading names as part of the entry's
    body.
    """
    comment = text[mark.comment_at : eol_at(text, mark.comment_at)]
    names = _NAMED_H2S.search(comment) if mark.comment_at >= 0 else None
    return names[1].split(",") if names else []


def _own_h2s(text: str, mark: Mark) -> float:
    if mark.comment_at < 0:
        return 0
    comment = text[mark.comment_at : eol_at(text, mark.comment_at)]
    counted = _OWN_H2S.search(comment)
    if counted:
        return int(counted[1])
    return _ALL if is_saved(comment) else 0


def is_in_logseq_journals(path: str) -> bool:
    """True if the path is in a folder `journals`, where Logseq stores its daily files."""
    return PurePosixPath(path).parent.name == "journals"


def is_saved(head: str) -> bool:
    """True if Synaptic saved the entry with this heading and comment; False if a person typed
    it.
    """
    return _SAVED.search(head) is not None


def end_of_line(text: str, at: int, end: int) -> int:
    """The end of the line that contains the offset `at`, before its CR or LF; at most `end`."""
    eol = eol_at(text, at, end)
    return eol - 1 if text[eol - 1] == "\r" else eol


def leading_h1(text: str, start: int, marks: Sequence[Mark]) -> Mark | None:
    """The H1 with which the text of a file begins, from the offset `start` on; None if it
    begins with anything else.
    """
    if not marks or text[start : marks[0].start].strip(" \t\r\n"):
        return None
    return marks[0] if (marks[0].begins, marks[0].level) == ("note", 1) else None


class BlockParts(NamedTuple):
    """The offsets of the parts of an entry's block. `comment_end` is -1 without a comment;
    `head_end` is after heading and comment.
    """

    time: tuple[int, int]
    line_end: int
    comment_at: int
    comment_end: int
    head_end: int
    body_start: int
    body_end: int

    @property
    def has_body(self) -> bool:
        return self.body_end > self.body_start


def measure_block(text: str, mark: Mark, end: int) -> BlockParts:
    """Finds the offsets of the parts of an entry's block, from its heading `mark` to `end`. For
    an entry that the first release saved, only the times count that it knew.
    """
    time = mark.time
    eol = eol_at(text, mark.start, end)
    comment_end = -1
    if mark.comment_at >= 0:
        eol = eol_at(text, mark.comment_at, end)
        close = text.find("-->", mark.comment_at, eol)
        comment_end = close + 3
        if close < 0:
            comment_end = end_of_line(text, mark.comment_at, end)
        if text[comment_end:eol].strip(" \t\r"):
            eol = comment_end - 1
        first = _FIRST_TIME.match(text, mark.start)
        if first and first.end() != time[1] and _own_h2s(text, mark) == _ALL:
            time = time[0], first.end()
    head_end = min(eol + 1, end)
    line_end = end_of_line(text, mark.start, end)
    body = body_span(text, head_end, end)
    return BlockParts(time, line_end, mark.comment_at, comment_end, head_end, *body)


def body_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span from `start` to `end` without blank lines at both ends; empty at `start` if all
    lines are blank.
    """
    rest = text[start:end].rstrip(" \t\r\n")
    filled = rest.lstrip(" \t\r\n")
    if not filled:
        return start, start
    last = start + len(rest)
    first = text.rfind("\n", start, last - len(filled)) + 1
    return max(start, first), end_of_line(text, last, end)


class _Reader:
    def __init__(
        self, data: bytes, path: str, mtime: datetime, day_file: str, block: bool, dated: bool
    ) -> None:
        self.raw = data
        self.data = mask_private(data)
        self.path = path
        self.block = block
        self.issues: list[ParseIssue] = []
        self.front = FrontMatter()
        self.front_tags: Texts = ()
        self.has_front = self.has_note = False
        self.name = path_without_conflict_mark(composed_form(path))
        named = date_in_path(self.name, composed_form(day_file))
        self.named_day = named and named.day
        is_day = named is not None and named.is_day
        self.of_day = block or is_day
        self.no_diary = is_day or (block and not dated)
        self.diary = 0
        self.counts = Counter[str]()  # of the headings
        self.above: datetime | None = None  # of the entry before this one
        self.changed_at = owner_time(mtime)
        self.day: tuple[date, DateSource] = self.changed_at.date(), "mtime"
        self.text = decode_as_latin1(self.data)
        self.start = 0
        if data.startswith(_BOM):
            # As long as the BOM, and a line start behind it.
            self.text = f"  \n{self.text[3:]}"
            self.start = 3
        self.line_ends = [eol.start() for eol in re.finditer("\n", self.text)]

    def read(self) -> ParsedFile:
        if self.raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            self._issue(0, "encoding", "the file is UTF-16 and is not read; save it as UTF-8")
            return ParsedFile((), tuple(self.issues))
        self._read_front_matter()
        if self.front.excluded:
            return ParsedFile((), ())
        if self.named_day:
            self.day = self.named_day, "file"
        elif self.front.created_at:
            self.day = self.front.created_at.date(), "front-matter"
        self.front_tags = unique(filter(None, map(slug_tag, self.front.tags)))
        structure, marks, self.diary = outline(
            self.text, self.start, of_day=self.no_diary, block=self.block
        )
        self._report(structure)
        if any(mark.begins == "entry" for mark in marks):
            entries = list(self._pieces(marks))
        else:
            entries = self._outline()
        if not entries:
            if len(marks) == 1 and not self.front.title:  # the only H1, wherever it stands
                title = without_emphasis(read_title(self._heading(marks[0]))[0])
                self.front = self.front._replace(title=title)
            entries = [
                self._note(self.start, len(self.text), leading_h1(self.text, self.start, marks))
            ]
        unique_entries = self._without_duplicates(entry for entry in entries if entry)
        return ParsedFile(unique_entries, tuple(self.issues))

    def _read_front_matter(self) -> None:
        block = match_front_matter(self.text, self.start)
        if block and not COMMENT_START.search(block["fields"]):
            written = unify_newlines(self._decode(*block.span("fields")))
            front = read_front_matter(written, is_toml=not block["yaml"])
            if front and front.problem:
                line, reason = front.problem
                rest = Sentence(
                    "its other lines are read" if front.fields else "it is read as text"
                )
                at = block.start("fields")
                for _ in range(line):
                    at = eol_at(self.text, at, block.end("fields") - 1) + 1
                at = min(at, block.end("fields"))
                message = "the front matter is not valid ({reason}); {rest}"
                self._issue(at, "front-matter", message, reason=reason, rest=rest)
            if front and (front.fields or not front.problem):
                self.front = front
                self.start = block.end()
                self.has_front = True
        properties = PAGE_PROPERTIES.match(self.text, self.start)
        if properties:
            title, aliases = read_title_and_aliases(
                unify_newlines(self._decode(*properties.span()))
            )
            self.front = self.front._replace(
                title=self.front.title or title, aliases=unique((*self.front.aliases, *aliases))
            )

    def _report(self, structure: Scan) -> None:
        """Adds an issue for each problem that a person must correct: wrong encoding, unclosed
        fences and tags, stray comments, merge conflicts.
        """
        try:
            self.raw.decode()
        except UnicodeDecodeError as error:
            message = "this byte is not UTF-8 and is shown as U+FFFD; save the file as UTF-8"
            self._issue(error.start, "encoding", message)
        for piece in structure.unclosed:
            if piece.closed_at >= 0:
                self._report_fenced(structure, piece)
                continue
            name = Sentence("code block" if piece.kind == "fence" else "comment")
            code = OPEN_FENCE if piece.kind == "fence" else "open-comment"
            rest = "all text below belongs to it"
            if piece.limit < len(self.text):
                rest = "it ends with its list item, above line {line}"
            elif not piece.at_end:
                rest = "it ends above the next saved entry"
            rest = Sentence(rest, line=self._line(piece.limit))
            message = "the {name} that begins here is never closed; {rest}"
            self._issue(piece.start, code, message, name=name, rest=rest)
        for at in unclosed_tags(self.raw):
            message = "this <private> is never closed; all up to the next saved entry is hidden"
            self._issue(at, "open-private", message)
        for start, end in structure.opaque:
            if self.text[start : start + 7].lstrip().startswith("<!--"):
                for stray in _OF_AN_ENTRY.finditer(self.text, start, end):
                    message = (
                        "this comment of a saved entry is ignored: the line above it is not a "
                        "heading with a time"
                    )
                    self._issue(stray.start(), "stray-comment", message)
        last = max(self.text.rfind("\n>>>>>>> "), 0)
        for begin in _CONFLICT.finditer(self.text, self.start, last):
            if not any(start <= begin.start() < end for start, end in structure.opaque):
                message = "two versions stand here; `synaptic review` makes them one"
                self._issue(begin.start(), "conflict-marker", message)

    def _report_fenced(self, structure: Scan, fence: Unclosed) -> None:
        """Adds an issue for each saved entry between two fences, because it may be a sample
        within one code block.
        """
        message = (
            "this entry stands between the fences of lines {first} and {last}; begin the first "
            "with ```markdown if it is a sample"
        )
        lines = {"first": self._line(fence.start), "last": self._line(fence.closed_at)}
        for mark in structure.marks:
            if mark.comment_at >= 0 and fence.start < mark.start < fence.closed_at:
                self._issue(mark.start, FENCED, message, **lines)

    def _pieces(self, marks: Sequence[Mark]) -> Iterator[Entry | None]:
        of_file = self.day
        first = leading_h1(self.text, self.start, marks)
        if not first:
            yield self._note(self.start, marks[0].start)
        ends = [*(mark.start for mark in marks[1:]), len(self.text)]
        for mark, end in zip(marks, ends, strict=True):
            day = of_file if mark.begins == "note" else self.day
            if mark.when and mark.level == self.diary:
                day = mark.when.day, "heading"
            self.above = self.above if day == self.day else None
            self.day = day
            if mark.begins == "entry":
                yield self._entry(mark, end)
            else:
                name = "" if first is mark else f"# {self._heading(mark)}"
                yield self._note(mark.start, end, mark, name)

    def _entry(self, mark: Mark, end: int) -> Entry:
        parts = measure_block(self.text, mark, end)
        line = self._decode(parts.time[1], parts.line_end)
        comment = Comment(None, {}, None, {}, [])
        if parts.comment_at >= 0:
            comment = read_comment(self._decode(parts.comment_at, parts.comment_end))
        elif not _is_timed(mark):
            line, comment.values["by"] = self._writer(mark, line)
        heading = read_heading(line)
        for problem in comment.problems:
            self._issue(parts.comment_at, "comment", problem)
        span = parts.time
        if mark.when and mark.level == self.diary:
            span = mark.when.time
        self.above, source = self._moment(self.text[slice(*span)], comment.at)
        return self._made(
            self._decode(mark.start, parts.line_end).strip(" \t"),
            (mark.start, end),
            (parts.body_start, parts.body_end),
            heading.title,
            heading.tags,
            line=self._line(mark.start),
            typed=not is_saved(self.text[mark.start : parts.head_end]),
            id=comment.id,
            at=self.above,
            date_source=source,
            type=heading.type,
            **comment.values,
        )

    def _writer(self, mark: Mark, line: str) -> tuple[str, str | None]:
        """(the text of a heading without a time, the agent that wrote it or None for a
        person).
        """
        by = None
        if mark.level == 2:
            line, by = split_agent_mark(line)
        if mark.owner_at >= 0:
            owner = self._decode(mark.owner_at, eol_at(self.text, mark.owner_at))
            by = read_comment(owner).values.get("by") or "agent"
        return line, by

    def _made(
        self,
        name: str,
        span: tuple[int, int],
        body: tuple[int, int],
        title: str,
        tags: Texts,
        *,
        line: int,
        typed: bool = True,
        whole_file: bool = False,
        id: str | None = None,
        **attributes: Any,
    ) -> Entry:
        """Builds the entry with this title in the span `span`, its body in `body`; `attributes`
        are further fields of the entry.

        Front matter tells of all entries of a day or diary, else of the note of the file.
        """
        self.counts[name] += 1  # with an id too: a new id changes no derived one
        has_body = body[1] > body[0]
        content = decode_body(self.data[slice(*body)], typed=typed) if has_body else ""
        of_all = self.of_day or self.diary > 0 or not self.has_note
        front = self.front.fields if of_all or not name else ()
        fields: Pairs = ()
        if front or "::" in (content or title):
            fields = read_fields(front, content or title)
        own = unique((*tags, *find_tags(content)))
        file_tags = tuple(tag for tag in self.front_tags if of_all and tag not in own)
        return Entry(
            id=id or self._derive(name),
            title=title or (derive_title(content) if has_body else ""),
            content=content or title,
            tags=(*own, *file_tags),
            fields=fields,
            heading_tags=tags,
            file_tags=file_tags,
            derived_id=id is None,
            place=Place(
                self.path,
                line,
                *span,
                *body,
                self._line(body[0]) if has_body else line,
                whole_file,
            ),
            **attributes,
        )

    def _moment(self, clock: str, at: datetime | None) -> tuple[datetime, DateSource]:
        """(the time of an entry, the source of its date), from the clock time in its heading
        and the time in its comment.
        """
        day, source = self.day
        if not at:
            if clock:
                return owner_time(datetime.combine(day, _parse_clock(clock))), source
            # it stands behind the entry above it
            before = self.above or owner_time(datetime.combine(day, time()))
            return before + datetime.resolution, source
        if at.tzinfo is None:
            at = owner_time(at)
        if source == "mtime":
            day = at.date()
            source = "comment"
        typed = _parse_clock(clock) if clock else at.time()
        if (at.hour, at.minute) == (typed.hour, typed.minute):
            return datetime.combine(day, at.timetz()), source
        return owner_time(datetime.combine(day, typed)), source

    def _derive(self, name: str) -> str:
        """The id of an entry or note that has no written id; `name` is "" for the note of the
        whole file.
        """
        day, source = self.day
        is_dated = source not in ("mtime", "comment")
        return make_derived_id(day if is_dated else None, self.name, name, self.counts[name])

    def _note(
        self, start: int, end: int, h1: Mark | None = None, name: str = ""
    ) -> Entry | None:
        """Builds the note between two offsets, which the heading `h1` begins; None if it has no
        text.

        Its id comes from `name`. Without one it is the note of the file, with front matter and
        an id that depends on the path alone. A file without text is a note because of its
        title, unless that is a date.
        """
        head_end = start
        title = ""
        tags = tuple[str, ...]()
        by = None
        if h1:
            head_end = min(eol_at(self.text, h1.start, end) + 1, end)
            line, by = self._writer(h1, self._heading(h1))
            title, tags = read_title(line)
            title = without_emphasis(title)
        body = body_span(self.text, head_end, end)
        if body[0] == body[1]:
            of_days = not name and (self.of_day or self.diary > 0)
            says_more = of_days and title and not self._only_dates(title)
            is_whole = (start, end) == (self.start, len(self.text))
            is_titled = is_whole and not self.named_day and (h1 or self.has_front)
            if not (says_more or is_titled):
                return None
        aliases = project = ""
        if not name:
            self.has_note = True
            title = title or self.front.title or self._stem()
            tags = unique((*tags, *self.front_tags))
            aliases = ", ".join(self.front.aliases)
            project = dict(self.front.fields).get("project", "").strip(" []")
        at, source = self._note_moment()
        return self._made(
            name,
            (start, end),
            body,
            title,
            tags,
            line=self._line(h1.start if h1 else start),
            whole_file=True,
            at=at,
            date_source=source,
            by=by,
            project=project or None,
            extra=(("aliases", aliases),) if aliases else (),
        )

    def _only_dates(self, title: str) -> bool:
        """True if a title only names the day of its file: in numbers, or by day, year and at
        most two words in any language.
        """
        day = self.named_day
        numbers = set(map(int, re.findall("[0-9]+", title)))
        if are_day_words(fold_letters(title)):
            return True
        if not day or len(_LETTERS.findall(title)) > 2 or day.month in numbers:
            return False
        return {day.day, day.year} <= numbers

    def _outline(self) -> list[Entry | None]:
        """The notes for the top-level blocks of a Logseq daily file, each with the blocks
        indented below it; empty for other files.
        """
        if not self.of_day or not is_in_logseq_journals(self.name):
            return []
        starts = [block.start() for block in _BLOCK.finditer(self.text, self.start)]
        if not starts:
            return []
        blocks = [self._note(self.start, starts[0])]
        for start, end in pairwise([*starts, len(self.text)]):
            if self._decode(start, end).strip(" \t\r\n-"):
                blocks.append(self._note(start, end, name=self._line_at(start)))
        return blocks

    def _heading(self, mark: Mark) -> str:
        return self._line_at(mark.start + mark.level)

    def _line_at(self, start: int) -> str:
        return self._decode(start, eol_at(self.text, start)).strip(" \t\r")

    def _stem(self) -> str:
        stem = PurePosixPath(self.name).stem.replace("___", "/")
        return without_surrogates(" ".join(stem.split())) or self.name

    def _note_moment(self) -> tuple[datetime, DateSource]:
        day, source = self.day
        if source == "mtime":
            return self.changed_at, source
        created = self.front.created_at
        if not created or created.date() != day:
            created = datetime.combine(day, time())
        return owner_time(created), source

    def _without_duplicates(self, entries: Iterable[Entry]) -> tuple[Entry, ...]:
        """The entries without equal ones. A different entry with an id that an earlier one has
        gets a new id.
        """
        by_id: dict[str, Entry] = {}
        for entry in entries:
            if entry == by_id.get(entry.id):
                continue
            place = entry.there
            id = entry.id
            if id in by_id and not entry.derived_id:
                message = "two entries of this file have the id {id}; the first one keeps it"
                self._issue(place.start, "duplicate-id", message, id=id)
            while id in by_id:
                heading = self._line_at(place.start)
                self.day = entry.at.date(), entry.date_source
                self.counts[heading] += 1
                id = self._derive(heading)
            by_id[id] = entry if id == entry.id else replace(entry, id=id, derived_id=True)
        return tuple(by_id.values())

    def _decode(self, start: int, end: int) -> str:
        return without_masked(self.data[start:end]).decode("utf-8", "replace")

    def _line(self, at: int) -> int:
        """The line number of an offset, from 1."""
        line = bisect_left(self.line_ends, at) + 1
        return max(line - self.raw.startswith(_BOM), 1)

    def _issue(self, at: int, code: str, message: str, **values: object) -> None:
        sentence = Sentence(message, **values)
        self.issues.append(ParseIssue(self.path, self._line(at), code, sentence))


@lru_cache(4096)
def _parse_clock(token: str) -> time:
    """Parses the time of a heading: `9:31 am`, `[9h31]` and `9:31-10:00` are 09:31."""
    match = _CLOCK.search(token)
    assert match
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    if match[4]:
        hour = hour % 12 + (12 if match[4] in "pP" else 0)
    return time(hour, minute, second)


def without_surrogates(text: str) -> str:
    """Joins surrogate pairs and replaces lone surrogates, so that UTF-8 can encode the text."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def composed_form(path: str) -> str:
    """The path in Unicode's composed form (NFC). macOS may list a name in decomposed form that
    was created composed.
    """
    return unicodedata.normalize("NFC", path)


def make_derived_id(day: date | None, path: str, heading: str, occurrence: int) -> str:
    """The id of an entry that has no written id: a hash of the path, the heading and the number
    of its occurrence in the file.
    """
    text = f"{path}\n{heading}\n{occurrence}" if heading else path
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return f"{id_date(day)}-{encode_base32(digest[:5])}"


def encode_base32(digest: bytes) -> str:
    """Encodes five bytes as eight characters."""
    number = int.from_bytes(digest, "big")
    return "".join(BASE32[number >> shift & 31] for shift in range(35, -1, -5))


def id_date(day: date | None) -> str:
    return f"{day.year:04d}{day.month:02d}{day.day:02d}" if day else "00000000"
