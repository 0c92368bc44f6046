"""What comes in over stdio, line by line; a line that is no message is answered here."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio.to_thread
from mcp import types
from mcp.shared.message import SessionMessage

GRACE_S = 0.3
"""How long the protocol may take to wind down once the client is gone."""


class Lines:
    """The client's messages, read from fd 0, which is empty afterwards.

    When they end, the process does, in GRACE_S at most, even during a call.
    """

    def __init__(self) -> None:
        self.send: Callable[[SessionMessage], Awaitable[None]] | None = None
        self._file = os.fdopen(os.dup(0), encoding="utf-8", errors="replace", newline="\n")
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        line = await anyio.to_thread.run_sync(self._file.readline)
        while line and self.send and (said := _no_json(line)):
            await self.send(SessionMessage(said))
            line = await anyio.to_thread.run_sync(self._file.readline)
        if not line:
            ending = threading.Timer(GRACE_S, os._exit, (0,))  # a loop that has ended would end nothing
            ending.daemon = True
            ending.start()
            raise StopAsyncIteration
        return readable(line)


def _no_json(line: str) -> types.JSONRPCError | None:
    """The answer to a line that is not JSON, for which the SDK has none; an empty line is none."""
    try:
        json.loads(line or "0")
    except (ValueError, RecursionError) as error:
        said = types.ErrorData(code=types.PARSE_ERROR, message=f"This line is not JSON: {error}.")
        return types.JSONRPCError(jsonrpc="2.0", id=None, error=said)
    return None


def readable(line: str) -> str:
    r"""A JSON line without halves of characters (`\ud83d` alone), which become `?`.

    JavaScript clients send them where they cut a text within an emoji; the SDK cannot read such a line and
    would leave the call without an answer.
    """
    if "\\ud" not in line and "\\uD" not in line:
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return without_surrogates(json.dumps(message, ensure_ascii=False)) + "\n"


def without_surrogates(text: str) -> str:
    """Text that can be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
