"""Reads a question with the words that this journal knows."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

from ..language.analysis.asked import Asked, Listed, asked_of, listed_of
from ..language.lexicon import TYPE_WORDS
from ..language.query import MAX_LIMIT, filled, terms_of
from ..language.timephrase.table import shift
from ..models import Filters
from ..workspace.workspace import Workspace
from .evidence import LIST_LIMIT, Evidence, Request

BOUNDED_DAYS = 90
"""A bounded search always has a beginning: DESIGN, section 6."""

AROUND_DAYS = 3
"""Days on either side of the day that "two weeks ago" names, which count too, the nearer first.
By eye.
"""

_ISO = re.compile(r"\d{4}-\d{2}")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
"""A date alone, which notes of other days may name: it is searched."""


def understand(
    ws: Workspace,
    request: Request,
) -> Request:
    """The search with what its words ask for besides themselves.

    A time is preferred, not required, unless it stands with "only" or a list is asked for:
    "decisions of January", "what did I do yesterday". What was given wins.
    """
    filters = request.filters
    if request.strategy == "bounded" and not filters.since:
        since = (request.now - timedelta(BOUNDED_DAYS)).date().isoformat()
        request = replace(request, filters=replace(filters, since=since))
    if not ws.config.search.analysis:
        return request
    asked = asked_of(request.parsed.text, today=request.now.date())
    return _as_a_list(ws, request, asked) or _preferring(ws, request, asked)


def _preferring(
    ws: Workspace,
    request: Request,
    asked: Asked,
) -> Request:
    filters, parsed, prefer = request.filters, request.parsed, request.prefer
    times, about = asked.time_range, request.about
    if times and not (filters.since or filters.until):
        since, until = _days(asked)
        terms = _terms(ws, asked.text)
        names_day = _ISO.search(times.phrase)  # which other notes may name
        if (names_day or terms) and not asked.only_time:
            prefer = replace(prefer, since=since, until=until)
        else:
            filters = replace(filters, since=since, until=until)
        if asked.only_time or not names_day:
            parsed = replace(parsed, text=asked.text, terms=terms)
        about = times.about
    if asked.reasons and not (filters.types or prefer.types):
        prefer = replace(prefer, types=("decision",))
    return replace(
        request,
        parsed=parsed,
        filters=filters,
        prefer=prefer,
        recent=asked.recent,
        about=about,
    )


def _as_a_list(
    ws: Workspace,
    request: Request,
    asked: Asked,
) -> Request | None:
    """The search as a list of a time, the oldest first, or of a kind or a state, the newest
    first, or among such.

    None where other words are left, and where the journal has nothing of that kind. That
    nothing is in that state, or of that project, is said.
    """
    given, parsed, order = request.filters, request.parsed, request.order
    known = ws.index.vocabulary().projects
    listed = listed_of(asked.text, asked.tongue, known)
    if not (listed and parsed.text) or parsed.phrases or request.strategy == "bounded":
        return None
    is_timed = bool(asked.time_range or given.since or given.until)
    is_day = _DATE.fullmatch(parsed.text) or not is_timed
    is_part = request.within is not None and not is_timed
    if is_part or (is_day and not listed.order):
        return None
    filters = filled(given, _filters_of(request, asked, listed, known))
    total, what = _count(ws, filters), _what(filters, listed.state)
    parsed = replace(
        parsed,
        text=listed.among,
        terms=_terms(ws, listed.among),
    )
    request = replace(
        request,
        filters=filters,
        parsed=parsed,
    )
    if listed.filters.types and not total:
        others = _count(ws, replace(filters, projects=())) if filters.projects else 0
        is_known = _count(ws, Filters(types=filters.types)) and (listed.state or others)
        beside = f"; {others:,} of other projects" if others else ""
        nothing = f"No {what.replace(' and ', ' or ')}{beside}."
        return replace(request, nothing=nothing) if is_known else None
    if not total and filters.each().keys() <= {"time", "include_superseded"}:
        return replace(request, nothing=_nearest_days(ws, filters))
    if asked.time_range and not (given.since or given.until):
        request = replace(request, about=asked.time_range.about)
    if order == "relevance" and not (listed.among or request.about):
        order = listed.order or ("newest" if asked.recent else "oldest")
    request = replace(
        request,
        order=order,
        limit=request.limit or listed.most,
    )
    told = f"Searched among: {what}." if listed.among else _told(ws, request, what, total)
    return replace(request, parsed=replace(parsed, notices=(*parsed.notices, told)))


def _filters_of(
    request: Request,
    asked: Asked,
    listed: Listed,
    known: Collection[str],
) -> Filters:
    """The filters that a list asks for; of a kind or a state those of the asking project."""
    given, added = request.filters, listed.filters
    projects = added.projects
    if listed.order and not projects:
        projects = request.prefer.projects or tuple({request.project or ""} & {*known})
    added = replace(added, projects=() if projects == ("*",) else projects)
    if not (given.since or given.until):
        since, until = _days(asked)
        added = replace(
            added,
            since=since,
            until=until,
        )
    is_timed = given.since or given.until or asked.time_range
    # of a time all that was said then, though it was replaced since
    return replace(added, include_superseded=bool(is_timed and not listed.state))


def _terms(
    ws: Workspace,
    text: str,
) -> tuple[str, ...]:
    return terms_of(text, stop_words=ws.config.search.stop_words)


def _count(
    ws: Workspace,
    filters: Filters,
) -> int:
    return ws.index.listing(
        filters,
        order="newest",
        limit=1,
    )[0]


def _what(
    filters: Filters,
    state: str,
) -> str:
    """The name of a list: `open issues and handoffs of harbor, 2026-11-20`."""
    kinds = [kind if kind == "progress" else f"{kind}s" for kind in filters.types]
    of = f" of {' and '.join(filters.projects)}" if filters.projects else ""
    when = _when(filters)
    name = f"{state} {' and '.join(kinds) or 'all entries'}{of}".strip()
    return f"{name}, {when}" if when else name


def _when(filters: Filters) -> str:
    """The days that pass the filters: `2026-11-20`, `2026-11-01 to 2026-11-10`, `since
    2026-11-20`.
    """
    since, until = filters.since, filters.until
    if since and until:
        return since if since == until else f"{since} to {until}"
    return f"since {since}" if since else f"until {until}" if until else ""


def _nearest_days(
    ws: Workspace,
    filters: Filters,
) -> str:
    """A notice that nothing is of this time, and of the days around it that have entries."""
    before, after, _ = ws.index.calendar(filters.since or "", filters.until or "9999", limit=0)
    beside = " and ".join(day for day in (before, after) if day) or "none"
    of = "of " if filters.since and filters.until else ""
    return f"No entries {of}{_when(filters)}; the nearest days with entries: {beside}."


def _told(
    ws: Workspace,
    request: Request,
    what: str,
    total: int,
) -> str:
    """A notice of what is listed, how much of it, and of what later entries replaced."""
    first = "nearest" if request.order == "relevance" else request.order
    said = f"Read as a list, {first} first: {what}"
    shown = request.limit or LIST_LIMIT
    replaced = _count(ws, replace(request.filters, include_superseded=True)) - total
    if request.within is not None:
        return f"{said}."
    if replaced:
        said += f"; {replaced:,} that later entries replaced left out"
        said += ", include_superseded shows them"
    if total > shown:
        most = min(total, MAX_LIMIT)
        more = "all" if most == total else "more"
        said += f"; {shown} of {total:,} are shown, a limit of {most} shows {more}"
    return f"{said}."


def _days(asked: Asked) -> tuple[str | None, str | None]:
    """The first and the last day that are asked for; around a day that is only about the one
    that is meant.
    """
    times = asked.time_range
    if times is None:
        return None, None
    first, last = times.start, times.end
    if times.about:
        first, last = shift(times.about, -AROUND_DAYS), shift(times.about, AROUND_DAYS)
    return first.isoformat() if first else None, last.isoformat() if last else None


def spelled(evidence: Evidence) -> dict[str, str]:
    """The nearest known word for each word of the question that no entry holds and that may be
    a typing error.
    """
    nearest = {}
    for term in evidence.request.parsed.terms:
        is_word = len(term) >= 5 and term.isalpha() and term not in TYPE_WORDS
        unknown = is_word and not evidence.has_word(term)
        word = evidence.nearest_word(term) if unknown else None
        if word:
            nearest[term] = word
    return nearest
