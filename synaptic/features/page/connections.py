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
"""Limits in seconds. ANSWER_S begins anew whenever the client takes some bytes of the
answer.
"""
UNTAKEN_BYTES = 16_384
"""Bytes of an answer that are buffered for a slow client; the rest is made when it has taken
them.
"""
SWEEP_S = 1.0
"""Seconds between two checks of all connections for expired limits."""
RESERVE = 128
"""File descriptors that are reserved for the index, the journal, the model and the worker
process; a busy server has 15 in use.
"""
FOR_EACH = 2
"""File descriptors for each connection: its own, and one for a file that is sent or for another
connection that is closing.
"""
MOST, LEAST = 1_000, 16
"""The most and the least number of connections, whatever number of descriptors the system
allows. One with an unread answer takes up to 50 KB of memory.
"""
AT_ONCE = 1 / 8
"""The share of all connections that may be opened or closed within a few iterations of the
event loop. A new connection is read in the third iteration: until then it must not be the one
that waited longest.
"""
CROWD = 100
"""After at least this many connections, memory is returned to the system once three quarters of
them are closed, which takes 0.2 s.
"""
PAUSE_S = 1.0
"""Seconds without accepting after the system lacked descriptors or memory for a connection;
asyncio waits as long.
"""
_LACKS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def most_connections() -> int:
    """Returns how many connections this process may have open, by the system's limit of file
    descriptors.
    """
    allowed = -1
    if sys.platform != "win32":  # which has no such limit
        import resource

        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed < 0:
        return MOST
    return min(max((allowed - RESERVE) // FOR_EACH, LEAST), MOST)


class Table:
    """The open connections of the server, ordered by the time of their last progress: opened,
    sent a whole head or body, or received a whole answer.

    `coming` counts accepted connections that are not open yet, `going` those that are cut off
    and not closed yet.
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
        """True if one more connection may be accepted now; if False, ask again in a later
        iteration of the event loop.
        """
        if time.monotonic() > self._came_at + PAUSE_S:
            self.coming = 0  # else one whose begin failed would count for ever
        return len(self.going) + self.coming < self.most * AT_ONCE

    def count_accepted(self) -> None:
        """Counts a new connection; if there are too many, cuts off the one that waited
        longest.
        """
        self.coming += 1
        self._came_at = time.monotonic()
        if len(self.open) + self.coming > self.most:
            self.cut_longest()

    def cut_longest(self) -> None:
        """Cuts off the connection without a login that waited longest; if all are logged in,
        the one of them that waited longest.
        """
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
        """Moves a connection to the end of the order, because it made progress."""
        if connection not in self.going:
            self.open.pop(connection, None)
            self.open[connection] = None
        if self._sweep is None:
            self._sweep = connection.loop.call_later(SWEEP_S, self._look, connection.loop)

    def remove(self, connection: Connection) -> None:
        self.open.pop(connection, None)
        self.going.discard(connection)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cuts off the connections that exceeded their time limit, every SWEEP_S as long as
        there are connections.
        """
        now = time.monotonic()
        for connection in list(self.open):
            if connection.is_late(now):
                self.cut(connection)
        if len(self.open) > CROWD:
            self._had_crowd = True
        elif self._had_crowd and len(self.open) < CROWD // 4:
            self._had_crowd = False
            _return_memory_to_system()
        self._sweep = loop.call_later(SWEEP_S, self._look, loop) if self.open else None


def _return_memory_to_system() -> None:
    """Returns the memory of closed connections to the system; glibc would keep it."""
    gc.collect()
    if sys.platform == "linux":
        with suppress(AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


class Listener(socket.socket):
    """A listening socket that accepts a connection only if the table of connections has
    room.
    """

    paused_until = 0.0

    def accept(self) -> tuple[socket.socket, Any]:
        """Accepts a connection. Raises BlockingIOError if none may come now, and OSError, once
        in PAUSE_S, if the system lacks a descriptor or memory.
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
        table.count_accepted()
        return accepted


class Connection(H11Protocol):
    """One HTTP connection with time limits. `ending` is set when the server ends, and with it
    every endless answer.
    """

    ending = asyncio.Event()
    table = Table(MOST)
    _since = 0.0
    _limit: float | None = None
    _untaken = 0

    @property
    def is_logged_in(self) -> bool:
        """True if the last request came from a session of the page, or with a valid token."""
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
        """True if the client exceeded its time limit. `now` is a time of the event loop in
        seconds.
        """
        limit = self._limit_s()
        untaken = self.transport.get_write_buffer_size()
        if limit != self._limit or untaken < self._untaken:
            self._since = now
        self._limit = limit
        self._untaken = untaken
        return limit is not None and now - self._since > limit

    def _limit_s(self) -> float | None:
        """The seconds within which the client must make progress; None while it waits for the
        server.
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
        """A value that differs whenever the client begins or ends a head or a body."""
        return self.cycle, self.conn.their_state, bool(self.conn.trailing_data[0])

    def _step(self) -> None:
        self._since = time.monotonic()
        self.table.put_last(self)
