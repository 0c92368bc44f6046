"""Quality: is the right entry found, and does the later of two that contradict each other come
first?
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from corpus import indexed, markdown_in, write

from synaptic import SearchConfig, Workspace, find, search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.models import Entry

PLAIN = SearchConfig(
    k=60,
    weights={"lexical": 1.0, "semantic": 1.0},
    decay_floor=1.0,
    context=0,
    neighbours=0,
    later_first=False,
    speakers=False,
    analysis=False,
)
"""The two lists, without any rule of ours."""

DEFAULT = SearchConfig()
PLAIN_RRF = "plain RRF, k=60"
"""No search of Synaptic: its two lists by the formula of Cormack, Clarke and Buettcher (2009).
"""

TYPED = "plain words, as typed"
"""No search of Synaptic: BM25 of every word of the query as it is typed; no stemming, no stop
words.
"""

Scores = list[dict[str, float]]
"""The measures of each question."""


class CachedEmbedder(FastEmbedder):
    """A model that remembers what it embedded: the same questions are asked of every variant."""

    def __init__(self, cache: Path, model: str = DEFAULT_MODEL) -> None:
        super().__init__(model, cache=cache)
        self._queries: dict[str, Any] = {}

    def embed_query(self, text: str) -> Any:
        if text not in self._queries:
            self._queries[text] = super().embed_query(text)
        return self._queries[text]


@dataclass(frozen=True)
class Question:
    text: str
    wanted: frozenset[str]


@dataclass(frozen=True)
class Corpus:
    name: str
    workspace: Workspace
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Variant:
    """A ranking; `constants` are other values of (module of synaptic.search, name)."""

    name: str
    config: SearchConfig
    strategy: str = "hybrid"
    constants: Mapping[tuple[str, str], Any] = field(default_factory=dict)

    @contextmanager
    def in_force(self) -> Iterator[None]:
        before = {}
        for (module, name), value in self.constants.items():
            of = import_module(f"synaptic.search.{module}")
            before[of, name] = getattr(of, name)
            setattr(of, name, value)
        try:
            yield
        finally:
            for (of, name), value in before.items():
                setattr(of, name, value)


VARIANTS = (
    Variant(TYPED, PLAIN),
    Variant("BM25 alone", PLAIN, "lexical"),
    Variant("vectors alone", PLAIN, "semantic"),
    Variant(PLAIN_RRF, PLAIN),
    Variant("hybrid", DEFAULT),
    Variant("default", DEFAULT, "auto"),
)

ABLATIONS = (
    Variant("- query analysis", replace(DEFAULT, analysis=False), "auto"),
    Variant("- stop words", replace(DEFAULT, stop_words=False), "auto"),
    Variant("- context column", replace(DEFAULT, context=0), "auto"),
    Variant("- decay", replace(DEFAULT, decay_floor=1.0), "auto"),
    Variant("- later first", replace(DEFAULT, later_first=False), "auto"),
    Variant("- who speaks", replace(DEFAULT, speakers=False), "auto"),
    Variant("- neighbours' scores", replace(DEFAULT, neighbours=0.0), "auto"),
    Variant("- k=60, k=2 instead", replace(DEFAULT, k=2.0), "auto"),
    Variant(
        "- weights, equal instead",
        replace(DEFAULT, weights={"lexical": 1.0, "semantic": 1.0}),
        "auto",
    ),
    Variant("- less for long entries", DEFAULT, "auto", {("fuse", "EACH"): 0.0}),
    Variant("- the floor of meaning", DEFAULT, "auto", {("fuse", "NEAR"): 0.0}),
    Variant("- the floor of words", DEFAULT, "auto", {("fuse", "STRANGE"): 1e-9}),
    Variant("- the newest, where asked for", DEFAULT, "auto", {("adjust", "FITTING"): 2.0}),
    Variant("- hybrid for questions, smart instead", DEFAULT, "smart"),
)


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    embedder = CachedEmbedder(scratch / "models")
    corpora: list[Corpus] = []
    if arguments.locomo:
        first, _, last = arguments.split.partition("-")
        corpora += locomo(
            arguments.locomo, range(int(first), int(last or first) + 1), scratch, embedder
        )
    if arguments.notes:
        corpora.append(known_items(arguments.notes, scratch, embedder))
    if not corpora:
        sys.exit("bench quality: give --locomo FILE or --notes FILE.")
    found: dict[str, Scores] = {}
    for variant in (*VARIANTS, *ABLATIONS):
        found[variant.name] = [
            score for corpus in corpora for score in evaluate(corpus, variant)
        ]
        print(f"  {variant.name}", file=sys.stderr)
    for corpus in corpora:
        corpus.workspace.close()
    return [
        {"ranking": name, "questions": len(scores)} | means(scores)
        for name, scores in found.items()
    ]


def means(scores: Scores) -> dict[str, float]:
    return {name: round(mean(score[name] for score in scores), 4) for name in scores[0]}


def evaluate(corpus: Corpus, variant: Variant) -> Iterator[dict[str, float]]:
    with variant.in_force():
        yield from _evaluated(corpus, variant)


def _evaluated(corpus: Corpus, variant: Variant) -> Iterator[dict[str, float]]:
    workspace = replace(
        corpus.workspace, config=replace(corpus.workspace.config, search=variant.config)
    )
    if variant.name == TYPED:
        matched = PlainWords(
            (entry.id, f"{entry.title} {entry.content}") for entry in entries(workspace)
        )
        for question in corpus.questions:
            yield measures(matched.best(question.text, 20), question.wanted)
        return
    for question in corpus.questions:
        if variant.name == PLAIN_RRF:
            lists = (
                search(workspace, question.text, limit=100, strategy=name)
                for name in ("lexical", "semantic")
            )
            found = plain_rrf([[hit.entry.id for hit in one.hits] for one in lists])
        else:
            best = search(workspace, question.text, limit=20, strategy=variant.strategy)
            found = [hit.entry.id for hit in best.hits]
        yield measures(found, question.wanted)


def plain_rrf(lists: Iterable[Sequence[str]]) -> list[str]:
    scores: dict[str, float] = {}
    for ids in lists:
        for rank, id in enumerate(ids, start=1):
            scores[id] = scores.get(id, 0.0) + 1 / (60 + rank)
    return sorted(scores, key=lambda id: -scores[id])[:20]


class PlainWords:
    """Texts by BM25 (k1 1.2, b .75) of the words as they are written."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._counts = {id: Counter(_words(text)) for id, text in texts}
        self._holding = Counter(word for counts in self._counts.values() for word in counts)
        self._usual = mean(counts.total() for counts in self._counts.values())

    def best(self, query: str, count: int) -> list[str]:
        idf = {
            word: math.log(1 + len(self._counts) / (0.5 + self._holding[word]))
            for word in set(_words(query))
        }
        scores = {
            id: sum(
                weight
                * held[word]
                * 2.2
                / (held[word] + 1.2 * (0.25 + 0.75 * held.total() / self._usual))
                for word, weight in idf.items()
            )
            for id, held in self._counts.items()
        }
        best = sorted(scores, key=lambda id: -scores[id])[:count]
        return [id for id in best if scores[id]]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def entries(workspace: Workspace) -> Iterator[Entry]:
    """All of them, newest first."""
    cursor = None
    while True:
        page = find(workspace, limit=100, cursor=cursor)
        yield from page.entries
        cursor = page.cursor
        if cursor is None:
            return


