"""A server that hands writing on to another: real servers, and a way between them that breaks."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from homes import open_home
from served import UNENCRYPTED, Served, a_port, served
from steady import steadily

from synaptic.errors import InvalidArgument
from synaptic.features.sharing.forwarding import POSITION, IndexPosition, check_writer_address
from synaptic.mcp.server import NOT_PUBLISHED_YET
from synaptic.verbs.browse import find, get
from synaptic.verbs.saving import save

READER = """
from synaptic.mcp.remote import Remote
from synaptic.features.page import app
app.serve_site({home!r}, Remote, app.Choices(host="127.0.0.1", writer={writer!r}))
"""
"""Serves a home, and hands writing on."""
UNKNOWN = "it is not known whether the text was saved"


def token(home: Path, *words: str) -> str:
    return str(steadily("--home", str(home), "token", *words, "--json").json["token"])


def reader(home: Path, writer: str) -> Any:
    return served(home, first=READER.format(home=str(home), writer=writer), log_in=False)


def tool(
    server: Served, bearer: str, name: str, key: str = "", **arguments: Any
) -> dict[str, Any]:
    """The result of a call, which no client library makes: its `text` is added."""
    headers = {
        "Authorization": f"Bearer {bearer}",
        "Accept": "application/json, text/event-stream",
    }
    headers |= {"Idempotency-Key": key} if key else {}
    params = {"name": name, "arguments": arguments}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = httpx.post(
        f"{server.url}/mcp", json=call, headers=headers, timeout=120, verify=UNENCRYPTED
    )
    result: dict[str, Any] = answer.json()["result"]
    return result | {"text": result["content"][0]["text"]}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("writer") / "home"
    with open_home(home) as ws:
        save(ws, "The first entry of the journal.")
    return home


@pytest.fixture(scope="module")
def anna(home: Path) -> str:
    return token(home, "anna")


@pytest.fixture(scope="module")
def writer(home: Path, anna: str) -> Iterator[Served]:
    with served(home, log_in=False) as server:
        yield server


@pytest.fixture
def away(tmp_path: Path, home: Path, anna: str) -> Path:
    """A home elsewhere, with the same tokens and an entry of its own."""
    away = tmp_path / "away"
    with open_home(away) as ws:
        save(ws, "An entry that only the reader has.")
    shutil.copy2(home / "tokens.toml", away)
    return away


class Way:
    """A way to a server, which reads each request whole and then does what it was `told`:
    `pass` it on, `drop` the answer of the server, or send these bytes.
    """

    def __init__(self, to: str, *told: str | bytes) -> None:
        self.told = list(told)
        self.requests: list[bytes] = []
        self._to = int(to.rpartition(":")[2])
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _run(self) -> None:
        with suppress(OSError):
            while True:
                self._answer(self._listening.accept()[0])

    def _answer(self, client: socket.socket) -> None:
        with client:
            request = _message(client).replace(b"Connection: keep-alive", b"Connection: close")
            self.requests.append(request)
            told = self.told.pop(0) if self.told else "pass"
            if isinstance(told, bytes):
                client.sendall(told)
                return
            with socket.create_connection(("127.0.0.1", self._to)) as server:
                server.sendall(request)
                answer = _message(server)
            if told == "pass":
                client.sendall(answer)


def _message(connection: socket.socket) -> bytes:
    """A whole request or answer, whose body has a length."""
    read = b""
    while b"\r\n\r\n" not in read:
        read += connection.recv(65_536)
    head, _, body = read.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if b"content-length" in line]
    while len(body) < int(lengths[0].rpartition(b":")[2]):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


@contextmanager
def way(to: str, *told: str | bytes) -> Iterator[Way]:
    made = Way(to, *told)
    yield made
    made.close()


def body(status: str, text: str = "", *lines: str) -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(text)}", "Connection: close", *lines]
    return "\r\n".join([*head, "", text]).encode()


def count(home: Path, words: str) -> int:
    with open_home(home) as ws:
        return sum(words in entry.content for entry in find(ws, limit=100).entries)


def test_what_a_client_saves_is_saved_by_the_writer_in_its_name(
    home: Path, away: Path, anna: str, writer: Served
) -> None:
    with reader(away, writer.url) as server:
        saved = tool(server, anna, "context_save", content="The fax moves to the attic.")
        assert saved["text"].startswith("Saved ") and not saved["isError"]
        with open_home(home) as ws:
            [entry] = get(ws, [saved["text"].split()[1]]).entries
        assert (entry.by, entry.via) == ("anna", "mcp")
        refused = tool(server, anna, "context_update", id=["zzzz"], content="x")
        assert refused["isError"] and "zzzz" in refused["text"]
        assert "only the reader has" in tool(server, anna, "context_recent")["text"]
        assert count(away, "attic") == 0


def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_is_done_twice(
    home: Path, away: Path, anna: str, writer: Served
) -> None:
    id = tool(writer, anna, "context_save", content="A list.")["text"].split()[1]

    def text() -> str:
        with open_home(home) as ws:
            return get(ws, [id]).entries[0].content

    with way(writer.url, "drop") as lossy, reader(away, lossy.url) as server:
        done = tool(server, anna, "context_update", id=[id], append="Milk.")
        assert done["text"].startswith("Updated ") and text().count("Milk.") == 1
        first, second = (request.partition(b"\r\n\r\n")[0] for request in lossy.requests)
        assert b"Idempotency-Key: " in first and sorted(first.splitlines()) == sorted(
            second.splitlines()
        )
        lossy.told += ["drop", "drop"]
        lost = tool(server, anna, "context_update", id=[id], append="Bread.")
        assert (
            lost["isError"]
            and UNKNOWN in lost["text"]
            and "Search for the text first" in lost["text"]
        )
        assert text().count("Bread.") == 1
    # what a client repeats with its own key
    for _ in range(2):
        tool(writer, anna, "context_update", "key-1", id=[id], append="Eggs.")
    assert text().count("Eggs.") == 1


HTML = "<html>Sign in</html>"
ANSWERS = {
    "refuses this token": body("401 Unauthorized", HTML),
    "status 404": body("404 Not Found", HTML),
    "status 421": body("421 Misdirected Request", "unknown"),
    "a redirect, which is not followed": body("307 Temporary Redirect", "", "Location: /other"),
    "but a page": body("200 OK", HTML, "Content-Type: text/html"),
    "The server cannot read its file of tokens": body(
        "503 Service Unavailable",
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": None,
                "error": {"message": "The server cannot read its file of tokens"},
            }
        ),
    ),
}


def test_a_writer_that_answers_otherwise_saved_nothing(
    away: Path, anna: str, writer: Served
) -> None:
    with way(writer.url) as odd, reader(away, odd.url) as server:
        ask = partial(tool, server, anna, "context_save", content="Never saved.")
        for said, answer in ANSWERS.items():
            odd.told = [answer]
            asked = len(odd.requests)
            refused = ask()
            assert refused["isError"] and said in refused["text"], refused["text"]
            assert "Nothing was saved." in refused["text"] and "<html>" not in refused["text"]
            assert len(odd.requests) == asked + 1
        odd.told = [
            body("502 Bad Gateway", HTML),
            b"HTTP/1.1 200 OK\r\n\r\n{",
            b"",
            b"oops\r\n\r\n",
        ]
        for _ in range(2):
            assert UNKNOWN in ask()["text"]
    with reader(away, f"http://127.0.0.1:{a_port()}") as server:
        refused = tool(server, anna, "context_save", content="Never saved.")
        assert (
            "cannot be reached" in refused["text"] and "Nothing was saved." in refused["text"]
        )
    assert count(away, "Never saved.") == 0


def test_the_environment_names_no_proxy_for_the_writer(
    home: Path, away: Path, anna: str, writer: Served
) -> None:
    with way(writer.url) as proxy:
        first = READER.format(home=str(away), writer=writer.url)
        proxies = {"HTTP_PROXY": proxy.url, "ALL_PROXY": proxy.url, "http_proxy": proxy.url}
        with served(away, first=first, log_in=False, **proxies) as server:
            saved = tool(server, anna, "context_save", content="It went straight there.")
        assert not saved["isError"] and not proxy.requests
    assert count(home, "straight there") == 1


def test_a_read_waits_for_the_save_before_it_and_says_where_it_is_missing(
    home: Path, away: Path, anna: str, writer: Served
) -> None:
    ben = token(home, "ben")
    shutil.copy2(home / "tokens.toml", away)
    with reader(home, writer.url) as same, reader(away, writer.url) as other:
        for server, missing in ((same, False), (other, True)):
            saved = tool(server, anna, "context_save", content="The newest.", force=True)
            tally, number = saved["_meta"][POSITION].split(":")
            assert int(tally) >= 0 and int(number) > 0 and "structuredContent" not in saved
            for name, arguments in (
                ("context_recent", {}),
                ("context_search", {"query": "newest", "format": "json"}),
                ("context_brief", {}),
            ):
                answer = tool(server, anna, name, **arguments)
                assert (NOT_PUBLISHED_YET in answer["text"]) == missing, answer["text"]
            assert NOT_PUBLISHED_YET not in tool(server, ben, "context_recent")["text"]
            data = json.loads(tool(server, anna, "context_find", format="json")["text"])
            assert (data["notices"][:1] == [NOT_PUBLISHED_YET]) == missing


def test_a_position_is_of_one_count_of_changes() -> None:
    saved = IndexPosition.parse("7:40")
    assert saved and str(saved) == "7:40"
    shown = {"7:40": True, "7:41": True, "7:39": False, "6:41": False, "8:41": False}
    for text, expected in shown.items():
        position = IndexPosition.parse(text)
        assert position and saved.is_included_in(position) == expected
    assert [
        IndexPosition.parse(text) for text in ("", "7", "7:", "7:-1", "None:None", None)
    ] == [None] * 6


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://memory.example", ""),
        ("https://memory.example:8443/", ""),
        ("https://memory.example/mcp", ""),
        ("http://127.0.0.1:8765", ""),
        ("http://[::1]:8765", ""),
        ("http://localhost:8765", ""),
        ("http://memory.example", "needs https"),
        ("http://127.0.0.1.memory.example", "needs https"),
        ("ftp://memory.example", "begins with https"),
        ("memory.example", "begins with https"),
        ("", "begins with https"),
        ("https://", "begins with https"),
        ("https://memory.example:x", "begins with https"),
        ("https://anna:hush@memory.example", "no password"),
        ("https://memory.example/team", "without a path"),
        ("https://memory.example?token=hush", "without a path"),
    ],
)
def test_the_address_of_a_writer(url: str, said: str) -> None:
    if not said:
        assert check_writer_address(url) == url.removesuffix("/mcp").removesuffix("/")
        return
    with pytest.raises(InvalidArgument, match=said) as refused:
        check_writer_address(url)
    assert "hush" not in str(refused.value) and "https://memory.example." in refused.value.hint
