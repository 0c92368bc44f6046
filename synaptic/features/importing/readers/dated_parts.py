"""Splits a text at the heads with a date that stand in it.

| line                                                      | begins an entry |
|-----------------------------------------------------------|-----------------|
| `14 March 2026`, `Samstag, 14. März 2026`, `2026-03-14`    | of that day     |
| `14.3.2026 21:10`, `March 14, 2026, 9:10 PM`               | at that time    |
| `2026-03-14 At sea`, `14.3.2026: At sea`                   | with that title |
| each line like the first, if that is one of these two     | with that title |
| `14 March 2026 At sea`, as a heading                      | with that title |
| `## 21:10 At sea`, below the heading of a day             | at that time    |
| `03/02/2026`                                              | none: two dates |
| `On 14 March 2026 we were at sea.`                        | none            |
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from html import unescape

from ....notes.blocks import TIME
from ....notes.dates import date_in_name, moment_in_value
from ....notes.diary import read_date_of_heading

_HEAD_CHARS = 120
_MOST_A_DAY = 48
"""A text with more entries on each of its days is no diary, but the log of a device. By eye."""
_MARKS = re.compile(r"\A[#*_\s]*(.*?)[*_:\s]*\Z", re.DOTALL)
_TIME_AT_END = re.compile(
    r"[\s,]+(?:(?:at|um|à|kl\.?) )?\d{1,2}[:.h]\d\d(?::\d\d)?"
    r"(?:\s?[AaPp]\.?[Mm]\.?)?(?:\s?Uhr)?\Z"
)
_BEGINS_WITH_NUMBERS = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\d{1,2}\. ?\d{1,2}\. ?\d{4}\b"
)
_CLOCK = re.compile(r"[ T,]+\d{1,2}:\d\d(?::\d\d)?")
_TIMED_HEADING = re.compile(r"#{2,6}[ \t]+(\d{1,2}:\d\d)(?![:\w])[ \t–—-]*(.*?)[ \t#]*\Z")
_TAG = re.compile(r"<(/?)(\w+)[^>]*?(/?)>")
_SINGLE = ("br", "img", "hr", "input")
_ANY_TAG = re.compile(r"<[^>]*>")
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Head:
    """The date at the beginning of an entry, and the rest of its line."""

    at: datetime
    title: str


@dataclass
class DatedPart:
    """One future entry: its head, None without a date, and the lines or blocks below it."""

    head: Head | None
    parts: list[str] = field(default_factory=list)


def split_at_heads(parts: Sequence[str], heads: Sequence[Head | None]) -> list[DatedPart]:
    """Splits lines or blocks into pieces at their heads, of which each part has one or None. A
    text with one head is one piece of that date, the log of a device one piece without.
    """
    pieces = [DatedPart(None)]
    for part, head in zip(parts, heads, strict=True):
        if head:
            pieces.append(DatedPart(head))
        else:
            pieces[-1].parts.append(part)
    first, *dated = pieces
    days = {one.head.at.date() for one in dated if one.head}
    if len(dated) > _MOST_A_DAY * len(days):
        return [DatedPart(None, [*parts])]
    if dated and not "".join(first.parts).strip():
        return dated
    if len(dated) == 1 and dated[0].head:  # a letter: its date stays where it stands
        return [DatedPart(Head(dated[0].head.at, ""), [*parts])]
    return pieces


def heads_of_lines(lines: Sequence[str]) -> list[Head | None]:
    """The head that each line of a text is; in a paragraph that does not begin with one only if
    nothing but the date stands on it, or if the text begins with a head of that form.
    """
    heads = []
    is_blank = is_log = True
    form_of_log = _form_of_numbers(next(filter(str.strip, lines), ""))
    for line in lines:
        is_like_first = form_of_log and _form_of_numbers(line) == form_of_log
        may_begin = _is_numbered(line) and (is_blank or is_log or is_like_first)
        head = read_head(line, is_heading=bool(may_begin))
        heads.append(head)
        is_log = bool(head) if is_blank else is_log
        is_blank = not line.strip()
    return heads


def heads_of_markdown(lines: Sequence[str], day: date | None = None) -> list[Head | None]:
    """The head that each line of Markdown is: also a heading that begins with a date, or with a
    time below the heading of a day, and none in code. `day` is that of the whole text.
    """
    heads = heads_of_lines(lines)
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence or mark:
            heads[number] = None
        elif line.startswith("#"):
            head = read_head(line, is_heading=True)
            if head:
                day = None if head.title else head.at.date()
            heads[number] = head or _read_timed_heading(line, day)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
    return heads


def _read_timed_heading(line: str, day: date | None) -> Head | None:
    match = _TIMED_HEADING.match(line)
    moment = moment_in_value(f"{day.isoformat()} {match[1]}") if match and day else None
    return Head(moment, match[2]) if match and moment else None


def heads_of_blocks(blocks: Sequence[str]) -> list[Head | None]:
    """The head that each block of HTML is: a paragraph or heading with a date."""
    return [*map(_head_of_block, blocks)]


def _head_of_block(block: str) -> Head | None:
    is_heading = bool(re.match(r"<h[1-6]", block))
    if not is_heading and not block.startswith("<p"):
        return None
    line = unescape(_ANY_TAG.sub("", block))
    return read_head(line, is_heading=is_heading or _is_numbered(line))


def _is_numbered(line: str) -> bool:
    """True for a line that begins with a date in numbers, as nobody writes in a sentence."""
    return bool(_BEGINS_WITH_NUMBERS.match(line.strip()))


def _form_of_numbers(line: str) -> str:
    """The form of the date in numbers, and the time, with which a line begins before other
    words: `0-0-0 0:0` of `2026-03-14 21:10 At sea`; "" without them.
    """
    text = line.strip()
    day = _BEGINS_WITH_NUMBERS.match(text)
    clock = day and _CLOCK.match(text, day.end())
    end = clock.end() if clock else day.end() if day else 0
    return re.sub(r"\d+", "0", text[:end]) if text[end:].strip() else ""


def read_head(line: str, *, is_heading: bool) -> Head | None:
    """The date of a line that consists of a date with or without a time. In a heading a title
    may follow.
    """
    match = _MARKS.match(line)
    text = match[1] if match else ""
    if not any(map(str.isdigit, text[:40])):
        return None
    if len(text) <= _HEAD_CHARS:
        named = date_in_name(_TIME_AT_END.sub("", text))
        moment = moment_in_value(text) if named and named.is_alone else None
        if moment:
            return Head(moment, "")
    when = read_date_of_heading(text, 0, TIME) if is_heading else None
    if not when:
        return None
    clock = text[slice(*when.time)]
    moment = moment_in_value(f"{when.day.isoformat()} {clock}".strip())
    title = text[when.end :].strip(" \t-–—:,;|")
    return Head(moment or datetime.combine(when.day, time()), title)


def split_blocks(html: str) -> list[str]:
    """Splits the HTML of a document into the blocks that stand side by side."""
    blocks = []
    depth = 0
    start = 0
    for tag in _TAG.finditer(html):
        if tag[2] not in _SINGLE and not tag[3]:
            depth += -1 if tag[1] else 1
        if depth == 0:
            blocks.append(html[start : tag.end()])
            start = tag.end()
    return blocks
