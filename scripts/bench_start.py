"""Start: how long a client waits for an MCP server, and what is imported by then."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROUNDS = 7
HEAVY = ("fastembed", "onnxruntime", "numpy", "tokenizers", "huggingface_hub")
SYNAPTIC = Path(sys.executable).with_name("synaptic")
"""The installed command, beside the Python that runs this."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def run_start(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    initialize([str(SYNAPTIC), "mcp"], scratch / "home")  # reads the files from disk once
    waited = [initialize([str(SYNAPTIC), "mcp"], scratch / "home")[0] for _ in range(ROUNDS)]
    _, imported = initialize([sys.executable, "-X", "importtime", "-m", "synaptic", "mcp"], scratch / "home")
    heavy = sorted(imported & set(HEAVY))
    return [
        {
            "what": f"MCP: process start to the answer of initialize, median of {ROUNDS}",
            "figure": f"{statistics.median(waited):.2f} s",
            "goal": "under 1.2 s",
        },
        {
            "what": f"of {', '.join(HEAVY)} imported by then",
            "figure": ", ".join(heavy) or f"none ({len(imported)} packages in all)",
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
    names = (line.rpartition("|")[2].strip() for line in told.splitlines() if line.startswith("import time:"))
    return seconds, {name.partition(".")[0] for name in names}
