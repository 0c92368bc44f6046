"""Tells open pages when the journal changed, and how much waits for its person.

A change is a newer time of change of a note or a folder: agents, editors and the page itself
all write files. Looks are made only while a page listens, and take a hundredth of a core.
"""

import asyncio
import posixpath
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ...errors import SynapticError
from ...journal.journal_files import JournalFiles
from ...models import file_signature
from ...plugin import REVIEW
from ...workspace.workspace import Workspace
from .connections import Connection
from .site import Page, page, run_slow_verb, run_verb

LOOK_S = 0.8
"""Seconds between two checks of the folders and of the notes that changed last."""
LATEST = 300
"""The number of recently changed notes that are checked each time. All others are checked when
that takes no more than SHARE of the time.
"""
SHARE = 0.007
WAITS_S = 60.0
"""Seconds for which the number of findings is cached."""


class Follower:
    """Notices changes of the journal's files, for all open pages. `newest` is the last
    modification time in nanoseconds.
    """

    def __init__(self) -> None:
        self.newest = 0
        self.waits = 0
        self.count_at = 0.0
        self._lock = asyncio.Lock()
        self._places: set[Path] = set()
        self._look_at = self._scan_at = 0.0

    async def look(self, journal: JournalFiles) -> int:
        """Returns the last modification time of the journal in nanoseconds, at most LOOK_S
        old.
        """
        async with self._lock:
            if time.monotonic() >= self._look_at:
                self._look_at = time.monotonic() + LOOK_S / 2
                await asyncio.to_thread(self._look, journal)
        return self.newest

    def _look(self, journal: JournalFiles) -> None:
        if time.monotonic() >= self._scan_at:
            begun = time.thread_time()
            with suppress(SynapticError):  # each page says that the journal is missing
                self._scan(journal)
            taken = time.thread_time() - begun
            self._scan_at = time.monotonic() + taken / SHARE
        before = self.newest
        for place in self._places:
            with suppress(OSError):
                self.newest = max(self.newest, file_signature(place.stat())[1])
        if self.newest > before:  # by a note, maybe, that is not among those places
            self._scan_at = 0.0

    def _scan(self, journal: JournalFiles) -> None:
        stamps = sorted(journal.scan(), key=lambda stamp: stamp.ctime_ns)
        folders = {posixpath.dirname(stamp.path) for stamp in stamps}
        latest = [stamp.path for stamp in stamps[-LATEST:]]
        self._places = {journal.place(path) for path in (*folders, "", *latest)}
        self.newest = max([self.newest, *(stamp.ctime_ns for stamp in stamps[-1:])])


def follower_of(request: Request) -> Follower:
    follower: Follower = request.app.state.follower
    return follower


async def _event_page(request: Request) -> Response:
    """Streams events to an open page: one for each change of the journal after the time
    `since`, when the page was made.
    """
    journal = await run_verb(request, lambda ws: ws.journal)
    asked = request.headers.get("last-event-id") or request.query_params.get("since", "")
    since = int(asked[:19]) if asked.isdecimal() else time.time_ns()
    return StreamingResponse(
        _stream_changes(request, journal, since), media_type="text/event-stream"
    )


async def _stream_changes(
    request: Request, journal: JournalFiles, since: int
) -> AsyncIterator[str]:
    yield ":\n\n"
    while not (Connection.ending.is_set() or await request.is_disconnected()):
        newest = await follower_of(request).look(journal)
        if newest > since:
            since = newest
            yield f"id: {newest}\ndata: changed\n\n"
        with suppress(TimeoutError):
            await asyncio.wait_for(Connection.ending.wait(), LOOK_S)


async def _finding_count_page(request: Request) -> Response:
    """Returns the number of review findings, for the menu of the page."""
    follower = follower_of(request)
    begun = time.monotonic()
    if begun >= follower.count_at:
        follower.count_at = begun + WAITS_S
        follower.waits = await run_slow_verb(request, _count_findings)
        taken = time.monotonic() - begun
        follower.count_at += taken / SHARE
    return await page(request, "waiting.html")


def _count_findings(ws: Workspace) -> int:
    return sum(map(len, REVIEW.ask_each(ws, (), False)))


PAGES = [
    Page("/events", "neither", _event_page),
    Page("/waiting", "writer", _finding_count_page),
]
