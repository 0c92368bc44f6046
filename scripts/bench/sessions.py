"""Forty sessions of real clients: are they found?

The questions were labelled by persons who had seen neither code nor digests.
A question is asked by a real MCP client over stdio, once from no project and once from the
repository of the session's project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

DATA = Path(__file__).parents[2] / "tests" / "data"
SOURCES = ("claude-code", "codex", "gemini", "opencode")


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """How many questions have the right session first, and among the first three."""
    home = scratch / "home"
    with zipfile.ZipFile(DATA / "sessions.zip") as packed:
        packed.extractall(home)
    environ = {
        "HOME": str(home),
        "SYNAPTIC_HOME": str(home / "synaptic"),
        "PATH": os.environ["PATH"],
    }
    for words in (["init"], *(["import", source, "--yes"] for source in SOURCES)):
        _synaptic(home, environ, *words)
    names = {truth["session"]: truth["id"] for truth in _read("session_truth.json")}
    text = "".join(
        path.read_text("utf-8") for path in (home / "synaptic" / "sessions").glob("*.md")
    )
    sources = re.findall(r"^<!-- syn:(\S+) .*? source=([^\s/]+)", text, re.MULTILINE)
    sessions = {id: names[source] for id, source in sources}
    rows = []
    for file in ("session_questions.json", "session_questions_dev.json"):
        asked = _read(file)
        for place in ("no project", "its project"):
            found = asyncio.run(
                _answers(home, environ, asked, of_project=place == "its project")
            )
            ranks = [
                _rank(one, [sessions.get(id, "") for id in ids])
                for one, ids in zip(asked, found, strict=True)
            ]
            first, three = (sum(rank <= most for rank in ranks) for most in (1, 3))
            rows.append(
                {
                    "labels": file,
                    "asked from": place,
                    "of": len(asked),
                    "first": first,
                    "in three": three,
                }
            )
    return rows


async def _answers(
    home: Path, environ: dict[str, str], asked: list[dict[str, Any]], *, of_project: bool
) -> list[list[str]]:
    """The ids that each question gets."""
    found = []
    for project in dict.fromkeys(one["project"] for one in asked) if of_project else [""]:
        folder = home / "work" / project
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        folder = folder if project else home
        server = StdioServerParameters(
            command=_program(), args=["mcp"], env=environ, cwd=str(folder)
        )
        async with Client(server) as client:
            for number, one in enumerate(asked):
                if project in ("", one["project"]):
                    answer = await client.call_tool(
                        "context_search", {"query": one["question"], "format": "json"}
                    )
                    hits = json.loads(getattr(answer.content[0], "text", "{}"))["hits"]
                    found.append((number, [hit["id"] for hit in hits]))
    return [ids for _, ids in sorted(found)]


def _rank(asked: dict[str, Any], got: list[str]) -> int:
    right = {asked["session"], *asked.get("also", ())}
    return next(
        (place for place, session in enumerate(got, start=1) if session in right),
        len(got) + 100,
    )


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text("utf-8"))


def _synaptic(home: Path, environ: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [_program(), *words], env=environ, cwd=home, capture_output=True, text=True, check=True
    )
    return done.stdout


def _program() -> str:
    return str(Path(sys.executable).with_name("synaptic"))
