"""Nothing acknowledged is ever lost: kills at random moments and at each step, many writers at
once.
"""

from __future__ import annotations

import inspect
import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from forks import Forked, ForkedHome, Forks
from homes import open_home
from killed import FAULTS
from mcp import MCPError
from outside import Home
from trials import drawn, examples

import synaptic
from synaptic.models import Entry
from synaptic.notes.markdown import parse_entries, render_entry

Rounds = Callable[[int, int], Iterator[int]]


# -- what is saved, and what must stand in the journal afterwards
# ---------------------------------------


LARGEST = examples(200_000, 40_000)
"""Bytes of the longest text."""


def text_of(key: str, smallest: int = 2_000, largest: int = LARGEST) -> str:
    """The text that carries this key: always the same, 2 KB to LARGEST, with all that Markdown
    may hold.
    """
    chosen = random.Random(key)
    size = int(smallest * (largest / smallest) ** chosen.random())
    pieces = (
        "The lock was held while the journal grew, and nobody waited for it longer than a "
        "moment.",
        "## Why",
        "```python\n## 10:15 not a heading\ndef f(x):\n    return x  # a comment\n```",
        "- a list\n- of `things` #tagged\n\n  that goes on",
        "Vögel über 東京 🐦 and a trailing backslash \\",
        "\\## 9:31 a line that begins like an entry's heading",
        "## 9:31 another one",
        "<!-- syn:20261121-00000000 -->",
        "| a | b |\n|---|---|\n| 1 | 2 |",
    )
    parts, length = [f"Key {key} of this text."], 0
    while length < size:
        parts.append(
            chosen.choice(pieces)
            if chosen.random() < 0.3
            else f"{chosen.random()} {pieces[0]}\n" * 9 + "So it was."
        )
        length += len(parts[-1].encode()) + 2
    return "\n\n".join([*parts, f"The end of {key}."])


def key_of(text: str) -> str:
    found = re.match(r"Key (\S+) of this text\.", text)
    assert found, f"no text that was saved begins like this: {text[:80]!r}"
    return found[1]


def entries_of(path: Path, data: bytes) -> tuple[Entry, ...]:
    """The entries of a file in which nothing may be wrong."""
    parsed = parse_entries(data, path.name, mtime=datetime.now(UTC))
    assert not parsed.issues, (path, parsed.issues)
    return parsed.entries


def saved_in(
    path: Path, data: bytes, text_of: Callable[[str], str] = text_of
) -> dict[str, str]:
    """Key by id of the entries of a day file that holds whole texts, each once, and not one
    byte besides.
    """
    entries = entries_of(path, data)
    blocks = [render_entry(entry).encode() for entry in entries]
    assert data == f"# {path.stem}\n\n".encode() + b"\n".join(blocks), (
        f"{path} holds more than whole entries"
    )
    saved = {}
    for entry in entries:
        assert not entry.derived_id and entry.id not in saved
        saved[entry.id] = key_of(entry.content)
        assert entry.content == text_of(saved[entry.id]), f"{entry.id} is not what was saved"
    assert len(set(saved.values())) == len(saved), f"{path} holds a text twice"
    return saved


def assert_index_equals_journal(home: Home, tmp_path: Path, words: list[str]) -> None:
    """The index that lived through it all says what one made of a copy of the journal says."""
    entries, now = home.entries(), home.ask("status")
    fresh = replace(home, path=tmp_path / "fresh")
    fresh.run("init")
    shutil.copytree(home.journal, fresh.journal, dirs_exist_ok=True)
    anew = fresh.ask("status")
    assert fresh.entries() == entries
    assert [now[count] for count in ("entries", "chunks")] == [
        anew[count] for count in ("entries", "chunks")
    ]
    assert now["issues"] == anew["issues"] == []
    for word in words:
        found = [side.ask("search", word, "--strategy", "lexical") for side in (home, fresh)]
        assert (
            [hit["id"] for hit in found[0]["hits"]]
            == [hit["id"] for hit in found[1]["hits"]]
            != []
        )
    shutil.rmtree(fresh.path)
    findings = home.run("doctor", "--json").json["findings"]
    assert [finding for finding in findings if finding["level"] in ("error", "warning")] == []


def hidden_in(journal: Path) -> list[Path]:
    return [path for path in journal.rglob(".*") if path.is_file()]


# -- row 1: kill -9 at random moments of a save
# ---------------------------------------------------------

KILLS, BY_COMMAND, BY_SERVER = examples(100, 20), examples(16, 4), examples(6, 2)
NURSERIES = 2
LATEST_S = examples(400, 150) / 1000
"""The longest life of a writer in a library."""

