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
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from ..files import read_regular
from .digest import Transcripts
from .record import Skipped, reporting
from .session import Session
from .shared import SETTINGS_BYTES, dig, fetched, list_of, sqlite_copy, text_of
from .source import read_json

_SESSIONS = """
SELECT id, title FROM sessions WHERE coalesce(parent_session_id, '') = '' AND ? IN ('', id)
ORDER BY created_at, id
"""
_MESSAGES = "SELECT * FROM messages WHERE session_id = ? ORDER BY created_at, rowid"


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


def _sessions(
    files: list[Path],
    skipped: Skipped,
    id: str = "",
) -> Iterator[Session]:
    for file in files:
        folder = str(file.parents[1]) if file.parent.name == ".crush" else ""
        with sqlite_copy(file) as db:
            for key, title in fetched(db, _SESSIONS, (id,)).fetchall():
                session = Session(text_of(key), "Crush", folder, text_of(title))
                with reporting(skipped, f"{file}: {key}"):
                    _add_messages(session, db, skipped)
                yield session


def _add_messages(
    session: Session,
    db: sqlite3.Connection,
    skipped: Skipped,
) -> None:
    numbers = count(1)
    for row in fetched(db, _MESSAGES, (session.key,)):
        number = next(numbers)
        message = dict(row)
        session.set_time(message["created_at"])
        with reporting(skipped, f"{session.key}:{number}"):
            if not message.get("is_summary_message"):
                for part in read_json(message["parts"]):
                    _add_part(session, number, message["role"], part)


def _add_part(
    session: Session,
    number: int,
    role: object,
    part: Any,
) -> None:
    kind = dig(part, "type")
    data = dig(part, "data")
    if kind == "text" and role in ("user", "assistant"):
        session.add("asked" if role == "user" else "said", number, dig(data, "text"))
    elif kind == "tool_call":
        given: object = dig(data, "input")
        with suppress(ValueError):
            given = read_json(given)
        session.add_call(number, dig(data, "name"), given, dig(data, "id"))
    elif kind == "tool_result":
        output = text_of(data, "content").partition("\n\n<cwd>")[0]
        failed = dig(data, "is_error") is True or None
        session.add_result(dig(data, "tool_call_id"), output, failed)


READER = _Databases(
    "XDG_DATA_HOME",
    ".local/share",
    ("crush/projects.json",),
    ("crush.db",),
    _sessions,
)
