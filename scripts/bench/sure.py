"""Does an answer know how good it is? Doubts, the cut, and what a score means, on answered and
unanswered questions.

| kind     | a question                                                         | from                              |
|----------|--------------------------------------------------------------------|-----------------------------------|
| answered | that an entry answers; for doubts one among the first hits        | the panel, tests/data/answerable  |
| near     | of the journal's own matters, that no entry answers                | tests/data/panel, --beam          |
| other    | of matters that the journal does not touch                         | tests/data/panel                  |

The curve (`synaptic/search/calibration.py`) was fitted on one half of the questions, drawn by
hash. Both are shown.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from corpus import indexed, markdown_in
from panel import PANEL, WRITTEN, sets
from quality import CachedEmbedder, Corpus, Question, entries, mean

from synaptic import search

ANSWERABLE = PANEL.parent / "answerable.json"
NOTICE = "no close match"
FIRST, BANDS = 8, 5
"""Hits of an answer without a limit, and bands of scores that are shown."""


class Asked(NamedTuple):
    """What one question got: its `first` FIRST hits as (score, right), of which a cut answer
    keeps so many.
    """

    kind: str
    wanted: int
    doubted: bool
    first: Sequence[tuple[float, bool]]
    kept: int


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models", arguments.model)
    held: dict[bool, dict[str, list[Asked]]] = {
        True: defaultdict(list),
        False: defaultdict(list),
    }
    for name, corpora in sets(arguments, scratch, embedder):
        for corpus in corpora:
            for question, kind in (
                *((q, "answered") for q in corpus.questions),
                *unanswered(name, corpus, arguments),
            ):
                held[half(question.text)][name].append(ask(corpus, question, kind))
            corpus.workspace.close()
    if arguments.notes:
        corpus, kinds = whole_notes(arguments.notes, scratch, embedder)
        for question, kind in zip(corpus.questions, kinds, strict=True):
            held[half(question.text)]["notes, whole"].append(ask(corpus, question, kind))
        corpus.workspace.close()
    return [
        row
        for half, found in held.items()
        for row in rows(found, "held apart" if half else "fitted on")
    ]


def half(question: str) -> bool:
    """Whether a question belongs to the half that nothing was fitted on."""
    return bool(hashlib.sha1(question.encode()).digest()[-1] % 2)


def ask(corpus: Corpus, question: Question, kind: str) -> Asked:
    many = search(corpus.workspace, question.text, limit=FIRST)
    cut = search(corpus.workspace, question.text)
    first = [(hit.score, hit.entry.id in question.wanted) for hit in many.hits]
    return Asked(
        kind,
        len(question.wanted),
        any(NOTICE in one for one in cut.notices),
        first,
        len(cut.hits),
    )


def unanswered(
    name: str, corpus: Corpus, arguments: argparse.Namespace
) -> Iterator[tuple[Question, str]]:
    """The questions of a set that none of its entries answers, and their kind."""
    if name == "BEAM":
        with gzip.open(arguments.beam) as file:
            chat = json.load(file)[int(corpus.name.split()[-1]) - 1]
        yield from (
            (Question(text, frozenset()), "near")
            for text, answers, _ in chat["questions"]
            if not answers
        )
    if name == "beliefs":
        told = json.loads((PANEL / "beliefs.json").read_text(encoding="utf-8"))["journals"]
        asked = next(journal["questions"] for journal in told if journal["name"] == corpus.name)
        yield from (
            (Question(q["question"], frozenset()), q["kind"]) for q in asked if not q["answers"]
        )
    if name in WRITTEN:
        asked = json.loads((PANEL / f"{name}.json").read_text(encoding="utf-8"))["questions"]
        yield from (
            (Question(q["question"], frozenset()), "near") for q in asked if not q["answers"]
        )
    told = (
        json.loads((PANEL / "unanswered.json").read_text(encoding="utf-8"))
        if name != "notes"
        else {}
    )
    yield from ((Question(q["question"], frozenset()), q["kind"]) for q in told.get(name, ()))


def whole_notes(
    archive: Path, scratch: Path, embedder: CachedEmbedder
) -> tuple[Corpus, list[str]]:
    """The notes with their titles, and questions on them."""
    home = scratch / "whole"
    (home / "journal").mkdir(parents=True)
    paths: dict[str, str] = {}
    for number, (note, data) in enumerate(markdown_in(archive)):
        paths[note] = f"n{number:04d}.md"
        (home / "journal" / paths[note]).write_bytes(data)
    workspace = indexed(home, embedder, datetime.now())
    ids = {entry.place.path: entry.id for entry in entries(workspace) if entry.place}
    questions, kinds = [], []
    for case in json.loads(ANSWERABLE.read_text(encoding="utf-8")):
        wanted = [
            ids[path]
            for note, path in paths.items()
            if case["answerable"] and note.endswith(case["note"])
        ]
        questions.append(Question(case["question"], frozenset(wanted)))
        kinds.append("answered" if wanted else {"far": "other"}.get(case["kind"], case["kind"]))
    told = json.loads((PANEL / "unanswered.json").read_text(encoding="utf-8"))["notes"]
    questions += [Question(case["question"], frozenset()) for case in told]
    kinds += [case["kind"] for case in told]
    return Corpus("notes, whole", workspace, tuple(questions)), kinds


def rows(found: dict[str, list[Asked]], half: str) -> Iterator[dict[str, Any]]:
    by_set = {name: row_of(asked) for name, asked in found.items()}
    for name, row in by_set.items():
        yield {"half": half, "set": name} | {what: shown(value) for what, value in row.items()}
    whats = next(iter(by_set.values()))
    means = {
        what: [value for row in by_set.values() if (value := row[what]) is not None]
        for what in whats
    }
    yield {"half": half, "set": "mean of the sets"} | {
        what: shown(mean(all_)) for what, all_ in means.items() if all_
    }
    yield {"half": half, "set": "right of the hits of a score"} | bands(found)


def row_of(asked: Sequence[Asked]) -> dict[str, float | None]:
    """Shares of doubted questions by kind; then of the cut: recall@8 that is kept, hits,
    precision.
    """
    kinds = {
        kind: [one for one in asked if one.kind == kind]
        for kind in ("answered", "near", "other")
    }
    in_reach = [one for one in kinds["answered"] if any(right for _, right in one.first)]
    row: dict[str, float | None] = {
        f"doubted: {kind}": mean(one.doubted for one in all_) if all_ else None
        for kind, all_ in (kinds | {"answered": in_reach}).items()
    }
    whole = sum(sum(right for _, right in one.first) / one.wanted for one in in_reach)
    kept = sum(
        sum(right for _, right in one.first[: one.kept]) / one.wanted for one in in_reach
    )
    return row | {
        "kept of recall@8": kept / whole if whole else None,
        "hits": mean(one.kept for one in kinds["answered"]) if kinds["answered"] else None,
        "hits: other": mean(one.kept for one in kinds["other"]) if kinds["other"] else None,
        "precision": mean(
            sum(right for _, right in one.first[: one.kept]) / max(1, one.kept)
            for one in kinds["answered"]
        )
        if kinds["answered"]
        else None,
    }


def bands(found: dict[str, list[Asked]]) -> dict[str, str]:
    """For bands of scores: the mean score, and the share of such hits that were right; each set
    counts alike.
    """
    told: list[list[tuple[float, float, bool]]] = [[] for _ in range(BANDS)]
    for asked in found.values():
        for one in asked:
            for score, right in one.first:
                told[min(BANDS - 1, int(score * BANDS))].append((1 / len(asked), score, right))
    return {
        f"{place / BANDS:.1f} to {(place + 1) / BANDS:.1f}": " : ".join(
            f"{sum(w * value for w, value in pairs) / sum(w for w, _ in pairs):.2f}"
            for pairs in ([(w, s) for w, s, _ in band], [(w, float(r)) for w, _, r in band])
        )
        for place, band in enumerate(told)
        if band
    }


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
