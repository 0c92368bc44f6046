"""MCP over HTTP: real clients of the real `synaptic serve`."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from forks import ForkedHome, Forks, forked, piped
from homes import open_home
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from outside import TIMEOUT_S, Answer
from served import UNENCRYPTED, Served, a_port, served

from synaptic.mcp.tools import READING_TOOLS
from synaptic.verbs.removing import delete
from synaptic.verbs.saving import save

pytestmark = pytest.mark.needs(feature="page")


HANDSHAKES = ("2025-03-26", "2025-06-18", "2025-11-25")
NEWEST = "2026-07-28"
WRITING = {"context_save", "context_update", "context_delete"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with tokens: `anna` of the project ledger, `ben` who only reads, and `eve` of the
    page.
    """
    home = tmp_path_factory.mktemp("remote") / "home"
    with open_home(home) as ws:
        save(ws, "The export rounds to cents.", project="ledger", type="decision")
        save(ws, "The export rounds to cents, too.", project="other", type="decision")
        fax = save(ws, "The fax is gone.", project="other", at="2026-04-01")
        delete(ws, fax.id)
    return home


@pytest.fixture(scope="module")
def tokens(home: Path) -> dict[str, str]:
    return {
        "anna": token(home, "anna", "--project", "ledger"),
        "ben": token(home, "ben", "--read-only"),
        "eve": token(home, "eve", "--page"),
    }


@pytest.fixture(scope="module")
def server(home: Path, tokens: dict[str, str]) -> Iterator[Served]:
    with served(home) as server:
        yield server


def synaptic(home: Path, *words: str) -> Answer:
    return forked("--home", str(home), *words)


def token(home: Path, *words: str) -> str:
    done = synaptic(home, "token", *words, "--json")
    assert done.code == 0, done.err
    return str(done.json["token"])


@asynccontextmanager
async def client(
    server: Served, token: str, mode: str = "auto", **more: str
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}", **more}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, verify=UNENCRYPTED) as http,
        Client(
            streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode
        ) as client,
    ):
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> tuple[bool, str]:
    """(whether it is an error, the text)."""
    answer = await client.call_tool(tool, arguments)
    return answer.is_error, "".join(getattr(block, "text", "") for block in answer.content)


def post(
    server: Served,
    token: str,
    method: str,
    version: str = HANDSHAKES[1],
    timeout: float = 60,
    **params: Any,
) -> httpx.Response:
    """What a bare request of this version gets."""
    if version == NEWEST:
        told = {
            "protocolVersion": NEWEST,
            "clientInfo": {"name": "n", "version": "1"},
            "clientCapabilities": {},
        }
        params["_meta"] = {
            f"io.modelcontextprotocol/{name}": value for name, value in told.items()
        }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return post_bytes(
        server, token, body.encode(), version, method, str(params.get("name", "")), timeout
    )


def post_bytes(
    server: Served,
    token: str,
    body: bytes,
    version: str = HANDSHAKES[1],
    method: str = "tools/call",
    name: str = "",
    timeout: float = 60,
) -> httpx.Response:
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": version,
        "Mcp-Method": method,
        "Mcp-Name": name,
    }
    return httpx.post(
        f"{server.url}/mcp", content=body, headers=headers, timeout=timeout, verify=UNENCRYPTED
    )


@pytest.mark.parametrize("mode", ["legacy", NEWEST])
def test_a_client_gets_what_it_gets_over_stdio(
    server: Served, home: Path, tokens: dict[str, str], forks: Forks, mode: str
) -> None:
    async def seen(client: Client) -> list[str]:
        found = [
            await client.list_tools(),
            await client.list_resources(),
            await client.list_resource_templates(),
            await client.list_prompts(),
            await client.get_prompt("handoff", {"focus": "the export"}),
            await client.read_resource("synaptic://journal/today"),
            await client.call_tool("context_search", {"query": "rounding", "limit": 101}),
        ]
        return [one.model_dump_json(exclude={"meta", "ttl_ms", "cache_scope"}) for one in found]

    async def both() -> None:
        args = ["synaptic", "--home", str(home), "mcp"]
        start = {"args": args, "env": dict(os.environ), "folder": str(home)}
        stdio = piped(forks.start(start, errors=False))
        async with (
            client(server, tokens["anna"], mode) as here,
            Client(stdio, mode=mode) as there,
        ):
            assert await seen(here) == await seen(there)
            failed, text = await call(here, "context_save", content=f"Saved by HTTP in {mode}.")
            assert not failed
            id = text.split()[1]
            assert "Saved by HTTP" in (await call(there, "context_get", ids=[id]))[1]

    anyio.run(both)


