"""The same notes and questions through other programs that remember, and through Synaptic.

| way | what the agent does | what it reads |
|---|---|---|
| flat file | nothing: the file is pasted into each session | the whole file |
| grep | `grep -i` for each word of the question that is no stop word | all lines found |
| basic-memory | calls `search_notes`, as it comes, and by meaning alone | the answer |
| memsearch | `MemSearch.search` | the parts found |
| qmd | `qmd query` with those words: by meaning it needs models from the web | its output |
| markdown-memory | calls `search_docs` | the answer |
| mcp-memory-service | saves by `memory_store`, calls `memory_search` | the answer |
| Synaptic | calls `context_search`, in no project | the answer |

Each is asked for ten. grep's files count in the order of their rarest word, as if the agent tried
that word first. Tokens are counted alike for all.

Each peer is installed from its package index into a folder below --cache, and runs with its own
defaults. Those that can ask a server of vectors have Synaptic's model: so none is downloaded, and
the searches are compared. A peer that fails is a row with its reason.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from pathlib import Path
from statistics import median
from typing import Any

from corpus import read
from mcp import Client, StdioServerParameters
from panel import mean, measures
from sets import Corpus, Maker, Question, entries

from synaptic.config import DEFAULT_MODEL
from synaptic.index.embedding import FastEmbedder
from synaptic.language.lexicon import STOP_WORDS
from synaptic.language.words import words
from synaptic.models import Entry
from synaptic.render.fence import count_tokens

SETS = {"companion": "companion", "sentences": "beliefs", "log": "project"}
"""Their names in tests/data/panel."""
MOST_NOTES = 260
MOST_QUESTIONS = 60
TIMEOUT_S = 300.0
"""Of one command, and of all questions to a server."""
BEGINS_ERROR = re.compile("(npm )?error", re.IGNORECASE)
LOADS_EXTENSIONS = (
    "import sys, pysqlite3.dbapi2 as own;"
    "sys.modules.update({'sqlite3': sys.modules['pysqlite3'], 'sqlite3.dbapi2': own})\n"
)
"""A peer's SQLite can load its index of vectors, also where Python's own cannot."""


@dataclass(frozen=True)
class NoteSet:
    name: str
    notes: Path
    home: Path
    """Of Synaptic, with the same notes."""
    files: Mapping[str, str]
    """The note's file by the short id of its entry."""
    questions: Sequence[Question]
    """Their `wanted` are files."""
    now: datetime


@dataclass(frozen=True)
class Answer:
    files: Sequence[str]
    """The notes that are named, the best first; a long one perhaps twice."""
    text: str


