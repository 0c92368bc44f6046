"""Attaches files to a note: stores them beside the notes under names of ours.

A file waits with the draft (`journal/draft_files`) until its note is saved.
"""

import json
import posixpath
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from ..errors import InvalidArgument, JournalError, Refused, Sentence
from ..files import SETTINGS_BYTES, read_regular_file
from ..journal.draft_files import DraftFiles
from ..journal.folder import is_note, resolve_journal_path
from ..journal.shelf import (
    ATTACHMENTS,
    FileListing,
    ServableFiles,
    files_by_name,
    linked_files,
    possible_file_paths,
)
from ..journal.stored_files import StoredFiles, stored_files
from ..models import Entry, Texts
from ..notes.blocks import without_code
from ..notes.link_places import find_link_places
from ..notes.picture_kinds import PICTURES, is_picture_name, picture_media_type
from ..notes.pictures import remove_metadata
from ..notes.screening import visible_secrets
from ..workspace.workspace import Workspace
from .browse import Listing
from .entry_marks import find_stored

FILE_BYTES, DAY_BYTES = 20_000_000, 1_000_000_000
"""The most bytes of one file, and of all files that are attached on a day."""
FOLDER = "attachments"
SETTINGS = ".obsidian/app.json"
NAME_CHARS = 60
OTHER_SUFFIX = ".bin"
MAY_TELL = (
    "`{name}` is kept as it is, and may hold the place where it was made. No search reads it: "
    "write the words that should find it."
)
_OTHER_PICTURE = b"ftyp"
"""Stands in HEIC and AVIF files, also in forms that Synaptic does not know."""
PLAIN = frozenset(".csv .geojson .gpx .ics .json .kml .log .tsv .txt .vcf".split())
"""The endings of texts, in which a person reads all that they hold."""
_DRAFT_LINK = re.compile(r"(?<=\]\()<?draft:([\w.%-]+)>?")
"""Matches the target of a link to a file of a draft: `draft:my-cat.jpg`."""


class CleanFile(NamedTuple):
    """A file that may be attached: its name of ours, its bytes without metadata, and a remark
    or "".
    """

    name: str
    data: bytes
    remark: str


def clean_file(name: str, data: bytes) -> CleanFile:
    """Checks a file that a person chose, and removes its metadata. `name` is its name there.

    Raises InvalidArgument for an empty or broken file, for a note, for a picture that is none,
    and for a file of more than FILE_BYTES.
    """
    full_name = PurePosixPath(name.replace("\\", "/"))
    own_name = f"{full_name.stem[:NAME_CHARS]}{full_name.suffix[:NAME_CHARS]}" or "file"
    kind = picture_media_type(data[:32])
    suffix = PICTURES[kind][2][0] if kind else full_name.suffix.lower()
    if not data:
        raise InvalidArgument("`{name}` is empty.", "Choose another file.", name=own_name)
    if len(data) > FILE_BYTES:
        raise InvalidArgument(
            "`{name}` has more than {most} MB.",
            "Make it smaller, or copy it into the journal yourself.",
            name=own_name,
            most=FILE_BYTES // 1_000_000,
        )
    if is_picture_name(own_name) and not kind and data[4:8] != _OTHER_PICTURE:
        raise InvalidArgument(
            "`{name}` is not a picture: only its name says so.",
            "Choose another, or give it the ending of its kind.",
            name=own_name,
        )
    if is_note(own_name):
        raise InvalidArgument(
            "`{name}` is a note and cannot be an attachment.",
            "Import, in the menu More or as `synaptic import`, takes in notes.",
            name=own_name,
        )
    try:
        parts = remove_metadata(data, kind or "")
    except ValueError as error:
        raise InvalidArgument(
            "`{name}`: {error}", "Choose another file.", name=own_name, error=error.args[0]
        ) from error
    stem = PurePosixPath(own_name).stem
    if suffix not in ATTACHMENTS:  # `setup.py` -> `setup-py.bin`, which the page hands out
        stem = own_name
        suffix = OTHER_SUFFIX
    is_plain = suffix in PLAIN and b"\0" not in data
    remark = "" if parts or is_plain else Sentence(MAY_TELL, name=own_name)
    return CleanFile(f"{_slug(stem)}{suffix}", b"".join(parts) if parts else data, remark)


class NewFiles:
    """The files that are attached to a note while it is being saved, in the order of `paths`,
    and remarks about them.
    """

    def __init__(self, ws: Workspace, stored: StoredFiles, *, reuses_same: bool) -> None:
        self.ws = ws
        self.reuses_same = reuses_same
        self.paths: list[str] = []
        self.remarks: list[str] = []
        self._stored = stored

    def add(self, name: str, data: bytes) -> str:
        """Stores a file without its metadata beside the notes; returns its path in the journal.
        It never replaces a file.

        Raises the errors of `clean_file`, and Refused above DAY_BYTES a day.
        """
        _check_name(self.ws, name)
        file = clean_file(name, data)
        _check_room_today(self.ws, len(file.data))
        today = self.ws.clock().date().isoformat()
        folder = _attachment_folder(self.ws)
        plain = PurePosixPath(file.name)
        for number in range(1, 1_000):
            again = f"-{number}" if number > 1 else ""
            path = posixpath.join(folder, f"{today}-{plain.stem}{again}{plain.suffix}")
            is_there = self.reuses_same and self._holds(path, file.data)
            if is_there or self._stored.add(path, file.data):
                self.note(path)
                if file.remark and file.remark not in self.remarks:
                    self.remarks.append(file.remark)
                return path
        raise Refused(
            "There are too many files called `{name}`.", "Give another name.", name=file.name
        )

    def _holds(self, path: str, data: bytes) -> bool:
        """True if the file at this path of the journal has these bytes."""
        with suppress(OSError, JournalError):
            file = resolve_journal_path(self.ws.journal.roots, path)
            return file.is_file() and read_regular_file(file, FILE_BYTES) == data
        return False

    def note(self, path: str) -> None:
        """Notes a file of the journal to which the note will link."""
        if path not in self.paths:
            self.paths.append(path)


