"""Reads the chats with agents in two editors: Cursor, and VS Code with Copilot.

Both keep them below `~/.config`, or XDG_CONFIG_HOME; on macOS below
`~/Library/Application Support`.

Cursor's chats: `Cursor/User/globalStorage/state.vscdb`, an SQLite database. Written after the
reader of vshulcz/deja-vu and after public dumps of Cursor 3.6 and 3.21.

`cursorDiskKV` has JSON by key. `composerData:ID` is a chat: name, createdAt (milliseconds),
workspaceIdentifier, subagentInfo (of a subagent's) and fullConversationHeadersOnly, the
bubbleId of each message in order; before 2025 `conversation` held the messages themselves.
`bubbleId:ID:BUBBLE` is a message: type (1 of the person, 2 of the agent), text, createdAt
(ISO), workspaceUris and toolFormerData: name, toolCallId, status, and as JSON params and result
(output, exitCodeV2, or exitCode where it is not 0, rejected). Until 3.20 the workspace of a
chat stands in ItemTable, in `composer.composerHeaders`. The line of an event is the number of
its message.

VS Code's chats: `Code/User/workspaceStorage/ID/chatSessions/SESSION.jsonl`, and for windows
without a folder `Code/User/globalStorage/emptyWindowChatSessions`; also of Code - Insiders and
VSCodium. Written after chatSessionOperationLog.ts of microsoft/vscode.

`workspace.json` beside `chatSessions` is `{"folder": URI}`, or it has `workspace` with the
file of several folders. A line of a chat is `{"kind": 0, "v": all}`, or a change at the path
`k`: 1 sets it to `v`, 2 cuts the list there at `i`, if given, and appends `v`, 3 removes it.
Before version 1.109 a file `.json` held all. That is customTitle and requests, each with
message.text, timestamp, modelState.completedAt and response, a list of texts (value), edits
(textEditGroup: uri) and calls (toolInvocationSerialized: isConfirmed, and toolSpecificData of a
terminal: commandLine, terminalCommandOutput.text, terminalCommandState.exitCode). Nobody typed
a request with isSystemInitiated or confirmation. The line of an event is the number of its
request.
"""

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ....files import SETTINGS_BYTES, read_regular_file
from .digest import Transcripts
from .record import Skipped, report_errors
from .session import Kind, Session, read_database_sessions, read_json_lines
from .shared import list_at, text_at, value_at
from .source import read_json


def _path_of_uri(uri: object) -> str:
    """Returns the file path of a URI, which is a text or an object of VS Code."""
    return text_at(uri, "path") or unquote(urlsplit(text_at(uri)).path)


def _workspace_folder(storage: Path) -> str:
    """Returns the folder that was open in the editor for this workspace storage; "" if there
    was none.
    """
    with suppress(OSError, ValueError):
        workspace = read_json(read_regular_file(storage / "workspace.json", SETTINGS_BYTES))
        return _path_of_uri(value_at(workspace, "folder") or value_at(workspace, "workspace"))
    return ""


# -- Cursor
# ------------------------------------------------------------------------------


_CHATS = """
WITH heads AS (
    SELECT json_extract(head.value, '$.composerId') id,
    json_extract(head.value, '$.workspaceIdentifier') workspace
    FROM ItemTable,
    json_each(iif(json_valid(ItemTable.value), ItemTable.value, '{}'), '$.allComposers') head
    WHERE ItemTable.key = 'composer.composerHeaders'
)
SELECT substr(key, 14) id, '' title, coalesce(
    json_extract(workspace, '$.uri.path'), json_extract(workspace, '$.configPath.path')
) directory
FROM cursorDiskKV LEFT JOIN heads ON heads.id = substr(key, 14)
WHERE key > 'composerData:' AND key < 'composerData;' AND ? IN ('', substr(key, 14))
"""
_BUBBLES = """
WITH chat AS (
    SELECT substr(key, 14) id, CAST(value AS TEXT) chat
    FROM cursorDiskKV WHERE key = 'composerData:' || ?
)
SELECT head.key + 1 number, json_extract(chat, '$.name') title,
json_extract(chat, '$.workspaceIdentifier.uri.path') folder,
coalesce(bubble.value, head.value) bubble,
iif(head.key, NULL, json_extract(chat, '$.createdAt')) at
FROM chat JOIN json_each(chat, iif(
    json_array_length(chat, '$.conversation'), '$.conversation', '$.fullConversationHeadersOnly'
)) head
LEFT JOIN cursorDiskKV bubble
ON bubble.key = 'bubbleId:' || chat.id || ':' || json_extract(head.value, '$.bubbleId')
WHERE json_extract(chat, '$.subagentInfo') IS NULL ORDER BY head.key
"""


