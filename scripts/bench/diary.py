"""People's real notes: days in fourteen styles, and two vaults, with the line on which each
answer stands.

An entry is right if it is the one that holds this line, give or take a line.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from corpus import indexed

from synaptic import Workspace, search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.models import Entry
from synaptic.notes.frontmatter import front_matter_end

DATA = Path(__file__).parents[2] / "tests" / "data"
NOW = datetime(2026, 11, 20, 20)
"""The evening of the day on which the questions were asked."""


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A row for each journal and language: the share of questions whose entry, and whose file,
    comes first or early.
    """
    embedder = FastEmbedder(DEFAULT_MODEL, cache=scratch / "models")
    journals = {"diary": (DATA / "diary", _questions("diary_questions.json"))}
    if arguments.vaults:
        with tarfile.open(arguments.vaults) as opened:
            opened.extractall(scratch / "vaults", filter="data")
        for name in ("obsidian", "logseq"):
            asked = [one for one in _questions("vault_questions.json") if one["vault"] == name]
            journals[name] = scratch / "vaults" / name, asked
    rows: list[dict[str, Any]] = []
    for name, (source, questions) in journals.items():
        shutil.copytree(source, scratch / name / "journal")
        workspace = indexed(scratch / name, embedder, NOW)
        for language in sorted({one["lang"] for one in questions}):
            places = list(
                ranks(workspace, [one for one in questions if one["lang"] == language])
            )
            shares = {
                f"{what} among first {most}": f"{sum(place[at] < most for place in places) / len(places):.2f}"
                for at, what in enumerate(("entry", "file"))
                for most in (1, 3)
            }
            rows.append(
                {"journal": name, "language": language, "questions": len(places), **shares}
            )
    return rows


def ranks(
    workspace: Workspace, questions: Sequence[Mapping[str, Any]]
) -> Iterable[tuple[int, int]]:
    """(rank of the right entry, rank of its file), from 0, of each question; 10 where it is not
    among the first ten.
    """
    for asked in questions:
        hits = [hit.entry for hit in search(workspace, asked["question"], limit=10).hits]
        yield (
            next(
                (rank for rank, entry in enumerate(hits) if _holds(workspace, entry, asked)), 10
            ),
            next(
                (
                    rank
                    for rank, entry in enumerate(hits)
                    if entry.place and entry.place.path == asked["file"]
                ),
                10,
            ),
        )


def _holds(workspace: Workspace, entry: Entry, asked: Mapping[str, Any]) -> bool:
    place = entry.place
    if place is None or place.path != asked["file"]:
        return False
    data = workspace.journal.read(place.path)
    front = front_matter_end(data.decode("latin-1"), 0)
    first = 1 if front and place.start == front[2] else data.count(b"\n", 0, place.start) + 1
    return first - 1 <= int(asked["line"]) <= data.count(b"\n", 0, place.end) + 2


def _questions(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((DATA / name).read_text(encoding="utf-8"))
    return found
