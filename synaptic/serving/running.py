"""Finds the servers that run on this machine: each writes its address and a key into a file
that only its user can read.

| step of `synaptic today --page`            | who can take it                     |
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
from ..journal.disk import make_dirs, overwrite, read_state_file, unlink

VALID_S = 60
"""Seconds for which a one-time token is valid."""
ANSWER_S = 20.0
"""Seconds that a server may take to sign; one that starts on a busy machine takes some."""


class RunningServer(NamedTuple):
    """A server on this machine: its address without a path, its secret key, and the time of its
    start, in seconds since 1970.
    """

    url: str
    key: str
    began: float

    def sign(self, purpose: str, text: str) -> str:
        """Returns the signature of a text by the server's key. A signature for one purpose is
        not valid for another.
        """
        return hmac.new(self.key.encode(), f"{purpose} {text}".encode(), "sha256").hexdigest()

    def one_time_token(self) -> str:
        """Returns a token that logs in to the page once, within VALID_S seconds."""
        text = f"{time.time():.0f}.{secrets.token_urlsafe(16)}"
        return f"{text}.{self.sign('open', text)}"

    def accepts(self, token: str) -> bool:
        """True for a token of `one_time_token` that was made within the last VALID_S seconds.
        The caller must refuse it the second time.
        """
        text, _, signature = token.rpartition(".")
        expected = self.sign("open", text)
        if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
            return False
        return abs(time.time() - float(text.partition(".")[0])) <= VALID_S

    def is_answering(self) -> bool:
        """True when the program that listens at the address has this server's key."""
        text = secrets.token_urlsafe(16)
        address = urlsplit(self.url)
        asked = http.client.HTTPConnection(
            address.hostname or "", address.port, timeout=ANSWER_S
        )
        with suppress(OSError, http.client.HTTPException):
            try:
                asked.request("GET", f"/login?sign={text}")
                signature = asked.getresponse().read(200)
            finally:
                asked.close()
            return hmac.compare_digest(signature, self.sign("listen", text).encode())
        return False


def is_loopback(host: str | None) -> bool:
    """True when the host is an address of this machine that others cannot reach."""
    try:
        return host == "localhost" or ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False


@contextmanager
def announce_server(home: str | Path | None, running: RunningServer) -> Iterator[None]:
    """Writes the file by which `today --page` finds this server; deletes it at the end of the
    context.
    """
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
    """Returns the running server of this home that was started last. Raises NotFound where none
    answers.
    """
    servers = []
    for path in (resolve_home(home) / ".state").glob("page-*.json"):
        with suppress(OSError, ValueError, TypeError):
            servers.append(RunningServer(*json.loads(read_state_file(path))))
    for running in sorted(servers, key=lambda running: running.began, reverse=True):
        if running.is_answering():
            return running
    raise NotFound(
        "No `synaptic serve` for this home runs on this machine.",
        hint="`synaptic serve --open` starts it, `synaptic serve --install` at each login.",
    )
