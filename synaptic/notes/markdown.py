"""Reads entries from a file's bytes, writes an entry as a block, and edits a block in place.
Pure.

    ## 09:31 decision: Chose sqlite-vec over LanceDB #db       heading      (header.py)
    <!-- syn:20261121-7k3m9q2x at=... h2=0 importance=8 -->    comment      (header.py)

    Body in Markdown.                                          body         (blocks.py)

`parse(render(e)) == e` holds for every entry that `compose_entry` returns. Reading never raises
and never writes.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import takewhile
from operator import attrgetter

from ..errors import InvalidArgument, Refused
from ..models import Entry
from .blocks import (
    LONE_CR,
    MASK,
    body_text,
    check_tag,
    escape,
    find_tags,
    inline_tags,
    newlines,
    scan,
    shown,
)
from .frontmatter import add_tags
from .header import (
    COMMENT_START,
    check_type,
    clean_title,
    derive_title,
    escape_title,
    heading_words,
    join_heading,
    read_comment,
    read_heading,
    title_for,
    unique,
    write_comment,
)
from .privacy import escape_tags, mask, passages
from .reading import (
    BASE32,
    BlockParts,
    aware,
    body_span,
    id_date,
    is_saved,
    measure,
    outline,
    parse_entries,
    without_surrogates,
)

_metadata = attrgetter(
    "id",
    "at",
    "project",
    "importance",
    "files",
    "fingerprints",
    "parent",
    "supersedes",
    "by",
    "via",
    "branch",
    "expires",
    "pin",
    "extra",
)
"""What a comment says of an entry."""
_SAID = (
    "title",
    "content",
    "type",
    "tags",
    "project",
    "files",
    "parent",
    "supersedes",
    "by",
    "via",
    "branch",
    "expires",
    "pin",
)
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


def new_id(day: date) -> str:
    """A fresh id: `YYYYMMDD-` and 8 random Crockford base32 characters."""
    return f"{id_date(day)}-{''.join(secrets.choice(BASE32) for _ in range(8))}"


def compose_entry(
    content: str,
    *,
    id: str,
    at: datetime,
    type: str = "note",
    title: str | None = None,
    tags: Sequence[str] = (),
    importance: int | None = None,
    files: Sequence[str] = (),
    project: str | None = None,
    parent: str | None = None,
    supersedes: Sequence[str] = (),
    by: str | None = None,
) -> tuple[Entry, tuple[str, ...]]:
    """The entry that a save writes, normalised so that it reads back equal, and notices of the
    changes.

    Raises InvalidArgument for an empty content, an unknown type, a tag without letters and an
    importance outside 0 to 10.
    """
    notices: list[str] = []
    text = _normal_content(content, notices)
    if not text:
        raise InvalidArgument("There is no text to save.", hint="Give the content some words.")
    kind = check_type(type)
    if importance is not None and (isinstance(importance, bool) or importance not in range(11)):
        raise InvalidArgument(
            f"importance is {importance}.", valid=("a whole number from 0 to 10",)
        )
    given = _given_tags(tags, notices)
    name, from_title = clean_title(" ".join(without_surrogates(title or "").split()))
    if not name:
        name = title_for(text)
    inline = unique(tag for _, _, tag in inline_tags(name))
    # whole seconds at a fixed offset are all that `at=` can express
    at = (at if at.utcoffset() is not None else aware(at.replace(tzinfo=None), None)).replace(
        microsecond=0
    )
    heading_tags = unique((*inline, *given, *from_title))
    entry = Entry(
        id=id,
        at=at.replace(tzinfo=timezone(at.utcoffset() or timedelta()), fold=0),
        title=name,
        content=text,
        type=kind,
        tags=heading_tags if text == name else unique((*heading_tags, *find_tags(text))),
        project=_word(project),
        importance=importance,
        files=unique(filter(None, map(_word, files))),
        parent=_word(parent),
        supersedes=unique(filter(None, map(_word, supersedes))),
        by=_word(by),
        heading_tags=heading_tags,
    )
    return entry, tuple(notices)


def _normal_content(content: str, notices: list[str]) -> str:
    text = without_surrogates(content)
    if text != content:
        notices.append("Characters that are no Unicode text were replaced by U+FFFD.")
    text = newlines(text)
    start, end = body_span(text, 0, len(text))
    text = text[start:end]
    if closing := escape(text)[1]:
        text = f"{text}\n{closing}"
        notices.append("An open code fence was closed.")
    return text


def _given_tags(tags: Sequence[str], notices: list[str]) -> tuple[str, ...]:
    slugs = []
    for tag in tags:
        slug = check_tag(tag)
        if slug != unicodedata.normalize("NFC", tag.strip().removeprefix("#").lower()):
            notices.append(f"The tag {tag!r} was saved as {slug!r}.")
        slugs.append(slug)
    return unique(slugs)


def _word(value: str | None) -> str | None:
    return without_surrogates(value).strip() or None if value else None


def render_entry(entry: Entry) -> str:
    """The block of `entry`: heading and comment, then a blank line and the body if the content
    says more.
    """
    has_body = entry.content != entry.title
    title, inline = _written_title(entry)
    words = heading_words(entry, inline, find_tags(entry.content) if has_body else ())
    kind = "" if entry.type == "note" else f"{entry.type}:"
    heading = join_heading(entry.time, kind, title, (f"#{tag}" for tag in words))
    body = f"\n{_written(entry.content)}\n" if has_body else ""
    comment = write_comment(entry, entry.at.isoformat(timespec="seconds"), _h2s_in(body))
    return f"{heading}\n{comment}\n{body}"


def own_tags(entry: Entry) -> tuple[str, ...]:
    """The tags that the entry's own text says, not the front matter of its file."""
    return tuple(tag for tag in entry.tags if tag not in entry.file_tags)


