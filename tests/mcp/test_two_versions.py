"""A text with two versions reads as two texts, for people and agents; git's marks are no words."""

from __future__ import annotations

from pathlib import Path

import pytest
from embedders import HashingEmbedder
from mcp import Client, types
from steady import SteadyHome

from synaptic.mcp.server import build_server
from synaptic.serving.worker import Worker

DAY = "2026-11-20"
ENTRY = (
    "\\## 09:00 The orchard\n\\<!-- syn:20261120-7k3m9q2x at=2026-11-20T09:00:00+00:00 -->\n"
)
FILES = {
    f"{DAY}.md": f"# {DAY}\n\n## 09:00 The orchard\n"
    "<!-- syn:20261120-7k3m9q2x at=2026-11-20T09:00:00+00:00 h2=0 pin=1 -->\n"
    f"<<<<<<< mark1 version\n{ENTRY}\nIt gave ten crates.\n=======\n"
    f"{ENTRY}\nIt gave eleven crates.\n>>>>>>> mark2 version\n",
    "Ida.md": "# Ida\n\nLives in Hull.\n\n<<<<<<< mark1 version\nLikes crates of tea.\n||||||| mark3\n"
    "Likes tea.\n=======\nLikes crates of rum.\n>>>>>>> mark2 version\n\nHas a dog.\n",
    "Long.md": "# Long\n\n<<<<<<< mark1 version\n"
    + "The crates stood in the rain all night. " * 60
    + "\n=======\n"
    + "The crates stood in the sun all day. " * 60
    + "\n>>>>>>> mark2 version\n",
    "Git.md": "# Git\n\nIt writes this beside crates:\n\n```\n<<<<<<< ours\na\n=======\nb\n>>>>>>> x\n```\n",
}
BOTH = ("ten", "eleven", "tea", "rum")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def write(journal: Path) -> None:
    journal.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (journal / name).write_text(text)


def check(text: str) -> None:
    """Both versions can be read, and where they are settled; no mark, and no comment of a
    version.
    """
    own = text.replace("<<<<<<< ours", "").replace(">>>>>>> x", "")
    assert not any(mark in own for mark in ("<<<<<<<", ">>>>>>>", "|||||||", "mark1", "mark2"))
    assert "syn:2026" not in own and "`synaptic review`" in own
    assert "The first:" in own and "The second:" in own


def test_a_person_reads_two_versions_in_each_answer(home: SteadyHome) -> None:
    write(home.journal)
    found = home.run("search", "crates", "--strategy", "lexical").out
    check(found)
    assert all(word in found for word in BOTH)
    ids = {one["title"]: one["id"] for one in home.ask("find")["entries"]}
    for title, words in {
        "The orchard": BOTH[:2],
        "Ida": BOTH[2:],
        "Long": ("rain", "sun"),
    }.items():
        for shown in (
            home.run("get", ids[title]).out,
            home.run("get", ids[title], "--json").out,
        ):
            check(shown)
            assert all(word in shown for word in words)
    assert "<<<<<<< ours\na\n=======\nb\n" in home.run("get", ids["Git"]).out
    for word in ("mark1", "mark2", "20261120-7k3m9q2x"):
        assert not home.ask("search", word, "--strategy", "lexical")["hits"]
    assert home.ask("search", "ours", "--strategy", "lexical")["hits"]
    assert "<<<<<<< mark1 version" in (home.journal / "Ida.md").read_text()


@pytest.mark.anyio
async def test_an_agent_reads_two_versions_in_each_answer(tmp_path: Path) -> None:
    write(tmp_path / "home" / "journal")
    async with Client(build_server(Worker(tmp_path / "home", HashingEmbedder()))) as client:
        for format in ("detailed", "concise", "json"):
            args = {"query": "crates of tea or rum, ten or eleven", "format": format}
            for tool, more in (
                ("context_search", args),
                ("context_find", {"format": format, "since": "2020"}),
                ("context_get", {"id": "7k3m9q2x", "format": format}),
                ("context_brief", {"since": "all"}),
            ):
                answer = await client.call_tool(tool, more)
                assert not answer.is_error
                [block] = answer.content
                assert isinstance(block, types.TextContent)
                if tool in ("context_search", "context_get"):
                    check(block.text)
                assert "mark1" not in block.text and "mark2" not in block.text
