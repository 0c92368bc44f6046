"""Reads Gemini CLI's transcripts: `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.json`, since
2026 `.jsonl`, or below GEMINI_CLI_HOME.

The `.json` is one object: sessionId, kind (subagent is not read), summary, messages. A line of
the `.jsonl` is such an object, also within `$set`, whose `messages` are the model's input and
are not read; or a message, which takes the place of an earlier one with its `id`; or
`{"$rewindTo": ID}`: this message and all after it were taken back. A message has timestamp,
type (user, gemini, info), content (a text or parts), displayContent (the typed text, if it
differs) and toolCalls (id, name, args, status, result). The folder of a project stands in
PROJECT/.project_root.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ....files import SETTINGS_BYTES, read_regular_file
from ....models import Json
from .digest import Transcripts
from .record import Skipped, report_errors
from .session import Session, read_json_lines
from .shared import list_at, text_at, value_at


def _read_gemini_sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    for file in files:
        head, messages = _apply_records(file, skipped)
        key = text_at(head, "sessionId")
        if key and head.get("kind") != "subagent":
            session = Session(key, "Gemini CLI", title=text_at(head, "summary"))
            with suppress(OSError):
                root = read_regular_file(file.parents[1] / ".project_root", SETTINGS_BYTES)
                session.folder = root.decode("utf-8", "replace").strip()
            for number, message in messages:
                with report_errors(skipped, f"{file.name}:{number}"):
                    _add_message(session, number, message)
            yield session


def _apply_records(file: Path, skipped: Skipped) -> tuple[Json, list[tuple[int, Any]]]:
    """Reads a Gemini transcript: returns (its head, messages that were not taken back as (line,
    message)).

    In a `.json` it is (number, message).
    """
    head: Json = {}
    messages: dict[str, tuple[int, Any]] = {}
    for number, line in read_json_lines(file, skipped):
        id = text_at(line, "id")
        patch = line.get("$set", line)
        if "$rewindTo" in line:
            end, _ = messages.get(text_at(line, "$rewindTo"), (number, None))
            messages = {id: item for id, item in messages.items() if item[0] < end}
        elif id:
            first, _ = messages.get(id, (number, None))
            messages[id] = (first, line)
        elif isinstance(patch, dict):
            head |= patch
    return head, list(messages.values()) or list(enumerate(list_at(head, "messages"), 1))


def _add_message(session: Session, number: int, message: Any) -> None:
    session.set_time(value_at(message, "timestamp"))
    kind = value_at(message, "type")
    content = text_at(message, "content")
    if kind == "user":
        session.add("asked", number, text_at(message, "displayContent") or content)
    elif kind == "gemini":
        for call in list_at(message, "toolCalls"):
            _add_call(session, number, call)
        session.add("said", number, content)


def _add_call(session: Session, number: int, call: object) -> None:
    status = value_at(call, "status")
    session.add_call(number, call, "name", "args", "id")
    texts = []
    for result in list_at(call, "result"):
        answer = value_at(result, "functionResponse", "response")
        texts.append(text_at(answer) or text_at(answer, "error"))
    output = "\n".join(texts).replace("Output: ", "", 1)
    exit_code = 0 if status == "success" and "Exit Code:" not in output[-400:] else None
    session.add_result(
        value_at(call, "id"), output, status in ("error", "cancelled") or None, exit_code
    )


READER = Transcripts(
    "GEMINI_CLI_HOME",
    "",
    (".gemini/tmp",),
    ("session-*.json", "session-*.jsonl"),
    _read_gemini_sessions,
)
