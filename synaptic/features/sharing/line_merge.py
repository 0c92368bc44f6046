"""Merges three versions of a text line by line. Pure.

| ours                       | theirs                      | result                            |
|----------------------------|-----------------------------|-----------------------------------|
| a line edited              | the line beside it edited   | both edits                        |
| a line edited              | a line added beside it      | both, in their order              |
| a link or tag rewritten    | the words of that line      | the words, with the new link      |
| a link or tag rewritten    | the line taken out          | the line is gone                  |
| paragraphs or items added  | others added at that place  | both, ours first                  |
| `tags: [a, b]`             | `tags: [a, c]`              | `tags: [a, b, c]`                 |
| a line edited              | edited otherwise, taken out | a clash: a person chooses         |

Lines are aligned by their words, without the links and tags in them: a rename rewrites links in
many lines and changes no word. A line holds the line end before it, so that a text which grows
keeps its last line.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from ...journal.changelog import match_unique_lines
from ...notes.blocks import MASK, decode_as_latin1, scan_structure
from ...notes.privacy import mask_private
from .pieces import find_line_end

_BEFORE_LINE_END = re.compile(rb"(?=\r\n)|(?<!\r)(?=\n)")
_LINK = re.compile(
    rb"\[\[[^\[\]\n]*\]\]"  # [[Ida]], [[people/Ida|her]]
    rb"|\]\((?:[^()\n]|\([^()\n]*\))*\)"  # ](people/Ida.md)
    rb"|(?<![^\s(,])#(?=[0-9_/-]*[A-Za-z\x80-\xff])[^\s#.,;:!?()\[\]{}<>\"'`]+"  # #home
)
_LIST_OF_NAMES = re.compile(
    rb"(?i)(?P<before>\s*(?:-[ \t]+)?(?:tags?|alias(?:es)?)::?[ \t]*\[?)"
    rb"(?P<names>[^\[\]\r\n]*)(?P<behind>\]?[ \t]*)"
)
"""Matches a line that lists tags or aliases: `tags: [a, b]`, `tags:: a, b`."""
_ITEM = re.compile(rb"[ \t]*[-*+] ")
_MOST_COMPARED = 4_000
"""The most pairs of lines that are compared where no line stands once in both versions."""
_LIKE = 0.5
"""The share of common words from which on a line is another one edited, as in git's renames."""


class Line(NamedTuple):
    """A line with the line end before it, and its place: the version (0 the base, 1 ours, 2
    theirs) and its number there.
    """

    data: bytes
    version: int
    number: int

    @property
    def text(self) -> bytes:
        return self.data.lstrip(b"\r\n")


class Clash(NamedTuple):
    """Lines of both sides at one place, of which a person must choose."""

    ours: list[Line]
    theirs: list[Line]


class _LineChange(NamedTuple):
    """The lines `start:end` of the base, which a side replaced by `lines`."""

    start: int
    end: int
    lines: list[Line]

    @property
    def order(self) -> tuple[int, bool]:
        """Lines that are added stand above those that replace the line below them."""
        return self.start, self.end > self.start


Merged = list[Line | Clash]


