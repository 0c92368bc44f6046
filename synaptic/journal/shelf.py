"""The attachments beside the notes that may be sent to a browser or put into a zip, and the
links of notes that lead to them.

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
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote

from ..errors import JournalError
from ..files import open_regular_file, real_path
from ..models import Entry
from ..notes.blocks import without_code
from ..notes.link_places import LinkPlace, find_link_places
from ..notes.picture_kinds import PICTURE_BYTES, PICTURES, picture_media_type
from .folder import OWN, Roots, path_held_open
from .left_out import withholds

ATTACHMENTS = frozenset(
    [suffix for *_, suffixes in PICTURES.values() for suffix in suffixes]
    + ".bmp .svg .tif .tiff".split()
    + ".aac .flac .m4a .mp3 .oga .ogg .opus .wav".split()
    + ".avi .m4v .mkv .mov .mp4 .mpg .webm".split()
    + ".djvu .doc .docx .epub .odp .ods .odt .pages .pdf .ppt .pptx .ps .rtf .xls .xlsx".split()
    + ".csv .drawio .eml .geojson .gpx .ics .json .kml .log .tsv .vcf".split()
    + ".htm .html .txt .xml".split()
    + ".7z .bin .bz2 .gz .tar .tgz .xz .zip".split()
)
"""The suffixes of files that the web page may send to a browser, as SERVE.md lists them. None
belongs to an editor's backup, a program, settings or keys.
"""
OTHER = "application/octet-stream"
"""The kind of a file that is not a picture."""
_NOTE_WITHIN = re.compile(r"(?i)\.(?:md|markdown)(?![a-z0-9])")
"""`2026-11-20.md.txt`, `Tea.md (copy).csv`; not `x.mdb.zip`."""
_PRIVATE = re.compile(b"(?i)" + rb"\0{0,3}".join(re.findall(b".", b"<private")))
"""`<private` in UTF-8, UTF-16 and UTF-32. To take zeros out first costs up to 0.4 s a file."""
_READ_BYTES, _TAG_BYTES = 1_048_576, 40
FileListing = Callable[[Path], Mapping[str, Sequence[str]]]
"""Maps the names of files below a folder to their paths in it."""


class ServableFiles(NamedTuple):
    """The attachments in `roots` that may be served; files in the folders `closed` may not."""

    roots: Roots
    closed: Sequence[Path]

    def open(self, inside: str) -> tuple[str, BinaryIO] | None:
        """(kind, file) of the attachment at this path of the journal: the media type of a
        picture, else OTHER. None where nothing may be given away.
        """
        name, _, within = self.roots.split_path(inside)
        if name in self.roots.single or name in OWN[1:] or not is_attachment(within):
            return None
        if withholds(self.roots, within, name) or not os.path.lexists(self.roots.place(inside)):
            return None
        with suppress(JournalError, OSError), path_held_open(self.roots, inside) as path:
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
        if not is_attachment(real.name):
            return False
        for root_name, parent in self.roots.folders.items():
            folder = real_path(parent)
            is_inside = real.is_relative_to(folder)
            within = real.relative_to(folder).as_posix() if is_inside else ""
            if is_inside and withholds(self.roots, within, root_name):
                return False
        root = real_path(self.roots.folders[name])
        for closed in self.closed:
            is_around = not name and closed.is_dir() and real_path(closed) in root.parents
            if not is_around and _is_inside(real, closed):
                return False
        return True


def files_by_name(folder: Path) -> Mapping[str, Sequence[str]]:
    """Maps file names to the paths of all files with that name below a folder; hidden files are
    left out.
    """
    paths = defaultdict(list)
    for parent, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        path = Path(parent).relative_to(folder)
        for file in files:
            paths[file].append((path / file).as_posix())
    return paths


def find_file(
    shelf: ServableFiles, name: str, path: str, listing: FileListing = files_by_name
) -> tuple[str, str, BinaryIO] | None:
    """Opens the attachment that a note at `path` calls `name`; returns (path in the journal,
    media type, file) or None.
    """
    for file_path in possible_file_paths(shelf.roots, name, path, listing):
        opened = shelf.open(file_path)
        if opened:
            return file_path, *opened
    return None


def possible_file_paths(
    roots: Roots, name: str, path: str, listing: FileListing = files_by_name
) -> Iterator[str]:
    """Yields the paths in the journal of the attachment that a note at `path` may call `name`:
    beside the note, from the journal's folder, and the only file whose path ends with it, as
    Obsidian writes links.
    """
    root, folder, note = roots.split_path(path)
    for spelling in filter(is_attachment, spellings_of(name)):
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(note), spelling))
        yield posixpath.join(root, beside)
        yield posixpath.join(root, spelling)
        same_name = listing(folder).get(posixpath.basename(spelling), ())
        matches = [file for file in same_name if f"/{file}".endswith(f"/{spelling}")]
        if len(matches) == 1:
            yield posixpath.join(root, matches[0])


def spellings_of(name: str) -> list[str]:
    """The names of a file that a link may mean by `name`, the likeliest first."""
    plain = unquote(name)
    names = (name, plain, unquote(name.partition("#")[0]), plain.partition("#")[0])
    return list(dict.fromkeys(names))


def linked_files(
    shelf: ServableFiles, entry: Entry, listing: FileListing
) -> Iterator[tuple[LinkPlace, str]]:
    """Yields each link of an entry that leads to an attachment, with its path in the
    journal.
    """
    for link in find_link_places(without_code(entry.content)):
        file = find_file(shelf, link.target, entry.path, listing)
        if file:
            file[2].close()
            yield link, file[0]


def is_home_exposed(journal: Path, home: Path) -> bool:
    """True if the home is the journal, or lies in it in no folder that begins with a dot: then
    whoever shares or copies the notes takes its tokens along.
    """
    real = real_path(home)
    below = [folder.name for folder in (real, *real.parents) if _is_inside(folder, journal)]
    return bool(below) and not any(name.startswith(".") for name in below[:-1])


def is_attachment(path: str) -> bool:
    """True if the name of a file ends as in `ATTACHMENTS`, and is none of a copy of a note."""
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
