"""Pairs of notes: is the earlier named where the later replaces or repeats it, and left in peace
where both only sound alike?

Notes and truth are by writers who had not seen the program. Everything is chosen on the first
two sets of pairs, on `--learn` and on the first history of sessions; `--held` asks the second
set and history, and `--third` a set that only reports.

| row | how the pairs are found |
|---|---|
| rebuild | all notes in one journal, the index made at once; what `review` lists |
| saved in order | each note saved at its time; what `review` lists then |
| saved at random | the same in another order, by `at` |
| at the save | the same saves in order; what the receipts named |

The last table saves the later notes of some pairs into ten copies of one journal, each by a
process that has just begun, and counts the copies in which the receipt names the earlier.
"""

from __future__ import annotations

import argparse
import random
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import indexed, read

from synaptic import Config, Workspace, open_workspace, save
from synaptic.index.embedding import FastEmbedder
from synaptic.notes.markdown import compose_entry, new_id, render_entry
from synaptic.verbs.review import review

COPIES, REPEATED = 10, 10
"""Copies of a journal, and the pairs whose later note is saved into each."""
SETS = ("dev", "held", "learn", "third")
WITH_HISTORY = ("dev", "held")
NAMING = ("replaced", "repeated")
"""The kinds of findings that name an earlier and a later entry on the same matter."""

Named = set[frozenset[str]]


@dataclass(frozen=True)
class Note:
    """A note of a set; `key` names it there."""

    key: str
    at: datetime
    text: str
    project: str | None
    type: str
    tags: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class NoteSet:
    """Notes, oldest first, and the kind of each pair of them, by their keys."""

    name: str
    notes: Sequence[Note]
    pairs: Mapping[frozenset[str], str]


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = FastEmbedder(arguments.model, cache=scratch / "models")
    half = next((one for one in SETS if getattr(arguments, one, False)), "dev")
    sets = [read_pairs(half)]
    if half in WITH_HISTORY:
        sets.append(read_history(half))
    rows = []
    for notes in sets:
        ids, named = name_at_rebuild(notes, scratch / f"{notes.name}-rebuild", embedder)
        rows.append(count_named(notes, "rebuild", ids, named))
        for how, seed in (("saved in order", None), ("saved at random", 1)):
            home = scratch / f"{notes.name}-{how.replace(' ', '-')}"
            ids, at_save, named = name_at_saves(notes, home, embedder, seed)
            rows.append(count_named(notes, how, ids, named))
            if seed is None:
                rows.append(count_named(notes, "at the save", ids, at_save))
    rows += repeat_saves(sets[0], scratch, arguments.model)
    return rows


def read_pairs(half: str) -> NoteSet:
    """A set of pairs, of SETS, with its other notes."""
    told = read(f"pairs_{half}.json")
    notes = []
    pairs = {}
    for pair in told["pairs"]:
        keys = [f"{pair['id']}-{which}" for which in ("earlier", "later")]
        pairs[frozenset(keys)] = pair["kind"]
        for key, which in zip(keys, ("earlier", "later"), strict=True):
            notes.append(_note(key, pair | pair[which]))
    notes += [_note(f"other-{number}", one) for number, one in enumerate(told["others"])]
    return NoteSet(f"pairs_{half}", sorted(notes, key=_time), pairs)


def read_history(half: str) -> NoteSet:
    """The entries that the agents of a history saved. A pair is an entry that answers a task,
    and an outdated one of the same project and type that it does not name.
    """
    told = read(f"helps_{half}.json")
    notes = []
    names = {}
    for session in told["sessions"]:
        at = datetime.fromisoformat(session["at"])
        for number, entry in enumerate(session["saves"]):
            moment = (at + timedelta(minutes=number)).isoformat()
            place = {"project": session["repository"], "at": moment}
            notes.append(_note(entry["id"], entry | place))
            names[entry["id"]] = entry.get("supersedes") or ()
    places = {note.key: (note.project, note.type) for note in notes}
    pairs = {}
    for task in told["tasks"]:
        for later in task["answers"]:
            for earlier in task.get("stale", ()):
                if places[earlier] == places[later] and earlier not in names[later]:
                    pairs[frozenset((earlier, later))] = "replaced"
    return NoteSet(f"helps_{half}", sorted(notes, key=_time), pairs)


def _note(key: str, one: Mapping[str, Any]) -> Note:
    tags = tuple(tag for tag in one.get("tags") or () if not tag.isdigit())
    files = tuple(one.get("files") or ())
    at = datetime.fromisoformat(one["at"]).astimezone()
    return Note(key, at, one["text"], one["project"], one["type"], tags, files)


