"""Reads and writes the two lines above an entry's body: the heading that people type, the
comment of programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import takewhile
from typing import NamedTuple, TypeVar
from urllib.parse import unquote

from ..errors import one_of
from ..models import TYPES, Entry, EntryType
from .blocks import TIME, inline_tags, insert_backslashes, unescape_tags

ID = re.compile(r"[0-9]{8}-[0-9a-z]{8}\Z")
COMMENT_KEYS = (
    "at",
    "h2",
    "importance",
    "project",
    "branch",
    "parent",
    "supersedes",
    "files",
    "expires",
    "by",
    "via",
    "pin",
)
FINGERPRINT_DIGITS = 12
COMMENT_START = re.compile(r"<!--[ \t]*syn:")

_TYPE = re.compile(rf"({'|'.join(TYPES)})(?::[ \t]*|\Z)", re.IGNORECASE | re.ASCII)
_READS_AS_TIME = re.compile(
    r"[ap]\.?m(?![a-z])|uhr|(?:-|–|—|:)(?:[ \t]|\Z)|[-–][ \t]?[0-9]", re.IGNORECASE
)
_ESCAPED_HASH = re.compile(r"(?<!\\)\\(\\*)#")
_HASH_AFTER_BACKSLASH = re.compile(r"(?<!\\)(\\+)#")
_ENCODED = re.compile(r"[%<>\x00-\x20\x7f-\x9f\s]|(?<=-)-")
_ENCODED_IN_LIST = re.compile(rf"{_ENCODED.pattern}|,")
_FINGERPRINT = rf"@(?=[0-9a-f]{{{FINGERPRINT_DIGITS}}}\Z)"
_ENCODED_PATH = re.compile(rf"{_ENCODED_IN_LIST.pattern}|{_FINGERPRINT}")

_TITLE_LENGTH, _HEADING_ONLY = 72, 100
_MARKUP = re.compile(
    r"[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)*(?:#{1,6}(?:[ \t]+|$))?"
)
_NOT_PROSE = re.compile(r"[ \t]*(?:`{3}|~{3}|<!--|\|)|[-*_= \t]+$")
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s+[^\sa-z])|[。！？]")

Text = TypeVar("Text", bound=str)


class Heading(NamedTuple):
    """A heading after its time: its meaning, and its pieces as typed, which an edit may keep.

    `tag_words` are the `#Tags` at the end, `inline` the tags that stand within the title.
    """

    type: EntryType
    title: str
    tags: tuple[str, ...]
    inline: tuple[str, ...]
    type_raw: str
    title_raw: str
    tag_words: tuple[str, ...]


def read_heading(raw: str) -> Heading:
    """The parts of a heading after its time: `[type:] [title] [#tags]`."""
    title_raw, words, trailing = _split_tags(raw)
    kind: EntryType = "note"
    type_raw = ""
    if match := _TYPE.match(title_raw):
        kind = check_type(match[1])
        type_raw, title_raw = match[0], title_raw[match.end() :]
    inline = unique(tag for _, _, tag in inline_tags(title_raw))
    return Heading(
        kind,
        unescape_title(title_raw),
        unique((*inline, *trailing)),
        inline,
        type_raw,
        title_raw,
        words,
    )


def check_type(name: str) -> EntryType:
    """The type of this name in any case. Raises InvalidArgument with the valid types."""
    return one_of(TYPES, name, "type")


def read_title(raw: str) -> tuple[str, tuple[str, ...]]:
    """Title and tags of an H1's text."""
    title_raw, _, trailing = _split_tags(raw)
    inline = (tag for _, _, tag in inline_tags(title_raw))
    return unescape_title(title_raw), unique((*inline, *trailing))


def clean_title(title: str) -> tuple[str, tuple[str, ...]]:
    """`title` as a heading can hold it, and the tags at its end."""
    tags: tuple[str, ...] = ()
    while True:
        shorter, _, trailing = _split_tags(title, closing=False)
        if shorter == title:
            return title, tags
        title, tags = shorter, (*trailing, *tags)


