"""The attachments beside the notes that may be sent to a browser or put into a zip.

| a file                                          | is given away                        |
|-------------------------------------------------|--------------------------------------|
| of the journal or of a folder in `sources`      | if its name ends as in `ATTACHMENTS` |
| in a folder that begins with a dot, or that fits `exclude` | never                     |
| of the home, and that with the tokens           | never                                |
| with a name such as `x.md.txt`                  | never: it may be a note's copy       |
| in which `<private` stands, unless it is a picture | never: it may be a note's copy    |
| of more than PICTURE_BYTES                      | never                                |

Symbolic links are resolved first: both the name and the file itself must pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple

from ..errors import JournalError
from ..files import ATTACHMENTS, PICTURE_BYTES, open_regular_file, picture_media_type, real_path
from .folder import OWN, Roots, path_held_open

OTHER = "application/octet-stream"
"""The kind of a file that is not a picture."""
_NOTE_WITHIN = re.compile(r"(?i)\.(?:md|markdown)(?![a-z0-9])")
"""`2026-11-20.md.txt`, `Tea.md (copy).csv`; not `x.mdb.zip`."""
_PRIVATE = re.compile(b"(?i)" + rb"\0{0,3}".join(re.findall(b".", b"<private")))
"""`<private` in UTF-8, UTF-16 and UTF-32. To take zeros out first costs up to 0.4 s a file."""
_READ_BYTES, _TAG_BYTES = 1_048_576, 40


class ServableFiles(NamedTuple):
    """The attachments in `roots` that may be served; files in the folders `closed` may not."""

    roots: Roots
    closed: Sequence[Path]

    def open(self, place: str) -> tuple[str, BinaryIO] | None:
        """(kind, file) of the attachment at this path of the journal: the media type of a
        picture, else OTHER. None where nothing may be given away.
        """
        name, _, within = self.roots.split_path(place)
        if name in self.roots.single or name in OWN[1:] or not _is_attachment(within):
            return None
        if self.roots.withholds(within):
            return None
        with suppress(JournalError, OSError), path_held_open(self.roots, place) as path:
            file = open_regular_file(path, follow=False)
            kind = picture_media_type(file.read(32)) or OTHER
            is_small = os.fstat(file.fileno()).st_size <= PICTURE_BYTES
            may_go = is_small and self._may_serve(name, real_path(path))
            if may_go and (kind != OTHER or not _mentions_private(file)):
                file.seek(0)
                return kind, file
            file.close()
        return None

    def _may_serve(self, name: str, real: Path) -> bool:
        """True if the file, its links resolved, may be given away by its place in this root."""
        if not _is_attachment(real.name):
            return False
        for folder in map(real_path, self.roots.folders.values()):
            is_inside = real.is_relative_to(folder)
            if is_inside and self.roots.withholds(real.relative_to(folder).as_posix()):
                return False
        root = real_path(self.roots.folders[name])
        for closed in self.closed:
            is_around = not name and closed.is_dir() and real_path(closed) in root.parents
            if not is_around and _is_inside(real, closed):
                return False
        return True


def is_home_exposed(journal: Path, home: Path) -> bool:
    """True if the home is the journal, or lies in it in no folder that begins with a dot: then
    whoever shares or copies the notes takes its tokens along.
    """
    real = real_path(home)
    below = [folder.name for folder in (real, *real.parents) if _is_inside(folder, journal)]
    return bool(below) and not any(name.startswith(".") for name in below[:-1])


def _is_attachment(path: str) -> bool:
    name = PurePath(path).name
    return PurePath(name).suffix.lower() in ATTACHMENTS and not _NOTE_WITHIN.search(name)


def _is_inside(real: Path, closed: Path) -> bool:
    """True if the file is `closed`, or lies below it; in any spelling that the system takes."""
    for each in (real, *real.parents):
        with suppress(OSError):
            if each.samefile(closed):
                return True
    return False


def _mentions_private(file: BinaryIO) -> bool:
    """True if a `<private` stands in the file, in any of the encodings of `_PRIVATE`."""
    file.seek(0)
    before = b""
    while part := file.read(_READ_BYTES):
        data = before + part
        if _PRIVATE.search(data):
            return True
        before = data[-_TAG_BYTES:]
    return False
