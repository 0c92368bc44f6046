"""Compares a published index with the one beside the journal, on a PostgreSQL of its own.

`--parts panel`: the questions of the panel to both engines. `--parts large`: a journal of
`--entries` entries is published; then its size, searches of one client, the nearest vectors
beside the exact ones, searches of 32 clients on two reading servers at `--rates`, and a reader
and the database killed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path

import numpy as np
from corpus import LAST_DAY, ROOT, queries, sentences
from crowd import TOKEN, Crowd, Server, cost
from journals import MODEL, LargeJournal, every_sentence, fragments, real_meanings
from panel import mean, measures
from psycopg import sql
from sets import CachedEmbedder, Corpus, Maker
from speed import QUERIES, Row, row, timed

from synaptic import Config, Filters, Workspace, open_workspace, search
from synaptic.features.sharing.publication import Position, Publication
from synaptic.features.sharing.published import open_published
from synaptic.features.sharing.publisher import Publisher
from synaptic.index.rows import quantise
from synaptic.models import Vector
from synaptic.search.evidence import DEPTH

sys.path.append(str(ROOT / "tests" / "helpers"))
from postgres import Database, separate_server
from postgres import Server as Postgres

SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "2GB",
    "effective_cache_size": "2GB",
}
"""Of the server, as docs/TEAM.md advises for a machine with 4 GB."""
READERS = "synaptic_reader"
JOURNAL = "bench"
FILES = 70
"""In one transaction, as `synaptic publish` has it: about a megabyte."""
BEST = 10
READING = 32
"""Clients of two reading servers."""
KNN_FILTERS = {
    "no filter": Filters(),
    "one day in a hundred": Filters(since="2025-01-01", until="2025-01-11"),
}
POSITION = Position(MODEL.name, MODEL.dimensions, None, 1, 1)


def run(arguments: argparse.Namespace, scratch: Path) -> list[Row]:
    rows: list[Row] = []
    with separate_server(**SETTINGS) as postgres:
        with postgres.connect() as db:
            db.execute(f"CREATE ROLE {READERS} NOLOGIN")
        if "panel" in arguments.parts:
            rows += of_panel(arguments, scratch, postgres)
        if "large" in arguments.parts:
            with postgres.database() as database:
                for one in of_large(arguments, scratch, database):
                    print(one, file=sys.stderr, flush=True)
                    rows.append(one)
    return rows


# -- a large journal


def of_large(arguments: argparse.Namespace, scratch: Path, database: Database) -> Iterator[Row]:
    """Publishes a large journal, and asks it in many ways."""
    cache = arguments.cache or Path(tempfile.gettempdir()) / "synaptic-bench"
    cache.mkdir(exist_ok=True)
    pool = every_sentence(arguments)
    begun = fragments(pool)
    address = reading_role(database)
    home = cache / f"published-{arguments.entries}"
    workspace = open_workspace(Config(home=home, journal=home / "journal"))
    meanings = real_meanings(cache, begun)
    journal = LargeJournal(workspace, pool, arguments.entries, meanings)
    yield from publish(journal, journal.write(begun), database)
    yield from sizes(database)
    config = Config(home=scratch, journal=scratch / "journal")
    now = LAST_DAY.replace(hour=23, minute=50).astimezone()
    reader = replace(open_published(config, address), clock=lambda: now)
    asked = queries(pool, QUERIES)
    yield searches(reader, asked)
    yield from nearest(reader, asked)
    reader.close()
    yield from crowds(arguments, address, scratch)
    yield from kills(database, address, scratch)


def publish(journal: LargeJournal, paths: list[str], database: Database) -> Iterator[Row]:
    """Publishes the files; the time of each part, and of processors: this one and the
    database's.
    """
    entries = journal.entries
    with closing(Publication(database.address, JOURNAL, stemming=True)) as publication:
        publication.lock_journal([])
        publication.create_partition()
        with database.connect() as db:
            [(process,)] = db.execute(_PUBLISHER).fetchall()
        begun = cpu_seconds(process)
        started = time.perf_counter()
        for number, files in enumerate(journal.batches(paths, FILES), start=1):
            publication.write_files(files, (), POSITION)
            if number % 20 == 0:
                done = number * FILES / len(paths)
                took = time.perf_counter() - started
                print(f"  {done:.0%}, {took:.0f} s", file=sys.stderr, flush=True)
        yield spent("text and vectors", started, begun, process, entries)
        begun = cpu_seconds(process)
        started = time.perf_counter()
        publication.build_indexes()
        yield spent("indexes", started, begun, process, entries)


def spent(what: str, started: float, begun: float, process: int, entries: int) -> Row:
    """The row of one part of a publication."""
    seconds = time.perf_counter() - started
    cpu = cpu_seconds(process) - begun
    return {
        "what": what,
        "entries": entries,
        "seconds": f"{seconds:.0f}",
        "a second": f"{entries / seconds:.0f}",
        "processor s": f"{cpu:.0f}",
        "a processor second": f"{entries / cpu:.0f}",
    }


TICKS = 100
"""A second has so many of them where Linux tells the time of a processor."""


def cpu_seconds(process: int) -> float:
    """Of this process and another; not of helpers that the other had."""
    times = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return time.process_time() + sum(map(int, times)) / TICKS


def sizes(database: Database) -> list[Row]:
    """Bytes of each table and index, the largest first."""
    with database.server.connect(database.name) as db:
        found = db.execute(_SIZES).fetchall()
        [(whole,)] = db.execute("SELECT pg_database_size(current_database())").fetchall()
    shown = [(name, size) for name, size in found if size > 10_000_000]
    rows = [*shown, ("all", whole)]
    return [{"table or index": name, "MB": f"{size / 1e6:.0f}"} for name, size in rows]


def searches(reader: Workspace, asked: list[str]) -> Row:
    """Times of one client's searches."""
    for text in asked[:10]:
        search(reader, text)
    return row("search, one client", [timed(search, reader, text) for text in asked])


