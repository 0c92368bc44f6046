"""Limits of connections, which hold before any login.

| a client that                                 | is cut off                          |
|-----------------------------------------------|-------------------------------------|
| sends the head of a request slowly            | after HEAD_S                        |
| sends its body slowly                         | after BODY_S                        |
| takes nothing of an answer                    | after ANSWER_S                      |
| asks for nothing more                         | after IDLE_S                        |
| waits longest, of more than `most_connections`| when the next one comes, which is   |
|                                               | answered: a proxy has one address   |

A client that is logged in is cut off for the sake of another only where all are.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import gc
import socket
import sys
import time
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S, BODY_S, ANSWER_S, IDLE_S = 10.0, 120.0, 30.0, 5
"""Limits in seconds. That of an answer begins anew with each byte that the client takes."""
UNTAKEN_BYTES = 16_384
"""Bytes of an answer that are kept for a slow client before the rest is made."""
SWEEP_S = 1.0
"""Seconds between two looks at all connections."""
RESERVE = 128
"""Descriptors that the index, the journal, the model and the process beside may need; a server
at work has 15.
"""
FOR_EACH = 2
"""Descriptors for each connection: its own, and one for a file that is sent, or for another
connection that is cut off and not closed yet.
"""
MOST, LEAST = 1_000, 16
"""Connections, however many descriptors the system allows. One with an answer that is not taken
holds up to 50 KB.
"""
AT_ONCE = 1 / 8
"""The share of all connections that may come or go within some turns of the loop. A new one is
read at its third: until then it must not be the longest-waiting one.
"""
CROWD = 100
"""Connections: once a quarter of them is left, memory is given back, which takes 0.2 s."""
PAUSE_S = 1.0
"""Seconds without a connection after the system refused one for lack of descriptors or memory;
asyncio waits as long.
"""
_LACKS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def most_connections() -> int:
    """The number of connections that the process may have open."""
    allowed = -1
    if sys.platform != "win32":  # which has no such limit
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed < 0:
        return MOST
    return min(max((allowed - RESERVE) // FOR_EACH, LEAST), MOST)


class Table:
    """The open connections, in the order in which they last did a step: came, sent a head or a
    body whole, or got an answer whole. `coming` are accepted, and not open yet; `going` are cut
    off, and not closed yet.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.coming = 0
        self.going: set[Connection] = set()
        self.open: dict[Connection, None] = {}
        self._came_at = 0.0
        self._had_crowd = False
        self._sweep: asyncio.TimerHandle | None = None

    def may_accept(self) -> bool:
        """True when one more connection may be accepted now; else at one of the next turns."""
        if time.monotonic() > self._came_at + PAUSE_S:
            self.coming = 0  # else one whose begin failed would count for ever
        return len(self.going) + self.coming < self.most * AT_ONCE

    def accepted(self) -> None:
        """A connection came: the longest-waiting one makes room for it."""
        self.coming += 1
        self._came_at = time.monotonic()
        if len(self.open) + self.coming > self.most:
            self.cut_longest()

    def cut_longest(self) -> None:
        """Cuts off the longest-waiting connection without a login, else the longest-waiting."""
        first = next(iter(self.open), None)
        longest = next(
            (connection for connection in self.open if not connection.is_logged_in), first
        )
        if longest:
            self.cut(longest)

    def cut(self, connection: Connection) -> None:
        del self.open[connection]
        self.going.add(connection)
        connection.transport.abort()

    def put_last(self, connection: Connection) -> None:
        """Notes that the connection took a step."""
        if connection not in self.going:
            self.open.pop(connection, None)
            self.open[connection] = None
        if self._sweep is None:
            self._sweep = connection.loop.call_later(SWEEP_S, self._look, connection.loop)

    def remove(self, connection: Connection) -> None:
        self.open.pop(connection, None)
        self.going.discard(connection)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cuts off the connections whose time is over, again and again while there are any."""
        now = time.monotonic()
        for connection in list(self.open):
            if connection.is_late(now):
                self.cut(connection)
        if len(self.open) > CROWD:
            self._had_crowd = True
        elif self._had_crowd and len(self.open) < CROWD // 4:
            self._had_crowd = False
            _give_memory_back()
        self._sweep = loop.call_later(SWEEP_S, self._look, loop) if self.open else None


def _give_memory_back() -> None:
    """Gives the system the memory of connections that are closed: glibc keeps it else."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


class Listener(socket.socket):
    """A listening socket that asks the table before it accepts a connection."""

    paused_until = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        """One more connection. Raises BlockingIOError where none may come now, and OSError,
        once in PAUSE_S, where the system has no descriptor or no memory for one.
        """
        table = Connection.table
        # after an error asyncio goes on: thousands of times, with a traceback each
        if time.monotonic() < self.paused_until or not table.may_accept():
            raise BlockingIOError
        try:
            accepted = super().accept()
        except OSError as error:
            if error.errno in _LACKS:
                self.paused_until = time.monotonic() + PAUSE_S
                table.cut_longest()
            raise
        table.accepted()
        return accepted


class Connection(H11Protocol):
    """A connection of the server. `ending`: the server ends, and with it every answer that has
    no end.
    """

    ending = asyncio.Event()
    table = Table(MOST)
    _since = 0.0
    _limit: float | None = None
    _untaken = 0

    @property
    def is_logged_in(self) -> bool:
        """True when the last request came from a session of the page, or with a token."""
        return bool(self.scope) and not {"session_of", "grant"}.isdisjoint(self.scope)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=UNTAKEN_BYTES)
        self.table.coming = max(
            self.table.coming - 1, 0
        )  # Windows accepts without the listener
        while len(self.table.open) >= self.table.most:
            self.table.cut_longest()
        self._step()

    def data_received(self, data: bytes) -> None:
        before = self._phase()
        super().data_received(data)
        if self._phase() != before:
            self._step()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._step()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._since = time.monotonic()

    def connection_lost(self, exc: Exception | None) -> None:
        self.table.remove(self)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        self.ending.set()
        super().shutdown()

    def is_late(self, now: float) -> bool:
        """True when the client kept the server waiting for too long. Asked every SWEEP_S."""
        limit = self._limit_s()
        untaken = self.transport.get_write_buffer_size()
        if limit != self._limit or untaken < self._untaken:
            self._since = now
        self._limit = limit
        self._untaken = untaken
        return limit is not None and now - self._since > limit

    def _limit_s(self) -> float | None:
        """The seconds that the client has for its next step; None where it waits for us, or
        uvicorn counts them.
        """
        if self.transport.get_write_buffer_size():
            return ANSWER_S
        if self.conn.their_state is h11.SEND_BODY:
            return BODY_S
        is_answering = self.cycle and not self.cycle.response_complete
        is_idle = self.timeout_keep_alive_task is not None
        return None if is_answering or is_idle else HEAD_S

    def _unsupported_upgrade_warning(self) -> None:
        """Logs nothing: a request for another protocol is answered in this one."""

    def _phase(self) -> tuple[object, ...]:
        """A value that changes when the client begins, or ends, a head or a body."""
        return self.cycle, self.conn.their_state, bool(self.conn.trailing_data[0])

    def _step(self) -> None:
        self._since = time.monotonic()
        self.table.put_last(self)
