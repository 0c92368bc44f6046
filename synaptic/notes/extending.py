"""Adds text and tags to a note that is a whole file, in which all else stays. Pure."""

import re
from collections.abc import Sequence

from ..models import Entry
from .blocks import closing_line, find_tags, usual_line_end
from .frontmatter import match_front_matter, read_front_matter
from .header import encode_word
from .markdown import escape_body
from .outline import extend_outline
from .privacy import unclosed_tags

_TAGS = re.compile(
    rb"(?im)^(?P<key>tags?)[ \t]*:(?:(?:[ \t]*\[(?P<list>[^\]\r\n]*)\]|[ \t]+(?P<quote>[\"']?)"
    rb"(?P<words>[^\s\"'#\[\]{}&*!|>%@`](?:[^\"'#\r\n]*[^\"'#\s])?)(?P=quote))?"
    rb"[ \t]*(?:(?<=[ \t])#.*)?\r?\n(?P<items>(?:[ \t]*-(?:[ \t].*)?\r?\n)*)|.*\n)"
)
"""The line of `tags`: a list, or words, or nothing and items in the lines below; `items` is
None for anything else.
"""


def extend_note(block: bytes, old: Entry, new: Entry, *, typed: bool, agent: str = "") -> bytes:
    """Adds to a whole-file note the text and the tags that `new` has beyond `old`; removes
    nothing. `agent` is the agent that adds them, "" for a person.

    `block` begins with the file if the note does, so that tags go to the front matter. `typed`:
    an H2 would end the note. The caller reads the result.
    """
    eol = usual_line_end(block)
    if new.content != old.content:
        lines_before = old.content.count("\n") + 1 if old.has_body else 0
        text = escape_body(new.content, typed=typed, agent=encode_word(agent))
        more = "\n".join(text.split("\n")[lines_before:])
        if not old.has_body:
            more = f"\n{more}"
        open_tags = unclosed_tags(block)
        end = open_tags[0] if open_tags else len(block)  # what is below such a tag is private
        last = len(block[:end].rstrip(b" \t\r\n"))
        at = last + len(block[last:end]) - len(block[last:end].lstrip(b" \t"))
        block = block[:at] + eol + more.encode().replace(b"\n", eol) + block[at:]
    present_tags = (*old.tags, *find_tags(new.content))
    tags = [tag for tag in new.tags if tag not in present_tags]
    return add_tags(block, tags, eol) if tags else block


def extend_page(
    block: bytes,
    body: int,
    blocks: str,
    tags: Sequence[str],
    *,
    has_front_matter: bool,
    typed: bool,
    agent: str = "",
) -> bytes:
    """Adds blocks and tags to a page of Logseq, as `extend_note` does to another note. The body
    of the page begins at the offset `body`; tags go to its front matter, if it has any.
    """
    eol = usual_line_end(block)
    text = escape_body(blocks, typed=typed, agent=encode_word(agent)) if blocks else ""
    outline = block[body:].decode("utf-8", "surrogateescape")
    closing = closing_line(outline) if text else ""
    if closing:
        text = f"{closing}\n{text}"
    outline = extend_outline(outline, text, [] if has_front_matter else tags)
    block = block[:body] + outline.encode("utf-8", "surrogateescape")
    return add_tags(block, tags, eol) if has_front_matter and tags else block


def add_tags(data: bytes, tags: Sequence[str], eol: bytes) -> bytes:
    """Adds tags to the front matter of a file and returns the new bytes; creates the front
    matter, or its line of tags, if missing.

    All other bytes stay. Whether the result says what is meant is for the caller to read: not
    all YAML can be edited.
    """
    import yaml

    named = [yaml.safe_dump(tag, allow_unicode=True).split("\n")[0].encode() for tag in tags]
    line = b"tags: [%b]" % b", ".join(named) + eol
    begin = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    block = match_front_matter(data.decode("latin-1"), begin)
    if block and not block["yaml"]:
        return data  # TOML
    if not block:
        return b"".join([data[:begin], b"---", eol, line, b"---", eol, data[begin:]])
    start, stop = block.span("fields")
    lines = _TAGS.finditer(data[:stop], start)
    present = max(lines, key=lambda line: len(line["key"]), default=None)  # `tags` before `tag`
    if not present:
        return data[:stop] + line + data[stop:]
    if present["items"] is None:
        return data
    group = "words" if present["list"] is None else "list"
    if present[group] is None:
        at = present.end()
        last = re.search(rb"([ \t]*-[ \t]+).*\n\Z", present["items"])
        before = last[1] if last else b"  - "
        new = b"".join(before + tag + eol for tag in named)
    else:
        items = present[group].rstrip()
        at = present.start(group) + len(items)
        between = b", " if group == "list" or b"," in items else b" "
        new = between.join([items, *named] if items else named)[len(items) :]
    changed = data[:at] + new + data[at:]
    return data if _has_problem(changed) and not _has_problem(data) else changed


def _has_problem(data: bytes) -> bool:
    block = match_front_matter(data.decode("utf-8", "replace").removeprefix("\ufeff"), 0)
    front = read_front_matter(block["fields"]) if block else None
    return bool(front and front.problem)
