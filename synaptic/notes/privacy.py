r"""Finds and hides the private passages of a Markdown file, `<private>...</private>`. Pure.

Such a passage stays in its file, and Synaptic never shows or indexes it. In doubt a text is
private:

| in the file                            | what is private                                |
|----------------------------------------|------------------------------------------------|
| a pair of tags, over several lines too | all between them, also entry headings          |
| pairs within pairs                     | the outermost pair                             |
| `<private>` that is never closed       | all up to the next saved entry, or the end     |
| `</private>` alone                     | nothing                                        |
| tags in backticks on one line          | nothing: the line speaks of tags               |
| tags in a closed code fence            | nothing, but for a fence with an entry heading |
|                                        | or the mark of a merge conflict                |
| `\<private>`, `\</private>`            | nothing: text, shown with one backslash less   |

A tag stands on one line and has any case: `<private`, then nothing or a blank and characters
but `<` and `>`, then `>`. A save writes no tag that acts: `without_private` leaves pairs out,
and `escape_tags` escapes the tags that are left.

`mask` replaces each private byte by a byte that is no UTF-8, so that every offset and line
stays. `blocks.shown` leaves these bytes out.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from .blocks import (
    LONE_CR,
    MASK,
    PRIVATE_TAG,
    TICKS,
    TIME_HEADING,
    Scan,
    eol_at,
    insert_backslashes,
    scan,
    shown,
)

_TAG = re.compile(rf"(?<!\\){PRIVATE_TAG}")
_FIRST_ESCAPE = re.compile(rf"(?<!\\)(?=\\+{PRIVATE_TAG})")
_NOT_IN_CODE = re.compile(rf"^(?:{TIME_HEADING}|<{{7}} |={{7}}\r?$|>{{7}} )", re.MULTILINE)
_TAGS = re.compile(rb"</?private[^<>]*>", re.IGNORECASE)
_KEPT = re.compile(rb"[^\r\n]+")
_SIGN = re.compile(rb"<private", re.IGNORECASE)
_PASSAGE = re.compile(rb"%b(?:[%b\r\n]*%b)?" % (MASK, MASK, MASK))


def mask(data: bytes) -> bytes:
    """`data` with each private byte replaced by MASK. The length stays, and MASK stands nowhere
    else.
    """
    data = data.replace(MASK, b"\xfe")  # neither is UTF-8
    return _masked(data, _read(data).private) if mentions(data) else data


def unclosed_tags(data: bytes) -> list[int]:
    """The offset of each `<private>` that is never closed."""
    return _read(data).unclosed if mentions(data) else []


def without_private(text: str) -> str:
    """`text` without its private passages. A tag without its other half is text."""
    data = text.encode("utf-8", "surrogatepass")
    if not mentions(data):
        return text
    return shown(_masked(data, _joined(_read(data).pairs))).decode("utf-8", "surrogatepass")


def escape_tags(text: str) -> str:
    r"""`text` with a backslash before each tag that would act, and one more before each
    `\<private>`.

    `blocks.unescape_tags` takes these backslashes away. A tag in code stays as it is.
    """
    if "private" not in text.lower():
        return text
    escaped = [match.start() for match in _FIRST_ESCAPE.finditer(text)]
    return insert_backslashes(
        text, sorted([*escaped, *(tag.start() for tag in _acting(text)[0])])
    )


def mentions(data: bytes) -> bool:
    """True if `data` holds a `<private>`, in code too. This check is quick."""
    return _SIGN.search(data) is not None


def reveals(copy: bytes, now: bytes) -> bool:
    """True if `copy` shows, as whole words, text that is private in its later state `now`."""
    return mentions(now) and repeats(shown(mask(copy)), private_lines(now))


def private_lines(data: bytes) -> set[bytes]:
    """The lines, and parts of lines, that are private in `data`."""
    lines: set[bytes] = set()
    for start, end in passages(mask(data)):
        passage = _TAGS.sub(b"", data[start:end])
        lines.update(map(bytes.strip, passage.splitlines()))
    return lines - {b""}


def repeats(text: bytes, lines: Collection[bytes]) -> bool:
    """True if `text` holds one of these lines as whole words."""
    present = (line for line in lines if line in text)
    return any(re.search(rb"(?<!\w)%b(?!\w)" % re.escape(line), text) for line in present)


def passages(masked: bytes) -> list[tuple[int, int]]:
    """The spans of the private passages of a masked text. Passages with only line ends between
    them are one.
    """
    return [match.span() for match in _PASSAGE.finditer(masked)]


class _PrivateSpans(NamedTuple):
    """The spans from tag to tag, all private spans, and the offsets of tags that are never
    closed.
    """

    pairs: list[tuple[int, int]]
    private: list[tuple[int, int]]
    unclosed: list[int]


def _read(data: bytes) -> _PrivateSpans:
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
    return _PrivateSpans(pairs, _joined(private), opened)


def _acting(text: str) -> tuple[list[re.Match[str]], Scan]:
    """The tags outside code, and the structure of the text."""
    tags = list(_TAG.finditer(text))
    structure = scan(text) if tags else Scan([], [], [])
    code = _joined([*_fences(text, structure), *_code_spans(text, tags)])
    ends = [0, *(end for _, end in code)]  # of the code before each span, or around a tag
    starts = [start for start, _ in code]
    return [tag for tag in tags if tag.start() >= ends[bisect(starts, tag.start())]], structure


def _fences(text: str, structure: Scan) -> Iterator[tuple[int, int]]:
    """The closed code fences. A fence with an entry heading or a conflict mark may be unclosed:
    it is no code.
    """
    unclosed = {piece.start for piece in structure.unclosed}
    for start, end in structure.opaque:
        comment = text[start : start + 7].lstrip(" ").startswith("<!--")
        if not comment and start not in unclosed and not _NOT_IN_CODE.search(text, start, end):
            yield start, end


def _code_spans(text: str, tags: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """The spans in backticks on the lines that hold a tag."""
    end = -1
    for tag in tags:
        if tag.start() < end:
            continue
        start = text.rfind("\n", 0, tag.start()) + 1
        end = eol_at(text, tag.end())
        runs = [run.span() for run in TICKS.finditer(text, start, end)]
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
        parts += [data[at:start], _hidden(data[start:end])]
        at = end
    return b"".join([*parts, data[at:]])


def _hidden(passage: bytes) -> bytes:
    return _KEPT.sub(lambda line: MASK * len(line[0]), passage)
