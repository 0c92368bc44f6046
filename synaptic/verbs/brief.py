"""Chooses the entries that a new session should know, the most relevant first.

A briefing ends with its position: the last change that the index had seen. Given back as
`since`, it leads to all that changed later, also to entries that bear an older date.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from ..errors import InvalidArgument
from ..filters import Filters, Scope
from ..journal.projects import NamesInJournal
from ..journal.repository import Checkout
from ..kinds import CLOSABLE, CLOSING_TAGS, KINDS, is_over
from ..language.query import search_terms
from ..language.time_fields import read_date
from ..language.words import fts5_expression
from ..models import DEFAULT_IMPORTANCE, TYPES, Entry, EntryType, Order, Task
from ..notes.blocks import count_code_spans, project_key, slug_tag
from ..notes.conflicts import with_versions_shown
from ..notes.dates import owner_time
from ..notes.due_marks import remove_due_date
from ..notes.marks import find_tasks, is_in_tasks, task_of_entry
from ..search.near import pair_nearest_entries
from ..search.ranking import decay_by_age, reciprocal_rank_fusion, scale_to_best
from ..workspace.changes import mark_entries
from ..workspace.checkout import (
    checkout_around,
    describe_recent_work,
    project_marks,
    working_project,
    working_scope,
)
from ..workspace.preferences import CHANGED_END, read_all_preferences, read_consents
from ..workspace.proposals import read_proposals
from ..workspace.readback import read_body_lines, read_entries
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace

POOL = 200
"""The most entries that are ranked, of those that can be closed and of the others: the newest,
or the most important.
"""

HANDOFFS = 20
"""The newest hand-offs among which that of a branch is looked for."""

NEWEST = 2
"""The newest entries since the last hand-off that a briefing shows before all others."""

CODE_WORTH, CODE_MOST = 0.25, 1.0
"""The worth of each command or name in backticks, and of all in an entry, in steps of
importance. In simulated briefings of the first history of `bench.py helps` 36 of 43 entries
stand with it, 33 without.
"""
AT_HAND = 4.0
"""The worth, in steps of importance, of an entry that is about the branch that is checked out,
and of the entry that fits the words of the branch and the last commits best.
"""
NEW_WORTH, NEW_HALF_LIFE_DAYS = 0.6, 180.0
"""The worth of an entry of today for its age, in steps of importance, and the age at which half
of it is left.
"""
COMPARED = 200
"""The most entries of a shelf, the first, that are compared by meaning with each other."""

MOST_DUE = 5
"""The most that is due that a briefing names, the latest day first: what is long overdue says
least of the work at hand.
"""

DUE = "due"
USEFUL = "of most use"
OPEN_ISSUES = "open issues"
"""Headings of a briefing."""

WEEK = timedelta(days=7)
"""Entries younger than this, and than the last hand-off, are new to a session that starts."""

MONTH = timedelta(days=30)
"""A digest of a session that began earlier says nothing of the state of the work."""

READING_SHARE = 0.3
"""The share of a hook's time in which new files may be read; the rest is for the answer."""

RARE_WORDS = 8
"""At most this many words of the work at hand are looked up, the rarest first."""

COMMON_SHARE = 0.1
"""A word in more than this share of the passages, and in more than RARE_WORDS, is left out."""

HIGHEST = 10
"""Entries of the highest importance come before all others."""

LAST, WHOLE = "last", "all"
_POSITION = re.compile(r"p:(\d{1,12})-(\d{1,12})-(\d{1,11})")
"""The number of the index's count of changes, of a change, and seconds since 1970 UTC."""

_NAME_WORD = re.compile(r"[^\W_]+")
Result = TypeVar("Result")
FindTasks = Callable[[Entry, str], list[Task]]
"""Returns the tasks in the text of an entry."""
EVER = "9999-12-31"
_ANY_BRANCH = frozenset(("main", "master", "trunk", "develop", "head"))


