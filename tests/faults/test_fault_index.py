"""Row 6: the index may be taken away, broken or replaced at any moment; the journal stays,
searches are right.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest
import sqlite_vec
from embedders import HashingEmbedder
from forks import Forked, ForkedHome, Forks
from homes import open_home
from outside import TIMEOUT_S, Answer, Home, Refusal, Server
from trials import Rounds, drawn

import synaptic
from synaptic.errors import SynapticError
from synaptic.verbs.doctor import run_checkup

pytestmark = pytest.mark.fault(row=6)

NOW = "2026-11-21T09:30:00+00:00"
TESTS = Path(__file__).parents[1]
SUFFIXES = ("", "-wal", "-shm")
PAGE = 2048
PATIENCE_S = TIMEOUT_S
WORDS = (
    "harbour lantern gravel copper meadow violin thunder orchard ladder compass winter "
    "pepper marble saddle "
    "falcon bridge candle timber anchor velvet glacier pencil hammer island kettle magnet "
    "needle puzzle"
).split()
QUERIES = ("report", "violin in winter")
Damage = Callable[[Path, random.Random], None]


# -- a journal of some entries, and what an index of it answers
# ------------------------------------


def entry_text(number: int, day: int) -> str:
    rng = random.Random(number)
    words = " ".join(rng.choice(WORDS) for _ in range(rng.randint(8, 60)))
    comment = (
        f"<!-- syn:202611{day}-{number:08d} importance={number % 10} files=src/{number % 7}.py "
        f"-->\n"
    )
    typed_by_hand = "" if number % 4 == 0 else comment
    return (
        f"## {8 + number % 20 // 2:02d}:{number % 60:02d} Report {number} "
        f"#tag{number % 5}\n{typed_by_hand}\n{words}.\n"
    )


def write_journal(home: Home, days: int, per_day: int) -> None:
    home.journal.mkdir(parents=True)
    for day in range(days):
        numbers = range(day * per_day, (day + 1) * per_day)
        text = "\n".join(entry_text(number, 17 + day) for number in numbers)
        (home.journal / f"2026-11-{17 + day}.md").write_text(
            f"# 2026-11-{17 + day}\n\n{text}", encoding="utf-8"
        )
    (home.journal / "glossary.md").write_text(
        "# Glossary\n\nA report on every 会议 and lantern.\n", encoding="utf-8"
    )


def journal_state(home: Home) -> dict[str, tuple[bytes, int, int]]:
    """Bytes, time and inode of every file of the journal."""
    files = (path for path in home.journal.rglob("*") if path.is_file())
    return {
        str(p.relative_to(home.journal)): (
            p.read_bytes(),
            p.stat().st_mtime_ns,
            p.stat().st_ino,
        )
        for p in files
    }


def hits_of(answer: Any) -> dict[str, tuple[float, str]]:
    return {hit["id"]: (round(hit["score"], 6), hit["content"]) for hit in answer["hits"]}


def assert_no_traceback(answer: Answer) -> None:
    assert answer.code in (0, 1), answer
    assert "Traceback" not in answer.text and "is a defect" not in answer.text, answer.text


# -- damages
# ---------------------------------------------------------------------------------------------


def companion(index: Path, suffix: str) -> Path:
    return Path(f"{index}{suffix}")


def gone(*suffixes: str) -> Damage:
    def damage(index: Path, rng: random.Random) -> None:
        for suffix in suffixes:
            companion(index, suffix).unlink(missing_ok=True)

    return damage


def cut_to(size: float) -> Damage:
    """Below 1 a share of the file; negative what is taken from its end."""

    def damage(index: Path, rng: random.Random) -> None:
        whole = index.stat().st_size
        os.truncate(
            index, int(whole * size) if 0 < size < 1 else size if size >= 0 else whole + size
        )

    return damage


def garbage(suffix: str = "", start: int = 0) -> Damage:
    """Written over what is there, from `start` to its end."""

    def damage(index: Path, rng: random.Random) -> None:
        path = companion(index, suffix)
        if path.exists():
            with path.open("r+b") as file:
                file.seek(start)
                file.write(rng.randbytes(max(0, path.stat().st_size - start)))

    return damage


def garbage_instead(index: Path, rng: random.Random) -> None:
    """Another file under its name, and the old log beside it."""
    new = index.with_name("new")
    new.write_bytes(rng.randbytes(50_000))
    new.replace(index)


def garbage_alone(index: Path, rng: random.Random) -> None:
    gone(*SUFFIXES)(index, rng)
    index.write_bytes(rng.randbytes(50_000))


def wal_emptied(index: Path, rng: random.Random) -> None:
    wal = companion(index, "-wal")
    if wal.exists():
        os.truncate(wal, 0)


def wal_of_another_home(index: Path, rng: random.Random) -> None:
    """A log that SQLite takes for this file's own: page size, salts and checksums are right."""
    folder = index.parent / "another"
    with open_home(folder) as ws:
        for number in range(30):
            synaptic.save(ws, f"A lantern report that belongs elsewhere, {number}")
        shutil.copy(f"{ws.index.file.path}-wal", f"{index}-wal")
    gone("-shm")(index, rng)
    shutil.rmtree(folder)


