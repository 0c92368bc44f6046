"""Gives the entries that a page shows: a zip of Markdown with the files to which they link, and
a page to print.

The address is that of a search, also with folders as `path`, or has the `id` of an entry.
"""

import posixpath
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import quote
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...filters import Filters
from ...journal.shelf import files_by_name, linked_files
from ...models import Entry
from ...notes.amounts import read_amount
from ...notes.header import write_comment
from ...notes.marks import fields_of_front_matter
from ...notes.privacy import escape_tags
from ...render.wire import entry_json
from ...search.search import drop_any_project
from ...verbs import browse
from ...verbs.exports import export
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .attachments import open_attachments, read_in_parts, shown_files, without_metadata
from .searching import filters_in_address, search_page_values
from .site import Page, Values, page, run_slow_verb, session_of, site_of
from .translation import translate

ENTRIES, PRINTED = 5_000, 500
"""The most entries in a zip, and on a page to print."""
NAME_BYTES, STEM_BYTES, SUFFIX_CHARS = 120, 80, 8
"""The most bytes of a path in a zip; and of the stem and suffix of a file name that is
longer.
"""
FRONT = "title date type tags project importance files due expires by via source".split()
"""The values of an entry that other programs read in the front matter of its file."""
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can store."""
MOST_WIDE = 1 << 20
"""No line of front matter is broken."""
_UNSAFE = re.compile(
    r'\A/|[\x00-\x1f\x7f\ud800-\udfff<>:"\\|?*]|(?<![ .])[ .]+(?=/|\Z)'  # `..`, `a. `
)
"""Matches text in a path that some operating system does not allow."""


async def _zip_page(request: Request) -> Response:
    file = await run_in_threadpool(TemporaryFile)
    await run_slow_verb(request, lambda ws: _write_zip(ws, file, request), "slow")
    headers = {"Content-Disposition": "attachment"}
    return StreamingResponse(read_in_parts(file), media_type="application/zip", headers=headers)


async def _print_page(request: Request) -> Response:
    total, entries = await run_slow_verb(
        request, lambda ws: _read_entries_to_print(ws, request), "slow"
    )
    count = len(set(map(note_of_entry, entries))) if total == len(entries) else total
    return await page(request, "print.html", total=total, count=count, entries=entries)


def _read_entries_to_print(ws: Workspace, request: Request) -> tuple[int, list[Entry]]:
    """Returns (total number of matching entries, the entries that fit on a page to print) for
    the search in a request's address.
    """
    newest = request.query_params.get("first") == "newest"
    total, entries = _read_matching_entries(ws, request, newest=newest)
    return total, list(islice(entries, PRINTED))


def note_of_entry(entry: Entry) -> str:
    """The note that an entry counts as: the sections of one daily note are one."""
    return f"{entry.path} {entry.date}" if entry.of_daily_note else entry.id


def _read_matching_entries(
    ws: Workspace, request: Request, *, newest: bool
) -> tuple[int, Iterator[Entry]]:
    """Returns (number, entries) that the search in a request's address matches: as ranked, or
    oldest first where filters alone select them, or the `newest` that can be printed.
    """
    asked = request.query_params
    if "id" in asked:
        return 1, iter(browse.get(ws, [asked["id"]]).entries)
    _, results = search_in_address(ws, request)
    if results["ranked"] is not None:
        return len(results["ranked"]), iter(results["ranked"])
    total, filters = results["listing"].total, results["filters"]
    if newest:
        return total, iter(in_step(ws, lambda _: _read_newest(ws, filters)))
    return total, export(ws, filters)


def _read_newest(ws: Workspace, filters: Filters) -> list[Entry]:
    """Returns the newest entries that pass, as the list on the page shows them."""
    rows = ws.index.list_rows(drop_any_project(filters), order="newest", limit=PRINTED)
    return [*read_entries(ws, rows).values()]


def search_in_address(ws: Workspace, request: Request) -> tuple[str, Values]:
    """Returns (query, values of the search page) of the search in a request's address."""
    asked = request.query_params
    values = filters_in_address(asked) | {"path": asked.getlist("path")}
    query = asked.get("q", "").strip()
    loading = site_of(request).worker.loading
    return query, search_page_values(ws, query, values, asked, loading)


