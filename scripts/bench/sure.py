"""Doubts, the end of an answer, and the share of right hits at each score.

| kind | a question | from |
|---|---|---|
| answered | that an entry answers; for doubts one among the first hits | the panel, tests/data/answerable |
| near | of the journal's own matters, that no entry answers | tests/data/panel, --beam |
| other | of matters that the journal does not touch | tests/data/panel |

The curves (`synaptic/search/doubt.py`) were fitted on one half of the questions, drawn by hash
(`fit.py`). Both are shown.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from corpus import indexed, markdown_in, read
from panel import mean
from sets import WRITTEN, CachedEmbedder, Corpus, Maker, Question, by_path, is_held

from synaptic import search

NOTICE = "no close match"
FIRST, BANDS = 8, 5
"""Hits of an answer without a limit, and bands of scores that are shown."""

Kinds = list[tuple[Question, str]]
"""Questions, each with its kind."""


class Asked(NamedTuple):
    """One question's first FIRST hits as (score, right), and of a cut answer the length and the
    right hits.
    """

    kind: str
    wanted: int
    doubted: bool
    first: Sequence[tuple[float, bool]]
    kept: int
    right: int

    def recall(self, most: int = FIRST) -> float:
        return sum(right for _, right in self.first[:most]) / self.wanted


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models", arguments.model)
    found: dict[str, dict[str, list[Asked]]] = {
        "held apart": defaultdict(list),
        "fitted on": defaultdict(list),
    }
    for name, corpus, told in panel(arguments, scratch, embedder):
        for question, kind in told:
            found[half(question.text)][name].append(ask(corpus, question, kind))
    return [row for half, by_set in found.items() for row in rows(by_set, half)]


def panel(
    arguments: argparse.Namespace, scratch: Path, embedder: CachedEmbedder
) -> Iterator[tuple[str, Corpus, Kinds]]:
    """(name of the set, a journal, its questions), one journal open at a time."""
    for name, corpora in Maker(arguments, scratch, embedder).sets():
        for corpus in corpora:
            told = [(question, "answered") for question in corpus.questions]
            yield name, corpus, told + unanswered(name, corpus, arguments)
            corpus.workspace.close()
    if arguments.notes:
        corpus, told = whole_notes(arguments.notes, scratch, embedder)
        yield "notes, whole", corpus, told
        corpus.workspace.close()


def half(question: str) -> str:
    """The half of a question; nothing was fitted on the one that is held apart."""
    return "held apart" if is_held(question) else "fitted on"


def ask(corpus: Corpus, question: Question, kind: str) -> Asked:
    many = search(corpus.workspace, question.text, limit=FIRST)
    cut = search(corpus.workspace, question.text)
    first = [(hit.score, hit.entry.id in question.wanted) for hit in many.hits]
    doubted = any(NOTICE in notice for notice in cut.notices)
    right = sum(hit.entry.id in question.wanted for hit in cut.hits)
    return Asked(kind, len(question.wanted), doubted, first, len(cut.hits), right)


def unanswered(name: str, corpus: Corpus, arguments: argparse.Namespace) -> Kinds:
    """The questions of a set that none of its entries answers."""
    if name == "BEAM":
        with gzip.open(arguments.beam) as file:
            chat = json.load(file)[int(corpus.name.split("-")[-1]) - 1]
        texts = [text for text, answers, _ in chat["questions"] if not answers]
        return kinds([{"question": text} for text in texts])
    told: list[dict[str, Any]] = []
    if name == "beliefs":
        journals = read("panel/beliefs.json")["journals"]
        told = next(one["questions"] for one in journals if one["name"] == corpus.name)
    elif name in WRITTEN:
        told = read(f"panel/{name}.json")["questions"]
    if name != "notes":
        told = told + read("panel/unanswered.json").get(name, [])
    return kinds([one for one in told if not one.get("answers")])


def kinds(told: Sequence[dict[str, Any]]) -> Kinds:
    return [(Question(one["question"], frozenset()), one.get("kind", "near")) for one in told]


def whole_notes(archive: Path, scratch: Path, embedder: CachedEmbedder) -> tuple[Corpus, Kinds]:
    """The notes with their titles, and questions on them."""
    home = scratch / "whole"
    (home / "journal").mkdir(parents=True)
    paths: dict[str, str] = {}
    for number, (note, data) in enumerate(markdown_in(archive)):
        paths[note] = f"n{number:04d}.md"
        (home / "journal" / paths[note]).write_bytes(data)
    workspace = indexed(home, embedder, datetime.now())
    ids = by_path(workspace)
    told: Kinds = []
    for case in read("answerable.json"):
        if case["answerable"]:
            path = next(path for note, path in paths.items() if note.endswith(case["note"]))
            told.append((Question(case["question"], frozenset(ids[path])), "answered"))
        else:
            kind = "other" if case["kind"] == "far" else case["kind"]
            told.append((Question(case["question"], frozenset()), kind))
    told += kinds(read("panel/unanswered.json")["notes"])
    return Corpus("notes, whole", workspace, ()), told


def rows(found: dict[str, list[Asked]], half: str) -> Iterator[dict[str, Any]]:
    by_set = {name: row_of(asked) for name, asked in found.items()}
    for name, row in by_set.items():
        yield {"half": half, "set": name} | {what: f"{row[what]:.2f}" for what in row}
    means: dict[str, str] = {}
    for what in dict.fromkeys(what for row in by_set.values() for what in row):
        means[what] = f"{mean(row[what] for row in by_set.values() if what in row):.2f}"
    yield {"half": half, "set": "mean of the sets"} | means
    yield {"half": half, "set": "right of the hits of a score"} | bands(found)


def row_of(asked: Sequence[Asked]) -> dict[str, float]:
    """Shares of doubted questions by kind; then of cut answers the recall, also of questions
    that several entries answer, the hits, and the precision.
    """
    answered = [one for one in asked if one.kind == "answered"]
    found = [one for one in answered if one.recall()]
    by_kind = {
        "answered": found,
        "near": [one for one in asked if one.kind == "near"],
        "other": [one for one in asked if one.kind == "other"],
    }
    row = {
        f"doubted: {kind}": mean(one.doubted for one in chosen)
        for kind, chosen in by_kind.items()
        if chosen
    }
    if found:
        whole = sum(one.recall() for one in found)
        row["kept of recall@8"] = sum(one.recall(one.kept) for one in found) / whole
    if answered:
        row["hits"] = mean(one.kept for one in answered)
        row["precision"] = mean(one.right / max(1, one.kept) for one in answered)
    several = [one for one in answered if one.wanted > 1]
    if several:
        row["recall of several"] = mean(one.right / one.wanted for one in several)
        row["hits of several"] = mean(one.kept for one in several)
    if by_kind["other"]:
        row["hits: other"] = mean(one.kept for one in by_kind["other"])
    return row


def bands(found: dict[str, list[Asked]]) -> dict[str, str]:
    """The mean score of each band, and its share of right hits; each set counts alike."""
    sums = [[0.0, 0.0, 0.0] for _ in range(BANDS)]
    for asked in found.values():
        for one in asked:
            for score, right in one.first:
                band = sums[min(BANDS - 1, int(score * BANDS))]
                for place, value in enumerate((1.0, score, float(right))):
                    band[place] += value / len(asked)
    shown: dict[str, str] = {}
    for place, (share, scores, rights) in enumerate(sums):
        if share:
            name = f"{place / BANDS:.1f} to {(place + 1) / BANDS:.1f}"
            shown[name] = f"{scores / share:.2f} : {rights / share:.2f}"
    return shown
