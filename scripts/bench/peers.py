"""The same notes and questions through four ways to remember: grep, one flat file, basic-memory
and Synaptic.

| way | what the agent does | what it reads |
|---|---|---|
| grep | `grep -i` for each word of the question that is no stop word | all lines found |
| flat file | nothing: the file is pasted into each session | the whole file |
| basic-memory | calls `search_notes` with nothing but the question | the answer |
| basic-memory, by meaning | the same, with `search_type` vector and no least similarity | the answer |
| Synaptic | calls `context_search` with nothing but the question, in no project | the answer |

grep's files count in the order of their rarest word, as if the agent tried that word first. Both
servers are real, asked over stdio, and wholly indexed. Tokens are counted alike for all.

basic-memory takes its settings from the environment (BASIC_MEMORY_*, HF_*).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from corpus import indexed, read, write_days
from mcp import Client, StdioServerParameters
from sets import Question, entries, turns_of

from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.language.lexicon import STOP_WORDS
from synaptic.language.words import words
from synaptic.render.fence import count_tokens

SYNAPTIC = str(Path(sys.executable).with_name("synaptic"))
EARLY = 5
"""An answer counts if the right note is among so many."""
BASIC_MEMORY: dict[str, dict[str, Any]] = {
    "basic-memory": {},
    "basic-memory, by meaning": {"search_type": "vector", "min_similarity": 0},
}
"""The arguments beside the question."""


@dataclass(frozen=True)
class NoteSet:
    """A folder of notes, Synaptic's home with the same notes, and questions."""

    name: str
    notes: Path
    home: Path
    files: Mapping[str, str]
    """The note's file by the short id of its entry."""
    questions: Sequence[Question]
    now: datetime


@dataclass(frozen=True)
class Answer:
    files: Sequence[str]
    """The notes that are named, the best first."""
    tokens: int
    seconds: float


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A row for each set of notes and way, and the tokens of each server's tools."""
    embedder = FastEmbedder(DEFAULT_MODEL, cache=scratch / "models")
    rows = []
    tools: dict[str, int] = {}
    for notes in _sets(arguments, scratch, embedder):
        rows.append(_flat_row(notes))  # before basic-memory writes marks into the notes
        answers = {"grep": [_grep(notes.notes, question.text) for question in notes.questions]}
        if arguments.basic_memory:
            _index_with_basic_memory(arguments.basic_memory, notes)
            for way, values in BASIC_MEMORY.items():
                asked = _ask_basic_memory(arguments.basic_memory, notes, values)
                tools["basic-memory"], answers[way] = asyncio.run(asked)
        tools["Synaptic"], answers["Synaptic"] = asyncio.run(_ask_synaptic(notes))
        for way, replies in answers.items():
            rows.append(_row(notes, way, replies))
    costs = [{"server": name, "tokens of its tools": tokens} for name, tokens in tools.items()]
    return rows + costs


def _sets(
    arguments: argparse.Namespace, scratch: Path, embedder: FastEmbedder
) -> Iterator[NoteSet]:
    """The sets whose files are at hand."""
    yield _team(scratch / "team", embedder)
    if arguments.vaults:
        for name in ("obsidian", "logseq"):
            yield _vault(arguments.vaults, name, scratch, embedder)
    if arguments.locomo:
        first, _, last = arguments.split.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield _talk(arguments.locomo, number, scratch, embedder)


def _team(scratch: Path, embedder: FastEmbedder) -> NoteSet:
    """What a team's agents saved in three repositories; the rules were done before it."""
    team = read("repositories_two.json")
    entry_rows = [
        (one["id"], datetime.fromisoformat(one["at"]), one) for one in team["entries"]
    ]
    notes = scratch / "notes"
    notes.mkdir(parents=True)
    for key, at, entry in entry_rows:
        front = {"title": entry["title"], "type": entry["type"], "created": at.isoformat()}
        front["tags"] = [entry["project"]]
        _write_note(notes / f"{key}.md", front, entry["text"])
    now = datetime.fromisoformat(team["now"])
    files = _in_day_files(scratch / "home", entry_rows, embedder, now)
    asked = [(one["question"], one["entry_ids"]) for one in team["questions"]]
    return NoteSet("team", notes, scratch / "home", files, _of_keys(asked), now)


