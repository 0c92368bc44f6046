"""Reads Qwen Code's transcripts (seen: 0.24.4): `~/.qwen/projects/FOLDER/chats/SESSION.jsonl`,
or below QWEN_HOME.

A line has `type`, `timestamp`, `cwd`, `gitBranch`. Lines of type user, assistant and
tool_result have `message.parts`: texts (those with `thought` are left out), `functionCall` (id,
name, args) and `functionResponse` (id, response with `output`, or with `error` where it
failed). A user's line with another `provenance` than real_user was typed by no person. A line
of subtype custom_title has `systemPayload.customTitle`. Subagents write to another folder.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .digest import Transcripts
from .session import Session, sessions_of_lines
from .shared import dig, list_of, text_of


def _add_line(
    session: Session,
    number: int,
    line: dict[str, Any],
) -> None:
    session.set_time(line.get("timestamp"))
    session.folder = session.folder or text_of(line, "cwd")
    session.branch = text_of(line, "gitBranch") or session.branch
    session.title = text_of(line, "systemPayload", "customTitle") or session.title
    parts = list_of(line, "message", "parts")
    for part in parts:
        call = dig(part, "functionCall")
        if call:
            session.add_call(number, call, "name", "args", "id")
        result = dig(part, "functionResponse")
        if result:
            answer = dig(result, "response")
            error = text_of(answer, "error")
            output = error or text_of(answer)
            # "Command: make\nOutput: ...\nError: (none)\nExit Code: 1"
            output = output.partition("\nOutput: ")[2] or output
            output = output.replace("\nError: (none)", "")
            session.add_result(dig(result, "id"), output, bool(error) or None)
    kind = line.get("type")
    if kind == "assistant":
        session.add("said", number, parts)
    elif kind == "user" and line.get("provenance") in (None, "real_user"):
        session.add("asked", number, parts)


READER = Transcripts(
    "QWEN_HOME",
    ".qwen",
    ("projects/*/chats",),
    ("*-*-*-*-*.jsonl",),
    partial(sessions_of_lines, "Qwen Code", _add_line),
)
