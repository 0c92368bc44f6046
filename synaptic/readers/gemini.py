"""Gemini CLI's transcripts: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.json`, since 2026
`.jsonl`, or below GEMINI_CLI_HOME.

The `.json` is one object: sessionId, kind (subagent is not read), summary, messages. A line of
the `.jsonl` is such an object, also within `$set`, whose `messages` are what the model is
given, also compressed; or a message, which takes the place of an earlier one with its `id`; or
`{"$rewindTo": ID}`: this message and all after it were taken back. A message has timestamp,
type (user, gemini, info), content (a text or parts), displayContent (what was typed, where that
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
from .record import Skipped, told
from .session import Session, dig, json_lines, listed, text_of
from .shared import SETTINGS_BYTES
from .source import read_json


def _sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    for file in files:
        head, messages = _replayed(file, skipped)
        if head.get("kind") != "subagent" and (key := text_of(head.get("sessionId"))):
            session = Session(
                key, "Gemini CLI", _folder(file.parent.parent), text_of(head.get("summary"))
            )
            for number, message in messages:
                with told(skipped, f"{file.name}:{number}"):
                    _message(session, number, message)
            yield session


def _replayed(file: Path, skipped: Skipped) -> tuple[dict[str, Any], list[tuple[int, Any]]]:
    """The head, and (line, message) of each message that was not taken back; in a `.json`,
    (number, message).
    """
    head: dict[str, Any] = {}
    messages: dict[str, tuple[int, Any]] = {}
    for number, line in json_lines(file, skipped):
        if "$rewindTo" in line:
            back = messages.get(text_of(line["$rewindTo"]), (number,))[0]
            messages = {id: item for id, item in messages.items() if item[0] < back}
        elif id := text_of(line.get("id")):
            messages[id] = messages.get(id, (number,))[0], line
        elif isinstance(patch := line.get("$set", line), dict):
            head |= patch
            said = {text_of(dig(message, "content")) for _, message in messages.values()}
            for count, message in enumerate(listed(patch.get("messages")), start=1):
                if text_of(dig(message, "content")) not in said:
                    place = count if file.suffix == ".json" else number
                    messages.setdefault(text_of(dig(message, "id")), (place, message))
    return head, list(messages.values())


def _folder(project: Path) -> str:
    with suppress(OSError):
        return (
            read_regular(project / ".project_root", SETTINGS_BYTES)
            .decode("utf-8", "replace")
            .strip()
        )
    with suppress(OSError, ValueError):
        known = dig(
            read_json(read_regular(project.parent.parent / "projects.json", SETTINGS_BYTES)),
            "projects",
        )
        return next(
            (path for path in known or () if sha256(path.encode()).hexdigest() == project.name),
            "",
        )
    return ""


def _message(session: Session, number: int, message: Any) -> None:
    session.when(dig(message, "timestamp"))
    if dig(message, "type") == "user":
        session.add(
            "asked", number, text_of(dig(message, "displayContent") or dig(message, "content"))
        )
    elif dig(message, "type") == "gemini":
        for call in listed(dig(message, "toolCalls")):
            id, status = text_of(dig(call, "id")), text_of(dig(call, "status"))
            session.called(number, text_of(dig(call, "name")), dig(call, "args"), id)
            answers = [
                dig(result, "functionResponse", "response")
                for result in listed(dig(call, "result"))
            ]
            output = "\n".join(
                text_of(answer) or text_of(dig(answer, "error")) for answer in answers
            )
            output = output.replace("Output: ", "", 1)
            well = status == "success" and "Exit Code:" not in output[-400:]
            session.answered(
                id, output, status in ("error", "cancelled") or None, 0 if well else None
            )
        session.add("said", number, text_of(dig(message, "content")))


READER = Transcripts(
    "GEMINI_CLI_HOME", "", (".gemini/tmp",), ("session-*.json", "session-*.jsonl"), _sessions
)
