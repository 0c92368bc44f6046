"""What a save is told to be near: corrections are to be found, and where nothing is replaced
nothing is to be named.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import indexed, write
from sets import CachedEmbedder, Maker

from synaptic import Workspace
from synaptic.config import DEFAULT_MODEL
from synaptic.index.rows import units
from synaptic.models import Filters
from synaptic.search.near import near_entries
from synaptic.workspace.readback import read_entries

DATA = Path(__file__).parents[2] / "tests" / "data"
BEGIN = datetime(2026, 1, 1, 8)
CHOSEN_ON = {"freshness": (0, 1), "corrections": (0,), "replaced": (0, 1)}
"""The cases of each file, even or odd, on which the rule was chosen; the others were held
apart.
"""


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models", DEFAULT_MODEL)
    rows = [row for name in CHOSEN_ON for row in _pairs(name, scratch, embedder)]
    for name, corpora in Maker(arguments, scratch, embedder).sets():
        count, named = 0, 0
        for corpus in corpora:
            found = _named(corpus.workspace)
            count, named = count + len(found), named + sum(map(bool, found.values()))
            corpus.workspace.close()
        rows.append(
            {
                "journal": name,
                "entries": count,
                "named something": f"{named / count:.1%} ({named})",
            }
        )
    return rows


def _named(workspace: Workspace) -> dict[str, set[str]]:
    """For each entry of a journal the ids that its save would have named, by its own."""
    rowids = workspace.index.listing(
        Filters(include_superseded=True), order="oldest", limit=-1
    )[1]
    entries = read_entries(workspace, rowids).values()
    return {
        entry.id: {near.id for near in near_entries(workspace, entry) or ()}
        for entry in entries
    }


def _pairs(name: str, scratch: Path, embedder: CachedEmbedder) -> Iterator[dict[str, Any]]:
    """All notes of a file in one journal, the later of two after the earlier: what the later
    ones name.
    """
    told, home, chance = (
        json.loads((DATA / f"{name}.json").read_text("utf-8")),
        scratch / name,
        random.Random(1),
    )
    (home / "journal").mkdir(parents=True)
    dated = []
    for number, case in enumerate(told):
        day = 300 * chance.random()
        for which in {"text", "older", "newer"} & case.keys():
            dated += [
                (BEGIN + timedelta(day + 10 * (which == "newer")), number, which, case[which])
            ]
    ids = {}
    for at, number, which, text in sorted(dated):
        with (home / "journal" / f"{at:%Y-%m-%d}.md").open("a", encoding="utf-8") as file:
            ids[number, which] = write(file.write, text, at)
    workspace = indexed(home, embedder, BEGIN + timedelta(400))
    named = _named(workspace)
    for half in (0, 1):
        right: dict[str, list[bool]] = {
            "found, cosine .6": [],
            "found": [],
            "sound alike": [],
            "others": [],
        }
        for (number, which), id in ids.items():
            if number % 2 == half and which == "newer" and told[number]["kind"] == "correction":
                two = units([*_vectors(workspace, id, ids[number, "older"])])
                right["found"].append(ids[number, "older"] in named[id])
                right["found, cosine .6"] += (
                    right["found"][-1:] if two[0] @ two[1] >= 0.6 else []
                )
            elif number % 2 == half:
                right["sound alike" if which == "newer" else "others"].append(bool(named[id]))
        of = "chosen on" if half in CHOSEN_ON[name] else "held"
        yield {"pairs": f"{name}, {of}"} | {
            what: f"{sum(said)}/{len(said)}" for what, said in right.items()
        }
    workspace.close()


def _vectors(workspace: Workspace, *ids: str) -> list[bytes]:
    rows = [workspace.index.resolve(id).rowid for id in ids]
    found = workspace.index.meanings(rows)
    return [found[row] for row in rows]
