"""The page of a search: it answers as the words are typed, with facets, and says on demand why it found what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...errors import InvalidArgument
from ...language.query import build_filters
from ...language.words import words
from ...models import Filters
from ...notes.blocks import project_key
from ...search.search import any_of_all, search
from ...verbs import browse
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from ..present import clean, one_line, term_test, why_text
from .rendering import lit
from .site import ask, page, site_of

SHOWN, MORE = 20, 50
"""Entries of a page of the timeline; hits, where more are asked for than fit."""
PERIODS = {"last week": 7, "last month": 30, "last year": 365}
"""In days."""
EMPTY: dict[str, Any] = {"error": None, "result": None, "hits": (), "listing": None, "facets": {}, "explain": False}
_NAMES = ("type", "tag", "project", "source", "since", "until", "sessions")


async def _search(request: Request) -> Response:
    """The whole page, or for htmx its results alone, which come with status 200, or they would not be shown."""
    asked, is_part = request.query_params, "hx-request" in request.headers
    query = asked.get("q", "").strip()
    given: dict[str, Sequence[str]] = {name: [one for one in asked.getlist(name) if one.strip()] for name in _NAMES}
    loading = site_of(request).worker.loading

    def read(ws: Workspace) -> dict[str, Any]:
        quiet = replace(ws, config=replace(ws.config, track_access=False, metrics=False))  # a letter typed is no read
        return _answer(
            quiet,
            query,
            _filters(ws, given),
            loading=loading,
            cursor=asked.get("cursor"),
            explain=bool(asked.get("explain")),
            more=bool(asked.get("more")),
        )

    try:
        found, status = await ask(request, read), 200
        given = found["given"]
    except InvalidArgument as error:
        found, status = {"error": error, "given": given}, 200 if is_part else 400

    def url(**changed: Any) -> str:
        all_of_it = {"q": query} | given | changed
        return "/search?" + urlencode({name: value for name, value in all_of_it.items() if value}, doseq=True)

    template = "results.html" if is_part else "search.html"
    answer = page(request, template, status, **EMPTY | found, query=query, loading=loading, url=url)
    if is_part:
        answer.headers["HX-Replace-Url"] = url()
    return answer


def _filters(ws: Workspace, given: dict[str, Sequence[str]]) -> Filters:
    one = {name: given[name][-1] if given[name] else None for name in ("since", "until")}
    several = {name: given[name] for name in ("type", "tag", "project", "source")}
    return any_of_all(build_filters(now=ws.clock(), sessions=bool(given["sessions"]), **several, **one))  # type: ignore[arg-type]


def _answer(
    ws: Workspace, query: str, filters: Filters, *, loading: bool, cursor: str | None, explain: bool, more: bool
) -> dict[str, Any]:
    """What the page shows: the hits of a query, without one the newest entries; facets, and the filters as given."""
    given = {"type": filters.types, "tag": filters.tags, "project": filters.projects, "source": filters.sources}
    times = {"since": filters.since or "", "until": filters.until or "", "sessions": "1" if filters.sessions else ""}
    facets, finished = in_step(ws, lambda _: (_facets(ws, filters), _finished(ws, query)))
    shown = {"given": given | times, "facets": facets}
    if not query:
        listing = browse.find(ws, filters=filters, order="newest", limit=SHOWN, cursor=cursor)
        return shown | {"listing": listing, "is_older": bool(cursor)}
    result = search(
        ws,
        finished,
        filters=filters,
        limit=MORE if more else None,
        strategy="lexical" if loading else "auto",
        explain=explain,
    )
    is_hit = term_test(result.terms, ws.index.stem)
    hits = [
        {
            "hit": hit,
            "title": lit(one_line(hit.entry.title), is_hit),
            "snippet": lit(_below(hit.snippet, hit.entry.title), is_hit),
            "why": why_text(hit, hit.why, both=result.mode == "hybrid") if hit.why else "",
        }
        for hit in result.hits
    ]
    return shown | {"result": result, "hits": hits, "explain": explain, "more": more}


def _below(snippet: str, title: str) -> str:
    """The lines of a snippet that hold something, but for the title's own."""
    lines = (line.rstrip() for line in clean(snippet).split("\n"))
    return "\n".join(line for line in lines if line.rstrip(".") not in ("", one_line(title).rstrip(".")))


def _finished(ws: Workspace, query: str) -> str:
    """The query; its last word is a beginning where no entry holds it, and some hold a word that begins with it."""
    last = query.rpartition(" ")[2]
    if len(last) > 1 and [word for _, word in words(last)] == [last.lower()]:
        _, counts = ws.index.document_counts([last, f"{last}*"])
        query += "*" if counts[f"{last}*"] and not counts[last] else ""
    return query


def _facets(ws: Workspace, filters: Filters) -> dict[str, list[tuple[str, str, int, bool]]]:
    """By name: (value, words for it, entries that pass the other filters, whether it is chosen), the most first."""

    def other(name: str) -> Filters:
        free: dict[str, Any] = {name: ()}
        return replace(filters, **free)

    index, today = ws.index, ws.clock().date()
    counts = {
        "type": (index.facets(other("types")).types, filters.types),
        "tag": (index.facets(other("tags")).tags, filters.tags),
        "project": (index.facets(other("projects")).projects, filters.projects),
        "source": (index.origins(other("sources")), filters.sources),
    }
    found = {
        name: [
            (value := project_key(words) if name == "project" else words, words, count, value in chosen)
            for words, count in counted
        ]
        for name, (counted, chosen) in counts.items()
    }
    daily = index.daily(replace(filters, since=None, until=None))
    begins = {words: (today - timedelta(days)).isoformat() for words, days in PERIODS.items()}
    found["since"] = [
        (begin, words, n, begin == filters.since)
        for words, begin in begins.items()
        if (n := sum(count for day, count in daily.items() if day >= begin))
    ]
    return found


ROUTES = [Route("/search", _search)]
