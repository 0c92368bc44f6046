"""What is open, was left off, was decided, and why: labelled questions about one journal of
three projects.

| label    | right where                                                                           |
|----------|---------------------------------------------------------------------------------------|
| list     | exactly these entries are among the first eight, newest first if `ordered`            |
| first    | the entry stands first                                                                |
| ordinary | it only sounds so: the question is searched, and the entry is among the first three   |
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import chdir
from datetime import datetime
from pathlib import Path
from typing import Any

from synaptic import Config, Workspace, open_workspace, rebuild, save, search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import Embedder, FastEmbedder

DATA = Path(__file__).parents[2] / "tests" / "data"
NOW = datetime.fromisoformat("2026-11-20T09:00:00+01:00")
"""The morning after the last entry."""
MOST = 8


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """How many questions of each label are right, and of all."""
    questions = json.loads((DATA / "state_questions.json").read_text(encoding="utf-8"))
    embedder = FastEmbedder(DEFAULT_MODEL, cache=scratch / "models")
    found = list(zip(questions, answers(scratch / "state", embedder, questions), strict=True))
    if arguments.wrong:
        for asked, got in found:
            if not is_right(asked, got):
                print(
                    f"- {asked['question']} ({asked['project']}): {got}, not "
                    f"{asked['kind']} {asked['answer']}"
                )
    rows = []
    for kind in (*dict.fromkeys(asked["kind"] for asked in questions), "all"):
        right = [is_right(asked, got) for asked, got in found if kind in ("all", asked["kind"])]
        rows.append({"label": kind, "questions": len(right), "right": sum(right)})
    return rows


def answers(
    home: Path, embedder: Embedder, questions: Sequence[Mapping[str, Any]]
) -> list[list[str]]:
    """The keys of the entries that each question gets, asked from its project, of the journal
    in this new home.
    """
    home.mkdir()
    with chdir(home), opened(home, embedder) as workspace:  # in no project
        keys = saved(workspace)
        shown = []
        for asked in questions:
            with opened(home, embedder, asked["project"]) as of_asker:
                hits = search(of_asker, asked["question"]).hits
            shown.append([keys[hit.entry.id] for hit in hits[:MOST]])
    return shown


def opened(home: Path, embedder: Embedder, project: str | None = None) -> Workspace:
    config = Config(home=home, journal=home / "journal", project=project)
    return open_workspace(config, embedder=embedder, clock=lambda: NOW)


def saved(workspace: Workspace) -> dict[str, str]:
    """The key of each entry by its id; all are saved."""
    ids: dict[str, str] = {}
    for entry in json.loads((DATA / "state_journal.json").read_text(encoding="utf-8")):
        key, supersedes = entry.pop("key"), [ids[old] for old in entry.pop("supersedes", ())]
        ids[key] = save(workspace, **entry, supersedes=supersedes).id
    rebuild(workspace)  # all have vectors
    return {id: key for key, id in ids.items()}


def is_right(asked: Mapping[str, Any], got: Sequence[str]) -> bool:
    wanted: list[str] = asked["answer"]
    match asked["kind"]:
        case "list":
            return list(got) == wanted if asked.get("ordered") else {*got} == {*wanted}
        case "first":
            return got[:1] == wanted[:1]
    return not {*wanted}.isdisjoint(got[:3])
