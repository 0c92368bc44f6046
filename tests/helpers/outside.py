"""Synaptic from outside: the installed command, a real MCP client over stdio, and files on a
disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, types
from mcp.client._transport import Transport
from pydantic import FileUrl

_RECEIPT = re.compile(
    r"(?P<done>[\w ]+?):? (?P<short>\w{8}) "
    r"\((?P<date>\S+) (?P<time>[\d:]+)(?:, (?P<path>.+))?\)\.$",
    re.MULTILINE,
)
_READING = {"search", "recent", "find", "get", "analyze"}
SYNAPTIC = str(Path(sys.executable).with_name("synaptic"))
TIMEOUT_S = 120
"""How long a test waits for what has to come: a busy machine takes long, and only a fault takes
for ever.
"""


def is_stopped(pid: int) -> bool:
    """True if a process was stopped by a signal."""
    status = Path(f"/proc/{pid}/stat")
    if status.exists():
        return status.read_text().rpartition(")")[2].split()[0] == "T"
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True).stdout
    return state.startswith(b"T")


def wait_until(holds: Callable[[], object]) -> None:
    """Returns once it holds; fails after TIMEOUT_S."""
    end = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def for_programs(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call whose answer a program reads."""
    whole = {"max_tokens": 100_000} if tool == "context_get" else {}
    return (
        whole | arguments | {"format": "json"}
        if tool.removeprefix("context_") in _READING
        else arguments
    )


def data_of(text: str) -> dict[str, Any]:
    """What a tool's text says: the JSON that it is, or the id, date, time, path and notice of a
    receipt.
    """
    if text.startswith("{"):
        data: dict[str, Any] = json.loads(text)
        return data
    found = _RECEIPT.match(text)
    assert found, text
    _, _, notice = text.partition("\nNote: ")
    id = f"{found['date'].replace('-', '')}-{found['short']}"
    path = found["path"] or f"{found['date']}.md"
    receipt = found.groupdict() | {"id": id, "path": path}
    return {"notices": [notice] if notice else [], **receipt}


def _said_in_text(refusal: str) -> str:
    """An error in the words of the text formats."""
    if not refusal.startswith("{"):
        return refusal
    error = json.loads(refusal)["error"]
    return " ".join(
        [
            error["message"],
            *([f"Valid: {', '.join(error['valid'])}."] if error["valid"] else []),
            error["hint"],
        ]
    )


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def text(self) -> str:
        return self.out + self.err


class Refusal(Exception):
    """A tool's answer that is an error."""


@dataclass
class Server:
    """A running `synaptic mcp` with a client at its pipe."""

    portal: BlockingPortal
    client: Client
    pid: int

    def call(self, tool: str, **arguments: Any) -> Any:
        """The answer as data. Raises Refusal with the message of a tool that answers with an
        error.
        """
        name = f"context_{tool}"
        result = self.portal.call(self.client.call_tool, name, for_programs(name, arguments))
        if result.is_error:
            raise Refusal(_said_in_text(self._text(result)))
        return data_of(self._text(result))

    def up_to_date(self, tool: str, **arguments: Any) -> Any:
        """The first answer that does not say that another process is writing the index, within
        TIMEOUT_S.
        """
        end = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.call(tool, **arguments)
            if not any("may be missing" in said for said in answer["notices"]):
                return answer
            assert time.monotonic() < end, answer["notices"]

    def text(self, tool: str, **arguments: Any) -> str:
        """What the model reads."""
        return self._text(self.portal.call(self.client.call_tool, f"context_{tool}", arguments))

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    @staticmethod
    def _text(result: types.CallToolResult) -> str:
        return "\n".join(
            block.text for block in result.content if isinstance(block, types.TextContent)
        )