class BriefingShelf(NamedTuple):
    """Entries of one kind, the most relevant first; `more`: there are others, not looked at;
    `others`: the number of those that are left out.
    """

    name: str
    entries: tuple[Entry, ...]
    more: bool = False
    others: int = 0


class Briefing(NamedTuple):
    """Entries for a new session; `later` counts the entries since the hand-off, as text.
    `session` is the digest of the last session, where no hand-off came after it.

    `rules` are the preferences in force, `unconfirmed` those that an agent saved here, and
    `waiting` counts the others. `remark` tells how `since` was read. `later_of` has the id of
    the later of two near entries by the id of the earlier one. `asked_before` are unconfirmed
    preferences that an agent was asked about already.
    """

    project: str
    rules: tuple[Entry, ...]
    unconfirmed: tuple[Entry, ...]
    waiting: int
    pinned: tuple[Entry, ...]
    handoff: Entry | None
    session: Entry | None
    later: str
    shelves: tuple[BriefingShelf, ...]
    unread_files: int
    position: str
    remark: str
    later_of: Mapping[str, str] = MappingProxyType({})
    asked_before: tuple[Entry, ...] = ()


class Start(NamedTuple):
    """The point since which entries count as new: the change with this `number`, or a time."""

    at: datetime
    number: int | None = None
    remark: str = ""


class Occasion(NamedTuple):
    """The project, the checkout and the words of the work for which a briefing is made, and
    since when its reader was away: a pause, or the text that it asked with.
    """

    project: str | None
    scope: Scope
    here: Checkout | None
    since: timedelta | str
    terms: Sequence[str]


def brief(
    ws: Workspace,
    folder: Path | None,
    since: timedelta | str = WEEK,
    *,
    project: str | None = None,
) -> Briefing:
    """Returns the entries for a session that starts in `folder`, None for a remote one; one
    that goes on names its pause as `since`. It has no position, as it is for no known reader.

    A text as `since` is a position, a day, or `last`, the position of the session before.
    Superseded and expired entries are left out. An entry stands on one shelf only.
    Raises InvalidArgument for another `since`.
    """
    return on_occasion(ws, folder, since, project, partial(gather_briefing, ws))


def on_occasion(
    ws: Workspace,
    folder: Path | None,
    since: timedelta | str,
    project: str | None,
    gather: Callable[[Occasion, SyncReport], Result],
) -> Result:
    """Returns what `gather` makes of the occasion of a briefing, on an index in step. Raises
    InvalidArgument.
    """
    _check_one_project(project)
    at_hand = search_terms(describe_recent_work(folder) if folder else "")
    start = WEEK if since == WHOLE else since

    def run(report: SyncReport) -> Result:
        names = NamesInJournal.of_index(ws.index)
        here = checkout_around(folder, ws.config, names) if folder else None
        scope = working_scope(ws.config, here, project)
        name = project or working_project(ws.config, here)
        every_entry_has = _ANY_BRANCH.union(search_terms(name or ""))
        terms = [term for term in at_hand if len(term) > 1 and term not in every_entry_has]
        return gather(Occasion(name, scope, here, start, terms), report)

    return in_step(ws, run, within_s=READING_SHARE * ws.config.hooks.usual_s)


def _check_one_project(project: str | None) -> None:
    """Raises InvalidArgument for `*`, which means all projects elsewhere."""
    if project == "*":
        raise InvalidArgument(
            "project cannot be '*': a briefing is for one.",
            "Give the name of one project.",
            of=["project"],
        )


