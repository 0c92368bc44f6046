"""Large journals for `published`: files of entries of real sentences put together anew, with
vectors of the model for their first words.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from corpus import LAST_DAY, rendered, sentences, sentences_of
from sets import turns_of

from synaptic import Workspace
from synaptic.config import DEFAULT_MODEL
from synaptic.features.sharing.publication import PublishedFile, Settled
from synaptic.features.sharing.publisher import CleanJournal
from synaptic.index.embedding import FastEmbedder
from synaptic.index.rows import quantise
from synaptic.workspace.sync import read_file

MODEL = FastEmbedder(DEFAULT_MODEL, cache=Path())
REAL = 100_000
"""Vectors of the model; those of further passages lie beside one of them."""
APART = 4.0
"""Deviation of the noise on each int8 component of such a vector: a cosine of about .97."""
FRAGMENT_WORDS, STRIDE = 9, 5
ENTRIES = (20, 50)
"""In a file."""

Meanings = tuple[np.ndarray[Any, Any], list[bytes]]
"""int8 vectors of shape (passages, dimensions), and the codes of their tokens."""


def every_sentence(arguments: argparse.Namespace) -> list[str]:
    """The sentences of the notes, and of the talks and chats that are at hand."""
    texts = []
    if arguments.beam:
        with gzip.open(arguments.beam) as file:
            texts += [turn[3] for chat in json.load(file) for turn in chat["turns"]]
    if arguments.locomo:
        for sample in json.loads(arguments.locomo.read_text(encoding="utf-8")):
            texts += [one["text"] for _, _, one in turns_of(sample["conversation"])]
    return [*sentences(arguments.notes), *sentences_of(texts)]


def fragments(pool: list[str]) -> list[str]:
    """Different runs of words out of the sentences."""
    found: dict[str, None] = {}
    for sentence in pool:
        words = sentence.split()
        for start in range(0, max(1, len(words) - 4), STRIDE):
            some = " ".join(words[start : start + FRAGMENT_WORDS])
            if len(some) > 14:
                found[some] = None
    mixed = list(found)
    random.Random(5).shuffle(mixed)
    return mixed[:REAL]


def real_meanings(cache: Path, begun: list[str]) -> Meanings:
    """What the model makes of these texts; kept, since it takes 5 ms for each."""
    kept = cache / f"meanings-{len(begun)}.npz"
    if not kept.exists():
        made = [MODEL.embed_passage(text) for text in begun]
        np.savez(
            kept,
            vectors=np.stack([np.frombuffer(quantise(one.vector), np.int8) for one in made]),
            lengths=np.array([len(one.codes) for one in made]),
            codes=np.frombuffer(b"".join(one.codes for one in made), np.uint8),
        )
    stored = np.load(kept)
    codes = stored["codes"].tobytes()
    ends = np.cumsum(stored["lengths"]).tolist()
    return stored["vectors"], [
        codes[start:end] for start, end in zip([0, *ends], ends, strict=False)
    ]


@dataclass(frozen=True)
class LargeJournal:
    """`entries` entries below the journal of a workspace, made where they are not there yet."""

    workspace: Workspace
    pool: list[str]
    entries: int
    meanings: Meanings

    def write(self, begun: list[str]) -> list[str]:
        """The paths of all its files, in order."""
        root = self.workspace.config.journal
        root.mkdir(parents=True, exist_ok=True)
        source = random.Random(3)
        paths: list[str] = []
        number = 0
        while number < self.entries:
            count = min(source.randint(*ENTRIES), self.entries - number)
            path = f"{len(paths):06d}-{number}.md"
            chosen = [source.choices(self.pool, k=source.randint(1, 4)) for _ in range(count)]
            if not (root / path).exists():
                at = LAST_DAY - timedelta(hours=number % 26_280)
                texts = [
                    ". ".join([begun[(number + place) % len(begun)], *more])
                    for place, more in enumerate(chosen)
                ]
                (root / path).write_text(file_of(at, texts), encoding="utf-8")
            paths.append(path)
            number += count
        return paths

    @cached_property
    def _clean(self) -> CleanJournal:
        return CleanJournal(self.workspace)

    def read(self, path: str) -> PublishedFile:
        """A file as the publisher reads it, with vectors for its passages."""
        stamp = self._clean.stamp(path)
        assert stamp
        file = read_file(replace(self.workspace, journal=self._clean), stamp, "")
        number = int(path.removesuffix(".md").partition("-")[2])
        meanings: dict[int, tuple[bytes, bytes]] = {}
        rows = []
        for place, row in enumerate(file.rows, start=number):
            chunks = row.chunks()
            meanings |= {chunk.hash: self.meaning(place) for chunk in chunks}
            rows.append((replace(row, chunks=partial(tuple, chunks)), Settled()))
        return PublishedFile(path, b"seen", self._clean.latest, rows, MODEL.name, meanings)

    def meaning(self, number: int) -> tuple[bytes, bytes]:
        """The vector and the codes of an entry's passages."""
        vectors, codes = self.meanings
        turn, place = divmod(number, len(vectors))
        vector = vectors[place]
        if turn:
            noise = np.random.default_rng(number).normal(0, APART, len(vector))
            vector = np.clip(np.rint(vector + noise), -127, 127).astype(np.int8)
        return vector.tobytes(), codes[place]

    def batches(self, paths: list[str], files: int) -> Iterator[list[PublishedFile]]:
        for start in range(0, len(paths), files):
            yield [self.read(path) for path in paths[start : start + files]]


def file_of(at: datetime, texts: list[str]) -> str:
    """The text of a file with one entry a minute."""
    lines = [
        rendered(at + timedelta(minutes=place), {"text": text})[1]
        for place, text in enumerate(texts)
    ]
    return "".join(lines)