@dataclass
class Home:
    """A home, and everything that a user can do with it."""

    path: Path
    env: dict[str, str] = field(default_factory=dict)
    folder: Path | None = field(default=None, kw_only=True)
    """Where its commands and servers work."""

    @property
    def journal(self) -> Path:
        return self.path / "journal"

    @property
    def state(self) -> Path:
        return self.path / ".state"

    @property
    def index(self) -> Path:
        return self.state / "index.db"

    def environment(self, **more: str) -> dict[str, str]:
        """Of the surrounding program only what is not Synaptic's; saves belong to no project of
        the working folder.
        """
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("SYNAPTIC_")
        }
        return (
            kept
            | {"SYNAPTIC_HOME": str(self.path), "SYNAPTIC_PROJECT": "tests"}
            | self.env
            | more
        )

    def run(self, *args: str, stdin: str | bytes = b"", **env: str) -> Answer:
        """What `synaptic ARGS` says; whatever its exit code."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [SYNAPTIC, *args],
            input=data,
            env=self.environment(**env),
            capture_output=True,
            timeout=TIMEOUT_S,
            cwd=self.folder,
        )
        return Answer(
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )

    def ask(self, *args: str, stdin: str | bytes = b"", **env: str) -> Any:
        """What `synaptic ARGS --json` answers; it must succeed."""
        answer = self.run(*args, "--json", stdin=stdin, **env)
        assert answer.code == 0, answer.text
        return answer.json

    def start(self, *args: str, **env: str) -> subprocess.Popen[bytes]:
        """`synaptic ARGS` running, with pipes at both ends."""
        pipe = subprocess.PIPE
        command, environ = [SYNAPTIC, *args], self.environment(**env)
        return subprocess.Popen(
            command, env=environ, cwd=self.folder, stdin=pipe, stdout=pipe, stderr=pipe
        )

    def python(self, code: str, *args: str, **env: str) -> subprocess.Popen[bytes]:
        """A program that uses the library, running; `code` finds ARGS in sys.argv[1:]."""
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", code, *args]
        return subprocess.Popen(
            command, env=self.environment(**env), stdin=pipe, stdout=pipe, stderr=pipe
        )

    @contextlib.contextmanager
    def server(self, **env: str) -> Iterator[Server]:
        """A server of its own process, spoken to by the SDK's client."""
        pid_file = self.path.parent / f"{os.urandom(4).hex()}.pid"
        script = f"echo $$ > {shlex.quote(str(pid_file))}; exec {shlex.quote(SYNAPTIC)} mcp"
        started = StdioServerParameters(
            command="/bin/sh", args=["-c", script], env=self.environment(**env), cwd=self.folder
        )
        with connected(started) as (portal, client):
            yield Server(portal, client, int(pid_file.read_text()))

    def entries(self) -> list[dict[str, Any]]:
        """Every entry that the index shows, oldest first, whole."""
        found: list[dict[str, Any]] = []
        cursor: tuple[str, ...] = ()
        while True:
            page = self.ask("find", "--order", "oldest", "--limit", "100", *cursor)
            found += page["entries"]
            if not page.get("cursor"):
                return found
            cursor = ("--cursor", page["cursor"])

    def files(self) -> dict[str, bytes]:
        """The bytes of every file of the journal, by relative path."""
        return {
            str(p.relative_to(self.journal)): p.read_bytes()
            for p in self.journal.rglob("*")
            if p.is_file()
        }


@contextlib.contextmanager
def connected(
    transport: Transport | StdioServerParameters, roots: Sequence[Path] | None = None
) -> Iterator[tuple[BlockingPortal, Client]]:
    """The SDK's client, in a thread of its own; with `roots` one of the older protocol, which
    lists these folders.
    """
    about = types.Implementation(name="tests", version="1")
    client = Client(transport, client_info=about)
    if roots is not None:

        async def list_roots(_: object) -> types.ListRootsResult:
            named = [types.Root(uri=FileUrl(root.as_uri())) for root in roots]
            return types.ListRootsResult(roots=named)

        client = Client(
            transport, client_info=about, list_roots_callback=list_roots, mode="legacy"
        )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(client) as entered,
    ):
        yield portal, entered
