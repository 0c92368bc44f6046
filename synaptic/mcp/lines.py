"""The streams of messages between a client over stdio and the SDK's server."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage

from ..journal.withdrawal import Withdrawal
from ..models import Json
from .front import HANDSHAKE_VERSIONS, Front
from .messages import Refusal, message_line, read_messages

CALL_S = 60.0
"""Seconds that open calls may take after the input has ended: as long as clients usually
wait.
"""
END_S = 0.3
"""Seconds that the protocol may take to end after CALL_S."""


class OpenCalls:
    """The ids of the client's calls that are not answered yet. `withdrawals` has, by id, those
    that write.
    """

    def __init__(self, withdrawals: Mapping[str, Withdrawal]) -> None:
        self._withdrawals = withdrawals
        self._ids: list[str] = []
        self._none_left = anyio.Event()

    def take(self, message: Json) -> bool:
        """Adds the id of a call; a message that cancels a call removes the id of that call.
        Returns False for one that comes too late: the call has begun to change the journal, and
        will be answered.
        """
        if "id" in message and "method" in message:
            self._ids.append(str(message["id"]))
        elif message.get("method") == "notifications/cancelled":
            id = (message.get("params") or {}).get("requestId")
            withdrawal = self._withdrawals.get(str(id))
            if withdrawal and not withdrawal.request():
                return False
            self.remove(id)
        return True

    def remove(self, id: object) -> None:
        """Removes the id of a call that was answered."""
        if str(id) in self._ids:
            self._ids.remove(str(id))
        if not self._ids:
            self._none_left.set()

    async def wait_until_answered(self) -> None:
        """Waits until all calls are answered, at most CALL_S seconds. To be called after the
        last message.
        """
        self._none_left = anyio.Event()
        if self._ids:
            with anyio.move_on_after(CALL_S):
                await self._none_left.wait()


class ClientLines:
    """Iterates over the client's messages, one line each. A line that is not a message is
    answered with an error by `send`.

    The iteration ends when the input has ended and all calls are answered. Then the process
    ends too, even if a call still runs.
    """

    send: Callable[[SessionMessage], Awaitable[None]]

    def __init__(self, front: Front, calls: OpenCalls) -> None:
        self._next = front.lines.get
        self._calls = calls
        self._messages: deque[Json | Refusal] = deque()
        self._version = ""

    def __aiter__(self) -> ClientLines:
        return self

    async def __anext__(self) -> str:
        while True:
            while self._messages:
                message = self._messages.popleft()
                if isinstance(message, Refusal):
                    await self.send(SessionMessage(RefusalError(**message.as_json())))
                elif self._calls.take(message):
                    return self._to_line(message)
            line = await anyio.to_thread.run_sync(self._next, abandon_on_cancel=True)
            if not line:
                break
            self._messages.extend(read_messages(line, self._version).each)
        ending = threading.Timer(CALL_S + END_S, os._exit, (0,))  # a loop may never end
        ending.daemon = True
        ending.start()
        await self._calls.wait_until_answered()
        raise StopAsyncIteration

    def _to_line(self, message: Json) -> str:
        if message.get("method") == "initialize":  # before it is answered: more may be here
            wanted = (message.get("params") or {}).get("protocolVersion")
            self._version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return message_line(message)


class RefusalError(types.JSONRPCError):
    """An error answer whose id may have a type that the SDK does not allow."""

    id: Any


class AnswerStream:
    """Sends answers to the client, except the answer to the request `opening`, which Front has
    sent.
    """

    def __init__(
        self,
        stream: ObjectSendStream[SessionMessage],
        calls: OpenCalls,
        opening: int | str | None,
    ) -> None:
        self._stream = stream
        self._calls = calls
        self._opening = opening

    async def send(self, item: SessionMessage) -> None:
        id = getattr(item.message, "id", None)
        is_opening = self._opening is not None and id == self._opening
        if is_opening:
            self._opening = None
        else:
            await self._stream.send(item)
        if not isinstance(item.message, types.JSONRPCRequest):  # which has an id of our own
            self._calls.remove(id)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> AnswerStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
