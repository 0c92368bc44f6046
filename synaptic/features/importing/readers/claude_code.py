"""Reads Claude Code's transcripts: `~/.claude/projects/FOLDER/SESSION.jsonl`, or below
CLAUDE_CONFIG_DIR.

A line has `type`, `uuid`, `timestamp`, `cwd`, `gitBranch`. Lines of type user and assistant
have `message.content`, a text or blocks: `text`, `tool_use` (id, name, input), `tool_result`
(tool_use_id, content, is_error). A prompt typed while the agent worked is `attachment.prompt`
of type queued_command. `aiTitle` and `customTitle` are titles.

A line with `isMeta`, `isCompactSummary` or an `origin.kind` but human was typed by no person. A
subagent's lines have `isSidechain` and are in `SESSION/subagents/agent-*.jsonl` too: their
edits and commits count. A resumed or forked session may repeat the lines of another session,
with their `uuid`; `forkedFrom.sessionId` names that session.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .digest import Transcripts
from .record import Skipped, report_errors
from .session import Session, read_json_lines
from .shared import list_at, text_at, value_at
from .source import find_files

NOT_TYPED = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isSidechain")


def _read_claude_sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    uuids = set()
    for file in files:
        session = Session(file.stem, "Claude Code")
        parts = [file]
        below = file.with_suffix("") / "subagents"
        if below.is_dir():
            parts += find_files(below, skipped, "*.jsonl")
        for part in parts:
            for number, line in read_json_lines(part, skipped):
                uuid = text_at(line, "uuid") or f"{part}:{number}"
                # another session's line, whose transcript is there
                of = text_at(line, "forkedFrom", "sessionId")
                is_forked = of and os.path.lexists(f"{file.parent}/{of}{file.suffix}")
                if uuid in uuids or is_forked:
                    continue
                with report_errors(skipped, f"{part.name}:{number}"):
                    _add_claude_line(session, number, line)
                uuids.add(uuid)
        session.keep_work_of_subagents()
        yield session


def _add_claude_line(session: Session, number: int, line: dict[str, Any]) -> None:
    named = text_at(line, "customTitle")
    session.title = named or session.title or text_at(line, "aiTitle")
    session.set_time(line.get("timestamp"))
    if line.get("isSidechain"):
        number = 0
    else:
        session.folder = session.folder or text_at(line, "cwd")
        session.branch = text_at(line, "gitBranch").replace("HEAD", "") or session.branch
    kind = line.get("type")
    content = value_at(line, "message", "content")
    if value_at(line, "attachment", "type") == "queued_command":
        line = line | line["attachment"]
        kind = "user"
        content = line.get("prompt")
    for block in list_at(content):
        session.add_block(number, block)
    if kind == "assistant" and number and value_at(line, "message", "model") != "<synthetic>":
        session.add("said", number, content)
    is_typed = value_at(line, "origin", "kind") in (None, "human")
    if kind == "user" and is_typed and not any(map(line.get, NOT_TYPED)):
        session.add("asked", number, content)


READER = Transcripts(
    "CLAUDE_CONFIG_DIR", ".claude", ("projects",), ("*-*-*-*-*.jsonl",), _read_claude_sessions
)