def sql(*statements: str) -> Damage:
    def damage(index: Path, rng: random.Random) -> None:
        db = open_index(index)
        for statement in statements:
            db.execute(statement).fetchall()
        db.close()

    return damage


def open_index(index: Path) -> apsw.Connection:
    """As a SQLite shell does it that knows vec0."""
    db = apsw.Connection(str(index))
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    db.set_busy_timeout(10_000)
    return db


TABLES = (
    "meta",
    "source",
    "issue",
    "entry",
    "tag",
    "file",
    "supersedes",
    "link",
    "chunk",
    "chunk_fts",
    "token",
    "chunk_vec",
    "chunk_vec_chunks",
    "chunk_vec_rowids",
    "chunk_vec_vector_chunks00",
    "chunk_vec_info",
    "chunk_word",
    "chunk_place",
    "chunk_fts_data",
    "chunk_fts_docsize",
)

FILE_DAMAGES: dict[str, Damage] = {
    "deleted": gone(""),
    "deleted-with-wal": gone("", "-wal"),
    "deleted-with-shm": gone("", "-shm"),
    "deleted-with-both": gone(*SUFFIXES),
    "wal-removed": gone("-wal"),
    "shm-removed": gone("-shm"),
    "wal-and-shm-removed": gone("-wal", "-shm"),
    "emptied": cut_to(0),
    "wal-emptied": wal_emptied,
    "cut-to-1": cut_to(1),
    "cut-to-100": cut_to(100),
    "cut-to-a-page": cut_to(PAGE),
    "cut-within-a-page": cut_to(5 * PAGE + 700),
    "cut-to-a-half": cut_to(0.5),
    "last-byte-cut": cut_to(-1),
    "last-page-cut": cut_to(-PAGE),
    "garbage": garbage(),
    "garbage-after-header": garbage(start=100),
    "garbage-after-page-1": garbage(start=PAGE),
    "garbage-instead": garbage_instead,
    "garbage-alone": garbage_alone,
    "wal-garbage": garbage("-wal"),
    "wal-garbage-after-header": garbage("-wal", start=32),
    "shm-garbage": garbage("-shm"),
    "wal-of-another-home": wal_of_another_home,
}
SQL_DAMAGES: dict[str, Damage] = {
    "version-0": sql("PRAGMA user_version = 0"),
    "version-1": sql("PRAGMA user_version = 1"),
    "version-999": sql("CREATE TABLE of_the_future (x)", "PRAGMA user_version = 999"),
    "another-tokenizer": sql("UPDATE meta SET value = 'ascii' WHERE key = 'schema'"),
    "another-model": sql("UPDATE meta SET value = 'another' WHERE key = 'model'"),
    "another-reading": sql("UPDATE meta SET value = 'another' WHERE key = 'reading'"),
    "meta-emptied": sql("DELETE FROM meta"),
    "index-dropped": sql("DROP INDEX entry_at"),
    "column-renamed": sql("ALTER TABLE entry RENAME COLUMN title TO heading"),
    **{
        f"{table}-dropped": sql("PRAGMA foreign_keys = OFF", f"DROP TABLE {table}")
        for table in TABLES
    },
}
DAMAGES = FILE_DAMAGES | SQL_DAMAGES


