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
from .session import Session, dig, json_lines, listed, text_of
from .shared import SETTINGS_BYTES
from .source import read_json

Messages = dict[str, tuple[int, Any]]
"""(line, message) by id; in a `.json` (number, message)."""


def _sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    for file in files:
        head, messages = _replay(file, skipped)
        key = text_of(head.get("sessionId"))
        if key and head.get("kind") != "subagent":
            folder = _folder(file.parent.parent)
            session = Session(key, "Gemini CLI", folder, text_of(head.get("summary")))
            for number, message in messages.values():
                with reporting(skipped, f"{file.name}:{number}"):
                    _add_message(session, number, message)
            yield session


def _replay(file: Path, skipped: Skipped) -> tuple[dict[str, Any], Messages]:
    """The head and the messages that were not taken back."""
    head: dict[str, Any] = {}
    messages: Messages = {}
    for number, line in json_lines(file, skipped):
        id = text_of(line.get("id"))
        patch = line.get("$set", line)
        if "$rewindTo" in line:
            target = messages.get(text_of(line["$rewindTo"]))
            end = target[0] if target else number
            messages = {id: item for id, item in messages.items() if item[0] < end}
        elif id:
            earlier = messages.get(id)
            messages[id] = (earlier[0] if earlier else number, line)
        elif isinstance(patch, dict):
            head |= patch
            _add_missing(messages, patch, 0 if file.suffix == ".json" else number)
    return head, messages


def _add_missing(messages: Messages, patch: dict[str, Any], line: int) -> None:
    texts = {text_of(dig(message, "content")) for _, message in messages.values()}
    for count, message in enumerate(listed(patch.get("messages")), start=1):
        if text_of(dig(message, "content")) not in texts:
            messages.setdefault(text_of(dig(message, "id")), (line or count, message))


def _folder(project: Path) -> str:
    with suppress(OSError):
        root = read_regular(project / ".project_root", SETTINGS_BYTES)
        return root.decode("utf-8", "replace").strip()
    with suppress(OSError, ValueError):
        projects = read_regular(project.parent.parent / "projects.json", SETTINGS_BYTES)
        for path in dig(read_json(projects), "projects") or ():
            if sha256(path.encode()).hexdigest() == project.name:
                return str(path)
    return ""


def _add_message(session: Session, number: int, message: Any) -> None:
    session.set_time(dig(message, "timestamp"))
    content = text_of(dig(message, "content"))
    if dig(message, "type") == "user":
        session.add("asked", number, text_of(dig(message, "displayContent")) or content)
    elif dig(message, "type") == "gemini":
        for call in listed(dig(message, "toolCalls")):
            _add_call(session, number, call)
        session.add("said", number, content)


def _add_call(session: Session, number: int, call: object) -> None:
    id, status = text_of(dig(call, "id")), text_of(dig(call, "status"))
    session.add_call(number, text_of(dig(call, "name")), dig(call, "args"), id)
    answers = [
        dig(result, "functionResponse", "response") for result in listed(dig(call, "result"))
    ]
    texts = [text_of(answer) or text_of(dig(answer, "error")) for answer in answers]
    output = "\n".join(texts).replace("Output: ", "", 1)
    exit_code = 0 if status == "success" and "Exit Code:" not in output[-400:] else None
    session.add_result(id, output, status in ("error", "cancelled") or None, exit_code)


READER = Transcripts(
    "GEMINI_CLI_HOME", "", (".gemini/tmp",), ("session-*.json", "session-*.jsonl"), _sessions
)
