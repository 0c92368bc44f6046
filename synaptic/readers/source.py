"""Reads files that may come from anybody: regular files of limited size, and shallow JSON.

All readers read through this module. No real export comes near a limit; docs/IMPORT.md lists
the limits.
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
"""Bytes of a line, item or row, and its commas and brackets: memory grows with both."""
FILE_BYTES = 1 << 26
"""Bytes of a file that is read whole: a page, a note or a program's settings."""
UNPACKED_BYTES, UNPACKED_RATIO = 4_000_000_000, 20
"""A packed file gives at most the larger of both: JSON shrinks to a tenth."""
_PART, _BUFFER = 1 << 16, 1 << 22
"""Bytes that are measured at once, and parsed at once. The parser reads a string again with
each further buffer.
"""
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|([\]}])', re.DOTALL)
_NO_SIGN = bytes(set(range(256)) - set(b"[]{},"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def files_below(folder: Path, skipped: Skipped, *patterns: str) -> list[Path]:
    """The regular files below a folder with such names, sorted; of a file, the file itself.

    A link out of the folder and a file that is not regular are reported to `skipped`.
    """
    if not folder.is_dir():
        return [folder]
    files: list[Path] = []
    real = os.path.realpath(folder)

    def is_outside(path: Path) -> bool:
        target = os.path.realpath(path)
        if target == real or target.startswith(f"{real.rstrip(os.sep)}{os.sep}"):
            return False
        skipped(str(path), f"it is a link out of the folder, to {target}; name that itself")
        return True

    def report(error: OSError) -> None:
        skipped(str(error.filename), str(error.strerror))

    for at, folder_names, file_names in os.walk(folder, onerror=report):
        for name in folder_names:
            path = Path(at, name)
            if not name.startswith(".") and path.is_symlink():
                is_outside(path)  # the target of a link to the inside is read in its place
        for name in file_names:
            path = Path(at, name)
            if not any(fnmatch(name, pattern) for pattern in patterns):
                continue
            if path.is_symlink() and is_outside(path):
                continue
            if is_regular(path):
                files.append(path)
            else:
                skipped(str(path), "it is no regular file")
    return sorted(files)


def is_regular(path: Path) -> bool:
    """True for a regular file, and for a link to one."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def changed_at(path: Path) -> datetime:
    """The last change of a file, naive, in the local zone; 1970 for an impossible time."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0)


class Unpacked(io.RawIOBase):
    """A stream of unpacked bytes. Raises ValueError when they exceed the budget.

    The budget is a list of one number, which all streams of one import share.
    """

    def __init__(self, stream: IO[bytes], budget: list[int]) -> None:
        self._stream, self._budget = stream, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._budget[0] -= len(data)
        if self._budget[0] < 0:
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


class ShallowJson(io.RawIOBase):
    """A stream of JSON. Raises ValueError at a record with too many levels, bytes or values.

    A record is below `above` levels. The bytes before that record are read as usual.
    """

    def __init__(self, stream: IO[bytes], above: int) -> None:
        self._stream, self._meter = stream, JsonMeter(above)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._meter.excess:
            data = self._stream.read(len(buffer))
            data = data[: self._meter.measure(data)]
            if data or not self._meter.excess:
                buffer[: len(data)] = data
                return len(data)
        raise ValueError(self._meter.excess)


class JsonMeter:
    """Measures JSON piece by piece. `excess` names the first limit that a record exceeds.

    A record is below `above` levels; by default the whole is one record.
    """

    def __init__(self, above: int = -1) -> None:
        self._above, self._depth, self._carry = above, 0, b""
        self._bytes = self._values = 0
        self.excess = ""

    def measure(self, data: bytes) -> int:
        """The number of bytes of `data` before a record that exceeds a limit, else all."""
        for at in range(0, len(data), _PART):
            part = data[at : at + _PART]
            allowed = self._measure(part)
            if allowed < len(part):
                return at + allowed
        return len(data)

    def _measure(self, data: bytes) -> int:
        text = self._carry + data
        backslashes = len(text) - len(text.rstrip(b"\\"))
        held = backslashes % 2  # a backslash whose character comes with the next piece
        outside = _STRING.sub(b"", text[: len(text) - held] + b'"')
        signs = outside.translate(None, _NO_SIGN)
        steps = [_STEP.get(sign, 0) for sign in signs]
        levels = list(accumulate(steps, initial=self._depth))
        if max(levels) > DEEPEST:
            self.excess = f"a record has more than {DEEPEST} levels"
            return self._bytes_before_depth(text) - len(self._carry)
        if min(levels) <= self._above:  # a record ended here
            self._bytes = self._values = 0
        self._bytes += len(data)
        self._values += len(signs)
        if self._bytes > RECORD_BYTES:
            self.excess = f"a record is longer than {RECORD_BYTES >> 20} MB"
        elif self._values > RECORD_VALUES:
            self.excess = f"a record has more than {RECORD_VALUES:,} values"
        self._depth = levels[-1]
        is_in_string = not outside.endswith(b'"')
        self._carry = (b'"' if is_in_string else b"") + text[len(text) - held :]
        return 0 if self.excess else len(data)

    def _bytes_before_depth(self, text: bytes) -> int:
        depth = self._depth
        for token in _TOKEN.finditer(text):
            if token[1]:
                depth -= 1
            elif not token[0].startswith(b'"'):
                depth += 1
            if depth > DEEPEST:
                return token.start()
        return len(self._carry)


def read_json(data: bytes | str) -> Any:
    """The value of JSON.

    Raises ValueError for invalid JSON and for too many levels, bytes or values, and TypeError
    if `data` is no text.
    """
    if not isinstance(data, str | bytes):  # a database may hold any value
        raise TypeError("it is no text")
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    meter = JsonMeter()
    if meter.measure(raw) < len(raw):
        raise ValueError(meter.excess)
    return json.loads(data)


def json_items(prefix: str, stream: IO[bytes]) -> Iterator[Any]:
    """The items of JSON under a prefix of ijson, such as `entries.item`, read as a stream.

    Fractions are Decimals: a number beyond a float would end the file.
    """
    import ijson

    shallow = ShallowJson(stream, prefix.count(".") + 1)
    yield from ijson.items(shallow, prefix, buf_size=_BUFFER)
