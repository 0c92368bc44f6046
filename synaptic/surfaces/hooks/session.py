"""What a new session should know of its project: the last hand-off, open issues, what is new, what was decided."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...journal.disk import overwrite
from ...language.lexicon import SHARED
from ...language.query import terms_of
from ...language.words import match
from ...models import TYPES, Entry, EntryType, Filters
from ...notes.blocks import project_key, slug_tag
from ...search.ranking import score_aware_rrf
from ...workspace.checkout import detect_project, work_at_hand
from ...workspace.readback import read_entries
from ...workspace.sync import in_step
from ...workspace.workspace import Workspace
from ..present import one_line
from .briefing import Shelf, compose

POOL = 200
"""So many of the newest entries of a kind are looked at."""

WORDS = 2.0
"""The weight of the words of the work at hand, beside that of age."""

TELLING_WORDS, TELLING_SHARE = 8, 0.1
"""The number of words that are looked up, the rarest first, and the share of all passages above which a word is left
out. A word in at most TELLING_WORDS passages is never too common."""

_ANY_BRANCH = frozenset(("main", "master", "trunk", "develop", "head"))
_PROJECTS = 200
"""So many projects' last sessions are remembered."""


@dataclass(frozen=True, slots=True)
class Call:
    """What the agent says of itself. `session` is an id by which it is known again; `quiet`: how long ago a session
    that goes on said something last."""

    folder: Path
    session: str = ""
    prompt: str = ""
    by_person: bool = True
    quiet: timedelta | None = None


def brief_session(ws: Workspace, call: Call) -> str:
    """What a session in this folder should know, as fenced Markdown; empty where the journal knows nothing of it.

    Superseded entries are left out. Each list is ordered by age and by the words of the work at hand.
    """
    project = ws.config.project or detect_project(call.folder)
    now = ws.clock().replace(microsecond=0)  # entries know whole seconds
    before = _last_session(ws.config.state / "sessions.json", project_key(project or ""), call.session, now)
    since = now - call.quiet if call.quiet is not None else before
    work = terms_of(f"{project or ''}\n{work_at_hand(call.folder)}")
    terms = [term for term in work if len(term) > 1 and term not in _ANY_BRANCH]
    handoff, shelves = in_step(ws, lambda _: _gather(ws, project, since, terms))
    about = f"on the project {one_line(project)[:60]}" if project else "without a project"
    head = f"From Synaptic, the journal that you share with the user: entries {about}. context_get gives them whole."
    return compose(head, handoff, shelves, max_tokens=ws.config.hooks.max_tokens)


def _gather(
    ws: Workspace, project: str | None, since: datetime | None, terms: Sequence[str]
) -> tuple[Entry | None, list[Shelf]]:
    """The last hand-off, whole, and the shelves. An entry stands on the first shelf that it belongs to."""
    handoffs, _ = _newest(ws, project, ("handoff",))
    issues, more_issues = _newest(ws, project, ("issue",))
    decided, more_decided = _newest(ws, project, ("decision", "progress"))
    new: dict[int, Entry] = {}
    more_new = False
    if since is not None:
        # a note of no project may be anybody's diary
        kinds = tuple(type for type in TYPES if type not in ("handoff", "issue") and (project or type != "note"))
        lately, more_new = _newest(ws, project, kinds, since=since.date().isoformat())
        new = {rowid: entry for rowid, entry in lately.items() if entry.at >= since}
    unsettled = {rowid: entry for rowid, entry in issues.items() if not SHARED.settled.intersection(entry.tags)}
    lists = {
        "open issues": (unsettled, more_issues),
        f"new since the last session, {since:%Y-%m-%d %H:%M}" if since else "": (new, more_new),
        "decisions and progress": ({row: decided[row] for row in decided if row not in new}, more_decided),
    }
    fitting = _by_words(ws, terms, [rowid for entries, _ in lists.values() for rowid in entries])
    shelves = [
        Shelf(name, tuple(entries[rowid] for rowid in _in_order(ws, entries, fitting)), more)
        for name, (entries, more) in lists.items()
    ]
    return next(iter(read_entries(ws, list(handoffs)[:1]).values()), None), shelves


def _newest(
    ws: Workspace, project: str | None, types: tuple[EntryType, ...], since: str | None = None
) -> tuple[dict[int, Entry], bool]:
    """Entries of the project, or tagged with its name and of no other, newest first, and whether there are more.

    Without a project those that have none.
    """
    key = project_key(project) if project else None
    kind = Filters(types=types, since=since)
    ways = [replace(kind, projects=(key,))] if key else [kind]
    if key and (tag := slug_tag(key)):
        ways.append(replace(kind, tags=(tag,)))
    pools = [ws.index.listing(way, order="newest", limit=POOL) for way in ways]
    found = ws.index.entries(list(dict.fromkeys(rowid for _, rowids in pools for rowid in rowids)))
    belonging = [
        (rowid, stored.entry)
        for rowid, stored in found.items()
        if not stored.entry.project or project_key(stored.entry.project) == key
    ]
    belonging.sort(key=lambda pair: (pair[1].dated, pair[1].at, pair[1].there.line), reverse=True)
    return dict(belonging), any(total > len(rowids) for total, rowids in pools)


def _by_words(ws: Workspace, terms: Sequence[str], rowids: Sequence[int]) -> list[int]:
    """Those of these entries that hold words which tell something, best first."""
    passages, held = ws.index.document_counts(terms)
    telling = [term for term in terms if 0 < held[term] <= max(TELLING_SHARE * passages, TELLING_WORDS)]
    rarest = [match(term) for term in sorted(telling, key=lambda term: held[term])[:TELLING_WORDS]]
    if not rowids or not rarest:
        return []
    found = ws.index.lexical(  # by their own words: neighbours of what fits are no nearer to the work
        rarest, filters=Filters(), within=rowids, phrases=(), context_weight=0.0, limit=4 * len(rowids)
    )
    return list(dict.fromkeys(candidate.entry_rowid for candidate in found))


def _in_order(ws: Workspace, newest: Iterable[int], fitting: Sequence[int]) -> list[int]:
    """The entries by their ranks by age and by words, fused."""
    by_age = list(newest)
    fits = [rowid for rowid in fitting if rowid in set(by_age)]
    rankings = {"age": dict.fromkeys(by_age, 1.0), "words": dict.fromkeys(fits, 1.0)}
    fused = score_aware_rrf(rankings, k=ws.config.search.k, weights={"words": WORDS})
    return sorted(by_age, key=lambda rowid: -fused[rowid])


def _last_session(path: Path, project: str, session: str, now: datetime) -> datetime | None:
    """When the last session before this one began; None if unknown. This one is noted for the next.

    After a compaction or a resume it is the same session still.
    """
    known: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        said = json.loads(path.read_bytes())
        known = said if isinstance(said, dict) else {}
    was = known.pop(project, None)
    was = was if isinstance(was, dict) else {}
    same = bool(session) and was.get("session") == session
    before = was.get("before") if same else was.get("began")
    if session and not same:
        note = {"session": session, "began": now.isoformat(), "before": before}
        kept = dict(list(known.items())[1 - _PROJECTS :])
        with suppress(OSError):  # a home that cannot be written can be read
            overwrite(path, json.dumps(kept | {project: note}).encode())
    with suppress(TypeError, ValueError):
        moment = datetime.fromisoformat(before or "")
        return moment if moment.tzinfo else None
    return None