def _find_news_start(
    ws: Workspace, since: timedelta | str, before: str | None, left_off: datetime | None
) -> Start:
    """Returns where the news begin: a pause, a day, a position, or the session `before`."""
    now = ws.clock().replace(microsecond=0)  # entries know whole seconds
    if isinstance(since, timedelta):
        return Start(max(left_off or now - since, now - since))
    since = since.strip()
    if since == LAST:
        if not before:
            remark = (
                "No earlier briefing of yours is known: this is new since the last hand-off."
            )
            return Start(left_off or now - WEEK, None, remark)
        since = before
    if not since.startswith("p:"):
        day = read_date(since, now, "since")
        return Start(owner_time(datetime.fromisoformat(day)))
    position = _POSITION.fullmatch(since)
    if not position:
        raise InvalidArgument(
            f"since: {since[:40]!r} is not a position.",
            valid=("p:... from the end of a briefing", LAST, WHOLE, "2026-11-03", "yesterday"),
            of=["since"],
        )
    count, number, seconds = map(int, position.groups())
    at = datetime.fromtimestamp(seconds).astimezone()
    if count == ws.index.latest_change()[0]:
        return Start(at, number)
    return Start(at, None, "The index no longer has that position: this goes by dates.")


Pool = tuple[dict[int, Entry], bool]
"""Entries by rowid, and True if there are others."""


def gather_briefing(
    ws: Workspace, occasion: Occasion, report: SyncReport, before: str | None = None
) -> Briefing:
    """Reads the entries of a briefing from the index. Without `before`, a last position or "",
    it has no position.
    """
    now = ws.clock()
    today = ws.today.isoformat()
    scope = occasion.scope
    rules, unconfirmed, waiting = _split_preferences(ws, scope)
    pins, handoffs = _read_pinned_and_handoff(ws, scope, occasion.here)
    handoff = next(iter(handoffs.values()), None)
    left_off = None
    if handoff and handoff.dated:
        left_off = handoff.at + timedelta(microseconds=1)
    is_asked = isinstance(occasion.since, str)
    start = _find_news_start(ws, occasion.since, before, left_off)
    later = _list_later_entries(ws, scope, left_off or now - MONTH)
    session = None if is_asked else _find_last_session(later[0], now - MONTH)
    if is_asked:
        pools = _news_pools(ws, scope, start)
    else:
        pools = _useful_pools(ws, scope, start, later, goes_on=occasion.since != WEEK)
    elsewhere = {*pins, *handoffs, *([session] if session else [])}
    shelves, foremost = _fill_shelves(ws, occasion, now, pools, elsewhere)
    absent = report.absent if before is None else ()
    remarks = [*ws.config.notices, *absent, start.remark]
    _, news, *_ = shelves
    if is_asked and not news.entries:
        remarks.append(f"Nothing is {news.name}.")
    return Briefing(
        project=occasion.project or "",
        rules=rules,
        unconfirmed=unconfirmed,
        waiting=waiting,
        pinned=tuple(
            entry
            for entry in pins.values()
            if entry.type != "preference" and not is_over(entry, today)
        ),
        handoff=handoff,
        session=read_entries(ws, [session])[session] if session else None,
        later=f"{len(later[0])}{'+' if later[1] else ''}" if left_off else "0",
        shelves=tuple(shelves),
        unread_files=report.unread,
        position="" if before is None else _name_position(ws, now, report),
        remark=" ".join(filter(None, remarks)),
        later_of={} if is_asked else pair_nearest_entries(ws, handoffs | foremost),
    )


def _read_pinned_and_handoff(
    ws: Workspace, scope: Scope, here: Checkout | None
) -> tuple[dict[int, Entry], dict[int, Entry]]:
    """Returns the pinned entries, and the last hand-off if there is one, by rowid, with their
    whole texts and marks.
    """
    handoffs = _choose_handoff(ws, scope, _own_branch(here))
    pins = [rowid for rowid in ws.index.pinned_entries(scope) if rowid not in handoffs]
    marked = mark_entries(ws, read_entries(ws, [*pins, *handoffs]), here)
    whole = {rowid: with_versions_shown(entry) for rowid, entry in marked.items()}
    return {rowid: whole[rowid] for rowid in pins}, {rowid: whole[rowid] for rowid in handoffs}


