"""The page of a search: it answers as the words are typed, with facets, and says on demand why
it found what.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import InvalidArgument
from ...language.words import words
from ...models import Filters, Hit
from ...notes.blocks import project_key
from ...search.search import any_of_all, search
from ...verbs import browse
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from ..render.present import headed, one_line, term_test, why_text
from ..serving.arguments import take_filters
from .rendering import lit, plain
from .site import ask, page, site_of

SHOWN, MORE = 20, 50
"""Entries of a page of the timeline; hits, where more are asked for than fit."""
FacetRows = dict[str, list[tuple[str, str, int]]]
PERIODS = {"last 7 days": 7, "last 30 days": 30, "last 12 months": 365}
EMPTY: dict[str, Any] = {
    "error": None,
    "result": None,
    "hits": (),
    "listing": None,
    "facets": {},
    "explain": False,
}


async def _search(request: Request) -> Response:
    """The whole page, or for htmx its results alone, which come with status 200, or they would
    not be shown.
    """
    asked, is_part = request.query_params, "hx-request" in request.headers
    query, loading = asked.get("q", "").strip(), site_of(request).worker.loading
    given: dict[str, Any] = {
        name: asked.getlist(name) for name in ("type", "tag", "project", "source")
    }
    given |= {name: asked.get(name, "").strip() for name in ("since", "until")}
    given |= {name: bool(asked.get(name)) for name in ("sessions", "include_superseded")}
    try:
        found, status = (
            await ask(request, lambda ws: answer(ws, query, given, asked, loading, is_part)),
            200,
        )
        given = found["given"]
    except InvalidArgument as error:
        found, status = {"error": error, "given": given}, 200 if is_part else 400

    def url(**changed: Any) -> str:
        all_of_it = {"q": query} | given | changed
        return "/search?" + urlencode(
            {name: value for name, value in all_of_it.items() if value}, doseq=True
        )

    template = "results.html" if is_part else "search.html"
    reply = await page(
        request, template, status, **EMPTY | found, query=query, loading=loading, url=url
    )
    if is_part:
        reply.headers["HX-Replace-Url"] = url()
    return reply


def answer(
    ws: Workspace,
    query: str,
    given: Mapping[str, Any],
    asked: Mapping[str, str],
    loading: bool,
    hurried: bool,
) -> dict[str, Any]:
    """What the page shows: the hits of a query, without one the newest entries; facets, and the
    filters as read.

    `hurried`: the counts of the facets may be those of a page before.
    """
    ws = replace(
        ws, config=replace(ws.config, track_access=False, metrics=False)
    )  # a letter typed reads no entry
    filters = any_of_all(
        take_filters({name: value for name, value in given.items() if value}, ws.clock())
    )
    facets, finished = in_step(
        ws, lambda _: (_known_facets(ws, filters, hurried), _finished(ws, query))
    )
    read = {
        "type": filters.types,
        "tag": filters.tags,
        "project": filters.projects,
        "source": filters.sources,
    }
    times = {"since": filters.since or "", "until": filters.until or ""}
    switches = {"sessions": filters.sessions, "include_superseded": filters.include_superseded}
    shown = {"given": read | times | switches, "facets": facets}
    if not query:
        listing = browse.find(
            ws, filters=filters, order="newest", limit=SHOWN, cursor=asked.get("cursor")
        )
        return shown | {"listing": listing, "is_older": "cursor" in asked}
    explain, limit = bool(asked.get("explain")), MORE if asked.get("more") else None
    strategy = "lexical" if loading else "auto"
    result = search(
        ws, finished, filters=filters, limit=limit, strategy=strategy, explain=explain
    )
    is_hit = term_test(result.terms, ws.index.stem)
    both = result.mode == "hybrid"
    hits = [
        (hit, *_shown(hit, is_hit), why_text(hit, hit.why, both=both) if hit.why else "")
        for hit in result.hits
    ]
    return shown | {"result": result, "hits": hits, "explain": explain, "more": limit}


def _shown(hit: Hit, is_hit: Callable[[str], bool]) -> tuple[Markup, Markup]:
    """The title and the snippet of a hit, with the words marked that were sought."""
    heading, below = headed(hit.entry.title, hit.snippet)
    lines = [line for line in below.split("\n") if line.strip() and not line.startswith("```")]
    return lit(plain(one_line(heading)), is_hit), lit(plain("\n".join(lines)), is_hit)


def _finished(ws: Workspace, query: str) -> str:
    """The query; its last word is a beginning where no entry holds it, and some hold a word
    that begins with it.
    """
    last = query.rpartition(" ")[2]
    if len(last) > 1 and [word for _, word in words(last)] == [last.lower()]:
        _, counts = ws.index.document_counts([last, f"{last}*"])
        query += "*" if counts[f"{last}*"] and not counts[last] else ""
    return query


def _known_facets(ws: Workspace, filters: Filters, hurried: bool) -> FacetRows:
    known = ws.index.file.keep("facets", dict[Filters, FacetRows])
    if not hurried or filters not in known:
        known.clear()
        known[filters] = _facets(ws, filters)
    return known[filters]


def _facets(ws: Workspace, filters: Filters) -> FacetRows:
    """By name: (value, words for it, entries that have it and pass the other filters), most
    frequent first.
    """

    def others(name: str) -> Filters:
        return replace(filters, **dict[str, Any]({name: ()}))

    index, today, facets = ws.index, ws.clock().date(), cache(ws.index.facets)
    projects = facets(others("projects")).projects
    daily = index.counted(replace(filters, since=None, until=None), "day")
    begins = {words: (today - timedelta(days)).isoformat() for words, days in PERIODS.items()}
    periods = [
        (first, words, sum(n for day, n in daily if day >= first))
        for words, first in begins.items()
    ]
    return {
        "type": [(type, type, n) for type, n in facets(others("types")).types],
        "tag": [(tag, tag, n) for tag, n in facets(others("tags")).tags],
        "project": [(project_key(project), project, n) for project, n in projects],
        "source": [
            (source, source, n) for source, n in index.counted(others("sources"), "source")
        ],
        "since": [period for period in periods if period[2]],
    }


ROUTES = [Route("/search", _search)]
