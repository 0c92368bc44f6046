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

`mask_private` replaces each private byte by a byte that UTF-8 never uses, so that offsets and
lines do not change. `blocks.without_masked` removes these bytes.
"""

import re
from bisect import bisect
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import chain

from .blocks import (
    LONE_CR,
    MASK,
    PRIVATE_TAG,
    TIME_HEADING,
    Scan,
    closed_fences,
    insert_backslashes,
    scan_structure,
    without_masked,
)

_TAG = re.compile(rf"(?<!\\){PRIVATE_TAG}")
_FIRST_ESCAPE = re.compile(rf"(?<!\\)(?=\\+{PRIVATE_TAG})")
_NOT_IN_CODE = re.compile(rf"(?m)^(?:{TIME_HEADING}|<{{7}} |={{7}}\r?$|>{{7}} )")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]{1,1000}?(?<!`)\1(?!`)")
_TAGS = re.compile(rb"(?i)</?private[^<>]*>")
_LINE_TEXT = re.compile(rb"[^\r\n]+")
_SIGN = re.compile(rb"(?i)<private")
Span = tuple[int, int]
_PASSAGE = re.compile(rb"%b(?:[%b\r\n]*%b)?" % (MASK, MASK, MASK))


def mask_private(data: bytes) -> bytes:
    """Replaces each private byte by MASK; the length does not change, and MASK occurs nowhere
    else in the result.
    """
    data = data.replace(MASK, b"\xfe")  # neither is UTF-8
    pairs, unclosed = find_private_spans(data)
    return _mask_spans(data, pairs + unclosed)


def unclosed_tags(data: bytes) -> list[int]:
    """The offset of each `<private>` tag that is never closed."""
    return [start for start, _ in find_private_spans(data)[1]]


def without_private(text: str) -> str:
    """The text without its private passages. A tag without its other half counts as text."""
    data = text.encode("utf-8", "surrogatepass")
    pairs, _ = find_private_spans(data)
    return (
        without_masked(_mask_spans(data, pairs)).decode("utf-8", "surrogatepass")
        if pairs
        else text
    )


def escape_tags(text: str) -> str:
    r"""Adds a backslash before each `<private>` tag that would hide text, and before each
    escaped one.

    `blocks.unescape_tags` takes these backslashes away. A tag in code stays as it is.
    """
    if "private" not in text.lower():
        return text
    tags, _ = _tags_outside_code(text)
    positions = [match.start() for match in (*tags, *_FIRST_ESCAPE.finditer(text))]
    return insert_backslashes(text, sorted(positions))


def has_private_tag(data: bytes) -> bool:
    """True if `data` contains `<private`, also in code. A quick check before the exact ones."""
    return _SIGN.search(data) is not None


def shows_private_text(copy: bytes, now: bytes) -> bool:
    """True if `copy` contains, as whole words and not private, text that is private in the
    later version `now`.
    """
    return has_private_tag(now) and contains_any_line(
        without_masked(mask_private(copy)), private_lines(now)
    )


def private_lines(data: bytes) -> set[bytes]:
    """The lines, and parts of lines, of `data` that are private."""
    lines: set[bytes] = set()
    for start, end in private_spans(mask_private(data)):
        passage = _TAGS.sub(b"", data[start:end])
        lines.update(map(bytes.strip, passage.splitlines()))
    return lines - {b""}


def contains_any_line(text: bytes, lines: Collection[bytes]) -> bool:
    """True if `text` contains one of these lines as whole words."""
    present = (line for line in lines if line in text)
    return any(re.search(rb"(?<!\w)%b(?!\w)" % re.escape(line), text) for line in present)


def private_spans(masked: bytes) -> list[tuple[int, int]]:
    """The spans of the private passages of a masked text. Passages separated only by line ends
    count as one.
    """
    return [match.span() for match in _PASSAGE.finditer(masked)]


@lru_cache(4)  # a save asks several times about one file
def find_private_spans(data: bytes) -> tuple[list[Span], list[Span]]:
    """(spans of the outermost pairs of tags, spans that begin at tags that are never closed and
    end at the next saved entry or the end).
    """
    pairs: list[Span] = []
    opened = []
    if not has_private_tag(data):
        return pairs, []
    text = LONE_CR.sub("\n", data.decode("latin-1"))
    tags, structure = _tags_outside_code(text)
    for tag in tags:
        if tag[0][1] != "/":
            opened.append(tag.start())
        elif opened:
            start = opened.pop()
            while pairs and pairs[-1][0] > start:
                pairs.pop()
            pairs.append((start, tag.end()))
    saved = [mark.start for mark in structure.marks if mark.comment_at >= 0]
    ends = [*saved, len(text)]
    return pairs, [(start, ends[bisect(ends, start)]) for start in opened]


def _mask_spans(data: bytes, spans: list[Span]) -> bytes:
    """Replaces each byte in these spans by MASK, except line ends."""
    parts = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            start = max(start, at)
            passage = _LINE_TEXT.sub(lambda line: MASK * len(line[0]), data[start:end])
            parts += [data[at:start], passage]
            at = end
    return b"".join([*parts, data[at:]])


def _tags_outside_code(text: str) -> tuple[list[re.Match[str]], Scan]:
    """(the `<private>` tags outside code, the structure of the text)."""
    tags = list(_TAG.finditer(text))
    structure = scan_structure(text) if tags else Scan([], [], [])
    tags = _drop_tags_in_spans(tags, _fences_of_code(text, structure))
    spans = []
    if tags:
        spans = [code.span() for code in _CODE_SPAN.finditer(text)]
    return _drop_tags_in_spans(tags, spans), structure


def _drop_tags_in_spans(
    tags: list[re.Match[str]], spans: Iterable[Span]
) -> list[re.Match[str]]:
    """The tags that begin outside the spans; the spans are in order and do not overlap."""
    bounds = list(chain.from_iterable(spans))
    return [tag for tag in tags if bisect(bounds, tag.start()) % 2 == 0]


def _fences_of_code(text: str, structure: Scan) -> Iterator[Span]:
    """Yields the spans of closed code fences. A fence with an entry heading or a conflict mark
    in it may be unclosed, so it does not count as code.
    """
    for start, end in closed_fences(text, structure):
        if not _NOT_IN_CODE.search(text, start, end):
            yield start, end
