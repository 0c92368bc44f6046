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

    When they end, the process does, in GRACE_S at most, even during a call. A line that is no JSON is answered by
    `send`: the SDK would leave it without an answer.
    """

    send: Callable[[SessionMessage], Awaitable[None]]

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(0), encoding="utf-8", errors="replace", newline="\n")
        with Path(os.devnull).open("rb") as nothing:
            os.dup2(nothing.fileno(), 0)

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        while line := await anyio.to_thread.run_sync(self._file.readline):
            try:
                return readable(line)
            except (ValueError, RecursionError) as error:
                said = types.ErrorData(code=types.PARSE_ERROR, message=f"This line is not JSON: {error}.")
                await self.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=said)))
        ending = threading.Timer(GRACE_S, os._exit, (0,))  # a loop that has ended would end nothing
        ending.daemon = True
        ending.start()
        raise StopAsyncIteration


def readable(line: str) -> str:
    r"""A JSON line without halves of characters (`\ud83d` alone), which become `?`.

    JavaScript clients send them where they cut a text within an emoji; the SDK cannot read such a line and
    would leave the call without an answer. Raises what `json.loads` does.
    """
    message = json.loads(line)
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return without_surrogates(json.dumps(message, ensure_ascii=False)) + "\n"


def without_surrogates(text: str) -> str:
    """Text that can be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
