"""Makes the plan of a search: chooses its strategy, and turns the times, projects, types and
states of the question into filters, preferences and order.
"""

import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import fields, replace
from datetime import date, timedelta

from ..errors import NotFound, Sentence, join_sentences
from ..filters import Filters
from ..index.rows import to_microseconds
from ..kinds import KINDS
from ..language.analysis.asked import (
    QUESTIONS,
    Asked,
    Listed,
    event_words,
    read_list_request,
    read_question,
)
from ..language.analysis.forms import strategy_by_form
from ..language.lexicon import TYPE_NAMES, read_type_name
from ..language.query import MAX_LIMIT, merge_filters, search_terms
from ..language.timephrase.table import add_days
from ..language.words import words
from ..models import EntryType, Strategy
from ..workspace.workspace import Workspace
from .budget import Costs, reason_over_budget
from .plan import LIST_LIMIT, QueryPlan, Request, complete_plan

BOUNDED_DAYS = 90
"""A bounded search begins this many days before today, unless the question names a first day.
"""

AROUND_DAYS = 3
"""If a question means about a day, such as "two weeks ago", this many days before and after it
count too, the nearer first. By eye.
"""

_WITHOUT_REPLACED = (
    "{list}; left out: {n:,} that a later entry replaced, include_superseded shows them"
)
ALL_AT_LIMIT = "{list}; {limit} of {total:,} are shown, a limit of {most} shows all"
MORE_AT_LIMIT = "{list}; {limit} of {total:,} are shown, a limit of {most} shows more"
_ISO = re.compile(r"\d{4}-\d{2}")
_DATE = re.compile(r"\d{4}-\d{2}(?:-\d{2})?")
"""A query that is only a date, as notes of other days may hold it in their text."""


def make_plan(ws: Workspace, request: Request, costs: Costs | None = None) -> QueryPlan:
    """The plan of a search. `costs` are the milliseconds that searches take here: one that
    takes longer than its budget searches by words only.
    """
    values = {each.name: getattr(request, each.name) for each in fields(request)}
    strategy = choose_strategy(request)
    over_budget = reason_over_budget(strategy, request.budget_ms, costs or {})
    values |= {"strategy": "lexical" if over_budget else strategy, "over_budget": over_budget}
    values |= {"titled": ws.index.titled(request.parsed.names)}
    return complete_plan(ws.index, understand(ws, QueryPlan(**values)))


def choose_strategy(request: Request) -> Strategy:
    """The strategy of a search; `auto` chooses by the parts and by the form of its query."""
    if request.strategy != "auto":
        return request.strategy
    return "smart" if request.parts else strategy_by_form(request.parsed)


def understand(ws: Workspace, plan: QueryPlan) -> QueryPlan:
    """The plan, with the filters, preferences and order that the words of its question ask
    for.

    A time is preferred and not required, unless the question says "only" or asks for a list:
    "decisions of January", "what did I do yesterday". If texts may name it ("in August"), its
    words are searched too, and an entry that holds them counts as one of that time. Options
    that the caller gave are never changed.
    """
    filters = plan.filters
    if plan.strategy == "bounded" and not filters.since:
        since = (plan.now - timedelta(BOUNDED_DAYS)).date().isoformat()
        plan = replace(plan, filters=replace(filters, since=since))
    if not ws.config.search.analysis:
        return plan
    plan = _read_project_scope(ws, plan)
    asked = read_question_of_journal(ws, plan.parsed.text, today=plan.now.date())
    if asked.text and plan.titled:
        return plan  # the words are the name of an entry
    return _read_as_list(ws, plan, asked) or _prefer_time_and_type(ws, plan, asked)


def read_question_of_journal(ws: Workspace, query: str, *, today: date) -> Asked:
    """The question as `read_question` has it, where a month, a weekday or a day without a year
    is the latest one that is over, or that has begun and holds entries. Of a month that means
    an entry before today: asked on December 1, "in December" is the last whole one.
    """
    asked = read_question(query, today=today)
    times = asked.time_range
    if not times or not times.earlier or not times.start:
        return asked
    last = today if times.start == times.end else add_days(today, -1)
    begun = Filters(since=times.start.isoformat(), until=last.isoformat())
    if times.start <= last and ws.index.count_entries(begun):
        return asked
    start, end = times.earlier
    return replace(asked, time_range=replace(times, start=start, end=end, earlier=None))