@pytest.mark.parametrize("version", HANDSHAKES)
def test_a_client_of_an_earlier_era(
    server: Served, tokens: dict[str, str], version: str
) -> None:
    hello = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": {"name": "old", "version": "1"},
    }
    answer = post(server, tokens["anna"], "initialize", version, **hello)
    assert answer.json()["result"]["protocolVersion"] == version
    assert (
        len(post(server, tokens["anna"], "tools/list", version).json()["result"]["tools"]) == 9
    )
    bearer = {"Authorization": f"Bearer {tokens['anna']}"}
    assert (
        httpx.get(f"{server.url}/mcp", headers=bearer).status_code == 405
    )  # the server never speaks first


def test_a_token_says_whose_a_save_is_and_what_comes_first(
    server: Served, home: Path, tokens: dict[str, str]
) -> None:
    async def run() -> None:
        async with client(server, tokens["anna"]) as anna:
            failed, text = await call(
                anna, "context_save", content="The ledger closes at noon."
            )
            assert not failed and "project" not in text.lower().replace("project ledger", "")
            _, shown = await call(anna, "context_get", ids=[text.split()[1]], format="json")
            [entry] = json.loads(shown)["entries"]
            assert (entry["by"], entry["project"], entry["via"]) == ("anna", "ledger", "mcp")
            _, found = await call(
                anna, "context_search", query="export rounds to cents", format="json"
            )
            assert [hit["project"] for hit in json.loads(found)["hits"]][:2] == [
                "ledger",
                "other",
            ]

    anyio.run(run)


def test_a_header_says_which_tools_are_listed(server: Served, tokens: dict[str, str]) -> None:
    async def run() -> None:
        for name, tool_list, count in (
            ("anna", "whole", 9),
            ("anna", "short", 5),
            ("ben", "short", 4),
        ):
            async with client(server, tokens[name], **{"Synaptic-Tool-List": tool_list}) as one:
                names = [tool.name for tool in (await one.list_tools()).tools]
                assert len(names) == count
                assert ("context_more" in names) == (tool_list == "short")
                if name == "ben":
                    sent = {"tool": "context_delete", "id": "x"}
                    refused = await one.call_tool("context_more", sent)
                    assert refused.is_error and "nothing was written" in str(refused.content)
        async with client(server, tokens["anna"], **{"Synaptic-Tool-List": "long"}) as one:
            with pytest.raises(MCPError, match=r"'long'.*whole, short"):
                await one.list_tools()

    anyio.run(run)


def test_a_token_that_only_reads(server: Served, tokens: dict[str, str]) -> None:
    async def run() -> None:
        async with client(server, tokens["ben"]) as ben:
            offered = {tool.name for tool in (await ben.list_tools()).tools}
            assert offered == set(READING_TOOLS)
            for tool, arguments in (
                ("context_save", {"content": "x"}),
                ("context_update", {"id": "x", "content": "y"}),
                ("context_delete", {"id": "x"}),
            ):
                failed, text = await call(ben, tool, **arguments)
                assert failed and "nothing was written" in text and "context_search" in text
            assert not (await call(ben, "context_search", query="cents"))[0]

    anyio.run(run)


def test_only_who_may_write_sees_what_was_deleted(
    server: Served, tokens: dict[str, str]
) -> None:
    async def run() -> None:
        for name, sees in (("anna", True), ("ben", False)):
            async with client(server, tokens[name]) as one:
                failed, text = await call(one, "context_find", options={"as_of": "2026-04-02"})
                assert not failed
                assert ("The fax is gone" in text) == sees

    anyio.run(run)


def test_what_opens_nothing(server: Served, home: Path, tokens: dict[str, str]) -> None:
    for wrong in ("x", "x" * 43):
        answer = post(server, wrong, "tools/list")
        assert (answer.status_code, answer.headers["www-authenticate"][:6]) == (401, "Bearer")
    answer = post(server, tokens["eve"], "tools/list")
    assert (
        answer.status_code == 403 and "for the page only" in answer.json()["error"]["message"]
    )
    assert server.client.post("/mcp", json={}).status_code == 401  # the cookie opens no tool
    gone = token(home, "gone")
    file = home / "tokens.toml"
    before = file.read_text()

    async def run() -> None:
        async with client(server, gone, "legacy") as client_:
            assert not (await call(client_, "context_recent"))[0]
            file.write_text(before[: before.index('["gone"]')])
            with pytest.raises(MCPError, match="is not valid for this server"):
                await call(client_, "context_recent")

    anyio.run(run)
    assert post(server, gone, "tools/list").status_code == 401
    file.chmod(0o644)
    assert post(server, tokens["anna"], "tools/list").status_code == 503
    file.chmod(0o600)
    assert post(server, tokens["anna"], "tools/list").status_code == 200
    aside = file.rename(home / "tokens.aside")
    os.mkfifo(file, 0o600)  # nobody writes into it, and the server does not wait for them
    try:
        assert post(server, tokens["anna"], "tools/list").status_code == 503
    finally:
        aside.rename(file)
    assert post(server, tokens["anna"], "tools/list").status_code == 200


