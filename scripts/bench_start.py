"""Start: how long a client waits for an MCP server, and a person for a command, and what takes
the time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench_corpus import NOW, SETTLED_S, built_home, entry_texts, queries, sentences

from synaptic import Config, open_workspace, recent

Row = dict[str, Any]

ENTRIES, ROUNDS = 10_000, 9
HEAVY = ("fastembed", "onnxruntime", "numpy", "tokenizers", "huggingface_hub")
SYNAPTIC = Path(sys.executable).with_name("synaptic")
"""The installed command, beside the Python that runs this."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}

GOALS = {"search": "0.8 s", "save": "0.35 s", "recent": "0.35 s", "get": "0.35 s"}

BEFORE = {"Python": "pass", "synaptic imported": "import synaptic.surfaces.cli.main"}
"""What a command does before it looks at its arguments, each with what stands above it."""

MODEL = {
    "numpy, onnxruntime and tokenizers imported": "import numpy, onnxruntime, tokenizers",
    "the model checked and loaded": (
        "from pathlib import Path; from synaptic.index.embedding import DEFAULT_MODEL, "
        "FastEmbedder; "
        "FastEmbedder(DEFAULT_MODEL, cache=Path()).load()"
    ),
}


def run_start(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
    cache = arguments.cache or Path(tempfile.gettempdir()) / "synaptic-bench"
    home = scratch / "home"
    shutil.copytree(built_home(cache, arguments.notes, ENTRIES), home)
    time.sleep(SETTLED_S)
    return [*_server(scratch / "empty"), *_commands(home, sentences(arguments.notes))]


# -- a server
# ---------------------------------------------------------------------------------------------


def _server(home: Path) -> list[Row]:
    initialize([str(SYNAPTIC), "mcp"], home)  # reads the files from disk once
    waited = [initialize([str(SYNAPTIC), "mcp"], home)[0] for _ in range(ROUNDS)]
    _, imported = initialize(
        [sys.executable, "-X", "importtime", "-m", "synaptic", "mcp"], home
    )
    heavy = sorted(imported & set(HEAVY))
    return [
        _row("MCP: process start to the answer of initialize", waited, "1.2 s"),
        {
            "what": f"of {', '.join(HEAVY)} imported by then",
            "best": ", ".join(heavy) or f"none ({len(imported)} packages in all)",
            "goal": "none",
        },
    ]


def initialize(command: list[str], home: Path) -> tuple[float, set[str]]:
    """(seconds until the answer, packages that `-X importtime` named by then)."""
    begun = time.perf_counter()
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"SYNAPTIC_HOME": str(home)},
    )
    assert server.stdin and server.stdout and server.stderr
    server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    server.stdin.flush()
    answer = json.loads(server.stdout.readline())
    seconds = time.perf_counter() - begun
    server.kill()
    told = server.stderr.read().decode("utf-8", "replace")
    server.wait()
    assert answer["result"]["serverInfo"]["name"] == "synaptic", answer
    names = (
        line.rpartition("|")[2].strip()
        for line in told.splitlines()
        if line.startswith("import time:")
    )
    return seconds, {name.partition(".")[0] for name in names}


# -- commands
# ---------------------------------------------------------------------------------------------


def _commands(home: Path, pool: list[str]) -> list[Row]:
    """Commands take turns, so that noise meets them alike; the first round reads the files from
    disk once.
    """
    with open_workspace(Config(home=home, journal=home / "journal")) as workspace:
        some = recent(workspace, limit=1).entries[0].id
    asked, texts = iter(queries(pool, ROUNDS + 1)), iter(entry_texts(pool, ROUNDS + 1, seed=9))
    spent: dict[str, list[float]] = {name: [] for name in (*GOALS, *BEFORE)}
    stages: dict[str, list[float]] = {}
    model: dict[str, list[float]] = {name: [] for name in MODEL}
    for number in range(ROUNDS + 1):
        kept = number > 0
        for name, arguments in (
            ("search", ["search", next(asked)]),
            ("get", ["get", some]),
            ("recent", ["recent"]),
            ("save", ["save", next(texts)]),  # last: the next search finds a new file
        ):
            spent[name] += [_run(home, [str(SYNAPTIC), *arguments])][: int(kept)]
        for name, code in BEFORE.items():
            spent[name] += [_run(home, [sys.executable, "-c", code])][: int(kept)]
        if kept:
            for name, seconds in _last_search(home).items():
                stages.setdefault(name, []).append(seconds)
            for name, seconds in zip(MODEL, _in_turn(home, MODEL.values()), strict=True):
                model[name].append(seconds)
        time.sleep(SETTLED_S)
    python, imported = spent.pop("Python"), spent.pop("synaptic imported")
    rows = [
        _row(f"synaptic {name}, cold, {ENTRIES:,} entries", spent[name], GOALS[name])
        for name in GOALS
    ]
    imports = [whole - part for whole, part in zip(imported, python, strict=True)]
    rows += [
        _row("of the search: Python", python),
        _row("of the search: synaptic imported", imports),
    ]
    rows += [_row(f"of the search: {name}", seconds) for name, seconds in stages.items()]
    rows += [_row(f"of the search: {name}", seconds) for name, seconds in model.items()]
    return rows


def _run(home: Path, command: list[str]) -> float:
    begun = time.perf_counter()
    environ = os.environ | NOW | {"SYNAPTIC_HOME": str(home)}
    subprocess.run(command, env=environ, cwd=home, check=True, capture_output=True)
    return time.perf_counter() - begun


def _last_search(home: Path) -> dict[str, float]:
    """Seconds of each stage of the last search, as it has noted them itself."""
    with open_workspace(Config(home=home, journal=home / "journal")) as workspace:
        noted = "SELECT stages FROM timing WHERE verb = 'search' ORDER BY number DESC LIMIT 1"
        stages: dict[str, float] = json.loads(workspace.index.file.db.execute(noted).get)
    return {name: ms / 1000 for name, ms in stages.items() if name != "total"}


def _in_turn(home: Path, codes: Iterable[str]) -> list[float]:
    """Seconds of each of these, one after another in one new process."""
    timed = "; ".join(
        f"begun = time.perf_counter(); {code}; print(time.perf_counter() - begun)"
        for code in codes
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import time; {timed}"],
        cwd=home,
        check=True,
        capture_output=True,
        text=True,
    )
    return [float(line) for line in done.stdout.split()]


def _row(what: str, seconds: list[float], goal: str = "") -> Row:
    best, median = min(seconds), statistics.median(seconds)
    return {
        "what": what,
        "best": f"{best:.3f} s",
        f"median of {ROUNDS}": f"{median:.3f} s",
        "goal": goal,
    }