def proven_block(entry: Entry) -> bytes:
    """The bytes of `render_entry`, after reading them back. Raises Refused if they read
    differently, hide a part, or would swallow the next entry.
    """
    block = render_entry(entry).encode("utf-8", "replace")
    if (
        mask(block) != block
        or not _says(block, entry, dated=False)
        or not _leaves_what_follows(block)
    ):
        raise Refused(
            "This text would not read back as it was given; nothing was saved.",
            hint="Word it otherwise.",
        )
    return block


def _h2s_in(body: str) -> int:
    return sum(mark.level == 2 for mark in scan(body).marks)


def _written(content: str, *, typed: bool = False) -> str:
    text, closing = escape(content, typed=typed)
    return escape_tags(f"{text}\n{closing}" if closing else text)


def _written_title(entry: Entry) -> tuple[str, tuple[str, ...]]:
    """The title as a heading writes it, and the tags that are read from within it."""
    title, inline = escape_title(entry.title, entry.tags)
    return escape_tags(f"## {title}")[3:], inline  # behind `## ` no title begins a fence


def rewrite_block(block: bytes, old: Entry, new: Entry) -> bytes:
    """The bytes of `new`, made from `block`, the bytes of `old` in its file. Only the
    differences are changed.

    The heading keeps its time as typed, and the block keeps its line ends and blank lines. The
    id is written if it was derived in `old` and is fixed in `new`. Private text stays byte for
    byte: a heading that holds some is never changed, and a body that holds some only grows.
    Raises Refused for any other edit, and if no such block reads as `new`.
    """
    old = replace(old, tags=own_tags(old))
    new = replace(new, tags=own_tags(new))
    dated = not _says(block, old, dated=False)  # then it stands in a diary in one file
    bare = old.has_body and _is_bare(block, dated=dated)
    if bare and new.title in (old.title, title_for(new.content)):
        new = replace(new, title=derive_title(new.content))
    bare = bare and new.title == derive_title(new.content)
    masked = mask(block)
    for as_typed in (True, False):
        text = _rewritten(block, masked, old, new, as_typed=as_typed, dated=dated, bare=bare)
        if text == block:
            return text
        reads_as_new = _says(text, new, dated=dated) and _private_in(text) == _private_in(block)
        if reads_as_new and (_leaves_what_follows(text) or not _leaves_what_follows(block)):
            return text
    if MASK in masked:
        raise _holds_private(old)
    raise Refused(
        "This entry would not read back as it was given; nothing was changed.",
        hint="Save a new entry, or ask the person to edit the file.",
    )


