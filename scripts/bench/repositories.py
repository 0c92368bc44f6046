"""The entries of a team in three repositories: does an agent that asks get the right one?

Entries and questions are by somebody who had not seen the rules. A real MCP client over stdio
asks `context_search` with nothing but the question, from the checkout where it arose. Beside
it: the journal's lines that hold a word of the question, as ripgrep shows them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from corpus import read
from mcp import Client, StdioServerParameters

from synaptic import Config, open_workspace, rebuild, save
from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.language.lexicon import STOP_WORDS
from synaptic.language.words import words
from synaptic.render.fence import count_tokens

SYNAPTIC = str(Path(sys.executable).with_name("synaptic"))
ROOM = 900
"""The most tokens that an answer may have."""
_HIT = re.compile(r"^(\w{8}) \d{4}-\d\d-\d\d .*", re.MULTILINE)
_ABSENT = re.compile(r"no close match|No entry holds|^No (?:entry|entries)", re.MULTILINE)
_ID = re.compile(r"<!-- syn:(?:\d{8}-)?(\w{8}) ")


@dataclass(frozen=True)
class Reply:
    """A question, what answers it, the answer, and the lines that each of its words finds."""

    kind: str
    question: str
    wanted: list[str]
    answer: str
    greps: list[list[tuple[str, str]]]

    @property
    def hits(self) -> dict[str, bool]:
        """The short ids in the answer, best first; true for one whose text is shown as well."""
        return {hit[1]: not hit[0].endswith("…") for hit in _HIT.finditer(self.answer)}

    @property
    def shown(self) -> bool:
        return {*self.wanted} <= {*self.hits}

    @property
    def told(self) -> bool:
        """True if the texts are shown too, not the titles alone."""
        return all(self.hits.get(id) for id in self.wanted)

    @property
    def first(self) -> bool:
        return next(iter(self.hits), None) in self.wanted

    @property
    def absent(self) -> bool:
        return bool(_ABSENT.search(self.answer.partition("```")[0]))

    @property
    def tokens(self) -> int:
        return count_tokens(self.answer)

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Entry and text of each line that some search finds; the rarest word comes first."""
        return list(dict.fromkeys(line for found in self.greps for line in found))

    @property
    def grepped(self) -> bool:
        return {*self.wanted} <= {id for id, _ in self.lines}

    @property
    def grepped_in_room(self) -> bool:
        """True if the lines are found among the first ROOM tokens."""
        tokens = 0
        ids = set()
        for id, text in self.lines:
            tokens += count_tokens(text)
            if tokens <= ROOM:
                ids.add(id)
        return {*self.wanted} <= ids

    @property
    def grep_tokens(self) -> int:
        return sum(count_tokens(text) for _, text in self.lines)


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """The figures of two teams: of each class of questions, of those that nothing answers, and
    the goals. The rules were changed in view of the first team's questions, and of others to the
    second; the second's here were written and asked after that.
    """
    rows = []
    for name in ("repositories", "repositories_two"):
        rows += _of_team(arguments, scratch / name, read(f"{name}.json"))
    return rows


def _of_team(
    arguments: argparse.Namespace, scratch: Path, held: Mapping[str, Any]
) -> list[dict[str, Any]]:
    home = scratch / "home"
    saved = save_entries(scratch, home, held)
    ids = {key: id.rpartition("-")[2] for key, id in saved.items()}
    lines = _lines(home / "journal")
    answers = asyncio.run(_answers(scratch, home, held))
    asked = []
    for question, answer in zip(held["questions"], answers, strict=True):
        kind, text = question["class"], question["question"]
        wanted = [ids[key] for key in question["entry_ids"]]
        asked.append(Reply(kind, text, wanted, answer, _greps(text, lines)))
    if arguments.wrong:
        _tell_wrong(asked, {id: key for key, id in ids.items()})
    answered = [one for one in asked if one.wanted]
    unanswered = [one for one in asked if not one.wanted]
    kinds = dict.fromkeys(one.kind for one in answered)
    rows = [_row(kind, [one for one in answered if one.kind == kind]) for kind in kinds]
    rows.append(_row("all", answered))
    rows.append(_absent_row("nothing answers it", unanswered))
    rows.append(_absent_row("an entry answers it", answered))
    return rows + _goals(answered, unanswered)


