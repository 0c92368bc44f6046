"""Reads an export: a folder, one file, or a zip and the zips in it.

Nothing is unpacked into a folder, and no link is followed.
"""

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from ....errors import InvalidArgument
from ....files import open_regular_file
from ....notes.picture_kinds import PICTURE_BYTES
from .record import Record, Skipped, report_errors
from .source import FILE_BYTES, UNPACKED_BYTES, find_files, modification_time, relative_to_home

BOMB_BYTES, BOMB_RATIO = 100_000_000, 200
"""A zip is refused if one file in it exceeds both limits: unpacked bytes, and their ratio to
the packed bytes. JSON shrinks to a tenth.
"""
INNER_BYTES, INNER_RATIO = 10_000_000, 10
"""The same two limits for a zip inside a zip, which is already packed and is copied to the
disk.
"""
UNPACKED_RATIO = 20
"""A zip may unpack to UNPACKED_BYTES, or to this many times its own size if that is less."""
EPOCH = datetime(1980, 1, 1)
"""The earliest date that a zip can store, used for a file whose date is invalid."""
ZIP_ERRORS = (OSError, RuntimeError, ValueError, NotImplementedError, zipfile.BadZipFile)


class ExportedFile(NamedTuple):
    """A file in an export. `at`: the time of its last change, naive, in the local zone.
    `place`: its path, from the home folder on; within a zip from the zip on. `size`: the number
    of its bytes, -1 if it is not known.
    """

    open: Callable[[], IO[bytes]]
    at: datetime
    place: str = ""
    size: int = -1

    def read(self, max_bytes: int = FILE_BYTES) -> bytes:
        """Returns the bytes of the file. Raises ValueError for more than `max_bytes`."""
        with self.open() as stream:
            data = stream.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise ValueError(f"it is larger than {max_bytes >> 20} MB")
        return data


class Export(dict[str, ExportedFile]):
    """The files of a folder or zip by their relative paths. `wanted` names those that a reader
    shall read; None: those of which it knows the names. It notes in `attached` the pictures
    that it takes along; an export that is made of another shares these notes.
    """

    def __init__(
        self, at: Path, files: Mapping[str, ExportedFile], wanted: Collection[str] | None = None
    ) -> None:
        super().__init__(files)
        self.at = at
        self.wanted = wanted
        self.attached: set[str] = files.attached if isinstance(files, Export) else set()

    def __str__(self) -> str:
        return str(self.at)

    def names(self, is_read: Callable[[str], bool]) -> list[str]:
        """The names of the files that are to be read: the wanted ones, else those for which
        `is_read` is true.
        """
        return [*filter(is_read, self)] if self.wanted is None else [*self.wanted]

    def picture(self, name: str) -> Callable[[], bytes]:
        """Returns a function that reads a picture, and notes that it is taken along."""
        self.attached.add(name)
        return partial(self[name].read, PICTURE_BYTES)


def open_export(path: Path | Export, skipped: Skipped) -> Export:
    """Opens an export; one that is open already stays as it is. Raises InvalidArgument for an
    unreadable zip.
    """
    if isinstance(path, Export):
        return path
    paths = find_files(path, skipped, "*")
    if paths == [path]:
        stream = open_regular_file(path)
        try:
            if zipfile.is_zipfile(stream):
                left = max(UNPACKED_BYTES, UNPACKED_RATIO * path.stat().st_size)
                place = relative_to_home(path)
                return Export(path, dict(_list_zipped_files(stream, skipped, [left], place)))
        except ZIP_ERRORS as error:
            raise InvalidArgument(
                f"The zip {path} cannot be unpacked: {error}.", "Export or download it again."
            ) from error
        stream.close()
    top = path if path.is_dir() else path.parent
    return Export(
        path, {file.relative_to(top).as_posix(): file_on_disk(file) for file in paths}
    )


def file_on_disk(path: Path) -> ExportedFile:
    """The file at this path, as a file of an export."""
    opener = partial(open_regular_file, path)
    size = -1
    with suppress(OSError):
        size = path.stat().st_size
    return ExportedFile(opener, modification_time(path), relative_to_home(path), size)


def _list_zipped_files(
    file: IO[bytes], skipped: Skipped, left: list[int], place: str, *, inner: bool = False
) -> Iterator[tuple[str, ExportedFile]]:
    """Yields (name, file) of the files in the zip at `place`. `left` holds one number: the
    bytes that all zips together may still unpack.

    A file never gives more bytes than the zip says of it.
    """
    archive = zipfile.ZipFile(file)
    for info in archive.infolist():
        is_zip = info.filename.endswith(".zip") and not inner  # Notion packs twice
        limit, ratio = (INNER_BYTES, INNER_RATIO) if is_zip else (BOMB_BYTES, BOMB_RATIO)
        if info.file_size > max(limit, ratio * info.compress_size):
            raise ValueError(
                f"{info.filename} would unpack to {info.file_size:,} bytes, too many"
            )
        left[0] -= info.file_size
        if left[0] < 0:
            skipped(info.filename, "the zip holds too much; unpack it, and import the folder")
        elif is_zip:
            copy = tempfile.TemporaryFile()  # noqa: SIM115  open while one of its files is used
            with archive.open(info) as packed:
                shutil.copyfileobj(packed, copy)
            within = f"{place}/{info.filename}"
            yield from _list_zipped_files(copy, skipped, left, within, inner=True)
        elif not info.is_dir():
            opener = partial(archive.open, info)
            at = _time_in_zip(info)
            within = f"{place}/{info.filename}"
            yield info.filename, ExportedFile(opener, at, within, info.file_size)


def _time_in_zip(info: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*info.date_time)
    except ValueError:
        return EPOCH


def read_items(
    path: Path | Export,
    skipped: Skipped,
    items: Callable[[IO[bytes]], Iterable[Any]],
    records_of: Callable[[Any, str, Export], Iterable[Record]],
    *,
    patterns: Sequence[str] = ("*.json",),
    hint: str = "Name its zip, its folder or its JSON file.",
) -> Iterator[Record]:
    """Yields the records of each item of the files whose names match one of the patterns.

    `items` parses a file; `records_of(item, path of its file, files)` makes the records. Damage
    is reported to `skipped`. Raises InvalidArgument if no record can be read.
    """
    files = open_export(path, skipped)
    is_export = False
    for name in files.names(lambda name: any(map(PurePosixPath(name).match, patterns))):
        number = 0
        try:
            with files[name].open() as stream:
                for number, item in enumerate(items(stream), 1):
                    with report_errors(skipped, f"{name}, record {number}"):
                        yield from records_of(item, name, files)
                        is_export = True
        except Exception as error:  # of the disk, the zip and the parser
            skipped(name, f"it is damaged after its record {number}: {error}")
    if not is_export:
        raise InvalidArgument(
            f"{path} holds no data of the program that you import from.", hint
        )
