"""Times searches and saves of 16 clients of one server over HTTP, and its memory.

An open loop: requests arrive by a fixed seed, searches and saves 3 : 1, whether or not earlier ones
are answered, and a time counts from the planned arrival. There are 200 different questions.
`--against DIR` measures the program of another checkout beside this one, in turns. The journal is
that of `speed`: vectors of passages are random; the model embeds questions and new entries.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corpus import ROOT, entry_texts, queries, sentences
from speed import NOW, QUERIES, Row

CLIENTS = 16
TOKEN = "crowd-" + "x" * 32
SEARCHES_OF = 4
"""Of so many requests all but one are searches."""
WARM = 40


def run(
    arguments: argparse.Namespace,
    scratch: Path,
) -> list[Row]:
    pool = sentences(arguments.notes)
    cache = arguments.cache or Path(tempfile.gettempdir()) / "synaptic-bench"
    programs = {"this": ROOT}
    if arguments.against:
        programs = {"the other": arguments.against, "this": ROOT}
    rows = []
    for rate in arguments.rates:
        for name, checkout in programs.items():
            home = scratch / "home"
            shutil.copytree(prepared_by(checkout, cache, arguments), home)
            with server(home, checkout) as (port, process):
                crowd = Crowd([port], pool)
                measured = asyncio.run(crowd.measure(rate, arguments.seconds, arguments.upkeep))
                said = {"program": name, "a second": rate} | measured
                rows.append(said | cost(process))
            shutil.rmtree(home)
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def prepared_by(checkout: Path, cache: Path, arguments: argparse.Namespace) -> Path:
    """The home of `speed`, indexed by this checkout: another may have another schema."""
    schema = (checkout / "synaptic" / "index" / "schema.sql").read_bytes()
    own = cache / f"{zlib.crc32(schema):08x}"
    kept = own / f"speed-{arguments.entries}"
    if not kept.exists():
        made = f"argparse.Namespace(entries={arguments.entries}, model={arguments.model!r})"
        code = "import argparse, pathlib, speed; speed.prepared("
        code += f"pathlib.Path({str(own)!r}), {made}, speed.sentences(None))"
        paths = f"{checkout}{os.pathsep}{Path(__file__).parent}"
        environ = os.environ | {"PYTHONPATH": paths}
        subprocess.run([sys.executable, "-c", code], env=environ, check=True)
    return kept


@contextmanager
def server(
    home: Path,
    checkout: Path,
    *words: str,
    **environ: str,
) -> Iterator[tuple[int, int]]:
    """The port and the process of a server of this checkout's program."""
    tokens = home / "tokens.toml"
    tokens.write_text(f'[crowd]\ntoken = "{TOKEN}"\n')
    tokens.chmod(0o600)
    command = [sys.executable, "-m", "synaptic", "--home", str(home), "serve", *words]
    if "--port" not in words:
        command += ["--port", "0"]
    started = subprocess.Popen(
        command,
        env=os.environ | NOW | {"PYTHONPATH": str(checkout)} | environ,
        cwd=home,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout
    try:
        at = re.search(r":(\d+)/", started.stdout.readline())
        assert at
        yield int(at[1]), started.pid
    finally:
        started.kill()
        started.wait()


def cost(process: int) -> Row:
    """The memory of a process, and the time of processors that it took, of Linux's /proc."""
    if sys.platform == "win32":
        raise SystemExit("This measures on Linux alone.")
    status = Path(f"/proc/{process}/status").read_text()
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    seconds = sum(map(int, times)) / os.sysconf("SC_CLK_TCK")
    memory = re.search(r"RssAnon:\s+(\d+) kB", status)
    return {"cpu s": f"{seconds:.1f}", "MB": int(memory[1]) // 1024 if memory else 0}


class Crowd:
    """Clients, each with one connection and one request at a time, on servers in turns. Of
    `searches_of` requests one is a save; of 0 none.
    """

    def __init__(
        self,
        ports: list[int],
        pool: list[str],
        *,
        clients: int = CLIENTS,
        searches_of: int = SEARCHES_OF,
    ) -> None:
        self._ports = ports
        self._clients = clients
        self._saves = 1 / searches_of if searches_of else 0
        self._asked = queries(pool, QUERIES)
        self._said = list(entry_texts(pool, 5_000, seed=3))
        self._source = random.Random(7)
        self._failed = 0

    async def measure(self, rate: float, seconds: float, beside: bool) -> Row:
        connections = [await self._connected(number) for number in range(self._clients)]
        for number in range(WARM):
            is_save = self._saves > 0 and number % 8 == 7
            await self._call(connections[number % self._clients], number, is_save)
        times: dict[bool, list[float]] = {False: [], True: []}
        plan = []
        at = 0.0
        while at < seconds:
            at += self._source.expovariate(rate)
            plan.append((at, self._source.random() < self._saves))
        begun = time.perf_counter()
        shares: list[list[tuple[int, float, bool]]] = [[] for _ in connections]
        for number, (at, is_save) in enumerate(plan):
            shares[number % self._clients].append((number, at, is_save))

        async def client(number: int) -> None:
            for index, at, is_save in shares[number]:
                await asyncio.sleep(max(0, begun + at - time.perf_counter()))
                try:
                    await self._call(connections[number], index + WARM, is_save)
                except (asyncio.IncompleteReadError, ConnectionError):
                    if is_save:
                        raise
                    connections[number] = await self._connected(number)  # it had been idle
                    await self._call(connections[number], index + WARM, is_save)
                times[is_save].append(time.perf_counter() - begun - at)

        reviews = asyncio.create_task(self._reviews()) if beside else None
        await asyncio.gather(*map(client, range(self._clients)))
        took = time.perf_counter() - begun
        if reviews:
            reviews.cancel()
        for _, writing in connections:
            writing.close()
        row: Row = {"answered": f"{len(plan) / took:.1f}/s", "failed": self._failed}
        for is_save, name in ((False, "search"), (True, "save")):
            if not times[is_save]:
                continue
            cuts = statistics.quantiles(times[is_save], n=20, method="inclusive")
            row |= {
                f"{name} p50": f"{1000 * cuts[9]:.0f}",
                f"{name} p95": f"{1000 * cuts[18]:.0f}",
            }
        return row

    async def _connected(self, number: int) -> Any:
        port = self._ports[number % len(self._ports)]
        return await asyncio.open_connection("127.0.0.1", port)

    async def _call(self, connection: Any, number: int, is_save: bool) -> None:
        if is_save:
            text = self._said[number % len(self._said)] + f" {number}"
            named = {"name": "context_save", "arguments": {"content": text}}
        else:
            query = self._asked[number % QUERIES]
            named = {"name": "context_search", "arguments": {"query": query}}
        answer = await self._post(connection, "tools/call", named)
        if answer["result"].get("isError"):
            self._failed += 1

    async def _post(self, connection: Any, method: str, params: Row) -> Any:
        reading, writing = connection
        port = writing.get_extra_info("peername")[1]
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: 2025-06-18\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writing.write(head.encode() + body)
        answer = await reading.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        assert length, answer
        return json.loads(await reading.readexactly(int(length[1])))

    async def _reviews(self) -> None:
        """One review after another, as an agent's prompt."""
        connection = await self._connected(0)
        while True:
            await self._post(connection, "prompts/get", {"name": "review"})
