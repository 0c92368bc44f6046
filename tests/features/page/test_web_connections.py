"""Connections of strangers: many, slow, and such as take no answer. The real server, with few
descriptors.
"""

from __future__ import annotations

import logging
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from outside import wait_until
from served import UNENCRYPTED, Served, served

from synaptic.features.page.connections import FOR_EACH, RESERVE
from synaptic.serving.log import LINES, SparingHandler

DESCRIPTORS, STRANGERS = 200, 120
"""Of the server, which has room for 36 connections; and of each kind, thrice as many."""
LIMITS = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({DESCRIPTORS}, {DESCRIPTORS}))
from synaptic.features.page import connections
connections.HEAD_S = connections.BODY_S = connections.ANSWER_S = 600.0  # only room is lacking
connections.IDLE_S = 600
"""
SHORT = """
from synaptic.features.page import connections
connections.HEAD_S, connections.BODY_S, connections.ANSWER_S = 1.0, 2.0, 2.0
connections.SWEEP_S = 0.1
"""
TOKEN = "a" * 40
HOST = b"Host: 127.0.0.1\r\n"
ASSET = b"GET /static/htmx-2.0.11.min.js HTTP/1.1\r\n" + HOST + b"\r\n"
MANY = ASSET * 160  # the system takes the first of these 8 MB, whether the client reads or not
BODY = b"POST /login HTTP/1.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 900\r\n" + HOST
KINDS = {
    "heads": b"GET /static/style.css HTTP/1.1\r\n" + HOST,
    "bodies": BODY + b"\r\ntoken=",
    "answers": MANY,
    "idle": b"GET /static/keys.js HTTP/1.1\r\n" + HOST + b"\r\n",
    "silent": b"",
    "garbage": b"\x16\x03\x01\r\n\r\n",
}
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs limits of descriptors")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("few") / "home"
    home.mkdir()
    (home / "tokens.toml").touch(0o600)
    (home / "tokens.toml").write_text(f'[agent]\ntoken = "{TOKEN}"\n')
    with served(home, first=LIMITS) as found:
        for path in ("/", "/search?q=tea") * 4:  # so that each reader has its files open
            found.client.get(path)
        yield found


@contextmanager
def strangers(server: Served, words: bytes, number: int = 1) -> Iterator[list[socket.socket]]:
    """So many connections that send these words and read nothing."""
    port = urlsplit(server.url).port
    with ExitStack() as opened:
        sockets = []
        for _ in range(number):
            one = opened.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(30)
            one.connect(("127.0.0.1", port))
            one.sendall(words)
            sockets.append(one)
        yield sockets


def descriptors(server: Served) -> int:
    return sum(1 for _ in Path(f"/proc/{server.process.pid}/fd").iterdir())


def is_cut(one: socket.socket) -> bool:
    """True when the server closed it, after an answer or without one."""
    one.settimeout(0)
    try:
        while one.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts in /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_strangers_keep_nobody_out_and_leave_nothing_open(server: Served, kind: str) -> None:
    before = descriptors(server)
    cookies = server.client.cookies
    with strangers(server, KINDS[kind], STRANGERS):
        for _ in range(5):
            assert server.client.get("/").status_code == 200
            new = httpx.get(f"{server.url}/", cookies=cookies, timeout=60, verify=UNENCRYPTED)
            assert new.status_code == 200
            assert httpx.get(f"{server.url}/login", verify=UNENCRYPTED).status_code == 200
        assert descriptors(server) < DESCRIPTORS - 50
    wait_until(lambda: descriptors(server) <= before + 1)


def test_the_longest_waiting_stranger_is_cut_off(server: Served) -> None:
    """Somebody who is logged in, and an agent with a token, wait longest here, and stay."""
    room = (DESCRIPTORS - RESERVE) // FOR_EACH - 2
    assert server.client.get("/").status_code == 200
    waiting: list[socket.socket] = []
    with ExitStack() as opened:
        agent = HTTPConnection("127.0.0.1", urlsplit(server.url).port, timeout=60)
        opened.callback(agent.close)
        agent.request("POST", "/mcp", "no JSON", {"Authorization": f"Bearer {TOKEN}"})
        assert agent.getresponse().read()  # it is no message, and the token is valid
        for number in range(room + 3):
            stranger = HTTPConnection("127.0.0.1", urlsplit(server.url).port, timeout=60)
            opened.callback(stranger.close)
            stranger.request("GET", "/static/keys.js")
            assert stranger.getresponse().read()
            waiting.append(stranger.sock)
            gone = max(0, number + 1 - room)
            assert [is_cut(one) for one in waiting] == [True] * gone + [False] * (
                number + 1 - gone
            )
        assert not is_cut(agent.sock)
        assert server.client.get("/").status_code == 200


@pytest.mark.slow
def test_who_keeps_the_server_waiting_is_cut_off(tmp_path: Path) -> None:
    with served(tmp_path / "home", first=SHORT) as server:
        with (
            strangers(server, KINDS["heads"]) as heads,
            strangers(server, KINDS["bodies"]) as bodies,
            strangers(server, KINDS["silent"]) as silent,
            strangers(server, KINDS["heads"]) as [dripping],
        ):
            for _ in range(100):  # a byte now and then is no head
                try:
                    dripping.sendall(b"x")
                except OSError:
                    break
                time.sleep(0.05)
            else:
                pytest.fail("it was not cut off")
            for one in (*heads, *bodies, *silent):
                wait_until(lambda one=one: is_cut(one))  # type: ignore[misc]
        with strangers(server, MANY) as [taking], strangers(server, MANY) as [not_]:
            ends = time.monotonic() + 4  # twice as long as an answer may wait
            while time.monotonic() < ends:
                assert taking.recv(8_192)
                time.sleep(0.01)
            wait_until(lambda: is_cut(not_))


def test_the_system_may_refuse_connections(tmp_path: Path) -> None:
    """All descriptors are taken for a while: the server asks for a connection a few times each
    PAUSE_S, not at each turn of its loop, logs little, and goes on.
    """
    taken = (
        f"{LIMITS}import os, sys, threading, time\n"
        "accept, turns = connections.Listener.accept, []\n"
        "connections.Listener.accept = lambda listener: turns.append(1) or accept(listener)\n"
        f"sys.stderr = open({str(tmp_path / 'log')!r}, 'w', buffering=1)\n"
        "def take():\n"
        "    while not os.path.exists('take'): time.sleep(0.05)\n"
        "    held = []\n"
        "    try:\n"
        "        while True: held.append(os.open('/dev/null', 0))\n"
        "    except OSError: begun, before = time.monotonic(), len(turns)\n"
        "    os.rename('take', 'taken')\n"
        "    while os.path.exists('taken'): time.sleep(0.05)\n"
        "    pauses = (time.monotonic() - begun) / connections.PAUSE_S\n"
        "    each = (len(turns) - before) / (pauses + 1)\n"
        "    for one in held: os.close(one)\n"
        "    open('turns', 'w').write(str(each))\n"
        "threading.Thread(target=take, daemon=True).start()\n"
    )
    with served(tmp_path / "home", first=taken) as server:
        server.client.get("/search?q=tea")
        (tmp_path / "take").touch()
        wait_until((tmp_path / "taken").exists)
        with strangers(server, KINDS["heads"], 5):
            time.sleep(2.5)
            (tmp_path / "taken").unlink()
            wait_until((tmp_path / "turns").exists)
            assert httpx.get(f"{server.url}/login", timeout=60).status_code == 200
    assert 0 < float((tmp_path / "turns").read_text()) < 10
    log = (tmp_path / "log").read_text()
    assert "Too many open files" in log and len(log) < 20_000


LENGTHS = b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"
ONE_ANSWER = {
    "two lengths, a page": b"GET /login HTTP/1.1\r\n" + HOST + LENGTHS,
    "two lengths, tools": b"POST /mcp HTTP/1.1\r\n" + HOST + LENGTHS,
    "two lengths, a file": b"GET /static/keys.js HTTP/1.1\r\n" + HOST + LENGTHS,
}


@pytest.mark.parametrize("kind", ONE_ANSWER)
def test_a_body_with_two_lengths_ends_the_connection(server: Served, kind: str) -> None:
    """What follows could be the body's end for a proxy, and a request for the server."""
    with strangers(server, ONE_ANSWER[kind] + ASSET) as (one,):
        answer = b""
        while part := one.recv(65_536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 400") and answer.count(b"HTTP/1.1 ") == 1


def test_a_request_for_another_protocol_is_answered_and_not_logged(tmp_path: Path) -> None:
    to_file = f"import sys\nsys.stderr = open({str(tmp_path / 'log')!r}, 'w', buffering=1)\n"
    with served(tmp_path / "home", first=to_file) as server:
        for name in ("websocket", "h2c"):
            headers = {"Connection": "Upgrade", "Upgrade": name}
            assert server.client.get("/login", headers=headers).status_code == 200
    assert (tmp_path / "log").read_text() == ""


def test_the_log_takes_a_limited_number_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    handler = SparingHandler()
    record = logging.LogRecord("x", logging.ERROR, "", 0, "one\ntwo", (), None)
    for _ in range(10_000):
        handler.emit(record)
    lines = capsys.readouterr().err.count("\n")
    assert LINES - 2 <= lines <= LINES + 20
    handler._at -= 60  # a minute passes
    handler.emit(record)
    assert "messages were left out" in capsys.readouterr().err
