"""Journals to measure on: sentences of real notes put together anew, so that words are as
frequent as in life.
"""

from __future__ import annotations

import json
import random
import re
import tarfile
from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from synaptic import Config, Workspace, open_workspace, rebuild
from synaptic.index.embedding import Embedder
from synaptic.language.lexicon import STOP_WORDS
from synaptic.notes.markdown import compose_entry, new_id, render_entry

Key = TypeVar("Key", bound=Hashable)
Said = tuple[Key, datetime, Mapping[str, Any]]
"""A key of an entry, its time, and its text, type and title."""

PER_DAY = 30
"""Entries in a day file."""
MINUTES_APART = 25
LAST_DAY = datetime(2026, 11, 20, 8)

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
_OWN = (
    "README.md",
    "ARCHITECTURE.md",
    "docs/USAGE.md",
    "docs/FORMAT.md",
    "docs/RELIABILITY.md",
    "docs/BENCHMARKS.md",
)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\"'])")
_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$|<!--.*?-->", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"[A-Za-z][\w-]{2,}")
_ASKED = (
    "how do I {}",
    "what did we note about {}",
    "when did I see {}",
    "why {}",
    "{}",
    "{}",
    "{}",
)


def read(name: str) -> Any:
    """The value of a JSON file of the tests' data."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def rendered(at: datetime, one: Mapping[str, Any]) -> tuple[str, str]:
    """The id of an entry with this text, type and title, and its lines in a day file. It
    supersedes those of `supersedes`.
    """
    aware = at.replace(tzinfo=None).astimezone()
    id = new_id(aware.date())
    entry, _ = compose_entry(
        one["text"],
        id=id,
        at=aware,
        type=one.get("type", "note"),
        title=one.get("title"),
        supersedes=one.get("supersedes", ()),
    )
    return entry.id, render_entry(entry) + "\n"


def write_days(home: Path, said: Iterable[Said[Key]]) -> dict[Key, str]:
    """Writes entries into day files; their ids by their keys."""
    (home / "journal").mkdir(parents=True)
    ids: dict[Key, str] = {}
    for key, at, one in said:
        older = [ids[other] for other in one.get("supersedes", ())]
        ids[key], text = rendered(at, {**one, "supersedes": older})
        with (home / "journal" / f"{at:%Y-%m-%d}.md").open("a", encoding="utf-8") as file:
            file.write(text)
    return ids


def indexed(home: Path, embedder: Embedder, now: datetime) -> Workspace:
    """A workspace whose journal is wholly indexed, and whose clock stands still."""
    aware = now.astimezone()
    workspace = open_workspace(
        Config(home=home, journal=home / "journal"), embedder=embedder, clock=lambda: aware
    )
    rebuild(workspace)
    return workspace


def markdown_in(archive: Path) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of every Markdown file in a tar."""
    with tarfile.open(archive) as opened:
        for member in opened.getmembers():
            source = opened.extractfile(member) if member.name.endswith(".md") else None
            if source:
                yield member.name, source.read()


def sentences(notes: Path | None) -> list[str]:
    """The sentences of a tar of notes, else of the project's own documents and test data; no
    code blocks.
    """
    texts = list(_own_texts())
    if notes:
        texts = [data.decode("utf-8", "replace") for _, data in markdown_in(notes)]
    return sentences_of(texts)


def sentences_of(texts: Iterable[str]) -> list[str]:
    """The sentences of Markdown, each once."""
    found: dict[str, None] = {}
    for text in texts:
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*#|] ?)", _FENCE.sub("\n\n", text)):
            for sentence in _SENTENCE.split(" ".join(paragraph.split())):
                if 20 <= len(sentence) <= 300 and not sentence.startswith(("#", "|", "![")):
                    found[sentence] = None
    return list(found)


def _own_texts() -> Iterator[str]:
    for name in _OWN:
        yield (ROOT / name).read_text(encoding="utf-8")
    for case in read("freshness.json"):
        yield from map(str, case.values())
    yield from read("reference_texts.json")


def entry_texts(pool: list[str], count: int, *, seed: int = 0) -> Iterator[str]:
    """Texts of two to five sentences: about 45 words, as a diligent agent saves them."""
    source = random.Random(seed)
    for _ in range(count):
        yield " ".join(source.choices(pool, k=source.randint(2, 5)))


def queries(pool: list[str], count: int, *, seed: int = 1) -> list[str]:
    """Questions and bare words, in turns, drawn from the sentences the journal is made of."""
    source = random.Random(seed)
    made: list[str] = []
    while len(made) < count:
        words = _WORD.findall(source.choice(pool))
        content = [word for word in words if word.lower() not in STOP_WORDS]
        if len(content) < 4:
            continue
        if len(made) % 2:
            made.append(" ".join(source.sample(content, k=source.randint(1, 3))))
        else:
            start = source.randrange(max(1, len(words) - 7))
            some = " ".join(words[start : start + source.randint(4, 8)])
            made.append(source.choice(_ASKED).format(some) + "?")
    return made


def make_journal(home: Path, texts: Iterator[str]) -> None:
    """A journal of day files of PER_DAY entries, the last of them on LAST_DAY."""
    (home / "journal").mkdir(parents=True)
    days: list[list[str]] = [[]]
    for text in texts:
        if len(days[-1]) == PER_DAY:
            days.append([])
        days[-1].append(text)
    for back, day in enumerate(reversed(days)):
        begun = LAST_DAY - timedelta(days=back)
        text = f"# {begun:%Y-%m-%d}\n\n"
        for place, content in enumerate(day):
            at = begun + timedelta(minutes=MINUTES_APART * place)
            type = "note" if place % 10 else "decision"
            text += rendered(at, {"text": content, "type": type})[1]
        path = home / "journal" / f"{begun:%Y-%m-%d}.md"
        path.write_text(text, encoding="utf-8")
