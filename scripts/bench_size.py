"""Size: bytes of the index over bytes of its text, what they are made of, and what smaller
vectors would do.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from bench_corpus import markdown_in, write

from synaptic import Config, Workspace, open_workspace, rebuild
from synaptic.index.embedding import Embedder
from synaptic.index.rows import quantise

Row = dict[str, Any]
Matrix = np.ndarray[Any, Any]

PARTS = {
    "vectors": "name LIKE 'chunk_vec%' OR name LIKE 'sqlite_autoindex_chunk_vec%'",
    "words": "name LIKE 'chunk_fts%'",
    "entries": "name IN ('entry', 'entry_at', 'entry_source', 'sqlite_autoindex_entry_1')",
    "passages": "name IN ('chunk', 'chunk_hash', 'chunk_entry', 'chunk_pending')",
    "files": "name IN ('source', 'sqlite_autoindex_source_1')",
}
NEAREST = 10


@dataclass(frozen=True)
class Corpus:
    """`text_bytes`: of what was written, without what a day file adds. `questions`: what is
    sought in it.
    """

    name: str
    text_bytes: int
    questions: tuple[str, ...]
    goal: str


def run_size(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
    made = []
    if arguments.notes:
        made.append(_notes(arguments.notes, scratch / "notes" / "journal"))
    if arguments.locomo:
        made.append(_locomo(arguments.locomo, scratch / "turns" / "journal"))
    if not made:
        sys.exit("bench size: give --notes FILE, --locomo FILE or both.")
    rows: list[list[Row]] = []
    for corpus in made:
        home = scratch / corpus.name
        with open_workspace(Config(home=home, journal=home / "journal")) as workspace:
            report = rebuild(workspace)
            whole = _whole(corpus, workspace, report.entries, report.chunks)
            rows.append([whole, *_parts(corpus, workspace), *_smaller(corpus, workspace)])
    return [row for some in rows for row in some]


def _whole(corpus: Corpus, workspace: Workspace, entries: int, passages: int) -> Row:
    size = workspace.index.counts().bytes
    what = (
        f"{corpus.name}: index over text, {entries:,} entries in {passages:,} passages of "
        f"{_kb(corpus.text_bytes)}"
    )
    return {
        "what": what,
        "bytes": _kb(size),
        "figure": f"{size / corpus.text_bytes:.2f} times",
        "goal": corpus.goal,
    }


def _parts(corpus: Corpus, workspace: Workspace) -> Iterator[Row]:
    db = workspace.index.file.db
    total = db.execute("PRAGMA page_count").get * db.execute("PRAGMA page_size").get
    sizes = {
        part: db.execute(f"SELECT sum(pgsize) FROM dbstat WHERE {where}").get
        for part, where in PARTS.items()
    }
    sizes["all else"] = total - sum(sizes.values())
    for part, size in sizes.items():
        yield {
            "what": f"{corpus.name}: {part}",
            "bytes": _kb(size),
            "figure": f"{size / total:.0%} of the index",
        }
    journal = sum(path.stat().st_size for path in workspace.config.journal.rglob("*.md"))
    share = sizes["vectors"] / (journal + sizes["words"])
    what = f"{corpus.name}: vectors over journal ({_kb(journal)}) and words"
    yield {"what": what, "figure": f"{share:.0%}", "goal": "20 %"}


def _smaller(corpus: Corpus, workspace: Workspace) -> Iterator[Row]:
    """What fewer bits of each component would save, and how many of the nearest they would
    still find.
    """
    index = workspace.index
    size = index.counts().bytes
    vectors = [vector for (vector,) in index.file.db.execute("SELECT embedding FROM chunk_vec")]
    stored = (
        np.frombuffer(b"".join(vectors), dtype=np.int8)
        .reshape(len(vectors), -1)
        .astype(np.float32)
    )
    asked = _asked(workspace.embedder, corpus.questions)
    wanted = _nearest(stored, asked)
    for name, bits, kept, of_question in (
        ("four bits of each component", 4, _four_bits(stored), asked),
        ("signs alone", 1, np.sign(stored), np.sign(asked)),
        ("signs alone, the question in full", 1, np.sign(stored), asked),
    ):
        found = _nearest(kept, of_question)
        shares = [
            len(set(a) & set(b)) / NEAREST
            for a, b in zip(found.tolist(), wanted.tolist(), strict=True)
        ]
        smaller = size - len(vectors) * stored.shape[1] * (8 - bits) // 8
        yield {
            "what": f"{corpus.name}: with {name}; recall@{NEAREST} of {len(shares)} "
            f"questions against int8",
            "bytes": _kb(smaller),
            "figure": f"{smaller / corpus.text_bytes:.2f} times, recall {np.mean(shares):.3f}",
        }


def _asked(embedder: Embedder, questions: Sequence[str]) -> Matrix:
    quantised = b"".join(quantise(embedder.embed_query(text)) for text in questions)
    return (
        np.frombuffer(quantised, dtype=np.int8).reshape(len(questions), -1).astype(np.float32)
    )


def _nearest(stored: Matrix, asked: Matrix) -> Matrix:
    """Of each question the NEAREST places, by squared distance of what is stored to it, at
    equal lengths.
    """
    long = [
        matrix / np.linalg.norm(matrix, axis=1, keepdims=True) for matrix in (stored, asked)
    ]
    return np.argsort(-(long[1] @ long[0].T), axis=1, kind="stable")[:, :NEAREST]


def _four_bits(stored: Matrix) -> Matrix:
    """Sixteen levels over the two and a half standard deviations around zero."""
    step = 5 * stored.std() / 16
    return np.asarray((np.clip(np.floor(stored / step), -8, 7) + 0.5) * step)


# -- corpora
# ----------------------------------------------------------------------------------------------


def _notes(archive: Path, journal: Path) -> Corpus:
    """A file for each note, as it is; sought by their titles."""
    text_bytes, titles = 0, []
    for name, data in markdown_in(archive):
        path = journal / name.lstrip("/")
        if not path.resolve().is_relative_to(journal.resolve()):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        text_bytes += len(data)
        title = data.decode("utf-8", "replace").partition("\n")[0]
        titles += [title[2:].strip()] if title.startswith("# ") else []
    return Corpus("notes", text_bytes, tuple(titles), "1.8 times")


def _locomo(path: Path, journal: Path) -> Corpus:
    """An entry for each turn of every conversation, a day file for each session."""
    text_bytes, questions = 0, []
    for number, sample in enumerate(json.loads(path.read_text(encoding="utf-8"))):
        conversation = sample["conversation"]
        questions += [qa["question"] for qa in sample["qa"] if qa["category"] != 5]
        for session, turns in conversation.items():
            if not isinstance(turns, list):
                continue
            begun = datetime.strptime(
                conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y"
            )
            day = journal / str(number) / f"{begun:%Y-%m-%d}.md"
            day.parent.mkdir(parents=True, exist_ok=True)
            with day.open("a", encoding="utf-8") as file:
                for place, turn in enumerate(turns):
                    caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
                    text = f"{turn['speaker']}: {turn['text']}{caption}"
                    text_bytes += len(text.encode("utf-8"))
                    write(file.write, text, begun + timedelta(seconds=20 * place))
    return Corpus("turns", text_bytes, tuple(questions), "7 times")


def _kb(size: int) -> str:
    return f"{size / 1024:,.0f} KB"
