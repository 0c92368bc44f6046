"""Finds each tag of a note with its place: in text, headings, front matter and `tags::`.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...notes.blocks import (
    AT_TAG,
    LINK,
    LIST_ITEM,
    TAG_PROPERTY,
    WIKI_LINK,
    blank_out,
    inline_tags,
    slug_tag,
    tag_of_link,
)
from ...notes.frontmatter import BRACKETS, DEEPEST, match_front_matter
from ...notes.link_places import NoteText, Splice, byte_offsets

if TYPE_CHECKING:
    import yaml

_ITEM = re.compile(r"[^\s\"'](?:[^\n\"']*[^\s\"'])?")
_WORD = re.compile(r"[^\s,\"']+")
_TOML_TAGS = re.compile(r"(?im)^tags?[ \t]*=[ \t]*(?P<list>\[[^\]]*\]|[\"'][^\n]*)")
_TOML_STRING = re.compile(r"([\"'])([^\"'\n]+)\1")


class TagPlace(NamedTuple):
    """A tag as it is written, without its `#`, and its span in a `NoteText`."""

    start: int
    end: int
    written: str


def find_tag_places(text: NoteText, *, at_tags: bool = False) -> list[TagPlace]:
    """The tags of a note, in order of their places. `at_tags`: also `@name`, as in jrnl."""
    places = {*_tags_in_text(text), *_tags_in_properties(text), *_tags_in_front_matter(text)}
    places |= {*_tags_in_links(text)}
    if at_tags and "@" in text.plain:
        words = text.plain
        for form in (WIKI_LINK, LINK):
            words = blank_out(words, [link.span() for link in form.finditer(words)])
        for match in AT_TAG.finditer(words, text.body):
            places.add(TagPlace(*match.span(1), match[1]))
    return sorted(places)


def renamed_tag(written: str, old_tag: str, new_tag: str) -> str | None:
    """The tag `written` after the tag `old_tag`, a slug, is called `new_tag`; None for another.

    | written     | old_tag | new_tag | result         |
    |-------------|---------|---------|----------------|
    | `Db`        | db      | data    | `data`         |
    | `db/Sqlite` | db      | data    | `data/Sqlite`  |
    | `dbs`       | db      | data    | None           |
    """
    slug = slug_tag(written)
    if slug == old_tag:
        return new_tag
    if not slug.startswith(f"{old_tag}/"):
        return None
    steps = written.split("/")
    depth = old_tag.count("/") + 1
    if slug_tag("/".join(steps[:depth])) != old_tag:
        return None
    return "/".join([new_tag, *steps[depth:]])


def splices_of_tag(
    text: NoteText, old_tag: str, new_tag: str, *, at_tags: bool = False
) -> list[Splice]:
    """The changes by which each tag `old_tag`, and each below it, is called `new_tag`."""
    changes = []
    for tag in find_tag_places(text, at_tags=at_tags):
        target = renamed_tag(tag.written, old_tag, new_tag)
        if target not in (None, tag.written):
            changes.append((tag, target or ""))
    offsets = byte_offsets(text.raw, [tag.start for tag, _ in changes])
    return [Splice(offsets[tag.start], tag.written, target) for tag, target in changes]


def _tags_in_text(text: NoteText) -> Iterator[TagPlace]:
    body = text.plain[text.body :]
    for begin, end, _ in inline_tags(body):
        written = body[begin + 1 : end]
        start = text.body + begin + 1
        if written.startswith("[["):
            written = written[2:-2]
            start += 2
        yield TagPlace(start, start + len(written), written)


def _tags_in_links(text: NoteText) -> Iterator[TagPlace]:
    """Yields the tag of each link `[[tag:name]]`."""
    for link in WIKI_LINK.finditer(text.plain):
        tag = tag_of_link(link[1].strip())
        if tag:
            start = link.start(1) + link[1].index("tag:") + len("tag:")
            yield TagPlace(start, start + len(tag), tag)


def _tags_in_properties(text: NoteText) -> Iterator[TagPlace]:
    for line in TAG_PROPERTY.finditer(text.plain, text.body):
        for item in LIST_ITEM.finditer(text.plain, *line.span(1)):
            written = (item[1] or item[2]).strip()
            if written and (item[1] or "#" not in written):
                start = text.plain.index(written, item.start())
                yield TagPlace(start, start + len(written), written)


def _tags_in_front_matter(text: NoteText) -> Iterator[TagPlace]:
    begin = 1 if text.raw.startswith("\ufeff") else 0
    front = match_front_matter(text.raw, begin)
    if not front:
        return
    offset = front.start("fields")
    for start, end in find_tag_words(front["fields"], is_toml=not front["yaml"]):
        written = front["fields"][start:end]
        start += offset + len(written) - len(written.lstrip("#"))
        yield TagPlace(start, offset + end, written.lstrip("#"))


def find_tag_words(text: str, *, is_toml: bool) -> list[tuple[int, int]]:
    """The span of each tag in the text of front matter, without quotes; none where it cannot be
    read.
    """
    if is_toml:
        lists = (line.span("list") for line in _TOML_TAGS.finditer(text))
        return [word.span(2) for span in lists for word in _TOML_STRING.finditer(text, *span)]
    root = _compose_yaml(text)
    spans = _spans_of_tags(text, root)
    for _, value in getattr(root, "value", ()) if not spans else ():
        spans += _spans_of_tags(text, value)
    return sorted(set(spans))


def _compose_yaml(text: str) -> yaml.Node | None:
    """The nodes of a text in YAML, with their places; None if it cannot be read."""
    import yaml  # slow, and few files have front matter

    if len(BRACKETS.findall(text)) > 2 * DEEPEST:
        return None
    try:
        return yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError):
        return None


def _spans_of_tags(text: str, mapping: yaml.Node | None) -> list[tuple[int, int]]:
    """The spans of the tags in the values of `tags` and `tag` of one mapping."""
    import yaml

    spans = []
    for key, value in mapping.value if isinstance(mapping, yaml.MappingNode) else ():
        if not isinstance(key, yaml.ScalarNode) or key.value.lower() not in ("tags", "tag"):
            continue
        is_list = isinstance(value, yaml.SequenceNode)
        for node in value.value if is_list else [value]:
            if isinstance(node, yaml.ScalarNode):
                word = _ITEM if is_list else _WORD
                begin, end = node.start_mark.index, node.end_mark.index
                spans += [match.span() for match in word.finditer(text, begin, end)]
    return spans