DROPPED = ("meta", "entry", "chunk_fts", "chunk_vec", "chunk_vec_rowids")
COLD = {*DAMAGES} - {f"{table}-dropped" for table in TABLES if table not in DROPPED}


def slow_unless(quick: bool, name: str) -> Any:
    return pytest.param(name, marks=() if quick else pytest.mark.slow)


def kind_of(name: str) -> str:
    """The kind of a damage: its first word, or that a table is gone."""
    return "dropped" if name.endswith("-dropped") else name.partition("-")[0]


def invert_page(number: int) -> Damage:
    def damage(index: Path, rng: random.Random) -> None:
        with index.open("r+b") as file:
            file.seek((number - 1) * PAGE)
            page = file.read(PAGE)
            file.seek((number - 1) * PAGE)
            file.write(bytes(byte ^ 0xFF for byte in page))

    return damage


def random_bytes(index: Path, rng: random.Random) -> None:
    """A few bytes at a few places, sometimes of the log."""
    wal = companion(index, "-wal")
    path = wal if wal.exists() and rng.random() < 0.5 else index
    size = path.stat().st_size
    with path.open("r+b") as file:
        for _ in range(rng.randint(1, 8)):
            file.seek(rng.randrange(size))
            file.write(rng.randbytes(rng.choice((1, 2, 8, 64, 300))))
    if path.stat().st_size > size:
        os.truncate(path, size)


def seen_by_sqlite(index: Path, scratch: Path) -> bool:
    """True when opening, or `quick_check`, says that a copy of these files is damaged."""
    scratch.mkdir()
    try:
        for suffix in SUFFIXES:
            if companion(index, suffix).exists():
                shutil.copy(companion(index, suffix), scratch / f"index.db{suffix}")
        with contextlib.closing(open_index(scratch / "index.db")) as db:
            return bool(db.execute("PRAGMA quick_check(1)").get != "ok")
    except apsw.Error:
        return True
    finally:
        shutil.rmtree(scratch)


# -- nobody is running: a child opens the damaged index, so that a crash is seen and not
# suffered -----------


def drive() -> None:
    """Reads homes and steps from stdin, a line each; answers what each step said. Every step
    opens the home anew.
    """
    faulthandler.enable()
    steps = {
        "ask": _ask,
        "doctor": _doctor,
        "rebuild": _rebuild,
        "die": _die,
        "ask with another model": _ask,
    }
    for line in sys.stdin:
        home, *wanted = json.loads(line)
        said = []
        for step in wanted:
            try:
                model = HashingEmbedder()
                if step == "ask with another model":
                    model.name, model.dimensions = "another", 64
                with open_home(Path(home), embedder=model) as ws:
                    said.append(steps[step](ws))
            except SynapticError as error:
                said.append({"error": str(error)})
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                said.append(
                    {"crash": f"{error!r} in {' > '.join(frame.name for frame in frames)}"}
                )
        print(json.dumps(said), flush=True)


def _ask(ws: synaptic.Workspace) -> Any:
    answers: dict[str, Any] = {
        "find": [e.id for e in synaptic.find(ws, order="oldest", limit=100).entries]
    }
    for query in QUERIES:
        for strategy in ("lexical", "hybrid"):
            found = synaptic.search(ws, query, limit=100, strategy=strategy, embed_ms=60_000)
            answers[f"{strategy} {query}"] = {
                h.entry.id: [round(h.score, 6), h.entry.content] for h in found.hits
            }
            answers[f"{strategy} mode"] = found.mode
    return answers


def _doctor(ws: synaptic.Workspace) -> Any:
    return [finding.code for finding in run_checkup(ws).findings]


