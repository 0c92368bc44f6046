"""Reads a question, or a note, with the words that this journal knows."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from ..language.analysis.asked import (
    NO_NAMES,
    READ_CHARACTERS,
    Asked,
    Known,
    asked_of,
    listed_of,
)
from ..language.analysis.plan import PlannedQuery, QueryPlan, form_of, plan_of
from ..language.analysis.shapes import Analysis, Keyword, NoteReading
from ..language.lexicon import SHARED, STOP_WORDS, TYPE_WORDS
from ..language.query import MAX_LIMIT, filled, parse_query, terms_of
from ..language.timephrase.table import shift
from ..language.words import words
from ..models import Filters
from ..notes.privacy import without_private
from ..workspace.readback import read_passages
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .evidence import LIST_LIMIT, Evidence, Request
from .near import suggest_tags

BOUNDED_DAYS = 90
"""A bounded search always has a beginning: DESIGN, section 6."""

AROUND_DAYS = 3
"""Days on either side of the day that "two weeks ago" names, which count too, the nearer first.
By eye.
"""

MAX_KEYWORDS = 12
"""Keywords of a note. By eye."""
NAMES_SOUGHT = 8
"""Words of a question that the journal is asked about: whether it writes them as names."""
PASSAGES_READ = 4
"""Passages for each such word; enough to see how the journal writes it, few enough for each
question.
"""
_ISO = re.compile(r"\d{4}-\d{2}")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
"""A date alone, which notes of other days may name: it is searched."""


# -- for every search
# ---------------------------------------------------------------------------------


def understand(ws: Workspace, request: Request) -> Request:
    """The search with what its words ask for besides themselves, and with its plan.

    A time is preferred, not required, unless it stands with "only" or a list is asked for:
    "decisions of January", "what did I do yesterday". What was given wins.
    """
    listed, filters = None, request.filters
    if request.strategy == "bounded" and not filters.since:
        since = (request.now - timedelta(BOUNDED_DAYS)).date().isoformat()
        request = replace(request, filters=replace(filters, since=since))
    if ws.config.search.analysis:
        asked = asked_of(request.parsed.text, today=request.now.date())
        listed = _as_a_list(ws, request, asked)
        request = listed or _preferring(ws, request, asked)
    return replace(request, plan=_plan(request, is_list=listed is not None))


def _plan(request: Request, *, is_list: bool) -> QueryPlan:
    """The sub-queries of the search; only a smart one has several."""
    text, filters = request.parsed.text, request.filters
    if request.strategy == "smart" and request.parsed.terms:
        return plan_of(text, parts=request.parts)
    layer: str = "semantic" if request.strategy == "bounded" else request.strategy
    wanted = filters if is_list or filters.since or filters.until else request.prefer
    if not request.parsed.terms:
        layer = (
            "symbolic"
            if filters.types or filters.tags or not (filters.since or filters.until)
            else "temporal"
        )
    names = [
        (name, getattr(wanted, name))
        for name in ("types", "projects", "tags", "since", "until")
    ]
    shown = tuple(
        (name, value if isinstance(value, str) else ", ".join(value))
        for name, value in names
        if value
    )
    return QueryPlan((PlannedQuery("q1", text, layer, 1, shown),))


def _preferring(ws: Workspace, request: Request, asked: Asked) -> Request:
    filters, parsed, prefer = request.filters, request.parsed, request.prefer
    if asked.time_range and not (filters.since or filters.until):
        terms = (
            terms_of(asked.text, stop_words=ws.config.search.stop_words) if asked.text else ()
        )
        since, until = _days(asked)
        if not asked.only_time and _ISO.search(
            asked.time_range.phrase
        ):  # notes of other days may name it
            return replace(request, prefer=replace(prefer, since=since, until=until))
        if asked.only_time or not terms:
            filters = replace(filters, since=since, until=until)
        else:
            prefer = replace(prefer, since=since, until=until)
        parsed = replace(parsed, text=asked.text, terms=terms)
        request = replace(request, about=asked.time_range.about)
    if asked.reasons and not (filters.types or prefer.types):
        prefer = replace(prefer, types=("decision",))
    return replace(request, parsed=parsed, filters=filters, prefer=prefer, recent=asked.recent)


def _as_a_list(ws: Workspace, request: Request, asked: Asked) -> Request | None:
    """The search as a list of a time, the oldest first, or of a kind or a state, the newest
    first, or among such.

    None where other words are left, and where the journal has nothing of that kind. That
    nothing is in that state, or of that project, is said.
    """
    given, parsed, order = request.filters, request.parsed, request.order
    known = ws.index.vocabulary().projects
    listed = listed_of(asked.text, asked.tongue, known)
    is_timed = (
        (asked.time_range or given.since or given.until)
        and parsed.text
        and request.strategy != "bounded"
    )
    if (
        listed is None
        or parsed.phrases
        or {"tags", "without"} & given.each().keys() & listed.filters.each().keys()
    ):
        return None
    if not listed.order and (_DATE.fullmatch(parsed.text) or not is_timed):
        return None
    if not is_timed and (
        request.strategy not in ("hybrid", "smart") or request.within is not None
    ):
        return None
    added, said, about = listed.filters, listed.among, None
    if is_timed and not listed.state:  # what was said then, though it was replaced since
        added = replace(added, include_superseded=True)
    asking = request.prefer.projects or tuple({request.project or ""} & known)
    projects = added.projects or (asking if listed.order else ())
    added = replace(added, projects=() if projects == ("*",) else projects)
    if not (given.since or given.until):
        since, until = _days(asked)
        added = replace(added, since=since, until=until)
        about = asked.time_range.about if asked.time_range else None
    filters = filled(given, added)
    parsed = replace(
        parsed, text=said, terms=terms_of(said, stop_words=ws.config.search.stop_words)
    )
    total, what = _count(ws, filters), _what(filters, listed.state)
    if added.types and not total:
        others = _count(ws, replace(filters, projects=())) if filters.projects else 0
        if not (listed.state or others) or not _count(ws, Filters(types=filters.types)):
            return None
        nothing = (
            f"No "
            f"{what.replace(' and ', ' or ')}{f'; {others:,} of other projects' if others else ''}."
        )
        return replace(request, filters=filters, parsed=parsed, nothing=nothing)
    if not (total or said) and filters.each().keys() <= {"time", "include_superseded"}:
        return replace(
            request, filters=filters, parsed=parsed, nothing=_nearest_days(ws, filters)
        )
    if order == "relevance" and not (said or about):
        order = listed.order or ("newest" if asked.recent else "oldest")
    request = replace(
        request, filters=filters, order=order, limit=request.limit or listed.most, about=about
    )
    told = f"Searched among: {what}." if said else _told(ws, request, what, total)
    return replace(request, parsed=replace(parsed, notices=(*parsed.notices, told)))


def _count(ws: Workspace, filters: Filters) -> int:
    return ws.index.listing(filters, order="newest", limit=1)[0]


def _what(filters: Filters, state: str) -> str:
    """The name of a list: `open issues and handoffs of harbor, 2026-11-20`."""
    kinds = [kind if kind == "progress" else f"{kind}s" for kind in filters.types] or [
        "all entries"
    ]
    of = f" of {' and '.join(filters.projects)}" if filters.projects else ""
    when = _when(filters)
    return f"{state} {' and '.join(kinds)}{of}{f', {when}' if when else ''}".strip()


def _when(filters: Filters) -> str:
    """The days that pass the filters: `2026-11-20`, `2026-11-01 to 2026-11-10`, `since
    2026-11-20`.
    """
    when = " to ".join(dict.fromkeys(day for day in (filters.since, filters.until) if day))
    if filters.since and filters.until:
        return when
    return f"since {when}" if filters.since else f"until {when}" if filters.until else ""


def _nearest_days(ws: Workspace, filters: Filters) -> str:
    """A notice that nothing is of this time, and of the days around it that have entries."""
    before, after, _ = ws.index.calendar(filters.since or "", filters.until or "9999", limit=0)
    beside = " and ".join(day for day in (before, after) if day) or "none"
    of = "of " if filters.since and filters.until else ""
    return f"No entries {of}{_when(filters)}; the nearest days with entries: {beside}."


def _told(ws: Workspace, request: Request, what: str, total: int) -> str:
    """A notice of what is listed, how much of it, and of what later entries replaced."""
    first = "nearest" if request.order == "relevance" else request.order
    said = f"Read as a list, {first} first: {what}"
    shown = request.limit or LIST_LIMIT
    replaced = _count(ws, replace(request.filters, include_superseded=True)) - total
    if replaced and request.within is None:
        said += f"; {replaced:,} that later entries replaced left out, include_superseded shows them"
    if request.within is None and total > shown:
        most = min(total, MAX_LIMIT)
        said += (
            f"; {shown} of {total:,} are shown, a limit of {most} shows "
            f"{'all' if most == total else 'more'}"
        )
    return f"{said}."


def _days(asked: Asked) -> tuple[str | None, str | None]:
    """The first and the last day that are asked for; around a day that is only about the one
    that is meant.
    """
    times = asked.time_range
    if times and times.about:
        around = shift(times.about, -AROUND_DAYS), shift(times.about, AROUND_DAYS)
        return around[0].isoformat(), around[1].isoformat()
    return (
        tuple(day.isoformat() if day else None for day in (times.start, times.end))  # type: ignore[return-value]
        if times
        else (None, None)
    )


def spelled(evidence: Evidence) -> dict[str, str]:
    """The nearest known word for each word of the question that no entry holds and that may be
    a typing error.
    """
    nearest = {}
    for term in evidence.request.parsed.terms:
        unknown = (
            len(term) >= 5
            and term.isalpha()
            and term not in TYPE_WORDS
            and not evidence.has_word(term)
        )
        word = evidence.nearest_word(term) if unknown else None
        if word:
            nearest[term] = word
    return nearest


# -- for an analysis
# ----------------------------------------------------------------------------------


def analysis_of(ws: Workspace, query: str) -> Analysis:
    """The analysis of a question, with the plan of a search without options.

    Its keywords weigh what they tell in this journal.
    """
    from ..language.analysis.analyze import analyze  # a search needs none of its words

    def run(_: SyncReport) -> Analysis:
        now = ws.clock()
        stop_words, fields = ws.config.search.stop_words, ws.index.field_names
        tags, projects, files = ws.index.vocabulary()
        parsed = parse_query(
            query, Filters(), now=now, stop_words=stop_words, fields=fields, tags=lambda: tags
        )
        understood = understand(ws, Request(parsed=parsed, now=now, strategy=form_of(parsed)))
        told = (understood.nothing,) if understood.nothing else understood.parsed.notices
        names = _names_used(ws, query[:READ_CHARACTERS])
        known = Known(tags=frozenset(tags), projects=projects, files=files, names=names)
        found = analyze(
            query, asked=asked_of(query, today=now.date()), plan=understood.plan, known=known
        )
        rarity = _rarity(ws, [keyword.term for keyword in found.keywords])
        weighed = [
            replace(k, weight=round(k.weight * rarity[k.term], 3)) for k in found.keywords
        ]
        return replace(
            found, keywords=tuple(sorted(weighed, key=lambda k: -k.weight)), notices=told
        )

    return in_step(ws, run)


def _names_used(ws: Workspace, question: str) -> frozenset[str]:
    """Words of the question, and runs of them, that passages of the journal write as names.

    A name has a capital within a sentence, more often than not: `where is maria lopez` asks for
    Maria Lopez where the journal says "lunch with Maria Lopez".
    """
    line = " ".join(word for _, word in words(question))
    named = [word for word in dict.fromkeys(line.split()) if word.isalpha() and len(word) > 2]
    sought = [word for word in named if word not in NO_NAMES and word not in SHARED.tools][
        :NAMES_SOUGHT
    ]
    if not sought:
        return frozenset()
    known_stems = filter(None, map(ws.index.stem, sought))
    chunks = {
        chunk
        for stem in known_stems
        for chunk in ws.index.chunks_with_stem(stem, limit=PASSAGES_READ)
    }
    within = re.compile(
        rf"(?<=[\w,;)] )\b((?i:{'|'.join(sought)}))\b(?=((?: [A-Z]\w+){{0,3}}))"
    )
    written: dict[str, list[tuple[str, list[str]]]] = {}
    for text, _ in read_passages(ws, list(chunks)).values():
        for found in within.finditer(text):
            written.setdefault(found[1].lower(), []).append((found[1], found[2].split()))
    names: set[str] = set()
    for places in written.values():
        capitals = [place for place in places if place[0][0].isupper()]
        if 2 * len(capitals) <= len(places):
            continue
        for name, after in capitals:
            runs = (" ".join([name, *after[:count]]) for count in range(len(after), 0, -1))
            names |= {
                name,
                next((run for run in runs if f" {run.lower()} " in f" {line} "), name),
            }
    return frozenset(names)


def read_note(ws: Workspace, text: str) -> NoteReading:
    """A note of today before it is saved, without what is private in it."""
    from ..language.normalize.rewrite import normalize  # a search needs none of its words

    text = without_private(text)
    plain, changes = normalize(text, on=ws.clock().date())

    def run(_: SyncReport) -> NoteReading:
        return NoteReading(text, plain, changes, _keywords(ws, plain), suggest_tags(ws, text))

    return in_step(ws, run)


def _keywords(ws: Workspace, text: str) -> tuple[Keyword, ...]:
    counts: dict[str, int] = {}
    for _, word in words(text):
        if word not in STOP_WORDS and len(word) > 1:
            counts[word] = counts.get(word, 0) + 1
    rarity = _rarity(ws, list(counts))
    scores = {word: (1 + math.log(count)) * rarity[word] for word, count in counts.items()}
    top = max(scores.values(), default=1.0) or 1.0
    best = sorted(scores, key=lambda word: (-scores[word], word))[:MAX_KEYWORDS]
    return tuple(Keyword(word, round(scores[word] / top, 3)) for word in best)


def _rarity(ws: Workspace, terms: Sequence[str]) -> dict[str, float]:
    """For each word how rare it is in this journal, from 0 (in every passage) to 1 (in none):
    its idf over the most.
    """
    total, counts = ws.index.document_counts(terms)
    most = math.log(1 + total) or 1.0
    return {
        term: math.log((1 + total) / (1 + count)) / most if total else 1.0
        for term, count in counts.items()
    }
