"""Speed: a warm MCP server over 10,000 entries, its searches in pieces, and a rebuild, each
beside its goal.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench_corpus import NOW, SETTLED_S, built_home, entry_texts, queries, sentences
from bench_ratios import ratios
from bench_start import INITIALIZE, SYNAPTIC
from mcp import Client, StdioServerParameters

from synaptic import Config, Filters, Workspace, open_workspace, rebuild, search
from synaptic.config import DEFAULT_MODEL, make_clock
from synaptic.index.embedding import FastEmbedder
from synaptic.language.query import parse_query
from synaptic.models import Vector
from synaptic.search.evidence import Evidence, Query, Request
from synaptic.surfaces.mcp.answers import ANSWERS, Call
from synaptic.workspace.embed import in_parallel, processors
from synaptic.workspace.sync import sync

Row = dict[str, Any]

MANY, FEW = 10_000, 1_000
QUERIES, SAVES, ROUNDS, LIMIT = 200, 60, 7, 20


def run_speed(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
    cache = arguments.cache or Path(tempfile.gettempdir()) / "synaptic-bench"
    rows: list[Row] = []
    for part in arguments.parts or PARTS:
        count = FEW if part == "rebuild" else MANY
        home = scratch / part
        shutil.copytree(built_home(cache, arguments.notes, count), home)
        time.sleep(SETTLED_S)
        print(f"  {part}", file=sys.stderr)
        rows += PARTS[part](home, sentences(arguments.notes))
    return rows


# -- a warm server, seen by a real client
# -----------------------------------------------------------------


def _mcp(home: Path, pool: Sequence[str]) -> list[Row]:
    rows = asyncio.run(_session(home, pool))
    return [
        *rows,
        _latency(
            "context_search, the same bytes to bytes, without the client's checks",
            _raw(home, pool),
            "",
        ),
    ]


async def _session(home: Path, pool: Sequence[str]) -> list[Row]:
    pid_file = home / "pid"
    server = StdioServerParameters(
        command="/bin/sh",
        args=["-c", 'echo $$ > "$0"; exec "$@"', str(pid_file), str(SYNAPTIC), "mcp"],
        env=os.environ | NOW | {"SYNAPTIC_HOME": str(home)},
        cwd=home,
    )

    async def timed(
        client: Client, tool: str, argument: str, values: Iterable[str]
    ) -> list[float]:
        seconds = []
        for value in values:
            begun = time.perf_counter()
            answer = await client.call_tool(tool, {argument: value})
            seconds.append(time.perf_counter() - begun)
            assert not answer.is_error, answer
        return seconds

    async with Client(server) as client:
        while True:
            first = await client.call_tool(
                "context_search", {"query": pool[0], "format": "json"}
            )
            if (
                json.loads(
                    "".join(block.text for block in first.content if block.type == "text")
                )["mode"]
                == "hybrid"
            ):
                break
            await asyncio.sleep(0.2)
        memory = rss_anon_mb(int(pid_file.read_text()))
        asked = queries(list(pool), QUERIES)
        await timed(client, "context_search", "query", asked[:10])
        searching = await timed(client, "context_search", "query", asked)
        saving = await timed(
            client, "context_save", "content", entry_texts(list(pool), SAVES, seed=9)
        )
        with _workspace(home) as workspace:
            pending = workspace.index.counts().pending_passages
    what = f"{MANY:,} entries, warm, over stdio with a client"
    goal = "p50 under 30 ms, embedded and fsynced"
    return [
        _latency(f"context_search, {what}", searching, "p50 under 25 ms, p95 under 60 ms"),
        _latency(
            f"context_save, {what}; {SAVES} on one day, {pending} not embedded", saving, goal
        ),
        {
            "what": "RssAnon of that server after its first search",
            "figure": "unknown here" if memory is None else f"{memory:.0f} MB",
            "goal": "under 220 MB",
        },
    ]


def _raw(home: Path, pool: Sequence[str]) -> list[float]:
    """Seconds of each search from the request's line to the answer's line; nobody parses or
    checks it.
    """
    with asking_server(home, NOW) as (asked, _):
        while b'"hybrid","strategy"' not in asked(pool[0]).replace(b" ", b""):
            time.sleep(0.2)
        return [_seconds(partial(asked, text)) for text in queries(list(pool), QUERIES)]


@contextmanager
def asking_server(
    home: Path, settings: dict[str, str]
) -> Iterator[tuple[Callable[[str], bytes], int]]:
    """What asks a fresh server and returns the line it answers, and that server's process id.
    An error ends it.
    """
    environ = os.environ | settings | {"SYNAPTIC_HOME": str(home)}
    server = subprocess.Popen(
        [str(SYNAPTIC), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environ,
        cwd=home,
    )
    assert server.stdin and server.stdout

    def send(message: Row) -> None:
        assert server.stdin
        server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()

    def asked(text: str) -> bytes:
        assert server.stdout
        call = {"name": "context_search", "arguments": {"query": text}}
        send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
        answer = server.stdout.readline()
        assert (
            answer.startswith(b'{"jsonrpc":"2.0","id":2,"result":')
            and b'"isError":true' not in answer
        ), answer
        return answer

    send(INITIALIZE)
    server.stdout.readline()
    send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    try:
        yield asked, server.pid
    finally:
        server.kill()
        server.wait()


def rss_anon_mb(pid: int) -> float | None:
    """Anonymous memory of a process; None where the system does not say."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else None


# -- the same searches in this process, in pieces
# ---------------------------------------------------------