@contextmanager
def new_files(ws: Workspace, *, reuses_same: bool = False) -> Iterator[NewFiles]:
    """Files that are attached to a note, as a context in which the note is saved under the
    write lock. If that fails or is killed, none of them stays. `reuses_same`: a file that was
    attached today under the same name with the same bytes is not stored again.
    """
    with ws.own_journal.writing(), stored_files(ws.own_journal.writer) as stored:
        yield NewFiles(ws, stored, reuses_same=reuses_same)


def link_to_file(name: str, target: str) -> str:
    """The Markdown link to a file: `![my cat.jpg](attachments/2026-11-21-my-cat.jpg)`."""
    label = re.sub(r"[\[\]\n]", "", name)
    return f"{'!' if is_picture_name(target) else ''}[{label}]({target})"


def add_link(text: str, link: str) -> str:
    """The text with a link as a paragraph of its own at the end."""
    return f"{text.rstrip()}\n\n{link}".lstrip()


def target_of_file(path: str, note: str = "", part: str = "") -> str:
    """The target of a Markdown link to a file of the journal and a `part` of it, from the note
    at this path, or else from the journal's folder.
    """
    target = posixpath.relpath(path, posixpath.dirname(note) or ".") + part
    return f"<{target}>" if re.search(r"[\s()]", target) else target


def attach_to_draft(ws: Workspace, box: str, name: str, data: bytes) -> str:
    """Stores a file without its metadata in the box of a draft; returns its name there. Raises
    the errors of `NewFiles.add`.
    """
    _check_name(ws, name)
    file = clean_file(name, data)
    drafts = DraftFiles(ws.config.state)
    _check_room_today(ws, len(file.data) + drafts.size())
    return drafts.add(box, file.name, file.data)


def links_to_draft_files(text: str) -> list[re.Match[str]]:
    """The targets of a text's links to files of its draft, in order; group 1 is the name."""
    return [*_DRAFT_LINK.finditer(without_code(text))]


def attach_draft_files(files: NewFiles, box: str, text: str, note: str = "") -> str:
    """Stores copies of the files of a draft beside the notes; returns its text with links to
    them, from the note at this path, else from the journal's folder. Raises NotFound if the
    draft lost a file, and Refused.
    """
    links = links_to_draft_files(text)
    targets = {}
    for name in dict.fromkeys(unquote(link[1]) for link in links):
        data = DraftFiles(files.ws.config.state).find(box, name).read_bytes()
        targets[name] = target_of_file(files.add(name, data), note)
    for link in reversed(links):
        text = f"{text[: link.start()]}{targets[unquote(link[1])]}{text[link.end() :]}"
    return text


def attached_paths(shelf: ServableFiles, entry: Entry, listing: FileListing) -> Texts:
    """The paths in the journal of the attachments to which an entry links, in order."""
    return tuple(dict.fromkeys(path for _, path in linked_files(shelf, entry, listing)))


def with_attachments(ws: Workspace, listing: Listing) -> Listing:
    """The listing with the attachments of its entries."""
    shelf = ServableFiles(ws.journal.roots, closed=(ws.config.home,))
    files = cache(files_by_name)
    attached = {entry.id: attached_paths(shelf, entry, files) for entry in listing.entries}
    return replace(listing, attached=attached)


def find_attachments(ws: Workspace, id: str) -> Texts:
    """The paths in the journal of the attachments to which an entry links. Raises NotFound and
    Ambiguous.
    """
    stored = find_stored(ws, id)
    entry = ws.journal.find(stored.entry.path, stored.own_id)[1]
    return with_attachments(ws, Listing(1, (entry,))).attached[entry.id]


def forget_draft_copies(ws: Workspace, path: str, text: str) -> None:
    """Removes the files of drafts that are copies of the attachments to which the entry with
    this text in the file `path` links.
    """
    drafts = DraftFiles(ws.config.state)
    if not drafts.size():
        return
    roots = ws.journal.roots
    listing = cache(files_by_name)
    for link in find_link_places(text):
        for candidate in possible_file_paths(roots, link.target, path, listing):
            with suppress(OSError, JournalError):
                file = resolve_journal_path(roots, candidate)
                drafts.remove_copies(read_regular_file(file, FILE_BYTES))
                break


def _check_name(ws: Workspace, name: str) -> None:
    """Raises Refused for a file whose name holds a secret, unless the settings allow it."""
    secrets = [] if ws.config.secrets == "allow" else visible_secrets(name)
    if secrets:
        raise Refused(
            "The name of the file holds a secret ({kind}).",
            "Give it another name.",
            kind=secrets[0].kind,
        )


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
    folder = resolve_journal_path(ws.journal.roots, inside).parent
    present = sum(one.stat().st_size for one in folder.glob(f"{today}-*") if one.is_file())
    if present + size > DAY_BYTES:
        raise Refused(
            "More than {most} GB were attached today.",
            "Go on tomorrow, or copy files into the journal yourself.",
            most=DAY_BYTES // 1_000_000_000,
        )