def _rebuild(ws: synaptic.Workspace) -> Any:
    return synaptic.rebuild(ws, fresh=True).entries


def _die(ws: synaptic.Workspace) -> Any:
    """With an index whose log was never written back."""
    _ask(ws)
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass
class Driver:
    """A child that runs `drive`, and another one where that crashed."""

    home: Home
    process: Forked | None = field(default=None)

    def __call__(self, *steps: str) -> list[Any]:
        """What each step said; {"crash": ...} for the one that crashed."""
        if self.process is None or self.process.poll() is not None:
            code = (
                "import sys; sys.path[:0] = sys.argv[1:]; from faults.test_fault_index import "
                "drive; drive()"
            )
            self.process = self.home.python(
                code, str(TESTS), str(TESTS / "helpers"), SYNAPTIC_NOW=NOW
            )
        child = self.process
        assert child.stdin and child.stdout
        child.stdin.write(json.dumps([str(self.home.path), *steps]).encode() + b"\n")
        child.stdin.flush()
        watch = threading.Timer(PATIENCE_S, child.kill)
        watch.start()
        line = child.stdout.readline()
        watch.cancel()
        if line:
            return list(json.loads(line))
        child.wait()
        assert child.stderr
        return [
            {"crash": f"exit code {child.returncode}: {child.stderr.read().decode()}"}
        ] * len(steps)

    def close(self) -> None:
        if self.process is not None:
            self.process.communicate()


@dataclass
class Bench:
    """A home whose index is put back as it was before each damage."""

    home: Home
    driver: Driver
    images: dict[str, dict[str, bytes]]
    fresh: Any
    """What an index made of nothing answers."""

    def put_back(self, image: str) -> None:
        """The index as its last user left it: `closed` in peace, or `killed` with a log beside
        it.
        """
        for suffix in SUFFIXES:
            path = companion(self.home.index, suffix)
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            if suffix in self.images[image]:
                path.write_bytes(self.images[image][suffix])


def image_of(index: Path) -> dict[str, bytes]:
    return {
        suffix: path.read_bytes()
        for suffix in SUFFIXES
        if (path := companion(index, suffix)).exists()
    }


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("bench")
    home = ForkedHome(folder / "home", {"HOME": str(folder), "SYNAPTIC_NOW": NOW}, forks)
    write_journal(home, days=3, per_day=8)
    driver = Driver(home)
    assert "exit code -9" in driver("die")[0]["crash"]
    killed = image_of(home.index)
    assert killed["-wal"]
    [fresh] = driver("ask")
    assert (
        len(fresh["lexical report"]) == len(fresh["find"]) == 25
        and fresh["hybrid mode"] == "hybrid"
    )
    closed = image_of(home.index)
    assert set(closed) == {""}
    yield Bench(home, driver, {"closed": closed, "killed": killed}, fresh)
    driver.close()


@pytest.mark.sweep("name", by=kind_of)
@pytest.mark.parametrize("name", [slow_unless(name in COLD, name) for name in DAMAGES])
def test_with_nobody_running_the_next_search_is_right(bench: Bench, name: str) -> None:
    before = journal_state(bench.home)
    for image in bench.images if name in FILE_DAMAGES else ("killed",):
        bench.put_back(image)
        DAMAGES[name](bench.home.index, random.Random(1))
        found, doctor = bench.driver("ask", "doctor")
        assert found == bench.fresh, image
        assert "journal" in doctor, doctor
    assert journal_state(bench.home) == before


NAMED = ("deleted", "cut-to-a-half", "garbage", "wal-removed", "version-999")


@pytest.mark.parametrize("name", NAMED)
def test_the_command_says_what_it_said_before(bench: Bench, name: str) -> None:
    before = journal_state(bench.home)
    bench.put_back("killed")
    DAMAGES[name](bench.home.index, random.Random(1))
    answer = bench.home.run(
        "search", QUERIES[0], "--strategy", "lexical", "--limit", "100", "--json"
    )
    assert_no_traceback(answer)
    assert answer.code == 0 and not answer.err, answer.text
    found = {id: list(hit) for id, hit in hits_of(answer.json).items()}
    assert found == bench.fresh[f"lexical {QUERIES[0]}"]
    assert journal_state(bench.home) == before


