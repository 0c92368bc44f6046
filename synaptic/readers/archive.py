"""An export as its files: a folder, one file, or a zip and the zips in it. Nothing is unpacked,
no link followed.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, cast

from ..errors import InvalidArgument
from ..files import open_regular
from .record import Record, Skipped, told
from .source import FILE_BYTES, Unpacked, budget_of, changed_at, files_below

BOMB_BYTES, BOMB_RATIO = 100_000_000, 200
"""A zip is refused in which a file unpacks to more than this and than 200 times its size; JSON
shrinks to a tenth.
"""
INNER_BYTES, INNER_RATIO = 10_000_000, 10
"""The same of a zip in a zip, which is packed already, and is copied to the disk."""
EPOCH = datetime(1980, 1, 1)
"""The first day of zips: one that is no day counts as this."""


class File(NamedTuple):
    """A file of an export. `at` is when it was last changed, or put into its zip; naive, in the
    local zone.
    """

    open: Callable[[], IO[bytes]]
    at: datetime

    def read(self, most: int = FILE_BYTES) -> bytes:
        """Its bytes. Raises ValueError where there are more than `most`."""
        with self.open() as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise ValueError(f"it is larger than {most >> 20} MB")
        return data


def files_of(path: Path, skipped: Skipped) -> dict[str, File]:
    """The files of an export by their paths in it. Raises InvalidArgument for a zip that cannot
    be read.
    """
    found = files_below(path, skipped, "*")
    if found == [path]:
        file = open_regular(path)
        try:
            if zipfile.is_zipfile(file):
                return dict(_packed(file, budget_of(path)))
        except (
            OSError,
            RuntimeError,
            ValueError,
            NotImplementedError,
            zipfile.BadZipFile,
        ) as error:
            raise InvalidArgument(
                f"{path} cannot be unpacked: {error}.", hint="Download it again."
            ) from error
        file.close()
    top = path if path.is_dir() else path.parent
    return {
        one.relative_to(top).as_posix(): File(partial(open_regular, one), changed_at(one))
        for one in found
    }


def _packed(file: IO[bytes], left: list[int], *, depth: int = 0) -> Iterator[tuple[str, File]]:
    archive = zipfile.ZipFile(file)
    for info in archive.infolist():
        inner = info.filename.endswith(".zip") and depth == 0  # Notion packs twice
        most, ratio = (INNER_BYTES, INNER_RATIO) if inner else (BOMB_BYTES, BOMB_RATIO)
        if info.file_size > max(most, ratio * info.compress_size):
            raise ValueError(f"{info.filename} would be {info.file_size:,} bytes")
        if inner:
            copy = tempfile.TemporaryFile()  # noqa: SIM115  it is read as long as somebody holds one of its files
            with Unpacked(archive.open(info), left) as packed:
                shutil.copyfileobj(packed, copy)
            yield from _packed(copy, left, depth=1)
        elif not info.is_dir():
            yield info.filename, File(partial(_opened, archive, info, left), _packed_at(info))


def _opened(archive: zipfile.ZipFile, info: zipfile.ZipInfo, left: list[int]) -> IO[bytes]:
    return cast(IO[bytes], BufferedReader(Unpacked(archive.open(info), left)))


def _packed_at(info: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*info.date_time)
    except ValueError:
        return EPOCH


def read_items(
    path: Path,
    skipped: Skipped,
    items: Callable[[IO[bytes]], Iterable[Any]],
    take: Callable[[Any, str, Mapping[str, File]], Iterable[Record]],
    *,
    named: str = "*.json",
    hint: str = "Name its zip, its folder or its JSON file.",
) -> Iterator[Record]:
    """What `take(item, path of its file, files)` makes of each of the `items` of the files that
    are `named` so.

    What is damaged is told to `skipped`. Raises InvalidArgument where nothing can be taken.
    """
    files, taken = files_of(path, skipped), False
    for name in filter(lambda name: PurePosixPath(name).match(named), files):
        number = 0
        try:
            with files[name].open() as stream:
                for number, item in enumerate(items(stream), 1):
                    with told(skipped, f"{name}, record {number}"):
                        yield from take(item, name, files)
                        taken = True
        except Exception as error:  # of the disk, the zip and the parser
            skipped(name, f"it is damaged after its record {number}: {error}")
    if not taken:
        raise InvalidArgument(f"{path} is no such export.", hint=hint)