def _holds_private(entry: Entry) -> Refused:
    where = f"{entry.place.path}:{entry.place.line}" if entry.place else entry.id
    return Refused(
        f"{where} holds private text, so only a person changes its words, in the file; "
        "nothing was changed.",
        hint="Append to it, or save a new entry that supersedes it.",
    )


def extend_note(block: bytes, old: Entry, new: Entry, *, typed: bool) -> bytes:
    """The bytes of a whole-file note, with the text and the tags that `new` has more than
    `old`. Nothing is taken away.

    `block` begins with the file if the note does, so that tags go to the front matter. `typed`:
    an H2 would end the note. The caller reads the result.
    """
    eol = b"\r\n" if block.count(b"\r\n") * 2 > block.count(b"\n") else b"\n"
    if new.content != old.content:
        stands = old.content.count("\n") + 2 if old.has_body else 0
        more = "\n".join(_written(new.content, typed=typed).split("\n")[stands:])
        at = len(block.rstrip(b" \t\r\n"))
        block = block[:at] + eol + eol + more.encode().replace(b"\n", eol) + block[at:]
    known = (*old.tags, *find_tags(new.content))
    tags = [tag for tag in new.tags if tag not in known]
    return add_tags(block, tags, eol) if tags else block


def _rewritten(
    block: bytes,
    masked: bytes,
    old: Entry,
    new: Entry,
    *,
    as_typed: bool,
    dated: bool,
    bare: bool,
) -> bytes:
    """`bare`: the heading has no title, and needs none."""
    text = LONE_CR.sub("\n", masked.replace(MASK, b" ").decode("latin-1"))
    _, marks, diary = outline(text, of_day=not dated, block=True)
    parts = measure(text, marks[0], len(text))
    typed = not is_saved(text[: parts.head_end]) and diary not in (
        1,
        2,
    )  # there an H2 without a date ends no entry
    eol = _line_end(block, parts.line_end)
    has_body = parts.body_end > parts.body_start
    keeps_body = new.content == old.content and (has_body or new.content == new.title)
    wants_body = has_body if keeps_body else bare or new.content != new.title
    body_tags = find_tags(new.content) if wants_body else ()
    body = block[parts.body_start : parts.body_end]
    if not keeps_body and MASK in masked[parts.body_start : parts.body_end]:
        added = new.content.removeprefix(old.content)
        if len(added) == len(new.content) or not added.startswith("\n"):
            raise _holds_private(old)
        body += _written(added, typed=typed).encode().replace(b"\n", eol)
    elif not keeps_body:
        there = body.split(eol) if as_typed and has_body else []
        body = (
            eol.join(_lines_of(new.content, there, old.content, typed)) if wants_body else b""
        )
    was, now = (replace(one, title="") if bare else one for one in (old, new))
    head = _edit_heading(
        block[: parts.line_end], masked[: parts.line_end], parts.time, was, now, body_tags
    )
    head += _edit_comment(
        block, parts, old, new, eol, _h2s_in(mask(body).replace(MASK, b" ").decode("latin-1"))
    )
    return head + (
        block[parts.head_end :] if keeps_body else _edit_body(block, parts, body, head, eol)
    )


def _lines_of(content: str, there: Sequence[bytes], before: str, typed: bool) -> list[bytes]:
    """The lines of a new content; those at its beginning and end that were `there` before are
    left as they are.
    """
    lines, stood = content.split("\n"), before.split("\n")
    if [body_text(line, typed=typed) for line in there] != stood:
        return _written(content, typed=typed).encode().split(b"\n")
    head = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(lines, stood, strict=False))
    )
    left = min(len(lines), len(stood)) - head
    tail = sum(
        1 for _ in takewhile(lambda n: n <= left and lines[-n] == stood[-n], range(1, left + 1))
    )
    new = "\n".join(lines[head : len(lines) - tail])
    written = (
        _written(new, typed=typed).encode().split(b"\n") if head + tail < len(lines) else []
    )
    return [*there[:head], *written, *there[len(there) - tail :]]


