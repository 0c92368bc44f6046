"""A change of an entry, as the bytes say that were written.

Only code that writes a file makes a `WrittenEntry`, of the bytes that it has in hand and under
the write lock. What a person agreed to is taken from it, and from no second reading: between
the two somebody else may have written to the file.
"""

from typing import NamedTuple

from ..models import Entry, ParsedFile


class WrittenEntry(NamedTuple):
    """An entry before and after a change; None where it stood, or stands, nowhere. `path` is
    the file in which it stands now.
    """

    path: str
    before: Entry | None
    after: Entry | None


def find_in_parsed(parsed: ParsedFile, id: str) -> Entry | None:
    """The entry of a file that has this id, or None."""
    return next((entry for entry in parsed.entries if entry.id == id), None)
