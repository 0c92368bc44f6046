"""The targets of links and pictures in notes: an entry, a day, an image or another file of the
journal; and the files that a form attaches.

`ServableFiles` says which files may be given away. A person who may write gets all of them; one
who only reads gets those to which a link leads that the page shows in an entry. Only pictures
are shown, by their first bytes. Any other file is a download, in which nothing runs.
"""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO, TypeVar
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse

from ...errors import NotFound, SynapticError
from ...files import open_regular_file
from ...filters import Filters
from ...journal.draft_files import DraftFiles
from ...journal.shelf import OTHER, FileListing, ServableFiles, find_file, linked_files
from ...models import Entry
from ...notes.link_places import LinkPlace
from ...notes.marks import link_key
from ...notes.picture_kinds import picture_media_type
from ...notes.pictures import remove_metadata
from ...notes.reading import composed_form
from ...verbs.attaching import (
    FILE_BYTES,
    add_link,
    attach_draft_files,
    attach_to_draft,
    link_to_file,
    links_to_draft_files,
    new_files,
)
from ...verbs.linked import link_targets
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .flavours import part_of_target
from .rendering import link_targets_in
from .site import Page, answer_error, page, read_form, run_verb, session_of, site_of
from .translation import translate

PART_BYTES = 65_536
Result = TypeVar("Result")


def open_attachments(ws: Workspace, tokens: Path) -> ServableFiles:
    return ServableFiles(ws.journal.roots, closed=(ws.config.home, tokens))


async def _picture_page(request: Request) -> Response:
    image = await _open_requested_file(request)
    if image is None or image[1] == OTHER:
        reason = translate("The journal has no such picture.")
        return PlainTextResponse(f"{reason}\n", 404)
    place, kind, file = image
    is_draft = place.startswith("draft:")  # in which another file may get the same name
    headers = {} if is_draft else {"Cache-Control": "private, max-age=300"}
    return StreamingResponse(read_in_parts(file), media_type=kind, headers=headers)


async def _open_requested_file(request: Request) -> tuple[str, str, BinaryIO] | None:
    """Opens the attachment that a request names; returns (path in the journal, media type,
    file), or None if it does not exist or the visitor may not read it.
    """
    name, path = _requested_link(request)
    scheme, _, draft_file = unquote(name).partition(":")
    if scheme == "draft":
        return await run_verb(request, _open_draft_file, session_of(request).box, draft_file)
    tokens = site_of(request).tokens.path
    shelf = await run_verb(request, open_attachments, tokens)
    entries: Sequence[Entry] = ()
    is_reader = session_of(request).read_only
    if is_reader:
        entries = await run_verb(request, _read_entries_of_file, path)

    def find() -> tuple[str, str, BinaryIO] | None:
        file = find_file(shelf, name, path)
        if file and is_reader and not _has_link_to(shelf, entries, file[0]):
            file[2].close()
            return None
        if file and is_reader:
            clean = without_metadata(file[1], file[2])
            return (file[0], file[1], clean) if clean else None
        return file

    return await run_in_threadpool(find)


def without_metadata(kind: str, file: BinaryIO) -> BinaryIO | None:
    """Returns the file as a person who only reads gets it: a picture without metadata, such as
    the place where it was taken, as an upload is stored. None for a picture that is broken, so
    that its metadata cannot be told from the rest.
    """
    if kind == OTHER:
        return file
    with file:
        data = file.read()
    try:
        parts = remove_metadata(data, kind)
    except ValueError:
        return None
    return BytesIO(data if parts is None else b"".join(parts))


def _open_draft_file(ws: Workspace, box: str, name: str) -> tuple[str, str, BinaryIO] | None:
    """Opens a file of a draft; returns (its link, media type, file), or None if it is gone."""
    with suppress(NotFound, OSError):
        file = open_regular_file(DraftFiles(ws.config.state).find(box, name))
        kind = picture_media_type(file.read(32)) or OTHER
        file.seek(0)
        return f"draft:{name}", kind, file
    return None


def _read_entries_of_file(ws: Workspace, path: str) -> Sequence[Entry]:
    """Reads the entries of a file, without their private passages."""

    def run(_: object) -> Sequence[Entry]:
        filters = Filters(paths=(path,), include_superseded=True)
        rows = ws.index.list_rows(filters, order="oldest", limit=-1)
        return [*read_entries(ws, rows).values()]

    return in_step(ws, run) if path else ()


def _has_link_to(shelf: ServableFiles, entries: Iterable[Entry], file_path: str) -> bool:
    """True if one of these entries shows a link or a picture that leads to the file at the path
    `file_path`.
    """
    last = composed_form(posixpath.basename(file_path))
    for entry in entries:
        for name in link_targets_in(entry.content):
            if composed_form(_file_name_of_link(name.partition("#")[0])) != last:
                continue
            file = find_file(shelf, name, entry.path)
            if file:
                file[2].close()
                if file[0] == file_path:
                    return True
    return False


def shown_files(
    shelf: ServableFiles, entry: Entry, listing: FileListing
) -> Iterator[tuple[LinkPlace, str]]:
    """Yields what `linked_files` does, without links that the page does not show."""
    for link, file_path in linked_files(shelf, entry, listing):
        if _has_link_to(shelf, (entry,), file_path):
            yield link, file_path


