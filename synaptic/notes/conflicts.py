"""Finds the two versions of a text that a merge left between git's marks. Pure.

<<<<<<< first version
We meet at noon.
=======
We meet at one.
>>>>>>> second version
"""

import re
from dataclasses import replace
from typing import NamedTuple

from ..models import Entry
from .blocks import scan_structure, unify_newlines

_MARK = re.compile(r"(?m)^(?:(<{7}) .*|(\|{7})(?: .*)?|(={7})[ \t\r]*|(>{7})(?: .*)?)$")
_ENDS = re.compile(r"(?m)^[<>]{7} ")
_MARK_LINE = re.compile(r"(?m)^(?:[<>]{7} .*|\|{7}.*|={7}[ \t]*)(?:\n|\Z)")
_COMMENT_LINE = re.compile(r"(?m)^\\?<!--[ \t]*syn:[^\n]*-->(?:\n|\Z)")
FIRST = "Two versions, until you choose with `synaptic review`. The first:"
SECOND = "The second:"


class Conflict(NamedTuple):
    """Two versions of the text at `start:end`. `mine` is the one of the machine that merged.
    The spans are those of their whole lines.
    """

    start: int
    end: int
    mine: str
    theirs: str
    mine_span: tuple[int, int]
    theirs_span: tuple[int, int]


def find_conflicts(text: str) -> list[Conflict]:
    """The conflicts of a text, in order. A conflict within a version of another one, in
    a code block, or without an end is none.
    """
    if "<<<<<<< " not in text:
        return []
    opaque = scan_structure(text).opaque
    conflicts = []
    depth = 0
    places: dict[str, re.Match[str]] = {}
    for mark in _MARK.finditer(text):
        is_inner = depth > 0
        if mark[1]:
            if not is_inner and any(start <= mark.start() < end for start, end in opaque):
                continue
            depth += 1
            if depth == 1:
                places = {"begin": mark}
        elif depth == 1 and not mark[4]:
            places.setdefault("base" if mark[2] else "middle", mark)
        elif mark[4] and is_inner:
            depth -= 1
            if depth == 0 and "middle" in places:
                conflicts.append(_conflict_between(text, places, mark))
    return conflicts


def _conflict_between(
    text: str, places: dict[str, re.Match[str]], end: re.Match[str]
) -> Conflict:
    begin = places["begin"]
    middle = places["middle"]
    spans = (
        (begin.end() + 1, places.get("base", middle).start()),
        (middle.end() + 1, end.start()),
    )
    versions = [unify_newlines(text[slice(*span)]).strip("\n") for span in spans]
    return Conflict(begin.start(), end.end(), versions[0], versions[1], *spans)


def without_conflict_marks(text: str) -> str:
    """The text without the lines of git's marks, as for a piece that has only one of them."""
    return _MARK_LINE.sub("", text) if _ENDS.search(text) else text


def show_versions(text: str) -> str:
    """The text for readers: words in place of git's marks, and no comments in the versions."""
    parts = []
    at = 0
    for conflict in find_conflicts(text):
        versions = [without_marks_of_versions(one).strip("\n") for one in conflict[2:4]]
        both = f"{FIRST}\n\n{versions[0]}\n\n{SECOND}\n\n{versions[1]}"
        parts += [text[at : conflict.start], both]
        at = conflict.end
    return "".join([*parts, text[at:]])


def with_versions_shown(entry: Entry) -> Entry:
    """The entry with its text as `show_versions` gives it."""
    if "<<<<<<< " not in entry.content:
        return entry
    return replace(entry, content=show_versions(entry.content))


def show_versions_in_piece(piece: str) -> str:
    """A piece of a text with a conflict for readers; one mark may stand in it alone."""
    words = {"<": f"{FIRST}\n\n", "=": f"\n{SECOND}\n\n"}
    text = _MARK_LINE.sub(lambda mark: words.get(mark[0][0], ""), show_versions(piece))
    return _COMMENT_LINE.sub("", text)


def without_marks_of_versions(text: str) -> str:
    """A piece of a text with a conflict, without git's marks and without the comments of its
    versions.
    """
    return _COMMENT_LINE.sub("", without_conflict_marks(text))
