"""The page's own scripts, styles and pictures, from memory: a stranger's request opens no file,
takes no thread and copies nothing.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from mimetypes import guess_type
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

PART_BYTES = 16_384
"""Bytes of one piece of an asset: the most that is buffered for a slow client."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One static file, as an ASGI application that answers with it."""

    parts: Sequence[bytes]
    length: int
    kind: str
    etag: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"ETag": self.etag, "Content-Length": str(self.length)}
        whole = Response(headers=headers, media_type=self.kind)
        begin = {"type": "http.response.start", "status": 200, "headers": whole.raw_headers}
        await send(begin)
        for part in self.parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
            await asyncio.sleep(0)  # others come between
        await send({"type": "http.response.body"})


class Assets:
    """The ASGI application of the static files in a folder, which it reads into memory once."""

    def __init__(self, folder: Path) -> None:
        self._assets = {file.name: _read_asset(file) for file in folder.iterdir()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        asset = self._assets.get(request.url.path.rpartition("/static/")[2])
        answer: ASGIApp = Response(status_code=404)
        if request.method not in ("GET", "HEAD"):
            answer = Response(status_code=405, headers={"Allow": "GET, HEAD"})
        elif asset and asset.etag in request.headers.get("if-none-match", ""):
            answer = Response(status_code=304, headers={"ETag": asset.etag})
        elif asset:
            answer = asset
        await answer(scope, receive, send)


def _read_asset(file: Path) -> Asset:
    data = file.read_bytes()
    parts = [data[at : at + PART_BYTES] for at in range(0, len(data), PART_BYTES)]
    etag = f'"{blake2b(data, digest_size=16).hexdigest()}"'
    return Asset(parts, len(data), guess_type(file.name)[0] or "text/plain", etag)
