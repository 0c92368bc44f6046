"""Joins, compares and places the bytes of entries. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from ..errors import JournalError, NotFound
from ..models import Entry, ParsedFile
from ..notes.blocks import usual_line_end


def normalize_block(text: bytes) -> bytes:
    """Returns `text` with LF line ends, without outer blank lines, and with one newline at its
    end: the form in which blocks are stored and compared.
    """
    return text.replace(b"\r\n", b"\n").strip(b"\r\n") + b"\n"


def block_to_append(path: str, block: bytes, data: bytes) -> bytes:
    """The bytes to append to a file with the content `data` so that `block` follows after one
    blank line, in the file's line ends. Raises JournalError for a file in UTF-16.
    """
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise JournalError(f"{path} is UTF-16.", "Convert it to UTF-8 and save again.")
    eol = usual_line_end(data[-4096:])
    block = block.replace(b"\n", eol)
    end = data[-4:].replace(b"\r\n", b"\n")
    if not end or end.endswith(b"\n\n"):
        return block
    if end.endswith((b"\n", b"\r")):
        return eol + block
    return eol + eol + block


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


def normalized_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Copies of the entries with sorted tags, and without blank lines and blanks at the end of
    a line, to be compared.
    """
    return [
        replace(
            entry,
            tags=tuple(sorted(entry.tags)),
            content="\n".join(filter(None, map(str.rstrip, entry.content.split("\n")))),
        )
        for entry in entries
    ]


def find_entry_span(file: ParsedFile, path: str, id: str) -> tuple[Entry, int, int]:
    """(the entry with this id, the byte offsets of its start and end). The span of a whole-file
    note at the top of the file includes the front matter. Raises NotFound.
    """
    for number, entry in enumerate(file.entries):
        if entry.id == id:
            begins = entry.whole_file and number == 0
            return entry, 0 if begins else entry.there.start, entry.there.end
    raise NotFound(
        f"{path} has no entry {id}.", "It was moved or deleted; search for it again."
    )


TOP = "top"
"""In the place of the id of the entry above the first one of a file."""


def id_above(file: ParsedFile, id: str) -> str:
    """The id of the entry above the entry with this id, or TOP."""
    above = TOP
    for entry in file.entries:
        if entry.id == id:
            break
        above = entry.id
    return above