def _fill_shelves(
    ws: Workspace,
    occasion: Occasion,
    now: datetime,
    pools: Mapping[str, Pool],
    elsewhere: Collection[int],
) -> tuple[list[BriefingShelf], dict[int, Entry]]:
    """Returns the shelf of what is due and one for each pool, ranked, without the entries that
    stand `elsewhere` in the briefing; and by rowid the first entries of each pool, which are
    compared by meaning.
    """
    rows = list(chain.from_iterable(entries for entries, _ in pools.values()))
    scores = _word_scores(ws, occasion.terms, rows)
    owed = due_with_entries(ws, ws.today.isoformat(), occasion.scope)
    latest = tuple(map(show_task_as_entry, owed[: -MOST_DUE - 1 : -1]))
    shelves = [BriefingShelf(DUE, latest, others=len(owed) - len(latest))]
    seen = {*elsewhere}
    foremost: dict[int, Entry] = {}
    for name, (entries, has_more) in pools.items():
        unseen = _read_unseen(ws, entries, seen)
        seen.update(unseen)
        if name == USEFUL:
            ranked = _rank_by_worth(now, unseen, scores, occasion.here)
        else:
            ranked = _rank_by_age(ws, unseen, scores)
        first = {entry.id for entry in ranked[:COMPARED] if not entry.is_session_digest}
        foremost |= {rowid: entry for rowid, entry in unseen.items() if entry.id in first}
        shelves.append(BriefingShelf(name, ranked, has_more))
    return shelves, foremost


def _read_unseen(
    ws: Workspace, entries: Mapping[int, Entry], seen: Collection[int]
) -> dict[int, Entry]:
    """Returns the entries not among `seen`, with their texts; they keep their marks."""
    unseen = read_entries(ws, [rowid for rowid in entries if rowid not in seen])
    for rowid, entry in unseen.items():
        readable = with_versions_shown(entry)
        unseen[rowid] = replace(readable, marks=entries[rowid].marks)
    return unseen


def _name_position(ws: Workspace, now: datetime, report: SyncReport) -> str:
    """Returns the position up to which a briefing goes, with zeros where no number is valid."""
    count, number = ws.index.latest_change()
    is_in_memory = ws.access.why_index_in_memory(ws.index) != ""
    if report.unread or is_in_memory or count is None:  # each process counts, or each journal
        count = number = 0
    return f"p:{count}-{number}-{int(now.timestamp())}"


def _choose_handoff(ws: Workspace, scope: Scope, branch: str) -> list[int]:
    """Returns the rowid of the last hand-off that was saved on this branch or names it, else of
    the last one at all; none in a project without hand-offs. An empty `branch` is the default.
    """
    newest = list(_list_project_entries(ws, scope, ("handoff",))[0])[:HANDOFFS]
    if branch:
        for rowid, entry in read_entries(ws, newest).items():
            if entry.branch == branch or branch in entry.content:
                return [rowid]
    return newest[:1]


def _own_branch(here: Checkout | None) -> str:
    """Returns the branch that is checked out, "" for the default branch or without a
    checkout.
    """
    return here.branch if here and here.branch not in here.default_branches else ""


def _list_later_entries(ws: Workspace, scope: Scope, since: datetime) -> Pool:
    """Returns the entries since the hand-off, or since another time, without hand-offs."""
    types = tuple(type for type in _useful_types(scope) if type != "handoff")
    return _list_project_entries(ws, scope, types, since)


def _find_last_session(later: Mapping[int, Entry], since: datetime) -> int | None:
    """Returns the rowid of the newest digest of a session among the entries, newest first, that
    began `since` then.
    """
    for rowid, entry in later.items():
        if entry.is_session_digest and entry.dated and entry.at >= since:
            return rowid
    return None


