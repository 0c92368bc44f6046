"""Answers the first questions of a client over stdio before the SDK is imported.

The first request of an agent knows the tools that are there by then, and the SDK takes longer
to import than some clients wait. So `Front` reads the client's lines. It answers the handshake,
`ping` and the lists from the values that the SDK's server answers with, and only a message
whose answer is certain: the first other request, and all behind it, wait for the SDK.

The SDK is given the opening request and every notification too, so that its state is its own.
`server` drops its answer to the opening request.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from .tools import HELP_RESOURCES, INSTRUCTIONS, TOOLS

if TYPE_CHECKING:
    from ..render.wire import Json

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol versions that begin with `initialize`; any other is answered with the last."""
MODERN = "2026-07-28"
"""The protocol version without a handshake: each request says who asks."""
HOUR_MS = 3_600_000

JOURNAL = "synaptic://journal/"
ENTRY = "synaptic://entry/"
MARKDOWN = "text/markdown"
_RESERVED = "io.modelcontextprotocol/"
LISTS: Mapping[str, Json] = {
    "tools/list": {"tools": [tool.as_json() for tool in TOOLS]},
    "resources/list": {
        "resources": [
            {
                "uri": f"{JOURNAL}today",
                "name": "today",
                "description": "Today's entries.",
                "mimeType": MARKDOWN,
            },
            *HELP_RESOURCES,
        ]
    },
    "resources/templates/list": {
        "resourceTemplates": [
            {
                "uriTemplate": f"{JOURNAL}{{date}}",
                "name": "journal",
                "description": "All entries of a day: 2026-11-21, today or yesterday.",
                "mimeType": MARKDOWN,
            },
            {
                "uriTemplate": f"{ENTRY}{{id}}",
                "name": "entry",
                "description": "One entry, whole.",
                "mimeType": MARKDOWN,
            },
        ]
    },
    "prompts/list": {
        "prompts": [
            {
                "name": "handoff",
                "description": "End a session: save where things stand.",
                "arguments": [
                    {
                        "name": "focus",
                        "description": "What of the session, if not all of it.",
                    }
                ],
            },
            {
                "name": "review",
                "description": "Tidy the journal: what repeats, contradicts or outlived "
                "others.",
                "arguments": [{"name": "project", "description": "Only this one."}],
            },
        ]
    },
}
"""The answers that are always the same; the SDK's server reads them here, too."""
CAPABILITIES = {
    "prompts": {"listChanged": False},
    "resources": {"subscribe": False, "listChanged": False},
    "tools": {"listChanged": False},
}


def server_info() -> Json:
    return {
        "name": "synaptic",
        "title": "Synaptic",
        "version": _version(),
        "description": "A memory of Markdown files that a person and their agents share.",
    }


def _version() -> str:
    """The installed version as the folder's name has it; `importlib.metadata` is slow."""
    for place in sys.path:
        for folder in Path(place).glob("synaptic_journal-*.dist-info"):
            return folder.name.removesuffix(".dist-info").rpartition("-")[2]
    return ""


class Front:
    """The client's lines, from fd 0, which is empty afterwards, and the first answers."""

    def __init__(self) -> None:
        self.script = Script()
        self.lines = SimpleQueue[str]()
        """The lines for the SDK; an empty one is the end."""
        self._alone = True
        self._turn = threading.Lock()
        self._file = os.fdopen(
            os.dup(0),
            encoding="utf-8",
            errors="replace",
            newline="\n",
        )
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)

    def begin(self) -> None:
        """Returns when the tools were listed, or the SDK must answer. From then on a thread
        goes on.
        """
        while self._alone and not self.script.listed:
            self._step()
        threading.Thread(target=self._go_on, daemon=True).start()

    def hand_over(self) -> None:
        """From now on all lines go to the SDK."""
        with self._turn:
            self._alone = False

    def _go_on(self) -> None:
        while self._step():
            pass

    def _step(self) -> bool:
        """Answers a line or keeps it for the SDK; False at the end."""
        line = self._file.readline()
        with self._turn:
            if self._alone and not line:
                os._exit(0)  # nobody waits for an answer
            answer = self.script.answer(line) if self._alone else None
            if answer:
                data = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
                _write(data.encode() + b"\n")
            if not answer or self.script.replays(answer):
                self.lines.put(line)
            self._alone = self._alone and not self.script.ended
        return bool(line)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


