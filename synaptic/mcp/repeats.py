"""Keeps the answers to calls that write, so that a call sent again with the same
Idempotency-Key changes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InvalidArgument

if TYPE_CHECKING:
    from mcp.types import CallToolResult

KEPT_S = 600.0
"""Seconds for which an answer is kept."""
MOST_KEPT = 1_000
MOST_KEY_CHARS = 200


class KeptCall(NamedTuple):
    """A call and the task that makes its answer. `begun` is in seconds of the monotonic
    clock.
    """

    begun: float
    call: str
    answer: asyncio.Task[CallToolResult]


class Repeats:
    """The answers of the last `kept_s` seconds, about MOST_KEPT at most, for one event loop."""

    def __init__(self, kept_s: float = KEPT_S) -> None:
        self._kept_s = kept_s
        self._made: dict[tuple[str, str], KeptCall] = {}

    async def answer_once(
        self,
        name: str,
        key: str,
        call: str,
        make: Callable[[], Coroutine[Any, Any, CallToolResult]],
    ) -> CallToolResult:
        """Returns the answer to the call with this key of the token `name`: the kept one, else
        a new one from `make`.

        `make` runs to its end even if the client disconnects. An answer that failed is not
        kept, because nothing was saved. Raises InvalidArgument for a key that was used with
        another `call`, and for a key that is too long.
        """
        if len(key) > MOST_KEY_CHARS:
            raise InvalidArgument(
                f"The header Idempotency-Key has {len(key):,} characters.",
                valid=(f"1 to {MOST_KEY_CHARS} characters",),
            )
        self._drop_old_answers()
        made = self._made.get((name, key))
        if made is None:
            made = KeptCall(time.monotonic(), call, asyncio.create_task(make()))
            self._made[name, key] = made
        elif made.call != call:
            raise InvalidArgument(
                "This Idempotency-Key was used with another call, so nothing was saved.",
                hint="Give each call a key of its own.",
            )
        return await asyncio.shield(made.answer)

    def _drop_old_answers(self) -> None:
        since = time.monotonic() - self._kept_s
        for at, made in list(self._made.items()):
            if not made.answer.done():
                continue
            is_many = len(self._made) >= MOST_KEPT
            failed = made.answer.cancelled() or made.answer.exception() is not None
            if is_many or made.begun < since or failed or made.answer.result().is_error:
                del self._made[at]
