"""Adds blocks and tags to a page of Logseq, in which each text is a block. Pure.

| added                | below `- tea`             |
|----------------------|---------------------------|
| `More.`              | `- More.`                 |
| two lines            | `- one`, `  two`          |
| a text above a list  | `- Buy:`, tab and `- cups`|
| a list               | the list, as it is        |
| tags                 | `tags:: a, b` at the top  |
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from ..models import Entry
from .blocks import close_open_parts, find_tags, scan_structure, usual_line_end

_PROPERTY = r"[^\W\d_][\w./-]*::(?:[ \t][^\n]*)?\r?(?:\n|\Z)"
_PAGE_PROPERTIES = re.compile(rf"(?:-[ \t]+{_PROPERTY}(?:[ \t]+{_PROPERTY})*|(?:{_PROPERTY})+)")
"""The first block of a page, if it holds nothing but properties."""
_TAGS = re.compile(r"(?im)^(?:-[ \t]+|[ \t]+)?tags::[ \t]*([^\r\n]*)")
_FIRST_BLOCK = re.compile(r"\s*?(?P<margin>[ \t]*)[-*+](?=[ \t\r\n]|\Z)")
_ITEM = re.compile(r"[-*+](?=[ \t]|\Z)")


def is_outline(text: str) -> bool:
    """True if a text begins with a block, or with properties and nothing else or a block below
    them.
    """
    return _blanks_before_blocks(text) is not None


def extend_outline(text: str, blocks: str, tags: Sequence[str]) -> str:
    """Adds the lines `blocks` below the last block, and `tags` to the property `tags::`
    of the page. Nothing else in `text` changes; its line ends are used.
    """
    eol = usual_line_end(text.encode("utf-8", "surrogateescape")).decode()
    if blocks:
        at = len(text.rstrip(" \t\r\n"))
        text = text[:at] + eol + blocks.replace("\n", eol) + text[at:]
    return _add_tags_property(text, tags, eol) if tags else text


def convert_edit_to_blocks(
    old: Entry, new: Entry, *, has_front_matter: bool
) -> tuple[Entry, str, list[str]] | None:
    """(`new` with its added text as blocks, these blocks, the tags to write) for the outline
    `old`; None if `new` does more than to add to `old`. Tags become a property unless the page
    has front matter.
    """
    above = old.content
    added = ""
    if new.content != old.content:
        above = close_open_parts(old.content)
        added = new.content.removeprefix(f"{above}\n\n")
        if added == new.content:
            return None
    present = {*old.tags, *find_tags(added)}
    tags = [tag for tag in new.tags if tag not in present]
    properties = [] if has_front_matter else tags
    blocks = (
        "\n".join(_lines_as_blocks(added, _blanks_before_blocks(old.content) or ""))
        if added
        else ""
    )
    return replace(new, content=extend_outline(above, blocks, properties)), blocks, tags


def _blanks_before_blocks(text: str) -> str | None:
    """The blanks before the first block; None if the text is no outline."""
    properties = _PAGE_PROPERTIES.match(text)
    end = properties.end() if properties else 0
    first = _FIRST_BLOCK.match(text, end)
    if first:
        return first["margin"]
    return "" if properties and not text[end:].strip() else None


def _lines_as_blocks(text: str, margin: str) -> list[str]:
    """The lines of a text as blocks: lines that are no items go on a block, and items below a
    line become blocks in it.
    """
    fences = scan_structure(text).opaque
    lines: list[str] = []
    before = margin
    has_head = in_list = False
    at = 0
    for line in text.split("\n"):
        is_opaque = any(start < at < end for start, end in fences)
        at += len(line) + 1
        is_item = not is_opaque and _ITEM.match(line) is not None
        is_plain = not is_opaque and not is_item and not line.startswith((" ", "\t"))
        if not line.strip():
            lines.append("")
        elif is_item:
            in_list = True
            before = f"{margin}\t" if has_head else margin
            lines.append(before + line)
        elif (is_plain and in_list) or not lines:
            has_head = True
            in_list = False
            lines.append(f"{margin}- {line}")
            before = f"{margin}  "
        else:
            lines.append(before + line)
    return lines


def _add_tags_property(text: str, tags: Sequence[str], eol: str) -> str:
    properties = _PAGE_PROPERTIES.match(text)
    names = ", ".join(tags)
    if not properties:
        return f"tags:: {names}{eol}{eol}{text}"
    present = _TAGS.search(text, 0, properties.end())
    if present:
        at = present.start(1) + len(present[1].rstrip())
        between = ", " if present[1].strip() else " "
        before = text[:at].rstrip(" \t") if between == " " else text[:at]
        return f"{before}{between}{names}{text[at:]}"
    at = len(properties[0].rstrip())
    before = "  " if properties[0].startswith("-") else ""
    return f"{text[:at]}{eol}{before}tags:: {names}{text[at:]}"
