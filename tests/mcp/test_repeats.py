"""Answers to repeated calls: a call with a known key is not made again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult, TextContent

from synaptic.errors import InvalidArgument
from synaptic.mcp.repeats import MOST_KEPT, Repeats


class Calls:
    """Calls whose answers wait until they are `let` go; `made` counts them."""

    def __init__(self) -> None:
        self.made = 0
        self.let = asyncio.Event()

    async def make(self) -> CallToolResult:
        self.made += 1
        number = self.made
        await self.let.wait()
        return CallToolResult(content=[TextContent(type="text", text=f"answer {number}")])


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    anyio.run(story)


def test_a_call_that_is_under_way_or_was_answered_is_not_made_again() -> None:
    async def story() -> None:
        repeats, calls = Repeats(), Calls()
        asked = [
            asyncio.ensure_future(repeats.answer_once("anna", "k", "c", calls.make))
            for _ in "ab"
        ]
        await asyncio.sleep(0.01)
        calls.let.set()
        first, second = await asyncio.gather(*asked)
        third = await repeats.answer_once("anna", "k", "c", calls.make)
        assert first is second is third and calls.made == 1
        await repeats.answer_once("anna", "other", "c", calls.make)
        await repeats.answer_once("ben", "k", "c", calls.make)  # a key is of one token
        assert calls.made == 3

    run(story)


def test_a_call_is_made_to_its_end_also_where_its_client_goes() -> None:
    async def story() -> None:
        repeats, calls = Repeats(), Calls()
        gone = asyncio.ensure_future(repeats.answer_once("anna", "k", "c", calls.make))
        await asyncio.sleep(0.01)
        gone.cancel()
        await asyncio.wait([gone])
        calls.let.set()
        [block] = (await repeats.answer_once("anna", "k", "c", calls.make)).content
        assert isinstance(block, TextContent) and block.text == "answer 1"
        assert gone.cancelled() and calls.made == 1

    run(story)


def test_a_call_that_failed_may_be_made_again() -> None:
    async def story() -> None:
        repeats, tried = Repeats(), list[int]()

        async def fail() -> CallToolResult:
            tried.append(1)
            return CallToolResult(content=[], is_error=True)

        for _ in range(2):
            assert (await repeats.answer_once("anna", "k", "c", fail)).is_error
        assert len(tried) == 2

    run(story)


def test_a_key_of_another_call_and_one_that_is_too_long_are_refused() -> None:
    async def story() -> None:
        repeats, calls = Repeats(), Calls()
        calls.let.set()
        await repeats.answer_once("anna", "k", "c", calls.make)
        with pytest.raises(
            InvalidArgument, match="used with another call, so nothing was saved"
        ):
            await repeats.answer_once("anna", "k", "d", calls.make)
        with pytest.raises(InvalidArgument, match="has 201 characters"):
            await repeats.answer_once("anna", "k" * 201, "c", calls.make)
        assert calls.made == 1

    run(story)


def test_answers_are_kept_for_a_time_and_up_to_a_number() -> None:
    async def story() -> None:
        calls = Calls()
        calls.let.set()
        short = Repeats(kept_s=0)
        for _ in range(2):
            await short.answer_once("anna", "k", "c", calls.make)
            await asyncio.sleep(0.001)
        assert calls.made == 2
        repeats = Repeats()
        for number in range(MOST_KEPT + 1):
            await repeats.answer_once("anna", str(number), "c", calls.make)
        made = calls.made
        await repeats.answer_once("anna", str(MOST_KEPT), "c", calls.make)
        assert calls.made == made
        await repeats.answer_once("anna", "0", "c", calls.make)  # the oldest made room
        assert calls.made == made + 1

    run(story)
