"""OpenCode's sessions, `~/.local/share/opencode/opencode.db` (or below XDG_DATA_HOME), an SQLite database.

| table | what is read |
|---|---|
| session | id, parent_id (of a subagent's), directory, title ("New session - TIME" is none), time_created |
| message | id, session_id, time_created, data: `{"role": "user" or "assistant", "summary": true of a compaction}` |
| part | message_id, time_created, data: `{"type": "text", "text", "synthetic": true where a program wrote it}` or
  `{"type": "tool", "tool", "state": {"status", "input", "output", "error", "metadata": {"exit"}}}` |

Times are milliseconds since 1970. A line of an event is the number of its message in the session.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument
from .digest import digest
from .record import Record, Skipped, sqlite_copy
from .session import Session, dig, files_in, patched, word

EDITORS = ("edit", "write", "multiedit")


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The databases."""
    folder = Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
    return sorted(folder.glob("opencode*.db"))


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """The digests of the sessions in a database, or in those of a folder."""
    for session in sessions(path, skipped):
        yield from digest(session)


def sessions(path: Path, skipped: Skipped, key: str = "") -> Iterator[Session]:
    """The sessions of a database or a folder; with `key` that one alone."""
    for file in files_in(path, "opencode*.db"):
        with sqlite_copy(file) as db:
            try:
                for row in db.execute("SELECT * FROM session WHERE ? IN ('', id) ORDER BY time_created, id", (key,)):
                    if not row["parent_id"]:
                        yield _session(db, row, file, skipped)
            except (sqlite3.OperationalError, IndexError) as error:
                raise InvalidArgument(f"{file} is no database of OpenCode: {error}.", hint="Name its file.") from error


def _session(db: sqlite3.Connection, row: sqlite3.Row, file: Path, skipped: Skipped) -> Session:
    title = "" if word(row["title"]).startswith("New session - ") else word(row["title"])
    session = Session(row["id"], "OpenCode", file, word(row["directory"]) or None, title=title)
    parts = db.execute(
        "SELECT message.id, message.data AS message, part.data AS part, part.time_created AS at FROM message"
        " LEFT JOIN part ON part.message_id = message.id WHERE message.session_id = ?"
        " ORDER BY message.time_created, message.id, part.id",
        (row["id"],),
    )
    number, last = 0, None
    for found in parts:
        number, last = number + (found["id"] != last), found["id"]
        try:
            message, part = json.loads(found["message"]), json.loads(found["part"] or "{}")
        except (ValueError, RecursionError):
            skipped(f"{row['id']}:{number}", "it is no JSON")
            continue
        session.when(found["at"])
        _part(session, number, dig(message, "role"), part, summary=dig(message, "summary") is True)
    return session


def _part(session: Session, number: int, role: Any, part: Any, *, summary: bool) -> None:
    kind = dig(part, "type")
    if kind == "text" and not part.get("synthetic") and not summary:
        text = word(part.get("text"))
        session.asked(number, text) if role == "user" else session.said(number, text)
    elif kind == "tool":
        name, state, call = part.get("tool"), part.get("state"), word(part.get("callID"))
        if name == "bash":
            session.ran(number, word(dig(state, "input", "command")), call)
        elif name in EDITORS and (path := word(dig(state, "input", "filePath"))):
            session.edited(number, [path], call)
        elif name in ("patch", "apply_patch"):
            session.edited(number, patched(word(dig(state, "input", "patchText"))), call)
        status = dig(state, "metadata", "exit")
        session.answered(
            call,
            word(dig(state, "output")) or word(dig(state, "error")),
            {"completed": False, "error": True}.get(word(dig(state, "status"))),
            status if isinstance(status, int) else None,
        )
