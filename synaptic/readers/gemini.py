"""Reads Gemini CLI's transcripts: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.json`, since
2026 `.jsonl`, or below GEMINI_CLI_HOME.

The `.json` is one object: sessionId, kind (subagent is not read), summary, messages. A line of
the `.jsonl` is such an object, also within `$set`, whose `messages` are the model's
input, also compressed; or a message, which takes the place of an earlier one with its `id`; or
`{"$rewindTo": ID}`: this message and all after it were taken back. A message has timestamp,
type (user, gemini, info), content (a text or parts), displayContent (the typed text, if it
differs) and toolCalls (id, name, args, status, result). The folder of a project stands in
PROJECT/.project_root; where PROJECT is its hash, in `projects.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..files import read_regular
from .digest import Transcripts
from .record import Skipped, reporting
from .session import Session, json_lines
from .shared import SETTINGS_BYTES, dig, list_of, text_of
from .source import read_json

Messages = dict[str, tuple[int, Any]]
"""(line, message) by id; in a `.json` (number, message)."""


def _sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    for file in files:
        head, messages = _replay(file, skipped)
        key = text_of(head, "sessionId")
        if key and head.get("kind") != "subagent":
            folder = _folder(file.parent.parent)
            session = Session(key, "Gemini CLI", folder, text_of(head, "summary"))
            for number, message in messages.values():
                with reporting(skipped, f"{file.name}:{number}"):
                    _add_message(session, number, message)
            yield session


def _replay(file: Path, skipped: Skipped) -> tuple[dict[str, Any], Messages]:
    """The head and the messages that were not taken back."""
    head: dict[str, Any] = {}
    messages: Messages = {}
    for number, line in json_lines(file, skipped):
        id = text_of(line, "id")
        patch = line.get("$set", line)
        if "$rewindTo" in line:
            end, _ = messages.get(text_of(line, "$rewindTo"), (number, None))
            messages = {id: item for id, item in messages.items() if item[0] < end}
        elif id:
            first, _ = messages.get(id, (number, None))
            messages[id] = (first, line)
        elif isinstance(patch, dict):
            head |= patch
            _add_missing(messages, patch, 0 if file.suffix == ".json" else number)
    return head, messages


def _add_missing(messages: Messages, patch: dict[str, Any], line: int) -> None:
    texts = {text_of(message, "content") for _, message in messages.values()}
    for count, message in enumerate(list_of(patch, "messages"), start=1):
        if text_of(message, "content") not in texts:
            messages.setdefault(text_of(message, "id"), (line or count, message))


def _folder(project: Path) -> str:
    with suppress(OSError):
        root = read_regular(project / ".project_root", SETTINGS_BYTES)
        return root.decode("utf-8", "replace").strip()
    with suppress(OSError, ValueError):
        projects = read_regular(project.parents[1] / "projects.json", SETTINGS_BYTES)
        for path in dig(read_json(projects), "projects") or ():
            if sha256(path.encode()).hexdigest() == project.name:
                return str(path)
    return ""


def _add_message(session: Session, number: int, message: Any) -> None:
    session.set_time(dig(message, "timestamp"))
    kind = dig(message, "type")
    content = text_of(message, "content")
    if kind == "user":
        session.add("asked", number, text_of(message, "displayContent") or content)
    elif kind == "gemini":
        for call in list_of(message, "toolCalls"):
            _add_call(session, number, call)
        session.add("said", number, content)


def _add_call(session: Session, number: int, call: object) -> None:
    id = dig(call, "id")
    status = dig(call, "status")
    session.add_call(number, dig(call, "name"), dig(call, "args"), id)
    texts = []
    for result in list_of(call, "result"):
        answer = dig(result, "functionResponse", "response")
        texts.append(text_of(answer) or text_of(answer, "error"))
    output = "\n".join(texts).replace("Output: ", "", 1)
    exit_code = 0 if status == "success" and "Exit Code:" not in output[-400:] else None
    session.add_result(id, output, status in ("error", "cancelled") or None, exit_code)


READER = Transcripts(
    "GEMINI_CLI_HOME", "", (".gemini/tmp",), ("session-*.json", "session-*.jsonl"), _sessions
)
