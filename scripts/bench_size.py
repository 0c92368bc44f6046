"""Size: bytes of the index over bytes of the text it finds."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bench_corpus import markdown_in

from synaptic import Config, open_workspace, rebuild


def run_size(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    journal = scratch / "journal"
    text_bytes = 0
    for name, data in markdown_in(arguments.notes):
        path = journal / name.lstrip("/")
        if not path.resolve().is_relative_to(journal.resolve()):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        text_bytes += len(data)
    with open_workspace(Config(home=scratch / "home", journal=journal)) as workspace:
        report = rebuild(workspace)
        index_bytes = workspace.index.size_bytes()
    return [
        {
            "what": "index over text",
            "entries": report.entries,
            "chunks": report.chunks,
            "text": f"{text_bytes / 1024:.0f} KB",
            "index": f"{index_bytes / 1024:.0f} KB",
            "figure": f"{index_bytes / text_bytes:.2f} times",
            "goal": "under 2.2 times",
        }
    ]
