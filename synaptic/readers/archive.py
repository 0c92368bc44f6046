"""An export as its files: a folder, one file, or a zip and the zips in it. Nothing is unpacked, no link followed."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from io import FileIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from ..errors import InvalidArgument
from .record import Record, Skipped

BOMB_BYTES, BOMB_RATIO = 100_000_000, 200
"""A zip is refused in which a file unpacks to more than this and than 200 times its size; JSON shrinks to a tenth."""


class File(NamedTuple):
    """A file of an export. `at` is when it was last changed, or put into its zip; naive, in the local zone."""

    open: Callable[[], IO[bytes]]
    at: datetime

    def read(self) -> bytes:
        with self.open() as stream:
            return stream.read()


def files_of(path: Path) -> dict[str, File]:
    """The files of an export by their paths in it. Raises InvalidArgument for a zip that cannot be read."""
    try:
        if zipfile.is_zipfile(path):
            return dict(_packed(path.open("rb")))
    except (OSError, RuntimeError, ValueError, zipfile.BadZipFile) as error:
        raise InvalidArgument(f"{path} cannot be unpacked: {error}.", hint="Download it again.") from error
    found = [one for one in sorted(path.rglob("*")) if one.is_file() and not one.is_symlink()] or [path]
    top = path if path.is_dir() else path.parent
    times = {one: datetime.fromtimestamp(one.stat().st_mtime) for one in found}
    return {one.relative_to(top).as_posix(): File(partial(FileIO, one), at) for one, at in times.items()}


def _packed(file: IO[bytes], *, depth: int = 0) -> Iterator[tuple[str, File]]:
    archive = zipfile.ZipFile(file)
    for info in archive.infolist():
        if info.file_size > max(BOMB_BYTES, BOMB_RATIO * info.compress_size):
            raise ValueError(f"{info.filename} would be {info.file_size:,} bytes")
        if info.filename.endswith(".zip") and depth == 0:  # Notion packs twice
            inner = tempfile.TemporaryFile()  # noqa: SIM115  it is read as long as somebody holds one of its files
            with archive.open(info) as packed:
                shutil.copyfileobj(packed, inner)
            yield from _packed(inner, depth=1)
        elif not info.is_dir():
            yield info.filename, File(partial(archive.open, info), datetime(*info.date_time))


def read_items(
    path: Path,
    skipped: Skipped,
    items: Callable[[IO[bytes]], Iterable[Any]],
    take: Callable[[Any, str, Mapping[str, File]], Iterable[Record]],
    *,
    named: str = "*.json",
    hint: str = "Name its zip, its folder or its JSON file.",
) -> Iterator[Record]:
    """What `take(item, path of its file, files)` makes of each of the `items` of the files that are `named` so.

    What is damaged is told to `skipped`. Raises InvalidArgument where nothing can be taken.
    """
    files, taken = files_of(path), False
    for name in filter(lambda name: PurePosixPath(name).match(named), files):
        number = 0
        try:
            with files[name].open() as stream:
                for number, item in enumerate(items(stream), 1):
                    try:
                        yield from take(item, name, files)
                        taken = True
                    except Exception as error:  # whatever it lacks or has too much
                        why = f"it lacks {error}" if isinstance(error, KeyError) else f"it makes no sense: {error!r}"
                        skipped(f"{name}, record {number}", why)
        except Exception as error:  # of the disk, the zip and the parser
            skipped(name, f"it is damaged after its record {number}: {error}")
    if not taken:
        raise InvalidArgument(f"{path} is no such export.", hint=hint)


def json_items(prefix: str, stream: IO[bytes] | bytes) -> Iterator[Any]:
    """What stands in JSON under a prefix of ijson, such as `entries.item`, read as a stream."""
    import ijson

    yield from ijson.items(stream, prefix, use_float=True)
