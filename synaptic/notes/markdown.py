"""Reads entries from a file's bytes, writes an entry as a block, and edits a block in place.
Pure.

    ## 09:31 decision: Chose sqlite-vec over LanceDB #db       heading      (header.py)
    <!-- syn:20261121-7k3m9q2x at=... h2=0 importance=8 -->    comment      (header.py)

    Body in Markdown.                                          body         (blocks.py)

`parse(render(e)) == e` holds for every entry that `compose_entry` returns. Reading never raises
and never writes.
"""

import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

from ..errors import InvalidArgument, Refused, Sentence
from ..models import Entry, Texts
from .blocks import (
    MASK,
    by_mark,
    check_tag,
    close_open_parts,
    decode_as_latin1,
    eol_at,
    escape_entry_borders,
    find_tags,
    inline_tags,
    scan_structure,
    unify_newlines,
    without_masked,
)
from .dates import owner_time
from .header import (
    clean_title,
    derive_title,
    encode_word,
    escape_title,
    hash_of_heading,
    join_heading,
    make_title,
    notices_of_synonyms,
    read_comment,
    read_heading,
    resolve_type,
    unique,
    write_comment,
    writer_of,
)
from .privacy import escape_tags, mask_private, private_spans
from .reading import (
    BASE32,
    body_span,
    id_date,
    is_saved,
    measure_block,
    outline,
    parse_entries,
    without_surrogates,
)

_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


def new_id(day: date) -> str:
    """A new entry id: `YYYYMMDD-` and 8 random Crockford base32 characters."""
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
) -> tuple[Entry, Texts]:
    """Builds an entry for saving, normalised so that it reads back equal; returns it and
    notices about changes to the text.

    Raises InvalidArgument for an empty content, an unknown type and a tag without letters.
    """
    notices: list[str] = []
    text = _normal_content(content, notices)
    if not text:
        raise InvalidArgument(
            "The content holds no text; nothing was saved.", "Give a text to save."
        )
    kind = resolve_type(type)
    notices += notices_of_synonyms([type])
    name, from_title = clean_title(" ".join(without_surrogates(title or "").split()))
    if not name:
        name = make_title(text)
    inline = (tag for _, _, tag in inline_tags(name))
    heading_tags = unique((*inline, *map(check_tag, tags), *from_title))
    # whole seconds at a fixed offset are all that `at=` can express
    if not at.tzinfo:
        at = owner_time(at)
    offset = timezone(at.utcoffset() or timedelta())
    entry = Entry(
        id=id,
        at=at.replace(microsecond=0, tzinfo=offset, fold=0),
        title=name,
        content=text,
        type=kind,
        tags=heading_tags if text == name else unique((*heading_tags, *find_tags(text))),
        project=_strip_or_none(project),
        importance=importance,
        files=unique(filter(None, map(_strip_or_none, files))),
        parent=_strip_or_none(parent),
        supersedes=unique(filter(None, map(_strip_or_none, supersedes))),
        by=_strip_or_none(by),
        heading_tags=heading_tags,
    )
    return entry, tuple(notices)


def _normal_content(content: str, notices: list[str]) -> str:
    text = without_surrogates(content)
    if text != content:
        notices.append(
            Sentence("Characters that are not valid Unicode were replaced by U+FFFD.")
        )
    text = unify_newlines(text)
    start, end = body_span(text, 0, len(text))
    text = text[start:end]
    if closing := escape_entry_borders(text)[1]:
        text = f"{text}\n{closing}"
        notices.append(Sentence("An open code fence was closed."))
    return text


def _strip_or_none(value: str | None) -> str | None:
    return without_surrogates(value).strip() or None if value else None


def render_entry(entry: Entry) -> str:
    """The Markdown block of an entry: heading and comment, then a blank line and the body, if
    the content is more than the title.
    """
    body = ""
    body_tags: Texts = ()
    if entry.content != entry.title:
        body = f"\n{escape_body(entry.content, own=True, agent=writer_of(entry))}\n"
        body_tags = find_tags(entry.content)
    heading = _heading(entry, entry.time, 2, entry.heading_tags, body_tags)
    own = hashes_of_h2s(body.encode("utf-8", "replace"))
    comment = write_comment(entry, entry.at.isoformat(timespec="seconds"), own)
    return f"{heading}\n{comment}\n{body}"


def _heading(
    entry: Entry, time: str, level: int, before: Collection[str], body_tags: Collection[str]
) -> str:
    """The heading line of an entry. Tags in `before` stay in it; other tags are added unless
    the body contains them.
    """
    title, inline = escape_title(entry.title, entry.tags)
    title = escape_tags(f"## {title}")[3:]  # behind `## ` no title begins a fence
    left_out = {*inline, *(tag for tag in body_tags if tag not in before)}
    tags = [tag for tag in entry.tags if tag not in left_out]
    return join_heading(time, entry.type, title, tags, level)


