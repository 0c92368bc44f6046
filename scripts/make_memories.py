"""Makes tests/data/memories anew with the programs themselves, from made-up content.

    npm install --prefix PROGRAMS @modelcontextprotocol/server-memory claude-mem bun
    python3.12 -m venv PROGRAMS/basic-memory && PROGRAMS/basic-memory/bin/pip install
    basic-memory python3.12 -m venv PROGRAMS/mcp-memory-service &&
    PROGRAMS/mcp-memory-service/bin/pip install mcp-memory-service .venv/bin/python
    scripts/make_memories.py PROGRAMS [claude_mem ...]

server-memory and basic-memory are asked over MCP, as an agent does. The own stores of
claude-mem and mcp-memory-service write their databases, the second with its hash embeddings,
which need no model. Databases are kept as SQL, without vectors and without tables that no
reader asks for.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

OUT = Path(__file__).resolve().parent.parent / "tests" / "data" / "memories"
Calls = list[tuple[str, dict[str, Any]]]

SERVER_MEMORY: Calls = [
    (
        "create_entities",
        {
            "entities": [
                {
                    "name": "Ledger",
                    "entityType": "project",
                    "observations": [
                        "Double-entry bookkeeping in Rust",
                        "Amounts are integers of the smallest unit",
                    ],
                },
                {
                    "name": "Ada",
                    "entityType": "person",
                    "observations": ["Reviews every migration"],
                },
                {"name": "Postgres 17", "entityType": "technology", "observations": []},
            ]
        },
    ),
    (
        "create_relations",
        {
            "relations": [
                {"from": "Ledger", "to": "Postgres 17", "relationType": "stores_data_in"},
                {"from": "Ada", "to": "Ledger", "relationType": "maintains"},
            ]
        },
    ),
    (
        "add_observations",
        {
            "observations": [
                {"entityName": "Ledger", "contents": ["Rounds half to even (#money)"]}
            ]
        },
    ),
]

BASIC_MEMORY: Calls = [
    (
        "write_note",
        {
            "project": "main",
            "title": "Coffee Brewing Methods",
            "directory": "coffee",
            "tags": ["coffee", "brewing"],
            "content": "# Coffee Brewing Methods\n\nWhat we learned about pour over.\n\n## "
            "Observations\n"
            "- [method] Pour over brings out more of the flavour #brewing (since May)\n"
            "- [tip] Grind medium fine for V60\n\n## Relations\n"
            "- relates_to [[Coffee Bean Origins]]\n- requires [[Proper Grinder]]\n",
        },
    ),
    (
        "write_note",
        {
            "project": "main",
            "title": "Coffee Bean Origins",
            "directory": "coffee",
            "note_type": "guide",
            "content": "Ethiopian beans are floral.\n\n- [origin] Yirgacheffe lies at "
            "1,900 m\n",
        },
    ),
    (
        "edit_note",
        {
            "project": "main",
            "identifier": "coffee/coffee-bean-origins",
            "operation": "append",
            "content": "\n- [decision] We buy washed Yirgacheffe from now on #beans\n",
        },
    ),
]


async def ask(command: list[str], environ: dict[str, str], calls: Calls) -> None:
    server = StdioServerParameters(
        command=command[0], args=command[1:], env={**os.environ, **environ}
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for tool, arguments in calls:
            answer = await session.call_tool(tool, arguments)
            said = "".join(getattr(part, "text", "") for part in answer.content)
            print(tool, said.splitlines()[0] if said else "")


def server_memory(programs: Path, work: Path) -> None:
    server = programs / "node_modules/@modelcontextprotocol/server-memory/dist/index.js"
    file = OUT / "server-memory.jsonl"
    file.unlink(missing_ok=True)
    asyncio.run(ask(["node", str(server)], {"MEMORY_FILE_PATH": str(file)}, SERVER_MEMORY))


def basic_memory(programs: Path, work: Path) -> None:
    notes = OUT / "basic-memory"
    shutil.rmtree(notes, ignore_errors=True)
    environ = {
        "HOME": str(work),
        "BASIC_MEMORY_HOME": str(notes),
        "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",
    }
    asyncio.run(
        ask([str(programs / "basic-memory/bin/basic-memory"), "mcp"], environ, BASIC_MEMORY)
    )


CLAUDE_MEM = """
const {SessionStore} = require(process.argv[2]);
const store = new SessionStore(process.argv[3]);
const at = Date.parse("2026-11-20T23:30:00Z");
const session = "c0ffee00-0000-4000-8000-000000000001", asked = "Why do the totals differ by a cent?";
store.updateMemorySessionId(store.createSDKSession(session, "ledger", asked), "memory-1");
store.saveUserPrompt(session, 1, asked);
store.storeObservation("memory-1", "ledger", {type: "bugfix", title: "Totals differed by a cent",
  subtitle: "Each line was rounded before the sum",
  facts: ["round_half_even() is called once, on the sum", "Test: tests/rounding.rs"],
  narrative: "The report rounded each line. It now sums integers and rounds once.",
  concepts: ["problem-solution", "gotcha"], files_read: ["src/report.rs", "src/money.rs"],
  files_modified: ["src/report.rs"]}, 1, 900, at);