def test_bodies_that_are_odd(server: Served, tokens: dict[str, str]) -> None:
    """Half of a character, which JavaScript clients send; no JSON; and too much of it."""
    for version in (HANDSHAKES[-1], NEWEST):
        arguments = {"content": f"Half \ud83d of it, by {version}."}
        answer = post(
            server,
            tokens["anna"],
            "tools/call",
            version,
            name="context_save",
            arguments=arguments,
        )
        assert "Saved" in answer.text, answer.text
    assert post_bytes(server, tokens["anna"], b"{").json()["error"]["code"] == -32700
    assert post_bytes(server, tokens["anna"], b" " * (5 << 20)).status_code == 413


def test_a_client_goes_on_after_the_server_was_killed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    anna, saved = token(home, "anna"), list[str]()

    def work(server: Served, number: int) -> None:
        with suppress(httpx.HTTPError):
            for turn in range(50):
                arguments = {"content": f"Thread {number}, turn {turn}."}
                answer = post(
                    server, anna, "tools/call", name="context_save", arguments=arguments
                ).json()["result"]
                saved.append(answer["content"][0]["text"].split()[1])
                if len(saved) > 8:
                    server.process.kill()

    port = str(a_port())
    with served(home, "--port", port) as server:
        threads = [threading.Thread(target=work, args=(server, number)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    async def run() -> None:
        with served(home, "--port", port, installed=True) as again:
            async with client(again, anna, "legacy") as here:
                for id in saved:
                    assert not (await call(here, "context_get", ids=[id]))[0]
                again.process.send_signal(signal.SIGINT)  # with a connection open
                assert again.process.wait(TIMEOUT_S) == 130
                with served(home, "--port", port):
                    assert not (await call(here, "context_recent"))[0]

    assert len(saved) > 8
    anyio.run(run)


def readers_beside(server: Served) -> list[int]:
    """The processes in which this server has long work done."""
    listed = subprocess.run(
        ["ps", "-ewwo", "pid=,ppid=,args="], capture_output=True, check=True
    )
    lines = [line.split(maxsplit=2) for line in listed.stdout.decode().splitlines()]
    own = [line for line in lines if int(line[1]) == server.process.pid]
    return [int(pid) for pid, _, command in own if "spawn_main" in command]


@pytest.mark.sweep
@pytest.mark.parametrize("version", [HANDSHAKES[1], NEWEST])
def test_a_call_ends_with_its_client(
    server: Served, tokens: dict[str, str], version: str
) -> None:
    def review(timeout: float = 60) -> httpx.Response:
        return post(server, tokens["anna"], "prompts/get", version, timeout, name="review")

    until = time.monotonic() + TIMEOUT_S
    while not readers_beside(server) and time.monotonic() < until:
        assert "result" in review().json()  # the first may be the writer's
    [process] = readers_beside(server)
    os.kill(process, signal.SIGSTOP)  # it would never answer
    with pytest.raises(httpx.TimeoutException):
        review(0.5)
    while readers_beside(server) and time.monotonic() < until:
        time.sleep(0.05)
    assert readers_beside(server) == []
    assert "result" in review().json()
    assert readers_beside(server) != [process]


def test_a_port_that_is_taken(server: Served, home: Path) -> None:
    done = synaptic(home, "serve", "--port", server.url.rpartition(":")[2])
    assert done.code == 1 and "Give another --port" in done.err


# -- tokens
# ---------------------------------------------------------------------------------------------


def test_no_token_is_lost_where_several_are_made_at_once(tmp_path: Path, forks: Forks) -> None:
    at = ForkedHome(tmp_path / "home", {"HOME": str(tmp_path)}, forks=forks)
    at.ask("init")
    names = sorted(f"agent-{number:02}" for number in range(8))
    making = [at.start("token", name, "--json") for name in names]
    assert [process.wait(timeout=120) for process in making] == [0] * len(names)
    assert sorted(grant["name"] for grant in at.ask("token")["tokens"]) == names


def test_tokens_are_written_below_what_stands_there_and_listed_without_their_secrets(
    tmp_path: Path,
) -> None:
    home, file = tmp_path / "home", tmp_path / "home" / "tokens.toml"
    assert "`synaptic token NAME` makes one" in synaptic(home, "token").out
    first = token(home, "anna 🦉.laptop", "--project", "ledger")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_bytes(file.read_bytes() + b"# of the old laptop\r\n")
    token(home, "ben", "--read-only", "--page")
    assert b"# of the old laptop\n\n[" in file.read_bytes().replace(b"\r", b"")
    listed = synaptic(home, "token").out
    assert first not in listed
    assert [line.split("  ", 1)[0] for line in listed.splitlines()] == ["anna 🦉.laptop", "ben"]
    assert "project ledger" in listed and "page True" in listed
    as_json = json.loads(synaptic(home, "token", "--json").out)["tokens"]
    assert as_json[0] == {
        "name": "anna 🦉.laptop",
        "project": "ledger",
        "read-only": False,
        "page": False,
        "journals": None,
    }


@pytest.mark.parametrize(
    "words",
    [
        ["anna"],
        ["person"],
        [""],
        ["a\nb"],
        ["x" * 61],
        ["x", "--project", "a\nb"],
        ["x", "--journals", ""],
        ["x", "--journals", "web,person"],
    ],
)
def test_a_name_that_cannot_be_had(tmp_path: Path, words: list[str]) -> None:
    token(tmp_path, "anna")
    before = (tmp_path / "tokens.toml").read_bytes()
    done = synaptic(tmp_path, "token", *words)
    assert (
        done.code and "name" in done.err and (tmp_path / "tokens.toml").read_bytes() == before
    )


# -- clients of a server elsewhere
# -----------------------------------------------------------------------

URL = "https://memory.example/mcp"
BEARER = {
    "claude-code": "Bearer ${SYNAPTIC_TOKEN}",
    "gemini": "Bearer $SYNAPTIC_TOKEN",
    "cursor": "Bearer ${env:SYNAPTIC_TOKEN}",
    "vscode": "Bearer ${env:SYNAPTIC_TOKEN}",
    "windsurf": "Bearer ${env:SYNAPTIC_TOKEN}",
    "opencode": "Bearer {env:SYNAPTIC_TOKEN}",
}


def setup(home: Path, *words: str) -> Answer:
    environ = {"HOME": str(home), "PATH": str(home / "bin"), "SYNAPTIC_TOKEN": "x" * 43}
    return forked("setup", *words, folder=home, env=environ)


def test_clients_learn_of_a_server_elsewhere_and_never_its_token(tmp_path: Path) -> None:
    names = [*BEARER, "codex"]
    assert setup(tmp_path, *names, "--url", "https://memory.example", "--dry-run").code == 0
    assert not any(tmp_path.rglob("*.json"))
    done = setup(tmp_path, *names, "--url", "https://memory.example")
    assert done.code == 0 and "SYNAPTIC_TOKEN" in done.err
    files = {
        path: path.read_text()
        for path in tmp_path.rglob("*")
        if path.suffix in (".json", ".toml")
    }
    assert len(files) == len(names)  # and no hooks, which need the program
    assert all(URL in text and "x" * 43 not in text for text in files.values())
    entries = {
        str(path): json.loads(text) for path, text in files.items() if path.suffix == ".json"
    }
    said = [
        next(iter(next(iter(data.values())).values()))["headers"] for data in entries.values()
    ]
    assert sum(headers.get("Synaptic-Tool-List") == "short" for headers in said) == 5
    assert sorted(header["Authorization"] for header in said) == sorted(BEARER.values())
    states = json.loads(setup(tmp_path, "--url", URL, "--status", "--json").out)["clients"]
    assert {state["client"] for state in states if state["state"] == "registered"} == set(names)
    assert setup(tmp_path, "--status").out.count("with other settings") == len(names)
    other = setup(tmp_path, "cursor", "--url", "http://10.0.0.5:8765")
    assert "left as it is" in other.out and "put TLS in front" in other.err
    assert (
        "left as it is" in setup(tmp_path, "cursor").out
    )  # nor is it replaced by the program here
    assert setup(tmp_path, "--remove").code == 0
    assert not [path for path in files if path.exists() and "synaptic" in path.read_text()]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["zed", "--url", URL], "Valid: claude-code, codex"),
        (["--url", "memory.example"], "--url http"),
        (["--url", URL, "--project", "web"], "sets a token's project"),
    ],
)
def test_what_setup_refuses(tmp_path: Path, words: list[str], said: str) -> None:
    done = setup(tmp_path, *words)
    assert done.code == 2 and said in done.err


def test_each_token_has_its_own_last_position(server: Served, tokens: dict[str, str]) -> None:
    async def run() -> None:
        async with client(server, tokens["anna"]) as anna, client(server, tokens["ben"]) as ben:
            await call(anna, "context_brief", project="tide")
            await call(anna, "context_save", content="The tide table moved.", project="tide")
            for _ in range(2):  # one that asks for news begins no session
                _, text = await call(anna, "context_brief", project="tide", since="last")
                assert "The tide table moved." in text
            assert (
                "No earlier briefing"
                in (await call(ben, "context_brief", project="tide", since="last"))[1]
            )
            await call(anna, "context_brief", project="tide")
            _, text = await call(anna, "context_brief", project="tide", since="last")
            assert "Nothing is new since" in text

    anyio.run(run)
