"""While a new index is filled, pages say how far it is, how fast it goes, and when it ends."""

from __future__ import annotations

import asyncio
import html
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from embedders import HashingEmbedder
from starlette.applications import Starlette

from synaptic.features.page.devices import Devices
from synaptic.features.page.guard import Guard, Sessions
from synaptic.features.page.routes import ROLES, add_pages
from synaptic.features.page.site import Site
from synaptic.serving.tokens import Tokens
from synaptic.serving.worker import Worker
from synaptic.workspace.workspace import Workspace


def test_pages_say_how_far_a_new_index_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "journal").mkdir(parents=True)
    worker = Worker(home, HashingEmbedder(broken=True))  # so nothing is embedded meanwhile
    sessions = Sessions()
    app = Starlette()
    add_pages(app, Site(worker, sessions, Tokens(home, None), Devices(home), ROLES))
    begun, goes_on = threading.Event(), threading.Event()

    def read_slowly(ws: Workspace) -> None:
        ws.paces.reading.note(9000)
        ws.paces.reading.note(4000)
        begun.set()
        goes_on.wait()
        ws.paces.reading.note(0)
        ws.paces.embedding.note(8000)
        ws.paces.embedding.note(6000)

    async def look() -> None:
        transport = httpx.ASGITransport(Guard(app, sessions, {"localhost"}))
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        client.headers["Accept"] = "text/html"
        await client.get(f"/login?token={sessions.link}")
        assert "Welcome" in (await client.get("/")).text
        reading = worker.submit(read_slowly)
        await asyncio.to_thread(begun.wait)
        (home / "journal" / "New.md").write_text("# New\n\nText.\n")
        answer = await client.get("/")
        assert "Reading your notes …" in answer.text and "5,000 of 9,000" in answer.text
        assert answer.headers["refresh"] == "1"
        goes_on.set()
        await asyncio.wrap_future(reading)
        for address in ("/", "/search?q=text", "/health"):
            text = html.unescape((await client.get(address)).text)
            assert "being prepared: 2,000 of 8,000" in text, address

    try:
        with ThreadPoolExecutor() as pool:  # this thread has the loop of a browser
            pool.submit(asyncio.run, look()).result()
    finally:
        goes_on.set()
        worker.close(10)