def save_entries(scratch: Path, home: Path, held: Mapping[str, Any]) -> dict[str, str]:
    """The id of each entry by its key; each is saved from its project's checkout."""
    home.mkdir(parents=True)
    now = datetime.fromisoformat(held["now"])
    ids: dict[str, str] = {}
    with open_workspace(
        Config(home=home, journal=home / "journal"),
        embedder=FastEmbedder(DEFAULT_MODEL, cache=scratch / "models"),
        clock=lambda: now,
    ) as workspace:
        for entry in held["entries"]:
            checkout = scratch / entry["project"]
            if not checkout.exists():
                subprocess.run(["git", "init", "-q", str(checkout)], check=True)
            _make_files(checkout, entry["files"])
            replaced = entry["supersedes"]
            with chdir(checkout):
                receipt = save(
                    workspace,
                    entry["text"],
                    at=entry["at"],
                    type=entry["type"],
                    title=entry["title"],
                    files=entry["files"],
                    supersedes=[ids[replaced]] if replaced else [],
                )
            ids[entry["id"]] = receipt.id
        rebuild(workspace)  # all have vectors
    return ids


def _make_files(checkout: Path, names: Sequence[str]) -> None:
    for name in names:
        path = checkout / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            if path.parent.is_file():  # a folder that an earlier entry named without its slash
                path.parent.unlink()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()


async def _answers(scratch: Path, home: Path, held: Mapping[str, Any]) -> list[str]:
    """The text that each question gets; one of no project is asked beside the checkouts."""
    environ = {
        "HOME": str(scratch),
        "PATH": os.environ["PATH"],
        "TZ": "UTC",
        "SYNAPTIC_HOME": str(home),
        "SYNAPTIC_NOW": held["now"],
    }
    found = []
    for project in dict.fromkeys(one["project"] for one in held["questions"]):
        server = StdioServerParameters(
            command=SYNAPTIC, args=["mcp"], env=environ, cwd=str(scratch / (project or ""))
        )
        async with Client(server) as client:
            for number, one in enumerate(held["questions"]):
                if one["project"] == project:
                    said = {"query": one["question"]}
                    answer = await client.call_tool("context_search", said)
                    found.append((number, getattr(answer.content[0], "text", "")))
    return [text for _, text in sorted(found)]


def _lines(journal: Path) -> list[tuple[str, str]]:
    """The short id of the entry and the text of each line of the journal, as ripgrep has it."""
    found = []
    for path in sorted(journal.glob("*.md")):
        text = path.read_text("utf-8")
        for block in re.split(r"^(?=## )", text, flags=re.MULTILINE)[1:]:
            [id] = _ID.findall(block)
            found += [(id, f"{path.name}:{line}") for line in block.splitlines()]
    return found


def _greps(question: str, lines: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """The lines that each telling word finds, in any case; the word with the fewest first."""
    telling = {word for _, word in words(question)} - STOP_WORDS
    greps = [
        [(id, text) for id, text in lines if word in text.lower()] for word in sorted(telling)
    ]
    return sorted(greps, key=len)


def _row(kind: str, asked: Sequence[Reply]) -> dict[str, Any]:
    tokens = sorted(one.tokens for one in asked)
    return {
        "class": kind,
        "questions": len(asked),
        "shown": sum(one.shown for one in asked),
        "with its text": sum(one.told for one in asked),
        "first": sum(one.first for one in asked),
        "tokens": median(tokens),
        "tokens, 90 %": tokens[int(len(tokens) * 0.9)],
        "tokens, most": tokens[-1],
        "ripgrep: shown": sum(one.grepped for one in asked),
        f"in {ROOM} tokens": sum(one.grepped_in_room for one in asked),
        "its tokens": median(one.grep_tokens for one in asked),
    }


def _absent_row(kind: str, asked: Sequence[Reply]) -> dict[str, Any]:
    some_word = [one for one in asked if not all(one.greps)]
    return {
        "absent": kind,
        "questions": len(asked),
        "named as absent": sum(one.absent for one in asked),
        "tokens": median(one.tokens for one in asked),
        "ripgrep: no line for a word": len(some_word),
        "no line at all": sum(not one.lines for one in asked),
        "its tokens": median(one.grep_tokens for one in asked),
    }


def _goals(answered: Sequence[Reply], unanswered: Sequence[Reply]) -> list[dict[str, Any]]:
    most = max(one.tokens for one in (*answered, *unanswered))
    figures = {
        "shown": (sum(one.shown for one in answered), "38 of 40"),
        "first": (sum(one.first for one in answered), "34 of 40"),
        "tokens": (median(one.tokens for one in answered), "at most 200"),
        "tokens, most": (most, f"at most {ROOM}"),
        "named as absent": (sum(one.absent for one in unanswered), "10 of 12"),
    }
    return [
        {"measure": name, "figure": figure, "goal": goal}
        for name, (figure, goal) in figures.items()
    ]


def _tell_wrong(asked: Sequence[Reply], keys: Mapping[str, str]) -> None:
    for one in asked:
        is_right = one.shown and one.first if one.wanted else one.absent
        if not is_right:
            wanted = " ".join(keys[id] for id in one.wanted) or "nothing"
            print(f"- {one.kind}: {one.question} (wanted: {wanted})\n\n{one.answer}\n")
