"""The search page: hits as the words are typed, facets, and reasons of ranks on demand."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from ...errors import InvalidArgument, Sentence, join_sentences
from ...filters import FILTERS, MINUS, Filters
from ...index.statistics import count_entries_by
from ...language.query import parse_filter_value
from ...language.words import words
from ...models import Hit
from ...notes.blocks import project_key
from ...render.fence import one_line
from ...render.present import IsHit, build_term_test
from ...search.happened import count_events_and_clean_notices
from ...search.search import drop_any_project, search
from ...serving.arguments import take_filters
from ...verbs import browse
from ...verbs.browse import Listing
from ...verbs.totals import sum_asked
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from .rendering import mark_hits, plain_heading, plain_lines
from .saved_searches import NOTE, save_search, saved_searches
from .site import Page, Values, page, read_form, redirect_with_message, run_verb, site_of
from .translation import localize_sentence, translate, translate_count

MORE_HITS = 50
"""The number of hits after a click on "more"."""
PLACES_SHOWN = 5
"""The most other files with the text of a hit that are named."""
SAVED_SHOWN = 30
"""The most saved searches on the search page; their note has all."""
OFFERED = [row for row in FILTERS.values() if row.page]
"""The filters on the search page, in their order."""
COUNTED = [row.name for row in OFFERED if row.page == "count"]
NO_RESULT: Values = {
    "error": None,
    "note": NOTE,
    "result": None,
    "hits": (),
    "listing": None,
    "facets": {},
    "explain": False,
    "counted": None,
    "sums": None,
    "order": "",
    "labels": {row.name: row.label for row in OFFERED},
    "form": [row for row in OFFERED if row.page == "form"],
}


async def _search_page(request: Request) -> Response:
    """Shows the search page; for a request of htmx only its results.

    The results always have status 200: htmx shows no others.
    """
    asked = request.query_params
    is_part = "hx-request" in request.headers
    query = asked.get("q", "").strip()
    loading = site_of(request).worker.loading
    filters = filters_in_address(asked)
    status = 200
    try:
        results = await run_verb(request, search_page_values, query, filters, asked, loading)
        filters = results["given"]
    except InvalidArgument as error:
        results = {"error": error, "given": filters}
        status = 200 if is_part else 400

    def url(**changed: Any) -> str:
        return _search_address(_query_and_order(asked) | filters | changed)

    template = "results.html" if is_part else "search.html"
    context = NO_RESULT | results | {"query": query, "loading": loading, "url": url}
    if not is_part:
        context["saved"] = (await run_verb(request, saved_searches))[:SAVED_SHOWN]
    reply = await page(request, template, status, **context)
    if is_part:
        reply.headers["HX-Replace-Url"] = url()
    return reply


def _query_and_order(asked: QueryParams) -> Values:
    """Returns the query of an address, and the order, which a list without a query always
    has.
    """
    query = asked.get("q", "").strip()
    return {"q": query} | ({"order": "newest"} if _is_newest_first(query, asked) else {})


def _is_newest_first(query: str, asked: Mapping[str, str]) -> bool:
    return bool(query) and asked.get("order") == "newest"


def _search_address(values: Values) -> str:
    """Returns the address of a search: its query `q` and its filters, without empty values."""
    stated = {name: value for name, value in values.items() if value}
    return "/search?" + urlencode(stated, doseq=True)


async def _save_search(request: Request) -> Response:
    """Saves the search that the form sends, and shows it."""
    form = await read_form(request)
    asked = QueryParams(form.get("search", ""))
    address = _search_address(_query_and_order(asked) | filters_in_address(asked))
    name = form.get("name", "")
    notices = await run_verb(request, save_search, name, address)
    message = translate("Saved as a link in %(note)s.", note=NOTE)
    return redirect_with_message(request, address, join_sentences([message, *notices]))


def filters_in_address(asked: QueryParams) -> Values:
    """Returns the filters in an address: lists of texts, texts, and True for a switch."""
    values: Values = {}
    for row in OFFERED:
        if row.form == "texts":
            texts = [text.strip() for text in asked.getlist(row.name)]
            values[row.name] = [text for text in texts if text]
        elif row.form == "switch":
            values[row.name] = bool(asked.get(row.name))
        else:
            values[row.name] = asked.get(row.name, "").strip()
    return values


def read_typed_filters(ws: Workspace, typed: Mapping[str, Any]) -> Filters:
    """Returns the filters that an address names, as `filters_in_address` gives them. Raises
    InvalidArgument for a wrong value.
    """
    stated = {}
    for name, value in typed.items():
        if value:
            texts = value if isinstance(value, list) else [str(value)]
            stated[name] = parse_filter_value(FILTERS[name], texts)
    return drop_any_project(take_filters(ws, stated))


def search_page_values(
    ws: Workspace, query: str, typed: Mapping[str, Any], asked: Mapping[str, str], loading: bool
) -> Values:
    """Returns the template values of the search page: hits, or entries by time (without a
    query, or where that order is asked for), facets, and the filters as understood. `ranked`
    are all entries of the answer, None for those that pass the `filters`.
    """
    # a search at every letter must not count as reading entries
    ws = replace(ws, config=replace(ws.config, track_access=False, metrics=False))
    filters = read_typed_filters(ws, typed)
    values: Values = {"given": _filter_field_texts(filters), "filters": filters}
    if not query or _is_newest_first(query, asked):
        cursor = asked.get("cursor")
        listing, holding = _list_newest(ws, query, filters, cursor, loading)
        passing = holding or filters
        values["facets"] = in_step(
            ws,
            lambda _: _facets_that_narrow(
                _count_facets_of_entries(ws, passing), values["given"]
            ),
        )
        ranked = None if holding else listing.entries
        values |= {"filters": passing, "ranked": ranked}
        return values | {"listing": listing, "is_older": cursor}
    finished_query = in_step(ws, lambda _: _complete_last_word(ws, query))
    explain = bool(asked.get("explain"))
    limit = MORE_HITS if asked.get("more") else None
    result = search(
        ws,
        finished_query,
        filters=filters,
        limit=limit,
        strategy="lexical" if loading else "auto",
        explain=explain,
    )
    is_hit = build_term_test(result.terms, ws.index.stem)
    values["facets"] = _facets_that_narrow(_count_facets_of_hits(result.hits), values["given"])
    by_filters = "newest" if result.mode == "lexical" and not result.terms else ""
    values["order"] = _order_of_list(result.notices) or by_filters
    values["counted"], result = count_events_and_clean_notices(ws, query, filters, result)
    values["sums"] = _sums_of_question(ws, query, filters)
    values["hits"] = [_hit_row(hit, is_hit) for hit in result.hits]
    values["ranked"] = [hit.entry for hit in result.hits]
    return values | {"result": result, "explain": explain, "more": limit, "most": MORE_HITS}


def _list_newest(
    ws: Workspace, query: str, filters: Filters, cursor: str | None, loading: bool
) -> tuple[Listing, Filters | None]:
    """Returns (entries newest first, the filters that they alone pass): those that hold all
    words of the query, or else the hits of a search, which no filters describe.
    """
    holding = browse.filter_by_words(ws, query, filters) if query else filters
    if holding:
        listing = browse.find(ws, filters=holding, order="newest", cursor=cursor)
        if listing.total or not query:
            return listing, holding
    options: Values = {"order": "newest", "load_model": not loading}
    return browse.find(ws, query, filters=filters, **options), None


def _order_of_list(notices: Sequence[object]) -> str:
    """Returns the order that the notice of a list names: oldest, newest or nearest. Empty if
    the answer is no list.
    """
    sentences = [notice for notice in notices if isinstance(notice, Sentence)]
    for sentence in sentences:
        named = str(sentence.values.get("order", ""))
        order = named or _order_of_list(list(sentence.values.values()))
        if order:
            return order
    return ""


def _sums_of_question(ws: Workspace, query: str, filters: Filters) -> Values | None:
    """Returns the sums below the answer to a question, and the address of their table; None
    where the question has none.
    """
    sums = sum_asked(ws, query, filters)
    if not sums:
        return None
    totals, wanted = sums
    stated = {name: value for name, value in _filter_field_texts(wanted).items() if value}
    address = "/sums?" + urlencode({"field": totals.field, "by": "day"} | stated, doseq=True)
    return {"totals": totals, "filters": wanted, "address": address}


def _filter_field_texts(filters: Filters) -> Values:
    """Maps the name of each filter on the page to the text of its field; "" if not set."""
    values: Values = {}
    without = filters.without or Filters()
    for row in OFFERED:
        value = getattr(filters, row.field)
        if row.form == "texts":
            left_out = [f"{MINUS[0]}{text}" for text in getattr(without, row.field)]
            values[row.name] = (*value, *left_out)
        elif value is None:
            values[row.name] = ""
        elif row.form == "yes or no":
            values[row.name] = value or "no"
        else:
            values[row.name] = str(value) if row.form == "integer" else value
    return values


def _hit_row(hit: Hit, is_hit: IsHit) -> tuple[Hit, Markup, Markup, str]:
    """(hit, title, snippet, reasons of its rank); the words of the query are marked."""
    entry = hit.entry
    heading, below = plain_heading(entry.title, hit.snippet)
    # the day of an entry stands below its title
    named = heading if entry.page == entry.date else entry.beside_page(heading)
    return (
        hit,
        mark_hits(named, is_hit),
        mark_hits(plain_lines(below), is_hit),
        " · ".join(_remarks_on_hit(hit)),
    )


def _remarks_on_hit(hit: Hit) -> Iterator[str]:
    """Yields the other files that hold a hit's text, what became of it, and what speaks for its
    rank if that was asked for.
    """
    places = [f"{one_line(place.path)}:{place.line}" for place in hit.also]
    if places:
        more = ["…"] if places[PLACES_SHOWN:] else []
        named = ", ".join(places[:PLACES_SHOWN] + more)
        yield translate("also in %(places)s", places=named)
    if hit.outcome:
        yield one_line(localize_sentence(hit.outcome))
    why = hit.why
    if why and not (why.lexical_rank or why.semantic_rank):
        yield translate("it passes all filters")
    elif why:
        yield translate("right in %(n)s of 100 such cases", n=round(100 * hit.score))
        if why.lexical_rank:
            yield translate("place %(n)s by its words", n=why.lexical_rank)
        if why.semantic_rank:
            yield translate("place %(n)s by its meaning", n=why.semantic_rank)
        if any(name.startswith("prefer ") for name in why.matched_filters):
            yield translate("it fits the time, phrase or name that was asked for")
        if why.decay < 1:
            left = round(100 * why.decay)
            yield translate("its age leaves it %(n)s %% of its weight", n=left)
        if why.access_count:
            yield translate_count("read %(n)s time", "read %(n)s times", why.access_count)


def _complete_last_word(ws: Workspace, query: str) -> str:
    """Returns the query with `*` behind its last word, if that is only the beginning of words
    in the journal.
    """
    last = query.rpartition(" ")[2]
    is_word = [word for _, word in words(last)] == [last.lower()]
    if len(last) < 2 or not is_word:
        return query
    prefix = f"{last}*"
    _, counts = ws.index.document_counts([last, prefix])
    return f"{query}*" if counts[prefix] and not counts[last] else query


def _facets_that_narrow(facets: Values, chosen: Mapping[str, Any]) -> Values:
    """Returns the facets that can narrow the list: those with several values, or with a chosen
    one.
    """
    return {name: rows for name, rows in facets.items() if rows[1:] or chosen[name]}


def _count_facets_of_hits(hits: Sequence[Hit]) -> Values:
    """Counts hits: for each filter a list of (value, number of hits that have it), most
    frequent first.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTED}
    for entry in (hit.entry for hit in hits):
        counts["type"][entry.type] += 1
        counts["tag"].update(entry.tags)
        if entry.project:
            counts["project"][project_key(entry.project)] += 1
        root = entry.path.partition("/")[0]
        by_file = root if root.startswith("@") else "by hand"
        counts["source"][entry.via or by_file] += 1
    return {name: count.most_common() for name, count in counts.items()}


def _count_facets_of_entries(
    ws: Workspace, filters: Filters
) -> dict[str, list[tuple[str, int]]]:
    """Counts entries: for each filter a list of (value, number of entries that pass the other
    filters), most frequent first.
    """
    count = cache(ws.index.facets)
    projects = count(replace(filters, projects=())).projects
    return {
        "type": list(count(replace(filters, types=())).types),
        "tag": list(count(replace(filters, tags=())).tags),
        "project": [(project_key(name), entries) for name, entries in projects],
        "source": count_entries_by(ws.index, replace(filters, sources=()), "source"),
    }


PAGES = [
    Page("/search", "reader", _search_page),
    Page("/search/saved", "writer", _save_search, methods=["POST"]),
]