def _list(ws: Workspace, query: Query) -> object:
    """The candidates of one list, fetched as a search fetches them."""
    asked = Request(parsed=parse_query("", Filters(), now=ws.clock()), now=ws.clock())
    return Evidence(ws, asked).candidates(query, LIMIT)


def _stages(home: Path, pool: Sequence[str]) -> list[Row]:
    asked = queries(list(pool), QUERIES)
    with _workspace(home) as ws:
        search(ws, asked[0])
        vectors = {text: ws.embedder.embed_query(text) for text in asked}
        terms = {text: parse_query(text, Filters(), now=ws.clock()).terms for text in asked}
        stages: dict[str, Callable[[str], object]] = {
            "sync": lambda _: sync(ws),
            "embedding the query": ws.embedder.embed_query,
            "lexical list": lambda text: _list(ws, Query(terms[text], None, (), Filters())),
            "semantic list": lambda text: _list(ws, Query((), vectors[text], (), Filters())),
            "hybrid search, whole": lambda text: search(ws, text, strategy="hybrid"),
            "search and its answer as Markdown and JSON": lambda text: ANSWERS[
                "context_search"
            ](ws, Call({"query": text})),
        }
        seconds: dict[str, list[float]] = {name: [] for name in stages}
        for text in asked:  # all stages of one query after another: noise meets them alike
            for name, stage in stages.items():
                seconds[name].append(_seconds(partial(stage, text)))
    *parts, whole, _ = seconds.values()
    seconds["rank, read and cut the winners (the rest)"] = [
        total - sum(pieces) for total, *pieces in zip(whole, *parts, strict=True)
    ]
    return [_latency(f"in process: {name}", values, "") for name, values in seconds.items()]


def _workspace(home: Path, embedder: FastEmbedder | None = None) -> Workspace:
    return open_workspace(
        Config(home=home, journal=home / "journal"), embedder=embedder, clock=make_clock(NOW)
    )


def _seconds(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


# -- rebuild
# ----------------------------------------------------------------------------------------------


class Listener(FastEmbedder):
    """The shipped model, which remembers the passages it was given."""

    def __init__(self, cache: Path) -> None:
        super().__init__(DEFAULT_MODEL, cache=cache)
        self.texts: list[str] = []

    def embed_passage(self, text: str) -> Vector:
        self.texts.append(text)
        return super().embed_passage(text)


def _rebuild(home: Path, _: Sequence[str]) -> list[Row]:
    """A fresh rebuild and the model alone on the same texts, on one processor and on all, in
    turns; the best.
    """
    listener = Listener(home / "models")
    with _workspace(home, listener) as workspace:
        rebuild(workspace, fresh=True)
    model = FastEmbedder(DEFAULT_MODEL, cache=home / "models")
    model.load()

    def alone() -> None:
        deque(in_parallel(model.embed_passage, listener.texts, processors()), maxlen=0)

    def rebuilt() -> None:
        with _workspace(home, model) as workspace:
            assert rebuild(workspace, fresh=True).embedded == len(listener.texts)

    every = processors()
    best: dict[tuple[str, int], tuple[float, float]] = {}
    for _round in range(ROUNDS // 2):
        for count in dict.fromkeys((1, every)):
            with _on_processors(count):
                for name, action in (("model", alone), ("rebuild", rebuilt)):
                    wall, cpu = best.get((name, count), (float("inf"), float("inf")))
                    begun, cpu_begun = time.perf_counter(), time.process_time()
                    action()
                    spent = time.perf_counter() - begun, time.process_time() - cpu_begun
                    best[name, count] = min(wall, spent[0]), min(cpu, spent[1])
    thousand = len(listener.texts) / 1000
    rows: list[Row] = []
    for (name, count), (wall, cpu) in best.items():
        what = (
            f"{'the model alone' if name == 'model' else 'rebuild --fresh'}, "
            f"{len(listener.texts):,} passages"
        )
        figure = f"{wall / thousand:.2f} s, {cpu / thousand:.2f} s of processor per 1,000"
        rows.append(
            {"what": f"{what}, {count} of {every} processors", "figure": figure, "goal": ""}
        )
    over = max(best["rebuild", count][1] / best["model", count][1] for count in (1, every))
    rows.append(
        {
            "what": "rebuild over the model alone, processor time",
            "figure": f"{over:.2f} times",
            "goal": "at most 1.1",
        }
    )
    if every > 1:
        faster = best["rebuild", 1][0] / best["rebuild", every][0]
        what = f"rebuild on {every} processors, so many times as fast as on one"
        rows.append(
            {
                "what": what,
                "figure": f"{faster:.2f} times",
                "goal": "1.8 times with two, none of them busy",
            }
        )
    return rows


@contextmanager
def _on_processors(count: int) -> Iterator[None]:
    """This thread, and those it begins, keep to so many processors; to all where the system
    cannot be told.
    """
    if sys.platform != "linux":
        yield
        return
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(every)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def _ratios(home: Path, pool: Sequence[str]) -> list[Row]:
    with _workspace(home) as workspace:
        return ratios(
            workspace, [f"what about {text}?" for text in queries(list(pool), QUERIES)]
        )


PARTS: dict[str, Callable[[Path, Sequence[str]], list[Row]]] = {
    "mcp": _mcp,
    "stages": _stages,
    "rebuild": _rebuild,
    "ratios": _ratios,
}


def _latency(what: str, seconds: Sequence[float], goal: str) -> Row:
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {
        "what": what,
        "p50": f"{1000 * cuts[9]:.1f} ms",
        "p95": f"{1000 * cuts[18]:.1f} ms",
        "goal": goal,
    }
