"""Reads the sessions of Qwen Code, Copilot CLI, OpenCode, Crush, Cline and Aider.

Qwen Code's transcripts (seen: 0.24.4): `~/.qwen/projects/FOLDER/chats/SESSION.jsonl`,
or below QWEN_HOME.

A line has `type`, `timestamp`, `cwd`, `gitBranch`. Lines of type user, assistant and
tool_result have `message.parts`: texts (those with `thought` are left out), `functionCall` (id,
name, args) and `functionResponse` (id, response with `output`, or with `error` where it
failed). A user's line with another `provenance` than real_user was typed by no person. A line
of subtype custom_title has `systemPayload.customTitle`. Subagents write to another folder.

GitHub Copilot CLI's transcripts (seen: 1.0.102):
`~/.copilot/session-state/SESSION/events.jsonl`, or below COPILOT_HOME.

A line is `{"type", "data", "timestamp"}`. `session.start` has sessionId and context (cwd,
branch); user.message and assistant.message have content; tool.execution_start has toolCallId,
toolName and arguments; tool.execution_complete has toolCallId, success, result.content and
`shellExecution.exitCode`. A subagent's events have `agentId`, or in older versions
`data.parentToolCallId`. A message with a `source` was typed by no person.

OpenCode's sessions: `~/.local/share/opencode/opencode.db`, or below XDG_DATA_HOME, an
SQLite database.

`session` has id, parent_id (of a subagent's), directory and title ("New session - TIME" does
not count as a title). `message.data` is `{"role", "summary": true where it is a compaction}`,
and `part.data` is `{"type": "text", "text", "synthetic": true where a program wrote it}` or
`{"type": "tool", "callID", "tool", "state": {"status", "input", "output", "error", "metadata":
{"exit"}}}`. Times are milliseconds since 1970. The line of an event is the number of its
message. One session alone is read as `opencode.db/ID`.

Crush's sessions: an SQLite database `crush.db` in the folder `.crush` of each project.
`~/.local/share/crush/projects.json`, or below XDG_DATA_HOME, names them. Written after its
schema and after the reader of vshulcz/deja-vu, which saw 0.92.0.

`projects.json` is `{"projects": [{"path", "data_dir"}]}`. `sessions` has id, parent_session_id
(of a subagent's) and title; `messages` has session_id, role, parts, created_at (seconds or
milliseconds) and, since 2025, is_summary_message. `parts` is a list of `{"type", "data"}`: text
(text), tool_call (id, name, input as JSON) and tool_result (tool_call_id, content, is_error).
The line of an event is the number of its message.

Cline's sessions (seen: 3.0.65): `~/.cline/data/sessions/ID/ID.messages.json`, or below
CLINE_DIR.

The file is one object: sessionId, agent ("lead", or another's) and messages, each with role, ts
(milliseconds) and content, blocks as in Anthropic's API. The text of a request stands in
`<user_input>`. `run_commands` has a list of `commands`, its result a list of `{"result",
"error", "success"}`; the result of another tool is such an object as JSON. `ID.json` beside it
has cwd, metadata.title and metadata.git.branch.

Aider's chat histories (seen: 0.86.2): `.aider.chat.history.md` in a repository, the
home folder or a folder up to two levels below it.

A session begins with `# aider chat started at 2026-11-24 14:55:30`, local time; no other time
is told. Outside of code, a line `#### TEXT` is a request, or a command of Aider's own (`/add`,
`!ls`), which is left out, and a line `> TEXT` begins what Aider printed ("Applied edit to
a.py", "Running make", "Commit 7d68c80 Add the total"), up to an empty line. The others are the
answer. A session's key is made of the file's path and its beginning.
"""

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from ....files import SETTINGS_BYTES, read_regular_file
from ....models import Json
from .digest import Transcripts
from .record import Skipped, report_errors
from .session import (
    PATTERNS,
    ROLES,
    Kind,
    Session,
    read_database_sessions,
    read_json_lines,
    read_line_sessions,
)
from .shared import list_at, text_at, value_at
from .source import FILE_BYTES, read_json, relative_to_home

# -- Qwen Code
# ------------------------------------------------------------------------------


def _add_qwen(session: Session, number: int, line: Json) -> None:
    session.folder = session.folder or text_at(line, "cwd")
    session.branch = text_at(line, "gitBranch") or session.branch
    session.title = text_at(line, "systemPayload", "customTitle") or session.title
    parts = list_at(line, "message", "parts")
    for part in parts:
        call = value_at(part, "functionCall")
        if call:
            session.add_call(number, call, "name", "args", "id")
        result = value_at(part, "functionResponse")
        if result:
            answer = value_at(result, "response")
            error = text_at(answer, "error")
            output = error or text_at(answer)
            # "Command: make\nOutput: ...\nError: (none)\nExit Code: 1"
            output = output.partition("\nOutput: ")[2] or output
            output = output.replace("\nError: (none)", "")
            session.add_result(value_at(result, "id"), output, bool(error) or None)
    kind = line.get("type")
    if kind == "assistant":
        session.add("said", number, parts)
    elif kind == "user" and line.get("provenance") in (None, "real_user"):
        session.add("asked", number, parts)


