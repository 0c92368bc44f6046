"""The ways to a place: the palette of Ctrl+K, and the pages of a tag and of a folder."""

import posixpath
import re
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from ...errors import InvalidArgument
from ...filters import Filters
from ...language.query import read_date
from ...notes.blocks import slug_tag
from ...verbs import browse
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .site import Page, page, run_verb

ENTRIES, OTHERS = 8, 4
"""The most entries, and the most tags or folders, in the palette. Chosen by eye."""
_GAP = re.compile(r"\W+")


Goal = tuple[str, str, str]
"""A suggestion of the palette: an address, its name, and its type: `tag`, `folder`, `day`, or
the date of an entry.
"""


async def _palette_page(request: Request) -> Response:
    query = request.query_params.get("q", "").strip()[:200]
    places = await run_verb(request, _palette_suggestions, query)
    return await page(request, "palette.html", places=places, query=query)


def _palette_suggestions(ws: Workspace, query: str) -> list[Goal]:
    """Returns suggestions for the palette: the day, tags, folders and entries whose words begin
    like the words of `query`; the newest entries for an empty one.
    """

    def run(_: object) -> list[Goal]:
        places = []
        with suppress(InvalidArgument):
            day = read_date(query, ws.clock(), "date")
            places.append((_page_address("day", day), day, "day"))
        tags = ws.index.vocabulary().tags
        often = sorted(tags, key=lambda name: -tags[name])
        for kind, names in (("tag", often), ("folder", _list_folders(ws))):
            fitting = [
                name
                for name in names
                if query and _has_words_beginning_like(query, _lower_words(name))
            ]
            places += [(_page_address(kind, name), name, kind) for name in fitting[:OTHERS]]
        rows = _rank_titles(query, ws.index.folded_titles(_lower_words))
        stored = ws.index.entries(rows)
        for entry in (stored[row].entry for row in rows):
            on = entry.date if entry.dated else "undated"
            places.append((_page_address("entry", entry.id), entry.title_in_lists, on))
        return places

    return in_step(ws, run)


def _rank_titles(query: str, titles: Iterable[tuple[int, str]]) -> list[int]:
    """Returns the ids of the matching titles: first those that begin like the query, then the
    newest.
    """
    whole = _lower_words(query)
    first = []
    others = []
    for row, title in titles:
        if title.startswith(whole):
            first.append(row)
        elif _has_words_beginning_like(query, title):
            others.append(row)
    return [*first, *others][:ENTRIES]


def _lower_words(text: str) -> str:
    """Returns the words of a text in lower case, a blank before each."""
    return _GAP.sub(" ", f" {text.casefold()}").rstrip()


def _has_words_beginning_like(query: str, folded: str) -> bool:
    return all(f" {word}" in folded for word in _lower_words(query).split())


def _page_address(kind: str, name: str) -> str:
    return f"/{kind}/{quote(name)}"


def _list_folders(ws: Workspace) -> list[str]:
    """Returns the folders that contain files of the journal, and their parent folders."""
    folders = set()
    for folder in {path.rpartition("/")[0] for path in ws.index.paths()}:
        while folder:
            folders.add(folder)
            folder = posixpath.dirname(folder)
    return sorted(folders)


async def _tag_page(request: Request) -> Response:
    name = slug_tag(request.path_params["name"])
    filters = Filters(tags=(name,), include_superseded=True)
    tags = await run_verb(request, lambda ws: in_step(ws, lambda _: ws.index.vocabulary().tags))
    return await _tag_or_folder_page(request, "tag", name, sorted(tags), filters)


async def _folder_page(request: Request) -> Response:
    name = request.path_params.get("name", "").strip("/")
    filters = Filters(paths=(f"/{name}/",) if name else (), include_superseded=True)
    names = await run_verb(request, lambda ws: in_step(ws, lambda _: _list_folders(ws)))
    return await _tag_or_folder_page(request, "folder", name, names, filters)


async def _tag_or_folder_page(
    request: Request, kind: str, name: str, names: list[str], filters: Filters
) -> Response:
    """Shows the page of a tag or a folder: its sub-tags or subfolders (`names`), and its
    entries, newest first.
    """
    cursor = request.query_params.get("cursor")
    listing = await run_verb(
        request, browse.find, filters=filters, order="newest", cursor=cursor
    )
    return await page(
        request,
        "place.html",
        200 if listing.total else 404,
        kind=kind,
        name=name,
        around=posixpath.dirname(name),
        within=[one for one in names if one and posixpath.dirname(one) == name],
        listing=listing,
        is_more=cursor,
    )


PAGES = [
    Page("/palette", "reader", _palette_page),
    Page("/tag/{name:path}", "reader", _tag_page),
    Page("/folder", "reader", _folder_page),
    Page("/folder/{name:path}", "reader", _folder_page),
]
