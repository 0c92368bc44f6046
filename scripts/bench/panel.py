"""The panel: many kinds of journals at once, so that no rule of the ranking is kept for the
sake of one of them.

| set                       | a journal of                                     | from                             |
|---------------------------|--------------------------------------------------|----------------------------------|
| LoCoMo                    | short turns of a talk                            | --locomo                         |
| BEAM                      | long chats with an assistant                     | --beam                           |
| notes                     | a developer's notes, each sought by its title    | --notes                          |
| logseq, obsidian          | two vaults                                       | --vaults, tests/data/panel       |
| project                   | one project's commits, decisions and hand-offs   | tests/data/panel                 |
| german, chinese, japanese | home and work in other languages                 | tests/data/panel                 |
| beliefs                   | five small journals of short notes               | tests/data/panel                 |

Sets whose files are not at hand are left out. The measure of a set is nDCG@10 and recall@10 of
its questions; the measure of the panel is the mean of nDCG@10 over the sets.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import indexed, write
from quality import (
    ABLATIONS,
    DEFAULT,
    PLAIN_RRF,
    CachedEmbedder,
    Corpus,
    Question,
    Variant,
    bootstrap,
    entries,
    evaluate,
    known_items,
    locomo,
    mean,
)

from synaptic.index.embedding import FastEmbedder
from synaptic.notes.markdown import compose_entry, new_id, render_entry

PANEL = Path(__file__).parents[2] / "tests" / "data" / "panel"
WRITTEN = ("project", "german", "chinese", "japanese")

BARE = replace(DEFAULT, decay_floor=1.0, later_first=False, speakers=False, analysis=False)
"""The two lists and their fusion, without any other rule."""

OWN_LISTS = (Variant("words", BARE, "lexical"), Variant("vectors", BARE, "semantic"))
MEASURED = (
    *OWN_LISTS,
    Variant(PLAIN_RRF, BARE),
    Variant("fusion alone", BARE, "hybrid"),
    Variant("default", DEFAULT, "auto"),
)
RULES = tuple(variant for variant in ABLATIONS if variant.name.startswith("- "))

WriteOne = Callable[[Callable[[str], object], Any, datetime], str]
"""Writes one entry and returns its id."""

Found = dict[str, dict[str, list[dict[str, float]]]]
"""The measures of each question, by variant and set."""


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models", arguments.model)
    found: Found = {variant.name: {} for variant in (*MEASURED, *RULES)}
    for name, corpora in sets(arguments, scratch, embedder):
        for corpus in corpora:
            for variant in (*MEASURED, *RULES):
                found[variant.name].setdefault(name, []).extend(evaluate(corpus, variant))
            corpus.workspace.close()
    return [
        *(of_set(found, name) for name in found["default"]),
        of_panel(found),
        *of_rules(found),
    ]


def of_set(found: Found, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"set": name, "questions": len(found["default"][name])}
    for variant in MEASURED:
        scores = found[variant.name][name]
        row[variant.name] = " / ".join(
            f"{mean(s[what] for s in scores):.3f}" for what in ("recall@10", "nDCG@10")
        )
    best = max(OWN_LISTS, key=lambda one: mean(s["nDCG@10"] for s in found[one.name][name]))
    low, high = bootstrap(_differences(found, "default", best.name, name))
    return row | {"default over the better list": f"{low:+.3f} to {high:+.3f}"}


def of_panel(found: Found) -> dict[str, Any]:
    row: dict[str, Any] = {
        "set": "mean nDCG@10",
        "questions": sum(map(len, found["default"].values())),
    }
    return row | {v.name: f"{mean(_means(found[v.name]).values()):.4f}" for v in MEASURED}


def of_rules(found: Found) -> Iterator[dict[str, Any]]:
    """What each rule or constant adds to the mean, with its 95 % interval, and the sets that it
    moves beyond theirs.
    """
    for rule in RULES:
        gains = {
            name: _differences(found, "default", rule.name, name) for name in found["default"]
        }
        low, high = _interval_of_mean(list(gains.values()))
        moved = {name: bootstrap(gain) for name, gain in gains.items()}
        yield {
            "rule": rule.name.removeprefix("- "),
            "gain of mean nDCG@10": f"{mean(map(mean, gains.values())):+.4f}",
            "95 %": f"{low:+.4f} to {high:+.4f}",
            "raises": ", ".join(name for name, (least, _) in moved.items() if least > 0),
            "lowers": ", ".join(name for name, (_, most) in moved.items() if most < 0),
        }


def _means(by_set: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, float]:
    return {name: mean(score["nDCG@10"] for score in scores) for name, scores in by_set.items()}


def _differences(found: Found, one: str, other: str, name: str) -> list[float]:
    pairs = zip(found[one][name], found[other][name], strict=True)
    return [ours["nDCG@10"] - theirs["nDCG@10"] for ours, theirs in pairs]


def _interval_of_mean(
    gains: Sequence[Sequence[float]], *, rounds: int = 1_000
) -> tuple[float, float]:
    """The 95 % interval of the mean over sets: the questions of each set are drawn anew."""
    source = random.Random(0)
    means = sorted(
        mean(mean(source.choices(gain, k=len(gain))) for gain in gains) for _ in range(rounds)
    )
    return means[int(rounds * 0.025)], means[int(rounds * 0.975)]


# -- the sets
# ------------------------------------------------------------------------------------------


def sets(
    arguments: argparse.Namespace, scratch: Path, embedder: FastEmbedder
) -> Iterator[tuple[str, Iterator[Corpus]]]:
    """(name, journals) of every set whose file is at hand."""
    if arguments.locomo:
        yield "LoCoMo", locomo(arguments.locomo, range(1, 6), scratch, embedder)
    if arguments.beam:
        yield "BEAM", beam(arguments.beam, scratch, embedder)
    if arguments.notes:
        yield "notes", iter([known_items(arguments.notes, scratch, embedder)])
    if arguments.vaults:
        for name in ("logseq", "obsidian"):
            yield name, iter([vault(arguments.vaults, name, scratch, embedder)])
    for name in WRITTEN:
        yield name, iter([written(name, scratch, embedder)])
    yield "beliefs", beliefs(scratch, embedder)


def beam(path: Path, scratch: Path, embedder: FastEmbedder) -> Iterator[Corpus]:
    """One journal per chat, an entry a message; questions that no message answers are left out."""
    with gzip.open(path) as file:
        chats = json.load(file)
    for number, chat in enumerate(chats, start=1):
        home = scratch / f"beam-{number}"
        turns = [
            (id, datetime.fromisoformat(at), f"{role}: {text}")
            for id, at, role, text in chat["turns"]
        ]
        ids = _day_files(home, turns, write)
        asked = (
            (question, {ids[id] for id in answers if id in ids})
            for question, answers, _ in chat["questions"]
        )
        questions = tuple(
            Question(question, frozenset(wanted)) for question, wanted in asked if wanted
        )
        yield Corpus(
            f"chat {number}",
            indexed(home, embedder, turns[-1][1] + timedelta(hours=1)),
            questions,
        )


def written(name: str, scratch: Path, embedder: FastEmbedder) -> Corpus:
    """A journal that was written for the panel, asked 30 days after its last entry."""
    data = json.loads((PANEL / f"{name}.json").read_text(encoding="utf-8"))
    home = scratch / name
    said = [
        (entry["id"], datetime.fromisoformat(entry["at"]), entry) for entry in data["entries"]
    ]
    ids = _day_files(home, said, _write_titled)
    questions = tuple(
        Question(asked["question"], frozenset(ids[id] for id in asked["answers"]))
        for asked in data["questions"]
        if asked["answers"]
    )
    return Corpus(name, indexed(home, embedder, said[-1][1] + timedelta(days=30)), questions)


def beliefs(scratch: Path, embedder: FastEmbedder) -> Iterator[Corpus]:
    """Small journals of an entry a sentence or two, asked 30 days after their last entry."""
    for journal in json.loads((PANEL / "beliefs.json").read_text(encoding="utf-8"))["journals"]:
        home = scratch / f"beliefs-{journal['name']}"
        said = [
            (entry["id"], datetime.fromisoformat(entry["at"]), entry["text"])
            for entry in journal["entries"]
        ]
        ids = _day_files(home, said, write)
        asked = (
            (q["question"], frozenset(ids[id] for id in q["answers"]))
            for q in journal["questions"]
        )
        questions = tuple(Question(text, wanted) for text, wanted in asked if wanted)
        yield Corpus(
            journal["name"],
            indexed(home, embedder, said[-1][1] + timedelta(days=30)),
            questions,
        )


def vault(archive: Path, name: str, scratch: Path, embedder: FastEmbedder) -> Corpus:
    """A vault as it is; any note of a file that answers is right."""
    data = json.loads((PANEL / "vaults.json").read_text(encoding="utf-8"))[name]
    home = scratch / name
    with tarfile.open(archive) as opened:
        opened.extractall(scratch / "vaults", filter="data")
    shutil.copytree(scratch / "vaults" / data["root"], home / "journal")
    workspace = indexed(home, embedder, datetime.now())
    notes: dict[str, set[str]] = {}
    for entry in entries(workspace):
        if entry.place:
            notes.setdefault(entry.place.path, set()).add(entry.id)
    asked = (
        (q["question"], {id for path in q["answers"] for id in notes.get(path, ())})
        for q in data["questions"]
    )
    return Corpus(
        name,
        workspace,
        tuple(Question(text, frozenset(wanted)) for text, wanted in asked if wanted),
    )


def _day_files(
    home: Path,
    said: Sequence[tuple[str, datetime, Any]],
    write_one: Callable[[Callable[[str], object], Any, datetime], str],
) -> dict[str, str]:
    """Writes (id, moment, what) into day files; returns the ids in the journal by those given."""
    ids: dict[str, str] = {}
    (home / "journal").mkdir(parents=True)
    for id, at, what in said:
        with (home / "journal" / f"{at:%Y-%m-%d}.md").open("a", encoding="utf-8") as file:
            ids[id] = write_one(file.write, what, at.replace(tzinfo=None))
    return ids


def _write_titled(put: Callable[[str], object], said: Mapping[str, str], at: datetime) -> str:
    aware = at.astimezone()
    entry, _ = compose_entry(
        said["text"], id=new_id(aware.date()), at=aware, type=said["type"], title=said["title"]
    )
    put(render_entry(entry) + "\n")
    return entry.id
