"""Chooses the entries that a new session should know, the most relevant first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..language.lexicon import SHARED
from ..language.query import terms_of
from ..language.words import match
from ..models import DEFAULT_IMPORTANCE, TYPES, Entry, EntryType, Filters, Order
from ..notes.blocks import project_key, slug_tag
from ..search.ranking import score_aware_rrf
from ..workspace.changes import has_expired, marked
from ..workspace.checkout import Checkout, checkout_around, project_of, work_at_hand
from ..workspace.readback import read_entries
from ..workspace.sync import in_step
from ..workspace.workspace import Workspace

POOL = 100
"""Entries of a kind that are ranked: the newest, or the most important insights."""

WEEK = timedelta(days=7)
"""Entries younger than this, and than the last hand-off, are new to a session that starts."""

READING_SHARE = 0.3
"""The share of a hook's time in which new files may be read; the rest is for the answer."""

RARE_WORDS = 8
"""At most this many words of the work at hand are looked up, the rarest first."""

COMMON_SHARE = 0.1
"""A word in more than this share of the passages, and in more than RARE_WORDS, is left out."""

HIGHEST = 10
"""Entries of the highest importance come before all others."""

_ANY_BRANCH = frozenset(("main", "master", "trunk", "develop", "head"))


class Shelf(NamedTuple):
    """Entries of one kind, the most relevant first; `more`: there are others, not looked at."""

    name: str
    entries: tuple[Entry, ...]
    more: bool = False


class Briefing(NamedTuple):
    """Entries for a new session; `later` counts the entries since the hand-off, as text."""

    project: str
    pinned: tuple[Entry, ...]
    handoff: Entry | None
    later: str
    shelves: tuple[Shelf, ...]
    unread_files: int


def brief(
    ws: Workspace,
    folder: Path,
    since: timedelta = WEEK,
) -> Briefing:
    """Returns the entries for a session that starts in `folder`; one that goes on names its
    pause as `since`.

    Superseded and expired entries are left out. An entry stands on one shelf only.
    """
    here = checkout_around(folder, ws.config)
    project = project_of(ws.config, here)
    every_entry_has = _ANY_BRANCH.union(terms_of(project or ""))
    at_hand = [term for term in terms_of(work_at_hand(folder)) if len(term) > 1]
    terms = [term for term in at_hand if term not in every_entry_has]
    return in_step(
        ws,
        lambda report: _gather(
            ws,
            project,
            here,
            since,
            terms,
            report.unread,
        ),
        within_s=READING_SHARE * ws.config.hooks.timeout_s,
    )


def _gather(
    ws: Workspace,
    project: str | None,
    here: Checkout | None,
    recent: timedelta,
    terms: Sequence[str],
    unread: int,
) -> Briefing:
    now = ws.clock().replace(microsecond=0)  # entries know whole seconds
    key = project_key(project) if project else None
    handoffs = list(_pool(ws, key, ("handoff",))[0])[:1]
    pins = [row for row in ws.index.pinned(key) if row not in handoffs]
    whole = marked(ws, read_entries(ws, [*pins, *handoffs]), here)
    handoff = whole[handoffs[0]] if handoffs else None
    left_off = None
    if handoff and handoff.dated:
        left_off = handoff.at + timedelta(microseconds=1)
    begin = max(left_off or now - recent, now - recent)
    # a note of no project may be anybody's diary
    without = ("handoff",) if project else ("handoff", "note")
    kinds = tuple(kind for kind in TYPES if kind not in without)
    later, more = _pool(ws, key, kinds, left_off or begin)
    new = {row: entry for row, entry in later.items() if entry.at >= begin}
    pools = {
        "open issues": _pool(ws, key, ("issue",)),
        f"new since {begin:%Y-%m-%d %H:%M}": (new, more and len(new) == len(later)),
        "decisions": _pool(ws, key, ("decision",)),
        "insights and references": _pool(
            ws,
            key,
            ("insight", "reference"),
            order="importance",
        ),
        "progress": _pool(ws, key, ("progress",), left_off),
    }
    rows = list(chain.from_iterable(entries for entries, _ in pools.values()))
    scores = _word_scores(ws, terms, rows)
    shelves = []
    seen = set(pins)
    for name, (entries, has_more) in pools.items():
        unseen = {row: entry for row, entry in entries.items() if row not in seen}
        seen.update(unseen)
        ranked = _ranked(
            ws,
            unseen,
            scores,
            by_importance=name.startswith("insights"),
        )
        shelves.append(Shelf(name, ranked, has_more))
    return Briefing(
        project=project or "",
        pinned=tuple(whole[row] for row in pins if not _is_over(ws, whole[row])),
        handoff=handoff,
        later=f"{len(later)}{'+' if more else ''}" if left_off else "0",
        shelves=tuple(shelves),
        unread_files=unread,
    )


