"""Reads OpenCode's sessions: `~/.local/share/opencode/opencode.db`, or below XDG_DATA_HOME, an
SQLite database.

`session` has id, parent_id (of a subagent's), directory and title ("New session - TIME" is
none). `message.data` is `{"role", "summary": true where it is a compaction}`, and `part.data`
is `{"type": "text", "text", "synthetic": true where a program wrote it}` or `{"type": "tool",
"callID", "tool", "state": {"status", "input", "output", "error", "metadata": {"exit"}}}`. Times
are milliseconds since 1970. The line of an event is the number of its message. One session
alone is read as `opencode.db/ID`.
"""

from __future__ import annotations

import re
import sqlite3
from functools import partial

from .digest import Transcripts
from .session import ROLES, Session, sessions_of_databases
from .shared import dig, text_of
from .source import read_json

_SESSIONS = """
SELECT id, directory, title FROM session WHERE parent_id IS NULL AND ? IN ('', id)
ORDER BY time_created, id
"""
_PARTS = """
SELECT dense_rank() OVER (ORDER BY message.time_created, message.id) number,
message.data message, part.data part, part.time_created at
FROM message JOIN part ON message_id = message.id WHERE message.session_id = ?
ORDER BY message.time_created, message.id, part.id
"""


def _add_part(
    session: Session,
    number: int,
    row: sqlite3.Row,
) -> None:
    session.title = re.sub("^New session - .*", "", session.title)
    message = read_json(row["message"])
    part = read_json(row["part"])
    kind = dig(part, "type")
    if kind == "tool":
        state = dig(part, "state")
        session.add_call(
            number, part | {"input": dig(state, "input")}, "tool", "input", "callID"
        )
        failed = {"completed": False, "error": True}.get(text_of(state, "status"))
        output = text_of(state) or text_of(state, "error")
        session.add_result(dig(part, "callID"), output, failed, dig(state, "metadata", "exit"))
    elif kind == "text" and not dig(part, "synthetic") and dig(message, "summary") is not True:
        session.add(ROLES[dig(message, "role")], number, dig(part, "text"))


READER = Transcripts(
    "XDG_DATA_HOME",
    ".local/share",
    ("opencode/opencode*.db",),
    ("opencode*.db",),
    partial(sessions_of_databases, "OpenCode", (_SESSIONS, _PARTS), _add_part),
)
