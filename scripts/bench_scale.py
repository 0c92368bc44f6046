"""Scale: how long a search takes over 10,000, 100,000 and 500,000 entries, and what it misses
by being fast.

Everything runs warm. Searches are timed in this process, with the vectors of the questions at
hand; what embedding one takes stands in a row of its own. "Exact" is the same search with the
full lists: BM25 of every match, and the cosine with every vector before it was stored, both
computed when the corpus was built or by SQLite in full.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from bench_corpus import NOW, SETTLED_S
from bench_scale_corpus import MONTH, Corpus, built, edited, opened, pool_of, random_vectors
from bench_speed import asking_server, rss_anon_mb

from synaptic import Filters, Workspace, rebuild, save, search
from synaptic.config import DEFAULT_MODEL
from synaptic.index.conditions import gate
from synaptic.index.embedding import FastEmbedder
from synaptic.index.lookup import Index
from synaptic.index.rows import Candidate, quantise
from synaptic.language.query import parse_query
from synaptic.language.words import match
from synaptic.models import Vector
from synaptic.search.evidence import DEPTH, Evidence, Query, Request
from synaptic.search.ranking import score_aware_rrf
from synaptic.workspace.embed import embed_pending
from synaptic.workspace.sync import sync

Row = dict[str, Any]

SIZES = {"10k": 10_000, "100k": 100_000, "500k": 500_000}
GOALS: dict[str, dict[str, float]] = {
    "p50": {"10k": 8, "100k": 30, "500k": 120},
    "p95": {"10k": 15, "100k": 60, "500k": 250},
    "recall": {"10k": 0.99, "100k": 0.98, "500k": 0.98},
    "save": {"10k": 30, "100k": 40, "500k": 60},
    "memory": {"10k": 220, "100k": 260, "500k": 400},
}
FILTERS = {
    "type, 1 %": Filters(types=("handoff",)),
    "type, 10 %": Filters(types=("decision",)),
    "type, 90 %": Filters(
        types=("note", "progress", "insight", "issue", "reference", "handoff")
    ),
    "tag, 1 %": Filters(tags=("legal",)),
    "tag, 10 %": Filters(tags=("db",)),
    "tag, 90 %": Filters(tags=("work",)),
    "project, 1 %": Filters(projects=("tools",)),
    "project, 10 %": Filters(projects=("api",)),
    "project, 89 %": Filters(projects=("web",)),
    "a month": Filters(since=f"{MONTH}-01", until=f"{MONTH}-31"),
    "a month and a type": Filters(since=f"{MONTH}-01", until=f"{MONTH}-31", types=("note",)),
}
FILTERED, SAVES, ROUNDS, LIMIT = 40, 30, 2, 20
CHANGES, EDITS_A_ROUND = 100_000, 1_000
MANY_FILES = {10_000: "under 40 ms", 1_000: "under 5 ms"}
hybrid = partial(search, strategy="hybrid")
"""A question asked once; the default asks it in parts as well, each of which costs the same."""

clock = [time.perf_counter]
"""What times; with --cpu the processor's time, for a machine that is busy with something else.
"""


class KnownQueries(FastEmbedder):
    """The shipped model, which knows the vectors of the questions already."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(DEFAULT_MODEL, cache=corpus.home / "models")
        self._known = dict(zip(corpus.queries, corpus.vectors, strict=True))

    def embed_query(self, text: str) -> Vector:
        found = self._known.get(text)
        return super().embed_query(text) if found is None else found


class NoText(FastEmbedder):
    """Vectors at no cost, where only their number matters."""

    def __init__(self, cache: Path) -> None:
        super().__init__(DEFAULT_MODEL, cache=cache)
        self._vectors = random_vectors(self.dimensions)
        self._turn = threading.Lock()

    def embed_passage(self, text: str) -> Vector:
        with self._turn:
            return next(self._vectors)


