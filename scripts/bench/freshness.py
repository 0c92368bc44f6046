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


ALIKE = (0.7, 0.6, 0.5, -1.0)
"""Corrections are also counted by how alike the two notes are: from each of these cosines to
the one before.
"""


@dataclass(frozen=True)
class Case:
    """A query, and the id of the note that it means; `number` is its place in the file.

    `cosine` is that of the two notes of a pair.
    """

    number: int
    kind: str
    query: str
    wanted: str
    cosine: float


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
    rows, by_likeness = [], []
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
        by_likeness += [
            {"notes among": among, "cases": path.stem} | row
            for row in _by_likeness(workspace, cases)
        ]
        workspace.close()
    weeks = [
        {"cases": path.stem} | row
        for row in _weeks(told, scratch / f"weeks-{path.stem}", embedder)
    ]
    return [*rows, *by_likeness, *weeks]


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
            _cosine(case, embedder),
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


def _cosine(case: dict[str, str], embedder: FastEmbedder) -> float:
    texts = [case[which] for which in ("older", "newer") if which in case]
    vectors = [embedder.embed_passage(text) for text in texts]
    return float(vectors[0] @ vectors[-1]) if vectors else 0.0


def _by_likeness(workspace: Workspace, cases: Sequence[Case]) -> Iterator[dict[str, str]]:
    """How many corrections come first, of those whose two notes are so alike."""
    below = 2.0
    for least in ALIKE:
        chosen = [
            case for case in cases if case.kind == "correction" and least <= case.cosine < below
        ]
        right = sum(_is_found(workspace, case) for case in chosen)
        said = (
            f"{least} and more"
            if below > 1
            else f"{least} to {below}"
            if least > 0
            else f"below {below}"
        )
        yield {
            "cosine of the two": said,
            "corrected: the later first": f"{right}/{len(chosen)}",
        }
        below = least


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