# -- Copilot CLI
# ------------------------------------------------------------------------------


def _add_copilot(session: Session, number: int, line: Json) -> None:
    kind = line.get("type")
    data = line.get("data")
    is_subagent = line.get("agentId") or value_at(data, "parentToolCallId")
    if kind == "session.start":
        session.key = text_at(data, "sessionId") or session.key
        session.folder = text_at(data, "context", "cwd")
        session.branch = text_at(data, "context", "branch")
    elif kind == "user.message" and not (is_subagent or value_at(data, "source")):
        session.add("asked", number, value_at(data, "content"))
    elif kind == "assistant.message" and not is_subagent:
        session.add("said", number, value_at(data, "content"))
    elif kind == "tool.execution_start":
        line_number = 0 if is_subagent else number
        session.add_call(line_number, data, "toolName", "arguments", "toolCallId")
    elif kind == "tool.execution_complete":
        output = text_at(data, "result", "content") or text_at(data, "error", "message")
        status = value_at(data, "shellExecution", "exitCode")
        failed = value_at(data, "success") is False or None
        session.add_result(value_at(data, "toolCallId"), output, failed, status)


# -- OpenCode
# ------------------------------------------------------------------------------


_OPENCODE_SESSIONS = """
SELECT id, directory, title FROM session WHERE parent_id IS NULL AND ? IN ('', id)
ORDER BY time_created, id
"""
_OPENCODE_PARTS = """
SELECT dense_rank() OVER (ORDER BY message.time_created, message.id) number,
message.data message, part.data part, part.time_created at
FROM message JOIN part ON message_id = message.id WHERE message.session_id = ?
ORDER BY message.time_created, message.id, part.id
"""


def _add_opencode(session: Session, number: int, row: sqlite3.Row) -> None:
    session.title = re.sub("^New session - .*", "", session.title)
    message = read_json(row["message"])
    part = read_json(row["part"])
    kind = value_at(part, "type")
    if kind == "tool":
        state = value_at(part, "state")
        session.add_call(
            number, part | {"input": value_at(state, "input")}, "tool", "input", "callID"
        )
        failed = {"completed": False, "error": True}.get(text_at(state, "status"))
        output = text_at(state) or text_at(state, "error")
        session.add_result(
            value_at(part, "callID"), output, failed, value_at(state, "metadata", "exit")
        )
    elif (
        kind == "text"
        and not value_at(part, "synthetic")
        and value_at(message, "summary") is not True
    ):
        session.add(ROLES[value_at(message, "role")], number, value_at(part, "text"))


# -- Crush
# ------------------------------------------------------------------------------


_CRUSH_SESSIONS = """
SELECT id, '' directory, title FROM sessions
WHERE coalesce(parent_session_id, '') = '' AND ? IN ('', id) ORDER BY created_at, id
"""
_CRUSH_MESSAGES = """
SELECT *, row_number() OVER (ORDER BY created_at, rowid) number, created_at at
FROM messages WHERE session_id = ? ORDER BY number
"""


class _Crush(Transcripts):
    def find(self, home: Path, environ: Mapping[str, str]) -> list[Path]:
        databases = []
        for registry in super().find(home, environ):
            with suppress(OSError, ValueError):
                projects = read_json(read_regular_file(registry, SETTINGS_BYTES))
                for project in list_at(projects, "projects"):
                    folder = text_at(project, "path")
                    databases.append(Path(folder, text_at(project, "data_dir"), "crush.db"))
        return [path for path in databases if path.is_file()]


def _add_crush(session: Session, number: int, row: sqlite3.Row) -> None:
    message = dict(row)
    for part in [] if message.get("is_summary_message") else read_json(message["parts"]):
        kind = value_at(part, "type")
        data = value_at(part, "data")
        if kind == "text" and message["role"] in ROLES:
            session.add(ROLES[message["role"]], number, value_at(data, "text"))
        elif kind == "tool_call":
            session.add_call(number, data, "name", "input", "id")
        elif kind == "tool_result":
            output = text_at(data, "content").partition("\n\n<cwd>")[0]
            failed = value_at(data, "is_error") is True or None
            session.add_result(value_at(data, "tool_call_id"), output, failed)


# -- Cline
# ------------------------------------------------------------------------------


def _read_cline_sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    for file in files:
        for _, value in read_json_lines(file, skipped):
            if value.get("agent", "lead") != "lead":
                continue
            session = Session(file.name.partition(".")[0], "Cline")
            with suppress(OSError, ValueError):
                manifest = file.with_name(f"{session.key}.json")
                head = read_json(read_regular_file(manifest, SETTINGS_BYTES))
                session.folder = text_at(head, "cwd")
                session.title = text_at(head, "metadata", "title")
                session.branch = text_at(head, "metadata", "git", "branch")
            for number, message in enumerate(list_at(value, "messages"), 1):
                with report_errors(skipped, f"{file.name}: {number}"):
                    _add_cline(session, number, message)
            yield session


