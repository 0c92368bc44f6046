"""Reads files that may come from anybody: regular files of limited size, and shallow JSON.

All readers read through this module. No real export comes near a limit; docs/IMPORT.md lists
the limits.
"""

import io
import json
import os
import re
from collections.abc import Iterator
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any

from ....journal.disk import DRAFTS
from ....journal.imports import UPLOADS
from .record import Skipped

DEEPEST = 100
"""The most levels of nested JSON lists and objects."""
RECORD_BYTES, RECORD_VALUES = 1 << 24, 500_000
"""The most bytes of one line, item or row, and the most values in it: memory grows with
both.
"""
FILE_BYTES = 1 << 26
"""The most bytes of a file that is read whole: a page, a note or a program's settings."""
UNPACKED_BYTES = 4_000_000_000
"""The most bytes that a packed file may unpack to."""
_CHUNK = 1 << 20
"""The number of characters of a list that are read at once."""
_STRING = re.compile(rb'(?s)"(?:[^"\\]++|\\.)*+"')
_NO_SIGN = bytes(set(range(256)) - set(b"[]{},"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1, ord(","): 0}
ENTRIES = r'\s*\{.*?"entries"\s*:\s*\['
"""A pattern for `read_json_items` that matches the beginning of an object up to its list
`entries`.
"""
_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[\s,\0]*")
_NEXT = re.compile(r"[\s,]*(\])?")


def find_files(folder: Path, skipped: Skipped, *patterns: str) -> list[Path]:
    """Returns the sorted regular files below a folder whose names match the patterns; for a
    file, the file itself.

    A link out of the folder and a file that is not regular are reported to `skipped`.
    """
    if not folder.is_dir():
        return [folder]
    files = []
    real = os.path.realpath(folder)

    def report(error: OSError) -> None:
        skipped(str(error.filename), str(error.strerror))

    for at, folder_names, file_names in os.walk(folder, onerror=report):
        names = [name for name in file_names if any(fnmatch(name, one) for one in patterns)]
        linked = [name for name in folder_names if Path(at, name).is_symlink()]
        for name in (*names, *linked):
            path = Path(at, name)
            target = os.path.realpath(path)
            if not Path(target).is_relative_to(real):
                why = f"it is a link out of the folder, to {target}; name that itself"
                skipped(str(path), why)
            elif path.is_file():
                files.append(path)
            elif name in names:
                skipped(str(path), "it is not a regular file")
    return sorted(files)


def is_upload(folder: Path) -> bool:
    """True for a folder with the files that a person gave to the page."""
    return folder.parent.name == DRAFTS and folder.name.startswith(UPLOADS)


def modification_time(path: Path) -> datetime:
    """Returns the time of a file's last change, naive, in the local zone; 1970 if the time is
    impossible.
    """
    try:
        return datetime.fromtimestamp(path.stat().st_mtime)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0)


def relative_to_home(path: Path) -> str:
    """Returns a path relative to the home folder, so that it is the same for another user
    name; of a file that was given to the page its name.
    """
    place = path.absolute()
    if is_upload(place.parent):
        return place.name
    home = Path.home()
    return (place.relative_to(home) if place.is_relative_to(home) else place).as_posix()


def read_json(data: object) -> Any:
    """Parses a JSON text within the limits.

    Raises ValueError if it is not JSON, or has too many levels, bytes or values.
    """
    if isinstance(data, bytes):
        data = data.decode()
    if not isinstance(data, str):  # a database may hold any value
        raise ValueError("it is not text")
    _check_limits(data)
    return json.loads(data)


def json_values(text: str, begin: str = "") -> Iterator[Any]:
    """The JSON values that follow each other in a line, as two writers at once leave them.

    A ValueError stands for a value that cannot be read, or goes beyond a limit. Behind it the
    next value begins with the text `begin`; without `begin` the rest is left out.
    """
    try:
        _check_limits(text)
    except ValueError as error:
        yield error
        return
    at = _next_value(text, 0)
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
        except ValueError as error:
            yield error
            at = text.find(begin, at + 1) if begin else -1
            if at < 0:
                return
        else:
            yield value
            at = _next_value(text, end)


def _next_value(text: str, at: int) -> int:
    between = _BETWEEN.match(text, at)
    assert between
    return between.end()


def _check_limits(record: str) -> None:
    data = record.encode("utf-8", "replace")
    if len(data) > RECORD_BYTES:
        raise ValueError(f"a record is longer than {RECORD_BYTES >> 20} MB")
    outside = _STRING.sub(b"", data + b'""')  # the quotes end an open string
    signs = outside.translate(None, _NO_SIGN)
    if len(signs) > RECORD_VALUES:
        raise ValueError(f"a record has more than {RECORD_VALUES:,} values")
    level = 0
    for sign in signs:
        level += _STEPS[sign]
        if level > DEEPEST:
            raise ValueError(f"a record has more than {DEEPEST} levels")


def read_json_items(begin: str, stream: IO[bytes]) -> Iterator[Any]:
    """Yields the items of the JSON list that follows the first match of the pattern `begin`,
    reading one item at a time.

    Raises ValueError where the JSON is damaged, and at an item beyond a limit.
    """
    file = io.TextIOWrapper(stream, "utf-8-sig", "replace")
    before = re.compile(begin + _NEXT.pattern, re.DOTALL)
    text = ""
    at = 0
    while True:
        try:
            gap = before.match(text, at)
            if not gap:
                raise ValueError("it holds no list of entries")
            if gap[1]:
                return
            item, end = _DECODER.raw_decode(text, gap.end())
        except RecursionError as error:
            raise ValueError(f"a record has more than {DEEPEST} levels") from error
        except ValueError:
            _check_limits(text[at:])
            more = file.read(max(_CHUNK, len(text) - at))
            if not more:
                raise
            text = text[at:] + more
            at = 0
            continue
        _check_limits(text[gap.end() : end])
        yield item
        before = _NEXT
        at = end
