"""People's real notes: days in fourteen styles, and two vaults, with the line on which each
answer stands.

An entry is right if it is the one that holds this line, give or take a line.
"""

from __future__ import annotations

import argparse
import shutil
import tarfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from corpus import DATA, indexed, read

from synaptic import Workspace, search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.models import Entry
from synaptic.notes.frontmatter import match_front_matter

NOW = datetime(2026, 11, 20, 20)
"""The evening of the day on which the questions were asked."""


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A row for each journal and language: the share of questions whose entry, and whose file,
    comes first or early.
    """
    embedder = FastEmbedder(DEFAULT_MODEL, cache=scratch / "models")
    journals = {"diary": (DATA / "diary", read("diary_questions.json"))}
    if arguments.vaults:
        with tarfile.open(arguments.vaults) as opened:
            opened.extractall(scratch / "vaults", filter="data")
        for name in ("obsidian", "logseq"):
            asked = [one for one in read("vault_questions.json") if one["vault"] == name]
            journals[name] = (scratch / "vaults" / name, asked)
    rows: list[dict[str, Any]] = []
    for name, (source, questions) in journals.items():
        shutil.copytree(source, scratch / name / "journal")
        workspace = indexed(scratch / name, embedder, NOW)
        for language in sorted({one["lang"] for one in questions}):
            asked = [one for one in questions if one["lang"] == language]
            entries, files = zip(*(ranks(workspace, one) for one in asked), strict=True)
            row = {"journal": name, "language": language, "questions": len(asked)}
            for what, places in (("entry", entries), ("file", files)):
                for most in (1, 3):
                    share = sum(place < most for place in places) / len(places)
                    row[f"{what} among first {most}"] = f"{share:.2f}"
            rows.append(row)
    return rows


def ranks(workspace: Workspace, asked: Mapping[str, Any]) -> tuple[int, int]:
    """The ranks of the right entry and of its file, from 0; 10 where it is not among the first
    ten.
    """
    of_entry = of_file = 10
    hits = search(workspace, asked["question"], limit=10).hits
    for rank, hit in reversed(list(enumerate(hits))):
        if hit.entry.place and hit.entry.place.path == asked["file"]:
            of_file = rank
        if _holds(workspace, hit.entry, asked):
            of_entry = rank
    return of_entry, of_file


def _holds(workspace: Workspace, entry: Entry, asked: Mapping[str, Any]) -> bool:
    place = entry.place
    if place is None or place.path != asked["file"]:
        return False
    data = workspace.journal.read(place.path)
    front = match_front_matter(data.decode("latin-1"), 0)
    first = 1 if front and place.start == front.end() else data.count(b"\n", 0, place.start) + 1
    return first - 1 <= int(asked["line"]) <= data.count(b"\n", 0, place.end) + 2