def _talk(source: Path, number: int, scratch: Path, embedder: FastEmbedder) -> NoteSet:
    """A talk of LoCoMo, one note a turn, asked an hour after the last."""
    scratch = scratch / f"talk-{number}"
    sample = json.loads(source.read_text(encoding="utf-8"))[number - 1]
    turns = sorted(turns_of(sample["conversation"]), key=lambda turn: turn[1])
    notes = scratch / "notes"
    notes.mkdir(parents=True)
    keys = {}
    for key, at, turn in turns:
        keys[key] = key.replace(":", "-").lower()
        front = {"title": keys[key], "created": at.isoformat()}
        _write_note(notes / f"{keys[key]}.md", front, turn["text"])
    now = turns[-1][1] + timedelta(hours=1)
    renamed = [(keys[key], at, turn) for key, at, turn in turns]
    files = _in_day_files(scratch / "home", renamed, embedder, now)
    answerable = [one for one in sample["qa"] if one["category"] != 5]
    asked = []
    for one in answerable:
        evidence = [keys[id] for id in one["evidence"] if id in keys]
        asked.append((one["question"], evidence))
    return NoteSet(
        f"LoCoMo {number}", notes, scratch / "home", files, _of_keys(asked), now.astimezone()
    )


def _vault(source: Path, name: str, scratch: Path, embedder: FastEmbedder) -> NoteSet:
    """A vault of somebody else, as it is."""
    with tarfile.open(source) as opened:
        opened.extractall(scratch / "vaults", filter="data")
    notes = scratch / name / "notes"
    home = scratch / name / "home"
    shutil.copytree(scratch / "vaults" / name, notes)
    shutil.copytree(notes, home / "journal")
    now = datetime(2026, 11, 20, 20).astimezone()
    files = {}
    for entry in entries(indexed(home, embedder, now)):
        if entry.place:
            files[_short(entry.id)] = entry.place.path
    asked = [one for one in read("vault_questions.json") if one["vault"] == name]
    questions = [Question(one["question"], frozenset({one["file"]})) for one in asked]
    return NoteSet(name, notes, home, files, questions, now)


def _write_note(path: Path, front: Mapping[str, Any], text: str) -> None:
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in front.items()]
    path.write_text("\n".join(["---", *lines, "---", "", text, ""]), encoding="utf-8")


def _in_day_files(
    home: Path, rows: Iterable[Any], embedder: FastEmbedder, now: datetime
) -> dict[str, str]:
    """The note's file by the short id of its entry; the journal is written and indexed."""
    ids = write_days(home, rows)
    indexed(home, embedder, now)
    return {_short(id): f"{key}.md" for key, id in ids.items()}


def _short(id: str) -> str:
    return id.rpartition("-")[2]


def _of_keys(asked: Iterable[tuple[str, Sequence[str]]]) -> list[Question]:
    """The questions that some note answers."""
    return [
        Question(text, frozenset(f"{key}.md" for key in keys)) for text, keys in asked if keys
    ]


def _grep(notes: Path, question: str) -> Answer:
    begun = time.perf_counter()
    outputs = []
    for word in sorted({word for _, word in words(question)} - STOP_WORDS):
        grep = ["grep", "-rinF", "--include=*.md", "-e", word, "."]
        done = subprocess.run(grep, cwd=notes, capture_output=True, check=False)
        outputs.append(done.stdout.decode("utf-8", "replace").splitlines())
    seconds = time.perf_counter() - begun
    lines = dict.fromkeys(line for output in sorted(outputs, key=len) for line in output)
    files = dict.fromkeys(line.removeprefix("./").partition(":")[0] for line in lines)
    return Answer([*files], count_tokens("\n".join(lines)), seconds)


def _index_with_basic_memory(command: str, notes: NoteSet) -> None:
    environment = _basic_memory_environment(notes)
    for arguments in (["project", "add", "notes", str(notes.notes), "--default"], ["reindex"]):
        subprocess.run([command, *arguments], env=environment, capture_output=True, check=True)