def _time(note: Note) -> datetime:
    return note.at


def name_at_rebuild(
    notes: NoteSet, home: Path, embedder: FastEmbedder
) -> tuple[dict[str, str], Named]:
    """(ids by keys, the pairs that a review names) after the whole journal was indexed."""
    (home / "journal").mkdir(parents=True)
    ids = {}
    for note in notes.notes:
        entry, _ = compose_entry(
            note.text,
            id=new_id(note.at.date()),
            at=note.at,
            type=note.type,
            project=note.project,
            tags=note.tags,
            files=note.files,
        )
        ids[note.key] = entry.id
        with (home / "journal" / f"{note.at:%Y-%m-%d}.md").open("a", encoding="utf-8") as day:
            day.write(render_entry(entry) + "\n")
    workspace = indexed(home, embedder, notes.notes[-1].at + timedelta(days=1))
    named = named_by_review(workspace)
    workspace.close()
    return ids, named


def name_at_saves(
    notes: NoteSet, home: Path, embedder: FastEmbedder, seed: int | None
) -> tuple[dict[str, str], Named, Named]:
    """(ids by keys, the pairs that receipts named, those that a review names then) of saves in
    the order of time, or in an order drawn with `seed`.
    """
    embedder.load()
    workspace = _open(home, embedder, notes.notes[-1].at + timedelta(days=1))
    order = list(notes.notes)
    if seed is not None:
        random.Random(seed).shuffle(order)
    ids: dict[str, str] = {}
    named: Named = set()
    for note in order:
        receipt = _save(workspace, note)
        ids[note.key] = receipt.id
        named |= {frozenset((receipt.id, near.id)) for near in receipt.near or ()}
    by_review = named_by_review(workspace)
    workspace.close()
    return ids, named, by_review


def named_by_review(workspace: Workspace) -> Named:
    findings = review(workspace)
    pairs = [finding.about for finding in findings if finding.kind in NAMING]
    return {frozenset(one.entry.id for one in pair) for pair in pairs}


def _open(home: Path, embedder: FastEmbedder, now: datetime) -> Workspace:
    config = Config(home=home, journal=home / "journal")
    return open_workspace(config, embedder=embedder, clock=lambda: now)


def _save(workspace: Workspace, note: Note) -> Any:
    marks: dict[str, Any] = {"files": note.files} if note.files else {}
    return save(
        workspace,
        note.text,
        type=note.type,
        project=note.project or "",
        tags=list(note.tags),
        at=note.at,
        by="bench",
        **marks,
    )


def count_named(
    notes: NoteSet, how: str, ids: Mapping[str, str], named: Named
) -> dict[str, str]:
    """A row: how many pairs of each kind are named, and how many others."""
    kinds = {frozenset(ids[key] for key in pair): kind for pair, kind in notes.pairs.items()}
    row = {"notes": notes.name, "pairs": how}
    for kind in ("replaced", "duplicate", "alike"):
        of_kind = {pair for pair, other in kinds.items() if other == kind}
        row[kind] = f"{len(of_kind & named)}/{len(of_kind)}" if of_kind else ""
    others = len(named - kinds.keys())
    return row | {"others": f"{others} of {len(ids)} notes"}


def repeat_saves(notes: NoteSet, scratch: Path, model: str) -> Iterator[dict[str, str]]:
    """A row for each number of copies in which the same save named the earlier note."""
    later: dict[str, str] = {}
    for pair, kind in notes.pairs.items():
        if kind == "replaced" and len(later) < REPEATED:
            earlier_key, later_key = sorted(pair)
            later[later_key] = earlier_key
    first = NoteSet(
        notes.name, [note for note in notes.notes if note.key not in later], notes.pairs
    )
    last = [note for note in notes.notes if note.key in later]
    home = scratch / "original"
    now = notes.notes[-1].at + timedelta(days=1)
    ids, _ = name_at_rebuild(first, home, FastEmbedder(model, cache=scratch / "models"))
    counts = Counter[str]()
    for number in range(COPIES):
        copy = scratch / f"copy-{number}"
        shutil.copytree(home, copy)
        embedder = FastEmbedder(model, cache=scratch / "models")
        embedder.load()
        workspace = _open(copy, embedder, now)
        for note in last:
            named = {near.id for near in _save(workspace, note).near or ()}
            counts[note.key] += ids[later[note.key]] in named
        workspace.close()
    for named_in, pairs in sorted(Counter(counts[key] for key in later).items()):
        yield {"named in": f"{named_in} of {COPIES} copies", "saves": f"{pairs} of {REPEATED}"}
