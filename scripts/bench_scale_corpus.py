"""Journals of 10,000 to 500,000 entries, put together of the sentences of real texts, with
vectors to match.

The index of such a journal is an ordinary one; only its vectors do not all come from the model.
An entry's vector is the mean of its sentences' vectors with some noise, but for REAL entries,
whose text was embedded as it stands.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from bench_corpus import LAST_DAY, MINUTES_APART, NOW, PER_DAY, queries, sentences

from synaptic import Config, Workspace, open_workspace
from synaptic.config import DEFAULT_MODEL, make_clock
from synaptic.index.embedding import FastEmbedder
from synaptic.language.analysis.asked import asked_of
from synaptic.notes.markdown import compose_entry, new_id, render_entry
from synaptic.workspace.sync import sync

POOL = 12_000
REAL = 3_000
QUERIES = 200
NEAREST = 500
"""So many nearest entries of each query are kept, found by brute force in fp32."""
NOISE = 0.35
BATCH = 5_000
FILES_A_DAY_FROM = 1_100
"""With more files than this, several folders have a file of each day."""

TYPES = {
    "note": 60,
    "progress": 11,
    "decision": 10,
    "insight": 9,
    "issue": 5,
    "reference": 4,
    "handoff": 1,
}
PROJECTS = {"web": 89, "api": 10, "tools": 1}
TAGS = {"work": 0.9, "db": 0.1, "legal": 0.01} | {f"topic-{n}": 0.2 / n for n in range(2, 30)}
MONTH = (LAST_DAY - timedelta(days=120)).strftime("%Y-%m")

_EXACT = ("vectors", "nearest", "cosines")
Matrix = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Corpus:
    """A built journal, its questions, and for each of them the chunks nearest to it with their
    cosines.
    """

    home: Path
    queries: tuple[str, ...]
    vectors: Matrix
    nearest: np.ndarray[Any, Any]
    cosines: Matrix

    def open(self, embedder: FastEmbedder | None = None) -> Workspace:
        return opened(self.home, embedder)


def opened(home: Path, embedder: FastEmbedder | None = None) -> Workspace:
    return open_workspace(
        Config(home=home, journal=home / "journal"), embedder=embedder, clock=make_clock(NOW)
    )


def built(cache: Path, data: Path, count: int) -> Corpus:
    """The corpus of this size; made once, then taken from the cache. A `data` folder holds tars
    and LoCoMo.
    """
    pool = pool_of(data)
    key = hashlib.sha256("\n".join((str(count), str(NOISE), *pool)).encode()).hexdigest()[:12]
    home = cache / f"scale-{count}-{key}"
    asked = queries(pool, QUERIES)
    if not (home / "exact.npz").exists():
        shutil.rmtree(home, ignore_errors=True)
        _build(home, pool, asked, count)
    exact = np.load(home / "exact.npz")
    # where a time stands in a question it is taken out before the question is embedded
    same = [
        row
        for row, text in enumerate(asked)
        if asked_of(text, today=LAST_DAY.date()).text == text
    ]
    return Corpus(
        home, tuple(asked[row] for row in same), *(exact[name][same] for name in _EXACT)
    )


def pool_of(data: Path) -> list[str]:
    """Sentences of every tar of notes in a folder, and what is said in its LoCoMo file;
    shuffled.
    """
    found = [
        sentence for archive in sorted(data.glob("*.tar.gz")) for sentence in sentences(archive)
    ]
    for path in sorted(data.glob("locomo*.json")):
        for sample in json.loads(path.read_text(encoding="utf-8")):
            for turns in sample["conversation"].values():
                found += [
                    turn["text"]
                    for turn in turns
                    if isinstance(turn, dict) and 20 <= len(turn["text"]) <= 300
                ]
    found = list(dict.fromkeys(" ".join(text.split()) for text in found))
    random.Random(0).shuffle(found)
    return found[:POOL]


def _build(home: Path, pool: list[str], asked: Sequence[str], count: int) -> None:
    def told(what: str) -> None:
        print(f"  {count:,} entries: {what}", file=sys.stderr)

    told("writing the journal")
    made_of = _write_journal(home, pool, count)
    embedder = FastEmbedder(DEFAULT_MODEL, cache=home / "models")
    with opened(home, embedder) as ws:
        told("indexing")
        sync(ws)
        with ws.index.writing():
            ws.index.file.db.execute(
                "INSERT INTO chunk_fts (chunk_fts) VALUES ('optimize')"
            )  # as after `rebuild-index`
        told("embedding sentences")
        embedder.load()
        of_sentences = _sentence_vectors(home.parent, embedder, pool)
        of_queries = np.stack([embedder.embed_query(text) for text in asked])
        told("storing vectors")
        nearest, cosines = _store_vectors(ws, embedder, pool, of_sentences, of_queries, made_of)
        ws.index.compact()
    np.savez(home / "exact.npz", vectors=of_queries, nearest=nearest, cosines=cosines)


def _write_journal(home: Path, pool: Sequence[str], count: int) -> dict[str, tuple[int, ...]]:
    """For each entry's id the sentences it is made of."""
    source = random.Random(count)
    made_of: dict[str, tuple[int, ...]] = {}
    files = -(-count // PER_DAY)
    folders = max(1, round(files / FILES_A_DAY_FROM))
    for number in range(files):
        begun = LAST_DAY - timedelta(days=number // folders)
        folder = home / "journal" / (f"area-{number % folders}" if folders > 1 else "")
        folder.mkdir(parents=True, exist_ok=True)
        blocks = [f"# {begun:%Y-%m-%d}\n"]
        for place in range(min(PER_DAY, count - number * PER_DAY)):
            chosen = tuple(source.choices(range(len(pool)), k=source.randint(2, 5)))
            text = " ".join(pool[sentence] for sentence in chosen)
            id, block = _entry(source, text, begun + timedelta(minutes=MINUTES_APART * place))
            made_of[id] = chosen
            blocks.append(block)
        (folder / f"{begun:%Y-%m-%d}.md").write_text("\n".join(blocks), encoding="utf-8")
    return made_of


def _entry(source: random.Random, text: str, at: datetime) -> tuple[str, str]:
    aware = at.astimezone()
    [kind] = source.choices(list(TYPES), weights=list(TYPES.values()))
    [project] = source.choices(list(PROJECTS), weights=list(PROJECTS.values()))
    tags = tuple(tag for tag, share in TAGS.items() if source.random() < share)
    entry, _ = compose_entry(
        text,
        id=new_id(aware.date()),
        at=aware,
        type=kind,
        title=None,
        tags=tags,
        importance=None,
        files=(),
        project=project,
        parent=None,
        supersedes=(),
        by=None,
    )
    return entry.id, render_entry(entry) + "\n"


def _sentence_vectors(cache: Path, embedder: FastEmbedder, pool: Sequence[str]) -> Matrix:
    kept = cache / f"sentences-{hashlib.sha256(''.join(pool).encode()).hexdigest()[:12]}.npy"
    if not kept.exists():
        np.save(kept, np.stack([embedder.embed_passage(text) for text in pool]))
    return np.asarray(np.load(kept), dtype=np.float32)


def _store_vectors(
    ws: Workspace,
    embedder: FastEmbedder,
    pool: Sequence[str],
    of_sentences: Matrix,
    of_queries: Matrix,
    made_of: dict[str, tuple[int, ...]],
) -> tuple[np.ndarray[Any, Any], Matrix]:
    """(rowids, cosines) of the chunks nearest to each query. Every chunk of an entry gets the
    entry's vector.
    """
    noise = np.random.default_rng(len(made_of))
    ids = dict(ws.index.file.db.execute("SELECT rowid, own_id FROM entry"))
    every = len(made_of) // REAL or 1
    nearest = np.zeros((len(of_queries), 0), dtype=np.int64)
    cosines = np.zeros((len(of_queries), 0), dtype=np.float32)
    with ws.index.writing() as writer:
        writer.use_model(embedder.name, embedder.dimensions)
        passages = list(reversed(ws.index.pending(10**9)))
        for first in range(0, len(passages), BATCH):
            some = passages[first : first + BATCH]
            vectors = np.stack(
                [of_sentences[list(made_of[ids[p.entry_rowid]])].mean(axis=0) for p in some]
            )
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors += (
                NOISE
                * noise.standard_normal(vectors.shape, dtype=np.float32)
                / np.sqrt(vectors.shape[1])
            )
            for place, passage in enumerate(some):
                if passage.entry_rowid % every == 0:
                    text = " ".join(
                        pool[sentence] for sentence in made_of[ids[passage.entry_rowid]]
                    )
                    vectors[place] = embedder.embed_passage(text)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            writer.store_vectors(
                [(p.rowid, p.hash, v) for p, v in zip(some, vectors, strict=True)]
            )
            rowids = np.tile([p.rowid for p in some], (len(of_queries), 1))
            nearest, cosines = _best(
                np.hstack([nearest, rowids]),
                np.hstack([cosines, of_queries @ vectors.T]).astype(np.float32),
            )
    return nearest, cosines


def _best(rowids: np.ndarray[Any, Any], cosines: Matrix) -> tuple[np.ndarray[Any, Any], Matrix]:
    order = np.argsort(-cosines, axis=1)[:, :NEAREST]
    return np.take_along_axis(rowids, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def edited(text: str, pool: Sequence[str], source: random.Random) -> str:
    """A day file in which one line of text is another; None of the headings and comments
    change.
    """
    lines = text.split("\n")
    places = [
        place for place, line in enumerate(lines) if line and not line.startswith(("#", "<!--"))
    ]
    lines[source.choice(places)] = " ".join(source.choices(pool, k=source.randint(2, 5)))
    return "\n".join(lines)


def random_vectors(dimensions: int) -> Iterator[Matrix]:
    """Unit vectors that mean nothing, where only their number matters."""
    source = np.random.default_rng(0)
    while True:
        vector = source.standard_normal(dimensions, dtype=np.float32)
        yield vector / np.linalg.norm(vector)
