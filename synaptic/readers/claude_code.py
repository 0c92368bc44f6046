"""Claude Code's transcripts, `~/.claude/projects/FOLDER/SESSION.jsonl` (or below CLAUDE_CONFIG_DIR).

A line is an object with `type`, `uuid`, `timestamp`, `sessionId`, `cwd` and `gitBranch`:

| type | what is in it |
|---|---|
| user | `message.content`: a text, or blocks `text`, `image`, `tool_result` (tool_use_id, content, is_error) |
| assistant | `message.content`: blocks `text`, `thinking`, `tool_use` (id, name, input); a line a block |
| attachment | `attachment.type` queued_command: what a person typed while the agent worked, in `prompt` |
| ai-title, custom-title | `aiTitle`, `customTitle` |
| summary | `summary` of the session that holds the line `leafUuid`, which may be another file's |

A user's line is no person's where it has `isMeta`, `isCompactSummary` or an `origin.kind` that is not human. Subagents
write to `SESSION/subagents/agent-*.jsonl`, older ones to `agent-*.jsonl` beside it or, with `isSidechain`, into the
session: of these the files and the commits count. A session that was resumed or forked may repeat the lines of
another, with their `uuid`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .digest import digest
from .record import Record, Skipped
from .session import Session, dig, files_in, json_lines, pieces, word, words

LARGE_LINE = 10_000
"""Bytes from which a line is looked at before it is parsed."""
EDITORS = {"Edit": "file_path", "Write": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}
SHELLS = ("Bash", "PowerShell")
_CALL = re.compile(rb'"tool_use_id":"([^"\\]+)"')


def find(home: Path, environ: Mapping[str, str]) -> list[Path]:
    """The folder of the transcripts."""
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    return [folder] if folder.is_dir() else []


def read(path: Path, skipped: Skipped) -> Iterator[Record]:
    """The digests of a transcript, or of all below a folder."""
    for session in sessions(path, skipped):
        yield from digest(session)


def sessions(path: Path, skipped: Skipped, key: str = "") -> Iterator[Session]:
    """The sessions of a transcript or a folder; with `key` that one alone."""
    seen: set[str] = set()
    for file in files_in(path, f"{key or '*'}.jsonl"):
        if file.parent.name != "subagents" and not file.name.startswith("agent-"):
            reading = _Reading(file, seen)
            for part in (file, *sorted((file.parent / file.stem / "subagents").glob("agent-*.jsonl"))):
                reading.follow(part, skipped)
            yield reading.done()


class _Reading:
    """Reads a transcript into a session. `seen` are the `uuid` of the lines of all transcripts that were read before."""

    def __init__(self, file: Path, seen: set[str]) -> None:
        self.session, self.seen = Session(file.stem, "Claude Code", file), seen
        self.session.when(file.stat().st_mtime * 1000)
        self.own: set[str] = set()
        self.titles: dict[str, str] = {}

    def follow(self, file: Path, skipped: Skipped) -> None:
        for number, line in json_lines(file, skipped, self._needless):
            kind = word(line.get("type"))
            uuid, origin = word(line.get("uuid")), word(dig(line, "forkedFrom", "sessionId"))
            if title := word(line.get("customTitle") or line.get("aiTitle") or line.get("summary")):
                self.titles[word(line.get("leafUuid")) or kind] = title
            elif uuid not in self.seen | self.own and not (origin and file.with_stem(origin).exists()):
                self.session.when(line.get("timestamp"))
                self._line(0 if line.get("isSidechain") else number, kind, line)
                self.own |= {uuid} - {""}

    def done(self) -> Session:
        """The session, with a title, and of its subagents no more than files and commits."""
        session = self.session
        session.title = next(filter(None, map(self.titles.get, ("custom-title", "ai-title", *self.own))), "")
        session.events = [event for event in session.events if event.line or event.kind == "edited" or event.commit]
        session.events.sort(key=lambda event: event.at)
        self.seen |= self.own
        return session

    def _line(self, number: int, kind: str, line: dict[str, Any]) -> None:
        session = self.session
        if number:
            session.folder = session.folder or word(line.get("cwd")) or None
            session.branch = word(line.get("gitBranch")).replace("HEAD", "") or session.branch
        content = dig(line, "message", "content")
        if kind == "attachment" and dig(line, "attachment", "type") == "queued_command":
            content = dig(line, "attachment", "prompt")
        for piece in pieces(content) if kind == "user" else ():
            if piece.get("type") == "tool_result":
                output = words(piece.get("content"))
                failed = None if output.startswith("Command running in background") else piece.get("is_error") is True
                session.answered(word(piece.get("tool_use_id")), output, failed)
        if kind in ("user", "attachment") and number and _typed(line):
            session.asked(number, words(content))
        elif kind == "assistant":
            for piece in pieces(content):
                self._said(number, piece, told=bool(number) and dig(line, "message", "model") != "<synthetic>")

    def _said(self, number: int, piece: dict[str, Any], *, told: bool) -> None:
        name, call = word(piece.get("name")), word(piece.get("id"))
        if piece.get("type") == "text" and told:
            self.session.said(number, word(piece.get("text")))
        elif piece.get("type") == "tool_use" and name in SHELLS:
            self.session.ran(number, word(dig(piece, "input", "command")), call)
        elif piece.get("type") == "tool_use" and (path := word(dig(piece, "input", EDITORS.get(name, "")))):
            self.session.edited(number, [path], call)

    def _needless(self, line: bytes) -> bool:
        """Whether a large line says nothing but that calls ended well. JSON escapes each quote within a text."""
        if len(line) < LARGE_LINE or b'"is_error":true' in line or b'"queued_command"' in line:
            return False
        if b'"type":"tool_result"' not in line:
            return not (b'"role":"user"' in line or b'"role":"assistant"' in line) or line.startswith(b'{"type":"api-')
        calls = [call.decode("utf-8", "replace") for call in _CALL.findall(line)]
        if any("commit" in event.text for call in calls for event in self.session.calls.get(call, ())):
            return False
        for call in calls:
            self.session.answered(call, "", failed=False)
        return True


def _typed(line: dict[str, Any]) -> bool:
    """Whether a person typed it, as far as the line tells."""
    by_program = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
    origin = dig(line, "origin", "kind") or dig(line, "attachment", "origin", "kind") or "human"
    return not any(map(line.get, by_program)) and origin == "human" and line.get("promptSource") != "system"
