"""The first answers, which come before the SDK, are the SDK's own, and a client never sees
who answers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forks import TIMEOUT_S, Forked, Forks
from hypothesis import given
from hypothesis import strategies as st
from mcp import types
from mcp_types.methods import validate_client_request
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from synaptic.mcp.front import HANDSHAKE_VERSIONS, LISTS, MODERN_VERSION, EarlyAnswers

FRONT = "from synaptic.mcp.start import start_server; start_server(None, {!r})"
SDK = """
from synaptic.mcp.front import Front
from synaptic.mcp.server import serve_stdio
front = Front({!r})
front.hand_over()
front.begin()
serve_stdio(None, front)
"""
"""The same server, where nothing is answered before the SDK is there."""

INFO = {"name": "a client", "title": "A client", "version": "1"}
ABILITIES = {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}}}
INITIALIZED = '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
ASKED = ("ping", "tools/list", *LISTS)


def request(id: Any, method: str, params: Any = None) -> str:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return json.dumps(message if params is None else message | {"params": params})


def handshake(version: str) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": ABILITIES, "clientInfo": INFO}


def envelope(version: str = MODERN_VERSION) -> dict[str, Any]:
    prefix = "io.modelcontextprotocol/"
    meta = {"protocolVersion": version, "clientInfo": INFO, "clientCapabilities": ABILITIES}
    return {"_meta": {prefix + name: value for name, value in meta.items()}}


def opened(*lines: str) -> list[str]:
    return [request(0, "initialize", handshake("2025-06-18")), INITIALIZED, *lines]


CALLS = {"context_save": {"content": "It rains."}, "context_recent": {"format": "json"}}
RECENT = {"name": "context_recent", "arguments": CALLS["context_recent"]}
TALKS = {
    version: [
        request("a", "initialize", handshake(version)),
        INITIALIZED,
        *(request(method, method) for method in ASKED),
        request(8, "tools/list", {"_meta": {"progressToken": 3}}),
        request(9, "server/discover"),
    ]
    for version in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS, "1999-01-01")
} | {
    "modern": [
        request(1, "server/discover", envelope()),
        *(request(method, method, envelope()) for method in ASKED),
        request(2, "initialize", handshake(MODERN_VERSION)),
    ],
    "modern, a list first": [
        request(1, "tools/list", envelope()),
        request(2, "tools/list"),
        request(3, "tools/list", envelope("2030-01-01")),
    ],
    "calls": opened(request(1, "tools/list"), request(2, "tools/call", RECENT)),
    "a call before the list": opened(
        request(1, "tools/call", RECENT), request(2, "tools/list"), request(3, "ping")
    ),
    "no handshake": [request(1, "tools/list"), request(2, "ping")],
    "a ping first": [request(1, "ping"), *opened(request(2, "tools/list"))],
    "two handshakes": opened(
        request(1, "initialize", handshake("2024-11-05")), request(2, "tools/list")
    ),
    "an id twice": opened(request(0, "tools/list"), request(0, "tools/list")),
    "a notification first": [INITIALIZED, *opened(request(1, "tools/list"))],
    "odd notifications": opened(
        '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 0}}',
        '{"jsonrpc": "2.0", "method": "notifications/nonsense", "params": {"a": 1}}',
        '{"jsonrpc": "2.0", "method": "notifications/initialized", "params": 7}',
        request(1, "tools/list"),
    ),
    "no JSON": opened("{", request(1, "tools/list")),
    "no JSON first": ["hello", *opened(request(1, "tools/list"))],
    "no message": opened("[]", "7", '{"id": 1}', request(2, "tools/list")),
    "another version of JSON-RPC": opened(
        request(1, "tools/list").replace("2.0", "1.0"), request(2, "ping")
    ),
    "half a character": opened(r'{"jsonrpc": "2.0", "id": "\ud83d", "method": "ping"}'),
    "no number": opened(
        '{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"a": NaN}}}'
    ),
    "an unknown method": opened(request(1, "tools/lists"), request(2, "tools/list")),
    "a cursor": opened(request(1, "tools/list", {"cursor": "x"}), request(2, "ping", {})),
    "wrong parameters": opened(
        request(1, "tools/list", []),
        request(2, "tools/list", {"cursor": 1}),
        request(3, "tools/list", {"_meta": {"progressToken": [1]}}),
        request(4, "ping", "x"),
    ),
    "odd ids": opened(
        *(request(id, "tools/list") for id in (None, True, 1.5, 2.0, [3], -4, "", "5"))
    ),
    "a handshake without a name": [
        request(1, "initialize", handshake("2025-06-18") | {"clientInfo": {"version": "1"}}),
        request(2, "tools/list"),
    ],
    "a modern handshake": [request(1, "initialize", envelope() | handshake("2025-06-18"))],
    "an envelope later": opened(request(1, "tools/list", envelope()), request(2, "tools/list")),
    "half an envelope": [
        request(
            1,
            "tools/list",
            {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN_VERSION}},
        )
    ],
}


@pytest.fixture
def talk(tmp_path: Path, forks: Forks) -> Callable[..., list[str]]:
    """Speaks to a server: all lines, then one more request, whose answer is the last."""

    def said(
        code: str,
        lines: list[str],
        config: str = "",
        last: str = "context_recent",
        tool_list: str = "whole",
    ) -> list[str]:
        home = tmp_path / str(len(list(tmp_path.iterdir())))
        home.mkdir()
        if config:
            (home / "config.toml").write_text(config)
        env = {k: v for k, v in os.environ.items() if not k.startswith("SYNAPTIC_")}
        env |= {"SYNAPTIC_HOME": str(home), "SYNAPTIC_NOW": "2026-11-21T10:30:00"}
        call = {
            "args": ["-c"],
            "code": code.format(tool_list),
            "env": env,
            "folder": str(tmp_path),
        }
        process = forks.start(call, errors=False)
        answers = list(map(readable, answers_of(process, lines, last)))
        return sorted(answer.replace(str(home), "HOME") for answer in answers)

    return said


def answers_of(process: Forked, lines: list[str], call: str) -> list[dict[str, Any]]:
    """The answers to these lines and to a last call, which comes behind all others."""
    answers: list[dict[str, Any]] = []
    era = envelope() if "io.modelcontextprotocol" in lines[0] else {}
    params = {"name": call, "arguments": CALLS[call]} | era
    last = request("the last", "tools/call", params)
    for line in [*lines, last]:
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
    while not answers or answers[-1].get("id") != "the last":
        answers.append(json.loads(process.stdout.readline()))
        if answers[-1].get("method") == "roots/list":  # it waits for them
            roots = {"jsonrpc": "2.0", "id": answers[-1]["id"], "result": {"roots": []}}
            process.stdin.write(json.dumps(roots).encode() + b"\n")
            process.stdin.flush()
    process.stdin.close()
    process.wait(TIMEOUT_S)
    answers += map(json.loads, process.stdout)
    return answers


def readable(answer: dict[str, Any]) -> str:
    """The answer in one order of keys, but for schemas: clients see them as they are."""
    tools = answer.get("result", {}).get("tools", ())
    return json.dumps(
        [answer, json.dumps([tool["inputSchema"] for tool in tools])], sort_keys=True
    )


@pytest.mark.parametrize("name", TALKS)
def test_the_front_answers_as_the_sdk_does(talk: Callable[..., list[str]], name: str) -> None:
    assert talk(FRONT, TALKS[name]) == talk(SDK, TALKS[name])


@pytest.mark.parametrize("name", ["2025-11-25", "modern"])
def test_the_short_list_is_the_same_from_both(
    talk: Callable[..., list[str]], name: str
) -> None:
    front, sdk = (talk(code, TALKS[name], tool_list="short") for code in (FRONT, SDK))
    assert front == sdk and sum("context_more" in answer for answer in front) >= 1


def test_a_broken_config_changes_no_answer_but_a_calls(talk: Callable[..., list[str]]) -> None:
    lines = [*TALKS["2025-11-25"], request(10, "tools/call", RECENT)]
    broken = talk(FRONT, lines, "day_file = 7\n")
    assert broken == talk(SDK, lines, "day_file = 7\n")
    whole = talk(FRONT, lines)
    differing = set(broken) - set(whole)
    assert len(differing) == 2
    assert all("day_file = 7 is not valid" in answer for answer in differing)


def test_the_sdk_knows_who_was_answered(talk: Callable[..., list[str]], tmp_path: Path) -> None:
    talk(FRONT, opened(request(1, "tools/list")), last="context_save")
    (day,) = tmp_path.glob("*/journal/*.md")
    assert "by=a%20client" in day.read_text()


def test_the_versions_are_the_sdks() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert (MODERN_VERSION,) == MODERN_PROTOCOL_VERSIONS


NAMES = st.sampled_from(
    "name version title icons websiteUrl roots listChanged sampling tools elicitation form "
    "tasks requests list experimental extensions _meta progressToken".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
MAPPINGS = st.dictionaries(NAMES, VALUES | st.dictionaries(NAMES, VALUES), max_size=4)


@given(program=MAPPINGS, capabilities=MAPPINGS, meta=MAPPINGS)
def test_the_sdk_takes_each_handshake_that_the_front_takes(
    program: dict[str, Any], capabilities: dict[str, Any], meta: dict[str, Any]
) -> None:
    info = INFO | program
    params = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info}
    script = EarlyAnswers()
    if script.answer(request(1, "initialize", params)):
        validate_client_request("initialize", "2025-11-25", params)
        types.InitializeRequestParams.model_validate(params, by_name=False)
    else:
        assert script.ended
    asking = envelope()
    prefix = "io.modelcontextprotocol/"
    asking["_meta"] |= {
        prefix + "clientInfo": info,
        prefix + "clientCapabilities": capabilities,
    }
    asking["_meta"] |= {name: value for name, value in meta.items() if name == "progressToken"}
    if EarlyAnswers().answer(request(1, "tools/list", asking)):
        try:
            validate_client_request("tools/list", MODERN_VERSION, asking)
        except ValidationError as error:
            raise AssertionError(error) from error
