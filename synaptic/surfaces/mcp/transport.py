"""The two ends of a stdio server: messages come in line by line, and nothing else gets into what goes out."""

from __future__ import annotations

import json
import os
import threading
from io import TextIOWrapper
from typing import cast

import anyio
import anyio.to_thread

from ..wire import Json

GRACE_S = 0.3
"""How long the protocol may take to wind down once the client is gone."""


class Lines:
    """The client's messages. When they end, the process does, in GRACE_S at most, even during a call."""

    def __init__(self, fd: int) -> None:
        self._file = os.fdopen(fd, encoding="utf-8", errors="replace", newline="\n")

    def __aiter__(self) -> Lines:
        return self

    async def __anext__(self) -> str:
        line = await anyio.to_thread.run_sync(self._file.readline)
        if not line:
            ending = threading.Timer(GRACE_S, os._exit, (0,))
            ending.daemon = True
            ending.start()
            raise StopAsyncIteration
        return readable(line)


def claim_streams() -> tuple[Lines, anyio.AsyncFile[str]]:
    """The ends of the transport. Afterwards fd 1 is stderr and fd 0 is empty: no library's print gets through."""
    wire_in, wire_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return Lines(wire_in), anyio.wrap_file(TextIOWrapper(os.fdopen(wire_out, "wb"), encoding="utf-8", newline="\n"))


def readable(line: str) -> str:
    r"""A JSON line without halves of characters (`\ud83d` alone), which become `?`.

    JavaScript clients send them where they cut a text within an emoji; the SDK cannot read such a line and
    would leave the call without an answer.
    """
    if "\\ud" not in line and "\\uD" not in line:
        return line
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return without_surrogates(json.dumps(message, ensure_ascii=False)) + "\n"


def sendable(data: Json) -> Json:
    """The JSON, without lone surrogates: one that cannot be encoded would end the server."""
    text = json.dumps(data, ensure_ascii=False)
    clean = without_surrogates(text)
    return data if clean == text else cast(Json, json.loads(clean))


def without_surrogates(text: str) -> str:
    """Text that can be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