def _split_tags(
    raw: str, *, closing: bool = True
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The text before the tags at the end, these tags as typed, and their slugs."""
    raw = raw.strip(" \t")
    if "#" not in raw:
        return raw, (), ()
    if closing and raw.endswith("#") and (opened := raw.rstrip("#"))[-1:] in ("", " ", "\t"):
        raw = opened.rstrip(" \t")
    end = len(raw)
    words: list[str] = []
    tags: list[str] = []
    for start, stop, tag in reversed(inline_tags(raw)):
        if raw[stop:end].strip(" \t,"):
            break
        words.append(raw[start:stop])
        tags.append(tag)
        end = start
    if not tags:
        return raw, (), ()
    return raw[:end].rstrip(" \t"), tuple(reversed(words)), tuple(reversed(tags))


def unescape_title(raw: str) -> str:
    r"""`raw` with `\#` as `#`, `\<private>` as `<private>`."""
    return unescape_tags(_ESCAPED_HASH.sub(r"\1#", raw)) if "\\" in raw else raw


def escape_title(title: str, tags: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    r"""`title` as a heading writes it, and the tags that are read from within it.

    A `#` gets a backslash only if it would be read as a tag or as a closing sequence. Tags
    within the title stay as they are if `tags`, the tags of the entry, begin with them.
    """
    if "#" not in title:
        return title, ()
    raw = _HASH_AFTER_BACKSLASH.sub(r"\\\1#", title)
    if raw.endswith("#") and (opened := raw.rstrip("#"))[-1:] in ("", " ", "\t"):
        raw = f"{opened}\\{raw[len(opened) :]}"
    found = inline_tags(raw)
    inline = unique(tag for _, _, tag in found)
    if inline == tuple(tags[: len(inline)]) and not _split_tags(raw)[1]:
        return raw, inline
    return insert_backslashes(raw, [start for start, _, _ in found]), ()


def join_heading(
    time: str, type_raw: str, title_raw: str, words: Iterable[str], level: int = 2
) -> str:
    """A heading line. `note:` is written if the title would otherwise be read as a type or as a
    part of the time.
    """
    reads_as_time = _READS_AS_TIME if time else TIME
    if not type_raw and (_TYPE.match(title_raw) or reads_as_time.match(title_raw)):
        type_raw = "note:"
    return " ".join(
        part for part in ("#" * level, time, type_raw.rstrip(" \t"), title_raw, *words) if part
    )


def heading_words(
    entry: Entry, inline: tuple[str, ...], body_tags: tuple[str, ...]
) -> tuple[str, ...]:
    """The tags that the heading shows at its end, so that heading and body together give
    `entry.tags`.

    Tags that the heading showed before stay in it. New tags join them unless the body carries
    them.
    """
    own, within = set(entry.tags), set(inline)
    kept = [tag for tag in entry.heading_tags if tag in own and tag not in within]
    known = {*kept, *inline, *body_tags}
    wanted = (*kept, *(tag for tag in entry.tags if tag not in known))
    if unique((*inline, *wanted, *body_tags)) == entry.tags:
        return wanted
    # the last tags may be left to the body where it carries them in the same order
    size, place = len(entry.tags), {tag: number for number, tag in enumerate(unique(body_tags))}
    last = len(place)
    while (
        own.issuperset(place)
        and size > len(inline)
        and place.get(entry.tags[size - 1], last) < last
    ):
        size -= 1
        last = place[entry.tags[size]]
    return entry.tags[len(inline) : size]


def title_for(content: str) -> str:
    """The title of a text without one: the whole text if it is one short plain line, else its
    first sentence.
    """
    plain = len(content) <= _HEADING_ONLY and "\n" not in content and content == content.strip()
    if (
        plain
        and not _NOT_PROSE.match(content)
        and not markup(content)
        and clean_title(content)[0] == content
    ):
        return content
    return derive_title(content)


def derive_title(content: str) -> str:
    """The first sentence of the first paragraph, without markup and tags at its end, cut to 72
    characters.
    """
    lines = content[:20_000].split("\n")
    filled = [i for i, line in enumerate(lines) if line.strip()][:50]
    prose = [i for i in filled if not _NOT_PROSE.match(lines[i])]
    for start in [*prose, *filled]:
        title = _first_sentence(list(takewhile(str.strip, lines[start : start + 5])))
        if title:
            return title
    return "Untitled"


def _first_sentence(lines: list[str]) -> str:
    opening = markup(lines[0])
    text = lines[0][len(opening) :].rstrip()
    if not opening.strip():
        # A sentence may run over hard-wrapped lines.
        for line in lines[1:]:
            if (
                _SENTENCE_END.search(text)
                or text.endswith((".", "!", "?", ":"))
                or len(text) > _TITLE_LENGTH
            ):
                break
            if markup(line).strip() or _NOT_PROSE.match(line):
                break
            text = f"{text} {line}"
    text = " ".join(text[:1000].replace("**", "").split())
    if end := _SENTENCE_END.search(text):
        text = text[: end.end()]
    text = text.removesuffix(".")
    if len(text) > _TITLE_LENGTH:
        cut = text[: _TITLE_LENGTH - 1]
        text = (cut.rpartition(" ")[0] or cut).rstrip(" ,;:") + "…"
    return clean_title(text)[0]


def markup(line: str) -> str:
    """The list, quote and heading marks that open `line`."""
    match = _MARKUP.match(line)
    return match[0] if match else ""


@dataclass(frozen=True, slots=True)
class Comment:
    """A `<!-- syn:` line. `raw` holds the known keys as written, `problems` the parts that
    could not be read.
    """

    id: str | None
    raw: dict[str, str]
    extra: tuple[tuple[str, str], ...]
    problems: tuple[str, ...]

    def text(self, key: str) -> str | None:
        """The value of `key`, decoded; None if it is absent or empty."""
        value = self.raw.get(key)
        return (unquote(value) or None) if value else None

    def values(self, key: str) -> tuple[str, ...]:
        """The comma-separated values of `key`, decoded."""
        value = self.raw.get(key)
        return tuple(unquote(part) for part in value.split(",") if part) if value else ()

    def files(self) -> tuple[tuple[str, str], ...]:
        """(path, fingerprint) of each file in `files=src/a.py@3f9a0c1d2e4b,src/b.py`; "" for a
        file without one.
        """
        parts = (
            re.split(_FINGERPRINT, part, maxsplit=1)
            for part in self.raw.get("files", "").split(",")
            if part
        )
        return tuple((unquote(path), "".join(found)) for path, *found in parts if path)

    def expires(self) -> str | None:
        """The date in `expires=`, `YYYY-MM-DD`. Raises ValueError."""
        text = self.text("expires")
        return date.fromisoformat(text).isoformat() if text else None

    def moment(self) -> datetime | None:
        """The moment in `at=`, naive if it was written without an offset. Raises ValueError."""
        at = self.text("at")
        return datetime.fromisoformat(at) if at else None

    def importance(self) -> int | None:
        """The number in `importance=`, 0 to 10. Raises ValueError."""
        text = self.text("importance")
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= 10):
            raise ValueError(text)
        return int(text)


def read_comment(fields: str, *, closed: bool = True) -> Comment:
    """The parts of a comment's text after `syn:`."""
    words = fields.split()
    problems = [] if closed else ["the comment has no -->"]
    first = words[0].lower() if words else ""
    id = first if ID.match(first) else None
    if id is None:
        problems.append(
            f"{first[:40]!r} is no id; an id is 8 digits, a dash and 8 letters or digits"
        )
    raw: dict[str, str] = {}
    extra: list[tuple[str, str]] = []
    for word in words[1:]:
        key, _, value = word.partition("=")
        if key in raw:
            problems.append(f"{key}= stands there twice; the first one counts")
        elif key in COMMENT_KEYS:
            raw[key] = value
        else:
            extra.append((key, unquote(value)))
    return Comment(id, raw, tuple(extra), tuple(problems))


def write_comment(entry: Entry, at: str | None, h2: int | str | None = None) -> str:
    """The comment line of `entry`; keys with their default value are left out. `h2`: how many
    H2s its body has.
    """
    known = dict(entry.fingerprints)
    files = (
        encode(path, _ENCODED_PATH) + (f"@{known[path]}" if path in known else "")
        for path in entry.files
    )
    said = {
        "at": at,
        "h2": None if h2 is None else str(h2),
        "importance": None if entry.importance is None else str(entry.importance),
        "supersedes": ",".join(encode(id, _ENCODED_IN_LIST) for id in entry.supersedes),
        "files": ",".join(files),
        "expires": entry.expires,
    }
    pairs = (
        (key, said[key] if key in said else encode(getattr(entry, key) or ""))
        for key in COMMENT_KEYS[:-1]
    )
    words = [
        f"syn:{entry.id}",
        *(f"{key}={value}" for key, value in pairs if value),
        *(["pin"] if entry.pin else []),
    ]
    words += [
        f"{key}={encode(value)}" if value or "<" in key else key for key, value in entry.extra
    ]
    return f"<!-- {' '.join(words)} -->"


def encode(value: str, pattern: re.Pattern[str] = _ENCODED) -> str:
    """`value` as one word of an HTML comment: characters that could end the word or the comment
    are percent-encoded.
    """
    return pattern.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), value
    )


def unique(values: Iterable[Text]) -> tuple[Text, ...]:
    """The values, each once, in order of first appearance."""
    return tuple(dict.fromkeys(values))


NO_COMMENT = Comment(None, {}, (), ())