def nearest(reader: Workspace, asked: list[str]) -> list[Row]:
    """The share of the exactly nearest ten passages that an answer by meaning begins with."""
    index = reader.index
    asked_for = [reader.embedder.embed_query(text).vector for text in asked]
    rows = []
    with index.engine.transaction(None):
        exactly = Exactly(index.engine.rows("SELECT rowid, embedding FROM chunk_vec"))
        for name, filters in KNN_FILTERS.items():
            passing = index.passing_chunks(filters, None)
            shares = []
            times = []
            for vector in asked_for:
                begun = time.perf_counter()
                found = index.semantic(vector, passing, limit=DEPTH)
                times.append(time.perf_counter() - begun)
                wanted = exactly.nearest(vector)
                if passing is not None:
                    every = index.semantic(vector, passing, limit=None)
                    wanted = {one.chunk_rowid for one in every[:BEST]}
                shares.append(len(wanted & {one.chunk_rowid for one in found[:BEST]}) / BEST)
            rows.append(row(f"nearest, {name}", times) | {"recall@10": f"{mean(shares):.4f}"})
    return rows


class Exactly:
    """All vectors, compared in full."""

    def __init__(self, rows: list[tuple[int, bytes]]) -> None:
        self._chunks = [chunk for chunk, _ in rows]
        stored = np.frombuffer(b"".join(one for _, one in rows), np.int8)
        self._stored = stored.reshape(len(rows), -1).astype(np.float32)
        self._sizes = (self._stored * self._stored).sum(axis=1)

    def nearest(self, vector: Vector) -> set[int]:
        """The ten nearest."""
        asked = np.frombuffer(quantise(vector), np.int8).astype(np.float32)
        apart = self._sizes - 2 * (self._stored @ asked)
        return {self._chunks[place] for place in np.argsort(apart)[:BEST]}


_PUBLISHER = """
    SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database()"""
_SIZES = """
    SELECT c.relname, pg_relation_size(c.oid) + CASE c.relkind WHEN 'r'
        THEN coalesce(pg_relation_size(c.reltoastrelid), 0) ELSE 0 END AS size
    FROM pg_class c WHERE c.relnamespace = 'synaptic'::regnamespace
    AND c.relkind IN ('r', 'i') ORDER BY size DESC"""


# -- readers that are asked by many, and killed


def crowds(arguments: argparse.Namespace, address: str, scratch: Path) -> Iterator[Row]:
    """32 clients on two reading servers, at each rate."""
    pool = sentences(arguments.notes)
    for rate in arguments.rates:
        servers = [reading_server(address, scratch / f"{rate}-{number}") for number in range(2)]
        crowd = Crowd(servers, pool, clients=READING, searches_of=0)
        measured = asyncio.run(crowd.measure(rate, arguments))
        memory = [cost(server.process.pid)["MB"] for server in servers]
        for server in servers:
            server.kill()
        yield {"clients": READING, "a second": rate} | measured | {"MB each": memory}


def reading_server(address: str, home: Path) -> Server:
    return Server(home, ROOT, "--read", SYNAPTIC_DATABASE=address)


def kills(database: Database, address: str, scratch: Path) -> Iterator[Row]:
    """The errors that a client hears while the database, or a reader, is killed and started
    again, and the seconds from the start to the first answer.
    """
    reader = reading_server(address, scratch / "killed")
    asking = Asking(reader.port)
    yield asking.told("database", database.server.kill, database.server.start)
    yield asking.told("reader", reader.kill, reader.start)
    reader.kill()


