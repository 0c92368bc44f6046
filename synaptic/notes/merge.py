"""Merges three versions of one journal file, entry by entry. Pure.

Two machines append to the same day. A merge by lines sees two texts at one place and reports a
conflict, or finds equal lines in different entries and mixes them. Entries have ids, so each is
merged by itself:

| ours                | theirs              | result                                          |
|---------------------|---------------------|-------------------------------------------------|
| as it was           | edited, or deleted  | theirs (and the other way round)                |
| added               | added               | both, by time, after the entry above them       |
| edited              | edited alike        | once                                            |
| edited              | edited otherwise    | by lines within its body, or a conflict there   |
| edited              | deleted             | the edit                                        |

A file that cannot be read as entries without doubt is left to a merge by lines. Where that
would double an entry, the two versions become one conflict.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from heapq import merge as interleave
from itertools import pairwise
from typing import TypeVar

from .blocks import LONE_CR, MASK, escape, scan
from .frontmatter import front_matter_end
from .privacy import mask, mentions, unclosed_tags
from .reading import body_span, end_of_line, is_day_file, measure, outline, parse_entries

ByLines = Callable[[bytes, bytes, bytes], tuple[bytes, int]]
"""(base, ours, theirs) to (merged text with conflict markers, number of conflicts)."""

_T = TypeVar("_T")

_BOM = b"\xef\xbb\xbf"
_LF, _CRLF = b"\n", b"\r\n"
_LINE_END = re.compile(rb"\r?\n|\r")
_ID = re.compile(rb"<!--[ \t]*syn:([0-9]{8}-[0-9a-z]{8})")
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_DOUBTFUL = ("duplicate-id", "encoding", "conflict-marker")
_DOUBTFUL_MERGED = _DOUBTFUL[:2]
"""The issues by which a base or a result is not read as entries. Conflict marks are allowed: a
base may hold those of git's merge of two bases, and a result those of its own conflicts.
"""


@dataclass(frozen=True, slots=True)
class Merged:
    """The file, and the number of conflicts that a person must settle."""

    data: bytes
    conflicts: int


@dataclass(frozen=True, slots=True, eq=False)
class _Section:
    """An entry, or a note under its H1, as it stands in one version.

    `heading`, `comment` and `body` joined are its bytes; the last two begin with a line end or
    are empty. `gap` holds the blank lines below, None at the file's end. `id` is the written
    id, None for a piece typed by hand.
    """

    heading: bytes
    comment: bytes
    body: bytes
    gap: bytes | None
    id: str | None = None
    at: datetime | None = None

    @property
    def text(self) -> bytes:
        return self.heading + self.comment + self.body


@dataclass(frozen=True, slots=True)
class _Version:
    """One version in pieces. `head` stands above the first piece, `end` holds the line ends
    after the last piece.
    """

    head: _Section
    pieces: list[_Section]
    end: bytes


@dataclass(frozen=True, slots=True, eq=False)
class _Unit:
    """One entry in up to three versions."""

    base: _Section | None
    ours: _Section | None
    theirs: _Section | None

    @property
    def at(self) -> datetime | None:
        left = self.ours or self.theirs
        return left.at if left else None

    @property
    def stays(self) -> bool:
        """False where one side deleted it and the other did not edit it."""
        if self.ours and self.theirs:
            return True
        left = self.ours or self.theirs
        return left is not None and (self.base is None or left.text != self.base.text)


def merge(
    base: bytes, ours: bytes, theirs: bytes, path: str, day_file: str, by_lines: ByLines
) -> Merged:
    """The file with the additions and edits of both sides. In a conflict an entry holds both
    texts.

    `path` is relative to the journal. Line ends and BOM are kept; if one side changed them, its
    choice wins.
    """
    marked = _pick(*(data.startswith(_BOM) for data in (base, ours, theirs)))
    ends = [_line_end(data) for data in (base, ours, theirs)]
    crlf = None not in ends and _pick(*ends) == _CRLF
    texts = [data.removeprefix(_BOM) for data in (base, ours, theirs)]
    if None not in ends:
        texts = [text.replace(_CRLF, _LF) for text in texts]
    done = _by_entries(path, day_file, by_lines, *texts) or Merged(*by_lines(*texts))
    # a part of a torn passage would be lost
    tears_passage = unclosed_tags(done.data) and not any(map(unclosed_tags, texts))
    doubles = not done.conflicts and _doubles_id(done.data, *texts)
    if tears_passage or doubles or _shows_private(done.data, *texts):
        done = Merged(_side_by_side(*texts[1:]), 1)
    data = done.data.replace(_LF, _CRLF) if crlf else done.data
    return Merged(_BOM + data if marked else data, done.conflicts)


def _by_entries(
    path: str, day_file: str, by_lines: ByLines, base: bytes, ours: bytes, theirs: bytes
) -> Merged | None:
    """The merged file; None if a version or the result is in doubt."""
    old = _read(base, path, day_file, _DOUBTFUL_MERGED)
    mine, other = _read(ours, path, day_file), _read(theirs, path, day_file)
    if old is None or mine is None or other is None:
        return None
    if not (old.pieces or mine.pieces or other.pieces):
        return None
    units = _in_order(_units(old.pieces, mine.pieces, other.pieces), old, mine, other)
    heads = [side.head.text for side in (old, mine, other)]
    head, in_head = _merged_lines(by_lines, *heads)
    gap = _pick(old.head.gap, mine.head.gap, other.head.gap)
    done = [
        (_Section(b"", b"", head, gap), in_head),
        *(_merged(unit, by_lines) for unit in units),
    ]
    data = _join(
        [piece for piece, _ in done],
        _pick(old.end, mine.end, other.end),
        _CRLF if _CRLF in ours else _LF,
    )
    if not _reads_as(
        data, [piece.text for piece, _ in done], path, day_file, also_above=in_head
    ):
        return None
    if _shows_private(data, base, ours, theirs):
        return None
    return Merged(data, sum(conflict for _, conflict in done))


def _pick(base: _T, ours: _T, theirs: _T) -> _T:
    """The value of the side that changed it; ours if both did."""
    return theirs if ours == base else ours


def _line_end(data: bytes) -> bytes | None:
    """The line end of a file; None if it uses several."""
    crlf = data.count(_CRLF)
    if data.count(b"\r") != crlf:
        return None
    if not crlf:
        return _LF
    return _CRLF if crlf == data.count(_LF) else None


# -- a version in pieces
# ------------------------------------------------------------------------------


def _read(
    data: bytes, path: str, day_file: str, doubtful: Sequence[str] = _DOUBTFUL
) -> _Version | None:
    """The version in pieces; None if it is in doubt what an entry is, or which entry it is."""
    parsed = parse_entries(data, path, mtime=_NO_TIME, day_file=day_file)
    if any(issue.code in doubtful for issue in parsed.issues):
        return None
    text = LONE_CR.sub("\n", data.decode("latin-1"))
    front = front_matter_end(text, 0)
    start = front[2] if front else 0
    masked = mask(data)
    if (
        MASK in masked
        and scan(masked.replace(MASK, b" ").decode("latin-1"), start).marks
        != scan(text, start).marks
    ):
        return None  # a private passage holds headings: no entry may slip in or out of it
    marks = outline(text, start, of_day=is_day_file(path, day_file)).borders
    is_title = bool(marks) and (marks[0].begins, marks[0].level) == ("note", 1)
    if is_title and not text[start : marks[0].start].strip(" \t\r\n"):
        marks = marks[1:]  # the file's own title
    entries = {
        entry.place.start: entry
        for entry in parsed.entries
        if entry.place and not entry.place.whole_file
    }
    if [mark.start for mark in marks if mark.begins == "entry"] != sorted(entries):
        return None
    bounds = [*(mark.start for mark in marks), len(text)]
    cores = [
        body_span(text, a, b)[1] for a, b in pairwise([0, *bounds])
    ]  # where blank lines begin
    gaps = [data[core:bound] for core, bound in zip(cores, bounds, strict=True)]
    pieces = []
    for mark, core, end, gap in zip(
        marks, cores[1:], bounds[1:], [*gaps[1:-1], None], strict=False
    ):
        entry = entries.get(mark.start)
        line_end = end_of_line(text, mark.start, core)
        block = measure(text, mark, end) if mark.comment_at >= 0 else None
        above = end_of_line(text, block.comment_end, core) if block else line_end
        pieces.append(
            _Section(
                data[mark.start : line_end],
                data[line_end:above],
                data[above:core],
                gap,
                entry.id if entry and not entry.derived_id else None,
                entry.at if entry else None,
            )
        )
    head = _Section(b"", b"", data[: cores[0]], gaps[0] if pieces else None)
    return _Version(head, pieces, gaps[-1])


# -- which pieces are one entry
# -----------------------------------------------------------------------


def _units(base: list[_Section], ours: list[_Section], theirs: list[_Section]) -> list[_Unit]:
    mine, other = _matches(base, ours), _matches(base, theirs)
    units = [_Unit(piece, mine.get(piece), other.get(piece)) for piece in base]
    known_mine, known_other = set(mine.values()), set(other.values())
    new_mine = [piece for piece in ours if piece not in known_mine]
    new_other = [piece for piece in theirs if piece not in known_other]
    both = _matches(new_mine, new_other, added=True)
    units += [_Unit(None, piece, both.get(piece)) for piece in new_mine]
    matched = set(both.values())
    return units + [_Unit(None, None, piece) for piece in new_other if piece not in matched]


def _matches(
    one: list[_Section], other: list[_Section], *, added: bool = False
) -> dict[_Section, _Section]:
    """Pairs of the same piece in `one` and `other`: by id; without an id by the whole text, by
    the heading, or by the body below a heading of the same level.

    Order tells equal pieces apart. Pieces that both sides `added` are one entry only if their
    whole texts are equal.
    """
    keys: list[Callable[[_Section], object]] = [
        lambda p: p.id,
        lambda p: None if p.id else p.text,
    ]
    if not added:
        keys += [lambda p: p.heading, lambda p: (p.heading[:2], p.body) if p.body else None]
    found: dict[_Section, _Section] = {}
    left = list(other)
    for key in keys:
        waiting: dict[object, deque[_Section]] = defaultdict(deque)
        for piece in one:
            if piece not in found and key(piece) is not None:
                waiting[key(piece)].append(piece)
        unmatched = []
        for piece in left:
            fitting = (
                p for p in waiting[key(piece)] if p.id == piece.id or None in (p.id, piece.id)
            )
            match = next(fitting, None) if key(piece) is not None else None
            if match is None:
                unmatched.append(piece)
            else:
                waiting[key(piece)].remove(match)  # seldom another than the first
                found[match] = piece
        left = unmatched
    return found


# -- in which order they stand
# ------------------------------------------------------------------------


def _in_order(
    units: list[_Unit], old: _Version, ours: _Version, theirs: _Version
) -> list[_Unit]:
    """The units that stay, in order.

    Units of both sides stand in the order of ours, or of theirs if only theirs moved some. A
    unit of one side comes after the unit above it on that side. If both sides have such units
    at one place, time decides.
    """
    staying = [unit for unit in units if unit.stays]
    mine = _standing(ours, {unit.ours: unit for unit in staying})
    other = _standing(theirs, {unit.theirs: unit for unit in staying})
    common = set(mine) & set(other)
    was = [
        unit for unit in _standing(old, {unit.base: unit for unit in staying}) if unit in common
    ]
    they_moved = (
        was
        == [u for u in mine if u in common and u.base]
        != [u for u in other if u in common and u.base]
    )
    spine = [unit for unit in (other if they_moved else mine) if unit in common]
    added_here, added_there = _runs(mine, common), _runs(other, common)
    order = _interleaved(added_here[None], added_there[None])
    for unit in spine:
        order += [unit, *_interleaved(added_here[unit], added_there[unit])]
    return order


def _standing(version: _Version, unit_of: dict[_Section | None, _Unit]) -> list[_Unit]:
    return [unit_of[piece] for piece in version.pieces if piece in unit_of]


def _runs(side: list[_Unit], common: set[_Unit]) -> dict[_Unit | None, list[_Unit]]:
    """The units that only this side has, by the common unit above them; None stands for the
    top.
    """
    runs: dict[_Unit | None, list[_Unit]] = defaultdict(list)
    above = None
    for unit in side:
        if unit in common:
            above = unit
        else:
            runs[above].append(unit)
    return runs


def _interleaved(ours: list[_Unit], theirs: list[_Unit]) -> list[_Unit]:
    """Both runs merged by time; one after the other if one of them is not in order of time."""
    times = [[unit.at for unit in run if unit.at] for run in (ours, theirs)]
    if [len(run) for run in times] == [len(ours), len(theirs)] and all(
        run == sorted(run) for run in times
    ):
        return list(interleave(ours, theirs, key=lambda unit: unit.at or _NO_TIME))
    return ours + theirs


# -- one entry in three versions
# ----------------------------------------------------------------------


def _merged(unit: _Unit, by_lines: ByLines) -> tuple[_Section, bool]:
    """The piece, and whether it holds a conflict."""
    ours, theirs = unit.ours, unit.theirs
    if ours is None or theirs is None:
        left = ours or theirs
        assert left is not None
        return left, False
    base = unit.base or _NOTHING
    body, conflict = _merged_body(base.body, ours.body, theirs.body, by_lines)
    piece = _Section(
        _pick(base.heading, ours.heading, theirs.heading),
        _pick(base.comment, ours.comment, theirs.comment),
        body,
        _pick(base.gap, ours.gap, theirs.gap),
        ours.id or theirs.id,
    )
    if _clash(base.body, ours.body, theirs.body) and (
        not _one_whole(piece.text)
        or _shows_private(piece.text, base.text, ours.text, theirs.text)
    ):
        body, conflict = _conflict(ours.body, theirs.body), True
    if _clash(base.heading, ours.heading, theirs.heading) or _clash(
        base.comment, ours.comment, theirs.comment
    ):
        head = escape((theirs.heading + theirs.comment).decode("latin-1"), typed=True)[
            0
        ].encode("latin-1")
        body, conflict = _conflict(b"", _line_end_of(piece.text) + head) + body, True
    return replace(piece, body=body), conflict


def _clash(base: bytes, ours: bytes, theirs: bytes) -> bool:
    return base != ours != theirs != base


def _merged_body(
    base: bytes, ours: bytes, theirs: bytes, by_lines: ByLines
) -> tuple[bytes, bool]:
    """The merged body and whether it holds a conflict. The line end that begins each body is
    kept out of the merge.
    """
    if not _clash(base, ours, theirs):
        return _pick(base, ours, theirs), False
    text, conflict = _merged_lines(
        by_lines, *(_LINE_END.sub(b"", body, count=1) for body in (base, ours, theirs))
    )
    return (_line_end_of(ours + theirs) + text if text else b""), conflict


def _merged_lines(
    by_lines: ByLines, base: bytes, ours: bytes, theirs: bytes
) -> tuple[bytes, bool]:
    """The merged text, whose last line has no line end, and whether it holds a conflict."""
    if not _clash(base, ours, theirs):
        return _pick(base, ours, theirs), False
    merged, conflicts = by_lines(
        *(text + b"\n" if text else b"" for text in (base, ours, theirs))
    )
    return re.sub(rb"\r?\n\Z", b"", merged), conflicts > 0


def _shows_private(merged: bytes, *versions: bytes) -> bool:
    """True if a merge shows a part of a line that every version with this line hides."""
    if not any(map(mentions, versions)):
        return False
    seen: dict[bytes, list[bool]] = {}
    for data in versions:
        for line, shown in _lines(data):
            known = seen.setdefault(line, shown)
            seen[line] = [a or b for a, b in zip(known, shown, strict=True)]
    for line, shown in _lines(merged):
        known = seen.get(line, [])
        if any(now and not then for now, then in zip(shown, known, strict=False)):
            return True
    return False


def _doubles_id(merged: bytes, *versions: bytes) -> bool:
    """True if an id stands more often in a merge by lines than in any version, as it does
    where both sides added one entry.
    """
    most: Counter[bytes] = Counter()
    for data in versions:
        most |= Counter(_ID.findall(data))
    return not Counter(_ID.findall(merged)) <= most


def _lines(data: bytes) -> Iterator[tuple[bytes, list[bool]]]:
    """Each line without its leading blanks and backslashes, and for each of its bytes whether
    it is shown.
    """
    masked = mask(data).split(_LF)
    for line, seen in zip(data.split(_LF), masked, strict=True):
        core = line.lstrip(b" \\")
        yield core, [byte != MASK[0] for byte in seen[len(line) - len(core) :]]


def _side_by_side(ours: bytes, theirs: bytes) -> bytes:
    """Two files in one conflict, each as private as alone. An open tag or fence of ours ends
    before theirs.
    """
    left_open = scan(LONE_CR.sub("\n", ours.decode("latin-1"))).unclosed
    ends = [(piece.closing or "-->").encode("latin-1") for piece in left_open if piece.at_end]
    sides = [ours.removesuffix(_LF), b"=======", *ends, theirs.removesuffix(_LF)]
    return _LF.join([b"<<<<<<< ours", *sides, b">>>>>>> theirs", b""])


def _one_whole(text: bytes) -> bool:
    """True if a text reads as one piece, and swallows nothing that may stand below it."""
    read = LONE_CR.sub("\n", text.decode("latin-1"))
    ways = [outline(read, of_day=of_day, block=True) for of_day in (True, False)]
    return any(len(way.borders) == 1 and not way.found.unclosed for way in ways)


def _conflict(ours: bytes, theirs: bytes) -> bytes:
    """Two bodies between the conflict marks that git uses. Each body begins with its own line
    end.
    """
    eol = _line_end_of(ours + theirs)
    return eol + b"<<<<<<< ours" + ours + eol + b"=======" + theirs + eol + b">>>>>>> theirs"


def _line_end_of(body: bytes) -> bytes:
    found = _LINE_END.search(body)
    return found[0] if found else _LF


# -- the file that comes of it
# ------------------------------------------------------------------------


def _join(pieces: list[_Section], end: bytes, line_end: bytes) -> bytes:
    parts = []
    for piece in pieces[:-1]:
        missing = line_end * 2 if piece.text else b""
        parts += [piece.text, missing if piece.gap is None else piece.gap]
    return b"".join([*parts, pieces[-1].text, end])


def _reads_as(
    data: bytes, texts: list[bytes], path: str, day_file: str, *, also_above: bool
) -> bool:
    """True if a file reads as exactly this head and these pieces, none lost and none mixed.

    With `also_above` the file may begin with more pieces, because a conflict in its head may
    read as one.
    """
    found = _read(data, path, day_file, _DOUBTFUL_MERGED)
    if found is None:
        return False
    read = [found.head.text, *(piece.text for piece in found.pieces)]
    if not also_above:
        return read == texts
    pieces = texts[1:]
    return not pieces or read[-len(pieces) :] == pieces


_NOTHING = _Section(b"", b"", b"", None)
