"""Merges three versions of one entry: heading, comment and body. Pure.

| ours                     | theirs                   | result                                 |
|--------------------------|--------------------------|----------------------------------------|
| one part edited          | another part edited      | both edits; the parts: day, time,      |
|                          |                          | type, title, tags, each mark, each     |
|                          |                          | line                                   |
| another day or time      | yet another one          | ours, and a decision                   |
| the sentence edited      | a text added below it    | both texts, in a conflict              |
| the title in the heading | the same words in the    | both texts, in a conflict              |
| edited                   | body edited              |                                        |
| edited                   | edited otherwise         | both texts, in a conflict              |
| a conflict settled       | settled otherwise        | both texts, in a conflict              |

An entry whose heading is its first sentence says one thing: heading and body are one text.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from ...models import TYPES
from ...notes.blocks import LONE_CR, closing_line, escape_entry_borders, unify_newlines
from ...notes.conflicts import find_conflicts
from ...notes.header import derive_title, read_heading
from ...notes.markdown import hashes_of_h2s
from ...notes.privacy import has_private_tag
from .line_merge import (
    Clash,
    Merged,
    are_plain,
    carry_links,
    clashes_of,
    join_lines,
    merge_lines,
    merge_names,
    reads_alike,
    words_of,
)
from .pieces import Decision, Piece, find_line_end

NOTHING = Piece(b"", b"", b"", b"")
_TYPE = re.compile(rb"(?i)[ \t]*(?:%b)(?::|(?=[ \t]*\Z|[ \t]+#))" % "|".join(TYPES).encode())
_COMMENT = re.compile(rb"(\s*<!--[ \t]*)(.*?)([ \t]*-->[ \t]*)", re.DOTALL)
_AT = re.compile(rb"(?<=[ \t])at=([0-9-]{10})(\S*)")
_CLOCK = re.compile(rb"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?")
_LISTS = (b"files", b"supersedes")
_COUNTS_OF_H2S = (b"h2", b"own")


def merge_piece(base: Piece | None, ours: Piece, theirs: Piece, *, may_join: bool) -> Piece:
    """Merges an entry. Where both sides changed it and not `may_join`, the result holds both
    texts in a conflict.
    """
    was = base or NOTHING
    # a passage that begins in a head may end in the body
    is_private = any(has_private_tag(piece.head) for piece in (was, ours, theirs))
    decisions: tuple[Decision, ...] = ()
    if base and not is_private:
        was, ours, theirs, decisions = _settle_time(was, ours, theirs)
    done = _take_changed_side(was, ours, theirs)
    is_joined = may_join and base is not None and not is_private
    if not done and is_joined and not _is_settled_twice(was, ours, theirs):
        done = _join_entry(was, ours, theirs)
    done = done or _keep_both(ours, theirs, is_private=is_private)
    return replace(done, decisions=decisions)


def _settle_time(
    base: Piece, ours: Piece, theirs: Piece
) -> tuple[Piece, Piece, Piece, tuple[Decision, ...]]:
    """The three versions with one day and time. That which one side alone changed is taken; of
    two others ours stands, and a decision names both.
    """
    times = [_read_time(piece) for piece in (base, ours, theirs)]
    if times[0] == times[1] == times[2]:
        return base, ours, theirs, ()
    days = [time[0] for time in times]
    clocks = [time[1] for time in times]
    day = _merge_bytes(*days)
    clock = clocks[2] if clocks[1] == clocks[0] else clocks[1]
    is_disputed = clocks[0] != clocks[1] != clocks[2] != clocks[0]
    sides = [_with_time(piece, day or days[1], clock) for piece in (base, ours, theirs)]
    decisions: tuple[Decision, ...] = ()
    if day is None or is_disputed:
        values = [_show_time(piece, with_clock=is_disputed) for piece in (ours, theirs)]
        if values[0] != values[1]:
            decisions = (Decision("time", ours.key, "", *values),)
    return sides[0], sides[1], sides[2], decisions


def _read_time(piece: Piece) -> tuple[bytes, tuple[bytes, bytes]]:
    """The day in the comment of an entry; its time in the heading and in the comment."""
    at = _AT.search(piece.comment)
    return at[1] if at else b"", (piece.heading[: piece.title_at], at[2] if at else b"")


def _with_time(piece: Piece, day: bytes, clock: tuple[bytes, bytes]) -> Piece:
    heading = clock[0] + piece.heading[piece.title_at :]
    comment = _AT.sub(lambda _: b"at=" + day + clock[1], piece.comment, count=1)
    return replace(piece, heading=heading, title_at=len(clock[0]), comment=comment)


def _show_time(piece: Piece, *, with_clock: bool) -> str:
    """The day of an entry as people write it, with its time."""
    day, (heading, _) = _read_time(piece)
    date = day.decode() or (f"{piece.at:%Y-%m-%d}" if piece.at else "")
    clock = _CLOCK.search(heading)
    return f"{date} {clock[0].decode()}" if with_clock and clock else date


def merge_text(base: Piece, ours: Piece, theirs: Piece) -> Piece:
    """Merges a text without a heading, such as that above the first entry, line by line. A text
    that one side took out stays if the other side changed more than its links.
    """
    done = _take_changed_side(base, ours, theirs)
    for side, other in ((ours, theirs), (theirs, ours)):
        if not done and base.text.strip() and not other.text.strip():
            is_edited = words_of(side.text) != words_of(base.text)
            done = replace(side if is_edited else other, gap=ours.gap or theirs.gap)
    if not done and not _is_settled_twice(base, ours, theirs):
        done = _join_text(base, ours, theirs)
    return done or _keep_both(ours, theirs, is_private=False)


def _take_changed_side(base: Piece, ours: Piece, theirs: Piece) -> Piece | None:
    """The side that alone changed a piece, or either of two equal ones."""
    if theirs.text in (ours.text, base.text):
        return ours
    return replace(theirs, gap=ours.gap or theirs.gap) if ours.text == base.text else None


def _is_settled_twice(base: Piece, ours: Piece, theirs: Piece) -> bool:
    """True if both sides changed a conflict that stood in a text. Each chose another version,
    and line by line both would be gone.
    """
    was, *sides = (
        unify_newlines(piece.text.decode("latin-1")) for piece in (base, ours, theirs)
    )
    texts = [was[one.start : one.end].strip() for one in find_conflicts(was)]
    return any(all(text not in side for side in sides) for text in texts)


def conflict_text(ours: bytes, theirs: bytes, eol: bytes) -> bytes:
    """Returns both texts between git's conflict markers. An open code fence or comment of ours
    is closed before theirs begins, so that each text is as private as it was alone.
    """
    lines = [b"<<<<<<< first version", ours.strip(b"\r\n"), b"======="]
    text = LONE_CR.sub("\n", ours.decode("latin-1"))
    if closing := closing_line(text):
        lines.append(closing.encode("latin-1"))
    lines += [theirs.strip(b"\r\n"), b">>>>>>> second version"]
    return eol.join(lines)


def _keep_both(ours: Piece, theirs: Piece, *, is_private: bool) -> Piece:
    """Our entry with both texts in a conflict, with their headings if these differ."""
    texts = [ours.body, theirs.body]
    if is_private:
        texts[1] = _text_with_head(theirs)
    elif theirs.head != ours.head:
        texts = [_text_with_head(ours), _text_with_head(theirs)]
    eol = find_line_end(ours.text)
    above = eol if ours.heading else b""
    return replace(ours, body=above + conflict_text(texts[0], texts[1], eol), conflicts=1)


def _text_with_head(piece: Piece) -> bytes:
    """Returns the whole text of an entry, as a text within an entry."""
    head, _ = escape_entry_borders(piece.head.decode("latin-1"), typed=True)
    return head.encode("latin-1") + piece.body


# -- a text without a heading
# ----------------------------------------------------------------------------


def _join_text(base: Piece, ours: Piece, theirs: Piece) -> Piece | None:
    """Merges a text without a heading line by line; lines that clash are a conflict each. None
    if code or a private passage would not stay what it is.
    """
    bodies = base.body, ours.body, theirs.body
    merged = merge_lines(*bodies)
    clashes = clashes_of(merged)
    if not clashes:
        is_same = reads_alike(merged, b"", bodies)
        return replace(ours, body=join_lines(merged)) if is_same else None
    if any(map(has_private_tag, bodies)) or not are_plain(clashes, bodies):
        return None
    body = _join_with_conflicts(merged, find_line_end(ours.body))
    return replace(ours, body=body, conflicts=len(clashes))


def _join_with_conflicts(merged: Merged, eol: bytes) -> bytes:
    parts: list[bytes] = []
    for part in merged:
        if isinstance(part, Clash):
            one, other = (b"".join(line.data for line in lines) for lines in part)
            is_paragraph = any(lines and not lines[0].text.strip() for lines in part)
            above = eol * (2 if is_paragraph else 1)
            parts += [above if parts else b"", conflict_text(one, other, eol)]
        else:
            parts.append(part.data)
    return b"".join(parts)


# -- the parts of an entry
# ----------------------------------------------------------------------------


class _Heading(NamedTuple):
    """A heading in its parts, which joined are its bytes but for blanks at its end."""

    time: bytes
    type: bytes
    title: bytes
    tags: list[bytes]


def _join_entry(base: Piece, ours: Piece, theirs: Piece) -> Piece | None:
    """Merges an entry part by part; None if both sides changed one, or if heading and body
    would not say the same.
    """
    if _is_sentence_lost(base, ours, theirs):
        return None
    heading = _merge_heading(base, ours, theirs)
    body = _merge_bodies(base, ours, theirs)
    if heading is None or body is None:
        return None
    is_of_both = body not in (ours.body, theirs.body)
    comment = _merge_comments(base, ours, theirs, body if is_of_both else None)
    if comment is None:
        return None
    entry = replace(ours, heading=heading, comment=comment, body=body)
    if is_one_text(ours) and is_one_text(theirs) and not is_one_text(entry):
        return None
    return entry


def _merge_bytes(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """One of the sides, if the other is as the base or as that side; else None."""
    if theirs in (base, ours):
        return ours
    return theirs if ours == base else None


def _merge_bodies(base: Piece, ours: Piece, theirs: Piece) -> bytes | None:
    bodies = base.body, ours.body, theirs.body
    body = _merge_bytes(*bodies)
    if body is None:
        merged = merge_lines(*bodies)
        if not clashes_of(merged) and reads_alike(merged, ours.head, bodies):
            body = join_lines(merged)
    return body


def _merge_heading(base: Piece, ours: Piece, theirs: Piece) -> bytes | None:
    heading = _merge_bytes(base.heading, ours.heading, theirs.heading)
    if heading is not None:
        return heading
    was, mine, other = map(_split_heading, (base, ours, theirs))
    time = _merge_bytes(was.time, mine.time, other.time)
    type = _merge_bytes(was.type, mine.type, other.type)
    titles = was.title, mine.title, other.title
    title = _merge_bytes(*titles)
    if title is None:
        title = carry_links(*titles)
    if title is None:
        title = carry_links(titles[0], titles[2], titles[1])
    if time is None or type is None or title is None:
        return None
    tags = merge_names(was.tags, mine.tags, other.tags)
    return time + type + title + b"".join(b" " + tag for tag in tags)


def _split_heading(piece: Piece) -> _Heading:
    begin = piece.title_at
    kind = _TYPE.match(piece.heading, begin)
    title_at = kind.end() if kind else begin
    words = piece.heading[title_at:].split()
    count = 0
    while count < len(words) and words[-1 - count].rfind(b"#") == 0:
        count += 1
    rest = piece.heading[title_at:]
    title = rest.rsplit(None, count)[0] if count < len(words) else b""
    return _Heading(
        piece.heading[:begin],
        piece.heading[begin:title_at],
        title.rstrip(b" \t"),
        words[len(words) - count :],
    )


def _merge_comments(
    base: Piece, ours: Piece, theirs: Piece, body: bytes | None
) -> bytes | None:
    """Merges the marks in the comments of an entry, each by itself. `body` is the merged body,
    whose H2s are counted anew; None if it is that of one side.
    """
    comment = _merge_bytes(base.comment, ours.comment, theirs.comment)
    if comment is not None and body is None:
        return comment
    matches = [_COMMENT.fullmatch(piece.comment) for piece in (base, ours, theirs)]
    form = matches[1] or matches[2]
    if not form:
        return comment
    was, mine, other = (_read_marks(match[2] if match else b"") for match in matches)
    marks: dict[bytes, bytes] = {}
    for name in {**mine, **other}:
        values = [marks_there.get(name, b"") for marks_there in (was, mine, other)]
        mark = _merge_bytes(*values)
        if mark is None and name in _LISTS:
            lists = [value.partition(b"=")[2].split(b",") for value in values]
            mark = name + b"=" + b",".join(filter(None, merge_names(*lists)))
        if mark is None and (name not in _COUNTS_OF_H2S or body is None):
            return None
        marks[name] = mark or b""
    if body is not None and (b"h2" in marks or b"own" in marks):
        own = hashes_of_h2s(body)
        marks[b"h2"] = f"h2={len(own)}".encode()
        marks[b"own"] = f"own={','.join(own)}".encode() if own and b"own" in marks else b""
    return form[1] + b" ".join(filter(None, marks.values())) + form[3]


def _read_marks(comment: bytes) -> dict[bytes, bytes]:
    """The words of a comment by their names; the id has the name `syn:`."""
    return {
        b"syn:" if word.startswith(b"syn:") else word.partition(b"=")[0]: word
        for word in comment.split()
    }


# -- an entry that is one sentence
# ----------------------------------------------------------------------------


def is_one_text(piece: Piece) -> bool:
    """True if an entry is its heading alone, or if its heading is the beginning of its text."""
    title = _title(piece)
    body = unify_newlines(piece.body.decode("utf-8", "replace")).strip()
    return not body or body.startswith(title) or title == derive_title(body)


def _title(piece: Piece) -> str:
    heading = piece.heading[piece.title_at :].decode("utf-8", "replace")
    return read_heading(heading.strip()).title


def _is_sentence_lost(base: Piece, ours: Piece, theirs: Piece) -> bool:
    """True if one side wrote another sentence into an entry which is a sentence alone, and the
    other side changed its text, which went with the sentence that stood there.
    """
    if base.body.strip():
        return False
    sentences = [words_of(_split_heading(piece).title) for piece in (base, ours, theirs)]
    texts = [words_of(piece.body) for piece in (base, ours, theirs)]
    if sentences[1] == sentences[2]:
        return False
    both = [*zip(sentences, texts, strict=True)]
    return both[1] != both[0] and both[2] != both[0]
