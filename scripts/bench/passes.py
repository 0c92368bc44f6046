"""Each pass of the search, with and without it.

A question is asked once more without each pass that changed something on the way to its answer.
Text on which no pass was made: LoCoMo 4 and 5, the notes with typing errors, the vaults, the second
team of repositories, the held half of projects.json, and ways_to_ask.json.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from corpus import indexed, read, write_days
from panel import measures
from repositories import save_entries
from sets import CachedEmbedder, Maker, by_path

from synaptic import Config, Workspace, open_workspace, search
from synaptic.notes.markdown import compose_entry, new_id, render_entry
from synaptic.search import passes

HELD = "held"
LEAST_LETTERS = 6
"""Letters of a word that gets a typing error."""
NAME_OF_CODE = re.compile(r"(?<![\w/.`-])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b")
CODE_NAMES = 120
CODE_QUESTIONS = (
    "how do I use {}?",
    "what does {} do when it fails?",
    "why did we set {} there",
)


@dataclass(frozen=True)
class Asked:
    """A question of a set, the ids that answer it, and the folder where it is asked."""

    set: str
    workspace: Workspace
    question: str
    wanted: frozenset[str]
    folder: Path


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A row for each pass and set in which an answer differs."""
    embedder = CachedEmbedder(scratch / "models", arguments.model)
    asked: dict[str, int] = defaultdict(int)
    gains: dict[tuple[str, str], list[float]] = defaultdict(list)
    for one in questions(arguments, scratch, embedder):
        asked[one.set] += 1
        with recording() as active:
            answer = answer_to(one)
        for name in sorted(active):
            with switched_off(name):
                other = answer_to(one)
            if other != answer:
                gain = measures(answer, one.wanted)[1] - measures(other, one.wanted)[1]
                gains[name, one.set].append(gain)
                if arguments.wrong:
                    print(f"- {name}, {one.set}: {one.question} ({gain:+.2f})")
    rows = []
    for row in passes.PASSES:
        for name, count in asked.items():
            differing = gains[row.name, name]
            if differing:
                rows.append(of_pass(row.name, name, count, differing))
    return rows


def of_pass(name: str, of: str, count: int, gains: Sequence[float]) -> dict[str, Any]:
    return {
        "pass": name,
        "set": of,
        "questions": count,
        "answers that differ": len(gains),
        "better": sum(gain > 0 for gain in gains),
        "worse": sum(gain < 0 for gain in gains),
        "gain of nDCG@10": f"{sum(gains) / count:+.4f}",
    }


@contextmanager
def recording() -> Iterator[set[str]]:
    """The names of the passes that change something, filled while it is in force."""
    active: set[str] = set()

    def recorded(row: Any) -> Any:
        def change(subject: Any, *others: Any) -> Any:
            before = state(subject)
            changed = row.change(subject, *others)
            if state(changed) != before:
                active.add(row.name)
            return changed

        return replace(row, change=change)

    rows = passes.PASSES
    passes.PASSES = tuple(recorded(row) for row in rows)
    try:
        yield active
    finally:
        passes.PASSES = rows


def state(subject: Any) -> Any:
    """The order and scores of a ranking; of a question or an answer the value itself."""
    if isinstance(subject, list):
        return [(r.rowid, r.score, r.also) for r in subject]
    return id(subject)


@contextmanager
def switched_off(name: str) -> Iterator[None]:
    rows = passes.PASSES
    passes.PASSES = passes.passes_without(name)
    try:
        yield
    finally:
        passes.PASSES = rows


def answer_to(asked: Asked) -> list[str]:
    with chdir(asked.folder):
        hits = search(asked.workspace, asked.question, limit=20).hits
    ids = []
    texts = set()
    for hit in hits[:10]:
        text = (hit.entry.title, hit.passage)
        ids.append("" if text in texts else hit.entry.id)  # what repeats a hit is not right
        texts.add(text)
    return ids


def questions(
    arguments: argparse.Namespace, scratch: Path, embedder: CachedEmbedder
) -> Iterator[Asked]:
    for name, corpora in Maker(arguments, scratch, embedder).sets():
        for corpus in corpora:
            for one in corpus.questions:
                yield Asked(name, corpus.workspace, one.text, one.wanted, scratch)
            if name == "notes":
                source = random.Random(0)
                for one in corpus.questions:
                    text = mistyped(one.text, source)
                    yield Asked("mistyped", corpus.workspace, text, one.wanted, scratch)
                yield from of_code(corpus.workspace, source)
            corpus.workspace.close()
    if arguments.vaults:
        yield from of_vault_twice(arguments, scratch, embedder)
    for name in ("repositories", "repositories_two"):
        yield from of_team(name, scratch / name, embedder)
    yield from of_projects(scratch / "projects", embedder)
    yield from of_ways_to_ask(scratch, embedder)