def _useful_types(scope: Scope) -> tuple[EntryType, ...]:
    """Returns the types of entries that a briefing lists; preferences have a place of their
    own.
    """
    # a note of no project may be anybody's diary
    without = ("preference",) if scope.key else ("preference", "note")
    return tuple(type for type in TYPES if type not in without)


def _news_heading(start: Start) -> str:
    return f"new since {start.at:%Y-%m-%d %H:%M}"


def _news_pools(ws: Workspace, scope: Scope, start: Start) -> dict[str, Pool]:
    """Returns, for a reader that asked for a time, all that is new, settled entries and
    hand-offs too, and the open issues.
    """
    every = tuple(type for type in TYPES if type != "preference")
    exact = start.number is not None
    among = ws.index.changed_since(start.number or 0) if exact else None
    new = _list_project_entries(
        ws, scope, every, None if exact else start.at, among=among, settled=True
    )
    issues = _list_project_entries(ws, scope, ("issue",))
    return {_news_heading(start): new, OPEN_ISSUES: issues}


def _useful_pools(
    ws: Workspace, scope: Scope, start: Start, later: Pool, *, goes_on: bool
) -> dict[str, Pool]:
    """Returns the newest entries, of which a session that goes on wants all, and all others
    that may be of use.
    """
    recent = [rowid for rowid, entry in later[0].items() if entry.at >= start.at]
    if not goes_on:
        recent = [
            rowid for rowid in recent if _importance(later[0][rowid]) >= DEFAULT_IMPORTANCE
        ]
    recent.sort(key=lambda rowid: later[0][rowid].is_session_digest)  # what was saved first
    newest = {rowid: later[0][rowid] for rowid in recent[: POOL if goes_on else NEWEST]}
    types = _useful_types(scope)
    others = tuple(type for type in types if type not in CLOSABLE)
    useful, has_more = _list_project_entries(ws, scope, others, order="importance")
    for type in CLOSABLE:
        entries, more = _list_project_entries(ws, scope, (type,))
        useful |= entries
        has_more = has_more or more
    return {_news_heading(start): (newest, False), USEFUL: (useful, has_more)}


def _split_preferences(
    ws: Workspace, scope: Scope
) -> tuple[tuple[Entry, ...], tuple[Entry, ...], int]:
    """Returns the preferences for this project and for all: those in force, pinned and newest
    first; those of agents; the number of others.

    Only a preference in force replaces another: else any file could take one out of force.
    """
    preferences = [
        entry for entry in read_all_preferences(ws) if scope.reaches(*project_marks(entry))
    ]
    own_ids = ws.index.own_ids([entry.id for entry in preferences])
    rules = []
    unconfirmed = []
    waiting = 0
    for entry, consent in zip(preferences, read_consents(ws, preferences), strict=True):
        marked_entry = replace(entry, marks=(consent.mark,)) if consent.mark else entry
        has_ended = is_over(entry, ws.today.isoformat())
        if consent.word == "said" and (not has_ended or consent.by == CHANGED_END):
            unconfirmed.append(marked_entry)
        elif has_ended:
            continue
        elif consent.word == "yes":
            rules.append(marked_entry)
        else:
            waiting += 1
    if not ws.access.is_past:
        for proposal in read_proposals(ws.config.state):
            waiting += project_key(proposal.project) in ("", scope.key)
    replaced = set(chain.from_iterable(entry.supersedes for entry in rules))
    rules = [entry for entry in rules if own_ids[entry.id] not in replaced]
    rules.sort(key=lambda entry: not entry.pin)
    return tuple(rules), tuple(unconfirmed), waiting


def show_task_as_entry(pair: tuple[Entry, Task]) -> Entry:
    entry, task = pair
    mark = "overdue since" if task.overdue else "due"
    place = replace(entry.there, line=task.line or entry.there.line)
    marks = (f"{mark} {task.due}",)
    title = remove_due_date(task.text) or task.text
    return replace(entry, title=title, due=task.due, place=place, marks=marks)


