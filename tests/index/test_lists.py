"""The two lists of a search are bounded, and still hold what lists of everything would: after
any change, by anyone.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embedders import HashingEmbedder
from homes import open_home

from synaptic import Filters, Workspace, rebuild, search
from synaptic.errors import IndexFailed
from synaptic.index import sqlite_engine as candidates
from synaptic.index.rows import quantise

ALONE = {"decay_floor": 1.0, "analysis": False}
"""A ranking by one list and nothing else."""

Texts = dict[str, list[tuple[str, str]]]
"""By file name, the (text, tag) of each entry."""


def write(journal: Path, texts: Texts) -> None:
    for path in set(journal.glob("*.md")) - {journal / name for name in texts}:
        path.unlink()
    for name, entries in texts.items():
        lines = [
            f"## {n // 60 % 24:02d}:{n % 60:02d} {text}{tag and f' #{tag}'}\n"
            for n, (text, tag) in enumerate(entries)
        ]
        (journal / name).write_text("\n".join(lines), encoding="utf-8")


def change(texts: Texts, source: random.Random) -> Texts:
    """A third of the entries replaced, some gone, some new; at times a whole file less or more."""
    changed = {}
    for name, entries in texts.items():
        if source.random() < 0.1:
            continue
        kept = [
            source.choice(((new_text(source), tag), (text, tag), (text, tag)))
            for text, tag in entries
        ]
        kept = [entry for entry in kept if source.random() < 0.9]
        changed[name] = kept + [
            (new_text(source), source.choice("abc") * 3) for _ in range(source.randint(1, 9))
        ]
    changed[f"2026-09-{len(texts) % 28 + 1:02d}.md"] = [
        (new_text(source), "aaa") for _ in range(30)
    ]
    return changed


def new_text(source: random.Random) -> str:
    return f"{source.choice(('red', 'green', 'blue'))} {source.getrandbits(60):x}"


def distances(question: str, texts: Texts, tags: tuple[str, ...]) -> dict[str, float]:
    """How far each text is from the question, as the index holds vectors."""
    embedder = HashingEmbedder()

    def stored(text: str) -> np.ndarray[Any, Any]:
        return np.frombuffer(
            quantise(embedder.embed_passage(text).vector), dtype=np.int8
        ).astype(np.int32)

    asked = stored(question)
    entries = [entry for some in texts.values() for entry in some]
    return {
        text: float(np.sum((stored(f"{text}\n{tag}") - asked) ** 2))
        for text, tag in entries
        if tag in tags
    }


def check(ws: Workspace, texts: Texts, question: str) -> None:
    for tags in (("aaa", "bbb", "ccc"), ("bbb",), ("aaa", "ccc")):
        filters = Filters(tags=tags if len(tags) < 3 else ())
        found = search(
            ws, question, filters=filters, strategy="semantic", limit=10, embed_ms=60_000
        )
        wanted = distances(question, texts, tags)
        assert (
            sorted(wanted[hit.entry.title] for hit in found.hits)
            == sorted(wanted.values())[:10]
        )


def test_the_nearest_are_found_whoever_changes_the_journal(tmp_path: Path) -> None:
    source = random.Random(4)
    texts: Texts = {f"2026-08-{day:02d}.md": [] for day in range(1, 9)}
    texts = {
        name: [(new_text(source), source.choice("abc") * 3) for _ in range(30)]
        for name in texts
    }
    (tmp_path / "journal").mkdir()
    with open_home(tmp_path, search=ALONE) as one, open_home(tmp_path, search=ALONE) as other:
        for turn in range(8):
            write(one.journal.root, texts)
            if turn == 5:
                rebuild(other, fresh=True)
            if turn == 6:
                other.index.file.heal(IndexFailed("somebody says so", "reset"))
            check(other, texts, f"question {turn}")
            check(one, texts, f"another question {turn}")
            texts = change(texts, source)
        assert one.index.file.check(whole=True) is None
        grown = one.index.compact() and one.index.counts().bytes
        rebuild(one, fresh=True)
        assert grown < 1.5 * one.index.counts().bytes


def test_what_takes_the_place_of_another_is_found_by_other_processes(tmp_path: Path) -> None:
    source = random.Random(6)
    texts: Texts = {
        f"2026-08-{day:02d}.md": [(new_text(source), "") for _ in range(55)]
        for day in range(1, 21)
    }
    (tmp_path / "journal").mkdir()
    write(tmp_path / "journal", texts)
    with open_home(tmp_path, search=ALONE) as one, open_home(tmp_path, search=ALONE) as other:
        search(one, "embeds them all", embed_ms=60_000)
        for place in range(
            6
        ):  # the last of them were embedded last, and stand in the block that is written to
            texts["2026-08-01.md"][place] = (new_text(source), "")
            write(tmp_path / "journal", texts)
            search(other, "embeds the new one", embed_ms=60_000)
            text, _ = texts["2026-08-01.md"][place]
            [found] = search(one, text, strategy="semantic", limit=1).hits
            assert found.entry.title == text


SHARES = {
    "alpha": 0.6,
    "beta": 0.45,
    "gamma": 0.4,
    "delta": 0.35,
    "epsilon": 0.2,
    "zeta": 0.02,
    "eta": 0.0005,
}
"""The part of the entries that holds each word."""


def text_of_words(source: random.Random) -> str:
    words = [
        word for word, share in SHARES.items() for _ in range(2) if source.random() < share
    ]
    fillers = [f"filler{n}" for n in range(source.randint(1, 9))]
    return " ".join([*source.sample(words, k=len(words)), *fillers])


@pytest.fixture(scope="module")
def wordy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """6,000 entries of few words, without vectors."""
    source = random.Random(5)
    entries = [
        (text_of_words(source), "often" if source.random() < 0.9 else "seldom")
        for _ in range(6_000)
    ]
    days = {
        f"2026-{n // 28 + 1:02d}-{n % 28 + 1:02d}.md": entries[n * 40 : n * 40 + 40]
        for n in range(150)
    }
    home = tmp_path_factory.mktemp("wordy")
    (home / "journal").mkdir()
    write(home / "journal", days)
    with open_home(home, search=ALONE, embedder=HashingEmbedder(broken=True)) as ws:
        yield ws


@pytest.mark.parametrize("few", [2_000, 200])
def test_words_in_very_many_entries_find_what_scoring_all_of_them_would(
    wordy: Workspace, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # with the lower one a tenth is treated as in a larger journal
    monkeypatch.setattr(candidates, "FEW_PASS", few)
    questions = (
        "eta beta gamma delta",
        "zeta alpha gamma",
        "beta gamma delta",
        "epsilon beta",
        "alpha",
        "zeta",
        "eta",
    )
    for words in questions:
        for tags in ((), ("often",), ("seldom",)):
            filters = Filters(tags=tags)
            found = search(wordy, words, filters=filters, strategy="lexical", limit=10)
            best = scored(wordy, words, tags)
            shown = [hit.entry.id for hit in found.hits]
            assert np.sum([best[id] for id in shown]) == pytest.approx(
                np.sum(sorted(best.values())[:10]), rel=0.01
            )


def scored(ws: Workspace, words: str, tags: tuple[str, ...]) -> dict[str, float]:
    """BM25 of every entry that holds one of the words, and the tag."""
    rows = ws.index.file.db.execute(
        "SELECT e.id, bm25(chunk_fts, 1.0, 0.0), t.name FROM chunk_fts "
        "JOIN chunk c ON c.rowid = chunk_fts.rowid JOIN entry e ON e.rowid = c.entry "
        "JOIN tag t ON t.entry = e.rowid WHERE chunk_fts MATCH ?",
        (" OR ".join(words.split()),),
    )
    return {id: score for id, score, tag in rows if not tags or tag in tags}
