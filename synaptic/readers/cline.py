"""Reads Cline's sessions (seen: 3.0.65): `~/.cline/data/sessions/ID/ID.messages.json`, or below
CLINE_DIR.

The file is one object: sessionId, agent ("lead", or another's) and messages, each with role, ts
(milliseconds) and content, blocks as in Anthropic's API. The text of a request stands in
`<user_input>`. `run_commands` has a list of `commands`, its result a list of `{"result",
"error", "success"}`; the result of another tool is such an object as JSON. `ID.json` beside it
has cwd, metadata.title and metadata.git.branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..files import read_regular
from .digest import Transcripts
from .record import Skipped, reporting
from .session import PATTERNS, ROLES, Session, json_lines
from .shared import SETTINGS_BYTES, dig, list_of, text_of
from .source import read_json


def _sessions(
    files: list[Path],
    skipped: Skipped,
) -> Iterator[Session]:
    for file in files:
        for _, value in json_lines(file, skipped):
            if value.get("agent", "lead") != "lead":
                continue
            session = Session(file.name.partition(".")[0], "Cline")
            with suppress(OSError, ValueError):
                manifest = file.with_name(f"{session.key}.json")
                head = read_json(read_regular(manifest, SETTINGS_BYTES))
                session.folder = text_of(head, "cwd")
                session.title = text_of(head, "metadata", "title")
                session.branch = text_of(head, "metadata", "git", "branch")
            for number, message in enumerate(list_of(value, "messages"), 1):
                with reporting(skipped, f"{file.name}: {number}"):
                    _add_message(session, number, message)
            yield session


def _add_message(
    session: Session,
    number: int,
    message: Any,
) -> None:
    session.set_time(dig(message, "ts"))
    content = dig(message, "content")
    for block in list_of(content):
        if dig(block, "type") == "tool_result":
            output = text_of(block, "content")
            successes = [dig(result, "success") for result in list_of(block, "content")]
            failed = False in successes or '"success":false' in output
            session.add_result(dig(block, "tool_use_id"), output, failed)
        else:
            session.add_block(number, block)
    text = PATTERNS["wrapped"].sub("", text_of(content))
    session.add(ROLES[dig(message, "role")], number, text)


READER = Transcripts(
    "CLINE_DIR",
    ".cline",
    ("data/sessions",),
    ("*.messages.json",),
    _sessions,
)
