"""Times searches and saves of 16 clients of one server over HTTP, and its memory.

An open loop: requests arrive by a fixed seed, searches and saves 3 : 1, whether or not earlier ones
are answered, and a time counts from the planned arrival. There are 200 different questions.
`--against DIR` measures the program of another checkout beside this one, in turns. The journal is
that of `speed`: vectors of passages are composed; the model embeds questions and new entries.
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
from pathlib import Path
from typing import Any

from corpus import ROOT, entry_texts, queries, sentences
from speed import NOW, QUERIES, Row

CLIENTS = 16
TOKEN = "crowd-" + "x" * 32
SEARCHES_OF = 4
"""Of so many requests all but one are searches."""
WARM = 40
RETRY_S = 0.05
"""Until a client whose connection was closed tries again."""


def run(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
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
            server = Server(home, checkout)
            try:
                crowd = Crowd([server], pool)
                measured = asyncio.run(crowd.measure(rate, arguments))
                said = {"program": name, "a second": rate} | measured
                rows.append(said | cost(server.process.pid))
            finally:
                server.kill()
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


class Server:
    """A server of a checkout's program, which can be killed and started again."""

    def __init__(self, home: Path, checkout: Path, *words: str, **environ: str) -> None:
        home.mkdir(exist_ok=True)
        tokens = home / "tokens.toml"
        tokens.write_text(f'[crowd]\ntoken = "{TOKEN}"\n')
        tokens.chmod(0o600)
        self.home = home
        self.port = 0
        self._words = words
        self._environ = os.environ | NOW | {"PYTHONPATH": str(checkout)} | environ
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "synaptic", "--home", str(self.home), "serve"]
        self.process = subprocess.Popen(
            [*command, *self._words, "--port", str(self.port)],
            env=self._environ,
            cwd=self.home,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        at = re.search(r":(\d+)/", self.process.stdout.readline())
        assert at
        self.port = int(at[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


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
        servers: list[Server],
        pool: list[str],
        *,
        clients: int = CLIENTS,
        searches_of: int = SEARCHES_OF,
    ) -> None:
        self._servers = servers
        self._clients = clients
        self._saves = 1 / searches_of if searches_of else 0
        self._asked = queries(pool, QUERIES)
        self._said = list(entry_texts(pool, 5_000, seed=3))
        self._source = random.Random(7)
        self._failed = 0
        self._saved: set[str] = set()
        self._connections: dict[int, Any] = {}

    async def measure(self, rate: float, arguments: argparse.Namespace) -> Row:
        seconds = arguments.seconds
        for number in range(WARM):
            is_save = self._saves > 0 and number % 8 == 7
            await self._call(number % self._clients, number, is_save)
        times: dict[bool, list[float]] = {False: [], True: []}
        plan = []
        at = 0.0
        while at < seconds:
            at += self._source.expovariate(rate)
            plan.append((at, self._source.random() < self._saves))
        begun = time.perf_counter()
        shares: list[list[tuple[int, float, bool]]] = [[] for _ in range(self._clients)]
        for number, (at, is_save) in enumerate(plan):
            shares[number % self._clients].append((number, at, is_save))

        async def client(number: int) -> None:
            for index, at, is_save in shares[number]:
                await asyncio.sleep(max(0, begun + at - time.perf_counter()))
                await self._call(number, index + WARM, is_save)
                times[is_save].append(time.perf_counter() - begun - at)

        others = [asyncio.create_task(self._kills(arguments.kills, seconds))]
        if arguments.upkeep:
            others.append(asyncio.create_task(self._reviews()))
        await asyncio.gather(*map(client, range(self._clients)))
        took = time.perf_counter() - begun
        for other in others:
            other.cancel()
        for _, writing in self._connections.values():
            writing.close()
        row: Row = {"answered": f"{len(plan) / took:.1f}/s", "failed": self._failed}
        names = {False: "search"}
        if self._saves:
            names[True] = "save"
            row |= {"saved": len(self._saved), "lost": self._lost()}
        for is_save, name in names.items():
            cuts = statistics.quantiles(times[is_save], n=20, method="inclusive")
            row |= {
                f"{name} p50": f"{1000 * cuts[9]:.0f}",
                f"{name} p95": f"{1000 * cuts[18]:.0f}",
            }
        return row

    async def _call(self, client: int, number: int, is_save: bool) -> None:
        if is_save:
            text = self._said[number % len(self._said)] + f" {number}"
            named = {"name": "context_save", "arguments": {"content": text}}
        else:
            query = self._asked[number % QUERIES]
            named = {"name": "context_search", "arguments": {"query": query}}
        answer = await self._post(client, "tools/call", named)
        told = answer["result"]["content"][0]["text"]
        if answer["result"].get("isError"):
            self._failed += 1
        elif is_save:
            self._saved |= set(re.findall(r"\b[0-9a-z]{8}(?= \()", told))

    async def _post(self, client: int, method: str, params: Row) -> Any:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        body = json.dumps(message).encode()
        port = self._servers[client % len(self._servers)].port
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
            f"Authorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: 2025-06-18\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        while True:  # a server closes what is idle, and may be killed
            try:
                if client not in self._connections:
                    opened = await asyncio.open_connection("127.0.0.1", port)
                    self._connections[client] = opened
                reading, writing = self._connections[client]
                writing.write(head.encode() + body)
                answer = await reading.readuntil(b"\r\n\r\n")
                length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
                assert length, answer
                return json.loads(await reading.readexactly(int(length[1])))
            except (OSError, asyncio.IncompleteReadError):
                self._connections.pop(client, None)
                await asyncio.sleep(RETRY_S)

    def _lost(self) -> int:
        """The number of acknowledged entries that are not in the journal."""
        there = set[str]()
        for file in (self._servers[0].home / "journal").glob("*.md"):
            there |= set(re.findall(r"syn:\d{8}-([0-9a-z]{8})", file.read_text()))
        return len(self._saved - there)

    async def _kills(self, kills: int, seconds: float) -> None:
        """Kills the first server so often, evenly spread, and starts it again."""
        for _ in range(kills):
            await asyncio.sleep(seconds / (kills + 1))
            self._servers[0].kill()
            await asyncio.to_thread(self._servers[0].start)

    async def _reviews(self) -> None:
        """One review after another, as an agent's prompt."""
        while True:
            await self._post(self._clients, "prompts/get", {"name": "review"})