def measures(found: Sequence[str], wanted: frozenset[str]) -> dict[str, float]:
    """Recall, precision, hit rate, reciprocal rank and nDCG (binary gains) of one answer."""
    hits = [id in wanted for id in found]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), 10) + 1))
    gained = sum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits[:10], start=1) if hit)
    return {
        "recall@5": sum(hits[:5]) / len(wanted),
        "recall@10": sum(hits[:10]) / len(wanted),
        "recall@20": sum(hits[:20]) / len(wanted),
        "precision@5": sum(hits[:5]) / 5,
        "hit@1": float(any(hits[:1])),
        "hit@10": float(any(hits[:10])),
        "MRR": next((1 / rank for rank, hit in enumerate(hits, start=1) if hit), 0.0),
        "nDCG@10": gained / ideal,
    }


def locomo(
    path: Path, wanted: Iterable[int], scratch: Path, embedder: FastEmbedder
) -> Iterator[Corpus]:
    """One journal per conversation: one day file per session, one entry per turn, asked after
    the last session.
    """
    conversations = json.loads(path.read_text(encoding="utf-8"))
    for number in wanted:
        sample = conversations[number - 1]
        conversation = sample["conversation"]
        home = scratch / f"locomo-{number}"
        (home / "journal").mkdir(parents=True)
        ids: dict[str, str] = {}
        last = datetime.min
        for session in sorted(
            (
                key
                for key in conversation
                if key.startswith("session_") and isinstance(conversation[key], list)
            ),
            key=lambda key: int(key.split("_")[1]),
        ):
            begun = datetime.strptime(
                conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y"
            )
            last = max(last, begun)
            with (home / "journal" / f"{begun:%Y-%m-%d}.md").open(
                "a", encoding="utf-8"
            ) as file:
                for place, turn in enumerate(conversation[session]):
                    text = f"{turn['speaker']}: {turn['text']}"
                    if turn.get("blip_caption"):
                        text += f" [{turn['blip_caption']}]"
                    ids[turn["dia_id"]] = write(
                        file.write, text, begun + timedelta(seconds=20 * place)
                    )
        questions = tuple(
            Question(
                qa["question"],
                frozenset(ids[e] for e in qa["evidence"] if e in ids),
            )
            for qa in sample["qa"]
            if qa["category"] != 5 and any(e in ids for e in qa.get("evidence", ()))
        )
        yield Corpus(
            f"conversation {number}",
            indexed(home, embedder, last + timedelta(hours=1)),
            questions,
        )


def known_items(path: Path, scratch: Path, embedder: FastEmbedder) -> Corpus:
    """Each note is sought by its title, which is taken out of what is indexed."""
    home = scratch / "notes"
    questions: list[tuple[str, str]] = []
    for note, data in markdown_in(path):
        title, _, body = data.decode("utf-8", "replace").partition("\n")
        if not title.startswith("# ") or not body.strip() or "README" in note:
            continue
        name = f"n{len(questions):04d}.md"
        (home / "journal").mkdir(parents=True, exist_ok=True)
        (home / "journal" / name).write_text(body.strip() + "\n", encoding="utf-8")
        questions.append((title[2:].strip(), name))
    workspace = indexed(home, embedder, datetime.now())
    ids = {entry.place.path: entry.id for entry in entries(workspace) if entry.place}
    return Corpus(
        "notes",
        workspace,
        tuple(Question(title, frozenset([ids[name]])) for title, name in questions),
    )


def mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def bootstrap(differences: Sequence[float], *, rounds: int = 2_000) -> tuple[float, float]:
    """The 95 % interval of the mean, by resampling questions (seeded, so that a run can be
    repeated).
    """
    random_source = random.Random(0)
    means = sorted(
        mean(random_source.choices(differences, k=len(differences))) for _ in range(rounds)
    )
    return means[int(rounds * 0.025)], means[int(rounds * 0.975)]
