"""Tells whether an older text of an entry came back over its saved one."""

from collections import Counter
from collections.abc import Iterable

from .comments import iter_comments
from .text import normalize_block
from .trash import TrashedText


def has_vanished(now: bytes, saved: bytes, pieces: Iterable[TrashedText]) -> bool:
    """True if the text `now` of an entry seems to be one from before its `saved` text. `pieces`
    are those of the entry.

    A saved text that was replaced before is an older one that came back: the trash holds it, so
    nothing is lost by an edit of it.
    """
    older: list[bytes] = []
    replaced: set[bytes] = set()
    for piece in pieces:
        text = normalize_block(piece.text)
        older.append(text)
        if piece.why not in ("opened", "vanished"):
            replaced.add(text)
    # a typed text has no comment before it is changed
    has_come_back = saved in replaced or _without_comment(saved) in replaced
    if now.strip() and has_come_back:
        return False
    return not is_later_text(now, saved, older)


def is_later_text(now: bytes, saved: bytes, older: Iterable[bytes]) -> bool:
    """True if the text `now` equals `saved` or seems to be an edit of it. False if its words
    are nearer to a text in `older` or to an empty text, or if it is `saved` cut off within a
    line, which an editor shows that has read half of the file.
    """
    rest = saved.removeprefix(now.rstrip(b"\n"))
    if rest != saved and not rest.startswith(b"\n"):
        return False
    distance = _word_distance(now, saved)
    return all(_word_distance(now, text) >= distance for text in (b"", *older))


def _word_distance(one: bytes, other: bytes) -> int:
    words = Counter(one.split())
    others = Counter(other.split())
    return ((words - others) + (others - words)).total()


def _without_comment(block: bytes) -> bytes:
    """The block of an entry without the line of the comment that carries its id."""
    for _, at in iter_comments(block):
        return block[:at] + block[at:].partition(b"\n")[2]
    return block
