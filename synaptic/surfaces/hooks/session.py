"""What a new session should know of its project: what is pinned, was handed off, is open, is
new, was decided.
"""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...language.lexicon import SHARED
from ...language.query import terms_of
from ...language.words import match
from ...models import DEFAULT_IMPORTANCE, TYPES, Entry, EntryType, Filters, Order
from ...notes.blocks import project_key, slug_tag
from ...search.ranking import score_aware_rrf
from ...workspace.changes import has_expired, marked
from ...workspace.checkout import Checkout, checkout_around, project_of, work_at_hand
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from ..present import Item, one_line
from .briefing import TOP, Shelf, compose, handoff_item

POOL = 100
"""So many of the newest entries of a kind are looked at; of insights and references, of the
most important.
"""

WEEK = timedelta(days=7)
"""What is younger, and younger than the last hand-off, is new to a session that starts."""

READING_SHARE = 0.3
"""Of a hook's time it may take to read new files; the rest is left to open, to store and to
ask.
"""

TELLING_WORDS, TELLING_SHARE = 8, 0.1
"""The number of words that are looked up, the rarest first, and the share of all passages above
which a word is left
out. A word in at most TELLING_WORDS passages is never too common."""

_ANY_BRANCH = frozenset(("main", "master", "trunk", "develop", "head"))


@dataclass(frozen=True, slots=True)
class Call:
    """What the agent says of itself, as its client says it."""

    client: str
    said: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        return Path(self.text("cwd") or Path.cwd())

    def text(self, name: str) -> str:
        """A text of that name; empty where none is said."""
        value = self.said.get(name)
        return value if isinstance(value, str) else ""


def brief_session(ws: Workspace, call: Call) -> str:
    """What a session in this folder should know, as fenced Markdown; empty where the journal
    knows nothing of it.

    Superseded and expired entries are left out. Each list is ordered by age and by the words of
    the work at hand.
    """
    here = checkout_around(call.folder, ws.config)
    project = project_of(ws.config, here)
    own = _ANY_BRANCH.union(terms_of(project or ""))  # every entry holds its project's name
    terms = [
        term
        for term in terms_of(work_at_hand(call.folder))
        if len(term) > 1 and term not in own
    ]
    quiet = call.said.get("seconds_since_last_response")  # of a session that goes on
    since = (
        timedelta(seconds=quiet) if isinstance(quiet, int | float) and 0 < quiet < 1e9 else WEEK
    )
    within_s = READING_SHARE * ws.config.hooks.timeout_s
    report, (pinned, handoff, shelves) = in_step(
        ws, lambda report: (report, _gather(ws, project, here, since, terms)), within_s=within_s
    )
    name = one_line(project or "")[:60]
    if sys.stdin.isatty():  # a person looks at what an agent would be told
        find = f"synaptic find --type TYPE{f' --project {shlex.quote(name)}' if name else ''}"
    else:
        find = f"context_find(type=...{f', project={json.dumps(name, ensure_ascii=False)}' if name else ''})"
    about = f"on the project {name}" if name else "without a project"
    head = (
        f"From Synaptic, the journal that you share with the user: entries {about}. "
        f"context_get gives them whole."
    )
    if report.unread:
        head += f" {report.unread:,} older files are not read yet."
    return compose(
        head, pinned, handoff, shelves, find=find, max_tokens=ws.config.hooks.max_tokens
    )


def _gather(
    ws: Workspace,
    project: str | None,
    here: Checkout | None,
    recent: timedelta,
    terms: Sequence[str],
) -> tuple[list[Entry], Item | None, list[Shelf]]:
    """What is pinned, the last hand-off, and the shelves. An entry stands on the first shelf
    that it belongs to.
    """
    now = ws.clock().replace(microsecond=0)  # entries know whole seconds
    key = project_key(project) if project else None
    last = list(_listed(ws, key, ("handoff",))[0])[:1]
    pins = [rowid for rowid in ws.index.pinned(key) if rowid not in last]
    whole = marked(ws, read_entries(ws, [*pins, *last]), here)
    handoff = whole[last[0]] if last else None
    left_off = handoff.at + timedelta(microseconds=1) if handoff and handoff.dated else None
    begin = max(left_off or now - recent, now - recent)
    # a note of no project may be anybody's diary
    kinds = tuple(type for type in TYPES if type != "handoff" and (project or type != "note"))
    later, more = _listed(ws, key, kinds, left_off or begin)
    new = {row: entry for row, entry in later.items() if entry.at >= begin}
    lists = {
        "open issues": _listed(ws, key, ("issue",)),
        f"new since {begin:%Y-%m-%d %H:%M}": (new, more and len(new) == len(later)),
        "decisions": _listed(ws, key, ("decision",)),
        "insights and references": _listed(
            ws, key, ("insight", "reference"), order="importance"
        ),
        "progress": _listed(ws, key, ("progress",), left_off),
    }
    fitting = _by_words(ws, terms, [row for entries, _ in lists.values() for row in entries])
    shelves, told = [], set(pins)
    for name, (entries, others) in lists.items():
        own = {row: entry for row, entry in entries.items() if row not in told}
        told.update(own)
        shelves.append(
            Shelf(
                name,
                _in_order(ws, own, fitting, by_importance=name.startswith("insights")),
                others,
            )
        )
    count = f"{len(later)}{'+' if more else ''}" if left_off else "0"
    item = handoff_item(handoff, today=now.date(), later=count) if handoff else None
    return [whole[row] for row in pins if not _is_over(ws, whole[row])], item, shelves