def since(begun: float) -> str:
    return f"{time.perf_counter() - begun:.1f}"


@dataclass
class Asking:
    """A client that asks again and again."""

    port: int

    def once(self) -> str:
        """The error of one search; empty where it was answered."""
        named = {"name": "context_search", "arguments": {"query": "redis connection pool"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": named}
        headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }
        try:
            with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
                connection.request("POST", "/mcp", json.dumps(message), headers)
                answer = json.loads(connection.getresponse().read())
        except OSError as error:
            return type(error).__name__
        result = answer["result"]
        return str(result["content"][0]["text"]) if result.get("isError") else ""

    def told(self, what: str, kill: Callable[[], object], start: Callable[[], object]) -> Row:
        """The errors for a second after `kill`, and the seconds until an answer after `start`."""
        while self.once():
            time.sleep(0.05)
        kill()
        killed = time.perf_counter()
        errors: dict[str, None] = {}
        while time.perf_counter() < killed + 1:
            errors[self.once()] = None
        begun = time.perf_counter()
        start()
        while self.once():
            time.sleep(0.05)
        return {"killed": what, "errors": " | ".join(errors), "answers after s": since(begun)}


# -- the panel on both engines


@dataclass
class Compared:
    """nDCG@10 of each question on the engine beside the journal and on the published one."""

    here: list[float] = field(default_factory=list)
    there: list[float] = field(default_factory=list)
    same_first: list[bool] = field(default_factory=list)
    same_ten: list[bool] = field(default_factory=list)

    def row(self, name: str) -> Row:
        return {
            "set": name,
            "questions": len(self.here),
            "SQLite": f"{mean(self.here):.4f}",
            "PostgreSQL": f"{mean(self.there):.4f}",
            "first hit equal": f"{mean(self.same_first):.4f}",
            "ten hits equal": f"{mean(self.same_ten):.4f}",
        }


def of_panel(arguments: argparse.Namespace, scratch: Path, server: Postgres) -> list[Row]:
    embedder = CachedEmbedder(scratch / "models", arguments.model)
    sets: dict[str, Compared] = {}
    for name, corpora in Maker(arguments, scratch, embedder).sets():
        compared = sets[name] = Compared()
        for corpus in corpora:
            with published(corpus.workspace, server) as (reader, _):
                compare(corpus, reader, compared, wrong=arguments.wrong)
            corpus.workspace.close()
        print(compared.row(name), file=sys.stderr, flush=True)
    rows = [compared.row(name) for name, compared in sets.items()]
    return [*rows, whole_panel(list(sets.values()))]


def whole_panel(sets: list[Compared]) -> Row:
    """The means over sets of nDCG@10, and over questions of what is equal."""
    every = Compared()
    for one in sets:
        every.same_first += one.same_first
        every.same_ten += one.same_ten
        every.here.append(mean(one.here))
        every.there.append(mean(one.there))
    return every.row("all") | {"questions": len(every.same_first)}


def compare(corpus: Corpus, reader: Workspace, compared: Compared, *, wrong: bool) -> None:
    for question in corpus.questions:
        here = answer(corpus.workspace, question.text)
        there = answer(reader, question.text)
        compared.here.append(measures(here, question.wanted)[1])
        compared.there.append(measures(there, question.wanted)[1])
        compared.same_first.append(here[:1] == there[:1])
        compared.same_ten.append(here[:10] == there[:10])
        if wrong and here[:1] != there[:1]:
            print(f"  {corpus.name}: {question.text!r}", file=sys.stderr)


def answer(workspace: Workspace, text: str) -> list[str]:
    return [hit.entry.id for hit in search(workspace, text, limit=20).hits]


@contextmanager
def published(workspace: Workspace, server: Postgres) -> Iterator[tuple[Workspace, Database]]:
    """A reader of this journal, which is published into a database of its own."""
    with server.database() as database:
        address = reading_role(database)
        with closing(Publisher(workspace, database.address, JOURNAL)) as publisher:
            publisher.start_publishing()
            publisher.publish_changes()
        reader = open_published(workspace.config, address)
        yield (replace(reader, embedder=workspace.embedder, clock=workspace.clock), database)
        reader.close()


def reading_role(database: Database) -> str:
    """The address of a new role that may read what is published."""
    address = database.role()
    with database.server.connect() as db:
        grant = sql.SQL("GRANT {} TO {}")
        names = sql.Identifier(READERS), sql.Identifier(database.roles[-1])
        db.execute(grant.format(*names))
    return address
