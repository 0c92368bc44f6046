"""The targets of links and pictures in notes: an entry, a day, an image or another file of the
journal; and the files that a form attaches.

Only pictures are shown: regular files within their root, symbolic links resolved, whose first
bytes `picture_kind` knows. Any other file that a link names is a download, in which nothing
runs.
"""

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import IO, BinaryIO
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ...errors import JournalError
from ...files import PICTURE_BYTES, is_picture_name, open_regular, picture_kind
from ...journal.folder import Roots, is_note, pinned
from ...models import Entry
from ...notes.blocks import without_code
from ...notes.marks import link_key
from ...verbs.attaching import FILE_BYTES, attach, detach
from ...verbs.mentions import leading_to
from .flavours import anchor
from .site import ask, page, site_of

PART_BYTES = 65_536
OTHER = "application/octet-stream"
"""The kind of a file that is no picture."""
_FILE_LINK = re.compile(
    r"(?i)\]\((?![a-z][a-z0-9+.-]+:)(?:<([^<>#\n]+)|((?:[^\s()<>#]|\([^\s()#]*\))+))"
    r"|\[\[([^\[\]|#\n]+)"
)
"""`](my.pdf`, `](<my cat.jpg`, `[[cat.jpg`."""
Listing = Callable[[Path], Mapping[str, Sequence[str]]]


def files_by_name(folder: Path) -> Mapping[str, Sequence[str]]:
    """The paths of all files in a folder that are not hidden, by their last names."""
    paths = defaultdict(list)
    for parent, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        path = Path(parent).relative_to(folder)
        for file in files:
            paths[file].append((path / file).as_posix())
    return paths


async def _picture(request: Request) -> Response:
    roots = await ask(request, lambda ws: ws.journal.roots)
    name, path = _asked(request)
    image = await run_in_threadpool(_find_file, roots, name, path)
    if image is None or image[1] == OTHER:
        return PlainTextResponse("The journal has no such picture.\n", 404)
    _, kind, file = image
    headers = {"Cache-Control": "private, max-age=300"}
    return StreamingResponse(parts_of(file), media_type=kind, headers=headers)


def linked_files(
    roots: Roots, entry: Entry, listing: Listing
) -> Iterator[tuple[re.Match[str], str]]:
    """(the link, with the target as its last group; the path in the journal) of each link of an
    entry that leads to a file.
    """
    for link in _FILE_LINK.finditer(without_code(entry.content)):
        found = _find_file(roots, link[link.lastindex or 0], entry.path, listing)
        if found:
            found[2].close()
            yield link, found[0]


def _find_file(
    roots: Roots, name: str, path: str, listing: Listing = files_by_name
) -> tuple[str, str, BinaryIO] | None:
    """(path in the journal, kind, file) of the file that a note in the file `path` calls
    `name`.
    """
    root, folder, note = roots.of(path)
    for spelling in dict.fromkeys((name, unquote(name))):
        for place in _places(folder, note, spelling, listing):
            if "/." in f"/{place}":
                continue  # hidden, as `.trash`, or outside
            place = posixpath.join(root, place)
            image = open_file(roots, place)
            if image:
                return place, *image
    return None


def open_file(roots: Roots, place: str) -> tuple[str, BinaryIO] | None:
    """(kind, file) of a picture, or of another file that is no note: then `OTHER`."""
    with suppress(JournalError, OSError), pinned(roots, place) as real:
        file = open_regular(real, follow=False)
        kind = picture_kind(file.read(32)) or OTHER
        file.seek(0)
        if os.fstat(file.fileno()).st_size <= PICTURE_BYTES and not is_note(place):
            return kind, file
        file.close()
    return None


def _places(folder: Path, note: str, name: str, listing: Listing) -> Iterator[str]:
    """The place beside the note, that in the folder, and the only file whose path ends with
    `name`, as Obsidian writes it.
    """
    yield posixpath.normpath(posixpath.join(posixpath.dirname(note), name))
    yield name
    known = listing(folder).get(posixpath.basename(name), ())
    matches = [place for place in known if f"/{place}".endswith(f"/{name}")]
    if len(matches) == 1:
        yield matches[0]


def parts_of(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while part := file.read(PART_BYTES):
            yield part


async def _to(request: Request) -> Response:
    """Redirects to the entry or day that a link names; else a page says it is missing."""
    name, path = _asked(request)
    with suppress(ValueError):
        return RedirectResponse(f"/day/{date.fromisoformat(name)}", 303)
    entry = (await ask(request, leading_to, [name], path)).get(name)
    if entry is None:
        file = None
        if not site_of(request).worker.is_published:
            roots = await ask(request, lambda ws: ws.journal.roots)
            file = await run_in_threadpool(_find_file, roots, name, path)
        if file:
            headers = {
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(_last(name))}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            }
            return StreamingResponse(parts_of(file[2]), media_type=OTHER, headers=headers)
        return await page(request, "unnamed.html", 404, name=unquote(name).partition("#")[0])
    is_day = link_key(entry.date) == link_key(name)
    part = f"#md-{quote(anchor(name))}" if "#" in name else ""
    target = f"/day/{entry.date}" if is_day else f"/entry/{quote(entry.id, safe='')}{part}"
    return RedirectResponse(target, 303)


def _last(name: str) -> str:
    return unquote(name).rpartition("/")[2]


class Attachments:
    """The files of a form, stored for a note: its text with links to them in the place of those
    by their own names, else at its end.
    """

    def __init__(self, request: Request, note: str = "") -> None:
        self.request = request
        self.folder = posixpath.dirname(note)
        self.paths: list[str] = []
        self.remarks: list[str] = []

    async def placed(self, text: str) -> str:
        """The text with links to the files, which are stored now. Raises InvalidArgument and
        Refused for a file that may not be.
        """
        form = await self.request.form()
        given = [one for one in form.getlist("files") if isinstance(one, UploadFile)]
        for file in given:
            name = file.filename or ""
            data = await file.read(FILE_BYTES + 1)
            if not (name or data):
                continue  # no file was chosen
            path, remark = await ask(self.request, attach, name, data)
            self.paths.append(path)
            self.remarks += [remark] if remark else []
            to = posixpath.relpath(path, self.folder or ".")
            typed = f"](<{name}>)"
            if typed in text:
                text = text.replace(typed, f"]({to})", 1)
            else:
                sign = "!" if is_picture_name(path) else ""
                label = re.sub(r"[\[\]\n]", "", name)
                text = f"{text.rstrip()}\n\n{sign}[{label}]({to})".lstrip()
        return text

    async def dropped(self) -> None:
        """Takes the files back: the note was not saved."""
        await ask(self.request, detach, self.paths)


def _asked(request: Request) -> tuple[str, str]:
    """(the name in a note, the file of the note)."""
    query = request.query_params
    return query.get("name", "").strip(), query.get("from", "")


ROUTES = [Route("/picture", _picture), Route("/to", _to)]