def _add_bubble(session: Session, number: int, row: sqlite3.Row) -> None:
    bubble = read_json(row["bubble"])
    session.set_time(value_at(bubble, "createdAt"))
    session.title = text_at(row["title"])
    folders = [row["folder"], *list_at(bubble, "workspaceUris")]
    session.folder = session.folder or next(filter(None, map(_path_of_uri, folders)), "")
    kind: Kind = "asked" if value_at(bubble, "type") == 1 else "said"
    session.add(kind, number, value_at(bubble, "text"))
    call = value_at(bubble, "toolFormerData")
    session.add_call(number, call, "name", "params", "toolCallId")
    state = value_at(call, "status")
    result = value_at(call, "result")
    with suppress(ValueError):
        result = read_json(result)
    output = text_at(result)
    if value_at(result, "rejected") or (state == "cancelled" and not result):
        state = "cancelled"
        output = "rejected by the user"
    failed = {"completed": False, "error": True, "cancelled": True}.get(text_at(state))
    status = value_at(result, "exitCodeV2") or value_at(result, "exitCode")
    session.add_result(value_at(call, "toolCallId"), output, failed, status)


# -- VS Code
# ------------------------------------------------------------------------------


def _read_vscode_sessions(files: list[Path], skipped: Skipped) -> Iterator[Session]:
    for file in files:
        if file.suffix == ".json" and file.with_suffix(".jsonl").exists():
            continue
        session = Session(file.stem, "VS Code", _workspace_folder(file.parents[1]))
        chat = None
        for number, line in read_json_lines(file, skipped):
            with report_errors(skipped, f"{file.name}:{number}"):
                chat = line if file.suffix == ".json" else _apply_change(chat, line)
        session.title = text_at(chat, "customTitle")
        for number, request in enumerate(list_at(chat, "requests"), 1):
            with report_errors(skipped, f"{file.name}: {number}"):
                _add_request(session, number, request)
        yield session


def _apply_change(state: Any, change: dict[str, Any]) -> Any:
    """Applies one line of a VS Code chat log to the state of the chat, and returns the new
    state.
    """
    kind = change["kind"]
    value = change.get("v")
    if kind == 0:
        return value
    *within, last = change["k"]
    node = state
    for key in within:
        node = node[key]
    if kind == 2:
        items = node.setdefault(last, [])
        del items[change.get("i", len(items)) :]
        items.extend(value or [])
    else:
        node[last] = value
    return state


def _add_request(session: Session, number: int, request: Any) -> None:
    session.set_time(value_at(request, "timestamp"))
    if not (value_at(request, "isSystemInitiated") or value_at(request, "confirmation")):
        session.add("asked", number, value_at(request, "message"))
    session.set_time(value_at(request, "modelState", "completedAt"))
    answer = ""
    for part in list_at(request, "response"):
        kind = value_at(part, "kind")
        text = text_at(part, "value")
        if kind == "inlineReference":
            answer += text_at(part, "name") or Path(_path_of_uri(value_at(part, kind))).name
        elif kind is None and text.strip() != "```":  # the frame of an edit
            answer += text
        elif kind in ("textEditGroup", "toolInvocationSerialized"):
            session.add("said", number, answer)
            answer = ""
            session.add("edited", number, _path_of_uri(value_at(part, "uri")))
            _add_terminal(session, number, part)
    session.add("said", number, answer)


def _add_terminal(session: Session, number: int, part: Any) -> None:
    """Adds the terminal command of a tool call, unless the person refused it."""
    data = value_at(part, "toolSpecificData")
    status = value_at(data, "terminalCommandState", "exitCode")
    if status is None and value_at(part, "isConfirmed", "type") in (0, 5):
        return
    line = value_at(data, "commandLine")
    edited = text_at(line, "userEdited") or text_at(line, "toolEdited")
    command = edited or text_at(line, "original")
    session.calls[""] = [session.add("ran", number, command)]
    output = text_at(data, "terminalCommandOutput")
    session.add_result("", output, None, status)


_BASE = ("XDG_CONFIG_HOME", ".config")
"""The environment variable that names the folder of both editors' data, and the default below
the home folder.
"""
if sys.platform == "darwin":
    _BASE = ("", "Library/Application Support")
BY_SOURCE = {
    "cursor": Transcripts(
        *_BASE,
        ("Cursor/User/globalStorage/state.vscdb",),
        ("state.vscdb",),
        partial(read_database_sessions, "Cursor", (_CHATS, _BUBBLES), _add_bubble),
    ),
    "vscode": Transcripts(
        *_BASE,
        (
            "*/User/workspaceStorage/*/chatSessions",
            "*/User/globalStorage/emptyWindowChatSessions",
        ),
        ("*.jsonl", "*.json"),
        _read_vscode_sessions,
    ),
}
