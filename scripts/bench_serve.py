"""A team's server: clients at once over HTTP, each saving and searching, while the server is
killed and started again.

Each client is the SDK's own with a token of its own, and a call begins when its turn has come,
whether or not the one before has ended. A call that fails because the server is down is made
again until it is answered, as a program would.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from bench_scale import SIZES
from bench_scale_corpus import built
from bench_speed import rss_anon_mb
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import LATEST_PROTOCOL_VERSION

SAVES, SEARCHES = 5, 15
"""Of each client, in a minute."""
GOAL_MS = 150
RECEIPT = re.compile(r"(?:Saved|Already saved as) (\w{8}) \(")
"""A call that is made again may have been carried out before the server was killed."""
DOWN_S, RETRY_S, PATIENCE_S = 1.0, 0.2, 120.0


@dataclass
class Server:
    """`synaptic serve` on one port, which may be killed and started again."""

    home: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    down: bool = False
    back_s: list[float] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        words = [
            sys.executable,
            "-m",
            "synaptic",
            "--home",
            str(self.home),
            "serve",
            "--port",
            str(self.port),
        ]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, cwd=self.home)

    async def kill(self, token: str) -> None:
        """Kills it with SIGKILL, starts it again after DOWN_S, and returns once it answers a
        search.
        """
        assert self.process
        self.down = True
        self.process.kill()
        self.process.wait()
        await asyncio.sleep(DOWN_S)
        begun = time.perf_counter()
        self.start()
        await answering(self, token)
        self.back_s.append(time.perf_counter() - begun)
        self.down = False


@dataclass
class Seen:
    """What the clients met."""

    searches: list[float] = field(default_factory=list)
    saves: list[float] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    retried: int = 0
    """Calls that were made again because the server was down; they are no part of the times."""


def run_serve(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """One row: what was asked, errors, times, and what was lost."""
    home = scratch / "home"
    if arguments.home:
        home = arguments.home
    else:
        corpus = built(arguments.cache or scratch, arguments.data, SIZES[arguments.size])
        shutil.copytree(corpus.home, home)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Server(home, free.getsockname()[1])
    return [asyncio.run(_measured(server, arguments, scratch))]


async def _measured(
    server: Server, arguments: argparse.Namespace, scratch: Path
) -> dict[str, Any]:
    file = server.home / "tokens.toml"
    tokens = [f"{number:02}-{'x' * 32}" for number in range(arguments.clients)]
    tables = [
        f'[client-{number}]\ntoken = "{token}"\nproject = "web"\n'
        for number, token in enumerate(tokens)
    ]
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600), "w") as out:
        out.write("\n".join(tables))
    asked, seen, seconds = _lines(server.home), Seen(), 60 * arguments.minutes
    server.start()
    try:
        await answering(server, tokens[0])
        until = time.monotonic() + seconds
        clients = [
            asyncio.create_task(
                _client(server, token, seen, asked, random.Random(token), until)
            )
            for token in tokens
        ]
        for _ in range(arguments.kills):
            await asyncio.sleep(seconds / (arguments.kills + 1))
            await server.kill(tokens[0])
        await asyncio.gather(*clients)
        lost = await _lost(server, tokens[0], seen.saved)
        assert server.process
        memory = rss_anon_mb(server.process.pid)
    finally:
        if server.process:
            server.process.terminate()
            server.process.wait()
    return {
        "clients": arguments.clients,
        "minutes": arguments.minutes,
        "searches": len(seen.searches),
        "p50 ms": round(statistics.median(seen.searches)),
        "p95 ms": round(_p95(seen.searches)),
        f"p95 under {GOAL_MS}": "yes" if _p95(seen.searches) < GOAL_MS else "NO",
        "saves": len(seen.saved),
        "save p50 ms": round(statistics.median(seen.saves)),
        "save p95 ms": round(_p95(seen.saves)),
        "errors": len(seen.errors),
        "first error": "; ".join(sorted(set(seen.errors))[:3]),
        "kills": len(server.back_s),
        "answers again after s": ", ".join(f"{seconds:.1f}" for seconds in server.back_s),
        "retried": seen.retried,
        "lost": len(lost),
        "RssAnon MB": round(memory or 0),
    }


async def _client(
    server: Server,
    token: str,
    seen: Seen,
    asked: Sequence[str],
    source: random.Random,
    until: float,
) -> None:
    """Saves and searches in a random order, at the times of an even rate, each call on its own."""
    pause, calls = 60 / (SAVES + SEARCHES), []
    kinds: list[bool] = []
    turn = time.monotonic() + pause * source.random()
    async with bearer(token) as http:
        while turn < until:
            await asyncio.sleep(max(0.0, turn - time.monotonic()))
            kinds = kinds or source.sample(
                [True] * SAVES + [False] * SEARCHES, SAVES + SEARCHES
            )
            words = source.choice(asked).split()
            first = source.randrange(max(1, len(words) - 8))
            said = " ".join(words[first : first + source.randint(3, 8)])
            saved = f"{said} ({source.getrandbits(48):x})" if kinds.pop() else None
            calls.append(asyncio.create_task(_call(server, http, seen, said, saved)))
            turn += pause
        await asyncio.gather(*calls)


async def _call(
    server: Server, http: httpx2.AsyncClient, seen: Seen, asked: str, saved: str | None
) -> None:
    again, begun = False, time.perf_counter()
    while True:
        was_down = server.down
        try:
            if saved:
                failed, text = await called(server, http, "context_save", content=saved)
            else:
                failed, text = await called(server, http, "context_search", query=asked)
            break
        except Exception as error:
            if not (was_down or server.down):
                seen.errors.append(repr(error)[:200])
                return
            again = True
            await asyncio.sleep(RETRY_S)
    took = 1000 * (time.perf_counter() - begun)
    seen.retried += again
    if failed:
        seen.errors.append(text[:200])
    elif saved and (receipt := RECEIPT.match(text)):
        seen.saved.append(receipt[1])
    elif saved:
        seen.errors.append(text[:200])
    if not again:
        (seen.saves if saved else seen.searches).append(took)


@asynccontextmanager
async def bearer(token: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE_S
    ) as http:
        yield http


async def called(
    server: Server, http: httpx2.AsyncClient, tool: str, **arguments: Any
) -> tuple[bool, str]:
    """(whether it is an error, the text) of a tool; the connection is kept, the protocol's
    newest era needs no more.
    """
    async with Client(
        streamable_http_client(server.url, http_client=http), mode=LATEST_PROTOCOL_VERSION
    ) as client:
        answer = await client.call_tool(tool, arguments)
    return answer.is_error, "".join(getattr(block, "text", "") for block in answer.content)


async def answering(server: Server, token: str) -> None:
    """Returns once a search is answered with all that a search has."""
    until = time.monotonic() + PATIENCE_S
    async with bearer(token) as http:
        while True:
            try:
                failed, _text = await called(
                    server, http, "context_search", query="how are the tests run"
                )
                if not failed:
                    return
            except Exception:
                if time.monotonic() > until:
                    raise
            await asyncio.sleep(RETRY_S)


async def _lost(server: Server, token: str, saved: Sequence[str]) -> list[str]:
    """The receipts that the server does not know, or the files do not hold."""
    text = "".join(path.read_text("utf-8") for path in (server.home / "journal").rglob("*.md"))
    lost = [id for id in saved if f"-{id} " not in text]
    async with bearer(token) as http:
        for id in saved:
            failed, _ = await called(server, http, "context_get", ids=[id])
            lost += [id] if failed else []
    return lost


def _lines(home: Path) -> list[str]:
    """Lines of notes of the journal, for questions and for what is saved."""
    files = sorted((home / "journal").rglob("*.md"))
    lines = (
        line
        for file in files[:: max(1, len(files) // 200)]
        for line in file.read_text("utf-8").split("\n")
    )
    return [line for line in lines if len(line) > 40 and not line.startswith(("#", "<!--"))]


def _p95(times: Sequence[float]) -> float:
    return sorted(times)[int(0.95 * len(times))] if times else 0.0
