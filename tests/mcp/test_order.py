"""The calls of a client run in the order in which they came, however they came."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from embedders import HashingEmbedder
from forks import Forks
from homes import open_home
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client
from outside import TIMEOUT_S
from remotes import over_http, tool_call
from trials import examples

from synaptic.mcp.server import build_server
from synaptic.serving.turns import Turns
from synaptic.serving.worker import Worker
from synaptic.verbs.saving import save

Call = tuple[str, dict[str, Any]]
READS: dict[str, Call] = {
    "find": ("context_find", {"query": "step item", "limit": 100, "format": "json"}),
    "timeline": ("context_find", {"limit": 100, "format": "json"}),
    "recent": ("context_recent", {"limit": 100, "format": "json"}),
    "search": ("context_search", {"query": "step item", "limit": 100, "format": "json"}),
}
BURSTS = st.lists(st.sampled_from(("save", "update", "get", *READS)), min_size=2, max_size=10)


class Gated(HashingEmbedder):
    """A model that is loaded once `go` is set."""

    def __init__(self) -> None:
        super().__init__(broken=True)
        self.go = threading.Event()

    def load(self) -> None:
        self.go.wait(TIMEOUT_S)
        self.ready = True


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNAPTIC_PROJECT", "ledger")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def seeded(home: Path) -> str:
    """The id of the one entry of a new home."""
    with open_home(home) as ws:
        return save(ws, "The seed.", at="2026-03-04").id


def calls_of(burst: Sequence[str], seed: str) -> list[Call]:
    calls: list[Call] = []
    for number, verb in enumerate(burst):
        if verb == "save":
            calls.append(("context_save", {"content": f"step {number} item"}))
        elif verb == "update":
            calls.append(("context_update", {"id": seed, "append": f"change {number}."}))
        elif verb == "get":
            calls.append(("context_get", {"id": seed, "format": "json"}))
        else:
            calls.append(READS[verb])
    return calls


def check(burst: Sequence[str], answers: Sequence[str], home: Path) -> None:
    """Each answer shows what was written before its call, and the file has the calls' order."""
    saves: list[str] = []
    changes: list[str] = []
    for number, (verb, answer) in enumerate(zip(burst, answers, strict=True)):
        if verb == "save":
            saves.append(str(number))
        elif verb == "update":
            changes.append(str(number))
        elif verb == "get":
            assert re.findall(r"change (\d+)\.", answer) == changes, (burst, number)
        else:
            contents = [item["content"] for item in entries_of(answer)]
            seen = re.findall(r"step (\d+) item", "\n".join(contents))
            assert sorted(seen) == sorted(saves), (burst, number)
    day = "".join(file.read_text() for file in sorted((home / "journal").rglob("*.md")))
    assert re.findall(r"^## .*step (\d+) item", day, re.MULTILINE) == saves
    assert re.findall(r"change (\d+)\.", day) == changes


def entries_of(answer: str) -> list[dict[str, Any]]:
    data = json.loads(answer)
    found: list[dict[str, Any]] = data["hits"] if "hits" in data else data["entries"]
    return found


# -- in memory, where the model comes after the burst
# ------------------------------------------------------------------------------


@pytest.mark.sweep
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@settings(max_examples=examples(300, 12), deadline=None)
@given(burst=BURSTS)
def test_a_first_burst_runs_in_its_order(mode: str, burst: list[str]) -> None:
    async def run(home: Path, seed: str) -> list[str]:
        model = Gated()
        worker = Worker(home, model, readers=0)
        async with Client(build_server(worker), mode=mode) as client:

            async def answer(call: Call) -> str:
                return text_of(await client.call_tool(*call))

            asyncio.get_running_loop().call_later(0.05, model.go.set)
            answers = await asyncio.gather(*map(answer, calls_of(burst, seed)))
        worker.close(TIMEOUT_S)  # it writes into the home until its thread has ended
        return list(answers)

    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        check(burst, asyncio.run(run(home, seeded(home))), home)


def text_of(result: Any) -> str:
    assert not result.is_error, result
    return str(result.content[0].text)


# -- over HTTP, where readers answer
# ------------------------------------------------------------------------------


@pytest.mark.needs(feature="page")
@pytest.mark.parametrize("keyed", [False, True])
def test_calls_over_http_see_what_their_client_wrote_before(
    tmp_path: Path, keyed: bool
) -> None:
    home = tmp_path / "home"
    seed = seeded(home)
    burst = ["save", "save", "find", "update", "get", "save", "save", "recent", "search"]

    async def run() -> list[str]:
        model = Gated()
        async with over_http(home, model) as client:

            async def answer(number: int, call: Call) -> str:
                headers = {"Idempotency-Key": str(number)} if keyed and number % 2 else {}
                body = tool_call(number, *call)
                result = (await client.post("/mcp", json=body, headers=headers)).json()[
                    "result"
                ]
                return str(result["content"][0]["text"])

            asyncio.get_running_loop().call_later(0.05, model.go.set)
            calls = calls_of(burst, seed)
            return list(await asyncio.gather(*map(answer, range(len(calls)), calls)))

    answers = asyncio.run(run())
    day = "".join(file.read_text() for file in sorted((home / "journal").rglob("*.md")))
    assert re.findall(r"^## .*step (\d+) item", day, re.MULTILINE) == ["0", "1", "5", "6"]
    for number in (2, 7, 8):
        seen = re.findall(r"step (\d) item", json.dumps(entries_of(answers[number])))
        before = {str(at) for at in range(number) if burst[at] == "save"}
        assert before <= set(seen), (number, seen)
    assert "change 3." in answers[4]


