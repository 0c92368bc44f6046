"""Claude Code's transcripts: `~/.claude/projects/FOLDER/SESSION.jsonl`, or below
CLAUDE_CONFIG_DIR.

A line has `type`, `uuid`, `timestamp`, `cwd`, `gitBranch`. Those of type user and assistant
have `message.content`, a text or blocks: `text`, `tool_use` (id, name, input), `tool_result`
(tool_use_id, content, is_error). What was typed while the agent worked is `attachment.prompt`
of type queued_command. `aiTitle`, `customTitle`, and `summary` of the session with the line
`leafUuid`, are titles.

No person typed what has `isMeta`, `isCompactSummary` or an `origin.kind` but human. A
subagent's lines have `isSidechain` and lie in `SESSION/subagents/agent-*.jsonl` too: their
edits and commits count. A session that was resumed or forked may repeat the lines of another,
with their `uuid`; `forkedFrom.sessionId` names it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .digest import Transcripts
from .record import Skipped, told
from .session import Session, dig, json_lines, listed, text_of
from .source import files_below

NOT_TYPED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSidechain")


def _sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    seen: set[str] = set()  # in the transcripts before
    for file in files:
        session = Session(file.stem, "Claude Code")
        own: dict[str, None] = {}
        titles: dict[str, str] = {}
        below = file.with_suffix("") / "subagents"
        for part in (file, *(files_below(below, skipped, "*.jsonl") if below.is_dir() else ())):
            for number, line in json_lines(part, skipped):
                uuid, first = (
                    text_of(line.get("uuid")),
                    text_of(dig(line, "forkedFrom", "sessionId")),
                )
                if title := text_of(
                    line.get("customTitle") or line.get("aiTitle") or line.get("summary")
                ):
                    titles[text_of(line.get("leafUuid") or line.get("type"))] = title
                elif (
                    uuid not in seen
                    and uuid not in own
                    and not (first and _is_beside(file, first))
                ):
                    with told(skipped, f"{part.name}:{number}"):
                        _line(session, number, line)
                    own |= {uuid: None} if uuid else {}
        session.title = next(
            filter(None, map(titles.get, ("custom-title", "ai-title", *reversed(own)))), ""
        )
        session.events = [
            event
            for event in session.events
            if event.line or event.kind == "edited" or event.commit
        ]
        if any(not event.line for event in session.events):
            session.events.sort(key=lambda event: event.at)
        seen.update(own)
        yield session


def _is_beside(file: Path, session: str) -> bool:
    return os.path.lexists(f"{file.parent}/{session}{file.suffix}")


def _line(session: Session, number: int, line: dict[str, Any]) -> None:
    session.when(line.get("timestamp"))
    kind, content = line.get("type"), dig(line, "message", "content")
    if line.get("isSidechain"):
        number = 0
    else:
        session.folder = session.folder or text_of(line.get("cwd"))
        session.branch = text_of(line.get("gitBranch")).replace("HEAD", "") or session.branch
    if dig(line, "attachment", "type") == "queued_command":
        kind, content, line = (
            "user",
            dig(line, "attachment", "prompt"),
            line | line["attachment"],
        )
    for block in listed(content):
        if dig(block, "type") == "tool_use":
            session.called(
                number,
                text_of(dig(block, "name")),
                dig(block, "input"),
                text_of(dig(block, "id")),
            )
        elif dig(block, "type") == "tool_result":
            output = text_of(dig(block, "content"))
            failed = (
                None
                if "running in background" in output[:100]
                else dig(block, "is_error") is True
            )
            session.answered(text_of(dig(block, "tool_use_id")), output, failed)
    if kind == "assistant" and number and dig(line, "message", "model") != "<synthetic>":
        session.add("said", number, text_of(content))
    elif (
        kind == "user"
        and not any(map(line.get, NOT_TYPED))
        and dig(line, "origin", "kind") in (None, "human")
    ):
        session.add("asked", number, text_of(content))


READER = Transcripts(
    "CLAUDE_CONFIG_DIR", ".claude", ("projects",), ("*-*-*-*-*.jsonl",), _sessions
)
