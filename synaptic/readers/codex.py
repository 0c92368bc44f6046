"""Codex's transcripts, `~/.codex/sessions/Y/M/D/rollout-TIME-ID.jsonl` (or below CODEX_HOME), also `archived_sessions/`,
also packed, `.jsonl.zst`.

A line is `{"timestamp", "type", "payload"}`. What is read:

| type, `payload.type` | what is in the payload |
|---|---|
| session_meta | id, cwd, git.branch; `source.subagent`, where another session started it; in a fork again, of the first |
| event_msg, user_message | `message`: what a person typed |
| event_msg, thread_name_updated | `thread_name`: a title |
| event_msg, patch_apply_end | changes (by path), success |
| response_item, message | role, content: texts; of a user also what Codex puts before a prompt |
| response_item, function_call | name, arguments (JSON as a text), call_id: `shell`, `exec_command`, `apply_patch` |
| response_item, custom_tool_call | name, input: a patch; or a script that calls `tools.exec_command({cmd: ...})` |
| response_item, local_shell_call | action.command, call_id |
| response_item, ..._output | call_id, output: a text, texts, or JSON with `output` and `metadata.exit_code` |

Before 2025-09 a line was the payload of a response_item, and the first one that of session_meta.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .digest import digest
from .record import Record, Skipped
from .session import Session, dig, files_in, json_lines, patched, word, words

_SCRIPTED = re.compile(r"exec_command\(\s*\{[^{}]*?\bcmd[\"']?\s*:\s*(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)")


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The folders of the transcripts."""
    base = Path(environ.get("CODEX_HOME") or home / ".codex")
    return [folder for folder in (base / "sessions", base / "archived_sessions") if folder.is_dir()]


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """The digests of a transcript, or of all below a folder."""
    for session in sessions(path, skipped):
        yield from digest(session)


def sessions(path: Path, skipped: Skipped, key: str = "") -> Iterator[Session]:
    """The sessions of a transcript or a folder; with `key` that one alone. Those of subagents are left out."""
    for file in files_in(path, f"rollout-*{key}.jsonl", f"rollout-*{key}.jsonl.zst"):
        session = Session("", "Codex", file)
        session.when(file.stat().st_mtime * 1000)
        for number, line in json_lines(file, skipped):
            session.when(line.get("timestamp"))
            payload = line["payload"] if isinstance(line.get("payload"), dict) else line
            if not session.key and word(payload.get("id")):
                if dig(payload, "source", "subagent"):
                    break
                session.key = word(payload["id"])
                session.folder, session.branch = word(payload.get("cwd")) or None, word(dig(payload, "git", "branch"))
            elif line.get("type") == "event_msg":
                _event(session, number, payload)
            else:
                _item(session, number, payload)
        if session.key:
            yield session


def _event(session: Session, number: int, payload: dict[str, Any]) -> None:
    kind = payload.get("type")
    if kind == "user_message":
        session.asked(number, word(payload.get("message")))
    elif kind == "thread_name_updated":
        session.title = word(payload.get("thread_name"))


def _item(session: Session, number: int, item: dict[str, Any]) -> None:
    kind, call = word(item.get("type")), word(item.get("call_id"))
    if kind == "message" and item.get("role") == "user":
        session.asked(number, words(item.get("content")))
    elif kind == "message" and item.get("role") == "assistant":
        session.said(number, words(item.get("content")))
    elif kind == "local_shell_call":
        session.ran(number, _command(dig(item, "action", "command")), call)
    elif kind in ("function_call", "custom_tool_call"):
        _call(session, number, item, call)
    elif kind.endswith("_output"):
        _output(session, item.get("output"), call)


def _call(session: Session, number: int, item: dict[str, Any], call: str) -> None:
    name, given = word(item.get("name")), word(item.get("arguments") or item.get("input"))
    arguments: Any = given
    with suppress(ValueError, RecursionError):
        arguments = json.loads(given)
    if name == "apply_patch" or (name == "exec" and "*** Begin Patch" in given):
        session.edited(number, patched(word(dig(arguments, "input")) or given), call)
    elif name == "exec":
        for quoted in _SCRIPTED.findall(given):
            session.ran(number, _unquoted(quoted), call)
    elif name in ("shell", "exec_command", "shell_command", "container.exec"):
        session.ran(number, _command(dig(arguments, "cmd") or dig(arguments, "command")), call)


def _output(session: Session, output: Any, call: str) -> None:
    if isinstance(output, dict):
        output = output.get("content") or output.get("output")
    text, status = words(output), None
    if text.startswith('{"'):
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            code = dig(value, "metadata", "exit_code")
            text, status = word(dig(value, "output")) or text, code if isinstance(code, int) else None
    session.answered(
        call, text, True if text.startswith(("Script failed", "apply_patch verification")) else None, status
    )


def _command(command: Any) -> str:
    """The command as a person would type it: without the shell that runs it."""
    if isinstance(command, list) and all(isinstance(part, str) for part in command):
        return command[-1] if len(command) > 2 and command[1].startswith("-") else " ".join(command)
    return word(command)


def _unquoted(text: str) -> str:
    with suppress(ValueError):
        return word(json.loads(text))
    return text[1:-1]