def test_vectors_of_another_model_are_not_compared(bench: Bench) -> None:
    bench.put_back("closed")
    other, ours = bench.driver("ask with another model", "ask")
    assert other["hybrid mode"] == "hybrid"
    assert ours == bench.fresh


# -- one page, and single bytes
# ---------------------------------------------------------------------------


def kinds_of_pages(image: bytes, folder: Path) -> dict[str, list[int]]:
    """Page numbers by whose they are: tables, indices, the shadows of FTS5, SQLite's
    own.
    """
    path = folder / "image.db"
    path.write_bytes(image)
    db = apsw.Connection(str(path))
    kinds: dict[str, list[int]] = {}
    for name, kind, number in db.execute(
        "SELECT name, pagetype, pageno FROM dbstat"
    ).fetchall():
        kinds.setdefault(f"{name}, {kind}", []).append(number)
    db.close()
    known = {number for numbers in kinds.values() for number in numbers}
    others = [number for number in range(1, len(image) // PAGE + 1) if number not in known]
    return kinds | ({"pointers to parents, free pages": others} if others else {})


def outcome(bench: Bench, scratch: Path) -> str:
    """What became of the damage: healed, unseen (a fresh rebuild mends it), or in more words
    what went wrong.
    """
    seen = seen_by_sqlite(bench.home.index, scratch)
    first, doctor, second = bench.driver("ask", "doctor", "ask")
    for said in (first, doctor, second):
        if "crash" in said:
            return str(said["crash"])
    if second == bench.fresh:
        return "healed"
    if "another program" in second.get("error", ""):  # four bytes say whose database it is
        assert_says_whose_it_is(bench.home, second["error"])
        return "healed"
    if seen or "error" in second:
        return f"SQLite sees it: {seen}; the doctor says {doctor}, then a search {str(second)[:300]}"
    return (
        "unseen"
        if bench.driver("rebuild", "ask")[1] == bench.fresh
        else "a fresh rebuild does not mend it"
    )


def test_one_page_flipped_of_each_kind(bench: Bench, rounds: Rounds, tmp_path: Path) -> None:
    before = journal_state(bench.home)
    kinds = kinds_of_pages(bench.images["closed"][""], tmp_path)
    assert len(kinds) > 30
    became: dict[str, list[str]] = {}
    for number in rounds(1, 20):
        for kind, pages in drawn("pages", kinds.items(), 8):
            page = random.Random(f"{number} {kind}").choice(pages)
            bench.put_back("closed")
            invert_page(page)(bench.home.index, random.Random(number))
            became.setdefault(outcome(bench, tmp_path / "copy"), []).append(
                f"page {page} ({kind})"
            )
    assert journal_state(bench.home) == before
    print(
        f"\n  pages flipped that only rebuild-index --fresh mends: "
        f"{became.pop('unseen', 'none')}"
    )
    assert set(became) == {"healed"}, became


@pytest.mark.slow
def test_random_bytes_at_random_places(bench: Bench, rounds: Rounds, tmp_path: Path) -> None:
    before = journal_state(bench.home)
    became: dict[str, list[int]] = {}
    for number in rounds(5, 1_000):
        rng = random.Random(number)
        bench.put_back(rng.choice(list(bench.images)))
        random_bytes(bench.home.index, rng)
        became.setdefault(outcome(bench, tmp_path / "copy"), []).append(number)
        if number % 25 == 0:
            bench.put_back("closed")
            random_bytes(bench.home.index, rng)
            for command in (("search", QUERIES[1], "--strategy", "lexical"), ("doctor",)):
                assert_no_traceback(bench.home.run(*command, "--json"))
    assert journal_state(bench.home) == before
    unseen = became.pop("unseen", [])
    print(
        f"\n  random bytes: healed {len(became['healed'])}, unseen until rebuild-index "
        f"--fresh {len(unseen)}"
    )
    assert set(became) == {"healed"}, became


# -- under four live servers
# --------------------------------------------------------------------------------


def settled(server: Server) -> None:
    """None; the model is loaded and everything has its vector."""
    end = time.monotonic() + PATIENCE_S
    while (answer := server.call("search", query=QUERIES[0]))["mode"] != "hybrid" or answer[
        "notices"
    ]:
        assert time.monotonic() < end, answer["notices"]
        time.sleep(0.05)


def by_words(server: Server) -> Any:
    found = [
        hits_of(server.up_to_date("search", query=query, limit=100, strategy="lexical"))
        for query in QUERIES
    ]
    listed = server.up_to_date("find", order="oldest", limit=100)
    return found, [entry["id"] for entry in listed["entries"]], listed["total"]


def by_all(server: Server) -> Any:
    settled(server)
    return [hits_of(server.up_to_date("search", query=query, limit=100)) for query in QUERIES]


class Quartet:
    """Four servers on one home, and a fifth with an index of its own on the same journal, which
    nobody damages.
    """

    def __init__(self, folder: Path, forks: Forks) -> None:
        env = {"HOME": str(folder), "SYNAPTIC_NOW": NOW}
        self.home = ForkedHome(folder / "home", env, forks)
        self.fair = ForkedHome(
            folder / "fair", env | {"SYNAPTIC_JOURNAL": str(self.home.journal)}, forks
        )
        write_journal(self.home, days=2, per_day=3)
        self.pool = ThreadPoolExecutor(4)
        self.stack = contextlib.ExitStack()
        self.servers: list[Server] = []
        self.saved = 0

    def ready(self) -> None:
        """None; all five run, and the index is sound."""
        if not self.servers:
            starting = [
                self.pool.submit(self._start, home) for home in (*[self.home] * 4, self.fair)
            ]
            *self.servers, self.judge = [started.result() for started in starting]
            for server in (*self.servers, self.judge):
                settled(server)

    def _start(self, home: Home) -> Server:
        return self.stack.enter_context(home.server())

    def stop(self) -> None:
        self.stack.close()
        self.stack, self.servers = contextlib.ExitStack(), []

    def all_at_once(self, ask: Callable[[Server], Any]) -> list[Any]:
        return list(self.pool.map(ask, self.servers))

    def assert_right(self, *, vectors: bool = False) -> None:
        """By words at once, all four at a time; with vectors when they are there again."""
        right = by_words(self.judge)
        for said in self.all_at_once(by_words):
            assert said == right
        if not vectors:
            return
        right = by_all(self.judge)
        near = [
            {id: (pytest.approx(score, abs=0.001), text) for id, (score, text) in hits.items()}
            for hits in right
        ]  # vectors that were made together with others differ in their last digits
        for said in self.all_at_once(by_all):
            assert said == near
            for hits, ranked in zip(said, right, strict=True):
                scores = [ranked[id][0] for id in hits]
                for score, later in pairwise(scores):  # equals may change places
                    assert score >= later - 0.002

    def save(self, server: Server) -> str:
        """The id of an entry that no other one is like."""
        self.saved += 1
        words = random.Random(self.saved).sample(WORDS, 8)
        return str(
            server.call("save", content=f"Saved report {self.saved}: {' '.join(words)}")["id"]
        )


@pytest.fixture(scope="module")
def one_quartet(tmp_path_factory: pytest.TempPathFactory, forks: Forks) -> Iterator[Quartet]:
    quartet = Quartet(tmp_path_factory.mktemp("quartet"), forks)
    yield quartet
    quartet.stop()


@pytest.fixture
def quartet(one_quartet: Quartet) -> Iterator[Quartet]:
    """Started anew after a test that failed."""
    one_quartet.ready()
    try:
        yield one_quartet
    except BaseException:
        one_quartet.stop()
        raise


NAMED_LIVE = (
    "deleted",
    "deleted-with-wal",
    "deleted-with-both",
    "wal-removed",
    "wal-and-shm-removed",
    "emptied",
    "cut-to-a-half",
    "garbage",
    "wal-garbage",
    "version-999",
    "another-model",
    "chunk_fts-dropped",
)


@pytest.mark.sweep("name", by=kind_of)
@pytest.mark.parametrize("name", [slow_unless(name in NAMED_LIVE, name) for name in DAMAGES])
def test_under_four_servers(quartet: Quartet, name: str) -> None:
    before = journal_state(quartet.home)
    DAMAGES[name](quartet.home.index, random.Random(1))
    quartet.assert_right(vectors=name in ("deleted", "another-model") or name not in NAMED_LIVE)
    assert journal_state(quartet.home) == before
    saving = random.Random(name).sample(quartet.servers, 2)
    ids = list(quartet.pool.map(quartet.save, saving))
    for server in quartet.servers:
        assert {entry["id"] for entry in server.call("get", ids=ids)["entries"]} == set(ids)
    assert quartet.all_at_once(by_words) == [by_words(quartet.judge)] * 4


def test_a_flipped_page_under_four_servers(quartet: Quartet, rounds: Rounds) -> None:
    """What the pages in memory hide until somebody writes, a doctor finds; all four go on with
    what it leaves.
    """
    before = journal_state(quartet.home)
    for number in rounds(1, 200):
        rng = random.Random(number)
        quartet.home.ask("rebuild-index")
        invert_page(rng.randint(1, quartet.home.index.stat().st_size // PAGE))(
            quartet.home.index, rng
        )
        doctor = quartet.home.run("doctor", "--json")
        assert_no_traceback(doctor)
        quartet.assert_right()
    assert journal_state(quartet.home) == before


def test_nobody_answers_from_an_index_that_another_has_just_made(
    quartet: Quartet, rounds: Rounds
) -> None:
    """Damage again and again, while vectors are still being made: whoever meets an empty index
    waits, or fills it.
    """
    right = by_words(quartet.judge)
    for number in rounds(2, 200):
        for damage in (garbage_alone, garbage(), gone(*SUFFIXES)):
            damage(quartet.home.index, random.Random(number))
            assert quartet.all_at_once(by_words) == [right] * 4


def test_nobody_answers_from_an_index_that_is_being_filled(quartet: Quartet) -> None:
    """Whoever comes second waits for the first, who reads 1,000 entries; an empty answer would
    be wrong.
    """
    folder = quartet.home.journal / "2025"
    folder.mkdir()
    try:
        for day in range(1, 11):
            text = "\n".join(
                entry_text(number, 10) for number in range(day * 100, day * 100 + 100)
            )
            (folder / f"2025-03-{day:02d}.md").write_text(text, encoding="utf-8")
        total = quartet.servers[0].up_to_date("find")[
            "total"
        ]  # an idle server may be indexing them
        assert total > 1_000
        gone(*SUFFIXES)(quartet.home.index, random.Random(1))
        assert (
            quartet.all_at_once(lambda server: server.up_to_date("find")["total"])
            == [total] * 4
        )
    finally:
        shutil.rmtree(folder)


def test_a_command_opens_the_index_beside_a_writer(home: Home) -> None:
    """Who only reads waits for nobody: what is committed is there."""
    home.ask("save", "Known before the writer came")
    with contextlib.closing(open_index(home.index)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert home.ask("find")["total"] == 1
        writer.execute("ROLLBACK")


# -- what is not ours
# -----------------------------------------------------------------------------------------


def strangers_database(
    path: Path, *, owner: int = 0, version: int = 0, hot: bool = False
) -> None:
    """Another program's; `hot` with a log that its killed writer left."""
    maker = path.with_name("maker.db")
    db = apsw.Connection(str(maker))
    db.execute(f"PRAGMA application_id = {owner}; PRAGMA user_version = {version}").fetchall()
    if hot:
        db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("CREATE TABLE mine (x); INSERT INTO mine VALUES ('precious')")
    if hot:
        shutil.copy(f"{maker}-wal", f"{path}-wal")
    shutil.copy(maker, path)
    db.close()
    maker.unlink()


STRANGERS: dict[str, dict[str, Any]] = {
    "without-a-name": {},
    "of-a-browser": {"owner": 0x0F055112, "version": 2},
    "with-a-hot-log": {"owner": 0x0F055112, "hot": True},
}


def files_named_index(home: Home) -> dict[str, bytes]:
    """But for the shared memory, which is worth nothing when nobody runs."""
    return {
        path.name: path.read_bytes()
        for path in home.state.glob("index.db*")
        if not path.name.endswith("-shm")
    }


def assert_says_whose_it_is(home: Home, message: str) -> None:
    assert (
        str(home.index) in message and "another program" in message and "left alone" in message
    ), message
    assert "Move it away" in message, message


@pytest.mark.needs(feature="upkeep")
@pytest.mark.parametrize("kind", STRANGERS)
def test_a_strangers_database_is_left_alone(home: Home, kind: str) -> None:
    home.ask("save", "Known before the stranger came")
    for path in home.state.glob("index.db*"):
        path.unlink()
    strangers_database(home.index, **STRANGERS[kind])
    strange = files_named_index(home)
    commands = [["find", "stranger"]]
    if kind == "without-a-name":
        commands += [
            ["search", "stranger"],
            ["recent"],
            ["status"],
            ["rebuild-index"],
            ["doctor"],
            ["doctor", "--fix"],
        ]
    for command in commands:
        answer = home.run(*command, "--json")
        assert_no_traceback(answer)
        assert answer.code == 1, (command, answer)
        assert_says_whose_it_is(home, answer.text)
    saved = home.ask("save", "Saved beside the stranger")
    assert any("not indexed" in notice for notice in saved["notices"]), saved
    assert "Saved beside the stranger" in (home.journal / saved["path"]).read_text()
    assert files_named_index(home) == strange
    for path in home.state.glob("index.db*"):
        path.rename(path.with_name(f"moved-{path.name}"))
    assert len(home.entries()) == 2


def test_a_stranger_comes_under_four_servers(quartet: Quartet) -> None:
    strange_one = quartet.home.state / "strange.db"
    strangers_database(strange_one)
    strange = strange_one.read_bytes()
    strange_one.replace(quartet.home.index)
    gone("-wal", "-shm")(quartet.home.index, random.Random(1))
    for server in quartet.servers:
        for tool, arguments in (("search", {"query": "report"}), ("find", {}), ("recent", {})):
            with pytest.raises(Refusal) as refusal:
                server.call(tool, **arguments)
            assert_says_whose_it_is(quartet.home, str(refusal.value))
    ids = list(quartet.pool.map(quartet.save, quartet.servers))
    journal = b"".join(quartet.home.files().values()).decode()
    assert all(journal.count(f"syn:{id}") == 1 for id in ids)
    assert quartet.home.index.read_bytes() == strange
    quartet.home.index.unlink()
    quartet.assert_right()


def test_a_directory_under_its_name(home: Home) -> None:
    """What is no file cannot be an index: answers come without one, and say what stands in the
    way.
    """
    home.ask("save", "Known before the directory came")
    for path in home.state.glob("index.db*"):
        path.unlink()
    home.index.mkdir()
    (home.index / "precious").write_text("keep me")
    before = journal_state(home)
    assert home.ask("find")["total"] == 1
    found = home.ask("search", "directory", "--strategy", "lexical")
    assert found["total"] == 1
    assert any(str(home.index) in notice for notice in found["notices"]), found
    for command in (["doctor"], ["rebuild-index"]):
        answer = home.run(*command, "--json")
        assert_no_traceback(answer)
        assert str(home.index) in answer.text, (command, answer)
    assert journal_state(home) == before
    saved = home.ask("save", "Saved beside the directory")
    assert "Saved beside the directory" in (home.journal / saved["path"]).read_text()
    assert (home.index / "precious").read_text() == "keep me"
    shutil.rmtree(home.index)
    assert len(home.entries()) == 2