def read_in_parts(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while part := file.read(PART_BYTES):
            yield part


async def _link_page(request: Request) -> Response:
    """Redirects to the entry or day to which a link in a note leads; shows a page that it is
    missing otherwise.
    """
    name, path = _requested_link(request)
    behind = request.query_params.get("behind", "")
    name += f"|{behind}" if behind else ""
    with suppress(ValueError):
        return RedirectResponse(f"/day/{date.fromisoformat(name)}", 303)
    entry = (await run_verb(request, link_targets, [name], path)).get(name)
    if entry is None:
        has_files = site_of(request).page_address("/picture") != ""
        file = await _open_requested_file(request) if has_files else None
        if file:
            file_name = quote(_file_name_of_link(file[0]))
            headers = {
                "Content-Disposition": f"attachment; filename*=UTF-8''{file_name}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            }
            return StreamingResponse(read_in_parts(file[2]), media_type=OTHER, headers=headers)
        return await page(request, "unnamed.html", 404, name=re.split("[#|]", unquote(name))[0])
    is_day = link_key(entry.date) == link_key(name)
    part = part_of_target(name)
    place = f"#md-{quote(part)}" if part else ""
    target = f"/day/{entry.date}" if is_day else f"/entry/{quote(entry.id, safe='')}{place}"
    return RedirectResponse(target, 303)


def _file_name_of_link(name: str) -> str:
    return unquote(name).rpartition("/")[2]


class Attachments:
    """The files that a form adds to a note: those of its draft, and those that it uploads
    itself, which become the draft's first.
    """

    def __init__(self, request: Request, text: str, note: str = "") -> None:
        self.request = request
        self.box = session_of(request).box
        self.draft = text
        """The text of the draft, with links to all files that were uploaded so far."""
        self.note = note
        self.remarks: list[str] = []

    async def add_uploads(self) -> str:
        """Stores the uploaded files with the draft, and returns its text with links to them.
        Raises InvalidArgument and Refused for a file that is not allowed.
        """
        form = await self.request.form()
        uploads = [upload for upload in form.getlist("files") if isinstance(upload, UploadFile)]
        for file in uploads:
            name = file.filename or ""
            data = await file.read(FILE_BYTES + 1)
            if not (name or data):
                continue  # no file was chosen
            added = await run_verb(self.request, attach_to_draft, self.box, name, data)
            typed = f"](<{name}>)"
            if typed in self.draft:
                self.draft = self.draft.replace(typed, f"](draft:{added})", 1)
            else:
                self.draft = add_link(self.draft, link_to_file(name, f"draft:{added}"))
        return self.draft

    async def save(self, write: Callable[[Workspace, str], Result]) -> Result:
        """Stores the uploaded files and those of the draft beside the notes, calls `write` with
        the text of the note with links to them, and returns its result. If it fails, none of
        them stays beside the notes; the draft still has them.

        Raises NotFound for a file that the draft lost, the errors of `add_uploads`, and those
        of `write`.
        """
        text = await self.add_uploads()

        def run(ws: Workspace) -> Result:
            if not links_to_draft_files(text):
                return write(ws, text)
            with new_files(ws) as files:
                placed = attach_draft_files(files, self.box, text, self.note)
                result = write(ws, placed)
            self.remarks = files.remarks
            return result

        return await run_verb(self.request, run)

    async def end_draft(self) -> None:
        """Removes the files from the draft, because the note was saved; also those that the
        form added and to which its text links no more.
        """
        form = await self.request.form()
        links = links_to_draft_files(self.draft)
        names = {unquote(link[1]) for link in links}
        names.update(str(name) for name in form.getlist("draft"))

        def remove(ws: Workspace) -> None:
            DraftFiles(ws.config.state).remove(self.box, names)

        await run_verb(self.request, remove)


async def _add_to_draft(request: Request) -> Response:
    """Stores a file with the draft as soon as it is chosen; returns the links to it as text."""
    await read_form(request)
    try:
        links = await Attachments(request, "").add_uploads()
    except SynapticError as error:
        return answer_error(error)
    return PlainTextResponse(links)


async def lost_draft_files(request: Request, text: str) -> list[SynapticError]:
    """Returns an error for each file to which this text of a draft links, and which is gone."""
    names = dict.fromkeys(unquote(link[1]) for link in links_to_draft_files(text))
    box = session_of(request).box

    def find(ws: Workspace) -> list[SynapticError]:
        errors: list[SynapticError] = []
        for name in names:
            try:
                DraftFiles(ws.config.state).find(box, name)
            except NotFound as error:
                errors.append(error)
        return errors

    return await run_verb(request, find) if names else []


def _requested_link(request: Request) -> tuple[str, str]:
    """Returns from a request (the file name as a note links to it, the path of the note)."""
    query = request.query_params
    return query.get("name", "").strip(), query.get("from", "")


PAGES = [
    Page("/picture", "neither", _picture_page),
    Page("/to", "reader", _link_page),
    Page("/draft", "writer", _add_to_draft, methods=["POST"]),
]
