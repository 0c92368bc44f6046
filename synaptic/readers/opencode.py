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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .digest import Transcripts
from .record import Skipped, reporting
from .session import Session
from .shared import dig, fetched, sqlite_copy, text_of
from .source import read_json

_SESSIONS = """
SELECT id, directory, title FROM session WHERE parent_id IS NULL AND ? IN ('', id)
ORDER BY time_created, id
"""
_PARTS = """
SELECT dense_rank() OVER (ORDER BY message.time_created, message.id), message.data, part.data,
part.time_created
FROM message JOIN part ON message_id = message.id WHERE message.session_id = ?
ORDER BY message.time_created, message.id, part.id
"""


def _sessions(
    files: list[Path],
    skipped: Skipped,
    id: str = "",
) -> Iterator[Session]:
    for file in files:
        with sqlite_copy(file) as db:
            for key, folder, title in fetched(db, _SESSIONS, (id,)).fetchall():
                session = Session(text_of(key), "OpenCode", text_of(folder))
                session.title = re.sub("^New session - .*", "", text_of(title))
                with reporting(skipped, f"{file.name}: {key}"):
                    _add_messages(session, key, db, skipped)
                yield session


def _add_messages(
    session: Session,
    key: object,
    db: sqlite3.Connection,
    skipped: Skipped,
) -> None:
    for number, message, part, at in fetched(db, _PARTS, (key,)):
        session.set_time(at)
        with reporting(skipped, f"{session.key}:{number}"):
            _add_part(session, number, read_json(message), read_json(part))


def _add_part(
    session: Session,
    number: int,
    message: Any,
    part: Any,
) -> None:
    kind = dig(part, "type")
    if kind == "tool":
        state = dig(part, "state")
        call = dig(part, "callID")
        session.add_call(number, dig(part, "tool"), dig(state, "input"), call)
        failed = {"completed": False, "error": True}.get(text_of(state, "status"))
        output = text_of(state) or text_of(state, "error")
        session.add_result(call, output, failed, dig(state, "metadata", "exit"))
    elif kind == "text" and not dig(part, "synthetic") and dig(message, "summary") is not True:
        is_person = dig(message, "role") == "user"
        session.add("asked" if is_person else "said", number, dig(part, "text"))


READER = Transcripts(
    "XDG_DATA_HOME",
    ".local/share",
    ("opencode/opencode*.db",),
    ("opencode*.db",),
    _sessions,
)