class Exact(Index):
    """The same index, whose lists leave nothing out."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__(corpus.home / ".state" / "index.db")
        self._of = {vector.tobytes(): row for row, vector in enumerate(corpus.vectors)}
        self._corpus = corpus

    def lexical(
        self, terms: Sequence[str], *, context_weight: float, limit: int, **_: Any
    ) -> list[Candidate]:
        return [
            Candidate(chunk, self._entry(chunk), score)
            for chunk, score in every_match(self, terms, context_weight, limit)
        ]

    def semantic(self, vector: Vector, *, limit: int | None, **_: Any) -> list[Candidate]:
        row = self._of[vector.tobytes()]
        found = zip(
            self._corpus.nearest[row, :limit], self._corpus.cosines[row, :limit], strict=True
        )
        return [
            Candidate(int(chunk), self._entry(int(chunk)), float(cosine))
            for chunk, cosine in found
        ]

    def _entry(self, chunk: int) -> int:
        return int(
            self.file.db.execute("SELECT entry FROM chunk WHERE rowid = ?", (chunk,)).get
        )


def every_match(
    index: Index, terms: Sequence[str], context_weight: float, limit: int
) -> list[tuple[int, float]]:
    """BM25 of every chunk that holds any of the words, the best of them; what SQLite does when
    asked plainly.
    """
    found = index.file.rows(
        f"SELECT rowid, bm25(chunk_fts, 1.0, {context_weight}) AS score FROM chunk_fts "
        "WHERE chunk_fts MATCH ? ORDER BY score, rowid DESC LIMIT ?",
        " OR ".join(terms),
        limit,
    )
    return [(rowid, score) for rowid, score in found]


def every_vector(
    index: Index, vector: Vector, limit: int, filters: Filters | None = None
) -> list[tuple[int, float]]:
    """The nearest stored vectors; what sqlite-vec does when asked plainly."""
    passes = gate(filters or Filters(), None, ())
    listing, values = ("", ()) if passes.open else passes.listing
    found = index.file.rows(
        "SELECT rowid, distance FROM chunk_vec WHERE embedding MATCH vec_int8(?) AND k = ? "
        + (f"AND rowid IN ({listing})" if listing else ""),
        quantise(vector),
        limit,
        *values,
    )
    return sorted(((rowid, distance) for rowid, distance in found), key=lambda row: row[1])


def run_scale(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
    if arguments.cpu:
        clock[0] = time.process_time
    cache = arguments.cache or Path(tempfile.gettempdir()) / "synaptic-bench"
    rows: list[Row] = []
    for size in arguments.sizes.split(","):
        corpus = built(cache, arguments.data, SIZES[size])
        home = scratch / size
        shutil.copytree(corpus.home, home)
        copy = replace(corpus, home=home)
        time.sleep(SETTLED_S)
        for part in arguments.parts or PARTS:
            if part in SMALL_ONLY and size != "10k":
                continue
            print(f"  {size} {part}", file=sys.stderr)
            rows += [{"entries": size} | row for row in PARTS[part](copy, size, arguments)]
        shutil.rmtree(home)
    return rows


# -- searches
# ---------------------------------------------------------------------------------------------


def _list(ws: Workspace, query: Query) -> object:
    """The candidates of one list, fetched as a search fetches them."""
    asked = Request(parsed=parse_query("", Filters(), now=ws.clock()), now=ws.clock())
    return Evidence(ws, asked).candidates(query, LIMIT)


def _search(corpus: Corpus, size: str, _: argparse.Namespace) -> list[Row]:
    embedder = KnownQueries(corpus)
    with corpus.open(embedder) as ws:
        first = _seconds(lambda: hybrid(ws, corpus.queries[0]))
        for text in corpus.queries[:20]:
            hybrid(ws, text)
        vectors = dict(zip(corpus.queries, corpus.vectors, strict=True))
        terms = {
            text: parse_query(text, Filters(), now=ws.clock()).terms for text in corpus.queries
        }
        matched = {text: [match(term) for term in some] for text, some in terms.items()}

        def plain_fusion(text: str) -> object:
            words = every_match(ws.index, matched[text], 0, DEPTH)
            meaning = every_vector(ws.index, vectors[text], DEPTH)
            lists = {
                name: {rowid: 1.0 for rowid, _ in found}
                for name, found in (("words", words), ("meaning", meaning))
            }
            return score_aware_rrf(lists, k=60, weights={})

        stages: dict[str, Callable[[str], object]] = {
            "hybrid search, whole, without embedding": partial(hybrid, ws),
            "of it: sync": lambda _: sync(ws),
            "of it: list by words": lambda text: _list(
                ws, Query(terms[text], None, (), Filters())
            ),
            "of it: list by meaning": lambda text: _list(
                ws, Query((), vectors[text], (), Filters())
            ),
            "embedding the query": lambda text: FastEmbedder.embed_query(embedder, text),
            "peer: BM25 alone, every match": lambda text: every_match(
                ws.index, matched[text], 0, 10
            ),
            "peer: vectors alone, every one": lambda text: every_vector(
                ws.index, vectors[text], 10
            ),
            "peer: both, plain fusion k=60": plain_fusion,
        }
        seconds = _best_of(
            {
                name: [partial(stage, t) for t in corpus.queries]
                for name, stage in stages.items()
            }
        )
        rows = [_latency(name, values, "") for name, values in seconds.items()]
        rows[0]["goal"] = (
            f"p50 under {GOALS['p50'][size]:g} ms, p95 under {GOALS['p95'][size]:g} ms"
        )
        rows.insert(
            0, {"what": "the first search of a process", "p50": f"{1000 * first:.1f} ms"}
        )
        return [*rows, *_recall(corpus, ws, size)]


def _recall(corpus: Corpus, ws: Workspace, size: str) -> list[Row]:
    exact = replace(ws, index=Exact(corpus))
    shares = [_shared(hybrid(ws, text), hybrid(exact, text)) for text in corpus.queries]
    exact.index.file.close()
    figure = f"{statistics.mean(shares):.4f}"
    goal = f"at least {GOALS['recall'][size]}"
    return [
        {
            "what": f"recall@10 against exact search; worst query {min(shares):.1f}",
            "figure": figure,
            "goal": goal,
        }
    ]


def _shared(found: Any, wanted: Any) -> float:
    best = {hit.entry.id for hit in wanted.hits[:10]}
    return len(best & {hit.entry.id for hit in found.hits[:10]}) / len(best) if best else 1.0


def _filters(corpus: Corpus, _: str, __: argparse.Namespace) -> list[Row]:
    asked = corpus.queries[:FILTERED]
    exact: dict[str, list[float]] = {name: [] for name in FILTERS}
    with corpus.open(KnownQueries(corpus)) as ws:
        for text in asked:
            hybrid(ws, text)
        seconds = _best_of(
            {
                name: [partial(hybrid, ws, text, filters=filters) for text in asked]
                for name, filters in {"none": None, **FILTERS}.items()
            }
        )
        for vector in corpus.vectors[:FILTERED]:
            for name, filters in FILTERS.items():
                nearest = {rowid for rowid, _ in every_vector(ws.index, vector, 10, filters)}
                found = ws.index.semantic(
                    vector, filters=filters, within=None, phrases=(), limit=DEPTH
                )
                exact[name].append(
                    len(nearest & {c.chunk_rowid for c in found[:10]}) / (len(nearest) or 1)
                )
    plain = statistics.median(seconds["none"])
    return [
        _latency("no filter", seconds["none"], ""),
        *(
            _latency(f"filter: {name}", seconds[name], "at most 1.20 times, exact")
            | {
                "figure": f"{statistics.median(seconds[name]) / plain:.2f} times; "
                f"nearest 10 within it: {statistics.mean(exact[name]):.3f}"
            }
            for name in FILTERS
        ),
    ]


def _save(corpus: Corpus, size: str, arguments: argparse.Namespace) -> list[Row]:
    source, pool = random.Random(5), pool_of(arguments.data)
    saving, searching = [], []
    with corpus.open(FastEmbedder(DEFAULT_MODEL, cache=corpus.home / "models")) as ws:
        hybrid(ws, corpus.queries[0])
        for number in range(SAVES + 3):
            sentence, mark = source.choice(pool), f"mark{number:04d}x"
            saving.append(
                _seconds(partial(save, ws, f"{sentence} {mark} {source.choice(pool)}"))
            )
            begun = clock[0]()
            found = hybrid(ws, f"{mark} {' '.join(sentence.split()[:5])}")
            searching.append(clock[0]() - begun)
            assert any(mark in hit.entry.content for hit in found.hits), found
    saving, searching = saving[3:], searching[3:]
    both = [one + other for one, other in zip(saving, searching, strict=True)]
    goal = f"p50 under {GOALS['save'][size]:g} ms"
    return [
        _latency("save, then a search finds it (both embed)", both, goal),
        _latency("of it: the save", saving, ""),
        _latency("of it: the search", searching, ""),
    ]


def _memory(corpus: Corpus, size: str, _: argparse.Namespace) -> list[Row]:
    with asking_server(corpus.home, NOW) as (asked, pid):
        while b'"hybrid","strategy"' not in asked(corpus.queries[0]).replace(b" ", b""):
            time.sleep(0.2)
        for text in corpus.queries:
            assert b'"hits":[{' in asked(text), text
        time.sleep(1)
        seconds = [_seconds(partial(asked, text)) for text in corpus.queries]
        megabytes = rss_anon_mb(pid)
    return [
        _latency("context_search over stdio, embedding and answer included", seconds, ""),
        {
            "what": "memory of that server after 400 searches (RssAnon)",
            "figure": "unknown here" if megabytes is None else f"{megabytes:.0f} MB",
            "goal": f"under {GOALS['memory'][size]:g} MB",
        },
    ]


# -- what does not depend on the number of entries: measured with 10,000
# ----------------------------------


def _churn(corpus: Corpus, _: str, arguments: argparse.Namespace) -> list[Row]:
    """The index after many edits and deletions, against one made of the same journal."""
    source, pool = random.Random(6), pool_of(arguments.data)
    with _copy(corpus) as home, opened(home, NoText(home / "models")) as ws:
        ws.embedder.load()
        before = ws.index.counts().bytes
        paths = sorted((home / "journal").rglob("*.md"))
        waits = []
        for done in range(0, CHANGES, EDITS_A_ROUND):
            for _edit in range(EDITS_A_ROUND):
                path = source.choice(paths)
                path.write_text(
                    edited(path.read_text(encoding="utf-8"), pool, source), encoding="utf-8"
                )
            sync(ws)
            embed_pending(ws, budget_s=None)
            waits.append(_seconds(lambda: hybrid(ws, "which vector store")))
            if done % 10_000 == 0:
                grown = ws.index.counts().bytes / before
                print(f"    {done:,} changes: {grown:.2f} of the first size", file=sys.stderr)
        after = ws.index.counts().bytes
        rebuild(ws, fresh=True)
        fresh = ws.index.counts().bytes
    figure = f"{after / fresh:.2f} times ({after / 2**20:.1f} over {fresh / 2**20:.1f} MB)"
    what = f"index after {CHANGES:,} updates and deletions, over a fresh one"
    return [
        {"what": what, "figure": figure, "goal": "at most 1.3 times"},
        _latency("a search after each thousand of them", waits, ""),
    ]


def _files(corpus: Corpus, _: str, arguments: argparse.Namespace) -> list[Row]:
    pool = pool_of(arguments.data)
    rows = []
    for count, goal in MANY_FILES.items():
        with tempfile.TemporaryDirectory(dir=corpus.home.parent) as folder:
            home = Path(folder)
            for number in range(count):
                path = home / "journal" / f"{number % 100:02d}" / f"note-{number}.md"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(pool[number % len(pool)] + "\n", encoding="utf-8")
            time.sleep(SETTLED_S)
            with opened(home) as ws:
                sync(ws)
                sync(ws)
                seconds = [_seconds(lambda: sync(ws)) for _ in range(30)]
                bare = [_seconds(partial(_bare, str(home / "journal"))) for _ in range(30)]
        rows.append(_latency(f"sync, {count:,} files unchanged", seconds, goal))
        times = statistics.median(seconds) / statistics.median(bare)
        rows.append(
            {
                "what": "the same over listing and stat alone",
                "figure": f"{times:.2f} times",
                "goal": "1.3",
            }
        )
    return rows


def _bare(folder: str) -> None:
    """Lists a tree and asks for the status of each file, as any comparison must."""
    with os.scandir(folder) as found:
        for item in found:
            if item.is_dir(follow_symlinks=False):
                _bare(item.path)
            else:
                item.stat(follow_symlinks=False)


def _rebuild(corpus: Corpus, _: str, __: argparse.Namespace) -> list[Row]:
    with _copy(corpus) as home, opened(home, NoText(home / "models")) as ws:
        ws.embedder.load()
        reports = [rebuild(ws) for _ in range(3)]
    best = min(report.seconds for report in reports)
    assert not any(report.embedded for report in reports)
    return [
        {
            "what": "rebuild with known vectors, best of 3",
            "figure": f"{best:.1f} s",
            "goal": "under 5 s",
        }
    ]


@contextmanager
def _copy(corpus: Corpus) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=corpus.home.parent) as folder:
        home = Path(folder) / "home"
        shutil.copytree(corpus.home, home)
        yield home


PARTS: dict[str, Callable[[Corpus, str, argparse.Namespace], list[Row]]] = {
    "search": _search,
    "filters": _filters,
    "memory": _memory,
    "save": _save,
    "churn": _churn,
    "files": _files,
    "rebuild": _rebuild,
}
SMALL_ONLY = ("churn", "files", "rebuild")


def _seconds(action: Callable[[], object]) -> float:
    begun = clock[0]()
    action()
    return clock[0]() - begun


def _best_of(actions: dict[str, list[Callable[[], object]]]) -> dict[str, list[float]]:
    """For each action the seconds of its best time in ROUNDS; the machine is shared.

    Actions of all names take turns: noise meets them alike, and none finds what itself has just
    computed.
    """
    best = {name: [float("inf")] * len(some) for name, some in actions.items()}
    for _ in range(ROUNDS):
        for place in range(len(next(iter(actions.values())))):
            for name, some in actions.items():
                best[name][place] = min(best[name][place], _seconds(some[place]))
    return best


def _latency(what: str, seconds: Sequence[float], goal: str) -> Row:
    p50, p95 = (1000 * value for value in np.quantile(seconds, (0.5, 0.95)))
    return {
        "what": what,
        "p50": f"{p50:.1f} ms",
        "p95": f"{p95:.1f} ms",
        "figure": "",
        "goal": goal,
    }
