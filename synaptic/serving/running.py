"""Servers that run: each writes its address and a key into a file that only its user reads.

| step of `synaptic open --page`            | who can take it                     |
|-------------------------------------------|-------------------------------------|
| read `page-PORT.json` in `.state`         | the user                            |
| ask that address to sign a text           | the server that wrote the file      |
| sign a time and open `/login?token=` + it | once, until VALID_S after that time |

A file that a killed server left behind leads nowhere: whoever has its port now lacks the key.
"""

from __future__ import annotations

import hmac
import http.client
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from ..config import resolve_home
from ..errors import NotFound
from ..journal.disk import make_dirs, overwrite, unlink

VALID_S = 60
ANSWER_S = 20.0
"""Seconds that a server may take to sign: one that begins on a busy machine takes some."""


class RunningServer(NamedTuple):
    """A server of this machine: its address without a path, its key, and the time of its
    begin, in seconds since 1970.
    """

    url: str
    key: str
    began: float

    def sign(self, purpose: str, text: str) -> str:
        """The signature of a text. A signature for one purpose is not valid for another."""
        return hmac.new(self.key.encode(), f"{purpose} {text}".encode(), "sha256").hexdigest()

    def one_time_token(self) -> str:
        text = f"{time.time():.0f}.{secrets.token_urlsafe(16)}"
        return f"{text}.{self.sign('open', text)}"

    def accepts(self, token: str) -> bool:
        """True for a token that was made within VALID_S; the caller accepts it once."""
        text, _, signature = token.rpartition(".")
        expected = self.sign("open", text)
        if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
            return False
        return abs(time.time() - float(text.partition(".")[0])) <= VALID_S

    def is_answering(self) -> bool:
        """True when the listener at the address has the key."""
        text = secrets.token_urlsafe(16)
        place = urlsplit(self.url)
        asked = http.client.HTTPConnection(place.hostname or "", place.port, timeout=ANSWER_S)
        with suppress(OSError, http.client.HTTPException):
            try:
                asked.request("GET", f"/login?sign={text}")
                signature = asked.getresponse().read(200)
            finally:
                asked.close()
            return hmac.compare_digest(signature, self.sign("listen", text).encode())
        return False


def is_loopback(host: str | None) -> bool:
    try:
        return host == "localhost" or ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False


@contextmanager
def announce_server(home: str | Path | None, running: RunningServer) -> Iterator[None]:
    """A context in which `open --page` finds this server."""
    port = urlsplit(running.url).port
    path = resolve_home(home) / ".state" / f"page-{port}.json"
    with suppress(OSError):  # a disk that is only read can be served, too
        make_dirs(path.parent, private=True)
        overwrite(path, json.dumps(running).encode())
    try:
        yield
    finally:
        unlink(path)


def find_running_server(home: str | Path | None) -> RunningServer:
    """The server of this home that began last. Raises NotFound where none answers."""
    servers = []
    for path in (resolve_home(home) / ".state").glob("page-*.json"):
        with suppress(OSError, ValueError, TypeError):
            servers.append(RunningServer(*json.loads(path.read_bytes())))
    for running in sorted(servers, key=lambda running: running.began, reverse=True):
        if running.is_answering():
            return running
    raise NotFound(
        "No server of this home runs on this machine.",
        hint="`synaptic serve --open` starts one, `synaptic serve --install` for good.",
    )
