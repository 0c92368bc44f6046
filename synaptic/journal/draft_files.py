"""Keeps the files that a person added to a draft, until the draft is saved: `.state/drafts/`.

Each browser of a person has a folder of its own there, its box, which ends when that browser
logs out. A draft links to the file `x.jpg` as `![my cat](draft:x.jpg)`, a name that one box of
the person has: a browser that was killed may come back as a new one, for it writes its cookies
late. Nobody but the home's owner may read the files (0600).
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ..errors import NotFound
from . import disk

KEEP_DAYS = 14
_PERSON_CHARS = 16


def box_of(person: str, browser: str) -> str:
    """The name of the box of a person's browser, which begins with a name of that person."""
    whose = sha256(person.encode()).hexdigest()[:_PERSON_CHARS]
    return whose + sha256(f"{person} {browser}".encode()).hexdigest()[:32]


class DraftFiles:
    """The folder `drafts/` of a home. A box is named by `box_of`; "" is no box."""

    def __init__(self, state: Path) -> None:
        self.folder = state / disk.DRAFTS

    def add(self, box: str, name: str, data: bytes) -> str:
        """Stores a file in a box, and returns its name there: `name`, or with a number if the
        box has such a file.
        """
        self.expire()
        disk.make_state_dir(self.folder)
        disk.make_dirs(self.folder / box, private=True)
        path = self.folder / box / name
        number = 1
        while True:
            again = f"-{number}" if number > 1 else ""
            candidate = path.with_stem(f"{path.stem}{again}")
            number += 1
            if any((other / candidate.name).exists() for other in self._boxes(box)):
                continue
            with disk.disk_errors(candidate), suppress(FileExistsError):
                disk.write_new(candidate, data, private=True, step="draft-torn")
                disk.sync_dir(candidate.parent)
                return candidate.name

    def find(self, box: str, name: str) -> Path:
        """The path of a file in a box, or in another one of its person. Raises NotFound if they
        have no such file.
        """
        for folder in self._boxes(box):
            path = folder / name
            if path.name == name and path.is_file():
                return path
        raise NotFound(
            "The file `{name}` of this draft is gone: a draft keeps its files for "
            "{keep_days} days, and until you log out.",
            "Add the file again, or take its link out of the text.",
            name=name,
            keep_days=KEEP_DAYS,
        )

    def remove(self, box: str, names: Iterable[str]) -> None:
        """Removes files of a box; a name that it does not have is left out."""
        for name in names:
            with suppress(NotFound):
                disk.unlink(self.find(box, name))

    def remove_box(self, box: str) -> None:
        """Removes a box with all its files."""
        for path in self.files() if box else ():
            if path.parent.name == box:
                disk.unlink(path)
        self._remove_empty_boxes()

    def remove_copies(self, data: bytes) -> None:
        """Removes the files of all boxes that have these bytes."""
        for path in self.files():
            if path.stat().st_size == len(data) and disk.read_state_file(path) == data:
                disk.unlink(path)

    def expire(self) -> None:
        """Removes files older than KEEP_DAYS."""
        for path in self.files():
            with suppress(FileNotFoundError):  # another process removed it
                if time.time() - path.stat().st_mtime > KEEP_DAYS * 86_400:
                    disk.unlink(path)
        self._remove_empty_boxes()

    def files(self) -> list[Path]:
        """The paths of all files."""
        return [path for path in self.folder.glob("*/*") if path.is_file()]

    def size(self) -> int:
        """The bytes of all files."""
        return sum(path.stat().st_size for path in self.files())

    def _boxes(self, box: str) -> list[Path]:
        """The folder of a box, and those of the other boxes of its person. The last is that of
        the same browser as earlier programs named it.
        """
        if not box:
            return []
        others = self.folder.glob(f"{box[:_PERSON_CHARS]}*")
        return list(
            dict.fromkeys((self.folder / box, *others, self.folder / box[_PERSON_CHARS:]))
        )

    def _remove_empty_boxes(self) -> None:
        for box in self.folder.glob("*"):
            with suppress(OSError):  # it holds files
                os.rmdir(box)  # noqa: PTH106
