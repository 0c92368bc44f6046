"""Remembers which entries an agent's session has seen, so that no hook shows one twice."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..config import Config
from ..journal.disk import read_state_lines
from .stop import HookMessage, append_log_line

LOG = "told.log"
"""The file in the state folder: a line `SESSION ID`, with the short id, for each entry that was
shown.
"""
FORGOTTEN = "-"
"""The id on the line that ends what a session has seen: its context was made anew."""
_SHOWN_ID = re.compile(r"(?m)^(?:`{3,}entry )?([0-9a-z]{8}) .*$(?<!…)(?<!, a part of it)")
"""The id of an entry that a text for an agent shows whole: `k7m9q2x4 21 Nov issue: ...`. An
ellipsis says that sentences are left out: a prompt or an edit may need them.
"""


def valid_session_id(message: HookMessage) -> str:
    """Returns the id of the session of a hook's message; "" if it has no valid one. A subagent
    sees nothing of its session's context, so its own id is added.
    """
    session = str(message.get("session_id") or "")
    agent = message.get("agent_id")
    if session and agent:
        session = f"{session}.{agent}"
    return session if re.fullmatch(r"[\w.:-]{1,200}", session) else ""


def ids_in_text(text: str) -> list[str]:
    """Returns the short ids of the entries that a text for an agent shows whole, each on its
    line.
    """
    return _SHOWN_ID.findall(text)


def seen_ids(config: Config, session: str) -> set[str]:
    """Returns the short ids of the entries that hooks have shown to this session."""
    ids: set[str] = set()
    for line in read_state_lines(config.state / LOG):
        noted_session, _, id = line.partition(" ")
        if noted_session == session and id == FORGOTTEN:
            ids.clear()
        elif noted_session == session:
            ids.add(id)
    return ids


def note_seen(config: Config, session: str, ids: Iterable[str]) -> None:
    """Notes that this session was shown the entries with these short ids, or with FORGOTTEN
    that it starts anew.
    """
    lines = [f"{session} {id}" for id in ids]
    if lines:
        append_log_line(config.state / LOG, "\n".join(lines))
