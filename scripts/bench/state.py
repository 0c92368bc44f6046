"""Labelled questions about open, left and decided matters, and reasons, in one journal of
three projects.

| label | right where |
|---|---|
| list | exactly these entries are among the first eight, newest first if `ordered` |
| first | the entry stands first |
| ordinary | it only sounds so: the question is searched, and the entry is among the first three |
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, chdir
from datetime import datetime
from pathlib import Path
from typing import Any

from corpus import read

from synaptic import Config, Workspace, open_workspace, rebuild, save, search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import Embedder, FastEmbedder

NOW = datetime.fromisoformat("2026-11-20T09:00:00+01:00")
"""The morning after the last entry."""
MOST = 8


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """The number of right questions of each label, and of all."""
    questions = read("state_questions.json")
    embedder = FastEmbedder(DEFAULT_MODEL, cache=scratch / "models")
    found = list(zip(questions, answers(scratch / "state", embedder, questions), strict=True))
    for asked, got in found:
        if arguments.wrong and not is_right(asked, got):
            wanted = f"{asked['kind']} {asked['answer']}"
            print(f"- {asked['question']} ({asked['project']}): {got}, not {wanted}")
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
    with chdir(home), ExitStack() as opening:  # in no project
        keys = saved(opening.enter_context(opened(home, embedder)))
        askers = {
            project: opening.enter_context(opened(home, embedder, project))
            for project in {asked["project"] for asked in questions}
        }
        shown = []
        for asked in questions:
            hits = search(askers[asked["project"]], asked["question"]).hits
            shown.append([keys[hit.entry.id] for hit in hits[:MOST]])
    return shown


def opened(home: Path, embedder: Embedder, project: str | None = None) -> Workspace:
    config = Config(home=home, journal=home / "journal", project=project)
    return open_workspace(config, embedder=embedder, clock=lambda: NOW)


def saved(workspace: Workspace) -> dict[str, str]:
    """The key of each entry by its id; all are saved."""
    ids: dict[str, str] = {}
    for entry in read("state_journal.json"):
        key = entry.pop("key")
        supersedes = [ids[old] for old in entry.pop("supersedes", ())]
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
