"""Times a search, a save and a cold command, and the memory of a server.

With several sizes (`--entries 1000,10000`) it shows how the times grow instead. A journal holds
`--entries` entries of sentences from `--notes`, or from the project's own documents. Their
vectors are random, which costs a search as much as vectors of the model; questions and new
entries are embedded by the model.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from corpus import LAST_DAY, entry_texts, make_journal, queries, sentences
from mcp import Client, StdioServerParameters

from synaptic import (
    Config,
    Filters,
    Workspace,
    find,
    get,
    open_workspace,
    rebuild,
    recent,
    save,
    search,
)
from synaptic.index.embedding import FastEmbedder
from synaptic.models import TOKEN_BITS, Meaning
from synaptic.verbs.brief import brief
from synaptic.verbs.browse import entries_of_days

Row = dict[str, Any]
SYNAPTIC = str(Path(sys.executable).with_name("synaptic"))
SETTLED_S = 2.2
"""A file that is older is trusted and not read again."""
QUERIES, SAVES, ROUNDS, CALLS = 200, 60, 9, 30
NOW = {"SYNAPTIC_NOW": LAST_DAY.replace(hour=23, minute=50).isoformat()}
FILTERS = {
    "no filter": None,
    "a type, 10 %": Filters(types=("decision",)),
    "a month": Filters(since=f"{LAST_DAY:%Y-%m}-01", until=f"{LAST_DAY:%Y-%m-%d}"),
}


class RandomVectors(FastEmbedder):
    """The model's name and questions, with random vectors and tokens for passages."""

    def embed_passage(self, text: str) -> Meaning:
        source = np.random.default_rng(zlib.crc32(text.encode()))
        vector = source.standard_normal(self.dimensions, dtype=np.float32)
        tokens = source.standard_normal((len(text) // 8, TOKEN_BITS), dtype=np.float32)
        return Meaning(vector / np.linalg.norm(vector), tokens)


def run(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
    pool = sentences(arguments.notes)
    cache = arguments.cache or Path(tempfile.gettempdir()) / "synaptic-bench"
    homes = {}
    for entries in arguments.sizes:
        kept = prepared(cache, argparse.Namespace(entries=entries, model=arguments.model), pool)
        homes[entries] = scratch / str(entries)
        shutil.copytree(kept, homes[entries])
    time.sleep(SETTLED_S)
    if len(homes) > 1:
        return growth(homes, pool)
    [home] = homes.values()
    return [
        *in_process(home, pool),
        *asyncio.run(over_stdio(home, pool)),
        *cold_commands(home, pool),
    ]


def prepared(cache: Path, arguments: argparse.Namespace, pool: list[str]) -> Path:
    """A home whose journal holds the entries, and is wholly indexed; made once."""
    kept = cache / f"speed-{arguments.entries}"
    if not (kept / "complete").exists():
        shutil.rmtree(kept, ignore_errors=True)
        make_journal(kept, entry_texts(pool, arguments.entries))
        with opened(kept, RandomVectors(arguments.model, cache=cache)) as workspace:
            rebuild(workspace)
        (kept / "complete").touch()
    return kept


def opened(home: Path, embedder: FastEmbedder | None = None) -> Workspace:
    config = Config(home=home, journal=home / "journal")
    now = LAST_DAY.replace(hour=23, minute=50).astimezone()
    return open_workspace(config, embedder=embedder, clock=lambda: now)


def in_process(home: Path, pool: list[str]) -> list[Row]:
    rows = []
    asked = queries(pool, QUERIES)
    with opened(home) as workspace:
        for text in asked[:10]:
            search(workspace, text)
        for name, filters in FILTERS.items():
            times = [timed(search, workspace, text, filters=filters) for text in asked]
            rows.append(row(f"search, {name}", times))
        for text in entry_texts(pool, SAVES, seed=9):
            save(workspace, text)
        rows.append(
            row("save", [timed(save, workspace, text) for text in entry_texts(pool, SAVES)])
        )
    return rows


def growth(homes: dict[int, Path], pool: list[str]) -> list[Row]:
    """Processor time of calls in one process, medians, at each size, and the exponent with
    which it grows from the first to the last: 0 is no growth, 1 is as the journal.
    """
    medians = {entries: processor_times(home, pool) for entries, home in homes.items()}
    first, *_, last = homes
    rows = []
    for name in medians[first]:
        grown = medians[last][name] / medians[first][name]
        cells = {f"{entries:,}": f"{ms[name]:.1f} ms" for entries, ms in medians.items()}
        exponent = math.log(grown) / math.log(last / first)
        rows.append({"what": name, **cells, "exponent": f"{exponent:.2f}"})
    return rows


def processor_times(home: Path, pool: list[str]) -> dict[str, float]:
    """Milliseconds of processor time of each call, a median, without the first one."""
    asked = queries(pool, CALLS)
    new = [*entry_texts(pool, CALLS, seed=7)]
    day = f"{LAST_DAY:%Y-%m-%d}"
    medians = {}
    with opened(home) as workspace:
        id = recent(workspace, limit=1).entries[0].id
        workspace.embedder.load()
        calls: dict[str, Callable[[int], object]] = {
            "search": lambda number: search(workspace, asked[number]),
            "recent": lambda _: recent(workspace),
            "find": lambda _: find(workspace, filters=FILTERS["a type, 10 %"]),
            "get": lambda _: get(workspace, [id]),
            "day": lambda _: entries_of_days(workspace, day),
            "brief": lambda _: brief(workspace, None),
            "save": lambda number: save(workspace, new[number]),
        }
        for name, call in calls.items():
            times = []
            for number in range(CALLS):
                begun = time.process_time()
                call(number)
                times.append(1000 * (time.process_time() - begun))
            medians[name] = statistics.median(times[1:])
    return medians


async def over_stdio(home: Path, pool: list[str]) -> list[Row]:
    """Times of a warm server, asked by the SDK's client, and its memory."""
    process_id = home / "pid"
    server = StdioServerParameters(
        command="/bin/sh",
        args=["-c", 'echo $$ > "$0"; exec "$@"', str(process_id), SYNAPTIC, "mcp"],
        env=os.environ | NOW | {"SYNAPTIC_HOME": str(home)},
        cwd=home,
    )

    async with Client(server) as client:

        async def call(tool: str, name: str, values: Iterable[str]) -> list[float]:
            times = []
            for value in values:
                begun = time.perf_counter()
                answer = await client.call_tool(tool, {name: value})
                times.append(time.perf_counter() - begun)
                assert not answer.is_error, answer
            return times

        await call("context_search", "query", queries(pool, 20, seed=5))
        searches = await call("context_search", "query", queries(pool, QUERIES))
        status = Path(f"/proc/{process_id.read_text().strip()}/status")
        memory = re.search(r"RssAnon:\s+(\d+) kB", status.read_text())
        saves = await call("context_save", "content", entry_texts(pool, SAVES, seed=8))
    memory_mb = int(memory[1]) / 1024 if memory else 0
    return [
        row("context_search over stdio", searches),
        row("context_save over stdio", saves),
        {"what": "memory of that server (RssAnon)", "MB": f"{memory_mb:.0f}"},
    ]


def cold_commands(home: Path, pool: list[str]) -> list[Row]:
    with opened(home) as workspace:
        id = recent(workspace, limit=1).entries[0].id
    environ = os.environ | NOW | {"SYNAPTIC_HOME": str(home)}
    times: dict[str, list[float]] = {"search": [], "get": [], "recent": [], "save": []}
    for text in queries(pool, ROUNDS):
        words = {"search": [text], "get": [id], "recent": [], "save": [text]}
        for name, more in words.items():
            command = [SYNAPTIC, name, *more]
            times[name].append(
                timed(subprocess.run, command, env=environ, check=True, capture_output=True)
            )
    return [row(f"synaptic {name}, cold", seconds) for name, seconds in times.items()]


def timed(action: Callable[..., object], *values: Any, **options: Any) -> float:
    """Seconds of one call."""
    begun = time.perf_counter()
    action(*values, **options)
    return time.perf_counter() - begun


def row(what: str, seconds: list[float]) -> Row:
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {"what": what, "p50": f"{1000 * cuts[9]:.1f} ms", "p95": f"{1000 * cuts[18]:.1f} ms"}
