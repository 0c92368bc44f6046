"""Joins, compares and places the bytes of entries. Pure."""

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


def find_entry_span(file: ParsedFile, path: str, id: str) -> tuple[Entry, int, int]:
    """(the entry with this id, the byte offsets of its start and end). The span of a whole-file
    note at the top of the file includes the front matter. Raises NotFound.
    """
    for number, entry in enumerate(file.entries):
        if entry.id == id:
            begins = entry.whole_file and number == 0
            return entry, 0 if begins else entry.there.start, entry.there.end
    raise NotFound(
        "{path} has no entry {id}.",
        "It was moved or deleted; search for it again.",
        path=path,
        id=id,
    )
