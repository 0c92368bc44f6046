"""Reads Codex's transcripts: `~/.codex/sessions/Y/M/D/rollout-TIME-ID.jsonl`, or below
CODEX_HOME;
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

from contextlib import suppress
from functools import partial

from ....models import Json
from .digest import Transcripts
from .session import ROLES, Session, read_line_sessions
from .shared import text_at, value_at
from .source import read_json


def _add_codex_line(session: Session, number: int, line: Json) -> None:
    payload = line["payload"] if isinstance(line.get("payload"), dict) else line
    if number == 1:
        is_subagent = value_at(payload, "source", "subagent")
        session.key = "" if is_subagent else text_at(payload, "id")
        session.folder = text_at(payload, "cwd")
        session.branch = text_at(payload, "git", "branch")
    summary = text_at(payload, "message") if line.get("type") == "compacted" else ""
    if summary and session.events and session.events[-1].text in summary:
        session.events.pop()  # only the model reads it
    kind = text_at(payload, "type")
    if kind == "message" and payload.get("role") in ROLES:
        session.add(ROLES[payload["role"]], number, payload.get("content"))
    elif kind == "user_message":
        session.add("asked", number, payload.get("message"))
    elif kind == "thread_name_updated":
        session.title = text_at(payload, "thread_name")
    elif kind == "item_completed":
        _add_item(session, number, payload.get("item"))
    elif kind.endswith("_output"):
        _add_output(session, payload)
    elif kind.endswith("_call"):
        field = next(filter(payload.get, ("arguments", "input", "action")), "")
        session.add_call(number, {"name": "shell"} | payload, "name", field, "call_id")


def _add_item(session: Session, number: int, item: object) -> None:
    kind = value_at(item, "type")
    if kind == "UserMessage":
        session.add("asked", number, value_at(item, "content"))
    elif kind == "CommandExecution":
        call = text_at(item, "id")
        if call not in session.calls:
            session.add_call(
                number, {"name": "shell", "given": item, "id": call}, "name", "given", "id"
            )
        output = text_at(item, "aggregated_output")
        session.add_result(call, output, status=value_at(item, "exit_code"))


def _add_output(session: Session, payload: Json) -> None:
    output = text_at(payload, "output")
    status = None
    with suppress(ValueError):
        value = read_json(output)
        output = text_at(value) or output
        status = value_at(value, "metadata", "exit_code")
    failed = output.startswith(("Script failed", "apply_patch verification")) or None
    session.add_result(payload.get("call_id"), output, failed, status)


READER = Transcripts(
    "CODEX_HOME",
    ".codex",
    ("sessions", "archived_sessions"),
    ("rollout-*.jsonl", "rollout-*.jsonl.zst"),
    partial(read_line_sessions, "Codex", _add_codex_line),
)