store.storeObservation("memory-1", "ledger", {type: "decision", title: "Amounts are integers of the smallest unit",
  subtitle: null, facts: [], narrative: "No floats in the ledger: a float cannot hold 0.1.",
  concepts: ["why-it-exists"],
  files_read: [], files_modified: []}, 1, 300, at + 60000);
store.storeSummary("memory-1", "ledger", {request: "Find why the totals differ by a cent",
  investigated: "src/report.rs and its tests",
  learned: "Lines were rounded before the sum", completed: "Rounding moved to the sum",
  next_steps: "Round tax the same way",
  files_read: ["src/money.rs"], files_edited: ["src/report.rs"], notes: null}, 1, 0, at + 120000);
store.db.exec("PRAGMA wal_checkpoint(TRUNCATE)"); store.close();
"""

MCP_MEMORY_SERVICE = """
import asyncio, sys
try:  # where this Python's sqlite3 loads no extensions
    sys.modules["sqlite3"] = __import__("pysqlite3")
except ImportError:
    pass
from mcp_memory_service.models.memory import Memory
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.storage.graph import GraphStorage
from mcp_memory_service.utils.hashing import generate_content_hash as hash_of

async def main():
    store = SqliteVecMemoryStorage(sys.argv[1])
    await store.initialize()
    texts = [
        ("We deploy from the release branch only.", ["deploy", "proj:ledger"], "decision", {"source": "planning"}),
        ("A release needs two reviews.", ["deploy", "2026"], "learning", {"links": {"ticket": 42}}),
        ("The staging password is in the old wiki.", [], None, {}),
    ]
    for number, (text, tags, kind, metadata) in enumerate(texts):
        at = 1795304000.25 + 3600 * number
        print(await store.store(Memory(text, hash_of(text), tags, kind, metadata, created_at=at)))
    graph = GraphStorage(sys.argv[1])
    first, second = hash_of(texts[0][0]), hash_of(texts[1][0])
    await graph.store_association(second, first, 0.8, ["semantic"], relationship_type="supports")
    await store.delete(hash_of(texts[2][0]))
    await store.close()

asyncio.run(main())
"""


def claude_mem(programs: Path, work: Path) -> None:
    modules, database, made = (
        programs / "node_modules",
        work / "claude-mem.db",
        work / "make.cjs",
    )
    made.write_text(CLAUDE_MEM)
    store = modules / "claude-mem/plugin/sqlite/SessionStore.js"
    run = [modules / ".bin/bun", made, store, database]
    subprocess.run(
        [str(part) for part in run], check=True, env={**os.environ, "HOME": str(work)}
    )
    dump(
        database,
        OUT / "claude-mem.sql",
        "sdk_sessions",
        "user_prompts",
        "observations",
        "session_summaries",
    )


def mcp_memory_service(programs: Path, work: Path) -> None:
    database = work / "sqlite_vec.db"
    environ = {
        **os.environ,
        "HOME": str(work),
        "MCP_MEMORY_ALLOW_HASH_EMBEDDINGS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    python = programs / "mcp-memory-service/bin/python"
    subprocess.run(
        [str(python), "-c", MCP_MEMORY_SERVICE, str(database)], check=True, env=environ
    )
    dump(database, OUT / "mcp-memory-service.sql", "memories", "memory_graph")


def dump(database: Path, to: Path, *tables: str) -> None:
    """Writes these tables as SQL, without indexes, triggers and vectors."""
    with closing(sqlite3.connect(database)) as db:
        lines = []
        for table in tables:
            lines.append(
                db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", [table]).fetchone()[
                    0
                ]
                + ";"
            )
            for row in db.execute(f"SELECT * FROM {table}"):
                quoted = [db.execute("SELECT quote(?)", [value]).fetchone()[0] for value in row]
                lines.append(f"INSERT INTO {table} VALUES ({', '.join(quoted)});")
    to.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for make in (server_memory, basic_memory, claude_mem, mcp_memory_service):
        if len(sys.argv) < 3 or make.__name__ in sys.argv[2:]:
            with tempfile.TemporaryDirectory() as folder:
                make(Path(sys.argv[1]).resolve(), Path(folder))
