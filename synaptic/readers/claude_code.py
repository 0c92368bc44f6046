"""Reads Claude Code's transcripts: `~/.claude/projects/FOLDER/SESSION.jsonl`, or below
CLAUDE_CONFIG_DIR.

A line has `type`, `uuid`, `timestamp`, `cwd`, `gitBranch`. Lines of type user and assistant
have `message.content`, a text or blocks: `text`, `tool_use` (id, name, input), `tool_result`
(tool_use_id, content, is_error). A prompt typed while the agent worked is `attachment.prompt`
of type queued_command. `aiTitle`, `customTitle`, and `summary` of the session with the line
`leafUuid`, are titles.

A line with `isMeta`, `isCompactSummary` or an `origin.kind` but human was typed by no person. A
subagent's lines have `isSidechain` and are in `SESSION/subagents/agent-*.jsonl` too: their
edits and commits count. A resumed or forked session may repeat the lines of another session,
with their `uuid`; `forkedFrom.sessionId` names that session.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .digest import Transcripts
from .record import Skipped, reporting
from .session import Session, dig, json_lines, listed, text_of
from .source import files_below

NOT_TYPED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSidechain")


def _sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    earlier_uuids: set[str] = set()
    for file in files:
        session = Session(file.stem, "Claude Code")
        uuids: dict[str, None] = {}
        titles: dict[str, str] = {}
        for part in _parts(file, skipped):
            for number, line in json_lines(part, skipped):
                title = line.get("customTitle") or line.get("aiTitle") or line.get("summary")
                if text_of(title):
                    of = text_of(line.get("leafUuid") or line.get("type"))
                    titles[of] = text_of(title)
                    continue
                uuid = text_of(line.get("uuid"))
                if uuid in earlier_uuids or uuid in uuids or _is_forked(file, line):
                    continue
                with reporting(skipped, f"{part.name}:{number}"):
                    _add_line(session, number, line)
                if uuid:
                    uuids[uuid] = None
        session.title = _title(titles, uuids)
        _keep_edits_of_subagents(session)
        earlier_uuids.update(uuids)
        yield session


def _parts(file: Path, skipped: Skipped) -> list[Path]:
    """A transcript, and those of its subagents."""
    below = file.with_suffix("") / "subagents"
    return [file, *(files_below(below, skipped, "*.jsonl") if below.is_dir() else ())]


def _is_forked(file: Path, line: dict[str, Any]) -> bool:
    """True for a line of another session whose transcript is there."""
    session = text_of(dig(line, "forkedFrom", "sessionId"))
    return bool(session) and os.path.lexists(f"{file.parent}/{session}{file.suffix}")


def _title(titles: dict[str, str], uuids: dict[str, None]) -> str:
    for name in ("custom-title", "ai-title", *reversed(uuids)):
        if name in titles:
            return titles[name]
    return ""


def _keep_edits_of_subagents(session: Session) -> None:
    """Sorts in the edits and commits of subagents (line 0); drops their other events."""
    session.events = [
        event
        for event in session.events
        if event.line or event.kind == "edited" or event.commit
    ]
    if any(event.line == 0 for event in session.events):
        session.events.sort(key=lambda event: event.at)


def _add_line(session: Session, number: int, line: dict[str, Any]) -> None:
    session.set_time(line.get("timestamp"))
    kind = line.get("type")
    content = dig(line, "message", "content")
    if line.get("isSidechain"):
        number = 0
    else:
        session.folder = session.folder or text_of(line.get("cwd"))
        session.branch = text_of(line.get("gitBranch")).replace("HEAD", "") or session.branch
    if dig(line, "attachment", "type") == "queued_command":
        kind, content = "user", dig(line, "attachment", "prompt")
        line = line | line["attachment"]
    for block in listed(content):
        _add_tool(session, number, block)
    if kind == "assistant" and number and dig(line, "message", "model") != "<synthetic>":
        session.add("said", number, text_of(content))
    elif kind == "user" and _is_typed(line):
        session.add("asked", number, text_of(content))


def _is_typed(line: dict[str, Any]) -> bool:
    by_program = any(map(line.get, NOT_TYPED))
    return not by_program and dig(line, "origin", "kind") in (None, "human")


def _add_tool(session: Session, number: int, block: object) -> None:
    if dig(block, "type") == "tool_use":
        name, call = text_of(dig(block, "name")), text_of(dig(block, "id"))
        session.add_call(number, name, dig(block, "input"), call)
    elif dig(block, "type") == "tool_result":
        output = text_of(dig(block, "content"))
        failed: bool | None = dig(block, "is_error") is True
        if "running in background" in output[:100]:
            failed = None
        session.add_result(text_of(dig(block, "tool_use_id")), output, failed)


READER = Transcripts(
    "CLAUDE_CONFIG_DIR", ".claude", ("projects",), ("*-*-*-*-*.jsonl",), _sessions
)
