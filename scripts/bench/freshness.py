"""Freshness: a correction comes before what it corrects, and an old note that alone answers is
still found.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import entry_texts, indexed, sentences, write

from synaptic import SearchConfig, Workspace, search
from synaptic.index.embedding import FastEmbedder

DATA = Path(__file__).parents[2] / "tests" / "data"
NOW = datetime(2026, 11, 21, 12)
NEWER, YEARS_AGO = 5_000, 2
DEFAULT = SearchConfig()
VARIANTS = (
    ("default", DEFAULT),
    ("- later first", replace(DEFAULT, later_first=False)),
    ("- decay as well", replace(DEFAULT, later_first=False, decay_floor=1.0)),
)
HALVES = (("even", 0), ("odd", 1))
WEEKS = (3, 6)
"""So many pairs in a journal."""

KINDS = {
    "correction": ("newer", 1, "corrected: the later first"),
    "distinct": ("older", 1, "sound alike: the right one first"),
    "old": ("text", 3, "two years old: in the first three"),
}
"""Which of its notes a query means, within how many hits it must come, and what that is called.
"""


@dataclass(frozen=True)
class Case:
    """A query, and the id of the note that it means; `number` is its place in the file."""

    number: int
    kind: str
    query: str
    wanted: str


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = FastEmbedder(arguments.model, cache=scratch / "models")
    rows: list[dict[str, Any]] = []
    for name in ("freshness", "corrections"):
        rows += measure(DATA / f"{name}.json", arguments.notes, scratch, embedder)
    return rows


def measure(
    path: Path, notes: Path | None, scratch: Path, embedder: FastEmbedder
) -> list[dict[str, Any]]:
    """A row for each journal, ranking and half of the cases."""
    told = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for among, count in (("themselves", 0), (f"{NEWER:,} newer", NEWER)):
        newer = list(entry_texts(sentences(notes), count, seed=9)) if count else []
        home = scratch / f"fresh-{path.stem}-{count}"
        workspace, cases = _journal(home, told, newer, embedder)
        for name, config in VARIANTS:
            for half, remainder in HALVES:
                shares = dict(
                    _shares(
                        workspace,
                        config,
                        [case for case in cases if case.number % 2 == remainder],
                    )
                )
                rows.append(
                    {"notes among": among, "cases": f"{path.stem}, {half}", "ranking": name}
                    | shares
                )
        workspace.close()
    weeks = [
        {"cases": path.stem} | row
        for row in _weeks(told, scratch / f"weeks-{path.stem}", embedder)
    ]
    return [*rows, *weeks]


def _journal(
    home: Path, told: Sequence[dict[str, str]], newer: Sequence[str], embedder: FastEmbedder
) -> tuple[Workspace, list[Case]]:
    """All notes in day files: the two of a pair 1 to 19 days apart, fillers over 500 days, old
    ones before all.
    """
    chance = random.Random(1)
    dated: list[tuple[datetime, str, int, str]] = []
    for number, case in enumerate(told):
        if case["kind"] == "filler":
            dated.append(
                (NOW - timedelta(days=500 * chance.random()), case["text"], number, "")
            )
        elif case["kind"] == "old":
            dated.append(
                (
                    NOW - timedelta(days=365 * YEARS_AGO + 20 * chance.random()),
                    case["text"],
                    number,
                    "text",
                )
            )
        else:
            older = NOW - timedelta(days=chance.uniform(20, 450))
            later = older + timedelta(days=chance.uniform(1, 19))
            dated += [
                (older, case["older"], number, "older"),
                (later, case["newer"], number, "newer"),
            ]
    dated += [(NOW - timedelta(days=700 * chance.random()), text, -1, "") for text in newer]
    ids = _written(home, dated)
    cases = [
        Case(
            number,
            case["kind"],
            case["query"],
            ids[number, KINDS[case["kind"]][0]],
        )
        for number, case in enumerate(told)
        if case["kind"] in KINDS
    ]
    return indexed(home, embedder, NOW), cases


def _written(
    home: Path, dated: Sequence[tuple[datetime, str, int, str]]
) -> dict[tuple[int, str], str]:
    """The id of each text, by its number and which of a pair it is, in day files."""
    (home / "journal").mkdir(parents=True)
    ids = {}
    for at, text, number, which in sorted(dated):
        with (home / "journal" / f"{at:%Y-%m-%d}.md").open("a", encoding="utf-8") as file:
            ids[number, which] = write(file.write, text, at)
    return ids


def _weeks(
    told: Sequence[dict[str, str]], scratch: Path, embedder: FastEmbedder
) -> Iterator[dict[str, str]]:
    """Journals of a week: some corrections' older notes on one day, the newer ones a week
    later, and nothing else.
    """
    pairs = [case for case in told if case["kind"] == "correction"]
    for size in WEEKS:
        asked = either = later = 0
        for start in range(0, len(pairs) - size + 1, size):
            some = pairs[start : start + size]
            home = scratch / f"{size}-{start}"
            dated = [
                (day + timedelta(minutes=number), case[which], number, which)
                for which, day in (("older", NOW - timedelta(days=7)), ("newer", NOW))
                for number, case in enumerate(some)
            ]
            ids = _written(home, dated)
            workspace = indexed(home, embedder, NOW + timedelta(hours=6))
            for number, case in enumerate(some):
                first = search(workspace, case["query"], limit=1).hits[0].entry.id
                asked += 1
                either += first in (ids[number, "older"], ids[number, "newer"])
                later += first == ids[number, "newer"]
            workspace.close()
        yield {
            "notes among": f"{2 * size} of a week",
            "one of the two first": f"{either / asked:.0%} ({either}/{asked})",
            "corrected: the later first": f"{later / asked:.0%} ({later}/{asked})",
        }


def _is_found(workspace: Workspace, case: Case) -> bool:
    within = KINDS[case.kind][1]
    return case.wanted in [
        hit.entry.id for hit in search(workspace, case.query, limit=10).hits[:within]
    ]


def _shares(
    workspace: Workspace, config: SearchConfig, cases: Sequence[Case]
) -> Iterator[tuple[str, str]]:
    """Of each kind the share of queries whose note comes as early as it must, and their number."""
    asked = replace(workspace, config=replace(workspace.config, search=config))
    for kind, (*_, label) in KINDS.items():
        chosen = [case for case in cases if case.kind == kind]
        found = sum(_is_found(asked, case) for case in chosen)
        if chosen:
            yield label, f"{found / len(chosen):.0%} ({found}/{len(chosen)})"