def due_with_entries(
    ws: Workspace, until: str, scope: Scope | None, find: FindTasks = find_tasks
) -> list[tuple[Entry, Task]]:
    """Returns what is due by this day, each with its entry: entries of the project or of none,
    and tasks, as `find` finds them, in entries of the project; without a `scope` of all.
    """
    unwanted = Filters(types=("preference",), tags=CLOSING_TAGS)
    among = scope and scope._replace(with_none=True)
    rows = ws.index.due(Filters(without=unwanted, scope=among), until)
    pairs = []
    today = ws.today.isoformat()
    for entry, text in read_body_lines(ws, rows).values():
        marks = project_marks(entry)
        is_of_none = marks == ("", None, None)
        is_ours = scope is None or scope.covers(*marks) or (is_of_none and not scope.key)
        is_task = is_in_tasks(entry, text)
        tasks = find(entry, text) if is_ours or (is_of_none and is_task) else []
        if (is_ours or is_of_none) and not is_task:
            tasks.insert(0, task_of_entry(entry))
        for task in tasks:
            due = task.due or ""
            if not task.done and "" < due <= until:
                pairs.append((entry, replace(task, overdue=due < today)))
    return sorted(pairs, key=lambda pair: pair[1].due or "")


def _list_project_entries(
    ws: Workspace,
    scope: Scope,
    types: tuple[EntryType, ...],
    since: datetime | None = None,
    order: Order = "newest",
    *,
    among: Collection[int] | None = None,
    settled: bool = False,
) -> Pool:
    """Returns (entries of the project, or tagged with its name and of no other project, newest
    first; whether there are more than POOL). Without a project: entries that have none.

    With `among` only these rows, and all of them; `settled`: also expired and settled ones.
    """
    without = Filters(sessions=True)
    if len(types) == 1 and types[0] in CLOSABLE:
        without = replace(without, tags=CLOSING_TAGS)
    day = since.date().isoformat() if since else None
    saved = Filters(types=types, since=day, without=without)
    wanted = [saved]
    if "progress" in types:  # digests of sessions take no place of what was saved
        wanted.append(replace(saved, without=None, sessions=True))
    if scope.key:
        tag = slug_tag(scope.key)
        tagged = [replace(filters, tags=(tag,)) for filters in wanted if tag]
        wanted = [replace(filters, scope=scope) for filters in wanted] + tagged
    rows = []
    more = False
    for filters in wanted:
        limit = POOL + 1 if among is None else -1
        some = ws.index.list_rows(filters, order=order, limit=limit, within=among)
        more = more or 0 <= limit == len(some)
        rows += some[:POOL] if among is None else some
    entries = {}
    today = ws.today.isoformat()
    for rowid, stored in ws.index.entries(rows).items():
        entry = stored.entry
        foreign = not scope.reaches(*project_marks(entry))
        too_old = since is not None and entry.at < since
        is_left_out = not settled and is_over(entry, today)
        if not (foreign or too_old or is_left_out):
            entries[rowid] = entry
    newest_first = sorted(
        entries.items(),
        key=lambda item: (item[1].dated, item[1].at, item[1].there.line),
        reverse=True,
    )
    return dict(newest_first), more


def _word_scores(ws: Workspace, terms: Sequence[str], rows: Sequence[int]) -> dict[int, float]:
    """Returns BM25 by rowid, best first, of the entries that hold rare words of the work."""
    passages, counts = ws.index.document_counts(terms)
    most = max(COMMON_SHARE * passages, RARE_WORDS)
    rare = [term for term in terms if 0 < counts[term] <= most]
    rare.sort(key=lambda term: counts[term])
    if not rows or not rare:
        return {}
    candidates = ws.index.lexical(
        [fts5_expression(term) for term in rare[:RARE_WORDS]],
        ws.index.passing_chunks(Filters(), rows),
        limit=4 * len(rows),
    )
    return {hit.entry_rowid: -hit.score for hit in reversed(candidates)}