def merge_lines(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Merges three versions of a text; returns its lines, and clashes among them."""
    lines, *sides = (
        _split_lines(data, number) for number, data in enumerate((base, ours, theirs))
    )
    changes = [_changes(lines, side) for side in sides]
    return _merge_changes(lines, 0, len(lines), changes[0], changes[1])


def merge_apart(base: bytes, ours: bytes, theirs: bytes) -> list[Line] | None:
    """The lines of a text that both sides changed at places apart, as `git merge-file` puts
    them together; None where changes touch, or would double or lose a line.
    """
    versions = []
    for version, data in enumerate((base, ours, theirs)):
        lines = _split_lines(data, version)
        # as all others, so that a text that is added above it does not change it
        first = [line._replace(data=find_line_end(data) + line.data) for line in lines[:1]]
        versions.append(first + lines[1:])
    lines, *sides = versions
    merged: list[Line] = []
    at, before = 0, [False, False]
    all_changes = [_slide_down(lines, _changes(lines, side)) for side in sides]
    for start, end, changes in _group_changes(*all_changes):
        one, other = (_apply_changes(lines, start, end, some) for some in changes)
        is_alike = [line.data for line in one] == [line.data for line in other]
        by = [bool(some) for some in changes]
        touches = start == at and by != before and any(before)
        if not is_alike and (all(by) or touches):
            return None
        merged += [*lines[at:start], *(one if by[0] else other)]
        at, before = end, by
    merged += lines[at:]
    was, *now = (Counter(line.data.strip() for line in version) for version in versions)
    done = Counter(line.data.strip() for line in merged)
    for text in done | was | now[0] | now[1]:
        gains = [side[text] - was[text] for side in now]
        is_same_gain = gains[0] * gains[1] > 0
        gain = max(gains, key=abs) if is_same_gain else sum(gains)
        if text and done[text] != was[text] + gain:
            return None
    first = [line._replace(data=re.sub(rb"\A\r?\n", b"", line.data)) for line in merged[:1]]
    return first + merged[1:]


def clashes_of(merged: Merged) -> list[Clash]:
    """The clashes among merged lines, in order."""
    return [part for part in merged if isinstance(part, Clash)]


def join_lines(merged: Merged) -> bytes:
    """The text of merged lines, without clashes and without blank lines at its end."""
    text = b"".join(line.data for line in merged if isinstance(line, Line))
    end = len(text.rstrip(b" \t\r\n"))
    return text[:end] + _BEFORE_LINE_END.split(text[end:])[0]


def words_of(text: bytes) -> bytes:
    """A text without the targets of its links and the names of its tags."""
    return _LINK.sub(b"[[]]", text)


def carry_links(base: bytes, rewritten: bytes, other: bytes) -> bytes | None:
    """The text `other` with the links that `rewritten` wrote anew in `base`; None if
    `rewritten` changed more than links, or a link that `other` changed, too. In a text that is
    no edit of the base no link is left to write anew.
    """
    if words_of(base) != words_of(rewritten):
        return None
    links = _LINK.findall(base)
    new_links: dict[bytes, bytes] = {}
    for old, new in zip(links, _LINK.findall(rewritten), strict=True):
        if new_links.setdefault(old, new) != new:
            return None
    present = _LINK.findall(other)
    is_new_link = any(link not in links and link not in new_links.values() for link in present)
    gone = [old for old, new in new_links.items() if old != new and old not in present]
    is_edited = _likeness(base, other) >= _LIKE
    if gone and is_new_link and is_edited:
        return None
    return _LINK.sub(lambda link: new_links.get(link[0], link[0]), other)


def reads_alike(merged: Merged, head: bytes, versions: Sequence[bytes]) -> bool:
    """True if each merged line is as private, and as much within a fence or comment, as in the
    version from which it comes. `head` stands above the text.
    """
    states = _states_of_versions(head, versions)
    lines = [line for line in merged if isinstance(line, Line)]
    now = _line_states(head, [line.data for line in lines])
    return all(
        state == states[line.version][line.number]
        for line, state in zip(lines, now, strict=True)
    )


def are_plain(clashes: Sequence[Clash], versions: Sequence[bytes]) -> bool:
    """True if no line of these clashes is private, or stands in a fence or comment."""
    states = _states_of_versions(b"", versions)
    lines = [line for clash in clashes for line in (*clash.ours, *clash.theirs)]
    return not any(any(states[line.version][line.number]) for line in lines)


def _states_of_versions(
    head: bytes, versions: Sequence[bytes]
) -> list[list[tuple[bytes, bool, bool]]]:
    return [
        _line_states(head, [line.data for line in _split_lines(data, 0)]) for data in versions
    ]


def _line_states(head: bytes, lines: Sequence[bytes]) -> list[tuple[bytes, bool, bool]]:
    """For each line: its bytes if some are private, else none; True if it begins within a fence
    or comment; True if such a one begins in it.
    """
    masked = mask_private(head + b"".join(lines))
    spans = scan_structure(decode_as_latin1(masked.replace(MASK, b" "))).opaque
    starts = [start for start, _ in spans]
    states = []
    at = len(head)
    for line in lines:
        end = at + len(line)
        begin = end - len(line.lstrip(b"\r\n"))
        visible = masked[at:end]
        before = bisect_left(starts, begin)
        within = before > 0 and begin < spans[before - 1][1]
        opens = before < bisect_left(starts, end)
        states.append((visible if MASK in visible else b"", within, opens))
        at = end
    return states


def _split_lines(data: bytes, version: int) -> list[Line]:
    parts = _BEFORE_LINE_END.split(data) if data else []
    return [Line(part, version, number) for number, part in enumerate(parts)]


# -- the changes of one side
# ----------------------------------------------------------------------------


def _changes(base: Sequence[Line], side: Sequence[Line]) -> list[_LineChange]:
    """The changes from the base to a side, in order. A line that was edited or taken out is a
    change of its own.
    """
    same = _align(*([words_of(line.text) for line in lines] for lines in (base, side)))
    pairs = [*same]
    ends = [(-1, -1), *same, (len(base), len(side))]
    for (above, side_above), (below, side_below) in pairwise(ends):
        old, new = base[above + 1 : below], side[side_above + 1 : side_below]
        pairs += [(above + 1 + i, side_above + 1 + j) for i, j in _pair_edited_lines(old, new)]
    changes: list[_LineChange] = []
    ends = [(-1, -1), *sorted(pairs), (len(base), len(side))]
    for (above, side_above), (below, side_below) in pairwise(ends):
        new_lines = list(side[side_above + 1 : side_below])
        if new_lines:
            changes.append(_LineChange(above + 1, below, new_lines))
        else:
            changes += [_LineChange(at, at + 1, []) for at in range(above + 1, below)]
        if below < len(base) and base[below].data != side[side_below].data:
            changes.append(_LineChange(below, below + 1, [side[side_below]]))
    return changes


def _slide_down(base: Sequence[Line], changes: Sequence[_LineChange]) -> list[_LineChange]:
    """The changes of a side, with added lines as far down as the text stays the same, as git
    has them: a paragraph is added below the blank line above it.
    """
    slid = []
    ends = [*(change.start for change in changes[1:]), len(base)]
    for (start, end, lines), limit in zip(changes, ends, strict=False):
        while start == end < limit and lines[0].data == base[start].data:
            start = end = start + 1
            lines = [*lines[1:], lines[0]]
        slid.append(_LineChange(start, end, lines))
    return slid


def _pair_edited_lines(
    old_lines: Sequence[Line], new_lines: Sequence[Line]
) -> list[tuple[int, int]]:
    """The pairs of lines of which one is the other edited: lines that share half of their
    words, in the order that shares most; and between these all, if they are as many as before.
    """
    alike = (
        _pair_alike_lines(old_lines, new_lines)
        if len(old_lines) * len(new_lines) <= _MOST_COMPARED
        else []
    )
    pairs = [*alike]
    for (i, j), (k, m) in pairwise([(-1, -1), *alike, (len(old_lines), len(new_lines))]):
        if k - i == m - j:
            pairs += [(i + at, j + at) for at in range(1, k - i)]
    return pairs


def _pair_alike_lines(
    old_lines: Sequence[Line], new_lines: Sequence[Line]
) -> list[tuple[int, int]]:
    # the best pairs of the first i lines with the first j lines, and their likeness
    best: list[list[tuple[float, list[tuple[int, int]]]]] = [[(0.0, [])] * (len(new_lines) + 1)]
    for i, line in enumerate(old_lines):
        best_here = [(0.0, list[tuple[int, int]]())]
        for j, other in enumerate(new_lines):
            options = [best[i][j + 1], best_here[j]]
            likeness = _likeness(words_of(line.text), words_of(other.text))
            if likeness >= _LIKE:
                likeness += _likeness(line.text, other.text) / 100  # of equal ones by the links
                options.append((best[i][j][0] + likeness, [*best[i][j][1], (i, j)]))
            best_here.append(max(options, key=lambda option: option[0]))
        best.append(best_here)
    return best[-1][-1][1]


def _likeness(one: bytes, other: bytes) -> float:
    """The share of words that two lines have in common (Dice), from 0 to 1."""
    counts = Counter(one.split()), Counter(other.split())
    total = counts[0].total() + counts[1].total()
    return 2 * (counts[0] & counts[1]).total() / total if total else 0.0


def _align(one: Sequence[bytes], other: Sequence[bytes]) -> list[tuple[int, int]]:
    """The pairs of equal items of two sequences, in order: first of items that stand once in
    both (patience diff), then of the rest between these.
    """
    pairs = []
    waiting = [(0, len(one), 0, len(other))]
    while waiting:
        a, b, c, d = waiting.pop()
        while a < b and c < d and one[a] == other[c]:
            pairs.append((a, c))
            a += 1
            c += 1
        while a < b and c < d and one[b - 1] == other[d - 1]:
            b -= 1
            d -= 1
            pairs.append((b, d))
        anchors = match_unique_lines(one[a:b], other[c:d])
        if anchors:
            pairs += [(a + i, c + j) for i, j in anchors]
            ends = [(-1, -1), *anchors, (b - a, d - c)]
            for (i, j), (k, m) in pairwise(ends):
                waiting.append((a + i + 1, a + k, c + j + 1, c + m))
        elif (b - a) * (d - c) <= _MOST_COMPARED:
            matcher = SequenceMatcher(None, one[a:b], other[c:d], autojunk=False)
            for block in matcher.get_matching_blocks():
                pairs += [(a + block.a + at, c + block.b + at) for at in range(block.size)]
    return sorted(pairs)


# -- changes that meet
# ----------------------------------------------------------------------------


def _merge_changes(
    base: Sequence[Line],
    start: int,
    end: int,
    ours: Sequence[_LineChange],
    theirs: Sequence[_LineChange],
    *,
    may_split: bool = True,
) -> Merged:
    """The lines `start:end` of the base with the changes of both sides. Where these clash, a
    change of several lines is tried as lines that are added and lines that are taken out.
    """
    merged: Merged = []
    at = start
    for begin, stop, sides in _group_changes(ours, theirs):
        one, other = (_apply_changes(base, begin, stop, changes) for changes in sides)
        part: Merged = [*one] if sides[0] else [*other]
        if sides[0] and sides[1]:
            part = _merge_stretch([*base[begin:stop]], one, other)
        if may_split and clashes_of(part):
            split = [_split_changes(changes) for changes in sides]
            finer = _merge_changes(base, begin, stop, split[0], split[1], may_split=False)
            part = part if clashes_of(finer) else finer
        merged += [*base[at:begin], *part]
        at = stop
    return [*merged, *base[at:end]]


def _split_changes(changes: Sequence[_LineChange]) -> list[_LineChange]:
    split = []
    for change in changes:
        if change.end - change.start == 1:
            split.append(change)
            continue
        if change.lines:
            split.append(_LineChange(change.start, change.start, change.lines))
        split += [_LineChange(at, at + 1, []) for at in range(change.start, change.end)]
    return split


def _group_changes(
    ours: Sequence[_LineChange], theirs: Sequence[_LineChange]
) -> Iterator[tuple[int, int, tuple[list[_LineChange], list[_LineChange]]]]:
    """Yields the span of the base that changes cover which touch each other, and these changes
    of each side, in order.
    """
    waiting = sorted(
        [(change, 0) for change in ours] + [(change, 1) for change in theirs],
        key=lambda item: item[0].order,
    )
    sides: tuple[list[_LineChange], list[_LineChange]] = ([], [])
    start = end = -1
    for change, side in waiting:
        is_inside = change.start < end or (change.start == change.end == start == end)
        if not is_inside:
            if start >= 0:
                yield start, end, sides
            sides = ([], [])
            start = change.start
            end = change.end
        end = max(end, change.end)
        sides[side].append(change)
    if start >= 0:
        yield start, end, sides


def _apply_changes(
    base: Sequence[Line], start: int, end: int, changes: Sequence[_LineChange]
) -> list[Line]:
    """The lines `start:end` of the base with these changes."""
    lines: list[Line] = []
    for change in changes:
        lines += [*base[start : change.start], *change.lines]
        start = change.end
    return [*lines, *base[start:end]]


def _merge_stretch(base: list[Line], ours: list[Line], theirs: list[Line]) -> Merged:
    """Merges the lines of one place that both sides changed."""
    above, below = (0, 0) if base else _count_shared_ends(ours, theirs)
    if above or below:
        rest = _merge_stretch(
            [], ours[above : len(ours) - below], theirs[above : len(theirs) - below]
        )
        return [*ours[:above], *rest, *ours[len(ours) - below :]]
    old, mine, other = (b"".join(line.data for line in lines) for lines in (base, ours, theirs))
    if mine == other or not (base or theirs):
        return [*ours]
    if not (base or ours):
        return [*theirs]
    for lines, data in (
        (theirs, carry_links(old, mine, other)),
        (ours, carry_links(old, other, mine)),
        (ours, _merge_names(old, mine, other)),
    ):
        if data is not None:
            return _with_data(lines, data)
    if not base and _can_stand_below(ours, theirs):
        filled = next((at for at, line in enumerate(theirs) if line.text.strip()), 1)
        return [*ours, *theirs[max(filled - 1, 0) :]]
    return [Clash(ours, theirs)]


def _count_shared_ends(ours: Sequence[Line], theirs: Sequence[Line]) -> tuple[int, int]:
    """The numbers of lines, whole paragraphs, with which both sides begin and end alike."""
    shared = [0, 0]
    pairs = [*zip(ours, theirs, strict=False)], [*zip(ours[::-1], theirs[::-1], strict=False)]
    for end in (0, 1):
        for one, other in pairs[end][: len(pairs[0]) - shared[0]]:
            if one.data != other.data:
                break
            shared[end] += 1
        while shared[end] and not pairs[end][shared[end] - 1][0].text.strip():
            shared[end] -= 1
    return shared[0], shared[1]


def _with_data(lines: Sequence[Line], data: bytes) -> Merged:
    """The lines with other bytes, in as many lines."""
    parts = _BEFORE_LINE_END.split(data)
    if not lines or lines[0].data:
        parts = parts[not parts[0] :]
    return [line._replace(data=part) for line, part in zip(lines, parts, strict=True)]


def _can_stand_below(ours: Sequence[Line], theirs: Sequence[Line]) -> bool:
    """True if lines that both sides added at one place are paragraphs or items of a list, so
    that they can stand below each other.
    """
    starts = [_begins_block(lines[0]) for lines in (ours, theirs)]
    return all(starts) or not ours[-1].text.strip()


def _begins_block(line: Line) -> bool:
    return not line.text.strip() or _ITEM.match(line.text) is not None


def _merge_names(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Merges a line that lists tags or aliases; None for any other line."""
    matches = [_LIST_OF_NAMES.fullmatch(line) for line in (ours, theirs)]
    base_match = _LIST_OF_NAMES.fullmatch(base)
    one, other = matches
    if not one or not other or (base and not base_match) or one["before"] != other["before"]:
        return None
    lists = [
        [name.strip() for name in match["names"].split(b",") if name.strip()] if match else []
        for match in (base_match, one, other)
    ]
    return one["before"] + b", ".join(merge_names(*lists)) + one["behind"]


def merge_names(
    base: Sequence[bytes], ours: Sequence[bytes], theirs: Sequence[bytes]
) -> list[bytes]:
    """The names of ours, without those that theirs took away, and with those that it added."""
    names = [name for name in ours if name in theirs or name not in base]
    return names + [name for name in theirs if name not in base and name not in names]