def _read_project_scope(ws: Workspace, plan: QueryPlan) -> QueryPlan:
    """The plan without words such as "in this project" or "in all projects", and with the
    project filter that they mean. A filter by project that the caller gave is never changed.
    """
    own = plan.project
    for name in ("only_here", "all_projects") if not plan.filters.projects else ():
        text, count = QUESTIONS.finder(name).subn(" ", plan.parsed.text)
        if count and name == "all_projects":
            return replace(_replace_text(ws, plan, text.strip()), project=None)
        if count and own:
            filters = replace(plan.filters, projects=(own,))
            return replace(_replace_text(ws, plan, text.strip()), filters=filters)
    return plan


def _prefer_time_and_type(ws: Workspace, plan: QueryPlan, asked: Asked) -> QueryPlan:
    filters = plan.filters
    times = asked.time_range
    if times and not (filters.since or filters.until):
        reworded = replace(_replace_text(ws, plan, asked.text), about=times.about)
        names_day = _ISO.search(times.phrase)
        if asked.only_time or not (names_day or reworded.parsed.terms):
            reworded = replace(reworded, filters=filter_by_asked_time(filters, asked))
        else:
            reworded = replace(reworded, prefer=filter_by_asked_time(plan.prefer, asked))
        if asked.time_words and not asked.only_time:
            reworded = replace(reworded, parsed=plan.parsed, time_words=asked.time_words)
        plan = reworded
    named = read_type_name(asked.text)
    if named and ws.index.count_entries(Filters(types=(named,))):
        notice = Sentence("`type:{type}` lists the {s}.", type=named, s=KINDS[named].plural)
        plan = replace(
            plan, parsed=replace(plan.parsed, notices=(*plan.parsed.notices, notice))
        )
    if asked.reasons and not (plan.filters.types or plan.prefer.types):
        plan = replace(plan, prefer=replace(plan.prefer, types=("decision",)))
    return replace(plan, recent=asked.recent)


def _read_as_list(ws: Workspace, plan: QueryPlan, asked: Asked) -> QueryPlan | None:
    """The plan as a list of entries of a time (the oldest first) or of a type or state (the
    newest first); or a search among these. None if it is not a list.

    It is not a list if other words are left, or if the journal has no entry of that type. If no
    entry is in that state, or of that project, `nothing` says so.
    """
    own = plan.filters
    parsed = plan.parsed
    order = plan.order
    projects = ws.index.vocabulary().projects
    wanted = _requested_list(ws, plan, asked, projects)
    if not (wanted and parsed.text) or parsed.phrases or plan.strategy == "bounded":
        return None
    if event_words(asked.text):  # "when did I last go for a run": of an event, not of a choice
        return None
    is_timed = bool(asked.time_range or own.since or own.until)
    is_part = plan.within is not None and not is_timed
    if is_part or not (is_timed or wanted.order):
        return None
    filters = merge_filters(own, _filters_of_list(plan, asked, wanted, projects))
    count = ws.index.count_entries
    total = count(filters)
    naming = _count_entries_naming(ws, own, filters, parsed.text)
    if naming and not total:
        return None
    what = _name_of_list(filters, wanted.state)
    is_of_tasks = wanted.tasks and not is_part
    with_tasks = _list_with_tasks(ws, filters, own.without) if is_of_tasks else []
    if with_tasks:
        filters = replace(filters, types=(), without=own.without)
        plan = replace(plan, within=with_tasks)
        total = len(with_tasks)
        what = Sentence("{what}, and entries with open tasks", what=what)
    is_all = is_timed and plan.within is None and not wanted.among
    is_changes = wanted.changes and is_all and order == "relevance"
    changes = _change_notes(ws, filters) if is_changes else {}
    total = len(changes) or total
    plan = replace(_replace_text(ws, plan, wanted.among), filters=filters)
    if wanted.filters.types and not total:
        others = count(replace(filters, projects=())) if filters.projects else 0
        is_known = count(Filters(types=filters.types)) and (wanted.state or others)
        text = "No {what}; {others:,} of other projects." if others else "No {what}."
        what = _name_of_list(filters, wanted.state, "{one} or {other}")
        nothing = Sentence(text, what=what, others=others)
        return replace(plan, nothing=nothing) if is_known else None
    if not total and filters.one_by_one().keys() <= {"time", "include_superseded"}:
        return replace(plan, nothing=_notice_nearest_days(ws, filters))
    if asked.time_range and not (own.since or own.until):
        plan = replace(plan, about=asked.time_range.about)
    if order == "relevance" and not (wanted.among or plan.about):
        order = wanted.order or ("newest" if asked.recent else "oldest")
    plan = replace(plan, order=order, limit=plan.limit or wanted.most)
    notice: str = Sentence("Searched among: {what}.", what=what)
    if not wanted.among:
        notice = _list_notice(ws, plan, what, total)
    if changes:  # keep the order of the changes, not of the entries' dates
        filters = replace(filters, since=None, until=None)
        plan = replace(plan, order="relevance", filters=filters, changes=changes)
        plan = replace(plan, within=list(changes))
    if naming:
        text = 'Other entries name the date: {n:,}. "{date}" in quotes finds them.'
        notice = join_sentences([notice, Sentence(text, n=naming, date=parsed.text)])
    notices = (*parsed.notices, notice)
    return replace(plan, parsed=replace(plan.parsed, notices=notices))