def _add_cline(session: Session, number: int, message: Any) -> None:
    session.set_time(value_at(message, "ts"))
    content = value_at(message, "content")
    for block in list_at(content):
        if value_at(block, "type") == "tool_result":
            output = text_at(block, "content")
            successes = [value_at(result, "success") for result in list_at(block, "content")]
            failed = False in successes or '"success":false' in output
            session.add_result(value_at(block, "tool_use_id"), output, failed)
        else:
            session.add_block(number, block)
    text = PATTERNS["wrapped"].sub("", text_at(content))
    session.add(ROLES[value_at(message, "role")], number, text)


# -- Aider
# ------------------------------------------------------------------------------


_BEGIN = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_PRINTED = re.compile(
    r"> (?:Applied edit to (?P<edited>.+)|Running (?P<ran>.+)"
    r"|Commit (?P<hash>[0-9a-f]{7,40}) (?P<subject>.+))"
)
_MARK = re.compile("(?m)^#### (?:<blank>)?")


def _read_aider_sessions(files: list[Path], skipped: Skipped, _: str = "") -> Iterator[Session]:
    for file in files:
        path_hash = blake2b(relative_to_home(file).encode(), digest_size=4).hexdigest()
        session = None
        lines = []
        with report_errors(skipped, str(file)):
            lines = read_regular_file(file, FILE_BYTES).decode("utf-8", "replace").splitlines()
        for kind, group in groupby(_classify_lines(lines), key=itemgetter(0)):
            (_, number, first), *rest = group
            text = "\n".join([first, *(line for *_, line in rest)])
            if kind == "begun":
                if session:
                    yield session
                at = datetime.fromisoformat(text[-19:]).astimezone()  # the last of several
                key = f"{path_hash}-{at:%Y%m%d%H%M%S}"
                session = Session(key, "Aider", str(file.parent), at=at)
            elif session and kind == "printed":
                _add_printed(session, number, text)
            elif session and kind == "said":
                session.add("said", number, text)
            elif session and not _MARK.sub("", text).startswith(("/", "!")):  # of Aider's own
                session.add("asked", number, _MARK.sub("", text))
        if session:
            yield session


def _classify_lines(lines: list[str]) -> Iterator[tuple[str, int, str]]:
    """Yields (kind, line number, text) for each line of an aider history; the kind is begun,
    asked, printed or said.
    """
    kind = ""
    is_code = False
    for number, line in enumerate(lines, 1):
        begun = _BEGIN.fullmatch(line)
        is_code = not begun and is_code != line.startswith("```")
        is_printed = line.startswith("> ") or (kind == "printed" and line.strip())
        kind = "said"
        if begun:
            kind = "begun"
        elif line.startswith("#### ") and not is_code:
            kind = "asked"
        elif is_printed and not is_code:
            kind = "printed"
        yield kind, number, begun[1] if begun else line


def _add_printed(session: Session, number: int, text: str) -> None:
    for line, printed in enumerate(text.split("\n"), number):
        match = _PRINTED.match(printed)
        if match:
            kind: Kind = "edited" if match["edited"] else "ran"
            event = session.add(kind, line, match["edited"] or match["ran"] or "git commit")
            if match["hash"]:
                event.commit = f"{match['subject'].strip()} ({match['hash']})"


BY_SOURCE = {
    "qwen": Transcripts(
        "QWEN_HOME",
        ".qwen",
        ("projects/*/chats",),
        ("*-*-*-*-*.jsonl",),
        partial(read_line_sessions, "Qwen Code", _add_qwen),
    ),
    "copilot": Transcripts(
        "COPILOT_HOME",
        ".copilot",
        ("session-state",),
        ("events.jsonl",),
        partial(read_line_sessions, "Copilot CLI", _add_copilot),
    ),
    "opencode": Transcripts(
        "XDG_DATA_HOME",
        ".local/share",
        ("opencode/opencode*.db",),
        ("opencode*.db",),
        partial(
            read_database_sessions,
            "OpenCode",
            (_OPENCODE_SESSIONS, _OPENCODE_PARTS),
            _add_opencode,
        ),
    ),
    "crush": _Crush(
        "XDG_DATA_HOME",
        ".local/share",
        ("crush/projects.json",),
        ("crush.db",),
        partial(
            read_database_sessions, "Crush", (_CRUSH_SESSIONS, _CRUSH_MESSAGES), _add_crush
        ),
    ),
    "cline": Transcripts(
        "CLINE_DIR", ".cline", ("data/sessions",), ("*.messages.json",), _read_cline_sessions
    ),
    "aider": Transcripts(
        "",
        "",
        tuple(f"{folder}.aider.chat.history.md" for folder in ("", "[!.]*/", "[!.]*/[!.]*/")),
        (".aider.chat.history.md",),
        _read_aider_sessions,
    ),
}
