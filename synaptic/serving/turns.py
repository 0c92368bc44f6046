"""Keeps the order among the calls of one client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """A queue of the calls of one client, in the order in which they come, on one event loop.

    A call that writes waits until all calls before it have ended, and runs alone. Calls that
    read may overlap. A call that is cancelled while it waits delays no other.
    """

    def __init__(self) -> None:
        self._gate = asyncio.Lock()  # which lets in whoever came first
        self._reads = 0
        self._unread = asyncio.Event()
        self._unread.set()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Waits until all calls before have ended; other calls wait while the context is
        open.
        """
        async with self._gate:
            await self._unread.wait()
            yield

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Waits until all writes before have ended; writes wait while the context is open."""
        async with self._gate:
            self._reads += 1
            self._unread.clear()
        try:
            yield
        finally:
            self._reads -= 1
            if not self._reads:
                self._unread.set()
