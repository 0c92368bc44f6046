"""Attaches files to a note: stores them beside the notes under names of ours.

A file waits with the draft (`journal/draft_files`) until its note is saved.
"""

import json
import posixpath
import re
import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from ..errors import InvalidArgument, JournalError, Refused
from ..files import ATTACHMENTS, PICTURES, SETTINGS_BYTES, picture_media_type, read_regular_file
from ..journal.folder import is_note, resolve_journal_path
from ..journal.writer import Draft
from ..notes.pictures import remove_metadata
from ..workspace.workspace import Workspace

FILE_BYTES, DAY_BYTES = 20_000_000, 1_000_000_000
"""The most bytes of one file, and of all files that are attached on a day."""
FOLDER = "attachments"
SETTINGS = ".obsidian/app.json"
NAME_CHARS = 60
_LINK = re.compile(r"\]\(<?([^<>()\n]+)>?\)")
OTHER_SUFFIX = ".bin"
MAY_TELL = "`{}` is kept as it is, and may hold the place where it was made."
PLAIN = frozenset(".csv .geojson .gpx .ics .json .kml .log .tsv .txt .vcf".split())
"""The endings of texts, in which a person reads all that they hold."""


class CleanFile(NamedTuple):
    """A file that may be attached: its name of ours, its bytes without metadata, and a remark
    or "".
    """

    name: str
    data: bytes
    remark: str


def clean_file(name: str, data: bytes) -> CleanFile:
    """Checks a file that a person chose, and removes its metadata. `name` is its name there.

    Raises InvalidArgument for an empty or broken file, for a note and for one of more than
    FILE_BYTES.
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
    stem = PurePosixPath(own_name).stem
    if suffix not in ATTACHMENTS:  # `setup.py` -> `setup-py.bin`, which the page hands out
        stem = own_name
        suffix = OTHER_SUFFIX
    is_plain = suffix in PLAIN and b"\0" not in data
    remark = "" if parts or is_plain else MAY_TELL.format(own_name)
    return CleanFile(f"{_slug(stem)}{suffix}", b"".join(parts) if parts else data, remark)


def attach(ws: Workspace, name: str, data: bytes) -> tuple[str, str]:
    """Stores a file without its metadata beside the notes; returns (its path in the journal, a
    remark or ""). It never replaces a file.

    Raises the errors of `clean_file`, and Refused above DAY_BYTES a day.
    """
    file = clean_file(name, data)
    today = ws.clock().date().isoformat()
    folder = _attachment_folder(ws)
    _check_room_today(ws, len(file.data))
    plain = PurePosixPath(file.name)
    with ws.journal.writing():
        for number in range(1, 1_000):
            again = f"-{number}" if number > 1 else ""
            path = posixpath.join(folder, f"{today}-{plain.stem}{again}{plain.suffix}")
            put = ws.journal.writer.change(
                path, lambda _, status: None if status else Draft(file.data)
            )
            if put:
                return path, file.remark
    raise Refused(f"There are too many files called `{file.name}`.", "Give it another name.")


def attach_to_draft(ws: Workspace, box: str, name: str, data: bytes) -> str:
    """Stores a file without its metadata in the box of a draft; returns its name there. Raises
    the errors of `attach`.
    """
    file = clean_file(name, data)
    _check_room_today(ws, len(file.data) + ws.journal.draft_files.size())
    return ws.journal.draft_files.add(box, file.name, file.data)


def attach_from_draft(ws: Workspace, box: str, name: str) -> tuple[str, str]:
    """Stores a copy of a draft's file beside the notes; returns what `attach` returns. Raises
    NotFound if the draft lost the file, and Refused.
    """
    return attach(ws, name, ws.journal.draft_files.find(box, name).read_bytes())


def detach(ws: Workspace, paths: Iterable[str]) -> None:
    """Removes files that were attached for a note that was not saved."""
    with ws.journal.writing():
        for path in paths:
            ws.journal.writer.change(path, lambda *_: Draft(None))


def forget_draft_copies(ws: Workspace, path: str, text: str) -> None:
    """Removes the files of drafts that are copies of the attachments to which the entry with
    this text in the file `path` links.
    """
    if not ws.journal.draft_files.size():
        return
    for target in _LINK.findall(text):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(target)))
        with suppress(OSError, JournalError):
            file = resolve_journal_path(ws.journal.roots, place)
            ws.journal.draft_files.remove_copies(read_regular_file(file, FILE_BYTES))


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


def _check_room_today(ws: Workspace, size: int) -> None:
    """Raises Refused if `size` more bytes would be more than DAY_BYTES on this day."""
    today = ws.clock().date().isoformat()
    inside = posixpath.join(_attachment_folder(ws), "x")
    place = resolve_journal_path(ws.journal.roots, inside).parent
    present = sum(one.stat().st_size for one in place.glob(f"{today}-*") if one.is_file())
    if present + size > DAY_BYTES:
        message = f"More than {DAY_BYTES // 1_000_000_000} GB were attached today."
        raise Refused(message, "Go on tomorrow, or copy files into the journal yourself.")