def own_tags(entry: Entry) -> Texts:
    """Returns the tags that an entry has in its own text, without those from its file's front
    matter.
    """
    return tuple(tag for tag in entry.tags if tag not in entry.file_tags)


def render_verified_block(entry: Entry) -> bytes:
    """Renders an entry and reads the bytes back. Raises Refused if they read differently, hide
    a part, or would swallow the next entry.
    """
    block = render_entry(entry).encode("utf-8", "replace")
    is_open = mask_private(block) == block and _leaves_next_entry_readable(block)
    if not is_open or not _reads_as_entry(block, entry, dated=False):
        raise Refused(
            "Read back from the Markdown file, the text would not be the same; nothing was "
            "saved.",
            "Change headings, code fences, HTML comments or <private> in it, and save again.",
        )
    return block


def hashes_of_h2s(body: bytes) -> list[str]:
    """The hashes (`hash_of_heading`) of the H2s in a body."""
    text = decode_as_latin1(mask_private(body))
    return [
        hash_of_heading(text[mark.start : eol_at(text, mark.start)])
        for mark in scan_structure(text).marks
        if mark.level == 2
    ]


def escape_body(
    content: str, *, typed: bool = False, own: bool = False, agent: str = ""
) -> str:
    """The text as it is written into a file. `typed`, `own`: as in `escape_entry_borders`."""
    text, closing = escape_entry_borders(
        content, typed=typed, own=own, mark=by_mark(agent) if agent else ""
    )
    return escape_tags(f"{text}\n{closing}" if closing else text)


def rewrite_block(block: bytes, old: Entry, new: Entry, agent: str = "") -> bytes:
    """Edits `block`, the bytes of `old` in its file, so that it reads as `new`, and returns the
    new bytes. Unchanged parts, and a text that only grows, keep their bytes.

    The heading keeps its time as typed unless `new` has another time of day, and the block
    keeps its line ends and blank lines. The id is written if it was derived in `old` and is
    fixed in `new`. Private text stays byte for
    byte: a heading that holds some is never changed, and a body that holds some only grows.
    `agent` names the agent that edits; "" is a person. Raises Refused for any other edit, and
    if no such block reads as `new`.
    """
    if new == old and new.derived_id == old.derived_id:
        return block
    edit = _Edit(
        block, replace(old, tags=own_tags(old)), replace(new, tags=own_tags(new)), agent
    )
    for body in edit.bodies():
        text = edit.with_body(body)
        if text == block:
            return text
        keeps_private = _extract_private_text(text) == _extract_private_text(block)
        is_open = _leaves_next_entry_readable(text) or not _leaves_next_entry_readable(block)
        if keeps_private and is_open and _reads_as_entry(text, edit.new, dated=edit.dated):
            return text
    if MASK in edit.masked:
        raise edit.holds_private()
    raise Refused(
        "Read back from the Markdown file, the entry would not be the same; nothing was "
        "changed.",
        "Save a new entry that supersedes it, or ask a person to edit the file.",
    )


