"""Nothing fits: is it said for questions that no note answers, and only for these?"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from bench_corpus import indexed, markdown_in

from synaptic import search
from synaptic.index.embedding import FastEmbedder

NOTICE = "no close match"
HALVES = (("even, tuned on", 0), ("odd, held back", 1))


def run_answerable(cases: Path, notes: Path, scratch: Path, embedder: FastEmbedder) -> list[dict[str, Any]]:
    """A row for each half of the questions: how many of each kind are told that there is no close match."""
    home = scratch / "answerable"
    (home / "journal").mkdir(parents=True)
    for number, (_, data) in enumerate(markdown_in(notes)):
        (home / "journal" / f"n{number:04d}.md").write_bytes(data)
    workspace = indexed(home, embedder, datetime.now())
    told: list[tuple[int, str, bool]] = []
    for number, case in enumerate(json.loads(cases.read_text(encoding="utf-8"))):
        notices = " ".join(search(workspace, case["question"]).notices)
        told.append((number % 2, "answered" if case["answerable"] else case["kind"], NOTICE in notices))
    workspace.close()
    rows = []
    for name, half in HALVES:
        row: dict[str, Any] = {"questions": name}
        for kind, label in (("answered", "a note answers"), ("near", "of the notes' fields"), ("far", "of others")):
            flags = [flag for place, of, flag in told if place == half and of == kind]
            row[f"{NOTICE}: {label}"] = f"{sum(flags) / len(flags):.1%} ({sum(flags)}/{len(flags)})"
        rows.append(row)
    return rows
