r"""What a person keeps to themselves: `<private>...</private>` in a Markdown file. Pure.

Such a passage stays in its file, and nothing else of Synaptic ever shows or indexes it. In doubt it is private:

| in the file                                  | what is private                                              |
|----------------------------------------------|--------------------------------------------------------------|
| a pair of tags, anywhere, over several lines | all from tag to tag; entry headings in between are no entries|
| pairs within pairs                           | the outermost                                                |
| `<private>` that is never closed             | all up to the next entry that Synaptic wrote, or the end     |
| `</private>` alone                           | nothing                                                      |
| tags in backticks on one line                | nothing: they are spoken of                                  |
| tags in a closed code fence                  | nothing: code; unless an entry heading, or the mark of a     |
|                                              | merge's conflict, stands in the fence                        |
| `\<private>`, `\</private>`                  | nothing: text, shown with one backslash less                 |

A tag stands on one line: `<private`, then nothing, or a blank and anything but `<` and `>`, then `>`; in any case.
What a save writes holds no tag that acts: `without_private` leaves pairs out, `escape_tags` escapes what is left.

`mask` puts a byte that is no UTF-8 in the place of each private one, so that every offset and line stays;
`blocks.shown` leaves these bytes out.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .blocks import LONE_CR, MASK, PRIVATE_TAG, TIME_HEADING, Scan, insert_backslashes, scan, shown

_TAG = re.compile(rf"(?<!\\){PRIVATE_TAG}")
_FIRST_ESCAPE = re.compile(rf"(?<!\\)(?=\\+{PRIVATE_TAG})")
_NOT_IN_CODE = re.compile(rf"^(?:{TIME_HEADING}|<{{7}} |={{7}}\r?$|>{{7}} )", re.MULTILINE)
_TICKS = re.compile("`+")
_TAGS = re.compile(rb"</?private[^<>]*>", re.IGNORECASE)
_KEPT = re.compile(rb"[^\r\n]+")
_SIGN = re.compile(rb"<private", re.IGNORECASE)
_PASSAGE = re.compile(rb"%b(?:[%b\r\n]*%b)?" % (MASK, MASK, MASK))


def mask(data: bytes) -> bytes:
    """`data` in its full length, with MASK in the place of what is private. MASK stands nowhere else in it."""
    data = data.replace(MASK, b"\xfe")  # neither is UTF-8
    return _masked(data, _read(data).private) if _SIGN.search(data) else data


def unclosed_tags(data: bytes) -> list[int]:
    """Where each `<private>` stands that is never closed."""
    return _read(data).unclosed if _SIGN.search(data) else []


def without_private(text: str) -> str:
    """`text` without what stands between a `<private>` and its `</private>`. A tag without its other half is text."""
    data = text.encode("utf-8", "surrogatepass")
    if not _SIGN.search(data):
        return text
    return shown(_masked(data, _joined(_read(data).pairs))).decode("utf-8", "surrogatepass")


def escape_tags(text: str) -> str:
    r"""`text` with a backslash before each tag that would act, and one more before `\<private>`, which
    `blocks.unescape_tags` takes away again. A tag in code stays as it is.
    """
    if "private" not in text.lower():
        return text
    escaped = [match.start() for match in _FIRST_ESCAPE.finditer(text)]
    return insert_backslashes(text, sorted([*escaped, *(tag.start() for tag in _acting(text)[0])]))


def mentions(data: bytes) -> bool:
    """Whether something that looks like a `<private>` tag stands there: a quick look."""
    return _SIGN.search(data) is not None


def reveals(copy: bytes, now: bytes) -> bool:
    """Whether `copy` shows, as whole words, a line or part of one that `now`, a later state of it, keeps private."""
    if not _SIGN.search(now):
        return False
    hidden = (now[start:end] for start, end in passages(mask(now)))
    lines = {line.strip() for passage in hidden for line in _TAGS.sub(b"", passage).splitlines()} - {b""}
    open_text = shown(mask(copy))
    return any(re.search(rb"(?<!\w)%b(?!\w)" % re.escape(line), open_text) for line in lines)


def passages(masked: bytes) -> list[tuple[int, int]]:
    """Where the private passages of a masked text stand; those with only line ends between them are one."""
    return [match.span() for match in _PASSAGE.finditer(masked)]


class _Found(NamedTuple):
    """The private spans: those from tag to tag, and all; and where tags stand that are never closed."""

    pairs: list[tuple[int, int]]
    private: list[tuple[int, int]]
    unclosed: list[int]


def _read(data: bytes) -> _Found:
    text = LONE_CR.sub("\n", data.decode("latin-1"))
    tags, structure = _acting(text)
    opened: list[int] = []
    pairs: list[tuple[int, int]] = []
    for tag in tags:
        if tag[0][1] != "/":
            opened.append(tag.start())
        elif opened:
            pairs.append((opened.pop(), tag.end()))
    written = [mark.start for mark in structure.marks if mark.comment_at >= 0]
    private = list(pairs)
    for start in opened:
        following = bisect(written, start)
        private.append((start, written[following] if following < len(written) else len(text)))
    return _Found(pairs, _joined(private), opened)


def _acting(text: str) -> tuple[list[re.Match[str]], Scan]:
    """The tags that stand in no code, and the structure of the text."""
    tags = list(_TAG.finditer(text))
    structure = scan(text) if tags else Scan([], [], [])
    return list(_outside(tags, sorted([*_fences(text, structure), *_code_spans(text, tags)]))), structure


def _fences(text: str, structure: Scan) -> Iterator[tuple[int, int]]:
    """Closed code fences. One with an entry heading or a mark of a conflict may have been left open: it is no code."""
    unclosed = {piece.start for piece in structure.unclosed}
    for start, end in structure.opaque:
        comment = text[start : start + 7].lstrip(" ").startswith("<!--")
        if not comment and start not in unclosed and not _NOT_IN_CODE.search(text, start, end):
            yield start, end


def _code_spans(text: str, tags: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """The spans in backticks of the lines that hold a tag, each within its line."""
    end = -1
    for tag in tags:
        if tag.start() < end:
            continue
        start = text.rfind("\n", 0, tag.start()) + 1
        end = text.find("\n", tag.end())
        end = len(text) if end < 0 else end
        runs = [run.span() for run in _TICKS.finditer(text, start, end)]
        closing: dict[int, int] = {}
        ends: dict[int, int] = {}  # of the span that a run opens
        for a, b in reversed(runs):
            if b - a in closing:
                ends[a] = closing[b - a]
            closing[b - a] = b
        at = start
        for a, _ in runs:
            if a >= at and a in ends:
                at = ends[a]
                yield a, at


def _outside(tags: Sequence[re.Match[str]], code: Sequence[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """The tags that stand in none of these spans."""
    number = 0
    reach = -1
    for tag in tags:
        while number < len(code) and code[number][0] <= tag.start():
            reach = max(reach, code[number][1])
            number += 1
        if tag.start() >= reach:
            yield tag


def _joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _masked(data: bytes, spans: Sequence[tuple[int, int]]) -> bytes:
    parts, at = [], 0
    for start, end in spans:
        parts += [data[at:start], _KEPT.sub(lambda line: MASK * len(line[0]), data[start:end])]
        at = end
    return b"".join([*parts, data[at:]])
