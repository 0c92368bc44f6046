"""Attaches files to a note: stores them beside the notes under names of ours."""

import json
import posixpath
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath

from ..errors import InvalidArgument, Refused
from ..files import ATTACHMENTS, PICTURES, picture_media_type, read_regular_file
from ..journal.folder import is_note, resolve_journal_path
from ..journal.writer import Draft
from ..notes.pictures import remove_metadata
from ..workspace.workspace import Workspace

FILE_BYTES, DAY_BYTES = 20_000_000, 1_000_000_000
"""The most bytes of one file, and of all files that are attached on a day."""
FOLDER = "attachments"
SETTINGS, SETTINGS_BYTES = ".obsidian/app.json", 1_000_000
NAME_CHARS = 60
OTHER_SUFFIX = ".bin"
MAY_TELL = "`{}` is kept as it is, and may hold the place where it was made."
PLAIN = frozenset(".csv .geojson .gpx .ics .json .kml .log .tsv .txt .vcf".split())
"""The endings of texts, in which a person reads all that they hold."""


def attach(ws: Workspace, name: str, data: bytes) -> tuple[str, str]:
    """Stores a file without its metadata beside the notes; returns (its path in the journal, a
    remark or ""). It never replaces a file.

    Raises InvalidArgument for an empty or broken file, for a note and for one of more than
    FILE_BYTES, and Refused above DAY_BYTES a day.
    """
    own_name = PurePosixPath(name.replace("\\", "/")).name[:NAME_CHARS] or "file"
    kind = picture_media_type(data[:32])
    suffix = PICTURES[kind][2][0] if kind else PurePosixPath(own_name).suffix.lower()
    if not data:
        raise InvalidArgument(f"`{own_name}` is empty.", "Choose another file.")
    if len(data) > FILE_BYTES:
        message = f"`{own_name}` has more than {FILE_BYTES // 1_000_000} MB."
        raise InvalidArgument(message, "Make it smaller, or copy it into the journal yourself.")
    if is_note(own_name):
        message = f"`{own_name}` is a note and cannot be an attachment."
        raise InvalidArgument(message, "`synaptic import` takes in notes.")
    try:
        parts = remove_metadata(data, kind or "")
    except ValueError as error:
        raise InvalidArgument(f"`{own_name}`: {error}", "Choose another file.") from error
    data = b"".join(parts) if parts else data
    today = ws.clock().date().isoformat()
    folder = _attachment_folder(ws)
    if _bytes_attached_on(ws, folder, today) + len(data) > DAY_BYTES:
        message = f"More than {DAY_BYTES // 1_000_000_000} GB were attached today."
        raise Refused(message, "Go on tomorrow, or copy files into the journal yourself.")
    stem = PurePosixPath(own_name).stem
    if suffix not in ATTACHMENTS:  # `setup.py` -> `setup-py.bin`, which the page hands out
        stem = own_name
        suffix = OTHER_SUFFIX
    stem = _slug(stem)
    with ws.journal.writing():
        for number in range(1, 1_000):
            again = f"-{number}" if number > 1 else ""
            path = posixpath.join(folder, f"{today}-{stem}{again}{suffix}")
            put = ws.journal.writer.change(
                path, lambda _, status: None if status else Draft(data)
            )
            if put:
                is_plain = suffix in PLAIN and b"\0" not in data
                return path, "" if parts or is_plain else MAY_TELL.format(own_name)
    raise Refused(f"There are too many files called `{own_name}`.", "Give it another name.")


def detach(ws: Workspace, paths: Iterable[str]) -> None:
    """Removes files that were attached for a note that was not saved."""
    with ws.journal.writing():
        for path in paths:
            ws.journal.writer.change(path, lambda *_: Draft(None))


def _slug(stem: str) -> str:
    """The letters and digits of a name, joined by hyphens: `My Photo (1)` -> `my-photo-1`."""
    plain = unicodedata.normalize("NFC", stem.lower())
    return re.sub(r"[^\w]+", "-", plain).strip("-_") or "file"


def _attachment_folder(ws: Workspace) -> str:
    """The folder of attachments below the journal, by Obsidian's settings, else FOLDER."""
    chosen = FOLDER
    with suppress(OSError, ValueError, AttributeError):
        settings = read_regular_file(ws.config.journal / SETTINGS, SETTINGS_BYTES)
        chosen = json.loads(settings).get("attachmentFolderPath", FOLDER)
    folder = posixpath.normpath(str(chosen).strip("/") or ".")
    is_inside = not any(step.startswith(".") for step in folder.split("/"))
    return "" if folder == "." else folder if is_inside else FOLDER


def _bytes_attached_on(ws: Workspace, folder: str, day: str) -> int:
    """The bytes of the files that were attached on that day."""
    place = resolve_journal_path(ws.journal.roots, posixpath.join(folder, "x")).parent
    return sum(one.stat().st_size for one in place.glob(f"{day}-*") if one.is_file())