def _write_zip(ws: Workspace, zipped: IO[bytes], request: Request) -> None:
    """Writes a zip with a Markdown file for each entry that a request's address matches, and
    with the attachments to which they link.
    """
    zipped.seek(0)  # a reader that could not may have begun
    zipped.truncate()
    total, entries = _read_matching_entries(ws, request, newest=False)
    shelf = open_attachments(ws, site_of(request).tokens.path)
    shown_only = session_of(request).read_only
    find_links = shown_files if shown_only else linked_files
    listing = cache(files_by_name)
    taken: set[str] = set()
    counted: set[tuple[str, str, str]] = set()
    names = {}
    with ZipFile(zipped, "w") as archive:
        for entry in islice(entries, ENTRIES):
            note = make_unique_name(_path_in_zip(entry), taken)
            text = _render_front_matter(entry, counted)
            at = 0
            for link, place in find_links(shelf, entry, listing):
                if place not in names:
                    names[place] = make_unique_name(place, taken)
                to = posixpath.relpath(names[place], posixpath.dirname(note) or ".")
                text += escape_tags(entry.content[at : link.start])
                text += to if link.form == "wiki" else quote(to)
                at = link.end
            text += f"{escape_tags(entry.content[at:])}\n"
            written = time.localtime() if entry.dated else entry.at.timetuple()
            info = ZipInfo(note, max(written[:6], EARLIEST))
            archive.writestr(info, text.encode("utf-8", "replace"), ZIP_DEFLATED)
        for place, name in names.items():
            info = ZipInfo(name, time.localtime()[:6])
            opened = shelf.open(place)
            file = opened and opened[1]
            if opened and shown_only:
                file = without_metadata(*opened)
            if file:
                with file, archive.open(info, "w") as member:
                    shutil.copyfileobj(file, member)
        if total > ENTRIES:
            archive.writestr("NOT ALL.txt", f"{_describe_rest(total)}\n")
    zipped.seek(0)


def _describe_rest(total: int) -> str:
    """Returns what the file in a zip says that does not hold all entries."""
    return translate(
        "These are the first %(n)s of %(total)s entries. Download others apart: choose dates "
        "in the search.",
        n=ENTRIES,
        total=total,
    )


def _path_in_zip(entry: Entry) -> str:
    """Returns the path of an entry in a zip: the path of its file, or one with its date and
    title beside that.
    """
    path = entry.path
    if entry.whole_file:
        return path
    title = entry.title[:60].replace("/", "-")
    return posixpath.join(posixpath.dirname(path), f"{entry.date} {title}.md")


def make_unique_name(wanted: str, taken: set[str]) -> str:
    """Returns a name like `wanted` that every operating system allows and that is not in
    `taken`; adds it to `taken`.
    """
    stem, suffix = posixpath.splitext(_UNSAFE.sub("-", wanted))
    if len(f"{stem}-9999{suffix}".encode()) > NAME_BYTES:
        stem = posixpath.basename(stem).encode()[:STEM_BYTES].decode(errors="ignore")
        suffix = suffix[:SUFFIX_CHARS]
    name = f"{stem}{suffix}"
    number = 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}{suffix}"
    taken.add(name.casefold())
    return name


def _render_front_matter(entry: Entry, counted: set[tuple[str, str, str]]) -> str:
    """Returns the YAML front matter of an exported entry. Its key `syn` holds what the comment
    of the entry would, by which an import knows the entry again.

    An amount in the front matter of a file is written with the first entry of that file, as it
    counts once in a sum; `counted` holds (path, field, value) of those before, and it is added.
    """
    import yaml

    fields: dict[str, list[str]] = {}
    for name, value in fields_of_front_matter(entry):
        field = (entry.path, name, value)
        if field not in counted or not read_amount(value):
            fields.setdefault(name, []).append(value)
        counted.add(field)
    values = entry_json(entry) | {"date": entry.dated and entry.at}
    front = {name: values[name] for name in FRONT if values[name]} | fields
    bare = replace(entry, fingerprints=(), branch=None, remote=None, root=None, pin=False)
    bare = replace(bare, extra=(*entry.extra, ("type", entry.type)))
    comment = write_comment(bare, entry.at.isoformat() if entry.dated else None)
    front["syn"] = comment.removeprefix("<!-- syn:").removesuffix(" -->")
    text = yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=MOST_WIDE)
    return f"---\n{text}---\n\n"


PAGES = [Page("/export", "writer", _zip_page), Page("/print", "writer", _print_page)]
