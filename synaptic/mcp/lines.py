"""The client's lines over stdio, as the SDK takes and gives them."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio.to_thread
from mcp import types
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage

from ..models import Json
from .front import HANDSHAKES, Front
from .messages import Refusal, as_line, read_messages

GRACE_S = 0.3
"""How long the protocol may take to wind down once the client is gone."""


class Lines:
    """The client's messages, a line each; a line that is not a message is refused by `send`.

    When they end, the process does, in GRACE_S at most, even during a call.
    """

    send: Callable[[SessionMessage], Awaitable[None]]

    def __init__(self, front: Front) -> None:
        self._next = front.lines.get
        self._read: deque[Json | Refusal] = deque()
        self._version = ""

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        while True:
            while self._read:
                message = self._read.popleft()
                if not isinstance(message, Refusal):
                    return self._line_of(message)
                await self.send(SessionMessage(RefusalError(**message.as_json())))
            line = await anyio.to_thread.run_sync(self._next)
            if not line:
                break
            self._read.extend(read_messages(line, self._version).each)
        ending = threading.Timer(
            GRACE_S, os._exit, (0,)
        )  # a loop that has ended would end nothing
        ending.daemon = True
        ending.start()
        raise StopAsyncIteration

    def _line_of(self, message: Json) -> str:
        if message.get("method") == "initialize":  # before it is answered: more may be here
            wanted = (message.get("params") or {}).get("protocolVersion")
            self._version = wanted if wanted in HANDSHAKES else HANDSHAKES[-1]
        return as_line(message)


class RefusalError(types.JSONRPCError):
    """An error that may have the id of a request that the SDK would not read."""

    id: Any


class Unanswered:
    """The stream to the client without the answer to the request `answered`, which it has."""

    def __init__(self, stream: WriteStream[SessionMessage], answered: int | str | None) -> None:
        self._stream = stream
        self._answered = answered

    async def send(self, item: SessionMessage) -> None:
        answered = self._answered
        if answered is not None and getattr(item.message, "id", None) == answered:
            self._answered = None
            return
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> Unanswered:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
