"""Joins, compares and places the bytes of entries. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..errors import Ambiguous, JournalError, NotFound
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


def match_line_ends(present: bytes, text: bytes) -> bytes:
    """Returns `text` with the line ends of `present` and its number of line ends at the end."""
    eol = usual_line_end(present)
    ends = present[len(present.rstrip(b"\r\n")) :]
    return normalize_block(text)[:-1].replace(b"\n", eol) + (ends or eol)


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


def end_of_entry_above(above: str, here: Sequence[Entry]) -> int | None:
    """The offset at which an entry belongs that stood below the one with this id, or at the
    TOP; None where that one is gone, or is a note without a heading.
    """
    if above == TOP and here and not here[0].whole_file:
        return here[0].there.start
    ends = (entry.there.end for entry in here if entry.id == above and not entry.whole_file)
    return next(ends, None)


def insertion_offset(new: Entry, here: Sequence[Entry], end: int) -> int:
    """The offset at which an entry belongs: before the first of `here` that is later.

    In a diary in one file, which may begin with its latest day, it is below the entry before
    that: a heading of a month may stand between the two.
    """
    in_diary = new.date_source == "heading"
    latest_first = in_diary and len(here) > 1 and here[0].at > here[-1].at
    above = 0
    for entry in here:
        if entry.at < new.at if latest_first else entry.at > new.at:
            return above or entry.there.start
        if in_diary:
            above = entry.there.end
    return end


def resolve_short_id(id: str, candidates: Iterator[str], what: str) -> str:
    """Returns the id in `candidates` that `id` stands for: a whole id, or the first four or
    more of the eight characters after the dash. Raises NotFound, or Ambiguous if several fit;
    `what` names the list in the message.
    """
    ids = list(dict.fromkeys(candidates))
    short = id.lower().removeprefix("syn:")
    if short in ids:
        return short
    fitting = [one for one in ids if one.partition("-")[2].startswith(short)]
    if len(short) < 4 or not fitting:
        raise NotFound(
            f"{what} has no {id}.", valid=ids[:10], hint="" if ids else f"{what} is empty."
        )
    if len(fitting) > 1:
        raise Ambiguous(
            f"{id} fits {len(fitting)} entries.", valid=fitting[:10], hint="Give the whole id."
        )
    return fitting[0]
