"""Connections of strangers, beside which a person goes on working with the page.

Thousands of connections without a login ask for something and never go on; one that the server cuts
off is opened again. All are on this machine, and those of each kind end after some seconds. Needs
Linux.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import resource
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from attack import report

if sys.platform != "linux":
    raise SystemExit("strangers.py needs Linux.")

FORK = multiprocessing.get_context("fork")
SYNAPTIC = Path(sys.executable).with_name("synaptic")
WARM_S, SECONDS, SETTLE_S = 15.0, 20.0, 8.0
"""Before the strangers come, so that all is loaded; with them; and after they left, before memory and
descriptors are counted.
"""
P95_S, MEMORY_MB, LOG_BYTES, DESCRIPTORS = 1.0, 20.0, 1_000_000, 4
"""The most that is allowed: of the person's time for an answer, and of what stays behind."""
OPENED_A_SECOND, AGAIN_A_SECOND = 1_500, 100
"""Connections: the first ones, and those in the place of some that were cut off."""
_HOST = b"Host: 127.0.0.1\r\n"
KINDS = {
    "heads": b"GET /static/style.css HTTP/1.1\r\n" + _HOST,
    "bodies": b"POST /login HTTP/1.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 900\r\n"
    + _HOST
    + b"\r\ntoken=",
    # the system takes the first of these 8 MB, whether the client reads or not
    "answers": (b"GET /static/htmx-2.0.11.min.js HTTP/1.1\r\n" + _HOST + b"\r\n") * 160,
    "idle": b"GET /static/keys.js HTTP/1.1\r\n" + _HOST + b"\r\n",
    "silent": b"",
    "garbage": b"\x16\x03\x01 no request\r\n\r\n",
}
"""The words that each stranger sends. Those of `answers` read nothing."""


@dataclass
class Strangers:
    """So many connections to `address`, which send `words`, in a process of their own; `opened`
    counts those that were opened again, too.
    """

    address: tuple[str, int]
    words: bytes
    number: int
    reads: bool
    opened: Synchronized[int] = field(default_factory=partial(FORK.Value, "i", 0))
    ended: Event = field(default_factory=FORK.Event)

    def run(self) -> None:
        polled = select.epoll()
        sockets: dict[int, socket.socket] = {}
        begun = time.monotonic()
        while not self.ended.is_set():
            seconds = time.monotonic() - begun
            most = self.number + int(seconds * AGAIN_A_SECOND)
            most = min(most, int(seconds * OPENED_A_SECOND))
            for _ in range(min(most - self.opened.value, self.number - len(sockets))):
                one = self._opened()
                sockets[one.fileno()] = one
                polled.register(one, select.EPOLLOUT)
            for number, events in polled.poll(0.02):
                if self._goes_on(sockets[number], events):
                    polled.modify(number, select.EPOLLIN if self.reads else 0)
                else:
                    sockets.pop(number).close()
        for one in sockets.values():
            one.close()
        polled.close()

    def _opened(self) -> socket.socket:
        one = socket.socket()
        one.setblocking(False)
        if not self.reads:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect_ex(self.address)
        self.opened.value += 1
        return one

    def _goes_on(self, one: socket.socket, events: int) -> bool:
        """False when the server cut the connection off."""
        if events & (select.EPOLLHUP | select.EPOLLERR):
            return False
        try:
            if events & select.EPOLLOUT:
                one.sendall(self.words)
                return True
            return one.recv(65_536) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


@dataclass
class Person:
    """A browser that is logged in, and asks for pages all the time: by a connection that stays,
    and by a new one.
    """

    client: httpx.Client
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def look(self, path: str) -> None:
        begun = time.monotonic()
        try:
            status = self.client.get(path).status_code
            if status != 200:
                self.wrong.append(f"{path}: {status}")
            fresh = httpx.get(
                f"{self.client.base_url}{path}", cookies=self.client.cookies, timeout=30
            )
            if fresh.status_code != 200:
                self.wrong.append(f"{path}, a new connection: {fresh.status_code}")
        except httpx.HTTPError as error:
            self.wrong.append(f"{path}: {error!r}")
        self.seconds.append(time.monotonic() - begun)

    def work(self, seconds: float) -> None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self.look("/search?q=tea" if len(self.seconds) % 2 else "/login")
            time.sleep(0.05)