def _rank_by_age(
    ws: Workspace, entries: Mapping[int, Entry], word_scores: Mapping[int, float]
) -> tuple[Entry, ...]:
    """Returns the entries by age and words, fused; those of the highest importance come before
    all others, digests of sessions last.
    """
    half_life_days = ws.config.search.half_life_days
    now = ws.clock()
    age = {rowid: _decay(now, entry, half_life_days) for rowid, entry in entries.items()}
    words = {rowid: word_scores[rowid] for rowid in entries if rowid in word_scores}
    votes = {"age": scale_to_best(age), "words": scale_to_best(words)}
    fused = reciprocal_rank_fusion(votes, k=ws.config.search.k, weights={})

    def sort_key(rowid: int) -> tuple[bool, bool, float]:
        entry = entries[rowid]
        return entry.is_session_digest, entry.importance != HIGHEST, -fused[rowid]

    return tuple(entries[rowid] for rowid in sorted(entries, key=sort_key))


def _decay(now: datetime, entry: Entry, half_life_days: float) -> float:
    """Returns how much an entry counts for its age, from 1 (now) to 0; 0 without a date."""
    if not entry.dated:
        return 0.0
    age_days = max(timedelta(), now - entry.at) / timedelta(days=1)
    return decay_by_age(age_days, half_life_days=half_life_days)


def _rank_by_worth(
    now: datetime,
    entries: Mapping[int, Entry],
    word_scores: Mapping[int, float],
    here: Checkout | None,
) -> tuple[Entry, ...]:
    """Returns the entries by their worth, their age and how well they fit the work at hand, of
    equal ones the newest first. Those of the highest importance come before all others;
    digests of sessions come last.
    """
    of_branch = _fit_branch(entries, _own_branch(here))
    best = max((word_scores.get(rowid, 0.0) for rowid in entries), default=0.0) or 1.0

    def sort_key(rowid: int) -> tuple[bool, bool, float, bool, float]:
        entry = entries[rowid]
        fit = max(word_scores.get(rowid, 0.0) / best, of_branch[rowid])
        worth = entry_worth(entry) + AT_HAND * fit
        worth += NEW_WORTH * _decay(now, entry, NEW_HALF_LIFE_DAYS)
        is_below = entry.importance != HIGHEST
        return entry.is_session_digest, is_below, -worth, not entry.dated, -entry.at.timestamp()

    return tuple(entries[rowid] for rowid in sorted(entries, key=sort_key))


def _fit_branch(entries: Mapping[int, Entry], branch: str) -> dict[int, float]:
    """Returns by rowid how much of the name of a branch the tags, files and branch of an entry
    hold, from 0 to 1; rare words count more (inverse document frequency, Sparck Jones 1972).
    """
    wanted = _split_names(branch)
    shared = {
        rowid: wanted & _split_names(*entry.tags, *entry.files, entry.branch or "")
        for rowid, entry in entries.items()
    }
    counts = Counter(chain.from_iterable(shared.values()))
    weights = {word: math.log(len(entries) / count) for word, count in counts.items()}
    total = sum(weights.values()) or 1.0
    return {rowid: sum(map(weights.__getitem__, own)) / total for rowid, own in shared.items()}


def _split_names(*names: str) -> set[str]:
    """Returns the words in names of tags, files and branches."""
    return set(_NAME_WORD.findall(" ".join(names).casefold()))


def _importance(entry: Entry) -> int:
    return DEFAULT_IMPORTANCE if entry.importance is None else entry.importance


def entry_worth(entry: Entry) -> float:
    """Returns how useful an entry is to a session of which nothing is known but the project, in
    steps of importance: its importance, its type, and the commands and names that it gives.
    """
    code = min(CODE_MOST, CODE_WORTH * count_code_spans(entry.content))
    return _importance(entry) + KINDS[entry.type].worth + code
