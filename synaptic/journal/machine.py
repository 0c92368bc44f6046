"""Marks rows of the state folder that decide, so that they count on this machine alone.

A home may be kept in git, lie on a disk of several machines, or come back from a backup, so
that anybody may have written a row in it. A row counts only with the mark of this machine: a
keyed hash of all that it says. The key lies in the user's state folder, which is not part of a
home, readable for its user alone. Without that key no row counts, and a person is asked again.
"""

from __future__ import annotations

import errno
import hmac
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ..files import open_regular_file
from .disk import append_json_lines, create_file, make_dirs, read_state_lines

KEY_BYTES = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def key_path() -> Path:
    """The file with the key of this machine for its present user."""
    from platformdirs import user_state_path  # late: most commands read no row

    return user_state_path("synaptic") / "machine.key"


def mark_row(purpose: str, log_row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the row with the mark of this machine as `mark`. A row that is marked for one
    purpose does not count for another. Raises OSError where no key can be made.
    """
    return {**log_row, "mark": _mark(_ensure_key(), purpose, log_row)}


def own_row_test(purpose: str) -> Callable[[Mapping[str, Any]], bool]:
    """Returns a function that is true for a row with the mark of this machine."""
    key = _read_key()

    def is_own(log_row: Mapping[str, Any]) -> bool:
        mark = log_row.get("mark")
        if not key or not isinstance(mark, str):
            return False
        rest = {name: value for name, value in log_row.items() if name != "mark"}
        return hmac.compare_digest(mark.encode(), _mark(key, purpose, rest).encode())

    return is_own


def append_marked_rows(log: Path, rows: Iterable[Mapping[str, str]]) -> None:
    """Adds rows with the mark of this machine to a log, in one write. Raises OSError."""
    append_json_lines(log, [mark_row(log.name, log_row) for log_row in rows])


def read_marked_rows(log: Path) -> Iterator[tuple[Mapping[str, str], bool]]:
    """Yields each row of a log, and True if this machine wrote it; nothing of a log that cannot
    be read.
    """
    is_own = own_row_test(log.name)
    for line in read_state_lines(log):
        with suppress(ValueError, RecursionError):  # torn by a crash
            log_row = json.loads(line)
            if isinstance(log_row, dict):
                yield {name: str(value) for name, value in log_row.items()}, is_own(log_row)


def _mark(key: bytes, purpose: str, log_row: Mapping[str, Any]) -> str:
    text = json.dumps([purpose, log_row], sort_keys=True)
    return blake2b(text.encode(), key=key, digest_size=16).hexdigest()


def _ensure_key() -> bytes:
    """The key of this machine, which is made if there is none. Raises OSError."""
    path = key_path()
    if not os.path.lexists(path):
        make_dirs(path.parent, private=True)
        with suppress(FileExistsError):  # another process was quicker
            create_file(path, secrets.token_bytes(KEY_BYTES), private=True)
    key = _read_key()
    if not key:
        reason = f"{path} is not a key that only you can read: move it away to get a new one"
        raise OSError(errno.EINVAL, reason, str(path))
    return key


def _read_key() -> bytes:
    """The key of this machine; empty without one. A file that others may read is none: git, for
    one, writes such files.
    """
    with suppress(OSError), open_regular_file(key_path(), follow=False) as file:
        mode = os.fstat(file.fileno()).st_mode
        key = file.read(KEY_BYTES + 1)
        if len(key) == KEY_BYTES and (os.name == "nt" or not mode & _OTHERS):
            return key
    return b""