class Peer:
    """A program that remembers; its class says how its users ask it."""

    name = package = ""
    python = sys.executable
    settings = ""
    """For its environment; {vectors} is the address of a server of vectors."""
    tools: int | str = ""
    """The tokens of what a session reads before its first call."""

    def __init__(self, cache: Path, home: Path, vectors: str) -> None:
        self.folder = cache / self.package.rpartition("/")[2]
        self.home = home / (self.package or self.name)
        self.vectors = vectors

    def install(self) -> None:
        """Makes its environment, once."""
        if self.package and not (self.folder / "installed").exists():
            own = str(self.folder / "bin" / "python")
            self.run(self.python, "-m", "venv", "--clear", str(self.folder), own_home=False)
            wanted = (self.package, "pysqlite3-binary")
            self.run(own, "-m", "pip", "install", "-q", *wanted, own_home=False)
            for site in self.folder.glob("lib/python*/site-packages"):
                (site / "extensions.pth").write_text(LOADS_EXTENSIONS, encoding="utf-8")
            (self.folder / "installed").touch()

    def add(self, notes: NoteSet) -> None:
        """Reads the notes, which are copied into `home/notes`."""

    def ask(self, notes: NoteSet) -> list[Answer]:
        return [self.answer(question.text) for question in notes.questions]

    def answer(self, question: str) -> Answer:
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        own = dict(one.split("=") for one in self.settings.format(vectors=self.vectors).split())
        path = f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        return {"HOME": str(self.home), "PATH": path, "OMP_NUM_THREADS": "1", **own}

    def run(self, *command: str, own_home: bool = True) -> str:
        """The output. Raises RuntimeError with the line of a failed command that says why."""
        done = subprocess.run(
            command,
            cwd=self.home,
            env=self.environment() if own_home else None,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            lines = [*f"{command[0]} failed\n{done.stderr}{done.stdout}".strip().splitlines()]
            raise RuntimeError(next(filter(BEGINS_ERROR.match, lines), lines[-1]))
        return done.stdout


class Grep(Peer):
    name = "grep"

    def answer(self, question: str) -> Answer:
        outputs = []
        for word in content_words(question):
            grep = ["grep", "-rinF", "--include=*.md", "-e", word, "."]
            done = subprocess.run(
                grep, cwd=self.home / "notes", capture_output=True, check=False
            )
            outputs.append(done.stdout.decode("utf-8", "replace").splitlines())
        lines = dict.fromkeys(line for output in sorted(outputs, key=len) for line in output)
        files = [line.removeprefix("./").partition(":")[0] for line in lines]
        return Answer(files, "\n".join(lines))


class MemSearch(Peer):
    name = package = "memsearch"
    settings = "OPENAI_BASE_URL={vectors}/v1 OPENAI_API_KEY=none"

    def add(self, notes: NoteSet) -> None:
        self.python_says("await memory.index()")

    def ask(self, notes: NoteSet) -> list[Answer]:
        asked = [question.text for question in notes.questions]
        answers = self.python_says(f"return [await memory.search(one) for one in {asked!r}]")
        texts = [json.dumps(hits) for hits in answers]
        folder = self.home / "notes"
        files = [[os.path.relpath(hit["source"], folder) for hit in hits] for hits in answers]
        return [Answer(*pair) for pair in zip(files, texts, strict=True)]

    def python_says(self, code: str) -> Any:
        lines = (
            "import asyncio, json, memsearch",
            "memory = memsearch.MemSearch(['notes'], embedding_model='any')",
            f"async def main(): {code}",
            "print(json.dumps(asyncio.run(main())))",
        )
        return json.loads(self.run("python", "-c", "\n".join(lines)))


class Qmd(Peer):
    name = "qmd, by words"
    package = "@tobilu/qmd"

    def install(self) -> None:
        """Installs Node.js as well: it needs a newer one than many have."""
        machine = {"x86_64": "x64"}.get(platform.machine(), "arm64")
        node = f"node-{platform.system().lower()}-{machine}"
        if not (self.folder / "bin").exists():
            wanted = (f"{node}@24", f"{self.package}@2")
            self.run("npm", "install", "--prefix", str(self.folder), *wanted, own_home=False)
            (self.folder / "bin").mkdir()
            for name, target in (("node", f"{node}/bin/node"), ("qmd", ".bin/qmd")):
                (self.folder / "bin" / name).symlink_to(self.folder / "node_modules" / target)

    def add(self, notes: NoteSet) -> None:
        self.run("qmd", "collection", "add", "notes", "--name", "notes")

    def answer(self, question: str) -> Answer:
        asked = "\n".join(f"lex: {word}" for word in content_words(question))
        text = self.run("qmd", "query", "--no-rerank", "--json", "-n", "10", asked)
        hits = json.loads(text) if text.startswith("[") else []
        return Answer([hit["file"].removeprefix("qmd://notes/") for hit in hits], text)


class Server(Peer):
    """A peer that is asked over stdio."""

    command = tool = ""
    values: Sequence[tuple[str, Any]] = (("limit", 10),)
    """The arguments beside the question."""
    as_data: Sequence[tuple[str, Any]] = ()
    """Those that bring JSON, where the answer to an agent is none."""

    def ask(self, notes: NoteSet) -> list[Answer]:
        return asyncio.run(asyncio.wait_for(self.converse(notes), TIMEOUT_S))

    async def converse(self, notes: NoteSet) -> list[Answer]:
        program, *options = self.command.split()
        server = StdioServerParameters(
            command=program, args=options, env=self.environment(), cwd=str(self.home)
        )
        answers = []
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            shapes = [(one.name, one.description, one.input_schema) for one in tools]
            self.tools = count_tokens(json.dumps(shapes))
            await self.tell(client)
            for question in notes.questions:
                asked = {"query": question.text, **dict(self.values)}
                text = data = await self.call(client, self.tool, asked)
                if self.as_data:
                    data = await self.call(client, self.tool, asked | dict(self.as_data))
                answers.append(Answer(self.files(data), text))
        return answers

    async def call(self, client: Client, tool: str, values: Mapping[str, Any]) -> str:
        answer = await client.call_tool(tool, {**values})
        text: str = getattr(answer.content[0], "text", "")
        if answer.is_error:
            raise RuntimeError(text)
        return text

    async def tell(self, client: Client) -> None:
        """Saves the notes by tools, where there is no other way."""

    def files(self, data: str) -> list[str]:
        return [hit["file_path"] for hit in json.loads(data)["results"]]


class BasicMemory(Server):
    name = package = "basic-memory"
    python = "python3.12"
    settings = (
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_PROVIDER=openai "
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_MODEL=any "
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_DIMENSIONS=384 "
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_API_KEY=none "
        "BASIC_MEMORY_SEMANTIC_EMBEDDING_API_BASE={vectors}/v1"
    )
    command = "basic-memory mcp"
    tool = "search_notes"
    values: Sequence[tuple[str, Any]] = ()
    as_data = (("output_format", "json"),)

    def add(self, notes: NoteSet) -> None:
        self.run("basic-memory", "project", "add", "notes", "notes", "--default")
        self.run("basic-memory", "reindex")


class BasicMemoryByMeaning(BasicMemory):
    name = "basic-memory, by meaning"
    values = (("search_type", "vector"), ("min_similarity", 0))


class MarkdownMemory(Server):
    name = package = "markdown-memory"
    command = "markdown-memory --docs-dir notes --no-auto-index"
    tool = "search_docs"

    async def tell(self, client: Client) -> None:
        await self.call(client, "index_directory", {})


class McpMemoryService(Server):
    name = package = "mcp-memory-service"
    settings = (
        "MCP_EXTERNAL_EMBEDDING_URL={vectors}/v1/embeddings "
        "MCP_EXTERNAL_EMBEDDING_MODEL=any MCP_MEMORY_STORAGE_BACKEND=sqlite_vec"
    )
    command = "memory server"
    tool = "memory_search"

    async def tell(self, client: Client) -> None:
        self.file_by_hash: dict[str, str] = {}
        root = self.home / "notes"
        for path in sorted(root.rglob("*.md")):
            file = path.relative_to(root).as_posix()
            saved = {"content": path.read_text("utf-8"), "conversation_id": file}
            said = ""
            with suppress(RuntimeError):  # it refuses the same text twice
                said = await self.call(client, "memory_store", saved)
            self.file_by_hash |= dict.fromkeys(re.findall("[0-9a-f]{64}", said), file)
        if not self.file_by_hash:
            raise RuntimeError("memory_store saved no note")

    def files(self, data: str) -> list[str]:
        return [self.file_by_hash[hash] for hash in re.findall("Hash: ([0-9a-f]{64})", data)]


class Synaptic(Server):
    name = "Synaptic"
    command = f"{Path(sys.executable).with_name('synaptic')} mcp"
    tool = "context_search"
    as_data = (("format", "json"),)

    def add(self, notes: NoteSet) -> None:
        self.file_by_id = notes.files
        self.settings = f"SYNAPTIC_HOME={notes.home} SYNAPTIC_NOW={notes.now.isoformat()}"

    def files(self, data: str) -> list[str]:
        return [self.file_by_id[short_id(hit["id"])] for hit in json.loads(data)["hits"]]


WAYS = (
    Grep,
    BasicMemory,
    BasicMemoryByMeaning,
    MemSearch,
    Qmd,
    MarkdownMemory,
    McpMemoryService,
)


def run(arguments: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """A row for each set of notes and way."""
    cache = (arguments.cache or scratch / "peers").resolve()
    embedder = FastEmbedder(DEFAULT_MODEL, cache=scratch / "models")
    rows = []
    with vectors_server(embedder) as vectors:
        for notes in sets(arguments, scratch, embedder):
            texts = [path.read_text("utf-8") for path in sorted(notes.notes.rglob("*.md"))]
            tokens = count_tokens("\n".join(texts))
            rows.append(row(notes, "flat file", "all is read", "", tokens, ""))
            for way in (*WAYS, Synaptic):
                peer = way(cache, scratch / "homes" / notes.name, vectors)
                rows.append(row(notes, peer.name, *measured(notes, peer)))
                print(f"  {rows[-1]}", file=sys.stderr)
    return rows


def sets(
    arguments: argparse.Namespace, scratch: Path, embedder: FastEmbedder
) -> Iterator[NoteSet]:
    """The vault only where its file is at hand."""
    maker = Maker(arguments, scratch / "synaptic", embedder)
    for name, file in SETS.items():
        told = read(f"panel/{file}.json")
        journals = told.get("journals", [told])
        said = sorted(chain(*(one["entries"] for one in journals)), key=lambda one: one["at"])
        asked = [*chain(*(one["questions"] for one in journals))]
        corpus = maker.told(name, {"entries": said[:MOST_NOTES], "questions": asked})
        yield as_files(corpus, scratch / "notes" / name)
    if arguments.vaults:
        yield as_files(maker.vault("obsidian"), None)


def as_files(corpus: Corpus, folder: Path | None) -> NoteSet:
    """Each entry as a Markdown file in the folder; without one, the journal as it is."""
    files = {}
    for number, entry in enumerate(entries(corpus.workspace), start=1):
        if folder is None:
            files[entry.id] = entry.place.path if entry.place else ""
        else:
            files[entry.id] = f"note-{number}.md"
            write_note(folder / files[entry.id], entry)
    asked = [
        Question(one.text, frozenset(files[id] for id in one.wanted))
        for one in corpus.questions
    ]
    drawn = random.Random(0).sample(asked, min(MOST_QUESTIONS, len(asked)))
    config, now = corpus.workspace.config, corpus.workspace.clock()
    corpus.workspace.close()
    by_short_id = {short_id(id): file for id, file in files.items()}
    return NoteSet(corpus.name, folder or config.journal, config.home, by_short_id, drawn, now)


def write_note(path: Path, entry: Entry) -> None:
    begins_so = entry.content.startswith(entry.title.rstrip("…"))
    titled = [] if begins_so else [f"title: {json.dumps(entry.title)}"]
    heading = [] if begins_so else [f"# {entry.title}", ""]
    lines = [
        "---",
        *titled,
        f"created: {entry.at:%Y-%m-%d}",
        "---",
        "",
        *heading,
        entry.content,
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def content_words(question: str) -> list[str]:
    return sorted({word for _, word in words(question)} - STOP_WORDS)


def short_id(id: str) -> str:
    return id.rpartition("-")[2]


@contextmanager
def vectors_server(embedder: FastEmbedder) -> Iterator[str]:
    """The address of a server of the model's vectors, in the form that OpenAI's has."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            texts = [asked] if isinstance(asked, str) else asked
            vectors = [embedder.embed_passage(text).vector.tolist() for text in texts]
            data = [{"index": place, "embedding": one} for place, one in enumerate(vectors)]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            answer = {"object": "list", "model": "any", "data": data, "usage": usage}
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: Any) -> None:
            """Stays silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def measured(notes: NoteSet, peer: Peer) -> tuple[Any, ...]:
    """The measures of a peer, or the reason why there are none."""
    is_new = not peer.home.exists()
    if is_new:
        shutil.copytree(notes.notes, peer.home / "notes")
    try:
        peer.install()
        if is_new:
            peer.add(notes)
        answers = peer.ask(notes)
    except Exception as error:  # whatever it is, the others are measured
        return f"skipped: {reason(error)}", "", "", ""
    found = [
        measures([*dict.fromkeys(answer.files)], question.wanted)
        for question, answer in zip(notes.questions, answers, strict=True)
    ]
    recall, ndcg = (f"{mean(values):.3f}" for values in zip(*found, strict=True))
    tokens = round(median(count_tokens(answer.text) for answer in answers))
    return recall, ndcg, tokens, peer.tools


def reason(error: BaseException) -> str:
    """The first line of what went wrong, without folders and without a table's sign."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    said = f"{error}".strip() or type(error).__name__
    return re.sub(r"/\S+/", "", said.splitlines()[0]).replace("|", "/")[:200]


def row(notes: NoteSet, way: str, *values: Any) -> dict[str, Any]:
    names = ("recall@10", "nDCG@10", "tokens of an answer", "tokens of its tools")
    about = {"notes": notes.name, "questions": len(notes.questions), "way": way}
    return about | dict(zip(names, values, strict=True))
