"""Freshness: of two notes on one matter the later must come first, and of two that only sound alike the fitting one."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench_corpus import indexed, write

from synaptic import SearchConfig, Workspace, search
from synaptic.embedding import FastEmbedder

NOW = datetime(2026, 11, 21, 12)
DEFAULT = SearchConfig()
VARIANTS = (
    ("default", DEFAULT),
    ("- same topic, later first", replace(DEFAULT, same_topic=2.0)),
    ("- decay as well", replace(DEFAULT, same_topic=2.0, decay_floor=1.0)),
)
HALVES = (("even, tuned on", 0), ("odd, held back", 1))


@dataclass(frozen=True)
class Case:
    """A pair of notes and the query that means the `wanted` one of them; `number` is its place in the file."""

    number: int
    kind: str
    query: str
    wanted: str


@dataclass(frozen=True)
class Journal:
    workspace: Workspace
    cases: tuple[Case, ...]


def run_freshness(path: Path, scratch: Path, embedder: FastEmbedder) -> list[dict[str, Any]]:
    """A row for each way the pairs are dated, each ranking and each half of the cases."""
    rows = []
    for dated, hours in (("days apart", False), ("both today", True)):
        journal = _journal(path, scratch / f"fresh-{hours}", embedder, hours=hours)
        for name, config in VARIANTS:
            for half, remainder in HALVES:
                shares = dict(_shares(journal, config, remainder))
                rows.append({"pairs": dated, "cases": half, "ranking": name} | shares)
        journal.workspace.close()
    return rows


def _journal(path: Path, home: Path, embedder: FastEmbedder, *, hours: bool) -> Journal:
    """All notes in day files; the fillers over 500 days, each pair days apart, or within the same morning."""
    chance = random.Random(1)
    dated: list[tuple[datetime, str, int, str]] = []
    cases = json.loads(path.read_text(encoding="utf-8"))
    for number, case in enumerate(cases):
        if case["kind"] == "filler":
            dated.append((NOW - timedelta(days=500 * chance.random()), case["text"], number, ""))
            continue
        if hours:
            older = NOW - timedelta(hours=chance.uniform(3, 8))
            newer = older + timedelta(minutes=chance.uniform(5, 120))
        else:
            older = NOW - timedelta(days=chance.uniform(20, 450))
            newer = older + timedelta(days=chance.uniform(1, 19))
        dated += [(older, case["older"], number, "older"), (newer, case["newer"], number, "newer")]
    (home / "journal").mkdir(parents=True)
    ids = {}
    for at, text, number, which in sorted(dated):
        with (home / "journal" / f"{at:%Y-%m-%d}.md").open("a", encoding="utf-8") as file:
            ids[number, which] = write(file.write, text, at)
    wanted = {"correction": "newer", "distinct": "older"}
    pairs = tuple(
        Case(number, case["kind"], case["query"], ids[number, wanted[case["kind"]]])
        for number, case in enumerate(cases)
        if case["kind"] in wanted
    )
    return Journal(indexed(home, embedder, NOW), pairs)


def _shares(journal: Journal, config: SearchConfig, remainder: int) -> Iterator[tuple[str, Any]]:
    """Of each kind the share of queries whose wanted note is the first of all, and their number."""
    workspace = replace(journal.workspace, config=replace(journal.workspace.config, search=config))
    for kind, label in (("correction", "corrected: newer first"), ("distinct", "distinct: older first")):
        chosen = [case for case in journal.cases if case.kind == kind and case.number % 2 == remainder]
        right = 0
        for case in chosen:
            hits = search(workspace, case.query, limit=1).hits
            right += bool(hits) and hits[0].entry.id == case.wanted
        yield label, f"{right / len(chosen):.2f} ({right}/{len(chosen)})"