def _count_entries_naming(ws: Workspace, own: Filters, of_list: Filters, text: str) -> int:
    """How many entries of other days hold the text, if it is a date; else 0."""
    if not _DATE.fullmatch(text):
        return 0
    days = Filters(since=of_list.since, until=of_list.until)
    return ws.index.count_entries(replace(own, words=(text,)).leaving_out(days))


def _requested_list(
    ws: Workspace, plan: QueryPlan, asked: Asked, projects: Collection[str]
) -> Listed | None:
    """The list that the words ask for; None if they ask for none. A list of a time up to today
    includes changes, the newest first.
    """
    text = asked.text
    times = asked.time_range
    if times:
        text = QUESTIONS.finder("catch_up").sub("what changed", text)
    wanted = read_list_request(text, asked.tongue, projects)
    if wanted and not times and _is_word_of_entries(ws, text, wanted.filters.types):
        return None
    today = plan.now.date()
    if wanted and times and times.start and times.end and times.start < today <= times.end:
        return wanted._replace(changes=True, order=wanted.order or "newest")
    return wanted


def _is_word_of_entries(ws: Workspace, text: str, types: Collection[EntryType]) -> bool:
    """True if the text is one word, no English name of a type, that entries of other types
    hold.
    """
    one = words(text)
    if len(one) != 1 or text.lower() in TYPE_NAMES:
        return False
    others = Filters(types=tuple(types)) if types else None
    naming = Filters(words=(text,), include_superseded=True, without=others)
    return ws.index.count_entries(naming) > 0


def _change_notes(ws: Workspace, filters: Filters) -> dict[int, str]:
    """Maps the row of each entry that was added or changed in the time of the filters to a note
    on the change, the latest first.
    """
    index = ws.index
    rows = index.list_rows(filters, order="newest", limit=MAX_LIMIT)
    notes = {}
    for row, stored in index.entries(rows).items():
        titles = index.titles(stored.entry.supersedes).values()
        note = Sentence("replaces {titles}", titles=", ".join(titles)) if titles else ""
        notes[row] = (to_microseconds(stored.entry.at), note)
    changed = {}
    for piece in ws.journal.trashed():
        day = piece.at.astimezone(ws.clock().tzinfo).date().isoformat()
        if (filters.since or "") <= day <= (filters.until or "9999") and piece.why == "update":
            with suppress(NotFound):
                changed[index.resolve(piece.id).rowid] = piece.at
    anytime = replace(filters, since=None, until=None)
    for row in index.filter_entries(anytime, list(changed)):
        note = Sentence("changed {at:%Y-%m-%d %H:%M}", at=changed[row])
        notes[row] = (to_microseconds(changed[row]), note)
    return {row: notes[row][1] for row in sorted(notes, key=lambda row: -notes[row][0])}


def _filters_of_list(
    plan: QueryPlan, asked: Asked, wanted: Listed, known_projects: Collection[str]
) -> Filters:
    """The filters of a list; a list of a type or state is limited to the asker's project, if no
    project is named.
    """
    own = plan.filters
    added = wanted.filters
    projects = added.projects
    if wanted.order and not (projects or wanted.changes):
        projects = plan.prefer.projects or tuple({plan.project or ""} & {*known_projects})
    added = replace(added, projects=() if projects == ("*",) else projects)
    if not (own.since or own.until):
        added = filter_by_asked_time(added, asked)
    is_timed = own.since or own.until or asked.time_range
    # of a time all that was said then, though it was replaced since
    return replace(added, include_superseded=bool(is_timed and not wanted.state))


