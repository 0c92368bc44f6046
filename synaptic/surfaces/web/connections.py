"""Connections with a time limit: one whose request does not arrive whole is closed."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S, BODY_S = 10.0, 120.0
"""The time in which the head of a request must come whole, and then its body."""
MOST_UNFINISHED = 200
"""Connections that wait for the rest of a request. Above that the oldest of them is closed, so
that the next one is
answered: a process may open about 1,000."""

_LIMITS = {h11.IDLE: HEAD_S, h11.SEND_BODY: BODY_S}


class Connection(H11Protocol):
    """A connection of the server. `unfinished` are those that wait for the rest of a request,
    the oldest first. `ending`: the server ends, and with it every answer that has no end.
    """

    ending = asyncio.Event()
    unfinished: dict[Connection, asyncio.TimerHandle] = {}  # noqa: RUF012, of all connections
    _limit: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait(HEAD_S)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        limit = _LIMITS.get(self.conn.their_state)
        if limit != self._limit:
            self._wait(limit)

    def shutdown(self) -> None:
        self.ending.set()
        super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._wait(None)
        super().connection_lost(exc)

    def _wait(self, limit: float | None) -> None:
        """Waits no longer than this for the rest of the request; None: nothing is awaited."""
        if timer := self.unfinished.pop(self, None):
            timer.cancel()
        self._limit = limit
        if limit is not None:
            self.unfinished[self] = self.loop.call_later(limit, self.transport.abort)
        if len(self.unfinished) > MOST_UNFINISHED:
            oldest = next(iter(self.unfinished))
            oldest._wait(None)
            oldest.transport.abort()
