"""Gemini CLI's transcripts, `~/.gemini/tmp/PROJECT/chats/session-TIME-ID.json` or, since 2026, `.jsonl` (or below
GEMINI_CLI_HOME).

The `.json` is one object: sessionId, startTime, directories, summary, messages. Of the `.jsonl` each line is one of:

| line | what it says |
|---|---|
| `{"sessionId", "startTime", "directories", "kind"}` | the head, also with `messages`; `kind` subagent is not read |
| `{"id", "type", ...}` | a message; a later one with this id takes its place |
| `{"$set": {...}}` | a later head. Its `messages` are what the model is given, also after a compression |
| `{"$rewindTo": ID}` | this message and all after it were taken back |

A message has `timestamp`, `type` (user, gemini, info, warning, error), `content` (a text or parts with `text`; a `thought`
is none), `displayContent` (what was typed, where it differs) and `toolCalls`: id, name, args, status, result. The folder
of a project stands in PROJECT/.project_root. `logs.json` and `checkpoint*.json` are no transcripts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .digest import digest
from .record import Record, Skipped
from .session import Session, dig, files_in, json_lines, pieces, word, words

EDITORS = ("write_file", "replace", "edit")


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The folder below which the transcripts lie."""
    folder = Path(environ.get("GEMINI_CLI_HOME") or home) / ".gemini" / "tmp"
    return [folder] if folder.is_dir() else []


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """The digests of a transcript, or of all below a folder."""
    for session in sessions(path, skipped):
        yield from digest(session)


def sessions(path: Path, skipped: Skipped, key: str = "") -> Iterator[Session]:
    """The sessions of a transcript or a folder; with `key` that one alone. Those of subagents are left out."""
    for file in files_in(path, f"session-*{key[:8]}.json", f"session-*{key[:8]}.jsonl"):
        head, messages = _replayed(file, skipped)
        session = Session(word(head.get("sessionId")), "Gemini CLI", file, title=word(head.get("summary")))
        if session.key and head.get("kind") != "subagent" and key in ("", session.key):
            session.folder = _folder(file, head)
            session.when(head.get("startTime"))
            for number, message in messages:
                _message(session, number, message)
            yield session


def _replayed(file: Path, skipped: Skipped) -> tuple[dict[str, Any], list[tuple[int, dict[str, Any]]]]:
    """The head, and (line, message) of each message that was not taken back. In a `.json` the line is its number."""
    head: dict[str, Any] = {}
    messages: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, line in _objects(file, skipped):
        patch = line.get("$set", line)
        if back := word(line.get("$rewindTo")):
            ids = list(messages)
            for id in ids[ids.index(back) :] if back in messages else ():
                del messages[id]
        elif id := word(line.get("id")):
            messages[id] = messages.get(id, (number,))[0], line
        elif isinstance(patch, dict):
            head |= {name: value for name, value in patch.items() if name != "messages"}
            there = {words(message.get("content")) for _, message in messages.values()}
            for place, message in enumerate(pieces(patch.get("messages")), start=1):
                id = word(message.get("id"))
                if id in messages or words(message.get("content")) not in there:
                    messages[id] = messages.get(id, (number if file.suffix == ".jsonl" else place,))[0], message
    return head, list(messages.values())


def _objects(file: Path, skipped: Skipped) -> Iterator[tuple[int, dict[str, Any]]]:
    if file.suffix == ".jsonl":
        yield from json_lines(file, skipped)
        return
    try:
        value = json.loads(file.read_bytes().decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        skipped(file.name, "it is no JSON")
        return
    if isinstance(value, dict):
        yield 1, value


def _folder(file: Path, head: dict[str, Any]) -> str | None:
    with suppress(OSError):
        return (file.parent.parent / ".project_root").read_text("utf-8", "replace").strip() or None
    named = head.get("directories")
    return next(filter(None, map(word, named)), None) if isinstance(named, list) else None


def _message(session: Session, number: int, message: dict[str, Any]) -> None:
    session.when(message.get("timestamp"))
    if message.get("type") == "user":
        typed = message.get("displayContent") or message.get("content")
        for piece in pieces(typed):
            session.asked(number, words(piece))
    elif message.get("type") == "gemini":
        for call in pieces(message.get("toolCalls")):
            _call(session, number, call)
        session.said(number, words(message.get("content")))


def _call(session: Session, number: int, call: dict[str, Any]) -> None:
    id = word(call.get("id"))
    if call.get("name") == "run_shell_command":
        session.ran(number, word(dig(call, "args", "command")), id)
    elif call.get("name") in EDITORS and (path := word(dig(call, "args", "file_path"))):
        session.edited(number, [path], id)
    answers = [dig(piece, "functionResponse", "response") for piece in pieces(call.get("result"))]
    output = "\n".join(word(dig(answer, "output")) or word(dig(answer, "error")) for answer in answers)
    session.answered(
        id, output or words(call.get("resultDisplay")), {"success": None}.get(word(call.get("status")), True)
    )