def of_code(workspace: Workspace, source: random.Random) -> Iterator[Asked]:
    """Questions with a name of code that one or two of the notes hold."""
    notes: dict[str, set[str]] = defaultdict(set)
    ids = by_path(workspace)
    for path in ids:
        text = (workspace.config.journal / path).read_text(errors="replace")
        for name in NAME_OF_CODE.findall(text):
            notes[name].add(path)
    rare = sorted(name for name, paths in notes.items() if len(paths) <= 2)
    for name in source.sample(rare, min(CODE_NAMES, len(rare))):
        wanted = frozenset().union(*(ids[path] for path in notes[name]))
        for form in CODE_QUESTIONS:
            yield Asked("code", workspace, form.format(name), wanted, workspace.config.home)


def of_vault_twice(
    arguments: argparse.Namespace, scratch: Path, embedder: CachedEmbedder
) -> Iterator[Asked]:
    """The questions of the Obsidian vault, each file of which lies in two folders."""
    home = scratch / "twice"
    told = read("panel/vaults.json")["obsidian"]
    with tarfile.open(arguments.vaults) as opened:
        opened.extractall(scratch / "unpacked", filter="data")
    for folder in ("here", "there"):
        shutil.copytree(scratch / "unpacked" / told["root"], home / "journal" / folder)
    workspace = indexed(home, embedder, datetime.now())
    ids = by_path(workspace)
    for one in told["questions"]:
        wanted = set()
        for path in one["answers"]:
            wanted |= ids.get(f"here/{path}", set()) | ids.get(f"there/{path}", set())
        if wanted:
            yield Asked("obsidian twice", workspace, one["question"], frozenset(wanted), home)
    workspace.close()


def mistyped(text: str, source: random.Random) -> str:
    """The text with two letters of a long word exchanged, if it has such a word."""
    words = text.split()
    places = [
        n for n, word in enumerate(words) if word.isalpha() and len(word) >= LEAST_LETTERS
    ]
    if places:
        place = source.choice(places)
        word = words[place]
        at = source.randrange(1, len(word) - 2)
        words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def of_team(name: str, scratch: Path, embedder: CachedEmbedder) -> Iterator[Asked]:
    """The questions of a team, each from its checkout."""
    team = read(f"{name}.json")
    home = scratch / "home"
    ids = save_entries(scratch, home, team)
    now = datetime.fromisoformat(team["now"])
    config = Config(home=home, journal=home / "journal")
    with open_workspace(config, embedder=embedder, clock=lambda: now) as workspace:
        for one in team["questions"]:
            wanted = frozenset(ids[key] for key in one["entry_ids"])
            if wanted:
                folder = scratch / (one["project"] or "")
                yield Asked(name, workspace, one["question"], wanted, folder)


def of_ways_to_ask(scratch: Path, embedder: CachedEmbedder) -> Iterator[Asked]:
    """The questions of ways_to_ask.json, a set for each way."""
    for told in read("ways_to_ask.json")["journals"]:
        home = scratch / told["name"]
        said = [(one["id"], datetime.fromisoformat(one["at"]), one) for one in told["entries"]]
        ids = write_days(home, said)
        with indexed(home, embedder, said[-1][1] + timedelta(days=1)) as workspace:
            for one in told["questions"]:
                wanted = frozenset(ids[key] for key in one["answers"])
                yield Asked(f"by {one['kind']}", workspace, one["question"], wanted, home)


def of_projects(home: Path, embedder: CachedEmbedder) -> Iterator[Asked]:
    """The held questions of projects.json, each from a folder of its project's name."""
    data = read("projects.json")
    at = datetime(2026, 11, 20, 9).astimezone()
    ids = {}
    texts = []
    for one in data["entries"]:
        entry, _ = compose_entry(
            one["content"],
            id=new_id(at.date()),
            at=at,
            type=one["type"],
            project=one["project"],
        )
        ids[one["key"]] = entry.id
        texts.append(render_entry(entry))
        at += timedelta(minutes=1)
    (home / "journal").mkdir(parents=True)
    (home / "journal" / f"{at:%Y-%m-%d}.md").write_text("\n".join(texts), encoding="utf-8")
    workspace = indexed(home, embedder, at + timedelta(days=1))
    for one in data["cases"]:
        if one["half"] == HELD:
            config = replace(workspace.config, project=one["from"])
            asking = replace(workspace, config=config)
            wanted = frozenset([ids[one["answer"]]])
            yield Asked("projects, held", asking, one["question"], wanted, home)
    workspace.close()
