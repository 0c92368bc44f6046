"""MCP over HTTP without a socket: its application, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from steady import steadily

from synaptic.index.embedding import Embedder
from synaptic.mcp.remote import Remote
from synaptic.serving.tokens import Tokens
from synaptic.serving.worker import Worker


@asynccontextmanager
async def over_http(
    home: Path, model: Embedder, writer: str = ""
) -> AsyncIterator[httpx.AsyncClient]:
    """A client with a token of its own, to the application itself."""
    made = steadily("--home", str(home), "token", "anna", "--json").json
    remote = Remote(Worker(home, model), Tokens(home, None), read_only=False, writer=writer)
    headers = {
        "Authorization": f"Bearer {made['token']}",
        "Accept": "application/json, text/event-stream",
    }
    transport = httpx.ASGITransport(app=remote)
    async with (
        remote.running(),
        httpx.AsyncClient(
            transport=transport, base_url="http://test", headers=headers, timeout=60
        ) as client,
    ):
        yield client


def tool_call(id: int | str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A request to call a tool."""
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
