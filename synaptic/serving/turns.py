"""The order among the calls of one client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """Turns that are taken in the order in which they are asked for, on one event loop.

    A call that writes has its turn alone: it waits until each turn before it has ended. Turns
    of calls that read may overlap. A call whose waiting is cancelled delays nobody.
    """

    def __init__(self) -> None:
        self._gate = asyncio.Lock()  # which lets in whoever came first
        self._reads = 0
        self._unread = asyncio.Event()
        self._unread.set()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        async with self._gate:
            await self._unread.wait()
            yield

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        async with self._gate:
            self._reads += 1
            self._unread.clear()
        try:
            yield
        finally:
            self._reads -= 1
            if not self._reads:
                self._unread.set()