def _says(block: bytes, new: Entry, *, dated: bool) -> bool:
    """True if a block reads as exactly this entry. `dated`: a date may begin its heading."""
    read = parse_entries(block, "", mtime=new.at, block=True, dated=dated).entries
    names = _SAID if new.derived_id else (*_SAID, "id")
    return len(read) == 1 and all(
        getattr(read[0], name) == getattr(new, name) for name in names
    )


def _is_bare(block: bytes, *, dated: bool) -> bool:
    line = block.split(b"\n")[0]
    read = parse_entries(line, "", mtime=_ANY_TIME, block=True, dated=dated).entries
    return not read or read[0].whole_file or not read[0].title


def _leaves_what_follows(block: bytes) -> bool:
    """True if an entry that a person types below this block is read as an entry."""
    read = parse_entries(block + b"\n\n## 00:00 below\n", "", mtime=_ANY_TIME).entries
    return bool(read) and read[-1].title == "below"


def _private_in(block: bytes) -> bytes:
    """All private text of a block, in order, without line ends, because an edit may bring
    passages together.
    """
    return b"".join(
        block[start:end].translate(None, b"\r\n") for start, end in passages(mask(block))
    )


def _line_end(block: bytes, at: int) -> bytes:
    """The line end that the block uses; LF if it has none."""
    if block[at : at + 2] == b"\r\n":
        return b"\r\n"
    return block[at : at + 1] or b"\n"


def _edit_heading(
    line: bytes,
    masked: bytes,
    span: tuple[int, int],
    old: Entry,
    new: Entry,
    body_tags: tuple[str, ...],
) -> bytes:
    typed = read_heading(shown(masked)[span[1] :].decode("utf-8", "replace"))
    same_words = (new.type, new.title, new.time) == (old.type, old.title, old.time)
    if same_words and unique((*typed.tags, *body_tags)) == new.tags:
        return line
    if MASK in masked:
        raise _holds_private(old)
    clock = line[slice(*span)].decode() if new.time == old.time else new.time
    as_typed = new.title == old.title and typed.inline == new.tags[: len(typed.inline)]
    title, inline = (typed.title_raw, typed.inline) if as_typed else _written_title(new)
    kind = (
        typed.type_raw if new.type == old.type else "" if new.type == "note" else f"{new.type}:"
    )
    typed_tags = dict(
        zip(read_heading(" ".join(typed.tag_words)).tags, typed.tag_words, strict=False)
    )
    words = heading_words(replace(new, heading_tags=typed.tags), inline, body_tags)
    level = len(line) - len(line.lstrip(b"#"))
    return join_heading(
        clock, kind, title, (typed_tags.get(tag, f"#{tag}") for tag in words), level
    ).encode()


def _edit_comment(
    block: bytes, parts: BlockParts, old: Entry, new: Entry, eol: bytes, h2s: int
) -> bytes:
    """The bytes between the heading and the body, with the comment renewed if it must be. `h2s`
    are in the new body.
    """
    rest = block[parts.line_end : parts.head_end]
    before, after = b"", b""
    stood: dict[str, str] = {}
    if parts.comment_at >= 0:
        before, after = (
            block[parts.line_end : parts.comment_at],
            block[parts.comment_end : parts.head_end],
        )
        written = COMMENT_START.sub(
            "", block[parts.comment_at : parts.comment_end].decode("utf-8", "replace")
        )
        stood = read_comment(written.removesuffix("-->"), closed=parts.closed).raw
    counted = str(h2s) if "h2" in stood else None
    fixes_id = old.derived_id and not new.derived_id
    if not fixes_id and _metadata(old) == _metadata(new) and counted == stood.get("h2"):
        return rest
    comment = write_comment(new, stood.get("at"), counted).encode()
    return before + comment + after if parts.comment_at >= 0 else eol + comment + rest


def _edit_body(block: bytes, parts: BlockParts, body: bytes, head: bytes, eol: bytes) -> bytes:
    """The bytes after the heading's lines: the new body, between the blank lines and private
    parts that stood there.
    """
    if parts.body_end > parts.body_start:
        lead, tail = block[parts.head_end : parts.body_start], block[parts.body_end :]
        return lead + body + tail if body or lead.strip() else tail.removeprefix(eol)
    tail = block[parts.head_end :]
    if not body:
        return tail
    if head.endswith(eol):
        return eol + body + eol + tail
    return eol + eol + body + tail
