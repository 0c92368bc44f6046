"""The panel: many kinds of journals at once, so that no rule of the ranking is kept for the
sake of one of them.

sets.py lists the journals. The measures of a set are recall@10 and nDCG@10 of its questions;
the measure of the panel is the mean of nDCG@10 over the sets. Each variant without one rule
shows what that rule adds.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sets import CachedEmbedder, Corpus, Maker

from synaptic import SearchConfig, search

DEFAULT = SearchConfig()
BARE = replace(DEFAULT, decay_floor=1.0, speakers=False, analysis=False)
"""The two lists and their fusion, without any other rule."""
TWO_LISTS = {**DEFAULT.weights, "tokens": 0.0}
ROUNDS = 2_000
"""Samples of a bootstrap."""

Scores = list[float]
"""nDCG@10 of each question."""


@dataclass(frozen=True)
class Variant:
    """A ranking: its settings and strategy."""

    name: str
    config: SearchConfig = DEFAULT
    strategy: str = "auto"


PLAIN_RRF = Variant("plain RRF, k=60", BARE)
"""No search of Synaptic: its two lists by the formula of Cormack, Clarke and Buettcher (2009)."""
OWN_LISTS = (Variant("words", BARE, "lexical"), Variant("vectors", BARE, "semantic"))
MEASURED = (*OWN_LISTS, PLAIN_RRF, Variant("fusion alone", BARE, "hybrid"), Variant("default"))
WITHOUT = (
    Variant("query analysis", replace(DEFAULT, analysis=False)),
    Variant("removal of stop words", replace(DEFAULT, stop_words=False)),
    Variant("neighbours' scores", replace(DEFAULT, neighbours=0.0)),
    Variant("decay", replace(DEFAULT, decay_floor=1.0)),
    Variant("tokens", replace(DEFAULT, weights=TWO_LISTS)),
    Variant("who speaks", replace(DEFAULT, speakers=False)),
    Variant("k=60 instead of 2", replace(DEFAULT, k=2.0)),
    Variant("hybrid instead of smart", DEFAULT, "smart"),
)
"""The default without one rule each."""


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models", arguments.model)
    rows: list[dict[str, Any]] = []
    scores: dict[str, dict[str, Scores]] = {v.name: {} for v in (*MEASURED, *WITHOUT)}
    beside = of_another_model(arguments, scratch / "beside") if arguments.beside else {}
    for name, corpora in Maker(arguments, scratch, embedder).sets():
        recalls: dict[str, Scores] = {variant.name: [] for variant in MEASURED}
        for corpus in corpora:
            for variant in (*MEASURED, *WITHOUT):
                found = [measures(*pair) for pair in answers(corpus, variant)]
                scores[variant.name].setdefault(name, []).extend(ndcg for _, ndcg in found)
                if variant in MEASURED:
                    recalls[variant.name].extend(recall for recall, _ in found)
            corpus.workspace.close()
        rows.append(of_set(name, recalls, {v: scores[v][name] for v in recalls}))
        if name in beside:
            rows[-1]["other model"] = "{:.3f} / {:.3f}".format(*beside[name])
        print(f"  {name}", file=sys.stderr)
    return [*rows, of_panel(scores), *of_rules(scores)]


def of_another_model(
    arguments: argparse.Namespace, scratch: Path
) -> dict[str, tuple[float, float]]:
    """The means of the default's measures by the model of --beside, of each set."""
    embedder = CachedEmbedder(scratch / "models", arguments.beside)
    found = {}
    for name, corpora in Maker(arguments, scratch, embedder).sets():
        measured: list[tuple[float, float]] = []
        for corpus in corpora:
            measured += [measures(*pair) for pair in answers(corpus, Variant("default"))]
            corpus.workspace.close()
        found[name] = (mean(r for r, _ in measured), mean(n for _, n in measured))
    return found


def answers(corpus: Corpus, variant: Variant) -> Iterator[tuple[Sequence[str], frozenset[str]]]:
    """(ids found, ids wanted) of each question."""
    config = replace(corpus.workspace.config, search=variant.config)
    workspace = replace(corpus.workspace, config=config)

    def found(text: str, limit: int, strategy: str) -> list[str]:
        hits = search(workspace, text, limit=limit, strategy=strategy).hits
        return [hit.entry.id for hit in hits]

    for question in corpus.questions:
        if variant is PLAIN_RRF:
            lists = [found(question.text, 100, name) for name in ("lexical", "semantic")]
            yield plain_rrf(lists), question.wanted
        else:
            yield found(question.text, 20, variant.strategy), question.wanted


def plain_rrf(lists: Iterable[Sequence[str]]) -> list[str]:
    scores: dict[str, float] = {}
    for ids in lists:
        for rank, id in enumerate(ids, start=1):
            scores[id] = scores.get(id, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda id: -scores[id])


def measures(found: Sequence[str], wanted: frozenset[str]) -> tuple[float, float]:
    """Recall@10 and nDCG@10 (binary gains) of one answer."""
    hits = [id in wanted for id in found[:10]]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), 10) + 1))
    gained = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, start=1) if hit)
    return sum(hits) / len(wanted), gained / ideal


def of_set(
    name: str, recalls: Mapping[str, Scores], ndcg: Mapping[str, Scores]
) -> dict[str, Any]:
    row: dict[str, Any] = {"set": name, "questions": len(ndcg["default"])}
    for variant in recalls:
        row[variant] = f"{mean(recalls[variant]):.3f} / {mean(ndcg[variant]):.3f}"
    better = max((ndcg[variant.name] for variant in OWN_LISTS), key=mean)
    return row | {"default over the better list": interval([gains(ndcg["default"], better)])}


def of_panel(scores: Mapping[str, Mapping[str, Scores]]) -> dict[str, Any]:
    count = sum(len(of_set) for of_set in scores["default"].values())
    means = {v.name: f"{mean(map(mean, scores[v.name].values())):.4f}" for v in MEASURED}
    return {"set": "mean nDCG@10", "questions": count} | means


def of_rules(scores: Mapping[str, Mapping[str, Scores]]) -> Iterator[dict[str, Any]]:
    """A row for each rule: its gain of the mean over sets, and the sets that it clearly moves."""
    for rule in WITHOUT:
        gain = {
            name: gains(default, scores[rule.name][name])
            for name, default in scores["default"].items()
        }
        bounds = {name: bootstrap([of_one]) for name, of_one in gain.items()}
        yield {
            "rule": rule.name,
            "gain of mean nDCG@10": f"{mean(map(mean, gain.values())):+.4f}",
            "95 %": interval(list(gain.values())),
            "raises": ", ".join(name for name, (least, _) in bounds.items() if least > 0),
            "lowers": ", ".join(name for name, (_, most) in bounds.items() if most < 0),
        }


def gains(ours: Scores, theirs: Scores) -> Scores:
    return [one - other for one, other in zip(ours, theirs, strict=True)]


def interval(sets: Sequence[Scores]) -> str:
    low, high = bootstrap(sets)
    return f"{low:+.3f} to {high:+.3f}"


def bootstrap(sets: Sequence[Scores]) -> tuple[float, float]:
    """The 95 % interval of the mean over sets: the questions of each set are drawn anew."""
    source = random.Random(0)
    means = sorted(
        mean(mean(source.choices(one, k=len(one))) for one in sets) for _ in range(ROUNDS)
    )
    return means[int(ROUNDS * 0.025)], means[int(ROUNDS * 0.975)]


def mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)
