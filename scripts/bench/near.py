"""The entries that a save names as near: corrections are to be found, and where nothing is replaced
nothing is to be named.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import indexed, read, write_days
from sets import CachedEmbedder, Maker

from synaptic import Workspace
from synaptic.config import DEFAULT_MODEL
from synaptic.filters import Filters
from synaptic.index.rows import unit_vectors
from synaptic.search.near import find_related_entries
from synaptic.workspace.readback import read_entries

BEGIN = datetime(2026, 1, 1, 8)
CHOSEN_ON = {"freshness": (0, 1), "corrections": (0,), "replaced": (0, 1)}
"""The cases of each file, even or odd, on which the rule was chosen; the others were held
apart.
"""


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models", DEFAULT_MODEL)
    rows = [row for name in CHOSEN_ON for row in _pairs(name, scratch, embedder)]
    for name, corpora in Maker(arguments, scratch, embedder).sets():
        found: list[set[str]] = []
        for corpus in corpora:
            found += _named(corpus.workspace).values()
            corpus.workspace.close()
        named = sum(map(bool, found))
        share = f"{named / len(found):.1%} ({named})"
        rows.append({"journal": name, "entries": len(found), "named something": share})
    return rows


def _named(workspace: Workspace) -> dict[str, set[str]]:
    """For each entry of a journal the ids that its save would have named, by its own."""
    everything = Filters(include_superseded=True)
    _, rowids = workspace.index.list_entries(everything, order="oldest", limit=-1)
    found: dict[str, set[str]] = {}
    for entry in read_entries(workspace, rowids).values():
        found[entry.id] = {near.id for near in find_related_entries(workspace, entry) or ()}
    return found


def _pairs(name: str, scratch: Path, embedder: CachedEmbedder) -> Iterator[dict[str, Any]]:
    """All notes of a file in one journal, the later of two after the earlier: what the later
    ones name.
    """
    told = read(f"{name}.json")
    home = scratch / name
    chance = random.Random(1)
    said = []
    for number, case in enumerate(told):
        day = 300 * chance.random()
        for which in {"text", "older", "newer"} & case.keys():
            at = BEGIN + timedelta(day + 10 * (which == "newer"))
            said.append(((number, which), at, {"text": case[which]}))
    ids = write_days(home, sorted(said, key=lambda one: one[1]))
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
            if number % 2 != half:
                continue
            if which != "newer":
                right["others"].append(bool(named[id]))
            elif told[number]["kind"] != "correction":
                right["sound alike"].append(bool(named[id]))
            else:
                older = ids[number, "older"]
                right["found"].append(older in named[id])
                if _cosine(workspace, id, older) >= 0.6:
                    right["found, cosine .6"].append(older in named[id])
        of = "chosen on" if half in CHOSEN_ON[name] else "held"
        shares = {what: f"{sum(said)}/{len(said)}" for what, said in right.items()}
        yield {"pairs": f"{name}, {of}"} | shares
    workspace.close()


def _cosine(workspace: Workspace, id: str, older: str) -> float:
    rows = [workspace.index.resolve(one).rowid for one in (id, older)]
    found = workspace.index.first_vectors(rows)
    one, other = unit_vectors([found[row] for row in rows])
    return float(one @ other)
