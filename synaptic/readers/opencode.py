"""OpenCode's sessions: `~/.local/share/opencode/opencode.db`, or below XDG_DATA_HOME, an SQLite
database.

`session` has id, parent_id (of a subagent's), directory and title ("New session - TIME" is
none). `message.data` is `{"role", "summary": true where it is a compaction}`, and `part.data`
is `{"type": "text", "text", "synthetic": true where a program wrote it}` or `{"type": "tool",
"callID", "tool", "state": {"status", "input", "output", "error", "metadata": {"exit"}}}`. Times
are milliseconds since 1970. The line of an event is the number of its message. One session
alone is read as `opencode.db/ID`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from .digest import Transcripts
from .record import Skipped, told
from .session import Session, dig, text_of
from .shared import fetched, sqlite_copy
from .source import read_json

_SESSIONS = """SELECT id, directory, title FROM session WHERE parent_id IS NULL AND ? IN ('', id)
ORDER BY time_created, id"""
_PARTS = """SELECT message.id, message.data, part.data, part.time_created FROM message JOIN part
ON message_id = message.id WHERE message.session_id = ? ORDER BY message.time_created, message.id, part.id"""


def _sessions(files: list[Path], skipped: Skipped, one: str = "") -> Iterator[Session]:
    for file in files:
        with sqlite_copy(file) as db:
            for key, folder, title in list(map(tuple, fetched(db, _SESSIONS, (one,)))):
                title = "" if text_of(title).startswith("New session - ") else text_of(title)
                session = Session(text_of(key), "OpenCode", text_of(folder), title)
                with told(skipped, f"{file.name}: {key}"):
                    _follow(session, key, db, skipped)
                yield session


def _follow(session: Session, key: object, db: sqlite3.Connection, skipped: Skipped) -> None:
    number, last = 0, None
    for id, message, part, at in fetched(db, _PARTS, (key,)):
        number, last = number + (id != last), id
        session.when(at)
        with told(skipped, f"{session.key}:{number}"):
            _part(session, number, read_json(message), read_json(part))


def _part(session: Session, number: int, message: Any, part: Any) -> None:
    state, call = dig(part, "state"), text_of(dig(part, "callID"))
    if dig(part, "type") == "tool":
        session.called(number, text_of(dig(part, "tool")), dig(state, "input"), call)
        failed = {"completed": False, "error": True}.get(text_of(dig(state, "status")))
        session.answered(
            call,
            text_of(state) or text_of(dig(state, "error")),
            failed,
            dig(state, "metadata", "exit"),
        )
    elif (
        dig(part, "type") == "text"
        and not dig(part, "synthetic")
        and dig(message, "summary") is not True
    ):
        kind: Literal["asked", "said"] = "asked" if dig(message, "role") == "user" else "said"
        session.add(kind, number, text_of(dig(part, "text")))


READER = Transcripts(
    "XDG_DATA_HOME", ".local/share", ("opencode/opencode*.db",), ("opencode*.db",), _sessions
)