def _listed(
    ws: Workspace,
    key: str | None,
    types: tuple[EntryType, ...],
    since: datetime | None = None,
    order: Order = "newest",
) -> tuple[dict[int, Entry], bool]:
    """Entries of the project, or tagged with its name and of no other, newest first, and
    whether there are more.

    Without a project those that have none.
    """
    settled = (
        Filters(tags=tuple(SHARED.settled)) if types in (("issue",), ("handoff",)) else None
    )
    kind = Filters(
        types=types, since=since.date().isoformat() if since else None, without=settled
    )
    kinds = [replace(kind, without=replace(kind.without or Filters(), sessions=True))]
    if "progress" in types:
        kinds.append(
            replace(kind, sessions=True)
        )  # by themselves: digests take no place in the pool of what was saved
    ways = [replace(kind, projects=(key,)) if key else kind for kind in kinds]
    if key and (tag := slug_tag(key)):
        ways += [replace(kind, tags=(tag,)) for kind in kinds]
    pools = [ws.index.listing(way, order=order, limit=POOL) for way in ways]
    found = ws.index.entries(
        list(dict.fromkeys(rowid for _, rowids in pools for rowid in rowids))
    )
    belonging = [
        (rowid, stored.entry)
        for rowid, stored in found.items()
        if (not stored.entry.project or project_key(stored.entry.project) == key)
        and (since is None or stored.entry.at >= since)
        and not _is_over(ws, stored.entry)
    ]
    belonging.sort(
        key=lambda pair: (pair[1].dated, pair[1].at, pair[1].there.line), reverse=True
    )
    return dict(belonging), any(total > len(rowids) for total, rowids in pools)


def _is_over(ws: Workspace, entry: Entry) -> bool:
    """Whether the entry expired before today, or is an issue or a hand-off that a tag calls
    settled.
    """
    expired = has_expired(entry.expires, ws.clock().date().isoformat())
    return expired or (
        entry.type in ("issue", "handoff") and not SHARED.settled.isdisjoint(entry.tags)
    )


def _by_words(ws: Workspace, terms: Sequence[str], rowids: Sequence[int]) -> dict[int, float]:
    """Those of these entries that hold words which tell something, and their BM25, best first."""
    passages, held = ws.index.document_counts(terms)
    telling = [
        term for term in terms if 0 < held[term] <= max(TELLING_SHARE * passages, TELLING_WORDS)
    ]
    rarest = [
        match(term) for term in sorted(telling, key=lambda term: held[term])[:TELLING_WORDS]
    ]
    if not rowids or not rarest:
        return {}
    # by their own words: neighbours of what fits are no nearer to the work
    found = ws.index.lexical(
        rarest,
        filters=Filters(),
        within=rowids,
        phrases=(),
        context_weight=0.0,
        limit=4 * len(rowids),
    )
    return {candidate.entry_rowid: -candidate.score for candidate in reversed(found)}


def _in_order(
    ws: Workspace,
    newest: Mapping[int, Entry],
    fitting: Mapping[int, float],
    *,
    by_importance: bool,
) -> tuple[Entry, ...]:
    """The entries by their age and by words, fused; before that by importance, or only the
    highest of it first.

    Digests of sessions come after all that was saved.
    """
    now, half_life = ws.clock(), timedelta(ws.config.search.half_life_days)
    age = {
        row: math.exp2((entry.at - now) / half_life) * entry.dated
        for row, entry in newest.items()
    }
    fits = {row: fitting[row] for row in newest if row in fitting}
    fused = score_aware_rrf({"age": age, "words": fits}, k=ws.config.search.k, weights={})

    def place(row: int) -> tuple[bool, int, float]:
        importance = DEFAULT_IMPORTANCE if (given := newest[row].importance) is None else given
        return (
            newest[row].of_session,
            -importance if by_importance or importance == TOP else 0,
            -fused[row],
        )

    return tuple(newest[row] for row in sorted(newest, key=place))
