"""Remembers which sessions of an agent or a person had a briefing, and what it showed.

So a session hears again only of what changed, news begin where the session before ended, and
rules that no person confirmed are asked about once.
"""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..journal.disk import overwrite, read_state_json
from ..models import PERSON, Entry, Json
from ..workspace.preferences import CHANGED_END, hash_of_rule
from ..workspace.sync import SyncReport
from ..workspace.workspace import Workspace
from .brief import (
    DUE,
    OPEN_ISSUES,
    WEEK,
    WHOLE,
    Briefing,
    Occasion,
    brief,
    gather_briefing,
    on_occasion,
)

START_S = 60.0
"""Seconds before the start of a server in which a hook of the same session may have run."""
SESSIONS_KEPT = 16
ASKED = "asked"
"""The key of the hashes of rules that no person confirmed and that agents were shown."""
READERS_KEPT = 200
_POSITIONS = "positions.json"
"""Maps client and project to the last position, the one before it, and the sessions."""


class Reader(NamedTuple):
    """The client or token that reads, and its session, "" where it has none. `hook`: a hook
    reads for it; the tools of the same session follow. `server_began`: seconds since 1970
    at which the server of its tools began.
    """

    client: str
    session: str = ""
    hook: bool = False
    server_began: float = 0.0


def brief_reader(
    ws: Workspace,
    reader: Reader,
    folder: Path | None,
    since: timedelta | str = WEEK,
    *,
    project: str | None = None,
) -> Briefing:
    """Returns what `brief` returns, for a reader of whom records are kept.

    A session that had a briefing, also by a hook, gets what changed since, unless it asks for
    `all`. Rules that no person confirmed are asked about once. In the past it has no position
    and moves none.
    """
    if ws.access.is_past:
        return brief(ws, folder, since, project=project)
    gather = partial(_brief_reader, ws, reader, since)
    briefing, records = on_occasion(ws, folder, since, project, gather)
    with suppress(OSError):  # a home that cannot be written can be read
        overwrite(ws.config.state / _POSITIONS, json.dumps(records).encode(), sync=False)
    return briefing


def _brief_reader(
    ws: Workspace,
    reader: Reader,
    since: timedelta | str,
    occasion: Occasion,
    report: SyncReport,
) -> tuple[Briefing, Json]:
    """Returns the briefing for a reader of whom records are kept, as it asked for `since`, and
    the records of all readers after it.
    """
    records = read_state_json(ws.config.state / _POSITIONS)
    key = f"{reader.client}|{occasion.scope.key}"
    record = records.pop(key, {})
    sessions = record.get("sessions", {})
    had = sessions.pop(_find_own_session(sessions, reader), {}) if since == WEEK else {}
    is_asked = isinstance(since, str) and since != WHOLE
    is_new = _begins_session(record, reader, is_asked=is_asked)
    before = record.get("position" if is_new or not reader.session else "before", "")
    wanted = occasion._replace(since=had.get("position", occasion.since))
    briefing = gather_briefing(ws, wanted, report, before)
    if is_new:
        record = {
            "before": before,
            "position": briefing.position,
            "session": reader.session,
            "hook": reader.hook,
        }
    elif not reader.hook:
        record["tool"] = reader.session
    record["sessions"] = _note_session(sessions, reader, briefing)
    asked = records.pop(ASKED, [])
    if reader.client != PERSON:
        briefing, asked = _ask_once(briefing, asked)
    if had:
        briefing = _keep_changes(briefing, had)
    latest = dict([*records.items(), (key, record)][-READERS_KEPT:])
    return briefing, latest | {ASKED: asked[-READERS_KEPT:]}


def _find_own_session(sessions: Mapping[str, Any], reader: Reader) -> str:
    """Returns the name under which the last briefing of the reader's session is kept, "" where
    it had none: its own, or that of the first hook since its server began. A hook gets the
    whole each time, because the client's context begins anew.
    """
    if reader.hook or not reader.session:
        return ""
    if reader.session in sessions:
        return reader.session
    for name, briefing in sessions.items():
        if briefing["by_hook"] and briefing["at"] >= reader.server_began - START_S:
            return name
    return ""


def _note_session(sessions: Json, reader: Reader, briefing: Briefing) -> Json:
    """Returns the sessions with the reader's, and what its briefing showed; the latest last."""
    others = {name: one for name, one in sessions.items() if name != reader.session}
    if reader.session:
        others[reader.session] = {
            "position": briefing.position,
            "shown": list(map(hash_of_rule, _list_whole(briefing))),
            "by_hook": reader.hook,
            "at": time.time(),
        }
    return dict([*others.items()][-SESSIONS_KEPT:])


def _list_whole(briefing: Briefing) -> list[Entry]:
    """Returns the entries that a briefing shows beside its shelves."""
    entries = [*briefing.rules, *briefing.pinned, briefing.handoff]
    return [entry for entry in entries if entry]


def _keep_changes(briefing: Briefing, had: Mapping[str, Any]) -> Briefing:
    """Returns what is new in a briefing to a session that had one."""
    new = [one for one in _list_whole(briefing) if hash_of_rule(one) not in had["shown"]]
    remark = (
        f'This session had its briefing: this is what changed since. since="{WHOLE}" gives the '
        "whole again."
    )
    return briefing._replace(
        rules=tuple(rule for rule in briefing.rules if rule in new),
        asked_before=(),
        pinned=tuple(entry for entry in briefing.pinned if entry in new),
        handoff=briefing.handoff if briefing.handoff in new else None,
        shelves=tuple(
            shelf for shelf in briefing.shelves if shelf.name not in (DUE, OPEN_ISSUES)
        ),
        remark=" ".join(filter(None, (remark, briefing.remark))),
    )


def _ask_once(briefing: Briefing, asked: Sequence[str]) -> tuple[Briefing, list[str]]:
    """Returns the briefing with the unconfirmed rules whose hashes were `asked` about as data,
    and all hashes that are asked about now. A rule that was in force, and of which another
    changed the end, is asked about until a person answers.
    """
    unasked: list[Entry] = []
    data: list[Entry] = []
    for rule in briefing.unconfirmed:
        was_in_force = any(CHANGED_END in mark for mark in rule.marks)
        is_new = was_in_force or hash_of_rule(rule) not in asked
        (unasked if is_new else data).append(rule)
    hashes = dict.fromkeys([*asked, *map(hash_of_rule, unasked)])
    fresh = briefing._replace(unconfirmed=tuple(unasked), asked_before=tuple(data))
    return fresh, list(hashes)


def _begins_session(record: Mapping[str, Any], reader: Reader, *, is_asked: bool) -> bool:
    """True if this briefing is the first in the reader's session. For a reader without session
    names, a request for news does not count as a new session.
    """
    if not record or not reader.session:
        return not (record and is_asked)
    follows_hook = record.get("hook") and not record.get("tool") and not reader.hook
    return not follows_hook and reader.session not in (
        record.get("session"),
        record.get("tool"),
    )