def _list_with_tasks(ws: Workspace, filters: Filters, without: Filters | None) -> list[int]:
    """The rows that pass the filters, and those with open tasks of the same project and time,
    `without` what a user left out, the newest first; none if no task is open.
    """
    index = ws.index
    tasks = index.due(replace(filters, types=(), without=without), "")[-MAX_LIMIT:]
    if not tasks:
        return []
    rows = {*tasks, *index.list_rows(filters, order="newest", limit=MAX_LIMIT)}
    at = {row: stored.entry.at for row, stored in index.entries(list(rows)).items()}
    return sorted(at, key=at.__getitem__, reverse=True)[:MAX_LIMIT]


def _replace_text(ws: Workspace, plan: QueryPlan, text: str) -> QueryPlan:
    """The plan with another text, and the words of this text as its terms."""
    terms = search_terms(text, stop_words=ws.config.search.stop_words)
    return replace(plan, parsed=replace(plan.parsed, text=text, terms=terms))


def _name_of_list(filters: Filters, state: str, both: str = "{one} and {other}") -> str:
    """The name of a list: `open issues and handoffs of harbor, 2026-11-20`."""
    kinds = [Sentence(KINDS[kind].plural) for kind in filters.types]
    name = join_sentences(kinds or [Sentence("all entries")], both)
    if state:
        name = Sentence("{state} {what}", state=Sentence(state), what=name)
    if filters.projects:
        of = join_sentences(filters.projects, both)
        name = Sentence("{what} of {projects}", what=name, projects=of)
    when = _format_days(filters)
    return Sentence("{what}, {days}", what=name, days=when) if when else name


def _format_days(filters: Filters) -> str:
    """The days of the filters as text: `2026-11-20`, `2026-11-01 to 2026-11-10`, `since
    2026-11-20`.
    """
    since = filters.since
    until = filters.until
    if since and until:
        text = "{since}" if since == until else "{since} to {until}"
    else:
        text = "since {since}" if since else "until {until}" if until else ""
    return Sentence(text, since=since, until=until)


def _notice_nearest_days(ws: Workspace, filters: Filters) -> str:
    """A notice that no entry is of this time, with the nearest days before and after it that
    have entries.
    """
    before, after, _ = ws.index.days_around(
        filters.since or "", filters.until or "9999", limit=0
    )
    days = [day for day in (before, after) if day] or [Sentence("none")]
    beside = join_sentences(days, "{one} and {other}")
    text = "No entries {days}; the nearest days with entries: {beside}."
    if filters.since and filters.until:
        text = "No entries of {days}; the nearest days with entries: {beside}."
    return Sentence(text, days=_format_days(filters), beside=beside)


def _list_notice(ws: Workspace, plan: QueryPlan, what: str, total: int) -> Sentence:
    """A notice that names the list, the number of its entries, and how many replaced entries
    are left out.
    """
    first = "nearest" if plan.order == "relevance" else plan.order
    notice = Sentence("Listed, {order} first: {what}", order=Sentence(first), what=what)
    limit = plan.limit or LIST_LIMIT
    if plan.within is not None:
        return Sentence("{list}.", list=notice)
    with_replaced = ws.index.count_entries(replace(plan.filters, include_superseded=True))
    # not less the total: a list of changes also counts entries of other times
    replaced = with_replaced - ws.index.count_entries(plan.filters)
    if replaced:
        notice = Sentence(_WITHOUT_REPLACED, list=notice, n=replaced)
    if total > limit:
        most = min(total, MAX_LIMIT)
        text = ALL_AT_LIMIT if most == total else MORE_AT_LIMIT
        notice = Sentence(text, list=notice, limit=limit, total=total, most=most)
    return Sentence("{list}.", list=notice)


def filter_by_asked_time(filters: Filters, asked: Asked) -> Filters:
    """The filters with `since` and `until` set to the time that the question asks for; if it
    means about a day, AROUND_DAYS before and after it.
    """
    times = asked.time_range
    if not times:
        return filters
    first = times.start
    last = times.end
    if times.about:
        first = add_days(times.about, -AROUND_DAYS)
        last = add_days(times.about, AROUND_DAYS)
    return replace(
        filters,
        since=first.isoformat() if first else None,
        until=last.isoformat() if last else None,
    )