class _Edit:
    """An edit of one block: its parts, the old entry, and the entry as which the result must
    read.
    """

    def __init__(self, block: bytes, old: Entry, new: Entry, agent: str) -> None:
        self.block = block
        self.old = old
        self.new = new
        self.dated = old.date_source == "heading"  # it stands in a diary in one file
        self.masked = mask_private(block)
        text = decode_as_latin1(self.masked)
        _, [self.mark, *_], diary = outline(text, of_day=not self.dated, block=True)
        self.parts = parts = measure_block(text, self.mark, len(text))
        # in a diary of H1s or H2s an H2 without a date ends no entry
        saved = is_saved(text[: parts.head_end])
        self.typed = not saved and diary not in (1, 2)
        self.own = saved and writer_of(new) != ""
        self.agent = encode_word(agent) or (writer_of(new) if saved else "")
        self.eol = b"\r\n" if block.startswith(b"\r\n", parts.line_end) else b"\n"
        line = without_masked(self.masked[parts.time[1] : parts.line_end])
        self.heading = read_heading(line.decode("utf-8", "replace"))
        self.has_new_time = new.timed and (not old.timed or new.time != old.time)
        self.is_bare = parts.has_body and not self.heading.title
        if self.is_bare and new.title in (old.title, make_title(new.content)):
            self.new = replace(new, title=derive_title(new.content))
        elif new.title:
            self.is_bare = False

    def bodies(self) -> Iterator[bytes]:
        """Yields candidates for the bytes of the new body: unchanged, with added text, or
        completely rewritten.
        """
        new = self.new
        parts = self.parts
        body = self.block[parts.body_start : parts.body_end]
        if new.content == self.old.content and (parts.has_body or new.content == new.title):
            yield body
            return
        if parts.has_body and new.content.startswith(f"{self.old.content}\n"):
            closed = close_open_parts(self.old.content)
            if new.content.startswith(f"{closed}\n"):
                closing = closed[len(self.old.content) :].encode().replace(b"\n", self.eol)
                yield body + closing + self._body_lines(new.content[len(closed) :])
            yield body + self._body_lines(new.content[len(self.old.content) :])
        if MASK in self.masked[parts.body_start : parts.body_end]:
            raise self.holds_private()
        has_body = self.is_bare or new.content != new.title
        yield self._body_lines(new.content) if has_body else b""

    def _body_lines(self, content: str) -> bytes:
        text = escape_body(content, typed=self.typed, own=self.own, agent=self.agent)
        return text.encode().replace(b"\n", self.eol)

    def with_body(self, body: bytes) -> bytes:
        """The block with a new body; blank lines and private parts around the body do not
        change.
        """
        parts = self.parts
        eol = self.eol
        head = self._heading(find_tags(self.new.content) if body else ())
        head += self._comment(hashes_of_h2s(body))
        if parts.has_body:
            lead = self.block[parts.head_end : parts.body_start]
            tail = self.block[parts.body_end :]
            if body or lead.strip():
                return head + lead + body + tail
            return head + tail.removeprefix(eol)
        tail = self.block[parts.head_end :]
        if not body:
            return head + tail
        return head.removesuffix(eol) + eol + eol + body + eol + tail

    def _heading(self, body_tags: Texts) -> bytes:
        parts = self.parts
        stood = self.heading
        new = replace(self.new, title="") if self.is_bare else self.new
        tags = {*stood.tags, *body_tags}
        is_same = (stood.type, stood.title, tags) == (new.type, new.title, set(new.tags))
        if is_same and not self.has_new_time:
            return self.block[: parts.line_end]
        if MASK in self.masked[: parts.line_end]:
            raise self.holds_private()
        time = new.time if self.has_new_time else self.block[slice(*parts.time)].decode()
        return _heading(new, time, self.mark.level, stood.tags, body_tags).encode()

    def _comment(self, own: list[str]) -> bytes:
        """Returns the bytes between heading and body; the entry's comment in them is rewritten
        if it changed. `own` are the hashes of the body's H2s.
        """
        block = self.block
        parts = self.parts
        new = self.new
        rest = block[parts.line_end : parts.head_end]
        before = self.eol
        after = rest
        stood = {}
        if parts.comment_at >= 0:
            before = block[parts.line_end : parts.comment_at]
            after = block[parts.comment_end : parts.head_end]
            written = block[parts.comment_at : parts.comment_end]
            stood = read_comment(written.decode("utf-8", "replace")).raw
        if new.derived_id:
            return rest
        counted = own if stood.keys() & {"h2", "own"} else None
        at = stood.get("at")
        if at and new.at != self.old.at:
            at = new.at.isoformat(timespec="seconds")
        return before + write_comment(new, at, counted).encode() + after

    def holds_private(self) -> Refused:
        place = self.old.place
        where = f"{place.path}:{place.line}" if place else self.old.id
        return Refused(
            "{where} holds private text, so only a person may change its words, by editing "
            "the file; nothing was changed.",
            "Append to it, or save a new entry that supersedes it.",
            where=where,
        )


def _reads_as_entry(block: bytes, new: Entry, *, dated: bool) -> bool:
    """True if a block reads as exactly this entry, with its tags in any order. `dated`: its
    heading may begin with a date.
    """
    read = parse_entries(block, "", mtime=new.at, block=True, dated=dated).entries
    if len(read) != 1 or set(read[0].tags) != set(new.tags):
        return False
    return read[0] == replace(
        new, id=read[0].id if new.derived_id else new.id, at=read[0].at, tags=read[0].tags
    )


def _leaves_next_entry_readable(block: bytes) -> bool:
    """True if an entry that a person types below this block would be read as an entry."""
    read = parse_entries(block + b"\n\n## 00:00 below\n", "", mtime=_ANY_TIME).entries
    return bool(read) and read[-1].title == "below"


def _extract_private_text(block: bytes) -> bytes:
    """All private text of a block, in order, without line ends, because an edit may join
    passages.
    """
    return b"".join(
        block[start:end].translate(None, b"\r\n")
        for start, end in private_spans(mask_private(block))
    )