def attacked(kind: str, folder: Path, asked: argparse.Namespace) -> tuple[list[str], str]:
    """(the promises that did not hold, the figures) of a server that strangers of this kind met."""
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                *("bash", "-c", f'ulimit -Sn {asked.descriptors}; exec "$@"', "bash"),
                *(SYNAPTIC, "--home", folder / "home", "serve"),
            ],
            stdout=subprocess.PIPE,
            stderr=log,
        )
    assert server.stdout
    try:
        link = re.search(r"http://\S+", server.stdout.readline().decode())
        assert link
        at = urlsplit(link[0])
        person = Person(httpx.Client(base_url=f"http://{at.netloc}", timeout=30))
        person.client.get(link[0])
        person.work(WARM_S)
        memory, descriptors = _memory_mb(server.pid), _descriptors(server.pid)
        person.seconds.clear()
        address = ("127.0.0.1", at.port or 0)
        strangers = Strangers(address, KINDS[kind], asked.connections, kind != "answers")
        crowd = FORK.Process(target=strangers.run)
        crowd.start()
        person.work(asked.seconds)
        most_memory, most_descriptors = _memory_mb(server.pid), _descriptors(server.pid)
        strangers.ended.set()
        crowd.join()
        person.work(SETTLE_S)
        stays = _memory_mb(server.pid) - memory
        left = _descriptors(server.pid) - descriptors
        logged = (folder / "log").stat().st_size
        p95 = statistics.quantiles(person.seconds, n=20)[-1]
        failures = [f"{kind}: {wrong}" for wrong in dict.fromkeys(person.wrong)]
        if server.poll() is not None:
            failures.append(f"{kind}: the server ended with {server.returncode}")
        for name, figure, most in (
            ("p95 in s", p95, P95_S),
            ("memory in MB", stays, MEMORY_MB),
            ("descriptors", left, DESCRIPTORS),
            ("bytes of log", logged, LOG_BYTES),
        ):
            if figure > most:
                failures.append(f"{kind}: {name}: {figure:,.2f}, allowed {most:,}")
        figures = (
            f"{kind}: opened {strangers.opened.value:,}; {len(person.seconds)} looks, p95 {p95:.3f} s, "
            f"worst {max(person.seconds):.3f} s; memory {memory:.0f} MB, {most_memory:.0f} beside "
            f"them, {stays:+.1f} after; descriptors {descriptors}, {most_descriptors}, {left:+}; "
            f"log {logged:,} bytes"
        )
        return failures, figures
    finally:
        server.kill()
        server.wait()


def _memory_mb(pid: int) -> float:
    with suppress(OSError):
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) / 1000 if found else 0.0
    return 0.0


def _descriptors(pid: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208, there is no folder to walk
    return 0


def main() -> int:
    """0 when the person is answered in time, and nothing of the strangers stays."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--connections", type=int, default=3_000, help="of strangers")
    parser.add_argument("--descriptors", type=int, default=1_024, help="of the server")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each kind")
    parser.add_argument("--seed", type=int, default=1, help="is not used: nothing is random")
    asked = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < asked.connections + 100:
        print(f"strangers: skipped, this system allows {hard} descriptors.")
        return 0
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    begun = time.monotonic()
    failures = []
    for kind in asked.kinds or KINDS:
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            wrong, figures = attacked(kind, Path(folder), asked)
        print(figures, flush=True)
        failures += wrong
    done = f"connections of strangers {asked.connections * len(asked.kinds or KINDS):,}"
    report("strangers", failures, done, asked.seed, begun)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
