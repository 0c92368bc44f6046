"""The ways to a place: the palette of Ctrl+K, what a text box offers behind `[[` and `#`, and
the pages of a tag and of a folder.
"""

import posixpath
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from ...errors import InvalidArgument
from ...filters import Filters
from ...index.lists import list_folded_titles
from ...language.time_fields import read_date
from ...models import Entry
from ...notes.blocks import slug_tag
from ...notes.link_names import NOT_IN_LINK
from ...notes.marks import link_key
from ...verbs import browse
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .day_texts import format_date, format_weekday
from .site import Page, page, run_verb
from .tag_spellings import spell_tag, spell_tags
from .translation import format_number, translate
from .unlinked import link_targets_of

ENTRIES, OTHERS = 8, 4
"""The most entries, and the most tags or folders, in the palette. Chosen by eye."""
_GAP = re.compile(r"\W+")


Suggestion = tuple[str, str, str]
"""A suggestion: an address, or the text that a text box takes; its name; and its type: `tag`,
`folder`, `day`, or the folder and date of an entry.
"""


async def _palette_page(request: Request) -> Response:
    query = request.query_params.get("q", "").strip()[:200]
    places = await run_verb(request, _palette_suggestions, query)
    return await page(request, "palette.html", places=places, query=query)


def _palette_suggestions(ws: Workspace, query: str) -> list[Suggestion]:
    """Returns suggestions for the palette: the day, tags, folders and entries whose words begin
    like the words of `query`; the newest entries for an empty one.
    """

    def run(_: object) -> list[Suggestion]:
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
            for name in fitting[:OTHERS]:
                spelling = spell_tag(ws, name) if kind == "tag" else name
                places.append((_page_address(kind, name), spelling, kind))
        rows = _rank_titles(query, list_folded_titles(ws.index, _lower_words))
        stored = ws.index.entries(rows)
        for entry in (stored[row].entry for row in rows):
            address = _page_address("entry", entry.id)
            places.append((address, entry.title_in_lists, _folder_and_date(entry)))
        return places

    return in_step(ws, run)


async def _complete_page(request: Request) -> Response:
    query = request.query_params
    typed = query.get("q", "").strip()[:200]
    suggest = _tag_suggestions if query.get("kind") == "tag" else _link_suggestions
    places = await run_verb(request, suggest, typed)
    return await page(request, "complete.html", places=places)


def _tag_suggestions(ws: Workspace, typed: str) -> list[Suggestion]:
    """Returns the tags that begin like `typed`, the most frequent first; not what is typed."""
    tags = in_step(ws, lambda _: ws.index.vocabulary().tags)
    begin = slug_tag(typed)
    fitting = [name for name in tags if name.startswith(begin)]
    often = sorted(fitting, key=lambda name: (-tags[name], name))[:ENTRIES]
    spelled = spell_tags(ws, often)
    return [
        (f"#{spelled[name]}", f"#{spelled[name]}", format_number(tags[name]))
        for name in often
        if spelled[name] != typed.lstrip("#")
    ]


def _link_suggestions(ws: Workspace, typed: str) -> list[Suggestion]:
    """Returns the day and the entries whose names begin like `typed`, each with the link that
    leads to it.
    """

    def run(_: object) -> list[Suggestion]:
        places = []
        with suppress(InvalidArgument):
            day = date.fromisoformat(read_date(typed, ws.clock(), "date"))
            name = day.strftime(ws.config.day_title or "%Y-%m-%d")
            places.append((f"[[{name}]]", name, format_weekday(day)))
        ranked = _rank_titles(typed, list_folded_titles(ws.index, _lower_words))
        # an alias is offered where it was typed whole: the index has no texts of aliases
        named = ws.index.entries_by_name_key([link_key(typed)]).get(link_key(typed), [])
        rows = list(dict.fromkeys([*(named if len(named) == 1 else ()), *ranked]))
        stored = ws.index.entries(rows)
        entries = {row: stored[row].entry for row in rows}
        for row, target in link_targets_of(ws, entries).items():
            entry = entries[row]
            title = " ".join(NOT_IN_LINK.sub(" ", entry.title_in_lists).split())
            link = f"[[{target}]]" if target == title else f"[[{target}|{title}]]"
            places.append((link, entry.title_in_lists, _folder_and_date(entry)))
        return places

    return in_step(ws, run)


def _folder_and_date(entry: Entry) -> str:
    """Returns the folder of a note that is a file, and the date of the entry."""
    folder = posixpath.dirname(entry.path) if entry.there.whole_file else ""
    on = format_date(entry.date, False) if entry.dated else translate("undated")
    return f"{folder} · {on}" if folder else on


def _rank_titles(query: str, titles: Iterable[tuple[int, str, str]]) -> list[int]:
    """Returns the ids of the entries whose titles and paths match: first titles that begin like
    the query, then the newest, then those of which the path is needed to match.
    """
    whole = _lower_words(query)
    first = []
    others = []
    by_path = []
    for row, title, path in titles:
        if title.startswith(whole):
            first.append(row)
        elif _has_words_beginning_like(query, title):
            others.append(row)
        elif path and _has_words_beginning_like(query, title + path):
            by_path.append(row)
    return [*first, *others, *by_path][:ENTRIES]


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
    Page("/complete", "writer", _complete_page),
    Page("/tag/{name:path}", "reader", _tag_page),
    Page("/folder", "reader", _folder_page),
    Page("/folder/{name:path}", "reader", _folder_page),
]
