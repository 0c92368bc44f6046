"""Writes the saves that an older version left in `.state/spool/` into the journal, once.

Older versions wrote a save there before they appended it to its file, in the format of `saved`
with marks below the text: `seen` after the text stood in its file. Hidden files are of saves
that were never acknowledged.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Container
from pathlib import Path

from ..errors import Changed, JournalError, NotFound, Refused
from . import disk
from .saved import SavedText, SavedTexts, read_record


def adopt(
    spool: Path,
    saved: SavedTexts,
    present: Callable[[], Container[str]],
    put: Callable[[SavedText], object],
    is_ours: Callable[[SavedText], bool],
) -> None:
    """Puts each save that no file holds into its file, and its copy into `done/`.

    `present()` returns the ids in the journal: a save that an older version tore stays there,
    and `doctor` names it, because its copy in `done/` says more. A save whose file cannot be
    written, or of another journal, stays until the next call. The empty folder is removed.
    """
    here = present()
    for file in sorted(spool.iterdir()):
        with contextlib.suppress(Changed, JournalError, NotFound, Refused, OSError):
            if file.name.startswith("."):
                file.unlink()
                continue
            data = file.read_bytes()
            text = read_record(data, file.name)
            if text and not is_ours(text):
                continue
            seen = data.split()[-1:] == [b"seen"]
            if text and not seen and text.id not in here:
                put(text)
            file.replace(saved.path_of(file.name))
    disk.sync_dir(saved.folder)
    disk.sync_dir(spool)
    with contextlib.suppress(OSError):
        spool.rmdir()
