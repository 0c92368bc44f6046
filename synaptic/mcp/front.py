"""Answers a client's first requests over stdio before the MCP SDK is imported.

The first request of an agent knows the tools that are there by then, and the SDK takes longer
to import than some clients wait. So `Front` reads the client's lines. It answers the handshake,
`ping` and the lists from the values that the SDK's server answers with, and only a message
whose answer is certain: the first other request, and all behind it, wait for the SDK.

The SDK is given the opening request and every notification too, so that its state is its own.
`server` drops its answer to the opening request.
"""

import json
import os
import re
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ..files import DATA
from ..models import Json
from ..serving.tool_lists import WHOLE
from ..version import installed_version
from .client_process import wait_until_gone
from .prompts import PROMPTS
from .tools import HELP_RESOURCES, INSTRUCTIONS, TOOL_LISTS

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol versions that begin with `initialize`; a client that asks for another one gets
the last.
"""
MODERN_VERSION = "2026-07-28"
"""The protocol version without a handshake: each request names its client."""
HOUR_MS = 3_600_000

_SERVER = json.loads((DATA / "server.json").read_text("utf-8"))
_SERVER["resources/list"]["resources"] += HELP_RESOURCES
LISTS: Mapping[str, Json] = {
    "prompts/list": {"prompts": [prompt.as_json() for prompt in PROMPTS.values()]},
    **{method: result for method, result in _SERVER.items() if method.endswith("/list")},
}
"""By method: the answers that are the same for every client. The SDK's server sends the same
ones.
"""


def server_info() -> Json:
    """Returns the names and the version of this server."""
    return {**_SERVER["serverInfo"], "version": installed_version()}


class Front:
    """Reads the client's lines from standard input and answers the first of them, until the SDK
    takes over. Standard input is empty afterwards. `tool_list` is a name of TOOL_LISTS.
    """

    def __init__(self, tool_list: str = WHOLE) -> None:
        self.tool_list = tool_list
        self.early = EarlyAnswers(tool_list)
        self.lines = SimpleQueue[str]()
        """The lines for the SDK; an empty one is the end."""
        self._alone = True
        self._turn = threading.Lock()
        self._file = os.fdopen(os.dup(0), encoding="utf-8", errors="replace", newline="\n")
        self._output = os.dup(1)  # the SDK takes the first one
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)

    def begin(self) -> None:
        """Answers requests until the tools were listed or a request needs the SDK; then
        returns, and a thread reads the further lines.
        """
        if self._alone:
            self._handle_line()
        if sys.platform != "win32":  # which has no poll
            threading.Thread(target=self._end_with_client, daemon=True).start()
        while self._alone and not self.early.has_listed:
            self._handle_line()
        threading.Thread(target=self._handle_lines, daemon=True).start()

    def hand_over(self) -> None:
        """Ends the answers of this object: all further lines go to the SDK."""
        with self._turn:
            self._alone = False

    def _handle_lines(self) -> None:
        while self._handle_line():
            pass

    def _end_with_client(self) -> None:
        """Ends the input once the client is gone, even if another process holds it open."""
        wait_until_gone(self._file.fileno(), self._output)
        with self._turn:
            if self._alone:
                os._exit(0)
            self.lines.put("")

    def _handle_line(self) -> bool:
        """Answers the next line, or queues it for the SDK; returns False at the end of the
        input.
        """
        line = self._file.readline()
        with self._turn:
            if self._alone and not line:
                os._exit(0)  # nobody waits for an answer
            answer = self.early.answer(line) if self._alone else None
            if answer:
                _write_answer(answer)
            if not answer or answer["id"] == self.early.opening:
                self.lines.put(line)
            self._alone = self._alone and not self.early.ended
        return bool(line)


def _write_answer(answer: Json) -> None:
    """Writes an answer to the client; ends the process if the client has closed its pipe."""
    data = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    try:
        sys.stdout.buffer.write(data.encode() + b"\n")
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os._exit(0)


class EarlyAnswers:
    """Makes the answers that need no SDK. `opening` is the id of the first request;
    `has_listed` is True after the list of tools was asked for, `ended` after a message that
    only the SDK can answer.
    """

    def __init__(self, tool_list: str = WHOLE) -> None:
        self.opening: int | str | None = None
        self.has_listed = False
        self.ended = False
        about = {"capabilities": _SERVER["capabilities"], "instructions": INSTRUCTIONS}
        info = server_info()
        self._handshake = {**about, "serverInfo": info}
        more = {
            "resultType": "complete",
            "ttlMs": HOUR_MS,
            "cacheScope": "public",
            "_meta": {"io.modelcontextprotocol/serverInfo": info},
        }
        first = {"type": "object"}  # in the SDK's order for this version
        rows = TOOL_LISTS[tool_list]
        tools = [tool | {"inputSchema": first | tool["inputSchema"]} for tool in rows]
        own = {"tools": tools, "cacheScope": "private"}  # a grant may show fewer
        discover = {"supportedVersions": [MODERN_VERSION], **about}
        modern = {"server/discover": discover, **LISTS, "tools/list": own}
        self._modern = {method: more | result for method, result in modern.items()}
        self._lists = {**LISTS, "tools/list": {"tools": rows}}
        self._results: Mapping[str, Json] = {}

    def answer(self, line: str) -> Json | None:
        """Returns the answer to a line; None for a notification, and for a request that the SDK
        must answer.
        """
        message = _parse_message(line)
        method = message.get("method")
        if isinstance(method, str) and message.keys() <= {"jsonrpc", "method", "params"}:
            return None
        id = message.get("id")
        params = message.get("params")
        result = None
        if type(id) in (int, str) and message.keys() <= {"jsonrpc", "id", "method", "params"}:
            result = self._find_result(method, {} if params is None else params)
        if result is None or id == self.opening:
            self.ended = True
            return None
        if self.opening is None:
            self.opening = id
        self.has_listed |= method == "tools/list"
        return {"jsonrpc": "2.0", "id": id, "result": result}

    def _find_result(self, method: Any, params: Any) -> Json | None:
        """Returns the result for a request, None where the SDK must answer; notes which
        protocol the client speaks.
        """
        is_modern = _is_modern_params(params)
        if self.opening is None and is_modern:
            self._results = self._modern
        elif self.opening is None and method == "initialize" and _is_handshake_params(params):
            self._results = {"ping": {}, **self._lists}
            wanted = params["protocolVersion"]
            version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
            return {"protocolVersion": version, **self._handshake}
        if is_modern != (self._results is self._modern) or not (
            is_modern or _is_empty_params(params)
        ):
            return None
        return self._results.get(method)


# -- messages whose answer is certain: others wait for the SDK
# ------------------------------------------------------------------------------


def _parse_message(line: str) -> Json:
    """Returns the JSON-RPC message of a line; {} if it is not a message, or if the SDK might
    read it differently.
    """
    if _ODD.search(line):
        return {}
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    sound = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
    return message if sound else {}


_ODD = re.compile(r"\\u[dD]|NaN|Infinity")
"""JSON that parsers read differently: perhaps half of a character, or a constant that is not
JSON.
"""


def _is_handshake_params(params: Any) -> bool:
    match params:
        case {"protocolVersion": str(), "capabilities": able, "clientInfo": client, **rest}:
            return _is_client(client, able) and not rest
    return False


def _is_empty_params(params: Any) -> bool:
    """True for parameters without content, except perhaps a token for progress reports."""
    match params:
        case {"_meta": {"progressToken": int() | str() as token, **more}, **rest}:
            return not more and not rest and not isinstance(token, bool)
    return params in ({}, {"_meta": {}})


def _is_modern_params(params: Any) -> bool:
    """True for parameters that only name the client, in the form of MODERN_VERSION."""
    match params:
        case {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": able,
                **meta,
            },
            **rest,
        }:
            is_plain = _is_empty_params({"_meta": meta, **rest})
            return version == MODERN_VERSION and is_plain and _is_client(client, able)
    return False


def _is_client(client: Any, able: Any) -> bool:
    """True if the client's description and its capabilities `able` have a form that all
    versions of the protocol accept.
    """
    if not isinstance(client, dict) or not isinstance(able, dict) or "icons" in client:
        return False
    if able.get("roots") == {"listChanged": True}:
        able = able | {"roots": {}}
    return (
        client.keys() >= {"name", "version"}
        and all(isinstance(text, str) for text in client.values())
        and _is_nested(able, 3)
        and _is_nested(able.get("tasks", {}), 4)
    )


def _is_nested(value: Any, levels: int) -> bool:
    """True for a dict of dicts, `levels` deep; values below that may be anything."""
    if not levels:
        return True
    return isinstance(value, dict) and all(
        _is_nested(inner, levels - 1) for inner in value.values()
    )