def _basic_memory_environment(notes: NoteSet) -> dict[str, str]:
    """A home of its own, and the settings that the user gave."""
    own = {"HOME": str(notes.home), "BASIC_MEMORY_CONFIG_DIR": str(notes.home / "basic-memory")}
    passed = ("BASIC_MEMORY_", "HF_", "PATH")
    return {name: value for name, value in os.environ.items() if name.startswith(passed)} | own


async def _ask_basic_memory(
    command: str, notes: NoteSet, values: Mapping[str, Any]
) -> tuple[int, list[Answer]]:
    answers = []
    environment = _basic_memory_environment(notes)
    async with _server(command, environment, notes.home) as client:
        tokens_of_tools = await _tokens_of_tools(client)
        for question in notes.questions:
            asked = {"query": question.text, **values}
            begun = time.perf_counter()
            text = await _call(client, "search_notes", asked)
            seconds = time.perf_counter() - begun
            data = await _call(client, "search_notes", {**asked, "output_format": "json"})
            hits = json.loads(data).get("results", [])
            files = [hit["file_path"] for hit in hits]
            answers.append(Answer(files, count_tokens(text), seconds))
    return tokens_of_tools, answers


async def _ask_synaptic(notes: NoteSet) -> tuple[int, list[Answer]]:
    answers = []
    environment = {
        "HOME": str(notes.home),
        "PATH": os.environ["PATH"],
        "SYNAPTIC_HOME": str(notes.home),
        "SYNAPTIC_NOW": notes.now.isoformat(),
    }
    async with _server(SYNAPTIC, environment, notes.home) as client:
        tokens_of_tools = await _tokens_of_tools(client)
        for question in notes.questions:
            begun = time.perf_counter()
            text = await _call(client, "context_search", {"query": question.text})
            seconds = time.perf_counter() - begun
            asked = {"query": question.text, "format": "json"}
            hits = json.loads(await _call(client, "context_search", asked))["hits"]
            files = dict.fromkeys(notes.files[_short(hit["id"])] for hit in hits)
            answers.append(Answer([*files], count_tokens(text), seconds))
    return tokens_of_tools, answers


@asynccontextmanager
async def _server(
    command: str, environment: dict[str, str], folder: Path
) -> AsyncIterator[Client]:
    server = StdioServerParameters(
        command=command, args=["mcp"], env=environment, cwd=str(folder)
    )
    async with Client(server) as client:
        yield client


async def _call(client: Client, tool: str, values: Mapping[str, Any]) -> str:
    answer = await client.call_tool(tool, {**values})
    return getattr(answer.content[0], "text", "")


async def _tokens_of_tools(client: Client) -> int:
    """The tokens of what a session reads before its first call."""
    tools = (await client.list_tools()).tools
    shapes = [
        {"name": tool.name, "description": tool.description, "input": tool.input_schema}
        for tool in tools
    ]
    return count_tokens(json.dumps(shapes))


def _flat_row(notes: NoteSet) -> dict[str, Any]:
    texts = [path.read_text("utf-8") for path in sorted(notes.notes.rglob("*.md"))]
    return {
        "notes": notes.name,
        "way": "flat file",
        "questions": len(notes.questions),
        f"among first {EARLY}": "all is read",
        "first": "",
        "tokens": count_tokens("\n".join(texts)),
        "tokens, most": "",
        "seconds": "",
    }


def _row(notes: NoteSet, way: str, answers: Sequence[Answer]) -> dict[str, Any]:
    early = first = 0
    for question, answer in zip(notes.questions, answers, strict=True):
        early += bool(question.wanted & {*answer.files[:EARLY]})
        first += bool(question.wanted & {*answer.files[:1]})
    return {
        "notes": notes.name,
        "way": way,
        "questions": len(notes.questions),
        f"among first {EARLY}": early,
        "first": first,
        "tokens": round(median(answer.tokens for answer in answers)),
        "tokens, most": max(answer.tokens for answer in answers),
        "seconds": f"{median(answer.seconds for answer in answers):.3f}",
    }
