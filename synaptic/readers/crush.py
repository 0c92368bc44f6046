"""Reads Crush's sessions: an SQLite database `crush.db` in the folder `.crush` of each project.
`~/.local/share/crush/projects.json`, or below XDG_DATA_HOME, names them. Written after its
schema and after the reader of vshulcz/deja-vu, which saw 0.92.0.

`projects.json` is `{"projects": [{"path", "data_dir"}]}`. `sessions` has id, parent_session_id
(of a subagent's) and title; `messages` has session_id, role, parts, created_at (seconds or
milliseconds) and, since 2025, is_summary_message. `parts` is a list of `{"type", "data"}`: text
(text), tool_call (id, name, input as JSON) and tool_result (tool_call_id, content, is_error).
The line of an event is the number of its message.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from ..files import read_regular
from .digest import Transcripts
from .session import ROLES, Session, sessions_of_databases
from .shared import SETTINGS_BYTES, dig, list_of, text_of
from .source import read_json

_SESSIONS = """
SELECT id, '' directory, title FROM sessions
WHERE coalesce(parent_session_id, '') = '' AND ? IN ('', id) ORDER BY created_at, id
"""
_MESSAGES = """
SELECT *, row_number() OVER (ORDER BY created_at, rowid) number, created_at at
FROM messages WHERE session_id = ? ORDER BY number
"""


class _Databases(Transcripts):
    def find(
        self,
        home: Path,
        environ: Mapping[str, str],
    ) -> list[Path]:
        found = []
        for registry in super().find(home, environ):
            with suppress(OSError, ValueError):
                projects = read_json(read_regular(registry, SETTINGS_BYTES))
                for project in list_of(projects, "projects"):
                    place = text_of(project, "path")
                    found.append(Path(place, text_of(project, "data_dir"), "crush.db"))
        return [path for path in found if path.is_file()]


def _add_message(
    session: Session,
    number: int,
    row: sqlite3.Row,
) -> None:
    message = dict(row)
    for part in [] if message.get("is_summary_message") else read_json(message["parts"]):
        kind = dig(part, "type")
        data = dig(part, "data")
        if kind == "text" and message["role"] in ROLES:
            session.add(ROLES[message["role"]], number, dig(data, "text"))
        elif kind == "tool_call":
            session.add_call(number, data, "name", "input", "id")
        elif kind == "tool_result":
            output = text_of(data, "content").partition("\n\n<cwd>")[0]
            failed = dig(data, "is_error") is True or None
            session.add_result(dig(data, "tool_call_id"), output, failed)


READER = _Databases(
    "XDG_DATA_HOME",
    ".local/share",
    ("crush/projects.json",),
    ("crush.db",),
    partial(sessions_of_databases, "Crush", (_SESSIONS, _MESSAGES), _add_message),
)
