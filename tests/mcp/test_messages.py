"""Each request of a client is answered, however it is packed; what is no message is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from embedders import HashingEmbedder
from forks import Forks
from homes import open_home
from hypothesis import given, settings
from hypothesis import strategies as st
from outside import TIMEOUT_S
from remotes import over_http, tool_call
from trials import examples

from synaptic.mcp.messages import Refusal, read_messages
from synaptic.verbs.saving import save

BATCHES = "2025-03-26"
VERSIONS = ("2024-11-05", BATCHES, "2025-06-18", "2025-11-25")
INVALID, NOT_JSON = -32600, -32700
Outcome = tuple[Any, int | None]
"""The id of an answer, and the code of an error."""


def ping(id: Any, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "ping"} | more


NOTE = {"jsonrpc": "2.0", "method": "notifications/initialized"}
MALFORMED: list[tuple[Any, Any]] = [
    (ping(1, params=[]), 1),
    (ping("a", params="x"), "a"),
    ({"id": 2, "method": "ping"}, 2),
    (ping(3, jsonrpc="1.0"), 3),
    (ping(1.5), 1.5),
    (ping(None), None),
    (ping(True), None),
    (ping([4]), None),
    (ping({"a": 4}), None),
    (ping(float("nan")), None),
    (ping(float("inf")), None),
    (ping("\ud83d"), None),
    ({"jsonrpc": "2.0", "id": 5}, 5),
    ({"jsonrpc": "2.0", "id": 6, "method": 7}, 6),
    ({"jsonrpc": "2.0", "method": 7}, None),
    ({}, None),
    ("str", None),
    (42, None),
    (None, None),
    (True, None),
    ([], None),
]
"""A value that is no message, and the id of its refusal."""
BATCH: list[tuple[Any, list[Outcome]]] = [
    ([ping(1), ping("b")], [(1, None), ("b", None)]),
    ([ping(3)], [(3, None)]),
    ([ping(4), ping(4)], [(4, None), (4, None)]),
    ([NOTE, NOTE], []),
    ([NOTE, ping(5), NOTE], [(5, None)]),
    ([1, "x", None, []], [(None, INVALID)] * 4),
    ([[ping(6)]], [(None, INVALID)]),
    (
        [ping(7), ping(8, params=[]), 9, ping(10)],
        [(7, None), (8, INVALID), (None, INVALID), (10, None)],
    ),
    ([ping(11, method="initialize"), ping(12)], [(11, INVALID), (12, None)]),
]


# -- the reading of a text
# ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["", *VERSIONS])
@pytest.mark.parametrize(("value", "id"), MALFORMED)
def test_what_is_no_message_is_refused_with_its_id(version: str, value: Any, id: Any) -> None:
    (refusal,) = read_messages(json.dumps(value), version).each
    assert isinstance(refusal, Refusal) and (refusal.id, refusal.code) == (id, INVALID)
    answer = refusal.as_json()
    assert answer["jsonrpc"] == "2.0" and answer["error"]["message"]


@pytest.mark.parametrize("text", ["", "\n", "\r\n", "  \t\n"])
def test_an_empty_line_is_nothing(text: str) -> None:
    assert read_messages(text, BATCHES).each == []


@pytest.mark.parametrize("text", ["{", "hello", "[" * 100_000, "1" * 5_000, '{"a": 1} x'])
def test_what_is_not_json_is_refused(text: str) -> None:
    (refusal,) = read_messages(text, BATCHES).each
    assert isinstance(refusal, Refusal) and (refusal.id, refusal.code) == (None, NOT_JSON)
    assert len(refusal.message) < 300


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from("jsonrpc id method params result error".split()), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=examples(5_000, 200), deadline=None)
@given(value=VALUES | st.lists(st.sampled_from([ping(1), NOTE, 7, [], ping(2, params=3)])))
def test_each_request_is_read_or_refused(value: Any) -> None:
    items = value if isinstance(value, list) and value else [value]
    read = read_messages(json.dumps(value), BATCHES).each
    assert len(read) == len(items)
    for item, message in zip(items, read, strict=True):
        assert isinstance(message, Refusal) or message == item


# -- over stdio
# ------------------------------------------------------------------------------


@pytest.fixture
def speak(tmp_path: Path, forks: Forks) -> Callable[..., list[Outcome]]:
    """The answers to these lines after a handshake, in one write."""

    def speaking(version: str, *lines: str) -> list[Outcome]:
        code = "from synaptic.mcp.start import start_server; start_server()"
        env = {"SYNAPTIC_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
        call = {"args": ["-c"], "code": code, "env": env, "folder": str(tmp_path)}
        process = forks.start(call, errors=False)
        client = {"name": "t", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        opening = json.dumps(ping("first", method="initialize", params=params))
        text = "\n".join((opening, *lines, json.dumps(ping("last")), ""))
        process.stdin.write(text.encode())
        process.stdin.flush()
        outcomes: list[Outcome] = []
        while not outcomes or outcomes[-1][0] != "last":
            answer = json.loads(process.stdout.readline())
            outcomes.append((answer["id"], answer.get("error", {}).get("code")))
        process.stdin.close()
        process.wait(TIMEOUT_S)
        assert outcomes[0] == ("first", None)
        return outcomes[1:-1]

    return speaking


@pytest.mark.parametrize("version", VERSIONS)
def test_every_line_is_answered(speak: Callable[..., list[Outcome]], version: str) -> None:
    lines = [json.dumps(value) for value, _ in MALFORMED] + ["", "{", "\r", json.dumps(ping(9))]
    expected: list[Outcome] = [(id, INVALID) for _, id in MALFORMED]
    expected += [(None, NOT_JSON), (9, None)]
    for value, outcomes in BATCH:
        lines.append(json.dumps(value))
        expected += outcomes if version == BATCHES else [(None, INVALID)]
    assert sorted(speak(version, *lines), key=str) == sorted(expected, key=str)


@pytest.mark.sweep
def test_a_batch_of_any_length_is_answered(speak: Callable[..., list[Outcome]]) -> None:
    length = examples(10_000, 1_000)
    outcomes = speak(BATCHES, json.dumps([ping(number) for number in range(length)]))
    assert sorted(outcomes) == [(number, None) for number in range(length)]


# -- over HTTP
# ------------------------------------------------------------------------------


@pytest.mark.needs(feature="page")
def test_http_answers_a_batch_with_an_array(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_home(home) as ws:
        save(ws, "The seed.")
    calls = [
        tool_call(1, "context_save", {"content": "step 1 item"}),
        tool_call(2, "context_find", {"query": "step item"}),
        tool_call(3, "context_save", {"content": "step 3 item"}),
        tool_call(4, "context_find", {"query": "step item"}),
    ]

    async def run() -> None:
        async with over_http(home, HashingEmbedder()) as client:

            async def post(value: Any, **headers: str) -> tuple[int, Any]:
                names = {name.replace("_", "-"): text for name, text in headers.items()}
                names["Content-Type"] = "application/json"
                answer = await client.post("/mcp", content=json.dumps(value), headers=names)
                return answer.status_code, answer.json() if answer.content else None

            for value, outcomes in BATCH:
                status, answers = await post(value)
                if not outcomes:
                    assert (status, answers) == (202, None)
                    continue
                assert status == 200
                codes = [(one["id"], one.get("error", {}).get("code")) for one in answers]
                assert codes == outcomes
            for value, id in MALFORMED:
                for version in VERSIONS:
                    status, answer = await post(value, MCP_Protocol_Version=version)
                    assert (status, answer["id"], answer["error"]["code"]) == (400, id, INVALID)
            for version in (*VERSIONS, "2026-07-28"):
                if version != BATCHES:
                    status, answer = await post([ping(1)], MCP_Protocol_Version=version)
                    assert (status, answer["error"]["code"]) == (400, INVALID)
            answer = await client.post(
                "/mcp", content=b"{", headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == 400 and answer.json()["error"]["code"] == NOT_JSON
            status, answers = await post(calls, Idempotency_Key="k")
            assert status == 200
            texts = [one["result"]["content"][0]["text"] for one in answers]
            seen = [[number in text for number in ("step 1", "step 3")] for text in texts]
            assert (seen[1], seen[3]) == ([True, False], [True, True])
            again = await post(calls, Idempotency_Key="k")
            assert [again[1][at]["result"]["content"] for at in (0, 2)] == [
                answers[at]["result"]["content"] for at in (0, 2)
            ]

    asyncio.run(run())
