"""Times a search, a save and a cold command, and the memory of a server.

With several sizes (`--entries 1000,10000`) it shows how what a call costs grows instead, beside
FTS5 alone. A
journal holds `--entries` entries of sentences from `--notes`, or from the project's own
documents. The vector of a passage is put together of those of its sentences and some noise;
questions and new entries are embedded by the model.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import multiprocessing
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
from concurrent.futures import ProcessPoolExecutor
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
from synaptic.language.query import search_terms
from synaptic.language.words import fts5_expression
from synaptic.models import Meaning
from synaptic.search.evidence import DEPTH
from synaptic.verbs.brief import brief
from synaptic.verbs.day_lists import entries_of_days
from synaptic.workspace.sync import in_step

Row = dict[str, Any]
SYNAPTIC = str(Path(sys.executable).with_name("synaptic"))
SETTLED_S = 2.2
"""A file that is older is trusted and not read again."""
QUERIES, SAVES, ROUNDS, CALLS = 200, 60, 9, 30
NOISE = 0.35
"""How long the noise in the vector of a passage is, of a unit vector."""
BUILT = "built.json"
"""In a kept journal: what its index cost, once it is whole."""
NOW = {"SYNAPTIC_NOW": LAST_DAY.replace(hour=23, minute=50).isoformat()}
FILTERS = {
    "no filter": None,
    "a type, 10 %": Filters(types=("decision",)),
    "a month": Filters(since=f"{LAST_DAY:%Y-%m}-01", until=f"{LAST_DAY:%Y-%m-%d}"),
}


class ComposedVectors(FastEmbedder):
    """The model, which reads each sentence of `pool` once, and puts passages together."""

    def __init__(self, model: str, cache: Path, pool: list[str]) -> None:
        super().__init__(model, cache=cache)
        self._starts: dict[tuple[str, ...], list[list[str]]] = {}
        for sentence in pool:
            words = sentence.split()
            self._starts.setdefault(tuple(words[:3]), []).append(words)
        self._read: dict[int, Meaning] = {}

    def embed_passage(self, text: str) -> Meaning:
        words = text.split()
        parts = []
        at = 0
        while at < len(words):
            for sentence in self._starts.get(tuple(words[at : at + 3]), ()):
                if words[at : at + len(sentence)] == sentence:
                    parts.append(self._meaning_of(sentence))
                    at += len(sentence) - 1
                    break
            at += 1
        if not parts:
            return super().embed_passage(text)
        noise = np.random.default_rng(zlib.crc32(text.encode()))
        vector = np.sum([part.vector for part in parts], axis=0)
        vector /= np.linalg.norm(vector)
        length = NOISE / self.dimensions**0.5
        vector += length * noise.standard_normal(self.dimensions, dtype=np.float32)
        tokens = [part.tokens for part in parts if part.tokens is not None]
        return Meaning(vector / np.linalg.norm(vector), np.concatenate(tokens))

    def _meaning_of(self, sentence: list[str]) -> Meaning:
        if id(sentence) not in self._read:
            self._read[id(sentence)] = super().embed_passage(" ".join(sentence))
        return self._read[id(sentence)]


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
    if not (kept / BUILT).exists():
        shutil.rmtree(kept, ignore_errors=True)
        make_journal(kept, entry_texts(pool, arguments.entries))
        alone = multiprocessing.get_context("spawn")  # for a memory of its own
        with ProcessPoolExecutor(1, mp_context=alone) as process:
            built = process.submit(build, kept, cache, arguments.model, pool).result()
        (kept / BUILT).write_text(json.dumps(built))
    return kept


def build(home: Path, cache: Path, model: str, pool: list[str]) -> Row:
    """Indexes a journal; seconds of processor time, and MB."""
    begun = time.process_time()
    with opened(home, ComposedVectors(model, cache, pool)) as workspace:
        rebuild(workspace)
    size = sum(file.stat().st_size for file in (home / ".state").glob("index*"))
    return {
        "rebuild, s": round(time.process_time() - begun, 1),
        "its memory at most, MB": peak_memory(),
        "index, MB": size // 2**20,
    }


def peak_memory() -> int:
    """The most memory that this process had so far, in MB; -1 on Windows, which does not say."""
    if sys.platform == "win32":
        return -1
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


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
    """The costs of calls in one process at each size, and the exponent with which each grows
    from the first to the last: 0 is no growth, 1 is as the journal.
    """
    costs = {}
    for entries, home in homes.items():
        built = json.loads((home / BUILT).read_text())
        costs[entries] = processor_times(home, pool) | built | fts5_alone(home, pool, entries)
    first, *_, last = homes
    rows = []
    for name in costs[first]:
        grown = costs[last][name] / costs[first][name]
        cells = {f"{entries:,}": f"{cost[name]:g}" for entries, cost in costs.items()}
        exponent = math.log(grown) / math.log(last / first)
        rows.append({"what": name, **cells, "exponent": f"{exponent:.2f}"})
    return rows


def processor_times(home: Path, pool: list[str]) -> dict[str, float]:
    """Milliseconds of processor time of each call, a median, without the first one; memory; and
    how many of the ten nearest passages a large journal's search finds.
    """
    asked = queries(pool, CALLS)
    new = [*entry_texts(pool, CALLS, seed=7)]
    day = f"{LAST_DAY:%Y-%m-%d}"
    costs = {}
    with opened(home) as workspace:
        id = recent(workspace, limit=1).entries[0].id
        workspace.embedder.load()
        index = workspace.index.file
        vectors = [workspace.embedder.embed_query(text).vector for text in asked]
        calls: dict[str, Callable[[int], object]] = {
            "search": lambda number: search(workspace, asked[number]),
            "embedding alone": lambda number: workspace.embedder.embed_query(asked[number]),
            "a scan of all vectors alone": lambda number: index.vectors.scan_nearest(
                vectors[number], DEPTH
            ),
            "bm25 of all matches alone": lambda number: score_matches(workspace, asked[number]),
            "recent": lambda _: recent(workspace),
            "find": lambda _: find(workspace, filters=FILTERS["a type, 10 %"]),
            "get": lambda _: get(workspace, [id]),
            "day": lambda _: entries_of_days(workspace, day),
            "brief": lambda _: brief(workspace, None),
            "save": lambda number: save(workspace, new[number]),
            "comparing all files": lambda _: in_step(workspace, lambda _: None),
            "scandir and stat alone": lambda _: stat_files(workspace.config.journal),
        }
        for name, call in calls.items():
            times = []
            for number in range(CALLS):
                begun = time.process_time()
                call(number)
                times.append(1000 * (time.process_time() - begun))
            costs[f"{name}, ms"] = round(statistics.median(times[1:]), 1)
        alone = costs["embedding alone, ms"] + costs["bm25 of all matches alone, ms"]
        alone += costs["a scan of all vectors alone, ms"]
        costs["search, of the sum of the three"] = round(costs["search, ms"] / alone, 2)
        costs["memory, MB"] = anonymous_memory("self")
        costs["R@10"] = round(recall(workspace, asked), 3)
    return costs


def fts5_alone(home: Path, pool: list[str], entries: int) -> dict[str, float]:
    """The costs of the same texts and questions in a table of FTS5, and nothing else."""
    new = [*entry_texts(pool, CALLS, seed=7)]
    asked = [words_of(text) for text in queries(pool, CALLS)]
    lines = map(json.dumps, [new, asked, *entry_texts(pool, entries)])
    script = Path(__file__).with_name("fts5.py")
    command = [sys.executable, str(script), str(home / "fts5.db")]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, check=True, text=True
    )
    return {f"FTS5 alone: {name}": cost for name, cost in json.loads(done.stdout).items()}


def words_of(text: str) -> str:
    """The query of FTS5 for any of the words of a question."""
    return " OR ".join(map(fts5_expression, search_terms(text)))


def score_matches(workspace: Workspace, text: str) -> None:
    """Scores each passage with a word of the question, by FTS5 alone."""
    sql = "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ? ORDER BY bm25(chunk_fts) LIMIT ?"
    workspace.index.file.rows(sql, words_of(text), DEPTH)


def stat_files(folder: Path) -> None:
    with os.scandir(folder) as listed:
        for file in listed:
            file.stat()


def recall(workspace: Workspace, asked: list[str]) -> float:
    """The share of the ten nearest passages that are among the first ten of a search by
    meaning; all vectors are compared with the question in full.
    """
    index = workspace.index.file
    shares = []
    for text in asked:
        vector = workspace.embedder.embed_query(text).vector
        found = index.semantic(vector, None, limit=DEPTH)[:10]
        exact = index.vectors.scan_nearest(vector, 10)
        shares.append(len({one.chunk_rowid for one in found} & set(exact)) / 10)
    return statistics.mean(shares)


def anonymous_memory(process: str) -> int:
    """The RssAnon of a process, in MB, of Linux's /proc; 0 elsewhere."""
    status = Path(f"/proc/{process}/status")
    memory = re.search(r"RssAnon:\s+(\d+) kB", status.read_text() if status.exists() else "")
    return int(memory[1]) // 1024 if memory else 0


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
        memory_mb = anonymous_memory(process_id.read_text().strip())
        saves = await call("context_save", "content", entry_texts(pool, SAVES, seed=8))
    return [
        row("context_search over stdio", searches),
        row("context_save over stdio", saves),
        {"what": "memory of that server (RssAnon)", "MB": memory_mb},
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