class Script:
    """The answers of the first minute, and how far it is: `opening` is the id of the request
    that began it, `ended` is True once a message came whose answer it does not know.
    """

    def __init__(self) -> None:
        self.opening: int | str | None = None
        self.listed = False
        self.ended = False
        self._version = ""

    def replays(self, answer: Json) -> bool:
        """True for the answer to the opening request, which the SDK must see as well."""
        return bool(answer["id"] == self.opening)

    def answer(self, line: str) -> Json | None:
        """The answer to a line; None for a notification, and where the SDK must answer."""
        message = _message(line)
        method = message.get("method")
        if isinstance(method, str) and message.keys() <= {"jsonrpc", "method", "params"}:
            return None
        id = message.get("id")
        params = message.get("params")
        result = None
        if type(id) in (int, str) and message.keys() <= {"jsonrpc", "id", "method", "params"}:
            result = self._result(method, {} if params is None else params)
        if result is None or id == self.opening:
            self.ended = True
            return None
        if self.opening is None:
            self.opening = id
        self.listed = self.listed or method == "tools/list"
        return {"jsonrpc": "2.0", "id": id, "result": result}

    def _result(
        self,
        method: Any,
        params: Any,
    ) -> Json | None:
        if not self._version:
            return self._open(method, params)
        modern = self._version == MODERN
        if not (_is_envelope(params) if modern else _is_plain(params)):
            return None
        if modern:
            return _modern(method)
        return {} if method == "ping" else LISTS.get(method)

    def _open(
        self,
        method: Any,
        params: Any,
    ) -> Json | None:
        """The answer to the opening request, which chooses the version of the protocol."""
        if _is_envelope(params):
            self._version = MODERN
            return _modern(method)
        if method != "initialize" or not _is_handshake(params):
            return None
        wanted = params["protocolVersion"]
        self._version = wanted if wanted in HANDSHAKES else HANDSHAKES[-1]
        return {
            "protocolVersion": self._version,
            "capabilities": CAPABILITIES,
            "serverInfo": server_info(),
            "instructions": INSTRUCTIONS,
        }


def _modern(method: Any) -> Json | None:
    result = LISTS.get(method)
    if method == "server/discover":
        result = {
            "supportedVersions": [MODERN],
            "capabilities": CAPABILITIES,
            "instructions": INSTRUCTIONS,
        }
    if result is None:
        return None
    return result | {
        "resultType": "complete",
        "ttlMs": HOUR_MS,
        "cacheScope": "private" if method == "tools/list" else "public",
        "_meta": {f"{_RESERVED}serverInfo": server_info()},
    }


# -- messages whose answer is certain
# ------------------------------------------------------------------------------


def _message(line: str) -> Json:
    """The message of a line; empty where it is none, or may be read in another way."""
    if "\\ud" in line or "\\uD" in line:  # perhaps half of a character
        return {}
    try:
        message = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {}
    sound = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
    return message if sound else {}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _is_handshake(params: Any) -> bool:
    if not isinstance(params, dict):
        return False
    return (
        params.keys() == {"protocolVersion", "capabilities", "clientInfo"}
        and isinstance(params["protocolVersion"], str)
        and _is_capable(params["capabilities"])
        and _is_program(params["clientInfo"])
    )


def _is_plain(params: Any) -> bool:
    """True for parameters that say nothing, or no more than how to report progress."""
    if not isinstance(params, dict) or not params.keys() <= {"_meta"}:
        return False
    meta = params.get("_meta", {})
    if not isinstance(meta, dict) or not meta.keys() <= {"progressToken"}:
        return False
    return type(meta.get("progressToken", 0)) in (int, str)


def _is_envelope(params: Any) -> bool:
    """True for parameters that only say who asks, in the modern protocol."""
    if not isinstance(params, dict) or not isinstance(params.get("_meta"), dict):
        return False
    meta = dict(params["_meta"])
    said = [
        meta.pop(_RESERVED + name, None)
        for name in ("protocolVersion", "clientInfo", "clientCapabilities")
    ]
    version, program, capabilities = said
    rest = params | {"_meta": meta}
    return (
        version == MODERN
        and _is_program(program)
        and _is_capable(capabilities)
        and _is_plain(rest)
    )


def _is_program(value: Any) -> bool:
    if not isinstance(value, dict) or "icons" in value:
        return False
    more = ("title", "description", "websiteUrl")
    texts = [value.get("name"), value.get("version"), *(value.get(name, "") for name in more)]
    return all(isinstance(text, str) for text in texts)


def _is_capable(value: Any) -> bool:
    """True for capabilities in a form that every version of the protocol takes."""
    if not isinstance(value, dict):
        return False
    roots = value.get("roots", {})
    if not isinstance(roots, dict) or type(roots.get("listChanged", True)) is not bool:
        return False
    for name in ("experimental", "extensions", "sampling", "elicitation"):
        settings = value.get(name, {})
        if not isinstance(settings, dict):
            return False
        if not all(isinstance(setting, dict) for setting in settings.values()):
            return False
    return "tasks" not in value or _is_nested(value["tasks"])


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_nested, value.values()))
