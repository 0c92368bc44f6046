"""Takes Synaptic's own comments out of a text that a person edits, and puts them back. Pure.

| the file                                    | the person sees     |
|---------------------------------------------|---------------------|
| `## 09:31 Bread`, `<!-- syn:20261121-... -->` | `## 09:31 Bread`  |
| `## Notes <!-- by=claude -->`               | `## Notes`          |

A comment follows its heading: to another place of the text, and through a change of its words.
It goes with a heading that is deleted.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from .blocks import BY_MARK, decode_as_latin1, scan_structure
from .header import COMMENT_START

_OWN_COMMENT = re.compile(rf" {{0,3}}{COMMENT_START.pattern}.*-->[ \t]*")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]")

ALIKE = 0.6
"""The least likeness (`SequenceMatcher.ratio`) of a heading to what it was before."""
MOST_COMPARED = 10_000
"""The most pairs of headings that are compared letter by letter; they take about a second."""


class Unmarked(NamedTuple):
    """The lines of a text without our comments, and each comment by the number of the line that
    it stands behind, with the line end before it.
    """

    lines: list[str]
    comments: dict[int, str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def take_out_comments(text: str) -> Unmarked:
    """The text, with `\\n` as line ends, without the comments below and behind its headings. A
    comment in a sample of code stays.
    """
    scanned = decode_as_latin1(text.encode("utf-8", "surrogatepass"))
    below = set()
    headings = set()
    number = last = 0
    for mark in scan_structure(scanned).marks:
        number += scanned.count("\n", last, mark.start)
        last = mark.start
        headings.add(number)
        if mark.comment_at >= 0:
            below.add(number + scanned.count("\n", last, mark.comment_at))
    lines: list[str] = []
    comments: dict[int, str] = {}
    for number, line in enumerate(text.split("\n")):
        if number in below and lines and _OWN_COMMENT.fullmatch(line):
            comments[len(lines) - 1] = f"{comments.get(len(lines) - 1, '')}\n{line}"
            continue
        by = BY_MARK.search(line) if number in headings else None
        if by:
            comments[len(lines)] = line[by.start() :]
            line = line[: by.start()]
        lines.append(line)
    return Unmarked(lines, comments)


def put_comments_back(before: Unmarked, typed: str) -> str:
    """The text that a person made of `before`, with the comments of the headings that are still
    there.
    """
    lines = typed.split("\n")
    places = _places_of_lines(before, lines)
    for number, comment in before.comments.items():
        if number in places:
            lines[places[number]] += comment
    return "\n".join(lines)


def _places_of_lines(before: Unmarked, lines: Sequence[str]) -> dict[int, int]:
    """Maps the numbers of old lines with a comment to their numbers among the new `lines`:
    those that stayed, those that say much the same, then those in one place of the text.
    """
    index_by_number: dict[int, int] = {}
    changed: list[tuple[list[int], list[int]]] = []
    steps = SequenceMatcher(None, before.lines, lines).get_opcodes()
    for step, start, end, new, new_end in steps:
        marked = [number for number in range(start, end) if number in before.comments]
        if step == "equal":
            index_by_number |= {number: new + number - start for number in marked}
        else:
            headings = [index for index in range(new, new_end) if _HEADING.match(lines[index])]
            changed.append((marked, headings))
    left = [number for marked, _ in changed for number in marked]
    free = [index for _, headings in changed for index in headings]
    for number, index in _alike(before.lines, left, lines, free):
        if number not in index_by_number and index not in index_by_number.values():
            index_by_number[number] = index
    for marked, headings in changed:
        left = [number for number in marked if number not in index_by_number]
        free = [index for index in headings if index not in index_by_number.values()]
        index_by_number |= dict(zip(left, free, strict=False))
    return index_by_number


def _alike(
    old_lines: Sequence[str],
    numbers: Sequence[int],
    new_lines: Sequence[str],
    indices: Sequence[int],
) -> list[tuple[int, int]]:
    """The pairs of an old and a new line that are alike, the most alike first; of very many
    lines the equal ones.
    """
    pairs = []
    compares = len(numbers) * len(indices) <= MOST_COMPARED
    for number in numbers:
        for index in indices:
            likeness = float(old_lines[number] == new_lines[index])
            if compares:
                likeness = SequenceMatcher(None, old_lines[number], new_lines[index]).ratio()
            if likeness >= ALIKE:
                pairs.append((-likeness, number, index))
    return [(number, index) for _, number, index in sorted(pairs)]
