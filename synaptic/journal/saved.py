"""Keeps the latest text of each saved or updated entry for a week, in `.state/done/`.

An editor that writes an old buffer back can overwrite a saved text. `doctor` compares these
copies with the journal, and `--restore` puts one back. A file holds a line of JSON and the
text:

    {"id": "...", "path": "2026-11-21.md", "journal": "/...", "bytes": 93, "sha256": "..."}
    ## 09:31 ...                 exactly `bytes` bytes; older versions wrote marks below
"""

import hashlib
import json
import os
import time
from pathlib import Path
from typing import NamedTuple

from . import disk

KEEP_DAYS = 7


def path_of_read(state: Path, path: str) -> Path:
    """Where the bytes of a note wait that an editor wrote, until Synaptic writes the note."""
    return state / "read" / hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def remove_old_copies(folder: Path) -> None:
    """Removes the copies in a folder that are older than KEEP_DAYS."""
    for file in os.scandir(folder):
        if time.time() - file.stat().st_mtime > KEEP_DAYS * 86400:
            disk.unlink(Path(file))


class SavedText(NamedTuple):
    """The text of an entry (LF, one newline at the end), its file, and the folder of that."""

    id: str
    path: str
    journal: str
    text: bytes


class SavedTexts:
    """The folder `done/`. Whoever changes it holds the write lock."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "done"

    def path_of(self, id: str) -> Path:
        return self.folder / id

    def writing_temp(self, temp: Path, text: SavedText) -> disk.Steps[None]:
        """The steps that write the text to the hidden file `temp`. `accepting` makes it the
        latest.
        """
        header = {"id": text.id, "path": text.path, "journal": text.journal}
        line = json.dumps(header | disk.checksum_header(text.text))
        data = line.encode() + b"\n" + text.text
        with disk.new_file(temp, data, private=True, step="kept-torn") as fd:
            yield fd

    def accepting(self, temp: Path, id: str) -> disk.Steps[None]:
        """The steps that give the hidden file `temp` the name of this id."""
        disk.rename_over(temp, self.path_of(id))
        disk.inject_fault("kept")
        yield self.folder

    def get(self, id: str) -> SavedText | None:
        """The latest text of this id; None if it is missing or torn."""
        path = self.path_of(id)
        with disk.disk_errors(path, "read"):
            try:
                line, _, rest = disk.read_state_file(path).partition(b"\n")
            except FileNotFoundError:
                return None
        try:
            header = json.loads(line)
            block = disk.read_checked_text(header, rest)
            if header["id"] == id:
                return SavedText(id, str(header["path"]), str(header["journal"]), block)
        except (ValueError, KeyError, TypeError):
            pass
        return None

    def put(self, text: SavedText) -> None:
        """Makes a text the latest of its id, durably."""
        temp = disk.temp_path_of(self.path_of(text.id))
        disk.unlink(temp)
        disk.take_steps(self.writing_temp(temp, text))
        disk.take_steps(self.accepting(temp, text.id))

    def ids(self) -> list[str]:
        """The ids of the texts."""
        with disk.disk_errors(self.folder, "read"):
            try:
                names = os.listdir(self.folder)  # noqa: PTH208
            except FileNotFoundError:
                return []
        return sorted(name for name in names if not name.startswith("."))

    def forget(self, id: str) -> bool:
        """Removes the copy of this id durably; returns True if there was one."""
        path = self.path_of(id)
        existed = path.exists()
        path.unlink(missing_ok=True)
        disk.sync_dir(self.folder)
        return existed
