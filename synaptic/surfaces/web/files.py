"""Where the links and the pictures of a note lead: to an entry or a day, and to an image within
the journal.

Nothing else of the disk is sent: a picture is a regular file within its root, links followed,
that begins as `picture_kind` knows it.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from itertools import chain
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from ...errors import JournalError
from ...files import PICTURE_BYTES, open_regular, picture_kind
from ...journal.folder import Roots, pinned
from ...notes.marks import link_key
from ...verbs.mentions import leads_to
from .site import ask, page

PART_BYTES = 65_536


async def _picture(request: Request) -> Response:
    roots = await ask(request, lambda ws: ws.journal.roots)
    name, path = (request.query_params.get(key, "") for key in ("name", "from"))
    found = await run_in_threadpool(_image, roots, name, path)
    if found is None:
        return PlainTextResponse("The journal has no such picture.\n", 404)
    kind, file = found
    return StreamingResponse(
        _parts(file), media_type=kind, headers={"Cache-Control": "private, max-age=300"}
    )


def _image(roots: Roots, name: str, path: str) -> tuple[str, BinaryIO] | None:
    """(its kind, the file) of the picture that a note in the file `path` calls `name`."""
    root, folder, within = roots.of(path)
    for said in dict.fromkeys((name, unquote(name))):
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(within), said))
        for place in chain((beside, said), _only(folder, said)):
            if "/." in f"/{place}":
                continue  # hidden, as `.trash`, or outside
            with (
                suppress(JournalError, OSError),
                pinned(roots, posixpath.join(root, place)) as real,
            ):
                if kind := _kind(file := open_regular(real, follow=False)):
                    return kind, file
                file.close()
    return None


def _only(folder: Path, name: str) -> Iterator[str]:
    """The file below the folder whose path ends so, if there is one alone: what Obsidian
    writes.
    """
    found: list[str] = []
    for at, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        paths = (
            Path(at, file).relative_to(folder).as_posix()
            for file in files
            if name.endswith(file)
        )
        found += (path for path in paths if f"/{path}".endswith(f"/{name}"))
    if len(found) == 1:
        yield found[0]


def _kind(file: BinaryIO) -> str | None:
    begin = file.read(32)
    file.seek(0)
    return picture_kind(begin) if os.fstat(file.fileno()).st_size <= PICTURE_BYTES else None


def _parts(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while part := file.read(PART_BYTES):
            yield part


async def _to(request: Request) -> Response:
    """Leads to what a link names: an entry, or a day; else it says that there is none yet."""
    name, path = (request.query_params.get(key, "").strip() for key in ("name", "from"))
    with suppress(ValueError):
        return RedirectResponse(f"/day/{date.fromisoformat(name)}", 303)
    entry = await ask(request, lambda ws: leads_to(ws, name, path))
    if entry is None:
        return await page(request, "unnamed.html", 404, name=unquote(name).partition("#")[0])
    is_day = link_key(entry.date) == link_key(name)
    return RedirectResponse(
        f"/day/{entry.date}" if is_day else f"/entry/{quote(entry.id, safe='')}", 303
    )


ROUTES = [Route("/picture", _picture), Route("/to", _to)]
