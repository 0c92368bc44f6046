"""Reads all entries that pass some filters, a page after the other."""

from collections.abc import Iterator

from ..filters import Filters
from ..index.rows import RankingFacts
from ..models import Entry
from ..search.search import drop_any_project
from ..workspace.readback import read_entries
from ..workspace.sync import SyncReport, in_step
from ..workspace.workspace import Workspace
from .browse import page_of_rows

EXPORTED = 500
"""Entries that an export holds in memory."""


def export(ws: Workspace, filters: Filters, *, with_text: bool = True) -> Iterator[Entry]:
    """The whole entries that pass, oldest first, without private passages; also entries that
    arrive meanwhile. Not `with_text`, no file is read for them.
    """
    last = None
    filters = drop_any_project(filters)

    def run(_: SyncReport) -> tuple[dict[int, Entry], RankingFacts | None]:
        after = (False, last.position) if last else None
        rowids, following = page_of_rows(ws, filters, "oldest", EXPORTED, after)
        if with_text:
            return read_entries(ws, rowids), following
        stored = ws.index.entries(rowids)
        return {row: one.entry for row, one in stored.items()}, following

    while True:
        page, last = in_step(ws, run)
        yield from page.values()
        if not last:
            return
