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

from corpus import DATA, read
from mcp import Client, StdioServerParameters

SYNAPTIC = str(Path(sys.executable).with_name("synaptic"))
SOURCES = ("claude-code", "codex", "gemini", "opencode")


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """The number of questions whose session is first, and among the first three."""
    home = scratch / "home"
    with zipfile.ZipFile(DATA / "sessions.zip") as packed:
        packed.extractall(home)
    environ = {
        "HOME": str(home),
        "SYNAPTIC_HOME": str(home / "synaptic"),
        "PATH": os.environ["PATH"],
    }
    _synaptic(home, environ, "init")
    for source in SOURCES:
        _synaptic(home, environ, "import", source, "--yes")
    names = {truth["session"]: truth["id"] for truth in read("session_truth.json")}
    text = "".join(
        path.read_text("utf-8") for path in (home / "synaptic" / "sessions").glob("*.md")
    )
    sources = re.findall(r"^<!-- syn:(\S+) .*? source=([^\s/]+)", text, re.MULTILINE)
    sessions = {id: names[source] for id, source in sources}
    rows = []
    for file in ("session_questions.json", "session_questions_dev.json"):
        asked = read(file)
        for place in ("no project", "its project"):
            found = asyncio.run(
                _answers(home, environ, asked, of_project=place == "its project")
            )
            ranks = []
            for one, ids in zip(asked, found, strict=True):
                ranks.append(_rank(one, [sessions.get(id, "") for id in ids]))
            row = {"labels": file, "asked from": place, "of": len(asked)}
            row["first"] = ranks.count(1)
            row["in three"] = sum(rank <= 3 for rank in ranks)
            rows.append(row)
    return rows


async def _answers(
    home: Path, environ: dict[str, str], asked: list[dict[str, Any]], *, of_project: bool
) -> list[list[str]]:
    """The ids that each question gets."""
    found = []
    for project in dict.fromkeys(one["project"] for one in asked) if of_project else [""]:
        folder = home / "work" / project if project else home
        if project:
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
        server = StdioServerParameters(
            command=SYNAPTIC, args=["mcp"], env=environ, cwd=str(folder)
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
    ranks = (place for place, session in enumerate(got, start=1) if session in right)
    return next(ranks, len(got) + 100)


def _synaptic(home: Path, environ: dict[str, str], *words: str) -> None:
    subprocess.run([SYNAPTIC, *words], env=environ, cwd=home, capture_output=True, check=True)
