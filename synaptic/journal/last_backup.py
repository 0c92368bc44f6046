"""Remembers when the last backup of a home was made, and where it lies."""

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from ..models import frozen
from .disk import disk_errors, overwrite, read_state_json

_FILE = "backup.json"


@frozen
class LastBackup:
    """The time of the last backup, and the path of its zip."""

    at: datetime
    file: str


def read_last_backup(state: Path) -> LastBackup | None:
    """Returns the last backup of the home with this state folder; None if none is known."""
    record = read_state_json(state / _FILE)
    with suppress(KeyError, TypeError, ValueError):
        return LastBackup(datetime.fromisoformat(record["at"]), str(record["file"]))
    return None


def remember_backup(state: Path, backup: LastBackup) -> None:
    """Notes a finished backup in the state folder."""
    record = json.dumps({"at": backup.at.isoformat(), "file": backup.file})
    with disk_errors(state / _FILE):
        overwrite(state / _FILE, record.encode())
