"""Notes, in the user's state folder, the homes whose journal lies outside the home. `doctor`
reads these notes.

A lock binds the processes of one home. Two homes on one journal lose no saved entry, but each
has its own trash, spool and figures, and so knows only half of the journal's history.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path

from ..config import Config
from ..errors import JournalError
from .disk import disk_errors, make_dirs, overwrite


def enroll(config: Config) -> None:
    """Notes this home if its journal lies outside it. An error of the disk is ignored."""
    if config.journal.is_relative_to(config.home):
        return
    home, journal = os.path.realpath(config.home), os.path.realpath(config.journal)
    note = _folder() / f"{hashlib.sha256(os.fsencode(home)).hexdigest()[:16]}.json"
    text = json.dumps({"home": home, "journal": journal}).encode()
    with contextlib.suppress(OSError, JournalError):
        if not note.exists() or note.read_bytes() != text:
            with disk_errors(note):
                make_dirs(note.parent, private=True)
                overwrite(note, text)


def others(config: Config) -> list[Path]:
    """The other homes whose journal is the journal of this home, lies inside it, or contains
    it.
    """
    mine, journal = Path(os.path.realpath(config.home)), Path(os.path.realpath(config.journal))
    found = []
    for note in sorted(_folder().glob("*.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            said = json.loads(note.read_bytes())
            home, theirs = Path(said["home"]), Path(said["journal"])
            overlap = theirs.is_relative_to(journal) or journal.is_relative_to(theirs)
            if home != mine and overlap and (home / ".state").is_dir():
                found.append(home)
    return found


def _folder() -> Path:
    import platformdirs  # for a journal elsewhere, and for doctor

    return platformdirs.user_state_path("synaptic") / "homes"