def _pool(
    ws: Workspace,
    key: str | None,
    types: tuple[EntryType, ...],
    since: datetime | None = None,
    order: Order = "newest",
) -> tuple[dict[int, Entry], bool]:
    """Returns entries of the project, or tagged with its name and of no other, newest first,
    and whether there are others beyond POOL; without a project those that have none.
    """
    without = Filters(sessions=True)
    if types in (("issue",), ("handoff",)):
        without = replace(without, tags=tuple(SHARED.settled))
    day = since.date().isoformat() if since else None
    wanted = [
        Filters(
            types=types,
            since=day,
            without=without,
        )
    ]
    if "progress" in types:  # digests of sessions take no place of what was saved
        wanted.append(
            Filters(
                types=types,
                since=day,
                sessions=True,
            )
        )
    if key:
        of_project = [replace(filters, projects=(key,)) for filters in wanted]
        tag = slug_tag(key)
        tagged = [replace(filters, tags=(tag,)) for filters in wanted if tag]
        wanted = of_project + tagged
    rows = []
    more = False
    for filters in wanted:
        total, listed = ws.index.listing(filters, order=order, limit=POOL)
        rows += listed
        more = more or total > len(listed)
    entries = {}
    for row, stored in ws.index.entries(rows).items():
        entry = stored.entry
        foreign = entry.project and project_key(entry.project) != key
        too_old = since is not None and entry.at < since
        if not (foreign or too_old or _is_over(ws, entry)):
            entries[row] = entry
    newest_first = sorted(
        entries.items(),
        key=lambda item: (item[1].dated, item[1].at, item[1].there.line),
        reverse=True,
    )
    return dict(newest_first), more


def _is_over(
    ws: Workspace,
    entry: Entry,
) -> bool:
    """True when the entry expired before today, or a tag settles the issue or hand-off."""
    if has_expired(entry.expires, ws.today.isoformat()):
        return True
    return entry.type in ("issue", "handoff") and not SHARED.settled.isdisjoint(entry.tags)


def _word_scores(
    ws: Workspace,
    terms: Sequence[str],
    rows: Sequence[int],
) -> dict[int, float]:
    """Returns BM25 by row, best first, of the entries that hold rare words of the work."""
    passages, counts = ws.index.document_counts(terms)
    most = max(COMMON_SHARE * passages, RARE_WORDS)
    rare = [term for term in terms if 0 < counts[term] <= most]
    rare.sort(key=lambda term: counts[term])
    if not rows or not rare:
        return {}
    candidates = ws.index.lexical(
        [match(term) for term in rare[:RARE_WORDS]],
        ws.index.passing_chunks(Filters(), rows, ()),
        context_weight=0.0,  # an entry's own words: its neighbours are no nearer to the work
        limit=4 * len(rows),
    )
    return {hit.entry_rowid: -hit.score for hit in reversed(candidates)}


def _ranked(
    ws: Workspace,
    entries: Mapping[int, Entry],
    word_scores: Mapping[int, float],
    *,
    by_importance: bool,
) -> tuple[Entry, ...]:
    """Returns the entries by age and words, fused; importance goes first, or only the highest
    of it. Digests of sessions come last.
    """
    now = ws.clock()
    half_life = timedelta(ws.config.search.half_life_days)
    age = {
        row: math.exp2((entry.at - now) / half_life) if entry.dated else 0.0
        for row, entry in entries.items()
    }
    words = {row: word_scores[row] for row in entries if row in word_scores}
    fused = score_aware_rrf({"age": age, "words": words}, k=ws.config.search.k, weights={})

    def place(row: int) -> tuple[bool, int, float]:
        importance = entries[row].importance
        if importance is None:
            importance = DEFAULT_IMPORTANCE
        first = importance if by_importance or importance == HIGHEST else 0
        return entries[row].of_session, -first, -fused[row]

    return tuple(entries[row] for row in sorted(entries, key=place))
