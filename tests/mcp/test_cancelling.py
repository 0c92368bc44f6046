"""A call that is cancelled does nothing, or is done and answered."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from embedders import HashingEmbedder
from forks import Forked, ForkedHome, forked
from outside import TIMEOUT_S
from remotes import tool_call

from synaptic import Workspace
from synaptic.errors import Withdrawn
from synaptic.files import file_lock
from synaptic.journal.withdrawal import Withdrawal
from synaptic.mcp.remote import Remote
from synaptic.serving.tokens import Tokens
from synaptic.serving.worker import Worker
from synaptic.verbs.newest import recent
from synaptic.verbs.saving import save

GATED_SERVER = """
import sys
from pathlib import Path
sys.path.append(sys.argv[1])
from embedders import HashingEmbedder
from synaptic.workspace import workspace

class Gated(HashingEmbedder):
    def embed_passage(self, text):
        if "heron" in text:
            Path(sys.argv[2]).read_bytes()  # waits until somebody has written
        return super().embed_passage(text)

gated = Gated()
workspace.FastEmbedder = lambda *_, **__: gated
from synaptic.mcp.start import start_server
start_server(sys.argv[3])
"""
"""A server whose model waits at a FIFO: that is after the change of the file."""


class RawClient:
    """Sends lines to a server, and reads its answers by their ids."""

    def __init__(self, process: Forked) -> None:
        self._process = process
        self._answers: dict[int, dict[str, Any]] = {}
        self._lines = SimpleQueue[bytes]()
        threading.Thread(target=self._read, daemon=True).start()
        params = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        }
        self.send(id=0, method="initialize", params=params)
        self.send(method="notifications/initialized")

    def send(self, **message: Any) -> None:
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def call(self, id: int, tool: str, **arguments: Any) -> None:
        params = {"name": tool, "arguments": arguments}
        self.send(id=id, method="tools/call", params=params)

    def cancel(self, id: int) -> None:
        self.send(method="notifications/cancelled", params={"requestId": id})

    def answer(self, id: int) -> str:
        """The text of the answer to this call; all that comes before it is kept."""
        while id not in self._answers:
            message = json.loads(self._lines.get(timeout=TIMEOUT_S))
            self._answers[message["id"]] = message
        text: str = self._answers[id]["result"]["content"][0]["text"]
        return text

    def _read(self) -> None:
        for line in self._process.stdout:
            self._lines.put(line)

    def was_answered(self, id: int) -> bool:
        """True if the answer to this call was read already."""
        return id in self._answers


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    return gate


@pytest.fixture
def client(home: ForkedHome, gate: Path) -> Iterator[RawClient]:
    home.ask("save", "A lantern by the gate.")
    helpers = str(Path(__file__).parents[1] / "helpers")
    with home.python(GATED_SERVER, helpers, str(gate), str(home.path)) as process:
        yield RawClient(process)
        process.kill()


def day_of(home: ForkedHome) -> str:
    return "".join(path.read_text() for path in sorted(home.journal.glob("*.md")))


def test_a_cancelled_call_does_nothing_or_is_answered(
    home: ForkedHome, client: RawClient, gate: Path
) -> None:
    client.call(1, "context_save", content="An owl on the barn.")
    client.answer(1)
    with file_lock(home.state / "write.lock"):  # no file changes meanwhile
        client.call(2, "context_save", content="A stoat in the wall.")
        client.call(3, "context_search", query="owl")  # waits for its turn behind the save
        client.cancel(2)
        assert "owl" in client.answer(3)
    client.call(4, "context_save", content="A heron in the reeds.")
    with gate.open("w"):  # the server has changed the file, and reads here
        assert "A heron in the reeds." in day_of(home)
        client.cancel(4)
        client.call(5, "context_recent")
    assert client.answer(4).startswith("Saved ")
    assert "heron" in client.answer(5)
    assert not client.was_answered(2)
    assert "stoat" not in day_of(home)


def test_a_save_whose_client_has_gone_does_nothing(tmp_path: Path) -> None:
    """Over HTTP a client that is gone cancels the call; so does one that waits no longer."""
    worker = Worker(tmp_path / "home", HashingEmbedder())
    begun = threading.Event()

    def save_heron(ws: Workspace) -> str:
        begun.set()
        return save(ws, "A heron in the reeds.").id

    async def story() -> list[str]:
        await worker.ask(partial(save, content="A lantern by the gate."))
        with file_lock(tmp_path / "home" / ".state" / "write.lock"):
            call = asyncio.ensure_future(worker.ask(save_heron))
            await asyncio.to_thread(begun.wait, TIMEOUT_S)
            call.cancel()
            await asyncio.wait([call])
        listing = await worker.ask(recent)
        return [entry.title for entry in listing.entries]

    assert asyncio.run(story()) == ["A lantern by the gate."]
    worker.close(TIMEOUT_S)


def test_a_call_is_withdrawn_or_begun_but_never_both() -> None:
    withdrawn = Withdrawal()
    assert withdrawn.request()
    with pytest.raises(Withdrawn, match="nothing was changed"):
        withdrawn.begin_change()
    begun = Withdrawal()
    begun.begin_change()
    assert not begun.request()
    begun.begin_change()  # a call may change several files


@pytest.mark.needs(feature="page")
def test_a_client_over_http_that_goes_leaves_no_save_behind(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = forked("--home", str(home), "token", "anna", "--json").json["token"]
    readme = home / ".state" / "README.txt"
    worker = Worker(home, HashingEmbedder())
    remote = Remote(worker, Tokens(home, None), read_only=False, writer="")
    call = tool_call(1, "context_save", {"content": "A heron in the reeds."})
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json",
        "content-type": "application/json",
        "host": "test",
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": json.dumps(call).encode()}
    ]

    async def receive() -> dict[str, Any]:
        """The body, and then, while the save waits for the lock, the end."""
        if messages:
            return messages.pop()
        while not readme.exists():  # which a change of the journal makes before it waits
            await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        """Nobody is there."""

    async def story() -> list[str]:
        await worker.ask(partial(save, content="A lantern by the gate."))
        async with remote.running():
            with file_lock(home / ".state" / "write.lock"):
                readme.unlink()
                await remote(scope, receive, send)
                async with worker.clients["anna"].turns.writing():
                    """The server has ended the call."""
            listing = await worker.ask(recent)
        return [entry.title for entry in listing.entries]

    assert asyncio.run(story()) == ["A lantern by the gate."]
