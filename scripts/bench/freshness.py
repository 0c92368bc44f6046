"""Freshness: a correction comes before what it corrects, an old note that alone answers is still
found, and the newest of many comes first where the newest is asked for.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import Said, entry_texts, indexed, read, sentences, write_days

from synaptic import SearchConfig, Workspace, search
from synaptic.index.embedding import FastEmbedder

NOW = datetime(2026, 11, 21, 12)
NEWER, YEARS_AGO = 5_000, 2
DEFAULT = SearchConfig()
VARIANTS = (
    ("default", DEFAULT),
    ("- later first", replace(DEFAULT, later_first=False)),
    ("- decay as well", replace(DEFAULT, later_first=False, decay_floor=1.0)),
)
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
        rows += measure(name, arguments.notes, scratch, embedder)
    for name in ("newest", "newest_held"):
        rows += newest(name, scratch, embedder)
    return rows


def newest(name: str, scratch: Path, embedder: FastEmbedder) -> Iterator[dict[str, str]]:
    """A row for each ranking: questions for the newest of a series, and others that sound so."""
    firsts: dict[tuple[str, bool], list[bool]] = defaultdict(list)
    for told in read(f"{name}.json")["journals"]:
        said = [(one["id"], datetime.fromisoformat(one["at"]), one) for one in told["entries"]]
        home = scratch / f"{name}-{told['name']}"
        ids = write_days(home, said)
        workspace = indexed(home, embedder, said[-1][1] + timedelta(days=2))
        for variant, config in VARIANTS[:2]:
            asked = replace(workspace, config=replace(workspace.config, search=config))
            for one in told["questions"]:
                first = search(asked, one["question"], limit=1).hits[0].entry.id
                is_right = first in [ids[answer] for answer in one["answers"]]
                firsts[variant, one["asks_newest"]].append(is_right)
        workspace.close()
    for variant, _ in VARIANTS[:2]:
        of_newest, of_others = firsts[variant, True], firsts[variant, False]
        yield {
            "cases": name,
            "ranking": variant,
            "the newest asked for: it is first": f"{sum(of_newest)}/{len(of_newest)}",
            "others that sound so: the right one first": f"{sum(of_others)}/{len(of_others)}",
        }


def measure(
    name: str, notes: Path | None, scratch: Path, embedder: FastEmbedder
) -> list[dict[str, Any]]:
    """A row for each journal, ranking and half of the cases."""
    told = read(f"{name}.json")
    rows = []
    for among, count in (("themselves", 0), (f"{NEWER:,} newer", NEWER)):
        newer = list(entry_texts(sentences(notes), count, seed=9)) if count else []
        home = scratch / f"fresh-{name}-{count}"
        workspace, cases = _journal(home, told, newer, embedder)
        for variant, config in VARIANTS:
            for remainder, half in enumerate(("even", "odd")):
                chosen = [case for case in cases if case.number % 2 == remainder]
                row = {"notes among": among, "cases": f"{name}, {half}", "ranking": variant}
                rows.append(row | dict(_shares(workspace, config, chosen)))
        workspace.close()
    weeks = _weeks(told, scratch / f"weeks-{name}", embedder)
    return [*rows, *({"cases": name} | row for row in weeks)]


def _journal(
    home: Path, told: Sequence[dict[str, str]], newer: Sequence[str], embedder: FastEmbedder
) -> tuple[Workspace, list[Case]]:
    """All notes in day files: the two of a pair 1 to 19 days apart, fillers over 500 days, old
    ones before all.
    """
    chance = random.Random(1)
    said: list[Said[tuple[int, str]]] = []

    def add(at: datetime, number: int, which: str, text: str) -> None:
        said.append(((number, which), at, {"text": text}))

    for number, case in enumerate(told):
        if case["kind"] == "filler":
            add(NOW - timedelta(500 * chance.random()), number, "", case["text"])
        elif case["kind"] == "old":
            days = 365 * YEARS_AGO + 20 * chance.random()
            add(NOW - timedelta(days), number, "text", case["text"])
        else:
            older = NOW - timedelta(chance.uniform(20, 450))
            add(older, number, "older", case["older"])
            later = older + timedelta(chance.uniform(1, 19))
            add(later, number, "newer", case["newer"])
    for text in newer:
        add(NOW - timedelta(700 * chance.random()), -1, "", text)
    ids = write_days(home, sorted(said, key=lambda one: one[1]))
    cases = []
    for number, case in enumerate(told):
        if case["kind"] in KINDS:
            wanted = ids[number, KINDS[case["kind"]][0]]
            cases.append(Case(number, case["kind"], case["query"], wanted))
    return indexed(home, embedder, NOW), cases


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
            said = []
            for which, day in (("older", NOW - timedelta(days=7)), ("newer", NOW)):
                for number, case in enumerate(some):
                    at = day + timedelta(minutes=number)
                    said.append(((number, which), at, {"text": case[which]}))
            ids = write_days(home, said)
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


def _shares(
    workspace: Workspace, config: SearchConfig, cases: Sequence[Case]
) -> Iterator[tuple[str, str]]:
    """Of each kind the share of queries whose note comes early enough, and their number."""
    asked = replace(workspace, config=replace(workspace.config, search=config))
    for kind, (_, within, label) in KINDS.items():
        chosen = [case for case in cases if case.kind == kind]
        found = 0
        for case in chosen:
            hits = search(asked, case.query, limit=10).hits[:within]
            found += case.wanted in [hit.entry.id for hit in hits]
        if chosen:
            yield label, f"{found / len(chosen):.0%} ({found}/{len(chosen)})"
