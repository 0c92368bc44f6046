"""Freshness: what a later note changed is shown with it, what still holds stays first, an old note
that alone answers is still found, and the newest of many comes first where it is asked for.

The questions of changes.json, each asked with a limit of five:

| kind    | answer                                                               |
|---------|----------------------------------------------------------------------|
| changed | the note that changed an earlier one, mostly in other words          |
| stands  | an early note that still holds, although later ones sound alike      |
| before  | the old note, which the question asks for                            |
| both    | two notes                                                            |
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
VARIANTS = (("default", DEFAULT), ("- decay", replace(DEFAULT, decay_floor=1.0)))

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
    return [*rows, *changes(scratch, embedder)]


def changes(scratch: Path, embedder: FastEmbedder) -> Iterator[dict[str, str]]:
    """A row for each kind of question, over the four journals of changes.json."""
    seen: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    for number, told in enumerate(read("changes.json")):
        said = [
            (place, datetime.fromisoformat(f"{one['day']}T{one['time']}"), one)
            for place, one in enumerate(told["notes"])
        ]
        home = scratch / f"changes-{number}"
        ids = write_days(home, said)
        workspace = indexed(home, embedder, said[-1][1] + timedelta(days=2))
        for one in told["questions"]:
            hits = search(workspace, one["query"], limit=5).hits
            shown = [hit.entry.id for hit in hits]
            named = {near.id for hit in hits for near in hit.later}
            right = {ids[place] for place in one["answer"]}
            is_first = shown[0] in right
            seen[one["kind"]].append(
                (is_first, not right.isdisjoint(shown), not right.isdisjoint({*shown, *named}))
            )
        workspace.close()
    for kind, of_kind in seen.items():
        first, among, there = (sum(column) for column in zip(*of_kind, strict=True))
        yield {
            "questions": f"{kind}, {len(of_kind)}",
            "the right note is first": str(first),
            "among five": str(among),
            "or named below one": str(there),
        }


def newest(name: str, scratch: Path, embedder: FastEmbedder) -> Iterator[dict[str, str]]:
    """A row: questions for the newest of a series, and others that sound so."""
    firsts: dict[bool, list[bool]] = defaultdict(list)
    for told in read(f"{name}.json")["journals"]:
        said = [(one["id"], datetime.fromisoformat(one["at"]), one) for one in told["entries"]]
        home = scratch / f"{name}-{told['name']}"
        ids = write_days(home, said)
        workspace = indexed(home, embedder, said[-1][1] + timedelta(days=2))
        for one in told["questions"]:
            first = search(workspace, one["question"], limit=1).hits[0].entry.id
            is_right = first in [ids[answer] for answer in one["answers"]]
            firsts[one["asks_newest"]].append(is_right)
        workspace.close()
    yield {
        "cases": name,
        "the newest asked for: it is first": f"{sum(firsts[True])}/{len(firsts[True])}",
        "others that sound so: the right one first": f"{sum(firsts[False])}/{len(firsts[False])}",
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
    return rows


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
