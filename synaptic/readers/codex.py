"""Codex's transcripts: `~/.codex/sessions/Y/M/D/rollout-TIME-ID.jsonl`, or below CODEX_HOME;
also in `archived_sessions/`, also packed, `.jsonl.zst`.

A line is `{"timestamp", "type", "payload"}`; before autumn 2025 it was a payload alone. The
first payload has id, cwd, git.branch, and `source.subagent` where another session began it. The
others by their `type`: message (role, content; of a user also what Codex puts before a prompt),
user_message (message), thread_name_updated (thread_name), function_call, custom_tool_call and
local_shell_call (call_id, name, and arguments as JSON, input or action), ..._output (call_id,
output: a text, texts, or JSON with `output` and `metadata.exit_code`), and since 2026
item_completed (item: UserMessage with content, or CommandExecution with id, command, exit_code,
aggregated_output; its id is that of the call, or its own where a script of the model's ran it).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .digest import Transcripts
from .record import Skipped, told
from .session import Session, dig, json_lines, text_of
from .source import read_json


def _sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    for file in files:
        session = Session("", "Codex")
        for number, line in json_lines(file, skipped):
            session.when(line.get("timestamp"))
            payload = line["payload"] if isinstance(line.get("payload"), dict) else line
            if not session.key:
                if dig(payload, "source", "subagent"):
                    break
                session.key, session.folder = (
                    text_of(payload.get("id")),
                    text_of(payload.get("cwd")),
                )
                session.branch = text_of(dig(payload, "git", "branch"))
            elif line.get("type") == "compacted" and session.events:
                made = session.events[-1].text in text_of(
                    payload.get("message")
                )  # the summary, for the model alone
                session.events = session.events[:-1] if made else session.events
            with told(skipped, f"{file.name}:{number}"):
                _payload(session, number, payload)
        if session.key:
            yield session


def _payload(session: Session, number: int, payload: dict[str, Any]) -> None:
    kind, call, item = (
        text_of(payload.get("type")),
        text_of(payload.get("call_id")),
        payload.get("item"),
    )
    if kind == "message" and payload.get("role") == "assistant":
        session.add("said", number, text_of(payload.get("content")))
    elif kind == "user_message" or (kind == "message" and payload.get("role") == "user"):
        session.add("asked", number, text_of(payload.get("content") or payload.get("message")))
    elif kind == "thread_name_updated":
        session.title = text_of(payload.get("thread_name"))
    elif kind == "item_completed" and dig(item, "type") == "UserMessage":
        session.add("asked", number, text_of(dig(item, "content")))
    elif kind == "item_completed" and dig(item, "type") == "CommandExecution":
        if (id := text_of(dig(item, "id"))) not in session.calls:
            session.called(number, "shell", item, id)
        session.answered(
            id, text_of(dig(item, "aggregated_output")), status=dig(item, "exit_code")
        )
    elif kind.endswith("_output"):
        output, status = text_of(payload.get("output")), None
        with suppress(ValueError, RecursionError):
            value = read_json(output)
            output, status = text_of(value) or output, dig(value, "metadata", "exit_code")
        session.answered(
            call,
            output,
            output.startswith(("Script failed", "apply_patch verification")) or None,
            status,
        )
    elif kind.endswith("_call"):
        given = payload.get("arguments") or payload.get("input") or payload.get("action") or ""
        with suppress(ValueError, TypeError, RecursionError):
            given = read_json(given)
        session.called(number, text_of(payload.get("name")) or "shell", given, call)


PLACES = ("sessions", "archived_sessions")
READER = Transcripts(
    "CODEX_HOME", ".codex", PLACES, ("rollout-*.jsonl", "rollout-*.jsonl.zst"), _sessions
)