class SlowWriter(BaseHTTPRequestHandler):
    """The server of a journal, which answers a call once another came, or after a while."""

    steps: list[str]
    another: threading.Event

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["params"]["arguments"]["content"]
        if self.steps:
            self.another.set()
        self.steps.append(f"{text} comes")
        self.another.wait(0.2)
        self.steps.append(f"{text} is answered")
        result = {"content": [{"type": "text", "text": "Saved."}]}
        answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.needs(feature="page")
def test_calls_that_are_handed_on_go_one_after_another(tmp_path: Path) -> None:
    home = tmp_path / "home"
    seeded(home)
    steps: list[str] = []
    handler = type("Handler", (SlowWriter,), {"steps": steps, "another": threading.Event()})
    writer = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=writer.serve_forever, daemon=True).start()

    async def run() -> None:
        url = f"http://127.0.0.1:{writer.server_port}"
        async with over_http(home, HashingEmbedder(), url) as client:
            calls = calls_of(["save"] * 3, "")
            bodies = [tool_call(number, *call) for number, call in enumerate(calls)]
            await asyncio.gather(*(client.post("/mcp", json=body) for body in bodies))

    asyncio.run(run())
    writer.shutdown()
    writer.server_close()
    texts = [f"step {number} item" for number in range(3)]
    assert steps == [f"{text} {step}" for text in texts for step in ("comes", "is answered")]


# -- the turns themselves
# ------------------------------------------------------------------------------


@settings(max_examples=examples(2_000, 100), deadline=None)
@given(kinds=st.lists(st.sampled_from("rw"), max_size=8), cancelled=st.sets(st.integers(0, 7)))
def test_turns_come_in_order_and_a_write_has_its_own(
    kinds: list[str], cancelled: set[int]
) -> None:
    begun: list[int] = []
    running: set[int] = set()

    async def run() -> None:
        turns = Turns()

        async def call(number: int, kind: str) -> None:
            async with turns.writing() if kind == "w" else turns.reading():
                assert kind == "r" or not running
                assert all(kinds[other] == "r" for other in running)
                begun.append(number)
                running.add(number)
                try:
                    for _ in range(3):
                        await asyncio.sleep(0)
                finally:
                    running.remove(number)

        tasks = [asyncio.create_task(call(*pair)) for pair in enumerate(kinds)]
        await asyncio.sleep(0)
        for number in sorted(cancelled):
            if number < len(tasks):
                tasks[number].cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [one for one in results if isinstance(one, AssertionError)]

    asyncio.run(run())
    assert begun == sorted(begun)
    assert set(begun) >= set(range(len(kinds))) - cancelled


# -- over stdio, before the SDK is there
# ------------------------------------------------------------------------------


@pytest.fixture
def speak(tmp_path: Path, forks: Forks) -> Iterator[Any]:
    """Sends lines in one write to a server of its own; returns the answers by id."""

    def speaking(home: Path, lines: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
        code = "from synaptic.mcp.start import start_server; start_server()"
        env = {"SYNAPTIC_HOME": str(home), "PATH": "/usr/bin:/bin"}
        call = {"args": ["-c"], "code": code, "env": env, "folder": str(tmp_path)}
        process = forks.start(call, errors=False)
        process.stdin.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        process.stdin.flush()
        wanted = {line["id"] for line in lines if "id" in line}
        answers: dict[Any, dict[str, Any]] = {}
        while wanted - answers.keys():
            answer = json.loads(process.stdout.readline())
            answers[answer["id"]] = answer
        process.stdin.close()
        process.wait(TIMEOUT_S)
        return answers

    yield speaking


def test_all_of_a_session_in_one_write(tmp_path: Path, speak: Any) -> None:
    home = tmp_path / "home"
    seed = seeded(home)
    burst = ["save", "find", "save", "search", "save", "update", "get", "save", "timeline"]
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": ME}
    lines: list[dict[str, Any]] = [
        {"id": "first", "method": "initialize", "params": client},
        {"method": "notifications/initialized"},
        {"id": "list", "method": "tools/list"},
    ]
    for number, call in enumerate(calls_of(burst, seed)):
        lines.append(tool_call(number, *call))
        lines.append({"id": f"ping {number}", "method": "ping"})
        lines.append({"method": "notifications/cancelled", "params": {"requestId": "none"}})
    answers = speak(home, [{"jsonrpc": "2.0"} | line for line in lines])
    texts = [answers[number]["result"]["content"][0]["text"] for number in range(len(burst))]
    check(burst, texts, home)


ME = {"name": "t", "version": "1"}
