"""What every reader reads through: regular files in the folder that was named, of a limited
size, and shallow JSON.

A file may come from anybody. No limit here is near what a real export holds; docs/IMPORT.md
names them.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
from collections.abc import Iterator
from datetime import datetime
from fnmatch import fnmatch
from itertools import accumulate
from pathlib import Path
from typing import IO, Any

from .record import Skipped

DEEPEST = 100
"""Levels of lists and objects within each other."""
RECORD_BYTES, RECORD_VALUES = 1 << 24, 500_000
"""A longer line, item or row is left out, and JSON of one with more commas and brackets: memory
grows with both.
"""
FILE_BYTES = 1 << 26
"""A file that is read whole, such as a page, a note or a program's settings."""
UNPACKED_BYTES, UNPACKED_RATIO = 4_000_000_000, 20
"""A packed file gives no more than this, or than 20 times its size: JSON shrinks to a tenth."""
_PART, _BUFFER = 1 << 16, 1 << 22
"""Bytes that are measured, and that are parsed, at once. The parser reads a string anew with
each buffer it spans.
"""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|([\]}])', re.DOTALL)
_NO_SIGN = bytes(set(range(256)) - set(b"[]{},"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def files_below(folder: Path, skipped: Skipped, *names: str) -> list[Path]:
    """The regular files below a folder that are called so, or the file of this name; sorted.

    A link that leads out of the folder is told, and so is whatever is no regular file.
    """
    if not folder.is_dir():
        return [folder]
    found, real = list[Path](), os.path.realpath(folder)

    def is_outside(path: Path) -> bool:
        target = os.path.realpath(path)
        if target != real and not target.startswith(f"{real.rstrip(os.sep)}{os.sep}"):
            skipped(str(path), f"it is a link out of the folder, to {target}; name that itself")
            return True
        return False

    for at, folders, files in os.walk(
        folder, onerror=lambda error: skipped(str(error.filename), str(error.strerror))
    ):
        for path in (Path(at, name) for name in folders if not name.startswith(".")):
            if path.is_symlink():
                is_outside(path)  # one that leads to a place inside is read there
        for path in (
            Path(at, name) for name in files if any(fnmatch(name, pattern) for pattern in names)
        ):
            if path.is_symlink() and is_outside(path):
                continue
            if is_regular(path):
                found.append(path)
            else:
                skipped(str(path), "it is no regular file")
    return sorted(found)


def is_regular(path: Path) -> bool:
    """Whether a regular file stands there, links followed."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def changed_at(path: Path) -> datetime:
    """When a file last changed, naive, in the local zone; 1970 where its time is beyond the
    calendar.
    """
    try:
        return datetime.fromtimestamp(path.stat().st_mtime)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0)


class Unpacked(io.RawIOBase):
    """A stream of unpacked bytes that ends with an error where more come than `left`, a list of
    one number, says.

    Several streams of one import share that number.
    """

    def __init__(self, stream: IO[bytes], left: list[int]) -> None:
        self._stream, self._left = stream, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._left[0] -= len(data)
        if self._left[0] < 0:
            raise ValueError(
                "it unpacks to more than an import may read; unpack it, and import the folder"
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def budget_of(path: Path) -> list[int]:
    """The number of bytes that this packed file may give, for `Unpacked`."""
    return [max(UNPACKED_BYTES, UNPACKED_RATIO * path.stat().st_size)]


class Shallow(io.RawIOBase):
    """JSON that is read as a stream, and ends with a ValueError where a record has too many
    levels, bytes or values.

    A record lies below `above` levels. What stands before that place is given to the reader.
    """

    def __init__(self, stream: IO[bytes], above: int) -> None:
        self._stream, self._meter, self._why = stream, Meter(above), ""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._why:
            raise ValueError(self._why)
        data = self._stream.read(len(buffer))
        fits = self._meter.feed(data)
        if fits < len(data):
            self._why, data = self._meter.why, data[:fits]
            if not data:
                raise ValueError(self._why)
        buffer[: len(data)] = data
        return len(data)


class Meter:
    """Measures JSON as it comes. A record lies below `above` levels; without them the whole is
    one. `why` says what is
    too much, once something is."""

    def __init__(self, above: int = -1) -> None:
        self._above, self._depth, self._carry = above, 0, b""
        self._bytes = self._values = 0
        self.why = ""

    def feed(self, data: bytes) -> int:
        """How many of the next bytes may be read: all, or those before the record that has too
        much.
        """
        for at in range(0, len(data), _PART):
            part = data[at : at + _PART]
            fits = self._feed(part)
            if fits < len(part):
                return at + fits
        return len(data)

    def _feed(self, data: bytes) -> int:
        text = self._carry + data
        held = (
            len(text) - len(text.rstrip(b"\\"))
        ) % 2  # a backslash whose character comes next
        outside = _STRING.sub(b"", text[: len(text) - held] + b'"')
        signs = outside.translate(None, _NO_SIGN)
        levels = list(accumulate((_STEP.get(sign, 0) for sign in signs), initial=self._depth))
        if max(levels) > DEEPEST:
            self.why = f"a record has more than {DEEPEST} levels"
            return self._before_depth(text) - len(self._carry)
        if min(levels) <= self._above:  # a record ended here
            self._bytes = self._values = 0
        self._bytes += len(data)
        self._values += len(signs)
        if self._bytes > RECORD_BYTES:
            self.why = f"a record is longer than {RECORD_BYTES >> 20} MB"
        elif self._values > RECORD_VALUES:
            self.why = f"a record has more than {RECORD_VALUES:,} values"
        inside = not outside.endswith(b'"')
        self._depth, self._carry = levels[-1], b'"' * inside + b"\\" * held
        return 0 if self.why else len(data)

    def _before_depth(self, text: bytes) -> int:
        depth = self._depth
        for token in _TOKEN.finditer(text):
            depth += 0 if token[0].startswith(b'"') else -1 if token[1] else 1
            if depth > DEEPEST:
                return token.start()
        return len(self._carry)


def read_json(data: bytes | str) -> Any:
    """The value of JSON. Raises ValueError where it is none, or has too many levels, bytes or
    values, and TypeError
    where `data` is no text."""
    if not isinstance(
        data, str | bytes
    ):  # a program's database may hold anything in place of a text
        raise TypeError("it is no text")
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    meter = Meter()
    if meter.feed(raw) < len(raw):
        raise ValueError(meter.why)
    return json.loads(data)


def json_items(prefix: str, stream: IO[bytes]) -> Iterator[Any]:
    """What stands in JSON under a prefix of ijson, such as `entries.item`, read as a stream.
    Fractions are Decimals: a
    number beyond a float would end the file."""
    import ijson

    yield from ijson.items(Shallow(stream, prefix.count(".") + 1), prefix, buf_size=_BUFFER)
