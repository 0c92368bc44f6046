"""The zip of a backup: how it is known and used, and when the last one was made."""

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ..config import Config
from ..models import frozen
from .disk import disk_errors, overwrite, read_state_json
from .folder import TEXTS, is_note

_FILE = "backup.json"
READ_ME = "READ ME.txt"
"""The name in the zip of the text that says how to use it."""


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


def list_backups(state: Path) -> list[Path]:
    """The zips that are known: the last one, and those beside it that are named as ours, the
    newest last. The last one is named also where it is not there.
    """
    last = read_last_backup(state)
    if not last:
        return []
    file = Path(last.file)
    beside = sorted(file.parent.glob("synaptic-[0-9]*.zip")) if file.parent.is_dir() else []
    return [*(other for other in beside if other != file), file]


def is_text_of_ours(name: str) -> bool:
    """True for a note, and for all that lies outside of the journal's folder: these are read
    together, so that an entry that moves from one file to another is in one of them.
    """
    is_text = is_note(name) or name.lower().endswith(TEXTS)
    return is_text or not name.startswith("journal/")


def texts_of_backup(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yields (name, bytes) of each note in a backup, and of Synaptic's own texts. Raises
    OSError, BadZipFile and what a damaged member raises.
    """
    with ZipFile(file) as archive:
        if not is_backup(archive.namelist()):
            raise BadZipFile("it is no backup of Synaptic")
        for name in archive.namelist():
            if is_text_of_ours(name):
                data = archive.read(name)
                if b"\0" not in data[:1_024]:
                    yield name, data


def how_to_go_back(config: Config) -> str:
    """Returns the sentences that tell a person how to use the zip of a backup."""
    return (
        f"To go back: unpack the zip into an empty folder, and copy the notes that you miss "
        f"from its folder `journal` into {config.journal}. On a computer without Synaptic's "
        f"data unpack all of it into {config.home}. {READ_ME} in the zip says more."
    )


def is_backup(names: Collection[str]) -> bool:
    """True if these are the names in the zip of a backup."""
    return READ_ME in names and any(name.startswith("journal/") for name in names)
