"""Files in which two versions were made one, as they were before, so that it can be undone.

They hold text of the journal: a purge of an entry, and a passage that becomes private, remove
what they hold of it.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from . import disk

MOST = 5


class SettledFile(NamedTuple):
    """The bytes of the file `path` before the conflict `key` was settled, and the hash of those
    after it.
    """

    key: str
    path: str
    before: bytes
    after: str


class SettledFiles:
    """The last settled files. A caller that changes them holds the write lock."""

    def __init__(self, state: Path) -> None:
        self.path = state / "settled.json"

    def all(self) -> list[SettledFile]:
        """The settled files, oldest first."""
        rows = []
        with suppress(KeyError, TypeError, UnicodeEncodeError):
            for key, row in disk.read_state_json(self.path).items():
                before = row["before"].encode("utf-8", "surrogateescape")
                rows.append(SettledFile(key, row["path"], before, row["after"]))
        return rows

    def put(self, file: SettledFile) -> None:
        """Remembers a file durably, in place of an older one of its key."""
        others = [one for one in self.all() if one.key != file.key]
        self._write([*others, file][-MOST:])

    def drop(self, is_dropped: Callable[[SettledFile], bool]) -> bool:
        """Forgets each file for which `is_dropped` is true; returns True if there was one."""
        files = self.all()
        stay = [one for one in files if not is_dropped(one)]
        if len(stay) < len(files):
            self._write(stay)
        return len(stay) < len(files)

    def _write(self, files: list[SettledFile]) -> None:
        rows = {}
        for one in files:
            before = one.before.decode("utf-8", "surrogateescape")
            rows[one.key] = {"path": one.path, "before": before, "after": one.after}
        with disk.disk_errors(self.path):
            disk.overwrite(self.path, json.dumps(rows).encode())
        disk.inject_fault("settled")
