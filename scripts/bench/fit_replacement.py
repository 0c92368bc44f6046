"""Fits the weights by which `language/replacement` tells a note that replaces or repeats an
earlier one from notes that only sound alike, and writes `synaptic/data/replacement.toml`.

    python scripts/bench/fit_replacement.py

Each two notes of a set of pairs, of the first history and of the corrections in tests/data that
are nearer to each other than to all others are a case, except those that `judge` decides by
their words. `pairs_third.json`, the second history and the odd cases of corrections.json are not
read. First each set of pairs is left out in turn: a table says how many of its pairs the others
would name, at several values of `least`. A writer's habits are no help then.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
from corpus import read
from pairs import Note, NoteSet, name_at_rebuild, read_history, read_pairs

from synaptic import Config, open_workspace
from synaptic.config import DEFAULT_MODEL
from synaptic.files import DATA
from synaptic.index.embedding import FastEmbedder
from synaptic.index.nearest import Nearest
from synaptic.language.replacement import PARALLEL, measure
from synaptic.workspace.pairs import compare_notes

Array = npt.NDArray[np.float64]

PAIRS = ("dev", "held", "learn")
UNITED = "united"
KINDS = ("replaced", "duplicate", "alike", "other")
CORRECTIONS = ("freshness", "corrections", "replaced")
OF_CORRECTIONS, OF_UNRELATED, OF_HISTORY, OF_UNITED = 0.2, 0.7, 0.3, 0.5
"""The weight of a case of corrections, where the later note mostly has the words of the earlier;
of notes that are no pair; of these in the history, of which some replace each other though no
task asks for it; and of each case where all sets are one project, in which more lies between.
"""
RIDGE = 10.0
"""The penalty of the regression on features of deviation 1."""
LEAST = 0.5
"""Chosen on the sets that were left out in turn: about 9 of 10 named pairs are right."""
SHOWN = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Case:
    """Two notes: the kind of the pair, its features, its weight, and the sets that the notes
    are of: several where the notes of all sets are one project (`is_united`).
    """

    kind: str
    features: dict[str, float]
    weight: float
    sets: frozenset[str]
    is_united: bool


def main() -> None:
    sets = [read_pairs(name) for name in PAIRS] + [read_history("dev")]
    united = unite(sets)
    sets += [read_corrections(name) for name in CORRECTIONS]
    with tempfile.TemporaryDirectory(prefix="synaptic-fit-") as scratch:
        embedder = FastEmbedder(DEFAULT_MODEL, cache=Path(scratch) / "models")
        cases: list[Case] = []
        for notes in [*sets, united]:
            cases += find_cases(notes, Path(scratch) / notes.name, embedder)
    for name in sets[: len(PAIRS)]:
        show_left_out(cases, name.name)
    write_weights(*fit(cases))


def show_left_out(cases: Sequence[Case], name: str) -> None:
    """Prints how many cases of a set are named by the weights that the others give."""
    names, weights, intercept = fit([case for case in cases if name not in case.sets])
    for is_united in (False, True):
        print(f"{name}, {'among all sets' if is_united else 'alone'}")
        for least in SHOWN:
            named = Counter[str]()
            for case in cases:
                values = [case.features[feature] for feature in names]
                total = intercept + float(np.dot(weights, values))
                if name in case.sets and case.is_united == is_united and total >= least:
                    named[case.kind] += 1
            counts = [f"{named[kind]:3} {kind}" for kind in KINDS]
            print(f"  from {least}: {', '.join(counts)}")


def read_corrections(name: str) -> NoteSet:
    """The pairs of a file of corrections as notes of one project; of corrections.json the even
    cases.
    """
    chance = random.Random(1)
    first = datetime(2026, 1, 1).astimezone()
    type = "decision" if name == "replaced" else "note"
    notes = []
    pairs = {}
    for number, case in enumerate(read(f"{name}.json")):
        if name == "corrections" and number % 2:
            continue
        at = first + timedelta(days=200 * chance.random())
        if "older" in case:
            later = at + timedelta(days=1 + 60 * chance.random())
            keys = (f"{number}-older", f"{number}-newer")
            for key, moment, text in zip(
                keys, (at, later), (case["older"], case["newer"]), strict=True
            ):
                notes.append(Note(key, moment, text, name, type))
            pairs[frozenset(keys)] = "replaced" if case["kind"] == "correction" else "alike"
        elif "text" in case:
            notes.append(Note(str(number), at, case["text"], name, type))
    return NoteSet(name, sorted(notes, key=lambda note: note.at), pairs)


def unite(sets: Sequence[NoteSet]) -> NoteSet:
    """The notes of all sets as those of one project."""
    notes: list[Note] = []
    pairs = {}
    for each in sets:
        notes += [
            replace(note, key=f"{each.name}:{note.key}", project=UNITED) for note in each.notes
        ]
        for keys, kind in each.pairs.items():
            pairs[frozenset(f"{each.name}:{key}" for key in keys)] = kind
    return NoteSet(UNITED, sorted(notes, key=lambda note: note.at), pairs)


def find_cases(notes: NoteSet, home: Path, embedder: FastEmbedder) -> Iterator[Case]:
    ids, _ = name_at_rebuild(notes, home, embedder)
    keys = {id: key for key, id in ids.items()}
    config = Config(home=home, journal=home / "journal")
    now = notes.notes[-1].at + timedelta(days=1)
    with open_workspace(config, embedder=embedder, clock=lambda: now) as ws:
        with ws.index.writing(1000):
            ws.index.file.db.execute("UPDATE near SET state = 'judge' WHERE first IS NOT NULL")
        neighbours = Nearest(ws.index.file).unjudged(len(ids))
        entries = ws.index.entries([one.entry for one in neighbours])
        for one, earlier, later, near, of_both in compare_notes(ws, neighbours):
            features = measure(earlier, later, near, of_both)
            if earlier.asks or features["same_order"] >= PARALLEL:
                continue
            pair = frozenset(keys[entries[row].entry.id] for row in (one.entry, one.nearest))
            kind = notes.pairs.get(pair, "other")
            sets = frozenset([notes.name])
            weight = OF_UNRELATED if kind == "other" else 1.0
            if notes.name == UNITED:
                sets = frozenset(key.partition(":")[0] for key in pair)
                weight *= OF_UNITED
            elif notes.name.startswith("helps") and kind == "other":
                weight *= OF_HISTORY
            elif notes.name in CORRECTIONS:
                weight *= OF_CORRECTIONS
            yield Case(kind, features, weight, sets, notes.name == UNITED)


def fit(cases: Sequence[Case]) -> tuple[list[str], list[float], float]:
    """(names of the features, their weights, the intercept) of a logistic regression with a
    ridge on standardized features, by Newton's method.
    """
    names = list(cases[0].features)
    values = np.array([[case.features[name] for name in names] for case in cases])
    mean, deviation = values.mean(axis=0), values.std(axis=0) + 1e-9
    inputs = np.c_[(values - mean) / deviation, np.ones(len(cases))]
    is_named = np.array([case.kind in ("replaced", "duplicate") for case in cases], float)
    weight = np.array([case.weight for case in cases])
    ridge = np.diag([RIDGE] * len(names) + [0.0])
    solution: Array = np.zeros(len(names) + 1)
    for _ in range(30):
        share = 1 / (1 + np.exp(-inputs @ solution))
        slope = inputs.T @ (weight * (share - is_named)) + ridge @ solution
        curve = (inputs * (weight * share * (1 - share))[:, None]).T @ inputs + ridge
        solution -= np.linalg.solve(curve, slope)
    weights = solution[:-1] / deviation
    return names, weights.tolist(), float(solution[-1] - weights @ mean)


def write_weights(names: Sequence[str], weights: Sequence[float], intercept: float) -> None:
    """Puts the numbers into the file, whose comments stay."""
    path = DATA / "replacement.toml"
    lines = []
    values = dict(zip(names, weights, strict=True)) | {"intercept": intercept, "least": LEAST}
    for line in path.read_text("utf-8").splitlines():
        name, equals, rest = line.partition(" = ")
        if equals and name in values:
            comment = rest.partition("#")[2]
            line = f"{name} = {values.pop(name):.3f}" + (f"  #{comment}" if comment else "")
        lines.append(line)
    if values:
        raise SystemExit(f"{path.name} has no line for {', '.join(values)}.")
    path.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
