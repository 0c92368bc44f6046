"""Reads GitHub Copilot CLI's transcripts (seen: 1.0.102):
`~/.copilot/session-state/SESSION/events.jsonl`, or below COPILOT_HOME.

A line is `{"type", "data", "timestamp"}`. `session.start` has sessionId and context (cwd,
branch); user.message and assistant.message have content; tool.execution_start has toolCallId,
toolName and arguments; tool.execution_complete has toolCallId, success, result.content and
`shellExecution.exitCode`. A subagent's events have `agentId`, or in older versions
`data.parentToolCallId`. A message with a `source` was typed by no person.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from .digest import Transcripts
from .session import Session, sessions_of_lines
from .shared import dig, text_of


def _add_event(
    session: Session,
    number: int,
    line: dict[str, Any],
) -> None:
    session.set_time(line.get("timestamp"))
    kind = line.get("type")
    data = line.get("data")
    is_subagent = line.get("agentId") or dig(data, "parentToolCallId")
    if kind == "session.start":
        session.key = text_of(data, "sessionId") or session.key
        session.folder = text_of(data, "context", "cwd")
        session.branch = text_of(data, "context", "branch")
    elif kind == "user.message" and not (is_subagent or dig(data, "source")):
        session.add("asked", number, dig(data, "content"))
    elif kind == "assistant.message" and not is_subagent:
        session.add("said", number, dig(data, "content"))
    elif kind == "tool.execution_start":
        line_number = 0 if is_subagent else number
        session.add_call(line_number, data, "toolName", "arguments", "toolCallId")
    elif kind == "tool.execution_complete":
        output = text_of(data, "result", "content") or text_of(data, "error", "message")
        status = dig(data, "shellExecution", "exitCode")
        failed = dig(data, "success") is False or None
        session.add_result(dig(data, "toolCallId"), output, failed, status)


READER = Transcripts(
    "COPILOT_HOME",
    ".copilot",
    ("session-state",),
    ("events.jsonl",),
    partial(sessions_of_lines, "Copilot CLI", _add_event),
)