NURSERY = f"""
import os, random, signal, sys, tempfile, time
import synaptic
LARGEST = {LARGEST}
{inspect.getsource(text_of)}
with tempfile.TemporaryDirectory() as home, synaptic.open_workspace(synaptic.load_config(home)) as ws:
    synaptic.save(ws, "This loads what is loaded late.")

def write(name, day, ready):
    with synaptic.open_workspace(synaptic.load_config()) as ws:
        synaptic.status(ws)
        os.write(ready, b".")
        for number in range(50):
            receipt = synaptic.save(ws, text_of(f"{{name}}.{{number}}"), at=day)
            os.write(1, f"saved {{receipt.id}} {{name}}.{{number}}\\n".encode())

for line in sys.stdin:
    name, day, delay = line.split()
    waits, ready = os.pipe()
    writer = os.fork()
    if not writer:
        try:
            write(name, day, ready)
        except BaseException as error:
            os.write(1, f"error {{error!r}}\\n".encode())
        os._exit(0)
    os.close(ready)
    os.read(waits, 1)
    os.close(waits)
    time.sleep(float(delay))
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    os.write(1, b"killed\\n")
"""
"""Each line of its input is a writer to start and to kill so many seconds later. A fork has its
imports done.
"""


@dataclass
class Killing:
    """A home whose writers are killed; `acknowledged` is key by id."""

    home: Home
    seed: int
    acknowledged: dict[str, str] = field(default_factory=dict)
    kills: int = 0

    def day(self, number: int) -> str:
        """A few writers share a day file; then the next one is made, which is killed as well."""
        return f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}T09:31:05"

    def library(self, name: str, kills: int) -> None:
        chosen = random.Random(f"{self.seed} {name}")
        lines = [
            f"{name}.{n} {self.day(n // 4)} {chosen.uniform(0.0, LATEST_S):.4f}\n"
            for n in range(kills)
        ]
        out, err = self.home.python(NURSERY).communicate("".join(lines).encode())
        assert out.count(b"killed\n") == kills and b"error" not in out, (
            out[-500:],
            err[-2000:],
        )
        self.kills += kills
        self.acknowledged |= dict(re.findall(r"saved (\S+) (\S+)\n", out.decode()))

    def command(self, name: str, kills: int) -> None:
        """Commands that wait for their text are given it, and killed while they save it."""
        chosen = random.Random(f"{self.seed} {name}")
        waiting = [self._waiting(n) for n in range(4)]
        for n in range(kills):
            time.sleep(0.1)
            process, key = waiting.pop(0), f"{name}.{n}"
            waiting += [self._waiting(n + 4)] if n + 4 < kills else []
            try:
                process.communicate(text_of(key).encode(), timeout=chosen.uniform(0.0, 0.25))
            except subprocess.TimeoutExpired:
                process.kill()
                self.kills += 1
            out = process.communicate()[0]
            if out.endswith(b"}\n"):
                self.acknowledged[json.loads(out)["id"]] = key

    def _waiting(self, n: int) -> Forked:
        return self.home.start("save", "-", "--json", "--at", self.day(n // 8))

    def server(self, name: str, kills: int) -> None:
        chosen = random.Random(f"{self.seed} {name}")
        for n in range(kills):
            with self.home.server() as server:
                saving = threading.Thread(
                    target=self._save_on, args=(server, f"{name}.{n}", self.day(n))
                )
                saving.start()
                time.sleep(chosen.uniform(0.0, 0.3))
                server.kill()
                saving.join()
                self.kills += 1

    def _save_on(self, server: Any, name: str, day: str) -> None:
        for number in range(50):
            key = f"{name}.{number}"
            try:
                self.acknowledged[server.call("save", content=text_of(key), at=day)["id"]] = key
            except MCPError:  # killed
                return


@pytest.mark.fault(row=1)
def test_kills_at_random_moments_of_a_save(home: Home, tmp_path: Path, rounds: Rounds) -> None:
    for seed in rounds(1, 50):
        killing = Killing(replace(home, path=tmp_path / f"home{seed}"), seed)
        rest = KILLS - BY_COMMAND - BY_SERVER
        with ThreadPoolExecutor() as pool:
            runs = [
                pool.submit(killing.library, f"library{n}", rest // NURSERIES)
                for n in range(NURSERIES)
            ]
            runs += [
                pool.submit(killing.command, "command", BY_COMMAND),
                pool.submit(killing.server, "server", BY_SERVER),
            ]
        for run in runs:
            run.result()
        assert_nothing_was_lost(killing, tmp_path)
        shutil.rmtree(killing.home.path)


def assert_nothing_was_lost(killing: Killing, tmp_path: Path) -> None:
    home = killing.home
    home.ask("save", text_of("last"), "--at", killing.day(0))
    home.ask("search", "key", "--limit", "1")
    saved: dict[str, str] = {}
    for path in sorted(home.journal.glob("*.md")):
        saved |= saved_in(path, path.read_bytes())
    lost = killing.acknowledged.items() - saved.items()
    assert not lost
    print(
        f"\n  {killing.kills} killed, {len(killing.acknowledged)} saves acknowledged, "
        f"{len(saved)} in the journal,",
        end=" ",
    )
    print(f"{sum(path.stat().st_size for path in home.journal.iterdir()) / 1e6:.1f} MB")
    keys = sorted(saved.values())
    words = [
        f'"Key {key} of this text"'
        for key in random.Random(killing.seed).sample(keys, min(5, len(keys)))
    ]
    assert_index_equals_journal(home, tmp_path, words)
    assert hidden_in(home.journal) == []
    assert killing.kills >= KILLS - BY_COMMAND  # on a fast machine a command may be done first


# -- row 2: killed at each step
# ---------------------------------------------------------------------------

DAY = "2026-11-21"
AT = f"{DAY}T09:31:05"
LOGGED = ("logged-torn", "logged")
WRITTEN = ("locked", *LOGGED, "kept-torn")
REPLACED = ("replace-torn", "replace-written", "replace-swapped", "replaced")
CREATED = ("create-torn", "created", "linked")
TRASHED = ("trash-torn", "trashed")
STEPS = {
    "save": (*WRITTEN, *REPLACED, "kept"),
    "first save": (*WRITTEN, *CREATED, "kept"),
    "update": (*WRITTEN, *TRASHED, *REPLACED, "kept"),
    "delete": ("locked", *TRASHED, *LOGGED, *REPLACED),
    "undelete": (*WRITTEN, *REPLACED, "kept"),
    "undo": (*WRITTEN, *TRASHED, *REPLACED, "kept"),
}
"""Where each operation can be killed; the first save of a day makes its file."""

CHANGES: dict[str, tuple[set[str], set[str]]] = {
    "save": ({"above", "target", "below"}, {"above", "target", "below", "killed"}),
    "first save": (set(), {"killed"}),
    "update": ({"above", "target", "below"}, {"above", "changed", "below"}),
    "delete": ({"above", "target", "below"}, {"above", "below"}),
    "undelete": ({"above", "below"}, {"above", "target", "below"}),
    "undo": ({"above", "changed", "below"}, {"above", "target", "below"}),
}
"""The texts in the day file before each operation and after it."""

TYPED = {
    "nothing": b"",
    "text": b"\nremember the milk\n",
    "text on the torn line": b"remember the milk\n",
    "an entry": b"\n## 12:00 mine\nthey call back\n",
    "a fence": b"\n```sh\nls\n```\n",
    "an open fence": b"\n```sh\nls\n",
    "another day": b"\n# Evening\nquiet\n",
    "an entry in CRLF": b"\r\n## 12:00 mine\r\nthey call back\r\n",
}
TORN = tuple(f"replace-torn:{cut}" for cut in (1, 7, 30, 60, 100, 140, 900, 1900))
"""Where the new file is torn: in what stood there before, and in the new block."""


def small(key: str) -> str:
    return text_of(key, 2_000, 4_000)


@dataclass(frozen=True)
class Case:
    """A kill at a step of an operation, what a person types below, and perhaps a kill of the
    save that comes next.
    """

    operation: str
    step: str
    typed: str = "nothing"
    then: str = ""

    def run(self, home: Home, made: Path) -> None:
        id = self._prepare(home, made)
        assert self._operate(home, id, SYNAPTIC_FAULT=self.step) == -signal.SIGKILL, (
            f"{self} did not die"
        )
        self._type(home.journal / f"{DAY}.md")
        before, after = CHANGES[self.operation]
        certain = {"last"}
        if self.then and self._save(home, "second", SYNAPTIC_FAULT=self.then) == 0:
            certain.add("second")
        with open_home(home.path) as ws:
            synaptic.save(ws, small("last"), at=AT)
            found = self._read(home, ws)
            assert found >= certain, f"{self} loses a later save"
            assert found - {"last", "second"} in (before, after), f"{self}: {sorted(found)}"
            assert hidden_in(home.journal) == [], f"{self} leaves a hidden file"
            if "save" in self.operation:
                return
            if found - {"last", "second"} == before:
                assert self._operate(home, id) == 0, f"{self} cannot be repeated"
            assert self._read(home, ws) - {"last", "second"} == after, f"{self}, repeated"
            if self.operation in ("update", "delete"):
                synaptic.restore(ws, id)
                assert self._read(home, ws) - {"last", "second"} == before, (
                    f"{self} cannot be undone"
                )

    def _prepare(self, home: Home, made: Path) -> str:
        """The id of the entry to be changed, in a copy of what was made for the operation."""
        shutil.copytree(made / self.operation, home.path)
        if self.typed == "an entry in CRLF":
            path = home.journal / f"{DAY}.md"
            path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        return (made / f"{self.operation}.id").read_text()

    def _operate(self, home: Home, id: str, **env: str) -> int:
        match self.operation:
            case "save" | "first save":
                return self._save(home, "killed", **env)
            case "update":
                return home.run(
                    "update", id, "--content", "-", stdin=small("changed"), **env
                ).code
            case "delete":
                return home.run("delete", id, "--yes", **env).code
            case _:
                return home.run("restore", id, **env).code

    @staticmethod
    def _save(home: Home, key: str, **env: str) -> int:
        return home.run("save", "-", "--at", AT, stdin=small(key), **env).code

    def _type(self, path: Path) -> None:
        if self.typed != "nothing":
            with path.open("ab") as file:
                file.write(TYPED[self.typed])

    def _read(self, home: Home, ws: synaptic.Workspace) -> set[str]:
        """The keys of what a person sees, which is what the journal holds."""
        data = (home.journal / f"{DAY}.md").read_bytes()
        typed = TYPED[self.typed]
        if self.typed == "an entry in CRLF" and self.operation != "first save":
            assert data.count(b"\n") == data.count(b"\r\n"), f"{self} mixes line ends"
        if typed:
            assert data.count(typed) == 1, f"{self} loses what was typed"
            # what stood before it on a torn line is left there: nobody can know who wrote it
            start = data.index(typed)
            start = start if typed[:1] in b"\r\n" else data.rfind(b"\n", 0, start) + 1
            data = data[:start] + data[data.index(typed) + len(typed) :]
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        data = re.sub(rb"\n{3,}", b"\n\n", data).lstrip(b"\n")
        head = f"# {DAY}\n\n".encode()
        saved = saved_in(
            home.journal / f"{DAY}.md", data if data.startswith(head) else head + data, small
        )
        shown = {entry.id: entry.content for entry in synaptic.find(ws, limit=100).entries}
        assert shown.keys() >= saved.keys()
        if not typed or b"mine" in typed:
            assert {id: small(key) for id, key in saved.items()}.items() <= shown.items(), (
                f"{self} is shown otherwise"
            )
            assert sorted(shown[id] for id in shown.keys() - saved.keys()) == [
                "they call back"
            ] * bool(typed), self
        return set(saved.values())


def make_homes(folder: Path) -> None:
    """A home that is ready for each operation, and beside it the id of the entry to be
    changed.
    """
    for operation in STEPS:
        id = ""
        with open_home(folder / operation) as ws:
            if operation != "first save":
                _, id, _ = (
                    synaptic.save(ws, small(key), at=AT).id
                    for key in ("above", "target", "below")
                )
            if operation == "undelete":
                synaptic.delete(ws, id)
            if operation == "undo":
                synaptic.update(ws, id, content=small("changed"))
        (folder / f"{operation}.id").write_text(id)


def cases(soak: bool) -> list[Case]:
    """Three steps of each operation, and one of the torn blocks with something typed below; in
    a soak all pairs of steps, each with all of it.
    """
    steps = [
        (operation, step)
        for operation in STEPS
        for step in drawn(operation, STEPS[operation], 3)
    ]
    if not soak:
        below = [(step, typed) for step in TORN[1::4] for typed in TYPED if typed != "nothing"]
        return [Case(*step) for step in steps] + [
            Case("save", *torn) for torn in drawn("torn", below)
        ]
    steps += [("save", step) for step in TORN]
    second = ("", *WRITTEN, *REPLACED, *CREATED, "kept")
    return [
        Case(operation, step, typed, then)
        for operation, step in steps
        for typed in (TYPED if "save" in operation else ("nothing",))
        for then in second
    ]


def test_every_step_of_the_protocol_has_its_kill() -> None:
    assert {step for steps in STEPS.values() for step in steps} == set(FAULTS)


@pytest.mark.fault(row=2)
def test_killed_at_each_step(
    request: pytest.FixtureRequest, tmp_path: Path, rounds: Rounds, forks: Forks
) -> None:
    chosen = cases(bool(request.config.getoption("--soak")))
    made = tmp_path / "made"
    make_homes(made)
    failures: list[str] = []
    free = threading.Semaphore(os.cpu_count() or 1)

    def run(number: int) -> None:
        folder = tmp_path / str(number)
        try:
            folder.mkdir()
            home = ForkedHome(folder / "home", {"HOME": str(folder)}, forks=forks)
            chosen[number].run(home, made)
            shutil.rmtree(folder)
        except Exception as error:
            failures.append(f"{chosen[number]}: {error!r}")
        finally:
            free.release()

    with ThreadPoolExecutor() as pool:
        for number in rounds(len(chosen), len(chosen)):
            free.acquire()
            pool.submit(run, number)
    assert not failures, "\n".join(failures)


# -- row 3: many writers at once
# --------------------------------------------------------------------------


def note_of(name: str, number: int) -> tuple[str, str]:
    """A text and its moment: two hundred notes of every writer share a day."""
    text = (
        f"Note {number} of {name}.\n\nWritten while all the others wrote, about "
        f"{name}x{number} and the lock."
    )
    return text, f"2026-11-{1 + number // 200:02}T09:31:05"


LIBRARY = (
    f"""
import sys, time
import synaptic
{inspect.getsource(note_of)}"""
    + """
name, saves, searches = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "searches"
with synaptic.open_workspace(synaptic.load_config()) as ws:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(saves):
        text, at = note_of(name, number)
        begun = time.perf_counter()
        receipt = synaptic.save(ws, text, at=at)
        print(receipt.id, number, time.perf_counter() - begun, *receipt.notices, flush=True)
        if searches and number % 10 == 9:
            found = synaptic.search(ws, f"who wrote about {name}x{number}?", limit=5)
            assert receipt.id in [hit.entry.id for hit in found.hits] or found.notices, found
"""
)


@dataclass
class Crowd:
    """Writers that save as fast as they can; `saved` is text by id, `seconds` how long each
    save took.
    """

    home: Home
    saves: int
    saved: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def library(self, name: str, searches: bool, start: threading.Barrier) -> None:
        role = "searches" if searches else ""
        process = self.home.python(LIBRARY, name, str(self.saves), role, PYTHONUNBUFFERED="1")
        assert process.stdout and process.stdout.readline() == b"ready\n"
        start.wait()
        out, err = process.communicate(b"go\n")
        assert process.returncode == 0, err.decode()
        for line in out.decode().splitlines():
            id, number, seconds, *notices = line.split(" ", 3)
            assert not notices, line
            self._note(id, note_of(name, int(number))[0], float(seconds))

    def server(self, name: str, start: threading.Barrier) -> None:
        with self.home.server() as server:
            start.wait()
            for number in range(self.saves):
                text, at = note_of(name, number)
                begun = time.perf_counter()
                answer = server.call("save", content=text, at=at)
                assert not answer["notices"], answer
                self._note(answer["id"], text, time.perf_counter() - begun)

    def _note(self, id: str, text: str, seconds: float) -> None:
        assert id not in self.saved
        self.saved[id] = text
        self.seconds.append(seconds)


@pytest.mark.fault(row=3)
def test_many_processes_save_at_once(home: Home, rounds: Rounds) -> None:
    writers, saves = (len(list(rounds(*size))) for size in ((8, 16), (12, 5_000)))
    crowd, start = Crowd(home, saves), threading.Barrier(writers)
    with ThreadPoolExecutor(writers) as pool:
        runs = [pool.submit(crowd.server, f"server{n}", start) for n in range(2)]
        runs += [
            pool.submit(crowd.library, f"library{n}", n < 2, start) for n in range(writers - 2)
        ]
    for run in runs:
        run.result()
    assert len(crowd.saved) == writers * saves
    assert {entry["id"]: entry["content"] for entry in home.entries()} == crowd.saved
    blocks = b"".join(path.read_bytes() for path in sorted(home.journal.iterdir()))
    assert len(re.findall(rb"^<!-- syn:", blocks, re.M)) == writers * saves
    assert home.ask("status")["issues"] == []
    took = sorted(crowd.seconds)
    print(f"\n  {len(took):,} saves: median {took[len(took) // 2] * 1000:.0f} ms, ", end="")
    print(f"p95 {took[len(took) * 95 // 100] * 1000:.0f} ms, longest {took[-1] * 1000:.0f} ms")
